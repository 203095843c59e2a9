"""Policies played on problems: traces, regret and success."""

from bayesduel.simulation.simulate import (
    open_trace,
    recorded_times,
    simulate,
)

__all__ = [
    "open_trace",
    "recorded_times",
    "simulate",
]
