"""Numbers whose decimals follow a comma, as in much of Europe: which columns have them."""

import re
from collections.abc import Sequence
from typing import Any

from bayesduel.data.read.columns import Columns
from bayesduel.data.read.sql import name_of
from bayesduel.system.arguments import check_one_of

__all__ = ["columns_with_commas", "with_points"]

PEEK = 500  # rows by which a column is judged
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
NUMBER = re.compile(r"\s*([+-]?\d+([,]\d+)?|[+-]?,\d+)?\s*")
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+\s*")


def columns_with_commas(source: Any, decimal: str | None) -> list[str]:
    """Return the columns whose numbers have decimal commas.

    decimal: the sign before decimals, "," or ".". None: recognised in a file of semicolons, where
        one number at least is not also one with a sign for thousands (``1,234``).
    Raises ValueError if it is another sign.
    """
    if decimal is not None:
        check_one_of(decimal, "decimal", [",", "."])
    if decimal == "." or (decimal is None and source.delimiter != ";"):
        return []
    first = source.peek(Columns({name: name for name in source.columns()}), PEEK)
    rows = {name: [text for text in column.texts if text] for name, column in first.items()}
    found = [name for name, texts in rows.items() if _has_commas(texts)]
    if decimal is None:
        texts = [text for name in found for text in rows[name] if "," in text]
        if all(THOUSANDS.fullmatch(text) for text in texts):
            return []
    return found


def with_points(records: str, columns: Sequence[str]) -> str:
    """Return the query of records with points for the commas of some columns."""
    if not columns:
        return records
    points = ", ".join(
        f"to_json(replace({name_of(c)} ->> '$', ',', '.')) AS {name_of(c)}" for c in columns
    )
    return f"SELECT * REPLACE ({points}) FROM ({records})"


def _has_commas(texts: Sequence[str]) -> bool:
    commas = any(WITH_COMMA.fullmatch(text) for text in texts)
    return commas and 2 * sum(bool(NUMBER.fullmatch(text)) for text in texts) >= len(texts)
