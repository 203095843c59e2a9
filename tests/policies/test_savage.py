"""SAVAGE: its intervals, its predicates by hand, its errors."""

from dataclasses import replace
from itertools import combinations, permutations
from math import inf, log, pi, sqrt

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies import SAVAGE
from bayesduel.policies.savage import alike, ask_last_arm
from bayesduel.policies.savage_elimination import depends, learn_pair, sampled_depends
from bayesduel.preference import kemeny, slater
from bayesduel.problems import named
from bayesduel.simulation.pair_run import play_pairs
from bayesduel.simulation.replication import label
from bayesduel.simulation.run import driver

pytestmark = pytest.mark.plain


def memory_of(lower, criterion="copeland", **settings):
    """A memory with these lower bounds, everything active."""
    memory = SAVAGE(criterion=criterion, horizon=1000, **settings).init(len(lower))
    memory.lower[:] = lower
    return memory


def bounds_from(entries, n_arms):
    """Lower bounds 0 except those given; diagonal 1/2."""
    lower = np.zeros((n_arms, n_arms))
    np.fill_diagonal(lower, 0.5)
    for (i, j), bound in entries.items():
        lower[i, j] = bound
    return lower


def easy_order(n_arms):
    """A total order, 0 on top, every duel won with probability 0.9."""
    P = np.full((n_arms, n_arms), 0.5)
    P[np.triu_indices(n_arms, 1)] = 0.9
    P[np.tril_indices(n_arms, -1)] = 0.1
    return P


def pairs(active):
    return {(i, j) for i, j in np.argwhere(active).tolist() if i < j}


def test_radius_by_hand():
    policy, P = SAVAGE(horizon=500, delta=0.1), named("linear", n_arms=3).P
    belief, memory = policy.belief.init(3), policy.init(3)
    rng, coins = np.random.default_rng(0), np.random.default_rng(1)
    for t in range(1, 31):
        i, j = policy.select(belief, memory, t, rng)
        bd.beliefs.record(belief, (i, j), float(coins.random() < P[i, j]))
    counts = (belief.wins + belief.wins.T)[np.triu_indices(3, 1)]
    assert counts.tolist() == [10, 10, 10]  # always the least known
    policy.select(belief, memory, 31, rng)
    radius = sqrt(log(2 * 3 * 500 / 0.1) / 20)  # eta = 2 N T
    share = belief.wins[i, j] / 10
    assert memory.lower[i, j] >= share - radius - 1e-12
    loose = SAVAGE(horizon=500, delta=0.1, nested=False)
    memory = loose.init(3)
    loose.select(belief, memory, 31, rng)
    assert memory.lower[i, j] == pytest.approx(share - radius)
    anytime = SAVAGE(horizon=inf, delta=0.1, nested=False)
    memory = anytime.init(3)
    anytime.select(belief, memory, 31, rng)
    assert memory.lower[i, j] == pytest.approx(share - sqrt(log(pi**2 * 3 * 100 / 3 / 0.1) / 20))


def test_copeland_predicate_by_hand():
    # 0 surely beats 1, 2 and 3: lo_0 = 3. Others can win at most 2: all other pairs are out.
    memory = memory_of(bounds_from({(0, 1): 0.6, (0, 2): 0.6, (0, 3): 0.6}, 4))
    depends(memory)
    assert pairs(memory.active) == set()
    # 0 surely beats 1 and 2, 3 open: lo = 2; hi_1 = hi_2 = 2: only settled pairs are out.
    memory = memory_of(bounds_from({(0, 1): 0.6, (0, 2): 0.6}, 4))
    depends(memory)
    assert pairs(memory.active) == {(0, 3), (1, 2), (1, 3), (2, 3)}
    # Now 1 and 2 lose to 3 as well: hi_1 = hi_2 = 1 < lo_0 = 2, so (1, 2) is out.
    memory = memory_of(bounds_from({(0, 1): 0.6, (0, 2): 0.6, (3, 1): 0.6, (3, 2): 0.6}, 4))
    depends(memory)
    assert pairs(memory.active) == {(0, 3)}
    # A bound at one half exactly settles nothing.
    memory = memory_of(bounds_from({(0, 1): 0.5}, 3))
    depends(memory)
    assert pairs(memory.active) == {(0, 1), (0, 2), (1, 2)}


