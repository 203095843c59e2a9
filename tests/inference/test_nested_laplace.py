"""Laplace's method nested in importance sampling: its proposals, without a model."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bayesduel.inference import nested_laplace
from bayesduel.inference.nested_laplace import Known, Mode, NestedLaplace, find_mode
from bayesduel.inference.population_monte_carlo import FREEDOM, Proposal
from bayesduel.inference.varying_effects import Parts


@pytest.fixture
def blank():
    """Return an approximation of no model with one hyperparameter and three shared parameters."""
    proposal = Proposal(np.zeros(1), np.eye(1), np.zeros(1, dtype=bool))
    known = Known(np.zeros((1, 1)), (None,))
    return NestedLaplace(
        None, None, None, np.zeros(1), None, proposal, known, np.zeros(3), np.ones(3)
    )


@pytest.fixture
def target(monkeypatch):
    """Return a function that makes a distribution the posterior of the shared parameters.

    The posterior of the hyperparameter is its proposal.
    """

    def made(law):
        def draw(density, phi, mode, z, candidates, rng):
            value = law.logpdf(z).sum() + stats.t(FREEDOM).logpdf(phi).sum()
            return nested_laplace._Drawn(z, value, value, np.empty(0))

        monkeypatch.setattr(nested_laplace, "_draw", draw)
        monkeypatch.setattr(nested_laplace, "_conditional", lambda *_: (0.0, object()))

    return made


def test_a_proposal_that_is_the_posterior_has_equal_weights(blank, target):
    law = stats.norm([1.0, -2.0, 0.5], [1.5, 0.7, 1.0])
    target(law)
    same = replace(blank, shift=law.mean(), scale=law.std())
    rng = np.random.default_rng(0)
    ratios = [same._drawn(np.zeros(1), None, z, rng).log_ratio for z in law.rvs((5, 3), rng)]
    np.testing.assert_allclose(ratios, stats.t(FREEDOM).logpdf(0))


def test_proposals_learn_a_normal_posterior_by_at_most_a_factor_of_root_two(blank, target):
    target(stats.norm([0.0, 0.3, 0.0], [3.0, 1.2, 0.4]))
    learned = blank._learned(200, np.random.default_rng(0), np.zeros(1, dtype=bool))
    np.testing.assert_allclose(learned.scale, [np.sqrt(2), 1.2, np.sqrt(0.5)], rtol=1e-3)
    assert learned.shift[1] == pytest.approx(0.3, abs=1e-3)


def test_a_refinement_has_four_times_as_many_candidates_until_they_are_many(blank):
    uneven, even = np.array([0.91, *[0.01] * 9]), np.full(10, 0.1)
    assert blank.refined(None, even) is None
    refined = blank.refined(None, uneven)
    assert refined.candidates == 4 * blank.candidates
    assert refined.refined(None, uneven) is None


class Bowl:
    """A log density of a normal distribution in two numbers, less a large constant."""

    def parts(self, shared, varying, phi):
        return Parts(
            -1e9 - (shared @ shared + (varying**2).sum()) / 2, -shared, -varying,
            np.eye(1), np.zeros((1, 1, 1)), np.ones((1, 1, 1)), np.ones((1, 1)),
        )  # fmt: skip


def test_newton_allows_for_the_rounding_of_a_large_log_density():
    """The step gains 1e-3, 1e-12 of the density; doubles have 16 digits."""
    none = np.empty((0, 0, 0))
    near = Mode(np.array([0.02]), np.array([[0.02]]), 0.0, none, none, none, none)
    mode = find_mode(Bowl(), np.zeros(1), near, 1e-9)
    np.testing.assert_allclose([mode.shared[0], mode.varying[0, 0]], 0, atol=1e-9)
