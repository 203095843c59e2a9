"""Scalable Copeland Bandits (SCB).

In rounds of squared length: find a Copeland winner by best-arm identification, where the reward
of an arm is whether it beats a random other arm by a sign test on their duels; then duel the
answer with itself until the round is over, and start again.

References
----------
Zoghi, Karnin, Whiteson & de Rijke, "Copeland Dueling Bandits", NIPS 2015, Algorithms 2, 3
and 4. Deviations: the sign tests are ``beliefs/sequential_sign.py`` ("sufficiently many times" is
not specified there); the arms of a sweep come in random order (the paper names none, and a fixed
one tests the first arm most where a round is cut off); with ``cache`` (default) each pair is
decided once a round and an arm's opponents are drawn without replacement, so that scores become
exact; identification also stops when one arm is left (with epsilon = 0 the printed test never
passes) or when every pair of the arms left is decided.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.beliefs.kl import largest_within
from bayesduel.beliefs.query import other_arm, results_since
from bayesduel.beliefs.sequential_sign import sign_by_epochs, sign_by_mixture, sign_by_union
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by_shares
from bayesduel.policies.policy import PairPolicy

__all__ = ["SCB"]

SIGN_TESTS = ("mixture", "union", "epochs")
MIXTURE, UNION, EPOCHS = range(3)


class Memory(NamedTuple):
    sign_test: int  # by its place in ``SIGN_TESTS``
    cache: bool
    keep: bool
    # Round, its first duel, the winner it returned (-1 before), sweep through the active arms,
    # place in the sweep, the last winner of an earlier round (-1 if none); shape (6,).
    clock: np.ndarray
    testing: np.ndarray  # the pair under test, (-1, -1) if none, shape (2,)
    # Tallies to leave out: those of before the round (or of the test, without `cache`).
    before: np.ndarray
    # 1 where i was found to beat j in this round, -1 where j did, 0 unknown; (K, K).
    decided: np.ndarray
    opponents: np.ndarray  # the order in which each arm meets the others, shape (K, K - 1)
    rewards: np.ndarray  # sum of each arm's rewards in this round, shape (K,)
    active: np.ndarray  # arms still possible, shape (K,)
    order: np.ndarray  # the order of the arms in this sweep, shape (K,)


ROUND, START, WINNER, SWEEP, PLACE, LAST = range(6)  # of Memory.clock


@compiled
def select(belief, memory, t, rng):
    """Return the pair under test, or the winner of the round against itself."""
    clock = memory.clock
    if clock[START] == 0 or t - clock[START] >= 2.0 ** (2.0 ** clock[ROUND]):
        start_round(belief, memory, t, rng)
    while clock[WINNER] < 0:
        i = memory.testing[0]
        j = memory.testing[1]
        if i >= 0:
            sign = test(belief, memory, i, j)
            if sign == 0:
                return i, j
            memory.decided[i, j] = sign
            memory.decided[j, i] = -sign
            memory.testing[:] = -1
            reward(memory, i, j, rng)
        else:
            next_reward(belief, memory, rng)
    return clock[WINNER], clock[WINNER]


@compiled
def start_round(belief, memory, t, rng):
    """Reset the state of the last round."""
    clock = memory.clock
    n_arms = len(memory.active)
    clock[ROUND] += 1
    clock[START] = t
    if clock[WINNER] >= 0:
        clock[LAST] = clock[WINNER]
    clock[WINNER] = -1
    clock[SWEEP] = 0
    start_sweep(memory, rng)
    memory.testing[:] = -1
    memory.rewards[:] = 0
    memory.active[:] = True
    if not memory.keep:
        memory.before[:] = belief.wins
        memory.decided[:] = 0
    for i in range(n_arms):
        for place in range(n_arms - 1):
            other = int(rng.random() * (place + 1))
            memory.opponents[i, place] = memory.opponents[i, other]
            memory.opponents[i, other] = place if place < i else place + 1


@compiled
def start_sweep(memory, rng):
    """Go to the next sweep, with the arms in a new random order: none is tested more on average."""
    order = memory.order
    for place in range(len(order)):
        other = int(rng.random() * (place + 1))
        order[place] = order[other]
        order[other] = place
    memory.clock[SWEEP] += 1
    memory.clock[PLACE] = -1


@compiled
def test(belief, memory, i, j):
    """Return 1 or -1 once the sign test decides the pair, else 0."""
    n_arms = len(memory.active)
    wins, losses = results_since(belief, memory.before, i, j)
    budget = round_budget(memory.clock[ROUND]) + 2 * log(float(n_arms))
    if memory.sign_test == MIXTURE:
        return sign_by_mixture(wins, losses, budget)
    if memory.sign_test == UNION:
        return sign_by_union(wins, losses, budget)
    return sign_by_epochs(wins, losses, budget)


@compiled
def round_budget(r):
    """Return -ln delta_r, delta_r = ln(T_r) / T_r, T_r = 2^(2^r)."""
    length = log(2.0) * 2.0**r
    return length - log(length)


@compiled
def next_reward(belief, memory, rng):
    """Go to the next opponent of the next active arm; end a sweep after the last arm."""
    clock = memory.clock
    n_arms = len(memory.active)
    clock[PLACE] += 1
    while clock[PLACE] < n_arms and not memory.active[memory.order[clock[PLACE]]]:
        clock[PLACE] += 1
    if clock[PLACE] == n_arms:
        end_sweep(memory, rng)
        return
    i = memory.order[clock[PLACE]]
    if memory.cache:
        j = memory.opponents[i, clock[SWEEP] - 1]
        if memory.decided[i, j] != 0:
            reward(memory, i, j, rng)
            return
    else:
        j = other_arm(i, n_arms, rng)
        memory.before[i, j] = belief.wins[i, j]
        memory.before[j, i] = belief.wins[j, i]
    memory.testing[0] = i
    memory.testing[1] = j


@compiled
def reward(memory, i, j, rng):
    """Give arm i its reward for the duel with j: 1 if it beats j."""
    if memory.decided[i, j] > 0:
        memory.rewards[i] += 1


@compiled
def end_sweep(memory, rng):
    """Drop arms whose interval lies below another's; conclude if one arm is left.

    The best-arm identification of Algorithm 4 at delta_r: after s rewards each, the
    interval of an arm is all q with ``s kl(mean, q) <= ln(4 s K / delta) + 2 ln ln s``.
    """
    clock = memory.clock
    n_arms = len(memory.active)
    s = clock[SWEEP]
    if s >= 2:
        budget = log(4.0 * s * n_arms) + round_budget(clock[ROUND]) + 2 * log(log(float(s)))
        within = max(budget, 0.0) / s
        best = -np.inf
        for i in range(n_arms):
            if memory.active[i]:
                lower = 1 - largest_within(1 - memory.rewards[i] / s, within)
                best = max(best, lower)
        for i in range(n_arms):
            if memory.active[i]:
                upper = largest_within(memory.rewards[i] / s, within)
                memory.active[i] = upper >= best
    exact = memory.cache and s == n_arms - 1
    if memory.active.sum() == 1 or exact:
        scores = np.where(memory.active, memory.rewards, -1.0)
        clock[WINNER] = pick(scores == scores.max(), rng)
    start_sweep(memory, rng)


@dataclass(frozen=True, kw_only=True)
class SCB(PairPolicy):
    """Scalable Copeland Bandits, for Copeland regret with many arms.

    Parameters
    ----------
    first_round
        Rounds have ``2^(2^r)`` duels, r from this on.
    sign_test
        "mixture", "union" (simpler, about twice as many duels) or "epochs" (between the two;
        its error is not proved).
    cache
        False: the paper's literal oracle, a fresh test at every reward.
    keep
        Carry tallies and decided pairs from round to round: a different algorithm.
    """

    first_round: int = 1
    sign_test: Literal["mixture", "union", "epochs"] = "mixture"
    cache: bool = True
    keep: bool = False
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Zoghi et al., NIPS 2015, Algorithms 2, 3 and 4"
    guarantee: ClassVar[str] = "Copeland regret O(K (L_C + log K) log T / gap^2)"
    ranges: ClassVar = {"first_round": "in [0, 5]"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep and not self.cache:
            raise ValueError("keep should be False when cache is False, got True")

    def init(self, n_arms: int) -> Memory:
        clock = np.zeros(6, np.int64)
        clock[ROUND] = self.first_round - 1
        clock[WINNER] = clock[LAST] = -1
        return Memory(
            sign_test=SIGN_TESTS.index(self.sign_test),
            cache=self.cache,
            keep=self.keep,
            clock=clock,
            testing=np.full(2, -1, np.int64),
            before=np.zeros((n_arms, n_arms)),
            decided=np.zeros((n_arms, n_arms), np.int8),
            opponents=np.zeros((n_arms, n_arms - 1), np.int64),
            rewards=np.zeros(n_arms),
            active=np.ones(n_arms, np.bool_),
            order=np.arange(n_arms),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the last winner of a round; before the first, the best by the observed shares."""
        for winner in (memory.clock[WINNER], memory.clock[LAST]):
            if winner >= 0:
                return int(winner)
        return best_by_shares(belief)
