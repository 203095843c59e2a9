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

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
from scipy.special import betainc, betaincinv, betaln, ndtr, ndtri

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

__all__ = ["FEW_ARMS", "NULL_MODELS", "STRONG_MODELS", "NullModel", "NullModels", "too_cyclic"]

Chances = Callable[[np.ndarray], np.ndarray]  # of worlds (n,), to those of cells (n, n_cells)
NullModel = Literal["logistic", "normal", "isotonic", "irregular", "reordered", "mixture"]
NULL_MODELS: tuple[NullModel, ...] = get_args(NullModel)
STRONG_MODELS: tuple[NullModel, ...] = NULL_MODELS[:3]

MISFIT = 0.025  # share of logs no more cyclic than this one: the other tail, two-sided 95 %
CHUNK = 2_000_000  # entries drawn at once, at most
ROOM = 80_000  # of these, whose duels are drawn at once: as many as a processor's cache holds
PART = 50  # logs drawn at once, at most
ORDERS = 20  # orders along which the isotonic model is smoothed; fewer for many arms
ORDERS_SIZE = 4_000_000  # entries of P smoothed in all
PRIOR_DUELS = 1.0  # weight of the lapse model in each pair of the isotonic one, in duels
CONCENTRATIONS = np.array([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096])  # irregular: grid
FEW_ARMS = 20  # up to here plain Python and NumPy are done sooner than Numba is imported
INVERTED = 200  # duels of a cell, from which NumPy's rejection takes no longer (measured)
CELLS = 256  # looked at together
STEPS = 4  # of the inversion between two looks whether any cell needs more
TRIES = 6
MIXTURE_ORDERS = 40  # orders along which the mixture is fitted
CHANCES = np.linspace(0.5, 0.995, 34)  # mixture: of the better arm of a pair
TINY = 1e-9
FAR = 500.0  # logits whose odds are finite
QUANTILES = 400  # of each order effect's posterior, for an interval


