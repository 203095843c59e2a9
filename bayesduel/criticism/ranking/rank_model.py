"""Posterior of a ranking that says who wins, and not by how much.

The order of the arms decides the sign of each pair's log odds; of a ranking with exceptions it
does so with a probability, the same for all pairs. Their sizes are half-normal, independent of
each other and of the distance in the order. Given the typical size and the probability of an
exception, a log has the probability of a product over pairs. Orders are summed by sequential Monte
Carlo: particles, each an order, a size and a probability, start from the prior; the duels count
with a power that rises from 0 to 1, and at each step every arm is put where its duels want it.
The side advantage has a normal approximation at each size, as if sides were independent.

References
----------
Del Moral, Doucet & Jasra, "Sequential Monte Carlo samplers", JRSS B 2006 (the sampler). Jasra et
al., "Inference for Levy-driven stochastic volatility models via adaptive sequential Monte Carlo",
Scandinavian Journal of Statistics 2011 (powers chosen by the effective sample size).
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaincinv

from bayesduel.criticism.ranking.evidence import ORDER, SIZE, SPACING, Draws, Log
from bayesduel.criticism.ranking.pair_models import FREE, RANKS, of_ranks, of_scores
from bayesduel.jit import compiled
from bayesduel.system.cost import CostLimit

__all__ = ["RankModel", "Sides"]

# Log evidence of 16 arms has a standard deviation of 0.2 by 187 particles, over seeds, that of 43
# arms one of 0.7 without exceptions and of 1.5 with them by 69, and a bias of as much downwards.
PARTICLES = CostLimit(total=3000, least=16, most=250)
SIZES = 7  # nodes of the size: 4.2 standard deviations on either side
MOST_EXCEPTIONS = 0.5  # where the order says nothing; every probability below is as probable


class Particles(NamedTuple):
    """Orders (particles, arms), their nodes and their probabilities of an exception."""

    orders: np.ndarray
    nodes: np.ndarray
    exceptions: np.ndarray

    def at(self, kept: np.ndarray) -> "Particles":
        """Return those that are kept."""
        return Particles(*(values[kept] for values in self))


class Sides:
    """What the duels say of who leads each pair, at nodes of the typical size.

    Attributes
    ----------
    spread
        Typical log odds at each node.
    middle
        Log density at each node, if neither side of a pair led.
    half
        Half the log odds that the first arm leads, (nodes, pairs).
    order
        The side advantage at each node: mode and standard deviation.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self._scores = np.zeros(log.n_arms + 1)  # of equal arms, then the side advantage
        self._modes = np.zeros(len(log.n))
        step, sizes = self._sizes()
        self.spread = np.sqrt(2.0) * np.exp(sizes)  # squares of log odds as in the other models
        self.middle = np.empty(SIZES)
        self.half = np.empty((SIZES, len(log.n)))
        self.order = np.empty((SIZES, 2))
        for k, size in enumerate(sizes):
            _, mode, deviation = self._without_sides(size)
            self.order[k] = mode, deviation
            spread = self.spread[k]
            by_leader = of_ranks(log.n, log.won, spread, mode)
            first, second = by_leader.T
            self.half[k] = (first - second) / 2
            both = first.sum() + second.sum()
            middle = both / 2
            middle += _log_prior(size) + np.log(step)
            middle += _log_of_order(mode, deviation)
            self.middle[k] = middle

    @property
    def most(self) -> float:
        """A bound of the log evidence: the sides of all pairs as their own duels have them."""
        of_sides = np.abs(self.half).sum(axis=1)
        of_nodes = self.middle + of_sides
        return float(of_nodes.max() + np.log(SIZES))

    def _sizes(self) -> tuple[float, np.ndarray]:
        """Return the step between nodes of the logarithm of the size, and the nodes."""

        def cost(size: float) -> float:
            value, _, _ = self._without_sides(size)
            return -(value + _log_prior(size))

        found = minimize_scalar(
            cost,
            bounds=(-6.0, 4.0),  # log odds from 0.003 to 80
            method="bounded",
            # The middle node is within 0.01 of the mode: a tenth of a step of 10,000 pairs
            options={"xatol": 0.01},
        )
        mode = found.x
        apart = 0.1  # for a second difference at a mode that is right to 0.01
        around = cost(mode - apart) + cost(mode + apart)
        second_difference = around - 2 * cost(mode)
        curvature = second_difference / apart**2
        curvature = max(curvature, 1.0)  # a standard deviation of 1: that of the prior is 1.1
        step = SPACING / np.sqrt(curvature)
        places = np.arange(SIZES) - SIZES // 2
        return step, mode + step * places

    def _without_sides(self, size: float) -> tuple[float, float, float]:
        """Return the log density, and the side advantage, if the sides of pairs were independent.

        These are free residuals around equal scores. Of the side advantage: mode and deviation.
        """
        log = self.log
        scores = self._scores  # those of the size before are near
        gradient = np.zeros(len(scores))
        bent = np.zeros((len(scores), len(scores)))
        spread = float(np.sqrt(2.0) * np.exp(size))
        modes = self._modes
        value = 0.0
        of_prior = ORDER**-2.0
        information = of_prior
        # 20 steps of Newton's method for the side advantage at most: it takes 3 to 6
        for _ in range(20):
            value = of_scores(FREE, *log.pairs, scores, spread, modes, gradient, bent)
            # What is integrated out may bend the density the wrong way: that of the prior is left.
            information = max(bent[-1, -1], 0.0) + of_prior
            pull = scores[-1] * of_prior
            step = (gradient[-1] - pull) / information
            if abs(step) < 1e-6:  # logits: steps of Newton's method square it
                break
            scores[-1] += np.clip(step, -ORDER, ORDER)
        mode = float(scores[-1])
        deviation = float(information**-0.5)
        return value + _log_of_order(mode, deviation), mode, deviation


