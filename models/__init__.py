"""Generative models of duels: a linear predictor and a response, and layers around them.

============================  ====================================================================
predictors                    ``Scores``, ``Covariates(items)``, ``+ Covariates([columns])``
models of who wins            ``BradleyTerry``, ``Thurstone``, ``Davidson`` (ties),
                              ``PreferenceMatrix`` (no ranking assumed)
models of margins             ``ThurstoneScore``, ``PerturbedThurstone``
models of pulls               ``LogisticAttributes``
layers around any predictor   ``OrderEffect``, ``JudgeReliability``, ``JudgeTastes``,
                              ``TimeVarying``, ``BladeChest``
============================  ====================================================================
"""

from collections.abc import Callable, Mapping
from typing import Any

from bayesduel.models.blade_chest import BladeChest
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.covariates import Covariates, DuelCovariates, ItemCovariates
from bayesduel.models.davidson import Davidson
from bayesduel.models.judge_reliability import JudgeReliability
from bayesduel.models.judge_tastes import JudgeTastes
from bayesduel.models.layers import Layer
from bayesduel.models.logistic_attributes import LogisticAttributes
from bayesduel.models.model import Model
from bayesduel.models.order_effect import OrderEffect
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.predictor import Predictor
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.response import Response
from bayesduel.models.scores import Scores
from bayesduel.models.stacked import Stacked
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore
from bayesduel.models.time_varying import TimeVarying

__all__ = [
    "LAYERS",
    "MODELS",
    "BladeChest",
    "BradleyTerry",
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
    "model_named",
    "named",
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
    for layer in (OrderEffect, JudgeReliability, JudgeTastes, TimeVarying, BladeChest)
}


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
    outer, bracket, inner = name.partition("(")
    if outer in LAYERS and (name.endswith(")") if bracket else True):
        items = {"items": settings.pop("items")} if "items" in settings else {}
        below = inner[:-1] if bracket else "bradley-terry"
        return LAYERS[outer](named(below, **settings.pop("base", {}), **items), **settings)
    known = MODELS | NOT_OFFERED
    if name not in known:
        raise ValueError(
            f"model should be one of {', '.join(MODELS)}, or one of these in "
            f"{', '.join(f'{layer}(...)' for layer in LAYERS)}, got {name!r}"
        )
    kind: Any = known[name]
    if isinstance(settings.get("predictor"), Mapping) or "items" in settings:
        return kind.from_settings(**settings)
    return kind(**settings)


def model_named(model: Any) -> Model:
    """Return the model of that name, or `model` itself if it is one.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(model, str):
        return named(model)
    if not isinstance(model, Model):
        raise TypeError(f"model should be a name or a model such as BradleyTerry(), got {model!r}")
    return model
