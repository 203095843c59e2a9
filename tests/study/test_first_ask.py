"""The first questions of an installation wait for no compiler, or are told that they do."""

import json
import os
import subprocess
import sys

import pytest

from bayesduel import Study, policies
from bayesduel.jit import interpreted
from bayesduel.study import WithinRope

ASK = """
import sys
from contextlib import nullcontext
import bayesduel as bd
from bayesduel.study import ledger
from bayesduel.study.session import Session

if sys.argv[1] == "many":  # arms: nothing is compiled here
    ledger.FEW = 1
    Session.choose = lambda *_: [(0, 1)]
    Session.decision = lambda *_, **__: type("Open", (), {"stopped": False})
if sys.argv[1] == "no patience":
    ledger.PATIENCE = 0
study = bd.Study(arms=["a", "b", "c"], seed=1)
with study.compiled_meanwhile() if sys.argv[1] == "no patience" else nullcontext():
    for outcome in ("left", "tie", "right"):
        ticket = study.ask()
        print(ticket.left, ticket.right)
        study.tell(ticket, outcome)
"""

COMMAND = """
import sys
from bayesduel.cli import main
from bayesduel.jit import interpreted
from bayesduel.study import planning

planning._future = lambda setting, k, *_: (k, planning.Future(7, True, True))
with interpreted():  # what is said comes before the compiler, which would take half a minute
    main(sys.argv[1:])
"""
COMPILES = "Compiling the policy, once per installation: it may take some minutes.\n"


def asked(folder, arms, **more):
    return run(folder, ASK, arms, **more)


def run(folder, code, *arguments, **more):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)} | more,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr


def machine_code(folder):
    return [path.name for path in folder.rglob("*.nbc")]


@pytest.mark.parametrize("how", ["few", "no patience"])
@pytest.mark.sampled(2)
def test_the_first_questions_of_a_small_study_compile_nothing(how, tmp_path):
    """Without patience: while another thread compiles."""
    pairs, said = asked(tmp_path, how)
    assert said == ""
    assert machine_code(tmp_path) == []
    assert (pairs, "") == asked(tmp_path, "few", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_the_first_question_of_a_large_study_says_that_it_compiles(tmp_path):
    _, said = asked(tmp_path, "many")
    assert said == COMPILES


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        pytest.param(["plan", "--workers", "1", "--futures", "2"], marks=pytest.mark.slow),  # 50 s
    ],
    ids=" ".join,
)
@pytest.mark.slow
def test_the_first_forecast_of_a_study_says_that_it_compiles(words, tmp_path):
    path = tmp_path / "a.study"
    with Study(path, arms=["a", "b", "c"], stop=WithinRope(0.95)) as study:  # one plan
        study.tell(study.ask(), "left")
    printed, said = run(tmp_path / "numba", COMMAND, "study", *words, str(path), "--json")
    assert said.strip() == COMPILES.strip()
    assert json.loads(printed)


@pytest.mark.slow  # the belief that a study follows takes 17 s to compile
@pytest.mark.parametrize(
    "policy",
    [policies.RUCB, policies.ContrastAllocation, policies.DTS, policies.TopTwoThompson],
)
@pytest.mark.parametrize("goal", ["find-best", "top-2", "full-ranking"])
def test_plain_python_asks_for_the_pairs_that_machine_code_asks_for(policy, goal):
    def pairs(plain):
        found = []
        with interpreted(plain):
            study = Study(arms=list("abcde"), goal=goal, policy=policy(), stop=None, seed=3)
            for k in range(20):
                ticket = study.ask()
                found.append((ticket.left, ticket.right, study.status(check=False).probability))
                study.tell(ticket, ("left", "right", "tie")[k % 3])
        return found

    machine = pairs(plain=False)
    for by_plain, by_machine in zip(pairs(plain=True), machine, strict=True):
        assert by_plain[:2] == by_machine[:2]
        assert by_plain[2] == pytest.approx(by_machine[2], abs=1e-9)
