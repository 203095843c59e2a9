"""What a pair's duels say of two scores, with what is the pair's own integrated out.

The log odds of a pair are ``d`` by scores alone. Four models say what they are in truth:

- ``ONE_SCORE``: ``d``.
- ``UNEVEN``: ``d * exp(spread * z)``: margins differ from pair to pair in size, never in sign.
- ``RANKS``: ``sign(d) * spread * z``: only the order of the arms says something, who wins and not
  by how much. A pair goes against the order, ``z < 0``, with a probability that may be 0.
- ``FREE``: ``d + spread * z``: each pair has a residual, so that cycles are possible.

``z`` is standard normal, one for each pair, whatever the number of its duels. Of ``RANKS`` its two
halves are weighted by the probability of either sign. Its integral is a Gauss-Legendre rule on
either side of the mode, as far as the pair's own density reaches: a pair that was won every time
has a density with a step, which a rule for normal densities misses where margins are large.
"""

from math import erf
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from bayesduel.jit import compiled

__all__ = ["FREE", "ONE_SCORE", "RANKS", "SIDES", "UNEVEN", "draw_odds", "of_ranks", "of_scores"]

# The models above, as compiled functions know them.
ONE_SCORE = 0
UNEVEN = 1
FREE = 2
RANKS = 3
SIDES = (1.0, -1.0, 0.0)  # which arm of a pair a cell lists first: the first, the second, neither
# Of the rule of a pair on either side of its mode: log probabilities to 0.0008, of 2 to 1,000 duels
# all won, lost or level, spreads to 200; 15 points of a rule about the mode were 0.06 off.
POINTS = 8
POINT, WEIGHT = leggauss(POINTS)
POINT = (POINT + 1) / 2  # for the interval from 0 to 1
WEIGHT = WEIGHT / 2
# Nats below its mode at which a density ends, about: 5 standard deviations of a normal one, 1e-5 of
# the mass of an exponential one.
DEPTH = 12.5
# Cells of the grid from which z is drawn on one side of the mode, with exponential functions
# between their ends: quantiles of a normal density to 0.005 deviations.
CELLS = 16
FLAT = 1e-6  # fall of a logarithm over a cell, below which the mean of its ends is as exact
NO_DUELS = np.zeros(3)  # of a pair that never met


class Pair(NamedTuple):
    """What is known of a pair: its log odds by scores, the side advantage, and its duels."""

    kind: int
    d: float
    spread: float
    order: float
    n: np.ndarray  # duels by `SIDES`, (3,)
    won: np.ndarray  # of these by the first arm, (3,)


class Reach(NamedTuple):
    """Where the density of a pair's `z` is: its free mode, its highest place, and both ends."""

    mode: float
    highest: float
    low: float
    high: float
    top: float  # log density at the highest place


@compiled
def pair_of(
    kind: int,
    coefficients: np.ndarray,
    spread: float,
    i: int,
    j: int,
    n: np.ndarray,
    won: np.ndarray,
) -> Pair:
    """Return what is known of the pair of two arms, given all scores and the side advantage."""
    d = coefficients[i] - coefficients[j]
    return Pair(kind, d, spread, coefficients[-1], n, won)


@compiled
def odds_of(pair: Pair, z: float) -> float:
    """Return the log odds of a pair on neutral ground."""
    if pair.kind == UNEVEN:
        return pair.d * float(np.exp(pair.spread * z))
    if pair.kind == RANKS:
        return float(np.sign(pair.d)) * pair.spread * z
    return pair.d + pair.spread * z


@compiled
def slope_of(pair: Pair, z: float) -> float:
    """Return the derivative of the log odds of a pair in `z`."""
    if pair.kind == UNEVEN:
        factor = float(np.exp(pair.spread * z))
        return pair.spread * pair.d * factor
    if pair.kind == RANKS:
        return float(np.sign(pair.d)) * pair.spread
    return pair.spread


