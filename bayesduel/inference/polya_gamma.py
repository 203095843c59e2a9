"""Polya-Gamma variables: what makes a logistic likelihood normal, drawn exactly.

``PG(1, z)`` is drawn by rejection with Devroye's alternating series; ``PG(n, z)`` is a sum of n of
them. Beyond n = 64 it is replaced by a shifted gamma variable with the same mean, variance and
third cumulant.

References
----------
Polson, Scott & Windle, "Bayesian inference for logistic models using Polya-Gamma latent variables",
JASA 2013: section 4 and the appendix. Devroye, "On exact simulation algorithms for some
distributions related to Jacobi theta functions", Statistics & Probability Letters 2009. Deviation:
the gamma variable for large n.
"""

from math import cosh, erfc, exp, log, pi, sqrt, tanh

import numpy as np

from bayesduel.jit import compiled

__all__ = ["cumulants", "fill_polya_gamma", "polya_gamma"]

CUT = 0.64  # where the two forms of the series meet: Polson, Scott & Windle, section 4


def polya_gamma(n: np.ndarray, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return draws of PG(n, z).

    n: whole numbers of duels, shape (m,).
    z: tilts, shape (m,).
    """
    n = np.asarray(n, dtype=float)
    z = np.asarray(z, dtype=float)
    found = np.empty(len(n))
    fill_polya_gamma(found, n, z, rng)
    return found


@compiled(nogil=True)
def fill_polya_gamma(out, n, z, rng):
    """Fill `out` with draws of PG(n, z), entry by entry."""
    for k in range(len(out)):
        # The skewness of a sum of more is below 0.25, and its fourth cumulant alone is not that of
        # the gamma variable.
        if n[k] > 64:
            out[k] = shifted_gamma(n[k], z[k], rng)
        else:
            out[k] = summed(n[k], z[k], rng)


@compiled
def summed(n, z, rng):
    """Return a draw of PG(n, z) as the sum of n of PG(1, z)."""
    half = abs(z) / 2
    share = exponential_share(half)
    total = 0.0
    for _ in range(int(n)):
        total += one(half, share, rng)
    return total


@compiled
def shifted_gamma(n, z, rng):
    """Return a draw of the shifted gamma variable with the first three cumulants of PG(n, z)."""
    mean, variance, third = cumulants(z)
    mean = n * mean
    variance = n * variance
    third = n * third
    shape = 4 * variance**3 / third**2
    scale = third / (2 * variance)
    gamma = rng.standard_gamma(shape)
    centred = gamma - shape
    return mean + scale * centred


@compiled
def cumulants(z):
    """Return the first three cumulants of PG(1, z): mean, variance, third."""
    # K(t) = log cosh(z/2) - f(z^2/4 - t/2), f(y) = log cosh(sqrt y): so f'/2, -f''/4, f'''/8.
    u = abs(z) / 2
    y = u * u
    # log cosh u = y/2 - y^2/12 + y^3/45 - 17 y^4/2520 + 31 y^5/14175. What is left out is 1e-12 of
    # the mean, 2e-9 of the variance and 7e-7 of the third one.
    if u < 0.1:
        first = 1 / 2 - y / 6 + y**2 / 15 - 17 * y**3 / 630
        second = -1 / 6 + 2 * y / 15 - 17 * y**2 / 210 + 124 * y**3 / 2835
        third = 2 / 15 - 17 * y / 105 + 124 * y**2 / 945
    else:
        th = tanh(u)
        sech2 = 0.0
        if u < 300:  # its square overflows from 355 on
            sech2 = 1 / cosh(u) ** 2
        first = th / (2 * u)
        second = sech2 / (4 * y) - th / (4 * u * y)
        of_tanh = 3 * th / (8 * u * y * y)
        of_sech = 3 * sech2 / (8 * y * y)
        of_both = th * sech2 / (4 * u * y)
        third = of_tanh - of_sech - of_both
    return first / 2, -second / 4, third / 8


@compiled
def exponential_share(z):
    """Return the probability that the proposal of J*(1, z) is from its exponential tail."""
    rate = tail_rate(z)
    root = sqrt(1 / CUT)
    start = log(rate) + rate * CUT
    below = root * (CUT * z - 1)
    above = -root * (CUT * z + 1)
    left = exp(start - z) * normal_cdf(below)
    right = normal_cdf(above)
    if right > 0:
        log_right = log(right)
        left += exp(start + z + log_right)
    odds = 4 / pi * left
    return 1 / (1 + odds)


@compiled
def tail_rate(z):
    """Return the rate of the exponential tail of J*(1, z)."""
    return pi**2 / 8 + z * z / 2


@compiled
def normal_cdf(x):
    """Return the standard normal distribution function."""
    return 0.5 * erfc(-x / sqrt(2.0))


@compiled
def one(z, share, rng):
    """Return a draw of PG(1, 2 z), given the share of the exponential tail."""
    rate = tail_rate(z)
    while True:
        if rng.random() < share:
            x = CUT + rng.standard_exponential() / rate
        else:
            x = truncated_inverse_gaussian(z, rng)
        total = coefficient(0, x)
        level = rng.random() * total
        k = 0
        while True:
            k += 1
            if k % 2:
                total -= coefficient(k, x)
                if level <= total:
                    return x / 4
            else:
                total += coefficient(k, x)
                if level > total:
                    break


@compiled
def coefficient(k, x):
    """Return term k of the alternating series of the density of J*(1, 0) at x."""
    half = k + 0.5
    factor = pi * half
    if x > CUT:
        exponent = -half * half * pi * pi * x / 2
        return factor * exp(exponent)
    exponent = -2 * half * half / x
    ratio = 2 / (pi * x)
    return factor * ratio**1.5 * exp(exponent)


@compiled
def truncated_inverse_gaussian(z, rng):
    """Return a draw of the inverse Gaussian law of mean 1/z and shape 1, below `CUT`."""
    if z * CUT < 1:
        while True:
            e = rng.standard_exponential()
            f = rng.standard_exponential()
            while e * e > 2 * f / CUT:
                e = rng.standard_exponential()
                f = rng.standard_exponential()
            x = CUT / (1 + CUT * e) ** 2
            acceptance = exp(-z * z * x / 2)
            if rng.random() <= acceptance:
                return x
    mean = 1 / z
    half = 0.5 * mean
    while True:
        y = rng.standard_normal() ** 2
        root = sqrt(4 * mean * y + (mean * y) ** 2)
        x = mean + half * mean * y
        x -= half * root
        share = mean / (mean + x)
        if rng.random() > share:
            x = mean * mean / x
        if x <= CUT:
            return x
