"""NUTS on the density of a linear predictor, in coordinates that are near standard normal.

The density and its gradient are those of :class:`LinearPredictor`, so that any response with any
terms is sampled and no model is compiled. Given the scales, a coefficient with information w and
prior precision t(scales) is ``(w x + t mean) / (w + t) + u / sqrt(w + t)``: where the data say much
it is centred, where they say little it is not, and in between it is in between. Coefficients that
many votes share (scores, effects with few levels) are decorrelated by a dense factor besides; what
is left, many coefficients by group, is placed around where these draw it (a step of Jacobi's
method), so that both are nearly independent. nutpie samples u and the logarithms of the scales. Of
many coefficients by group these are nearly standard normal, so that its steps follow that density
exactly, and the slopes add what the posterior has beside it: of llmfao steps are twice as long as
those of the leapfrog. Of few coefficients the scales are not: 14 of grades with two sources had 172
effective draws of a scale, of 8,000, by such steps, and have 3,113 by the leapfrog.

Information and a first point come from a few steps of Newton's method by conjugate gradients, and
scales from steps of expectation maximisation with variances of single coefficients. They are rough:
scales of thin data come out too low. A short chain follows, whose averages shape the coordinates of
the chains that count. The draws are of the model's own density whatever the coordinates are.

References
----------
Hoffman & Gelman, "The No-U-Turn sampler", JMLR 2014. Papaspiliopoulos, Roberts & Sköld, "A general
framework for the parametrization of hierarchical models", Statistical Science 2007 (between centred
and not centred). Shahbaba, Lan, Johnson & Neal, "Split Hamiltonian Monte Carlo", Statistics and
Computing 2014 (exact steps of the normal part). Deviation: the slope of the density in the scales
of correlated priors is by differences ahead. The force of a step may be any function of the place:
the draws are exact as long as the density is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.linalg.blas import strmv

from bayesduel.inference.arrow import WIDEST, Layout, layout_of
from bayesduel.inference.coefficient_prior import placed, pulled_back
from bayesduel.inference.conditional_mode import ascent, named_parameters
from bayesduel.inference.covariance_prior import laid, log_prior, slope_in_u
from bayesduel.inference.draws import PosteriorDraws, chains_joined
from bayesduel.inference.gaussian_prior import Piece, Prior
from bayesduel.inference.hamiltonian_mode import FLAT, Start, learned_start, start_of
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.nuts import completed, run_chains, statistics_of
from bayesduel.inference.variational_conditional import STEP, responding
from bayesduel.system.arguments import Progress

__all__ = ["StandardCoordinates", "sample_hamiltonian"]


class _Placed(NamedTuple):
    """Where coefficients lie at one value of the scales and of u, each (size,)."""

    x: np.ndarray  # the coefficients
    tight: np.ndarray  # precision of an independent prior, 0 of others
    deviation: np.ndarray  # what u = 1 is


class _Located(NamedTuple):
    """Where all coefficients lie, and what correlated pieces of the prior have there, by piece."""

    place: _Placed
    pieces: dict[int, Piece]
    roots: dict[int, np.ndarray]  # factors of the precision, (rest, n, n)
    log_jacobians: dict[int, float]


class _Coupling(NamedTuple):
    """How coefficients by group (n,) follow the others that terms have, the border (p,)."""

    layout: Layout
    border: np.ndarray  # places of the border, own numbers of the response left out, (p,)
    groups: np.ndarray  # places of the groups, (n,)
    edges: sparse.csr_array  # precision between groups and raw numbers of the border, (n, raw)
    back: sparse.csr_array  # its transpose


@dataclass(frozen=True, eq=False)
class StandardCoordinates:
    """The density of a linear predictor in coordinates y = (phi, v), (q + size,)."""

    density: LinearPredictor
    start: Start

    @cached_property
    def n_scales(self) -> int:
        """Number of learned scales."""
        return len(self.start.phi)

    # -- priors ----------------------------------------------------------------------------

    @cached_property
    def _mean(self) -> np.ndarray:
        """Prior mean of each coefficient, (size,)."""
        return self._prior.mean

    @cached_property
    def _prior(self) -> Prior:
        """The prior at the first scales."""
        return self.density.prior(self.start.phi)

    @cached_property
    def _exponents(self) -> np.ndarray:
        """How the logarithm of each prior precision moves with those of the scales, (size, q)."""
        phi = self.start.phi
        precision = self._prior.diagonal(FLAT)
        here = np.log(precision)
        found = np.empty((len(here), len(phi)))
        for k, unit in enumerate(np.eye(len(phi))):
            ahead = self.density.prior(phi + unit)
            moved = ahead.diagonal(FLAT)
            found[:, k] = np.log(moved) - here
        return found

    @cached_property
    def _correlated(self) -> tuple[int, ...]:
        """Which pieces of the prior are no powers of the scales times a constant."""
        away = np.linspace(-0.7, 0.9, self.n_scales)
        prior = self.density.prior(self.start.phi + away)
        here = np.log(self._prior.diagonal(FLAT))
        powers = here + self._exponents @ away
        found = []
        for k, piece in enumerate(prior.pieces):
            log_tight = np.log(piece.tight)
            same = np.allclose(log_tight, powers[piece.here], atol=1e-9)
            if piece.inverse is not None or not same:
                found.append(k)
        return tuple(found)

    @cached_property
    def _moving(self) -> list[tuple[int, int]]:
        """Which of those pieces move with which scale: (scale, piece) each."""
        found = []
        for scale, one in enumerate(np.eye(self.n_scales)):
            ahead = self.density.prior(self.start.phi + one)
            for k in self._correlated:
                before = self._prior.pieces[k].dense()
                after = ahead.pieces[k].dense()
                if not np.array_equal(before, after):
                    found.append((scale, k))
        return found

    def _pieces(self, phi: np.ndarray) -> dict[int, Piece]:
        """Return the correlated pieces of the prior at `phi`."""
        return {k: self.density.piece(phi, k) for k in self._correlated}

    @cached_property
    def _alone(self) -> np.ndarray:
        """Which coefficients have independent priors that are powers of the scales, (size,)."""
        found = np.ones(self.density.size, dtype=bool)
        for k in self._correlated:
            found[self._prior.pieces[k].here] = False
        return found

    @cached_property
    def _proper(self) -> np.ndarray:
        """Which of those have a prior that is not flat, (size,)."""
        precision = self._prior.diagonal(0.0)
        return self._alone & (precision > 0)

    @cached_property
    def _powers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The constants of prior precisions (size,), kinds of exponents, and each one's kind."""
        proper = self._proper
        exponents = np.where(proper[:, None], self._exponents, 0.0)
        rounded = exponents.round(9)
        kinds, kind = np.unique(rounded, axis=0, return_inverse=True)
        log_factor = exponents @ self.start.phi
        tight = self._prior.diagonal(0.0)
        at_unit_scales = tight * np.exp(-log_factor)
        constants = np.where(proper, at_unit_scales, 0.0)
        return constants, kinds, kind.ravel()

    @cached_property
    def _log_precisions(self) -> np.ndarray:
        """How half the log precisions of the priors move with the scales in all, (q,)."""
        _, kinds, kind = self._powers
        n_proper = np.bincount(kind, self._proper, len(kinds))
        return 0.5 * n_proper @ kinds

    def _place(self, phi: np.ndarray, u: np.ndarray) -> _Placed:
        """Return where coefficients with independent priors lie."""
        constant, kinds, kind = self._powers
        start = self.start
        factor = np.exp(kinds @ phi)
        found = placed(
            u,
            constant,
            factor,
            kind,
            start.information,
            start.x,
            self._mean,
        )
        return _Placed(*found)

    # -- decorrelation ---------------------------------------------------------------------

    @cached_property
    def _layout(self) -> Layout | None:
        """Which coefficients are groups that follow the others, or None where there are no such."""
        if self.density.size <= WIDEST:
            return None
        found = layout_of(self.density)
        return found if len(found.groups) else None

    @cached_property
    def _turned(self) -> np.ndarray:
        """Which coefficients are decorrelated, (p,)."""
        if self._layout is None:
            return np.arange(self.density.size)
        return self._layout.border

    @cached_property
    def _coupling(self) -> _Coupling | None:
        """How groups follow the border, or None where all coefficients are decorrelated."""
        layout = self._layout
        if layout is None:
            return None
        n_own = len(self.density.own)
        n_raw = len(layout.border) - n_own
        edges = layout.edges(self.start.votes)
        return _Coupling(
            layout=layout,
            border=layout.border[:n_raw],
            groups=layout.groups.ravel(),
            edges=edges,
            back=sparse.csr_array(edges.T),
        )

    def _follow(self, x: np.ndarray, deviation: np.ndarray) -> None:
        """Move the groups of `x` to where the border draws them: one step of Jacobi's method."""
        coupling = self._coupling
        if coupling is None:
            return
        layout, border, groups, edges, _ = coupling
        moved = x[border] - self.start.x[border]
        away = layout.raw(moved)
        variance = deviation[groups] ** 2
        x[groups] -= variance * (edges @ away)

    def _followed(self, slope: np.ndarray, x: np.ndarray, place: _Placed) -> None:
        """Add to the slope in the border what it does through the groups.

        slope: of the log likelihood in each coefficient, (size,).
        """
        coupling = self._coupling
        if coupling is None:
            return
        layout, border, groups, _, back = coupling
        away = x[groups] - self._mean[groups]
        pulled = place.tight[groups] * away
        variance = place.deviation[groups] ** 2
        through = variance * (slope[groups] - pulled)
        slope[border] -= layout.free(back @ through)

    @cached_property
    def _turn(self) -> np.ndarray:
        """What turns standard coordinates into scaled ones of these, (p, p), upper triangular.

        Single precision: a smooth map of coordinates need not be an exact one. In the order of
        Fortran, for BLAS: a product takes 0.04 ms where p is 828, of a full matrix 0.1.
        """
        density = self.density
        start = self.start
        place = self._turned
        found = density.derivatives(start.x, start.phi)
        layout = self._layout
        if layout is None:
            curvature = density.bent(found._replace(bend=-start.votes))
            prior = self._prior.precision
        else:
            # the groups are integrated out cell by cell, by the variance their prior gives each
            prior, tight = layout.priors(self._prior)
            loose = 1 / tight.ravel()
            variance = layout.to_groups.power(2) @ loose
            weight = start.votes / (1 + start.votes * variance)
            curvature = layout.corner(found._replace(bend=-weight))
        scale = self._scale(place)
        precision = scale.T @ (curvature + prior) @ scale
        factor = ascent(precision)[0]
        inverse = solve_triangular(factor, np.eye(len(place)), lower=True)
        return np.asfortranarray(inverse.T, dtype=np.float32)

    def _scale(self, place: np.ndarray) -> np.ndarray:
        """Return how coefficients at `place` move with their scaled coordinates, (p, p)."""
        nowhere = np.zeros(self.density.size)
        deviation = self._place(self.start.phi, nowhere).deviation
        found = np.diag(deviation[place])
        at = np.full(self.density.size, -1)
        at[place] = np.arange(len(place))
        for k in self._correlated:
            piece = self._prior.pieces[k]
            _, factors, _ = self._laid(nowhere, piece)
            inverse = np.linalg.inv(factors)
            rest, n, _ = inverse.shape
            here = at[piece.here].reshape(n, rest)
            for column, block in zip(here.T, inverse, strict=True):
                found[np.ix_(column, column)] = block.T
        return found

    @property
    def has_groups(self) -> bool:
        """Whether coefficients are many, most of them by group: nearly standard normal."""
        return self._layout is not None

    # -- the density -----------------------------------------------------------------------

    def place(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients (size,) and the logarithms of scales (q,) at `y`."""
        phi = y[: self.n_scales]
        located = self._located(phi, self._scaled(y))
        return located.place.x, phi

    def _located(self, phi: np.ndarray, u: np.ndarray) -> _Located:
        """Return where all coefficients lie at scaled coordinates u, (size,)."""
        place = self._place(phi, u)
        pieces = self._pieces(phi)
        roots = {}
        log_jacobians = {}
        for k, piece in pieces.items():
            here, roots[k], log_jacobians[k] = self._laid(u, piece)
            place.x[piece.here] = here.ravel()
        self._follow(place.x, place.deviation)
        return _Located(place, pieces, roots, log_jacobians)

    def _scaled(self, y: np.ndarray) -> np.ndarray:
        """Return the scaled coordinates u of the coefficients, (size,)."""
        u = y[self.n_scales :].copy()
        turned = self._turned
        if len(turned):
            u[turned] = strmv(self._turn, u[turned])
        return u

    def _laid(self, u: np.ndarray, piece: Piece) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the coefficients of a correlated piece, their factors and the log Jacobian."""
        inverse, tight = piece.along()
        start = self.start
        shape = tight.shape
        here = piece.here
        return laid(
            inverse,
            tight,
            start.information[here].reshape(shape),
            start.x[here].reshape(shape),
            self._mean[here].reshape(shape),
            u[here].reshape(shape),
        )

    def _log_prior(self, x: np.ndarray, piece: Piece) -> tuple[float, np.ndarray]:
        """Return the log prior of the coefficients of a piece, and minus its slope in these."""
        inverse, tight = piece.along()
        here = piece.here
        away = x[here] - self._mean[here]
        return log_prior(inverse, tight, away.reshape(tight.shape))

    def value_and_gradient(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log density at `y` and its gradient, (q + size,)."""
        density = self.density
        phi = y[: self.n_scales]
        u = self._scaled(y)
        place, pieces, roots, parts = self._located(phi, u)  # parts: of the log density
        x = place.x
        found = density.derivatives(x, phi)
        cells = density.likelihood_at(found, x, phi)
        slope = density.likelihood_slope(found)
        self._followed(slope, x, place)
        _, kinds, kind = self._powers
        of_priors, gradient, by_u, by_kind = pulled_back(
            slope,
            u,
            *place,
            kind,
            len(kinds),
            self._mean,
            self._alone,
        )
        log_hyper, by_phi = self._of_scales(x, phi)
        by_phi += self._log_precisions + by_kind @ kinds
        log_precisions = float(self._log_precisions @ phi)
        likelihood = float(cells.sum())
        value = likelihood + of_priors + log_hyper + log_precisions
        for k, piece in pieces.items():
            here = piece.here
            log_density, pulled = self._log_prior(x, piece)
            parts[k] += log_density
            gradient[here] -= pulled.ravel()
            own = gradient[here].reshape(pulled.shape)
            in_u = slope_in_u(roots[k], own)
            by_u[here] = in_u.ravel()
        value += sum(parts.values())
        by_phi += self._by_correlated(x, u, phi, gradient, parts)
        turned = self._turned
        if len(turned):
            by_u[turned] = strmv(self._turn, by_u[turned], trans=1)
        return value, np.concatenate([by_phi, by_u])

    def _of_scales(self, x: np.ndarray, phi: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log prior of the scales, and its slope with that of cells in them, (q,)."""
        density = self.density
        q = self.n_scales
        if not q:
            return 0.0, np.zeros(0)
        away = STEP * np.eye(q)
        at = np.vstack([phi, phi + away, phi - away])
        value = density.log_hyper(at)
        ahead = value[1 : q + 1]
        behind = value[q + 1 :]
        slope = (ahead - behind) / (2 * STEP)
        for k in self._responding:
            scales = at[[1 + k, 1 + q + k]]
            eta = density.eta(x)
            cells_ahead, cells_behind = density.likelihood(
                np.stack([x, x]),
                scales,
                np.stack([eta, eta]),
            )
            rise = float((cells_ahead - cells_behind).sum())
            slope[k] += rise / (2 * STEP)
        return float(value[0]), slope

    @cached_property
    def _responding(self) -> np.ndarray:
        """Which scales are of the response, indices."""
        return np.flatnonzero(responding(self.density))

    def _by_correlated(
        self,
        x: np.ndarray,
        u: np.ndarray,
        phi: np.ndarray,
        gradient: np.ndarray,
        parts: dict[int, float],
    ) -> np.ndarray:
        """Return the slope in the scales, (q,), through coefficients with correlated priors.

        parts: what each piece adds to the log density at `phi`.
        """
        found = np.zeros(self.n_scales)
        for scale, k in self._moving:
            ahead = phi.copy()
            ahead[scale] += STEP
            piece = self.density.piece(ahead, k)
            here = piece.here
            moved, _, log_jacobian = self._laid(u, piece)
            log_density, _ = self._log_prior(x, piece)
            shift = moved.ravel() - x[here]
            along = gradient[here] @ shift
            rise = log_jacobian + log_density - parts[k] + along
            found[scale] += rise / STEP
        return found


def sample_hamiltonian(
    density: LinearPredictor,
    cells: Any,
    *,
    draws: int,
    chains: int,
    seed: int,
    log_likelihood: bool = False,
    progress: Progress = None,
    notice: str = "",
) -> PosteriorDraws:
    """Return `draws` draws of each of `chains` chains, chain after chain.

    log_likelihood, progress, notice: as for :func:`bayesduel.inference.nuts.sample_nuts`.

    Raises FloatingPointError if there is no curvature to start from.
    """
    rough = StandardCoordinates(density, start_of(density))
    tree = _chains(
        rough,
        "",
        None,
        draws=40,
        tune=80,
        chains=1,
        seed=seed,
        # of llmfao a few paths of 6 doublings were twice as long, which cost a half more in all
        maxdepth=5,
    )
    learned = learned_start(density, *_numbers(tree))
    better = StandardCoordinates(density, learned)
    tree = _chains(
        better,
        notice,
        progress,
        draws=draws,
        # Least effective draws of a score by three seeds, with 40 and with 30 of them: 20 arms x
        # 40 prompts x 30 judges 343, 382, 322 and 266, 410, 372; 12 x 13 x 120 367, 278, 174 and
        # 244, 230, 223.
        tune=40,
        chains=chains,
        seed=seed,
    )
    x, phi = _numbers(tree)
    return completed(
        density.model,
        cells,
        named_parameters(density, x, phi),
        statistics_of(tree),
        chains=chains,
        seed=seed,
        log_likelihood=log_likelihood,
    )


def _chains(
    coordinates: StandardCoordinates, notice: str, progress: Progress, **settings: Any
) -> Any:
    """Return nutpie's tree of chains in these coordinates: ``x`` and ``phi`` of each draw."""
    from nutpie.compiled_pyfunc import from_pyfunc

    density = coordinates.density
    q = coordinates.n_scales
    size = q + density.size
    many = coordinates.has_groups
    steps: dict[str, Any] = {}
    if many:
        # Between two slopes a point turns about the origin, by an eighth of a turn at most. Of
        # rankings of three arms R-hat by 4,000 draws is then 1.004, and 1.14 where a step may be
        # half a turn (three seeds, the largest).
        steps = {"exact_normal_trajectory": True, "max_step_size": np.pi / 4}

    def make_density() -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        def at(y: np.ndarray) -> tuple[float, np.ndarray]:
            with np.errstate(all="ignore"):
                try:
                    value, gradient = coordinates.value_and_gradient(np.asarray(y))
                except np.linalg.LinAlgError:  # scales that are infinite to the computer
                    return -np.inf, np.zeros(size)
            if np.isnan(value):  # likewise
                return -np.inf, np.zeros(size)
            return value, gradient

        return at

    def make_expansion(*_: Any) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
        def at(y: np.ndarray) -> dict[str, np.ndarray]:
            x, phi = coordinates.place(np.asarray(y))
            return {"x": x, "phi": phi.copy()}

        return at

    def begin(seed: Any) -> np.ndarray:
        """Return where a chain starts; of many coefficients, 1 deviation away along each axis.

        nutpie scales an axis by the slope where it starts, which of a normal density is then 1.
        """
        y = np.random.default_rng(seed).standard_normal(size)
        jitter = 0.2 * y[:q]  # scales start 20 % too large or too small, about
        if many:
            y = np.sign(y)
        y[:q] = coordinates.start.phi + jitter
        return y

    compiled = from_pyfunc(
        size,
        make_density,
        make_expansion,
        [np.dtype(float), np.dtype(float)],
        [(density.size,), (q,)],
        ["x", "phi"],
        make_initial_point_fn=begin,
    )
    return run_chains(
        density.model,
        compiled,
        notice=notice,
        progress=progress,
        save_warmup=False,
        cores=1,  # Python runs in one thread at a time; several would wait for one another
        **steps,
        **settings,
    )


def _numbers(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients (draws, size) and logarithms of scales (draws, q) of all chains."""
    posterior = tree["posterior"]
    x = chains_joined(posterior["x"].to_numpy())
    phi = chains_joined(posterior["phi"].to_numpy())
    return x, phi
