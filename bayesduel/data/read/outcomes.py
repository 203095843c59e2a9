"""Spellings of outcomes, and the choice of the one that a log uses.

The outcomes of a log are read in the one of these ways that reads most of its rows:

- words for the left arm, the right arm and a tie: the pairs in `WORDS`, or the names of the
  log's own two columns (``model_a``);
- numbers: 1, 0 and 0.5; or 1, -1 and 0 (a tie), where -1 occurs; or 1 and 2 for the left and
  the right arm;
- the winner's own name.

Words are compared without regard to case, spaces, ``_``, ``-`` and ``.``, and any of `TIES`
is a tie in every way. A log that can be read by codes and by names of arms, with different
results (arms called "a" and "b", outcomes "a" and "b"), is refused as ambiguous.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesduel.data.read.columns import plain
from bayesduel.data.read.rows import Coded

__all__ = ["UNREADABLE", "Reading", "choose_reading", "says_both_bad"]

UNREADABLE = 2  # the outcome code of a row whose outcome is not understood
LEFT, RIGHT, TIE = 1, -1, 0

WORDS = (
    ("left", "right"), ("l", "r"), ("a", "b"), ("modela", "modelb"), ("first", "second"),
    ("1st", "2nd"), ("home", "away"), ("h", "a"), ("white", "black"), ("player1", "player2"),
    ("win", "loss"), ("won", "lost"), ("w", "l"), ("1-0", "0-1"), ("true", "false"), (">", "<"),
)  # fmt: skip
BOTH_BAD_WORDS = ("tie(bothbad)", "bothbad", "bothbad(tie)", "tiebothbad")
TIES = (
    "tie", "tied", "ties", "draw", "drawn", "d", "t", "x", "equal", "equals", "even", "=",
    "both", "neither", "same", "none", "indifferent", "nopreference", "1/2-1/2", "½-½",
    "tie(bothgood)", *BOTH_BAD_WORDS,
)  # fmt: skip
TIE_WORDS: dict[str | float, int] = dict.fromkeys(TIES, TIE)
NUMBERS: dict[str, dict[str | float, int]] = {
    "1, 0 or 0.5": {1.0: LEFT, 0.0: RIGHT, 0.5: TIE},
    "1, -1 or 0": {1.0: LEFT, -1.0: RIGHT, 0.0: TIE},
    "1 or 2": {1.0: LEFT, 2.0: RIGHT},
}
SIGNED = "1, -1 or 0"


@dataclass(frozen=True)
class Reading:
    """One way to read outcomes.

    Attributes
    ----------
    accepted
        The outcomes that are understood, for messages.
    codes
        1, -1 or 0 (left, right, tie) for each plain word and number.
    by_name
        Whether an outcome may be the label of the winner.
    """

    accepted: str
    codes: dict[str | float, int]
    by_name: bool = False

    def read(self, left: Coded, right: Coded, outcome: Coded) -> np.ndarray:
        """Return the code of each row: 1 left, -1 right, 0 tie or UNREADABLE; int8."""
        by_text = [self.codes.get(_key(text), UNREADABLE) for text in outcome.values]
        if not self.by_name:
            return np.array([*by_text, UNREADABLE], dtype=np.int8)[outcome.code]
        arms = _folded(left) | _folded(right)
        for k, text in enumerate(outcome.values):
            if text.strip().casefold() in arms:  # an arm called "draw" is an arm
                by_text[k] = UNREADABLE
        result = np.array([*by_text, UNREADABLE], dtype=np.int8)[outcome.code]
        for fold in (str.casefold, str):  # the exact spelling has the last word
            ids: dict[str, int] = {}
            is_left, is_right = (
                _numbered(outcome, fold, ids, -1) == _numbered(side, fold, ids, -2)
                for side in (left, right)
            )
            result[is_left & ~is_right] = LEFT
            result[is_right & ~is_left] = RIGHT
            result[is_left & is_right] = TIE  # a duel with itself
        return result


NAMES = Reading("the winner's name or tie", TIE_WORDS, by_name=True)


def choose_reading(
    left: Coded, right: Coded, outcome: Coded, n: np.ndarray, columns: tuple[str, str, str]
) -> Reading:
    """Return the way to read the outcomes of a log that reads most of its rows.

    Parameters
    ----------
    left, right, outcome
        Texts of the arms and of the outcome.
    n
        Number of rows that each entry represents, shape (n_entries,).
    columns
        The names of the columns of left, right and outcome.

    Raises
    ------
    ValueError
        If no way reads half of the rows, or two ways read them with different results.
    """
    count = np.bincount(outcome.code + 1, n, len(outcome.values) + 1)[1:]
    keys = [_key(text) for text in outcome.values]
    ways = _coded_ways(columns, keys, count)
    read = [sum(count[[key in way.codes for key in keys]]) for way in ways]
    best = int(np.argmax(read))
    chosen, most = ways[best], read[best]
    if _folded(outcome) & (_folded(left) | _folded(right)):
        coded, named = chosen.read(left, right, outcome), NAMES.read(left, right, outcome)
        by_name = n[named != UNREADABLE].sum()
        apart = (coded != named) & (coded != UNREADABLE) & (abs(named) == LEFT)
        if apart.any() and min(most, by_name) >= 0.9 * max(most, by_name):
            k = int(np.flatnonzero(apart)[0])
            raise ValueError(
                f"column {columns[2]!r} should be unambiguous, got "
                f"{outcome.values[outcome.code[k]]!r} for {left.values[left.code[k]]!r} against "
                f"{right.values[right.code[k]]!r}, which is a side and an arm; use left, "
                f"right and tie"
            )
        if by_name > most:
            chosen, most = NAMES, by_name
    if most < 0.5 * count.sum():
        seen = [repr(outcome.values[k][:40]) for k in np.argsort(-count, kind="stable")[:5]]
        raise ValueError(
            f"column {columns[2]!r} should give the winner (left/right/tie, 1/0/0.5, 1/-1/0, a/b, "
            f"model_a/model_b or the winner's label), got {', '.join(seen)}"
        )
    return chosen


def says_both_bad(text: str) -> bool:
    """Return whether an outcome is "both bad", which is a tie that is counted separately."""
    return _key(text) in BOTH_BAD_WORDS


def _coded_ways(
    columns: tuple[str, str, str], keys: list[str | float], count: np.ndarray
) -> list[Reading]:
    """Return the ways that need no names of arms, in order of preference."""
    pairs = {(plain(columns[0]), plain(columns[1])): f"{columns[0]}, {columns[1]} or tie"}
    pairs |= {pair: f"{pair[0]}, {pair[1]} or tie" for pair in WORDS if pair not in pairs}
    ways = [
        Reading(accepted, TIE_WORDS | {a: LEFT, b: RIGHT}) for (a, b), accepted in pairs.items()
    ]
    times = {key: count[[k == key for k in keys]].sum() for key in (-1.0, 0.0)}
    for accepted, codes in NUMBERS.items():
        # A stray -1 among thousands of zeros is a fault, not a code that makes them all ties.
        stray = times[-1.0] < 0.01 * (times[-1.0] + times[0.0])
        if accepted != SIGNED or (times[-1.0] > 0 and not stray):
            ways.append(Reading(accepted, TIE_WORDS | codes))
    return ways


def _key(text: str) -> str | float:
    """Return an outcome for comparison: a number or a plain word (1-0 keeps its hyphen)."""
    try:
        return float(text)
    except ValueError:
        word = re.sub(r"\s+", "", text.casefold())
        return word if word[:1] in tuple("01½") else plain(word)


def _folded(column: Coded) -> set[str]:
    return {text.strip().casefold() for text in column.values}


def _numbered(
    column: Coded, fold: Callable[[str], str], ids: dict[str, int], missing: int
) -> np.ndarray:
    """Return a number for each row's text, the same for texts that `fold` makes equal."""
    places = [ids.setdefault(fold(text.strip()), len(ids)) for text in column.values]
    return np.array([*places, missing])[column.code]
