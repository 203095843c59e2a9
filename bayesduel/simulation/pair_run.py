"""Duels of arms, of which the winner is observed."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import numpy as np

from bayesduel.beliefs import record

# Stand-ins: `driver` puts the policy's own functions in their place.
from bayesduel.policies.policy import once as repeats
from bayesduel.policies.uniform import select
from bayesduel.simulation.run import (
    PAIR,
    RUN,
    Layout,
    Run,
    Truth,
    check_shown,
    count_type,
    driver,
)

__all__ = ["PairRun", "play_pairs", "recommend"]


class PairRun(Run):
    """A replication of duels of arms, of which the winner is observed."""

    def begin(self, plan: Mapping[str, Any]) -> None:
        policy = self.policy
        n_arms = self.problem.n_arms
        self.pairs = plan["pairs"]
        self.asked_first = 0 if plan.get("recommend") != "end" else len(self.times) - 1
        self.arms = self.truth_draws.permutation(n_arms) if plan["permute"] else np.arange(n_arms)
        P = self.problem.P[..., self.arms[:, None], self.arms]
        self.truths = np.ascontiguousarray(P.reshape(-1, n_arms, n_arms))  # of the segments
        self.ends = [*(start - 1 for start in self.problem.starts[1:]), inf]
        self.segment = 0
        self.loop = driver(play_pairs, policy.select, repeats=policy.repeats)
        self.belief = policy.belief.init(n_arms)
        self.memory = policy.init(n_arms)
        self.self_duels = np.zeros(n_arms, np.int64)
        self.batch = plan.get("batch", 1)
        self.later = None if self.batch == 1 else policy.belief.init(n_arms)
        self.options: dict[str, Any] = {} if self.later is None else {"later": self.later}
        if plan.get("duels"):
            self.options["notes"] = np.zeros((int(self.times[-1]), 3), np.int32)
        if self.problem.may_tie:
            ties = self.problem.ties[..., self.arms[:, None], self.arms]
            self.ties = np.ascontiguousarray(ties.reshape(-1, n_arms, n_arms))
        self.due = _due(policy.belief, 0)
        self.learns = self._learning()
        self.limit = min(self.learns, self.ends[0])

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        count = count_type(plan["horizon"])
        wins = np.float64 if plan.get("ties") else count
        before: Layout = {
            "duels_before": ((*RUN, "segment", "arm"), count),
            "self_duels_before": ((*RUN, "segment", "arm"), count),
            **({"wins_before": ((*RUN, "segment", *PAIR), wins)} if plan["pairs"] else {}),
        }
        return {
            "duels": ((*RUN, "time", "arm"), count),
            "self_duels": ((*RUN, "time", "arm"), count),
            "wins": ((*RUN, "time", *PAIR) if plan["pairs"] else (*RUN, *PAIR), wins),
            **(before if "segments" in plan else {}),
            "recommended": ((*RUN, "time"), np.int32),
            "answered": (RUN, np.int64),
            **({"sequence": ((*RUN, "duel", "part"), np.int32)} if plan.get("duels") else {}),
        }

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the preference matrix, one per replication if each draws its own, and any ties.

        Of several segments, all of them, and the first duel of each.
        """
        dims = ("replication",) if problem.is_family else ()
        ones = list(drawn) if problem.is_family else [problem]
        if any(one.may_tie != bool(plan.get("ties")) for one in ones):
            raise ValueError(
                "problem should draw only problems with ties or only problems without, got both"
            )
        found = {"P": np.stack([one.P for one in ones])}
        if plan.get("ties"):
            found["ties"] = np.stack([one.ties for one in ones])
        starts = np.stack([one.starts for one in ones])
        if not problem.is_family:
            found = {name: values[0] for name, values in found.items()}
            starts = starts[0]
        if problem.n_segments == 1:
            return {name: ((*dims, *PAIR), values) for name, values in found.items()}
        by = (*dims, "segment")
        of_segments = {name: ((*by, *PAIR), values) for name, values in found.items()}
        return {**of_segments, "start": (by, starts)}

    def play(self, last: int) -> None:
        state = (self.belief, self.memory, self.truths[self.segment], self.self_duels)
        if self.problem.may_tie:
            self.options["ties"] = self.ties[self.segment]
        self.loop(*state, self.done + 1, last, self.draws, self.coins, **self.options)
        self.done = last

    def refit(self) -> None:
        """Show the outcomes of a batch, refit the belief and begin a segment, as each is due."""
        if self.done >= self.learns:
            self._learn()
            self.learns = self._learning()
        if self.done == self.ends[self.segment]:
            self.segment += 1
            self._tally("_before", self.segment)
        self.limit = min(self.learns, self.ends[self.segment])

    def _learn(self) -> None:
        """Show the outcomes at the end of a batch, and refit the belief if that is due then."""
        if self.later is not None:
            self.belief.wins[:] = self.later.wins
            self.belief.last[:] = self.later.last
            self.belief.n_duels[:] = self.later.n_duels
        if self.done >= self.due:
            seed = int(self.fits.integers(2**31))
            self.belief = self.policy.belief.refreshed(self.belief, seed)
            self.due = _due(self.policy.belief, self.done)

    def _learning(self) -> float:
        """Return after how many duels the policy learns something next."""
        if self.batch == 1:
            return self.due
        return min(self.done + self.batch, int(self.times[-1]))

    def record(self, place: int) -> None:
        self._tally("", place)
        if place < self.asked_first:
            self.arrays["recommended"][place] = -1
            return
        best = recommend(self.policy, self.belief, self.memory)
        self.arrays["recommended"][place] = self.arms[best]

    def _tally(self, name: str, place: int) -> None:
        """Enter the tallies so far in the arrays whose names end so."""
        back = np.argsort(self.arms)
        wins = (self.later or self.belief).wins
        alone = self.self_duels[back]
        self.arrays["self_duels" + name][place] = alone
        self.arrays["duels" + name][place] = (wins.sum(0) + wins.sum(1))[back] + 2 * alone
        if self.pairs:
            self.arrays["wins" + name][place] = wins[np.ix_(back, back)]

    def finish(self) -> None:
        """Record when the policy identified a winner, -1 if it did not, and the duels."""
        if not self.pairs:
            back = np.argsort(self.arms)
            self.arrays["wins"][...] = (self.later or self.belief).wins[np.ix_(back, back)]
        answer = self.policy.answer(self.memory)
        self.arrays["answered"][...] = -1 if answer is None else answer.time[0]
        if "notes" in self.options:
            notes = self.options["notes"]
            self.arrays["sequence"][..., :2] = self.arms[notes[:, :2]]
            self.arrays["sequence"][..., 2] = notes[:, 2]


