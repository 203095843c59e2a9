"""Every shape is read as the same duels or rankings as the plain rows it was made from.

What a table holds is made here from a list of duels or of orders, in many spellings; nothing of the
reader is used for the right answer.
"""

import random
from collections import Counter
from itertools import combinations

import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.shapes import SHAPES
from bayesduel.system.arguments import command_line

CITIES = ("London", "Paris", "São Paulo", "New York")
WINNERS = {"left": "left", "right": "right", "tie": "tie"}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def duels(arms, n=60, seed=0, ties=True):
    """Return some duels: left, right, who won."""
    rng = random.Random(seed)
    results = ["left", "right", "tie"] if ties else ["left", "right"]
    return [(*rng.sample(arms, 2), rng.choice(results)) for _ in range(n)]


def orders(arms, n=30, seed=0, whole=True):
    """Return some orders of all arms or of some, best first."""
    rng = random.Random(seed)
    return [rng.sample(arms, len(arms) if whole else rng.randint(2, len(arms))) for _ in range(n)]


def tallied(rows):
    """Return how often each arm beat, or tied with, each other one."""
    found = Counter()
    for left, right, won in rows:
        if won == "tie":
            found[(frozenset((left, right)), "tie")] += 1
        else:
            found[(left, right) if won == "left" else (right, left)] += 1
    return found


def tally_of(log):
    """Return the same of a log."""
    frame = log.to_frame()
    weight = frame["weight"] if "weight" in frame else [1] * len(frame)
    words = {1.0: "left", 0.0: "right", 0.5: "tie"}
    found = Counter()
    for left, right, won, n in zip(
        frame["left"], frame["right"], frame["outcome"], weight, strict=True
    ):
        for row in tallied([(left, right, words.get(won, won))]):
            found[row] += int(n)
    return found


def ranked(log):
    """Return how often each order is in a log of rankings: its places, the last as a set."""
    found = Counter()
    for k, weight in enumerate(log.weight):
        own = log.ranking == k
        groups = [
            frozenset(log.arms[arm] for arm in log.arm[own & (log.place == place)])
            for place in sorted(set(log.place[own]))
        ]
        found[tuple(groups)] += int(weight)
    return found


def given(columns, way, folder, **csv):
    """Return a table as a frame or as a file of text."""
    frame = pd.DataFrame(columns)
    if way == "frame":
        return frame
    path = folder / "table.csv"
    frame.to_csv(path, index=False, **csv)
    return path


@pytest.fixture(params=["file", "frame"])
def way(request):
    return request.param


def test_every_shape_is_in_the_table_of_the_module():
    text = __import__("bayesduel.data.read.shapes", fromlist=["_"]).__doc__
    assert all(f"\n{name} " in text for name in SHAPES)


# -- one-hot ---------------------------------------------------------------------------------

ONE_HOT = [
    ("model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie", (1, 0)),
    ("player1", "player2", "player1_won", "player2_won", "draw", (True, False)),
    ("left", "right", "left_preferred", "right_preferred", "no_preference", (1, 0)),
    ("system A", "system B", "better A", "better B", "equal", ("TRUE", "FALSE")),
    ("option_1", "option_2", "votes_1", "votes_2", "tie", (1.0, 0.0)),
    ("home_team", "away_team", "home_win", "away_win", "drawn", (1, 0)),
]


@pytest.mark.parametrize(("left", "right", "first", "second", "tie", "flags"), ONE_HOT)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.sampled(3)
def test_one_hot(way, tmp_path, left, right, first, second, tie, flags, turned):
    rows = duels(CITIES)
    columns = {left: [a for a, _, _ in rows], right: [b for _, b, _ in rows]}
    names = [(first, "left"), (second, "right"), (tie, "tie")]
    for name, side in names[::-1] if turned else names:
        columns[name] = [flags[won != side] for _, _, won in rows]
    log = bd.read_duels(given(columns, way, tmp_path))
    assert tally_of(log) == tallied(rows)


