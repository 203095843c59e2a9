"""Options that say how a source is written: where, decimal, time_format; and spreadsheets."""

import importlib
import re
from contextlib import nullcontext
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.dates import format_of_dates
from bayesduel.system.arguments import command_line
from tests.support.spreadsheet import write_xlsx

TABLE = pd.DataFrame(
    {
        "left": ["a", "b", "c", "a", "b", "d e"],
        "right": ["b", "c", "a", "c", "a", "a"],
        "outcome": ["left", "right", "tie", "left", "left", "right"],
        "n": [1, 2, 10, 20, 100, 3],
        "status": ["ok", "ok", "spam", "ok", None, "o'k"],
        "valid": [True, False, True, True, True, False],
        "day": ["2024-01-05", "2024-02-01", "2023-12-31", "2024-03-01", "2024-01-01", "2022-01-01"],
        "zip code": ["01234", "99999", "00001", "01234", "55555", "10000"],
    }
)


@pytest.fixture(params=["csv", "jsonl", "parquet", "frame", "glob"])
def source(request, tmp_path):
    kind = request.param
    if kind == "frame":
        return TABLE
    if kind == "glob":
        TABLE[:2].to_csv(tmp_path / "1.csv", index=False)
        TABLE[2:].to_csv(tmp_path / "2.csv", index=False)
        return tmp_path / "*.csv"
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        TABLE.to_csv(path, index=False)
    elif kind == "jsonl":
        TABLE.to_json(path, orient="records", lines=True)
    else:
        TABLE.to_parquet(path)
    return path


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("status = 'ok'", [0, 1, 3]),
        ("n > 9", [2, 3, 4]),
        ("n > 2 AND n < 20", [2, 5]),
        ("valid", [0, 2, 3, 4]),
        ("NOT valid", [1, 5]),
        ("valid = 'TRUE'", [0, 2, 3, 4]),
        ("status IS NULL OR status = 'o''k'", [4, 5]),
        ("day >= '2024-01-01'", [0, 1, 3, 4]),
        ("day > DATE '2024-01-31' -- late\n", [1, 3]),
        ("year(day) = 2024 AND month(day) = 1", [0, 4]),
        ("\"zip code\" = '01234'", [0, 3]),
        ("\"left\" IN ('a', 'b') AND \"n\" <> 1", [1, 3, 4]),
        ("status LIKE 'o%'", [0, 1, 3, 5]),
    ],
)
@pytest.mark.sampled(6)
def test_where_keeps_the_rows_for_which_a_condition_is_true(source, where, kept):
    log = bd.read_duels(source, where=where, keep=["n"])
    frame = log.to_frame()
    assert sorted(map(int, frame["n"])) == sorted(TABLE["n"][kept])
    assert [line.rows for line in log.reading.left_out] == [len(TABLE) - len(kept)]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "frame", "scores", "rankings"])
def test_rows_whose_column_is_empty_are_told_where_a_condition_drops_them(kind, tmp_path, capsys):
    """SQL leaves out a row for which a condition is neither true nor false."""
    judge = ["j0", None, "j1", "j0", None, None, "j1", "j1"]
    table = pd.DataFrame({"left": list("ab") * 4, "right": list("ba") * 4, "outcome": ["left"] * 8})
    read = bd.read_duels
    options = {}
    if kind == "scores":
        table = pd.DataFrame({"item": range(8), "x": range(1, 9), "y": list("98765432")})
        options = {"shape": "scores"}
    if kind == "rankings":
        table = pd.DataFrame({"1": list("ab") * 4, "2": list("ba") * 4, "3": ["c"] * 8})
        read = bd.read_rankings
    table = table.assign(judge=judge)
    given = table
    if kind in ("csv", "jsonl", "parquet"):
        given = tmp_path / f"log.{kind}"
        write = {
            "csv": lambda: table.to_csv(given, index=False),
            "jsonl": lambda: table.to_json(given, orient="records", lines=True),
            "parquet": lambda: table.to_parquet(given),
        }
        write[kind]()
    log = read(given, where="judge <> 'j0'", **options)
    (line,) = log.reading.left_out
    assert line.rows == 5
    condition = "rows that do not satisfy the condition judge <> 'j0'"
    unknown = "in 3 of them it is neither true nor false, because a column is empty"
    assert line.understood == f"{condition}; {unknown}"
    assert f"{condition}; {unknown} (5 rows)" in capsys.readouterr().err
    known = read(given, where="judge <> 'j0' OR judge IS NULL", **options)
    (line,) = known.reading.left_out
    assert (line.understood.partition(";")[1], line.rows) == ("", 2)
    if kind != "scores":  # whose models are missed first
        with pytest.raises(ValueError, match=r"no row is left where .*in 3 rows it is neither"):
            read(given, where="judge = 'j9'", **options)


