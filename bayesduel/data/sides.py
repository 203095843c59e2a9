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

# Share of the duels that a side wins, beyond any advantage of being shown first: that of the judge
# with the strongest bias of Zheng et al., "Judging LLM-as-a-judge", NeurIPS 2023, table 2, is 0.75.
BEYOND = 0.9
BY_CHANCE = 7  # coins that all fall alike by chance with 2^-7 < 1 %
LEFT = dict.fromkeys(GROUNDS, "the home side") | dict.fromkeys(WHITES, "white")
LEFT |= {"1": "the side listed first"}
FIRST = "the left side (shown first)"
# Pairs whose other order is looked for first: 1 ms each of 600,000 cells, where pairs take 160 ms.
LOOKED_AT = 20


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
    names = columns.get("left"), columns.get("right")
    found = side_of(*names) if None not in names else None  # type: ignore[arg-type]
    left = LEFT.get(found[0], FIRST) if found else FIRST
    named = f"columns {names[0]} and {names[1]}"
    cells = duels.cells
    won = sorted((int(cells.left_wins.sum()), int(cells.right_wins.sum())))
    if not duels.ordered:
        return Sides(False, left, "left and right carry no meaning in the log")
    twice = _mirrored_words() if _mirrored(duels) else ""
    if None not in names and found is None:
        return Sides(False, left, f"the {named} do not say how a pair was presented", twice)
    if found and found[1] in WON_SIDES:
        return Sides(False, left, f"the {named} list the winner first")
    if won[0] == 0 and won[1] >= BY_CHANCE:
        place = {"left": "first", "right": "last"}
        side = "left" if cells.left_wins.sum() else "right"
        why = f"the {side} side won every decided duel, so the log lists the winner {place[side]}"
        return Sides(False, left, why)
    grounded = found is not None and found[0] in GROUNDS
    decided = won[0] + won[1]
    if not grounded and decided and wilson(won[1], decided)[0] > BEYOND:
        side = "left" if cells.left_wins.sum() > cells.right_wins.sum() else "right"
        share = percent(won[1] / decided)
        listed = "first" if side == "left" else "last"
        why = (
            f"the {side} side won {share} % of the decided duels, so the log probably lists the "
            f"winner {listed}"
        )
        term = by_reader("put SideAdvantage() in the model", "give --side-advantage")
        remark = f"{why}; sides are not used. If the {side} side has an advantage, {term}"
        return Sides(False, left, why, remark)
    if one_order(duels):
        if found is None or found[0] not in GROUNDS or one_order(duels, series=True):
            why = "every pair is listed in one order only, as by name"
            votes_of_sides = found is not None and "weight" not in columns
            return Sides(False, left, why, in_doubt=votes_of_sides and _told_apart(duels))
        if not _told_apart(duels):
            why = "every pair met on one side only, so that scores explain any advantage"
            return Sides(False, left, why)
    why = f"{named} are named as sides" if found else "left was shown first"
    for column in duels.read_summary.unread:
        if found and found[0] in GROUNDS and plain(column).startswith("neutral"):
            why += f" (the column {column} is not used: games on neutral ground have it, too)"
    return Sides(True, left, why, twice)


def _mirrored_words() -> str:
    return (
        "all counts are the same from both sides: where each duel has two rows, it counts twice "
        f"({as_options(shape='matches')} counts it once)"
    )


def _mirrored(duels: Duels) -> bool:
    """Return whether each duel may be there twice, once from each side: all counts agree."""
    cells = duels.cells
    if cells.left_wins.sum() != cells.right_wins.sum():  # quick to see
        return False
    rows = [cells.left, cells.right, cells.left_wins, cells.right_wins, cells.ties]
    turned = [cells.right, cells.left, cells.right_wins, cells.left_wins, cells.ties]
    one, other = (np.stack(columns)[:, np.lexsort(columns[1::-1])] for columns in (rows, turned))
    return bool(_met(duels).sum() >= BY_CHANCE and np.array_equal(one, other))


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
    for one, other in zip(left[:LOOKED_AT], right[:LOOKED_AT], strict=True):
        if np.any((left == other) & (right == one)):
            return False
    n_met = len(duels.pairs().first)
    if len(left) != n_met:  # cells are by ordered pair
        return False
    ahead = np.sign(cells.right[met] - cells.left[met]).sum()
    sorted_ = n_met >= BY_CHANCE and abs(int(ahead)) == n_met
    return sorted_ or (duels.n_duels - n_met >= BY_CHANCE and not series)


def _told_apart(duels: Duels) -> bool:
    """Return whether no scores have the left one arm ahead of the right by 1 in every pair."""
    from scipy import sparse
    from scipy.sparse.linalg import lsqr

    cells = duels.cells
    met = _met(duels)
    row = np.arange(met.sum())
    one = np.ones(met.sum())
    place = (np.tile(row, 2), np.concatenate([cells.left[met], cells.right[met]]))
    apart = sparse.csr_array((np.concatenate([one, -one]), place), (len(row), duels.n_arms))
    return bool(lsqr(apart, one)[3] > 1e-4 * np.sqrt(len(row)))


def _met(duels: Duels) -> np.ndarray:
    """Return which ordered pairs met, (cells,)."""
    cells = duels.cells
    return np.asarray(cells.left_wins + cells.right_wins + cells.ties > 0)
