"""MergeRUCB by hand."""

import numpy as np
import pytest

from bayesduel.beliefs import record
from bayesduel.policies import MergeRUCB
from bayesduel.policies.merge_rucb import BATCHES, STAGE, merge
from tests.support.asking import remembered

pytestmark = pytest.mark.plain


def test_merge_rucb_deals_batches_and_takes_them_in_turn():
    policy = MergeRUCB()
    belief, memory = policy.belief.init(10), policy.init(10)
    rng = np.random.default_rng(3)
    for t in range(1, 40):
        i, j = policy.select(belief, memory, t, rng)
        assert i != j
        assert memory.batch[i] == memory.batch[j] == t % 3
        record(belief, (i, j), float(t % 2))
    assert sorted(np.bincount(memory.batch)) == [2, 4, 4]
    # C at K = 10: (3.04 * 100 / (1.02 * 0.01))^(1 / 1.02).
    assert memory.offset == pytest.approx((304 / 0.0102) ** (1 / 1.02))


def test_merge_rucb_drops_who_loses_within_its_batch_only():
    wins = np.zeros((6, 6))
    wins[0, 1] = wins[3, 0] = 4000  # 1 loses to 0, 0 to 3: the first share a batch

    def dealt(memory):
        memory.batch[:] = [0, 0, 0, 1, 1, 1]
        memory.stages[:] = [2, 1]

    _, memory = remembered(MergeRUCB(batch_size=3), wins, 8002, prepare=dealt)
    assert memory.batch.tolist() == [0, -1, 0, 1, 1, 1]


def test_merge_rucb_joins_small_batches_with_large_ones():
    memory = MergeRUCB().init(12)
    memory.batch[:] = [0, 0, 0, 0, 1, 1, 2, 2, 2, 3, -1, -1]
    memory.stages[:] = [4, 1]
    merge(memory)
    # Sizes 4, 2, 3, 1: 1 + 4 <= 6 and 2 + 3 <= 6 join; then both have 5 > p / 2.
    assert memory.stages[BATCHES] == 2
    assert memory.stages[STAGE] == 2
    batches = {frozenset(np.flatnonzero(memory.batch == b).tolist()) for b in (0, 1)}
    assert batches == {frozenset({0, 1, 2, 3, 9}), frozenset({4, 5, 6, 7, 8})}
    assert memory.batch[10:].tolist() == [-1, -1]


def test_merge_rucb_joins_no_more_than_one_and_a_half_batches():
    for sizes, left in (((4, 3), 2), ((4, 2), 1)):  # 7 > 1.5 * 4 = 6
        memory = MergeRUCB(batch_size=4).init(sum(sizes))
        memory.batch[:] = np.repeat([0, 1], sizes)
        memory.stages[:] = [2, 1]
        merge(memory)
        assert memory.stages[BATCHES] == left == len(set(memory.batch.tolist()))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MergeRUCB(alpha=0.5), "alpha should be > 0.5, got 0.5"),
        (lambda: MergeRUCB(batch_size=1), "batch_size should be at least 2, got 1"),
        (lambda: MergeRUCB(failure=0), r"failure should be in \(0, 1\), got 0"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
