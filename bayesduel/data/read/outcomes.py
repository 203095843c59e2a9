"""The choice of the coding that a log uses, which says what each value of an outcome means.

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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from bayesduel.data.read.columns import plain, side_of, words_of
from bayesduel.data.read.grades import grade_in
from bayesduel.data.read.meaning import MEANS, RESULTS, TIE_WORDS, Code, Meaning, folded, means_of
from bayesduel.data.read.outcome_text import difference, outcome_key
from bayesduel.data.read.rows import Coded, are_numbers
from bayesduel.data.read.words import BOTH_BAD_WORDS, LOST, WORDS
from bayesduel.data.votes import LARGEST_GRADE
from bayesduel.system.arguments import as_options, by_reader
from bayesduel.text import count, join, shorten

__all__ = [
    "CODINGS",
    "INDEX",
    "NAMED",
    "SCORED",
    "choose_meaning",
    "coding_of",
    "results_of",
    "says_both_bad",
]


SHOWN = 12  # values that a message lists: those of most codings are fewer
SIDES_SAID = WORDS[0], WORDS[3]  # beside probabilities: "left", "model_a"
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


LOSERS = Meaning(LOSER, "the loser's name or tie", TIE_WORDS, by_name=True, loser=True)
NAMES = Meaning(NAMED, "the winner's name or tie", TIE_WORDS, by_name=True)


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
        ways |= {PERCENTS: _percent_way(outcome), NAMED: NAMES, LOSER: LOSERS}
        asked = ways[_own_coding(columns) if coding == OWN else coding]
        if coding == GRADED:
            values.check_grades()
        return replace(asked, accepted=f"{asked.accepted} (coding {asked.coding!r})")
    sides = side_of(*columns[:2]) or ()  # X is no tie beside Y
    for name, way in ways.items():
        tied_sides = {key for key in sides if way.codes.get(key) == Code.TIE}
        codes = {key: code for key, code in way.codes.items() if key not in tied_sides}
        ways[name] = replace(way, codes=codes)
    sided = _sided_way(outcome, sides)
    if sided is not None:
        ways[sided.coding] = sided
    times = values.times
    chosen, most, clash = _best(ways, times, columns)
    arms = folded(left) | folded(right)
    if folded(outcome) & arms:
        named = NAMES.read(left, right, outcome)
        by_name = n[named != Code.UNREADABLE].sum()
        names_side = abs(named) == Code.LEFT

        def apart(way: Meaning) -> np.ndarray:
            coded = way.read(left, right, outcome)
            readable = coded != Code.UNREADABLE
            return (coded != named) & readable & names_side

        if by_name >= most:  # of two codings, the one that agrees with the names
            agreeing = (way for way in (chosen, *clash) if not apart(way).any())
            chosen = next(agreeing, chosen)
        differs = apart(chosen)
        close = min(most, by_name) >= 0.9 * max(most, by_name)
        if differs.any() and close:
            k = int(np.flatnonzero(differs)[0])
            value = outcome.values[outcome.code[k]]
            one = left.values[left.code[k]]
            other = right.values[right.code[k]]
            as_side = as_options(coding=chosen.coding)
            as_arm = as_options(coding=NAMED)
            raise ValueError(
                f"column {columns[2]!r}: {value!r} can be a side or an arm, where {one!r} meets "
                f"{other!r}. If it is a side, use {as_side}. If it is an arm, use {as_arm}"
            )
        if by_name >= most:
            settled = bool(by_name > most)
            way = NAMES if settled or clash else chosen
            chosen = replace(way, settled=settled)
            most = by_name
            clash = []
    if most < 0.5 * values.n:
        raise values.refused(
            " should say who won (left/right/tie, 1/0/0.5, a/b, model_a/model_b, the winner's "
            "label, or a grade such as 'A is much better')"
        )
    if clash:
        mine = chosen.codes
        other_codes = clash[0].codes
        shared = times.keys() & mine.keys() & other_codes.keys()
        key = next(k for k in shared if mine[k] != other_codes[k])
        value = next(text for text in outcome.values if outcome_key(text) == key)
        results = []
        which = []
        for way in (chosen, *clash):
            result = RESULTS[way.codes[key]]
            option = as_options(coding=way.coding)
            spelt_out = values.spelt_out(way, arms)
            results.append(result)
            which.append(f"If {value!r} means {result}, use {option}{spelt_out}")
        meant = join(dict.fromkeys(results), word="or")
        raise values.refused(f": {value!r} can mean {meant}", " ".join(which))
    if times.keys() == {0.0, 1.0} and INDEX.fullmatch(plain(columns[2])):
        raise values.refused(": 1 can mean that left won, or be the second arm")
    chosen = _of_the_other(chosen, values, columns)
    return replace(chosen, to_complete=values.completed(chosen, arms))


class _Values:
    """The values of a column of outcomes, how often each occurs, and what to say of them."""

    def __init__(self, outcome: Coded, n: np.ndarray, column: str) -> None:
        self.column = column
        self.counts = outcome.most_frequent(n)
        self.n = sum(self.counts.values())
        self.times: dict[str | float, float] = {}
        for text, k in self.counts.items():
            key = outcome_key(text)
            self.times[key] = self.times.get(key, 0) + k

    def refused(self, rule: str, which: str = "") -> ValueError:
        """Return the error of outcomes that are not understood, with the ``means`` to complete.

        rule: what is wrong, behind the name of the column.
        which: settings that may fit, as sentences.
        """
        texts = list(self.counts)[:SHOWN]
        if are_numbers(texts):
            texts.sort(key=float)
        shown = [f"{shorten(text, 40)!r} ({self.counts[text]:,})" for text in texts]
        seen = ", ".join(shown)
        n_more = len(self.counts) - SHOWN
        if n_more > 0:
            more = count(n_more, "other value")
            seen += f" and {more}"
        means = as_options(means=dict.fromkeys(texts, "?"))
        none = by_reader("None", "none")
        say = f"{which} Else say" if which else "Say"
        also = self._other_options()
        return ValueError(
            f"column {self.column!r}{rule}. Its values are {seen}. {say} what each value means by "
            f"{means} (in place of each ? put left, right, tie, a grade such as 'grade -2', or "
            f"{none}, which leaves the row out){also}"
        )

    def _other_options(self) -> str:
        """Return the options that may fit where all values are numbers, as sentences, or ""."""
        numbers = [k for k in self.times if isinstance(k, float)]
        if not numbers or len(numbers) < len(self.times):
            return ""
        largest = max(numbers)
        if min(numbers) < 0 < largest:
            grades = as_options(coding="grades")
            margin = as_options(margin=self.column, outcome=False)
            return f". If a positive number says that left is better, use {grades} or {margin}"
        if not 1 < largest <= 100:
            return ""
        grades = by_reader(
            "grades=(BEST_FOR_LEFT, BEST_FOR_RIGHT)", "--grades BEST_FOR_LEFT,BEST_FOR_RIGHT"
        )
        percent = as_options(coding="percent")
        return (
            f". If the values are a scale, use {grades}"
            f". If the values are percentages of left, use {percent}"
        )

    def spelt_out(self, way: Meaning, arms: set[str]) -> str:
        """Return what values mean by a way, as the end of a sentence."""
        meant = [f"{text} is {result}" for text, result in self.completed(way, arms)]
        understood = [words for words in meant if not words.endswith("?")]
        known = join(understood, SHOWN)
        return f" ({known})." if known else "."

    def completed(self, way: Meaning, arms: set[str]) -> tuple[tuple[str, str], ...]:
        """Return what values mean, "?" for the rest; nothing where numbers say what they mean."""
        if way.shares or way.margins or way.sized:
            return ()
        texts = list(self.counts)
        if way.by_name:
            texts = [text for text in texts if text.strip().casefold() not in arms]
        meant = []
        for text in texts[:SHOWN]:
            code = way.codes.get(way.key(text), Code.UNREADABLE)
            result = RESULTS.get(code, "?")
            meant.append((text, result))
        order = [*RESULTS.values(), "?"]
        return tuple(sorted(meant, key=lambda one: order.index(one[1])))

    def check_grades(self) -> None:
        """Raise ValueError if whole numbers are grades of one sign, whose middle is not known."""
        numbers = [key for key in self.times if isinstance(key, float)]
        if len(numbers) < 2:
            return
        least = min(numbers)
        most = max(numbers)
        if least < 0:
            return
        ends = tuple(int(n) if n.is_integer() else n for n in (least, most))
        low_is_left = as_options(grades=ends)
        high_is_left = as_options(grades=ends[::-1])
        raise ValueError(
            f"column {self.column!r} should have grades of both signs, got {least:g} to "
            f"{most:g}; say the number that is best for left, then for right: "
            f"{low_is_left} or {high_is_left}"
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
    if lost == of_right or way.grades or way.margins:
        return way
    if lost and way.shares:
        return way
    if way.shares:
        in_its_order = as_options(left=right, right=left)
        as_it_is = as_options(coding="probability")
        raise ValueError(
            f"column {outcome!r} should be a share of {left!r}, got one of {right!r}, by its name; "
            f"name the sides in its order ({in_its_order}), or the way it is: {as_it_is}"
        )
    if way.by_name:
        return LOSERS
    said: dict[str, str | None] = {}
    for text in values.counts:
        code = way.codes.get(way.key(text))
        if code is not None:
            said[text] = RESULTS[-code]
    return means_of(said)


def _names_right(outcome: str, left: str, right: str) -> bool:
    """Return whether the name of a column of 0 and 1 says that these are of the right side."""
    sides = side_of(left, right)
    swapped = side_of(right, left)
    if sides is None and swapped:
        sides = swapped[::-1]
    first, second = sides or ("left", "right")
    words = words_of(outcome)
    if second in words or first in words:
        return second in words and first not in words
    name = plain(outcome)
    return plain(right) in name and plain(left) not in name


def coding_of(texts: Collection[str], labels: Collection[str]) -> str:
    """Return the coding of some texts that say who won, each of them; "" where they do not.

    labels: of the arms.
    """
    keys = {outcome_key(text) for text in texts} - TIE_WORDS.keys()
    if not keys:
        return ""
    names = {outcome_key(label) for label in labels}
    codings: dict[str, set[str | float]] = {NAMED: names}
    codings |= {"/".join(pair): {*map(outcome_key, pair)} for pair in WORDS}
    codings |= {coding: {*codes} for coding, codes in NUMBERS.items()}
    understood = (coding for coding, known in codings.items() if keys <= known)
    return next(understood, "")


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
    left_word, right_word = map(outcome_key, columns[:2])
    own = _own_coding(columns) == OWN and left_word != right_word
    pairs = {OWN: columns[:2]} if own else {}
    pairs |= {"/".join(pair): pair for pair in WORDS}
    ways = {}
    for coding, (left, right) in pairs.items():
        codes = TIE_WORDS | _sides(left, right)
        ways[coding] = Meaning(coding, f"{left}, {right} or tie", codes)
    for coding, numbers in NUMBERS.items():
        *others, last = coding.split("/")
        accepted = f"{', '.join(others)} or {last}"
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
    codes = dict(TIE_WORDS)
    for left, right in SIDES_SAID:
        codes |= _sides(left, right)
    codes |= {0.0: Code.RIGHT, 1.0: Code.LEFT}
    for key, share in shares.items():
        codes[key] = Code.LEFT if share >= 0.5 else Code.RIGHT
    return Meaning(SOFT, "a number from 0 to 1", codes, shares=shares)


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
    if len(words) != 2:
        return None
    keys = frozenset(map(outcome_key, words))
    if any(isinstance(key, float) for key in keys):
        return None
    known = {frozenset(map(outcome_key, pair)) for pair in WORDS}
    if keys in known:
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
    for pair in WORDS:
        if [*map(outcome_key, pair)] == own:
            return "/".join(pair)
    return OWN


def _best(
    ways: dict[str, Meaning], times: Mapping[str | float, float], columns: tuple[str, str, str]
) -> tuple[Meaning, float, list[Meaning]]:
    """Return the best way, how many rows it reads, and others as good with other results.

    Given the ways in order of preference, how often each outcome occurs, and the names of columns.
    """
    stray = _stray(times) | _partial(ways, times)
    codes = {}
    read = {}
    for way in ways.values():
        if way.coding in stray:
            continue
        found = {key: way.codes[key] for key in times if key in way.codes}
        codes[way.coding] = found
        read[way.coding] = sum(times[key] for key in found)
    most = max(read.values())
    equal = [coding for coding in codes if read[coding] == most]

    def apart(one: str, among: Sequence[str]) -> list[str]:
        """Return the codings that read an outcome with another result."""
        mine = codes[one]
        found = []
        for other in among:
            results = codes[other]
            if any(mine.get(key, result) != result for key, result in results.items()):
                found.append(other)
        return found

    *arms, outcome = columns
    decided = [DECISIVE.get(plain(outcome)), DECISIVE.get(side_of(*arms))]
    if not any(isinstance(outcome_key(name), float) for name in arms):
        decided.insert(0, _own_coding(columns))
    enough = 0.9 * most
    known = [coding for coding in decided if coding is not None]
    named = [coding for coding in known if read.get(coding, -1) >= enough]
    sides = {Code.LEFT, Code.RIGHT}
    both_sides = [coding for coding in equal if sides <= {*codes[coding].values()}]
    candidates = named or both_sides or equal
    best = candidates[0]
    others = apart(best, equal)
    settled = bool(others) or equal == [best]
    clash = [] if named else apart(best, candidates)
    chosen = replace(ways[best], settled=settled, others=tuple(others))
    return chosen, read[best], [ways[c] for c in clash]


def _stray(times: Mapping[str | float, float]) -> set[str]:
    """Return the codings of numbers that too few rows, or none, speak for."""
    stray = set()
    signed = times.get(-1.0, 0)
    zeros = times.get(0.0, 0)
    # A stray -1 among thousands of zeros is a fault, not a code that makes them all ties.
    if 0 < signed < 0.01 * (signed + zeros):
        stray.add(SIGNED)
    if not {0.0, 1.0, 2.0} <= times.keys():
        stray |= {"1/2/0", "0/1/2"}
    total = sum(times.values())
    shares = [key for key in times if _is_soft(key) and key != 0.5]
    soft = sum(times[key] for key in shares)
    if soft <= 0.01 * total:
        stray.add(SOFT)
    return stray


def _partial(ways: Mapping[str, Meaning], times: Mapping[str | float, float]) -> set[str]:
    """Return the codings of numbers that read some numbers of a column and not the others.

    Of -3 to 3, the coding 1/-1/0 would read the weak verdicts alone. One row in a hundred may be a
    fault.
    """
    numbers = {}
    for key, n in times.items():
        if isinstance(key, float) and isfinite(key):
            numbers[key] = n
    total = sum(numbers.values())
    partial = set()
    for coding in (*NUMBERS, SOFT):
        known = ways[coding].codes
        lost = sum(n for key, n in numbers.items() if key not in known)
        if 0.01 * total < lost < total:
            partial.add(coding)
    return partial
