"""Duels of arms, of which the winner is observed."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import numpy as np

from bayesduel.beliefs import record
from bayesduel.policies.policy import once as repeats
from bayesduel.policies.uniform import select
from bayesduel.simulation.run import PAIR, RUN, Layout, Run, Truth, count_type, driver

__all__ = ["PairRun", "play_pairs", "recommend"]


class PairRun(Run):
    """A replication of duels of arms, of which the winner is observed."""

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Make belief, memory and loop, before the first step."""
        policy, n_arms = self.policy, self.problem.n_arms
        self.pairs = plan["pairs"]
        self.arms = self.truth_draws.permutation(n_arms) if plan["permute"] else np.arange(n_arms)
        P = self.problem.P[..., self.arms[:, None], self.arms]
        self.truths = np.ascontiguousarray(P.reshape(-1, n_arms, n_arms))  # of the segments
        self.ends = [*(start - 1 for start in self.problem.starts[1:]), inf]
        self.segment = 0
        self.loop = driver(play_pairs, policy.select, repeats=policy.repeats)
        self.notes = np.zeros((int(self.times[-1]), 3), np.int32) if plan.get("duels") else None
        self.belief, self.memory = policy.belief.init(n_arms), policy.init(n_arms)
        self.self_duels = np.zeros(n_arms, np.int64)
        self.due = _due(policy.belief, 0)
        self.limit = min(self.due, self.ends[0])

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the tallies of arms and, if `pairs`, of pairs: at the times, before segments."""
        count = count_type(plan["horizon"])
        before: Layout = {
            "duels_before": ((*RUN, "segment", "arm"), count),
            "self_duels_before": ((*RUN, "segment", "arm"), count),
            **({"wins_before": ((*RUN, "segment", *PAIR), count)} if plan["pairs"] else {}),
        }
        return {
            "duels": ((*RUN, "time", "arm"), count),
            "self_duels": ((*RUN, "time", "arm"), count),
            "wins": ((*RUN, "time", *PAIR) if plan["pairs"] else (*RUN, *PAIR), count),
            **(before if "segments" in plan else {}),
            "recommended": ((*RUN, "time"), np.int32),
            "answered": (RUN, np.int64),
            **({"sequence": ((*RUN, "duel", "part"), np.int32)} if plan.get("duels") else {}),
        }

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the preference matrix, one a replication if each draws its own.

        Of several segments, all of them, and the first duel of each.
        """
        dims = (("replication",) if problem.is_family else ()) + ("segment",)
        ones = list(drawn) if problem.is_family else [problem]
        P, starts = np.stack([one.P for one in ones]), np.stack([one.starts for one in ones])
        if not problem.is_family:
            P, starts = P[0], starts[0]
        if problem.n_segments == 1:
            return {"P": ((*dims[:-1], *PAIR), P)}
        return {"P": ((*dims, *PAIR), P), "start": (dims, starts)}

    def play(self, last: int) -> None:
        """Play until duel `last`."""
        state = (self.belief, self.memory, self.truths[self.segment], self.self_duels)
        notes = () if self.notes is None else (self.notes,)
        self.loop(*state, self.done + 1, last, self.draws, self.coins, *notes)
        self.done = last

    def refit(self) -> None:
        """Refit the belief, and begin the next segment, if that is due after ``done`` duels."""
        if self.done == self.due:
            seed = int(self.fits.integers(2**31))
            self.belief = self.policy.belief.refreshed(self.belief, seed)
            self.due = _due(self.policy.belief, self.done)
        if self.done == self.ends[self.segment]:
            self.segment += 1
            self._tally("_before", self.segment)
        self.limit = min(self.due, self.ends[self.segment])

    def record(self, place: int) -> None:
        """Record the tallies and the arm that the policy recommends."""
        self._tally("", place)
        best = recommend(self.policy, self.belief, self.memory)
        self.arrays["recommended"][place] = self.arms[best]

    def _tally(self, name: str, place: int) -> None:
        """Enter the tallies so far in the arrays whose names end so."""
        back = np.argsort(self.arms)
        wins, alone = self.belief.wins[np.ix_(back, back)], self.self_duels[back]
        self.arrays["self_duels" + name][place] = alone
        self.arrays["duels" + name][place] = wins.sum(0) + wins.sum(1) + 2 * alone
        if self.pairs:
            self.arrays["wins" + name][place] = wins
        elif not name:
            self.arrays["wins"][...] = wins

    def finish(self) -> None:
        """Record when the policy identified a winner, -1 if it did not, and the duels."""
        answer = self.policy.answer(self.memory)
        self.arrays["answered"][...] = -1 if answer is None else answer.time[0]
        if self.notes is not None:
            self.arrays["sequence"][..., :2] = self.arms[self.notes[:, :2]]
            self.arrays["sequence"][..., 2] = self.notes[:, 2]


def recommend(policy: Any, belief: Any, memory: Any) -> int:
    """Return the arm that a policy of pairs would name now: its answer, if it has one."""
    answer = policy.answer(memory)
    if answer is not None and answer.arm[0] >= 0:
        return int(answer.arm[0])
    return int(policy.recommend(belief, memory))


def _due(belief: Any, n_duels: int) -> float:
    """Return after how many duels to refit a belief next, infinity for never."""
    due = belief.due(n_duels)
    return inf if due < 0 else due


def play_pairs(belief, memory, P, self_duels, first, last, rng, coins, notes=None):  # type: ignore[no-untyped-def]
    """Play duels `first` to `last`, as often as the rule repeats a pair without asking it again.

    In `notes`, if given, it enters the arms of each duel and whether the first won.
    """
    t = first
    while t <= last:
        i, j = select(belief, memory, t, rng)
        n = min(repeats(belief, memory, t), last + 1 - t)
        for k in range(n):
            outcome = 1.0 if coins.random() < P[i, j] else 0.0
            record(belief, (i, j), outcome)
            if notes is not None:
                notes[t + k - 1] = i, j, int(outcome)
        if i == j:
            self_duels[i] += n
        t += n
