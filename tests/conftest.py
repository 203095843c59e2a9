"""The order of the tests, and what each leaves behind."""

import sys

import pytest

# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")


def pytest_collection_modifyitems(items):
    """Let those begin that play the same compiled policies."""
    items.sort(key=lambda item: not item.nodeid.startswith(KERNELS))


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
