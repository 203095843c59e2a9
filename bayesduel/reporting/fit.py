"""Report sections: model and diagnostics, cluster-robust standard errors, reproducibility."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.fit import SPARSE
from bayesduel.inference.psis import LEAST, TAIL
from bayesduel.models.settings import settings_from_json
from bayesduel.posterior.dependence import LEAST_DEGREES, clusters_words
from bayesduel.reporting.section import Cell, Section, Table, Text, blocks
from bayesduel.text import join, plural

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.reporting.analysis import Analysis

__all__ = [
    "Diagnostic",
    "diagnostics",
    "errors_section",
    "few_clusters_words",
    "fit_section",
    "reproduce_section",
]

# Arms whose diagnostics are computed, where there are more than this, and deviations by level that
# are looked at. Of 8,143 numbers with 340 independent draws each, the smallest bulk and tail ESS
# are 58 to 138 by three seeds: no sampler could promise 80 of all of them.
MEASURED = 200
METHOD_NAMES = {
    "laplace": "Laplace approximation corrected by importance sampling",
    "nuts": "Hamiltonian Monte Carlo (NUTS)",
    "pymc": "draws of its PyMC model (from_pymc)",
    "variational": "variational Gaussian approximation on the sparse comparison graph",
    "gibbs": "Gibbs sampling with Polya-Gamma variables",
}

Diagnostic = tuple[str, str, str, bool]  # name, value, required value, whether it is met


def fit_section(
    fit: "xr.DataTree", found: Sequence[Diagnostic] | None = None, noun: str = "arm"
) -> Section:
    """Return the section on the model, its sampling, and the diagnostics.

    `found` is what :func:`diagnostics` returned, if it is known; `noun` is what an arm is called.
    """
    checks = Table(
        columns="tntt",
        name="diagnostics",
        heads=("diagnostic", "value", "required", "met"),
        rows=tuple(
            (name, value, wanted, "yes" if good else Cell("no", style="alarm"))
            for name, value, wanted, good in (diagnostics(fit) if found is None else found)
        ),
    )
    body = (Table(columns="ht", rows=tuple(_model_rows(fit, noun))), checks)
    return Section(id="fit", title="Model and diagnostics", body=body)


def diagnostics(fit: "xr.DataTree") -> list[Diagnostic]:
    """Return the diagnostics of a fit, each with the value that is required."""
    if fit.attrs["method"] == "variational":
        return _against_gibbs(fit)
    if fit.attrs["method"] == "laplace":
        return _of_independent_draws(fit)
    return _of_chains(fit)


def errors_section(a: "Analysis") -> Section:
    """Return the section on repeated votes and what they do to standard errors."""
    body = blocks(_cluster_words(a))
    return Section(id="errors", title="Cluster-robust standard errors", body=body)


def few_clusters_words(a: "Analysis") -> str:
    """Return a warning where standard errors rest on too few clusters to be relied on, else ""."""
    used = a.winners.attrs["covariance"]
    degrees = a.winners.attrs["degrees_of_freedom"]
    if used == "model" or degrees >= LEAST_DEGREES:
        return ""
    counts = json.loads(a.fit.attrs["clusters_repeated"])
    lone = json.loads(a.fit.attrs.get("clusters_lone", "{}"))  # an earlier version has none
    role = min((name for name in counts if name in used), key=lambda name: counts[name])
    column = a.health.columns.get(role)
    named = f" (column {column}, guessed)" if role in a.health.guessed else ""
    return (
        f"Standard errors are by {used} and rest on "
        f"{clusters_words(role, counts[role], lone.get(role, 0))}{named}. "
        f"The median {a.noun} has {degrees:.1f} degrees of freedom. With fewer than "
        f"{LEAST_DEGREES}, intervals are rough. Intervals are wide for this reason, and "
        f"more duels with the same {role}s do not make them narrow. If results need to "
        f"hold for these {role}s only, read the log without them (on the command line, "
        f"--{role} none)."
    )


def reproduce_section(seed: int, versions: dict[str, str], command: str | None) -> Section:
    """Return the section on how to make the same numbers again."""
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    words = (
        f"Seed {seed}. Versions: {named}. The same command with the same versions gives the same "
        "numbers."
    )
    body = blocks(Text(command, "code") if command else None, Text(words, "small"))
    return Section(id="reproduce", title="Reproducibility", body=body)


def _of_independent_draws(fit: "xr.DataTree") -> list[Diagnostic]:
    """Return what importance sampling says of draws, which have no chains that could differ."""
    khat = float(fit.attrs["khat"])
    if np.isnan(khat):  # the draws are as they were made: `method_reason` has the numbers
        good = not fit.attrs.get("shortfall")
        said = "met" if good else "not met"
        return [("certificate by Gibbs sampling", said, "met", good)]
    n = fit.duel.n_draws
    effective = float(fit.attrs["importance_ess"])
    in_tail = float(fit.attrs["tail_ess"])
    least = LEAST * TAIL * n
    shown = f"{effective:,.0f} of {n:,}"
    return [
        ("Pareto k-hat", f"{khat:.2f}", "below 0.7", khat < 0.7),
        ("effective draws after importance weighting", shown, "400 or more", effective >= 400),
        (
            "of these in the thinnest tail of a parameter",
            f"{in_tail:,.0f}",
            f"{least:,.0f} or more",
            in_tail >= least,
        ),
    ]


def _of_chains(fit: "xr.DataTree") -> list[Diagnostic]:
    """Return how well chains agree, and how many independent draws theirs are worth."""
    from bayesduel.inference.mixing import bulk_ess, required, rhat, tail_ess

    kept = fit.duel.sampled  # as they were drawn
    wanted = required(fit.duel.n_draws)
    if fit.attrs["method"] in SPARSE and kept.sizes["arm"] > MEASURED:
        kept = kept.isel(arm=np.linspace(0, kept.sizes["arm"] - 1, MEASURED).astype(int))
    flat = {str(n): v.to_numpy().reshape(*v.shape[:2], -1) for n, v in kept.data_vars.items()}
    many = {n for n, v in flat.items() if n.endswith("_deviation") and v.shape[2] > MEASURED}
    of = " of scores and scales" if many else ""
    told = [values for name, values in flat.items() if name not in many]
    draws = np.concatenate(told, axis=2).astype(float)
    largest = float(np.nanmax(rhat(draws)))
    bulk = float(bulk_ess(draws).min())
    tail = float(tail_ess(draws).min())
    enough = f"{wanted.effective:,} or more"
    rows: list[Diagnostic] = []
    if fit.attrs["method"] in ("nuts", "pymc"):
        diverging = int(fit["sample_stats"]["diverging"].sum())
        rows.append(("divergences", f"{diverging}", "0", diverging == 0))
    return [
        *rows,
        (f"largest R-hat{of}", f"{largest:.3f}", f"below {wanted.rhat:g}", largest < wanted.rhat),
        (f"smallest bulk ESS{of}", f"{bulk:,.0f}", enough, bulk >= wanted.effective),
        (f"smallest tail ESS{of}", f"{tail:,.0f}", enough, tail >= wanted.effective),
    ]


def _against_gibbs(fit: "xr.DataTree") -> list[Diagnostic]:
    """Return how far a short Gibbs chain is from a variational fit, whose draws are independent."""
    from bayesduel.inference.polya_gamma_gibbs import ALLOWED

    limits = (
        ("gibbs_shift", "shift of scores, in standard errors", ALLOWED.shift),
        ("gibbs_spread", "relative difference of squared errors", ALLOWED.spread),
        (
            "gibbs_scale_shift",
            "shift of the log scale, in standard deviations",
            ALLOWED.scale_shift,
        ),
    )
    rows = []
    for variable, words, most in limits:
        value = abs(float(fit["laplace"][variable]))
        shown = f"at most {most:g} beyond Monte Carlo error"
        good = value <= most or not fit.attrs.get("shortfall")
        rows.append((f"{words}, against Gibbs sampling", f"{value:.3f}", shown, good))
    return rows


def _model_rows(fit: "xr.DataTree", noun: str) -> list[tuple[str, str]]:
    """Return how the fit was made, as (label, words)."""
    attrs = fit.attrs
    posterior = fit["posterior"].dataset
    n = posterior.sizes["chain"] * posterior.sizes["draw"]
    rows = [("model", fit.duel.model.titled(noun))]
    if "items" in fit:
        rows.append(("predictor", "attributes (one coefficient per attribute)"))
    known = settings_from_json(attrs["model_settings"])
    settings = ", ".join(_settings(known))
    if settings:
        rows.append(("settings", settings))
    if isinstance(known.get("priors", {}).get("score"), dict):  # by label
        told = (
            f"a prior says how far one {noun} is from the others: scores are differences from "
            "their mean, which is taken off after the fit"
        )
        rows.append(("priors of single scores", told))
    for name, values in posterior.data_vars.items():
        if values.ndim == 2:  # a parameter of the whole model
            low, middle, high = np.quantile(values.values, [0.025, 0.5, 0.975])
            rows.append((f"{name}, estimated", f"{middle:.2f} [{low:.2f}, {high:.2f}] (95 %)"))
    return [
        *rows,
        ("ties", fit.duel.model.tie_words(str(attrs["tie_rule"]), noun)),
        ("method", f"{METHOD_NAMES[attrs['method']]}: {attrs['method_reason']}"),
        ("draws", f"{n:,} in {posterior.sizes['chain']} chains"),
        ("seed", str(attrs["seed"])),
    ]


def _settings(settings: dict[str, Any]) -> Iterator[str]:
    """Yield each setting of a model and of its terms, those beside the scores with their name."""
    for name, value in settings.items():
        if name == "terms":
            for given in value:
                term = given["term"]
                own = _settings({n: v for n, v in given.items() if n != "term"})
                yield from own if term == "scores" else (f"{term} {words}" for words in own)
        elif isinstance(value, dict):  # priors by name or label
            for of, one in value.items():
                yield from _settings({f"{name} of {of}": one})
        else:
            yield f"{name} = {_setting(name, value)}"


def _setting(name: str, value: Any) -> Any:
    """Return a setting in words: what None stands for depends on which it is."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is not None:
        return value
    return {"degrees": "none (normal)", "sparsity": "none", "unit": "from the log"}.get(
        name, "estimated"
    )


