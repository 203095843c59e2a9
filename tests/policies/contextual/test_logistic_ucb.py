"""Settings of LogisticUCB."""

import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import Counts

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.policies.LogisticUCB(alpha=0), "alpha should be > 0, got 0"),
        (lambda: bd.policies.LogisticUCB(belief=Counts()), r"should be Logistic\(\), got Counts"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
