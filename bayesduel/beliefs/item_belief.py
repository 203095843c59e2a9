"""Beliefs about items with attributes: counts, and the posterior of a preference vector.

A pull shows one item u and is rewarded with probability logistic(u'z); a duel shows two, and the
difference of their attributes takes the place of u. The belief holds the counts of items,
the mode of z and its curvature, so memory grows with the table of attributes and the square of
their number, never with pairs.

The mode is recomputed over all tallied rewards whenever their number has grown by a tenth; in
between it is updated with every reward (``logistic_laplace.py``). Up to 4,096 different
directions are tallied; after that the normal approximation of the posterior becomes the prior of
the following rewards.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.logistic_laplace import learn, overwrite, refit
from bayesduel.jit import compiled
from bayesduel.system.settings import Settings

__all__ = [
    "Counts",
    "ItemBelief",
    "ItemSet",
    "Logistic",
    "finite_only",
    "paid_best",
    "record_aimed",
    "record_duel",
    "record_pull",
    "record_weighted",
]

# Directions kept as they were shown; when it is full the posterior becomes the prior. More: a refit
# by Newton's method takes longer, and fewer of them are approximated by a normal prior; not tuned.
WINDOW = 4096


class ItemSet(NamedTuple):
    """The items that a policy may show."""

    # Shape (m, n), in column order; on the sphere the standard basis, shape (n, n).
    attributes: np.ndarray
    # Value of a success of each item, shape (m,); shape (1,) where all are equal.
    values: np.ndarray
    # Whether any unit vector may be shown; its index is then n, and the vector itself is ``aim`` in
    # the policy's memory.
    sphere: bool


class ItemBelief(NamedTuple):
    """The belief about items after some pulls or duels."""

    # The items: see :class:`ItemSet`.
    attributes: np.ndarray
    values: np.ndarray
    sphere: bool
    learns: bool  # whether `mode` and `precision` are kept; otherwise only counts
    pulls: np.ndarray  # of each item, or its duels, shape (m,), int64
    successes: np.ndarray  # rewarded pulls of each item, or its wins, shape (m,), int64
    rows: np.ndarray  # directions that were shown, shape (WINDOW, n); the first n_rows[0] count
    tries: np.ndarray  # how often each was shown, shape (WINDOW,)
    paid: np.ndarray  # how often each paid, shape (WINDOW,)
    row_of: np.ndarray  # row of each item, -1 where it has none, shape (m,), int64
    n_rows: np.ndarray  # shape (1,), int64
    # Mean, shape (n,), and precision, shape (n, n), of the normal distribution that stands for all
    # that is not in the rows: the prior, later also what was folded into it.
    centre: np.ndarray
    stiffness: np.ndarray
    mode: np.ndarray  # of the preference vector, shape (n,)
    precision: np.ndarray  # minus the Hessian of the log posterior at the mode, shape (n, n)
    covariance: np.ndarray  # its inverse, shape (n, n)
    last: np.ndarray  # item or items shown last, shape (2,), int64; -1 where there is none
    n_pulls: np.ndarray  # pulls or duels so far, shape (1,), int64
    due: np.ndarray  # at how many pulls the mode is next found over all of them, shape (1,), int64


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts of pulls and rewards of each item, without a model of attributes."""

    learns = False

    def init(self, items: ItemSet) -> ItemBelief:
        """Return the belief before the first pull."""
        return _fresh(items, learns=False, scale=1.0)


@dataclass(frozen=True, kw_only=True)
class Logistic(Settings):
    """Laplace posterior of the preference vector of a logistic model.

    Parameters
    ----------
    scale
        Prior standard deviation of each coefficient, > 0 and finite, for attributes of
        moderate size (unit vectors, or standardised columns).
    """

    scale: float = 2.0
    learns = True
    ranges: ClassVar = {"scale": "positive and finite"}

    def init(self, items: ItemSet) -> ItemBelief:
        """Return the belief before the first pull: the prior."""
        return _fresh(items, learns=True, scale=self.scale)


