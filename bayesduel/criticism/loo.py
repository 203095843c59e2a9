"""Leave-one-out prediction by Pareto-smoothed importance sampling, with refits where it fails.

References
----------
Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation using leave-one-out
cross-validation and WAIC", Statistics and Computing 2017. Vehtari, Simpson, Gelman, Yao & Gabry,
"Pareto smoothed importance sampling", JMLR 2024, for what k-hat can be trusted.
"""

import warnings
from collections.abc import Callable, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from bayesduel.criticism.cross_validation import Units, log_likelihoods, without
from bayesduel.data.duels import Duels
from bayesduel.inference.fit import fit
from bayesduel.system.threads import ONE_THREAD
from bayesduel.system.warnings import unwarned

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDDataLOO

    from bayesduel.models.model import Model

__all__ = ["Left", "elpd_of", "leave_out", "table_of", "trusted"]


class Left(NamedTuple):
    """One model's predictions of the units left out, all of shape (units,)."""

    elpd: np.ndarray  # log predictive density of one observation of the unit
    lppd: np.ndarray  # the same with the unit in the data
    khat: np.ndarray  # Pareto k-hat of leaving it out
    refitted: np.ndarray  # whether `elpd` is of a fit without the unit


def leave_out(
    duels: Duels,
    model: "Model",
    tree: xr.DataTree,
    units: Units,
    folds: int,
    settings: Mapping[str, Any],
    tick: Callable[[float], None],
) -> Left:
    """Return the predictions of every unit by the fit without it."""
    posterior = tree.duel.posterior("model")
    n = tree.duel.n_draws
    efficiency = tree.attrs["importance_ess"] / n
    reff = float(np.clip(efficiency, 1e-3, 1.0))
    parts = []
    done = 0
    for part in log_likelihoods(model, posterior, units):
        parts.append(_loo(part, reff))
        done += part.shape[1]
        tick(0.5 * done / len(units))
    elpd, lppd, khat = map(np.concatenate, zip(*parts, strict=True))
    refitted = np.zeros(len(units), dtype=bool)
    high = np.flatnonzero(khat > trusted(n))
    if not len(high) or not folds:
        return Left(elpd, lppd, khat, refitted)
    rng = np.random.default_rng(settings["seed"])
    # 2 % of the units may be left out together where folds would allow more refits
    together = max(1, int(0.02 * len(units)))
    n_refits = min(folds, ceil(len(high) / together))
    parts_of_high = np.array_split(rng.permutation(high), n_refits)
    for k, fold in enumerate(parts_of_high):
        rows = np.sort(fold)
        elpd[rows] = _refit(duels, model, units, rows, settings)
        tick(0.5 + 0.5 * (k + 1) / n_refits)
    refitted[high] = True
    return Left(elpd, lppd, khat, refitted)


def table_of(found: Mapping[str, Left], times: np.ndarray, draws: int) -> tuple[Any, xr.Dataset]:
    """Return the table of models, best first, and what it is made of by unit."""
    elpds = {name: elpd_of(left, times, draws) for name, left in found.items()}
    compared = _compare(elpds)
    order = list(compared.index)
    rows = []
    for name in order:
        elpd = elpds[name]
        left = found[name]
        row = {
            "elpd": elpd.elpd,
            "elpd_se": elpd.se,
            "difference": float(compared.loc[name, "elpd_diff"]),
            "difference_se": float(compared.loc[name, "dse"]),
            "p_loo": elpd.p,
            "weight": float(compared.loc[name, "weight"]),
            "khat": float(left.khat.max()),
            "n_high_khat": int(times[left.khat > trusted(draws)].sum()),
            "n_refitted": int(times[left.refitted].sum()),
        }
        rows.append(row)
    table = pd.DataFrame(rows, index=pd.Index(order, name="model"))
    dims = ("model", "unit")
    lefts = [found[name] for name in order]
    pointwise = xr.Dataset(
        {
            "elpd": (dims, np.stack([left.elpd for left in lefts])),
            "khat": (dims, np.stack([left.khat for left in lefts])),
            "refitted": (dims, np.stack([left.refitted for left in lefts])),
            "times": ("unit", times),
        },
        coords={"model": order},
    )
    return table, pointwise


