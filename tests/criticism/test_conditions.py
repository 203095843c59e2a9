"""Cycles that conditions explain: worlds that are transitive at any moment, topic or covariate."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.criticism.check_text import verdict_words
from bayesduel.criticism.transitivity.evidence import transitivity_test

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
    found = transitivity_test(world(kind, seed, judges=judges), 199, seed, power=False)
    assert (found.unit == "duel") == (judges == 0)  # else the majorities of each judge count
    assert found.p_value <= 0.05  # without the conditions the log looks cyclic
    assert found.strength == "conditions" and found.transitive is True
    said, _ = verdict_words(found, None, "")
    assert "pairs met under different conditions" in said
    assert {"category": "category", "time": "time", "covariate": "x"}[kind] in said


@pytest.mark.parametrize("judges", [pytest.param(0, marks=pytest.mark.slow), 12])
def test_cycles_beside_a_covariate_are_found(judges):
    """In most logs: the majorities of few judges say less than their votes."""
    logs = [world("covariate", seed, cyclic=True, judges=judges) for seed in range(3)]
    found = [transitivity_test(log, 199, seed, power=False) for seed, log in enumerate(logs)]
    assert sum(one.strength == "strong" and one.p_conditions <= 0.05 for one in found) >= 2


def test_a_log_without_power_says_so():
    rng = np.random.default_rng(0)
    pairs = [(a, b) for a in "abcdefgh" for b in "abcdefgh" if a < b]
    log = bd.Duels.from_votes(*zip(*pairs, strict=True), rng.integers(0, 2, len(pairs)) * 1.0)
    found = transitivity_test(log, 99, 0)
    assert found.strength == "no power" and found.transitive is None
    assert "cannot tell whether a ranking holds" in verdict_words(found, None, "")[0]


@pytest.mark.slow
@pytest.mark.parametrize("judges", [0, 12])
@pytest.mark.parametrize("kind", ["category", "time", "covariate"])
def test_false_alarms_are_at_most_five_per_cent(kind, judges):
    logs = [world(kind, 100 + s, judges=judges) for s in range(60)]
    strengths = [transitivity_test(d, 199, s, power=False).strength for s, d in enumerate(logs)]
    assert strengths.count("strong") <= 6  # 5 % of 60 is 3; more than 6 has a chance of 3 %
