"""A short Gibbs chain of coefficients with Polya-Gamma variables, which certifies a conditional.

Where there are too many coefficients for importance ratios, an exact chain at the best scales says
how far the draws of an approximation are off.

References
----------
Polson, Scott & Windle, "Bayesian inference for logistic models using Polya-Gamma latent variables",
JASA 2013.
"""

from typing import Any

import numpy as np

from bayesduel.inference.arrow import Layout
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.polya_gamma import polya_gamma
from bayesduel.inference.polya_gamma_gibbs import Differences, GibbsCertificate
from bayesduel.inference.variational_conditional import STEP, Conditional
from bayesduel.models.response import without_own
from bayesduel.system.arguments import Progress
from bayesduel.system.cost import CostLimit
from bayesduel.system.threads import side_by_side

__all__ = ["gibbs_of_conditional"]

# Sweeps that are counted, of two chains side by side.
SWEEPS = CostLimit(total=60_000, least=40, most=400)
# A 95 % interval holds 94.9 % where coefficients are shifted by this, 93.8 to 96.1 % where their
# variances differ by this, and that of a scale or of a lone number 94.0 %.
ALLOWED = Differences(shift=0.1, spread=0.1, scale_shift=0.3, effect_shift=0.3)


def gibbs_of_conditional(
    density: LinearPredictor,
    layout: Layout,
    top: Conditional,
    root: np.ndarray,
    n_draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> GibbsCertificate:
    """Return what Polya-Gamma Gibbs sampling at the best scales says of the conditional there.

    density, layout: of a logistic model.
    top, root: the conditional at the best scales, and the coordinates of these, (q, q).
    n_draws: number of the draws of the approximation.

    The exact slope of the log density of the scales is the mean of that of the prior over draws of
    the coefficients (Fisher's identity); its distance from the bound's says how far the scales are
    shifted.
    """
    prior = density.prior(top.phi)
    variance = layout.join(*top.arrow.variances())
    error = np.sqrt(variance)
    n = np.asarray(density.data["n"], dtype=float)
    points = np.asarray(density.data["points"])
    pull = points - n / 2
    at = density.eta(top.x)
    many = []
    single = []
    for here, block in density.places:
        if block.size > 1:
            many.append(here)
        elif block.size == 1:
            single.append(here.start)
    streams = rng.spawn(2)
    kept = SWEEPS.times(density.size) // len(streams)
    skipped = kept // 3
    sweeps = skipped + kept

    def sweep(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        eta = density.eta(x)
        weight = polya_gamma(n, eta, rng)
        normal = rng.standard_normal(len(n))
        noise = np.sqrt(weight) * normal
        slope = pull - weight * at + noise
        found = without_own(slope, -weight)
        gradient = density.gradient(found, prior, top.x)
        prior_noise = prior.noise(rng)
        step, _ = layout.step(
            found,
            prior,
            gradient=gradient + prior_noise,
            near=top.arrow,
        )
        return top.x + step

    def distances(x: np.ndarray) -> tuple[Any, ...]:
        away = (x - top.x) / error
        toward = np.sign(top.x) * away
        moved = []
        spread = []
        for block in many:
            variance = (away[block] ** 2).mean()
            moved.append(toward[block].mean())
            spread.append(variance - 1)
        slope = _prior_slope(density, x, top.phi)
        gap = slope - top.slope
        scale = root.T @ gap
        effect = [away[place] for place in single]
        return moved, spread, scale, effect or [0.0]

    def chain(which: int) -> list[tuple[Any, ...]]:
        seen = []
        rng = streams[which]
        tell = progress if which == 0 else None
        normal = rng.standard_normal((1, density.size), layout.kind)
        away = layout.draw(top.arrow, normal)
        x = top.x + away[0]
        for k in range(sweeps):
            x = sweep(x, rng)
            if tell is not None:
                tell((k + 1) / sweeps)
            if k >= skipped:
                seen.append(distances(x))
        return seen

    chains = side_by_side(chain, range(len(streams)))
    rows = []
    for seen in chains:
        rows += seen
    series = map(list, zip(*rows, strict=True))
    return GibbsCertificate.of(*series, n_draws=n_draws, allowed=ALLOWED)


def _prior_slope(density: LinearPredictor, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return the slope of the log prior in the hyperparameters, (q,)."""
    q = len(phi)
    step = STEP * np.eye(q)
    at = np.concatenate([phi + step, phi - step])
    coefficients = np.repeat(x[None], len(at), axis=0)
    value = density.log_prior(coefficients, at)
    rise = value[:q] - value[q:]
    return rise / (2 * STEP)
