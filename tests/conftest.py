"""The order of the tests, and what each leaves behind."""

import sys
from collections import Counter
from functools import partial

import pytest

# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")
PLAIN = "pytestmark = pytest.mark.plain\n"  # in a file of such tests alone
PAGES = ("tests/reporting", "tests/cli")


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
    met: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            name = item.nodeid.partition("[")[0]
            if met[name] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            met[name] += 1


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
