"""Parts of a log of duels: votes, cells, pairs, tallies, and the summary of reading it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bayesduel.data.read.reading_options import TieRule
from bayesduel.data.reading import Reading
from bayesduel.system.arguments import check_type, labels_of, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FINITE",
    "LARGEST",
    "LARGEST_GRADE",
    "LARGEST_SIZE",
    "MANY_MISSING",
    "ROLES",
    "Ballots",
    "Cells",
    "Pairs",
    "ReadSummary",
    "Tally",
    "Votes",
    "as_whole",
    "by_arm",
    "cells_of",
    "check_as_long",
    "coded_columns",
    "distinct",
    "duels_among",
    "encode",
    "fingerprint",
    "fingerprint_of_votes",
    "is_whole",
    "pair_codes",
    "unordered",
]

LARGEST = 2**53  # larger counts are not exact in float64
LARGEST_GRADE = 9  # more are scores, which are margins
LARGEST_SIZE = 1e150  # of a margin or a covariate; sums of larger squares overflow
# Share of votes without a judge (or group) from which it is warned of, where others repeat theirs.
# Of 6,000 votes of 600 judges on equal arms one judge cast the share, and has no name. Intervals of
# 95 % leave out 0 in 7.8 % of cases with a share of 5 % and in 1.9 % with 2 % (120 worlds each).
MANY_MISSING = 0.05
FINITE = f"a finite number from -{LARGEST_SIZE:g} to {LARGEST_SIZE:g}"
# Columns that a log recognises, and where it has their levels.
ROLES = {"judge": "judges", "group": "groups", "category": "categories"}


class Tally(NamedTuple):
    """Dense counts of a log.

    Attributes
    ----------
    wins
        Times i beat j, shape (K, K), float64 (half wins are possible), diagonal 0.
    ties
        Times i and j tied, shape (K, K), float64, symmetric, diagonal 0.
    """

    wins: np.ndarray
    ties: np.ndarray


class Cells(NamedTuple):
    """Counts by ordered pair that met: arrays of shape (n_cells,)."""

    left: np.ndarray
    right: np.ndarray
    left_wins: np.ndarray
    right_wins: np.ndarray
    ties: np.ndarray


class Pairs(NamedTuple):
    """Counts by unordered pair that met, ``first < second``: arrays of shape (n_pairs,)."""

    first: np.ndarray
    second: np.ndarray
    first_wins: np.ndarray
    second_wins: np.ndarray
    ties: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Ballots:
    """What is known of votes or rankings whatever they say, one entry each.

    Attributes
    ----------
    weight
        Number of identical votes that each stands for, int64.
    judge, group
        Indices into `judges` and `groups` (int32, -1 where missing), or None.
    kept
        Further columns that were kept, by name: index of each vote's level (int32, -1 where
        missing), and the levels.
    sampling_weight
        How many of the population a vote stands for, float64, positive, in any unit; or None, as
        of rankings.
    """

    weight: np.ndarray
    judge: np.ndarray | None = None
    judges: tuple[str, ...] = ()
    group: np.ndarray | None = None
    groups: tuple[str, ...] = ()
    kept: Mapping[str, tuple[np.ndarray, tuple[str, ...]]] = field(default_factory=dict)
    sampling_weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns that there are, by name, without those that were kept."""
        found = {}
        for column in fields(self):
            values = getattr(self, column.name)
            if isinstance(values, np.ndarray):
                found[column.name] = values
        return found

    def take(self, rows: np.ndarray | slice) -> Self:
        """Return the votes at `rows` (indices, a boolean mask or a slice)."""
        picked: dict[str, Any] = {}
        for name, column in self.columns.items():
            picked[name] = column[rows]
        kept = {}
        for name, (code, levels) in self.kept.items():
            kept[name] = (code[rows], levels)
        return replace(self, **picked, kept=kept)

    def level(self, by: str) -> tuple[np.ndarray, tuple[str, ...]] | None:
        """Return the level of each vote in a column and the levels, or None without it."""
        return self.kept.get(by) or self.of_role(by)

    def n_without(self, role: str) -> int:
        """Return how many votes name no judge (or group); 0 of a log without such a column."""
        code = self.columns.get(role)
        if code is None:
            return 0
        without = code < 0
        return int(self.weight[without].sum())

    def of_role(self, role: str) -> tuple[np.ndarray, tuple[str, ...]] | None:
        """Return the label of each vote in its own column of a role and the labels, or None."""
        if role not in ROLES:
            return None
        code = self.columns.get(role)
        if code is None:
            return None
        labels = getattr(self, ROLES[role])
        return code, labels


