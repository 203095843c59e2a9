"""Thompson sampling of items: grouped draws."""

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.beliefs.item_belief import ItemSet
from tests.support.item_beliefs import counted

pytestmark = pytest.mark.plain


def test_grouped_draws_of_new_items_have_the_law_of_single_ones():
    """Thompson sampling over 3 items shown and 7 new ones: how often each is chosen."""
    policy = bd.policies.ThompsonBeta()
    counts = np.zeros(10)
    n = 4000
    belief = counted(m=10)
    belief.pulls[:], belief.successes[:] = 0, 0
    belief.pulls[:3], belief.successes[:3] = [8, 4, 2], [7, 3, 1]
    memory = policy.init(ItemSet(*belief[:3]))
    belief.last[0], memory.n_shown[0] = 0, 3
    rng = np.random.default_rng(1)
    for _ in range(n):
        counts[policy.select(belief, memory, 15, rng)] += 1
    plain = np.random.default_rng(2).beta(
        1 + belief.successes, 1 + belief.pulls - belief.successes, (400_000, 10)
    )
    law = np.bincount(plain.argmax(axis=1), minlength=10) / 400_000
    assert stats.chisquare(counts, law * n).pvalue > 1e-6
