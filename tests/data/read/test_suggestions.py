"""What a message suggests is run as it is printed, completed, and gives the right duels.

A case has a file, the points that its list of duels has, the options as the message prints them,
and what stands in place of their gaps. All options that the reader's messages print are here.
"""

import ast
import json
import random
import re
import shlex
from pathlib import Path
from types import MappingProxyType

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data import read as reader
from bayesduel.data import sides
from bayesduel.data.read.rankings import rankings_in
from bayesduel.system.arguments import command_line
from tests.support.kinds import (
    ARMS,
    STRENGTH,
    STRICT,
    TIED,
    ahead,
    points,
    points_read,
    rows,
    says,
    table,
    winner,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NOTHING = MappingProxyType({})
PAIRS = points(STRICT)
SURE = [v for v in TIED if v["w"] != "t"]


def both(votes, names, own, other):
    """Return a table in which each duel stands twice: from the left side, and from the right."""
    made = []
    for v in votes:
        turned = {**v, "a": v["b"], "b": v["a"], "ga": v["gb"], "gb": v["ga"]}
        turned["w"] = {"a": "b", "b": "a", "t": "t"}[v["w"]]
        made += [[v["a"], v["b"], *own(v)], [turned["a"], turned["b"], *other(turned)]]
    random.Random(3).shuffle(made)
    return rows(names, made)


def goals(v):
    return [v["ga"], v["gb"]]


def twice(*names, said=goals):
    return both(TIED, names, said, said)


def word(a, b, tie):
    return lambda v: [says(a, b, tie)(v)]


def share(form, *, signed=100):
    """Return percentages of the left side: 25, 50 or 75."""
    return lambda v: form.format(*(n * signed // 100 for n in {
        "a": (75, 25), "b": (25, 75), "t": (50, 50)}[v["w"]]))  # fmt: skip


SHARES = points([])
for vote in TIED:
    left = {"a": 0.75, "b": 0.25, "t": 0.5}[vote["w"]]
    SHARES[vote["a"], vote["b"]] = SHARES.get((vote["a"], vote["b"]), 0) + left
    SHARES[vote["b"], vote["a"]] = SHARES.get((vote["b"], vote["a"]), 0) + 1 - left

MARKS = [
    {arm: min(5, max(1, round(3 - STRENGTH[arm] + random.Random(f"{arm}{k}").gauss(0, 1))))
     for arm in ARMS}
    for k in range(30)
]  # fmt: skip
LOWER = points([])
for mark in MARKS:
    for one in ARMS:
        for other_arm in ARMS:
            if one != other_arm and mark[one] <= mark[other_arm]:
                worth = 1.0 if mark[one] < mark[other_arm] else 0.5
                LOWER[one, other_arm] = LOWER.get((one, other_arm), 0) + worth


def wide(names="{}", item="question", **columns):
    head = [item, *(names.format(arm) for arm in ARMS), *columns]
    return rows(head, [[f"q{k}", *m.values(), *columns.values()] for k, m in enumerate(MARKS)])


def long(item, model, score, **columns):
    made = [[f"q{k}", arm, n, *columns.values()] for k, m in enumerate(MARKS)
            for arm, n in m.items()]  # fmt: skip
    return rows([item, model, score, *columns], made)


def renamed(found):
    """Return points of arms whose columns say more than their names."""
    return lambda form: {(form.format(a), form.format(b)): n for (a, b), n in found.items()}


def pgn(head="", tie="1/2-1/2", votes=TIED, moves="1. e4 {{[%clk 0:03:00]}} e5 2. Nf3"):
    """Return games of chess in portable game notation."""
    made = []
    for v in votes:
        result = {"a": "1-0", "b": "0-1", "t": tie}[v["w"]]
        made.append(
            f'[Event "Open"]\n{head}[Date "2024.0{v["k"] % 9 + 1}.17"]\n[White "{v["a"]}"]\n'
            f'[Black "{v["b"]}"]\n[Result "{result}"]\n\n{moves}\n{result}\n'
        )
    return "\n".join(made)


