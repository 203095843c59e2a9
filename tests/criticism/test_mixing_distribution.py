"""The mixing distribution of a mixture model by maximum likelihood."""

import numpy as np
import pytest
from scipy.stats import binom

from bayesduel.criticism.transitivity.mixing_distribution import mixing_weights

GRID = np.linspace(0.5, 0.995, 34)


def binomial_likelihood(wins, duels):
    return binom.pmf(np.asarray(wins)[:, None], duels, GRID)


def test_two_duels_a_pair_are_fitted_exactly():
    # three outcomes and a mixture of two points, 0.515 and 0.95, that has these chances
    chance = 0.5 * binom.pmf([0, 1, 2], 2, 0.515) + 0.5 * binom.pmf([0, 1, 2], 2, 0.95)
    likelihood = binomial_likelihood([0, 1, 2], 2)
    weights = mixing_weights(likelihood, 10_000 * chance)
    assert likelihood @ weights == pytest.approx(chance, abs=2e-5)


@pytest.mark.parametrize("duels", [1, 3, 12, 60])
def test_weights_are_those_of_the_maximum(duels):
    """Lindsay 1983: no point's directional derivative is above 0, those with weight have 0."""
    rng = np.random.default_rng(duels)
    wins = rng.binomial(duels, rng.choice([0.55, 0.7, 0.98], 300))
    outcome, number = np.unique(wins, return_counts=True)
    likelihood = binomial_likelihood(outcome, duels)
    weights = mixing_weights(likelihood, number)
    derivative = number @ (likelihood / (likelihood @ weights)[:, None]) / number.sum() - 1
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    assert derivative.max() < 2e-6
    assert abs(derivative[weights > 1e-3]).max() < 1e-4


@pytest.mark.parametrize("seed", [31, 147, 206])
def test_pairs_that_are_almost_all_unanimous_have_weights(seed):
    """Of a strict hierarchy: from equal weights, no step of Newton was found (a RuntimeError)."""
    rng = np.random.default_rng(seed)
    duels = np.unique(rng.integers(1, 72, 45))
    few = duels[rng.random(len(duels)) < 0.2]
    won, lost = np.r_[duels, 0 * few, 9, 1, 7], np.r_[0 * duels, few, 4, 7, 1]
    number = np.r_[rng.integers(1, 8, len(duels)), np.full(len(few), 0.025), 1, 0.275, 0.725]
    log = won[:, None] * np.log(GRID) + lost[:, None] * np.log1p(-GRID)
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    weights = mixing_weights(likelihood, number)
    derivative = number @ (likelihood / (likelihood @ weights)[:, None]) / number.sum() - 1
    assert derivative.max() < 2e-6


def test_no_expectation_maximisation_reaches_more():
    rng = np.random.default_rng(0)
    likelihood = rng.gamma(0.3, size=(40, len(GRID))) + 1e-6
    number = rng.integers(1, 9, 40)
    weights = np.full(len(GRID), 1 / len(GRID))
    for _ in range(20_000):
        share = likelihood * weights
        weights = number @ (share / share.sum(axis=1, keepdims=True)) / number.sum()
    reached = number @ np.log(likelihood @ mixing_weights(likelihood, number))
    assert reached >= number @ np.log(likelihood @ weights) - 1e-6


def test_a_certain_observation_has_all_weight():
    likelihood = np.array([[0.0, 0.0, 1.0]])
    assert mixing_weights(likelihood, np.array([5])) == pytest.approx([0, 0, 1], abs=1e-6)
