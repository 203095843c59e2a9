"""The order of the tests, and what each leaves behind."""

import sys
from collections import defaultdict
from functools import partial

import pytest

from tests.support.covering import covering

# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")
PLAIN = "pytestmark = pytest.mark.plain\n"  # in a file of such tests alone
# Tests of held-out predictions, of stored numbers and of numbers in docstrings have five folds.
FIVE_FOLDS = ("tests/criticism/test_calibration", "tests/frozen", "tests/test_docstrings")


def pytest_ignore_collect(collection_path, config):
    """Import no file without tests of the half that ``make test`` runs: half of what it takes."""
    half = {"plain and not slow": True, "not plain and not slow": False}.get(config.option.markexpr)
    if half is None or collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return ("mark.plain" not in text if half else PLAIN in text) or None


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out the slow ones
def pytest_collection_modifyitems(items):
    """Let those begin that play the same compiled policies; of sampled cases leave some."""
    items.sort(key=lambda item: not item.nodeid.startswith(KERNELS))
    sampled = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("slow"):
            sampled[item.nodeid.partition("[")[0]].append(item)
    for name, cases in sampled.items():
        n, *always = cases[0].get_closest_marker("sampled").args
        fast = covering([case.callspec.params for case in cases], n, name)
        fast += [k for k, case in enumerate(cases) if case.callspec.id in always]
        for k in {*range(len(cases))} - {*fast}:
            cases[k].add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module", autouse=True)
def two_folds(request):
    """Predict held-out duels in pages by two fits in place of five, the longest part of a page."""
    if request.node.nodeid.startswith(FIVE_FOLDS):
        yield
        return
    from bayesduel.criticism import calibration

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "held_out", partial(calibration.held_out, folds=2))
        yield
