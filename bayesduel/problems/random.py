"""Random problems: every replication draws a new preference matrix, the same for all policies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import ndtr

from bayesduel.preference import borda_scores, copeland_scores
from bayesduel.problems.margins import checked_arms, score_duels
from bayesduel.problems.matrix import Matrix, davidson
from bayesduel.problems.problem import Problem
from bayesduel.system.arguments import check_flag, check_range, check_type, generator_of
from bayesduel.system.memory import check_square

__all__ = [
    "RandomProblem",
    "bradley_terry",
    "fixed_gap",
    "noise_floor",
    "perturbed_thurstone",
    "thurstone",
    "uniform",
]


@dataclass(frozen=True, kw_only=True)
class RandomProblem(Problem):
    """A family of problems: each replication of a simulation draws one of them.

    Parameters
    ----------
    n_arms
        How many arms.
    generator
        ``generator(n_arms, rng=rng, **settings)``, such as :func:`uniform`; a
        function of a module, so that it can be sent to other processes.
    settings
        Further arguments of the generator.

    Examples
    --------
    >>> bd.problems.RandomProblem(n_arms=6, generator=bd.problems.bradley_terry).n_arms
    6
    """

    n_arms: int
    generator: Callable[..., Any]
    settings: tuple[tuple[str, Any], ...] = ()
    name: str = "random"
    is_family: ClassVar[bool] = True

    @cached_property
    def _example(self) -> Any:
        return self.draw(np.random.default_rng(0))

    @property
    def setting(self) -> str:
        """The setting of its problems, taken from one that is drawn for the purpose."""
        return str(self._example.setting)

    @property
    def may_tie(self) -> bool:
        """Whether duels may end in a tie, by the same one."""
        return bool(self._example.may_tie)

    @property
    def source(self) -> str:
        """The generator's name."""
        return self.generator.__name__

    def draw(self, rng: np.random.Generator) -> Any:
        check_square(self.n_arms, 6, "a problem of pairs", "use items with attributes")
        return self.generator(self.n_arms, **dict(self.settings), rng=rng)


def uniform(n_arms: int, *, unique_winner: bool = True, rng: np.random.Generator | int) -> Matrix:
    """Return P[i, j] uniform on [0, 1] for i < j.

    Parameters
    ----------
    n_arms
        At least 2.
    unique_winner
        Redraw until the Copeland winner is unique.
    rng
        Source of randomness.

    References
    ----------
    Agrawal & Chaporkar, arXiv 1902.02778 ("random"; uniform is our reading), with n_arms
    itself uniform on 3..36.

    Examples
    --------
    >>> bd.problems.uniform(3, rng=np.random.default_rng(0)).P.round(2)
    array([[0.5 , 0.64, 0.27],
           [0.36, 0.5 , 0.04],
           [0.73, 0.96, 0.5 ]])
    """
    n_arms = checked_arms(n_arms)
    check_flag(unique_winner, "unique_winner")
    generator = generator_of(rng)
    while True:
        P = np.full((n_arms, n_arms), 0.5)
        above = np.triu_indices(n_arms, 1)
        P[above] = generator.random(len(above[0]))
        P.T[above] = 1 - P[above]
        scores = copeland_scores(P)
        if not unique_winner or (scores == scores.max()).sum() == 1:
            return Matrix(P, "uniform", source="Agrawal & Chaporkar 2019, as this package reads it")


def thurstone(
    n_arms: int,
    *,
    spread: Literal["sd", "variance"] = "sd",
    best: float | None = None,
    rng: np.random.Generator | int,
) -> Matrix:
    """Return P of Thurstone duels with a standard deviation for each pair.

    ``gamma_i ~ U[0, 1]``, difference ``N(gamma_i - gamma_j, sigma_ij^2)``: that of
    :func:`perturbed_thurstone`, where the parameters are described, with d = 0.

    Parameters
    ----------
    n_arms, spread, best, rng
        As for :func:`perturbed_thurstone`, with d = 0.

    References
    ----------
    Groves & Branke, "Top-k selection with pairwise comparisons", section 5.1.

    Examples
    --------
    >>> bd.problems.thurstone(3, rng=np.random.default_rng(0)).P[0].round(2)
    array([0.5 , 1.  , 0.77])
    """
    return perturbed_thurstone(n_arms, d=0.0, spread=spread, best=best, rng=rng)