@dataclass(frozen=True, eq=False, kw_only=True)
class Votes(Ballots):
    """Votes, one row each, in the order of the log.

    Attributes
    ----------
    left, right
        Arm indices, int32, shape (n_votes,).
    outcome
        +1 where left won, -1 where right won, 0 for a tie; int8.
    weight
        Number of identical duels that the row represents, int64.
    margin
        Left's score minus right's, float64, or None.
    grade
        How much better left is, in ordered grades whose sign is the outcome, int8, or None.
    judge, group
        Indices into `judges` and `groups` (int32, -1 where missing), or None.
    time
        datetime64[us] (NaT where missing), float64 if times are numbers, or None.
    covariates
        Covariates of the duel, left minus right, float64, shape (n_votes, covariates), in the
        order of `covariate_names`; or None.
    category
        Index into `categories` (int32, -1 where missing), or None.
    kept
        Further columns that were kept, by name: index of each vote's level (int32, -1 where
        missing), and the levels.
    share
        Of a soft vote, left's share of it, above 0 and below 1 (a machine's probability that left
        is better), NaN of a vote for one side or a tie; or None. `outcome` is the side with more.
    """

    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    margin: np.ndarray | None = None
    grade: np.ndarray | None = None
    time: np.ndarray | None = None
    covariates: np.ndarray | None = None
    covariate_names: tuple[str, ...] = ()
    category: np.ndarray | None = None
    categories: tuple[str, ...] = ()
    share: np.ndarray | None = None

    @classmethod
    def of_cells(cls, cells: Cells) -> "Votes":
        """Return counts as votes: one per pair and outcome, weighted."""
        counts = np.stack([cells.left_wins, cells.right_wins, cells.ties], axis=1)
        cell, result = np.nonzero(counts)
        return cls(
            left=cells.left[cell],
            right=cells.right[cell],
            outcome=np.array([1, -1, 0], dtype=np.int8)[result],
            weight=counts[cell, result],
        )

    @property
    def plain(self) -> bool:
        """Whether every vote is for one side or a tie, and counts as much as any other."""
        return self.share is None and self.sampling_weight is None

    @property
    def counts(self) -> np.ndarray:
        """What each vote adds to the wins of left, those of right and the ties, (n_votes, 3).

        A soft vote is shared out; sampling weights have mean 1 over the duels.
        """
        right_won = self.outcome < 0
        result = np.where(self.outcome == 0, 2, right_won)
        each = np.eye(3)[result]
        found = self.weight[:, None] * each
        if self.share is not None:
            soft = np.flatnonzero(~np.isnan(self.share))
            share = self.share[soft]
            weight = self.weight[soft]
            of_left = weight * share
            of_right = weight * (1 - share)
            no_tie = 0 * share
            found[soft] = np.stack([of_left, of_right, no_tie], axis=1)
        if self.sampling_weight is not None:
            mean = np.average(self.sampling_weight, weights=self.weight)
            stands = self.sampling_weight / mean
            found *= stands[:, None]
        return found

    def to_frame(self, arms: Sequence[str]) -> "pd.DataFrame":
        """Return one row per vote, with the labels of arms, judges, groups and levels."""
        import pandas as pd

        def labelled(code: np.ndarray, labels: Sequence[str]) -> np.ndarray:
            by_code = np.array([*labels, None], dtype=object)  # code -1 is missing
            return by_code[code]

        results = np.array(["tie", "left", "right"], dtype=object)
        columns: dict[str, Any] = {
            "left": labelled(self.left, arms),
            "right": labelled(self.right, arms),
            "outcome": results[self.outcome],
        }
        if self.share is not None:
            sure = (1 + self.outcome) / 2
            columns["outcome"] = np.where(np.isnan(self.share), sure, self.share)
        if self.sampling_weight is not None:
            columns["sampling_weight"] = self.sampling_weight
        if (self.weight != 1).any():
            columns["weight"] = self.weight
        for name, (code, levels) in self.kept.items():
            columns[name] = labelled(code, levels)
        for k, name in enumerate(self.covariate_names):
            columns[name] = self.covariates[:, k]  # type: ignore[index]
        for name in ("judge", "group", "category"):
            level = self.level(name)
            if level is not None:
                columns[name] = labelled(*level)
        for name, values in (("margin", self.margin), ("grade", self.grade), ("time", self.time)):
            if values is not None:
                columns[name] = values
        return pd.DataFrame(columns)

    def with_level(self, by: str, code: np.ndarray, levels: tuple[str, ...]) -> "Votes":
        """Return the same with this level of each vote in a column, -1 where it has none."""
        if by in self.kept or by not in ROLES:
            kept = {**self.kept, by: (code, levels)}
            return replace(self, kept=kept)
        own: dict[str, Any] = {by: code, ROLES[by]: levels}
        return replace(self, **own)