def test_the_command_tells_rows_whose_column_is_empty(tmp_path):
    from click.testing import CliRunner

    from bayesduel.cli import main

    log = tmp_path / "log.csv"
    log.write_text("left,right,outcome,judge\na,b,left,j0\na,b,left,\nb,a,left,j1\nb,a,left,j1\n")
    said = CliRunner().invoke(main, ["read", str(log), "--where", "judge <> 'j0'"])
    words = "in 1 of them it is neither true nor false, because a column is empty"
    assert said.exit_code == 0 and words in " ".join((said.stdout + said.stderr).split())


@pytest.mark.parametrize(
    ("where", "rule"),
    [
        ("n > 1; DROP TABLE records", "one condition"),
        ("n > 1) OR (1 = 1); SELECT 1 WHERE (true", "one condition"),
        ("n > 1) UNION SELECT (1", "one condition"),
        ("n >", "one condition"),
        ("", "one condition"),
        ("nowhere = 1", "names 'nowhere', which is not a column.*the columns are 'left'"),
        ("status = OK AND n = 1", "single quotes: status = 'OK' AND n = 1; the columns are"),
        ('status = "ok it is"', "single quotes: status = 'ok it is'; the columns are"),
        ("statuss = 'ok'", "'statuss', which is not a column; did you mean 'status'[?] A text"),
        ("n = 'many'", "one condition"),
        ("n > 1000", "no row is left where n > 1000"),
    ],
)
def test_where_is_one_condition(source, where, rule):
    with pytest.raises(ValueError, match=rule) as caught:
        bd.read_duels(source, where=where)
    assert "\n" not in str(caught.value)


def test_where_goes_with_a_shape_and_bad_rows_keep_their_lines(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,k\na,b,left,1\nb,a,left,2\na,b,up,3\na,b,up,1\n")
    assert bd.read_duels(path, where="k = 2").n_duels == 1
    with pytest.raises(ValueError, match=r"log.csv, line 4: column 'outcome'"):
        bd.read_duels(path, where="k > 1")
    table = pd.DataFrame({"question": [1, 2, 3, 4], "lang": ["de", "de", "en", "en"],
                          "x": [1.5, 2, 3, 4], "y": [2.5, 3, 1, 2]})  # fmt: skip
    assert bd.read_duels(table, shape="scores", where="lang = 'de'").n_duels == 2


# -- decimals --------------------------------------------------------------------------------

EURO = "date;player_a;player_b;score_a;score_b\n"


@pytest.mark.parametrize(
    ("rows", "margins", "decimal"),
    [
        ("x;a;b;84,3;81,6\nx;b;a;86,0;93,5\n", [2.7, -7.5], None),
        ("x;a;b;84;81,6\nx;b;a;86,25;93\n", [2.4, -6.75], None),
        ("x;a;b;-1,5;0,5\nx;b;a;,5;1\n", [-2.0, -0.5], None),
        ("x;a;b;1,234;2,5\nx;b;a;1,000;1\n", [-1.266, 0.0], None),
        ("x;a;b;1,234;2,345\nx;b;a;1,000;1,500\n", [-1.111, -0.5], ","),
        ("x;a;b;84.3;81.6\nx;b;a;86.0;93.5\n", [2.7, -7.5], None),
    ],
)
def test_decimal_commas(tmp_path, rows, margins, decimal):
    path = tmp_path / "log.csv"
    path.write_text(EURO + rows)
    log = bd.read_duels(path, decimal=decimal, time=False)
    np.testing.assert_allclose(log.to_frame()["margin"], margins)


def test_commas_that_may_be_of_thousands_are_not_guessed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(EURO + "x;a;b;1,234;2,345\nx;b;a;1,000;1,500\n")
    with pytest.raises(ValueError):
        bd.read_duels(path, time=False)
    path.write_text(EURO + "x;a, b;c;1,5;2,5\n")
    assert bd.read_duels(path, time=False).arms == ("a, b", "c")
    with pytest.raises(ValueError, match="decimal should be"):
        bd.read_duels(path, decimal=";")


# -- dates -----------------------------------------------------------------------------------

DAYS = [date(2024, 1, 5) + timedelta(days=29 * k) for k in range(12)]
FORMS = ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M",
         "%d %b %Y", "%B %d, %Y", "%m/%d/%Y %H:%M:%S"]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_dates_of_other_forms_are_read_where_they_leave_no_doubt(tmp_path, form, kind):
    table = pd.DataFrame({"left": "a", "right": "b", "outcome": "left",
                          "date": [day.strftime(form) for day in DAYS]})  # fmt: skip
    path = tmp_path / "log.csv"
    table.to_csv(path, index=False)
    log = bd.read_duels(path if kind == "csv" else table)
    assert log.votes.time.astype("datetime64[D]").tolist() == DAYS


