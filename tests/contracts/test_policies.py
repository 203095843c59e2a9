"""What every policy keeps, whoever wrote it: parametrised over ``policies.__all__``.

A policy that needs settings to be interesting here is listed in ``EXTRA``; nothing else is
to be done for a new one.
"""

import json
import pickle
import re
import subprocess
import sys
import time
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.beliefs import KL, Bernstein, Counts, Hoeffding, Laplace, Logistic, record
from bayesduel.beliefs.item_belief import record_duel, record_pull
from bayesduel.cli.parse import known_policies
from bayesduel.models import BradleyTerry
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.problems import (
    LogisticDuels,
    LogisticItems,
    Matrix,
    SpherePulls,
    named,
)
from bayesduel.simulation.item_run import play_item_duels, play_pulls, play_sphere
from bayesduel.simulation.pair_run import play_pairs
from bayesduel.simulation.replication import label
from bayesduel.simulation.run import driver
from benchmarks.validation.policies_symmetry import BY_SETTING

pytestmark = pytest.mark.plain

HORIZON = 400
EXTRA = [
    policies.RUCB(belief=KL()),
    policies.CCB(belief=KL()),
    policies.ActionElimination(reward="pair"),
    policies.PBR(criterion="borda"),
    policies.PBR(criterion="random_walk"),
    policies.POCOWISTA(transitive=True),
    policies.SAVAGE(criterion="borda"),
    policies.SAVAGE(criterion="borda", k=2, epsilon=0.1),
    policies.SAVAGE(criterion="condorcet"),
    policies.SAVAGE(criterion="condorcet", verify=False),
    policies.SAVAGE(criterion="kemeny"),
    policies.SAVAGE(criterion="slater"),
    policies.SAVAGE(independence="sampled"),
    policies.RankEl(criterion="borda", distance="rank"),
    policies.SCB(cache=False, sign_test="epochs"),
    policies.SupKLUCB(score="borda"),
    policies.UCB1(reward="pair"),
    policies.VersatileDB(shared=True),
    policies.DETECT(policy=policies.BeatTheWinner(), window=8, threshold=2.0),
    policies.MDB(policy=policies.DTS(), gamma=0.5, window=8, threshold=2.0),
    policies.WinnerStays(regret="strong"),
]
KINDS = [getattr(policies, name) for name in policies.__all__]
ALL = [kind() for kind in KINDS if kind.setting != "margins"] + EXTRA
ALL = [replace(p, draws=20) if isinstance(p, ScoreRule) else p for p in ALL]
OF_PAIRS = [p for p in ALL if p.setting == "pairs"]
OF_ITEMS = [p for p in ALL if p.setting == "items"]
every_policy = pytest.mark.parametrize("policy", ALL, ids=label)
FAST = [p for p in OF_PAIRS if not isinstance(p, ScoreRule)]  # a step takes microseconds
every_pair_policy = pytest.mark.parametrize("policy", OF_PAIRS, ids=label)
every_item_policy = pytest.mark.parametrize("policy", OF_ITEMS, ids=label)


def play(policy, P, horizon, seed=0):
    """The belief and self-duels after `horizon` duels by the compiled driver."""
    policy = policy.for_horizon(max(horizon, 2))
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    alone = np.zeros(len(P), np.int64)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    run = driver(play_pairs, policy.select, repeats=policy.repeats)
    run(belief, memory, np.array(P), alone, 1, horizon, rng, coins)  # writable, as in simulate
    return belief, alone


def play_items(policy, problem, horizon, seed=0):
    """The belief after `horizon` steps, and what they were worth and paid."""
    policy = policy.for_horizon(max(horizon, 2))
    offer, sums = problem.offer, np.zeros(3)
    belief, memory = policy.belief.init(offer), policy.init(offer)
    facts = (problem.preference,) if offer.sphere else (problem.utility, problem.worth)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    loop = play_sphere if offer.sphere else (play_pulls, play_item_duels)[policy.shows - 1]
    run = driver(loop, policy.select)
    run(belief, memory, *facts, sums, 1, horizon, rng, coins)
    return belief, sums


def items_for(policy, n_arms=12, n_attributes=3, seed=4):
    """A small problem that shows as many items as the policy names."""
    family = LogisticItems if policy.shows == 1 else LogisticDuels
    rng = np.random.default_rng(seed)
    return family(n_arms=n_arms, n_attributes=n_attributes).draw(rng)


def digest(policy):
    """What a fixed-seed run on two small problems leaves: small enough to be stored."""
    told = {}
    if policy.setting == "items":
        for seed in (4, 5):
            belief, sums = play_items(policy, items_for(policy, seed=seed), HORIZON, seed=3)
            told[f"items {seed}"] = [belief.pulls.tolist(), belief.successes.tolist(), sums[1]]
        return told
    for name in ("cyclic-4", "mslr-5-c3"):
        horizon = 60 if isinstance(policy, ScoreRule) else HORIZON
        belief, alone = play(policy, named(name).P, horizon, seed=3)
        told[name] = [belief.wins.astype(int).tolist(), alone.tolist()]
    return told


