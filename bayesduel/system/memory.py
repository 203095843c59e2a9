"""Limits of memory: as a user states them, and what is free before large arrays are made."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayesduel.system.arguments import shown_value

__all__ = [
    "AT_ONCE",
    "CACHED",
    "TABLE_ARMS",
    "available_memory",
    "bytes_of",
    "check_draws",
    "check_process",
    "check_square",
    "keep_freed_memory",
    "limited",
]

ENTRY = 8  # bytes of a float
GIB = 2**30
TABLE_ARMS = 1000  # arms above which results hold no table of arm by arm
# Numbers worked on at once which should stay in the processor's cache. Log densities of 8,000 draws
# of 827 coefficients take 0.1 s; with 100,000 at once 0.2 s, with 4,000,000 0.4 s.
CACHED = 40_000
AT_ONCE = 4_000_000  # numbers that products of matrices make at once: 32 MB
GB = 10**9
# Least bytes of addresses and of memory of a process that reads a log, and of one that does not:
# those of a small log with one thread of OpenBLAS and DuckDB (docs/validation/faults.md).
ADDRESSES = {True: 1_700_000_000, False: 700_000_000}
RESIDENT = {True: 350_000_000, False: 200_000_000}
LEAN = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}  # else 1 GiB at once
KEPT = {-3: 2**25, -1: 2**28}  # bytes, by option of mallopt: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)


def keep_freed_memory() -> None:
    """Let a process keep up to 256 MiB that it freed for its next arrays, where the C library can.

    GNU's returns them to the system, which clears every page before an array has it again.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # another C library
        for option, size in KEPT.items():
            ctypes.CDLL(None).mallopt(option, size)


def bytes_of(memory: Any) -> int:
    """Return a limit of memory in bytes: a number of them, "500MB" (10^6 bytes) or "2GiB" (2^30).

    Raises ValueError if it is neither, or less than 100 MB.
    """
    found = SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if found is not None:
        number, prefix, binary = found.groups()
        scale = (1024 if binary else 1000) ** " kmgt".index(prefix.lower() or " ")
        size = float(number) * scale
    else:
        whole = isinstance(memory, int) and not isinstance(memory, bool)
        size = float(memory) if whole and memory < 2**63 else 0.0
    # Less is not enough to read anything: 10,000 duels take 168 MiB
    if not 100_000_000 <= size < 2**63:
        raise ValueError(
            f"memory should be a size of at least 100MB, such as '2GB', got {shown_value(memory)}"
        )
    return int(size)


def check_process(what: str, reads_log: bool) -> None:
    """Raise MemoryError unless this process can import its libraries, which else abort.

    Where addresses are limited, libraries that are not imported yet reserve fewer (`LEAN`). `what`
    needs them, the subject of the message.
    """
    if limited():
        os.environ.update(LEAN | os.environ)
    for found, needs, kind in (
        (_of_limit(), ADDRESSES, "addresses (ulimit -v)"),
        (_free(), RESIDENT, "free memory"),
    ):
        if found is not None and found < needs[reads_log]:
            raise MemoryError(
                f"{what} needs at least {needs[reads_log] / GB:g} GB of {kind}, got "
                f"{found / GB:.3g} GB"
            )


def check_square(n_arms: int, matrices: float, what: str, instead: str) -> None:
    """Raise ValueError unless `matrices` of float64 of shape (K, K) fit in the memory that is free.

    They are about how many are held at the same time. `what` needs them, the subject of the
    message; `instead` is what to do for so many arms.
    """
    free = available_memory()
    need = matrices * ENTRY * float(n_arms) ** 2
    if free is None or need <= free:
        return
    limit = int((free / (matrices * ENTRY)) ** 0.5)
    raise ValueError(
        f"{what} should have at most {limit:,} arms in the {free / GIB:.3g} GiB of memory that are "
        f"free, got {n_arms:,}, which take about {need / GIB:,.3g} GiB; {instead}"
    )


def check_draws(draws: int, numbers: int) -> None:
    """Raise ValueError unless draws of so many numbers, and their workspace, fit in free memory."""
    free = available_memory()
    numbers_kept = float(numbers + 6)  # densities and weights beside the parameters
    each = 8 * ENTRY * numbers_kept  # 8 copies at a time: proposals, those kept, and workspace
    if free is None or draws * each <= free:
        return
    raise ValueError(
        f"draws should be at most {int(free / each):,} of {numbers:,} parameters in the "
        f"{free / GIB:.3g} GiB of memory that are free, got {draws:,}, which take about "
        f"{draws * each / GIB:,.3g} GiB"
    )


def available_memory() -> int | None:
    """Return the bytes of memory that this process can still take, None if that is not known."""
    found = (_free(), _of_limit())
    return min((n for n in found if n is not None), default=None)


def limited() -> bool:
    """Return whether the addresses of this process are limited (``ulimit -v``)."""
    return _of_limit() is not None


def _free() -> int | None:
    found = (_of_system(), _of_container())
    return min((n for n in found if n is not None), default=None)


def _of_system() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _of_container() -> int | None:
    """Return what is left of the limit of a control group (version 2)."""
    folder = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):
        most = int((folder / "memory.max").read_text(encoding="ascii"))
        taken = int((folder / "memory.current").read_text(encoding="ascii"))
        files = re.search(
            r"^inactive_file (\d+)", (folder / "memory.stat").read_text("ascii"), re.M
        )
        return most - taken + int(files[1] if files else 0)  # copies of files make room
    return None


def _of_limit() -> int | None:
    """Return what is left of the limit of addresses (``ulimit -v``)."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            return max(0, soft - pages * os.sysconf("SC_PAGE_SIZE"))
    return None
