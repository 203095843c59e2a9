"""Laplace's method within importance sampling, for models with several hyperparameters.

Given its hyperparameters (noise, scale of the scores, ...) a model of margins is normal in its
scores, or nearly: the conditional posterior has a mode, found by Newton, and a normal
distribution there. The hyperparameters themselves are few and far from normal; so they are
proposed from a Student distribution that is fitted to their (approximate) marginal posterior,
each draw brings its own conditional normal, and the importance ratios of the pairs against the
model's own density correct and certify the whole.

References
----------
Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models by using
integrated nested Laplace approximations", JRSS B 2009. Cappé, Guillin, Marin & Robert,
"Population Monte Carlo", JCGS 2004, for fitting the proposal to weighted draws of the one before.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bayesduel.inference.draws import Sampled
from bayesduel.inference.laplace import Mode, find_mode, score_covariance
from bayesduel.inference.linear_predictor import Derivatives, centre, derivatives, uncentre
from bayesduel.inference.psis import certify, resample

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["laplace_nested", "likelihood"]

FREEDOM = 7.0  # degrees of freedom of the proposals
LEARNING = 400  # draws of each round in which the proposal is fitted
ROUNDS = 3
LINEAR = ("scale", "residual_scale")  # with the noise of arms: the data may not tell them from 0
STEP = 1e-3  # of the differences for slopes of the log marginal density


class Proposal(NamedTuple):
    """A multivariate Student distribution of hyperparameters, drawn on the log scale.

    Of a linear hyperparameter the coordinate is its value, and only positive draws are kept:
    the proposal stays high at 0, where the data may not rule it out. Of the others it is the
    logarithm.

    Attributes
    ----------
    middle, factor
        Location (q,) and lower factor of the scale (q, q), in coordinates.
    linear
        Which hyperparameters are linear, bool, shape (q,).
    """

    middle: np.ndarray
    factor: np.ndarray
    linear: np.ndarray

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws on the log scale, (n, q), and log densities up to a constant, (n,)."""
        q, kept, missing = len(self.middle), [np.empty((0, len(self.middle)))], n
        for _ in range(200):
            size = 2 * missing + 10
            spread = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, size))
            standard = rng.standard_normal((size, q)) * spread[:, None]
            inside = (self._place(standard)[:, self.linear] > 0).all(axis=1)
            kept.append(standard[inside][:missing])
            missing -= len(kept[-1])
            if not missing:
                break
        else:
            raise FloatingPointError("the proposal of the hyperparameters is nowhere positive")
        standard = np.concatenate(kept)
        z = self._place(standard)
        phi = np.where(self.linear, np.log(np.where(self.linear, z, 1.0)), z)
        log_density = -(FREEDOM + q) / 2 * np.log1p((standard**2).sum(axis=1) / FREEDOM)
        return phi, log_density + phi[:, self.linear].sum(axis=1)

    def _place(self, standard: np.ndarray) -> np.ndarray:
        return self.middle + standard @ self.factor.T

    def refitted(self, phi: np.ndarray, log_ratio: np.ndarray, linear: np.ndarray) -> "Proposal":
        """Return the proposal with mean and covariance of weighted draws of this one."""
        q = phi.shape[1]
        finite = np.isfinite(log_ratio)
        if finite.sum() < 5 * q:
            return self
        phi, log_ratio = phi[finite], log_ratio[finite]
        weights = np.exp(log_ratio - log_ratio.max())
        weights = np.minimum(weights, np.sqrt(len(weights)) * weights.mean())  # truncated
        weights /= weights.sum()
        if 1.0 / (weights**2).sum() < 5 * q:
            return self
        z = np.where(linear, np.exp(np.where(linear, phi, 0.0)), phi)
        middle = weights @ z
        spread = (z - middle).T @ (weights[:, None] * (z - middle))
        spread[np.diag_indices(q)] *= 1 + 1e-9
        return Proposal(middle, np.linalg.cholesky(spread), linear)


