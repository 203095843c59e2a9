"""SCB: its rounds, and what it answers."""

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies import SCB
from bayesduel.policies.scb import ROUND, START, SWEEP, WINNER, end_sweep, round_budget
from bayesduel.problems import named
from bayesduel.simulation.replication import label

pytestmark = pytest.mark.plain


def test_rounds_have_squared_lengths_and_the_papers_delta():
    assert round_budget(1) == pytest.approx(-np.log(np.log(4) / 4))
    assert round_budget(4) == pytest.approx(-np.log(np.log(65536) / 65536))
    policy, P = SCB(), named("cyclic-4").P
    belief, memory = policy.belief.init(4), policy.init(4)
    rng, coins = np.random.default_rng(2), np.random.default_rng(3)
    starts = {}
    for t in range(1, 300):
        i, j = policy.select(belief, memory, t, rng)
        starts.setdefault(int(memory.clock[ROUND]), int(memory.clock[START]))
        bd.beliefs.record(belief, (i, j), float(coins.random() < P[i, j]))
    assert starts == {1: 1, 2: 5, 3: 21, 4: 277}


@pytest.mark.slow
def test_it_exploits_the_winner_until_the_round_ends_and_then_explores_again():
    trace = bd.simulate(
        SCB(), "cyclic-4", 70_000, replications=6, record_at=[20_000, 65_812, 70_000]
    )
    regret = bd.regret(trace).isel(policy=0)
    assert (regret.sel(time=65_812) == regret.sel(time=20_000)).sum() >= 5  # flat ...
    assert (regret.sel(time=70_000) > regret.sel(time=65_812) + 500).all()  # ... and again
    assert (trace["trace"]["recommended"].sel(time=65_812) == 0).sum() >= 5


def test_a_pair_is_decided_once_a_round_and_scores_become_exact():
    policy, P = SCB(first_round=5), named("hudry-13").P
    belief, memory = policy.belief.init(13), policy.init(13)
    rng, coins = np.random.default_rng(4), np.random.default_rng(5)
    t = 0
    while memory.clock[WINNER] < 0 or memory.clock[START] == 0:
        t += 1
        i, j = policy.select(belief, memory, t, rng)
        bd.beliefs.record(belief, (i, j), float(coins.random() < P[i, j]))
    assert memory.clock[WINNER] == 0
    assert memory.rewards[0] == 9
    known = memory.decided != 0
    assert (np.sign(P - 0.5)[known] == memory.decided[known]).all()
    assert sorted(memory.opponents[3].tolist()) == [k for k in range(13) if k != 3]


def test_a_round_has_its_winner_once_one_arm_is_left():
    memory = SCB().init(4)
    memory.clock[SWEEP] = 1
    for active, winner in (([False, True, True, False], -1), ([False, False, True, False], 2)):
        memory.active[:] = active
        end_sweep(memory, np.random.default_rng(0))
        assert memory.clock[WINNER] == winner
        memory.clock[SWEEP] = 1


@pytest.mark.slow
@pytest.mark.parametrize("policy", [SCB(), SCB(cache=False), SCB(keep=True)], ids=label)
def test_no_arm_is_favoured_by_its_place(policy):
    """The best arm is found equally often whatever its index, also where a round is cut off."""
    found, n_runs = [], 100
    for best in range(5):
        order = [best, *(i for i in range(5) if i != best)]
        P = np.full((5, 5), 0.5)
        P[np.ix_(order, order)] = np.where(np.arange(5)[:, None] < np.arange(5), 0.6, 0.4)
        np.fill_diagonal(P, 0.5)
        settings = {"replications": n_runs, "seed": best, "permute": False, "record_at": [300]}
        trace = bd.simulate(policy, P, 300, **settings)
        found.append(int((trace["trace"]["recommended"] == best).sum()))
    table = np.array([found, [n_runs - f for f in found]])
    assert stats.chi2_contingency(table).pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy", [SCB(cache=False), SCB(keep=True), SCB(sign_test="union"), SCB(sign_test="epochs")]
)
def test_variants_find_the_winner_too(policy):
    P = np.array([[0.5, 0.8, 0.8], [0.2, 0.5, 0.8], [0.2, 0.2, 0.5]])
    trace = bd.simulate(policy, P, 30_000, replications=5, seed=6)
    assert (trace["trace"]["recommended"].isel(time=-1) == 0).all()


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"first_round should be in \[0, 5\], got 6"):
        SCB(first_round=6)
    with pytest.raises(ValueError, match=r"sign_test should be one of .*'mixture', .*, got 'z'"):
        SCB(sign_test="z")
    with pytest.raises(ValueError, match="keep should be False when cache is False"):
        SCB(keep=True, cache=False)
