"""Sides of several arms beside everything that a log may have, in every command."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main

PLAYERS = ("ann", "bob", "cyd", "dan", "eve", "fay")
SCORES = dict(zip(PLAYERS, (2.0, 1.0, 0.4, -0.4, -1.0, -2.0), strict=True))
ORDER = 0.3  # side advantage
BESIDE = {
    "ties": (),
    "half": ("--ties", "half"),
    "order": ("--side-advantage",),
    "judges": ("--judge", "judge", "--group", "prompt"),
    "time": ("--time", "time"),
    "margin": ("--margin", "margin", "--outcome", "none"),
    "grades": ("--outcome", "grade", "--coding", "grades"),
    "soft votes": ("--outcome", "share", "--coding", "probability"),
    "covariate": ("--covariates", "length"),
    "mean": ("--term", "scores:mean"),
}
BY = ("--by", "lang")
NO_JUDGES = ("--judge", "none", "--group", "none")  # their effects take most of the time of a fit
SIDES = {"text": ("--teams", ","), "columns": ("--left", "p1,p2", "--right", "p3,p4")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a log of doubles, as text of members and as columns of them."""
    found = tmp_path_factory.mktemp("teams")
    rng = np.random.default_rng(3)
    rows = []
    for k in range(240):
        four = [PLAYERS[j] for j in rng.permutation(6)[:4]]
        worth = [SCORES[name] for name in four]
        eta = worth[0] + worth[1] - worth[2] - worth[3] + ORDER
        margin = round(2 * eta + rng.normal(0, 2))
        rows.append(
            {
                "left": ", ".join(four[:2]),
                "right": ",".join(four[3:1:-1]),
                "p1": four[0], "p2": four[1], "p3": four[2], "p4": four[3],
                "outcome": {-1: "right", 0: "tie", 1: "left"}[np.sign(margin)],
                "margin": margin,
                "grade": int(np.clip(margin, -3, 3)),
                "share": round(1 / (1 + np.exp(-eta)), 3),
                "judge": f"j{k % 6}",
                "prompt": f"q{k % 20}",
                "time": f"2026-{1 + k // 30:02d}-{1 + k % 28:02d}",
                "lang": ("en", "de")[k % 2],
                "source": ("people", "gpt")[k // 2 % 2],
                "length": round(rng.normal(), 2),
            }
        )  # fmt: skip
    with (found / "log.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return found


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def sound(*words):
    """Return what a command prints; it ends well."""
    found = run(*words)
    assert found.exit_code == 0, found.stderr
    return found.stdout


def arguments(what):
    """Return the options of reading without other outcomes than one, and those of fitting."""
    own = BESIDE[what]
    none = () if "--margin" in own else ("--margin", "none")
    judges = () if "--judge" in own else NO_JUDGES
    return (*none, *judges, *own)


@pytest.mark.parametrize("what", BESIDE)
@pytest.mark.parametrize("sides", ["text", "columns"])
@pytest.mark.sampled(4)
def test_members_are_ranked_beside_all_else(folder, what, sides):
    """The ranking is of members, in the order of their scores, whatever the log has beside."""
    log = folder / "log.csv"
    out = sound("winners", log, *SIDES[sides], *arguments(what), "--draws", 100, "--json")
    found = json.loads(out)
    ranked = [row["arm"] for row in found["ranking"]]
    assert {*ranked} == {*PLAYERS}
    assert ranked[:2] == ["ann", "bob"] and ranked[-2:] == ["eve", "fay"]


COMMANDS = {"top-k": ("--k", 2, "--draws", 100), "audit": ("--draws", 100), "health": (),
            "read": (), "judges": ("--draws", 100), "check": ()}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "what"),
    [(name, "judges") for name in COMMANDS]
    + [("top-k", "ties"), ("audit", "ties"), ("health", "ties"), ("read", "ties")],
)
@pytest.mark.slow
def test_commands_take_teams(folder, what, command):
    """Commands that rank name members, those that check take the log."""
    log = folder / "log.csv"
    out = sound(command, log, "--teams", ",", *arguments(what), *COMMANDS[command])
    assert command in ("health", "check", "judges") or "ann" in out or "member" in out


