"""Entries of a log that is built in memory, one per vote: checked, and sides by number."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from bayesduel.data.teams import Teams, has_teams, sides_as_tuples
from bayesduel.data.votes import (
    FINITE,
    LARGEST_GRADE,
    LARGEST_SIZE,
    as_whole,
    check_as_long,
    is_whole,
)
from bayesduel.system.arguments import column_of, labels_of, listed, shown_value

__all__ = [
    "arms_of",
    "check_agree",
    "entries",
    "known_labels",
    "named_sides",
    "times_of",
]

Rule = tuple[Callable[[np.ndarray], np.ndarray], str]


def _is_finite(values: np.ndarray) -> np.ndarray:
    return np.asarray(abs(values) <= LARGEST_SIZE)


def _is_grade(values: np.ndarray) -> np.ndarray:
    sizes = abs(values)
    return np.asarray(is_whole(sizes) & (sizes <= LARGEST_GRADE))


# What the entries of a column should be; those of any other column should be finite.
RULES: dict[str, Rule] = {
    "outcome": (lambda values: (values >= 0) & (values <= 1), "0, 0.5, 1 or between"),
    "weight": (
        is_whole,
        "a whole number of identical duels (those of a survey are sampling_weight=)",
    ),
    "sampling_weight": (lambda values: (values > 0) & _is_finite(values), "a positive number"),
    "grade": (_is_grade, f"a whole number of at most {LARGEST_GRADE} either way"),
}


class NamedSides(NamedTuple):
    """Who is on the left and on the right of each vote, as tuples of labels."""

    left: list[Any]
    right: list[Any]
    several: bool  # whether a side has several arms; else entries are labels themselves

    @property
    def seen(self) -> set[str]:
        """The labels that occur."""
        sides = set(self.left) | set(self.right)
        if not self.several:
            return sides
        return {label for side in sides for label in side}

    def coded(self, arms: Sequence[str]) -> tuple[Teams | None, np.ndarray, np.ndarray]:
        """Return the teams, if there are some, and the number of the side of each vote."""
        index: dict[Any, int] = {label: i for i, label in enumerate(arms)}
        teams = None
        if self.several:
            sides = sorted(set(self.left) | set(self.right))
            members = [[index[label] for label in side] for side in sides]
            teams = Teams.of(members)
            index = {side: i for i, side in enumerate(sides)}
        left = np.array([index[side] for side in self.left], dtype=np.int32)
        right = np.array([index[side] for side in self.right], dtype=np.int32)
        return teams, left, right


def named_sides(left: Iterable[object], right: Iterable[object], n: int) -> NamedSides:
    """Return the sides of each vote; raise where one is not named or has a member twice."""
    columns = {"left": left, "right": right}
    for name, labels in columns.items():
        if not isinstance(labels, str | bytes | Mapping):
            columns[name] = listed(labels, name)
    if not any(has_teams(column) for column in columns.values()):
        left_label = _labels(columns["left"], n, "left")
        right_label = _labels(columns["right"], n, "right")
        left_label = as_whole(left_label, right_label)
        return NamedSides(left_label, as_whole(right_label, left_label), False)
    found = {name: sides_as_tuples(column, name) for name, column in columns.items()}
    for name, sides in found.items():
        check_as_long(sides, n, name)
    if all(len(side) == 1 for sides in found.values() for side in sides):
        alone = {name: [side[0] for side in sides] for name, sides in found.items()}
        return NamedSides(alone["left"], alone["right"], False)
    return NamedSides(found["left"], found["right"], True)


def _labels(column: Iterable[Any], n: int, name: str) -> list[str]:
    labels = labels_of(column, name)
    check_as_long(labels, n, name)
    if None in labels:
        row = labels.index(None)
        raise ValueError(f"{name} should name an arm in every row, got None at row {row}")
    return cast(list[str], labels)


def known_labels(arms: Iterable[Any]) -> list[str]:
    """Return the labels of arms that are given; raise ValueError if there are none."""
    labels = [label for label in labels_of(arms, "arms") if label is not None]
    if not labels:
        raise ValueError("arms should be labels, got none")
    return labels


def times_of(time: Any, n: int) -> np.ndarray:
    """Return times as an array; raise where they are no dates or numbers, or not as many."""
    rule = f"time should be an array of dates or numbers, got {shown_value(time)}"
    try:
        times = np.asarray(time if hasattr(time, "__array__") else listed(time, "time"))
    except ValueError as error:  # lists of several lengths
        raise TypeError(rule) from error
    if times.dtype.kind not in "Mfiu" or times.ndim != 1:
        raise TypeError(rule)
    check_as_long(times, n, "time")
    return times


def entries(column: Iterable[Any], n: int | None, name: str) -> np.ndarray:
    """Return a column of numbers; raise ValueError for the first that its rule does not allow.

    n: how many it should have, None: any number.
    """
    values = column_of(column, name)
    if n is not None:
        check_as_long(values, n, name)
    fits, what = RULES.get(name, (_is_finite, FINITE))
    _check(fits(values), values, f"{name} should be {what}")
    return values


def check_agree(grades: np.ndarray, points: np.ndarray) -> None:
    """Raise ValueError for the first grade whose sign is not that of the outcome."""
    signs = 2 * points - 1
    _check(np.sign(grades) == signs, grades, "grade should agree with outcome")


def arms_of(seen: set[str], arms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the labels of a log, sorted; raise ValueError if those given lack one."""
    if arms is None:
        return tuple(sorted(seen))
    labels = tuple(sorted(known_labels(arms)))
    unknown = sorted(seen - set(labels))
    if unknown:
        raise ValueError(f"arms should contain every arm of the log, got none of {unknown[:5]}")
    return labels


def _check(ok: np.ndarray, values: np.ndarray, rule: str) -> None:
    if not ok.all():
        row = int(np.flatnonzero(~ok)[0])
        got = values[row]
        raise ValueError(f"{rule}, got {got} at row {row}")
