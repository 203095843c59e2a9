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
    text = text.casefold()
    without_article = re.sub(r"\ba (bit|little|lot)\b", r"\1", text)
    words = re.findall(r"[^\W_]+", without_article)
    sides = []
    for word in words:
        if word in LEFT_WORDS:
            sides.append(1)
        elif word in RIGHT_WORDS:
            sides.append(-1)
    side = sides[0] if sides else 1
    symbols = SYMBOLS.fullmatch(text)
    of_both = sorted(sides) == [-1, 1]
    if symbols is not None and len(words) == 2 and of_both:
        signs = symbols[2]
        kind = {">": 1, "<": -1, "=": 0}[signs[0]]
        return kind * side * len(signs)
    said = {*words}
    if said & {*SAME}:
        return 0
    slight = said & {*SLIGHT}
    strong = said & {*STRONG}
    behind = said & {*BEHIND}
    compared = said & {*AHEAD} or behind
    of_a_side = (slight or strong) and sides
    if not compared and not of_a_side:
        return None
    size = 2
    if slight:
        size = 1
    elif strong:
        size = 4 if "very" in words else 3
    return -side * size if behind else side * size
