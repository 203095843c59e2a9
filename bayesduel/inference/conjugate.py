"""The preference matrix, pair by pair: given its hyperparameter the posterior factorises.

Each pair's win probability has a one-dimensional posterior, so none is approximated by a normal
distribution: its density is tabulated on a grid of log odds around its mode, joined by straight
lines in the log density, and drawn from exactly. The concentration is integrated on its own
grid. The densities are the model's own, compiled from its ``pm.Model``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.hyper_grid import Grid, explore
from bayesduel.inference.laplace import Proposals

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["PairDensities", "Table", "densities", "propose", "tables"]

POINTS = 121  # grid points a pair; the error of the log density is below 0.002
NEGLIGIBLE = 25.0  # each grid covers the log density down to this far below its maximum


@dataclass(frozen=True, eq=False)
class PairDensities:
    """Compiled log densities of one preference-matrix model on one log."""

    compiled: Mapping[str, Any]
    data: Mapping[str, np.ndarray]
    hyper: str | None

    @property
    def n_pairs(self) -> int:
        """Number of pairs that met; the others keep the prior and need no table."""
        return len(self.data["n"])

    def terms(self, log_odds: np.ndarray, hyper: float) -> np.ndarray:
        """Return each pair's own part of the log density, shape (n_pairs,)."""
        prior, likelihood = self.split(log_odds, hyper)
        return prior + likelihood

    def split(self, log_odds: np.ndarray, hyper: float) -> tuple[np.ndarray, np.ndarray]:
        """Return log prior by pair and log likelihood by cell."""
        prior, likelihood = self.compiled["terms"](log_odds, float(hyper), *self.data.values())
        return prior, likelihood

    def slopes(self, log_odds: np.ndarray, hyper: float) -> tuple[np.ndarray, np.ndarray]:
        """Return first and second derivative of each pair's term in its log odds."""
        first, second = self.compiled["slopes"](log_odds, float(hyper), *self.data.values())
        return first, second

    def hyper_prior(self, hyper: float) -> float:
        """Return the log prior density of the unconstrained hyperparameter."""
        return float(self.compiled["hyper"](float(hyper))) if self.hyper else 0.0


@dataclass(frozen=True, eq=False)
class Table:
    """Tabulated conditional posteriors of all pairs at one value of the hyperparameter.

    Attributes
    ----------
    points
        Log odds, shape (POINTS, n_pairs).
    log_density
        Unnormalised log density there.
    log_mass
        Log normalising constant of each pair, shape (n_pairs,).
    """

    points: np.ndarray
    log_density: np.ndarray
    log_mass: np.ndarray

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws, (n, n_pairs), and the log density of each whole draw, (n,)."""
        width = np.diff(self.points, axis=0)
        rise = np.diff(self.log_density, axis=0)
        log_segment = self.log_density[:-1] + np.log(width) + _log_mean_exp(rise)
        share = np.exp(log_segment - self.log_mass)
        cumulative = np.cumsum(share, axis=0)
        level = rng.uniform(size=(n, self.points.shape[1])) * cumulative[-1]
        place = np.empty(level.shape, dtype=np.int64)
        rows = max(1, 2**26 // cumulative.size)  # rows at a time, to bound the memory
        for k in range(0, n, rows):
            block = level[k : k + rows]
            place[k : k + rows] = (cumulative[:-1, None, :] <= block[None]).sum(axis=0)

        def at(table: np.ndarray) -> np.ndarray:
            return np.take_along_axis(table, place, axis=0)

        below = at(cumulative) - at(share)
        part = np.clip((level - below) / at(share), 0.0, 1.0)
        along = _inverse(part, at(rise))
        draws = at(self.points) + along * at(width)
        log_q = at(self.log_density) + along * at(rise) - self.log_mass
        return draws, log_q.sum(axis=1)


def densities(model: Any, duels: "Duels") -> PairDensities:
    """Return the compiled densities of preference-matrix `model` on `duels`."""
    compiled, hyper = _compile(model)
    data = model.data(duels)
    data["pair_of_cell"] = np.arange(len(data["n"]), dtype=np.int32)
    return PairDensities(compiled, data, hyper)


def tables(densities: PairDensities) -> Grid:
    """Return the grid of the concentration with all pairs' tables at each node."""
    if densities.hyper is None:
        table = _tabulate(densities, 0.0)
        return Grid(np.zeros(1), np.array([table.log_mass.sum()]), (table,))

    def evaluate(value: float, near: Table | None) -> tuple[float, Table]:
        table = _tabulate(densities, value)
        return float(table.log_mass.sum()) + densities.hyper_prior(value), table

    return explore(evaluate, float(np.log(4.0)), spacing=0.2, widest=0.1)


