"""Two-Phase: schedules, bases, hand-worked epochs, bad epochs by their exact law."""

from itertools import combinations
from math import e, exp, floor, log

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs.item_belief import ItemSet, record_pull
from bayesduel.policies.contextual.epoch_schedule import (
    epochs_by,
    epochs_within,
    length,
    schedule_of,
)
from bayesduel.policies.contextual.optimal_design import arbitrary_basis, optimal_design, spanner
from bayesduel.problems import ItemPulls, LogisticItems, UnitSphere
from bayesduel.simulation.item_run import play_pulls
from bayesduel.simulation.run import driver

pytestmark = pytest.mark.plain

PLAIN = {"power": 2.0, "depth": 1, "n_attributes": 3}


def table(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def offer_of(attributes, values=None):
    given = np.ones(1) if values is None else np.asarray(values, dtype=float)
    return ItemSet(np.asfortranarray(attributes, dtype=float), given, False)


@pytest.mark.parametrize(
    ("name", "settings", "formula"),
    [
        ("linear", {}, lambda x: x),
        ("shared", {}, lambda x: -(-x // 3)),
        ("polynomial", {"power": 2.5}, lambda x: floor(x**2.5)),
        ("stretched", {}, lambda x: floor(exp(x**0.5))),
        ("iterated", {}, lambda x: floor(exp(x / log(x + e)))),
        ("iterated", {"depth": 2}, lambda x: floor(exp(x / log(log(x + e**e))))),
        ((1, 3, 3, *range(4, 60)), {}, lambda x: (1, 3, 3, *range(4, 60))[x - 1]),
    ],
)
def test_schedules_follow_their_formulas(name, settings, formula):
    schedule = schedule_of(name, **PLAIN | settings)
    lengths = [length(schedule, k) for k in range(1, 40)]
    assert lengths == [formula(k) for k in range(1, 40)]
    assert (np.diff(lengths) >= 0).all()
    for time in (1, 5, 11):
        assert epochs_by(schedule, time) == sum(f <= time for f in lengths)
        assert epochs_within(schedule, time) == sum(np.cumsum(lengths) <= time)


def test_a_given_schedule_that_runs_out_says_so():
    problem = LogisticItems(n_arms=6, n_attributes=2)
    with pytest.raises(ValueError, match="schedule should have a length for every epoch"):
        bd.simulate(bd.policies.TwoPhase(schedule=(1, 2)), problem, 50)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "exponential"}, "schedule should be one of linear, shared"),
        ({"schedule": (2, 1)}, "schedule should be whole numbers >= 1, each at least as large"),
        ({"schedule": ()}, "schedule should be whole numbers >= 1"),
        ({"schedule": (0.5, 2.0)}, "schedule should be whole numbers >= 1"),
        ({"schedule": "polynomial", "power": 0}, "power should be positive, got 0"),
        ({"schedule": "iterated", "depth": 4}, "depth should be 1, 2 or 3, got 4"),
        ({"basis": "best"}, "basis should be one of 'spanner', 'arbitrary', got 'best'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        bd.policies.TwoPhase(**settings)


def test_one_length_is_a_schedule():
    assert bd.policies.TwoPhase(schedule=(5,)).init(
        offer_of(np.eye(2))
    ).schedule.given.tolist() == [5]


def test_attributes_of_rank_below_n_are_refused_by_every_basis():
    flat = table(20, 3)
    flat[:, 2] = flat[:, 0] - 2 * flat[:, 1]
    for choose in (spanner, arbitrary_basis, optimal_design):
        with pytest.raises(ValueError, match=r"attributes should have rank 3, .* got rank 2"):
            choose(flat)
    with pytest.raises(ValueError, match="got rank 2"):
        bd.simulate(bd.policies.TwoPhase(), ItemPulls(flat, np.ones(3)), 10)


def test_a_spanner_holds_all_items_and_nearly_the_largest_volume():
    for seed in range(5):
        items = table(25, 3, seed)
        basis = spanner(items)
        assert np.abs(np.linalg.solve(items[basis].T, items.T)).max() <= 1.001
        volumes = [abs(np.linalg.det(items[list(c)])) for c in combinations(range(25), 3)]
        # A spanner is a local maximum: at least n^(-n/2) of the largest volume, here 1/5.2.
        assert abs(np.linalg.det(items[basis])) >= max(volumes) * 3**-1.5


def test_the_arbitrary_basis_is_the_first_independent_items():
    items = np.array([[1.0, 0, 0], [2, 0, 0], [1, 1, 0], [0, 3, 0], [5, 5, 1], [0, 0, 1]])
    assert arbitrary_basis(items).tolist() == [0, 2, 4]


def test_an_optimal_design_satisfies_kiefer_and_wolfowitz():
    for seed in range(4):
        items = table(60, 4, seed)
        support, weight = optimal_design(items)
        information = (items[support].T * weight) @ items[support]
        variance = np.einsum("ij,ji->i", items @ np.linalg.inv(information), items.T)
        assert weight.sum() == pytest.approx(1)
        assert 4 - 1e-9 <= variance.max() <= 4 * 1.01
        uniform = np.linalg.det(items.T @ items / 60)
        assert np.linalg.det(information) > uniform
    support, weight = optimal_design(np.eye(4))
    np.testing.assert_allclose(weight, 0.25)


def ask(policy, offer, outcomes):
    """The items named while the basis items pay as told: {item: [0, 1, ...]}."""
    belief, memory = policy.belief.init(offer), policy.init(offer)
    rng, named, given = np.random.default_rng(0), [], {k: list(v) for k, v in outcomes.items()}
    for t in range(1, sum(map(len, outcomes.values())) + 100):
        arm = int(policy.select(belief, memory, t, rng))
        exploring = memory.noted[0] >= 0
        if exploring and not given[arm]:
            break
        named.append(arm)
        record_pull(belief, arm, given[arm].pop(0) if exploring else 1.0)
    return named, memory


def test_epochs_worked_by_hand():
    """Basis 0 and 1; epochs 1 and 2 are bad, epoch 3 sees shares 2/3 and 1/3."""
    items = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, -0.7], [-0.5, 0.5]])
    policy = bd.policies.TwoPhase(schedule="linear", basis="arbitrary")
    named, memory = ask(policy, offer_of(items), {0: [1, 1, 0, 1], 1: [0, 1, 0, 0]})
    # Epoch 1: shares 1, 0: bad, z = 0 shows item 0. Epoch 2: shares 1, 1/2: bad, z = 0.
    # Epoch 3: z = (ln 2, -ln 2): utilities 0.69, -0.69, 0.97, -0.69: item 2, three times.
    # Epoch 4: shares 3/4, 1/4, z = (ln 3, -ln 3): item 2, four times.
    assert named == [0, 1, 0, 0, 1, 0, 0, 0, 1, 2, 2, 2, 0, 1, 2, 2, 2, 2]
    assert memory.bad[0] == 2
    np.testing.assert_allclose(memory.preference, [log(3), -log(3)])
    assert memory.paid.tolist() == [3, 1]  # what exploitation paid is not in it


