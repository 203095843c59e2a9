"""Transitive null models of a log, and replicated logs of the same design.

Three are strongly transitive: the two lapse models ("logistic" and "normal"), and "isotonic",
which assumes no link: P is smoothed along orders drawn from the likelier lapse model so that an
arm of better rank does at least as well against every opponent. Three are weakly transitive only:
every pair has a probability of its own, restricted to the side of 1/2 that an order implies. In
"irregular" it is as far from the lapse model as the pairs of the log are; "reordered" is the same
with another order: not that of the lapse model, but one that contradicts the majorities of the
log least. In "mixture" probabilities have a distribution without a form, the same for every pair
and estimated by maximum likelihood
(:mod:`bayesduel.criticism.transitivity.mixing_distribution`), so that some pairs may be level and
others certain.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy.special import betainc, betaincinv, betaln, expit, logit, ndtr, ndtri

from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.criticism.transitivity.isotonic import isotonic_matrix
from bayesduel.criticism.transitivity.lapse_model import (
    LOGISTIC,
    NORMAL,
    LapseModel,
    fit_lapse_model,
)
from bayesduel.criticism.transitivity.mixing_distribution import mixing_weights
from bayesduel.criticism.transitivity.triads import majority_z
from bayesduel.jit import compiled, interpreted
from bayesduel.preference.kemeny import reordered

__all__ = ["FEW_ARMS", "NULL_MODELS", "STRONG_MODELS", "NullModel", "NullModels"]

NullModel = Literal["logistic", "normal", "isotonic", "irregular", "reordered", "mixture"]
NULL_MODELS: tuple[NullModel, ...] = get_args(NullModel)
STRONG_MODELS: tuple[NullModel, ...] = NULL_MODELS[:3]

CHUNK = 2_000_000  # entries drawn at once, at most
PART = 50  # logs drawn at once, at most
ORDERS = 20  # orders along which the isotonic model is smoothed; fewer for many arms
ORDERS_SIZE = 4_000_000  # entries of P smoothed in all
PRIOR_DUELS = 1.0  # weight of the lapse model in each pair of the isotonic one, in duels
CONCENTRATIONS = np.array([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096])  # irregular: grid
FEW_ARMS = 20  # up to here plain Python and NumPy are done sooner than Numba is imported
INVERTED = 200  # duels of a cell, from which NumPy's rejection takes no longer (measured)
TRIES = 6
MIXTURE_ORDERS = 40  # orders along which the mixture is fitted
CHANCES = np.linspace(0.5, 0.995, 34)  # mixture: of the better arm of a pair
TINY = 1e-9
QUANTILES = 400  # of each order effect's posterior, for an interval


class NullModels:
    """The transitive null models fitted to one log.

    design: its decided duels.
    """

    def __init__(self, design: DecidedDuels) -> None:
        self.design = design
        self.lapse_models: dict[NullModel, LapseModel] = {
            "logistic": fit_lapse_model(design, LOGISTIC),
            "normal": fit_lapse_model(design, NORMAL),
        }
        self.likelier: NullModel = max(
            self.lapse_models, key=lambda name: self.lapse_models[name].evidence
        )
        self.best = self.lapse_models[self.likelier]

    @property
    def first_wins(self) -> float:
        """Probability that the side listed first wins between level arms."""
        top = self.best.fits[0]
        return (
            float(self.best.chance(top.mode[-1:], top.lapse)[0]) if self.design.has_order else 0.5
        )

    @property
    def first_wins_interval(self) -> tuple[float, float]:
        """The 95 % posterior interval of :attr:`first_wins`, lapse rates averaged over."""
        fits = self.best.fits
        standard = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)
        last = np.zeros(len(fits[0].mode))
        last[-1] = 1.0
        drawn = []
        for fit in fits:
            sd = np.linalg.norm(np.linalg.solve(fit.root, last))
            drawn.append(self.best.chance(fit.mode[-1] + sd * standard, fit.lapse))
        values = np.concatenate(drawn)
        weight = np.repeat([np.exp(fit.evidence - self.best.evidence) for fit in fits], QUANTILES)
        order = np.argsort(values)
        share = np.cumsum(weight[order]) / weight.sum()
        low, high = values[order][np.searchsorted(share, [0.025, 0.975])]
        return float(low), float(high)

    def expected(self) -> np.ndarray:
        """Return the win probability of each cell's first arm by the best lapse model."""
        top = self.best.fits[0]
        return self.chances(self.best, top.mode[None], np.array([top.lapse]))[0]

    def replicate(self, model: NullModel, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield `n` replicated logs in parts: duels won by cell, float, shape (part, n_cells)."""
        left = n
        for chances, copies in self._draws(model, n, rng):
            chances = np.tile(chances, (min(copies, left), 1))
            left -= len(chances)
            yield self.drawn(chances, rng)
            if not left:
                return

    def drawn(self, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return duels won by cell, float, of logs with these chances, shape (logs, n_cells)."""
        number = self.design.n.astype(np.int64)
        if self.design.n_arms <= FEW_ARMS:
            return rng.binomial(number, chances).astype(float)
        return _binomials(number, chances, rng)

    def chances(self, lapse_model: LapseModel, drawn: np.ndarray, lapse: np.ndarray) -> np.ndarray:
        """Return the win probabilities of cells in draws of a lapse model, (draws, n_cells)."""
        design = self.design
        distance = drawn[:, design.first[design.pair]] - drawn[:, design.second[design.pair]]
        return _inside(lapse_model.chance(distance + design.side * drawn[:, -1:], lapse[:, None]))

    def _draws(
        self, model: NullModel, n: int, rng: np.random.Generator
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Yield chances by cell, (draws, n_cells), and how many logs to draw from each."""
        if model == "isotonic":
            orders = min(ORDERS, n, max(1, ORDERS_SIZE // self.design.n_arms**2))
            drawn, lapses = self.best.draw(orders, rng)
            for scores, lapse in zip(drawn, lapses, strict=True):
                yield self._isotonic(scores, float(lapse))[None], -(-n // orders)
            return
        lapse_model = self.lapse_models.get(model, self.best)
        design = self.design
        mixture = self._mixture(rng) if model == "mixture" else None
        part = min(PART, max(1, CHUNK // len(design.n)))
        for start in range(0, n, part):
            drawn, lapse = lapse_model.draw(min(part, n - start), rng)
            better = drawn[:, design.first] > drawn[:, design.second]
            if mixture is not None:
                yield self._mixed(drawn, better, mixture, rng), 1
            elif model in ("irregular", "reordered"):
                if model == "reordered":
                    better = self._reordered(drawn, max(1, ORDERS * len(drawn) // n))
                yield self._irregular(drawn, lapse, better, rng), 1
            else:
                yield self.chances(lapse_model, drawn, lapse), 1

    def _isotonic(self, scores: np.ndarray, lapse: float) -> np.ndarray:
        """Return chances by cell, P being smoothed along the order of drawn scores."""
        design = self.design
        n_arms = design.n_arms
        given = self.chances(self.best, scores[None], np.array([lapse]))[0]
        surplus = design.by_pair(design.won - design.n * given)
        number = design.by_pair(design.n)
        P = self.best.chance(scores[:n_arms, None] - scores[None, :n_arms], lapse)
        weight = np.full((n_arms, n_arms), PRIOR_DUELS)
        for i, j, sign in ((design.first, design.second, 1), (design.second, design.first, -1)):
            weight[i, j] += number
            P[i, j] += sign * surplus / (number + PRIOR_DUELS)
        order = np.argsort(-scores[:n_arms], kind="stable")
        smooth = np.empty_like(P)
        grid = np.ix_(order, order)
        with interpreted(n_arms <= FEW_ARMS):
            smooth[grid] = isotonic_matrix(np.clip(P, 0, 1)[grid], weight[grid])
        return self._shifted(smooth[design.first, design.second][None], scores[None, -1])[0]

    def _reordered(self, drawn: np.ndarray, n_orders: int) -> np.ndarray:
        """Return by draw which pairs put `first` above, once orders have been improved.

        Starting orders are those of `n_orders` of the draws, at most.
        """
        design = self.design
        z = majority_z(design, design.won, self.first_wins)
        gain = np.zeros((design.n_arms, design.n_arms))
        gain[design.first, design.second] = np.sign(z) * z**2
        gain -= gain.T
        found = np.empty((len(drawn), len(design.first)), dtype=bool)
        for rows in np.array_split(np.arange(len(drawn)), min(n_orders, len(drawn))):
            start = np.argsort(-drawn[rows[0], : design.n_arms], kind="stable")
            with interpreted(design.n_arms <= FEW_ARMS):
                order = reordered(start, gain)
            place = np.argsort(order)
            found[rows] = place[design.first] < place[design.second]
        return found

    def _irregular(
        self, drawn: np.ndarray, lapse: np.ndarray, better: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return chances by cell: a beta posterior for each pair, cut at 1/2."""
        design = self.design
        number, won, held, weight = self._pairs
        distance = drawn[:, design.first] - drawn[:, design.second]
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

    def _mixture(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return by pair the posterior distribution function on `CHANCES`, (n_pairs, 34).

        The first where `first` is the better arm, the second where it is not. The mixture is
        fitted along orders drawn from the lapse model: along a single one that was estimated from
        the same duels, the better arms would win too often.
        """
        number, won, *_ = self._pairs
        lost = number - won
        drawn, _ = self.best.draw(MIXTURE_ORDERS, rng)
        first_better = (drawn[:, self.design.first] > drawn[:, self.design.second]).mean(axis=0)
        duels = np.stack([np.tile(number, 2), np.concatenate([won, lost]).round(9)])
        _, kind, place = np.unique(duels, axis=1, return_index=True, return_inverse=True)
        times = np.bincount(place.ravel(), np.concatenate([first_better, 1 - first_better]))
        log_win, log_loss = np.log(CHANCES), np.log1p(-CHANCES)
        log_up = won[:, None] * log_win + lost[:, None] * log_loss
        log_down = lost[:, None] * log_win + won[:, None] * log_loss
        up, down = (np.exp(x - x.max(axis=1, keepdims=True)) for x in (log_up, log_down))
        seen = times > 0
        weight = mixing_weights(np.concatenate([up, down])[kind[seen]], times[seen])
        up, down = (np.cumsum(x * weight, axis=1) for x in (up, down))
        return up / up[:, -1:], down / down[:, -1:]

    def _mixed(
        self,
        drawn: np.ndarray,
        better: np.ndarray,
        mixture: tuple[np.ndarray, np.ndarray],
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return chances by cell: of each pair, a draw from its posterior in the mixture."""
        level = rng.random(better.shape)
        place = np.zeros(better.shape, dtype=np.int8)
        for up, down in zip(*(x.T[:-1].copy() for x in mixture), strict=True):
            place += level > np.where(better, up, down)
        high = CHANCES[place]
        return self._shifted(np.where(better, high, 1 - high), drawn[:, -1])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return by pair the duels and wins, and how close pairs are to the lapse model.

        Wins are adjusted for the order effect; the latter is concentrations and their weights.
        """
        design, top = self.design, self.best.fits[0]
        number = design.by_pair(design.n)
        surplus = design.by_pair(design.won - design.n * self.expected())
        distance = top.mode[design.first] - top.mode[design.second]
        prior = _inside(self.best.chance(distance, top.lapse), 1e-4)
        won = design.by_pair(design.won)
        if design.has_order:
            won = np.clip(number * prior + surplus, 0, number)
        a, b = CONCENTRATIONS[:, None] * prior, CONCENTRATIONS[:, None] * (1 - prior)
        evidence = (betaln(won + a, number - won + b) - betaln(a, b)).sum(1)
        weight = np.exp(evidence - evidence.max())
        return number, won, CONCENTRATIONS, weight / weight.sum()

    def _shifted(self, chances: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return chances by cell from chances by pair, an order effect added on logits."""
        design = self.design
        by_pair = _inside(chances)
        if not design.has_order:
            return by_pair[..., design.pair]
        if self.best.link == NORMAL:
            return _inside(ndtr(ndtri(by_pair)[..., design.pair] + design.side * order[..., None]))
        odds = logit(by_pair)[..., design.pair]
        odds += design.side * order[..., None]
        return _inside(expit(odds, out=odds))


@compiled
def _binomials(n, chance, rng):
    """Return successes, float, shape (draws, cells), of `n` trials (cells,) with these chances.

    By inversion: BINV of Kachitvichyanukul & Schmeiser, Communications of the ACM 1988.
    """
    found, inverse = np.empty(chance.shape), 1.0 / np.arange(1, INVERTED + 1)
    for draw, cell in np.ndindex(chance.shape):
        number, p = n[cell], chance[draw, cell]
        if number > INVERTED:
            found[draw, cell] = rng.binomial(number, p)
            continue
        rare = min(p, 1.0 - p)
        mass, odds, level, k = (1.0 - rare) ** number, rare / (1.0 - rare), rng.random(), 0
        below, scaled = mass, odds * (number + 1)
        while level > below and k < number:
            mass *= scaled * inverse[k] - odds  # odds (number - k) / (k + 1)
            below += mass
            k += 1
        found[draw, cell] = k if p <= 0.5 else number - k
    return found


def _inside(chances: np.ndarray, margin: float = TINY) -> np.ndarray:
    """Keep chances away from 0 and 1, in place: they are many."""
    return np.clip(chances, margin, 1 - margin, out=chances)
