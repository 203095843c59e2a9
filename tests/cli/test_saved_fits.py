"""Commands on a fit that is saved already: options, names, damage, two updates at once."""

import re
import shutil
import sys
import threading
import time
from itertools import product
from json import dumps

import h5py
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.cli.options import OF_LOGS
from bayesduel.system.atomic_write import held

LOG = "left,right,outcome\n" + "a,b,left\nb,c,left\na,c,right\nc,a,left\nb,a,left\n" * 20
GIVEN = {
    "prior": "scale=HalfNormal(1)",
    "family": "arms.csv:maker",
    "model": "davidson", "method": "laplace", "draws": "200", "seed": "1", "ties": "half",
    "on_bad": "skip", "side_advantage": None, "lower_is_better": None,
}  # fmt: skip
COMMANDS = {
    "winners": [],
    "top-k": ["--k", "1"],
    "report": ["-o", "page.html"],
    "site": ["-o", "public"],
    "export": ["-o", "tables"],
}


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    (folder / "a.csv").write_text(LOG)
    (folder / "arms.csv").write_text("arm,maker\na,x\nb,x\nc,y\n")
    bd.fit(bd.read_duels(folder / "a.csv"), draws=100).to_netcdf(folder / "F.NC", engine="h5netcdf")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", OF_LOGS)
