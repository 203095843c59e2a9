"""Duels of items for information."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import ItemSet
from tests.support.item_beliefs import believed

pytestmark = pytest.mark.plain


def test_information_duels_end_with_the_best_item_alone():
    """Where nothing may beat the champion it duels itself, which costs nothing."""
    policy = bd.policies.LogisticDuelThompson(challenger="information")
    belief = believed(m=50)
    belief.covariance[:] = 1e-8 * np.eye(4)
    named = policy.select(belief, policy.init(ItemSet(*belief[:3])), 10, np.random.default_rng(0))
    best = (belief.attributes @ belief.mode).argmax()
    assert named == (best, best)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.policies.LogisticDuelThompson(challenger="best"), "challenger should be"),
        (lambda: bd.policies.LogisticDuelThompson(alpha=-1), "alpha should be > 0, got -1"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
