"""Arms called NA, nan, None or "": names in text, missing values in columns of numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesduel as bd

NAMES = ["nan", "NA", "null", "None", "1.0", "1", "N/A"]


def rows(names):
    return [(a, b, "left") for a in names for b in names if a != b]


def csv(path, data, header="left,right,outcome"):
    path.write_text("\n".join([header, *(",".join(row) for row in data)]) + "\n")
    return path


def test_every_text_is_a_name_in_a_file(tmp_path, capsys):
    log = bd.read_duels(csv(tmp_path / "a.csv", rows([*NAMES, "x"])))
    assert set(log.arms) == {*NAMES, "x"}
    assert log.n_duels == 8 * 7
    assert "'NA'" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_every_text_is_a_name_in_a_frame(kind):
    names = [*NAMES, "x", ""]
    left, right, outcome = zip(*rows(names), strict=True)
    log = bd.read_duels(kind({"left": left, "right": right, "outcome": outcome}))
    assert set(log.arms) == set(names)


def test_missing_says_otherwise(tmp_path):
    path = csv(tmp_path / "a.csv", rows(["NA", "x", "y"]))
    with pytest.raises(ValueError, match="column 'left' should name an arm, got 'NA'"):
        bd.read_duels(path, missing=["NA"])
    log = bd.read_duels(path, missing=["NA"], on_bad="skip")
    assert log.arms == ("x", "y")
    assert log.read_summary.n_bad_rows == 4


def test_words_for_missing_values_are_missing_in_a_column_of_numbers(tmp_path):
    path = csv(tmp_path / "a.csv", [("1", "2", "left"), ("2", "nan", "left"), ("NA", "1", "left")])
    with pytest.raises(ValueError, match="line 3: column 'right' should name an arm, got 'nan'"):
        bd.read_duels(path)
    frame = pd.DataFrame({"left": [1.0, 2.0, 2.0], "right": [2.0, 1.0, np.nan], "outcome": "left"})
    with pytest.raises(ValueError, match="column 'right' should name an arm"):
        bd.read_duels(frame)


def test_empty_fields_of_a_file_are_missing(tmp_path):
    with pytest.raises(ValueError, match="should name an arm, got nothing"):
        bd.read_duels(csv(tmp_path / "a.csv", [("a", "b", "left"), ("", "b", "left")]))


def test_one_label_does_not_block_a_file_of_many_logs(tmp_path, capsys):
    """An arm and a log called NA, and a log without a duel between two arms, among 179."""
    data = [(a, b, "left", f"log{k}") for k in range(177) for a, b in ("xy", "yz", "zx")]
    data += [("NA", "y", "left", "NA"), ("y", "NA", "right", "NA"), ("x", "x", "tie", "alone")]
    logs = bd.read_duels(csv(tmp_path / "a.csv", data, "left,right,outcome,by"), by="by")
    assert len(logs) == 178
    assert logs["NA"].arms == ("NA", "y")
    assert "by=alone" in capsys.readouterr().err


def test_a_missing_name_does_not_make_the_others_of_its_side_other_arms(tmp_path):
    """Pandas makes floats of whole numbers in a column with a missing value."""
    frame = pd.DataFrame({"left": [1, 2, 3, 1], "right": [2, 3, 1, None], "outcome": "left"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for given in (
        frame,
        frame.rename(columns={"left": "right", "right": "left"}),
        tmp_path / "a.csv",
    ):
        assert bd.read_duels(given, on_bad="skip").arms == ("1", "2", "3")
