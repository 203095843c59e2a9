"""Beliefs by the posterior of a model of ``bayesduel.models``, refitted between duels.

The model is fitted in Python between batches of duels (whoever runs the duels calls
``refreshed`` when ``due`` says so) and hands over posterior draws of P in the same
``Belief``, so that the same compiled policy reads them. Between fits the draws are constant while
the tallies are updated.

References
----------
Laplace and NUTS as in ``bayesduel.fit``. The normal quantile: Newton's method on
``ln erfc``.
"""

import warnings
from dataclasses import dataclass
from math import ceil, exp, inf, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesduel.beliefs.belief import (
    BOUNDS,
    BY_GAUSSIAN,
    BY_RANKED,
    FROM_DRAWS,
    Belief,
    BeliefSpec,
    fresh,
)
from bayesduel.beliefs.score_posterior import ScorePosterior, log_normal, refitted_scores
from bayesduel.jit import compiled
from bayesduel.system.arguments import check_type
from bayesduel.system.threads import ONE_THREAD

if TYPE_CHECKING:
    from bayesduel.models.model import Model


__all__ = ["MCMC", "Laplace", "gaussian_upper", "log_of_tally", "ranked_upper"]

# Duels per arm, up to which a log may not determine a model. A graph of as many random pairs hardly
# leaves an arm out: 0.2 % have no duel of the 6 that an arm has on average.
FEW = 3
MODELLED = {**BOUNDS, "gaussian": BY_GAUSSIAN, "quantile": BY_RANKED}


@dataclass(frozen=True)
class Laplace(BeliefSpec):
    """Laplace approximation of the posterior of a model, refitted as duels are recorded.

    Parameters
    ----------
    model
        A model of ``bayesduel.models``.
    draws
        Posterior draws kept, at least 100.
    growth
        Refit after this relative growth of the number of duels, > 0.
    bounds
        "gaussian": normal quantiles of logit P, from the mean and spread of the draws;
        "quantile": of the draws themselves, and the normal ones beyond what they resolve;
        or a frequentist bound on the tallies, "hoeffding", "kl", "bernstein".

    Examples
    --------
    >>> policy = bd.policies.DTS(belief=bd.beliefs.Laplace(bd.models.BradleyTerry()))
    >>> trace = bd.simulate(policy, "mslr-5", horizon=40, seed=0)
    >>> bd.regret(trace).dims
    ('policy', 'replication', 'time')
    """

    model: Any
    draws: int = 1000
    growth: float = 0.1
    bounds: Literal["gaussian", "quantile", "hoeffding", "kl", "bernstein"] = "gaussian"
    can_sample: ClassVar[bool] = True
    method: ClassVar[Literal["laplace", "nuts"]] = "laplace"
    ranges: ClassVar = {"draws": "at least 100", "growth": "positive and finite"}

    def __post_init__(self) -> None:
        from bayesduel.models.model import Model

        super().__post_init__()
        check_type(self.model, Model, "model", "a model such as BradleyTerry()")

    @property
    def bounds_counts(self) -> bool:
        """Whether its bounds follow from counts alone: frequentist ones do."""
        return MODELLED[self.bounds] not in (BY_GAUSSIAN, BY_RANKED)

    def init(self, n_arms: int) -> Belief:
        """Return the belief before the first duel: uniform and independent."""
        belief = fresh(n_arms, MODELLED[self.bounds], FROM_DRAWS)
        rng = np.random.default_rng(n_arms)
        draws = np.full((self.draws, n_arms, n_arms), 0.5)
        i, j = np.triu_indices(n_arms, 1)
        uniform = rng.random((self.draws, len(i)))
        draws[:, i, j] = uniform
        draws[:, j, i] = 1 - uniform
        return informed(belief, draws)

    def scores(self, n_arms: int) -> ScorePosterior:
        """Return the posterior of the scores, whose draws come with the first fit."""
        return refitted_scores(n_arms, self.draws)

    def due(self, n_duels: int) -> int:
        grown = ceil(n_duels * (1 + self.growth))
        return max(n_duels + 1, grown)

    def refreshed(self, belief: Belief, seed: int, duels: Any = None, arms: Any = ()) -> Belief:
        """Return the belief with posterior draws given all duels so far."""
        if not belief.wins.any():
            return belief
        from bayesduel.inference.fit import fit
        from bayesduel.posterior.draws import preference_draws

        if duels is None:
            duels = log_of_tally(belief.wins, self.model)
        try:
            self.model.settled(duels).check(duels)
        except ValueError:
            if belief.n_duels[0] > FEW * len(belief.wins):
                raise
            return belief  # the first outcomes may not determine the model: the prior stands
        with ONE_THREAD, warnings.catch_warnings():  # thin and unconnected logs are the rule
            warnings.simplefilter("ignore", UserWarning)
            posterior = fit(
                duels,
                self.model,
                self.method,
                draws=self.draws,
                seed=seed,
                log_likelihood=False,
                clusters=False,
            )
        at = [duels.arms.index(arm) for arm in arms or duels.arms]
        draws = np.concatenate(list(preference_draws(posterior)))
        in_order = draws[:, at][:, :, at]
        return informed(belief, in_order)


