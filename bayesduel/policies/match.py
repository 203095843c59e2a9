"""A match: duels of one pair that are counted from its beginning; and brackets of matches."""

from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from bayesduel.jit import compiled

__all__ = [
    "DOWN",
    "MIDDLE",
    "OPEN",
    "UP",
    "Bracket",
    "Match",
    "advance",
    "begin",
    "distributed",
    "enter",
    "no_bracket",
    "no_match",
    "pairing",
    "settled",
    "won",
]

SIZE, PLACE, ROUND = range(3)
DOWN, MIDDLE, UP, OPEN = range(4)


class Match(NamedTuple):
    """The pair, and what each of its arms had won against the other before; shape (2,) each."""

    pair: np.ndarray  # -1 where there is no match
    before: np.ndarray


class Bracket(NamedTuple):
    """A knockout: in every round arms meet in pairs, and one of each pair goes on."""

    arms: np.ndarray  # those of the round in their order, of the next round from the front, (K,)
    state: np.ndarray  # SIZE of the round, PLACE of its match, ROUND from 1; shape (3,)


def no_match() -> Match:
    """Return the state before the first match."""
    return Match(np.full(2, -1, np.int64), np.zeros(2))


def no_bracket(n_arms: int) -> Bracket:
    """Return a bracket that nobody has entered."""
    return Bracket(np.arange(n_arms), np.zeros(3, np.int64))


@compiled
def begin(match, belief, i, j):
    """Begin a match of i and j; return them."""
    match.pair[0] = i
    match.pair[1] = j
    match.before[0] = belief.wins[i, j]
    match.before[1] = belief.wins[j, i]
    return i, j


@compiled
def won(match, belief):
    """Return how many duels of the match either arm has won."""
    i, j = match.pair
    of_first = belief.wins[i, j] - match.before[0]
    of_second = belief.wins[j, i] - match.before[1]
    return of_first, of_second


@compiled
def settled(wins, n, centre, slack, delta, most):
    """Return whether a share of n duels is away from `centre`, up to `slack`, or n exceeds `most`.

    Its radius is Hoeffding's with a union bound over n, which fails with probability delta.
    """
    if n == 0:
        return False
    away = abs(wins / n - centre)
    radius = sqrt(log(4 * n * n / delta) / (2 * n))
    return n > most or away > radius - slack


@compiled
def distributed(wins, n, width, margin, delta):
    """Return whether an arm is UP, DOWN or in the MIDDLE by its n duels with another; or OPEN.

    DistributeItem, Algorithm 1 of Ren, Liu & Shroff, ICML 2020 (see ``seebs.py``), with s_u = 0.
    width: below which a difference from 1/2 may be overlooked. margin: s_d, by which it has to lose
    to be DOWN. delta: probability of an error.
    """
    if n == 0:
        return OPEN
    budget = log((pi * n) ** 2 / (3 * delta))
    radius = sqrt(budget / (2 * n))
    share = wins / n
    if share - radius > 0.5:
        return UP
    if share + radius < 0.5 - margin:
        return DOWN
    if n < 2 * log(4 / delta) / width**2:
        return OPEN
    if wins / n > 0.5 + width / 2:
        return UP
    return DOWN if wins / n < 0.5 - width / 2 - margin else MIDDLE


@compiled
def enter(bracket, among, rng):
    """Let the arms of a mask enter, in random order."""
    size = among.sum()
    bracket.arms[:size] = np.flatnonzero(among)
    bracket.state[SIZE] = size
    bracket.state[PLACE] = 0
    bracket.state[ROUND] = 1
    shuffle(bracket, rng)


@compiled
def shuffle(bracket, rng):
    """Bring the arms of the round into random order."""
    size = bracket.state[SIZE]
    bracket.arms[:size] = bracket.arms[:size][rng.permutation(size)]


@compiled
def advance(bracket, winner):
    """Let an arm of the pair go on."""
    bracket.arms[bracket.state[PLACE]] = winner
    bracket.state[PLACE] += 1


@compiled
def pairing(bracket, rng):
    """Return the next pair; (-1, -1) where one arm is left, the first of ``arms``."""
    arms = bracket.arms
    state = bracket.state
    if state[PLACE] == state[SIZE] // 2:
        if state[SIZE] % 2 == 1:
            advance(bracket, arms[state[SIZE] - 1])
        state[SIZE] = (state[SIZE] + 1) // 2
        state[PLACE] = 0
        state[ROUND] += 1
        shuffle(bracket, rng)
    if state[SIZE] == 1:
        return -1, -1
    return arms[2 * state[PLACE]], arms[2 * state[PLACE] + 1]
