"""The duel that a rule asked for last, and its outcome, of which a belief holds only sums."""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["ask", "draw_arm", "no_duel", "outcome", "outcome_or_draw"]


def no_duel() -> np.ndarray:
    """Return what is known before the first: the pair, its wins and all duels, shape (4,)."""
    return np.full(4, -1.0)


@compiled
def ask(asked, belief, i, j):
    """Note that the duel of i and j is asked for; return the pair."""
    asked[0] = i
    asked[1] = j
    asked[2] = belief.wins[i, j]
    asked[3] = belief.n_duels[0]
    return i, j


@compiled
def outcome(asked, belief):
    """Return what the first arm won, 1/2 against itself; -1 if it was not recorded or is known."""
    i = belief.last[0]
    j = belief.last[1]
    if i < 0 or i != asked[0] or j != asked[1] or belief.n_duels[0] != asked[3] + 1:
        return -1.0
    won = belief.wins[i, j] - asked[2]
    asked[:] = -1
    return 0.5 if i == j else won


@compiled
def outcome_or_draw(asked, belief, rng):
    """Return the same, but 0 or 1 at random for an arm against itself, which is not recorded."""
    won = outcome(asked, belief)
    if won >= 0 and belief.last[0] == belief.last[1]:
        return 1.0 if rng.random() < 0.5 else 0.0
    return won


@compiled
def draw_arm(weights, rng):
    """Return an arm drawn with these chances, shape (K,), whatever their sum."""
    sums = np.cumsum(weights)
    return np.searchsorted(sums, rng.random() * sums[-1], side="right")