def test_condorcet_predicate_by_hand():
    memory = memory_of(bounds_from({(0, 1): 0.6, (2, 3): 0.6}, 4), "condorcet")
    depends(memory)  # 1 and 3 are known to lose: every pair of theirs is out
    assert pairs(memory.active) == {(0, 2)}


def test_borda_predicate_by_hand():
    memory = SAVAGE(criterion="borda", horizon=1000).init(4)
    memory.lower[:, 0] = [0.6, 0.5, 0.1, 0.2]
    memory.lower[:, 1] = [0.8, 0.7, 0.3, 0.59]
    depends(memory)
    assert memory.active[:, 0].tolist() == [True, True, False, False]
    memory.lower[0, 0] = 0.71  # above every other's upper bound: it is the best
    depends(memory)
    assert not memory.active[:, 0].any()


def test_the_last_arm_meets_those_it_may_lose_to_by_more_than_epsilon():
    memory = memory_of(bounds_from({(0, 1): 0.45, (0, 2): 0.35}, 4), "condorcet", epsilon=0.1)
    ask_last_arm(memory, np.array([False, True, True, True]))
    assert pairs(memory.active) == {(0, 2), (0, 3)}


def test_scores_that_differ_by_epsilon_at_most_are_alike():
    below, above = np.array([0.5, 0.5, 0.1]), np.array([0.75, 0.75, 0.4])
    assert alike(below, above, 0.25)
    assert not alike(below, above, 0.2)


def test_an_interval_of_one_point_is_kept():
    """[b, 1] and [0, b] intersect in b."""
    policy = SAVAGE(horizon=1000, delta=0.1)
    belief, memory = policy.belief.init(2), policy.init(2)
    belief.wins[0, 1], belief.wins[1, 0] = 90, 10
    learn_pair(belief, memory, 0, 1)
    b = memory.lower[0, 1]
    assert b == pytest.approx(0.9 - sqrt(log(2 * 1000 / 0.1) / 200))
    memory.lower[1, 0] = 1 - b
    learn_pair(belief, memory, 0, 1)
    assert memory.lower[0, 1] == 1 - memory.lower[1, 0] == b


def test_sampled_predicate_is_one_sided():
    rng = np.random.default_rng(2)
    decided = {(0, 1): 0.6, (0, 2): 0.6, (0, 3): 0.6}
    memory = memory_of(bounds_from(decided, 4), independence="sampled")
    for i, j in ((1, 2), (1, 3), (0, 1)):
        assert not sampled_depends(memory, i, j, rng)  # no point of the box depends on them
    memory = memory_of(bounds_from({(0, 1): 0.6, (0, 2): 0.6}, 4), independence="sampled")
    assert sampled_depends(memory, 0, 3, rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        SAVAGE(),
        SAVAGE(criterion="condorcet"),
        SAVAGE(criterion="borda"),
        SAVAGE(independence="sampled"),
        SAVAGE(horizon=inf, delta=0.001),
        SAVAGE(belief=bd.beliefs.ConfidenceSequence()),
    ],
    ids=label,
)
def test_it_answers_and_then_exploits(policy):
    trace = bd.simulate(policy, named("flat", n_arms=4, e=0.3), 12_000, replications=5, seed=3)
    answered = trace["trace"]["answered"].values.ravel()
    assert ((answered > 0) & (answered < 12_000)).all()
    assert (trace["trace"]["recommended"].isel(time=-1) == 0).all()
    alone = trace["trace"]["self_duels"].isel(time=-1, policy=0)
    np.testing.assert_array_equal(alone.sel(arm="1"), 12_000 - answered)


@pytest.mark.slow
def test_errors_are_at_most_delta_and_exploration_grows_as_delta_shrinks():
    lengths = []
    for delta in (0.2, 0.002):
        policy = SAVAGE(delta=delta, criterion="condorcet")
        problem = named("flat", n_arms=3, e=0.1)
        trace = bd.simulate(policy, problem, 6000, replications=200, seed=4, record_at=[6000])
        wrong = int((trace["trace"]["recommended"] != 0).sum())
        # The exact binomial law at its worst, delta: more errors than this has chance 1e-6.
        assert wrong <= stats.binom.isf(1e-6, 200, delta)
        lengths.append(float(trace["trace"]["answered"].mean()))
    assert lengths[1] > 1.2 * lengths[0]


