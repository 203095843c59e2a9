"""One thread at a time, where what is used belongs to the whole process.

Compiled functions of PyTensor keep their inputs and results in themselves; caught warnings, the
settings of Matplotlib and the threads of BLAS are those of the process.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock

__all__ = ["ONE_THREAD", "one_at_a_time"]

ONE_THREAD = RLock()  # one for all of these, so that no two threads can wait for each other


def one_at_a_time[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that waits while another thread is in one of these."""

    @wraps(function)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with ONE_THREAD:
            return function(*args, **kwargs)

    return waiting
