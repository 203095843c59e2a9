"""By how much: what the report tells of the margins of a log."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.intervals import eti
from bayesduel.text import number_with_interval

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.criticism.posterior_predictive import MarginCheck
    from bayesduel.data.duels import Duels

__all__ = ["MarginAnalysis", "analyse_margins", "margin_part"]

MOST_ARMS = 300  # beyond, a model of margins is left to a fit of its own
RESIDUAL_ARMS = 60  # up to as many arms, pairs may have residuals of their own
DRAWS = 2000
LISTED = 10  # arms whose scores are listed, and pairs that are farthest off


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginAnalysis:
    """What a report tells of margins.

    Attributes
    ----------
    fit
        Of a model of margins.
    check
        Its residuals against replicated ones.
    perturbed
        A fit with residuals of pairs, or None where there would be none to see.
    """

    fit: "xr.DataTree"
    check: "MarginCheck"
    perturbed: "xr.DataTree | None"


def analyse_margins(
    duels: "Duels", fit: "xr.DataTree", seed: int = 0
) -> tuple[MarginAnalysis | None, str]:
    """Return what a report tells of the margins of a log, or None and why not.

    Parameters
    ----------
    duels
        The log.
    fit
        The report's fit: it is the one told of, if it is of a model of margins.
    seed
        Whole number.
    """
    from bayesduel.criticism.posterior_predictive import check_margins
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.models import OrderEffect, PerturbedThurstone, ThurstoneScore
    from bayesduel.posterior.draws import model_of

    if duels.votes is None or duels.votes.margin is None:
        return None, ""
    if duels.n_arms > MOST_ARMS:
        return None, (
            f"With more than {MOST_ARMS} arms margins are left to a fit of their own "
            "(--model thurstone-score)."
        )
    with warnings.catch_warnings():  # the log's warnings have been given once
        warnings.simplefilter("ignore", UserWarning)
        try:
            own = model_of(fit)
            if own.outcome != "margin":
                own = OrderEffect(ThurstoneScore())
                fit = fit_model(duels, own, draws=DRAWS, seed=seed, log_likelihood=False)
            perturbed = None
            if duels.n_arms <= RESIDUAL_ARMS and own.ranks_by_score:
                loose = (
                    OrderEffect(PerturbedThurstone()) if own.reads_order else PerturbedThurstone()
                )
                if (duels.pairs().first_wins.size < duels.n_duels) and duels.n_arms > 2:
                    perturbed = fit_model(
                        duels, loose, draws=DRAWS, seed=seed, log_likelihood=False
                    )
        except ValueError as error:
            return None, f"Not this log: {error}."
    return MarginAnalysis(fit=fit, check=check_margins(fit, seed=seed), perturbed=perturbed), ""


def margin_part(a: MarginAnalysis, order: np.ndarray) -> dict[str, Any]:
    """Return what the template needs to tell of margins.

    Parameters
    ----------
    a
        The analysis.
    order
        Indices of the arms in the order of the report's ranking.
    """
    posterior = a.fit["posterior"]
    score = posterior["score"].to_numpy().reshape(-1, posterior.sizes["arm"])
    labels = [str(arm) for arm in posterior["arm"].to_numpy()]
    place = np.empty(len(labels), dtype=int)
    place[np.asarray(order)] = 1 + np.arange(len(labels))
    best = np.argsort(-score.mean(axis=0), kind="stable")[:LISTED]
    low, high = eti(np.ascontiguousarray(score.T), 0.95)
    listed = [
        {
            "arm": labels[k],
            "place": int(place[k]),
            "score": number_with_interval(score[:, k].mean(), low[k], high[k]),
        }
        for k in best
    ]
    pairs = [
        {
            "pair": f"{row['first']} – {row['second']}",
            "duels": f"{row['duels']:,}",
            "off": f"{row['off']:+.2g}",
            "residual": f"{row['residual']:+.1f}",
        }
        for row in a.check.pairs.head(5).to_dict("records")
    ]
    least = 1 / (1 + a.check.n_draws)
    checks = [
        {
            "check": name,
            "observed": f"{row['observed']:.3g}",
            "expected": f"{row['expected']:.3g}",
            "p": f"{row['p_value']:.2g}" if row["share"] > least else f"\u2264 {2 * least:.1g}",
            "failed": name in a.check.failed,
        }
        for name, row in a.check.table.iterrows()
    ]
    return {
        "sentence": _sentence(a),
        "residual_words": _residual_words(a),
        "parameters": _parameters(a),
        "scores": listed,
        "check": a.check.sentence,
        "checks": checks,
        "pairs": pairs,
    }


def _sentence(a: MarginAnalysis) -> str:
    posterior = a.fit["posterior"]
    if "order" not in posterior:
        return "Each margin is taken as the difference of two scores, plus noise."
    order = posterior["order"].to_numpy().ravel()
    low, high = (float(end[0]) for end in eti(order[None], 0.95))
    words = (
        "Each margin is taken as the difference of two scores, plus the advantage of the left "
        "side (home, white, first shown), plus noise. That advantage is "
        f"{number_with_interval(order.mean(), low, high)} (95 % interval)"
    )
    if low <= 0 <= high:
        return f"{words}: there may be none."
    return f"{words}: the {'left' if low > 0 else 'right'} side is the better one to be on."


def _residual_words(a: MarginAnalysis) -> str:
    """Tell how far from transitive the margins are."""
    fit = a.fit if "residual_scale" in a.fit["posterior"] else a.perturbed
    if fit is None:
        return ""
    d = fit["posterior"]["residual_scale"].to_numpy().ravel()
    low, high = (float(end[0]) for end in eti(d[None], 0.95))
    score = fit["posterior"]["score"].to_numpy()
    spread = float(np.sqrt(2) * score.std(axis=-1, ddof=1).mean())
    return (
        "How far from transitive is it? If every pair may be off its scores by a residual of its "
        "own, these have a standard deviation of "
        f"{number_with_interval(d.mean(), low, high)}, against {spread:.2g} for the differences of "
        "scores."
    )


NAMES = {
    "scale": "spread of the scores (prior deviation)",
    "noise": "noise of one margin (standard deviation)",
    "order": "advantage of the left side",
    "residual_scale": "spread of the residuals of pairs",
    "shrinkage": "shrinkage of the variances of pairs, in duels",
    "degrees": "degrees of freedom of the noise",
}


def _parameters(a: MarginAnalysis) -> list[tuple[str, str]]:
    posterior, rows = a.fit["posterior"], []
    for name, words in NAMES.items():
        if name not in posterior or posterior[name].ndim != 2:
            continue
        values = posterior[name].to_numpy().ravel()
        low, high = (float(end[0]) for end in eti(values[None], 0.95))
        rows.append((words, number_with_interval(values.mean(), low, high)))
    return rows
