"""POCOWISTA beside a plain version, and the arm that it finds where duels tie."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.problems import Matrix, named

pytestmark = pytest.mark.plain
DELTA = 0.1


def following(known, n_arms):
    """What follows by transitivity from the points of pairs, ties included."""
    known = {**known, **{(i, i): 0.5 for i in range(n_arms)}}
    for k, i, j in product(range(n_arms), repeat=3):
        above, below = known.get((i, k), 0), known.get((k, j), 0)
        if above >= 0.5 and below >= 0.5:
            known[i, j] = max(above, below, known.get((i, j), 0))
            known[j, i] = 1 - known[i, j]
    return known


def plain(n_arms, transitive=False):
    """Yield the pairs that may be duelled and get one and its score; return possible answers."""
    known = {(i, i): 0.5 for i in range(n_arms)}
    pairs = n_arms - 1 if transitive else n_arms * (n_arms - 1) / 2
    while True:
        met = [{j for j in range(n_arms) if (i, j) in known} for i in range(n_arms)]
        points = [sum(known[i, j] for j in met[i] - {i}) for i in range(n_arms)]
        most = [points[i] + n_arms - len(met[i]) for i in range(n_arms)]
        others = [max(most[:i] + most[i + 1 :]) for i in range(n_arms)]
        sure = {i for i in range(n_arms) if points[i] >= others[i]}
        if sure:
            return sure
        allowed = set()
        for i in (k for k in range(n_arms) if most[k] == max(most)):
            new = set(range(n_arms)) - met[i]
            allowed |= {(i, j) for j in new if points[j] == max(points[k] for k in new)}
        seen = {0.0: 0, 0.5: 0, 1.0: 0}
        while True:
            pair, score = yield allowed
            allowed = {pair}
            seen[score] += 1
            first, second, _ = sorted(seen.values(), reverse=True)
            if stats.beta.pdf(0.5, first + 1, second + 1) <= DELTA / pairs / 2:
                break
        known[pair] = max(seen, key=seen.get)
        known[pair[::-1]] = 1 - known[pair]
        known = following(known, n_arms) if transitive else known


def drawn(n_arms, seed):
    """A problem whose pairs have outcomes of which any may be likeliest."""
    rng = np.random.default_rng(seed)
    win, tie, loss = np.moveaxis(rng.dirichlet([0.3, 0.3, 0.3], (n_arms, n_arms)), -1, 0)
    upper = np.triu(np.ones((n_arms, n_arms), bool), 1)
    P = np.where(upper, win + tie / 2, 0.0)
    P = P + np.where(upper, loss + tie / 2, 0.0).T + np.eye(n_arms) / 2
    ties = np.where(upper, tie, 0.0)
    return Matrix(P, ties=ties + ties.T)


@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_lockstep_until_the_answer(seed):
    lockstep(drawn(4, seed), seed, transitive=False)


def likely(points):
    """A problem whose pairs have these points, 0, 1/2 or 1, with a chance of 0.8."""
    ties = np.where(np.eye(len(points)), 0.0, np.where(points == 0.5, 0.8, 0.1))
    return Matrix(0.5 + 0.7 * (points - 0.5), ties=ties)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lockstep_of_transitive_preferences(seed):
    """Also where preferences are not transitive: K - 1 pairs at most."""
    rng = np.random.default_rng(seed)
    level, any_order = rng.integers(0, 3, 7), np.triu(rng.integers(-1, 2, (7, 7)))
    for sign in (np.sign(level[:, None] - level), any_order - any_order.T):
        wins = lockstep(likely((1 + sign) / 2), seed, transitive=True)
        assert np.triu(wins + wins.T > 0, 1).sum() <= 6


def lockstep(problem, seed, transitive):
    """Play beside the plain version until both have an answer; return the tallies."""
    n_arms = problem.n_arms
    policy = bd.policies.POCOWISTA(delta=DELTA, transitive=transitive)
    belief, memory = policy.belief.init(n_arms), policy.init(n_arms)
    steps = plain(n_arms, transitive)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    allowed = next(steps)
    for t in range(1, 100_000):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        assert pair in allowed
        outcome = problem.duel(pair, coins.random())
        record(belief, pair, outcome)
        try:
            allowed = steps.send((pair, outcome))
        except StopIteration as end:
            policy.select(belief, memory, t + 1, rng)
            assert memory.answer.arm[0] in end.value
            assert memory.answer.time[0] == t
            return belief.wins
    raise AssertionError("no answer")


def test_the_winner_where_ties_are_likeliest_is_found():
    """Arm 0 beats arms 1 and 2 more often, arm 3 ties with all: P alone has another winner."""
    P, ties = np.full((4, 4), 0.5), np.zeros((4, 4))
    for i, j, p, tie in ((0, 1, 0.9, 0.0), (0, 2, 0.9, 0.0), (3, 0, 0.6, 0.7), (3, 1, 0.6, 0.7),
                         (3, 2, 0.6, 0.7), (1, 2, 0.9, 0.0)):  # fmt: skip
        P[i, j], P[j, i], ties[i, j], ties[j, i] = p, 1 - p, tie, tie
    problem = Matrix(P, "ties", ties=ties)
    trace = bd.simulate(bd.policies.POCOWISTA(delta=0.05), problem, 3000, replications=15, seed=1)
    found = bd.success_rate(trace, criterion="copeland_indifference").isel(time=-1)
    assert (trace["trace"]["answered"] > 0).all()
    assert found["rate"] == 1  # 15 errors of 5 % or fewer are all absent with chance 0.46 at least
    assert bd.success_rate(trace, criterion="copeland")["rate"].isel(time=-1) == 0


def test_without_ties_both_notions_are_one():
    trace = bd.simulate(bd.policies.POCOWISTA(), named("cyclic-4"), 300, replications=3, seed=1)
    lost = [bd.opportunity_cost(trace, name) for name in ("copeland", "copeland_indifference")]
    np.testing.assert_allclose(*lost)


def test_transitive_preferences_take_fewer_duels():
    """Three arms share the first place."""
    level = np.array([1, 1, 1, 0, 0, -1])
    policies = [
        bd.policies.POCOWISTA(delta=0.05),
        bd.policies.POCOWISTA(delta=0.05, transitive=True),
    ]
    problem = likely((1 + np.sign(level[:, None] - level)) / 2)
    trace = bd.simulate(policies, problem, 800, replications=10, seed=1, record_at=[800])
    answered = trace["trace"]["answered"]
    assert (answered > 0).all()
    assert answered[1].mean() < 0.7 * answered[0].mean()
    found = bd.success_rate(trace, criterion="copeland_indifference").isel(time=-1)
    assert (found["rate"] == 1).all()
