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

_HOMES = {  # name -> module that defines it; the modules load when a name is first asked for
    name: f"bayesduel.{home}"
    for home, names in {
        "beliefs": "Followed Laplace MCMC",
        "criticism.audit": "audit",
        "criticism.calibrate": "calibrate",
        "criticism.check": "check",
        "criticism.compare": "compare_models Comparison default_models loo",
        "criticism.grouped_check": "check_groups",
        "criticism.posterior_predictive": "check_margins posterior_predictive",
        "criticism.prior_predictive": "prior_predictive",
        "criticism.sensitivity": "sensitivity",
        "posterior.estimand": "estimand",
        "posterior.fit_summary": "FitSummary summary",
        "data.duels": "Duels",
        "data.head_to_head": "head_to_head raw_winners",
        "data.health": "components Health health",
        "data.pulls": "Pulls",
        "data.rankings": "Rankings",
        "data.read.duels": "read_duels",
        "data.read.items": "read_items",
        "data.read.merge": "merge",
        "data.read.pulls": "read_pulls",
        "data.read.rankings": "read_rankings",
        "inference.default_model": "DefaultModel",
        "inference.earlier_scores": "earlier_scores",
        "inference.fit": "fit",
        "inference.from_pymc": "from_pymc",
        "inference.prior": "priors",
        "models": "BradleyTerry CumulativeLogit Davidson Thurstone ThurstoneScore",
        "models.prior": "Prior",
        "plots": """
            plot_calibration plot_categories plot_coefficients plot_comparison
            plot_cycles plot_cyclicity plot_judges plot_margins plot_pair_residuals
            plot_preference plot_prior_predictive plot_ranking plot_ranks plot_ratings
            plot_residuals plot_sources plot_winners
        """,
        "plots.policies": "plot_policies plot_profiles",
        "plots.regret": "plot_regret",
        "plots.success": "plot_success",
        "policies": """
            ActionElimination ANACONDA BeatTheMean BeatTheWinner BeatTheWinnerReset BETCGLM
            CCB CoLSTIM ConfirmedSupKLUCB ContrastAllocation CWRMED DETECT DEXP3 DKWT
            Doubler DTS DTSPlus ECWRMED ExpectedPCS ExploreThenVerify FGTSCDB GLMETC
            InformationGain InterleavedFilter KLUCB Knockout KnowledgeGradient
            LogisticDuelThompson LogisticThompson LogisticUCB MaxInP MDB MergeRUCB MultiSBM
            NTS PBR PCOMP PivotIndex POCOWISTA RankEl RCS RMED1 RMED2 RMED2FH RUCB SAVAGE
            SCB SEEBS SelfSparring SequentialElimination Sparring SupKLUCB ThompsonBeta
            TopTwoThompson TrackAndStop TwoPhase UCB1 Uniform VACDB VersatileDB WinnerStays
        """,
        "policies.top_k": """
            ActiveRanking HybridPOCBAm LaplaceAllocation MLPOCBAm PKG POCBAm QuickSelect
            SelectTop
        """,
        "posterior.category_ranks": "category_ranks",
        "posterior.coefficients": "coefficients predict_items",
        "posterior.draws": "preference_draws",
        "posterior.duels_to_decide": "duels_to_decide",
        "posterior.generalizability": "generalizability",
        "posterior.information_gain": "next_pairs",
        "posterior.judge_agreement": "judge_agreement",
        "posterior.load": "load",
        "posterior.predict": "predict",
        "posterior.scores": "scores",
        "posterior.sources": "sources",
        "posterior.top_k": "top_k",
        "posterior.update": "update",
        "posterior.winners": "winners",
        "reporting.export": "export",
        "reporting.report": "report",
        "reporting.site": "site",
        "simulation": "open_trace simulate",
        "simulation.policy_comparison": "compare_policies",
        "simulation.regret": "regret regret_difference",
        "simulation.regret_lower_bound": "least_duels least_slope",
        "simulation.success": "opportunity_cost success_difference success_rate",
        "study.asking": "Asking",
        "study.confirmed": "Confirmed",
        "study.desk": "NoQuestion",
        "study.goal": "FindBest FullRanking MinimizeRegret TopK",
        "study.judging": "Judging",
        "study.planning": "plan",
        "study.stopping": """
            AllOf AnyOf Budget ConfidenceSequences ExpectedLoss PosteriorThreshold
            WithinRope
        """,
        "study.store": "StudyError",
        "study.study": "studies Study StudyStopped",
    }.items()
    for name in names.split()
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

# Rooms that need an extra: found when asked for, not listed, so that * imports what is installed.
_EXTRAS = {"sklearn": "bayesduel.sklearn"}

__all__ = ["__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS or name in _EXTRAS:
        return import_module((_ROOMS | _EXTRAS)[name])
    # Names of classes: tools ask modules for others, such as hooks, and then nothing should load.
    public = list(_ROOMS) if name[0].isupper() else []
    homes = [room for room in public if name in getattr(import_module(_ROOMS[room]), "__all__", ())]
    where = f"; it is bayesduel.{homes[0]}.{name}" if homes else ""
    raise AttributeError(f"module 'bayesduel' has no attribute {name!r}{where}")


def __dir__() -> list[str]:
    return sorted(__all__)
