"""Every kind of broken file is refused with a message that names the file and the place.

The corruption is put at a random row; the seed of a case is its name, so it never moves.
"""

import gzip
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main

N_ROWS = 120


class Broken(NamedTuple):
    """A broken file: its name and bytes, and what the message must match (after its name)."""

    name: str
    data: bytes
    place: str


CASES: dict[str, Callable[[np.random.Generator], Broken]] = {}


def case(build: Callable[[np.random.Generator], Broken]):
    CASES[build.__name__] = build
    return build


def rows(rng: np.random.Generator) -> list[list[str]]:
    """Return a sound log: left, right, outcome, weight, margin, judge, time."""
    table = []
    for _ in range(N_ROWS):
        i, j = rng.choice(8, size=2, replace=False)
        margin = int(rng.integers(-4, 5))
        outcome = {1: "left", -1: "right", 0: "tie"}[int(np.sign(margin))]
        day = f"2024-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        table.append([f"arm {i}", f"arm {j}", outcome, "1", str(margin), "judge", day])
    return table


HEADER = ["left", "right", "outcome", "weight", "margin", "judge", "time"]


def text(table: list[list[str]], n_columns: int = 3, end: str = "\n") -> bytes:
    lines = [HEADER[:n_columns], *(row[:n_columns] for row in table)]
    return "".join(",".join(line) + end for line in lines).encode()


def pick(rng: np.random.Generator) -> tuple[int, str]:
    """Return a random row of the log, from 0, and the line it is on."""
    row = int(rng.integers(5, N_ROWS - 5))
    return row, f", line {row + 2}: "


def with_field(rng, column: str, value: str, message: str) -> Broken:
    """Return a log with one field of a random row replaced."""
    table, (row, line) = rows(rng), pick(rng)
    place = HEADER.index(column)
    table[row][place] = value
    return Broken("log.csv", text(table, max(3, place + 1)), f"{line}column '{column}' {message}")


def with_line(rng, line_of: Callable[[list[str]], bytes], message: str) -> Broken:
    """Return a log with the line of a random row replaced."""
    table, (row, line) = rows(rng), pick(rng)
    lines = text(table).splitlines(keepends=True)
    lines[row + 1] = line_of(table[row])
    return Broken("log.csv", b"".join(lines), line + message)


# -- fields --------------------------------------------------------------------------


@case
def unknown_outcome(rng):
    return with_field(rng, "outcome", "lfet", "should be left, right or tie, got 'lfet'")


@case
def missing_outcome(rng):
    return with_field(rng, "outcome", "", "should be left, right or tie, got nothing")


@case
def outcome_of_another_coding(rng):
    return with_field(rng, "outcome", "1", "should be left, right or tie, got '1'")


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
def empty_label(rng):
    return with_field(rng, "left", "", "should name an arm, got nothing")


@case
def blank_label(rng):
    return with_field(rng, "right", "   ", "should name an arm, got '   '")


@case
def nan_label(rng):
    return with_field(rng, "left", "NaN", "should name an arm, got 'NaN'")


@case
def none_label(rng):
    return with_field(rng, "right", "None", "should name an arm, got 'None'")


@case
def null_label(rng):
    return with_field(rng, "left", "null", "should name an arm, got 'null'")


@case
def bom_inside(rng):
    return with_field(rng, "left", "\ufeffarm 1", "should name an arm without control characters")


@case
def nul_in_a_label(rng):
    return with_field(rng, "right", "arm\0 1", "should name an arm without control characters")


@case
def label_of_a_million_characters(rng):
    return with_field(rng, "left", "x" * 1_000_000, "should name an arm in at most 10,000")


@case
def negative_weight(rng):
    return with_field(rng, "weight", "-1", "should be a whole number of identical duels")


@case
def fractional_weight(rng):
    return with_field(rng, "weight", "0.37", r"should be .* \(sampling weights are not supported\)")


