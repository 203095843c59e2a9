"""The pivot index in plain Python, as docs/pivot_index.md states it: nothing kept, nothing cut.

Pivotal chances are those of all coins but one, multiplied out again for each; everything is
computed anew after every duel of two arms.
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
        for r in set(range(n_arms)) - {c}:
            coins = [pair for j in range(n_arms) if j not in (c, r) for pair in ((r, j), (j, c))]
            for pair in coins:
                g = successes([q[other] for other in coins if other != pair])
                u = q[pair]
                pivotal = q[r, c] * at(g, n_arms - 3) + q[c, r] * at(g, n_arms - 1)
                index[pair] += 4 * u * (1 - u) * pivotal
            f = successes([q[pair] for pair in coins])
            index[r, c] += 4 * q[r, c] * q[c, r] * (at(f, n_arms - 2) + at(f, n_arms - 1))
        return index + index.T

    def one_of(self, items):
        return items[int(self.rng.random() * len(items)) if len(items) > 1 else 0]


CLOSE = 1 + 1e-12


def successes(chances):
    """Pr(0), Pr(1), ... successes of independent coins."""
    pmf = np.ones(1)
    for u in chances:
        pmf = np.convolve(pmf, [1 - u, u])
    return pmf


def at(pmf, s):
    return pmf[s] if 0 <= s < len(pmf) else 0.0
