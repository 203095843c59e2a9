"""Self-Sparring by hand."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.beliefs import KL, record
from bayesduel.policies import SelfSparring
from tests.support.asking import ask

pytestmark = pytest.mark.plain


def test_self_sparring_draws_both_arms_from_the_same_law():
    wins = np.array([[0, 6, 2], [1, 0, 3], [4, 0, 0.0]])
    counts = ask(SelfSparring(), wins, 17, seeds=range(1500))
    rng = np.random.default_rng(4)
    draws = rng.beta(1 + wins.sum(1), 1 + wins.sum(0), (200_000, 3)).argmax(1)
    law = np.bincount(draws, minlength=3) / 200_000
    seen = np.zeros((3, 3))
    for (i, j), n in counts.items():
        seen[i, j] = n
    # Chi-square of the nine cells against independent draws, at 1e-6.
    assert stats.chisquare(seen.ravel(), 1500 * np.outer(law, law).ravel()).pvalue > 1e-6


def test_self_sparring_learns_nothing_from_a_self_duel():
    policy = SelfSparring()
    belief, memory = policy.belief.init(3), policy.init(3)
    rng = np.random.default_rng(5)
    for t, pair in enumerate([(0, 1), (1, 1), (2, 0)], 1):
        policy.select(belief, memory, t, rng)
        record(belief, pair, 1.0)
    policy.select(belief, memory, 4, rng)
    assert memory.record.tolist() == [[1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SelfSparring(belief=KL()), r"belief of SelfSparring should be .*Beta\(\), got KL"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
