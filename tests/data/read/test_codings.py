"""The coding of outcomes: which one a log has, what is refused, and how it is stored."""

import itertools

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.outcomes import CODINGS, choose_meaning
from bayesduel.data.read.rows import Coded

LEFT, RIGHT, TIE = 1, -1, 0
MEANING = {  # of every code, by coding: typed here, not taken from the package
    "left/right": {"left": LEFT, "right": RIGHT},
    "l/r": {"L": LEFT, "R": RIGHT},
    "a/b": {"A": LEFT, "B": RIGHT},
    "model_a/model_b": {"model_a": LEFT, "model_b": RIGHT},
    "first/second": {"first": LEFT, "second": RIGHT},
    "1st/2nd": {"1st": LEFT, "2nd": RIGHT},
    "home/away": {"home": LEFT, "away": RIGHT},
    "h/a": {"H": LEFT, "A": RIGHT, "D": TIE},
    "white/black": {"white": LEFT, "black": RIGHT},
    "player1/player2": {"player1": LEFT, "player2": RIGHT},
    "win/loss": {"win": LEFT, "loss": RIGHT},
    "won/lost": {"won": LEFT, "lost": RIGHT},
    "w/l": {"W": LEFT, "L": RIGHT, "D": TIE},
    "w/b": {"W": LEFT, "B": RIGHT, "D": TIE},
    "слева/справа": {"слева": LEFT, "справа": RIGHT},
    "1-0/0-1": {"1-0": LEFT, "0-1": RIGHT, "1/2-1/2": TIE},
    "true/false": {"true": LEFT, "false": RIGHT},
    ">/<": {">": LEFT, "<": RIGHT, "=": TIE},
    "win/lose": {"win": LEFT, "lose": RIGHT},
    "wins/loses": {"wins": LEFT, "loses": RIGHT},
    "yes/no": {"yes": LEFT, "no": RIGHT},
    "victory/defeat": {"Victory": LEFT, "Defeat": RIGHT, "Draw": TIE},
    "links/rechts": {"Links": LEFT, "Rechts": RIGHT, "unentschieden": TIE},
    "gauche/droite": {"gauche": LEFT, "droite": RIGHT, "égalité": TIE},
    "izquierda/derecha": {"izquierda": LEFT, "derecha": RIGHT, "empate": TIE},
    "sinistra/destra": {"sinistra": LEFT, "destra": RIGHT, "pareggio": TIE},
    "esquerda/direita": {"esquerda": LEFT, "direita": RIGHT, "empate": TIE},
    "левый/правый": {"левый": LEFT, "правый": RIGHT, "ничья": TIE},
    "左/右": {"左": LEFT, "右": RIGHT, "平局": TIE},
    "왼쪽/오른쪽": {"왼쪽": LEFT, "오른쪽": RIGHT, "무승부": TIE},
    "1/0/0.5": {"1": LEFT, "0": RIGHT, "0.5": TIE},
    "1/-1/0": {"1": LEFT, "-1": RIGHT, "0": TIE},
    "1/2": {"1": LEFT, "2": RIGHT, "X": TIE},
    "probability": {"0.9": LEFT, "0.2": RIGHT, "0.5": LEFT},  # half a win for each
}
THREE = {"1/2/0": LEFT, "0/1/2": RIGHT}  # where 0, 1 and 2 occur: what 1 means
COLUMNS = {
    "left, right": ("left", "right", "outcome"),
    "home, away, FTR": ("home", "away", "FTR"),
    "HomeTeam, AwayTeam": ("HomeTeam", "AwayTeam", "result"),
    "model_a, model_b": ("model_a", "model_b", "winner"),
    "white, black": ("white", "black", "result"),
    "own": ("team", "opponent", "result"),
}
# What the codes alone leave open, and who decides it: the columns of sides, or nobody.
OPEN = [
    ("A", {"A", "D"}, {"a/b": "left", "h/a": "right"}),
    ("L", {"L", "D"}, {"l/r": "left", "w/l": "right"}),
    ("0", {"0"}, {"1/0/0.5": "right", "1/-1/0": "tie"}),
]
DECIDED = {
    ("A", "home, away, FTR"): "h/a",
    ("A", "HomeTeam, AwayTeam"): "h/a",
    ("A", "model_a, model_b"): "a/b",
    ("L", "model_a, model_b"): "l/r",  # a winner is a side, not a loss
}


def log(names, codes, times=3):
    rows = [(f"x{k}", f"y{k}", code) for k in range(times) for code in codes]
    return pd.DataFrame(rows, columns=list(names))


def read(names, codes, **options):
    return bd.read_duels(log(names, codes), left=names[0], right=names[1], outcome=names[2],
                         **options)  # fmt: skip


def chosen(names, codes, coding=None):
    """Return the coding that is chosen, and what it reads each code as."""
    place = np.arange(len(codes), dtype=np.int32)
    sides = (Coded([f"{side}{k}" for k in place], place) for side in "xy")
    columns = (*sides, Coded(list(codes), place))
    reading = choose_meaning(*columns, np.ones(len(codes)), names, coding)
    return reading, dict(zip(codes, reading.read(*columns), strict=True))


