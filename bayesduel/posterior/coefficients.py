"""Coefficients of attributes on the scale of the table, and predictions for new items."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.intervals import check_ci_prob, eti
from bayesduel.models import DuelCovariates
from bayesduel.posterior.draws import check_fit, model_of, posterior_draws
from bayesduel.system.arguments import check_seed, shown_value

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.data.items import Items

__all__ = ["coefficients", "explained_share", "parameter_draws", "predict_items"]

EQUAL = 1e-9  # utilities that differ by less are equal: of items with the same attributes


def coefficients(
    fit: "xr.DataTree", ci_prob: float = 0.95, *, covariance: str = "auto", judge: str | None = None
) -> "pd.DataFrame":
    """Return what each attribute counts for, one row a coefficient.

    Parameters
    ----------
    fit
        A fit with covariates: of items (``BradleyTerry(Covariates(items))``), of the duel
        (``Scores() + Covariates([columns])``), or of pulls (``LogisticAttributes``).
    ci_prob
        Probability of the intervals, in (0, 1).
    covariance
        "model" (every vote independent), "judge", "group" or "judge and group" (cluster-robust),
        or "auto" (see :func:`bayesduel.winners`); ``attrs["covariance"]`` says which.
    judge
        Whose coefficients, in a fit with a judge effect. Default: the average judge's.

    Returns
    -------
    In the order of the table, indexed by attribute: ``coefficient`` (posterior mean, in the unit
    of the scores (``fit.attrs["score_unit"]``) for one unit of the attribute on its original
    scale; for having the level instead of the reference, where it is an indicator), ``lower``,
    ``upper``, ``positive`` (probability that more of it wins more), ``odds_ratio`` (of winning
    against an otherwise equal item, posterior median) with ``_lower``, ``_upper``, ``change`` (of
    the win probability against an otherwise equal item, from one half, for one unit more:
    posterior mean) with ``_lower``, ``_upper``, and ``standard``, ``standard_lower``,
    ``standard_upper``: for one standard deviation (for an indicator the same as ``coefficient``),
    which can be compared. A judge effect adds ``judge_spread`` (posterior median of the standard
    deviation of judges' coefficients, for one unit) with ``_lower``, ``_upper``. An order effect
    is the last row, ``left side``. Of pulls the last row is ``intercept``, an item whose
    attributes are all 0 (under ``standard`` average), and ``change`` is that of the chance to pay.

    Raises
    ------
    TypeError, ValueError
        If `fit` is not a fit of attributes, or another argument is out of its range.
    """
    import pandas as pd

    check_ci_prob(ci_prob)
    draws, used = parameter_draws(fit, covariance, judge)
    standard, units, names, about = _standardised(fit, draws)
    one = standard / units
    if "intercept" in draws:
        items = model_of(fit).terms.items
        assert items is not None
        own = draws["intercept"] - one @ np.array([a.mean for a in items.attributes])
        one = np.column_stack([one, own])
        standard = np.column_stack([standard, draws["intercept"]])
        names.append("intercept")
        about.append(("", "", ""))
    columns: dict[str, Any] = dict(
        zip(("column", "level", "reference"), map(list, zip(*about, strict=True)), strict=True)
    )

    def add(name: str, middle: np.ndarray, values: np.ndarray, prefix: str) -> None:
        columns[name] = middle
        limits = eti(np.ascontiguousarray(values.T), ci_prob)
        columns[f"{prefix}lower"], columns[f"{prefix}upper"] = limits

    add("coefficient", one.mean(axis=0), one, "")
    columns["positive"] = (one > 0).mean(axis=0)
    score = model_of(fit).response.typical_score(one, draws)
    odds = score / (1 - score)
    add("odds_ratio", np.exp(np.median(np.log(odds), axis=0)), odds, "odds_ratio_")
    change = score - 0.5
    add("change", change.mean(axis=0), change, "change_")
    add("standard", standard.mean(axis=0), standard, "standard_")
    if "taste" in draws:  # the spread of judges by attribute
        spread = np.full(one.shape, np.nan)  # the side has none
        n = draws["judge_spread"].shape[1]
        spread[:, :n] = draws["judge_spread"] / units[:n]
        add("judge_spread", np.median(spread, axis=0), spread, "judge_spread_")
    frame = pd.DataFrame(columns, index=pd.Index(names, name="attribute"))
    frame.attrs |= {
        "ci_prob": ci_prob,
        "covariance": used,
        "source": str(fit.attrs.get("source", "")),
    }
    return frame


def _standardised(
    fit: "xr.DataTree", draws: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[str], list[tuple[str, str, str]]]:
    """Return standardised coefficients (draws, n), their units, names, and what they are about."""
    model = model_of(fit)
    parts: list[np.ndarray] = []
    units: list[float] = []
    names: list[str] = []
    about: list[tuple[str, str, str]] = []
    if model.terms.items is not None:
        parts.append(draws["coefficient"])
        units += list(model.terms.items.deviations)
        names += list(model.terms.items.names)
        about += [(a.column, a.level, a.reference) for a in model.terms.items.attributes]
    if (duel := model.terms.find(DuelCovariates)) is not None:
        assert duel.deviations is not None
        parts.append(draws["covariate_effect"] * np.array(duel.deviations))
        units += list(duel.deviations)
        names += list(duel.of)
        about += [(c, "", "") for c in duel.of]
    if "order" in draws:
        parts.append(draws["order"][:, None])
        units.append(1.0)
        names.append("left side")
        about.append(("", "", ""))
    return np.column_stack(parts), np.array(units), names, about


def predict_items(
    fit: "xr.DataTree",
    items: "Items",
    ci_prob: float = 0.95,
    *,
    covariance: str = "auto",
    judge: str | None = None,
    seed: int = 0,
) -> "pd.DataFrame":
    """Return how items would do that need never have duelled, best first.

    Parameters
    ----------
    fit
        A fit whose predictor is ``Covariates(items)``.
    items
        ``read_items(new, like=...)``, in the attributes of the fit. An item is known by its
        attributes alone, whatever its label.
    ci_prob, covariance, judge
        As in :func:`coefficients`.
    seed
        Of what the attributes do not say about each item, drawn from the learned spread.

    Returns
    -------
    Indexed by item: ``win_rate`` (probability of beating an item of the log drawn at random,
    posterior mean) with ``_lower``, ``_upper``, ``beats_best`` (probability that it is better
    than every item of the log) and ``outside`` (how many numeric attributes lie outside the
    range of the table: there the prediction extrapolates).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    import pandas as pd

    from bayesduel.data.items import Items

    check_ci_prob(ci_prob)
    check_seed(seed)
    if not isinstance(items, Items):
        raise TypeError(
            f"items should be what bayesduel.read_items returned, got {shown_value(items)}"
        )
    draws, used = parameter_draws(fit, covariance, judge)
    model = model_of(fit)
    if model.terms.items is None:
        raise ValueError(f"fit should be of a model of items, got {fit.attrs['model']}")
    if items.attributes != model.terms.items.attributes:
        raise ValueError("items should be in the attributes of the fit: read_items(..., like=...)")
    if "intercept" in draws:
        return _chances(draws, model, items, ci_prob)
    rng = np.random.default_rng(seed)
    arms = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    known = draws["coefficient"] @ model.terms.items.matrix(arms).T
    if "effect" in draws:
        known += draws["effect"]
    rows = []
    beyond = _outside(items, model)
    for label, row, outside in zip(items.labels, items.matrix(), beyond, strict=True):
        utility = draws["coefficient"] @ row
        if "effect" in draws:
            utility = utility + draws["effect_scale"] * rng.standard_normal(len(utility))
        rate = model.response.typical_score(utility[:, None] - known, draws).mean(axis=1)
        lower, upper = eti(rate[None, :], ci_prob)
        rows.append(
            {
                "item": label,
                "win_rate": rate.mean(),
                "win_rate_lower": float(lower[0]),
                "win_rate_upper": float(upper[0]),
                "beats_best": float((utility > known.max(axis=1) + EQUAL).mean()),
                "outside": int(outside),
            }
        )
    frame = pd.DataFrame(rows).set_index("item")
    frame.attrs |= {"ci_prob": ci_prob, "covariance": used}
    return frame.sort_values("win_rate", ascending=False, kind="stable")


def _chances(
    draws: dict[str, np.ndarray], model: Any, items: "Items", ci_prob: float
) -> "pd.DataFrame":
    """Return the chance that each item pays, best first."""
    import pandas as pd

    chance = model.chance(draws, items.matrix())
    lower, upper = eti(np.ascontiguousarray(chance.T), ci_prob)
    frame = pd.DataFrame(
        {
            "chance": chance.mean(axis=0),
            "chance_lower": lower,
            "chance_upper": upper,
            "best": np.bincount(chance.argmax(axis=1), minlength=chance.shape[1]) / len(chance),
            "outside": _outside(items, model),
        },
        index=pd.Index(items.labels, name="item"),
    )
    frame.attrs |= {"ci_prob": ci_prob, "covariance": "model"}
    return frame.sort_values("chance", ascending=False, kind="stable")


def _outside(items: "Items", model: Any) -> np.ndarray:
    """Return how many attributes of each item lie outside the range of the table, shape (m,)."""
    low, high = model.terms.items.values.min(axis=0), model.terms.items.values.max(axis=0)
    return ((items.values < low) | (items.values > high)).sum(axis=1)


def explained_share(fit: "xr.DataTree", ci_prob: float = 0.95) -> tuple[float, float, float]:
    """Return the share of the differences between items that their attributes explain.

    One minus the square of the learned spread of what attributes miss over the variance of the
    scores, in each draw: the adjusted R squared of the items. Fitted to noise, many attributes
    would seem to explain much; this share is about 0 then, and draws of it may be negative.

    Returns
    -------
    Posterior mean, lower and upper end.

    Raises
    ------
    TypeError, ValueError
        If `fit` is not a fit of attributes with an item effect.
    """
    draws, _ = parameter_draws(fit, "model")
    if "effect" not in draws:
        raise ValueError(
            "fit should have an item effect: without it the attributes explain everything"
        )
    share = 1 - draws["effect_scale"] ** 2 / draws["score"].var(axis=1, ddof=1)
    lower, upper = eti(share[None, :], ci_prob)
    return float(share.mean()), float(lower[0]), float(upper[0])


def parameter_draws(
    fit: "xr.DataTree", covariance: str = "auto", judge: str | None = None
) -> tuple[dict[str, np.ndarray], str]:
    """Return the draws of a model of attributes, and whose errors they carry.

    As :func:`bayesduel.posterior.draws.posterior_draws`, which says more; with `judge`,
    coefficients are those of that judge.

    Raises
    ------
    KeyError
        If the fit has no such judge; the message names the nearest one.
    TypeError, ValueError
        If `fit` is not a fit of attributes, has no such errors, or no judge effect.
    """
    check_fit(fit)
    if "items" not in fit and "covariate_effect" not in fit["posterior"]:
        raise ValueError(f"fit should be of a model with covariates, got {fit.attrs['model']}")
    draws, used = posterior_draws(fit, covariance)
    if judge is not None:
        if "taste" not in draws:
            raise ValueError(
                f"judge should be None for a fit without JudgeTastes, got {shown_value(judge)}"
            )
        judges = [str(j) for j in fit["posterior"]["judge"].to_numpy()]
        if judge not in judges:
            near = get_close_matches(str(judge), judges, n=1, cutoff=0.0)
            raise KeyError(f"judge {judge!r} is not in the fit; the nearest is {near[0]!r}")
        draws["coefficient"] = draws["coefficient"] + draws["taste"][:, judges.index(judge)]
    return draws, used
