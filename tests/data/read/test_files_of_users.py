"""Files as other tools and people write them: the same duels as in the list they were made from.

The columns are those of the public formats, the values are ours. What is right is counted here from
the list, without the reader. A file that leaves its meaning open is refused, and the advice of the
message is followed.
"""

import csv
import io
import json
import random
from collections import Counter

import pytest

import bayesduel as bd
from bayesduel.system.arguments import command_line

ARMS = ("Ajax", "Brest", "Celtic", "Dynamo")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def votes_of(ties=True, n=60, seed=7):
    """Return votes: left, right, who won ("a", "b", "tie"), judge, a number, a score of each."""
    rng = random.Random(seed)
    found = []
    for k in range(n):
        left, right = rng.sample(ARMS, 2)
        won = rng.choice(["a", "a", "b", "tie"] if ties else ["a", "a", "b"])
        low = rng.randrange(3)
        high = low + 1 + rng.randrange(2)
        goals = {"a": (high, low), "b": (low, high), "tie": (low, low)}[won]
        found.append(
            {"left": left, "right": right, "won": won, "judge": f"u{k % 6}", "k": k,
             "ga": goals[0], "gb": goals[1], "day": k % 27 + 1, "month": k % 12 + 1}
        )  # fmt: skip
    return found


TIED = votes_of()
STRICT = votes_of(ties=False)


def tallied(votes):
    """Return how often each arm beat, or tied with, each other one."""
    found = Counter()
    for vote in votes:
        pair = (vote["left"], vote["right"])
        if vote["won"] == "tie":
            found[frozenset(pair), "tie"] += 1
        else:
            found[pair if vote["won"] == "a" else pair[::-1]] += 1
    return found


def tally_of(log):
    """Return the same of a log; soft votes are counted by their shares."""
    wins, ties = log.tally()
    votes = log.rows
    if votes.share is not None:
        wins = wins * 0
        for i, j, share, n in zip(votes.left, votes.right, votes.share, votes.weight, strict=True):
            wins[i, j] += share * n
            wins[j, i] += (1 - share) * n
    found = Counter()
    for i, one in enumerate(log.arms):
        for j, other in enumerate(log.arms):
            if wins[i, j]:
                found[one, other] += round(wins[i, j])
            if i < j and ties[i, j]:
                found[frozenset((one, other)), "tie"] += round(ties[i, j])
    return found


def table(votes, sep=",", before=(), after=(), **columns):
    """Return a table of text: a function of a vote for each column; names as they are given."""
    return rows_of(
        [[f(v) for f in columns.values()] for v in votes], [*columns], sep, before, after
    )


def rows_of(rows, names, sep=",", before=(), after=()):
    """Return lines of text with a header line, and lines before and after it."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=sep, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return (
        "".join(f"{line}\n" for line in before)
        + stream.getvalue()
        + "".join(f"{line}\n" for line in after)
    )


def lines(votes, made):
    """Return JSON lines."""
    return "".join(json.dumps(made(v)) + "\n" for v in votes)


def says(a="model_a", b="model_b", tie="tie"):
    """Return a function from a vote to a word for who won."""
    words = {"a": a, "b": b, "tie": tie}
    return lambda v: words[v["won"]]


def named(tie=""):
    """Return a function from a vote to the winner's name."""
    return lambda v: tie if v["won"] == "tie" else v["left"] if v["won"] == "a" else v["right"]


def left(v):
    return v["left"]


def right(v):
    return v["right"]


def judge(v):
    return v["judge"]


def number(v):
    return v["k"]


def winner(v):
    return named()(v)


def loser(v):
    return v["right"] if v["won"] == "a" else v["left"]


def goals_a(v):
    return v["ga"]


def goals_b(v):
    return v["gb"]


def always(text):
    return lambda v: text


def text_a(v):
    return f"The answer of {v['left']}, number {v['k']}."


def text_b(v):
    return f"The answer of {v['right']}, number {v['k']}."


def iso(v):
    return f"2024-{v['month']:02}-{v['day']:02}"


def dotted(v):
    return f"{v['day']:02}.{v['month']:02}.2024"


def slashed(v):
    return f"{v['day']:02}/{v['month']:02}/2024"


def short(v):
    return f"{v['day']:02}/{v['month']:02}/24"


