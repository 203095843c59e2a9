"""Beat the Mean, Interleaved Filter, MergeRUCB and Self-Sparring by hand."""

from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.beliefs import KL, record
from bayesduel.policies import BeatTheMean, InterleavedFilter, MergeRUCB, SelfSparring
from bayesduel.policies.merge_rucb import BATCHES, STAGE, merge
from bayesduel.problems import named
from tests.support.asking import ask, remembered


def answered_by_hand(policy, P, seed, most):
    """Play until there is an answer; the belief, the memory and the number of duels."""
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    for t in range(1, most + 1):
        i, j = policy.select(belief, memory, t, rng)
        if memory.answer.arm[0] >= 0:
            return belief, memory, t - 1
        record(belief, (i, j), float(coins.random() < P[i, j]))
    return belief, memory, most


# -- Beat the Mean -------------------------------------------------------------------------


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
    assert memory.duels[:, 2].tolist() == [0, 0, 0]
    assert memory.duels[0].tolist() == [0, 20, 0]


# -- Interleaved Filter --------------------------------------------------------------------


def test_interleaved_filter_goes_round_its_candidates():
    policy = InterleavedFilter(horizon=10_000)
    belief, memory = policy.belief.init(4), policy.init(4)
    rng = np.random.default_rng(1)
    pairs = []
    for t in range(1, 7):
        pairs.append(tuple(int(x) for x in policy.select(belief, memory, t, rng)))
        record(belief, pairs[-1], float(t % 2))
    incumbent = pairs[0][0]
    others = [k for k in range(4) if k != incumbent]
    assert pairs == [(incumbent, b) for b in others] * 2


def test_interleaved_filter_prunes_when_its_incumbent_falls():
    # Radius sqrt(4 ln(16 * 1e4) / 400) = 0.346. Incumbent 0: at 0.1 against 1 it falls to it; at
    # 0.6 against 2 it was ahead of it; at 0.9 against 3 it beats it; so IF2 leaves no candidate
    # but 1's own rivals: none of 2 and 3. IF1 keeps 2.
    wins = np.zeros((4, 4))
    for b, w in ((1, 40), (2, 240), (3, 360)):
        wins[0, b], wins[b, 0] = w, 400 - w

    def incumbent_0(memory):
        memory.place[:] = [0, 3]
        memory.candidates[0] = False

    pair, memory = remembered(InterleavedFilter(horizon=1e4), wins, 1201, prepare=incumbent_0)
    assert pair == (1, 1)
    assert memory.answer.arm[0] == 1
    pair, memory = remembered(
        InterleavedFilter(horizon=1e4, version=1), wins, 1201, prepare=incumbent_0
    )
    assert pair == (1, 2)
    assert memory.candidates.tolist() == [False, False, True, False]
    assert memory.before[0, 0] == 360  # its record starts now


@pytest.mark.parametrize(
    "policy",
    [BeatTheMean(), InterleavedFilter(), InterleavedFilter(version=1), MergeRUCB()],
    ids=str,
)
def test_they_identify_and_exploit(policy):
    problem = named("flat", n_arms=9, e=0.4)
    trace = bd.simulate(policy, problem, 40_000, replications=6, seed=2, record=[40_000])
    assert (trace["trace"]["recommended"] == 0).all()
    answered = trace["trace"]["answered"].values.ravel()
    assert ((answered > 0) & (answered < 40_000)).all()


# -- MergeRUCB -----------------------------------------------------------------------------


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


# -- Self-Sparring -------------------------------------------------------------------------


def test_self_sparring_draws_both_arms_from_the_same_law():
    wins = np.array([[0, 6, 2], [1, 0, 3], [4, 0, 0.0]])
    counts = ask(SelfSparring(), wins, 17, seeds=range(1500))
    rng = np.random.default_rng(4)
    draws = rng.beta(1 + wins.sum(1), 1 + wins.sum(0), (200_000, 3)).argmax(1)
    law = np.bincount(draws, minlength=3) / 200_000
    seen = np.zeros((3, 3))
    for (i, j), n in counts.items():
        seen[i, j] = n
    # Chi-square of the nine cells against independent draws, at 1e-6.
    assert stats.chisquare(seen.ravel(), 1500 * np.outer(law, law).ravel()).pvalue > 1e-6


def test_self_sparring_learns_nothing_from_a_self_duel():
    policy = SelfSparring()
    belief, memory = policy.belief.init(3), policy.init(3)
    rng = np.random.default_rng(5)
    for t, pair in enumerate([(0, 1), (1, 1), (2, 0)], 1):
        policy.select(belief, memory, t, rng)
        record(belief, pair, 1.0)
    policy.select(belief, memory, 4, rng)
    assert memory.record.tolist() == [[1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BeatTheMean(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: BeatTheMean(gamma=0.5), "gamma should be at least 1, got 0.5"),
        (lambda: BeatTheMean(factor=0), "factor should be positive, got 0"),
        (lambda: BeatTheMean().init(3), "horizon should be given where no simulation"),
        (lambda: InterleavedFilter(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: InterleavedFilter(version=3), "version should be 1 or 2, got 3"),
        (lambda: InterleavedFilter().init(3), "horizon should be given where no simulation"),
        (lambda: MergeRUCB(alpha=0.5), "alpha should be > 0.5, got 0.5"),
        (lambda: MergeRUCB(batch_size=1), "batch_size should be at least 2, got 1"),
        (lambda: MergeRUCB(failure=0), r"failure should be in \(0, 1\), got 0"),
        (lambda: SelfSparring(belief=KL()), r"belief of SelfSparring should be Beta\(\), got KL"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
