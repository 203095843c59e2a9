"""A file that a command reads is never the one that it writes."""

import json
import os
import subprocess
import sys
import time

import click
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.cli.report import shown_command
from bayesduel.cli.write import READ
from bayesduel.reporting.export import export

LOG = "left,right,outcome,judge\n" + "a,b,left,x\nb,c,left,x\nc,a,right,y\na,b,right,y\n" * 20
COMMANDS = {
    "read": "read IN -o OUT",
    "fit": "fit IN -o OUT",
    "fit, several": "fit OTHER IN -o OUT",
    "fit, a glob": "fit *.csv -o OUT",
    "fit, a folder": "fit . -o OUT",
    "report": "report IN -o OUT",
    "winners": "winners IN -o OUT",
    "predict": "predict FIT --pairs IN -o OUT",
    "top-k": "top-k IN --k 1 -o OUT",
    "check": "check IN -o OUT",
    "attributes": "attributes IN --items OTHER -o OUT",
    "attributes --items": "attributes OTHER --items IN -o OUT",
    "attributes --predict": "attributes OTHER --items OTHER --predict IN -o OUT",
    "update": "update FIT IN -o OUT",
    "update --earlier": "update FIT OTHER --earlier IN -o OUT",
    "simulate": "simulate --problem IN --policies CCB --horizon 9 -o OUT",
    "simulate --plot": "simulate --problem IN --policies CCB --horizon 9 --plot OUT",
    "calibrate": "calibrate IN -n 20 -o OUT",
    "export": "export IN -o OUT",
    "site": "site IN -o OUT",
    "study export": "study export IN OUT",
    "study report": "study report IN -o OUT",
    "study backup": "study backup IN -o OUT",
    "study plan": "study plan IN --plot OUT",
}
WRITTEN = {"output", "plot", "plot_path", "path"}


def spelled(file, way):
    """Return another name of a file."""
    if way == "the same":
        return str(file)
    if way == "relative":
        return os.path.join(".", "sub", "..", file.name)
    name = file.with_name(f"again{file.suffix}")
    if way == "a symlink":
        name.symlink_to(file)
    else:
        name.hardlink_to(file)
    return str(name)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "other.csv").write_text(LOG)
    (tmp_path / "fit.nc").write_text("a fit")
    return tmp_path


