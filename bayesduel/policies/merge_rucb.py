"""MergeRUCB: RUCB within small batches of arms, which merge as arms are eliminated.

References
----------
Zoghi, Whiteson & de Rijke, "MergeRUCB: A Method for Large-Scale Online Ranker Evaluation",
WSDM 2015, Algorithm 1. Deviation: a pair that never met has the bounds plus and minus infinity
where the paper sets x / 0 := 1, that is 2 and -1. Both are on the same side of 1/2; but here a
challenger that never met the champion precedes all that did, and there it follows those with
``share + sqrt(alpha ln(t + C) / n) > 2``, which at the default C are all with few duels.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import pick, upper_bound
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.policy import PairPolicy

__all__ = ["MergeRUCB"]


class Memory(NamedTuple):
    alpha: float  # exploration constant
    offset: float  # C in ln(t + C)
    size: int  # batch size p
    # The batch of each arm, -1 once it is out, -2 before the first duel; shape (K,).
    batch: np.ndarray
    stages: np.ndarray  # number of batches, and the stage S; shape (2,)
    answer: Answer  # the last arm left


BATCHES, STAGE = range(2)  # of Memory.stages


@compiled
def select(belief, memory, t, rng):
    """Return an arm of this turn's batch, and the challenger with the largest upper bound."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    batch = memory.batch
    stages = memory.stages
    if batch[0] == -2:
        deal(memory, rng)
    budget = 2 * memory.alpha * log(t + memory.offset)
    turn = t % stages[BATCHES]
    drop_beaten(belief, batch, turn, budget)
    if (batch >= 0).sum() == 1:
        return conclude(memory.answer, pick(batch >= 0, rng), t)
    if (batch == turn).sum() <= 1:
        join(memory, turn, (turn + 1) % stages[BATCHES])
        turn = t % stages[BATCHES]
    survivors = (batch >= 0).sum()
    if stages[BATCHES] >= 2 and survivors <= len(batch) / 2.0 ** stages[STAGE] + 1:
        merge(memory)
        turn = t % stages[BATCHES]

    champion = pick(batch == turn, rng)
    upper = np.full(len(batch), -np.inf)
    for k in range(len(batch)):
        if batch[k] == turn and k != champion:
            upper[k] = upper_bound(belief, k, champion, budget)
    return champion, pick(upper == upper.max(), rng)


@compiled
def deal(memory, rng):
    """Put the arms into random batches of `size`; the last may be smaller."""
    order = np.arange(len(memory.batch))
    for place in range(len(order)):
        other = place + int(rng.random() * (len(order) - place))
        order[place], order[other] = order[other], order[place]
        memory.batch[order[place]] = place // memory.size
    last = memory.stages[BATCHES] - 1
    if (memory.batch == last).sum() == 1 and last > 0:
        join(memory, last, last - 1)


@compiled
def drop_beaten(belief, batch, turn, budget):
    """Eliminate arms whose upper bound against an arm of their batch is below 1/2."""
    for k in range(len(batch)):
        if batch[k] == turn:
            for other in range(len(batch)):
                if batch[other] == turn and other != k:
                    if upper_bound(belief, k, other, budget) < 0.5:
                        batch[k] = -1
                        break


@compiled
def join(memory, one, other):
    """Join two batches, and number the batches without a gap."""
    low = min(one, other)
    high = max(one, other)
    for k in range(len(memory.batch)):
        if memory.batch[k] == high:
            memory.batch[k] = low
        elif memory.batch[k] > high:
            memory.batch[k] -= 1
    memory.stages[BATCHES] -= 1


@compiled
def merge(memory):
    """End a stage: join small batches with large ones, once more if one is still small."""
    memory.stages[STAGE] += 1
    for _ in range(2):
        sizes = np.zeros(memory.stages[BATCHES], np.int64)
        for k in range(len(memory.batch)):
            if memory.batch[k] >= 0:
                sizes[memory.batch[k]] += 1
        order = np.argsort(sizes)
        partner = np.arange(len(sizes))
        for place in range(len(sizes) // 2):
            small = order[place]
            large = order[len(sizes) - 1 - place]
            if sizes[small] + sizes[large] <= 1.5 * memory.size:
                partner[large] = small
        renumber(memory, partner)
        fewest = memory.size
        for b in range(memory.stages[BATCHES]):
            fewest = min(fewest, (memory.batch == b).sum())
        if fewest > memory.size / 2 or memory.stages[BATCHES] < 2:
            break


@compiled
def renumber(memory, partner):
    """Let every batch take its partner's number, then close the gaps."""
    number = np.full(len(partner), -1)
    n = 0
    for b in range(len(partner)):
        if partner[b] == b:
            number[b] = n
            n += 1
    for k in range(len(memory.batch)):
        if memory.batch[k] >= 0:
            memory.batch[k] = number[partner[memory.batch[k]]]
    memory.stages[BATCHES] = n


@dataclass(frozen=True, kw_only=True)
class MergeRUCB(PairPolicy):
    """RUCB in merging batches, for Condorcet regret with many arms.

    Parameters
    ----------
    alpha
        Exploration constant, > 0.5.
    batch_size
        Arms a batch at the start, >= 2; the paper needs 4.
    failure
        The chance epsilon that the constant ``C = ((4 alpha - 1) K^2 / ((2 alpha - 1)
        epsilon))^(1 / (2 alpha - 1))`` stands for, in (0, 1).
    """

    alpha: float = 1.01
    batch_size: int = 4
    failure: float = 0.01
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Zoghi et al., WSDM 2015, Algorithm 1"
    guarantee: ClassVar[str] = "Condorcet regret O(K log T / gap^2) with high probability"
    ranges: ClassVar = {"alpha": "> 0.5", "batch_size": "at least 2", "failure": "in (0, 1)"}

    def init(self, n_arms: int) -> Memory:
        a = self.alpha
        base = (4 * a - 1) * n_arms**2 / ((2 * a - 1) * self.failure)
        offset = base ** (1 / (2 * a - 1))
        return Memory(
            alpha=float(a),
            offset=float(offset),
            size=int(self.batch_size),
            batch=np.full(n_arms, -2, np.int64),
            stages=np.array([-(-n_arms // self.batch_size), 1]),
            answer=no_answer(),
        )
