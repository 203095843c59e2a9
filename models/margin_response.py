"""What the models of margins share: settings, priors, the likelihood's frame, pairs.

Their data are the cells of :mod:`bayesduel.models.margin_cells`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models import scores

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = [
    "check_flags",
    "check_unit",
    "coords",
    "corrected",
    "drawn_statistics",
    "latents",
    "noise",
    "of_pairs",
    "outcomes",
    "pair_place",
    "pooled",
    "positive",
    "preference",
    "register",
    "squares",
    "start",
]

STATISTICS = ("mean_left", "mean_right", "scatter")


def check_unit(unit: float | None) -> None:
    """Raise unless `unit` is None (taken from the log) or a positive finite number."""
    if unit is None:
        return
    if isinstance(unit, bool) or not isinstance(unit, int | float):
        raise TypeError(f"unit should be None or a number, got {unit!r}")
    if not 0 < unit < np.inf:
        raise ValueError(f"unit should be a positive finite number, got {unit}")


def check_flags(model: Any, *names: str) -> None:
    """Raise unless these fields of `model` are True or False."""
    for name in names:
        if not isinstance(getattr(model, name), bool):
            raise TypeError(f"{name} should be True or False, got {getattr(model, name)!r}")


def register(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Register `arrays` as ``pm.Data`` of the model in context, by name."""
    import pymc as pm

    dims: dict[str, Any] = {"margins": ("cell", "statistic"), "unit": None}
    return {name: pm.Data(name, a, dims=dims.get(name, ("cell",))) for name, a in arrays.items()}


def coords(duels: "Duels", n_cells: int) -> dict[str, Any]:
    """Return the coordinates of a model of the margins of `duels`."""
    return {
        "arm": list(duels.arms),
        "opponent": list(duels.arms),
        "cell": np.arange(n_cells),
        "statistic": list(STATISTICS),
        "free": np.arange(duels.n_arms - 1),
    }


def latents(scale: float | None, unit: Any, order_effect: bool, *, centred: bool) -> Any:
    """Add scores and order effect to the model in context; return (score, order or 0)."""
    import pymc as pm

    score = scores.scores(scale, unit, centred=centred)
    if not order_effect:
        return score, 0.0
    flat = scale is not None and np.isinf(scale)
    return score, pm.Flat("order") if flat else pm.Normal("order", 0.0, unit)


def positive(name: str, middle: Any, spread: float, *, dims: Any = None) -> Any:
    """Add a positive parameter to the model in context, log-normal about `middle`."""
    import pymc as pm
    import pytensor.tensor as pt

    return pm.LogNormal(name, pt.log(middle), spread, dims=dims)


def noise(variances: str, unit: Any, data: Mapping[str, Any], *, flat: bool) -> Any:
    """Add the noise to the model in context; return the variance of a margin of each cell."""
    import pymc as pm
    import pytensor.tensor as pt

    if variances == "arm":
        each = positive("noise", unit / np.sqrt(2.0), 1.0, dims="arm")
        return each[data["first"]] ** 2 + each[data["second"]] ** 2
    if not flat:
        return positive("noise", unit, 1.0) ** 2 + 0.0 * data["n"]
    value = pm.HalfFlat("noise")
    pm.Potential("noise_flat", -pt.log(value))  # flat in the logarithm
    return value**2 + 0.0 * data["n"]


def outcomes(
    eta: Any,
    order: Any,
    variance: Any,
    shape: Any,
    data: Mapping[str, Any],
    density: Any,
    draw: Any,
) -> None:
    """Add the margins of cells with linear predictor `eta` to the model in context."""
    import pymc as pm
    import pytensor.tensor as pt

    pm.CustomDist(
        scores.outcome_name,
        eta,
        pt.as_tensor(order),
        variance,
        pt.as_tensor(shape),
        data["n"],
        data["n_left"],
        logp=density,
        random=draw,
        signature="(),(),(),(),(),()->(3)",
        observed=data["margins"],
        dims=("cell", "statistic"),
    )


def start(
    hypers: tuple[str, ...], duels: "Duels", unit: float, variances: str, known: Mapping[str, float]
) -> np.ndarray:
    """Return the logarithms of hyperparameters to start a search from, shape (q,)."""
    inner = [known.get(name, unit) for name in hypers[:-1]]
    last = [unit - np.log(2.0) / 2] * duels.n_arms if variances == "arm" else [unit]
    return np.array([*inner, *last], dtype=float)


def preference(model: Any, posterior: Mapping[str, Any]) -> np.ndarray:
    """Return P, shape (..., K, K), of a model's chances to win, with sides even."""
    n_arms = np.shape(posterior["score"])[-1]
    first, second = (i.ravel() for i in np.indices((n_arms, n_arms)))
    win = model.outcome_probabilities(posterior, first, second)["win"]
    return win.reshape(*win.shape[:-1], n_arms, n_arms)


def corrected(stats: Any, order: Any) -> tuple[Any, Any, Any]:
    """Return the sides' mean margins without the effect of order, and the scatter."""
    return stats[..., 0] - order, stats[..., 1] + order, stats[..., 2]


def squares(stats: Any, eta: Any, order: Any, n: Any, n_left: Any) -> Any:
    """Return the sum of squares of a cell's margins about their expectation."""
    left, right, scatter = corrected(stats, order)
    return scatter + n_left * (left - eta) ** 2 + (n - n_left) * (right - eta) ** 2


def pooled(stats: Any, order: Any, n: Any, n_left: Any) -> tuple[Any, Any]:
    """Return the mean of a cell's margins without the effect of order, and the squares about it."""
    left, right, scatter = corrected(stats, order)
    share = n_left / n
    mean = share * left + (1 - share) * right
    return mean, scatter + n * share * (1 - share) * (left - right) ** 2


def drawn_statistics(
    eta: Any, order: Any, variance: Any, n: Any, n_left: Any, rng: np.random.Generator
) -> np.ndarray:
    """Draw the statistics of cells of normal margins, shape (cells, 3)."""
    sides = np.stack([n_left, n - n_left], axis=-1)
    middle = np.stack([eta + order, eta - order], axis=-1)
    spread = np.sqrt(variance[..., None] / np.maximum(sides, 1.0))
    means = np.where(sides > 0, rng.normal(middle, spread), 0.0)
    freedom = np.maximum(sides - 1, 0.0).sum(axis=-1)
    scatter = np.where(freedom > 0, variance * rng.chisquare(np.maximum(freedom, 1.0)), 0.0)
    return np.concatenate([means, scatter[..., None]], axis=-1)


def pair_place(first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return the place of pairs, in either order, among all pairs of ``triu_indices(K, 1)``."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    low = low.astype(np.int64)
    return low * n_arms - low * (low + 1) // 2 + high - low - 1


def of_pairs(values: np.ndarray, left: np.ndarray, right: np.ndarray, n_arms: int) -> np.ndarray:
    """Return each pair's entry of `values` (..., all pairs), (..., n); 0 for an arm itself."""
    place = pair_place(left, right, n_arms)
    return np.where(left == right, 0.0, values[..., np.where(left == right, 0, place)])
