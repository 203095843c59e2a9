"""One replication: a policy, a belief and a coin, run compiled between recorded times.

The loop is three lines: the policy names a pair, the coin says who won, the belief records
it. Each policy's rule gets its own compiled copy of the loop, cached on disk.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from bayesduel.beliefs import record
from bayesduel.jit import with_globals
from bayesduel.policies.identification import best_by_shares
from bayesduel.policies.uniform import select
from bayesduel.simulation.interrupting import Pace

__all__ = ["Recording", "driver", "label", "prepare", "replicate"]


def prepare(policy: Any, horizon: int) -> Any:
    """Return the policy with the simulation's horizon, if it needs one and names none."""
    if getattr(policy, "horizon", 0) is None:
        return replace(policy, horizon=horizon)
    return policy


def label(policy: Any) -> str:
    """Return the policy's class with the hyperparameters that are not the default's.

    A hyperparameter that is such an object itself, say a belief, is told in the same way.
    """
    if not is_dataclass(policy):
        return type(policy).__name__
    given = {f.name: getattr(policy, f.name) for f in fields(policy)}
    changed = [
        f"{f.name}={label(given[f.name]) if is_dataclass(given[f.name]) else repr(given[f.name])}"
        for f in fields(policy)
        if given[f.name] != f.default
    ]
    name = type(policy).__name__
    return f"{name}({', '.join(changed)})" if changed else name


def driver(policy: Any) -> Callable[..., None]:
    """Return the compiled loop around this policy's rule."""
    return _driver(policy.select)


@cache
def _driver(select: Any) -> Callable[..., None]:
    module = select.__module__.rpartition(".")[2]
    return with_globals(_run, f"run_{module}_{select.__name__}", select=select)


def _run(belief, memory, P, self_duels, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Play duels `first` to `last` by `select`: uniformly, or by the rule of a driver's copy."""
    for t in range(first, last + 1):
        i, j = select(belief, memory, t, rng)
        outcome = 1.0 if coins.random() < P[i, j] else 0.0
        record(belief, (i, j), outcome)
        if i == j:
            self_duels[i] += 1


class Recording:
    """What happened in one replication, at the recorded times, in the problem's own labels.

    Parameters
    ----------
    times
        When to record, increasing, shape (n_times,).
    n_arms
        How many arms.
    pairs
        Whether to keep the tallies of every pair at every time, or of every arm only.
    """

    def __init__(self, times: np.ndarray, n_arms: int, pairs: bool) -> None:
        kind = np.int32 if times[-1] < 2**30 else np.int64
        n_times = len(times)
        self.times = times
        self.arrays = {
            "duels": np.zeros((n_times, n_arms), kind),
            "self_duels": np.zeros((n_times, n_arms), kind),
            "wins": np.zeros((n_times, n_arms, n_arms) if pairs else (n_arms, n_arms), kind),
            "recommended": np.zeros(n_times, np.int32),
            "answered": np.full((), -1, np.int64),
        }
        self.pairs = pairs

    def take(self, place: int, arms: np.ndarray, wins: np.ndarray, alone: np.ndarray) -> None:
        """Record the tallies of permuted arms (`arms` says which is which) at a time."""
        back = np.argsort(arms)
        wins = wins[np.ix_(back, back)]
        arrays = self.arrays
        arrays["self_duels"][place] = alone[back]
        arrays["duels"][place] = wins.sum(0) + wins.sum(1) + 2 * alone[back]
        if self.pairs:
            arrays["wins"][place] = wins
        else:
            arrays["wins"][:] = wins


def replicate(
    policy: Any,
    problem: Any,
    recording: Recording,
    *,
    seed: int,
    replication: int,
    permute: bool,
) -> Iterator[int]:
    """Run one policy once, to a recording; yield the duels done as it goes.

    Parameters
    ----------
    policy
        A prepared policy.
    problem
        A ``Matrix``, or a family whose `draw` gives one.
    recording
        Where to, and at which times; the last is the horizon.
    seed
        Of the whole simulation.
    replication
        Which one. With the seed it determines the truth, the arms' order, the coins and
        the policy's draws, whatever else is run and wherever.
    permute
        Whether the policy meets the arms in a random order.
    """
    run = driver(policy)
    truth, coins, draws, fits = streams(seed, replication)
    if hasattr(problem, "draw"):
        problem = problem.draw(truth)
    arms = truth.permutation(problem.n_arms) if permute else np.arange(problem.n_arms)
    P = np.ascontiguousarray(problem.P[np.ix_(arms, arms)])
    belief = policy.belief.init(problem.n_arms)
    memory = policy.init(problem.n_arms)
    alone = np.zeros(problem.n_arms, np.int64)
    pace, done, refit = Pace(), 0, 1 if hasattr(policy.belief, "refreshed") else -1
    for place, time in enumerate(recording.times.tolist()):
        while done < time:
            last = min(time, done + pace.duels, refit if refit > 0 else time)
            pace.start()
            run(belief, memory, P, alone, done + 1, last, draws, coins)
            pace.stop(last - done)
            done = last
            if done == refit:
                belief = policy.belief.refreshed(belief, int(fits.integers(2**31)))
                refit = policy.belief.due(done)
            yield done
        recording.take(place, arms, belief.wins, alone)
        recording.arrays["recommended"][place] = arms[recommend(policy, belief, memory)]
    answer = getattr(memory, "answer", None)
    if answer is not None:
        recording.arrays["answered"] = np.array(int(answer.time[0]))


def streams(seed: int, replication: int) -> tuple[np.random.Generator, ...]:
    """Return the replication's generators: of truth and arm order, coins, policy, fits."""
    sequence = np.random.SeedSequence(seed, spawn_key=(replication,))
    return tuple(np.random.Generator(np.random.PCG64(s)) for s in sequence.spawn(4))


def recommend(policy: Any, belief: Any, memory: Any) -> int:
    """Return the arm the policy would name now.

    Its answer if it has one; else what it recommends, by default the best by the shares.
    """
    answer = getattr(memory, "answer", None)
    if answer is not None and answer.arm[0] >= 0:
        return int(answer.arm[0])
    if hasattr(policy, "recommend"):
        return int(policy.recommend(belief, memory))
    return best_by_shares(belief)
