"""Self-Sparring: both arms by independent Thompson draws of an arm's probability to win.

References
----------
Sui, Zhuang, Burdick & Yue, "Multi-dueling Bandits with Dependent Arms", UAI 2017,
Algorithm 2 (independent Beta posteriors). Deviations: none. What it finds is the arm that
wins most against the mixture of arms it plays.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, BeliefSpec, Beta, pick
from bayesduel.beliefs.query import new_duels, takes_part
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["SelfSparring"]


class Memory(NamedTuple):
    """Wins and losses of each arm, shape (2, K); the belief's `n_duels` then, shape (1,)."""

    record: np.ndarray
    seen: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return two arms, each the best of its own draw; they may coincide."""
    n_arms = memory.record.shape[1]
    new = new_duels(belief, memory.seen)
    for i in range(n_arms):
        if takes_part(belief, new, i):
            memory.record[0, i] = belief.wins[i].sum()
            memory.record[1, i] = belief.wins[:, i].sum()
    return draw(belief, memory, rng), draw(belief, memory, rng)


@compiled
def draw(belief, memory, rng):
    """Return the arm with the largest sampled probability to win."""
    n_arms = memory.record.shape[1]
    chance = np.empty(n_arms)
    for i in range(n_arms):
        a = belief.prior + memory.record[0, i]
        b = belief.prior + memory.record[1, i]
        chance[i] = rng.beta(a, b)
    return pick(chance == chance.max(), rng)


@dataclass(frozen=True, kw_only=True)
class SelfSparring(PairPolicy):
    """Self-Sparring: both arms by Thompson sampling of one Beta posterior per arm.

    Parameters
    ----------
    belief
        A ``Beta``; its prior is that of an arm's probability to win.
    """

    belief: BeliefSpec = Beta()
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "samples"
    reference: ClassVar[str] = "Sui et al., UAI 2017, Algorithm 2"
    guarantee: ClassVar[str] = "asymptotically optimal under approximate linearity"

    def check_belief(self) -> None:
        """Raise unless the belief is a ``Beta``, whose prior the rule reads.

        Raises
        ------
        TypeError, ValueError
            As for every policy of pairs, and if the belief is of another class.
        """
        super().check_belief()
        if not isinstance(self.belief, Beta):
            raise ValueError(f"belief of SelfSparring should be Beta(), got {self.belief!r}")

    def init(self, n_arms: int) -> Memory:
        return Memory(np.zeros((2, n_arms)), np.zeros(1, np.int64))

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with the largest posterior mean."""
        wins = belief.wins.sum(axis=1)
        losses = belief.wins.sum(axis=0)
        return int(((wins + belief.prior) / (wins + losses + 2 * belief.prior)).argmax())
