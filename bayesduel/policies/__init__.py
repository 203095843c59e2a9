"""Policies: which pair to duel next. One paper's algorithm a file.

A policy is a frozen dataclass of hyperparameters with ``init(n_arms) -> Memory`` and
``select``, the compiled rule ``select(belief, memory, t, rng) -> (i, j)``. The rule reads
the belief and may write its memory's arrays and nothing else; t counts the duel about to
be chosen, from 1. Each has `source` and `guarantee`, one line each.

To add one, read ``dts.py`` (the pattern), then:

- Helpers and rule are module-level functions under ``@compiled``, which call one another
  and the belief layer by name; no closures, no functions as arguments.
- Whole-array NumPy where the paper has sets and maxima; ties by ``pick(mask, rng)``.
- A policy that needs to know the horizon has ``horizon: int | None = None``, which a
  simulation fills in; one that identifies a winner has ``answer: Answer`` in its memory
  (``answers.py``) and duels that answer with itself; one that recommends something other
  than the arm with most wins above one half has ``recommend(belief, memory) -> int``.
- Where O(K^2) a step hurts and Hoeffding's bound is the default, ``beliefs/standings.py``
  keeps what is decided by crossing times (see ``rucb.py``), tested equal to the plain rule.
- A policy for items with attributes has `shows`, 1 or 2, how many it names; its belief is one of
  ``beliefs/logistic.py`` and its ``init`` takes the ``ItemSet`` of the items. With 1 the rule
  returns one index; on a sphere the index n stands for the vector in its memory's `aim`. One with
  a proved bound gives its growing part as ``bound(times, offer)``.
- Name it here in ``__all__`` and in ``bayesduel/__init__.py``; hand-worked rounds go to
  ``tests/policies/test_NAME.py``; ``tests/test_contracts.py`` finds it by itself, and
  ``python tests/reference/make_policy_traces.py`` stores its fixed-seed trace.
"""

from bayesduel.policies.action_elimination import ActionElimination
from bayesduel.policies.beat_the_mean import BeatTheMean
from bayesduel.policies.ccb import CCB
from bayesduel.policies.contextual.glm_etc import GLMETC
from bayesduel.policies.contextual.kl_ucb import KLUCB
from bayesduel.policies.contextual.logistic_duel_thompson import LogisticDuelThompson
from bayesduel.policies.contextual.logistic_thompson import LogisticThompson
from bayesduel.policies.contextual.logistic_ucb import LogisticUCB
from bayesduel.policies.contextual.thompson_beta import ThompsonBeta
from bayesduel.policies.contextual.two_phase import TwoPhase
from bayesduel.policies.cw_rmed import CWRMED, ECWRMED
from bayesduel.policies.dts import DTS, DTSPlus
from bayesduel.policies.interleaved_filter import InterleavedFilter
from bayesduel.policies.merge_rucb import MergeRUCB
from bayesduel.policies.pbr import PBR
from bayesduel.policies.rank_el import RankEl
from bayesduel.policies.rcs import RCS
from bayesduel.policies.rmed import RMED1, RMED2
from bayesduel.policies.rucb import RUCB
from bayesduel.policies.savage import SAVAGE
from bayesduel.policies.scb import SCB
from bayesduel.policies.self_sparring import SelfSparring
from bayesduel.policies.sup_klucb import SupKLUCB
from bayesduel.policies.ucb1 import UCB1
from bayesduel.policies.uniform import Uniform

__all__ = [
    "CCB",
    "CWRMED",
    "DTS",
    "ECWRMED",
    "GLMETC",
    "KLUCB",
    "PBR",
    "RCS",
    "RMED1",
    "RMED2",
    "RUCB",
    "SAVAGE",
    "SCB",
    "UCB1",
    "ActionElimination",
    "BeatTheMean",
    "DTSPlus",
    "InterleavedFilter",
    "LogisticDuelThompson",
    "LogisticThompson",
    "LogisticUCB",
    "MergeRUCB",
    "RankEl",
    "SelfSparring",
    "SupKLUCB",
    "ThompsonBeta",
    "TwoPhase",
    "Uniform",
]
