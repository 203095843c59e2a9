"""Whether left and right say how a pair was presented: the rule, and its reason.

Sides have a meaning where the columns of arms are called left and right, a and b, 1 and 2, first
and second, home and away, or white and black, or where a log was built without columns. They have
none where the columns are winner and loser (or chosen and rejected) or have other names, where the
log is a matrix or counts by pair, where one side won every decided duel or surely over 90 % of them
(the winner was written there), and where every pair is listed in one order only, beyond chance
(names in their order, say). A series at one ground keeps its order too: home and away, and white
and black, have a meaning all the same, unless all pairs follow the order of their names or scores
alone explain any advantage. Other columns of sides are in doubt there (``in_doubt``), where a row
is a vote: pairs were shown in that order, or sorted later. Rows with counts were sorted later.

A column that tells which games were on neutral ground is not used; the reason says so.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.columns import (
    plain,
    side_of,
)
from bayesduel.data.read.words import (
    GROUNDS,
    WHITES,
    WON_SIDES,
)
from bayesduel.intervals import wilson
from bayesduel.system.arguments import as_options, by_reader
from bayesduel.text import percent

__all__ = ["BY_CHANCE", "Sides", "one_order", "sides_of"]

BY_CHANCE = 7  # coins that all fall alike by chance with 2^-7 < 1 %
LEFT = dict.fromkeys(GROUNDS, "the home side") | dict.fromkeys(WHITES, "white")
LEFT |= {"1": "the side listed first"}
FIRST = "the left side (shown first)"


class Sides(NamedTuple):
    """The meaning of the sides of a log."""

    meaning: bool  # whether they say how a pair was presented
    left: str  # what the left side is called in a sentence: "the home side"
    why: str  # why they have a meaning, or none, as part of a sentence
    remark: str = ""  # what a reader of the log should know before it is ranked
    # whether their columns name sides, but each pair is listed in one order: scores would tell an
    # advantage apart, and nothing says whether pairs were shown in that order
    in_doubt: bool = False


def sides_of(duels: Duels) -> Sides:
    """Return what left and right mean in a log."""
    duels = duels.as_sides()  # who was shown first is a matter of sides, whoever is in them
    columns = duels.read_summary.columns
    left_column = columns.get("left")
    right_column = columns.get("right")
    named = f"columns {left_column} and {right_column}"
    found = None
    left = FIRST
    grounded = False
    twice = _mirrored_words() if duels.ordered and _mirrored(duels) else ""
    in_columns = None not in (left_column, right_column)
    if left_column is not None and right_column is not None:
        found = side_of(left_column, right_column)
    winner_first = False
    if found:
        left_word, right_word = found
        left = LEFT.get(left_word, FIRST)
        grounded = left_word in GROUNDS
        winner_first = right_word in WON_SIDES
    if not duels.ordered:
        return Sides(False, left, "left and right carry no meaning in the log")
    if in_columns and found is None:
        return Sides(False, left, f"the {named} do not say how a pair was presented", twice)
    if winner_first:
        return Sides(False, left, f"the {named} list the winner first")
    left_wins = int(duels.cells.left_wins.sum())
    right_wins = int(duels.cells.right_wins.sum())
    fewer, more = sorted((left_wins, right_wins))
    side, listed = ("left", "first") if left_wins > right_wins else ("right", "last")
    if fewer == 0 and more >= BY_CHANCE:
        why = f"the {side} side won every decided duel, so the log lists the winner {listed}"
        return Sides(False, left, why)
    decided = left_wins + right_wins
    # No advantage of being shown first gives a side 0.9 of the duels: the judge with the strongest
    # bias of Zheng et al., "Judging LLM-as-a-judge", NeurIPS 2023, table 2, gives it 0.75.
    if not grounded and decided and wilson(more, decided)[0] > 0.9:
        share = percent(more / decided)
        why = (
            f"the {side} side won {share} % of the decided duels, so the log probably lists the "
            f"winner {listed}"
        )
        term = by_reader("put SideAdvantage() in the model", "give --side-advantage")
        remark = f"{why}; sides are not used. If the {side} side has an advantage, {term}"
        return Sides(False, left, why, remark)
    if one_order(duels):
        if not grounded or one_order(duels, series=True):
            why = "every pair is listed in one order only, as by name"
            votes_of_sides = found is not None and "weight" not in columns
            in_doubt = votes_of_sides and _told_apart(duels)
            return Sides(False, left, why, in_doubt=in_doubt)
        if not _told_apart(duels):
            why = "every pair met on one side only, so that scores explain any advantage"
            return Sides(False, left, why)
    why = f"{named} are named as sides" if found else "left was shown first"
    for column in duels.read_summary.unread:
        if grounded and plain(column).startswith("neutral"):
            why += f" (the column {column} is not used: games on neutral ground have it, too)"
    return Sides(True, left, why, twice)


def _mirrored_words() -> str:
    option = as_options(shape="matches")
    return (
        "all counts are the same from both sides: where each duel has two rows, it counts twice "
        f"({option} counts it once)"
    )


def _mirrored(duels: Duels) -> bool:
    """Return whether each duel may be there twice, once from each side: all counts agree."""
    cells = duels.cells
    if cells.left_wins.sum() != cells.right_wins.sum():  # quick to see
        return False
    rows = [cells.left, cells.right, cells.left_wins, cells.right_wins, cells.ties]
    turned = [cells.right, cells.left, cells.right_wins, cells.left_wins, cells.ties]
    if _met(duels).sum() < BY_CHANCE:
        return False
    order = np.lexsort([cells.right, cells.left])
    turned_order = np.lexsort([cells.left, cells.right])
    in_order = np.stack(rows)[:, order]
    turned_in_order = np.stack(turned)[:, turned_order]
    return np.array_equal(in_order, turned_in_order)


def one_order(duels: Duels, *, series: bool = False) -> bool:
    """Return whether every pair is listed in one order only, beyond what chance would do.

    Pairs that met again all kept their order (which says nothing in a log of `series`), or all
    pairs follow one order of their names.
    """
    duels = duels.as_sides()
    cells = duels.cells
    met = _met(duels)
    left = cells.left[met]
    right = cells.right[met]
    # The other order of 20 pairs first: 1 ms each of 600,000 cells, where pairs take 160 ms.
    for one, other in islice(zip(left, right, strict=True), 20):
        if np.any((left == other) & (right == one)):
            return False
    n_met = len(duels.pairs().first)
    if len(left) != n_met:  # cells are by ordered pair
        return False
    ahead = np.sign(right - left).sum()
    in_order_of_names = abs(int(ahead)) == n_met
    if n_met >= BY_CHANCE and in_order_of_names:
        return True
    n_repeats = duels.n_duels - n_met
    return not series and n_repeats >= BY_CHANCE


def _told_apart(duels: Duels) -> bool:
    """Return whether no scores have the left one arm ahead of the right by 1 in every pair."""
    from scipy import sparse
    from scipy.sparse.linalg import lsqr

    cells = duels.cells
    met = _met(duels)
    n_met = int(met.sum())
    one = np.ones(n_met)
    signs = np.concatenate([one, -one])
    row = np.tile(np.arange(n_met), 2)
    arm = np.concatenate([cells.left[met], cells.right[met]])
    apart = sparse.csr_array((signs, (row, arm)), (n_met, duels.n_arms))
    _, _, _, residual, *_ = lsqr(apart, one)
    return bool(residual > 1e-4 * np.sqrt(n_met))


def _met(duels: Duels) -> np.ndarray:
    """Return which ordered pairs met, (cells,)."""
    cells = duels.cells
    return np.asarray(cells.left_wins + cells.right_wins + cells.ties > 0)
