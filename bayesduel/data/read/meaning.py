"""What each value of an outcome means: a side, a tie, a grade, a margin or a share.

The user may say it (``means=``, ``grades=``); else :mod:`bayesduel.data.read.outcomes` chooses.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from bayesduel.data.read.outcome_text import exact_key, outcome_key
from bayesduel.data.read.rows import NUMBER, Coded
from bayesduel.data.read.words import TIES
from bayesduel.data.votes import LARGEST_GRADE
from bayesduel.system.arguments import as_options, by_reader, shown_value, text_of
from bayesduel.text import join

__all__ = [
    "LOSERS_NAME",
    "MEANS",
    "RESULTS",
    "TIE_WORDS",
    "WINNERS_NAME",
    "WON",
    "Code",
    "Meaning",
    "folded",
    "grades_of",
    "means_of",
]


class Code(IntEnum):
    """What the outcome of a row says, as the numbers of a column of codes."""

    LEFT = 1
    RIGHT = -1
    TIE = 0
    UNREADABLE = 2  # not understood
    LEFT_OUT = 3  # the user said to leave it out


RESULTS: dict[int, str] = {Code.LEFT: "left", Code.RIGHT: "right", Code.TIE: "tie"}
SAID: dict[str, int] = {
    "left": Code.LEFT,
    "right": Code.RIGHT,
    "tie": Code.TIE,
    "none": Code.LEFT_OUT,
}  # by `means`
WON: dict[int, str] = {
    Code.LEFT: "left wins",
    Code.RIGHT: "right wins",
    Code.TIE: "tie",
    Code.LEFT_OUT: "left out",
}
WINNERS_NAME = "the winner's name"
LOSERS_NAME = "the loser's name"

TIE_WORDS: dict[str | float, int] = dict.fromkeys(TIES, Code.TIE)
MEANS = "means"  # how outcomes are read where the user says what each value means


@dataclass(frozen=True)
class Meaning:
    """One way to read outcomes."""

    coding: str  # its name, one of `CODINGS` or `MEANS`
    accepted: str  # the outcomes that are understood, for messages
    codes: Mapping[str | float, int]  # 1, -1 or 0 (left, right, tie) of each plain word and number
    by_name: bool = False  # whether an outcome may be the label of the winner
    loser: bool = False  # or of the loser
    # whether it was asked for, or the outcomes of the log leave no other that agrees on them
    settled: bool = True
    others: tuple[str, ...] = ()  # codings that read as many rows of the log with another result
    # how much better left is, for each plain word and number, where that is what is said
    grades: Mapping[str | float, int] | None = None
    margins: Mapping[str | float, float] | None = None  # left's score minus right's, likewise
    shares: Mapping[str | float, float] | None = None  # the probability that left is better
    exact: bool = False  # whether words are compared as they are written, but for case
    said: Mapping[str, str | None] | None = None  # the ``means`` that reads the same again
    # what each value means, "?" for those that are not understood; none where numbers say it
    to_complete: tuple[tuple[str, str], ...] = ()

    def key(self, text: str) -> str | float:
        """Return an outcome as it is looked up."""
        return exact_key(text) if self.exact else outcome_key(text)

    @property
    def sized(self) -> bool:
        """Whether grades have several sizes beside ties, so that they say more than who won."""
        if self.grades is None:
            return False
        sizes = {abs(grade) for grade in self.grades.values()}
        beside_ties = sizes - {0}
        return len(beside_ties) > 1

    def graded(self, outcome: Coded) -> np.ndarray | None:
        """Return the grade of each row, int8; None where they say no more than who won."""
        if self.grades is None or not self.sized:
            return None
        by_text = [self.grades.get(self.key(text), 0) for text in outcome.values]
        missing = 0
        grades = np.array([*by_text, missing], dtype=np.int8)
        return grades[outcome.code]

    def margin(self, outcome: Coded) -> np.ndarray | None:
        """Return the margin of each row; None where outcomes are not scores."""
        if self.margins is None:
            return None
        return self._numbers(self.margins, outcome)

    def share(self, outcome: Coded) -> np.ndarray | None:
        """Return left's share of each soft vote, NaN of the others; None where none is soft."""
        if self.shares is None:
            return None
        return self._numbers(self.shares, outcome)

    def _numbers(self, numbers: Mapping[str | float, float], outcome: Coded) -> np.ndarray:
        missing = np.nan
        by_text = [numbers.get(self.key(text), missing) for text in outcome.values]
        values = np.array([*by_text, missing])
        return values[outcome.code]

    def read(self, left: Coded, right: Coded, outcome: Coded) -> np.ndarray:
        """Return the code of each row: 1 left, -1 right, 0 tie, as `Code`; int8."""
        unreadable = Code.UNREADABLE
        by_text = [self.codes.get(self.key(text), unreadable) for text in outcome.values]
        if self.by_name and not self.exact:
            arms = folded(left) | folded(right)
            for k, text in enumerate(outcome.values):
                if text.strip().casefold() in arms:  # an arm called "draw" is an arm
                    by_text[k] = unreadable
        missing = self.codes.get("", unreadable) if self.exact else unreadable
        codes = np.array([*by_text, missing], dtype=np.int8)
        result = codes[outcome.code]
        if not self.by_name:
            return result
        of_left = Code.RIGHT if self.loser else Code.LEFT
        of_right = Code.LEFT if self.loser else Code.RIGHT
        said = self.exact & (result != unreadable)
        for fold in (str.casefold, str):  # the exact spelling has the last word
            ids: dict[str, int] = {}
            named = _numbered(outcome, fold, ids, -1)
            is_left = named == _numbered(left, fold, ids, -2)
            is_right = named == _numbered(right, fold, ids, -2)
            result[is_left & ~is_right & ~said] = of_left
            result[is_right & ~is_left & ~said] = of_right
            result[is_left & is_right & ~said] = Code.TIE  # a duel with itself
        return result

    def says(self, text: str) -> str:
        """Return what a value means, in words; "" where the value is not understood."""
        key = self.key(text)
        code = self.codes.get(key)
        if code is None:
            if not self.by_name:
                return ""
            return LOSERS_NAME if self.loser else WINNERS_NAME
        if self.shares is not None and key in self.shares:
            share = self.shares[key]
            return f"left is better with probability {share:g}"
        won = WON[code]
        if self.sized and self.grades is not None:
            grade = self.grades.get(key)
            if grade:
                return f"grade {grade:+d}: {won}"
        return won


