"""Laplace's method nested in importance sampling, for models with varying effects.

Varying effects (of arms by category) are many numbers in groups that are independent given the few
others: hyperparameters, overall scores, parameters of the response. The precision of the
conditional posterior is an arrowhead matrix, one block a group and a border, so that Newton's
method and draws cost a small factorization a group. One joint set of importance weights
degenerates where groups are many; so each group has candidates of its own, and their weights
estimate, without bias, the likelihood of the group given the other parameters. With these
estimates in place of the likelihood the importance weights of the other parameters are exact, as
those of a posterior on an extended space; of each group one candidate is kept, by its weight.

References
----------
Tran, Scharth, Pitt & Kohn, "Importance sampling squared for Bayesian inference in latent variable
models", 2013. Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models by
using integrated nested Laplace approximations", JRSS B 2009. Deviation: candidates come in
antithetic pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from bayesduel.inference.design import centre
from bayesduel.inference.draws import Proposals
from bayesduel.inference.population_monte_carlo import LINEAR, Proposal, curvature_factor, summit
from bayesduel.inference.varying_effects import NestedPredictor, nested_predictor

__all__ = ["NestedLaplace"]

CANDIDATES = 32  # of each group and draw
MOST = 128  # candidates after refinements
ENOUGH = 0.15  # effective draws over draws, from which more draws are made, not better ones
LEARNING = 150  # draws of each round in which the proposal of the hyperparameters is fitted
LEARNT = 300  # draws of each round in which the proposal of the shared parameters is fitted
ROUNDS = 3
NEAR = 0.02  # of the log density may be missing at the middle of a proposal


@dataclass(frozen=True, eq=False)
class NestedLaplace:
    """A Student proposal of hyperparameters; given each, normal ones of the rest, group by group.

    Attributes
    ----------
    model, cells
        What is approximated.
    density
        Its log density.
    top, mode
        Mode of the log marginal density of the hyperparameters (q,), and the mode given it.
    proposal
        Of the hyperparameters.
    known
        Modes at hyperparameters in its range, from which others are found.
    shift, scale
        Mean and standard deviation of the shared parameters in a proposal, in the coordinates in
        which Laplace's marginal distribution given the hyperparameters is standard normal, (p,).
    candidates
        Number of candidates of each group in a draw.
    """

    model: Any
    cells: Any
    density: NestedPredictor
    top: np.ndarray
    mode: "Mode"
    proposal: Proposal
    known: "Known"
    shift: np.ndarray
    scale: np.ndarray
    candidates: int = CANDIDATES

    @classmethod
    def of(cls, model: Any, cells: Any, near: Any = None) -> "NestedLaplace":
        """Return the approximation of a model's posterior.

        Raises
        ------
        FloatingPointError
            If the marginal posterior of the hyperparameters has no mode.
        """
        density = nested_predictor(model, cells)
        near = [_start(density)]

        def marginal(phi: np.ndarray) -> float:
            value, mode = _conditional(density, phi, near[0], tolerance=1e-9)
            near[0] = near[0] if mode is None else mode
            return value

        top = summit(marginal, model.start(cells))
        mode = find_mode(density, top, near[0], tolerance=1e-9)

        def around(phi: np.ndarray) -> float:
            return _conditional(density, phi, mode, tolerance=1e-9)[0]

        linear = np.concatenate(
            [
                np.full(length or 1, name in (*LINEAR, *model.spreads) or length is not None)
                for name, length in density.hypers.items()
            ]
        )
        factor = curvature_factor(around, top)
        proposal = Proposal(top, factor, np.zeros_like(linear))
        rng = np.random.default_rng(0)  # the proposal is part of the method, not of the draws
        known = Known(top[None], (mode,))
        for _ in range(ROUNDS):
            phi, log_q = proposal.draw(LEARNING, rng)
            pairs = [_conditional(density, p, known.nearest(p)) for p in phi]
            values = np.array([value for value, _ in pairs])
            known = known.joined(phi, [one for _, one in pairs])
            proposal = proposal.refitted(phi, values - log_q, linear)
        none = np.zeros(density.n_shared)
        found = cls(model, cells, density, top, mode, proposal, known, none, none + 1.0)
        for _ in range(ROUNDS):
            found = found._learned(LEARNT, rng, linear)
        return found

    def _learned(self, n: int, rng: np.random.Generator, linear: np.ndarray) -> "NestedLaplace":
        """Return the approximation whose proposals are fitted to the log ratios of `n` draws.

        Marginally the shared parameters are off Laplace's approximation by the skewness of all
        groups together. Where they are normal, the log ratio is quadratic in them. A standard
        deviation changes by at most a factor of sqrt(2).
        """
        phi, log_q = self.proposal.draw(n, rng)
        z = np.empty((n, len(self.shift)))
        log_ratio = np.full(n, -np.inf)
        for k in range(n):
            _, mode = _conditional(self.density, phi[k], self.known.nearest(phi[k]))
            z[k] = self.shift + self.scale * rng.standard_normal(len(self.shift))
            if mode is not None:
                one = self._drawn(phi[k], mode, z[k], rng)
                log_ratio[k] = one.log_ratio - log_q[k]
        fine = np.isfinite(log_ratio)
        if fine.sum() < 4 * (z.shape[1] + phi.shape[1]):
            return self
        away = (z - self.shift) / self.scale
        own = phi[fine] - phi[fine].mean(axis=0)
        crossed = own[:, :, None] * own[:, None, :]
        columns = (np.ones(fine.sum()), own, crossed.reshape(len(own), -1), away[fine])
        terms = np.column_stack([*columns, 0.5 * away[fine] ** 2])
        ridge = 1e-6 * len(own) * np.eye(terms.shape[1])
        fitted = np.linalg.solve(terms.T @ terms + ridge, terms.T @ log_ratio[fine])
        p = len(self.shift)
        slope, bend = fitted[-2 * p : -p], np.clip(fitted[-p:], -1.0, 0.5)
        rest = log_ratio - away @ slope - 0.5 * away**2 @ bend
        return replace(
            self,
            proposal=self.proposal.refitted(phi, rest, linear),
            shift=self.shift + self.scale * slope / (1 - bend),
            scale=self.scale / np.sqrt(1 - bend),
        )

    def _drawn(
        self, phi: np.ndarray, mode: "Mode", z: np.ndarray, rng: np.random.Generator
    ) -> "_Drawn":
        """Return a draw given the hyperparameters and the coordinates of the shared parameters."""
        one = _draw(self.density, phi, mode, z, self.candidates, rng)
        own = -0.5 * (((z - self.shift) / self.scale) ** 2).sum() - np.log(self.scale).sum()
        normal = own - len(z) / 2 * np.log(2 * np.pi)
        return one._replace(log_ratio=float(one.log_ratio - normal))

    def propose(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        log_likelihood: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Proposals:
        """Return `n` draws and their log ratios; see ``Approximation.propose``.

        The ratio of a draw has the estimated likelihood of each group in place of the likelihood.
        """
        density = self.density
        phi, log_q = self.proposal.draw(n, rng)
        x = np.empty((n, density.size))
        log_ratio, log_density = np.full(n, -np.inf), np.full(n, -np.inf)
        by_cell = np.empty((n, density.n_cells)) if log_likelihood else None
        for k in range(n):
            _, mode = _conditional(density, phi[k], self.known.nearest(phi[k]))
            if mode is None:
                x[k] = density.join(self.mode.shared, self.mode.varying)
                if by_cell is not None:
                    by_cell[k] = 0.0
                continue
            z = self.shift + self.scale * rng.standard_normal(len(self.shift))
            one = self._drawn(phi[k], mode, z, rng)
            x[k], log_density[k] = one.x, one.log_density
            log_ratio[k] = one.log_ratio - log_q[k]
            if by_cell is not None:
                by_cell[k] = one.cells
            if progress is not None and k % 100 == 99:
                progress((k + 1) / n)
        finite = np.isfinite(log_ratio)
        if not finite.any():
            raise FloatingPointError("no proposal of the hyperparameters has a conditional mode")
        log_ratio[~finite] = log_ratio[finite].min() - 50.0  # no weight: no such draw is kept
        return Proposals(x, phi, log_ratio, log_density, by_cell)

    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the parameters of kept draws by name, draws first."""
        found = self.density.parameters(x)
        if "score_free" in found:
            found = {"score": centre(found.pop("score_free"))} | found
        return found | self.density.hyper_parameters(hyper)

    def summary(self) -> dict[str, Any]:
        """Return the group ``laplace``: the marginal mode of the hyperparameters, and given it."""
        mode, arms = self.mode, self.cells.log.arms
        x = self.density.join(mode.shared, mode.varying)
        found = self.model.implied(self.parameters(x, self.top, np.random.default_rng(0)), arms)
        dims = self.model.dims | {"score": ("arm",)}
        group: dict[str, Any] = {f"{n}_mode": (dims.get(n, ()), v) for n, v in found.items()}
        if next(iter(self.density.blocks)) == "score_free":
            cut, unit = len(arms) - 1, np.eye(len(mode.shared))
            root = solve_triangular(mode.border, unit, lower=True)
            covariance = (root.T @ root)[:cut, :cut]
            group["score_cov"] = (("arm", "opponent"), centre(centre(covariance).T))
        return group

    def refined(self, proposals: Proposals, weights: np.ndarray) -> "NestedLaplace | None":
        """Return the same with four times as many candidates.

        None where they are many, or where more draws cost less than better ones.
        """
        share = 1.0 / (len(weights) * (weights**2).sum())
        if self.candidates >= MOST or share > ENOUGH:
            return None
        return replace(self, candidates=4 * self.candidates)


