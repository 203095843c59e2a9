"""Families of arms: the error of each newest version, with and without what its family says.

``python -m benchmarks.families`` draws logs of eight families of four versions, of which the newest
has a twenty-fifth of the votes of another, and prints the root mean square error of the newest
versions' scores against the mean of all others, and how many 95 % intervals hold it. Then a version
of each family comes that has not duelled, and the first version of as many new families: the error
of the predicted win probability against each arm, and how many 95 % intervals hold that.
"""

import argparse
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

import bayesduel as bd
from bayesduel.models import BradleyTerry, Covariates, Scores

FAMILIES, VERSIONS, VOTES = 8, 4, 3000
NEWEST = 1 / 25  # share of the votes of another version
SPREAD = 1.0, 0.3  # of families, and of versions of one


class World(NamedTuple):
    """A simulated log, and what is true of it."""

    log: bd.Duels
    family: dict[str, str]  # of each arm
    truth: np.ndarray  # scores, (arms,)
    newest: np.ndarray  # which arms are the newest of their family, (arms,)
    coming: np.ndarray  # scores of a version of each family that has not duelled, (families,)
    first: np.ndarray  # scores of the first versions of as many new families, (families,)


def world(seed: int) -> World:
    """Return a simulated log.

    Parameters
    ----------
    seed
        Of the truth and the log.
    """
    rng = np.random.default_rng([59, seed])
    n_arms = FAMILIES * VERSIONS
    family = np.repeat(np.arange(FAMILIES), VERSIONS)
    newest = np.arange(n_arms) % VERSIONS == VERSIONS - 1
    level = rng.normal(0, SPREAD[0], FAMILIES)
    truth = level[family] + rng.normal(0, SPREAD[1], n_arms)
    weight = np.where(newest, NEWEST, 1.0)
    left, right = (rng.choice(n_arms, VOTES, p=weight / weight.sum()) for _ in range(2))
    met = left != right
    left, right = left[met], right[met]
    won = rng.random(len(left)) < expit(truth[left] - truth[right])
    arms = [f"m{f}v{k % VERSIONS}" for k, f in enumerate(family)]
    names = np.array(arms)
    log = bd.Duels.from_votes(names[left], names[right], won, arms=arms)
    coming = level + rng.normal(0, SPREAD[1], FAMILIES)
    first = rng.normal(0, np.hypot(*SPREAD), FAMILIES)
    named = {arm: f"m{family[k]}" for k, arm in enumerate(arms)}
    return World(log, named, truth, newest, coming, first)


def errors(seed: int) -> dict[str, tuple[float, float]]:
    """Return error and coverage in one simulated log: of the newest by model, and of the coming.

    Parameters
    ----------
    seed
        Of the truth, the log and the fits.
    """
    here = world(seed)
    table = pd.DataFrame({"item": [*here.family], "maker": [*here.family.values()]})
    items = bd.read_items(table, reference={"maker": None})
    models = {
        "a score each": BradleyTerry(),
        "Covariates(items)": BradleyTerry(Covariates(items)),
        "Scores(family=...)": BradleyTerry(Scores(family=here.family)),
    }
    found = {}
    newest = here.newest
    true = here.truth[newest] - here.truth[~newest].mean()
    for name, model in models.items():
        fit = bd.fit(here.log, model, seed=seed, draws=2000, clusters=False)
        score = fit.duel.posterior("model")["score"]
        away = score[:, newest] - score[:, ~newest].mean(axis=1, keepdims=True)
        low, high = np.quantile(away, [0.025, 0.975], axis=0)
        found[name] = _judged(away.mean(axis=0), low, high, true)
    found["a coming version"] = _coming(fit, here, here.coming, known=True)
    found["the first version of a new family"] = _coming(fit, here, here.first, known=False)
    return found


def _coming(
    fit: xr.DataTree, here: World, score: np.ndarray, *, known: bool
) -> tuple[float, float]:
    """Return error and coverage of the win probabilities of versions that have not duelled."""
    new = [f"m{k} new" for k in range(FAMILIES)]
    family = {arm: arm.split()[0] if known else None for arm in new}
    arms = here.log.arms
    left, right = np.repeat(new, len(arms)), np.tile(arms, FAMILIES)
    predicted = bd.predict(fit, left.tolist(), right.tolist(), family=family)
    win, low, high = (predicted[name].to_numpy() for name in ("win", "win_lower", "win_upper"))
    true = expit(score[:, None] - here.truth).ravel()
    return _judged(win, low, high, true)


def _judged(
    found: np.ndarray, low: np.ndarray, high: np.ndarray, true: np.ndarray
) -> tuple[float, float]:
    """Return the root mean square error, and the share of intervals that hold the truth."""
    error = np.sqrt(np.mean((found - true) ** 2))
    return float(error), float(np.mean((low <= true) & (true <= high)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=40)
    logs = parser.parse_args().logs
    found = [errors(seed) for seed in range(logs)]
    print("| model | error | held by 95 % |\n| --- | --- | --- |")
    for name in found[0]:
        values = np.array([one[name] for one in found])
        mean, error = values.mean(axis=0), values.std(axis=0) / logs**0.5
        held = f"{100 * mean[1]:.1f} ± {100 * error[1]:.1f} %"
        print(f"| {name} | {mean[0]:.2f} ± {error[0]:.2f} | {held} |")


if __name__ == "__main__":
    main()
