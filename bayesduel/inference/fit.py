"""Fit a model to a log: ``fit(duels, model, method)`` to a tree that ArviZ takes as it is."""

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.health import components, maximum_likelihood_exists
from bayesduel.data.pulls import Pulls
from bayesduel.inference import sample as trees
from bayesduel.inference.datatree import assemble
from bayesduel.inference.psis import TRUSTED
from bayesduel.inference.pulls import fit_pulls, only_nuts
from bayesduel.inference.sandwich import cluster_errors, is_flat, too_few
from bayesduel.models.layers import Layer

if TYPE_CHECKING:
    from bayesduel.inference.sample import Sampled

__all__ = ["UncertifiedWarning", "fit", "model_named"]

Method = Literal["auto", "laplace", "nuts"]
DRAWS = 4000


class UncertifiedWarning(UserWarning):
    """The Laplace approximation was asked for and its certificate does not hold."""


def fit(
    duels: Duels | Pulls,
    model: Any = "bradley-terry",
    method: Method = "auto",
    *,
    draws: int = DRAWS,
    chains: int = 4,
    seed: int = 0,
    log_likelihood: bool | None = None,
    clusters: bool = True,
    progress: Callable[[float], None] | None = None,
) -> xr.DataTree:
    """Return the posterior of `model` given `duels`.

    Parameters
    ----------
    duels
        The log; for :class:`bayesduel.models.LogisticAttributes` one of pulls.
    model
        A model of :mod:`bayesduel.models`, or its name: "bradley-terry", "thurstone",
        "davidson", "preference-matrix", "thurstone-score" and "perturbed-thurstone" (these two of
        logs with margins). A model of attributes
        (:class:`bayesduel.models.AttributeDuels`) brings its table of items.
    method
        "laplace": mode and curvature, corrected and certified by Pareto-smoothed importance
        sampling. "nuts": Hamiltonian Monte Carlo by nutpie. "auto": Laplace where its
        certificate holds (k-hat < 0.7), NUTS where it does not; the attribute
        ``method_reason`` says which and why.
    draws
        Posterior draws in all, divided evenly among `chains`.
    chains
        Chains of NUTS; Laplace's independent draws are laid out alike.
    seed
        Whole number; the same seed gives the same draws.
    log_likelihood
        Whether to keep the log likelihood of every draw and cell. Default: where it fits in
        128 MB.
    clusters
        Whether to compute cluster-robust standard errors where the log repeats judges, or
        pairs within a group (score models only). The attribute ``clusters_left_out`` names
        clusterings with too few clusters to tell.
    progress
        Called with the share of the work done, from 0 to 1.

    Returns
    -------
    A tree with groups ``posterior`` (``score`` (chain, draw, arm), centred; ``preference``
    (chain, draw, arm, opponent) where it fits in 64 MB and else derived by
    :func:`bayesduel.preference_draws`; the model's parameters), ``sample_stats``,
    ``observed_data``, ``constant_data``, ``log_likelihood`` (by cell: an unordered pair that
    met), ``laplace`` (mode, covariance, grid of the scale) and ``clusters``; a model of
    attributes adds ``items`` and, for ``clusters``, has ``parameter_clusters``. Attributes:
    model, method, method_reason, seed, versions, khat and more.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; under a flat prior also if the log does not
        determine the scores (several components, or arms that never lose or win).

    Warns
    -----
    DisconnectedWarning
        If the log has several components: across them only the prior speaks.
    ThinDataWarning
        If there are few duels for the number of arms.
    UncertifiedWarning
        If ``method="laplace"`` and k-hat is 0.7 or more.
    """
    model = _check(duels, model, method, draws, chains, seed)
    by_attributes, layered = hasattr(model, "items"), isinstance(model, Layer)
    rng = np.random.default_rng(seed)
    per_chain = -(-draws // chains)
    if isinstance(duels, Pulls):
        draw = partial(
            _sample, model, duels, method, per_chain, chains, seed, rng, progress=progress
        )
        return fit_pulls(duels, model, draw, (chains, per_chain), seed, log_likelihood, _versions())
    _warn(duels, by_attributes)
    if hasattr(model, "check"):
        model.check(duels)
    elif layered:
        model = model.settled(duels)
    elif is_flat(model):
        _refuse_flat(duels)
    keep = _keeps_likelihood(duels, model, per_chain * chains, log_likelihood)
    sampled, used, reason = _sample(
        model, duels, method, per_chain, chains, seed, rng, keep, progress
    )
    attrs = {
        "model": model.name,
        "model_settings": json.dumps(model.settings if by_attributes or layered else asdict(model)),
        "link": model.link,
        "method": used,
        "method_reason": reason,
        "seed": seed,
        "khat": sampled.khat,
        "importance_ess": sampled.effective,
        "versions": json.dumps(_versions()),
        "source": duels.read_summary.source,
        "n_duels": duels.n_duels,
        "tie_rule": _tie_words(duels, model),
        "components": json.dumps(
            # Attributes are told across components too.
            [list(duels.arms)] if by_attributes else [list(c) for c in components(duels)]
        ),
    }
    tree = assemble(duels, model, sampled, per_chain, chains, attrs)
    clusters = clusters and model.link != "margin" and not (layered or only_nuts(model))
    if clusters and (by_attributes or "score" in tree["posterior"]):
        tree.attrs["clusters_left_out"] = json.dumps(too_few(duels, model))
    if by_attributes:
        tree["items"] = xr.DataTree(model.items.to_dataset())
    if clusters and by_attributes:
        from bayesduel.inference.coefficient_sandwich import robust_covariance

        robust = robust_covariance(duels, model, sampled)
        if robust is not None:
            tree["parameter_clusters"] = xr.DataTree(robust)
    elif clusters and "score" in tree["posterior"]:
        robust = cluster_errors(duels, model, sampled, seed)
        if robust is not None:
            tree["clusters"] = xr.DataTree(robust)
    if progress is not None:
        progress(1.0)
    return tree


def _sample(
    model: Any,
    duels: Any,
    method: Method,
    per_chain: int,
    chains: int,
    seed: int,
    rng: np.random.Generator,
    keep: bool,
    progress: Callable[[float], None] | None,
) -> "tuple[Sampled, str, str]":
    """Sample by `method`; return what was sampled, the method used and why."""
    n = per_chain * chains
    reason = "asked for"
    if isinstance(model, Layer) and not model.linear and method != "nuts":
        if method == "laplace":
            raise ValueError(f"method should be 'nuts' or 'auto' for {model.name}, got 'laplace'")
        method, reason = "nuts", "its predictor is not linear in its parameters"
    if why := only_nuts(model, method):
        method, reason = "nuts", why
    if method != "nuts":
        try:
            sampled = trees.laplace(model, duels, n, rng, keep, progress)
        except FloatingPointError as error:
            if method == "laplace":
                raise ValueError(f"the Laplace approximation does not exist: {error}") from error
            reason = f"Laplace failed: {error}"
        else:
            words = f"k-hat {sampled.khat:.2f}"
            if method == "laplace":
                if not sampled.khat < TRUSTED:
                    warnings.warn(
                        f"the Laplace draws are not certified: {words} is not below {TRUSTED}; "
                        "use method='auto' or 'nuts'",
                        UncertifiedWarning,
                        stacklevel=3,
                    )
                return sampled, "laplace", f"asked for; {words}"
            if sampled.khat < TRUSTED:
                return sampled, "laplace", f"its certificate holds: {words} < {TRUSTED}"
            reason = f"Laplace's certificate does not hold: {words} >= {TRUSTED}"
    return trees.nuts(model, duels, per_chain, chains, seed, keep, progress), "nuts", reason


def _check(duels: Any, model: Any, method: Any, draws: Any, chains: Any, seed: Any) -> Any:
    model = model_named(model)
    kind = Pulls if model.name == "logistic-attributes" else Duels
    if not isinstance(duels, kind):
        what = f"bayesduel.{kind.__name__} (see bayesduel.read_{kind.__name__.lower()})"
        raise TypeError(f"duels should be a {what}, got {type(duels).__name__}")
    if method not in ("auto", "laplace", "nuts"):
        raise ValueError(f"method should be 'auto', 'laplace' or 'nuts', got {method!r}")
    for name, value, least in (("draws", draws, 100), ("chains", chains, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} should be a whole number, got {value!r}")
        if value < least:
            raise ValueError(f"{name} should be at least {least}, got {value}")
    return model


def model_named(model: Any) -> Any:
    """Return the model of that name, or `model` itself if it is one; raise if it is neither."""
    if isinstance(model, str):
        from bayesduel.models import named

        model = named(model)
    if not hasattr(model, "build"):
        raise TypeError(f"model should be a name or a model with build(), got {model!r}")
    return model


def _warn(duels: Duels, by_attributes: bool) -> None:
    """Emit the log's warnings that bear on a ranking."""
    from bayesduel.data.health import DisconnectedWarning, ThinDataWarning

    parts = components(duels)
    if by_attributes:
        return
    if len(parts) > 1:
        shown = "; ".join(", ".join(p[:5]) + (", ..." if len(p) > 5 else "") for p in parts[:6])
        more = f"; and {len(parts) - 6} more" if len(parts) > 6 else ""
        warnings.warn(
            f"the log has {len(parts)} components that never met ({shown}{more}): across them "
            "only the prior speaks",
            DisconnectedWarning,
            stacklevel=3,
        )
    if duels.n_duels < 5 * (duels.n_arms - 1):
        some = "1 duel is" if duels.n_duels == 1 else f"{duels.n_duels} duels are"
        warnings.warn(
            f"{some} few for {duels.n_arms} arms: expect wide intervals that lean on the prior",
            ThinDataWarning,
            stacklevel=3,
        )


def _refuse_flat(duels: Duels) -> None:
    """Raise where maximum likelihood does not exist (Ford's condition)."""
    parts = components(duels)
    if len(parts) > 1:
        raise ValueError(
            f"scale should be finite for a log of {len(parts)} components that never met ("
            f"{'; '.join(', '.join(p[:3]) for p in parts[:3])}, ...): a flat prior cannot rank them"
        )
    if not maximum_likelihood_exists(duels):
        summary = duels.summary()
        unbeaten = list(summary.index[(summary["losses"] + summary["ties"]) == 0])
        beaten = list(summary.index[(summary["wins"] + summary["ties"]) == 0])
        raise ValueError(
            "scale should be finite for this log: wins do not lead from every arm to every other, "
            "so that under a flat prior some scores run to infinity "
            f"(never lost: {unbeaten[:5]}, never won: {beaten[:5]})"
        )


def _keeps_likelihood(duels: Duels, model: Any, draws: int, wanted: bool | None) -> bool:
    if wanted is not None:
        return bool(wanted)
    seen = model.seen(duels).counts if hasattr(model, "seen") else duels.pairs().first
    return draws * len(seen) * 8 <= 128 * 2**20


def _tie_words(duels: Duels, model: Any) -> str:
    if not duels.n_ties:
        return "no ties" if duels.tie_rule != "drop" else "ties left out"
    if model.link == "margin":
        return "a tie is a margin of 0"
    if model.tie_outcome:
        return "a tie is an outcome"
    return "a tie counts half a win for each side"


def _versions() -> dict[str, str]:
    packages = ("bayesduel", "pymc", "pytensor", "nutpie", "arviz", "numpy", "scipy", "xarray")
    return {name: version(name) for name in packages}