LOWER_ASKED = "--lower-is-better"
# Tables that are read as they are, or asked about: text, points, the options as printed, the gaps.
KINDS = {
    # goals and points for and against
    "gf, ga": (table(TIED, team="a", opponent="b", gf="ga", ga="gb"), points(TIED), "", {}),
    "goals for": (table(TIED, Team="a", Opponent="b", GoalsFor="ga", GoalsAgainst="gb"),
                  points(TIED), "", {}),
    "pf, pa": (table(TIED, player="a", opp="b", PF="ga", PA="gb"), points(TIED), "", {}),
    "score, opp score": (table(TIED, team="a", opponent="b", score="ga", opp_score="gb"),
                         points(TIED), "", {}),
    "team score": (table(TIED, club="a", against="b", team_score="ga", opponent_score="gb"),
                   points(TIED), "", {}),
    "scored": (table(TIED, team="a", rival="b", goals_scored="ga", goals_conceded="gb"),
               points(TIED), "", {}),
    "favor": (table(TIED, team="a", opponent="b", goles_a_favor="ga", goles_en_contra="gb"),
              points(TIED), "", {}),
    "home and away goals": (table(TIED, home="a", away="b", home_goals="ga", away_goals="gb"),
                            points(TIED), "", {}),
    # the same, each match twice
    "gf, ga twice": (twice("team", "opponent", "gf", "ga"), points(TIED), "", {}),
    "goals for twice": (twice("Team", "Opponent", "Goals For", "Goals Against"), points(TIED), "",
                        {}),
    "points for twice": (twice("player", "opp", "points_for", "points_against"), points(TIED), "",
                         {}),
    "opp score twice": (twice("club", "rival", "score", "opp_score"), points(TIED), "", {}),
    "margin twice": (twice("team", "opponent", "margin", said=lambda v: [v["ga"] - v["gb"]]),
                     points(TIED), "", {}),
    "score in one text twice": (
        twice("team", "opponent", "result", said=lambda v: [f"{v['ga']}-{v['gb']}"]), points(TIED),
        "", {}),
    "winner twice": (twice("team", "opponent", "winner", said=lambda v: [winner("tie")(v)]),
                     points(TIED), "", {}),
    "victory twice": (twice("team", "opponent", "result", said=word("Victory", "Defeat", "Draw")),
                      points(TIED), "", {}),
    "home goals twice": (twice("home", "away", "home_goals", "away_goals"), points(TIED),
                         "--shape matches", {}),
    "sides twice": (twice("model_a", "model_b", "winner", said=word("model_a", "model_b", "tie")),
                    points(TIED), "--shape matches", {}),
    "scores twice": (twice("model_1", "model_2", "score_1", "score_2"), points(TIED),
                     "--shape matches", {}),
    "text twice": (twice("player_1", "player_2", "result",
                         said=lambda v: [f"{v['ga']}:{v['gb']}"]), points(TIED),
                   "--shape matches", {}),
    "labels twice": (twice("left", "right", "outcome", said=lambda v: [winner("tie")(v)]),
                     points(TIED), "--shape matches", {}),
    "counts twice": (
        rows(["team", "opponent", "wins", "losses"],
             [[a, b, int(2 * points(STRICT).get((a, b), 0)), int(2 * points(STRICT).get((b, a), 0))]
              for a in ARMS for b in ARMS if a != b]),
        {pair: 2 * n for pair, n in points(STRICT).items()},
        """--where '"team" < "opponent"'""", {}),
    # percentages
    "60 %": (table(TIED, model_a="a", model_b="b", result=share("{} %")), SHARES, "", {}),
    "60%/40%": (table(TIED, model_a="a", model_b="b", result=share("{}%/{}%")), SHARES, "", {}),
    "60 % - 40 %": (table(TIED, left="a", right="b", vote=share("{} % - {} %")), SHARES, "", {}),
    "60/40": (table(TIED, model_a="a", model_b="b", preference=share("{}/{}")), SHARES, "", {}),
    "60,0 %": (table(TIED, ";", model_a="a", model_b="b", result=share("{},0 %")), SHARES, "", {}),
    "share of the left": (table(TIED, model_a="a", model_b="b", share=share("{}%")), SHARES,
                          "--outcome share", {}),
    "both shares": (table(TIED, model_a="a", model_b="b", pct_a=share("{}%"), pct_b=share("{1}%")),
                    SHARES, "--outcome pct_a", {}),
    "unsigned": (table(TIED, model_a="a", model_b="b", preference=share("{}")), SHARES,
                 "--coding percent", {}),
    "unsigned decimals": (table(TIED, model_a="a", model_b="b", winner=share("{}.0")), SHARES,
                          "--coding percent", {}),
    # games of chess
    "games.pgn": (pgn(), points(TIED), "", {}),
    "ratings.pgn": (pgn('[WhiteElo "2100"]\n[BlackElo "?"]\n'), points(TIED), "", {}),
    "unknown days.pgn": (pgn('[Site "?"]\n[UTCDate "????.??.??"]\n'), points(TIED), "", {}),
    "not over.pgn": (pgn(tie="*"), points(SURE), "", {}),
    "no moves.pgn": (pgn(moves=""), points(TIED), "", {}),
    "comment.PGN": (pgn(moves='{ [White "nobody"] } 1. d4\n; [Black "nobody"]'), points(TIED), "",
                    {}),
    # scales whose best is 1
    "1 = best in a name": (long("task", "model", "rating (1 = best)"), LOWER, LOWER_ASKED, {}),
    "1 is best in all": (wide("{} (1=best; 5=worst)"), renamed(LOWER)("{} (1=best; 5=worst)"),
                         LOWER_ASKED, {}),
    "best = 1": (long("item", "system", "score [best = 1, worst = 5]"), LOWER, LOWER_ASKED, {}),
    "rating_1_is_best.csv": (wide(), LOWER, LOWER_ASKED, {}),
    "in a column": (long("task", "model", "rating", scale="1 = very good, 5 = very bad"), LOWER,
                    LOWER_ASKED, {}),
    "beside models": (wide(scale="1 (best) to 5 (worst)"), LOWER, LOWER_ASKED, {}),
    "marks of schools": (long("task", "team", "Note"), LOWER, LOWER_ASKED, {}),
    "sehr gut": (long("item", "wine", "rating (1 = sehr gut)"), LOWER, LOWER_ASKED, {}),
}  # fmt: skip


