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
    "contrast",
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
    nodes = 7 if n_arms <= 100 else 3
    return _empty(nodes, n_arms, link, prior_scale)


def refitted_scores(n_arms: int, n_draws: int) -> ScorePosterior:
    """Return the posterior of scores whose draws come from a model that is refitted."""
    draws = np.zeros((n_draws, n_arms))
    return _empty(1, n_arms, LOGIT, 0.0)._replace(draws=draws)


def _empty(nodes: int, n_arms: int, link: int, prior_scale: float) -> ScorePosterior:
    steps = np.exp(RANGE * np.linspace(0, 1, nodes))
    return ScorePosterior(
        link=link,
        prior_scale=prior_scale,
        scale=0.1 * prior_scale * steps,
        log_weight=np.zeros(nodes),
        mode=np.zeros((nodes, n_arms)),
        centre=np.zeros((nodes, n_arms)),
        root=np.zeros((nodes, n_arms, n_arms)),
        covariance=np.zeros((n_arms, n_arms)),
        seen=np.zeros((n_arms, n_arms)),
        n_seen=np.full(3, -1, np.int64),
        draws=np.zeros((0, n_arms)),
    )


def copied(posterior: ScorePosterior) -> ScorePosterior:
    """Return a copy that shares no array."""
    fields = []
    for field in posterior:
        fields.append(field.copy() if isinstance(field, np.ndarray) else field)
    return ScorePosterior._make(fields)


@compiled
def follow(posterior, wins):
    """Bring the posterior up to the tally `wins`, in place.

    Up to 40 arms every new duel takes Newton steps from the last modes; beyond, up to K / 20
    single duels in a row take a rank-one step instead, which takes a K-th of the time.

    posterior: its arrays are written.
    wins: times i beat j, shape (K, K); a tie is half a win each.
    """
    n_arms = wins.shape[0]
    many = n_arms > 40
    if posterior.n_seen[0] < 0:
        begin(posterior)
    since = posterior.n_seen[1]
    new, i, j = difference(posterior.seen, wins)
    if new == 0.0:
        return
    top = posterior.log_weight.max()
    if many and new == 1.0 and since < n_arms // 20:
        won = wins[i, j] - posterior.seen[i, j]
        for g in range(len(posterior.scale)):
            if posterior.log_weight[g] > top - NEGLIGIBLE:
                rank_one(posterior, g, i, j, won)
        posterior.n_seen[1] += 1
    else:
        # 20 duels after which all nodes are computed again
        everything = since >= 20 or new > 1.0
        for g in range(len(posterior.scale)):
            if everything or posterior.log_weight[g] > top - NEGLIGIBLE:
                refit(posterior, g, wins)
        if everything:
            place_nodes(posterior, wins)
        if everything or many:
            posterior.n_seen[1] = 0
        else:
            posterior.n_seen[1] += 1
    seen = posterior.seen
    if new == 1.0:
        seen[i, j] = wins[i, j]
        seen[j, i] = wins[j, i]
    else:
        seen[:, :] = wins
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
        posterior.log_weight[g] = log_prior(scale, posterior.prior_scale)
    posterior.n_seen[0] = 1
    posterior.n_seen[1] = 0
    posterior.n_seen[2] = -1


@compiled
def log_prior(scale, prior_scale):
    """Return the log density of the half-normal prior on the log scale, up to a constant."""
    return log(scale) - scale**2 / (2 * prior_scale**2)


@compiled
def weights(log_weight):
    """Return weights of sum 1 from their logarithms, which may lack a constant."""
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return weight


@compiled
def place_nodes(posterior, wins):
    """Move the nodes to where the scale's posterior is, if they are too far apart or too close."""
    n_nodes = len(posterior.scale)
    middle = n_nodes // 2
    widest = RANGE / (n_nodes - 1)
    for _ in range(6):
        nodes = np.log(posterior.scale)
        spacing = nodes[1] - nodes[0]
        weight = weights(posterior.log_weight)
        mean = (weight * nodes).sum()
        variance = (weight * (nodes - mean) ** 2).sum()
        deviation = sqrt(variance)
        # Nodes are 0.9 posterior standard deviations of the log scale apart
        aim = min(max(0.9 * deviation, spacing / 3), widest)
        off = abs(mean - nodes[middle])
        well_spaced = 0.7 * spacing < aim < 1.4 * spacing
        if well_spaced and off < 1.5 * spacing:
            return
        old = posterior.mode.copy()
        for g in range(n_nodes):
            value = mean + (g - middle) * aim
            nearest = np.abs(nodes - value).argmin()
            posterior.scale[g] = exp(value)
            posterior.mode[g] = old[nearest]
            refit(posterior, g, wins)


