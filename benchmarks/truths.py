"""Worlds to draw logs from: transitive ones of many kinds, and ones with cycles."""

import numpy as np
from scipy.special import expit, logit, ndtr

__all__ = ["UNSEEN", "truth_matrix", "unseen_matrix"]

UNSEEN = {  # worlds that no model of a pair was built for, and how transitive they are
    "threshold": "strongly",  # 51 % within a difference of scores, 85 % beyond it (semiorder)
    "heavy tails": "strongly",  # Bradley-Terry, scores Student t with 1.5 degrees of freedom
    "leaders": "strongly",  # the better arm's rank alone decides by how much it wins
    "interval order": "moderately",  # arms are ranges of scores: 51 % where they overlap, else 85 %
    "wandering vector": "moderately",  # two attributes, weights drawn anew in each duel
    "least of nearer": "moderately",  # margins between the least and the greatest of nearer ones
    "preference tree": "moderately",  # a third of the arms a branch, weights of branch and arm
    "uneven": "weakly",  # an order; margins along it gamma, pair by pair
    "even or sure": "weakly",  # an order; each pair won at 52 % or at 95 %
    "cycles 75": "not",  # Bradley-Terry plus a circle
    "three-arm cycles": "not",  # Bradley-Terry, a third of the arms in cycles of three at 80 %
}


def truth_matrix(truth: str, n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return P of a world of one kind, shape (K, K), its arms in random order."""
    scores = np.sort(rng.normal(size=n_arms))[::-1]
    apart = scores[:, None] - scores
    place = np.arange(n_arms)
    better = np.sign(place - place[:, None])
    kind, _, number = truth.partition(" ")
    if kind == "thurstone":
        P = ndtr(apart)
    elif kind == "hierarchy":
        P = 0.5 + (float(number) / 100 - 0.5) * better
    elif kind == "monotone":
        step = np.triu(rng.gamma(0.1, 5 / n_arms, (n_arms, n_arms)), 1)
        for width in range(1, n_arms):  # each pair at least what its inner pairs are, and a step
            i = np.arange(n_arms - width)
            inner = np.maximum(step[i, i + width - 1], step[i + 1, i + width])
            step[i, i + width] += inner * (width > 1)
        P = expit(step - step.T)
    elif kind == "weak":
        step = np.triu(rng.gamma(0.5, 1.0, (n_arms, n_arms)), 1)
        P = expit(step - step.T)
    elif kind == "cycles":
        turn = rng.uniform(0, 2 * np.pi, n_arms)
        pull = logit(float(number) / 100)
        P = expit(apart + pull * np.sin(turn[:, None] - turn))
    else:
        P = expit(apart)
    shuffled = rng.permutation(n_arms)
    return P[np.ix_(shuffled, shuffled)]


def unseen_matrix(world: str, n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return P of a world of `UNSEEN`, shape (K, K), its arms in random order."""
    scores = np.sort(rng.normal(size=n_arms))[::-1]
    apart = scores[:, None] - scores
    P = np.full((n_arms, n_arms), 0.5)
    if world == "threshold":
        P += np.sign(apart) * np.where(np.abs(apart) > 0.5, 0.35, 0.01)
    elif world == "heavy tails":
        scores = rng.standard_t(1.5, n_arms)
        P = expit(scores[:, None] - scores)
    elif world == "leaders":
        lead = 0.45 * (1 - np.arange(n_arms) / n_arms) ** 2
        P += np.triu(np.broadcast_to(lead[:, None], P.shape), 1)
        P -= np.tril(np.broadcast_to(lead, P.shape), -1)
    elif world == "interval order":
        half = rng.gamma(1.0, 0.5, n_arms)
        P += np.sign(apart) * np.where(np.abs(apart) > half[:, None] + half, 0.35, 0.01)
    elif world == "wandering vector":
        place = rng.normal(size=(n_arms, 2))
        gap = place[:, None] - place
        P = ndtr(gap @ np.array([1.0, 0.3]) / (np.linalg.norm(gap, axis=2) + np.eye(n_arms)))
    elif world == "least of nearer":
        margin = np.zeros((n_arms, n_arms))
        for width in range(1, n_arms):
            for i in range(n_arms - width):
                j = i + width
                nearer = np.array([margin[i, i + 1 : j], margin[i + 1 : j, j]])
                low, high = nearer.min(0).max(initial=0.0), nearer.max(initial=0.0)
                margin[i, j] = rng.gamma(0.5, 1.0) if width == 1 else rng.uniform(low, high)
        P = expit(margin - margin.T)
    elif world == "preference tree":  # Tversky & Sattath, Psychological Review 1979
        own, branch = rng.gamma(1.0, 1.0, n_arms), rng.integers(0, 3, n_arms)
        whole = own + rng.gamma(2.0, 1.0, 3)[branch]
        value = np.where(branch[:, None] == branch, own[:, None], whole[:, None])
        P = value / (value + value.T)
    elif world == "even or sure":
        sure = np.triu(rng.choice([0.02, 0.45], P.shape), 1)
        P = P + sure - sure.T
    elif world == "three-arm cycles":
        P = expit(apart)
        arms = rng.permutation(n_arms)[: max(3, n_arms // 9 * 3)]
        for a, b, c in arms.reshape(-1, 3):
            P[[a, b, c], [b, c, a]], P[[b, c, a], [a, b, c]] = 0.8, 0.2
    else:
        return truth_matrix({"uneven": "weak only"}.get(world, world), n_arms, rng)
    shuffled = rng.permutation(n_arms)
    return P[np.ix_(shuffled, shuffled)]
