"""Sensitivity Analysis of VAriables for Generic Exploration (SAVAGE).

Keep a confidence interval for every pair; duel the pair with fewest duels on which the decision
may still depend; stop when none is left, and exploit the decision by self-duels.

References
----------
Urvoy, Clerot, Féraud & Naamane, "Generic Exploration and K-armed Voting Bandits", ICML
2013, Algorithms 1 to 4, equations 10 to 12. Deviations: exploration also stops as soon as
one decision is possible; Algorithm 3 measures decisions by the difference of their scores;
with ``verify`` (default) the last arm not known to lose is duelled against the others before it
is accepted as the Condorcet winner, where the paper assumes that a Condorcet winner exists. The
set of the k best and the margin `epsilon` of Borda scores are our reading of the paper's
predicate for the best arm; the test for the top of Kemeny and Slater rankings is ours, at the end
of each round of duels.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick, shares
from bayesduel.beliefs.query import met
from bayesduel.jit import compiled
from bayesduel.policies.borda_rewards import Rewards, duel_random_opponent, mean_rewards, no_rewards
from bayesduel.policies.identification import Answer, best_by, best_by_shares, conclude, no_answer
from bayesduel.policies.policy import HorizonPolicy
from bayesduel.policies.savage_elimination import (
    BORDA,
    CONDORCET,
    COPELAND,
    KEMENY,
    SLATER,
    depends,
    learn,
)
from bayesduel.policies.savage_rankings import MOST_ARMS, orders_of, top_of_all
from bayesduel.preference import kemeny, slater

__all__ = ["SAVAGE"]

CRITERIA = {
    "copeland": COPELAND,
    "condorcet": CONDORCET,
    "borda": BORDA,
    "kemeny": KEMENY,
    "slater": SLATER,
}
RANKINGS = {"kemeny": kemeny, "slater": slater}


class Memory(NamedTuple):
    criterion: int
    k: int
    delta: float
    horizon: float
    epsilon: float
    verify: bool
    nested: bool
    restarts: int  # 0 for the formal predicate
    steps: int
    # Lower bounds, shape (K, K), upper ones being ``1 - lower.T``; for Borda, lower and upper
    # bounds on the arms' means in the first two columns.
    lower: np.ndarray
    # Unknowns on which the decision may depend: pairs, shape (K, K), symmetric; for Borda arms, in
    # the first column.
    active: np.ndarray
    orders: np.ndarray  # for Kemeny and Slater: all rankings, shape (K!, K)
    possible: np.ndarray  # and which of them may be the best, shape (K!,)
    rewards: Rewards  # for Borda: what each arm won against random opponents
    seen: np.ndarray  # the belief's `n_duels` at the last look, shape (1,)
    # Whether every arm was found to lose to some other, so that there is no Condorcet winner and
    # the Copeland winner is looked for instead, shape (1,).
    refuted: np.ndarray
    answer: Answer  # the decision


@compiled
def select(belief, memory, t, rng):
    """Return the active pair with fewest duels, or the answer against itself."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    learn(belief, memory, rng)
    arm = decision(memory, rng)
    if arm >= 0:
        return conclude(memory.answer, arm, t)
    if memory.criterion == BORDA:
        counts = np.where(memory.active[:, 0], memory.rewards.duels, inf)
        return duel_random_opponent(memory.rewards, belief, pick(counts == counts.min(), rng), rng)
    return least_known_pair(belief, memory, rng)


