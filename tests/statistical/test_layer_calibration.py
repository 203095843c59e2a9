"""Simulation-based calibration of every layer (slow): see test_calibration.py."""

import os
import warnings

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    Davidson,
    JudgeReliability,
    OrderEffect,
    Thurstone,
    TimeVarying,
)

pytestmark = pytest.mark.slow

N_ARMS, EACH, JUDGES, RANKS = 4, 4, 4, 99
REPETITIONS = int(os.environ.get("BAYESDUEL_SBC", "100"))
PERIODS = {"periods": 3, "edges": (0.0, 1.0, 2.0, 3.0)}
MODELS = {
    "order": OrderEffect(Davidson()),
    "judges": JudgeReliability(BradleyTerry()),
    "walk": TimeVarying(Thurstone(), **PERIODS),
    "smooth": TimeVarying(BradleyTerry(), process="smooth", **PERIODS),
    "cycles": BladeChest(BradleyTerry(), planes=1),
    "all": OrderEffect(JudgeReliability(TimeVarying(BladeChest(Davidson()), **PERIODS))),
}


def design():
    """Every ordered pair `EACH` times by every judge, in turn over three periods, with ties."""
    i, j, judge, k = (x.ravel() for x in np.indices((N_ARMS, N_ARMS, JUDGES, EACH)))
    met = i != j
    i, j, judge, k = i[met], j[met], judge[met], k[met]
    time = (k + i + judge) % 3 + 0.5
    return bd.Duels.from_votes(i, j, [1, 0, 0.5] * (len(i) // 3), judge=judge, time=time)


def simulate(model, n, seed):
    """Return n truths and the logs drawn from them."""
    duels = design()
    data = model.cells(duels).data
    with model.build(duels), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba notes that it draws in object mode
        tree = pm.sample_prior_predictive(n, random_seed=seed)
    prior = {str(k): v.values[0] for k, v in tree["prior"].data_vars.items()}
    logs = []
    cells = len(data["n"])
    judge = data.get("judge_of_cell", np.zeros(cells, dtype=int))
    period = data.get("period_of_cell", np.zeros(cells, dtype=int))
    for drawn in tree["prior_predictive"]["outcome"].values[0]:
        counts = drawn if drawn.ndim == 2 else np.stack([drawn, data["n"] - drawn, 0 * drawn], 1)
        cell, outcome = np.nonzero(counts)
        logs.append(
            bd.Duels.from_votes(
                data["first"][cell],
                data["second"][cell],
                np.array([1.0, 0.0, 0.5])[outcome],
                weight=counts[cell, outcome],
                judge=judge[cell],
                time=period[cell] + 0.5,
                arms=duels.arms,
            )
        )
    return prior, logs


def quantities(model, draws):
    """Return the numbers whose ranks are checked, each (n_draws,)."""
    P = model.preference(draws)
    found = {"P[0,1]": P[:, 0, 1], "P[2,3]": P[:, 2, 3]}
    scalars = ("scale", "tie", "order", "judge_spread", "drift", "length")
    found |= {name: draws[name] for name in scalars if name in draws}
    if "sensitivity" in draws:
        found["sensitivity[0]"] = draws["sensitivity"][:, 0]
    if "rating" in draws:
        found["rating[0]"] = draws["rating"][:, 0, 0] - draws["rating"][:, 0, 1]
    if "plane_scale" in draws:
        found["plane_scale"] = draws["plane_scale"][:, 0]
        odds = [P[:, a, b] for a, b in ((0, 1), (1, 2), (2, 0))]
        found["cycle"] = sum(np.log(p / (1 - p)) for p in odds)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_ranks_of_the_truth_are_uniform(name, record_property):
    model = MODELS[name]
    place = list(MODELS).index(name)
    prior, logs = simulate(model, REPETITIONS, seed=200 + place)
    if not model.ranks_by_score:
        prior["strength"] = prior.pop("score")
    ranks: dict[str, list[int]] = {}
    rng = np.random.default_rng(place)
    draws = 400 if model.linear else 1600  # thinned to RANKS nearly independent ones
    for k, log in enumerate(logs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thin log is meant here
            tree = bd.fit(log, model, draws=draws, seed=k, log_likelihood=False)
        posterior = {
            str(n): v.values.reshape(-1, *v.shape[2:])
            for n, v in tree["posterior"].data_vars.items()
        }
        kept = np.linspace(0, draws - 1, RANKS).astype(int)
        truth = quantities(model, {n: v[k : k + 1] for n, v in prior.items()})
        for quantity, values in quantities(model, posterior).items():
            below = (values[kept] < truth[quantity][0]).sum()
            same = (values[kept] == truth[quantity][0]).sum()
            ranks.setdefault(quantity, []).append(int(below + rng.integers(0, same + 1)))
    for quantity, found in ranks.items():
        counts = np.histogram(found, bins=10, range=(0, RANKS + 1))[0]
        p_value = stats.chisquare(counts).pvalue
        record_property(f"{quantity} p", round(float(p_value), 4))
        print(f"{name} {quantity}: p = {p_value:.3f} {counts.tolist()}")
        # About 40 quantities: a right sampler fails one of them once in 250 runs of the suite.
        assert p_value > 1e-4, f"{quantity}: ranks {counts.tolist()} are not uniform"
