"""How much of a log is in no ranking, whether one arm beats all, whether a cycle is large.

Five models of a pair (:mod:`bayesduel.criticism.ranking.pair_models`) are averaged by their
evidence. From draws of the log odds of all pairs, met or not, follow the cyclic share, the
Condorcet winner, the top cycle and material cycles.

References
----------
Jiang, Lim, Yao & Ye, "Statistical ranking and combinatorial Hodge theory", Mathematical Programming
2011 (the part of a flow that scores explain; here of log odds on the complete graph).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bayesduel.criticism.ranking.evidence import PairModel, log_of
from bayesduel.criticism.ranking.pair_models import FREE, ONE_SCORE, UNEVEN
from bayesduel.criticism.ranking.rank_model import RankModel, Sides
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.intervals import TAILS95
from bayesduel.jit import compiled
from bayesduel.system.options import Decision

__all__ = ["PRIOR", "SURE", "CyclicShare", "RankingPosterior", "ranking_posterior"]

# Before the log is seen, margins hang on the distance in the order with probability 3/4. Whether
# they do or not, one ranking is as probable as none: each kind of margins has models without and
# with cycles. If only a ranking could have unrelated margins, these alone would speak for it.
PRIOR = {
    "one score": 0.1875,
    "uneven ranking": 0.1875,
    "ranks alone": 0.125,
    "ranks with exceptions": 0.125,
    "free residuals": 0.375,
}
OF_RANKS = ("ranks alone", "ranks with exceptions")
ONE_RANKING = ("one score", "uneven ranking", "ranks alone")
SURE = Decision.confidence  # posterior probability of what is taken as known


@dataclass(frozen=True, kw_only=True)
class CyclicShare:
    """The part of the squared log odds of all pairs that no scores explain.

    Attributes
    ----------
    mean, lower, upper
        Posterior mean, and the ends of the 95 % interval.
    """

    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RankingPosterior:
    """How far a log supports one ranking.

    Attributes
    ----------
    cyclic_share
        The part of the squared log odds of all pairs that no scores explain. That of a ranking
        whose margins differ from pair to pair is above 0, too.
    model_weights
        Probability of each model: "one score" an arm; "uneven ranking", whose margins differ from
        pair to pair in size and never in sign; "ranks alone", an order that decides who wins and
        not by how much. With "ranks with exceptions", where pairs may go against the order, and
        "free residuals" cycles are possible.
    p_condorcet_winner
        Probability that one arm beats every other.
    p_material_cycle
        Probability of a cycle whose every step is won with probability `material` or more.
    material
        That probability of a step.
    p_in_top_cycle
        Probability of each arm to be in the top cycle: the smallest set of arms that beats
        all others. It has one arm where that arm beats every other.
    odds
        Posterior mean of the log odds of all pairs, shape (K, K), arms as in `p_in_top_cycle`.
    p_better
        Probability of each pair that the arm of the row beats that of the column, (K, K).
    ahead
        Whether the first arm of each pair that met beats the second, by draw, (draws, pairs).
    n_draws
        Posterior draws.
    models
        The five models, fitted.
    """

    cyclic_share: CyclicShare
    model_weights: dict[str, float]
    p_condorcet_winner: float
    p_material_cycle: float
    material: float
    p_in_top_cycle: dict[str, float]
    odds: np.ndarray
    p_better: np.ndarray
    ahead: np.ndarray
    n_draws: int
    models: dict[str, PairModel | RankModel]

    @property
    def p_one_ranking(self) -> float:
        """Probability of one ranking: of the models in which no cycle is possible."""
        return sum(self.model_weights[name] for name in ONE_RANKING)

    @property
    def transitive(self) -> bool | None:
        """True where a ranking holds up to cycles that do not matter, False where it does not.

        True: one ranking, or no material cycle, with probability 0.95 or more. False: a material
        cycle with probability 0.95 or more. None where the log cannot tell.
        """
        if max(self.p_one_ranking, 1 - self.p_material_cycle) >= SURE:
            return True
        if self.p_material_cycle >= SURE:
            return False
        return None

    def chances(self, rng: np.random.Generator) -> np.ndarray:
        """Return `n_draws` new draws of the win probabilities of all pairs, (draws, pairs).

        On neutral ground, in the order of ``np.triu_indices(K, 1)``.
        """
        weights = list(self.model_weights.values())
        drawn = _drawn(self.models, weights, self.n_draws, rng)
        pairs = np.triu_indices(len(self.odds), 1)
        return np.stack([expit(odds[pairs]) for odds in drawn])

    @property
    def top_cycle(self) -> tuple[str, ...]:
        """The arms that are in the top cycle with probability one half or more."""
        chances = self.p_in_top_cycle
        return tuple(arm for arm in chances if chances[arm] >= 0.5)


def ranking_posterior(
    design: DecidedDuels,
    arms: tuple[str, ...],
    rng: np.random.Generator,
    material: float = Decision.material,
) -> RankingPosterior:
    """Return what the decided duels of a log say of one ranking.

    material: win probability of every step of a cycle that matters, in (0.5, 1).
    """
    log = log_of(design)
    sides = Sides(log)
    models: dict[str, PairModel | RankModel] = {
        "one score": PairModel(log, ONE_SCORE),
        "uneven ranking": PairModel(log, UNEVEN),
        "ranks alone": RankModel(sides, False, rng),
        "ranks with exceptions": RankModel(sides, True, rng),
        "free residuals": PairModel(log, FREE),
    }
    weights = _weights(models, sides.most)
    n_arms = len(arms)
    # 200 to 1,000 draws: Monte Carlo errors of a probability of 0.035 and 0.016
    # 1,000,000 draws times arms times arms, about: 500 draws of 45 arms take a second
    n_draws = int(np.clip(1_000_000 // n_arms**2, 200, 1000))
    least = float(np.log(material) - np.log1p(-material))
    share = np.empty(n_draws)
    cyclic = np.empty(n_draws, dtype=bool)
    in_top = np.zeros((n_draws, n_arms))
    total = np.zeros((n_arms, n_arms))
    better = np.zeros_like(total)
    ahead = np.empty((n_draws, len(log.first)), dtype=bool)
    met = log.first, log.second
    for row, odds in enumerate(_drawn(models, weights, n_draws, rng)):
        total += odds
        better += odds > 0
        ahead[row] = odds[met] > 0
        in_top[row] = top_cycle_of(odds)
        share[row] = cyclic_share_of(odds)
        cyclic[row] = has_cycle(odds, least)
    condorcet = in_top.sum(axis=1) == 1
    low, high = map(float, np.quantile(share, TAILS95))
    return RankingPosterior(
        cyclic_share=CyclicShare(mean=float(share.mean()), lower=low, upper=high),
        model_weights=dict(zip(models, map(float, weights), strict=True)),
        p_condorcet_winner=float(condorcet.mean()),
        p_material_cycle=float(cyclic.mean()),
        material=material,
        p_in_top_cycle=dict(zip(arms, map(float, in_top.mean(0)), strict=True)),
        odds=total / n_draws,
        p_better=better / n_draws,
        ahead=ahead,
        n_draws=n_draws,
        models=models,
    )


def _weights(models: dict[str, PairModel | RankModel], most: float) -> np.ndarray:
    """Return the probability of each model; that of ranks by `most`, where it is negligible."""
    prior = {name: np.log(share) for name, share in PRIOR.items()}
    logs = {}
    for name, model in models.items():
        if name not in OF_RANKS:
            logs[name] = model.log_evidence + prior[name]
    # 20 nats of evidence below another model, at which a model has no weight
    least = max(logs.values()) - 20.0
    for name in OF_RANKS:
        evidence = most if most < least else models[name].log_evidence
        logs[name] = evidence + prior[name]
    found = np.array([logs[name] for name in models])
    total = np.logaddexp.reduce(found)
    return np.exp(found - total)


def _drawn(
    models: dict[str, PairModel | RankModel],
    weights: Any,
    n_draws: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Yield draws of the log odds of all pairs, (K, K), of each model as its weight says."""
    counts = rng.multinomial(n_draws, weights)
    for model, count in zip(models.values(), counts, strict=True):
        if count:
            drawn = model.draw(int(count), rng)
            yield from (drawn.odds(k, rng) for k in range(count))


