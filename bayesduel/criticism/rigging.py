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

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.criticism.levels import grouped, without_votes
from bayesduel.data.duels import Duels
from bayesduel.intervals import rejected
from bayesduel.models.cells import seen_in
from bayesduel.posterior.draws import draws_of

__all__ = ["improbable_levels"]

FOLDS = 10
DRAWS = (100, 400)  # at least and at most
NUMBERS = 10_000_000  # draws x rows of a fold, about
CHUNK = 2_000_000  # of these worked on at once
LEAST_VOTES = 5  # from which a judge is tested
STEPS = 15  # of bisection for the exponent of a bound
STEEPEST = 60.0  # exponent, in standard deviations of the sum
NEAR = 1.5  # standard deviations from the mean up to which a tail counts as 1


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
    if log.teams is not None:
        worth = log.teams.matrix(log.n_arms) @ worth
    known = level >= 0
    size = np.bincount(level[known], votes.weight[known], len(names))
    ahead = votes.outcome * votes.weight * (worth[votes.left] - worth[votes.right])
    excess = np.bincount(level[known], ahead[known], len(names)).round(9)
    fold = np.empty(len(names), dtype=int)
    fold[np.lexsort((excess, size))] = rng.permutation(len(names)) % FOLDS
    parts = []
    for k in range(FOLDS):
        mine = np.flatnonzero((fold == k) & (size >= LEAST_VOTES))
        if len(mine):
            fit = refit(without_votes(log, np.isin(level, np.flatnonzero(fold == k))))
            parts += [] if fit is None else [_tested(fit, log, level, mine)]
    columns = ("surprise", "arm", "points", "expected", "duels", "p_value")
    frame = pd.concat(parts) if parts else pd.DataFrame(columns=list(columns), index=[])
    sides = log.sides
    frame.insert(0, "votes", size[frame.index.to_numpy(dtype=int)].astype(int))
    frame = frame.sort_values(["p_value", "surprise"], ascending=[True, False], kind="stable")
    frame["flagged"] = np.arange(len(frame)) < rejected(frame["p_value"], alpha)
    frame["arm"] = [sides[int(a)] for a in frame["arm"]]
    frame.insert(0, "level", [names[int(k)] for k in frame.index])
    return frame.reset_index(drop=True)


