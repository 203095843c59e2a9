"""The command line: exit statuses, one message on bad input, pure JSON."""

import gc
import json
import os
import resource
import subprocess
import sys
import warnings
from io import StringIO

import click
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import COMMANDS, main
from bayesduel.cli.options import READING_PAGE
from bayesduel.system.arguments import command_line
from bayesduel.system.imports import LATER

GOOD = "left,right,outcome\n" + "a,b,left\nb,c,left\na,c,right\nc,a,left\nb,a,left\n" * 20


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    return path


# -- help ----------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help(args):
    result = run(*args)
    assert result.exit_code == 0 and result.output.startswith("Usage: ")
    if len(args) == 1:
        for name in COMMANDS:
            assert f"\n  {name} " in result.output


def test_version():
    result = run("--version")
    assert result.exit_code == 0 and bd.__version__ in result.output


def test_help_is_quick_and_imports_nothing_heavy():
    """Under half a second of processor time, whatever else the machine does."""
    code = (
        "import sys\nfrom bayesduel.cli import main\n"
        "try:\n    main(['--help'])\nfinally:\n    print('MODULES', *sys.modules)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    loaded = {name.split(".")[0] for name in done.stdout.split("MODULES")[1].split()}
    heavy = {"numpy", "scipy", "pandas", "xarray", "pymc", "pytensor", "numba", "arviz"}
    assert not loaded & (heavy | {"matplotlib", "duckdb", "rich", "jinja2", "nutpie", "pyarrow"})
    assert used < 0.5


RAN = """
finally:
    ran = [name for name, m in sys.modules.items() if m and type(m).__name__ != "_LazyModule"]
    print("MODULES", *ran)
"""
UNUSED = {  # by small logs: Numba compiles, ArviZ diagnoses, SciPy tests, Dask computes elsewhere
    *("numba", "arviz", "arviz_stats", "jax", "pymc", "pytensor", "dask", "scipy.stats"),
    *("matplotlib.pyplot", "bayesduel.beliefs", "bayesduel.inference.latent_gaussian"),
}
WATCH = "gc.callbacks.append(lambda *_: print('COLLECTED'))"
COMMAND = f"from bayesduel.cli import main; sys.argv[1:] = {{!r}}.split(); {WATCH}; main()"
NOT_FITTING = {
    *("matplotlib", "scipy.interpolate", "scipy.optimize"),
    *("bayesduel.criticism.check", "bayesduel.criticism.check_result"),
}
NOT_HEALTH = NOT_FITTING | {"xarray", "jinja2", "bayesduel.models"}
JOBS = {
    "fit": (
        "import bayesduel as bd; bd.fit(bd.datasets.load('springall'))",
        NOT_FITTING | {"rich.console", "jinja2", "click"},
    ),
    "fit and winners": (
        "import bayesduel as bd; bd.winners(bd.fit(bd.datasets.load('springall')))",
        NOT_FITTING | {"rich.console", "jinja2", "click"},
    ),
    "winners": (COMMAND.format("winners springall"), LATER | NOT_FITTING | {"jinja2"}),
    "health": (COMMAND.format("health springall"), LATER - {"scipy.sparse"} | NOT_HEALTH),
    "report": (
        COMMAND.format("report springall -o r.html"),
        LATER - {"scipy.sparse"} | {"bayesduel.criticism.audit", "rich.console"},
    ),
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_a_small_log_runs_no_module_in_vain(job, tmp_path):
    """Nor is garbage looked for among what is imported."""
    code, unused = JOBS[job]
    done = subprocess.run(
        [sys.executable, "-c", f"import gc, sys\ntry:\n    {code}{RAN}"],
        **{"cwd": tmp_path, "capture_output": True, "text": True, "check": True},
    )
    assert not set(done.stdout.split("MODULES")[1].split()) & (UNUSED | unused)
    assert job in {"health", "report"} or "COLLECTED" not in done.stdout
    assert (tmp_path / "r.html").exists() == (job == "report")


@pytest.mark.slow
def test_a_check_draws_nothing():
    """Models are compared by ArviZ's statistics, without its plots."""
    code = COMMAND.format("check springall")
    command = [sys.executable, "-c", f"import gc, sys\ntry:\n    {code}{RAN}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ran = set(done.stdout.split("MODULES")[1].split())
    assert "arviz_stats" in ran
    assert not ran & {"arviz", "arviz_plots", "matplotlib.pyplot", "numba", "pymc", "dask"}


ENDING = """
import atexit, sys
from bayesduel.cli import main
class Freed:
    def __del__(self):
        print("freed")
kept = Freed()
try:
    main()
finally:
    atexit.register(print, "called")
"""


@pytest.mark.parametrize(
    "words, status, freed",
    [(["--help"], 0, False), (["winners", "nosuch"], 2, False), (["problems", "--help"], 0, True)],
)
@pytest.mark.slow
def test_a_command_ends_without_freeing_its_objects(words, status, freed):
    """What is registered for the end is called, and what is printed is written, all the same."""
    done = subprocess.run([sys.executable, "-c", ENDING, *words], capture_output=True, text=True)
    assert done.returncode == status
    assert done.stdout.endswith("called\nfreed\n" if freed else "called\n")
    assert ("no such file" in done.stderr) == (status == 2)


def test_a_command_whose_reader_has_gone_says_nothing():
    code = f"import gc, sys; {COMMAND.format('winners springall')}"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        command.stdout.close()
        assert command.stderr.read() == ""


def test_garbage_is_looked_for_once_a_log_is_read():
    gc.disable()
    try:
        run("health", "springall")
        assert gc.isenabled() and gc.get_freeze_count()
    finally:
        gc.enable()
        gc.unfreeze()


# -- bad input -----------------------------------------------------------------------------

BROKEN = {
    "empty": ("", "winners"),
    "header only": ("left,right,outcome\n", "health"),
    "unknown outcome": ("left,right,outcome\na,b,left\na,b,perhaps\n", "fit"),
    "one arm": ("left,right,outcome\na,a,left\n", "report"),
    "no such columns": ("x,y\n1,2\n", "health"),
    "rubbish": ("\x00\x01\x02\x03" * 50, "winners"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_give_one_line_and_status_2(kind, tmp_path):
    text, command = BROKEN[kind]
    path = tmp_path / "broken.csv"
    path.write_text(text)
    outputs = {"fit": ["-o", tmp_path / "f.nc"], "report": ["-o", tmp_path / "r.html"]}
    result = run(command, path, *outputs.get(command, []))
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("bayesduel: ") and "broken.csv" in lines[-1]
    assert len([line for line in lines if line.startswith("bayesduel: ")]) == 1
    assert "Traceback" not in result.output and result.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["broken.csv"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["health", "nowhere.csv"], "nowhere.csv"),
        (["health", "springal"], "did you mean the shipped dataset 'springall'?"),
        (["datasets", "springal"], "did you mean 'springall'?"),
        (["reprot"], "did you mean 'report'?"),
        (["health", "springall", "--nonsense"], "--nonsense"),
        (["health", "springall", "--ties", "maybe"], "'maybe'"),
        (["health", "springall", "--left", "nosuch"], "nosuch"),
        (["health", "springall", "--by", "nosuch"], "nosuch"),
        (["winners", "springall", "--draws", "1"], "--draws"),
        (["fit", "springall", "-o", "f.nc", "--draws", "99"], "x>=100"),
        (["report", "springall", "--confidence", "0.5"], "0.5<x<1"),
        (["winners", "springall", "--confidence", "0.3"], "--confidence"),
        (["winners", "nowhere.nc"], "nowhere.nc"),
        (["report", "springall", "-o", "no/such/folder/r.html"], "-o should be in a folder"),
        (["report", "springall", "-o", "."], "-o should name a file"),
        (["fit", "springall"], "--output"),
        (["datasets", "--csv"], "NAME"),
        (["datasets", "springall", "--csv", "--json"], "not both"),
    ],
)
def test_bad_arguments_give_one_line_and_status_2(args, said):
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("bayesduel: ") and said in line


def test_a_file_that_is_no_fit(tmp_path):
    rubbish = tmp_path / "rubbish.nc"
    rubbish.write_bytes(b"not a fit at all")
    other = tmp_path / "other.nc"
    xr.Dataset({"x": ("i", [1.0])}).to_netcdf(other, engine="h5netcdf")
    for path in (rubbish, other):
        result = run("winners", path)
        assert result.exit_code == 2 and result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert f"{path} is not a file that `bayesduel fit` saved" in line


def test_nothing_is_read_before_the_output_is_known_to_be_writable(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("read too early")

    monkeypatch.setattr("bayesduel.cli.options.read_log", fail)
    for command in ("fit", "report"):
        assert run(command, "springall", "-o", "no/such/folder/x").exit_code == 2


def test_our_own_faults_are_one_line_unless_debugged(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a fault\nin two lines")

    monkeypatch.setattr("bayesduel.data.datasets.load", fail)
    result = run("health", "springall")
    assert result.exit_code == 1 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "unexpected RuntimeError: a fault in two lines" in line and "--debug" in line
    for args in (["--debug", "health", "springall"], ["health", "springall", "--debug"]):
        assert isinstance(run(*args).exception, RuntimeError)


def test_what_the_system_refuses_is_told_by_name(monkeypatch):
    def fail(*_, **__):
        raise PermissionError(13, "Permission denied", "folder/f.nc")

    monkeypatch.setattr("bayesduel.data.datasets.load", fail)
    result = run("health", "springall")
    assert (result.exit_code, result.stderr) == (2, "bayesduel: folder/f.nc: permission denied\n")


def test_ctrl_c_is_130(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesduel.data.datasets.load", stop)
    result = run("health", "springall")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == "bayesduel: stopped"


# -- what the commands say -----------------------------------------------------------------


def test_datasets():
    listed = run("datasets")
    assert listed.exit_code == 0
    for name in bd.datasets.names():
        assert name in listed.stdout
    told = run("datasets", "heaviness")
    assert "Gokhale" in told.stdout and "heaviness.csv" in told.stdout
    assert run("datasets", "heaviness", "--csv").stdout == bd.datasets.text("heaviness")
    as_json = json.loads(run("datasets", "heaviness", "--json").stdout)
    assert as_json["n_duels"] == 1000 and as_json["name"] == "heaviness"
    assert sorted(json.loads(run("datasets", "--json").stdout)) == list(bd.datasets.names())


def test_health_json_is_that_of_the_log():
    result = run("health", "springall", "--json")
    assert result.exit_code == 0 and result.stderr == ""
    assert json.loads(result.stdout) == bd.health(bd.datasets.load("springall")).to_dict()
    for option, n_ties in (("half", 198), ("drop", 0)):
        told = json.loads(run("health", "springall", "--json", "--ties", option).stdout)
        assert told["n_ties"] == n_ties


def test_health_table(log):
    result = run("health", log)
    assert result.exit_code == 0
    rows = {line[:24].strip(): line[24:].strip() for line in result.stdout.splitlines()}
    assert rows["duels"].endswith("100") and rows["arms"].endswith("3")


@pytest.mark.parametrize("columns", ["0", "1", "19"])
def test_a_terminal_of_no_width_is_one_of_80_columns(monkeypatch, log, columns):
    shown = run("health", log).stdout
    monkeypatch.setenv("COLUMNS", columns)
    assert run("health", log).stdout == shown
    assert "maximum-likelihood scores exist" in shown


def test_a_page_on_a_file_whose_name_is_not_utf8(tmp_path):
    path = os.path.join(tmp_path, "\udcff.csv")
    with open(path, "w") as stream:
        stream.write(GOOD)
    result = run("report", path, "-o", tmp_path / "page.html", "--draws", "100")
    assert result.exit_code == 0, result.stderr
    assert r"\udcff.csv" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_file_goes_before_a_dataset_of_its_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "springall").write_text(GOOD)
    assert json.loads(run("health", "springall", "--json").stdout)["n_duels"] == 100
    (tmp_path / "chess3").mkdir()
    assert run("health", "chess3").exit_code == 2  # a folder is no log


def test_reading_options(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("home,away,hs,as,who\n" + "a,b,3,1,x\nb,c,1,1,y\nc,a,0,2,x\n" * 5)
    common = ["--left", "home", "--right", "away", "--outcome", "none", "--margin", "hs,as"]
    told = json.loads(run("health", path, "--json", *common).stdout)
    assert (told["n_duels"], told["n_ties"]) == (15, 5)
    by = json.loads(run("health", path, "--json", *common, "--by", "who").stdout)
    assert {label: h["n_duels"] for label, h in by.items()} == {"x": 10, "y": 5}


def test_guessed_columns_are_told_on_stderr(tmp_path):
    path = tmp_path / "arena.csv"
    path.write_text("model_a,model_b,winner\n" + "m1,m2,model_a\nm2,m1,model_a\n" * 3)
    result = run("health", path, "--json")
    assert json.loads(result.stdout)["n_arms"] == 2
    assert "model_a" in result.stderr and "guess" in result.stderr


@pytest.mark.slow
def test_winners_json_from_a_log_and_from_its_fit(tmp_path):
    options = ["--draws", "400", "--seed", "5"]
    path = tmp_path / "fit.nc"
    done = run("fit", "citations", "-o", path, *options)
    assert done.exit_code == 0 and done.stdout == "" and str(path) in done.stderr
    stored = run("winners", path, "--json", "--rope", "0.05")
    direct = run("winners", "citations", "--json", "--rope", "0.05", *options)
    assert stored.exit_code == direct.exit_code == 0
    assert json.loads(stored.stdout) == json.loads(direct.stdout)
    fit = bd.fit(bd.datasets.load("citations"), draws=400, seed=5)
    want = json.loads(bd.winners(fit, rope=0.05).to_json())
    found = json.loads(direct.stdout)
    assert {name: found[name] for name in want} == want
    assert want["rope"] == 0.05
    seen = run("winners", path)
    assert want["ranking"][0]["arm"] in seen.stdout and seen.stderr == ""
    assert " ".join(bd.winners(fit).attrs["verdict"].split()) in " ".join(seen.stdout.split())


def test_many_logs(tmp_path):
    path = tmp_path / "two.csv"
    rows = GOOD.splitlines()[1:]
    lines = [f"{row},{'one/half' if k % 2 else 'other'}" for k, row in enumerate(rows)]
    path.write_text("left,right,outcome,part\n" + "\n".join(lines) + "\n")
    options = ["--by", "part", "--draws", "200", "--method", "laplace"]
    told = json.loads(run("winners", path, "--json", *options).stdout)
    assert sorted(told) == ["one/half", "other"]
    done = run("fit", path, "-o", tmp_path / "fit.nc", *options)
    assert done.exit_code == 0
    assert {p.name for p in tmp_path.glob("*.nc")} == {"fit-one_half.nc", "fit-other.nc"}
    shown = run("winners", path, *options)
    assert "one/half" in shown.stdout and "other" in shown.stdout


def test_report(tmp_path):
    path = tmp_path / "r.html"
    result = run("report", "citations", "-o", path, "--draws", "200", "--title", "Journals")
    assert result.exit_code == 0 and result.stdout == ""
    assert result.stderr.splitlines() == [f"bayesduel: wrote {path}"]
    html = path.read_text(encoding="utf-8")
    assert "bayesduel report citations -o r.html --draws 200 --title Journals" in html
    assert "<h1>Journals</h1>" in html


def test_warnings_are_one_line_on_stderr(tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text(GOOD + "x,y,left\ny,x,left\n" * 30)
    result = run("winners", path, "--json", "--draws", "200")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdict_kind"] == "not comparable"
    (line,) = result.stderr.splitlines()
    assert line.startswith("bayesduel: warning: the log has 2 components that never met")


def test_the_table_says_what_groups_mean_and_is_never_certain(tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text("left,right,outcome\n" + "a,b,left\n" * 60 + "x,y,left\ny,x,left\n" * 30)
    shown = " ".join(run("winners", path, "--draws", "400").stdout.split())
    assert "depend on the prior alone" in shown and " group " in shown
    assert "[0," not in shown and ", 100]" not in shown


# -- scores, judges and files --------------------------------------------------------------


@pytest.fixture(scope="module")
def small_fit(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "fit.nc"
    bd.fit(bd.datasets.load("citations"), draws=200, seed=0).to_netcdf(path, engine="h5netcdf")
    return str(path)


def test_winners_out_of_the_order_of_their_means_say_what_orders_them():
    seen = " ".join(
        run("winners", "springall", "--model", "bradley-terry").stdout.split()
    )  # 33 % is ranked above 34 %
    assert "Arms are in the order of their mean rank" in seen


def test_winners_have_scores_as_csv_and_json(small_fit):
    import pandas as pd

    printed = run("winners", small_fit, "--csv", "--anchor", "JASA=1500")
    table = pd.read_csv(StringIO(printed.stdout), index_col="arm")
    assert table.loc["JASA", ["rating", "rating_lower"]].tolist() == [1500, 1500]
    assert table["rank"].tolist() == [1, 2, 3, 4]
    found = json.loads(run("winners", small_fit, "--json", "--anchor", "JASA").stdout)["scores"]
    assert (found["anchor"], found["points"], found["unit"]) == ("JASA", 1000, "logits")
    assert len(found["arms"]) == 4
    wrong = run("winners", small_fit, "--anchor", "nobody")
    assert wrong.exit_code == 2 and "anchor should be an arm of the log" in wrong.stderr
    assert run("winners", small_fit, "--anchor", "JASA=x").exit_code == 2
    assert run("winners", small_fit, "--json", "--csv").exit_code == 2


def test_judges_and_their_second_group():
    options = ("--against", "s1", "--draws", "200")
    found = json.loads(run("judges", "tversky1969", *options, "--json").stdout)
    assert len(found["table"]) == 8
    assert [row["judges"] for row in found["groups"]][-1] == "between"
    wrong = run("judges", "citations")
    assert wrong.exit_code == 2 and "the log has no judges" in wrong.stderr


def test_a_panel_is_that_of_python():
    told = run("panel", "tversky1969", "--draws", "200", "--alpha", "0.01")
    assert "Durbin" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80
    found = json.loads(
        run("panel", "tversky1969", "--draws", "200", "--alpha", "0.01", "--json").stdout
    )
    duels = bd.datasets.load("tversky1969")
    with command_line():  # which names commands in place of calls
        again = bd.panel(duels, bd.fit(duels, draws=200), alpha=0.01).to_dict()
    assert found == json.loads(json.dumps(again))
    assert run("panel", "tversky1969", "--effect", "0.5").exit_code == 2


def test_export_writes_a_folder(tmp_path):
    options = ("--draws", "200", "--format", "json", "-o", str(tmp_path / "tables"))
    assert run("export", "citations", *options).exit_code == 0
    ranking = json.loads((tmp_path / "tables" / "ranking.json").read_text(encoding="utf-8"))
    assert [row["rank"] for row in ranking] == [1, 2, 3, 4]


def test_categories_that_share_arms_are_one_page(tmp_path):
    path = tmp_path / "topics.csv"
    rows = GOOD.splitlines()[1:]
    lines = [f"{row},{'one' if k % 2 else 'other'}" for k, row in enumerate(rows)]
    path.write_text("left,right,outcome,topic\n" + "\n".join(lines) + "\n")
    page = tmp_path / "r.html"
    done = run("report", path, "--by", "topic", "-o", page, "--draws", "100")
    assert done.exit_code == 0, done.stderr
    html = page.read_text(encoding="utf-8")
    assert "Where the ranking changes" in html and "Arms by category" in html
    assert "On average over the 2 categories, by their votes: " in html
    assert "In no category is there strong evidence of another order." in html
    assert '<article class="part">' not in html


def test_logs_without_shared_arms_are_parts_that_survive_a_bad_one(tmp_path, monkeypatch):
    """Each log has its part; what fails says why; a run that was stopped goes on."""
    from bayesduel.reporting import report as reporting

    calls, analyse = [], reporting.analyse

    def quick(duels, *args, **options):
        calls.append(duels.arms)
        if duels.arms == ("e", "f"):
            raise ValueError("this log is bad")
        warnings.warn("few votes", UserWarning, stacklevel=1)
        return analyse(duels, *args, **options)

    monkeypatch.setattr(reporting, "analyse", quick)
    path, page = tmp_path / "logs.csv", tmp_path / "r.html"
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    lines = [f"{x},{y},{o},{x}{y}" for x, y in pairs for o in ("left", "left", "right") * 4]
    path.write_text("left,right,outcome,log\n" + "\n".join(lines) + "\n")
    asked = ("report", path, "--by", "log", "-o", page, "--draws", "100")

    def stopped(duels, *args, **options):
        if len(calls) == 1:
            raise KeyboardInterrupt
        return quick(duels, *args, **options)

    monkeypatch.setattr(reporting, "analyse", stopped)
    assert run(*asked).exit_code == 130
    kept = tmp_path / "r.html.parts"
    assert len(list(kept.iterdir())) == 1 and not page.exists()
    monkeypatch.setattr(reporting, "analyse", quick)
    done = run(*asked)
    assert done.exit_code == 0, done.stderr
    assert calls == [("a", "b"), ("c", "d"), ("e", "f")]  # the first was not made again
    assert "is a separate log" in done.stderr and "warning: cd: few votes" in done.stderr
    html = page.read_text(encoding="utf-8")
    assert html.count('<article class="part">') == 3 and "this log is bad" in html
    assert not kept.exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_commands_that_read_a_log_links_the_page_of_reading(name):
    command = main.get_command(click.Context(main), name)
    reads = any(option.name == "where" for option in command.params)
    assert (READING_PAGE in (command.help or "")) == reads
