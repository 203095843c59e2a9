"""Bad rows of a log: the rules, and the messages.

The same function checks all rows at once, to count the bad ones, and the rows of a file chunk by
chunk, to find their lines.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesduel.data.read.columns import FLAG_WORDS, Roles, plain
from bayesduel.data.read.meaning import Code, Meaning
from bayesduel.data.read.outcomes import choose_meaning
from bayesduel.data.read.rows import MEMBERS, NUMBER, Coded, Rows
from bayesduel.data.read.words import BYES
from bayesduel.data.reading import HEADER_AGAIN
from bayesduel.data.teams import split_sides
from bayesduel.data.votes import FINITE
from bayesduel.system.arguments import as_options, by_reader
from bayesduel.text import EXAMPLES, count, join

__all__ = [
    "EMPTY",
    "PLACE",
    "Examined",
    "columns_of",
    "decide_first",
    "decide_meaning",
    "examine",
    "explain",
    "label_of",
    "missing_labels",
    "named_like_missing",
    "prepared",
    "refusal",
    "shown",
    "without_missing",
]

MISSING = ("", "NaN", "nan", "NA", "N/A", "#N/A", "<NA>", "NaT", "null", "NULL", "None")
LONGEST_LABEL = 10_000  # of text by a model that is read as a name: several pages
IS_EMPTY = " is empty"
EMPTY = "rows without a value"
COMMA = re.compile(r"\s*[+-]?\d[\d.\s]*,\d+\s*|\s*[+-]?,\d+\s*")  # a number with a decimal comma
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]|\r(?!\n)")

NO_NAME = "should name an arm"
CONTROLS = f"{NO_NAME} without control characters or byte-order marks"
TOO_LONG = f"{NO_NAME} in at most {LONGEST_LABEL:,} characters"
# The role and the rule of each fault, in the order in which they are checked.
FAULTS = {
    "": ("", ""),
    "left": ("left", NO_NAME),
    "left, controls": ("left", CONTROLS),
    "left, length": ("left", TOO_LONG),
    "right": ("right", NO_NAME),
    "right, controls": ("right", CONTROLS),
    "right, length": ("right", TOO_LONG),
    "by": ("by", "should name a log"),
    "outcome": ("outcome", "should be {accepted}"),
    "margin": ("margin", f"should be {FINITE} ({{ignored}} ignores it)"),
    "margin, sign": (
        "margin",
        "should agree with outcome {outcome} ({ignored} ignores it)",
    ),
    "weight": (
        "weight",
        "should be a whole number of identical duels ({survey} for weights of a survey)",
    ),
    "date": (
        "time",
        "should be an ISO date or time ({time_format} says another form; {ignored} ignores it)",
    ),
    "time": ("time", "should be a number ({ignored} ignores it)"),
    "sampling_weight": ("sampling_weight", "should be a positive number"),
    "tie": ("tie", "should be true or false ({ignored} ignores it)"),
    "tie, outcome": (
        "tie",
        "should agree with outcome {outcome} ({ignored} ignores it)",
    ),
    "shown_first": (
        "shown_first",
        "should name the side or the arm that was shown first ({ignored} ignores it)",
    ),
    "twice": ("left", "should name each member of a side once, as should the other side"),
}
PLACE = {name: k for k, name in enumerate(FAULTS)}
COVARIATE = len(FAULTS)  # plus the index of the covariate


@dataclass
class Examined:
    """Outcomes and faults of rows."""

    # place in `FAULTS` of the first fault of each entry, 0 for none; int16. Faults of covariates
    # follow those of `FAULTS`, one per covariate.
    fault: np.ndarray
    outcome: np.ndarray  # 1 left, -1 right, 0 tie, as `Code`; int8
    # left's share of each soft vote, NaN of the others; None where none is soft
    share: np.ndarray | None
    n_bad: int  # number of rows with a fault, including those of an entry with a bad weight
    reading: Meaning | None  # how outcomes were read, None without such a column
    margin: np.ndarray | None = None  # left's score minus right's, or None
    # whether the right arm was shown first, so that the sides are to be swapped; or None
    swapped: np.ndarray | None = None
    no_duel: Mapping[str, np.ndarray] = field(default_factory=dict)  # rows that are none, by why

    @cached_property
    def left_out(self) -> np.ndarray:
        """Which entries are left out: the user said so, or they are no duels; bool."""
        return (self.outcome == Code.LEFT_OUT) & (self.fault == 0)


def missing_labels(
    rows: Rows, words: Collection[str], *, own_nulls: bool
) -> dict[str, frozenset[str]]:
    """Return the texts that stand for a missing label, by role.

    In a column of text every text is a name, "NA" and "None" too. "" is missing where the format
    has no missing value of its own (CSV), and the words of `MISSING` are in a column whose other
    labels are numbers.

    words: texts that are missing labels whatever the column.
    own_nulls: whether the format has missing values (frames, Parquet, JSON).
    """
    always = frozenset(word.strip() for word in words)
    if not own_nulls:
        always |= {""}

    def of(texts: Sequence[str]) -> frozenset[str]:
        if _are_numbers(texts):
            return always.union(MISSING)
        return always

    arms = of((*rows.left.values, *rows.right.values))
    missing = {"left": arms, "right": arms}
    if rows.by is not None:
        missing["by"] = of(rows.by.values)
    return missing


def without_missing(rows: Rows, missing: Mapping[str, frozenset[str]]) -> Rows:
    """Return the rows with the labels that are `missing` marked so (code -1)."""
    columns: dict[str, Any] = {}
    for role, words in missing.items():
        column: Coded = getattr(rows, role)
        known = [k for k, text in enumerate(column.values) if text.strip() in words]
        if known:
            columns[role] = Coded(column.values, _without(column.code, known))
    return replace(rows, **columns) if columns else rows


def _without(code: np.ndarray, missing: Sequence[int]) -> np.ndarray:
    """Return codes with -1 in place of those that are `missing`."""
    out = np.isin(code, missing)
    return np.where(out, -1, code).astype(np.int32)


def named_like_missing(rows: Rows) -> list[str]:
    """Return the names of arms that other programs write for missing values."""
    labels = set()
    for column in (rows.left, rows.right):
        occurring = np.flatnonzero(column.counts())
        labels |= {column.values[k].strip() for k in occurring}
    return sorted(label for label in labels if label in MISSING or not re.search(r"\w", label))


def label_of(text: str) -> str | None:
    """Return a text without surrounding white space, or None if it is a missing value."""
    label = text.strip()
    return None if label in MISSING else label


def decide_meaning(rows: Rows, roles: Roles) -> Meaning | None:
    """Return how the outcomes of `rows` are read, or None without such a column."""
    if rows.outcome is None:
        return None
    found = roles.asked or _chosen(rows, rows.outcome, roles, roles.outcome, roles.coding)
    if not roles.lower_is_better or found.margins is None:
        return found
    # a letter before the score ("W 1-3") says who won, whichever number is better
    signs = {key: 1 if str(key)[:1].isalpha() else -1 for key in found.margins}
    codes = {}
    for key, code in found.codes.items():
        codes[key] = signs.get(key, -1) * code
    margins = {key: signs[key] * margin for key, margin in found.margins.items()}
    return replace(found, codes=codes, margins=margins)


def _chosen(
    rows: Rows, column: Coded, roles: Roles, name: str | None, coding: str | None
) -> Meaning:
    """Return how a column that names a side or an arm is read."""
    left = rows.left
    right = rows.right
    n = rows.n
    ok = (left.code >= 0) & (right.code >= 0) & (column.code >= 0)
    if not ok.all():  # no copies where all is well
        left = left.take(ok)
        right = right.take(ok)
        column = column.take(ok)
        n = n[ok]
    columns = (roles.left, roles.right, name or "")
    return choose_meaning(left, right, column, n, columns, coding)


def decide_first(rows: Rows, roles: Roles) -> Meaning | None:
    """Return how the column of what was shown first is read, or None without it."""
    if rows.shown_first is None:
        return None
    try:
        return _chosen(rows, rows.shown_first, roles, roles.shown_first, None)
    except ValueError:
        role, rule = FAULTS["shown_first"]
        ignored = as_options(**{role: False})
        rule = rule.format(ignored=ignored)
        values = [text for text in rows.shown_first.values if text.strip()]
        got = join(values, EXAMPLES, quote=True)
        raise ValueError(f"column {roles.shown_first!r} {rule}, got {got}") from None


def prepared(rows: Rows, roles: Roles) -> Rows:
    """Return the rows with missing labels marked, and margins that are positive where left won."""
    rows = without_missing(rows, roles.missing)
    rows = replace(rows, header=_header_again(rows, roles))
    if roles.teams is not None:
        left = _as_sides(rows.left, roles)
        right = _as_sides(rows.right, roles)
        outcome = _named_sides(rows.outcome, {*left.values, *right.values}, roles)
        rows = replace(rows, left=left, right=right, outcome=outcome)
    if roles.lower_is_better and rows.margin is not None:
        return replace(rows, margin=-rows.margin)
    return rows


def _header_again(rows: Rows, roles: Roles) -> np.ndarray | None:
    """Return which rows repeat the header line, as files that were joined do; None: none."""
    again = np.ones(len(rows), dtype=bool)
    taken = roles.taken
    columns = {"left": rows.left, "right": rows.right, "outcome": rows.outcome}
    for role, column in columns.items():
        if column is None:
            continue
        own = taken[role]
        named = [k for k, text in enumerate(column.values) if text.strip() == own]
        if not named:
            return None
        again &= np.isin(column.code, named)
    return again if again.any() else None


def _as_sides(column: Coded, roles: Roles) -> Coded:
    """Return sides with their members in one order, so that "d, e" and "e, d" are one."""
    sides = split_sides(column.values, roles.teams or "")
    labels = [MEMBERS.join(side) for side in sides]
    missing = [k for k, label in enumerate(labels) if not label]
    return Coded(labels, _without(column.code, missing))


def _named_sides(outcome: Coded | None, known: set[str], roles: Roles) -> Coded | None:
    """Return outcomes with the name of a winning side written as that of the side."""
    if outcome is None:
        return None
    sides = _as_sides(outcome, roles).values
    texts = []
    for side, text in zip(sides, outcome.values, strict=True):
        texts.append(side if side in known else text)
    return Coded(texts, outcome.code)


def _members_twice(column: Coded) -> np.ndarray:
    """Return whether a side has a member twice in each row."""
    twice = []
    for label in column.values:
        members = label.split(MEMBERS)
        twice.append(len(set(members)) < len(members))
    return _by_row(twice, column)


def _by_row(flags: Sequence[bool], column: Coded, *, missing: bool = False) -> np.ndarray:
    """Return for each row what a flag for each value of a column says, bool."""
    by_value = np.array([*flags, missing])
    return by_value[column.code]


def examine(rows: Rows, reading: Meaning | None, shown: Meaning | None = None) -> Examined:
    """Return the outcome of each row and what is wrong with it.

    reading: how outcomes are read; None: by the sign of the margin, or left always won.
    shown: how the column of what was shown first is read, None without it.
    """
    n = len(rows)
    fault = np.zeros(n, dtype=np.int16)

    def blame(where: np.ndarray, what: str | int | np.ndarray) -> None:
        what = PLACE[what] if isinstance(what, str) else what
        if where.any():
            first = (fault == 0) & where
            fault[:] = np.where(first, what, fault)

    for column, first_kind in ((rows.left, PLACE["left"]), (rows.right, PLACE["right"])):
        kind = _label_faults(column)
        if kind.any():
            blame(kind > 0, kind + first_kind - 1)
    labels = (*rows.left.values, *rows.right.values)
    if any(MEMBERS in label for label in labels):
        twice = _members_twice(rows.left) | _members_twice(rows.right)
        blame(twice, "twice")
    if rows.by is not None:
        blame(_label_faults(rows.by) > 0, "by")
    if reading is not None:
        assert rows.outcome is not None
        outcome = reading.read(rows.left, rows.right, rows.outcome)
    elif rows.margin is not None:
        known = np.nan_to_num(rows.margin)
        outcome = np.sign(known).astype(np.int8)
    else:
        outcome = np.ones(n, dtype=np.int8)
    if rows.tie is not None:
        flags = [FLAG_WORDS.get(text.strip().casefold(), -1) for text in rows.tie.values]
        by_text = np.array([*flags, False], dtype=np.int8)
        flag = by_text[rows.tie.code]
        tied = flag == 1
        says_who_won = reading is not None or rows.margin is not None
        decided = (abs(outcome) == 1) & says_who_won
        blame(flag == -1, "tie")
        blame(tied & decided, "tie, outcome")
        outcome = np.where(tied, 0, outcome).astype(np.int8)
    blame(outcome == Code.UNREADABLE, "outcome")
    margin = rows.margin
    if rows.margin is None and reading is not None and rows.outcome is not None:
        margin = reading.margin(rows.outcome)
    if rows.margin is not None:
        blame(np.isnan(rows.margin), "margin")
        if reading is not None:  # a decisive outcome may have margin 0, as after a tie-break
            sign = np.sign(np.nan_to_num(rows.margin))
            tie_with_margin = (outcome == 0) & (sign != 0)
            opposite = outcome * sign == -1
            blame(tie_with_margin | opposite, "margin, sign")
    if rows.unreadable_time is not None:
        blame(rows.unreadable_time, "time" if rows.time_kind == "number" else "date")
    if rows.sampling_weight is not None:
        blame(np.isnan(rows.sampling_weight), "sampling_weight")
    if rows.covariates is not None:
        for k, values in enumerate(rows.covariates.T):
            blame(np.isnan(values), COVARIATE + k)
    swapped = None
    if shown is not None and rows.shown_first is not None:
        shown_first = shown.read(rows.left, rows.right, rows.shown_first)
        blame(abs(shown_first) != 1, "shown_first")
        swapped = shown_first == -1
    all_bad = rows.n_bad_weight == rows.n
    blame((rows.n_bad_weight > 0) & all_bad, "weight")
    no_duel = _no_duels(rows)
    for entries in no_duel.values():
        fault[entries] = 0
        outcome = np.where(entries, Code.LEFT_OUT, outcome).astype(np.int8)
    n_faulty = rows.n[fault > 0].sum()
    n_bad_weight = rows.n_bad_weight[fault == 0].sum()
    n_bad = int(n_faulty + n_bad_weight)
    soft = None
    if reading is not None and rows.outcome is not None:
        soft = reading.share(rows.outcome)
    return Examined(fault, outcome, soft, n_bad, reading, margin, swapped, no_duel)


def _no_duels(rows: Rows) -> dict[str, np.ndarray]:
    """Return which rows are no duels, bool, by why: those without a value, headers, and byes."""
    left = rows.left
    right = rows.right
    found = {}
    if rows.header is not None:
        found[HEADER_AGAIN] = rows.header
    empty = (left.code < 0) & (right.code < 0)
    if empty.any():
        if rows.broken is not None:
            empty &= ~rows.broken
        for column in rows.texts:
            blank = [not text.strip() for text in column.values]
            empty &= _by_row(blank, column, missing=True)
        for values in rows.measured.values():
            empty &= np.isnan(values)
        found[EMPTY] = empty
    labels = {*left.values, *right.values}
    byes = {text for text in labels if plain(text).strip("()[]") in BYES}
    if byes:
        no_left = _by_row([text in byes for text in left.values], left)
        no_right = _by_row([text in byes for text in right.values], right)
        found["no opponent (bye)"] = no_left != no_right
    return {why: entries for why, entries in found.items() if entries.any()}


def explain(fault: int, roles: Roles, reading: Meaning | None, values: dict[str, Any]) -> str:
    """Return the message for a fault: column, rule and value.

    fault: place in `FAULTS`.
    values: values of the row by role; the message has no value for a role that is missing here.
    """
    name = [*FAULTS, "covariate"][min(fault, COVARIATE)]
    covariate = (f"covariate_{fault - COVARIATE}", f"should be {FINITE}")
    role, rule = FAULTS.get(name, covariate)
    rule = rule.format(
        accepted=reading.accepted if reading else "",
        outcome=shown(values.get("outcome")),
        ignored=as_options(**{role: False}),
        time_format=as_options(time_format=None),
        survey=as_options(sampling_weight=None),
    )
    right_role = f"{role}_right"
    value = values.get(role)
    right_value = values.get(right_role)
    got = shown(value)
    column = columns_of(role, roles)
    if name == "margin" and roles.outcome is None:  # nothing else says who won
        rule = rule.partition(" (")[0]
    if role not in values:
        return f"column {column} {rule}"
    if right_role in roles.taken:
        got += f" and {shown(right_value)}"
    hint = ""
    texts = [str(value or ""), str(right_value or "")]
    if FINITE in rule and any(map(COMMA.fullmatch, texts)):
        option = as_options(decimal=",")
        hint = f"; if the comma is the decimal sign: {option}"
    if name == "outcome" and reading is not None:
        if not value and (reading.to_complete or reading.by_name):
            known = {text: meaning for text, meaning in reading.to_complete if meaning != "?"}
            left_out = as_options(means={**known, "": "none"})
            tied = as_options(means={**known, "": "tie"})
            return (
                f"column {column}{IS_EMPTY}. To leave rows without a value out: {left_out}. To "
                f"count them as ties: {tied}"
            )
        if reading.to_complete:
            means = as_options(means=dict(reading.to_complete))
            none = by_reader("None", "none")
            hint = f"; say what it means, left, right, tie or {none}: {means}"
    return f"column {column} {rule}, got {got}{hint}"


def columns_of(role: str, roles: Roles) -> str:
    """Return the column of a role in quotes, or the two whose difference it is."""
    column = roles.taken[role]
    right = roles.taken.get(f"{role}_right")
    if right is None:
        return repr(column)
    return f"{column!r} - {right!r}"


def refusal(where: str, what: str, more: int, *, skipped: bool = False) -> ValueError:
    """Return the error for a bad row, and how many more there are.

    skipped: whether the reader leaves bad rows out where it is asked to.
    """
    also = ""
    if more:
        others = count(more, "more bad row")
        also = f" (and {others})"
    before, empty, remedy = what.partition(IS_EMPTY)
    if empty:
        return ValueError(f"{where}: {before}{empty}{also}{remedy}")
    if skipped:
        option = as_options(on_bad="skip")
        also += f"; {option} leaves bad rows out"
    return ValueError(f"{where}: {what}{also}")


def shown(value: object) -> str:
    """Return a value for a message, at most 60 characters."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        value = value[:200]
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _are_numbers(texts: Sequence[str]) -> bool:
    """Return whether the labels of a column are numbers, apart from words for missing values."""
    labels = [t.strip() for t in texts if t.strip() not in MISSING]
    return bool(labels) and all(re.fullmatch(NUMBER, label) for label in labels)


def _label_faults(column: Coded) -> np.ndarray:
    """Return 0 for a sound label, 1 missing, 2 control characters, 3 too long; shape (n,)."""
    kinds = []
    for text in column.values:
        if len(text) > LONGEST_LABEL:
            kinds.append(3)
        else:
            kinds.append(2 if CONTROL.search(text) else 0)
    return np.array([*kinds, 1], dtype=np.int8)[column.code]
