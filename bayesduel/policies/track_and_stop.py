"""Track-and-Stop: the Condorcet winner by few duels, for small delta by the least possible number.

To make arm j the Condorcet winner, every pair that it loses has to be reversed, at a cost of
``n_jk d(p_jk)``, with d the divergence of a Bernoulli variable from 1/2. No pair is in the costs of
two arms, so that the cheapest allocation by which all arms but the winner cost the same duels each
arm j with the arm that beats it most clearly, in proportion to ``1 / max_k d(p_jk)``
(:func:`bayesduel.least_duels`). The rule duels the least refuted arm beside the likely winner with
the one that beats it most clearly so far, and every pair sqrt(t / m) times, m the number of pairs.

Arm j is refuted by the product over its pairs of ``1 - w + w * mean / largest``, w = 1 / (K - 1),
with the mean likelihood of their duels under a uniform prior of p_jk, and the largest where
p_jk >= 1/2. If j is the winner, this is at most a martingale that begins at 1, whatever is duelled,
and reaches 1 / delta with a probability of at most delta (Ville's inequality). An arm is the answer
when all others are refuted by 1 / delta. The logarithm of the product is the cost of j less terms
in ln n, so that this is Chernoff's rule: the generalised likelihood ratio is compared with
ln(1 / delta) plus these terms. No union bound is needed: an error refutes the winner.

References
----------
Garivier & Kaufmann, "Optimal Best Arm Identification with Fixed Confidence", COLT 2016, carried
over from arms to pairs here; read second hand. Karnin, "Verification Based Solution for Structured
MAB Problems", NIPS 2016, has the same allocation with squared gaps for divergences. Deviations: the
refutations are made equal directly, in place of n and t w (D-tracking); every pair is duelled once
and then sqrt(t / m) times, in place of sqrt(t) - m / 2; the threshold is the martingale's above, in
place of one of the order of ln(t / delta). Ties count half a win each: the martingale is then a
supermartingale. ``docs/validation/policies.md`` has the duels with D-tracking.
"""

from dataclasses import dataclass
from math import exp, inf, lgamma, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import KL, BeliefSpec, pick, share
from bayesduel.beliefs.kl import negative_entropy
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["TrackAndStop"]

ROUNDING = 1e-9  # sums that differ by less are equal: they are added in different orders


class Memory(NamedTuple):
    delta: float
    duels: np.ndarray  # of each pair at the last look, shape (K, K); infinite on the diagonal
    evidence: np.ndarray  # [j, k]: logarithm of the factor by which their duels refute j
    answer: Answer


@compiled
def select(belief, memory, t, rng):
    """Return the pair that refutes the least refuted arm, or the answer against itself."""
    duels = memory.duels
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    update(belief, memory)
    evidence = memory.evidence.sum(axis=1)
    best = pick(evidence < evidence.min() + ROUNDING, rng)
    evidence[best] = inf
    if evidence.min() >= -log(memory.delta):
        return conclude(memory.answer, best, t)
    n_arms = len(duels)
    n_ordered = n_arms * (n_arms - 1)
    if duels.min() < max(1.0, sqrt(2 * t / n_ordered)):
        return divmod(pick(duels.ravel() == duels.min(), rng), n_arms)
    arm = pick(evidence < evidence.min() + ROUNDING, rng)
    won = np.full(n_arms, inf)
    for k in range(n_arms):
        if k != arm:
            won[k] = share(belief, arm, k)
    least = won.min()
    opponent = best
    if least < 0.5:
        opponent = pick(won == least, rng)
    return opponent, arm


@compiled
def update(belief, memory):
    """Judge the pairs anew that have met since the last look."""
    wins = belief.wins
    duels = memory.duels
    for j in range(len(duels)):
        for k in range(len(duels)):
            won = wins[j, k]
            lost = wins[k, j]
            n = won + lost
            if j != k and n != duels[j, k]:
                duels[j, k] = n
                memory.evidence[j, k] = log_factor(won, lost, 1 / (len(duels) - 1))


@compiled
def log_factor(wins, losses, weight):
    """Return the logarithm of 1 - w + w * mean / largest, for the duels of an arm."""
    n = wins + losses
    of_one = negative_entropy(wins / n) if wins > losses else -log(2.0)
    mean = lgamma(wins + 1) + lgamma(losses + 1) - lgamma(n + 2)
    ratio = mean - n * of_one
    scale = max(ratio, 0.0)  # the exponentials would overflow
    one = (1 - weight) * exp(-scale)
    other = weight * exp(ratio - scale)
    return scale + log(one + other)


@dataclass(frozen=True, kw_only=True)
class TrackAndStop(IdentificationPolicy):
    """Track-and-Stop: find the Condorcet winner, then exploit it by self-duels.

    It assumes that there is one, and answers an arm where there is none. No policy for all such
    matrices needs fewer duels on average than :func:`bayesduel.least_duels`.
    """

    belief: BeliefSpec = KL()
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Garivier & Kaufmann, COLT 2016, carried over to pairs"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta if there is a Condorcet winner; it tracks the "
        "allocation of the lower bound for small delta"
    )

    def init(self, n_arms: int) -> Memory:
        return Memory(
            delta=self.known_delta(),
            duels=np.diag(np.full(n_arms, inf)),
            evidence=np.zeros((n_arms, n_arms)),
            answer=no_answer(),
        )
