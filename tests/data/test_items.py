"""Tables of items: what becomes a design, and what is refused by name."""

import gzip

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.items import Items

GOOD = "item,price,style\na,1,plain\nb,2,fancy\nc,4,plain\nd,9,odd\n"


def written(tmp_path, text, name="items.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_numbers_are_standardised_and_words_become_indicators(tmp_path):
    items = bd.read_items(written(tmp_path, GOOD))
    assert items.labels == ("a", "b", "c", "d")
    assert items.names == ("price", "style: fancy", "style: odd")
    assert [a.reference for a in items.attributes] == ["", "plain", "plain"]
    matrix = items.matrix()
    np.testing.assert_allclose(matrix[:, 0].mean(), 0.0, atol=1e-15)
    np.testing.assert_allclose(matrix[:, 0].std(), 1.0)
    np.testing.assert_allclose(items.values[:, 0], [1, 2, 4, 9])
    np.testing.assert_allclose(matrix[:, 1:], [[0, 0], [1, 0], [0, 0], [0, 1]])
    np.testing.assert_allclose(items.matrix(["d", "a"]), matrix[[3, 0]])


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "pandas", "index", "polars"])
def test_every_form_of_a_table_is_the_same_items(kind, tmp_path):
    frame = pd.read_csv(written(tmp_path, GOOD))
    path = tmp_path / f"again.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        import polars as pl

        path = {"pandas": frame, "index": frame.set_index("item"), "polars": pl.from_pandas(frame)}[
            kind
        ]
    items, first = bd.read_items(path), bd.read_items(written(tmp_path, GOOD))
    assert items.labels == first.labels and items.attributes == first.attributes
    np.testing.assert_array_equal(items.values, first.values)


@pytest.mark.parametrize("how", ["gz", "glob"])
def test_files_are_read_as_those_of_duels(how, tmp_path):
    if how == "gz":
        path = tmp_path / "items.csv.gz"
        path.write_bytes(gzip.compress(GOOD.encode()))
    else:
        head, *rows = GOOD.splitlines(keepends=True)
        for k in (0, 2):
            (tmp_path / f"part{k}.csv").write_text(head + "".join(rows[k : k + 2]))
        path = tmp_path / "part*.csv"
    items, first = bd.read_items(path), bd.read_items(written(tmp_path, GOOD))
    assert (items.labels, items.attributes) == (first.labels, first.attributes)


def test_a_bad_row_of_a_frame_is_named():
    frame = pd.DataFrame({"item": ["a", "b"], "x": [1.0, np.nan]})
    with pytest.raises(ValueError, match=r"pandas DataFrame, row 1 \(the first is 0\): column 'x'"):
        bd.read_items(frame)


def test_labels_stay_as_they_are_written(tmp_path):
    items = bd.read_items(written(tmp_path, "item,x\n01,1\n1,2\n1.0,4\n"))
    assert items.labels == ("01", "1", "1.0")


def test_columns_and_references_can_be_chosen(tmp_path):
    path = written(tmp_path, GOOD)
    assert bd.read_items(path, leave_out=["style"]).names == ("price",)
    chosen = bd.read_items(path, columns=["style"], reference={"style": "odd"})
    assert chosen.names == ("style: fancy", "style: plain")


def test_new_items_are_read_in_the_same_attributes(tmp_path):
    items = bd.read_items(written(tmp_path, GOOD))
    new = bd.read_items(pd.DataFrame({"item": ["z"], "style": ["odd"], "price": [5]}), like=items)
    expected = (5 - np.mean([1, 2, 4, 9])) / np.std([1, 2, 4, 9])
    np.testing.assert_allclose(new.matrix(), [[expected, 0, 1]])