@compiled
def difference(seen, wins):
    """Return how many duels are new, and a pair that has some, the larger index first."""
    new = 0.0
    first = 0
    second = 0
    for i in range(len(wins)):
        for j in range(len(wins)):  # along rows: most cells are as they were
            won = wins[i, j]
            won_before = seen[i, j]
            if won == won_before:
                continue
            lost = wins[j, i]
            lost_before = seen[j, i]
            counted_at_mirror = i < j and lost != lost_before
            if counted_at_mirror:
                continue
            here = abs(won + lost - won_before - lost_before)
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
        largest = np.abs(step).max()
        length = min(1.0, 3.0 / largest)
        while length > 1e-10:
            candidate = x + length * step
            found, slope, bend = derivatives(posterior.link, candidate, wins, precision)
            rounding = 1e-9 * max(1.0, abs(value))
            if found >= value - rounding:
                break
            length /= 2
        x = candidate
        value = found
        gradient = slope
        hessian = bend
    factor = np.linalg.cholesky(hessian)
    root = np.linalg.inv(factor).T
    shift = mean_shift(posterior.link, x, root, wins)
    posterior.mode[g] = x
    posterior.root[g] = root
    posterior.centre[g] = x + shift
    scale = posterior.scale[g]
    half = np.log(np.diag(factor)).sum()
    prior = log_prior(scale, posterior.prior_scale)
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
            eta = x[i] - x[j]
            here, slope, bend = cell(link, eta, won, lost)
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
            if won + lost == 0.0:
                continue
            eta = x[i] - x[j]
            up = curvature(link, eta + STEP, won, lost)
            down = curvature(link, eta - STEP, won, lost)
            third = -(up - down) / (2 * STEP)
            half = 0.5 * third * contrast(covariance, i, j)
            pull[i] += half
            pull[j] -= half
    return covariance @ pull


@compiled
def contrast(matrix, i, j):
    """Return u'Mu of a symmetric matrix, u the contrast of i and j.

    Of a covariance of scores it is the variance of the difference of the two.
    """
    return matrix[i, i] + matrix[j, j] - 2 * matrix[i, j]


@compiled
def cell(link, eta, won, lost):
    """Return log likelihood of a pair's duels, its slope in eta and minus its curvature."""
    if link == LOGIT:
        n = won + lost
        p = win_probability(link, eta)
        low = -log1p(exp(-abs(eta)))
        linear = lost * min(-eta, 0.0) + won * min(eta, 0.0)
        value = n * low + linear
        slope = won - n * p
        bend = n * p * (1 - p)
        return value, slope, bend
    up, up_hazard = log_normal(eta)
    down, down_hazard = log_normal(-eta)
    slope = won * up_hazard - lost * down_hazard
    bend_won = won * up_hazard * (up_hazard + eta)
    bend = bend_won + lost * down_hazard * (down_hazard - eta)
    value = won * up + lost * down
    return value, slope, bend


@compiled
def curvature(link, eta, won, lost):
    """Return minus the curvature in eta of the log likelihood of a pair's duels, as `cell`."""
    if link == LOGIT:
        p = win_probability(link, eta)
        return (won + lost) * p * (1 - p)
    _, _, bend = cell(link, eta, won, lost)
    return bend


@compiled
def log_normal(z):
    """Return the log of the normal distribution function at z, and its derivative."""
    if z > -30:
        probability = erfc(-z / sqrt(2.0)) / 2
        tail = log(probability)
    else:  # asymptotic
        series = 1 - 1 / (z * z) + 3 / z**4
        constant = log(-z * sqrt(2 * pi))
        tail = -z * z / 2 - constant + log(series)
    ratio = exp(-z * z / 2 - tail)
    hazard = ratio / sqrt(2 * pi)
    return tail, hazard


@compiled
def of_pair(posterior, g, i, j):
    """Return the difference of i and j at node g: coordinates, covariances, variance and mean.

    Its coordinates are those of the root, (K,); the covariances are with the scores, (K,).
    """
    root = posterior.root[g]
    centre = posterior.centre[g]
    contrast = root[i] - root[j]
    c = root @ contrast
    return contrast, c, c[i] - c[j], centre[i] - centre[j]


