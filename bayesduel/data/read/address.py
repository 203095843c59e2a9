"""Addresses of logs: a table of a database, or a file on the web, as DuckDB reads them.

========================================  ===========================  ==================
``duckdb:///votes.db::TABLE``             a file of DuckDB             nothing more
``sqlite:///votes.sqlite::TABLE``         a file of SQLite             ``sqlite_scanner``
``postgresql://user@host/base::TABLE``    a database of PostgreSQL     ``postgres_scanner``
``s3://bucket/*.parquet``                 files of an object store     ``httpfs``
``https://host/votes.parquet``            a file on the web            ``httpfs``
========================================  ===========================  ==================

Three slashes begin a relative path, four an absolute one. TABLE is what follows the last ``::``: a
table or a view, with its schema in front where several have it (``arena.votes``). The last column
names the extension of DuckDB that has to be installed already: nothing is installed or loaded from
a network. Keys of an object store are the secrets that the user's DuckDB keeps.

An address is data: its parts are quoted, databases are attached read-only, and what a file of
DuckDB contains (a view, say) reaches no other file and no network. Passwords and signatures are
left out wherever an address is shown.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from bayesduel.data.read.formats import check_file
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.system.arguments import shown_value
from bayesduel.text import join

__all__ = ["files_of", "is_address", "opened_address", "shown_address"]

DATABASES = {
    "duckdb": "",
    "sqlite": "sqlite_scanner",
    "postgresql": "postgres_scanner",
    "postgres": "postgres_scanner",
}
WEB = ("s3", "gs", "gcs", "r2", "https", "http")
ADDRESS = re.compile(rf"({'|'.join((*DATABASES, *WEB))})://(.*)", flags=re.S)
READERS = {
    r"\.parquet": "read_parquet({}, hive_partitioning=false)",
    r"\.[ct]sv(\.gz|\.zst)?": "read_csv({}, header=true, all_varchar=true, nullstr='', "
    "hive_partitioning=false)",
}
TABLES = """
SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'log'
ORDER BY ALL"""
PASSWORD = re.compile(r"(://[^/@]*?):[^/]*@")


def is_address(given: object) -> bool:
    """Return whether a text is the address of a log, not a path."""
    return isinstance(given, str) and ADDRESS.match(given) is not None


def shown_address(text: str) -> str:
    """Return a text as it may be shown: of an address, without its password and its query."""
    if not is_address(text):
        return text
    base, found, table = text.rpartition("::")
    if not ADDRESS.match(base) or text.startswith(WEB):
        base = text
        found = ""
        table = ""
    return PASSWORD.sub(r"\1@", base).partition("?")[0] + found + table


@contextmanager
def opened_address(con: duckdb.DuckDBPyConnection, address: str) -> Iterator[Any]:
    """Yield the rows at an address as a relation of DuckDB; while open, errors name the address.

    con: a connection, into which a database is attached as ``log``.
    address: as in the module.
    Raises FileNotFoundError if a file of a database does not exist; ValueError if the address names
    no table, DuckDB lacks an extension, or it cannot be read.
    """
    try:
        yield con.sql(f"FROM {_source(con, address)}")
    except duckdb.Error as error:
        shown = re.escape(address.rpartition("::")[0] or address)
        said = re.sub(f"(['\"]?){shown}\\1", "it", str(error).splitlines()[0])
        raise ValueError(
            f"{shown_address(address)}: cannot be read: {PASSWORD.sub(r'\1@', said)}"
        ) from None


def files_of(address: str) -> tuple[str, ...]:
    """Return the absolute path of the file of a database, if it is in one."""
    scheme, place = ADDRESS.fullmatch(address).groups()  # type: ignore[union-attr]
    path = place.rpartition("::")[0].removeprefix("/")
    return (os.path.abspath(path),) if scheme in ("duckdb", "sqlite") else ()


def _source(con: duckdb.DuckDBPyConnection, address: str) -> str:
    """Return the table of an attached database, or the table function of a file on the web."""
    scheme, place = ADDRESS.fullmatch(address).groups()  # type: ignore[union-attr]
    name = shown_address(address)
    path = place.partition("?")[0]
    base, _, table = address.rpartition("::")
    readers = [READERS[ending] for ending in READERS if re.search(f"{ending}$", path)]
    reader = readers[0] if readers else ""
    if scheme in WEB and not reader:
        raise ValueError(f"{name}: should end in .parquet, .csv or .tsv (plain, .gz or .zst)")
    if scheme not in WEB and not (table and ADDRESS.match(base)):
        raise ValueError(f"{name}: an address of a database should end in ::TABLE")
    if extension := DATABASES.get(scheme, "httpfs"):
        try:
            con.execute(f"LOAD {extension}")
        except duckdb.Error:
            raise ValueError(
                f"{name}: should be read by a DuckDB with the extension {extension}, got DuckDB "
                f"{duckdb.__version__} without (INSTALL {extension} in DuckDB; not done here)"
            ) from None
    if scheme in WEB:
        return reader.format(text_in_sql(address))
    for base in files_of(address):
        check_file(base)
    kind = scheme.replace("postgresql", "postgres")
    con.execute(f"ATTACH {text_in_sql(base)} AS log (TYPE {kind}, READ_ONLY)")
    if scheme == "duckdb":  # a view in it may name other files
        con.execute("SET enable_external_access = false")
    tables = con.execute(TABLES).fetchall()
    fitting = [parts for parts in tables if table in (parts[1], ".".join(parts))]
    if len(fitting) != 1:
        there = join([".".join(parts) for parts in fitting or tables], quote=True)
        raise ValueError(f"{name}: should name one table of {there}, got {shown_value(table)}")
    return f"log.{'.'.join(map(name_of, fitting[0]))}"
