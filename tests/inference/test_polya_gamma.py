"""Polya-Gamma variables have the moments of their law, summed or as a gamma variable."""

import numpy as np
import pytest

from bayesduel.inference.polya_gamma import cumulants, polya_gamma


def moments(n, z):
    """Return mean and variance of PG(n, z): Polson, Scott & Windle (2013), section 2.2."""
    if z == 0:
        return n / 4, n / 24
    mean = n / (2 * z) * np.tanh(z / 2)
    return mean, n * (np.sinh(z) - z) / (4 * z**3 * np.cosh(z / 2) ** 2)


@pytest.mark.parametrize("n", [1, 3, 65])
@pytest.mark.parametrize("z", [0.0, 1.5, -6.0])
def test_draws_have_the_moments_of_the_law(n, z):
    size = 40_000
    drawn = polya_gamma(np.full(size, n), np.full(size, z), np.random.default_rng(0))
    mean, variance = moments(n, abs(z))
    assert abs(drawn.mean() - mean) < 4 * np.sqrt(variance / size)
    fourth = np.mean((drawn - mean) ** 4)
    assert abs(drawn.var() - variance) < 4 * np.sqrt((fourth - variance**2) / size)
    assert (drawn > 0).all()


@pytest.mark.parametrize("z", [0.0, 0.199, 0.201, 2.0, 50.0])
def test_cumulants_are_derivatives_of_the_log_transform(z):
    def transform(t):
        """Return log E exp(t X) of PG(1, z)."""
        inside = z * z / 4 - t / 2
        root = np.sqrt(complex(inside))
        return float(np.log(np.cosh(z / 2)) - np.log(np.cosh(root)).real)

    mean, variance, third = cumulants(z)
    step = 0.02 * (1 + z)
    up, down, up2, down2 = (transform(k * step) for k in (1, -1, 2, -2))
    assert mean == pytest.approx((8 * (up - down) - (up2 - down2)) / (12 * step), rel=1e-4)
    assert variance == pytest.approx((16 * (up + down) - up2 - down2) / (12 * step**2), rel=1e-3)
    assert third == pytest.approx((up2 - down2 - 2 * (up - down)) / (2 * step**3), rel=0.05)


@pytest.mark.parametrize("z", [0.05, 0.199, 0.201, 3.0])
def test_the_mean_is_exact_by_the_expansion_and_by_its_formula(z):
    assert cumulants(z)[0] == pytest.approx(moments(1, z)[0], rel=1e-9)
