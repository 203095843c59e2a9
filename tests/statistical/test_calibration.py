"""Simulation-based calibration of every model with every method (slow).

Draw the truth from the prior, a log from the truth, and fit it: over many repetitions the rank
of the truth among the posterior draws is uniform, whatever the model, exactly when the
posterior is the right one.

References
----------
Talts, Betancourt, Simpson, Vehtari & Gelman, "Validating Bayesian inference algorithms with
simulation-based calibration", arXiv 1804.06788.
"""

import os
import warnings

import numpy as np
import pymc as pm
import pytest
from scipy import stats

from bayesduel.data.duels import Duels
from bayesduel.inference.fit import fit
from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix, Thurstone

pytestmark = pytest.mark.slow

N_ARMS, EACH, RANKS = 5, 6, 99
REPETITIONS = int(os.environ.get("BAYESDUEL_SBC", "200"))
MODELS = [BradleyTerry(), Thurstone(), Davidson(), PreferenceMatrix()]


def design() -> Duels:
    """Every pair `EACH` times: wins and ties only fix the shape, the outcomes are replaced."""
    wins = np.full((N_ARMS, N_ARMS), EACH // 2 - 1)
    np.fill_diagonal(wins, 0)
    ties = 2 * (np.ones((N_ARMS, N_ARMS)) - np.eye(N_ARMS))
    return Duels.from_wins(wins, ties=ties)


def simulate(model, n, seed):
    """Return n truths and the logs drawn from them."""
    with model.build(design()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = pm.sample_prior_predictive(n, random_seed=seed)
    prior = {str(k): v.values[0] for k, v in tree["prior"].data_vars.items()}
    outcome = tree["prior_predictive"]["outcome"].values[0]
    first, second = np.triu_indices(N_ARMS, 1)
    logs = []
    for drawn in outcome:
        counts = drawn if drawn.ndim == 2 else np.stack([drawn, EACH - drawn, 0 * drawn], 1)
        wins, ties = np.zeros((2, N_ARMS, N_ARMS))
        wins[first, second], wins[second, first] = counts[:, 0], counts[:, 1]
        ties[first, second] = ties[second, first] = counts[:, 2]
        logs.append(Duels.from_wins(wins, ties=ties))
    return prior, logs


def quantities(model, draws):
    """Return the numbers whose ranks are checked, each (n_draws,)."""
    P = model.preference(draws)
    found = {"P[0,1]": P[:, 0, 1], "P[2,4]": P[:, 2, 4], "min P[0]": P[:, 0].min(axis=-1)}
    for name in ("scale", "tie", "concentration"):
        if name in draws:
            found[name] = draws[name]
    return found


@pytest.mark.parametrize("method", ["laplace", "nuts"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_ranks_of_the_truth_are_uniform(model, method, record_property):
    seed = [MODELS.index(model), method == "nuts"]
    prior, logs = simulate(model, REPETITIONS, seed=100 + MODELS.index(model))
    ranks: dict[str, list[int]] = {}
    rng = np.random.default_rng(seed)
    draws = 400 if method == "laplace" else 1600  # thinned to RANKS nearly independent ones
    for k, log in enumerate(logs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thin log is meant here
            tree = fit(log, model, method, draws=draws, seed=k, log_likelihood=False)
        posterior = {
            str(n): v.values.reshape(-1, *v.shape[2:])
            for n, v in tree["posterior"].data_vars.items()
        }
        kept = np.linspace(0, draws - 1, RANKS).astype(int)
        truth = quantities(model, {n: v[k : k + 1] for n, v in prior.items() if n in posterior})
        for name, values in quantities(model, posterior).items():
            below = (values[kept] < truth[name][0]).sum()
            same = (values[kept] == truth[name][0]).sum()
            ranks.setdefault(name, []).append(int(below + rng.integers(0, same + 1)))
    for name, found in ranks.items():
        counts = np.histogram(found, bins=10, range=(0, RANKS + 1))[0]
        p_value = stats.chisquare(counts).pvalue
        record_property(f"{name} p", round(float(p_value), 4))
        print(f"{model!r} {method} {name}: p = {p_value:.3f} {counts.tolist()}")
        # About 35 quantities: a right sampler fails one of them once in 300 runs of the suite.
        assert p_value > 1e-4, f"{name}: ranks {counts.tolist()} are not uniform"