@case
def huge_weight(rng):
    return with_field(rng, "weight", "1e300", "should be a whole number of identical duels")


@case
def weight_of_text(rng):
    return with_field(rng, "weight", "many", "should be a whole number .* got 'many'")


@case
def missing_weight(rng):
    return with_field(rng, "weight", "", "should be a whole number .* got nothing")


@case
def nan_margin(rng):
    return with_field(rng, "margin", "nan", "should be a finite number .* got 'nan'")


@case
def infinite_margin(rng):
    return with_field(rng, "margin", "inf", "should be a finite number .* got 'inf'")


@case
def decimal_comma_in_a_margin(rng):
    return with_field(rng, "margin", '"1,5"', "should be a finite number .* got '1,5'")


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
def unparsable_time(rng):
    return with_field(rng, "time", "19/12/2016", "should be an ISO date or time .* '19/12/2016'")


@case
def impossible_date(rng):
    return with_field(rng, "time", "2024-02-31", "should be an ISO date or time")


# -- lines ---------------------------------------------------------------------------


@case
def too_few_fields(rng):
    return with_line(
        rng, lambda f: ",".join(f[:2]).encode() + b"\n", "should have 3 fields .* has 2"
    )


@case
def too_many_fields(rng):
    return with_line(
        rng, lambda f: ",".join(f[:4]).encode() + b"\n", "should have 3 fields .* has 4"
    )


@case
def line_of_a_million_characters(rng):
    return with_line(rng, lambda f: b"x" * 1_000_000 + b"\n", "should have 3 fields .* has 1")


@case
def line_of_three_million_characters(rng):
    return with_line(
        rng, lambda f: b"x" * 3_000_000 + b",b,left\n", "should be at most 2,000,000 bytes"
    )


@case
def binary_rubbish_in_a_line(rng):
    rubbish = bytes(rng.integers(128, 256, size=300, dtype=np.uint8))
    return with_line(rng, lambda f: rubbish + b"\n", "should (be UTF-8|have 3 fields)")


@case
def invalid_utf8(rng):
    return with_line(rng, lambda f: b"caf\xe9,arm 1,left\n", "should be UTF-8")


@case
def carriage_return_in_a_line(rng):
    return with_line(rng, lambda f: b"arm\r 1,arm 2,left\n", "holds a carriage return")


@case
def one_line_end_of_windows(rng):
    return with_line(rng, lambda f: b"arm 1,arm 2,left\r\n", "holds a carriage return .* or ends")


@case
def open_quote(rng):
    return with_line(rng, lambda f: b'"arm 1,arm 2,left\n', "has a quote that is not closed")


@case
def text_after_a_quote(rng):
    return with_line(rng, lambda f: b'"arm"1,arm 2,left\n', "has a quote that is not closed")


@case
def header_repeated(rng):
    return with_line(rng, lambda f: b"left,right,outcome\n", "column 'outcome' .* got 'outcome'")


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


# -- whole files ---------------------------------------------------------------------


@case
def empty_file(rng):
    return Broken("log.csv", b"", ": the file is empty")


@case
def header_only(rng):
    return Broken("log.csv", b"left,right,outcome\n", ": should hold duels, holds no rows")


@case
def blank_first_line(rng):
    return Broken("log.csv", b"\n" + text(rows(rng)), ", line 1: should be a header line, is blank")


@case
def no_header(rng):
    return Broken(
        "log.csv",
        text(rows(rng)).split(b"\n", 1)[1],
        r": no column for right .*header line there\?.* 'left'$",
    )


@case
def wrong_columns(rng):
    data = text(rows(rng)).replace(b"left,right,outcome", b"x,y,z", 1)
    return Broken("log.csv", data, ": no column for left and right .* 'x', 'y', 'z'")


@case
def one_column(rng):
    return Broken("log.csv", b"left\na\nb\n", ": no column for right .* is the header line there")


@case
def no_outcome_column(rng):
    return Broken("log.csv", b"left,right\na,b\n", ": no column says who won")