@pytest.mark.parametrize("way", ["the same", "relative", "a symlink", "a hard link"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_that_is_an_input_is_refused(here, name, way):
    file = here / ("log.png" if "plot" in COMMANDS[name] else "log.csv")
    file.write_text(LOG)
    given = {"IN": str(file), "OUT": spelled(file, way), "OTHER": "other.csv", "FIT": "fit.nc"}
    result = CliRunner().invoke(main, [given.get(w, w) for w in COMMANDS[name].split()])
    assert result.exit_code == 2, result.output
    refusal = "should not be a file that is read"
    refusal = {"export": "is a file", "site": "is a file"}.get(name, refusal)
    assert refusal in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert file.read_text() == LOG


@pytest.mark.parametrize("name", [n for n, c in COMMANDS.items() if "-o OUT" in c])
def test_a_log_is_not_replaced_by_a_page_or_a_fit(here, name):
    file = here / "another.tsv.gz"
    file.write_text("votes of a year")
    (here / "log.csv").write_text(LOG)
    given = {"IN": "log.csv", "OUT": file.name, "OTHER": "other.csv", "FIT": "fit.nc"}
    result = CliRunner().invoke(main, [given.get(w, w) for w in COMMANDS[name].split()])
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    assert file.read_text() == "votes of a year"


@pytest.mark.parametrize("command", ["fit IN -o OUT", "calibrate IN -n 20 -o OUT"])
def test_a_fit_that_no_command_would_read_is_refused(here, command):
    (here / "log.csv").write_text(LOG)
    words = command.replace("IN", "log.csv").replace("OUT", "posterior.out").split()
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2 and not (here / "posterior.out").exists()
    assert result.stderr == "bayesduel: -o should end in .nc (NetCDF), got posterior.out\n"


def test_every_command_that_writes_is_among_these():
    def walk(command, name):
        if isinstance(command, click.Group):
            context = click.Context(command)
            for sub in command.list_commands(context):
                yield from walk(command.get_command(context, sub), f"{name} {sub}".strip())
        elif any(p.name in WRITTEN for p in command.params):
            yield name
        else:
            options = {o for p in command.params for o in p.opts}
            assert not options & {"-o", "--output", "--plot"}, name

    assert set(walk(main, "")) == {" ".join(c.split(" IN")[0].split(" FIT")[0].split()[:2])
                                   if c.startswith("study") else c.split()[0]
                                   for c in COMMANDS.values()}  # fmt: skip
    assert {"log", "items", "predict", "fit", "earlier", "problem", "study"} <= set(READ)


def test_a_label_of_by_does_not_lead_to_an_input(here):
    (here / "all-x.csv").write_text(LOG)
    command = "fit all-x.csv other.csv --by judge --draws 100 -o all.csv"
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 2 and "-o should end in .nc" in result.stderr
    assert (here / "all-x.csv").read_text() == LOG


@pytest.mark.parametrize("write", [bd.report, export])
def test_python_keeps_the_log_of_a_report(here, write):
    file = here / "ranking.csv"
    file.write_text(LOG)
    log = bd.read_duels("ranking.csv", judge=False)
    path = here if write is export else file
    with pytest.raises(ValueError, match=r"should not be a file that is read, got .*ranking\.csv"):
        write(log, path)
    with pytest.raises(ValueError, match="should not be a file that is read"):
        bd.check(log, quick=True).to_json("ranking.csv")
    assert file.read_text() == LOG


LABELS = ("a/b", "a b", "a?b", "A_b", "labels.json", "..", "x" * 300)


@pytest.fixture
def many(here):
    duels = "a,b,left\nb,c,left\nc,a,right\na,b,right\nb,c,right\nc,a,left\n" * 4
    rows = [f"{line},{label}\n" for label in LABELS for line in duels.split()]
    (here / "many.csv").write_text("left,right,outcome,league\n" + "".join(rows))
    return "many.csv --by league --draws 100"


@pytest.mark.slow
def test_fit_by_writes_a_file_for_each_label(here, many):
    result = CliRunner().invoke(main, f"fit {many} -o fit.nc".split())
    assert result.exit_code == 0, result.stderr
    files = json.loads((here / "fit.nc.labels.json").read_text())
    assert set(files) == set(LABELS)
    assert len({name.casefold() for name in files.values()}) == len(LABELS)
    for label, name in files.items():
        with xr.open_datatree(here / name) as fit:
            assert fit.attrs["source"] == f"many.csv, league={label}"


def test_export_by_writes_a_folder_for_each_label(here, many):
    result = CliRunner().invoke(main, f"export {many} -o tables".split())
    assert result.exit_code == 0, result.stderr
    folders = json.loads((here / "tables" / "labels.json").read_text())
    assert set(folders) == set(LABELS)
    assert len({name.casefold() for name in folders.values()}) == len(LABELS)
    assert {p.name for p in (here / "tables").iterdir()} == {*folders.values(), "labels.json"}
    assert all((here / "tables" / name / "ranking.csv").exists() for name in folders.values())


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["a/b.csv", "--items=/data/me/i.csv"], "a/b.csv --items=i.csv"),
        (["/data/me/log.csv", "-o", "/data/me/r.html"], "log.csv -o r.html"),
        (["https://me:pass@host/log.csv?token=secret"], "https://me@host/log.csv"),
        (["--term", "time:4", "--noun=web site"], "--term time:4 '--noun=web site'"),
    ],
)
def test_a_command_on_a_page_has_no_places_and_no_secrets(words, shown):
    assert shown_command(["report", *words]) == f"bayesduel report {shown}"


