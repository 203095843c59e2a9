"""Rows of the tables on attributes: numbers to as many digits as their intervals earn."""

from typing import Any

import numpy as np

from bayesduel.text import percent, rounded

__all__ = ["coefficient_row", "new_item_row", "spread_words"]


def coefficient_row(name: str, row: Any) -> dict[str, Any]:
    """Return one coefficient as the table tells it."""
    ends = ("", "_lower", "_upper")
    told = {
        "coefficient": rounded(*(row[e] for e in ("coefficient", "lower", "upper"))),
        "odds": rounded(*(row[f"odds_ratio{e}"] for e in ends)),
        "change": rounded(*(100 * row[f"change{e}"] for e in ends)),
    }
    return {
        "name": name,
        "against": f"against {row['reference']}" if row["level"] else "",
        "cells": [(middle, f"{lower} to {upper}") for middle, lower, upper in told.values()],
        "positive": f"{percent(row['positive'])} %",
        "bold": bool(row["lower"] > 0 or row["upper"] < 0),
        "spread": spread_words(row) if "judge_spread" in row else None,
    }


def spread_words(row: Any) -> str:
    """Return how far judges differ on an attribute, "" where there is none (the side)."""
    ends = ("judge_spread", "judge_spread_lower", "judge_spread_upper")
    return "" if np.isnan(row["judge_spread"]) else rounded(*(row[e] for e in ends))[0]


def new_item_row(name: str, row: Any) -> dict[str, str]:
    """Return one new item as the table tells it."""
    rate, lower, upper = (100 * row[f"win_rate{end}"] for end in ("", "_lower", "_upper"))
    return {
        "name": name,
        "rate": f"{rate:.0f} %",
        "interval": f"{lower:.0f} to {upper:.0f}",
        "best": f"{percent(row['beats_best'])} %",
        "outside": f"{int(row['outside'])}" if row["outside"] else "",
    }
