"""Threads: side by side, or one at a time where what is used belongs to the whole process.

Compiled functions of PyTensor keep their inputs and results in themselves; caught warnings, the
settings of Matplotlib and the threads of BLAS are those of the process.

Threads of BLAS wait for one another in loops. For matrices of a few hundred rows that takes more
processor time than it saves, and beside other processes more time, too.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, wraps
from threading import RLock
from typing import Any

__all__ = ["ONE_THREAD", "one_at_a_time", "one_thread_if_small", "side_by_side"]

SMALL = 1_000  # rows of a matrix below which BLAS uses one thread
ONE_THREAD = RLock()  # one for all of these, so that no two threads can wait for each other


def one_at_a_time[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that waits while another thread is in one of these."""

    @wraps(function)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with ONE_THREAD:
            return function(*args, **kwargs)

    return waiting


def side_by_side[T, R](function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the function of each item, in order, by as many threads as there are processors.

    For functions that spend their time in compiled loops, and call nothing that is one at a time.
    """
    given = list(items)
    workers = min(len(given), os.cpu_count() or 1)
    if workers < 2:
        return [function(item) for item in given]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, given))


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
