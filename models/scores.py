"""What all score models share: arms with one strength each, and the cells they are seen in.

An arm's score is its strength. Only differences of scores are ever observed, so scores are
centred: they live in the (K - 1)-dimensional space of vectors that sum to zero, reached from
K - 1 free numbers by an isometry. Independent normal scores, once centred, are independent
normal free numbers of the same standard deviation.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.cells import Seen, tallied

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = [
    "cells",
    "check_scale",
    "coords",
    "difference",
    "differences",
    "drawn_points",
    "matrix",
    "outcome_name",
    "outcomes",
    "preference",
    "register",
    "scores",
    "win_and_loss",
]

outcome_name = "outcome"

# Draws of `preference` are part of a model (and of a fit) while 4,000 of them fit in 64 MB.
PREFERENCE_ARMS = 44


def check_scale(scale: float | None) -> None:
    """Raise unless `scale` is None (learned), a positive number, or infinity (flat)."""
    if scale is None:
        return
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        raise TypeError(f"scale should be None, a number or numpy.inf, got {scale!r}")
    if not scale > 0:
        raise ValueError(f"scale should be > 0 (or None to learn it), got {scale}")


def coords(duels: "Duels") -> dict[str, Any]:
    """Return the coordinates of a model of `duels`: arm, opponent, cell, and free numbers."""
    pairs = duels.pairs()
    return {
        "arm": list(duels.arms),
        "opponent": list(duels.arms),
        "cell": np.arange(len(pairs.first)),
        "free": np.arange(duels.n_arms - 1),
    }


def cells(
    duels: "Duels", *, ties: bool = False, ordered: bool = False, seen: Seen | None = None
) -> dict[str, np.ndarray]:
    """Return the tallied cells of `duels`: one an unordered pair that met.

    With ``ordered``, one an ordered pair, so that first is left and second is right; with
    ``seen``, those cells, with their columns.

    ``first`` and ``second`` (arm indices) and ``n`` duels. Without a tie outcome
    (``ties=False``) ``points`` are the first arm's wins, a tie counting half a win each; with
    one, ``counts`` holds (first wins, second wins, ties). ``log_coefficient`` is the logarithm
    of the number of orders of those outcomes, so that the likelihood is that of the counts.
    """
    from scipy.special import gammaln

    columns, counts = (seen or tallied(duels, ordered=ordered))[:2]
    if not ties:
        counts = counts[:, :2] + counts[:, 2:] / 2
    n = counts.sum(axis=-1)
    return {
        **(columns if seen else {name: columns[name] for name in ("first", "second")}),
        "n": n,
        "log_coefficient": gammaln(n + 1) - gammaln(counts + 1).sum(axis=-1),
        **({"counts": counts} if ties else {"points": counts[:, 0]}),
    }


def register(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Register `arrays` as ``pm.Data`` of the model in context, by name."""
    import pymc as pm

    dims = {"counts": ("cell", "result"), "design": ("cell", "attribute")}
    return {name: pm.Data(name, a, dims=dims.get(name, ("cell",))) for name, a in arrays.items()}


def scores(scale: float | None, typical: float, *, centred: bool) -> Any:
    """Add the arms' scores to the model in context and return them, shape (arm,).

    Parameters
    ----------
    scale
        Prior standard deviation of a score: None (learned, HalfNormal(`typical`)), a
        number, or infinity (flat).
    typical
        Scale of the prior of a learned scale.
    centred
        With a learned scale: sample the scores themselves (mixes well when data are
        plentiful) or the scores divided by their scale (mixes well when data are scarce).
        The posterior is the same.
    """
    import pymc as pm

    if scale is not None and np.isinf(scale):
        free = pm.Flat("score_free", dims="free")
    elif scale is not None:
        free = pm.Normal("score_free", 0.0, float(scale), dims="free")
    else:
        spread = pm.HalfNormal("scale", typical)
        if centred:
            free = pm.Normal("score_free", 0.0, spread, dims="free")
        else:
            free = spread * pm.Normal("score_standard", 0.0, 1.0, dims="free")
    return pm.Deterministic("score", centre(free), dims="arm")


def centre(free: Any) -> Any:
    """Map K - 1 free numbers (..., K - 1) to K that sum to zero, keeping lengths; tensors."""
    import pytensor.tensor as pt

    total = free.sum(axis=-1, keepdims=True)
    n_arms = free.shape[-1] + 1.0
    root = pt.sqrt(n_arms)
    return pt.concatenate([free - total / (n_arms + root), -total / root], axis=-1)


def differences(score: Any, data: dict[str, Any]) -> Any:
    """Return the linear predictor: first's score minus second's, shape (cell,), named eta."""
    eta = score[data["first"]] - score[data["second"]]
    eta.name = "eta"
    return eta


def difference(parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
    """Return first's score minus second's in each cell, shape (..., cells).

    Serves tensors of a model (one draw) and arrays of draws alike.
    """
    score = parameters["score"]
    return score[..., cells["first"]] - score[..., cells["second"]]


def outcomes(eta: Any, data: Mapping[str, Any], log_likelihood: Any, draw: Any) -> None:
    """Add the binary outcomes of cells with linear predictor `eta` to the model in context."""
    import pymc as pm

    pm.CustomDist(
        outcome_name,
        eta,
        data["n"],
        data["log_coefficient"],
        logp=log_likelihood,
        random=draw,
        observed=data["points"],
        dims="cell",
    )


def drawn_points(chance: np.ndarray, n: np.ndarray, rng: np.random.Generator, size: Any) -> Any:
    """Draw the first arms' wins of cells of `n` duels."""
    return rng.binomial(n.astype(np.int64), chance, size=size).astype(float)


def matrix(posterior: Mapping[str, Any], link: Any) -> np.ndarray:
    """Return P, shape (..., K, K), of a link function and ``posterior["score"]``, (..., K)."""
    score = np.asarray(posterior["score"])
    return link(score[..., :, None] - score[..., None, :])


def win_and_loss(
    posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray, link: Any
) -> dict[str, np.ndarray]:
    """Return ``win`` and ``loss`` of `left` against `right`, shape (..., n), of a link function."""
    score = np.asarray(posterior["score"])
    win = link(score[..., left] - score[..., right])
    return {"win": win, "loss": 1.0 - win}


def preference(duels: "Duels", score: Any, link: Any) -> None:
    """Add ``preference[i, j] = link(score_i - score_j)`` where its draws fit."""
    import pymc as pm

    if duels.n_arms <= PREFERENCE_ARMS:
        difference = score[:, None] - score[None, :]
        pm.Deterministic("preference", link(difference), dims=("arm", "opponent"))
