"""Plackett-Luce: a ranking as a sequence of choices of the best of what is left.

A choice of i among alternatives j has the probability ``1 / (1 + sum exp(-(score_i - score_j)))``.
The cells of the likelihood are the pairs (i, j), whose predictor is the difference of two scores as
in a duel; the cells of a choice are one observation. Its log density stands at its first cell.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesduel.data.rankings import Rankings
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.cells import ModelCells
from bayesduel.models.elementary import Quantity
from bayesduel.models.response import Derivatives, Response, observe, without_own
from bayesduel.models.score_model import ScoreModel
from bayesduel.models.settings import Arrays, Named
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.models.cells import Seen

__all__ = ["ChoiceResponse", "PlackettLuce"]

NO_TIES = "no ties: one {} per place"


@dataclass(frozen=True)
class ChoiceResponse(Response):
    """The choice of one of several alternatives, with probabilities in proportion to worths."""

    outcome: ClassVar[str] = "ranking"
    score_scale: ClassVar[float] = 2.0
    counts_add_up: ClassVar[bool] = False

    def data(self, duels: Any, seen: "Seen", *, explicit: bool) -> dict[str, np.ndarray]:
        """Return the choices of a log of rankings: ``n``, ``stage`` and whether a row ``opens`` it.

        `duels` are rankings; `seen` is not used.
        """
        stage = duels.choices.stage
        return {
            "n": duels.weight[duels.choices.ranking].astype(float),
            "stage": stage,
            "opens": np.diff(stage, prepend=-1).astype(float),
        }

    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        """Return the log likelihood of choices at their first cells, (draws, cells); else 0."""
        log_total = self._log_total(eta, data)
        return -data["n"] * data["opens"] * log_total

    def _log_total(self, eta: np.ndarray, data: Arrays) -> np.ndarray:
        """Return log(1 + sum of exp(-eta) over the cells of the same choice), shape of eta."""
        start = np.flatnonzero(data["opens"])
        stage = _stages(data)
        most = np.maximum.reduceat(-eta, start, axis=-1)
        most = np.maximum(most, 0.0)
        away = np.exp(-eta - most[..., stage])
        total = np.exp(-most)
        total += np.add.reduceat(away, start, axis=-1)
        log_total = most + np.log(total)
        return np.asarray(log_total[..., stage])

    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        """Return the derivatives; cells of a choice bend together."""
        n = data["n"]
        log_total = self._log_total(eta, data)
        chance = np.exp(-eta - log_total)
        pull = n * chance
        joint = (_stages(data), np.sqrt(n) * chance)
        return without_own(pull, -pull)._replace(joint=joint)

    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        return observe("opens", given, eta, given["n"], given["stage"], logp=_density)

    def tie_rule(self, duels: "Duels") -> str:
        return NO_TIES.format("arm")

    def outcome_probabilities(
        self, eta: np.ndarray, parameters: Named, first: Any, second: Any
    ) -> dict[str, np.ndarray]:
        return {"win": expit(eta), "loss": expit(-np.asarray(eta))}


def _stages(data: Arrays) -> np.ndarray:
    """Return the choice of each cell, counted from 0 among those that are here, (cells,)."""
    return np.cumsum(data["opens"] > 0) - 1


def _density(opens: Quantity, eta: Quantity, n: Quantity, stage: Quantity) -> Any:
    """Return the log density of choices at their first cells, of tensors."""
    import pytensor.tensor as pt

    worth = pt.exp(-eta)
    none = pt.zeros(stage[-1] + 1)
    total = pt.inc_subtensor(none[stage], worth)
    return -n * opens * pt.log1p(total[stage])


@dataclass(frozen=True)
class PlackettLuce(ScoreModel):
    """Scores on a logit scale, of rankings of two or more arms.

    Generative model: each arm draws a score; a ranking chooses the best of its arms with
    probabilities in proportion to ``exp(score)``, then the best of the others, and so on::

        scale                ~ HalfNormal(2)                   (if learned)
        score_i              ~ Normal(0, scale), then centred
        Pr(i is chosen of S) = exp(score_i) / sum over j in S of exp(score_j)

    Of a partial ranking only the choices that were made count. Where the best and the worst are
    named, the worst of the others is chosen in proportion to ``exp(-score)`` (maximum difference
    scaling). A ranking of two is a Bradley-Terry duel, and `preference` is the probability that i
    is placed above j in any ranking of full length.

    Use it for rankings, races and the best of n. The pairs of a ranking are not independent duels:
    fitted as such, intervals are too narrow. It assumes that rankings are independent given the
    scores; where the log names judges or groups, standard errors are cluster-robust by them. How
    two arms compare does not depend on which others are there (Luce's choice axiom). Ties have no
    place in it.

    Parameters
    ----------
    predictor
        What arms are worth: ``Scores()``, or ``Covariates(items)``.
    scale
        As in BradleyTerry: None, a number in logits, or ``numpy.inf``, maximum likelihood.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a term is not about what arms are worth.

    References
    ----------
    Plackett, "The analysis of permutations", Applied Statistics 1975. Luce, "Individual choice
    behavior", 1959. Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of
    Statistics 2004, for when maximum likelihood exists. Marley & Louviere, "Some probabilistic
    models of best, worst, and best-worst choices", J. Mathematical Psychology 2005.

    Examples
    --------
    >>> log = bd.read_rankings({"order": ["a > b > c", "b > a > c", "a > c > b"]})
    >>> bd.fit(log, bd.models.PlackettLuce()).duel.arms
    ('a', 'b', 'c')
    """

    label: ClassVar[str] = "plackett-luce"
    assumption: ClassVar[str] = "Plackett-Luce (one score per {noun}, rankings as choices)"
    log_type: ClassVar[str] = "rankings"
    response: ClassVar[Response] = ChoiceResponse()

    def __post_init__(self) -> None:
        super().__post_init__()
        others = []
        for part in self.terms:
            if part not in self.terms.arms or part.reads:
                others.append(part.name)
        if others:
            raise ValueError(
                "terms of PlackettLuce should be Scores or Covariates of items, got "
                f"{join(others)}: "
                "a ranking has no sides and no covariates of a duel"
            )

    def why_not(self, method: str) -> str:
        if method == "laplace" and len(self.scales) > 1:
            return "it learns two scales, and each choice depends on several predictors together"
        return super().why_not(method)

    def tie_words(self, rule: str, noun: str) -> str:
        return NO_TIES.format(noun)

    def replicate_rankings(self, posterior: Arrays, log: Any, rng: np.random.Generator) -> Any:
        """Return a log of the same arms in places of the same kind, drawn by the first draw."""
        score = posterior["score"][0]
        found = log.arm.copy()
        for here in log.slices:
            arm = found[here]
            place = log.place[here]
            # The order of scores with Gumbel noise is that of choices in proportion to exp(score).
            utility = score[arm] + rng.gumbel(size=len(arm))
            best_first = np.argsort(-utility)
            arm = arm[best_first]
            one_is_last = place[-2] != place[-1]
            tied_before = place[:-2] == place[-2]
            if one_is_last and tied_before.any():
                rest = np.flatnonzero(place >= place[-2])
                noise = rng.gumbel(size=len(rest))
                disutility = noise - score[arm[rest]]
                worst = rest[np.argmax(disutility)]
                arm[[worst, -1]] = arm[[-1, worst]]
            found[here] = arm
        return replace(log, arm=found)

    def check(self, log: "Duels | Rankings") -> None:
        if not isinstance(log, Rankings):
            raise ValueError(
                "log should be of rankings (bayesduel.read_rankings), got one of duels"
            )
        if self.terms.flat:
            BradleyTerry(self.predictor).check(log.duels)  # the condition is the same: Hunter 2004

    def cells(self, log: Any, **options: Any) -> ModelCells:
        """Return a cell for each pair of a choice and what it was chosen above."""
        if isinstance(log, ModelCells):
            return log
        data = {"first": log.choices.first, "second": log.choices.second}
        data |= self.response.data(log, None, explicit=False)  # type: ignore[arg-type]
        data |= self.terms.tables(log.arms)
        return ModelCells(log=log, seen=None, data=data, vote=log.choices.ranking)
