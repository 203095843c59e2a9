"""Logs as one: of several parts, or by category, which votes carry; and whether to pool them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesduel.data.teams import one_numbering
from bayesduel.data.votes import ROLES, Ballots, ReadSummary, Votes, cells_of

__all__ = [
    "POOLED",
    "arm_coverage",
    "joined_ballots",
    "parts_of_categories",
    "parts_of_logs",
    "summed",
]

# Share of all arms that a category has on average, from which logs are pooled. By eye: of fewer,
# arms of different categories hardly meet the same opponents.
POOLED = 0.5
USUAL = {"share": np.nan, "sampling_weight": 1.0}  # of votes without such a column
COUNTED = (
    *("n_rows", "n_self_duels", "n_both_bad", "n_ties_dropped"),
    *("n_zero_weight", "n_bad_rows"),
)


def arm_coverage(logs: Mapping[str, Any]) -> float:
    """Return the share of all arms that a log has on average, from 0 to 1.

    1 where all logs have the same arms; about 1 over their number where no arm is in two.
    """
    arms = {arm for log in logs.values() for arm in log.arms}
    shares = [log.n_arms / len(arms) for log in logs.values()]
    return float(np.mean(shares))


def parts_of_categories(logs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of one log whose votes carry their category.

    See ``Duels.from_categories``.
    """
    parts = parts_of_logs(logs, [role for role in ROLES if role != "category"])
    sizes = [len(log.rows) for log in logs.values()]
    category = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    categories = tuple(map(str, logs))
    votes = replace(parts["votes"], category=category, categories=categories)
    return parts | {"votes": votes}


def parts_of_logs(logs: Mapping[str, Any], roles: Iterable[str] = ROLES) -> dict[str, Any]:
    """Return the fields of one log of the votes of several.

    roles: columns of labels that the log has, where the votes have them.
    """
    if not logs:
        raise ValueError("logs should contain the log of a category, got none")
    each = list(logs.values())
    tie_rule = _same([log.tie_rule for log in each], "one tie rule")
    every_arm = {arm for log in each for arm in log.arms}
    arms = tuple(sorted(every_arm))
    index = {arm: i for i, arm in enumerate(arms)}
    of_logs = [log.rows for log in each]
    for name in ("margin", "grade", "time", "covariates", *roles):
        _check_all_or_none(logs, name)
    names = _same([v.covariate_names for v in of_logs], "the same covariates")
    kept = _same([tuple(sorted(v.kept)) for v in of_logs], "kept the same columns")
    places = []
    for log in each:
        place = [index[arm] for arm in log.arms]
        places.append(np.array(place, dtype=np.int32))
    teams, places = one_numbering([log.teams for log in each], places)
    columns = _joined_columns(of_logs, places)
    for role in roles:
        own = [v.of_role(role) for v in of_logs]
        if None not in own:
            columns[role], columns[ROLES[role]] = recoded(own)
    of_kept = _recoded_by_name(of_logs, kept)
    votes = Votes(**columns, covariate_names=names, kept=of_kept)
    first = each[0].read_summary
    readings = [log.read_summary.reading for log in each]
    settling = (reading for reading in readings if "coding" in reading)
    bad_rows = tuple(row for log in each for row in log.read_summary.bad_rows)
    summary = ReadSummary(
        source=_whole(first.source, next(iter(logs))),
        files=first.files,
        columns=first.columns,
        guessed=first.guessed,
        reading=next(settling, readings[0]),  # the first whose outcomes settle it
        understood=first.understood,
        bad_rows=bad_rows,
        **summed(each),
    )
    n_sides = len(arms) if teams is None else len(teams)
    return {
        "arms": arms,
        "cells": cells_of(votes, n_sides),
        "teams": teams,
        "tie_rule": tie_rule,
        "votes": votes,
        "read_summary": summary,
        "ordered": all(log.ordered for log in each),
    }


def _check_all_or_none(logs: Mapping[str, Any], name: str) -> None:
    """Raise ValueError if some logs have a column and others have not."""
    without = [label for label, log in logs.items() if getattr(log.rows, name) is None]
    if 0 < len(without) < len(logs):
        words = name if name == "covariates" else f"a {name}"
        raise ValueError(f"logs should all have {words} or none, got {without[0]!r} without")


def _joined_columns(of_logs: Sequence[Votes], places: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return the columns of votes of several logs one under the other, but for labels.

    places: the number that each arm of a log has in the log of all.
    """
    columns = {}
    for side in ("left", "right"):
        arms_of_side = []
        for number, v in zip(places, of_logs, strict=True):
            code = getattr(v, side)
            arms_of_side.append(number[code])
        columns[side] = np.concatenate(arms_of_side)
    known = {name for v in of_logs for name in v.columns}
    for name in known - {"left", "right", *ROLES}:
        usual = USUAL.get(name)
        parts = []
        for v in of_logs:
            absent = np.full(len(v), usual)
            parts.append(v.columns.get(name, absent))
        columns[name] = np.concatenate(parts)
    return columns


def joined_ballots(first: Ballots, second: Ballots) -> Ballots:
    """Return what is known of the rankings of two logs as one; see ``Rankings.join``."""
    each = (first, second)
    _same([tuple(sorted(votes.columns)) for votes in each], "the same columns")
    kept = _same([tuple(sorted(votes.kept)) for votes in each], "kept the same columns")
    weight = np.concatenate([votes.weight for votes in each])
    columns: dict[str, Any] = {"weight": weight}
    for role, labels in ROLES.items():
        found = [votes.of_role(role) for votes in each]
        own = [one for one in found if one is not None]
        if own:
            columns[role], columns[labels] = recoded(own)
    of_kept = _recoded_by_name(each, kept)
    return Ballots(**columns, kept=of_kept)


def _same(values: Sequence[Any], what: str) -> Any:
    """Return the value that logs have in common; raise ValueError where they differ."""
    found = sorted(set(values))
    if len(found) > 1:
        raise ValueError(f"logs should have {what}, got {found}")
    return found[0]


def summed(logs: Iterable[Any]) -> dict[str, Any]:
    """Return the counts made while logs were read, added up."""
    each = [log.read_summary for log in logs]
    found = {}
    for name in COUNTED:
        found[name] = sum(getattr(summary, name) for summary in each)
    return found


def recoded(
    columns: Sequence[tuple[np.ndarray, tuple[str, ...]]],
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return columns, each as codes and their labels, as one; -1 stays -1, missing."""
    every_label = {label for _, own in columns for label in own}
    labels = tuple(sorted(every_label))
    place = {label: i for i, label in enumerate(labels)}
    codes = []
    for code, own in columns:
        places = [place[label] for label in own]
        renumbered = np.array([*places, -1], dtype=np.int32)
        codes.append(renumbered[code])
    return np.concatenate(codes), labels


def _recoded_by_name(
    parts: Sequence[Ballots], names: Iterable[str]
) -> dict[str, tuple[np.ndarray, tuple[str, ...]]]:
    """Return the kept columns of these names, of all parts as one."""
    found = {}
    for name in names:
        columns = [part.kept[name] for part in parts]
        found[name] = recoded(columns)
    return found


def _whole(source: str, label: str) -> str:
    """Return the source of a log from that of its part, ``log.csv, topic=maths``."""
    if not source.endswith(label):
        return source
    whole, *_ = source.removesuffix(label).rsplit(", ", 1)
    return whole