def test_condorcet_without_such_a_winner_falls_back_to_copeland():
    # Known all at once: 0 > 1 > 2 > 0, and all beat 3.
    entries = {(0, 1): 0.6, (1, 2): 0.6, (2, 0): 0.6, (0, 3): 0.6, (1, 3): 0.6, (2, 3): 0.6}
    policy = SAVAGE(criterion="condorcet", horizon=1000)
    answers = set()
    for seed in range(40):
        memory = memory_of(bounds_from(entries, 4), "condorcet")
        belief, rng = policy.belief.init(4), np.random.default_rng(seed)
        i, j = policy.select(belief, memory, 1, rng)
        assert i == j == memory.answer.arm[0]
        assert memory.refuted[0]
        answers.add(int(i))
    assert answers == {0, 1, 2}


def test_the_last_arm_not_known_to_lose_is_verified():
    """0 is known to beat 1 and 2; 3 was beaten by 1; so the pair (0, 3) decides."""
    known = {(0, 1): 0.6, (0, 2): 0.6, (1, 3): 0.6}
    for verify, pair in ((True, {0, 3}), (False, {0})):
        policy = SAVAGE(criterion="condorcet", horizon=1000, verify=verify)
        memory = memory_of(bounds_from(known, 4), "condorcet", verify=verify)
        rng = np.random.default_rng(0)
        assert set(policy.select(policy.belief.init(4), memory, 1, rng)) == pair
        assert not memory.refuted[0]


@pytest.mark.slow
def test_play_refutes_a_condorcet_winner_where_there_is_none():
    P = named("hudry-13").P
    for seed in range(2):
        policy = SAVAGE(criterion="condorcet", horizon=20_000, delta=0.05)
        belief, memory = policy.belief.init(13), policy.init(13)
        rng, coins = np.random.default_rng(seed), np.random.default_rng(100 + seed)
        alone = np.zeros(13, np.int64)
        driver(play_pairs, policy.select, repeats=policy.repeats)(
            belief, memory, P, alone, 1, 20_000, rng, coins
        )
        assert memory.refuted[0]
        assert memory.answer.arm[0] == 0  # the Copeland winner


def test_play_does_not_refute_a_condorcet_winner():
    policy = SAVAGE(criterion="condorcet", horizon=10_000)
    P = np.ascontiguousarray(named("flat", n_arms=5, e=0.3).P)
    belief, memory = policy.belief.init(5), policy.init(5)
    rng, coins = np.random.default_rng(0), np.random.default_rng(1)
    alone = np.zeros(5, np.int64)
    driver(play_pairs, policy.select, repeats=policy.repeats)(
        belief, memory, P, alone, 1, 10_000, rng, coins
    )
    assert memory.answer.arm[0] == 0
    assert not memory.refuted[0]


def test_borda_honours_its_belief():
    """The bound on an arm's mean is that of the belief on its results."""
    for belief_of in (bd.beliefs.Hoeffding(), bd.beliefs.KL(), bd.beliefs.Beta()):
        policy = SAVAGE(criterion="borda", horizon=500, belief=belief_of, nested=False)
        P = named("linear", n_arms=3).P
        belief, memory = policy.belief.init(3), policy.init(3)
        rng, coins = np.random.default_rng(0), np.random.default_rng(1)
        for t in range(1, 31):
            i, j = policy.select(belief, memory, t, rng)
            bd.beliefs.record(belief, (i, j), float(coins.random() < P[i, j]))
        policy.select(belief, memory, 31, rng)
        counts = belief._replace(wins=np.zeros((2, 2)))
        n, points = memory.rewards.duels[i], memory.rewards.points[i]
        counts.wins[0, 1], counts.wins[1, 0] = points, n - points
        lower, upper = bd.beliefs.bounds(counts, log(2 * 3 * 500 * 500))
        assert memory.lower[i, 0] == pytest.approx(lower[0, 1])
        assert memory.lower[i, 1] == pytest.approx(upper[0, 1])


def test_borda_refuses_a_belief_that_bounds_pairs_only():
    model = bd.beliefs.Laplace(bd.models.BradleyTerry())
    with pytest.raises(ValueError, match=r"belief of SAVAGE under criterion 'borda' should bound"):
        SAVAGE(criterion="borda", belief=model)
    SAVAGE(criterion="borda", belief=replace(model, bounds="kl"))  # from counts
    SAVAGE(belief=model)  # the other criteria are of pairs


