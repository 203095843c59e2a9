"""Models: a response and a list of terms.

The response says how likely each outcome of a duel is given its linear predictor; the terms are
what the predictor is made of. Everything else follows from the two, once: the ``pm.Model``, the
learned scales, dimensions, settings, what a ranking is free of, and how outcomes are predicted
under given conditions. Everything downstream asks these methods and never what kind a model is.
"""

import inspect
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from bayesduel.data.teams import Teams
from bayesduel.models.cells import Log, ModelCells, Seen, seat_columns, seen_in
from bayesduel.models.elementary import Unit
from bayesduel.models.prior import Entries, Prior, Said, each_of, entries_of, normals
from bayesduel.models.response import Response
from bayesduel.models.scale_prior import Scale
from bayesduel.models.scores import Scores
from bayesduel.models.settings import Arrays, ByValue, Dims, Named
from bayesduel.models.term import Part, Term, Terms
from bayesduel.models.touch import Touch, contribution
from bayesduel.system.arguments import check_type, shown_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pymc as pm

    from bayesduel.data.duels import Duels
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings


__all__ = ["NODES", "WEIGHTS", "Model"]

# Gauss-Hermite quadrature of a standard normal number: of logistic probabilities within 1e-3 where
# the deviation is up to 3, within 1e-5 up to 1.5 (tests/posterior/test_estimand.py).
NODES, WEIGHTS = hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
# Draws of `preference` are part of a model (and of a fit) while 4,000 of them fit in 64 MB.
PREFERENCE_ARMS = 44


NAMED: list[Any] = []  # classes of models with a response, in the order of their definition


class _Named(ABCMeta):
    """Makes ``Model(response, predictor)`` the named model of the response.

    ``__new__`` of `Model` cannot: Python calls ``__init__`` of the model that it returns, with the
    arguments of the call, so that the response would be taken for the predictor.
    """

    def __call__(cls, *args: Any, **settings: Any) -> Any:
        """Return a new model."""
        if cls is not Model:
            return super().__call__(*args, **settings)
        response, *rest = args or (settings.pop("response", None),)
        check_type(response, Response, "response", "a response such as Bernoulli()")
        for kind in NAMED:
            own = kind.of_response(response)
            if own is not None:
                return kind(*rest, **(own | settings))
        raise TypeError(
            f"response should belong to a model, got {shown_value(response)}: write a subclass of "
            "ScoreModel with a label and this response (CONTRIBUTING.md, Add a model)"
        )

    @property
    def __signature__(cls) -> inspect.Signature:
        """The arguments of the class, which a metaclass would hide from help()."""
        kind: Any = cls
        found = inspect.signature(kind.__init__)
        return found.replace(parameters=[*found.parameters.values()][1:])


