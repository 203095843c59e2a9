"""Score models: a response of one name, and a list of terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bayesduel.models.model import NAMED, Model
from bayesduel.models.prior import Prior, Said, priors_of
from bayesduel.models.response import Response
from bayesduel.models.scores import Scores
from bayesduel.models.term import Part, Term, Terms
from bayesduel.system.arguments import did_you_mean, shown_value
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings


__all__ = ["ScoreModel"]

DEFAULT = Terms((Scores(),))  # a score per arm, the scale learned


@dataclass(frozen=True)
class ScoreModel(Model):
    """The common part of models of scores; see the models themselves.

    A model of one's own says its `label`, its `assumption` and its `response`.

    Parameters
    ----------
    predictor
        What arms are worth, ``Scores()`` (default) or ``Covariates(items)``, and what else a duel
        depends on: ``Scores() + SideAdvantage() + Covariates(["length_difference"])``.
    scale
        Short for ``Scores(scale=...)``.
    priors
        Priors by the name of a variable of a fit, as :func:`bayesduel.fit` takes them; they come
        before those of the terms.

    Attributes
    ----------
    label
        Name of the model without further terms.
    assumption
        The same for a report, with its assumption in brackets.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or both are given and differ.

    Examples
    --------
    >>> isinstance(bd.models.Davidson(), bd.models.ScoreModel)
    True
    """

    predictor: Any = DEFAULT
    scale: float | Prior | None = field(default=None, kw_only=True)
    priors: Mapping[str, Said] = field(default_factory=dict, kw_only=True, repr=False)

    label: ClassVar[str]
    assumption: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ("label", "response")

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``Model(response, predictor)`` find the class."""
        super().__init_subclass__(**options)
        NAMED.append(cls)

    @classmethod
    def of_response(cls, response: Response) -> dict[str, Any] | None:
        """Return the settings with which the model has this response, or None."""
        return {} if cls.__dict__.get("response") == response else None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.predictor
        if isinstance(given, Terms) and given == DEFAULT:
            given = Scores(self.scale)
        if isinstance(given, Part):
            given = Terms((given,))
        if not isinstance(given, Terms):
            raise TypeError(
                "predictor should be terms such as Scores() + SideAdvantage() or Covariates("
                f"items), got {shown_value(self.predictor)}"
            )
        given.check()
        own = getattr(given.arms[0], "scale", None)
        if self.scale not in (None, own):
            raise ValueError(
                f"scale should be given once, to the model or to its terms, got {self.scale} and "
                f"{own}"
            )
        object.__setattr__(self, "predictor", given)
        object.__setattr__(self, "scale", own)
        object.__setattr__(self, "priors", priors_of(self.priors))
        self._check_priors()

    @property
    def said(self) -> dict[str, Said]:
        return super().said | dict(self.priors)

    def with_priors(self, priors: Mapping[str, Any]) -> Self:
        return replace(self, priors={**self.priors, **priors_of(priors)})

    def _check_priors(self) -> None:
        """Raise ValueError unless what priors were said of are its variables, of that kind."""
        said = self.said
        scales = self.scales
        if said and self.terms.flat:
            flat = next(part.key for part in self.terms if part.flat)
            raise ValueError(
                f"priors need terms without a flat prior, but the prior of {flat} is flat"
            )
        learned = {}  # scales of coefficients that are normal given these
        numbers = [*self.response.own]
        for part in self.terms:
            if not isinstance(part, Term) or part.why_nuts:
                continue
            if part.scales and part.parameter != "score":
                learned[part.parameter] = join(part.scales)
            else:
                numbers.append(part.parameter)
        known = list(dict.fromkeys([*scales, *numbers]))
        for name, one in said.items():
            if name in learned:
                raise ValueError(
                    f"{name!r} cannot have a prior of your own, because it is normal given "
                    f"{learned[name]}: give {learned[name]} a prior"
                )
            if name not in known:
                raise ValueError(
                    f"priors should be for variables of {self.name}, got {name!r}. The variables "
                    f"are {join(known, quote=True)}{did_you_mean(name, known)}"
                )
            if not isinstance(one, Prior) and (name in self.response.own or name in scales):
                raise ValueError(f"{name} should have one prior, got one per label")

    def __add__(self, other: Part) -> Self:
        return replace(self, predictor=self.terms + other)

    @property
    def terms(self) -> Terms:
        found: Terms = self.predictor
        return found

    @property
    def name(self) -> str:
        """The label, and the terms beside what the arms are worth: "bradley-terry + order"."""
        return " + ".join([self.label, *(p.key for p in self._beside)])

    @property
    def title(self) -> str:
        return self.titled()

    def titled(self, noun: str = "arm") -> str:
        own = getattr(self, "assumption", self.label).replace("{noun}", noun)
        return " + ".join([own, *(p.title for p in self._beside)])

    @property
    def _beside(self) -> list[Part]:
        """The terms that a name names: all but what the arms are worth in every duel."""
        return [p for p in self.terms if p not in self.terms.arms or p.reads]

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them; items are kept apart."""
        left_out = ("predictor", "scale", *(() if self.priors else ("priors",)))
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        return {"terms": [{"term": p.name, **p.settings} for p in self.terms], **own}

    def settled(self, log: "Duels | Rankings | Pulls") -> Self:
        settled = tuple(part.settled(log) for part in self.terms)
        return replace(self, predictor=Terms(settled))
