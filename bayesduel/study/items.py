"""Items of a study (prompts, cases): which one a ticket is about, and what a judge has seen."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesduel.study.arms import texts
from bayesduel.study.schema import Row

__all__ = ["SeenItems", "checked_items", "chosen_items"]


def checked_items(items: Any) -> tuple[str, ...]:
    """Return the labels of the items of a study; () for None.

    Raises TypeError or ValueError if they are not texts that differ.
    """
    if items is None:
        return ()
    found = texts(items, "items")
    if not found:
        raise ValueError("items should be at least one label, got none")
    if len(set(found)) < len(found):
        twice = next(label for k, label in enumerate(found) if label in found[:k])
        raise ValueError(f"items should differ, got {twice!r} twice")
    return tuple(found)


class SeenItems:
    """What a judge is not to be asked again.

    rows: the tickets that the judge answered, skipped or has open.
    n_arms, n_items: how many arms and items there are; without items a judge may see a pair again
        unless it was skipped.
    once: whether a pair on an item is to be seen once: not where it is not known who judges.
    """

    def __init__(self, rows: Iterable[Row], n_arms: int, n_items: int, *, once: bool) -> None:
        self.once = once
        self._pairs: dict[frozenset[int], set[int | None]] = {}
        self._shape, self._n_items = (n_arms, n_arms), n_items
        for row in rows:
            if n_items or row.state == "skipped":
                self._pairs.setdefault(frozenset((row.left, row.right)), set()).add(row.item)

    def items(self, i: int, j: int) -> set[int | None]:
        """Return the items on which the judge saw a pair."""
        return self._pairs.get(frozenset((i, j)), set())

    @property
    def pairs(self) -> np.ndarray | None:
        """Whether a pair is not to be asked on any item, shape (K, K); None where all may be."""
        found = np.zeros(self._shape, bool)
        for pair, items in self._pairs.items():
            i, j = tuple(pair)
            found[i, j] = found[j, i] = len(items) >= self._n_items
        return found if found.any() else None


def chosen_items(
    pairs: Sequence[tuple[int, int]],
    n_items: int,
    used: Iterable[Any],
    seen: SeenItems,
    rng: np.random.Generator,
) -> list[tuple[int, int, int | None, None]]:
    """Return the pairs with an item each; none that the judge saw the pair on.

    Where there is no such item the pair is left out. The item is the one on which the pair met
    least often, of these the one used least often in all, of these one at random.

    n_items: how many items there are; with none the pairs have None.
    used: left, right and item of the tickets so far, and how many have them.
    seen: what the judge is not to be asked again.
    rng: source of the choice among equals.
    """
    if not n_items:
        return [(i, j, None, None) for i, j in pairs]
    total = np.zeros(n_items)
    met: dict[frozenset[int], np.ndarray] = {}
    for i, j, item, times in used:
        if item is not None:
            total[item] += times
            met.setdefault(frozenset((i, j)), np.zeros(n_items))[item] += times
    found: list[tuple[int, int, int | None, None]] = []
    gone: dict[frozenset[int], set[int | None]] = {}
    for i, j in pairs:
        pair = frozenset((i, j))
        out = gone.setdefault(pair, set(seen.items(i, j)))
        own = met.setdefault(pair, np.zeros(n_items))
        free = [k for k in rng.permutation(n_items).tolist() if k not in out]
        if free:
            item = min(free, key=lambda k: (own[k], total[k]))
            found.append((i, j, item, None))
            if seen.once:
                out.add(item)
            own[item] += 1
            total[item] += 1
    return found
