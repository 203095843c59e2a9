"""Thompson sampling of independent success probabilities, uniform priors.

References
----------
Thompson, "On the likelihood that one unknown probability exceeds another", Biometrika 1933;
Kaufmann, Korda & Munos, "Thompson sampling: an asymptotically optimal finite-time analysis",
ALT 2012. Deviations: none. The largest draw of the k items not shown yet is drawn at once, as
U^(1/k), where all items are worth the same.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import Counts, ItemSet, finite_only
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy

__all__ = ["ThompsonBeta"]


class Memory(NamedTuple):
    """Items with the shown ones first, each item's place, shape (m,), and the number shown."""

    order: np.ndarray
    place: np.ndarray
    n_shown: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return the item with the largest posterior draw."""
    m = len(belief.pulls)
    n_shown = memory.n_shown[0]
    last = belief.last[0]
    if last >= 0 and memory.place[last] >= n_shown:  # it was new: it joins those shown
        here = memory.place[last]
        other = memory.order[n_shown]
        memory.order[n_shown] = last
        memory.order[here] = other
        memory.place[last] = n_shown
        memory.place[other] = here
        n_shown += 1
        memory.n_shown[0] = n_shown
    alike = len(belief.values) == 1
    best = -1
    most = -1.0
    for k in range(n_shown if alike else m):
        arm = memory.order[k]
        paid = belief.successes[arm]
        draw = rng.beta(1.0 + paid, 1.0 + belief.pulls[arm] - paid)
        if not alike:
            draw *= belief.values[arm]
        if draw > most:
            best = arm
            most = draw
    fresh = m - n_shown
    if alike and fresh > 0 and rng.random() ** (1 / fresh) > most:
        return memory.order[n_shown + int(rng.random() * fresh)]
    return best


@dataclass(frozen=True, kw_only=True)
class ThompsonBeta(ItemPolicy):
    """Thompson sampling of one Beta posterior per item; attributes are not used.

    Raises
    ------
    ValueError
        From ``init``, if the items are a whole sphere.
    """

    belief: Counts = Counts()
    select: ClassVar = staticmethod(select)
    reads: ClassVar = Counts
    reference: ClassVar[str] = "Thompson 1933; Kaufmann et al., ALT 2012"
    guarantee: ClassVar[str] = "regret sum over items of gap / kl ln T: grows with their number"

    def init(self, items: ItemSet) -> Memory:
        finite_only(self, items)
        m = len(items.attributes)
        return Memory(np.arange(m), np.arange(m), np.zeros(1, np.int64))
