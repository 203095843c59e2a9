"""Shards: parts of a log that are counted apart, wherever they are, and merged.

A counted log has a row for each different vote: the same arms, outcome, judge, covariates and
whatever else was read, with the number of votes that the row stands for (its weight) and the name
of the shard. That is all that a fit reads of votes: counts by cell, and by judge within a cell,
from which cluster-robust errors are computed. Merging is the union of the rows of all shards, so
that a shard that comes twice counts once, in any order.
"""

from dataclasses import replace

import numpy as np

from bayesduel.data.votes import ROLES, Votes, distinct
from bayesduel.system.arguments import shown_value

__all__ = ["SHARD", "columns", "counted"]

SHARD = "shard"  # the column that names it
WHOLE = ("left", "right", "outcome", *ROLES, "grade")  # columns of votes, in order of sorting
NUMBERS = ("margin", "time", "share", "sampling_weight")


def counted(votes: Votes, shard: str) -> Votes:
    """Return votes with equal ones as one row, by shard; see ``Duels.counted``."""
    if not isinstance(shard, str) or not shard.strip():
        raise TypeError(f"shard should be the name of a part of a log, got {shown_value(shard)}")
    code = np.zeros(len(votes), dtype=np.int32)
    own = {SHARD: (code, (shard.strip(),))}
    votes = replace(votes, kept=own | dict(votes.kept))
    first, place = distinct(*columns(votes))
    weight = np.bincount(place, votes.weight)
    return replace(votes.take(first), weight=weight.astype(np.int64))


def columns(votes: Votes) -> list[np.ndarray]:
    """Return the columns of votes as whole numbers, except the weight."""
    own = votes.columns
    found = [own[name] for name in WHOLE if name in own]
    for _, (code, _) in sorted(votes.kept.items()):
        found.append(code)
    numbers = [own[name] for name in NUMBERS if name in own]
    if votes.covariates is not None:
        numbers += [*votes.covariates.T]
    for column in numbers:
        _, rank = np.unique(column, return_inverse=True)
        found.append(rank)
    return found
