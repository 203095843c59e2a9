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
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder).as_posix(): _sum(path).hex() for path in files}
    write_text(folder / HEADER, json.dumps(sums))


def fault_of_header(folder: Path) -> str | None:
    """Return which file that was there before the first run is not whole, None if all are."""
    text = (folder / HEADER).read_bytes()
    try:
        sums = dict(json.loads(text))
    except (TypeError, ValueError):
        return HEADER
    return next((name for name, kept in sums.items() if _sum(folder / name).hex() != kept), None)


def variables_of(group: Any) -> Variables:
    """Return the variables of the trace in a Zarr group, with their numbers of dimensions."""
    return sorted((name, array.ndim) for name, array in group["trace"].arrays())


def checksums_of(folder: Path, variables: Variables, run: Run) -> np.ndarray:
    """Return the checksums of the files of a run as bytes, shape (SIZE * n_variables,)."""
    return np.frombuffer(b"".join(_sums(folder, variables, run).values()), np.uint8)


def runs_of(folder: Path, group: Any) -> tuple[np.ndarray, dict[Run, str]]:
    """Return which runs are whole, and what is wrong with those that were and are not.

    Which runs are whole, bool, shape (n_policies, n_replications); what is wrong, by run.
    """
    whole = np.zeros(group[CHECKSUM].shape[:2], bool)
    variables = variables_of(group)
    faults = {}
    for policy, replication in np.ndindex(*whole.shape):
        run = policy, replication
        chunk = _chunk(CHECKSUM, run, 3)
        try:
            kept = (folder / chunk).read_bytes()
        except FileNotFoundError:
            continue
        found = _sums(folder, variables, run)
        whole[run] = kept == b"".join(found.values())
        if not whole[run]:
            was = [kept[at : at + SIZE] for at in range(0, len(kept), SIZE)]
            differ = [n for (n, is_), w in zip(found.items(), was, strict=False) if is_ != w]
            blamed = differ[0] if len(was) == len(found) else chunk
            faults[run] = f"{blamed} is missing or damaged"
    return whole, faults


def _sums(folder: Path, variables: Variables, run: Run) -> dict[str, bytes]:
    """Return the checksum of each file of a run."""
    names = (_chunk(f"trace/{name}", run, n_dims) for name, n_dims in variables)
    return {name: _sum(folder / name) for name in names}


def _chunk(array: str, run: Run, n_dims: int) -> str:
    """Return the file of a run in an array that has one chunk a run."""
    return "/".join([array, "c", *map(str, run), *["0"] * (n_dims - len(run))])


def _sum(path: Path) -> bytes:
    """Return the checksum of a file, zeros if there is none (Zarr writes no chunk of zeros)."""
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=SIZE).digest()
    except (FileNotFoundError, NotADirectoryError):
        return bytes(SIZE)
