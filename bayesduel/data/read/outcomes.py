"""What each value of an outcome means, and the choice of the coding that a log uses.

What the user says (``means=``, ``grades=``, ``coding=``) is taken as it is. Else the outcomes of a
log are read in the one of these ways that reads most of its rows:

- words for the left arm, the right arm and a tie: the pairs in `WORDS`, the names of the log's own
  two columns ("columns"), or two words that differ by a side alone, as "modelA" and "modelB" do;
- numbers: 1, 0 and 0.5; or 1, -1 and 0 (a tie); or 1 and 2 for the left and the right arm; or,
  where 0, 1 and 2 all occur, these and 0 for a tie, or 0 and 1 for them and 2 for a tie; or
  from 0 to 1, the probability that left is better, of which some are soft votes (between 0 and 1);
- a score in one text ("2-1", "score"): left's, then right's;
- the winner's own name ("winner"), or the loser's in a column that is called so ("loser");
- grades in words ("A is much better", "A>>B", :mod:`bayesduel.data.read.grades`); if asked for, in
  whole numbers of either sign, too ("grades").

Words are compared without regard to case, spaces, ``_``, ``-`` and ``.``, and any of `TIES`
is a tie in every way. Where several codings read as many rows with different results, the names
of the columns decide (`DECISIVE`), else a coding of which both sides occur (1 and 0 are not taken
for wins and ties without a loss); else the log is refused as ambiguous. So is a log that can be
read by codes and by names of arms with different results (arms called "a" and "b", outcomes "a"
and "b"), and one of 0 and 1 in a column whose name may be an index (`INDEX`): 0 may be the first.
A refusal prints the ``means`` to complete, with the column's own values. A column whose name says
who lost (``worse``), or that 1 is of the right side (``right_better``), is read the other way.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import isfinite
from typing import Any

import numpy as np

from bayesduel.data.read.columns import plain, side_of, words_of
from bayesduel.data.read.grades import grade_in
from bayesduel.data.read.outcome_text import difference, exact_key, outcome_key
from bayesduel.data.read.rows import NUMBER, Coded
from bayesduel.data.read.words import BOTH_BAD_WORDS, LOST, TIES, WORDS
from bayesduel.data.votes import LARGEST_GRADE
from bayesduel.system.arguments import as_options, by_reader, shown_value, text_of
from bayesduel.text import count, join, shorten

__all__ = [
    "CODINGS",
    "INDEX",
    "LOSERS_NAME",
    "MEANS",
    "NAMED",
    "SCORED",
    "WINNERS_NAME",
    "Code",
    "Meaning",
    "choose_meaning",
    "coding_of",
    "grades_of",
    "means_of",
    "results_of",
    "says_both_bad",
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
SHOWN = 12  # values that a message lists: those of most codings are fewer
WINNERS_NAME = "the winner's name"
LOSERS_NAME = "the loser's name"

SIDES_SAID = WORDS[0], WORDS[3]  # beside probabilities: "left", "model_a"
TIE_WORDS: dict[str | float, int] = dict.fromkeys(TIES, Code.TIE)
NUMBERS: dict[str, dict[str | float, int]] = {
    "1/0/0.5": {1.0: Code.LEFT, 0.0: Code.RIGHT, 0.5: Code.TIE},
    "1/-1/0": {1.0: Code.LEFT, -1.0: Code.RIGHT, 0.0: Code.TIE},
    "1/2": {1.0: Code.LEFT, 2.0: Code.RIGHT},
    "1/2/0": {1.0: Code.LEFT, 2.0: Code.RIGHT, 0.0: Code.TIE},
    "0/1/2": {0.0: Code.LEFT, 1.0: Code.RIGHT, 2.0: Code.TIE},
}
SIGNED = "1/-1/0"
OWN = "columns"
NAMED = "winner"
SOFT = "probability"
PERCENTS = "percent"
GRADED = "grades"
SCORED = "score"
LOSER = "loser"
CODINGS = (
    *("/".join(pair) for pair in WORDS),
    *NUMBERS,
    OWN,
    NAMED,
    LOSER,
    SOFT,
    PERCENTS,
    GRADED,
    SCORED,
)
MEANS = "means"  # how outcomes are read where the user says what each value means
# Names of columns in which 0 may stand for the first of two, as an index does.
WHICH = "winner|label|index|preferred|preference|choice|chosen|selected|best|better|pick|target"
WHOSE = "response|answer|model|option|output|system|candidate|item|side|completion"
INDEX = re.compile(f"({WHICH}|answer)|({WHICH})?({WHOSE})?({WHICH})?(id|idx|index|number)")
# The coding that the sides of the columns of arms, or the name of the column of outcomes, decide
# on, where it reads nine in ten of the rows that the best reads.
DECISIVE: dict[tuple[str, str] | str | None, str] = {
    ("home", "away"): "h/a",
    ("white", "black"): "w/b",
    ("a", "b"): "a/b",
    "ftr": "h/a",  # football-data.co.uk: full-time result
    "winner": "l/r",  # a side, not the loss of the left arm
    "whowon": "l/r",
    "preferred": "l/r",
}


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
        return self.grades is not None and len({abs(k) for k in self.grades.values()} - {0}) > 1

    def graded(self, outcome: Coded) -> np.ndarray | None:
        """Return the grade of each row, int8; None where they say no more than who won."""
        if self.grades is None or not self.sized:
            return None
        by_text = [self.grades.get(self.key(text), 0) for text in outcome.values]
        return np.array([*by_text, 0], dtype=np.int8)[outcome.code]

    def margin(self, outcome: Coded) -> np.ndarray | None:
        """Return the margin of each row; None where outcomes are not scores."""
        return None if self.margins is None else self._numbers(self.margins, outcome)

    def share(self, outcome: Coded) -> np.ndarray | None:
        """Return left's share of each soft vote, NaN of the others; None where none is soft."""
        return None if self.shares is None else self._numbers(self.shares, outcome)

    def _numbers(self, numbers: Mapping[str | float, float], outcome: Coded) -> np.ndarray:
        by_text = [numbers.get(self.key(text), np.nan) for text in outcome.values]
        return np.array([*by_text, np.nan])[outcome.code]

    def read(self, left: Coded, right: Coded, outcome: Coded) -> np.ndarray:
        """Return the code of each row: 1 left, -1 right, 0 tie, as `Code`; int8."""
        missing = self.codes.get("", Code.UNREADABLE) if self.exact else Code.UNREADABLE
        by_text = [self.codes.get(self.key(text), Code.UNREADABLE) for text in outcome.values]
        if not self.by_name:
            return np.array([*by_text, missing], dtype=np.int8)[outcome.code]
        arms = set() if self.exact else _folded(left) | _folded(right)
        for k, text in enumerate(outcome.values):
            if text.strip().casefold() in arms:  # an arm called "draw" is an arm
                by_text[k] = Code.UNREADABLE
        result = np.array([*by_text, missing], dtype=np.int8)[outcome.code]
        said = self.exact & (result != Code.UNREADABLE)
        for fold in (str.casefold, str):  # the exact spelling has the last word
            ids: dict[str, int] = {}
            is_left, is_right = (
                _numbered(outcome, fold, ids, -1) == _numbered(side, fold, ids, -2)
                for side in (left, right)
            )
            result[is_left & ~is_right & ~said] = Code.RIGHT if self.loser else Code.LEFT
            result[is_right & ~is_left & ~said] = Code.LEFT if self.loser else Code.RIGHT
            result[is_left & is_right & ~said] = Code.TIE  # a duel with itself
        return result

    def says(self, text: str) -> str:
        """Return what a value means, in words; "" where the value is not understood."""
        key = self.key(text)
        code = self.codes.get(key)
        if self.by_name and code is None:
            return LOSERS_NAME if self.loser else WINNERS_NAME
        if code is None:
            return ""
        if self.shares is not None and key in self.shares:
            return f"left is better with probability {self.shares[key]:g}"
        if self.sized and self.grades is not None and self.grades.get(key):
            return f"grade {self.grades[key]:+d}: {WON[code]}"
        return WON[code]


