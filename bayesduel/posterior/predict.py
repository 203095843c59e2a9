"""Predictions: the outcome probabilities and margins of any duel."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtr, stdtr

from bayesduel.data.read.coding import reading_of
from bayesduel.data.teams import Teams, sides_as_tuples
from bayesduel.intervals import check_ci_prob, eti
from bayesduel.models.cells import data_of_rows
from bayesduel.models.response import TIES_LEFT_OUT
from bayesduel.posterior.conditions import (
    ExtrapolationWarning,
    column_of,
    is_missing,
    neutral_words,
)
from bayesduel.posterior.conditions import conditions as conditions_of
from bayesduel.posterior.dependence import dependence_of
from bayesduel.posterior.draws import CHUNK, Draws, check_fit, chunks, draws_of, tie_share
from bayesduel.posterior.duels_to_predict import (
    by_role,
    conditions_read,
    duels_of_frame,
    is_label,
    members_of,
)
from bayesduel.posterior.newcomers import newcomers, told_of, with_newcomers
from bayesduel.records import Record
from bayesduel.system.arguments import (
    as_options,
    by_reader,
    check_flag,
    did_you_mean,
    listed,
    renamed_arguments,
    shown_value,
)
from bayesduel.system.options import Decision
from bayesduel.system.warnings import warn
from bayesduel.text import count, join, percent, shorten

__all__ = ["Predictions", "notes", "predict", "win_words"]

NOTES = ("ties", "new_arms", "given", "missing", "unknown", "not_given", "not_read", "sides")


class Predictions(Record):
    """Predictions of duels; as a frame they have a row per duel, also for a single duel."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        """Return a variable, or predictions with some of the variables, of a list of names."""
        found = super().__getitem__(key)
        if not isinstance(key, list):
            return found
        return Predictions(found)

    def to_dataframe(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Return one row per duel."""
        found = self._dataset
        if not self.sizes:
            found = found.expand_dims("duel")
        return found.to_dataframe(*args, **options)

    def __repr__(self) -> str:
        return self._printed((), notes(self), whole=".to_dataframe()")


def notes(found: Predictions) -> list[str]:
    """Return what a reader of predictions should know: ties, new arms, conditions, the side."""
    told = []
    if "tie" in found:
        told.append("In these predictions a tie is not a win. In a win rate it is half a win.")
    if found.attrs.get("tie_share", 0.0) > 0:
        share = percent(found.attrs["tie_share"])
        told.append(
            f"{share} % of the duels of the log are ties, and the model has no ties: a tie counts "
            "half a win here."
        )
    for key in NOTES:
        if key in found.attrs:
            told.append(str(found.attrs[key]))
    return told


def win_words(found: Predictions) -> str:
    """Return what `win` of predictions is, in words."""
    half = ""
    if found.attrs.get("tie_share", 0.0) > 0:
        half = ", a tie counting half"
    return f"Win: the probability that the left arm wins{half}, by {found.attrs['model']}"


