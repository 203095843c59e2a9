"""Beat the Winner, with and without resets, in lockstep with a plain version."""

from collections import deque

import numpy as np
import pytest

from bayesduel.beliefs import record
from bayesduel.policies import BeatTheWinner, BeatTheWinnerReset
from bayesduel.problems import named

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("policy", [BeatTheWinner(), BeatTheWinnerReset()], ids=str)
@pytest.mark.parametrize("problem", ["cyclic-4", "hudry-13"])
def test_lockstep_with_a_queue_and_matches(problem, policy):
    """A queue of waiting arms; match r lasts until one arm has r wins, and never asks less."""
    P = named(problem).P
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    rng, coins = np.random.default_rng(3), np.random.default_rng(4)
    policy.select(belief, memory, 1, rng)
    queue = deque(int(k) for k in memory.queue)
    assert sorted(queue) == list(range(len(P)))
    pair, score, match, resets = [queue.popleft(), queue.popleft()], [0, 0], 1, 0
    for t in range(1, 801):
        assert [int(k) for k in policy.select(belief, memory, t, rng)] == pair
        assert policy.repeats(belief, memory, t) == match - max(score)
        assert policy.recommend(belief, memory) == pair[0]
        side = int(coins.random() >= P[pair[0], pair[1]])
        score[side] += 1
        record(belief, pair, float(side == 0))
        if score[side] == match:
            assert policy.leader(belief, memory) == pair[side]
            queue.append(pair[1 - side])
            match = 1 if policy.resets and side == 1 else match + 1
            resets += match == 1
            pair, score = [pair[side], queue.popleft()], [0, 0]
    assert resets > 5 if policy.resets else match > 20
