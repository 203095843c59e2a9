"""Tables as spreadsheets, tasting panels and tools write them: each kind in several variations."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.read.rankings import rankings_in

DUELS = [  # left, right, who won: a quarter of them for b, and ties
    (left, right, "ab="[k % 7 % 3])
    for k, (left, right) in enumerate([("x", "y"), ("y", "z"), ("z", "x"), ("y", "x")] * 6)
]
SHARES = {"a": 1.0, "b": 0.0, "=": 0.5}


def right_points(duels=DUELS):
    """Return the points of each arm against each other, ties as halves."""
    points = {}
    for left, right, won in duels:
        points[left, right] = points.get((left, right), 0) + SHARES[won]
        points[right, left] = points.get((right, left), 0) + 1 - SHARES[won]
    return points


def points_of(log):
    """Return the points of a log that was read."""
    wins, ties = log.tally()
    points = wins + ties / 2
    return {
        (one, other): points[i, j]
        for i, one in enumerate(log.arms)
        for j, other in enumerate(log.arms)
        if i != j
    }


def written(tmp_path, names, rows, sep=",", ending="csv"):
    """Write a table and return its path."""
    path = tmp_path / f"votes.{ending}"
    lines = [names, *rows]
    path.write_text("".join(sep.join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dash", "‐‑‒–—−－")
@pytest.mark.parametrize("half", ["½", "1/2"])
def test_results_of_chess_with_any_dash(tmp_path, dash, half):
    words = {"a": f"1{dash}0", "b": f"0{dash}1", "=": f"{half}{dash}{half}"}
    rows = [(left, right, words[won]) for left, right, won in DUELS]
    log = bd.read_duels(written(tmp_path, ["White", "Black", "Result"], rows))
    assert points_of(log) == right_points()


SIDED = {
    "preferred_answer": ("model_1", "model_2"),
    "best response": ("Model 1", "Model 2"),
    "winner_text": ("answer_1", "answer_2"),
    "chosen answer": ("option 1", "option 2"),
    "better_answer": ("response1", "response2"),
    "answer_of_winner": ("model_1_answer", "model_2_answer"),
}


@pytest.mark.parametrize("name", SIDED)
def test_of_several_columns_called_like_outcomes_the_one_that_names_sides(tmp_path, name):
    first, second = SIDED[name]
    words = {"a": first, "b": second, "=": "tie"}
    names = ["model_1_name", "model_1_answer", "model_2_name", "model_2_answer", name]
    rows = [
        (left, f"text {k}", right, f"words {k}", words[won])
        for k, (left, right, won) in enumerate(DUELS)
    ]
    log = bd.read_duels(written(tmp_path, names, rows))
    assert points_of(log) == right_points()


LANGUAGES = {
    "French": (["Juge", "Produit gauche", "Produit droit", "Préféré"], "gauche droite égalité"),
    "Polish": (["Oceniający", "Próbka lewa", "Próbka prawa", "Zwycięzca"], "x y remis"),
    "German": (["Proband", "linke Probe", "rechte Probe", "Auswahl"], "links rechts gleich"),
    "Spanish": (
        ["Catador", "Vino izquierdo", "Vino derecho", "Elegido"],
        "izquierda derecha empate",
    ),
    "Italian": (
        ["Assaggiatore", "Vino sinistro", "Vino destro", "Scelta"],
        "sinistra destra pari",
    ),
    "Portuguese": (
        ["Provador", "Café esquerdo", "Café direito", "Escolhido"],
        "esquerda direita empate",
    ),
    "Russian": (["Участник", "Левая проба", "Правая проба", "Лучшая"], "слева справа ничья"),
    "Swedish": (["Bedömare", "Vänster prov", "Höger prov", "Vinnare"], "vänster höger lika"),
    "Japanese": (["評価者", "左", "右", "勝者"], "左 右 引き分け"),
    "Dutch": (["Proever", "links", "rechts", "Winnaar"], "links rechts gelijk"),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.sampled(3)
def test_sides_winners_and_judges_in_several_languages(tmp_path, language, sep):
    names, words = LANGUAGES[language]
    first, second, tie = words.split()
    rows = []
    for k, (left, right, won) in enumerate(DUELS):
        sides = (left, right) if first == "x" else (first, second)
        word = {"a": sides[0], "b": sides[1], "=": tie}[won]
        rows.append((f"p{k % 5}", left, right, word))
    log = bd.read_duels(written(tmp_path, names, rows, sep))
    assert points_of(log) == right_points()
    assert len(log.votes.judges) == 5


REPEATED = {
    "two arms and a winner": (["model_a", "model_b", "winner"], "model_a model_b tie"),
    "of sports": (["home", "away", "result"], "home away draw"),
    "a judge beside": (["judge", "left", "right", "outcome"], "left right tie"),
    "a number beside": (["id", "option_1", "option_2", "preferred"], "1 2 tie"),
    "in French": (["juge", "gauche", "droite", "préféré"], "gauche droite égalité"),
    "with spaces": ([" Model A", "Model B ", "Winner"], "a b tie"),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_a_header_line_that_comes_again_is_no_duel(tmp_path, kind, capfd):
    names, words = REPEATED[kind]
    said = dict(zip("ab=", words.split(), strict=True))
    rows = [(left, right, said[won]) for left, right, won in DUELS]
    if len(names) > 3:
        rows = [(k % 5, *row) for k, row in enumerate(rows)]
    joined = [*rows[:9], names, *rows[9:17], names, *rows[17:]]
    log = bd.read_duels(written(tmp_path, names, joined))
    assert points_of(log) == right_points()
    assert log.reading.left_out[0].understood == "the header line again"
    assert "left out: the header line again (2 rows)" in capfd.readouterr().err


def test_arms_called_like_their_columns_are_arms(tmp_path):
    rows = [("left", "right", "left"), ("left", "right", "right")] * 4
    log = bd.read_duels(written(tmp_path, ["left", "right", "outcome"], rows))
    assert log.n_duels == 8


@pytest.mark.parametrize("own", ["", "-", "–", "x", "n/a", "0", " ", "***"])
def test_a_matrix_of_wins_with_a_sign_in_its_diagonal(tmp_path, own):
    wins = np.array([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    arms = ["p", "q", "r"]
    rows = [[arm, *(own if i == j else wins[i, j] for j in range(3))] for i, arm in enumerate(arms)]
    log = bd.read_duels(written(tmp_path, ["", *arms], rows))
    assert log.tally()[0].tolist() == wins.tolist()


@pytest.mark.parametrize("cell", ["x", "-", "n/a", "7?"])
def test_a_matrix_with_a_sign_beside_its_diagonal_is_no_matrix(tmp_path, cell):
    rows = [["p", "-", 7, 9], ["q", 3, "-", cell], ["r", 1, 4, "-"]]
    with pytest.raises(ValueError, match="no column for left and right"):
        bd.read_duels(written(tmp_path, ["", "p", "q", "r"], rows))


ARMS = ("tea", "coffee", "cocoa", "water")
RANKED = {
    "drinks": ["Panelist", "Drink", "Rank (1 = best)"],
    "wines": ["judge", "wine", "place"],
    "in German": ["Juror", "Getränk", "Platz"],
    "in French": ["juge", "boisson", "classement"],
    "races": ["race_id", "horse", "finish"],
    "in Spanish": ["catador", "bebida", "puesto"],
}


def orders(n=12):
    """Return orders of the arms, the best first."""
    rng = np.random.default_rng(5)
    return [[str(arm) for arm in rng.permutation(ARMS)] for _ in range(n)]


@pytest.mark.parametrize("kind", RANKED)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.sampled(3)
def test_ranks_of_arms_whose_column_is_named_by_what_they_are(tmp_path, kind, reverse):
    rows = [(f"u{u}", arm, k) for u, order in enumerate(orders()) for k, arm in enumerate(order, 1)]
    rows = rows[::-1] if reverse else rows
    log = rankings_in(written(tmp_path, RANKED[kind], rows))
    expected = bd.Rankings.from_orders(orders())
    assert points_of(log.duels) == points_of(expected.duels)


SCORED = {
    "cheeses": ["taster", "cheese", "score"],
    "wines": ["judge", "wine", "points"],
    "in German": ["Juror", "Käse", "Punkte"],
    "prompts": ["prompt", "llm", "rating"],
    "speech": ["listener", "voice", "mos"],
}


@pytest.mark.parametrize("kind", SCORED)
@pytest.mark.sampled(3)
def test_scores_of_arms_whose_column_is_named_by_what_they_are(tmp_path, kind):
    rows = [
        (f"u{u}", arm, 10 - k) for u, order in enumerate(orders()) for k, arm in enumerate(order)
    ]
    log = bd.read_duels(written(tmp_path, SCORED[kind], rows))
    expected = bd.Rankings.from_orders(orders())
    assert points_of(log) == points_of(expected.duels)


LEFT_OPEN = {
    "two columns may name arms": (
        ["judge", "cheese", "country", "score"],
        lambda u, arm, k: (f"u{u}", arm, "it" if k % 2 else "fr", k),
    ),
    "each label once": (
        ["judge", "answer", "score"],
        lambda u, arm, k: (f"u{u}", f"{arm} {u}", k),
    ),
    "an arm twice of a unit": (
        ["judge", "cheese", "score"],
        lambda u, arm, k: (f"u{u // 2}", arm, k),
    ),
    "no unit": (["cheese", "score"], lambda u, arm, k: (arm, k)),
    "numbers alone": (["judge", "cheese", "score"], lambda u, arm, k: (f"u{u}", len(arm), k)),
}


@pytest.mark.parametrize("kind", LEFT_OPEN)
def test_scores_whose_arms_are_in_doubt_are_asked_for(tmp_path, kind):
    names, row = LEFT_OPEN[kind]
    rows = [row(u, arm, k) for u, order in enumerate(orders()) for k, arm in enumerate(order)]
    with pytest.raises(ValueError, match="no column for left and right"):
        bd.read_duels(written(tmp_path, names, rows))


@pytest.mark.parametrize("name", ["PTS", "score", "winner", "Text", "名前"])
def test_of_two_columns_of_one_name_the_message_says_where_and_what_to_do(tmp_path, name):
    names = ["Home", name, "Visitor", name]
    rows = [("x", 1, "y", 2)] * 3
    with pytest.raises(ValueError, match=rf"got '{name}' in columns 2 and 4; give all but one"):
        bd.read_duels(written(tmp_path, names, rows))


POINTS = {
    "ballots": (["ballot", *ARMS], lambda u: u),
    "rows": (["id", *ARMS], lambda u: u),
    "judges": (["judge", *ARMS], lambda u: f"j{u}"),
    "questions": (["question", *ARMS], lambda u: f"q{u}"),
    "races": (["race", *ARMS], lambda u: u + 1),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("from_0", [True, False])
def test_points_or_places_from_0_are_asked_for(tmp_path, kind, from_0):
    names, unit = POINTS[kind]
    top = 0 if from_0 else len(ARMS) - 1
    rows = [[unit(u), *(abs(top - o.index(arm)) for arm in ARMS)] for u, o in enumerate(orders())]
    path = written(tmp_path, names, rows)
    with pytest.raises(ValueError, match="hold 0 to 3 in each row") as caught:
        bd.read_duels(path)
    assert "shape='scores'" in str(caught.value)
    expected = bd.Rankings.from_orders(orders()).duels
    log = bd.read_duels(path, shape="scores", lower_is_better=from_0)
    assert points_of(log) == points_of(expected)


BALLOTS = [
    (3, ["tea", "coffee", "cocoa"]),
    (2, ["coffee", "cocoa", "tea"]),
    (4, ["cocoa", "tea", "coffee"]),
    (1, ["tea", "cocoa", "coffee"]),
    (6, ["cocoa", "coffee", "tea"]),
]
COUNTED = {
    "places of arms": (
        ["count", *ARMS[:3]],
        lambda n, order: [n, *(1 + order.index(arm) for arm in ARMS[:3])],
    ),
    "places first": ([*ARMS[:3], "n"], lambda n, o: [*(1 + o.index(a) for a in ARMS[:3]), n]),
    "arms at places": (["1st", "2nd", "3rd", "weight"], lambda n, order: [*order, n]),
    "orders": (["count", "ballot"], lambda n, order: [n, ">".join(order)]),
    "orders by name": (["order", "times"], lambda n, order: [" > ".join(order), n]),
    "lists": (["n", "ranking"], lambda n, order: [n, "|".join(order)]),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_counts_of_equal_rankings_are_their_weights(tmp_path, kind):
    names, row = COUNTED[kind]
    log = rankings_in(written(tmp_path, names, [row(n, order) for n, order in BALLOTS]))
    expected = bd.Rankings.from_orders(
        [order for _, order in BALLOTS], weight=[n for n, _ in BALLOTS]
    )
    assert points_of(log.duels) == points_of(expected.duels)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_wrong_count_of_rankings_is_refused(tmp_path, kind):
    names, row = COUNTED[kind]
    path = written(tmp_path, names, [row(n / 2, order) for n, order in BALLOTS])
    with pytest.raises(ValueError, match=r"line 2: weight should .* > 0, got '1\.5'"):
        rankings_in(path)
    log = rankings_in(path, on_bad="skip")
    assert log.read_summary.n_bad_rows == 2


DIFFERENCES = {
    "b_minus_a": ("a", "b"),
    "B - A": ("Model A", "Model B"),
    "score 2 minus score 1": ("system1", "system2"),
    "right-left": ("left", "right"),
    "away_minus_home": ("home", "away"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DIFFERENCES)
@pytest.mark.parametrize("option", ["margin", "outcome"])
def test_right_minus_left_by_its_name_is_asked_for(tmp_path, name, option):
    left, right = DIFFERENCES[name]
    margin = {"a": -2, "b": 3, "=": 0}  # right minus left
    path = written(tmp_path, [left, right, name], [(x, y, margin[won]) for x, y, won in DUELS])
    given = {"margin": name} if option == "margin" else {"outcome": name, "coding": "grades"}
    with pytest.raises(ValueError, match="name the sides in its order") as caught:
        bd.read_duels(path, **given)
    assert f"{right!r} minus {left!r}" in str(caught.value)
    log = bd.read_duels(path, left=right, right=left, **given)
    assert points_of(log) == right_points()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-15", "mac-roman", "cp850"])
def test_another_encoding_below_the_header_line_says_how_to_save(tmp_path, encoding):
    path = tmp_path / "votes.csv"
    path.write_bytes("links;rechts;Gewinner\nKöln;Bonn;links\nBonn;Köln;rechts\n".encode(encoding))
    with pytest.raises(ValueError, match=r"line 2: should be UTF-8.*save it as UTF-8") as caught:
        bd.read_duels(path)
    assert "(and 1 more such line)" in str(caught.value)
