"""Codings of outcomes, and the choice of the one that a log uses.

The outcomes of a log are read in the one of these ways that reads most of its rows:

- words for the left arm, the right arm and a tie: the pairs in `WORDS`, or the names of the
  log's own two columns ("columns");
- numbers: 1, 0 and 0.5; or 1, -1 and 0 (a tie); or 1 and 2 for the left and the right arm; or,
  where 0, 1 and 2 all occur, these and 0 for a tie, or 0 and 1 for them and 2 for a tie; or
  from 0 to 1, the probability that left is better, of which some are soft votes (between 0 and 1
  but not 0.5, which is a tie);
- the winner's own name ("winner");
- grades in words ("A is much better", "A>>B", :mod:`bayesduel.data.read.grades`); if asked for, in
  whole numbers of either sign, too ("grades").

Words are compared without regard to case, spaces, ``_``, ``-`` and ``.``, and any of `TIES`
is a tie in every way. Where several codings read as many rows with different results, the names
of the columns decide (`DECISIVE`), else a coding of which both sides occur (1 and 0 are not taken
for wins and ties without a loss); else the log is refused as ambiguous. So is a log that can be
read by codes and by names of arms with different results (arms called "a" and "b", outcomes "a"
and "b").
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesduel.data.read.columns import plain, side_of
from bayesduel.data.read.grades import grade_in
from bayesduel.data.read.rows import Coded
from bayesduel.data.votes import LARGEST_GRADE

__all__ = ["CODINGS", "UNREADABLE", "Reading", "choose_reading", "says_both_bad"]

UNREADABLE = 2  # the outcome code of a row whose outcome is not understood
LEFT, RIGHT, TIE = 1, -1, 0
RESULTS = {LEFT: "left", RIGHT: "right", TIE: "tie"}

WORDS = (
    ("left", "right"), ("l", "r"), ("a", "b"), ("model_a", "model_b"), ("first", "second"),
    ("1st", "2nd"), ("home", "away"), ("h", "a"), ("white", "black"), ("player1", "player2"),
    ("win", "loss"), ("won", "lost"), ("w", "l"), ("1-0", "0-1"), ("true", "false"), (">", "<"),
)  # fmt: skip
BOTH_BAD_WORDS = ("tie(bothbad)", "bothbad", "bothbad(tie)", "tiebothbad")
TIES = (
    "tie", "tied", "ties", "draw", "drawn", "d", "t", "x", "equal", "equals", "even", "=",
    "both", "neither", "same", "none", "indifferent", "nopreference", "1/2-1/2", "½-½",
    "tie(bothgood)", *BOTH_BAD_WORDS,
)  # fmt: skip
SIDES_SAID = WORDS[0], WORDS[3]  # beside probabilities: "left", "model_a"
TIE_WORDS: dict[str | float, int] = dict.fromkeys(TIES, TIE)
NUMBERS: dict[str, dict[str | float, int]] = {
    "1/0/0.5": {1.0: LEFT, 0.0: RIGHT, 0.5: TIE},
    "1/-1/0": {1.0: LEFT, -1.0: RIGHT, 0.0: TIE},
    "1/2": {1.0: LEFT, 2.0: RIGHT},
    "1/2/0": {1.0: LEFT, 2.0: RIGHT, 0.0: TIE},
    "0/1/2": {0.0: LEFT, 1.0: RIGHT, 2.0: TIE},
}
SIGNED, OWN, NAMED, SOFT, GRADED = "1/-1/0", "columns", "winner", "probability", "grades"
CODINGS = (*("/".join(pair) for pair in WORDS), *NUMBERS, OWN, NAMED, SOFT, GRADED)
# The coding that the sides of the columns of arms, or the name of the column of outcomes, decide
# on, where it reads nine in ten of the rows that the best reads.
DECISIVE: dict[tuple[str, str] | str | None, str] = {
    ("home", "away"): "h/a",
    ("a", "b"): "a/b",
    "ftr": "h/a",  # football-data.co.uk: full-time result
    "winner": "l/r",  # a side, not the loss of the left arm
    "whowon": "l/r",
    "preferred": "l/r",
}


@dataclass(frozen=True)
class Reading:
    """One way to read outcomes."""

    coding: str  # its name, one of `CODINGS`
    accepted: str  # the outcomes that are understood, for messages
    codes: dict[str | float, int]  # 1, -1 or 0 (left, right, tie) for each plain word and number
    by_name: bool = False  # whether an outcome may be the label of the winner
    # whether it was asked for, or the outcomes of the log leave no other that agrees on them
    settled: bool = True
    others: tuple[str, ...] = ()  # codings that read as many rows of the log with another result
    # how much better left is, for each plain word and number, where that is what is said
    grades: Mapping[str | float, int] | None = None

    def graded(self, outcome: Coded) -> np.ndarray | None:
        """Return the grade of each row, int8; None where grades have one size beside ties.

        That says no more than who won.
        """
        if self.grades is None or len({abs(k) for k in self.grades.values()} - {0}) < 2:
            return None
        by_text = [self.grades.get(_key(text), 0) for text in outcome.values]
        return np.array([*by_text, 0], dtype=np.int8)[outcome.code]

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

    def share(self, outcome: Coded) -> np.ndarray | None:
        """Return left's share of each soft vote, NaN of the others; None where none is soft."""
        if self.coding != SOFT:
            return None
        keys = [_key(text) for text in outcome.values]
        soft = [key if _is_soft(key) else np.nan for key in keys]
        return np.array([*soft, np.nan], dtype=float)[outcome.code]


