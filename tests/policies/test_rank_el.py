"""RankEl by hand."""

from math import log

import pytest

import bayesduel as bd
from bayesduel.policies import RankEl
from bayesduel.problems import named
from tests.support.asking import remembered
from tests.support.races import listed, over, tallies

pytestmark = pytest.mark.plain


def test_rank_el_by_hand():
    policy = RankEl(horizon=1000)
    assert policy.init(4).budget == pytest.approx(log(2 * 6 * 1000 * 1000))
    order = {(0, 1): 0.8, (0, 2): 0.8, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.8}
    # (2, 3) is open, so arms 2 and 3 may stand either way: one pair unclear.
    pair, memory = remembered(policy, tallies(order), 1, prepare=over)
    assert listed(memory, pair) == {(2, 3)}
    pair, memory = remembered(RankEl(horizon=1000, rho=1), tallies(order), 1, prepare=over)
    assert pair == (0, 0)
    pair, memory = remembered(policy, tallies({**order, (2, 3): 0.8}), 1, prepare=over)
    assert pair == (0, 0)
    assert memory.answer.arm[0] == 0
    # Nobody wins by more than 0.35: with that epsilon all six pairs are surely no win.
    pair, memory = remembered(
        RankEl(horizon=1000, epsilon=0.4), tallies({**order, (2, 3): 0.8}), 1, prepare=over
    )
    assert pair[0] == pair[1]


def test_the_largest_difference_of_ranks_by_hand():
    # 0 beats all; 1, 2 and 3 are unclear to one another: three pairs, ranks wrong by 2 at most.
    top = {(0, 1): 0.8, (0, 2): 0.8, (0, 3): 0.8}
    for distance, rho, stops in (
        ("pairs", 2, False),
        ("pairs", 3, True),
        ("rank", 1, False),
        ("rank", 2, True),
    ):
        policy = RankEl(horizon=1000, distance=distance, rho=rho)
        pair, _ = remembered(policy, tallies(top), 1, prepare=over)
        assert (pair == (0, 0)) == stops


def test_borda_by_hand():
    order = {(0, 1): 0.8, (0, 2): 0.8, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.8}
    policy = RankEl(horizon=1000, criterion="borda")
    pair, _ = remembered(policy, tallies({**order, (2, 3): 0.8}), 1, prepare=over)
    assert pair == (0, 0)
    # 2 and 3 have equal scores: every pair of theirs goes on, (0, 1) does not.
    even = tallies({**order, (2, 3): 0.5})
    pair, memory = remembered(policy, even, 1, prepare=over)
    assert listed(memory, pair) == {(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    near = RankEl(horizon=1000, criterion="borda", rho=1)
    pair, _ = remembered(near, even, 1, prepare=over)
    assert pair == (0, 0)


def test_it_ranks_by_borda_in_play():
    policy = RankEl(criterion="borda", delta=0.1, distance="rank")
    trace = bd.simulate(policy, named("flat", n_arms=3, e=0.3), 6000, replications=3, seed=1)
    assert (trace["trace"]["recommended"].isel(time=-1) == 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RankEl(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: RankEl(delta=0.0), r"delta should be in \(0, 1\), got 0.0"),
        (lambda: RankEl(epsilon=0.5), r"epsilon should be in \[0, 0.5\), got 0.5"),
        (
            lambda: RankEl(criterion="elo"),
            "criterion should be one of 'copeland', 'borda', got",
        ),
        (lambda: RankEl(distance="far"), "distance should be one of 'pairs', 'rank', got 'far'"),
        (lambda: RankEl(criterion="borda", epsilon=0.1), "epsilon should be 0 under 'borda'"),
        (lambda: RankEl(rho=-1), "rho should be >= 0, got -1"),
        (lambda: RankEl().init(4), "horizon should be given outside a simulation"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
