"""Sequential sign tests of whether a win probability is above or below one half.

*Mixture.* If p <= 1/2, the wealth ``integral over theta in [1/2, 1] of 2 (2 theta)^w
(2 - 2 theta)^l`` is a supermartingale that starts at 1, so it ever reaches exp(budget) with
probability at most exp(-budget); the mirror image for p >= 1/2.

*Union.* Chernoff's bound at every n, with chances ``6 / (pi n)^2`` that sum to one.

*Epochs.* The same with one chance ``6 / (pi k)^2`` for all n from 2^(k-1) on, k = 1 + log2 n.
Chernoff's bound holds at one n only, so nothing proves this; the exact law of wrong answers
within 8,000 duels of a fair coin is at most a twelfth of the nominal probability.

References
----------
Ville, "Étude critique de la notion de collectif", 1939; Robbins, Ann. Math. Stat. 1970.
The union bound is textbook; both are ours in this form.
"""

from math import lgamma, log, log2, pi

from bayesduel.beliefs.beta import log_above
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled

__all__ = ["sign_by_epochs", "sign_by_mixture", "sign_by_union"]


@compiled
def sign_by_mixture(wins, losses, budget):
    """Return 1 or -1 once the test decides that p is above or below 1/2, else 0.

    Each wrong answer is ever given with probability at most exp(-budget).
    """
    if wins < losses:
        return -sign_by_mixture_above(losses, wins, budget)
    return sign_by_mixture_above(wins, losses, budget)


@compiled
def sign_by_mixture_above(wins, losses, budget):
    """Return 1 once the test decides that p is above 1/2, else 0."""
    n = wins + losses
    # The wealth is at most 2 exp(n d(share)): most looks end here.
    if n == 0:
        return 0
    most = log(2.0) + n * divergence_from_half(wins / n)
    if most < budget:
        return 0
    beta = lgamma(wins + 1) + lgamma(losses + 1) - lgamma(n + 2)
    tail = log_above(wins + 1.0, losses + 1.0, 0.5)
    wealth = (n + 1) * log(2.0) + beta + tail
    return 1 if wealth >= budget else 0


@compiled
def sign_by_union(wins, losses, budget):
    """Return 1 or -1 once the test decides that p is above or below 1/2, else 0.

    Any wrong answer is ever given with probability at most exp(-budget).
    """
    return sign_at_look(wins, losses, wins + losses, budget)


@compiled
def sign_by_epochs(wins, losses, budget):
    """Return 1 or -1 once p is very likely above or below 1/2, else 0.

    A wrong answer is given with probability below exp(-budget) by exact laws, not by proof.
    """
    n = max(wins + losses, 1)
    look = 1 + log2(n)
    return sign_at_look(wins, losses, look, budget)


@compiled
def sign_at_look(wins, losses, look, budget):
    """Return 1 or -1 if Chernoff's bound decides at the chance of this look, else 0."""
    if wins == losses:
        return 0
    n = wins + losses
    evidence = n * divergence_from_half(wins / n)
    inverse_share = pi * pi * look * look / 6
    price_of_looks = log(inverse_share)
    if evidence > price_of_looks + budget:
        return 1 if wins > losses else -1
    return 0
