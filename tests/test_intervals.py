"""Intervals against SciPy and their definition."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from bayesduel.intervals import Z95, eti, wilson


def test_z95():
    assert norm.ppf(0.975) == pytest.approx(Z95, rel=1e-15)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 10), (500, 1000), (999, 1000)])
def test_wilson_is_scipys(k, n):
    want = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((want.low, want.high), abs=1e-14)


def test_wilson_is_elementwise_and_nan_without_trials():
    low, high = wilson(np.array([0, 3]), np.array([0, 10]))
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == pytest.approx(wilson(3, 10))


def test_eti_is_of_order_statistics_and_symmetric():
    draws = np.random.default_rng(0).normal(size=(3, 1000))
    low, high = eti(draws, 0.9)
    ordered = np.sort(draws, axis=-1)
    assert np.array_equal(low, ordered[:, 50])
    assert np.array_equal(high, ordered[:, 949])
    assert np.array_equal(eti(-draws, 0.9)[0], -high)