@compiled
def duels_of(pair: Pair, odds: float) -> tuple[float, float, float, float, float, float]:
    """Return derivatives of the log likelihood of a pair's duels, and the log likelihood.

    Those in the odds and in the side advantage; minus the second ones in the odds, in both, in the
    side advantage. What a caller does not read is not computed: it is inlined.
    """
    g = 0.0
    g_order = 0.0
    h = 0.0
    h_both = 0.0
    h_order = 0.0
    value = 0.0
    for side in range(3):
        n = pair.n[side]
        if n == 0.0:
            continue
        sign = SIDES[side]
        x = odds + sign * pair.order
        small = np.exp(-abs(x))
        chance = (1.0 if x > 0.0 else small) / (1.0 + small)
        won = pair.won[side]
        left = won - n * chance
        weight = n * chance * (1.0 - chance)
        g += left
        g_order += sign * left
        h += weight
        h_both += sign * weight
        h_order += sign * sign * weight
        softplus = max(x, 0.0) + np.log(1.0 + small)
        value += won * x
        value -= n * softplus
    return g, g_order, h, h_both, h_order, value


@compiled
def log_density(pair: Pair, z: float) -> float:
    """Return the log density of a pair's duels and `z`, up to the constant of its prior."""
    odds = odds_of(pair, z)
    value = duels_of(pair, odds)[5]
    return float(value - 0.5 * z * z)


@compiled
def mode_of(pair: Pair, start: float) -> tuple[float, float, float]:
    """Return the mode of `z` given the scores, the log density, the deviation by the curvature.

    That of ``RANKS`` may be negative, where the log contradicts the order.
    """
    z = start
    here = log_density(pair, z)
    information = 1.0
    # 40 Newton steps at most; the densities of pairs take 3 to 8
    for _ in range(40):
        odds = odds_of(pair, z)
        g, _, h, _, _, _ = duels_of(pair, odds)
        slope = slope_of(pair, z)
        gradient = g * slope - z
        # Of an uneven pair the odds bend as well, which may make the density convex: left out then.
        information = h * slope * slope + 1.0
        if pair.kind == UNEVEN:
            bent = information - g * pair.spread * slope
            information = max(bent, 0.25 * information)
        step = gradient / information
        # The last step of z, in its own standard deviations: the rule corrects what is left
        if abs(step) * np.sqrt(information) < 1e-4:
            break
        there = here
        # 20 halvings of one step at most: it is then a millionth of itself
        for _ in range(20):
            there = log_density(pair, z + step)
            if there >= here:
                break
            step *= 0.5
        z += step
        here = there
    return z, here, 1.0 / np.sqrt(information)


@compiled
def end_of(pair: Pair, z: float, top: float, width: float) -> float:
    """Return where the density of a pair ends, on one side of `z`, its highest place.

    top: log density there. width: a first guess at the deviation; below 0 for the lower end.
    """
    reach = width * np.sqrt(2.0 * DEPTH)
    near = 0.0
    far = 0.0  # not found yet
    # It takes one step for a normal density, and 40 at most; of 800 densities the longest took 13
    for _ in range(40):
        drop = top - log_density(pair, z + reach)
        if 0.8 * DEPTH < drop < 1.25 * DEPTH:  # near enough
            break
        if drop < DEPTH:
            near = reach
        else:
            far = reach
        if near != 0.0 and far != 0.0:
            reach = 0.5 * (near + far)
        else:  # as if the density fell with the square of the distance, but 4 times as far at most
            fallen = max(drop, DEPTH / 4.0**2)
            factor = np.sqrt(DEPTH / fallen)
            reach *= max(factor, 1.0 / 4.0)
    return float(z + reach)


@compiled
def reach_of(pair: Pair, start: float) -> Reach:
    """Return where the density of `z` is, whose mode is searched from `start`.

    Of ``RANKS`` only 0 and more is looked at, the side that `d` leads.
    """
    mode, top, width = mode_of(pair, start)
    highest = mode
    if pair.kind == RANKS and mode < 0.0:
        highest = 0.0
        top = log_density(pair, 0.0)
    high = end_of(pair, highest, top, width)
    low = end_of(pair, highest, top, -width)
    if pair.kind == RANKS:
        low = max(low, 0.0)
    return Reach(mode, highest, low, high, top)


