"""One BLAS thread for small matrices.

Threads of BLAS wait for one another in loops. For matrices of a few hundred rows that takes more
processor time than it saves, and beside other processes more time, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from bayesduel.system.threads import ONE_THREAD

__all__ = ["one_thread_if_small"]

SMALL = 1_000  # rows of a matrix below which one thread is used


@contextmanager
def one_thread_if_small(n_rows: int) -> Iterator[None]:
    """Let BLAS use one thread inside the block if matrices have fewer than `SMALL` rows."""
    if n_rows >= SMALL:
        yield
        return
    with ONE_THREAD, _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401  (brings the BLAS that compiled functions call)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
