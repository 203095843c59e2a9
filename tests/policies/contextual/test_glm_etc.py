"""Settings and schedules of GLMETC."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import Counts, ItemSet
from bayesduel.policies.contextual.epoch_schedule import SCHEDULES

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.policies.GLMETC(belief=Counts()), r"should be Logistic\(\), got Counts"),
        (lambda: bd.policies.GLMETC(schedule="fast"), "schedule should be one of"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("sphere", [False, True])
def test_schedules_and_their_defaults_are_those_of_two_phase(sphere):
    items = ItemSet(np.asfortranarray(np.eye(2)), np.ones(1), sphere)
    for name in (None, *SCHEDULES):
        one, other = (
            make(schedule=name).init(items) for make in (bd.policies.GLMETC, bd.policies.TwoPhase)
        )
        assert one.schedule[:2] == other.schedule[:2], name
