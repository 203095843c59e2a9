"""What a step of a replication is, and what is recorded of it: pairs, margins, items.

Each run has a compiled loop of three lines: the policy names what to show, the problem gives the
outcome, the belief records it. Every policy's rule gets its own compiled copy of the loop, cached
on disk.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from math import inf
from typing import Any

import numpy as np

from bayesduel.beliefs import record
from bayesduel.beliefs.item_belief import ItemSet, record_aimed, record_duel, record_pull
from bayesduel.beliefs.logistic_laplace import sigmoid
from bayesduel.beliefs.margin_moments import intransitivity
from bayesduel.beliefs.margins import no_margins, record_margin
from bayesduel.jit import with_globals
from bayesduel.policies.uniform import select
from bayesduel.problems.margins import draw_margin

__all__ = [
    "RUNS",
    "Layout",
    "Run",
    "Truth",
    "driver",
    "play_item_duels",
    "play_margins",
    "play_pairs",
    "play_pulls",
    "play_sphere",
    "recommend",
    "top_set",
]

# Dimensions and type of each variable of a trace.
Layout = dict[str, tuple[tuple[str, ...], Any]]
# Dimensions and values of each variable of the problem.
Truth = Mapping[str, tuple[tuple[str, ...], np.ndarray]]
Streams = tuple[np.random.Generator, ...]

RUN = ("policy", "replication")
PAIR = ("arm", "opponent")


class Run(ABC):
    """One replication as it goes: the state between two stretches.

    ``prepare``, ``refit`` and ``finish`` do nothing unless a run needs them.

    Attributes
    ----------
    times
        When to record, increasing, shape (n_times,).
    arrays
        What was recorded: the variables of ``layout`` without their first two dimensions, in the
        problem's own labels.
    done
        Steps played.
    limit
        The step after which ``refit`` has something to do.
    """

    done: int = 0
    limit: float = inf

    def __init__(self, times: np.ndarray, n_arms: int, plan: Mapping[str, Any]) -> None:
        self.times = times
        sizes = {"time": len(times), **dict.fromkeys(("arm", "opponent", "item"), n_arms)}
        self.arrays = {
            name: np.zeros([sizes[d] for d in dims[len(RUN) :]], kind)
            for name, (dims, kind) in self.layout(plan).items()
        }

    @staticmethod
    @abstractmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the dimensions and type of each variable of a trace."""

    @staticmethod
    @abstractmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return what a trace keeps of the problem, `drawn` once for every replication."""

    @staticmethod
    def least(policy: Any, n_arms: int) -> int:
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


class PairRun(Run):
    """A replication of duels of arms, of which the winner is observed."""

    def __init__(
        self,
        policy: Any,
        problem: Any,
        times: np.ndarray,
        plan: Mapping[str, Any],
        streams: Streams,
    ) -> None:
        super().__init__(times, problem.n_arms, plan)
        truth, self.coins, self.draws, self.fits = streams
        n_arms = problem.n_arms
        self.pairs = plan["pairs"]
        self.arms = truth.permutation(n_arms) if plan["permute"] else np.arange(n_arms)
        self.P = np.ascontiguousarray(problem.P[np.ix_(self.arms, self.arms)])
        self.policy, self.loop = policy, driver(play_pairs, policy.select)
        self.belief, self.memory = policy.belief.init(n_arms), policy.init(n_arms)
        self.self_duels = np.zeros(n_arms, np.int64)
        self.limit = _due(policy.belief, 0)

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the tallies of arms and, if `pairs`, of pairs at the recorded times."""
        count = _count(plan["horizon"])
        return {
            "duels": ((*RUN, "time", "arm"), count),
            "self_duels": ((*RUN, "time", "arm"), count),
            "wins": ((*RUN, "time", *PAIR) if plan["pairs"] else (*RUN, *PAIR), count),
            "recommended": ((*RUN, "time"), np.int32),
            "answered": (RUN, np.int64),
        }

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the preference matrix, one a replication if each draws its own."""
        if not problem.is_family:
            return {"P": (PAIR, np.array(problem.P))}
        return {"P": (("replication", *PAIR), np.stack([one.P for one in drawn]))}

    def play(self, last: int) -> None:
        """Play until duel `last`."""
        state = (self.belief, self.memory, self.P, self.self_duels)
        self.loop(*state, self.done + 1, last, self.draws, self.coins)
        self.done = last

    def refit(self) -> None:
        """Refit the belief, if that is due after ``done`` duels."""
        if self.done == self.limit:
            seed = int(self.fits.integers(2**31))
            self.belief = self.policy.belief.refreshed(self.belief, seed)
            self.limit = _due(self.policy.belief, self.done)

    def record(self, place: int) -> None:
        """Record the tallies and the arm that the policy recommends."""
        back = np.argsort(self.arms)
        wins, alone = self.belief.wins[np.ix_(back, back)], self.self_duels[back]
        self.arrays["self_duels"][place] = alone
        self.arrays["duels"][place] = wins.sum(0) + wins.sum(1) + 2 * alone
        self.arrays["wins"][place if self.pairs else ...] = wins
        best = recommend(self.policy, self.belief, self.memory)
        self.arrays["recommended"][place] = self.arms[best]

    def finish(self) -> None:
        """Record when the policy identified a winner, -1 if it did not."""
        answer = self.policy.answer(self.memory)
        self.arrays["answered"][...] = -1 if answer is None else answer.time[0]


class MarginRun(Run):
    """A replication of duels of arms, of which the margin is observed, to select the k best."""

    def __init__(
        self,
        policy: Any,
        problem: Any,
        times: np.ndarray,
        plan: Mapping[str, Any],
        streams: Streams,
    ) -> None:
        super().__init__(times, problem.n_arms, plan)
        _, luck, self.draws, _ = streams
        n_arms = problem.n_arms
        self.k, self.index = plan["k"], plan["index"]
        self.arms = luck.permutation(n_arms) if plan["permute"] else np.arange(n_arms)
        self.key = luck.integers(0, 2**64, dtype=np.uint64)
        self.policy = policy
        self.margins, self.memory = no_margins(n_arms), policy.init(n_arms)
        self.outcomes = problem if problem.live else problem.dice
        self.loop: Callable[..., None] = (
            partial(play_live, policy.select)
            if problem.live
            else driver(play_margins, policy.select)
        )

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the sets selected at the recorded times, and how often each pair met."""
        indices = ("predictive", "posterior") if plan["index"] else ()
        return {
            "selected": ((*RUN, "time", "arm"), np.bool_),
            "spent": ((*RUN, "time"), np.int64),
            "duels": ((*RUN, *PAIR), np.int32),
            **{name: ((*RUN, "time"), np.float64) for name in indices},
        }

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the true scores and the true set of each replication."""
        scores = np.stack([one.scores for one in drawn])
        best = np.stack([top_set(each, plan["k"]) for each in scores])
        return {"score": (("replication", "arm"), scores), "best": (("replication", "arm"), best)}

    @staticmethod
    def least(policy: Any, n_arms: int) -> int:
        """Return the fewest duels from which the policy can select."""
        return int(policy.opening(n_arms))

    def prepare(self, time: int) -> None:
        """Start anew, if the policy takes a run of its own for every budget."""
        policy = self.policy.for_budget(time)
        if policy is not None:
            n_arms = len(self.arms)
            self.done, self.margins, self.memory = 0, no_margins(n_arms), policy.init(n_arms)

    def play(self, last: int) -> None:
        """Play until duel `last`, or until the policy has finished."""
        given = (self.margins, self.memory, self.outcomes, self.arms, self.key)
        self.loop(*given, last, self.draws)
        self.done = int(self.margins.n_duels[0])

    def record(self, place: int) -> None:
        """Record the set that the policy would select."""
        scores = self.policy.scores(self.margins, self.memory)
        self.arrays["selected"][place, self.arms] = top_set(scores, self.k)
        self.arrays["spent"][place] = self.done
        if self.index:
            met_twice = (self.margins.n + 2 * np.eye(len(self.arms)) >= 2).all()
            for name in ("predictive", "posterior"):
                value = intransitivity(self.margins, name) if met_twice else np.nan
                self.arrays[name][place] = value

    def finish(self) -> None:
        """Record how often each pair met."""
        self.arrays["duels"][np.ix_(self.arms, self.arms)] = self.margins.n


class ItemRun(Run):
    """A replication of items with attributes, of which one or two are shown.

    There may be a million items, so only sums are kept at the recorded times: of the true worth
    of what was shown, and of what it paid.
    """

    def __init__(
        self,
        policy: Any,
        problem: Any,
        times: np.ndarray,
        plan: Mapping[str, Any],
        streams: Streams,
    ) -> None:
        super().__init__(times, problem.n_arms, plan)
        truth, self.coins, self.draws, _ = streams
        offer, order = problem.offer, np.arange(problem.n_arms)
        if plan["permute"] and not offer.sphere:
            order = truth.permutation(problem.n_arms)
            values = offer.values if len(offer.values) == 1 else offer.values[order]
            offer = ItemSet(np.asfortranarray(offer.attributes[order]), values, False)
        self.policy, self.problem, self.offer, self.order = policy, problem, offer, order
        self.belief, self.memory = policy.belief.init(offer), policy.init(offer)
        self.sums = np.zeros(2)
        if offer.sphere:
            self.facts: tuple[np.ndarray, ...] = (problem.preference,)
            self.loop = driver(play_sphere, policy.select)
        else:
            self.facts = (problem.utility[order], problem.worth[order])
            self.loop = driver((play_pulls, play_item_duels)[problem.shows - 1], policy.select)
        bound = policy.bound(times, offer)
        self.arrays["bound"][:] = np.nan if bound is None else bound

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        """Return the sums at the recorded times and, if `pairs`, the pulls of every item."""
        pulls = {"pulls": ((*RUN, "item"), _count(plan["horizon"]))}
        return {
            "worth": ((*RUN, "time"), np.float64),
            "paid": ((*RUN, "time"), np.float64),
            "recommended": ((*RUN, "time"), np.int64),
            "recommended_worth": ((*RUN, "time"), np.float64),
            "bound": ((*RUN, "time"), np.float64),
            **(pulls if plan["pairs"] else {}),
        }

    @staticmethod
    def truth(problem: Any, drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        """Return the worth of the best item and of a random one, and the preference vector."""
        facts = [(one.best, one.typical, one.preference) for one in drawn]
        best, typical, preference = (np.array(part) for part in zip(*facts, strict=True))
        return {
            "best": (("replication",), best),
            "typical": (("replication",), typical),
            "preference": (("replication", "attribute"), preference),
        }

    def play(self, last: int) -> None:
        """Play until step `last`."""
        state = (self.belief, self.memory, *self.facts, self.sums)
        self.loop(*state, self.done + 1, last, self.draws, self.coins)
        self.done = last

    def record(self, place: int) -> None:
        """Record the sums and the item that the policy recommends; -1 on a sphere."""
        self.arrays["worth"][place], self.arrays["paid"][place] = self.sums
        best = self.policy.recommend(self.belief, self.memory)
        if self.offer.sphere:
            index, worth = -1, sigmoid(float(best @ self.problem.preference))
        else:
            index = self.order[best]
            worth = self.problem.worth[index]
        self.arrays["recommended"][place] = index
        self.arrays["recommended_worth"][place] = worth

    def finish(self) -> None:
        """Record the pulls of every item, if they are kept."""
        if "pulls" in self.arrays:
            self.arrays["pulls"][self.order] = self.belief.pulls


RUNS: dict[str, Any] = {"pairs": PairRun, "margins": MarginRun, "items": ItemRun}


def recommend(policy: Any, belief: Any, memory: Any) -> int:
    """Return the arm that a policy of pairs would name now: its answer, if it has one."""
    answer = policy.answer(memory)
    if answer is not None and answer.arm[0] >= 0:
        return int(answer.arm[0])
    return int(policy.recommend(belief, memory))


def top_set(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the k largest as a mask, ties by the first index, shape (K,)."""
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:k]] = True
    return chosen


