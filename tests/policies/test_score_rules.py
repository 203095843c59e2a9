"""What the posterior-driven rules share."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesduel.policies import (
    ContrastAllocation,
    InformationGain,
    KnowledgeGradient,
    TopTwoThompson,
)
from bayesduel.policies.contrast_allocation import disagreement, reduction
from bayesduel.policies.expected_improvement import improvement
from bayesduel.policies.information_gain import (
    ALL_PAIRS,
    NEAR,
    answers,
    candidates,
    most_open,
    possible_duels,
)
from bayesduel.policies.score_rules import OUT, members
from bayesduel.policies.top_two_thompson import pair_in_question, variance_reduction

pytestmark = pytest.mark.plain

PAIRS = [(i, j) for i in range(4) for j in range(i)]


def test_the_best_of_a_draw_with_arms_out_of_question():
    scores = np.array([[0.3, OUT, 2.0, 1.0, OUT], [OUT, OUT, OUT, 1.0, 2.0]])
    assert members(scores, 2)[0].tolist() == [False, False, True, True, False]
    assert members(scores, 3).sum(axis=1).tolist() == [3, 3]


def test_more_than_one_arm_is_for_the_top_k_alone():
    assert KnowledgeGradient(k=2, about="top_k").k == 2
    with pytest.raises(ValueError, match="k should be 1 unless about='top_k', got 2"):
        KnowledgeGradient(k=2, about="winner")
    with pytest.raises(ValueError, match="k should be at least 1, got 0"):
        KnowledgeGradient(k=0, about="top_k")


def test_beyond_30_arms_the_candidates_are_pairs_of_contenders_and_their_neighbours():
    """Arms in the order of their numbers; 2, 5 and 20 are best in some draws."""
    n_arms, open_ = ALL_PAIRS + 4, (2, 5, 20)
    cost = np.ones((n_arms, n_arms))
    cost[5, 2] = cost[2, 5] = cost[21, 20] = cost[20, 21] = np.inf
    memory = InformationGain(cost=tuple(map(tuple, cost.tolist()))).init(n_arms)
    memory.posterior.centre[:] = -np.arange(n_arms)
    scores = np.tile(-np.arange(n_arms), (3, 1)).astype(float)
    scores[range(3), open_] = 1.0
    expected = {(20, 2), (20, 5)}  # 5 with 2 is forbidden
    for arm in open_:
        near = [other for other in range(n_arms) if 0 < abs(arm - other) <= NEAR]
        expected |= {(max(arm, other), min(arm, other)) for other in near}
    expected -= {(5, 2), (21, 20)}
    assert set(map(tuple, np.argwhere(candidates(scores, memory)).tolist())) == expected


def some_posterior(rule, n_arms=4):
    """The memory of a rule with some covariance and means of the scores, and these."""
    memory, rng = rule.init(n_arms), np.random.default_rng(3)
    root, mean = rng.normal(size=(n_arms, n_arms)), rng.normal(size=n_arms)
    memory.posterior.root[:], memory.posterior.centre[:] = root, mean
    memory.posterior.n_seen[2] = -1  # no covariance is kept
    return memory, root @ root.T, mean


def after_a_duel(covariance, mean, i, j):
    """The covariance with the expected information of a duel, by inverses."""
    contrast, p = np.eye(len(mean))[i] - np.eye(len(mean))[j], expit(mean[i] - mean[j])
    information = p * (1 - p) * np.outer(contrast, contrast)
    return np.linalg.inv(np.linalg.inv(covariance) + information)


def test_the_variance_that_a_duel_takes_off_is_that_of_the_updated_covariance():
    """Of arm 0 minus arm 2."""
    memory, before, mean = some_posterior(TopTwoThompson())
    gain, wanted = variance_reduction(memory, 0, 2), np.array([1.0, 0, -1, 0])
    for i, j in PAIRS:
        after = after_a_duel(before, mean, i, j)
        assert gain[i, j] == pytest.approx(wanted @ (before - after) @ wanted)


def test_contrast_allocation_reduces_relative_variances_by_their_weights():
    """One draw of four has arm 0 best, three have 2: 3/16 for the contrast of these two."""
    memory, before, mean = some_posterior(ContrastAllocation())
    scores = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0]])
    gain, wanted = reduction(scores, memory), np.array([1.0, 0, -1, 0])
    for i, j in PAIRS:
        after = after_a_duel(before, mean, i, j)
        relative = 1 - (wanted @ after @ wanted) / (wanted @ before @ wanted)
        assert gain[i, j] == pytest.approx(3 / 16 * relative, rel=1e-6)


def test_draws_disagree_about_sets_and_rankings_by_hand():
    scores = np.array([[3.0, 2, 1, 0], [3, 0, 2, 1], [0, 1, 2, 3], [3, 2, 0, 1]])
    memory, C, mean = some_posterior(ContrastAllocation(about="top_k", k=2))
    weight = disagreement(scores, memory, np.arange(4), mean, C)
    # The sets are 01, 02, 23, 01: 0 without 2 in two draws and 2 without 0 in one, and so on.
    expected = {(1, 0): 0, (2, 0): 2, (3, 0): 3, (2, 1): 4, (3, 1): 2, (3, 2): 0}
    for pair, products in expected.items():
        assert weight[pair] == pytest.approx(products / 16, abs=1e-8)
    memory, C, mean = some_posterior(ContrastAllocation(about="ranking", rope=0.4))
    # Differences count beyond ln 9 = 2.2, here those of 3: 0 above 3 in one draw, below in one.
    weight = disagreement(scores, memory, np.arange(4), np.zeros(4), 100 * np.eye(4))
    assert weight[3, 0] == pytest.approx(1 / 4, abs=1e-8)
    assert weight[[1, 2, 2, 3, 3], [0, 0, 1, 1, 2]] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"about": "ranking"}, {(0, 1), (0, 2), (1, 2)}), ({"about": "top_k", "k": 2}, {(0, 2)})],
)
def test_the_pair_in_question_is_any_over_which_two_draws_disagree(settings, expected):
    """0 > 1 > 2 in the one and 2 > 1 > 0 in the other, 3 below; the sets are 01 and 21."""
    memory, rng = TopTwoThompson(**settings).init(4), np.random.default_rng(5)
    scores = np.array([[3.0, 2, 1, 0], [3.0, 2, 1, 0], [1.0, 2, 3, 0]])
    pairs = [pair_in_question(scores, memory, rng) for _ in range(600)]
    counts = [pairs.count(pair) for pair in expected]
    assert sum(counts) == 600
    assert len(counts) == 1 or stats.chisquare(counts).pvalue > 1e-6


def test_the_pair_in_question_is_at_the_border_where_all_draws_agree():
    memory = TopTwoThompson(about="top_k", k=2).init(4)
    memory.posterior.centre[:] = [0.0, 3.0, 1.0, 2.0]
    scores = np.tile([0.0, 3.0, 1.0, 2.0], (5, 1))
    assert pair_in_question(scores, memory, np.random.default_rng(0)) == (3, 2)


@pytest.mark.parametrize("k", [1, 2])
def test_the_improvement_of_an_answer_is_its_expected_worth_after_a_duel(k):
    """By the law of total expectation over the two outcomes."""
    rng = np.random.default_rng(7)
    scores, worth = rng.normal(size=(30, 4)), rng.random((30, 4))
    memory = KnowledgeGradient(about="top_k", k=k).init(4)
    gain = improvement(worth, *possible_duels(scores, memory), memory)
    now = np.sort(worth.mean(axis=0))[-k:].sum()
    for i, j in PAIRS:
        won = expit(scores[:, i] - scores[:, j])
        after = sum(
            np.sort((chance[:, None] * worth).mean(axis=0))[-k:].sum() for chance in (won, 1 - won)
        )
        assert gain[i, j] == pytest.approx(max(after - now, 0), abs=1e-12)
    assert (gain >= 0).all()


def test_beyond_30_contenders_those_are_kept_whose_place_is_the_least_certain():
    """34 arms, best in 1, 2, ... or 34 draws: no share is a half, 1 to 4 are the most certain."""
    n_arms = ALL_PAIRS + 4
    best = np.repeat(np.arange(n_arms), np.arange(1, n_arms + 1))
    scores = np.eye(n_arms)[best]
    kept = most_open(scores, InformationGain().init(n_arms))
    assert np.flatnonzero(~kept).tolist() == [0, 1, 2, 3]


def test_the_answers_of_a_ranking_are_the_orders_of_its_neighbours():
    memory = InformationGain(about="ranking").init(4)
    memory.posterior.centre[:] = [0.0, 3.0, 1.0, 2.0]  # 1 before 3, 2 and 0
    scores = np.array([[0.0, 3.0, 1.0, 2.0], [5.0, 1.0, 2.0, 3.0], [0.0, 2.0, 3.0, 1.0]])
    found, exclusive = answers(scores, memory)
    assert found.tolist() == [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
    assert not exclusive
