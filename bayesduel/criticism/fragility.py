"""Fragility: the fewest votes, or judges, whose removal or reversal changes who leads.

The mean of a quantity f in the posterior moves with the weight of a vote at the rate
``Cov(f, log likelihood of the vote)`` over the posterior draws. With f the difference of two arms'
scores this is the influence of the vote, learned scales and other terms included: of normal draws
the gradient through the inverse Hessian. The votes of the largest influence are proposed, as many
as would bring the difference to 0 to first order, and the log is fitted again without them. Where
the refit does not confirm that the leader changes, more are taken, and where it does fewer, until
one more would be needed. Another choice of votes may need fewer still: the number is an upper
bound of the fewest.

References
----------
Huang, Shen, Wei & Broderick, "Dropping just a handful of preferences can change top large language
model rankings", ICLR 2026; Broderick, Giordano & Meager, "An automatic finite-sample robustness
metric: when can dropping a little data make a big difference?", 2020 (proposals to first order,
confirmed by a refit). Giordano & Broderick, "The Bayesian infinitesimal jackknife for variance",
2023 (influence as a covariance of draws). Deviations: posterior means in place of maximum
likelihood; identical votes are one kind; judges and other columns; reversal; the number is
searched for by refits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from bayesduel.criticism.levels import log_of_votes, rows_of_columns, sums_by_level
from bayesduel.data.duels import Duels
from bayesduel.models.cells import ModelCells, Seen, seen_in
from bayesduel.posterior.draws import Draws, chunks, draws_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesduel.models.model import Model

__all__ = ["Changes", "Goal", "worth_of"]


class Goal(NamedTuple):
    """What of the ranking should stand: the set of the best `k` arms, or the order of a pair."""

    k: int = 1
    pair: tuple[int, int] | None = None

    def top(self, worth: np.ndarray) -> np.ndarray:
        """Return the arms that should stay ahead, given each arm's mean (K,)."""
        if self.pair is None:
            return np.argsort(-worth, kind="stable")[: self.k]
        better = max(self.pair, key=lambda arm: worth[arm])
        return np.array([better])

    def pairs(self, worth: np.ndarray) -> np.ndarray:
        """Return the pairs, (n, 2), whose order is nearest to a change, of draws (draws, K)."""
        mean = worth.mean(axis=0, dtype=float)
        variance = worth.var(axis=0, dtype=float)
        top = self.top(mean)
        compared = self.pair or np.arange(len(mean))
        others = np.setdiff1d(compared, top)
        ahead, behind = map(np.ravel, np.meshgrid(top, others))
        gap = mean[ahead] - mean[behind]
        of_gap = variance[ahead] + variance[behind]
        standardised = gap / np.maximum(np.sqrt(of_gap), 1e-300)
        # 8 pairs of arms whose order is nearest to a change, for which influence is computed
        nearest = np.argsort(standardised, kind="stable")[:8]
        return np.column_stack([ahead[nearest], behind[nearest]])


class Found(NamedTuple):
    """What was found to change a goal."""

    needed: float  # how many units
    gone: np.ndarray  # how many duels of each vote are changed, (votes,)
    mean: np.ndarray  # of each arm's worth then, (K,)
    place: np.ndarray  # units in the order in which they were taken


