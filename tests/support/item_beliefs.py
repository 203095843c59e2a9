"""Beliefs about items with some mode or counts, for tests."""

import numpy as np

from bayesduel.beliefs.item_belief import Counts, ItemSet, Logistic


def believed(m=1300, n=4, seed=0, values=None):
    """A belief with some mode and covariance; more items than fit in a block."""
    rng = np.random.default_rng(seed)
    given = np.ones(1) if values is None else values
    belief = Logistic().init(ItemSet(np.asfortranarray(rng.standard_normal((m, n))), given, False))
    belief.mode[:] = rng.standard_normal(n)
    root = rng.standard_normal((n, n))
    belief.covariance[:] = root @ root.T + np.eye(n)
    return belief


def counted(values=None, m=40, seed=0):
    rng = np.random.default_rng(seed)
    given = np.ones(1) if values is None else values
    belief = Counts().init(ItemSet(np.asfortranarray(rng.standard_normal((m, 2))), given, False))
    belief.pulls[:] = rng.integers(1, 60, m)
    belief.successes[:] = rng.binomial(belief.pulls, rng.random(m))
    belief.n_pulls[0] = belief.pulls.sum()
    belief.last[0] = rng.integers(m)
    return belief
