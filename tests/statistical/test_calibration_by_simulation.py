"""Simulation-based calibration of every model, with every method and layer (slow).

The cases, and how truths and logs are drawn: benchmarks/simulated_ranks.py. The validation page
has the same cells with more truths.
"""

import os

import pytest

from benchmarks.simulated_ranks import CASES, RANKS, p_values, ranks
from benchmarks.validation.calibration_by_simulation import EXPERIMENT

REPETITIONS = int(os.environ.get("BAYESDUEL_SBC", "100"))
RUNS = [(name, method) for name, case in CASES.items() for method in case.methods]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), RUNS)
def test_ranks_of_the_truth_are_uniform(name, method, record_property):
    found = ranks(name, method, REPETITIONS, seed=RUNS.index((name, method)))
    for quantity, p_value in p_values(found).items():
        record_property(f"{quantity} p", round(p_value, 4))
        print(f"{name} {method} {quantity}: p = {p_value:.3f}")
        # About 250 quantities: a right sampler fails one of them once in 40 runs of the suite.
        assert p_value > 1e-4, f"{quantity}: ranks {sorted(found[quantity])} are not uniform"


def test_the_validation_has_every_case_and_method():
    assert sorted((c["model"], c["method"]) for c in EXPERIMENT.cells) == sorted(RUNS)


def test_ranks_of_a_posterior_that_is_too_narrow_are_not_uniform():
    assert p_values({"right": list(range(RANKS + 1))})["right"] > 0.9
    assert p_values({"narrow": [0, RANKS] * 50})["narrow"] < 1e-9
