"""Ladders: arms on a line, the chance to win a function of the distance between them.

``Pr(i beats j) = lapse / 2 + (1 - lapse) F(s_i - s_j + order)``, F logistic (Bradley-Terry) or
normal (Thurstone), ``s ~ N(0, scale^2)``. The lapse lets the best lose to the worst now and
then: with a large scale it is a steep hierarchy in which every pair is decided alike. Scale
and lapse are found by their marginal likelihood on a grid (Laplace), the scores and the order
effect by Fisher scoring.
"""

import math
from dataclasses import dataclass

import numpy as np

from bayesduel.criticism.transitivity.design import Meetings
from bayesduel.jit import compiled

__all__ = ["LOGISTIC", "NORMAL", "Ladder", "climb"]

LOGISTIC, NORMAL = 0, 1
LAPSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
MANY_ARMS = 200  # above, every third lapse is tried: each takes the inverse of a K x K matrix
LOG_SCALES = np.linspace(-2.5, 2.5, 11)
LOG_SCALE_SD = 2.0  # of the normal prior of the log scale, on the scale of logits
NEGLIGIBLE = 6.0  # lapses this far below the best, in log marginal likelihood, are left out


@dataclass(frozen=True, eq=False, kw_only=True)
class Rung:
    """The ladder at one lapse and the scale that suits it best.

    Attributes
    ----------
    lapse, scale
        Of the ladder.
    evidence
        Log marginal likelihood, up to a constant.
    mode
        Scores and, last, the order effect, shape (K + 1,).
    root
        Cholesky root of their precision.
    """

    lapse: float
    scale: float
    evidence: float
    mode: np.ndarray
    root: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Ladder:
    """A fitted family: the lapses that the log leaves open, likeliest first."""

    link: int
    rungs: tuple[Rung, ...]

    @property
    def evidence(self) -> float:
        """Log marginal likelihood at the best lapse and scale."""
        return self.rungs[0].evidence

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws of scores and order effect, (n, K + 1), and of the lapse, (n,)."""
        weight = np.exp([r.evidence - self.evidence for r in self.rungs])
        picked = rng.choice(len(self.rungs), n, p=weight / weight.sum())
        out = np.empty((n, len(self.rungs[0].mode)))
        for k, rung in enumerate(self.rungs):
            rows = picked == k
            noise = rng.standard_normal((out.shape[1], int(rows.sum())))
            out[rows] = (rung.mode[:, None] + np.linalg.solve(rung.root.T, noise)).T
        return out, np.array([r.lapse for r in self.rungs])[picked]

    def chance(self, distance: np.ndarray, lapse: np.ndarray | float) -> np.ndarray:
        """Return the win probability at a distance."""
        from scipy.special import expit, ndtr

        straight = expit(distance) if self.link == LOGISTIC else ndtr(distance)
        return lapse / 2 + (1 - np.asarray(lapse)) * straight


def climb(met: Meetings, link: int) -> Ladder:
    """Fit the ladders of one link to a log."""
    first, second = met.first[met.pair], met.second[met.pair]
    start = np.zeros(met.n_arms + 1)
    place = len(LOG_SCALES) // 2
    shift = 0.0 if link == LOGISTIC else math.log(0.6)  # a normal ladder is that much shorter
    rungs = []
    for lapse in LAPSES if met.n_arms <= MANY_ARMS else LAPSES[::3]:
        seen: dict[int, Rung] = {}

        def at(k: int, lapse: float = lapse, seen: dict[int, Rung] = seen) -> float:
            nonlocal start
            if not 0 <= k < len(LOG_SCALES):
                return -np.inf
            if k not in seen:
                scale = math.exp(LOG_SCALES[k] + shift)
                mode, root, evidence = _fit(
                    met.n_arms, first, second, met.side, met.n, met.won,
                    link, lapse, scale, met.has_order, start,
                )  # fmt: skip
                evidence -= (LOG_SCALES[k] / LOG_SCALE_SD) ** 2 / 2
                seen[k] = Rung(lapse=lapse, scale=scale, evidence=evidence, mode=mode, root=root)
                start = mode
            return seen[k].evidence

        while True:
            better = max((place - 1, place, place + 1), key=at)
            if better == place:
                break
            place = better
        rungs.append(seen[place])
    rungs.sort(key=lambda r: -r.evidence)
    return Ladder(
        link=link,
        rungs=tuple(r for r in rungs if r.evidence > rungs[0].evidence - NEGLIGIBLE),
    )


# -- in calling order ----------------------------------------------------------------------


@compiled
def _fit(n_arms, first, second, side, n, won, link, lapse, scale, has_order, start):
    """Return the mode, the Cholesky root of its precision, and the log marginal likelihood."""
    size = n_arms + 1
    prior = np.full(size, 1.0 / scale**2)
    prior[n_arms] = 1.0 if has_order else 1e8
    mode = start.copy()
    value = _objective(mode, first, second, side, n, won, link, lapse, prior)
    precision = np.empty((size, size))
    for _ in range(50):
        precision[:] = 0.0
        slope = -prior * mode
        for e in range(len(n)):
            i, j, s = first[e], second[e], side[e]
            p, steep = _chance(mode[i] - mode[j] + s * mode[n_arms], link, lapse)
            information = n[e] * steep * steep / (p * (1 - p))
            pull = (won[e] - n[e] * p) * steep / (p * (1 - p))
            slope[i] += pull
            slope[j] -= pull
            slope[n_arms] += s * pull
            precision[i, i] += information
            precision[j, j] += information
            precision[i, j] -= information
            precision[j, i] -= information
            precision[i, n_arms] += s * information
            precision[j, n_arms] -= s * information
            precision[n_arms, n_arms] += s * s * information
        for k in range(size):
            precision[n_arms, k] = precision[k, n_arms]
            precision[k, k] += prior[k]
        step = np.linalg.solve(precision, slope)
        length = 1.0
        while True:
            moved = mode + length * step
            reached = _objective(moved, first, second, side, n, won, link, lapse, prior)
            if reached >= value or length < 1e-3:
                break
            length /= 2
        gained = reached - value
        if gained > 0:
            mode, value = moved, reached
        if gained < 1e-3:
            break
    root = np.linalg.cholesky(precision)
    evidence = value + 0.5 * n_arms * np.log(prior[0]) - np.log(np.diag(root)).sum()
    return mode, root, evidence


@compiled
def _objective(mode, first, second, side, n, won, link, lapse, prior):
    total = -0.5 * (prior * mode * mode).sum()
    for e in range(len(n)):
        distance = mode[first[e]] - mode[second[e]] + side[e] * mode[-1]
        p, _ = _chance(distance, link, lapse)
        total += won[e] * math.log(p) + (n[e] - won[e]) * math.log(1 - p)
    return total


@compiled
def _chance(x, link, lapse):
    """Return the win probability at a distance, kept within 1e-9 of 0 and 1, and its slope."""
    if link == LOGISTIC:
        p = 1.0 / (1.0 + math.exp(-max(min(x, 500.0), -500.0)))
        steep = p * (1 - p)
    else:
        p = 0.5 * math.erfc(-x / math.sqrt(2.0))
        steep = math.exp(-min(x * x, 1000.0) / 2) / math.sqrt(2.0 * math.pi)
    p = lapse / 2 + (1 - lapse) * p
    return min(max(p, 1e-9), 1 - 1e-9), (1 - lapse) * steep