@dataclass(frozen=True, eq=False)
class Changes:
    """A fit, its log and how it is fitted again."""

    fit: xr.DataTree
    log: Duels  # its log, with votes
    # returns the fit of a changed log with the same model, or None where it has none
    refit: Callable[[Duels], xr.DataTree | None]
    goal: Goal  # what should stand

    @cached_property
    def _worth(self) -> np.ndarray:
        return worth_of(self.fit)

    @cached_property
    def _mean(self) -> np.ndarray:
        return self._worth.mean(axis=0, dtype=float)

    @property
    def _weight(self) -> np.ndarray:
        votes: Any = self.log.votes
        return votes.weight.astype(float)

    @cached_property
    def _pairs(self) -> np.ndarray:
        return self.goal.pairs(self._worth)

    @cached_property
    def _influence(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The kind of each vote, and the influence (kinds, pairs) of one as cast and reversed."""
        draws, _, _ = draws_of(self.fit, "model")
        cast, other, of_vote = _kinds(draws.model, self.log)
        # 40,000,000 draws x kinds of votes, about: of very many kinds, fewer draws
        # 200 draws at least: covariances to a standard error of 7 %
        affordable = 40_000_000 // max(len(cast), 1)
        n_used = int(np.clip(affordable, 200, draws.n_draws))
        used = draws.spread(n_used)
        worth = self._worth[used].astype(float)
        ahead, behind = self._pairs.T
        apart = worth[:, ahead] - worth[:, behind]
        apart -= apart.mean(axis=0)
        as_cast = _covariances(draws, used, apart, cast)
        turned = _covariances(draws, used, apart, other)
        return of_vote, as_cast, turned

    def fewest(
        self, by: str, level: np.ndarray | None, names: "Sequence[str]", change: str, share: float
    ) -> tuple[dict[str, Any], pd.DataFrame]:
        """Return the fewest votes, or levels of a column, that change the goal.

        by: "vote", or the name of the column.
        level: the level of each vote, -1 of none; None of single votes.
        names: labels of the levels.
        change: "removed" or "reversed".
        share: of all votes, or levels, up to which they are changed.
        Returns a row of the table of :class:`bayesduel.criticism.audit.Audit`, and what is changed:
        ``item`` ("a beat b", "a and b tied", or the level) and ``votes`` of it, the most votes or
        the most influential level first.
        """
        units, pull = self._units(level, len(names), change)
        total = int(units.times.sum())
        shared = int(share * total)
        limit = min(shared, total - 1)
        orders = self._orders(units, pull)
        found = self._searched(orders, units, change, limit)
        first = orders[0].proposed
        row: dict[str, Any] = {
            "by": by,
            "change": change,
            "needed": np.nan,
            "of": total,
            "share": np.nan,
            "votes": np.nan,
            "proposed": float(first or np.nan),
            "limit": limit,
            "new": (),
            "lost": (),
        }
        if found is None:
            nothing = np.zeros_like(self._weight)
            nowhere = np.zeros(0, dtype=int)
            return row, _table(self.log, nothing, level, names, nowhere)
        before = self.goal.top(self._mean)
        then = self.goal.top(found.mean)
        row["needed"] = found.needed
        row["share"] = found.needed / total
        row["votes"] = float(found.gone.sum())
        row["new"] = self._labels(_without(then, before))
        row["lost"] = self._labels(_without(before, then))
        return row, _table(self.log, found.gone, level, names, found.place)

    def _labels(self, arms: np.ndarray) -> tuple[str, ...]:
        """Return the labels of arms."""
        return tuple(self.log.arms[arm] for arm in arms)

    def _units(
        self, level: np.ndarray | None, n_levels: int, change: str
    ) -> "tuple[_Units, np.ndarray]":
        """Return what is changed one at a time, and the influence of each, (units, pairs)."""
        of_vote, cast, turned = self._influence
        pull = cast - turned if change == "reversed" else cast
        weight = self._weight
        if level is None:
            times = np.bincount(of_vote, weight, len(cast))
            return _Units(of_vote, times, weight, single=True), pull
        known = level >= 0
        place = level[known], of_vote[known]
        shape = (n_levels, len(cast))
        held = sparse.csr_array((weight[known], place), shape=shape)
        once = np.ones(n_levels)
        units = _Units(level, once, weight, single=False)
        return units, held @ pull

    def _orders(self, units: "_Units", pull: np.ndarray) -> "list[_Order]":
        """Return the units by their influence on each pair, the pair of the fewest first."""
        total = int(units.times.sum())
        mean = self._mean
        found = []
        for pair, influence in zip(self._pairs, pull.T, strict=True):
            ahead, behind = pair
            gap = mean[ahead] - mean[behind]
            found.append(_Order.of(pair, gap, influence, units.times))
        return sorted(found, key=lambda order: order.proposed or total)

    def _searched(
        self, orders: "list[_Order]", units: "_Units", change: str, limit: int
    ) -> Found | None:
        """Return the fewest, up to `limit`, that change the goal; None where none do."""
        total = int(units.times.sum())
        found = None
        most = limit
        # The three of the fewest votes to first order are searched for by refits
        for order in orders[:3]:
            proposed = order.proposed or total
            hopeless = found is not None and proposed > most
            if most < 1 or hopeless:
                break
            available = min(most, order.most)
            fewer = self._fewer(order, units, change, available)
            if fewer is not None:
                found = fewer
                most = int(fewer.needed) - 1
        return found

    def _fewer(self, order: "_Order", units: "_Units", change: str, most: int) -> Found | None:
        """Return the fewest, up to `most`, that change the goal, by refits; None of none."""
        ahead, behind = order.pair
        stands = set(self.goal.top(self._mean))
        tried: dict[int, Found] = {}

        def gap_of(n: int) -> tuple[float, bool]:
            gone = units.taken(order, n)
            again = self.refit(_changed(self.log, gone, change))
            if again is None:  # what is left does not determine the model: it says nothing
                return order.gap, False
            mean = worth_of(again).mean(axis=0, dtype=float)
            tried[n] = Found(float(n), gone, mean, order.place)
            changed = set(self.goal.top(mean)) != stands
            return mean[ahead] - mean[behind], changed

        n = _search(order.proposed, most, order.gap, gap_of)
        return None if n is None else tried[n]


def worth_of(fit: xr.DataTree) -> np.ndarray:
    """Return draws of what arms are ranked by, (draws, K): scores, or Borda scores of P."""
    draws, _, _ = draws_of(fit, "model")
    return draws.worth


def _without(arms: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the arms that are not among the others."""
    return arms[~np.isin(arms, others)]


def _kinds(model: "Model", log: Duels) -> tuple[ModelCells, ModelCells, np.ndarray]:
    """Return one vote of each kind that the model distinguishes, the same reversed, and which.

    The third is the kind of each vote, (votes,).
    """
    given: dict[str, Any] = {"ordered": model.terms.reads_order}
    columns = model.terms.columns(log)
    votes = log.votes
    assert votes is not None
    if not model.response.counts_add_up:
        every = votes.weight.astype(float)
        turned = _changed(log, every, "reversed")
        kinds = []
        for one in (log, turned):
            seen = seen_in(one, columns, each=True, **given)
            kinds.append(model.cells(one, seen=seen, unit="duel"))
        return kinds[0], kinds[1], np.arange(len(votes))
    seen = seen_in(log, columns, by_vote=True, **given)
    cell, outcome, of_vote = seen.kinds()
    own = rows_of_columns(seen.columns, cell)

    def with_outcome(result: np.ndarray) -> ModelCells:
        single = Seen(columns=own, counts=np.eye(3)[result])
        return model.cells(log, seen=single, unit="duel")

    reverse = np.array([1, 0, 2])  # of won by first, won by second, tied
    return with_outcome(outcome), with_outcome(reverse[outcome]), of_vote


def _covariances(
    draws: Draws, used: np.ndarray, apart: np.ndarray, cells: ModelCells
) -> np.ndarray:
    """Return the covariance of each vote's log likelihood with centred `apart`, (kinds, pairs)."""
    posterior = draws.rows(used)
    found = np.empty((len(cells), apart.shape[1]))
    # 4,000,000 draws x kinds worked on at once
    for here in chunks(len(cells), 4_000_000 // len(used)):
        some = cells.take(here)
        each = draws.model.log_likelihood(posterior, some, "duel")
        found[here] = each.T @ apart / len(used)
    return found


class _Order(NamedTuple):
    """Units in the order of their influence on the difference of a pair."""

    pair: np.ndarray  # the arms, ahead and behind, (2,)
    gap: float  # the difference of their means
    place: np.ndarray  # units of positive influence, the largest first
    times: np.ndarray  # how often each can be taken, in that order
    proposed: int | None  # how many bring the difference to 0 to first order; None where all do not

    @classmethod
    def of(cls, pair: np.ndarray, gap: float, pull: np.ndarray, times: np.ndarray) -> "_Order":
        useful = (pull > 0) & (times > 0)
        by_influence = np.argsort(-pull, kind="stable")
        place = by_influence[useful[by_influence]]
        pull = pull[place]
        times = times[place]
        reach = np.cumsum(pull * times)
        k = int(np.searchsorted(reach, gap))
        if k >= len(place):
            return cls(pair, gap, place, times, None)
        before = reach[k - 1] if k else 0.0
        rest = gap - before
        of_last = np.ceil(rest / pull[k] - 1e-9)
        of_others = times[:k].sum()
        proposed = int(of_others + max(1, of_last))
        return cls(pair, gap, place, times, proposed)

    @property
    def most(self) -> int:
        """How many can be taken."""
        return int(self.times.sum())


class _Units(NamedTuple):
    """What is changed one at a time: duels of a kind, or levels of a column."""

    of_vote: np.ndarray  # the unit of each vote, (votes,); -1 of a vote without a level
    times: np.ndarray  # how often each can be taken, (units,)
    weight: np.ndarray  # duels of each vote, (votes,)
    single: bool  # whether units are kinds of duels

    def taken(self, order: _Order, n: int) -> np.ndarray:
        """Return how many duels of each vote are taken with the first `n`, (votes,)."""
        asked = np.zeros(len(self.times))
        before = np.cumsum(order.times) - order.times
        of_unit = np.clip(n - before, 0, order.times)
        asked[order.place] = of_unit
        of_vote = asked[self.of_vote]
        if not self.single:
            taken = of_vote * self.weight
            return np.where(self.of_vote >= 0, taken, 0.0)
        by_unit = pd.Series(self.weight).groupby(self.of_vote)
        ahead = by_unit.cumsum() - self.weight
        return np.clip(of_vote - ahead.to_numpy(), 0, self.weight)


def _search(proposed: int | None, most: int, gap: float, gap_of: Callable[..., Any]) -> int | None:
    """Return the least number, up to `most`, at which the goal changes; None of none.

    By a secant of the difference, whose ends close in on it to within a hundredth.
    """
    if most < 1:
        return None
    low = 0
    at_low = gap
    high = None
    at_high = 0.0
    n = most if proposed is None else proposed
    while True:
        last = most if high is None else high - 1
        n = int(np.clip(n, low + 1, last))
        apart, changed = gap_of(n)
        if changed:
            high = n
            at_high = apart
        elif n == most:
            return None
        else:
            low = n
            at_low = apart
        if high is None:
            n = 2 * low
            slope = (gap - at_low) / low
            if slope > 0:
                further = np.ceil(1.05 * at_low / slope)
                n = min(low + int(further), n)
            continue
        # A number of votes n is found to within n / 100
        width = high - low
        if width <= max(1, high // 100):
            return high
        part = 0.5
        if at_high < at_low:
            part = at_low / (at_low - at_high)
        part = float(np.clip(part, 0.1, 0.9))
        n = low + round(width * part)


def _changed(log: Duels, gone: np.ndarray, change: str) -> Duels:
    """Return the log without `gone` duels of each vote, (votes,), or with these reversed."""
    votes: Any = log.votes
    taken = np.asarray(gone, dtype=votes.weight.dtype)
    rest = np.flatnonzero(taken < votes.weight)
    weight = (votes.weight - taken)[rest]
    kept = replace(votes.take(rest), weight=weight)
    if change == "reversed":
        turned = np.flatnonzero(taken)
        rows = np.concatenate([rest, turned])
        weight = np.concatenate([weight, taken[turned]])
        sign = np.ones(len(rows), dtype=np.int8)
        sign[len(rest) :] = -1
        kept = replace(votes.take(rows), weight=weight)
        for name in ("outcome", "margin", "grade"):
            column = getattr(kept, name)
            if column is not None:
                kept = replace(kept, **{name: column * sign})
        kept = kept.take(np.argsort(rows, kind="stable"))
    return log_of_votes(log, kept)


def _table(
    log: Duels,
    gone: np.ndarray,
    level: np.ndarray | None,
    names: "Sequence[str]",
    place: np.ndarray,
) -> pd.DataFrame:
    """Return what is changed, a row per level or a pair and outcome."""
    if level is not None:
        n_levels = len(names)
        size = sums_by_level(level, gone, n_levels).astype(int)
        kept = [k for k in place if size[k]]
        labels = [names[k] for k in kept]
        return pd.DataFrame({"item": labels, "votes": size[kept]})
    votes: Any = log.votes
    sides = log.sides
    rows = np.flatnonzero(gone)
    items = []
    changed_votes = votes.take(rows)
    kinds = zip(changed_votes.left, changed_votes.right, changed_votes.outcome, strict=True)
    for left, right, outcome in kinds:
        words = _result_words(sides[left], sides[right], outcome)
        items.append(words)
    changed = pd.Series(gone[rows].astype(int))
    size = changed.groupby(items).sum()
    size = size.sort_values(ascending=False, kind="stable")
    return pd.DataFrame({"item": size.index.to_numpy(), "votes": size.to_numpy()})


def _result_words(left: str, right: str, outcome: int) -> str:
    if outcome == 0:
        return f"{left} and {right} tied"
    if outcome > 0:
        return f"{left} beat {right}"
    return f"{right} beat {left}"
