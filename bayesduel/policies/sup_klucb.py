"""Sup-KLUCB: KL-UCB over pairs, each rewarded by the product of its arms' scores.

An arm may be paired with itself, which exploits the best arm and has a risk: an arm that beats all
others in the data has score 1, its pair with itself has the largest possible index, that pair
carries no information, and so it is played for ever. With few arms the wrong arm often enters
this absorbing state.

``ConfirmedSupKLUCB``, which is ours and in no paper, has no such state: an arm is paired with
itself only once the sign of each of its pairs is confident, and until then it meets the opponent
whose sign is least certain. A sign at time t is wrong with the chance that KL-UCB allows an upper
bound to fail; over all times up to T these chances sum to O(ln ln T). The price: every pair of the
arm has to be decided, also where its sign decides nothing, so that small gaps cost much
(docs/validation/papers.md, T = 100,000: lower than the literal rule with 3 arms, higher with 10
and more).

References
----------
Agrawal & Chaporkar, "KLUCB Approach to Copeland Bandits", arXiv 1902.02778, Algorithm 1.
Deviations: line 11 adds to W[a] where it prints an assignment; indices are compared by
ln(1 - index), so that none ties by rounding unless `index_tolerance` asks for it. No regret
bound is proved. The confidence test of ``ConfirmedSupKLUCB`` takes its budget, ln t + 3 ln ln t,
from Garivier & Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011,
Algorithm 1.
"""

from dataclasses import dataclass
from math import exp, inf, log, log1p
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import KL, BeliefSpec, share, shares
from bayesduel.beliefs.kl import divergence_from_half, log_upper_gap
from bayesduel.beliefs.query import met
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["ConfirmedSupKLUCB", "SupKLUCB"]


