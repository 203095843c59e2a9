"""Judges: cluster-robust errors, a sensitivity for each judge, and the jackknife over judges."""

from typing import Any

from benchmarks.scale.measuring import alone
from benchmarks.scale.one_judges import PARTS

TITLE = "Judges: fit and winners"
LIMIT = 300.0  # seconds
ASKED = {
    "robust": "cluster-robust errors",
    "reliability": "JudgeReliability",
    "refit": f"one of {PARTS} refits of the jackknife",
}
QUICK = (
    ("robust", 10_000, 50, 10),
    ("robust", 10_000, 50, 1_000),
    ("reliability", 300_000, 2_000, 3_000),
)
FULL = (
    *(("robust", 100_000, 50, n) for n in (10, 1_000, 10_000, 100_000)),
    ("robust", 300_000, 2_000, 3_000),
    ("refit", 300_000, 2_000, 3_000),
    ("reliability", 300_000, 2_000, 3_000),
)


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row for each log and what is asked of it."""
    found: list[dict[str, Any]] = []
    first: dict[str, float] = {}
    for what, duels, arms, judges in FULL if full else QUICK:
        one = alone(
            "benchmarks.scale.one_judges", what, duels, arms, judges, limit=LIMIT, keep=full
        )
        row = {"what": ASKED[what], "duels": duels, "arms": arms, "judges": judges}
        if "failed" not in one:
            numbers = {name: one[name] for name in ("seconds", "cpu s")}
            ratio = one["cpu s"] / first.setdefault(what, one["cpu s"])
            row |= numbers | {"peak MiB": round(one["peak MiB"]), "times first": ratio}
        found.append(row | {"answer": one.get("failed") or one["said"]})
    return found
