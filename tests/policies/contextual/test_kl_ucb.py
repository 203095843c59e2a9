"""KL-UCB: the item with the highest bound."""

import numpy as np
import pytest
from scipy.special import xlogy

import bayesduel as bd
from bayesduel.beliefs.item_belief import ItemSet, record_pull
from bayesduel.beliefs.kl import largest_within
from bayesduel.problems import LogisticItems
from tests.support.item_beliefs import counted

pytestmark = pytest.mark.plain


def kl_bound(share, budget):
    """By bisection on the definition."""
    low, high = share, 1.0
    for _ in range(200):
        q = (low + high) / 2
        kl = xlogy(share, share / q) + xlogy(1 - share, (1 - share) / max(1 - q, 1e-300))
        low, high = (q, high) if kl <= budget else (low, q)
    return low


@pytest.mark.parametrize("c", [0.0, 3.0])
def test_klucb_names_the_highest_bound(c):
    policy = bd.policies.KLUCB(c=c)
    for seed in range(12):
        values = None if seed % 2 else np.random.default_rng(seed).uniform(0.5, 2, 40)
        belief = counted(values, seed=seed)
        memory, t = policy.init(ItemSet(*belief[:3])), int(belief.n_pulls[0]) + 1
        share = belief.successes / belief.pulls
        memory.entropy[:] = xlogy(share, share) + xlogy(1 - share, 1 - share)
        arm = policy.select(belief, memory, t, np.random.default_rng(0))
        budget = np.log(t) + c * np.log(np.log(t))
        bounds = [kl_bound(p, budget / n) for p, n in zip(share, belief.pulls, strict=True)]
        worth = np.array(bounds) * (1 if values is None else values)
        assert worth[arm] > worth.max() - 1e-9


def test_klucb_names_the_highest_bound_at_every_step():
    """With what it keeps of the shares from pull to pull."""
    problem = LogisticItems(n_arms=6, n_attributes=2).draw(np.random.default_rng(1))
    policy, rng = bd.policies.KLUCB(), np.random.default_rng(2)
    belief, memory = policy.belief.init(problem.offer), policy.init(problem.offer)
    for t in range(1, 201):
        arm = policy.select(belief, memory, t, rng)
        if t > 6:
            shares = zip(belief.successes / belief.pulls, belief.pulls, strict=True)
            bounds = [largest_within(p, np.log(t) / n) for p, n in shares]
            assert bounds[arm] > max(bounds) - 1e-9
        record_pull(belief, arm, problem.pull(arm, rng.random()))


def test_klucb_shows_everything_once_first():
    problem = LogisticItems(n_arms=9, n_attributes=2)
    trace = bd.simulate(bd.policies.KLUCB(), problem, 9)
    assert (trace["trace"]["pulls"] == 1).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.policies.KLUCB(c=-1), "c should be >= 0, got -1"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
