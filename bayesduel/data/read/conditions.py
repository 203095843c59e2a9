"""A condition in SQL on the rows of a log: numbers, dates and truth values as a user expects."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb

from bayesduel.data.read.rows import NUMBER
from bayesduel.data.read.shape import text_in_json
from bayesduel.data.read.sql import name_of
from bayesduel.system.arguments import by_reader, check_type, did_you_mean

__all__ = ["Dropped", "check_condition", "keep_where"]

# The first type that all known values of a column have is the one it is compared by.
TYPES = {
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "BIGINT": "regexp_full_match({0}, '[+-]?[0-9]{{1,18}}')",
    "DOUBLE": f"regexp_full_match({{0}}, '{NUMBER}')".replace("{1,18}", "{{1,18}}"),
    "DATE": "regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')",
    "TIMESTAMP": "TRY_CAST({0} AS TIMESTAMP) IS NOT NULL",
}


class Dropped(NamedTuple):
    """How many rows a condition leaves out."""

    rows: int  # for which it is not true
    unknown: int  # of them, those for which it is not false either: a column is empty


def check_condition(where: Any) -> None:
    """Raise TypeError or ValueError unless one condition in SQL is given."""
    check_type(where, str, "where", "a condition in SQL")
    try:
        duckdb.SQLExpression(where)
    except duckdb.Error as error:
        raise ValueError(f"{_rule(where)}: {_first_line(error)}") from None


def keep_where(
    con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str], where: str
) -> Dropped:
    """Delete the rows of the table ``records`` for which a condition is not true; return how many.

    name: what the table is called.
    Raises ValueError if the condition cannot be decided.
    """
    used = [c for c in columns if c.casefold() in where.casefold()]
    typed = ""
    for column in used:
        typed += f", TRY_CAST({_text(column)} AS {_type(con, column)}) AS {name_of(column)}"
    rows = f"SELECT row_of_file{typed} FROM records"
    kept = f"SELECT row_of_file FROM ({rows}) WHERE (\n{where}\n)"
    open_rows = f"SELECT count(*) FROM ({rows}) WHERE (\n{where}\n) IS NULL"
    try:
        ((unknown,),) = con.execute(open_rows).fetchall()
        deleted = con.execute(f"DELETE FROM records WHERE row_of_file NOT IN ({kept})").fetchall()
    except duckdb.Error as error:
        there = f"the columns are {', '.join(map(repr, columns))}"
        what = _unknown_column(error, columns, where) or f"{_rule(where)}: {_first_line(error)}; "
        raise ValueError(f"{name}: {what}{there}") from None
    return Dropped(int(deleted[0][0]), int(unknown))


def _unknown_column(error: duckdb.Error, columns: Sequence[str], where: str) -> str:
    """Return what to do about a name that is no column; "" where the error is another."""
    found = re.match(r'Binder Error: Referenced column "(.+)" not found', str(error))
    if found is None:
        return ""
    word = found[1]
    escaped = re.escape(word)
    as_text = re.sub(rf'"{escaped}"|\b{escaped}\b', f"'{word}'", where)
    return (
        f"{by_reader('where', '--where')} names {word!r}, which is not a column"
        f"{did_you_mean(word, columns) or '.'} A text stands in single quotes: {as_text}; "
    )


def _text(column: str) -> str:
    return f"trim({text_in_json(name_of(column))})"


def _type(con: duckdb.DuckDBPyConnection, column: str) -> str:
    """Return the type that all known values of a column have; each is looked at once."""
    values = f"SELECT DISTINCT {name_of(column)} FROM records"
    known = f"SELECT {_text(column)} AS v FROM ({values}) WHERE nullif(v, '') IS NOT NULL"
    tests = ", ".join(f"bool_and({test.format('v')})" for test in TYPES.values())
    (found,) = con.sql(f"SELECT {tests} FROM ({known})").fetchall()
    return next((kind for kind, fits in zip(TYPES, found, strict=True) if fits), "VARCHAR")


def _rule(where: str) -> str:
    return f"where should be one condition in SQL, such as \"status = 'ok'\", got {where!r}"


def _first_line(error: Exception) -> str:
    return re.split(r"\n", str(error), maxsplit=1)[0].strip()
