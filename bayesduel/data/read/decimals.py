"""Numbers whose decimals follow a comma, as in much of Europe, or that have signs for thousands."""

import re
from collections.abc import Sequence
from typing import Any

from bayesduel.data.read.columns import PEEK, Columns
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.system.arguments import check_one_of

__all__ = ["columns_with_commas", "text_with_point", "with_points"]

WITH_COMMA = re.compile(r"\s*[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+\s*")
NUMBER = re.compile(r"\s*([+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?|[+-]?,\d+)?\s*")
# 1.050 where decimals follow commas
IN_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*")
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
WITH_POINT = re.compile(r"\s*([+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?)?\s*")


def columns_with_commas(source: Any, decimal: str | None) -> list[str]:
    """Return the columns whose numbers have decimal commas, or of points commas for thousands.

    decimal: the sign before decimals, "," or "."; the other one is between thousands. None: commas
        are recognised in a file of semicolons, where one number at least is not also one with a
        sign for thousands (``1,234``).

    Where a file has decimal commas, ``1.050`` is 1050 in its other columns, too, if every number of
    the column can be read so.
    Raises ValueError if it is another sign.
    """
    if decimal is not None:
        check_one_of(decimal, "decimal", [",", "."])
    if decimal is None and source.delimiter != ";":
        return []
    columns = Columns({name: name for name in source.columns()})
    rows = {}
    for name, column in source.peek(columns, PEEK).items():
        rows[name] = [text for text in column.texts if text]
    form = (THOUSANDS, WITH_POINT) if decimal == "." else (WITH_COMMA, NUMBER)
    found = [name for name, texts in rows.items() if _has_commas(texts, *form)]
    if decimal is None:
        texts = [text for name in found for text in rows[name] if "," in text]
        if all(THOUSANDS.fullmatch(text) for text in texts):
            return []
    if decimal == "," or found:
        others = [name for name in rows if name not in found]
        found += [name for name in others if _has_thousands(rows[name])]
    return found


def with_points(records: str, columns: Sequence[str], decimal: str | None) -> str:
    """Return the query of records with points before the decimals of some columns."""
    if not columns:
        return records
    comma = "" if decimal == "." else "."
    point = "." if decimal == "." else ""
    number = text_in_sql(_form(decimal).pattern)

    def with_point(column: str) -> str:
        text = f"({name_of(column)} ->> '$')"
        pointed = f"replace(replace({text}, '.', '{point}'), ',', '{comma}')"
        # "14.0" beside "13,5" is no number with commas: it stays
        return (
            f"to_json(CASE WHEN regexp_full_match({text}, {number}) THEN {pointed} ELSE {text} END)"
        )

    points = ", ".join(f"{with_point(c)} AS {name_of(c)}" for c in columns)
    return f"SELECT * REPLACE ({points}) FROM ({records})"


def text_with_point(text: str, decimal: str | None) -> str:
    """Return a number with a point before its decimals, as :func:`with_points` writes it."""
    if not _form(decimal).fullmatch(text):
        return text
    if decimal == ".":
        return text.replace(",", "")
    without_thousands = text.replace(".", "")
    return without_thousands.replace(",", ".")


def _form(decimal: str | None) -> re.Pattern[str]:
    """Return how a number is written where decimals follow this sign."""
    return WITH_POINT if decimal == "." else NUMBER


def _has_thousands(texts: Sequence[str]) -> bool:
    """Return whether a column without commas has points between thousands, and no others."""
    some = any(IN_THOUSANDS.fullmatch(text) for text in texts)
    return some and all(NUMBER.fullmatch(text) for text in texts)


def _has_commas(texts: Sequence[str], comma: re.Pattern[str], number: re.Pattern[str]) -> bool:
    """Return whether a text has a comma, and half of them at least are numbers."""
    if not any(comma.fullmatch(text) for text in texts):
        return False
    n_numbers = sum(bool(number.fullmatch(text)) for text in texts)
    return 2 * n_numbers >= len(texts)
