"""Top-k selection with score duels: which pair to duel next to find the k best arms.

The target is the k arms with the largest score, the sum of an arm's mean margins over the others.
A policy is a frozen dataclass of hyperparameters with ``init(n_arms) -> Memory`` and two compiled
functions of the sufficient statistics of the margins: ``select(margins, memory, t, rng) ->
(i, j)``, (-1, -1) once it has finished, and ``scores(margins, memory)``, by which the k best are
selected. ``on_margins(k, budget)`` fills in the k (and the budget) of an experiment. Two policies
of ``bayesduel.policies`` select the k best as well: ``Uniform`` and ``PBR(criterion="borda")``.

The statistics are in ``bayesduel.margins.tallies``, the maximum likelihood fit in
``bayesduel.beliefs.margin_mle``.
"""

from bayesduel.beliefs.margin_mle import MarginFit, fit_margins
from bayesduel.margins.moments import intransitivity
from bayesduel.margins.tallies import Margins, no_margins, record_margin
from bayesduel.policies.top_k.active_ranking import ActiveRanking
from bayesduel.policies.top_k.laplace_allocation import LaplaceAllocation
from bayesduel.policies.top_k.pkg import PKG
from bayesduel.policies.top_k.pocbam import HybridPOCBAm, MLPOCBAm, POCBAm
from bayesduel.policies.top_k.quick_select import QuickSelect
from bayesduel.policies.top_k.select_top import SelectTop

__all__ = [
    "PKG",
    "ActiveRanking",
    "HybridPOCBAm",
    "LaplaceAllocation",
    "MLPOCBAm",
    "MarginFit",
    "Margins",
    "POCBAm",
    "QuickSelect",
    "SelectTop",
    "fit_margins",
    "intransitivity",
    "no_margins",
    "record_margin",
]
