"""Generative models of duels, one a file: frozen settings with ``build(duels) -> pm.Model``."""

from collections.abc import Callable
from typing import Any

from bayesduel.models.attributes import AttributeDuels
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.davidson import Davidson
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.stacked import Stacked
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore

__all__ = [
    "MODELS",
    "AttributeDuels",
    "BradleyTerry",
    "Davidson",
    "PerturbedThurstone",
    "PreferenceMatrix",
    "Stacked",
    "Thurstone",
    "ThurstoneScore",
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


def named(name: str, **settings: Any) -> Any:
    """Return the model called `name`, e.g. ``named("bradley-terry", scale=1.0)``.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    if name == Stacked.name:
        return Stacked(**settings)
    if name not in MODELS:
        raise ValueError(f"model should be one of {', '.join(MODELS)}, got {name!r}")
    return MODELS[name](**settings)
