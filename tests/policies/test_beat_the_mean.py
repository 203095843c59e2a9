"""Beat the Mean by hand."""

from math import log, sqrt

import numpy as np
import pytest

from bayesduel.beliefs import record
from bayesduel.policies import BeatTheMean

pytestmark = pytest.mark.plain


def test_beat_the_mean_counts_a_duel_for_its_first_arm_only():
    policy = BeatTheMean(horizon=1000)
    belief, memory = policy.belief.init(4), policy.init(4)
    rng = np.random.default_rng(0)
    for t in range(1, 41):
        i, j = policy.select(belief, memory, t, rng)
        assert i != j
        record(belief, (i, j), 1.0)
    policy.select(belief, memory, 41, rng)
    assert memory.duels.sum() == memory.wins.sum() == 40
    assert memory.duels.sum(axis=1).tolist() == [10] * 4  # always the one with fewest


def test_beat_the_mean_removes_the_worst_with_every_duel_against_it():
    policy = BeatTheMean(horizon=1000, factor=1.0)

    def record_so_far(memory):
        memory.duels[:] = 20 - 20 * np.eye(3)
        memory.wins[:] = [[0, 18, 19], [2, 0, 15], [1, 5, 0]]
        memory.asked[:] = [0, 2, 0, 0]

    # After one more win of 0 over 2: means 38/41, 17/40, 6/40; radius sqrt(ln 6000 / 40) = 0.466
    # is too wide to tell 0.15 + 0.466 from 0.927 - 0.466.
    def told(policy):
        belief, memory = policy.belief.init(3), policy.init(3)
        record_so_far(memory)
        record(belief, (0, 2), 1.0)
        policy.select(belief, memory, 122, np.random.default_rng(0))
        return memory

    assert told(policy).active.all()
    assert sqrt(log(6000) / 40) == pytest.approx(0.466, abs=1e-3)
    # At factor 0.8 the radius is 0.373: 0.523 <= 0.554. Arm 2 goes.
    memory = told(BeatTheMean(horizon=1000, factor=0.8))
    assert memory.active.tolist() == [True, True, False]
    assert memory.duels[:, 2].tolist() == memory.wins[:, 2].tolist() == [0, 0, 0]
    assert memory.duels[0].tolist() == [0, 20, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BeatTheMean(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: BeatTheMean(gamma=0.5), "gamma should be at least 1, got 0.5"),
        (lambda: BeatTheMean(factor=0), "factor should be > 0, got 0"),
        (lambda: BeatTheMean().init(3), "horizon should be given outside a simulation"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