@pytest.mark.parametrize("given", [None, "date"])
def test_days_and_months_that_cannot_be_told_apart_are_asked_for(tmp_path, given):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,date\na,b,left,03/04/2024\nb,a,left,05/06/2024\n")
    if given is None:
        assert "date" not in bd.read_duels(path).read_summary.columns.values()
    else:
        with (
            command_line(),
            pytest.raises(ValueError, match=r"line 2: .*--time-format.*got '03/04/2024'"),
        ):
            bd.read_duels(path, time=given)
    for form, month in (("%d/%m/%Y", 4), ("%m/%d/%Y", 3)):
        log = bd.read_duels(path, time_format=form)
        assert log.votes.time.astype("datetime64[M]").tolist()[0].month == month


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["25/12/2024", "01/02/2024"], "%d/%m/%Y"),
        (["12/25/2024", "01/02/2024"], "%m/%d/%Y"),
        (["12/25/2024", "25/12/2024"], None),
        (["01/02/2024"], None),
        (["01.02.2024"], "%d.%m.%Y"),
        (["01.02.2024", "01/02/2024"], None),
        (["32/01/2024"], None),
        (["13/08/24"], None),
        (["soon"], None),
        ([], None),
    ],
)
def test_the_format_of_dates(texts, form):
    assert format_of_dates(texts) == form


# -- spreadsheets ----------------------------------------------------------------------------

ROWS = [
    ["model_a", "model_b", "winner", "score", "fair"],
    ["GPT 4", "Клод", "model_a", 1, True],
    ["Клод", "GPT 4", "tie", 2.5, False],
    [7, "GPT 4", "model_b", None, True],
]


@pytest.mark.parametrize("sheets", [["Sheet 1"], ["votes", "notes"], ["empty", "votes"]])
def test_a_sheet_of_a_spreadsheet(tmp_path, capsys, sheets):
    pytest.importorskip("python_calamine")
    content = {name: ROWS if k == 0 else [["a", "b"], ["x", "y"]] for k, name in enumerate(sheets)}
    if sheets[0] == "empty":
        content = {"empty": [], "votes": ROWS}
    path = write_xlsx(tmp_path / "votes.xlsx", content)
    log = bd.read_duels(path)
    assert log.arms == ("7", "GPT 4", "Клод")
    assert log.read_summary.files == (str(path),)
    assert ("sheet 'votes' is read, not 'notes'" in capsys.readouterr().err) == ("notes" in sheets)
    assert bd.read_duels(path, where="fair").n_duels == 2


def test_a_bad_row_of_a_sheet_has_the_number_of_the_spreadsheet(tmp_path):
    pytest.importorskip("python_calamine")
    path = write_xlsx(tmp_path / "votes.xlsx", {"s": [*ROWS, [], ["a", "GPT 4", "up", 1, True]]})
    with pytest.raises(ValueError, match=r"votes.xlsx, row 6 of the sheet: column 'winner'"):
        bd.read_duels(path)
    csv = tmp_path / "more.csv"
    csv.write_text("model_a,model_b,winner\nb,c,model_a\n")
    good = write_xlsx(tmp_path / "good.xlsx", {"s": ROWS})
    assert bd.read_duels([csv, good]).n_duels == 4


@pytest.mark.parametrize("above", [0, 1, 3])
def test_rows_above_a_table_count_as_the_spreadsheet_numbers_them(tmp_path, above):
    pytest.importorskip("python_calamine")
    rows = [*[[]] * above, *ROWS, ["a", "GPT 4", "up", 1, True]]
    path = write_xlsx(tmp_path / "votes.xlsx", {"s": rows})
    with pytest.raises(ValueError, match=f"votes.xlsx, row {above + 5} of the sheet: column"):
        bd.read_duels(path)


@pytest.mark.parametrize("title", [["Tasting of 12 May"], ["Tasting", None, None, None, None]])
@pytest.mark.parametrize("between", [0, 2])
def test_a_title_above_the_header_of_a_sheet_is_named(tmp_path, title, between):
    pytest.importorskip("python_calamine")
    rows = [title, *[[]] * between, *ROWS]
    path = write_xlsx(tmp_path / "votes.xlsx", {"s": rows})
    said = f"row 1: should be the header line, got 'Tasting.*'; row {between + 2} may be it: delete"
    with pytest.raises(ValueError, match=said):
        bd.read_duels(path)


