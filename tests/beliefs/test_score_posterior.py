"""The posterior of scores that is updated after every duel."""

import numpy as np
import pytest
from scipy.special import expit

from bayesduel.beliefs.score_posterior import (
    LOGIT,
    anticipate,
    difference,
    follow,
    heaviest,
    score_posterior,
)

pytestmark = pytest.mark.plain

N_ARMS = 45  # beyond 40 arms a duel takes a rank-one step


def test_the_covariance_kept_is_that_of_the_heaviest_node():
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 3, (N_ARMS, N_ARMS)).astype(float)
    np.fill_diagonal(wins, 0)
    posterior = score_posterior(N_ARMS, LOGIT, 2.0)
    for duel in range(4):  # a fit, two rank-one steps, and a fit again
        wins[duel, duel + 1] += 1
        follow(posterior, wins)
        root = posterior.root[posterior.log_weight.argmax()]
        np.testing.assert_allclose(heaviest(posterior)[1], root @ root.T, rtol=1e-9, atol=1e-12)
    before = heaviest(posterior)[1].copy()
    anticipate(posterior, 3, 7)
    root = posterior.root[posterior.log_weight.argmax()]
    np.testing.assert_allclose(heaviest(posterior)[1], root @ root.T, rtol=1e-9, atol=1e-12)
    assert heaviest(posterior)[1][3, 3] < before[3, 3]


def test_the_gradient_vanishes_at_the_mode_after_every_duel():
    """Of the logistic likelihood and the normal prior of the scores at the heaviest node."""
    rng = np.random.default_rng(1)
    wins = np.zeros((5, 5))
    posterior = score_posterior(5, LOGIT, 2.0)
    for _ in range(8):
        i, j = rng.choice(5, 2, replace=False)
        wins[i, j] += 1
        follow(posterior, wins)
        node = posterior.log_weight.argmax()
        mode, scale = posterior.mode[node], posterior.scale[node]
        expected = (wins + wins.T) * expit(mode[:, None] - mode)
        pulled = (wins - expected).sum(axis=1)
        np.testing.assert_allclose(pulled, mode / scale**2, atol=0.01)


def test_new_duels_are_counted_once():
    seen = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for changes, found in (
        ({}, (0.0, 0, 0)),
        ({(0, 1): 1}, (1.0, 1, 0)),
        ({(1, 0): 1}, (1.0, 1, 0)),
        ({(0, 2): 0.5, (2, 0): 0.5}, (1.0, 2, 0)),  # a tie
        ({(0, 1): -1, (1, 0): 1}, (2.0, 1, 0)),  # corrected: no single new duel
    ):
        wins = seen.copy()
        for cell, n in changes.items():
            wins[cell] += n
        assert difference(seen, wins) == found
