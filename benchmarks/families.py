"""Families of arms: the error of each newest version, with and without what its family says.

``python -m benchmarks.families`` draws logs of eight families of four versions, of which the newest
has a twenty-fifth of the votes of another, and prints the root mean square error of the newest
versions' scores against the mean of all others, and how many 95 % intervals hold it.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.special import expit

import bayesduel as bd
from bayesduel.models import BradleyTerry, Covariates, Scores

FAMILIES, VERSIONS, VOTES = 8, 4, 3000
NEWEST = 1 / 25  # share of the votes of another version
SPREAD = 1.0, 0.3  # of families, and of versions of one


def errors(seed: int) -> dict[str, tuple[float, float]]:
    """Return error and coverage of the newest versions by model, in one simulated log.

    Parameters
    ----------
    seed
        Of the truth, the log and the fits.
    """
    rng = np.random.default_rng([59, seed])
    n_arms = FAMILIES * VERSIONS
    family = np.repeat(np.arange(FAMILIES), VERSIONS)
    newest = np.arange(n_arms) % VERSIONS == VERSIONS - 1
    truth = rng.normal(0, SPREAD[0], FAMILIES)[family] + rng.normal(0, SPREAD[1], n_arms)
    weight = np.where(newest, NEWEST, 1.0)
    left, right = (rng.choice(n_arms, VOTES, p=weight / weight.sum()) for _ in range(2))
    met = left != right
    left, right = left[met], right[met]
    won = rng.random(len(left)) < expit(truth[left] - truth[right])
    arms = [f"m{f}v{k % VERSIONS}" for k, f in enumerate(family)]
    names = np.array(arms)
    log = bd.Duels.from_votes(names[left], names[right], won, arms=arms)
    table = pd.DataFrame({"item": arms, "maker": [f"m{f}" for f in family]})
    items = bd.read_items(table, reference={"maker": None})
    models = {
        "a score each": BradleyTerry(),
        "Covariates(items)": BradleyTerry(Covariates(items)),
        "Scores(family=...)": BradleyTerry(Scores(family=items.levels("maker"))),
    }
    found = {}
    true = truth[newest] - truth[~newest].mean()
    for name, model in models.items():
        fit = bd.fit(log, model, seed=seed, draws=2000, clusters=False)
        score = fit.duel.posterior("model")["score"]
        away = score[:, newest] - score[:, ~newest].mean(axis=1, keepdims=True)
        low, high = np.quantile(away, [0.025, 0.975], axis=0)
        error = np.sqrt(np.mean((away.mean(axis=0) - true) ** 2))
        found[name] = float(error), float(np.mean((low <= true) & (true <= high)))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=10)
    logs = parser.parse_args().logs
    found = [errors(seed) for seed in range(logs)]
    print("| model | error of the newest | held by 95 % |\n| --- | --- | --- |")
    for name in found[0]:
        values = np.array([one[name] for one in found])
        mean, error = values.mean(axis=0), values.std(axis=0) / logs**0.5
        print(f"| {name} | {mean[0]:.2f} ± {error[0]:.2f} | {100 * mean[1]:.0f} % |")


if __name__ == "__main__":
    main()
