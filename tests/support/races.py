"""Tallies and lists of pairs for hand-worked rounds of races."""

import numpy as np

N = 4000.0  # duels of a decided pair: the radius at T = 1000 is 0.06


def tallies(shares):
    """Wins from the shares of the pairs named, N duels each; 50 : 50 of 100 elsewhere."""
    n_arms = 4
    wins = np.full((n_arms, n_arms), 50.0)
    np.fill_diagonal(wins, 0)
    for (i, j), p in shares.items():
        wins[i, j], wins[j, i] = N * p, N * (1 - p)
    return wins


def over(memory):
    memory.current[:] = False


def listed(memory, pair):
    return {pair, *map(tuple, np.argwhere(memory.current).tolist())}
