"""The models that a check compares, and the cycles under each of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesduel.criticism.cycle_posterior import CyclePosterior, cycle_posterior
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.criticism.transitivity.triads import closed_triads
from bayesduel.data.duels import Duels

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "COMPARED_ARMS",
    "COMPARED_DRAWS",
    "LeftOut",
    "cycles_by_model",
    "left_out",
    "models_to_compare",
]

# Up to as many arms, models are compared where none are named. With 20,000 votes that takes 36
# processor seconds for 200 arms, and 14 for 100.
COMPARED_ARMS = 200
COMPARED_DRAWS = 1000  # of each model
LeftOut = Literal["", "quick", "arms", "pairs"]  # why models are not compared


def left_out(duels: Duels, n_pairs: int, *, quick: bool) -> LeftOut:
    """Return why models are not compared where none are named, or ""."""
    if quick:
        return "quick"
    if duels.n_arms > COMPARED_ARMS:
        return "arms"
    if duels.n_arms < 3 or n_pairs < 2:
        return "pairs"
    return ""


def models_to_compare(duels: Duels, *, with_side_advantage: bool) -> list[Any]:
    """Return the models to compare where none are named."""
    from bayesduel.criticism.compare import default_models
    from bayesduel.models import BradleyTerry, SideAdvantage

    found = default_models(duels)
    if with_side_advantage:
        found.append(BradleyTerry() + SideAdvantage())
    return found


def cycles_by_model(
    fits: Mapping[str, "xr.DataTree"],
    design: DecidedDuels,
    arms: tuple[str, ...],
    rng: np.random.Generator,
) -> dict[str, CyclePosterior]:
    """Return cycles of three arms under each of some fitted models, by its name."""
    triads = closed_triads(len(arms), design.first, design.second, rng)
    found = {}
    for name, fit in fits.items():
        ahead = _ahead(fit, design, COMPARED_DRAWS)
        found[name] = cycle_posterior(ahead, design, arms, triads)
    return found


def _ahead(fit: "xr.DataTree", design: DecidedDuels, n_draws: int) -> np.ndarray:
    """Return by draw whether the first arm of each pair is the better one, about `n_draws`."""
    from bayesduel.posterior.draws import preference_draws

    parts = []
    for P in preference_draws(fit):
        of_pairs = P[:, design.first, design.second]
        parts.append(of_pairs > 0.5)
    ahead = np.concatenate(parts)
    step = max(1, len(ahead) // n_draws)
    return ahead[::step]