def laplace_nested(
    model: Any,
    duels: "Duels",
    n: int,
    rng: np.random.Generator,
    keep: bool,
    progress: Callable[[float], None] | None = None,
) -> Sampled:
    """Return `n` draws of a model of margins.

    Parameters
    ----------
    model, duels
        What to sample.
    n
        Number of draws.
    rng
        Source of randomness.
    keep
        Whether to keep the log likelihood of every cell.
    progress
        Called with the share of the work done, from 0 to 1.

    Raises
    ------
    FloatingPointError
        If the marginal posterior of the hyperparameters has no mode, or no curvature there.
    """
    derivative = derivatives(model, duels)
    top, mode = _summit(derivative, model.start(duels))
    linear = np.array([name in LINEAR for name in derivative.hypers])
    if len(top) > len(linear):
        linear = np.concatenate([linear[:-1], np.ones(duels.n_arms, dtype=bool)])
    proposal = Proposal(top, _spread(derivative, top, mode), np.zeros_like(linear))
    if progress is not None:
        progress(0.1)
    for _ in range(ROUNDS):
        phi, log_q = proposal.draw(LEARNING * (1 + len(top) // 4), rng)
        marginal = np.array([_conditional(derivative, p, mode.x)[0] for p in phi])
        proposal = proposal.refitted(phi, marginal - log_q, linear)
    if progress is not None:
        progress(0.2)
    phi, log_q = proposal.draw(n, rng)
    normal = rng.standard_normal((n, derivative.size))
    log_q -= 0.5 * (normal**2).sum(axis=1) + derivative.size / 2 * np.log(2 * np.pi)
    x, density = np.empty((n, derivative.size)), np.empty(n)
    cells = np.empty((n, len(derivative.data["n"]))) if keep else None
    for k in range(n):
        _, here = _conditional(derivative, phi[k], mode.x)
        if here is None:
            x[k], density[k] = mode.x, -np.inf
            continue
        x[k] = here.x + solve_triangular(here.factor.T, normal[k], lower=False)
        log_q[k] += np.log(here.factor.diagonal()).sum()
        if cells is None:
            density[k] = derivative.value(x[k], phi[k])
        else:
            density[k], cells[k] = derivative.cells(x[k], phi[k])
        if progress is not None and k % 100 == 99:
            progress(0.2 + 0.7 * (k + 1) / n)
    log_ratio = density - log_q
    finite = np.isfinite(log_ratio)
    if not finite.any():
        raise FloatingPointError("no proposal of the hyperparameters has a conditional mode")
    log_ratio[~finite] = log_ratio[finite].min() - 50.0  # no weight: no such draw is kept
    certificate = certify(log_ratio)
    kept = resample(certificate.weights, rng)
    posterior = _named(derivative, x[kept], phi[kept])
    return Sampled(
        posterior=model.complete(posterior, duels, rng),
        stats={"lp": density[kept], "importance_weight": certificate.weights[kept] * n},
        log_likelihood=None if cells is None else cells[kept],
        khat=certificate.khat,
        effective=certificate.effective,
        extra=_mode_group(model, derivative, top, mode),
    )


def likelihood(model: Any, duels: "Duels", posterior: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the log likelihood of each draw and cell, through the model's own density."""
    derivative = derivatives(model, duels)
    extras = [posterior[name][:, None] for name in derivative.extras]
    x = np.concatenate([uncentre(posterior["score"]), *extras], axis=1)
    columns = [np.log(posterior[name]).reshape(len(x), -1) for name in derivative.hypers]
    phi = np.concatenate(columns, axis=1)
    return np.stack([derivative.cells(x[k], phi[k])[1] for k in range(len(x))])


# -- in calling order ----------------------------------------------------------------------


def _summit(derivative: Derivatives, start: np.ndarray) -> tuple[np.ndarray, Mode]:
    """Return the mode of the log marginal density of the hyperparameters, and that given it."""
    from scipy.optimize import minimize

    near = [np.zeros(derivative.size)]

    def fall(phi: np.ndarray) -> float:
        value, mode = _conditional(derivative, phi, near[0])
        if mode is not None:
            near[0] = mode.x
        return -value if np.isfinite(value) else 1e300

    def slope(phi: np.ndarray) -> np.ndarray:
        steps = STEP * np.eye(len(phi))
        return np.array([fall(phi + h) - fall(phi - h) for h in steps]) / (2 * STEP)

    if not np.isfinite(_conditional(derivative, start, near[0])[0]):
        raise FloatingPointError("the scores have no conditional mode at the start")
    found = minimize(fall, start, jac=slope, method="BFGS", options={"gtol": 1e-5})
    value, mode = _conditional(derivative, found.x, near[0])
    if mode is None or not np.isfinite(value) or np.abs(found.x - start).max() > 50:
        raise FloatingPointError("the hyperparameters have no mode")
    return found.x, mode


def _conditional(
    derivative: Derivatives, phi: np.ndarray, near: np.ndarray
) -> tuple[float, Mode | None]:
    """Return the log marginal density at `phi` by Laplace, and the conditional mode."""
    try:
        mode = find_mode(derivative, phi, near)
    except FloatingPointError:
        return -np.inf, None
    return mode.log_marginal, mode


def _spread(derivative: Derivatives, top: np.ndarray, mode: Mode) -> np.ndarray:
    """Return the lower factor of the inverse curvature of the log marginal at its mode."""
    q, step = len(top), 0.05

    def at(phi: np.ndarray) -> float:
        value, _ = _conditional(derivative, phi, mode.x)
        if not np.isfinite(value):
            raise FloatingPointError("the hyperparameters' density ends beside its mode")
        return value

    unit = step * np.eye(q)
    middle = at(top)
    ahead, behind = (np.array([at(top + s * u) for u in unit]) for s in (1, -1))
    bend = np.empty((q, q))
    for i in range(q):
        bend[i, i] = ahead[i] - 2 * middle + behind[i]
        for j in range(i):
            both = at(top + unit[i] + unit[j]) + at(top - unit[i] - unit[j])
            mixed = both - ahead[i] - ahead[j] - behind[i] - behind[j] + 2 * middle
            bend[i, j] = bend[j, i] = mixed / 2
    values, vectors = np.linalg.eigh(-bend / step**2)
    values = np.clip(values, 0.05, None)  # where it is flat, no wider than the priors are
    return np.linalg.cholesky((vectors / values) @ vectors.T)


def _named(derivative: Derivatives, x: np.ndarray, phi: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parameters by name, shapes (..., K) or (...), from x (..., size), phi (..., q)."""
    cut, last = derivative.n_arms - 1, len(derivative.hypers) - 1
    found = {"score": centre(x[..., :cut])}
    for place, name in enumerate(derivative.extras):
        found[name] = x[..., cut + place]
    for place, name in enumerate(derivative.hypers):
        by_arm = place == last and phi.shape[-1] > last + 1
        found[name] = np.exp(phi[..., place:] if by_arm else phi[..., place])
    return found


def _mode_group(model: Any, derivative: Derivatives, top: np.ndarray, mode: Mode) -> dict[str, Any]:
    """Return the group ``laplace``: the marginal mode of the hyperparameters, and given it."""
    found = _named(derivative, mode.x, top)
    group: dict[str, Any] = {
        f"{name}_mode": (("arm",) if np.ndim(value) else (), value) for name, value in found.items()
    }
    group["score_cov"] = (("arm", "opponent"), score_covariance(mode, derivative.n_arms))
    return group