def american(v):
    return f"{v['month']}/{v['day']}/2024 10:{v['k']:02}:00"


def label_studio(v):
    return {
        "id": v["k"],
        "annotations": [
            {"id": 900 + v["k"], "completed_by": {"id": 1, "email": f"{v['judge']}@example.org"},
             "result": [{"value": {"selected": says("left", "right")(v)}, "id": "x",
                         "from_name": "pw", "to_name": "t1,t2", "type": "pairwise"}],
             "was_cancelled": False, "lead_time": 3.5}
        ],
        "data": {"prompt": f"p{v['k']}", "model_left": v["left"], "model_right": v["right"],
                 "text1": text_a(v), "text2": text_b(v)},
    }  # fmt: skip


def argilla(v):
    return {
        "id": f"r{v['k']}",
        "status": "completed",
        "fields": {"prompt": f"p{v['k']}", "response_1": text_a(v), "response_2": text_b(v)},
        "metadata": {"model_1": v["left"], "model_2": v["right"]},
        "suggestions": {},
        "responses": {
            "preference": [{"value": says("response_1", "response_2")(v), "user_id": v["judge"]}]
        },
    }


def mt_bench(v):
    word = says("model_1", "model_2", "tie")(v)
    return {"question_id": v["k"], "model_1": v["left"], "model_2": v["right"], "g1_winner": word,
            "g2_winner": word, "judge": ["gpt-4", "pair-v2"], "turn": 1,
            "tstamp": 1687222854.4}  # fmt: skip


def arena_hard(v):
    one = says("A>B", "B>A", "A=B")(v)
    two = says("B>A", "A>B", "A=B")(v)
    return {"uid": f"q{v['k']}", "model": v["right"], "baseline": v["left"], "judge": "gpt-4.1",
            "category": "hard", "games": [{"score": one}, {"score": two}]}  # fmt: skip


def twice(votes):
    return [*votes, *votes]


def two_rows(votes, made, names):
    """Return a table with two rows a match, one for each team."""
    return rows_of([row for v in votes for row in made(v)], names)


def nba(v):
    sides = [(v["left"], v["right"], v["ga"], v["gb"], "vs."),
             (v["right"], v["left"], v["gb"], v["ga"], "@")]  # fmt: skip
    return [
        [f"0022{v['k']}", iso(v), own, f"{own} {sign} {other}", "W" if p > q else "L", p + 90]
        for own, other, p, q, sign in sides
    ]


def counted(votes, made, names):
    """Return a table with one row per pair of arms: counts of wins of each and of ties."""
    found = tallied(votes)
    rows = []
    for i, one in enumerate(ARMS):
        for other in ARMS[i + 1 :]:
            ties = found[frozenset((one, other)), "tie"]
            rows.append(made(one, other, found[one, other], found[other, one], ties))
    return rows_of(rows, names)


def by_sides(votes, names):
    """Return a table of wins at home and away for each ordered pair of teams."""
    found = Counter((v["left"], v["right"], v["won"]) for v in votes)
    rows = [
        [one, other, found[one, other, "a"], found[one, other, "b"]]
        for one in ARMS for other in ARMS if one != other
    ]  # fmt: skip
    return rows_of(rows, names)


def wide(votes, name, a, b, tie, *, third=()):
    """Return a table with a column per pair, one row for each judge of all pairs; and its votes."""
    pairs = [(x, y) for i, x in enumerate(ARMS) for y in ARMS[i + 1 :]]
    rng = random.Random(11)
    words = {"a": a, "b": b, "tie": tie}
    made, rows = [], []
    for k in range(12):
        row = [f"R_{k}a"]
        for x, y in pairs:
            won = rng.choice(["a", "a", "b", "tie"] if tie is not None else ["a", "a", "b"])
            made.append({"left": x, "right": y, "won": won})
            word = words[won]
            row.append(word.format(x=x, y=y))
        rows.append(row)
    names = ["ResponseId", *(name.format(x=x, y=y) for x, y in pairs)]
    return rows_of([*third, *rows], names), made


def code(label):
    """Return the code of a sample, as panels have it in place of a name."""
    return str(100 + 7 * ARMS.index(label))


def renamed(votes, name):
    """Return votes with other names of the arms."""
    return [v | {"left": name(v["left"]), "right": name(v["right"])} for v in votes]


