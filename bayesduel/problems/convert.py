"""Conversion to problems: from a name, a preference matrix or a log."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.problems.literature import NAMES, named
from bayesduel.problems.matrix import Matrix
from bayesduel.problems.problem import Problem
from bayesduel.problems.replay import BinaryDuels, MarginReplay, Replay
from bayesduel.system.arguments import did_you_mean, numbers, shown_value

__all__ = ["as_margin_problem", "as_problem", "several_problems"]


def as_problem(problem: Any) -> Any:
    """Return a problem from a problem, the name of one, a preference matrix or a log.

    Parameters
    ----------
    problem
        A problem, the name of one, a preference matrix or a log.

    Raises
    ------
    ValueError
        If there is no problem of that name, or the matrix is not a preference matrix.

    Examples
    --------
    >>> bd.problems.as_problem([[0.5, 0.8], [0.2, 0.5]]).n_arms
    2
    """
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, str):
        if problem not in NAMES:
            names = ", ".join(NAMES)
            hint = did_you_mean(problem, NAMES)
            raise ValueError(
                f"problem name should be one of {names}, got {shown_value(problem)}{hint}"
            )
        return named(problem)
    if isinstance(problem, Duels):
        return Replay(problem)
    P = numbers(problem, "problem (a problem, the name of one, a preference matrix or a log)")
    square = P.ndim == 2 and P.shape[0] == P.shape[1]
    if not square or len(P) < 2:
        raise ValueError(
            f"problem should be a matrix of preferences, shape (K, K), K >= 2, got shape {P.shape}"
        )
    return Matrix(P)


def several_problems(problem: Problem) -> dict[str, Any] | None:
    """Return problems by label, or None where one is given (a list of rows is a matrix)."""
    if isinstance(problem, Mapping):
        named_ones = [(str(name), one) for name, one in problem.items()]
    elif isinstance(problem, list | tuple) and any(
        isinstance(one, str | Problem | Duels) for one in problem
    ):
        named_ones = [
            (one if isinstance(one, str) else getattr(one, "name", f"problem {place}"), one)
            for place, one in enumerate(problem, 1)
        ]
    else:
        return None
    several = dict(named_ones)
    labels = [name for name, _ in named_ones]
    if len(several) < max(len(labels), 1):
        raise ValueError(f"problems should have different labels, got {labels}")
    for name in several:
        if name in ("", ".", "..") or "/" in name or "\\" in name:
            raise ValueError(
                f"label of a problem should have no slash, got {name!r}: give a dictionary with "
                "labels"
            )
    return several


def as_margin_problem(problem: Any) -> Any:
    """Return a problem of margins from one, a problem of pairs, a matrix, a name or a log.

    Wins and losses become margins of 1/2 and -1/2. The margins of a log are replayed; for its
    wins, give ``Replay(log)``.

    Parameters
    ----------
    problem
        A problem, the name of one, a preference matrix or a log.

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If there is no problem of that name, its preferences change, or a pair of the log has no
        margin.

    Examples
    --------
    >>> bd.problems.as_margin_problem("mslr-5").setting
    'margins'
    """
    if isinstance(problem, Duels):
        return MarginReplay(problem)
    if isinstance(problem, str | np.ndarray | list):
        problem = as_problem(problem)
    setting = problem.setting if isinstance(problem, Problem) else None
    if setting == "margins":
        return problem
    if setting == "pairs":
        if problem.n_segments > 1:
            raise ValueError(
                "problem should have preferences that do not change when k is given, got "
                f"{problem.name}"
            )
        return BinaryFamily(problem) if problem.is_family else BinaryDuels(problem)
    raise TypeError(
        "problem should be ScoreDuels(mean, sd), a matrix, a log with margins or a family such as "
        "RandomProblem(n_arms=10, generator=score_duels), "
        f"got {type(problem).__name__}"
    )


class BinaryFamily(Problem):
    """A family of preference matrices whose duels have margins of 1/2 and -1/2."""

    setting: ClassVar[str] = "margins"
    is_family: ClassVar[bool] = True
    arms: tuple[str, ...] = ()

    def __init__(self, family: Any) -> None:
        self.family = family
        self.name = family.name
        self.source = family.source
        self.arms = family.arms
        self.n_arms = family.n_arms

    def draw(self, rng: np.random.Generator) -> Any:
        return BinaryDuels(self.family.draw(rng))
