"""A shape: what rows and columns make one comparison, and the query that takes them apart.

Every query is of the table ``records``, whose columns are JSON, and has the same few columns, so
that the rest of the reader, and a log of files of several shapes, needs no knowledge of any:

- duels: ``model_a`` and ``model_b`` as they were shown, ``verdict`` as written (missing where none
  was given: these rows are left out, and counted), ``winner`` as it is understood, and what is
  known of ``prompt``, ``source`` ("people", or the name of a machine) and ``judge``;
- scores: ``item``, ``model``, the score as ``written``, its ``number``, ``round`` (a turn, a
  repetition). Two models with a score of the same item, round, judge and source are a duel;
- rankings: ``ranking``, ``arm`` and ``rank``, a row for each arm of a ranking; ``wrong`` is a value
  that is no rank.

What a file says is compared and cast in these queries, never a part of them.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from bayesduel.data.read.in_memory import WinsMatrix
from bayesduel.data.read.rows import are_numbers
from bayesduel.data.read.sql import name_of
from bayesduel.text import count

__all__ = [
    "OTHER",
    "Asked",
    "Kind",
    "Part",
    "Shape",
    "Source",
    "listed",
    "number_of",
    "repeats_header",
    "text_in_json",
    "text_of_column",
]

OTHER = "="  # before the names of the columns that a shape keeps as they are
Kind = Literal["duels", "scores", "rankings"]


@dataclass(frozen=True)
class Shape:
    """How a table is read."""

    name: str  # what it is called in messages, "" of a row per duel
    has: tuple[str, ...]  # columns that the query reads; a tool is recognised by all of them
    query: str  # of the table ``records``; its columns are those above
    said: str  # what is taken as what
    # of a verdict or a score that is not understood: its column, and what it should be
    accepted: tuple[str, str] = ("", "")
    may: tuple[str, ...] = ()  # further columns that the query reads, if they are there
    kind: Kind = "duels"
    ordered: bool = True  # whether ``model_a`` was shown first
    open: bool = False  # whether the other columns are kept as they are
    soft: bool = False  # whether a winner may be a share of the vote
    key: str = ""  # its name in the tables of shapes and tools
    used: tuple[str, ...] = ()  # options of the caller that name columns of its query
    # what the file calls the columns of the query: ``{"model_a": "team"}``
    roles: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ("row_of_file",)  # columns by which the rows of the query are ordered
    teams: bool = False  # whether ``model_a`` and ``model_b`` have several members


class Source:
    """What is said of a table, unless its shape says otherwise."""

    name = ""  # what it is called in messages
    files: tuple[str, ...] = ()  # absolute paths
    delimiter = ""  # between the fields of a text file
    own_nulls = True  # the format has missing values, so that "" is a text like any other
    ordered = True  # left and right may say how a pair was presented
    coding: str | None = None  # of its outcomes, where the source knows
    shape = "one duel per row"
    kind: Kind = "duels"
    roles: Mapping[str, str] = MappingProxyType({})  # as of a shape
    teams: str | None = None  # what stands between the members of a side, where the source knows
    used: tuple[str, ...] = ()  # options that are done with
    recognised: str | None = None  # the name of its shape, where it has one
    taken: frozenset[str] = frozenset()  # columns that its shape reads

    def matrix(self) -> WinsMatrix | None:
        """Return the matrix of wins that a table holds, or None if it holds none."""
        return None

    def left_out(self) -> list[tuple[str, int]]:
        """Return why rows were left out before they were read, and how many."""
        return []

    def said(self, notice: str) -> list[str]:
        """Return what is said of the columns: the notice of those that were guessed, if any."""
        return [notice] if notice else []

    def remarks(self) -> list[str]:
        """Return what was recognised, and what was left out before rows were read."""
        out = [f"left out: {why} ({count(n, 'row')})" for why, n in self.left_out()]
        return [*self.said(""), *out]

    def say(self, *lines: str) -> None:
        """Say on stderr what was understood."""
        for line in lines:
            print(f"read {self.name}: {line}", file=sys.stderr)


class Part(NamedTuple):
    """A file or a frame, and the shape of its records."""

    shape: Shape
    source: Any


@dataclass(frozen=True)
class Asked:
    """What the caller says of the shape of a table."""

    shape: str | Literal[False] | None = None  # its name; None: recognised; False: a row per duel
    given: Mapping[str, Any] = field(default_factory=dict)  # options that name columns, by role
    rankings: bool = False  # whether rankings are read, or duels
    where: str | None = None  # the condition, in SQL, of the rows that are read
    decimal: str | None = None  # the sign before decimals; None: recognised


def repeats_header(row: Mapping[str, str | None], columns: Mapping[str, str]) -> bool:
    """Return whether a row is the header line again, as in files that were joined.

    row: texts by role; columns: the column of each role. Names that are numbers may be data.
    """
    for role, column in columns.items():
        text = row[role] or ""
        if text.strip() != column:
            return False
    return not are_numbers(columns.values())


def number_of(text: str) -> str:
    """Return a text as a number: true and false are 1 and 0; missing where it is none."""
    words = f"CASE lower({text}) WHEN 'true' THEN 1 WHEN 'false' THEN 0"
    return f"{words} ELSE TRY_CAST({text} AS DOUBLE) END"


def text_in_json(value: str) -> str:
    """Return a value of JSON as text, missing where it is an object or a list."""
    return f"CASE WHEN json_type({value}) NOT IN ('OBJECT', 'ARRAY') THEN {value} ->> '$' END"


def text_of_column(column: str) -> str:
    """Return a column of ``records`` as text without surrounding spaces, missing where blank."""
    return f"nullif(trim({text_in_json(name_of(column))}), '')"


def listed(values: Iterable[str]) -> str:
    """Return a list in SQL."""
    return f"[{', '.join(values)}]"
