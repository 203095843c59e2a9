"""The arena: its suite is what it says, and a run that was killed ends with the same table."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bayesduel.preference import condorcet_winner, copeland_scores
from benchmarks.arena import __main__ as arena
from benchmarks.arena.page import claims, findings, leaderboard
from benchmarks.arena.suite import FAMILIES, PROBLEMS, problem_named
from benchmarks.validation.records import key_of

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.plain


def test_the_suite_has_forty_six_distinct_problems_in_seven_families():
    fixed = [name for name in PROBLEMS if name not in FAMILIES["changing"]]
    matrices = {np.asarray(problem_named(name).P).tobytes() for name in fixed}
    assert (len(FAMILIES), len(PROBLEMS), len(matrices)) == (7, 46, 40)
    changing = {problem_named(name) for name in FAMILIES["changing"]}
    assert len(changing) == 6
    assert all(problem.n_segments > 1 for problem in changing)


def test_the_problems_of_a_family_are_what_its_name_says():
    won = {
        f: [condorcet_winner(problem_named(n).P) >= 0 for n in FAMILIES[f]]
        for f in ("Condorcet winner", "no Condorcet winner", "Bradley-Terry")
    }
    assert all(won["Condorcet winner"] + won["Bradley-Terry"])
    assert not any(won["no Condorcet winner"])
    for name, n_winners in {"winners_3-9": 3, "winners_5-15": 5}.items():
        scores = copeland_scores(problem_named(name).P)
        assert (scores == scores.max()).sum() == n_winners


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Let three policies play up to 80 duels in an empty folder."""
    from bayesduel.cli.parse import known_policies

    monkeypatch.chdir(tmp_path)
    few = {"DTS", "SelfSparring", "Uniform"}
    monkeypatch.setattr(arena, "ABSENT", known_policies("pairs").keys() - few)
    monkeypatch.setattr(arena, "BLOCKS", {40: 1, 80: 2, 160: 1})
    monkeypatch.setattr(arena, "MOST", {80: 1e9, 160: 1e9})


def test_a_killed_run_loses_one_cell_and_ends_with_the_same_table(small, monkeypatch):
    played = []
    monkeypatch.setattr(
        arena, "play", lambda *a, own=arena.play: played.append(a) or own(*a) | {"us": 1.0}
    )
    whole = CliRunner().invoke(arena.main, ["--quick", "--workers", "1"], catch_exceptions=False)
    stored = arena.FOLDER / "arena_quick-0.jsonl"
    lines = stored.read_bytes()
    assert len(played) == lines.count(b"\n") == 2 * 2 * 3
    stored.write_bytes(lines[:-30])  # cut off within the last line
    again = CliRunner().invoke(arena.main, ["--quick", "--workers", "1"], catch_exceptions=False)
    assert len(played) == 2 * 2 * 3 + 1
    assert "SelfSparring" in whole.output
    assert table_in(again.output) == table_in(whole.output)


def table_in(output: str) -> str:
    """Return what stands after the bar of progress."""
    return output[output.index("T = 80") :]


def test_a_slow_policy_is_left_out_where_there_are_as_many_arms_or_more():
    problems = ["mslr-5", "arxiv-6", "tennis-8", "sushi-16"]
    own = arena.experiment("arena", problems, list(arena.BLOCKS))
    us = {("mslr-5", 1_000): 1.0, ("tennis-8", 1_000): 1e3, ("mslr-5", 10_000): 30.0}
    found = {
        key_of(cell): {0: {"us": us[key]}} if key in us and cell["policy"] == "DTS" else {}
        for cell in own.cells
        for key in [(cell["problem"], cell["horizon"])]
    }
    cells = [c for c in arena.playing(own, found) if c["policy"] == "DTS"]
    assert [(c["problem"], c["horizon"]) for c in cells] == [
        *(("mslr-5", 1_000), ("arxiv-6", 1_000), ("tennis-8", 1_000)),
        *(("mslr-5", 10_000), ("arxiv-6", 10_000), ("arxiv-6", 100_000)),
    ]


def test_the_policy_with_less_regret_is_first():
    done = [
        ({"problem": problem, "policy": policy, "horizon": 10}, {0: {"regret": runs, "us": 1.0}})
        for problem in FAMILIES["real"]
        for policy, runs in {"B": [2.0, 3.0], "A": [1.0, 2.0], "C": [3.0, 4.0]}.items()
    ]
    rows = leaderboard(done, 10)
    assert [row["policy"] for row in rows] == ["A", "B", "C"]
    assert [row["ratio"] for row in rows] == ["1.00", f"{5 / 3:.2f}", f"{7 / 3:.2f}"]
    assert rows[0]["P(best)"] == "1.00" and rows[0]["lower"] > rows[1]["rating"]


def test_a_policy_of_few_runs_is_not_rated():
    done = [
        ({"problem": problem, "policy": policy, "horizon": 10}, {0: {"regret": runs, "us": 1.0}})
        for place, problem in enumerate(FAMILIES["real"][:3])
        for policy, runs in {"A": [1.0, 2.0], "B": [2.0, 3.0], "few": [0.5, 0.5]}.items()
        if policy != "few" or place == 0
    ]
    assert [row["policy"] for row in leaderboard(done, 10, fewest=3)] == ["A", "B"]
    assert len(leaderboard(done, 10)) == 3


def test_findings_and_claims_are_those_of_the_tables():
    order = ("PivotIndex", "DTS", "DTSPlus", "RMED1", "RUCB", "Uniform")
    rows = [
        {"policy": policy, "rating": 9, "lower": 8, "upper": 10, "P(best)": "0.99", "problems": 40}
        for policy in order
    ]
    tables = {T: dict.fromkeys(["all problems", *FAMILIES], rows) for T in (10_000, 100_000)}
    assert (
        findings(tables).count("is that of PivotIndex (9 (8 to 10); 0.99), the second that of DTS")
        == 2
    )
    assert "| PivotIndex is first overall | holds | holds |" in claims(tables)
    assert "| overall DTSPlus is above DTS | fails | fails |" in claims(tables)


@pytest.mark.slow
def test_the_page_is_that_of_the_kept_records(monkeypatch, tmp_path):
    page, kept = tmp_path / "arena.md", tmp_path / "kept.gz"
    before = (ROOT / arena.PAGE).read_text("utf-8")
    page.write_text(before, "utf-8")
    kept.write_bytes((ROOT / arena.KEPT).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arena, "PAGE", page)
    monkeypatch.setattr(arena, "KEPT", kept)
    CliRunner().invoke(arena.main, ["--only-page"], catch_exceptions=False)
    assert page.read_text("utf-8") == before
    assert gzip.decompress(kept.read_bytes()) == gzip.decompress((ROOT / arena.KEPT).read_bytes())
