"""Items with attributes, shown one or two at a time."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet, record_aimed, record_duel, record_pull
from bayesduel.beliefs.logistic_laplace import sigmoid
from bayesduel.policies.uniform import select  # a stand-in: `driver` puts in the policy's own
from bayesduel.problems.contexts import draw_contexts, win_chance
from bayesduel.simulation.run import RUN, Layout, Run, Truth, check_shown, count_type, driver

if TYPE_CHECKING:
    from bayesduel.problems.problem import Problem

__all__ = ["ItemRun", "play_item_duels", "play_pulls", "play_sphere"]


class ItemRun(Run):
    """A replication of items with attributes, of which one or two are shown.

    There may be a million items, so only sums are kept at the recorded times: of the true worth
    of what was shown, of what it paid and of the worth of the better of two. Where a problem has
    ``rounds`` the table of attributes that policies see is drawn anew before every step.
    """

    def begin(self, plan: Mapping[str, Any]) -> None:
        policy = self.policy
        problem = self.problem
        offer = problem.offer
        order = np.arange(problem.n_arms)
        if plan["permute"] and not offer.sphere:
            order = self.truth_draws.permutation(problem.n_arms)
            values = offer.values if len(offer.values) == 1 else offer.values[order]
            offer = ItemSet(np.asfortranarray(offer.attributes[order]), values, False)
        self.offer = offer
        self.order = order
        self.belief = policy.belief.init(offer)
        self.memory = policy.init(offer)
        self.batch = plan.get("batch", 1)
        self.later = None if self.batch == 1 else policy.belief.init(offer)
        self.options = {} if self.later is None else {"later": self.later}
        if self.later is not None:
            self.limit = self._batch_ends()
        self.sums = np.zeros(3)
        rounds = problem.rounds(self.truth_draws)
        self.rounds = () if rounds is None else (rounds,)
        if offer.sphere:
            self.facts: tuple[np.ndarray, ...] = (problem.preference,)
            self.loop = driver(play_sphere, policy.select)
        else:
            self.facts = (problem.utility[order], problem.worth[order])
            self.loop = driver((play_pulls, play_item_duels)[problem.shows - 1], policy.select)
        bound = policy.bound(self.times, offer)
        self.arrays["bound"][:] = np.nan if bound is None else bound

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        pulls = {"pulls": ((*RUN, "item"), count_type(plan["horizon"]))}
        return {
            "worth": ((*RUN, "time"), np.float64),
            "paid": ((*RUN, "time"), np.float64),
            **({"better_worth": ((*RUN, "time"), np.float64)} if plan["shows"] == 2 else {}),
            "recommended": ((*RUN, "time"), np.int64),
            "recommended_worth": ((*RUN, "time"), np.float64),
            "bound": ((*RUN, "time"), np.float64),
            **(pulls if plan["pairs"] else {}),
        }

    @staticmethod
    def truth(problem: "Problem", drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        facts = [(one.best, one.typical, one.preference) for one in drawn]
        best, typical, preference = (np.array(part) for part in zip(*facts, strict=True))
        return {
            "best": (("replication",), best),
            "typical": (("replication",), typical),
            "preference": (("replication", "attribute"), preference),
        }

    def play(self, last: int) -> None:
        state = (self.belief, self.memory, *self.facts, self.sums)
        rest = (self.draws, self.coins, *self.rounds)
        self.loop(*state, self.done + 1, last, *rest, **self.options)
        self.done = last

    def refit(self) -> None:
        """Show the outcomes of a batch, at its end."""
        if self.later is not None and self.done >= self.limit:
            for shown, new in zip(self.belief, self.later, strict=True):
                if isinstance(shown, np.ndarray):
                    shown[...] = new
            self.limit = self._batch_ends()

    def _batch_ends(self) -> int:
        return min(self.done + self.batch, int(self.times[-1]))

    def record(self, place: int) -> None:
        for name, total in zip(("worth", "paid", "better_worth"), self.sums, strict=True):
            if name in self.arrays:
                self.arrays[name][place] = total
        best = self.policy.recommend(self.belief, self.memory)
        if self.offer.sphere:
            index = -1
            worth = sigmoid(float(best @ self.problem.preference))
        else:
            index = self.order[best]
            worth = self.facts[1][best]
        self.arrays["recommended"][place] = index
        self.arrays["recommended_worth"][place] = worth

    def finish(self) -> None:
        if "pulls" in self.arrays:
            self.arrays["pulls"][self.order] = (self.later or self.belief).pulls


def play_pulls(belief, memory, utility, worth, sums, first, last, rng, coins, later=None):  # type: ignore[no-untyped-def]
    """Show one item at a time in steps `first` to `last`; outcomes go to `later`, if given."""
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        check_shown(arm, arm, len(utility))
        success = 1.0 if coins.random() < sigmoid(utility[arm]) else 0.0
        record_pull(belief if later is None else later, arm, success)
        sums[0] += worth[arm]
        value = belief.values[arm] if len(belief.values) > 1 else belief.values[0]
        sums[1] += success * value


def play_item_duels(  # type: ignore[no-untyped-def]
    belief, memory, utility, worth, sums, first, last, rng, coins, rounds=None, later=None
):
    """Show two items at a time in steps `first` to `last`, of new items each time if `rounds`."""
    link = 0
    if rounds is not None:
        link = rounds.link
    for t in range(first, last + 1):
        if rounds is not None:
            draw_contexts(rounds, belief.attributes, utility, worth)
        i, j = select(belief, memory, t, rng)
        check_shown(i, j, len(utility))
        won = 1.0 if coins.random() < win_chance(link, utility[i] - utility[j]) else 0.0
        record_duel(belief if later is None else later, i, j, won)
        sums[0] += (worth[i] + worth[j]) / 2
        sums[1] += won
        sums[2] += max(worth[i], worth[j])


def play_sphere(belief, memory, preference, sums, first, last, rng, coins, later=None):  # type: ignore[no-untyped-def]
    """Show points of the sphere, one at a time, in steps `first` to `last`."""
    n = len(preference)
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        check_shown(arm, arm, n + 1)  # the last one is the point aimed at
        chance = sigmoid(memory.aim @ preference if arm == n else preference[arm])
        success = 1.0 if coins.random() < chance else 0.0
        if arm == n:
            record_aimed(belief if later is None else later, memory.aim, success)
        else:
            record_pull(belief if later is None else later, arm, success)
        sums[0] += chance
        sums[1] += success
