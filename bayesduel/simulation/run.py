"""The contract of a run: one replication as it goes, whatever a step of it is.

A run has a compiled loop of three lines: the policy names what to show, the problem gives the
outcome, the belief records it. Every policy's rule gets its own compiled copy of the loop, cached
on disk.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from math import inf
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.jit import compiled, interpreting, tell_if_it_compiles, with_globals
from bayesduel.system.arguments import shown_value

if TYPE_CHECKING:
    from bayesduel.policies.policy import Policy
    from bayesduel.problems.problem import Problem

__all__ = [
    "PAIR",
    "PARTS",
    "RUN",
    "Layout",
    "Run",
    "Truth",
    "check_shown",
    "count_type",
    "driver",
]

logger = logging.getLogger(__name__)

OF_ONE = ("play_pulls", "play_sphere")  # loops in which a rule names one item; a pair in others

# Dimensions and type of each variable of a trace.
Layout = dict[str, tuple[tuple[str, ...], Any]]
# Dimensions and values of each variable of the problem.
Truth = Mapping[str, tuple[tuple[str, ...], np.ndarray]]

RUN = ("policy", "replication")
PAIR = ("arm", "opponent")
PARTS = ("first", "second", "first_won")  # what is kept of each duel of a sequence


class Run(ABC):
    """One replication as it goes: the state between two stretches.

    ``prepare``, ``refit`` and ``finish`` do nothing unless a run needs them.

    times: when to record, increasing, shape (n_times,).
    arrays: what was recorded: the variables of ``layout`` without their first two dimensions, in
        the problem's own labels.
    done: steps played.
    limit: the step after which ``refit`` has something to do.
    """

    done: int = 0
    limit: float = inf

    def __init__(
        self,
        policy: Any,
        problem: Any,
        times: np.ndarray,
        plan: Mapping[str, Any],
        streams: Sequence[np.random.Generator],
    ) -> None:
        self.policy = policy
        self.problem = problem
        self.times = times
        self.truth_draws, self.coins, self.draws, self.fits = streams
        n_arms = problem.n_arms
        sizes = {
            "time": len(times),
            "arm": n_arms,
            "opponent": n_arms,
            "item": n_arms,
            "duel": int(times[-1]),
            "part": len(PARTS),
            "segment": problem.n_segments,
        }
        self.arrays = {}
        for name, (dims, kind) in self.layout(plan).items():
            shape = [sizes[dim] for dim in dims[len(RUN) :]]
            self.arrays[name] = np.zeros(shape, kind)
        self.begin(plan)

    @abstractmethod
    def begin(self, plan: Mapping[str, Any]) -> None:
        """Make belief, memory and loop, before the first step."""

    @staticmethod
    @abstractmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the dimensions and type of each variable of a trace."""

    @staticmethod
    @abstractmethod
    def truth(problem: "Problem", drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return what a trace keeps of the problem, `drawn` once for every replication."""

    @staticmethod
    def least(policy: "Policy", n_arms: int) -> int:
        """Return the fewest steps that the policy can be run for."""
        return 1

    def prepare(self, time: int) -> None:  # noqa: B027
        """Make ready to play until `time`."""

    @abstractmethod
    def play(self, last: int) -> None:
        """Play until step `last`, or until the policy has finished."""

    def refit(self) -> None:  # noqa: B027
        """Refit the belief, if that is due after ``done`` steps."""

    @abstractmethod
    def record(self, place: int) -> None:
        """Record what holds at the time of that index."""

    def finish(self) -> None:  # noqa: B027
        """Record what is kept of the end only."""


@cache
def driver(
    loop: Callable[..., None], select: Callable[..., Any], **others: Any
) -> Callable[..., None]:
    """Return the compiled copy of a loop that plays by a policy's rule `select`.

    `others` are further compiled functions of the policy, by the name that the loop calls. A rule
    that is not compiled is played as plain Python, which a log message says.
    """
    module = select.__module__.rpartition(".")[2]
    names = [f.__name__ for f in (select, *others.values())]
    name = "_".join([loop.__name__, module, *names])
    if isinstance(select, FunctionType):
        checked = _checked(select, loop.__name__)
        made = with_globals(loop, name, select=checked, **others)
        logger.warning(
            "%s of %s is not compiled, so the policy runs as plain Python, which is slow. For "
            "speed, write @compiled above it (from bayesduel.jit import compiled).",
            select.__name__,
            module,
        )
        return interpreting(made)
    made = with_globals(loop, name, select=select, **others)
    tell_if_it_compiles(made, "the policy" if module == "__main__" else module)
    return made


def _checked(select: Callable[..., Any], loop: str) -> Callable[..., Any]:
    """Return a rule in plain Python that raises TypeError unless it names what the loop plays."""
    shows = 1 if loop in OF_ONE else 2
    should = ("the number of one item", "two numbers of arms, such as (0, 1)")[shows - 1]

    @wraps(select)
    def checked(*args: Any) -> Any:
        found = select(*args)
        several = isinstance(found, tuple | list | np.ndarray)
        numbers = found if several else [found]
        whole_numbers = all(isinstance(number, int | np.integer) for number in numbers)
        if len(numbers) != shows or not whole_numbers:
            name = f"{select.__name__} of {select.__module__}"
            raise TypeError(f"{name} should return {should}, got {shown_value(found)}")
        return found

    return checked


@compiled
def check_shown(i: int, j: int, n: int) -> None:
    """Raise IndexError unless a rule returned numbers of arms or items, 0 to n - 1.

    Compiled loops would else read and write whatever is beside their arrays.
    """
    if i < 0 or j < 0 or i >= n or j >= n:
        raise IndexError(
            "select of the policy should return numbers of arms (of items) from 0 to n - 1"
        )


def count_type(horizon: int) -> Any:
    """Return the type of a count that cannot exceed twice the horizon."""
    return np.int32 if horizon < 2**30 else np.int64
