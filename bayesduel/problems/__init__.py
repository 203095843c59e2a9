"""Problems to simulate: named matrices, random families, replayed logs, fits, changing ones."""

from bayesduel.problems.contexts import ContextualDuels
from bayesduel.problems.convert import as_margin_problem, as_problem
from bayesduel.problems.items import ItemDuels, ItemPulls, SpherePulls
from bayesduel.problems.literature import NAMES, named
from bayesduel.problems.margins import ScoreDuels, score_duels, uneven_duels
from bayesduel.problems.matrix import FromFit, Matrix, davidson
from bayesduel.problems.piecewise_stationary import (
    FromPeriods,
    PiecewiseStationary,
    RandomChanges,
    ScoreWalk,
)
from bayesduel.problems.problem import Problem
from bayesduel.problems.random import (
    RandomProblem,
    bradley_terry,
    fixed_gap,
    noise_floor,
    perturbed_thurstone,
    thurstone,
    uniform,
)
from bayesduel.problems.random_items import LogisticDuels, LogisticItems, UnitSphere
from bayesduel.problems.replay import BinaryDuels, MarginReplay, Replay
from bayesduel.problems.roshambo import (
    RoshamboDuels,
    RoshamboTable,
    roshambo_bots,
    roshambo_match,
    roshambo_table,
)

__all__ = [
    "NAMES",
    "BinaryDuels",
    "ContextualDuels",
    "FromFit",
    "FromPeriods",
    "ItemDuels",
    "ItemPulls",
    "LogisticDuels",
    "LogisticItems",
    "MarginReplay",
    "Matrix",
    "PiecewiseStationary",
    "Problem",
    "RandomChanges",
    "RandomProblem",
    "Replay",
    "RoshamboDuels",
    "RoshamboTable",
    "ScoreDuels",
    "ScoreWalk",
    "SpherePulls",
    "UnitSphere",
    "as_margin_problem",
    "as_problem",
    "bradley_terry",
    "davidson",
    "fixed_gap",
    "named",
    "noise_floor",
    "perturbed_thurstone",
    "roshambo_bots",
    "roshambo_match",
    "roshambo_table",
    "score_duels",
    "thurstone",
    "uneven_duels",
    "uniform",
]
