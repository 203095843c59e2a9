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


def test_a_page_without_the_section_is_refused():
    with pytest.raises(ValueError, match="marks of the section judges, got none"):
        written(PAGE, "judges", "")
