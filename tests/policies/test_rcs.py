"""Hand-worked rounds of RCS."""

import numpy as np
import pytest

from bayesduel.beliefs import Hoeffding
from bayesduel.policies import RCS
from tests.support.asking import ask, remembered

pytestmark = pytest.mark.plain

SURE = 400.0


def test_rcs_crowns_a_sampled_condorcet_winner():
    # Arm 0 beats 1 and 2 in every draw; u_10 and u_20 are below u_00 = 1/2.
    wins = [[0, SURE, SURE], [0, 0, 5], [0, 5, 0]]
    assert ask(RCS(), wins, 1000) == {(0, 0): 60}
    _, memory = remembered(RCS(), wins, 1000)
    assert memory.crowned.tolist() == [1, 0, 0]


def test_rcs_without_one_takes_the_arm_crowned_least():
    def crowned(memory):
        memory.crowned[:] = [3, 1, 2]

    cycle = [[0, SURE, 0], [0, 0, SURE], [SURE, 0, 0]]
    # Champion 1; 0 beats it for sure, so u_01 is the largest.
    assert ask(RCS(), cycle, 1000, prepare=crowned) == {(1, 0): 60}
    _, memory = remembered(RCS(), cycle, 1000, prepare=crowned)
    assert memory.crowned.tolist() == [3, 2, 2]


def test_rcs_challenger_may_be_anyone_as_yet_unmet():
    counts = ask(RCS(), np.zeros((3, 3)), 1, seeds=range(300))
    assert all(i != j for i, j in counts)  # u_jc is infinite where j and c never met
    assert len(counts) == 6


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"alpha should be > 0.5, got 0.4"):
        RCS(alpha=0.4)
    with pytest.raises(ValueError, match="belief of RCS should be"):
        RCS(belief=Hoeffding())
