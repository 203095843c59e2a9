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

import numpy as np

from bayesduel.jit import compiled

__all__ = ["FREE", "ONE_SCORE", "RANKS", "SIDES", "UNEVEN", "draw_odds", "of_ranks", "of_scores"]

ONE_SCORE = 0
UNEVEN = 1
FREE = 2
RANKS = 3
SIDES = (1.0, -1.0, 0.0)  # which arm of a pair a cell lists first: the first, the second, neither
NEWTON_STEPS = 40  # at most; the densities of pairs take 3 to 8
HALVINGS = 20  # of one step, at most: it is then a millionth of itself
CLOSE = 1e-4  # step of z, in its own standard deviations: the rule corrects what is left
# Nats below its mode at which a density ends, about: 5 standard deviations of a normal one, 1e-5 of
# the mass of an exponential one.
DEPTH = 12.5
SHALLOW = 0.8  # of `DEPTH`, and
DEEP = 1.25  # where the search of an end stops: it takes one step for a normal density
FARTHER = 4.0  # at most, of one step of that search
END_STEPS = 40  # at most; of 800 densities the longest took 13
# Cells of the grid from which z is drawn on one side of the mode, with exponential functions
# between their ends: quantiles of a normal density to 0.005 deviations.
CELLS = 16
FLAT = 1e-6  # fall of a logarithm over a cell, below which the mean of its ends is as exact


@compiled
def odds_of(kind: int, z: float, d: float, spread: float) -> float:
    """Return the log odds of a pair on neutral ground."""
    if kind == UNEVEN:
        return d * float(np.exp(spread * z))
    if kind == RANKS:
        return float(np.sign(d)) * spread * z
    return d + spread * z


@compiled
def slope_of(kind: int, z: float, d: float, spread: float) -> float:
    """Return the derivative of the log odds of a pair in `z`."""
    if kind == UNEVEN:
        return spread * d * float(np.exp(spread * z))
    if kind == RANKS:
        return float(np.sign(d)) * spread
    return spread


@compiled
def duels_of(
    odds: float, order: float, n: np.ndarray, won: np.ndarray
) -> tuple[float, float, float, float, float, float]:
    """Return derivatives of the log likelihood of a pair's duels, and the log likelihood.

    Those in the odds and in the order effect; minus the second ones in the odds, in both, in the
    order effect. n, won: by `SIDES`. What a caller does not read is not computed: it is inlined.
    """
    g = g_order = h = h_both = h_order = value = 0.0
    for side in range(3):
        if n[side] == 0.0:
            continue
        sign = SIDES[side]
        x = odds + sign * order
        small = np.exp(-abs(x))
        chance = (1.0 if x > 0.0 else small) / (1.0 + small)
        left = won[side] - n[side] * chance
        weight = n[side] * chance * (1.0 - chance)
        g += left
        g_order += sign * left
        h += weight
        h_both += sign * weight
        h_order += sign * sign * weight
        value += won[side] * x - n[side] * (max(x, 0.0) + np.log(1.0 + small))
    return g, g_order, h, h_both, h_order, value


@compiled
def log_density(
    kind: int, z: float, d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray
) -> float:
    """Return the log density of a pair's duels and `z`, up to the constant of its prior."""
    value = duels_of(odds_of(kind, z, d, spread), order, n, won)[5]
    return float(value - 0.5 * z * z)


@compiled
def mode_of(
    kind: int, start: float, d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray
) -> tuple[float, float, float]:
    """Return the mode of `z` given the scores, the log density, the deviation by the curvature.

    That of ``RANKS`` may be negative, where the log contradicts the order.
    """
    z = start
    here = log_density(kind, z, d, spread, order, n, won)
    information = 1.0
    for _ in range(NEWTON_STEPS):
        g, _, h, _, _, _ = duels_of(odds_of(kind, z, d, spread), order, n, won)
        slope = slope_of(kind, z, d, spread)
        gradient = g * slope - z
        # Of an uneven pair the odds bend as well, which may make the density convex: left out then.
        information = h * slope * slope + 1.0
        if kind == UNEVEN:
            bent = information - g * spread * slope
            information = max(bent, 0.25 * information)
        step = gradient / information
        if abs(step) * np.sqrt(information) < CLOSE:
            break
        there = here
        for _ in range(HALVINGS):
            there = log_density(kind, z + step, d, spread, order, n, won)
            if there >= here:
                break
            step *= 0.5
        z += step
        here = there
    return z, here, 1.0 / np.sqrt(information)


