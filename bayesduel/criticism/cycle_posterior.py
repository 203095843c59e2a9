"""Posterior probabilities of cycles, by default with independent pairs.

`draw_pairs` draws from the posterior of :class:`bayesduel.models.PreferenceMatrix`, exactly:
given the concentration, pairs are independent with beta posteriors, and the concentration is
drawn from its marginal posterior on a grid. Statements about all arms concern the triads whose
three pairs met.
"""

from dataclasses import dataclass
from math import lgamma

import numpy as np
from scipy.special import betaln

from bayesduel.criticism.levels import grouped
from bayesduel.criticism.transitivity.triads import AT_ONCE, Triads
from bayesduel.data.votes import Pairs

__all__ = ["Cycle", "CyclePosterior", "cycle_posterior", "draw_pairs"]

NAMED = 10  # cycles named
LOG_CONCENTRATION = np.linspace(np.log(4) - 4, np.log(4) + 5, 181)  # prior: Normal(log 4, 1)


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """Three arms, each of which may beat the next, and the last the first."""

    arms: tuple[str, str, str]  # three labels, in that order
    probability: float  # probability of all three majorities, pairs independent
    # probability that each arm beats the next, and the last the first
    steps: tuple[float, float, float]
    # duels won and lost against the next arm, ties left out, one pair an arm
    counts: tuple[tuple[int, int], ...]

    @property
    def around(self) -> str:
        """The arms in words: A > B > C > A."""
        return " > ".join((*self.arms, self.arms[0]))


@dataclass(frozen=True, eq=False, kw_only=True)
class CyclePosterior:
    """Posterior probabilities of transitivity and of cycles."""

    # that preferences are weakly (no cyclic triad), moderately (then P[i, k] is at least the
    # smaller of P[i, j], P[j, k]) and strongly (at least the larger) transitive
    weak: float
    moderate: float
    strong: float
    # prior probability of weak transitivity where all pairs met: K! / 2^(K (K - 1) / 2)
    weak_prior: float
    # that some arm beats every other (pairs that never met have probability one half)
    condorcet: float
    cyclic: tuple[float, float, float]  # cyclic triads: mean, and the ends of the 95 % interval
    cyclic_error: float  # standard error of that mean where triads were sampled, else 0
    cycles: tuple[Cycle, ...]  # the most probable cycles
    # number of cycles, the most probable one included, that are not less probable than it beyond
    # two Monte Carlo standard errors. Where triads were sampled, an estimate.
    n_alike: int
    n_draws: int  # number of posterior draws


def cycle_posterior(
    theta: np.ndarray, pairs: Pairs, labels: tuple[str, ...], triads: Triads
) -> CyclePosterior:
    """Return the posterior probabilities of cycles from draws of the pairs' probabilities."""
    n_arms, n_draws = len(labels), len(theta)
    per_draw, per_triad = _count(theta, triads.edges)
    cyclic = per_draw[:, 0] / triads.share
    share = per_triad / n_draws
    error = 0.0
    if triads.share < 1:
        spread = share.sum(1).std() * np.sqrt((1 - triads.share) / len(share))
        error = float(triads.n_closed * spread)
    low, high = np.quantile(cyclic, (0.025, 0.975))
    won = _winner(theta, pairs.first, pairs.second, n_arms)
    complete = len(pairs.first) == n_arms * (n_arms - 1) // 2
    prior = lgamma(n_arms + 1) - n_arms * (n_arms - 1) / 2 * np.log(2)
    return CyclePosterior(
        weak=float((per_draw[:, 0] == 0).mean()),
        moderate=float((per_draw[:, 1] == 0).mean()),
        strong=float((per_draw[:, 2] == 0).mean()),
        weak_prior=float(np.exp(prior)) if complete else float("nan"),
        condorcet=won,
        cyclic=(float(cyclic.mean()), float(low), float(high)),
        cyclic_error=error,
        n_alike=round(_alike(share, n_draws) / triads.share),
        cycles=_named(pairs, labels, triads.edges, share, (theta > 0.5).mean(0)),
        n_draws=n_draws,
    )


