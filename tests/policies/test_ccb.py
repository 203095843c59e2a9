"""Hand-worked rounds of CCB."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from bayesduel.policies import CCB
from bayesduel.policies.ccb import shuffled
from bayesduel.policies.identification import best_by_shares
from tests.support.asking import ask, remembered

pytestmark = pytest.mark.plain

SURE = 400.0  # 400 wins of 400: radius sqrt(0.51 ln t / 400) is far below 1/2.


def chain():
    """Arm 0 surely beats 1 and 2; 1 and 2 stand at 5 : 5."""
    return np.array([[0, SURE, SURE], [0, 0, 5.0], [0, 5.0, 0]])


def test_ccb_starts_from_nothing():
    counts = ask(CCB(), np.zeros((3, 3)), 1)
    assert len(counts) == 6
    assert all(i != j for i, j in counts)


def test_ccb_by_hand_a_decided_winner():
    # hi = (2, 1, 1), lo = (2, 0, 0). 9B: arms 1, 2 leave B, with B^1 = B^2 = {0}. 9C: arm 0 has
    # hi = lo: LC = 0, and sets of size 1 = LC + 1 stay. S is empty (0 beats both for sure).
    _, memory = remembered(CCB(), chain(), 1000)
    assert memory.potential.tolist() == [True, False, False]
    assert memory.losses[0] == 0
    assert memory.size.tolist() == [0, 1, 1]
    assert memory.decided.watched.tolist() == [
        [False] * 3,
        [True, False, False],
        [True, False, False],
    ]
    assert ask(CCB(), chain(), 1000) == {(0, 0): 60}


def test_ccb_by_hand_a_cycle_shortens_the_sets():
    # 0 > 1 > 2 > 0 and all beat 3 for sure: hi = lo = (2, 2, 2, 0). 9B: 3 leaves with
    # B^3 = {0, 1, 2}; 9C: three winners, LC = 3 - 2 = 1, so B^3 is cut to two members.
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)):
        wins[i, j] = SURE
    kept = set()
    for seed in range(40):
        _, memory = remembered(CCB(), wins, 1000, seed)
        assert memory.potential.tolist() == [True, True, True, False]
        assert memory.losses[0] == 1
        assert memory.size.tolist() == [0, 0, 0, 2]
        kept.add(tuple(np.flatnonzero(memory.decided.watched[3]).tolist()))
    assert kept == {(0, 1), (0, 2), (1, 2)}
    # Champions are the three; every duel of theirs is decided, so each meets itself.
    assert set(ask(CCB(), wins, 1000)) == {(0, 0), (1, 1), (2, 2)}


def test_ccb_by_hand_a_contradiction_resets():
    def watch(memory):  # 2 is out, and remembers 1 as its conqueror
        memory.potential[2] = False
        memory.decided.watched[2, 1] = True
        memory.decided.n_open[2] = 1
        memory.size[2] = 1
        memory.losses[0] = 0

    # 2 now surely beats 1; nothing else is known: hi = (2, 1, 2), lo = (0, 0, 1).
    wins = np.zeros((3, 3))
    wins[2, 1] = SURE
    _, memory = remembered(CCB(), wins, 50, prepare=watch)
    assert memory.potential.all()
    assert memory.losses[0] == 3
    assert not memory.decided.watched.any()
    assert not memory.size.any()
    assert not memory.decided.contradicted[0]


def test_ccb_returns_to_an_open_conqueror_a_quarter_of_the_time():
    def watch(memory):
        memory.potential[2] = False
        memory.decided.watched[2, 1] = True
        memory.decided.n_open[2] = 1
        memory.size[2] = 1
        memory.losses[0] = 0

    # All open: S = {(2, 1)}. Otherwise the champion is 0 or 1, never first of (2, 1)...
    wins = np.array([[0, 5, 5], [5, 0, 5], [5, 5, 0.0]])
    counts = ask(CCB(), wins, 50, seeds=range(600), prepare=watch)
    # ... except where line 11's coin (1/3) leaves C = all, c = 2 (1/3), and then the candidate
    # is 1 out of B^2 (1/2), or 0 or 1, equal by their bounds (1/2 each): 3/4 * 1/9 * 3/4.
    chance = 1 / 4 + 3 / 4 / 9 * 3 / 4
    assert stats.binomtest(counts[(2, 1)], 600, chance).pvalue > 1e-6


def test_winners_are_taken_in_an_order_that_is_uniformly_random():
    rng, mask = np.random.default_rng(6), np.array([True, False, True, True])
    orders = [tuple(shuffled(mask, rng).tolist()) for _ in range(1200)]
    counts = [orders.count(order) for order in permutations((0, 2, 3))]
    assert sum(counts) == 1200
    assert stats.chisquare(counts).pvalue > 1e-6


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"alpha should be > 0.5, got 0.5"):
        CCB(alpha=0.5)
    with pytest.raises(ValueError, match=r"alpha should be > 0.5, got nan"):
        CCB(alpha=float("nan"))


@pytest.mark.parametrize(("won", "lost"), [(200, 0), (60, 20)])
def test_it_recommends_a_leader_and_potential_winners_first(won, lost):
    """0 has most wins by the shares, and surely loses to 3: the others have more possible wins.

    By 60 : 20 of 100 duels it is 3/4 - sqrt(0.51 ln 101 / 80) = 0.58.
    """
    wins = np.array([[0, 3, 3, lost], [2, 0, 0, 3], [2, 0, 0, 3], [won, 2, 2, 0.0]])
    policy = CCB()
    belief, memory = policy.belief.init(4), policy.init(4)
    belief.wins[:] = wins
    belief.n_duels[0] = won + lost + 20
    assert best_by_shares(belief) == 0
    assert policy.recommend(belief, memory) == 3  # one win each; 3 has the largest mean share
    memory.potential[3] = False
    assert policy.recommend(belief, memory) == 1
    memory.potential[:] = [True, False, False, False]  # no leader is a potential winner
    assert policy.recommend(belief, memory) == 3
