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
        at_the_end = plan.get("recommend") == "end"
        self.asked_first = len(self.times) - 1 if at_the_end else 0
        self.arms = np.arange(n_arms)
        if plan["permute"]:
            self.arms = self.truth_draws.permutation(n_arms)
        self.truths = self._of_segments(self.problem.P)
        later_starts = self.problem.starts[1:]
        self.ends: list[float] = [start - 1 for start in later_starts]
        self.ends.append(inf)
        self.segment = 0
        self.loop = driver(play_pairs, policy.select, repeats=policy.repeats)
        self.belief = policy.belief.init(n_arms)
        self.memory = policy.init(n_arms)
        self.self_duels = np.zeros(n_arms, np.int64)
        self.batch = plan.get("batch", 1)
        self.later = None
        self.options: dict[str, Any] = {}
        if self.batch > 1:
            self.later = policy.belief.init(n_arms)
            self.options["later"] = self.later
        if plan.get("duels"):
            horizon = int(self.times[-1])
            self.options["notes"] = np.zeros((horizon, 3), np.int32)
        if self.problem.may_tie:
            self.ties = self._of_segments(self.problem.ties)
        self.due = _due(policy.belief, 0)
        self.learns = self._learning()
        self.limit = min(self.learns, self.ends[0])

    def _of_segments(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix in the order of the arms, by segment, shape (segments, K, K)."""
        n_arms = len(self.arms)
        in_order = matrix[..., self.arms[:, None], self.arms]
        return np.ascontiguousarray(in_order.reshape(-1, n_arms, n_arms))

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        count = count_type(plan["horizon"])
        wins = np.float64 if plan.get("ties") else count
        by_time = (*RUN, "time")
        by_segment = (*RUN, "segment")
        layout: Layout = {
            "duels": ((*by_time, "arm"), count),
            "self_duels": ((*by_time, "arm"), count),
        }
        wins_by = by_time if plan["pairs"] else RUN
        layout["wins"] = ((*wins_by, *PAIR), wins)
        if "segments" in plan:
            layout["duels_before"] = ((*by_segment, "arm"), count)
            layout["self_duels_before"] = ((*by_segment, "arm"), count)
            if plan["pairs"]:
                layout["wins_before"] = ((*by_segment, *PAIR), wins)
        layout["recommended"] = (by_time, np.int32)
        layout["answered"] = (RUN, np.int64)
        if plan.get("duels"):
            layout["sequence"] = ((*RUN, "duel", "part"), np.int32)
        return layout

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the preference matrix, one per replication if each draws its own, and any ties.

        Of several segments, all of them, and the first duel of each.
        """
        dims = ("replication",) if problem.is_family else ()
        ones = list(drawn) if problem.is_family else [problem]
        ties = bool(plan.get("ties"))
        if any(one.may_tie != ties for one in ones):
            raise ValueError(
                "problem should draw only problems with ties or only problems without, got both"
            )
        found = {"P": np.stack([one.P for one in ones])}
        if ties:
            found["ties"] = np.stack([one.ties for one in ones])
        starts = np.stack([one.starts for one in ones])
        if not problem.is_family:
            found = {name: values[0] for name, values in found.items()}
            starts = starts[0]
        changes = problem.n_segments > 1
        by = (*dims, "segment") if changes else dims
        truth: dict[str, Any] = {}
        for name, values in found.items():
            truth[name] = ((*by, *PAIR), values)
        if changes:
            truth["start"] = (by, starts)
        return truth

    def play(self, last: int) -> None:
        truth = self.truths[self.segment]
        state = (self.belief, self.memory, truth, self.self_duels)
        if self.problem.may_tie:
            self.options["ties"] = self.ties[self.segment]
        generators = (self.draws, self.coins)
        first = self.done + 1
        self.loop(*state, first, last, *generators, **self.options)
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
        horizon = int(self.times[-1])
        return min(self.done + self.batch, horizon)

    def record(self, place: int) -> None:
        self._tally("", place)
        if place < self.asked_first:
            self.arrays["recommended"][place] = -1
            return
        best = recommend(self.policy, self.belief, self.memory)
        recommended = self.arrays["recommended"]
        recommended[place] = self.arms[best]

    def _tally(self, name: str, place: int) -> None:
        """Enter the tallies so far in the arrays whose names end so."""
        back = np.argsort(self.arms)
        back_pairs = np.ix_(back, back)
        wins = self._wins()
        alone = self.self_duels[back]
        with_others = wins.sum(0) + wins.sum(1)
        self.arrays["self_duels" + name][place] = alone
        self.arrays["duels" + name][place] = with_others[back] + 2 * alone
        if self.pairs:
            self.arrays["wins" + name][place] = wins[back_pairs]

    def _wins(self) -> np.ndarray:
        """Return all wins so far, also those that the policy has not been shown."""
        latest = self.later or self.belief
        return np.asarray(latest.wins)

    def finish(self) -> None:
        """Record when the policy identified a winner, -1 if it did not, and the duels."""
        if not self.pairs:
            back = np.argsort(self.arms)
            self.arrays["wins"][...] = self._wins()[np.ix_(back, back)]
        answer = self.policy.answer(self.memory)
        answered = -1 if answer is None else answer.time[0]
        self.arrays["answered"][...] = answered
        if "notes" in self.options:
            notes = self.options["notes"]
            shown = notes[:, :2]
            outcomes = notes[:, 2]
            sequence = self.arrays["sequence"]
            sequence[..., :2] = self.arms[shown]
            sequence[..., 2] = outcomes


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
    told = belief if later is None else later
    t = first
    while t <= last:
        i, j = select(belief, memory, t, rng)
        check_shown(i, j, len(P))
        left = last + 1 - t
        n = min(repeats(belief, memory, t), left)
        for k in range(n):
            if ties is None:
                outcome = 1.0 if coins.random() < P[i, j] else 0.0
            else:
                coin = coins.random()
                half = ties[i, j] / 2
                outcome = 0.0
                if coin < P[i, j] - half:
                    outcome = 1.0
                elif coin < P[i, j] + half:
                    outcome = 0.5
            record(told, (i, j), outcome)
            if notes is not None:
                won = -1 if outcome == 0.5 else int(outcome)
                notes[t + k - 1] = i, j, won
        if i == j:
            self_duels[i] += n
        t += n