def log_of_tally(wins: np.ndarray, model: "Model") -> Any:
    """Return the log of a tally, a tie half a win; ValueError if the model reads who was left."""
    from bayesduel.data.duels import Duels

    if model.terms.reads_order:
        raise ValueError(
            "model should not need the side of an arm, because tallies of wins do not keep it, "
            f"got {model.name}"
        )
    ties = np.minimum(wins % 1, wins.T % 1) * 2  # halves, at most one per pair
    labels = [f"{arm:09d}" for arm in range(len(wins))]  # a log sorts its arms by label
    return Duels.from_wins(wins - ties / 2, labels, ties=ties)


@dataclass(frozen=True)
class MCMC(Laplace):
    """Posterior of a model by NUTS, refitted as duels are recorded.

    By default with quantiles of the draws, and refitted when the number of duels has grown by half.

    Examples
    --------
    >>> bd.policies.DTS(belief=bd.beliefs.MCMC(bd.models.Davidson(), growth=1.0)).belief.growth
    1.0
    """

    growth: float = 0.5
    bounds: Literal["gaussian", "quantile", "hoeffding", "kl", "bernstein"] = "quantile"
    method: ClassVar[Literal["laplace", "nuts"]] = "nuts"


def informed(belief: Belief, draws: np.ndarray) -> Belief:
    """Return the belief with new posterior draws, shape (n, K, K)."""
    draws = np.ascontiguousarray(draws, dtype=float)
    inside = np.clip(draws, 1e-16, 1 - 1e-16)  # a model of margins may round to 0 or 1
    odds = np.log(inside) - np.log1p(-inside)
    return belief._replace(
        draws=draws,
        ranked=np.sort(draws, axis=0),
        location=odds.mean(axis=0),
        spread=odds.std(axis=0, ddof=1),
    )


@compiled
def gaussian_upper(location, spread, budget):
    """Return the upper bound on P where logit P is normal."""
    log_odds = location + normal_quantile(budget) * spread
    return 1 / (1 + exp(-log_odds))


@compiled
def ranked_upper(ranked, location, spread, budget):
    """Return the upper quantile of increasing draws (n,) at probability exp(-budget).

    Beyond what the draws resolve, the quantile is that of a normal distribution of logit P with
    the mean and spread of their log odds, and at least the largest draw.
    """
    n = len(ranked)
    above = int(n * exp(-budget))
    if above < 1:
        return max(ranked[n - 1], gaussian_upper(location, spread, budget))
    return ranked[max(n - 1 - above, 0)]


@compiled
def normal_quantile(budget):
    """Return z with Pr(Z > z) = exp(-budget)."""
    if budget <= 0:
        return -inf
    z = 0.0 if budget < 1 else sqrt(2 * budget) - 0.5
    for _ in range(60):
        tail, hazard = log_normal(-z)
        step = (tail + budget) / hazard
        z += step
        if abs(step) <= 1e-14 * max(1.0, abs(z)):
            break
    return z
