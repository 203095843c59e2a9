"""Policies: which pair to duel next. One paper per file.

A policy is a frozen dataclass of hyperparameters with ``init(n_arms) -> Memory`` and the compiled
rule ``select(belief, memory, t, rng) -> (i, j)``. The rule reads the belief and may write the
arrays of its memory and nothing else; t is the number of the duel about to be chosen, from 1.
Every policy has `reference`, `guarantee` and `setting`, and inherits the other defaults of its
setting from ``policy.py``.

=====================  ==========================================================================
Copeland regret        ``CCB``, ``ConfirmedSupKLUCB``, ``CWRMED``, ``DTS``, ``DTSPlus``,
                       ``ECWRMED``, ``PivotIndex``, ``SCB``, ``SupKLUCB``
Condorcet regret       ``BeatTheMean``, ``InterleavedFilter``, ``MergeRUCB``, ``PCOMP`` (batches),
                       ``RCS``, ``RMED1``, ``RMED2``, ``RMED2FH``, ``RUCB``, ``SelfSparring``
weak regret            ``BeatTheWinner``, ``WinnerStays``
identify a winner      ``ActionElimination``, ``DKWT``, ``ExploreThenVerify``, ``Knockout``,
                       ``NTS``, ``PBR``, ``POCOWISTA`` (ties), ``RankEl``, ``SAVAGE``, ``SEEBS``,
                       ``SequentialElimination``, ``TrackAndStop``
posterior-driven       ``ContrastAllocation``, ``ExpectedPCS``, ``InformationGain``,
                       ``KnowledgeGradient``, ``TopTwoThompson`` (``score_rules.py``)
changing preferences   ``ANACONDA``, ``BeatTheWinnerReset``, ``DETECT``, ``DEXP3``, ``MDB``,
                       ``VersatileDB``
reductions to bandits  ``Doubler``, ``MultiSBM``, ``Sparring``
baselines              ``UCB1``, ``Uniform``
items with attributes  ``BETCGLM``, ``GLMETC``, ``KLUCB``, ``LogisticDuelThompson``,
                       ``LogisticThompson``, ``LogisticUCB``, ``ThompsonBeta``, ``TwoPhase``
                       (``contextual``)
contexts, anew in      ``CoLSTIM``, ``FGTSCDB``, ``MaxInP``, ``VACDB``, and
every round            ``LogisticDuelThompson``
the k best arms        see ``top_k``
=====================  ==========================================================================

To add a policy, see ``CONTRIBUTING.md`` and ``dts.py``, the pattern. Beside what is said there:

- The rule and its helpers are module-level functions under ``@compiled`` that call one another and
  the belief layer by name; no closures, no functions as arguments.
- A policy that identifies a winner has ``answer: Answer`` in its memory, and duels the answer with
  itself. One that needs the horizon inherits from ``HorizonPolicy``, or ``IdentificationPolicy``;
  of items from ``HorizonRule``, too.
- Where O(K^2) a step is too slow and Hoeffding's bound is the default, use
  ``beliefs/decided_pairs.py`` (see ``rucb.py``).
- A rule that can say for how many duels it will name the same pair says so by `repeats`, and a
  simulation plays them without asking it (see ``pivot_index.py``).
- A policy that plays another one and begins it anew has it as a setting (see
  ``change_detection.py``).
- A policy for items with attributes inherits from ``ItemPolicy``. With `shows` = 1 its rule returns
  one index; on a sphere the index n stands for the vector `aim` of its memory. With 2 the items
  it sees may be new in every round, so that it should keep nothing by their index, or refuse such
  problems (see ``contextual/betc_glm.py``).
"""

from bayesduel.policies.action_elimination import ActionElimination
from bayesduel.policies.anaconda import ANACONDA
from bayesduel.policies.beat_the_mean import BeatTheMean
from bayesduel.policies.beat_the_winner import BeatTheWinner, BeatTheWinnerReset
from bayesduel.policies.cardinal_reductions import Doubler, MultiSBM, Sparring
from bayesduel.policies.ccb import CCB
from bayesduel.policies.contextual.betc_glm import BETCGLM
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
from bayesduel.policies.contrast_allocation import ContrastAllocation
from bayesduel.policies.cw_rmed import CWRMED, ECWRMED
from bayesduel.policies.detect import DETECT
from bayesduel.policies.dexp3 import DEXP3
from bayesduel.policies.dkwt import DKWT
from bayesduel.policies.dts import DTS, DTSPlus
from bayesduel.policies.expected_improvement import ExpectedPCS, KnowledgeGradient
from bayesduel.policies.explore_then_verify import ExploreThenVerify
from bayesduel.policies.information_gain import InformationGain
from bayesduel.policies.interleaved_filter import InterleavedFilter
from bayesduel.policies.knockout import Knockout
from bayesduel.policies.mdb import MDB
from bayesduel.policies.merge_rucb import MergeRUCB
from bayesduel.policies.nts import NTS
from bayesduel.policies.pbr import PBR
from bayesduel.policies.pcomp import PCOMP
from bayesduel.policies.pivot_index import PivotIndex
from bayesduel.policies.pocowista import POCOWISTA
from bayesduel.policies.rank_el import RankEl
from bayesduel.policies.rcs import RCS
from bayesduel.policies.rmed import RMED1, RMED2, RMED2FH
from bayesduel.policies.rucb import RUCB
from bayesduel.policies.savage import SAVAGE
from bayesduel.policies.scb import SCB
from bayesduel.policies.seebs import SEEBS
from bayesduel.policies.self_sparring import SelfSparring
from bayesduel.policies.sequential_elimination import SequentialElimination
from bayesduel.policies.sup_klucb import ConfirmedSupKLUCB, SupKLUCB
from bayesduel.policies.top_two_thompson import TopTwoThompson
from bayesduel.policies.track_and_stop import TrackAndStop
from bayesduel.policies.ucb1 import UCB1
from bayesduel.policies.uniform import Uniform
from bayesduel.policies.versatile_db import VersatileDB
from bayesduel.policies.winner_stays import WinnerStays

__all__ = [
    "ANACONDA",
    "BETCGLM",
    "CCB",
    "CWRMED",
    "DETECT",
    "DEXP3",
    "DKWT",
    "DTS",
    "ECWRMED",
    "FGTSCDB",
    "GLMETC",
    "KLUCB",
    "MDB",
    "NTS",
    "PBR",
    "PCOMP",
    "POCOWISTA",
    "RCS",
    "RMED1",
    "RMED2",
    "RMED2FH",
    "RUCB",
    "SAVAGE",
    "SCB",
    "SEEBS",
    "UCB1",
    "VACDB",
    "ActionElimination",
    "BeatTheMean",
    "BeatTheWinner",
    "BeatTheWinnerReset",
    "CoLSTIM",
    "ConfirmedSupKLUCB",
    "ContrastAllocation",
    "DTSPlus",
    "Doubler",
    "ExpectedPCS",
    "ExploreThenVerify",
    "InformationGain",
    "InterleavedFilter",
    "Knockout",
    "KnowledgeGradient",
    "LogisticDuelThompson",
    "LogisticThompson",
    "LogisticUCB",
    "MaxInP",
    "MergeRUCB",
    "MultiSBM",
    "PivotIndex",
    "RankEl",
    "SelfSparring",
    "SequentialElimination",
    "Sparring",
    "SupKLUCB",
    "ThompsonBeta",
    "TopTwoThompson",
    "TrackAndStop",
    "TwoPhase",
    "Uniform",
    "VersatileDB",
    "WinnerStays",
]
