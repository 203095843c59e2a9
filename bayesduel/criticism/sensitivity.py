"""How much a posterior depends on its prior and on the log, by power-scaling."""

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.inference.datatree import BY_CELL
from bayesduel.posterior.draws import check_fit
from bayesduel.system.arguments import listed, real, shown_value
from bayesduel.text import join

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["sensitivity"]


def sensitivity(
    fit: xr.DataTree,
    var_names: "Sequence[str] | None" = None,
    *,
    threshold: float = 0.05,
    prior: Any = None,
) -> pd.DataFrame:
    """Return how much each parameter moves as the prior or the likelihood counts for more or less.

    Prior and likelihood are raised to powers near 1, and the draws reweighted: nothing is fitted
    again. The prior is that of learned scales, of the response's own numbers and of coefficients
    with a fixed deviation (group ``log_prior`` of a fit).

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned, with its log likelihood.
    var_names
        Parameters to tell of. Default: all that mean something one by one.
    threshold
        Sensitivity from which it is worth a look.
    prior
        Names in ``log_prior`` whose priors are scaled. Default: all, together.

    Returns
    -------
    One row a parameter (of arrays: an entry): ``prior`` and ``likelihood`` (the distance between
    the posterior's distribution functions, for doubling the power) and ``diagnosis``: a check mark;
    "potential strong prior / weak likelihood" (the prior decides, where the log says little); or
    "potential prior-data conflict" (both have a say, and differ). ``attrs["sentence"]`` says it in
    one line. A log with few duels is sensitive to the prior of the scale: that is no fault.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the fit has no proper prior or no log likelihood.

    References
    ----------
    Kallioinen, Paananen, Bürkner & Vehtari, "Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling", Statistics and Computing 2024; ``arviz.psense_summary``.

    Examples
    --------
    >>> bd.sensitivity(bd.fit(bd.datasets.load("tennis1990"))).round(2)
                        prior  likelihood                      diagnosis
    score[Graf]          0.01        0.15                              ✓
    score[Navratilova]   0.00        0.05                              ✓
    score[Sabatini]      0.01        0.08                              ✓
    score[Sanchez]       0.01        0.15                              ✓
    score[Seles]         0.01        0.08                              ✓
    scale                0.08        0.08  potential prior-data conflict
    """
    from arviz_stats import psense_summary

    check_fit(fit)
    real(threshold, "threshold")
    if "log_prior" not in fit:
        why = "without log_prior (a fit of an earlier version: fit it again)"
        if fit.duel.model.terms.flat:
            why = "whose prior is flat"
        raise ValueError(
            f"fit should have a prior that is not flat and can be scaled, got one of "
            f"{fit.attrs['model']} {why}"
        )
    kept = [name for name in ("log_likelihood", BY_CELL) if name in fit]
    if not kept:
        raise ValueError(
            "the fit has no log likelihood: fit again with fit(..., log_likelihood=True)"
        )
    likelihood = kept[0]
    hidden = {name for part in fit.duel.model.terms for name in part.unidentified}
    posterior = fit["posterior"].data_vars
    known = [str(name) for name in posterior if name not in hidden]
    asked = _names_among(var_names, "var_names", known)
    scaled = [str(name) for name in fit["log_prior"]]
    priors = _names_among(prior, "prior", scaled)
    logging.getLogger("arviz_stats.psense").setLevel(logging.ERROR)  # the sentence says it
    groups = {
        "posterior": _labelled(fit.duel.sampled),  # of which prior and likelihood are parts
        "log_prior": fit["log_prior"].to_dataset(),
        "log_likelihood": fit[likelihood].to_dataset(),
    }
    tree = xr.DataTree.from_dict(groups)
    table = pd.concat(  # of several, ArviZ would label some entries by others of their array
        psense_summary(
            tree, var_names=[name], threshold=threshold, prior_var_names=priors, round_to=6
        )
        for name in asked
    )
    table.attrs["sentence"] = _sentence(table, threshold)
    return table


def _names_among(given: Any, argument: str, allowed: list[str]) -> list[str]:
    """Return the names that were given, all that are allowed where none were.

    Raises ValueError if the list is empty or one is not allowed.
    """
    if given is None:
        return allowed
    names = [str(name) for name in listed(given, argument)]
    if not names:
        raise ValueError(f"{argument} should have at least one name, got none")
    for name in names:
        if name not in allowed:
            known = join(allowed, quote=True)
            raise ValueError(f"{argument} should be among {known}, got {shown_value(name)}")
    return names


def _labelled(posterior: xr.Dataset) -> xr.Dataset:
    """Return a posterior whose pairs are labelled along their dimension, by index coordinates."""
    if "pair_first" in posterior.coords:
        first = posterior["pair_first"].values
        second = posterior["pair_second"].values
        labels = [f"{one} - {other}" for one, other in zip(first, second, strict=True)]
        posterior = posterior.assign_coords(pair=labels)
    return posterior.drop_vars(["pair_first", "pair_second"], errors="ignore")


def _sentence(table: pd.DataFrame, threshold: float) -> str:
    """Return in words which parameters depend on the prior."""
    flagged = table[np.asarray(table["prior"]) >= threshold]
    if flagged.empty:
        return (
            f"No parameter is sensitive to the prior (power-scaling below {threshold:g} for all "
            f"{len(table)})."
        )
    worst = flagged.sort_values("prior", ascending=False)
    priors = worst["prior"].items()
    named = [f"{name} ({share:.2f})" for name, share in priors]
    conflict = int(worst["diagnosis"].str.contains("conflict").sum())
    against = f", {conflict} of them in conflict with the log" if conflict else ""
    return (
        f"{len(flagged)} of {len(table)} parameters are sensitive to the prior "
        f"(power-scaling of at least {threshold:g}{against}): {join(named, 5)}."
    )
