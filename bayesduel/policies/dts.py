"""Double Thompson Sampling (D-TS).

Sample the preference matrix twice: the first draw elects a champion among the
arms that may still be Copeland winners; the second picks the challenger most
likely to beat it, among the duels not yet decided.

References
----------
Wu & Liu, "Double Thompson Sampling for Dueling Bandits", NeurIPS 2016, Alg. 1.
Deviations: none.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Beta, Recipe, bounds, pick, require_sampling, sample, sample_against
from bayesduel.jit import compiled

__all__ = ["DTS"]


class Memory(NamedTuple):
    """All that D-TS keeps between duels; the belief says the rest."""

    alpha: float


@dataclass(frozen=True, kw_only=True)
class DTS:
    """Double Thompson Sampling, for Copeland regret.

    Parameters
    ----------
    belief
        What it samples from. Default: the paper's independent Beta(1, 1),
        bounded by Hoeffding's inequality.
    alpha
        Exploration constant; the regret bound needs alpha > 0.5.

    Raises
    ------
    ValueError
        If ``alpha <= 0.5``, or if `belief` cannot be sampled.
    """

    belief: Recipe = Beta(bounds="hoeffding")
    alpha: float = 0.51
    source: ClassVar[str] = "Wu & Liu, NeurIPS 2016, Algorithm 1"
    guarantee: ClassVar[str] = "Copeland regret O(K^2 log T); O(K log T + K^2 log log T) Condorcet"

    def __post_init__(self) -> None:
        if not self.alpha > 0.5:
            raise ValueError(f"alpha should be > 0.5, got {self.alpha}")
        require_sampling(self, self.belief)

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(float(self.alpha))

    @property
    def select(self):
        """The compiled rule."""
        return select


@compiled
def select(belief, memory, t, rng):
    """Name the next pair, (champion, challenger).

    They may coincide: dueling a sure winner with itself costs no regret.
    """
    lower, upper = bounds(belief, 2 * memory.alpha * log(t))

    # Champion: most sampled wins, among the arms with most possible wins.
    possible = (upper > 0.5).sum(axis=1)
    contenders = possible == possible.max()
    if contenders.sum() > 1:
        sampled = np.where(contenders, (sample(belief, rng) > 0.5).sum(axis=1), -1)
        contenders = sampled == sampled.max()
    champion = pick(contenders, rng)

    # Challenger: best sampled chance to beat it, among undecided duels.
    undecided = lower[:, champion] <= 0.5
    chance = np.where(undecided, sample_against(belief, champion, rng), -1.0)
    return champion, pick(chance == chance.max(), rng)