@case
def repeated_column(rng):
    data = text(rows(rng)).replace(b"left,right,outcome", b"left,right,left", 1)
    return Broken("log.csv", data, ", line 1: columns should have distinct names, got 'left'")


@case
def one_arm(rng):
    return Broken("log.csv", b"left,right,outcome\na,a,left\n", ": a log should hold at least two")


@case
def all_self_duels(rng):
    data = b"left,right,outcome\n" + b"a,a,left\nb,b,right\n" * 20
    return Broken("log.csv", data, ": a log should hold at least one duel between two arms")


@case
def nothing_but_zero_weights(rng):
    data = b"left,right,outcome,weight\na,b,left,0\n"
    return Broken("log.csv", data, ": a log should hold at least one duel between two arms")


@case
def outcomes_nobody_understands(rng):
    data = text([[*f[:2], "?!"] for f in rows(rng)])
    return Broken("log.csv", data, r": column 'outcome' should say who won .* got '\?!'")


@case
def outcomes_that_are_sides_or_arms(rng):
    data = b"left,right,outcome\n" + b"a,b,a\nb,a,a\n" * 20
    return Broken("log.csv", data, ": column 'outcome' should say who won in one way, got 'a'")


@case
def utf16(rng):
    return Broken("log.csv", text(rows(rng)).decode().encode("utf-16"), r": .* UTF-16 \(byte 0")


@case
def utf16_without_a_mark(rng):
    data = text(rows(rng)).decode().encode("utf-16-le")
    return Broken("log.csv", data, ": should be text, line 1 holds a NUL at byte 1")


@case
def binary_file(rng):
    data = b"\x93NUMPY\x01\x00" + bytes(rng.integers(0, 256, size=5_000, dtype=np.uint8))
    return Broken("log.csv", data, ": should be (text|UTF-8), line 1 holds .* at byte")


@case
def excel_file(rng):
    return Broken("log.csv", b"PK\x03\x04" + bytes(100), r": is a zip archive .*\(byte 0")


# -- compression, Parquet, JSON ------------------------------------------------------


