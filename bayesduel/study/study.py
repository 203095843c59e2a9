"""A policy asked by hand: which pair to duel next, and then who won.

For duels that are not simulated: votes of people, games, experiments. The pair asked for stays
the same until its outcome is told.
"""

from collections.abc import Sequence
from typing import Any

from bayesduel.beliefs import record
from bayesduel.data.duels import Duels
from bayesduel.policies.policy import PairPolicy
from bayesduel.simulation.replication import recommend, streams

__all__ = ["Asking"]


class Asking:
    """One run of a policy, duel by duel.

    ``ask`` names a pair and ``tell`` enters its outcome, the only way anything is learned: to
    ask again changes nothing. The same seed and outcomes give the same pairs, those of
    ``bayesduel.simulate(policy, ..., replications=1, permute=False)``.

    Parameters
    ----------
    policy
        A policy of pairs, such as ``DTS()``; one that needs to know the horizon has to name it.
    arms
        Labels, different from one another, at least two.
    seed
        Whole number >= 0.

    Raises
    ------
    ValueError, TypeError
        If `arms` or `seed` are not as described, or the policy is none of pairs, refuses the
        number of arms or needs a horizon.
    """

    def __init__(self, policy: Any, arms: Sequence[str], *, seed: int = 0) -> None:
        if isinstance(arms, str) or len({*map(str, arms)}) < max(len(arms), 2):
            raise ValueError(f"arms should be at least two different labels, got {arms!r}")
        if not (isinstance(seed, int) and seed >= 0):
            raise ValueError(f"seed should be a whole number >= 0, got {seed!r}")
        if not isinstance(policy, PairPolicy):
            raise TypeError(f"policy should be one of pairs, such as DTS(), got {policy!r}")
        self.policy = policy
        self.arms = tuple(str(arm) for arm in arms)
        self._belief = policy.belief.init(len(self.arms))
        self._memory = policy.init(len(self.arms))
        self._draws, self._fits = streams(seed, 0)[2:]
        self._due = policy.belief.due(0)
        self._pending: tuple[int, int] | None = None
        self._told: list[tuple[int, int, float]] = []

    def ask(self) -> tuple[str, str]:
        """Return the pair to duel next, the same until its outcome is told.

        An arm paired with itself is the policy's answer for now: such a duel costs nothing and
        teaches nothing. Tell that arm as its winner to go on.
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
        """How many outcomes were told."""
        return len(self._told)

    @property
    def recommended(self) -> str:
        """The arm that the policy would name now."""
        return self.arms[recommend(self.policy, self._belief, self._memory)]

    @property
    def answered(self) -> bool:
        """Whether a policy that identifies a winner is sure of it."""
        answer = getattr(self._memory, "answer", None)
        return answer is not None and bool(answer.time[0] >= 0)

    @property
    def duels(self) -> Duels:
        """What was told, as a log; an arm's duels with itself are left out.

        Raises
        ------
        ValueError
            If nothing was told yet.
        """
        told = [(i, j, outcome) for i, j, outcome in self._told if i != j]
        left, right, outcome = zip(*told, strict=True) if told else ((), (), ())
        return Duels.from_votes(
            [self.arms[i] for i in left],
            [self.arms[j] for j in right],
            outcome,
            arms=self.arms,
        )
