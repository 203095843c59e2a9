"""POCOWISTA beside a plain version, and the arm that it finds where duels tie."""

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.problems import Matrix, named

pytestmark = pytest.mark.plain
DELTA = 0.1


def plain(n_arms):
    """Yield the pairs that may be duelled and get one and its score; return possible answers."""
    points, met = [0.0] * n_arms, [{i} for i in range(n_arms)]
    while True:
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
            share = DELTA / (n_arms * (n_arms - 1) / 2)
            if stats.beta.pdf(0.5, first + 1, second + 1) <= share / 2:
                break
        (i, j), score = pair, max(seen, key=seen.get)
        points[i], points[j] = points[i] + score, points[j] + 1 - score
        met[i].add(j)
        met[j].add(i)


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
    problem = drawn(4, seed)
    policy = bd.POCOWISTA(delta=DELTA)
    belief, memory, steps = policy.belief.init(4), policy.init(4), plain(4)
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
            return
    raise AssertionError("no answer")


def test_the_winner_where_ties_are_likeliest_is_found():
    """Arm 0 beats arms 1 and 2 more often, arm 3 ties with all: P alone has another winner."""
    P, ties = np.full((4, 4), 0.5), np.zeros((4, 4))
    for i, j, p, tie in ((0, 1, 0.9, 0.0), (0, 2, 0.9, 0.0), (3, 0, 0.6, 0.7), (3, 1, 0.6, 0.7),
                         (3, 2, 0.6, 0.7), (1, 2, 0.9, 0.0)):  # fmt: skip
        P[i, j], P[j, i], ties[i, j], ties[j, i] = p, 1 - p, tie, tie
    problem = Matrix(P, "ties", ties=ties)
    trace = bd.simulate(bd.POCOWISTA(delta=0.05), problem, 3000, replications=15, seed=1)
    found = bd.success_rate(trace, criterion="copeland_indifference").isel(time=-1)
    assert (trace["trace"]["answered"] > 0).all()
    assert found["rate"] == 1  # 15 errors of 5 % or fewer are all absent with chance 0.46 at least
    assert bd.success_rate(trace, criterion="copeland")["rate"].isel(time=-1) == 0


def test_without_ties_both_notions_are_one():
    trace = bd.simulate(bd.POCOWISTA(), named("cyclic-4"), 300, replications=3, seed=1)
    lost = [bd.opportunity_cost(trace, name) for name in ("copeland", "copeland_indifference")]
    np.testing.assert_allclose(*lost)
