"""Margins of a log as models of them see it: by pair or vote by vote, and fit to be seen.

A margin is what left scored minus what right scored. A cell is an unordered pair with all its
margins (their sufficient statistics under normal noise), or a single vote where noise is not
normal. Within a cell margins are those of first over second, and the statistics keep apart the
margins in which first was left from those in which it was right, so that an advantage of the
left side can be taken out.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.data.health import components

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.votes import Votes

__all__ = ["cells", "check_log", "typical", "votes_of"]


def votes_of(duels: "Duels") -> "Votes":
    """Return the votes of a log of margins.

    Raises
    ------
    ValueError
        If the log has no margins, or left out those of ties.
    """
    votes = duels.votes
    if votes is None or votes.margin is None:
        raise ValueError(
            "duels should have margins (read_duels(..., margin=), --margin): this model is of by "
            "how much, got a log of who won"
        )
    if not np.isfinite(votes.margin).all():
        row = int(np.flatnonzero(~np.isfinite(votes.margin))[0])
        raise ValueError(f"margin should be finite, got {votes.margin[row]} at vote {row}")
    if duels.read_summary.n_ties_dropped:
        raise ValueError(
            "duels should keep ties (ties='keep'): without the margins of 0 the others are too "
            f"large, got a log of which {duels.read_summary.n_ties_dropped} ties were left out"
        )
    return votes


def check_log(duels: "Duels", *, flat: bool, order: bool) -> None:
    """Raise unless the margins of a log leave noise to be estimated.

    Raises
    ------
    ValueError
        If there are no margins, all are 0, or scores fit them all exactly; under a flat prior
        also if the log has several components or no more margins than scores.
    """
    votes = votes_of(duels)
    if not votes.margin.any():  # type: ignore[union-attr]
        raise ValueError("margins should not all be 0: nothing can be told from them")
    parts = components(duels)
    size = duels.n_arms - len(parts) + int(order)
    if flat and len(parts) > 1:
        raise ValueError(
            f"scale should be finite for a log of {len(parts)} components that never met ("
            f"{'; '.join(', '.join(p[:3]) for p in parts[:3])}, ...): a flat prior cannot rank them"
        )
    freedom = duels.n_duels - size
    if freedom <= 0:
        if flat:
            raise ValueError(
                f"scale should be finite for this log: {duels.n_duels} margins leave no noise to "
                f"be seen about {size} parameters"
            )
        return
    rest, total = _residual(duels, order)
    if rest <= 1e-20 * total:
        raise ValueError(
            "margins should vary: scores fit all of them exactly, so that their noise has no "
            "estimate (are all margins equal?)"
        )


def _residual(duels: "Duels", order: bool) -> tuple[float, float]:
    """Return the least sum of squares of the margins about any scores, and about 0."""
    data = cells(duels)
    n_left, n_right = data["n_left"], data["n"] - data["n_left"]
    mean_left, mean_right, scatter = data["margins"].T
    rows = np.arange(2 * len(n_left))
    design = np.zeros((len(rows), duels.n_arms + 1))
    design[rows, np.tile(data["first"], 2)] = 1.0
    design[rows, np.tile(data["second"], 2)] = -1.0
    design[:, -1] = np.repeat([1.0, -1.0], len(n_left)) if order else 0.0
    root = np.sqrt(np.concatenate([n_left, n_right]))
    margin = np.concatenate([mean_left, mean_right])
    fitted = np.linalg.lstsq(design * root[:, None], margin * root, rcond=None)[0]
    rest = float((root**2 * (margin - design @ fitted) ** 2).sum() + scatter.sum())
    return rest, float((root**2 * margin**2).sum() + scatter.sum())


def cells(duels: "Duels", *, each: bool = False) -> dict[str, np.ndarray]:
    """Return the margins of `duels` by unordered pair, or with ``each`` vote by vote.

    ``first`` and ``second`` (arm indices), ``n`` margins, ``n_left`` of them with first at the
    left; ``margins`` (cell, statistic): their mean where first was left, their mean where it was
    right (0 where there is none), and the sum of squares of margins about the mean of their
    side. Weights count.
    """
    votes = votes_of(duels)
    margin, weight = np.asarray(votes.margin), votes.weight.astype(float)
    if each:
        outcome = np.stack([margin, 0 * margin, 0 * margin], axis=1)
        return {
            "first": votes.left,
            "second": votes.right,
            "n": weight,
            "n_left": weight,
            "margins": outcome,
        }
    swapped = votes.left > votes.right
    first, second = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    own = np.where(swapped, -margin, margin)
    pair = first.astype(np.int64) * duels.n_arms + second
    key, place = np.unique(pair, return_inverse=True)
    side = 2 * place + swapped
    counts = np.bincount(side, weight, minlength=2 * len(key))
    means = np.bincount(side, weight * own, minlength=2 * len(key)) / np.maximum(counts, 1.0)
    scatter = np.bincount(place, weight * (own - means[side]) ** 2, minlength=len(key))
    return {
        "first": (key // duels.n_arms).astype(np.int32),
        "second": (key % duels.n_arms).astype(np.int32),
        "n": counts[::2] + counts[1::2],
        "n_left": counts[::2],
        "margins": np.column_stack([means[::2], means[1::2], scatter]),
    }


def typical(duels: "Duels", unit: float | None) -> np.ndarray:
    """Return the size of a typical margin: `unit`, or the root mean square of the log."""
    if unit is not None:
        return np.array(float(unit))
    votes = votes_of(duels)
    margin = np.asarray(votes.margin)
    return np.array(np.sqrt(np.average(margin**2, weights=votes.weight)))
