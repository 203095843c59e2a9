"""Thurstone's Case V: every arm has a strength, seen through normal noise."""

from dataclasses import dataclass
from typing import ClassVar

from bayesduel.models.response import Bernoulli, Response
from bayesduel.models.score_model import ScoreModel

__all__ = ["Thurstone"]


@dataclass(frozen=True)
class Thurstone(ScoreModel):
    """Scores on a probit scale, one per arm (Thurstone's Case V).

    Generative model: each arm draws a score; in each duel both show it with independent normal
    noise of variance 1/2, and the larger wins::

        scale         ~ HalfNormal(1.2)                   (if learned)
        score_i       ~ Normal(0, scale), then centred
        Pr(i beats j) = Phi(score_i - score_j)
        wins_ij       ~ Binomial(n_ij, Pr(i beats j))

    A tie counts half a win for each side (half a success in the likelihood).

    Use it where a duel compares two noisy sums of many small things (perception, points).
    It differs from Bradley-Terry in the tails: upsets of much stronger arms are rarer. It
    assumes that preferences are transitive.

    Parameters
    ----------
    scale
        Short for ``Scores(scale=...)``: prior standard deviation of a score, in probits. None
        learns it: with its HalfNormal(1.2) prior, the win probability of one random arm over
        another lies outside 0.05 to 0.95 for about one pair in five before any duel is seen. A
        number fixes it: with 1, the better of two random arms wins 80 % of its duels on average.
        ``numpy.inf`` is a flat prior: maximum likelihood, with standard errors from the
        observed information.

    References
    ----------
    Thurstone, "A law of comparative judgment", Psychological Review 1927, Case V.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"), bd.models.Thurstone())
    >>> bd.scores(fit).attrs["unit"]
    'probits'
    """

    label: ClassVar[str] = "thurstone"
    assumption: ClassVar[str] = "Thurstone (one score per {noun}, probit link)"
    response: ClassVar[Response] = Bernoulli("probit")
