"""Relative Confidence Sampling (RCS).

Sample the preference matrix. The champion is the arm that beats all others in the sample or, if
there is none, the arm that has been champion least often; the challenger has the largest upper
bound against it.

References
----------
Zoghi, Whiteson, de Rijke & Munos, "Relative Confidence Sampling for Efficient On-Line
Ranker Evaluation", WSDM 2014, Algorithm 1. No regret bound is proved. Deviation: a pair that
never met has the bounds plus and minus infinity where the paper sets x / 0 := 1, that is 2 and
-1: here a challenger that never met the champion precedes all that did, and there one with
``share + sqrt(alpha ln t / n) > 2`` precedes it.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import BeliefSpec, Beta, pick, sample, upper_against
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["RCS"]


class Memory(NamedTuple):
    """How often each arm has been champion, shape (K,)."""

    alpha: float
    crowned: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (champion, challenger)."""
    n_arms = len(memory.crowned)
    wins = (sample(belief, rng) >= 0.5).sum(axis=1)
    if wins.max() == n_arms:  # its own diagonal 1/2 included
        champion = pick(wins == n_arms, rng)
    else:
        champion = pick(memory.crowned == memory.crowned.min(), rng)
    memory.crowned[champion] += 1

    upper = upper_against(belief, champion, 2 * memory.alpha * log(t))
    return champion, pick(upper == upper.max(), rng)


@dataclass(frozen=True, kw_only=True)
class RCS(PairPolicy):
    """Relative Confidence Sampling, for Condorcet regret.

    Parameters
    ----------
    belief
        The posterior it samples. Default: the paper's independent Beta(1, 1),
        bounded by Hoeffding's inequality.
    alpha
        Exploration constant, > 0.5.
    """

    belief: BeliefSpec = Beta(bounds="hoeffding")
    alpha: float = 0.51
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "samples"
    reference: ClassVar[str] = "Zoghi et al., WSDM 2014, Algorithm 1"
    guarantee: ClassVar[str] = "no guarantee is proved; linear without a Condorcet winner"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        return Memory(float(self.alpha), np.zeros(n_arms, np.int64))
