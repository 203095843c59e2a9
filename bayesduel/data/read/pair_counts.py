"""Tables of pairs with their counts: one row a pair, columns of wins of each side and of ties."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.columns import Columns, wins_columns
from bayesduel.data.votes import ReadSummary, TieRule, is_whole

if TYPE_CHECKING:
    from bayesduel.data.read.rows import Coded

__all__ = ["read_pair_counts"]


def read_pair_counts(
    source: Any, columns: Sequence[str], left: str, right: str, ties: TieRule
) -> Duels | None:
    """Return the log of a table with a row a pair, or None where it has no columns of wins.

    Parameters
    ----------
    source
        An open source.
    columns
        Its columns.
    left, right
        As in :func:`bayesduel.read_duels`.
    ties
        As there.

    Raises
    ------
    ValueError
        If a label is missing or a count is not a whole number.
    """
    taken = wins_columns(columns, source.name, left, right)
    if taken is None:
        return None
    texts = source.texts(Columns(taken))
    sides = [_labels(texts[side], taken[side], source.name) for side in ("left", "right")]
    counts: dict[str, Any] = {
        role: _counts(texts[role], taken[role], source.name)
        for role in ("left_wins", "right_wins", "ties")
        if role in taken
    }
    n = len(sides[0])
    zero: Any = np.zeros(n)
    outcomes = {"left_wins": 1.0, "right_wins": 0.0, "ties": 0.5}
    weight = np.concatenate([counts.get(role, zero) for role in outcomes])
    points = np.repeat(list(outcomes.values()), n)
    summary = ReadSummary(
        source=source.words,
        columns=taken,
        guessed=tuple(taken),
        n_rows=n,
        n_zero_weight=0,
        n_ties_dropped=int(weight[2 * n :].sum()) if ties == "drop" else 0,
    )
    return Duels.from_votes(
        sides[0] * 3, sides[1] * 3, points, weight=weight, tie_rule=ties, read_summary=summary
    )


# -- in calling order ----------------------------------------------------------------------


def _labels(column: "Coded", name: str, source: str) -> list[str]:
    if (column.code < 0).any():
        row = int(np.flatnonzero(column.code < 0)[0])
        raise ValueError(f"{source}, row {row}: column {name!r} should name an arm, got nothing")
    return [column.values[k].strip() for k in column.code]


def _counts(column: "Coded", name: str, source: str) -> np.ndarray:
    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return np.nan

    values = np.array([*(number(text) for text in column.values), np.nan])[column.code]
    bad = np.flatnonzero(~is_whole(np.nan_to_num(values, nan=-1.0)))
    if len(bad):
        k = int(bad[0])
        got = "nothing" if column.code[k] < 0 else repr(column.values[column.code[k]])
        raise ValueError(
            f"{source}, row {k} (the first is 0): column {name!r} should be a whole number of "
            f"wins, got {got}"
        )
    return values
