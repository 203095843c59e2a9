"""What a pair's duels say of two scores, with what is the pair's own integrated out.

The log odds of a pair are ``d`` by scores alone. Three models say what they are in truth:

- ``ONE_SCORE``: ``d``.
- ``UNEVEN``: ``d * exp(spread * z)``: margins differ from pair to pair in size, never in sign.
- ``FREE``: ``d + spread * z``: each pair has a residual, so that cycles are possible.

``z`` is standard normal, one for each pair, whatever the number of its duels. Its integral is a
Gauss-Hermite rule about the mode of the pair's own density, on the scale of its curvature there.

References
----------
Liu & Pierce, "A note on Gauss-Hermite quadrature", Biometrika 1994 (the adaptive rule).
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["FREE", "ONE_SCORE", "SIDES", "UNEVEN", "draw_odds", "of_scores"]

ONE_SCORE = 0
UNEVEN = 1
FREE = 2
SIDES = (1.0, -1.0, 0.0)  # which arm of a pair a cell lists first: the first, the second, neither
NEWTON_STEPS = 40  # at most; the densities of pairs take 3 to 8
HALVINGS = 20  # of one step, at most: it is then a millionth of itself
CLOSE = 1e-4  # step of z, in its own standard deviations: the rule corrects what is left
# Points of the grid from which z is drawn, and its half width in standard deviations by the
# curvature at the mode. Sums over equal steps below one deviation give the moments of a smooth
# density to 1e-8; lines between the points then add a sixth of the squared step to the variance,
# which `SHRINK` takes away again.
GRID = 13
REACH = 4.5
SHRINK = 1.0 / np.sqrt(1.0 + (2.0 * REACH / (GRID - 1)) ** 2 / 6.0)


@compiled
def odds_of(kind: int, z: float, d: float, spread: float) -> float:
    """Return the log odds of a pair on neutral ground."""
    if kind == UNEVEN:
        return d * float(np.exp(spread * z))
    return d + spread * z


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
    """Return the mode of `z` given the scores, the log density, the deviation by the curvature."""
    z = start
    here = log_density(kind, z, d, spread, order, n, won)
    information = 1.0
    for _ in range(NEWTON_STEPS):
        g, _, h, _, _, _ = duels_of(odds_of(kind, z, d, spread), order, n, won)
        slope = spread * d * np.exp(spread * z) if kind == UNEVEN else spread
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
def of_scores(
    kind: int, first: np.ndarray, second: np.ndarray, n: np.ndarray, won: np.ndarray,
    coefficients: np.ndarray, spread: float, modes: np.ndarray,
    points: np.ndarray, weights: np.ndarray, gradient: np.ndarray, information: np.ndarray,
) -> float:  # fmt: skip
    """Return the log likelihood of the scores and the order effect, the last of `coefficients`.

    `gradient` (K + 1,) and `information` (K + 1, K + 1), minus the second derivatives, are filled;
    `modes` (pairs,) are where the search of each pair starts, and are brought up to date. n, won:
    shape (pairs, 3), duels by `SIDES` and those that went to the first arm.
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
            z, top, width = mode_of(kind, modes[pair], d, spread, order, n[pair], won[pair])
            modes[pair] = z
            for k in range(len(points)):
                x = z + np.sqrt(2.0) * width * points[k]
                factor = np.exp(spread * x) if kind == UNEVEN else 1.0
                odds = d * factor if kind == UNEVEN else d + spread * x
                a, b, aa, ab, bb, log = duels_of(odds, order, n[pair], won[pair])
                share = np.exp(log - 0.5 * x * x - top + weights[k])
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
            value = top + np.log(mass * width / np.sqrt(np.pi))
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
def draw_odds(
    kind: int, first: np.ndarray, second: np.ndarray, n: np.ndarray, won: np.ndarray,
    coefficients: np.ndarray, spread: float, modes: np.ndarray,
    uniform: np.ndarray, normal: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return log odds of all pairs of arms, shape (K, K), given scores and the order effect.

    Those of a pair that met follow its duels, by its own place in `uniform` (pairs,); those of
    a pair that never met the population, by `normal` (K, K), upper part. `modes` as in `of_scores`.
    """
    n_arms = len(coefficients) - 1
    order = coefficients[-1]
    odds = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            d = coefficients[i] - coefficients[j]
            odds[i, j] = odds_of(kind, normal[i, j], d, spread)
    density = np.empty(GRID)
    if kind != ONE_SCORE:
        for pair in range(len(first)):
            i = first[pair]
            j = second[pair]
            d = coefficients[i] - coefficients[j]
            z, top, width = mode_of(kind, modes[pair], d, spread, order, n[pair], won[pair])
            modes[pair] = z
            for k in range(GRID):
                at = z + width * REACH * (2.0 * k / (GRID - 1) - 1.0)
                log = log_density(kind, at, d, spread, order, n[pair], won[pair])
                density[k] = np.exp(log - top)
            z += width * SHRINK * _from_grid(density, uniform[pair])
            odds[i, j] = odds_of(kind, z, d, spread)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            odds[j, i] = -odds[i, j]
    return odds


@compiled
def _from_grid(density: np.ndarray, level: float) -> float:
    """Return the quantile of a density given at equal steps from -REACH to REACH, lines between."""
    left = level * (density.sum() - 0.5 * (density[0] + density[-1]))
    step = 2.0 * REACH / (GRID - 1)
    for k in range(GRID - 1):
        here = density[k]
        rise = density[k + 1] - here
        part = here + 0.5 * rise
        if left <= part or k == GRID - 2:
            # of here * x + rise * x^2 / 2 = left, in a form without cancellation
            root = np.sqrt(max(here * here + 2.0 * rise * left, 0.0))
            return step * (k + min(2.0 * left / max(here + root, 1e-300), 1.0)) - REACH
        left -= part
    return REACH
