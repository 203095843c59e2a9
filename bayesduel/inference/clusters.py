"""Clusters of votes: by judge, by group or by both, and which of them a log needs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesduel.data.votes import distinct
from bayesduel.models.cells import levels_of

__all__ = [
    "BOTH",
    "MOST_LONE",
    "VOTE",
    "clusterings",
    "count_clusters",
    "deviating",
    "needed",
    "terms_by_cluster",
    "why_not_robust",
    "with_lone_votes",
    "without_label",
]

BOTH = "judge and group"
# Votes that are clusters of their own where equal votes are counted: as votes they take 1 GB, 100
# bytes each (docs/validation/scale.md).
MOST_LONE = 10_000_000
VOTE = "vote"  # each a cluster of its own, where votes have sampling weights


def with_lone_votes(duels: Any) -> Any:
    """Return the log with a row for each vote that is a cluster of its own, whatever its weight.

    A vote is a duel, or a ranking.

    Those are votes without judge or group and, where there are sampling weights, all. None if they
    are over 10,000,000.
    """
    votes = duels.votes
    if votes is None or (votes.weight == 1).all():
        return duels
    alone = np.full(len(votes), votes.sampling_weight is not None)
    for label in (votes.judge, votes.group):
        if label is not None:
            alone |= label < 0
    if not alone.any():
        return duels
    if votes.weight[alone].sum() > MOST_LONE:
        return None
    copies = np.where(alone, votes.weight, 1)
    rows = np.repeat(np.arange(len(votes)), copies)
    weight = np.where(alone, 1, votes.weight)
    return duels.with_votes(rows, weight[rows])


def clusterings(duels: Any) -> dict[str, np.ndarray]:
    """Return the cluster of each vote, by "judge" and by "group", where the log repeats any.

    A vote without judge or group is a cluster of its own. Where votes have sampling weights, also
    by "vote".
    """
    votes = duels.votes
    found: dict[str, np.ndarray] = {}
    if votes is None:
        return found
    for name, label in (("judge", votes.judge), ("group", votes.group)):
        if label is None:
            continue
        alone = -1 - np.arange(len(label))
        _, place = distinct(np.where(label < 0, alone, label))
        if np.bincount(place, votes.weight).max() > 1:
            found[name] = place
    if votes.sampling_weight is not None:
        found[VOTE] = np.arange(len(votes))
    return found


def count_clusters(cluster: np.ndarray) -> int:
    """Return how many clusters there are, numbered from 0."""
    return int(cluster.max()) + 1


def without_label(duels: Any, found: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Return how many votes have no judge, or no group, by the clusterings found that lack some."""
    counts = {name: duels.votes.n_without(name) for name in found}
    return {name: n for name, n in counts.items() if n}


def terms_by_cluster(
    duels: Any, model: Any, found: Mapping[str, np.ndarray]
) -> dict[str, tuple[Any, ...]]:
    """Return the terms that have coefficients for each cluster, by the names of clusterings.

    Those are deviations of arms by judge, the side advantage of each judge, and the like. A column
    may have another name: a prompt that is kept may be the group, too.
    """
    terms: dict[str, tuple[Any, ...]] = dict.fromkeys(found, ())
    for part in model.terms.by_level:
        if part in model.terms.arms:
            continue
        level = levels_of(duels, part.by)[0]
        for name, place in found.items():
            complete = level.min() >= 0
            n_both = _count_both(level, place)
            same = n_both == count_clusters(level) == count_clusters(place)
            if name == part.by or (complete and same):
                terms[name] += (part,)
    return terms


def deviating(terms: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the term of deviations of arms by each of the clusterings that has one, by its name.

    terms: what `terms_by_cluster` returned. Votes of a cluster are independent given these terms.
    """
    found = {}
    for name, parts in terms.items():
        own = [part for part in parts if part.deviates]
        if own:
            found[name] = own[-1]
    return found


def needed(found: Mapping[str, np.ndarray]) -> str:
    """Return the clustering that covers all of those found: the rule of "auto".

    By judge or by group where the log repeats one of them only, or where each cluster of one lies
    within a cluster of the other (then by the larger); else by both. "model" where there is none.
    """
    labelled = {name: place for name, place in found.items() if name != VOTE}
    found = labelled or found
    if len(found) < 2:
        return next(iter(found), "model")
    judge = found["judge"]
    group = found["group"]
    n_both = _count_both(judge, group)
    if n_both == count_clusters(group):
        return "judge"
    if n_both == count_clusters(judge):
        return "group"
    return BOTH


def _count_both(one: np.ndarray, other: np.ndarray) -> int:
    """Return how many pairs of clusters of two clusterings share a vote."""
    first, _ = distinct(one, other)
    return len(first)


def why_not_robust(model: Any) -> str:
    """Return why the errors of a model cannot be made cluster-robust, or ""."""
    if not model.why_not("conjugate"):
        return "each pair has a parameter of its own: use one majority vote for each unit"
    if model.response.coupled:
        return "the votes on a pair share a parameter that the likelihood integrates out"
    why = model.terms.why_nuts
    if why:
        return f"the posterior has no mode at which votes add up: {why}"
    return ""