def test_options_that_a_saved_fit_cannot_honour(command, name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    value = GIVEN.get(name, "x")
    option = f"--{name.replace('_', '-')}"
    told = [option] if value is None else [option, value]
    answer = run(command, folder / "F.NC", *COMMANDS[command], *told)
    assert answer.exit_code == 2 and answer.stdout == ""
    assert f"{option} is for fitting a log; {folder / 'F.NC'} is fitted already" in answer.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_a_name_in_capitals_is_read(command, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = run(command, folder / "F.NC", *COMMANDS[command])
    assert answer.exit_code == 0, answer.stderr


@pytest.mark.slow
def test_the_page_of_a_fit_is_the_one_that_python_writes(folder, tmp_path):
    page = tmp_path / "page.html"
    answer = run("report", folder / "F.NC", "-o", page, "--noun", "dish", "--confidence", "0.9")
    assert answer.exit_code == 0, answer.stderr
    fit = bd.load(folder / "F.NC")
    bd.report(fit, tmp_path / "python.html", noun="dish", confidence=0.9)
    own, others = page.read_text(), (tmp_path / "python.html").read_text()
    command = re.compile("<h2[^>]*>Reproduc.*", re.DOTALL)
    assert command.sub("", own) == command.sub("", others) and "dish" in own


@pytest.mark.parametrize("command", ["check", "judges", "health"])
def test_a_fit_in_place_of_a_log_is_named(command, folder):
    answer = run(command, folder / "F.NC")
    assert answer.exit_code == 2
    assert "LOG should be a log of duels, got the fit" in answer.stderr


def test_two_logs_are_checked(folder):
    (folder / "b.csv").write_text(LOG)
    answer = run("winners", folder / "a.csv", folder / "b.csv", "--check", "--draws", "100")
    assert answer.exit_code == 0, answer.stderr


# -- what was written is read, and damage is seen ------------------------------------------------

OPENING = {"winners": ["--json"], "top-k": ["--k", "1"], "update": ["NEW", "-o", "OUT"]}
OTHERS = {
    "another model": {"model": "davidson", "model_settings": dumps({"predictor": {"scale": None}})},
    "settings of margins": {"model_settings": dumps({"link": "probit", "degrees": 4})},
    "a model of margins": {"model": "thurstone-score"},
    "settings of a term": {"model_settings": dumps({"terms": [{"term": "scores", "size": 2}]})},
    "a term without its own": {"model_settings": dumps({"terms": [{"term": "covariates"}]})},
    "a layer more": {"model": "order-effect(bradley-terry)"},
    "a list": {"model_settings": "[1, 2]"},
    "no JSON": {"model_settings": "{"},
}
WORDS = {
    "settings of a term": "settings of the term scores should be scale, side, prior and family, "
    "got 'size'",
    "a term without its own": "settings of the term covariates should be of, scale, deviations and "
    "by, without 'of'",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder of a log and of its fit, both written by commands."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "a.csv").write_text(LOG)
    (folder / "new.csv").write_text(LOG)
    assert run("fit", folder / "a.csv", "--draws", 100, "-o", folder / "F.NC").exit_code == 0
    return folder


def answer(command, path, folder, monkeypatch):
    """Return status and words of a command on a file; it may end in one line, never in more."""
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    places = {"NEW": folder / "new.csv", "OUT": path.parent / "out.nc"}
    found = run(command, path, *(places.get(part, part) for part in OPENING[command]))
    assert not ignored, ignored[0].exc_value  # "Exception ignored in ...", after the line
    assert found.exit_code in (0, 2), found.stderr
    if found.exit_code == 2:
        assert len(found.stderr.splitlines()) == 1 and str(path) in found.stderr
        assert found.stdout == ""
    return found.exit_code, found.stdout


def loaded(path):
    """Return whether a file is a fit; what is none is refused in a line."""
    try:
        return "posterior" in bd.load(path)
    except ValueError as error:
        assert str(path) in str(error)
        return False


@pytest.mark.parametrize("command", OPENING)
@pytest.mark.sampled(3)
def test_what_fit_wrote_is_read_whatever_the_case_of_its_name(
    command, written, tmp_path, monkeypatch
):
    shutil.copy(written / "F.NC", tmp_path / "F.NC")
    assert answer(command, tmp_path / "F.NC", written, monkeypatch)[0] == 0


@pytest.mark.parametrize("command", OPENING)
@pytest.mark.sampled(3)
def test_a_flipped_bit_of_what_fit_wrote(command, written, tmp_path, monkeypatch):
    """At some 60 places: the answer is the same, or a line says that the file is damaged."""
    whole, path = (written / "F.NC").read_bytes(), tmp_path / "bad.nc"
    path.write_bytes(whole)
    sound, refused = answer(command, path, written, monkeypatch), 0
    places = range(0, len(whole), len(whole) // 60 + 1)
    for k, place in enumerate((*places, len(whole) - 40, len(whole) - 1)):
        bad = bytearray(whole)
        bad[place] ^= 1 << k % 8
        path.write_bytes(bad)
        found = answer(command, path, written, monkeypatch)
        assert found[0] == 2 or found == sound, place
        assert loaded(path) == (found[0] == 0)
        refused += found[0] == 2
    assert refused >= len(places)


@pytest.mark.slow
def test_a_flipped_bit_of_what_has_no_checksum(written, tmp_path, monkeypatch):
    """A fit by ``to_netcdf``: what HDF5 can see is one line."""
    path, bad = tmp_path / "own.nc", tmp_path / "bad.nc"
    bd.load(written / "F.NC").to_netcdf(path, engine="h5netcdf")
    whole, statuses = path.read_bytes(), set()
    for k, place in enumerate((100, *range(0, len(whole), len(whole) // 12))):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << k % 8
        bad.write_bytes(flipped)
        statuses.add(answer("top-k", bad, written, monkeypatch)[0])
    assert 2 in statuses


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("command", "other"), product(OPENING, OTHERS))
def test_settings_of_another_model(other, command, written, tmp_path, monkeypatch):
    path = tmp_path / "other.nc"
    shutil.copy(written / "F.NC", path)
    with h5py.File(path, "r+") as file:  # which leaves the checksum out
        file.attrs.update(OTHERS[other])
    assert answer(command, path, written, monkeypatch)[0] == 2
    told = run("winners", path).stderr
    assert WORDS.get(other, "") in told and "__init__" not in told
    assert not loaded(path)


# -- updates ------------------------------------------------------------------------------------


def test_an_update_waits_for_the_one_before(written, tmp_path):
    """The fit is replaced while it is held: the update is of the new one."""
    path, holding = tmp_path / "fit.nc", threading.Event()
    shutil.copy(written / "F.NC", path)
    once = run("update", path, written / "new.csv", "-o", tmp_path / "once.nc")
    assert once.exit_code == 0, once.stderr

    def first():
        with held(path):
            holding.set()
            time.sleep(0.5)
            (tmp_path / "once.nc").replace(path)

    thread = threading.Thread(target=first)
    thread.start()
    holding.wait()
    shutil.copy(written / "new.csv", tmp_path / "tomorrow.csv")
    second = run("update", path, tmp_path / "tomorrow.csv")
    thread.join()
    assert second.exit_code == 0, second.stderr
    assert bd.load(path).attrs["n_duels"] == 300
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fit.nc", "tomorrow.csv"]


@pytest.mark.parametrize("options", [["--side-advantage"], []])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_an_update_that_needs_the_log_names_its_option(options, tmp_path):
    rows = [f"{row},{'xyz'[k // 5 % 3]}" for k, row in enumerate(LOG.splitlines()[1:])]
    log, path = tmp_path / "a.csv", tmp_path / "fit.nc"
    log.write_text("\n".join(["left,right,outcome,judge", *rows, ""]))
    assert run("fit", log, *options, "--draws", 100, "-o", path).exit_code == 0
    before = path.read_bytes()
    found = run("update", path, log)
    assert found.exit_code == 2 and len(found.stderr.splitlines()) == 1
    assert "--earlier LOG" in found.stderr and path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "fit.nc"]  # and no lock
    assert run("update", path, log, "--earlier", log).exit_code == 0
    assert bd.load(path).attrs["n_duels"] == 200


def test_a_fit_whose_draws_are_equal_is_refused(folder, tmp_path):
    fit = bd.load(folder / "F.NC")
    stuck = fit["posterior"].dataset
    first = stuck["score"].isel(draw=0)
    fit["posterior"] = stuck.assign(score=stuck["score"] * 0 + first)
    fit.to_netcdf(tmp_path / "stuck.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="draws that differ, got equal ones of 'score'"):
        bd.load(tmp_path / "stuck.nc")
    answer = run("winners", tmp_path / "stuck.nc")
    assert answer.exit_code == 2 and "draws that differ" in answer.output
