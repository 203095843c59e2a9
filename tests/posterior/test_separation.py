"""Rank ranges and tiers by pairwise certainty."""

from itertools import pairwise

import numpy as np
import pytest

from bayesduel.posterior.separation import (
    _largest_differences,
    _of_few,
    rank_range,
    separation,
    tiers,
)
from bayesduel.posterior.winners import winners
from tests.support.drawn_by_hand import score_draws, tree


def drawn(means, sd, n=2000, seed=14) -> np.ndarray:
    """Return independent normal draws around `means`."""
    return np.asarray(means) + sd * np.random.default_rng(seed).normal(size=(n, len(means)))


def test_by_hand():
    # a and b are close, c is far below both, d far below c.
    found = separation(drawn([3.0, 2.9, 0.0, -3.0], 0.2), 0.95)
    best, worst = rank_range(found)
    assert (best.tolist(), worst.tolist()) == ([1, 1, 3, 4], [2, 2, 3, 4])
    assert tiers(found, np.arange(4)).tolist() == [1, 1, 2, 3]


@pytest.mark.slow
def test_few_arms_are_compared_as_many_are():
    by_arm = drawn([0.3, 0.0, -1.0, 2.0], 0.7, 500).T ** 3  # skewed
    for few, many in zip(_of_few(by_arm), _largest_differences(by_arm), strict=True):
        assert few == pytest.approx(many, rel=1e-12, abs=1e-11)


def test_a_hundred_arms_have_tiers_though_neighbours_are_uncertain():
    """99 arms in one tier was the answer of boundaries that hold jointly for all arms."""
    score = drawn(np.linspace(4, -4, 100), 0.25)
    w = winners(tree(score_draws(score), labels=[f"{k:03}" for k in range(100)]))
    order = w["order"].values
    tier = w["tier"].values[order]
    assert (np.diff(tier) >= 0).all() and 5 <= tier[-1] <= 12
    assert np.bincount(tier).max() < 25
    width = (w["rank_joint_upper"] - w["rank_joint_lower"]).values + 1
    assert np.median(width) < 40
    # Each boundary: the first arm of a tier is ahead of all arms below, in 95 % of the draws.
    firsts = np.flatnonzero(np.diff(tier, prepend=0))
    by_place = score[:, order]
    held = [(by_place[:, [a]] > by_place[:, b:]).all(1).mean() for a, b in pairwise(firsts)]
    assert min(held) >= 0.95
    assert w.attrs["tier_error"] == pytest.approx(1 - min(held))


def test_equal_arms_are_not_separated_by_luck():
    """The draws of 30 equal arms whose means differ as their standard errors have it."""
    rng = np.random.default_rng(15)
    n_wrong = 0
    for _ in range(40):
        best, worst = rank_range(separation(drawn(0.3 * rng.normal(size=30), 0.3, 400), 0.95))
        n_wrong += int(((best > 1) | (worst < 30)).sum())
    # A share of 0.05 of 1,200 ranges, which are not independent: 60; quantiles give about 400.
    assert n_wrong <= 60


def test_what_is_certain_and_what_is_equal():
    certain = np.tile([2.0, 1.0, 1.0], (50, 1))
    best, worst = rank_range(separation(certain, 0.95))
    assert (best.tolist(), worst.tolist()) == ([1, 2, 2], [1, 3, 3])
    assert tiers(separation(certain, 0.95), np.arange(3)).tolist() == [1, 2, 2]
    level = separation(np.zeros((50, 3)), 0.95)
    assert tiers(level, np.arange(3)).tolist() == [1, 1, 1]
    assert not level.above.any() and not level.below.any()
