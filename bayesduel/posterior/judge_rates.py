"""Rates of judges, shrunk towards one another: a hierarchical beta-binomial model.

The story: ``mean ~ Uniform(0, 1)``, ``size / (1 + size) ~ Uniform(0, 1)``, each judge's rate is
``Beta(mean size, (1 - mean) size)``, and the judge succeeds in so many of its trials. A judge with
few trials is near the mean of the panel; how near, the panel itself says.

References
----------
Christiansen & Morris, "Hierarchical Poisson regression modeling", Journal of the American
Statistical Association 1997 (a uniform prior of the shrinkage). Gelman et al., "Bayesian Data
Analysis", 3rd edition 2013, section 5.3 (beta-binomial on a grid).
"""

import numpy as np
from scipy.special import betaln, expit, log_expit

__all__ = ["judge_rates"]

POINTS = 41  # of the grid, along each axis; the third grid is on what the second found probable


def judge_rates(
    successes: np.ndarray, trials: np.ndarray, rng: np.random.Generator, draws: int = 4000
) -> np.ndarray:
    """Return posterior draws of the rate of each judge, shape (draws, n_judges).

    Parameters
    ----------
    successes, trials
        Of each judge, shape (n_judges,); shares of a trial are allowed.
    rng
        Source of the draws.
    draws
        Their number.
    """
    logit_mean, log_size, log_density = _hyper_grid(successes, trials)
    highest = log_density.max()
    density = np.exp(log_density - highest)
    probability = density.ravel() / density.sum()
    cell = rng.choice(density.size, draws, p=probability)
    row, column = np.unravel_index(cell, density.shape)
    # a draw lies anywhere in the cell about its point of the grid
    in_mean, in_size = rng.uniform(-0.5, 0.5, (2, draws))
    mean_step = logit_mean[1] - logit_mean[0]
    size_step = log_size[1] - log_size[0]
    drawn_mean = logit_mean[row] + in_mean * mean_step
    drawn_size = log_size[column] + in_size * size_step
    mean = expit(drawn_mean)
    size = np.exp(drawn_size)
    prior_won = mean * size
    prior_lost = (1 - mean) * size
    found = np.empty((draws, len(trials)))
    for judge, won in enumerate(successes):
        all_won = prior_won + won
        all_lost = prior_lost + trials[judge] - won
        found[:, judge] = rng.beta(all_won, all_lost)
    return found


def _hyper_grid(
    successes: np.ndarray, trials: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid of logit means and log sizes, and the log posterior density on it."""
    counts = np.stack([successes, trials])
    kinds, times = np.unique(counts, axis=1, return_counts=True)
    # Beyond the first grid a rate is below 5e-5, and judges are alike to 0.004.
    logit_mean = log_size = np.linspace(-10.0, 10.0, POINTS)
    density = _log_density(logit_mean, log_size, kinds, times)
    # 3 grids, each on what the one before found probable
    for _ in range(3 - 1):
        # 15 below the best point in log density: a share of 3e-7
        probable = density > density.max() - 15.0
        logit_mean = _around(logit_mean, probable.any(axis=1))
        log_size = _around(log_size, probable.any(axis=0))
        density = _log_density(logit_mean, log_size, kinds, times)
    return logit_mean, log_size, density


def _around(points: np.ndarray, probable: np.ndarray) -> np.ndarray:
    """Return a new grid over the probable points and one more on each side."""
    place = np.flatnonzero(probable)
    before = max(place[0] - 1, 0)
    last = len(points) - 1
    after = min(place[-1] + 1, last)
    return np.linspace(points[before], points[after], POINTS)


def _log_density(
    logit_mean: np.ndarray, log_size: np.ndarray, kinds: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Return the log posterior density of the points, shape (means, sizes), but for a constant.

    kinds, times: successes and trials that occur, (2, n), and how many judges have them, (n,).
    """
    size = np.exp(log_size)
    mean = expit(logit_mean)
    rest = expit(-logit_mean)
    first = mean[:, None] * size
    second = rest[:, None] * size
    before = betaln(first, second)
    density = np.zeros(first.shape)
    for (won, n), judges in zip(kinds.T, times, strict=True):
        after = betaln(first + won, second + n - won)
        density += judges * (after - before)
    density += _log_uniform(logit_mean)[:, None]
    density += _log_uniform(log_size)
    return density


def _log_uniform(points: np.ndarray) -> np.ndarray:
    """Return the log density of a uniform law on (0, 1) at logits of it."""
    log_rate = log_expit(points)
    log_rest = log_expit(-points)
    return np.asarray(log_rate + log_rest)
