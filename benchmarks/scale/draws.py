"""Draws: fit and winners as the number of posterior draws grows."""

from typing import Any

from benchmarks.scale.measuring import alone

TITLE = "Draws: fit and winners of Bradley-Terry"
QUICK = ((20, 10_000, 4_000), (20, 10_000, 40_000))
FULL = (
    *((20, 10_000, n) for n in (1_000, 4_000, 16_000, 64_000)),
    *((100, 50_000, n) for n in (1_000, 4_000, 16_000)),
)


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row for each number of arms and of draws."""
    found: list[dict[str, Any]] = []
    fewest: dict[int, float] = {}
    for arms, duels, draws in FULL if full else QUICK:
        one = alone("benchmarks.scale.one_fit", arms, duels, draws, limit=600, keep=full)
        row = {"arms": arms, "duels": duels, "draws": draws}
        if "failed" in one:
            found.append(row | {"note": one["failed"]})
            continue
        numbers = {name: one[name] for name in ("seconds", "cpu s")}
        ratio = one["cpu s"] / fewest.setdefault(arms, one["cpu s"])
        row |= numbers | {"peak MiB": round(one["peak MiB"]), "times fewest": ratio}
        found.append(row)
    return found
