"""Problems of pairs: simulated duels are drawn from a known preference matrix."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesduel.preference import CRITERIA, check_preference, winner_mask
from bayesduel.preference.copeland import ROUNDING
from bayesduel.problems.problem import ArmsProblem, checked_labels
from bayesduel.system.arguments import check_range, numbers, real, shown_value

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["FromFit", "Matrix", "davidson"]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(ArmsProblem):
    """Duels drawn from a known preference matrix.

    Parameters
    ----------
    P
        Probability that i beats j, shape (K, K), K >= 2, ``P + P.T = 1``. With `ties`: the
        expected score, ``Pr(win) + Pr(tie) / 2``.
    arms
        K labels. Default: "1", "2", ... as the literature numbers them.
    ties
        Probability that i and j tie, shape (K, K), symmetric, at most ``2 min(P, P.T)``, diagonal
        0. A tie is the outcome 1/2, half a win each. Default, and None where all are 0: no ties.

    Raises
    ------
    ValueError
        If P is not one preference matrix, the labels are not K distinct ones, or `ties` are not
        probabilities that P leaves room for.

    Examples
    --------
    >>> problem = bd.problems.Matrix(np.array([[0.5, 0.8], [0.2, 0.5]]), arms=("tea", "coffee"))
    >>> bd.regret(bd.simulate(bd.policies.Uniform(), problem, 10, seed=0)).values[0, 0, -1]
    np.float64(5.0)
    """

    P: np.ndarray
    name: str = "matrix"
    arms: tuple[str, ...] = ()
    source: str = ""
    ties: np.ndarray | None = None
    setting: ClassVar[str] = "pairs"

    def __post_init__(self) -> None:
        P = check_preference(self.P).copy()
        if P.ndim != 2:
            raise ValueError(f"P should have shape (K, K), got {P.shape}")
        P.setflags(write=False)
        object.__setattr__(self, "P", P)
        object.__setattr__(self, "arms", checked_labels(self.arms, len(P)))
        object.__setattr__(self, "ties", _checked_ties(self.ties, P))

    @property
    def may_tie(self) -> bool:
        return self.ties is not None

    @cached_property
    def winners(self) -> dict[str, tuple[str, ...]]:
        """Labels of the winners under every criterion; empty where there is none."""
        arms = np.asarray(self.arms)
        winners: dict[str, tuple[str, ...]] = {}
        for criterion in CRITERIA:
            mask = winner_mask(self.P, criterion)
            winners[criterion] = tuple(arms[mask].tolist())
        return winners

    def duel(self, pair: tuple[int, int], coin: float) -> float:
        """Return 1 if the first arm of `pair` wins, 0 if the second does, and 1/2 for a tie.

        `coin` is a uniform draw of [0, 1).
        """
        P = self.P[pair]
        half = 0.0 if self.ties is None else self.ties[pair] / 2
        if coin < P - half:
            return 1.0
        return 0.5 if coin < P + half else 0.0


def _checked_ties(ties: Any, P: np.ndarray) -> np.ndarray | None:
    """Return probabilities of ties that P leaves room for; None where all are 0."""
    if ties is None:
        return None
    found = numbers(ties, "ties")
    if found.shape != P.shape:
        raise ValueError(f"ties should have the shape of P, {P.shape}, got {found.shape}")
    room = 2 * np.minimum(P, P.T)
    np.fill_diagonal(room, 0.0)
    in_range = (found >= 0) & (found <= room + ROUNDING)
    symmetric = abs(found - found.T) <= ROUNDING
    right = in_range & symmetric
    if not right.all():
        i, j = np.argwhere(~right)[0]
        raise ValueError(
            "ties should be symmetric, in [0, 2 min(P, P.T)] and 0 on the diagonal, "
            f"got {found[i, j]} at [{i}, {j}]"
        )
    found = np.minimum(found, room)
    found.setflags(write=False)
    return found if found.any() else None


def davidson(scores: Any, nu: float, *, name: str = "davidson", arms: Any = ()) -> Matrix:
    """Return Davidson's problem: Bradley-Terry scores, and ties the likelier the closer two arms.

    Parameters
    ----------
    scores
        In logits, shape (K,).
    nu
        Tendency to tie, at least 0: equal arms tie with probability ``nu / (2 + nu)``.
    name, arms
        As for :class:`Matrix`.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison
    experiments", JASA 1970.

    Examples
    --------
    >>> problem = bd.problems.davidson([1.0, 0.0], nu=1.0)
    >>> problem.P.round(2)[0], problem.ties.round(2)[0]
    (array([0.5 , 0.66]), array([0.  , 0.31]))
    """
    check_range(nu, "nu", ">= 0 and finite")
    score = numbers(scores, "scores")
    if score.ndim != 1 or not np.isfinite(score).all():
        raise ValueError(f"scores should be finite, shape (K,), got {shown_value(scores)}")
    behind = score - score[:, None]
    tie = nu / (nu + 2 * np.cosh(behind / 2))
    win = (1 - tie) / (1 + np.exp(behind))
    P = win + tie / 2
    np.fill_diagonal(tie, 0.0)
    return Matrix(P, name, arms, f"scores, nu = {nu:g}" if nu else "scores", tie)


class FromFit(Matrix):
    """The preference matrix of one posterior draw of a fit, with its ties where the model has some.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned.
    draw
        Which draw, from 0, chains one after another.

    Raises
    ------
    ValueError
        If `draw` is not one of the fit's draws.

    Examples
    --------
    >>> problem = bd.problems.FromFit(bd.fit(bd.datasets.load("tennis1990")))
    >>> problem.P.round(1)[0]
    array([0.5, 0.6, 0.5, 0.7, 0.6])
    """

    def __init__(self, fit: "xr.DataTree", draw: int = 0) -> None:
        from bayesduel.posterior.draws import check_fit, draws_of

        check_fit(fit)
        real(draw, "draw")
        if not 0 <= draw < fit.duel.n_draws:
            raise ValueError(f"draw should be in [0, {fit.duel.n_draws}), got {draw}")
        draws, arms, _ = draws_of(fit)
        which = slice(draw, draw + 1)
        P = draws.model.preference(draws.rows(which))[0]
        first, second = np.triu_indices(len(P), 1)
        chances = draws.chances(which, first, second)
        tie = np.zeros_like(P)
        tie[first, second] = chances.get("tie", 0.0)
        log = fit.attrs["source"]
        source = f"draw {draw} of {fit.attrs['model']} on {log}"
        super().__init__(P, f"fit of {log}", arms, source, tie + tie.T)
