"""Bradley-Terry: every arm has a strength, and the odds of winning are their ratio."""

from dataclasses import dataclass
from typing import ClassVar

from bayesduel.models.response import Bernoulli, Response
from bayesduel.models.score_model import ScoreModel

__all__ = ["BradleyTerry"]


@dataclass(frozen=True)
class BradleyTerry(ScoreModel):
    """Scores on a logit scale, one per arm.

    Generative model: each arm draws a score; in a duel the first wins with probability
    logistic of the difference::

        scale         ~ HalfNormal(2)                     (if learned)
        score_i       ~ Normal(0, scale), then centred
        Pr(i beats j) = 1 / (1 + exp(score_j - score_i))
        wins_ij       ~ Binomial(n_ij, Pr(i beats j))

    A tie counts half a win for each side (half a success in the likelihood).

    Use it as the first model of any log: it is the maximum-entropy model given every arm's
    number of wins and the only one in which these are sufficient. It assumes that
    preferences are transitive.

    Parameters
    ----------
    scale
        Short for ``Scores(scale=...)``: prior standard deviation of a score, in logits. None
        learns it: with its HalfNormal(2) prior, the win probability of one random arm over another
        lies outside 0.05 to 0.95 for about one pair in five before any duel is seen. A number fixes
        it: with 1, the better of two random arms wins 72 % of its duels on average.
        ``numpy.inf`` is a flat prior: maximum likelihood, with standard errors from the
        Fisher information.

    References
    ----------
    Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 1952.
    Zermelo, "Die Berechnung der Turnier-Ergebnisse", Mathematische Zeitschrift 1929.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"), bd.models.BradleyTerry(scale=1.0))
    >>> bd.scores(fit)["score_mean"].round(1).to_dict()
    {'Graf': 0.8, 'Seles': 0.4, 'Navratilova': 0.0, 'Sabatini': -0.3, 'Sanchez': -0.9}
    """

    label: ClassVar[str] = "bradley-terry"
    assumption: ClassVar[str] = "Bradley-Terry (one score per {noun}, logit link)"
    response: ClassVar[Response] = Bernoulli("logit")