@case
def truncated_gzip(rng):
    data = gzip.compress(text(rows(rng)), mtime=0)
    cut = int(rng.integers(len(data) // 2, len(data) - 1))
    return Broken("log.csv.gz", data[:cut], ", line .* gzip data is damaged or cut short")


@case
def gzip_without_its_checksum(rng):
    data = gzip.compress(text(rows(rng)), mtime=0)
    return Broken("log.csv.gz", data[:-8] + bytes(8), ".*gzip data is damaged")


@case
def truncated_gzip_header(rng):
    data = gzip.compress(text(rows(rng)), mtime=0)
    return Broken("log.csv.gz", data[:6], ", line 1: the gzip data is damaged or cut short")


@case
def truncated_zstd(rng):
    lines = text([f for _ in range(400) for f in rows(rng)])
    data = pa.Codec("zstd").compress(lines).to_pybytes()
    cut = int(rng.integers(len(data) // 2, len(data) - 1))
    return Broken("log.csv.zst", data[:cut], ".* zstd data is damaged or cut short")


@case
def not_gzip(rng):
    return Broken("log.csv.gz", text(rows(rng)), r": its name says gzip .* \(byte 0\)")


@case
def gzip_by_another_name(rng):
    data = gzip.compress(text(rows(rng)), mtime=0)
    return Broken("log.csv", data, ": its name does not say gzip compression but its first bytes")


def parquet(table: list[list[str]]) -> bytes:
    columns = {name: [row[k] for row in table] for k, name in enumerate(HEADER[:3])}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, use_dictionary=False)
    return sink.getvalue().to_pybytes()


@case
def truncated_parquet(rng):
    data = parquet(rows(rng))
    cut = int(rng.integers(len(data) // 2, len(data) - 1))
    return Broken("log.parquet", data[:cut], f": the Parquet file is cut short.* byte {cut:,}")


@case
def damaged_parquet(rng):
    data = bytearray(parquet(rows(rng)))
    data[40:80] = bytes(40)
    return Broken("log.parquet", bytes(data), ": cannot be read as parquet")


@case
def not_parquet(rng):
    return Broken("log.parquet", text(rows(rng)), r": its name says Parquet but .* \(byte 0\)")


@case
def parquet_by_another_name(rng):
    return Broken("log.csv", parquet(rows(rng)), r": its name says text .* b'PAR1.* \(byte 0\)")


@case
def bad_outcome_in_parquet(rng):
    table, (row, _) = rows(rng), pick(rng)
    table[row][2] = "?"
    return Broken("log.parquet", parquet(table), f", row {row} .*: column 'outcome'")


def objects(table: list[list[str]]) -> list[str]:
    return [
        '{"left": "%s", "right": "%s", "outcome": "%s"}\n' % tuple(row[:3])  # noqa: UP031
        for row in table
    ]


def with_object(rng, line_of: Callable[[str], str], message: str) -> Broken:
    """Return JSON lines with a random line replaced."""
    lines = objects(rows(rng))
    row = pick(rng)[0]
    lines[row] = line_of(lines[row])
    return Broken("log.jsonl", "".join(lines).encode(), f", line {row + 1}: {message}")


@case
def truncated_object(rng):
    return with_object(rng, lambda line: line[:20] + "\n", "is not a JSON object")


@case
def array_for_an_object(rng):
    return with_object(rng, lambda line: '["a", "b", "left"]\n', "should hold a JSON object")


@case
def two_objects_on_a_line(rng):
    return with_object(rng, lambda line: line.strip() + line, "is not a JSON object")


@case
def another_key(rng):
    return with_object(rng, lambda line: line.replace("left", "lft", 1), "column 'left' should")


@case
def key_twice(rng):
    return with_object(
        rng, lambda line: line.replace("right", "left", 1), "names the key 'left' twice"
    )


@case
def null_in_an_object(rng):
    return with_object(
        rng, lambda line: '{"left": null, "right": "a", "outcome": "left"}\n', "column 'left'"
    )


@case
def array_of_objects(rng):
    data = "[" + ",".join(objects(rows(rng))) + "]"
    return Broken("log.json", data.encode(), ", line 1: .*JSON object")


@case
def json_by_another_name(rng):
    return Broken("log.csv", "".join(objects(rows(rng))).encode(), ": its name says text in col")


@case
def truncated_gzip_of_json(rng):
    data = gzip.compress("".join(objects(rows(rng))).encode(), mtime=0)
    cut = int(rng.integers(len(data) // 2, len(data) - 1))
    return Broken("log.jsonl.gz", data[:cut], ".* gzip data is damaged or cut short")


# -- the tests -----------------------------------------------------------------------


@pytest.fixture(params=sorted(CASES))
def broken(request, tmp_path: Path) -> tuple[Path, str]:
    found = CASES[request.param](np.random.default_rng(zlib.crc32(request.param.encode())))
    path = tmp_path / found.name
    path.write_bytes(found.data)
    return path, found.place


def test_there_are_at_least_30_kinds():
    assert len(CASES) >= 30


def test_refused_with_the_file_and_the_place(broken):
    path, place = broken
    with pytest.raises(ValueError) as caught:
        bd.read_duels(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert re.match(place, message.removeprefix(str(path))), message
    assert len(message) < 1_000


def test_the_command_ends_with_status_2_and_one_line(broken):
    path, place = broken
    result = CliRunner().invoke(main, ["health", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    said = [line for line in result.stderr.splitlines() if not line.startswith("read ")]
    assert len(said) == 1
    message = said[0].removeprefix("bayesduel: ").removeprefix(str(path))
    assert re.match(re.sub(" +", " ", place), message), said


def test_the_log_is_sound_before_it_is_broken(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(text(rows(np.random.default_rng(0)), 7))
    assert bd.read_duels(path).n_duels == N_ROWS


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv: no such file"):
        bd.read_duels(tmp_path / "nothing.csv")


def test_glob_that_matches_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\*\.csv: no file matches"):
        bd.read_duels(tmp_path / "*.csv")


def test_directory(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a directory, not a file"):
        bd.read_duels(tmp_path)


def test_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(text(rows(np.random.default_rng(0))))
    bd.read_duels(path)
    path.chmod(0)
    tmp_path.chmod(0o755)
    root = os.geteuid() == 0  # root may read everything: be nobody for a moment
    parents = [p for p in tmp_path.parents if root and p.stat().st_uid == 0 and p != p.parent]
    modes = {p: p.stat().st_mode for p in parents}
    for parent in parents:
        parent.chmod(modes[parent] | 0o055)
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match="not allowed to read it"):
            bd.read_duels(path)
    finally:
        if root:
            os.seteuid(0)
        for parent in parents:
            parent.chmod(modes[parent])


def test_files_of_a_glob_with_other_columns(tmp_path):
    (tmp_path / "a.csv").write_text("left,right,outcome\na,b,left\n")
    (tmp_path / "b.csv").write_text("left,right,winner\na,b,left\n")
    with pytest.raises(ValueError, match=r"b\.csv, line 1: .* differ in 'outcome'"):
        bd.read_duels(tmp_path / "*.csv")


def test_bad_row_in_the_second_file_of_a_glob(tmp_path):
    (tmp_path / "a.csv").write_text("left,right,outcome\na,b,left\n")
    (tmp_path / "b.csv").write_text("left,right,outcome\na,b,left\na,b\n")
    with pytest.raises(ValueError, match=r"b\.csv, line 3: should have 3 fields"):
        bd.read_duels(tmp_path / "*.csv")


def test_how_many_more_rows_are_bad(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\n,b,left\na,b,up\na,b,left\na,b,\na,b,left\n")
    with pytest.raises(ValueError, match=r"line 3: column 'left' .* \(and 2 more bad rows\)"):
        bd.read_duels(path)
    path.write_text("left,right,outcome\na,b,left\na,b\na,b,left\na\na,b,left,x\n")
    with pytest.raises(ValueError, match=r"line 3: .* \(and 2 more such lines\)"):
        bd.read_duels(path)


def spoil(data: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut, insert, delete or move some bytes at a random place."""
    i, n = int(rng.integers(len(data))), int(rng.integers(1, 40))
    other = int(rng.integers(len(data)))
    return [
        data[:i] + bytes([rng.integers(256)]) + data[i + 1 :],
        data[:i],
        data[:i] + bytes(rng.integers(0, 256, size=n, dtype=np.uint8)) + data[i:],
        data[:i] + data[i + n :],
        data[:i] + b'"' + data[i + 1 :],
        data[:i] + data[other : other + n] + data[i + n :],
    ][int(rng.integers(6))]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "log.csv.gz"])
def test_any_damage_is_read_or_refused_with_the_file_named(tmp_path, name, capsys):
    """Damage may leave a sound log (another label); it never ends in another exception."""
    rng = np.random.default_rng(17)
    table = rows(rng)
    data = {
        "log.csv": text(table, 7),
        "log.jsonl": "".join(objects(table)).encode(),
        "log.parquet": parquet(table),
        "log.csv.gz": gzip.compress(text(table, 7), mtime=0),
    }[name]
    path = tmp_path / name
    refused = 0
    for _ in range(12):
        path.write_bytes(spoil(data, rng))
        for mode in ("error", "skip"):
            try:
                intake = bd.read_duels(path, on_bad=mode).intake
            except ValueError as error:
                assert str(error).startswith(str(path))
                refused += mode == "error"
            else:
                assert intake.n_bad_rows == len(intake.bad_rows)
    assert refused >= 6
