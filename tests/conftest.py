"""The order of the tests, and what each leaves behind."""

import sys

import pytest

FIRST = ("test_commands_of_the_readme",)  # takes longest: no worker should be left alone with it


def pytest_collection_modifyitems(items):
    """Let the longest tests begin first."""
    items.sort(key=lambda item: not item.name.startswith(FIRST))


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