def recommend(policy: Any, belief: Any, memory: tuple[Any, ...]) -> int:
    """Return the arm that a policy of pairs would name now: its answer, if it has one."""
    answer = policy.answer(memory)
    if answer is not None and answer.arm[0] >= 0:
        return int(answer.arm[0])
    return int(policy.recommend(belief, memory))


def _due(belief: Any, n_duels: int) -> float:
    """Return after how many duels to refit a belief next, infinity for never."""
    due = belief.due(n_duels)
    return inf if due < 0 else due


def play_pairs(  # type: ignore[no-untyped-def]
    belief, memory, P, self_duels, first, last, rng, coins, notes=None, ties=None, later=None
):
    """Play duels `first` to `last`, as often as the rule repeats a pair without asking it again.

    In `notes`, if given, it enters the arms of each duel and whether the first won, -1 for a tie.
    `ties` are probabilities of a tie, 0 if not given. Outcomes are recorded in `later`, if given,
    where the rule does not see them, in place of the belief.
    """
    t = first
    while t <= last:
        i, j = select(belief, memory, t, rng)
        check_shown(i, j, len(P))
        n = min(repeats(belief, memory, t), last + 1 - t)
        for k in range(n):
            if ties is None:
                outcome = 1.0 if coins.random() < P[i, j] else 0.0
            else:
                coin = coins.random()
                half = ties[i, j] / 2
                outcome = 1.0 if coin < P[i, j] - half else 0.5 if coin < P[i, j] + half else 0.0
            record(belief if later is None else later, (i, j), outcome)
            if notes is not None:
                notes[t + k - 1] = i, j, -1 if outcome == 0.5 else int(outcome)
        if i == j:
            self_duels[i] += n
        t += n