def test_one_hot_keeps_the_other_columns_and_names_a_row_with_two_winners(tmp_path):
    rows = [("a", "b", 1, 0, 0, "Ann"), ("b", "c", 0, 1, 0, "Bo"), ("c", "a", 1, 1, 0, "Ann")]
    names = ["model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie", "rater"]
    path = given(pd.DataFrame(rows, columns=names), "file", tmp_path)
    with pytest.raises(ValueError, match=r"table.csv, line 4: .*winner_model_a.*got '1, 1, 0'"):
        bd.read_duels(path)
    log = bd.read_duels(path, on_bad="skip")
    assert log.votes.judges == ("Ann", "Bo")


# -- matches ---------------------------------------------------------------------------------

WORDS = {
    "W/L/D": {"left": ("W", "L"), "right": ("L", "W"), "tie": ("D", "D")},
    "win/loss/draw": {"left": ("win", "loss"), "right": ("loss", "win"), "tie": ("draw", "draw")},
    "numbers": {"left": (1, 0), "right": (0, 1), "tie": (0.5, 0.5)},
    "goals": {"left": (3, 1), "right": (0, 2), "tie": (2, 2)},
    "Won/Lost": {"left": ("Won", "Lost"), "right": ("Lost", "Won"), "tie": ("Tied", "Tied")},
}
MATCHES = [
    ("match_id", "team", "opponent", "result", "W/L/D"),
    ("game", "player", "opp", "outcome", "win/loss/draw"),
    ("fixture_id", "club", "against", "points", "numbers"),
    ("id", "team_name", "opponent_name", "goals", "goals"),
    ("bout", "fighter", "rival", "res", "Won/Lost"),
    ("match_id", "team", None, "result", "W/L/D"),
]


def two_rows(rows, match, team, opponent, result, words):
    """Return both rows of each match."""
    found = []
    for k, (left, right, won) in enumerate(rows):
        for own, other, place in ((left, right, 0), (right, left, 1)):
            row = {match: k, team: own, opponent: other, result: WORDS[words][won][place]}
            found.append({name: value for name, value in row.items() if name is not None})
    return found


@pytest.mark.parametrize(("match", "team", "opponent", "result", "words"), MATCHES)
@pytest.mark.parametrize("order", ["as played", "shuffled"])
@pytest.mark.sampled(3)
def test_two_rows_for_each_match(
    way, tmp_path, capsys, match, team, opponent, result, words, order
):
    rows = duels(CITIES)
    table = two_rows(rows, match, team, opponent, result, words)
    if order == "shuffled":
        random.Random(1).shuffle(table)
    log = bd.read_duels(given(table, way, tmp_path))
    assert tally_of(log) == tallied(rows)
    assert not log.ordered
    assert "counted once" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["W/L/D", "win/loss/draw", "numbers", "Won/Lost"])
@pytest.mark.sampled(3)
def test_mirrored_rows_without_a_match_are_counted_once(way, tmp_path, capsys, words):
    rows = duels(CITIES)
    table = two_rows(rows, None, "team", "opponent", "result", words)
    log = bd.read_duels(given(table, way, tmp_path))
    assert tally_of(log) == tallied(rows)
    assert "counted once" in capsys.readouterr().err


def test_rows_of_a_team_and_its_opponent_that_are_not_mirrored_are_duels(way, tmp_path):
    rows = duels(CITIES, ties=False)
    table = {
        "team": [a for a, _, _ in rows],
        "opponent": [b for _, b, _ in rows],
        "result": ["W" if won == "left" else "L" for _, _, won in rows],
    }
    log = bd.read_duels(given(table, way, tmp_path))
    assert tally_of(log) == tallied(rows)


def test_two_rows_of_a_match_that_disagree_are_a_bad_row(tmp_path):
    table = two_rows(duels(CITIES, 20), "match_id", "team", "opponent", "result", "W/L/D")
    table[4]["result"] = table[5]["result"] = "W"
    path = given(table, "file", tmp_path)
    with pytest.raises(ValueError, match=r"line 6: column 'result' should be .* got 'W and W'"):
        bd.read_duels(path)
    assert bd.read_duels(path, on_bad="skip").n_duels == 19