LOSERS = Meaning(LOSER, "the loser's name or tie", TIE_WORDS, by_name=True, loser=True)
NAMES = Meaning(NAMED, "the winner's name or tie", TIE_WORDS, by_name=True)


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
        word = str("none" if meaning is None else meaning).strip().casefold()
        graded = re.fullmatch(rf"grade\s*([+-]?[0-{LARGEST_GRADE}])", word)
        if key in codes:
            raise ValueError(f"means should have one meaning for each value, got {value!r} twice")
        if graded:
            grades[key] = int(graded[1])
            codes[key] = int(np.sign(grades[key]))
        elif word in SAID:
            codes[key] = SAID[word]
        elif re.fullmatch(NUMBER, word) and 0 <= float(word) <= 1:
            shares[key] = float(word)
            codes[key] = Code.LEFT if float(word) >= 0.5 else Code.RIGHT
        else:
            raise ValueError(
                f"{by_reader('means', '--means')} should give left, right, tie, a grade such as "
                f"'grade -2', a share from 0 to 1, or {by_reader('None', 'none')} (left out) for "
                f"each value, got {meaning!r} for {value!r}"
            )
        said[text] = None if word == "none" else word
    if grades and any(abs(code) == Code.LEFT for key, code in codes.items() if key not in grades):
        raise ValueError("means should give grades or sides, not both, got " + shown_value(means))
    return Meaning(
        MEANS,
        f"{join(list(said), word='or', quote=True)}, as {as_options(means=None)} says; add the "
        "value there (none: leave out its rows)",
        codes,
        by_name={*codes.values()} <= {Code.TIE, Code.LEFT_OUT} and not grades,
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
        grade = int(np.sign(distance) * np.ceil(abs(distance)))
        means[str(value)] = f"grade {grade:+d}"
    return replace(means_of(means), accepted=f"a whole number from {first} to {last} (grades)")


def choose_meaning(
    left: Coded,
    right: Coded,
    outcome: Coded,
    n: np.ndarray,
    columns: tuple[str, str, str],
    coding: str | None = None,
) -> Meaning:
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
        SCORED: _score_way(outcome),
    }
    values = _Values(outcome, n, columns[2])
    if coding is not None:
        asked = (ways | {PERCENTS: _percent_way(outcome), NAMED: NAMES, LOSER: LOSERS})[
            coding if coding != OWN else _own_coding(columns)
        ]
        if coding == GRADED:
            values.check_grades()
        return replace(asked, accepted=f"{asked.accepted} (coding {asked.coding!r})")
    sides = side_of(*columns[:2]) or ()  # X is no tie beside Y
    for name, way in ways.items():
        codes = {
            key: code for key, code in way.codes.items() if code != Code.TIE or key not in sides
        }
        ways[name] = replace(way, codes=codes)
    sided = _sided_way(outcome, sides)
    ways |= {} if sided is None else {sided.coding: sided}
    times = values.times
    chosen, most, clash = _best(ways, times, columns)
    if _folded(outcome) & (_folded(left) | _folded(right)):
        named = NAMES.read(left, right, outcome)
        by_name = n[named != Code.UNREADABLE].sum()

        def apart(way: Meaning) -> np.ndarray:
            coded = way.read(left, right, outcome)
            return (coded != named) & (coded != Code.UNREADABLE) & (abs(named) == Code.LEFT)

        if by_name >= most:  # of two codings, the one that agrees with the names
            chosen = next((way for way in (chosen, *clash) if not apart(way).any()), chosen)
        differs = apart(chosen)
        if differs.any() and min(most, by_name) >= 0.9 * max(most, by_name):
            k = int(np.flatnonzero(differs)[0])
            raise ValueError(
                f"column {columns[2]!r}: {outcome.values[outcome.code[k]]!r} can be a side or an "
                f"arm, where {left.values[left.code[k]]!r} meets {right.values[right.code[k]]!r}. "
                f"If it is a side, use {as_options(coding=chosen.coding)}. If it is an arm, use "
                f"{as_options(coding=NAMED)}"
            )
        if by_name >= most:
            settled = bool(by_name > most)
            chosen = replace(NAMES if settled or clash else chosen, settled=settled)
            most = by_name
            clash = []
    if most < 0.5 * values.n:
        raise values.refused(
            " should say who won (left/right/tie, 1/0/0.5, a/b, model_a/model_b, the winner's "
            "label, or a grade such as 'A is much better')"
        )
    if clash:
        shared = times.keys() & chosen.codes.keys() & clash[0].codes.keys()
        key = next(k for k in shared if chosen.codes[k] != clash[0].codes[k])
        value = next(text for text in outcome.values if outcome_key(text) == key)
        arms = _folded(left) | _folded(right)
        results = dict.fromkeys(RESULTS[way.codes[key]] for way in (chosen, *clash))
        which = [
            f"If {value!r} means {RESULTS[way.codes[key]]}, use {as_options(coding=way.coding)}"
            f"{values.spelt_out(way, arms)}"
            for way in (chosen, *clash)
        ]
        raise values.refused(f": {value!r} can mean {join(results, word='or')}", " ".join(which))
    if times.keys() == {0.0, 1.0} and INDEX.fullmatch(plain(columns[2])):
        raise values.refused(": 1 can mean that left won, or be the second arm")
    chosen = _of_the_other(chosen, values, columns)
    return replace(chosen, to_complete=values.completed(chosen, _folded(left) | _folded(right)))


