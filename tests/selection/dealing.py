"""Margins for tests: drawn from scores on a line, or laid down by hand."""

import numpy as np

from bayesduel.selection import no_margins, record_margin


def dealt(n_arms, per_pair, seed, d=0.0):
    """`per_pair` margins of every pair, ``N(gamma_i - gamma_j + d eps, sigma_ij^2)``."""
    rng = np.random.default_rng(seed)
    gamma = rng.random(n_arms)
    margins = no_margins(n_arms)
    rows = []
    for i in range(n_arms):
        for j in range(i):
            mean, sd = gamma[i] - gamma[j] + d * rng.standard_normal(), rng.random()
            for margin in rng.normal(mean, sd, per_pair):
                record_margin(margins, i, j, margin)
                rows.append((i, j, margin))
    return margins, np.array(rows)


def frozen(margins):
    """The same margins, which refuse to be written."""
    for array in margins:
        array.setflags(write=False)
    return margins
