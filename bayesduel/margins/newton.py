"""Newton ascent to a maximum of the likelihood of Gaussian margins.

Two half-steps alternate: weighted least squares for the scores, a closed form for the
variances; neither ever lowers the likelihood. Where every pair has its own variance, Newton's
method on the profile likelihood of the scores is used, with half-steps wherever the curvature is
not positive or a Newton step does not increase the likelihood.

References
----------
Zhou, Hu, Zhou & Lange, "MM Algorithms for Variance Components Models", JCGS 2019 (variances
by arm).
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = [
    "by_arm",
    "climb",
    "inverted",
    "least_squares",
    "one_variance",
    "profile",
    "shifted",
    "start_scores",
    "write_variances",
]


@compiled
def start_scores(margins, mean):
    """Return each arm's sum of mean margins over K, centred, shape (K,)."""
    n_arms = len(mean)
    score = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            score[i] += mean[i, j] / n_arms
    return score - score.mean()


@compiled
def climb(n, mean, scatter, pooled, floor, shrinkage, score, variance, step, max_rounds):
    """Ascend to a local optimum with a variance for every pair; return the rounds taken.

    n, mean, scatter: duels, mean margin and sum of squares about it, shape (K, K) each.
    pooled, floor, shrinkage: the variance of a pair is ``(shrinkage pooled + scatter + n e^2) /
        (shrinkage + n)``, e the misfit of its mean, and at least the floor.
    score, variance: start and result, shapes (K,) and (K, K); written.
    step: stop when no score moves by more.
    max_rounds: most rounds.
    """
    n_arms = len(score)
    matrix = np.empty((n_arms - 1, n_arms - 1))
    right = np.empty(n_arms - 1)
    trial = np.empty(n_arms)
    newton = True
    near = 1e-4 * np.sqrt(max(pooled, floor))
    value = np.nan  # of the profile at `score`; not known
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        slopes(n, mean, scatter, pooled, floor, shrinkage, score, newton, matrix, right)
        positive = eliminate(matrix, right)
        if newton and not positive:
            newton = False
            continue
        moved = shifted(score, right, trial)
        new = np.nan
        if newton and moved > near:  # shorter Newton steps need no watching
            if np.isnan(value):
                value = profile(n, mean, scatter, pooled, floor, shrinkage, score)
            new = profile(n, mean, scatter, pooled, floor, shrinkage, trial)
            if not new <= value:
                newton = False
                continue
        score[:] = trial
        value = new
        if moved <= step:
            break
        newton = True
    write_variances(n, mean, scatter, pooled, floor, shrinkage, score, variance)
    return rounds


@compiled
def write_variances(n, mean, scatter, pooled, floor, shrinkage, score, variance):
    """Write the variance of each pair that is optimal for the scores."""
    for i in range(len(score)):
        for j in range(i):
            if n[i, j] > 0:
                e = mean[i, j] - score[i] + score[j]
                v = shrinkage * pooled + scatter[i, j] + n[i, j] * e * e
                v = max(v / (shrinkage + n[i, j]), floor)
                variance[i, j] = variance[j, i] = v


@compiled
def profile(n, mean, scatter, pooled, floor, shrinkage, score):
    """Return minus the log posterior of scores, each variance at its best, up to a constant."""
    n_arms = len(score)
    value = 0.0
    for i in range(n_arms):
        for j in range(i):
            if n[i, j] == 0:
                continue
            e = mean[i, j] - score[i] + score[j]
            weight = shrinkage + n[i, j]
            v = (shrinkage * pooled + scatter[i, j] + n[i, j] * e * e) / weight
            if v > floor:
                value += 0.5 * weight * np.log(v)
            else:
                value += 0.5 * weight * (np.log(floor) + v / floor - 1)
    return value


@compiled
def slopes(n, mean, scatter, pooled, floor, shrinkage, score, newton, matrix, right):
    """Write the system of a step: the Hessian (or its majoriser) and minus the gradient.

    The first arm's score is held, so that both leave it out.
    """
    n_arms = len(score)
    matrix[:] = 0.0
    right[:] = 0.0
    for i in range(1, n_arms):
        for j in range(i):
            if n[i, j] == 0:
                continue
            e = mean[i, j] - score[i] + score[j]
            weight = shrinkage + n[i, j]
            v = (shrinkage * pooled + scatter[i, j] + n[i, j] * e * e) / weight
            free = v > floor
            w = n[i, j] / (v if free else floor)
            g = w * e
            if newton and free:
                w = w * (1 - 2 * n[i, j] * e * e / (weight * v))
            right[i - 1] += g
            matrix[i - 1, i - 1] += w
            if j > 0:
                right[j - 1] -= g
                matrix[j - 1, j - 1] += w
                matrix[j - 1, i - 1] -= w


