"""The pivot index: in lockstep with plain Python, its indices by enumeration, its jumps exact."""

from itertools import product
from math import comb

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies import PivotIndex
from bayesduel.policies.pivot_index import (
    CHAMPION,
    LEFT,
    RIGHT,
    SEEN,
    Memory,
    choose,
    strength_prior,
    successes,
    weigh,
)
from bayesduel.problems import named, uniform
from bayesduel.simulation.pair_run import play_pairs
from bayesduel.simulation.run import driver
from tests.support.plain_pivot_index import PlainPivotIndex

pytestmark = pytest.mark.plain

PROBLEMS = {
    "cyclic-4": (named("cyclic-4").P, 5000),
    "mslr-5-c3": (named("mslr-5-c3").P, 800),
    "uniform-7": (uniform(7, rng=np.random.default_rng(2)).P, 300),
    "two arms": (np.array([[0.5, 0.6], [0.4, 0.5]]), 5000),
    "three arms": (uniform(3, rng=np.random.default_rng(3)).P, 5000),
    "all tied": (np.full((4, 4), 0.5), 200),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.slow
def test_in_lockstep_with_plain_python(name):
    """Same coins and random choices: the same state and pair at every step."""
    P, horizon = PROBLEMS[name]
    policy, n_arms = PivotIndex(), len(P)
    belief, memory = policy.belief.init(n_arms), policy.init(n_arms)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    plain = PlainPivotIndex(n_arms, np.random.default_rng(1))
    for t in range(1, horizon + 1):
        i, j = policy.select(belief, memory, t, rng)
        assert (i, j) == plain.next(t)
        if i != j:
            np.testing.assert_allclose(memory.beats, plain.beats, rtol=1e-12)
            np.testing.assert_allclose(index_of(memory), plain.index, rtol=1e-7, atol=1e-14)
            assert memory.wait[0] == pytest.approx(plain.wait, rel=1e-9)
            assert (memory.place[LEFT], memory.place[RIGHT]) == plain.pair
        won = coins.random() < P[i, j]
        record(belief, (i, j), float(won))
        plain.tell(i, j, won)
    np.testing.assert_array_equal(belief.wins, plain.wins)
    assert 30 < belief.wins.sum() <= horizon


def index_of(memory):
    """V, symmetric, from what the memory keeps by rival."""
    c = memory.place[CHAMPION]
    index = memory.by_rival + memory.by_rival.T
    total = memory.by_champion.sum(axis=0)
    index[c] += total
    index[:, c] += total
    return index


@pytest.mark.parametrize("n_arms", [2, 3, 4, 5])
def test_pivotal_chances_by_enumeration(n_arms):
    """Every assignment of signs: how often a pair's sign decides whether the rival is ahead.

    A row of K - 1 signs with w wins has prior probability 1 / (2 K C(K - 1, w)) + 1 / 2^K.
    """
    rng = np.random.default_rng(n_arms)
    beats = np.full((n_arms, n_arms), 0.5)
    above = np.triu_indices(n_arms, 1)
    beats[above] = rng.random(len(above[0]))
    beats.T[above] = 1 - beats[above]
    champion, rival = 1, 0
    by_rival, by_champion = np.zeros(n_arms), np.zeros(n_arms)
    weigh(beats, strength_prior(n_arms - 1), champion, rival, by_rival, by_champion)
    coins = [(i, j) for i, j in zip(*above, strict=True) if {i, j} & {champion, rival}]
    table = []  # chance and whether the rival is ahead, by assignment of signs
    for signs in product((0, 1), repeat=len(coins)):
        won = np.zeros((n_arms, n_arms))
        for (i, j), s in zip(coins, signs, strict=True):
            won[i, j], won[j, i] = s, 1 - s
        sides = zip(coins, signs, strict=True)
        chance = np.prod([beats[pair] if s else 1 - beats[pair] for pair, s in sides])
        for arm in (champion, rival):
            ways = comb(n_arms - 1, int(won[arm].sum()))
            chance *= 1 / (2 * n_arms * ways) + 1 / 2**n_arms
        table.append((signs, chance, won[rival].sum() > won[champion].sum()))
    total = sum(chance for _, chance, _ in table)
    ahead = {signs: leads for signs, _, leads in table}
    for k, pair in enumerate(coins):
        chances = [0.0, 0.0]
        for signs, chance, leads in table:
            turned = (*signs[:k], 1 - signs[k], *signs[k + 1 :])
            chances[signs[k]] += chance / total * (leads != ahead[turned])
        expected = 4 * chances[0] * chances[1] / (sum(chances) or 1)
        i, j = pair
        if rival in pair:
            ours = by_rival[j if i == rival else i]
        else:
            ours = by_champion[j if i == champion else i]
        assert ours == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_numbers_of_successes_to_the_bit(n):
    """By rows as one trial after another hands on what it has: the same sums in the same order."""
    chances = np.random.default_rng(n).random(n)
    expected = np.zeros((n + 1, n + 1))
    expected[0, 0] = 1.0
    for k, s in product(range(n), range(n)):
        expected[k + 1, s] += (1 - chances[k]) * expected[k, s]
        expected[k + 1, s + 1] += chances[k] * expected[k, s]
    np.testing.assert_array_equal(successes(chances), expected)


def test_a_first_round_by_hand():
    """Three arms that never met: all signs even, the champion random.

    A race has three signs: w of the rival and l of the champion with the third arm, and h between
    the two, each 1 if it helps the rival. A row of two signs has 0, 1, 2 wins with prior 1/4, 1/2,
    1/4 if fair and 1/3, 1/3, 1/3 if of a strength: over fair signs 7/6, 5/6, 7/6. With h = 1 the
    states (w, l) = 00, 10, 01, 11 have 25, 35, 35, 49 of 288, with h = 0 49, 35, 35, 25. The rival
    is ahead if h = 1 and w + l >= 1. w is pivotal in h = 1, l = 0: 35 against 25, index
    4 * 35 * 25 / (60 * 288) = 175/864; l by symmetry too. h is pivotal if w + l >= 1: 119 against
    95, index 4 * 119 * 95 / (214 * 288) = 11305/15408. Both rivals meet in both races: 175/432.
    Champion against a rival: V = 11305/15408 + 175/864. The price is 1/2 (4 + L / 2) / 4 with
    L = -ln V.
    """
    belief, memory = PivotIndex().belief.init(3), PivotIndex().init(3)
    pair = PivotIndex().select(belief, memory, 1, np.random.default_rng(0))
    c = memory.place[CHAMPION]
    index = index_of(memory)
    rivals = [i for i in range(3) if i != c]
    V = 11305 / 15408 + 175 / 864
    assert index[c, rivals].tolist() == pytest.approx([V, V])
    assert index[rivals[0], rivals[1]] == pytest.approx(175 / 432)
    assert memory.wait[0] == pytest.approx(0.5 * (4 - np.log(V) / 2) / 4 / V)
    assert c in pair


def test_a_pair_that_cannot_decide_is_never_duelled():
    memory = PivotIndex().init(3)
    memory.place[CHAMPION] = 2
    belief = PivotIndex().belief.init(3)
    choose(belief, memory, np.ones(3), np.random.default_rng(0))
    assert memory.wait[0] == np.inf


@pytest.mark.parametrize("last", [600, pytest.param(8000, marks=pytest.mark.slow)])
def test_repeats_change_nothing(last):
    """Asked once for many self-duels or before every duel: the same duels and random numbers."""
    policy, P = PivotIndex(), named("mslr-5").P
    belief, memory = policy.belief.init(5), policy.init(5)
    alone = np.zeros(5, np.int64)
    rng, coins = np.random.default_rng(3), np.random.default_rng(4)
    loop = driver(play_pairs, policy.select, repeats=policy.repeats)
    one, own = policy.belief.init(5), policy.init(5)
    by_one = np.zeros(5, np.int64)
    rng_one, coins_one = np.random.default_rng(3), np.random.default_rng(4)
    half = last // 2
    for first, until in ((1, 7), (8, half), (half + 1, half + 1), (half + 2, last)):
        loop(belief, memory, P, alone, first, until, rng, coins)
        for t in range(first, until + 1):
            i, j = policy.select(one, own, t, rng_one)
            record(one, (i, j), float(coins_one.random() < P[i, j]))
            by_one[i] += i == j
        np.testing.assert_array_equal(belief.wins, one.wins)
        np.testing.assert_array_equal(alone, by_one)
        assert belief.n_duels[0] == one.n_duels[0] == until
    assert alone.sum() > 0
    assert rng.random() == rng_one.random()
    assert coins.random() == coins_one.random()


@pytest.mark.slow
def test_ten_million_duels_take_seconds():
    trace = bd.simulate(PivotIndex(), "mslr-5", 1e7, seed=1, record_at=[10**6, 10**7], workers=1)
    duels = trace["trace"]["duels"].sum("arm").isel(policy=0, replication=0)
    assert duels.values.tolist() == [2 * 10**6, 2 * 10**7]
    assert 100 < bd.regret(trace).values[0, 0, -1] < 5000
    assert trace["trace"]["recommended"].values[0, 0, -1] == 0


@pytest.mark.parametrize("last", [(1, 1), (1, 3)])
def test_duels_recorded_by_others_are_read_from_the_tallies(last):
    """A belief that grew by several duels between two questions is surveyed as a whole."""
    policy, rng = PivotIndex(), np.random.default_rng(5)
    belief, memory = policy.belief.init(4), policy.init(4)
    policy.select(belief, memory, 1, rng)
    for i, j in ((0, 1), (2, 3), (0, 2), last):
        record(belief, (i, j), 1.0)
    policy.select(belief, memory, 5, rng)
    fresh = policy.init(4)
    policy.select(belief, fresh, 5, np.random.default_rng(5))
    assert isinstance(memory, Memory)
    np.testing.assert_array_equal(memory.beats, fresh.beats)
    assert memory.place[CHAMPION] == fresh.place[CHAMPION] == 0
    np.testing.assert_allclose(index_of(memory), index_of(fresh))


def test_self_duels_of_the_champion_move_nothing():
    """All pairs tie here, so that a new look would draw random numbers."""
    champions = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        belief, memory = PivotIndex().belief.init(3), PivotIndex().init(3)
        PivotIndex().select(belief, memory, 1, rng)
        before, state = [np.copy(part) for part in memory], rng.bit_generator.state
        belief.n_duels[0], belief.last[:] = 5, memory.place[CHAMPION]
        PivotIndex().select(belief, memory, 6, rng)
        assert rng.bit_generator.state == state
        before[-1][SEEN] = 5
        for part, old in zip(memory, before, strict=True):
            np.testing.assert_array_equal(part, old)
        champions.add(int(memory.place[CHAMPION]))
    assert champions == {0, 1, 2}
