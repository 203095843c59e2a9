"""Generalizability: how much of a vote's variance is of arms, prompts and judges, and what to buy.

The columns of :class:`bayesduel.models.RandomEffects` (prompts, judges) are facets of a
measurement of the arms. The variance of an arm's score as one vote shows it has a component of the
arms, one of the arms on each facet (a prompt on which some do better, a judge with a taste), and
one of the vote itself: half of the inverse information of a vote on its pair's difference, which is
the noise of a margin. A decision study says from these how well a next round would tell the arms
apart.

References
----------
Cronbach, Gleser, Nanda & Rajaratnam, "The Dependability of Behavioral Measurements", 1972;
Brennan, "Generalizability Theory", 2001, chapters 2 and 4 (decision studies). Cochran, "Sampling
Techniques", 3rd edition 1977, section 10.6 (votes within each prompt that are best at a cost).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.intervals import check_ci_prob, with_interval
from bayesduel.models import RandomEffects
from bayesduel.posterior.conditions import observed_conditions
from bayesduel.posterior.draws import check_fit
from bayesduel.posterior.sources import vote_information
from bayesduel.records import Result
from bayesduel.system.arguments import check_one_of, finite, shown_value, whole
from bayesduel.system.options import Decision
from bayesduel.text import begun, count, join, percent, plural, shorten

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["Generalizability", "facets_of", "generalizability"]

# Correlation below which a level is named, with a probability of 0.975: less than half of how
# scores differ is then common.
APART = 0.5


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Generalizability(Result):
    """The result of :func:`bayesduel.generalizability`.

    Attributes
    ----------
    components
        One row per component, by name: "arm", each facet ("prompt": arms by prompt) and "vote":
        ``variance`` (of an arm's score, in the squared unit of the scores) and its ``share`` of
        their sum, each with ``_lower`` and ``_upper``, and ``levels`` of the log.
    levels
        One row per level of a facet: ``facet``, ``level``, ``votes``; ``spread`` (standard
        deviation of the arms' scores on it: how far it tells them apart) and ``correlation`` (of
        these with the scores of an average level), each with ``_lower`` and ``_upper``; ``wider``,
        the probability that it spreads the arms more than an average level does.
    designs
        One row per next round, with the log: ``levels`` (new ones of the facet), ``votes`` (on
        each), ``total`` (votes), ``error`` (posterior standard deviation of a difference of two
        scores, predicted) and ``coefficient`` (of generalizability, predicted).
    coefficient
        Generalizability coefficient of the scores of the log: the arms' variance over itself plus
        the posterior variance of the scores.
    facet
        The facet of which a next round buys levels.
    best
        Votes on each of these levels that tell most for their cost.
    cost
        Of a level, in votes.
    unit
        Unit of the scores.
    ci_prob
        Probability of the intervals.
    """

    coefficient: float
    facet: str
    best: int
    cost: float
    unit: str
    ci_prob: float
    components: pd.DataFrame
    levels: pd.DataFrame
    designs: pd.DataFrame

    @property
    def sentence(self) -> str:
        """The shares, the coefficient, levels that stand out, and the next round."""
        return self.words()

    def words(self, noun: str = "arm") -> str:
        """Return the sentence; `noun` is what an arm is called."""
        nouns = plural(noun)
        names = {"arm": nouns, "vote": "the vote itself"}
        shares = []
        for name, row in self.components.iterrows():
            called = names.get(str(name), f"{nouns} by {name}")
            share = percent(row["share"])
            lower = percent(row["share_lower"])
            upper = percent(row["share_upper"])
            shares.append(f"{called} {share} % [{lower}, {upper}]")
        said = [
            f"Shares of the variance of one vote: {join(shares, width=None)}.",
            f"The generalizability coefficient of the scores is {self.coefficient:.2f}.",
        ]
        # Probability from which a level is named: 0.975
        wide = self.levels["wider"] > 0.975
        apart = self.levels["correlation_upper"] < APART
        if wide.any():
            where = _level_names(self.levels[wide])
            said.append(f"{begun(nouns)} differ more than on average in {where}.")
        if apart.any():
            where = _level_names(self.levels[apart])
            said.append(f"Scores correlate with the average scores below {APART:g} in {where}.")
        worth = "vote" if self.cost == 1 else "votes"
        said.append(
            f"If a new {self.facet} costs as much as {self.cost:g} {worth}, a next round should "
            f"cast {count(self.best, 'vote')} on each."
        )
        return " ".join(said)


def _level_names(levels: pd.DataFrame) -> str:
    labels = []
    for row in levels.to_dict("records"):
        level = shorten(row["level"])
        labels.append(f"{row['facet']} {level}")
    return join(labels, 3)


def facets_of(model: "Model") -> tuple[RandomEffects, ...]:
    """Return the facets of a model of scores: its random effects; () of another one."""
    if not model.ranks_by_score:
        return ()
    return tuple(part for part in model.terms if isinstance(part, RandomEffects))


def generalizability(
    fit: xr.DataTree,
    facet: str | None = None,
    *,
    cost: float = 1.0,
    designs: Sequence[tuple[int, int]] | None = None,
    ci_prob: float = Decision.ci_prob,
) -> Generalizability:
    """Return the variance components of arms, prompts, judges and votes, and what to buy next.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.RandomEffects`, by prompt, by judge or both.
    facet
        The column of which a next round buys new levels. Default: the first, if that is not
        "judge" or there is no other.
    cost
        Of a new level (a prompt, with its answers by all arms), in votes, > 0.
    designs
        Rounds to predict: number of new levels and votes on each. Default: a grid around the log.
    ci_prob
        Probability of the intervals, in (0, 1).

    Returns
    -------
    A :class:`Generalizability`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Notes
    -----
    With ``a``, ``f`` and ``e`` the variances of arms, of arms by facet and of the vote, K arms and
    votes spread evenly over pairs and facets, the scores of a round of n levels with m votes each
    have the variance ``f / n + (K - 1) e / (n m)`` around the arms' own. It is joined with the
    posterior variance of the log, but for the share of the other facets, whose levels stay the
    same; the coefficient is ``a / (a + variance)``. The predictions take the components at their
    posterior means.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.RandomEffects("judge")
    >>> fit = bd.fit(bd.datasets.load("tversky1969"), model)
    >>> list(bd.generalizability(fit).components.index)
    ['arm', 'judge', 'vote']
    """
    check_fit(fit)
    check_ci_prob(ci_prob)
    if not finite(cost, "cost") > 0:
        raise ValueError(f"cost should be positive, got {shown_value(cost)}")
    model = fit.duel.model
    terms = {term.by: term for term in facets_of(model)}
    if not terms:
        raise ValueError(
            "fit should be of a model of scores with the term RandomEffects, such as "
            f"BradleyTerry() + RandomEffects('prompt'), got {model.name}"
        )
    if facet is None:
        others = [name for name in terms if name != "judge"]
        facet = others[0] if others else "judge"
    check_one_of(facet, "facet", tuple(terms))
    draws = fit.duel.posterior("model")
    score = draws["score"]
    score = score - score.mean(axis=1, keepdims=True)
    n_arms = score.shape[1]
    df = n_arms - 1
    # 20 draws over which the information of a vote is averaged
    n, information = vote_information(fit, draws, 20)
    n_votes = n.sum()
    of_all = (n * information).sum()
    of_vote = n_votes / (2 * of_all)
    sizes = {"arm": n_arms, "vote": n_votes}
    squares = (score**2).sum(axis=1)
    parts = {"arm": squares / df}
    levels = []
    for by, term in terms.items():
        deviations = draws[term.parameter]
        sizes[by] = deviations.shape[1]
        parts[by] = draws[term.spread] ** 2
        of_facet = _levels(fit, term, score, draws, n, ci_prob)
        levels.append(of_facet)
    parts["vote"] = of_vote * np.ones(len(score))
    total = np.sum(list(parts.values()), axis=0)
    rows = []
    for name, part in parts.items():
        row = with_interval("variance", part, ci_prob)
        row |= with_interval("share", part / total, ci_prob)
        row["levels"] = sizes[name]
        rows.append(row)
    means = {}
    for name, part in parts.items():
        means[name] = float(part.mean())
    of_arms = means["arm"]
    variances = score.var(axis=0, ddof=1)
    known = float(variances.sum()) / df
    other_parts = [means[by] / sizes[by] for by in terms if by != facet]
    of_others = sum(other_parts)
    shared = min(of_others, 0.9 * known)
    within = df * means["vote"]
    planned = []
    rounds = _usual(sizes[facet]) if designs is None else _checked(designs)
    for new, m in rounds:
        n_cast = new * m
        of_levels = means[facet] / new
        fresh = of_levels + within / n_cast
        precision = 1 / (known - shared) + 1 / fresh
        variance = shared + 1 / precision
        design = {
            "levels": new,
            "votes": m,
            "total": n_cast,
            "error": (2 * variance) ** 0.5,
            "coefficient": of_arms / (of_arms + variance),
        }
        planned.append(design)
    # Cochran: the square root of the ratio of costs times that of variances
    ratio = cost * within / means[facet]
    best = ratio**0.5
    components = pd.Index(list(parts), name="component")
    return Generalizability(
        components=pd.DataFrame(rows, index=components),
        levels=pd.concat(levels),
        designs=pd.DataFrame(planned),
        coefficient=of_arms / (of_arms + known),
        facet=facet,
        best=max(round(best), 1),
        cost=float(cost),
        unit=str(fit.attrs["score_unit"]),
        ci_prob=ci_prob,
    )


def _usual(n_levels: int) -> list[tuple[int, int]]:
    """Return rounds around a log with so many levels: new levels, and votes on each."""
    found = []
    for share in (0.5, 1.0, 2.0, 4.0):
        new = max(round(share * n_levels), 1)
        found += [(new, votes) for votes in (3, 10, 30)]
    return found


def _checked(designs: Any) -> list[tuple[int, int]]:
    """Return rounds as pairs of whole numbers; raise TypeError or ValueError if they are none."""

    def is_list(value: Any) -> bool:
        return isinstance(value, list | tuple)

    def is_pair(value: Any) -> bool:
        return is_list(value) and len(value) == 2

    if not is_list(designs) or not all(map(is_pair, designs)):
        raise TypeError(
            "designs should be a list of levels and votes on each, such as [(20, 10)], got "
            f"{shown_value(designs)}"
        )
    found = []
    for levels, votes in designs:
        n_levels = whole(levels, "levels of a design", 1)
        n_votes = whole(votes, "votes of a design", 1)
        found.append((n_levels, n_votes))
    return found


def _levels(
    fit: xr.DataTree,
    term: RandomEffects,
    score: np.ndarray,
    draws: dict[str, np.ndarray],
    n: np.ndarray,
    ci_prob: float,
) -> pd.DataFrame:
    """Return the rows of the levels of a facet."""
    deviation = draws[term.parameter]
    n_levels = deviation.shape[1]
    df = score.shape[1] - 1
    shape = (len(score), n_levels)
    spread = np.empty(shape)
    correlation = np.empty(shape)
    scale = score.std(axis=1, ddof=1)
    scale = np.maximum(scale, 1e-300)
    for g in range(n_levels):  # one at a time: all of them may not fit in memory
        own = score + deviation[:, g]
        own -= own.mean(axis=1, keepdims=True)
        own_scale = own.std(axis=1, ddof=1)
        covariance = (own * score).sum(axis=1) / df
        spread[:, g] = own_scale
        scales = np.maximum(own_scale * scale, 1e-300)
        correlation[:, g] = covariance / scales
    given = observed_conditions(fit, fit.duel.model)
    level = given[f"{term.by}_of_cell"]
    known = level >= 0
    votes = np.bincount(level[known], n[known], n_levels)
    wider = spread > spread.mean(axis=1, keepdims=True)
    columns = {
        "facet": term.by,
        "level": fit["posterior"][term.by].to_numpy().astype(str),
        "votes": votes.astype(int),
    }
    columns |= with_interval("spread", spread, ci_prob)
    columns["wider"] = wider.mean(axis=0)
    columns |= with_interval("correlation", correlation, ci_prob)
    return pd.DataFrame(columns)