@compiled
def end_of(
    kind: int, z: float, top: float, width: float, d: float, spread: float, order: float,
    n: np.ndarray, won: np.ndarray,
) -> float:  # fmt: skip
    """Return where the density of a pair ends, on one side of `z`, its highest place.

    top: log density there. width: a first guess at the deviation; below 0 for the lower end.
    """
    reach = width * np.sqrt(2.0 * DEPTH)
    near = 0.0
    far = 0.0  # not found yet
    for _ in range(END_STEPS):
        drop = top - log_density(kind, z + reach, d, spread, order, n, won)
        if SHALLOW * DEPTH < drop < DEEP * DEPTH:
            break
        if drop < DEPTH:
            near = reach
        else:
            far = reach
        if near != 0.0 and far != 0.0:
            reach = 0.5 * (near + far)
        else:  # as if the density fell with the square of the distance
            factor = np.sqrt(DEPTH / max(drop, DEPTH / FARTHER**2))
            reach *= max(factor, 1.0 / FARTHER)
    return float(z + reach)


@compiled
def ends_of(
    kind: int, start: float, d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray
) -> tuple[float, float, float, float, float]:
    """Return the free mode of `z`, its highest place, both ends and the log density at the highest.

    Of ``RANKS`` only 0 and more is looked at, the side that `d` leads.
    """
    mode, top, width = mode_of(kind, start, d, spread, order, n, won)
    highest = mode
    if kind == RANKS and mode < 0.0:
        highest = 0.0
        top = log_density(kind, 0.0, d, spread, order, n, won)
    high = end_of(kind, highest, top, width, d, spread, order, n, won)
    low = end_of(kind, highest, top, -width, d, spread, order, n, won)
    if kind == RANKS:
        low = max(low, 0.0)
    return mode, highest, low, high, top


