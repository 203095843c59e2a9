"""The posterior of a model of scores, updated after every duel.

The scores have independent normal priors with a learned standard deviation, half-normal itself.
On a grid of that scale the posterior of the scores given the scale is approximated by a normal
distribution at its mode (Laplace); the mixture over the grid is the posterior. After a duel the
modes move little: a Newton step or two from the last ones finds them again.

References
----------
Tierney & Kadane, "Accurate approximations for posterior moments and marginal densities", JASA
1986. Draws are those of the mixture of normal distributions, not corrected by importance weights;
``bayesduel.fit`` is what corrects and certifies them.
"""

from math import erfc, exp, inf, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np

from bayesduel.jit import compiled

__all__ = [
    "LINKS",
    "LOGIT",
    "PROBIT",
    "ScorePosterior",
    "anticipate",
    "anticipate_many",
    "copied",
    "draw_scores",
    "expected_information",
    "follow",
    "heaviest",
    "heaviest_mean",
    "log_normal",
    "refitted_scores",
    "score_posterior",
    "win_probability",
]

# Links, as compiled functions know them.
LOGIT = 0
PROBIT = 1
LINKS = {"logit": (LOGIT, 2.0), "probit": (PROBIT, 1.2)}  # with the scale of the model's prior
RANGE = log(25.0)  # the first nodes go from 0.1 to 2.5 times the scale of the prior
# Nodes this far below the best, in log weight, are left as they are: 0.01 % of its weight.
NEGLIGIBLE = 9.0
# Arms up to which every duel takes a Newton step; of more, a rank-one update takes a K-th of its
# time.
WITHOUT_REFIT = 40
STEP = 1e-3  # of the third derivatives, by central differences: right to 1e-6


class ScorePosterior(NamedTuple):
    """The posterior of scores after some duels; arrays of length 0 where a belief has none."""

    link: int  # LOGIT or PROBIT: the probability of winning given the difference of scores
    prior_scale: float  # scale of the half-normal prior of the standard deviation of the scores
    scale: np.ndarray  # nodes of that standard deviation, shape (G,)
    log_weight: np.ndarray  # log weight of each node, up to a constant, shape (G,)
    mode: np.ndarray  # mode of the scores at each node, shape (G, K)
    centre: np.ndarray  # their mean, shape (G, K)
    root: np.ndarray  # a root of their covariance at each node, ``root @ root.T``, shape (G, K, K)
    covariance: np.ndarray  # covariance of the scores at one node, shape (K, K); see `n_seen`
    seen: np.ndarray  # the tally it was computed from, times i beat j, shape (K, K)
    # Tallies seen (-1 before the prior is computed), duels since all nodes were computed, and the
    # node that `covariance` is of, -1 for none, shape (3,), int64.
    n_seen: np.ndarray
    # Draws of the scores by a model that is refitted now and then, shape (n, K); n = 0 where the
    # scores are followed.
    draws: np.ndarray


def score_posterior(n_arms: int, link: int, prior_scale: float) -> ScorePosterior:
    """Return the posterior before the first duel; `follow` computes it, the prior too."""
    # 100 arms beyond which three nodes serve: the scale is known well
    return _empty(7 if n_arms <= 100 else 3, n_arms, link, prior_scale)


def refitted_scores(n_arms: int, n_draws: int) -> ScorePosterior:
    """Return the posterior of scores whose draws come from a model that is refitted."""
    return _empty(1, n_arms, LOGIT, 0.0)._replace(draws=np.zeros((n_draws, n_arms)))


def _empty(nodes: int, n_arms: int, link: int, prior_scale: float) -> ScorePosterior:
    return ScorePosterior(
        link,
        prior_scale,
        0.1 * prior_scale * np.exp(RANGE * np.linspace(0, 1, nodes)),
        np.zeros(nodes),
        np.zeros((nodes, n_arms)),
        np.zeros((nodes, n_arms)),
        np.zeros((nodes, n_arms, n_arms)),
        np.zeros((n_arms, n_arms)),
        np.zeros((n_arms, n_arms)),
        np.full(3, -1, np.int64),
        np.zeros((0, n_arms)),
    )