NAMES = Reading(NAMED, "the winner's name or tie", TIE_WORDS, by_name=True)


def choose_reading(
    left: Coded,
    right: Coded,
    outcome: Coded,
    n: np.ndarray,
    columns: tuple[str, str, str],
    coding: str | None = None,
) -> Reading:
    """Return the way to read the outcomes of a log: `coding`, or the one that reads most rows.

    left, right, outcome: texts of the arms and of the outcome.
    n: number of rows that each entry represents, shape (n_entries,).
    columns: the names of the columns of left, right and outcome.
    coding: one of `CODINGS`; None: chosen by the outcomes.
    Raises ValueError if no way reads half of the rows, or two ways read them with different
    results.
    """
    ways = _coded_ways(columns) | {
        SOFT: _soft_way(outcome),
        GRADED: _graded_way(outcome, numbers=coding == GRADED),
    }
    if coding is not None:
        asked = (ways | {NAMED: NAMES})[coding if coding != OWN else _own_coding(columns)]
        return replace(asked, accepted=f"{asked.accepted} (coding {asked.coding!r})")
    count = np.bincount(outcome.code + 1, n, len(outcome.values) + 1)[1:]
    times: dict[str | float, float] = {}
    for text, k in zip(outcome.values, count, strict=True):
        if k > 0:
            times[_key(text)] = times.get(_key(text), 0) + k
    chosen, most, clash = _best(ways, times, columns)
    if _folded(outcome) & (_folded(left) | _folded(right)):
        named = NAMES.read(left, right, outcome)
        by_name = n[named != UNREADABLE].sum()

        def apart(way: Reading) -> np.ndarray:
            coded = way.read(left, right, outcome)
            return (coded != named) & (coded != UNREADABLE) & (abs(named) == LEFT)

        if by_name >= most:  # of two codings, the one that agrees with the names
            chosen = next((way for way in (chosen, *clash) if not apart(way).any()), chosen)
        differs = apart(chosen)
        if differs.any() and min(most, by_name) >= 0.9 * max(most, by_name):
            k = int(np.flatnonzero(differs)[0])
            raise ValueError(
                f"column {columns[2]!r} should be unambiguous, got "
                f"{outcome.values[outcome.code[k]]!r} for {left.values[left.code[k]]!r} against "
                f"{right.values[right.code[k]]!r}, which is a side and an arm; say which: "
                f"coding={chosen.coding!r} or coding={NAMED!r} (--coding)"
            )
        if by_name >= most:
            settled = bool(by_name > most)
            chosen = replace(NAMES if settled or clash else chosen, settled=settled)
            most, clash = by_name, []
    if most < 0.5 * count.sum():
        seen = [repr(outcome.values[k][:40]) for k in np.argsort(-count, kind="stable")[:5]]
        raise ValueError(
            f"column {columns[2]!r} should give the winner (left/right/tie, 1/0/0.5, 1/-1/0, a/b, "
            f"model_a/model_b, the winner's label, or a grade such as 'A is much better'), got "
            f"{', '.join(seen)}"
        )
    if clash:
        shared = times.keys() & chosen.codes.keys() & clash[0].codes.keys()
        key = next(k for k in shared if chosen.codes[k] != clash[0].codes[k])
        value = next(text for text in outcome.values if _key(text) == key)
        readings = [f"coding={w.coding!r} reads {RESULTS[w.codes[key]]}" for w in (chosen, *clash)]
        raise ValueError(
            f"column {columns[2]!r} should be unambiguous, got {value!r}, which "
            f"{' and '.join(readings)}; say which (--coding)"
        )
    return chosen


def says_both_bad(text: str) -> bool:
    """Return whether an outcome is "both bad", which is a tie that is counted separately."""
    return _key(text) in BOTH_BAD_WORDS