# -- choices ---------------------------------------------------------------------------------

CHOICES = [
    ({"group": "choice_id", "left": "alternative", "outcome": "chosen"}, (1, 0), {}),
    ({"group": "task", "left": "option", "outcome": "selected"}, (True, False), {}),
    ({"group": "set_id", "left": "brand", "outcome": "choice"}, ("TRUE", "FALSE"), {}),
    ({"group": "chid", "left": "alt", "outcome": "picked"}, (1.0, 0.0), {}),
    ({"group": "Frage", "left": "Marke", "outcome": "gewählt"}, (1, 0), {"shape": "choices"}),
]


def one_row_per_alternative(sets, names, flags, shuffled=False):
    """Return a row for each alternative of sets, whose first is the chosen one."""
    rows = []
    for k, own in enumerate(sets):
        shown = random.Random(k).sample(own, len(own))
        for arm in shown:
            flag = flags[arm != own[0]]
            rows.append({names["group"]: k, names["left"]: arm, names["outcome"]: flag})
    if shuffled:
        random.Random(2).shuffle(rows)
    return rows


@pytest.mark.parametrize(("names", "flags", "options"), CHOICES)
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.sampled(3)
def test_choices_of_two_are_duels(way, tmp_path, names, flags, options, shuffled):
    sets = [own[:2] for own in orders(CITIES, 40)]
    table = one_row_per_alternative(sets, names, flags, shuffled)
    asked = {**options, **names} if options else {}
    log = bd.read_duels(given(table, way, tmp_path), **asked)
    assert tally_of(log) == tallied([(best, other, "left") for best, other in sets])


@pytest.mark.parametrize(("names", "flags", "options"), CHOICES[:4])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.sampled(3)
def test_choices_of_several_are_rankings(way, tmp_path, names, flags, options, shuffled):
    sets = [*orders(CITIES, 40, whole=False), list(CITIES)]
    table = one_row_per_alternative(sets, names, flags, shuffled)
    log = bd.read_rankings(given(table, way, tmp_path))
    expected = Counter((frozenset(own[:1]), frozenset(own[1:])) for own in sets)
    assert ranked(log) == expected
    with pytest.raises(ValueError, match=r"got rankings .*; read them by bayesduel.read_rankings"):
        bd.read_duels(given(table, way, tmp_path))


def test_sets_are_those_of_a_respondent(tmp_path):
    sets = orders(CITIES, 20)
    table = one_row_per_alternative(sets, CHOICES[1][0], (1, 0))
    for row in table:
        row["respondent"], row["task"] = f"R{row['task'] // 4}", row["task"] % 4
    log = bd.read_rankings(given(table, "file", tmp_path))
    assert len(log.weight) == 20
    assert log.votes.judges == ("R0", "R1", "R2", "R3", "R4")


def test_a_set_without_a_choice_is_named(tmp_path):
    table = one_row_per_alternative(orders(CITIES, 8), CHOICES[0][0], (1, 0))
    for row in table[:4]:
        row["chosen"] = 0
    path = given(table, "file", tmp_path)
    with pytest.raises(ValueError, match=r"line 2: chosen should be 1 for one alternative"):
        bd.read_rankings(path, shape="choices")


# -- pairs -----------------------------------------------------------------------------------

PAIRS = [
    (":", CITIES, {"left": 1, "right": -1, "tie": 0}),
    (" vs ", CITIES, {"left": 1, "right": 2, "tie": 0}),
    ("_vs_", ("qwen3", "llama_3", "phi"), {"left": 1, "right": 0, "tie": 0.5}),
    ("-", ("kaffee", "tee", "saft"), {"left": "left", "right": "right", "tie": "tie"}),
    (" / ", ("Tōkyō", "京都", "Ōsaka"), {"left": 1, "right": -1, "tie": 0}),
    (".", ("a1", "b1", "c1", "d1"), {"left": 1, "right": -1, "tie": 0}),
    (":", CITIES, None),
]


