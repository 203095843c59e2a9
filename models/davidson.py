"""Davidson: Bradley-Terry with a third outcome, the tie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import softmax

from bayesduel.models import scores
from bayesduel.models.cells import Seen

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["Davidson"]


@dataclass(frozen=True, kw_only=True)
class Davidson:
    """Scores on a logit scale and a tendency to tie.

    The story: each arm draws a score, the log has one tendency to tie; a duel of i and j
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

    Use it when ties are common and you want to predict them, or when how often a pair ties
    says something of how close it is. It assumes that preferences are transitive.

    Parameters
    ----------
    scale
        As in BradleyTerry: None, a number in logits, or ``numpy.inf`` (`tie` is flat then too).

    Raises
    ------
    TypeError, ValueError
        If `scale` is not None or a positive number.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments", JASA 1970.
    """

    scale: float | None = None

    name: ClassVar[str] = "davidson"
    link: ClassVar[str] = "davidson"
    typical: ClassVar[float] = 2.0  # of the half-normal prior of a learned scale
    tie_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scores.check_scale(self.scale)

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`, with dims arm, opponent, cell, result.

        Parameters
        ----------
        duels
            The log; only its tallies by unordered pair are used.
        centred
            Parameterisation of a learned scale; the posterior does not depend on it.

        Raises
        ------
        ValueError
            If the log was read with ``ties="half"`` (there is no third outcome left), or
            has no tie and `scale` is infinite (the tendency to tie has no estimate then).
        """
        import pymc as pm

        coords = scores.coords(duels) | {"result": ["first", "second", "tie"]}
        with pm.Model(coords=coords) as model:
            data = scores.register(self.data(duels))
            score = scores.scores(self.scale, self.typical, centred=centred)
            tie = self.respond(scores.differences(score, data), data)
            scores.preference(duels, score, lambda d: _points(d, tie))
        return model

    def data(self, duels: "Duels", seen: Seen | None = None) -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: the tallied cells (those `seen`).

        Raises as :meth:`build` does.
        """
        if duels.tie_rule != "keep":
            raise ValueError(
                f"the Davidson model needs the ties: read the log with ties='keep', "
                f"got a log read with ties={duels.tie_rule!r}"
            )
        flat = self.scale is not None and np.isinf(self.scale)
        if flat and duels.n_ties == 0:
            raise ValueError("scale should be finite for a log without ties, got inf")
        return scores.cells(duels, ties=True, seen=seen)

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the linear predictor of cells: first's score minus second's, (..., cells)."""
        return scores.difference(parameters, cells)

    def respond(self, eta: Any, data: Mapping[str, Any]) -> Any:
        """Add the tendency to tie, and the outcomes of cells with linear predictor `eta`.

        Returns the tendency.
        """
        import pymc as pm

        flat = self.scale is not None and np.isinf(self.scale)
        tie = pm.Flat("tie") if flat else pm.Normal("tie", -0.7, 1.5)
        pm.CustomDist(
            scores.outcome_name,
            eta,
            tie,
            data["n"],
            data["log_coefficient"],
            logp=_log_likelihood,
            random=_draw,
            signature="(),(),(),()->(3)",
            observed=data["counts"],
            dims=("cell", "result"),
        )
        return tie

    def chances(self, eta: np.ndarray, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return ``win``, ``tie`` and ``loss`` where the linear predictor is `eta` (..., n)."""
        half = np.asarray(eta) / 2
        tie = np.broadcast_to(np.asarray(parameters["tie"])[..., None], half.shape)
        win, loss, tied = np.moveaxis(softmax(np.stack([half, -half, tie], -1), axis=-1), -1, 0)
        return {"win": win, "tie": tied, "loss": loss}

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return expected points P, shape (..., K, K), from `score` (..., K) and `tie` (...)."""
        score = np.asarray(posterior["score"])
        n_arms = score.shape[-1]
        first, second = (i.ravel() for i in np.indices((n_arms, n_arms)))
        parts = self.outcome_probabilities(posterior, first, second)
        points = parts["win"] + parts["tie"] / 2
        return points.reshape(*score.shape[:-1], n_arms, n_arms)

    def outcome_probabilities(
        self, posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``tie`` and ``loss`` of `left` against `right`, shape (..., n)."""
        return self.chances(
            scores.difference(posterior, {"first": left, "second": right}), posterior
        )


def _points(difference: Any, tie: Any) -> Any:
    import pytensor.tensor as pt

    half = difference / 2
    total = pt.logaddexp(pt.logaddexp(half, -half), tie)
    return pt.exp(half - total) + pt.exp(tie - total) / 2


def _log_likelihood(counts: Any, eta: Any, tie: Any, n: Any, log_coefficient: Any) -> Any:
    import pytensor.tensor as pt

    total = pt.logaddexp(pt.logaddexp(eta / 2, -eta / 2), tie)
    decided = (counts[..., 0] - counts[..., 1]) * eta / 2
    return decided + counts[..., 2] * tie - n * total + log_coefficient


def _draw(
    eta: np.ndarray,
    tie: np.ndarray,
    n: np.ndarray,
    log_coefficient: np.ndarray,
    rng: np.random.Generator,
    size: Any = None,
) -> np.ndarray:
    half = np.asarray(eta) / 2
    weights = np.stack([half, -half, np.broadcast_to(tie, half.shape)], axis=-1)
    chance = softmax(weights, axis=-1)
    return rng.multinomial(np.asarray(n).astype(np.int64), chance, size=size).astype(float)
