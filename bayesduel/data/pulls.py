"""Pulls: a log of items shown one at a time, with a reward of 0 or 1."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.system.arguments import check_labels, column_of, labels_of, numbers

__all__ = ["Pulls"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Pulls:
    """Counts of items shown one at a time: bought or not, clicked or not, passed or not.

    Attributes
    ----------
    arms
        Labels of the items, in alphabetical order, shape (K,).
    n
        Number of times each was shown, shape (K,).
    successes
        Number of rewards, shape (K,).
    source
        Where the log came from.

    Examples
    --------
    >>> bd.Pulls.from_rows(["a", "b", "a"], [1, 0, 1]).successes
    array([2., 0.])
    """

    arms: tuple[str, ...]
    n: np.ndarray
    successes: np.ndarray
    source: str = "memory"

    def __post_init__(self) -> None:
        check_labels(self.arms)
        n = numbers(self.n, "n").copy()
        successes = numbers(self.successes, "successes").copy()
        n_arms = len(self.arms)
        if n_arms == 0:
            raise ValueError("arms should be those of at least one pull, got none")
        if len(set(self.arms)) < n_arms:
            raise ValueError(f"arms should be distinct labels, got {list(self.arms)[:8]}")
        for name, counts in (("n", n), ("successes", successes)):
            if counts.shape != (n_arms,):
                raise ValueError(f"{name} should have shape ({n_arms},), got {counts.shape}")
            whole = (counts == np.floor(counts)) & np.isfinite(counts)
            if not (whole & (counts >= 0)).all():
                raise ValueError(f"{name} should be whole numbers >= 0")
            counts.setflags(write=False)
        wrong = np.flatnonzero((n < 1) | (successes > n))
        if wrong.size:
            k = int(wrong[0])
            raise ValueError(
                f"successes should be at most n, and n at least 1, got {successes[k]:g} of "
                f"{n[k]:g} for {self.arms[k]!r}"
            )
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "successes", successes)

    @classmethod
    def from_rows(
        cls, items: Iterable[Any], rewards: Iterable[Any], *, source: str = "memory"
    ) -> "Pulls":
        """Build a log from one entry per pull: the item shown, and a reward of 0 or 1.

        Raises
        ------
        ValueError
            If lengths differ, or a reward is neither 1 nor 0; the message gives the row, from 0.
        """
        labels = labels_of(items, "items")
        paid = column_of(rewards, "rewards")
        if len(labels) != len(paid):
            raise ValueError(
                f"rewards should have length {len(labels)} like items, got {len(paid)}"
            )
        wrong = np.flatnonzero((paid != 0) & (paid != 1))
        if wrong.size:
            row = wrong[0]
            got = paid[row]
            raise ValueError(f"rewards should be 0 or 1, got {got} at row {row}")
        if None in labels:
            row = labels.index(None)
            raise ValueError(f"items should be labels, got nothing at row {row}")
        arms, place = np.unique(np.array(labels, dtype=str), return_inverse=True)
        return cls(
            arms=tuple(str(a) for a in arms),
            n=np.bincount(place, minlength=len(arms)),
            successes=np.bincount(place, paid, minlength=len(arms)),
            source=source,
        )

    @property
    def n_arms(self) -> int:
        """Number of items."""
        return len(self.arms)

    @property
    def n_pulls(self) -> int:
        """Number of pulls."""
        return int(self.n.sum())

    def __len__(self) -> int:
        return self.n_pulls

    def __repr__(self) -> str:
        share = self.successes.sum() / self.n_pulls
        return f"<Pulls: {self.n_pulls:,} of {self.n_arms:,} items, {share:.0%} paid>"
