"""The best item, the most optimistic and the widest apart, by plain NumPy."""

import numpy as np
import pytest
from scipy.special import expit

from bayesduel.beliefs.best_item import best_item, glance, most_optimistic, widest_apart
from tests.support.item_beliefs import believed

pytestmark = pytest.mark.plain


def test_the_best_the_boldest_and_the_widest_item():
    rng = np.random.default_rng(9)
    for seed in range(4):
        belief = believed(seed=seed)
        u, cov, z = belief.attributes, belief.covariance, belief.mode
        assert best_item(belief, z) == (u @ z).argmax()
        width = np.sqrt(np.einsum("ij,jk,ik->i", u, cov, u))
        assert most_optimistic(belief, z, 1.3) == (u @ z + 1.3 * width).argmax()
        champion = int((u @ z).argmax())
        apart = u - u[champion]
        width = np.sqrt(np.einsum("ij,jk,ik->i", apart, cov, apart))
        may_win = (apart @ z + 0.8 * width > 0) & (np.arange(len(u)) != champion)
        widest = np.where(may_win, width, -1).argmax()
        assert widest_apart(belief, champion, z, 0.8) == widest
        assert widest_apart(belief, champion, z, 0.0) == champion
        values = rng.uniform(0.5, 2, len(u))
        valued = believed(seed=seed, values=values)
        assert best_item(valued, z) == (values * expit(u @ z)).argmax()
        width = np.sqrt(np.einsum("ij,jk,ik->i", u, cov, u))
        assert most_optimistic(valued, z, 0.7) == (values * expit(u @ z + 0.7 * width)).argmax()


def test_of_items_that_are_the_same_the_first_is_named():
    for seed in range(4):
        belief = believed(m=60, seed=seed)
        twice = belief._replace(attributes=np.asfortranarray(np.tile(belief.attributes, (2, 1))))
        z, champion = belief.mode, best_item(belief, belief.mode)
        assert most_optimistic(twice, z, 1.3) == most_optimistic(belief, z, 1.3)
        widest = widest_apart(belief, champion, z, 0.8)
        assert widest_apart(twice, champion, z, 0.8) == widest != champion


def test_bounds_that_are_equal_up_to_rounding_are_ties():
    """Items of length 1 under the prior: which is longest by the last digit decides nothing."""
    for seed in range(6):
        belief = believed(seed=seed)
        unit = belief.attributes / np.linalg.norm(belief.attributes, axis=1, keepdims=True)
        n = unit.shape[1]
        prior = belief._replace(attributes=np.asfortranarray(unit), covariance=4.0 * np.eye(n))
        assert most_optimistic(prior, np.zeros(n), 1.3) == 0


def test_a_glance_by_hand():
    """From item 1: (3, -1) and (0, 1/2), seen from (1, 1), and along (2, -1)."""
    table = np.asfortranarray([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5]])
    squares, utility = np.full((2, 4), 9.0)
    glance(table, 1, 2, np.ones(2), np.array([2.0, -1.0]), squares, utility)
    assert squares.tolist() == [8, 1.25, 9, 9]
    assert utility.tolist() == [7, -0.5, 9, 9]
