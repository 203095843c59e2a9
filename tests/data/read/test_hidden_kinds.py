"""Further kinds of files: read right, or refused with advice that then reads them right.

A case has a file, the points that its list of duels (or orders) has, and the options by which the
message of a refusal is followed; the message says each of them. Nothing of the reader is used for
what is right.
"""

import json
import random
import shlex
from itertools import combinations

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.read.rankings import rankings_in
from tests.support.kinds import (
    ARMS,
    STRENGTH,
    STRICT,
    TIED,
    ahead,
    first_of,
    loser,
    points,
    points_read,
    rows,
    says,
    score,
    table,
    winner,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ORDERS = [
    sorted(ARMS, key=lambda arm, k=k: -STRENGTH[arm] + random.Random(f"{k}{arm}").gauss(0, 1.2))
    for k in range(24)
]
SHOWN = [random.Random(k).sample(order, 4) for k, order in enumerate(ORDERS)]
WHOLE = ahead([[[arm] for arm in order] for order in ORDERS])
BEST = ahead([[order[:1], order[1:]] for order in ORDERS])
ENDS = ahead([[order[:1], order[1:3], order[3:]] for order in ORDERS])


def of_places(names, sep=",", judge=True):
    head = ["judge"] if judge else []
    body = [[*([f"j{k % 6}"] if judge else []), *order] for k, order in enumerate(ORDERS)]
    return rows([*head, *names], body, sep)


def of_shown(names, best, ends=("winner",)):
    """Return a table of the arms that were shown and of the best, as `best` says it."""
    body = [
        [f"r{k % 6}", *shown, *(best(shown, arm) for arm in (order[0], order[-1])[: len(ends)])]
        for k, (shown, order) in enumerate(zip(SHOWN, ORDERS, strict=True))
    ]
    return rows(["respondent", *names, *ends], body)


def wmt(absent):
    """Return ranks beside the names of systems; of every third segment one has no rank."""
    body, orders = [], []
    for k, (shown, order) in enumerate(zip(SHOWN, ORDERS, strict=True)):
        lost = shown[3] if k % 3 == 0 else None
        ranks = {arm: absent if arm == lost else order.index(arm) + 1 for arm in shown}
        body.append([f"seg{k}", f"ann{k % 3}", *(x for arm in shown for x in (arm, ranks[arm]))])
        orders.append([[arm] for arm in order if arm != lost])
    names = [name for k in range(1, 5) for name in (f"system{k}Id", f"system{k}rank")]
    return rows(["segmentId", "judgeID", *names], body), ahead(orders)


def rated():
    """Return ratings (judge, item, system, rating), and the points of their pairs."""
    rng = random.Random(4)
    body, votes = [], []
    for k in range(24):
        ratings = {arm: rng.randint(1, 5) for arm in ARMS}
        body += [[f"l{k % 8}", f"utt{k // 8}", arm, rating] for arm, rating in ratings.items()]
        for a, b in combinations(ARMS, 2):
            gap = ratings[a] - ratings[b]
            votes.append({"a": a, "b": b, "w": "t" if gap == 0 else "a" if gap > 0 else "b"})
    return body, points(votes)


RATED, RATINGS = rated()
PAIRS = points(STRICT)
MET = [(a, b, PAIRS.get((a, b), 0.0), PAIRS.get((b, a), 0.0)) for a, b in combinations(ARMS, 2)]


def turned(found):
    return {(b, a): n for (a, b), n in found.items()}


def two_rows(v):
    return [[v["k"], v["a"], v["b"], v["ga"], v["gb"]], [v["k"], v["b"], v["a"], v["gb"], v["ga"]]]


def lines(votes, made):
    return "".join(json.dumps(made(v)) + "\n" for v in votes)


SIDES_OF_SPORT = {  # both columns, the result, its form
    "spanish": ("Local", "Visitante", "Resultado", "{}-{}"),
    "portuguese": ("Mandante", "Visitante", "Placar", "{} x {}"),
    "italian": ("Casa", "Ospite", "Risultato", "{}-{}"),
    "german, half-time": ("Heim", "Gast", "Ergebnis", "{}:{} ({}:0)"),
    "dutch": ("Thuis", "Uit", "Uitslag", "{}-{}"),
    "russian": ("Хозяева", "Гости", "Счёт", "{}:{}"),
    "chinese": ("主队", "客队", "比分", "{}-{}"),
    "japanese": ("ホーム", "アウェイ", "スコア", "{}-{}"),
    "polish": ("Gospodarz", "Gość", "Wynik", "{}:{}"),
}
PLACES = {
    "numbers": ("1", "2", "3", "4"),
    "best and worst": ("best", "second", "third", "worst"),
    "best, 2nd": ("Best", "2nd", "3rd", "Worst"),
    "german": ("Platz 1", "Platz 2", "Platz 3", "Platz 4"),
    "choices": ("1st choice", "2nd choice", "3rd choice", "4th choice"),
    "words": ("first place", "second place", "third place", "fourth place"),
    "top": ("top1", "top2", "top3", "top4"),
}
WORDS_OF_DEBATES = [("Proposition", "Opposition", "Prop", "Opp"), ("Aff", "Neg", "Aff", "Neg"),
                    ("government", "opposition", "government", "opposition"),
                    ("Pro", "Con", "Pro", "Con")]  # fmt: skip
# name: (text, points, what the message says, options that follow it); () where it is read
CASES = {
    **{f"sport, {name}": (
        table(TIED, ";", **{a: "a", b: "b", c: score(form)}), points(TIED), (), ())
       for name, (a, b, c, form) in SIDES_OF_SPORT.items()},
    "sport, french goals": (
        table(TIED, ";", **{"Équipe domicile": "a", "Équipe extérieur": "b", "Buts domicile": "ga",
                            "Buts extérieur": "gb"}), points(TIED), (), ()),
    "sport, swedish goals": (
        table(TIED, ";", Hemmalag="a", Bortalag="b", Hemmamål="ga", Bortamål="gb"),
        points(TIED), (), ()),
    "sport, goals by letters": (
        table(TIED, ";", Heimmannschaft="a", Gastmannschaft="b", Tore_H="ga", Tore_G="gb"),
        points(TIED), (), ()),
    "pools 1X2": (
        table(TIED, ";", Casa="a", Ospite="b", Segno=says("1", "2", "X")), points(TIED), (), ()),
    "pools 102": (
        table(TIED, ";", Heim="a", Gast="b", Tipp=says("1", "2", "0")), points(TIED),
        ("'0=?,1=?,2=?'",), ("--means", "0=tie,1=left,2=right")),
    **{f"debate, {a} {k}": (table(STRICT, **{a: "a", b: "b", "Winner": says(x, y)}), PAIRS, (), ())
       for k, (a, b, x, y) in enumerate(WORDS_OF_DEBATES)},
    **{f"places, {name}": (of_places(names), WHOLE, (), ()) for name, names in PLACES.items()},
    "places alone": (of_places(PLACES["numbers"], judge=False), WHOLE, (), ()),
    "medals": (
        rows(["event", "gold", "silver", "bronze"],
             [[k, *order[:3]] for k, order in enumerate(ORDERS)]),
        ahead([[[arm] for arm in order[:3]] for order in ORDERS]), (), ()),
    "orders under any name": (
        rows(["ballot"], [[" > ".join(order)] for order in ORDERS]), WHOLE, (), ()),
    "best of shown": (
        of_shown([f"system_{k}" for k in range(1, 5)], lambda shown, arm: arm), BEST, (), ()),
    "best of shown, its column": (
        of_shown([f"system_{k}" for k in range(1, 5)],
                 lambda shown, arm: f"system_{shown.index(arm) + 1}"), BEST, (), ()),
    "best of shown, its number": (
        of_shown([f"system_{k}" for k in range(1, 5)],
                 lambda shown, arm: shown.index(arm) + 1), BEST, (), ()),
    "best of shown, its letter": (
        of_shown([f"option_{k}" for k in "abcd"],
                 lambda shown, arm: "ABCD"[shown.index(arm)], ("choice",)), BEST, (), ()),
    "best and worst of shown": (
        of_shown([f"item{k}" for k in range(1, 5)], lambda shown, arm: arm, ("best", "worst")),
        ENDS, (), ()),
    "best and worst of shown, numbers": (
        of_shown([f"item{k}" for k in range(1, 5)],
                 lambda shown, arm: shown.index(arm) + 1, ("best", "worst")), ENDS, (), ()),
    "wmt": (*wmt(""), (), ()),
    "wmt, -1": (*wmt(-1), (), ()),
    "scores that are permutations": (
        rows(["prompt", *(f"score_{arm}" for arm in ARMS)],
             [[k, *(4 - order.index(arm) for arm in ARMS)] for k, order in enumerate(ORDERS)]),
        {(f"score_{a}", f"score_{b}"): n for (a, b), n in WHOLE.items()},
        ("--shape ranks", "--shape scores"), ("--shape", "scores")),
    "mos": (rows(["listener", "utterance", "system", "MOS"], RATED), RATINGS, (), ()),
    "mos, ids": (rows(["listener_id", "stimulus_id", "system", "rating"], RATED), RATINGS, (), ()),
    "hackathon": (
        rows(["judge", "project", "design", "total"],
             [[who + item, arm, 3, n] for who, item, arm, n in RATED]), RATINGS, (), ()),
    "error rates": (
        rows(["utt", "system", "wer"], [[who + item, arm, n] for who, item, arm, n in RATED]),
        turned(RATINGS), ("--lower-is-better", "--shape scores"), ("--lower-is-better",)),
    "latencies": (
        rows(["task", *(f"latency_{arm}" for arm in ARMS)],
             [[k, *(4 - RATED[4 * k + j][3] + 0.5 for j in range(4))] for k in range(24)]),
        {(f"latency_{a}", f"latency_{b}"): n for (a, b), n in RATINGS.items()},
        ("--lower-is-better", "--shape scores"), ("--lower-is-better",)),
    "loser's name": (
        table(STRICT, player1="a", player2="b", loser=loser), PAIRS, (), ()),
    "rejected name": (
        table(STRICT, model_a="a", model_b="b", rejected=loser), PAIRS, (), ()),
    "the worse side": (
        table(STRICT, model_a="a", model_b="b", worse=says("B", "A")), PAIRS,
        ("--outcome worse",), ("--outcome", "worse")),
    "right won": (table(STRICT, left="a", right="b", right_better=says(0, 1)), PAIRS, (), ()),
    "b wins": (
        table(STRICT, model_a="a", model_b="b", b_wins=says("False", "True")), PAIRS, (), ()),
    "a wins": (table(STRICT, a="a", b="b", a_wins=says("True", "False")), PAIRS, (), ()),
    "away won": (
        table(STRICT, home_team="a", away_team="b", away_win=says("no", "yes")), PAIRS, (), ()),
    "share of the right": (
        rows(["model_a", "model_b", "win_rate_b", "n"],
             [[a, b, n / (m + n), int(m + n)] for a, b, m, n in MET]), PAIRS,
        ("--left model_b --right model_a",), ("--left", "model_b", "--right", "model_a")),
    "winner, loser and a draw": (
        table(TIED, Winner=first_of, Loser=lambda v: v["b"] if first_of(v) == v["a"] else v["a"],
              Draw=says("0", "0", "1")), points(TIED), (), ()),
    "bye, german": (
        table(TIED, ";", [["Ajax", "Freilos", "A"]], Spieler_A="a", Spieler_B="b",
              Sieger=says("A", "B", "Remis")), points(TIED), (), ()),
    "marks": (
        table(TIED, model_a="a", model_b="b", **{"A better": says("x", "", ""), "B better":
              says("", "x", ""), "Tie": says("", "", "x")}), points(TIED), (), ()),
    "half": (table(TIED, wine_a="a", wine_b="b", better=says("A", "B", "½")), points(TIED), (), ()),
    "a tie is blank": (
        table(TIED, wine_a="a", wine_b="b", better=says("A", "B", "")), points(TIED),
        ("A=left,B=right,=none", "A=left,B=right,=tie"), ("--means", "A=left,B=right,=tie")),
    "a tie is blank beside names": (
        table(TIED, wine_a="a", wine_b="b", better=winner()), points(TIED),
        ("--means =none", "--means =tie"), ("--means", "=tie")),
    "a tie is a dash": (
        table(TIED, wine_a="a", wine_b="b", better=winner("-")), points(TIED),
        ("'-=?'",), ("--means", "-=tie")),
    "sentences": (
        table(TIED, model_a="a", model_b="b", feedback=says("I prefer A", "I prefer B",
              "Can't decide")), points(TIED), ("--outcome feedback",),
        ("--outcome", "feedback", "--means", "I prefer A=left,I prefer B=right,Can't decide=tie")),
    "keys": (
        table(STRICT, subject="j", image_left="a", image_right="b", key=says(
            "ArrowLeft", "ArrowRight")), PAIRS, ("--outcome key",), ("--outcome", "key")),
    "percent, comma": (
        rows(["Modell_A", "Modell_B", "Anteil_A", "n"],
             [[a, b, f"{100 * m / (m + n):.9f} %".replace(".", ","), int(m + n)]
              for a, b, m, n in MET], ";"), PAIRS, ("--outcome Anteil_A",),
        ("--outcome", "Anteil_A")),
    "votes for each": (
        rows(["model_a", "model_b", "votes_a", "votes_b"],
             [[a, b, int(m), int(n)] for a, b, m, n in MET]), PAIRS, (), ()),
    "half points of opinion": (
        table(TIED, sys_a="a", sys_b="b", CMOS=lambda v: (v["ga"] - v["gb"]) / 2), points(TIED),
        ("--margin CMOS",), ("--margin", "CMOS")),
    "times of both": (
        table(STRICT, runner_a="a", runner_b="b", time_a="gb", time_b="ga"), PAIRS,
        ("--margin time_a,time_b", "--lower-is-better"),
        ("--margin", "time_a,time_b", "--lower-is-better")),
    "places of both": (
        table(TIED, model_a="a", model_b="b", rank_a=says(1, 2, 1), rank_b=says(2, 1, 1)),
        points(TIED), ("--margin rank_a,rank_b", "--lower-is-better"),
        ("--margin", "rank_a,rank_b", "--lower-is-better")),
    "win of a model": (
        table(STRICT, model="a", opponent="b", win=says(1, 0)), PAIRS, (), ()),
    "two rows of goals": (
        rows(["match", "team", "venue", "gf", "ga"],
             [[row[0], row[1], "HA"[k], *row[3:]] for v in TIED for k, row in
              enumerate(two_rows(v))]), points(TIED), ("--shape",), ("--shape", "matches")),
    "standings": (
        rows(["team", "won", "lost"], [[arm, 5, 3] for arm in ARMS]), None,
        ("who met whom is missing",), ()),
    "matrix of halves": (
        rows(["", *ARMS], [[a, *(0 if a == b else points(TIED).get((a, b), 0) for b in ARMS)]
                           for a in ARMS]), None, ("wins_a, wins_b and ties",), ()),
    "objects.jsonl": (
        lines(TIED, lambda v: {"pair": {"left": v["a"], "right": v["b"]}, "vote": {
            "winner": says("left", "right", "tie")(v), "user": v["j"]}}), points(TIED), (), ()),
    "list of objects.json": (
        json.dumps({"votes": [{"model_a": v["a"], "model_b": v["b"],
                               "winner": says("model_a", "model_b", "tie")(v)} for v in TIED]}),
        points(TIED), (), ()),
    "pairs of names.jsonl": (
        lines(TIED, lambda v: {"models": [v["a"], v["b"]], "winner": winner("tie")(v)}),
        points(TIED), (), ()),
    "pairs and an index.jsonl": (
        lines(STRICT, lambda v: {"models": [v["a"], v["b"]], "winner": says(0, 1)(v)}), PAIRS,
        ("'0=?,1=?'",), ("--means", "0=left,1=right")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_kind_is_read_right_or_its_advice_works(name, tmp_path):
    text, right, advice, options = CASES[name]
    path = tmp_path / (name if "." in name else "log.csv")
    path.write_text(text, encoding="utf-8")
    words = ["read", str(path), "-o", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code != 0) == bool(advice), done.output
    assert all(part in done.output for part in advice), done.output
    shown = done.stdout.partition("\nrole")[2].splitlines()
    assert all(len(line) <= 80 for line in shown), done.stdout  # as a terminal is wide
    if right is None:
        return
    again = CliRunner().invoke(main, [*words, *options]) if options else done
    assert again.exit_code == 0, again.output
    pairs = {pair: pytest.approx(n, abs=1e-5) for pair, n in right.items()}
    ranked = None if options else rankings_in(path)
    if ranked is not None:
        assert points_read(ranked) == pairs
    else:
        assert points_read(bd.read_duels(tmp_path / "out.csv")) == pairs


def test_means_of_a_value_with_a_quote_is_quoted_for_a_shell(tmp_path):
    text = CASES["sentences"][0]
    path = tmp_path / "log.csv"
    path.write_text(text)
    done = CliRunner().invoke(main, ["read", str(path), "--outcome", "feedback"])
    line = done.output.partition("--means ")[2].partition(" (and ")[0]
    (word,) = shlex.split(line)
    assert word == "I prefer A=left,I prefer B=right,Can't decide=?"


@pytest.mark.parametrize("names", [("team", "opponent", "gf", "ga"), ("a", "b", "x_a", "x_b")])
def test_duels_that_stand_there_twice_are_told(names, tmp_path, capsys):
    """Where columns are named, no shape is looked for; that all counts agree is said."""
    path = tmp_path / "log.csv"
    path.write_text(rows(["k", *names], [row for v in TIED for row in two_rows(v)]))
    left, right, *both = names
    log = bd.read_duels(path, left=left, right=right, margin=tuple(both))
    said = capsys.readouterr().err
    assert "counts twice (shape='matches' counts it once)" in said
    assert log.n_duels == 2 * len(TIED)
    bd.read_duels({"left": ["a", "b"] * 9, "right": ["b", "a"] * 9, "outcome": [1, 1, 0] * 6})
    assert "counts twice" not in capsys.readouterr().err


@pytest.mark.parametrize("column", ["loser", "right_better", "worse"])
def test_a_batch_is_read_as_who_lost_too(column, tmp_path):
    made = {"loser": loser, "right_better": says("0", "1"), "worse": says("B", "A")}[column]
    frame = {"left": [v["a"] for v in STRICT], "right": [v["b"] for v in STRICT],
             column: [made(v) for v in STRICT]}  # fmt: skip
    log = bd.read_duels(frame, outcome=column)
    assert points_read(log) == PAIRS
    batch = {name: values[:1] for name, values in frame.items()}
    assert points_read(bd.read_duels(batch, like=log)) == points(STRICT[:1])