def elpd_of(left: Left, times: np.ndarray, draws: int, scored: str = "") -> "ELPDDataLOO":
    """Return predictions of units as ArviZ has them: of each observation that a unit stands for.

    scored: which outcomes are predicted, in words; ArviZ refuses to compare those of others.
    """
    from arviz_stats.utils import ELPDDataLOO

    total = int(times.sum())
    by_observation = np.repeat(left.elpd, times)
    away = by_observation - by_observation.mean()
    lost = (left.lppd - left.elpd) * times
    good = trusted(draws)
    used = left.khat[~left.refitted]
    found = ELPDDataLOO(
        elpd=float(by_observation.sum()),
        se=float(np.sqrt(total * np.mean(away**2))),
        p=float(lost.sum()),
        n_samples=draws,
        n_data_points=total,
        scale="log",
        warning=bool((used > good).any()),
        good_k=good,
        elpd_i=xr.DataArray(by_observation, dims="observation"),
        pareto_k=xr.DataArray(np.repeat(left.khat, times), dims="observation"),
    )
    if scored:
        vars(found)["_kind"] = f"loo of {scored}"  # what ArviZ holds records to be of one kind by
    return found


def trusted(n: int) -> float:
    """Return the k-hat up to which `n` draws can be trusted (Vehtari et al., JMLR 2024)."""
    return float(min(1 - 1 / np.log10(n), 0.7))


def _loo(log_likelihood: np.ndarray, reff: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return elpd, lppd and k-hat of each column of (draws, units), by ArviZ."""
    n = len(log_likelihood)
    lppd = _predictive(log_likelihood)
    elpd = lppd.copy()
    khat = np.full(len(lppd), -np.inf)
    widths = np.ptp(log_likelihood, axis=0)
    varies = widths > 1e-10  # else every draw predicts the same
    if not varies.any():
        return elpd, lppd, khat
    from arviz_stats import loo

    dims = ("chain", "draw", "unit")
    number = (dims[:2], np.arange(n)[None])
    varying = (dims, log_likelihood[None, :, varies])
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"draw_number": number}),
            "log_likelihood": xr.Dataset({"outcome": varying}),
        }
    )
    with ONE_THREAD, warnings.catch_warnings(action="ignore"):  # k-hats are acted upon
        result = loo(tree, pointwise=True, reff=reff)
    elpd[varies] = result.elpd_i.to_numpy()
    khat[varies] = result.pareto_k.to_numpy()
    return elpd, lppd, khat


def _refit(
    duels: Duels, model: "Model", units: Units, rows: np.ndarray, settings: Mapping[str, Any]
) -> np.ndarray:
    """Return the log predictive density of the units at `rows` by a fit without them."""
    with ONE_THREAD, unwarned():
        # Two chains of a refit: what it is for is a mean, which the fit's chains checked
        tree = fit(
            without(duels, units, rows),
            model,
            settings["method"],
            draws=settings["draws"],
            seed=settings["seed"],
            chains=2,
            log_likelihood=False,
            clusters=False,
        )
    posterior = tree.duel.posterior("model")
    parts: list[np.ndarray] = []
    for k in map(int, rows):
        one = units.take(k, k + 1)
        parts += map(_predictive, log_likelihoods(model, posterior, one))
    return np.concatenate(parts)


def _predictive(log_likelihood: np.ndarray) -> np.ndarray:
    """Return the log predictive density of each unit, of (draws, units)."""
    total = logsumexp(log_likelihood, axis=0)
    return total - np.log(len(log_likelihood))


def _compare(elpds: Mapping[str, Any]) -> Any:
    """Return ArviZ's comparison: differences from the best model and stacking weights."""
    if len(elpds) == 1:
        alone = {"elpd_diff": 0.0, "dse": 0.0, "weight": 1.0}
        return pd.DataFrame(alone, index=list(elpds))
    from arviz_stats import compare

    with ONE_THREAD, warnings.catch_warnings(action="ignore"):  # k-hats stand in the table
        return compare(dict(elpds), method="stacking", round_to="none")
