"""Parts of a log (arms, cells, votes, read summary) from votes or matrices in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

import numpy as np

from bayesduel.data.votes import (
    FINITE,
    LARGEST_SIZE,
    Cells,
    ReadSummary,
    TieRule,
    Votes,
    cells_of,
    encode,
    is_whole,
)
from bayesduel.system.arguments import (
    check_one_of,
    column_of,
    labels_of,
    listed,
    numbers,
    shown_value,
)

__all__ = ["parts_of_votes", "parts_of_wins"]


def parts_of_votes(
    left: Iterable[Any],
    right: Iterable[Any],
    outcome: Iterable[float],
    *,
    weight: Iterable[int] | None,
    margin: Iterable[float] | None,
    judge: Iterable[Any] | None,
    group: Iterable[Any] | None,
    time: np.ndarray | None,
    covariates: Mapping[str, Iterable[float]] | None,
    category: Iterable[Any] | None = None,
    keep: Mapping[str, Iterable[Any]] | None = None,
    arms: Sequence[str] | None,
    tie_rule: TieRule,
    read_summary: ReadSummary | None,
) -> dict[str, Any]:
    """Return the fields of a log from one entry per vote; see ``Duels.from_votes``."""
    check_one_of(tie_rule, "tie_rule", get_args(TieRule))
    points = column_of(outcome, "outcome")
    n = len(points)
    left_label, right_label = _labels(left, n, "left"), _labels(right, n, "right")
    weights = np.ones(n) if weight is None else _column(weight, n, "weight")
    margins = None if margin is None else _column(margin, n, "margin")
    times = None if time is None else _times(time, n)
    if covariates is not None and not isinstance(covariates, Mapping):
        raise TypeError(f"covariates should be a dict of columns, got {shown_value(covariates)}")
    if keep is not None and not isinstance(keep, Mapping):
        raise TypeError(f"keep should be a dict of columns, got {shown_value(keep)}")
    differences = {
        str(k): _column(v, n, f"covariates[{k!r}]") for k, v in (covariates or {}).items()
    }
    if n == 0:
        raise ValueError("a log should contain at least one duel between two arms, got none")
    _check(np.isin(points, (0.0, 0.5, 1.0)), points, "outcome should be 0, 0.5 or 1")
    _check(is_whole(weights), weights, "weight should be a whole number of identical duels "
           "(sampling weights are not supported)")  # fmt: skip
    if margins is not None:
        _check(abs(margins) <= LARGEST_SIZE, margins, f"margin should be {FINITE}")
    for name, values in differences.items():
        _check(abs(values) <= LARGEST_SIZE, values, f"covariates[{name!r}] should be {FINITE}")
    labels = _arms(set(left_label) | set(right_label), arms)
    index = {label: i for i, label in enumerate(labels)}
    judges, judge_code = encode(judge, n, "judge")
    groups, group_code = encode(group, n, "group")
    categories, category_code = encode(category, n, "category")
    kept = {}
    for name, column in (keep or {}).items():
        if column is None:
            raise TypeError(f"keep[{name!r}] should be a list of labels, got None")
        levels, code = encode(column, n, f"keep[{name!r}]")
        kept[str(name)] = (np.asarray(code), levels)
    votes = Votes(
        left=np.array([index[x] for x in left_label], dtype=np.int32),
        right=np.array([index[x] for x in right_label], dtype=np.int32),
        outcome=(2 * points - 1).astype(np.int8),
        weight=weights.astype(np.int64),
        margin=margins,
        judge=judge_code,
        judges=judges,
        group=group_code,
        groups=groups,
        time=times,
        covariates=np.column_stack(list(differences.values())) if differences else None,
        covariate_names=tuple(differences),
        category=category_code,
        categories=categories,
        kept=kept,
    )
    self_duel = votes.left == votes.right
    tie = (votes.outcome == 0) & ~self_duel
    if read_summary is None:
        read_summary = ReadSummary(
            n_rows=n,
            n_self_duels=int(votes.weight[self_duel].sum()),
            n_zero_weight=int((votes.weight == 0).sum()),
        )
        if tie_rule == "drop":
            read_summary = replace(read_summary, n_ties_dropped=int(votes.weight[tie].sum()))
    valid = ~self_duel & (votes.weight > 0)
    if tie_rule == "drop":
        valid &= ~tie
    votes = votes.take(valid)
    asked = (
        *(votes.margin, votes.judge, votes.group, votes.time, votes.covariates),
        votes.category,
    )
    return {
        "arms": labels,
        "cells": cells_of(votes, len(labels)),
        "tie_rule": tie_rule,
        "votes": votes if kept or any(column is not None for column in asked) else None,
        "read_summary": read_summary,
    }


def parts_of_wins(
    wins: Any, arms: Sequence[str] | None, *, ties: Any, tie_rule: TieRule
) -> dict[str, Any]:
    """Return the fields of a log from a matrix of wins; see ``Duels.from_wins``."""
    check_one_of(tie_rule, "tie_rule", get_args(TieRule))
    wins = numbers(wins, "wins")
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1]:
        raise ValueError(f"wins should be a square matrix, got shape {wins.shape}")
    if len(wins) < 2:
        raise ValueError(f"wins should be of at least two arms, got shape {wins.shape}")
    ties = np.zeros_like(wins) if ties is None else numbers(ties, "ties")
    if ties.shape != wins.shape:
        raise ValueError(f"ties should have shape {wins.shape} like wins, got {ties.shape}")
    for name, matrix in (("wins", wins), ("ties", ties)):
        if not is_whole(matrix).all():
            bad = matrix[~is_whole(matrix)][0]
            raise ValueError(f"{name} should contain whole numbers >= 0, got {bad}")
        if matrix.diagonal().any():
            raise ValueError(f"{name} should have a diagonal of 0, got {matrix.diagonal()}")
    if not (ties == ties.T).all():
        i, j = np.argwhere(ties != ties.T)[0]
        raise ValueError(f"ties should be symmetric, got {ties[i, j]} and {ties[j, i]}")
    n_arms = len(wins)
    labels = [str(i) for i in range(n_arms)] if arms is None else _known(arms)
    if len(labels) != n_arms:
        raise ValueError(f"arms should have {n_arms} labels, got {len(labels)}")
    order = np.argsort(np.array(labels, dtype=object), kind="stable")
    wins, ties = wins[np.ix_(order, order)], ties[np.ix_(order, order)]
    i, j = np.nonzero(np.triu(wins + wins.T + ties, 1))
    counts = [wins[i, j], wins[j, i], np.zeros(len(i)) if tie_rule == "drop" else ties[i, j]]
    keep = sum(counts) > 0
    cells = Cells(
        i[keep].astype(np.int32),
        j[keep].astype(np.int32),
        *(c[keep].astype(np.int64) for c in counts),
    )
    dropped = int(np.triu(ties).sum()) if tie_rule == "drop" else 0
    return {
        "arms": tuple(labels[k] for k in order),
        "cells": cells,
        "tie_rule": tie_rule,
        "read_summary": ReadSummary(n_rows=len(i), n_ties_dropped=dropped),
        "ordered": False,
    }


def _labels(column: Iterable[Any], n: int, name: str) -> list[str]:
    labels = labels_of(column, name)
    if len(labels) != n:
        raise ValueError(f"{name} should have length {n} like outcome, got {len(labels)}")
    if None in labels:
        row = labels.index(None)
        raise ValueError(f"{name} should name an arm in every row, got None at row {row}")
    return cast(list[str], labels)


def _known(arms: Iterable[Any]) -> list[str]:
    labels = [label for label in labels_of(arms, "arms") if label is not None]
    if not labels:
        raise ValueError("arms should be labels, got none")
    return labels


def _times(time: Any, n: int) -> np.ndarray:
    rule = f"time should be an array of dates or numbers, got {shown_value(time)}"
    try:
        times = np.asarray(time if hasattr(time, "__array__") else listed(time, "time"))
    except ValueError as error:  # lists of several lengths
        raise TypeError(rule) from error
    if times.dtype.kind not in "Mfiu" or times.ndim != 1:
        raise TypeError(rule)
    if len(times) != n:
        raise ValueError(f"time should have length {n} like outcome, got {len(times)}")
    return times


def _column(column: Iterable[Any], n: int, name: str) -> np.ndarray:
    values = column_of(column, name)
    if len(values) != n:
        raise ValueError(f"{name} should have length {n} like outcome, got {len(values)}")
    return values


def _check(ok: np.ndarray, values: np.ndarray, rule: str) -> None:
    if not ok.all():
        row = int(np.flatnonzero(~ok)[0])
        raise ValueError(f"{rule}, got {values[row]} at row {row}")


def _arms(seen: set[str], arms: Sequence[str] | None) -> tuple[str, ...]:
    if arms is None:
        return tuple(sorted(seen))
    labels = tuple(sorted(_known(arms)))
    unknown = sorted(seen - set(labels))
    if unknown:
        raise ValueError(f"arms should contain every arm of the log, got none of {unknown[:5]}")
    return labels