# -- in calling order ----------------------------------------------------------------------


class Mode(NamedTuple):
    """The conditional posterior at one value of the hyperparameters.

    Attributes
    ----------
    shared, varying
        Its mode: parameters outside the groups (p,), and the effects of groups (groups, m).
    value
        Log density there.
    border
        Lower Cholesky factor of the precision of the shared parameters, the groups integrated
        out, (p, p).
    roots
        Inverses of the lower Cholesky factors of the groups' own precision, (groups, m, m).
    pull
        How far the middle of each group moves with the shared parameters, (groups, m, p).
    stiff
        Prior precision of the effects, (groups, m).
    """

    shared: np.ndarray
    varying: np.ndarray
    value: float
    border: np.ndarray
    roots: np.ndarray
    pull: np.ndarray
    stiff: np.ndarray

    @property
    def log_roots(self) -> np.ndarray:
        """Half the log determinant of each group's precision, (groups,)."""
        return -np.log(np.diagonal(self.roots, axis1=1, axis2=2)).sum(axis=1)

    @property
    def log_marginal(self) -> float:
        """Laplace's approximation of the log marginal density of the hyperparameters."""
        half = np.log(self.border.diagonal()).sum() + self.log_roots.sum()
        size = len(self.shared) + self.varying.size
        return self.value + size / 2 * np.log(2 * np.pi) - float(half)