@pytest.mark.parametrize(("separator", "arms", "codes"), PAIRS)
@pytest.mark.parametrize("missing", ["NA", ""])
@pytest.mark.sampled(3)
def test_a_column_for_each_pair(way, tmp_path, separator, arms, codes, missing):
    rng = random.Random(3)
    pairs = [(a, b) if rng.random() < 0.5 else (b, a) for k, a in enumerate(arms) for b in arms[:k]]
    table, rows = [], []
    for person in range(30):
        row = {"id": f"person {person}"}
        for left, right in pairs:
            won = rng.choice(["left", "right", "tie"] if codes else ["left", "right"])
            if rng.random() < 0.1:
                row[f"{left}{separator}{right}"] = missing
                continue
            own = {"left": left, "right": right} if codes is None else codes
            row[f"{left}{separator}{right}"] = own[won]
            rows.append((left, right, won))
        table.append(row)
    coding = "1/2/0" if codes and codes["right"] == 2 else None  # else asked for
    log = bd.read_duels(given(table, way, tmp_path), coding=coding)
    assert tally_of(log) == tallied(rows)
    assert len(log.votes.judges) == 30
    left_out = [line.rows for line in log.reading.left_out]
    assert left_out == [30 * len(pairs) - len(rows)]


def test_columns_of_words_with_underscores_are_not_pairs(tmp_path):
    table = {"time_start": [1, 2], "time_end": [3, 4], "size_start": [1, 1], "size_end": [2, 2]}
    with pytest.raises(ValueError, match="no column for left and right"):
        bd.read_duels(given(table, "file", tmp_path))


# -- ranks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [0, "", "NA", None, "0"])
@pytest.mark.parametrize("arms", [CITIES, ("bean1", "bean2", "bean3"), ("京都", "b c", "d", "e")])
@pytest.mark.sampled(3)
def test_a_column_of_places_for_each_arm(way, tmp_path, capsys, empty, arms):
    told = orders(arms, 40, whole=False)
    table = [{a: own.index(a) + 1 if a in own else empty for a in arms} for own in told]
    log = bd.read_rankings(given(table, way, tmp_path))
    assert ranked(log) == Counter(tuple(frozenset([arm]) for arm in own) for own in told)
    assert "1 is best" in capsys.readouterr().err


@pytest.mark.parametrize("item", ["question_id", "task", "respondent", None])
@pytest.mark.sampled(3)
def test_rows_of_ranks_are_never_scores(way, tmp_path, item):
    told = orders(CITIES, 12)
    table = [{a: own.index(a) + 1 for a in sorted(CITIES)} for own in told]
    if item is not None:
        table = [{item: k, **row} for k, row in enumerate(table)]
    path = given(table, way, tmp_path)
    with pytest.raises(ValueError, match=r"read_rankings, or as scores by .*lower_is_better=True"):
        bd.read_duels(path)
    assert len(bd.read_rankings(path).weight) == 12
    duels_of = [(a, b, "left") for own in told for k, b in enumerate(own) for a in own[:k]]
    log = bd.read_duels(path, shape="scores", lower_is_better=True)
    assert tally_of(log) == tallied(duels_of)
    turned = bd.read_duels(path, shape="scores")
    assert tally_of(turned) == tallied([(a, b, "right") for a, b, _ in duels_of])


@pytest.mark.slow
def test_ranks_of_two_or_in_few_rows_are_asked_for(way, tmp_path):
    for table in (
        {"question": [1, 2, 3], "small": [1, 2, 1], "large": [2, 1, 2]},
        {"question": [1, 2], "tea": [1, 3], "cocoa": [2, 1], "juice": [3, 2]},
    ):
        path = given(table, way, tmp_path)
        with pytest.raises(ValueError, match=r"may be ranks .* or scores .*; say which"):
            bd.read_duels(path)
        assert bd.read_duels(path, shape="scores").n_duels > 0
        assert len(bd.read_rankings(path, shape="ranks").weight) == len(table["question"])