def test_items_survive_the_trip_through_a_fit(tmp_path):
    items = bd.read_items(written(tmp_path, GOOD))
    again = Items.from_dataset(items.to_dataset())
    assert again.labels == items.labels and again.attributes == items.attributes
    np.testing.assert_array_equal(again.values, items.values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,y,w\na,5,red\nb,5.0,red\n", "vary between items, got constant 'y' and 'w'"),
        (
            "item,x\na,1\nb,\nc,NA\n",
            "line 3: column 'x' should have no missing values, got nothing for 'b' and 'c'; fill "
            "it in, or leave out the column (leave_out='x')",
        ),
        (
            "item,x,y\na,,1\nb,2,\n",
            "got nothing for 'a'; fill it in, or leave out the columns (leave_out=['x', 'y']) "
            "(and 1 more bad row)",
        ),
        (
            "item,x\na,1\nb,inf\nc,2\n",
            "column 'x' should be a finite number from -1e+150 to 1e+150, got 'inf' for 'b'",
        ),
        ("item,x\na,1\nb,1.5.\nc,2\n", "'1.5.' is not a number"),
        (
            "item,x\na,1\nb,2\na,3\n",
            "line 4: column 'item' should have one row per item, got 'a'",
        ),
        (
            "item,x,url\na,1,p\nb,2,q\nc,4,r\n",
            "column 'url' should be numeric, or have levels",
        ),
        (
            "name,x\na,1\na,2\n",
            "items.csv: no column 'item' for the labels of the items (item= names it); "
            "the columns are 'name', 'x'",
        ),
        ("size,x\n1,1\n2,2\n", "no column 'item' for the labels of the items"),
        ("item\na\nb\n", "at least one attribute"),
        ("item,x\n,1\nb,2\n", "line 2: column 'item' should name an item, got nothing"),
    ],
)
def test_what_a_model_could_not_use_is_refused_by_name(text, said, tmp_path):
    with pytest.raises(ValueError, match=r"should|no column") as caught:
        bd.read_items(written(tmp_path, text))
    assert said in str(caught.value)


def test_a_column_with_one_value_is_left_out_and_said(tmp_path, capsys):
    items = bd.read_items(written(tmp_path, "item,x,y,w\na,1,5,red\nb,2,5.0,red\n"))
    assert items.names == ("x",)
    assert "items.csv: left out y and w (the same for all items)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("abcd", ""),
        (
            "abc",
            "No item of the log has style: odd, so the log says nothing of its effect. To leave "
            "out only this level, remove the items that have it from the table.",
        ),
        (
            "ac",
            "All items of the log have the same style, so the log says nothing of its effect. "
            "Leave it out: leave_out=['style'].",
        ),
    ],
)
def test_what_the_items_of_a_log_share_is_said_of_a_level_or_of_a_column(log, said, tmp_path):
    items = bd.read_items(written(tmp_path, GOOD))
    assert items.dependence([*log]) == said


def test_other_bad_arguments_are_named(tmp_path):
    path = written(tmp_path, GOOD)
    with pytest.raises(ValueError, match="no column 'colour'"):
        bd.read_items(path, leave_out=["colour"])
    with pytest.raises(ValueError, match="reference of 'style' should be"):
        bd.read_items(path, reference={"style": "loud"})
    with pytest.raises(
        ValueError, match="reference should be of a categorical column, got 'price'"
    ):
        bd.read_items(path, reference={"price": "1"})
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv: no such file"):
        bd.read_items(tmp_path / "nowhere.csv")
    with pytest.raises(TypeError, match=r"got builtins\.int"):
        bd.read_items(7)
    items = bd.read_items(path)
    with pytest.raises(ValueError, match="no column 'style' for an attribute"):
        bd.read_items(pd.DataFrame({"item": ["z"], "price": [3]}), like=items)
    gap = pd.DataFrame({"item": ["y", "z"], "price": [3, None], "style": ["odd", "odd"]})
    with pytest.raises(
        ValueError,
        match="'price' should have no missing values, got nothing for 'z'; fill it in, or leave "
        "out these items",
    ):
        bd.read_items(gap, like=items)
    with pytest.raises(ValueError, match="should be 'fancy', 'odd' or 'plain', got 'loud'"):
        bd.read_items(pd.DataFrame({"item": ["z"], "price": [3], "style": ["loud"]}), like=items)
    with pytest.raises(ValueError, match="without 'q'"):
        items.matrix(["a", "q"])


@pytest.mark.parametrize("name", ["item", "arm", "sample"])
def test_the_column_of_labels_is_found_and_a_guess_is_said(name, tmp_path, capsys):
    items = bd.read_items(written(tmp_path, f"{name},price,maker\nb1,1,x\nb2,2,y\nb3,4,x\n"))
    assert items.labels == ("b1", "b2", "b3")
    assert ("item=sample (guessed)" in capsys.readouterr().err) == (name == "sample")