@compiled
def decision(memory, rng):
    """Return the winner if it is decided, else -1."""
    lower = memory.lower
    n_arms = len(lower)
    if memory.criterion == BORDA:
        below = lower[:, 0]
        above = lower[:, 1]
        if memory.active[:, 0].any() and not apart(below, above, memory.k, memory.epsilon):
            return -1
        return pick(below == below.max(), rng)
    if memory.criterion >= KEMENY:
        return top_of_all(memory)
    if memory.criterion == CONDORCET and not memory.refuted[0]:
        accepted = np.zeros(n_arms, np.bool_)
        beaten = np.zeros(n_arms, np.bool_)
        for i in range(n_arms):
            accepted[i] = lower[i].min() >= 0.5 - memory.epsilon
            beaten[i] = lower[:, i].max() > 0.5
        if accepted.any():
            return pick(accepted, rng)
        if beaten.sum() == n_arms - 1:
            if not memory.verify:
                return pick(~beaten, rng)
            ask_last_arm(memory, beaten)
        if not beaten.all():
            return -1
        memory.refuted[0] = True
        memory.active[:] = True
        np.fill_diagonal(memory.active, False)
        depends(memory)
    wins = lower > 0.5
    sure = wins.sum(axis=1)
    possible = n_arms - 1 - wins.sum(axis=0)
    most = sure.max()
    leaders = sure == most
    others = possible[~leaders]
    alone = leaders.sum() == 1 and (len(others) == 0 or others.max() < most)
    if alone or not memory.active.any():
        return pick(leaders, rng)
    scale = n_arms - 1.0
    if alike(sure / scale, possible / scale, memory.epsilon):
        return pick(leaders, rng)
    return -1


@compiled
def ask_last_arm(memory, beaten):
    """Let the one arm not known to lose meet the arms that it is not yet known to beat."""
    n_arms = len(beaten)
    memory.active[:] = False
    for i in range(n_arms):
        for j in range(n_arms):
            if not beaten[i] and i != j:
                unknown = memory.lower[i, j] < 0.5 - memory.epsilon
                memory.active[i, j] = unknown
                memory.active[j, i] = unknown


@compiled
def apart(below, above, k, epsilon):
    """Return whether no other arm can exceed one of the k largest lower bounds by epsilon."""
    order = np.argsort(-below)
    kth = order[k - 1]
    best_of_others = above[order[k:]].max()
    return best_of_others < below[kth] + epsilon


@compiled
def alike(below, above, epsilon):
    """Return whether the scores of all possible winners are within epsilon > 0 of each other."""
    if epsilon <= 0:
        return False
    possible = np.flatnonzero(above >= below.max())
    for i in possible:
        for j in possible:
            if i != j and above[i] - below[j] > epsilon:
                return False
    return True


@compiled
def least_known_pair(belief, memory, rng):
    """Return the active pair with fewest duels, ties at random."""
    n_arms = len(memory.lower)
    fewest = inf
    n_tied = 0
    chosen = (0, 0)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            if memory.active[i, j]:
                n = met(belief, i, j)
                if n < fewest:
                    fewest = n
                    n_tied = 0
                if n == fewest:
                    n_tied += 1
                    if n_tied == 1 or rng.random() * n_tied < 1:
                        chosen = (i, j)
    return chosen


