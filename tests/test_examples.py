"""The examples run, and what README.md shows is what happens."""

import json
import re
import runpy
import shlex
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner

from bayesduel.cli import main
from bayesduel.data import datasets

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def commands() -> list[list[str]]:
    lines = "".join(blocks("console")).splitlines()
    return [shlex.split(line[2:]) for line in lines if line.startswith("$ ")]


@pytest.mark.slow
def test_rank_a_log(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "rank_a_log.py"))["main"](tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"ranking.png", "ranks.png", "preference.png", "winners.png", "report.html"}
    assert "Health of springall" in capsys.readouterr().out


@pytest.mark.slow
def test_no_ranking(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "no_ranking.py"))["main"](tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"cyclicity.png", "cycles.png", "residuals.png"}
    lines = capsys.readouterr().out.splitlines()
    assert [line[:3] for line in lines[:8]] == [f"s{k}:" for k in range(1, 9)]
    assert "No arm beats all others" in lines[-1]


@pytest.fixture
def reproduce(monkeypatch):
    """The main function of a script in examples/reproduce, which import one another."""
    folder = ROOT / "examples" / "reproduce"
    monkeypatch.syspath_prepend(str(folder))
    return lambda name: runpy.run_path(str(folder / name))["main"]


@pytest.mark.plain
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("topk_of_hundred.py", "--arms 10 --budget 280"),
        ("topk_separated.py", "--arms 10"),
        pytest.param("topk_perturbed.py", "--budget 140", marks=pytest.mark.slow),
    ],
)
@pytest.mark.sampled(3)
def test_top_k_experiments(name, options, tmp_path, capsys, reproduce):
    arguments = [*options.split(), "--replications", "3", "--out", "figure.png"]
    reproduce(name)(arguments)
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert "ML-POCBAm" in capsys.readouterr().out


def test_top_k_live(tmp_path, capsys, reproduce):
    pytest.importorskip("pyspiel")
    options = "--populations 2 --budget 140 --replications 2 --matches 3 --out figure.png"
    reproduce("topk_roshambo.py")(options.split())
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert (tmp_path / "roshambo.csv").is_file()
    assert "of 45 pairs won by the lower in score" in capsys.readouterr().out


SMALL = {
    "ml_pocbam.py": "--budget 140 --runs 3",
    "ml_pocbam_poker.py": "--budget 140 --populations 2 --runs 2",
    "two_phase.py": "--horizon 1000 --runs 2 --largest 1000",
    "copeland_dueling_bandits.py": "--horizon 10000 --runs 2",
    "copeland_many_arms.py": "--horizon 2000 --runs 2 --subsets 20",
    "savage.py": "--horizon 2000 --runs 2",
    "sup_klucb.py": "--horizon 1000 --runs 2 --runs-20 2 --runs-36 2",
    "sup_klucb_games.py": "--horizon 1000 --games 2 --runs 2",
    "since_2021.py": "--horizon 1600 --runs 2 --matrices 2",
}
FAST = ("ml_pocbam.py",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.plain if n in FAST else pytest.mark.slow) for n in SMALL],
)
@pytest.mark.slow
def test_headlines(name, tmp_path, capsys, reproduce):
    """Each leaves a trace, a figure and rows, goes on from the trace, and joins the page."""
    options = ["--quick", "--workers", "1", "--out", str(tmp_path), *SMALL[name].split()]
    reproduce(name)(options)
    (folder,) = (tmp_path / "quick").iterdir()
    assert folder.name == name.removesuffix(".py")
    assert (folder / "figure.png").stat().st_size > 10_000
    first = capsys.readouterr().out
    stamps = {path: path.stat().st_mtime_ns for path in folder.rglob("c/*")}
    assert stamps
    reproduce(name)(options)
    assert stamps == {path: path.stat().st_mtime_ns for path in stamps}
    assert capsys.readouterr().out == first
    reproduce("__main__.py")(["--quick", "--only-collect", "--out", str(tmp_path)])
    page = capsys.readouterr().out
    assert f"`examples/reproduce/{name}`" in page
    for row in json.loads((folder / "rows.json").read_text())["rows"]:
        assert f"| {row['claim']} | {row['source']} |" in page


