"""The contract of a model: what fitting, winners, predictions and reports ask of it.

A model is a linear predictor and a response; a layer changes the predictor of another model.
Everything downstream (fitting, winners, prediction, comparison, calibration, robust errors,
reports) uses the methods of :class:`Model` and never asks a model what kind it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesduel.models.cells import ModelCells, Seen
from bayesduel.models.response import SummedLogLikelihood, expected_score
from bayesduel.models.settings import ByValue

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.items import Items
    from bayesduel.models.predictor import DuelPredictor

__all__ = ["Approximation", "Model"]

Approximation = Literal["laplace", "population monte carlo", "nested laplace", "conjugate", "none"]
# Draws of `preference` are part of a model (and of a fit) while 4,000 of them fit in 64 MB.
PREFERENCE_ARMS = 44


class Model(ByValue, ABC):
    """What every model answers."""

    log_type: ClassVar[str] = "duels"  # or "pulls": which log it takes

    # -- what it is ------------------------------------------------------------------------

    @property
    @abstractmethod
    def name(self) -> str:
        """By which :func:`bayesduel.models.named` makes it."""

    @property
    def title(self) -> str:
        """The name by which a report calls it, and its assumption in brackets."""
        return self.name

    @property
    @abstractmethod
    def outcome(self) -> str:
        """What it observes: "win" (a tie counts half), "win or tie", "margin", "success"."""

    @property
    def score_unit(self) -> str:
        """Unit of the scores in words."""
        return "probability"

    @property
    def approximation(self) -> Approximation:
        """How its posterior is approximated.

        "laplace" (one learned scale at most), "population monte carlo" (several), "nested laplace"
        (varying effects), "conjugate" (exact), or "none": NUTS only, and `why_nuts` says why.
        """
        return "laplace"

    @property
    def why_nuts(self) -> str:
        """Why only NUTS can sample it, or ""."""
        return ""

    @property
    def why_not_sparse(self) -> str:
        """Why it cannot be sampled on the sparse graph of pairs that met, or "".

        That takes one score an arm with a normal prior and a logistic link, and beside them nothing
        but `fixed_effects`.
        """
        return f"{self.name} is not a model of one score an arm with a logistic link alone"

    def fixed_effects(self, cells: ModelCells) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return what enters the predictor of cells beside the scores, in known columns.

        By name of the parameter: its columns, (cells,) of a number or (cells, m), and the standard
        deviation of its normal prior, () or (m,). Of a model whose `why_not_sparse` is "".
        """
        return {}

    @property
    def summed_log_likelihood(self) -> SummedLogLikelihood | None:
        """A compiled sum of the log likelihood over cells, or None: then the graph serves."""
        return None

    @property
    def short_steps(self) -> bool:
        """Whether NUTS should take short steps, as a horseshoe needs."""
        return False

    @property
    def linear(self) -> bool:
        """Whether its predictor is linear in all parameters but the `hypers`."""
        return True

    @property
    def hypers(self) -> tuple[str, ...]:
        """Names of its learned standard deviations and other positive parameters."""
        return ()

    @property
    def spreads(self) -> tuple[str, ...]:
        """Those of the `hypers` that are standard deviations of effects of layers."""
        return ()

    @property
    def varying(self) -> Mapping[str, tuple[str, str]]:
        """Varying effects: parameters that are laid out group by group.

        By name: the column of the cells that holds their group, -1 for none, and the dimension of
        the groups. Given the other parameters the groups are independent.
        """
        return {}

    @property
    def ranks_by_score(self) -> bool:
        """Whether the larger ``score`` is the better arm. Else a fit calls them ``strength``."""
        return True

    @property
    def criteria_agree(self) -> bool:
        """Whether every criterion of a winner names the same arm."""
        return True

    @property
    def reads_order(self) -> bool:
        """Whether it matters who was left; then predictions can include that advantage."""
        return False

    @property
    def flat(self) -> bool:
        """Whether some prior is flat."""
        return False

    @property
    def integrates_pair(self) -> bool:
        """Whether a parameter belongs to one pair, so that leaving it out integrates it."""
        return False

    @property
    def splits_pairs(self) -> bool:
        """Whether duels of a pair are distinguished by more than their order."""
        return False

    @property
    def covariates(self) -> "DuelPredictor | None":
        """Covariates of the duel that its predictor has, or None."""
        return None

    @property
    def with_ties(self) -> "Model | None":
        """The same model with ties as an outcome, where it counts them as half a win; or None."""
        return None

    @property
    def controls(self) -> tuple[str, ...]:
        """What winners are free of, each as what holds in a neutral duel."""
        order = ("neither side has an advantage",) if self.reads_order else ()
        if self.covariates is None:
            return order
        return (*order, *(f"{name!r} is 0" for name in self.covariates.columns))

    @property
    def accounts_for(self) -> tuple[str, ...]:
        """Roles ("judge", "group") whose votes are independent given the parameters."""
        return ()

    # -- settings --------------------------------------------------------------------------

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them; ``bayesduel.models.named`` takes them."""

    @property
    def items(self) -> "Items | None":
        """The table of attributes of its arms, or None."""
        return None

    @property
    def score_link(self) -> str | None:
        """Link of a model of who wins by one score an arm and nothing else; else None.

        The posterior of such a model can be updated duel by duel.
        """
        return None

    @property
    def parts(self) -> "tuple[type[Model], ...]":
        """Classes of the model and of what it wraps, outermost first."""
        return (type(self),)

    def settled(self, log: Any) -> "Model":
        """Return the same with every setting that is read off the log written down."""
        return self

    # -- the log ---------------------------------------------------------------------------

    @abstractmethod
    def cells(self, log: Any, *, each: bool = False) -> ModelCells:
        """Return the log as the likelihood sees it, tallied once.

        Parameters
        ----------
        log
            Duels or pulls.
        each
            Whether every vote is a cell of its own.

        Raises
        ------
        ValueError
            If the log does not say what the model asks.
        """

    def check(self, log: Any) -> None:
        """Raise ValueError unless the log determines what this model estimates."""
        return

    def columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return what the model asks of each vote, whole numbers by name."""
        return {}

    def differences(self, log: Any) -> dict[str, np.ndarray]:
        """Return what differs between the sides of each vote, left minus right, by name."""
        return {}

    def tie_rule(self, log: Any) -> str:
        """Return in words what a tie of the log counts for."""
        if not log.n_ties:
            return "no ties" if log.tie_rule != "drop" else "ties left out"
        return "a tie counts half a win for each side"

    # -- the posterior ---------------------------------------------------------------------

    @abstractmethod
    def build(self, log: Any, *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of a log (or of its cells).

        Parameters
        ----------
        log
            The log, or what :meth:`cells` returned of it.
        centred
            Parameterisation of a learned scale; the posterior does not depend on it.
        """

    @abstractmethod
    def example(self) -> tuple["Model", Any]:
        """Return a model of the same form and a small log; equal for equal settings."""

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters of a fit that have some."""
        return {}

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of the model's own dimensions."""
        return {}

    def start(self, cells: ModelCells) -> np.ndarray:
        """Return where the search for several `hypers` starts: their logarithms, (q,)."""
        return np.zeros(0)

    def complete(
        self, posterior: Mapping[str, np.ndarray], cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with what the likelihood integrates out drawn too."""
        return dict(posterior)

    def scores_of(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with ``score``, which the parameters of items imply, (..., K)."""
        return posterior

    @abstractmethod
    def log_likelihood(self, posterior: Mapping[str, Any], cells: ModelCells) -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells)."""

    @abstractmethod
    def unit_seen(self, log: Any) -> Seen:
        """Return the log in the cells of which pairs that are left out are made."""

    @abstractmethod
    def unit_cells(self, log: Any, seen: Seen, unit: str) -> ModelCells:
        """Return cells whose outcomes are in their order (no number of orders enters).

        `unit` is what is left out: "pair", or "duel", of which `seen` has one a cell.
        """

    @abstractmethod
    def unit_log_likelihood(
        self, posterior: Mapping[str, Any], cells: ModelCells, unit: str
    ) -> np.ndarray:
        """Return the log likelihood of such cells, (draws, cells).

        Where a pair is left out, parameters that only that pair informs are integrated out.
        """

    # -- what a draw says of duels ---------------------------------------------------------

    @abstractmethod
    def outcome_probabilities(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        left_advantage: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of `left` against `right`, (..., n).

        Of a neutral duel: before an average judge, today, at neutral covariates; with
        `left_advantage`, with the advantage of the left side that the model learned.
        """

    @abstractmethod
    def cell_probabilities(
        self, posterior: Mapping[str, Any], cells: ModelCells
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of first in cells, (draws, cells).

        With what the cells say of order, judges, times and covariates.
        """

    def typical_score(self, eta: np.ndarray, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return the expected score of a side whose predictor is `eta`, (draws, ...).

        Raises
        ------
        TypeError
            If the model has no linear predictor.
        """
        raise TypeError(f"model should have a linear predictor, got {self!r}")

    def cells_at(self, columns: Mapping[str, np.ndarray], arms: tuple[str, ...]) -> ModelCells:
        """Return cells without outcomes, from their columns by name."""
        return ModelCells(log=None, seen=None, data=columns)

    def margins(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        left_advantage: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return location (..., n), scale (..., n) and degrees of freedom (..., 1) of margins.

        Of the next margin of `left` over `right`; infinite degrees are the normal distribution.
        None for a model of who wins.
        """
        return None

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P of neutral duels, shape (..., K, K): expected scores of i against j."""
        n_arms = self.n_arms(posterior)
        first, second = np.triu_indices(n_arms, 1)
        score = expected_score(self.outcome_probabilities(posterior, first, second))
        result = np.full((*score.shape[:-1], n_arms, n_arms), 0.5)
        result[..., first, second] = score
        result[..., second, first] = 1.0 - score
        return result

    def scores(self, posterior: Mapping[str, Any]) -> Any:
        """Return draws (draws, arms) of the scores.

        They are called ``strength`` where a layer lets preferences be intransitive.
        """
        for name in ("score", "strength"):
            if name in posterior:
                return posterior[name]
        raise ValueError("posterior should hold scores of the arms")

    def n_arms(self, posterior: Mapping[str, Any]) -> int:
        """Return the number of arms of a posterior."""
        return int(np.shape(self.scores(posterior))[-1])
