"""The three interactions of a policy with a problem, by setting: pairs, margins, items."""

from typing import Any

from bayesduel.simulation.item_run import ItemRun, play_item_duels, play_pulls, play_sphere
from bayesduel.simulation.margin_run import MarginRun, play_margins, top_set
from bayesduel.simulation.pair_run import PairRun, play_pairs, recommend
from bayesduel.simulation.run import Layout, Run, Truth, driver

__all__ = [
    "RUNS",
    "Layout",
    "Run",
    "Truth",
    "driver",
    "play_item_duels",
    "play_margins",
    "play_pairs",
    "play_pulls",
    "play_sphere",
    "recommend",
    "top_set",
]

RUNS: dict[str, Any] = {"pairs": PairRun, "margins": MarginRun, "items": ItemRun}
