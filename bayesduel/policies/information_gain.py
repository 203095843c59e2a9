"""Information gain: the pair whose outcome says most about the goal.

The expected information of a duel is the mutual information between its outcome and the answer,
estimated on posterior draws as by ``next_pairs`` (without the correction for the number of draws,
which the choice of a pair does not need). The answer is the winner; or for each arm whether it is
among the k best, summed over arms; or for neighbours in the ranking who is above, summed over
neighbours.

References
----------
Lindley, "On a measure of the information provided by an experiment", Annals of Mathematical
Statistics 1956. Deviations: sums over arms or neighbours in place of the joint information of a
set or ranking. Beyond 30 arms the candidates are pairs of contenders (the 30 whose place is the
least certain) and pairs of a contender with an arm next to it in the ranking.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesduel.beliefs.score_posterior import LOGIT, win_probability
from bayesduel.jit import compiled
from bayesduel.policies.score_rules import (
    RANKING,
    WINNER,
    ScoreRule,
    arms_by_mean,
    best_pair,
    contenders,
    fresh_draws,
    members,
)
from bayesduel.posterior.mutual_information import (
    information_about_answers,
    information_about_questions,
)

__all__ = ["InformationGain", "information", "possible_duels", "win_chances"]

# Arms up to which every pair is a candidate, 435, and places between neighbours that are candidates
# of more. Larger: a choice takes longer, in proportion to the pairs.
ALL_PAIRS = 30
NEAR = 3
BLOCK = 1024  # pairs at a time, whose sums stay in a processor's cache
MOST = 300.0  # logits beyond which a score is as good as infinite: products of odds are then finite


@compiled
def select(belief, memory, t, rng):
    """Return the pair of largest expected information about the goal."""
    scores = fresh_draws(belief, memory, rng)
    pairs, strength = possible_duels(scores, memory)
    return best_pair(information(scores, pairs, strength, memory), memory, rng)


@compiled
def possible_duels(scores, memory):
    """Return the pairs that are looked at, shape (pairs, 2), and the strengths of the arms."""
    pairs = np.argwhere(candidates(scores, memory))
    return pairs, strengths(scores, memory.posterior.link)


@compiled
def information(scores, pairs, strength, memory):
    """Return the expected information of a duel of each pair, in nats, shape (K, K).

    scores: draws, shape (n, K).
    pairs, strength: as `possible_duels` returns them; pairs that are not looked at have 0.
    memory: settings.
    """
    n_arms = scores.shape[1]
    answer, exclusive = answers(scores, memory)
    gain = np.zeros((n_arms, n_arms))
    link = memory.posterior.link
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        chance = win_chances(strength, link, block)
        if exclusive:
            found = information_about_answers(chance, answer, binary=True, corrected=False)
        else:
            found = information_about_questions(chance, answer)
        for row in range(len(block)):
            i, j = block[row]
            gain[i, j] = max(found[row], 0.0)
    return gain


@compiled
def answers(scores, memory):
    """Return which answers hold in each draw, as 0 and 1, (n_draws, answers).

    Who is the winner, one answer a draw (the second value returned is then True); which arms are
    among the k best; or which neighbours in the ranking are in this order.
    """
    n = len(scores)
    if memory.goal == RANKING:
        order = arms_by_mean(memory)
        found = np.empty((n, len(order) - 1))
        for d in range(n):
            score = scores[d]
            for c in range(len(order) - 1):
                above = order[c]
                below = order[c + 1]
                found[d, c] = score[above] > score[below]
        return found, False
    inside = members(scores, memory.k)
    if memory.goal == WINNER:
        named = np.flatnonzero(inside.sum(axis=0))
    else:
        named = np.flatnonzero(contenders(scores, memory))
    among = np.ascontiguousarray(inside[:, named])
    return among.astype(np.float64), memory.goal == WINNER


@compiled
def candidates(scores, memory):
    """Return which pairs are looked at, below the diagonal, shape (K, K)."""
    n_arms = scores.shape[1]
    allowed = np.zeros((n_arms, n_arms), np.bool_)
    for i in range(n_arms):
        for j in range(i):
            allowed[i, j] = memory.cost[i, j] < np.inf
    if n_arms <= ALL_PAIRS:
        return allowed
    maybe = np.zeros((n_arms, n_arms), np.bool_)
    place = np.full(n_arms, -n_arms)
    for at, arm in enumerate(arms_by_mean(memory)):
        place[arm] = at
    open_ = most_open(scores, memory)
    for i in range(n_arms):
        for j in range(i):
            near = abs(place[i] - place[j]) <= NEAR
            if memory.goal == RANKING:
                maybe[i, j] = near and allowed[i, j]
            elif open_[i] or open_[j]:
                both_open = open_[i] and open_[j]
                maybe[i, j] = (near or both_open) and allowed[i, j]
    return maybe if maybe.any() else allowed


@compiled
def most_open(scores, memory):
    """Return the contenders, at most 30: those whose place is the least certain, shape (K,)."""
    open_ = contenders(scores, memory)
    if memory.goal == RANKING or open_.sum() <= ALL_PAIRS:
        return open_
    share = members(scores, memory.k).sum(axis=0) / len(scores)
    kept = np.zeros(len(open_), np.bool_)
    least_certain = np.argsort(-share * (1 - share))
    kept[least_certain[:ALL_PAIRS]] = True
    return kept & open_


@compiled
def strengths(scores, link):
    """Return what `win_chances` reads, by arm and draw: scores, or with a logit link e to them.

    So an exponential is taken once for each arm in place of once for each pair.
    """
    strength = np.ascontiguousarray(scores.T)
    if link == LOGIT:
        strength = np.exp(np.minimum(np.maximum(strength, -MOST), MOST))
    return strength


@compiled
def win_chances(strength, link, pairs):
    """Return the probability of winning in each draw, shape (pairs, n_draws), pairs (pairs, 2)."""
    n = strength.shape[1]
    chance = np.empty((len(pairs), n))
    for row in range(len(pairs)):
        one = strength[pairs[row, 0]]
        other = strength[pairs[row, 1]]
        for d in range(n):
            if link == LOGIT:
                chance[row, d] = one[d] / (one[d] + other[d])
            else:
                chance[row, d] = win_probability(link, one[d] - other[d])
    return chance


@dataclass(frozen=True, kw_only=True)
class InformationGain(ScoreRule):
    """Largest expected information about the winner, the k best or the ranking."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Lindley, Annals of Mathematical Statistics 1956"
