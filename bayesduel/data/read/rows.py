"""Rows of a log as NumPy arrays of codes and numbers, from Arrow columns.

A source (files or a frame) yields Arrow batches with columns named by role. Texts are encoded as
integers at once, so that a vote takes a few bytes whatever its labels.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesduel.data.read.dates import dates_in, format_of_dates
from bayesduel.data.votes import LARGEST_SIZE, as_whole, is_whole
from bayesduel.system.arguments import text_of

__all__ = [
    "MEMBERS",
    "NUMBER",
    "TEXTS",
    "WHITE_SPACE",
    "Coded",
    "KindError",
    "Rows",
    "TimeKind",
    "are_numbers",
    "coded",
    "numbers",
    "times",
]

MEMBERS = "\t"  # between the members of a side that stand in columns of their own
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
ISO = re.compile(r"\d{4}-\d{2}-\d{2}")  # how a date in ISO 8601 begins
WHITE_SPACE = (  # what str.strip removes
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
TEXTS = ("left", "right", "outcome", "judge", "group", "by", "tie", "shown_first")
TimeKind = str  # "number", "date" (ISO 8601) or a format of :func:`time.strftime`


class KindError(ValueError):
    """A column holds neither text nor numbers, or no times; who reads it names its file."""


@dataclass
class Coded:
    """A column of text: its distinct values as written, and the code of each row."""

    values: list[str]  # distinct texts, in order of first appearance
    code: np.ndarray  # index into `values`, -1 where missing; int32, shape (n,)

    @property
    def texts(self) -> np.ndarray:
        """The text of each row, None where missing, object, shape (n,)."""
        by_value = np.array([*self.values, None], dtype=object)
        return by_value[self.code]

    def take(self, rows: slice | np.ndarray) -> "Coded":
        """Return the column at `rows`."""
        return Coded(self.values, self.code[rows])

    def counts(self, n: np.ndarray | None = None) -> np.ndarray:
        """Return the number of rows of each value, (values,); entries represent `n` rows each."""
        if n is None or n.strides == (0,):  # one each
            return self._counts
        return self._counted(n)

    def most_frequent(self, n: np.ndarray | None) -> dict[str, int]:
        """Return how many rows have each value that occurs, the most frequent first."""
        counted = self.counts(n)
        order = np.argsort(-counted, kind="stable")
        occurring = order[counted[order] > 0]
        return {self.values[k]: int(counted[k]) for k in occurring}

    @cached_property
    def _counts(self) -> np.ndarray:
        return self._counted(None)

    def _counted(self, n: np.ndarray | None) -> np.ndarray:
        n_codes = len(self.values) + 1  # that of a missing text included
        counted = np.bincount(self.code + 1, n, n_codes)
        return counted[1:]


@dataclass
class Rows:
    """Rows of a log, or counts of equal rows; arrays of shape (n_entries,)."""

    left: Coded  # texts, or None without such a column
    right: Coded
    outcome: Coded | None
    judge: Coded | None
    group: Coded | None
    by: Coded | None
    n: np.ndarray  # number of rows that an entry represents, int64
    weight: np.ndarray  # number of duels, from weights that are whole numbers; float64
    # number of its rows with a weight that is not a whole number, or 0; whole numbers
    n_bad_weight: np.ndarray
    n_zero_weight: np.ndarray
    tie: Coded | None = None  # whether the duel was a tie, whatever the outcome says
    shown_first: Coded | None = None  # the side or the arm that was shown first
    margin: np.ndarray | None = None  # left's score minus right's, NaN where not a number; or None
    # sampling weights, NaN where not a positive number; or None
    sampling_weight: np.ndarray | None = None
    time: np.ndarray | None = None  # datetime64[us] or float64, or None
    # whether there is a time that cannot be read, bool, or None
    unreadable_time: np.ndarray | None = None
    # covariates of the duel, left minus right, NaN where not a finite number, float64, shape
    # (n_entries, covariates); or None
    covariates: np.ndarray | None = None
    kept: tuple[Coded, ...] = ()  # further columns of text
    broken: np.ndarray | None = None  # whether a row could not be read, bool; None: none
    header: np.ndarray | None = None  # whether a row is the header line again, bool; None: none
    time_kind: TimeKind = "number"  # how times are written

    def __len__(self) -> int:
        return len(self.n)

    @property
    def counted(self) -> bool:
        """Whether entries are counts of equal rows, which an engine gives in any order."""
        return self.n.strides != (0,)

    @property
    def texts(self) -> "list[Coded]":
        """The columns of text."""
        own = (getattr(self, role) for role in TEXTS)
        given = [column for column in own if column is not None]
        return [*given, *self.kept]

    @property
    def measured(self) -> dict[str, np.ndarray]:
        """The margin and the covariates, by role."""
        found = {}
        if self.margin is not None:
            found["margin"] = self.margin
        if self.covariates is not None:
            for k, values in enumerate(self.covariates.T):
                found[f"covariate_{k}"] = values
        return found

    def all_differ(self) -> bool:
        """Return whether rows are known to differ: by their time or, at the same time, otherwise.

        Then no row of the source equals another in every column.
        """
        if self.time is None:
            return False
        time = self.time.view(np.int64)
        if (np.diff(time) > 0).all():  # in the order of time
            return True
        order = np.argsort(time, kind="stable")
        same = np.diff(time[order]) == 0
        with_next = np.append(same, False)
        with_last = np.append(False, same)
        rows = order[with_next | with_last]
        codes = [column.code[rows] for column in self.texts]
        entries = np.stack([time[rows], *codes])
        different = np.unique(entries, axis=1)
        return different.shape[1] == len(rows)

    @classmethod
    def from_batches(
        cls, batches: Iterable[pa.RecordBatch], columns: dict[str, str], kind: TimeKind | None
    ) -> "Rows":
        """Collect votes, or counts of equal rows, batch by batch.

        batches: columns named by role; counts also have ``n_rows`` and, with weights,
            ``n_bad_weight`` and ``n_zero_weight`` (and `weight` is a sum).
        columns: the column of each role, for messages.
        kind: how to read times given as text; None: as they are written in all batches.
        Raises ValueError if a column contains anything but text, numbers or times.
        """
        parts: dict[str, list[np.ndarray]] = {}
        moments: list[pa.Array] = []
        kept = [role for role in columns if re.fullmatch(r"kept_[0-9]+", role)]
        covariates = [role for role in columns if re.fullmatch(r"covariate_[0-9]+", role)]
        encoders = {role: _Encoder() for role in (*TEXTS, *kept) if role in columns}

        def keep(name: str, values: np.ndarray) -> None:
            parts.setdefault(name, []).append(values)

        for batch in batches:
            for role, encoder in encoders.items():
                column = _side(batch, role)
                encoder.add(column, columns[role])
            _keep_counts(batch, columns, keep)
            if "margin" in columns:
                keep("margin", _difference(batch, columns, "margin"))
            if "sampling_weight" in columns:
                weight = _difference(batch, columns, "sampling_weight")
                positive = np.where(weight > 0, weight, np.nan)
                keep("sampling_weight", positive)
            if covariates:
                found = [_difference(batch, columns, role) for role in covariates]
                keep("covariates", np.column_stack(found))
            if "time" in columns:
                moments.append(batch.column("time"))
        if moments:
            time, unreadable, kind = times(moments, columns["time"], kind)
            keep("time", time)
            keep("unreadable_time", unreadable)

        coded = {role: encoder.coded() for role, encoder in encoders.items()}
        for one, other in (("left", "right"), ("right", "left")):
            if {one, other} <= coded.keys():
                side = coded[one]
                whole = as_whole(side.values, coded[other].values)
                coded[one] = Coded(whole, side.code)
        joined: dict[str, Any] = {}
        for name in list(parts):
            joined[name] = np.concatenate(parts.pop(name))
        total = len(coded["left"].code)
        for name, value in (("n", 1), ("weight", 1.0), ("n_bad_weight", 0), ("n_zero_weight", 0)):
            joined.setdefault(name, np.broadcast_to(value, total))  # a view that takes no memory
        texts: dict[str, Any] = {role: coded.get(role) for role in TEXTS}
        of_kept = tuple(coded[role] for role in kept)
        return cls(**texts, **joined, kept=of_kept, time_kind=kind or "number")


def _side(batch: pa.RecordBatch, role: str) -> pa.Array:
    """Return a column of text; of a side with several columns its members in one text."""
    member = re.compile(rf"{role}_[0-9]+")
    further = [name for name in batch.schema.names if member.fullmatch(name)]
    if not further:
        return batch.column(role)
    columns = [_text(batch.column(name)) for name in (role, *further)]
    return pc.binary_join_element_wise(*columns, MEMBERS, null_handling="skip")


def _text(column: pa.Array) -> pa.Array:
    """Return a column of labels as text."""
    texts = [text_of(value) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def coded(
    batches: Iterable[pa.RecordBatch], columns: Mapping[str, str], *, lenient: bool = False
) -> dict[str, Coded]:
    """Return all columns as text, by role.

    batches: columns named by role.
    columns: the column of each role, for messages.
    lenient: whether a column of lists or objects has no text, or is refused.
    Raises ValueError if a column contains lists or objects.
    """
    encoders = {role: _Encoder() for role in columns}
    for batch in batches:
        for role, encoder in list(encoders.items()):
            try:
                encoder.add(batch.column(role), columns[role])
            except KindError:
                if not lenient:
                    raise
                del encoders[role]
    empty = _Encoder()  # of a column that has no text
    return {role: encoders.get(role, empty).coded() for role in columns}


class _Encoder:
    """Encoder of a column of text that comes in batches."""

    def __init__(self) -> None:
        self._batches: list[pa.DictionaryArray] = []

    def add(self, column: pa.Array, name: str) -> None:
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
            raise KindError(f"column {name!r} should contain text or numbers, got {column.type}")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        self._batches.append(column)

    def coded(self) -> Coded:
        if not self._batches:
            return Coded([], np.zeros(0, dtype=np.int32))
        batches = pa.chunked_array(self._batches).unify_dictionaries().chunks
        labels = batches[0].dictionary
        if pa.types.is_integer(labels.type):
            labels = labels.cast(pa.string())
        values = labels.to_pylist()
        texts: dict[str, int] = {text: k for k, text in enumerate(values)}
        place = list(texts.values())
        if not _is_text(labels.type) or len(texts) < len(values) or None in texts:
            texts = {}
            place = []
            for text in map(text_of, values):
                code_of_text = -1 if text is None else texts.setdefault(text, len(texts))
                place.append(code_of_text)
        missing = len(place)
        parts = []
        for batch in batches:
            indices = batch.indices.fill_null(missing)
            parts.append(indices.to_numpy(zero_copy_only=False))
        code = np.concatenate(parts)
        in_order = place == list(range(missing))
        if in_order and code.max(initial=-1) < missing:
            return Coded(list(texts), code.astype(np.int32, copy=False))
        places = np.array([*place, -1], dtype=np.int32)
        return Coded(list(texts), places[code])


def are_numbers(texts: Iterable[str]) -> bool:
    """Return whether all texts are numbers."""
    return all(re.fullmatch(NUMBER, text.strip()) for text in texts)


def numbers(column: pa.Array, name: str) -> np.ndarray:
    """Return a column as float64, NaN where missing or not a number.

    Raises ValueError if the column contains neither numbers nor text.
    """
    column = _flat(column)
    kind = column.type
    if _is_text(kind):
        stripped = pc.utf8_trim(column, characters=WHITE_SPACE)
        text = pc.replace_substring_regex(stripped, pattern=r"^\+", replacement="")
        lower = pc.utf8_lower(text)
        for word, value in (("true", "1"), ("false", "0")):  # as a frame has them
            number = pa.scalar(value, kind)
            text = pc.if_else(pc.equal(lower, word), number, text)
        readable = pc.match_substring_regex(text, pattern=f"^({NUMBER})$")
        missing = pa.scalar(None, kind)
        column = pc.if_else(readable, text, missing)
    elif not (_is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        raise KindError(f"column {name!r} should contain numbers, got {kind}")
    values = pc.cast(column, pa.float64(), safe=False)
    return values.fill_null(np.nan).to_numpy(zero_copy_only=False)


def times(
    columns: Sequence[pa.Array], name: str, kind: TimeKind | None = None
) -> tuple[np.ndarray, np.ndarray, TimeKind]:
    """Return times (float64, or datetime64[us] in UTC), which are unreadable, and their form.

    columns: the parts of a column, one after the other.
    kind: how text is to be read; None: "number" if most known times are numbers, the format of
        all, or else "date".
    A missing time is NaN or NaT, not a fault.

    Raises ValueError if the column contains neither times nor numbers nor text.
    """
    flat = [_flat(column) for column in columns]
    if kind in (None, "date") and all(_is_text(column.type) for column in flat):
        usual = [_usual_dates(column) for column in flat]
        known = [days for days in usual if days is not None]
        if len(known) == len(flat):  # no number is written like one
            days = np.concatenate(known)
            unreadable = np.zeros(len(days), dtype=bool)
            return days, unreadable, "date"
    kind = kind or _time_kind(flat)
    read = [_times(column, name, kind) for column in flat]
    values = np.concatenate([part for part, _ in read])
    unreadable = np.concatenate([bad for _, bad in read])
    return values, unreadable, kind


def _time_kind(columns: Sequence[pa.Array]) -> TimeKind:
    """Return "number" if most known times are numbers, the format of all, or else "date"."""
    texts = [column for column in columns if _is_text(column.type)]
    if not texts:
        all_numbers = all(_is_number(column.type) for column in columns)
        return "number" if all_numbers else "date"
    n_present = 0
    n_readable = 0
    for column in texts:
        present = _present(column)
        finite = np.isfinite(numbers(column, "time"))
        n_present += int(present.sum())
        n_readable += int((finite & present).sum())
    if 2 * n_readable > n_present:
        return "number"
    distinct: set[str] = set()
    for column in texts:
        written = pc.unique(column).to_pylist()
        distinct |= {text.strip() for text in written if text}
    known = sorted(distinct - {""})
    return format_of_dates(known) or "date"


def _times(column: pa.Array, name: str, kind: TimeKind) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of a part of a column, and which cannot be read."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if kind == "number":
        values = numbers(column, name)
        present = _present(column)
        return values, present & ~np.isfinite(values)
    if _is_text(column.type):
        text = pc.utf8_trim(column, characters=WHITE_SPACE)
        known = pc.fill_null(pc.not_equal(text, ""), False)
        present = known.to_numpy(zero_copy_only=False)
        days = _dates(pc.if_else(known, text, None), kind)
        return days, present & np.isnat(days)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise KindError(f"column {name!r} should contain times, got {column.type}")
    moments = pc.cast(column, pa.timestamp("us"), safe=False)
    days = moments.to_numpy(zero_copy_only=False).astype("datetime64[us]")
    unreadable = np.zeros(len(column), dtype=bool)
    return days, unreadable


def _dates(text: pa.Array, kind: TimeKind) -> np.ndarray:
    """Return dates written in ISO 8601 or in a format, NaT where not; datetime64[us] in UTC.

    ISO 8601 is read beside a format, too, unless that begins as ISO 8601 does.
    """
    if kind != "date":
        coded = text.dictionary_encode()
        written = [*coded.dictionary.to_pylist(), None]
        days = dates_in(written, kind)
        if not kind.startswith("%Y-"):
            unread = np.isnat(days)
            iso = []
            for entry, bad in zip(written, unread, strict=True):
                like_iso = bad and entry is not None and ISO.match(entry)
                iso.append(entry if like_iso else None)
            days_of_iso = _dates(pa.array(iso, pa.string()), "date")
            days = np.where(unread, days_of_iso, days)
        missing = len(coded.dictionary)
        indices = coded.indices.fill_null(missing)
        return days[indices.to_numpy(zero_copy_only=False)]
    usual = _usual_dates(text)
    if usual is not None:
        return usual
    import pandas as pd

    texts = np.asarray(text.to_pylist(), dtype=object)
    parsed = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    return parsed.tz_localize(None).to_numpy().astype("datetime64[us]")


def _usual_dates(text: pa.Array) -> np.ndarray | None:
    """Return dates in the usual forms of ISO 8601, all with a zone or none, else None.

    Arrow reads them: a million in 0.03 s, where pandas takes 0.9 s.
    """
    for zone in (None, "UTC"):
        try:
            read = pc.cast(text, pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
        return np.asarray(read.to_numpy(zero_copy_only=False), dtype="datetime64[us]")
    return None


def _difference(batch: pa.RecordBatch, columns: dict[str, str], role: str) -> np.ndarray:
    """Return a column of left minus right, or the difference of two; NaN where not `FINITE`."""
    values = numbers(batch.column(role), columns[role])
    right_role = f"{role}_right"
    if right_role in columns:
        right = numbers(batch.column(right_role), columns[right_role])
        with np.errstate(invalid="ignore", over="ignore"):
            values = values - right
    return np.where(abs(values) <= LARGEST_SIZE, values, np.nan)


def _keep_counts(batch: pa.RecordBatch, columns: dict[str, str], keep: Any) -> None:
    """Keep the number of rows and duels of each entry of `batch`, where not one."""

    def known(name: str) -> np.ndarray:
        """Return a column of counts, 0 where missing."""
        values = numbers(batch.column(name), name)
        return np.nan_to_num(values)

    if "n_rows" in batch.schema.names:  # tallied by the source
        n_rows = known("n_rows")
        keep("n", n_rows.astype(np.int64))
        if "weight" not in columns:
            keep("weight", n_rows)
            return
        keep("weight", known("weight"))
        for name in ("n_bad_weight", "n_zero_weight"):
            counts = known(name)
            keep(name, counts.astype(np.int64))
    elif "weight" in columns:
        weight = numbers(batch.column("weight"), columns["weight"])
        with np.errstate(invalid="ignore"):
            whole = is_whole(weight)
        keep("weight", np.where(whole, weight, 0.0))
        keep("n_bad_weight", (~whole).astype(np.int8))
        keep("n_zero_weight", (weight == 0).astype(np.int8))


def _present(column: pa.Array) -> np.ndarray:
    """Return which entries of a column are not missing and, of text, not blank, bool."""
    if not _is_text(column.type):
        missing = pc.is_null(column, nan_is_null=True)
        return ~missing.to_numpy(zero_copy_only=False)
    stripped = pc.utf8_trim(column, characters=WHITE_SPACE)
    not_blank = pc.greater(pc.utf8_length(stripped), 0)
    present = pc.fill_null(not_blank, False)
    return present.to_numpy(zero_copy_only=False)


def _flat(column: pa.Array) -> pa.Array:
    """Return a column decoded from dictionaries and views, for Arrow functions that need it."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
