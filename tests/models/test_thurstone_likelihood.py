"""Compiled derivatives of a probit likelihood beside SciPy's scaled error function."""

import numpy as np
import pytest
from scipy.special import erfcx, log_ndtr

from bayesduel.models.thurstone_likelihood import of_probit

FAR_AND_NEAR = np.concatenate([np.linspace(-300, 8, 2001), np.linspace(-30.1, -29.9, 201)])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("votes", [1.0, 2.5])
def test_it_is_right_in_both_tails(sign, votes):
    """erfcx has no tail in which it vanishes."""
    x = FAR_AND_NEAR
    none = np.zeros_like(x)
    cast = np.full_like(x, votes)
    wins, losses = (cast, none) if sign > 0 else (none, cast)
    slope, bend, value = of_probit(sign * x[None], wins, losses)
    ratio = np.sqrt(2 / np.pi) / erfcx(-x / np.sqrt(2))
    np.testing.assert_allclose(slope[0], sign * votes * ratio, rtol=1e-12)
    np.testing.assert_allclose(value[0], votes * log_ndtr(x), rtol=1e-12, atol=1e-15)
    near = x > -25  # ratio + x loses digits beyond
    np.testing.assert_allclose(bend[0][near], -votes * (ratio * (ratio + x))[near], rtol=1e-9)


def test_cells_of_both_sides_add_up():
    rng = np.random.default_rng(1)
    eta = rng.normal(0, 2, (3, 40))
    wins, losses = rng.integers(0, 4, (2, 40)).astype(float)
    alone = of_probit(eta, wins, 0 * wins)
    rest = of_probit(eta, 0 * losses, losses)
    for both, first, second in zip(of_probit(eta, wins, losses), alone, rest, strict=True):
        np.testing.assert_allclose(both, first + second, atol=1e-12)
