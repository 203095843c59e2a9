"""Log likelihoods of wins, losses and ties, summed over cells of many draws.

The log likelihood of a duel is linear in its predictor but for the logarithm of
``exp(eta / 2) + exp(-eta / 2) + tie``, with ``tie`` 0 where there are no ties. With
``a = exp(-|eta| / 2)`` that is ``|eta| / 2 + log(1 + a^2 + tie a)``.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["SummedLogLikelihood", "log_normalisers"]


@dataclass(frozen=True, eq=False)
class SummedLogLikelihood:
    """The sum over cells: linear in predictor and tendency to tie, less log normalisers."""

    slope: np.ndarray  # in the predictor of each cell, (cells,)
    n: np.ndarray  # duels of each cell, (cells,)
    n_ties: float  # the slope in the tendency to tie
    constant: float

    def of(self, linear: np.ndarray, normalisers: np.ndarray, tie: np.ndarray | None) -> np.ndarray:
        """Return the sum (draws,) of its parts (draws,).

        linear: the predictor times `slope`, summed; tie: None where there are no ties.
        """
        ties = 0.0 if tie is None else self.n_ties * tie
        return np.asarray(linear + ties - normalisers + self.constant)


def log_normalisers(eta: np.ndarray, n: np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Return the sum over cells of n log(exp(eta / 2) + exp(-eta / 2) + tie), shape (draws,).

    Of predictors (draws, cells), duels in each cell (cells,), and the weight of a tie in each draw,
    (draws,). It works in place: new arrays take longer than exponentials and logarithms.
    """
    half = np.abs(eta)
    half /= 2
    small = np.exp(-half)
    inside = small + tie[:, None]
    inside *= small
    inside += 1
    logarithm = np.log(inside, out=inside)
    logarithm += half
    return np.asarray(logarithm @ n)
