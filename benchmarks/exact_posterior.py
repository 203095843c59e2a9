"""Posteriors of Bradley-Terry scores, their scale learned, computed without the package.

Of three arms by quadrature; of more by elliptical slice sampling, in many chains at once.

References
----------
Murray, Adams & MacKay, "Elliptical slice sampling", AISTATS 2010. Yu & Meng, "To center or not to
center: that is not the question", JCGS 2011 (the scale, updated given scores and given scores
divided by it, in turn).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import log_expit

__all__ = ["QUANTILES", "Chains", "exact_quantiles", "quantities", "sampled"]

QUANTILES = (0.025, 0.5, 0.975)
PRIOR_SCALE = 2.0  # of the half-normal prior of the scale, as the model's docstring has it
BINS, NEAR, RANGE = 20_000, 0.05, (-8.5, 8.5)  # of the values: arcsinh(value / NEAR)
NAMES = ("a", "b", "c", "a - b", "b - c", "a - c", "scale")


def quantities(posterior: Any) -> dict[str, np.ndarray]:
    """Return scores, contrasts and scale of a fit of three arms, each (draws,)."""
    a, b, c = posterior["score"].to_numpy().reshape(-1, 3).T
    scale = posterior["scale"].to_numpy().ravel()
    return dict(zip(NAMES, (a, b, c, a - b, b - c, a - c, scale), strict=True))


def exact_quantiles(
    wins: np.ndarray, size: int = 301, n_scales: int = 97
) -> dict[str, tuple[np.ndarray, float]]:
    """Return the quantiles and the standard deviation of each quantity.

    The trapezoidal rule over two differences of scores, on a grid that is finer near 0 and narrows
    with the scale, and over the logarithm of the scale. The model is written out here,
    independently of the package.

    Parameters
    ----------
    wins
        Times i beat j, (3, 3).
    size, n_scales
        Points of each difference and of the scale.
    """
    log_scales = np.linspace(-7.0, 2.6, n_scales)
    parts = [_given_scale(wins, log_scale, size) for log_scale in log_scales]
    top = max(height.max() for _, _, height in parts)
    masses = [np.exp(height - top) for _, _, height in parts]
    laws = {name: np.zeros(BINS) for name in NAMES[:-1]}
    for (first, second, _), mass in zip(parts, masses, strict=True):
        a, b, c = (2 * first + second) / 3, (second - first) / 3, -(first + 2 * second) / 3
        values = (a, b, c, first, second, first + second)
        for law, value in zip(laws.values(), values, strict=True):
            place = (np.arcsinh(value / NEAR) - RANGE[0]) * (BINS / (RANGE[1] - RANGE[0]))
            inside = np.clip(place.astype(int), 0, BINS - 1)
            law += np.bincount(inside.ravel(), mass.ravel(), minlength=BINS)
    edges = np.linspace(*RANGE, BINS + 1)
    middle = NEAR * np.sinh((edges[1:] + edges[:-1]) / 2)
    found = {name: _quantiles(middle, law) for name, law in laws.items()}
    log_mass = np.log([mass.sum() for mass in masses])
    fine = np.linspace(log_scales[0], log_scales[-1], BINS)
    by_scale = np.exp(CubicSpline(log_scales, log_mass)(fine))
    return found | {"scale": _quantiles(np.exp(fine), by_scale)}


def _given_scale(
    wins: np.ndarray, log_scale: float, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid of a - b and b - c, and the log density times the area of its meshes."""
    scale = np.exp(log_scale)
    unit, reach = min(scale, 0.5), 12 * scale
    stretched = np.linspace(-1, 1, size) * np.arcsinh(reach / unit)
    difference, step = unit * np.sinh(stretched), unit * np.cosh(stretched)
    first, second = np.meshgrid(difference, difference, indexing="ij")
    height = np.log(np.outer(step, step) * (stretched[1] - stretched[0]) ** 2)
    for (i, j), apart in {(0, 1): first, (1, 2): second, (0, 2): first + second}.items():
        height += wins[i, j] * log_expit(apart) + wins[j, i] * log_expit(-apart)
    height -= (first**2 + first * second + second**2) / (3 * scale**2)
    return first, second, height - log_scale - 0.5 * (scale / PRIOR_SCALE) ** 2


