"""DETECT and MDB in lockstep with plain versions, and what a policy is when it begins anew."""

from dataclasses import replace
from math import ceil, log, sqrt

import numpy as np
import pytest

import bayesduel as bd
from bayesduel import policies
from bayesduel.beliefs import Laplace, record
from bayesduel.models import BradleyTerry
from bayesduel.policies.change_detection import arrays_of, begun, empty_windows, enter, restart
from bayesduel.problems import named

pytestmark = pytest.mark.plain

OF_PAIRS = [
    kind() for name in policies.__all__ if (kind := getattr(policies, name)).setting == "pairs"
]
SEGMENT = 150
P_OF = [named("linear", n_arms=4).P, named("linear", n_arms=4).P[::-1, ::-1]]  # by turns


class Plain:
    """What both have in common: a policy, which is made again, and lists of outcomes."""

    def __init__(self, policy, n_arms, window, threshold):
        self.policy, self.n_arms = policy, n_arms
        self.window, self.threshold = window, threshold
        self.resets = -1
        self.begin()

    def begin(self):
        self.belief, self.memory = (
            self.policy.belief.init(self.n_arms),
            self.policy.init(self.n_arms),
        )
        self.lists, self.duels, self.winner = {}, 0, None
        self.resets += 1

    def inner(self, rng):
        pair = self.policy.select(self.belief, self.memory, int(self.belief.n_duels[0]) + 1, rng)
        return tuple(int(k) for k in pair)

    def changed(self, key, won):
        """Whether the halves of the last outcomes of a pair differ."""
        self.lists.setdefault(key, []).append(won)
        last, half = self.lists[key][-self.window :], self.window // 2
        full = len(last) == self.window
        return full and abs(sum(last[:half]) - sum(last[half:])) > self.threshold


class PlainDETECT(Plain):
    explore = 20

    def select(self, rng):
        if self.duels < self.explore:
            return self.inner(rng)
        if self.winner is None:
            self.winner = int(self.policy.leader(self.belief, self.memory))
            self.others = [k for k in range(self.n_arms) if k != self.winner]
        return self.winner, self.others[(self.duels - self.explore) % len(self.others)]

    def learn(self, pair, won):
        self.duels += 1
        if self.duels <= self.explore:
            record(self.belief, pair, won)
        elif self.changed(pair, won):
            self.begin()


class PlainMDB(Plain):
    period = 12  # of gamma = 1 / 2 and six pairs

    def select(self, rng):
        pairs = [(i, j) for i in range(self.n_arms) for j in range(i + 1, self.n_arms)]
        self.turn = self.duels % self.period < len(pairs)
        return pairs[self.duels % self.period] if self.turn else self.inner(rng)

    def learn(self, pair, won):
        self.duels += 1
        if not self.turn:
            record(self.belief, pair, 0.5 if pair[0] == pair[1] else won)
        elif self.changed(pair, won):
            self.begin()