# Options with which a case is read first.
ASKED = {
    "weights of a survey": ["--weight", "sample_weight"],
    "meaning without an outcome": ["--outcome", "none", "--means", "x=left,y=right"],
    "one side of a scale": ["--coding", "grades"],
}


FIRST_SAID = {}  # what the first command printed, by case: it is run once in a process


def first_words(tmp_path, name, text):
    """Return the words of the first command, and what it prints."""
    path = tmp_path / (name if "." in name else "log.csv")
    path.write_text(text, encoding="utf-8")
    words = ["read", str(path), "-o", str(tmp_path / "out.csv")]
    if name == "ranks for duels":  # the command reads rankings by itself
        with command_line(), pytest.raises(ValueError, match="got rankings") as error:
            bd.read_duels(path)
        return words, str(error.value)
    FIRST_SAID[name] = CliRunner().invoke(main, [*words, *ASKED.get(name, [])]).output
    return words, FIRST_SAID[name]


def read_again(tmp_path, name, text, printed, gaps):
    """Run `bayesduel read` as its message prints it; return that run, and the log it writes.

    printed: options as the message should print them; they are then given, their gaps filled.
    """
    words, said = first_words(tmp_path, name, text)
    assert printed in said
    line = printed
    for gap, filled in gaps.items():
        assert gap in line
        line = line.replace(gap, filled)
    words[-1] = str(tmp_path / "again.csv")
    words = words[:2] if "--by" in line else words  # -o is one log
    words = ["winners", words[1]] if "--side-advantage" in line else words  # of a model
    done = CliRunner().invoke(main, [*words, *shlex.split(line)])
    assert done.exit_code == 0, done.output
    return Path(words[-1])


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_read_right_or_what_is_printed_reads_it(name, tmp_path):
    text, right, printed, gaps = KINDS[name]
    path = read_again(tmp_path, name, text, printed, gaps)
    assert found_in(path) == {pair: pytest.approx(n, abs=1e-5) for pair, n in right.items() if n}


