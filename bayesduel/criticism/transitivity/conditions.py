"""Cycles that conditions explain: replicated logs of a ranking that changes with them.

Pairs that met at different times, in different categories or at different covariates may look
cyclic though every moment and category has a ranking. So the log is also held against logs
replicated from a model with a term for each of these, fitted to it, under the log's own conditions.
"""

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesduel.criticism.levels import grouped, rows_of_columns
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.criticism.transitivity.triads import Triads, as_cyclic, measured
from bayesduel.data.duels import Duels
from bayesduel.data.majority import VoteUnits, units_of
from bayesduel.data.votes import pair_codes

if TYPE_CHECKING:
    from bayesduel.models.term import Part

__all__ = ["condition_terms", "conditional_p_value"]

# Replicated logs: p-values are multiples of 1 / 400, 5 % among them (Davison & Hinkley, "Bootstrap
# Methods and their Application", 1997, section 4.2.5).
DRAWS = 399


def condition_terms(duels: Duels) -> "dict[str, Part]":
    """Return a term for each condition that the votes of a log name, by the condition."""
    from bayesduel.models import CategoryEffects, DuelCovariates, RandomEffects, TimeVarying

    votes = duels.votes
    found: dict[str, Part] = {}
    if votes is None:
        return {}
    moments = () if votes.time is None else np.unique(votes.time)
    if len(moments) > 1:
        found["time"] = TimeVarying()
    if votes.category is not None and len(votes.categories) > 1:
        found["category"] = CategoryEffects()
    for name, (_, levels) in votes.kept.items():
        # Levels of a kept column over votes, up to which it is a condition: 0.5
        if 1 < len(levels) <= 0.5 * len(votes):
            found[name] = RandomEffects(name)
    if votes.covariates is not None:
        found[", ".join(votes.covariate_names)] = DuelCovariates(votes.covariate_names)
    return found


def conditional_p_value(
    duels: Duels,
    design: DecidedDuels,
    role: Literal["group", "judge"] | None,
    triads: Triads,
    first_wins: float,
    seed: int,
) -> tuple[tuple[str, ...], float]:
    """Return the conditions of a log, and the p-value of its cyclicity under a model with them.

    Names of the conditions, and the posterior predictive p-value (conservative); NaN where the log
    names none, where no such model can be fitted to it, and where that model does not fit: it
    predicts far more cycles than the log has.
    """
    from bayesduel.inference.fit import sampled
    from bayesduel.models import BradleyTerry, SideAdvantage

    terms = condition_terms(duels)
    names = tuple(terms)
    if not terms:
        return names, float("nan")
    model = BradleyTerry()
    if design.has_order:
        model = model + SideAdvantage()
    for term in terms.values():
        model = model + term
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            made = sampled(
                duels, model, "laplace", draws=DRAWS + 1, chains=1, seed=seed, log_likelihood=False
            )
        except ValueError:
            return names, float("nan")
    settled = model.settled(duels)
    posterior = rows_of_columns(made.drawn.posterior, slice(DRAWS))
    votes: Any = duels.votes
    voted = votes.weight > 0
    decided = np.flatnonzero((votes.outcome != 0) & voted)
    cells = settled.cells(duels, each=True).take(decided)
    chances = settled.outcomes(posterior, cells.data)
    rng = np.random.default_rng(seed)
    n = np.asarray(cells.data["n"], dtype=np.int64)
    left = votes.left[decided]
    right = votes.right[decided]
    left_wins = chances["win"]
    win = np.where(left < right, left_wins, 1 - left_wins)
    if role is None:
        of_low = rng.binomial(n, win)
        pair = pair_codes(left, right, design.n_arms)
    else:
        units = units_of(duels, role)
        kept = units.points(units.outcome) != 0
        weight = votes.weight[decided]
        of_low = _majorities(units, kept, n, win, weight, rng)
        pair = pair_codes(units.low[kept], units.high[kept], design.n_arms)
    pairs = pair_codes(design.first, design.second, design.n_arms)
    by_pair = grouped(np.searchsorted(pairs, pair), len(pairs))
    won = np.ascontiguousarray(of_low @ by_pair, dtype=float)
    replicated = measured(design, triads, won, first_wins)[:, 0]
    won_in_log = design.by_pair(design.won)
    of_log = measured(design, triads, won_in_log[None], first_wins)
    observed = of_log[0, 0]
    n_logs = 1 + len(replicated)
    no_more_cyclic = as_cyclic(-replicated, -observed)
    n_no_more_cyclic = 1 + no_more_cyclic.sum()
    # Share of logs no more cyclic than this one, 0.025: the other tail, two-sided 95 %
    if n_no_more_cyclic <= 0.025 * n_logs:
        return names, float("nan")
    n_as_cyclic = 1 + as_cyclic(replicated, observed).sum()
    return names, float(n_as_cyclic / n_logs)


def _majorities(
    units: VoteUnits,
    kept: np.ndarray,
    n: np.ndarray,
    win: np.ndarray,
    weight: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return whether each unit that is kept goes to the lower arm, (draws, units).

    These have a majority in the log, so their votes are drawn again where they are level, up to
    20 times; then one is drawn at random.
    """
    won = rng.binomial(n, win)
    points = units.points(2 * won - weight)
    for _ in range(20):  # of two votes, all but 2^-20 are then decided
        level = (points == 0) & kept
        level_once = level.any(axis=0)
        of_level = level_once[units.place]
        rows = np.flatnonzero(of_level)
        if not len(rows):
            break
        won = rng.binomial(n[rows], win[:, rows])
        drawn = np.zeros((len(points), len(n)))
        drawn[:, rows] = 2 * won - weight[rows]
        points = np.where(level, units.points(drawn), points)
    coin = rng.choice([-1, 1], points.shape)
    settled = np.where(points == 0, coin, points)
    return np.asarray(settled > 0)[:, kept]
