"""Random problems of items: every replication draws new attributes and a new preference vector."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesduel.problems.items import ItemDuels, ItemPulls, SpherePulls
from bayesduel.problems.problem import Problem
from bayesduel.system.arguments import check_range
from bayesduel.system.settings import Settings

__all__ = ["LogisticDuels", "LogisticItems", "UnitSphere"]


@dataclass(frozen=True, kw_only=True)
class LogisticItems(Settings, Problem):
    """A family of problems: items uniform on the unit sphere, a preference vector of known length.

    Parameters
    ----------
    n_arms
        How many items, at least `n_attributes`.
    n_attributes
        Length of an attribute vector, at least 2.
    norm
        Length of the preference vector, > 0: the best conceivable item pays with chance
        logistic(norm).
    condition
        Ratio of the largest to the smallest mean square of the items along an axis, >= 1: with
        1 they lie evenly around the sphere, with more they are squeezed along some axes (their
        length is then below 1).
    gap
        If given, in (0, 1): the first item is the best that the (squeezed) sphere has (the order
        is shuffled in simulations), and every other one pays with a chance at least `gap` less,
        however many there are.

    Examples
    --------
    >>> problem = bd.problems.LogisticItems(n_arms=20)
    >>> trace = bd.simulate(bd.policies.LogisticUCB(), problem, 100, seed=0)
    >>> bd.regret(trace).dims
    ('policy', 'replication', 'time')
    """

    n_arms: int = 100
    n_attributes: int = 5
    norm: float = 3.0
    condition: float = 1.0
    gap: float | None = None
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1
    is_family: ClassVar[bool] = True
    kind: ClassVar[type[ItemPulls]] = ItemPulls
    ranges: ClassVar = {
        "n_attributes": "at least 2",
        "norm": "positive and finite",
        "condition": ">= 1 and finite",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self.n_arms, "n_arms", f"at least n_attributes = {self.n_attributes}")
        if self.gap is not None:
            most = expit(self.norm / np.sqrt(self.condition)) - 0.5
            if not 0 < self.gap < most:
                raise ValueError(
                    f"gap should be in (0, {most:.3g}), so that half of the items are far enough "
                    f"below the best, got {self.gap}"
                )

    @property
    def name(self) -> str:
        """The name in plots and traces."""
        gap = "" if self.gap is None else f", gap {self.gap:g}"
        squeezed = "" if self.condition == 1 else f", condition {self.condition:g}"
        what = "logistic-items" if self.shows == 1 else "logistic-duels"
        return f"{what} ({self.n_arms:,} of {self.n_attributes}{squeezed}{gap})"

    @property
    def source(self) -> str:
        """Description of how it is drawn."""
        return f"items on a sphere, preference of length {self.norm:g}; drawn for every run"

    def draw(self, rng: np.random.Generator) -> Any:
        n = self.n_attributes
        axes = np.geomspace(1.0, self.condition**-0.5, n)
        normal = rng.standard_normal((n, n))
        turn, _ = np.linalg.qr(normal)
        z = _directions(1, n, rng)[0] * self.norm

        def items(m: int) -> np.ndarray:
            return (_directions(m, n, rng) * axes) @ turn

        attributes = items(self.n_arms)
        if self.gap is not None:
            pull = axes * (turn @ z)  # the best point that the squeezed sphere has
            length = np.linalg.norm(pull)
            attributes[0] = (axes * pull / length) @ turn
            level = expit(length) - self.gap
            near = np.arange(1, self.n_arms)
            while near.size:
                chance = expit(attributes[near] @ z)
                near = near[chance > level]
                attributes[near] = items(len(near))
        return self.kind(attributes, z, name=self.name, source=self.source)


class LogisticDuels(LogisticItems):
    """As :class:`LogisticItems`, with two items shown at a time.

    Examples
    --------
    >>> policy, problem = bd.policies.LogisticDuelThompson(), bd.problems.LogisticDuels(n_arms=20)
    >>> bd.regret(bd.simulate(policy, problem, horizon=100, seed=0)).dims
    ('policy', 'replication', 'time')
    """

    shows: ClassVar[int] = 2
    kind: ClassVar[type[ItemPulls]] = ItemDuels


@dataclass(frozen=True, kw_only=True)
class UnitSphere(Settings, Problem):
    """A family of problems: every unit vector is an item, a preference vector of known length.

    Parameters
    ----------
    n_attributes
        Length of an attribute vector, at least 2.
    norm
        Length of the preference vector, > 0.

    Examples
    --------
    >>> bd.problems.UnitSphere(n_attributes=3)
    UnitSphere(n_attributes=3, norm=2.0)
    """

    n_attributes: int = 4
    norm: float = 2.0
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1
    is_family: ClassVar[bool] = True
    ranges: ClassVar = {"n_attributes": "at least 2", "norm": "positive and finite"}

    @property
    def n_arms(self) -> int:
        """How many items have an index: the standard basis."""
        return self.n_attributes

    @property
    def name(self) -> str:
        """The name in plots and traces."""
        return f"unit-sphere ({self.n_attributes} attributes)"

    @property
    def source(self) -> str:
        """Description of how it is drawn."""
        return f"all unit vectors, preference of length {self.norm:g}; drawn for every run"

    def draw(self, rng: np.random.Generator) -> Any:
        z = _directions(1, self.n_attributes, rng)[0] * self.norm
        return SpherePulls(z, name=self.name, source=self.source)


def _directions(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return `m` uniform unit vectors, shape (m, n)."""
    x = rng.standard_normal((m, n))
    return x / np.linalg.norm(x, axis=1, keepdims=True)
