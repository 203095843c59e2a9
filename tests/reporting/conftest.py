"""A shipped log with ties, and its fit."""

import pytest

import bayesduel as bd


@pytest.fixture(scope="module")
def springall():
    log = bd.datasets.load("springall")
    return log, bd.fit(log, draws=1000, seed=4)
