"""The arena: its suite is what it says, and a run that was killed ends with the same table."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from bayesduel.preference import condorcet_winner, copeland_scores
from benchmarks.arena import __main__ as arena
from benchmarks.arena.page import GROUPS, claims, findings, leaderboard
from benchmarks.arena.suite import FAMILIES, FIRST, LITERATURE, PROBLEMS, problem_named

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.plain


def test_each_family_has_twenty_distinct_fresh_problems():
    fixed = [name for name in PROBLEMS if name not in FAMILIES["changing"]]
    matrices = {np.asarray(problem_named(name).P).tobytes() for name in fixed}
    assert {len(names) for names in FAMILIES.values()} == {20}
    assert len(set(PROBLEMS)) == len(PROBLEMS) == 7 * 20 + len(LITERATURE)
    assert len(matrices) == len(fixed)
    assert all(problem_named(name).n_segments > 1 for name in FAMILIES["changing"])


def test_no_fresh_problem_has_a_seed_that_was_used_before():
    """Those of the earlier arena began at 20261126, those of the policy's trials at 9000."""
    assert FIRST > 20261126 + 1000 and FIRST > 9000 + 100 * 36 + 1000


def test_the_problems_of_a_family_are_what_its_name_says():
    won = {
        f: [condorcet_winner(problem_named(n).P) >= 0 for n in FAMILIES[f]]
        for f in ("Condorcet winner", "no Condorcet winner", "Bradley-Terry")
    }
    assert all(won["Condorcet winner"] + won["Bradley-Terry"])
    assert not any(won["no Condorcet winner"])
    for name in FAMILIES["three winners in a cycle"]:
        scores = copeland_scores(problem_named(name).P)
        assert (scores == scores.max()).sum() == 3
    for name in FAMILIES["near ties"]:
        P = problem_named(name).P
        assert np.abs(P - 0.5).max() < 0.15  # five sd of 0.1 logits apart, or a fifth of 1/2


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Let three policies play up to 40 duels in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arena, "POLICIES", ["DTS", "SelfSparring", "Uniform"])
    monkeypatch.setattr(arena, "BLOCKS", 1)
    monkeypatch.setattr(arena, "HORIZONS", (40,))


def test_a_killed_run_loses_one_cell_and_ends_with_the_same_table(small, monkeypatch):
    played = []
    monkeypatch.setattr(
        arena, "play", lambda *a, own=arena.play: played.append(a) or own(*a) | {"us": 1.0}
    )
    whole = CliRunner().invoke(arena.main, ["--quick", "--workers", "1"], catch_exceptions=False)
    stored = arena.FOLDER / "arena_quick-0.jsonl"
    lines = stored.read_bytes()
    assert len(played) == lines.count(b"\n") == 2 * 3
    stored.write_bytes(lines[:-30])  # cut off within the last line
    again = CliRunner().invoke(arena.main, ["--quick", "--workers", "1"], catch_exceptions=False)
    assert len(played) == 2 * 3 + 1
    assert "SelfSparring" in whole.output
    assert table_in(again.output) == table_in(whole.output)


def table_in(output: str) -> str:
    """Return what stands after the bar of progress."""
    return output[output.index("T = 40") :]


def test_the_policy_with_less_regret_is_first():
    done = [
        ({"problem": problem, "policy": policy, "horizon": 10}, {0: {"regret": runs, "us": 1.0}})
        for problem in LITERATURE
        for policy, runs in {"B": [2.0, 3.0], "A": [1.0, 2.0], "C": [3.0, 4.0]}.items()
    ]
    rows = leaderboard(done, 10, LITERATURE)
    assert [row["policy"] for row in rows] == ["A", "B", "C"]
    assert [row["ratio"] for row in rows] == ["1.00", f"{5 / 3:.2f}", f"{7 / 3:.2f}"]
    assert rows[0]["P(best)"] == "1.00" and rows[0]["lower"] > rows[1]["rating"]


def test_a_policy_of_few_runs_is_not_rated():
    done = [
        ({"problem": problem, "policy": policy, "horizon": 10}, {0: {"regret": runs, "us": 1.0}})
        for place, problem in enumerate(LITERATURE[:3])
        for policy, runs in {"A": [1.0, 2.0], "B": [2.0, 3.0], "few": [0.5, 0.5]}.items()
        if policy != "few" or place == 0
    ]
    assert [row["policy"] for row in leaderboard(done, 10, LITERATURE, fewest=3)] == ["A", "B"]
    assert len(leaderboard(done, 10, LITERATURE)) == 3


def test_the_ratio_to_ours_is_that_of_the_problems_with_its_interval():
    rng = np.random.default_rng(0)
    done = [
        (
            {"problem": problem, "policy": policy, "horizon": 10},
            {0: {"regret": (times * rng.gamma(20.0, size=2)).tolist(), "us": 1.0}},
        )
        for problem in LITERATURE
        for policy, times in {"PivotIndex": 1.0, "half": 0.5, "same": 1.0}.items()
    ]
    rows = {row["policy"]: row for row in leaderboard(done, 10, LITERATURE)}
    logs = [
        np.median(np.log(half[0]["regret"]) - np.log(ours[0]["regret"]))
        for (_, ours), (_, half) in zip(done[::3], done[1::3], strict=True)
    ]
    test = stats.quantile_test(logs, p=0.5)
    low, high = np.exp(test.confidence_interval(0.95))
    shown = f"{np.exp(np.median(logs)):.2f} [{low:.2f}, {high:.2f}]"
    assert rows["half"]["to PivotIndex"] == shown
    assert rows["half"]["less regret"] == "half"
    assert rows["same"]["less regret"] == "not distinguishable"


def test_findings_and_claims_are_those_of_the_tables():
    order = ("PivotIndex", "DTS", "DTSPlus", "RMED1", "RUCB", "Uniform")
    given = {"rating": 9, "lower": 8, "upper": 10, "P(best)": "0.99", "problems": 40}
    rows = [{"policy": policy, **given, "less regret": "PivotIndex"} for policy in order]
    rows[0]["less regret"] = ""
    rows[1]["less regret"] = "DTS"
    tables = {T: dict.fromkeys(GROUPS, rows) for T in (10_000, 100_000)}
    said = findings(tables)
    assert said.count("the highest rating is that of PivotIndex, 9 (8 to 10)") == 2 * len(GROUPS)
    assert said.count("Less regret than PivotIndex: DTS.") == 2 * len(GROUPS)
    assert "| PivotIndex is first on all fresh problems | holds |" in claims(tables)
    assert "| PivotIndex is not first with a Condorcet winner | fails |" in claims(tables)
    assert "| overall DTSPlus is above DTS | fails |" in claims(tables)


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
