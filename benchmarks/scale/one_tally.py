"""One reader's tally of a folder of Parquet files: ``python -m benchmarks.scale.one_tally``.

Prints JSON: seconds, processor seconds, peak memory of the process, a checksum of all counts.
"""

import json
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks.scale.measuring import measured

__all__ = ["READERS"]

TALLY = (
    'SELECT "left", "right", count(*) FILTER (outcome = \'left\') AS l, count(*) FILTER '
    "(outcome = 'right') AS r, count(*) FILTER (outcome = 'tie') AS t FROM '{folder}/*.parquet' "
    'WHERE "left" <> "right" GROUP BY ALL'
)


def by_duckdb(folder: str, memory: str | None) -> Any:
    """Return the counts of each ordered pair as an Arrow table, by one SQL statement."""
    import duckdb
    import pyarrow as pa

    with tempfile.TemporaryDirectory() as spilled:
        limit = {} if memory is None else {"memory_limit": memory}
        with duckdb.connect(config=limit | {"temp_directory": spilled}) as con:
            return pa.table(con.sql(TALLY.format(folder=folder)))


def by_us(folder: str, memory: str | None) -> Any:
    """Return the log as read_duels reads it."""
    import bayesduel as bd

    return bd.read_duels(folder, memory=memory)


def by_dask(folder: str, memory: str | None) -> Any:
    """Return the log of a Dask frame, counted by Dask."""
    import dask.dataframe as dd

    import bayesduel as bd

    return bd.read_duels(dd.read_parquet(f"{folder}/*.parquet"))


def by_polars(folder: str, memory: str | None) -> Any:
    """Return the log of a lazy Polars frame, counted by Polars."""
    import polars as pl

    import bayesduel as bd

    return bd.read_duels(pl.scan_parquet(f"{folder}/*.parquet"))


def by_spark(folder: str, memory: str | None) -> Any:
    """Return the log of a frame of Spark, counted by Spark."""
    from pyspark.sql import SparkSession

    import bayesduel as bd

    session = SparkSession.builder.master("local[2]").getOrCreate()
    return bd.read_duels(session.read.parquet(folder))


READERS = {
    "plain DuckDB SQL": by_duckdb,
    "read_duels": by_us,
    "read_duels, Dask frame": by_dask,
    "read_duels, lazy Polars frame": by_polars,
    "read_duels, Spark frame": by_spark,
}


def checksum(found: Any) -> int:
    """Return a number that depends on every count and its pair, whichever reader counted."""
    if hasattr(found, "column"):
        pairs = [found.column(side).dictionary_encode().combine_chunks() for side in (0, 1)]
        sides = [_numbers(p.dictionary.to_pylist())[p.indices.to_numpy()] for p in pairs]
        counts = [found.column(k).to_numpy() for k in (2, 3, 4)]
    else:
        sides = [_numbers(found.arms)[side] for side in found.cells[:2]]
        counts = list(found.cells[2:])
    with np.errstate(over="ignore"):
        key = (sides[0] * 100_003 + sides[1]).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
        tokens = sum(key * (n.astype(np.uint64) << np.uint64(i)) for i, n in enumerate(counts))
        return int(np.sum(tokens, dtype=np.uint64))


def main(reader: str, folder: str, memory: str, times: str) -> None:
    """Measure one reader; its imports are not timed."""
    import duckdb  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

    if reader != "plain DuckDB SQL":
        import bayesduel.data.read.duels  # noqa: F401
    limit = None if memory == "none" else memory
    took, found = measured(lambda: READERS[reader](folder, limit), int(times))
    print(json.dumps(took | {"checksum": str(checksum(found))}))


def _numbers(arms: Any) -> np.ndarray:
    """Return the numbers in names such as model-00012."""
    return np.array([int(arm.rpartition("-")[2]) for arm in arms], dtype=np.int64)


if __name__ == "__main__":
    main(*sys.argv[1:])
