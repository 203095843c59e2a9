"""Items of a study (prompts, cases): which one a ticket is about, and what a judge has seen."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from bayesduel.study.arms import texts
from bayesduel.study.schema import Question, Row

__all__ = ["SeenItems", "checked_items", "chosen_items"]

ANY_NUMBER = 2**31 - 1  # of tickets: more than a call asks for


def checked_items(items: Sequence[str] | None) -> tuple[str, ...]:
    """Return the labels of the items of a study; () for None.

    Raises TypeError or ValueError if they are not texts that differ.
    """
    if items is None:
        return ()
    found = texts(items, "items")
    if not found:
        raise ValueError("items should be at least one label, got an empty list")
    for k, label in enumerate(found):
        if label in found[:k]:
            raise ValueError(f"items should have each label once, got {label!r} twice")
    return tuple(found)


class SeenItems:
    """What a judge is not to be asked again.

    rows: the tickets that the judge answered, skipped or has open.
    n_arms, n_items: how many arms and items there are.
    once: whether a pair (on an item, where there are any) is to be seen once: not where it is not
        known who judges.
    """

    def __init__(self, rows: Iterable[Row], n_arms: int, n_items: int, *, once: bool) -> None:
        self.once = once
        self._pairs: dict[frozenset[int], set[int | None]] = {}
        self._shape = n_arms, n_arms
        self._n_places = max(n_items, 1)
        for row in rows:
            pair = frozenset((row.left, row.right))
            self._pairs.setdefault(pair, set()).add(row.item)

    def items(self, i: int, j: int) -> set[int | None]:
        """Return the items on which the judge saw a pair; of no items None."""
        return self._pairs.get(frozenset((i, j)), set())

    @property
    def room(self) -> np.ndarray | None:
        """How often a pair may be asked now, shape (K, K); None where all may be, at any number."""
        if not self.once and not self._pairs:
            return None
        most = self._n_places if self.once else ANY_NUMBER
        found = np.full(self._shape, most)
        for pair, items in self._pairs.items():
            i, j = tuple(pair)
            seen_all = len(items) >= self._n_places
            n_left = 0 if seen_all else most - len(items)
            found[i, j] = n_left
            found[j, i] = n_left
        return found

    @property
    def pairs(self) -> np.ndarray | None:
        """Whether a pair is not to be asked on any item, shape (K, K); None where all may be."""
        room = self.room
        return None if room is None else room < 1


def chosen_items(
    pairs: Sequence[tuple[int, int]],
    n_items: int,
    used: Iterable[Any],
    seen: SeenItems,
    rng: np.random.Generator,
    gold: Collection[tuple[frozenset[int], int | None]] = (),
) -> list[Question]:
    """Return the pairs with an item each; none that the judge saw the pair on.

    Where there is no such item the pair is left out. The item is one that is no gold question of
    the pair where there is one, the one on which the pair met least often, of these the one used
    least often in all, of these one at random.

    n_items: how many items there are; with none the pairs have None.
    used: left, right and item of the tickets so far, and how many have them.
    seen: what the judge is not to be asked again.
    rng: source of the choice among equals.
    gold: pairs and items of the gold questions that the judge may still be asked.
    """
    if not n_items:
        return [Question(i, j) for i, j in pairs]
    total = np.zeros(n_items)
    met: dict[frozenset[int], np.ndarray] = {}
    for i, j, item, times in used:
        if item is not None:
            total[item] += times
            of_pair = met.setdefault(frozenset((i, j)), np.zeros(n_items))
            of_pair[item] += times
    found: list[Question] = []
    gone: dict[frozenset[int], set[int | None]] = {}
    for i, j in pairs:
        pair = frozenset((i, j))
        out = gone.setdefault(pair, set(seen.items(i, j)))
        own = met.setdefault(pair, np.zeros(n_items))
        free = [k for k in rng.permutation(n_items).tolist() if k not in out]
        if free:
            item = min(free, key=lambda k: ((pair, k) in gold, own[k], total[k]))
            found.append(Question(i, j, item))
            if seen.once:
                out.add(item)
            own[item] += 1
            total[item] += 1
    return found
