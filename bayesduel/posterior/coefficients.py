"""Coefficients of terms, attributes on the scale of their table, and predictions for new items."""

from collections.abc import Iterator
from itertools import compress, cycle, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.data.items import Items
from bayesduel.data.read.items import read_items
from bayesduel.intervals import check_ci_prob, with_interval
from bayesduel.models import DuelCovariates, ItemCovariates, Term
from bayesduel.posterior.conditions import ExtrapolationWarning
from bayesduel.posterior.draws import check_fit
from bayesduel.records import printed_tables, section_html
from bayesduel.system.arguments import check_flag, check_seed, did_you_mean, shown_value
from bayesduel.system.options import Decision
from bayesduel.system.warnings import warn
from bayesduel.text import join, screen

__all__ = ["Coefficients", "coefficients", "explained_share", "parameter_draws", "predict_items"]

LABELS = {"order": "side advantage"}  # of coefficients that are numbers, where not their name
COLUMNS = ("term", "kind", "coefficient", "lower", "upper")  # of each table, in this order


class Coefficients(pd.DataFrame):  # type: ignore[misc]  # pandas has no types here
    """A frame of coefficients, which prints as a table of its main columns.

    What is taken from it (rows, columns, a copy) is a plain frame.
    """

    def __repr__(self) -> str:
        if not self._complete:
            return super().__repr__()
        level = 100 * self.attrs["ci_prob"]
        notes = [f"{level:g} % intervals."]
        if self.attrs.get("dependent"):
            notes.insert(0, self.attrs["dependent"])
        if len(self):
            first = str(self.index[0])
            notes.append(f"One row, by its name: .loc[{first!r}]")
        columns = ", ".join(map(str, self.columns))
        notes.append(f"Columns of this pandas.DataFrame: {columns}")
        tables = [*printed_tables(self), ""]
        return screen((), tables, notes, whole=".to_string()")

    def _repr_html_(self) -> str:
        if not self._complete:
            return super()._repr_html_()
        columns = f"<summary>All columns</summary>{super()._repr_html_()}"
        return f"{section_html(self)}<details>{columns}</details>"

    @property
    def _complete(self) -> bool:
        """Whether nothing that its table shows was taken away in place."""
        has_columns = {*COLUMNS} <= {*self.columns}
        return has_columns and "ci_prob" in self.attrs


def coefficients(
    fit: xr.DataTree,
    ci_prob: float = Decision.ci_prob,
    *,
    covariance: str = "auto",
    judge: str | None = None,
    levels: bool = False,
) -> pd.DataFrame:
    """Return what the terms of a model count for, one row a coefficient or learned number.

    Parameters
    ----------
    fit
        A fit of any model.
    ci_prob
        Probability of the intervals, in (0, 1).
    covariance
        "model" (every vote independent), "judge", "group" or "judge and group" (cluster-robust),
        or "auto" (see :func:`bayesduel.winners`); ``attrs["covariance"]`` says which.
    judge
        Whose coefficients, in a fit with a judge effect. Default: the average judge's.
    levels
        Whether to add a row for each level and arm of ``RandomEffects`` and ``CategoryEffects``,
        and for other coefficients with several dimensions.

    Returns
    -------
    Indexed by the name that the printed table shows: of an attribute or a covariate as its table
    calls it, with the level of an indicator ("type: chat"); "side advantage"; of a learned number
    as the group ``posterior`` calls it ("scale"); ": " and the level follow where there is one for
    each. ``list(found.index)`` has all.
    Columns: ``term`` and ``kind``; ``coefficient`` (posterior mean) with ``lower`` and
    ``upper``. Kinds: "effect" (of an attribute, a covariate, the side advantage, in the unit of the
    scores (``fit.attrs["score_unit"]``) for one unit of it on its original scale; for having the
    level instead of the reference, where it is an indicator), "parameter" (a spread, a drift, the
    noise, the tendency to tie: what the terms and the response learn beside effects) and, with
    `levels`, "level". Effects have further columns: ``positive`` (probability that more of it wins
    more), ``odds_ratio`` (of winning against an otherwise equal item, posterior median) with
    ``_lower``, ``_upper``, ``change`` (of the win probability against an otherwise equal item, from
    one half, for one unit more: posterior mean) with ``_lower``, ``_upper``, and ``standard``,
    ``standard_lower``, ``standard_upper``: for one standard deviation (for an indicator the same as
    ``coefficient``), which can be compared. A judge effect adds ``judge_spread`` (posterior median
    of the standard deviation of judges' coefficients, for one unit) with ``_lower``, ``_upper``. Of
    pulls there is an ``intercept``, an item whose attributes are all 0 (under ``standard``
    average), and ``change`` is that of the chance to pay. ``attrs["dependent"]`` says which
    attributes follow from others, so that the log cannot tell their effects apart.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.SideAdvantage()
    >>> fit = bd.fit(bd.datasets.load("baseball1987"), model)
    >>> found = bd.coefficients(fit)
    >>> found["coefficient"].round(1).to_dict()
    {'side advantage': 0.3, 'scale': 0.6}
    >>> float(found.loc["side advantage", "odds_ratio"].round(1))
    1.3
    """
    check_ci_prob(ci_prob)
    check_flag(levels, "levels")
    draws, used = parameter_draws(fit, covariance, judge)
    parts = []
    effects = _effects(fit, draws, ci_prob)
    if effects is not None:
        parts.append(effects)
    numbers = [*_learned(fit, draws)]
    if levels:
        numbers += _levels(fit, draws)
    rows = []
    for term, kind, name, values in numbers:
        interval = with_interval(name, values, ci_prob)
        rows.append((name, term, kind, *interval.values()))
    if rows or effects is None:
        further = pd.DataFrame(rows, columns=["name", *COLUMNS])
        parts.append(further.set_index("name"))
    frame = pd.concat(parts)
    others = [column for column in frame if column not in COLUMNS]
    in_order = frame[[*COLUMNS, *others]]
    found = Coefficients(in_order)
    items = fit.duel.model.terms.items
    found.attrs |= {
        "dependent": items.dependence(fit.duel.arms) if items else "",
        "ci_prob": ci_prob,
        "covariance": used,
        "source": str(fit.attrs.get("source", "")),
    }
    return found


