"""What the posterior-driven rules share."""

import numpy as np
import pytest

from bayesduel.policies import InformationGain, KnowledgeGradient, TopTwoThompson
from bayesduel.policies.information_gain import ALL_PAIRS, NEAR, answers, candidates
from bayesduel.policies.score_rules import OUT, members
from bayesduel.policies.top_two_thompson import variance_reduction

pytestmark = pytest.mark.plain


def test_the_best_of_a_draw_with_arms_out_of_question():
    scores = np.array([[0.3, OUT, 2.0, 1.0, OUT], [OUT, OUT, OUT, 1.0, 2.0]])
    assert members(scores, 2)[0].tolist() == [False, False, True, True, False]
    assert members(scores, 3).sum(axis=1).tolist() == [3, 3]


def test_more_than_one_arm_is_for_the_top_k_alone():
    assert KnowledgeGradient(k=2, about="top_k").k == 2
    with pytest.raises(ValueError, match="k should be 1 unless about='top_k', got 2"):
        KnowledgeGradient(k=2, about="winner")


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


def test_the_variance_that_a_duel_takes_off_is_that_of_the_updated_covariance():
    """Of arm 0 minus arm 2, by the inverse with the information of the duel added."""
    memory = TopTwoThompson().init(4)
    rng = np.random.default_rng(3)
    root, mean = rng.normal(size=(4, 4)), np.array([0.5, 0.0, -0.3, 1.0])
    memory.posterior.root[:], memory.posterior.centre[:] = root, mean
    memory.posterior.n_seen[2] = -1  # no covariance is kept
    gain = variance_reduction(memory, 0, 2)
    before, wanted = root @ root.T, np.array([1.0, 0, -1, 0])
    for i, j in ((1, 0), (2, 0), (3, 1), (3, 2)):
        contrast = np.eye(4)[i] - np.eye(4)[j]
        p = 1 / (1 + np.exp(-(mean[i] - mean[j])))
        information = p * (1 - p) * np.outer(contrast, contrast)
        after = np.linalg.inv(np.linalg.inv(before) + information)
        assert gain[i, j] == pytest.approx(wanted @ (before - after) @ wanted)


def test_the_answers_of_a_ranking_are_the_orders_of_its_neighbours():
    memory = InformationGain(about="ranking").init(4)
    memory.posterior.centre[:] = [0.0, 3.0, 1.0, 2.0]  # 1 before 3, 2 and 0
    scores = np.array([[0.0, 3.0, 1.0, 2.0], [5.0, 1.0, 2.0, 3.0], [0.0, 2.0, 3.0, 1.0]])
    found, exclusive = answers(scores, memory)
    assert found.tolist() == [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
    assert not exclusive