def wins(duels):
    cells = duels.cells
    return {LEFT: cells.left_wins.sum(), RIGHT: cells.right_wins.sum(), TIE: cells.ties.sum()}


def test_every_coding_is_tried_here():
    assert set(CODINGS) == set(MEANING) | {
        "columns",
        "winner",
        "loser",
        "grades",
        "score",
        "percent",
        *THREE,
    }


@pytest.mark.parametrize(("coding", "side"), THREE.items())
def test_0_1_and_2_are_read_as_asked_or_refused(coding, side):
    codes = ["0", "1", "2"]
    assert wins(read(COLUMNS["own"], [*codes, "1"], coding=coding))[side] == 6
    for names in COLUMNS.values():
        with pytest.raises(ValueError, match=rf"'0' means .*, use coding='{coding}'"):
            read(names, codes)


@pytest.mark.parametrize("coding", MEANING)
@pytest.mark.sampled(3)
def test_codes_are_read_as_meant_or_refused_with_both_readings(coding):
    """Every subset of the codes of every coding, under every kind of columns."""
    meaning = MEANING[coding]
    sizes = range(1, len(meaning) + 1)
    subsets = [codes for size in sizes for codes in itertools.combinations(meaning, size)]
    for codes, names in itertools.product(subsets, COLUMNS):
        read_as_meant(coding, codes, names)


def read_as_meant(coding, codes, names):
    reading, found = chosen(COLUMNS[names], codes, coding)
    assert (reading.coding, found) == (coding, {c: MEANING[coding][c] for c in codes})
    if set(codes) == {"1", "0"} and COLUMNS[names][2] == "winner":
        with pytest.raises(
            ValueError, match=r"or be the second arm.*means={'0': '[?]', '1': '[?]'}"
        ):
            chosen(COLUMNS[names], codes)
        return
    open_code = next((code for code, most, _ in OPEN if {code} <= set(codes) <= most), None)
    if open_code is None or (open_code, names) in DECIDED:
        if set(codes) in ({"1", "0"}, {"0.5"}):  # wins and losses, not wins and ties without a loss
            coding = "1/0/0.5"
        coding = DECIDED.get((open_code, names), coding)
        reading, found = chosen(COLUMNS[names], codes)
        assert found == {c: ({"D": TIE} | MEANING[coding])[c] for c in codes}
        return
    ways = next(ways for code, _, ways in OPEN if code == open_code)
    with pytest.raises(ValueError, match=r"column '.*': .* can mean ") as raised:
        chosen(COLUMNS[names], codes)
    for name, side in ways.items():
        assert f"means {side}, use coding={name!r}" in str(raised.value)


@pytest.mark.parametrize("coding", MEANING)
@pytest.mark.sampled(2)
def test_a_batch_of_a_log_is_read_as_the_log_was(coding):
    """However few codes occur in the batch; all of the log's coding occur in it."""
    whole = read(COLUMNS["own"], MEANING[coding])
    for code, result in MEANING[coding].items():
        batch = bd.read_duels(log(COLUMNS["own"], [code]), like=whole)
        assert wins(batch) == {LEFT: 0, RIGHT: 0, TIE: 0} | {result: 3}


@pytest.mark.parametrize(("code", "names"), DECIDED)
def test_columns_decide_and_the_other_coding_is_named(code, names):
    found = read(COLUMNS[names], [code]).read_summary
    assert found.reading["coding"] == DECIDED[code, names]
    (other,) = found.other_codings
    assert other in next(ways for least, _, ways in OPEN if least == code)


def test_a_log_of_1_and_0_has_wins_and_losses():
    found = read(COLUMNS["own"], ["1", "0"])
    assert wins(found) == {LEFT: 3, RIGHT: 3, TIE: 0}
    assert found.read_summary.other_codings == ("1/-1/0",)


@pytest.mark.parametrize("names", [("b", "a", "said"), ("Old text", "new_text", "said")])
def test_the_names_of_the_columns_decide(names):
    for side, code in ((LEFT, names[0]), (RIGHT, names[1])):
        found = read(names, [code])
        assert wins(found)[side] == 3
        assert found.read_summary.reading["coding"] == "columns"


def test_numbers_as_columns_do_not_decide():
    with pytest.raises(ValueError, match="means left, use coding='columns'"):
        read(("0", "1", "2"), ["0"])


@pytest.mark.parametrize(
    ("rows", "wins"),
    [
        ([("a", "b", "a"), ("a", "c", "a")], 2),  # a/b and the winner's name agree
        ([("l", "m", "l"), ("n", "l", "l")], 2),
        ([("a", "b", "a"), ("c", "a", "a"), ("b", "c", "c"), ("b", "c", "b")], 2),
    ],
)
def test_names_of_winners_are_names(rows, wins):
    found = bd.read_duels(pd.DataFrame(rows, columns=["left", "right", "winner"]), coding="winner")
    assert found.tally().wins[0].sum() == wins
    try:
        assert (
            bd.read_duels(pd.DataFrame(rows, columns=["left", "right", "winner"]))
            .tally()
            .wins[0]
            .sum()
            == wins
        )
    except ValueError as error:
        assert "can be a side or an arm" in str(error)


