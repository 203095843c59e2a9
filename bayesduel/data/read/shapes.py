"""The shapes of a table: which rows and columns make one comparison.

=========  ====================================================================================
shape      a row is
=========  ====================================================================================
duels      a duel
counts     a pair of arms, with columns of the wins of each (``wins_a``, ``wins_b``, ``ties``)
matrix     an arm, with a column for each arm that it beat
results    an arm, with a column for each arm that it met, of scores such as 2-1
scores     an item, with a column of numbers for each arm; or the score of an arm on an item
pairs      a judge, with a column for each pair of arms, such as ``London:Paris``
choices    an alternative of a set, chosen (1) or not (0)
best       a choice, with a column for each of three arms or more, and one of the best (and worst)
ranks      a ranking, with a column for each arm that holds its place; 0 or nothing: not ranked;
           or a column of its name and one of its place for each of several arms
places     an arm of a ranking, with its place; several columns may name the ranking (item, judge)
lists      a ranking, with a column of lists of arms, the best first
one-hot    a duel, with a column of 0 and 1 for each outcome (``winner_model_a``, ``winner_tie``)
nested     a duel of objects in JSON, or of a list of two arms
matches    a side of a match: each match has two rows
members    a member of a side of a match (doubles, teams): the side has a row for each
judges     a duel, with a column for the verdict of each judge
versus     a duel whose two arms stand in one column, such as ``Ajax - Celtic``
=========  ====================================================================================

The formats of tools are shapes, too (:mod:`bayesduel.data.read.tools`). A shape is one function and
one line of `SHAPES`. The function looks at the columns and the first rows of a table, and returns a
:class:`bayesduel.data.read.shape.Shape`, or what the table lacks to be one. Where the user names no
shape, a shape is recognised only where it is unmistakable.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesduel.data.read.shape import (
    Asked,
    Shape,
)
from bayesduel.data.read.shapes_of_duels import (
    counts,
    duels,
    judges,
    matches,
    matrix,
    members,
    nested,
    one_hot,
    pairs,
    results,
    versus,
)
from bayesduel.data.read.shapes_of_rankings import best, choices, lists, places, ranks
from bayesduel.data.read.shapes_of_scores import scores
from bayesduel.data.read.table import Table, may_be_arms
from bayesduel.data.read.tools import TOOLS, tool_of
from bayesduel.system.arguments import check_one_of
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.read.shape import Source

__all__ = [
    "SHAPES",
    "checked_shape",
    "shape_asked",
    "shape_found",
]

SHAPES: dict[str, Callable[[Table], Shape | str | None]] = {
    "duels": duels,
    "counts": counts,
    "matrix": matrix,
    "results": results,
    "one-hot": one_hot,
    "nested": nested,
    "matches": matches,
    "members": members,
    "judges": judges,
    "versus": versus,
    "choices": choices,
    "best": best,
    "pairs": pairs,
    "ranks": ranks,
    "places": places,
    "lists": lists,
    "scores": scores,
}
# In this order.
RECOGNISED = (
    "results",
    "one-hot",
    "nested",
    "matches",
    "members",
    "judges",
    "versus",
    "choices",
    "best",
    "pairs",
    "ranks",
    "places",
    "lists",
    "scores",
)
# Those that have columns named like two arms.
BESIDE_ARMS = ("one-hot", "matches", "members", "judges", "best", "ranks")


def checked_shape(name: object) -> Any:
    """Return the name of a shape, or None or False; raise ValueError for any other."""
    if name is not None and name is not False:
        check_one_of(name, "shape", [*SHAPES, *TOOLS])
    return name


def shape_asked(source: "Source", name: str, asked: Asked) -> Shape | None:
    """Return the shape of that name; None for one that is read as it is.

    Raises ValueError if the table lacks what the shape needs.
    """
    table = Table(source, asked.given, named=True, decimal=asked.decimal)
    if name in TOOLS:
        tool = TOOLS[name]
        lost = [column for column in tool.has if column not in table.columns]
        found: Shape | str | None = f"columns {join(lost, quote=True)}" if lost else tool
    else:
        found = SHAPES[name](table)
    if isinstance(found, str):
        raise ValueError(
            f"{source.name}: shape {name!r} needs {found}; "
            f"the columns are {join(table.columns, quote=True)}"
        )
    return None if found is None else replace(found, key=name)


def shape_found(source: "Source", asked: Asked) -> Shape | None:
    """Return the shape of a table where it is unmistakable, else None.

    asked: what the caller says, who names no column.
    """
    lower = {"lower_is_better": asked.given.get("lower_is_better")}
    table = Table(source, lower, named=False, decimal=asked.decimal)
    tool = tool_of(table.columns)
    if tool is not None or source.matrix() is not None:
        return tool
    arms = may_be_arms(table)
    for name in RECOGNISED:
        if arms and name not in BESIDE_ARMS:
            continue
        shape = SHAPES[name](table)
        if isinstance(shape, Shape):
            return replace(shape, key=name)
    return None