class _Values:
    """The values of a column of outcomes, how often each occurs, and what to say of them."""

    def __init__(self, outcome: Coded, n: np.ndarray, column: str) -> None:
        self.column = column
        counted = outcome.counts(n)
        order = np.argsort(-counted, kind="stable")
        self.counts = {outcome.values[k]: int(counted[k]) for k in order if counted[k] > 0}
        self.n = sum(self.counts.values())
        self.times: dict[str | float, float] = {}
        for text, k in self.counts.items():
            self.times[outcome_key(text)] = self.times.get(outcome_key(text), 0) + k

    def refused(self, rule: str, which: str = "") -> ValueError:
        """Return the error of outcomes that are not understood, with the ``means`` to complete.

        rule: what is wrong, behind the name of the column.
        which: settings that may fit, as sentences.
        """
        texts = list(self.counts)[:SHOWN]
        if all(re.fullmatch(NUMBER, text.strip()) for text in texts):
            texts.sort(key=float)
        seen = ", ".join(f"{shorten(t, 40)!r} ({self.counts[t]:,})" for t in texts)
        if len(self.counts) > SHOWN:
            seen += f" and {count(len(self.counts) - SHOWN, 'other value')}"
        means = as_options(means=dict.fromkeys(texts, "?"))
        numbers = [k for k in self.times if isinstance(k, float)]
        signed = min(numbers, default=0) < 0 < max(numbers, default=0)
        also = ""
        if numbers and not signed and 1 < max(numbers) <= 100 and len(numbers) == len(self.times):
            ends = "BEST_FOR_LEFT,BEST_FOR_RIGHT"
            grades = by_reader(f"grades=({ends.replace(',', ', ')})", f"--grades {ends}")
            percent = as_options(coding="percent")
            also = f". If the values are a scale, use {grades}"
            also += f". If the values are percentages of left, use {percent}"
        if signed and len(numbers) == len(self.times):
            also = (
                ". If a positive number says that left is better, use "
                f"{as_options(coding='grades')} or "
                f"{as_options(margin=self.column, outcome=False)}"
            )
        none = by_reader("None", "none")
        say = f"{which} Else say" if which else "Say"
        return ValueError(
            f"column {self.column!r}{rule}. Its values are {seen}. {say} what each value means by "
            f"{means} (in place of each ? put left, right, tie, a grade such as 'grade -2', or "
            f"{none}, which leaves the row out){also}"
        )

    def spelt_out(self, way: Meaning, arms: set[str]) -> str:
        """Return what values mean by a way, as the end of a sentence."""
        meant = [f"{text} is {result}" for text, result in self.completed(way, arms)]
        known = join([words for words in meant if not words.endswith("?")], SHOWN)
        return f" ({known})." if known else "."

    def completed(self, way: Meaning, arms: set[str]) -> tuple[tuple[str, str], ...]:
        """Return what values mean, "?" for the rest; nothing where numbers say what they mean."""
        if way.shares or way.margins or way.sized:
            return ()
        texts = [t for t in self.counts if not way.by_name or t.strip().casefold() not in arms]
        meant = {
            t: RESULTS.get(way.codes.get(way.key(t), Code.UNREADABLE), "?") for t in texts[:SHOWN]
        }
        order = [*RESULTS.values(), "?"]
        texts = sorted(meant, key=lambda text: order.index(meant[text]))
        return tuple((text, meant[text]) for text in texts)

    def check_grades(self) -> None:
        """Raise ValueError if whole numbers are grades of one sign, whose middle is not known."""
        numbers = [key for key in self.times if isinstance(key, float)]
        if len(numbers) > 1 and not min(numbers) < 0:
            least = min(numbers)
            most = max(numbers)
            ends = tuple(int(n) if n.is_integer() else n for n in (least, most))
            raise ValueError(
                f"column {self.column!r} should have grades of both signs, got {least:g} to "
                f"{most:g}; say the number that is best for left, then for right: "
                f"{as_options(grades=ends)} or {as_options(grades=ends[::-1])}"
            )


