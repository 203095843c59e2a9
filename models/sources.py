"""Sources: scores by who judged (people, machines) or by what was judged, with one target."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from bayesduel.models.cells import Log, levels_of, seats_of_both
from bayesduel.models.elementary import Unit
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ArmTerm, ByLevel
from bayesduel.models.touch import Touch, contribution
from bayesduel.system.arguments import real, shown_value, texts_of
from bayesduel.text import join, plural

__all__ = ["Sources"]


@dataclass(frozen=True)
class Sources(ByLevel, ArmTerm):
    """Scores by source, with a learned covariance; those of the target are the model's.

    A source is a level of a column: people and a machine that judges, groups of people, criteria.
    Each has its own scores::

        score_by_source[s, i]   ~ Normal(0, Sigma) over the sources s, for each arm i
        Sigma                   = D R D,  D the diagonal of {by}_scale
        {by}_scale[s]           ~ HalfNormal(scale)              (in the unit of the response)
        eta of a vote of s      = score_by_source[s, first] - score_by_source[s, second]

    Where one source is the target, the correlation of each other with it is learned,
    ``R[s, target] = (odds - 1) / (odds + 1)``. Its ``log odds`` are Normal(0, 1) with probability
    0.7, so that a source of which little is known changes little, and else Normal(0, 4), so that
    one may be found to be nearly the target, or its opposite. Where there are several others, one
    correlation of what these share beside the target (their common taste) is learned; where the
    target is a mix, one of all pairs of sources. Both have ``log odds ~ Normal(0, 1.8)``, nearly
    uniform for two.

    ``score``, winners, predictions and all that follows are the target's. A source counts exactly
    as far as its scores are found to agree with it: a useless one changes nothing, one that is
    always wrong is as useful as one that is always right, and a source of a few votes is not
    drowned by one of many. A vote without a source is one of the target.

    Parameters
    ----------
    by
        The column: "judge", "group" or "category" as the log has them, or one that was kept
        (``read_duels(..., keep=["source"])``).
    target
        The level whose scores are wanted; or weights of several, made to sum to one, as of shares
        of a population (``{"de": 0.3, "fr": 0.7}``) or criteria. Default: all with equal weight.
    scale
        Scale of the prior of a source's standard deviation. Default: that of ``Scores()``.
    levels
        The levels in their order; written down by a fit.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log has no such column, fewer than
        two levels of it, or not those of `target`.

    References
    ----------
    Gelman & Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007,
    chapter 13 (correlated varying coefficients), 14 (poststratification).

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry, Sources
    >>> BradleyTerry(Sources("source", target="human")).name
    'bradley-terry + sources:source=human'
    """

    by: str
    target: Any = None
    scale: float | Prior | None = None
    levels: tuple[str, ...] | None = None

    name: ClassVar[str] = "sources"
    parameter: ClassVar[str] = "score_by_source"
    ranges: ClassVar[dict[str, str]] = {"scale": "> 0 and finite"}

    def __post_init__(self) -> None:
        if not isinstance(self.by, str) or not self.by:
            raise TypeError(f"by should be the name of a column, got {shown_value(self.by)}")
        if set(self.by) & set("()+:="):
            raise ValueError(f"by should be a column of the votes, got {shown_value(self.by)}")
        object.__setattr__(self, "target", _target(self.target))
        if self.levels is not None:
            object.__setattr__(self, "levels", texts_of(self.levels, "levels"))
            lost = [level for level in self._weights if level not in self.levels]
            if lost:
                raise ValueError(
                    f"target should be among the levels of {self.by}, {join(self.levels)}, got "
                    f"{join(lost, quote=True)}"
                )
        super().__post_init__()

    @classmethod
    def worded(cls, text: str) -> "Sources":
        """Return the term of a column and its target: "source=human"."""
        by, _, target = text.partition("=")
        return cls(by, target or None)

    @property
    def key(self) -> str:
        """The name, the column and the target."""
        name = f"{self.name}:{self.by}"
        if self.target is None:
            return name
        of = self.target if isinstance(self.target, str) else "mix"
        return f"{name}={of}"

    @property
    def spread(self) -> str:
        """Name of the sources' standard deviations."""
        return f"{self.by}_scale"

    @property
    def others(self) -> tuple[str, ...]:
        """The sources that are not the target, where that is one."""
        levels = self.levels or ("", "")
        return tuple(one for one in levels if one != self.target)

    @property
    def scales(self) -> dict[str, Scale]:
        # A correlation of two is nearly uniform: log odds of a uniform number have a standard
        # deviation of pi / 3^0.5.
        odds = Scale("log-normal", 1.0, 1.8, in_units=False)
        found = {self.spread: Scale("half-normal", self.scale, dim=self.by)}
        if not isinstance(self.target, str):
            return found | {"agreement": odds}
        found["agreement"] = replace(
            odds,
            spread=1.0,  # of a source that has a taste of its own
            # Share of those that may be nearly the target or its opposite, and their spread
            tail=(0.3, 4.0),
            dim=f"{self.by}_other",
        )
        if len(self.others) > 1:
            found["common"] = odds
        return found

    @property
    def dims(self) -> Dims:
        own: Dims = {self.parameter: (self.by, "arm"), self.spread: (self.by,)}
        if isinstance(self.target, str):
            own["agreement"] = (f"{self.by}_other",)
        return own

    @property
    def controls(self) -> tuple[str, ...]:
        return (f"{self.by} is {self.words}",)

    @property
    def words(self) -> str:
        """The target, in words."""
        if isinstance(self.target, str):
            return self.target
        if self.target is None:
            return "any, with equal weight"
        shares = []
        for level, weight in self._weights.items():
            shares.append(f"{100 * weight:.3g} % {level}")
        return join(shares)

    def neutral(self, name: str, cells: Named | None = None) -> str:
        if self.target is None:
            return f"the average over the {plural(name)}, each with equal weight"
        return f"the target, {self.words}"

    def settled(self, log: Any) -> Self:
        if self.levels is not None:
            return self
        _, levels = levels_of(log, self.by)
        return replace(self, levels=levels)

    def levelled(self, log: Any) -> Any:
        """Return the log with the levels that are written down, in their order.

        Raises ValueError if a vote's source is none of them.
        """
        codes, labels = levels_of(log, self.by)
        own = self.settled(log).levels or ()
        if labels == own:
            return log
        new = [label for label in labels if label not in own]
        if new:
            got = join(new, quote=True)
            raise ValueError(f"{self.by} should be one of {join(own)}, got {got}")
        place = [own.index(label) for label in labels]
        place.append(-1)  # of a vote without a source, whose code is -1
        known = np.array(place)[codes]
        return replace(log, votes=log.votes.with_level(self.by, known, own))

    def coords(self, log: Log) -> dict[str, Any]:
        whole = self.settled(log)
        levels = list(whole.levels or ())
        return {self.by: levels, f"{self.by}_other": list(whole.others)}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return the scores of first and minus those of second, of the cell's source or target."""
        members = seats_of_both(cells)
        touches = []
        neutral: Any = 1.0
        if self._column in cells:
            source = cells[self._column]
            known = (source >= 0) * 1.0  # the index -1 of none is masked
            touches = [Touch((source, arm), share * known) for arm, share in members]
            neutral = 1.0 - known
        for s, weight in enumerate(self.weights):
            if weight:
                one = weight * neutral + 0.0 * cells["first"]
                touches += [Touch((s, arm), share * one) for arm, share in members]
        return tuple(touches)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return 1.0

    def covariance(self, scales: Named, n: int) -> Any:
        deviation = scales[self.spread] * np.ones(n)
        return _products(deviation) * self.correlation(scales, n)

    def correlation(self, scales: Named, n: int) -> Any:
        """Return the correlations of the sources' scores, (..., n, n)."""
        if not isinstance(self.target, str):
            return _alike(scales["agreement"], n)
        at = self.weights.index(1.0)
        others = np.delete(np.eye(n), at, axis=1)  # (n, n - 1): where each other source is
        odds = scales["agreement"] * np.ones(n - 1)
        rho = (odds - 1.0) / (odds + 1.0)
        own = np.eye(n)[at]
        along = own + rho @ others.T
        root = 2.0 * odds**0.5 / (odds + 1.0)  # sqrt(1 - rho^2)
        beside = root @ others.T
        shared = np.eye(n)
        if "common" in scales:
            alike = _alike(scales["common"], n - 1)
            shared = others @ alike @ others.T
        return _products(along) + _products(beside) * shared

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each source in the target."""
        levels = self.levels or ()
        if self.target is None:
            return tuple(1.0 / len(levels) for _ in levels)
        weights = self._weights
        return tuple(weights.get(level, 0.0) for level in levels)

    def utility(self, parameters: Named, table: Any) -> Any:
        scores = parameters[self.parameter]
        weighted = [w * scores[..., s, :] for s, w in enumerate(self.weights) if w]
        return sum(weighted)

    def difference(self, parameters: Named, cells: Named) -> Any:
        """Return first's score minus second's, of the cell's source where it names one."""
        if self._column not in cells:
            return super().difference(parameters, cells)
        coefficients = self.coefficients(parameters)
        return contribution(coefficients, self.design(cells))

    def complete(
        self, posterior: dict[str, np.ndarray], arms: tuple[str, ...]
    ) -> dict[str, np.ndarray]:
        found = super().complete(posterior, arms)
        score = self.utility(found, None)
        return {"score": np.asarray(score)} | found

    @property
    def _column(self) -> str:
        return f"{self.by}_of_cell"

    @property
    def _weights(self) -> dict[str, float]:
        if isinstance(self.target, str):
            return {self.target: 1.0}
        return dict(self.target or ())


