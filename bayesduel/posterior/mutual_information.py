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

__all__ = ["information_about_answers", "information_about_questions", "information_about_scores"]


@compiled
def information_about_answers(chance, answer, binary, corrected):
    """Return the information of an outcome about the answer to one question, in nats.

    ``H(E p) - sum_a Pr(a) H(E[p | a])``, H the outcome's part of the entropy. The sum over the
    outcomes of a duel is the mutual information.

    chance: probability of the outcome in each draw, shape (pairs, n).
    answer: share of each answer in each draw, 0 or 1 where it is certain, shape (n, answers); the
        shares of a draw sum to one.
    binary: whether a duel has two outcomes; the information of the other is then added.
    corrected: whether the bias in a finite number of draws is taken off, to first order: the means
        given an answer vary with the draws, and the sum comes out high by half the curvature of H
        times the variance of the mean.
    Returns shape (pairs,); rounding and the correction may leave it below zero.
    """
    n, n_answers = answer.shape
    n_pairs = len(chance)
    held = answer.sum(axis=0)
    share = held / n
    won = chance @ answer
    gain = np.empty(n_pairs)
    for row in range(n_pairs):
        mean = chance[row].sum() / n
        found = entropy(mean, binary)
        for a in range(n_answers):
            if held[a] > 0:
                mean_given = won[row, a] / held[a]
                given = entropy(mean_given, binary)
                found -= share[a] * given
        gain[row] = found
    if not corrected:
        return gain
    squared = (chance * chance) @ answer
    squares = (answer * answer).sum(axis=0)
    size = held**2 / squares  # draws behind each mean
    for row in range(n_pairs):
        for a in range(n_answers):
            mean = won[row, a] / held[a]
            mean_square = squared[row, a] / held[a]
            variance = max(mean_square - mean**2, 0.0)
            degrees = max(size[a] - 1.0, 1.0)
            of_mean = variance / degrees
            curvature = 1.0 / max(mean, 1e-12)
            if binary:
                curvature += 1.0 / max(1.0 - mean, 1e-12)
            bias = share[a] * of_mean * curvature / 2.0
            gain[row] -= bias
    return gain


@compiled
def information_about_questions(chance, answer):
    """Return the information of a duel about questions of yes and no, summed over them, in nats.

    ``sum_a Pr(a) KL(E[p | a], E p)`` over yes and no and both outcomes, whose terms do not cancel.
    Means given an answer are of p less its mean, in single precision: the information is right to
    about 1e-6 of itself.

    chance: probability that the first arm wins in each draw, shape (pairs, n).
    answer: whether the answer is yes in each draw, as 0 and 1, shape (n, questions).
    Returns shape (pairs,).
    """
    n = len(answer)
    n_pairs = len(chance)
    share = answer.sum(axis=0) / n
    uncertain = (share > 0) & (share < 1)
    asked = np.flatnonzero(uncertain)
    yes = share[asked]
    no = 1 - yes
    of_question = answer[:, asked].astype(np.float32)
    mean = np.empty(n_pairs)
    away = np.empty(chance.shape, np.float32)
    for row in range(n_pairs):
        mean[row] = chance[row].sum() / n
        centred = chance[row] - mean[row]
        away[row] = centred / n
    joint = away @ of_question  # covariances of winning and yes
    of_yes = 1 / yes
    of_no = -1 / no
    gain = np.zeros(n_pairs)
    for row in range(n_pairs):
        won = mean[row]
        for p, sign in ((won, -1.0), (1 - won, 1.0)):
            if p <= 0.0:
                continue
            scale = sign / p
            for a in range(len(asked)):
                moved_by_yes = joint[row, a] * of_yes[a]
                moved_by_no = joint[row, a] * of_no[a]
                given_yes = excess(scale * moved_by_yes)
                given_no = excess(scale * moved_by_no)
                information = yes[a] * given_yes + no[a] * given_no
                gain[row] += p * information
    return gain


@compiled
def information_about_scores(chance, binary):
    """Return the information of an outcome about the scores of all arms, in nats.

    ``H(E p) - E H(p)``: each draw is an answer of its own.

    chance, binary: as for ``information_about_answers``.
    Returns shape (pairs,).
    """
    n = chance.shape[1]
    gain = np.empty(len(chance))
    for row in range(len(chance)):
        within = 0.0
        for d in range(n):
            within += entropy(chance[row, d], binary)
        mean = chance[row].sum() / n
        gain[row] = entropy(mean, binary) - within / n
    return gain


@compiled
def excess(z):
    """Return ``(1 - z) log(1 - z) + z`` for z <= 1, by its series to z^7 near 0."""
    if abs(z) <= 0.02:  # the series has a relative error below 3e-12
        tail = 1 / 12 + z * (1 / 20 + z * (1 / 30 + z / 42))
        return z * z * (1 / 2 + z * (1 / 6 + z * tail))
    if z >= 1.0:
        return 1.0
    rest = 1 - z
    return rest * log(rest) + z


@compiled
def entropy(p, binary):
    """Return the part of an outcome of probability p in the entropy, in nats, or of both."""
    found = 0.0
    if p > 0.0:
        found -= p * log(p)
    if binary and p < 1.0:
        rest = 1 - p
        found -= rest * log(rest)
    return found
