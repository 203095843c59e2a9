"""Logs drawn from a matrix: of plain duels, of units that vote as one, with a side advantage."""

from itertools import combinations

import numpy as np
from scipy.special import expit

from bayesduel.data.duels import Duels

SCORE = np.linspace(1.2, -1.2, 10)
ORDERED = expit(SCORE[:, None] - SCORE)
ROCK = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])


def simulate(P: np.ndarray, n: int, rng: np.random.Generator) -> Duels:
    """Return a log of n duels a pair."""
    above = np.triu(rng.binomial(n, P), 1)
    wins = above + np.tril(n - above.T, -1)
    return Duels.from_wins(wins, [f"{i:02}" for i in range(len(P))])


def voted(P: np.ndarray, n_units: int, n_votes: int, rng: np.random.Generator, role: str) -> Duels:
    """Return a log whose every unit votes as one: `n_votes` copies of one draw."""
    left, right, outcome, unit = [], [], [], []
    for i, j in combinations(range(len(P)), 2):
        for u in range(n_units):
            left += [f"{i:02}"] * n_votes
            right += [f"{j:02}"] * n_votes
            outcome += [float(rng.random() < P[i, j])] * n_votes
            unit += [f"u{u}"] * n_votes
    return Duels.from_votes(left, right, outcome, **{role: unit})


def presented(P: np.ndarray, n: int, pull: float, rng: np.random.Generator) -> Duels:
    """Return a log of n duels a pair, each pair in one order; the first has `pull` logits more."""
    low, high = np.triu_indices(len(P), 1)
    swapped = rng.random(len(low)) < 0.5
    left = np.repeat(np.where(swapped, high, low), n)
    right = np.repeat(np.where(swapped, low, high), n)
    p = expit(np.log(P / (1 - P))[left, right] + pull)
    outcome = (rng.random(len(left)) < p).astype(float)
    return Duels.from_votes([f"{i:02}" for i in left], [f"{i:02}" for i in right], outcome)


def shown(P: np.ndarray, n: int, pull: float, rng: np.random.Generator) -> Duels:
    """Return a log in which the side listed first has `pull` logits more."""
    left, right = (np.repeat(x, n) for x in np.nonzero(~np.eye(len(P), dtype=bool)))
    p = expit(np.log(P / (1 - P))[left, right] + pull)
    outcome = (rng.random(len(left)) < p).astype(float)
    return Duels.from_votes([f"{i:02}" for i in left], [f"{i:02}" for i in right], outcome)


def outcomes_of(
    kind: str, latent: np.ndarray, *, tied: float
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the points of left, and grades or margins beside them, by how far left was ahead.

    kind: "win", "tie", "grade", "margin", "soft vote", or another that wins by sign. tied: how far
    ahead is still a tie.
    """
    if kind == "soft vote":
        return expit(latent).round(2), {}
    if kind == "grade":
        grade = np.digitize(latent, [-2, -0.6, 0.6, 2]) - 2
        return np.sign(grade) / 2 + 0.5, {"grade": grade}
    points = np.where(latent > 0, 1.0, 0.0)
    if kind == "tie":
        points[np.abs(latent) < tied] = 0.5
    return points, {"margin": latent.round(3)} if kind == "margin" else {}