class Model(ByValue, metaclass=_Named):
    """The questions that every model answers.

    ``Model(Bernoulli("logit"), Scores() + SideAdvantage())`` makes the named model of a response:
    ``BradleyTerry(Scores() + SideAdvantage())``.

    Attributes
    ----------
    log_type
        "duels", "rankings" or "pulls": which log it takes.

    Examples
    --------
    >>> type(bd.models.Model(bd.models.Bernoulli("logit"), bd.models.Scores())).__name__
    'BradleyTerry'
    """

    log_type: ClassVar[str] = "duels"

    # -- what it is made of ----------------------------------------------------------------

    @property
    @abstractmethod
    def response(self) -> Response:
        """How outcomes depend on the predictor."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The terms of the predictor."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The text that :func:`bayesduel.models.named` makes it of, and that a stored fit has."""

    @property
    def title(self) -> str:
        """The name by which a report calls it, and its assumption in brackets."""
        return self.name

    def titled(self, noun: str = "arm") -> str:
        """Return :attr:`title`; `noun` is what an arm is called."""
        return self.title

    def tie_words(self, rule: str, noun: str) -> str:
        """Return what a tie counts for, by the rule of a fit; `noun` is what an arm is called."""
        return rule

    def __add__(self, other: Part) -> Self:
        """Return the same with a further term; raise TypeError where it takes none."""
        raise TypeError(
            f"terms should be added to a model with scores, such as BradleyTerry(), got {self.name}"
        )

    def settled(self, log: "Duels | Rankings | Pulls") -> Self:
        """Return the same with every setting that is read off the log written down."""
        return self

    @property
    def said(self) -> dict[str, Said]:
        """Priors that were said, by the name of a variable of a fit."""
        found: dict[str, Said] = {}
        for part in self.terms:
            found |= part.priors
        return found

    def with_priors(self, priors: "Mapping[str, Any]") -> Self:
        """Return the same with these priors, by the name of a variable of a fit.

        Raises TypeError or ValueError where it has no such variable, or they are no priors of it.
        """
        raise TypeError(f"priors should be of a model with scores, got {self.name}")

    def entries(self, log: Log) -> dict[str, Entries]:
        """Return the priors that were said of coefficients, for each entry of their last axis.

        By the name of the parameter; None where nothing was said. Raises ValueError where an entry
        is not known.
        """
        found = {}
        for part in self.terms:
            if not isinstance(part, Term) or part.parameter not in self.said:
                continue
            name = part.parameter
            dims = part.dims.get(name, ())
            labels: Any = [""]
            if dims:
                last = dims[-1]
                labels = log.arms if last == "arm" else self.terms.coords(log)[last]
            levels = list(map(str, labels))
            found[name] = entries_of(self.said[name], levels, name)
        return found

    @property
    def scales(self) -> dict[str, Scale]:
        """Its learned positive numbers: of the terms in their order, then of the response."""
        said: Any = self.said
        found: dict[str, Scale] = {}
        for part in self.terms:
            for name, scale in part.scales.items():
                if scale.size is None:
                    scale = replace(scale, size=self.response.score_scale)
                found[name] = scale
        found |= self.response.scales(flat=self.terms.flat)
        if isinstance(said.get("score"), Prior):  # of every arm
            found.pop("scale", None)
        for name in found.keys() & said.keys():
            found[name] = replace(found[name], prior=said[name])
        return found

    @property
    def own(self) -> dict[str, tuple[float, float]]:
        """Mean and deviation of the normal priors of the response's own numbers, by name."""
        said: Any = self.said
        found = dict(self.response.own)
        if self.terms.flat:
            return {n: (mean, np.inf) for n, (mean, _) in found.items()}
        for name in found.keys() & said.keys():
            mean, deviation = normals((said[name],))
            found[name] = float(mean[0]), float(deviation[0])
        return found

    @property
    def dims(self) -> Dims:
        """Dimensions of the parameters of a fit that have some."""
        found: Dims = {}
        for part in self.terms:
            found |= part.dims
        return found | self.response.dims

    # -- what follows for inference and winners --------------------------------------------

    def why_not(self, method: str) -> str:
        """Return why `method` cannot find its posterior, or "" where it can; NUTS always can.

        method: "conjugate" (in closed form), "laplace" (normal distributions given the scales), or
            "sparse" (on the graph of pairs that met: one score per arm with a normal prior and a
            logistic link, and beside them a few coefficients with known normal priors).
        """
        if method == "conjugate":
            return "the prior is not conjugate"
        if method == "laplace":
            if self.response.coupled and self.terms.splits:
                coupled = (
                    "duels of a pair share a parameter that its terms do not let integrate out"
                )
                return self.terms.why_nuts or coupled
            scales = self.response.scales(flat=self.terms.flat)
            by_arm = any(scale.dim for scale in scales.values())
            many = "its response learns a scale for each arm" if by_arm else ""
            return self.terms.why_nuts or many or self._why_not_normal
        if self.response.score_link != "logit":
            return f"the response of {self.name} is not a logistic model of who wins"
        of_scale = "scale" in self.scales and self.scales["scale"].prior == "half-normal"
        others = [name for name in self.said if name != "scale" or not of_scale]
        if others:
            return f"this method cannot use the prior of {others[0]}"
        return self.terms.why_not_sparse

    @property
    def _why_not_normal(self) -> str:
        """Why its coefficients are not normal given its scales, or ""."""
        for name, said in self.said.items():
            for one in () if name in self.scales else each_of(said):
                if one.distribution != "Normal":
                    return f"the prior of {name} is {one.distribution}, which is not normal"
        return ""

    @property
    def ranks_by_score(self) -> bool:
        """Whether the larger ``score`` is the better arm. Else a fit calls them ``strength``."""
        return self.response.ranks_by_score and not self.terms.cyclic

    @property
    def criteria_agree(self) -> bool:
        """Whether every criterion of a winner names the same arm."""
        return self.response.criteria_agree and self.ranks_by_score

    @property
    def score_link(self) -> str | None:
        """Link of a model of who wins by one score per arm and nothing else; else None.

        The posterior of such a model can be updated duel by duel.
        """
        alone = tuple(self.terms) == (Scores(),) and not self.said
        return self.response.score_link if alone else None

    # -- the log ---------------------------------------------------------------------------

    def why_not_teams(self, teams: Teams) -> str:
        """Return why a log of these teams is not for this model, or "" where it is."""
        if self.response.by_arms:
            return f"the response of {self.name} has a parameter for each pair or arm that meets"
        if self.terms.without_teams:
            return f"{self.terms.without_teams[0]} needs one arm per side"
        if self.terms.items is not None and np.ptp(teams.sizes):
            return "attributes of items are summed over members, and sides differ in size"
        return ""

    def check_teams(self, teams: Teams | None) -> None:
        """Raise ValueError if sides have several arms and this model does not take them."""
        why = "" if teams is None else self.why_not_teams(teams)
        if why:
            raise ValueError(
                f"duels should have one arm per side for {self.name}, got sides of several arms: "
                f"{why}. Use BradleyTerry(), Davidson() or ThurstoneScore(variances='common'), or "
                "make each side an arm of its own (Duels.as_sides)"
            )

    def seats(self, teams: Teams | None, first: np.ndarray, second: np.ndarray) -> Arrays:
        """Return the members of the sides of cells, as its terms ask for them.

        first, second: indices of teams; where sides are single arms nothing is returned.
        """
        return seat_columns(teams, first, second, mean=self.terms.means)

    def check(self, log: Any) -> None:
        """Raise ValueError unless the log determines what this model estimates."""
        flat = self.terms.flat
        self.response.check(log, ordered=self.terms.reads_order, flat=flat)
        if flat:
            from bayesduel.models.identifiability import check_flat

            check_flat(self, log)

    def cells(
        self,
        log: Any,
        *,
        each: bool = False,
        by_vote: bool = False,
        unit: str = "",
        seen: Seen | None = None,
    ) -> ModelCells:
        """Return the log as the likelihood sees it, tallied once.

        log: duels or pulls.
        each: whether every vote is a cell of its own.
        by_vote: whether the cell of each vote is known.
        unit: "pair", "duel" or a column, where such units are left out: outcomes are in their
            order, and no number of orders enters. But of whole pairs, what the duels of a pair
            share is a parameter.
        seen: the tallied log, where it is known.
        Raises ValueError if the log does not say what the model asks.
        """
        if isinstance(log, ModelCells):
            return log
        response = self.response
        terms = self.terms
        self.check_teams(log.teams)
        response.check(log, ordered=terms.reads_order, flat=terms.flat)
        if seen is None:
            seen = self._seen(log, each=each, by_vote=by_vote)
        explicit = response.coupled and (terms.splits or unit not in ("", "pair"))
        data = dict(seen.columns) | response.data(log, seen, explicit=explicit)
        data |= self.seats(log.teams, seen.columns["first"], seen.columns["second"])
        if unit and "log_coefficient" in data:
            data["log_coefficient"] = np.zeros(len(seen))
        elif unit == "duel":
            data |= {"n": np.ones(len(seen)), "n_left": np.ones(len(seen))}
        return ModelCells(log=log, seen=seen, data=data | terms.tables(log.arms))

    def _seen(self, log: Any, *, each: bool, by_vote: bool) -> Seen:
        """Return the log in the cells that this model distinguishes."""
        by_sides = self.response.coupled and not self.terms.splits
        return seen_in(
            log,
            self.terms.columns(log),
            ordered=self.terms.reads_order and not by_sides,
            each=each or self.response.by_vote,
            by_vote=by_vote or not self.response.counts_add_up,
        )

    # -- the density -----------------------------------------------------------------------

    def build(self, log: Any, *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of a log (or of its cells).

        Its dims are arm, opponent, free (K - 1), pair, cell and the model's own; `centred` is the
        parameterisation of a learned scale, on which the posterior does not depend.
        """
        import pymc as pm

        cells = self.cells(log)
        model = self.settled(cells.log)
        arms = list(cells.log.arms)
        coords: dict[str, Any] = {
            "arm": arms,
            "opponent": arms,
            "free": np.arange(len(arms) - 1),
            "cell": np.arange(len(cells)),
            **self.response.coords,
            **model.terms.coords(cells.log),
        }
        if "pair_of_cell" in cells.data:
            n_pairs = len(arms) * (len(arms) - 1) // 2
            coords["pair"] = np.arange(n_pairs)
        with pm.Model(coords=coords) as built:
            given = cells.register()
            eta, parameters = model._add(cells, given, centred=centred)
            eta.name = "eta"
            model.response.respond(eta, given, parameters)
        return built

    def _add(self, cells: ModelCells, given: Named, *, centred: bool) -> tuple[Any, dict[str, Any]]:
        """Add scales and coefficients to the PyMC model in context; return predictor and all."""
        import pymc as pm

        unit = self.response.unit(given)
        flat = self.terms.flat
        said: Any = self.said
        entries = self.entries(cells.log)
        parameters = {name: scale.add(name, unit) for name, scale in self.scales.items()}
        for name, (mean, deviation) in self.response.own.items():
            if name in said:
                parameters[name] = said[name].add(name)
            elif flat:
                parameters[name] = pm.Flat(name)
            else:
                parameters[name] = pm.Normal(name, mean, deviation)

        def added(part: Part) -> dict[str, Any]:
            own = entries.get(getattr(part, "parameter", ""))
            if own is None:
                return part.add(given, unit, parameters, centred=centred)
            return _with_prior(part, own, given, unit, parameters, centred=centred)

        utility: Any = 0.0
        for arm in self.terms.arms:
            parameters |= added(arm)
            utility = utility + arm.utility(parameters, given.get("table"))
        if "score" not in parameters:
            score = pm.Deterministic("score", utility - utility.mean(), dims="arm")
            parameters["score"] = score
        eta = self._worth(parameters, given)
        for part in self.terms:
            if part in self.terms.arms:
                continue
            parameters |= added(part)
            if isinstance(part, Term):
                touches = _registered(part, part.touches(cells.data))
                if touches:
                    eta = eta + contribution(part.coefficients(parameters), touches)
            else:
                eta = part.apply(eta, parameters, given)
        return eta, parameters

    def _worth(self, parameters: Named, cells: Named) -> Any:
        """Return what the arms alone say of cells, (..., cells): first's score minus second's."""
        return self.terms.arms[0].difference(parameters, cells)

    def eta(self, parameters: Named, cells: Named) -> Any:
        """Return the linear predictor of cells from draws, (draws, cells), first over second.

        What `cells` does not say (who was left, judge, time, covariates) is neutral.
        """
        eta = self._worth(parameters, cells)
        for part in self.terms:
            if part not in self.terms.arms:
                eta = part.apply(eta, parameters, cells)
        return eta

    def complete(
        self, posterior: Arrays, cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with scores, and with what the likelihood integrates out drawn too."""
        arms = cells.log.arms
        found = self.parameters(posterior, arms)
        for part in self.terms:
            found = part.complete(found, arms)

        def eta(which: slice) -> np.ndarray:
            some = {name: values[which] for name, values in found.items()}
            return self.eta(some, cells.data)

        whole = self.response.complete(found, eta, cells, rng)
        if self.terms.cyclic:
            whole["strength"] = whole.pop("score")
        return whole

    def parameters(self, posterior: Named, arms: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return draws by the names that :meth:`eta` knows.

        A fit calls the scores ``strength`` where preferences may be intransitive. With labels of
        the `arms`, scores that the parameters of items imply are among them, (..., K).
        """
        known = dict(posterior)
        if arms and self.terms.items is not None and "coefficient" in known:
            table = self.terms.items.matrix(arms)
            utility = sum(part.utility(known, table) for part in self.terms.arms)
            known.setdefault("score", utility - utility.mean(axis=-1, keepdims=True))
        if "strength" in known:
            known.setdefault("score", known["strength"])
        return known

    def log_likelihood(self, posterior: Named, cells: ModelCells, unit: str = "") -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells).

        Where a `unit` "pair" is left out, parameters that only that pair informs are integrated
        out.
        """
        known = self.parameters(posterior)
        n_draws = len(next(iter(known.values())))
        found = np.empty((n_draws, len(cells)))
        # 40,000 draws x cells at once stay in the processor's cache: 2 to 4 times as fast as more
        step = max(1, 40_000 // max(len(cells), 1))
        for start in range(0, n_draws, step):
            some = slice(start, start + step)
            here = {name: np.asarray(values)[some] for name, values in known.items()}
            eta = self.eta(here, cells.data)
            found[some] = self.response.log_likelihood(eta, here, cells.data)
        return found

    # -- outcomes under conditions -----------------------------------------------------------

    def outcomes(self, posterior: Named, conditions: Named) -> dict[str, np.ndarray]:
        """Return ``win``, ``loss`` and (some) ``tie`` of first under conditions, (draws, n).

        posterior: draws by name.
        conditions: ``first`` and ``second`` (indices of arms), and any of the columns of the
            model's cells: ``left_first`` (1: first is on the left), ``judge_of_cell``,
            ``covariate_values``, ... What is missing is neutral. Beside them the tables of the
            terms (:meth:`~bayesduel.models.term.Terms.tables`).
        """
        return self._asked(self.response.outcome_probabilities, posterior, conditions)

    def typical_score(self, eta: np.ndarray, posterior: Named) -> np.ndarray:
        """Return P of neutral duels of two arms whose scores differ by `eta`, (draws, n)."""

        def score(eta: np.ndarray) -> dict[str, np.ndarray]:
            return {"score": self.response.typical_score(eta, posterior)}

        return over_normal(score, eta, self.terms.unsaid(posterior, {}))["score"]

    def expected_score(self, posterior: Named, conditions: Named) -> np.ndarray:
        """Return the probability that first wins, plus half that of a tie, (draws, n)."""

        def score(*given: Any) -> dict[str, np.ndarray]:
            return {"score": self.response.expected_score(*given)}

        return np.asarray(self._asked(score, posterior, conditions)["score"])

    def results(self, posterior: Named, conditions: Named) -> np.ndarray:
        """Return the probability of each result that is counted, (draws, n, results).

        Of first winning, losing and (some) a tie, or of its grades from worst to best.
        """

        def results(*given: Any) -> dict[str, np.ndarray]:
            return {"results": self.response.results(*given)}

        return self._asked(results, posterior, conditions)["results"]

    def margins(
        self, posterior: Named, conditions: Named
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return location (..., n), scale (..., n) and degrees of freedom (..., 1) of margins.

        Of the next margin of first over second; infinite degrees are the normal distribution. None
        for a model of who wins.
        """
        known = self.parameters(posterior)
        both = (conditions["first"], conditions["second"])
        eta = self._eta_of(known, conditions)
        found = self.response.margin(eta, known, *both)
        variance = self.terms.unsaid(known, conditions)
        if found is None or variance is None:
            return found
        middle, spread, degrees = found
        return middle, np.sqrt(spread**2 + variance), degrees

    def replicate(
        self, posterior: Named, conditions: Named, rng: np.random.Generator
    ) -> np.ndarray:
        """Return an outcome for each draw and duel, (draws, n), first over second.

        1, 1/2 or 0 of who won, or a margin.
        """
        margins = self.margins(posterior, conditions)
        if margins is not None:
            middle, spread, degrees = margins
            noise = rng.standard_normal(middle.shape)
            heavy = np.isfinite(degrees)
            if heavy.any():
                df = np.where(heavy, degrees, 1.0)
                freedom = np.broadcast_to(df, middle.shape)
                chi = rng.chisquare(freedom) / df
                with_tails = noise / np.sqrt(chi)
                noise = np.where(heavy, with_tails, noise)
            return middle + spread * noise
        chances = self.outcomes(posterior, conditions)
        win = chances["win"]
        level = rng.random(win.shape)
        not_lost = win + chances.get("tie", 0.0)
        points = np.where(level < not_lost, 0.5, 0.0)
        return np.where(level < win, 1.0, points)

    def preference(self, posterior: Named) -> np.ndarray:
        """Return P of neutral duels, shape (..., K, K): expected scores of i against j."""
        n_arms = self._n_arms(posterior)
        first, second = np.triu_indices(n_arms, 1)
        score = self.expected_score(posterior, {"first": first, "second": second})
        n_pairs = len(first)
        pair = np.arange(n_pairs)
        half = np.full((*score.shape[:-1], 1), 0.5)
        entries = np.concatenate([score, 1.0 - score, half], axis=-1)
        place = np.full((n_arms, n_arms), 2 * n_pairs)
        place[first, second] = pair
        place[second, first] = n_pairs + pair
        return entries.take(place, axis=-1)

    def _n_arms(self, posterior: Named) -> int:
        """Return the number of arms of a posterior."""
        score = self.parameters(posterior)["score"]
        return int(np.shape(score)[-1])

    def _asked(
        self, asked: Callable[..., Any], posterior: Named, conditions: Named
    ) -> dict[str, np.ndarray]:
        """Return what a function of the response says of arms under conditions, by name."""
        known = self.parameters(posterior)
        eta = self._eta_of(known, conditions)
        both = (conditions["first"], conditions["second"])

        def at(eta: np.ndarray) -> dict[str, np.ndarray]:
            found: dict[str, np.ndarray] = asked(eta, known, *both)
            return found

        return over_normal(at, eta, self.terms.unsaid(known, conditions))

    def _eta_of(self, known: Named, conditions: Named) -> np.ndarray:
        """Return the predictor under conditions; of cells of both orders, at their mean."""
        eta = self.eta(known, conditions)
        if "order" in known and "n_left" in conditions and "left_first" not in conditions:
            mean_side = 2 * conditions["n_left"] / conditions["n"] - 1
            order = np.asarray(known["order"])[:, None]
            eta = eta + order * mean_side
        return np.asarray(eta)


def over_normal(
    asked: Callable[[np.ndarray], dict[str, np.ndarray]],
    middle: np.ndarray,
    variance: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """Return the mean of what `asked` says of a normal number, by name.

    middle: its means, (draws, n).
    variance: (draws, n) or (draws, 1), or None: the number is its mean.
    """
    if variance is None:
        return asked(middle)
    deviation = np.sqrt(variance)
    total: dict[str, Any] = {}
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        at_node = asked(middle + node * deviation)
        for name, value in at_node.items():
            total[name] = total.get(name, 0.0) + weight * value
    return total


def _with_prior(
    part: Any, said: Any, given: Named, unit: Unit, scales: Named, *, centred: bool
) -> dict[str, Any]:
    """Add the coefficients of a term with the priors that were said of their entries.

    given, unit, scales, centred: as for ``Part.add``.
    """
    import pymc as pm
    import pytensor.tensor as pt

    name = part.parameter
    dims = part.dims.get(name, ())
    if not dims:
        return {name: said[0].add(name)}
    default: Any = 1.0
    if None in said:
        default = part.deviation(scales, given, unit) * pt.ones(len(said))
    if all(one is None or one.distribution == "Normal" for one in said):
        mean, known = normals(said)
        deviation = pt.switch(np.isnan(known), default, np.nan_to_num(known))
        if centred:
            free = pm.Normal(f"{name}_free", mean, deviation, dims=dims)
        else:
            standard = pm.Normal(f"{name}_standard", 0.0, 1.0, dims=dims)
            free = mean + deviation * standard
    else:
        each = []
        for k, prior in enumerate(said):
            entry = f"{name}_{k}_free"
            if prior is None:
                each.append(pm.Normal(entry, 0.0, default[k], dims=dims[:-1]))
            else:
                each.append(prior.add(entry, dims[:-1]))
        free = pt.stack(each, axis=-1)
    if isinstance(part, Scores):
        free = part.with_family(free, scales)
    if part.over_arms:
        free = free - free.mean(axis=-1, keepdims=True)
    return {name: pm.Deterministic(name, free, dims=dims)}


def _registered(part: Part, touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
    """Return a design as data of the PyMC model in context."""
    import pymc as pm

    def data(name: str, array: np.ndarray) -> Any:
        dims = ("cell",) if array.ndim == 1 else None
        return pm.Data(f"{part.parameter}_{name}", array, dims=dims)  # type: ignore[attr-defined]

    found = []
    for k, (index, value) in enumerate(touches):
        at = tuple(data(f"index_{k}_{axis}", places) for axis, places in enumerate(index))
        found.append(Touch(at, data(f"value_{k}", value)))
    return tuple(found)
