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
            attributes = np.asfortranarray(offer.attributes[order])
            one_for_all = len(offer.values) == 1
            values = offer.values if one_for_all else offer.values[order]
            offer = ItemSet(attributes, values, False)
        self.offer = offer
        self.order = order
        self.belief = policy.belief.init(offer)
        self.memory = policy.init(offer)
        self.batch = plan.get("batch", 1)
        self.later = None
        self.options: dict[str, Any] = {}
        if self.batch > 1:
            self.later = policy.belief.init(offer)
            self.options["later"] = self.later
            self.limit = self._batch_ends()
        self.sums = np.zeros(3)
        self.facts: tuple[np.ndarray, ...]
        rounds = problem.rounds(self.truth_draws)
        self.rounds = () if rounds is None else (rounds,)
        if offer.sphere:
            self.facts = (problem.preference,)
            self.loop = driver(play_sphere, policy.select)
        else:
            utility = problem.utility[order]
            worth = problem.worth[order]
            self.facts = (utility, worth)
            play = play_pulls if problem.shows == 1 else play_item_duels
            self.loop = driver(play, policy.select)
        bound = policy.bound(self.times, offer)
        bounds = np.nan if bound is None else bound
        self.arrays["bound"][:] = bounds

    @staticmethod
    def layout(plan: Mapping[str, Any]) -> Layout:
        by_time = (*RUN, "time")
        layout: Layout = {
            "worth": (by_time, np.float64),
            "paid": (by_time, np.float64),
        }
        if plan["shows"] == 2:
            layout["better_worth"] = (by_time, np.float64)
        layout["recommended"] = (by_time, np.int64)
        layout["recommended_worth"] = (by_time, np.float64)
        layout["bound"] = (by_time, np.float64)
        if plan["pairs"]:
            layout["pulls"] = ((*RUN, "item"), count_type(plan["horizon"]))
        return layout

    @staticmethod
    def truth(problem: "Problem", drawn: Iterable[Any], plan: Mapping[str, Any]) -> Truth:
        best = []
        typical = []
        preference = []
        for one in drawn:
            best.append(one.best)
            typical.append(one.typical)
            preference.append(one.preference)
        return {
            "best": (("replication",), np.array(best)),
            "typical": (("replication",), np.array(typical)),
            "preference": (("replication", "attribute"), np.array(preference)),
        }

    def play(self, last: int) -> None:
        state = (self.belief, self.memory, *self.facts, self.sums)
        rest = (self.draws, self.coins, *self.rounds)
        first = self.done + 1
        self.loop(*state, first, last, *rest, **self.options)
        self.done = last

    def refit(self) -> None:
        """Show the outcomes of a batch, at its end."""
        if self.later is not None and self.done >= self.limit:
            for shown, new in zip(self.belief, self.later, strict=True):
                if isinstance(shown, np.ndarray):
                    shown[...] = new
            self.limit = self._batch_ends()

    def _batch_ends(self) -> int:
        horizon = int(self.times[-1])
        return min(self.done + self.batch, horizon)

    def record(self, place: int) -> None:
        sums = zip(("worth", "paid", "better_worth"), self.sums, strict=True)
        for name, total in sums:
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
            latest = self.later or self.belief
            self.arrays["pulls"][self.order] = latest.pulls


def play_pulls(belief, memory, utility, worth, sums, first, last, rng, coins, later=None):  # type: ignore[no-untyped-def]
    """Show one item at a time in steps `first` to `last`; outcomes go to `later`, if given."""
    told = belief if later is None else later
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        check_shown(arm, arm, len(utility))
        chance = sigmoid(utility[arm])
        success = 1.0 if coins.random() < chance else 0.0
        record_pull(told, arm, success)
        sums[0] += worth[arm]
        one_for_all = len(belief.values) == 1
        value = belief.values[0] if one_for_all else belief.values[arm]
        sums[1] += success * value


def play_item_duels(  # type: ignore[no-untyped-def]
    belief, memory, utility, worth, sums, first, last, rng, coins, rounds=None, later=None
):
    """Show two items at a time in steps `first` to `last`, of new items each time if `rounds`."""
    told = belief if later is None else later
    link = 0
    if rounds is not None:
        link = rounds.link
    for t in range(first, last + 1):
        if rounds is not None:
            draw_contexts(rounds, belief.attributes, utility, worth)
        i, j = select(belief, memory, t, rng)
        check_shown(i, j, len(utility))
        difference = utility[i] - utility[j]
        chance = win_chance(link, difference)
        won = 1.0 if coins.random() < chance else 0.0
        record_duel(told, i, j, won)
        first_worth = worth[i]
        second_worth = worth[j]
        sums[0] += (first_worth + second_worth) / 2
        sums[1] += won
        sums[2] += max(first_worth, second_worth)


def play_sphere(belief, memory, preference, sums, first, last, rng, coins, later=None):  # type: ignore[no-untyped-def]
    """Show points of the sphere, one at a time, in steps `first` to `last`."""
    told = belief if later is None else later
    n = len(preference)
    for t in range(first, last + 1):
        arm = select(belief, memory, t, rng)
        check_shown(arm, arm, n + 1)  # the last one is the point aimed at
        utility = memory.aim @ preference if arm == n else preference[arm]
        chance = sigmoid(utility)
        success = 1.0 if coins.random() < chance else 0.0
        if arm == n:
            record_aimed(told, memory.aim, success)
        else:
            record_pull(told, arm, success)
        sums[0] += chance
        sums[1] += success
