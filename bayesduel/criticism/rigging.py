"""Rigging: judges whose votes are improbable given everyone else's.

Judges are divided into folds and the log is fitted without each fold in turn, so that the
prediction of a judge's votes rests on others' alone. Two statistics are compared with their
predictive distributions, the posterior's uncertainty included: the log likelihood of the votes,
which is low of one who votes at random or in reverse, and the points of each arm that the judge
saw, which are many of an arm that the judge favours. Tail probabilities are Chernoff's bounds,
which hold for any number of votes: the false alarm rate is at most that stated where judges are
alike. Where judges differ in taste, the model should say so (``RandomEffects("judge")``).

References
----------
Min et al., "Improving your model ranking on Chatbot Arena by vote rigging", ICML 2025 (who votes
for one arm wherever it is recognised). Chernoff, "A measure of asymptotic efficiency for tests of a
hypothesis based on the sum of observations", Annals of Mathematical Statistics 1952. Holm, "A
simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
Deviations: of the means of sums under the posterior, which enter as normal variables, the mean
and the variance.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.criticism.levels import (
    FOLDS,
    grouped,
    rows_of_columns,
    sums_by_level,
    without_votes,
)
from bayesduel.data.duels import Duels
from bayesduel.intervals import rejected
from bayesduel.models.cells import seen_in
from bayesduel.posterior.draws import draws_of

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["improbable_levels"]

LEAST_CHANCE = 1e-300  # whose logarithm is finite: the least normal number is 2e-308
TESTED = ["surprise", "arm", "points", "expected", "duels", "p_value"]  # columns of a test


def improbable_levels(
    log: Duels,
    level: np.ndarray,
    names: tuple[str, ...],
    worth: np.ndarray,
    refit: Callable[[Duels], xr.DataTree | None],
    alpha: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return how improbable the votes of each level of a column are given all others.

    log: the log, with votes.
    level, names: the level of each vote, -1 of none, and the labels.
    worth: what each arm is worth, (K,): levels are in the order of their sizes and of what the arms
        that they voted for exceed the others by, so that folds do not depend on labels.
    refit: returns the fit of a part of the log, or None where it has none.
    alpha: familywise error rate of the flags, by Holm's rule.
    rng: divides the levels into folds; of at most ten, each is one.
    Returns one row a ``level`` of five votes or more, the most improbable first: ``votes``;
    ``surprise`` (how much lower the mean log likelihood of a vote is than expected, in nats); the
    ``arm`` whose points are the most improbable, its ``points``, what is ``expected`` and in how
    many ``duels``; ``p_value`` (twice the smaller of those of the likelihood and of the arms, the
    latter by Bonferroni's rule, at most 1), and ``flagged``.
    """
    votes: Any = log.votes
    size = sums_by_level(level, votes.weight, len(names))
    fold = _folds(log, level, worth, size, rng)
    parts = []
    # 5 votes from which a judge is tested
    tested = size >= 5
    for k in range(FOLDS):
        in_fold = fold == k
        mine = np.flatnonzero(in_fold & tested)
        if not len(mine):
            continue
        gone = np.isin(level, np.flatnonzero(in_fold))
        fit = refit(without_votes(log, gone))
        if fit is not None:
            parts.append(_tested(fit, log, level, mine))
    if parts:
        frame = pd.concat(parts)
    else:
        frame = pd.DataFrame(columns=TESTED, index=[])
    places = frame.index.to_numpy(dtype=int)
    frame.insert(0, "votes", size[places].astype(int))
    frame = frame.sort_values(["p_value", "surprise"], ascending=[True, False], kind="stable")
    n_flagged = rejected(frame["p_value"], alpha)
    frame["flagged"] = np.arange(len(frame)) < n_flagged
    sides = log.sides
    frame["arm"] = [sides[int(arm)] for arm in frame["arm"]]
    labels = [names[int(place)] for place in frame.index]
    frame.insert(0, "level", labels)
    return frame.reset_index(drop=True)


