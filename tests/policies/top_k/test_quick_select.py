"""Quick select beside a plain version, the duels of equal arms, and how often it is wrong."""

from itertools import permutations
from math import ceil, log

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies.top_k import no_margins, record_margin
from bayesduel.problems import Matrix, named
from tests.policies.test_tournaments import distribute
from tests.support.dealing import play

pytestmark = pytest.mark.plain
DELTA, EPSILON = 0.1, 0.2


def plain(arms, k, delta):
    """Yield the pairs that may meet, get one and whether its first arm won; return sets.

    The sets are the arms selected for sure, and those of which some are.
    """
    n, sets = len(arms), {1: set(), 0: set(), -1: set()}
    pair, won = yield set(permutations(arms, 2))
    pivot, unmet = pair[1], arms - set(pair)
    sets[0].add(pivot)
    while True:
        found = yield from distribute(pair, won, EPSILON / 2, 0, delta / (n * (n - 1)))
        sets[found].add(pair[0])
        if not unmet:
            break
        pair, won = yield {(i, pivot) for i in unmet}
        unmet = unmet - {pair[0]}
    above, equal, below = sets[1], sets[0], sets[-1]
    if len(above) > k:
        return (yield from plain(above, k, (n - 1) / n * delta))
    if len(above | equal) >= k:
        return above, equal
    rest = yield from plain(below, k - len(above | equal), (n - 1) / n * delta)
    return above | equal | rest[0], rest[1]


@pytest.mark.parametrize(("problem", "k"), [("linear", 1), ("linear", 4), ("flat", 9), ("flat", 5)])
@pytest.mark.sampled(3)
def test_lockstep_until_it_stops(problem, k):
    P = named(problem, n_arms=10, e=0.35).P if problem == "flat" else named(problem).P
    for seed in range(3):
        policy, steps = (
            bd.policies.QuickSelect(k=k, epsilon=EPSILON, delta=DELTA),
            plain(set(range(10)), k, DELTA),
        )
        margins, memory = no_margins(10), policy.init(10)
        rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        allowed = next(steps)
        for t in range(1, 200_000):
            pair = tuple(int(i) for i in policy.select(margins, memory, t, rng))
            assert pair in allowed
            won = bool(coins.random() < P[pair])
            record_margin(margins, *pair, won - 0.5)
            try:
                allowed = steps.send((pair, won))
            except StopIteration as end:
                assert policy.select(margins, memory, t + 1, rng) == (-1, -1)
                selected = set(np.argsort(-policy.scores(margins, memory))[:k].tolist())
                assert selected == set(np.flatnonzero(memory.place == 1))
                assert end.value[0] <= selected <= end.value[0] | end.value[1]
                break


def test_equal_arms_take_one_pass_of_the_longest_matches():
    policy = bd.policies.QuickSelect(k=3, epsilon=EPSILON, delta=DELTA)
    margins, memory = play(policy, 6, 100_000, lambda i, j, rng: 0.0)
    match = ceil(8 / EPSILON**2 * log(4 * 30 / DELTA))
    assert margins.n_duels[0] == 5 * match
    assert sorted(np.unique(margins.n)) == [0, match]
    assert (memory.place == 1).sum() == 3


@pytest.mark.slow
def test_wrong_selections_are_at_most_delta():
    """Six arms by Bradley-Terry, gaps of more than epsilon: only one selection is right."""
    logits = 0.6 * np.arange(6)[::-1]
    problem = Matrix(1 / (1 + np.exp(logits - logits[:, None])), "Bradley-Terry")
    policy = bd.policies.QuickSelect(epsilon=0.14, delta=0.2)
    trace = bd.simulate(policy, problem, 60_000, k=2, replications=20, seed=3, record_at=[60_000])
    assert (trace["trace"]["spent"] < 60_000).all()
    wrong = 20 - int(bd.success_rate(trace)["success"].sum())
    assert wrong <= stats.binom.isf(1e-6, 20, 0.2)
    bound = 4 * 6 * (8 / 0.14**2 * log(4 * 30 / 0.2) + 1)  # a pass costs n, all together 4 n
    assert trace["trace"]["spent"].mean() < bound


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.policies.QuickSelect(epsilon=0.5), r"epsilon should be in \(0, 0.5\), got 0.5"),
        (lambda: bd.policies.QuickSelect(delta=0.0), r"delta should be in \(0, 1\), got 0"),
        (lambda: bd.policies.QuickSelect(k=3).init(3), r"k should be from 1 to 2, got 3"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
