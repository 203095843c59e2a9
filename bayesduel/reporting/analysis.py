"""Everything a report tells of one log, computed once."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.criticism.calibration import Calibration
    from bayesduel.criticism.check import Check
    from bayesduel.data.duels import Duels
    from bayesduel.data.health_report import Health
    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.margins import MarginAnalysis

__all__ = ["FREE_ARMS", "Analysis", "analyse", "log_of"]

FREE_ARMS = 60  # up to as many arms, winners are also told without assuming a ranking
FREE_DRAWS = 2000
TAUGHT = 5  # pairs that would teach most


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """What a report tells of one log.

    Attributes
    ----------
    duels, health, fit, winners
        The log, its health, its fit and the winners of that.
    free
        Winners under a preference matrix, which need not be transitive; None where the model
        is one itself, or where `free_reason` says why there are none.
    free_reason
        Why `free` is None, or "".
    free_unit
        What `free` takes for one duel: "duel", or the majority verdict of a unit of repeated
        votes, since its pairs know no clusters.
    check
        Whether a ranking explains the log (a quick check: no models are compared).
    calibration
        Held-out calibration, or None where `calibration_reason` says why there is none.
    calibration_reason
        Why `calibration` is None, or "".
    margins
        By how much duels were won, where the log tells and `margins_reason` does not say why
        not.
    margins_reason
        Why `margins` is None though there are some, or "".
    pairs
        The pairs that would teach most.
    warnings
        (name, words) of every warning raised on the way.
    """

    duels: "Duels"
    health: "Health"
    fit: "xr.DataTree"
    winners: "Winners"
    free: "Winners | None"
    free_reason: str
    free_unit: str
    check: "Check"
    calibration: "Calibration | None"
    calibration_reason: str
    margins: "MarginAnalysis | None"
    margins_reason: str
    pairs: "pd.DataFrame"
    warnings: tuple[tuple[str, str], ...]


def analyse(
    duels: "Duels",
    fit: "xr.DataTree | None" = None,
    *,
    model: Any = "bradley-terry",
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    rope: float = 0.02,
    confidence: float = 0.95,
    step: Callable[[str], None] = lambda name: None,
) -> Analysis:
    """Return everything a report tells of `duels`.

    Parameters
    ----------
    duels
        The log.
    fit
        A fit of it; made here if None, as `model`, `method`, `draws` and `seed` say.
    model, method, draws, seed
        As in :func:`bayesduel.fit`.
    rope, confidence
        As in :func:`bayesduel.winners`.
    step
        Called with the name of each step before it begins.
    """
    from bayesduel.criticism.calibration import held_out
    from bayesduel.criticism.check import check as check_log
    from bayesduel.data.health import health as health_of
    from bayesduel.data.majority import one_verdict_per_unit, repeated_role
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.posterior.draws import model_of
    from bayesduel.posterior.information_gain import next_pairs
    from bayesduel.posterior.winners import winners
    from bayesduel.reporting.margins import analyse_margins

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        step("checking the log")
        health = health_of(duels)
        if fit is None:
            step("fitting")
            options = {} if draws is None else {"draws": draws}
            fit = fit_model(duels, model, method, seed=seed, **options)  # type: ignore[arg-type]
        step("holding elections")
        found = winners(fit, rope=rope, confidence=confidence)
    told = tuple(dict.fromkeys((w.category.__name__, str(w.message)) for w in caught))
    for category, words in {(w.category, str(w.message)) for w in caught}:
        warnings.warn(words, category, stacklevel=2)

    model = model_of(fit)
    with warnings.catch_warnings():  # the log's warnings have been given once
        warnings.simplefilter("ignore", UserWarning)
        free, free_reason, free_unit = None, "", "duel"
        agree = model.criteria_agree
        if agree and duels.n_arms > FREE_ARMS:
            free_reason = (
                f"With more than {FREE_ARMS} arms this is left to a fit of its own "
                "(--model preference-matrix)."
            )
        elif agree and duels.n_arms > 2:
            step("fitting without a ranking assumed")
            role = repeated_role(duels)  # its pairs know no clusters: one verdict a unit instead
            units = duels if role is None else one_verdict_per_unit(duels, role)
            if role is not None:
                free_unit = f"majority verdict of each pair and {role}"
            loose = fit_model(units, "preference-matrix", draws=FREE_DRAWS, seed=seed)
            free = winners(loose, rope=rope, confidence=confidence)
        step("checking transitivity")
        check = check_log(duels, quick=True, seed=seed)
        step("predicting held-out duels")
        calibration, calibration_reason = None, ""
        try:
            calibration = held_out(duels, model, seed=seed)
        except ValueError as error:
            calibration_reason = f"Not this log: {error}."
        step("weighing margins")
        margins, margins_reason = analyse_margins(duels, fit, seed)
        step("choosing pairs to ask")
        pairs = next_pairs(fit, TAUGHT, rope=rope, confidence=confidence)
    return Analysis(
        duels=duels,
        health=health,
        fit=fit,
        winners=found,
        free=free,
        free_reason=free_reason,
        free_unit=free_unit,
        check=check,
        calibration=calibration,
        calibration_reason=calibration_reason,
        margins=margins,
        margins_reason=margins_reason,
        pairs=pairs,
        warnings=told,
    )


def log_of(fit: "xr.DataTree") -> "Duels":
    """Return the log that a fit was made of, as its tallies.

    Judges, groups, times and margins are not in a fit, so not in this log either.

    Raises
    ------
    TypeError, ValueError
        If `fit` is not what :func:`bayesduel.fit` returned.
    """
    from dataclasses import replace

    from bayesduel.data.duels import Duels

    if "constant_data" not in fit or "wins" not in fit["constant_data"]:
        raise ValueError("fit should be what bayesduel.fit returned, got a tree without its wins")
    data = fit["constant_data"].dataset
    arms = [str(a) for a in data["arm"].values]
    log = Duels.from_wins(data["wins"].values, arms, ties=data["ties"].values)
    return replace(
        log, read_summary=replace(log.read_summary, source=str(fit.attrs.get("source", "a fit")))
    )