@renamed_arguments(left_advantage="side_advantage")
def predict(
    fit: xr.DataTree,
    left: Any,
    right: str | Sequence[str] | None = None,
    ci_prob: float = Decision.ci_prob,
    *,
    covariance: str = "auto",
    side_advantage: bool | None = None,
    family: Mapping[str, str | None] | None = None,
    **conditions: Any,
) -> Predictions:
    """Return the probabilities that `left` wins, ties and loses against `right`.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    left, right
        Labels of arms: one each, or sequences of the same length (one may be a single label). Of a
        fit of a log with teams a sequence of labels is one side, ``["d", "e"]``, and a sequence of
        sides several duels, ``[("d", "e"), ("a", "c")]``; any arms may be on a side, and the text
        "d + e" is one, too. Or a frame as `left` alone, with columns ``left``, ``right`` and any of
        the conditions, or as they are called in the log that was fitted, or the path of a file
        with these columns, which is read as a log is. A covariate that was read as the difference
        of two columns is that of the same two columns. The attribute ``not_read`` names the
        columns that are not read.
    ci_prob
        Probability of the intervals, in (0, 1).
    covariance
        Of the draws: see `bayesduel.winners`.
    side_advantage
        Whether `left` has the advantage of its side, in a model that learned one
        (:class:`bayesduel.models.SideAdvantage`): a home game. Default: yes for a frame whose sides
        are the columns of the log itself (home and away), else no. The attribute ``sides`` says
        which.
    family
        The family of each new arm by label, in a fit whose arms have families
        (:class:`bayesduel.models.Scores`): ``{"gpt-6": "openai"}``. Such an arm need not have
        duelled: its score is drawn from its family, or from a new family where that is one, or
        None. Arms that the fit was given the family of are known already. The attribute
        ``new_arms`` says which are new.
    conditions
        What the terms of the model read of a duel, by name: ``judge="ann"``, ``category="maths"``,
        ``time=...``, a kept column, a covariate (left minus right). One value or one for each duel.
        What is missing is neutral: today, covariates of 0, a new judge or prompt of
        :class:`bayesduel.models.RandomEffects`, whose deviations are integrated out, and the
        average over the levels of :class:`bayesduel.models.CategoryEffects`. A column of the log
        is known by its own name, too (``prompt="k8s"``), and a covariate that was read as a
        difference by its two columns (``len_a=900, len_b=100``). The level of a term that has
        covariates or an advantage by level is given with these. A level that is given by name is
        one of the fit, or None; a column of a frame may have others, which are warned of and taken
        as missing. The attribute ``given`` says what was read, ``not_given`` which conditions are
        not given, ``missing`` and ``unknown`` of how many duels a value is missing or is a level
        that the fit does not know. Each says what is taken instead.

    Returns
    -------
    A record, whose ``.to_dataset()`` is an ``xarray.Dataset``. It has the dimension ``duel`` (none,
    if both are single labels; ``to_dataframe()`` has one row per duel) and the coordinates ``left``
    and ``right``. Its variables are ``win``, ``loss`` and, for a model with ties, ``tie``:
    posterior means, which are the predictive probabilities and sum to 1; each with ``_lower`` and
    ``_upper``, an equal-tailed interval for the probability itself. A tie is not a win here; the
    preference matrix and win rates count it as half a win. Where the model has no tie, ``win`` and
    ``loss`` are those of a duel that must be decided. If the log has ties nevertheless, a tie
    counts half in both, and the attribute ``tie_share`` says how many. Of margins that are whole
    numbers, some of them 0, ``tie`` is the probability of a draw, and ``win`` that of 1 or more:
    that of a margin above 1/2 in the model. A model of margins adds ``margin``, the median of the
    next margin of `left` over `right`, and ``margin_lower`` and ``margin_upper``, between which it
    lies with probability `ci_prob`: noise included. A model of grades adds the probability of each,
    ``grade_+2``, likewise.

    Raises
    ------
    KeyError
        If a label is not in the fit; the message names the nearest one.
    TypeError, ValueError
        If lengths differ, an arm meets itself, a side names a member twice, no term reads a
        condition, or another argument is out of its range; if an arm is new, and the model has no
        families, or more than scores, and effects by judge or prompt, depends on the arm.

    Warns
    -----
    ExtrapolationWarning
        If a covariate is beyond those of the log; if a column of a frame has a judge, prompt or
        other level that the fit does not know, which is taken as missing; or if a time is before
        the log, which then has the scores of the first period. At a time after it scores have moved
        on, by :class:`bayesduel.models.TimeVarying`.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"))
    >>> round(float(bd.predict(fit, "Graf", "Seles")["win"]), 1)
    0.6

    Doubles: `left` and `right` are sides of two arms.

    >>> duels = bd.Duels.from_votes([("a", "b"), ("a", "c")] * 9, [("c", "d"), ("d", "b")] * 9,
    ...                             [1, 1, 0] * 6)
    >>> predicted = bd.predict(bd.fit(duels), ["a", "c"], ["b", "d"])
    >>> str(predicted["left"].item())
    'a + c'
    """
    check_fit(fit)
    check_ci_prob(ci_prob)
    if side_advantage is not None:
        check_flag(side_advantage, "side_advantage")
    columns: tuple[str, ...] = ()
    unread: list[str] = []
    unknown: dict[str, list[str]] = {}
    conditions, named = by_role(fit, conditions)
    if right is None:
        frame = duels_of_frame(fit, left, conditions)
        left = frame.left
        right = frame.right
        columns = frame.sides
        unread = frame.unread
        named |= frame.named
        unknown = frame.unknown
        conditions = frame.conditions | conditions
    draws, labels, used = draws_of(fit, covariance)
    reads_order = draws.model.terms.reads_order
    side_advantage = _has_advantage(fit, draws.model, side_advantage, conditions, columns)
    of_teams = fit.duel.teams is not None
    lefts, rights, single = _paired(left, right, of_teams)
    length = len(lefts)
    scores, foreseen = newcomers(fit, family)
    known = (*labels, *foreseen)
    mentioned = _mentioned([*lefts, *rights], known, of_teams)
    new = tuple(arm for arm in foreseen if arm in mentioned)
    posterior: Mapping[str, np.ndarray] = draws.posterior
    neutral = neutral_words(fit, draws.model, conditions, side_advantage=side_advantage)
    told = _told(fit, conditions, named, unknown, neutral, length)
    if unread:
        shown = join(unread, len(unread), quote=True)
        told["not_read"] = f"Not read: {shown}."
    if scores is not None and new:
        posterior = with_newcomers(fit, posterior, scores, new)
        told["new_arms"] = told_of(scores, fit.duel.arms, new)
    if reads_order:
        told["sides"] = _sides_told(columns, side_advantage)
    arms = (*labels, *new)
    if of_teams:
        teams, i, j = _teams_of(lefts, rights, arms)
        names = teams.labels(arms)
    else:
        teams = None
        i = _places(lefts, arms, "left")
        j = _places(rights, arms, "right")
        names = arms
    alike = i == j
    if alike.any():
        twice = names[i[alike][0]]
        raise ValueError(f"left and right should differ, got {twice!r} twice")
    given = conditions_of(
        fit,
        draws.model,
        i,
        j,
        conditions,
        side_advantage=side_advantage,
        teams=teams,
        labels=arms,
        arguments=("ci_prob", "covariance", "side_advantage", "family"),
    )
    variables = _summaries(fit, draws, posterior, given, length, ci_prob)
    if fit.attrs.get("tie_rule") == TIES_LEFT_OUT and "tie" not in variables:
        told["ties"] = "The log was read without ties: predictions are of duels that are decided."
    predicted = xr.Dataset(
        variables,
        coords={
            "left": ("duel", [names[k] for k in i]),
            "right": ("duel", [names[k] for k in j]),
        },
        attrs={
            "ci_prob": ci_prob,
            "model": str(fit.attrs["model"]),
            "conditions": ", ".join(sorted(conditions)),
            **_tie_share(fit, draws.model),
            **told,
            **dependence_of(fit, used, covariance).attrs,
        },
    )
    if single:
        predicted = predicted.isel(duel=0)
    return Predictions(predicted)


