"""Terms: the summands of a linear predictor, and what may be done to it afterwards.

The predictor of a duel says how much better left is than right. It is made of a list of parts:
terms, each known numbers times coefficients that are normal given a few learned scales, and
modifiers, which change what stands before them in the list. ``+`` joins them. What a duel does not
say (who judged, when, who was left) a part takes as neutral.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesduel.data.items import Items
from bayesduel.models.cells import Log, check_covariates, levels_of, seats, seats_of_both
from bayesduel.models.elementary import Quantity, Unit
from bayesduel.models.prior import Prior, Said
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import ByValue, Dims, Named
from bayesduel.models.touch import Touch, contribution
from bayesduel.system.arguments import check_type, shown_value
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings


__all__ = [
    "NEW",
    "ArmTerm",
    "ByLevel",
    "Modifier",
    "Part",
    "Term",
    "Terms",
]


NEW = -2  # code of a level that the log has not; -1 is that of none


class Part(ByValue, ABC):
    """The common part of terms and modifiers.

    Attributes
    ----------
    name
        Its name in a stored fit and in ``bayesduel.models.named``.
    reads_order
        Whether it asks who was left.
    splits
        Whether it distinguishes duels of a pair by more than one side advantage.
    cyclic
        Whether it lets preferences be intransitive.
    needs_items
        Whether it needs the attributes of items, which another part brings.
    unidentified
        Parameters that mean nothing one by one: only functions of several are identified.
    takes_teams
        Whether it takes a log whose sides have several arms: it counts every member of a side
        (:func:`bayesduel.models.seats`), or does not ask who met whom.

    Examples
    --------
    >>> [part.name for part in bd.models.Scores() + bd.models.SideAdvantage()]
    ['scores', 'order']
    """

    stored_by_fields: ClassVar[bool] = True
    name: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ("name",)
    reads_order: ClassVar[bool] = False
    splits: ClassVar[bool] = True
    cyclic: ClassVar[bool] = False
    needs_items: ClassVar[bool] = False
    unidentified: ClassVar[tuple[str, ...]] = ()
    takes_teams: ClassVar[bool] = False

    @abstractmethod
    def apply(self, eta: Quantity, parameters: Named, cells: Named) -> Any:
        """Return the predictor `eta` of cells, (..., cells), with this part.

        For arrays of draws and, in a modifier, for the tensors of the ``pm.Model`` too.
        """

    @abstractmethod
    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        """Add its parameters to the PyMC model in context; return them by name.

        given, unit: the model's data, and the unit of the response.
        scales: learned scales of the model, by name.
        centred: parameterisation of scores under a learned scale; the posterior does not depend on
            it.
        """

    @property
    def scales(self) -> dict[str, Scale]:
        """Its learned positive numbers, by name."""
        return {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Raise TypeError if `dims` or `coords` of a class of one's own have another form."""
        super().__init_subclass__(**options)
        dims = cls.__dict__.get("dims", {})
        if not isinstance(dims, Mapping | property | cached_property):
            example = {getattr(cls, "parameter", "effect"): ("size",)}
            raise TypeError(
                f"{cls.__name__}.dims should be the dimensions of each parameter by its name, such "
                f"as {example}, got {shown_value(dims)}"
            )
        coords = cls.__dict__.get("coords")
        if isinstance(coords, Mapping):
            raise TypeError(
                f"{cls.__name__}.coords should be a method that takes the log and returns the "
                f"labels by dimension, got {shown_value(coords)}"
            )

    @property
    def priors(self) -> dict[str, Said]:
        """Priors of its coefficients that stand among its settings, by name."""
        return {}

    @property
    def dims(self) -> Dims:
        """Dimensions of its parameters that are no numbers, by name."""
        return {}

    @property
    def explains(self) -> tuple[str, ...]:
        """Roles ("judge", "group") whose repeated votes are independent given it."""
        return ()

    @property
    def controls(self) -> tuple[str, ...]:
        """What a ranking is free of thanks to it, each as what holds in a neutral duel."""
        return ()

    def unsaid(self, parameters: Named, cells: Named) -> Any:
        """Return the variance of what it adds to the predictor of cells that do not say its level.

        Of a part whose levels are a sample of more, such as judges or prompts: a duel that does not
        say which has a new one. (draws, cells), or (draws, 1) of cells of two arms that say
        nothing; None where there is none.
        """
        return None

    @property
    def flat(self) -> bool:
        """Whether its prior is flat: its `prior` or `scale` is infinite."""
        return any(np.array_equal(getattr(self, name, 0), np.inf) for name in ("prior", "scale"))

    @property
    def why_nuts(self) -> str:
        """Why only NUTS can sample it, or ""."""
        return ""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names by which a prediction may say its conditions: "judge", "time", a column, ..."""
        return ()

    def neutral(self, name: str, cells: Named | None = None) -> str:
        """Return in words what stands for a condition of a duel that does not say it.

        name: one of those that it `reads`.
        cells: those of duels that say nothing of what it reads; None where they say something else
            of it. A number that is missing beside others is 0.
        """
        return f"{name} 0" if cells is None else f"the term {self.key!r} is left out"

    def levelled(self, log: Log) -> Any:
        """Return the log whose columns have the levels of this part, where it has own ones."""
        return log

    def check_columns(self, log: Log) -> None:
        """Raise ValueError if the log lacks a column that it reads."""

    def columns(self, log: Log) -> dict[str, np.ndarray]:
        """Return what it asks of each vote by name: whole numbers, (votes,).

        Real numbers are differences of left less right, (votes,) or (votes, n), whose sign follows
        the orientation of a cell.
        """
        return {}

    def beyond(self, log: Log) -> dict[str, np.ndarray]:
        """Return what it asks of duels that are foreseen beside `columns`, (votes,), by name."""
        return {}

    def coords(self, log: Log) -> dict[str, Any]:
        """Return the coordinates of its own dimensions."""
        return {}

    def extent(self, seen: Named, coords: Named) -> dict[str, np.ndarray]:
        """Return the least and the greatest that a log has of the numbers it reads, by name.

        seen: what the parts ask of the log's votes (`columns`), by cell.
        coords: coordinates of the fit.
        """
        return {}

    def tables(self, arms: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Return arrays of the arms, by name (see ``bayesduel.models.cells.TABLES``)."""
        return {}

    def settled(self, log: "Duels | Rankings | Pulls") -> Self:
        """Return the same with every setting that is read off the log written down."""
        return self

    def complete(
        self, posterior: dict[str, np.ndarray], arms: tuple[str, ...]
    ) -> dict[str, np.ndarray]:
        """Return the draws with what a sampler's free numbers stand for in place of these."""
        return posterior

    def log_prior(self, parameters: Named, cells: Named, unit: Unit) -> dict[str, np.ndarray]:
        """Return the log density of its own fixed priors, (draws,) by parameter, up to a constant.

        Those of its `scales` are known already; what is normal given these is no prior of its own.
        """
        return {}

    def __add__(self, other: "Part") -> "Terms":
        return Terms((self,)) + other

    @classmethod
    def worded(cls, text: str) -> "Part":
        """Return the part of "name:text": by default the text is its first setting."""
        return cls(text)

    @property
    def key(self) -> str:
        """The name that no other part of a list has."""
        return self.name

    @property
    def title(self) -> str:
        """The words of its class's name, and the column: "random effects by judge"."""
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()
        column = self.key.partition(":")[2]
        return f"{words} by {column}" if column else words