def _effects(fit: xr.DataTree, draws: dict[str, np.ndarray], ci_prob: float) -> pd.DataFrame | None:
    """Return the rows of effects, or None where there is none."""
    model = fit.duel.model
    standard, effects = _standardised(fit, draws)
    if not effects:
        return None
    units = np.array([effect.unit for effect in effects])
    one = standard / units
    if "intercept" in draws:
        items = model.terms.items
        assert items is not None
        means = np.array([attribute.mean for attribute in items.attributes])
        intercept = draws["intercept"]
        of_zero = intercept - one @ means
        one = np.column_stack([one, of_zero])
        standard = np.column_stack([standard, intercept])
        effects.append(_Effect("intercept", "intercept"))
    described = pd.DataFrame(effects)
    columns: dict[str, Any] = {"term": described["term"], "kind": "effect"}
    for name in ("column", "level", "reference"):
        columns[name] = described[name]
    found = with_interval("coefficient", one, ci_prob)
    columns["coefficient"] = found["coefficient"]
    columns["lower"] = found["coefficient_lower"]
    columns["upper"] = found["coefficient_upper"]
    columns["positive"] = (one > 0).mean(axis=0)
    score = model.typical_score(one, draws)
    rounding = np.finfo(float).eps  # beyond which a probability of rough errors is 0 or 1
    won = np.clip(score, rounding, 1)
    lost = np.clip(1 - score, rounding, 1)
    odds = won / lost
    log_odds = np.median(np.log(odds), axis=0)
    middle = np.exp(log_odds)
    columns |= with_interval("odds_ratio", odds, ci_prob, middle)
    columns |= with_interval("change", score - 0.5, ci_prob)
    columns |= with_interval("standard", standard, ci_prob)
    if "taste" in draws:  # the spread of judges by attribute
        spread = np.full(one.shape, np.nan)  # the side and covariates of the duel have none
        key = model.terms.find(ItemCovariates).key
        of_items = (described["term"] == key).to_numpy()
        own_units = units[of_items]
        spread[:, of_items] = draws["judge_spread"] / own_units
        middle = np.median(spread, axis=0)
        columns |= with_interval("judge_spread", spread, ci_prob, middle)
    names = pd.Index(described["name"], name="name")
    return pd.DataFrame(columns).set_axis(names)


class _Effect(NamedTuple):
    """What an effect is of: its term, its unit, and the column, level and reference if any."""

    name: str
    term: str
    unit: float = 1.0
    column: str = ""
    level: str = ""
    reference: str = ""


_Number = tuple[str, str, str, np.ndarray]  # term, kind, name and draws of a learned number


