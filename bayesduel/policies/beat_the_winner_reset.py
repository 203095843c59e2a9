"""Beat the Winner Reset (BtWR): as Beat the Winner, but a new incumbent begins with short matches.

References
----------
Kolpaczki, Bengs & Hüllermeier, "Non-Stationary Dueling Bandits", arXiv 2202.00935 (BtWR); as
"Piecewise-Stationary Dueling Bandits", TMLR 2024. The rule is that of the authors' program, the
guarantee that of the abstract. Deviations: none known.
"""

from dataclasses import dataclass
from typing import ClassVar

from bayesduel.policies.beat_the_winner import BeatTheWinner

__all__ = ["BeatTheWinnerReset"]


@dataclass(frozen=True, kw_only=True)
class BeatTheWinnerReset(BeatTheWinner):
    """Beat the Winner Reset, for weak regret where preferences change; it has no settings."""

    resets: ClassVar[bool] = True
    reference: ClassVar[str] = "Kolpaczki, Bengs & Hüllermeier, arXiv 2202.00935, BtWR"
    guarantee: ClassVar[str] = (
        "weak regret bounded, whatever T, where a Condorcet winner exists; a bound if it changes, "
        "knowing neither T nor the number of segments"
    )