def means_of(means: Mapping[Any, Any]) -> Meaning:
    """Return the meaning that a user gives to each value.

    means: by value (text or a number) "left", "right", "tie", a grade ("grade -2"), a share (a
        number from 0 to 1, the probability that left is better) or None, which leaves the row out.
        Where no value means a side, the name of an arm is the winner's.
    Raises TypeError or ValueError if it is anything else, or a value has two meanings.
    """
    if not isinstance(means, Mapping) or not means:
        raise TypeError(
            "means should be a dictionary of what each value means, such as "
            f"{{0: 'left', 1: 'tie', 2: 'right', 'error': None}}, got {shown_value(means)}"
        )
    codes: dict[str | float, int] = {}
    grades: dict[str | float, int] = {}
    shares: dict[str | float, float] = {}
    said: dict[str, str | None] = {}
    for value, meaning in means.items():
        text = text_of(value) or ""
        key = exact_key(text)
        given = "none" if meaning is None else str(meaning)
        word = given.strip().casefold()
        graded = re.fullmatch(rf"grade\s*([+-]?[0-{LARGEST_GRADE}])", word)
        if key in codes:
            raise ValueError(f"means should have one meaning for each value, got {value!r} twice")
        if graded:
            grade = int(graded[1])
            grades[key] = grade
            codes[key] = int(np.sign(grade))
        elif word in SAID:
            codes[key] = SAID[word]
        elif re.fullmatch(NUMBER, word) and 0 <= float(word) <= 1:
            share = float(word)
            shares[key] = share
            codes[key] = Code.LEFT if share >= 0.5 else Code.RIGHT
        else:
            option = by_reader("means", "--means")
            none = by_reader("None", "none")
            raise ValueError(
                f"{option} should give left, right, tie, a grade such as "
                f"'grade -2', a share from 0 to 1, or {none} (left out) for "
                f"each value, got {meaning!r} for {value!r}"
            )
        said[text] = None if word == "none" else word
    ungraded = {code for key, code in codes.items() if key not in grades}
    if grades and ungraded & {Code.LEFT, Code.RIGHT}:
        others = "shares" if shares else "sides"
        rule = f"means should give grades or {others}, not both, got {shown_value(means)}"
        raise ValueError(rule)
    values = join(list(said), word="or", quote=True)
    option = as_options(means=None)
    without_side = {*codes.values()} <= {Code.TIE, Code.LEFT_OUT}
    return Meaning(
        MEANS,
        f"{values}, as {option} says; add the value there (none: leave out its rows)",
        codes,
        by_name=without_side and not grades,
        grades=grades or None,
        shares=shares or None,
        exact=True,
        said=said,
    )


def grades_of(ends: tuple[int, int]) -> Meaning:
    """Return the meaning of whole numbers from the best for left to the best for right.

    ends: (1, 5): 1 says that left is much better, 5 that right is, 3 that they are equal. Of an
        even number of steps none is equal.
    """
    first, last = ends
    step = 1 if last > first else -1
    values = list(range(first, last + step, step))
    middle = (len(values) - 1) / 2
    means = {}
    for k, value in enumerate(values):
        distance = middle - k
        size = np.ceil(abs(distance))
        grade = int(np.sign(distance) * size)
        means[str(value)] = f"grade {grade:+d}"
    accepted = f"a whole number from {first} to {last} (grades)"
    return replace(means_of(means), accepted=accepted)


def folded(column: Coded) -> set[str]:
    """Return the texts of a column without regard to case."""
    return {text.strip().casefold() for text in column.values}


def _numbered(
    column: Coded, fold: Callable[[str], str], ids: dict[str, int], missing: int
) -> np.ndarray:
    """Return a number for each row's text, the same for texts that `fold` makes equal."""
    places = []
    for text in column.values:
        label = fold(text.strip())
        places.append(ids.setdefault(label, len(ids)))
    numbers = np.array([*places, missing])
    return numbers[column.code]
