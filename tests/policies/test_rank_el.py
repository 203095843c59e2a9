"""RankEl by hand."""

from math import log

import pytest

from bayesduel.policies import RankEl
from tests.support.asking import remembered
from tests.support.races import listed, over, tallies


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RankEl(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: RankEl(delta=0.0), r"delta should be in \(0, 1\), got 0.0"),
        (lambda: RankEl(epsilon=0.5), r"epsilon should be in \[0, 0.5\), got 0.5"),
        (lambda: RankEl(rho=-1), "rho should be >= 0, got -1"),
        (lambda: RankEl().init(4), "horizon should be given where no simulation"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