def _fresh(items: ItemSet, *, learns: bool, scale: float) -> ItemBelief:
    m, n = items.attributes.shape
    return ItemBelief(
        attributes=np.asfortranarray(items.attributes),
        values=items.values,
        sphere=items.sphere,
        learns=learns,
        pulls=np.zeros(m, np.int64),
        successes=np.zeros(m, np.int64),
        rows=np.zeros((WINDOW if learns else 0, n)),
        tries=np.zeros(WINDOW if learns else 0),
        paid=np.zeros(WINDOW if learns else 0),
        row_of=np.full(m if learns else 0, -1),
        n_rows=np.zeros(1, np.int64),
        centre=np.zeros(n),
        stiffness=np.eye(n) * scale**-2.0,
        mode=np.zeros(n),
        precision=np.eye(n) * scale**-2.0,
        covariance=np.eye(n) * scale**2.0,
        last=np.full(2, -1, np.int64),
        n_pulls=np.zeros(1, np.int64),
        due=np.ones(1, np.int64),
    )


def finite_only(policy: object, items: ItemSet) -> None:
    """Raise ValueError if the items are a sphere, for policies that need a finite table."""
    if items.sphere:
        raise ValueError(
            f"problem should have a table of items for {type(policy).__name__}, got a sphere. "
            "TwoPhase, GLMETC and LogisticThompson can play on a sphere"
        )


def paid_best(belief: ItemBelief) -> int:
    """Return the item with the largest posterior mean reward, uniform prior on its chance."""
    successes = belief.successes + 1
    share = successes / (belief.pulls + 2)
    return int((belief.values * share).argmax())


@compiled
def record_pull(belief, arm, success):
    """Record one pull of an item with its `success`, 1 or 0."""
    belief.last[0] = arm
    belief.last[1] = -1
    belief.n_pulls[0] += 1
    belief.pulls[arm] += 1
    belief.successes[arm] += int(success)
    if belief.learns:
        x = belief.attributes[arm].copy()
        if belief.row_of[arm] < 0:
            row = new_row(belief, x)  # may empty the window, and with it what row_of says
            belief.row_of[arm] = row
        row_of_arm = belief.row_of[arm]
        enter(belief, row_of_arm, x, success, 1.0)


@compiled
def record_aimed(belief, aim, success):
    """Record one pull of the point `aim` of the sphere, shape (n,)."""
    n_rows = belief.n_rows[0]
    again = belief.last[0] == len(aim)
    belief.last[0] = len(aim)
    belief.last[1] = -1
    belief.n_pulls[0] += 1
    if belief.learns:
        last_row = n_rows - 1
        again = again and n_rows > 0 and (belief.rows[last_row] == aim).all()
        row = last_row if again else new_row(belief, aim)
        enter(belief, row, aim, success, 1.0)


@compiled
def record_duel(belief, i, j, won):
    """Record one duel of items i and j, won by i if `won` is 1; a self-duel only counts."""
    belief.last[0] = i
    belief.last[1] = j
    belief.n_pulls[0] += 1
    belief.pulls[i] += 1
    belief.pulls[j] += 1
    winner = i if won > 0 else j
    belief.successes[winner] += 1
    if i != j and belief.learns:
        x = belief.attributes[i] - belief.attributes[j]
        row = new_row(belief, x)
        enter(belief, row, x, won, 1.0)


@compiled
def record_weighted(belief, x, won, weight):
    """Record one duel of a difference in attributes `x` whose log likelihood has a weight."""
    belief.n_pulls[0] += 1
    row = new_row(belief, x)
    enter(belief, row, x, won, weight)


@compiled
def enter(belief, row, x, success, weight):
    """Update the posterior by one reward of the direction `x`, which is in `row`, of a weight."""
    belief.tries[row] += weight
    belief.paid[row] += weight * success
    n_pulls = belief.n_pulls[0]
    if n_pulls >= belief.due[0]:
        refit(belief)
        # The mode is found again over all tallied pulls when they have grown by a tenth
        grown = int(n_pulls * (1 + 0.1))
        belief.due[0] = max(n_pulls + 1, grown)
    else:
        learn(belief, x, success, weight)


@compiled
def new_row(belief, x):
    """Return a free row that holds `x`; a full window is folded into the prior first."""
    if belief.n_rows[0] == len(belief.rows):
        refit(belief)
        overwrite(belief.centre, belief.mode)
        for k in range(len(belief.mode)):
            overwrite(belief.stiffness[k], belief.precision[k])
        belief.n_rows[0] = 0
        belief.row_of[:] = -1
    row = belief.n_rows[0]
    belief.n_rows[0] += 1
    overwrite(belief.rows[row], x)
    belief.tries[row] = 0
    belief.paid[row] = 0
    return row
