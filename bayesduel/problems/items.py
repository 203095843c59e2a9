"""Problems of items with attributes: pulls of one item, or duels of two.

``Pr(item u pays) = logistic(u'z)``, and ``Pr(u beats w) = logistic((u - w)'z)``.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesduel.beliefs.item_belief import ItemSet
from bayesduel.problems.problem import Problem
from bayesduel.system.arguments import numbers

__all__ = ["ItemDuels", "ItemPulls", "SpherePulls"]


@dataclass(frozen=True, eq=False)
class ItemPulls(Problem):
    """Pulls of items: an item is rewarded with probability logistic(u'z).

    Parameters
    ----------
    attributes
        Shape (m, n), m >= 2, finite.
    preference
        The true vector z, shape (n,).
    values
        What a success of each item is worth, shape (m,), positive. Default: 1.

    Examples
    --------
    >>> bd.problems.ItemPulls(np.eye(3), np.array([1.0, 0.5, 0.0])).setting
    'items'
    """

    attributes: np.ndarray
    preference: np.ndarray
    values: np.ndarray | None = None
    name: str = "items"
    source: str = ""
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        attributes = np.asfortranarray(np.array(numbers(self.attributes, "attributes")))
        table = attributes.ndim == 2 and attributes.shape[1] >= 1
        if not table or len(attributes) < 2:
            raise ValueError(f"attributes should have shape (m, n), m >= 2, got {attributes.shape}")
        preference = np.array(numbers(self.preference, "preference"))
        if preference.shape != attributes.shape[1:]:
            raise ValueError(
                f"preference should have shape {attributes.shape[1:]}, one entry per attribute, "
                f"got {preference.shape}"
            )
        for name, array in (("attributes", attributes), ("preference", preference)):
            wrong = ~np.isfinite(array)
            if wrong.any():
                first = np.argwhere(wrong)[0]
                place = tuple(first.tolist())
                raise ValueError(f"{name} should be finite, got {array[place]} at {place}")
        values = np.ones(1)
        if self.values is not None:
            values = np.array(numbers(self.values, "values"))
            shape = attributes.shape[:1]
            if values.shape != shape:
                raise ValueError(
                    f"values should have shape {shape}, one per item, got {values.shape}"
                )
        if not ((values > 0) & (values < inf)).all():
            raise ValueError("values should be positive and finite")
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "preference", preference)
        object.__setattr__(self, "values", values)

    @property
    def n_arms(self) -> int:
        """Number of items."""
        return len(self.attributes)

    @property
    def offer(self) -> ItemSet:
        """The set of items, as policies see it."""
        return ItemSet(self.attributes, np.asarray(self.values), False)

    @cached_property
    def utility(self) -> np.ndarray:
        """U'z of each item, shape (m,)."""
        return self.attributes @ self.preference

    @cached_property
    def worth(self) -> np.ndarray:
        """Expected reward of each item, shape (m,)."""
        return self.values * expit(self.utility)

    @property
    def best(self) -> float:
        """Expected reward of the best item."""
        return float(self.worth.max())

    @property
    def typical(self) -> float:
        """Expected reward of an item drawn at random."""
        return float(self.worth.mean())

    def pull(self, arm: int, coin: float) -> float:
        """Return 1 if item `arm` pays, else 0, by a uniform `coin` in [0, 1)."""
        return float(coin < expit(self.utility[arm]))

    def __repr__(self) -> str:
        m, n = self.attributes.shape
        return f"{type(self).__name__}({self.name!r}, {m:,} items, {n} attributes)"


class ItemDuels(ItemPulls):
    """Duels of items: u beats w with probability logistic((u - w)'z).

    Parameters
    ----------
    attributes, preference, name, source
        As for :class:`ItemPulls`, whose errors it has.

    Examples
    --------
    >>> bd.problems.ItemDuels(np.eye(3), np.array([1.0, 0.5, 0.0])).n_arms
    3
    """

    shows: ClassVar[int] = 2

    def __init__(
        self, attributes: Any, preference: Any, name: str = "item duels", source: str = ""
    ) -> None:
        super().__init__(attributes, preference, None, name, source)

    @cached_property
    def worth(self) -> np.ndarray:
        """Win probability of each item against the best, shape (m,); 1/2 for the best itself."""
        return expit(self.utility - self.utility.max())

    def duel(self, pair: tuple[int, int], coin: float) -> float:
        """Return 1 if the first item of `pair` wins, else 0, by a uniform `coin` in [0, 1)."""
        i, j = pair
        chance = expit(self.utility[i] - self.utility[j])
        return float(coin < chance)


@dataclass(frozen=True, eq=False)
class SpherePulls(Problem):
    """Pulls of unit vectors: any of them is rewarded with probability logistic(u'z).

    Parameters
    ----------
    preference
        The true vector z, shape (n,), n >= 2, finite and not zero.

    Examples
    --------
    >>> bd.problems.SpherePulls(np.array([1.0, 0.5])).setting
    'items'
    """

    preference: np.ndarray
    name: str = "sphere"
    source: str = ""
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1
    typical: ClassVar[float] = 0.5  # expected reward of an item drawn uniformly, by symmetry

    def __post_init__(self) -> None:
        z = np.array(numbers(self.preference, "preference"))
        vector = z.ndim == 1 and len(z) >= 2
        if not vector or not np.isfinite(z).all() or not z.any():
            raise ValueError(
                f"preference should be finite, not zero, of shape (n,), n >= 2, got {z}"
            )
        object.__setattr__(self, "preference", z)

    @property
    def n_arms(self) -> int:
        """Number of items with an index: the standard basis."""
        return len(self.preference)

    @property
    def offer(self) -> ItemSet:
        """The set of items, as policies see it: the standard basis and the whole sphere."""
        basis = np.eye(len(self.preference), order="F")
        return ItemSet(basis, np.ones(1), True)

    @property
    def best(self) -> float:
        """Expected reward of the best item, z over its length."""
        return float(expit(np.linalg.norm(self.preference)))

    def pull(self, aim: np.ndarray, coin: float) -> float:
        """Return 1 if the unit vector `aim`, shape (n,), pays, else 0, by a uniform `coin`."""
        chance = expit(np.asarray(aim) @ self.preference)
        return float(coin < chance)

    def __repr__(self) -> str:
        return f"SpherePulls({self.name!r}, {self.n_arms} attributes)"
