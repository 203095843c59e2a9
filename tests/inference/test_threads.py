"""Fits and pages made in several threads at once are those of one thread, bit for bit."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bayesduel as bd

N_LOGS, N_THREADS = 16, 8


def log_of(number):
    """Logs of different numbers of arms and pairs, in which everybody wins and loses."""
    rng = np.random.default_rng(number)
    n_arms = 3 + number % 7
    wins = rng.integers(1, 9, (n_arms, n_arms))
    np.fill_diagonal(wins, 0)
    return bd.Duels.from_wins(wins, arms=[f"arm {k}" for k in range(n_arms)])


LOGS = [log_of(number) for number in range(N_LOGS)]


@pytest.fixture
def quick_switches():
    """Let threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(interval)


def in_threads(call, given):
    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(call, given))


@pytest.mark.slow
def test_fits_in_threads_are_those_of_one_thread(quick_switches):
    def found(duels):
        fit = bd.fit(duels, draws=128)
        sets = fit["posterior"].to_dataset(), bd.winners(fit)
        return [v.to_numpy() for one in sets for v in one.values()]

    alone = [found(duels) for duels in LOGS]
    for one, other in zip(alone, in_threads(found, LOGS), strict=True):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_pages_in_threads_are_those_of_one_thread(quick_switches, tmp_path):
    def page(number):
        path = tmp_path / f"{number}.html"
        bd.report(LOGS[0], path, draws=128)
        return path.read_text(encoding="utf-8")

    alone = page(0)
    shown = warnings.showwarning
    assert in_threads(page, (1, 2)) == [alone] * 2
    assert warnings.showwarning is shown