def test_a_place_that_is_none_is_named(tmp_path):
    table = [{a: own.index(a) + 1 for a in CITIES} for own in orders(CITIES, 9)]
    path = given([*table, {**table[0], "Paris": "DNF"}], "file", tmp_path)
    with pytest.raises(ValueError, match=r"line 11.*: rank should be a place .*got 'DNF'"):
        bd.read_rankings(path, shape="ranks")


def in_places(order, arms):
    """Return the place of each arm in an order."""
    return [order.index(arm) + 1 for arm in arms]


def table_of_ranks(kind, arms, judges, seed):
    """Return a table of some rankings in one of the forms that people have, and the rankings."""
    rng = random.Random(seed)
    lists = orders(arms, n=18, seed=seed)
    table = {"item": [f"q{k // judges}" for k in range(18)]}
    table |= {"judge": [f"j{k % judges}" for k in range(18)]} if judges > 1 else {}
    if kind == "letters":
        arms = dict(zip("ABCDEFGH", arms, strict=False))
        places = [in_places(order, [*arms.values()]) for order in lists]
        table |= {name: [row[k] for row in places] for k, name in enumerate(arms)}
        names = {arm: name for name, arm in arms.items()}
        return table, [[names[arm] for arm in order] for order in lists]
    if kind in ("ordinals", "text left over"):
        ends = ["st", "nd", "rd"] if kind == "ordinals" else ["", "", ""]
        for arm in arms:
            places = [order.index(arm) for order in lists]
            table[arm] = [f"{k + 1}{[*ends, 'th' if ends[0] else ''][min(k, 3)]}" for k in places]
        if kind != "ordinals":
            table["comment"] = [rng.choice(["good", "I liked the first"]) for _ in lists]
        return table, lists
    if kind in ("names and places", "id and rank"):
        name, place = ("system{}", "rank{}") if kind == "names and places" else (
            "system{}Id", "system{}rank")  # fmt: skip
        shown = [rng.sample(order, len(order)) for order in lists]
        for k in range(len(arms)):
            table[name.format(k + 1)] = [row[k] for row in shown]
            table[place.format(k + 1)] = [
                order.index(row[k]) + 1 for order, row in zip(lists, shown, strict=True)
            ]
        return table, lists
    if kind in ("comma", "bar"):
        sign = {"comma": ", ", "bar": "|"}[kind]
        return table | {"ranking": [sign.join(order) for order in lists]}, lists
    if kind == "quoted":
        return table | {"ranking": [str(order) for order in lists]}, lists
    if kind == "list":
        return table | {"ranking": lists}, lists
    arm, place = kind
    rows = [(k, one) for k, order in enumerate(lists) for one in rng.sample(order, len(order))]
    long = {name: [values[k] for k, _ in rows] for name, values in table.items()}
    return long | {arm: [one for _, one in rows],
                   place: [lists[k].index(one) + 1 for k, one in rows]}, lists  # fmt: skip


KINDS_OF_RANKS = ["letters", "ordinals", "text left over", "names and places", "id and rank",
                  "comma", "bar", "quoted", "list", ("model", "rank"), ("system", "place"),
                  ("player", "position"), ("product", "Rang"), ("brand", "finish")]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OF_RANKS, ids=str)
