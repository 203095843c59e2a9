"""Simulations do not depend on workers, on company, or on having been killed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.problems import RandomProblem, uniform
from bayesduel.simulation import recorded_times
from bayesduel.simulation.progress import progress_bar
from bayesduel.simulation.replication import streams
from bayesduel.simulation.trace import plan_of

pytestmark = pytest.mark.plain

BOTH = [bd.policies.Uniform(), bd.policies.DTS()]


def same(a, b):
    """Bit for bit, whatever the order of variables and whether they lie on disk."""
    for group in ("trace", "problem"):
        a_set, b_set = a[group].to_dataset().load(), b[group].to_dataset().load()
        assert set(a_set) == set(b_set)
        for name in a_set:
            xr.testing.assert_identical(a_set[name], b_set[name])
    return a.attrs == b.attrs


@pytest.fixture(scope="module")
def reference():
    return bd.simulate(BOTH, "cyclic-4", 300, replications=4, seed=11)


def test_a_trace_says_what_happened(reference):
    counts = reference["trace"]
    assert counts["wins"].dims == ("policy", "replication", "time", "arm", "opponent")
    assert list(reference["policy"].values) == ["Uniform", "DTS"]
    alone = counts["self_duels"].sum("arm")
    total = counts["wins"].sum(("arm", "opponent")) + alone
    np.testing.assert_array_equal(total, np.broadcast_to(reference["time"], total.shape))
    places = counts["wins"].sum("opponent").values + counts["wins"].sum("arm").values
    np.testing.assert_array_equal(counts["duels"], places + 2 * counts["self_duels"].values)
    assert counts["recommended"].dtype == np.int32
    assert (counts["answered"] == -1).all()
    plan = plan_of(reference)
    assert plan["policies"]["DTS"] == repr(bd.policies.DTS())
    assert plan["seed"] == 11


def test_results_do_not_depend_on_the_workers(reference):
    again = bd.simulate(BOTH, "cyclic-4", 300, replications=4, seed=11, workers=2)
    assert same(again, reference)


def test_results_do_not_depend_on_the_other_policies_or_replications(reference):
    alone = bd.simulate(bd.policies.DTS(), "cyclic-4", 300, replications=2, seed=11)
    np.testing.assert_array_equal(
        alone["trace"]["wins"].sel(policy="DTS"),
        reference["trace"]["wins"].sel(policy="DTS").isel(replication=[0, 1]),
    )


def test_results_do_not_depend_on_when_they_are_recorded(reference):
    often = bd.simulate(BOTH, "cyclic-4", 300, replications=4, seed=11, record_at=range(1, 301))
    times = reference["time"].values
    np.testing.assert_array_equal(
        often["trace"]["wins"].sel(time=times), reference["trace"]["wins"]
    )


def test_policies_meet_the_same_coins():
    """Two names of one policy, and the coins of its replication, reproduce its first duel."""
    trace = bd.simulate({"a": bd.policies.DTS(), "b": bd.policies.DTS()}, "cyclic-4", 200, seed=3)
    wins = trace["trace"]["wins"]
    np.testing.assert_array_equal(wins.sel(policy="a"), wins.sel(policy="b"))
    assert len({g.random() for g in streams(3, 0)}) == 4


def test_the_log_is_in_the_problems_own_labels():
    """Arm 1 of cyclic-4 is known to win; it is found whatever order the runs shuffle to."""
    trace = bd.simulate(bd.policies.DTS(), "cyclic-4", 1000, replications=4, seed=2)
    assert (trace["trace"]["recommended"].isel(time=-1) == 0).all()
    assert (trace["trace"]["duels"].isel(time=-1).argmax("arm") == 0).all()
    fixed = bd.simulate(bd.policies.DTS(), "cyclic-4", 1000, replications=4, seed=2, permute=False)
    assert not fixed["trace"]["wins"].equals(trace["trace"]["wins"])


def test_each_replication_may_draw_its_own_truth():
    family = RandomProblem(n_arms=3, generator=uniform)
    trace = bd.simulate(
        [bd.policies.DTS(), bd.policies.Uniform()], family, 200, replications=3, seed=4
    )
    P = trace["problem"]["P"]
    assert P.dims == ("replication", "arm", "opponent")
    assert len(np.unique(P.values[:, 0, 1])) == 3
    for r in range(3):
        np.testing.assert_array_equal(P[r], family.draw(streams(4, r)[0]).P)
    assert bd.regret(trace).shape[:2] == (2, 3)


def test_a_log_can_be_replayed():
    duels = bd.Duels.from_wins([[0, 9, 8], [1, 0, 7], [2, 3, 0]], arms=["a", "b", "c"])
    trace = bd.simulate(bd.policies.DTS(), duels, 100)
    assert list(trace["arm"].values) == ["a", "b", "c"]


def test_zarr_and_netcdf_keep_the_same_trace(reference, tmp_path):
    for name in ("trace.zarr", "trace.nc"):
        kept = bd.simulate(BOTH, "cyclic-4", 300, replications=4, seed=11, out=tmp_path / name)
        assert same(reference, kept)
        assert same(reference, bd.open_trace(tmp_path / name))
        np.testing.assert_array_equal(bd.regret(kept), bd.regret(reference))


KILLED = """
import sys, bayesduel as bd
if __name__ == "__main__":
    rules = [bd.policies.Uniform(), bd.policies.DTS()]
    bd.simulate(rules, "mslr-5", 20_000, replications=12, seed=7, out=sys.argv[1], workers=1)
