"""Raw counts of a log: the head-to-head table, and winners by counting, without a model.

A tie counts half a win for each side. Raw winners take observed shares for probabilities, so a
pair that met once counts as much as one that met a thousand times: they are shown beside the
figures of a model, not in their place.
"""

import numpy as np
import pandas as pd

from bayesduel.data.duels import Duels
from bayesduel.data.votes import Pairs, by_arm
from bayesduel.intervals import wilson
from bayesduel.system.arguments import check_log

__all__ = ["head_to_head", "raw_winners"]


def head_to_head(duels: Duels) -> pd.DataFrame:
    """Return one row per pair that met, those with most duels first.

    In a log with teams a pair met if its arms were on opposite sides: a duel of doubles counts for
    four pairs, whoever the partners were. ``head_to_head(duels.as_sides())`` has pairs of sides.

    Columns: ``first``, ``second``, ``duels``, ``first_wins``, ``ties``, ``second_wins``,
    ``share`` (of first, a tie counting half), ``share_lower``, ``share_upper`` (Wilson's 95 %
    interval).

    Parameters
    ----------
    duels
        The log.

    Examples
    --------
    >>> bd.head_to_head(bd.datasets.load("tennis1990"))[["first", "second", "duels"]].head(2)
      first    second  duels
    0  Graf  Sabatini      9
    1  Graf   Sanchez      8
    """
    check_log(duels, Duels)
    pairs = duels.pairs()
    n, points = _points(pairs)
    low, high = wilson(points, n)
    labels = np.array(duels.arms, dtype=object)
    frame = pd.DataFrame(
        {
            "first": labels[pairs.first],
            "second": labels[pairs.second],
            "duels": n,
            "first_wins": pairs.first_wins,
            "ties": pairs.ties,
            "second_wins": pairs.second_wins,
            "share": points / n,
            "share_lower": low,
            "share_upper": high,
        }
    )
    return frame.sort_values("duels", ascending=False, kind="stable", ignore_index=True)


def raw_winners(duels: Duels) -> pd.DataFrame:
    """Return the winners by counting, one row per arm, by share of opponents beaten.

    In a log with teams opponents are the arms on the other side, as in :func:`head_to_head`.

    Columns: ``duels``, ``win_share`` (of all duels), ``opponents`` (met), ``beaten``, ``level``,
    ``lost_to`` (opponents by majority of the duels with them), ``copeland`` (beaten plus half
    of level, divided by opponents met), ``borda`` (mean of the shares against each opponent
    met). Attributes: ``condorcet`` (the arm that beat every other arm by majority, or None),
    ``copeland`` and ``borda`` (the arms with the largest value), ``pairs_met`` and ``pairs``.

    Parameters
    ----------
    duels
        The log.

    Examples
    --------
    >>> bd.raw_winners(bd.datasets.load("tennis1990"))[["beaten", "lost_to"]].head(2)
           beaten  lost_to
    arm
    Graf        4        0
    Seles       2        1
    """
    check_log(duels, Duels)
    pairs = duels.pairs()
    n_arms = duels.n_arms
    n, points = _points(pairs)
    met = n > 0

    def each(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the sums over the pairs of each arm, which met, of numbers of either side."""
        arms = (pairs.first[met], pairs.second[met])
        return by_arm(*arms, n_arms, first[met], second[met])

    known = duels.summary().reindex(list(duels.arms))
    frame = known[["duels", "win_share", "opponents"]].copy()
    with np.errstate(invalid="ignore", divide="ignore"):
        share = points / n
        frame["beaten"] = each(share > 0.5, share < 0.5).astype(int)
        frame["level"] = each(share == 0.5, share == 0.5).astype(int)
        frame["lost_to"] = frame["opponents"] - frame["beaten"] - frame["level"]
        frame["copeland"] = (frame["beaten"] + frame["level"] / 2) / frame["opponents"]
        frame["borda"] = each(share, 1 - share) / frame["opponents"]
    all_beaten = frame.index[frame["beaten"] == n_arms - 1]
    best = {}
    for name in ("copeland", "borda"):
        largest = frame[name] == frame[name].max()
        best[name] = [str(arm) for arm in frame.index[largest]]
    frame = frame.sort_values(["copeland", "borda"], ascending=False, kind="stable")
    frame.attrs = {
        "condorcet": str(all_beaten[0]) if len(all_beaten) else None,
        **best,
        "pairs_met": int(met.sum()),
        "pairs": n_arms * (n_arms - 1) // 2,
    }
    return frame


def _points(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the duels of each pair, and the points of the first: a tie counts half."""
    n = pairs.first_wins + pairs.second_wins + pairs.ties
    points = pairs.first_wins + pairs.ties / 2
    return n, points
