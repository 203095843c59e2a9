"""The pivot index in plain Python, as docs/validation/pivot_index.md has it: nothing kept or cut.

The strengths of the two arms of a race are integrated out by Gauss-Legendre quadrature, exactly, as
everything is a polynomial in them, and fair signs added; given the strengths, signs are
independent. Pivotal chances are those of all signs but one, multiplied out again for each;
everything is computed anew after every duel of two arms.
"""

import numpy as np
from scipy.special import betainc


class PlainPivotIndex:
    """The state after some duels, and what is duelled when."""

    def __init__(self, n_arms, rng):
        self.wins = np.zeros((n_arms, n_arms))
        self.rng = rng
        self.look()

    def next(self, t):
        return self.pair if t >= self.wait else (self.champion, self.champion)

    def tell(self, i, j, won):
        if i != j:
            self.wins[(i, j) if won else (j, i)] += 1
            self.look()

    def look(self):
        n, fewer = self.wins + self.wins.T, np.minimum(self.wins, self.wins.T)
        wrong = betainc(n - fewer + 8, fewer + 8, 0.5)
        lead = self.wins - self.wins.T
        self.beats = np.where(lead == 0, 0.5, np.where(lead > 0, 1 - wrong, wrong))
        expected = self.beats.sum(1) - 0.5
        signs = ((self.beats > 0.5) + (self.beats == 0.5) / 2).sum(1) - 0.5
        best = [i for i in range(len(n)) if signs[i] == signs.max()]
        top = max(expected[i] for i in best)
        self.champion = self.one_of([i for i in best if expected[i] >= top - 1e-9])
        self.index = self.indices()
        times, pairs = [], []
        for i in range(len(n)):
            for j in range(i + 1, len(n)):
                if self.index[i, j] > 1e-18:
                    cost = expected.max() - (expected[i] + expected[j]) / 2 + 0.5
                    own = -np.log(4 * self.beats[i, j] * self.beats[j, i])
                    joint = max(own, -np.log(self.index[i, j]))
                    credit = (n[i, j] + 1) * (8 + joint) / (8 + 2 * own)
                    times.append(credit * cost / self.index[i, j])
                    pairs.append((i, j))
        self.wait = min(times)
        near = [pair for pair, time in zip(pairs, times, strict=True) if time <= self.wait * CLOSE]
        self.pair = self.one_of(near)

    def indices(self):
        """V, symmetric, shape (K, K)."""
        q, c = self.beats, self.champion
        n_arms = len(q)
        index = np.zeros((n_arms, n_arms))
        nodes, weights = np.polynomial.legendre.leggauss(n_arms // 2 + 1)
        nodes, weights = np.append((nodes + 1) / 2, 0.5), np.append(weights / 4, 0.5)  # or fair
        win, lose = (x.ravel() for x in np.meshgrid(nodes, nodes))
        both = np.outer(weights, weights).ravel()
        for r in set(range(n_arms)) - {c}:
            # Chances that a sign helps the rival or not, times those by strength over 1/2.
            coins = {(r, j): two(q[r, j], win) for j in range(n_arms) if j not in (c, r)}
            coins |= {(j, c): two(q[j, c], lose) for j in range(n_arms) if j not in (c, r)}
            beat = 2 * q[r, c] * 2 * win * lose
            lost = 2 * q[c, r] * 2 * (1 - win) * (1 - lose)
            all_of = successes(list(coins.values()), len(both))
            total = both @ ((beat + lost) * all_of.sum(1))
            for pair, (plus, minus) in coins.items():
                rest = [sides for other, sides in coins.items() if other != pair]
                g = successes(rest, len(both))
                pivotal = beat * at(g, n_arms - 3) + lost * at(g, n_arms - 1)
                index[pair] += spread(both @ (plus * pivotal), both @ (minus * pivotal)) / total
            pivotal = at(all_of, n_arms - 2) + at(all_of, n_arms - 1)
            index[r, c] += spread(both @ (beat * pivotal), both @ (lost * pivotal)) / total
        return index + index.T

    def one_of(self, items):
        return items[int(self.rng.random() * len(items)) if len(items) > 1 else 0]


CLOSE = 1 + 1e-12


def two(chance, strength):
    """Chances of both signs of a pair, given the strength, over fair signs."""
    return 2 * chance * strength, 2 * (1 - chance) * (1 - strength)


def spread(plus, minus):
    """Four times the product of two parts over their sum."""
    return 4 * plus * minus / (plus + minus) if plus + minus > 0 else 0.0


def successes(coins, n):
    """Weights of 0, 1, ... successes, shape (n, number + 1)."""
    pmf = np.ones((n, 1))
    for plus, minus in coins:
        longer = np.zeros((n, pmf.shape[1] + 1))
        longer[:, 1:] += plus[:, None] * pmf
        longer[:, :-1] += minus[:, None] * pmf
        pmf = longer
    return pmf


def at(pmf, k):
    """Weights of k successes."""
    return pmf[:, k] if 0 <= k < pmf.shape[1] else np.zeros(len(pmf))
