"""Whether matrices of arm by arm fit in the memory that is free, asked before they are made."""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["available_memory", "check_square"]

ENTRY = 8  # bytes of a float
GIB = 2**30


def check_square(n_arms: int, matrices: float, what: str, instead: str) -> None:
    """Raise unless `matrices` of shape (K, K) fit in the memory that is free.

    Parameters
    ----------
    n_arms
        K.
    matrices
        About how many matrices of float64 are held at the same time.
    what
        What needs them, the subject of the message.
    instead
        What to do for so many arms.

    Raises
    ------
    ValueError
        If they do not fit.
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


def available_memory() -> int | None:
    """Return the bytes of memory that this process can still take, None if that is not known."""
    found = [_of_system(), _of_container(), _of_limit()]
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
        return most - int((folder / "memory.current").read_text(encoding="ascii"))
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
