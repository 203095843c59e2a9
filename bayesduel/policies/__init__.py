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

To add a policy, see ``CONTRIBUTING.md`` and ``dts.py``, the pattern. A policy of your own inherits
from ``PairPolicy``. Further rules:

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

from bayesduel.system.names import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "action_elimination": "ActionElimination",
        "anaconda": "ANACONDA",
        "beat_the_mean": "BeatTheMean",
        "beat_the_winner": "BeatTheWinner BeatTheWinnerReset",
        "cardinal_reductions": "Doubler MultiSBM Sparring",
        "ccb": "CCB",
        "contextual.betc_glm": "BETCGLM",
        "contextual.colstim": "CoLSTIM",
        "contextual.fgts_cdb": "FGTSCDB",
        "contextual.glm_etc": "GLMETC",
        "contextual.kl_ucb": "KLUCB",
        "contextual.logistic_duel_thompson": "LogisticDuelThompson",
        "contextual.logistic_thompson": "LogisticThompson",
        "contextual.logistic_ucb": "LogisticUCB",
        "contextual.max_inp": "MaxInP",
        "contextual.thompson_beta": "ThompsonBeta",
        "contextual.two_phase": "TwoPhase",
        "contextual.vacdb": "VACDB",
        "contrast_allocation": "ContrastAllocation",
        "cw_rmed": "CWRMED ECWRMED",
        "detect": "DETECT",
        "dexp3": "DEXP3",
        "dkwt": "DKWT",
        "dts": "DTS DTSPlus",
        "expected_improvement": "ExpectedPCS KnowledgeGradient",
        "explore_then_verify": "ExploreThenVerify",
        "information_gain": "InformationGain",
        "interleaved_filter": "InterleavedFilter",
        "knockout": "Knockout",
        "mdb": "MDB",
        "merge_rucb": "MergeRUCB",
        "nts": "NTS",
        "pbr": "PBR",
        "pcomp": "PCOMP",
        "pivot_index": "PivotIndex",
        "pocowista": "POCOWISTA",
        "rank_el": "RankEl",
        "rcs": "RCS",
        "rmed": "RMED1 RMED2 RMED2FH",
        "rucb": "RUCB",
        "savage": "SAVAGE",
        "scb": "SCB",
        "seebs": "SEEBS",
        "self_sparring": "SelfSparring",
        "sequential_elimination": "SequentialElimination",
        "sup_klucb": "ConfirmedSupKLUCB SupKLUCB",
        "top_two_thompson": "TopTwoThompson",
        "track_and_stop": "TrackAndStop",
        "ucb1": "UCB1",
        "uniform": "Uniform",
        "versatile_db": "VersatileDB",
        "winner_stays": "WinnerStays",
        "top_k.active_ranking": "ActiveRanking",
        "top_k.laplace_allocation": "LaplaceAllocation",
        "top_k.pkg": "PKG",
        "top_k.pocbam": "HybridPOCBAm MLPOCBAm POCBAm",
        "top_k.quick_select": "QuickSelect",
        "top_k.select_top": "SelectTop",
    },
    {"top_k": "bayesduel.policies.top_k"},
    bases={
        "policy": "HorizonPolicy IdentificationPolicy ItemPolicy PairPolicy",
        "registry": "named",
    },
)
