"""The certificate of a fit by products of pairs, and fits of middle sizes, in one run.

Seconds of processor time, the best of several runs after compilation. Log densities of all draws
come once from the log likelihood of each cell, and once from products of pairs
(:mod:`bayesduel.inference.pair_normalisers`).
"""

import warnings
from typing import Any

import numpy as np

from benchmarks.fitting import density, simulate
from benchmarks.scale.streaming import seconds

__all__ = ["NOTE", "TITLE", "rows"]

TITLE = "Bradley-Terry, scale learned: log densities of 4,000 draws, and the whole fit"
NOTE = (
    "Seconds of processor time. By cells: the log densities of all draws from the log likelihood "
    "of each cell; by pairs: from products of pairs. Gap: largest difference of the two "
    "log densities, in [nats](../glossary.md). Effective draws a second: of the whole fit, "
    "certificate included; of "
    "NUTS, warm-up included, for the score with the fewest."
)
SIZES = {
    False: ((100, 100_000), (300, 100_000)),
    True: ((100, 100_000), (100, 1_000_000), (300, 300_000), (2_000, 300_000)),
}
DRAWS = 4_000
DENSE = 300  # arms up to which densities are of a dense proposal; the sparse route has none
NUTS = (100, 1_000_000)  # the size at which NUTS samples the same posterior


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row a size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [_row(n_arms, n_duels) for n_arms, n_duels in SIZES[full]]


def _row(n_arms: int, n_duels: int) -> dict[str, Any]:
    from bayesduel.inference.fit import fit

    duels = simulate(n_arms, n_duels)
    fit(duels, log_likelihood=False)  # compile
    whole, tree = seconds(lambda: fit(duels, log_likelihood=False))
    rate = min(tree.attrs["importance_ess"], DRAWS) / whole
    return {
        "arms": f"{n_arms:,}",
        "duels": f"{n_duels:,}",
        **(_densities(duels) if n_arms <= DENSE else {}),
        "whole fit, s": whole,
        "fit by": tree.attrs["method"],
        "effective draws a second": f"{rate:,.0f}",
        **(_beside_nuts(duels, rate) if (n_arms, n_duels) == NUTS else {}),
    }


def _densities(duels: Any) -> dict[str, Any]:
    """Return the seconds of the densities of all draws by both ways, and their largest gap."""
    predictor = density(duels, None)
    rng = np.random.default_rng(0)
    x = 0.5 * rng.normal(size=(DRAWS, predictor.size))
    phi = np.zeros((DRAWS, 1))
    predictor.values(x, phi)  # compile
    by_cells, each = seconds(lambda: predictor.batch(x, phi)[0], 5)
    by_pairs, products = seconds(lambda: predictor.values(x, phi), 5)
    return {
        "by cells, s": by_cells,
        "by pairs, s": by_pairs,
        "ratio": by_pairs / by_cells,
        "gap": f"{abs(products - each).max():.0e}",
    }


def _beside_nuts(duels: Any, rate: float) -> dict[str, Any]:
    """Return effective draws a second of NUTS, the smallest over scores, and the ratio."""
    import arviz as az

    from bayesduel.inference.fit import fit

    options: dict[str, Any] = {"method": "nuts", "log_likelihood": False}
    fit(duels, draws=100, **options)  # compile
    took, tree = seconds(lambda: fit(duels, **options), 1)
    effective = float(az.ess(tree["posterior"]["score"].to_dataset(name="x"))["x"].min())
    own = effective / took
    return {"by NUTS": f"{own:,.0f}", "times NUTS": rate / own}