class Known(NamedTuple):
    """Modes at known hyperparameters on the log scale, (n, q)."""

    phi: np.ndarray
    modes: tuple[Mode, ...]

    def nearest(self, phi: np.ndarray) -> Mode:
        """Return the mode at the nearest hyperparameters."""
        return self.modes[int(np.argmin(((self.phi - phi) ** 2).sum(axis=1)))]

    def joined(self, phi: np.ndarray, modes: list[Mode | None]) -> "Known":
        """Return these and the modes that exist; of them nothing but their place is kept."""
        flat, none = np.empty((0, 0)), np.empty((0, 0, 0))
        found = [
            (p, m._replace(border=flat, roots=none, pull=none))
            for p, m in zip(phi, modes, strict=True)
            if m is not None
        ]
        return Known(
            np.vstack([self.phi, *(p for p, _ in found)]), (*self.modes, *(m for _, m in found))
        )


def _start(density: NestedPredictor) -> Mode:
    """Return a place where Newton's method can start: all parameters 0."""
    groups, width = density.n_groups, density.reach.shape[1]
    flat, none, effects = np.empty((0, 0)), np.empty((0, 0, 0)), np.zeros((groups, width))
    return Mode(np.zeros(density.n_shared), effects, -np.inf, flat, none, none, effects)


def _conditional(
    density: NestedPredictor, phi: np.ndarray, near: Mode, tolerance: float = NEAR
) -> tuple[float, Mode | None]:
    """Return the log marginal density at `phi` by Laplace, and the conditional mode."""
    try:
        mode = find_mode(density, phi, near, tolerance)
    except FloatingPointError:
        return -np.inf, None
    return mode.log_marginal, mode


