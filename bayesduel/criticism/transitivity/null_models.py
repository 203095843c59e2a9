"""Transitive worlds that could have made a log, and logs drawn from them on its design.

Three are strongly transitive: the two ladders (logistic and normal, both with lapses), and
`monotone`, which knows no link: P is smoothed along orders drawn from the likelier ladder so
that a better placed arm does at least as well against everybody. `irregular` is weakly
transitive only: every pair has a chance of its own, as far from the ladder as the log's pairs
are, held to the side of 1/2 on which the order puts it. So it is in `reordered`, whose order
is not that of the ladder but one that the log's majorities contradict least.
"""

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from bayesduel.criticism.transitivity.design import Meetings
from bayesduel.criticism.transitivity.isotonic import monotone
from bayesduel.criticism.transitivity.lapse_model import LOGISTIC, NORMAL, Ladder, climb
from bayesduel.criticism.transitivity.triads import sureties
from bayesduel.preference.kemeny import reordered

__all__ = ["STRONG_WORLDS", "WORLDS", "World", "Worlds"]

World = Literal["logistic ladder", "normal ladder", "monotone", "irregular", "reordered"]
WORLDS: tuple[World, ...] = get_args(World)
STRONG_WORLDS: tuple[World, ...] = WORLDS[:3]

CHUNK = 2_000_000  # entries drawn at once
ORDERS = 20  # orders along which the monotone world is smoothed; fewer for many arms
ORDERS_SIZE = 4_000_000  # entries of P smoothed in all
LEANING = 1.0  # duels' worth of ladder in each pair of the monotone world
HELD = np.array([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096])  # irregular: grid
TRIES = 6
TINY = 1e-9


