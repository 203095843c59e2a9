"""Comparison of models by leave-one-out cross-validation, and stacking weights.

Each unit, a pair of arms or a single duel, is predicted by the fit without it. Pareto-smoothed
importance sampling does so without refitting; where its k-hat says that this cannot be
trusted, the model is fitted again without these units. All models are scored on the same
observations, the outcomes in their order (:mod:`bayesduel.criticism.cross_validation`).

References
----------
Vehtari, Gelman & Gabry, "Practical Bayesian model evaluation using leave-one-out
cross-validation and WAIC", Statistics and Computing 2017. Yao, Vehtari, Simpson & Gelman, "Using
stacking to average Bayesian predictive distributions", Bayesian Analysis 2018.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.criticism.cross_validation import Units, units_of
from bayesduel.criticism.levels import FOLDS, levels_by, with_votes
from bayesduel.criticism.loo import Left, elpd_of, leave_out, table_of
from bayesduel.data.duels import Duels
from bayesduel.inference.default_model import DefaultModel, choose_model
from bayesduel.inference.fit import fit
from bayesduel.models import BradleyTerry, Model, PreferenceMatrix, Thurstone
from bayesduel.posterior.dependence import dependence_of
from bayesduel.posterior.draws import check_fit, check_met, preference_draws
from bayesduel.posterior.update import beyond_counts, log_of
from bayesduel.system.arguments import (
    as_options,
    check_call,
    check_log,
    check_seed,
    check_type,
    listed,
    shown_value,
    whole,
)
from bayesduel.system.options import Method
from bayesduel.system.threads import ONE_THREAD
from bayesduel.system.warnings import unwarned
from bayesduel.text import count, join, json_ready, screen, to_json

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDDataLOO


__all__ = ["Comparison", "compare_models", "default_models", "loo"]

# Nats below which a difference of elpd is small, whatever its standard error: Sivula, Magnusson,
# Matamoros & Vehtari, "Uncertainty in Bayesian leave-one-out cross-validation", 2020.
CLEAR = 4.0
STACKED_BYTES = 256 * 2**20  # of the draws of a stacked fit, by default
LEAST = 100  # draws of a stacked fit: of fewer a 2.5 % quantile is one of the two smallest
RULE = (
    "Models are distinguished from the best where their elpd is lower by more than two standard "
    f"errors of the difference and by more than {CLEAR:g} nats."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """How well models predict what was left out of a log.

    Attributes
    ----------
    table
        One row per model, best first: ``elpd`` (the sum of log predictive densities of the units
        left out, in nats), ``elpd_se``, ``difference`` from the best and ``difference_se``,
        ``p_loo`` (how much worse than with the unit in the data: the effective number of
        parameters), ``weight`` (of stacking), ``khat`` (the largest), ``n_high_khat``
        (observations whose k-hat is too high to trust importance sampling) and ``n_refitted``
        (those predicted by refits instead).
    fits
        The fits, by name.
    unit
        What was left out: "pair", "duel", or the column whose levels were.
    observations
        What every model scores, in words.
    n_units
        How many units were left out, one at a time.
    pointwise
        By model and unit: ``elpd``, ``khat``, ``refitted``; by unit ``times`` (how many identical
        observations it stands for) and the arms ``first`` and ``second``, or the ``level``.
    seed
        Of the fits and of the refits' folds.

    Examples
    --------
    >>> comparison = bd.compare_models(bd.datasets.load("tennis1990"))
    >>> comparison.table.index.tolist()
    ['bradley-terry', 'thurstone', 'preference-matrix']
    """

    table: pd.DataFrame
    fits: dict[str, xr.DataTree]
    unit: str
    observations: str
    n_units: int
    pointwise: xr.Dataset
    seed: int = 0

    @property
    def best(self) -> str:
        """Name of the model that predicts best."""
        return str(self.table.index[0])

    @property
    def weights(self) -> dict[str, float]:
        """Stacking weights, by name."""
        weights = self.table["weight"]
        return {str(name): float(weight) for name, weight in weights.items()}

    @property
    def as_good(self) -> list[str]:
        """Models that cannot be distinguished from the best.

        Their elpd is within two standard errors of the difference, or within 4 nats.
        """
        gap = -self.table["difference"]
        error = self.table["difference_se"]
        alike = (gap <= 2 * error) | (gap <= CLEAR)
        return [str(name) for name in self.table.index[alike]]

    @property
    def weights_words(self) -> str:
        """How sure stacking weights are where models cannot be distinguished, or ""."""
        names = self.as_good
        if len(names) < 2:
            return ""
        weights = self.weights
        told = [f"{name} {weights[name]:.2f}" for name in names]
        return f"their stacking weights ({join(told, width=None)}) are uncertain"

    @property
    def _word(self) -> str:
        return "period" if self.unit == "time" else self.unit

    @property
    def sentence(self) -> str:
        """The result in sentences."""
        left = f"leaving out one {self._word} at a time ({self.n_units:,} of them)"
        best = self.best
        alike = [name for name in self.as_good if name != best]
        if len(self.table) == 1:
            row = self.table.iloc[0]
            return (
                f"{best} has an elpd of {row.elpd:.1f} (standard error {row.elpd_se:.1f}), {left}."
            )
        as_good = self.as_good
        worse = [str(name) for name in self.table.index if name not in as_good]
        said = [f"By {left}, {best} predicts best"]
        if alike:
            said.append(
                f"; {self._gaps(alike)} cannot be distinguished from it: {self.weights_words}"
            )
        if worse:
            verb = "does" if len(worse) == 1 else "do"
            said.append(f"; {self._gaps(worse)} {verb} worse")
        unsure = self.table["n_high_khat"] - self.table["n_refitted"]
        if unsure.any():
            name = str(unsure.idxmax())
            said.append(
                f"; unreliable: k-hat is too high for {int(unsure[name]):,} "
                f"{self._word}s under {name}, which were not refitted"
            )
        # 20 units below which a standard error is rough
        if self.n_units < 20:
            said.append("; standard errors from so few units are imprecise")
        return "".join(said) + f". {RULE}"

    def _gaps(self, names: list[str]) -> str:
        """Return models with their differences from the best."""
        return join([self._gap(name) for name in names], width=None)

    def _gap(self, name: str) -> str:
        """Return a model with its difference from the best."""
        row = self.table.loc[name]
        error = f"standard error {row.difference_se:.1f}"
        if round(row.difference, 1) == 0:
            return f"{name} (the same to 0.1 nats, {error})"
        return f"{name} ({-row.difference:.1f} nats less, {error})"

    def stacked(self, draws: int | None = None, seed: int | None = None) -> xr.DataTree:
        """Return the fits mixed by their weights: a tree that ``bayesduel.winners`` takes.

        Parameters
        ----------
        draws
            How many draws of P in all. Default: as many as the fits have, or fewer where they
            would not fit in 256 MB.
        seed
            Of which draws are taken. Default: that of the comparison.

        Raises
        ------
        ValueError
            If `draws` is less than 100.
        """
        fits = self.fits
        weights = self.weights
        seed = self.seed if seed is None else seed
        check_seed(seed)
        first = fits[next(iter(weights))]
        n_arms = first["posterior"].sizes["arm"]
        n_pairs = n_arms * (n_arms - 1) // 2
        most = max(f.duel.n_draws for f in fits.values())
        default = max(LEAST, min(most, STACKED_BYTES // (8 * n_pairs)))
        n = default if draws is None else whole(draws, "draws", LEAST)
        rng = np.random.default_rng(seed)
        drawn = []
        parts = []  # what the errors of each account for
        known = 0.0  # a mixture is known as well as its parts are, each by its share of the draws
        for name, k in _shares(weights, n).items():
            if not k:
                continue
            part = fits[name]
            drawn.append(_theta(part, k, rng))
            parts.append(dependence_of(part, part.duel.covariance(), "auto"))
            effective = part.attrs["importance_ess"] / part.duel.n_draws
            known += k * min(1.0, effective)
        theta = rng.permutation(np.concatenate(drawn))
        words = weights_words(dict(_falling(weights)))
        if len(self.as_good) > 1:
            words += f"; {join(self.as_good)} cannot be distinguished"
        sentences = dict.fromkeys(one.sentence for one in parts)
        # Why there is no verdict, or ""
        refusal = next((one.refusal for one in parts if one.refusal), "")
        return mixture(
            theta,
            first,
            weights,
            method="stacking",
            method_reason=f"weights by leaving out one {self.unit} at a time: {words}",
            seed=seed,
            importance_ess=float(known),
            dependence=json.dumps([" ".join(sentences), refusal]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain numbers and words, for JSON."""
        records = self.table.reset_index().to_dict("records")
        return {
            "unit": self.unit,
            "n_units": self.n_units,
            "observations": self.observations,
            "best": self.best,
            "as_good": self.as_good,
            "sentence": self.sentence,
            "models": json_ready(records),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; a number that is not finite is null."""
        return to_json(self.to_dict())

    def to_html(self) -> str:
        """Return the table and the sentence as HTML."""
        shown = self.formatted().rename_axis(index=None, columns="model")
        rows = shown.to_html(border=0, classes="comparison full")
        return f"{rows}<p>{escape(self.sentence)}</p>"

    def formatted(self) -> pd.DataFrame:
        """Return the table as text, with the digits that are printed."""
        rows = []
        for _, row in self.table.iterrows():
            shown = {
                "elpd": f"{row.elpd:.1f}",
                "se": f"{row.elpd_se:.1f}",
                "difference": f"{row.difference + 0.0:.1f}",
                "its se": f"{row.difference_se:.1f}",
                "p_loo": f"{row.p_loo:.1f}",
                "weight": f"{row.weight:.2f}",
                "max k-hat": "-" if np.isneginf(row.khat) else f"{row.khat:.2f}",
                "high": f"{row.n_high_khat:,.0f}",
                "refitted": f"{row.n_refitted:,.0f}",
            }
            rows.append(shown)
        return pd.DataFrame(rows, index=self.table.index)

    def __repr__(self) -> str:
        n_models = len(self.table)
        head = f"<Comparison of {n_models} models by {self.unit}: {self.observations}>"
        rows = self.formatted().to_string().split("\n")
        return screen([head], rows, [self.sentence], whole=".formatted()")

    def _repr_html_(self) -> str:
        return self.to_html()


def compare_models(
    duels: Duels,
    models: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    unit: str = "pair",
    method: Method = "auto",
    draws: int = 4000,
    folds: int = FOLDS,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Compare models by their predictions of what is left out of a log.

    Parameters
    ----------
    duels
        The log.
    models
        Models of :mod:`bayesduel.models`, their names, or fits of them to this log by
        :func:`bayesduel.fit`; a mapping gives them names of your own. Default:
        :func:`default_models`.
    unit
        What is left out, one at a time. "pair": all duels of a pair of arms, to measure
        predictions for pairs that never met. "duel": one duel, the others of its pair known.
        "judge", "group", "category", "time" (ten periods of about as many votes each) or a column
        that was kept: all votes of a level, to measure predictions for a new one.
    method, draws
        As in :func:`bayesduel.fit`, for every fit.
    folds
        Units whose k-hat is too high are predicted by at most so many refits of the model
        without them. Those left out together are no more than one in fifty of all where that
        many refits allow it (one at a time in a small log); where they are more, the
        elpd of the model is slightly too low. 0: no refits; the k-hats are shown.
    seed
        Of the fits and of the folds.
    progress
        Called with the share of the work done, from 0 to 1.

    Returns
    -------
    A :class:`Comparison`; its ``table`` has one row per model, best first.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the models do not score the same observations:
        to one of them a tie is an outcome of its own, to another it is half a win.

    Examples
    --------
    >>> bd.compare_models(bd.datasets.load("tennis1990")).table[["elpd", "weight"]].round(1)
                       elpd  weight
    model
    bradley-terry     -29.4     1.0
    thurstone         -29.4     0.0
    preference-matrix -32.0     0.0
    """
    _check(duels, unit, folds)
    duels = duels.as_plain()
    check_call(progress, "progress", none=True)
    named = _named(default_models(duels) if models is None else models, duels)
    scored = _observations(duels, named)

    def tick(share: float) -> None:
        if progress is not None:
            progress(share)

    fits: dict[str, xr.DataTree] = {}
    for k, (name, model) in enumerate(named.items()):
        fits[name] = _fit(duels, model, method, draws, seed, name)
        tick(0.5 * (k + 1) / len(named))
    fitted = [tree.duel.model for tree in fits.values()]
    seen = units_of(duels, fitted, unit)
    found: dict[str, Left] = {}
    settings = {"method": method, "draws": draws, "seed": seed}
    for k, (name, units) in enumerate(zip(fits, seen, strict=True)):

        def along(share: float, k: int = k) -> None:
            tick(0.5 + 0.5 * (k + share) / len(named))

        model = fitted[k]
        found[name] = leave_out(duels, model, fits[name], units, folds, settings, along)
    tick(1.0)
    units = seen[0]
    fewest = min(tree.duel.n_draws for tree in fits.values())
    table, pointwise = table_of(found, units.times, fewest)
    return Comparison(
        table=table,
        fits=fits,
        unit=unit,
        observations=scored,
        n_units=int(units.times.sum()),
        pointwise=pointwise.assign_coords(_labels(duels, units)),
        seed=seed,
    )


def loo(
    fit: xr.DataTree,
    duels: Duels | None = None,
    *,
    unit: str = "duel",
    folds: int = FOLDS,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> "ELPDDataLOO":
    """Return how well a fit predicts what is left out of its log, as ``arviz.loo`` does.

    A fit has no group ``log_likelihood``: it holds counts, and ArviZ would take all duels of a pair
    for one observation. :func:`bayesduel.compare_models` compares several models.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned, of a model of duels.
    duels
        The log of the fit. Default: the counts that the fit holds; they do not suffice where the
        model reads more of a duel than who met and won, or for the units of a column.
    unit, folds, seed, progress
        As in :func:`bayesduel.compare_models`.

    Returns
    -------
    ArviZ's record, which ``arviz.compare`` takes: ``elpd`` (in nats), ``se``, ``p``,
    ``n_data_points`` (duels, pairs or levels), ``elpd_i`` and ``pareto_k`` by observation. Only
    models that see the same outcomes can be compared: ties as an outcome, or as half a win.
    ``kind`` says which, and ``arviz.compare`` refuses records of different kinds.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `duels` is needed and missing, or is not the log of
        `fit`.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"))
    >>> found = bd.loo(fit)
    >>> found.n_data_points, round(found.elpd)
    (46, -30)
    """
    check_fit(fit)
    check_met(fit)
    check_call(progress, "progress", none=True)
    model = fit.duel.model
    if model.log_type != "duels":
        raise ValueError(
            f"fit should be of a log of duels, got one of {model.log_type}: use arviz.loo(fit)"
        )
    if duels is None:
        reason = beyond_counts(fit)
        if not reason and unit not in ("pair", "duel"):
            reason = f"is asked for predictions by {unit}"
        if reason:
            raise ValueError(
                f"give the log of the fit too (duels=), because its model, {model.name}, {reason}"
            )
        duels = log_of(fit)
    _check(duels, unit, folds)
    n_fitted = fit.attrs["n_duels"]
    arms = fit.duel.arms
    if duels.n_duels != n_fitted or duels.arms != arms:
        raise ValueError(
            f"duels should be the log of {count(n_fitted, 'duel')} and "
            f"{count(len(arms), 'arm')} that fit was made of, got one of "
            f"{count(duels.n_duels, 'duel')} and {count(duels.n_arms, 'arm')}"
        )
    duels = duels.as_plain()
    (units,) = units_of(duels, [model], unit)
    n_draws = fit.duel.n_draws
    settings = {"method": "auto", "draws": n_draws, "seed": seed}
    tick = progress or (lambda _: None)
    left = leave_out(duels, model, fit, units, folds, settings, tick)
    scored = _observations(duels, {model.name: model})
    return elpd_of(left, units.times, n_draws, scored)


def default_models(duels: Duels) -> list[Any]:
    """Return the models that any log can be asked about: with a ranking and without one.

    All take a tie for half a win.

    Parameters
    ----------
    duels
        The log.

    Examples
    --------
    >>> [model.name for model in bd.default_models(bd.datasets.load("tennis1990"))]
    ['bradley-terry', 'thurstone', 'preference-matrix']
    """
    check_log(duels, Duels)
    return [BradleyTerry(), Thurstone(), PreferenceMatrix()]


def _check(duels: Duels, unit: str | None, folds: int) -> None:
    check_log(duels, Duels)
    if not isinstance(unit, str):
        raise ValueError(
            f"unit should be 'pair', 'duel' or a column of the votes, got {shown_value(unit)}"
        )
    if unit not in ("pair", "duel"):
        try:
            levels_by(with_votes(duels), unit)
        except ValueError as error:
            raise ValueError(f"unit cannot be {unit!r}: {error}") from error
    whole(folds, "folds", 0)
    if unit == "pair" and len(duels.pairs().first) < 2:
        raise ValueError(
            "unit should be 'duel' for a log in which only one pair met: "
            "without that pair nothing is left to predict it from"
        )


def _labels(duels: Duels, units: Units) -> dict[str, Any]:
    """Return the coordinates of the units: their arms, or the levels of the column."""
    if units.labels:
        return {"level": ("unit", np.array(units.labels, dtype=object))}
    arms = np.array(duels.sides, dtype=object)
    first = arms[units.first]
    second = arms[units.second]
    return {"first": ("unit", first), "second": ("unit", second)}


def _named(models: Any, duels: Duels) -> dict[str, Any]:
    """Return models or fits by distinct names; recipes become the models of the log."""
    if isinstance(models, str | Model | DefaultModel):
        models = [models]
    if isinstance(models, Mapping):
        given = {str(name): model for name, model in models.items()}
    else:
        if not isinstance(models, Iterable) or isinstance(models, bytes):
            raise TypeError(f"models should be models, names or fits, got {shown_value(models)}")
        made = [_model(m, duels) for m in listed(models, "models")]
        names = [_model_of(m).name for m in made]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(
                f"models should have different names, got {twice} more than once: "
                "give a dict from names to models"
            )
        given = dict(zip(names, made, strict=True))
    if not given:
        raise ValueError("models should have at least one model, got none")
    return {name: _model(m, duels) for name, m in given.items()}


def _model(value: Any, duels: Duels) -> Any:
    """Return a model or a fit; names and recipes become models."""
    check_type(value, str | Model | DefaultModel | xr.DataTree, "models", "models, names or fits")
    return value if isinstance(value, xr.DataTree) else choose_model(value, duels).model


def _model_of(value: Any) -> Any:
    """Return a model, or that of a fit."""
    return value.duel.model if isinstance(value, xr.DataTree) else value


def _observations(duels: Duels, given: Mapping[str, Any]) -> str:
    """Return in words what every model scores; raise if they do not score the same."""
    outcomes = {}
    for name, value in given.items():
        outcomes[name] = _model_of(value).response.outcome
    for kind in ("margin", "grade"):
        finer = [name for name, outcome in outcomes.items() if outcome == kind]
        others = [name for name in outcomes if name not in finer]
        if finer and others:
            raise ValueError(
                f"models should score the same observations, but {join(finer)} score "
                f"{kind}s, and {join(others)} score who won: compare only models of one "
                "kind"
            )
        if finer:
            return f"{kind}s"
    if not duels.n_ties:
        return "wins and losses"
    own = [name for name, outcome in outcomes.items() if outcome == "win or tie"]
    half = [name for name in outcomes if name not in own]
    if own and half:
        raise ValueError(
            "models should score the same observations. This log has ties: "
            f"for {join(own)} a tie is an outcome, for {join(half)} half a win for each side. "
            "Compare only models that treat ties alike, or read the log with "
            f"{as_options(ties='drop')}"
        )
    return "wins, losses and ties" if own else "wins and losses, a tie half of each"


def _fit(duels: Duels, model: Model, method: Any, draws: int, seed: int, name: str) -> xr.DataTree:
    """Return the fit of `model`, which may be one already."""
    if not isinstance(model, xr.DataTree):
        with ONE_THREAD, unwarned():  # the analyst's fit says what the log lacks
            return fit(duels, model, method, draws=draws, seed=seed, log_likelihood=False)
    arms = tuple(map(str, model["posterior"]["arm"].to_numpy()))
    n_duels = model.attrs["n_duels"]
    if arms != duels.arms or n_duels != duels.n_duels:
        raise ValueError(
            f"models should be fits of this log ({duels.n_duels:,} duels of {duels.n_arms} arms), "
            f"got {shown_value(name)}, of {n_duels:,} duels of {len(arms)} arms"
        )
    if not model.attrs.get("plain", 1):
        raise ValueError(
            "models should be fits of plain votes, got "
            f"{shown_value(name)}, a fit of soft votes or sampling weights: give its model, "
            "fit.duel.model, instead"
        )
    return model


def mixture(
    theta: np.ndarray, of: xr.DataTree, weights: Mapping[str, float], **attrs: Any
) -> xr.DataTree:
    """Return draws of P of a mixture of models as a fit, which ``bayesduel.winners`` takes.

    theta: P of all pairs, in the order of ``np.triu_indices(K, 1)``, (draws, pairs).
    of: a fit of the same log, or one without draws: what is known of the log is copied.
    weights: of the models, by name.
    attrs: further attributes of the fit.
    """
    arms = of["constant_data"]["arm"].to_numpy()
    i, j = np.triu_indices(len(arms), 1)
    coords = {
        "chain": [0],
        "draw": np.arange(len(theta)),
        "arm": arms,
        "opponent": arms,
        "pair_first": ("pair", arms[i]),
        "pair_second": ("pair", arms[j]),
    }
    dims = ("chain", "draw", "pair")
    drawn = xr.Dataset({"theta": (dims, theta[None])}, coords=coords)
    observed = {name: of[name].dataset for name in ("constant_data", "observed_data")}
    tree = xr.DataTree.from_dict({"posterior": drawn, **observed})
    kept = ("source", "n_duels", "components", "versions", "tie_rule")
    tree.attrs.update(
        {name: of.attrs[name] for name in kept},
        model="stacked",
        model_settings=json.dumps({"weights": _falling(weights)}),
        outcome="win",
        khat=float("nan"),
        **attrs,
    )
    return tree


def weights_words(weights: Mapping[str, float]) -> str:
    """Return models and their weights in words."""
    return ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())


def _falling(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return names and weights, the largest first."""
    return sorted(weights.items(), key=lambda item: -item[1])


def _shares(weights: Mapping[str, float], n: int) -> dict[str, int]:
    """Return whole numbers of draws that sum to `n`, by largest remainders."""
    total = sum(weights.values())
    exact = {name: n * weight / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(exact, key=lambda name: whole[name] - exact[name])
    missing = n - sum(whole.values())
    for name in by_rest[:missing]:
        whole[name] += 1
    return whole


def _theta(fit: xr.DataTree, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return `k` draws of P above the diagonal, (k, pairs), without repeats where there are enough.

    Errors are cluster-robust where votes are repeated, as :func:`bayesduel.winners` takes them.
    """
    total = fit.duel.n_draws
    turns, rest = divmod(k, total)
    once_more = rng.permutation(total) < rest
    times = np.full(total, turns) + once_more
    rows: list[Any] = []
    start = 0
    for P in preference_draws(fit):
        i, j = np.triu_indices(P.shape[1], 1)
        stop = start + len(P)
        own_times = times[start:stop]
        rows.append(np.repeat(P[:, i, j], own_times, axis=0))
        start = stop
    return np.concatenate(rows)
