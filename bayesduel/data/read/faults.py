"""Bad rows of a log: the rules, and the messages.

The same function checks all rows at once, to count the bad ones, and the rows of a file chunk by
chunk, to find their lines.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesduel.data.read.columns import Roles
from bayesduel.data.read.outcomes import UNREADABLE, Reading, choose_reading
from bayesduel.data.read.rows import NUMBER, Coded, Rows
from bayesduel.data.votes import FINITE
from bayesduel.text import count

__all__ = [
    "Examined",
    "columns_of",
    "decide_reading",
    "examine",
    "explain",
    "label_of",
    "missing_labels",
    "named_like_missing",
    "refusal",
    "shown",
    "without_missing",
]

MISSING = ("", "NaN", "nan", "NA", "N/A", "#N/A", "<NA>", "NaT", "null", "NULL", "None")
LONGEST_LABEL = 10_000
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]|\r(?!\n)")

# (role, rule): the rules in the order in which they are checked.
FAULTS = (
    ("", ""),
    ("left", "should name an arm"),
    ("left", "should name an arm without control characters or byte-order marks"),
    ("left", f"should name an arm in at most {LONGEST_LABEL:,} characters"),
    ("right", "should name an arm"),
    ("right", "should name an arm without control characters or byte-order marks"),
    ("right", f"should name an arm in at most {LONGEST_LABEL:,} characters"),
    ("by", "should name a log"),
    ("outcome", "should be {accepted}"),
    ("margin", f"should be {FINITE} (margin=False or --margin none ignores it)"),
    ("margin", "should agree with outcome {outcome} (margin=False or --margin none ignores it)"),
    ("weight", "should be a whole number of identical duels (those of a survey: sampling_weight)"),
    ("time", "should be an ISO date or time (time=False or --time none ignores it)"),
    ("time", "should be a number (time=False or --time none ignores it)"),
    ("sampling_weight", "should be a positive number"),
)
LEFT, RIGHT, BY, OUTCOME, MARGIN, AGREE, WEIGHT, DATE, TIME = 1, 4, 7, 8, 9, 10, 11, 12, 13
SAMPLING = 14
COVARIATE = 15  # plus the index of the covariate


@dataclass
class Examined:
    """Outcomes and faults of rows."""

    # index into `FAULTS` of the first fault of each entry, 0 for none; int16. Faults of covariates
    # follow those of `FAULTS`, one per covariate.
    fault: np.ndarray
    outcome: np.ndarray  # 1 left, -1 right, 0 tie, `UNREADABLE`; int8
    # left's share of each soft vote, NaN of the others; None where none is soft
    share: np.ndarray | None
    n_bad: int  # number of rows with a fault, including those of an entry with a bad weight
    reading: Reading | None  # how outcomes were read, None without such a column


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
    always = frozenset(word.strip() for word in words) | (frozenset() if own_nulls else {""})

    def of(texts: Sequence[str]) -> frozenset[str]:
        return always | (frozenset(MISSING) if _are_numbers(texts) else frozenset())

    arms = of((*rows.left.values, *rows.right.values))
    return {"left": arms, "right": arms} | ({} if rows.by is None else {"by": of(rows.by.values)})


def without_missing(rows: Rows, missing: Mapping[str, frozenset[str]]) -> Rows:
    """Return the rows with the labels that are `missing` marked so (code -1)."""
    columns: dict[str, Any] = {}
    for role, words in missing.items():
        column: Coded = getattr(rows, role)
        known = [k for k, text in enumerate(column.values) if text.strip() in words]
        if known:
            code = np.where(np.isin(column.code, known), -1, column.code).astype(np.int32)
            columns[role] = Coded(column.values, code)
    return replace(rows, **columns) if columns else rows


def named_like_missing(rows: Rows) -> list[str]:
    """Return the names of arms that other programs write for missing values."""
    found = []
    for column in (rows.left, rows.right):
        used = np.bincount(column.code + 1, minlength=len(column.values) + 1)[1:] > 0
        found += [t.strip() for t, u in zip(column.values, used, strict=True) if u]
    return sorted(set(found) & set(MISSING))


def label_of(text: str) -> str | None:
    """Return a text without surrounding white space, or None if it is a missing value."""
    label = text.strip()
    return None if label in MISSING else label


def decide_reading(rows: Rows, roles: Roles) -> Reading | None:
    """Return how the outcomes of `rows` are read, or None without such a column."""
    if rows.outcome is None:
        return None
    ok = (rows.left.code >= 0) & (rows.right.code >= 0) & (rows.outcome.code >= 0)
    known = slice(None) if ok.all() else ok  # no copies where all is well
    left, right, outcome = (
        Coded(column.values, column.code[known]) for column in (rows.left, rows.right, rows.outcome)
    )
    columns = (roles.left, roles.right, roles.outcome or "")
    return choose_reading(left, right, outcome, rows.n[known], columns, roles.coding)


def examine(rows: Rows, reading: Reading | None) -> Examined:
    """Return the outcome of each row and what is wrong with it.

    reading: how outcomes are read; None: by the sign of the margin, or left always won.
    """
    n = len(rows)
    fault = np.zeros(n, dtype=np.int16)

    def blame(where: np.ndarray, what: int | np.ndarray) -> None:
        fault[:] = np.where((fault == 0) & where, what, fault)

    for column, first in ((rows.left, LEFT), (rows.right, RIGHT)):
        kind = _label_faults(column)
        blame(kind > 0, kind + first - 1)
    if rows.by is not None:
        blame(_label_faults(rows.by) > 0, BY)
    if reading is not None:
        assert rows.outcome is not None
        outcome = reading.read(rows.left, rows.right, rows.outcome)
        blame(outcome == UNREADABLE, OUTCOME)
    elif rows.margin is not None:
        outcome = np.sign(np.nan_to_num(rows.margin)).astype(np.int8)
    else:
        outcome = np.ones(n, dtype=np.int8)
    if rows.margin is not None:
        blame(np.isnan(rows.margin), MARGIN)
        if reading is not None:  # a decisive outcome may have margin 0, as after a tie-break
            sign = np.sign(np.nan_to_num(rows.margin))
            blame(((outcome == 0) & (sign != 0)) | (outcome * sign == -1), AGREE)
    if rows.unreadable_time is not None:
        blame(rows.unreadable_time, DATE if rows.time_kind == "date" else TIME)
    if rows.sampling_weight is not None:
        blame(np.isnan(rows.sampling_weight), SAMPLING)
    if rows.covariates is not None:
        for k, values in enumerate(rows.covariates.T):
            blame(np.isnan(values), COVARIATE + k)
    blame((rows.n_bad_weight > 0) & (rows.n_bad_weight == rows.n), WEIGHT)
    n_bad = int(rows.n[fault > 0].sum() + rows.n_bad_weight[fault == 0].sum())
    soft = None if reading is None or rows.outcome is None else reading.share(rows.outcome)
    return Examined(fault, outcome, soft, n_bad, reading)


def explain(fault: int, roles: Roles, reading: Reading | None, values: dict[str, Any]) -> str:
    """Return the message for a fault: column, rule and value.

    fault: index into `FAULTS`.
    values: values of the row by role; the message has no value for a role that is missing here.
    """
    covariate = (f"covariate_{fault - COVARIATE}", f"should be {FINITE}")
    role, rule = FAULTS[fault] if fault < COVARIATE else covariate
    rule = rule.format(
        accepted=reading.accepted if reading else "", outcome=shown(values.get("outcome"))
    )
    got = shown(values.get(role))
    column = columns_of(role, roles)
    if f"{role}_right" in roles.taken:
        got = f"{got} and {shown(values.get(f'{role}_right'))}"
    return f"column {column} {rule}" + (f", got {got}" if role in values else "")


def columns_of(role: str, roles: Roles) -> str:
    """Return the column of a role in quotes, or the two whose difference it is."""
    right = roles.taken.get(f"{role}_right")
    return repr(roles.taken[role]) + ("" if right is None else f" - {right!r}")


def refusal(where: str, what: str, more: int) -> ValueError:
    """Return the error for a bad row, and how many more there are."""
    also = f" (and {count(more, 'more bad row')})" if more else ""
    return ValueError(f"{where}: {what}{also}")


def shown(value: Any) -> str:
    """Return a value for a message, at most 60 characters."""
    if value is None:
        return "nothing"
    text = repr(value if not isinstance(value, str) else value[:200])
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
