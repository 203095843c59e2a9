"""The order of the tests, and what each leaves behind."""

import atexit
import gc
import sys
from collections import defaultdict
from functools import partial

import pytest

from tests.support.covering import covering

# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")
PLAIN = "pytestmark = pytest.mark.plain\n"  # in a file of such tests alone
# Tests of held-out predictions, of stored numbers and of numbers in docstrings have five folds;
# pages that show the calibration two. Pages of other rooms do without, as where a fit fails.
FIVE_FOLDS = ("tests/criticism/test_calibration", "tests/frozen", "tests/test_docstrings")
TWO_FOLDS = (
    *("tests/reporting", "tests/contracts", "tests/plots", "tests/test_"),
    *("tests/models/test_covariates", "tests/inference/test_unused_covariates"),
)
# Pages whose words alone are looked at: to draw six pictures takes half of the time of a page.
NO_PICTURES = (
    *("tests/cli", "tests/data", "tests/study"),
    *("tests/models/test_priors", "tests/posterior/test_one_posterior", "tests/test_frames"),
    *(f"tests/reporting/test_{name}" for name in ("site", "title", "verdict_text")),
)


def pytest_ignore_collect(collection_path, config):
    """Import no file without tests of the half that ``make test`` runs: half of what it takes."""
    half = {"plain and not slow": True, "not plain and not slow": False}.get(config.option.markexpr)
    if half is None or collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return ("mark.plain" not in text if half else PLAIN in text) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without the collector of garbage: an eighth of the time, and nothing goes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


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


def pytest_collection_finish():
    """Let the collector of garbage pass over the tests and the modules: they stay to the end."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # what is left at the end is a leak to some libraries


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session", autouse=True)
def statements():
    """Compile the statements of studies in SQLite once: each study has an engine of its own."""
    from sqlalchemy.util import LRUCache

    from bayesduel.study import database

    made, kept = database.create_engine, LRUCache(2000)
    first = made("sqlite://")
    first.connect().close()

    def sharing(*args, **settings):
        engine = made(*args, **settings)
        if engine.dialect.name == first.dialect.name:
            engine.dialect = first.dialect  # of which a compiled statement is
            engine.update_execution_options(compiled_cache=kept)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "create_engine", sharing)
        yield
    first.dispose()


def not_held_out(*_, **__):
    """Say what a page then says in place of its calibration."""
    raise ValueError("no duels are held out in this test")


@pytest.fixture(scope="module", autouse=True)
def few_folds(request):
    """Predict held-out duels in pages by two fits or by none: five take most of the time."""
    if request.node.nodeid.startswith(FIVE_FOLDS):
        yield
        return
    from bayesduel.criticism import calibration

    shown = request.node.nodeid.startswith(TWO_FOLDS)
    fewer = partial(calibration.held_out, folds=2) if shown else not_held_out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "held_out", fewer)
        yield


def blank(plot, size):
    """Return a picture of nothing in place of a plot."""
    from bayesduel.reporting.figures import PIXELS, Picture

    across, down = (round(PIXELS * inches) for inches in size)
    return Picture("data:image/svg+xml;base64,", across, down)


@pytest.fixture(scope="module", autouse=True)
def few_pictures(request):
    """Draw nothing in pages whose pictures no test of the module looks at."""
    if not request.node.nodeid.startswith(NO_PICTURES):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesduel.reporting.figures.draw", blank)
        yield
