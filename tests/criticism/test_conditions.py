"""Cycles that conditions explain: worlds that are transitive at any moment, topic or covariate."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.criticism.check import check

ARMS, DUELS, LEVELS = 8, 2000, 6


def world(kind, seed, *, cyclic=False, judges=0):
    """Return a log in which each pair met under one condition only, voted on by some judges."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(ARMS, 1)
    level_of = rng.integers(0, LEVELS, len(first))
    overall, own = rng.normal(0, 1, ARMS), rng.normal(0, 1, (LEVELS, ARMS))
    shift = rng.normal(0, 1, LEVELS)
    pair = rng.integers(0, len(first), DUELS)
    turned = rng.random(DUELS) < 0.5
    left = np.where(turned, second[pair], first[pair])
    right = np.where(turned, first[pair], second[pair])
    level = level_of[pair]
    score = np.repeat(overall[None], LEVELS, axis=0)
    if kind == "category":
        score = score + own
    if kind == "time":
        score = 0.6 * np.cumsum(own, axis=0)
    x = np.where(left > right, 1.0, -1.0) * shift[level] * (kind == "covariate")
    eta = score[level, left] - score[level, right] + x
    if cyclic:
        for a, b in ((0, 1), (1, 2), (2, 0)):
            eta = np.where((left == a) & (right == b), 1.5, eta)
            eta = np.where((left == b) & (right == a), -1.5, eta)
    won = (rng.random(DUELS) < 1 / (1 + np.exp(-eta))).astype(float)
    columns = {
        "category": {"category": [f"t{k}" for k in level]},
        "time": {"time": level.astype(float)},
        "covariate": {"covariates": {"x": x}},
    }
    names = np.array([f"a{k}" for k in range(ARMS)])
    own = {"judge": [f"j{k}" for k in rng.integers(0, judges, DUELS)]} if judges else {}
    return bd.Duels.from_votes(names[left], names[right], won, **columns[kind], **own)


@pytest.mark.parametrize("judges", [0, 12])
@pytest.mark.parametrize(("kind", "seed"), [("category", 0), ("time", 4), ("covariate", 2)])
@pytest.mark.sampled(3, "time-4-0")
def test_a_ranking_that_changes_with_conditions_is_not_rejected(kind, seed, judges):
    found = check(world(kind, seed, judges=judges), quick=True, seed=seed)
    evidence = found.evidence
    assert (evidence.unit == "duel") == (judges == 0)  # else the majorities of each judge count
    assert found.p_value <= 0.05  # without the conditions the log looks cyclic
    assert found.p_one_ranking < 0.95
    assert evidence.other_cause == "conditions" and found.transitive is True
    said = found.verdict_parts[0]
    assert "pairs met under different conditions" in said
    assert {"category": "category", "time": "time", "covariate": "x"}[kind] in said
    assert found.to_dict()["other_cause"] == "conditions"


@pytest.mark.slow
@pytest.mark.parametrize("judges", [pytest.param(0, marks=pytest.mark.slow), 12])
def test_cycles_beside_a_covariate_are_found(judges):
    """In most logs: the majorities of few judges say less than their votes."""
    logs = [world("covariate", seed, cyclic=True, judges=judges) for seed in range(3)]
    found = [check(log, quick=True, seed=seed) for seed, log in enumerate(logs)]
    named = [one.evidence for one in found]
    assert sum(e.p_value <= 0.05 and e.p_conditions <= 0.05 for e in named) >= 2
    assert sum(one.transitive is not True for one in found) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("judges", [0, 12])
@pytest.mark.parametrize("kind", ["category", "time", "covariate"])
def test_false_alarms_are_at_most_five_per_cent(kind, judges):
    logs = [world(kind, 100 + s, judges=judges) for s in range(60)]
    told = [check(log, quick=True, seed=s).transitive for s, log in enumerate(logs)]
    assert told.count(False) <= 6  # 5 % of 60 is 3; more than 6 has a chance of 3 %
