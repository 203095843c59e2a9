"""Forecasts after the log: intervals of win probabilities, and log loss, one to ten periods ahead.

``python -m benchmarks.forecasts --worlds 60`` draws ratings that walk, cuts the log where the last
period ends, and fits ``TimeVarying``. It prints how many 95 % intervals of the future probability
of each pair hold the true one, and the mean log loss of a duel, of forecasts that drift on and of
those that keep the last period. Each world has a scale of the scores and a drift from the prior.
"""

import argparse

import numpy as np
from scipy.special import expit

import bayesduel as bd
from bayesduel.models import BradleyTerry, TimeVarying

ARMS, PERIODS, DUELS = 8, 10, 60  # and duels a period
AHEAD = (1, 3, 5, 10)
DRIFT = 0.5  # scale of the half-normal prior of the drift, that of the term


def world(seed: int, draws: int = 1000) -> np.ndarray:
    """Return coverage and log loss, moving on and not, (2, 2, ahead), in one world.

    Parameters
    ----------
    seed
        Of the truth, the log and the fit.
    draws
        Of the fit.
    """
    rng = np.random.default_rng([59, seed])
    drift = abs(rng.normal(0, DRIFT))
    rating = np.abs(rng.normal(0, 2.0)) * rng.normal(size=ARMS)
    walk = drift * rng.normal(size=(PERIODS + max(AHEAD), ARMS))
    walk[0] = rating
    rating = walk.cumsum(axis=0)
    time = np.repeat(np.arange(PERIODS), DUELS)
    left = rng.integers(0, ARMS, len(time))
    right = (left + rng.integers(1, ARMS, len(time))) % ARMS
    won = rng.random(len(time)) < expit(rating[time, left] - rating[time, right])
    labels = [f"a{k}" for k in range(ARMS)]
    names = np.array(labels)
    edges = tuple(np.arange(PERIODS + 1) - 0.5)
    log = bd.Duels.from_votes(names[left], names[right], won, time=time, arms=labels)
    model = BradleyTerry() + TimeVarying(edges=edges)
    fit = bd.fit(log, model, draws=draws, seed=seed, clusters=False)
    i, j = np.triu_indices(ARMS, 1)
    found = np.empty((2, 2, len(AHEAD)))
    for k, ahead in enumerate(AHEAD):
        then = rating[PERIODS - 1 + ahead]
        truth = expit(then[i] - then[j])
        for moves in (0, 1):
            at = PERIODS - 1 + ahead * moves
            p = bd.predict(fit, list(names[i]), list(names[j]), time=at)
            held = (p["win_lower"] <= truth) & (truth <= p["win_upper"])
            win = p["win"].to_numpy()
            loss = -(truth * np.log(win) + (1 - truth) * np.log1p(-win))
            found[:, moves, k] = held.mean(), loss.mean()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=60)
    worlds = parser.parse_args().worlds
    found = np.array([world(seed) for seed in range(worlds)])
    mean, error = found.mean(axis=0), found.std(axis=0) / worlds**0.5
    apart = found[:, 1, 1] - found[:, 1, 0]
    print("| periods ahead | " + " | ".join(map(str, AHEAD)) + " |")
    print("| --- " * (len(AHEAD) + 1) + "|")
    for moves, words in ((0, "the last period"), (1, "drifting on")):
        cells = [f"{100 * m:.0f} ± {100 * e:.0f} %" for m, e in zip(mean[0, moves], error[0, moves],
                 strict=True)]  # fmt: skip
        print(f"| held, {words} | " + " | ".join(cells) + " |")
    for moves, words in ((0, "the last period"), (1, "drifting on")):
        print(f"| log loss, {words} | " + " | ".join(f"{m:.4f}" for m in mean[1, moves]) + " |")
    cells = [f"{m:+.4f} ± {e:.4f}" for m, e in
             zip(apart.mean(axis=0), apart.std(axis=0) / worlds**0.5, strict=True)]  # fmt: skip
    print("| difference | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
