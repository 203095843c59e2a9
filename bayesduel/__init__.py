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

from bayesduel.system.cache_folder import provide_cache_folder

provide_cache_folder()  # before Numba, PyTensor or Matplotlib is imported

__version__ = "0.2.0"

# name -> module that defines it; the modules load when a name is first asked for.
_HOMES = {
    "ActionElimination": "bayesduel.policies",
    "ActiveRanking": "bayesduel.policies.top_k",
    "Study": "bayesduel.study.study",
    "ContrastAllocation": "bayesduel.policies",
    "ExpectedPCS": "bayesduel.policies",
    "ExploreThenVerify": "bayesduel.policies",
    "InformationGain": "bayesduel.policies",
    "Knockout": "bayesduel.policies",
    "KnowledgeGradient": "bayesduel.policies",
    "TopTwoThompson": "bayesduel.policies",
    "TrackAndStop": "bayesduel.policies",
    "Followed": "bayesduel.beliefs",
    "FindBest": "bayesduel.study.goal",
    "FullRanking": "bayesduel.study.goal",
    "MinimizeRegret": "bayesduel.study.goal",
    "TopK": "bayesduel.study.goal",
    "AllOf": "bayesduel.study.stopping",
    "AnyOf": "bayesduel.study.stopping",
    "Budget": "bayesduel.study.stopping",
    "ConfidenceSequences": "bayesduel.study.stopping",
    "ExpectedLoss": "bayesduel.study.stopping",
    "PosteriorThreshold": "bayesduel.study.stopping",
    "WithinRope": "bayesduel.study.stopping",
    "Confirmed": "bayesduel.study.confirmed",
    "Judging": "bayesduel.study.judging",
    "NoQuestion": "bayesduel.study.desk",
    "studies": "bayesduel.study.study",
    "StudyError": "bayesduel.study.store",
    "StudyStopped": "bayesduel.study.study",
    "plan": "bayesduel.study.planning",
    "BeatTheMean": "bayesduel.policies",
    "BeatTheWinner": "bayesduel.policies",
    "BeatTheWinnerReset": "bayesduel.policies",
    "CCB": "bayesduel.policies",
    "CWRMED": "bayesduel.policies",
    "CoLSTIM": "bayesduel.policies",
    "ConfirmedSupKLUCB": "bayesduel.policies",
    "DETECT": "bayesduel.policies",
    "DEXP3": "bayesduel.policies",
    "DTS": "bayesduel.policies",
    "DTSPlus": "bayesduel.policies",
    "Doubler": "bayesduel.policies",
    "Comparison": "bayesduel.criticism.compare",
    "DefaultModel": "bayesduel.inference.default_model",
    "Duels": "bayesduel.data.duels",
    "ECWRMED": "bayesduel.policies",
    "FGTSCDB": "bayesduel.policies",
    "GLMETC": "bayesduel.policies",
    "Health": "bayesduel.data.health",
    "HybridPOCBAm": "bayesduel.policies.top_k",
    "InterleavedFilter": "bayesduel.policies",
    "KLUCB": "bayesduel.policies",
    "Laplace": "bayesduel.beliefs",
    "LaplaceAllocation": "bayesduel.policies.top_k",
    "LogisticDuelThompson": "bayesduel.policies",
    "LogisticThompson": "bayesduel.policies",
    "LogisticUCB": "bayesduel.policies",
    "MCMC": "bayesduel.beliefs",
    "MaxInP": "bayesduel.policies",
    "MLPOCBAm": "bayesduel.policies.top_k",
    "MergeRUCB": "bayesduel.policies",
    "MDB": "bayesduel.policies",
    "NTS": "bayesduel.policies",
    "PBR": "bayesduel.policies",
    "PCOMP": "bayesduel.policies",
    "POCOWISTA": "bayesduel.policies",
    "PKG": "bayesduel.policies.top_k",
    "POCBAm": "bayesduel.policies.top_k",
    "MultiSBM": "bayesduel.policies",
    "PivotIndex": "bayesduel.policies",
    "Pulls": "bayesduel.data.pulls",
    "QuickSelect": "bayesduel.policies.top_k",
    "Rankings": "bayesduel.data.rankings",
    "RCS": "bayesduel.policies",
    "RMED1": "bayesduel.policies",
    "RMED2": "bayesduel.policies",
    "RMED2FH": "bayesduel.policies",
    "RUCB": "bayesduel.policies",
    "RankEl": "bayesduel.policies",
    "SAVAGE": "bayesduel.policies",
    "SCB": "bayesduel.policies",
    "SelectTop": "bayesduel.policies.top_k",
    "SEEBS": "bayesduel.policies",
    "SelfSparring": "bayesduel.policies",
    "SequentialElimination": "bayesduel.policies",
    "Sparring": "bayesduel.policies",
    "SupKLUCB": "bayesduel.policies",
    "ThompsonBeta": "bayesduel.policies",
    "TwoPhase": "bayesduel.policies",
    "UCB1": "bayesduel.policies",
    "Uniform": "bayesduel.policies",
    "VACDB": "bayesduel.policies",
    "VersatileDB": "bayesduel.policies",
    "WinnerStays": "bayesduel.policies",
    "calibrate": "bayesduel.criticism.calibrate",
    "category_ranks": "bayesduel.posterior.category_ranks",
    "audit": "bayesduel.criticism.audit",
    "check": "bayesduel.criticism.check",
    "coefficients": "bayesduel.posterior.coefficients",
    "components": "bayesduel.data.health",
    "compare_models": "bayesduel.criticism.compare",
    "fit": "bayesduel.inference.fit",
    "health": "bayesduel.data.health",
    "check_groups": "bayesduel.criticism.grouped_check",
    "check_margins": "bayesduel.criticism.posterior_predictive",
    "load": "bayesduel.posterior.load",
    "merge": "bayesduel.data.read.merge",
    "next_pairs": "bayesduel.posterior.information_gain",
    "open_trace": "bayesduel.simulation",
    "opportunity_cost": "bayesduel.simulation.success",
    "plot_calibration": "bayesduel.plots",
    "plot_categories": "bayesduel.plots",
    "plot_sources": "bayesduel.plots",
    "plot_coefficients": "bayesduel.plots",
    "plot_comparison": "bayesduel.plots",
    "plot_cycles": "bayesduel.plots",
    "plot_cyclicity": "bayesduel.plots",
    "plot_judges": "bayesduel.plots",
    "plot_margins": "bayesduel.plots",
    "plot_pair_residuals": "bayesduel.plots",
    "plot_preference": "bayesduel.plots",
    "plot_prior_predictive": "bayesduel.plots",
    "plot_ranking": "bayesduel.plots",
    "plot_ranks": "bayesduel.plots",
    "plot_ratings": "bayesduel.plots",
    "plot_regret": "bayesduel.plots.regret",
    "plot_residuals": "bayesduel.plots",
    "plot_success": "bayesduel.plots.success",
    "plot_winners": "bayesduel.plots",
    "predict": "bayesduel.posterior.predict",
    "predict_items": "bayesduel.posterior.coefficients",
    "preference_draws": "bayesduel.posterior.draws",
    "read_duels": "bayesduel.data.read.duels",
    "read_items": "bayesduel.data.read.items",
    "read_pulls": "bayesduel.data.read.pulls",
    "read_rankings": "bayesduel.data.read.rankings",
    "least_duels": "bayesduel.simulation.regret_lower_bound",
    "least_slope": "bayesduel.simulation.regret_lower_bound",
    "regret": "bayesduel.simulation.regret",
    "regret_difference": "bayesduel.simulation.regret",
    "prior_predictive": "bayesduel.criticism.prior_predictive",
    "posterior_predictive": "bayesduel.criticism.posterior_predictive",
    "report": "bayesduel.reporting.report",
    "generalizability": "bayesduel.posterior.generalizability",
    "sources": "bayesduel.posterior.sources",
    "duels_to_decide": "bayesduel.posterior.duels_to_decide",
    "export": "bayesduel.reporting.export",
    "site": "bayesduel.reporting.site",
    "head_to_head": "bayesduel.data.head_to_head",
    "raw_winners": "bayesduel.data.head_to_head",
    "scores": "bayesduel.posterior.scores",
    "judge_agreement": "bayesduel.posterior.judge_agreement",
    "simulate": "bayesduel.simulation",
    "default_models": "bayesduel.criticism.compare",
    "sensitivity": "bayesduel.criticism.sensitivity",
    "success_difference": "bayesduel.simulation.success",
    "success_rate": "bayesduel.simulation.success",
    "top_k": "bayesduel.posterior.top_k",
    "update": "bayesduel.posterior.update",
    "winners": "bayesduel.posterior.winners",
}
_ROOMS = {
    "beliefs": "bayesduel.beliefs",
    "datasets": "bayesduel.data.datasets",
    "models": "bayesduel.models",
    "plots": "bayesduel.plots",
    "policies": "bayesduel.policies",
    "preference": "bayesduel.preference",
    "problems": "bayesduel.problems",
    "selection": "bayesduel.policies.top_k",
}

__all__ = ["__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'bayesduel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
