"""The contract of a problem: what a simulation may ask of it.

A simulation reads these attributes and calls these methods; it never asks which class a problem
is. ``setting`` and ``shows`` are named as those of the policies
(:mod:`bayesduel.policies.policy`) that can play it:

=========  =======================================================================================
setting    what a problem of this setting has beside what every problem has
=========  =======================================================================================
`pairs`    ``P``, the preference matrix, shape (K, K); ``arms``, K labels; ``ties``, probabilities
           of a tie, shape (K, K), None where ``may_tie`` is false; with more segments than one, P
           has shape (n_segments, K, K), beginning with the duels ``starts``
`margins`  ``scores``, the true scores, shape (K,); ``arms``; ``dice``, which compiled code draws
           margins with; if ``live``, ``play(i, j, nth, key)`` in its place
`items`    ``offer``, the set of items; ``preference``; ``best`` and ``typical``, the worth of the
           best item and of one drawn at random; but for a sphere, ``utility`` and ``worth``,
           shape (m,); ``rounds(rng)``, where the items of every round are new
=========  =======================================================================================
"""

from typing import Any, ClassVar, Self

import numpy as np

from bayesduel.system.arguments import labels_of, shown_value
from bayesduel.system.settings import completed

__all__ = ["ArmsProblem", "Problem", "checked_labels", "numbered"]


class Problem:
    """The attributes of every problem, with the defaults that most problems share.

    A class that is made of its fields has its docstring completed as that of
    :class:`~bayesduel.system.settings.Settings`.

    Parameters
    ----------
    name
        The name in plots and traces.
    source
        Where it comes from.

    Attributes
    ----------
    setting
        What is played: "pairs", "margins" or "items".
    shows
        How many arms or items a step shows.
    is_family
        Whether every replication draws a problem of its own.
    live
        Whether duels are played outside compiled code.
    may_tie
        Whether a duel of arms may end in a tie.
    n_segments
        How many segments of constant preferences there are.
    starts
        The first duel of each segment, from 1, length `n_segments`.
    n_arms
        How many arms, or items with an index.

    Examples
    --------
    >>> problem = bd.problems.named("hudry-13")
    >>> problem.setting, problem.n_arms
    ('pairs', 13)
    """

    setting: ClassVar[Any]
    shows: ClassVar[int] = 2
    is_family: ClassVar[bool] = False
    live: ClassVar[bool] = False
    may_tie: Any = False
    n_arms: Any
    n_segments: int = 1
    starts: tuple[int, ...] = (1,)

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring."""
        super().__init_subclass__(**options)
        if cls.__doc__ is not None and "__init__" not in cls.__dict__:
            cls.__doc__ = completed(cls)

    @property
    def arms(self) -> tuple[str, ...]:
        """Labels of the arms or items: "1", "2", ..."""
        return numbered(self.n_arms)

    def for_horizon(self, horizon: int) -> Self:
        """Return the problem with this horizon, if it needs one and has none."""
        return self

    def draw(self, rng: np.random.Generator) -> Self:
        """Return a problem of the family; a problem that is not a family returns itself."""
        return self

    def rounds(self, rng: np.random.Generator) -> Any:
        """Return how compiled code draws the items of each round, None where they stay."""
        return None


class ArmsProblem(Problem):
    """Defaults of a problem whose arms have labels of their own.

    Parameters
    ----------
    arms
        K labels. Default: "1", "2", ...
    """

    name: str
    arms: tuple[str, ...]

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.arms)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.n_arms} arms)"


def checked_labels(arms: Any, n_arms: int) -> tuple[str, ...]:
    """Return the labels of the arms, "1", "2", ... where none are given; refuse equal ones."""
    given = tuple(str(arm) for arm in labels_of(arms, "arms"))
    labels = given or numbered(n_arms)
    if len(set(labels)) != n_arms:
        raise ValueError(f"arms should be {n_arms} distinct labels, got {shown_value(arms)}")
    return labels


def numbered(n_arms: int) -> tuple[str, ...]:
    """Return the labels "1", "2", ..."""
    return tuple(str(k + 1) for k in range(n_arms))
