"""Ways to break a text file: its fields and its lines."""

import numpy as np

from tests.support.breaking import (
    CASES,
    HEADER,
    Broken,
    case,
    pick,
    rows,
    text,
    with_field,
    with_line,
)

# Name of the case: the column, the field in it, and what the message says after the column.
FIELDS = {
    "unknown_outcome": ("outcome", "lfet", "should be left, right or tie, got 'lfet'"),
    "missing_outcome": ("outcome", "", "is empty. To leave rows without a value out: "),
    "outcome_of_another_coding": ("outcome", "1", "should be left, right or tie, got '1'"),
    "empty_label": ("left", "", "should name an arm, got nothing"),
    "blank_label": ("right", "   ", "should name an arm, got '   '"),
    "bom_inside": ("left", "\ufeffarm 1", "should name an arm without control characters"),
    "nul_in_a_label": ("right", "arm\0 1", "should name an arm without control characters"),
    "label_of_a_million_characters": (
        "left",
        "x" * 1_000_000,
        "should name an arm in at most 10,000",
    ),
    "negative_weight": ("weight", "-1", "should be a whole number of identical duels"),
    "fractional_weight": (
        "weight",
        "0.37",
        r"should be .* \(sampling_weight= for weights of a survey\)",
    ),
    "huge_weight": ("weight", "1e300", "should be a whole number of identical duels"),
    "weight_of_text": ("weight", "many", "should be a whole number .* got 'many'"),
    "missing_weight": ("weight", "", "should be a whole number .* got nothing"),
    "nan_margin": ("margin", "nan", "should be a finite number .* got 'nan'"),
    "infinite_margin": ("margin", "inf", "should be a finite number .* got 'inf'"),
    "decimal_comma_in_a_margin": ("margin", '"1,5"', "should be a finite number .* got '1,5'"),
    "unparsable_time": ("time", "19/12/2016", "should be an ISO date or time .* '19/12/2016'"),
    "impossible_date": ("time", "2024-02-31", "should be an ISO date or time"),
}
# Name of the case: the line, and what the message says.
LINES = {
    "line_of_a_million_characters": (b"x" * 1_000_000 + b"\n", "should have 3 fields .* got 1"),
    "line_of_three_million_characters": (
        b"x" * 3_000_000 + b",b,left\n",
        "should be at most 2,000,000 bytes",
    ),
    "invalid_utf8": (b"caf\xe9,arm 1,left\n", "should be UTF-8"),
    "carriage_return_in_a_line": (b"arm\r 1,arm 2,left\n", "should end as line 1 does"),
    "one_line_end_of_windows": (b"arm 1,arm 2,left\r\n", "should end as line 1 does"),
    "open_quote": (b'"arm 1,arm 2,left\n', "has a quote that is not closed"),
    "text_after_a_quote": (b'"arm"1,arm 2,left\n', "has a quote that is not closed"),
    "another_header": (b"model_a,model_b,winner\n", "column 'outcome' .* got 'winner'"),
}

for name, broken in FIELDS.items():
    CASES[name] = lambda rng, broken=broken: with_field(rng, *broken)
for name, (line, message) in LINES.items():
    CASES[name] = lambda rng, line=line, message=message: with_line(rng, lambda f: line, message)


@case
def stray_code_in_numbers(rng):
    table, (row, line) = rows(rng), pick(rng)
    for fields in table:
        fields[2] = {"left": "1", "right": "0", "tie": "0.5"}[fields[2]]
    table[row][2] = "-1"
    return Broken("log.csv", text(table), f"{line}column 'outcome' should be 1, 0 or 0.5, got '-1'")


@case
def winner_not_in_the_duel(rng):
    table, (row, line) = rows(rng), pick(rng)
    for fields in table:
        fields[2] = {"left": fields[0], "right": fields[1], "tie": "tie"}[fields[2]]
    table[row][2] = "arm 9"
    return Broken("log.csv", text(table), f"{line}column 'outcome' should be the winner's name")


@case
def margin_against_the_outcome(rng):
    table, (row, line) = rows(rng), pick(rng)
    table[row][2:5] = ["left", "1", "-3"]
    return Broken(
        "log.csv", text(table, 5), f"{line}column 'margin' should agree with outcome 'left'"
    )


@case
def score_of_text(rng):
    table, (row, line) = rows(rng), pick(rng)
    lines = ["home,away,home_score,away_score"]
    scores = [["2", "1"] for _ in table]
    scores[row][1] = "walkover"
    lines += [",".join([*f[:2], *s]) for f, s in zip(table, scores, strict=True)]
    return Broken(
        "log.csv",
        "\n".join(lines).encode(),
        f"{line}column 'home_score' - 'away_score' should be a finite number .* '2' and 'walkover'",
    )


@case
def too_few_fields(rng):
    return with_line(
        rng, lambda f: ",".join(f[:2]).encode() + b"\n", "should have 3 fields .* got 2"
    )


@case
def too_many_fields(rng):
    return with_line(
        rng, lambda f: ",".join(f[:4]).encode() + b"\n", "should have 3 fields .* got 4"
    )


@case
def binary_rubbish_in_a_line(rng):
    rubbish = bytes(rng.integers(128, 256, size=300, dtype=np.uint8))
    return with_line(rng, lambda f: rubbish + b"\n", "should (be UTF-8|have 3 fields)")


@case
def ragged_line_after_quoted_line_breaks(rng):
    table, (row, _) = rows(rng), pick(rng)
    table[2][0] = '"arm\nof two lines"'
    table[3][0] = '"arm\r\nof two lines"'
    lines = [",".join(f[:3]) for f in (HEADER, *table)]
    lines[row + 1] = "alone"
    return Broken("log.csv", "\n".join(lines).encode(), f", line {row + 4}: should have 3 fields")


@case
def bad_outcome_after_quoted_line_breaks(rng):
    table, (row, _) = rows(rng), pick(rng)
    table[2][0] = '"arm\nof two lines"'
    table[row][2] = "?"
    lines = [",".join(f[:3]) for f in (HEADER, *table)]
    return Broken("log.csv", "\n".join(lines).encode(), f", line {row + 3}: column 'outcome'")
