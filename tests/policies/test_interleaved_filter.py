"""Interleaved Filter by hand."""

import numpy as np
import pytest

from bayesduel.beliefs import record
from bayesduel.policies import InterleavedFilter
from tests.support.asking import remembered

pytestmark = pytest.mark.plain


def test_interleaved_filter_goes_round_its_candidates():
    policy = InterleavedFilter(horizon=10_000)
    belief, memory = policy.belief.init(4), policy.init(4)
    rng = np.random.default_rng(1)
    pairs = []
    for t in range(1, 7):
        pairs.append(tuple(int(x) for x in policy.select(belief, memory, t, rng)))
        record(belief, pairs[-1], float(t % 2))
    incumbent = pairs[0][0]
    assert policy.recommend(belief, memory) == incumbent
    assert policy.recommend(belief, policy.init(4)) == 0  # none yet
    others = [k for k in range(4) if k != incumbent]
    assert pairs == [(incumbent, b) for b in others] * 2


@pytest.mark.parametrize("version", [None, 1.5, 10**5000], ids=["none", "half", "huge"])
def test_a_version_that_is_none_is_refused_by_name(version):
    with pytest.raises(TypeError, match="version should be one of 1, 2, got"):
        InterleavedFilter(horizon=100, version=version)


def test_interleaved_filter_prunes_when_its_incumbent_falls():
    # Radius sqrt(4 ln(16 * 1e4) / 400) = 0.346. Incumbent 0: at 0.1 against 1 it falls to it; at
    # 0.6 against 2 it was ahead of it; at 0.9 against 3 it beats it; so IF2 leaves no candidate
    # but 1's own rivals: none of 2 and 3. IF1 keeps 2.
    wins = np.zeros((4, 4))
    for b, w in ((1, 40), (2, 240), (3, 360)):
        wins[0, b], wins[b, 0] = w, 400 - w

    def incumbent_0(memory):
        memory.place[:] = [0, 3]
        memory.candidates[0] = False

    pair, memory = remembered(InterleavedFilter(horizon=1e4), wins, 1201, prepare=incumbent_0)
    assert pair == (1, 1)
    assert memory.answer.arm[0] == 1
    pair, memory = remembered(
        InterleavedFilter(horizon=1e4, version=1), wins, 1201, prepare=incumbent_0
    )
    assert pair == (1, 2)
    assert memory.candidates.tolist() == [False, False, True, False]
    assert memory.before[0, 0] == 360  # its record starts now


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InterleavedFilter(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: InterleavedFilter(version=3), "version should be one of 1, 2, got 3"),
        (lambda: InterleavedFilter().init(3), "horizon should be given outside a simulation"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
