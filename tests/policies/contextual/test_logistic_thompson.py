"""Settings of LogisticThompson."""

import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import Counts

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: bd.policies.LogisticThompson(belief=Counts()),
            r"should be Logistic\(\), got Counts",
        ),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
