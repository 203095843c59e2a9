"""What the posterior-driven rules share: memory, goals, and which pairs may duel.

Each rule brings the posterior of the scores up to date, draws from it and names the pair from
which it expects most about the goal.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from bayesduel.beliefs import Belief, BeliefSpec
from bayesduel.beliefs.followed import Followed, updated
from bayesduel.beliefs.score_posterior import ScorePosterior, draw_scores, heaviest_mean
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy, checked_cost
from bayesduel.system.options import Decision, rule_of

__all__ = [
    "GOALS",
    "RANKING",
    "TOP_K",
    "WINNER",
    "Memory",
    "ScoreRule",
    "arms_by_mean",
    "best_pair",
    "contenders",
    "fresh_draws",
    "kth_largest",
    "members",
]

WINNER, TOP_K, RANKING = range(3)
OUT = -1e9  # score of an arm that is not in question
GOALS = {"winner": WINNER, "top_k": TOP_K, "ranking": RANKING}


class Memory(NamedTuple):
    """The posterior of the scores and the settings of a rule."""

    posterior: ScorePosterior
    goal: int  # WINNER, TOP_K or RANKING
    k: int
    rope: float  # difference in the probability to win, from one half, that a ranking neglects
    n_draws: int  # draws taken at every choice
    cost: np.ndarray  # cost of a duel of each pair, infinite where it is forbidden, shape (K, K)


@compiled
def fresh_draws(belief, memory, rng):
    """Bring the posterior up to the belief and return draws of the scores, (n_draws, K)."""
    updated(memory.posterior, belief)
    scores = draw_scores(memory.posterior, memory.n_draws, rng)
    for a in range(scores.shape[1]):
        if alone(memory.cost, a):
            scores[:, a] = OUT
    return scores


@compiled
def alone(cost, arm):
    """Return whether no pair of an arm is allowed, so that it is not in question."""
    return np.isinf(cost[arm]).all()


@compiled
def members(scores, k):
    """Return which arms are among the k best in each draw, shape (n_draws, K)."""
    n, n_arms = scores.shape
    inside = np.zeros((n, n_arms), np.bool_)
    for d in range(n):
        if k == 1:
            inside[d, scores[d].argmax()] = True
            continue
        least = kth_largest(scores[d], k)
        inside[d] = scores[d] >= least
        if inside[d].sum() > k:  # several at the border, as arms that are not in question are
            inside[d] = False
            for a in np.argsort(-scores[d])[:k]:
                inside[d, a] = True
    return inside


@compiled
def kth_largest(values, k):
    """Return the k-th largest of some values."""
    if k == 1:
        return values.max()
    return np.partition(values, len(values) - k)[len(values) - k]


@compiled
def arms_by_mean(memory):
    """Return the arms in question from the largest posterior mean to the smallest."""
    mean = heaviest_mean(memory.posterior)
    arms = np.array([a for a in range(len(mean)) if not alone(memory.cost, a)])
    return arms[np.argsort(-mean[arms])]


@compiled
def contenders(scores, memory):
    """Return the arms whose place is open: whether they are, shape (K,).

    In some draws but not all among the best; for a ranking, all arms.
    """
    n_arms = scores.shape[1]
    open_ = np.ones(n_arms, np.bool_)
    for a in range(n_arms):
        open_[a] = not alone(memory.cost, a)
    if memory.goal == RANKING:
        return open_
    inside = members(scores, memory.k)
    for a in range(n_arms):
        times = inside[:, a].sum()
        open_[a] = 0 < times < len(scores)
    if not open_.any():  # all draws agree: the arms next to the border
        order = arms_by_mean(memory)
        after = min(memory.k, len(order) - 1)
        open_[order[memory.k - 1]] = True
        open_[order[after]] = True
    return open_


@compiled
def best_pair(gain, memory, rng):
    """Return the allowed pair of largest gain by cost, ties (up to rounding) at random."""
    n_arms = len(gain)
    cost = memory.cost
    top = -1.0
    for i in range(n_arms):
        for j in range(i):
            if cost[i, j] < np.inf:
                worth = gain[i, j] / cost[i, j]
                top = max(top, worth)
    # Gains within 1e-9 of each other are equal: rounding decides nothing
    # So are gains that differ by less than 1e-13
    least = top - max(top * 1e-9, 1e-13)
    count = 0
    first = -1
    second = -1
    for i in range(n_arms):
        for j in range(i):
            if cost[i, j] < np.inf and gain[i, j] / cost[i, j] >= least:
                count += 1
                if rng.random() * count < 1.0:
                    first = i
                    second = j
    if first < 0:
        raise ValueError("cost should be finite for at least one pair")
    return first, second


@dataclass(frozen=True, kw_only=True)
class ScoreRule(PairPolicy):
    """Settings of a rule that reads the posterior of the scores.

    Parameters
    ----------
    belief
        ``Followed()`` (default) or ``Laplace(model)``.
    about
        "winner", "top_k" or "ranking".
    k
        Size of the set, for "top_k".
    rope
        Difference from one half that a ranking neglects.
    draws
        Posterior draws at every choice.
    cost
        Cost of a duel of each pair, positive, symmetric, shape (K, K), as nested tuples;
        infinite where a pair is forbidden. Default: 1 each.
    """

    belief: BeliefSpec = field(default_factory=Followed)
    about: Literal["winner", "top_k", "ranking"] = "winner"
    k: int = 1
    rope: float = Decision.rope
    draws: int = 500
    cost: tuple[tuple[float, ...], ...] | None = None
    goals: ClassVar[tuple[str, ...]] = ("winner", "top_k", "ranking")
    reads: ClassVar[Literal["scores"]] = "scores"
    guarantee: ClassVar[str] = "no guarantee is proved"
    ranges: ClassVar = {
        "k": "at least 1",
        "rope": rule_of(Decision, "rope"),
        "draws": "at least 20",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.about not in self.goals:
            raise ValueError(f"about should be one of {self.goals}, got {self.about!r}")
        if self.k > 1 and self.about != "top_k":
            raise ValueError(f"k should be 1 unless about='top_k', got {self.k}")

    def with_cost(self, cost: tuple[tuple[float, ...], ...] | None) -> Self:
        """Return the rule with this cost of each pair, where one is given."""
        return self if cost is None else replace(self, cost=cost)

    def init(self, n_arms: int) -> Memory:
        if not self.k < n_arms:
            raise ValueError(f"n_arms should be more than k = {self.k}, got {n_arms}")
        cost = checked_cost(self.cost, n_arms)
        goal = GOALS[self.about]
        posterior = self.belief.scores(n_arms)
        return Memory(posterior, goal, self.k, float(self.rope), self.draws, cost)

    def recommend(self, belief: Belief, memory: Any) -> int:
        """Return the arm of the largest posterior mean score."""
        updated(memory.posterior, belief)
        return int(heaviest_mean(memory.posterior).argmax())
