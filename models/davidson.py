"""Davidson: Bradley-Terry with a third outcome, the tie."""

from dataclasses import dataclass
from typing import ClassVar

from bayesduel.models.response import DavidsonResponse, Response
from bayesduel.models.score_model import ScoreModel

__all__ = ["Davidson"]


@dataclass(frozen=True)
class Davidson(ScoreModel):
    """Scores on a logit scale and a tendency to tie.

    Generative model: each arm draws a score, the log has one tendency to tie; a duel of i and j
    ends with weights ``exp(d/2)`` (i wins), ``exp(-d/2)`` (j wins) and ``exp(tie)``, where
    ``d = score_i - score_j``::

        scale          ~ HalfNormal(2)                    (if learned)
        score_i        ~ Normal(0, scale), then centred
        tie            ~ Normal(-0.7, 1.5)                (logarithm of Davidson's nu)
        Pr(i beats j)  = exp(d/2)  / (exp(d/2) + exp(-d/2) + exp(tie))
        Pr(they tie)   = exp(tie)  / (exp(d/2) + exp(-d/2) + exp(tie))

    Given that a duel is decided, it is Bradley-Terry. The prior of `tie` puts 90 % of the
    tie probability of two equal arms between 0.02 and 0.75, median 0.20. `preference` is
    the expected points of i, ``Pr(win) + Pr(tie) / 2``: it is above one half exactly where
    i is the stronger, and comparable with models that count a tie as half a win each.

    Use it when ties are common and should be predicted, or when the frequency of ties is
    informative about how close a pair is. It assumes that preferences are transitive.

    Parameters
    ----------
    scale
        As in BradleyTerry: None, a number in logits, or ``numpy.inf`` (`tie` is flat then too).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log was read with
        ``ties="half"``.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments", JASA 1970.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("chess3"), bd.models.Davidson())
    >>> bd.predict(fit, "Kasparov", "Karpov")["tie"].round(1).item()
    0.6
    """

    label: ClassVar[str] = "davidson"
    assumption: ClassVar[str] = "Davidson (one score per {noun}, ties as an outcome)"
    response: ClassVar[Response] = DavidsonResponse()
