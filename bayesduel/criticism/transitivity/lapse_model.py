"""Bradley-Terry and Thurstone models with a lapse rate.

``Pr(i beats j) = lapse / 2 + (1 - lapse) F(s_i - s_j + order)``, F logistic (Bradley-Terry) or
normal (Thurstone), ``s ~ N(0, scale^2)``. The lapse rate is the probability of an outcome at
random. With a lapse and a large scale all pairs have the same win probability: a steep
hierarchy. Scale and lapse maximise the marginal likelihood (Laplace) on a grid, times a
Normal(0, 2) density of the log scale in logits; the scores and the order effect are found by Fisher
scoring.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.inference.conditional_mode import cholesky, solved

__all__ = ["LOGISTIC", "NORMAL", "LapseFit", "LapseModel", "fit_lapse_model"]

LOGISTIC, NORMAL = 0, 1
LAPSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
MANY_ARMS = 200  # above, every third lapse is tried: each takes the inverse of a K x K matrix
LOG_SCALES = np.linspace(-2.5, 2.5, 11)
LOG_SCALE_SD = 2.0  # of the normal prior of the log scale, on the scale of logits
NEGLIGIBLE = 6.0  # lapses this far below the best, in log marginal likelihood, are left out


@dataclass(frozen=True, eq=False, kw_only=True)
class LapseFit:
    """The model at one lapse rate and the scale of the largest marginal likelihood."""

    lapse: float  # lapse rate, and prior standard deviation of the scores
    scale: float
    evidence: float  # log marginal likelihood, up to a constant
    mode: np.ndarray  # scores and, last, the order effect, shape (K + 1,)
    root: np.ndarray  # Cholesky root of their precision


@dataclass(frozen=True, eq=False, kw_only=True)
class LapseModel:
    """A fitted model of one link: the plausible lapse rates, the most likely first."""

    link: int
    fits: tuple[LapseFit, ...]

    @property
    def evidence(self) -> float:
        """Log marginal likelihood at the best lapse and scale."""
        return self.fits[0].evidence

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws of scores and order effect, (n, K + 1), and of the lapse, (n,)."""
        weight = np.exp([r.evidence - self.evidence for r in self.fits])
        picked = rng.choice(len(self.fits), n, p=weight / weight.sum())
        out = np.empty((n, len(self.fits[0].mode)))
        for k, fit in enumerate(self.fits):
            rows = picked == k
            noise = rng.standard_normal((out.shape[1], int(rows.sum())))
            out[rows] = (fit.mode[:, None] + np.linalg.solve(fit.root.T, noise)).T
        return out, np.array([r.lapse for r in self.fits])[picked]

    def chance(self, distance: np.ndarray, lapse: np.ndarray | float) -> np.ndarray:
        """Return the win probability at a distance."""
        return self.lapsed(expit(distance) if self.link == LOGISTIC else ndtr(distance), lapse)

    def lapsed(self, straight: np.ndarray, lapse: np.ndarray | float) -> np.ndarray:
        """Return the win probability, in place of one without lapses."""
        straight *= 1 - np.asarray(lapse)
        straight += np.asarray(lapse) / 2
        return straight


def fit_lapse_model(design: DecidedDuels, link: int) -> LapseModel:
    """Fit the model of one link to the outcomes of a design."""
    start = np.zeros(design.n_arms + 1)
    place = len(LOG_SCALES) // 2
    shift = 0.0 if link == LOGISTIC else math.log(0.6)  # probits are that much smaller than logits
    fits = []
    for lapse in LAPSES if design.n_arms <= MANY_ARMS else LAPSES[::3]:
        seen: dict[int, LapseFit] = {}

        def at(k: int, lapse: float = lapse, seen: dict[int, LapseFit] = seen) -> float:
            nonlocal start
            if not 0 <= k < len(LOG_SCALES):
                return -np.inf
            if k not in seen:
                scale = math.exp(LOG_SCALES[k] + shift)
                mode, root, evidence = _fit(design, link, lapse, scale, start)
                evidence -= (LOG_SCALES[k] / LOG_SCALE_SD) ** 2 / 2
                seen[k] = LapseFit(
                    lapse=lapse, scale=scale, evidence=evidence, mode=mode, root=root
                )
                start = mode
            return seen[k].evidence

        while True:
            better = max((place - 1, place, place + 1), key=at)
            if better == place:
                break
            place = better
        fits.append(seen[place])
    fits.sort(key=lambda r: -r.evidence)
    return LapseModel(
        link=link, fits=tuple(r for r in fits if r.evidence > fits[0].evidence - NEGLIGIBLE)
    )


def _fit(
    design: DecidedDuels, link: int, lapse: float, scale: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the mode, the Cholesky root of its precision, and the log marginal likelihood."""
    first, second, side = design.first[design.pair], design.second[design.pair], design.side
    n_arms, size, lost = design.n_arms, design.n_arms + 1, design.n - design.won
    prior = np.full(size, 1.0 / scale**2)
    prior[n_arms] = 1.0 if design.has_order else 1e8
    place = first * size + second

    def by_pair(cells: np.ndarray) -> np.ndarray:
        return np.bincount(place, cells, size * size).reshape(size, size)

    def by_arm(cells: np.ndarray) -> np.ndarray:
        """Return sums of cells, + for the first arm, - for the second; last the order's."""
        met = by_pair(cells)
        found = met.sum(axis=1) - met.sum(axis=0)
        found[n_arms] = side @ cells
        return found

    def chances(mode: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _chance(mode.take(first) - mode.take(second) + side * mode[n_arms], link, lapse)

    def objective(mode: np.ndarray, p: np.ndarray) -> float:
        log = np.log(p)
        gained = design.won @ log
        return float(gained + lost @ np.log(1 - p, out=log) - prior @ mode**2 / 2)

    mode = start
    p, steep = chances(mode)
    value = objective(mode, p)
    for _ in range(50):
        relative = steep / (p * (1 - p))
        pull, information = (design.won - design.n * p) * relative, design.n * steep * relative
        slope, precision, met = by_arm(pull), np.diag(prior), by_pair(information)
        slope -= prior * mode
        precision -= met + met.T
        precision[np.arange(size), np.arange(size)] += met.sum(axis=0) + met.sum(axis=1)
        of_order = by_arm(side * information)
        precision[n_arms] += of_order
        precision[:n_arms, n_arms] += of_order[:n_arms]
        root = cholesky(precision)
        step = solved(root, slope)
        length = 1.0
        while True:
            moved = mode + length * step
            ahead = chances(moved)
            reached = objective(moved, ahead[0])
            if reached >= value or length < 1e-3:
                break
            length /= 2
        gained = reached - value
        if gained > 0:
            mode, value, (p, steep) = moved, reached, ahead
        if gained < 1e-3:
            break
    evidence = value + 0.5 * n_arms * np.log(prior[0]) - np.log(np.diag(root)).sum()
    return mode, root, float(evidence)


def _chance(x: np.ndarray, link: int, lapse: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the win probability at distances, kept within 1e-9 of 0 and 1, and its slope."""
    if link == LOGISTIC:
        p = expit(x, out=x)
        steep = p - p * p
    else:
        steep = np.minimum(x * x, 1000.0)
        steep *= -0.5
        np.exp(steep, out=steep)
        steep /= math.sqrt(2.0 * math.pi)
        p = ndtr(x, out=x)
    p *= 1 - lapse
    p += lapse / 2
    steep *= 1 - lapse
    return np.clip(p, 1e-9, 1 - 1e-9, out=p), steep
