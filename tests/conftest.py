"""The order of the tests, and what each leaves behind."""

import sys
from functools import partial

import pytest

# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")
PAGES = ("tests/reporting", "tests/cli")


def pytest_collection_modifyitems(items):
    """Let those begin that play the same compiled policies."""
    items.sort(key=lambda item: not item.nodeid.startswith(KERNELS))


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module", autouse=True)
def two_folds(request):
    """Predict held-out duels in pages by two fits in place of five, the longest part of a page."""
    if not request.node.nodeid.startswith(PAGES):
        yield
        return
    from bayesduel.criticism import calibration

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "held_out", partial(calibration.held_out, folds=2))
        yield
