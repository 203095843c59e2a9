"""A study: ask a policy which pair to duel next, and tell it the outcome.

For duels that are not simulated: votes of people, games, experiments. The pair stays the same until
its outcome is told. A study lives in memory.
"""

from collections.abc import Sequence
from typing import Any

from bayesduel.beliefs import record
from bayesduel.data.duels import Duels
from bayesduel.policies.policy import PairPolicy
from bayesduel.simulation.interaction import recommend
from bayesduel.simulation.replication import streams

__all__ = ["Study"]


class Study:
    """One run of a policy with an ask-and-tell interface.

    ``ask`` returns a pair and ``tell`` enters its outcome. Asking again changes nothing. The same
    seed and outcomes give the same pairs as
    ``bayesduel.simulate(policy, ..., replications=1, permute=False)``.

    Parameters
    ----------
    policy
        A policy of pairs, such as ``DTS()``. If it needs the horizon, the horizon should be given.
    arms
        Labels, different from one another, at least two.
    seed
        Whole number >= 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the policy refuses the number of arms or needs a
        horizon.
    """

    def __init__(self, policy: Any, arms: Sequence[str], *, seed: int = 0) -> None:
        if isinstance(arms, str) or len({*map(str, arms)}) < max(len(arms), 2):
            raise ValueError(f"arms should be at least two different labels, got {arms!r}")
        if not (isinstance(seed, int) and seed >= 0):
            raise ValueError(f"seed should be a whole number >= 0, got {seed!r}")
        if not isinstance(policy, PairPolicy):
            raise TypeError(f"policy should be one of pairs, such as DTS(), got {policy!r}")
        policy.check_belief()
        self.policy: Any = policy
        self.arms = tuple(str(arm) for arm in arms)
        self._belief = policy.belief.init(len(self.arms))
        self._memory = policy.init(len(self.arms))
        self._draws, self._fits = streams(seed, 0)[2:]
        self._due = policy.belief.due(0)
        self._pending: tuple[int, int] | None = None
        self._told: list[tuple[int, int, float]] = []

    def ask(self) -> tuple[str, str]:
        """Return the pair to duel next, the same until its outcome is told.

        An arm paired with itself is the arm that the policy would choose now: such a duel has no
        regret and gives no information. Tell that arm as the winner to continue.
        """
        if self._pending is None:
            t = self.n_duels + 1
            i, j = self.policy.select(self._belief, self._memory, t, self._draws)
            self._pending = int(i), int(j)
        i, j = self._pending
        return self.arms[i], self.arms[j]

    def tell(self, winner: str | None) -> None:
        """Enter the outcome of the pair asked for.

        Parameters
        ----------
        winner
            The label of the arm that won; None for a tie, half a win each.

        Raises
        ------
        ValueError
            If no pair was asked for, or `winner` is not of it.
        """
        if self._pending is None:
            raise ValueError("tell should follow ask, got an outcome of no pair")
        i, j = self._pending
        if winner not in (self.arms[i], self.arms[j], None):
            raise ValueError(
                f"winner should be {self.arms[i]!r}, {self.arms[j]!r} or None, got {winner!r}"
            )
        outcome = 0.5 if winner is None else float(winner == self.arms[i])
        record(self._belief, (i, j), outcome)
        self._told.append((i, j, outcome))
        self._pending = None
        if self.n_duels == self._due:
            seed = int(self._fits.integers(2**31))
            self._belief = self.policy.belief.refreshed(self._belief, seed)
            self._due = self.policy.belief.due(self.n_duels)

    @property
    def n_duels(self) -> int:
        """Number of outcomes told."""
        return len(self._told)

    @property
    def recommended(self) -> str:
        """The arm that the policy would choose now."""
        return self.arms[recommend(self.policy, self._belief, self._memory)]

    @property
    def answered(self) -> bool:
        """Whether the policy has identified a winner."""
        answer = self.policy.answer(self._memory)
        return answer is not None and bool(answer.time[0] >= 0)

    @property
    def duels(self) -> Duels:
        """The outcomes told, as a log without the duels of an arm with itself.

        Raises
        ------
        ValueError
            If no outcome of two arms was told yet.
        """
        told = [(i, j, outcome) for i, j, outcome in self._told if i != j]
        left, right, outcome = zip(*told, strict=True) if told else ((), (), ())
        return Duels.from_votes(
            [self.arms[i] for i in left],
            [self.arms[j] for j in right],
            outcome,
            arms=self.arms,
        )