def found_in(path):
    """Return the points in a log of duels or of rankings that was written."""
    return points_read(rankings_in(str(path)) or bd.read_duels(path))


def standings(names, form="{}"):
    """Return a row for each pair, with the wins of both."""
    wins = points(STRICT)
    made = [[a, b, *(form.format(int(wins.get(p, 0))) for p in ((a, b), (b, a)))]
            for k, a in enumerate(ARMS) for b in ARMS[k + 1 :]]  # fmt: skip
    return rows(names, made)


def with_first(row, votes=STRICT, **columns):
    """Return duels whose first row has something in place of what it should have."""
    columns = {"model_a": "a", "model_b": "b", "winner": says("A", "B", "tie")} | columns
    head, *body = table(votes, **columns).splitlines()
    return "\n".join([head, row(body[0]), *body[1:], ""])


def replaced(*parts):
    return lambda row: ",".join([*row.split(",")[: -len(parts)], *parts])


LESS = points(STRICT[1:])
ORDER = sorted(ARMS, key=lambda arm: -STRENGTH[arm])
TABLE = {"model_a": "a", "model_b": "b"}
PLAIN = says("A", "B", "tie")
RANKED = [[sorted(m, key=lambda arm, k=k: (m[arm], random.Random(f"{k}{arm}").random()))]
          for k, m in enumerate(MARKS)]  # fmt: skip
