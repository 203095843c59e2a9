"""Which of many like cases stand for all: each value, and as many pairs of values as fit."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

GOLDEN = (5**0.5 - 1) / 2  # multiples modulo 1 are spread evenly


def covering(cases: Sequence[Mapping[str, Any]], n: int, name: str) -> list[int]:
    """Return the indices of an n-th of the cases or more: each value that cases share is in one.

    Each case taken has most values that no case before it has, then most pairs of values of two
    parameters; of equal ones, the next of an even spread, which begins elsewhere for another name.
    A value of one case alone need not be met: of one parameter, whose values all differ, an n-th
    is taken.
    """
    met = Counter(value for case in cases for value in _values(case))
    shared = [[value for value in _values(case) if met[value] > 1] for case in cases]
    wanted, taken = {value for values in shared for value in values}, list[int]()
    values, pairs = set[Any](), set[Any]()
    begin = crc32(name.encode()) / 2**32
    left = sorted(range(len(cases)), key=lambda k: (k * GOLDEN + begin) % 1)
    while left and (len(taken) * n < len(cases) or wanted - values):

        def news(k: int) -> tuple[int, int]:
            return (
                sum(value not in values for value in shared[k]),
                sum(pair not in pairs for pair in combinations(shared[k], 2)),
            )

        best = max(left, key=news)
        left.remove(best)
        taken.append(best)
        values.update(shared[best])
        pairs.update(combinations(shared[best], 2))
    return sorted(taken)


def _values(case: Mapping[str, Any]) -> Iterator[Any]:
    """Yield each parameter with its value, or with how it is written if it cannot be hashed."""
    for name, value in case.items():
        try:
            hash(value)
        except TypeError:
            yield name, type(value), repr(value)
        else:
            yield name, type(value), value