def _log_prior(size: float) -> float:
    """Return the log density of the logarithm of the typical size."""
    return float(SIZE.log_density(np.asarray(size), 1.0))


def _log_of_order(mode: float, deviation: float) -> float:
    """Return what a side advantage adds to a density, integrated out by a normal approximation."""
    narrower = np.log(deviation / ORDER)
    away = mode / ORDER
    return float(narrower - 0.5 * away**2)


class RankModel:
    """The posterior of ranks alone, or of ranks with exceptions.

    exceptions: whether pairs may go against the order. rng: of the particles.
    """

    def __init__(self, sides: Sides, exceptions: bool, rng: np.random.Generator) -> None:
        self.log = sides.log
        self.sides = sides
        self._exceptions = exceptions
        self._rng = rng

    @cached_property
    def _particles(self) -> tuple[Particles, float]:
        """The particles at power 1, and the log evidence."""
        rng = self._rng
        n_arms = self.log.n_arms
        n = PARTICLES.times(n_arms)
        numbers = np.tile(np.arange(n_arms), (n, 1))
        orders = rng.permuted(numbers, axis=1)
        nodes = rng.integers(SIZES, size=n)
        exceptions = np.zeros(n)
        if self._exceptions:
            exceptions = rng.uniform(0.0, MOST_EXCEPTIONS, n)
        found = Particles(orders, nodes, exceptions)
        power = 0.0
        evidence = np.log(SIZES)
        while power < 1.0:
            signs = self._signs(found.orders)
            before, slopes = self._densities(found, signs, power)
            step = _step(slopes, 1.0 - power)
            power = min(power + step, 1.0)
            after, _ = self._densities(found, signs, power)
            gains = after - before
            largest = gains.max()
            weights = np.exp(gains - largest)
            evidence += largest + np.log(weights.mean())
            kept = found.at(_resampled(weights, rng))
            found = self._moved(kept, power)
        return found, float(evidence)

    @cached_property
    def _pair(self) -> np.ndarray:
        """The pair of two arms, or -1, (K, K)."""
        log = self.log
        number = np.arange(len(log.n))
        pairs = np.full((log.n_arms, log.n_arms), -1)
        pairs[log.first, log.second] = number
        pairs[log.second, log.first] = number
        return pairs

    @property
    def log_evidence(self) -> float:
        """Log probability of the duels under the model, with Monte Carlo error."""
        return self._particles[1]

    def draw(self, n: int, rng: np.random.Generator) -> Draws:
        """Return `n` draws: minus the places of the arms and the side advantage, and the sizes."""
        found, _ = self._particles
        drawn = [found]
        n_particles = len(found.orders)
        while n_particles * len(drawn) < n:
            found = self._moved(found, 1.0)
            drawn.append(found)
        fields = zip(*drawn, strict=True)
        together = Particles(*map(np.concatenate, fields))
        in_random_order = rng.permutation(len(together.orders))
        which = in_random_order[:n]
        orders, nodes, exceptions = together.at(which)
        mode, deviation = self.sides.order[nodes].T
        order = mode + deviation * rng.standard_normal(n)
        places = np.argsort(orders, axis=1)
        coefficients = np.column_stack([-places, order])
        return Draws(
            log=self.log,
            kind=RANKS,
            coefficients=coefficients.astype(float),
            spread=self.sides.spread[nodes],
            exceptions=exceptions,
            modes=np.zeros(len(self.log.n)),
        )

    def _signs(self, orders: np.ndarray) -> np.ndarray:
        """Return 1 where the first arm of a pair leads, and -1 elsewhere, (particles, pairs)."""
        places = np.argsort(orders, axis=1)
        of_first = places[:, self.log.first]
        of_second = places[:, self.log.second]
        return np.where(of_first < of_second, 1.0, -1.0)

    def _densities(
        self, found: Particles, signs: np.ndarray, power: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log densities (particles,), and their slopes in the power."""
        toward = signs * self.sides.half[found.nodes]
        middle = self.sides.middle[found.nodes]
        of_pairs, against = mixed(power * toward, found.exceptions)
        densities = of_pairs.sum(axis=1) + power * middle
        of_sides = toward * (1.0 - 2.0 * against)
        slopes = of_sides.sum(axis=1) + middle
        return densities, slopes

    def _moved(self, found: Particles, power: float) -> Particles:
        """Return particles after Gibbs steps of each arm, of the size and of the exceptions."""
        half = power * self.sides.half[found.nodes]
        ahead, _ = mixed(half, found.exceptions)
        behind, _ = mixed(-half, found.exceptions)
        favour = ahead - behind
        orders = found.orders.copy()
        uniform = self._rng.random(orders.shape)
        place_arms(orders, favour, self._pair, uniform)
        signs = self._signs(orders)
        moved = found._replace(orders=orders)
        nodes = self._nodes(moved, signs, power)
        moved = moved._replace(nodes=nodes)
        if not self._exceptions:
            return moved
        exceptions = self._exception_rates(moved, signs, power)
        return moved._replace(exceptions=exceptions)

    def _nodes(self, found: Particles, signs: np.ndarray, power: float) -> np.ndarray:
        """Return a node of the size for each particle, drawn given the rest."""
        n = len(found.orders)
        logs = np.empty((n, SIZES))
        for node in range(SIZES):
            there = found._replace(nodes=np.full(n, node))
            densities, _ = self._densities(there, signs, power)
            logs[:, node] = densities
        largest = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - largest)
        sums = np.cumsum(weights, axis=1)
        total = sums[:, -1:]
        uniform = self._rng.random((n, 1))
        below = sums < uniform * total
        return below.sum(axis=1)

    def _exception_rates(self, found: Particles, signs: np.ndarray, power: float) -> np.ndarray:
        """Return the probability of an exception for each particle, drawn given the rest.

        A Beta law, given which pairs are exceptions, cut off at `MOST_EXCEPTIONS`.
        """
        toward = power * signs * self.sides.half[found.nodes]
        _, against = mixed(toward, found.exceptions)
        drawn = self._rng.random(against.shape) < against
        n_against = drawn.sum(axis=1)
        n_along = len(self.log.n) - n_against
        shape = (1.0 + n_against, 1.0 + n_along)
        below = betainc(*shape, MOST_EXCEPTIONS)
        uniform = self._rng.random(len(n_against))
        return betaincinv(*shape, uniform * below)


def _resampled(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which particles are kept, by systematic resampling."""
    n = len(weights)
    sums = np.cumsum(weights) / weights.sum()
    evenly = np.arange(n) + rng.random()
    kept = np.searchsorted(sums, evenly / n)
    return kept.clip(max=n - 1)


@compiled
def place_arms(
    orders: np.ndarray, favour: np.ndarray, pair: np.ndarray, uniform: np.ndarray
) -> None:
    """Draw the place of each arm of each order anew, given the others; `orders` is changed.

    favour: log odds that the first arm of each pair leads, (particles, pairs). pair: of two arms,
    or -1, (K, K). uniform: a number for each arm of each order.
    """
    n_arms = orders.shape[1]
    logs = np.zeros(n_arms)  # of the places of an arm, its first place having 0
    for particle in range(len(orders)):
        order = orders[particle]
        for arm in range(n_arms):
            others = order[order != arm]
            for k in range(n_arms - 1):
                other = others[k]
                logs[k + 1] = logs[k]
                met = pair[arm, other]
                if met < 0:
                    continue
                ahead = favour[particle, met]
                if arm > other:
                    ahead = -ahead
                logs[k + 1] -= ahead
            weights = np.exp(logs - logs.max())
            sums = np.cumsum(weights)
            level = uniform[particle, arm] * sums[-1]
            place = np.searchsorted(sums, level)
            order[:place] = others[:place]
            order[place] = arm
            order[place + 1 :] = others[place:]


def mixed(toward: np.ndarray, exceptions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log densities of pairs that may be exceptions, and the probability that they are.

    toward: half the log odds of the side that the order says, (particles, pairs). exceptions:
    probability of an exception, (particles,), or all 0.
    """
    if not exceptions.any():
        return toward, np.zeros_like(toward)
    against = np.log(exceptions)[:, None] - toward
    along = np.log1p(-exceptions)[:, None] + toward
    total = np.logaddexp(along, against)
    return total, np.exp(against - total)


def _step(slopes: np.ndarray, most: float) -> float:
    """Return the step of the power by which 0.7 of the particles are effective, or `most`.

    A larger share: more steps and less error of the evidence; not tuned.

    Their log weights are taken to grow with the power as they do where it starts.
    """
    below_largest = slopes - slopes.max()

    def excess(step: float) -> float:
        weights = np.exp(step * below_largest)
        total = weights.sum()
        squares = (weights**2).sum()
        effective = float(total**2 / squares)
        return effective / len(slopes) - 0.7

    if excess(most) >= 0:
        return most
    return float(brentq(excess, 0.0, most))
