"""The arms of a study, the pairs that it may ask for, and what they cost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesduel.data.health import DisconnectedWarning
from bayesduel.system import arguments
from bayesduel.system.arguments import check_type, check_utf8, finite, shown_value
from bayesduel.system.warnings import warn

__all__ = [
    "allowed_pairs",
    "check_pair",
    "checked_labels",
    "cost_matrix",
    "listed",
    "pair_costs",
    "required_duels",
    "required_matrix",
    "texts",
]


def listed(labels: Sequence[str], name: str = "arms") -> list[Any]:
    """Return labels as a list; raise TypeError unless they are several."""
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise TypeError(f"{name} should be a list of labels, got {shown_value(labels)}")
    return list(arguments.listed(labels, name))


def texts(labels: Sequence[str], name: str) -> list[str]:
    """Return labels as a list; raise TypeError or ValueError unless they are texts, none empty."""
    found = listed(labels, name)
    for label in found:
        if not isinstance(label, str) or not label.strip():
            got = shown_value(label)
            raise ValueError(f"each of {name} should be a text that is not empty, got {got}")
        check_utf8(label, f"{name} should be labels of UTF-8 text")
    return found


def checked_labels(arms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the labels of a study.

    Raises TypeError or ValueError if they are not at least two texts that differ by more than white
    space.
    """
    if arms is None:
        raise ValueError("a new study needs arms, such as arms=['tea', 'coffee'], got None")
    labels = texts(arms, "arms")
    seen: dict[str, str] = {}
    for label in labels:
        plain = " ".join(label.split())
        if plain in seen:
            earlier = seen[plain]
            got = f"{label!r} twice" if earlier == label else f"{earlier!r} and {label!r}"
            raise ValueError(
                f"arms should have different names (white space does not count), got {got}"
            )
        seen[plain] = label
    if len(labels) < 2:
        raise ValueError(f"a study needs at least two arms, got {labels}")
    return tuple(labels)


def allowed_pairs(
    pairs: Sequence[tuple[str, str]] | None, labels: Sequence[str]
) -> list[list[str]] | None:
    """Return the allowed pairs as lists of labels.

    Raises ValueError if a pair is none, or there is none.
    Warns DisconnectedWarning if the pairs do not connect all arms: across parts only the prior
    speaks.
    """
    if pairs is None:
        return None
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise TypeError(f"pairs should be a list of two arms each, got {shown_value(pairs)}")
    found = [check_pair(pair, labels, "pairs") for pair in arguments.listed(pairs, "pairs")]
    if not found:
        raise ValueError("pairs should have at least one pair of arms, got an empty list")
    parts = {label: {label} for label in labels}
    for a, b in found:
        if parts[a] is not parts[b]:
            joined = parts[a] | parts[b]
            for label in joined:
                parts[label] = joined
    if len(parts[labels[0]]) < len(labels):
        lost = next(label for label in labels if label not in parts[labels[0]])
        warn(
            f"The allowed pairs do not connect {labels[0]!r} with {lost!r}. Only the "
            "prior compares these two: allow more pairs.",
            DisconnectedWarning,
        )
    return found


def check_pair(pair: Any, labels: Collection[str], name: str) -> list[str]:
    """Return two labels as a list; raise ValueError unless they are those of different arms."""
    is_list = isinstance(pair, Sequence) and not isinstance(pair, str)
    texts = is_list and all(isinstance(label, str) for label in pair)
    if not texts or len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"{name} should name two different arms each, got {shown_value(pair)}")
    for label in pair:
        if label not in labels:
            raise ValueError(f"{name} should name arms of the study, got {label!r}")
    return [str(label) for label in pair]


def _by_pair(value: Any, name: str) -> Mapping[Any, Any]:
    """Return a mapping of pairs, empty for None; raise TypeError if it is not a mapping."""
    if value is None:
        return {}
    check_type(value, Mapping, name, "a dictionary by pair of labels")
    return value


def pair_costs(
    costs: Mapping[tuple[str, str], float] | None, labels: Collection[str]
) -> list[list[Any]]:
    """Return the costs as lists of two labels and a positive number."""
    found: list[list[Any]] = []
    for pair, cost in _by_pair(costs, "costs").items():
        if not 0 < finite(cost, "costs"):
            raise ValueError(
                f"costs should be positive and finite, got {shown_value(cost)} "
                f"for {shown_value(pair)}"
            )
        found.append([*check_pair(pair, labels, "costs"), float(cost)])
    return found


def required_duels(
    required: Mapping[tuple[str, str], int] | None,
    labels: Collection[str],
    allowed: list[list[str]] | None,
) -> list[list[Any]]:
    """Return the required pairs as lists of two labels and a number of duels.

    Raises ValueError if a pair is none or forbidden, or its number no whole number >= 1.
    """
    found: list[list[Any]] = []
    possible = None if allowed is None else {frozenset(pair) for pair in allowed}
    for pair, count in _by_pair(required, "required").items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(
                f"required should be whole numbers of duels >= 1, "
                f"got {shown_value(count)} for {shown_value(pair)}"
            )
        own = check_pair(pair, labels, "required")
        if possible is not None and frozenset(own) not in possible:
            raise ValueError(f"required should name allowed pairs, got {shown_value(pair)}")
        found.append([*own, count])
    return found


def required_matrix(
    required: Sequence[Sequence[Any]] | None, labels: Sequence[str], retired: set[int]
) -> np.ndarray | None:
    """Return how often each pair has to meet, shape (K, K); None where no pair has to."""
    if not required:
        return None
    index = {label: i for i, label in enumerate(labels)}
    found = np.zeros((len(labels), len(labels)))
    for a, b, count in required:
        i = index[a]
        j = index[b]
        if not {i, j} & retired:
            most = max(found[i, j], count)
            found[i, j] = most
            found[j, i] = most
    return found


def cost_matrix(
    values: Mapping[str, Any], labels: Sequence[str], retired: set[int]
) -> tuple[tuple[float, ...], ...] | None:
    """Return the cost of each pair, infinite where it is forbidden; None where each is 1.

    Raises ValueError if no pair is left.
    """
    if values["pairs"] is None and not values["costs"] and not retired:
        return None
    index = {label: i for i, label in enumerate(labels)}
    cost = np.ones((len(labels), len(labels)))
    if values["pairs"] is not None:
        cost[...] = np.inf
        for a, b in values["pairs"]:
            i = index[a]
            j = index[b]
            cost[[i, j], [j, i]] = 1.0
    for a, b, price in values["costs"]:
        i = index[a]
        j = index[b]
        if cost[i, j] < np.inf:  # else the pair is forbidden
            cost[[i, j], [j, i]] = price
    gone = sorted(retired)
    cost[gone] = np.inf
    cost[:, gone] = np.inf
    if np.isinf(cost).all():
        raise ValueError(
            "the study has no pair to ask, because every allowed pair has a retired arm "
            f"({', '.join(repr(labels[k]) for k in gone)}): restore an arm"
        )
    return tuple(tuple(row) for row in cost.tolist())
