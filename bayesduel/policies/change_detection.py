"""Change detection: a policy that is begun anew where the outcomes of a pair have changed.

The last w duels of a pair are its window. A change is detected where the wins of its older half
and of its newer half differ by more than b. With ``w = 8 L / delta^2`` and ``b = sqrt(w L / 2)``
that happens by chance, with probability ``2 exp(-L)`` at most in a full window (Hoeffding's
inequality), while a change by delta is twice b apart.

References
----------
Kolpaczki, Bengs & Hüllermeier, "Non-Stationary Dueling Bandits", arXiv 2202.00935, of which the
abstract could be read, and the authors' program: the rules and constants are from there, for
windows that are kept exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.jit import compiled, with_globals
from bayesduel.policies.identification import best_by_shares
from bayesduel.policies.policy import HorizonPolicy, PairPolicy
from bayesduel.policies.winner_stays import WinnerStays
from bayesduel.system.arguments import shown_value

__all__ = [
    "ChangeDetection",
    "Monitored",
    "Windows",
    "begun",
    "composed",
    "empty_windows",
    "enter",
    "restart",
]


class Monitored(NamedTuple):
    """A policy that can begin anew: the belief of its own duels, and its memory."""

    belief: Belief
    memory: Any
    state: tuple[np.ndarray, ...]  # the bytes of all arrays of both
    fresh: tuple[np.ndarray, ...]  # what these were before the first duel


class Windows(NamedTuple):
    """The last outcomes of some pairs."""

    threshold: float
    outcomes: np.ndarray  # rings, shape (n, w), w even
    halves: np.ndarray  # wins in the older and in the newer half, shape (n, 2)
    counts: np.ndarray  # duels since the policy began, shape (n,)


def begun(policy: PairPolicy, n_arms: int, horizon: float) -> Monitored:
    """Return a policy before its first duel, with this horizon if it has none."""
    policy = policy.for_horizon(int(horizon))
    belief = policy.belief.init(n_arms)
    memory = policy.init(n_arms)
    state = tuple(a.ravel(order="K").view(np.uint8) for a in arrays_of((belief, memory)))
    return Monitored(belief, memory, state, tuple(a.copy() for a in state))


def arrays_of(part: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of nested tuples."""
    if isinstance(part, tuple):
        for inner in part:
            yield from arrays_of(inner)
    elif isinstance(part, np.ndarray):
        yield part


def empty_windows(n: int, width: int, threshold: float) -> Windows:
    """Return n windows without an outcome."""
    return Windows(threshold, np.zeros((n, width)), np.zeros((n, 2)), np.zeros(n, np.int64))


@compiled
def restart(monitored, windows):
    """Begin the policy anew, with empty windows."""
    for k in range(len(monitored.state)):
        monitored.state[k][:] = monitored.fresh[k]
    windows.halves[:] = 0
    windows.counts[:] = 0


@compiled
def enter(windows, k, won):
    """Enter an outcome in window k; return whether it shows a change."""
    ring = windows.outcomes[k]
    halves = windows.halves[k]
    n = windows.counts[k]
    width = len(ring)
    if n >= width:
        halves[0] -= ring[n % width]
    if n >= width // 2:
        moved = ring[(n - width // 2) % width]
        halves[0] += moved
        halves[1] -= moved
    ring[n % width] = won
    halves[1] += won
    windows.counts[k] += 1
    return n + 1 >= width and abs(halves[0] - halves[1]) > windows.threshold


@cache
def composed(rule: Any, inner: Any, leader: Any) -> Any:
    """Return the compiled copy of a rule that asks the rule `inner` of another policy."""
    module = inner.__module__.rpartition(".")[2]
    name = f"{rule.__name__}_{module}_{inner.__name__}"
    return with_globals(rule.py_func, name, inner=inner, leader=leader)


@dataclass(frozen=True, kw_only=True)
class ChangeDetection(HorizonPolicy):
    """Defaults of a policy that begins another one anew where it detects a change.

    Parameters
    ----------
    policy
        The policy that is begun anew.
    change
        The least change of a probability that is to be detected, in (0, 1].
    window
        Duels of a window, even. Default: by `change` and the horizon.
    threshold
        Difference of the wins of its halves that is exceeded where preferences have changed.
        Default: by `window` and the horizon.
    """

    policy: PairPolicy = WinnerStays()
    horizon: float | None = None
    change: float = 0.3
    window: int | None = None
    threshold: float | None = None
    reads: ClassVar = "counts"
    rule: ClassVar[Any]
    ranges: ClassVar = {
        "horizon": ">= 1 and finite",
        "change": "in (0, 1]",
        "window": "at least 2",
        "threshold": "> 0",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        inner = self.policy
        name = type(self).__name__
        if not isinstance(inner, PairPolicy):
            raise TypeError(
                f"policy of {name} should be a policy of pairs, such as WinnerStays(), "
                f"got {shown_value(inner)}"
            )
        if inner.belief.due(0) >= 0:
            raise ValueError(
                f"policy of {name} should have a belief that needs no refits, such as Beta(), "
                f"got {inner.belief!r}"
            )
        if self.window is not None and self.window % 2:
            raise ValueError(f"window should be even, got {self.window}")

    @property
    def select(self) -> Any:
        """The compiled rule, with that of the policy in it."""
        return composed(type(self).rule, self.policy.select, self.policy.leader)

    def windows(self, n: int, budget: float) -> Windows:
        """Return n empty windows, by default of L = `budget`, or 0 if that is below."""
        budget = max(budget, 0.0)
        width = self.window or max(2 * ceil(4 * budget / self.change**2), 2)
        return empty_windows(n, width, self.threshold or sqrt(width * budget / 2))

    def recommend(self, belief: Belief, memory: Any) -> int:
        """Return what the policy recommends since it began anew; by all duels if it had none."""
        if memory.monitored.belief.n_duels[0] == 0:
            return best_by_shares(belief)
        return self.policy.recommend(memory.monitored.belief, memory.monitored.memory)
