"""The order of the tests, and what each leaves behind."""

import sys

import pytest

FIRST = ("test_commands_of_the_readme",)  # takes longest: no worker should be left alone with it
# Of tests in a row one worker takes all: what these play is compiled once.
KERNELS = ("tests/policies", "tests/simulation", "tests/contracts/test_compiled")


def pytest_collection_modifyitems(items):
    """Let the longest test begin, and those follow that play the same compiled policies."""
    items.sort(
        key=lambda item: (not item.name.startswith(FIRST), not item.nodeid.startswith(KERNELS))
    )


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
