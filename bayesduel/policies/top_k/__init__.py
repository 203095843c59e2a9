"""Top-k selection with score duels: which pair to duel next to find the k best arms.

The target is the k arms of largest score, the sum of an arm's mean margins over the others.
A policy is a frozen dataclass of hyperparameters with ``init(n_arms) -> Memory`` and two
compiled functions of the margins' sufficient statistics: ``select(margins, memory, t, rng)
-> (i, j)``, (-1, -1) once it is done, and ``scores(margins, memory)``, by which the k best
are chosen. `k` (and `budget`, where a policy has one) is filled in by an experiment. Two policies
of ``bayesduel.policies`` select the k best as well: ``Uniform`` and ``PBR(criterion="borda")``.

``margins`` holds the statistics, ``likelihood`` the fast maximum likelihood, ``promise`` the
chance of a right choice after one more duel.
"""

from bayesduel.beliefs.margin_mle import MarginFit, fit_margins
from bayesduel.beliefs.margin_moments import intransitivity
from bayesduel.beliefs.margins import Margins, no_margins, record_margin
from bayesduel.policies.top_k.active_ranking import ActiveRanking
from bayesduel.policies.top_k.laplace_allocation import LaplaceAllocation
from bayesduel.policies.top_k.pkg import PKG
from bayesduel.policies.top_k.pocbam import HybridPOCBAm, MLPOCBAm, POCBAm
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
    "SelectTop",
    "fit_margins",
    "intransitivity",
    "no_margins",
    "record_margin",
]
