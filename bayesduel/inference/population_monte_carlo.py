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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bayesduel.inference.approximation import DensityApproximation
from bayesduel.inference.conditional_mode import Mode, find_mode, named_parameters, score_covariance
from bayesduel.inference.draws import Proposals
from bayesduel.inference.linear_predictor import LinearPredictor

__all__ = ["PopulationMonteCarlo", "Proposal", "curvature_factor", "start_of", "summit"]

FREEDOM = 7.0  # degrees of freedom of the proposals
LEARNING = 400  # draws of each round in which the proposal is fitted
ROUNDS = 3
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


@dataclass(frozen=True, eq=False)
class PopulationMonteCarlo(DensityApproximation):
    """A Student proposal of several hyperparameters, and a normal distribution given each.

    Attributes
    ----------
    model, cells, density
        What is approximated.
    top, mode
        Mode of the log marginal density of the hyperparameters (q,), and the mode given it.
    """

    top: np.ndarray
    mode: Mode

    @classmethod
    def of(cls, density: LinearPredictor, cells: Any, near: Any = None) -> "PopulationMonteCarlo":
        """Return the approximation of a posterior, given its density.

        Raises
        ------
        FloatingPointError
            If the marginal posterior of the hyperparameters has no mode.
        """
        return cls(density.model, cells, density, *_top(density, start_of(density, cells)))

    def propose(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        log_likelihood: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Proposals:
        """Return `n` draws and their log ratios; see ``Approximation.propose``.

        Raises
        ------
        FloatingPointError
            If the hyperparameters' density has no curvature, or no draw a conditional mode.
        """
        density, top, mode = self.density, self.top, self.mode
        linear = np.concatenate(
            [
                np.full(length or 1, self.model.scales[name].reaches_zero)
                for name, length in density.hypers.items()
            ]
        )

        def around(at: np.ndarray) -> float:
            return _conditional(density, at, mode.x)[0]

        proposal = Proposal(top, curvature_factor(around, top), np.zeros_like(linear))
        for _ in range(ROUNDS):
            phi, log_q = proposal.draw(LEARNING * (1 + len(top) // 4), rng)
            marginal = np.array([_conditional(density, p, mode.x)[0] for p in phi])
            proposal = proposal.refitted(phi, marginal - log_q, linear)
        if progress is not None:
            progress(0.2)
        phi, log_q = proposal.draw(n, rng)
        normal = rng.standard_normal((n, density.size))
        log_q -= 0.5 * (normal**2).sum(axis=1) + density.size / 2 * np.log(2 * np.pi)
        x, found = np.empty((n, density.size)), np.ones(n, dtype=bool)
        for k in range(n):
            _, here = _conditional(density, phi[k], mode.x)
            if here is None:
                x[k], found[k] = mode.x, False
                continue
            x[k] = here.x + solve_triangular(here.factor.T, normal[k], lower=False)
            log_q[k] += np.log(here.factor.diagonal()).sum()
            if progress is not None and k % 100 == 99:
                progress(0.2 + 0.7 * (k + 1) / n)
        made = self.weighed(x, phi, log_q, log_likelihood=log_likelihood, progress=progress)
        log_ratio = np.where(found, made.log_ratio, -np.inf)
        finite = np.isfinite(log_ratio)
        if not finite.any():
            raise FloatingPointError("no proposal of the hyperparameters has a conditional mode")
        log_ratio[~finite] = log_ratio[finite].min() - 50.0  # no weight: no such draw is kept
        return made._replace(log_ratio=log_ratio)

    def summary(self) -> dict[str, Any]:
        """Return the group ``laplace``: the marginal mode of the hyperparameters, and given it."""
        dims = self.model.dims | {"score": ("arm",)} | self.density.dims
        found = named_parameters(self.density, self.mode.x, self.top)
        group: dict[str, Any] = {
            f"{name}_mode": (dims.get(name, ()), value) for name, value in found.items()
        }
        if "score" in found:
            covariance = score_covariance(self.mode, len(found["score"]))
            group["score_cov"] = (("arm", "opponent"), covariance)
        return group


# -- in calling order ----------------------------------------------------------------------


def _top(density: LinearPredictor, start: np.ndarray) -> tuple[np.ndarray, Mode]:
    """Return the mode of the log marginal density of the hyperparameters, and that given it."""
    near = [np.zeros(density.size)]

    def marginal(phi: np.ndarray) -> float:
        value, mode = _conditional(density, phi, near[0])
        if mode is not None:
            near[0] = mode.x
        return value

    top = summit(marginal, start)
    _, mode = _conditional(density, top, near[0])
    if mode is None:
        raise FloatingPointError("the hyperparameters have no mode")
    return top, mode


def start_of(density: LinearPredictor, cells: Any) -> np.ndarray:
    """Return where a search for the hyperparameters starts: their logarithms, (q,)."""
    start = density.model.response.start
    parts = [np.broadcast_to(start(n, cells), (size or 1,)) for n, size in density.hypers.items()]
    return np.concatenate([np.zeros(0), *parts]).astype(float)


def summit(marginal: Callable[[np.ndarray], float], start: np.ndarray) -> np.ndarray:
    """Return the mode of a log density of hyperparameters, (q,), from a place to start.

    Raises
    ------
    FloatingPointError
        If there is none.
    """
    from scipy.optimize import minimize

    def fall(phi: np.ndarray) -> float:
        value = marginal(phi)
        return -value if np.isfinite(value) else 1e300

    def slope(phi: np.ndarray) -> np.ndarray:
        steps = STEP * np.eye(len(phi))
        return np.array([fall(phi + h) - fall(phi - h) for h in steps]) / (2 * STEP)

    if not np.isfinite(marginal(start)):
        raise FloatingPointError("the scores have no conditional mode at the start")
    found = minimize(fall, start, jac=slope, method="BFGS", options={"gtol": 1e-5})
    if not np.isfinite(marginal(found.x)) or np.abs(found.x - start).max() > 50:
        raise FloatingPointError("the hyperparameters have no mode")
    return np.asarray(found.x)


def _conditional(
    density: LinearPredictor, phi: np.ndarray, near: np.ndarray
) -> tuple[float, Mode | None]:
    """Return the log marginal density at `phi` by Laplace, and the conditional mode."""
    try:
        mode = find_mode(density, phi, near)
    except FloatingPointError:
        return -np.inf, None
    return mode.log_marginal, mode


def curvature_factor(marginal: Callable[[np.ndarray], float], top: np.ndarray) -> np.ndarray:
    """Return the lower factor of the inverse curvature of a log density at its mode, (q, q).

    Raises
    ------
    FloatingPointError
        If the density ends beside its mode.
    """
    q, step = len(top), 0.05

    def at(phi: np.ndarray) -> float:
        value = marginal(phi)
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
