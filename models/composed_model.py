"""Composed models: a linear predictor and a response, and layers around them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.cells import ModelCells, Seen, seen_in
from bayesduel.models.model import Approximation, Model
from bayesduel.models.predictor import DuelPredictor, Predictor
from bayesduel.models.response import Response, SummedLogLikelihood

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.items import Items

__all__ = ["ComposedModel"]

PAIRS = 4_000_000  # draws x pairs worked on at once


class ComposedModel(Model):
    """A model made of a linear predictor and a response: score models and layers around them.

    Subclasses say what their `response` and `predictor` are, which parameters they `add`, and
    what the predictor `eta` of a cell is: one expression for tensors of the model and for draws.
    """

    @property
    @abstractmethod
    def response(self) -> Response:
        """How outcomes depend on the predictor."""

    @property
    @abstractmethod
    def predictor(self) -> Predictor:
        """What arms are worth, and covariates of the duel."""

    @abstractmethod
    def latents(self, given: Mapping[str, Any], log: Any, *, centred: bool) -> dict[str, Any]:
        """Add the parameters of the predictor to the model in context; return them by name."""

    @abstractmethod
    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the linear predictor of cells, (..., cells), first over second."""

    # -- what follows ----------------------------------------------------------------------

    @property
    def outcome(self) -> str:
        """What it observes."""
        return self.response.outcome

    @property
    def score_unit(self) -> str:
        """Unit of the scores in words."""
        return self.response.score_unit

    @property
    def hypers(self) -> tuple[str, ...]:
        """Learned standard deviations, then the positive parameters of the response."""
        return (*self.predictor.arms.hypers, *self.response.hypers)

    @property
    def approximation(self) -> Approximation:
        """Laplace with one learned scale at most; else population Monte Carlo or nested Laplace."""
        if self.why_nuts:
            return "none"
        if self.varying:
            return "nested laplace"
        several = bool(self.response.hypers) or len(self.hypers) > 1
        return "population monte carlo" if several else "laplace"

    @property
    def why_nuts(self) -> str:
        """Why only NUTS can sample it, or ""."""
        if why := self.predictor.arms.why_nuts:
            return why
        if not self.linear:
            return "its predictor is not linear in its parameters"
        if self.response.coupled and self.splits_pairs:
            return "duels of a pair share a parameter that its layers do not let integrate out"
        return ""

    @property
    def summed_log_likelihood(self) -> SummedLogLikelihood | None:
        """The compiled sum of its response, or None."""
        return self.response.summed_log_likelihood

    @property
    def short_steps(self) -> bool:
        """Whether NUTS should take short steps, as a horseshoe needs."""
        return bool(self.predictor.arms.why_nuts)

    @property
    def ranks_by_score(self) -> bool:
        """Whether the larger score is the better arm."""
        return self.response.ranks_by_score and self.ranks_by_layers

    @property
    def criteria_agree(self) -> bool:
        """Whether every criterion of a winner names the same arm."""
        return self.response.criteria_agree and self.ranks_by_score

    @property
    def flat(self) -> bool:
        """Whether the predictor has a flat prior."""
        return self.predictor.flat

    @property
    def items(self) -> "Items | None":
        """The table of attributes of its arms, or None."""
        return self.predictor.arms.items

    @property
    def splits_pairs(self) -> bool:
        """Whether duels of a pair are distinguished by more than their order."""
        return self.predictor.duel is not None

    @property
    def covariates(self) -> DuelPredictor | None:
        """Covariates of the duel that its predictor has, or None."""
        return self.predictor.duel

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers, outermost first."""
        return ()

    @property
    def integrates_pair(self) -> bool:
        """Whether a parameter of the response belongs to one pair only."""
        return self.response.coupled

    def tie_rule(self, log: Any) -> str:
        """Return in words what a tie of the log counts for."""
        return self.response.tie_rule(log)

    def check(self, log: Any) -> None:
        """Raise ValueError unless the log determines what this model estimates."""
        self.response.check(log, ordered=self.reads_order, flat=self.predictor.flat)
        if self.flat and self.response.counts_add_up:
            from bayesduel.models.identifiability import check_flat

            check_flat(self, log)

    def differences(self, log: Any) -> dict[str, np.ndarray]:
        """Return the covariates of each vote, left minus right."""
        duel = self.predictor.duel
        return {} if duel is None else duel.differences(log)

    def seen(self, log: Any, *, each: bool = False, by_vote: bool = False) -> Seen:
        """Return the log in the cells that this model distinguishes.

        With `each`, every vote is a cell; with `by_vote`, the cell of each vote is known.
        """
        response, columns, differences = self.response, self.columns(log), self.differences(log)
        by_sides = response.coupled and not (columns or differences)
        return seen_in(
            log,
            columns,
            differences,
            ordered=self.reads_order and not by_sides,
            each=each or response.by_vote,
            by_vote=by_vote or not response.counts_add_up,
        )

    def cells(self, log: Any, *, each: bool = False) -> ModelCells:
        """Return the log as the likelihood sees it, tallied once."""
        if isinstance(log, ModelCells):
            return log
        self.response.check(log, ordered=self.reads_order, flat=self.predictor.flat)
        seen = self.seen(log, each=each)
        return self.cells_of(log, seen)

    def cells_of(self, log: Any, seen: Seen, *, explicit: bool | None = None) -> ModelCells:
        """Return the cells of a log that is tallied already.

        With `explicit`, what the duels of a pair share is not integrated out.
        """
        if explicit is None:
            explicit = self.response.coupled and self.splits_pairs
        data = {"first": seen.columns["first"], "second": seen.columns["second"]}
        outcomes = self.response.data(log, seen, explicit=explicit)
        data |= {k: v for k, v in seen.columns.items() if k not in data}
        return ModelCells(log=log, seen=seen, data=data | outcomes | self.tables(log, data))

    def tables(self, log: Any, cells: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return what the model registers beside the outcomes of cells."""
        duel = self.predictor.duel
        own = {} if duel is None else duel.data(log)
        return self.predictor.arms.data(log) | own

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters of a fit that have some."""
        duel = self.predictor.duel
        own = {} if duel is None else duel.dims
        return {**self.predictor.arms.dims, **own, **self.response.dims}

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of the model's own dimensions."""
        duel = self.predictor.duel
        return self.predictor.arms.coords(log) | ({} if duel is None else duel.coords(log))

    def build(self, log: Any, *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of a log (or of its cells).

        Its dims are arm, opponent, free (K - 1), pair, cell and the model's own. See
        :meth:`Model.build` for the parameters.
        """
        import pymc as pm

        cells = self.cells(log)
        arms = list(cells.log.arms)
        coords: dict[str, Any] = {
            "arm": arms,
            "opponent": arms,
            "free": np.arange(len(arms) - 1),
            "cell": np.arange(len(cells)),
            **self.response.coords,
            **self.coords(cells.log),
        }
        if "pair_of_cell" in cells.data:
            coords["pair"] = np.arange(len(arms) * (len(arms) - 1) // 2)
        with pm.Model(coords=coords) as model:
            given = cells.register()
            parameters = self.latents(given, cells.log, centred=centred)
            eta = self.eta(parameters, given)
            eta.name = "eta"
            self.response.respond(eta, given, parameters, flat=self.predictor.flat)
        return model

    def example(self) -> tuple["Model", Any]:
        """Return a model of the same form and a small log; equal for equal settings."""
        from bayesduel.data.duels import Duels

        duel = self.predictor.duel
        votes = {
            "left": "0120",
            "right": "1201",
            "outcome": [1, 1, 0, 0.5],
            "margin": [1.0, 2.0, -2.0, 0.0],
            "judge": "abba",
            "category": "uvvu",
        }
        columns = {} if duel is None else {c: [1.0, 0.0, -1.0, 2.0] for c in duel.columns}
        log = Duels.from_votes(**votes, covariates=columns or None)  # type: ignore[arg-type]
        return self.of_example(), log

    @abstractmethod
    def of_example(self) -> "ComposedModel":
        """Return a model of the same form for the arms "0", "1" and "2"."""

    def start(self, cells: ModelCells) -> np.ndarray:
        """Return where the search for the `hypers` starts: their logarithms, (q,)."""
        known = self.response.start(cells)
        starts = [np.atleast_1d(known.get(name, 0.0)) for name in self.hypers]
        return np.concatenate([np.zeros(0), *starts])

    def complete(
        self, posterior: Mapping[str, np.ndarray], cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with scores, and with what the likelihood integrates out."""
        found = self.implied(posterior, cells.log.arms)
        found = self.parameters(self.predictor.arms.score(found, cells.log.arms))

        def eta(which: slice) -> np.ndarray:
            return self.eta({n: v[which] for n, v in found.items()}, cells.data)

        whole = self.response.complete(found, eta, cells, rng)
        if not self.ranks_by_layers:
            whole["strength"] = whole.pop("score")
        return whole

    def implied(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with what the free numbers of layers imply in place of these."""
        return posterior

    def log_likelihood(self, posterior: Mapping[str, Any], cells: ModelCells) -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells)."""
        known = self.parameters(posterior)
        draws = len(next(iter(known.values())))
        result = np.empty((draws, len(cells)))
        step = max(1, PAIRS // max(len(cells), 1))
        for start in range(0, draws, step):
            here = {n: np.asarray(v)[start : start + step] for n, v in known.items()}
            eta = self.eta(here, cells.data)
            result[start : start + step] = self.response.log_likelihood(eta, here, cells.data)
        return result

    def unit_seen(self, log: Any) -> Seen:
        """Return the log in the cells of which pairs that are left out are made."""
        return self.seen(log)

    def unit_cells(self, log: Any, seen: Seen, unit: str) -> ModelCells:
        """Return cells whose outcomes are in their order; see :class:`Model`."""
        explicit = True if unit == "duel" and self.response.coupled else None
        cells = self.cells_of(log, seen, explicit=explicit)
        data = dict(cells.data)
        if self.response.counts_add_up:
            data["log_coefficient"] = np.zeros(len(cells))
        elif unit == "duel":
            data |= {"n": np.ones(len(cells)), "n_left": np.ones(len(cells))}
        return replace(cells, data=data)

    def unit_log_likelihood(
        self, posterior: Mapping[str, Any], cells: ModelCells, unit: str
    ) -> np.ndarray:
        """Return the log likelihood of such cells, (draws, cells)."""
        return self.log_likelihood(posterior, cells)

    def scores_of(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with ``score``, which the parameters of items imply, (..., K)."""
        return self.predictor.arms.score(posterior, arms)

    @property
    def ranks_by_layers(self) -> bool:
        """Whether no layer lets preferences be intransitive."""
        return True

    def parameters(self, posterior: Mapping[str, Any]) -> dict[str, Any]:
        """Return draws by the names that :meth:`eta` knows.

        A fit calls the scores ``strength`` where a layer lets preferences be intransitive.
        """
        if "strength" in posterior and "score" not in posterior:
            return {**posterior, "score": posterior["strength"]}
        return dict(posterior)

    def neutral(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        left_advantage: bool,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the predictor of neutral duels, (..., n), and the parameters it is of."""
        parameters = self.parameters(posterior)
        cells: dict[str, np.ndarray] = {"first": left, "second": right}
        if left_advantage:
            cells["left_first"] = np.ones(len(np.atleast_1d(left)))
        return self.eta(parameters, cells), parameters

    def outcome_probabilities(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        left_advantage: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of neutral duels; see :class:`Model`."""
        eta, known = self.neutral(posterior, left, right, left_advantage=left_advantage)
        return self.response.outcome_probabilities(eta, known, left, right)

    def typical_score(self, eta: np.ndarray, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return the expected score of a side whose predictor is `eta`, (draws, ...)."""
        return self.response.typical_score(eta, posterior)

    def cells_at(self, columns: Mapping[str, np.ndarray], arms: tuple[str, ...]) -> ModelCells:
        """Return cells without outcomes, from their columns by name."""
        tables = self.predictor_data(arms, columns)
        return ModelCells(log=None, seen=None, data={**columns, **tables})

    def predictor_data(
        self, arms: tuple[str, ...], columns: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what the predictor of cells needs beside their columns."""
        return {}

    def cell_probabilities(
        self, posterior: Mapping[str, Any], cells: ModelCells
    ) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of first in cells, (draws, cells).

        With what the cells say of order, judges, times and covariates.
        """
        known, data = self.parameters(posterior), cells.data
        eta = self.eta(known, data)
        if self.reads_order and "left_first" not in data:  # cells by unordered pair
            eta = eta + np.asarray(known["order"])[:, None] * (2 * data["n_left"] / data["n"] - 1)
        return self.response.outcome_probabilities(eta, known, data["first"], data["second"])

    def margins(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        left_advantage: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return location, scale and degrees of freedom of margins; see :class:`Model`."""
        eta, known = self.neutral(posterior, left, right, left_advantage=left_advantage)
        return self.response.margin(eta, known, left, right)
