"""Wins and losses as margins of 1/2 and -1/2: their variances, their problems, every policy."""

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.margins.moments import sample_moments
from bayesduel.policies.top_k import fit_margins, no_margins, record_margin
from bayesduel.problems import Matrix, RandomProblem, as_margin_problem, bradley_terry, named
from bayesduel.problems.margins import draw_margin
from tests.support.dealing import dealt

pytestmark = pytest.mark.plain

POLICIES = {
    "POCBAm": bd.policies.POCBAm(),
    "ML": bd.policies.MLPOCBAm(),
    "hybrid": bd.policies.HybridPOCBAm(threshold="calibrated"),
    "PKG": bd.policies.PKG(),
    "Laplace": bd.policies.LaplaceAllocation(),
    "PBR": bd.policies.PBR(criterion="borda"),
    "AR": bd.policies.ActiveRanking(),
    "quick": bd.policies.QuickSelect(),
    "TOP": bd.policies.SelectTop(),
    "uniform": bd.policies.Uniform(by="model"),
}


def test_variances_are_those_of_proportions():
    margins = no_margins(3)
    for i, j, wins, losses in ((0, 1, 3, 0), (0, 2, 1, 1), (1, 2, 0, 2)):
        for margin in [0.5] * wins + [-0.5] * losses:
            record_margin(margins, i, j, margin)
    _, mean, scatter, variance, pooled, _, _ = sample_moments(margins, 0.0)
    np.testing.assert_allclose(variance[[0, 0, 1], [1, 2, 2]], [4 / 25, 1 / 4, 3 / 16])
    np.testing.assert_allclose(scatter[[0, 0, 1], [1, 2, 2]], [12 / 25, 1 / 2, 3 / 8])
    assert pooled == pytest.approx((12 / 25 + 1 / 2 + 3 / 8) / 7)
    np.testing.assert_allclose(mean[0], [0, 0.5, 0])
    shrunk = sample_moments(margins, 2.0).variance
    np.testing.assert_allclose(shrunk[0, 1], (2 * pooled + 12 / 25) / 5)
    assert np.isfinite(fit_margins(margins).score).all()
    record_margin(margins, 0, 1, 0.0)  # a margin that is no win: the sample's own variances
    assert sample_moments(margins, 0.0).variance[1, 2] == pytest.approx(0, abs=1e-5)


def test_a_pair_that_met_once_has_the_pooled_variance_or_the_floor():
    margins = no_margins(3)
    for i, j, margin in ((0, 1, 1.0), (0, 1, 3.0), (0, 1, 8.0), (0, 2, 5.0)):
        record_margin(margins, i, j, margin)
    _, _, scatter, variance, pooled, floor, _ = sample_moments(margins, 0.0)
    assert pooled == pytest.approx(26 / 2)  # two degrees of freedom, all of pair 0, 1
    assert floor == pytest.approx(1e-6 * pooled)
    np.testing.assert_allclose(variance[0], [0, 13, floor])
    assert variance[1, 2] == 0  # never met
    assert scatter[0, 2] == 0
    shrunk = sample_moments(margins, 2.0).variance
    np.testing.assert_allclose(shrunk[0], [0, (2 * 13 + 26) / 4, 13])


def test_other_margins_keep_their_own_variances():
    margins, rows = dealt(4, 5, 0)
    own = rows[(rows[:, 0] == 2) & (rows[:, 1] == 1), 2]
    assert sample_moments(margins, 0.0).variance[2, 1] == pytest.approx(own.var(ddof=1))


def test_a_matrix_deals_wins_by_its_chances_and_ranks_by_borda():
    P = np.array([[0.5, 0.8, 0.35], [0.2, 0.5, 0.9], [0.65, 0.1, 0.5]])
    problem = as_margin_problem(Matrix(P))
    np.testing.assert_allclose(problem.scores, P.sum(axis=1) - 1.5)
    drawn = np.array([draw_margin(problem.dice, 0, 1, n, np.uint64(5)) for n in range(4000)])
    assert set(drawn.tolist()) == {-0.5, 0.5}
    assert stats.binomtest(int((drawn > 0).sum()), 4000, 0.8).pvalue > 1e-6
    assert draw_margin(problem.dice, 1, 0, 7, np.uint64(5)) == -drawn[7]


@pytest.mark.slow
def test_every_policy_selects_on_wins():
    """The k-th and the next score are 0.4 apart, their standard error at 6,000 duels is 0.05."""
    trace = bd.simulate(
        POLICIES, named("arithmetic-8"), 6000, k=3, replications=3, record_at=[6000]
    )
    selected = trace["trace"]["selected"].isel(time=-1)
    np.testing.assert_array_equal(selected, np.broadcast_to(np.arange(8) < 3, selected.shape))


def test_a_family_of_matrices_is_drawn_from():
    family = RandomProblem(n_arms=5, generator=bradley_terry)
    trace = bd.simulate(bd.policies.POCBAm(), family, 60, k=2, replications=3)
    scores = trace["problem"]["score"].values
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)
    assert len(np.unique(scores[:, 0])) == 3
