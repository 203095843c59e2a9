"""Uniform: every pair once a round."""

import numpy as np
import pytest

from bayesduel.beliefs import Hoeffding
from bayesduel.policies import Uniform

pytestmark = pytest.mark.plain


def test_uniform_goes_through_every_pair_before_it_repeats():
    belief, memory = Hoeffding().init(5), Uniform().init(5)
    rng = np.random.default_rng(0)
    rounds = []
    for start in (1, 11, 21):
        pairs = [
            tuple(map(int, Uniform().select(belief, memory, start + k, rng))) for k in range(10)
        ]
        assert sorted(pairs) == [(i, j) for i in range(5) for j in range(i + 1, 5)]
        rounds.append(tuple(pairs))
    assert len(set(rounds)) == 3