@dataclass(frozen=True, kw_only=True)
class ReadSummary:
    """Counts made while a log was read, for :func:`bayesduel.health`.

    Attributes
    ----------
    source
        File names or the kind of frame.
    files
        Absolute paths of the files that were read.
    columns
        The column of each role, e.g. ``{"left": "model_a"}``.
    guessed
        The roles in `columns` that were guessed rather than given.
    unread
        Columns of the source that have no role.
    reading
        The options of :func:`bayesduel.read_duels` that read its columns and the coding of its
        outcomes the same way again, as JSON has them; without a coding where its outcomes leave
        that open.
    other_codings
        Codings that read as many of its rows with another result.
    n_rows
        Rows in the source.
    n_self_duels, n_both_bad, n_ties_dropped, n_zero_weight
        Duels of an arm with itself (left out), ties marked "both bad", ties left
        out under ``ties="drop"``, rows of weight 0.
    neither
        Label of the arm that wins the votes "both bad", or "" where these are ties.
    n_left_out
        Rows left out because the user said so (``means={"error": None}``).
    understood
        What the log was taken for.
    n_duplicates
        Rows identical in every column to an earlier one (kept), or None if unknown.
    n_bad_rows
        Rows left out under ``on_bad="skip"``.
    bad_rows
        (where, what is wrong) for each of these. For a lazy frame, which is tallied by its
        own engine, one entry represents all rows with the same content.
    """

    source: str = "memory"
    files: tuple[str, ...] = field(default=(), repr=False)
    columns: dict[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict, repr=False)
    other_codings: tuple[str, ...] = field(default=(), repr=False)
    n_rows: int = 0
    n_self_duels: int = 0
    n_both_bad: int = 0
    neither: str = ""
    n_ties_dropped: int = 0
    n_zero_weight: int = 0
    n_duplicates: int | None = None
    n_left_out: int = 0
    understood: Reading | None = field(default=None, repr=False)
    n_bad_rows: int = 0
    bad_rows: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def public_source(self) -> str:
        """The source without the folders of this machine, as a page that is published names it."""
        source = str(self.source)
        for file in self.files:
            source = source.replace(file, Path(file).name)
        return source

    @property
    def title(self) -> str:
        """What a page about the log is called: its source, of one file without the ending."""
        name = self.public_source
        if len(self.files) != 1 or name != Path(self.files[0]).name:
            return name
        unpacked = name.removesuffix(".gz").removesuffix(".zst")
        return Path(unpacked).stem


def is_whole(values: np.ndarray) -> np.ndarray:
    """Return which entries are counts: whole, from 0 to 2^53 (exact in float64)."""
    exact = (values >= 0) & (values <= LARGEST)
    return exact & (values == np.floor(values))


def by_arm(
    first: np.ndarray, second: np.ndarray, n_arms: int, of_first: np.ndarray, of_second: np.ndarray
) -> np.ndarray:
    """Return the sum over pairs of each arm's numbers, given those of either side, shape (K,)."""
    as_first = np.bincount(first, of_first, n_arms)
    as_second = np.bincount(second, of_second, n_arms)
    return as_first + as_second


def duels_among(votes: Votes, tie_rule: TieRule) -> tuple[np.ndarray, dict[str, Any]]:
    """Return which votes are duels that count, and how many do not, as `ReadSummary` names them."""
    own = votes.left == votes.right
    counted = ~own & (votes.weight > 0)
    n_own = votes.weight[own].sum()
    left_out: dict[str, Any] = {"n_self_duels": int(n_own)}
    if tie_rule == "drop":
        tie = (votes.outcome == 0) & ~own
        n_ties = votes.weight[tie].sum()
        left_out["n_ties_dropped"] = int(n_ties)
        counted &= ~tie
    return counted, left_out


