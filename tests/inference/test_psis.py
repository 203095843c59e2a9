"""Importance weights smoothed by a generalised Pareto distribution, beside ArviZ's."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesduel.inference.draws import Proposals
from bayesduel.inference.psis import TRUSTED, importance_weights, pareto_fit, resample, tails
from bayesduel.inference.sample import _multiplied, _Weighed

LAWS = {
    "normal": lambda rng, n: rng.normal(0, 1.5, n),
    "heavy tail": lambda rng, n: rng.standard_t(2, n),
    "exponential": lambda rng, n: rng.exponential(0.7, n),
    "bounded": lambda rng, n: -rng.exponential(1.0, n),
    "nearly equal": lambda rng, n: rng.uniform(0, 1e-3, n),
}


@pytest.mark.parametrize("n", [100, 225, 226, 4000])
@pytest.mark.parametrize("law", LAWS)
def test_weights_and_khat_are_those_of_arviz(law, n):
    log_ratio = LAWS[law](np.random.default_rng(n), n)
    log_weights, khat = array_stats.psislw(-log_ratio)
    weights = np.exp(log_weights) / np.exp(log_weights).sum()
    found = importance_weights(log_ratio)
    assert found.khat == pytest.approx(float(khat), rel=1e-10, abs=1e-10)
    assert found.weights == pytest.approx(weights, rel=1e-10)
    assert found.effective == pytest.approx(1 / (weights**2).sum(), rel=1e-10)


def test_ratios_that_do_not_vary_are_exact_and_those_that_are_not_finite_worthless():
    exact, lost = importance_weights(np.zeros(100)), importance_weights(np.full(100, np.nan))
    assert (exact.khat, exact.effective) == (-np.inf, 100)
    assert (lost.khat, lost.effective) == (np.inf, 1)


class Proposing:
    """An approximation of one standard normal parameter, whose ratios have a law."""

    def __init__(self, law):
        self.law = law
        self.asked = []

    def propose(self, n, rng):
        """Return draws; say how many were asked for."""
        self.asked.append(n)
        nothing = np.zeros((n, 0))
        return Proposals(rng.normal(size=(n, 1)), nothing, self.law(rng, n), np.zeros(n), None)

    def parameters(self, x, hyper, rng):
        """Return the parameter by name."""
        return {"score": x[:, 0]}


@pytest.mark.parametrize("law", ["normal", "none", "heavy tail"])
def test_more_draws_are_made_only_where_weights_can_be_trusted(law):
    """Ratios that spread, are missing, or have a heavy tail: 500 draws each."""
    rng = np.random.default_rng(1)
    laws = LAWS | {"none": lambda _, n: np.full(n, np.nan)}
    approximation = Proposing(laws[law])
    proposals = approximation.propose(500, rng)
    psis = importance_weights(proposals.log_ratio)
    assert (psis.khat < TRUSTED) == (law == "normal")
    kept = resample(psis.weights, 500, rng)
    found = _Weighed(approximation, proposals, psis, tails(proposals.x, psis.weights, kept), kept)
    more = _multiplied(found, 500, rng)
    if law == "normal":
        assert sum(approximation.asked) == len(more.proposals.x) > 500
    else:
        assert more is found and approximation.asked == [500]


def test_a_tail_of_equal_draws_has_no_shape():
    assert np.isnan(pareto_fit(np.ones(20))).all()


def test_the_shape_of_exact_quantiles_is_found():
    level, shape = (np.arange(20_000) + 0.5) / 20_000, 0.3
    found, scale = pareto_fit(2 * np.expm1(-shape * np.log1p(-level)) / shape)
    assert (found, scale) == pytest.approx((shape, 2), rel=0.01)
