"""Decided pairs by crossing times against the plain rule."""

import numpy as np
import pytest

from bayesduel.beliefs import Hoeffding, record
from bayesduel.beliefs.decided_pairs import no_decided_pairs, refresh, survey
from bayesduel.jit import with_globals
from bayesduel.policies import CCB, RUCB
from bayesduel.policies import ccb as ccb_file
from bayesduel.policies import rucb as rucb_file
from bayesduel.problems import named, uniform
from bayesduel.simulation.pair_run import play_pairs
from bayesduel.simulation.run import driver

pytestmark = pytest.mark.plain


@pytest.mark.slow
def test_decided_pairs_by_crossings_equal_a_survey_at_every_step():
    """Also after a jump of many duels, and after a pause in time."""
    rng = np.random.default_rng(7)
    P = uniform(6, rng=rng).P
    belief = Hoeffding().init(6)
    kept, asked = no_decided_pairs(6), no_decided_pairs(6)
    for decided in (kept, asked):
        decided.watched[:] = np.random.default_rng(8).random((6, 6)) < 0.4
        np.fill_diagonal(decided.watched, False)
        decided.n_open[:] = decided.watched.sum(axis=1)
    t = 1
    for step in range(1500):
        for _ in range(int(rng.integers(1, 4)) if step % 50 == 0 else 1):
            i, j = (int(x) for x in rng.integers(0, 6, 2))
            record(belief, (i, j), float(rng.random() < P[i, j]))
        t += 1 if step % 97 else 3000
        refresh(kept, belief, 0.51, t)
        survey(asked, belief, 0.51, t)
        for name in ("beats", "sure_wins", "sure_losses", "n_open"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(asked, name), name)


@pytest.mark.parametrize(
    "file, policy",
    [(rucb_file, RUCB()), pytest.param(ccb_file, CCB(), marks=pytest.mark.slow)],
    ids=["RUCB", "CCB"],
)
@pytest.mark.parametrize(
    "name",
    [
        *("mslr-5", "mslr-5-c3", "arxiv-6"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("hudry-13", "sushi-16")),
    ],
)
@pytest.mark.slow
def test_crossing_times_choose_as_the_plain_rule_does(file, policy, name):
    P = named(name).P
    results = []
    plain = with_globals(file.select.py_func, "select_by_survey", update=survey)
    for rule in (file.select, plain):
        belief, memory = policy.belief.init(len(P)), policy.init(len(P))
        alone = np.zeros(len(P), np.int64)
        rng, coins = np.random.default_rng(5), np.random.default_rng(6)
        run = driver(play_pairs, rule, repeats=policy.repeats)
        run(belief, memory, np.array(P), alone, 1, 20_000, rng, coins)
        results.append((belief.wins, alone))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
