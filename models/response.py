"""Responses: how likely each outcome of a duel is, given its linear predictor.

A model is a response and a list of terms. The terms say how much better left is than right; the
response turns that into probabilities of outcomes. Every term works with every response through
the methods of :class:`Response`. Densities are written once, for tensors of the ``pm.Model`` and
for arrays of draws; their first and second derivatives in the predictor are closed forms.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, gammaln, ndtr, softmax

from bayesduel.models.cells import DIMS, ModelCells, Seen
from bayesduel.models.elementary import Quantity, Size, elementary
from bayesduel.models.log_normaliser import SummedLogLikelihood
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Arrays, ByValue, Dims, Named
from bayesduel.models.thurstone_likelihood import of_probit

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = [
    "TIES_LEFT_OUT",
    "Bernoulli",
    "DavidsonResponse",
    "Derivatives",
    "Response",
    "expected_score",
]

TIES_LEFT_OUT = "ties left out"  # the rule of a log that was read without them
FAR = 350.0  # logarithms of weights up to which no sum of weights or odds overflows

Predictor = Callable[[slice], np.ndarray]  # of some draws, to that of all cells (draws, cells)


class Derivatives(NamedTuple):
    """Derivatives of the log likelihood of cells in predictor and own numbers of the response."""

    # first and second derivative in the predictor, shape of the predictor
    slope: np.ndarray
    bend: np.ndarray
    # first derivative in each own number, and how `slope` moves with it, (cells, numbers)
    own: np.ndarray
    cross: np.ndarray
    # second derivatives of the sum over cells in the own numbers, (..., numbers, numbers)
    second: np.ndarray
    # where cells share observations: the observation of each cell (cells,), and v of the shape of
    # the predictor, whose products v v' within an observation add to the second derivatives
    joint: tuple[np.ndarray, np.ndarray] | None = None
    # log likelihood of each cell, shape of the predictor, where it takes little to find it too
    value: np.ndarray | None = None


class Response(ByValue, ABC):
    """The distribution of outcomes given the linear predictor.

    Examples
    --------
    >>> bd.models.Davidson().response.outcome
    'win or tie'
    """

    coords: ClassVar[Named] = {}  # coordinates of its own dimensions
    _tie_rule: ClassVar[str] = "a tie counts half a win for each side"

    @property
    @abstractmethod
    def outcome(self) -> str:
        """What is observed: "win" (a tie half), "win or tie", "grade", "margin" or "ranking"."""

    @property
    @abstractmethod
    def score_scale(self) -> float:
        """Scale of the half-normal prior of a learned scale of the scores, in `unit`."""

    @property
    def score_unit(self) -> str:
        """Unit of the scores in words."""
        return "logits"

    def scales(self, *, flat: bool) -> dict[str, Scale]:
        """Return its learned positive numbers; `flat` says whether priors are flat."""
        return {}

    @property
    def own(self) -> dict[str, tuple[float, float]]:
        """Mean and deviation of the normal priors of its other numbers, by name."""
        return {}

    @property
    def by_vote(self) -> bool:
        """Whether every vote is a cell of its own."""
        return False

    @property
    def coupled(self) -> bool:
        """Whether the duels of a pair share a parameter that the likelihood integrates out."""
        return False

    @property
    def by_arms(self) -> bool:
        """Whether it has parameters of pairs or arms, so that it asks who met whom."""
        own = self.scales(flat=False).values()
        return self.coupled or any(scale.dim == "arm" for scale in own)

    @property
    def counts_add_up(self) -> bool:
        """Whether counts of wins, losses and ties are all that it observes, so that they add up."""
        return True

    @property
    def result_points(self) -> np.ndarray:
        """Points of the first arm, by the results that `results` has."""
        return np.array([1.0, 0.0, 0.5])

    @property
    def ranks_by_score(self) -> bool:
        """Whether the larger score is the better arm."""
        return True

    @property
    def criteria_agree(self) -> bool:
        """Whether every criterion of a winner then names the same arm."""
        return True

    @property
    def score_link(self) -> str | None:
        """Link, "logit" or "probit", if the chance to win is its inverse of the predictor."""
        return None

    def summed_log_likelihood(self, data: Arrays) -> SummedLogLikelihood | None:
        """Return the sum over cells in its short form, or None; its ties are of number "tie"."""
        return None

    @property
    def dims(self) -> Dims:
        """Dimensions of the parameters of the response that are no scalars."""
        return {}

    @abstractmethod
    def data(self, duels: "Duels", seen: Seen, *, explicit: bool) -> dict[str, np.ndarray]:
        """Return the outcomes of cells as ``pm.Data``.

        With `explicit`, what the duels of a pair share is a parameter of the model, and
        ``pair_of_cell`` names the pair.
        """

    @abstractmethod
    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        """Add the outcomes of cells with predictor `eta` to the PyMC model in context.

        `parameters` are those of the model, with `scales` and `own`. Returns further ones by name.
        """

    @abstractmethod
    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        """Return the derivatives at one value of the parameters.

        `eta` is (..., cells): slope and bend have that shape; the others are at the last axis
        alone and of an `eta` (cells,).
        """

    @abstractmethod
    def outcome_probabilities(
        self, eta: np.ndarray, parameters: Named, first: Any, second: Any
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of first where the predictor is `eta`.

        Shapes (..., n); `parameters` have their draws first; `first` and `second` are indices
        of arms, (n,).
        """

    def chances_of_odds(
        self, first: np.ndarray, second: np.ndarray, parameters: Named
    ) -> dict[str, np.ndarray] | None:
        """Return the chances of a win and of a tie, of the exponentials of scores, (..., draws).

        None of a response that is no function of them.
        """
        return None

    def expected_score(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        """Return the probability that first wins, plus half that of a tie, (..., n)."""
        return expected_score(self.outcome_probabilities(eta, parameters, first, second))

    def results(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        """Return the probability of each result that is counted, (..., n, results)."""
        chances = self.outcome_probabilities(eta, parameters, first, second)
        names = [name for name in ("win", "loss", "tie") if name in chances]
        return np.stack([chances[name] for name in names], axis=-1)

    @abstractmethod
    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        """Return the log likelihood of cells, (draws, cells), where the predictor is `eta`.

        `parameters` have their draws first; `data` is what the model registers.
        """

    def unit(self, given: Named) -> Any:
        """Return the unit of the scores, on which priors stand."""
        return 1.0

    def check(self, duels: "Duels", *, ordered: bool, flat: bool) -> None:
        """Raise ValueError unless the outcomes of the log determine this response."""
        return

    def typical_score(self, eta: np.ndarray, parameters: Named) -> np.ndarray:
        """Return the expected score of a side whose predictor is `eta`, (draws, ...).

        Of arms with typical noise, where the noise depends on the arms.
        """
        flat = np.asarray(eta).reshape(len(eta), -1)
        nobody = np.zeros(flat.shape[1], dtype=int)
        found = self.expected_score(flat, parameters, nobody, nobody)
        return found.reshape(np.shape(eta))

    def margin(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return location, scale and degrees of freedom of the next margin, or None."""
        return None

    def start(self, name: str, cells: ModelCells) -> Any:
        """Return the logarithm of a learned scale from which a search starts; also of a term's."""
        return 0.0

    def complete(
        self, posterior: Arrays, eta: Predictor, cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with what the likelihood integrates out drawn too."""
        return dict(posterior)

    def tie_rule(self, duels: "Duels") -> str:
        """Return in words what a tie of the log counts for."""
        if not duels.n_ties:
            return TIES_LEFT_OUT if duels.tie_rule == "drop" else "no ties"
        return self._tie_rule


def expected_score(probabilities: Arrays) -> np.ndarray:
    """Return the probability of a win plus half the probability of a tie."""
    if "tie" in probabilities:
        return probabilities["win"] + probabilities["tie"] / 2
    return probabilities["win"]


@dataclass(frozen=True)
class Bernoulli(Response):
    """Win or loss, with a logistic or a normal link; a tie counts half a win for each side.

    Parameters
    ----------
    link
        "logit" (Bradley-Terry) or "probit" (Thurstone, Case V).

    Examples
    --------
    >>> type(bd.models.Model(bd.models.Bernoulli("probit"))).__name__
    'Thurstone'
    """

    link: str = "logit"

    outcome: ClassVar[str] = "win"

    @property
    def score_link(self) -> str | None:
        return self.link

    @property
    def score_scale(self) -> float:
        """Scale of the prior of a learned scale: similar win probabilities with either link."""
        return 2.0 if self.link == "logit" else 1.2

    def data(self, duels: "Duels", seen: Seen, *, explicit: bool) -> dict[str, np.ndarray]:
        """Return ``n`` duels and the first arm's ``points``, a tie counting half."""
        half_ties = seen.counts[:, 2:] / 2
        counts = seen.counts[:, :2] + half_ties
        return {
            "n": counts.sum(axis=-1),
            "log_coefficient": log_coefficient(counts),
            "points": counts[:, 0],
        }

    def summed_log_likelihood(self, data: Arrays) -> SummedLogLikelihood | None:
        if self.link != "logit":
            return None
        n = data["n"].astype(float)
        constant = data["log_coefficient"].sum()
        return SummedLogLikelihood(data["points"] - n / 2, n, 0.0, constant)

    @property
    def score_unit(self) -> str:
        return f"{self.link}s"

    def _density(
        self, points: Quantity, eta: Quantity, n: Quantity, log_coefficient: Quantity
    ) -> Any:
        of = elementary(eta)
        if self.link == "logit":
            return points * eta - n * of.softplus(eta) + log_coefficient
        log_win = of.log_ndtr(eta)
        log_loss = of.log_ndtr(-eta)
        return points * log_win + (n - points) * log_loss + log_coefficient

    def _draw(
        self, eta: np.ndarray, n: np.ndarray, log_coefficient: np.ndarray,
        rng: np.random.Generator, size: Size = None,
    ) -> np.ndarray:  # fmt: skip
        chance = self.typical_score(eta, {})
        drawn = rng.binomial(n.astype(np.int64), chance, size=size)
        return drawn.astype(float)

    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        found = self._density(data["points"], eta, data["n"], data["log_coefficient"])
        return np.asarray(found)

    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        points = data["points"]
        n = data["n"]
        if self.link == "logit":
            win = expit(eta)
            slope = points - n * win
            bend = -n * win * (1.0 - win)
            return without_own(slope, bend)
        draws = eta.reshape(-1, len(points))
        found = of_probit(draws, points, n - points)
        slope, bend, value = (one.reshape(eta.shape) for one in found)
        return without_own(slope, bend)._replace(value=value + data["log_coefficient"])

    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        beside = (given["n"], given["log_coefficient"])
        return observe("points", given, eta, *beside, logp=self._density, random=self._draw)

    def typical_score(self, eta: np.ndarray, parameters: Named) -> np.ndarray:
        chance = expit(eta) if self.link == "logit" else ndtr(eta)
        return np.asarray(chance)

    def outcome_probabilities(
        self, eta: np.ndarray, parameters: Named, first: Any, second: Any
    ) -> dict[str, np.ndarray]:
        win = self.typical_score(eta, parameters)
        return {"win": win, "loss": self.typical_score(-eta, parameters)}

    def chances_of_odds(
        self, first: np.ndarray, second: np.ndarray, parameters: Named
    ) -> dict[str, np.ndarray] | None:
        if self.score_link != "logit":
            return None
        win = first + second
        np.divide(first, win, out=win)
        return {"win": win}

    def expected_score(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        return self.typical_score(eta, parameters)


@dataclass(frozen=True)
class DavidsonResponse(Response):
    """Win, loss or tie: Davidson's model, with one tendency to tie."""

    outcome: ClassVar[str] = "win or tie"
    score_scale: ClassVar[float] = 2.0
    coords: ClassVar[Named] = {"result": ["first", "second", "tie"]}
    own: ClassVar[dict[str, tuple[float, float]]] = {"tie": (-0.7, 1.5)}  # tendency to tie
    _tie_rule: ClassVar[str] = "a tie is an outcome"

    def summed_log_likelihood(self, data: Arrays) -> SummedLogLikelihood:
        counts = data["counts"].astype(float)
        n = data["n"].astype(float)
        slope = (counts[:, 0] - counts[:, 1]) / 2
        constant = data["log_coefficient"].sum()
        return SummedLogLikelihood(slope, n, counts[:, 2].sum(), constant)

    def check(self, duels: "Duels", *, ordered: bool, flat: bool) -> None:
        if duels.tie_rule != "keep":
            raise ValueError(
                f"the Davidson model needs the ties: read the log with ties='keep', "
                f"got a log read with ties={duels.tie_rule!r}"
            )
        if flat and duels.n_ties == 0:
            raise ValueError("scale should be finite when the log has no ties, got inf")

    def data(self, duels: "Duels", seen: Seen, *, explicit: bool) -> dict[str, np.ndarray]:
        """Return ``n`` duels and the ``counts`` of first wins, second wins and ties."""
        return {
            "n": seen.counts.sum(axis=-1),
            "log_coefficient": log_coefficient(seen.counts),
            "counts": seen.counts,
        }

    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        tie = np.asarray(parameters["tie"])[..., None]
        return np.asarray(
            _davidson_density(data["counts"], eta, tie, data["n"], data["log_coefficient"])
        )

    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        counts = data["counts"]
        n = data["n"]
        chance = self.outcome_probabilities(eta, parameters, None, None)
        ahead = (chance["win"] - chance["loss"]) / 2
        tie = chance["tie"]
        won = (counts[:, 0] - counts[:, 1]) / 2
        tied = n * tie
        n_ties = counts[:, 2]
        bend = n * (ahead * ahead - (1 - tie) / 4)
        second = -(tied * (1 - tie)).sum(axis=-1)
        level = np.asarray(parameters["tie"])[..., None]
        log_normaliser = n * (np.log(tie) - level)
        value = won * eta + n_ties * level + log_normaliser + data["log_coefficient"]
        return Derivatives(
            won - n * ahead,
            bend,
            (n_ties - tied)[..., None],
            (ahead * tied)[..., None],
            second[..., None, None],
            value=value,
        )

    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        beside = (parameters["tie"], given["n"], given["log_coefficient"])
        how = {"random": _draw_davidson, "signature": "(),(),(),()->(3)"}
        return observe("counts", given, eta, *beside, logp=_davidson_density, **how)

    def _weights(
        self, eta: np.ndarray, parameters: Named
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what the probabilities of a win, a tie and a loss are proportional to."""
        half = np.asarray(eta) / 2
        tie = np.asarray(parameters["tie"])[..., None]
        farthest = max(half.max(initial=0.0), -half.min(initial=0.0))
        if farthest > FAR or np.abs(tie).max(initial=0.0) > FAR:
            top = np.maximum(np.abs(half), tie)  # the largest weight is 1 then
            win = np.exp(half - top)
            loss = np.exp(-half - top)
            return win, np.exp(tie - top), loss
        win = np.exp(half, out=half)
        return win, np.exp(tie), 1 / win

    def outcome_probabilities(
        self, eta: np.ndarray, parameters: Named, first: Any, second: Any
    ) -> dict[str, np.ndarray]:
        win, level, loss = self._weights(eta, parameters)
        share = win + loss
        share += level
        np.divide(1, share, out=share)
        win *= share
        loss *= share
        return {"win": win, "tie": level * share, "loss": loss}

    def chances_of_odds(
        self, first: np.ndarray, second: np.ndarray, parameters: Named
    ) -> dict[str, np.ndarray] | None:
        if np.abs(parameters["tie"]).max(initial=0.0) > FAR:
            return None
        tie = first * second
        np.sqrt(tie, out=tie)
        tie *= np.exp(parameters["tie"])
        share = tie + second
        share += first
        np.divide(1, share, out=share)
        tie *= share
        share *= first
        return {"win": share, "tie": tie}


def observe(
    name: str, given: Named, *arguments: Any, logp: Callable[..., Any], **how: Any
) -> dict[str, Any]:
    """Add what was observed of cells to the PyMC model in context; return no parameters.

    name: which of the data it is; arguments: what its density depends on, the predictor first;
    how: how it is drawn, for ``pm.CustomDist``.
    """
    import pymc as pm

    dims = DIMS.get(name, ("cell",))
    pm.CustomDist("outcome", *arguments, logp=logp, observed=given[name], dims=dims, **how)
    return {}


def without_own(slope: np.ndarray, bend: np.ndarray) -> Derivatives:
    """Return the derivatives of a response without numbers of its own."""
    none = np.zeros((slope.shape[-1], 0))
    return Derivatives(slope, bend, none, none, np.zeros((0, 0)))


def log_coefficient(counts: np.ndarray) -> np.ndarray:
    """Return the log number of orders of outcomes with these counts, (cells,) of (cells, r)."""
    of_all = gammaln(counts.sum(axis=-1) + 1)
    of_each = gammaln(counts + 1)
    return of_all - of_each.sum(axis=-1)


# -- densities, and draws from them -------------------------------------------------------


def _davidson_density(
    counts: Quantity, eta: Quantity, tie: Quantity, n: Quantity, log_coefficient: Quantity
) -> Any:
    of = elementary(eta)
    # log(exp(eta / 2) + exp(-eta / 2) + exp(tie)), by one logarithm, of 1 or more
    half = abs(eta) / 2
    small = of.exp(-half)
    log_total = half + of.log(1 + small * (small + of.exp(tie)))
    won = counts[..., 0] - counts[..., 1]
    tied = counts[..., 2]
    return won * eta / 2 + tied * tie - n * log_total + log_coefficient


def _draw_davidson(
    eta: np.ndarray, tie: np.ndarray, n: np.ndarray, log_coefficient: np.ndarray,
    rng: np.random.Generator, size: Size = None,
) -> np.ndarray:  # fmt: skip
    half = np.asarray(eta) / 2
    of_tie = np.broadcast_to(tie, half.shape)
    weights = np.stack([half, -half, of_tie], axis=-1)
    chance = softmax(weights, axis=-1)
    n_duels = np.asarray(n).astype(np.int64)
    drawn = rng.multinomial(n_duels, chance, size=size)
    return drawn.astype(float)
