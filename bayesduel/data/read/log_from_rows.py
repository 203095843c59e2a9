"""Build a log, or one log for each part, from rows that were read and checked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.faults import Examined, label_of
from bayesduel.data.read.outcomes import says_both_bad
from bayesduel.data.read.reading_options import TieRule
from bayesduel.data.read.rows import MEMBERS, Coded, Rows
from bayesduel.data.subset import compact_all
from bayesduel.data.teams import Teams, split_sides
from bayesduel.data.votes import (
    LARGEST,
    ROLES,
    ReadSummary,
    Votes,
    cells_of,
    duels_among,
)

__all__ = ["Labelled", "assemble", "assemble_choices", "label_rows", "parts_of"]

SIGNED = ("outcome", "margin", "grade", "covariates")  # of left against right


@dataclass
class Labelled:
    """The valid rows of a log, with labels as indices; arrays of shape (n_entries,)."""

    arms: tuple[str, ...]  # labels, sorted
    votes: Votes  # the rows; ``weight`` is the number of duels that an entry represents
    n: np.ndarray  # number of rows that an entry represents
    n_zero: np.ndarray  # number of those with weight 0
    both_bad: np.ndarray  # whether the outcome is "both bad"
    part: np.ndarray | None  # index into `parts`
    parts: tuple[str, ...]  # labels of separate logs
    teams: bool = False  # whether the labels of arms are those of sides, their members in one text

    def take(self, rows: np.ndarray) -> "Labelled":
        """Return the entries at `rows`."""
        part = None
        if self.part is not None:
            part = self.part[rows]
        return replace(
            self,
            votes=self.votes.take(rows),
            n=self.n[rows],
            n_zero=self.n_zero[rows],
            both_bad=self.both_bad[rows],
            part=part,
        )


def label_rows(
    rows: Rows,
    examined: Examined,
    covariates: tuple[str, ...] = (),
    kept: tuple[str, ...] = (),
    *,
    teams: bool = False,
) -> Labelled:
    """Return the valid rows, with labels stripped of surrounding white space.

    teams: whether sides may have several members.

    Raises ValueError if the weights add up to more than 2^53.
    """
    ok: slice | np.ndarray = slice(None)  # no copies where all is well
    if examined.fault.any() or examined.left_out.any():
        sound = examined.fault == 0
        ok = np.flatnonzero(sound & ~examined.left_out)
    weight = rows.weight[ok]
    total = weight.sum()
    if not total <= LARGEST:
        raise ValueError(f"weights should add up to at most 2^53, got {total:.3g}")
    lefts = [text.strip() for text in rows.left.values]
    rights = [text.strip() for text in rows.right.values]
    arms = tuple(sorted({*lefts, *rights}))
    arm = {label: i for i, label in enumerate(arms)}
    left_arms = np.array([arm[label] for label in lefts], dtype=np.int32)
    right_arms = np.array([arm[label] for label in rights], dtype=np.int32)
    left_code = rows.left.code[ok]
    right_code = rows.right.code[ok]
    units: dict[str, Any] = {}
    for role in ("judge", "group"):
        column = getattr(rows, role)
        units[ROLES[role]], units[role] = _labels(column, ok, label_of)
    parts, part = _labels(rows.by, ok, str.strip)
    of_kept = {}
    for name, column in zip(kept, rows.kept, strict=True):
        levels, code = _labels(column, ok, label_of)
        of_kept[name] = (np.asarray(code), levels)
    bad_words = np.zeros(1, dtype=bool)
    outcome = np.broadcast_to(np.int32(0), len(rows))
    grade = None
    if rows.outcome is not None:
        bad_words = np.array([*map(says_both_bad, rows.outcome.values), False])
        outcome = rows.outcome.code
        if examined.reading is not None:
            grade = examined.reading.graded(rows.outcome)
    columns = {
        "margin": examined.margin,
        "grade": grade,
        "time": rows.time,
        "covariates": rows.covariates,
        "share": examined.share,
        "sampling_weight": rows.sampling_weight,
    }
    measured: dict[str, Any] = {}
    for name, values in columns.items():
        if values is not None:
            measured[name] = values[ok]
    votes = Votes(
        left=left_arms[left_code],
        right=right_arms[right_code],
        outcome=examined.outcome[ok],
        weight=weight.astype(np.int64),
        covariate_names=covariates,
        kept=of_kept,
        **measured,
        **units,
    )
    if examined.swapped is not None:
        votes = _swapped(votes, examined.swapped[ok])
    found = Labelled(
        arms=arms,
        votes=votes,
        n=rows.n[ok] - rows.n_bad_weight[ok],
        n_zero=rows.n_zero_weight[ok],
        both_bad=bad_words[outcome[ok]],
        part=part,
        parts=parts,
        teams=teams,
    )
    sizes = [size for size in (votes.share, votes.grade) if size is not None]
    if not sizes or not rows.counted:
        return found
    order = np.lexsort([*sizes, votes.outcome, votes.right, votes.left])
    return found.take(order)


def _swapped(votes: Votes, rows: np.ndarray) -> Votes:
    """Return votes whose sides are swapped in some rows, so that left is what was shown first."""
    sign = np.where(rows, -1, 1)
    turned: dict[str, Any] = {}
    for name, values in votes.columns.items():
        if name in SIGNED:
            signed = (values.T * sign).T
            turned[name] = signed.astype(values.dtype)
    if votes.share is not None:
        turned["share"] = np.where(rows, 1 - votes.share, votes.share)
    left = np.where(rows, votes.right, votes.left)
    right = np.where(rows, votes.left, votes.right)
    return replace(votes, left=left, right=right, **turned)


def assemble(
    log: Labelled, tie_rule: TieRule, read_summary: ReadSummary, by_vote: bool, ordered: bool
) -> Duels:
    """Return the log of some rows, with their counts in its read summary.

    read_summary: what is known of the reading.
    by_vote, ordered: whether the votes are kept, and whether left and right say how a pair was
        presented.
    Raises ValueError if fewer than two arms, or no duel between two, is left.
    """
    votes = log.votes
    keep, left_out = duels_among(votes, tie_rule)
    counted = _counted(log, read_summary)
    read_summary = replace(counted, **left_out)
    seen = np.zeros(len(log.arms), dtype=bool)
    seen[votes.left] = seen[votes.right] = True
    kept = np.flatnonzero(seen)
    place = np.full(len(log.arms), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    if not keep.all():
        votes = votes.take(keep)
    if votes.share is not None and np.isnan(votes.share).all():
        votes = replace(votes, share=None)
    if len(kept) < len(log.arms):
        votes = replace(votes, left=place[votes.left], right=place[votes.right])
    sized = votes.grade is not None or votes.margin is not None
    needs_votes = by_vote or sized or not votes.plain
    arms = tuple(log.arms[k] for k in kept)
    teams = None
    sides = split_sides(arms, MEMBERS) if log.teams else []
    if any(len(side) > 1 for side in sides):
        members = {member for side in sides for member in side}
        arms = tuple(sorted(members))
        place_of = {arm: k for k, arm in enumerate(arms)}
        places = [[place_of[member] for member in side] for side in sides]
        teams = Teams.of(places)
    return Duels(
        arms=arms,
        teams=teams,
        cells=cells_of(votes, len(kept)),
        tie_rule=tie_rule,
        votes=votes if needs_votes else None,
        read_summary=read_summary,
        ordered=ordered,
    )


def assemble_choices(log: Labelled, neither: str, read_summary: ReadSummary) -> Rankings:
    """Return each vote as the choice of left, right or neither, which is an arm of this label.

    What is neither decided nor "both bad" is left out.

    Raises ValueError if an arm has this label, no vote is "both bad", or votes are shares or
    weighted.
    """
    votes = log.votes
    read_summary = _counted(log, read_summary)
    if log.teams:
        raise ValueError("both_bad should be None where sides have several members")
    if neither in log.arms:
        raise ValueError(f"both_bad should be the label of no arm, got {neither!r}")
    if not read_summary.n_both_bad:
        raise ValueError("both_bad needs votes 'both bad', but the log has none")
    if votes.share is not None or votes.sampling_weight is not None:
        raise ValueError("both_bad needs whole votes, but the log has shares or sampling weights")
    own = votes.left == votes.right
    tie = (votes.outcome == 0) & ~log.both_bad
    tied = tie & ~own
    read_summary = replace(
        read_summary,
        neither=neither,
        n_self_duels=int(votes.weight[own].sum()),
        n_ties_dropped=int(votes.weight[tied].sum()),
    )
    kept = np.flatnonzero(~own & ~tie & (votes.weight > 0))
    result = np.where(log.both_bad, 0, votes.outcome)
    columns = [votes.left[kept], votes.right[kept], result[kept]]
    levels = {}
    for role in ("judge", "group"):
        level = votes.level(role)
        if level:
            code, labels = level
            levels[role] = labels
            columns.append(code[kept])
    rows, place = np.unique(np.stack(columns), axis=1, return_inverse=True)
    lefts, rights, results, *unit_codes = rows
    orders = []
    for left, right, won in zip(lefts, rights, results, strict=True):
        left_arm = log.arms[left]
        right_arm = log.arms[right]
        if won == 0:
            orders.append([neither, [left_arm, right_arm]])
        elif won > 0:
            orders.append([left_arm, [right_arm, neither]])
        else:
            orders.append([right_arm, [left_arm, neither]])
    weight = np.bincount(place.ravel(), votes.weight[kept])
    units: dict[str, Any] = {}
    for (role, labels), codes in zip(levels.items(), unit_codes, strict=True):
        units[role] = [labels[k] if k >= 0 else None for k in codes]
    return Rankings.from_orders(orders, weight=weight, read_summary=read_summary, **units)


def _counted(log: Labelled, read_summary: ReadSummary) -> ReadSummary:
    """Return the summary with the counts of rows that are not seen in votes."""
    votes = log.votes
    bad = log.both_bad & (votes.left != votes.right)
    return replace(
        read_summary,
        n_both_bad=int(votes.weight[bad].sum()),
        n_zero_weight=int(log.n_zero.sum()),
    )


def parts_of(log: Labelled) -> dict[str, Labelled]:
    """Return the rows of each part with its own judges and groups, in the order of the labels."""
    assert log.part is not None
    order = np.argsort(log.part, kind="stable")
    sizes = np.bincount(log.part, minlength=len(log.parts))
    ends = np.cumsum(sizes)
    rows = np.split(order, ends[:-1])
    result = {}
    for label, place in zip(log.parts, rows, strict=True):
        part = log.take(place)
        result[label] = replace(part, votes=compact_all(part.votes))
    return result


def _labels(
    column: Coded | None, rows: slice | np.ndarray, label: Callable[[str], str | None]
) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return the sorted labels of a column that occur in `rows`, and their codes."""
    if column is None:
        return (), None
    texts = [label(t) for t in column.values]
    code = column.code[rows]
    counted = column if len(code) == len(column.code) else Coded(column.values, code)
    occurring = np.flatnonzero(counted.counts())
    seen = {texts[k] for k in occurring}
    labels = tuple(sorted(t for t in seen if t is not None))
    index = {label: i for i, label in enumerate(labels)}
    places = [-1 if t is None else index.get(t, -1) for t in texts]
    by_text = np.array([*places, -1], dtype=np.int32)
    return labels, by_text[code]