def perturbed_thurstone(
    n_arms: int,
    *,
    d: float = 0.1,
    spread: Literal["sd", "variance"] = "sd",
    best: float | None = None,
    rng: np.random.Generator | int,
) -> Matrix:
    """Return Thurstone duels whose mean differences have residuals ``eps_ij ~ N(0, d^2)``.

    Parameters
    ----------
    n_arms
        At least 2.
    d
        Standard deviation of the intransitive part, >= 0.
    spread
        Which of sigma_ij and its square is U[0, 1].
    best
        If given, the first arm's gamma.
    rng
        Source of randomness.

    References
    ----------
    Groves & Branke, section 6.

    Examples
    --------
    >>> bd.problems.perturbed_thurstone(3, rng=np.random.default_rng(0)).P[0].round(2)
    array([0.5, 1. , 0.8])
    """
    duels = score_duels(n_arms, spread=spread, best=best, d=d, rng=rng)
    i, j = np.triu_indices(n_arms, 1)
    P = np.full((n_arms, n_arms), 0.5)
    win = ndtr(duels.mean[i, j] / duels.sd[i, j])
    P[i, j] = win
    P[j, i] = 1 - win
    return Matrix(P, "thurstone", source=duels.source)


def bradley_terry(
    n_arms: int, *, sd: float = 1.0, nu: float = 0.0, rng: np.random.Generator | int
) -> Matrix:
    """Return ``P[i, j] = w_i / (w_i + w_j)`` with ``ln w_i ~ N(0, sd^2)``.

    Parameters
    ----------
    n_arms
        At least 2.
    sd
        Standard deviation of the log strengths.
    nu
        Davidson's tendency to tie: see :func:`davidson`. 0: no ties.
    rng
        A ``numpy.random.Generator``, or the seed of one (a whole number).

    Examples
    --------
    >>> bd.problems.bradley_terry(3, rng=np.random.default_rng(0)).P.round(2)
    array([[0.5 , 0.56, 0.37],
           [0.44, 0.5 , 0.32],
           [0.63, 0.68, 0.5 ]])
    """
    n_arms = checked_arms(n_arms)
    generator = generator_of(rng)
    check_range(sd, "sd", "positive and finite")
    made = davidson(sd * generator.standard_normal(n_arms), nu, name="bradley-terry")
    return replace(made, source=f"log strengths N(0, {sd:g}^2)" + (f", nu {nu:g}" if nu else ""))


def fixed_gap(n_arms: int, *, gap: float = 0.1, rng: np.random.Generator | int) -> Matrix:
    """Return preferences with one Borda winner, the first arm, ahead of all others by `gap`.

    Those of :func:`uniform`, mixed with as little as it takes of a matrix in which the first arm
    always wins and the others are equal. Other arms may be Copeland or Condorcet winners.

    Parameters
    ----------
    n_arms
        At least 2.
    gap
        Least difference of Borda scores, in (0, 0.5].
    rng
        A ``numpy.random.Generator``, or the seed of one (a whole number).

    References
    ----------
    Saha, Koren & Mansour, "Adversarial Dueling Bandits", ICML 2021 (the fixed-gap adversary: each
    duel's matrix is of this kind, with the same winner). The mixture is ours.

    Examples
    --------
    >>> bd.problems.fixed_gap(3, rng=np.random.default_rng(0)).P.round(2)
    array([[0.5 , 0.79, 0.58],
           [0.21, 0.5 , 0.24],
           [0.42, 0.76, 0.5 ]])
    """
    check_range(gap, "gap", "in (0, 0.5]")
    drawn = uniform(n_arms, rng=rng).P
    certain = np.full_like(drawn, 0.5)
    certain[0, 1:] = 1
    certain[1:, 0] = 0
    score = borda_scores(drawn)
    most_score = borda_scores(certain)
    ahead = score[0] - score[1:]
    most = most_score[0] - most_score[1:]
    needed = (gap - ahead) / (most - ahead)
    share = needed.max(initial=0, where=ahead < gap)
    P = (1 - share) * drawn + share * certain
    return Matrix(P, "fixed gap", source=f"Borda gap of {gap:g} to the first arm")


def noise_floor(problem: Matrix, gap: float) -> Matrix:
    """Return the problem with every ``|P - 1/2|`` raised to at least `gap`, signs kept.

    An exact tie stays one.

    Parameters
    ----------
    problem
        A problem of pairs.
    gap
        In (0, 0.5].

    Examples
    --------
    >>> bd.problems.noise_floor(bd.problems.named("mslr-5"), 0.1).P[0].round(2)
    array([0.5 , 0.6 , 0.61, 0.76, 0.77])
    """
    check_type(problem, Matrix, "problem", "a Matrix")
    check_range(gap, "gap", "in (0, 0.5]")
    if problem.may_tie:
        raise ValueError(f"problem should have no ties, got {problem}")
    away = problem.P - 0.5
    distance = np.maximum(np.abs(away), gap)
    P = 0.5 + np.sign(away) * distance
    return Matrix(P, f"{problem.name}, gaps >= {gap:g}", problem.arms, problem.source)
