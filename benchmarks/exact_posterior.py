"""Posteriors of Bradley-Terry scores, their scale learned, computed without the package.

Of three arms by quadrature; of more by NUTS of a PyMC model written out here.
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


def sampled(wins: np.ndarray, seed: int, *, chains: int, draws: int) -> Chains:
    """Return draws by nutpie, scores and scale apart (not centred), after 1,000 steps of warm-up.

    Parameters
    ----------
    wins
        Times i beat j, (K, K).
    seed
        Of the chains.
    chains, draws
        Number of chains, and of draws of each.
    """
    import nutpie
    import pymc as pm
    import pytensor.tensor as pt

    winner, loser = np.nonzero(wins)
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", PRIOR_SCALE)
        x = scale * pm.Normal("standard", 0.0, 1.0, shape=len(wins))
        times = wins[winner, loser]
        pm.Potential("likelihood", (times * pt.log(pm.math.sigmoid(x[winner] - x[loser]))).sum())
    compiled = nutpie.compile_pymc_model(model)
    found = nutpie.sample(
        compiled, chains=chains, draws=draws, tune=1000, cores=1, seed=seed, progress_bar=False
    ).posterior
    by_draw = found["scale"].to_numpy()
    score = by_draw[..., None] * found["standard"].to_numpy()
    return Chains(score - score.mean(axis=-1, keepdims=True), by_draw)
