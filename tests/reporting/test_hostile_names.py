"""A whole report on arms whose names are markup, mathematics, emoji or 10,000 characters."""

import io

import numpy as np
import pytest
from rich.console import Console

import bayesduel as bd
from bayesduel.reporting.analysis import analyse
from bayesduel.reporting.html import page
from bayesduel.reporting.report import sections
from tests.support.parsing import Page

NAMES = [
    "$_$",
    r"\frac{1}{0}",
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "[red]x[/red]",
    "{{ 7 * 7 }}",
    "&amp;",
    "🦊 fox",
    "السلام عليكم",
    "\u202eright to left",
    "x" * 10_000,
]
SHOWN = [name for name in NAMES if len(name) < 30]


@pytest.fixture(scope="module")
def analysis():
    wins = np.random.default_rng(0).integers(1, 9, (len(NAMES), len(NAMES)))
    np.fill_diagonal(wins, 0)
    return analyse(bd.Duels.from_wins(wins, NAMES), draws=200, seed=1)


def test_page(analysis):
    """The page is well formed; names are text, make no element and lose no character."""
    text = page("Hostile", {"": sections(analysis)}, subject="paired comparisons")
    found = Page(text)
    assert "<b>bold" not in text
    assert "<script>alert" not in text
    read = " ".join(found.text.values())
    assert all(name in read for name in SHOWN)
    assert len(found.pictures()) >= 3
    assert "x" * 200 not in read


def test_terminal(analysis):
    """The terminal shows the same names, with no markup of its own in them."""
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    for section in sections(analysis):
        console.print(section)
    shown = console.file.getvalue()
    assert all(name in shown for name in SHOWN)
