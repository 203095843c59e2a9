"""Hand-worked rounds of RCS and D-TS+."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.beliefs import Hoeffding
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.policies import DTS, RCS, DTSPlus
from bayesduel.policies.dts import confirmation_cost
from tests.support.asking import ask, remembered

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


def test_dts_plus_price_by_hand():
    drawn = np.array([[0.5, 0.8, 0.3], [0.2, 0.5, 0.6], [0.7, 0.4, 0.5]])
    wins = np.array([1, 1, 1])
    # A cycle: every duel of it costs max - mean = 1 - (1 + 1) / 2 = 0.
    assert confirmation_cost(0, drawn, wins) == 0
    drawn = np.array([[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]])
    wins = np.array([2, 1, 0])
    by_hand = (2 - 1.5) / divergence_from_half(0.8) + (2 - 1) / divergence_from_half(0.7)
    assert confirmation_cost(0, drawn, wins) == pytest.approx(by_hand)
    by_hand = (2 - 1.5) / divergence_from_half(0.2) + (2 - 0.5) / divergence_from_half(0.6)
    assert confirmation_cost(1, drawn, wins) == pytest.approx(by_hand)


def test_dts_plus_breaks_ties_by_price_and_is_dts_otherwise():
    # A sure cycle 0 > 1 > 2 > 0 above 3: three arms win twice in every draw. Arm 2's own
    # victory over 3 is by little, which makes it dear: 2 is never champion, 0 or 1 are.
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wins[i, j] = 4000
    wins[0, 3], wins[3, 0] = 3600, 400
    wins[1, 3], wins[3, 1] = 3600, 400
    wins[2, 3], wins[3, 2] = 2600, 1400
    plus = ask(DTSPlus(), wins, 1000)
    plain = ask(DTS(), wins, 1000)
    assert {i for i, _ in plus} == {0, 1}
    assert {i for i, _ in plain} == {0, 1, 2}
    one_winner = [[0, SURE, SURE], [0, 0, 5], [0, 5, 0]]
    assert ask(DTSPlus(), one_winner, 1000) == ask(DTS(), one_winner, 1000) == {(0, 0): 60}


def test_dts_plus_prefers_the_cheaper_of_two_evenly():
    """By symmetry of 0 and 1 above, each is champion half of the time."""
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wins[i, j] = 4000
    for i, (w, n) in enumerate(((3600, 400), (3600, 400), (2600, 1400))):
        wins[i, 3], wins[3, i] = w, n
    counts = ask(DTSPlus(), wins, 1000, seeds=range(400))
    first = sum(n for (i, _), n in counts.items() if i == 0)
    assert stats.binomtest(first, 400, 0.5).pvalue > 1e-6


def test_settings_are_checked():
    for policy in (RCS, DTSPlus):
        with pytest.raises(ValueError, match=r"alpha should be > 0.5, got 0.4"):
            policy(alpha=0.4)
        with pytest.raises(ValueError, match=f"belief of {policy.__name__} should be"):
            policy(belief=Hoeffding())
