"""Covariates: attributes of the items that duel, or of the duel itself.

``Covariates(items)`` says what arms are worth by what they are made of; ``Covariates(["length"])``
adds what differs between the two sides of a duel beside the arms.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesduel.data.items import Items
from bayesduel.models.cells import Log, check_covariates, seats
from bayesduel.models.elementary import Unit
from bayesduel.models.horseshoe import check_sparsity, horseshoe, log_horseshoe
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ArmTerm, ByLevel, Term, Terms
from bayesduel.models.touch import Touch
from bayesduel.system.arguments import (
    check_flag,
    check_names,
    check_type,
    listed,
    numbers,
    shown_value,
    texts_of,
)
from bayesduel.text import join

__all__ = ["Covariates", "DuelCovariates", "ItemCovariates", "ItemEffects", "attributes_apart"]


def Covariates(of: Items | Iterable[str], **settings: Any) -> Terms:
    """Return the terms of covariates of items, or of the duel.

    Parameters
    ----------
    of
        The table of items (:func:`bayesduel.read_items`), or names of columns of the log that
        hold left minus right.
    settings
        Of :class:`ItemCovariates` (`scale`, `sparsity`) and `item_effect` (default: True), whether
        items differ beyond their attributes (:class:`ItemEffects`); or of
        :class:`DuelCovariates` (`scale`, `by`).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.Covariates(["length"])
    >>> model.name
    'bradley-terry + covariates'
    """
    if isinstance(of, Items):
        effect = settings.pop("item_effect", True)
        check_flag(effect, "item_effect")
        own = ItemCovariates(of, **settings)
        if effect and own.flat:
            raise ValueError(
                "item_effect should be False when the prior is flat (scale=inf), got True"
            )
        return Terms((own, ItemEffects())) if effect else Terms((own,))
    if isinstance(of, str) or not isinstance(of, Iterable):
        raise TypeError(
            f"of should be items from bayesduel.read_items or a list of column names, "
            f"got {shown_value(of)}"
        )
    return Terms((DuelCovariates(listed(of, "of"), **settings),))


@dataclass(frozen=True)
class ItemCovariates(ArmTerm):
    """Covariates of the items: utilities that are linear in the attributes of the arms.

    The utility of an arm is::

        coefficient   ~ Normal(0, scale)                  (one per standardised attribute)
        utility_i     = u_i' coefficient                  (+ effect_i, see ItemEffects)

    in the unit of the response. The scores of a fit are the utilities, centred.

    Use it to estimate which attributes make items win, to share information between items with
    few duels, and to predict items that never duelled. Without :class:`ItemEffects` the attributes
    are assumed to explain all differences: intervals of coefficients are then too narrow wherever
    items differ in ways that the table does not contain.

    Parameters
    ----------
    items
        The attributes of every item of the log: :func:`bayesduel.read_items`.
    scale
        Prior standard deviation of a coefficient, for one standard deviation of a numeric
        attribute (for having the level, where it is an indicator). With 1 and a logistic response
        such a step wins between 12 % and 88 % of duels against an otherwise equal item, with
        probability 0.95. ``numpy.inf`` is a flat prior: maximum likelihood.
    sparsity
        None, or the expected number of relevant attributes: a regularised horseshoe in place of
        the normal prior, fitted by NUTS. `scale` is then that of a coefficient that counts.

    References
    ----------
    Springall, "Response surface fitting using a generalization of the Bradley-Terry paired
    comparison model", Applied Statistics 1973, without item effects. Turner & Firth,
    "Bradley-Terry models in R: the BradleyTerry2 package", JSS 2012, with them.

    Examples
    --------
    >>> duels, items = bd.datasets.load("chameleons"), bd.datasets.items("chameleons")
    >>> fit = bd.fit(duels, bd.models.BradleyTerry(bd.models.ItemCovariates(items)))
    >>> bd.coefficients(fit)["coefficient"].round(1).to_dict()
    {'ch.res': 0.4, 'jl.res': -0.6, 'tl.res': -0.1, ...}
    """

    items: Items = None  # type: ignore[assignment]
    scale: float | Prior = 1.0
    sparsity: float | None = None

    name: ClassVar[str] = "items"
    parameter: ClassVar[str] = "coefficient"
    dims: ClassVar[Dims] = {"coefficient": ("attribute",), "local": ("attribute",)}
    ranges: ClassVar[dict[str, str]] = {"scale": "> 0"}

    def __post_init__(self) -> None:
        check_type(
            self.items, Items, "items", "a table of attributes (items=bayesduel.read_items(...))"
        )
        super().__post_init__()
        check_sparsity(self.sparsity, self.scale, len(self.items.names))

    @property
    def why_nuts(self) -> str:
        """A horseshoe is fitted by NUTS."""
        return "" if self.sparsity is None else "a horseshoe prior has no mode that stands for it"

    def coords(self, log: Log) -> dict[str, Any]:
        return {"attribute": list(self.items.names)}

    def tables(self, arms: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Return ``table``, the standardised attributes of the arms, (arm, attribute).

        Raises ValueError if an item of the log is not in the table.
        """
        return {"table": self.items.matrix(arms)}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return the attributes of first minus those of second (of pulls: those of the item)."""
        if "second" not in cells:
            return (Touch((), cells["table"][cells["first"]]),)
        return (Touch((), attributes_apart(cells)),)

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        return self.scale * unit

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        if self.sparsity is None:
            return super().add(given, unit, scales, centred=centred)
        return {"coefficient": horseshoe(self.scale, self.sparsity, given["n"].sum(), unit)}

    def log_prior(self, parameters: Named, cells: Named, unit: Unit) -> dict[str, np.ndarray]:
        """Return that of the coefficients, or of the horseshoe's own scales."""
        if self.sparsity is None:
            return super().log_prior(parameters, cells, unit)
        return log_horseshoe(parameters, self.scale, self.sparsity, cells["n"].sum(), unit)

    def utility(self, parameters: Named, table: Any) -> Any:
        return parameters["coefficient"] @ table.T