@compiled
def eliminate(matrix, right):
    """Solve a symmetric system in place by its upper triangle; return whether it is positive."""
    size = len(right)
    for k in range(size):
        pivot = matrix[k, k]
        if not pivot > 0:
            return False
        for i in range(k + 1, size):
            by = matrix[k, i] / pivot
            if by != 0:
                for j in range(i, size):
                    matrix[i, j] -= by * matrix[k, j]
                right[i] -= by * right[k]
    for k in range(size - 1, -1, -1):
        rest = right[k]
        for j in range(k + 1, size):
            rest -= matrix[k, j] * right[j]
        right[k] = rest / matrix[k, k]
    return True


@compiled
def inverted(matrix):
    """Invert a symmetric matrix in place (Gauss-Jordan); return whether it is positive."""
    size = len(matrix)
    for k in range(size):
        if not matrix[k, k] > 0:
            return False
        pivot = 1 / matrix[k, k]
        matrix[k, k] = 1.0
        for j in range(size):
            matrix[k, j] *= pivot
        for i in range(size):
            if i != k:
                by = matrix[i, k]
                matrix[i, k] = 0.0
                for j in range(size):
                    matrix[i, j] -= by * matrix[k, j]
    return True


@compiled
def shifted(score, move, trial):
    """Write the moved scores, centred; return the largest change."""
    n_arms = len(score)
    centre = move.sum() / n_arms
    trial[0] = score[0] - centre
    largest = abs(centre)
    for i in range(1, n_arms):
        change = move[i - 1] - centre
        trial[i] = score[i] + change
        largest = max(largest, abs(change))
    return largest


@compiled
def least_squares(n, mean, variance, score):
    """Write the weighted least-squares scores under given variances; return the change."""
    n_arms = len(score)
    matrix = np.zeros((n_arms - 1, n_arms - 1))
    right = np.zeros(n_arms - 1)
    for i in range(1, n_arms):
        for j in range(i):
            if n[i, j] == 0:
                continue
            w = n[i, j] / variance[i, j]
            g = w * (mean[i, j] - score[i] + score[j])
            right[i - 1] += g
            matrix[i - 1, i - 1] += w
            if j > 0:
                right[j - 1] -= g
                matrix[j - 1, j - 1] += w
                matrix[j - 1, i - 1] -= w
    eliminate(matrix, right)
    trial = np.empty(n_arms)
    moved = shifted(score, right, trial)
    score[:] = trial
    return moved


@compiled
def one_variance(n, mean, scatter, floor, score, variance):
    """Fit with one variance for all: one solve, one division."""
    n_arms = len(score)
    variance[:] = 1.0
    least_squares(n, mean, variance, score)
    total = 0.0
    duels = 0.0
    for i in range(n_arms):
        for j in range(i):
            away = mean[i, j] - score[i] + score[j]
            total += scatter[i, j] + n[i, j] * away**2
            duels += n[i, j]
    variance[:] = max(total / duels, floor)
    for i in range(n_arms):
        variance[i, i] = 0.0
    return 1


@compiled
def by_arm(n, mean, scatter, floor, score, variance, step, max_rounds):
    """Fit with variances tau_i^2 + tau_j^2: solves, and the multiplicative step of Zhou et al."""
    n_arms = len(score)
    own = np.empty(n_arms)
    start = 0.0
    for i in range(n_arms):
        for j in range(i):
            away = mean[i, j] - score[i] + score[j]
            start += scatter[i, j] + n[i, j] * away**2
    own[:] = max(start / n.sum(), floor)
    for i in range(n_arms):
        for j in range(n_arms):
            variance[i, j] = own[i] + own[j]
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        moved = least_squares(n, mean, variance, score)
        change = 0.0
        fresh = np.empty(n_arms)
        for i in range(n_arms):
            up = 0.0
            down = 0.0
            for j in range(n_arms):
                if n[i, j] > 0:
                    e = mean[i, j] - score[i] + score[j]
                    up += (scatter[i, j] + n[i, j] * e * e) / variance[i, j] ** 2
                    down += n[i, j] / variance[i, j]
            fresh[i] = max(own[i] * np.sqrt(up / down), floor)
            change = max(change, abs(np.sqrt(fresh[i]) - np.sqrt(own[i])))
        own[:] = fresh
        for i in range(n_arms):
            for j in range(n_arms):
                variance[i, j] = own[i] + own[j]
        if moved <= step and change <= step:
            break
    for i in range(n_arms):
        variance[i, i] = 0.0
    return rounds