"""


@pytest.mark.slow
def test_a_killed_simulation_goes_on_to_the_same_trace(tmp_path):
    out = tmp_path / "trace.zarr"
    whole = bd.simulate(BOTH, "mslr-5", 20_000, replications=12, seed=7)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(out)])
    marks = out / "finished" / "checksum" / "c"
    deadline = time.monotonic() + 120
    while not all(any(marks.glob(f"{p}/*/0")) for p in (0, 1)):
        assert time.monotonic() < deadline, "no run was finished"
        time.sleep(0.01)
        assert process.poll() is None, "it should still be running"
    process.send_signal(signal.SIGKILL)
    process.wait()
    with pytest.warns(UserWarning, match="is read in part"):
        partial = bd.open_trace(out)
    n = partial.sizes["replication"]
    assert 0 < n < 12
    np.testing.assert_array_equal(bd.regret(partial), bd.regret(whole)[:, :n])
    stamps = {p: os.stat(p).st_mtime_ns for p in (out / "trace").rglob("c/0/0/*")}
    resumed = bd.simulate(BOTH, "mslr-5", 20_000, replications=12, seed=7, out=out)
    assert same(whole, resumed)
    assert stamps == {p: os.stat(p).st_mtime_ns for p in stamps}  # finished runs: untouched


def test_a_netcdf_file_is_finished_or_refused(tmp_path):
    out = tmp_path / "trace.nc"
    kept = bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.nc"]
    stamp = out.stat().st_mtime_ns
    assert same(kept, bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out))
    assert out.stat().st_mtime_ns == stamp
    with pytest.raises(ValueError, match="Its seed is 1, and this simulation has 2"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=2, out=out)
    assert out.stat().st_mtime_ns == stamp
    letter = tmp_path / "letter.nc"
    letter.write_text("Dear reader")
    with pytest.raises(ValueError, match=r"out should be a new path or a trace, got .*letter.nc"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 50, out=letter)
    assert letter.read_text() == "Dear reader"


def test_a_trace_of_something_else_is_not_overwritten(tmp_path):
    out = tmp_path / "trace.zarr"
    bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out)
    with pytest.raises(ValueError, match="Its seed is 1, and this simulation has 2"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=2, out=out)
    (tmp_path / "letters").mkdir()
    with pytest.raises(ValueError, match="out should be a new path or a trace to continue"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 50, out=tmp_path / "letters")
    with pytest.raises(ValueError, match="out should be in a folder that exists"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 50, out=tmp_path / "no" / "trace.zarr")
    with pytest.raises(FileNotFoundError, match="path should be a trace"):
        bd.open_trace(tmp_path / "nothing.zarr")


def test_a_dask_cluster_gives_the_same_trace(reference):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        there = bd.simulate(
            BOTH,
            "cyclic-4",
            300,
            replications=4,
            seed=11,
            backend="dask",
            scheduler=cluster.scheduler_address,
        )
    assert same(reference, there)


def test_recorded_times():
    log = recorded_times("log", 10**6)
    assert log[0] == 1
    assert log[-1] == 10**6
    assert (np.diff(log) > 0).all()
    assert 100 < len(log) < 181
    assert recorded_times("linear", 1000).tolist() == list(range(5, 1001, 5))
    assert recorded_times("log", 1).tolist() == [1]
    assert recorded_times([3, 5], 10).tolist() == [3, 5, 10]
    for bad in ([0, 5], [5, 5], [5, 11], [1.5], []):
        with pytest.raises(
            ValueError, match=r"record_at should be increasing whole numbers from 1 to 10"
        ):
            recorded_times(bad, 10)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"horizon": 0}, ValueError, "horizon should be a whole number >= 1, got 0"),
        ({"horizon": 2.5}, ValueError, "horizon should be a whole number >= 1, got 2.5"),
        ({"horizon": "long"}, TypeError, "horizon should be a whole number >= 1, got 'long'"),
        ({"seed": -1}, ValueError, "seed should be a whole number >= 0, got -1"),
        ({"replications": 0}, ValueError, "replications should be a whole number >= 1, got 0"),
        ({"workers": 0}, ValueError, "workers should be a whole number >= 1, got 0"),
        ({"record_at": "often"}, ValueError, "record_at should be 'log', 'linear' or times"),
        ({"detail": "all"}, ValueError, "detail should be 'auto', 'pairs', 'arms' or"),
        ({"backend": "ray"}, ValueError, "backend should be 'processes' or 'dask', got 'ray'"),
        ({"backend": "dask"}, ValueError, "scheduler should be the address"),
        ({"scheduler": "tcp://x:1"}, ValueError, "scheduler should be given only when backend is"),
        ({"policies": []}, ValueError, "policies should have at least one policy"),
        (
            {"policies": [bd.policies.DTS(), bd.policies.DTS()]},
            ValueError,
            "policies should have different names",
        ),
        (
            {"policies": bd.policies.DTS},
            TypeError,
            r"policies should be policies such as bayesduel.policies.DTS\(\)",
        ),
        ({"policies": "dts"}, ValueError, "such as 'DTS', got 'dts'; did you mean 'DTS'"),
        ({"policies": ["DTS", "no"]}, ValueError, "got 'no'; `bayesduel policies` lists them"),
        ({"policies": "PairPolicy"}, ValueError, "got 'PairPolicy'"),
        ({"policies": ["DTS", bd.policies.DTS()]}, ValueError, "should have different names"),
        ({"policies": bd.policies.POCBAm()}, ValueError, "fit the problem cyclic-4, got POCBAm"),
        ({"record_at": 5}, TypeError, "record_at should be 'log', 'linear' or times, got 5"),
        ({"record_at": [1, [2]]}, ValueError, "record_at should be increasing whole numbers"),
        ({"index": np.ones(2)}, TypeError, "index should be True or False, got an array"),
        ({"permute": b"no"}, TypeError, "permute should be True or False, got b'no'"),
        ({"progress": [1]}, TypeError, r"progress should be True or False, got \[1\]"),
        ({"out": 3}, TypeError, "out should be a path, got 3"),
        ({"problem": [[0.5]]}, ValueError, "K >= 2"),
        ({"problem": "nowhere"}, ValueError, "name should be one of"),
    ],
)
def test_bad_arguments_are_refused(change, error, message):
    arguments = {"policies": bd.policies.DTS(), "problem": "cyclic-4", "horizon": 10, **change}
    with pytest.raises(error, match=message):
        bd.simulate(**arguments)


def test_progress_tells_rate_and_time_left(capsys):
    with progress_bar(1000, 200, True) as report:
        report(0, 300)
        report(1, 500)
        report(0, 100)  # A late note does not turn the bar back.
    shown = capsys.readouterr().err
    assert "1,000 of 1,000" in shown
    assert "duels/s" in shown
    with progress_bar(1000, 0, None) as report:
        report(0, 1)
    assert not capsys.readouterr().err


def test_horizons_are_given_to_policies_that_need_one():
    assert bd.policies.SAVAGE().for_horizon(70).horizon == 70
    assert bd.policies.SAVAGE(horizon=5).for_horizon(70).horizon == 5
    assert bd.policies.DTS().for_horizon(70) == bd.policies.DTS()


def test_the_plan_is_json(reference):
    assert json.loads(reference.attrs["plan"])["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("name", ["trace.zarr", "trace.nc"])
def test_a_second_writer_of_a_trace_is_told_so(tmp_path, monkeypatch, name):
    from bayesduel.simulation import experiment

    out, here, told = tmp_path / name, experiment.here, []

    def meanwhile(tasks, report):
        with pytest.raises(ValueError, match="out should have one writer at a time, but") as caught:
            bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out)
        told.append(caught.value)
        yield from here(tasks, report)

    monkeypatch.setattr(experiment, "here", meanwhile)
    first = bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out)
    assert len(told) == 1
    monkeypatch.undo()
    assert same(first, bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1, out=out))
    assert same(first, bd.simulate(bd.policies.DTS(), "cyclic-4", 50, seed=1))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "trace.zarr"
    bd.simulate(BOTH, "cyclic-4", 40, replications=2, seed=3, out=out)
    return out


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


DAMAGE = {
    "removed": lambda path: path.unlink(),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "a bit flipped": flip,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.sampled(2)
def test_a_trace_that_lost_a_file_is_not_read_as_zeros(kept, tmp_path, damage):
    """Every kind of file in turn: the right regret, or a refusal that names the file."""
    whole = bd.regret(bd.open_trace(kept)).load()
    assert not whole.isnull().any()
    files = sorted(p.relative_to(kept) for p in kept.rglob("*") if p.is_file())
    kinds = [f for f in files if f.parts[0] not in ("trace", "finished") or "c" not in f.parts]
    kinds += [f for f in files if "/c/1/1" in f.as_posix()]
    kinds = [f for f in kinds if f.name != ".writer"]
    assert len(kinds) > 25
    refused = 0
    for number, file in enumerate(kinds):
        out = tmp_path / f"{number}.zarr"
        shutil.copytree(kept, out)
        DAMAGE[damage](out / file)
        of_a_run = "/c/1/" in file.as_posix()
        name = file.as_posix()
        if not of_a_run:
            blamed = ".*" if name.endswith(".header") else re.escape(name)
            for call in (bd.open_trace, again):
                with pytest.raises(ValueError, match=f"{out} .*lost|{blamed} of {out} is missing"):
                    call(out)
            refused += 1
            continue
        mark = file.parts[0] == "finished"  # of which another file may be blamed
        unfinished = damage == "removed" and mark
        what = f"{'.*' if mark else re.escape(name)} is missing or damaged"
        what = "not finished" if unfinished else what
        with pytest.warns(UserWarning, match=rf"1 of its 2 .* DTS in replication \d \({what}\)"):
            part = bd.open_trace(out)
        np.testing.assert_array_equal(bd.regret(part), whole.sel(replication=part["replication"]))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            repaired = again(out)
        assert [bool(re.search(what, str(w.message))) for w in said] == (
            [] if unfinished else [True]
        )
        np.testing.assert_array_equal(bd.regret(repaired), whole)
    assert refused > 10


def again(out):
    return bd.simulate(BOTH, "cyclic-4", 40, replications=2, seed=3, out=out)


def test_a_trace_without_checksums_or_without_runs_is_refused(kept, tmp_path):
    old, fresh = tmp_path / "old.zarr", tmp_path / "fresh.zarr"
    shutil.copytree(kept, old)
    shutil.rmtree(old / "finished")  # an earlier version had a marker there
    for call in (bd.open_trace, again):
        with pytest.raises(ValueError, match=r"no checksums.*same simulation with another folder"):
            call(old)
    shutil.copytree(kept, fresh)
    shutil.rmtree(fresh / "finished" / "checksum" / "c")
    with pytest.raises(
        ValueError, match=r"0 of its 2 replications are complete\. Missing: Uniform"
    ):
        bd.open_trace(fresh)
    np.testing.assert_array_equal(bd.regret(again(fresh)), bd.regret(bd.open_trace(kept)))


@pytest.mark.plain
@pytest.mark.parametrize("named", ["DTS", ["DTS"], {"DTS": "DTS"}])
def test_a_policy_by_its_name_is_the_policy(named):
    one, other = (
        bd.simulate(policies, "cyclic-4", 50, replications=2, workers=1)
        for policies in (named, bd.policies.DTS())
    )
    assert one.equals(other)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("policies", "said"),
    [
        (["DTS"], "Its policies is DTS and RUCB, and this simulation has DTS"),
        (
            {"DTS": bd.policies.DTS(alpha=0.7), "RUCB": "RUCB"},
            r"is DTS\(.*alpha=0.51\), and .* has DTS\(.*alpha=0.7",
        ),
    ],
)
def test_policies_of_another_trace_are_named(policies, said, tmp_path):
    bd.simulate(["DTS", "RUCB"], "cyclic-4", 20, workers=1, out=tmp_path / "trace")
    with pytest.raises(ValueError, match=said):
        bd.simulate(policies, "cyclic-4", 20, workers=1, out=tmp_path / "trace")