def mushra():
    """Return a table of ratings of all arms in each trial of each listener; and its votes."""
    rng = random.Random(5)
    rows, made = [], []
    for k in range(6):
        for trial in ("speech", "music"):
            ratings = {arm: rng.choice([40, 60, 80]) for arm in ARMS}
            rows += [["t1", f"u{k}@example.org", trial, a, r, 9000] for a, r in ratings.items()]
            for i, one in enumerate(ARMS):
                for other in ARMS[i + 1 :]:
                    gap = ratings[one] - ratings[other]
                    won = "tie" if gap == 0 else "a" if gap > 0 else "b"
                    made.append({"left": one, "right": other, "won": won})
    names = ["session_test_id", "email", "trial_id", "rating_stimulus", "rating_score",
             "rating_time"]  # fmt: skip
    return rows_of(rows, names), made


QUALTRICS = wide(TIED, "{x} vs {y}", "{x}", "{y}", "No preference")
FORMS = wide(TIED, "Which one do you prefer? [{x} vs. {y}]", "{x}", "{y}", "Equal")
MUSHRA = mushra()
PREFMOD = wide(TIED, "{x}:{y}", "1", "-1", "0")

# name: (file, text, the votes it was made from, options, advice).
# The advice is what the message of the file without the options should say; "" where it is read.
RIGHT = {
    "label studio, JSON": (
        "ls.json", json.dumps([label_studio(v) for v in TIED]), TIED, {}, ""),
    "label studio, JSON-MIN": (
        "min.json",
        json.dumps([{"id": v["k"], "model_left": v["left"], "model_right": v["right"],
                     "text1": text_a(v), "text2": text_b(v), "comparison":
                     says("left", "right")(v), "annotator": v["judge"], "annotation_id": v["k"],
                     "created_at": "2024-05-01T10:00:00Z", "lead_time": 2.5} for v in STRICT]),
        STRICT, {}, ""),
    "label studio, CSV": (
        "ls.csv",
        table(STRICT, annotation_id=number, annotator=judge, created_at=always(
            "2024-05-01T10:00:00.1Z"), id=number, lead_time=always("7.25"), model_a=left,
            model_b=right, pw=says("left", "right"), text1=text_a, text2=text_b),
        STRICT, {"outcome": "pw"}, "--outcome pw"),
    "argilla": ("argilla.json", json.dumps([argilla(v) for v in TIED]), TIED, {}, ""),
    "autoarena upload": (
        "h2h.csv",
        table(TIED, response_a_id=left, response_b_id=right, judge_id=judge,
              winner=says("A", "B", "-")),
        TIED, {"means": {"A": "left", "B": "right", "-": "tie"}},
        "--means 'A=left,B=right,-=\\?'"),
    "arena 2023": (
        "arena.jsonl",
        lines(TIED, lambda v: {"question_id": f"q{v['k']}", "model_a": v["left"],
                               "model_b": v["right"], "winner": says(tie="tie (bothbad)")(v),
                               "judge": v["judge"], "turn": 1, "anony": True,
                               "language": "English", "tstamp": 1682351591.1 + v["k"],
                               "conversation_a": [{"role": "user", "content": "x"}],
                               "conversation_b": [{"role": "user", "content": "x"}]}),
        TIED, {}, ""),
    "arena 2025": (
        "arena25.jsonl",
        lines(TIED, lambda v: {"id": f"q{v['k']}", "model_a": v["left"], "model_b": v["right"],
                               "winner": says(tie="both_bad")(v), "evaluation_order": 1,
                               "evaluation_session_id": f"s{v['k']}", "language": "en",
                               "is_code": False, "timestamp": "2025-06-03 11:10:00",
                               "conv_metadata": {"sum_assistant_a_tokens": 100 + v["k"],
                                                 "sum_assistant_b_tokens": 120,
                                                 "header_count_a": {"h1": 1}, "header_count_b":
                                                 {"h1": 0}, "list_count_a": {"ordered": 1},
                                                 "list_count_b": {"ordered": 2}, "bold_count_a":
                                                 {"**": 1}, "bold_count_b": {"**": 3}}}),
        TIED, {}, ""),
    "arena, kaggle": (
        "kaggle.csv",
        table(TIED, id=number, model_a=left, model_b=right, prompt=always("[\"p\"]"),
              response_a=text_a, response_b=text_b, winner_model_a=says(1, 0, 0),
              winner_model_b=says(0, 1, 0), winner_tie=says(0, 0, 1)),
        TIED, {}, ""),
    "wsdm cup": (
        "wsdm.csv",
        table(STRICT, id=number, prompt=always("p"), response_a=text_a, response_b=text_b,
              winner=says("model_a", "model_b"), model_a=left, model_b=right,
              language=always("English")),
        STRICT, {}, ""),
    "comparia votes": (
        "comparia.csv",
        table(TIED, id=number, timestamp=always("2025-01-02 10:00:00"), model_a_name=left,
              model_b_name=right, conversation_pair_id=lambda v: f"c{v['k']}",
              chosen_model_name=named(), both_equal=says("False", "False", "True"),
              visitor_id=judge, conv_useful_a=always("True"), conv_useful_b=always("False")),
        TIED, {}, ""),
    "judgelm": (
        "judgelm.jsonl",
        lines(TIED, lambda v: {"question_id": v["k"], "question_body": "q", "answer1_body":
                               text_a(v), "answer2_body": text_b(v), "answer1_model_id": v["left"],
                               "answer2_model_id": v["right"], "score": [v["ga"] + 4, v["gb"] + 4]
                               }),
        TIED, {}, ""),
    "judgelm, two columns": (
        "judgelm.csv",
        table(TIED, question_id=number, answer1_model_id=left, answer2_model_id=right,
              score1=goals_a, score2=goals_b, reference=always("none")),
        TIED, {}, ""),
    "mt-bench pairs": ("pair.jsonl", lines(TIED, mt_bench), twice(TIED), {}, ""),
    "mt-bench people": (
        "human.jsonl",
        lines(TIED, lambda v: {"question_id": v["k"], "model_a": v["left"], "model_b": v["right"],
                               "winner": says(tie="tie")(v), "judge": v["judge"], "turn": 1,
                               "conversation_a": [], "conversation_b": []}),
        TIED, {}, ""),
    "arena-hard": ("hard.jsonl", lines(TIED, arena_hard), twice(TIED), {}, ""),
    "alpaca_eval": (
        "annotations.json",
        json.dumps([{"instruction": f"p{v['k']}", "generator_1": v["left"], "generator_2":
                     v["right"], "output_1": text_a(v), "output_2": text_b(v), "annotator": "gpt",
                     "preference": says(1.0, 2.0, 1.5)(v)} for v in TIED]),
        TIED, {}, ""),
    "safe-rlhf": (
        "pku.jsonl",
        lines(STRICT, lambda v: {"prompt": f"p{v['k']}", "response_0": text_a(v), "response_1":
                                 text_b(v), "prompt_source": "x", "response_0_source": v["left"],
                                 "response_1_source": v["right"], "better_response_id":
                                 says(0, 1)(v), "is_response_0_safe": True,
                                 "is_response_1_safe": v["k"] % 2 == 0}),
        STRICT, {"means": {0: "left", 1: "right"}, "outcome": "better_response_id",
                 "left": "response_0_source", "right": "response_1_source"},
        "--means '0=\\?,1=\\?'"),
    "reward-bench": (
        "rb.jsonl",
        lines(STRICT, lambda v: {"id": v["k"], "prompt": "p", "chosen": text_a(v),
                                 "chosen_model": winner(v), "rejected": text_b(v),
                                 "rejected_model": loser(v), "subset": "s"}),
        STRICT, {}, ""),
    "football-data": (
        "E0.csv",
        table(TIED, Div=always("E0"), Date=slashed, Time=always("20:00"), HomeTeam=left,
              AwayTeam=right, FTHG=goals_a, FTAG=goals_b, FTR=says("H", "A", "D"),
              HTHG=always(0), HTAG=always(0), HTR=always("D"), Referee=always("M Oliver"),
              HS=number, AS=number, B365H=always(2.1)),
        TIED, {}, ""),
    "football-data, years of two digits": (
        "SP1.csv",
        table(TIED, Div=always("SP1"), Date=short, HomeTeam=left, AwayTeam=right, FTHG=goals_a,
              FTAG=goals_b, FTR=says("H", "A", "D"), BWH=always(1.9)),
        TIED, {}, ""),
    "football-data, new leagues": (
        "ARG.csv",
        table(TIED, Country=always("Argentina"), League=always("Liga"), Season=always("2024"),
              Date=slashed, Time=always("01:00"), Home=left, Away=right, HG=goals_a, AG=goals_b,
              Res=says("H", "A", "D"), PSCH=always(2.2)),
        TIED, {}, ""),
    "international results": (
        "results.csv",
        table(TIED, date=iso, home_team=left, away_team=right, home_score=goals_a,
              away_score=goals_b, tournament=always("Friendly"), city=always("X"),
              country=always("Y"), neutral=says("TRUE", "FALSE", "FALSE")),
        TIED, {}, ""),
    "atp matches": (
        "atp.csv",
        table(STRICT, tourney_id=always("2024-339"), tourney_name=always("Brisbane"),
              surface=always("Hard"), draw_size=always(32), tourney_date=always("20240101"),
              match_num=number, winner_id=lambda v: 100 + ARMS.index(winner(v)),
              winner_seed=always(""),
              winner_name=winner, winner_hand=always("R"), winner_age=always(24.1),
              loser_id=lambda v: 100 + ARMS.index(loser(v)), loser_seed=always(""),
              loser_name=loser, loser_hand=always("L"), loser_age=always(27.9),
              score=always("6-4 6-3"), best_of=always(3), minutes=number,
              winner_rank=number, loser_rank=number),
        STRICT, {}, ""),
    "tennis-data": (
        "wta.csv",
        table(STRICT, WTA=always(1), Location=always("Rome"), Date=dotted, Surface=always("Clay"),
              Winner=winner, Loser=loser, WRank=number, LRank=number, W1=always(6),
              L1=always(4), Comment=always("Completed"), B365W=always(1.4), B365L=always(2.7)),
        STRICT, {}, ""),
    "ncaa": (
        "ncaa.csv",
        table(STRICT, Season=always(2024), DayNum=number, WTeamID=winner,
              WScore=lambda v: 70 + max(v["ga"], v["gb"]), LTeamID=loser,
              LScore=lambda v: 70 + min(v["ga"], v["gb"]),
              WLoc=always("N"), NumOT=always(0)),
        STRICT, {}, ""),
    "lichess": (
        "lichess.csv",
        table(TIED, id=number, rated=always("TRUE"), created_at=always("1504210000000"),
              turns=number, victory_status=always("mate"), winner=says("white", "black", "draw"),
              increment_code=always("15+2"), white_id=left, white_rating=always(1500),
              black_id=right, black_rating=always(1520), moves=always("e4 e5"),
              opening_eco=always("C20")),
        TIED, {}, ""),
    "pgn": (
        "games.csv",
        table(TIED, Event=always("Open"), Site=always("Paris"), Date=lambda v: iso(v).replace(
            "-", "."), Round=number, White=left, Black=right, Result=says(
            "1-0", "0-1", "1/2-1/2"), WhiteElo=always(2400), BlackElo=always(2410),
            ECO=always("B12")),
        TIED, {}, ""),
    "whole-history rating": (
        "go.csv",
        table(STRICT, black=left, white=right, winner=says("B", "W"), time_step=number,
              handicap=always(0)),
        STRICT, {}, ""),
    "nba game log": (
        "nba.csv",
        two_rows(STRICT, nba, ["GAME_ID", "GAME_DATE", "TEAM_NAME", "MATCHUP", "WL", "PTS"]),
        STRICT, {}, ""),
    "fivethirtyeight elo": (
        "elo.csv",
        table(STRICT, date=iso, season=always(2020), neutral=always(0), playoff=always(""),
              team1=left, team2=right, elo1_pre=always(1500.1), elo2_pre=always(1490.2),
              elo_prob1=always(0.6), elo_prob2=always(0.4), score1=goals_a, score2=goals_b),
        STRICT, {}, ""),
    "potato": (
        "potato.tsv",
        table(STRICT, "\t", user=judge, instance_id=number, model_a=left, model_b=right,
              displayed_text=text_a, preference=says("A", "B")),
        STRICT, {}, ""),
    "gavel": (
        "decisions.csv",
        rows_of([[v["judge"], winner(v), loser(v), f"{iso(v)} 10:00:00.5"] for v in STRICT],
                ["Annotator ID", "Winner ID", "Loser ID", "Time"]),
        STRICT, {}, ""),
    "qualtrics": ("qualtrics.csv", *QUALTRICS, {}, ""),
    "google forms": ("forms.csv", *FORMS, {}, ""),
    "prefmod": ("prefmod.csv", *PREFMOD, {}, ""),
    "prolific": (
        "prolific.csv",
        table(STRICT, PROLIFIC_PID=judge, STUDY_ID=always("s1"), SESSION_ID=number,
              trial_index=number, stimulus_left=left, stimulus_right=right,
              response=says("f", "j"), rt=always(812)),
        STRICT, {"outcome": "response", "means": {"f": "left", "j": "right"}}, "outcome"),
    "jspsych": (
        "jspsych.csv",
        table(STRICT, trial_type=always("image-button-response"), participant=judge,
              left_image=left, right_image=right, response=says("left", "right"),
              rt=lambda v: 500.5 + v["k"]),
        STRICT, {"outcome": "response"}, "--outcome response"),
    "conjoint of two": (
        "conjoint.csv",
        rows_of([row for v in STRICT for row in (
            [v["judge"], v["k"], 1, v["left"], says(1, 0)(v)],
            [v["judge"], v["k"], 2, v["right"], says(0, 1)(v)])],
            ["respondent", "task", "profile", "brand", "chosen"]),
        STRICT, {}, ""),
    "sensory": (
        "sensory.csv",
        rows_of([[v["judge"], v["left"], v["right"], named()(v)] for v in STRICT],
                ["Panelist", "Product 1", "Product 2", "Preferred"]),
        STRICT, {}, ""),
    "sensory, code of the sample": (
        "codes.csv",
        rows_of([[v["judge"], code(v["left"]), code(v["right"]), code(named()(v))] for v in STRICT],
                ["assessor", "sample_1", "sample_2", "preferred"]),
        renamed(STRICT, code), {}, ""),
    "webmushra": ("mushra.csv", *MUSHRA, {}, ""),
    "cmos": (
        "cmos.csv",
        table(TIED, listener=judge, system_a=left, system_b=right,
              cmos=lambda v: v["ga"] - v["gb"]),
        TIED, {"outcome": "cmos", "coding": "grades"}, "--coding grades"),
    "citations": (
        "citations.csv",
        counted(STRICT, lambda a, b, m, n, t: [a, b, m, n], ["player1", "player2", "win1", "win2"]),
        STRICT, {}, ""),
    "baseball": (
        "baseball.csv",
        by_sides(STRICT, ["home.team", "away.team", "home.wins", "away.wins"]), STRICT, {}, ""),
    "pudding": (
        "pudding.csv",
        counted(TIED, lambda a, b, m, n, t: [a, b, m + n + t, m, n, t],
                ["i", "j", "r_ij", "w_ij", "w_ji", "t_ij"]),
        TIED, None, "--left and --right"),
    "icehockey": (
        "icehockey.csv",
        table(TIED, date=iso, visitor=left, v_goals=goals_a, opponent=right, o_goals=goals_b,
              conference=always("AH"), result=says("1", "0", "0.5"), home_ice=always("TRUE")),
        TIED, {}, ""),
    "title lines": (
        "title.csv",
        table(TIED, before=["Tasting of May 2024,,,", ",,,"], judge=judge, product_a=left,
              product_b=right, winner=named("tie")),
        TIED, None, "line 1: should be the header line, .*line 3 may be it"),
    "semicolons and a mark of the byte order": (
        "bom.csv",
        "\ufeff" + table(TIED, ";", Juror=judge, Produkt_A=left, Produkt_B=right,
                         Gewinner=says("A", "B", "Unentschieden")),
        TIED, {}, ""),
    "decimal commas": (
        "komma.csv",
        table(TIED, ";", Datum=dotted, Heim=left, Gast=right, Punkte_Heim=lambda v:
              f"{v['ga'] + 0.5:.1f}".replace(".", ","), Punkte_Gast=lambda v:
              f"{v['gb'] + 0.5:.1f}".replace(".", ",")),
        TIED, {}, ""),
    "percent": (
        "percent.csv",
        counted(STRICT, lambda a, b, m, n, t: [a, b, f"{100 * m / (m + n):.0f}%", m + n],
                ["model_a", "model_b", "win_rate", "n"]),
        STRICT, {}, ""),
    "signs for thousands": (
        "thousands.csv",
        counted(STRICT, lambda a, b, m, n, t: [a, b, f"{1000 * m:,}", f"{1000 * n:,}"],
                ["model_a", "model_b", "wins_a", "wins_b"]),
        [v for v in STRICT for _ in range(1000)], {"decimal": "."}, "--decimal '\\.'"),
    "a total at the end": (
        "total.csv",
        table(TIED, after=["Total,,60,"], product_a=left, product_b=right, winner=named("tie"),
              comment=always("")),
        TIED, {"on_bad": "skip"}, "line 62.*--on-bad skip"),
    "empty lines and columns": (
        "empty.csv",
        table(TIED, ";", after=[";;;;", ";;;;"], Team1=left, Team2=right, Sieger=named("remis"),
              **{"": always(""), " ": always("")}),
        TIED, {}, ""),
    "index of pandas": (
        "index.csv",
        rows_of([[v["k"], v["left"], v["right"], says("A", "B", "tie")(v)] for v in TIED],
                ["Unnamed: 0", "Model A", "Model B", "Better"]),
        TIED, {}, ""),
    "one column for the match": (
        "match.csv",
        table(TIED, match=lambda v: f"{v['left']} vs {v['right']}", winner=named("draw")),
        TIED, {}, ""),
    "one column for the match and its score": (
        "fixture.csv",
        table(TIED, date=iso, fixture=lambda v: f"{v['left']} - {v['right']}",
              score=lambda v: f"{v['ga']}:{v['gb']}"),
        TIED, {}, ""),
    "spanish league": (
        "liga.csv",
        table(TIED, ";", fecha=slashed, equipo_local=left, equipo_visitante=right,
              goles_local=goals_a, goles_visitante=goals_b),
        TIED, {}, ""),
    "score in one text": (
        "ergebnisse.csv",
        table(TIED, ";", Datum=dotted, Heim=left, Gast=right, Ergebnis=lambda v:
              f"{v['ga']}:{v['gb']}"),
        TIED, {}, ""),
    "true for the first": (
        "bool.csv",
        table(STRICT, first=left, second=right, first_is_better=says("true", "false")),
        STRICT, {}, ""),
    "several judges in columns": (
        "judges.csv",
        table(STRICT, model_a=left, model_b=right, ann=says("A", "B"), bob=says("A", "B"),
              cyd=says("A", "B")),
        STRICT, {"outcome": "ann"}, "--outcome ann"),
    "letters with a tie": (
        "abc.csv",
        table(TIED, sample_a=left, sample_b=right, choice=says("A", "B", "C"), taster=judge),
        TIED, {"means": {"A": "left", "B": "right", "C": "tie"}},
        "--means 'A=left,B=right,C=\\?'"),
    "numbers of the sides": (
        "onetwo.csv",
        table(STRICT, option1=left, option2=right, selected=says("1", "2"), worker=judge),
        STRICT, {}, ""),
    "russian": (
        "ru.csv",
        table(TIED, ";", Судья=judge, Левый=left, Правый=right, Победитель=named("ничья")),
        TIED, {}, ""),
    "french": (
        "fr.csv",
        table(TIED, ";", juge=judge, produit_gauche=left, produit_droite=right,
              préféré=says("gauche", "droite", "égalité")),
        TIED, {}, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_file_is_read_right_or_asked_about(name, tmp_path, capsys):
    file, text, votes, options, advice = RIGHT[name]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    if advice:
        with command_line(), pytest.raises(ValueError, match=advice) as caught:
            bd.read_duels(path)
        assert str(caught.value).count("\n") == 0
    else:
        bd.read_duels(path)
        said = capsys.readouterr().err
        assert all(line.startswith("read ") for line in said.splitlines())
    if options is not None:
        assert tally_of(bd.read_duels(path, **options)) == tallied(votes)


def test_lines_above_the_header_can_be_deleted(tmp_path):
    file, text, votes, *_ = RIGHT["title lines"]
    path = tmp_path / file
    path.write_text(text.split("\n", 2)[2], encoding="utf-8")
    assert tally_of(bd.read_duels(path)) == tallied(votes)