def _tested(fit: xr.DataTree, log: Duels, level: np.ndarray, mine: np.ndarray) -> pd.DataFrame:
    """Return the table of the levels `mine`, (n,), by a fit without them."""
    draws = draws_of(fit, "model")[0]
    held = np.isin(level, mine)
    n = len(mine)
    part = without_votes(log, ~held)
    own = {name: c[held] for name, c in draws.model.terms.columns(log).items()}
    own["unit"] = np.searchsorted(mine, level[held])
    ordered = draws.model.terms.reads_order
    seen = seen_in(part, own, ordered=ordered, by_vote=True)
    order = np.argsort(seen.columns["unit"], kind="stable")
    given = {name: column[order] for name, column in seen.columns.items()}
    unit = given.pop("unit")
    counts = seen.counts[order]  # won, lost and tied, (rows, 3)
    times = counts.sum(axis=1)
    # The arms that each level saw, as numbers, and those of each row, (2, rows).
    saw = np.stack([unit.astype(np.int64) * log.n_sides + given[s] for s in ("first", "second")])
    sides, of_side = np.unique(saw, return_inverse=True)
    of_side = of_side.reshape(saw.shape)
    n_draws = int(np.clip(NUMBERS // len(unit), *DRAWS))
    given |= draws.model.seats(log.teams, given["first"], given["second"])
    tables = draws.model.terms.tables(log.arms)
    chance, likely, gained = _predicted(
        draws.model, draws.rows(draws.spread(n_draws)), given, tables, unit, times, of_side
    )
    by_row = _log_chances(chance)
    low, expected, observed = _tails(by_row, chance, times, unit, counts, likely, n)
    p_likely = np.where(observed < expected, np.exp(low), 1.0)
    both = np.tile(chance, (2, 1)), np.tile(times, 2), np.concatenate(of_side)
    value = np.repeat([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], len(unit), axis=0)
    cast = np.tile(counts, (2, 1))
    bound, mean, total = _tails(value, *both, cast, gained, len(sides))
    of_level = sides // log.n_sides
    arm = sides % log.n_sides
    met = np.bincount(of_level, minlength=n)
    p_side = np.minimum(1.0, 2 * met[of_level] * np.exp(bound))
    order = np.lexsort((p_side, of_level))
    first = order[np.r_[True, np.diff(of_level[order]) != 0]]  # each level's least
    size = np.bincount(unit, times, n)
    return pd.DataFrame(
        {
            "surprise": (expected - observed) / size,
            "arm": arm[first],
            "points": total[first],
            "expected": mean[first],
            "duels": np.bincount(both[2], both[1], len(sides))[first].astype(int),
            "p_value": np.minimum(1.0, 2 * np.minimum(p_likely, p_side[first])),
        },
        index=mine,
    )


def _predicted(
    model: Any,
    posterior: dict[str, np.ndarray],
    given: dict[str, np.ndarray],
    tables: dict[str, np.ndarray],
    unit: np.ndarray,
    times: np.ndarray,
    of_side: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probability of each outcome, (rows, 3), and variances of sums in the posterior.

    These are of the expected log likelihood of each level, (n,), and of the expected points of
    each of its arms, (sides,). Rows are sorted by level.
    """
    chance = np.empty((len(unit), 3))
    likely = np.zeros(unit[-1] + 1)
    gained = np.zeros(int(of_side.max()) + 1)
    stops = np.append(np.flatnonzero(np.diff(unit)) + 1, len(unit))
    start = 0
    step = CHUNK // len(next(iter(posterior.values())))
    while start < len(unit):
        most, least = (int(np.searchsorted(stops, n, "right")) for n in (start + step, start))
        stop = int(stops[max(most - 1, least)])
        here = slice(start, stop)
        found = model.outcomes(posterior, {k: c[here] for k, c in given.items()} | tables)
        win = found["win"]
        loss = found["loss"]
        tied = found.get("tie", np.zeros((1, stop - start)))
        chance[here] = np.stack([one.mean(axis=0) for one in (win, loss, tied)], axis=-1)
        log_chance = _log_chances(chance[here]) * times[here, None]
        expected = win * log_chance[:, 0] + loss * log_chance[:, 1] + tied * log_chance[:, 2]
        points = (win + tied / 2) * times[here]
        for into, value, group in (
            (likely, expected, unit[here]),
            (gained, np.hstack([points, times[here] - points]), of_side[:, here].ravel()),
        ):
            kinds, place = np.unique(group, return_inverse=True)
            into[kinds] = (value @ grouped(place, len(kinds))).var(axis=0)
        start = stop
    return chance, likely, gained


def _log_chances(chance: np.ndarray) -> np.ndarray:
    """Return the log likelihood of each outcome; a tie that has no chance is half of both."""
    log = np.log(np.maximum(chance, 1e-300))
    none = chance[:, 2] <= 1e-300
    log[none, 2] = (log[none, 0] + log[none, 1]) / 2
    return log


def _tails(
    value: np.ndarray,
    chance: np.ndarray,
    times: np.ndarray,
    group: np.ndarray,
    counts: np.ndarray,
    variance: np.ndarray,
    n: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log bounds of the tails of sums by group, their means and the sums, (n,) each.

    The tail is that beyond the sum, on its side of the mean.

    value, chance, counts: of each outcome: what it adds, its probability and how often it was cast,
        (rows, 3).
    times, group: votes and group of each row, (rows,).
    variance: of the mean of each sum in the posterior, (n,).
    """
    chance = chance / chance.sum(axis=1, keepdims=True)
    total = np.bincount(group, (counts * value).sum(axis=1), n)
    middle = (chance * value).sum(axis=1)
    mean = np.bincount(group, times * middle, n)
    own = (chance * (value - middle[:, None]) ** 2).sum(axis=1)
    sd = np.sqrt(np.bincount(group, times * own, n) + variance)
    sd = np.maximum(sd, 1e-12)
    goal = np.abs(total - mean) / sd
    extra = variance / sd**2
    far = np.flatnonzero(goal > NEAR)
    rows = np.isin(group, far)
    value = value[rows]
    chance = chance[rows]
    times = times[rows]
    middle = middle[rows]
    group = np.searchsorted(far, group[rows])
    goal = goal[far]
    extra = extra[far]
    sign = np.where(total < mean, -1.0, 1.0)[far]
    sd = sd[far]
    away = sign[group, None] * (value - middle[:, None]) / sd[group, None]

    def cumulant(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cumulant generating function of the standardised sums and its slope."""
        power = t[group, None] * away
        top = power.max(axis=1)
        weight = chance * np.exp(power - top[:, None])
        whole = weight.sum(axis=1)
        slope = (weight * away).sum(axis=1) / whole
        grown = np.bincount(group, times * (top + np.log(whole)), len(far)) + extra * t**2 / 2
        return grown, np.bincount(group, times * slope, len(far)) + extra * t

    low = np.zeros(len(far))
    high = np.full(len(far), STEEPEST)
    for _ in range(STEPS):
        t = (low + high) / 2
        short = cumulant(t)[1] < goal
        low = np.where(short, t, low)
        high = np.where(short, high, t)
    t = (low + high) / 2
    found = np.zeros(n)
    found[far] = np.minimum(cumulant(t)[0] - t * goal, 0.0)
    return found, mean, total
