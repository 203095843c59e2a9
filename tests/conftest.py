"""The order of the tests."""

FIRST = ("test_commands_of_the_readme",)  # takes longest: no worker should be left alone with it


def pytest_collection_modifyitems(items):
    """Let the longest tests begin first."""
    items.sort(key=lambda item: not item.name.startswith(FIRST))