@pytest.mark.parametrize("by", [(), BY])
@pytest.mark.parametrize("what", ["ties", "judges"])
@pytest.mark.slow
def test_pages_and_tables_of_teams(folder, tmp_path, by, what):
    """The report, the site and the tables are of members, for each category too."""
    given = (folder / "log.csv", "--teams", ",", *arguments(what), *by, "--draws", 100)
    sound("report", *given, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "sum of the scores of its members" in page or "members" in page
    sound("export", *given, "-o", tmp_path / "tables")
    assert any("ann" in f.read_text() for f in (tmp_path / "tables").rglob("*.csv"))
    if not by:
        sound("site", *given, "-o", tmp_path / "site")
        pages = {path.stem for path in (tmp_path / "site").rglob("*.html")}
        assert {*PLAYERS} <= pages, pages


@pytest.fixture(scope="module")
def fits(folder):
    """Return the file of a fit of each way in which a log may have its sides."""
    found = {}
    for sides, teams in SIDES.items():
        found[sides] = folder / f"{sides}.nc"
        given = (*teams, *arguments("ties"), "--draws", 100)
        sound("fit", folder / "log.csv", *given, "-o", found[sides])
    return found


@pytest.mark.parametrize("form", ["ann, bob", "ann + bob", "bob,ann"])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.sampled(3)
def test_sides_are_predicted_as_they_are_written(fits, tmp_path, form, many, sides):
    """However a side is written, its prediction is that of its members; rows stay rows."""
    fit = fits[sides]
    if sides == "columns" and "," in form:
        form = "bob + ann"
    right = bd.predict(bd.load(fit), ["ann", "bob"], ["cyd", "dan"])
    if many:
        pairs = tmp_path / "pairs.csv"
        pairs.write_text(f'left,right\n"{form}","cyd + dan"\n"{form}",eve\n')
        out = sound("predict", fit, "--pairs", pairs, "--neutral", "--json")
    else:
        out = sound("predict", fit, form, "cyd + dan", "--json")
    rows = json.loads(out)["duels"]
    assert len(rows) == 1 + many
    assert rows[0]["win"] == pytest.approx(float(right["win"]))
    if many and sides == "columns":
        seats = tmp_path / "seats.csv"
        seats.write_text("p1,p2,p3,p4\nann,bob,cyd,dan\nbob,ann,eve,\n")
        out = sound("predict", fit, "--pairs", seats, "--neutral", "--json")
        again = [row["win"] for row in json.loads(out)["duels"]]
        assert again == pytest.approx([row["win"] for row in rows])


@pytest.mark.parametrize("what", ["ties", "judges", "time"])
def test_a_log_of_teams_is_written_and_read_again(folder, tmp_path, what):
    """What `read -o` writes has the members of each side, and is the same log."""
    path = tmp_path / "own.csv"
    found = run("read", folder / "log.csv", "--teams", ",", *arguments(what), "-o", path)
    assert found.exit_code == 0 and "--teams '+'" in found.stderr
    log = bd.read_duels(folder / "log.csv", teams=",", margin=False)
    again = bd.read_duels(path, teams="+")
    assert again.sides == log.sides
    assert again.cells.left_wins.tolist() == log.cells.left_wins.tolist()


def test_sources_of_teams_are_compared(folder):
    """The information of votes of teams is of members: no side is taken for an arm."""
    given = ("--teams", ",", *arguments("ties"), "--draws", 100)
    out = sound("sources", folder / "log.csv", *given, "--term", "sources:source=people", "--json")
    assert set(json.loads(out)["arms"][0]["arm"].split()) <= {*PLAYERS}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--both-bad", "nobody"), "both_bad should be None where sides have several members"),
        (("--term", "cycles"), "cycles needs one arm per side"),
        (("--model", "preference-matrix"), "one arm per side"),
        (("--model", "plackett-luce"), "should be"),
    ],
)
def test_what_cannot_have_a_meaning_is_one_error(folder, options, words):
    """One line says what teams cannot have."""
    found = run("winners", folder / "log.csv", "--teams", ",", "--margin", "none", *options)
    assert found.exit_code == 2 and words in found.stderr, found.stderr


def test_rankings_written_are_read_again(tmp_path):
    """`read -o` of a log of rankings writes one that is read as the same."""
    path, own = tmp_path / "ranks.csv", tmp_path / "own.csv"
    rng = np.random.default_rng(1)
    orders = [" > ".join(rng.permutation(list("abcd"))) for _ in range(20)]
    lines = [f"{order},j{k % 3},{1 + k % 2}" for k, order in enumerate(orders)]
    path.write_text("\n".join(["order,judge,weight", *lines, ""]))
    sound("read", path, "-o", own)
    log = bd.read_rankings(path)
    again = bd.read_rankings(own)
    assert again.n_rankings == log.n_rankings == 30
    assert again.arms == log.arms and again.votes.judges == log.votes.judges
    score, other = (bd.fit(one, draws=100)["laplace"]["score_mode"] for one in (log, again))
    np.testing.assert_allclose(score, other, atol=1e-6)
