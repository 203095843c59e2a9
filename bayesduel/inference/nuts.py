"""NUTS by nutpie, on the same ``pm.Model`` that every other method uses."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels

__all__ = ["sample", "well_informed"]

SHORT_STEPS = 0.99  # acceptance aimed at under a horseshoe: at 0.9 its funnels make divergences
KEPT = 8  # compiled models kept for reuse
_COMPILED: dict[Any, Any] = {}


def sample(
    model: Any,
    duels: "Duels",
    *,
    draws: int,
    chains: int,
    seed: int,
    progress: bool = False,
) -> "xr.DataTree":
    """Return nutpie's tree of `draws` draws in each of `chains` chains.

    Parameters
    ----------
    model, duels
        What to sample. The parameterisation of a learned scale follows the data
        (:func:`well_informed`).
    draws, chains
        Draws a chain and number of chains; as many draws again, at least 600, are used to tune.
    seed
        Whole number.
    progress
        Whether nutpie shows its progress.
    """
    import warnings

    import nutpie

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's notes on the random ops it never runs
        return nutpie.sample(
            _compiled(model, duels),
            draws=draws,
            tune=max(600, draws),
            chains=chains,
            seed=seed,
            progress_bar=progress,
            target_accept=SHORT_STEPS if getattr(model, "sparsity", None) is not None else 0.9,
        )


def _compiled(model: Any, duels: "Duels") -> Any:
    """Return the compiled model over `duels`; one compilation serves logs of the same form."""
    import nutpie
    from pytensor.graph.traversal import ancestors

    centred = not hasattr(duels, "tally") or well_informed(duels)
    built = model.build(duels, centred=centred)
    # Cells may differ in number: they are data. Whatever has a parameter of its own may not.
    sizes = tuple((n, len(v)) for n, v in built.coords.items() if v is not None and n != "cell")
    key = (model, centred, sizes)
    if key not in _COMPILED:
        kept = [v.name for v in (*built.free_RVs, *built.deterministics) if v.name != "preference"]
        if len(_COMPILED) >= KEPT:
            _COMPILED.pop(next(iter(_COMPILED)))
        _COMPILED[key] = nutpie.compile_pymc_model(built, var_names=kept)
    used = set(ancestors([built.logp(), *built.deterministics]))
    data = {v.name: v.get_value() for v in built.data_vars if v in used}
    return _COMPILED[key].with_data(**data)


def well_informed(duels: "Duels") -> bool:
    """Return whether the log measures enough arms for the centred parameterisation.

    An arm is measured when its duels tell its score at least four times as well as knowing
    the spread of the scores does. Eight measured arms (half of them where there are fewer
    than sixteen) pin the scale down, and the centred form then mixes better; with fewer the
    scores divided by their scale do.
    """
    wins, ties = duels.tally("keep")
    points, n = (wins + ties / 2).sum(axis=1), (wins + wins.T + ties).sum(axis=1)
    information = n / 4.0  # of a logit, for a duel near one half
    logit = np.log((points + 0.5) / (n - points + 0.5))
    noise = np.mean(1.0 / (information + 0.25))
    spread = max(float(np.var(logit) - noise), 0.0)
    measured = int((information * spread > 4.0).sum())
    return measured >= min(8, max(2, duels.n_arms / 2))
