"""One replication: a policy plays a problem from the first step to the horizon.

The loop is the same for every setting: play a stretch in compiled code, refit a belief that is
due, record what happened at the times asked for. What a step is, and what is recorded, belongs to
the run (:mod:`bayesduel.simulation.run`). Compiled code answers no signal and holds
Python's lock, so stretches are short.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.simulation.item_run import ItemRun
from bayesduel.simulation.margin_run import MarginRun
from bayesduel.simulation.pair_run import PairRun
from bayesduel.simulation.run import Run

if TYPE_CHECKING:
    from bayesduel.policies.policy import Policy
    from bayesduel.problems.problem import Problem

__all__ = ["RUNS", "Pace", "label", "replicate", "start", "streams"]

RUNS: dict[str, Any] = {"pairs": PairRun, "margins": MarginRun, "items": ItemRun}  # by setting
STRETCH = 0.2  # Seconds of compiled code at a time.
LONGEST = 1 << 22  # Duels of a stretch at most.


def start(
    policy: "Policy",
    problem: "Problem",
    times: np.ndarray,
    plan: Mapping[str, Any],
    replication: int,
) -> Run:
    """Return a replication before its first step."""
    generators = streams(plan["seed"], replication)
    drawn = problem.draw(generators[0])
    kind = RUNS[plan["setting"]]
    return kind(policy, drawn, times, plan, generators)


def replicate(run: Run) -> Iterator[int]:
    """Play a run to its end; yield the number of steps played after every stretch."""
    pace = Pace()
    for place, time_ in enumerate(run.times.tolist()):
        run.prepare(time_)
        while run.done < time_:
            before = run.done
            wanted = run.done + pace.duels
            last = int(min(time_, wanted, run.limit))
            pace.start()
            run.play(last)
            pace.stop(run.done - before)
            run.refit()
            yield run.done
            if run.done < last:  # The policy has finished.
                break
        run.record(place)
    run.finish()


def streams(seed: int, replication: int) -> tuple[np.random.Generator, ...]:
    """Return a replication's generators: of the truth, of outcomes, of the policy, of refits.

    The order of the arms is drawn from the first, on problems of margins from the second.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(replication,))
    bits = [np.random.PCG64(child) for child in sequence.spawn(4)]
    return tuple(np.random.Generator(each) for each in bits)


def label(policy: "Policy") -> str:
    """Return the policy's class with the hyperparameters that differ from the defaults.

    A hyperparameter that is such an object itself, such as a belief, is written in the same way.
    """
    if not is_dataclass(policy):
        return type(policy).__name__
    changed = []
    for field in fields(policy):
        given: Any = getattr(policy, field.name)
        if given != field.default:
            shown = label(given) if is_dataclass(given) else repr(given)
            changed.append(f"{field.name}={shown}")
    name = type(policy).__name__
    return f"{name}({', '.join(changed)})" if changed else name


class Pace:
    """How many steps to play at a stretch, so that one takes about ``STRETCH`` seconds.

    duels: steps of the next stretch.
    """

    def __init__(self) -> None:
        self.duels = 64
        self._start = 0.0

    def start(self) -> None:
        """Start a stretch."""
        self._start = time.perf_counter()

    def stop(self, played: int) -> None:
        """End the stretch, in which `played` steps were played."""
        seconds = max(time.perf_counter() - self._start, 1e-9)
        wanted = int(played * STRETCH / seconds)
        self.duels = max(1, min(wanted, 4 * self.duels, LONGEST))
