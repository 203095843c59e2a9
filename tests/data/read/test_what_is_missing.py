"""Tables that say of each arm something by itself, members and judges in rows and columns.

Each kind has five variations or more. What is right is counted here, with nothing of the reader.
"""

from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.read.rankings import rankings_in
from bayesduel.system.arguments import command_line

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def written(tmp_path, text, name="log.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# -- what is known of each arm alone ----------------------------------------------------------

STANDINGS = {
    "W": "Team,P,W,D,L,GF,GA,Pts\nAjax,6,4,1,1,12,5,13\nCeltic,6,3,1,2,9,7,10\n",
    "won": "club,won,drawn,lost,points\nAjax,4,1,1,13\nCeltic,3,1,2,10\nBrest,2,2,2,8\n",
    "wins": "name,wins,losses\nann,10,3\nbob,7,6\ncy,2,10\n",
    "win_rate": "player,matches,wins,losses,win_rate\nann,13,10,3,0.77\nbob,13,7,6,0.54\n",
    "S": "Mannschaft;S;U;N;Tore;Punkte\nAjax;4;1;1;12:5;13\nCeltic;3;1;2;9:7;10\n",
    "victories": "model,victories,defeats\ngpt,5,2\nllama,2,5\n",
}
RATINGS = {
    "rating": "name,rating\ngpt,1250\nllama,1100\nqwen,1180\n",
    "Elo": "Rank,Model,Elo,Votes\n1,gpt,1250,10000\n2,llama,1200,8000\n3,qwen,1180,5000\n",
    "elo": "player,elo\nann,1500\nbob,1400\ncy,1300\n",
    "arena_score": "model,arena_score,95% CI,votes\ngpt,1250,+3/-4,10\nllama,1100,+2/-2,8\n",
    "Glicko": "Player,Country,Glicko\nann,NO,2400\nbob,DE,2300\n",
    "strength": "team,strength\nAjax,1.2\nCeltic,-0.3\nBrest,0.1\n",
}
THUMBS = {
    "thumb": "model,prompt,thumb\ngpt,p1,up\nllama,p2,down\nqwen,p3,up\ngpt,p4,down\n",
    "feedback": "answer_id,model,feedback\n1,gpt,1\n2,llama,-1\n3,qwen,1\n4,gpt,1\n",
    "rating": "timestamp,model,rating\n2024-01-01,gpt,👍\n2024-01-02,llama,👎\n2024-01-02,gpt,👍\n",
    "liked": "user,model,liked\nu1,gpt,true\nu2,llama,false\nu3,gpt,true\nu4,qwen,false\n",
    "Upvoted": "model,Upvoted\ngpt,yes\nllama,no\ngpt,yes\n",
    "user_feedback": "system,user_feedback\na,positive\nb,negative\na,positive\n",
}


@pytest.mark.parametrize("table", [*STANDINGS.values(), *RATINGS.values()])
def test_totals_and_ratings_lack_who_met_whom(tmp_path, table):
    done = CliRunner().invoke(main, ["winners", str(written(tmp_path, table))])
    assert done.exit_code == 2
    assert "who met whom is missing" in " ".join(done.output.split())
    assert "a row for each duel" in " ".join(done.output.split())


@pytest.mark.parametrize("kind", [STANDINGS, RATINGS])
def test_the_message_names_the_column_of_totals(tmp_path, kind):
    for name, table in kind.items():
        with pytest.raises(ValueError, match="who met whom") as refused:
            bd.read_duels(written(tmp_path, table))
        column = {"win_rate": "wins"}.get(name, name)
        assert f"'{column}'" in str(refused.value)


@pytest.mark.parametrize("name", THUMBS)
def test_thumbs_are_read_as_pulls_as_the_message_says(tmp_path, name):
    path = written(tmp_path, THUMBS[name])
    with pytest.raises(ValueError, match="who met whom is missing") as refused:
        bd.read_duels(path)
    arm = "system" if name == "user_feedback" else "model"
    assert f"item='{arm}', reward='{name}'" in str(refused.value)
    pulls = bd.read_pulls(path, item=arm, reward=name)
    head, *body = (line.split(",") for line in THUMBS[name].split())
    liked = [row[head.index(name)] in ("up", "1", "👍", "true", "yes", "positive") for row in body]
    assert pulls.successes.sum() == sum(liked)


def test_counts_of_thumbs_lack_who_met_whom(tmp_path):
    table = "model,thumbs_up,thumbs_down\ngpt,100,30\nllama,70,60\n"
    with pytest.raises(ValueError, match="'thumbs_up' and 'thumbs_down' are of the answers"):
        bd.read_duels(written(tmp_path, table))


# -- teams: columns by the names of leagues ----------------------------------------------------

MATCHES = [("BOS", "NYY", 5, 3), ("BOS", "TOR", 1, 4), ("NYY", "TOR", 3, 2), ("NYY", "BOS", 0, 2),
           ("TOR", "NYY", 6, 1)]  # fmt: skip
TM = {
    "Tm,Opp,Rslt": lambda t, o, x, y: [t, o, "WL"[x < y]],
    "Tm,Opp,Rslt,PF,PA": lambda t, o, x, y: [t, o, f"{'WL'[x < y]} {x}-{y}", x, y],
    "Date,Tm,Opp,Rslt": lambda t, o, x, y: ["2024-01-01", t, o, "WL"[x < y]],
    "Tm,Opp,RS,RA": lambda t, o, x, y: [t, o, x, y],
    "TM,OPP,RSLT": lambda t, o, x, y: [t, o, f"{x}-{y}"],
    "Tm,Opponent,Result": lambda t, o, x, y: [t, o, "WL"[x < y]],
}


@pytest.mark.parametrize("head", TM)
def test_columns_called_tm_opp_rslt(tmp_path, head):
    lines = [head, *(",".join(map(str, TM[head](*match))) for match in MATCHES)]
    log = bd.read_duels(written(tmp_path, "\n".join(lines) + "\n"))
    won, _ = log.tally()
    for one, other in combinations(log.arms, 2):
        right = sum(
            (x > y) == (t == one) for t, o, x, y in MATCHES if {t, o} == {one, other}
        )  # no ties
        assert won[log.arms.index(one), log.arms.index(other)] == right


# -- a row for each player of doubles -----------------------------------------------------------

DOUBLES = [  # winners, losers
    (("ann", "bob"), ("cy", "di")),
    (("bob", "di"), ("ann", "cy")),
    (("ann", "di"), ("bob", "cy")),
    (("ann", "bob"), ("cy", "di")),
]


def of_players(row):
    """Return a row for each player: `row` gives it of (match, player, won, place of the side)."""
    rows = []
    for k, sides in enumerate(DOUBLES, 1):
        first = k % 2  # which side the file lists first
        for place in (first, 1 - first):
            rows += [row(k, player, place == 0, abs(place - first)) for player in sides[place]]
    return rows


PLAYERS = {
    "match_id,player,side,result": lambda k, p, won, side: [k, p, "AB"[side], "LW"[won]],
    "match,player,team,score": lambda k, p, won, side: [k, p, side + 1, 21 if won else 10 + k],
    "game_id,player,won": lambda k, p, won, side: [k, p, int(won)],
    "game,team,player,win": lambda k, p, won, side: [k, ("red", "blue")[side], p, won],
    "Match,Pair,Name,Outcome": lambda k, p, won, side: [k, f"p{side}", p, ("loss", "win")[won]],
    "date,match no,player,points,side": lambda k, p, won, side: ["2024-01-01", k, p, 9 * won, side],
}


@pytest.mark.parametrize("head", PLAYERS)
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.sampled(2)
def test_a_row_for_each_player_of_doubles(tmp_path, head, again):
    lines = [head, *(",".join(map(str, row)) for row in of_players(PLAYERS[head]))]
    if again:  # the header line, as in files that were joined
        lines.insert(5, head)
    log = bd.read_duels(written(tmp_path, "\n".join(lines) + "\n"))
    assert log.arms == ("ann", "bob", "cy", "di")
    found = {}
    for row in log.to_frame().itertuples():
        sides = (row.left, row.right) if row.outcome == "left" else (row.right, row.left)
        found[sides] = found.get(sides, 0) + int(getattr(row, "weight", 1))
    right = {}
    for sides in DOUBLES:
        right[sides] = right.get(sides, 0) + 1
    assert found == right
    assert bool(log.reading.left_out) is again


def test_players_of_a_side_with_several_scores_are_asked_for(tmp_path):
    body = "1,ann,x,5\n1,bob,x,7\n1,cy,y,2\n1,di,y,8\n"
    path = written(tmp_path, f"match,player,team,score\n{body}")
    with (
        command_line(),
        pytest.raises(ValueError, match=r"should have one 'score', .*--shape scores"),
    ):
        bd.read_duels(path)
    assert bd.read_duels(path, shape="scores").n_duels == 6


# -- a column for each judge --------------------------------------------------------------------

PAIRS = [("x", "y"), ("y", "z"), ("x", "z"), ("z", "x"), ("y", "x"), ("x", "y")]
VERDICTS = ["aab", "bbb", "ab=", "=aa", "bab", "aa "]  # of three judges; a space: none


def of_judges(names, words, sides=("item_a", "item_b")):
    """Return a table with a column for each judge."""
    body = [
        [*pair, *(words(pair, verdict) for verdict in said)]
        for pair, said in zip(PAIRS, VERDICTS, strict=True)
    ]
    return "\n".join(",".join(map(str, row)) for row in [[*sides, *names], *body]) + "\n"


def in_words(*words):
    return lambda pair, verdict: ("", *words)[" ab=".index(verdict)]


def by_name(pair, verdict):
    return ("", *pair, "tie")[" ab=".index(verdict)]


JUDGES = {
    "letters": (("judge1", "judge2", "judge3"), in_words("a", "b", "tie")),
    "annotators": (("annotator_1", "annotator_2", "annotator_3"), in_words("A", "B", "same")),
    "winners": (("winner_judge1", "winner_judge2", "winner_judge3"), by_name),
    "raters": (("rater A", "rater B", "rater C"), in_words("left", "right", "equal")),
    "numbers": (("judge_x", "judge_y", "judge_z"), in_words("1", "-1", "0")),
    "experts": (("expert_choice", "student_choice", "reviewer_choice"), by_name),
}


def right_points():
    points = {}
    for (left, right), said in zip(PAIRS, VERDICTS, strict=True):
        for verdict in said.strip():
            share = {"a": 1.0, "b": 0.0, "=": 0.5}[verdict]
            points[left, right] = points.get((left, right), 0) + share
            points[right, left] = points.get((right, left), 0) + 1 - share
    return points


def points_of(log):
    wins, ties = log.tally()
    points = wins + ties / 2
    places = [(i, j) for i in range(log.n_arms) for j in range(log.n_arms) if i != j]
    return {(log.arms[i], log.arms[j]): points[i, j] for i, j in places}


@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.sampled(3)
def test_a_column_for_each_judge(tmp_path, kind):
    names, words = JUDGES[kind]
    log = bd.read_duels(written(tmp_path, of_judges(names, words)))
    assert points_of(log) == right_points()
    assert log.votes.judges == tuple(sorted(names))
    assert len(log.votes.groups) == len(PAIRS)  # the votes of a row
    assert [line.understood for line in log.reading.left_out] == ["no verdict"]


@pytest.mark.parametrize(
    "names",
    [("ann", "bob", "cy"), ("human_vote", "gpt4_vote", "gpt5_vote"), ("vote_1", "vote_2", "vote_3"),
     ("A1", "A2", "A3"), ("first winner", "second winner", "third winner")],
)  # fmt: skip
def test_columns_that_may_be_judges_are_asked_for(tmp_path, names):
    path = written(tmp_path, of_judges(names, by_name, ("p", "q")))
    sides = {"left": "p", "right": "q"}
    done = CliRunner().invoke(main, ["winners", str(path), "--left", "p", "--right", "q"])
    assert done.exit_code == 2
    assert "If each of several columns is a judge, use --shape judges." in " ".join(
        done.output.split()
    )
    assert points_of(bd.read_duels(path, shape="judges", **sides)) == right_points()


def test_where_the_log_names_a_group_the_rows_are_none(tmp_path):
    head, *body = of_judges(*JUDGES["letters"]).splitlines()
    lines = [f"prompt,{head}", *(f"q{k % 2},{row}" for k, row in enumerate(body))]
    log = bd.read_duels(written(tmp_path, "\n".join(lines) + "\n"))
    assert log.votes.groups == ("q0", "q1")


# -- the file's own names, and header lines that come again --------------------------------------

SHAPED = {
    "pairs": ("judge,x:y,x:z,y:z\n1,1,0,-1\n2,0,1,NA\n3,1,1,1\n", "x:y, x:z and y:z"),
    "scores": ("question,x,y,z\n1,3,2,5\n2,4,4,1\n3,7,2,6\n", "x, y and z"),
    "long scores": ("item,model,score\n1,x,3\n1,y,4\n2,x,5\n2,y,1\n", "score"),
    "one-hot": ("a,b,a_won,b_won\nx,y,1,0\ny,x,0,1\nx,y,0,1\n", "a_won and b_won"),
    "matches": ("match_id,team,result\n1,x,W\n1,y,L\n2,x,L\n2,y,W\n3,x,W\n3,y,L\n", "result"),
    "judges": ("a,b,judge1,judge2\nx,y,a,a\ny,x,b,a\nx,y,b,b\n", "judge1 and judge2"),
    "members": ("game,player,won\n1,x,1\n1,y,1\n1,z,0\n1,w,0\n2,x,1\n2,z,1\n2,y,0\n2,w,0\n", "won"),
    "versus": ("fixture,score\nx - y,2:1\ny - x,0:1\nx - y,1:1\n", "score"),
}
OTHERS = {
    "duels": "model_a,model_b,winner\nx,y,model_a\ny,z,model_b\nx,z,model_a\n",
    "counts": "a,b,wins_a,wins_b\nx,y,3,4\ny,z,2,1\n",
    "ranks": "ranking,arm,rank\n1,x,1\n1,y,2\n2,x,2\n2,y,1\n",
    "orders": "order\nx > y > z\ny > x > z\nz > x > y\n",
    "places": "first,second,third\nx,y,z\ny,x,z\nz,y,x\n",
}


def read(path):
    found = rankings_in(path)
    return bd.read_duels(path) if found is None else found


def numbers_of(log):
    return log.place if isinstance(log, bd.Rankings) else np.stack(log.cells)


@pytest.mark.parametrize("kind", SHAPED)
@pytest.mark.sampled(3)
def test_a_shape_is_said_in_the_columns_of_the_file(tmp_path, kind, capsys):
    table, outcome = SHAPED[kind]
    path = written(tmp_path, table)
    log = read(path)
    used = {line.column for line in log.reading.lines if line.role != "not used"}
    assert log.reading.line("outcome").column == outcome
    assert not used & {"model_a", "model_b", "winner", "left", "right"}
    assert "model_a=" not in capsys.readouterr().err
    done = CliRunner().invoke(main, ["read", str(path)])
    assert done.exit_code == 0
    assert outcome.split(",")[0] in done.output


@pytest.mark.parametrize("kind", [*SHAPED, *OTHERS])
@pytest.mark.parametrize("at", [2, -1])
@pytest.mark.sampled(3)
def test_a_header_line_that_comes_again_is_counted_and_no_data(tmp_path, kind, at, capsys):
    table = SHAPED[kind][0] if kind in SHAPED else OTHERS[kind]
    lines = table.splitlines()
    alone = read(written(tmp_path, table, "alone.csv"))
    capsys.readouterr()
    lines.insert(at, lines[0])
    log = read(written(tmp_path, "\n".join(lines) + "\n"))
    assert log.arms == alone.arms
    assert np.array_equal(numbers_of(log), numbers_of(alone))
    assert "left out: the header line again (1 row)" in capsys.readouterr().err
    again = [line for line in log.reading.left_out if line.understood == "the header line again"]
    assert [line.rows for line in again] == [1]
