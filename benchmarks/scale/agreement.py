"""Posterior means and standard errors of one log by every route, beside long Gibbs chains.

Each route is a process of its own. Differences are in standard errors of a score, root mean squares
over arms from which the Monte Carlo noise of both sides is taken off in squares.
"""

import json
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.scale.measuring import KEPT, alone, measured

__all__ = ["NOTE", "TITLE", "rows"]

TITLE = "Bradley-Terry, 20 duels an arm of very different activity: each route beside Gibbs"
NOTE = (
    "Hubs: the 2 % of arms with the most duels. Away from 0: mean shift of scores away from their "
    "mean, in standard errors. Variational by matrices: the same distribution at the same scale, "
    "with the whole inverse in place of perturbed solutions. Mode and curvature: Laplace's method "
    "by matrices, the scale on a grid, without correction by importance sampling."
)
SIZES = {False: 300, True: 2_000}
PER_ARM = 20
HUBS = 0.02
GIBBS = {False: 2_000, True: 8_000}  # draws in all
ROUTES = ("gibbs", "variational", "variational by matrices", "mode and curvature")
LIMIT = 3600.0


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row a route."""
    n_arms, found, taken = SIZES[full], {}, {}
    with TemporaryDirectory() as own:
        folder = KEPT if full else Path(own)
        folder.mkdir(exist_ok=True)
        for route in ROUTES:
            at = folder / f"agreement-{n_arms}-{route.replace(' ', '-')}.npz"
            module = "benchmarks.scale.agreement"
            taken[route] = alone(module, route, n_arms, GIBBS[full], at, limit=LIMIT, keep=full)
            if "failed" not in taken[route]:
                found[route] = dict(np.load(at))
    by = {"variational": found.get("variational by matrices")}
    return [
        _row(route, n_arms, taken[route], found.get(route), found["gibbs"], by.get(route))
        for route in ROUTES
    ]


def _row(
    route: str,
    n_arms: int,
    taken: dict[str, Any],
    one: dict[str, np.ndarray] | None,
    exact: dict[str, np.ndarray],
    by: dict[str, np.ndarray] | None,
) -> dict[str, Any]:
    row = {"arms": f"{n_arms:,}", "route": route}
    if one is None:
        return row | {"said": taken["failed"]}
    row |= {"cpu s": taken["cpu s"], "effective draws": f"{np.median(one['effective']):,.0f}"}
    row |= {
        "scale": f"{one['scale'][0]:.4f} +- {one['scale'][1]:.4f}",
    }
    if route == "gibbs":
        return row
    noise = 1 / one["effective"] + 1 / exact["effective"]
    shift = (one["mean"] - exact["mean"]) / exact["sd"]
    ratio = one["sd"] / exact["sd"]
    away = np.sign(exact["mean"]) * shift
    if by is not None:
        apart = (one["mean"] - by["mean"]) / by["sd"]
        row |= {
            "from matrices: largest shift": float(abs(apart).max()),
            "largest difference of errors": float(abs(one["sd"] / by["sd"] - 1).max()),
        }
    hubs = np.argsort(-exact["duels"], kind="stable")[: int(HUBS * n_arms)]
    return row | {
        "shift, rms": _without(shift, noise),
        "shift away from 0": float(away.mean()),
        "of hubs": float(away[hubs].mean()),
        "error ratio": float(ratio.mean()),
        "its rms from 1": _without(ratio - 1, noise / 2),
    }


def _without(values: np.ndarray, noise: np.ndarray) -> float:
    """Return the root mean square of values, noise of this variance taken off."""
    return float(np.sqrt(max(np.mean(values**2 - noise), 0.0)))


def main(route: str, n_arms: str, gibbs: str, to: str) -> None:
    """Fit by one route; write means and standard errors, print what it took as JSON."""
    import bayesduel as bd
    from benchmarks.scale.one_arms import power_law_log

    warnings.simplefilter("ignore")
    _, left, right, won = power_law_log(int(n_arms), PER_ARM * int(n_arms))
    duels = bd.Duels.from_votes(left, right, won.astype(float))
    options: dict[str, Any] = {"log_likelihood": False, "clusters": False}
    if by_matrices := {"mode and curvature": _plain, "variational by matrices": _dense}.get(route):
        taken, found = measured(lambda: by_matrices(duels))
        found |= {"said": "no draws"}
    else:
        draws = int(gibbs) if route == "gibbs" else 4_000
        taken, tree = measured(lambda: bd.fit(duels, method=route, draws=draws, **options))
        found = _of_draws(tree) | {"said": tree.attrs["method_reason"]}
    said = found.pop("said")
    counts = duels.pairs()
    n = counts.first_wins + counts.second_wins + counts.ties
    by_arm = np.bincount(counts.first, n, duels.n_arms) + np.bincount(
        counts.second, n, duels.n_arms
    )
    np.savez(to, duels=by_arm, **found)
    print(json.dumps(taken | {"said": said}))


def _of_draws(tree: Any) -> dict[str, Any]:
    """Return mean, standard deviation and effective draws of each score, and of the scale."""
    import arviz as az

    score, scale = tree["posterior"]["score"], tree["posterior"]["scale"]
    weighted = tree.attrs["method"] == "laplace"  # resampled: repeats are no information
    effective = np.full(score.sizes["arm"], tree.attrs["importance_ess"])
    if not weighted:
        effective = az.ess(score.astype(float).to_dataset(name="x"))["x"].to_numpy()
    both = ("chain", "draw")
    return {
        "mean": score.mean(both).to_numpy(),
        "sd": score.std(both).to_numpy(),
        "effective": effective,
        "scale": np.array([float(scale.mean()), float(scale.std())]),
    }


def _plain(duels: Any) -> dict[str, Any]:
    """Return mean and standard error by Laplace's method, the scale integrated on a grid."""
    from bayesduel.inference.conditional_mode import score_covariance
    from bayesduel.inference.design import centre
    from bayesduel.inference.laplace import LaplaceApproximation
    from bayesduel.models import BradleyTerry

    model = BradleyTerry()
    cells = model.cells(duels)
    grid = LaplaceApproximation.of(model, cells).grid
    mass = np.exp(grid.log_density - grid.log_density.max())
    mass /= mass.sum()
    kept = [(m, mode) for m, mode in zip(mass, grid.conditionals, strict=True) if m > 1e-3]
    share = np.array([m for m, _ in kept]) / sum(m for m, _ in kept)
    means = np.stack([centre(mode.x) for _, mode in kept])
    variances = np.stack([score_covariance(mode, len(means[0])).diagonal() for _, mode in kept])
    mean = share @ means
    scale, root = np.exp(grid.nodes), mass @ np.exp(grid.nodes)
    return {
        "mean": mean,
        "sd": np.sqrt(share @ (variances + (means - mean) ** 2)),
        "effective": np.full(len(mean), np.inf),
        "scale": np.array([root, np.sqrt(mass @ (scale - root) ** 2)]),
    }