class Worlds:
    """The transitive worlds fitted to one log.

    Parameters
    ----------
    met
        Its decided duels.
    """

    def __init__(self, met: Meetings) -> None:
        self.met = met
        self.ladders: dict[World, Ladder] = {
            "logistic ladder": climb(met, LOGISTIC),
            "normal ladder": climb(met, NORMAL),
        }
        self.likelier: World = max(self.ladders, key=lambda name: self.ladders[name].evidence)
        self.best = self.ladders[self.likelier]

    @property
    def first_wins(self) -> float:
        """Probability that the side listed first wins between level arms."""
        top = self.best.rungs[0]
        return float(self.best.chance(top.mode[-1:], top.lapse)[0]) if self.met.has_order else 0.5

    def expected(self) -> np.ndarray:
        """Return the win probability of each cell's first arm at the best ladder's mode."""
        top = self.best.rungs[0]
        return self.chances(self.best, top.mode[None], np.array([top.lapse]))[0]

    def replicate(self, world: World, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield `n` replicated logs in parts: duels won by cell, float, shape (part, n_cells)."""
        left = n
        for chances, copies in self._draws(world, n, rng):
            copies = min(copies, left)
            left -= copies * len(chances)
            size = (copies, *chances.shape) if copies > 1 else chances.shape
            won = rng.binomial(self.met.n.astype(np.int64), np.broadcast_to(chances, size))
            yield won.reshape(-1, chances.shape[-1]).astype(float)

    def chances(self, ladder: Ladder, drawn: np.ndarray, lapse: np.ndarray) -> np.ndarray:
        """Return each cell's chances under draws of a ladder, shape (draws, n_cells)."""
        met = self.met
        distance = drawn[:, met.first[met.pair]] - drawn[:, met.second[met.pair]]
        return _inside(ladder.chance(distance + met.side * drawn[:, -1:], lapse[:, None]))

    # -- in calling order ------------------------------------------------------------------

    def _draws(
        self, world: World, n: int, rng: np.random.Generator
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Yield chances by cell, (draws, n_cells), and how many logs to draw from each."""
        if world == "monotone":
            orders = min(ORDERS, n, max(1, ORDERS_SIZE // self.met.n_arms**2))
            drawn, lapses = self.best.draw(orders, rng)
            for scores, lapse in zip(drawn, lapses, strict=True):
                yield self._monotone(scores, float(lapse))[None], -(-n // orders)
            return
        ladder = self.ladders.get(world, self.best)
        met = self.met
        part = max(1, CHUNK // len(met.n))
        for start in range(0, n, part):
            drawn, lapse = ladder.draw(min(part, n - start), rng)
            if world in ("irregular", "reordered"):
                better = drawn[:, met.first] > drawn[:, met.second]
                if world == "reordered":
                    better = self._reordered(drawn)
                yield self._irregular(drawn, lapse, better, rng), 1
            else:
                yield self.chances(ladder, drawn, lapse), 1

    def _monotone(self, scores: np.ndarray, lapse: float) -> np.ndarray:
        """Return chances by cell, P being smoothed along the order of drawn scores."""
        met = self.met
        n_arms = met.n_arms
        given = self.chances(self.best, scores[None], np.array([lapse]))[0]
        surplus = met.by_pair(met.won - met.n * given)
        number = met.by_pair(met.n)
        P = self.best.chance(scores[:n_arms, None] - scores[None, :n_arms], lapse)
        weight = np.full((n_arms, n_arms), LEANING)
        for i, j, sign in ((met.first, met.second, 1), (met.second, met.first, -1)):
            weight[i, j] += number
            P[i, j] += sign * surplus / (number + LEANING)
        order = np.argsort(-scores[:n_arms], kind="stable")
        smooth = np.empty_like(P)
        grid = np.ix_(order, order)
        smooth[grid] = monotone(np.clip(P, 0, 1)[grid], weight[grid])
        return self._shifted(smooth[met.first, met.second][None], scores[None, -1])[0]

    def _reordered(self, drawn: np.ndarray) -> np.ndarray:
        """Return by draw which pairs put `first` above, once orders have been improved.

        Starting orders are those of the draws, at most `ORDERS` different ones.
        """
        met = self.met
        z = sureties(met, met.won, self.first_wins)
        gain = np.zeros((met.n_arms, met.n_arms))
        gain[met.first, met.second] = np.sign(z) * z**2
        gain -= gain.T
        found = np.empty((len(drawn), len(met.first)), dtype=bool)
        for rows in np.array_split(np.arange(len(drawn)), min(ORDERS, len(drawn))):
            order = reordered(np.argsort(-drawn[rows[0], : met.n_arms], kind="stable"), gain)
            place = np.argsort(order)
            found[rows] = place[met.first] < place[met.second]
        return found

    def _irregular(
        self,
        drawn: np.ndarray,
        lapse: np.ndarray,
        better: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return chances by cell: a beta posterior for each pair, cut at 1/2."""
        from scipy.special import betainc, betaincinv

        met = self.met
        number, won, held, weight = self._pairs()
        distance = drawn[:, met.first] - drawn[:, met.second]
        prior = _inside(self.best.chance(distance, lapse[:, None]), 1e-4)
        concentration = rng.choice(held, len(drawn), p=weight)[:, None]
        a, b = won + concentration * prior, number - won + concentration * (1 - prior)
        a, b = np.where(better, a, b), np.where(better, b, a)
        high = rng.beta(a, b)
        for _ in range(TRIES):  # cut by rejection; what is left, by inversion
            low = high < 0.5
            high[low] = rng.beta(a[low], b[low])
        low = high < 0.5
        below = betainc(a[low], b[low], 0.5)
        level = np.minimum(below + (1 - below) * rng.random(len(below)), 1.0)
        found = np.where(below > 1 - TINY, 0.5, betaincinv(a[low], b[low], level))
        high[low] = np.clip(np.nan_to_num(found, nan=0.5), 0.5, 1)
        return self._shifted(np.where(better, high, 1 - high), drawn[:, -1])

    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return by pair the duels and wins, and how strongly pairs are held to the ladder.

        Wins are freed of the order effect; the latter is concentrations and their weights.
        """
        from scipy.special import betaln

        met, top = self.met, self.best.rungs[0]
        number = met.by_pair(met.n)
        surplus = met.by_pair(met.won - met.n * self.expected())
        distance = top.mode[met.first] - top.mode[met.second]
        prior = _inside(self.best.chance(distance, top.lapse), 1e-4)
        won = met.by_pair(met.won)
        if met.has_order:
            won = np.clip(number * prior + surplus, 0, number)
        a, b = HELD[:, None] * prior, HELD[:, None] * (1 - prior)
        evidence = (betaln(won + a, number - won + b) - betaln(a, b)).sum(1)
        weight = np.exp(evidence - evidence.max())
        return number, won, HELD, weight / weight.sum()

    def _shifted(self, chances: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return chances by cell from chances by pair, an order effect added on logits."""
        from scipy.special import expit, logit

        met = self.met
        by_cell = _inside(chances[..., met.pair])
        if not met.has_order:
            return by_cell
        if self.best.link == NORMAL:
            from scipy.special import ndtr, ndtri

            return _inside(ndtr(ndtri(by_cell) + met.side * order[..., None]))
        return _inside(expit(logit(by_cell) + met.side * order[..., None]))


def _inside(chances: np.ndarray, margin: float = TINY) -> np.ndarray:
    return np.clip(chances, margin, 1 - margin)
