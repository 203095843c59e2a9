"""Intervals of draws and of proportions, and p-values of several tests held to one level."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.system.options import Decision, check_options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "CERTAIN",
    "TAILS95",
    "Z95",
    "adjusted",
    "check_ci_prob",
    "clopper_pearson",
    "eti",
    "median_interval",
    "rejected",
    "wilson",
    "with_interval",
]

TAILS95 = (0.025, 0.975)  # quantiles at the ends of a 95 % interval
Z95 = 1.959963984540054  # standard normal quantile of 0.975
# Chances are kept away from 0 and 1 by this, where log odds (here 21) have to be finite.
CERTAIN = 1e-9


def check_ci_prob(ci_prob: float) -> None:
    """Raise ValueError unless `ci_prob` is a probability in (0, 1)."""
    check_options(Decision, ci_prob=ci_prob)


def eti(
    draws: np.ndarray, ci_prob: float, *, overwrite: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the equal-tailed interval of draws along the last axis, as order statistics.

    The order statistics i and n - 1 - i with ``i = floor(n (1 - ci_prob) / 2)``: the lower bound
    of a quantity is exactly minus the upper bound of its negative.

    Parameters
    ----------
    draws
        Draws, shape (..., n).
    ci_prob
        Probability of the interval, in (0, 1).
    overwrite
        Whether the draws may be left in another order, which saves a copy.

    Returns
    -------
    Lower and upper bounds, each of shape (...).
    """
    n = draws.shape[-1]
    k = min(int(n * (1 - ci_prob) / 2 + 1e-9), (n - 1) // 2)
    parted = draws if overwrite else draws.copy()
    parted.partition(n - 1 - k, axis=-1)  # two places at once take several times longer
    upper = parted[..., n - 1 - k].copy()
    parted[..., : n - k].partition(k, axis=-1)
    return parted[..., k].copy(), upper


def with_interval(
    name: str, draws: np.ndarray, ci_prob: float, middle: Any = None
) -> dict[str, Any]:
    """Return draws, (n, ...), by `name` (their mean, unless a middle is given) and its interval.

    The ends are ``name_lower`` and ``name_upper``, each of shape (...).
    """
    ends = eti(np.ascontiguousarray(np.moveaxis(draws, 0, -1)), ci_prob)
    middle = draws.mean(axis=0) if middle is None else middle
    return {name: middle} | {
        f"{name}_{e}": v[()] for e, v in zip(("lower", "upper"), ends, strict=True)
    }


def wilson(successes: np.ndarray | float, n: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's 95 % interval of the proportion `successes` / `n`, elementwise.

    Parameters
    ----------
    successes
        Successes, 0 to `n`, of any shape; halves (ties) are allowed.
    n
        Trials, of the same shape.

    Returns
    -------
    Lower and upper bounds, of that shape, in [0, 1]; NaN where `n` is 0.

    References
    ----------
    Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22, 1927, 209-212. Deviations: none.
    """
    k = np.asarray(successes, dtype=float)
    n = np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore"):
        centre = (k + Z95**2 / 2) / (n + Z95**2)
        half = Z95 / (n + Z95**2) * np.sqrt(k * (n - k) / n + Z95**2 / 4)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def clopper_pearson(successes: Any, n: Any, ci_prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact interval of the proportion `successes` / `n`, elementwise.

    It holds at least as often as `ci_prob` says.

    References
    ----------
    Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 1934. Deviations: none.
    """
    from scipy import stats

    tail = (1 - ci_prob) / 2
    with np.errstate(invalid="ignore"):
        low = stats.beta.ppf(tail, successes, n - successes + 1)
        high = stats.beta.ppf(1 - tail, successes + 1, n - successes)
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)


def median_interval(values: np.ndarray, ci_prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of the median of values along the last axis, as order statistics.

    It holds at least as often as `ci_prob` says, whatever the law of the values is. Its ends are
    infinite where the values are too few to tell: under 6 at 0.95.

    References
    ----------
    Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.2. Deviations: none.
    """
    from scipy import stats

    n = values.shape[-1]
    outside = int(stats.binom.ppf((1 - ci_prob) / 2, n, 0.5))  # values on each side, and one end
    if outside == 0:
        unknown = np.full(values.shape[:-1], np.inf)
        return -unknown, unknown
    ordered = np.sort(values, axis=-1)
    return ordered[..., outside - 1], ordered[..., n - outside]


def adjusted(p: "ArrayLike") -> np.ndarray:
    """Return p-values adjusted by Holm's procedure: those up to a level are rejected at it.

    p: shape (n,), in any order.

    References
    ----------
    As for :func:`rejected`.
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    ascending = p[order] * (len(p) - np.arange(len(p)))
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(ascending), 1.0)
    return found


def rejected(p: Any, level: float) -> int:
    """Return how many of ascending p-values Holm's procedure rejects at a familywise level.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979. Deviations: none.
    """
    n = len(p)
    kept = np.asarray(p) * (n - np.arange(n)) > level
    return int(kept.argmax()) if kept.any() else n
