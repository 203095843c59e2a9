"""What the posterior-driven rules share."""

import numpy as np
import pytest

from bayesduel.policies.score_rules import OUT, members

pytestmark = pytest.mark.plain


def test_the_best_of_a_draw_with_arms_out_of_question():
    scores = np.array([[0.3, OUT, 2.0, 1.0, OUT], [OUT, OUT, OUT, 1.0, 2.0]])
    assert members(scores, 2)[0].tolist() == [False, False, True, True, False]
    assert members(scores, 3).sum(axis=1).tolist() == [3, 3]
