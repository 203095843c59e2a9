"""Track-and-Stop beside a plain version, its martingale exactly, and its duels for a tiny delta."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies.track_and_stop import log_factor
from bayesduel.problems import Matrix, named

pytestmark = pytest.mark.plain
# Arm 0 wins by little against arms 1 and 2, which arm 3 and arm 1 beat clearly.
DETOUR = Matrix(
    [[0.5, 0.6, 0.6, 0.8], [0.4, 0.5, 0.95, 0.1], [0.4, 0.05, 0.5, 0.4], [0.2, 0.9, 0.6, 0.5]],
    "detour",
)


def log_product(wins, j, n_arms):
    """The logarithm of the product over the pairs of arm j, from the densities."""
    total, weight = 0.0, 1 / (n_arms - 1)
    for k in set(range(n_arms)) - {j}:
        won, lost = wins[j, k], wins[k, j]
        share = max(won / (won + lost), 0.5) if won + lost else 0.5
        largest = stats.bernoulli.logpmf(1, share) * won
        largest += stats.bernoulli.logpmf(0, share) * lost if lost else 0.0
        mean = np.exp(betaln(won + 1, lost + 1) - largest)
        total += np.log(1 - weight + weight * mean)
    return total


def allowed(wins, t, delta):
    """The pairs that the rule may name, and the arms that it may answer."""
    n_arms = len(wins)
    products = np.array([log_product(wins, j, n_arms) for j in range(n_arms)])
    likely = set(np.flatnonzero(products < products.min() + 1e-9))
    answers = {i for i in likely if np.delete(products, i).min() >= np.log(1 / delta)}
    pairs = list(permutations(range(n_arms), 2))
    least = min(wins[i, j] + wins[j, i] for i, j in pairs)
    if least < max(1, np.sqrt(t / (len(pairs) / 2))):
        return {(i, j) for i, j in pairs if wins[i, j] + wins[j, i] == least}, answers
    named_pairs = set()
    for best in likely:
        others = np.delete(products, best).min() + 1e-9
        for j in (j for j in range(n_arms) if j != best and products[j] <= others):
            shares = {k: wins[j, k] / (wins[j, k] + wins[k, j]) for k in range(n_arms) if k != j}
            lowest = min(shares.values())
            clearest = {k for k in shares if shares[k] == lowest} if lowest < 0.5 else {best}
            named_pairs |= {(k, j) for k in clearest}
    return named_pairs, answers


@pytest.mark.parametrize(
    "problem",
    [pytest.param(named("mslr-5"), marks=pytest.mark.slow), DETOUR, named("cyclic-4")],
    ids=str,
)
def test_lockstep_until_the_answer(problem):
    policy, n_arms = bd.policies.TrackAndStop(delta=0.2), problem.n_arms
    belief, memory = policy.belief.init(n_arms), policy.init(n_arms)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    for t in range(1, 500):
        pairs, answers = allowed(belief.wins, t, 0.2)
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        if answers:
            assert pair[0] == pair[1] == memory.answer.arm[0]
            assert pair[0] in answers
            assert memory.answer.time[0] == t - 1
            return
        assert pair in pairs
        record(belief, pair, problem.duel(pair, coins.random()))
    assert problem.name == "mslr-5"  # the gaps of which are small


@pytest.mark.parametrize("weight", [1.0, 0.25])
@pytest.mark.parametrize("ties", [0.0, 0.3])
def test_the_factor_has_a_mean_of_at_most_one_if_the_arm_wins(weight, ties):
    """And of more than one if it loses: the exact law of 12 duels."""
    n, found = 12, {}
    for p in (0.3, 0.5, 0.6, 0.8):
        chances = [p - ties / 2, ties, 1 - p - ties / 2]
        points = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
        law = stats.multinomial.pmf(points, n, chances)
        factors = [np.exp(log_factor(a + b / 2, c + b / 2, weight)) for a, b, c in points]
        found[p] = law @ factors
    assert max(found[0.5], found[0.6], found[0.8]) <= 1
    assert found[0.3] > 1


@pytest.mark.parametrize("problem", [DETOUR, named("linear", n_arms=3)], ids=["detour", "linear"])
@pytest.mark.sampled(2)
def test_tiny_delta_takes_few_more_duels_than_the_least(problem):
    """Also where others than the winner beat an arm most clearly."""
    delta = 1e-100
    least = bd.least_duels(problem.P, delta)
    given = {"record_at": [30_000], "replications": 3, "seed": 1, "workers": 1}
    trace = bd.simulate(bd.policies.TrackAndStop(delta=delta), problem, 30_000, **given)["trace"]
    answered = trace["answered"].values
    assert (trace["recommended"] == 0).all()
    assert 0.9 < answered.min() / least and answered.max() / least < 1.35
