"""Two-Phase: explore a basis of items once an epoch, then exploit for growing lengths.

In epoch l each of n linearly independent items is shown once. If each of them has both successes
and failures, their shares of success determine the preference vector, and the best item under it
is shown f(l) times. Rewards of the exploitation are not used.

References
----------
Jiang & Srikant, "Parametrized stochastic multi-armed bandits with binary rewards", arXiv
1111.4460, section II; regret by its Theorem III.5 (finite sets of items) and Theorem IV.6 (the
unit sphere). Deviations: in a bad epoch (some basis item has only successes or only failures) the
vector of the last good epoch is used, and zero before there is one, which shows the first item;
the paper does not state its choice, and as exploitation is not used for estimation the choice
matters only while bad epochs last. The basis is a barycentric spanner by default, any basis in
the paper. On the sphere the schedule is f(l) = l by default.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import recommended
from bayesduel.beliefs.item_belief import Counts, ItemBelief, ItemSet
from bayesduel.jit import compiled
from bayesduel.policies.contextual.epoch_schedule import (
    LINEAR,
    SHARED,
    EpochPolicy,
    Schedule,
    epochs_by,
    epochs_within,
    exploit,
)
from bayesduel.policies.contextual.optimal_design import arbitrary_basis, spanner

__all__ = ["TwoPhase"]


class Memory(NamedTuple):
    """State of Two-Phase, of size n whatever the number of items and the horizon."""

    schedule: Schedule  # how long exploitation lasts
    smooth: bool  # whether shares are kept off 0 and 1
    basis: np.ndarray  # items of the basis, shape (n,)
    rows: np.ndarray  # their attributes, shape (n, n)
    paid: np.ndarray  # successes of each in exploration, shape (n,), int64
    # Basis item shown last (-1: none) and its successes before, shape (2,), int64.
    noted: np.ndarray
    epoch: np.ndarray  # from 1, shape (1,), int64, as the following
    place: np.ndarray  # how many of its basis items have been shown
    left: np.ndarray  # exploitation left, -1: not begun
    bad: np.ndarray  # bad epochs so far
    best: np.ndarray  # item exploited last, -1 before the first, shape (1,), int64
    preference: np.ndarray  # estimate of the vector, shape (n,)
    aim: np.ndarray  # on the sphere, where the exploited item points, shape (n,)


@compiled
def select(belief, memory, t, rng):
    """Return the next item."""
    n = len(memory.basis)
    shown = memory.noted[0]
    if shown >= 0:
        memory.paid[shown] += belief.successes[memory.basis[shown]] - memory.noted[1]
        memory.noted[0] = -1
    place = memory.place[0]
    if place < n:
        memory.place[0] += 1
        item = memory.basis[place]
        memory.noted[0] = place
        memory.noted[1] = belief.successes[item]
        return item
    if memory.left[0] < 0:
        estimate(memory)
    return exploit(belief, memory, memory.preference)


@compiled
def estimate(memory):
    """Estimate the preference vector from the basis items' shares of success, in a good epoch."""
    n = len(memory.basis)
    epoch = memory.epoch[0]
    odds = np.empty(n)
    for i in range(n):
        paid = float(memory.paid[i])
        lost = float(epoch - memory.paid[i])
        if memory.smooth:
            paid += 0.5
            lost += 0.5
        if paid == 0 or lost == 0:
            memory.bad[0] += 1
            return
        odds[i] = log(paid / lost)
    memory.preference[:] = np.linalg.solve(memory.rows, odds)


@dataclass(frozen=True, kw_only=True)
class TwoPhase(EpochPolicy):
    """Two-Phase, for items with attributes shown one at a time.

    Parameters
    ----------
    basis
        "spanner", in which every item has coordinates in [-1, 1], or "arbitrary", the first
        independent items in the order given.
    smooth
        Whether the shares are (paid + 1/2) / (l + 1), so that every epoch is good; not the
        paper's.

    Raises
    ------
    ValueError
        If a setting is not as described, or (from ``init``) the attributes have rank below n.
    """

    belief: Counts = Counts()
    basis: Literal["spanner", "arbitrary"] = "spanner"
    smooth: bool = False
    select: ClassVar = staticmethod(select)
    reads: ClassVar = Counts
    reference: ClassVar[str] = "Jiang & Srikant, arXiv 1111.4460, section II"
    guarantee: ClassVar[str] = (
        "regret n (f^-1(T) + 1) + O(1) for any number of items; sphere O(sqrt T)"
    )

    def init(self, items: ItemSet) -> Memory:
        choose = spanner if self.basis == "spanner" else arbitrary_basis
        basis = choose(items.attributes)
        n = len(basis)
        return Memory(
            schedule=self.schedule_for(items),
            smooth=bool(self.smooth),
            basis=basis,
            rows=np.ascontiguousarray(items.attributes[basis]),
            paid=np.zeros(n, np.int64),
            noted=np.array([-1, 0]),
            epoch=np.ones(1, np.int64),
            place=np.zeros(1, np.int64),
            left=np.full(1, -1, np.int64),
            bad=np.zeros(1, np.int64),
            best=np.full(1, -1, np.int64),
            preference=np.zeros(n),
            aim=np.zeros(n),
        )

    def recommend(self, belief: ItemBelief, memory: Memory) -> int | np.ndarray:
        """Return the best item under the last estimate; on the sphere, its unit vector."""
        return recommended(belief, memory.preference)

    def bound(self, times: np.ndarray, items: ItemSet) -> np.ndarray:
        """Return the growing part of the regret bound at each of `times`.

        For a table of items ``n (f^-1(t) + 1)`` times the largest value; on the sphere n times
        the number of epochs whose exploitation fits in t, plus one: ``n sqrt(2 t)`` where f(l)
        is l. What is left out is a constant that depends on the problem, and on the sphere a
        factor that does. NaN on the sphere under schedules that grow faster than l: the theorem
        does not cover them.
        """
        schedule = self.schedule_for(items)
        n = items.attributes.shape[1]
        if items.sphere and schedule.kind not in (LINEAR, SHARED):
            return np.full(len(times), np.nan)
        count = epochs_within if items.sphere else epochs_by
        epochs = np.array([count(schedule, int(t)) for t in times], dtype=float)
        return np.asarray(n * (epochs + 1) * items.values.max())