@pytest.mark.plain
@pytest.mark.parametrize(("runs", "verdict"), [(9, "under 10 runs: not comparable"), (10, "holds")])
def test_a_headline_has_no_verdict_on_fewer_than_ten_runs(runs, verdict, tmp_path, reproduce):
    headline = reproduce("savage.py").__globals__["Headline"]
    run = headline("few", ({}, {}), ["--out", str(tmp_path)])
    run.below("paper", "told", {"a": np.full(runs, 1.0), "b": np.full(runs, 2.0)}, "a", "b")
    run.within("paper", "told", "between", (1.0, 0.9, 1.1), 0, 2, runs)
    run.row("right", "paper", "told", "100 %", "holds", runs)
    assert [row["verdict"] for row in run.rows] == [verdict] * 3


@pytest.mark.plain
def test_constants_of_the_regret_bounds_by_hand(reproduce):
    """Winners, their losses, and the squared ratio of the gap that decides to the smallest."""
    hardness = reproduce("copeland_many_arms.py").__globals__["hardness"]
    P = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.55], [0.3, 0.45, 0.5]])
    assert hardness(P) == pytest.approx((1, 0, (0.1 / 0.05) ** 2))
    # A cycle of arms 0, 1 and 2 by 0.3, which beat 3 and 4 by 0.2; arm 3 beats arm 4 by 0.05.
    P = np.full((5, 5), 0.5)
    above = {(0, 1): 0.3, (1, 2): 0.3, (2, 0): 0.3, (3, 4): 0.05}
    above |= {(i, j): 0.2 for i in range(3) for j in (3, 4)}
    for (i, j), gap in above.items():
        P[i, j], P[j, i] = 0.5 + gap, 0.5 - gap
    assert hardness(P) == pytest.approx((3, 1, (0.2 / 0.05) ** 2))


@pytest.mark.slow
def test_attributes_real_log(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "attributes_real_log.py"))["main"](tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["coefficients.png"]
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("ch.res", "prop.patch", "average", "higher casque"))


@pytest.mark.slow
def test_few_of_many(capsys):
    """What the horseshoe is for: what does not count is nearer zero, and new items better told."""
    arguments = "--logs 1 --attributes 20 --draws 400".split()
    runpy.run_path(str(ROOT / "examples" / "few_of_many.py"))["main"](arguments)
    rows = capsys.readouterr().out.splitlines()
    told = {line[:32].strip(): [float(x) for x in line[32:].split()] for line in rows[1:]}
    for name in ("error of those that do not count", "extra log loss on new items"):
        normal, horseshoe = told[name]
        assert horseshoe < normal / 2
    assert told["found of those that count"] == [4, 4]


@pytest.mark.slow
def test_which_model(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "which_model.py"))["main"](tmp_path, draws=400)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"comparison.png", "judges.png", "ratings.png"}
    shown = " ".join(capsys.readouterr().out.split())
    assert "bradley-terry + cycles + reliability predicts best" in shown
    assert "No arm beats all others" in shown


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")  # it stops early
def test_live_bots(tmp_path, capsys):
    pytest.importorskip("pyspiel")
    main = runpy.run_path(str(ROOT / "examples" / "live_bots.py"))["from_python"]
    main(tmp_path / "bots.study")
    assert "Decided: " in capsys.readouterr().out


def test_every_example_is_tested():
    found = {path.name for path in (ROOT / "examples").rglob("*.py")}
    found -= {"claims.py", "headline.py"}  # what those in examples/reproduce share
    text = Path(__file__).read_text(encoding="utf-8")
    assert found and all(f'"{name}"' in text for name in found)


def test_python_of_the_readme(tmp_path, capsys):
    code, *further = blocks("python")
    assert len(code.strip().splitlines()) <= 12
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert further
    for block in further:  # they go on where the first has left off
        exec(compile(block, "README.md", "exec"), names)
    assert (tmp_path / "report.html").is_file()
    shown = blocks("text")[0]
    printed = capsys.readouterr().out.replace("\u00a0", " ").splitlines()  # spaces in "95 %"
    lines = shown.strip().splitlines()
    top = next(k for k, line in enumerate(lines) if line.startswith("rank")) + 1
    assert printed[:top] == lines[:top]  # the verdict and the heads
    numbers = re.compile(r"\d+")
    for want, got in zip(lines[top:], printed[top:], strict=False):
        assert want.split()[:5] == got.split()[:5]  # place and arm
        expected = [int(x) for x in numbers.findall(want)]
        assert [int(x) for x in numbers.findall(got)] == pytest.approx(expected, abs=2)


