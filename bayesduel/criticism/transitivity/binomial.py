"""Binomial draws by inversion, compiled.

References
----------
Kachitvichyanukul & Schmeiser, "Binomial random variate generation", Communications of the ACM 1988
(algorithm BINV). Deviation: compiled for a chance of its own in each cell it takes less time than
NumPy's algorithms up to `MOST` duels; there are NumPy's beyond.
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["binomial"]

MOST = 200  # from here NumPy's rejection takes no longer (measured)


@compiled
def binomial(n, chance, rng):
    """Return successes, float, shape (draws, cells), of `n` trials (cells,) with these chances."""
    found = np.empty(chance.shape)
    for draw in range(len(chance)):
        for cell in range(len(n)):
            number, p = n[cell], chance[draw, cell]
            if number > MOST:
                found[draw, cell] = rng.binomial(number, p)
                continue
            rare = min(p, 1.0 - p)
            mass, odds, level, k = (1.0 - rare) ** number, rare / (1.0 - rare), rng.random(), 0
            while level > mass and k < number:
                level -= mass
                k += 1
                mass *= odds * (number - k + 1) / k
            found[draw, cell] = k if p <= 0.5 else number - k
    return found
