"""Duels: a folder of Parquet files to tallies, beside plain DuckDB SQL in the same run."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.scale.made_duels import make_duels
from benchmarks.scale.measuring import KEPT, alone

TITLE = "Duels: Parquet to tallies, 1,000 arms"
ARMS = 1_000
QUICK = (10**4, 10**6, 10**7)
FULL = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
READERS = (
    ("plain DuckDB SQL", "none"),
    ("read_duels", "none"),
    ("read_duels", "2GB"),
    ("read_duels, lazy Polars frame", "none"),
    ("read_duels, Dask frame", "none"),
)
FRAMES_UP_TO = 10**7


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row for each number of duels and reader."""
    found = []
    for n in FULL if full else QUICK:
        place = KEPT / f"duels-{n}" if full else Path(tempfile.mkdtemp(prefix="bayesduel-"))
        try:
            found += _of_size(place, n, full)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return found


def _of_size(folder: Path, n: int, full: bool) -> list[dict[str, Any]]:
    readers = [r for r in READERS if n <= FRAMES_UP_TO or r[0].count(",") == 0]
    if n >= 10**9:
        readers = [r for r in readers if r != ("read_duels", "none")]
    times = 3 if n < 10**7 else 1
    taken = {}
    for reader, memory in readers:
        taken[reader, memory] = alone(
            "benchmarks.scale.one_tally",
            reader,
            folder,
            memory,
            times,
            before=lambda: make_duels(folder, n, ARMS),
            env={},
            keep=full,
        )
    sql = taken["plain DuckDB SQL", "none"]
    found = []
    for (reader, memory), one in taken.items():
        if one.get("checksum") != sql["checksum"]:
            raise RuntimeError(f"{reader} should count as SQL does at {n:,} duels, got {one}")
        found.append(
            {
                "duels": n,
                "reader": reader + ("" if memory == "none" else f', memory="{memory}"'),
                "seconds": one["seconds"],
                "processor s": one["cpu s"],
                "duels a processor second": f"{n / one['cpu s']:,.0f}",
                "peak MiB": round(one["peak MiB"]),
                "processor time / SQL": one["cpu s"] / sql["cpu s"],
            }
        )
    return found