def test_what_is_no_spreadsheet_is_refused(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "votes.xlsx"
    for content in (b"left,right\n", b"PK\x03\x04nothing"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"votes.xlsx: cannot be read as a spreadsheet"):
            bd.read_duels(path)
    write_xlsx(path, {"s": [["only", "names"]]})
    with pytest.raises(ValueError, match="a sheet with a header line and rows, got none"):
        bd.read_duels(path)
    write_xlsx(path, {"s": [["a", "a"], ["x", "y"]]})
    with pytest.raises(ValueError, match="distinct names, got 'a' twice"):
        bd.read_duels(path)


def test_the_extra_is_named_where_it_is_missing(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path / "votes.xlsx", {"s": ROWS})
    real = importlib.import_module

    def without(name, *rest):
        if name == "python_calamine":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr("bayesduel.system.extras.import_module", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bayesduel\[excel\]'"):
        bd.read_duels(path)


def test_true_and_false_are_numbers_in_files_as_in_frames(tmp_path):
    words = ["TRUE", "False", "true", "FALSE"]
    table = pd.DataFrame({"left": list("abab"), "right": list("baba"), "outcome": [1, 0, 1, 1],
                          "neutral": words})  # fmt: skip
    path = tmp_path / "log.csv"
    table.to_csv(path, index=False)
    frame = table.assign(neutral=[True, False, True, False])
    for source in (path, table, frame):
        log = bd.read_duels(source, covariates=["neutral"])
        assert log.to_frame()["neutral"].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_labels_that_look_alike_are_said_as_health_does(tmp_path, capsys):
    path = tmp_path / "case.csv"
    path.write_text("left,right,outcome\nA,b,left\na,b,right\n", encoding="utf-8")
    duels = bd.read_duels(path)
    words = "1 pair of labels look alike: 'A' and 'a'"
    assert words in capsys.readouterr().err
    assert words in duels.reading.lines[0].understood
    assert f"{words}." in bd.health(duels).warnings


@pytest.mark.parametrize("score", ["1.204,5", "12,5", ",5", "12.5.1"])
def test_a_decimal_comma_that_is_not_read_names_the_option(score, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(f'left,right,margin\nx,y,"{score}"\ny,z,1.5\nx,z,2.5\n', encoding="utf-8")
    with pytest.raises(ValueError, match="should be a finite number") as caught:
        bd.read_duels(path)
    hint = "; if the comma is the decimal sign: decimal=','"
    assert (hint in str(caught.value)) == ("," in score)


def test_a_study_is_no_log_and_its_export_is_named(tmp_path):
    with bd.Study(tmp_path / "a.study", arms=["x", "y"]) as study:
        study.tell(study.ask(), "left")
    with pytest.raises(ValueError, match=r"got a study; write its duels with `bayesduel study exp"):
        bd.read_duels(tmp_path / "a.study")


# Columns of the arms, of a covariate for each side, and what to name in place of these.
PAIRS = {
    (("model_a", "model_b"), ("len_a", "len_b")): "len",
    (("left", "right"), ("left_x", "right_x")): "x",
    (("model_a", "model_b"), ("Model A tokens", "Model B tokens")): None,
    (("model_a", "model_b"), ("x1", "x2")): "",
    (("model_a", "model_b"), ("x", "y")): "",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by_command", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_both_columns_of_a_covariate_are_not_two_covariates(pair, by_command):
    stem = PAIRS[pair]
    arms, (left, right) = pair
    votes = {arms[0]: list("abab"), arms[1]: list("bcca"), "winner": [*arms] * 2}
    votes |= {left: [1, 2, 3, 4], right: [4, 3, 1, 2], "neutral": [1, 0, 1, 0]}
    if stem == "":  # two covariates
        log = bd.read_duels(votes, covariates=[left, right])
        assert log.votes.covariate_names == (left, right)
        return
    remedy = "give a column with their difference"
    if stem is not None:
        named = "--covariates neutral,{}" if by_command else "covariates=['neutral', '{}']"
        remedy = f"name it {stem!r} (left minus right), {named.format(stem)}"
    reader = command_line() if by_command else nullcontext()
    with reader, pytest.raises(ValueError, match=re.escape(remedy)):
        bd.read_duels(votes, covariates=[left, "neutral", right])
    assert bd.read_duels(votes, covariates=[left]).votes.covariate_names == (left,)
