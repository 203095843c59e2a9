"""Beliefs of policies: about P, about items with attributes, about margins.

``bounds(belief, budget)`` gives a lower and an upper bound on every entry of P, each failing
with probability at most ``exp(-budget)``; ``sample(belief, rng)`` gives one draw of P. Schedules
(``budget = 2 alpha ln t``) and union bounds belong to the policy. An outcome enters only through
``record``. A belief is made by its specification, a frozen dataclass (``BeliefSpec``):

=========================  =================================  ===========================
specification              bounds                             sample
=========================  =================================  ===========================
``Hoeffding``, ``KL``,     an inverted inequality, valid at   refused
``Bernstein``              a fixed number of duels
``ConfidenceSequence``     valid at all times simultaneously  refused
``Beta``                   quantiles, or one of the above     independent Beta posteriors
``Laplace(model)``,        normal or draws' quantiles, or     a posterior draw of the
``MCMC(model)``            one of the above                   model, as of the last fit
``Followed(link)``         Hoeffding's                        refused; scores instead, see
                                                              ``score_posterior``
=========================  =================================  ===========================

Laws, checked by tests: ``upper = 1 - lower.T``; the diagonal is one half; bounds widen with the
budget; relabelling arms commutes with everything; the coverage is the nominal one.

Items with attributes have beliefs of their own, ``Counts`` and ``Logistic`` (``item_belief``),
and score duels have sufficient statistics, ``Margins`` (``margins``).
"""

from bayesduel.beliefs.belief import Belief, BeliefSpec, require_sampling, require_scores
from bayesduel.beliefs.bernstein import Bernstein
from bayesduel.beliefs.beta import Beta
from bayesduel.beliefs.confidence_sequence import ConfidenceSequence
from bayesduel.beliefs.followed import Followed
from bayesduel.beliefs.hoeffding import Hoeffding
from bayesduel.beliefs.item_belief import Counts, Logistic
from bayesduel.beliefs.kl import KL
from bayesduel.beliefs.model_posterior import MCMC, Laplace
from bayesduel.beliefs.query import (
    bounds,
    pick,
    record,
    sample,
    sample_against,
    share,
    shares,
    upper_against,
    upper_bound,
    upper_bounds,
    upper_from_counts,
)

__all__ = [
    "KL",
    "MCMC",
    "Belief",
    "BeliefSpec",
    "Bernstein",
    "Beta",
    "ConfidenceSequence",
    "Counts",
    "Followed",
    "Hoeffding",
    "Laplace",
    "Logistic",
    "bounds",
    "pick",
    "record",
    "require_sampling",
    "require_scores",
    "sample",
    "sample_against",
    "share",
    "shares",
    "upper_against",
    "upper_bound",
    "upper_bounds",
    "upper_from_counts",
]