def _coded_ways(columns: tuple[str, str, str]) -> dict[str, Reading]:
    """Return the ways that need no names of arms by coding, in order of preference."""
    own = _own_coding(columns) == OWN and _key(columns[0]) != _key(columns[1])
    pairs = {OWN: columns[:2]} if own else {}
    pairs |= {"/".join(pair): pair for pair in WORDS}
    ways = {
        coding: Reading(coding, f"{a}, {b} or tie", TIE_WORDS | {_key(a): LEFT, _key(b): RIGHT})
        for coding, (a, b) in pairs.items()
    }
    for coding, codes in NUMBERS.items():
        accepted = " or ".join(coding.replace("/", ", ").rsplit(", ", 1))
        ways[coding] = Reading(coding, accepted, TIE_WORDS | codes)
    return ways


def _is_soft(key: str | float) -> bool:
    return isinstance(key, float) and 0 < key < 1 and key != 0.5


def _soft_way(outcome: Coded) -> Reading:
    """Return the way by which outcomes are the probability that left is better."""
    keys = {_key(text) for text in outcome.values}
    codes: dict[str | float, int] = {
        key: int(np.sign(2 * key - 1)) for key in keys if isinstance(key, float) and 0 <= key <= 1
    }
    words = {_key(a): LEFT for a, _ in SIDES_SAID} | {_key(b): RIGHT for _, b in SIDES_SAID}
    return Reading(SOFT, "a number from 0 to 1", TIE_WORDS | words | codes)


def _graded_way(outcome: Coded, *, numbers: bool) -> Reading:
    """Return the way that reads grades: in words, and if asked for in numbers."""
    found = {_key(text): grade_in(text, numbers=numbers) for text in outcome.values}
    grades = {key: grade for key, grade in found.items() if grade is not None}
    codes = {key: int(np.sign(grade)) for key, grade in grades.items()}
    accepted = "a grade ('left is much better', 'better', 'same', 'A>>B'"
    accepted += f", or -{LARGEST_GRADE} to {LARGEST_GRADE})" if numbers else ")"
    return Reading(GRADED, accepted, TIE_WORDS | codes, grades=grades)


def _own_coding(columns: tuple[str, str, str]) -> str:
    """Return the coding whose words are the names of the two columns of arms."""
    own = [_key(name) for name in columns[:2]]
    return next(("/".join(pair) for pair in WORDS if [*map(_key, pair)] == own), OWN)


def _best(
    ways: dict[str, Reading], times: Mapping[str | float, float], columns: tuple[str, str, str]
) -> tuple[Reading, float, list[Reading]]:
    """Return the best way, how many rows it reads, and others as good with other results.

    Given the ways in order of preference, how often each outcome occurs, and the names of columns.
    """
    signed, zeros = times.get(-1.0, 0), times.get(0.0, 0)
    # A stray -1 among thousands of zeros is a fault, not a code that makes them all ties.
    stray = {SIGNED} if 0 < signed < 0.01 * (signed + zeros) else set()
    stray |= set() if {0.0, 1.0, 2.0} <= times.keys() else {"1/2/0", "0/1/2"}
    soft = sum(n for key, n in times.items() if _is_soft(key))
    stray |= {SOFT} if soft <= 0.01 * sum(times.values()) else set()
    codes = {
        way.coding: {k: way.codes[k] for k in times if k in way.codes}
        for way in ways.values()
        if way.coding not in stray
    }
    read = {coding: sum(times[k] for k in found) for coding, found in codes.items()}
    most = max(read.values())
    equal = [coding for coding in codes if read[coding] == most]

    def apart(one: str, among: Sequence[str]) -> list[str]:
        """Return the codings that read an outcome with another result."""
        mine = codes[one]
        return [c for c in among if any(mine.get(k, v) != v for k, v in codes[c].items())]

    decided = [DECISIVE.get(by) for by in (plain(columns[2]), side_of(*columns[:2]))]
    if not any(isinstance(_key(name), float) for name in columns[:2]):
        decided.insert(0, _own_coding(columns))
    named = [c for c in decided if c is not None and read.get(c, -1) >= 0.9 * most]
    both_sides = [c for c in equal if {LEFT, RIGHT} <= {*codes[c].values()}]
    best = (named or both_sides or equal)[0]
    others = apart(best, equal)
    settled = bool(others) or not set(equal) - {best}
    clash = [] if named else apart(best, both_sides or equal)
    chosen = replace(ways[best], settled=settled, others=tuple(others))
    return chosen, read[best], [ways[c] for c in clash]


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
