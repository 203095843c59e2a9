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


SIDES = {  # two scores of a row, and their difference where decimals follow commas
    "a comma in one column": (
        [("1.204,5", "900"), ("1.100,0", "1.050"), ("7", "2")],
        [304.5, 50, 5],
    ),
    "a comma in none": ([("1.204", "900"), ("1.100", "1.050"), ("2.000", "1.500")], [304, 50, 500]),
    "no thousands": ([("0.204", "0.900"), ("1,5", "1.05"), ("2", "1")], [-0.696, 0.45, 1]),
}


@pytest.mark.parametrize("sep", [",", ";"])
@pytest.mark.parametrize("given", [",", None])
@pytest.mark.parametrize("kind", SIDES)
def test_points_between_thousands_are_so_in_every_column(kind, given, sep, tmp_path):
    """Before, "1.050" was 1.05 in a column without a comma, where `decimal` was given, too."""
    rows, margins = SIDES[kind]
    if given is None and (sep == "," or kind == "a comma in none"):
        pytest.skip("nothing says that decimals follow commas")
    log = tmp_path / "log.csv"
    pairs = ["x", "y"], ["y", "z"], ["z", "x"]
    lines = [sep.join(["Team A", "Team B", "Score A", "Score B"])]
    lines += [
        sep.join([*pair, *(f'"{score}"' for score in scores)])
        for pair, scores in zip(pairs, rows, strict=True)
    ]
    log.write_text("\n".join(lines) + "\n")
    given_as = {} if given is None else {"decimal": given}
    read = bd.read_duels(log, **given_as).votes.margin
    assert read == pytest.approx(margins)


@pytest.mark.parametrize(("text", "value"), POINTS)
def test_a_column_with_points_refuses_what_is_neither(text, value, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(f"left;right;margin\na;b;1,234.5\nb;a;{text}\na;b;-2.5\n")
    if value is None:
        with pytest.raises(ValueError, match=r"line 3.*'14,0'"):
            bd.read_duels(log, decimal=".")
        return
    assert bd.read_duels(log, decimal=".").votes.margin.tolist() == [1234.5, value, -2.5]