@every_policy
def test_is_a_frozen_record_that_pickles_and_tells_its_source(policy):
    assert is_dataclass(policy)
    with pytest.raises(FrozenInstanceError):
        policy.belief = Hoeffding()
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy == replace(policy)
    assert hash(policy) == hash(replace(policy))
    assert policy.reference
    assert policy.guarantee
    assert type(policy).__name__ in repr(policy)
    assert getattr(policies, type(policy).__name__) is type(policy)
    assert type(policy).__doc__
    assert "References" in sys.modules[type(policy).__module__].__doc__


@every_policy
def test_the_docstring_describes_every_setting_once_and_what_is_refused(policy):
    text = type(policy).__doc__
    assert text.count("Parameters\n---") == text.count("Raises\n---") == 1
    heads = re.findall(r"^(\w[^\n]*)\n    ", text.partition("Parameters\n")[2], flags=re.M)
    described = [name for head in heads for name in head.split(", ")]
    for setting in fields(policy):
        assert described.count(setting.name) == 1


@every_policy
def test_a_wrong_belief_is_refused_when_the_policy_is_made(policy):
    message = f"belief of {type(policy).__name__} should be (?!.*such as None).*, got "
    for wrong in ("kl", Hoeffding, BradleyTerry(), None):
        with pytest.raises(TypeError, match=message):
            replace(policy, belief=wrong)


@every_pair_policy
def test_a_belief_that_the_rule_cannot_use_is_refused_when_the_policy_is_made(policy):
    """Rules that sample take what can be sampled, rules that read counts the default alone."""
    name = type(policy).__name__
    refused = {"samples": KL(), "scores": KL(), "counts": Laplace(BradleyTerry())}
    if policy.reads in refused:
        with pytest.raises(ValueError, match=f"belief of {name} should be .*, got "):
            replace(policy, belief=refused[policy.reads])
    else:
        assert replace(policy, belief=Bernstein()).belief == Bernstein()


@every_item_policy
def test_an_item_policy_refuses_the_other_belief(policy):
    other = Counts() if policy.reads is Logistic else Logistic()
    with pytest.raises(ValueError, match=f"should be {policy.reads.__name__}\\(\\), got "):
        replace(policy, belief=other)


@every_policy
def test_settings_of_the_wrong_kind_are_refused_when_the_policy_is_made(policy):
    for setting in fields(policy):
        kinds = set(get_args(setting.type)) or {setting.type}
        if kinds <= {int, float, bool, type(None)}:
            rule = "(None or )?(a number|a whole number|True or False)"
            message = f"{setting.name} should be {rule}, got 'x'"
            with pytest.raises(TypeError, match=message):
                replace(policy, **{setting.name: "x"})


@every_pair_policy
@pytest.mark.sampled(4)
def test_select_reads_the_belief_and_writes_only_its_memory(policy):
    P = named("cyclic-4").P
    policy = policy.for_horizon(300)
    belief, memory = policy.belief.init(4), policy.init(4)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    for t in range(1, 121):
        before = [np.copy(part) for part in belief]
        i, j = policy.select(belief, memory, t, rng)
        assert 0 <= i < 4
        assert 0 <= j < 4
        for part, old in zip(belief, before, strict=True):
            np.testing.assert_array_equal(part, old)
        record(belief, (i, j), float(coins.random() < P[i, j]))


@every_pair_policy
@pytest.mark.sampled(3)
def test_asks_for_exactly_as_many_duels_as_it_is_given(policy):
    for n_arms, horizon in product((3, 5), (1, 2, 5, 10, 50)):
        P = named("linear", n_arms=n_arms).P
        belief, alone = play(policy, P, horizon)
        assert belief.n_duels[0] == horizon == belief.wins.sum() + alone.sum()
        again, alone_again = play(policy, P, horizon)
        np.testing.assert_array_equal(belief.wins, again.wins)
        np.testing.assert_array_equal(alone, alone_again)


@every_pair_policy
def test_two_arms_suffice_or_are_refused_by_name(policy):
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    try:
        prepared = policy.for_horizon(200)
        prepared.init(2)
    except ValueError as error:
        assert "n_arms should be" in str(error)
        return
    belief, alone = play(policy, P, 200)
    assert belief.wins.sum() + alone.sum() == 200


