"""Rewards against random opponents."""

import numpy as np
import pytest

from bayesduel.beliefs import record
from bayesduel.policies import SAVAGE, UCB1, ActionElimination, BeatTheMean

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    "policy",
    [
        UCB1(),
        ActionElimination(horizon=1000),
        SAVAGE(criterion="borda", horizon=1000),
        BeatTheMean(horizon=1000),
    ],
    ids=lambda p: type(p).__name__,
)
def test_a_duel_is_counted_once_however_often_is_asked(policy):
    """Two arms: the pair just told is asked for again half of the time."""
    belief, memory = policy.belief.init(2), policy.init(2)
    rng = np.random.default_rng(0)

    def counted():
        rewards = getattr(memory, "rewards", memory)
        return rewards.duels.sum()

    for t in range(1, 41):
        for _ in range(3):
            i, j = policy.select(belief, memory, t, rng)
        assert counted() == t - 1
        record(belief, (i, j), 1.0)