@compiled
def point_of(reach: Reach, k: int) -> tuple[float, float]:
    """Return point `k` of the rule for both sides of the highest place, and its weight."""
    end = reach.high if k % 2 else reach.low
    width = end - reach.highest
    number = k // 2  # on its side
    z = reach.highest + width * POINT[number]
    return z, WEIGHT[number] * abs(width)


@compiled
def averaged(pair: Pair, reach: Reach) -> tuple[float, float, float, float, float, float]:
    """Return what :func:`duels_of` does in the scores, with `z` integrated out."""
    mass = 0.0
    g = 0.0
    g_order = 0.0
    h = 0.0
    h_both = 0.0
    h_order = 0.0
    for k in range(2 * POINTS):
        z, weight = point_of(reach, k)
        odds = odds_of(pair, z)
        a, b, aa, ab, bb, log = duels_of(pair, odds)
        if pair.kind == UNEVEN:  # derivatives in `d` in place of the odds
            factor = np.exp(pair.spread * z)
            a *= factor
            ab *= factor
            aa *= factor * factor
        density = np.exp(log - 0.5 * z * z - reach.top)
        share = density * weight
        mass += share
        g += share * a
        g_order += share * b
        h += share * (aa - a * a)
        h_both += share * (ab - a * b)
        h_order += share * (bb - b * b)
    g /= mass
    g_order /= mass
    h = h / mass + g * g
    h_both = h_both / mass + g * g_order
    h_order = h_order / mass + g_order * g_order
    mean = mass / np.sqrt(2.0 * np.pi)
    value = reach.top + np.log(mean)
    return g, g_order, h, h_both, h_order, value


@compiled
def of_scores(
    kind: int,
    first: np.ndarray,
    second: np.ndarray,
    n: np.ndarray,
    won: np.ndarray,
    coefficients: np.ndarray,
    spread: float,
    modes: np.ndarray,
    gradient: np.ndarray,
    information: np.ndarray,
) -> float:
    """Return the log likelihood of the scores and the side advantage, the last of `coefficients`.

    `gradient` (K + 1,) and the lower triangle of `information` (K + 1, K + 1), minus the second
    derivatives, are filled; `modes` (pairs,) are where the search of each pair starts, and are
    brought up to date. n, won: shape (pairs, 3), duels by `SIDES` and those that went to the first
    arm, which is before the second, `first` < `second`.
    """
    total = 0.0
    gradient[:] = 0.0
    information[:] = 0.0
    for place in range(len(first)):
        i = first[place]
        j = second[place]
        pair = pair_of(kind, coefficients, spread, i, j, n[place], won[place])
        if kind == ONE_SCORE:
            g, g_order, h, h_both, h_order, value = duels_of(pair, pair.d)
        else:
            reach = reach_of(pair, modes[place])
            modes[place] = reach.mode
            g, g_order, h, h_both, h_order, value = averaged(pair, reach)
        total += value
        gradient[i] += g
        gradient[j] -= g
        gradient[-1] += g_order
        information[i, i] += h
        information[j, j] += h
        information[j, i] -= h
        information[-1, i] += h_both
        information[-1, j] -= h_both
        information[-1, -1] += h_order
    return total


@compiled
def of_ranks(n: np.ndarray, won: np.ndarray, spread: float, order: float) -> np.ndarray:
    """Return log probabilities of each pair's duels, (pairs, 2), if its first arm is better, worse.

    n, won: as in :func:`of_scores`.
    """
    found = np.empty((len(n), 2))
    for place in range(len(n)):
        for side in range(2):
            pair = Pair(RANKS, SIDES[side], spread, order, n[place], won[place])
            found[place, side] = of_side(pair)
    return found


@compiled
def of_side(pair: Pair) -> float:
    """Return the log probability of a pair's duels by ``RANKS``, if the arm that `d` says leads."""
    reach = reach_of(pair, 0.0)
    mass = 0.0
    for k in range(2 * POINTS):
        z, weight = point_of(reach, k)
        density = np.exp(log_density(pair, z) - reach.top)
        mass += density * weight
    mean = mass * np.sqrt(2.0 / np.pi)
    return float(reach.top + np.log(mean))


