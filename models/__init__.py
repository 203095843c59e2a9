"""Generative models of duels: a linear predictor and a response, and layers around them.

============================  ====================================================================
predictors                    ``Scores``, ``Covariates(items)``, ``+ Covariates([columns])``
models of who wins            ``BradleyTerry``, ``Thurstone``, ``Davidson`` (ties),
                              ``PreferenceMatrix`` (no ranking assumed)
models of margins             ``ThurstoneScore``, ``PerturbedThurstone``
models of pulls               ``LogisticAttributes``
layers around any predictor   ``OrderEffect``, ``JudgeReliability``, ``JudgeTastes``,
                              ``TimeVarying``, ``BladeChest``, ``CategoryEffects``
============================  ====================================================================

A model or a layer of one's own is a class, and is passed as an object: ``fit(duels, MyModel())``. A
fit holds the name and the settings of its model and the name of its class, never code: reading a
stored fit takes the class itself, ``bayesduel.load(path, classes=[MyModel])``.
docs/custom_models.md has a worked example. :func:`register` gives such a class a name that is
known everywhere.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from bayesduel.models.blade_chest import BladeChest
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.category_effects import CategoryEffects
from bayesduel.models.class_names import check_class, classes_named, classes_of, know
from bayesduel.models.covariates import Covariates, DuelCovariates, ItemCovariates
from bayesduel.models.davidson import Davidson
from bayesduel.models.judge_reliability import JudgeReliability
from bayesduel.models.judge_tastes import JudgeTastes
from bayesduel.models.layers import Layer
from bayesduel.models.logistic_attributes import LogisticAttributes
from bayesduel.models.model import Model
from bayesduel.models.order_effect import OrderEffect
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.predictor import ArmPredictor, Predictor
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.response import Response
from bayesduel.models.scores import Scores
from bayesduel.models.settings import settings_from_json, settings_to_json
from bayesduel.models.stacked import Stacked
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore
from bayesduel.models.time_varying import TimeVarying
from bayesduel.system.arguments import check_text, shown_value

__all__ = [
    "LAYERS",
    "MODELS",
    "BladeChest",
    "BradleyTerry",
    "CategoryEffects",
    "Covariates",
    "Davidson",
    "DuelCovariates",
    "ItemCovariates",
    "JudgeReliability",
    "JudgeTastes",
    "Layer",
    "LogisticAttributes",
    "Model",
    "OrderEffect",
    "PerturbedThurstone",
    "Predictor",
    "PreferenceMatrix",
    "Response",
    "Scores",
    "Stacked",
    "Thurstone",
    "ThurstoneScore",
    "TimeVarying",
    "model_from_settings",
    "model_named",
    "model_settings",
    "named",
    "register",
]

MODELS: dict[str, Callable[..., Any]] = {
    model.name: model
    for model in (
        BradleyTerry,
        Thurstone,
        Davidson,
        PreferenceMatrix,
        ThurstoneScore,
        PerturbedThurstone,
    )
}
NOT_OFFERED: dict[str, Callable[..., Any]] = {
    model.name: model for model in (LogisticAttributes, Stacked)
}
LAYERS: dict[str, Callable[..., Any]] = {
    layer.layer: layer
    for layer in (
        *(OrderEffect, JudgeReliability, JudgeTastes, TimeVarying, BladeChest),
        CategoryEffects,
    )
}


def register[T: Model | ArmPredictor](kind: type[T]) -> type[T]:
    """Register a model, layer or predictor of one's own, so that stored fits and studies find it.

    Use it as a decorator. Registering a class of the same module and name again replaces it, as
    running a cell of a notebook twice does.

    Parameters
    ----------
    kind
        A class of models with `name`, of layers with `layer`, or of predictors of the arms, whose
        `settings` are its arguments as JSON holds them (or those of its ``from_settings``).

    Returns
    -------
    The class itself.

    Raises
    ------
    TypeError
        If it is no such class.
    ValueError
        If another class has that name, or the name has a bracket.
    """
    check_class(kind)
    if issubclass(kind, ArmPredictor):
        know(kind)
        return kind
    layer = issubclass(kind, Layer)
    name: Any = getattr(kind, "layer" if layer else "name")
    if not isinstance(name, str) or not name or set(name) & set("()"):
        raise ValueError(
            f"name of a model should be a text without brackets, got {shown_value(name)}"
        )
    known: Any = {**MODELS, **NOT_OFFERED, **LAYERS}.get(name, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ValueError(f"name of {kind.__name__} should not be that of another model: {name!r}")
    (LAYERS if layer else MODELS)[name] = kind
    know(kind)
    return kind


def named(name: str, **settings: Any) -> Any:
    """Return the model called `name`, e.g. ``named("bradley-terry", scale=1.0)``.

    Parameters
    ----------
    name
        A key of :data:`MODELS`, or a layer around one in brackets,
        ``"order-effect(davidson)"``. A layer alone wraps Bradley-Terry.
    settings
        Arguments of the model, or its ``settings`` (and ``items``, where it has a table of
        them); a layer takes those of what it wraps as ``base``.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    if not isinstance(name, str):
        raise TypeError(f"name should be the name of a model, got {shown_value(name)}")
    return _made(name, settings, {})


