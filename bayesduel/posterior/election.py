"""Winners by each criterion, and rankings, in every posterior draw.

Everything here is a function of draws of the preference matrix only.
"""

from concurrent.futures import ThreadPoolExecutor
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
from bayesduel.system.threads import one_thread_if_small

__all__ = ["ElectionResult", "PairSummary", "Ties", "hold_elections", "pair_summary"]

Ties = Literal["strict", "half"]
WORKERS = 2  # threads


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
    number = best.sum(axis=1, keepdims=True)
    sole = best & (number == 1)
    shared = best.mean(axis=0)
    share = (1 / number[:, 0]) @ best / n
    alone = sole.mean(axis=0)
    rank = np.empty(score.shape, np.int32)
    unbeaten = np.empty(score.shape, dtype=bool)

    def fill(here: slice) -> None:
        expected = draws.model.typical_score(score[here] - top[here], draws.rows(here))
        unbeaten[here] = expected >= 0.5 - rope - EQUAL
        rank[here] = ranks(score[here])

    with ThreadPoolExecutor(WORKERS) as pool:
        # 1,000,000 draws x arms worked on at once
        list(pool.map(fill, chunks(n, 1_000_000 // n_arms)))
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
    probability = np.zeros((len(CRITERIA), draws.n_arms))
    share = np.zeros((len(CRITERIA), draws.n_arms))
    support = np.zeros(draws.n_arms)
    smith = np.zeros(draws.n_arms)
    borda = np.empty(shape)
    sole = np.empty(shape, dtype=bool)
    unbeaten = np.empty(shape, dtype=bool)
    row = 0
    for P in draws.matrices():
        here = slice(row, row := row + len(P))
        borda[here] = borda_scores(P)
        sole[here] = beats(P).sum(-1) == draws.n_arms - 1
        unbeaten[here] = P.max(-2) <= 0.5 + rope + EQUAL
        mixture = von_neumann(P)
        copeland = copeland_scores(P, ties)
        masks = {
            "condorcet": sole[here],
            "copeland": copeland >= copeland.max(-1, keepdims=True) - EQUAL,
            "borda": winner_mask(P, "borda"),
            "random_walk": winner_mask(P, "random_walk"),
        }
        for k, mask in enumerate(masks.values()):
            probability[k] += mask.sum(0)
            n_winners = np.maximum(mask.sum(-1, keepdims=True), 1)
            share[k] += (mask / n_winners).sum(0)
        probability[-1] += mixture.sum(0)
        share[-1] += mixture.sum(0)
        support += (mixture > 0).sum(0)
        smith += smith_set(P).sum(0)
    n = draws.n_draws
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
        others = np.arange(len(self.mean)) != arm
        return int(np.where(others, self.mean[arm], np.inf).argmin())

    def between(self, arms: np.ndarray) -> "PairSummary":
        """Return the posterior of the pairs of a few arms."""
        square = np.ix_(arms, arms)
        return PairSummary(
            mean=self.mean[square],
            lower=self.lower[square],
            upper=self.upper[square],
            beats=self.beats[square],
            borda=self.borda[:, arms],
            difference=None if self.difference is None else self.difference[:, *square],
            tie=None if self.tie is None else self.tie[square],
            n_draws=self.n_draws,
        )


def pair_summary(draws: Draws, prob: float) -> PairSummary:
    """Summarise the posterior of every pair, with intervals that hold `prob` of it."""
    K = draws.n_arms
    n = len(range(0, draws.n_draws, draws.pair_step))
    total = np.repeat(np.arange(K, dtype=float)[:, None], n, axis=1)  # one for each arm before
    by_score = draws.score is not None and draws.linked
    found: list[list[np.ndarray]] = []
    for i, j, apart, chances in draws.outcomes():
        p = expected_score(chances)
        tie = chances.get("tie")
        starts = [0, *(np.flatnonzero(i[1:] != i[:-1]) + 1), len(i)]
        for start, stop in pairwise(starts):
            here = slice(start, stop)
            total[i[start]] += p[here].sum(axis=0)
            total[j[start] : j[stop - 1] + 1] -= p[here]
        away = ()
        if apart is not None:  # its mean is taken before its draws lose their order
            away = apart.mean(1, dtype=float), *np.asarray(eti(apart, prob, overwrite=True), float)
        if by_score:  # P increases in it: order statistics follow
            low, high = draws.model.response.typical_score(np.stack(away[1:]), {})
        else:
            low, high = eti(p, prob)
        ties = () if tie is None else (tie.mean(1, dtype=float),)
        mean = p.mean(1, dtype=float)
        found.append([mean, _share(p > 0.5), _share(p < 0.5), low, high, *ties, *away])
    columns = (np.concatenate(parts, dtype=float) for parts in zip(*found, strict=True))
    mean, ahead, behind, low, high, *more = columns
    upper = np.triu_indices(K, 1)  # the order of the pairs
    difference = None

    def table(first: np.ndarray, second: np.ndarray, same: float = 0.0) -> np.ndarray:
        """Return numbers of the first against the second of each pair, and the other way round."""
        square: np.ndarray = np.full((K, K), same)
        square[upper] = first
        square.T[upper] = second
        return square

    if draws.score is not None:
        middle, least, most = more[-3:]
        ends = table(least, -most), table(most, -least)
        difference = np.stack([table(middle, -middle), *ends])
    return PairSummary(
        mean=table(mean, 1 - mean, 0.5),
        lower=table(low, 1 - high, 0.5),
        upper=table(high, 1 - low, 0.5),
        beats=table(ahead, behind),
        borda=total.T / (K - 1),
        difference=difference,
        tie=table(more[0], more[0]) if len(more) in (1, 4) else None,
        n_draws=n,
    )


def _share(where: np.ndarray) -> np.ndarray:
    """Return the share of each row that is true; several times as fast as its mean."""
    return np.asarray(where.view(np.int8).sum(axis=1, dtype=np.int32) / where.shape[1])
