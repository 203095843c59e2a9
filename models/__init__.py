"""Generative models of duels, one a file: frozen settings with ``build(duels) -> pm.Model``."""

from collections.abc import Callable
from typing import Any

from bayesduel.models.blade_chest import BladeChest
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.covariates import AttributeDuels
from bayesduel.models.davidson import Davidson
from bayesduel.models.judge_reliability import JudgeReliability
from bayesduel.models.layers import Layer
from bayesduel.models.logistic_attributes import LogisticAttributes
from bayesduel.models.order_effect import OrderEffect
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.stacked import Stacked
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore
from bayesduel.models.time_varying import TimeVarying

__all__ = [
    "LAYERS",
    "MODELS",
    "AttributeDuels",
    "BladeChest",
    "BradleyTerry",
    "Davidson",
    "JudgeReliability",
    "Layer",
    "LogisticAttributes",
    "OrderEffect",
    "PerturbedThurstone",
    "PreferenceMatrix",
    "Stacked",
    "Thurstone",
    "ThurstoneScore",
    "TimeVarying",
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


LAYERS: dict[str, Callable[..., Any]] = {
    layer.layer: layer for layer in (OrderEffect, JudgeReliability, TimeVarying, BladeChest)
}


def named(name: str, **settings: Any) -> Any:
    """Return the model called `name`, e.g. ``named("bradley-terry", scale=1.0)``.

    A layer takes what it wraps in brackets, ``named("order-effect(davidson)")``, and its
    settings as ``base``. A layer alone wraps Bradley-Terry.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    if name == Stacked.name:
        return Stacked(**settings)
    outer, bracket, inner = name.partition("(")
    if outer in LAYERS and (name.endswith(")") if bracket else True):
        base = named(inner[:-1] if bracket else "bradley-terry", **settings.pop("base", {}))
        return LAYERS[outer](base, **settings)
    if name not in MODELS:
        raise ValueError(
            f"model should be one of {', '.join(MODELS)}, or one of these in "
            f"{', '.join(f'{layer}(...)' for layer in LAYERS)}, got {name!r}"
        )
    return MODELS[name](**settings)