class Term(Part):
    """A summand: known numbers times coefficients that are normal given the scales.

    A term of one's own is a dataclass with `name`, `parameter`, ``design`` and ``deviation``, and
    ``columns``, `dims` and ``coords`` where it reads more of the log than who met whom.

    Attributes
    ----------
    parameter
        Name of its coefficients in a fit.
    deviates
        Whether its coefficients are deviations of the arms' scores in levels that may be many, as
        prompts. The level with the most information then stands for all levels where degrees of
        freedom of cluster-robust errors are computed.

    Examples
    --------
    >>> [isinstance(part, bd.models.Term) for part in bd.models.Scores() + bd.models.BladeChest()]
    [True, False]
    """

    parameter: ClassVar[str]
    deviates: ClassVar[bool] = False
    required: ClassVar[tuple[str, ...]] = ("name", "parameter")

    def check_columns(self, log: Log) -> None:
        if self.reads:
            check_covariates(log, self.reads)

    @abstractmethod
    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return which coefficients enter the predictor of cells; () where they are neutral."""

    def touches(self, cells: Named) -> tuple[Touch, ...]:
        """Return its `design`; a KeyError names the term where cells lack what it reads."""
        try:
            return self.design(cells)
        except KeyError as error:
            asked = error.args[0] if error.args else None
            if not isinstance(asked, str) or asked in cells:
                raise
            raise KeyError(
                f"{type(self).__name__}.design reads cells[{asked!r}], which these cells have not: "
                f"they have {join(cells, 12, quote=True)}. Return the numbers of the votes from "
                f"{type(self).__name__}.columns; where a duel does not say them, return () (a "
                f"neutral duel): if {asked!r} not in cells: return ()"
            ) from error

    def neutral(self, name: str, cells: Named | None = None) -> str:
        """Return in words what stands for a condition; a term without a `design` is left out."""
        if cells is not None and self.touches(cells):
            return f"what the term {self.key!r} is without it"
        return super().neutral(name, cells)

    @abstractmethod
    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        """Return the prior standard deviation of the coefficients: a number or the last axis."""

    def covariance(self, scales: Named, n: int) -> Any:
        """Return the prior covariance along the first axis, (n, n), or None: independent.

        For tensors and arrays alike; entries are multiplied by the squared deviation.
        """
        return None

    @property
    def typical(self) -> Any:
        """The relative size of typical coefficients: a number or the last axis."""
        return 1.0

    @property
    def priors(self) -> dict[str, Said]:
        settings = (getattr(self, name, None) for name in ("prior", "scale"))
        said = [one for one in settings if isinstance(one, Prior)]
        return {self.parameter: said[0]} if said and not self.scales else {}

    @property
    def over_arms(self) -> bool:
        """Whether the last axis is that of the arms: then it is centred there."""
        return self.dims.get(self.parameter, ())[-1:] == ("arm",)

    @property
    def free(self) -> str:
        """Name of the numbers that a sampler draws."""
        return f"{self.parameter}_free" if self.over_arms else self.parameter

    @property
    def free_dims(self) -> tuple[str, ...]:
        """Dimensions of the numbers that a sampler draws."""
        return self.dims.get(self.parameter, ())

    def coefficients(self, parameters: Named) -> Any:
        """Return the coefficients that `design` is about, from the parameters of a fit."""
        return parameters[self.parameter]

    def apply(self, eta: Quantity, parameters: Named, cells: Named) -> Any:
        touches = self.touches(cells)
        if not touches:
            return eta
        return eta + contribution(self.coefficients(parameters), touches)

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        import pymc as pm
        import pytensor.tensor as pt

        dims = self.free_dims or None
        if self.flat:
            free = pm.Flat(self.free, dims=dims)
        elif not self.scales:
            deviation = self.deviation(scales, given, unit)
            free = pm.Normal(self.free, 0.0, deviation, dims=dims)
        else:
            deviation = self.deviation(scales, given, unit)
            standard = pm.Normal(f"{self.parameter}_standard", 0.0, 1.0, dims=dims)
            n = 1 if dims is None else len(pm.modelcontext(None).coords[dims[0]])
            covariance = self.covariance(scales, n)
            if covariance is not None:
                standard = pt.linalg.cholesky(pt.as_tensor(covariance)) @ standard
            free = deviation * standard
        if self.over_arms:
            free = free - free.mean(axis=-1, keepdims=True)
        if self.over_arms or self.scales:
            free = pm.Deterministic(self.parameter, free, dims=dims)
        return {self.parameter: free}

    def log_prior(self, parameters: Named, cells: Named, unit: Unit) -> dict[str, np.ndarray]:
        if self.scales or self.flat:
            return {}
        coefficients = np.asarray(self.coefficients(parameters))
        standard = coefficients / self.deviation({}, cells, unit)
        square = (standard**2).reshape(len(standard), -1)
        return {self.parameter: -0.5 * square.sum(axis=1)}

    def complete(
        self, posterior: dict[str, np.ndarray], arms: tuple[str, ...]
    ) -> dict[str, np.ndarray]:
        """Return the draws with coefficients that are centred over the arms."""
        if not self.over_arms or self.free not in posterior:
            return posterior
        free = posterior.pop(self.free)
        return posterior | {self.parameter: free - free.mean(axis=-1, keepdims=True)}


class ByLevel(Part):
    """A part that asks of each vote its level of a column, as who judged; of None nothing.

    Attributes
    ----------
    by
        "judge", "group" or "category", or a column that was kept.
    samples
        Whether its levels are a sample of more, so that the next duel has another one.
    """

    by: str | None
    deviates: ClassVar[bool] = False
    samples: ClassVar[bool] = False

    @property
    def key(self) -> str:
        return self.name if self.by is None else f"{self.name}:{self.by}"

    @property
    def reads(self) -> tuple[str, ...]:
        return () if self.by is None else (self.by,)

    def neutral(self, name: str, cells: Named | None = None) -> str:
        if cells is None and name == self.by:
            return f"no {name}"
        return super().neutral(name, cells)

    def check_columns(self, log: Any) -> None:
        if self.by is not None:
            levels_of(log, self.by)

    def columns(self, log: Any) -> dict[str, np.ndarray]:
        return {} if self.by is None else {f"{self.by}_of_cell": levels_of(log, self.by)[0]}

    def coords(self, log: Any) -> dict[str, Any]:
        return {} if self.by is None else {self.by: list(levels_of(log, self.by)[1])}

    def level_of(self, cells: Named) -> tuple[Any, Any]:
        """Return the level of each cell, and 0 where it has none, else 1; None if not said."""
        level = cells.get(f"{self.by}_of_cell")
        if level is None:
            return None, None
        known = (level >= 0) * 1.0  # which masks the index -1
        return level, known


class ArmTerm(Term):
    """A term of what arms are worth: a utility for each; a duel sees the difference of two.

    The scores of a model are the sum of the utilities of its arm terms, centred.

    Attributes
    ----------
    items
        The table of attributes, where there is one.
    side
        What a side of several arms is worth: the "sum" of its members' scores, or the "mean".
    """

    splits: ClassVar[bool] = False
    takes_teams: ClassVar[bool] = True
    items: Items | None = None
    side: str = "sum"

    def utility(self, parameters: Named, table: Any) -> Any:
        """Return what it says of each arm, (..., K); `table` is that of the attributes, or None."""
        return parameters[self.parameter]

    def design(self, cells: Named) -> tuple[Touch, ...]:
        one = np.ones(np.shape(cells["first"]))
        touches = []
        for arm, share in seats_of_both(cells):
            touches.append(Touch((arm,), share * one))
        return tuple(touches)

    def difference(self, parameters: Named, cells: Named) -> Any:
        """Return what the arms alone say of cells, (..., cells): first's score minus second's."""
        score = parameters["score"]

        def worth(side: str) -> Any:
            return sum(score.take(arm, axis=-1) * share for arm, share in seats(cells, side))

        if "first_0" in cells:
            return worth("first") - worth("second")
        return score.take(cells["first"], axis=-1) - score.take(cells["second"], axis=-1)

    @property
    def arms_have_own(self) -> bool:
        """Whether each arm has a normal score of its own and nothing else."""
        return False


class Modifier(Part):
    """A part that changes the predictor of the parts before it, and does not add to it.

    A modifier of one's own defines ``add`` (its parameters) and ``apply``. It is sampled by NUTS.

    Examples
    --------
    >>> isinstance(bd.models.JudgeReliability(), bd.models.Modifier)
    True
    """

    why_nuts: ClassVar[str] = "its predictor is not linear in its parameters"


@dataclass(frozen=True)
class Terms:
    """A list of parts: what the arms are worth, and what else a duel depends on.

    Parameters
    ----------
    parts
        Terms and modifiers, in order.

    Raises
    ------
    TypeError, ValueError
        If a part is none, two are of the same kind, or one lacks what it needs.

    Examples
    --------
    >>> terms = bd.models.Scores() + bd.models.SideAdvantage()
    >>> bd.models.BradleyTerry(terms).terms == terms
    True
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        known = isinstance(self.parts, tuple) and all(isinstance(p, Part) for p in self.parts)
        if not known:
            raise TypeError(f"parts should be a tuple of terms, got {shown_value(self.parts)}")
        keys = [part.key for part in self.parts]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"terms should be of different kinds, got {key!r} twice")

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __add__(self, other: "Part") -> "Terms":
        check_type(
            other, Part | Terms, "a term", "added to a term, such as Scores() + SideAdvantage()"
        )
        return Terms((*self.parts, *(other if isinstance(other, Terms) else (other,))))

    def find(self, kind: type[Part]) -> Any:
        """Return the first part that is of a class, or None."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def check(self) -> None:
        """Raise ValueError unless the arms are worth something and each part has what it needs."""
        if not self.arms:
            raise ValueError(
                "predictor should have a term for the worth of an arm, such as Scores(), got "
                f"{self}"
            )
        alone = any(part.reads or part.parameter == "score" for part in self.arms)
        if alone and len(self.arms) > 1:  # the sum of what arms are worth is "score", too
            raise ValueError(
                "terms should have only one term for the worth of an arm, such as Scores(), "
                f"Covariates(items) or Sources(...), got {self}"
            )
        if self.items is None and any(part.needs_items for part in self.parts):
            part = next(part for part in self.parts if part.needs_items)
            raise ValueError(
                f"{type(part).__name__} needs the term Covariates(items) in the same model, got "
                f"{self}"
            )
        owners: dict[str, Part] = {}
        for part in self.parts:
            for name in part.scales:
                other = owners.setdefault(name, part)
                if other is not part:
                    raise ValueError(
                        f"terms should have parameters of their own, got {name!r} of {other.key} "
                        f"and of {part.key}"
                    )
        flat = [part.key for part in self.parts if part.flat]
        if any(part.flat for part in self.arms) and any(
            part.scales or isinstance(part, Modifier) for part in self.parts
        ):
            raise ValueError(
                "a term with a flat prior cannot be combined with terms that learn their scales, "
                f"got a flat prior of {flat[0]}: give it a finite scale"
            )

    @property
    def why_nuts(self) -> str:
        """Why the predictor is not linear in coefficients that are normal given scales, or ""."""
        return next((part.why_nuts for part in self.parts if part.why_nuts), "")

    @property
    def why_not_sparse(self) -> str:
        """Why it is more than a score per arm and coefficients with known normal priors, or ""."""
        if not (len(self.arms) == 1 and self.arms[0].arms_have_own):
            return "its scores do not have independent normal priors"
        for part in self.parts:
            if part.flat:
                return f"the prior of {part.key} is flat"
            if part not in self.arms and (isinstance(part, Modifier) or part.scales):
                return f"the parameters of {part.key} do not have known normal priors alone"
        return ""

    @property
    def splits(self) -> bool:
        """Whether duels of a pair are distinguished by more than their order."""
        return any(part.splits for part in self.parts)

    @property
    def cyclic(self) -> bool:
        """Whether preferences may be intransitive."""
        return any(part.cyclic for part in self.parts)

    @property
    def controls(self) -> tuple[str, ...]:
        """What winners are free of, each as what holds in a neutral duel."""
        return tuple(words for part in self.parts for words in part.controls)

    @property
    def by_level(self) -> tuple[Any, ...]:
        """Terms with parameters for each level of a column."""
        return tuple(p for p in self.parts if isinstance(p, ByLevel) and p.by is not None)

    @property
    def deviating(self) -> tuple[Any, ...]:
        """Terms of deviations of the scores by the levels of a column."""
        return tuple(part for part in self.by_level if part.deviates)

    @property
    def samples(self) -> tuple[str, ...]:
        """Columns whose levels are a sample of more: a duel that does not say one has a new one."""
        return tuple(part.by for part in self.deviating if part.samples)

    @property
    def exhaustive(self) -> tuple[Any, ...]:
        """Terms of deviations by levels that are all there is."""
        return tuple(part for part in self.deviating if not part.samples)

    def unsaid(self, parameters: Named, cells: Named) -> Any:
        """Return the variance that cells have from levels that they do not say, or None."""
        found = [part.unsaid(parameters, cells) for part in self.parts]
        variances = [variance for variance in found if variance is not None]
        return reduce(np.add, variances) if variances else None

    @property
    def explains(self) -> tuple[str, ...]:
        """Roles ("judge", "group") whose votes are independent given the parameters."""
        return tuple(role for part in self.parts for role in part.explains)

    def columns(self, log: Log) -> dict[str, np.ndarray]:
        """Return what the parts ask of each vote, by name; real numbers are left less right."""
        log = self._levelled(log)
        for part in self.parts:
            part.check_columns(log)
        return {n: c for part in self.parts for n, c in part.columns(log).items()}

    def coords(self, log: Log) -> dict[str, Any]:
        """Return the coordinates of the dimensions of the parts."""
        log = self._levelled(log)
        return {n: values for part in self.parts for n, values in part.coords(log).items()}

    def _levelled(self, log: Log) -> Any:
        """Return the log with the levels that all parts that read a column have of it."""
        return reduce(lambda found, part: part.levelled(found), self.parts, log)

    def tables(self, arms: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Return arrays of the arms, by name."""
        return {n: table for part in self.parts for n, table in part.tables(arms).items()}

    @property
    def flat(self) -> bool:
        """Whether some prior is flat."""
        return any(part.flat for part in self.parts)

    @property
    def reads_order(self) -> bool:
        """Whether it matters who was left."""
        return any(part.reads_order for part in self.parts)

    @property
    def without_teams(self) -> tuple[str, ...]:
        """The parts that do not take sides of several arms."""
        return tuple(part.key for part in self.parts if not part.takes_teams)

    @property
    def means(self) -> bool:
        """Whether a side of several arms is worth the mean of their scores, else the sum."""
        return any(part.side == "mean" for part in self.arms)

    @property
    def items(self) -> Items | None:
        """The table of attributes of the arms, or None."""
        return next((part.items for part in self.arms if part.items is not None), None)

    def __str__(self) -> str:
        return " + ".join(part.key for part in self.parts)

    @property
    def arms(self) -> tuple[ArmTerm, ...]:
        """What the arms are worth."""
        return tuple(part for part in self.parts if isinstance(part, ArmTerm))
