"""Posterior of one model of pairs: scores by Laplace's approximation at nodes of two sizes.

The sizes are the typical log odds of a pair, and the part of it that scores do not explain. At
each node the scores and the side advantage have a normal approximation at their mode; the pairs'
own numbers are integrated out exactly (:mod:`bayesduel.criticism.ranking.pair_models`). The
nodes are equal steps of both. Of uneven rankings several orders may fit a small log; the evidence
is that about one of them, and up to half a nat too small for four arms.

References
----------
Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models", JRSS B 2009
(integration over nodes; deviation: the latent numbers of pairs are not in the Gaussian part).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, solve_triangular

from bayesduel.criticism.ranking.pair_models import (
    FREE,
    ONE_SCORE,
    UNEVEN,
    draw_odds,
    of_scores,
)
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.models.response import Bernoulli
from bayesduel.models.scale_prior import Scale

__all__ = ["Draws", "Log", "PairModel", "log_of"]

ORDER = 1.0  # prior standard deviation of the side advantage, as in SideAdvantage
SIZE = Scale("half-normal", Bernoulli().score_scale)  # as of the scores of Bradley-Terry
# Nats: twice what the last step of a search adds, which is taken without a look at the density
# there. Evidences of five logs of 6 to 345 arms are right to 0.012 nats by it.
CLOSE = 1e-3
# Between nodes of the second size, of its logarithm or logit: at first, then halved until the
# density drops by less than a nat, which is 1.4 deviations of a normal density.
STEP = 0.5
LEAST_STEP = STEP / 64  # 5,000 pairs need a sixteenth
# Between nodes of the logarithm of the first size, in units of its least standard deviation: that
# of the spread of K normal numbers. Equal steps of 1.4 deviations integrate a normal density to
# 1e-4.
SPACING = 1.4
NEGLIGIBLE = 7.0  # nats below the best node, where nodes end: 0.1 % of its weight
# Logit of the free part (and logarithm of unevenness) beyond which no node is: a share of 5e-5.
FARTHEST = 10.0
START = {UNEVEN: -1.0, FREE: -2.0}  # second size where the walk starts


class Log(NamedTuple):
    """Decided duels by pair: arms, duels and those won by the first arm, (pairs, 3) by side."""

    n_arms: int
    first: np.ndarray
    second: np.ndarray
    n: np.ndarray
    won: np.ndarray

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The arms of each pair that met, and its duels."""
        return self[1:]


@dataclass(eq=False)
class Node:
    """A normal approximation of scores and side advantage, given the two sizes."""

    mode: np.ndarray  # (K + 1,)
    precision: np.ndarray  # of the prior, (K + 1,)
    size: float  # logarithm of the first size
    spread: float
    log_weight: float


@dataclass(eq=False)
class Row:
    """Nodes along the first size, at one value of the second."""

    second: float
    nodes: list[Node]

    @property
    def best(self) -> Node:
        """The node of most weight."""
        return max(self.nodes, key=lambda node: node.log_weight)


def log_of(design: DecidedDuels) -> Log:
    """Return the duels of a design by pair."""
    n = np.zeros((len(design.first), 3))
    won = np.zeros_like(n)
    listed = [design.side > 0, design.side < 0]
    side = np.select(listed, [0, 1], 2)
    cell = design.pair, side
    np.add.at(n, cell, design.n)
    np.add.at(won, cell, design.won)
    return Log(design.n_arms, design.first, design.second, n, won)