def attributes_apart(cells: Named) -> Any:
    """Return the attributes of first minus those of second, summed over members, (cells, n)."""
    table = cells["table"]
    first, second = (
        sum(np.reshape(share, (-1, 1)) * table[arm] for arm, share in seats(cells, side))
        for side in ("first", "second")
    )
    return first - second


@dataclass(frozen=True)
class ItemEffects(ArmTerm):
    """What items are worth beyond their attributes: ``effect_i ~ Normal(0, effect_scale)``.

    Stands beside :class:`ItemCovariates`; ``Covariates(items)`` makes both.

    Parameters
    ----------
    prior
        Scale of the half-normal prior of ``effect_scale``, in the unit of the response.

    Examples
    --------
    >>> items = bd.datasets.items("chameleons")
    >>> bd.models.BradleyTerry(bd.models.ItemCovariates(items) + bd.models.ItemEffects(0.5)).name
    'bradley-terry'
    """

    prior: float | Prior = 1.0

    name: ClassVar[str] = "item-effects"
    parameter: ClassVar[str] = "effect"
    needs_items: ClassVar[bool] = True
    dims: ClassVar[Dims] = {"effect": ("arm",)}
    over_arms: ClassVar[bool] = False  # not centred: attributes say nothing of the mean
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    @property
    def scales(self) -> dict[str, Scale]:
        """The deviation of the effects."""
        return {"effect_scale": Scale("half-normal", self.prior)}

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        """Return the learned deviation."""
        return scales["effect_scale"]


