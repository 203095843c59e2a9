"""Names and numbers as text."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from rich.cells import cell_len

from bayesduel.text import (
    count,
    csv_rows,
    file_names,
    join,
    json_ready,
    number_with_interval,
    p_value,
    percent,
    probability,
    shorten,
    significant,
    to_json,
    win_points,
)


@pytest.mark.parametrize(
    ("n", "limit", "words"),
    [(0, 6, ""), (1, 6, "a"), (2, 6, "a and b"), (3, 6, "a, b and c"), (4, 2, "a, b and 2 others"),
     (3, 2, "a, b and c")],
)  # fmt: skip
def test_names_are_joined(n, limit, words):
    assert join("abcd"[:n], limit) == words


def test_joined_names_are_shortened_or_quoted():
    assert cell_len(join(["x" * 100])) == 60
    assert join(["x" * 100], width=None) == "x" * 100
    assert join(["a", "b"], quote=True) == "'a' and 'b'"


@pytest.mark.parametrize("label", ["a" * 30, "模型" * 20, "e\u0301" * 40, "ab模" * 9])
@pytest.mark.parametrize("width", [5, 24])
def test_shortened_labels_fit(label, width):
    short = shorten(label, width)
    assert width - 2 <= cell_len(short) <= width
    assert shorten(short, width) == short


@pytest.mark.parametrize(
    ("p", "in_percent", "decimal"),
    [(0.0, "< 1", "< 0.01"), (0.004, "< 1", "< 0.01"), (0.5, "50", "0.50"),
     (0.9951, "> 99", "> 0.99"), (1.0, "> 99", "> 0.99")],
)  # fmt: skip
def test_nothing_uncertain_is_rounded_to_certainty(p, in_percent, decimal):
    assert percent(p) == in_percent
    assert probability(p) == decimal


def test_numbers_as_text():
    assert [count(1, "duel"), count(1234, "duel")] == ["1 duel", "1,234 duels"]
    assert [p_value(1 / 1001, 1000), p_value(0.031, 1000)] == ["p < 0.001", "p = 0.031"]
    assert p_value(0.5, 1000) == "p = 0.50"
    assert number_with_interval(0.4123, 0.2051, 0.6234) == "0.41 [0.21, 0.62]"
    assert number_with_interval(412.3, 205.1, 623.4) == "412 [205, 623]"


def test_significant_digits_have_no_exponent():
    assert [significant(331.4), significant(987.0, sign="+")] == ["331", "+987"]
    assert [significant(-5.0, sign="+"), significant(0.000132, 3)] == ["-5.0", "0.000132"]
    assert [significant(-0.0), significant(58.896, 3), significant(1234.5)] == [
        "0",
        "58.9",
        "1,234",
    ]


@dataclass
class Found:
    share: float
    counts: np.ndarray


def test_json_has_only_what_json_has():
    value = {
        1: Found(float("nan"), np.array([1.5, np.inf])),
        "names": ("a", {"b"}),
        "n": np.int64(3),
    }
    want = {"1": {"share": None, "counts": [1.5, None]}, "names": ["a", ["b"]], "n": 3}
    assert json_ready(value) == want
    assert json.loads(to_json(value)) == want


def test_file_names_of_labels_are_unique_and_plain():
    labels = [
        "a/b",
        "a b",
        "a?b",
        "A_B",
        "\u00c5",
        "A\u030a",
        "",
        ".",
        "..",
        "x.",
        "x",
        "\ud800",
        "y" * 900,
    ]
    labels += ["plain", *(f"a_b-{name}" for name in ("1", "2")), "模" * 100, "taken"]
    names = file_names(labels, ["taken"])
    again = file_names([*labels, names["a/b"]], ["taken"])  # a label that is another's name
    for found in (names, again):
        assert list(found)[: len(labels)] == labels
        assert len({name.casefold().rstrip(".") for name in found.values()}) == len(found)
        assert all(set(name) - set(".") and len(name.encode()) < 200 for name in found.values())
        assert not any(set(name) & set('/\\ ?*:"<>|') for name in found.values())
    assert names["plain"] == "plain" and names["taken"] != "taken"
    assert file_names(reversed(labels), ["taken"]) == names


def test_rows_of_a_csv_file_have_the_numbers_of_their_lines(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b'\xef\xbb\xbfleft,right\n"a\nb",c\nd,e\n')
    found = csv_rows(path, ("left", "right"))
    assert found == [(3, {"left": "a\nb", "right": "c"}), (4, {"left": "d", "right": "e"})]
    path.write_text("left,right,cost\na,b\n")
    assert csv_rows(path, ("left", "right"), short=True)[0][1]["cost"] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"left,right\n", "should have the columns left and right, and rows, got no row"),
        (b"left,wrong\na,b\n", "columns left and right, and rows, got left and wrong"),
        (b"left,right\na,b\nc\n", "line 3, should have 2 fields"),
        (b"left,right\na,b,c\n", "line 2, should have 2 fields"),
        (b"left,right\na,\xff\n", "should be a CSV file in UTF-8"),
        (b'left,right\na,"b"c\n', "should be a CSV file in UTF-8"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said(tmp_path, content, message):
    path = tmp_path / "pairs.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        csv_rows(path, ("left", "right"))


@pytest.mark.parametrize(
    ("rope", "words"),
    [(0.01, "1 point"), (0.02, "2 points"), (0.005, "0.5 points"), (0.1, "10 points")],
)
def test_a_difference_of_win_probabilities_in_words(rope, words):
    assert win_points(rope) == f"{words} of win probability"