def test_the_k_best_by_hand():
    memory = SAVAGE(criterion="borda", horizon=1000, k=2).init(4)
    memory.lower[:, 0] = [0.6, 0.5, 0.1, 0.2]
    memory.lower[:, 1] = [0.8, 0.7, 0.3, 0.55]
    depends(memory)  # 0 is above 2 and 3, 2 below 0 and 1; 1 or 3 is the second
    assert memory.active[:, 0].tolist() == [False, True, False, True]
    memory.lower[1, 0] = 0.56
    depends(memory)
    assert not memory.active[:, 0].any()


def test_a_margin_drops_arms_that_are_better_by_less():
    memory = SAVAGE(criterion="borda", horizon=1000, epsilon=0.2).init(3)
    memory.lower[:, 0] = [0.6, 0.5, 0.1]
    memory.lower[:, 1] = [0.9, 0.75, 0.85]
    depends(memory)  # 1 exceeds 0 by 0.15 at most, 2 by 0.25
    assert memory.active[:, 0].tolist() == [True, False, True]


def test_the_k_best_are_found_by_play():
    policy = SAVAGE(criterion="borda", k=2, horizon=20_000, delta=0.05)
    P = np.ascontiguousarray(easy_order(5))
    belief, memory = policy.belief.init(5), policy.init(5)
    rng, coins = np.random.default_rng(0), np.random.default_rng(1)
    alone = np.zeros(5, np.int64)
    driver(play_pairs, policy.select, repeats=policy.repeats)(
        belief, memory, P, alone, 1, 20_000, rng, coins
    )
    assert 0 < memory.answer.time[0] < 20_000
    assert policy.selection(belief, memory).tolist() == [True, True, False, False, False]


def test_epsilon_accepts_sooner():
    P = np.array([[0.5, 0.9, 0.49], [0.1, 0.5, 0.9], [0.51, 0.1, 0.5]])
    policy = SAVAGE(criterion="condorcet", epsilon=0.1, delta=0.05)
    trace = bd.simulate(policy, P, 20_000, replications=3, seed=6)
    assert (trace["trace"]["answered"] > 0).all()
    assert (trace["trace"]["recommended"].isel(time=-1) == 0).all()