def _folds(
    log: Duels, level: np.ndarray, worth: np.ndarray, size: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the fold of each level, (levels,), whatever their labels.

    size: votes of each level. Levels of one size are in the order of their excess: by how much
    the arms that they voted for exceed the others in worth.
    """
    votes: Any = log.votes
    if log.teams is not None:
        worth = log.teams.matrix(log.n_arms) @ worth
    n_levels = len(size)
    lead = worth[votes.left] - worth[votes.right]
    ahead = votes.outcome * votes.weight * lead
    excess = sums_by_level(level, ahead, n_levels)
    order = np.lexsort((excess.round(9), size))
    fold = np.empty(n_levels, dtype=int)
    fold[order] = rng.permutation(n_levels) % FOLDS
    return fold


class Rows(NamedTuple):
    """Votes of some levels that a model does not distinguish, a row each, sorted by level."""

    level: np.ndarray  # place of each row's level among those tested, (rows,)
    given: dict[str, np.ndarray]  # conditions of each row, as the model takes them
    counts: np.ndarray  # won by the first arm, by the second and tied, (rows, 3)

    @property
    def times(self) -> np.ndarray:
        """Votes of each row, (rows,)."""
        return self.counts.sum(axis=1)


def _rows(model: "Model", log: Duels, level: np.ndarray, mine: np.ndarray) -> Rows:
    """Return the votes of the levels `mine`."""
    held = np.isin(level, mine)
    columns = rows_of_columns(model.terms.columns(log), held)
    columns["unit"] = np.searchsorted(mine, level[held])
    part = without_votes(log, ~held)
    seen = seen_in(part, columns, ordered=model.terms.reads_order, by_vote=True)
    order = np.argsort(seen.columns["unit"], kind="stable")
    given = rows_of_columns(seen.columns, order)
    unit = given.pop("unit")
    given |= model.seats(log.teams, given["first"], given["second"])
    counts = seen.counts[order]
    return Rows(unit, given, counts)


def _tested(fit: xr.DataTree, log: Duels, level: np.ndarray, mine: np.ndarray) -> pd.DataFrame:
    """Return the table of the levels `mine`, (n,), by a fit without them."""
    draws, _, _ = draws_of(fit, "model")
    model = draws.model
    rows = _rows(model, log, level, mine)
    of_row = rows.level
    # The arms that each level saw, as numbers, and those of each row, first and second.
    arms = np.stack([rows.given["first"], rows.given["second"]])
    first_of_level = of_row * np.int64(log.n_sides)
    saw = first_of_level + arms
    sides, of_side = np.unique(saw, return_inverse=True)
    of_side = of_side.reshape(saw.shape)
    # 100 to 400 draws
    # 10,000,000 draws x rows of a fold, about
    affordable = 10_000_000 // len(of_row)
    n_draws = int(np.clip(affordable, 100, 400))
    posterior = draws.rows(draws.spread(n_draws))
    tables = model.terms.tables(log.arms)
    chance, likely, gained = _predicted(model, posterior, rows, tables, of_side)
    times = rows.times
    log_chance = _log_chances(chance)
    low, expected, observed = _tails(log_chance, chance, times, of_row, rows.counts, likely)
    p_likely = np.where(observed < expected, np.exp(low), 1.0)
    bound, mean, total = _tails_of_points(rows, chance, of_side, gained)
    of_level, arm = np.divmod(sides, log.n_sides)
    n_sides = np.bincount(of_level)
    n_tested = 2 * n_sides[of_level]
    p_side = np.minimum(1.0, n_tested * np.exp(bound))
    order = np.lexsort((p_side, of_level))
    _, starts = np.unique(of_level[order], return_index=True)
    least = order[starts]  # the side of each level that is the most improbable
    smaller = np.minimum(p_likely, p_side[least])
    times_of_side = np.tile(times, 2)
    n_duels = np.bincount(of_side.ravel(), times_of_side)
    n_votes = np.bincount(of_row, times)
    columns = {
        "surprise": (expected - observed) / n_votes,
        "arm": arm[least],
        "points": total[least],
        "expected": mean[least],
        "duels": n_duels[least].astype(int),
        "p_value": np.minimum(1.0, 2 * smaller),
    }
    return pd.DataFrame(columns, index=mine)


def _tails_of_points(
    rows: Rows, chance: np.ndarray, of_side: np.ndarray, gained: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what :func:`_tails` does, of the points of each arm that a level saw, (sides,) each.

    chance: of each outcome, (rows, 3). of_side, gained: as in :func:`_predicted`.
    """
    # Points of the first arm of each row, then of the second
    of_first = [1.0, 0.0, 0.5]
    of_second = [0.0, 1.0, 0.5]
    points = np.repeat([of_first, of_second], len(chance), axis=0)
    chances = np.tile(chance, (2, 1))
    counts = np.tile(rows.counts, (2, 1))
    times = np.tile(rows.times, 2)
    return _tails(points, chances, times, of_side.ravel(), counts, gained)


def _predicted(
    model: "Model",
    posterior: dict[str, np.ndarray],
    rows: Rows,
    tables: dict[str, np.ndarray],
    of_side: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probability of each outcome, (rows, 3), and variances of sums in the posterior.

    These are of the expected log likelihood of each level, (n,), and of the expected points of
    each of its arms, (sides,).

    tables: of the arms, as the model takes them. of_side: the arms of each row, (2, rows).
    """
    chance = np.empty((len(rows.level), 3))
    likely = np.zeros(rows.level[-1] + 1)
    gained = np.zeros(of_side.max() + 1)
    n_draws = len(next(iter(posterior.values())))
    # 2,000,000 draws x rows worked on at once
    for here in _whole_levels(rows.level, 2_000_000 // n_draws):
        given = rows_of_columns(rows.given, here)
        found = model.outcomes(posterior, given | tables)
        win = found["win"]
        loss = found["loss"]
        tie = found.get("tie", np.zeros_like(win))
        for outcome, drawn in enumerate((win, loss, tie)):
            chance[here, outcome] = drawn.mean(axis=0)
        times = rows.times[here]
        log_chance = _log_chances(chance[here])
        of_win, of_loss, of_tie = log_chance.T * times
        expected = win * of_win + loss * of_loss + tie * of_tie
        score = win + tie / 2
        of_first = score * times
        of_second = times - of_first
        points = np.hstack([of_first, of_second])
        sides = of_side[:, here].ravel()
        _add_variances(likely, expected, rows.level[here])
        _add_variances(gained, points, sides)
    return chance, likely, gained


def _whole_levels(level: np.ndarray, most: int) -> Iterator[slice]:
    """Yield slices of sorted rows that hold whole levels, of about `most` rows."""
    last = np.flatnonzero(np.diff(level, append=-1))
    ends = last + 1
    asked = np.arange(most, len(level) + most, most)
    reached = np.searchsorted(ends, asked)
    within = reached.clip(max=len(ends) - 1)
    stops = np.unique(ends[within])
    for start, stop in pairwise([0, *stops]):
        yield slice(start, stop)


def _add_variances(into: np.ndarray, values: np.ndarray, group: np.ndarray) -> None:
    """Write the variance over draws of sums of `values`, (draws, n), by group."""
    kinds, place = np.unique(group, return_inverse=True)
    sums = values @ grouped(place, len(kinds))
    into[kinds] = sums.var(axis=0)


def _log_chances(chance: np.ndarray) -> np.ndarray:
    """Return the log likelihood of each outcome; a tie that has no chance is half of both."""
    log = np.log(np.maximum(chance, LEAST_CHANCE))
    win, loss, _ = log.T
    no_ties = chance[:, 2] <= LEAST_CHANCE
    half_of_both = (win + loss) / 2
    log[no_ties, 2] = half_of_both[no_ties]
    return log


def _tails(
    value: np.ndarray,
    chance: np.ndarray,
    times: np.ndarray,
    group: np.ndarray,
    counts: np.ndarray,
    variance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log bounds of the tails of sums by group, their means and the sums, (n,) each.

    The tail is that beyond the sum, on its side of the mean.

    value, chance, counts: of each outcome: what it adds, its probability and how often it was cast,
        (rows, 3).
    times, group: votes and group of each row, (rows,).
    variance: of the mean of each sum in the posterior, (n,).
    """
    n = len(variance)

    def by_group(of_row: np.ndarray) -> np.ndarray:
        return np.bincount(group, of_row, n)

    chance = chance / chance.sum(axis=1, keepdims=True)
    middle = (chance * value).sum(axis=1)
    about = value - middle[:, None]
    own = (chance * about**2).sum(axis=1)
    total = by_group((counts * value).sum(axis=1))
    mean = by_group(times * middle)
    of_votes = by_group(times * own)
    # The spread of a sum that cannot vary: 1e-12
    spread = np.maximum(np.sqrt(of_votes + variance), 1e-12)
    goal = np.abs(total - mean) / spread
    extra = variance / spread**2
    sign = np.where(total < mean, -1.0, 1.0)
    factor = sign / spread
    away = about * factor[group, None]

    def cumulant(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cumulant generating function of the standardised sums and its slope."""
        power = t[group, None] * away
        top = power.max(axis=1, keepdims=True)
        weight = chance * np.exp(power - top)
        whole = weight.sum(axis=1)
        of_row = top[:, 0] + np.log(whole)
        moment = (weight * away).sum(axis=1)
        of_votes = by_group(times * of_row)
        slope_of_votes = by_group(times * (moment / whole))
        value = of_votes + extra * t**2 / 2
        return value, slope_of_votes + extra * t

    low = np.zeros(n)
    # Exponent, in standard deviations of the sum: 60
    high = np.full(n, 60.0)
    # 15 steps of bisection for the exponent of a bound
    for _ in range(15):
        t = (low + high) / 2
        _, slope = cumulant(t)
        short = slope < goal
        low = np.where(short, t, low)
        high = np.where(short, high, t)
    t = (low + high) / 2
    at_t, _ = cumulant(t)
    tail = at_t - t * goal
    bound = np.minimum(tail, 0.0)
    # Standard deviations from the mean up to which a tail counts as 1: 1.5
    return np.where(goal > 1.5, bound, 0.0), mean, total