def _of_the_other(way: Meaning, values: _Values, columns: tuple[str, str, str]) -> Meaning:
    """Return the way to read a column whose name says who lost, or whether the right side won.

    Raises ValueError for a share of the right side.
    """
    left, right, outcome = columns
    lost = bool(words_of(outcome) & LOST)
    known = {"true", "false", "yes", "no", "win", "loss", "won", "lost", 0.0, 1.0, 0.5, *TIE_WORDS}
    flags = values.times.keys() <= known
    of_right = _names_right(outcome, left, right) and (flags or way.shares is not None)
    if lost == of_right or way.grades or way.margins or (lost and way.shares):
        return way
    if way.shares:
        raise ValueError(
            f"column {outcome!r} should be a share of {left!r}, got one of {right!r}, by its name; "
            f"name the sides in its order ({as_options(left=right, right=left)}), or "
            f"the way it is: {as_options(coding='probability')}"
        )
    if way.by_name:
        return LOSERS
    codes = {text: way.codes.get(way.key(text)) for text in values.counts}
    said: dict[str, str | None] = {
        text: RESULTS[-code] for text, code in codes.items() if code is not None
    }
    return means_of(said)


def _names_right(outcome: str, left: str, right: str) -> bool:
    """Return whether the name of a column of 0 and 1 says that these are of the right side."""
    swapped = side_of(right, left)
    first, second = side_of(left, right) or (swapped[::-1] if swapped else ("left", "right"))
    words = words_of(outcome)
    if second in words or first in words:
        return second in words and first not in words
    return plain(right) in plain(outcome) and plain(left) not in plain(outcome)