def _standardised(
    fit: xr.DataTree, draws: dict[str, np.ndarray]
) -> tuple[np.ndarray, list[_Effect]]:
    """Return standardised effects, (draws, n), and what each is."""
    parts: list[np.ndarray] = []
    effects: list[_Effect] = []
    for part in fit.duel.model.terms:
        if not isinstance(part, Term) or part.parameter == "intercept":
            continue
        dims = part.dims.get(part.parameter, ())
        if isinstance(part, ItemCovariates):
            parts.append(draws["coefficient"])
            effects += _of_attributes(part)
        elif isinstance(part, DuelCovariates):
            effect = draws["covariate_effect"] * np.array(part.deviations)
            parts.append(_flat(effect))
            effects += _of_covariates(part, fit)
        elif len(dims) < 2 and "arm" not in dims:
            effect = np.asarray(part.coefficients(draws))
            n_draws = len(draws[part.parameter])
            parts.append(effect.reshape(n_draws, -1))
            called = LABELS.get(part.parameter, part.parameter)
            for label in _labels(fit, part.parameter, called):
                effects.append(_Effect(label, part.key))
    if not parts:
        return np.empty(0), effects
    return np.column_stack(parts), effects


def _of_attributes(part: ItemCovariates) -> list[_Effect]:
    found = []
    for attribute in part.items.attributes:
        effect = _Effect(
            name=attribute.name,
            term=part.key,
            unit=attribute.deviation,
            column=attribute.column,
            level=attribute.level,
            reference=attribute.reference,
        )
        found.append(effect)
    return found


def _of_covariates(part: DuelCovariates, fit: xr.DataTree) -> list[_Effect]:
    names = _labels(fit, "covariate_effect", "")  # "length", or "gpt-4: length"
    units = zip(part.deviations or (), part.of, strict=True)
    found = []
    for name, (deviation, column) in zip(names, cycle(units), strict=False):
        found.append(_Effect(name, part.key, deviation, column))
    return found


def _learned(fit: xr.DataTree, draws: dict[str, np.ndarray]) -> Iterator[_Number]:
    """Yield the numbers that terms and the response learn beside effects."""
    model = fit.duel.model
    known = model.parameters(draws)
    owners: dict[str, str] = {}
    for part in model.terms:
        owners |= dict.fromkeys(part.scales, part.key)
    of_terms = [name.removesuffix("_over_1") for name in model.scales]
    names = dict.fromkeys([*of_terms, *model.response.own])
    for name in names:
        with_effects = name == "judge_spread" and "taste" in draws
        if with_effects or name not in fit["posterior"]:
            continue
        owner = owners.get(name, "response")
        labels = _labels(fit, name, name)
        columns = _flat(known[name]).T
        for label, values in zip(labels, columns, strict=True):
            yield owner, "parameter", label, values


def _levels(fit: xr.DataTree, draws: dict[str, np.ndarray]) -> Iterator[_Number]:
    """Yield the numbers by level and arm."""
    for part in fit.duel.model.terms:
        if isinstance(part, DuelCovariates):
            continue  # its effects are all in the table
        if not isinstance(part, Term) or part.parameter not in draws:
            continue
        dims = part.dims.get(part.parameter, ())
        if len(dims) > 1:
            labels = _labels(fit, part.parameter, "")
            columns = _flat(draws[part.parameter]).T
            for label, values in zip(labels, columns, strict=True):
                yield part.key, "level", label, values


def _flat(draws: np.ndarray) -> np.ndarray:
    """Return draws of a parameter of any shape as columns, (draws, n)."""
    return draws.reshape(len(draws), -1)


def _labels(fit: xr.DataTree, name: str, called: str) -> list[str]:
    """Return a label for each entry of a parameter: its name and the levels of its dimensions."""
    posterior = fit["posterior"].dataset
    levels = []
    for dim in posterior[name].dims[2:]:
        of_dim = posterior[dim].to_numpy()
        levels.append(map(str, of_dim))
    labels = []
    for at in product(*levels):
        named = filter(None, (called, *at))
        labels.append(": ".join(named))
    return labels