def copied(posterior: ScorePosterior) -> ScorePosterior:
    """Return a copy that shares no array."""
    return ScorePosterior._make(v.copy() if isinstance(v, np.ndarray) else v for v in posterior)


@compiled
def follow(posterior, wins):
    """Bring the posterior up to the tally `wins`, in place.

    Up to 40 arms every new duel takes Newton steps from the last modes; beyond, up to K / 20
    single duels in a row take a rank-one step instead.

    posterior: its arrays are written.
    wins: times i beat j, shape (K, K); a tie is half a win each.
    """
    n_arms = wins.shape[0]
    if posterior.n_seen[0] < 0:
        begin(posterior)
    since = posterior.n_seen[1]
    new, i, j = difference(posterior.seen, wins)
    if new == 0.0:
        return
    if n_arms > WITHOUT_REFIT and new == 1.0 and since < n_arms // 20:
        won = wins[i, j] - posterior.seen[i, j]
        top = posterior.log_weight.max()
        for g in range(len(posterior.scale)):
            if posterior.log_weight[g] > top - NEGLIGIBLE:
                rank_one(posterior, g, i, j, won)
        posterior.n_seen[1] += 1
    else:
        # 20 duels after which all nodes are computed again
        everything = since >= 20 or new > 1.0
        top = posterior.log_weight.max()
        for g in range(len(posterior.scale)):
            if everything or posterior.log_weight[g] > top - NEGLIGIBLE:
                refit(posterior, g, wins)
        if everything:
            place_nodes(posterior, wins)
        if everything or n_arms > WITHOUT_REFIT:
            posterior.n_seen[1] = 0
        else:
            posterior.n_seen[1] += 1
    if new == 1.0:
        posterior.seen[i, j] = wins[i, j]
        posterior.seen[j, i] = wins[j, i]
    else:
        posterior.seen[:, :] = wins
    posterior.n_seen[0] += 1


@compiled
def begin(posterior):
    """Compute the prior, in place."""
    for g in range(len(posterior.scale)):
        scale = posterior.scale[g]
        posterior.mode[g] = 0.0
        posterior.centre[g] = 0.0
        posterior.root[g] = 0.0
        for a in range(posterior.root.shape[1]):
            posterior.root[g, a, a] = scale
        posterior.log_weight[g] = log(scale) - scale**2 / (2 * posterior.prior_scale**2)
    posterior.n_seen[0] = 1
    posterior.n_seen[1] = 0
    posterior.n_seen[2] = -1


