"""Winners by each criterion, and rankings, in every posterior draw.

Everything here is a function of draws of the preference matrix only.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from bayesduel.intervals import eti
from bayesduel.models.response import expected_score
from bayesduel.posterior.draws import Draws, chunks
from bayesduel.preference import (
    CRITERIA,
    beats,
    borda_scores,
    copeland_scores,
    ranks,
    smith_set,
    von_neumann,
    winner_mask,
)
from bayesduel.preference.scores import EQUAL
from bayesduel.system.threads import one_thread_if_small, side_by_side

__all__ = ["ElectionResult", "PairSummary", "Ties", "hold_elections", "pair_summary"]

Ties = Literal["strict", "half"]


@dataclass(frozen=True, eq=False)
class ElectionResult:
    """Results of the election held in each draw."""

    # probability of being among the winners, shape (5, K), in the order of `CRITERIA`; for von
    # Neumann the mean weight in the maximin mixture
    probability: np.ndarray
    # the same with a win split between those who tie for it, shape (5, K). Sums to 1; for Condorcet
    # to the probability that there is one.
    share: np.ndarray
    # probability of being in the maximin mixture at all, and in the top cycle, shape (K,)
    support: np.ndarray
    smith: np.ndarray
    rank: np.ndarray  # how many arms rank above, shape (n_draws, K): by score, else by Borda score
    # Borda scores, shape (n_draws, K), or None where criteria agree (see `pair_summary`)
    borda: np.ndarray | None
    sole: np.ndarray  # where an arm beats every other, bool, shape (n_draws, K)
    unbeaten: np.ndarray  # where no arm beats it by more than the rope, bool, shape (n_draws, K)


def hold_elections(draws: Draws, rope: float, ties: Ties = "strict") -> ElectionResult:
    """Hold the elections."""
    if draws.score is not None and draws.model.criteria_agree:
        return _by_score(draws, draws.score, rope)
    with one_thread_if_small(draws.n_arms):
        found = _by_matrix(draws, rope, ties)
    if draws.score is None:
        return found
    return replace(found, rank=ranks(draws.score))


def _by_score(draws: Draws, score: np.ndarray, rope: float) -> ElectionResult:
    """Hold the elections of a score model, whose criteria agree.

    Where i has the larger score its row of P lies above j's everywhere, and so i leads j by
    Condorcet, Copeland, Borda, random walk (whose law is a mixture of columns of ``P / sum``,
    in each of which i leads j) and von Neumann alike.
    """
    n, n_arms = score.shape
    top = score.max(axis=1, keepdims=True)
    best = score == top
    n_best = best.sum(axis=1, keepdims=True)
    sole = best & (n_best == 1)
    shared = best.mean(axis=0)
    part = 1 / n_best[:, 0]
    share = part @ best / n
    alone = sole.mean(axis=0)
    rank = np.empty(score.shape, np.int32)
    unbeaten = np.empty(score.shape, dtype=bool)
    least = 0.5 - rope - EQUAL

    def fill(here: slice) -> None:
        own = score[here]
        behind = own - top[here]
        against_best = draws.model.typical_score(behind, draws.rows(here))
        unbeaten[here] = against_best >= least
        rank[here] = ranks(own)

    side_by_side(fill, chunks(n, 1_000_000 // n_arms))  # draws x arms worked on at once: 8 MB
    return ElectionResult(
        probability=np.stack([alone, shared, shared, shared, share]),
        share=np.stack([alone, share, share, share, share]),
        support=shared,
        smith=shared,
        rank=rank,
        borda=None,
        sole=sole,
        unbeaten=unbeaten,
    )


def _by_matrix(draws: Draws, rope: float, ties: Ties) -> ElectionResult:
    shape = (draws.n_draws, draws.n_arms)
    by_criterion = (len(CRITERIA), draws.n_arms)
    probability = np.zeros(by_criterion)
    share = np.zeros(by_criterion)
    support = np.zeros(draws.n_arms)
    smith = np.zeros(draws.n_arms)
    borda = np.empty(shape)
    sole = np.empty(shape, dtype=bool)
    unbeaten = np.empty(shape, dtype=bool)
    n = 0
    for P in draws.matrices():
        stop = n + len(P)
        here = slice(n, stop)
        n = stop
        borda[here] = borda_scores(P)
        n_beaten = beats(P).sum(-1)
        sole[here] = n_beaten == draws.n_arms - 1
        of_strongest = P.max(-2)
        unbeaten[here] = of_strongest <= 0.5 + rope + EQUAL
        copeland = copeland_scores(P, ties)
        most = copeland.max(-1, keepdims=True)
        # in the order of `CRITERIA`, of which von Neumann's is the last
        masks = (
            sole[here],
            copeland >= most - EQUAL,
            winner_mask(P, "borda"),
            winner_mask(P, "random_walk"),
        )
        for k, mask in enumerate(masks):
            probability[k] += mask.sum(0)
            n_winners = mask.sum(-1, keepdims=True)
            parts = mask / np.maximum(n_winners, 1)
            share[k] += parts.sum(0)
        mixture = von_neumann(P)
        weight = mixture.sum(0)
        probability[-1] += weight
        share[-1] += weight
        support += (mixture > 0).sum(0)
        smith += smith_set(P).sum(0)
    return ElectionResult(
        probability=probability / n,
        share=share / n,
        support=support / n,
        smith=smith / n,
        rank=ranks(borda),
        borda=borda,
        sole=sole,
        unbeaten=unbeaten,
    )


@dataclass(frozen=True, eq=False)
class PairSummary:
    """The posterior of every pair: arrays of shape (K, K), [i, j] = i against j."""

    mean: np.ndarray  # of P, with an equal-tailed interval
    lower: np.ndarray
    upper: np.ndarray
    beats: np.ndarray  # posterior probability that P[i, j] > 1/2; the diagonal is 0
    borda: np.ndarray  # Borda scores of the draws used, shape (draws, K)
    # mean, lower and upper of score i minus score j, shape (3, K, K); None without scores
    difference: np.ndarray | None
    tie: np.ndarray | None  # mean probability of a tie; None where ties are no outcome of the model
    n_draws: int  # how many draws were used

    def nearest(self, arm: int) -> int:
        """Return the opponent against which an arm has the smallest mean of P."""
        against = self.mean[arm].copy()
        against[arm] = np.inf
        return int(against.argmin())

    def between(self, arms: np.ndarray) -> "PairSummary":
        """Return the posterior of the pairs of a few arms."""
        square = np.ix_(arms, arms)
        difference = self.difference
        if difference is not None:
            difference = difference[:, *square]
        tie = self.tie
        if tie is not None:
            tie = tie[square]
        return PairSummary(
            mean=self.mean[square],
            lower=self.lower[square],
            upper=self.upper[square],
            beats=self.beats[square],
            borda=self.borda[:, arms],
            difference=difference,
            tie=tie,
            n_draws=self.n_draws,
        )


def pair_summary(draws: Draws, prob: float) -> PairSummary:
    """Summarise the posterior of every pair, with intervals that hold `prob` of it."""
    K = draws.n_arms
    used = range(0, draws.n_draws, draws.pair_step)
    n = len(used)
    n_before = np.arange(K, dtype=float)  # one win for each arm before
    total = np.repeat(n_before[:, None], n, axis=1)
    by_chunk: dict[str, list[np.ndarray]] = defaultdict(list)
    for i, j, apart, chances in draws.outcomes():
        p = expected_score(chances)
        _add_wins(total, i, j, p)
        by_chunk["mean"].append(p.mean(1, dtype=float))
        by_chunk["ahead"].append(_share(p > 0.5))
        by_chunk["behind"].append(_share(p < 0.5))
        if "tie" in chances:
            of_tie = chances["tie"].mean(1, dtype=float)
            by_chunk["tie"].append(of_tie)
        if apart is not None:
            # its mean is taken before its draws lose their order
            by_chunk["apart"].append(apart.mean(1, dtype=float))
            interval = eti(apart, prob, overwrite=True)
            ends = np.asarray(interval, float)
            by_chunk["apart_lower"].append(ends[0])
            by_chunk["apart_upper"].append(ends[1])
        if apart is not None and draws.linked:  # P increases in it: order statistics follow
            low, high = draws.model.response.typical_score(ends, {})
        else:
            low, high = eti(p, prob)
        by_chunk["lower"].append(low)
        by_chunk["upper"].append(high)
    of_pairs = {}
    for name, parts in by_chunk.items():
        of_pairs[name] = np.concatenate(parts, dtype=float)
    upper = np.triu_indices(K, 1)  # the order of the pairs

    def table(first: np.ndarray, second: np.ndarray, same: float = 0.0) -> np.ndarray:
        """Return numbers of the first against the second of each pair, and the other way round."""
        square: np.ndarray = np.full((K, K), same)
        square[upper] = first
        square.T[upper] = second
        return square

    difference = None
    if "apart" in of_pairs:
        middle = of_pairs["apart"]
        least = of_pairs["apart_lower"]
        most = of_pairs["apart_upper"]
        differences = table(middle, -middle)
        lower = table(least, -most)
        higher = table(most, -least)
        difference = np.stack([differences, lower, higher])
    tie = of_pairs.get("tie")
    if tie is not None:
        tie = table(tie, tie)
    mean = of_pairs["mean"]
    low = of_pairs["lower"]
    high = of_pairs["upper"]
    return PairSummary(
        mean=table(mean, 1 - mean, 0.5),
        lower=table(low, 1 - high, 0.5),
        upper=table(high, 1 - low, 0.5),
        beats=table(of_pairs["ahead"], of_pairs["behind"]),
        borda=total.T / (K - 1),
        difference=difference,
        tie=tie,
        n_draws=n,
    )


def _add_wins(total: np.ndarray, i: np.ndarray, j: np.ndarray, p: np.ndarray) -> None:
    """Add what pairs (sorted by their first arm) win to the totals of arms, (K, draws)."""
    changes = i[1:] != i[:-1]
    new_arm = np.flatnonzero(changes) + 1
    for start, stop in pairwise([0, *new_arm, len(i)]):
        of_arm = p[start:stop]
        total[i[start]] += of_arm.sum(axis=0)
        opponents = slice(j[start], j[stop - 1] + 1)
        total[opponents] -= of_arm


def _share(where: np.ndarray) -> np.ndarray:
    """Return the share of each row that is true; several times as fast as its mean."""
    as_numbers = where.view(np.int8)
    count = as_numbers.sum(axis=1, dtype=np.int32)
    return np.asarray(count / where.shape[1])
