"""The shipped logs: what the catalogue says of each is what the file holds."""

import csv
from collections import Counter
from importlib.resources import files
from itertools import permutations

import pytest

import bayesduel as bd
from bayesduel.data import datasets


@pytest.mark.parametrize("name", datasets.names())
def test_catalogue_agrees_with_file(name):
    entry = datasets.describe(name)
    log = datasets.load(name)
    assert (log.n_duels, log.n_arms, log.n_ties) == (entry.n_duels, entry.n_arms, entry.n_ties)
    assert log.read_summary.source == f"{name} (shipped with bayesduel)"
    assert len(entry.title) <= 90 and entry.citation.endswith(".") and entry.note.endswith(".")
    for words in (entry.sides, entry.winner, entry.shows):
        assert words


@pytest.mark.parametrize("name", datasets.names())
def test_file_counted_without_our_reader(name):
    """The csv module alone finds the counts the catalogue states."""
    rows = list(csv.DictReader(datasets.text(name).splitlines()))
    weights = [int(row.get("weight") or 1) for row in rows]
    entry = datasets.describe(name)
    assert sum(weights) == entry.n_duels
    assert len({r["left"] for r in rows} | {r["right"] for r in rows}) == entry.n_arms
    tied = sum(w for w, r in zip(weights, rows, strict=True) if r["outcome"] == "tie")
    assert tied == entry.n_ties


def test_every_kind_asked_for_is_there():
    shown = {name: datasets.describe(name).shows for name in datasets.names()}
    assert len(shown) >= 6
    for kind in ("ties", "margins", "side advantage", "intransitive"):
        assert any(kind in words for words in shown.values()), kind


def test_every_csv_has_an_entry_and_items_name_arms():
    shipped = {
        f.name for f in files("bayesduel.data.datasets").iterdir() if f.name.endswith(".csv")
    }
    logs = {f"{n}.csv" for n in datasets.names()}
    assert logs <= shipped
    for file in shipped - logs:
        assert file.endswith("_items.csv")
        name = file.removesuffix("_items.csv")
        # Its two attributes are linear functions of each other: a model takes one.
        out = ["win_probability"] if name == "tversky1969" else []
        assert sorted(datasets.items(name, leave_out=out).labels) == list(datasets.load(name).arms)


def test_published_cells():
    """Cells printed in the papers (orientation: wins[i, j] = times i beat j)."""
    citations = datasets.load("citations")
    i, j = (citations.arms.index(a) for a in ("Biometrika", "Comm Statist"))
    assert citations.tally().wins[i, j] == 730 and citations.tally().wins[j, i] == 33
    chess = datasets.load("chess3")
    white = chess.arms.index("Karpov")
    black = chess.arms.index("Kasparov")
    at = (chess.cells.left == white) & (chess.cells.right == black)
    counts = [int(c[at][0]) for c in (chess.cells.left_wins, chess.cells.right_wins)]
    assert counts == [18, 9] and int(chess.cells.ties[at][0]) == 72
    weights = datasets.load("heaviness")
    assert int(weights.cells.right_wins.sum()) == 540  # the second lifted feels heavier
    celebrities = datasets.load("celebrities")
    met = celebrities.pairs()
    assert set(met.first_wins + met.second_wins) == {234}


def test_margins_and_dates_of_icehockey():
    log = datasets.load("icehockey")
    assert log.votes is not None and log.votes.time is not None
    assert str(log.votes.time.min())[:10] == "2009-10-08"


def test_tversky_is_one_log_a_subject_with_cycles():
    logs = datasets.load("tversky1969", by="annotator")
    assert sorted(logs) == [f"s{k}" for k in range(1, 9)]
    cyclic = Counter()
    for label, log in logs.items():
        assert log.n_duels == 200 and label in log.read_summary.source
        wins = log.tally().wins
        for a, b, c in permutations(range(5), 3):
            cyclic[label] += all(wins[x, y] > wins[y, x] for x, y in ((a, b), (b, c), (c, a)))
    assert sum(n > 0 for n in cyclic.values()) == 7


def test_unknown_name_is_told_the_nearest():
    with pytest.raises(ValueError, match=r"springall.*got 'springal'; did you mean 'springall'"):
        datasets.load("springal")
    with pytest.raises(ValueError, match="shipped dataset"):
        datasets.describe("nothing like it")
    with pytest.raises(ValueError, match=r"attributes.*got 'citations'"):
        datasets.items("citations")


def test_by_is_named_where_a_file_holds_many_logs():
    assert datasets.describe("tversky1969").by == "annotator"


@pytest.mark.parametrize("call", [bd.winners, bd.fit, bd.read_duels, bd.check, bd.report])
@pytest.mark.parametrize("name", ["springall", "Springal", "votes.csv"])
def test_a_path_that_is_a_shipped_dataset_is_answered_by_its_name(
    call, name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    hint = {
        "springall": "; for the shipped dataset use bd.datasets.load('springall')",
        "Springal": "; did you mean the shipped dataset 'springall'?",
    }.get(name, "")
    with pytest.raises(FileNotFoundError) as told:
        call(name)
    assert str(told.value) == f"{name}: no such file{hint}"
