"""How a log says who won: the spellings of outcomes, and which of them a log uses.

A log's outcomes are read in one of these ways, the one that reads most of its rows:

- words for the left arm, the right arm and a tie: the pairs in `WORDS`, or the names of the
  log's own two columns (``model_a``);
- numbers: 1, 0 and 0.5; or 1, -1 and 0 (a tie), where -1 occurs; or 1 and 2 for the left and
  the right arm;
- the winner's own name.

Words are compared without regard to case, spaces, ``_``, ``-`` and ``.``, and any of `TIES`
is a tie in every way. Where coded outcomes and names of arms both read a log but disagree
(arms called "a" and "b", outcomes "a" and "b"), it is refused as ambiguous.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesduel.columns import plain

__all__ = ["BOTH_BAD_WORDS", "UNREADABLE", "Reading", "choose_reading", "word_of"]

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
TIE_WORDS = dict.fromkeys(TIES, TIE)
NUMBERS = (
    {1.0: LEFT, 0.0: RIGHT, 0.5: TIE},
    {1.0: LEFT, -1.0: RIGHT, 0.0: TIE},
    {1.0: LEFT, 2.0: RIGHT},
)
SIGNED = 1


@dataclass(frozen=True)
class Reading:
    """One way to read outcomes.

    Attributes
    ----------
    said
        What is understood, for messages.
    words
        Code of each word, or None where the outcome names the winner.
    numbers
        Code of each number.
    """

    said: str
    words: dict[str, int] | None
    numbers: dict[float, int]

    def code(self, text: str) -> int:
        """Return the code of an outcome that needs no names: UNREADABLE where it has none."""
        if _is_number(text):
            return self.numbers.get(float(text), UNREADABLE)
        return (self.words or TIE_WORDS).get(word_of(text), UNREADABLE)

    def read(
        self,
        left: Sequence[str],
        left_code: np.ndarray,
        right: Sequence[str],
        right_code: np.ndarray,
        outcome: Sequence[str],
        outcome_code: np.ndarray,
    ) -> np.ndarray:
        """Return the code of each row: 1 left, -1 right, 0 tie or UNREADABLE; int8.

        Parameters
        ----------
        left, right, outcome
            Distinct texts.
        left_code, right_code, outcome_code
            Which of them each row has, shape (n,); -1 where missing.
        """
        by_text = [self.code(text) for text in outcome]
        if self.words is None:  # an arm called "draw" is an arm
            arms = {text.strip().casefold() for text in (*left, *right)}
            for k, text in enumerate(outcome):
                if text.strip().casefold() in arms:
                    by_text[k] = UNREADABLE
        result = np.array([*by_text, UNREADABLE], dtype=np.int8)[outcome_code]
        if self.words is None:
            for fold in (str.casefold, str):  # the exact spelling has the last word
                ids: dict[str, int] = {}
                l_id, r_id, o_id = (
                    np.array([ids.setdefault(fold(t.strip()), len(ids)) for t in texts] + [last])[
                        code
                    ]
                    for texts, code, last in (
                        (left, left_code, -1),
                        (right, right_code, -2),
                        (outcome, outcome_code, -3),
                    )
                )
                is_left, is_right = o_id == l_id, o_id == r_id
                result = np.where(is_left & ~is_right, LEFT, result)
                result = np.where(is_right & ~is_left, RIGHT, result)
                result = np.where(is_left & is_right, TIE, result)  # a duel with itself
        return result.astype(np.int8)


def choose_reading(
    left: Sequence[str],
    left_code: np.ndarray,
    right: Sequence[str],
    right_code: np.ndarray,
    outcome: Sequence[str],
    outcome_code: np.ndarray,
    n: np.ndarray,
    *,
    columns: tuple[str, str, str],
) -> Reading:
    """Return the way to read a log's outcomes that reads most of its rows.

    Parameters
    ----------
    left, left_code, right, right_code, outcome, outcome_code
        As in :meth:`Reading.read`.
    n
        How many rows of the log each entry stands for, shape (n_entries,).
    columns
        The names of the columns of left, right and outcome.

    Raises
    ------
    ValueError
        If no way reads half of the rows, or two ways that disagree read them equally well.
    """
    rows = (left, left_code, right, right_code, outcome, outcome_code)
    per_outcome = np.bincount(outcome_code[outcome_code >= 0], n[outcome_code >= 0], len(outcome))
    ways = [*_coded_ways(columns, outcome, per_outcome), NAMES]
    codes = [way.read(*rows) for way in ways]
    read = [int(n[code != UNREADABLE].sum()) for code in codes]
    best = int(np.argmax(read[:-1]))
    named = len(ways) - 1
    apart = (codes[best] != codes[named]) & (codes[best] != UNREADABLE)
    apart &= (codes[named] == LEFT) | (codes[named] == RIGHT)
    if apart.any() and min(read[best], read[named]) >= 0.9 * max(read[best], read[named]):
        k = int(np.flatnonzero(apart)[0])
        raise ValueError(
            f"column {columns[2]!r} should say who won in one way, got "
            f"{outcome[outcome_code[k]]!r} for {left[left_code[k]]!r} against "
            f"{right[right_code[k]]!r}, which could be a side or the name of an arm; "
            f"write left, right and tie"
        )
    chosen = named if read[named] > read[best] else best
    known = int(n[outcome_code >= 0].sum())
    if known and read[chosen] < 0.5 * known:
        seen = [repr(outcome[k][:40]) for k in np.argsort(-per_outcome, kind="stable")[:5]]
        raise ValueError(
            f"column {columns[2]!r} should say who won (left/right/tie, 1/0/0.5, 1/-1/0, a/b, "
            f"model_a/model_b or the winner's name), got {', '.join(seen)}"
        )
    return ways[chosen]


def _coded_ways(
    columns: tuple[str, str, str], outcome: Sequence[str], count: np.ndarray
) -> list[Reading]:
    ways = []
    own = (plain(columns[0]), plain(columns[1]))
    for left, right in dict.fromkeys((own, *WORDS)):
        words = TIE_WORDS | {left: LEFT, right: RIGHT}
        ways.append(Reading(f"{left}, {right} or tie", words, {}))
    said = ("1, 0 or 0.5", "1, -1 or 0", "1 or 2")
    ways += [Reading(s, TIE_WORDS, numbers) for s, numbers in zip(said, NUMBERS, strict=True)]
    # A stray -1 among thousands of zeros is a fault, not a code that makes them all ties.
    sums = {-1.0: 0.0, 0.0: 0.0}
    for text, times in zip(outcome, count, strict=True):
        if _is_number(text) and float(text) in sums:
            sums[float(text)] += times
    if sums[-1.0] < 0.01 * (sums[-1.0] + sums[0.0]) or sums[-1.0] == 0:
        ways.remove(next(w for w in ways if w.numbers == NUMBERS[SIGNED]))
    return ways


def word_of(text: str) -> str:
    """Return an outcome as words are compared; results like 1-0 keep their hyphen."""
    word = re.sub(r"\s+", "", text.casefold())
    return word if word[:1] in tuple("01½") else plain(word)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


NAMES = Reading("the winner's name or tie", None, {})
