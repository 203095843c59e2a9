"""Reading: a Parquet log to tallies, beside one plain DuckDB statement that counts the same.

Run with ``python -m benchmarks.reading [--rows N]``. The log is made by a hash of the row
number, so it is the same every time: arms by name, outcomes left, right or tie; then a CSV of
1,000,000 rows with judges and times, whose votes are kept. Each reader
runs in a process of its own, three times; the fewest seconds count, from the file to the
tallies, imports left out. Memory is the peak resident size of the process, imports included.

Where the CSV's processor time goes (0.50 s on 2026-11-29 on a busy machine, DuckDB's own count
0.29 s; earlier that day 0.53 s, and before votes with different times were spared the hash of
their rows 0.93 s): DuckDB reads five columns as text 0.22; labels become codes 0.08, texts times
0.02; the count of records by another way, the first rows, what was understood, and the votes with
their tallies 0.18. DuckDB's count reads three columns, and keeps neither votes nor
judges nor times.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.scale.measuring import peak_mib
from benchmarks.tables import show

ROWS = 50_000_000
ARMS = (100, 1_000)
TIMES = 3  # in one turn
TURNS = 5  # of each reader
READERS = ("DuckDB SQL", "read_duels")
KEPT_ROWS = 1_000_000  # of the CSV whose votes are kept
TALLY = (
    'SELECT "left", "right", count(*) FILTER (outcome = \'left\') AS l, count(*) FILTER '
    "(outcome = 'right') AS r, count(*) FILTER (outcome = 'tie') AS t FROM '{path}' "
    'WHERE "left" <> "right" GROUP BY ALL'
)


def make_log(path: Path, n_rows: int, n_arms: int) -> None:
    """Write a log whose rows depend on nothing but their number; a CSV has judges and times."""
    import duckdb

    def arm(key: str) -> str:
        return f"'model-' || lpad((hash({key}) % {n_arms})::VARCHAR, 4, '0')"

    kept = ""
    if path.suffix == ".csv":
        kept = ", hash(i * 5 + 1) % 2000 AS judge, TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND "
        kept += "AS time"
    with duckdb.connect() as con:
        con.execute(
            f'COPY (SELECT {arm("i")} AS "left", {arm("i + 1000000007")} AS "right", '
            "['left', 'left', 'left', 'left', 'right', 'right', 'right', 'tie']"
            "[(hash(i * 7 + 3) % 8)::INT + 1] AS outcome, i AS id "
            f"{kept} FROM range({n_rows}) t(i)) TO '{path}' (FORMAT {path.suffix[1:]})"
        )


def by_duckdb(path: str) -> Any:
    """Return left, right, left wins, right wins and ties of each cell, as an Arrow table."""
    import duckdb
    import pyarrow as pa

    with duckdb.connect() as con:
        return pa.table(con.sql(TALLY.format(path=path)))


def by_us(path: str) -> Any:
    """Return the log as read_duels reads it."""
    from bayesduel.data.read.duels import read_duels

    return read_duels(path)


def cells_of(found: Any) -> list[tuple[Any, ...]]:
    """Return what either reader found as sorted cells."""
    if hasattr(found, "to_pylist"):
        return sorted(tuple(row.values()) for row in found.to_pylist())
    names = ([found.arms[k] for k in side] for side in found.cells[:2])
    return [*zip(*names, *(c.tolist() for c in found.cells[2:]), strict=True)]


def measure(reader: str, path: str) -> dict[str, Any]:
    """Return the seconds, the peak memory and a digest of one reader, in this process."""
    import duckdb  # noqa: F401  (imports are not timed)
    import pyarrow  # noqa: F401

    if reader == "read_duels":
        import bayesduel.data.read.duels  # noqa: F401
    work = {"read_duels": by_us, "DuckDB SQL": by_duckdb}[reader]
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        found = work(path)
        seconds.append(time.perf_counter() - start)
    digest = hashlib.sha256(repr(cells_of(found)).encode()).hexdigest()
    return {"seconds": min(seconds), "peak": peak_mib(), "digest": digest}


def run(n_rows: int = ROWS) -> list[dict[str, Any]]:
    """Return one row for each reader and log."""
    rows = []
    logs = [("log.parquet", n_rows, n_arms) for n_arms in ARMS]
    for name, n, n_arms in [*logs, ("log.csv", KEPT_ROWS, ARMS[0])]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            make_log(path, n, n_arms)
            turns = [
                {reader: _in_its_own_process(reader, path) for reader in READERS}
                for _ in range(TURNS)
            ]
            size = path.stat().st_size
        if len({one["digest"] for turn in turns for one in turn.values()}) > 1:
            raise RuntimeError(f"read_duels and SQL should count the same at {n_arms} arms")
        for reader in READERS:
            seconds = median(turn[reader]["seconds"] for turn in turns)
            ratios = [turn[reader]["seconds"] / turn["DuckDB SQL"]["seconds"] for turn in turns]
            rows.append(
                {
                    "reader": reader,
                    "log": f"{name}: {n:,} rows, {n_arms:,} arms, {size / 2**20:,.0f} MiB",
                    "seconds": round(seconds, 2),
                    "rows a second": f"{n / seconds:,.0f}",
                    "peak MiB": round(max(turn[reader]["peak"] for turn in turns)),
                    "time / SQL": round(median(ratios), 2),
                    "of all turns": f"{min(ratios):.2f} to {max(ratios):.2f}",
                }
            )
    return rows


def _in_its_own_process(reader: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.reading", "--measure", reader, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--measure", nargs=2, metavar=("READER", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
    else:
        show("Reading a log", run(options.rows))
