"""The goal of a study: the best arm, the k best, the ranking, or little regret."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from bayesduel.policies.contrast_allocation import ContrastAllocation
from bayesduel.policies.dts import DTS
from bayesduel.system.arguments import shown_value, whole
from bayesduel.text import win_points

__all__ = ["FindBest", "FullRanking", "Goal", "MinimizeRegret", "TopK", "goal_of"]


About = Literal["winner", "top_k", "ranking"]


class Goal(ABC):
    """The goal of a study.

    Attributes
    ----------
    name
        Its name in a stored study.
    about
        What posterior-driven rules are asked about: "winner", "top_k" or "ranking".
    """

    name: ClassVar[str]
    about: ClassVar[About]

    def chosen(self, n_arms: int) -> int:
        """Return how many arms the answer holds."""
        return 1

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless the goal can be reached with `n_arms` arms."""
        if not self.chosen(n_arms) <= n_arms:
            raise ValueError(f"k should be below the number of arms, {n_arms}, got {self!r}")

    def settings(self) -> dict[str, Any]:
        """Return what makes the goal again."""
        return asdict(self)  # type: ignore[call-overload]

    def contrasts(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs that the answer orders: the arms above and those below, indices.

        Parameters
        ----------
        order
            The arms from the best to the worst.
        """
        k = self.chosen(len(order))
        above, below = np.meshgrid(order[:k], order[k:], indexing="ij")
        return above.ravel(), below.ravel()

    def reversal(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return the largest score of an arm below minus that of one above it, shape (n,)."""
        k = self.chosen(len(order))
        best_below = scores[:, order[k:]].max(axis=1)
        worst_above = scores[:, order[:k]].min(axis=1)
        return best_below - worst_above

    def borders(self, n_arms: int) -> range:
        """Return after which places, from 0, the answer separates an arm from the next."""
        k = self.chosen(n_arms)
        return range(k - 1, k)

    def correct(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return whether the answer is right in each draw, shape (n,)."""
        k = self.chosen(len(order))
        worst: np.ndarray = scores[:, order[:k]].min(axis=1)
        return worst > scores[:, order[k:]].max(axis=1)

    @abstractmethod
    def sentence(self, arms: list[str]) -> str:
        """Return the answer in words, given the arms from the best to the worst."""

    def roughly(self, arms: list[str], rope: float, noun: str = "arm") -> str:
        """Return the answer up to differences of win probabilities below the rope, in words.

        noun: what an arm is called.
        """
        return f"{self.sentence(arms)}, up to differences of {win_points(rope)}"

    def policy(self, **settings: Any) -> Any:
        """Return the policy that serves this goal by default."""
        return ContrastAllocation(about=self.about, k=self.chosen(2), **settings)


@dataclass(frozen=True)
class FindBest(Goal):
    """Find the best arm.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], goal=bd.study.FindBest()).goal
    FindBest()
    """

    name: ClassVar[str] = "find-best"
    about: ClassVar[About] = "winner"

    def sentence(self, arms: list[str]) -> str:
        return f"{arms[0]} is the best"

    def roughly(self, arms: list[str], rope: float, noun: str = "arm") -> str:
        return f"no {noun} beats {arms[0]} by more than {win_points(rope)}"


@dataclass(frozen=True)
class TopK(Goal):
    """Find the k best arms, in any order.

    Parameters
    ----------
    k
        How many.

    Raises
    ------
    TypeError, ValueError
        If `k` is not a whole number >= 1.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], goal=bd.study.TopK(2)).goal
    TopK(k=2)
    """

    k: int
    name: ClassVar[str] = "top-k"
    about: ClassVar[About] = "top_k"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k", 1))

    def chosen(self, n_arms: int) -> int:
        return self.k

    def check(self, n_arms: int) -> None:
        if not self.k < n_arms:
            raise ValueError(f"k should be below the number of arms, {n_arms}, got {self.k}")

    def sentence(self, arms: list[str]) -> str:
        return f"the {self.k} best are {', '.join(arms[: self.k])}"


@dataclass(frozen=True)
class FullRanking(Goal):
    """Rank all arms.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], goal=bd.study.FullRanking()).goal.name
    'full-ranking'
    """

    name: ClassVar[str] = "full-ranking"
    about: ClassVar[About] = "ranking"

    def chosen(self, n_arms: int) -> int:
        return n_arms

    def contrasts(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return every pair, the one above first."""
        above, below = np.triu_indices(len(order), 1)
        return order[above], order[below]

    def reversal(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        placed = scores[:, order]
        from_the_last = placed[:, :0:-1]
        best_from_the_last = np.maximum.accumulate(from_the_last, axis=1)
        best_below = best_from_the_last[:, ::-1]
        return (best_below - placed[:, :-1]).max(axis=1)

    def borders(self, n_arms: int) -> range:
        return range(n_arms - 1)

    def correct(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return whether each draw has this order, shape (n,)."""
        return (np.diff(scores[:, order], axis=1) < 0).all(axis=1)

    def sentence(self, arms: list[str]) -> str:
        return f"the ranking is {' > '.join(arms)}"

    def policy(self, **settings: Any) -> Any:
        return ContrastAllocation(about=self.about, **settings)


@dataclass(frozen=True)
class MinimizeRegret(Goal):
    """Duel good arms while the best is found, for as long as the study runs.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], goal=bd.study.MinimizeRegret()).policy
    DTS(belief=Beta(prior=1.0, bounds='hoeffding'), alpha=0.51)
    """

    name: ClassVar[str] = "minimize-regret"
    about: ClassVar[About] = "winner"

    def sentence(self, arms: list[str]) -> str:
        return f"{arms[0]} is the best so far"

    def policy(self, **settings: Any) -> Any:
        return DTS()


GOALS: dict[str, type[Goal]] = {g.name: g for g in (FindBest, TopK, FullRanking, MinimizeRegret)}


def goal_of(given: Any) -> Goal:
    """Return a goal, given itself, its class or its name ("top-3" for the three best).

    Raises TypeError or ValueError if it is not a goal.
    """
    if isinstance(given, type) and issubclass(given, Goal):
        given = given()
    if isinstance(given, Goal):
        return given
    if isinstance(given, str):
        if given in GOALS and given != "top-k":
            return GOALS[given]()
        kind, _, k = given.rpartition("-")
        if kind == "top" and k.isdigit():
            return TopK(int(k))
        raise ValueError(
            "goal should be 'find-best', 'top-K' with a number K, 'full-ranking' or "
            f"'minimize-regret', got {shown_value(given)}"
        )
    raise TypeError(f"goal should be a goal such as FindBest(), got {shown_value(given)}")
