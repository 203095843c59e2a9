"""How a run can be stopped: compiled stretches that are short, workers that end with their parent.

Compiled code answers no signal and holds Python's lock, so nothing else of its process runs
before it returns.
"""

import os
import threading
import time

__all__ = ["Pace", "end_with"]

STRETCH = 0.2  # Seconds of compiled code at a time.
LONGEST = 1 << 22  # Duels of a stretch at most.
LOOK = 0.3  # Seconds between two looks for the parent.

_parents: set[int] = set()


class Pace:
    """How many duels to play at a stretch, so that one takes about ``STRETCH`` seconds.

    Attributes
    ----------
    duels
        Of the next stretch.
    """

    def __init__(self) -> None:
        self.duels = 64
        self._start = 0.0

    def start(self) -> None:
        """Start a stretch."""
        self._start = time.perf_counter()

    def stop(self, played: int) -> None:
        """End the stretch, in which `played` duels were played."""
        seconds = max(time.perf_counter() - self._start, 1e-9)
        wanted = int(played * STRETCH / seconds)
        self.duels = max(1, min(wanted, 4 * self.duels, LONGEST))


def end_with(parent: int) -> None:
    """End this process at once when the process `parent`, which started it, is gone.

    Does nothing in the parent itself, and on Windows, which does not tell.

    Parameters
    ----------
    parent
        Process number.
    """
    if parent == os.getpid() or parent in _parents:
        return
    _parents.add(parent)
    threading.Thread(target=_look, args=(parent,), daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
