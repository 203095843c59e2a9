"""Policies for contexts of each round, in lockstep with their rules in plain NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import bayesduel as bd
from bayesduel.beliefs.item_belief import record_duel
from bayesduel.policies.contextual import vacdb
from bayesduel.policies.contextual.design_matrix import add_difference, best_pair, width
from bayesduel.problems import ContextualDuels

pytestmark = pytest.mark.plain

M, N, ROUNDS = 5, 3, 150
TRUTH = np.array([1.0, -0.5, 0.5])


def rounds_of(policy, expected, start=1):
    """Play rounds; every pair should be what `expected(X, belief, t, rng)` says before it."""
    items = ContextualDuels(n_arms=M, n_attributes=N).offer
    belief, memory = policy.belief.init(items), policy.init(items)
    rng, same, nature = (np.random.default_rng(seed) for seed in (1, 1, 2))
    pairs = []
    for t in range(start, start + ROUNDS):
        X = nature.standard_normal((M, N))
        belief.attributes[:] = X
        wanted = expected(X, belief, t, same, memory)
        named = policy.select(belief, memory, t, rng)
        assert tuple(map(int, named)) == tuple(map(int, wanted)), t
        won = float(nature.random() < expit((X[named[0]] - X[named[1]]) @ TRUTH))
        record_duel(belief, *named, won)
        pairs.append((X, *named, won))
    assert len({(i, j) for _, i, j, _ in pairs}) > M  # it does not always name the same
    return memory, pairs


def widths(X, V):
    """Return the widths of all pairs, shape (m, m)."""
    Z = X[:, None] - X
    return np.sqrt(np.einsum("ijk,kl,ijl->ij", Z, np.linalg.inv(V), Z))


def test_the_maximum_informative_pair():
    V = np.eye(N) / 4

    def expected(X, belief, t, rng, memory):
        lead = (X[:, None] - X) @ belief.mode
        wide = widths(X, V)
        among = (lead + np.sqrt(N * np.log(1 + t)) * wide >= 0).all(axis=1)
        wide[~among], wide[:, ~among] = -1, -1
        i, j = np.unravel_index(wide.argmax(), wide.shape)
        V[:] += np.outer(X[i] - X[j], X[i] - X[j])
        return i, j

    memory, pairs = rounds_of(bd.policies.MaxInP(), expected)
    np.testing.assert_allclose(memory.inverse, np.linalg.inv(V), rtol=1e-9)
    assert any(i == j for _, i, j, _ in pairs)  # one item may be the best, and duels itself


def test_perturbed_utilities_and_their_competitor():
    coupled = []

    def expected(X, belief, t, rng, memory):
        V, limit = np.linalg.inv(memory.inverse), np.sqrt(N * np.log(1 + t))
        if rng.random() < min(1, N * np.log(N * (1 + t)) / np.sqrt(t)):
            noise = -np.log([rng.standard_exponential() for _ in range(M)])
        else:
            coupled.append(t)
            noise = np.full(M, -np.log(rng.standard_exponential()))
        own = np.sqrt(np.einsum("ik,kl,il->i", X, np.linalg.inv(V), X))
        i = (X @ belief.mode + np.clip(noise, -limit, limit) * own).argmax()
        lead = (X - X[i]) @ belief.mode + 0.5 * limit * widths(X, V)[i]
        return i, lead.argmax() if lead.max() > 0 else i

    rounds_of(bd.policies.CoLSTIM(alpha=0.5), expected)
    assert coupled == []  # 3 ln(3 t) / sqrt(t) is still above 1
    rounds_of(bd.policies.CoLSTIM(alpha=0.5), expected, start=10_000)
    assert len(coupled) > ROUNDS / 3


def test_feel_good_draws():
    apart, eta, mu = np.zeros(N), 0.5, 2.0

    def expected(X, belief, t, rng, memory):
        C = belief.covariance / eta
        shift, root = C @ apart * mu / np.sqrt(t), np.linalg.cholesky(C)
        i = (X @ (belief.mode + root @ rng.standard_normal(N) + shift)).argmax()
        j = (X @ (belief.mode + root @ rng.standard_normal(N) - shift)).argmax()
        apart[:] += X[i] - X[j]
        return i, j

    rounds_of(bd.policies.FGTSCDB(eta=eta, mu=mu), expected)


def test_feel_good_draws_are_near_the_exact_posterior():
    """By importance sampling from all past rounds; see the deviations in ``fgts_cdb.py``."""
    policy, eta, truth = bd.policies.FGTSCDB(), 0.25, np.array([0.8, -0.6])
    items = ContextualDuels(n_arms=M, n_attributes=2).offer
    belief, memory = policy.belief.init(items), policy.init(items)
    rng, nature, rate = np.random.default_rng(0), np.random.default_rng(1), policy.mu / 20
    rounds = []
    for t in range(1, 401):
        X = belief.attributes[:] = nature.standard_normal((M, 2))
        i, j = policy.select(belief, memory, t, rng)
        rounds.append((X, i, j, float(nature.random() < expit((X[i] - X[j]) @ truth))))
        record_duel(belief, i, j, rounds[-1][-1])
    C = belief.covariance / eta
    z = np.random.default_rng(2).multivariate_normal(belief.mode, 1.5 * C, size=20_000)
    away = z - belief.mode
    log_weight = (
        np.einsum("ij,jk,ik->i", away, np.linalg.inv(3 * C), away) - eta * (z**2).sum(1) / 8
    )
    for X, i, j, won in rounds:
        u = z @ (X[i] - X[j])
        log_weight += eta * (won * u - np.logaddexp(0, u))
        log_weight += rate * ((z @ X.T).max(axis=1) - z @ X[j])
    weight = np.exp(log_weight - log_weight.max())
    mean = weight @ z / weight.sum()
    sd = np.sqrt(weight @ (z - mean) ** 2 / weight.sum())
    assert (abs(belief.mode + C @ memory.apart * rate - mean) < 0.5 * sd).all()
    np.testing.assert_allclose(np.sqrt(np.diag(C)), sd, rtol=0.15)


def test_layers_of_estimates():
    L, kappa, delta, scale = vacdb.LAYERS, 0.1, 0.05, 0.001
    V = [4.0**-k * np.eye(N) for k in range(1, L + 1)]
    duels, spread, asked = [[] for _ in range(L)], np.zeros(L), []

    def expected(X, belief, t, rng, memory):
        if asked:  # the outcome of the duel before, into its layer
            k, z, w, i, before = asked.pop()
            won = float(belief.successes[i] - before)
            spread[k] += w * (won - expit(z @ memory.layers.mode[k])) ** 2
            duels[k].append((z, w, won))
        vacdb.learn_last(belief, memory)
        among = np.arange(M)
        for k in range(L):
            level, wide = 0.5 ** (k + 1), widths(X[among], V[k])
            utility = X[among] @ memory.layers.mode[k]
            total = np.where(np.triu(np.ones_like(wide)) > 0, utility[:, None] + utility, -np.inf)
            if wide.max() > level:
                a, b = np.unravel_index(
                    np.where(wide >= level, total, -np.inf).argmax(), wide.shape
                )
                i, j = among[a], among[b]
                w = (level / wide[a, b]) ** 2
                V[k] += w * np.outer(X[i] - X[j], X[i] - X[j])
                asked.append((k, X[i] - X[j], w, i, int(belief.successes[i])))
                return i, j
            now, then = (np.log(4 * L / delta * s**2) for s in (t + 1, t))
            constant = 16 * np.sqrt((8 * spread[k] + 18 * now) * then) + 6 * then
            beta = level * (scale * constant + 2)
            if wide.max() <= 0.5**L:
                break
            among = among[utility >= utility.max() - level * beta]
        a, b = np.unravel_index((total + beta * wide).argmax(), wide.shape)
        return among[a], among[b]

    def loss(theta, k, rows):
        z, w, won = (np.array(part) for part in zip(*rows, strict=True))
        u = z @ theta
        return w @ (np.logaddexp(0, u) - won * u) + kappa * 4.0**-k * theta @ theta / 2

    memory, _ = rounds_of(bd.policies.VACDB(), expected)
    np.testing.assert_allclose(memory.spread, spread)
    assert sum(len(rows) > 10 for rows in duels) >= 2
    for k, rows in enumerate(duels, 1):
        if rows:
            exact = minimize(loss, np.zeros(N), args=(k, rows), tol=1e-10).x
            np.testing.assert_allclose(memory.layers.mode[k - 1], exact, atol=0.1)


def test_pairs_and_widths_of_a_design_matrix():
    rng = np.random.default_rng(3)
    inverse, V = np.eye(N), np.eye(N)
    for _ in range(20):
        z, weight = rng.standard_normal(N), rng.random()
        add_difference(inverse, z, weight)
        V += weight * np.outer(z, z)
    np.testing.assert_allclose(inverse, np.linalg.inv(V), rtol=1e-10)
    z = rng.standard_normal(N)
    assert width(inverse, z) == pytest.approx(np.sqrt(z @ np.linalg.solve(V, z)))
    belief = bd.policies.MaxInP().belief.init(ContextualDuels(n_arms=M, n_attributes=N).offer)
    belief.attributes[:] = rng.standard_normal((M, N))
    alone = np.arange(M) == 3
    assert best_pair(belief, alone, np.zeros(M), inverse, 1.0) == (3, 3, 0.0)
