"""What the posterior-driven rules share."""

import numpy as np
import pytest

from bayesduel.policies import KnowledgeGradient
from bayesduel.policies.score_rules import OUT, members

pytestmark = pytest.mark.plain


def test_the_best_of_a_draw_with_arms_out_of_question():
    scores = np.array([[0.3, OUT, 2.0, 1.0, OUT], [OUT, OUT, OUT, 1.0, 2.0]])
    assert members(scores, 2)[0].tolist() == [False, False, True, True, False]
    assert members(scores, 3).sum(axis=1).tolist() == [3, 3]


def test_more_than_one_arm_is_for_the_top_k_alone():
    assert KnowledgeGradient(k=2, about="top_k").k == 2
    with pytest.raises(ValueError, match="k should be 1 unless about='top_k', got 2"):
        KnowledgeGradient(k=2, about="winner")
