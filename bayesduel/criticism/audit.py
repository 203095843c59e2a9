"""Audit: how fragile a verdict is, and whose votes are improbable.

Four questions of one fit: how few votes, or judges, would have to be left out or reversed for
another leader; which judges vote unlike everyone else's votes predict; how much of the lead of the
best of several variants is selection; and how often an early look would have announced another
leader.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.criticism.best_variant import family_of, selection_of
from bayesduel.criticism.fragility import Changes, Goal, worth_of
from bayesduel.criticism.levels import levels_by, with_votes, without_votes
from bayesduel.criticism.rigging import improbable_levels
from bayesduel.criticism.transitivity.evidence import LEVEL
from bayesduel.data.duels import Duels
from bayesduel.inference.fit import SPARSE, fitted
from bayesduel.posterior.draws import check_fit, draws_of
from bayesduel.posterior.estimand import level_words, same_estimand
from bayesduel.posterior.top_k import check_k
from bayesduel.posterior.update import log_of
from bayesduel.records import Result
from bayesduel.system.arguments import (
    check_call,
    check_log,
    check_seed,
    shown_value,
    texts_of,
)
from bayesduel.system.options import Decision, check_options
from bayesduel.text import count, join, percent, plural, shorten

__all__ = ["Audit", "audit"]

CHANGES = ("removed", "reversed")
FRAGILITY = ("by", "change", "needed", "of", "share", "votes", "proposed", "limit", "new", "lost")
TENTHS = 10  # looks at the log, the last at all of it: a page has a table of as many rows


# The level of each vote in a column, None of single votes, and the labels.
type Levels = tuple[np.ndarray | None, tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Audit(Result):
    """The result of :func:`bayesduel.audit`.

    Attributes
    ----------
    goal
        What was audited: "the leader", "the top 3" or "the order of two arms".
    ahead
        The arms that are ahead in the fit.
    fragility
        One row for each of "vote" and the columns (``by``) and each ``change`` ("removed",
        "reversed"): how many were ``needed`` (NaN: none up to ``limit`` were found), the ``share``
        of all (``of``), how many ``votes`` that is, how many were ``proposed`` to first order (NaN:
        no number of them), which arms come ahead then (``new``) and which fall behind (``lost``).
    changed
        What these are: ``by``, ``change``, ``item`` and ``votes``.
    improbable
        One row per level (a judge) of five votes or more of each column, the most improbable first,
        see :func:`bayesduel.criticism.rigging.improbable_levels`; None without columns.
    selection
        One row a family of variants, see :func:`bayesduel.criticism.best_variant.selection_of`;
        None where none was named.
    stops
        One row a tenth of the log, in the order of time or of its rows: ``votes``, the ``leader``
        (most often the best in the draws), its ``probability``, whether it would have been
        ``announced``, and whether that was ``wrong``; None of a log without single votes.
    by_time
        Whether the log has times.
    confidence
        From which probability a leader is announced.
    alpha
        Familywise error rate of the flags in `improbable`.
    ci_prob
        Probability of intervals.
    unit
        Unit of the scores.
    refits
        How often the model was fitted.
    controls
        Which duels the scores are about, of an estimand; else "".
    """

    goal: str
    ahead: tuple[str, ...]
    fragility: pd.DataFrame
    changed: pd.DataFrame
    improbable: pd.DataFrame | None
    selection: pd.DataFrame | None
    stops: pd.DataFrame | None
    by_time: bool
    confidence: float
    alpha: float
    ci_prob: float
    unit: str
    refits: int
    controls: str = ""

    @property
    def sentence(self) -> str:
        """How fragile the ranking is, whose votes are improbable, and what was selected."""
        said = [self.controls] if self.controls else []
        for by, rows in self.fragility.groupby("by", sort=False):
            said.append(self._fragile(by, rows))
        if self.improbable is not None:
            for by, rows in self.improbable.groupby("by", sort=False):
                said.append(self._improbable(by, rows))
        if self.selection is not None:
            for row in self.selection.reset_index().to_dict("records"):
                said.append(self._selected(row))
        if self.stops is not None:
            said.append(self._stopped(self.stops))
        return " ".join(said)

    def _fragile(self, by: str, rows: pd.DataFrame) -> str:
        said = []
        for row in rows.to_dict("records"):
            verb = "Leaving out" if row["change"] == "removed" else "Reversing"
            all_of_them = count(row["of"], by)
            needed = row["needed"]
            if np.isnan(needed):
                said.append(
                    f"{verb} up to {row['limit']:,} of {all_of_them} does not "
                    f"change {self.goal}, as far as the audit found."
                )
                continue
            new = join(row["new"])
            lost = join(row["lost"])
            said.append(
                f"{verb} {needed:,.0f} of {all_of_them} "
                f"({100 * row['share']:.2g} %) puts {new} ahead of {lost}."
            )
        return " ".join(said)

    def _improbable(self, by: str, rows: pd.DataFrame) -> str:
        found = rows[rows["flagged"]]
        level = f"familywise error rate {100 * self.alpha:g} %"
        if not len(found):
            return f"The votes of no {by} are improbable given all others ({level})."
        shown = []
        for row in found.to_dict("records"):
            level_name = shorten(row["level"])
            arm = shorten(row["arm"])
            duels = count(row["duels"], "duel")
            shown.append(
                f"{level_name} ({row['points']:g} points for {arm} in {duels}, "
                f"{row['expected']:.1f} expected)"
            )
        n = len(found)
        several = plural(by)
        noun = by if n == 1 else several
        named = join(shown, 3, width=None)
        return (
            f"The votes of {n:,} of {len(rows):,} {several} are improbable given the "
            f"votes of all others ({level}): {noun} {named}."
        )

    def _selected(self, row: Mapping[str, Any]) -> str:
        def shown(name: str) -> str:
            lower = row[f"{name}_lower"]
            upper = row[f"{name}_upper"]
            return f"{row[name]:.2f} [{lower:.2f}, {upper:.2f}]"

        best = shorten(row["best"])
        family = shorten(row["family"])
        rival = shorten(row["rival"])
        return (
            f"{best} is the best of {row['variants']} variants of {family}. It leads {rival} by "
            f"{shown('lead')} {self.unit}. Of this lead, {shown('selection')} come from "
            "choosing the best variant. The mean of the variants leads by "
            f"{shown('family_lead')}."
        )

    def _stopped(self, stops: pd.DataFrame) -> str:
        early = stops.iloc[:-1]
        order = "time" if self.by_time else "its rows"
        looks = f"Of {len(early)} looks at the log in the order of {order}"
        sure = f"(probability above {percent(self.confidence)} %)"
        announced = int(early["announced"].sum())
        wrong = int(early["wrong"].sum())
        end = "is not the leader" if wrong == 1 else "are not the leaders"
        words = f"{looks}, {announced or 'none'} would have announced a leader {sure}."
        if not announced:
            return words
        return f"{words} {wrong} of these {end} at the end."


def audit(
    fit: xr.DataTree,
    duels: Duels | None = None,
    *,
    by: Iterable[str] | None = None,
    k: int = 1,
    pair: Iterable[str] | None = None,
    variants: Mapping[str, Iterable[str]] | None = None,
    share: float = Decision.share,
    confidence: float = Decision.confidence,
    ci_prob: float = Decision.ci_prob,
    seed: int = 0,
    step: Callable[[str], None] = lambda name: None,
) -> Audit:
    """Return how fragile the ranking of a fit is.

    Parameters
    ----------
    fit
        A fit of any model of duels that Laplace's method can fit: an audit fits it some forty
        times.
    duels
        The log that `fit` was made of. Default: its tallies, which the fit holds, without judges
        and times; they do not suffice where the model reads more of a vote.
    by
        What is left out or reversed: "vote", "judge", "group", "category", "pair", "time" (ten
        periods) or a column that was kept; () for nothing. Default: votes, and judges where the
        log has them.
    k
        The size of the top set that should stand; 1 is the leader.
    pair
        Two arms whose order should stand, in place of the top set.
    variants
        Arms by family, as ``{"family": ["v1", "v2"]}``, of which the best was chosen.
    share
        Of the votes, or judges, up to which they are left out or reversed; in (0, 1).
    confidence
        Probability of being the best above which a leader is announced, in (0.5, 1).
    ci_prob
        Probability of intervals.
    seed
        Of the folds of judges. Refits have the seed of the fit.
    step
        Called with the name of each step before it begins.

    Returns
    -------
    An :class:`Audit`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; if the model has flat priors, under which a part of a
        log need not determine it, or only NUTS can sample it; if variants are named and the model
        has no scores.

    Notes
    -----
    Arms are ranked by the mean of their scores, or of their Borda scores where a model allows
    cycles; under :class:`bayesduel.models.Sources` by those of the target. Votes count as
    independent given the model, also those of one judge: leaders of early parts are announced more
    often than with cluster-robust errors. The method of each part is in
    :mod:`bayesduel.criticism.fragility`, :mod:`~bayesduel.criticism.rigging` and
    :mod:`~bayesduel.criticism.best_variant`.

    Examples
    --------
    >>> duels = bd.datasets.load("tennis1990")
    >>> found = bd.audit(bd.fit(duels), duels)
    >>> found.fragility[["change", "needed", "new"]].to_dict("records")[0]
    {'change': 'removed', 'needed': 3.0, 'new': ('Seles',)}
    """
    check_call(step, "step")
    check_options(Decision, share=share, confidence=confidence, ci_prob=ci_prob)
    check_seed(seed)
    log = _log_of(fit, duels)
    model = fit.duel.model
    arms = fit.duel.arms
    goal, words = _goal(arms, k, pair)
    families = None if variants is None else family_of(variants, arms)
    if families is not None and not model.ranks_by_score:
        raise ValueError(f"variants should be None for {model.name}: its arms have no scores")
    votes: Any = log.votes
    if by is None:
        several = votes.judge is not None and len(votes.judges) > 1
        by = ("vote", "judge") if several else ("vote",)
    columns: dict[str, Levels] = {}
    for name in texts_of(by, "by"):
        columns[name] = (None, ())
        if name != "vote":
            columns[name] = levels_by(log, name)
    refits: list[int] = []

    def refit(part: Duels) -> xr.DataTree | None:
        refits.append(part.n_duels)
        return _refitted(fit, part)

    step("fitting again")
    quick = fit.attrs["method"] in ("laplace", *SPARSE)
    whole = fit if quick else refit(log)
    if whole is None:
        raise ValueError(
            f"an audit needs a fit that Laplace's method can compute, got {model.name}"
        )
    changes = Changes(whole, log, refit, goal)
    fragility = []
    tables = []
    for name, (level, names) in columns.items():
        for change in CHANGES:
            step(f"{plural(name)} {change}")
            row, table = changes.fewest(name, level, names, change, share)
            fragility.append(row)
            tables.append(table.assign(by=name, change=change))
    rng = np.random.default_rng(seed)
    worth = worth_of(whole).mean(axis=0, dtype=float)
    improbable = []
    for name, (level, names) in columns.items():
        if level is not None:
            step(f"votes of each {name} given all others")
            one = improbable_levels(log, level, names, worth, refit, LEVEL, rng)
            improbable.append(one.assign(by=name))
    selection = None
    if families is not None:
        draws, _, _ = draws_of(fit)
        selection = selection_of(draws, families, arms, ci_prob, rng)
    stops = None
    if duels is not None and duels.votes is not None:
        step("fitting parts in their order")
        stops = _stops(log, whole, refit, confidence)
    ahead = tuple(arms[a] for a in goal.top(worth))
    of_changed = ["by", "change", "item", "votes"]
    changed = pd.DataFrame(columns=of_changed)
    if tables:
        changed = pd.concat(tables, ignore_index=True)[of_changed]
    return Audit(
        goal=words,
        ahead=ahead,
        fragility=pd.DataFrame(fragility, columns=list(FRAGILITY)),
        changed=changed,
        improbable=pd.concat(improbable, ignore_index=True) if improbable else None,
        selection=selection,
        stops=stops,
        by_time=votes.time is not None,
        confidence=float(confidence),
        alpha=LEVEL,
        ci_prob=float(ci_prob),
        unit=str(fit.attrs["score_unit"]),
        refits=len(refits),
        controls=level_words(fit) if "estimand" in fit.attrs else "",
    )


def _log_of(fit: xr.DataTree, duels: Duels | None) -> Duels:
    """Return the log of a fit that can be audited, with votes.

    Raises TypeError or ValueError if `fit` cannot be audited, or `duels` is not its log.
    """
    check_fit(fit)
    model = fit.duel.model
    if model.log_type != "duels":
        raise ValueError(f"fit should be of a model of duels, got {model.name}")
    if model.terms.flat:
        raise ValueError(
            "an audit needs proper priors, because parts of a log may not determine the scores, "
            f"got {model.name} with a flat prior"
        )
    if why := model.why_not("laplace"):
        raise ValueError(
            f"an audit fits the model about forty times, and {model.name} is too slow for this: "
            f"only NUTS samples it ({why}). Choose a model without such a term"
        )
    if duels is None:
        duels = log_of(fit)
        try:
            model.cells(duels)
        except ValueError as error:
            raise ValueError(
                f"give duels, the log of the fit (bayesduel audit LOG), because {model.name} "
                "reads more of it than who won"
            ) from error
    check_log(duels, Duels)
    if not duels.plain or not fit.attrs.get("plain", 1):
        raise ValueError(
            "an audit leaves out whole votes for one side, got soft votes or sampling weights: "
            "audit a fit of duels.as_plain()"
        )
    arms = fit.duel.arms
    n = int(fit.attrs["n_duels"])
    if duels.arms != arms or duels.n_duels != n:
        raise ValueError(
            f"duels should be the log of the fit ({len(arms)} arms, {n:,} duels), got "
            f"{duels.n_arms} and {duels.n_duels:,}"
        )
    return with_votes(duels)


def _goal(arms: tuple[str, ...], k: int, pair: Iterable[str] | None) -> tuple[Goal, str]:
    """Return what should stand, and its name."""
    k = check_k(k, len(arms) - 1)
    if pair is None:
        return Goal(k), "the leader" if k == 1 else f"the top {k}"
    named = texts_of(pair, "pair")
    known = set(named) & set(arms)
    if len(named) != 2 or len(known) != 2:
        raise ValueError(f"pair should be two arms of the log, got {shown_value(list(named))}")
    first, second = named
    goal = Goal(1, (arms.index(first), arms.index(second)))
    return goal, f"the order of {shorten(first)} and {shorten(second)}"


def _refitted(fit: xr.DataTree, part: Duels) -> xr.DataTree | None:
    """Return the fit of a part of the log, or None where it does not determine the model."""
    method: Any = "variational" if fit.attrs["method"] in SPARSE else "laplace"
    sizes = fit["posterior"].sizes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of parts, which nobody asked about
        try:
            found = fitted(
                part,
                fit.duel.model,
                method,
                draws=int(sizes["chain"] * sizes["draw"]),
                chains=int(sizes["chain"]),
                seed=int(fit.attrs["seed"]),
                log_likelihood=False,
                clusters=False,
                preference=False,
            )
            return same_estimand(found, fit)
        except ValueError:
            return None


def _stops(
    log: Duels, whole: xr.DataTree, refit: Callable[[Duels], xr.DataTree | None], confidence: float
) -> pd.DataFrame:
    """Return who would have been announced after each tenth of a log."""
    votes: Any = log.votes
    order = np.arange(len(votes))
    if votes.time is not None:
        order = np.argsort(votes.time, kind="stable")  # missing times come last
    until = np.empty(len(votes))
    until[order] = np.cumsum(votes.weight[order])
    rows = []
    for tenth in range(1, TENTHS + 1):
        gone = until > tenth / TENTHS * until.max()
        held = int(votes.weight[~gone].sum())
        part = whole if tenth == TENTHS else None
        if tenth < TENTHS and held:
            part = refit(without_votes(log, gone))
        leader = ""
        chance = np.nan  # of a part that does not determine the model
        if part is not None:
            best = worth_of(part).argmax(axis=1)
            times = np.bincount(best, minlength=log.n_arms)
            leader = log.arms[int(times.argmax())]
            chance = float(times.max() / times.sum())
        rows.append({"votes": held, "leader": leader, "probability": chance})
    frame = pd.DataFrame(rows)
    frame["announced"] = frame["probability"] > confidence
    other = frame["leader"] != leader  # than that of the whole log
    frame["wrong"] = frame["announced"] & other
    return frame