def predict_items(
    fit: xr.DataTree,
    items: Items,
    ci_prob: float = Decision.ci_prob,
    *,
    covariance: str = "auto",
    judge: str | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how items would do that need never have duelled, best first.

    Parameters
    ----------
    fit
        A fit whose predictor is ``Covariates(items)``.
    items
        A path or a frame with the attributes of the fit, or what :func:`bayesduel.read_items` made
        of one with ``like=``. An item is known by its attributes alone, whatever its label.
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

    Warns
    -----
    ExtrapolationWarning
        If a numeric attribute lies outside the range of the table.

    Examples
    --------
    >>> duels, items = bd.datasets.load("chameleons"), bd.datasets.items("chameleons")
    >>> fit = bd.fit(duels, bd.models.BradleyTerry(bd.models.Covariates(items)))
    >>> bd.predict_items(fit, items)["win_rate"].head(2).round(1)
    item
    C25    0.8
    C14    0.7
    Name: win_rate, dtype: float64
    """
    check_ci_prob(ci_prob)
    check_seed(seed)
    draws, used = parameter_draws(fit, covariance, judge)
    model = fit.duel.model
    if model.terms.items is None:
        raise ValueError(
            f"fit should have attributes of items (Covariates(items)), got {fit.attrs['model']}"
        )
    if not isinstance(items, Items):
        items = read_items(items, like=model.terms.items)
    if items.attributes != model.terms.items.attributes:
        raise ValueError(
            "items should have the attributes of the fit: use read_items(..., like=...)"
        )
    beyond = _outside(items, model)
    if beyond.any():
        named = list(compress(items.labels, beyond))
        warn(
            "items should have attributes within the table that was fitted, got numbers outside "
            f"its range for {join(named)}: the prediction extrapolates",
            ExtrapolationWarning,
        )
    if "intercept" in draws:
        return _chances(draws, model, items, beyond, ci_prob)
    rng = np.random.default_rng(seed)
    fitted = model.terms.items.matrix(fit.duel.arms)
    known = draws["coefficient"] @ fitted.T
    if "effect" in draws:
        known += draws["effect"]
    best = known.max(axis=1)
    rows = []
    for attributes, outside in zip(items.matrix(), beyond, strict=True):
        utility = draws["coefficient"] @ attributes
        if "effect" in draws:
            normal = rng.standard_normal(len(utility))
            utility = utility + draws["effect_scale"] * normal
        difference = utility[:, None] - known
        win_rate = model.typical_score(difference, draws).mean(axis=1)
        row = with_interval("win_rate", win_rate, ci_prob)
        # Utilities that differ by less than 1e-9 are equal: of items with the same attributes
        beats_best = utility > best + 1e-9
        row["beats_best"] = float(beats_best.mean())
        row["outside"] = int(outside)
        rows.append(row)
    index = pd.Index(items.labels, name="item")
    frame = pd.DataFrame(rows, index=index)
    frame.attrs |= {"ci_prob": ci_prob, "covariance": used}
    return frame.sort_values("win_rate", ascending=False, kind="stable")


def _chances(
    draws: dict[str, np.ndarray], model: Any, items: Items, beyond: np.ndarray, ci_prob: float
) -> pd.DataFrame:
    """Return the chance that each item pays, best first."""
    chance = model.chance(draws, items.matrix())
    n_draws, n_items = chance.shape
    best = chance.argmax(axis=1)
    times_best = np.bincount(best, minlength=n_items)
    columns = with_interval("chance", chance, ci_prob)
    columns["best"] = times_best / n_draws
    columns["outside"] = beyond
    index = pd.Index(items.labels, name="item")
    frame = pd.DataFrame(columns, index=index)
    frame.attrs |= {"ci_prob": ci_prob, "covariance": "model"}
    return frame.sort_values("chance", ascending=False, kind="stable")


def _outside(items: Items, model: Any) -> np.ndarray:
    """Return how many attributes of each item lie outside the range of the table, shape (m,)."""
    known = model.terms.items.values
    below = items.values < known.min(axis=0)
    above = items.values > known.max(axis=0)
    return (below | above).sum(axis=1)


def explained_share(
    fit: xr.DataTree, ci_prob: float = Decision.ci_prob
) -> tuple[float, float, float]:
    """Return the share of the differences between items that their attributes explain.

    One minus the square of the learned spread of what attributes miss over the variance of the
    scores, in each draw: the adjusted R squared of the items. Fitted to noise, many attributes
    would seem to explain much; this share is about 0 then, and draws of it may be negative.

    Posterior mean, lower and upper end.
    """
    draws, _ = parameter_draws(fit, "model")
    if "effect" not in draws:
        raise ValueError(
            "fit should have an item effect: without it the attributes explain everything"
        )
    missed = draws["effect_scale"] ** 2
    between = draws["score"].var(axis=1, ddof=1)
    share = 1 - missed / between
    found = with_interval("share", share, ci_prob)
    middle, lower, upper = map(float, found.values())
    return middle, lower, upper


def parameter_draws(
    fit: xr.DataTree, covariance: str = "auto", judge: str | None = None
) -> tuple[dict[str, np.ndarray], str]:
    """Return the draws of a model, and whose errors they carry.

    As ``fit.duel.posterior``, which says more; with `judge`,
    coefficients are those of that judge.
    """
    check_fit(fit)
    draws = fit.duel.posterior(covariance)
    used = fit.duel.covariance(covariance)
    if judge is None:
        return draws, used
    if "taste" not in draws:
        raise ValueError(
            f"judge should be None for a fit without JudgeTastes, got {shown_value(judge)}"
        )
    labels = fit["posterior"]["judge"].to_numpy()
    judges = list(map(str, labels))
    if judge not in judges:
        hint = did_you_mean(judge, judges)
        raise KeyError(f"judge {judge!r} is not in the fit{hint}")
    column = judges.index(judge)
    taste = draws["taste"][:, column]
    draws["coefficient"] = draws["coefficient"] + taste
    return draws, used
