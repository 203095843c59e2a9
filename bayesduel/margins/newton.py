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
    "add_weight",
    "by_arm",
    "climb",
    "inverted",
    "least_squares",
    "misfit",
    "one_variance",
    "pair_variance",
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
def misfit(mean, score, i, j):
    """Return what the mean margin of i over j exceeds the lead of i's score by."""
    return mean[i, j] - score[i] + score[j]


@compiled
def pair_variance(moments, i, j, e):
    """Return the optimal variance of a pair whose mean has the misfit e, without the floor."""
    n = moments.n[i, j]
    shrinkage = moments.shrinkage
    squares = shrinkage * moments.pooled + moments.scatter[i, j] + n * e * e
    return squares / (shrinkage + n)


@compiled
def climb(moments, score, variance, step, max_rounds):
    """Ascend to a local optimum with a variance for every pair; return the rounds taken.

    moments: of each pair; its variance is ``(shrinkage pooled + scatter + n e^2) / (shrinkage +
        n)``, e the misfit of its mean, and at least the floor.
    score, variance: start and result, shapes (K,) and (K, K); written.
    step: stop when no score moves by more.
    max_rounds: most rounds.
    """
    n_arms = len(score)
    matrix = np.empty((n_arms - 1, n_arms - 1))
    right = np.empty(n_arms - 1)
    trial = np.empty(n_arms)
    newton = True
    near = 1e-4 * np.sqrt(max(moments.pooled, moments.floor))
    value = np.nan  # of the profile at `score`; not known
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        slopes(moments, score, newton, matrix, right)
        positive = eliminate(matrix, right)
        if newton and not positive:
            newton = False
            continue
        moved = shifted(score, right, trial)
        new = np.nan
        if newton and moved > near:  # shorter Newton steps need no watching
            if np.isnan(value):
                value = profile(moments, score)
            new = profile(moments, trial)
            if not new <= value:
                newton = False
                continue
        score[:] = trial
        value = new
        if moved <= step:
            break
        newton = True
    write_variances(moments, score, variance)
    return rounds


@compiled
def write_variances(moments, score, variance):
    """Write the variance of each pair that is optimal for the scores."""
    for i in range(len(score)):
        for j in range(i):
            if moments.n[i, j] > 0:
                e = misfit(moments.mean, score, i, j)
                v = pair_variance(moments, i, j, e)
                v = max(v, moments.floor)
                variance[i, j] = v
                variance[j, i] = v


@compiled
def profile(moments, score):
    """Return minus the log posterior of scores, each variance at its best, up to a constant."""
    floor = moments.floor
    value = 0.0
    for i in range(len(score)):
        for j in range(i):
            met = moments.n[i, j]
            if met == 0:
                continue
            e = misfit(moments.mean, score, i, j)
            v = pair_variance(moments, i, j, e)
            if v > floor:
                of_pair = np.log(v)
            else:
                of_pair = np.log(floor) + v / floor - 1
            weight = moments.shrinkage + met
            value += 0.5 * weight * of_pair
    return value


@compiled
def slopes(moments, score, newton, matrix, right):
    """Write the system of a step: the Hessian (or its majoriser) and minus the gradient.

    The first arm's score is held, so that both leave it out.
    """
    matrix[:] = 0.0
    right[:] = 0.0
    for i in range(1, len(score)):
        for j in range(i):
            met = moments.n[i, j]
            if met == 0:
                continue
            e = misfit(moments.mean, score, i, j)
            v = pair_variance(moments, i, j, e)
            w = met / max(v, moments.floor)
            g = w * e
            if newton and v > moments.floor:
                weight = moments.shrinkage + met
                bend = 2 * met * e * e / (weight * v)
                w = w * (1 - bend)
            add_pair(matrix, right, i, j, w, g)


@compiled
def add_pair(matrix, right, i, j, w, g):
    """Add a pair of weight w and slope g, i > j, to the upper triangle of a step's system.

    The first arm has no row.
    """
    row = i - 1
    right[row] += g
    matrix[row, row] += w
    if j > 0:
        other = j - 1
        right[other] -= g
        matrix[other, other] += w
        matrix[other, row] -= w


@compiled
def add_weight(matrix, i, j, w):
    """Add a pair of weight w, i > j, to both triangles of a Hessian without the first arm."""
    row = i - 1
    matrix[row, row] += w
    if j > 0:
        other = j - 1
        matrix[other, other] += w
        matrix[row, other] -= w
        matrix[other, row] -= w


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
            if by == 0:
                continue
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
            if i == k:
                continue
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
            met = n[i, j]
            if met == 0:
                continue
            w = met / variance[i, j]
            g = w * misfit(mean, score, i, j)
            add_pair(matrix, right, i, j, w, g)
    eliminate(matrix, right)
    trial = np.empty(n_arms)
    moved = shifted(score, right, trial)
    score[:] = trial
    return moved


@compiled
def one_variance(moments, score, variance):
    """Fit with one variance for all: one solve, one division."""
    variance[:] = 1.0
    least_squares(moments.n, moments.mean, variance, score)
    duels = 0.0
    for i in range(len(score)):
        for j in range(i):
            duels += moments.n[i, j]
    total = squares_about(moments, score)
    variance[:] = max(total / duels, moments.floor)
    np.fill_diagonal(variance, 0.0)
    return 1


@compiled
def squares_about(moments, score):
    """Return the sum of squares of all margins about the leads of their scores."""
    total = 0.0
    for i in range(len(score)):
        for j in range(i):
            away = misfit(moments.mean, score, i, j)
            of_mean = moments.n[i, j] * away**2
            total += moments.scatter[i, j] + of_mean
    return total


@compiled
def by_arm(moments, score, variance, step, max_rounds):
    """Fit with variances tau_i^2 + tau_j^2: solves, and the multiplicative step of Zhou et al."""
    n = moments.n
    mean = moments.mean
    floor = moments.floor
    n_arms = len(score)
    start = squares_about(moments, score) / n.sum()
    own = np.full(n_arms, max(start, floor))
    write_sums(own, variance)
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        moved = least_squares(n, mean, variance, score)
        change = 0.0
        for i in range(n_arms):
            up = 0.0
            down = 0.0
            for j in range(n_arms):
                met = n[i, j]
                if met > 0:
                    e = misfit(mean, score, i, j)
                    squares = moments.scatter[i, j] + met * e * e
                    v = variance[i, j]
                    up += squares / v**2
                    down += met / v
            factor = np.sqrt(up / down)
            fresh = max(own[i] * factor, floor)
            deviation = np.sqrt(fresh)
            change = max(change, abs(deviation - np.sqrt(own[i])))
            own[i] = fresh
        write_sums(own, variance)
        if moved <= step and change <= step:
            break
    np.fill_diagonal(variance, 0.0)
    return rounds


@compiled
def write_sums(own, variance):
    """Write the variance of each pair, the sum of its arms' own."""
    n_arms = len(own)
    for i in range(n_arms):
        for j in range(n_arms):
            variance[i, j] = own[i] + own[j]