def coding_of(texts: Collection[str], labels: Collection[str]) -> str:
    """Return the coding of some texts that say who won, each of them; "" where they do not.

    labels: of the arms.
    """
    keys = {outcome_key(text) for text in texts} - TIE_WORDS.keys()
    codings: dict[str, set[str | float]] = {NAMED: {outcome_key(label) for label in labels}}
    codings |= {"/".join(pair): {*map(outcome_key, pair)} for pair in WORDS}
    codings |= {coding: {*codes} for coding, codes in NUMBERS.items()}
    return next((coding for coding, known in codings.items() if keys and keys <= known), "")


def results_of(texts: Collection[str]) -> dict[str, str]:
    """Return "left", "right" or "tie" for each of some texts in a known coding, else nothing."""
    coding = coding_of(texts, ())
    if not coding:
        return {}
    codes = _coded_ways(("left", "right", "outcome"))[coding].codes
    return {text: RESULTS[codes[outcome_key(text)]] for text in texts}


def says_both_bad(text: str) -> bool:
    """Return whether an outcome is "both bad", which is a tie that is counted separately."""
    return outcome_key(text) in BOTH_BAD_WORDS


def _coded_ways(columns: tuple[str, str, str]) -> dict[str, Meaning]:
    """Return the ways that need no names of arms by coding, in order of preference."""
    own = _own_coding(columns) == OWN and outcome_key(columns[0]) != outcome_key(columns[1])
    pairs = {OWN: columns[:2]} if own else {}
    pairs |= {"/".join(pair): pair for pair in WORDS}
    ways = {}
    for coding, (left, right) in pairs.items():
        codes = TIE_WORDS | _sides(left, right)
        ways[coding] = Meaning(coding, f"{left}, {right} or tie", codes)
    for coding, numbers in NUMBERS.items():
        accepted = " or ".join(coding.replace("/", ", ").rsplit(", ", 1))
        ways[coding] = Meaning(coding, accepted, TIE_WORDS | numbers)
    return ways


