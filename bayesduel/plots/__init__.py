"""Figures, one function each: every one takes ``ax=None`` and returns the axes it drew on."""

from bayesduel.system.names import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "calibration": "plot_calibration",
        "categories": "plot_categories",
        "coefficients": "plot_coefficients",
        "comparison": "plot_comparison",
        "judges": "plot_judges",
        "panel": "plot_panel",
        "policies": "plot_policies plot_profiles",
        "posterior_predictive": "plot_margins plot_pair_residuals plot_prior_predictive",
        "preference": "plot_preference plot_winners",
        "ranking": "plot_ranking plot_ranks",
        "ratings": "plot_ratings",
        "sources": "plot_sources",
        "transitivity": "plot_cycles plot_cyclicity plot_residuals",
        "..simulation.plot_regret": "plot_regret",
        "..simulation.plot_success": "plot_success",
    },
    {},
)