def _clusters(fit: "xr.DataTree", name: str) -> str:
    """Return how many clusters one clustering has, those that are lone votes apart."""
    n = int(fit["clusters"].dataset.sel(clustering=name)["n_clusters"])
    lone = json.loads(fit.attrs.get("clusters_lone", "{}"))  # an earlier version has none
    return clusters_words(name, n, lone[name]) if name in lone else f"{n:,} clusters"


def _cluster_words(a: "Analysis") -> str:
    """Return which standard errors the report uses, why, and what they change."""
    told = [str(a.winners.attrs["dependence"])]
    if "clusters" in a.fit:
        group = a.fit["clusters"].dataset
        parts = []
        for name in group["clustering"].values:
            at = group.sel(clustering=name)
            ratio = at["score_se_cluster"].values / group["score_se"].values
            parts.append(
                f"by {name} ({_clusters(a.fit, name)}) the standard error of a score is "
                f"{np.median(ratio):.2f} times the model-based one for the median {a.noun}, "
                f"{ratio.min():.2f} to {ratio.max():.2f} over all {plural(a.noun)}, with "
                f"{_degrees(at['score_degrees_cluster'].values)} degrees of freedom"
            )
        told.append(
            "Votes of the same judge, or in the same group, are not independent. Clustered "
            f"{'; '.join(parts)}."
        )
    if a.scores is not None and a.scores_by_robust_errors is not None:
        ratio = _widths(a.scores_by_robust_errors).loc[a.scores.index] / _widths(a.scores)
        effects = join(list(a.fit.duel.model.terms.samples))
        told.append(
            f"In a model without effects by {effects}, with robust errors, the interval of a "
            f"score is {ratio.median():.2f} times as wide for the median {a.noun}, "
            f"{ratio.min():.2f} to {ratio.max():.2f} times over all {plural(a.noun)}."
        )
    return " ".join(told)


def _widths(scores: "pd.DataFrame") -> "pd.Series[float]":
    """Return the width of the interval of each score."""
    return scores["score_upper"] - scores["score_lower"]


def _degrees(values: np.ndarray) -> str:
    """Return the range of degrees of freedom in words."""
    low, high = (f"{v:.1f}" if v < 10 else f"{v:,.0f}" for v in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"