@compiled
def of_scores(
    kind: int, first: np.ndarray, second: np.ndarray, n: np.ndarray, won: np.ndarray,
    coefficients: np.ndarray, spread: float, modes: np.ndarray,
    points: np.ndarray, weights: np.ndarray, gradient: np.ndarray, information: np.ndarray,
) -> float:  # fmt: skip
    """Return the log likelihood of the scores and the order effect, the last of `coefficients`.

    `gradient` (K + 1,) and `information` (K + 1, K + 1), minus the second derivatives, are filled;
    `modes` (pairs,) are where the search of each pair starts, and are brought up to date. n, won:
    shape (pairs, 3), duels by `SIDES` and those that went to the first arm. points, weights: a rule
    for the interval from 0 to 1.
    """
    total = 0.0
    gradient[:] = 0.0
    information[:] = 0.0
    order = coefficients[-1]
    last = len(coefficients) - 1
    for pair in range(len(first)):
        i = first[pair]
        j = second[pair]
        d = coefficients[i] - coefficients[j]
        if kind == ONE_SCORE:
            g, g_order, h, h_both, h_order, value = duels_of(d, order, n[pair], won[pair])
        else:
            g = g_order = h = h_both = h_order = mass = 0.0
            mode, highest, low, high, top = ends_of(
                kind, modes[pair], d, spread, order, n[pair], won[pair]
            )
            modes[pair] = mode
            for k in range(2 * len(points)):
                reach = (high if k % 2 else low) - highest
                x = highest + reach * points[k // 2]
                factor = np.exp(spread * x) if kind == UNEVEN else 1.0
                odds = d * factor if kind == UNEVEN else d + spread * x
                a, b, aa, ab, bb, log = duels_of(odds, order, n[pair], won[pair])
                share = np.exp(log - 0.5 * x * x - top) * weights[k // 2] * abs(reach)
                a *= factor
                mass += share
                g += share * a
                g_order += share * b
                h += share * (aa * factor * factor - a * a)
                h_both += share * (ab * factor - a * b)
                h_order += share * (bb - b * b)
            g /= mass
            g_order /= mass
            h = h / mass + g * g
            h_both = h_both / mass + g * g_order
            h_order = h_order / mass + g_order * g_order
            value = top + np.log(mass / np.sqrt(2.0 * np.pi))
        total += value
        gradient[i] += g
        gradient[j] -= g
        gradient[last] += g_order
        information[i, i] += h
        information[j, j] += h
        information[i, j] -= h
        information[j, i] -= h
        information[i, last] += h_both
        information[last, i] += h_both
        information[j, last] -= h_both
        information[last, j] -= h_both
        information[last, last] += h_order
    return total


@compiled
def of_ranks(
    n: np.ndarray, won: np.ndarray, spread: float, order: float,
    points: np.ndarray, weights: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return log probabilities of each pair's duels, (pairs, 2), if its first arm is better, worse.

    points, weights: a rule for the interval from 0 to 1.
    """
    found = np.empty((len(n), 2))
    for pair in range(len(n)):
        for side in range(2):
            found[pair, side] = of_side(
                SIDES[side], spread, order, n[pair], won[pair], points, weights
            )
    return found


@compiled
def of_side(
    d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray,
    points: np.ndarray, weights: np.ndarray,
) -> float:  # fmt: skip
    """Return the log probability of a pair's duels by ``RANKS``, if the arm that `d` says leads."""
    _, highest, low, high, top = ends_of(RANKS, 0.0, d, spread, order, n, won)
    mass = 0.0
    for k in range(2 * len(points)):
        reach = (high if k % 2 else low) - highest
        z = highest + reach * points[k // 2]
        log = log_density(RANKS, z, d, spread, order, n, won)
        mass += np.exp(log - top) * weights[k // 2] * abs(reach)
    return float(top + np.log(mass * np.sqrt(2.0 / np.pi)))


@compiled
def draw_odds(
    kind: int, first: np.ndarray, second: np.ndarray, n: np.ndarray, won: np.ndarray,
    coefficients: np.ndarray, spread: float, exceptions: float, modes: np.ndarray,
    uniform: np.ndarray, normal: np.ndarray, points: np.ndarray, weights: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return log odds of all pairs of arms, shape (K, K), given scores and the order effect.

    Those of a pair that met follow its duels, by its own place in `uniform` (pairs,); those of
    a pair that never met the population, by `normal` (K, K). exceptions: probability that a pair
    goes against the order, of ``RANKS``. `modes`, `points` and `weights` as in `of_scores`.
    """
    n_arms = len(coefficients) - 1
    order = coefficients[-1]
    odds = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            d = coefficients[i] - coefficients[j]
            z = normal[i, j]
            if kind == RANKS:
                level = 0.5 * (1.0 + erf(normal[j, i] / np.sqrt(2.0)))
                z = -abs(z) if level < exceptions else abs(z)
            odds[i, j] = odds_of(kind, z, d, spread)
    density = np.empty(CELLS + 1)
    if kind != ONE_SCORE:
        for pair in range(len(first)):
            i = first[pair]
            j = second[pair]
            d = coefficients[i] - coefficients[j]
            level = float(uniform[pair])
            if kind == RANKS and exceptions > 0.0:
                with_it = of_side(d, spread, order, n[pair], won[pair], points, weights)
                against = of_side(-d, spread, order, n[pair], won[pair], points, weights)
                odd = exceptions * np.exp(against - with_it)
                odd /= odd + 1.0 - exceptions
                if level < odd:
                    d = -d
                    level /= odd
                else:
                    level = (level - odd) / (1.0 - odd)
            z = draw_own(kind, d, spread, order, n[pair], won[pair], modes, pair, level, density)
            odds[i, j] = odds_of(kind, z, d, spread)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            odds[j, i] = -odds[i, j]
    return odds


@compiled
def draw_own(
    kind: int, d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray,
    modes: np.ndarray, pair: int, level: float, density: np.ndarray,
) -> float:  # fmt: skip
    """Return the quantile of a pair's `z` given scores; `density` is room for a side's grid."""
    mode, highest, low, high, top = ends_of(kind, modes[pair], d, spread, order, n, won)
    modes[pair] = mode
    mass = np.zeros(2)
    for side in range(2):
        reach = (high if side else low) - highest
        _fill(density, kind, highest, reach, top, d, spread, order, n, won)
        for k in range(CELLS):
            mass[side] += abs(reach) * _cell(density[k], density[k + 1])
    part = mass[0] / (mass[0] + mass[1])
    if level < part:
        reach = low - highest
        _fill(density, kind, highest, reach, top, d, spread, order, n, won)
        return highest + reach * _from_grid(density, level / part)
    return highest + reach * _from_grid(density, (level - part) / (1.0 - part))


@compiled
def _fill(
    density: np.ndarray, kind: int, highest: float, reach: float, top: float,
    d: float, spread: float, order: float, n: np.ndarray, won: np.ndarray,
) -> None:  # fmt: skip
    """Write the density at equal steps from the highest place to `reach` from it."""
    for k in range(CELLS + 1):
        z = highest + reach * k / CELLS
        log = log_density(kind, z, d, spread, order, n, won)
        density[k] = max(np.exp(log - top), 1e-300)


@compiled
def _cell(here: float, there: float) -> float:
    """Return the mass of a cell of one step, whose density is exponential between its ends."""
    fall = np.log(here / there)
    return 0.5 * (here + there) if abs(fall) < FLAT else (here - there) / fall


@compiled
def _from_grid(density: np.ndarray, level: float) -> float:
    """Return the quantile, in [0, 1], of a density given at equal steps, exponential between."""
    left = 0.0
    for k in range(CELLS):
        left += _cell(density[k], density[k + 1])
    left *= level
    for k in range(CELLS):
        here = density[k]
        part = _cell(here, density[k + 1])
        if left <= part or k == CELLS - 1:
            fall = np.log(here / density[k + 1])
            share = min(left / part, 1.0)
            inside = share if abs(fall) < FLAT else -np.log1p(share * np.expm1(-fall)) / fall
            return (k + min(inside, 1.0)) / CELLS
        left -= part
    return 1.0
