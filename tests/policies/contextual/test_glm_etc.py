"""Settings of GLMETC."""

import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import Counts

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.GLMETC(belief=Counts()), r"should be Logistic\(\), got Counts"),
        (lambda: bd.GLMETC(schedule="fast"), "schedule should be one of"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