def _quantiles(values: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, float]:
    """Return quantiles and standard deviation of increasing values that have these masses."""
    weight = mass / mass.sum()
    mean = weight @ values
    quantiles = np.interp(QUANTILES, np.cumsum(weight) - weight / 2, values)
    return quantiles, float(np.sqrt(weight @ (values - mean) ** 2))


class Chains(NamedTuple):
    """Draws of many chains.

    Attributes
    ----------
    score
        Centred scores, shape (chains, draws, K).
    scale
        Shape (chains, draws).
    """

    score: np.ndarray
    scale: np.ndarray


def sampled(
    wins: np.ndarray, rng: np.random.Generator, *, chains: int, steps: int, kept: int
) -> Chains:
    """Return the last half of `steps` steps of `chains` chains, thinned to `kept` draws each.

    Every chain starts at a draw from the prior.

    Parameters
    ----------
    wins
        Times i beat j, (K, K).
    rng
        Source of randomness.
    chains, steps, kept
        Number of chains, of steps of each, and of draws that are kept of each.
    """
    winner, loser = np.nonzero(wins)
    times = wins[winner, loser]
    n_arms = len(wins)

    def likelihood(x: np.ndarray) -> np.ndarray:
        return log_expit(x[:, winner] - x[:, loser]) @ times

    def scale_prior(log_scale: np.ndarray) -> np.ndarray:
        return log_scale - 0.5 * (np.exp(log_scale) / PRIOR_SCALE) ** 2

    log_scale = np.log(np.abs(rng.normal(0, PRIOR_SCALE, chains)))
    x = np.exp(log_scale)[:, None] * rng.standard_normal((chains, n_arms))
    height = likelihood(x)
    score, scale = np.empty((chains, kept, n_arms)), np.empty((chains, kept))
    keep = np.linspace(steps // 2, steps - 1, kept).astype(int)
    for step in range(steps):
        scales = np.exp(log_scale)
        x, height = _on_ellipses(x, height, scales, likelihood, rng)
        # The scale given the scores, then given the scores divided by it: random walks.
        moved = log_scale + rng.choice([0.1, 0.5, 2.0]) * rng.standard_normal(chains)
        squares = (x**2).sum(axis=1) / 2
        ratio = scale_prior(moved) - n_arms * moved - squares * np.exp(-2 * moved)
        ratio -= scale_prior(log_scale) - n_arms * log_scale - squares * np.exp(-2 * log_scale)
        log_scale = np.where(np.log(rng.uniform(size=chains)) < ratio, moved, log_scale)
        moved = log_scale + rng.choice([0.1, 0.5, 2.0]) * rng.standard_normal(chains)
        stretched = x * np.exp(moved - log_scale)[:, None]
        at = likelihood(stretched)
        ratio = scale_prior(moved) + at - scale_prior(log_scale) - height
        taken = np.log(rng.uniform(size=chains)) < ratio
        x, height = np.where(taken[:, None], stretched, x), np.where(taken, at, height)
        log_scale = np.where(taken, moved, log_scale)
        for place in np.flatnonzero(keep == step):
            score[:, place] = x - x.mean(axis=1, keepdims=True)
            scale[:, place] = np.exp(log_scale)
    return Chains(score, scale)


def _on_ellipses(
    x: np.ndarray, height: np.ndarray, scales: np.ndarray, likelihood: Any, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return each chain's next scores by elliptical slice sampling, and their log likelihoods."""
    chains = len(x)
    other = scales[:, None] * rng.standard_normal(x.shape)
    level = height + np.log(rng.uniform(size=chains))
    angle = rng.uniform(0, 2 * np.pi, chains)
    low, high = angle - 2 * np.pi, angle.copy()
    found, reached, todo = x.copy(), height.copy(), np.arange(chains)
    while len(todo):
        turn = angle[todo, None]
        point = x[todo] * np.cos(turn) + other[todo] * np.sin(turn)
        at = likelihood(point)
        inside = at > level[todo]
        found[todo[inside]], reached[todo[inside]] = point[inside], at[inside]
        todo = todo[~inside]
        behind = angle[todo] < 0
        low[todo[behind]], high[todo[~behind]] = angle[todo[behind]], angle[todo[~behind]]
        angle[todo] = rng.uniform(low[todo], high[todo])
    return found, reached
