"""Draws known by hand, and the fits that have them."""

import json

import numpy as np
import xarray as xr

from bayesduel.models import BradleyTerry, PreferenceMatrix
from bayesduel.posterior.draws import Draws


def matrix_draws(P: np.ndarray) -> Draws:
    """Return draws of a model without scores whose matrices are P, shape (n, K, K)."""
    n_arms = P.shape[-1]
    theta = P[:, *np.triu_indices(n_arms, 1)]
    return Draws(PreferenceMatrix(), {"theta": theta}, np.arange(n_arms), n_arms)


def score_draws(score: np.ndarray, model=None, **more: np.ndarray) -> Draws:
    n_arms = score.shape[-1]
    posterior = {"score": score, **more}
    return Draws(model or BradleyTerry(), posterior, np.arange(n_arms), n_arms)


def tree(draws: Draws, labels=None, components=None, ess=None) -> xr.DataTree:
    """Return the fit that has these draws, by the agreed schema."""
    labels = [*"abcdefghijklmnop"][: draws.n_arms] if labels is None else list(labels)
    dims = {"score": ("arm",), "theta": ("pair",)}
    posterior = {
        name: (("chain", "draw", *dims.get(name, ())), values[None])
        for name, values in draws.posterior.items()
    }
    fit = xr.DataTree.from_dict({"posterior": xr.Dataset(posterior, coords={"arm": labels})})
    fit.attrs.update(
        model=draws.model.name,
        model_settings="{}",
        method="laplace",
        importance_ess=float(ess or draws.n_draws),
        source="hand",
        components=json.dumps(components or [labels]),
    )
    return fit


def beta_draws(wins: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of P, each pair Beta(1 + wins, 1 + losses), shape (n, K, K)."""
    P = np.triu(rng.beta(1 + wins, 1 + wins.T, size=(n, *wins.shape)), 1)
    return P + np.tril(1 - np.swapaxes(P, -1, -2), -1) + np.eye(len(wins)) / 2


CYCLE = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])
ORDERED = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]])
LEVEL = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.6], [0.1, 0.4, 0.5]])  # 0 and 1 tie exactly
LAST = np.array([[0.5, 0.4, 0.4], [0.6, 0.5, 0.4], [0.6, 0.6, 0.5]])  # 2 wins