def draw_pairs(pairs: Pairs, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of each pair's probability that its first arm wins, (n_draws, n_pairs)."""
    won = pairs.first_wins + pairs.ties / 2
    lost = pairs.second_wins + pairs.ties / 2
    half = np.exp(LOG_CONCENTRATION) / 2
    kinds, count = np.unique(np.stack([won, lost]), axis=1, return_counts=True)
    evidence = np.array(
        [((betaln(kinds[0] + h, kinds[1] + h) - betaln(h, h)) * count).sum() for h in half]
    )
    density = evidence - (LOG_CONCENTRATION - np.log(4)) ** 2 / 2
    weight = np.exp(density - density.max())
    h = rng.choice(half, n_draws, p=weight / weight.sum())[:, None]
    return np.clip(rng.beta(won + h, lost + h), 1e-9, 1 - 1e-9)


def _count(theta: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count by draw the triads that break each form of transitivity, by triad its cycles.

    By draw: cyclic, not moderately, not strongly transitive; by triad: round either way.
    """
    margin = np.ascontiguousarray(theta.T) - 0.5
    per_draw = np.zeros((len(theta), 3), dtype=np.int64)
    per_triad = np.zeros((len(edges), 2), dtype=np.int64)
    for start in range(0, len(edges), AT_ONCE):
        i, j, k = edges[start : start + AT_ONCE].T
        a, b, c = margin[i], margin[j], -margin[k]  # of each arm against the next, around
        low, high = np.minimum(a, b), np.maximum(a, b)
        middle = np.maximum(low, np.minimum(high, c))
        low, high = np.minimum(low, c), np.maximum(high, c)
        ways = low > 0, high <= 0
        per_triad[start : start + AT_ONCE] = np.stack([way.sum(1) for way in ways], axis=1)
        # One of the three points the other way round: it joins best and worst.
        ends = low + high
        moderate = (low + middle > 0) | (middle + high < 0)
        strong = np.where(middle > 0, ends > 0, ends < 0)
        broken = ways[0] | ways[1], moderate, strong
        per_draw += np.stack([one.sum(0, dtype=np.uint8) for one in broken], axis=1)
    return per_draw, per_triad


def _winner(theta: np.ndarray, first: np.ndarray, second: np.ndarray, n_arms: int) -> float:
    """Return the probability that some arm beats every other."""
    met = np.bincount(np.concatenate([first, second]), minlength=n_arms)
    ahead = (theta > 0.5).astype(float)
    lost = (1.0 - ahead) @ grouped(first, n_arms) + ahead @ grouped(second, n_arms) > 0
    # At most one arm wins: given that it beats all it met, the rest are even chances each.
    return float(np.where(lost, 0.0, 0.5 ** (n_arms - 1.0 - met)).sum(1).clip(max=1).mean())


def _alike(share: np.ndarray, n_draws: int) -> int:
    """Return how many cycles are not less probable than the most probable one.

    `share` is that of the draws in which each cycle holds; the standard error is that of the
    difference of two shares of the same draws, at most one of which holds in a draw (an upper
    limit where both can).
    """
    p, q = share.max(initial=0.0), share.ravel()
    error = np.sqrt(np.maximum(p + q - (p - q) ** 2, 0.0) / n_draws)
    return int((p - q <= 2 * error).sum()) if p > 0 else 0


def _named(
    pairs: Pairs,
    labels: tuple[str, ...],
    edges: np.ndarray,
    share: np.ndarray,
    ahead: np.ndarray,
) -> tuple[Cycle, ...]:
    """Return the most probable cycles, each from its first arm in alphabetical order."""
    flat = share.ravel()
    top = np.argsort(-flat, kind="stable")[:NAMED]
    found = []
    for place in top:
        if flat[place] <= 0:
            break
        ij, jk, ik = edges[place // 2]
        i, j, k = int(pairs.first[ij]), int(pairs.second[ij]), int(pairs.second[jk])
        won = (pairs.first_wins[ij], pairs.first_wins[jk], pairs.second_wins[ik])
        lost = (pairs.second_wins[ij], pairs.second_wins[jk], pairs.first_wins[ik])
        arms = (labels[i], labels[j], labels[k])
        steps = (float(ahead[ij]), float(ahead[jk]), float(1 - ahead[ik]))
        counts = tuple((int(w), int(b)) for w, b in zip(won, lost, strict=True))
        if place % 2:  # the other way round: i beats k, k beats j, j beats i
            arms = (labels[i], labels[k], labels[j])
            counts = tuple((b, w) for w, b in (counts[2], counts[1], counts[0]))
            steps = (1 - steps[2], 1 - steps[1], 1 - steps[0])
        found.append(Cycle(arms=arms, probability=float(flat[place]), steps=steps, counts=counts))
    return tuple(found)
