"""Policies for items with attributes, shown one or two at a time."""

from bayesduel.policies.contextual.glm_etc import GLMETC
from bayesduel.policies.contextual.kl_ucb import KLUCB
from bayesduel.policies.contextual.logistic_duel_thompson import LogisticDuelThompson
from bayesduel.policies.contextual.logistic_thompson import LogisticThompson
from bayesduel.policies.contextual.logistic_ucb import LogisticUCB
from bayesduel.policies.contextual.thompson_beta import ThompsonBeta
from bayesduel.policies.contextual.two_phase import TwoPhase

__all__ = [
    "GLMETC",
    "KLUCB",
    "LogisticDuelThompson",
    "LogisticThompson",
    "LogisticUCB",
    "ThompsonBeta",
    "TwoPhase",
]
