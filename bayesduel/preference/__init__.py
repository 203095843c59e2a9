"""Functions of the preference matrix P: winners, scores, rankings and cycles.

``P[i, j]`` is the probability that i beats j; ``P[j, i] = 1 - P[i, j]`` and the diagonal is
1/2. Every function takes shape (..., K, K) and keeps the leading axes (draws, chains). i
*beats* j when ``P[i, j] > 1/2``; at exactly 1/2 they tie, and by default a tie counts for
neither. The room is called with a fit, too: ``bd.preference(fit)`` is
:func:`bayesduel.preference_matrix`. Nothing depends on how the arms are numbered, except that
`kemeny`, `slater` and `rank_order` must put equal arms in some order.

Examples
--------
>>> P = bd.preference(bd.fit(bd.datasets.load("tennis1990")))
>>> P.index[bd.preference.condorcet_winner(P)]
'Graf'
"""

import sys
from types import ModuleType
from typing import Any

from bayesduel.preference.copeland import (
    beats,
    check_preference,
    condorcet_winner,
    consistence,
    copeland_scores,
    cyclic_triads,
    decided_triads,
    smith_set,
)
from bayesduel.preference.kemeny import kemeny, slater
from bayesduel.preference.scores import (
    CRITERIA,
    Criterion,
    borda_scores,
    random_walk_scores,
    rank_order,
    ranks,
    top_k,
    winner_mask,
)
from bayesduel.preference.von_neumann import von_neumann

__all__ = [
    "CRITERIA",
    "Criterion",
    "beats",
    "borda_scores",
    "check_preference",
    "condorcet_winner",
    "consistence",
    "copeland_scores",
    "cyclic_triads",
    "decided_triads",
    "kemeny",
    "random_walk_scores",
    "rank_order",
    "ranks",
    "slater",
    "smith_set",
    "top_k",
    "von_neumann",
    "winner_mask",
]


class _Room(ModuleType):
    """The room, which is called with a fit for its matrix."""

    def __call__(self, fit: Any, *args: Any, **options: Any) -> Any:
        """Return the preference matrix of a fit: :func:`bayesduel.preference_matrix`."""
        import bayesduel

        return bayesduel.preference_matrix(fit, *args, **options)


sys.modules[__name__].__class__ = _Room
