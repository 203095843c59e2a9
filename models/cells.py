"""The cells in which a model sees a log: pairs, told apart by what the model asks of a vote."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.data.votes import Pairs

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Seen", "judges_of", "tallied"]


class Seen(NamedTuple):
    """A log, tallied.

    Attributes
    ----------
    cells
        ``first`` and ``second``, arm indices, and the columns asked for, shape (cells,).
        Where the order counts, first is left and there is ``left_first``, ones.
    counts
        First's wins, second's wins and ties, shape (cells, 3).
    of_vote, result
        The cell of each vote, and which of its three counts the vote is in, shape (votes,);
        or None where no column was asked for.
    """

    cells: dict[str, np.ndarray]
    counts: np.ndarray
    of_vote: np.ndarray | None = None
    result: np.ndarray | None = None


def tallied(
    duels: "Duels", columns: Mapping[str, np.ndarray] | None = None, *, ordered: bool = False
) -> Seen:
    """Return the counts of `duels` by pair and by the values of `columns`.

    Parameters
    ----------
    duels
        The log.
    columns
        Whole numbers, one a vote, by name: votes that differ in one are told apart.
    ordered
        Whether (left, right) is told from (right, left).
    """
    if not columns:
        pairs = Pairs(*duels.cells) if ordered else duels.pairs()
        counts = np.stack([pairs.first_wins, pairs.second_wins, pairs.ties], axis=-1)
        cells = {"first": pairs.first, "second": pairs.second}
        return Seen(_marked(cells, ordered), counts.astype(float))
    votes: Any = duels.votes
    first, second, outcome = votes.left, votes.right, votes.outcome
    if not ordered:
        swap = first > second
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        outcome = np.where(swap, -outcome, outcome)
    place = first.astype(np.int64) * duels.n_arms + second
    for column in columns.values():
        place = np.unique(place, return_inverse=True)[1]
        least = int(column.min(initial=0))
        place = place * (int(column.max(initial=0)) - least + 1) + (column - least)
    _, row, place = np.unique(place, return_index=True, return_inverse=True)
    cells = {"first": first[row], "second": second[row]}
    cells |= {name: column[row] for name, column in columns.items()}
    counts = np.stack(
        [np.bincount(place, votes.weight * (outcome == o), minlength=len(row)) for o in (1, -1, 0)],
        axis=-1,
    )
    return Seen(_marked(cells, ordered), counts, place, np.where(outcome == 0, 2, outcome < 0))


def judges_of(duels: "Duels") -> np.ndarray:
    """Return each vote's judge, -1 where it has none, shape (votes,).

    Raises
    ------
    ValueError
        If the log does not name two judges.
    """
    votes = duels.votes
    if votes is None or votes.judge is None:
        raise ValueError("duels should name a judge for each vote, got a log without judges")
    if len(votes.judges) < 2:
        raise ValueError(
            "duels should name at least two judges to tell one from another, "
            f"got {list(votes.judges)}"
        )
    return votes.judge


def _marked(cells: dict[str, np.ndarray], ordered: bool) -> dict[str, np.ndarray]:
    return cells | ({"left_first": np.ones(len(cells["first"]))} if ordered else {})
