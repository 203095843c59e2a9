"""Quick select: compare all arms with one of them, and go on with those that decide the k best.

An arm drawn at random, the pivot, meets every other arm, which is then above it, below it or nearly
its equal. If more than k are above, the k best are sought among these; if fewer are, they are
selected, and the rest of the k are sought below, once the pivot and its equals are selected, too.

References
----------
Ren, Liu & Shroff, "The Sample Complexity of Best-k Items Selection from Pairwise Comparisons",
ICML 2020, Algorithms 1 (DistributeItem) and 2 (Epsilon-Quick-Select). Read second hand: from the
authors' program and a second one. Deviations: a positive margin is a win, and a margin of 0 half a
win; equals of the pivot are selected after it, in random order; at a fixed budget the best mean
margins fill the places still open.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.match import MIDDLE, OPEN, UP, distributed
from bayesduel.policies.top_k.settings import PlacesSettings

__all__ = ["QuickSelect"]

DUELS, PIVOT, ARM = range(3)


class Memory(NamedTuple):
    k: int
    width: float  # epsilon / 2
    delta: np.ndarray  # of the passes still to come, shape (1,)
    order: np.ndarray  # the arms in random order: the first open one is the pivot. Shape (K,)
    place: np.ndarray  # 1 among the k best, -1 not, 0 open; shape (K,)
    found: np.ndarray  # how an open arm compares with the pivot, shape (K,)
    state: np.ndarray  # DUELS entered; places in `order` of the PIVOT and the ARM that it meets
    wins: np.ndarray  # of the arm in its match, and its duels; shape (2,)


@compiled
def select(margins, memory, t, rng):
    """Return an open arm and the pivot; (-1, -1) once the k best are selected."""
    state = memory.state
    if t == 1:
        memory.order[:] = rng.permutation(len(memory.order))
        state[ARM] = 1
    enter(margins, memory)
    if state[ARM] < 0:
        return -1, -1
    return memory.order[state[ARM]], memory.order[state[PIVOT]]


@compiled
def enter(margins, memory):
    """Add the last duel to its match if it is new; continue with the next match."""
    state = memory.state
    wins = memory.wins
    if state[DUELS] == margins.n_duels[0]:
        return
    state[DUELS] = margins.n_duels[0]
    wins[0] += (1 + np.sign(margins.last_margin[0])) / 2
    wins[1] += 1
    n_open = (memory.place == 0).sum()
    delta = memory.delta[0] / (n_open * (n_open - 1))
    found = distributed(wins[0], wins[1], memory.width, 0.0, delta)
    if found != OPEN:
        memory.found[memory.order[state[ARM]]] = found
        meet_next(memory)


@compiled
def meet_next(memory):
    """Go to the next open arm; after the last one, end the pass and go on with another pivot."""
    state = memory.state
    memory.wins[:] = 0
    left = np.flatnonzero(memory.place[memory.order] == 0)
    left = left[left > state[ARM]]
    if len(left) == 0:
        end_pass(memory)
        left = np.flatnonzero(memory.place[memory.order] == 0)
        if len(left) == 0:
            state[ARM] = -1
            return
        state[PIVOT] = left[0]
        left = left[1:]
    state[ARM] = left[0]


@compiled
def end_pass(memory):
    """Select and discard arms by how they compare with the pivot."""
    place = memory.place
    order = memory.order
    is_open = place == 0
    n_open = is_open.sum()
    free = memory.k - (place == 1).sum()
    up = is_open & (memory.found == UP)
    if up.sum() > free:
        place[is_open & ~up] = -1
    else:
        place[up] = 1
        middle = order[(is_open & (memory.found == MIDDLE))[order]]
        place[middle[: free - up.sum()]] = 1
        if (place == 1).sum() == memory.k:
            place[place == 0] = -1
    memory.found[:] = MIDDLE
    memory.delta[0] *= (n_open - 1) / n_open


@compiled
def scores(margins, memory):
    """Return mean margins, with the selected arms above and the rejected ones below, shape (K,)."""
    enter(margins, memory)
    mean = margins.total.sum(axis=1) / np.maximum(margins.n.sum(axis=1), 1)
    return mean + 2 * (np.abs(mean).max() + 1) * memory.place


@dataclass(frozen=True, kw_only=True)
class QuickSelect(PlacesSettings):
    """Quick select: find the k best arms within epsilon, then stop.

    Parameters
    ----------
    epsilon
        By how much a selected arm may lose to one of the k best, in (0, 0.5).
    delta
        Probability of a wrong selection, in (0, 1).
    """

    epsilon: float = 0.05
    delta: float = 0.1
    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(scores)
    reference: ClassVar[str] = "Ren, Liu & Shroff, ICML 2020, Algorithms 1 and 2"
    guarantee: ClassVar[str] = (
        "within epsilon with probability 1 - delta after O(K log(K / delta) / epsilon^2) duels, "
        "under strong stochastic transitivity and triangle inequality"
    )
    ranges: ClassVar = {"epsilon": "in (0, 0.5)", "delta": "in (0, 1)"}

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(
            k=self._places(n_arms),
            width=self.epsilon / 2,
            delta=np.array([float(self.delta)]),
            order=np.arange(n_arms),
            place=np.zeros(n_arms, np.int64),
            found=np.full(n_arms, MIDDLE),
            state=np.zeros(3, np.int64),
            wins=np.zeros(2),
        )
