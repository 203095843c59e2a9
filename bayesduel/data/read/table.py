"""A table of which a shape is looked for: its columns, its first rows, and what they may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayesduel.data.read.columns import PEEK, REPEATED, THIRD, Columns, bare, plain, side_of, take
from bayesduel.data.read.decimals import columns_with_commas, text_with_point
from bayesduel.data.read.faults import MISSING
from bayesduel.data.read.roles import ROLES, arms_in, goes_on
from bayesduel.data.read.rows import are_numbers
from bayesduel.data.read.shape import (
    number_of,
    text_of_column,
)
from bayesduel.data.read.sql import text_in_sql
from bayesduel.data.read.words import MODELS, RANKING

__all__ = [
    "ABSENT",
    "ALTERNATIVES",
    "ITEMS",
    "JUDGES",
    "RANKING",
    "ROWS",
    "SETS",
    "SIGNS",
    "TRUTH",
    "TWO_ROWS",
    "Table",
    "flag_in_sql",
    "is_number",
    "left_over",
    "may_be_arms",
    "mostly_numbers",
    "number_in",
]

ITEMS = tuple(
    stem + end
    for stem in (
        "item",
        "prompt",
        "question",
        "task",
        "example",
        "instance",
        "sample",
        "query",
        "game",
        "match",
        "race",
        "round",
        "test",
        "problem",
        "trial",
        "utterance",
        "utt",
        "sentence",
        "clip",
        "image",
        "segment",
        "stimulus",
    )
    for end in ("", "id", "name", "number", "no")
)
ROWS = ("id", "row", "no", "index", "unnamed:0", "")  # numbers of rows
JUDGES = (*ROLES["judge"], "email", "participantemail", "sessionuuid", "responseid")
SETS = (
    "choiceid",
    "choiceset",
    "choicesetid",
    "set",
    "setid",
    "choice",
    "task",
    "taskid",
    "chid",
    "observation",
    "obs",
    "obsid",
    "occasion",
    "screen",
    *ITEMS,
    "id",
)
ALTERNATIVES = (
    "alternative",
    "alternativeid",
    "alternativename",
    "alt",
    "altid",
    "option",
    "optionid",
    "brand",
    "item",
    "arm",
    *MODELS,
)
TRUTH = {"true": 1.0, "false": 0.0}
MARKS = ("x", "✓", "✔")  # for 1; nothing stands for 0
FLAGS = {"0", "1", "0.0", "1.0", "true", "false", *MARKS}
ABSENT = {text.lower() for text in MISSING} | {"."}
SIGNS = "WHEN 1 THEN 'left' WHEN -1 THEN 'right' WHEN 0 THEN 'tie'"
# Two rows with the same key, which the first one and the second one are.
TWO_ROWS = """
WITH sides AS (
    SELECT *, row_number() OVER (PARTITION BY key ORDER BY row_of_file) AS place,
           count(*) OVER (PARTITION BY key) AS n
    FROM ({rows}))
SELECT a.row_of_file, a.arm AS model_a, coalesce(b.arm, '') AS model_b,
    CASE WHEN a.n = 2 THEN nullif(concat_ws(' and ', a.value, b.value), '')
         ELSE a.n || CASE WHEN a.n = 1 THEN ' row' ELSE ' rows' END END AS verdict,
    CASE WHEN a.n = 2{agree} THEN {winner} END AS winner
