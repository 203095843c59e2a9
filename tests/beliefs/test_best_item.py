"""The best item, the most optimistic and the widest apart, by plain NumPy."""

import numpy as np
import pytest
from scipy.special import expit

from bayesduel.beliefs.best_item import best_item, most_optimistic, widest_apart
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
