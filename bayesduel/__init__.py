"""Bayesian analysis of pairwise duels.

A log of duels in, a ranking with honest uncertainty out::

    import bayesduel as bd

    duels = bd.read_duels("votes.csv")
    fit = bd.fit(duels)
    print(bd.winners(fit))

Policies are in ``bd.policies``, models in ``bd.models`` (the usual five here as well), plots in
``bd.plots`` (the usual six here as well), rules and settings of studies in ``bd.study``. Every name
loads on first use.
"""

from bayesduel.system.cache_folder import provide_cache_folder
from bayesduel.system.names import names_on_demand

provide_cache_folder()  # before Numba, PyTensor or Matplotlib is imported

__version__ = "0.2.0"

_ROOMS = {
    "beliefs": "bayesduel.beliefs",
    "datasets": "bayesduel.data.datasets",
    "models": "bayesduel.models",
    "plots": "bayesduel.plots",
    "policies": "bayesduel.policies",
    "preference": "bayesduel.preference",
    "problems": "bayesduel.problems",
    "study": "bayesduel.study",
}
_PUBLIC, __getattr__, __dir__ = names_on_demand(
    __name__,
    {
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
        "data.health": "components health",
        "data.health_record": "Health",
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
        "plots.coefficients": "plot_coefficients",
        "plots.preference": "plot_preference plot_winners",
        "plots.ranking": "plot_ranking",
        "simulation.plot_regret": "plot_regret",
        "simulation.plot_success": "plot_success",
        "posterior.category_ranks": "category_ranks",
        "posterior.coefficients": "coefficients predict_items",
        "posterior.draws": "preference_draws",
        "posterior.duels_to_decide": "duels_to_decide",
        "posterior.generalizability": "generalizability",
        "posterior.information_gain": "next_pairs",
        "posterior.judge_agreement": "judge_agreement",
        "posterior.load": "load",
        "posterior.panel": "panel",
        "posterior.predict": "predict",
        "posterior.preference_matrix": "preference_matrix",
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
        "study.study": "studies Study",
    },
    _ROOMS,
    # needs an extra: found when asked for, not listed, so that * imports what is installed
    extras={"sklearn": "bayesduel.sklearn"},
    renamed={"OrderEffect": "models.SideAdvantage"},
)

__all__ = ["__version__", *_PUBLIC, *_ROOMS]