class Memory(NamedTuple):
    """Self-duels of each arm, shape (K,), and how many duels have been counted, (1,).

    What the last call found: scores, shape (K,), and of their products p, the means of pairs,
    ln(1 - p) and p ln p + (1 - p) ln(1 - p), (K, K). Few change in a duel.
    """

    copeland: bool
    tolerance: float
    confirm: bool
    self_duels: np.ndarray
    seen: np.ndarray
    score: np.ndarray
    log_rest: np.ndarray
    entropy: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, which may be an arm with itself."""
    n_arms = len(memory.self_duels)
    if belief.n_duels[0] > memory.seen[0] and belief.last[0] == belief.last[1]:
        memory.self_duels[belief.last[0]] += 1
    memory.seen[0] = belief.n_duels[0]

    # First every pair once, the diagonal too.
    n_pairs = n_arms * (n_arms + 1) // 2
    if t <= n_pairs:
        return nth_pair(n_arms, t - 1)

    score = scores(belief, memory.copeland)
    for i in range(n_arms):
        if score[i] != memory.score[i]:
            memory.score[i] = score[i]
            for j in range(n_arms):
                mean = score[i] * score[j]
                rest = log1p(-mean) if mean < 1 else -inf
                entropy = mean * log(mean) + (1 - mean) * rest if 0 < mean < 1 else 0.0
                memory.log_rest[i, j] = rest
                memory.log_rest[j, i] = rest
                memory.entropy[i, j] = entropy
                memory.entropy[j, i] = entropy
    log_t = log(t - n_pairs)
    factor = 3 / n_arms + 40 / (n_arms - 2) ** 2
    budget = 2 / n_arms * log_t
    budget += factor * log(log_t + 1)

    # The largest index is the smallest ln(1 - index); ties are drawn from at random.
    best = inf
    n_tied = 0
    log_best = 0.0  # the logarithm of the largest index
    chosen = (0, 0)
    for i in range(n_arms):
        for j in range(i, n_arms):
            n = met(belief, i, j)
            if i == j:
                n = float(memory.self_duels[i])
            if n == 0:
                return i, j
            mean = score[i] * score[j]
            if memory.tolerance == 0 and best < memory.log_rest[i, j]:
                divergence = memory.entropy[i, j] - mean * log_best - (1 - mean) * best
                if divergence * n > budget * (1 + 1e-9):
                    continue  # its index is surely below the largest
            room = log_upper_gap(mean, budget / n)
            if memory.tolerance > 0:  # coarse indices, in steps of the tolerance
                room = -np.floor((1 - exp(room)) / memory.tolerance)
            if room < best:
                best = room
                n_tied = 0
                if memory.tolerance == 0:
                    log_best = log1p(-exp(room)) if room < 0 else -inf
            if room == best:
                n_tied += 1
                if n_tied == 1 or rng.random() * n_tied < 1:
                    chosen = (i, j)
    if memory.confirm and chosen[0] == chosen[1]:
        confident = log(t) + 3 * log(max(log(t), 1.0))
        return chosen[0], least_certain(belief, chosen[0], confident)
    return chosen


@compiled
def least_certain(belief, arm, budget):
    """Return the opponent of least evidence for the sign of its pair; `arm` if all reach `budget`.

    The evidence is ``n d(share, 1/2)``, the budget at which Chernoff's bound leaves out 1/2.
    """
    opponent = arm
    least = budget
    for j in range(len(belief.wins)):
        if j != arm:
            evidence = met(belief, arm, j) * divergence_from_half(share(belief, arm, j))
            if evidence < least:
                opponent = j
                least = evidence
    return opponent


@compiled
def scores(belief, copeland):
    """Return the scores of the arms by the observed shares, in [0, 1], shape (K,)."""
    share = shares(belief)
    n_arms = len(share)
    if copeland:
        return (share > 0.5).sum(axis=1) / (n_arms - 1)
    return (share.sum(axis=1) - 0.5) / (n_arms - 1)


@compiled
def nth_pair(n_arms, n):
    """Return pair `n` of (0, 0), (0, 1), ..., (1, 1), ..."""
    i = 0
    while n >= n_arms - i:
        n -= n_arms - i
        i += 1
    return i, i + n


@dataclass(frozen=True, kw_only=True)
class SupKLUCB(PairPolicy):
    """KL-UCB over pairs of arms, for Copeland or Borda regret; at least three arms.

    Parameters
    ----------
    score
        The score of an arm: "copeland", "borda", or "condorcet", which is the paper's name of
        the same rule as "copeland" where a Condorcet winner exists.
    index_tolerance
        Indices are rounded down to a multiple of this, and ties drawn from at random. 0:
        exact comparison, the literal rule. A positive value explores longer; it is a
        different algorithm, to be reported with every number.
    """

    belief: BeliefSpec = KL()
    score: Literal["copeland", "condorcet", "borda"] = "copeland"
    index_tolerance: float = 0.0
    select: ClassVar = staticmethod(select)
    confirm: ClassVar[bool] = False
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Agrawal & Chaporkar, arXiv 1902.02778, Algorithm 1"
    guarantee: ClassVar[str] = "no guarantee is proved; linear regret if it settles on a wrong arm"
    ranges: ClassVar = {"index_tolerance": "in [0, 1)"}

    def init(self, n_arms: int) -> Memory:
        if n_arms < 3:
            name = type(self).__name__
            raise ValueError(f"n_arms should be at least 3 for {name}, got {n_arms}")
        return Memory(
            copeland=self.score != "borda",
            tolerance=float(self.index_tolerance),
            confirm=self.confirm,
            self_duels=np.zeros(n_arms, np.int64),
            seen=np.zeros(1, np.int64),
            score=np.full(n_arms, -1.0),
            log_rest=np.zeros((n_arms, n_arms)),
            entropy=np.zeros((n_arms, n_arms)),
        )


@dataclass(frozen=True, kw_only=True)
class ConfirmedSupKLUCB(SupKLUCB):
    """Sup-KLUCB that leaves an arm alone with itself only once its pairs are confident; ours."""

    confirm: ClassVar[bool] = True
    reference: ClassVar[str] = "this package, after Agrawal & Chaporkar, arXiv 1902.02778"
    guarantee: ClassVar[str] = (
        "no guarantee is proved; it never settles; linear regret if a pair of the winner is tied"
    )
