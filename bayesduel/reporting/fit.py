"""How a fit was made, and how far it can be trusted: the report's small print."""

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.reporting.analysis import Analysis

__all__ = ["cluster_rows", "cluster_words", "diagnostics", "model_words"]

MODEL_NAMES = {
    "bradley-terry": "Bradley-Terry (one score an arm, on a logit scale)",
    "thurstone": "Thurstone (one score an arm, on a probit scale)",
    "davidson": "Davidson (one score an arm, ties an outcome of their own)",
    "attribute-duels": "attributes (one coefficient an attribute, on a logit scale)",
    "thurstone-score": "Thurstone with margins (one score an arm, in the unit of the margins)",
    "perturbed-thurstone": "Thurstone with margins, and a residual of each pair",
    "preference-matrix": "preference matrix (one probability a pair, no ranking assumed)",
}
METHOD_NAMES = {
    "laplace": "Laplace approximation corrected by importance sampling",
    "nuts": "Hamiltonian Monte Carlo (NUTS)",
}
ROUTES = {"sandwich": "sandwich estimator", "bootstrap": "bootstrap of clusters"}


def model_words(a: "Analysis") -> list[tuple[str, str]]:
    """Return how the fit was made, as (label, words)."""
    attrs, posterior = a.fit.attrs, a.fit["posterior"].dataset
    n = posterior.sizes["chain"] * posterior.sizes["draw"]
    rows = [("model", MODEL_NAMES.get(attrs["model"], attrs["model"]))]
    settings = json.loads(attrs["model_settings"])
    if settings:
        said = ", ".join(f"{k} = {_setting(k, v)}" for k, v in settings.items())
        rows.append(("settings", said))
    for name, values in posterior.data_vars.items():
        if values.ndim == 2:  # a parameter of the whole model
            low, middle, high = np.quantile(values.values, [0.025, 0.5, 0.975])
            rows.append((f"{name}, learned", f"{middle:.2f} [{low:.2f}, {high:.2f}] (95 %)"))
    rows.append(("ties", str(attrs["tie_rule"])))
    rows.append(("method", f"{METHOD_NAMES[attrs['method']]}: {attrs['method_reason']}"))
    rows.append(("draws", f"{n:,} in {posterior.sizes['chain']} chains"))
    rows.append(("seed", str(attrs["seed"])))
    return rows


def diagnostics(a: "Analysis") -> list[dict[str, Any]]:
    """Return the sampler's diagnostics, each with what it should be."""
    import arviz as az

    fit = a.fit
    names = [str(n) for n in fit["posterior"].data_vars if n != "preference"]
    kept = fit["posterior"].dataset[names]
    rhat = _extreme(az.rhat(kept), max)
    bulk = _extreme(az.ess(kept, method="bulk"), min)
    tail = _extreme(az.ess(kept, method="tail"), min)
    n = fit["posterior"].sizes["chain"] * fit["posterior"].sizes["draw"]
    rows = []
    if fit.attrs["method"] == "laplace":
        rows += [
            _diagnostic(
                "Pareto k-hat", f"{fit.attrs['khat']:.2f}", "below 0.7", fit.attrs["khat"] < 0.7
            ),
            _diagnostic(
                "effective draws after importance weighting",
                f"{fit.attrs['importance_ess']:,.0f} of {n:,}",
                "400 or more",
                fit.attrs["importance_ess"] >= 400,
            ),
        ]
    else:
        diverging = int(fit["sample_stats"]["diverging"].sum())
        rows.append(_diagnostic("divergences", f"{diverging}", "0", diverging == 0))
    rows += [
        _diagnostic("largest R-hat", f"{rhat:.3f}", "below 1.01", rhat < 1.01),
        _diagnostic("smallest bulk ESS", f"{bulk:,.0f}", "400 or more", bulk >= 400),
        _diagnostic("smallest tail ESS", f"{tail:,.0f}", "400 or more", tail >= 400),
    ]
    return rows


def cluster_words(a: "Analysis") -> str:
    """Tell which errors the report uses and what they change."""
    used = str(a.winners.attrs["covariance"])
    few = json.loads(a.fit.attrs.get("clusters_left_out", "{}"))
    if reason := a.fit.attrs.get("clusters_reason"):
        return f"Repeated votes are taken as independent: {reason}.{_repeats(a)}"
    left_out = "".join(
        f" Votes are repeated by {name} too, but {n} clusters are too few to tell how they vary:"
        " errors that rest on them would be too small."
        for name, n in few.items()
    )
    if "clusters" not in a.fit:
        return left_out.strip()
    group = a.fit["clusters"].dataset
    parts = []
    for name in group["clustering"].values:
        at = group.sel(clustering=name)
        ratio = at["score_se_cluster"].values / group["score_se"].values
        parts.append(
            f"by {name} ({int(at['n_clusters']):,} clusters, {ROUTES[str(at['route'].values)]}) "
            f"the standard error of a score is {np.median(ratio):.2f} times the model's for the "
            f"median arm, {ratio.min():.2f} to {ratio.max():.2f} over all"
        )
    if used == "model":
        chosen = "No clustering widens the errors, so the report uses the model's own."
    else:
        chosen = f"The report uses the wider ones, by {used}."
    return (
        "The log repeats votes of the same judge, or on the same pair within a group; these are "
        f"not independent. Counted whole, {'; '.join(parts)}. {chosen}{left_out}"
    )


def cluster_rows(a: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return a heading and one row an arm: standard errors before and after."""
    group = a.fit["clusters"].dataset
    names = [str(n) for n in group["clustering"].values]
    head = ["arm", "independent votes", *(f"by {n}" for n in names)]
    rows = []
    for k in a.winners["order"].values:
        after = group["score_se_cluster"].values[:, k]
        values = [float(group["score_se"].values[k]), *map(float, after)]
        rows.append([str(a.winners["arm"].values[k]), *(f"{v:.3f}" for v in values)])
    return head, rows


def _setting(name: str, value: Any) -> Any:
    """Return a setting in words: what None stands for depends on which it is."""
    if value is not None:
        return value
    return {"degrees": "none (normal)", "sparsity": "none", "unit": "from the log"}.get(
        name, "learned"
    )


def _repeats(a: "Analysis") -> str:
    """Tell that a log repeats votes, where it does."""
    from bayesduel.inference.sandwich import clusterings

    found = " and ".join(clusterings(a.duels))
    if not found:
        return ""
    return f" This log repeats votes by {found}, so intervals are too narrow."


def _extreme(values: "xr.Dataset", pick: Callable[[Iterable[float]], float]) -> float:
    """Return the extreme entry of all variables."""
    return pick(pick(v.values.ravel().tolist()) for v in values.data_vars.values())


def _diagnostic(name: str, value: str, wanted: str, good: bool) -> dict[str, Any]:
    return {"name": name, "value": value, "wanted": wanted, "good": bool(good)}
