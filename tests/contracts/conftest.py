"""The log of the product of responses and terms, and draws in place of those of NUTS."""

from dataclasses import replace

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.inference import fit as fitting
from tests.support.product_of_terms import table, without_nuts


@pytest.fixture(scope="module")
def log():
    data = table()
    found = bd.Duels.from_votes(
        *(data[name] for name in ("left", "right", "outcome")),
        margin=data["margin"],
        grade=np.sign(data["margin"]) * (1 + (abs(data["margin"]) > 1.2)),
        judge=data["judge"],
        time=data["time"].to_numpy(),
        covariates={"x": data["x"]},
        category=data["category"],
    )
    kept = {}
    for name in ("prompt", "half"):
        levels, code = np.unique(data[name], return_inverse=True)
        kept[name] = (code.astype(np.int32), tuple(levels))
    return replace(found, votes=replace(found.votes, kept=kept))


@pytest.fixture
def quick(monkeypatch):
    """Let what NUTS would sample have points near the prior."""
    monkeypatch.setattr(fitting, "sample_nuts", without_nuts)
    monkeypatch.setattr(
        "bayesduel.inference.hamiltonian.sample_hamiltonian",
        lambda density, cells, **settings: without_nuts(density.model, cells, **settings),
    )