def test_epsilon_accepts_a_score_that_can_fall_short_by_no_more():
    # By hand, K = 4: 0 surely beats 1 and 2, and (0, 3) is open: lo_0 = 2, hi_0 = 3. 3 surely
    # beats 1, (3, 2) is open: lo_3 = 1, hi_3 = 3. 3 may exceed 0 by (3 - 2) / 3.
    entries = {(0, 1): 0.6, (0, 2): 0.6, (3, 1): 0.6}
    for epsilon, answer in ((0.0, -1), (0.3, -1), (0.34, -1), (0.49, -1)):
        # ... but 0 may exceed 3 by (3 - 1) / 3: either could be the answer of another run.
        policy = SAVAGE(horizon=1000, epsilon=epsilon)
        belief, memory = policy.belief.init(4), memory_of(bounds_from(entries, 4), epsilon=epsilon)
        policy.select(belief, memory, 1, np.random.default_rng(0))
        assert memory.answer.arm[0] == answer
    entries[3, 2] = 0.6  # Both have 2 sure wins; (0, 3) is worth 1/3 either way.
    for epsilon, answered in ((0.0, False), (0.33, False), (0.34, True)):
        policy = SAVAGE(horizon=1000, epsilon=epsilon)
        belief, memory = policy.belief.init(4), memory_of(bounds_from(entries, 4), epsilon=epsilon)
        policy.select(belief, memory, 1, np.random.default_rng(0))
        assert (memory.answer.arm[0] in (0, 3)) == answered


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["copeland", "borda"])
def test_epsilon_stops_where_winners_tie(criterion):
    """Arms 1 and 2 are the same to everyone: nothing decides their duel."""
    P = np.array(
        [[0.5, 0.5, 0.8, 0.8], [0.5, 0.5, 0.8, 0.8], [0.2, 0.2, 0.5, 0.8], [0.2] * 3 + [0.5]]
    )
    exact = SAVAGE(criterion=criterion, delta=0.05)
    near = SAVAGE(
        criterion=criterion, delta=0.05, epsilon=0.34 if criterion == "copeland" else 0.15
    )
    trace = bd.simulate(
        {"exact": exact, "near": near}, P, 10_000, replications=5, seed=3, record_at=[10_000]
    )["trace"]
    assert (trace["answered"].sel(policy="exact") == -1).sum() >= 4
    assert (trace["answered"].sel(policy="near") > 0).all()
    assert set(trace["recommended"].sel(policy="near").values.ravel().tolist()) <= {0, 1}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "elo"}, "criterion should be one of"),
        ({"horizon": 0}, "horizon should be at least 1, got 0"),
        ({"delta": 1.0}, r"delta should be in \(0, 1\), got 1.0"),
        ({"epsilon": 0.5}, r"epsilon should be in \[0, 0.5\), got 0.5"),
        ({"independence": "guessed"}, "independence should be one of 'formal', 'sampled'"),
        ({"independence": "sampled", "criterion": "borda"}, "should be 'formal' under criterion"),
        ({"k": 2}, "k should be 1, or under criterion 'borda' at least 1, got 2"),
        ({"restarts": 0}, "restarts should be at least 1, got 0"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        SAVAGE(**settings)


def test_one_restart_of_one_step_is_enough():
    assert SAVAGE(independence="sampled", restarts=1, steps=1, horizon=9).init(3).restarts == 1


def test_an_unknown_horizon_is_refused():
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        SAVAGE().init(3)
    with pytest.raises(ValueError, match="delta should be given when horizon is infinite"):
        SAVAGE(horizon=inf).init(3)


@pytest.mark.parametrize("criterion", ["kemeny", "slater"])
def test_rankings_that_may_be_best_by_enumeration(criterion):
    """Beside all pairs of rankings; and the best one of any P in the box is among them."""
    rank = {"kemeny": kemeny, "slater": slater}[criterion]
    rng, dropped = np.random.default_rng(3), 0
    for _ in range(12):
        P = bd.problems.uniform(4, rng=rng).P
        lower = np.clip(P - rng.uniform(0.0, 0.4) * rng.random((4, 4)), 0, 1)
        np.fill_diagonal(lower, 0.5)
        memory = memory_of(lower, criterion)
        depends(memory)
        low = lower if criterion == "kemeny" else (lower > 0.5).astype(float)
        high = 1 - low.T

        def most(s, r, low=low, high=high):
            """The largest cost of s less that of r, over the box."""
            places = [{arm: k for k, arm in enumerate(order)} for order in (s, r)]
            return sum(
                high[a, b] - low[b, a]
                for a, b in permutations(range(4), 2)
                if places[0][b] < places[0][a] and places[1][a] < places[1][b]
            )

        orders = [tuple(order) for order in memory.orders.tolist()]
        known = [all(most(s, r) >= -1e-9 for s in orders) for r in orders]
        assert memory.possible.tolist() == known
        kept = [order for order, stays in zip(orders, known, strict=True) if stays]
        dropped += len(orders) - len(kept)
        assert pairs(memory.active) == {
            (a, b)
            for a, b in combinations(range(4), 2)
            if len({order.index(a) < order.index(b) for order in kept}) == 2
        }
        for _ in range(20):
            X = lower + (1 - lower.T - lower) * rng.random((4, 4))
            X = np.triu(X, 1) + np.tril(1 - X.T, -1) + np.eye(4) / 2
            assert tuple(rank(X).tolist()) in kept
    assert dropped > 50


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["kemeny", "slater"])
def test_the_top_of_the_ranking_is_found_where_it_is_no_copeland_winner(criterion):
    """Arm 1 beats three arms; arm 0, which loses to it alone, beats the other four."""
    beats = [{2, 3, 4, 5}, {0, 3, 5}, {1, 3, 4}, {4}, {1}, {2, 3, 4}]
    P = [[0.5 if i == j else 0.1 + 0.8 * (j in beats[i]) for j in range(6)] for i in range(6)]
    policy = SAVAGE(criterion=criterion, delta=0.1)
    trace = bd.simulate(policy, P, 30_000, replications=3, seed=2, record_at=[30_000])
    assert (trace["trace"]["recommended"] == 1).all()
    assert (trace["trace"]["answered"] > 0).all()
    rates = {c: bd.success_rate(trace, criterion=c)["rate"].item() for c in (criterion, "copeland")}
    assert rates == {criterion: 1, "copeland": 0}


def test_rankings_of_many_arms_are_refused():
    with pytest.raises(ValueError, match="n_arms should be at most 6 under criterion 'kemeny'"):
        SAVAGE(criterion="kemeny", horizon=100).init(7)
    with pytest.raises(ValueError, match=r"epsilon should be 0 under criterion 'slater', got 0\.1"):
        SAVAGE(criterion="slater", epsilon=0.1)
    with pytest.raises(ValueError, match="'formal' under criterion 'slater', got 'sampled'"):
        SAVAGE(criterion="slater", independence="sampled")
