"""The pages for who comes from another package: their tables are what both packages give."""

import re
import sys

import numpy as np
import pytest

from benchmarks.coming_from import PACKAGES, PAGES, beside, ours

# How far the other package may be away: rounding of the table, or what its page explains.
NEAR = dict.fromkeys(PACKAGES, 1e-4) | {"bpcs": 0.02, "trueskill": 0.15}


def shown(text):
    """Return the table of a page: name, number of the other package, number of bayesduel."""
    rows = re.findall(r"^\| ([^|]+) \| (-?\d+\.\d{4}) \| (-?\d+\.\d{4}) \|$", text, flags=re.M)
    return {name: (float(theirs), float(own)) for name, theirs, own in rows}


def test_every_page_has_a_package():
    assert {page.stem for page in PAGES.glob("*.md")} == {"index", *PACKAGES}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_table_has_what_bayesduel_gives_and_is_near_the_other(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    table = shown(text)
    today = ours(text)
    assert set(table) == set(today.index)
    theirs, own = np.array([table[arm] for arm in today.index]).T
    assert own == pytest.approx(today.to_numpy(), abs=1e-3)
    assert own == pytest.approx(theirs, abs=NEAR[name])


@pytest.mark.slow
def test_what_is_installed_here_gives_the_table_again():
    page = PAGES / "choix.md"
    written = beside(page, sys.executable, None)
    assert shown(written) == shown(page.read_text(encoding="utf-8"))


def test_a_package_that_cannot_run_leaves_its_table():
    assert beside(PAGES / "evalica.md", None, None) is None
    assert beside(PAGES / "bradleyterry2.md", None, None) is None
