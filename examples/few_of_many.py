"""Many attributes, but few of them count: a horseshoe prior beside a normal prior.

Each simulated log has 1,000 duels between 150 items with 50 attributes. Four attributes count: one
standard deviation of them changes the log odds by 0.5 to 1.0. The other 46 have no effect.

The table has the mean over the logs, for each prior:

- the root mean square error of the coefficients that count, and of those that do not count;
- the width of the 95 % intervals of those that do not count;
- how many intervals leave out zero: "found" if the attribute counts, "called" if it does not;
- the log loss per duel on new items, above the log loss of the true probabilities.

    python examples/few_of_many.py --logs 6
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.special import expit, xlogy

import bayesduel as bd
from bayesduel.models import BradleyTerry, Covariates

COUNTS = np.array([1.0, -0.8, 0.6, 0.5])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=6)
    parser.add_argument("--attributes", type=int, default=50)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args(arguments)
    rows = []
    for seed in range(given.logs):
        rng = np.random.default_rng(seed)
        z = np.append(COUNTS, np.zeros(given.attributes - len(COUNTS)))
        frame = pd.DataFrame(rng.standard_normal((150, len(z)))).add_prefix("x")
        items = bd.read_items(frame.assign(item=frame.index.astype(str)))
        log = drawn(items, z, rng)
        for prior, sparsity in (("normal", None), ("horseshoe", float(len(COUNTS)))):
            model = BradleyTerry(Covariates(items, item_effect=False, sparsity=sparsity))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # 1,000 duels of 150 items are few
                fit = bd.fit(log, model, draws=given.draws, chains=2, seed=seed)
            rows.append({"prior": prior, **judged(fit, z, np.random.default_rng(seed))})
    print(pd.DataFrame(rows).groupby("prior", sort=False).mean().round(4).T.to_string())


def drawn(items, z: np.ndarray, rng: np.random.Generator) -> bd.Duels:
    """Return 1,000 duels of pairs at random."""
    labels, utility = np.array(items.labels), items.matrix() @ z
    left = rng.integers(0, len(labels), 1000)
    right = (left + rng.integers(1, len(labels), 1000)) % len(labels)
    win = rng.random(1000) < expit(utility[left] - utility[right])
    return bd.Duels.from_votes(labels[left], labels[right], win.astype(float))


def judged(fit, z: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Return how far the fit is from the coefficients `z`."""
    table = bd.coefficients(fit)
    away = table["standard"].to_numpy() - z
    lower, upper = table["standard_lower"].to_numpy(), table["standard_upper"].to_numpy()
    called = (lower > 0) | (upper < 0)
    apart = rng.standard_normal((2000, len(z))) - rng.standard_normal((2000, len(z)))
    draws = fit["posterior"]["coefficient"].to_numpy().reshape(-1, len(z))
    truth, told = expit(apart @ z), expit(draws @ apart.T).mean(axis=0)
    lost = xlogy(truth, truth / told) + xlogy(1 - truth, (1 - truth) / (1 - told))
    return {
        "error of those that count": np.sqrt((away[z != 0] ** 2).mean()),
        "error of those that do not count": np.sqrt((away[z == 0] ** 2).mean()),
        "width of their intervals": (upper - lower)[z == 0].mean(),
        "found of those that count": called[z != 0].sum(),
        "called but do not count": called[z == 0].sum(),
        "extra log loss on new items": lost.mean(),
    }


if __name__ == "__main__":
    main()
