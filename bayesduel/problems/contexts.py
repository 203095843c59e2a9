"""Duels of items whose attributes, their contexts, are drawn anew in every round.

``Pr(i beats j) = F((x_i - x_j)'z)`` with the contexts x of the round and an unknown preference
vector z that stays. F is logistic, probit, or linear: (1 + x) / 2 between 0 and 1.

References
----------
Saha, "Optimal algorithms for stochastic contextual preference bandits", NeurIPS 2021, for the
problem and its regret; Bengs, Saha & Hüllermeier, "Stochastic contextual dueling bandits under
linear stochastic transitivity models", ICML 2022, for other links and weak regret.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import erfc, sqrt
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet
from bayesduel.beliefs.logistic_laplace import overwrite, sigmoid
from bayesduel.jit import compiled
from bayesduel.problems.problem import Problem
from bayesduel.system.arguments import check_one_of, numbers
from bayesduel.system.settings import Settings

__all__ = ["Contexts", "ContextualDuels", "draw_contexts", "win_chance"]

LINKS = ("logistic", "probit", "linear")


class Contexts(NamedTuple):
    """How compiled code draws and judges the items of a round."""

    ball: bool  # whether contexts are uniform in the unit ball; otherwise standard normal
    # Contexts of a table, one of which each item of a round has, shape (N, n); N = 0 without one.
    table: np.ndarray
    link: int  # place in ``LINKS``
    preference: np.ndarray  # shape (n,)
    rng: np.random.Generator


@compiled
def draw_contexts(contexts, attributes, utility, worth):
    """Draw a round: write its contexts (m, n), and the utility and the worth of each item (m,)."""
    m, n = attributes.shape
    if len(contexts.table) > 0:
        drawn = np.empty((m, n))
        for k in range(m):
            row = contexts.rng.integers(0, len(contexts.table))
            overwrite(drawn[k], contexts.table[row])
    else:
        drawn = contexts.rng.standard_normal((m, n))
    if contexts.ball:
        for k in range(m):
            radius = contexts.rng.random() ** (1 / n)
            length = radius / sqrt(drawn[k] @ drawn[k])
            for a in range(n):
                drawn[k, a] *= length
    for k in range(m):
        overwrite(attributes[k], drawn[k])
    overwrite(utility, np.dot(drawn, contexts.preference))
    overwrite(worth, utility - utility.max())


@compiled
def win_chance(link, x):
    """Return the chance to win of an item that is better by the utility `x`."""
    if link == 0:
        return sigmoid(x)
    if link == 1:
        return erfc(-x / sqrt(2.0)) / 2
    return min(max((1 + x) / 2, 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class ContextualDuels(Settings, Problem):
    """A family of problems: duels of items whose contexts are drawn anew in every round.

    An item is worth its utility x'z, less that of the best item of the round. All policies meet
    the same rounds.

    Parameters
    ----------
    n_arms
        How many items a round has, at least 2.
    n_attributes
        Length of a context, at least 1.
    contexts
        "normal", standard normal, or "ball", uniform in the unit ball; or a table of contexts,
        shape (N, n_attributes), N >= 2, finite: each item of a round has a row of it, drawn with
        replacement.
    link
        "logistic", "probit" or "linear", the chance to win by the difference in utility.
    norm
        Length of the preference vector, > 0; its direction is drawn for every replication.
    preference
        The preference vector itself, n_attributes finite numbers, in place of one that is drawn.

    Examples
    --------
    >>> family = bd.problems.ContextualDuels(n_arms=5, n_attributes=3)
    >>> trace = bd.simulate(bd.policies.CoLSTIM(), family, 100, seed=0)
    >>> bd.regret(trace).name, bd.regret(trace, "weak").name
    ('item_duel', 'weak')

    Contexts of a table of one's own:

    >>> users = np.random.default_rng(0).random((40, 3))
    >>> family = bd.problems.ContextualDuels(n_arms=5, n_attributes=3, contexts=users)
    >>> bd.simulate(bd.policies.MaxInP(), family, 100, seed=0)["trace"]["worth"].shape
    (1, 1, 40)
    """

    n_arms: int = 10
    n_attributes: int = 5
    contexts: Any = "normal"
    link: Literal["logistic", "probit", "linear"] = "logistic"
    norm: float = 1.0
    preference: tuple[float, ...] | None = None
    setting: ClassVar[str] = "items"
    is_family: ClassVar[bool] = True
    best: ClassVar[float] = 0.0
    source: ClassVar[str] = "contexts drawn for every round, after Saha, NeurIPS 2021"
    ranges: ClassVar = {
        "n_arms": "at least 2",
        "n_attributes": "at least 1",
        "norm": "positive and finite",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.contexts, str):
            rows = numbers(self.contexts, "contexts")
            several = rows.ndim == 2 and len(rows) >= 2
            if not several or rows.shape[1] != self.n_attributes:
                raise ValueError(
                    f"contexts should have shape (N, {self.n_attributes}), N >= 2, got {rows.shape}"
                )
            if not np.isfinite(rows).all():
                raise ValueError("contexts should be finite, got infinite or missing numbers")
            contexts = tuple(tuple(row) for row in rows.tolist())
            object.__setattr__(self, "contexts", contexts)
        else:
            check_one_of(self.contexts, "contexts", ("normal", "ball"))
        if self.preference is not None:
            z = np.array(numbers(self.preference, "preference"))
            if z.shape != (self.n_attributes,) or not np.isfinite(z).all():
                raise ValueError(
                    f"preference should be {self.n_attributes} finite numbers, one per attribute, "
                    f"got {self.preference}"
                )
            object.__setattr__(self, "preference", tuple(z.tolist()))

    @property
    def name(self) -> str:
        """The name in plots and traces."""
        drawn = self.contexts
        if not isinstance(drawn, str):
            drawn = f"{len(drawn):,} contexts"
        made = f"{self.n_arms:,} of {self.n_attributes}, {drawn}, {self.link}"
        return f"contextual-duels ({made})"

    @property
    def offer(self) -> ItemSet:
        """The set of items before the first round: all contexts are 0."""
        empty = np.zeros((self.n_arms, self.n_attributes), order="F")
        return ItemSet(empty, np.ones(1), False)

    @property
    def utility(self) -> np.ndarray:
        """Utility of each item before the first round, shape (m,): 0."""
        return np.zeros(self.n_arms)

    worth = utility

    @cached_property
    def typical(self) -> float:
        """Expected worth of an item drawn at random, less than 0."""
        from scipy import integrate, stats

        if not isinstance(self.contexts, str):
            return self._typical_of_table()
        half = (self.n_attributes + 1) / 2  # a coordinate in the ball is a scaled Beta
        law = stats.norm if self.contexts == "normal" else stats.beta(half, half, -1, 2)
        m = self.n_arms
        length = self.norm
        if self.preference is not None:
            length = float(np.linalg.norm(self.preference))

        def tails(x: float) -> float:
            """Return the chance that the largest of m is above x, less that it is below -x."""
            return float(1 - law.cdf(x) ** m - law.cdf(-x) ** m)

        largest, _ = integrate.quad(tails, 0, np.inf)
        return -length * float(largest)

    def _typical_of_table(self) -> float:
        """Return the mean utility of a row less the mean of the largest of a round's rows."""
        table = np.array(self.contexts)
        utility = np.sort(table @ np.array(self.preference, float))
        share = np.linspace(0.0, 1.0, len(utility) + 1)
        below = share**self.n_arms
        largest = utility @ np.diff(below)
        return float(utility.mean() - largest)

    def rounds(self, rng: np.random.Generator) -> Contexts:
        """Return how compiled code draws the items of each round by `rng`."""
        z = np.array(self.preference, float)
        table = np.empty((0, self.n_attributes))
        if not isinstance(self.contexts, str):
            table = np.array(self.contexts)
        link = LINKS.index(self.link)
        return Contexts(self.contexts == "ball", table, link, z, rng)

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a problem of the family; itself, if its preference vector is given."""
        if self.preference is not None:
            return self
        z = rng.standard_normal(self.n_attributes)
        scale = self.norm / np.linalg.norm(z)
        return replace(self, preference=tuple(z * scale))
