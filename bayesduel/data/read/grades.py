"""Grades in words and symbols: "left is much better", "A>>B", "slightly prefer B", "same".

A grade is a whole number, positive where left is better. Without a side the words are about the
left arm. Only the order of the sizes counts: 1 "slightly better", 2 "better", 3 "much better", 4
"very much better"; of symbols, their number.
"""

import re

from bayesduel.data.read.words import AHEAD, BEHIND, LEFT_WORDS, RIGHT_WORDS, SAME, SLIGHT, STRONG
from bayesduel.data.votes import LARGEST_GRADE

__all__ = ["grade_in"]

SYMBOLS = re.compile(r"\W*(\w+?)\s*(>+|<+|=+)\s*(\w+?)\W*")


def grade_in(text: str, *, numbers: bool = False) -> int | None:
    """Return the grade that a text says, positive where left is better; None where it says none.

    numbers: whether whole numbers are grades.
    """
    if numbers and re.fullmatch(r"\s*[+-]?[0-9]+(\.0*)?\s*", text):
        found = int(float(text))
        return found if abs(found) <= LARGEST_GRADE else None
    words = re.findall(r"[^\W_]+", re.sub(r"\ba (bit|little|lot)\b", r"\1", text.casefold()))
    symbols = SYMBOLS.fullmatch(text.casefold())
    sides = [1 if word in LEFT_WORDS else -1 for word in words if word in LEFT_WORDS + RIGHT_WORDS]
    if symbols is not None and len(words) == len(sides) == 2 and sides[0] != sides[1]:
        kind = {">": 1, "<": -1, "=": 0}[symbols[2][0]]
        return kind * sides[0] * len(symbols[2])
    degrees = {*words} & {*SLIGHT, *STRONG}
    if {*words} & {*SAME}:
        return 0
    if not {*words} & {*AHEAD, *BEHIND} and not (degrees and sides):
        return None
    size = 1 if degrees & {*SLIGHT} else 3 if degrees else 2
    size += "very" in words and size == 3
    way = -1 if {*words} & {*BEHIND} else 1
    return way * (sides[0] if sides else 1) * size
