"""Too many arms are refused before a matrix is made, with the limit and what to do."""

import ctypes
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.system import memory
from bayesduel.system.memory import available_memory, check_square

SENTENCE = r"should have at most [\d,]+ arms in the .* GiB of memory .* got 50,000, which take"


@pytest.fixture
def many(monkeypatch):
    """Return a log of 50,000 arms, where 2 GiB are free."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 2**30)
    left = np.arange(50_000)
    frame = pd.DataFrame({"left": left, "right": (left + 1) % 50_000, "outcome": left % 2})
    return bd.read_duels(frame)


def by_matrices(duels):
    """Fit a model that the sparse route does not serve."""
    return bd.fit(duels, "thurstone")


def test_what_is_free_is_known_here():
    assert 2**20 < (available_memory() or 0) < 2**50


def test_the_limit_is_one_that_fits(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 100 * 10**6)
    check_square(1_000, 100, "x", "y")
    with pytest.raises(ValueError, match=r"^x should have at most 1,000 arms .* got 1,001.*; y$"):
        check_square(1_001, 100, "x", "y")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ask", [by_matrices, bd.Duels.tally, bd.check])
def test_logs(many, ask):
    with pytest.raises(ValueError, match=SENTENCE):
        ask(many)


def test_health_needs_no_matrix(many):
    assert bd.health(many).n_arms == 50_000


def test_simulations(many):
    args = ["simulate", "--policies", "Uniform", "--horizon", "10", "--problem"]
    result = CliRunner().invoke(main, [*args, "bradley_terry(n_arms=50000)"])
    assert result.exit_code == 2
    assert re.search(SENTENCE, result.stderr)


def test_studies(monkeypatch):
    """A study is refused before its matrices are made, and so are arms that are added to one."""
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 12 * 50**2)
    arms = [f"arm {k}" for k in range(51)]
    rule = "a study should have at most 50 arms in the .* GiB of memory .* got 51, which take"
    with pytest.raises(ValueError, match=rule):
        bd.Study(arms=arms, policy=bd.policies.Uniform())
    study = bd.Study(arms=arms[:50], policy=bd.policies.Uniform(), stop=None)
    with pytest.raises(ValueError, match=rule):
        study.add_arms(arms[50:])
    assert study.n_duels == 0


def test_a_memory_error_is_one_sentence(monkeypatch):
    def fail(*_: object, **__: object):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("bayesduel.cli.options.read_log", fail)
    result = CliRunner().invoke(main, ["health", "springall"])
    assert (result.exit_code, result.stderr) == (
        2,
        "bayesduel: the memory is not enough: Unable to allocate 9 TiB\n",
    )


def test_more_draws_than_fit_in_memory_are_refused(monkeypatch):
    """Of three arms too, where a draw has few numbers beside its densities and weights."""
    monkeypatch.setattr("bayesduel.system.memory.available_memory", lambda: 24 * 2**30)
    for log in (bd.datasets.load("springall"), bd.Duels.from_wins(3 - 3 * np.eye(3))):
        with pytest.raises(ValueError, match=r"draws should be at most .* got 100,000,000, which"):
            bd.fit(log, draws=100_000_000)


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited on Linux")
@pytest.mark.parametrize("command", ["winners springall", "report springall", "study status s"])
def test_too_few_addresses_are_told_in_one_line(command, tmp_path):
    run = f"ulimit -v 600000; {sys.executable} -m bayesduel {command}"
    done = subprocess.run(["bash", "-c", run], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "GB of addresses (ulimit -v), got 0.5" in done.stderr


def test_freed_memory_is_kept_where_the_c_library_can(monkeypatch):
    asked = []
    libraries = iter([SimpleNamespace(mallopt=lambda *a: asked.append(a))] * 2 + [object()])
    monkeypatch.setattr(ctypes, "CDLL", lambda name: next(libraries))
    memory.keep_freed_memory()
    assert asked == [*memory.KEPT.items()]
    memory.keep_freed_memory()  # of another library
    assert len(asked) == 2
