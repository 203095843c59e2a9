"""Active ranking (AR): each undecided arm meets random opponents until it is decided.

References
----------
Heckel, Shah, Ramchandran & Wainwright, "Active ranking from pairwise comparisons and when
parametric assumptions don't help", Annals of Statistics 2019, Algorithm 1; the constants 0.75
and 1.5 of its radius are as commonly quoted. Deviations: margins in place of wins, with the
radius scaled from the 1/2 of a win or loss to the pooled standard deviation of the arms'
margins; at a fixed budget the best means fill the places still open.
"""

from dataclasses import dataclass
from math import e, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.top_k.settings import PlacesSettings

__all__ = ["ActiveRanking"]


class Memory(NamedTuple):
    k: int
    delta: float
    mean: np.ndarray  # mean margin of each arm's own record, shape (K,)
    scatter: np.ndarray  # sum of squares about it, shape (K,)
    duels: np.ndarray  # their number, shape (K,)
    place: np.ndarray  # 1 among the k best, -1 not, 0 undecided; shape (K,)
    # The arm whose record the last duel belongs to, -1 before the first; shape (1,).
    turn: np.ndarray
    entered: np.ndarray  # duels entered into the records, shape (1,)


@compiled
def select(margins, memory, t, rng):
    """Return the next undecided arm and a random opponent; (-1, -1) once all are decided."""
    n_arms = len(memory.mean)
    enter(margins, memory)
    arm = memory.turn[0] + 1
    while True:
        if arm == n_arms:
            decide(memory)
            arm = 0
            if (memory.place != 0).all():
                memory.turn[0] = -1
                return -1, -1
        if memory.place[arm] == 0:
            memory.turn[0] = arm
            other = int(rng.random() * (n_arms - 1))
            return arm, other + (other >= arm)
        arm += 1


@compiled
def enter(margins, memory):
    """Add the last margin to the statistics of the arm whose turn it was."""
    arm = memory.turn[0]
    if memory.entered[0] == margins.n_duels[0]:
        return
    memory.entered[0] = margins.n_duels[0]
    memory.duels[arm] += 1
    margin = margins.last_margin[0]
    gap = margin - memory.mean[arm]
    memory.mean[arm] += gap / memory.duels[arm]
    memory.scatter[arm] += gap * (margin - memory.mean[arm])


@compiled
def decide(memory):
    """Decide the arms whose means are separated from the other side of the cut."""
    n_arms = len(memory.mean)
    rounds = memory.duels.max()
    if rounds < 2:
        return
    freedom = max(memory.duels.sum() - n_arms, 1)
    sd = sqrt(memory.scatter.sum() / freedom)
    inner = log(n_arms / memory.delta)
    of_arms = inner + 0.75 * log(max(inner, e))
    of_rounds = 1.5 * log(1 + log(max(rounds / 2, 1.0)))
    beta = of_arms + of_rounds
    radius = sd * sqrt(2 * beta / rounds)
    open_places = memory.k - (memory.place == 1).sum()
    active = np.nonzero(memory.place == 0)[0]
    if len(active) == 0:
        return
    mean = memory.mean
    descending = -np.sort(-mean[active])
    last_in = np.inf
    if open_places > 0:
        last_in = descending[open_places - 1]
    first_out = -np.inf
    if open_places < len(descending):
        first_out = descending[open_places]
    for arm in active:
        if mean[arm] > first_out + 4 * radius:
            memory.place[arm] = 1
        elif mean[arm] < last_in - 4 * radius:
            memory.place[arm] = -1


@compiled
def scores(margins, memory):
    """Return means, with the selected arms above and the rejected ones below, shape (K,)."""
    enter(margins, memory)
    far = 2 * (np.abs(memory.mean).max() + 1)
    return memory.mean + far * memory.place


@dataclass(frozen=True, kw_only=True)
class ActiveRanking(PlacesSettings):
    """Active ranking: duel every undecided arm with a random opponent, round by round.

    Parameters
    ----------
    delta
        Probability of a wrong selection, in (0, 1). The policy stops once all arms are decided.
    """

    delta: float = 0.1
    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(scores)
    reference: ClassVar[str] = "Heckel et al. 2019, Algorithm 1"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta for wins; no guarantee for margins"
    )
    ranges: ClassVar = {"delta": "in (0, 1)"}

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(
            k=self._places(n_arms),
            delta=float(self.delta),
            mean=np.zeros(n_arms),
            scatter=np.zeros(n_arms),
            duels=np.zeros(n_arms, np.int64),
            place=np.zeros(n_arms, np.int64),
            turn=np.full(1, -1, np.int64),
            entered=np.zeros(1, np.int64),
        )