def cyclic_share_of(odds: np.ndarray) -> float:
    """Return the part of the squares of log odds, shape (K, K), that no scores explain."""
    score = odds.mean(axis=1)
    by_scores = score[:, None] - score
    rest = odds - by_scores
    total = float((odds**2).sum())
    if total == 0:
        return 0.0
    share = float((rest**2).sum()) / total
    # Rounding of the share, under scores alone: 1e-12
    return share if share > 1e-12 else 0.0


@compiled
def top_cycle_of(odds: np.ndarray) -> np.ndarray:
    """Return which arms are in the smallest set that beats all others, shape (K,)."""
    n_arms = len(odds)
    order = np.argsort(-(odds > 0.0).sum(axis=1))
    size = 1
    place = 0
    while place < size:
        arm = order[place]
        for other in range(n_arms - 1, size - 1, -1):
            if odds[arm, order[other]] <= 0.0:
                size = other + 1
                break
        place += 1
    inside = np.zeros(n_arms)
    inside[order[:size]] = 1.0
    return inside


@compiled
def has_cycle(odds: np.ndarray, least: float) -> bool:
    """Return whether some cycle has log odds of `least` or more at every step.

    Arms that nobody left beats by so much are taken away, one after another (Kahn 1962).
    """
    n_arms = len(odds)
    beaten = (odds >= least).sum(axis=0)
    free = [arm for arm in range(n_arms) if beaten[arm] == 0]
    taken = 0
    while len(free) > 0:
        arm = free.pop()
        taken += 1
        for other in range(n_arms):
            if odds[arm, other] >= least:
                beaten[other] -= 1
                if beaten[other] == 0:
                    free.append(other)
    return taken < n_arms
