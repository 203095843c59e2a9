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


def plain_rule(found):
    """Return a rule that was not compiled and names `found`, whatever it reads."""

    def select(belief, memory, t, rng):
        return found

    return staticmethod(select)


@pytest.mark.parametrize("found", [1, (0,), (0, 1, 2), None, (0.5, 1), ("a", "b"), np.arange(3)])
def test_a_plain_rule_that_names_no_pair_is_told_so(found):
    kind = type("Own", (Large,), {"select": plain_rule(found)})
    with pytest.raises(
        TypeError, match=r"should return two numbers of arms, such as \(0, 1\), got"
    ):
        bd.simulate(kind(), "hudry-13", 20, workers=1)


@pytest.mark.parametrize("found", [(0, 1), [0, 1], np.array([0, 1]), (np.int64(0), np.int32(1))])
def test_a_plain_rule_may_name_a_pair_in_several_ways(found):
    kind = type("Own", (Large,), {"select": plain_rule(found)})
    trace = bd.simulate(kind(), "hudry-13", 20, workers=1, permute=False, detail="duels")
    duels = trace["trace"]["sequence"].squeeze().to_numpy()
    assert (duels[:, :2] == [0, 1]).all()


@pytest.mark.parametrize("found", [(0, 1), None, 0.5])
def test_a_plain_rule_of_items_that_names_no_item_is_told_so(found):
    kind = type("Own", (LargeItem,), {"select": plain_rule(found)})
    problem = bd.problems.LogisticItems(n_arms=6, n_attributes=3)
    with pytest.raises(TypeError, match="should return the number of one item, got"):
        bd.simulate(kind(), problem, 20, workers=1)
