"""The fit followed by rank-one updates is the fit from scratch, and a generic optimum."""

import numpy as np
import pytest

from bayesduel.margins.moments import sample_moments
from bayesduel.margins.newton import profile
from bayesduel.margins.tallies import pair_variances
from bayesduel.margins.update import FEWEST_ARMS, nothing_kept, renew, update
from bayesduel.policies.top_k import MLPOCBAm, fit_margins, no_margins, record_margin
from tests.support.dealing import dealt
from tests.support.margin_objective import generic

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("shrinkage", [0.0, 2.0])
@pytest.mark.parametrize("n_arms", [FEWEST_ARMS - 1, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_it_is_the_fit_from_scratch_after_every_duel(n_arms, shrinkage):
    """From the same start: the fit before the duel."""
    margins, _ = dealt(n_arms, 6, 1)
    rng = np.random.default_rng(2)
    rule = MLPOCBAm(k=5, shrinkage=shrinkage)
    memory = rule.init(n_arms)
    rule.scores(margins, memory)
    followed = 0
    for _ in range(80):
        start = memory.fitted.copy()
        i, j = rule.select(margins, memory, 10**6, rng)
        np.testing.assert_allclose(memory.fitted, start, atol=1e-10)  # no duel, no change
        record_margin(margins, i, j, rng.normal(0.2, 0.5))
        rule.scores(margins, memory)
        expected = fit_margins(margins, start=start, shrinkage=shrinkage).score
        np.testing.assert_allclose(memory.fitted, expected, atol=1e-8)
        followed += memory.kept.age[0] > 0
    assert followed > 60 if n_arms >= FEWEST_ARMS else followed == 0


def test_it_is_the_optimum_of_a_generic_optimiser():
    margins, _ = dealt(26, 12, 3)
    rng = np.random.default_rng(4)
    rule = MLPOCBAm(k=5)
    memory = rule.init(26)
    floor = pair_variances(margins, 0.0, *np.zeros((3, 26, 26)))[1]
    for _ in range(5):
        rule.scores(margins, memory)
        i, j = rule.select(margins, memory, 10**6, rng)
        record_margin(margins, i, j, rng.normal(0.2, 0.5))
    rule.scores(margins, memory)
    assert memory.kept.age[0] > 0
    np.testing.assert_allclose(generic(margins, memory.fitted, floor), memory.fitted, atol=1e-8)


def test_pairs_that_met_once_count_in_the_followed_fit():
    rng, margins = np.random.default_rng(8), no_margins(26)
    score = rng.random(26)
    for i in range(26):
        for j in range(i):
            for margin in rng.normal(score[i] - score[j], 0.5, rng.integers(1, 4)):
                record_margin(margins, i, j, margin)
    rule = MLPOCBAm(k=5, shrinkage=2.0)
    memory = rule.init(26)
    rule.scores(margins, memory)
    start = memory.fitted.copy()
    record_margin(margins, 2, 20, 0.9)
    rule.scores(margins, memory)
    assert memory.kept.age[0] > 0
    expected = fit_margins(margins, start=start, shrinkage=2.0).score
    np.testing.assert_allclose(memory.fitted, expected, atol=1e-8)


def test_the_update_is_the_inverse_of_the_new_matrix():
    margins, _ = dealt(26, 5, 5)
    score = fit_margins(margins).score
    kept = nothing_kept(26)
    assert renew(sample_moments(margins, 0.0), score, kept)

    def inverse(weight):
        return np.linalg.inv((np.diag(weight.sum(axis=1)) - weight)[1:, 1:])

    np.testing.assert_allclose(kept.inverse, inverse(kept.weight), rtol=1e-6, atol=1e-12)
    for i, j in ((3, 8), (0, 4), (9, 0)):
        assert update(kept, i, j, 1.5 * kept.weight[i, j] + 1)
        np.testing.assert_allclose(kept.inverse, inverse(kept.weight), rtol=1e-6, atol=1e-12)


def test_a_duel_renews_the_weight_of_its_pair_at_the_scores_before_it():
    """Against the mixed second difference of the profile likelihood."""
    margins, _ = dealt(26, 12, 3)
    rule = MLPOCBAm(k=5)
    memory = rule.init(26)
    rule.scores(margins, memory)
    start, i, j, h = memory.fitted.copy(), 4, 9, 1e-4
    record_margin(margins, i, j, 0.7)
    rule.scores(margins, memory)
    assert memory.kept.age[0] > 0
    moments = sample_moments(margins, 0.0)

    def value(one, other):
        score = start.copy()
        score[i] += one
        score[j] += other
        return profile(moments, score)

    mixed = value(h, h) - value(h, -h) - value(-h, h) + value(-h, -h)
    assert memory.kept.weight[i, j] == pytest.approx(-mixed / (4 * h * h), rel=1e-3)


def test_what_is_kept_is_small_where_it_is_not_used():
    for n_arms, size in ((FEWEST_ARMS - 1, 1), (FEWEST_ARMS, FEWEST_ARMS)):
        kept = nothing_kept(n_arms)
        assert kept.inverse.shape == (size - 1, size - 1)
        assert kept.weight.shape == (size, size)
        assert kept.age.tolist() == [-1, -1]


def test_several_duels_at_once_are_fitted_from_scratch():
    margins, _ = dealt(26, 5, 6)
    rule = MLPOCBAm(k=5)
    memory = rule.init(26)
    rule.scores(margins, memory)
    start = memory.fitted.copy()
    for i, j in ((0, 1), (4, 2), (7, 3)):
        record_margin(margins, i, j, 1.0)
    rule.scores(margins, memory)
    np.testing.assert_allclose(memory.fitted, fit_margins(margins, start=start).score, atol=1e-8)
    assert memory.kept.age.tolist() == [0, margins.n_duels[0]]
