"""Posterior probabilities of cycles of three arms, from draws of who beats whom.

Statements about all arms concern the triads whose three pairs met.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.criticism.levels import grouped, size_of
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.criticism.transitivity.triads import Triads
from bayesduel.intervals import TAILS95
from bayesduel.jit import compiled

__all__ = ["Cycle", "CyclePosterior", "cycle_posterior"]


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """Three arms, each of which may beat the next, and the last the first."""

    arms: tuple[str, str, str]  # three labels, in that order
    probability: float  # probability of all three majorities
    # probabilities that each arm beats the next, and the last the first: three
    steps: tuple[float, ...]
    # duels won and lost against the next arm, ties left out, one pair an arm
    counts: tuple[tuple[int, int], ...]

    @property
    def around(self) -> str:
        """The arms in words: A > B > C > A."""
        return " > ".join((*self.arms, self.arms[0]))


@dataclass(frozen=True, eq=False, kw_only=True)
class CyclePosterior:
    """Posterior probabilities of cycles."""

    weak: float  # that preferences are weakly transitive: no triad is cyclic
    # that some arm beats every other (pairs that never met have probability one half)
    condorcet: float
    cyclic: tuple[float, float, float]  # cyclic triads: mean, and the ends of the 95 % interval
    cycles: tuple[Cycle, ...]  # the most probable cycles
    # number of cycles, the most probable one included, that are not less probable than it beyond
    # two Monte Carlo standard errors. Where triads were sampled, an estimate.
    n_alike: int
    n_draws: int  # number of posterior draws

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as a dictionary, without the cycles."""
        return {
            "weakly_transitive": self.weak,
            "condorcet_winner": self.condorcet,
            "cyclic_triads": self.cyclic,
            "draws": self.n_draws,
        }


def cycle_posterior(
    ahead: np.ndarray, design: DecidedDuels, labels: tuple[str, ...], triads: Triads
) -> CyclePosterior:
    """Return the posterior probabilities of cycles.

    ahead: whether the first arm of each pair of `design` beats the second, by draw, (draws, pairs).
    """
    n_draws = len(ahead)
    per_draw, per_triad = _count(ahead, triads.edges)
    cyclic = per_draw / triads.share
    share = per_triad / n_draws
    low, high = map(float, np.quantile(cyclic, TAILS95))
    return CyclePosterior(
        weak=float((per_draw == 0).mean()),
        condorcet=_winner(ahead, design),
        cyclic=(float(cyclic.mean()), low, high),
        n_alike=round(_alike(share, n_draws) / triads.share),
        cycles=_named(design, labels, triads.edges, share, ahead.mean(axis=0)),
        n_draws=n_draws,
    )


@compiled
def _count(ahead: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count cyclic triads by draw, and by triad the draws in which it goes round either way."""
    per_draw = np.zeros(len(ahead), dtype=np.int64)
    per_triad = np.zeros((len(edges), 2), dtype=np.int64)
    for draw in range(len(ahead)):
        for triad in range(len(edges)):
            ij = ahead[draw, edges[triad, 0]]
            jk = ahead[draw, edges[triad, 1]]
            ik = ahead[draw, edges[triad, 2]]
            if ij != jk or ij == ik:
                continue
            per_draw[draw] += 1
            per_triad[triad, 0 if ij else 1] += 1
    return per_draw, per_triad


def _winner(ahead: np.ndarray, design: DecidedDuels) -> float:
    """Return the probability that some arm beats every other."""
    n_arms = design.n_arms
    first = grouped(design.first, n_arms)
    second = grouped(design.second, n_arms)
    n_met = size_of(first) + size_of(second)
    won = ahead.astype(float)
    n_lost = (1.0 - won) @ first + won @ second
    # At most one arm wins: given that it beats all it met, the rest are even chances each.
    n_not_met = n_arms - 1.0 - n_met
    beats_rest = 0.5**n_not_met
    by_arm = np.where(n_lost > 0, 0.0, beats_rest)
    by_draw = by_arm.sum(axis=1)
    return float(by_draw.clip(max=1).mean())


def _alike(share: np.ndarray, n_draws: int) -> int:
    """Return how many cycles are not less probable than the most probable one.

    `share` is that of the draws in which each cycle holds; the standard error is that of the
    difference of two shares of the same draws, at most one of which holds in a draw (an upper
    limit where both can).
    """
    each = share.ravel()
    top = each.max(initial=0.0)
    if top == 0:
        return 0
    apart = top - each
    variance = top + each - apart**2
    error = np.sqrt(np.maximum(variance, 0.0) / n_draws)
    return int((apart <= 2 * error).sum())


def _named(
    design: DecidedDuels,
    labels: tuple[str, ...],
    edges: np.ndarray,
    share: np.ndarray,
    ahead: np.ndarray,
) -> tuple[Cycle, ...]:
    """Return the most probable cycles, each from its first arm in alphabetical order."""
    flat = share.ravel()
    won = design.by_pair(design.won).astype(int)
    lost = design.by_pair(design.n).astype(int) - won
    found = []
    # 10 cycles named
    for place in np.argsort(-flat, kind="stable")[:10]:
        if flat[place] <= 0:
            break
        ij, jk, ik = edges[place // 2]
        i = design.first[ij]
        j = design.second[ij]
        k = design.second[jk]
        circle = [i, j, k]
        steps = [ahead[ij], ahead[jk], 1 - ahead[ik]]
        wins = [won[ij], won[jk], lost[ik]]
        losses = [lost[ij], lost[jk], won[ik]]
        if place % 2:  # the other way round: i beats k, k beats j, j beats i
            circle = [i, k, j]
            steps = [1 - step for step in steps[::-1]]
            forth = wins
            wins = losses[::-1]
            losses = forth[::-1]
        cycle = Cycle(
            arms=tuple(labels[arm] for arm in circle),
            probability=float(flat[place]),
            steps=tuple(map(float, steps)),
            counts=tuple(zip(map(int, wins), map(int, losses), strict=True)),
        )
        found.append(cycle)
    return tuple(found)
