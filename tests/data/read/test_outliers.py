"""Outlying margins and covariates are named; those whose squares overflow are refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.health import OutlierWarning

ROW = 17
PLACE = {"csv": "line 19", "jsonl": "line 18", "parquet": "row 17", "frame": "row 17"}


def log_with(value, role, folder, ending):
    """Return a log of 60 duels whose row 17 has that size of a margin or a covariate."""
    rows = [("a", "b", "left"), ("b", "c", "right"), ("c", "a", "left")] * 20
    frame = pd.DataFrame(rows, columns=["left", "right", "outcome"])
    sign = np.where(frame["outcome"] == "left", 1.0, -1.0)
    frame[role] = sign * (1 + np.arange(60) % 5)
    frame.loc[ROW, role] = sign[ROW] * value
    path = folder / f"log.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        path.write_text("".join(f"{row}\n" for row in frame.to_json(orient="records", lines=True)
                                .splitlines()))  # fmt: skip
    else:
        return frame
    return path


def read(source, role):
    return bd.read_duels(source, covariates=[] if role == "margin" else [role])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", PLACE)
@pytest.mark.parametrize("role", ["margin", "x"])
@pytest.mark.parametrize("value", [1e6, 1e150])
def test_an_outlier_is_named_with_its_row(tmp_path, ending, role, value):
    source = log_with(value, role, tmp_path, ending)
    what = rf"{PLACE[ending]}\b.*: column '{role}' has an outlier .*, {value:g} \(median size 3\)$"
    with pytest.warns(OutlierWarning, match=what.replace("+", r"\+")) as caught:
        assert read(source, role).n_duels == 60
    assert len(caught) == 1


def test_the_first_of_several_outliers_is_named(tmp_path):
    frame = log_with(1e6, "margin", tmp_path, "frame")
    frame.loc[20, "margin"] = 1e7
    with pytest.warns(OutlierWarning, match=r"row 17 .*, 1e\+06 .*, and 1 more such row$"):
        bd.read_duels(frame)


@pytest.mark.parametrize("value", [5.0, 100.0, 3_000.0, 0.0])
def test_no_outlier_within_a_thousand_times_the_median(tmp_path, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.read_duels(log_with(value, "margin", tmp_path, "frame"), outcome="outcome")


@pytest.mark.parametrize("ending", PLACE)
@pytest.mark.parametrize("role", ["margin", "x"])
@pytest.mark.parametrize("value", [1.1e150, 1e300])
@pytest.mark.sampled(3)
def test_a_size_whose_square_overflows_is_refused(tmp_path, ending, role, value):
    source = log_with(value, role, tmp_path, ending)
    rule = (
        rf"{PLACE[ending]}\b.*: column '{role}' should be a finite number from -1e\+150 to 1e\+150"
    )
    with pytest.raises(ValueError, match=rule) as caught:
        read(source, role)
    assert f"{value:g}" in str(caught.value)


def test_a_difference_that_overflows_is_refused():
    frame = pd.DataFrame({"a": ["a"], "b": ["b"], "winner": ["a"], "x_a": [1e308], "x_b": [-1e308]})
    with pytest.raises(ValueError, match=r"column 'x_a' - 'x_b' should be .* 1e\+308 and -1e\+308"):
        bd.read_duels(frame, covariates=["x"])


@pytest.mark.parametrize("value", [1.1e150, 1e300, np.inf, np.nan])
def test_sizes_in_memory(value):
    rule = r"should be a finite number from -1e\+150 to 1e\+150, got .* at row 1"
    with pytest.raises(ValueError, match=f"margin {rule}"):
        bd.Duels.from_votes("ab", "ba", [1, 1], margin=[1, value])
    with pytest.raises(ValueError, match=rf"covariates\['x'\] {rule}"):
        bd.Duels.from_votes("ab", "ba", [1, 1], covariates={"x": [1, value]})


def test_attributes_of_items_whose_square_overflows():
    table = pd.DataFrame({"item": list("abc"), "x": [1.0, 2.0, 1e300]})
    with pytest.raises(ValueError, match=r"row 2 .*: column 'x' should be a finite .*'?1e\+300'?"):
        bd.read_items(table)