@pytest.mark.parametrize("judges", [1, 3])
@pytest.mark.parametrize("n_arms", [3, 5])
@pytest.mark.sampled(3)
def test_tables_of_ranks_are_rankings(tmp_path, way, capsys, kind, judges, n_arms):
    """What people call a table of ranks is read as its rankings, with the judge."""
    arms = ["sys b", "baseline", "Ünal", "gpt-x", "k2"][:n_arms]
    table, right = table_of_ranks(kind, arms, judges, seed=n_arms)
    if kind == "list":
        source = pd.DataFrame(table)
        if way == "file":
            source.to_json(tmp_path / "ranks.jsonl", orient="records", lines=True)
            source = tmp_path / "ranks.jsonl"
    else:
        source = given(table, way, tmp_path)
    log = bd.read_rankings(source)
    # the last two of an order are told apart as a set of one each
    assert ranked(log) == Counter(tuple(frozenset([arm]) for arm in order) for order in right)
    assert len(log.votes.judges) == (judges if judges > 1 else 0)
    if isinstance(kind, tuple):  # the item is a part of the name of a ranking
        assert "not used" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS_OF_RANKS[9:], ids=str)
def test_columns_of_rankings_can_be_said(tmp_path, kind):
    """Columns of other names are named: two of them say of which ranking a row is."""
    table, right = table_of_ranks(kind, list("abcd"), 3, seed=4)
    arm, place = kind
    names = {"item": "scene", "judge": "who", arm: "entry", place: "r"}
    table = pd.DataFrame(table).rename(columns=names)
    log = bd.read_rankings(table, ranking=["scene", "who"], arm="entry", rank="r", judge="who")
    assert ranked(log) == Counter(tuple(frozenset([arm]) for arm in order) for order in right)
    assert log.votes.judges == ("j0", "j1", "j2")


@pytest.mark.parametrize("names", [["A", "B"], ["model_a", "model_b"], ["x1", "x2"]])
@pytest.mark.parametrize("beside", [{}, {"comment": ["good wine"] * 12}])
def test_two_columns_of_ranks_are_asked_for(way, tmp_path, names, beside):
    """Places of two systems, under names of the sides of a duel, ask for what they are."""
    table = {"item": [f"q{k}" for k in range(12)], **beside}
    table |= {name: [1 + (k + j) % 2 for k in range(12)] for j, name in enumerate(names)}
    with command_line(), pytest.raises(ValueError, match="--shape ranks") as caught:
        bd.read_duels(given(table, way, tmp_path))
    assert "--shape scores" in str(caught.value)


