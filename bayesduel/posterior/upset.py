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

# Probability that any pair of a log with a ranking is named, at most (Bonferroni's bound).
ERROR = 1e-3


def upset_words(fit: xr.DataTree, mean: np.ndarray, covariance: str) -> str:
    """Return what the most surprising pair of a ranking says against it, or "".

    mean: posterior mean of P, the probability that i beats j in a neutral duel, shape (K, K).
    covariance: which votes depend on each other, as the draws have it; "model" for none.
    """
    data = fit["constant_data"].dataset if "constant_data" in fit else xr.Dataset()
    if len(mean) < 3 or "wins" not in data or "members" in data or beyond_counts(fit):
        return ""
    inflation = _inflation(fit, covariance)
    wins = data["wins"].values.astype(float)
    expected = _expected(fit, data, mean)
    met = wins + wins.T
    lower, upper = np.nonzero((met > 0) & (wins > wins.T) & (mean < 0.5))
    if not len(lower):
        return ""
    n = met[lower, upper]
    won = wins[lower, upper]
    chance = np.maximum(expected[lower, upper], 0.5)
    counted = np.maximum(np.round(n / inflation), 1.0)
    p = bdtrc(np.floor(won / inflation) - 1, counted, chance)  # of that many wins, or more
    worst = int(p.argmin())
    n_pairs = np.count_nonzero(np.triu(met))
    if p[worst] * n_pairs >= ERROR:
        return ""
    below, above = (shorten(fit.duel.arms[k], SENTENCE) for k in (lower[worst], upper[worst]))
    what = "points" if data["ties"].values.any() else "duels"
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
    neutral = np.clip(mean[first, second], CERTAIN, 1 - CERTAIN)
    chance = expit(logit(neutral) + float(np.mean(advantage.values)))
    taken = np.zeros_like(mean)
    met = np.zeros_like(mean)
    np.add.at(taken, (first, second), n * chance)
    np.add.at(taken, (second, first), n * (1 - chance))
    np.add.at(met, (first, second), n)
    np.add.at(met, (second, first), n)
    return np.where(met > 0, taken / np.maximum(met, 1), mean)
