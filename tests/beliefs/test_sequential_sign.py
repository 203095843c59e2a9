"""Sequential sign tests: exact error rates, and how fast they decide."""

import numpy as np
import pytest

from bayesduel.beliefs.sequential_sign import sign_by_epochs, sign_by_mixture, sign_by_union

pytestmark = pytest.mark.plain

TESTS = (sign_by_mixture, sign_by_union, sign_by_epochs)


def chance_of_ever_answering(test, p, budget, horizon, wrong):
    """Exact: the law of the tallies, killed at an answer; the chance that it was `wrong`."""
    alive, answered = np.ones(1), 0.0
    for n in range(1, horizon + 1):
        new = np.zeros(n + 1)
        new[1:] += p * alive
        new[:-1] += (1 - p) * alive
        sign = np.array([test(float(w), float(n - w), budget) for w in range(n + 1)])
        answered += new[sign == wrong].sum()
        new[sign != 0] = 0
        alive = new
    return answered


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_wrong_answers_are_as_rare_as_the_nominal_rate(test):
    for p in (0.5, 0.45):
        for budget in (1.0, 3.0):
            wrong = chance_of_ever_answering(test, p, budget, 300, wrong=1)
            assert wrong <= np.exp(-budget)
    assert chance_of_ever_answering(sign_by_mixture, 0.5, 1.0, 300, wrong=1) > 0.3 * np.exp(-1)


@pytest.mark.parametrize("test", TESTS)
def test_right_answers_come_and_mirror(test):
    assert chance_of_ever_answering(test, 0.8, 5.0, 300, wrong=1) > 0.999
    assert test(90.0, 10.0, 5.0) == 1
    assert test(10.0, 90.0, 5.0) == -1
    assert test(0.0, 0.0, 1.0) == test(5.0, 5.0, 1.0) == 0


@pytest.mark.slow
def test_mixture_decides_as_fast_as_was_measured_elsewhere():
    """p = 0.6 at 1e-4: 555 duels on average by the mixture, 1162 by the union (300 runs)."""
    rng = np.random.default_rng(1)
    for test, mean in ((sign_by_mixture, 555), (sign_by_union, 1162)):
        lengths = []
        for _ in range(150):
            wins = np.cumsum(rng.random(6000) < 0.6)
            n = np.arange(1, 6001)
            tallies = zip(wins.tolist(), (n - wins).tolist(), strict=True)
            signs = (test(float(w), float(k), np.log(1e4)) for w, k in tallies)
            lengths.append(next(k for k, sign in enumerate(signs, 1) if sign != 0))
        error = np.std(lengths, ddof=1) * np.sqrt(1 / 150 + 1 / 300)
        assert abs(np.mean(lengths) - mean) < 5 * error  # 1e-6
