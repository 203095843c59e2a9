"""Pairs whose duels say the contrary of a ranking: a sign that no ranking holds.

One look at the counts of each pair, for winners that are asked for without a check. It is no test
of transitivity: :func:`bayesduel.check` is.
"""

from typing import Any

import numpy as np
import xarray as xr
from scipy.special import bdtrc, expit, logit

from bayesduel.intervals import CERTAIN
from bayesduel.posterior.update import beyond_counts
from bayesduel.system.arguments import by_reader
from bayesduel.text import SENTENCE, shorten

__all__ = ["upset_words"]


def upset_words(fit: xr.DataTree, mean: np.ndarray, covariance: str) -> str:
    """Return what the most surprising pair of a ranking says against it, or "".

    mean: posterior mean of P, the probability that i beats j in a neutral duel, shape (K, K).
    covariance: which votes depend on each other, as the draws have it; "model" for none.
    """
    if len(mean) < 3 or "constant_data" not in fit:
        return ""
    data = fit["constant_data"].dataset
    if "wins" not in data or "members" in data or beyond_counts(fit):
        return ""
    inflation = _inflation(fit, covariance)
    wins = data["wins"].values.astype(float)
    expected = _expected(fit, data, mean)
    met = wins + wins.T
    won_more = wins > wins.T
    lower, upper = np.nonzero(won_more & (mean < 0.5))
    if not len(lower):
        return ""
    n = met[lower, upper]
    won = wins[lower, upper]
    of_pair = expected[lower, upper]
    chance = np.maximum(of_pair, 0.5)
    n_counted = np.maximum(np.round(n / inflation), 1.0)
    won_counted = np.floor(won / inflation)
    p = bdtrc(won_counted - 1, n_counted, chance)  # of that many wins, or more
    worst = int(p.argmin())
    n_pairs = np.count_nonzero(np.triu(met))
    # Bonferroni's bound: the probability that any pair of a log with a ranking is named, at most
    if p[worst] * n_pairs >= 1e-3:
        return ""
    arms = fit.duel.arms
    below = shorten(arms[lower[worst]], SENTENCE)
    above = shorten(arms[upper[worst]], SENTENCE)
    has_ties = data["ties"].values.any()
    what = "points" if has_ties else "duels"
    how = by_reader("bd.check(duels) tests it", "bayesduel check tests it")
    taken = f"{won[worst]:g} of {n[worst]:g} {what}"
    return (
        f"But {below} took {taken} against {above}, which ranks above it: maybe no ranking holds "
        f"({how})."
    )


def _inflation(fit: xr.DataTree, covariance: str) -> float:
    """Return how many times larger variances are by clusters of votes than by the model, >= 1."""
    if covariance == "model":
        return 1.0
    errors = fit["clusters"].dataset.sel(clustering=covariance)
    robust = np.mean(errors["score_se_cluster"].values ** 2)
    own = np.mean(errors["score_se"].values ** 2)
    return max(1.0, float(robust / own))


def _expected(fit: xr.DataTree, data: Any, mean: np.ndarray) -> np.ndarray:
    """Return the share of each pair's points that the first is expected to take, (K, K).

    The side advantage counts as often as each was on that side.
    """
    advantage = fit["posterior"].dataset.get("order")
    if advantage is None or advantage.ndim > 2 or "first" not in data:
        return mean
    first = data["first"].values
    second = data["second"].values
    n = data["n"].values
    of_pair = mean[first, second]
    neutral = np.clip(of_pair, CERTAIN, 1 - CERTAIN)
    of_order = float(np.mean(advantage.values))
    chance = expit(logit(neutral) + of_order)
    of_first = n * chance
    of_second = n * (1 - chance)
    taken = np.zeros_like(mean)
    met = np.zeros_like(mean)
    np.add.at(taken, (first, second), of_first)
    np.add.at(taken, (second, first), of_second)
    np.add.at(met, (first, second), n)
    np.add.at(met, (second, first), n)
    share = taken / np.maximum(met, 1)
    return np.where(met > 0, share, mean)