def _sides(left: str, right: str) -> dict[str | float, int]:
    """Return what two words say, the one of the left arm and the one of the right."""
    return {outcome_key(left): Code.LEFT, outcome_key(right): Code.RIGHT}


def _is_soft(key: str | float) -> bool:
    return isinstance(key, float) and 0 < key < 1


def _soft_way(outcome: Coded) -> Meaning:
    """Return the way by which outcomes are the probability that left is better."""
    keys = {outcome_key(text) for text in outcome.values}
    shares = {key: float(key) for key in keys if _is_soft(key)}
    codes: dict[str | float, int] = {0.0: Code.RIGHT, 1.0: Code.LEFT}
    codes |= {key: Code.LEFT if share >= 0.5 else Code.RIGHT for key, share in shares.items()}
    words: dict[str | float, int] = {}
    for left, right in SIDES_SAID:
        words |= _sides(left, right)
    return Meaning(SOFT, "a number from 0 to 1", TIE_WORDS | words | codes, shares=shares)


def _percent_way(outcome: Coded) -> Meaning:
    """Return the way by which outcomes are percentages without a sign: 64 for 64 %."""
    keys = {outcome_key(text) for text in outcome.values}
    shares: dict[str | float, float] = {}
    codes = dict(TIE_WORDS)
    for key in keys:
        if isinstance(key, float) and 0 <= key <= 100:
            shares[key] = key / 100
            codes[key] = Code.LEFT if key >= 50 else Code.RIGHT
    return Meaning(PERCENTS, "a number from 0 to 100", codes, shares=shares)


def _score_way(outcome: Coded) -> Meaning:
    """Return the way by which outcomes are scores in one text, left's first: "2-1"."""
    margins: dict[str | float, float] = {}
    for text in outcome.values:
        margin = difference(text)
        if margin is not None:
            margins[outcome_key(text)] = margin
    codes = {key: int(np.sign(margin)) for key, margin in margins.items()}
    return Meaning(SCORED, "two scores such as 2-1", codes, margins=margins)


def _sided_way(outcome: Coded, sides: Collection[str]) -> Meaning | None:
    """Return the way by which two words differ by a side alone ("modelA", "modelB"), or None.

    sides: the words of the sides of the columns of arms, which are no ties.
    """
    ties = TIE_WORDS.keys() - {*sides}
    words = sorted({text.strip() for text in outcome.values if outcome_key(text) not in ties})
    if len(words) != 2 or any(isinstance(outcome_key(word), float) for word in words):
        return None
    known = {frozenset(map(outcome_key, pair)) for pair in WORDS}
    if frozenset(map(outcome_key, words)) in known:
        return None
    for left, right in (words, words[::-1]):
        if side_of(left, right) is not None:
            said: dict[str, str | None] = {left: "left", right: "right"}
            tied = {t: "tie" for t in outcome.values if outcome_key(t) in ties}
            codes = TIE_WORDS | _sides(left, right)
            return Meaning(MEANS, f"{left}, {right} or tie", codes, said=said | tied)
    return None


