"""``bayesduel simulate``, ``problems`` and ``policies``."""

import ctypes
import json
import re
import sys
from unittest.mock import Mock

import numpy as np
import pytest
from click import UsageError
from click.testing import CliRunner
from joblib.externals.loky import get_reusable_executor

import bayesduel as bd
from bayesduel import policies, problems
from bayesduel.cli import main
from bayesduel.cli.parse import policies_of, problems_of

pytestmark = pytest.mark.plain

TOP_K = (
    "ActiveRanking",
    "HybridPOCBAm",
    "LaplaceAllocation",
    "MLPOCBAm",
    "PKG",
    "POCBAm",
    "QuickSelect",
    "SelectTop",
)


def run(*args, status=0):
    result = CliRunner().invoke(main, list(args))
    assert result.exit_code == status, result.output
    return result.output


@pytest.mark.slow
def test_simulate_tells_draws_and_keeps(tmp_path):
    out, plot = tmp_path / "trace.zarr", tmp_path / "regret.png"
    args = ["simulate", "--problem", "mslr-5", "--policies", "CCB,DTS(alpha=0.6),SAVAGE"]
    args += ["--horizon", "1e3", "--replications", "2", "--seed", "3", "-o", str(out)]
    told = run(*args, "--plot", str(plot))
    assert "mslr-5: cumulative copeland regret, max c - (c_a + c_b) / 2" in told
    assert "DTS(alpha=0.6)" in told
    assert plot.read_bytes().startswith(b"\x89PNG")
    trace = bd.open_trace(out)
    rows = json.loads(run(*args, "--json"))["policies"]  # goes on with the finished trace
    mean = bd.regret(trace).isel(time=-1).mean("replication").values
    np.testing.assert_allclose([row["mean"] for row in rows], mean)


def stop(*_, **__):
    raise KeyboardInterrupt


def stop_in_a_callback(*_, **__):
    """Fail as Numba does where Python ignored a stop in its callback."""
    ctypes.CFUNCTYPE(None)(stop)()
    raise RuntimeError("no compiled object yet")


@pytest.mark.parametrize("what", [stop, stop_in_a_callback])
def test_ctrl_c_says_in_a_line_how_to_go_on(tmp_path, monkeypatch, what):
    monkeypatch.setattr("bayesduel.simulation.simulate", what)
    monkeypatch.setattr("bayesduel.cli.threading.Timer", Mock())  # of the stop given again
    args = ["simulate", "--problem", "mslr-5", "--policies", "DTS", "--horizon", "10"]
    told = CliRunner().invoke(main, args)
    assert told.exit_code == 130
    lines = [line for line in told.stderr.splitlines() if line]
    assert lines == [
        "bayesduel: stopped. Nothing was kept; with -o FOLDER.zarr a stopped simulation goes on"
    ]
    out = tmp_path / "trace.zarr"
    told = CliRunner().invoke(main, [*args, "-o", str(out)])
    assert f"same command again to go on: the finished runs are in {out}" in told.stderr