def cells_of(votes: Votes, n_arms: int) -> Cells:
    """Return the counts of `votes` by ordered pair, sorted by (left, right)."""
    key = votes.left.astype(np.int64)
    key *= n_arms
    key += votes.right
    if n_arms**2 <= 4 * len(key):  # count instead of sorting
        place = key
        n_places = n_arms**2
    else:
        pair, place = np.unique(key, return_inverse=True)
        n_places = len(pair)
    kind = (votes.outcome + np.int64(1)) * n_places  # right won, a tie, left won: of all places
    kind += place
    flat = np.bincount(kind, votes.weight, minlength=3 * n_places)
    counts = flat.reshape(3, n_places)
    if place is key:
        seen = (counts != 0).any(axis=0)
        if not votes.weight.all():  # rows of weight 0 have a cell, too
            seen |= np.bincount(key, minlength=n_places) > 0
        pair = np.flatnonzero(seen)
        counts = counts[:, pair]
    lost, tied, won = counts.astype(np.int64)
    left = (pair // n_arms).astype(np.int32)
    right = (pair % n_arms).astype(np.int32)
    return Cells(left, right, won, lost, tied)


def unordered(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the higher number of the sides of each pair."""
    return np.minimum(left, right), np.maximum(left, right)


def pair_codes(left: np.ndarray, right: np.ndarray, n_sides: int) -> np.ndarray:
    """Return a number of each unordered pair; they sort as (lower side, higher side) does."""
    low, high = unordered(left, right)
    return low.astype(np.int64) * n_sides + high


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of columns of whole numbers, sorted by the first column, then on.

    columns: each of shape (n,).
    Returns where each distinct row occurs first, indices; and which of them each row is, shape
    (n,).
    """
    n = len(columns[0])
    key = np.zeros(n, dtype=np.int64)
    size = 1
    bits = n.bit_length()
    for column in columns:
        least = int(column.min(initial=0))
        span = int(column.max(initial=0)) - least + 1
        if size * span >= 2**63:  # codes in place of numbers
            _, key = np.unique(key, return_inverse=True)
            size = int(key.max()) + 1
        above_least = column.astype(np.int64) - least
        key = key * span + above_least
        size *= span
    if size << bits >= 2**63:
        _, key = np.unique(key, return_inverse=True)
    # Keys and rows in one number: a sort of numbers takes a tenth of a stable sort of places.
    key = np.sort((key << bits) | np.arange(n))
    row = key & ((1 << bits) - 1)
    key = key >> bits
    changes = key[1:] != key[:-1]
    new = np.append(True, changes)[:n]
    place = np.empty(n, dtype=np.int64)
    place[row] = np.cumsum(new) - 1
    return row[new], place


def check_as_long(column: Sized, n: int, name: str, like: str = "outcome") -> None:
    """Raise ValueError unless a column has `n` entries, as `like` has."""
    if len(column) != n:
        raise ValueError(f"{name} should have length {n} like {like}, got {len(column)}")


def encode(
    labels: Iterable[Any] | None, n: int, name: str, like: str = "outcome"
) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return sorted labels and the code of each entry (-1 where missing).

    Raises ValueError unless there are `n`, as many as `like` has.
    """
    if labels is None:
        return (), None
    entries = labels_of(labels, name)
    check_as_long(entries, n, name, like)
    distinct_labels = {x for x in entries if x is not None}
    known = sorted(distinct_labels)
    index = {label: i for i, label in enumerate(known)}
    codes = [-1 if x is None else index[x] for x in entries]
    return tuple(known), np.array(codes, np.int32)


def coded_columns(
    n: int, like: str, keep: Mapping[str, Iterable[Any]] | None, **given: Iterable[Any] | None
) -> dict[str, Any]:
    """Return columns of labels as the fields of `Ballots`: those `given` by role, and the kept.

    Raises TypeError if `keep` is no dictionary of columns; ValueError as :func:`encode`.
    """
    check_type(keep, Mapping | None, "keep", "a dict of columns")
    found: dict[str, Any] = {}
    for role, column in given.items():
        found[ROLES[role]], found[role] = encode(column, n, role, like)
    kept = {}
    for name, column in (keep or {}).items():
        called = f"keep[{name!r}]"
        labels = listed(column, called)
        levels, code = encode(labels, n, called, like)
        kept[str(name)] = (np.asarray(code), levels)
    return found | {"kept": kept}


def as_whole(labels: list[str], beside: Iterable[str]) -> list[str]:
    """Return labels with "1" for "1.0" where all are such, and those beside them whole numbers.

    pandas makes floats of whole numbers in a column with a missing value.
    """
    whole = []
    for label in labels:
        before_point = label.removesuffix(".0")
        if before_point == label or not before_point.isdecimal():
            return labels
        whole.append(before_point)
    return whole if all(map(str.isdecimal, beside)) else labels


def fingerprint(log: Any) -> str:
    """Return a text that differs between logs that differ, in what they hold or where it is from.

    log: duels or rankings.
    """
    return _digest(log, repr(log.read_summary.source))


def fingerprint_of_votes(log: Any) -> str:
    """Return a text that differs between logs that differ in what they hold, row by row.

    log: duels or rankings.
    """
    return _digest(log, "")


def _digest(log: Any, start: str) -> str:
    found = sha256(start.encode())
    for part in fields(log):
        if part.name == "read_summary":
            continue
        value = getattr(log, part.name)
        for piece in _pieces(value):
            found.update(piece)
    return found.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    """Yield what a value holds, as bytes."""
    if is_dataclass(value):
        for part in fields(value):
            yield from _pieces(getattr(value, part.name))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, tuple) and not all(isinstance(one, str) for one in value):
        for one in value:
            yield from _pieces(one)
    else:
        yield repr(value).encode()
