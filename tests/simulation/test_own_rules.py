"""Rules of one's own that name no arms: a simulation says so and reads nothing else."""

from dataclasses import dataclass

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy, MarginPolicy, PairPolicy

pytestmark = pytest.mark.plain

LEARNT = bd.beliefs.Logistic()


@compiled
def too_large(belief, memory, t, rng):
    return 0, 99


@compiled
def negative(belief, memory, t, rng):
    return -1 if t > 3 else 0, 1


@compiled
def zeros(margins, memory):
    return np.zeros(len(margins.n))


@compiled
def item_too_large(belief, memory, t, rng):
    return 99


@dataclass(frozen=True, kw_only=True)
class Large(PairPolicy):
    select = staticmethod(too_large)

    def init(self, n_arms):
        return ()


@dataclass(frozen=True, kw_only=True)
class Negative(PairPolicy):
    select = staticmethod(negative)

    def init(self, n_arms):
        return ()


@dataclass(frozen=True, kw_only=True)
class LargeMargin(MarginPolicy):
    select = staticmethod(too_large)
    scores = staticmethod(zeros)

    def on_margins(self, k, budget):
        return self

    def init(self, n_arms):
        return ()


@dataclass(frozen=True, kw_only=True)
class LargeItem(ItemPolicy):
    belief: bd.beliefs.Logistic = LEARNT
    select = staticmethod(item_too_large)

    def init(self, n_items):
        return ()


@pytest.mark.parametrize(
    ("policy", "problem", "options"),
    [
        (Large(), "hudry-13", {}),
        (Negative(), "hudry-13", {}),
        (Large(), bd.problems.davidson([1.0, 0.5, 0.0], nu=1.0), {"batch": 3}),
        (LargeMargin(), bd.problems.score_duels(6, rng=np.random.default_rng(0)), {"k": 2}),
        (LargeItem(), bd.problems.LogisticItems(n_arms=6, n_attributes=3), {}),
    ],
)
def test_arms_that_a_rule_names_exist(policy, problem, options):
    """Compiled loops wrote a number beyond the arms elsewhere: make test-all compiles them."""
    with pytest.raises(IndexError, match="select of the policy should return numbers of arms"):
        bd.simulate(policy, problem, 20, seed=0, workers=1, **options)