@pytest.mark.slow
def test_a_policy_takes_another_belief_by_name(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    policy = "DTS(belief=Laplace(BradleyTerry(), draws=100))"
    told = run(
        *("simulate", "--problem", "cyclic-4", "--policies", f"Uniform,{policy}"),
        *("--horizon", "12", "--replications", "2", "--workers", "1"),
    )
    assert "s.e." in told
    # The name is folded over lines; its numbers stay whole beside it.
    assert "=Laplace(model=BradleyTerry,draws=100))" in "".join(told.split())


def test_problems_and_policies_stand_within_others():
    text = "MDB(policy=DETECT(policy=DTS(alpha=0.6),window=8))"
    inner = policies.DETECT(policy=policies.DTS(alpha=0.6), window=8)
    assert policies_of(text, None) == [policies.MDB(policy=inner)]
    text = "RandomChanges(n_changes=2,family=bradley_terry(n_arms=4,sd=2.0)),mslr-5"
    first, second = problems_of(text).values()
    assert (first.n_arms, first.n_segments, second.name) == (4, 3, "mslr-5")
    assert dict(first.family.settings) == {"sd": 2.0}
    given = [
        "simulate",
        "--policies",
        "DETECT(policy=DTS,window=2)",
        "--horizon",
        "20",
        "--problem",
    ]
    assert "DETECT(policy=DTS" in run(*given, "cyclic-4", "--replications", "1", "--workers", "1")
    message = "policy of DETECT should be a policy of pairs, such as WinnerStays(), got KLUCB"
    with pytest.raises(UsageError, match=re.escape(message)):
        policies_of("DETECT(policy=KLUCB())", None)


def test_refused_settings_are_refused_before_any_duel(tmp_path, capfd):
    given = ["--problem", "hudry-13", "--policies", "RUCB", "--horizon", "1e12"]
    for setting in (["--plot", "regret.doc"], ["--regret", "condorcet"]):
        with pytest.raises(SystemExit):
            main(["simulate", *given, *setting])
        assert "should" in capfd.readouterr().err


def test_regrets_of_pairs_keep_the_pairs():
    told = run(
        *("simulate", "--problem", "mslr-5", "--policies", "DTS", "--horizon", "30"),
        *("--replications", "1", "--regret", "weak"),
    )
    assert "cumulative weak regret" in told
    assert "after 30 duels, 1 run\n" in told
    assert re.search(r"DTS +\d\.\d\d ", told)  # a small regret has its digits


def test_a_log_is_replayed(tmp_path):
    log = tmp_path / "log.csv"
    rows = ["left,right,outcome", *(["a,b,left", "b,c,left", "a,c,left", "b,a,left"] * 3)]
    log.write_text("\n".join(rows) + "\n")
    told = run("simulate", "--problem", str(log), "--policies", "Uniform", "--horizon", "60")
    assert "replay of" in told
    told = run("simulate", "--problem", "springall", "--policies", "Uniform", "--horizon", "60")
    assert "replay of springall" in told


def test_a_family_of_items_takes_settings():
    family = "LogisticItems(n_arms=40, n_attributes=3, gap=0.05)"
    given = ("--policies", "TwoPhase,KLUCB", "--horizon", "80", "--replications", "2", "--json")
    told = json.loads(run("simulate", "--problem", family, *given))
    trace = bd.simulate(
        [bd.policies.TwoPhase(), bd.policies.KLUCB()],
        problems.LogisticItems(n_arms=40, n_attributes=3, gap=0.05),
        80,
        replications=2,
        seed=0,
    )
    means = bd.regret(trace).isel(time=-1).mean("replication").to_numpy()
    assert told["regret"] == "pull"
    np.testing.assert_allclose([row["mean"] for row in told["policies"]], means)


def test_pairs_that_never_met_toss_a_coin_if_asked():
    given = ["simulate", "--policies", "Uniform", "--horizon", "20", "--replications", "1"]
    told = run(*given, "--problem", "chameleons", "--never-met", "half")
    assert "replay of chameleons" in " ".join(told.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--policies": "CCP"}, "--policies should name a policy, got"),
        ({"--policies": "POCBAm"}, "--policies: POCBAm selects the k best and needs --k"),
        ({"--regret": "slope"}, "or FILE.py:NAME for a function NAME(P, a, b), got 'slope'"),
        ({"--regret": "none.py:cost"}, "--regret should name a file, got 'none.py'"),
        ({"--problem": "mslr-5,cyclic-4", "--plot": "a.png"}, "--plot should be with one problem"),
        ({"--policies": "CCB("}, "--policies should be like"),
        ({"--policies": "CCB(alpha=0.2)"}, "CCB: alpha should be > 0.5, got 0.2"),
        ({"--policies": "CCB(beta=1)"}, "CCB has no setting 'beta'; its settings are belief, "),
        ({"--policies": "CCB(alfa=1)"}, "did you mean 'alpha'?"),
        ({"--policies": "DTS(belief=Laplase())"}, "one of KL, MCMC"),
        ({"--policies": "DTS(alpha=2*3)"}, "got '2 * 3'"),
        (
            {"--problem": "mars"},
            "family or a log, got 'mars'; `bayesduel problems` and",
        ),
        ({"--problem": "LogisticItems(gap=2)"}, "LogisticItems: gap should be in"),
        ({"--problem": "UnitSphere(),UnitSphere()"}, "got 'UnitSphere()' twice"),
        ({"--horizon": "0"}, "horizon should be a whole number >= 1"),
        ({"--seed": "-1"}, "Invalid value for '--seed': -1"),
        ({"--plot": "/nowhere/at/all.png"}, "--plot should be in a folder that exists"),
        ({"--problem": "chameleons"}, "490 pairs never met, such as 'C01' and 'C02'. To set P"),
        ({"--plot": "regret.doc"}, "--plot should end in one of"),
        ({"--problem": "hudry-13", "--regret": "weak"}, "has no Condorcet winner"),
        ({"--index": None}, "--index is for --k"),
        ({"--problem": "score_duels"}, "k (how many arms to select) should be given"),
        ({"--regret": "weak", "--detail": "arms"}, "detail should be 'pairs' for weak regret"),
        ({"--problem": "unit-sphere", "--regret": "borda"}, "criterion should be 'pull'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(change, message, capfd):
    given = {"--problem": "mslr-5", "--policies": "CCB", "--horizon": "10", **change}
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", *(part for pair in given.items() for part in pair if part)])
    assert stopped.value.code == 2
    said = capfd.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_contexts_of_each_round_have_weak_regret():
    given = ("--problem", "ContextualDuels(n_arms=3)", "--policies", "CoLSTIM", "--horizon", "40")
    told = json.loads(run("simulate", *given, "--regret", "weak", "--replications", "2", "--json"))
    assert told["regret"] == "weak"
    assert told["policies"][0]["policy"] == "CoLSTIM"


def test_problems_and_policies_are_listed():
    told = json.loads(run("problems", "--json"))
    assert set(told) == set(problems.NAMES)
    assert told["tennis-8"]["winners"]["copeland"] == ["1", "7"]
    assert "hudry-13" in run("problems")
    told = json.loads(run("policies", "--json"))
    assert set(told) == set(policies.__all__)
    assert all(entry["reference"] and entry["guarantee"] for entry in told.values())
    assert told["Uniform"]["settings"] == told["PBR"]["settings"] == ["pairs", "margins"]
    assert told["TwoPhase"]["settings"] == ["items"]
    assert told["POCBAm"]["settings"] == ["margins"]
    told = run("policies")
    assert all(name in told for name in ("SupKLUCB", "POCBAm", "LogisticDuelThompson"))


def test_several_problems_and_a_regret_of_ones_own(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def lost(P, a, b):\n    return P.max() - max(P[a].mean(), P[b].mean())\n")
    given = ("simulate", "--policies", "Uniform", "--horizon", "60", "--replications", "2")
    problems = "mslr-5, bradley_terry(n_arms=4, sd=1.0)"
    told = json.loads(
        run(*given, "--problem", problems, "--regret", f"{file}:lost", "--json"),
    )["problems"]
    assert [one["problem"] for one in told] == ["mslr-5", "bradley terry"]
    assert {one["regret"] for one in told} == {"lost"}

    def lost(P, a, b):
        return P.max() - max(P[a].mean(), P[b].mean())

    trace = bd.simulate(bd.policies.Uniform(), "mslr-5", 60, replications=2, seed=0, detail="pairs")
    mean = float(bd.regret(trace, lost).isel(time=-1).mean())
    assert told[0]["policies"][0]["mean"] == pytest.approx(mean)


MINE = """
import bayesduel as bd

fixed = bd.problems.Matrix([[0.5, 0.9], [0.1, 0.5]], name="fixed")


def steps(n_arms, *, step=0.2, rng):
    return bd.problems.bradley_terry(n_arms, sd=step, rng=rng)


class Mine(bd.policies.DTS):
    pass


class DTS(bd.policies.DTS):
    pass


class Model(bd.models.BradleyTerry):
    pass


ordered = bd.models.BradleyTerry() + bd.models.SideAdvantage()
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    get_reusable_executor().shutdown()  # processes of other tests do not know the folder
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("mine_for_simulate", None)


@pytest.mark.slow
@pytest.mark.plain
def test_a_policy_with_a_model_of_ones_own(mine):
    file = mine / "mine_for_simulate.py"
    file.write_text(MINE)
    given = ("simulate", "--problem", "mslr-5", "--horizon", "30", "--replications", "1", "--json")
    told = run(
        *given, "--workers", "1", "--policies", f"DTS(belief=Laplace({file}:Model(scale=1)))"
    )
    (policy,) = json.loads(told)["policies"]
    assert policy["policy"].startswith("DTS(belief=Laplace(model=Model(")


def test_policies_and_problems_of_ones_own(mine):
    """Of a file, in processes of their own."""
    file = mine / "mine_for_simulate.py"
    file.write_text(MINE)
    given = ("simulate", "--horizon", "50", "--replications", "2", "--workers", "2", "--json")
    policies = f"Uniform, {file}:Mine(alpha=0.6), {file}:Mine"
    problems = f"mslr-5,{file}:fixed,{file}:steps(n_arms=3,step=0.1)"
    told = json.loads(run(*given, "--policies", policies, "--problem", problems))["problems"]
    assert [one["problem"] for one in told] == ["mslr-5", "fixed", "steps"]
    for one in told:
        assert [p["policy"] for p in one["policies"]] == ["Uniform", "Mine(alpha=0.6)", "Mine"]


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("--policies", "{}:None_such", "--policies should name what .*, got 'None_such'"),
        ("--policies", "{}:DTS", "--policies should have names of their own, got DTS, of ours"),
        ("--policies", "{}:fixed", "fixed: 'Matrix' object is not callable"),
        ("--policies", "{0}:Mine,{0}/../again.py:Mine", "each name once, got Mine of two files"),
        ("--policies", "{0}:Model", "policies such as bayesduel.policies.DTS.*, got Model"),
        ("--policies", "DTS(belief=Laplace({0}:ordered))", "got bradley-terry . order"),
        ("--policies", "{}:Mine(alpha=0.1)", "Mine: alpha should be .*, got 0.1"),
        ("--problem", "nowhere.py:fixed", "--problem should name a file, got 'nowhere.py'"),
        ("--problem", "{}:steps(wide=1)", "steps: settings should be of n_arms, step"),
        (
            "--problem",
            "{}/../json.py:x",
            "a file whose name is not that of a module, got .*json.py",
        ),
        ("--regret", "{}:fixed", "--regret should name a function of"),
    ],
)
def test_what_a_file_does_not_have_is_refused_by_option(option, text, words, mine):
    file = mine / "mine_for_simulate.py"
    file.write_text(MINE)
    (mine / "json.py").write_text("x = 1")
    (mine / "again.py").write_text(MINE)
    text = text.replace("{}/..", str(mine)).replace("{0}/..", str(mine)).format(file)
    given = {"--policies": "Uniform", "--problem": "mslr-5", "--horizon": "20", option: text}
    args = [part for pair in given.items() for part in pair]
    answer = CliRunner().invoke(main, ["simulate", *args])
    assert answer.exit_code == 2 and re.search(words, answer.stderr), answer.stderr