def too_cyclic(observed: float, replicated: np.ndarray) -> bool:
    """Return whether a model predicts far more cycles than a log has, so that it does not fit.

    observed, replicated: cyclicity of the log, and of logs replicated from the model, (draws,).
    """
    no_more_cyclic = (replicated <= observed + 1e-9).sum()
    return bool(1 + no_more_cyclic <= MISFIT * (1 + len(replicated)))


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
        """Yield `n` replicated logs in parts: duels won by pair, float, shape (part, n_pairs)."""
        for chances, worlds in self._draws(model, n, rng):
            for start in range(0, len(worlds), self._part):
                yield self.drawn(chances, worlds[start : start + self._part], rng)

    def drawn(self, chances: Chances, worlds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return duels won by pair, float, shape (logs, n_pairs), of one log for each of `worlds`.

        `worlds` are places among those of `chances`.
        """
        design = self.design
        number, starts = design.n.astype(np.int64), design.starts
        won = np.empty((len(worlds), len(starts)))
        step = max(1, ROOM // len(number))
        for start in range(0, len(worlds), step):
            here = slice(start, start + step)
            chance = chances(worlds[here])
            if design.n_arms <= FEW_ARMS:
                np.add.reduceat(rng.binomial(number, chance), starts, axis=1, out=won[here])
            else:
                _binomials(number, chance, design.pair, rng, won[here])
        return won

    def chances(self, lapse_model: LapseModel, drawn: np.ndarray, lapse: np.ndarray) -> np.ndarray:
        """Return the win probabilities of cells in draws of a lapse model, (draws, n_cells)."""
        first, second = self._of_pairs(drawn)
        distance, link = first - second, lapse_model.link
        if link == NORMAL:
            straight = self._of_probits(distance, drawn[:, -1])
        else:
            straight = self._of_odds(np.exp(np.minimum(distance, FAR)), drawn[:, -1])
        return _inside(lapse_model.lapsed(straight, lapse[:, None]))

    def _of_pairs(self, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the arms of pairs in draws, (draws, n_pairs) each."""
        return drawn.take(self.design.first, axis=1), drawn.take(self.design.second, axis=1)

    @property
    def _part(self) -> int:
        """How many logs are drawn at once."""
        return min(PART, max(1, CHUNK // len(self.design.n)))

    def _draws(
        self, model: NullModel, n: int, rng: np.random.Generator
    ) -> Iterator[tuple[Chances, np.ndarray]]:
        """Yield worlds in parts: their chances, and the world of each of `n` logs."""
        if model == "isotonic":
            orders = min(ORDERS, n, max(1, ORDERS_SIZE // self.design.n_arms**2))
            drawn, lapses = self.best.draw(orders, rng)
            smooth = [self._isotonic(s, float(g)) for s, g in zip(drawn, lapses, strict=True)]
            copies = np.repeat(np.arange(orders), -(-n // orders))[:n]
            yield self._shifted(np.stack(smooth), drawn[:, -1]), copies
            return
        lapse_model = self.lapse_models.get(model, self.best)
        mixture = self._mixture(rng) if model == "mixture" else None
        for start in range(0, n, self._part):
            drawn, lapse = lapse_model.draw(min(self._part, n - start), rng)
            worlds = np.arange(len(drawn))
            if model in ("logistic", "normal"):
                yield partial(self._of_lapse_model, lapse_model, drawn, lapse), worlds
                continue
            better = np.greater(*self._of_pairs(drawn))
            if mixture is not None:
                by_pair = self._mixed(better, mixture, rng)
            else:
                if model == "reordered":
                    better = self._reordered(drawn, max(1, ORDERS * len(drawn) // n))
                by_pair = self._irregular(drawn, lapse, better, rng)
            yield self._shifted(by_pair, drawn[:, -1]), worlds

    def _of_lapse_model(
        self, lapse_model: LapseModel, drawn: np.ndarray, lapse: np.ndarray, worlds: np.ndarray
    ) -> np.ndarray:
        """Return chances by cell in some of the draws of a lapse model."""
        return self.chances(lapse_model, drawn[worlds], lapse[worlds])

    def _isotonic(self, scores: np.ndarray, lapse: float) -> np.ndarray:
        """Return chances by pair, P being smoothed along the order of drawn scores."""
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
        return smooth[design.first, design.second]

    def _reordered(self, drawn: np.ndarray, n_orders: int) -> np.ndarray:
        """Return by draw which pairs put `first` above, once orders have been improved.

        Starting orders are those of `n_orders` of the draws, at most.
        """
        design = self.design
        z = majority_z(design, design.by_pair(design.won), self.first_wins)
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
        """Return chances by pair: a beta posterior for each, cut at 1/2."""
        design = self.design
        number, won, held, weight = self._pairs
        concentration = rng.choice(held, len(drawn), p=weight)
        a, b = np.empty(better.shape), np.empty(better.shape)
        for k, scores in enumerate(drawn):
            distance = scores[design.first] - scores[design.second]
            prior = concentration[k] * _inside(self.best.chance(distance, lapse[k]), 1e-4)
            ahead, behind = won + prior, number - won + (concentration[k] - prior)
            a[k] = np.where(better[k], ahead, behind)
            b[k] = np.where(better[k], behind, ahead)
        a, b = a.ravel(), b.ravel()
        high: np.ndarray = rng.beta(a, b)
        low = np.flatnonzero(high < 0.5)
        for _ in range(TRIES):  # cut by rejection; what is left, by inversion
            high[low] = rng.beta(a[low], b[low])
            low = low[high[low] < 0.5]
        below = betainc(a[low], b[low], 0.5)
        level = np.minimum(below + (1 - below) * rng.random(len(below)), 1.0)
        found = np.where(below > 1 - TINY, 0.5, betaincinv(a[low], b[low], level))
        high[low] = np.clip(np.nan_to_num(found, nan=0.5), 0.5, 1)
        high = high.reshape(better.shape)
        return np.where(better, high, 1 - high)

    @cached_property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return likelihoods of pairs on `CHANCES`, and which of them are the same.

        Of `first` as the better arm and as the other, (n_pairs, 34); the first place of each kind
        in one after the other, and the kind of each.
        """
        number, won, *_ = self._pairs
        lost = number - won
        duels = np.stack([np.tile(number, 2), np.concatenate([won, lost]).round(9)])
        _, kind, place = np.unique(duels, axis=1, return_index=True, return_inverse=True)
        log_win, log_loss = np.log(CHANCES), np.log1p(-CHANCES)
        log_up = won[:, None] * log_win + lost[:, None] * log_loss
        log_down = lost[:, None] * log_win + won[:, None] * log_loss
        up, down = (np.exp(x - x.max(axis=1, keepdims=True)) for x in (log_up, log_down))
        return up, down, kind, place.ravel()

    def _mixture(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return by pair the posterior distribution function on `CHANCES`, (n_pairs, 34).

        The first where `first` is the better arm, the second where it is not. The mixture is
        fitted along orders drawn from the lapse model: along a single one that was estimated from
        the same duels, the better arms would win too often.
        """
        up, down, kind, place = self._kinds
        drawn, _ = self.best.draw(MIXTURE_ORDERS, rng)
        first_better = np.greater(*self._of_pairs(drawn)).mean(axis=0)
        times = np.bincount(place, np.concatenate([first_better, 1 - first_better]))
        seen = times > 0
        weight = mixing_weights(np.concatenate([up, down])[kind[seen]], times[seen])
        up, down = (np.cumsum(x * weight, axis=1) for x in (up, down))
        return up / up[:, -1:], down / down[:, -1:]

    def _mixed(
        self, better: np.ndarray, mixture: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
    ) -> np.ndarray:
        """Return chances by pair: of each, a draw from its posterior in the mixture."""
        found = rng.random(better.shape)  # the level of each, at first
        last = len(CHANCES) - 1
        step = max(1, ROOM // len(better))
        for start in range(0, better.shape[1], step):
            here = slice(start, start + step)
            level, ahead = found[:, here], better[:, here]
            steps = np.concatenate([x[here] for x in mixture], axis=0)
            n_pairs = len(steps) // 2
            row = (np.arange(n_pairs) + n_pairs * ~ahead) * len(CHANCES)
            place, left, steps = row.copy(), last, steps.ravel()
            while left > 1:  # by bisection
                half = left // 2
                place += half * (steps[place + (half - 1)] < level)
                left -= half
            place += steps[place] < level
            high = CHANCES[place - row]
            found[:, here] = np.where(ahead, high, 1 - high)
        return found

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

    def _shifted(self, by_pair: np.ndarray, order: np.ndarray) -> Chances:
        """Return chances by cell of chances by pair, (worlds, n_pairs), and order effects."""

        def by_cell(worlds: np.ndarray) -> np.ndarray:
            chances = _inside(by_pair[worlds])
            if not self.design.has_order:
                return chances.take(self.design.pair, axis=1)
            if self.best.link == NORMAL:
                return _inside(self._of_probits(ndtri(chances), order[worlds]))
            return _inside(self._of_odds(chances / (1 - chances), order[worlds]))

        return by_cell

    def _of_odds(self, odds: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return chances by cell of odds by pair, (n, n_pairs), and order effects in logits."""
        design = self.design
        found = odds.take(design.pair, axis=1)
        if design.has_order:
            by_side = np.exp(np.outer(order, (-1, 0, 1)))
            found *= by_side.take(design.side.astype(np.int64) + 1, axis=1)
        return np.divide(found, 1 + found, out=found)

    def _of_probits(self, distance: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return chances by cell of distances by pair, (n, n_pairs), and order effects."""
        found = distance.take(self.design.pair, axis=1)
        found += self.design.side * order[:, None]
        return np.asarray(ndtr(found, out=found))


@compiled(error_model="numpy")
def _binomials(n, chance, pair, rng, won):
    """Write successes of `n` trials a cell with chances (draws, cells) to `won`, summed by pair.

    By inversion: BINV of Kachitvichyanukul & Schmeiser, Communications of the ACM 1988. Many cells
    are looked at in each loop, because compilers turn such loops into vector instructions.

    n, pair: trials of each cell, and its pair; won: float, shape (draws, pairs).
    """
    inverse = 1.0 / np.arange(1, INVERTED + STEPS)
    trials = np.zeros(CELLS, dtype=np.int64)
    mass, power, odds, scaled, below, level, found = np.zeros((7, CELLS))
    won[:] = 0.0
    for draw in range(len(chance)):
        for start in range(0, len(n), CELLS):
            size, most = min(CELLS, len(n) - start), 0
            for c in range(size):
                number, found[c] = n[start + c], 0.0
                if number > INVERTED:
                    found[c], trials[c] = rng.binomial(number, chance[draw, start + c]), 0
                else:
                    level[c], trials[c] = rng.random(), number
                most = max(most, trials[c])
            for c in range(size):
                rare = min(chance[draw, start + c], 1.0 - chance[draw, start + c])
                power[c] = 1.0 - rare
                odds[c] = rare / power[c]
                scaled[c] = odds[c] * (trials[c] + 1)
                mass[c] = 1.0
            bit = 1
            while bit <= most:  # (1 - rare) ** trials
                for c in range(size):
                    mass[c] *= power[c] if trials[c] & bit else 1.0
                    power[c] *= power[c]
                bit *= 2
            for c in range(size):
                below[c] = mass[c]
            k, above = 0, True
            while above and k < most:
                for c in range(size):
                    m, b, more = mass[c], below[c], 0.0
                    for step in range(STEPS):
                        more += 1.0 if level[c] > b else 0.0
                        m *= scaled[c] * inverse[k + step] - odds[c]  # odds (trials - k) / (k + 1)
                        b += m
                    mass[c], below[c], found[c] = m, b, found[c] + more
                k, above = k + STEPS, False
                for c in range(size):
                    above |= level[c] > below[c]
            for c in range(size):
                successes, number = found[c], n[start + c]
                if number <= INVERTED:
                    successes = min(successes, number)
                    if chance[draw, start + c] > 0.5:
                        successes = number - successes
                won[draw, pair[start + c]] += successes


def _inside(chances: np.ndarray, margin: float = TINY) -> np.ndarray:
    """Keep chances away from 0 and 1, in place: they are many."""
    return np.clip(chances, margin, 1 - margin, out=chances)
