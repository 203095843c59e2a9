"""Scores of a log and a side advantage, and the logs that they predict on its design.

Bradley-Terry with a learned scale, by :class:`bayesduel.criticism.ranking.evidence.PairModel`.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from bayesduel.criticism.ranking.evidence import PairModel, log_of
from bayesduel.criticism.ranking.pair_models import ONE_SCORE
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.intervals import CERTAIN, TAILS95
from bayesduel.posterior.draws import chunks

__all__ = ["ScoreModel"]


class ScoreModel:
    """The posterior of one score per arm and a side advantage.

    design: the decided duels of the log, one or more.
    """

    def __init__(self, design: DecidedDuels) -> None:
        self.design = design
        self._model = PairModel(log_of(design), ONE_SCORE)
        best = max(self._model.nodes, key=lambda node: node.log_weight)
        self.mode = best.mode  # scores and, last, the side advantage, shape (K + 1,)

    @property
    def first_wins(self) -> float:
        """Probability that the side listed first wins between level arms."""
        if not self.design.has_order:
            return 0.5
        return float(expit(self.mode[-1]))

    @property
    def first_wins_interval(self) -> tuple[float, float]:
        """The 95 % posterior interval of :attr:`first_wins`."""
        # 2,000 draws of a side advantage: the ends of its interval to 3 % of a standard deviation
        rng = np.random.default_rng(0)
        drawn = self._model.draw(2000, rng)
        side_advantage = drawn.coefficients[:, -1]
        low, high = expit(np.quantile(side_advantage, TAILS95))
        return float(low), float(high)

    def chances(self, left: np.ndarray, right: np.ndarray, side: np.ndarray | float) -> np.ndarray:
        """Return the probability that left beats right, at the mode.

        side: 1 where left is listed first, -1 where right is, 0 where neither.
        """
        order = self.mode[-1] * self.design.has_order
        lead = self.mode[left] - self.mode[right]
        chance = expit(lead + order * side)
        return np.clip(chance, CERTAIN, 1 - CERTAIN)

    def expected(self) -> np.ndarray:
        """Return the win probability of each cell's first arm at the mode, shape (n_cells,)."""
        first, second = self._arms_of_cells()
        return self.chances(first, second, self.design.side)

    def _arms_of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        design = self.design
        pair = design.pair
        return design.first[pair], design.second[pair]

    def replicate(self, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield `n` logs of posterior draws in parts: duels won by pair, (part, n_pairs)."""
        design = self.design
        drawn = self._model.draw(n, rng).coefficients
        number = design.n.astype(np.int64)
        first, second = self._arms_of_cells()
        # 2,000,000 logs times cells drawn at once: 16 megabytes
        for part in chunks(n, 2_000_000 // len(number)):
            scores = drawn[part]
            order = scores[:, -1:]
            of_first = scores.take(first, axis=1)
            of_second = scores.take(second, axis=1)
            odds = of_first - of_second
            odds += design.side * order
            won = rng.binomial(number, expit(odds))
            by_pair = np.add.reduceat(won, design.starts, axis=1)
            yield by_pair.astype(float)
