"""Kinds of files of A/B tests, tastings, speech tests, juries and leagues, five or more of each.

A file is read right, or refused with advice that reads it right. What is right is counted from the
list of duels itself.
"""

import random
from itertools import combinations

import pandas as pd
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
CODES = dict(zip(ARMS, ("412", "791", "587", "634"), strict=True))
CODED = [{**v, "a": CODES[v["a"]], "b": CODES[v["b"]]} for v in STRICT[:6]]


def read(tmp_path, text, *options, name="log.csv"):
    """Return what `bayesduel read` says of a table, and the points of the log that it writes."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    out = tmp_path / "out.csv"
    out.unlink(missing_ok=True)
    done = CliRunner().invoke(main, ["read", str(path), "-o", str(out), *options])
    said = " ".join(done.output.split())
    return said, points_read(bd.read_duels(out)) if done.exit_code == 0 else None


def judged(ends=(1, 10), decimal="."):
    """Return rows of scores (judge, arm, score) and the points of their pairs."""
    rng = random.Random(11)
    body, votes = [], []
    for judge in range(12):
        given = {arm: rng.randint(*ends) + STRENGTH[arm] for arm in ARMS}
        body += [[f"j{judge}", arm, f"{n:g}".replace(".", decimal)] for arm, n in given.items()]
        for a, b in combinations(ARMS, 2):
            gap = given[a] - given[b]
            votes.append({"a": a, "b": b, "w": "t" if gap == 0 else "a" if gap > 0 else "b"})
    return body, points(votes)


SCORES, OF_SCORES = judged()


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (("variant", "visitors", "conversions"), [["A", 1000, 50], ["B", 1020, 66]]),
        (("group", "users", "clicks"), [["control", 900, 9], ["test", 910, 14]]),
        (("Variante", "Besucher", "Konversionen"), [["A", 80, 5], ["B", 82, 6], ["C", 79, 9]]),
        (("date", "ad", "impressions", "clicks"), [["2026-01-01", "x", 9, 1],
                                                   ["2026-01-01", "y", 8, 2],
                                                   ["2026-01-02", "x", 9, 3]]),
        (("page", "conversion_rate"), [["old", "4.1%"], ["new", "5.0%"]]),
        (("subject_line", "sent", "opened"), [["Hi", 500, 50], ["Hello", 501, 61]]),
    ],
)  # fmt: skip
def test_counts_of_variants_are_no_duels(names, values, tmp_path):
    said, found = read(tmp_path, rows(names, values))
    assert found is None
    arm = names[1] if names[0] == "date" else names[0]
    assert f"{names[-1]!r} is of each {arm!r} alone, and nobody chose between two of them" in said
    assert "Compare the rates as proportions" in said
    assert "Give a row for each duel" in said


@pytest.mark.parametrize(
    "names",
    [
        ("code_1", "code_2", "preferred"),
        ("sample_1", "sample_2", "preferred"),
        ("Probe A", "Probe B", "Sieger"),
        ("product_left", "product_right", "chosen_product"),
        ("tasse", "autre_tasse", "choisie"),  # no names of sides
        ("first served", "then", "liked more"),
    ],
)
def test_codes_of_products_are_arms_where_a_column_names_one_of_each_row(names, tmp_path):
    left, right, won = names
    text = table(CODED, panelist="j", **{left: "a", right: "b", won: winner()})
    said, found = read(tmp_path, text)
    assert found == points(CODED)
    assert f"left={left}, right={right}, outcome={won}" in said


@pytest.mark.parametrize("best", [max, min])
@pytest.mark.parametrize("names", [("run_1", "run_2", "kept"), ("try_a", "try_b", "top")])
def test_the_larger_of_two_numbers_is_no_choice_of_arms(names, best, tmp_path):
    numbers = [[a, b, best(a, b)] for a, b in ((412, 587), (587, 634), (791, 587), (634, 412))]
    assert read(tmp_path, rows(names, numbers))[1] is None


@pytest.mark.parametrize(
    "names",
    [
        ("listener", "item", "system", "score"),
        ("rater", "utterance", "method", "rating"),
        ("subject_id", "sentence_id", "condition", "mos"),
        ("panelist", "sample", "product", "mark"),
        ("juror", "task", "project", "points"),
    ],
)
@pytest.mark.sampled(3)
def test_a_table_of_scores_is_told_in_its_own_words(names, tmp_path):
    body = [[who, f"i{k}", arm, n] for k in range(2) for who, arm, n in SCORES]
    judge, item, model, score = names
    said, found = read(tmp_path, rows(names, body))
    assert found == {pair: 2 * n for pair, n in OF_SCORES.items()}
    own = f"a duel for each pair of {model!r} with a {score!r} of the same {item!r} by the same"
    assert f"{own} {judge!r}; the higher {score!r} wins" in said
    assert f"judge {judge} 12 judges" in said
    assert "left wins (" in said
    for word in ("model_a", "model_b", "prompt", *({"model", "judge"} - {model, judge})):
        assert word not in said.replace("judge " + judge, "").replace("12 judges", "")
    body[5][3] = "good"
    said, found = read(tmp_path, rows(names, body), name="bad.csv")
    assert f"line 7: column {score!r} should be a number, got 'good'" in said


SCORED = {(a, b): (STRICT[5 * i + j]["ga"], STRICT[5 * i + j]["gb"])
          for i, a in enumerate(ARMS) for j, b in enumerate(ARMS) if a != b}  # fmt: skip
RESULTS = points([{"a": a, "b": b, "w": "t" if m == n else "a" if m > n else "b"}
                  for (a, b), (m, n) in SCORED.items()])  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("away", [ARMS, ("AJA", "BRE", "CEL", "DYN")])
@pytest.mark.parametrize(
    ("form", "itself", "head"),
    [
        ("{}-{}", "", "Home \\ Away"),
        ("{}–{}", "—", "club"),
        ("{}:{}", "X", "Heim"),
        ("{} - {}", "***", "team"),
        ("{} x {}", "-", "Mandante"),
    ],
)
def test_a_table_of_results_is_a_match_for_each_cell(away, form, itself, head, tmp_path):
    body = [[a, *(itself if a == b else form.format(*SCORED[a, b]) for b in ARMS)] for a in ARMS]
    said, found = read(tmp_path, rows([head, *away], body))
    assert found == RESULTS
    assert "a table of results" in said


def test_matches_that_are_not_played_yet_are_left_out(tmp_path):
    body = [["Ajax", "", "2-1"], ["Brest", "–", ""]]
    said, found = read(tmp_path, rows(["team", "Ajax", "Brest"], body))
    assert found == {("Ajax", "Brest"): 1}
    assert "no verdict (1 row)" in said


@pytest.mark.parametrize(
    ("left", "right", "column"),
    [
        ("system_x", "system_y", "pref"),
        ("X", "Y", "answer"),
        ("sample X", "sample Y", "preferred"),
        ("stimulus_x", "stimulus_y", "choice"),
        ("voice_X", "voice_Y", "vote"),
    ],
)
@pytest.mark.sampled(3)
def test_x_is_a_side_beside_y(left, right, column, tmp_path):
    made = says("X", "Y", "no preference")
    said, found = read(tmp_path, table(TIED, **{left: "a", right: "b", column: made}))
    assert found == points(TIED), said
    only = [v for v in TIED if v["w"] != "b"]
    said, found = read(
        tmp_path, table(only, **{left: "a", right: "b", "winner": made}), name="x.csv"
    )
    assert found is None or found == points(only)


@pytest.mark.parametrize(
    ("left", "right", "column", "words"),
    [
        ("produit gauche", "produit droite", "préféré", ("gauche", "droite", "aucune préférence")),
        ("Produkt links", "Produkt rechts", "Präferenz", ("links", "rechts", "keine Präferenz")),
        ("muestra izquierda", "muestra derecha", "preferida",
         ("izquierda", "derecha", "sin preferencia")),
        ("campione sinistra", "campione destra", "preferito",
         ("sinistra", "destra", "nessuna preferenza")),
        ("amostra esquerda", "amostra direita", "preferida",
         ("esquerda", "direita", "sem preferência")),
        ("product links", "product rechts", "voorkeur", ("links", "rechts", "geen voorkeur")),
    ],
)  # fmt: skip
@pytest.mark.sampled(3)
def test_no_preference_is_a_tie_in_six_languages(left, right, column, words, tmp_path):
    text = table(TIED, ";", **{left: "a", right: "b", column: says(*words)})
    assert read(tmp_path, text)[1] == points(TIED)


@pytest.mark.parametrize(
    ("left", "right", "column"),
    [
        ("Gobierno", "Oposición", "Ganador"),
        ("Governo", "Oposição", "Vencedor"),
        ("Gouvernement", "Opposition", "Gagnant"),
        ("Regierung", "Opposition", "Sieger"),
        ("Voor", "Tegen", "Winnaar"),
    ],
)
@pytest.mark.sampled(3)
def test_sides_of_debates(left, right, column, tmp_path):
    by_side = table(STRICT, Ronda="k", **{left: "a", right: "b", column: says(left, right)})
    by_name = table(STRICT, Ronda="k", **{left: "a", right: "b", column: winner()})
    assert read(tmp_path, by_side)[1] == points(STRICT)
    assert read(tmp_path, by_name)[1] == points(STRICT)


@pytest.mark.parametrize(
    ("names", "decimal"),
    [
        (("Verkoster", "Wein", "Punkte"), ","),
        (("dégustateur", "vin", "note"), ","),
        (("catador", "vino", "puntuación"), ","),
        (("assaggiatore", "vino", "punteggio"), ","),
        (("taster", "beer", "points"), "."),
    ],
)
def test_scores_of_tastings(names, decimal, tmp_path):
    body, right = judged(decimal=decimal)
    said, found = read(tmp_path, rows(names, body, ";" if decimal == "," else ","))
    assert found == right, said


@pytest.mark.parametrize(
    "names",
    [
        ("Judge", "Team", "Innovation"),
        ("who", "project name", "clarity"),
        ("taster", "bottle", "nose"),
        ("class", "essay", "style"),
        ("panel", "entry title", "impact"),
    ],
)
@pytest.mark.sampled(3)
def test_scores_of_other_names_are_told_by_options_that_the_message_prints(names, tmp_path):
    unit, arm, score = names
    body = [[who, one, n, 3 + k % 5] for k, (who, one, n) in enumerate(SCORES)]
    text = rows([*names, "second"], body)
    said, found = read(tmp_path, text)
    assert found is None
    assert f"{score!r} or 'second' is the score of a {arm!r}" in said
    line = said.partition("--shape scores ")[2].partition(";")[0]
    assert line.startswith("--left ")
    options = ("--shape", "scores", "--left", arm, "--group", unit, "--outcome", score)
    assert read(tmp_path, text, *options)[1] == OF_SCORES
    for name in names:
        assert name in line


@pytest.mark.parametrize("judge", ["taster", "dégustateur", "juror", "rater", "Prüfer"])
@pytest.mark.sampled(3)
def test_columns_of_numbers_may_be_arms(judge, tmp_path):
    given = [dict(zip(ARMS, (n for *_, n in SCORES[k : k + 4]), strict=True))
             for k in range(0, len(SCORES), 4)]  # fmt: skip
    text = rows([judge, *ARMS], [[f"j{k}", *one.values()] for k, one in enumerate(given)])
    said, found = read(tmp_path, text)
    assert found is None
    assert "If each of 'Ajax', 'Brest', 'Celtic' and 'Dynamo' is an arm, use --shape scores" in said
    said, found = read(tmp_path, text, "--shape", "scores")
    assert found == OF_SCORES
    assert f"judge {judge} 12 judges" in said


@pytest.mark.parametrize("column", ["slider", "scale", "rating", "vas", "position on the line"])
@pytest.mark.sampled(3)
def test_a_slider_may_be_a_share_in_percent(column, tmp_path):
    share = [{"a": 20, "b": 80, "t": 50}[v["w"]] + v["k"] % 19 for v in TIED]
    body = [[v["a"], v["b"], n] for v, n in zip(TIED, share, strict=True)]
    text = rows(["image_A", "image_B", column], body)
    said, found = read(tmp_path, text)
    assert found is None
    assert "a share of the left in percent" in said
    assert "--coding percent" in said
    said, found = read(tmp_path, text, "--outcome", column, "--coding", "percent")
    total = sum(n for (a, b), n in found.items())
    assert total == pytest.approx(len(TIED))
    ajax = sum(n if v["a"] == "Ajax" else 100 - n for v, n in zip(TIED, share, strict=True)
               if "Ajax" in (v["a"], v["b"]))  # fmt: skip
    assert sum(n for (a, _), n in found.items() if a == "Ajax") == pytest.approx(ajax / 100)


@pytest.mark.parametrize("judge", ["session_test_id", "who", "place", "run", "heard by"])
@pytest.mark.sampled(3)
def test_scores_that_are_given_twice_are_those_of_several_judges(judge, tmp_path):
    body = [[who, "t1", arm, n] for who, arm, n in SCORES]
    text = rows([judge, "trial_id", "system", "score"], body)
    said, found = read(tmp_path, text)
    assert found is None
    assert "where several judges gave them, say who: --shape scores --judge COLUMN" in said
    said, found = read(tmp_path, text, "--shape", "scores", "--judge", judge)
    assert found == OF_SCORES


@pytest.mark.parametrize(
    ("left", "right", "tie"),
    [
        ("[[A]]", "[[B]]", "[[C]]"),
        ("[[a]]", "[[b]]", "[[c]]"),
        ("[[A]]", "[[B]]", "[[Tie]]"),
        (" [[A]] ", "[[B]]", "[[C]] "),
        ("[[1]]", "[[2]]", "[[tie]]"),
        ("[[A>B]]", "[[B>A]]", "[[A=B]]"),
    ],
)
@pytest.mark.parametrize("names", [("model_a", "model_b", "verdict"), ("A", "B", "judgment")])
def test_verdicts_of_language_models(left, right, tie, names):
    """As MT-Bench asks a judge for them: "[[C]]" is a tie."""
    rows = [("gpt", "llama", left), ("gpt", "qwen", right), ("llama", "qwen", tie)] * 4
    log = bd.read_duels(pd.DataFrame(rows, columns=names))
    wins = pd.DataFrame(log.tally("keep").wins, log.arms, log.arms)
    assert wins.loc["gpt", "llama"] == 4
    assert wins.loc["qwen", "gpt"] == 4
    assert wins.to_numpy().sum() == 8
    assert log.tally("keep").ties.sum() == 8
