"""Schedules of exploitation: f(l) pulls in epoch l, growing slower than exponentially.

References
----------
The schedules of the Two-Phase algorithm (see ``two_phase.py``). ``ln^(k)`` is the k-times
iterated logarithm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, e, exp, floor, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import aim_at, best_item
from bayesduel.beliefs.item_belief import Counts, ItemSet, Logistic
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy
from bayesduel.system.arguments import listed, numbers, shown_value

__all__ = [
    "LINEAR",
    "SCHEDULES",
    "SHARED",
    "EpochPolicy",
    "Schedule",
    "epochs_by",
    "epochs_within",
    "exploit",
    "length",
    "schedule_of",
]

SCHEDULES = ("linear", "shared", "polynomial", "stretched", "iterated")
LINEAR, SHARED, POLYNOMIAL, STRETCHED, ITERATED, GIVEN = range(6)
LONGEST = 2.0**62


class Schedule(NamedTuple):
    """A schedule for compiled code: its kind, a parameter, and given lengths."""

    kind: int
    parameter: float
    given: np.ndarray


@dataclass(frozen=True, kw_only=True)
class EpochPolicy(ItemPolicy):
    """Settings of a policy that explores and exploits in epochs of a schedule.

    Parameters
    ----------
    schedule
        The function f: "stretched" floor(e^sqrt(l)); "polynomial" floor(l^power); "iterated"
        floor(e^(l / ln^(depth)(l + c))), the paper's, with c the least that keeps the
        logarithm at 1 or more; "linear" l; "shared" ceil(l / n); or the lengths f(1), f(2),
        ... themselves, which should not run out. Default: "stretched", on the sphere "linear".
    power
        Of "polynomial".
    depth
        Of "iterated": 1, 2 or 3.
    """

    belief: Counts | Logistic = Counts()
    schedule: str | Sequence[int] | None = None
    power: float = 2.0
    depth: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.schedule, str | None):
            object.__setattr__(self, "schedule", listed(self.schedule, "schedule"))
        self.schedule_for(ItemSet(np.eye(2), np.ones(1), False))

    def schedule_for(self, items: ItemSet) -> Schedule:
        """Return the schedule for these items."""
        name = self.schedule
        if name is None:
            name = "linear" if items.sphere else "stretched"
        n = items.attributes.shape[1]
        return schedule_of(name, power=self.power, depth=self.depth, n_attributes=n)


def schedule_of(
    name: str | Sequence[int], *, power: float, depth: int, n_attributes: int
) -> Schedule:
    """Return the schedule called `name`, or the given lengths f(1), f(2), ..."""
    none = np.zeros(0, np.int64)
    if isinstance(name, str):
        if name not in SCHEDULES:
            raise ValueError(
                f"schedule should be one of {', '.join(SCHEDULES)} or lengths, "
                f"got {shown_value(name)}"
            )
        if name == "polynomial" and not power > 0:
            raise ValueError(f"power should be positive, got {power}")
        # The offset of a fourth iterated logarithm is beyond floating point: 3
        if name == "iterated" and depth not in range(1, 3 + 1):
            raise ValueError(f"depth should be 1, 2 or 3, got {depth!r}")
        parameters = {"polynomial": power, "iterated": depth, "shared": n_attributes}
        return Schedule(SCHEDULES.index(name), float(parameters.get(name, 0)), none)
    numbers(list(name), "schedule")  # refuses what is no array
    lengths: Any = np.asarray(list(name))
    whole = lengths.size > 0 and lengths.dtype.kind in "iu"
    if not (whole and lengths[0] >= 1 and (np.diff(lengths) >= 0).all()):
        raise ValueError(
            "schedule should be whole numbers >= 1, each at least as large as the one before, "
            f"got {list(name)[:8]}"
        )
    return Schedule(GIVEN, 0.0, lengths.astype(np.int64))


@compiled
def length(schedule, epoch):
    """Return f(epoch), epoch >= 1; raise ValueError if given lengths have run out."""
    kind = schedule.kind
    if kind == LINEAR:
        return epoch
    if kind == SHARED:
        return ceil(epoch / schedule.parameter)
    if kind == GIVEN:
        if epoch > len(schedule.given):
            raise ValueError("schedule should have a length for every epoch: give more lengths")
        return schedule.given[epoch - 1]
    if kind == POLYNOMIAL:
        x = float(epoch) ** schedule.parameter
    elif kind == STRETCHED:
        x = exp(sqrt(epoch))
    else:
        depth = int(schedule.parameter)
        offset = 1.0
        for _ in range(depth):
            offset = e if offset == 1.0 else exp(offset)
        slow = epoch + offset
        for _ in range(depth):
            slow = log(slow)
        x = exp(min(epoch / slow, 43.0))
    return int(max(floor(min(x, LONGEST)), 1.0))


@compiled
def exploit(belief, memory, preference):
    """Return the item that was best under `preference` when the exploitation of the epoch began."""
    if memory.left[0] < 0:
        memory.left[0] = length(memory.schedule, memory.epoch[0])
        if belief.sphere:
            memory.best[0] = aim_at(belief, preference, memory.aim)
        else:
            memory.best[0] = best_item(belief, preference)
    memory.left[0] -= 1
    if memory.left[0] == 0:  # the next question begins a new epoch
        memory.epoch[0] += 1
        memory.place[0] = 0
        memory.left[0] = -1
    return memory.best[0]


@compiled
def epochs_by(schedule, time):
    """Return f^-1(time) = max {l : f(l) <= time}, 0 if there is none."""
    if schedule.kind == GIVEN:
        return int((schedule.given <= time).sum())
    low = 0
    high = 1
    while length(schedule, high) <= time:
        low = high
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if length(schedule, middle) <= time:
            low = middle
        else:
            high = middle
    return low


@compiled
def epochs_within(schedule, time):
    """Return max {l : f(1) + ... + f(l) <= time}, 0 if there is none."""
    epoch = 0
    spent = 0
    while schedule.kind != GIVEN or epoch < len(schedule.given):
        spent += length(schedule, epoch + 1)
        if spent > time:
            break
        epoch += 1
    return epoch