def _has_advantage(
    fit: xr.DataTree,
    model: Any,
    asked: bool | None,
    conditions: Mapping[str, Any],
    columns: tuple[str, ...],
) -> bool:
    """Return whether the left side has the advantage of its side.

    asked: what the caller says; None: yes if the sides are the `columns` of the log itself. Of an
        advantage that differs by a level, only where the level is among the conditions.
    Raises ValueError if it is asked for, and the model has none.
    """
    if asked and not model.terms.reads_order:
        term = by_reader("SideAdvantage() in the model", "--side-advantage")
        raise ValueError(
            f"{as_options(side_advantage=True)} needs a fit that has learned a side advantage; the "
            f"fit of {model.name} has none. Fit again with {term}"
        )
    if asked is not None:
        return asked
    by: set[str] = set()
    for reader in model.terms:
        if reader.reads_order:
            by.update(reader.reads)
    is_said = model.terms.reads_order and by <= conditions.keys()
    return is_said and columns == _sides_of_log(fit)


def _paired(left: Any, right: Any, of_teams: bool) -> tuple[list[Any], list[Any], bool]:
    """Return both sides of each duel, and whether the caller names a single one.

    Raises ValueError unless there are as many on the left as on the right, at least one.
    """
    is_one = _is_side if of_teams else is_label
    lefts = [left] if is_one(left) else list(listed(left, "left"))
    rights = [right] if is_one(right) else list(listed(right, "right"))
    length = max(len(lefts), len(rights))
    if len(lefts) == 1:
        lefts = lefts * length
    if len(rights) == 1:
        rights = rights * length
    if len(lefts) != len(rights) or not length:
        raise ValueError(
            "left and right should have the same number of labels, at least one, "
            f"got {len(lefts)} and {len(rights)}"
        )
    return lefts, rights, is_one(left) and is_one(right)


