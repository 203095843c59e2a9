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
# curvature at the mode. Beside a grid of 2,001 points over 12, the mean of z differs by less than
# 0.001 and its deviation by less than 0.3 % (0 of 1 to 40 duels won, spread 0.1 to 3).
GRID = 49
REACH = 6.0


@compiled
def softplus(x: float) -> float:
    """Return log(1 + exp(x))."""
    if x > 0.0:
        return x + np.log1p(np.exp(-x))
    return float(np.log1p(np.exp(x)))


@compiled
def odds_of(kind: int, z: float, d: float, spread: float) -> float:
    """Return the log odds of a pair on neutral ground."""
    if kind == UNEVEN:
        return d * float(np.exp(spread * z))
    return d + spread * z


@compiled
def duels_of(odds: float, order: float, n: np.ndarray, won: np.ndarray, told: np.ndarray) -> None:
    """Fill the last array with the log likelihood of a pair's duels and its derivatives.

    Those in the odds (0) and in the order effect (1), and minus the second ones: in the odds, in
    both, in the order effect (2 to 4); the log likelihood comes last (5). n, won: by `SIDES`.
    """
    told[:] = 0.0
    for side in range(3):
        if n[side] == 0.0:
            continue
        sign = SIDES[side]
        x = odds + sign * order
        chance = 1.0 / (1.0 + np.exp(-x))
        left = won[side] - n[side] * chance
        weight = n[side] * chance * (1.0 - chance)
        told[0] += left
        told[1] += sign * left
        told[2] += weight
        told[3] += sign * weight
        told[4] += sign * sign * weight
        told[5] += won[side] * x - n[side] * softplus(x)


@compiled
def log_density(
    kind: int, z: float, d: float, spread: float, order: float,
    n: np.ndarray, won: np.ndarray, told: np.ndarray,
) -> float:  # fmt: skip
    """Return the log density of a pair's duels and `z`, up to the constant of its prior."""
    duels_of(odds_of(kind, z, d, spread), order, n, won, told)
    return float(told[5] - 0.5 * z * z)


@compiled
def mode_of(
    kind: int, start: float, d: float, spread: float, order: float,
    n: np.ndarray, won: np.ndarray, told: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """Return the mode of `z` given the scores, and its standard deviation by the curvature."""
    z = start
    here = log_density(kind, z, d, spread, order, n, won, told)
    information = 1.0
    for _ in range(NEWTON_STEPS):
        size = d * np.exp(spread * z)
        slope = spread * size if kind == UNEVEN else spread
        gradient = told[0] * slope - z
        # Of an uneven pair the odds bend as well, which may make the density convex: left out then.
        information = told[2] * slope * slope + 1.0
        if kind == UNEVEN:
            bent = information - told[0] * spread * slope
            information = max(bent, 0.25 * information)
        step = gradient / information
        if abs(step) * np.sqrt(information) < CLOSE:
            break
        for _ in range(HALVINGS):
            there = log_density(kind, z + step, d, spread, order, n, won, told)
            if there >= here:
                break
            step *= 0.5
        z += step
        here = there
    return z, 1.0 / np.sqrt(information)


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
    told = np.empty(6)
    logs = np.empty(len(points))
    at = np.empty((len(points), 6))
    for pair in range(len(first)):
        i = first[pair]
        j = second[pair]
        d = coefficients[i] - coefficients[j]
        value = g = g_order = h = h_both = h_order = 0.0
        if kind == ONE_SCORE:
            duels_of(d, order, n[pair], won[pair], told)
            g, g_order, h, h_both, h_order, value = told
        else:
            z, width = mode_of(kind, modes[pair], d, spread, order, n[pair], won[pair], told)
            modes[pair] = z
            for k in range(len(points)):
                x = z + np.sqrt(2.0) * width * points[k]
                logs[k] = log_density(kind, x, d, spread, order, n[pair], won[pair], told)
                logs[k] += weights[k]
                factor = np.exp(spread * x) if kind == UNEVEN else 1.0
                at[k, 0] = told[0] * factor
                at[k, 1] = told[1]
                at[k, 2] = told[2] * factor * factor
                at[k, 3] = told[3] * factor
                at[k, 4] = told[4]
            top = logs.max()
            mass = 0.0
            for k in range(len(points)):
                share = np.exp(logs[k] - top)
                mass += share
                g += share * at[k, 0]
                g_order += share * at[k, 1]
                h += share * (at[k, 2] - at[k, 0] * at[k, 0])
                h_both += share * (at[k, 3] - at[k, 0] * at[k, 1])
                h_order += share * (at[k, 4] - at[k, 1] * at[k, 1])
            g /= mass
            g_order /= mass
            h = h / mass + g * g
            h_both = h_both / mass + g * g_order
            h_order = h_order / mass + g_order * g_order
            value = top + np.log(mass) + np.log(width / np.sqrt(np.pi))
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
    coefficients: np.ndarray, spread: float, uniform: np.ndarray, normal: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return log odds of all pairs of arms, shape (K, K), given scores and the order effect.

    Those of a pair that met follow its duels, by its own place in `uniform` (pairs,); those of
    a pair that never met the population, by `normal` (K, K), upper part.
    """
    n_arms = len(coefficients) - 1
    order = coefficients[-1]
    odds = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            d = coefficients[i] - coefficients[j]
            odds[i, j] = odds_of(kind, normal[i, j], d, spread)
    told = np.empty(6)
    logs = np.empty(GRID)
    if kind != ONE_SCORE:
        for pair in range(len(first)):
            i = first[pair]
            j = second[pair]
            d = coefficients[i] - coefficients[j]
            z, width = mode_of(kind, 0.0, d, spread, order, n[pair], won[pair], told)
            step = 2.0 * REACH * width / (GRID - 1)
            low = z - REACH * width
            for k in range(GRID):
                at = low + k * step
                logs[k] = log_density(kind, at, d, spread, order, n[pair], won[pair], told)
            odds[i, j] = odds_of(kind, _from_grid(logs, low, step, uniform[pair]), d, spread)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            odds[j, i] = -odds[i, j]
    return odds


@compiled
def _from_grid(logs: np.ndarray, low: float, step: float, level: float) -> float:
    """Return the quantile of a density given at equal steps, linear between them."""
    density = np.exp(logs - logs.max())
    total = density.sum() - 0.5 * (density[0] + density[-1])
    left = level * total
    for k in range(len(density) - 1):
        part = 0.5 * (density[k] + density[k + 1])
        if left <= part or k == len(density) - 2:
            return low + (k + min(left / part, 1.0)) * step
        left -= part
    return low
