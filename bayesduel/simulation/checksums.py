"""How a trace in a folder is known to be whole: checksums of its files.

What is written before the first run (settings, labels, the problem) has its checksums in one file.
The files of a run have theirs in one chunk of the array ``finished/checksum``, which is written
after them. Zarr reads a chunk that is missing as zeros, so that files are asked, not arrays.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.system.atomic_write import write_text

__all__ = [
    "CHECKSUM",
    "HEADER",
    "SIZE",
    "checksums_of",
    "fault_of_header",
    "keep_header",
    "runs_of",
    "variables_of",
]

CHECKSUM = "finished/checksum"
HEADER = f"{CHECKSUM}/.header"
# Bytes of a checksum: of 10^6 files the chance that any two different ones agree is 3e-8.
SIZE = 8

Run = tuple[int, int]  # which policy, which replication
Variables = list[tuple[str, int]]


def keep_header(folder: Path) -> None:
    """Write the checksums of all files that are in a folder now."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    sums = {}
    for path in sorted(files):
        name = path.relative_to(folder).as_posix()
        sums[name] = _sum(path).hex()
    write_text(folder / HEADER, json.dumps(sums))


def fault_of_header(folder: Path) -> str | None:
    """Return which file that was there before the first run is not whole, None if all are."""
    text = (folder / HEADER).read_bytes()
    try:
        sums = dict(json.loads(text))
    except (TypeError, ValueError):
        return HEADER
    for name, kept in sums.items():
        found = _sum(folder / name).hex()
        if found != kept:
            return name
    return None


def variables_of(group: Any) -> Variables:
    """Return the variables of the trace in a Zarr group, with their numbers of dimensions."""
    arrays = group["trace"].arrays()
    return sorted((name, array.ndim) for name, array in arrays)


def checksums_of(folder: Path, variables: Variables, run: Run) -> np.ndarray:
    """Return the checksums of the files of a run as bytes, shape (SIZE * n_variables,)."""
    sums = _sums(folder, variables, run)
    joined = b"".join(sums.values())
    return np.frombuffer(joined, np.uint8)


def runs_of(folder: Path, group: Any) -> tuple[np.ndarray, dict[Run, str]]:
    """Return which runs are whole, and what is wrong with those that were and are not.

    Which runs are whole, bool, shape (n_policies, n_replications); what is wrong, by run.
    """
    shape = group[CHECKSUM].shape[:2]
    whole = np.zeros(shape, bool)
    variables = variables_of(group)
    faults = {}
    for policy, replication in np.ndindex(*shape):
        run = policy, replication
        chunk = _chunk(CHECKSUM, run, 3)
        try:
            kept = (folder / chunk).read_bytes()
        except FileNotFoundError:
            continue
        found = _sums(folder, variables, run)
        whole[run] = kept == b"".join(found.values())
        if not whole[run]:
            blamed = _first_that_differs(kept, found) or chunk
            faults[run] = f"{blamed} is missing or damaged"
    return whole, faults


def _first_that_differs(kept: bytes, found: dict[str, bytes]) -> str | None:
    """Return the first file whose checksum is not as kept, None if their numbers differ."""
    starts = range(0, len(kept), SIZE)
    if len(starts) != len(found):
        return None
    names = list(found)
    differ = [kept[at : at + SIZE] != found[name] for at, name in zip(starts, names, strict=True)]
    return names[differ.index(True)]


def _sums(folder: Path, variables: Variables, run: Run) -> dict[str, bytes]:
    """Return the checksum of each file of a run."""
    sums = {}
    for name, n_dims in variables:
        file = _chunk(f"trace/{name}", run, n_dims)
        sums[file] = _sum(folder / file)
    return sums


def _chunk(array: str, run: Run, n_dims: int) -> str:
    """Return the file of a run in an array that has one chunk a run."""
    place = [str(index) for index in run]
    place += ["0"] * (n_dims - len(run))
    return "/".join([array, "c", *place])


def _sum(path: Path) -> bytes:
    """Return the checksum of a file, zeros if there is none (Zarr writes no chunk of zeros)."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return bytes(SIZE)
    return hashlib.blake2b(content, digest_size=SIZE).digest()