def test_a_typo_does_not_change_who_won():
    """A stray B among A and D of home and away: the bad row is named, A stays the away side."""
    with pytest.raises(ValueError, match=r"row 102 .*column 'FTR' should be h, a or tie, got 'B'"):
        bd.read_duels(
            pd.DataFrame(
                [("x", "y", "A")] * 99 + [("x", "y", "D")] * 3 + [("x", "y", "B")],
                columns=["home", "away", "FTR"],
            )
        )


def test_an_unknown_coding_is_refused():
    with pytest.raises(ValueError, match="coding should be"):
        read(COLUMNS["own"], ["W"], coding="w/d/l")
    with pytest.raises(ValueError, match="coding='w/l' needs a column of outcomes"):
        bd.read_duels([("a", "b"), ("b", "c")], coding="w/l")


# -- stored --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "stored"),
    [
        (("1",), None), (("1", "0"), "1/0/0.5"), (("1", "-1"), "1/-1/0"), (("W",), None),
        (("tie",), None), (("1", "tie"), None), (("2",), "1/2"),
    ],
)  # fmt: skip
def test_a_coding_that_the_codes_leave_open_is_not_stored(codes, stored):
    assert read(COLUMNS["own"], codes).read_summary.reading.get("coding") == stored


def test_what_is_stored_reads_the_same_log_again():
    rows = log(("p", "q", "how"), ["W", "L", "D"]).assign(
        up=2, down=1, who="u", when="2024-01-01", times=2, extra=0.5
    )
    rows.loc[rows["how"] == "L", ["up", "down"]] = 1, 2
    rows.loc[rows["how"] == "D", "down"] = 2
    options = {"left": "p", "right": "q", "outcome": "how", "margin": ("up", "down"),
               "judge": "who", "time": "when", "weight": "times", "group": False,
               "covariates": ["extra"], "ties": "half"}  # fmt: skip
    whole = bd.read_duels(rows, **options)
    again = bd.read_duels(rows, like=whole)
    assert again.read_summary.reading == whole.read_summary.reading
    assert again.read_summary.reading == {**options, "coding": "w/l", "margin": ["up", "down"]}
    for column in ("outcome", "margin", "judge", "time", "weight", "covariates"):
        assert (getattr(again.votes, column) == getattr(whole.votes, column)).all()
    other = bd.read_duels(rows.rename(columns={"p": "one"}), like=whole, left="one")
    assert other.read_summary.reading["left"] == "one"
    with pytest.raises(ValueError, match=r"no column .p. for left.*where they are not given"):
        bd.read_duels(rows.rename(columns={"p": "one"}), like=whole)


def test_an_option_that_is_given_as_its_default_is_not_that_of_the_earlier_log():
    rows = pd.DataFrame({"left": list("aab"), "right": list("bcc"), "outcome": [1, 0.5, 0]})
    whole = bd.read_duels(rows, ties="half")
    assert bd.read_duels(rows, like=whole).tie_rule == "half"
    assert bd.read_duels(rows, like=whole, ties="keep").tie_rule == "keep"
    times = pd.DataFrame({"left": list("ab"), "right": list("bc"), "margin": [1.0, 2.0]})
    quick = bd.read_duels(times, lower_is_better=True)
    first = [bd.read_duels(times, like=quick, **given).tally().wins[0, 1]
             for given in ({}, {"lower_is_better": False}, {"judge": None})]  # fmt: skip
    assert first == [0, 1, 0]


@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "frame"])
def test_a_value_that_the_stored_coding_does_not_understand_is_refused(tmp_path, kind):
    whole = read(COLUMNS["own"], ["W", "L", "D"])
    batch = log(COLUMNS["own"], ["W", "R"], 1)
    path = tmp_path / f"new.{kind}"
    if kind == "csv":
        batch.to_csv(path, index=False)
    elif kind == "parquet":
        batch.to_parquet(path)
    elif kind == "json":
        path = tmp_path / "new.jsonl"
        batch.to_json(path, orient="records", lines=True)
    given = batch if kind == "frame" else path
    place = {"csv": "line 3", "json": "line 2"}.get(kind, "row 1")
    rule = r"'result' should be w, l or tie \(coding 'w/l'\), got 'R'; .*columns and coding are as"
    with pytest.raises(ValueError, match=f"{place}.*{rule} in the earlier log"):
        bd.read_duels(given, like=whole)


def test_counts_by_pair_need_no_coding():
    whole = read(COLUMNS["own"], ["W", "L", "D"])
    table = pd.DataFrame([("x", "y", 3, 1)], columns=["a", "b", "wins_a", "wins_b"])
    assert bd.read_duels(table, like=whole).n_duels == 4
