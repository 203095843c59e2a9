"""SELECT / TOP: knock-out tournaments of matches of nu duels each.

TOP splits the arms into k random groups, finds the winner of each group by a knock-out (SELECT),
keeps the winners sorted, and k times selects the best of them and refills from its group.

References
----------
Mohajer, Suh & Elmahdy, "Active learning for top-K rank aggregation from noisy comparisons",
ICML 2017. Deviations: a match of score duels goes by the sign of its summed margins; the
group winners are kept sorted by binary insertion rather than in a heap; results of pairs that
meet again are not reused, as printed.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.top_k.settings import PlacesSettings

__all__ = ["SelectTop", "most_matches"]


class Memory(NamedTuple):
    k: int
    length: int  # duels per match
    order: np.ndarray  # the arms in random order; place p belongs to group p modulo k. Shape (K,)
    winners: np.ndarray  # winners of the matches so far, in the order played
    coins: np.ndarray  # uniform numbers that settle the ties, one per match
    done: np.ndarray  # how many matches are over, and duels played in the present one; shape (2,)
    pair: np.ndarray  # the match being played, shape (2,)
    balance: np.ndarray  # sum of its margins, shape (1,)
    state: np.ndarray  # 2 taken, 1 waiting as a group's winner, 0 neither; shape (K,)


@compiled
def select(margins, memory, t, rng):
    """Return the pair of the current match; (-1, -1) once all k arms are selected."""
    if t == 1:
        memory.order[:] = rng.permutation(len(memory.order))
        memory.coins[:] = rng.random(len(memory.coins))
        play_on(memory)
    enter(margins, memory)
    return memory.pair[0], memory.pair[1]


@compiled
def scores(margins, memory):
    """Return 2 for selected arms, 1 for waiting group winners, 0 for others, shape (K,)."""
    enter(margins, memory)
    return memory.state.astype(np.float64)


@compiled
def enter(margins, memory):
    """Add the last duel to its match if it is new; continue with the next match."""
    done = memory.done
    pair = memory.pair
    if pair[0] < 0 or margins.n_duels[0] == done[0] * memory.length + done[1]:
        return
    memory.balance[0] += margins.last_margin[0]
    done[1] += 1
    if done[1] == memory.length:
        balance = memory.balance[0]
        first = balance > 0 or (balance == 0 and memory.coins[done[0]] < 0.5)
        memory.winners[done[0]] = pair[0] if first else pair[1]
        memory.balance[0] = 0.0
        done[0] += 1
        done[1] = 0
        play_on(memory)


@compiled
def play_on(memory):
    """Replay TOP with the finished matches up to the first unfinished one: the next pair."""
    n_arms = len(memory.order)
    k = memory.k
    state = memory.state
    state[:] = 0
    waiting = np.empty(k, np.int64)
    n_waiting = 0
    asked = np.zeros(1, np.int64)
    group = np.empty(n_arms, np.int64)
    for place in range(n_arms):
        group[memory.order[place]] = place % k
    fills = 0
    refill = 0
    while True:
        if fills < k:
            which = fills
            fills += 1
        else:
            if n_waiting == 0:
                break
            top = waiting[0]
            state[top] = 2
            waiting[: n_waiting - 1] = waiting[1:n_waiting].copy()
            n_waiting -= 1
            refill += 1
            if refill == k:
                break
            which = group[top]
        winner = knock_out(memory, group, which, asked)
        if winner == -2:
            continue
        if winner < 0:
            return
        low = 0
        high = n_waiting
        while low < high:
            middle = (low + high) // 2
            better = match(memory, winner, waiting[middle], asked)
            if better < 0:
                return
            if better == winner:
                high = middle
            else:
                low = middle + 1
        waiting[low + 1 : n_waiting + 1] = waiting[low:n_waiting].copy()
        waiting[low] = winner
        n_waiting += 1
        state[winner] = 1
    memory.pair[:] = -1


@compiled
def knock_out(memory, group, which, asked):
    """Return the winner among a group's arms not taken; -2 if none is left, -1 if not known."""
    members = np.empty(len(group), np.int64)
    size = 0
    for arm in memory.order:
        if group[arm] == which and memory.state[arm] == 0:
            members[size] = arm
            size += 1
    if size == 0:
        return -2
    while size > 1:
        half = 0
        for place in range(0, size - 1, 2):
            winner = match(memory, members[place], members[place + 1], asked)
            if winner < 0:
                return -1
            members[half] = winner
            half += 1
        if size % 2 == 1:
            members[half] = members[size - 1]
            half += 1
        size = half
    return members[0]


@compiled
def match(memory, i, j, asked):
    """Return the winner of the next match, or -1 after noting its pair if it is not played."""
    if asked[0] < memory.done[0]:
        asked[0] += 1
        return memory.winners[asked[0] - 1]
    memory.pair[0] = i
    memory.pair[1] = j
    return -1


def most_matches(n_arms: int, k: int) -> int:
    """Return the largest number of matches that TOP can need."""
    sizes = [len(range(group, n_arms, k)) for group in range(k)]
    refills = sorted((left for size in sizes for left in range(size - 1)), reverse=True)
    insertions = sum(waiting.bit_length() for waiting in range(1, k))
    again = (k - 1) * (k - 1).bit_length()
    return n_arms - k + insertions + sum(refills[: k - 1]) + again


@dataclass(frozen=True, kw_only=True)
class SelectTop(PlacesSettings):
    """SELECT / TOP: knock-outs with matches as long as the budget allows.

    It needs the whole budget: a curve takes one run for each of its budgets.

    Parameters
    ----------
    budget
        Duels in all; a match has ``budget // most_matches(n_arms, k)``. Default: the
        experiment's.
    """

    budget: int | None = None
    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(scores)
    reference: ClassVar[str] = "Mohajer, Suh & Elmahdy, ICML 2017"
    guarantee: ClassVar[str] = "no guarantee at a fixed budget"
    ranges: ClassVar = {"budget": "at least 1"}

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        k = self._places(n_arms)
        if self.budget is None:
            raise ValueError("budget should be given outside a simulation, got None")
        matches = most_matches(n_arms, k)
        if self.budget < matches:
            raise ValueError(f"budget should be at least {matches} for TOP, got {self.budget}")
        return Memory(
            k=k,
            length=int(self.budget // matches),
            order=np.arange(n_arms),
            winners=np.zeros(matches, np.int64),
            coins=np.zeros(matches),
            done=np.zeros(2, np.int64),
            pair=np.full(2, -1, np.int64),
            balance=np.zeros(1),
            state=np.zeros(n_arms, np.int64),
        )

    def on_margins(self, k: int, budget: int) -> Self:
        """Return the policy with this k and budget, where it has none."""
        return replace(super().on_margins(k, budget), budget=self.budget or budget)

    def for_budget(self, budget: int) -> Self:
        """Return the policy for this budget: every budget takes a run of its own."""
        return replace(self, budget=budget)

    def opening(self, n_arms: int) -> int:
        """Return the smallest budget with which it can play."""
        return most_matches(n_arms, int(self.k or 1))