PLACES = [{arm: order.index(arm) + 1 for arm in ARMS} for (order,) in RANKED]
OF_PLACES = ahead([[[arm] for arm in order] for (order,) in RANKED])
MANY = [{**v} for v in STRICT * 126]  # more than are looked at first
WON = [v for v in STRICT if v["w"] == "a"]
LOST = next(v for v in STRICT if v["w"] == "b")
PERMUTED = [[1, 2, 3], [1, 2, 3], [2, 1, 3], [3, 1, 2], [2, 3, 1], [1, 2, 3]]
# The same, of further files: each option that a message prints, whatever the file.
SAID = {
    "one side wins": (table([*WON * 4, LOST], **TABLE, winner=PLAIN), None, "--side-advantage", {}),
    "thousands": (standings(["team", "opponent", "wins", "losses"], "{},000"),
                  {k: 1000 * n for k, n in PAIRS.items()}, "--decimal '.'", {}),
    "weights of counts": (
        "\n".join(row + (",count" if k == 0 else ",7") for k, row in enumerate(
            standings(["team", "opponent", "wins", "losses"]).splitlines())) + "\n",
        PAIRS, "--weight none", {}),
    "margin against the outcome": (
        with_first(replaced("B", "5") if STRICT[0]["w"] == "a" else replaced("A", "-5"),
                   winner=PLAIN, margin=lambda v: v["ga"] - v["gb"]) , None, "--margin none", {}),
    "no margin": (with_first(replaced("x"), winner=PLAIN, margin=lambda v: v["ga"] - v["gb"]),
                  PAIRS, "--margin none", {}),
    "bad row": (with_first(replaced(""), winner=PLAIN), LESS, "--means A=left,B=right,=none", {}),
    "blank is a tie": (table(TIED, **TABLE, winner=says("A", "B", "")), points(TIED),
                       "--means A=left,B=right,=tie", {}),
    "one unknown word": (with_first(replaced("C"), winner=PLAIN), LESS,
                         "--means 'A=left,B=right,C=?'", {"?": "none"}),
    "times of a form": (table(STRICT, **TABLE, winner=PLAIN, time=lambda v: f"{v['k'] % 9 + 1}/1/24"
                              if v["k"] else "soon"), PAIRS, "--time none", {}),
    "times": (table(STRICT, **TABLE, winner=PLAIN, time=lambda v: "5" if v["k"] else "soon"), PAIRS,
              "--time none", {}),
    "form of times": (table(STRICT, **TABLE, winner=PLAIN, time=lambda v: f"3.4.{v['k'] + 10}"),
                      PAIRS, "--time-format", {"format": "format %d.%m.%y"}),
    "both scales": (table(STRICT, **TABLE, result=says(1, 5)), PAIRS,
                    "--means '1=?,5=?'", {"1=?": "1=left", "5=?": "5=right"}),
    "scale": (table(TIED, **TABLE, result=says(1, 5, 3)), points(TIED),
              "--grades BEST_FOR_LEFT,BEST_FOR_RIGHT",
              {"BEST_FOR_LEFT": "1", "BEST_FOR_RIGHT": "5"}),
    "grades": (table(TIED, **TABLE, result=says(2, -3, 0)), points(TIED), "--coding grades", {}),
    "cmos": (table(TIED, **TABLE, cmos=says(2, -3, 0)), points(TIED),
             "--outcome cmos --coding grades", {}),
    "margin": (table(TIED, **TABLE, ahead=lambda v: (v["ga"] - v["gb"]) / 2), points(TIED),
               "--margin ahead", {}),
    "0 and 1": (table(STRICT, **TABLE, flag=says(1, 0)), PAIRS, "--outcome flag --means '0=?,1=?'",
                {"0=?": "0=right", "1=?": "1=left"}),
    "0 and 1 of a name in two words": (
        table(STRICT, **TABLE, **{"my flag": says(1, 0)}), PAIRS,
        "--outcome 'my flag' --means '0=?,1=?'", {"0=?": "0=right", "1=?": "1=left"}),
    "words of sides": (table(STRICT, **TABLE, what=says("model x", "model y")), PAIRS,
                       "--outcome what", {}),
    "scores of a name in two words": (
        table(TIED, **TABLE, **{"mark a (1 = best)": "gb", "mark b (1 = best)": "ga"}),
        points(TIED), "--margin 'mark a (1 = best),mark b (1 = best)'",
        {"--margin": "--lower-is-better --margin"}),
    "few numbers": (table(STRICT, **TABLE, code=says(1, 2), place="k"), PAIRS, "--outcome code",
                    {}),
    "a share of the right": (
        table(TIED, **TABLE, b_result=share("0.{1}")), SHARES,
        "--left model_b --right model_a", {}),
    "sides that are arms": (
        table([{**v, "a": "b", "b": "a"} if v["k"] % 2 else {**v, "a": "a", "b": "b"}
               for v in STRICT], **TABLE, winner=PLAIN), None, "--coding a/b",
        {}),
    "ranks or scores": (rows(ARMS[:3], [[1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3]]),
                        ahead([[[ARMS[i]] for i in order] for order in
                               ((0, 1, 2), (1, 0, 2), (0, 2, 1), (0, 1, 2))]), "--shape ranks", {}),
    "places or arms": (rows([1, 2, 3], PERMUTED), ahead([[["1"], ["2"], ["3"]]] * 3 + [
        [["2"], ["1"], ["3"]], [["3"], ["1"], ["2"]], [["2"], ["3"], ["1"]]]), "--shape none", {}),
    "places of arms": (rows([1, 2, 3], PERMUTED), ahead([[["1"], ["2"], ["3"]]] * 3 + [
        [["2"], ["1"], ["3"]], [["2"], ["3"], ["1"]], [["3"], ["1"], ["2"]]]), "--shape ranks", {}),
    "seconds": (long("task", "model", "seconds"), LOWER, "--lower-is-better", {}),
    "doubles": (
        rows(["player_1", "player_2", "winner"],
             [["x/" + v["a"], "x/" + v["b"] if False else "y/" + v["b"], PLAIN(v)]
              for v in STRICT]), None, "--teams '/'", {}),
    "doubles of columns": (
        rows(["team1_player1", "team1_player2", "team2_player1", "team2_player2", "winner"],
             [[*random.Random(v["k"]).sample(ARMS, 4), says(1, 2)(v)] for v in STRICT]), None,
        "--left team1_player1,team1_player2 --right team2_player1,team2_player2", {}),
    "rankings": (
        rows(["contest", "who", "nth"], [[k, arm, n] for k, p in enumerate(PLACES)
                                         for arm, n in p.items()]), OF_PLACES,
        "--rankings ranking=COLUMN,arm=COLUMN,rank=COLUMN",
        {"ranking=COLUMN": "ranking=contest", "arm=COLUMN": "arm=who", "rank=COLUMN": "rank=nth"}),
    "islands": (
        table([{**v, "a": v["a"] + ("!" if v["k"] % 2 else ""), "b": v["b"] + (
            "!" if v["k"] % 2 else "")} for v in STRICT], **TABLE, winner=PLAIN,
            **{"my league": lambda v: f"l{v['k'] % 2}"}), None, "--by 'my league'", {}),
    "judges": (table(STRICT, **TABLE, winner=PLAIN, who=lambda v: f"u{v['k'] % 8}"), PAIRS,
               "by --judge or --group", {"by --judge or --group": "--judge who"}),
    "categories": (table(STRICT, **TABLE, winner=PLAIN, lang=lambda v: f"u{v['k'] % 8}"), PAIRS,
                   "--by lang", {"--by": "--keep"}),
    "names like missing ones": (
        table([{**v, "a": v["a"].replace("Ajax", "NA"), "b": v["b"].replace("Ajax", "NA")}
               for v in STRICT], **TABLE, winner=PLAIN), None, "--missing",
        {"--missing": "--missing NA --on-bad skip"}),
    "shown first": (table(STRICT, **TABLE, winner=PLAIN, shown_first=lambda v: "Zebra"), PAIRS,
                    "--shown-first none", {}),
    "ties of their own": (with_first(replaced("maybe"), winner=PLAIN, tie="false"), PAIRS,
                          "--tie none", {}),
    "ties against a margin": (
        with_first(replaced("true"), margin=lambda v: v["ga"] - v["gb"], tie="false"), PAIRS,
        "--tie none", {}),
    "weights of a survey": (
        table(STRICT, **TABLE, winner=PLAIN, sample_weight=lambda v: v["k"] + 1), PAIRS,
        "--sampling-weight", {"--sampling-weight": "--sampling-weight sample_weight"}),
    "meaning without an outcome": (
        table(STRICT, **TABLE, result=says("x", "y"), margin=lambda v: v["ga"] - v["gb"]), PAIRS,
        "--outcome", {"--outcome": "--outcome result --means x=left,y=right"}),
    "ranks for duels": (rows(ARMS, [[*p.values()] for p in PLACES]), OF_PLACES,
                        "--shape scores --lower-is-better", {}),
    "points or places from 0": (
        rows(ARMS, [[place - 1 for place in p.values()] for p in PLACES]), OF_PLACES,
        "--shape scores", {"--shape scores": "--shape scores --lower-is-better"}),
    "scores of the sides in columns a and b": (
        table(TIED, a="ga", b="gb", lang="k"), None, "--shape scores", {}),
    "kinds of judges.jsonl": (
        "".join(json.dumps({
            "question_id": v["k"], "model_1": v["a"], "model_2": v["b"],
            "g1_winner": says("model_1", "model_2", "tie")(v), "g2_winner": "error",
            "judge": [f"gpt{v['k'] % 2}"]}) + "\n" for v in TIED), points(TIED),
        "--keep source", {}),
    "time that is guessed": (
        table(MANY, **TABLE, winner=PLAIN,
              date=lambda v: "soon" if v is MANY[-1] else "2024-01-01"),
        {pair: 126 * n for pair, n in PAIRS.items()}, "--time", {"--time": "--time none"}),
    "positive and negative": (
        table(TIED, **TABLE, result=says(2.5, -3.5, 0)), points(TIED),
        "--margin result --outcome none", {}),
    "one side of a scale": (table(TIED, **TABLE, result=says(1, 5, 3)), points(TIED),
                            "--grades 1,5", {}),
    "codes of two codings": (table(WON, **TABLE, result=lambda v: "L"), points(WON),
                             "--coding l/r", {}),
    "a share by its name": (
        table(TIED, **TABLE, b_result=share("0.{1}")), {(b, a): n for (a, b), n in SHARES.items()},
        "--coding probability", {}),
    "judges of other names": (
        table(STRICT, **TABLE, ann=PLAIN, bob=PLAIN), {pair: 2 * n for pair, n in PAIRS.items()},
        "--shape judges", {}),
    "points of each player of a team": (
        rows(["match", "player", "team", "points"],
             [[k, arm, place % 2, place * 3 + k % 2] for k in range(6)
              for place, arm in enumerate(ARMS[:4])]), None, "--shape scores", {}),
    "thumbs of answers": (
        rows(["prompt", "model", "liked"],
             [[v["k"], v[side], str(v["w"] == side).lower()] for v in STRICT for side in "ab"]),
        PAIRS, "--shape scores", {}),
    "scores given twice": (
        rows(["prompt", "model", "score", "by"],
             [[v["k"], v[side], int(v["w"] == side), f"by{n}"] for v in STRICT for side in "ab"
              for n in range(2)]),
        {pair: 2 * n for pair, n in PAIRS.items()}, "--shape scores --judge COLUMN",
        {"COLUMN": "by"}),
    "survey": (table(STRICT, **TABLE, winner=PLAIN, sample_weight=lambda v: v["k"] + 1), PAIRS,
               "--sampling-weight", {"weight": "weight sample_weight"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_is_printed_is_run_and_right(name, tmp_path):
    text, right, printed, gaps = SAID[name]
    path = read_again(tmp_path, name, text, printed, gaps)
    if right is not None:
        pairs = {pair: pytest.approx(n, abs=1e-5) for pair, n in right.items() if n}
        assert found_in(path) == pairs


def literals():
    """Return the texts of the reader's sources that name an option of the command line."""
    for file in [*Path(reader.__file__).parent.glob("*.py"), Path(sides.__file__)]:
        if file.name == "items.py":  # no log
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        prose = {ast.get_docstring(node, clean=False) for node in ast.walk(tree)
                 if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.search("--[a-z]", node.value) and node.value not in prose:
                    yield from (part for part in re.split("{.*?}", node.value) if "--" in part)


def test_every_option_that_a_message_names_is_tried_here(tmp_path):
    said = ""
    for k, (name, (text, *_)) in enumerate({**KINDS, **SAID}.items()):
        folder = tmp_path / str(k)
        folder.mkdir()
        said += FIRST_SAID.get(name) or first_words(folder, name, text)[1]
    lost = [text for text in literals() if text not in said]
    assert not lost


ASKED_IN_PYTHON = {
    "weights of a survey": {"weight": "sample_weight"},
    "meaning without an outcome": {"outcome": False, "means": {"x": "left", "y": "right"}},
    "one side of a scale": {"coding": "grades"},
}
OF_COMMANDS = {"--rankings", "--side-advantage"}  # Python has a function and a term for these


@pytest.mark.parametrize("name", [*KINDS, *SAID])
@pytest.mark.sampled(4)
def test_python_is_told_arguments_and_a_command_options(name, tmp_path, capsys):
    text, _, printed, _ = (KINDS | SAID)[name]
    _, by_command = first_words(tmp_path, name, text)
    path = tmp_path / (name if "." in name else "log.csv")
    capsys.readouterr()
    ranked = name != "ranks for duels" and rankings_by_command(path)
    read = bd.read_rankings if ranked else bd.read_duels
    try:
        found = read(path, **ASKED_IN_PYTHON.get(name, {}))
        said = f"{capsys.readouterr().err} {getattr(found, 'reading', '')} "
        said += sides.sides_of(found).remark if isinstance(found, bd.Duels) else ""
    except ValueError as error:
        said = str(error)
    assert not re.search(r"(?<![-\w])--[a-z]", said), said
    of_options = re.sub(r"read_[a-z]+\(.*?\)", "", by_command)  # there is no command for these
    assert not re.search(r"\b[a-z_]+=[(;,)\['\" ]", of_options), by_command
    for option in {*re.findall(r"--[a-z-]+", printed)} - OF_COMMANDS:
        assert f"{option[2:].replace('-', '_')}=" in said


def rankings_by_command(path):
    """Return whether the command reads a file as rankings."""
    try:
        return rankings_in(str(path)) is not None
    except ValueError:
        return False