@dataclass(frozen=True, kw_only=True)
class SAVAGE(HorizonPolicy):
    """SAVAGE: explore until the winner is decided, then exploit it by self-duels.

    Parameters
    ----------
    belief
        The belief that bounds P; the default, Hoeffding's inequality, is the paper's. Under
        "borda" it bounds the mean result of an arm against random opponents, which a model of
        pairs does not.
    criterion
        The winner to identify: "copeland", "condorcet" or "borda" (which duels random opponents);
        or, of at most 6 arms, the top of the "kemeny" or "slater" ranking.
    k
        How many arms to identify by their Borda scores; the best of them is exploited. 1 under
        the other criteria.
    horizon
        Total number of duels, for the union bound. Default: the simulation's. ``math.inf``: a bound
        for every horizon.
    epsilon
        Accept a winner by this much, in [0, 0.5): under "condorcet" an arm that loses to none by
        more; otherwise one whose score, in [0, 1], can fall short of no possible winner's by more.
        0 under "kemeny" and "slater".
    verify
        Under "condorcet": duel the last arm not known to lose against the others until it is
        known to beat them all, or to lose. If every arm is known to lose there is no Condorcet
        winner: ``Memory.refuted`` is set, and the Copeland winner is identified. False: accept
        the last arm, as in the paper, which assumes that a Condorcet winner exists.
    nested
        Intersect each interval with the earlier ones, as the paper stresses.
    independence
        "formal", or "sampled": the paper's test for decisions known only as a function
        (Algorithm 2), under "copeland" and "condorcet".
    restarts, steps
        Of the sampled test.

    Raises
    ------
    ValueError
        If a setting is out of its range, or `belief` cannot bound what `criterion` asks for.

    Examples
    --------
    >>> policy = bd.policies.SAVAGE(criterion="borda", k=2, delta=0.1)
    >>> trace = bd.simulate(policy, "mslr-5", horizon=500, seed=0)
    >>> bd.regret(trace, "borda").sizes["time"] > 0
    True
    """

    criterion: Literal["copeland", "condorcet", "borda", "kemeny", "slater"] = "copeland"
    k: int = 1
    horizon: float | None = None
    delta: float | None = None
    epsilon: float = 0.0
    verify: bool = True
    nested: bool = True
    independence: Literal["formal", "sampled"] = "formal"
    restarts: int = 10
    steps: int = 100
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Urvoy et al., ICML 2013, Algorithms 1 to 4"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta, under condorcet with verify=False only if a "
        "Condorcet winner exists; O(sum over pairs of ln(K T) / gap^2)"
    )
    ranges: ClassVar = {"epsilon": "in [0, 0.5)", "restarts": "at least 1", "steps": "at least 1"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.k == 1 if self.criterion != "borda" else self.k >= 1):
            raise ValueError(
                f"k should be 1, or under criterion 'borda' at least 1, got {self.k} "
                f"under {self.criterion!r}"
            )
        if self.criterion == "borda" and not self.belief.bounds_counts:
            raise ValueError(
                "belief of SAVAGE under criterion 'borda' should bound a mean from counts alone, "
                f"as Hoeffding() does, got {self.belief!r}"
            )
        if self.independence == "sampled" and self.criterion not in ("copeland", "condorcet"):
            raise ValueError(
                f"independence should be 'formal' under criterion {self.criterion!r}, got 'sampled'"
            )
        if self.criterion in RANKINGS and self.epsilon != 0:
            raise ValueError(
                f"epsilon should be 0 under criterion {self.criterion!r}, got {self.epsilon}"
            )

    def init(self, n_arms: int) -> Memory:
        if not self.k < n_arms:
            raise ValueError(f"n_arms should be more than k = {self.k}, got {n_arms}")
        ranked = self.criterion in RANKINGS
        if ranked and n_arms > MOST_ARMS:
            raise ValueError(
                f"n_arms should be at most {MOST_ARMS} under criterion {self.criterion!r}, "
                f"got {n_arms}"
            )
        orders = orders_of(n_arms) if ranked else np.zeros((0, n_arms), np.int64)
        horizon = self.known_horizon()
        lower = np.full((n_arms, n_arms), -inf)
        np.fill_diagonal(lower, 0.5)
        active = ~np.eye(n_arms, dtype=np.bool_)
        if self.criterion == "borda":
            lower[:, 0] = -inf
            lower[:, 1] = inf
            active[:, 0] = True
        return Memory(
            criterion=CRITERIA[self.criterion],
            k=int(self.k),
            delta=self.known_delta(),
            horizon=float(horizon),
            epsilon=float(self.epsilon),
            verify=self.verify,
            nested=self.nested,
            restarts=self.restarts if self.independence == "sampled" else 0,
            steps=self.steps,
            lower=lower,
            active=active,
            orders=orders,
            possible=np.ones(len(orders), np.bool_),
            rewards=no_rewards(n_arms),
            seen=np.zeros(1, np.int64),
            refuted=np.zeros(1, np.bool_),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the winner by the observed shares; under "borda" by the mean rewards."""
        if self.criterion in RANKINGS:
            return int(RANKINGS[self.criterion](shares(belief))[0])
        if self.criterion == "borda":
            return best_by(mean_rewards(memory.rewards), belief)
        return best_by_shares(belief)

    def selection(self, belief: Belief, memory: Memory) -> np.ndarray:
        """Return the k best arms now, bool, shape (K,): by lower bounds once decided."""
        if self.criterion != "borda":
            return np.isin(np.arange(len(memory.lower)), self.recommend(belief, memory))
        decided = memory.answer.arm[0] >= 0
        score = memory.lower[:, 0] if decided else mean_rewards(memory.rewards)
        return np.isin(np.arange(len(score)), np.argsort(-score, kind="stable")[: self.k])