def propose(
    densities: PairDensities,
    grid: Grid,
    n: int,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = False,
    tick: Any = None,
) -> Proposals:
    """Draw `n` proposals: a concentration, then every pair from its table at the nearest node.

    Parameters are those of :func:`bayesduel.inference.laplace.propose`; `x` holds the log odds
    of the pairs that met.
    """
    hyper, log_q = grid.draw(n, rng)
    place = grid.nearest(hyper)
    x = np.empty((n, densities.n_pairs))
    done = 0
    for node in np.unique(place):
        mine = np.flatnonzero(place == node)
        x[mine], log_density = grid.conditionals[node].draw(len(mine), rng)
        log_q[mine] += log_density
        done += len(mine)
        if tick is not None:
            tick(done // 2)
    density = np.empty(n)
    cells = np.empty((n, len(densities.data["n"]))) if log_likelihood else None
    for k in range(n):
        prior, likelihood = densities.split(x[k], hyper[k])
        density[k] = prior.sum() + likelihood.sum() + densities.hyper_prior(hyper[k])
        if cells is not None:
            cells[k] = likelihood
        if tick is not None and k % 100 == 99:
            tick((n + k + 1) // 2)
    return Proposals(x, hyper, density - log_q, density, cells)


def _tabulate(densities: PairDensities, hyper: float) -> Table:
    """Tabulate every pair's conditional density around its mode, wide enough for its tails."""
    mode = np.zeros(densities.n_pairs)
    for _ in range(200):
        first, second = densities.slopes(mode, hyper)
        step = np.clip(-first / second, -2.0, 2.0)
        mode = mode + step
        if np.abs(step).max() < 1e-8:
            break
    _, second = densities.slopes(mode, hyper)
    unit = 1.0 / np.sqrt(-second)
    peak = densities.terms(mode, hyper)
    reach = []
    for side in (-1.0, 1.0):
        far = np.full(densities.n_pairs, 8.0)
        for _ in range(60):
            short = densities.terms(mode + side * far * unit, hyper) > peak - NEGLIGIBLE
            if not short.any():
                break
            far = np.where(short, far * 1.6, far)
        reach.append(far)
    # Steps grow away from the mode, where the log density runs straight.
    bend = np.linspace(-1.0, 1.0, POINTS)[:, None]
    lengths = np.where(bend < 0, reach[0], reach[1])
    curve = np.arcsinh(lengths)
    points = mode + unit * np.sinh(bend * curve)
    log_density = np.stack([densities.terms(row, hyper) for row in points])
    segment = (
        log_density[:-1]
        + np.log(np.diff(points, axis=0))
        + _log_mean_exp(np.diff(log_density, axis=0))
    )
    top = segment.max(axis=0)
    return Table(points, log_density, top + np.log(np.exp(segment - top).sum(axis=0)))


def _log_mean_exp(rise: np.ndarray) -> np.ndarray:
    """Return the log of the mean of exp over a segment whose log rises by `rise` from 0."""
    size = np.abs(rise)
    small = size < 1e-6
    safe = np.where(small, 1.0, size)
    value = np.log(-np.expm1(-safe)) - np.log(safe)
    return np.maximum(rise, 0.0) + np.where(small, -size / 2, value)


def _inverse(part: np.ndarray, rise: np.ndarray) -> np.ndarray:
    """Return where in [0, 1] the exponential segment with this `rise` has mass `part`."""
    flat = np.abs(rise) < 1e-6
    safe = np.where(flat, 1.0, rise)
    up = safe > 0  # work from the heavier end, so that nothing overflows
    size = np.abs(safe)
    share = np.where(up, 1.0 - part, part)
    along = -np.log1p(share * np.expm1(-size)) / size
    return np.where(flat, part, np.where(up, 1.0 - along, along))


@lru_cache(maxsize=32)
def _compile(model: Any) -> tuple[dict[str, Any], str | None]:
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace

    from bayesduel.data.duels import Duels

    built = model.build(Duels.from_wins(np.ones((3, 3)) - np.eye(3)))
    value_of = built.rvs_to_values
    hyper_name = "concentration" if "concentration" in built.named_vars else None
    theta, outcome = built["theta"], built["outcome"]
    log_odds, hyper = pt.dvector("log_odds"), pt.dscalar("hyper")
    swap: dict[Any, Any] = {value_of[theta]: log_odds}
    if hyper_name:
        swap[value_of[built[hyper_name]]] = hyper
    inputs = []
    for shared in built.data_vars:
        data = shared.type(f"{shared.name}_input")
        inputs.append(data)
        swap[shared] = data
    swap[built.dim_lengths["pair"]] = log_odds.shape[0].astype(built.dim_lengths["pair"].dtype)
    n_cells = swap[built["n"]].shape[0]
    swap[built.dim_lengths["cell"]] = n_cells.astype(built.dim_lengths["cell"].dtype)
    prior, likelihood = built.logp(vars=[theta, outcome], sum=False)
    replaced: Any = graph_replace([prior, likelihood], swap, strict=False)
    prior, likelihood = replaced
    total = prior.sum() + likelihood.sum()
    first: Any = pt.grad(total, log_odds)
    second: Any = pt.grad(first.sum(), log_odds)  # pairs do not touch: the Hessian is diagonal
    compiled = {
        "terms": pytensor.function(
            [log_odds, hyper, *inputs], [prior, likelihood], on_unused_input="ignore"
        ),
        "slopes": pytensor.function(
            [log_odds, hyper, *inputs], [first, second], on_unused_input="ignore"
        ),
    }
    if hyper_name:
        own = built.logp(vars=[built[hyper_name]])
        alone: Any = graph_replace([own], swap, strict=False)
        compiled["hyper"] = pytensor.function([hyper], alone[0])
    return compiled, hyper_name