def _dense(duels: Any) -> dict[str, Any]:
    """Return mean and standard error of the variational Gaussian, by inverses of matrices."""
    from scipy.special import expit

    from bayesduel.inference.comparison_graph import ComparisonGraph
    from bayesduel.inference.sparse_gaussian import SparseGaussian
    from bayesduel.models import BradleyTerry

    graph = ComparisonGraph.of(BradleyTerry().cells(duels))
    sparse = SparseGaussian.of(graph, None, 2.0, np.random.default_rng(0))
    tau, mean, first, second = sparse.scale**-2.0, sparse.mean, graph.first, graph.second
    nodes, masses = np.polynomial.hermite_e.hermegauss(15)
    covariance = np.diag(sparse.variance)
    for _ in range(6):
        spread = np.sqrt(
            covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        )
        chance = expit(graph.difference(mean)[:, None] + spread[:, None] * nodes)
        share = masses / masses.sum()
        weight = graph.n * (chance * (1 - chance) @ share)
        precision = graph.precision(weight, tau)
        covariance = np.linalg.inv(np.diag(precision.diagonal) - precision.off.toarray())
        slope = graph.points - graph.n * (chance @ share)
        mean = mean + covariance @ (graph.pull(slope) - tau * mean)
    along = sparse.along - sparse.along.mean()
    variance = covariance.diagonal() - 1 / (tau * len(mean)) + (sparse.log_scale_sd * along) ** 2
    return {
        "mean": mean - mean.mean(),
        "sd": np.sqrt(variance),
        "effective": np.full(len(mean), np.inf),
        "scale": np.array([sparse.scale, sparse.scale * sparse.log_scale_sd]),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
