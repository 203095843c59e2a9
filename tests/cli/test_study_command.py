"""``bayesduel study``: what is wrong is said in one line, and exit status 2."""

import json
import sqlite3
from contextlib import closing

import pytest

import bayesduel as bd
from bayesduel.cli import main

pytestmark = pytest.mark.plain


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return a study with one outcome told and one ticket pending."""
    path = tmp_path_factory.mktemp("study") / "told.study"
    for words in (
        ("new", path, "--arms", "tea,coffee,cocoa"),
        ("ask", path),
        ("tell", path, "1", "left"),
        ("ask", path),
    ):
        assert study(*words) == 0
    return path


def study(*words):
    """Run ``bayesduel study`` and return its exit status."""
    with pytest.raises(SystemExit) as ended:
        main(["study", *map(str, words)])
    return ended.value.code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tell", "STUDY", "zz-1", "left"), "ticket should be one of this study"),
        (("tell", "STUDY", "77", "left"), "ticket '77' was not asked for yet; the last ticket is"),
        (("tell", "STUDY", "2", "leftt"), "outcome should be 'left', 'right' or 'tie'"),
        (
            ("tell", "STUDY", "1", "right"),
            "as you told before, got 'right'. To change it, use bayesduel study correct ",
        ),
        (("correct", "STUDY", "2", "right", "--reason", "x"), "an outcome to correct"),
        (("ask", "STUDY", "-n", "0"), "n should be a whole number >= 1"),
        (("status", "STUDY", "--futures", "-1"), "futures should be a whole number >= 0"),
        (("new", "STUDY", "--arms", "x,y"), "holds a study"),
        (("status", "nothere.study"), "got no file"),
        (("new", "x.study", "--arms", "tea,te  a,te a"), "got 'te  a' and 'te a'"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(words, message, told, capsys):
    assert study(*(told if word == "STUDY" else word for word in words)) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "and rows, got no row"),
        ("a,a,,\n", "two different arms"),
        ("a" * 200_000 + ",b\n", "should be a CSV file"),
        ("a,b\n", None),
        ("a,b,x,\n", "cost in"),
        ("a,b,,1\n", "do not connect"),
        ("a,b,2,3\nb,c,1,\n", None),
    ],
)
def test_pairs_are_read_from_a_file(rows, message, tmp_path, capsys):
    (tmp_path / "pairs.csv").write_text("left,right,cost,required\n" + rows)
    words = ("new", tmp_path / "s", "--arms", "a,b,c", "--pairs", tmp_path / "pairs.csv")
    refused = message is not None and "connect" not in message
    assert study(*words) == (2 if refused else 0)
    assert (tmp_path / "s").exists() is not refused
    if message is not None:
        assert message in capsys.readouterr().err


def test_files_that_are_no_study_are_refused(told, tmp_path, capsys):
    whole = told.read_bytes()
    (tmp_path / "empty").touch()
    (tmp_path / "cut").write_bytes(whole[:9000])
    (tmp_path / "damaged").write_bytes(whole[:4096] + bytes(255 - b for b in whole[4096:]))
    (tmp_path / "newer").write_bytes(whole)
    with closing(sqlite3.connect(tmp_path / "newer")) as file:
        file.execute("update settings set value = '9' where name = 'format'")
        file.commit()
    for name, message in {
        "empty": "holds no study",
        "cut": "is damaged",
        "damaged": "is damaged",
        "newer": "was made by a newer version",
    }.items():
        assert study("status", tmp_path / name) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            (),
            "with --confirm-in-doubt: about 110 (only pairs in doubt are asked directly)\n",
        ),
        (
            ("--no-confirm",),
            "cost about 80 duels (rope 0.05).\n  with --confirm: about 200 (every pair",
        ),
        (
            ("--confirm-in-doubt",),
            "with --no-confirm: about 80 (the answer follows from the scores",
        ),
        (("--rope", "0.02", "--budget", "300"), "The budget of 300 duels will probably be spent "),
        (("--goal", "top-3"), "See the expected number of duels: bayesduel study plan "),
        (("--rope", "0"), "See the expected number of duels: bayesduel study plan "),
    ],
)
def test_a_new_study_says_what_it_is_expected_to_cost(options, said, tmp_path, capsys):
    words = ("new", tmp_path / "s", "--arms", "a,b,c,d,e,f,g,h")
    assert study(*words, *options) == 0
    assert said in capsys.readouterr().out


def test_a_study_without_an_end_has_no_expected_cost(tmp_path, capsys):
    assert study("new", tmp_path / "s", "--arms", "a,b,c", "--goal", "minimize-regret") == 0
    assert "cost" not in capsys.readouterr().out


def test_python_and_the_command_line_have_one_rope(tmp_path, capsys):
    assert study("new", tmp_path / "s", "--arms", "a,b,c", "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert bd.Study(tmp_path / "s").stop == bd.Study(arms=list("abc")).stop
    assert made["rope"] == bd.study.WithinRope().rope == 0.05
    expected = made["expected_duels"]
    assert expected["confirmed"] > expected["confirmed_in_doubt"] > expected["not_confirmed"]


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ("--confirm", {"confirmed_in_doubt", "not_confirmed"}),
        ("--confirm-in-doubt", {"confirmed", "not_confirmed"}),
        ("--no-confirm", set()),
    ],
)
def test_a_plan_says_what_confirmation_costs(tmp_path, capsys, own, others):
    here = tmp_path / "s"
    assert study("new", here, "--arms", "a,b,c", "--rope", "0.1", own) == 0
    capsys.readouterr()
    assert study("plan", here, "--futures", "4", "--workers", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rope"] == 0.1
    duels = {name: plan["mean"] for name, plan in found["other_rules"].items()}
    assert duels.keys() == others
    if others:
        assert duels["not_confirmed"] < max(duels.get("confirmed", 0), found["mean"])
    kept = bd.Study(here).status().plan
    assert kept["mean"] == found["mean"]  # that of its own rule


@pytest.mark.slow
def test_status_as_json_has_the_plan(told, capsys):
    assert study("status", told, "--futures", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"]["futures"] == 2
    assert found["check"] is None


def test_the_life_of_a_ticket_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "s"

    def said(*words):
        assert study(*words) == 0
        return capsys.readouterr().out

    (tmp_path / "items.txt").write_text("p\nq\n")
    made = ("new", path, "--name", "taste", "--arms", "a,b,c", "--items-file")
    said(*made, tmp_path / "items.txt", "--budget", "9")
    said("new", path, "--name", "look", "--arms", "x,y")
    assert said("list", path) == "taste\nlook\n"
    here = (path, "--name", "taste")
    first = json.loads(said("ask", *here, "--judge", "ann", "--json"))
    assert json.loads(said("ask", *here, "--judge", "ann", "--json")) == first
    assert first["item"] in ("p", "q")
    assert "is skipped" in said("skip", *here, "1")
    assert "is open again" in said("undo", *here, "--judge", "ann")
    assert "judge ann, open" in said("tickets", *here)
    assert said("judges", *here) == "ann: 0 answered, 0 skipped.\n"
    assert "is cancelled" in said("cancel", *here, "1", "--by", "eve")
    assert said("tickets", *here) == "No ticket waits for an outcome.\n"
    assert "is open again" in said("reissue", *here, "1", "--judge", "bob")
    assert "cannot tell. 0 duels" in said("tell", *here, "1", "cannot tell", "--judge", "bob")
    assert "is stored: left" in said("add", *here, "a", "b", "left", "--item", "p")
    said("export", *here, tmp_path / "log.csv")
    assert said("export", *here) == (tmp_path / "log.csv").read_text()
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "ticket,left,right,outcome,item,asked,told"
    assert len(lines) == 2
    said("export", *here, tmp_path / "audit.csv", "--audit")
    trail = (tmp_path / "audit.csv").read_text()
    assert [trail.count(kind) for kind in ("withdrawn", "cancelled", "reissued")] == [1, 1, 1]
    assert trail.splitlines()[0].startswith("ticket,left,right,item,judge,event,outcome,")
    assert said("arms", *here, "--add", "d, e", "--retire", "c") == "a\nb\nc (retired)\nd\ne\n"
    assert said("arms", *here, "--restore", "c") == "a\nb\nc\nd\ne\n"
    assert study("ask", path) == 2
    assert "name should be one of taste, look" in capsys.readouterr().err
    assert study("ask", *here, "-n", "20") == 0  # what the budget leaves
    assert study("ask", *here) == 3
    assert study("list", tmp_path / "none") == 2


def test_a_negative_margin_is_no_option(tmp_path, capsys):
    path = tmp_path / "s"
    assert study("new", path, "--arms", "a,b", "--model", "thurstone-score") == 0
    assert study("ask", path) == study("tell", path, "1", "-1.5") == 0
    assert study("correct", path, "1", "-.5", "--reason", "typo") == 0
    assert study("add", path, "a", "b", "-2", "--json") == 0
    assert bd.Study(path).duels().rows.margin.tolist() == [-0.5, -2.0]
    assert study("tell", path, "1", "-1", "--jugde", "ann") == 2
    assert "--jugde" in capsys.readouterr().err


def test_little_regret_stops_at_the_budget(tmp_path, capsys):
    command = ("new", tmp_path / "s", "--arms", "a,b,c", "--goal", "minimize-regret", "--budget")
    assert study(*command, "7") == 0
    assert bd.Study(tmp_path / "s").stop == bd.study.Budget(7)
    assert study("new", tmp_path / "t", "--arms", "a,b", "--policy", "Best") == 2
    assert "--policy should name a policy, got 'Best'" in capsys.readouterr().err


def test_a_study_has_a_confidence_and_the_earlier_name_says_so(tmp_path, capsys):
    path = tmp_path / "sure.study"
    assert study("new", path, "--arms", "tea,coffee", "--probability", "0.9") == 2
    assert "--probability is now called --confidence" in capsys.readouterr().err
    assert study("new", path, "--arms", "tea,coffee", "--confidence", "0.9", "--no-confirm") == 0
    assert bd.Study(path).stop == bd.study.WithinRope(0.9, rope=0.05)


def test_the_name_of_an_arm_is_an_answer(tmp_path, capsys):
    path = tmp_path / "s"
    assert study("new", path, "--arms", "GPT-5,3") == 0
    capsys.readouterr()
    assert study("ask", path, "--json") == 0
    ticket = json.loads(capsys.readouterr().out)
    side = "left" if ticket["left"] == "3" else "right"
    other = {"left": "right", "right": "left"}[side]
    assert study("tell", path, ticket["id"], "3") == 0
    assert f"is stored: {side} (3). 1 duel." in capsys.readouterr().out
    assert study("correct", path, ticket["id"], "gpt-5", "--reason", "typo", "--json") == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == other
    assert study("tell", path, ticket["id"], "claude") == 2
    message = capsys.readouterr().err
    assert f"left is '{ticket['left']}' and right is '{ticket['right']}'" in message
    assert study("add", path, "3", "GPT-5", "gpt-5") == 0
    assert "is stored: right (GPT-5)." in capsys.readouterr().out
