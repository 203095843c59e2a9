"""Bayesian analysis of pairwise duels.

A log of duels in, a ranking with honest uncertainty out::

    import bayesduel as bd

    duels = bd.read_duels("votes.csv")
    fit = bd.fit(duels)
    print(bd.winners(fit))

Heavy names (those that need PyMC, Numba or plotting) load on first use.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# name -> module that defines it; the modules load when a name is first asked for.
_HOMES = {
    "ActionElimination": "bayesduel.policies",
    "ActiveRanking": "bayesduel.selection",
    "Asking": "bayesduel.asking",
    "BeatTheMean": "bayesduel.policies",
    "CCB": "bayesduel.policies",
    "CWRMED": "bayesduel.policies",
    "DTS": "bayesduel.policies",
    "DTSPlus": "bayesduel.policies",
    "Comparison": "bayesduel.comparison",
    "Duels": "bayesduel.duels",
    "ECWRMED": "bayesduel.policies",
    "GLMETC": "bayesduel.policies",
    "Health": "bayesduel.health",
    "HybridPOCBAm": "bayesduel.selection",
    "InterleavedFilter": "bayesduel.policies",
    "KLUCB": "bayesduel.policies",
    "Laplace": "bayesduel.beliefs",
    "LaplaceAllocation": "bayesduel.selection",
    "LogisticDuelThompson": "bayesduel.policies",
    "LogisticThompson": "bayesduel.policies",
    "LogisticUCB": "bayesduel.policies",
    "MCMC": "bayesduel.beliefs",
    "MLPOCBAm": "bayesduel.selection",
    "MergeRUCB": "bayesduel.policies",
    "PBR": "bayesduel.policies",
    "PKG": "bayesduel.selection",
    "POCBAm": "bayesduel.selection",
    "Pulls": "bayesduel.pulls",
    "RCS": "bayesduel.policies",
    "RMED1": "bayesduel.policies",
    "RMED2": "bayesduel.policies",
    "RUCB": "bayesduel.policies",
    "RankEl": "bayesduel.policies",
    "SAVAGE": "bayesduel.policies",
    "SCB": "bayesduel.policies",
    "SelectTop": "bayesduel.selection",
    "SelfSparring": "bayesduel.policies",
    "SupKLUCB": "bayesduel.policies",
    "ThompsonBeta": "bayesduel.policies",
    "TwoPhase": "bayesduel.policies",
    "UCB1": "bayesduel.policies",
    "Uniform": "bayesduel.policies",
    "check": "bayesduel.checking",
    "coefficients": "bayesduel.attributing",
    "compare_models": "bayesduel.comparing",
    "fit": "bayesduel.fitting",
    "margin_check": "bayesduel.margin_checks",
    "next_pairs": "bayesduel.teaching",
    "open_trace": "bayesduel.simulation",
    "opportunity_cost": "bayesduel.successes",
    "plot_calibration": "bayesduel.plots",
    "plot_coefficients": "bayesduel.plots",
    "plot_comparison": "bayesduel.plots",
    "plot_cycles": "bayesduel.plots",
    "plot_cyclicity": "bayesduel.plots",
    "plot_judges": "bayesduel.plots",
    "plot_margins": "bayesduel.plots",
    "plot_pair_residuals": "bayesduel.plots",
    "plot_preference": "bayesduel.plots",
    "plot_ranking": "bayesduel.plots",
    "plot_ranks": "bayesduel.plots",
    "plot_ratings": "bayesduel.plots",
    "plot_regret": "bayesduel.plots.regret",
    "plot_residuals": "bayesduel.plots",
    "plot_success": "bayesduel.plots.success",
    "plot_winners": "bayesduel.plots",
    "predict": "bayesduel.predicting",
    "predict_items": "bayesduel.attributing",
    "preference_draws": "bayesduel.drawing",
    "read_duels": "bayesduel.reading",
    "read_items": "bayesduel.reading.itemising",
    "read_pulls": "bayesduel.reading.pulling",
    "regret": "bayesduel.regrets",
    "replicate_margins": "bayesduel.margin_checks",
    "report": "bayesduel.reporting",
    "select_top": "bayesduel.simulation.top_k",
    "simulate": "bayesduel.simulation",
    "standard_models": "bayesduel.comparing",
    "success_difference": "bayesduel.successes",
    "success_rate": "bayesduel.successes",
    "top_sets": "bayesduel.winning.top_sets",
    "winners": "bayesduel.winning",
}
_MODULES = (
    "beliefs",
    "datasets",
    "models",
    "plots",
    "policies",
    "preference",
    "problems",
    "selection",
)

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"bayesduel.{name}")
    raise AttributeError(f"module 'bayesduel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
