"""Mixtures of fits by stacking weights: draws of P from each fit, in one tree."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.system.arguments import check_seed, whole

__all__ = ["mix"]

LEAST = 100


def mix(
    fits: Mapping[str, xr.DataTree],
    weights: Mapping[str, float],
    *,
    unit: str,
    caution: str,
    draws: int | None,
    seed: int,
    most_bytes: int,
) -> xr.DataTree:
    """Return fits of one log mixed by their weights, both by name, the best first.

    `unit` is what was left out to find the weights, `caution` what they are worth; for the rest
    see ``Comparison.stacked``.
    """
    first = fits[next(iter(weights))]
    n_arms = first["posterior"].sizes["arm"]
    n_pairs = n_arms * (n_arms - 1) // 2
    most = max(f.duel.n_draws for f in fits.values())
    default = max(LEAST, min(most, most_bytes // (8 * n_pairs)))
    n = default if draws is None else whole(draws, "draws", LEAST)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    shares = _shares(weights, n)
    theta = rng.permutation(
        np.concatenate([_theta(fits[name], k, rng) for name, k in shares.items() if k])
    )
    arms = first["posterior"]["arm"].to_numpy()
    i, j = np.triu_indices(n_arms, 1)
    coords = {
        "chain": [0],
        "draw": np.arange(len(theta)),
        "arm": arms,
        "opponent": arms,
        "pair_first": ("pair", arms[i]),
        "pair_second": ("pair", arms[j]),
    }
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"theta": (("chain", "draw", "pair"), theta[None])}, coords=coords
            ),
            "constant_data": first["constant_data"].dataset,
            "observed_data": first["observed_data"].dataset,
        }
    )
    sorted_weights = sorted(weights.items(), key=lambda item: -item[1])
    words = ", ".join(f"{name} {w:.2f}" for name, w in sorted_weights)
    if caution:
        words += f"; {caution}"
    # A mixture is known as well as its parts are, each by its share of the draws.
    known = sum(
        k * min(1.0, fits[name].attrs["importance_ess"] / fits[name].duel.n_draws)
        for name, k in shares.items()
    )
    tree.attrs.update(
        {
            **{k: first.attrs[k] for k in ("source", "n_duels", "components", "versions")},
            "model": "stacked",
            "model_settings": json.dumps({"weights": sorted_weights}),
            "outcome": "win",
            "method": "stacking",
            "method_reason": f"weights by leaving out one {unit} at a time: {words}",
            "seed": seed,
            "khat": float("nan"),
            "importance_ess": float(known),
            "tie_rule": first.attrs["tie_rule"],
            "dependence": json.dumps(_dependence([fits[name] for name, k in shares.items() if k])),
        }
    )
    return tree


def _dependence(fits: list[xr.DataTree]) -> tuple[str, str]:
    """Return what the errors of the parts account for, and why there is no verdict, or ""."""
    from bayesduel.posterior.dependence import dependence_of

    told = [dependence_of(fit, fit.duel.covariance(), "auto") for fit in fits]
    sentences = dict.fromkeys(one.sentence for one in told)
    return " ".join(sentences), next((one.refusal for one in told if one.refusal), "")


def _shares(weights: Mapping[str, float], n: int) -> dict[str, int]:
    """Return whole numbers of draws that sum to `n`, by largest remainders."""
    exact = {name: n * w / sum(weights.values()) for name, w in weights.items()}
    whole = {name: int(v) for name, v in exact.items()}
    by_rest = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_rest[: n - sum(whole.values())]:
        whole[name] += 1
    return whole


def _theta(fit: xr.DataTree, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return `k` draws of P above the diagonal, (k, pairs), without repeats where there are enough.

    Errors are cluster-robust where votes are repeated, as :func:`bayesduel.winners` takes them.
    """
    from bayesduel.posterior.draws import preference_draws

    total = fit.duel.n_draws
    turns, rest = divmod(k, total)
    times = np.full(total, turns) + (rng.permutation(total) < rest)
    rows: list[Any] = []
    start = 0
    for P in preference_draws(fit):
        i, j = np.triu_indices(P.shape[1], 1)
        rows.append(np.repeat(P[:, i, j], times[start : start + len(P)], axis=0))
        start += len(P)
    return np.concatenate(rows)
