"""Policies for items with attributes, shown one or two at a time."""

from bayesduel.policies.contextual.colstim import CoLSTIM
from bayesduel.policies.contextual.fgts_cdb import FGTSCDB
from bayesduel.policies.contextual.glm_etc import GLMETC
from bayesduel.policies.contextual.kl_ucb import KLUCB
from bayesduel.policies.contextual.logistic_duel_thompson import LogisticDuelThompson
from bayesduel.policies.contextual.logistic_thompson import LogisticThompson
from bayesduel.policies.contextual.logistic_ucb import LogisticUCB
from bayesduel.policies.contextual.max_inp import MaxInP
from bayesduel.policies.contextual.thompson_beta import ThompsonBeta
from bayesduel.policies.contextual.two_phase import TwoPhase
from bayesduel.policies.contextual.vacdb import VACDB

__all__ = [
    "FGTSCDB",
    "GLMETC",
    "KLUCB",
    "VACDB",
    "CoLSTIM",
    "LogisticDuelThompson",
    "LogisticThompson",
    "LogisticUCB",
    "MaxInP",
    "ThompsonBeta",
    "TwoPhase",
]