@compiled
def rank_one(posterior, g, i, j, won):
    """Update node g by one duel of i and j: the mode moves along the pair's covariance."""
    centre = posterior.centre[g]
    contrast, c, v, eta = of_pair(posterior, g, i, j)
    t = 0.0
    value = 0.0
    slope = 0.0
    bend = 0.0
    for _ in range(6):
        moved = eta + t * v
        value, slope, bend = cell(posterior.link, moved, won, 1.0 - won)
        t += (slope - t) / (1.0 + bend * v)
    moved = eta + t * v
    value, slope, bend = cell(posterior.link, moved, won, 1.0 - won)
    centre += t * c
    posterior.mode[g] += t * c
    height = value - 0.5 * t * t * v
    posterior.log_weight[g] += height - 0.5 * log1p(bend * v)
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
    grown = 1.0 + bend * v
    beta = (1.0 - 1.0 / sqrt(grown)) / v
    for a in range(len(c)):
        for b in range(len(c)):
            root[a, b] -= beta * c[a] * contrast[b]
    if posterior.n_seen[2] == g:
        gamma = bend / grown
        for a in range(len(c)):
            for b in range(len(c)):
                posterior.covariance[a, b] -= gamma * c[a] * c[b]


@compiled
def anticipate(posterior, i, j, times):
    """Update the covariances, in place, as if i and j had dueled some times; means stay.

    The outcome is not known, so that only its expected information counts.
    """
    top = posterior.log_weight.max()
    n_followed = len(posterior.scale) if len(posterior.draws) == 0 else 0
    for g in range(n_followed):
        if posterior.log_weight[g] > top - NEGLIGIBLE:
            contrast, c, v, eta = of_pair(posterior, g, i, j)
            bend = times * expected_information(posterior.link, eta)
            shrink(posterior, g, c, contrast, v, bend)
    if posterior.draws.shape[0] > 1:
        draws = posterior.draws
        contrast = draws[:, i] - draws[:, j]
        mean = contrast.mean()
        away = contrast - mean
        freedom = len(draws) - 1
        v = (away**2).sum() / freedom
        if v > 0.0:
            bend = times * expected_information(posterior.link, mean)
            grown = 1.0 + bend * v
            beta = (1.0 - 1.0 / sqrt(grown)) / v
            for a in range(draws.shape[1]):
                c = (draws[:, a] * away).sum() / freedom
                draws[:, a] -= beta * c * away


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
            times = pairs[p, 2]
            eta = centre[i] - centre[j]
            bend = times * expected_information(posterior.link, eta)
            information[i, i] += bend
            information[j, j] += bend
            information[i, j] -= bend
            information[j, i] -= bend
        root = posterior.root[g]
        gained = root.T @ information @ root
        precision = np.eye(n_arms) + gained
        factor = np.linalg.cholesky(precision)
        inverse = np.linalg.inv(factor)
        posterior.root[g] = root @ inverse.T
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
        order = rng.permutation(n)
        return posterior.draws[order]
    if kept > 0:
        for d in range(n):
            at = rng.integers(0, kept)
            draws[d] = posterior.draws[at]
        return draws
    weight = weights(posterior.log_weight)
    cumulative = 0.0
    first = 0
    offset = rng.random()
    for g in range(len(weight)):  # as many draws of a node as its weight says, rounded at random
        cumulative += weight[g] * n
        last = min(int(cumulative + offset), n)
        if g == len(weight) - 1:
            last = n
        if last > first:
            n_here = last - first
            normal = np.empty((n_here, n_arms))
            for d in range(n_here):
                for a in range(n_arms):
                    normal[d, a] = rng.standard_normal()
            away = normal @ posterior.root[g].T
            draws[first:last] = posterior.centre[g] + away
            first = last
    order = rng.permutation(n)
    return draws[order]


@compiled
def heaviest(posterior):
    """Return mean and covariance of the scores at the node of largest weight.

    The covariance is kept until the node is computed anew; it is not to be written.
    """
    mean = heaviest_mean(posterior)
    if posterior.draws.shape[0] > 1:
        apart = posterior.draws - mean
        covariance = apart.T @ apart / (len(apart) - 1)
        return mean, covariance
    g = posterior.log_weight.argmax()
    if posterior.n_seen[2] != g:
        root = posterior.root[g]
        posterior.covariance[:, :] = root @ root.T
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
    g = posterior.log_weight.argmax()
    return posterior.centre[g].copy()


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
