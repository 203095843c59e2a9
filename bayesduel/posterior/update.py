"""A fit brought up to date: today's duels join those that yesterday's fit was made of.

The counts of both are added, and Newton's method starts at yesterday's mode. The answer is that of
a fit of all duels.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.coding import check_coding, reading_of
from bayesduel.data.read.duels import log_in
from bayesduel.data.votes import Ballots, Cells, ReadSummary, fingerprint, fingerprint_of_votes
from bayesduel.inference.clusters import clusterings
from bayesduel.inference.default_model import TIES
from bayesduel.inference.fit import fitted
from bayesduel.models.model import Model
from bayesduel.posterior.draws import check_fit, check_met
from bayesduel.posterior.estimand import same_estimand
from bayesduel.system.arguments import by_reader, check_log
from bayesduel.system.options import Method
from bayesduel.system.warnings import BayesduelWarning, warn
from bayesduel.text import count, percent

__all__ = ["AddedBeforeWarning", "beyond_counts", "log_of", "update"]

# Constant data of a fit whose model reads nothing but counts by pair.
COUNTS = {
    "members",
    "first",
    "second",
    "n",
    "wins",
    "ties",
    "first_wins",
    "second_wins",
    "cell_ties",
}


class AddedBeforeWarning(BayesduelWarning):
    """New duels are the same, row by row, as a batch that the fit has already."""


def update(
    fit: xr.DataTree,
    new_duels: Duels,
    *,
    duels: Any = None,
    method: Method = "auto",
    draws: int | None = None,
    chains: int = 4,
    seed: int | None = None,
    log_likelihood: bool | None = None,
    progress: Callable[[float], None] | None = None,
) -> xr.DataTree:
    """Return the fit of all duels: those of `fit` and `new_duels`.

    It equals ``bayesduel.fit`` of all duels with the same arguments, up to the tolerance of
    Newton's method, which starts at the mode of `fit`. New arms may occur. A model with
    several learned scales (effects by group or by judge), or one that is not fitted by Laplace's
    method, is fitted anew, and ``method_reason`` says so. Of a :func:`bayesduel.estimand` the
    answers stay about the same duels.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit`, or this function, returned.
    new_duels
        The duels to add, or the rankings where `fit` is of rankings, none of which `fit` knows. Or
        a path or a frame, which is read as the log of `fit` was.
    duels
        The log that `fit` was made of, or a path or a frame of it. Default: its counts, which the
        fit holds; they do not suffice where the model reads judges, categories, margins or
        covariates, or where standard errors are cluster-robust.
    method, draws, chains, seed, log_likelihood, progress
        As in :func:`bayesduel.fit`; `seed` is by default that of `fit`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `new_duels` are of a file that was added before and
        holds the same, the logs have different columns, `duels` is needed and missing or not that
        of `fit`, or the coding of `fit` reads outcomes of `new_duels`
        otherwise than they were read (``read_duels(..., like=fit)`` reads them alike).

    Warns
    -----
    BayesduelWarning
        If the log has ties enough for a model with ties only with `new_duels`: the model is kept.
    AddedBeforeWarning
        If `new_duels` are the same, row by row, as the log of `fit` or as duels that were added to
        it: they are added all the same.

    Examples
    --------
    >>> duels = bd.datasets.load("citations")
    >>> fit = bd.update(bd.fit(duels[:6], "bradley-terry"), duels[6:])
    >>> fit.duel.arms
    ('Biometrika', 'Comm Statist', 'JASA', 'JRSS-B')
    """
    check_fit(fit)
    what = fit.duel.model.log_type
    kind = Rankings if what == "rankings" else Duels
    if not isinstance(new_duels, Duels | Rankings):
        new_duels = log_in(new_duels, like=fit)
    check_log(new_duels, kind, "new_duels")
    if duels is not None:
        duels = log_in(duels, like=fit)
        check_log(duels, kind)
    if isinstance(new_duels, Duels):
        check_coding(new_duels, reading_of(fit), "new_duels")
    added = _added(fit, new_duels)
    fingerprint_of_new = fingerprint_of_votes(new_duels)
    model = fit.duel.asked
    known = fit.attrs.get(f"n_{what}")
    if duels is None:
        duels = _from_counts(fit, new_duels)
        new_duels = _counts_alone(new_duels)
    elif len(duels) != known:
        raise ValueError(
            f"{by_reader('duels', '--earlier')} should be the log that was fitted, of {known} "
            f"{what}, got a log of {len(duels)}"
        )
    batches: list[str] = json.loads(fit.attrs.get("batches", "[]"))  # an earlier version has none
    if fingerprint_of_new in batches:
        _warn_of_same(new_duels)
    log: Any = duels
    log = log.join(new_duels)
    tree = fitted(
        log,
        model,
        method,
        draws=draws,
        chains=chains,
        seed=int(fit.attrs["seed"]) if seed is None else seed,
        log_likelihood=log_likelihood,
        progress=progress,
        near=_modes(fit, log.arms),
    )
    _warn_of_ties(duels, log, tree.duel.model)
    tree.attrs["added"] = json.dumps(added)
    tree.attrs["batches"] = json.dumps([*batches, fingerprint_of_new])
    warm = (
        tree.attrs["method"] == "laplace"
        and bool(model.why_not("conjugate"))
        and len(model.scales) < 2
    )
    start = "Newton's method started at the earlier mode" if warm else "fitted anew"
    tree.attrs["method_reason"] = f"{tree.attrs['method_reason']}; updated: {start}"
    return same_estimand(tree, fit)


def _warn_of_ties(earlier: Any, log: Any, model: Model) -> None:
    """Warn where new duels bring ties for which the default model would have an outcome."""
    if not isinstance(log, Duels) or model.response.outcome != "win":
        return
    before = earlier.n_ties / max(earlier.n_duels, 1)
    now = log.n_ties / max(log.n_duels, 1)
    if before <= TIES < now:
        warn(
            f"with the new duels {percent(now)} % are ties (before: {percent(before)} %). The "
            f"model {model.name} is kept, in which a tie counts half a win. A fit of all duels has "
            "ties as an outcome by default (davidson)"
        )


def _added(fit: xr.DataTree, new_duels: Duels | Rankings) -> list[str]:
    """Return the fingerprints of the files that a fit is of, with that of new duels.

    Raises ValueError if they are of a file that was added before and holds the same.
    """
    before: list[str] = json.loads(fit.attrs.get("added", "[]"))  # an earlier version has none
    summary = new_duels.read_summary
    if not summary.files:
        return before
    new = fingerprint(new_duels)
    if new in before:
        what = _counted(new_duels)
        raise ValueError(
            f"{summary.source} should hold new votes, but this fit has its {what} already. "
            "If they are new votes that look the same, give the file another name"
        )
    return [*before, new]


def _warn_of_same(new_duels: Duels | Rankings) -> None:
    """Warn that a fit has votes that are the same as the new ones, row by row."""
    warn(
        f"the new {_counted(new_duels)} are the same, row by row, as a batch that this fit has "
        "already. They are added all the same. If they are the same votes, keep the fit before "
        "this update. If they are new votes that look the same, nothing is to do",
        AddedBeforeWarning,
    )


def _counted(log: Duels | Rankings) -> str:
    unit = "ranking" if isinstance(log, Rankings) else "duel"
    return count(len(log), unit)


def log_of(fit: xr.DataTree) -> Any:
    """Return the log that a fit was made of, as its tallies, or its rankings.

    A fit has no judges, groups, times and margins, so this log has none either.
    """
    if "constant_data" in fit and "ranking_of_entry" in fit["constant_data"]:
        known: Any = fit["constant_data"].dataset
        return Rankings(
            arms=tuple(str(a) for a in known["arm"].values),
            ranking=known["ranking_of_entry"].values,
            arm=known["arm_of_entry"].values,
            place=np.asarray(fit["observed_data"]["place"]),
            votes=Ballots(weight=known["weight"].values),
            read_summary=ReadSummary(
                source=str(fit.attrs["source"]),
                reading=reading_of(fit),
                understood=fit.duel.reading,
            ),
        )
    check_met(fit)
    if "constant_data" not in fit or not {"wins", "cell_ties"} & set(fit["constant_data"]):
        raise ValueError("fit should be what bayesduel.fit returned, got a tree without its wins")
    data = fit["constant_data"].dataset
    arms = [str(a) for a in data["arm"].values]
    if "first_wins" not in data:
        ties = data["ties"].values
        log = Duels.from_wins(data["wins"].values, arms, ties=ties)
    else:
        names = ("first", "second", "first_wins", "second_wins", "cell_ties")
        kinds = (np.int32, np.int32, np.int64, np.int64, np.int64)
        columns = []
        for name, kind in zip(names, kinds, strict=True):
            columns.append(data[name].values.astype(kind))
        ordered = fit.duel.model.terms.reads_order  # then the first of a cell was left
        cells = Cells(*columns)
        log = Duels(arms=tuple(arms), cells=cells, ordered=ordered, teams=fit.duel.teams)
    source = str(fit.attrs.get("source", "a fit"))
    summary = replace(
        log.read_summary, source=source, reading=reading_of(fit), understood=fit.duel.reading
    )
    return replace(log, read_summary=summary)


def beyond_counts(fit: xr.DataTree) -> str:
    """Return what of the log of a fit is more than the counts that it holds, as a clause, or ""."""
    model = fit.duel.model
    ranked = model.log_type == "rankings"
    lost = model.terms.reads_order and "first_wins" not in fit["constant_data"]
    reasons = {
        "reads who was left": lost,  # of an earlier version
        "reads margins or grades": not ranked and not model.response.counts_add_up,
        "reads columns of the votes": not ranked and {*fit["constant_data"].data_vars} - COUNTS,
        "is of soft votes or sampling weights": not fit.attrs.get("plain", 1),
    }
    for reason, holds in reasons.items():
        if holds:
            return reason
    return ""


def _from_counts(fit: xr.DataTree, new_duels: Duels | Rankings) -> Any:
    """Return the log of a fit by its counts, with the tie rule of `new_duels`."""
    reason = beyond_counts(fit)
    repeated = json.loads(fit.attrs.get("clusters_repeated", "{}"))
    if not reason and repeated:
        reason = "has cluster-robust standard errors"
    shared = {} if isinstance(new_duels, Rankings) else clusterings(new_duels)
    why = ""
    if shared:
        why = f"the new duels have several votes by {' and '.join(shared)}"
    if reason:
        why = f"the fit ({fit.attrs['model']}) {reason}"
    if why:
        raise ValueError(
            f"the earlier log is needed too, because {why}: "
            f"give {by_reader('its file or its duels as duels=', 'its file by --earlier LOG')}"
        )
    log = log_of(fit)
    if isinstance(new_duels, Rankings):
        return log
    return replace(log, tie_rule=new_duels.tie_rule)


def _counts_alone[Log: Duels | Rankings](log: Log) -> Log:
    """Return new duels without the columns of their votes, which a log of counts has not."""
    if isinstance(log, Rankings) or not log.plain:
        return log
    return replace(log, votes=None)


def _modes(fit: xr.DataTree, arms: tuple[str, ...]) -> dict[str, np.ndarray] | None:
    """Return the mode of each parameter by name, that of a new arm being 0; None of no mode."""
    if "laplace" not in fit:
        return None
    group = fit["laplace"].dataset
    modes = {}
    for key, mode in group.data_vars.items():
        if not str(key).endswith("_mode"):
            continue
        if "arm" in mode.dims:
            mode = mode.reindex(arm=list(arms), fill_value=0.0)
        name = str(key).removesuffix("_mode")
        modes[name] = np.asarray(mode.values, dtype=float)
    return modes
