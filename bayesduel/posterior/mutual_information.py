"""Mutual information between the outcome of a duel and a question, on posterior draws.

The one estimate behind ``next_pairs``, which reads the draws of a fit, and behind the policy
``InformationGain``, which reads those of a posterior that follows a live study.

References
----------
Lindley, "On a measure of the information provided by an experiment", Annals of Mathematical
Statistics 1956. Houlsby, Huszár, Ghahramani & Lengyel, "Bayesian active learning for classification
and preference learning", 2011, for the scores of all arms.
"""

from math import log

import numpy as np

from bayesduel.jit import compiled

__all__ = ["information_about_answers", "information_about_scores"]


@compiled
def information_about_answers(chance, answer, exclusive, binary, corrected):
    """Return the information of an outcome about the answers to a question, in nats.

    ``H(E p) - sum_a Pr(a) H(E[p | a])``, H the outcome's part of the entropy. The sum over the
    outcomes of a duel is the mutual information.

    Parameters
    ----------
    chance
        Probability of the outcome in each draw, shape (pairs, n).
    answer
        Share of each answer in each draw, 0 or 1 where it is certain, shape (n, answers).
    exclusive
        Whether the answers of a draw are one question, so that their shares sum to one. Otherwise
        each is a question of its own with the answers yes and no, and the sum over them is
        returned.
    binary
        Whether a duel has two outcomes; the information of the other is then added.
    corrected
        Whether the bias in a finite number of draws is taken off, to first order, for
        exclusive answers: the means given an answer vary with the draws, and the sum comes out high
        by half the curvature of H times the variance of the mean.

    Returns
    -------
    Shape (pairs,); rounding and the correction may leave it below zero.
    """
    n, n_answers = answer.shape
    held = answer.sum(axis=0)
    won = chance @ answer
    gain = np.empty(len(chance))
    for row in range(len(chance)):
        total = chance[row].sum()
        found = entropy(total / n, binary) * (1 if exclusive else n_answers)
        for a in range(n_answers):
            if held[a] > 0:
                found -= held[a] / n * entropy(won[row, a] / held[a], binary)
            if not exclusive and held[a] < n:
                found -= (n - held[a]) / n * entropy((total - won[row, a]) / (n - held[a]), binary)
        gain[row] = found
    if corrected:
        squared = (chance * chance) @ answer
        size = held**2 / (answer * answer).sum(axis=0)  # draws behind each mean
        for row in range(len(chance)):
            for a in range(n_answers):
                mean = won[row, a] / held[a]
                spread = max(squared[row, a] / held[a] - mean**2, 0.0) / max(size[a] - 1.0, 1.0)
                curvature = 1.0 / max(mean, 1e-12)
                if binary:
                    curvature += 1.0 / max(1.0 - mean, 1e-12)
                gain[row] -= held[a] / n * spread * curvature / 2.0
    return gain


@compiled
def information_about_scores(chance, binary):
    """Return the information of an outcome about the scores of all arms, in nats.

    ``H(E p) - E H(p)``: each draw is an answer of its own.

    Parameters
    ----------
    chance, binary
        As for ``information_about_answers``.

    Returns
    -------
    Shape (pairs,).
    """
    n = chance.shape[1]
    gain = np.empty(len(chance))
    for row in range(len(chance)):
        within = 0.0
        for d in range(n):
            within += entropy(chance[row, d], binary)
        gain[row] = entropy(chance[row].sum() / n, binary) - within / n
    return gain


@compiled
def entropy(p, binary):
    """Return the part of an outcome of probability p in the entropy, in nats, or of both."""
    found = 0.0
    if p > 0.0:
        found -= p * log(p)
    if binary and p < 1.0:
        found -= (1 - p) * log(1 - p)
    return found
