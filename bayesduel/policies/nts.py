"""Noisy Tournament Sampling (NTS): a knockout, then the winner meets the arms that it has not met.

A pair is duelled until one of its arms leads by as many wins as a sequential probability ratio test
of 1/2 + gap against 1/2 - gap asks for. The arms unbeaten and least played meet next, until one is
left; it is the Condorcet winner if it then beats every arm that it has not met. If it does not,
every arm is beaten by another, and there is none.

References
----------
Haddenhorst, Bengs, Brandt & Hüllermeier, "Testification of Condorcet Winners in Dueling Bandits",
UAI 2021, Algorithm 1 (NTS), with the order of pairs of Procaccia, "A Note on the Query Complexity
of the Condorcet Winner Problem", Information Processing Letters 2008. Read second hand: from the
authors' program. Deviations from that: it pairs the arms of the knockout in the order of their
index, and here they are paired at random; it ends a match one win after the lead that the test asks
for.
"""

from dataclasses import dataclass
from math import ceil, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.match import Match, begin, no_match, won
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["NTS"]


class Memory(NamedTuple):
    lead: float  # by which a match is won
    beats: np.ndarray  # whether i won its match with j, shape (K, K)
    match: Match
    answer: Answer  # its time alone where there is no Condorcet winner


@compiled
def select(belief, memory, t, rng):
    """Return the pair of the match, or the answer against itself."""
    answer = memory.answer
    beats = memory.beats
    match = memory.match
    i, j = match.pair
    if answer.time[0] >= 0:
        i = max(answer.arm[0], i)
        return i, i
    if i >= 0:
        wins, losses = won(match, belief)
        if abs(wins - losses) < memory.lead:
            return i, j
        beats[i, j] = wins > losses
        beats[j, i] = losses > wins
    unbeaten = beats.sum(axis=0) == 0
    if not unbeaten.any():
        answer.time[0] = t - 1
        return i, i
    if unbeaten.sum() > 1:
        met = np.where(unbeaten, beats.sum(axis=1), len(beats))
        i = pick(met == met.min(), rng)
        met[i] = len(beats)
        return begin(match, belief, i, pick(met == met.min(), rng))
    i = np.argmax(unbeaten)
    unmet = ~beats[i]
    unmet[i] = False
    if not unmet.any():
        return conclude(answer, i, t)
    return begin(match, belief, i, pick(unmet, rng))


@dataclass(frozen=True, kw_only=True)
class NTS(IdentificationPolicy):
    """NTS: find the Condorcet winner, then exploit it by self-duels, or find that there is none.

    If there is none, it answers as early as for a winner, but with no arm, and duels the last one
    that was unbeaten with itself.

    Parameters
    ----------
    gap
        How far every entry of P is from 1/2 at least, in (0, 0.5).
    """

    gap: float = 0.05
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Haddenhorst et al., UAI 2021, Algorithm 1"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta, also where there is no Condorcet winner, after "
        "O(K log(K / delta) / gap^2) duels on average, if no entry of P is nearer to 1/2 than gap"
    )
    ranges: ClassVar = {"gap": "in (0, 0.5)"}

    def init(self, n_arms: int) -> Memory:
        error = self.known_delta() / n_arms
        odds = log((0.5 + self.gap) / (0.5 - self.gap))
        return Memory(
            lead=float(max(ceil(log((1 - error) / error) / odds), 1)),
            beats=np.zeros((n_arms, n_arms), np.bool_),
            match=no_match(),
            answer=no_answer(),
        )
