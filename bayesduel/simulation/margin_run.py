"""Score duels of arms, of which the margin is observed, to select the k best."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.margins.moments import intransitivity
from bayesduel.margins.tallies import no_margins, record_margin
from bayesduel.policies.uniform import select  # a stand-in: `driver` puts in the policy's own
from bayesduel.problems.margins import draw_margin
from bayesduel.simulation.run import PAIR, RUN, Layout, Run, Truth, check_shown, driver

if TYPE_CHECKING:
    from bayesduel.problems.problem import Problem

__all__ = ["MarginRun", "play_live", "play_margins", "top_set"]


class MarginRun(Run):
    """A replication of duels of arms, of which the margin is observed, to select the k best."""

    def begin(self, plan: Mapping[str, Any]) -> None:
        policy = self.policy
        problem = self.problem
        luck = self.coins
        n_arms = problem.n_arms
        self.k = plan["k"]
        self.index = plan["index"]
        self.arms = np.arange(n_arms)
        if plan["permute"]:
            self.arms = luck.permutation(n_arms)
        self.key = luck.integers(0, 2**64, dtype=np.uint64)
        self.margins = no_margins(n_arms)
        self.memory = policy.init(n_arms)
        self.outcomes: Any
        self.loop: Callable[..., None]
        if problem.live:
            self.outcomes = problem
            self.loop = partial(play_live, policy.select)
        else:
            self.outcomes = problem.dice
            self.loop = driver(play_margins, policy.select)

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        by_time = (*RUN, "time")
        layout: Layout = {
            "selected": ((*by_time, "arm"), np.bool_),
            "spent": (by_time, np.int64),
            "pair_duels": ((*RUN, *PAIR), np.int32),
        }
        if plan["index"]:
            layout["predictive"] = (by_time, np.float64)
            layout["posterior"] = (by_time, np.float64)
        return layout

    @staticmethod
    def truth(problem: "Problem", drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        scores = np.stack([one.scores for one in drawn])
        k = plan["k"]
        best = np.stack([top_set(each, k) for each in scores])
        dims = ("replication", "arm")
        return {"score": (dims, scores), "best": (dims, best)}

    @staticmethod
    def least(policy: Any, n_arms: int) -> int:
        return int(policy.opening(n_arms))

    def prepare(self, time: int) -> None:
        """Start anew, if the policy takes a run of its own for every budget."""
        policy = self.policy.for_budget(time)
        if policy is not None:
            n_arms = len(self.arms)
            self.done = 0
            self.margins = no_margins(n_arms)
            self.memory = policy.init(n_arms)

    def play(self, last: int) -> None:
        given = (self.margins, self.memory, self.outcomes, self.arms, self.key)
        self.loop(*given, last, self.draws)
        self.done = int(self.margins.n_duels[0])

    def record(self, place: int) -> None:
        scores = self.policy.scores(self.margins, self.memory)
        selected = self.arrays["selected"]
        selected[place, self.arms] = top_set(scores, self.k)
        self.arrays["spent"][place] = self.done
        if self.index:
            itself = np.eye(len(self.arms), dtype=bool)
            met_twice = (itself | (self.margins.n >= 2)).all()
            for name in ("predictive", "posterior"):
                value = intransitivity(self.margins, name) if met_twice else np.nan
                self.arrays[name][place] = value

    def finish(self) -> None:
        pair_duels = self.arrays["pair_duels"]
        pair_duels[np.ix_(self.arms, self.arms)] = self.margins.n


def top_set(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the k largest as a mask, ties by the first index, shape (K,)."""
    chosen = np.zeros(len(scores), dtype=bool)
    best_first = np.argsort(-scores, kind="stable")
    chosen[best_first[:k]] = True
    return chosen


def play_margins(margins, memory, dice, arms, key, last, rng):  # type: ignore[no-untyped-def]
    """Play until `last` duels are recorded or the policy has finished."""
    while margins.n_duels[0] < last:
        t = margins.n_duels[0] + 1
        i, j = select(margins, memory, t, rng)
        if i < 0:
            break
        check_shown(i, j, len(arms))
        met = int(margins.n[i, j])
        margin = draw_margin(dice, arms[i], arms[j], met, key)
        record_margin(margins, i, j, margin)


def play_live(rule, margins, memory, problem, arms, key, last, rng):  # type: ignore[no-untyped-def]
    """Do as ``play_margins`` by `rule`, where duels are played outside compiled code."""
    while margins.n_duels[0] < last:
        t = int(margins.n_duels[0]) + 1
        i, j = rule(margins, memory, t, rng)
        if i < 0:
            break
        left = int(arms[i])
        right = int(arms[j])
        met = int(margins.n[i, j])
        margin = problem.play(left, right, met, key)
        record_margin(margins, i, j, margin)