def _target(given: object) -> Any:
    """Return a target as it is kept: None, a level, or pairs of level and weight."""
    if given is None or isinstance(given, str):
        return given
    pairs: Any = given
    if isinstance(given, Mapping):
        pairs = list(given.items())

    def is_list(value: object) -> bool:
        return isinstance(value, list | tuple)

    def is_pair(value: Any) -> bool:
        return is_list(value) and len(value) == 2

    if not is_list(pairs) or not pairs or not all(map(is_pair, pairs)):
        raise TypeError(
            "target should be a level, or a dictionary of weights by level, got "
            f"{shown_value(given)}"
        )
    weights = [weight for _, weight in pairs]
    for weight in weights:
        real(weight, "weight of a level in target")
    total = sum(weights)
    if min(weights) < 0 or not 0 < total < np.inf:
        raise ValueError(
            f"target should have weights >= 0, at least one above 0, got {shown_value(given)}"
        )
    return tuple((str(level), weight / total) for level, weight in pairs)


def _products(values: Any) -> Any:
    """Return the products of all pairs of n values, (n, n); of tensors too."""
    return values[:, None] * values[None, :]


def _alike(odds: Any, n: int) -> Any:
    """Return the matrix of one correlation between n, from -1 / (n - 1) at odds 0 to 1, (n, n)."""
    rho = (odds - 1.0) / (odds + (n - 1.0))
    alike = rho * np.ones((n, n))
    own = (1.0 - rho) * np.eye(n)
    return alike + own