@every_item_policy
@pytest.mark.sampled(3)
def test_item_policies_read_the_belief_and_write_only_their_memory(policy):
    problem, policy = items_for(policy), policy.for_horizon(300)
    belief, memory = policy.belief.init(problem.offer), policy.init(problem.offer)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    for t in range(1, 121):
        before = [np.copy(part) for part in belief]
        named = policy.select(belief, memory, t, rng)
        for part, old in zip(belief, before, strict=True):
            np.testing.assert_array_equal(part, old)
        shown = named if policy.shows == 2 else (named,)
        assert len(shown) == policy.shows
        assert all(0 <= i < problem.n_arms for i in shown)
        if policy.shows == 1:
            record_pull(belief, named, problem.pull(named, coins.random()))
        else:
            record_duel(belief, *named, problem.duel(named, coins.random()))
    assert 0 <= policy.recommend(belief, memory) < problem.n_arms


@every_item_policy
@pytest.mark.sampled(3)
def test_shows_exactly_as_often_as_it_is_told(policy):
    for n_arms, horizon in product((2, 5), (1, 2, 5, 10, 50)):
        problem = items_for(policy, n_arms, n_attributes=2)
        belief, sums = play_items(policy, problem, horizon)
        assert belief.n_pulls[0] == horizon == belief.pulls.sum() / policy.shows
        assert 0 <= sums[1] <= horizon
        again, sums_again = play_items(policy, problem, horizon)
        np.testing.assert_array_equal(belief.pulls, again.pulls)
        np.testing.assert_array_equal(sums, sums_again)


@every_item_policy
def test_a_sphere_is_played_or_refused_by_name(policy):
    problem = SpherePulls(np.array([0.5, -1.0, 1.5]))
    try:
        policy.init(problem.offer)
    except ValueError as error:
        assert f"for {type(policy).__name__}, got a sphere" in str(error)
        return
    belief, sums = play_items(policy, problem, 500)
    assert belief.n_pulls[0] == 500
    best = policy.recommend(belief, policy.init(problem.offer))
    assert best.shape == (3,)
    assert np.linalg.norm(best) == pytest.approx(1)
    assert sums[0] > 500 * 0.55  # 0.5 is what uniform play is worth, 0.87 the best


@every_item_policy
def test_the_belief_is_of_the_size_of_the_table(policy):
    """Arrays of m, of m x n and of fixed size, never of pairs."""
    for m in (50, 100):
        belief = policy.belief.init(items_for(policy, m).offer)
        assert all(part.size <= max(m * 3, 4096 * 3) for part in belief if np.ndim(part))


@pytest.mark.slow
@pytest.mark.parametrize("policy", FAST, ids=label)
def test_time_a_step_does_not_grow_with_the_horizon(policy):
    policy, P = policy.for_horizon(200_000), named("mslr-5").P
    run, belief, memory = (
        driver(play_pairs, policy.select, repeats=policy.repeats),
        policy.belief.init(5),
        policy.init(5),
    )
    alone = np.zeros(5, np.int64)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    run(belief, memory, P, alone, 1, 1000, rng, coins)
    seconds = []
    for first in (1001, 100_001):
        run(belief, memory, P, alone, first, first, rng, coins)
        best = np.inf
        for part in range(5):
            start = time.process_time()
            a = first + 1 + 2000 * part
            run(belief, memory, P, alone, a, a + 1999, rng, coins)
            best = min(best, time.process_time() - start)
        seconds.append(best)
    assert seconds[1] < 3 * seconds[0] + 1e-3  # quadratic history would be a factor of 50


@pytest.mark.slow
def test_compiled_in_a_new_process_and_plain_python_agree():
    """One subprocess plays every policy again uncompiled; another, compiled afresh."""
    here = {label(policy): digest(policy) for policy in ALL}
    code = (
        "import json, tests.contracts.test_policies as c;"
        "print(json.dumps({c.label(p): c.digest(p) for p in c.ALL}))"
    )
    for disable in ("1", "0"):
        out = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env={**_environment(), "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert json.loads(out.splitlines()[-1]) == here


@every_policy
@pytest.mark.sampled(4)
def test_fixed_seed_trace(policy):
    """Any change here is a changed number, and belongs in the change log.

    Written by ``python tests/reference/make_policy_traces.py``, which only adds.
    """
    stored = json.loads(
        (Path(__file__).parents[1] / "reference" / "policy_traces.json").read_text()
    )
    assert digest(policy) == stored[label(policy)]


def test_matrix_arguments_are_checked():
    for P, message in (
        (np.full((2, 3), 0.5), "shape"),
        (np.array([[0.5, 0.7], [0.7, 0.5]]), "= 1"),
        (np.array([[0.5, 1.2], [-0.2, 0.5]]), r"entries in \[0, 1\]"),
        (np.array([[0.5]]), "K >= 2"),
    ):
        with pytest.raises(ValueError, match=message):
            Matrix(P)


def _environment():
    import os

    return dict(os.environ)


def test_the_validation_of_symmetry_is_of_every_policy():
    listed = {setting: set(names) for setting, names in BY_SETTING.items()}
    assert listed == {setting: set(known_policies(setting)) for setting in listed}