def find_mode(density: NestedPredictor, phi: np.ndarray, near: Mode, tolerance: float) -> Mode:
    """Return the mode given the hyperparameters, by Newton's method with backtracking.

    The last step, which gains less than half of `tolerance`, keeps the curvature from before it.

    Raises
    ------
    FloatingPointError
        If there is no mode.
    """
    shared, varying = near.shared, near.varying
    parts = density.parts(shared, varying, phi)
    for _ in range(100):
        try:
            roots = np.linalg.inv(np.linalg.cholesky(parts.blocks))
            outer = roots @ parts.edges
            border = np.linalg.cholesky(parts.corner - np.tensordot(outer, outer, ((0, 1), (0, 1))))
        except np.linalg.LinAlgError as error:
            raise FloatingPointError("the posterior has no curvature in some direction") from error
        upper = roots.swapaxes(1, 2)
        half = (roots @ parts.by_group[..., None])[..., 0]
        right = parts.by_shared - np.tensordot(outer, half, ((0, 1), (0, 1)))
        whitened = solve_triangular(border, right, lower=True)
        along = solve_triangular(border.T, whitened, lower=False)
        pull = -upper @ outer
        across = (upper @ half[..., None])[..., 0] + pull @ along
        gain = float(parts.by_shared @ along + (parts.by_group * across).sum())
        if not np.isfinite(gain):
            break
        if gain < max(tolerance, 1e-13 * abs(parts.value)):
            return Mode(
                shared + along, varying + across, parts.value + gain / 2,
                border, roots, pull, parts.stiff,
            )  # fmt: skip
        length = 1.0
        while True:
            ahead = density.parts(shared + length * along, varying + length * across, phi)
            if ahead.value - parts.value >= 1e-4 * length * gain - 1e-12 * abs(parts.value):
                break
            length /= 2
            if length < 1e-10:
                raise FloatingPointError("Newton's method found no ascent")
        shared, varying, parts = shared + length * along, varying + length * across, ahead
    raise FloatingPointError("the likelihood has no maximum: some scores run to infinity")


class _Drawn(NamedTuple):
    """One draw: its parameters, log ratio (but for the hyperparameters'), density and cells."""

    x: np.ndarray
    log_ratio: float
    log_density: float
    cells: np.ndarray


def _draw(
    density: NestedPredictor,
    phi: np.ndarray,
    mode: Mode,
    z: np.ndarray,
    candidates: int,
    rng: np.random.Generator,
) -> _Drawn:
    """Return a draw of shared parameters at `z`, and of every group one of some candidates.

    Its log ratio lacks the density of `z` and of the hyperparameters.
    """
    groups, width = mode.varying.shape
    away = solve_triangular(mode.border.T, z, lower=False)
    shared = mode.shared + away
    jacobian = np.log(mode.border.diagonal()).sum()
    half = rng.standard_normal((groups, candidates // 2, width))
    both = np.concatenate([half, -half], axis=1)
    middle = mode.varying + mode.pull @ away
    effects = middle[:, None] + both @ mode.roots  # (groups, candidates, m)
    log_own = mode.log_roots[:, None] - 0.5 * (both**2).sum(axis=-1) - width / 2 * np.log(2 * np.pi)
    prior, cells = density.candidates(shared, effects, phi)
    log_prior = -0.5 * (mode.stiff[:, None] * effects**2).sum(axis=-1)
    log_weight = density.by_group(cells) + log_prior - log_own
    estimate = logsumexp(log_weight, axis=1) - np.log(candidates)
    picked = (log_weight + rng.gumbel(size=log_weight.shape)).argmax(axis=1)
    place = np.where(density.group < 0, 0, picked[density.group])
    kept = cells[place, np.arange(density.n_cells)]
    alone = kept[density.group < 0].sum()
    rows = np.arange(groups)
    return _Drawn(
        x=density.join(shared, effects[rows, picked]),
        log_ratio=float(prior + alone + estimate.sum() - jacobian),
        log_density=float(prior + log_prior[rows, picked].sum() + kept.sum()),
        cells=kept,
    )
