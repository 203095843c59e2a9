"""Commands on a fit that is saved already: its options, its name, several logs."""

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.cli.options import OF_LOGS

LOG = "left,right,outcome\n" + "a,b,left\nb,c,left\na,c,right\nc,a,left\nb,a,left\n" * 20
GIVEN = {
    "model": "davidson", "method": "laplace", "draws": "200", "seed": "1", "ties": "half",
    "on_bad": "skip", "order_effect": None,
}  # fmt: skip
COMMANDS = {"winners": [], "top-k": ["--k", "1"]}


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    (folder / "a.csv").write_text(LOG)
    bd.fit(bd.read_duels(folder / "a.csv"), draws=100).to_netcdf(folder / "F.NC", engine="h5netcdf")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", OF_LOGS)
def test_options_that_a_saved_fit_cannot_honour(command, name, folder):
    value = GIVEN.get(name, "x")
    option = f"--{name.replace('_', '-')}"
    told = [option] if value is None else [option, value]
    answer = run(command, folder / "F.NC", *COMMANDS[command], *told)
    assert answer.exit_code == 2 and answer.stdout == ""
    assert f"{option} is for fitting a log; {folder / 'F.NC'} is fitted already" in answer.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_in_capitals_is_read(command, folder):
    assert run(command, folder / "F.NC", *COMMANDS[command]).exit_code == 0


def test_two_logs_are_checked(folder):
    (folder / "b.csv").write_text(LOG)
    answer = run("winners", folder / "a.csv", folder / "b.csv", "--check", "--draws", "100")
    assert answer.exit_code == 0, answer.stderr