@pytest.mark.parametrize("inner", [policies.WinnerStays(regret="strong"), policies.DTS()], ids=str)
@pytest.mark.parametrize(
    ("policy", "plain"),
    [
        (policies.DETECT(explore=20, horizon=900), PlainDETECT),
        (policies.MDB(gamma=0.5, horizon=900), PlainMDB),
    ],
)
def test_lockstep(policy, plain, inner):
    policy = replace(policy, policy=inner, window=10, threshold=3.5)  # of five in each half
    belief, memory = policy.belief.init(4), policy.init(4)
    plain = plain(inner, 4, 10, 3.5)
    rng, again, coins = (np.random.default_rng(k) for k in (3, 3, 4))
    for t in range(1, 901):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        assert pair == plain.select(again)
        P = P_OF[(t - 1) // SEGMENT % 2]
        won = float(coins.random() < P[pair])
        record(belief, pair, won)
        plain.learn(pair, won)
    assert 2 < plain.resets < 30


@pytest.mark.parametrize("policy", OF_PAIRS, ids=str)
@pytest.mark.sampled(3)
def test_a_policy_begins_anew_as_it_was_before_the_first_duel(policy):
    """Whatever its memory is, and the same pairs follow."""
    policy = replace(policy, draws=20) if policy.reads == "scores" else policy.for_horizon(300)
    monitored, windows = begun(policy, 5, 300), empty_windows(1, 2, 1.0)
    fresh = policy.belief.init(5), policy.init(5)
    runs = []
    for _ in range(2):
        for mine, theirs in zip(arrays_of(monitored[:2]), arrays_of(fresh), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        rng, pairs = np.random.default_rng(1), []
        for t in range(1, 41):
            i, j = policy.select(monitored.belief, monitored.memory, t, rng)
            record(monitored.belief, (i, j), float(i < j))
            pairs.append((int(i), int(j)))
        runs.append(pairs)
        restart(monitored, windows)
    assert runs[0] == runs[1]


def test_a_window_against_all_outcomes():
    rng, windows, won = np.random.default_rng(0), empty_windows(2, 6, 1.5), []
    for _ in range(200):
        won.append(float(rng.random() < 0.5))
        last = won[-6:]
        full = len(last) == 6
        assert enter(windows, 1, won[-1]) == (full and abs(sum(last[:3]) - sum(last[3:])) > 1.5)


def test_the_settings_by_hand():
    """K = 5, T = 100,000, a change by 0.3: the constants of the authors' program."""
    T, K, M = 100_000, 5, 5
    budget = 2 * log(T) + 0.75
    memory = policies.DETECT(horizon=T).init(K)
    width = 2 * ceil(4 * budget / 0.09)
    assert memory.windows.outcomes.shape == (5, width) == (5, 2114)
    assert memory.windows.threshold == pytest.approx(sqrt(width * budget / 2))
    assert memory.explore == 316
    budget = log((4 * T + 2) * sqrt(T) / (sqrt(M) * K))
    memory = policies.MDB(horizon=T, segments=M).init(K)
    width = 2 * ceil(4 * budget / 0.09)
    assert memory.windows.outcomes.shape == (10, width)
    assert memory.period == int(10 / (sqrt(M * width / T) * 2))


def test_a_stationary_problem_is_no_change():
    """At the default window chance shows none: 2 exp(-L) T is below 1e-4."""
    policy = policies.DETECT(horizon=10_000, change=1.0, explore=100)
    belief, memory = policy.belief.init(2), policy.init(2)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    for t in range(1, 3001):
        pair = policy.select(belief, memory, t, rng)
        record(belief, pair, float(coins.random() < 0.5))
    assert memory.state[0] == 2999  # the last outcome is not yet known


@pytest.mark.parametrize("kind", [policies.DETECT, policies.MDB])
def test_refused(kind):
    with pytest.raises(TypeError, match=f"policy of {kind.__name__} should be a policy of pairs"):
        kind(policy="WinnerStays")
    with pytest.raises(ValueError, match="should have a belief that needs no refits"):
        kind(policy=bd.policies.DTS(belief=Laplace(BradleyTerry())))
    with pytest.raises(ValueError, match="window should be even, got 7"):
        kind(window=7)
    with pytest.raises(ValueError, match=r"change should be in \(0, 1\], got 0"):
        kind(change=0.0)
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        kind().init(3)
    with pytest.raises(ValueError, match="horizon should be >= 1 and finite, got inf"):
        kind(horizon=np.inf)
    inner = kind(policy=bd.policies.SAVAGE(), horizon=100).init(3).monitored.memory
    assert str(inner) == str(bd.policies.SAVAGE(horizon=100).init(3))


def test_turns_that_take_every_duel_recommend_by_themselves():
    """The policy has had none: at first it would name the first arm."""
    policy = bd.policies.MDB().for_horizon(60)
    belief, memory = policy.belief.init(3), policy.init(3)
    rng = np.random.default_rng(0)
    for t in range(1, 61):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        record(belief, pair, float(pair[0] > pair[1]))
    assert memory.monitored.belief.n_duels[0] == 0
    assert policy.recommend(belief, memory) == 2
