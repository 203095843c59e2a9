"""The belief of a policy about P: a NamedTuple of arrays that compiled code reads."""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesduel.system.arguments import check_range, shown_value
from bayesduel.system.settings import Settings

if TYPE_CHECKING:
    from bayesduel.beliefs.score_posterior import ScorePosterior

__all__ = [
    "BOUNDS",
    "BY_BERNSTEIN",
    "BY_BETTING",
    "BY_GAUSSIAN",
    "BY_HOEFFDING",
    "BY_KL",
    "BY_QUANTILE",
    "BY_RANKED",
    "BY_STITCHED",
    "FROM_BETA",
    "FROM_DRAWS",
    "FROM_NOTHING",
    "NEVER",
    "Belief",
    "BeliefSpec",
    "fresh",
    "require_sampling",
    "require_scores",
]

# Belief.kind: how `bounds` answers.
BY_HOEFFDING, BY_KL, BY_BERNSTEIN, BY_BETTING, BY_STITCHED = range(5)
BY_QUANTILE, BY_GAUSSIAN, BY_RANKED = range(5, 8)
# Belief.source: what `sample` draws from.
FROM_NOTHING, FROM_BETA, FROM_DRAWS = range(3)

NEVER = -1  # in place of a number of duels after which a belief is refitted

BOUNDS = {
    "hoeffding": BY_HOEFFDING,
    "kl": BY_KL,
    "bernstein": BY_BERNSTEIN,
    "quantile": BY_QUANTILE,
}


class Belief(NamedTuple):
    """The belief about P after some duels: what the rule of a policy reads.

    Attributes
    ----------
    kind
        How bounds are made: BY_HOEFFDING, BY_KL, BY_BERNSTEIN, BY_BETTING, BY_STITCHED, BY_QUANTILE
        (of the Beta posterior), BY_GAUSSIAN (by `location` and `spread`) or BY_RANKED (by
        `ranked`).
    source
        What samples are drawn from: FROM_NOTHING, FROM_BETA or FROM_DRAWS.
    wins
        How often arm i beat arm j, shape (K, K), float64. A tie is half a win for each arm. The
        diagonal is 0.
    prior
        Pseudo-wins of each arm of a pair in the Beta posterior.
    draws
        Posterior draws of P by a model, shape (n, K, K); n is 0 without a model.
    ranked
        The same draws, each entry in increasing order.
    location, spread
        Mean and standard deviation of logit P under a model, shape (K, K); shape (0, 0) without
        a model.
    last
        The pair that was recorded last, shape (2,), int64; (-1, -1) before the first duel.
    n_duels
        Number of recorded duels, shape (1,), int64. Duels of an arm with itself count.

    Examples
    --------
    >>> belief = bd.beliefs.Beta().init(3)
    >>> bd.beliefs.record(belief, (0, 2), 1.0)
    >>> belief.wins[0, 2], belief.last.tolist()
    (np.float64(1.0), [0, 2])
    """

    kind: int
    source: int
    wins: np.ndarray
    prior: float
    draws: np.ndarray
    ranked: np.ndarray
    location: np.ndarray
    spread: np.ndarray
    last: np.ndarray
    n_duels: np.ndarray


class BeliefSpec(Settings):
    """How to make a belief: the base of frozen dataclasses of settings.

    Attributes
    ----------
    kind
        How bounds are made, where no setting says so: see :class:`Belief`.
    can_sample
        Whether ``sample`` can answer.
    """

    kind: ClassVar[int]
    can_sample: ClassVar[bool] = False

    @property
    def bounds_counts(self) -> bool:
        """Whether its bounds follow from counts alone, so that they serve any such mean."""
        return True

    def init(self, n_arms: int) -> Belief:
        """Return the belief before the first duel."""
        return fresh(n_arms, self.kind)

    def scores(self, n_arms: int) -> "ScorePosterior":
        """Return the posterior of the scores before the first duel; raise TypeError if none."""
        raise TypeError(f"belief should be Followed() or Laplace(model), got {self!r}")

    def due(self, n_duels: int) -> int:
        """Return after how many duels to refit, having fitted after `n_duels`; -1 for never."""
        return NEVER

    def last_due(self, n_duels: int) -> int:
        """Return after how many of these duels it was last due to be refitted; -1 for never."""
        last = NEVER
        following = self.due(0)
        while last < following <= n_duels:
            last = following
            following = self.due(last)
        return last

    def refreshed(self, belief: Belief, seed: int, duels: Any = None, arms: Any = ()) -> Belief:
        """Return the belief refitted to the duels so far; by default it needs no refitting.

        `duels` is their log, where it holds more than who beat whom how often, and `arms` its
        labels in the order of the belief: a log sorts them.
        """
        return belief


def fresh(n_arms: int, kind: int, source: int = FROM_NOTHING, prior: float = 1.0) -> Belief:
    """Return a belief of `n_arms` arms that has seen no duel."""
    check_range(n_arms, "n_arms", "at least 2")
    return Belief(
        kind=kind,
        source=source,
        wins=np.zeros((n_arms, n_arms)),
        prior=float(prior),
        draws=np.zeros((0, n_arms, n_arms)),
        ranked=np.zeros((0, n_arms, n_arms)),
        location=np.zeros((0, 0)),
        spread=np.zeros((0, 0)),
        last=np.full(2, -1, np.int64),
        n_duels=np.zeros(1, np.int64),
    )


def require_scores(policy: object, belief: BeliefSpec) -> None:
    """Raise ValueError, naming a belief that has scores, if a policy is given one without."""
    try:
        if not isinstance(belief, BeliefSpec):
            raise TypeError("not a belief")
        belief.scores(2)
    except TypeError as error:
        raise ValueError(
            f"belief of {type(policy).__name__} should be about scores, such as Followed(), "
            f"got {shown_value(belief)}"
        ) from error


def require_sampling(policy: object, belief: BeliefSpec) -> None:
    """Raise ValueError, naming a belief that can be sampled, if a policy is given another."""
    if not (isinstance(belief, BeliefSpec) and belief.can_sample):
        raise ValueError(
            f"belief of {type(policy).__name__} should be a belief that can be sampled, such as "
            f"Beta(), got {shown_value(belief)}"
        )
