"""A rough mode, from which Hamiltonian Monte Carlo starts, and what the data say there.

It comes from a few steps of Newton's method by conjugate gradients, and scales from steps of
expectation maximisation with variances of single coefficients. Draws of a short chain say better
where the posterior is.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from bayesduel.inference.conjugate_gradient import LOOSE
from bayesduel.inference.design import ScoreDesign, centre
from bayesduel.inference.gaussian_prior import Prior
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.models.response import Derivatives

__all__ = ["FLAT", "Start", "learned_start", "start_of"]

FLAT = 1e-9  # information of a coefficient that data and prior leave alone, which is divided by


class Start(NamedTuple):
    """A rough mode, and what the data say about each coefficient there."""

    x: np.ndarray  # (size,)
    phi: np.ndarray  # logarithms of the scales, (q,)
    votes: np.ndarray  # minus the curvature of each cell, (cells,)
    information: np.ndarray  # of each coefficient alone, (size,)


def start_of(density: LinearPredictor) -> Start:
    """Return a rough mode: Newton's method by conjugate gradients, scales by their moments.

    Raises FloatingPointError if nothing finite is found.
    """
    x = np.zeros(density.size)
    phi = np.zeros(density.n_scales)
    squared = _squared(density)
    for k in range(6):  # of llmfao 12 move the scales by less than 4 %
        prior = density.prior(phi)
        found = density.derivatives(x, phi)
        votes, own = _curvatures(found)
        information = _information(squared, votes, own)
        concave = found._replace(bend=-votes)
        x = _climbed(density, concave, prior, information, x, phi)
        if k:
            phi = _fitted_scales(density, x, information, prior, phi)
    everything = np.concatenate([x, phi])
    if not np.isfinite(everything).all():
        raise FloatingPointError("the posterior has no finite mode to start from")
    return Start(x, phi, votes, information)


def learned_start(density: LinearPredictor, x: np.ndarray, phi: np.ndarray) -> Start:
    """Return what draws (n, size) and (n, q) say about each coefficient, on average."""
    n = len(x)
    squared = _squared(density)
    votes = np.zeros(density.n_cells)
    own = np.zeros(len(density.own))
    slope = np.zeros(density.size)
    for one, scales in zip(x, phi, strict=True):
        found = density.derivatives(one, scales)
        here, here_own = _curvatures(found)
        alone = np.concatenate([squared.T @ here, here_own])
        curved = alone * one
        pulled = density.likelihood_slope(found)
        votes += here / n
        own += here_own / n
        slope += (curved + pulled) / n
    information = _information(squared, votes, own)
    middle = phi.mean(axis=0)
    return Start(slope / information, middle, votes, information)


def _curvatures(found: Derivatives) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the curvature in cells (cells,) and own numbers, 0 where it is negative."""
    own = np.maximum(-np.diagonal(found.second), 0.0)
    return np.maximum(-found.bend, 0.0), own


def _information(squared: sparse.csr_array, votes: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the information of each coefficient alone, (size,), at least `FLAT`."""
    of_coefficients = squared.T @ votes
    return np.maximum(np.concatenate([of_coefficients, own]), FLAT)


def _squared(density: LinearPredictor) -> sparse.csr_array:
    """Return the squares of the design, (cells, coefficients of terms)."""
    design = density.design
    if not isinstance(design, ScoreDesign):
        jacobian = sparse.csr_array(design.jacobian)
        return sparse.csr_array(jacobian**2)
    centring = centre(np.eye(design.n_arms - 1)).T
    free = design.scores.jacobian @ sparse.csr_array(centring)
    both = sparse.hstack([free, design.beside.jacobian])
    return sparse.csr_array(both).power(2).tocsr()


def _climbed(
    density: LinearPredictor,
    found: Derivatives,
    prior: Prior,
    information: np.ndarray,
    x: np.ndarray,
    phi: np.ndarray,
) -> np.ndarray:
    """Return x after a step of Newton's method, halved until the density is not lower."""
    apart = information + prior.diagonal(0.0)

    def times(step: np.ndarray) -> np.ndarray:
        return density.times(found, prior, step)

    shape = (density.size, density.size)
    gradient = density.gradient(found, prior, x)
    precision = LinearOperator(shape, times, dtype=float)
    preconditioner = LinearOperator(shape, lambda step: step / apart, dtype=float)
    step, _ = cg(
        precision,
        gradient,
        rtol=LOOSE,
        M=preconditioner,
        maxiter=200,
    )
    before = density.value(x, phi)
    for _ in range(20):  # halved to a millionth of it at most
        moved = x + step
        if density.value(moved, phi) >= before:
            return moved
        step = step / 2
    return x


def _fitted_scales(
    density: LinearPredictor,
    x: np.ndarray,
    information: np.ndarray,
    prior: Prior,
    phi: np.ndarray,
) -> np.ndarray:
    """Return the scales with the highest expected density, given coefficients about `x`."""
    if not len(phi):
        return phi
    variance = 1 / (information + prior.diagonal(0.0))

    def fall(phi: np.ndarray) -> float:
        ahead = density.prior(phi)
        value = density.value(x, phi)
        for piece in ahead.pieces:
            precision = piece.diagonal()
            trace = float(precision @ variance[piece.here])
            value -= 0.5 * trace
        return -value

    found = minimize(fall, phi, method="BFGS", options={"gtol": 0.05})
    return np.asarray(found.x)