@compiled
def draw_odds(
    kind: int,
    first: np.ndarray,
    second: np.ndarray,
    n: np.ndarray,
    won: np.ndarray,
    coefficients: np.ndarray,
    spread: float,
    exceptions: float,
    modes: np.ndarray,
    uniform: np.ndarray,
    normal: np.ndarray,
) -> np.ndarray:
    """Return log odds of all pairs of arms, shape (K, K), given scores and the side advantage.

    Those of a pair that met follow its duels, by its own place in `uniform` (pairs,); those of
    a pair that never met the population, by `normal` (K, K). exceptions: probability that a pair
    goes against the order, of ``RANKS``. The others as in :func:`of_scores`.
    """
    n_arms = len(coefficients) - 1
    odds = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            z = normal[i, j]
            if kind == RANKS:
                deviations = normal[j, i] / np.sqrt(2.0)
                level = 0.5 * (1.0 + erf(deviations))
                z = -abs(z) if level < exceptions else abs(z)
            pair = pair_of(kind, coefficients, spread, i, j, NO_DUELS, NO_DUELS)
            odds[i, j] = odds_of(pair, z)
    if kind == ONE_SCORE:
        return odds - odds.T
    for place in range(len(first)):
        i = first[place]
        j = second[place]
        pair = pair_of(kind, coefficients, spread, i, j, n[place], won[place])
        odds[i, j] = draw_met(pair, exceptions, modes, place, uniform[place])
    return odds - odds.T


@compiled
def draw_met(pair: Pair, exceptions: float, modes: np.ndarray, place: int, level: float) -> float:
    """Return the quantile at `level` of the log odds of a pair that met.

    Of ``RANKS`` levels below the probability of an exception, given the duels, are exceptions.
    """
    if pair.kind == RANKS and exceptions > 0.0:
        turned = Pair(pair.kind, -pair.d, pair.spread, pair.order, pair.n, pair.won)
        gain = of_side(turned) - of_side(pair)
        odd = exceptions * np.exp(gain)
        odd /= odd + 1.0 - exceptions
        if level < odd:
            pair = turned
            level /= odd
        else:
            level = (level - odd) / (1.0 - odd)
    reach = reach_of(pair, modes[place])
    modes[place] = reach.mode
    z = quantile_of(pair, reach, level)
    return odds_of(pair, z)


@compiled
def quantile_of(pair: Pair, reach: Reach, level: float) -> float:
    """Return the quantile of a pair's `z` given scores, from a grid on each side."""
    start = reach.highest
    widths = (reach.low - start, reach.high - start)
    density = np.empty((2, CELLS + 1))
    mass = np.zeros(2)
    for side in range(2):
        width = widths[side]
        grid = density[side]
        for k in range(CELLS + 1):
            z = start + width * k / CELLS
            log = log_density(pair, z)
            # Least density of a grid, whose logarithm is finite: 1e-300
            grid[k] = max(np.exp(log - reach.top), 1e-300)
        for k in range(CELLS):
            cell = _cell(grid[k], grid[k + 1])
            mass[side] += abs(width) * cell
    below = mass[0] / (mass[0] + mass[1])
    if level < below:
        share = _from_grid(density[0], level / below)
        return start + widths[0] * share
    above = (level - below) / (1.0 - below)
    share = _from_grid(density[1], above)
    return start + widths[1] * share


@compiled
def _cell(here: float, there: float) -> float:
    """Return the mass of a cell of one step, whose density is exponential between its ends."""
    fall = np.log(here / there)
    if abs(fall) < FLAT:
        return 0.5 * (here + there)
    return (here - there) / fall


@compiled
def _from_grid(density: np.ndarray, level: float) -> float:
    """Return the quantile, in [0, 1], of a density given at equal steps, exponential between."""
    left = 0.0
    for k in range(CELLS):
        left += _cell(density[k], density[k + 1])
    left *= level
    for k in range(CELLS):
        here = density[k]
        there = density[k + 1]
        part = _cell(here, there)
        if left <= part or k == CELLS - 1:
            share = min(left / part, 1.0)
            fall = np.log(here / there)
            inside = share
            if abs(fall) >= FLAT:
                fallen = share * np.expm1(-fall)
                inside = -np.log1p(fallen) / fall
            return (k + min(inside, 1.0)) / CELLS
        left -= part
    return 1.0
