"""Names of models and terms, and models made from what a file holds of them.

A fit holds the name and the settings of its model and its terms, and of every class that does not
belong to bayesduel the module and the name: never code. What a file names is looked up among the
classes that this process was given, and nowhere else: those that a model was made of here, that
:func:`bayesduel.load` was handed, or that were registered.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from inspect import signature
from typing import TYPE_CHECKING, Any

from bayesduel.models.blade_chest import BladeChest
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.covariates import DuelCovariates, ItemCovariates, ItemEffects
from bayesduel.models.cumulative_logit import CumulativeLogit
from bayesduel.models.davidson import Davidson
from bayesduel.models.judge_reliability import JudgeReliability
from bayesduel.models.judge_tastes import JudgeTastes
from bayesduel.models.logistic_attributes import LogisticAttributes
from bayesduel.models.model import Model
from bayesduel.models.pair_effects import PairEffects
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.plackett_luce import PlackettLuce
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.random_effects import CategoryEffects, RandomEffects
from bayesduel.models.score_model import ScoreModel
from bayesduel.models.scores import Scores
from bayesduel.models.settings import Named, settings_from_json, settings_to_json
from bayesduel.models.side_advantage import SideAdvantage
from bayesduel.models.sources import Sources
from bayesduel.models.stacked import Stacked
from bayesduel.models.team_size import TeamSize
from bayesduel.models.term import Part, Terms
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore
from bayesduel.models.time_varying import TimeVarying
from bayesduel.system.arguments import (
    by_reader,
    check_text,
    check_type,
    did_you_mean,
    shown_value,
)
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.items import Items


__all__ = [
    "MODELS",
    "TERMS",
    "add_family",
    "add_term",
    "check_class",
    "classes_of",
    "is_shipped",
    "know",
    "label_and_terms",
    "model_from_settings",
    "model_named",
    "model_settings",
    "named",
    "register",
    "scored",
    "term_named",
]

MODELS: dict[str, type[Model]] = {
    **{
        kind.label: kind
        for kind in (
            *(BradleyTerry, Thurstone, Davidson, CumulativeLogit),
            *(ThurstoneScore, PerturbedThurstone, PlackettLuce),
        )
    },
    PreferenceMatrix.name: PreferenceMatrix,
}
NOT_OFFERED: dict[str, type[Model]] = {kind.name: kind for kind in (LogisticAttributes, Stacked)}
TERMS: dict[str, type[Part]] = {
    kind.name: kind
    for kind in (
        *(Scores, Sources, ItemCovariates, ItemEffects, DuelCovariates),
        *(SideAdvantage, RandomEffects, CategoryEffects, JudgeTastes),
        *(TimeVarying, TeamSize, PairEffects, JudgeReliability, BladeChest),
    )
}
SHORT = {"judge": "random:judge", "covariate": "covariates"}  # other words for terms
SHIPPED = "bayesduel."  # its classes a file has by name alone
_KNOWN: dict[str, type] = {}  # classes that this process was given, by module and name


def register[T: Model | Part](kind: type[T]) -> type[T]:
    """Register your own model or term, so that stored fits and studies find it.

    Use it as a decorator. Registering a class of the same module and name again replaces it, as
    running a cell of a notebook twice does.

    Parameters
    ----------
    kind
        A class of models with `label`, or of terms with `name`, whose `settings` are its arguments
        as JSON holds them.

    Returns
    -------
    The class itself.

    Raises
    ------
    TypeError
        If it is no such class.
    ValueError
        If another class has that name, or the name has a plus or a colon.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @bd.models.register
    ... @dataclass(frozen=True)
    ... class Court(bd.models.SideAdvantage):
    ...     name = "court"
    >>> bd.models.named("bradley-terry + court").name
    'bradley-terry + court'
    """
    check_class(kind)
    table: Any = TERMS if issubclass(kind, Part) else MODELS
    name = _name_of(kind)
    if not isinstance(name, str) or not name or set(name) & set("+:()"):
        raise ValueError(
            f"name of {kind.__name__} should be a text without + : ( ), got {shown_value(name)}"
        )
    known = table.get(name, kind)
    if _place(known) != _place(kind):
        raise ValueError(
            f"name of {kind.__name__} should be new, but another class has the name {name!r}"
        )
    table[name] = kind
    know(kind)
    return kind


def is_shipped(kind: type) -> bool:
    """Return whether a class of models or terms is one of the package."""
    return kind.__module__.startswith(SHIPPED)


def know(kind: type) -> None:
    """Let a class be found by the files that this process reads."""
    check_class(kind)
    _KNOWN[_place(kind)] = kind


def check_class(kind: type) -> None:
    """Raise TypeError unless `kind` is a class of models or terms."""
    if not (isinstance(kind, type) and issubclass(kind, Model | Part)):
        raise TypeError(f"classes should be classes of models or terms, got {shown_value(kind)}")


def classes_of(model: Model) -> dict[str, str]:
    """Return "module:name" of the classes of a model that do not belong to bayesduel, by name."""
    kinds: list[type] = [type(model), *(type(part) for part in model.terms)]
    own = [kind for kind in kinds if not is_shipped(kind)]
    for kind in own:
        know(kind)
    return {_name_of(kind): _place(kind) for kind in own}


def named(name: str, **settings: Any) -> Any:
    """Return the model called `name`, e.g. ``named("bradley-terry + order", scale=1.0)``.

    Parameters
    ----------
    name
        A key of :data:`MODELS`, and terms after a plus, as :func:`term_named` takes them:
        ``"davidson + order + random:judge + time:12"``. Capitals, spaces and hyphens of the model
        do not matter: "Bradley-Terry", "bradley_terry" and "BradleyTerry" are one.
    settings
        Arguments of the model, or its ``settings`` (and ``items``, where it has a table of them).

    Raises
    ------
    ValueError
        If there is no such model or term.

    Examples
    --------
    >>> bd.models.named("bradley-terry + order", scale=1.0).name
    'bradley-terry + order'
    """
    check_type(name, str, "name", "the name of a model")
    label, *words = label_and_terms(name)
    made = _made(label, settings, {})
    return made if "terms" in settings else reduce(add_term, words, made)


def label_and_terms(name: str) -> list[str]:
    """Return the model, spelled as we do, and the terms that a name lists.

    A plus without spaces may also belong to the name of a column.
    """
    words = [word.strip() for word in name.split("+")]
    if not all(word.partition(":")[0] in TERMS | SHORT for word in words[1:]):
        words = [word.strip() for word in name.split(" + ")]
    return [_spelled(words[0]), *words[1:]]


def _spelled(label: str) -> str:
    """Return the name of the model whose letters and digits these are, or else the label."""

    def plain(text: str) -> str:
        return "".join(filter(str.isalnum, text.lower()))

    if "+" in label:  # of which a part is no term
        return label
    return next((name for name in MODELS if plain(name) == plain(label)), label)


def term_named(term: str) -> Part:
    """Return the term that a word names: a name, or a name and what it is about after a colon.

    Parameters
    ----------
    term
        A key of :data:`TERMS`, such as "order", "time", "category" or "reliability"; "time:12"
        (periods), "random:prompt" or "category:topic" (a column), "covariate:length", or "judge",
        short for "random:judge".

    Raises
    ------
    ValueError
        If there is no such term, or it needs other settings.

    Examples
    --------
    >>> bd.models.term_named("time:12")
    TimeVarying(process='walk', periods=12, prior=0.5, edges=None)
    """
    check_text(term, "term")
    name, colon, text = SHORT.get(term, term).partition(":")
    name = SHORT.get(name, name)
    if name not in TERMS or (colon and not text):
        hint = did_you_mean(name, [*TERMS, *SHORT])
        raise ValueError(
            f"term should be one of {', '.join(TERMS)}, or {' or '.join(SHORT)}, with a "
            f"column after a colon (random:prompt), got {shown_value(term)}{hint}"
        )
    kind: Any = TERMS[name]
    parameters = signature(kind).parameters.values()
    needed = [p for p in parameters if p.default is p.empty]
    if needed and not colon:
        word = next((short for short, long in SHORT.items() if long == name), name)
        raise ValueError(
            f"term {term!r} should have the name of a column after a colon, such as '{word}:COLUMN'"
        )
    try:
        found: Part = kind.worded(text) if colon else kind()
    except (TypeError, ValueError) as error:
        raise ValueError(f"term {term!r} cannot be made from its settings: {error}") from None
    return found


def add_term(model: Model, term: str) -> ScoreModel:
    """Return a model with the term of a word (:func:`term_named`) beside its own.

    Covariates of the duel join those that the model has; sources take the place of scores, and
    "scores:mean" says what a side of several arms is worth.

    Parameters
    ----------
    model
        A model of scores.
    term
        A word such as "order" or "random:prompt".

    Raises
    ------
    TypeError, ValueError
        If there is no such term, or the model cannot have it.

    Examples
    --------
    >>> bd.models.add_term(bd.models.BradleyTerry(), "random:prompt").name
    'bradley-terry + random:prompt'
    """
    own = scored(model)
    added = term_named(term)
    sought = DuelCovariates if isinstance(added, DuelCovariates) else Scores
    known: Any = own.terms.find(sought)
    if not isinstance(added, DuelCovariates | Sources | Scores) or known is None:
        return own + added
    if isinstance(added, DuelCovariates):
        columns = dict.fromkeys((*known.of, *added.of))
        added = replace(known, of=tuple(columns))
    elif isinstance(added, Scores):
        added = replace(known, side=added.side)
    parts = tuple(added if part is known else part for part in own.terms)
    return replace(own, predictor=Terms(parts))


def add_family(model: Any, family: Mapping[str, str | None]) -> ScoreModel:
    """Return a model whose scores have families, as :class:`bayesduel.models.Scores` takes them.

    Parameters
    ----------
    model
        A model of scores.
    family
        The family of each arm by label.

    Raises
    ------
    TypeError, ValueError
        If arms of the model have no scores of their own, or `family` is not as described.

    Examples
    --------
    >>> model = bd.models.add_family(bd.models.Davidson(), {"gpt-5": "gpt", "gpt-4": "gpt"})
    >>> list(model.scales)
    ['scale', 'family_scale']
    """
    known = scored(model).terms.find(Scores)
    if known is None:
        raise ValueError(
            f"family needs a model with the term Scores(), got a model with the terms {model.terms}"
        )
    shared = replace(known, family=family)
    parts = tuple(shared if part is known else part for part in model.terms)
    found: ScoreModel = replace(model, predictor=Terms(parts))
    return found


def model_settings(model: Model) -> dict[str, Any]:
    """Return the name and settings of a model as JSON holds them; see :func:`model_from_settings`.

    Parameters
    ----------
    model
        A model.

    Raises
    ------
    TypeError
        If JSON does not hold a setting.

    Examples
    --------
    >>> bd.models.model_settings(bd.models.Davidson(scale=1.0))
    {'name': 'davidson', 'settings': {'terms': [{'term': 'scores', 'scale': 1.0, 'side': 'sum'}]}}
    """
    check_type(model, Model, "model", "a model")
    own = classes_of(model)
    known = {"name": model.name, "settings": json.loads(settings_to_json(model.settings))}
    return known | ({"classes": own} if own else {})


def model_from_settings(description: Named, items: "Items | None" = None) -> Any:
    """Return the model of what :func:`model_settings` returned.

    Parameters
    ----------
    description
        Name, settings and classes.
    items
        The table of attributes of its arms, if it has one.

    Raises
    ------
    TypeError, ValueError
        If there is no such model, a class of one's own is not known here, or settings are not
        those of the model.

    Examples
    --------
    >>> settings = bd.models.model_settings(bd.models.Davidson(scale=1.0))
    >>> bd.models.model_from_settings(settings) == bd.models.Davidson(scale=1.0)
    True
    """
    if not isinstance(description, Mapping) or not {"name", "settings"} <= {*description}:
        raise TypeError(
            f"description should be what model_settings returned, got {shown_value(description)}"
        )
    check_text(description["name"], "name of a model")
    text = json.dumps(description["settings"])
    settings = _checked(settings_from_json(text))
    if "(" in description["name"] or "predictor" in settings:
        raise ValueError(
            f"the model {shown_value(description['name'])} was saved by bayesduel 0.1, which this "
            "version cannot read: fit it again (bayesduel fit LOG -o FIT)"
        )
    if items is not None:
        settings["items"] = items
    label = description["name"].split(" + ")[0]
    classes = _classes_named(description.get("classes", {}))
    return _made(label, settings, classes)


def model_named(model: Any) -> Model:
    """Return the model of that name, or `model` itself if it is one.

    Parameters
    ----------
    model
        A name such as "davidson + order", or a model.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If there is no model of that name.

    Examples
    --------
    >>> made = bd.models.Davidson() + bd.models.SideAdvantage()
    >>> bd.models.model_named("davidson + order") == made
    True
    """
    if isinstance(model, str):
        found: Model = named(model)
        return found
    rule = (
        "a name or a model such as BradleyTerry(), to which terms are added (Davidson() + a term)"
    )
    check_type(model, Model, "model", rule)
    return model


def scored(model: Any) -> ScoreModel:
    """Return a model to which terms can be added.

    Parameters
    ----------
    model
        A model.

    Raises
    ------
    TypeError
        If it has no linear predictor of duels.

    Examples
    --------
    >>> bd.models.scored(bd.models.Thurstone()).name
    'thurstone'
    """
    check_type(model, ScoreModel, "terms", "added to a model with scores, such as BradleyTerry()")
    return model


def _name_of(kind: Any) -> Any:
    if issubclass(kind, Part):
        return kind.name
    return kind.label if issubclass(kind, ScoreModel) else kind.name


def _place(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _made(label: str, settings: dict[str, Any], classes: Mapping[str, type]) -> Any:
    """Return the model of a label and settings; `classes` come before those that are known."""
    own = {name: kind for name, kind in classes.items() if issubclass(kind, Model)}
    kind: Any = {**MODELS, **NOT_OFFERED, **own}.get(label)
    if kind is None:
        raise ValueError(
            f"model name should be one of {', '.join(MODELS)}, with terms after a plus "
            f"({', '.join(TERMS)}), got {shown_value(label)}; pass a model of your own as an object"
            f"{did_you_mean(label, MODELS)}"
        )
    settings = dict(settings)
    if "terms" in settings:
        items = settings.pop("items", None)
        listed = settings.pop("terms")
        check_type(listed, list, "terms", "a list")
        parts = tuple(_part_of(_checked(part), items, classes) for part in listed)
        settings["predictor"] = Terms(parts)
    elif "items" in settings and issubclass(kind, ScoreModel):
        items = settings.pop("items")
        settings["predictor"] = ItemCovariates(items) + ItemEffects()
    return _called(kind, settings, label)


def _called(kind: type, settings: dict[str, Any], label: str) -> Any:
    """Return an object of settings; raise TypeError where they are not its own."""
    own = {
        name: of.default is of.empty
        for name, of in signature(kind).parameters.items()
        if of.kind in (of.POSITIONAL_OR_KEYWORD, of.KEYWORD_ONLY)
    }
    wrong = [name for name in settings if name not in own]
    missing = [name for name, needed in own.items() if needed and name not in settings]
    if wrong or missing:
        got = f"without {join(missing, quote=True)}"
        if wrong:
            got = f"got {join(wrong, quote=True)}"
        rule = f"should be {join(own)}" if own else "should be empty"
        raise TypeError(f"settings of {label} {rule}, {got}")
    return kind(**settings)


def _part_of(settings: dict[str, Any], items: "Items | None", classes: Mapping[str, type]) -> Part:
    """Return the term of these settings."""
    name = settings.pop("term", None)
    own = {known: kind for known, kind in classes.items() if issubclass(kind, Part)}
    kind: Any = {**TERMS, **own}.get(str(name))
    if kind is None:
        hint = did_you_mean(name, TERMS)
        raise ValueError(f"term should be one of {', '.join(TERMS)}, got {shown_value(name)}{hint}")
    if kind is ItemCovariates:
        settings["items"] = items
    listed = {}
    for known, value in settings.items():
        listed[known] = tuple(value) if isinstance(value, list) else value
    part: Part = _called(kind, listed, f"the term {name}")
    return part


def _classes_named(places: Mapping[str, str]) -> dict[str, type]:
    """Return the classes that :func:`classes_of` named; raise ValueError if one is not known."""
    if not isinstance(places, Mapping):
        raise ValueError(f"classes should be a dictionary by name, got {shown_value(places)}")
    found = {}
    for name, place in places.items():
        registered = {**TERMS, **MODELS}.get(str(name))
        kind = _KNOWN.get(str(place)) or registered
        if kind is None or _name_of(kind) != name or is_shipped(kind):
            given = by_reader(
                "pass the class with bayesduel.load(path, classes=[...]), or register it with "
                "bayesduel.models.register",
                f"name its file by --term FILE.py:{str(place).rpartition(':')[2]}",
            )
            raise ValueError(
                f"the file needs the class {shown_value(place)} for {shown_value(name)}, and "
                f"loading a file never imports code: {given}"
            )
        found[str(name)] = kind
    return found


def _checked(settings: Any) -> dict[str, Any]:
    """Return settings by name; raise TypeError if they are something else."""
    check_type(settings, Mapping, "settings of a model", "by name")
    return dict(settings)