def test_the_memory_is_of_the_size_of_the_basis():
    memory = bd.policies.TwoPhase().init(offer_of(table(9, 3)))
    shapes = {
        "basis": (3,), "rows": (3, 3), "paid": (3,), "noted": (2,), "epoch": (1,), "place": (1,),
        "left": (1,), "bad": (1,), "best": (1,), "preference": (3,), "aim": (3,),
    }  # fmt: skip
    assert {name: getattr(memory, name).shape for name in shapes} == shapes
    assert memory.noted[0] == memory.left[0] == -1
    assert memory.epoch[0] == 1


def test_nothing_is_exploited_before_the_basis_was_shown():
    policy, offer = bd.policies.TwoPhase(), offer_of(table(9, 3))
    belief, memory = policy.belief.init(offer), policy.init(offer)
    for t in range(1, 4):
        assert policy.select(belief, memory, t, np.random.default_rng(0)) == memory.basis[t - 1]
        assert memory.best[0] == -1
    assert policy.select(belief, memory, 4, np.random.default_rng(0)) == memory.best[0]


def test_a_bad_epoch_after_a_good_one_keeps_its_vector_and_smoothing_has_none():
    items = np.array([[1.0, 0.0], [0.0, 1.0], [-0.9, 0.0]])
    told = {0: [0], 1: [1]}
    named, memory = ask(
        bd.policies.TwoPhase(schedule="linear", basis="arbitrary"), offer_of(items), told
    )
    assert (named, memory.bad[0]) == ([0, 1, 0], 1)
    smooth = bd.policies.TwoPhase(schedule="linear", basis="arbitrary", smooth=True)
    named, memory = ask(smooth, offer_of(items), told)
    assert (named, memory.bad[0]) == ([0, 1, 1], 0)  # (0 + 1/2) / 2 and (1 + 1/2) / 2
    np.testing.assert_allclose(memory.preference, [-log(3), log(3)])