def _count(horizon: int) -> Any:
    """Return the type of a count that cannot exceed twice the horizon."""
    return np.int32 if horizon < 2**30 else np.int64


def _due(belief: Any, n_duels: int) -> float:
    """Return after how many duels to refit a belief next, infinity for never."""
    due = belief.due(n_duels)
    return inf if due < 0 else due


@cache
def driver(loop: Callable[..., None], select: Any) -> Callable[..., None]:
    """Return the compiled copy of a loop below that plays by a policy's rule `select`."""
    module = select.__module__.rpartition(".")[2]
    return with_globals(loop, f"{loop.__name__}_{module}_{select.__name__}", select=select)


def play_pairs(belief, memory, P, self_duels, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Play duels `first` to `last`."""
    for t in range(first, last + 1):
        i, j = select(belief, memory, t, rng)
        outcome = 1.0 if coins.random() < P[i, j] else 0.0
        record(belief, (i, j), outcome)
        if i == j:
            self_duels[i] += 1


def play_margins(margins, memory, dice, arms, key, last, rng):  # type: ignore[no-untyped-def]
    """Play until `last` duels are recorded or the policy has finished."""
    while margins.n_duels[0] < last:
        i, j = select(margins, memory, margins.n_duels[0] + 1, rng)
        if i < 0:
            break
        margin = draw_margin(dice, arms[i], arms[j], int(margins.n[i, j]), key)
        record_margin(margins, i, j, margin)


def play_live(rule, margins, memory, problem, arms, key, last, rng):  # type: ignore[no-untyped-def]
    """Do as ``play_margins`` by `rule`, where duels are played outside compiled code."""
    while margins.n_duels[0] < last:
        i, j = rule(margins, memory, int(margins.n_duels[0]) + 1, rng)
        if i < 0:
            break
        margin = problem.play(int(arms[i]), int(arms[j]), int(margins.n[i, j]), key)
        record_margin(margins, i, j, margin)


def play_pulls(belief, memory, utility, worth, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show one item at a time in steps `first` to `last`."""
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        success = 1.0 if coins.random() < sigmoid(utility[arm]) else 0.0
        record_pull(belief, arm, success)
        sums[0] += worth[arm]
        value = belief.values[arm] if len(belief.values) > 1 else belief.values[0]
        sums[1] += success * value


def play_item_duels(belief, memory, utility, worth, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show two items at a time in steps `first` to `last`."""
    for t in range(first, last + 1):
        i, j = select(belief, memory, t, rng)
        won = 1.0 if coins.random() < sigmoid(utility[i] - utility[j]) else 0.0
        record_duel(belief, i, j, won)
        sums[0] += (worth[i] + worth[j]) / 2
        sums[1] += won


def play_sphere(belief, memory, preference, sums, first, last, rng, coins):  # type: ignore[no-untyped-def]
    """Show points of the sphere, one at a time, in steps `first` to `last`."""
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