@dataclass(frozen=True)
class DuelCovariates(ByLevel, Term):
    """Covariates of the duel: what differs between its two sides beside the arms.

    Generative model: a column of the log says by how much left exceeds right, in length, in number
    of lists, in any trait of the two answers shown; its effect on the outcome is learned with the
    scores, so that the scores are those of a duel in which nothing differs::

        covariate_effect_k ~ Normal(0, scale / deviation_k)   (one per column, for one unit of it)
        eta                = eta of the arms + sum over k of covariate_effect_k x_k

    Winners and the preference matrix of a fit are at neutral covariates, all 0. Analysts of
    arenas call this style control.

    Parameters
    ----------
    of
        Names of columns of the log that hold left minus right: ``read_duels(covariates=...)``.
    scale
        Prior standard deviation of the effect of one standard deviation of a column, in the unit
        of the response. ``numpy.inf`` is a flat prior.
    deviations
        One standard deviation (about 0) of each column. Written down by a fit; by default that of
        the log.
    by
        A column of the votes, whose levels have effects each, as of who judged: "judge", "group" or
        "category", or one that was kept (``read_duels(..., keep=["source"])``). A machine may
        like long answers where people do not. A vote without a level has none.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log has no such column.

    References
    ----------
    Springall, Applied Statistics 1973, for covariates of the comparison. Chiang et al., "Chatbot
    Arena", ICML 2024, for their use as controls.

    Examples
    --------
    >>> terms = bd.models.Scores() + bd.models.DuelCovariates(("length",), scale=0.5)
    >>> bd.models.BradleyTerry(terms).name
    'bradley-terry + covariates'
    """

    of: tuple[str, ...]
    scale: float | Prior = 1.0
    deviations: tuple[float, ...] | None = None
    by: str | None = None

    name: ClassVar[str] = "covariates"
    takes_teams: ClassVar[bool] = True
    parameter: ClassVar[str] = "covariate_effect"
    ranges: ClassVar[dict[str, str]] = {"scale": "> 0"}

    def __post_init__(self) -> None:
        columns = texts_of(self.of, "columns")
        if not columns or not all(isinstance(c, str) for c in columns):
            raise TypeError(
                f"columns should be names of columns of the log, got {shown_value(columns)}"
            )
        if len(set(columns)) < len(columns):
            raise ValueError(f"columns should be distinct, got {list(columns)}")
        object.__setattr__(self, "of", columns)
        if self.deviations is not None:
            deviations = numbers(self.deviations, "deviations").ravel()
            object.__setattr__(self, "deviations", tuple(deviations.tolist()))
        super().__post_init__()
        if self.by is not None:
            check_names(self.by, "by")

    @classmethod
    def worded(cls, text: str) -> "DuelCovariates":
        """Return the term of one covariate: "covariate:length"."""
        return cls((text,))

    @property
    def dims(self) -> Dims:
        by = () if self.by is None else (self.by,)
        return {"covariate_effect": (*by, "covariate")}

    @property
    def controls(self) -> tuple[str, ...]:
        return tuple(f"{name!r} is 0" for name in self.of)

    def coords(self, log: Log) -> dict[str, Any]:
        return {"covariate": list(self.of), **super().coords(log)}

    def settled(self, log: Any) -> "DuelCovariates":
        """Return the same with the deviations of the log written down."""
        if self.deviations is not None:
            return self
        self.check_columns(log)
        values = self.columns(log)["covariate_values"]
        weight = log.votes.weight
        size = np.sqrt(np.average(values**2, axis=0, weights=weight))
        if not (size > 0).all():
            k = int(np.flatnonzero(size <= 0)[0])
            raise ValueError(f"covariate {self.of[k]!r} should vary, but it is 0 in every duel")
        return replace(self, deviations=tuple(size.tolist()))

    @property
    def reads(self) -> tuple[str, ...]:
        """The covariates, and the column whose levels have effects each."""
        return (*self.of, *super().reads)

    def neutral(self, name: str, cells: Named | None = None) -> str:
        if name == self.by:
            return f"no effect of {join(self.of)}"
        return f"{name} 0"

    def check_columns(self, log: Any) -> None:
        """Raise ValueError if the log lacks a covariate, or the column of levels."""
        check_covariates(log, self.of)
        super().check_columns(log)

    def columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return ``covariate_values``, (votes, covariates)."""
        votes = log.votes
        place = [votes.covariate_names.index(c) for c in self.of]
        return {"covariate_values": votes.covariates[:, place], **super().columns(log)}

    def extent(self, seen: Named, coords: Named) -> dict[str, np.ndarray]:
        """Return the largest size of each covariate, to either side."""
        most = np.abs(seen["covariate_values"]).max(axis=0)
        ends = np.stack([-most, most], axis=1)
        return dict(zip(self.of, ends, strict=True))

    def design(self, cells: Named) -> tuple[Touch, ...]:
        if "covariate_values" not in cells:
            return ()
        if self.by is None:
            return (Touch((), cells["covariate_values"]),)
        level, known = self.level_of(cells)
        if level is None:
            return ()
        values = cells["covariate_values"] * known[..., None]
        touches = []
        for k in range(len(self.of)):
            at = (level, 0 * level + k)
            touches.append(Touch(at, values[..., k]))
        return tuple(touches)

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        """Return the prior deviation of each effect, for one unit of its column."""
        return self.scale * unit * self.typical

    @property
    def typical(self) -> Any:
        """Effects of one unit of a column, where those of one standard deviation are 1."""
        return 1 / np.array(self.deviations)
