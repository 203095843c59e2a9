"""ANACONDA in lockstep with a recursive version that tries every stretch of duels."""

from math import ceil, log, log2, sqrt

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies import ANACONDA
from bayesduel.policies.anaconda import enter
from bayesduel.problems import PiecewiseStationary

pytestmark = pytest.mark.plain


class Plain:
    """Algorithms 1 and 2 line by line, with the same random numbers."""

    def __init__(self, policy, n_arms, seed):
        horizon = int(policy.horizon)
        self.arms, self.horizon = set(range(n_arms)), horizon
        self.width = policy.factor * log(horizon) * n_arms
        self.likelier = policy.replay
        self.rng = np.random.default_rng(seed)
        self.t, self.estimates, self.stretches = 1, [], []
        self.episodes, self.replayed = [], 0

    def play(self):
        """Yield the pair of each duel; what is sent is what its first arm won."""
        while self.t <= self.horizon:
            self.episodes.append(self.t)
            self.good = set(self.arms)
            yield from self.condalet(self.t, self.horizon + 1 - self.t)

    def condalet(self, start, length):
        active = sorted(self.arms)
        while self.t <= self.horizon and self.t <= start + length and self.good:
            pair = tuple(active[self.rng.integers(len(active))] for _ in range(2))
            won = yield pair
            estimate = np.full((len(self.arms), len(self.arms)), -0.5)
            if pair[0] != pair[1]:  # nobody evicts itself
                estimate[pair] += len(active) ** 2 * won
            self.estimates.append(estimate)
            self.stretches += self.evicting()
            self.good -= self.evicted_since(self.episodes[-1])
            self.t += 1
            if self.good and self.t <= self.horizon:
                yield from self.replay()
            active = sorted(self.arms - self.evicted_since(start))

    def replay(self):
        for k in range(ceil(log2(self.horizon)), 0, -1):
            if self.rng.random() < self.likelier / sqrt(2**k * (self.t - self.episodes[-1])):
                self.replayed += 1
                yield from self.condalet(self.t, 2**k)
                return

    def evicting(self):
        """Return the (beginning, arm) of each stretch that ends now and evicts the arm."""
        sums = np.cumsum(self.estimates[::-1], axis=0)  # sums[n]: of the last n + 1 duels
        n = np.arange(len(sums))
        limit = self.width * np.sqrt(np.maximum(n, len(self.arms) ** 2))
        high = np.argwhere((sums > limit[:, None, None]).any(axis=1))
        return [(self.t - int(k), int(arm)) for k, arm in high]

    def evicted_since(self, start):
        return {arm for begun, arm in self.stretches if begun >= start}


def follow(policy, matrices, seed):
    """Play both, a matrix for each third of the horizon; return what the plain version has seen."""
    n_arms, horizon = len(matrices[0]), int(policy.horizon)
    belief, memory = policy.belief.init(n_arms), policy.init(n_arms)
    plain = Plain(policy, n_arms, seed)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    player = plain.play()
    asked = next(player)
    for t in range(1, horizon + 1):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        assert pair == asked
        won = float(coins.random() < matrices[(t - 1) * len(matrices) // horizon][pair])
        record(belief, pair, won)
        if t < horizon:
            asked = player.send(won)
    assert memory.episode[0] == plain.episodes[-1]
    good = np.flatnonzero(memory.evicted < memory.episode[0]).tolist()
    assert policy.recommend(belief, memory) in good
    return plain


def ladder(order, gap=0.45):
    """Each arm beats those after it in the order."""
    rank = np.argsort(order)
    return 0.5 + gap * np.sign(rank[None, :] - rank[:, None])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n_arms", [2, 3, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("seed", "replay"), [(1, 1.0), (2, 0.4)])
def test_lockstep(n_arms, seed, replay):
    """With a small factor arms are evicted, replays begin and end, and episodes begin anew."""
    order = list(range(n_arms))
    matrices = [ladder(order), ladder(order[::-1]), ladder(order)]
    plain = follow(ANACONDA(horizon=450, factor=0.02, replay=replay, buckets=450), matrices, seed)
    assert len(plain.stretches) > 20
    assert len(plain.episodes) >= 3
    assert plain.replayed > 5


def test_nothing_is_evicted_below_the_threshold():
    plain = follow(ANACONDA(horizon=200, factor=50, buckets=200), [ladder([0, 1, 2])], 3)
    assert plain.stretches == []
    assert plain.episodes == [1]


def test_buckets_hold_all_wins_the_latest_one_by_one():
    memory = ANACONDA(horizon=600, buckets=3).init(2)
    times = np.flatnonzero(np.random.default_rng(4).random(600) < 0.5) + 1
    for n, now in enumerate(times.tolist(), 1):
        enter(memory, 0, 1, 4.0, now)
        filled = memory.filled[0, 1]
        assert (filled * 2 ** np.arange(len(filled))).sum() == n
        assert filled.max() <= 3
        begun = [
            begun
            for level in range(len(filled) - 1, -1, -1)
            for begun in memory.begun[0, 1, level, : filled[level]].tolist()
        ]
        sizes = np.repeat(2 ** np.arange(len(filled)), filled)[::-1]
        assert begun == times[n - sizes[::-1].cumsum()[::-1]].tolist()
        kept = np.arange(4) < filled[:, None]
        assert memory.worth[0, 1][kept].sum() == 4.0 * n
    assert memory.filled[1, 0].sum() == 0


def test_beyond_the_horizon_it_plays_on():
    policy = ANACONDA(horizon=4)
    belief, memory = policy.belief.init(3), policy.init(3)
    rng = np.random.default_rng(0)
    for t in range(1, 40):
        pair = policy.select(belief, memory, t, rng)
        record(belief, pair, 1.0)
    assert belief.n_duels[0] == 39


def test_settings_are_checked():
    with pytest.raises(ValueError, match="factor should be > 0, got 0"):
        ANACONDA(factor=0.0)
    with pytest.raises(ValueError, match="horizon should be finite, got inf"):
        ANACONDA(horizon=np.inf)
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        ANACONDA().init(3)


@pytest.mark.slow
def test_dynamic_regret_grows_more_slowly_than_the_horizon():
    """Four segments, three arms: the exponent is 0.76 (the bound has 1/2 and logarithms)."""
    horizons, last = (20_000, 160_000), []
    orders = ([0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1])
    for horizon in horizons:
        problem = PiecewiseStationary(
            [ladder(order, 0.3) for order in orders], [1 + horizon * k // 4 for k in (1, 2, 3)]
        )
        trace = bd.simulate(
            ANACONDA(), problem, horizon, replications=10, seed=1, record_at=[horizon]
        )
        last.append(float(bd.regret(trace, "condorcet").mean()))
    assert np.log(last[1] / last[0]) / np.log(8) < 0.8
