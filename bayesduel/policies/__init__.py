"""Policies: which pair to duel next. One paper's algorithm a file.

A policy is a frozen dataclass of hyperparameters with ``init(n_arms) -> Memory`` and
``select``, the compiled rule ``select(belief, memory, t, rng) -> (i, j)``. The rule reads
the belief and may write its memory's arrays and nothing else; t counts the duel about to
be chosen, from 1. Each has `source` and `guarantee`, one line each. ``dts.py`` is the
pattern to read first.
"""

from bayesduel.policies.dts import DTS
from bayesduel.policies.rucb import RUCB
from bayesduel.policies.uniform import Uniform

__all__ = ["DTS", "RUCB", "Uniform"]