def _summaries(
    fit: xr.DataTree,
    draws: Draws,
    posterior: Mapping[str, np.ndarray],
    given: Mapping[str, np.ndarray],
    n: int,
    ci_prob: float,
) -> dict[str, Any]:
    """Return what is said of n duels by name: each middle with the ends of its interval.

    given: the data of the duels, as the model reads them.
    """
    parts: dict[str, list[np.ndarray]] = defaultdict(list)
    has_margins = draws.model.response.outcome == "margin"
    whole_margins = has_margins and _has_draws(fit)
    for part in chunks(n, CHUNK // draws.n_draws):
        here = data_of_rows(given, part)
        margins = draws.model.margins(posterior, here)
        if margins is not None:
            next_margin = _next_margin(margins, ci_prob)
            parts["margin"].append(next_margin)
        rounded = margins if whole_margins else None
        outcomes = _outcomes(draws.model, posterior, here, rounded)
        for outcome, chance in outcomes.items():
            p = np.ascontiguousarray(chance.T)
            lower, upper = eti(p, ci_prob)
            summary = np.stack([p.mean(1), lower, upper])
            parts[outcome].append(summary)
    variables: dict[str, Any] = {}
    for name, found in parts.items():
        middle, lower, upper = np.hstack(found)
        variables[name] = ("duel", middle)
        variables[f"{name}_lower"] = ("duel", lower)
        variables[f"{name}_upper"] = ("duel", upper)
    return variables


def _outcomes(
    model: Any,
    posterior: Mapping[str, np.ndarray],
    given: Mapping[str, np.ndarray],
    margins: tuple[np.ndarray, ...] | None,
) -> dict[str, np.ndarray]:
    """Return the probability of each outcome in each draw, by name, (draws, n).

    margins: those of the model where they are whole numbers, 0 being a tie; else None.
    """
    chances = model.outcomes(posterior, given)
    if margins is not None:
        win = 1 - _below(margins, 0.5)
        loss = _below(margins, -0.5)
        tie = 1 - win - loss
        chances |= {"win": win, "tie": tie, "loss": loss}
    found = {}
    for name in ("win", "tie", "loss"):
        if name in chances:
            found[name] = chances[name]
    if model.response.outcome == "grade":
        results = model.results(posterior, given)
        for k, grade in enumerate(model.response.grades):
            found[f"grade_{grade:+d}"] = results[..., k]
    return found


def _told(
    fit: xr.DataTree,
    conditions: Mapping[str, Any],
    named: Mapping[str, tuple[str, ...]],
    unknown: Mapping[str, list[str]],
    neutral: Mapping[str, str],
    n: int,
) -> dict[str, str]:
    """Return in words which conditions are given, which are not, and what is taken instead.

    named: the column of each condition of a frame, or two with their difference, by name.
    unknown: levels of a frame that the fit does not know, one for each duel that has one, by name.
    neutral: what stands for a condition that is not said, by name.
    n: number of duels.

    Warns of levels that are not known: a level may be new, or misspelt.
    """
    read = reading_of(fit)
    given = []
    missing = []
    new = []
    for name in sorted(conditions):
        taken = f"(taken: {neutral.get(name)})"
        columns = named.get(name, ())
        title = repr(read.get(name, name))
        if columns:
            title = repr(" - ".join(columns))
        value = conditions[name]
        unsaid = is_missing(column_of(value, n))
        of_unknown = unknown.get(name, ())
        blank = int(unsaid.sum()) - len(of_unknown)
        if np.ndim(value) == 0 and blank:
            given.append(f"{name} = none {taken}")
            continue
        shown = _shown_condition(value, columns)
        given.append(f"{name} {shown}")
        if blank:
            duels = count(n, "duel")
            missing.append(f"{title} in {blank:,} of {duels} {taken}")
        if name in unknown:
            where = _warned_of(title, unknown[name], neutral[name], n)
            new.append(f"{title} in {where} {taken}")
    absent = []
    for name in sorted(conditions_read(fit) - conditions.keys()):
        column = read.get(name, name)
        absent.append(f"{column!r} (taken: {neutral[name]})")
    found = {}
    for key, begin, words in (
        ("given", "Predictions are for the conditions given", given),
        ("missing", "Missing", missing),
        ("unknown", "Not known to the fit", new),
        ("not_given", "Not given", absent),
    ):
        if words:
            shown = join(words, len(words), width=None)
            found[key] = f"{begin}: {shown}."
    return found


def _warned_of(title: str, labels: list[str], instead: str, n: int) -> str:
    """Return in how many of n duels a column has labels that the fit does not know; warn of them.

    instead: what is taken for them.
    """
    distinct = list(dict.fromkeys(labels))
    shown = join(distinct, 5, quote=True)
    warn(
        f"column {title} has {count(len(distinct), 'value')} that the fit does not know ({shown}, "
        f"{count(len(labels), 'duel')}): predictions there are those of {instead}",
        ExtrapolationWarning,
    )
    duels = count(n, "duel")
    return f"{len(labels):,} of {duels}, {shown}"


def _tie_share(fit: xr.DataTree, model: Any) -> dict[str, float]:
    """Return the share of ties in the log of a model that counts each as half a win, if any."""
    if model.response.outcome != "win":
        return {}
    share = tie_share(fit)
    return {"tie_share": share} if share > 0 else {}


def _shown_condition(value: Any, columns: Sequence[str]) -> str:
    """Return a condition in words: by columns of a frame, one value, or one for each duel.

    columns: the column of the frame that has it, or two whose difference it is; () without one.
    """
    if len(columns) == 1:
        return f"by column {columns[0]!r}"
    if columns:
        difference = " - ".join(map(repr, columns))
        if not is_label(value):
            return f"= {difference}"
        return f"= {value:g} ({difference})"
    return f"= {value}" if is_label(value) else "of each duel"


def _sides_of_log(fit: xr.DataTree) -> tuple[str, ...]:
    """Return the names of the columns of the log that held its sides."""
    read = reading_of(fit)
    left = read.get("left", "left")
    right = read.get("right", "right")
    return str(left), str(right)


def _sides_told(columns: tuple[str, ...], advantage: bool) -> str:
    """Return in words whether the left side has its advantage in a prediction, and why."""
    if not advantage and not columns:
        return (
            "Side advantage: left out. For arms that are given by name, "
            f"{as_options(side_advantage=True)} adds it."
        )
    if not advantage:
        return "Side advantage: left out."
    column = ""
    if columns and columns[0] != "left":
        column = f" (column {columns[0]!r})"
    return f"Side advantage: added for the left side{column}."


def _has_draws(fit: xr.DataTree) -> bool:
    """Return whether the margins of a fit are whole numbers, some of them 0."""
    if "observed_data" not in fit:
        return False
    margins = fit["observed_data"]["margin"].to_numpy()
    is_whole = margins == np.round(margins)
    is_draw = margins == 0
    return bool(is_whole.all() and is_draw.any())


def _below(margins: tuple[np.ndarray, ...], at: Any) -> np.ndarray:
    """Return the probability in each draw that the next margin is below `at`, (draws, n).

    margins: location, scale and degrees of freedom.
    """
    middle, spread, degrees = margins
    standard = (at - middle) / spread
    if np.isinf(degrees).all():
        return np.asarray(ndtr(standard))
    return np.asarray(stdtr(degrees, standard))


def _next_margin(margins: tuple[np.ndarray, ...], ci_prob: float) -> np.ndarray:
    """Return median, lower and upper end of the next margins, shape (3, n), by bisection."""
    middle, spread, _ = margins
    wide = 10.0 * spread.max(axis=0)
    levels = (0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2)
    n = middle.shape[-1]
    found = np.empty((3, n))
    for k, level in enumerate(levels):
        low = middle.min(axis=0) - wide
        high = middle.max(axis=0) + wide
        while True:  # the tails of Student's t reach further
            below = _share(margins, low) < level
            above = _share(margins, high) > level
            if below.all() and above.all():
                break
            low = low - wide
            high = high + wide
            wide = 4.0 * wide
        for _ in range(50):
            half = (low + high) / 2
            under = _share(margins, half) < level
            low = np.where(under, half, low)
            high = np.where(under, high, half)
        found[k] = (low + high) / 2
    return found


def _share(margins: tuple[np.ndarray, ...], at: np.ndarray) -> np.ndarray:
    """Return the predictive probability that the next margins are below `at`, (n,)."""
    below = _below(margins, at)
    return np.asarray(below.mean(axis=0))


def _is_side(side: Any) -> bool:
    """Return whether this is one side of a duel of teams: a label, or a sequence of labels."""
    return is_label(side) or all(map(is_label, side))


def _teams_of(
    left: Sequence[Any], right: Sequence[Any], labels: Sequence[str]
) -> tuple[Teams, np.ndarray, np.ndarray]:
    """Return the sides that are asked about, and which of them is left and right in each duel."""
    left_members = [members_of(side, labels) for side in left]
    right_members = [members_of(side, labels) for side in right]
    left_side = sides_as_tuples(left_members, "left")
    right_side = sides_as_tuples(right_members, "right")
    known = sorted({*left_side, *right_side})
    index = {}
    members = []
    for k, side in enumerate(known):
        index[side] = k
        places = [_place(label, labels, "left or right") for label in side]
        members.append(places)
    first = np.array([index[side] for side in left_side])
    second = np.array([index[side] for side in right_side])
    return Teams.of(members), first, second


def _mentioned(sides: Sequence[Any], labels: Sequence[str], teams: bool) -> set[str]:
    """Return the labels of arms that sides name."""
    found: set[str] = set()
    for side in sides:
        members = members_of(side, labels) if teams else side
        each = [members] if is_label(members) else members
        for one in each:
            label = one if isinstance(one, str) else shown_value(one)
            found.add(label)
    return found


def _places(side: Sequence[object], labels: Sequence[str], name: str) -> np.ndarray:
    """Return the places of the arms of a side; an unknown one is named by its row of several."""
    if len(side) == 1:
        place = _place(side[0], labels, name)
        return np.array([place])
    places = []
    for k, label in enumerate(side, 1):
        where = f"{name}, row {k} of {len(side):,}"
        places.append(_place(label, labels, where))
    return np.array(places)


def _place(label: object, labels: Sequence[str], where: str) -> int:
    """Return the place of an arm; `where` it was given is said if the fit has no such arm."""
    words = label if isinstance(label, str) else shown_value(label)
    if words in labels:
        return labels.index(words)
    hint = did_you_mean(words, labels)
    folded = words.casefold()
    within = [label for label in labels if folded in label.casefold()]
    if len(within) == 1:
        hint = f"; did you mean {within[0]!r}?"
    if not hint:
        new = "a new arm needs a duel, attributes (predict_items) or a family (family=)"
        known = join(labels, 8, quote=True)
        hint = f"; its arms are {known}; {new}"
    short = shorten(words, 60)
    raise KeyError(f"{where}: arm {short!r} is not in the fit{hint}")