def _graded_way(outcome: Coded, *, numbers: bool) -> Meaning:
    """Return the way that reads grades: in words, and if asked for in numbers."""
    found = {outcome_key(text): grade_in(text, numbers=numbers) for text in outcome.values}
    grades = {key: grade for key, grade in found.items() if grade is not None}
    codes = {key: int(np.sign(grade)) for key, grade in grades.items()}
    accepted = "a grade ('left is much better', 'better', 'same', 'A>>B'"
    accepted += f", or -{LARGEST_GRADE} to {LARGEST_GRADE})" if numbers else ")"
    return Meaning(GRADED, accepted, TIE_WORDS | codes, grades=grades)


def _own_coding(columns: tuple[str, str, str]) -> str:
    """Return the coding whose words are the names of the two columns of arms."""
    own = [outcome_key(name) for name in columns[:2]]
    return next(("/".join(pair) for pair in WORDS if [*map(outcome_key, pair)] == own), OWN)


def _best(
    ways: dict[str, Meaning], times: Mapping[str | float, float], columns: tuple[str, str, str]
) -> tuple[Meaning, float, list[Meaning]]:
    """Return the best way, how many rows it reads, and others as good with other results.

    Given the ways in order of preference, how often each outcome occurs, and the names of columns.
    """
    signed = times.get(-1.0, 0)
    zeros = times.get(0.0, 0)
    # A stray -1 among thousands of zeros is a fault, not a code that makes them all ties.
    stray = {SIGNED} if 0 < signed < 0.01 * (signed + zeros) else set()
    stray |= set() if {0.0, 1.0, 2.0} <= times.keys() else {"1/2/0", "0/1/2"}
    total = sum(times.values())
    soft = sum(n for key, n in times.items() if _is_soft(key) and key != 0.5)
    stray |= {SOFT} if soft <= 0.01 * total else set()
    stray |= _partial(ways, times)
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
    if not any(isinstance(outcome_key(name), float) for name in columns[:2]):
        decided.insert(0, _own_coding(columns))
    named = [c for c in decided if c is not None and read.get(c, -1) >= 0.9 * most]
    both_sides = [c for c in equal if {Code.LEFT, Code.RIGHT} <= {*codes[c].values()}]
    best = (named or both_sides or equal)[0]
    others = apart(best, equal)
    settled = bool(others) or not set(equal) - {best}
    clash = [] if named else apart(best, both_sides or equal)
    chosen = replace(ways[best], settled=settled, others=tuple(others))
    return chosen, read[best], [ways[c] for c in clash]


def _partial(ways: Mapping[str, Meaning], times: Mapping[str | float, float]) -> set[str]:
    """Return the codings of numbers that read some numbers of a column and not the others.

    Of -3 to 3, the coding 1/-1/0 would read the weak verdicts alone. One row in a hundred may be a
    fault.
    """
    numbers = {key: n for key, n in times.items() if isinstance(key, float) and isfinite(key)}
    total = sum(numbers.values())
    lost = {
        coding: sum(n for key, n in numbers.items() if key not in ways[coding].codes)
        for coding in (*NUMBERS, SOFT)
    }
    return {coding for coding, n in lost.items() if 0.01 * total < n < total}


def _folded(column: Coded) -> set[str]:
    return {text.strip().casefold() for text in column.values}


def _numbered(
    column: Coded, fold: Callable[[str], str], ids: dict[str, int], missing: int
) -> np.ndarray:
    """Return a number for each row's text, the same for texts that `fold` makes equal."""
    places = [ids.setdefault(fold(text.strip()), len(ids)) for text in column.values]
    return np.array([*places, missing])[column.code]
