"""Tables are written between the marks of their section, and nothing else of the page changes."""

import pytest

from benchmarks.scale.__main__ import table, written

PAGE = "# Scale\n\n<!-- arms -->\nold\n<!-- end of arms -->\n\nBy hand.\n"


def test_a_table_replaces_that_of_its_section():
    text = table("arms", [{"arms": 10, "seconds": 0.25}, {"arms": 100}], full=True)
    page = written(PAGE, "arms", text)
    assert "| arms | seconds |\n| --- | --- |\n| 10 | 0.25 |\n| 100 |  |\n" in page
    assert "python -m benchmarks.scale arms --full" in page
    assert page.startswith("# Scale\n\n<!-- arms -->\n")
    assert page.endswith("<!-- end of arms -->\n\nBy hand.\n")
    assert "old" not in page
    assert written(page, "arms", text) == page


def test_the_note_of_a_section_stands_below_its_table():
    text = table("arms", [{"arms": 10}], full=False, note="20 duels an arm. " * 9)
    lines = text.splitlines()
    assert lines[4].startswith("20 duels an arm.") and max(map(len, lines)) <= 100
    assert lines[-1].startswith("Measured ")


def test_a_page_without_the_section_is_refused():
    with pytest.raises(ValueError, match="marks of the section judges, got none"):
        written(PAGE, "judges", "")
