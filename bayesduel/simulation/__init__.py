"""Policies played on problems: traces, regret and success."""

from bayesduel.simulation.experiment import recorded_times
from bayesduel.simulation.simulate import simulate
from bayesduel.simulation.trace import open_trace

__all__ = ["open_trace", "recorded_times", "simulate"]
