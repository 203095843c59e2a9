"""Posterior of a ranking that says who wins, and not by how much.

The order of the arms decides the sign of each pair's log odds. Their sizes are half-normal,
independent of each other and of the distance in the order. Given the typical size, a log has the
probability of a product over pairs, of which the order picks one of two factors each. Orders are
summed by sequential Monte Carlo: particles, each an order and a size, start from the prior; the
likelihood is raised from power 0 to 1, and at each step every arm is put where its duels want it.
The order effect has a normal approximation at each size, as if sides were independent.

References
----------
Del Moral, Doucet & Jasra, "Sequential Monte Carlo samplers", JRSS B 2006 (the sampler). Jasra et
al., "Inference for Levy-driven stochastic volatility models via adaptive sequential Monte Carlo",
Scandinavian Journal of Statistics 2011 (powers chosen by the effective sample size).
"""

from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq, minimize_scalar

from bayesduel.criticism.ranking.evidence import ORDER, POINTS, SIZE, SPACING, Draws, Log
from bayesduel.criticism.ranking.pair_models import FREE, RANKS, of_ranks, of_scores
from bayesduel.jit import compiled

__all__ = ["RankModel"]

# Log evidence of 12 arms has a standard deviation of 0.13 by 250 particles, over seeds, that of 30
# arms one of 0.2 by 100.
PARTICLES = (16, 250)
PLACES = 3000  # particles times arms, about
KEPT = 0.7  # effective share of the particles at each step of the power
SIZES = 7  # nodes of the size: 4.2 standard deviations on either side
SIDE_POINTS = 16  # of a pair's rule for each side: 0.001 nats beside 40 points
RANGE = (-6.0, 4.0)  # of the logarithm of the size: log odds from 0.003 to 80
WIDEST = 1.0  # standard deviation of it, at most: that of its prior is 1.1
DIFFERENCE = 0.1  # by which its curvature is measured
NEAR = 0.01  # of the middle node to the mode: a tenth of a step of 10,000 pairs
ORDER_STEPS = 20  # of Newton's method for the order effect, at most: it takes 3 to 6
CLOSE = 1e-6  # its last step


