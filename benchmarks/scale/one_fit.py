"""One fit with its winners: ``python -m benchmarks.scale.one_fit ARMS DUELS DRAWS``.

Prints JSON: seconds, processor seconds and peak memory of the process.
"""

import json
import sys
import warnings

import numpy as np

from benchmarks.scale.measuring import measured


def main(n_arms: int, n_duels: int, draws: int) -> None:
    """Fit Bradley-Terry to duels of random pairs, and name winners."""
    import bayesduel as bd

    rng = np.random.default_rng([n_arms, n_duels])
    score = rng.normal(size=n_arms)
    left = rng.integers(0, n_arms, n_duels)
    right = (left + rng.integers(1, n_arms, n_duels)) % n_arms
    won = rng.random(n_duels) < 1 / (1 + np.exp(score[right] - score[left]))
    wins = np.zeros((n_arms, n_arms))
    np.add.at(wins, (np.where(won, left, right), np.where(won, right, left)), 1)
    duels = bd.Duels.from_wins(wins)
    warnings.simplefilter("ignore")
    bd.winners(bd.fit(duels, draws=100))  # compiles
    took, _ = measured(lambda: bd.winners(bd.fit(duels, draws=draws)))
    print(json.dumps(took))


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