@compiled
def place_nodes(posterior, wins):
    """Move the nodes to where the scale's posterior is, if they are too far apart or too close."""
    n_nodes = len(posterior.scale)
    widest = RANGE / (n_nodes - 1)
    for _ in range(6):
        nodes = np.log(posterior.scale)
        spacing = nodes[1] - nodes[0]
        weight = np.exp(posterior.log_weight - posterior.log_weight.max())
        weight /= weight.sum()
        mean = (weight * nodes).sum()
        deviation = sqrt((weight * (nodes - mean) ** 2).sum())
        # Nodes are 0.9 posterior standard deviations of the log scale apart
        aim = min(max(0.9 * deviation, spacing / 3), widest)
        off = abs(mean - nodes[n_nodes // 2])
        if 0.7 * spacing < aim < 1.4 * spacing and off < 1.5 * spacing:
            return
        old = posterior.mode.copy()
        for g in range(n_nodes):
            value = mean + (g - n_nodes // 2) * aim
            posterior.scale[g] = exp(value)
            posterior.mode[g] = old[np.abs(nodes - value).argmin()]
            refit(posterior, g, wins)


@compiled
def difference(seen, wins):
    """Return how many duels are new, and a pair that has some, the larger index first."""
    new = 0.0
    first = 0
    second = 0
    for i in range(len(wins)):
        for j in range(len(wins)):  # along rows: most cells are as they were
            if wins[i, j] == seen[i, j] or (i < j and wins[j, i] != seen[j, i]):
                continue
            here = abs(wins[i, j] + wins[j, i] - seen[i, j] - seen[j, i])
            new += here if here > 0.0 else 2.0  # a corrected outcome: no single new duel
            first = max(i, j)
            second = min(i, j)
    return new, first, second


@compiled
def refit(posterior, g, wins):
    """Compute mode, covariance and weight at node g by Newton's method from the last mode."""
    n_arms = wins.shape[0]
    if posterior.n_seen[2] == g:
        posterior.n_seen[2] = -1
    precision = 1.0 / posterior.scale[g] ** 2
    x = posterior.mode[g].copy()
    value, gradient, hessian = derivatives(posterior.link, x, wins, precision)
    for _ in range(50):
        step = np.linalg.solve(hessian, gradient)
        decrement = (step * gradient).sum()
        # Newton's method ends below this decrement a parameter: 1e-5
        if decrement < 1e-5 * n_arms:
            break
        # A score changes by 3 at most in one step
        length = min(1.0, 3.0 / np.abs(step).max())
        while length > 1e-10:
            candidate = x + length * step
            found, slope, bend = derivatives(posterior.link, candidate, wins, precision)
            if found >= value - 1e-9 * max(1.0, abs(value)):
                break
            length /= 2
        x = candidate
        value = found
        gradient = slope
        hessian = bend
    factor = np.linalg.cholesky(hessian)
    root = np.linalg.inv(factor).T
    posterior.mode[g] = x
    posterior.root[g] = root
    posterior.centre[g] = x + mean_shift(posterior.link, x, root, wins)
    scale = posterior.scale[g]
    half = np.log(np.diag(factor)).sum()
    prior = log(scale) - scale**2 / (2 * posterior.prior_scale**2)  # on the log scale
    posterior.log_weight[g] = value - n_arms * log(scale) - half + prior


@compiled
def derivatives(link, x, wins, precision):
    """Return log density, gradient and minus the Hessian of the scores given their scale."""
    n_arms = len(x)
    value = -0.5 * precision * (x * x).sum()
    gradient = -precision * x
    hessian = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        hessian[i, i] = hessian[i, i] + precision
        for j in range(i):
            won = wins[i, j]
            lost = wins[j, i]
            if won + lost == 0.0:
                continue
            here, slope, bend = cell(link, x[i] - x[j], won, lost)
            value += here
            gradient[i] += slope
            gradient[j] -= slope
            hessian[i, i] += bend
            hessian[j, j] += bend
            hessian[i, j] -= bend
            hessian[j, i] -= bend
    return value, gradient, hessian


@compiled
def mean_shift(link, x, root, wins):
    """Return mean minus mode, to first order in the third derivatives at the mode x.

    Half the covariance times the gradient of the summed curvatures, each weighted by the
    variance of its pair's difference (Tierney & Kadane 1986, section 2).
    """
    n_arms = len(x)
    covariance = root @ root.T
    pull = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(i):
            won = wins[i, j]
            lost = wins[j, i]
            if won + lost > 0.0:
                eta = x[i] - x[j]
                up = curvature(link, eta + STEP, won, lost)
                third = -(up - curvature(link, eta - STEP, won, lost)) / (2 * STEP)
                v = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
                pull[i] += 0.5 * third * v
                pull[j] -= 0.5 * third * v
    return covariance @ pull


@compiled
def cell(link, eta, won, lost):
    """Return log likelihood of a pair's duels, its slope in eta and minus its curvature."""
    if link == LOGIT:
        p = 1.0 / (1.0 + exp(-eta)) if eta > -700 else 0.0
        low = -log1p(exp(-abs(eta)))
        value = (won + lost) * low + (lost * min(-eta, 0.0) + won * min(eta, 0.0))
        return value, won - (won + lost) * p, (won + lost) * p * (1 - p)
    up, up_hazard = log_normal(eta)
    down, down_hazard = log_normal(-eta)
    slope = won * up_hazard - lost * down_hazard
    bend = won * up_hazard * (up_hazard + eta) + lost * down_hazard * (down_hazard - eta)
    return won * up + lost * down, slope, bend


@compiled
def curvature(link, eta, won, lost):
    """Return minus the curvature in eta of the log likelihood of a pair's duels, as `cell`."""
    if link == LOGIT:
        p = 1.0 / (1.0 + exp(-eta)) if eta > -700 else 0.0
        return (won + lost) * p * (1 - p)
    return cell(link, eta, won, lost)[2]


@compiled
def log_normal(z):
    """Return the log of the normal distribution function at z, and its derivative."""
    if z > -30:
        tail = log(erfc(-z / sqrt(2.0)) / 2)
    else:  # asymptotic
        tail = -z * z / 2 - log(-z * sqrt(2 * pi)) + log(1 - 1 / (z * z) + 3 / z**4)
    return tail, exp(-z * z / 2 - tail) / sqrt(2 * pi)


@compiled
def rank_one(posterior, g, i, j, won):
    """Update node g by one duel of i and j: the mode moves along the pair's covariance."""
    centre = posterior.centre[g]
    contrast = posterior.root[g, i] - posterior.root[g, j]
    c = posterior.root[g] @ contrast
    v = c[i] - c[j]
    eta = centre[i] - centre[j]
    t = 0.0
    value = 0.0
    slope = 0.0
    bend = 0.0
    for _ in range(6):
        value, slope, bend = cell(posterior.link, eta + t * v, won, 1.0 - won)
        t += (slope - t) / (1.0 + bend * v)
    value, slope, bend = cell(posterior.link, eta + t * v, won, 1.0 - won)
    centre += t * c
    posterior.mode[g] += t * c
    posterior.log_weight[g] += value - 0.5 * t * t * v - 0.5 * log1p(bend * v)
    shrink(posterior, g, c, contrast, v, bend)


@compiled
def shrink(posterior, g, c, contrast, v, bend):
    """Update the covariance at node g, in place, by `bend` of information on one contrast.

    The contrast has the variance `v`, the covariance `c` with the scores, (K,), and the coordinates
    `contrast` in those of the root, (K,). The root is written, and the covariance if it is of node
    g.
    """
    if bend <= 0.0:
        return
    root = posterior.root[g]
    beta = (1.0 - 1.0 / sqrt(1.0 + bend * v)) / v
    for a in range(len(c)):
        for b in range(len(c)):
            root[a, b] -= beta * c[a] * contrast[b]
    if posterior.n_seen[2] == g:
        gamma = bend / (1.0 + bend * v)
        for a in range(len(c)):
            for b in range(len(c)):
                posterior.covariance[a, b] -= gamma * c[a] * c[b]


@compiled
def anticipate(posterior, i, j, times):
    """Update the covariances, in place, as if i and j had dueled some times; means stay.

    The outcome is not known, so that only its expected information counts.
    """
    top = posterior.log_weight.max()
    for g in range(len(posterior.scale) if len(posterior.draws) == 0 else 0):
        if posterior.log_weight[g] > top - NEGLIGIBLE:
            contrast = posterior.root[g, i] - posterior.root[g, j]
            c = posterior.root[g] @ contrast
            eta = posterior.centre[g, i] - posterior.centre[g, j]
            bend = times * expected_information(posterior.link, eta)
            shrink(posterior, g, c, contrast, c[i] - c[j], bend)
    if posterior.draws.shape[0] > 1:
        draws = posterior.draws
        contrast = draws[:, i] - draws[:, j]
        mean = contrast.mean()
        v = ((contrast - mean) ** 2).sum() / (len(draws) - 1)
        if v > 0.0:
            bend = times * expected_information(posterior.link, mean)
            beta = (1.0 - 1.0 / sqrt(1.0 + bend * v)) / v
            for a in range(draws.shape[1]):
                c = (draws[:, a] * (contrast - mean)).sum() / (len(draws) - 1)
                draws[:, a] -= beta * c * (contrast - mean)


@compiled
def anticipate_many(posterior, pairs):
    """Update the covariances, in place, as ``anticipate`` does for each of many pairs.

    posterior: of scores that are followed.
    pairs: arms of each pair and how often it is to duel, shape (n, 3), int64.
    """
    top = posterior.log_weight.max()
    n_arms = posterior.centre.shape[1]
    for g in range(len(posterior.scale)):
        if posterior.log_weight[g] <= top - NEGLIGIBLE:
            continue
        centre = posterior.centre[g]
        information = np.zeros((n_arms, n_arms))
        for p in range(len(pairs)):
            i = pairs[p, 0]
            j = pairs[p, 1]
            bend = pairs[p, 2] * expected_information(posterior.link, centre[i] - centre[j])
            information[i, i] += bend
            information[j, j] += bend
            information[i, j] -= bend
            information[j, i] -= bend
        root = posterior.root[g]
        precision = np.eye(n_arms) + root.T @ information @ root
        posterior.root[g] = root @ np.linalg.inv(np.linalg.cholesky(precision)).T
        if posterior.n_seen[2] == g:
            posterior.n_seen[2] = -1


@compiled
def draw_scores(posterior, n, rng):
    """Return n draws of the scores, shape (n, K); of a refitted model n of its draws.

    They come in a random order, so that any of them taken in a row are a sample.
    """
    n_arms = posterior.centre.shape[1]
    kept = posterior.draws.shape[0]
    draws = np.empty((n, n_arms))
    if n == kept:
        return posterior.draws[rng.permutation(n)]
    if kept > 0:
        for d in range(n):
            draws[d] = posterior.draws[rng.integers(0, kept)]
        return draws
    weight = np.exp(posterior.log_weight - posterior.log_weight.max())
    weight /= weight.sum()
    cumulative = 0.0
    first = 0
    offset = rng.random()
    for g in range(len(weight)):  # as many draws of a node as its weight says, rounded at random
        cumulative += weight[g] * n
        last = n if g == len(weight) - 1 else min(int(cumulative + offset), n)
        if last > first:
            normal = np.empty((last - first, n_arms))
            for d in range(last - first):
                for a in range(n_arms):
                    normal[d, a] = rng.standard_normal()
            draws[first:last] = posterior.centre[g] + normal @ posterior.root[g].T
            first = last
    return draws[rng.permutation(n)]


@compiled
def heaviest(posterior):
    """Return mean and covariance of the scores at the node of largest weight.

    The covariance is kept until the node is computed anew; it is not to be written.
    """
    mean = heaviest_mean(posterior)
    if posterior.draws.shape[0] > 1:
        apart = posterior.draws - mean
        return mean, apart.T @ apart / (len(apart) - 1)
    g = posterior.log_weight.argmax()
    if posterior.n_seen[2] != g:
        posterior.covariance[:, :] = posterior.root[g] @ posterior.root[g].T
        posterior.n_seen[2] = g
    return mean, posterior.covariance


@compiled
def heaviest_mean(posterior):
    """Return the mean of the scores at the node of largest weight."""
    if posterior.draws.shape[0] > 1:
        draws = posterior.draws
        mean = np.zeros(draws.shape[1])
        for d in range(len(draws)):
            mean += draws[d]
        return mean / len(draws)
    return posterior.centre[posterior.log_weight.argmax()].copy()


@compiled
def expected_information(link, difference):
    """Return the Fisher information of one duel on its difference of scores."""
    p = win_probability(link, difference)
    return curvature(link, difference, p, 1.0 - p)


@compiled
def win_probability(link, difference):
    """Return the probability of winning given the difference of scores."""
    if link == LOGIT:
        return 1.0 / (1.0 + exp(-difference)) if difference > -700 else 0.0
    return 0.5 * erfc(-difference / sqrt(2.0)) if difference > -inf else 0.0
