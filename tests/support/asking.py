"""Ask a policy once, after given tallies: for hand-worked rounds."""

import numpy as np


def remembered(policy, wins, t, seed=0, prepare=None):
    """The pair and the memory after one question, the belief holding the tallies `wins`."""
    wins = np.asarray(wins, dtype=float)
    belief, memory = policy.belief.init(len(wins)), policy.init(len(wins))
    belief.wins[:] = wins
    belief.n_duels[0] = round(wins.sum())
    if prepare is not None:
        prepare(memory)
    pair = policy.select(belief, memory, t, np.random.default_rng(seed))
    return tuple(int(i) for i in pair), memory


def ask(policy, wins, t, seeds=range(60), prepare=None):
    """Every pair the policy names over many seeds, with how often."""
    counts = {}
    for seed in seeds:
        pair, _ = remembered(policy, wins, t, seed, prepare)
        counts[pair] = counts.get(pair, 0) + 1
    return counts