def test_known_rewards_change_what_is_best():
    items = np.array([[1.0, 0.0], [0.0, 1.0]])
    told = {0: [1, 0, 1], 1: [0, 1, 0]}  # epochs 2 and 3 good: even chances, then 2/3 and 1/3
    policy = bd.policies.TwoPhase(schedule="linear", basis="arbitrary")
    plain, _ = ask(policy, offer_of(items), told)
    valued, _ = ask(policy, offer_of(items, [1.0, 3.0]), told)
    assert plain[-3:] == [0, 0, 0]
    assert valued[-3:] == [1, 1, 1]  # 1 x 2/3 against 3 x 1/3


@pytest.mark.slow
def test_the_number_of_bad_epochs_follows_its_exact_law():
    """Pr(bad at l) = 1 - prod(1 - p^l - (1 - p)^l); the limit is 5 standard errors."""
    p = np.array([0.85, 0.3])
    problem = ItemPulls(np.eye(2), np.log(p / (1 - p)))
    policy = bd.policies.TwoPhase(schedule="linear")
    run = driver(play_pulls, policy.select)
    n_epochs, n_runs = 12, 2000
    horizon = 2 * n_epochs + n_epochs * (n_epochs + 1) // 2
    bad = np.zeros(n_runs)
    for k in range(n_runs):
        belief, memory = policy.belief.init(problem.offer), policy.init(problem.offer)
        rng, coins = np.random.default_rng(k), np.random.default_rng([1, k])
        facts = (problem.utility, problem.worth, np.zeros(2))
        run(belief, memory, *facts, 1, horizon, rng, coins)
        bad[k] = memory.bad[0]
    epochs = np.arange(1, n_epochs + 1)[:, None]
    law = (1 - np.prod(1 - p**epochs - (1 - p) ** epochs, axis=1)).sum()
    assert abs(bad.mean() - law) < 5 * bad.std() / np.sqrt(n_runs)


def test_the_bound_has_its_shape():
    offer = LogisticItems(n_arms=20, n_attributes=4).draw(np.random.default_rng(0)).offer
    times = np.array([1, 100, 10_000])
    by_square = bd.policies.TwoPhase(schedule="polynomial").bound(times, offer)
    np.testing.assert_array_equal(by_square, 4 * (np.array([1, 10, 100]) + 1))
    sphere = UnitSphere(n_attributes=4).draw(np.random.default_rng(0)).offer
    at = bd.policies.TwoPhase().bound(np.array([10**6]), sphere)
    assert at[0] == pytest.approx(4 * np.sqrt(2e6), rel=0.002)
    # Exploitation costs f(l) n / l an epoch there, more than exploration's n where f(l) > l.
    assert np.isnan(bd.policies.TwoPhase(schedule="iterated").bound(times, sphere)).all()
    assert np.isfinite(bd.policies.TwoPhase(schedule="shared").bound(times, sphere)).all()


# Cumulative pull regret at T = 1e5 of an independent prototype written from the same
# specification, mean and standard error. Acceptance: three standard errors of the difference
# or 10 %, whichever is larger; the seed was fixed before looking.
REFERENCE = [
    (UnitSphere(n_attributes=2), {}, 60, 447, 31),
    (UnitSphere(n_attributes=4), {}, 60, 870, 30),
    (UnitSphere(n_attributes=8), {}, 60, 1717, 35),
    (UnitSphere(n_attributes=16), {}, 60, 3392, 36),
    (LogisticItems(), {"schedule": "linear"}, 40, 1230, 67),
    (LogisticItems(), {"schedule": "linear", "basis": "arbitrary"}, 40, 5765, 1653),
    (LogisticItems(), {"schedule": "polynomial"}, 40, 2967, 1191),
    (LogisticItems(), {"schedule": "polynomial", "basis": "arbitrary"}, 40, 10660, 2146),
    (LogisticItems(), {"schedule": "stretched"}, 40, 1563, 490),
    (LogisticItems(), {"schedule": "stretched", "basis": "arbitrary"}, 40, 9969, 2389),
]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "settings", "runs", "mean", "error"), REFERENCE)
def test_regret_agrees_with_the_prototype(problem, settings, runs, mean, error):
    trace = bd.simulate(
        bd.policies.TwoPhase(**settings), problem, 1e5, replications=runs, seed=20261121, workers=1
    )
    ours = bd.regret(trace).isel(policy=0, time=-1).values
    spread = np.hypot(error, ours.std(ddof=1) / np.sqrt(runs))
    assert abs(ours.mean() - mean) < max(3 * spread, 0.1 * mean)
