"""What a message suggests is run as it is printed, completed, and gives the right duels.

A case has a file, the points that its list of duels has, the options as the message prints them,
and what stands in place of their gaps. All options that the reader's messages print are here.
"""

import random
import shlex
from types import MappingProxyType

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from tests.support.kinds import (
    ARMS,
    STRENGTH,
    STRICT,
    TIED,
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


def read_again(tmp_path, name, text, printed, gaps):
    """Return what `bayesduel read` prints, and the points of the log that is read in the end.

    printed: options as the message should print them; they are then given, their gaps filled.
    """
    path = tmp_path / (name if "." in name else "log.csv")
    path.write_text(text, encoding="utf-8")
    words = ["read", str(path), "-o", str(tmp_path / "out.csv")]
    first = CliRunner().invoke(main, words)
    assert printed in first.output, first.output
    done = first
    if printed:
        line = printed
        for gap, filled in gaps.items():
            assert gap in line
            line = line.replace(gap, filled)
        done = CliRunner().invoke(main, [*words, *shlex.split(line)])
    return first, done, tmp_path / "out.csv"


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_read_right_or_what_is_printed_reads_it(name, tmp_path):
    text, right, printed, gaps = KINDS[name]
    _, done, path = read_again(tmp_path, name, text, printed, gaps if printed else {})
    assert done.exit_code == 0, done.output
    found = points_read(bd.read_duels(path))
    assert found == {pair: pytest.approx(n, abs=1e-5) for pair, n in right.items() if n}