@pytest.mark.parametrize("n_arms", [3, 4])
def test_numbered_places_are_asked_for(way, tmp_path, n_arms):
    """Of rank1, rank2, ... with numbers, the place of arm 1 and the arm at place 1 differ."""
    lists = orders(range(1, n_arms + 1), n=9)
    table = {f"rank{k}": [row[k - 1] for row in lists] for k in range(1, n_arms + 1)}
    source = given(table, way, tmp_path)
    with (
        command_line(),
        pytest.raises(ValueError, match=r"--shape ranks\) or the arm at that place"),
    ):
        bd.read_rankings(source)
    of_arms = bd.read_rankings(source, shape="ranks")
    at_places = bd.read_rankings(source, shape=False)
    said = Counter(tuple(frozenset([str(arm)]) for arm in row) for row in lists)
    assert ranked(at_places) == said
    inverse = [sorted(range(n_arms), key=row.__getitem__) for row in lists]
    assert ranked(of_arms) == Counter(
        tuple(frozenset([f"rank{k + 1}"]) for k in row) for row in inverse
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("judges", [1, 3])
def test_scores_in_columns_of_letters(way, tmp_path, n_arms, judges):
    """A and B, or A, B and C, with scores are arms; each judge's scores are compared."""
    rng = random.Random(2)
    n = 12
    table = {"item": [f"q{k // judges}" for k in range(n)]}
    table |= {"judge": [f"j{k % judges}" for k in range(n)]} if judges > 1 else {}
    scores = {name: [rng.randint(1, 9) for _ in range(n)] for name in "ABC"[:n_arms]}
    rows = []
    for one, other in combinations(scores, 2):
        for x, y in zip(scores[one], scores[other], strict=True):
            rows.append((one, other, "left" if x > y else "right" if y > x else "tie"))
    log = bd.read_duels(given(table | scores, way, tmp_path))
    assert tally_of(log) == tallied(rows)
    assert (log.votes.judges if judges > 1 else ()) == (("j0", "j1", "j2") if judges > 1 else ())


# -- rankings: decimals and logs by a column ----------------------------------------------------


@pytest.mark.parametrize("sign", [",", "."])
@pytest.mark.parametrize("form", ["places", "ranks", "long"])
@pytest.mark.parametrize("given_sign", [True, False])
@pytest.mark.sampled(3)
def test_decimals_of_rankings(tmp_path, sign, form, given_sign):
    """Ranks with decimals (2,5 of two that share places) are read as in a log of duels."""
    rows = [("a", 1), ("b", 2.5), ("c", 2.5)], [("b", 1), ("c", 2), ("a", 3)]
    rows = [rows[k % 2] for k in range(8)]
    if form == "ranks":
        table = {arm: [dict(row)[arm] for row in rows] for arm in "abc"}
    else:
        flat = [(f"r{k}", arm, place) for k, row in enumerate(rows) for arm, place in row]
        first = "race" if form == "long" else "task"
        table = dict(zip((first, "model", "rank"), map(list, zip(*flat, strict=True)), strict=True))
    path = tmp_path / "ranks.csv"
    separator = ";" if sign == "," else ","
    pd.DataFrame(table).to_csv(path, index=False, sep=separator, decimal=sign)
    log = bd.read_rankings(path, decimal=sign if given_sign else None)
    a, b, c = (frozenset([arm]) for arm in "abc")
    assert ranked(log) == {(a, b | c): 4, (b, c, a): 4}


@pytest.mark.parametrize("form", ["order", "wide", "long", "ranks", "places", "lists"])
@pytest.mark.parametrize("n_levels", [2, 3])
@pytest.mark.sampled(3)
def test_rankings_by_a_column(way, tmp_path, form, n_levels):
    """A log for each value of a column, with its own rankings alone."""
    lists = orders(list("abcd"), n=12)
    level = [f"L{k % n_levels}" for k in range(12)]
    if form == "order":
        table = {"order": [" > ".join(row) for row in lists]}
    elif form == "lists":
        table = {"ranking": [", ".join(row) for row in lists]}
    elif form == "wide":
        names = ("first", "second", "third", "fourth")
        table = {name: [row[k] for row in lists] for k, name in enumerate(names)}
    elif form == "ranks":
        table = {arm: [row.index(arm) + 1 for row in lists] for arm in "abcd"}
    else:
        rows = [(k, arm, j) for k, row in enumerate(lists) for j, arm in enumerate(row, 1)]
        name = "race" if form == "long" else "task"
        table = dict(zip((name, "model", "rank"), map(list, zip(*rows, strict=True)), strict=True))
        level = [level[k] for k in table[name]]
    source = given(table | {"country": level}, way, tmp_path)
    found = bd.read_rankings(source, by="country")
    assert [*found] == [f"L{k}" for k in range(n_levels)]
    for k in range(n_levels):
        own = lists[k::n_levels]
        assert ranked(found[f"L{k}"]) == Counter(
            tuple(frozenset([arm]) for arm in row) for row in own
        )


def test_a_ranking_without_a_log_is_a_bad_row():
    """Where logs are told apart by a column, its missing value is named."""
    table = {"order": ["a > b", "b > a", "a > b"], "country": ["x", None, "x"]}
    with pytest.raises(ValueError, match=r"the row should name a log \(by\)"):
        bd.read_rankings(table, by="country")
    (log,) = bd.read_rankings(table, by="country", on_bad="skip").values()
    assert log.n_rankings == 2


# -- scores ----------------------------------------------------------------------------------

TABLES = {
    "seconds": ("task", {"gpt4": [2.1, 0.7, 3.0], "claude": [0.6, 2.3, 3.0]}),
    "points of a game": ("game_id", {"p 1": [19, 13, 9], "p 2": [16, 17, 12], "p 3": [11, 10, 9]}),
    "right or wrong": ("question", {"groß": [1, 0, 1], "klein": [0, 0, 1]}),
    "negative": ("item", {"a1": [-1.5, 2, 0], "b1": [-2.5, 3, 0]}),
    "with a gap": ("prompt", {"x1": [1.5, None, 4], "y1": [2.5, 3, 4], "z1": [1.5, 2, 9]}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.sampled(3)
def test_tables_of_scores(way, tmp_path, name, lower, long):
    item, models = TABLES[name]
    rows = []
    for k in range(3):
        known = [(m, own[k]) for m, own in models.items() if own[k] is not None]
        for n, (a, x) in enumerate(known):
            for b, y in known[:n]:
                won = "tie" if x == y else "left" if (x > y) != lower else "right"
                rows.append((a, b, won))
    table = pd.DataFrame({item: ["q1", "q2", "q3"], **models})
    if long:
        table = table.melt(item, var_name="player", value_name="points").dropna()
    log = bd.read_duels(given(table, way, tmp_path), lower_is_better=lower)
    assert tally_of(log) == tallied(rows)


@pytest.mark.parametrize(
    "columns",
    [
        {"question_id": "qrs", "who": "abc", "versus": "bca", "score1": [9, 5, 8]},
        {"item": "qrs", "lang": ["de", "en", "fr"], "tokens_x": [9, 5, 8], "tokens_z": [1, 2, 3]},
        {"task": "qrs", "comment": ["ok", "no", "?"], "gpt4": [0.5, 2.5, 3], "llama": [1, 2, 3]},
    ],
)
def test_text_that_is_left_over_is_no_table_of_scores(way, tmp_path, columns):
    path = given({name: list(values) for name, values in columns.items()}, way, tmp_path)
    with pytest.raises(ValueError, match="no column for left and right") as caught:
        bd.read_duels(path)
    assert all(repr(name) in str(caught.value) for name in columns)


# -- shapes by name --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "duels"] + ["inspect"])
def test_a_shape_that_is_asked_for_is_refused_with_what_it_lacks(way, tmp_path, shape):
    path = given({"left": ["a", "b"], "right": ["b", "c"], "outcome": [1, 0]}, way, tmp_path)
    with pytest.raises(ValueError, match=rf"shape '{shape}' needs .*; the columns are 'left'"):
        bd.read_duels(path, shape=shape)


def test_nothing_is_recognised_where_columns_are_named(way, tmp_path):
    table = two_rows(duels(CITIES, 20), "match_id", "team", "opponent", "result", "W/L/D")
    path = given(table, way, tmp_path)
    assert bd.read_duels(path).n_duels == 20
    assert bd.read_duels(path, left="team", right="opponent", outcome="result").n_duels == 40
    assert bd.read_duels(path, shape=False).n_duels == 40
    with pytest.raises(ValueError, match="shape should be 'duels', "):
        bd.read_duels(path, shape="twice")


def test_a_batch_is_read_in_the_shape_of_the_earlier_log(way, tmp_path):
    rows = duels(CITIES, 20)
    table = two_rows(rows, "match_id", "team", "opponent", "result", "W/L/D")
    log = bd.read_duels(given(table, way, tmp_path))
    again = bd.read_duels(pd.DataFrame(table[:2]), like=log)
    assert tally_of(again) == tallied(rows[:1])


# -- proportions -----------------------------------------------------------------------------


@pytest.mark.parametrize("diagonal", [0.5, 0, None])
def test_a_matrix_of_proportions_is_refused_with_what_to_give(way, tmp_path, diagonal):
    frame = pd.DataFrame(
        [[diagonal, 0.7, 0.8], [0.3, diagonal, 0.65], [0.2, 0.35, diagonal]],
        index=list("abc"), columns=list("abc"),
    )  # fmt: skip
    path = tmp_path / "p.csv"
    frame.to_csv(path)
    with pytest.raises(ValueError, match=r"counts of wins .* got proportions, such as 0.7 and 0.3"):
        bd.read_duels(path if way == "file" else frame.fillna(0))
