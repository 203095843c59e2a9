"""Fits made by hand, for plots."""

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesduel.posterior.winners import Winners, winners


def winners_of(arms: Sequence[str], noise: float = 0.3, n_draws: int = 400) -> Winners:
    """Return the winners of a fit made by hand: scores with normal noise around a line."""
    rng = np.random.default_rng(0)
    score = np.linspace(2, -2, len(arms)) + noise * rng.normal(size=(n_draws, len(arms)))
    score -= score.mean(1, keepdims=True)
    dims = ("chain", "draw", "arm")
    tree = xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"score": (dims, score[None])}, coords={"arm": list(arms)})}
    )
    tree.attrs.update(
        model="bradley-terry",
        model_settings=json.dumps({"scale": None}),
        method="laplace",
        khat=0.1,
        importance_ess=float(n_draws),
        components=json.dumps([list(arms)]),
    )
    return winners(tree)