class PairModel:
    """The posterior of a model with scores.

    kind: `ONE_SCORE`, `UNEVEN` or `FREE`.
    """

    def __init__(self, log: Log, kind: int) -> None:
        self.log = log
        self.kind = kind
        size = log.n_arms + 1
        self._modes = np.zeros(len(log.first))
        self._mode = np.zeros(size)
        self._gradient = np.zeros(size)
        self._information = np.zeros((size, size))

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that hold the posterior."""
        if self.kind == ONE_SCORE:
            return _faded(self._row(0.0, None).nodes)
        best = self._highest()
        step = self._step(best)
        rows = [best]
        for direction in (-step, step):
            row = best
            least = best.best.log_weight - NEGLIGIBLE
            while row.best.log_weight > least and abs(row.second) < FARTHEST:
                row = self._row(row.second + direction, row)
                rows.append(row)
        found = [node for row in rows for node in row.nodes]
        for node in found:
            node.log_weight += np.log(step)
        return _faded(found)

    def _highest(self) -> Row:
        """Return the row of most density at the best first size, of those `STEP` apart."""
        start = self._row(START[self.kind], None)
        size = start.best.size
        second = start.second
        most = self._node(size, second).log_weight
        for direction in (-STEP, STEP):
            following = second + direction
            while abs(following) <= FARTHEST:
                density = self._node(size, following).log_weight
                if density < most:
                    break
                most = density
                second = following
                following = second + direction
        return start if second == start.second else self._row(second, start)

    def _step(self, best: Row) -> float:
        """Return the step between rows: by it the density drops by less than a nat, at one side."""
        size = best.best.size
        self._mode = best.best.mode
        most = self._node(size, best.second).log_weight
        step = STEP
        while step > LEAST_STEP:
            below = self._node(size, best.second - step)
            above = self._node(size, best.second + step)
            if max(below.log_weight, above.log_weight) > most - 1.0:
                break
            step /= 2
        return step

    @cached_property
    def log_evidence(self) -> float:
        """Log probability of the duels under the model."""
        return float(np.logaddexp.reduce(self._log_weights))

    @property
    def _log_weights(self) -> np.ndarray:
        return np.array([node.log_weight for node in self.nodes])

    def draw(self, n: int, rng: np.random.Generator) -> "Draws":
        """Return `n` draws: scores and side advantage (n, K + 1), and the spread of pairs (n,)."""
        weights = np.exp(self._log_weights - self.log_evidence)
        chances = weights / weights.sum()
        which = rng.choice(len(chances), n, p=chances)
        drawn = np.empty((n, self.log.n_arms + 1))
        spread = np.empty(n)
        for k in np.unique(which):
            node = self.nodes[k]
            own = which == k
            self._value(node.mode, node.precision, node.spread)
            precision = self._information + np.diag(node.precision)
            factor, _ = _factor(precision)
            n_own = int(own.sum())
            standard = rng.standard_normal((len(node.mode), n_own))
            away = solve_triangular(factor, standard, lower=True, trans=1)
            drawn[own] = node.mode + away.T
            spread[own] = node.spread
        no_exceptions = np.zeros(n)
        return Draws(self.log, self.kind, drawn, spread, no_exceptions, self._modes)

    def _row(self, second: float, near: Row | None) -> Row:
        """Return the nodes along the first size at one value of the second.

        near: a row whose best node is where the walk starts, in both directions.
        """
        step = SPACING / np.sqrt(2 * self.log.n_arms)
        start = 0.0
        if near is not None:
            best = near.best
            start = best.size
            self._mode = best.mode
        nodes = [self._node(start, second)]
        for direction in (-step, step):
            here = nodes[0]
            next_to_start = min(1, len(nodes) - 1)
            behind = nodes[next_to_start]  # of the way back: the first node on its side
            size = start
            # Logarithm of the first size, beyond which no node is: 8
            while abs(size) < 8.0:
                size += direction
                self._mode = 2 * here.mode - behind.mode  # nearly a line, which saves Newton steps
                behind = here
                here = self._node(size, second)
                nodes.append(here)
                most = max(node.log_weight for node in nodes)
                if here.log_weight < most - NEGLIGIBLE:
                    break
        for node in nodes:
            node.log_weight += np.log(step)
        return Row(second, nodes)

    def _node(self, log_size: float, second: float) -> Node:
        """Return the normal approximation given both sizes; its weight is the log density."""
        scale, spread, prior = self._sizes(log_size, second)
        size = self.log.n_arms + 1
        precision = np.full(size, scale**-2.0)
        precision[-1] = ORDER**-2.0
        mode, value, factor = self._climbed(precision, spread)
        of_prior = 0.5 * np.log(precision).sum()
        of_posterior = np.log(np.diag(factor)).sum()
        volume = of_prior - of_posterior
        log_weight = prior + value + volume
        return Node(mode, precision, log_size, spread, log_weight)

    def _sizes(self, log_size: float, second: float) -> tuple[float, float, float]:
        """Return scale of the scores, spread of the pairs, and log prior density of both sizes.

        The mean square of a pair's log odds is twice the squared size, whatever the second size.
        """
        size = np.exp(log_size)
        prior = float(SIZE.log_density(np.asarray(log_size), 1.0))
        if self.kind == ONE_SCORE:
            return size, 0.0, prior
        if self.kind == UNEVEN:
            spread = float(np.exp(second))
            square = spread**2
            # Half-normal of scale 1: typical margins differ by a factor of e either way. `second`
            # is the logarithm of the spread.
            constant = 0.5 * np.log(2 / np.pi)
            prior += constant - 0.5 * square
            prior += second
            scale = size * float(np.exp(-square))
            return scale, spread, prior
        part = 1 / (1 + np.exp(-second))  # of the mean square: uniform
        prior += np.log(part) + np.log1p(-part)
        scale = size * np.sqrt(1 - part)
        spread = size * np.sqrt(2 * part)
        return scale, spread, prior

    def _climbed(
        self, precision: np.ndarray, spread: float
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """Return the mode, the log density there, and the factor of the precision.

        Newton's method. Where the density bends the wrong way, as that of uneven pairs may, the
        diagonal is made larger until it does not.
        """
        mode = self._mode.copy()
        value = self._value(mode, precision, spread)
        # 60 Newton steps at most; of the shipped logs the longest search took 21, the mean 2
        for _ in range(60):
            pull = self._gradient - precision * mode
            bent = self._information + np.diag(precision)
            factor, larger = _factor(bent)
            step = cho_solve((factor, True), pull)
            gain = float(pull @ step)
            if gain < CLOSE and larger == 0.0:
                value += gain / 2  # what the step would give
                mode = mode + step
                break
            if gain < CLOSE:
                step = _off_the_saddle(bent, precision)
            # 10 halvings of one step at most: it is then a thousandth of itself
            for size in 0.5 ** np.arange(10):
                new = self._value(mode + size * step, precision, spread)
                if new >= value:
                    break
            else:  # no step helps: the rule's own error is all that is left
                break
            mode = mode + size * step
            value = new
        self._mode = mode
        return mode, value, factor

    def _value(self, mode: np.ndarray, precision: np.ndarray, spread: float) -> float:
        log = self.log
        likelihood = of_scores(
            self.kind,
            *log.pairs,
            mode,
            spread,
            self._modes,
            self._gradient,
            self._information,
        )
        return float(likelihood - 0.5 * (precision * mode**2).sum())


class Draws(NamedTuple):
    """Draws of scores and side advantage of a model, from which log odds of all pairs follow."""

    log: Log
    kind: int
    coefficients: np.ndarray
    spread: np.ndarray
    exceptions: np.ndarray  # probability that a pair goes against the order, of ranks
    modes: np.ndarray  # of the pairs' own numbers: where their search starts

    def odds(self, k: int, rng: np.random.Generator) -> np.ndarray:
        """Return the log odds of draw `k`, of all pairs, shape (K, K)."""
        log = self.log
        uniform = rng.uniform(size=len(log.first))
        normal = rng.standard_normal((log.n_arms, log.n_arms))
        return draw_odds(
            self.kind,
            *log.pairs,
            self.coefficients[k],
            float(self.spread[k]),
            float(self.exceptions[k]),
            self.modes,
            uniform,
            normal,
        )


def _faded(nodes: list[Node]) -> list[Node]:
    """Return the nodes that count, less weight for those that hardly do.

    The weight falls to 0 at the border, so that nothing hangs on which side of it a node is.
    """
    least = max(node.log_weight for node in nodes) - NEGLIGIBLE
    kept = [node for node in nodes if node.log_weight > least]
    for node in kept:
        beyond = node.log_weight - least
        share = -np.expm1(-2.0 * beyond)
        node.log_weight += float(np.log(share))
    return kept


def _off_the_saddle(bent: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Return a step along the directions in which a density rises from a saddle, (K + 1,).

    A log that stays the same where its arms are turned has modes of one height around a saddle.
    Each arm is moved by more than the one before: so the same mode is found on every processor.
    """
    curvatures, directions = eigh(bent)  # of the lower triangle
    rising = directions[:, curvatures < 0.0]
    by_arm = np.linspace(0.0, 1.0, len(precision))
    moved = by_arm / np.sqrt(precision)
    return rising @ (rising.T @ moved)


def _factor(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the lower Cholesky factor of a matrix, and how much larger its diagonal was made.

    0 where the matrix has a factor as it is. Of both only the lower triangle counts.
    """
    larger = 0.0
    diagonal = np.abs(np.diag(matrix))
    while True:
        raised = matrix + np.diag(larger * diagonal)
        try:
            factor, _ = cho_factor(raised, lower=True)
        except LinAlgError:
            larger = max(2 * larger, 0.01)
        else:
            return factor, larger
