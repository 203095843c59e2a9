"""Sections: the same blocks in a page, a notebook and a terminal."""

import base64
import csv
import json
import sys
from io import StringIO

import jinja2
import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import bayesduel
from bayesduel.reporting import html
from bayesduel.reporting.html import page
from bayesduel.reporting.section import (
    Alert,
    Cell,
    Figure,
    Group,
    Section,
    Table,
    Text,
    Verdict,
    blocks,
    frame_table,
)
from tests.support.parsing import Page

LONG = "x" * 200


def drawing(ax):
    ax.plot([0, 1], [0, 1])


@pytest.fixture
def section():
    figure = Figure(plot=drawing, size=(3, 2), alt="a line", caption="From 0 to 1.")
    table = Table(
        columns="nlt",
        heads=("rank", "arm", "note\nin two lines"),
        rows=(
            ("1", "[bold]a & b", Cell("yes", small="almost", style="strong")),
            ("2", LONG, Cell("no", style="alarm")),
        ),
        rules=(1,),
        caption="Made by hand.",
    )
    return Section(
        id="one",
        title="One <section>",
        body=blocks(
            Verdict(headline="It is so.", text=("Because.",), caution="Or not.", note="Small."),
            Alert("Warnings", ("first", "second")),
            "A paragraph.",
            "",
            None,
            figure,
            Group("More", (table, Text("code", "code")), folded=True),
        ),
    )


def printed(section) -> str:
    console = Console(file=StringIO(), width=100)
    console.print(section)
    return console.file.getvalue()


def test_a_page_and_a_terminal_have_the_same_words(section):
    html = Page(page("title", {"": (section,)}, subject="test"))
    words = " ".join(printed(section).split())
    shown = "It is so.|Because.|Or not.|Small.|second|A paragraph.|More|[bold]a & b|almost|no"
    for text in [*shown.split("|"), "Made by hand.", "in two lines"]:
        assert text in html.text["one"] and text in words
    assert LONG not in words and LONG not in html.text["one"]
    assert LONG in [attrs.get("title") for tag, attrs in html.tags if tag == "td"]
    assert "From 0 to 1." in html.text["one"] and "From 0 to 1." not in words


def test_a_terminal_draws_no_figure(section, monkeypatch):
    monkeypatch.setattr("bayesduel.reporting.figures.draw", None)
    assert "A paragraph." in printed(section)


def test_a_notebook_shows_the_section_of_the_page(section):
    html = section._repr_html_()
    assert html.count("<section") == 1 and "One &lt;section&gt;" in html
    assert html.strip() in page("title", {"": (section,)}, subject="test")


def test_templates_have_their_bytecode_where_modules_have_it(section, tmp_path, monkeypatch):
    def rendered(writes, folder=tmp_path):
        made = html._environment.__wrapped__
        monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
        monkeypatch.setattr(html, "cache_from_source", lambda _: str(folder / "html.pyc"))
        with monkeypatch.context() as fresh:
            fresh.setattr(html, "_environment", made)
            return html.fragment(section)

    written = rendered(writes=False)
    assert rendered(writes=True, folder=tmp_path / "none") == written
    assert not list(tmp_path.iterdir())
    assert rendered(writes=True) == written
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith(bayesduel.__version__)
    monkeypatch.delattr(jinja2.Environment, "compile")
    assert rendered(writes=True) == written


def test_parts_have_links_of_their_own(section):
    table = Table(columns="l", rows=((Cell("x", id="arm-x"),),))
    second = Section(id="two", title="Two", body=(table,))
    parts = {"a": (section, second), "b": (section, second)}
    html = Page(page("title", parts, subject="test"))
    assert html.ids == ["p1-one", "p1-two", "p2-one", "p2-two"]
    links = [str(a["href"]) for tag, a in html.tags if tag == "a"]
    assert [a for a in links if a.startswith("#")] == ["#p1-arm-x", "#p2-arm-x"]
    assert {"p1-arm-x", "p2-arm-x"} <= set(html.anchors)


def test_empty_blocks_are_left_out():
    assert blocks("", None) == ()
    assert blocks("a", Text("b")) == (Text("a"), Text("b"))


def test_every_table_is_in_the_page_as_files(section):
    """The links decode to the content of the table, texts in full."""
    html = Page(page("title", {"": (section,)}, subject="test"))
    links = {str(a["download"]): str(a["href"]) for _, a in html.tags if "download" in a}
    assert list(links) == ["one.csv", "one.json"]
    rows = list(csv.reader(StringIO(decoded(links["one.csv"], "text/csv"))))
    assert rows == [
        ["rank", "arm", "note in two lines"],
        ["1", "[bold]a & b", "yes almost"],
        ["2", LONG, "no"],
    ]
    found = json.loads(decoded(links["one.json"], "application/json"))
    assert found == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_files_hold_numbers_that_are_not_rounded():
    data = {"arm": ["a", "b"], "share": np.array([1 / 3, np.nan])}
    table = Table(columns="ln", heads=("arm", "share"), rows=(("a", "33 %"),), data=data)
    assert table.csv() == f"arm,share\na,{1 / 3}\nb,\n"
    assert json.loads(table.to_json()) == [
        {"arm": "a", "share": 1 / 3},
        {"arm": "b", "share": None},
    ]


def test_tables_of_a_section_have_different_names():
    one, two, named = (
        Table(columns="ht", rows=(("a", str(k)),), name=name)
        for k, name in enumerate(("", "", "own"))
    )
    section = Section(id="fit", body=blocks(one, Group("More", (two, named))))
    assert list(section.tables) == ["fit", "fit-2", "fit-own"]
    assert section.file_name(named) == "fit-own"
    assert two.csv() == "name,value\na,1\n"


def decoded(uri: str, kind: str) -> str:
    head, text = uri.split(";base64,")
    assert head == f"data:{kind};charset=utf-8"
    return base64.b64decode(text, validate=True).decode()


def test_a_table_is_its_columns_and_its_files_have_the_whole_frame():
    frame = pd.DataFrame({"arm": ["{a}", "b", "c"], "won": [1200, 3, 0], "p": [0.5, 0.25, 0.0]})
    columns = (
        ("l", "arm", "{arm}"),
        ("n", "won", "{won:,}"),
        ("n", "p", lambda row: Cell(f"{row['p']:.0%}", style="strong")),
    )
    table = frame_table(frame, columns, frame.head(2), name="wins")
    assert (table.columns, table.heads, table.name) == ("lnn", ("arm", "won", "p"), "wins")
    assert [[c.text for c in row] for row in table.cells] == [["{a}", "1,200", "50%"],
                                                              ["b", "3", "25%"]]  # fmt: skip
    assert table.cells[0][2].style == "strong"
    assert table.content == {"arm": ["{a}", "b", "c"], "won": [1200, 3, 0], "p": [0.5, 0.25, 0.0]}


@pytest.mark.parametrize("width", [60, 200])
def test_a_table_that_is_too_wide_goes_on_below_with_its_labels(width):
    table = Table(
        columns="nlnnn",
        heads=("rank", "attribute", "odds", "ratio", "points"),
        rows=(("1", "the mean number of characters", *(Cell("0.5", small="-" * 20),) * 3),),
    )
    stream = StringIO()
    Console(file=stream, width=width).print(table)
    lines = stream.getvalue().splitlines()
    heads = [line.split() for line in lines if "attribute" in line]
    parts = {60: [["odds"], ["ratio"], ["points"]], 200: [["odds", "ratio", "points"]]}[width]
    assert heads == [["rank", "attribute", *part] for part in parts]
    assert sum("the mean number" in line for line in lines) == len(parts)