def test_a_page_has_the_name_of_its_file_and_not_its_place(here):
    (here / "log.csv").write_text(LOG)
    log = bd.read_duels(here / "log.csv", judge=False)
    page = bd.report(bd.check(log, quick=True), here / "page.html").read_text()
    assert "<title>log" in page and "<h1>log</h1>" in page
    items = ("--items", here / "items.csv", "--draws", 100)
    (here / "items.csv").write_text("item,size\na,1\nb,2\nc,4\n")
    few = ("--draws", 100)
    for name, options in (("report", few), ("check", ("--quick",)), ("attributes", items)):
        arguments = (name, here / "log.csv", "-o", here / "own.html", *options)
        done = CliRunner().invoke(main, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output
        page = (here / "own.html").read_text()
        assert "log.csv" in page and str(here) not in page


SWALLOWED = """
import ctypes, signal, time
from bayesduel.cli import _terminable
with _terminable():
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))()
    print("swallowed", flush=True)
    while True:
        time.sleep(0.1)
"""


def test_a_stop_that_a_callback_swallows_is_given_again():
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, timeout=50)
    assert done.stdout == b"swallowed\n" and done.stderr.endswith(b"KeyboardInterrupt\n")


def test_sigterm_stops_a_command_as_ctrl_c_does(here):
    command = "simulate --problem cyclic-4 --policies CCB --horizon 1e9 --replications 2 -o t.zarr"
    code = "from bayesduel.cli import main; main()"
    done = subprocess.Popen([sys.executable, "-c", code, *command.split()], stderr=-1)
    while not (here / "t.zarr").exists():
        assert done.poll() is None
        time.sleep(0.05)
    done.terminate()
    said = done.communicate(timeout=60)[1].strip().splitlines()
    assert said[-1].startswith(b"bayesduel: stopped")
    assert done.returncode == 130


TABLES = {
    "winners": ("winners log.csv --judge none --draws 100 -o", ("csv", "json")),
    "winners by": ("winners log.csv --by judge --draws 100 -o", ("csv", "json")),
    "predict": ("predict posterior.nc a b -o", ("csv", "json")),
    "predict many": ("predict posterior.nc coming.csv -o", ("csv", "json")),
    "top-k": ("top-k log.csv --judge none --draws 100 --k 1 -o", ("json",)),
}


@pytest.fixture(scope="module")
def posterior(tmp_path_factory):
    """Return the file of a fit of the log."""
    folder = tmp_path_factory.mktemp("fit")
    (folder / "log.csv").write_text(LOG)
    log = bd.read_duels(folder / "log.csv", judge=False)
    bd.fit(log, draws=100).to_netcdf(folder / "posterior.nc", engine="h5netcdf")
    return folder / "posterior.nc"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "end"), [(command, end) for command, ends in TABLES.values() for end in ends]
)
def test_a_table_is_printed_and_written_and_written_again(here, posterior, command, end):
    (here / "log.csv").write_text(LOG)
    (here / "posterior.nc").symlink_to(posterior)
    (here / "coming.csv").write_text("left,right\na,b\nc,a\n")
    run = CliRunner().invoke
    file = here / f"table.{end}"
    for _ in range(2):  # tonight again
        done = run(main, [*command.split(), str(file)])
        assert done.exit_code == 0, done.output
        assert f"wrote {file}\n" in done.stderr
        assert len(done.stdout.splitlines()) > 2
    printed = run(main, [*command.split()[:-1], f"--{end}"])
    assert file.read_text() == printed.stdout


def test_a_table_of_another_kind_is_refused(here):
    (here / "log.csv").write_text(LOG)
    done = CliRunner().invoke(main, "winners log.csv -o table.xlsx".split())
    assert done.stderr == "bayesduel: -o should end in .csv or .json, got table.xlsx\n"
