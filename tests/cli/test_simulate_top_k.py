"""``bayesduel simulate --k``."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.problems import RandomProblem, score_duels

pytestmark = pytest.mark.plain


def run(*args):
    result = CliRunner().invoke(main, ["simulate", *args])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("kept", ["trace.nc", "trace.zarr"])
@pytest.mark.sampled(2, "trace.nc")
def test_it_tells_draws_and_keeps_what_simulate_finds(tmp_path, kept):
    out, plot = tmp_path / kept, tmp_path / "success.png"
    args = ["--problem", "score_duels(n_arms=5,d=0.1)", "--policies", "POCBAm,PKG(warm_up=4)"]
    args += ["--k", "2", "--horizon", "60", "--replications", "4", "--seed", "3"]
    told = run(*args, "-o", str(out), "--plot", str(plot))
    assert "score duels: 2 of 5, after 60 duels, 4 runs" in told
    assert "PKG(warm_up=4)" in told
    assert plot.read_bytes().startswith(b"\x89PNG")
    trace = bd.open_trace(out)
    problem = RandomProblem(n_arms=5, generator=score_duels, settings=(("d", 0.1),))
    policies = [bd.policies.POCBAm(), bd.policies.PKG(warm_up=4)]
    again = bd.simulate(policies, problem, 60, k=2, replications=4, seed=3)
    np.testing.assert_array_equal(trace["trace"]["selected"], again["trace"]["selected"])
    rows = json.loads(run(*args, "--json"))["policies"]
    rates = bd.success_rate(again).isel(time=-1)
    np.testing.assert_allclose([row["rate"] for row in rows], rates["rate"])
    np.testing.assert_allclose([row["high"] for row in rows], rates["high"])


def test_a_named_problem_is_played_for_wins_and_a_log_replayed(tmp_path):
    args = ["--k", "1", "--replications", "3", "--json"]
    told = run(
        "--problem", "linear", "--policies", "PBR(criterion='borda')", "--horizon", "300", *args
    )
    assert json.loads(told)["policies"][0]["policy"] == "PBR(criterion='borda')"
    log = tmp_path / "log.csv"
    rows = ["left,right,margin", *(["a,b,3", "b,c,2", "a,c,4", "b,a,1"] * 3)]
    log.write_text("\n".join(rows) + "\n")
    policies = "Uniform,Uniform(by='model')"
    told = run("--problem", str(log), "--policies", policies, "--horizon", "90", *args)
    assert [row["rate"] for row in json.loads(told)["policies"]] == [1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--policies": "DTS"}, "--policies: DTS does not select the k best: leave out --k"),
        ({"--policies": "Dts"}, "--policies should name a policy, got 'Dts'"),
        ({"--policies": "POCBAm(warm_up=1)"}, "POCBAm: warm_up should be at least 2, got 1"),
        ({"--policies": "PBR"}, "criterion should be 'borda' on score duels, got 'copeland'"),
        (
            {"--problem": "mars"},
            "family or a log, got 'mars'; `bayesduel problems` and",
        ),
        ({"--problem": "logistic-items"}, "generator=score_duels), got LogisticItems"),
        ({"--problem": "icehockey"}, "margin of every pair, got none of 1,212 pairs"),
        ({"--problem": "score_duels(m=3)"}, "settings should be of best, d, n_arms, spread"),
        ({"--problem": "score_duels(d=1),score_duels(d=1)"}, "twice"),
        ({"--problem": "score_duels(d=-1)"}, "d should be >= 0 and finite, got -1"),
        ({"--k": "10"}, "k should be from 1 to 9, got 10"),
        ({"--k": "0"}, "k should be a whole number >= 1"),
        (
            {"--horizon": "100"},
            "POCBAm needs at least 135 duels to select 3 of 10 arms",
        ),
        ({"--horizon": "inf"}, "horizon should be a whole number"),
        ({"--plot": "/nowhere/at/all.png"}, "folder that exists"),
        ({"-o": "/nowhere/at/all.nc"}, "folder that exists"),
        ({"--regret": "weak"}, "--regret is for regret, got it with --k 3"),
        ({"--detail": "arms"}, "--detail is for regret, got it with --k 3"),
    ],
)
def test_bad_input_is_one_line_and_status_2(change, message, capfd):
    given = {"--problem": "score_duels", "--policies": "POCBAm", "--k": "3", "--horizon": "200"}
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", *(part for pair in {**given, **change}.items() for part in pair)])
    assert stopped.value.code == 2
    said = capfd.readouterr().err
    assert message in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", ["folder", "letter.nc", "letter.zarr"])
def test_nothing_but_a_trace_is_written_over(tmp_path, capfd, name):
    kept = tmp_path / name
    inside = kept / "letter.txt" if name == "folder" else kept
    inside.parent.mkdir(exist_ok=True)
    inside.write_text("Dear reader")
    given = ["--problem", "score_duels", "--policies", "POCBAm", "--k", "3", "--horizon", "200"]
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", *given, "-o", str(kept)])
    assert stopped.value.code == 2
    assert "out should be a new path or a trace" in capfd.readouterr().err
    assert inside.read_text() == "Dear reader"


@pytest.mark.parametrize("name", ["trace.nc", "trace.zarr"])
@pytest.mark.sampled(2)
def test_the_same_simulation_continues_and_another_is_refused(tmp_path, capfd, name):
    given = ["--problem", "linear", "--policies", "Uniform", "--k", "1", "--horizon", "90"]
    given += ["--replications", "2", "-o", str(tmp_path / name)]
    first = run(*given, "--seed", "1")
    assert run(*given, "--seed", "1") == first
    with pytest.raises(SystemExit):
        main(["simulate", *given, "--seed", "2"])
    assert "Its seed is 1, and this simulation has 2" in capfd.readouterr().err
    assert json.loads(bd.open_trace(tmp_path / name).attrs["plan"])["seed"] == 1
