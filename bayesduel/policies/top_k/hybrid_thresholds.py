"""Null quantiles of the intransitivity index: thresholds of the hybrid policy.

The index does not change when scores are shifted or margins rescaled. If the model is true, its
law therefore depends only on the number of arms, the number of duels and the standard deviations.
It decreases with the number of duels: no single threshold is right at all times.

References
----------
None: ours. Spreads are drawn from U[0, 1], the law of the experiments of Groves & Branke.
"""

from functools import cache

import numpy as np

from bayesduel.margins.moments import index_of
from bayesduel.margins.tallies import margins_of_pairs

__all__ = ["null_thresholds"]

# Duels of a pair at which quantiles are simulated; between them they are interpolated in the
# logarithm.
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024)


@cache
def null_thresholds(n_arms: int, posterior: bool, shrinkage: float) -> np.ndarray:
    """Return the index's 0.95 quantile under a true model, by the duels that a pair has had.

    Simulated, from a seed that is the number of arms; the same for every call.

    Shape (2, m): natural logarithms of the duels per pair, and thresholds. Read-only.
    """
    rng = np.random.default_rng(n_arms)
    logs = max(40, 2000 // n_arms)  # The index averages over arms: more arms, fewer logs.
    quantiles = []
    for n in COUNTS:
        found = [_null_index(n_arms, n, posterior, shrinkage, rng) for _ in range(logs)]
        quantiles.append(np.quantile(found, 0.95))
    table = np.array([np.log(COUNTS), quantiles])
    table.setflags(write=False)
    return table


def _null_index(
    n_arms: int, n: int, posterior: bool, shrinkage: float, rng: np.random.Generator
) -> float:
    """Return the index of a log in which every pair met n times and the model is true."""
    n_pairs = n_arms * (n_arms - 1) // 2
    sd = rng.random(n_pairs)
    mean = sd * rng.standard_normal(n_pairs) / np.sqrt(n)
    scatter = sd**2 * rng.chisquare(n - 1, n_pairs)
    margins = margins_of_pairs(n_arms, n, mean, scatter)
    return index_of(margins, shrinkage, posterior)