class RankModel:
    """The posterior of ranks alone.

    rng: of the particles.
    """

    def __init__(self, log: Log, rng: np.random.Generator) -> None:
        self.log = log
        self._rng = rng
        points, weights = leggauss(SIDE_POINTS)
        self._rule = ((points + 1) / 2, weights / 2)
        self._scores = np.zeros(log.n_arms + 1)  # of equal arms, then the order effect
        self._modes = np.zeros(len(log.n))
        step, sizes = self._sizes()
        self._spread = np.sqrt(2.0) * np.exp(sizes)  # squares of log odds as in the other models
        n_arms = log.n_arms
        self._toward = np.zeros((SIZES, n_arms, n_arms))  # log odds that the arm of the row leads
        self._middle = np.empty(SIZES)  # log density, if neither side of a pair led
        self._order = np.empty((SIZES, 2))  # the order effect: mode and standard deviation
        for k, size in enumerate(sizes):
            _, mode, deviation = self._without_sides(size)
            sides = of_ranks(log.n, log.won, self._spread[k], mode, *self._rule)
            toward = sides[:, 0] - sides[:, 1]
            self._toward[k, log.first, log.second] = toward
            self._toward[k, log.second, log.first] = -toward
            prior = SIZE.log_density(np.asarray(size), 1.0) + np.log(step)
            of_order = np.log(deviation / ORDER) - 0.5 * (mode / ORDER) ** 2
            self._middle[k] = sides.sum() / 2 + prior + of_order
            self._order[k] = mode, deviation
        self._half = self._toward[:, log.first, log.second] / 2

    @cached_property
    def _particles(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Orders (particles, arms), their nodes (particles,), and the log evidence."""
        rng = self._rng
        n_arms = self.log.n_arms
        n = int(np.clip(PLACES // n_arms, *PARTICLES))
        orders = rng.permuted(np.tile(np.arange(n_arms), (n, 1)), axis=1)
        nodes = rng.integers(SIZES, size=n)
        power = 0.0
        evidence = np.log(SIZES)
        densities = self._densities(orders)
        while power < 1.0:
            logs = densities[np.arange(n), nodes]
            step = _step(logs, 1.0 - power)
            weights = np.exp(step * (logs - logs.max()))
            evidence += step * logs.max() + np.log(weights.mean())
            power = min(power + step, 1.0)
            at = (np.arange(n) + rng.random()) / n
            kept = np.searchsorted(np.cumsum(weights) / weights.sum(), at).clip(max=n - 1)
            orders, nodes, densities = self._moved(orders[kept], nodes[kept], power)
        return orders, nodes, float(evidence)

    @property
    def most(self) -> float:
        """A bound of the log evidence: the sides of all pairs as their own duels have them."""
        return float((self._middle + np.abs(self._half).sum(axis=1)).max() + np.log(SIZES))

    @property
    def log_evidence(self) -> float:
        """Log probability of the duels under the model, with Monte Carlo error."""
        return self._particles[2]

    def draw(self, n: int, rng: np.random.Generator) -> Draws:
        """Return `n` draws: minus the places of the arms and the order effect, and the sizes."""
        orders, nodes, _ = self._particles
        drawn_orders = [orders]
        drawn_nodes = [nodes]
        while len(orders) * len(drawn_orders) < n:
            orders, nodes, _ = self._moved(orders, nodes, 1.0)
            drawn_orders.append(orders)
            drawn_nodes.append(nodes)
        which = rng.permutation(len(orders) * len(drawn_orders))[:n]
        places = np.argsort(np.concatenate(drawn_orders)[which], axis=1)
        node = np.concatenate(drawn_nodes)[which]
        mode, deviation = self._order[node].T
        order = mode + deviation * rng.standard_normal(n)
        coefficients = np.column_stack([-places, order]).astype(float)
        return Draws(self.log, RANKS, coefficients, self._spread[node], np.zeros(len(self.log.n)))

    def _sizes(self) -> tuple[float, np.ndarray]:
        """Return the step between nodes of the logarithm of the size, and the nodes."""

        def density(size: float) -> float:
            return self._without_sides(size)[0] + float(SIZE.log_density(np.asarray(size), 1.0))

        found = minimize_scalar(
            lambda size: -density(size), bounds=RANGE, method="bounded", options={"xatol": NEAR}
        )
        best = found.x
        around = density(best - DIFFERENCE) + density(best + DIFFERENCE)
        curvature = (2 * density(best) - around) / DIFFERENCE**2
        step = SPACING / np.sqrt(max(curvature, WIDEST**-2))
        return step, best + step * (np.arange(SIZES) - SIZES // 2)

    def _without_sides(self, size: float) -> tuple[float, float, float]:
        """Return the log density, and the order effect, if the sides of pairs were independent.

        These are free residuals around equal scores. Of the order effect: mode and deviation.
        """
        log = self.log
        at = np.polynomial.hermite.hermgauss(POINTS[FREE])
        rule = (at[0], np.log(at[1]) + at[0] ** 2)
        scores = self._scores  # those of the size before are near
        gradient = np.zeros(log.n_arms + 1)
        bent = np.zeros((log.n_arms + 1, log.n_arms + 1))
        spread = float(np.sqrt(2.0) * np.exp(size))
        value = 0.0
        information = ORDER**-2.0
        for _ in range(ORDER_STEPS):
            value = of_scores(
                FREE, log.first, log.second, log.n, log.won, scores, spread, self._modes,
                *rule, gradient, bent,
            )  # fmt: skip
            # What is integrated out may bend the density the wrong way: that of the prior is left.
            information = max(bent[-1, -1], 0.0) + ORDER**-2.0
            step = (gradient[-1] - scores[-1] * ORDER**-2.0) / information
            if abs(step) < CLOSE:
                break
            scores[-1] += np.clip(step, -ORDER, ORDER)
        mode = float(scores[-1])
        deviation = float(information**-0.5)
        value += np.log(deviation / ORDER) - 0.5 * (mode / ORDER) ** 2
        return float(value), mode, deviation

    def _densities(self, orders: np.ndarray) -> np.ndarray:
        """Return the log density of each order at each node, (particles, nodes)."""
        places = np.argsort(orders, axis=1)
        leads = places[:, self.log.first] < places[:, self.log.second]
        return np.where(leads, 1.0, -1.0) @ self._half.T + self._middle

    def _moved(
        self, orders: np.ndarray, nodes: np.ndarray, power: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return orders and nodes after a Gibbs step of each arm and of the node, and densities."""
        moved = orders.copy()
        place_arms(moved, nodes, self._toward, power, self._rng.random(orders.shape))
        densities = self._densities(moved)
        logs = power * densities
        sums = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        level = self._rng.random((len(logs), 1)) * sums[:, -1:]
        return moved, (sums < level).sum(axis=1), densities


@compiled
def place_arms(
    orders: np.ndarray, nodes: np.ndarray, toward: np.ndarray, power: float, uniform: np.ndarray
) -> None:
    """Draw the place of each arm of each order anew, given the others; `orders` is changed."""
    n_arms = orders.shape[1]
    weights = np.empty(n_arms)
    for particle in range(len(orders)):
        order = orders[particle]
        for arm in range(n_arms):
            gains = toward[nodes[particle], arm]
            place = 0
            while order[place] != arm:
                place += 1
            order[place:-1] = order[place + 1 :].copy()
            log = 0.0
            highest = 0.0
            weights[0] = 0.0
            for k in range(n_arms - 1):
                log -= power * gains[order[k]]  # one more arm leads this one
                weights[k + 1] = log
                highest = max(highest, log)
            total = 0.0
            for k in range(n_arms):
                weights[k] = np.exp(weights[k] - highest)
                total += weights[k]
            left = uniform[particle, arm] * total
            place = 0
            while place < n_arms - 1 and left > weights[place]:
                left -= weights[place]
                place += 1
            order[place + 1 :] = order[place:-1].copy()
            order[place] = arm


def _step(logs: np.ndarray, most: float) -> float:
    """Return the step of the power by which the particles keep `KEPT` of their size, or `most`."""

    def kept(step: float) -> float:
        weights = np.exp(step * (logs - logs.max()))
        return float(weights.sum() ** 2 / (weights**2).sum()) / len(logs) - KEPT

    return most if kept(most) >= 0 else float(brentq(kept, 0.0, most))