def model_settings(model: Any) -> dict[str, Any]:
    """Return the name and settings of a model as JSON holds them; see :func:`model_from_settings`.

    Raises
    ------
    TypeError
        If JSON does not hold a setting.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model should be a model, got {shown_value(model)}")
    own = classes_of(model)
    known = {"name": model.name, "settings": json.loads(settings_to_json(model.settings))}
    return known | ({"classes": own} if own else {})


def model_from_settings(description: Mapping[str, Any], items: Any = None) -> Any:
    """Return the model of what :func:`model_settings` returned.

    Parameters
    ----------
    description
        Name, settings and classes.
    items
        The table of attributes of its arms, if it has one.

    Raises
    ------
    ValueError
        If there is no such model, or a class of one's own is not known here.
    """
    if not isinstance(description, Mapping) or not {"name", "settings"} <= {*description}:
        raise TypeError(
            f"description should be what model_settings returned, got {shown_value(description)}"
        )
    settings = _checked(settings_from_json(json.dumps(description["settings"])))
    if items is not None:
        settings["items"] = items
    registered = {**MODELS, **NOT_OFFERED, **LAYERS}
    classes = classes_named(description.get("classes", {}), registered)
    check_text(description["name"], "name of a model")
    return _made(description["name"], settings, classes)


def _made(name: str, settings: dict[str, Any], classes: Mapping[str, Any]) -> Any:
    """Return the model of a name and settings; `classes` come before those that are known."""
    outer, bracket, inner = name.partition("(")
    layers = {**LAYERS, **{n: kind for n, kind in classes.items() if issubclass(kind, Layer)}}
    settings = dict(settings)
    if outer in layers and (name.endswith(")") if bracket else True):
        items = {"items": settings.pop("items")} if "items" in settings else {}
        below = inner[:-1] if bracket else "bradley-terry"
        base = _made(below, _checked(settings.pop("base", {})) | items, classes)
        return layers[outer](base, **settings)
    own = {n: kind for n, kind in classes.items() if issubclass(kind, Model)}
    known = {**MODELS, **NOT_OFFERED, **own}
    if name not in known:
        raise ValueError(
            f"model name should be one of {', '.join(MODELS)}, or one of these in "
            f"{', '.join(f'{layer}(...)' for layer in LAYERS)}, "
            f"got {shown_value(name)}; pass a model of "
            "your own as an object"
        )
    kind: Any = known[name]
    if "predictor" in classes:
        predictor = _checked(settings.get("predictor"))
        settings["predictor"] = predictor | {"kind": classes["predictor"]}
    if isinstance(settings.get("predictor"), Mapping) or "items" in settings:
        return kind.from_settings(**settings)
    return kind(**settings)


def _checked(settings: Any) -> dict[str, Any]:
    """Return settings by name; raise TypeError if they are something else."""
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings of a model should be by name, got {shown_value(settings)}")
    return dict(settings)


def model_named(model: Any) -> Model:
    """Return the model of that name, or `model` itself if it is one.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If there is no model of that name.
    """
    if isinstance(model, str):
        return named(model)
    if not isinstance(model, Model):
        raise TypeError(
            f"model should be a name or a model such as BradleyTerry(), got {shown_value(model)}"
        )
    return model
