"""Ways to break a file as a whole."""

import bz2

import numpy as np

from tests.support.breaking import Broken, case, rows, text


@case
def empty_file(rng):
    return Broken("log.csv", b"", ": the file is empty")


@case
def header_only(rng):
    return Broken("log.csv", b"left,right,outcome\n", ": should contain duels, got no rows")


@case
def blank_first_line(rng):
    return Broken(
        "log.csv", b"\n" + text(rows(rng)), ", line 1: should be a header line, got a blank line"
    )


@case
def no_header(rng):
    return Broken(
        "log.csv",
        text(rows(rng)).split(b"\n", 1)[1],
        r": no column for right; .* 'left'. Is the header line missing\?",
    )


@case
def wrong_columns(rng):
    data = text(rows(rng)).replace(b"left,right,outcome", b"x,y,z", 1)
    return Broken("log.csv", data, ": no column for left and right; .* 'x', 'y', 'z'")


@case
def one_column(rng):
    return Broken("log.csv", b"left\na\nb\n", ": no column for right; .* Is the header line")


@case
def no_outcome_column(rng):
    return Broken("log.csv", b"left,right\na,b\n", ": no column for the outcome")


@case
def repeated_column(rng):
    data = text(rows(rng)).replace(b"left,right,outcome", b"left,right,left", 1)
    return Broken("log.csv", data, ", line 1: columns should have distinct names, got 'left'")


@case
def one_arm(rng):
    return Broken(
        "log.csv", b"left,right,outcome\na,a,left\n", ": a log should contain at least two"
    )


@case
def all_self_duels(rng):
    data = b"left,right,outcome\n" + b"a,a,left\nb,b,right\n" * 20
    return Broken("log.csv", data, ": a log should contain at least one duel between two arms")


@case
def nothing_but_zero_weights(rng):
    data = b"left,right,outcome,weight\na,b,left,0\n"
    return Broken("log.csv", data, ": a log should contain at least one duel between two arms")


@case
def outcomes_nobody_understands(rng):
    data = text([[*f[:2], "?!"] for f in rows(rng)])
    return Broken("log.csv", data, r": column 'outcome' should say who won .* values are '\?!'")


@case
def outcomes_that_are_sides_or_arms(rng):
    data = b"left,right,outcome\n" + b"a,b,a\nb,a,a\n" * 20
    return Broken("log.csv", data, ": column 'outcome': 'a' can be a side or an arm")


@case
def utf16(rng):
    return Broken("log.csv", text(rows(rng)).decode().encode("utf-16"), r": .* UTF-16 \(byte 0")


@case
def utf16_without_a_mark(rng):
    data = text(rows(rng)).decode().encode("utf-16-le")
    return Broken("log.csv", data, ": should be text, got a NUL in line 1 at byte 1")


@case
def binary_file(rng):
    data = b"\x93NUMPY\x01\x00" + bytes(rng.integers(0, 256, size=5_000, dtype=np.uint8))
    return Broken("log.csv", data, ": should be (text|UTF-8), got .* in line 1 at byte")


@case
def bzip2_file(rng):
    data = bz2.compress(text(rows(rng)))
    return Broken("log.csv.bz2", data, r": should be a table, got a bzip2 file \(byte 0")


@case
def database_file(rng):
    data = bytes(8) + b"DUCK" + bytes(100)
    return Broken("log.db", data, ": should be a table, .*read one of it by duckdb:///.*::TABLE")


@case
def excel_file(rng):
    return Broken(
        "log.csv", b"PK\x03\x04" + bytes(100), r": should be a table, got a zip archive .*\(byte 0"
    )
