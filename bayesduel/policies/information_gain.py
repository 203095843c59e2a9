"""Information gain: the pair whose outcome says most about the goal.

The expected information of a duel is the mutual information between its outcome and the answer,
estimated on posterior draws. The answer is the winner; or for each arm whether it is among
the k best, summed over arms; or for neighbours in the ranking who is above, summed over neighbours.

References
----------
Lindley, "On a measure of the information provided by an experiment", Annals of Mathematical
Statistics 1956. Deviations: sums over arms or neighbours in place of the joint information of a
set or ranking. Beyond 30 arms the candidates are pairs of contenders and pairs of a
contender with an arm next to it in the ranking.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from bayesduel.beliefs.score_posterior import heaviest, win_probability
from bayesduel.jit import compiled
from bayesduel.policies.score_rules import (
    RANKING,
    WINNER,
    ScoreRule,
    best_pair,
    contenders,
    fresh_draws,
    members,
)

__all__ = ["InformationGain", "information", "labels_of"]

ALL_PAIRS = 30  # arms up to which every pair is a candidate
NEAR = 3  # places between neighbours that are candidates beyond


@compiled
def select(belief, memory, t, rng):
    """Return the pair of largest expected information about the goal."""
    scores = fresh_draws(belief, memory, rng)
    return best_pair(information(scores, memory), memory, rng)


@compiled
def information(scores, memory):
    """Return the expected information of a duel of each pair, in nats, shape (K, K)."""
    n, n_arms = scores.shape
    labels, sizes = labels_of(scores, memory)
    maybe = candidates(scores, memory)
    link = memory.posterior.link
    gain = np.zeros((n_arms, n_arms))
    p = np.empty(n)
    for i in range(n_arms):
        for j in range(i):
            if maybe[i, j] and memory.cost[i, j] < np.inf:
                for d in range(n):
                    p[d] = win_probability(link, scores[d, i] - scores[d, j])
                for c in range(len(labels)):
                    gain[i, j] += mutual_information(p, labels[c], sizes[c])
    return gain


@compiled
def labels_of(scores, memory):
    """Return what is asked, as a label of each draw, (questions, n_draws), and their numbers."""
    n, n_arms = scores.shape
    if memory.goal == WINNER:
        labels = np.empty((1, n), np.int64)
        for d in range(n):
            labels[0, d] = scores[d].argmax()
        return labels, np.full(1, n_arms)
    if memory.goal == RANKING:
        order = np.argsort(-heaviest(memory.posterior)[0])
        labels = np.empty((n_arms - 1, n), np.int64)
        for c in range(n_arms - 1):
            for d in range(n):
                labels[c, d] = scores[d, order[c]] > scores[d, order[c + 1]]
        return labels, np.full(n_arms - 1, 2)
    inside = members(scores, memory.k)
    arms = np.flatnonzero(contenders(scores, memory))
    labels = np.empty((len(arms), n), np.int64)
    for c in range(len(arms)):
        for d in range(n):
            labels[c, d] = inside[d, arms[c]]
    return labels, np.full(len(arms), 2)


@compiled
def candidates(scores, memory):
    """Return which pairs are looked at, shape (K, K)."""
    n_arms = scores.shape[1]
    maybe = np.ones((n_arms, n_arms), np.bool_)
    if n_arms <= ALL_PAIRS:
        return maybe
    maybe[:, :] = False
    place = np.argsort(np.argsort(-heaviest(memory.posterior)[0]))
    open_ = contenders(scores, memory)
    for i in range(n_arms):
        for j in range(i):
            near = abs(place[i] - place[j]) <= NEAR
            if memory.goal == RANKING:
                maybe[i, j] = near
            else:
                maybe[i, j] = (open_[i] and open_[j]) or (near and (open_[i] or open_[j]))
    any_allowed = False
    for i in range(n_arms):
        for j in range(i):
            any_allowed = any_allowed or (maybe[i, j] and memory.cost[i, j] < np.inf)
    if not any_allowed:
        maybe[:, :] = True
    return maybe


@compiled
def mutual_information(p, labels, n_labels):
    """Return the mutual information between an outcome and a label, in nats.

    Parameters
    ----------
    p
        Probability of winning in each draw, shape (n,).
    labels
        Label of each draw, in 0..n_labels - 1, shape (n,).
    n_labels
        How many labels there are.
    """
    n = len(p)
    total, held = np.zeros(n_labels), np.zeros(n_labels)
    for d in range(n):
        total[labels[d]] += p[d]
        held[labels[d]] += 1.0
    gain = entropy(total.sum() / n)
    for a in range(n_labels):
        if held[a] > 0.0:
            gain -= held[a] / n * entropy(total[a] / held[a])
    return max(gain, 0.0)


@compiled
def entropy(p):
    """Return the entropy of an outcome of probability p, in nats."""
    found = 0.0
    if p > 0.0:
        found -= p * log(p)
    if p < 1.0:
        found -= (1 - p) * log(1 - p)
    return found


@dataclass(frozen=True, kw_only=True)
class InformationGain(ScoreRule):
    """Largest expected information about the winner, the k best or the ranking."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Lindley, Annals of Mathematical Statistics 1956"


InformationGain.__doc__ = f"{InformationGain.__doc__}\n{ScoreRule.__doc__}"
