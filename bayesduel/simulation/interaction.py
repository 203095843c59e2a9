"""One replication of a problem of items: one or two are shown, and what it was worth is kept.

As in ``driver.py``, three lines: the policy names what to show, the coin says what it brings,
the belief records it. A table may hold a million items, so at the recorded times only sums are
kept: of the true worth of what was shown, and of what it paid.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet, record_aimed, record_duel, record_pull
from bayesduel.beliefs.logistic_laplace import sigmoid
from bayesduel.jit import with_globals
from bayesduel.policies.contextual.logistic_duel_thompson import select as select_two
from bayesduel.policies.contextual.two_phase import select
from bayesduel.simulation.interrupting import Pace
from bayesduel.simulation.replication import streams

__all__ = ["Showing", "item_driver", "layout_of_items", "replicate_items", "truth_of_items"]


def layout_of_items(plan: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return the dimensions and type of each variable of a trace of items."""
    run = ("policy", "replication")
    layout: dict[str, tuple[tuple[str, ...], Any]] = {
        "worth": ((*run, "time"), np.float64),
        "paid": ((*run, "time"), np.float64),
        "recommended": ((*run, "time"), np.int64),
        "recommended_worth": ((*run, "time"), np.float64),
        "bound": ((*run, "time"), np.float64),
    }
    if plan["pairs"]:
        layout["pulls"] = ((*run, "item"), np.int32 if plan["horizon"] < 2**30 else np.int64)
    return layout


def truth_of_items(
    problem: Any, seed: int, replications: int
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return what a trace keeps of the problem of each replication."""
    drawn: list[tuple[float, float, np.ndarray]] = []
    for r in range(replications):
        one = problem.draw(streams(seed, r)[0]) if hasattr(problem, "draw") else problem
        drawn.append((one.best, one.typical, one.preference))
    best, typical, preference = zip(*drawn, strict=True)
    return {
        "best": (("replication",), np.array(best)),
        "typical": (("replication",), np.array(typical)),
        "preference": (("replication", "attribute"), np.array(preference)),
    }


class Showing:
    """What happened in one replication, at the recorded times.

    Parameters
    ----------
    times
        When to record, increasing, shape (n_times,).
    n_items
        How many items have an index.
    tallied
        Whether to keep the pulls of every item at the end.
    """

    def __init__(self, times: np.ndarray, n_items: int, tallied: bool) -> None:
        n_times = len(times)
        self.times = times
        self.arrays: dict[str, np.ndarray] = {
            "worth": np.zeros(n_times),
            "paid": np.zeros(n_times),
            "recommended": np.zeros(n_times, np.int64),
            "recommended_worth": np.zeros(n_times),
            "bound": np.full(n_times, np.nan),
        }
        if tallied:
            self.arrays["pulls"] = np.zeros(n_items, np.int64)


def replicate_items(
    policy: Any, problem: Any, recording: Showing, *, seed: int, replication: int, permute: bool
) -> Iterator[int]:
    """Run one policy once on a problem of items; yield the steps done as it goes.

    Parameters and streams are those of :func:`bayesduel.simulation.replication.replicate`.
    """
    truth, coins, draws, _ = streams(seed, replication)
    if hasattr(problem, "draw"):
        problem = problem.draw(truth)
    offer, order = problem.offer, np.arange(problem.n_arms)
    if permute and not offer.sphere:
        order = truth.permutation(problem.n_arms)
        values = offer.values if len(offer.values) == 1 else offer.values[order]
        offer = ItemSet(np.asfortranarray(offer.attributes[order]), values, False)
    run = item_driver(policy, offer.sphere)
    belief, memory = policy.belief.init(offer), policy.init(offer)
    facts: tuple[np.ndarray, ...] = (problem.preference,)
    if not offer.sphere:
        facts = (problem.utility[order], problem.worth[order])
    sums, done, pace, arrays = np.zeros(2), 0, Pace(), recording.arrays
    for place, time in enumerate(recording.times.tolist()):
        while done < time:
            last = min(time, done + pace.duels)
            pace.start()
            run(belief, memory, *facts, sums, done + 1, last, draws, coins)
            pace.stop(last - done)
            done = last
            yield done
        arrays["worth"][place], arrays["paid"][place] = sums
        best = policy.recommend(belief, memory)
        if offer.sphere:
            arrays["recommended"][place] = -1
            arrays["recommended_worth"][place] = sigmoid(float(best @ problem.preference))
        else:
            arrays["recommended"][place] = order[best]
            arrays["recommended_worth"][place] = problem.worth[order[best]]
    if "pulls" in arrays:
        arrays["pulls"][order] = belief.pulls
    if hasattr(policy, "bound"):
        arrays["bound"][:] = policy.bound(recording.times, offer)


def item_driver(policy: Any, sphere: bool) -> Callable[..., None]:
    """Return the compiled loop around this policy's rule."""
    return _driver(policy.select, policy.shows, sphere)


@cache
def _driver(select: Any, shows: int, sphere: bool) -> Callable[..., None]:
    module = select.__module__.rpartition(".")[2]
    pattern = _run_sphere if sphere else (_run_pulls, _run_duels)[shows - 1]
    rule = {"select_two" if shows == 2 else "select": select}
    return with_globals(pattern, f"{pattern.__name__}_{module}", **rule)


def _run_pulls(belief, memory, utility, worth, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show one item at a time in steps `first` to `last`: by TwoPhase, or by a driver's rule."""
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        success = 1.0 if coins.random() < sigmoid(utility[arm]) else 0.0
        record_pull(belief, arm, success)
        sums[0] += worth[arm]
        value = belief.values[arm] if len(belief.values) > 1 else belief.values[0]
        sums[1] += success * value


def _run_duels(belief, memory, utility, worth, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show two at a time: by LogisticDuelThompson, or by the rule of a driver's copy."""
    for t in range(first, last + 1):
        i, j = select_two(belief, memory, t, rng)
        won = 1.0 if coins.random() < sigmoid(utility[i] - utility[j]) else 0.0
        record_duel(belief, i, j, won)
        sums[0] += (worth[i] + worth[j]) / 2
        sums[1] += won


def _run_sphere(belief, memory, preference, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show points of the sphere, one at a time: by TwoPhase, or by the rule of a driver's copy."""
    n = len(preference)
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        chance = sigmoid(memory.aim @ preference if arm == n else preference[arm])
        success = 1.0 if coins.random() < chance else 0.0
        if arm == n:
            record_aimed(belief, memory.aim, success)
        else:
            record_pull(belief, arm, success)
        sums[0] += chance
        sums[1] += success
