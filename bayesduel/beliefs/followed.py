"""A belief that is followed: the posterior of a model of scores, updated after every duel."""

from dataclasses import dataclass
from math import log, log1p
from typing import ClassVar, Literal

from bayesduel.beliefs.belief import BY_HOEFFDING, FROM_DRAWS, BeliefSpec
from bayesduel.beliefs.score_posterior import LINKS, ScorePosterior, follow, score_posterior
from bayesduel.jit import compiled

__all__ = ["Followed", "updated"]


@dataclass(frozen=True)
class Followed(BeliefSpec):
    """Posterior of a model of scores (Bradley-Terry, Thurstone), updated after every duel.

    Posterior-driven rules such as ``ContrastAllocation`` read it. Its bounds on P are
    Hoeffding's, of the tallies.

    Parameters
    ----------
    link
        "logit" (Bradley-Terry) or "probit" (Thurstone, Case V).
    prior_scale
        Scale of the half-normal prior of the standard deviation of the scores. Default: that of
        the model, 2 logits or 1.2 probits.

    Examples
    --------
    >>> bd.policies.TopTwoThompson(belief=bd.beliefs.Followed("probit")).belief
    Followed(link='probit', prior_scale=None)
    """

    link: Literal["logit", "probit"] = "logit"
    prior_scale: float | None = None

    kind: ClassVar[int] = BY_HOEFFDING
    ranges: ClassVar = {"prior_scale": "positive and finite"}

    def scores(self, n_arms: int) -> ScorePosterior:
        link, usual = LINKS[self.link]
        return score_posterior(n_arms, link, self.prior_scale or usual)


@compiled
def updated(posterior, belief):
    """Bring the posterior of the scores up to the belief, in place.

    Where a model is refitted now and then, the scores are the mean log odds of each arm against
    the others in the draws of the last fit, which for Bradley-Terry are its scores.
    """
    if belief.source != FROM_DRAWS:
        follow(posterior, belief.wins)
        return
    draws = belief.draws
    n_arms = draws.shape[1]
    last = len(draws) - 1
    mark = draws[0, 0, n_arms - 1] + 2.0 * draws[last, 0, n_arms - 1]
    if posterior.log_weight[0] == mark:
        return
    posterior.log_weight[0] = mark
    for d in range(len(draws)):
        for i in range(n_arms):
            total = 0.0
            for j in range(n_arms):
                drawn = draws[d, i, j]
                p = min(max(drawn, 1e-12), 1 - 1e-12)
                total += log(p) - log1p(-p)
            posterior.draws[d, i] = total / n_arms