def test_commands_of_the_readme(tmp_path):
    made = [args[1:] for args in commands() if args[0] == "make"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert made == [["demo"], ["test"]]
    assert all(f"\n{target}:" in makefile for (target,) in made)
    ours = [args[1:] for args in commands() if args[0] == "bayesduel"]
    assert len(ours) == len(commands()) - 2 >= 5
    for args in ours:
        if "--by" in args or args[0] in ("study", "simulate"):  # below
            continue
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 0, (args, result.output)
    assert {"report.html", "fit.nc"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_simulations_of_the_readme(tmp_path):
    """The same seed gives the numbers that the README shows."""
    of_pairs, of_top_k = (args[1:] for args in commands() if args[:2] == ["bayesduel", "simulate"])
    shown = CliRunner().invoke(main, [*of_pairs, "--workers", "1"])  # as plain as this process
    assert shown.exit_code == 0, shown.output
    printed = [line.split() for line in shown.stdout.splitlines()]
    assert all(row.split() in printed for row in blocks("text")[1].splitlines())
    assert {"trace.zarr", "regret.png"} <= {path.name for path in tmp_path.iterdir()}
    assert CliRunner().invoke(main, [*of_top_k, "--workers", "1"]).exit_code == 0


@pytest.mark.plain
def test_study_commands_of_the_readme(tmp_path):
    ours = [args[1:] for args in commands() if args[:2] == ["bayesduel", "study"]]
    assert [args[1] for args in ours] == ["new", "ask", "tell", "status", "plan"]
    for args in ours:
        few = ["--futures", "2", "--workers", "1"] if args[1] == "plan" else []
        result = CliRunner().invoke(main, [*args, *few])
        assert result.exit_code == 0, (args, result.output)
    assert (tmp_path / "taste.study").is_file()


@pytest.mark.slow
def test_long_commands_of_the_readme(tmp_path):
    (args,) = (args[1:] for args in commands() if "--by" in args)
    assert CliRunner().invoke(main, args).exit_code == 0
    assert (tmp_path / "subjects.html").is_file()


def test_pictures_and_links_of_the_readme_are_there():
    links = re.findall(r'(?:\]\(|src=")([^)"]+)', README)
    assert len(links) >= 6
    for link in links:
        assert (ROOT / link).exists(), link
    for picture in (ROOT / "docs").glob("*.png"):
        assert picture.stat().st_size < 300_000


def test_datasets_of_the_docs_are_those_shipped():
    page = (ROOT / "docs" / "reference" / "datasets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (\d+) \| ([\d,]+) \| (.*?) \|", page, re.M)
    want = [datasets.describe(name) for name in datasets.names()]
    assert rows == [
        (e.name, f"{e.n_duels:,}", str(e.n_arms), f"{e.n_ties:,}", e.title) for e in want
    ]


def test_changelog_starts_with_changed_numbers():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^### (.*)$", text, re.M)
    assert first is not None and first.group(1) == "Changed numbers"


def test_a_headline_that_was_not_run_stays_on_the_page(tmp_path, reproduce):
    page = tmp_path / "papers.md"
    before = (ROOT / "docs" / "validation" / "papers.md").read_text(encoding="utf-8")
    page.write_text(before.replace("| claim |", "| Claim |"), encoding="utf-8")
    reproduce("__main__.py")(["--only-collect", "--page", str(page), "--out", str(tmp_path)])
    assert page.read_text(encoding="utf-8").replace("| Claim |", "| claim |") == before


@pytest.mark.slow
def test_botorch_finds_recipes_and_a_study_decides(capsys):
    pytest.importorskip("botorch", reason="botorch is not installed")
    namespace = runpy.run_path(str(ROOT / "examples" / "continuous_items.py"))
    study = namespace["main"](1)
    assert "Decided" in capsys.readouterr().out
    best = study.status().answer[0].replace(",", "").split()
    assert namespace["utility"]([float(best[1]), float(best[3])]) > 3
