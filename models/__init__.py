"""Generative models of duels: a response and a list of terms.

================  ================================================================================
models            who wins: ``BradleyTerry``, ``Thurstone``, ``Davidson`` (ties); grades:
                  ``CumulativeLogit``; margins: ``ThurstoneScore``, ``PerturbedThurstone``;
                  rankings: ``PlackettLuce``; pulls: ``LogisticAttributes``; no ranking
                  assumed: ``PreferenceMatrix``
what arms are     ``Scores``, ``Covariates(items)``
worth
further terms     ``SideAdvantage``, ``Covariates([columns])``, ``RandomEffects(by)``,
                  ``CategoryEffects``, ``TimeVarying``, ``JudgeTastes``, ``TeamSize``,
                  ``PairEffects``
modifiers         ``JudgeReliability``, ``BladeChest``
================  ================================================================================

A model is made with ``+``: ``BradleyTerry(Scores() + SideAdvantage() + RandomEffects("judge"))``. A
model or a term of one's own is a class, and is passed as an object: ``fit(duels, MyModel())``.
docs/how_to/custom_models.md has a worked example. :func:`register` gives such a class a name.
"""

from typing import TYPE_CHECKING, NoReturn

from bayesduel.models.blade_chest import BladeChest
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.covariates import Covariates, DuelCovariates, ItemCovariates, ItemEffects
from bayesduel.models.cumulative_logit import CumulativeLogit
from bayesduel.models.davidson import Davidson
from bayesduel.models.judge_reliability import JudgeReliability
from bayesduel.models.judge_tastes import JudgeTastes
from bayesduel.models.logistic_attributes import LogisticAttributes
from bayesduel.models.margin_response import MarginResponse
from bayesduel.models.model import Model
from bayesduel.models.pair_effects import PairEffects
from bayesduel.models.perturbed_thurstone import PerturbedThurstone
from bayesduel.models.plackett_luce import PlackettLuce
from bayesduel.models.preference_matrix import PreferenceMatrix
from bayesduel.models.random_effects import CategoryEffects, RandomEffects
from bayesduel.models.registry import (
    MODELS,
    TERMS,
    add_family,
    add_term,
    model_from_settings,
    model_named,
    model_settings,
    named,
    register,
    scored,
    term_named,
)
from bayesduel.models.response import Bernoulli, Response
from bayesduel.models.scale_prior import Scale
from bayesduel.models.score_model import ScoreModel
from bayesduel.models.scores import Scores
from bayesduel.models.side_advantage import SideAdvantage
from bayesduel.models.sources import Sources
from bayesduel.models.stacked import Stacked
from bayesduel.models.team_size import TeamSize
from bayesduel.models.term import Modifier, Part, Term, Terms
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.thurstone_score import ThurstoneScore
from bayesduel.models.time_varying import TimeVarying
from bayesduel.models.touch import Touch

__all__ = [
    "MODELS",
    "TERMS",
    "Bernoulli",
    "BladeChest",
    "BradleyTerry",
    "CategoryEffects",
    "Covariates",
    "CumulativeLogit",
    "Davidson",
    "DuelCovariates",
    "ItemCovariates",
    "ItemEffects",
    "JudgeReliability",
    "JudgeTastes",
    "LogisticAttributes",
    "MarginResponse",
    "Model",
    "Modifier",
    "PairEffects",
    "Part",
    "PerturbedThurstone",
    "PlackettLuce",
    "PreferenceMatrix",
    "RandomEffects",
    "Response",
    "Scale",
    "ScoreModel",
    "Scores",
    "SideAdvantage",
    "Sources",
    "Stacked",
    "TeamSize",
    "Term",
    "Terms",
    "Thurstone",
    "ThurstoneScore",
    "TimeVarying",
    "Touch",
    "add_family",
    "add_term",
    "model_from_settings",
    "model_named",
    "model_settings",
    "named",
    "register",
    "scored",
    "term_named",
]

if not TYPE_CHECKING:  # a type checker knows the names that there are
    _NOW_CALLED = {"OrderEffect": "SideAdvantage"}

    def __getattr__(name: str) -> NoReturn:
        """Raise ImportError with the new name of a renamed class, else AttributeError."""
        if name in _NOW_CALLED:
            raise ImportError(f"{__name__}.{name} is now called {_NOW_CALLED[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
