"""Log likelihoods of wins, losses and ties, summed over cells: many draws in one compiled call.

The log likelihood of a duel is linear in its predictor but for the logarithm of
``exp(eta / 2) + exp(-eta / 2) + tie``, with ``tie`` 0 where there are no ties. With
``a = exp(-|eta| / 2)`` that is ``|eta| / 2 + log(1 + a^2 + tie a)``. Exponential and logarithm are
written as polynomials, because compilers turn these into vector instructions and do not do so
with calls of a library of mathematical functions; in Estrin's scheme, whose products do not wait
for one another.

References
----------
Muller et al., "Handbook of Floating-Point Arithmetic", 2nd edition, chapter 10 (reduction of the
range, then a polynomial). Deviations: absolute errors near 1e-15, not relative ones.
"""

import math
from dataclasses import dataclass

import numpy as np

from bayesduel.jit import compiled

__all__ = ["LARGEST_TIE", "SummedLogLikelihood", "log_normalisers"]

LARGEST_TIE = 400.0  # to which the reduction of the logarithm's range reaches
ROOT = math.sqrt(2.0)
LOG_2 = math.log(2.0)


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


@compiled(error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def log_normalisers(eta: np.ndarray, n: np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Return the sum over cells of n log(exp(eta / 2) + exp(-eta / 2) + tie), shape (draws,).

    Of predictors (draws, cells), duels in each cell (cells,), and the weight of a tie in each draw,
    from 0 to `LARGEST_TIE`, (draws,).
    """
    total = np.empty(len(eta))
    terms = np.empty(eta.shape[1])
    for draw in range(len(eta)):
        row = eta[draw]
        weight = tie[draw]
        for cell in range(len(row)):
            half = 0.5 * abs(row[cell])
            # exp(-half) as the 32nd power of exp(v), whose Taylor series of 12 terms is summed
            v = -min(half, 40.0) / 32.0
            v2 = v * v
            v4 = v2 * v2
            low = v + v2 * (1 / 2 + v * (1 / 6))
            middle = (1 / 24 + v * (1 / 120)) + v2 * (1 / 720 + v * (1 / 5040))
            high = (1 / 40320 + v * (1 / 362880)) + v2 * (1 / 3628800 + v * (1 / 39916800))
            highest = high + v4 * (1 / 479001600)
            rest = middle + v4 * highest
            a = 1 + (low + v4 * rest)
            a *= a
            a *= a
            a *= a
            a *= a
            a *= a
            y = 1.0 + a * (a + weight)
            power = 0.5
            if y >= 64.0:
                y = y / 64.0
                power = power + 6.0
            if y >= 8.0:
                y = y / 8.0
                power = power + 3.0
            if y >= 4.0:
                y = y / 4.0
                power = power + 2.0
            if y >= 2.0:
                y = y / 2.0
                power = power + 1.0
            s = (y - ROOT) / (y + ROOT)  # log(y / root 2) = 2 artanh(s)
            q = s * s
            q2 = q * q
            q4 = q2 * q2
            first = (2 + q * (2 / 3)) + q2 * (2 / 5 + q * (2 / 7))
            rest = (2 / 9 + q * (2 / 11)) + q2 * (2 / 13 + q * (2 / 15))
            last = rest + q4 * (2 / 17)
            series = first + q4 * last
            log_sum = half + s * series + power * LOG_2
            terms[cell] = n[cell] * log_sum
        total[draw] = terms.sum()
    return total
