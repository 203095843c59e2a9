"""Numbers with decimal commas beside others of the same column, in logs and in tables of items."""

import pytest

import bayesduel as bd

COMMAS = [("13,5", 13.5), ("14.0", 14.0), ("1.001,5", 1001.5), ("1.400", 1400.0), (",5", 0.5)]
POINTS = [("13.5", 13.5), ("14,0", None), ("1,001.5", 1001.5), ("1,400", 1400.0), ("7", 7.0)]


@pytest.mark.parametrize(("text", "value"), COMMAS)
def test_a_column_with_commas_may_have_a_number_with_a_point(text, value, tmp_path):
    """Before, "14.0" beside "13,5" was 140."""
    log = tmp_path / "log.csv"
    log.write_text(f"left;right;margin\na;b;1,5\nb;a;{text}\na;b;-2,5\n")
    items = tmp_path / "items.csv"
    items.write_text(f"item;size\na;1,5\nb;{text}\nc;2,5\n")
    assert bd.read_duels(log).votes.margin.tolist() == [1.5, value, -2.5]
    assert bd.read_items(items).values[:, 0].tolist() == [1.5, value, 2.5]


@pytest.mark.parametrize(("text", "value"), POINTS)
def test_a_column_with_points_refuses_what_is_neither(text, value, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(f"left;right;margin\na;b;1,234.5\nb;a;{text}\na;b;-2.5\n")
    if value is None:
        with pytest.raises(ValueError, match=r"line 3.*'14,0'"):
            bd.read_duels(log, decimal=".")
        return
    assert bd.read_duels(log, decimal=".").votes.margin.tolist() == [1234.5, value, -2.5]