FROM sides a LEFT JOIN sides b ON a.key = b.key AND b.place = 2 WHERE a.place = 1"""


@dataclass(frozen=True)
class Table:
    """A table of which a shape is looked for."""

    source: Any
    given: Mapping[str, Any]  # options of the caller that name columns, by role
    named: bool  # whether the caller names the shape
    decimal: str | None = None  # the sign before decimals; None: recognised

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns."""
        found: list[str] = self.source.columns()
        return found

    @cached_property
    def rows(self) -> dict[str, list[str]]:
        """The first rows of each column as text, "" where missing."""
        wanted = {f"c{k}": name for k, name in enumerate(self.columns)}
        first = self.source.peek(Columns(wanted), PEEK)
        found = {
            name: [_plain_text(text) for text in column.texts]
            for name, column in zip(self.columns, first.values(), strict=True)
        }
        for name in columns_with_commas(self.source, self.decimal):
            found[name] = [text_with_point(text, self.decimal) for text in found[name]]
        return _without_headers(found)

    def peek(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Return the texts of the first rows of some columns, by column."""
        wanted = Columns({name: name for name in names})
        found: Mapping[str, Any] = self.source.peek(wanted, PEEK)
        return found

    def known(self, column: str) -> set[str]:
        """Return the texts of a column that are not missing."""
        return set(self.rows[column]) - {""}

    def column(self, role: str, names: Sequence[str], but: Sequence[str | None] = ()) -> str | None:
        """Return the column that is given for a role, else the first with one of some plain names.

        but: columns that have another role.
        """
        given = self.given.get(role)
        if isinstance(given, str):
            take(self.columns, self.source.name, {role: given})
            return given
        free = {plain(bare(name)): name for name in reversed(self.columns) if name not in but}
        return next((free[name] for name in names if name in free), None)

    def used(self, *roles: str) -> tuple[str, ...]:
        """Return which of some options are given."""
        return tuple(role for role in roles if isinstance(self.given.get(role), str))

    def beside(self, *taken: str | None) -> list[str]:
        """Return the columns that have no role, given or by their names."""
        given: set[str] = set()
        for name in self.given.values():
            given |= {name} if isinstance(name, str) else set()
            given |= {*name} if isinstance(name, list | tuple) else set()
        return [name for name in self.columns if name not in {*taken} | given]

    def numbers(self, column: str) -> list[float] | None:
        """Return the numbers of a column, without missing values; None if one is no number."""
        texts = [text for text in self.rows[column] if text]
        return [*map(number_in, texts)] if all(map(is_number, texts)) else None

    def all(self, *columns: str) -> dict[str, list[str]]:
        """Return all rows of some columns as text, "" where missing."""
        wanted = take(self.columns, self.source.name, {name: name for name in columns})
        found = self.source.texts(wanted)
        return _without_headers(
            {name: [(text or "").strip() for text in found[name].texts] for name in columns}
        )

    def is_flag(self, column: str) -> bool:
        """Return whether a column holds 0 and 1, or true and false."""
        known = {text.lower() for text in self.known(column)}
        return bool(known) and known <= FLAGS


def may_be_arms(table: Table) -> bool:
    """Return whether two columns are named like arms, and may hold them.

    Numbers in columns a and b, or 1 and 2, are no arms where all others go on (c, d) or say what
    was judged, by whom and when: nothing says who won.
    """
    pair = arms_in(table.columns)
    if pair is None or any(table.numbers(name) is None for name in pair):
        return pair is not None
    side = side_of(*pair)
    units = {*ITEMS, *ROWS, *JUDGES, *ROLES["group"], *ROLES["time"]}
    beside = [name for name in table.columns if name not in pair]
    for name in beside:
        if plain(name) not in units and not goes_on([name], pair):
            return True
    return side is None or side[1] not in THIRD


def left_over(table: Table, taken: Sequence[str | None]) -> str | None:
    """Return the one column of texts that may name arms: those that units of votes share are none.

    Each label is in several units, once in each.
    """
    units = {*JUDGES, *ITEMS, *SETS, *ROLES["group"], *ROLES["time"]}
    beside = [name for name in table.columns if name not in taken]
    named = [name for name in beside if plain(bare(name)) in units]
    texts = [name for name in beside if name not in named and table.numbers(name) is None]
    if len(texts) != 1 or not named:
        return None
    label = texts[0]
    columns = [table.rows[name] for name in (*named, label)]
    rows = [*zip(*columns, strict=True)]
    least = REPEATED * len(table.known(label))
    return label if len({*rows}) == len(rows) >= least else None


def mostly_numbers(texts: Sequence[str]) -> bool:
    """Return whether half of some texts or more are numbers, true or false."""
    n_numbers = sum(map(is_number, texts))
    return len(texts) > 0 and 2 * n_numbers >= len(texts)


def is_number(text: str) -> bool:
    """Return whether a text is a number, true or false."""
    return are_numbers([text]) or text.lower() in TRUTH


def number_in(text: str) -> float:
    """Return the number that a text is; true and false are 1 and 0."""
    return TRUTH[text.lower()] if text.lower() in TRUTH else float(text)


def flag_in_sql(column: str) -> str:
    """Return a column of 0 and 1, or of marks, as numbers, in SQL."""
    text = text_of_column(column)
    marks = ", ".join(map(text_in_sql, MARKS))
    return f"CASE WHEN lower({text}) IN ({marks}) THEN 1 ELSE {number_of(text)} END"


def _without_headers(rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the texts of columns without the rows that repeat the header line."""
    (name, texts), *others = rows.items() or {"": []}.items()
    again = {
        k
        for k, text in enumerate(texts)
        if text == name and all(column[k : k + 1] == [other] for other, column in others)
    }
    if not again or are_numbers(rows):  # names that are numbers may be data
        return rows
    return {
        name: [text for k, text in enumerate(texts) if k not in again]
        for name, texts in rows.items()
    }


def _plain_text(text: str | None) -> str:
    """Return a text without surrounding spaces, "" where it stands for a missing value."""
    stripped = (text or "").strip()
    return "" if stripped.lower() in ABSENT else stripped
