"""Compiled functions: cached for new processes, refreshed when lost, and the only untyped ones."""

import ast
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import followed, score_posterior
from bayesduel.jit import interpreted, with_globals
from bayesduel.policies import DTS
from tests.contracts.test_policies import play

ROOT = Path(__file__).parents[2]
ROOMS = ("beliefs", "margins", "policies", "preference")


@pytest.mark.slow
def test_a_cached_policy_starts_in_a_new_process_without_compiling():
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    wins = play(DTS(), P, 50)[0].wins
    code = (
        "import numpy as np; from tests.contracts.test_policies import driver, play, play_pairs;"
        "from bayesduel.policies import DTS;"
        "wins = play(DTS(), np.array([[0.5, 0.8], [0.2, 0.5]]), 50)[0].wins.tolist();"
        "stats = driver(play_pairs, DTS().select, repeats=DTS().repeats).stats;"
        "print(wins, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert out.splitlines()[-1] == f"{wins.tolist()} 1 0"


@pytest.mark.slow
def test_a_study_asks_its_policy_compiled():
    """The belief that a study follows; other tests of studies run it as plain Python."""
    study = bd.Study(arms=["a", "b", "c"], seed=1)
    with interpreted(False):  # though an installation without machine code begins in plain Python
        for _ in range(3):
            study.tell(study.ask(), "left")
    assert followed.updated.signatures and score_posterior.draw_scores.signatures


@pytest.mark.parametrize("error", [AttributeError, ModuleNotFoundError])
def test_an_index_of_lost_types_counts_as_empty(error, monkeypatch):
    """A cache written before a type was renamed cannot be unpickled, and is compiled anew."""
    from numba.core.caching import IndexDataCacheFile

    def lost(self):
        raise error("Can't get attribute 'Standings'")

    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, "_load_index", lost)
        copy = with_globals(_plain, f"doubled_{error.__name__}")
        assert copy(3) == 6


def _plain(x):
    return 2 * x


def test_only_compiled_functions_are_without_types():
    untyped = []
    for room in ROOMS:
        for path in sorted((ROOT / "bayesduel" / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.FunctionDef) or node.returns is not None:
                    continue
                plain = (getattr(d, "func", d) for d in node.decorator_list)  # with options or not
                if not any(getattr(d, "id", "") == "compiled" for d in plain):
                    untyped.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert not untyped


def test_a_function_that_was_typed_in_is_compiled():
    source = (
        "from bayesduel.jit import compiled\n@compiled\ndef more(x): return x + 1\nprint(more(2))"
    )
    done = subprocess.run(
        [sys.executable, "-"], input=source, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr


@pytest.mark.parametrize("sent", [False, True])
def test_what_calls_a_function_that_was_typed_in_follows_its_changes(sent):
    """It has no stamp that would tell of them, in no process; in a file, machine code is kept."""
    for step in (1, 2):
        typed = {"__name__": "__main__"}
        source = (
            f"from bayesduel.jit import compiled\n@compiled\ndef inner(x):\n    return x + {step}"
        )
        exec(compile(source, "<stdin>", "exec"), typed)
        inner = pickle.loads(pickle.dumps(typed["inner"])) if sent else typed["inner"]
        copy = with_globals(_outer, "outer_of_typed", inner=inner)
        assert copy(3) == 3 + step
        assert not hasattr(copy._cache, "_cache_file")
    assert hasattr(with_globals(_plain, "doubled")._cache, "_cache_file")


def _outer(x):
    return inner(x)  # noqa: F821


RULE = """
from dataclasses import dataclass
import numpy as np
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

{decorator}
def select(belief, memory, t, rng):
    wins = belief.wins.sum(axis=1)
    if rng.random() < 0.5:
        return rng.integers(0, len(wins)), rng.integers(0, len(wins))
    return np.argmax(wins), np.argmin(wins)

@dataclass(frozen=True, kw_only=True)
class Own(PairPolicy):
    select = staticmethod(select)

    def init(self, n_arms):
        return ()
"""


@pytest.mark.slow
def test_a_rule_that_is_not_compiled_is_played_as_plain_python_and_said(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.syspath_prepend(tmp_path)
    traces = []
    for name, decorator in {"rule_plain": "", "rule_compiled": "@compiled"}.items():
        (tmp_path / f"{name}.py").write_text(RULE.format(decorator=decorator))
        caplog.clear()
        policy = import_module(name).Own()
        traces.append(bd.simulate(policy, "cyclic-4", 60, replications=2, seed=1, workers=1))
        assert ("select of rule_plain is not compiled" in caplog.text) == (decorator == "")
    plain, fast = (trace["trace"]["wins"] for trace in traces)
    assert (plain.values == fast.values).all() and plain.values.sum() > 0
