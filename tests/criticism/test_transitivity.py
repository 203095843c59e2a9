"""The test of transitivity: its statistic, its null_models, false alarms and power."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.criticism.transitivity.design import (
    LEAST_INFORMATION,
    _order_status,
    _profile_information,
    design_of,
    majority_design,
)
from bayesduel.criticism.transitivity.evidence import evidence_strength, transitivity_test
from bayesduel.criticism.transitivity.isotonic import isotonic_matrix
from bayesduel.criticism.transitivity.lapse_model import LOGISTIC, _fit, fit_lapse_model
from bayesduel.criticism.transitivity.null_models import (
    CHANCES,
    INVERTED,
    NULL_MODELS,
    NullModels,
    _binomials,
)
from bayesduel.criticism.transitivity.triads import closed_triads, cyclicity, majority_z
from bayesduel.data.duels import Duels
from bayesduel.preference import cyclic_triads, decided_triads
from bayesduel.preference.kemeny import reordered
from benchmarks.truths import unseen_matrix
from benchmarks.validation.transitivity_alarms import drawn_log, pairs_of
from tests.support.simulated_logs import ORDERED, ROCK, presented, shown, simulate

# -- the statistic --------------------------------------------------------------------------


def test_statistic_by_hand():
    # a, b, c go round; d loses to a and b and is level with c.
    wins = np.array([[0, 3, 1, 2], [1, 0, 5, 2], [4, 2, 0, 1], [0, 1, 1, 0]])
    design = design_of(Duels.from_wins(wins, [*"abcd"]))
    assert not design.has_order
    triads = closed_triads(4, design.first, design.second, np.random.default_rng(0))
    assert (len(triads.edges), triads.n_closed, triads.n_all, triads.share) == (4, 4, 4, 1.0)
    z = majority_z(design, design.by_pair(design.won), 0.5)
    found = cyclicity(z[None], triads.edges)[0]
    weakest = min((3 - 1) ** 2 / 4, (5 - 2) ** 2 / 7, (4 - 1) ** 2 / 5)
    assert found[0] == pytest.approx(np.log(1 + np.exp(weakest / 2)))
    assert tuple(found[1:]) == (1, 2)  # abc cyclic; abc and abd decided


def test_statistic_agrees_with_counts_and_survives_large_sureties():
    rng = np.random.default_rng(1)
    log = simulate(np.full((9, 9), 0.5), 5, rng)
    design = design_of(log)
    triads = closed_triads(9, design.first, design.second, rng)
    found = cyclicity(majority_z(design, design.by_pair(design.won), 0.5)[None], triads.edges)[0]
    majority = (1 + np.sign(log.tally().wins - log.tally().wins.T)) / 2
    assert found[1] == cyclic_triads(majority)
    assert found[2] == decided_triads(majority)
    sure = np.array([[60.0, 60.0, -60.0]])
    assert cyclicity(sure, np.array([[0, 1, 2]]))[0, 0] == pytest.approx(1800.0)


def test_triads_are_sampled_evenly():
    first, second = np.triu_indices(12, 1)
    triads = closed_triads(12, first, second, np.random.default_rng(0), most=50)
    assert len(triads.edges) == 50
    assert triads.n_closed == 220
    assert len(np.unique(triads.edges, axis=0)) == 50
    i, j, k = first[triads.edges[:, 0]], second[triads.edges[:, 0]], second[triads.edges[:, 1]]
    assert (first[triads.edges[:, 2]] == i).all()
    assert (second[triads.edges[:, 2]] == k).all()
    assert ((i < j) & (j < k)).all()


@pytest.mark.parametrize(
    ("n_arms", "share", "most"), [(3, 1, 9), (8, 0.6, 99), (12, 0.8, 30), (13, 1, 300)]
)
def test_triads_and_their_cycles_one_by_one(n_arms, share, most):
    """Every closed triad stands once, in order; each row is counted as a loop would."""
    rng = np.random.default_rng(n_arms)
    first, second = np.triu_indices(n_arms, 1)
    kept = rng.random(len(first)) < share
    first, second = first[kept], second[kept]
    pair = {p: k for k, p in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    every = [
        (pair[i, j], pair[j, k], pair[i, k])
        for i, j, k in combinations(range(n_arms), 3)
        if {(i, j), (j, k), (i, k)} <= pair.keys()
    ]
    triads = closed_triads(n_arms, first, second, rng, most)
    assert triads.n_closed == len(every) and len(triads.edges) == min(most, len(every))
    places = [every.index(tuple(edges)) for edges in triads.edges.tolist()]
    assert places == sorted(set(places))
    z = rng.integers(-2, 3, (70, len(first))) * rng.random((70, len(first)))
    for row, found in zip(z, cyclicity(z, triads.edges), strict=True):
        weights, decided = [], 0
        for i, j, k in triads.edges:
            signs = np.sign(row[[i, j, k]]) * (1, 1, -1)
            decided += bool(signs.all())
            if abs(signs.sum()) == 3:
                weights.append(np.exp(np.abs(row[[i, j, k]]).min() ** 2 / 2))
        assert found == pytest.approx((np.log1p(sum(weights)), len(weights), decided))


def test_ladder_is_at_its_mode():
    rng = np.random.default_rng(2)
    design = design_of(shown(ORDERED[:6, :6], 4, 0.7, rng))
    assert design.has_order
    first, second = design.first[design.pair], design.second[design.pair]
    mode, root, _ = _fit(design, LOGISTIC, 0.1, 1.3, np.zeros(7))

    def cost(x: np.ndarray) -> float:
        p = 0.05 + 0.9 * expit(x[first] - x[second] + design.side * x[6])
        fit = (design.won * np.log(p) + (design.n - design.won) * np.log1p(-p)).sum()
        return -fit + (x[:6] ** 2).sum() / (2 * 1.3**2) + x[6] ** 2 / 2

    best = optimize.minimize(cost, np.zeros(7), method="BFGS", options={"gtol": 1e-6})
    assert np.allclose(mode, best.x, atol=2e-2)
    assert cost(mode) == pytest.approx(best.fun, abs=2e-3)
    assert root.shape == (7, 7)


def evidence_of(design, scale, lapse=0.1):
    """Return the log marginal likelihood of a lapse model with this scale, by Laplace."""
    assert not design.has_order
    return _fit(design, LOGISTIC, lapse, scale, np.zeros(design.n_arms + 1))[2]


def test_evidence_of_a_scale_is_the_integral_over_the_scores():
    """Two arms, seven wins of ten: an integral over their difference."""
    apart = np.linspace(-40, 40, 20_001)
    p = 0.05 + 0.9 * expit(apart)

    def integral(scale):
        return np.log((p**7 * (1 - p) ** 3 * stats.norm.pdf(apart, 0, scale * 2**0.5)).sum())

    design = design_of(Duels.from_wins([[0, 7], [3, 0]]))
    found = evidence_of(design, 1.0) - evidence_of(design, 0.25)
    assert found == pytest.approx(integral(1.0) - integral(0.25), abs=0.05)


def test_the_log_scale_has_a_normal_prior():
    """Of standard deviation 2: what the evidence of level arms has beside their likelihood."""
    design = design_of(Duels.from_wins(10 * (1 - np.eye(4))))
    top = fit_lapse_model(design, LOGISTIC).fits[0]
    prior = top.evidence - evidence_of(design, top.scale, top.lapse)
    assert np.log(top.scale) < -1
    assert prior == pytest.approx(-((np.log(top.scale) / 2) ** 2) / 2)


def test_monotone_is_the_projection():
    rng = np.random.default_rng(3)
    y, weight = rng.random((4, 4)), rng.uniform(0.5, 3, (4, 4))
    found = isotonic_matrix(y, weight)
    i, j = np.triu_indices(4, 1)
    at = {pair: k for k, pair in enumerate(zip(i, j, strict=True))}
    rules = [
        {"type": "ineq", "fun": lambda x, a=at[a, c], b=at[a, b]: x[a] - x[b]}
        for a in range(4) for b in range(a + 1, 4) for c in range(b + 1, 4)
    ] + [
        {"type": "ineq", "fun": lambda x, a=at[a, c], b=at[b, c]: x[a] - x[b]}
        for a in range(4) for b in range(a + 1, 4) for c in range(b + 1, 4)
    ]  # fmt: skip
    best = optimize.minimize(
        lambda x: (weight[i, j] * (x - y[i, j]) ** 2).sum(),
        np.full(6, 0.75),
        bounds=[(0.5, 1)] * 6,
        constraints=rules,
        method="SLSQP",
    )
    assert np.allclose(found[i, j], best.x, atol=5e-3)
    assert np.allclose(found + found.T, 1)


def test_orders_are_improved_until_no_move_helps():
    rng = np.random.default_rng(18)
    for _ in range(5):
        gain = rng.normal(size=(6, 6))
        gain -= gain.T

        def worth(order, gain=gain):
            return sum(gain[a, b] for a, b in combinations(order, 2))

        start = rng.permutation(6)
        found = reordered(start, gain)
        assert sorted(found) == list(range(6))
        for k in range(6):
            rest = [a for a in found if a != found[k]]
            for at in range(6):
                assert worth([*rest[:at], found[k], *rest[at:]]) <= worth(found) + 1e-9
    place = rng.permutation(6)  # where no majority contradicts an order, it is found
    gain = np.sign(place - place[:, None]).astype(float)
    assert (place[reordered(np.arange(6), gain)] == np.arange(6)).all()


# -- the test --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ladder", "hierarchy", "ties", "order"])
@pytest.mark.sampled(4)
def test_transitive_logs_are_not_accused(kind):
    # Each false alarm has probability 0.05 at most: 6 of 20 or more, 3e-4.
    accused = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        if kind == "order":
            log = shown(ORDERED, 3, 1.0, rng)
        elif kind == "hierarchy":
            P = 0.5 + 0.3 * np.sign(np.subtract.outer(-np.arange(10), -np.arange(10)))
            log = simulate(P, 8, rng)
        else:
            log = simulate(ORDERED, 6, rng)
            if kind == "ties":
                ties = np.triu(rng.binomial(5, 0.5, (10, 10)), 1)
                log = Duels.from_wins(log.tally().wins, log.arms, ties=ties + ties.T)
        accused += evidence_strength(log, 99, seed) != "none"
    assert accused <= 5


@pytest.mark.slow
def test_an_order_effect_in_one_order_of_each_pair_is_not_a_cycle():
    # Without an order effect in the null models 39 of 40 such logs are called cyclic.
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 26])
        score = rng.normal(0, 0.5, 10)
        log = presented(expit(score[:, None] - score), 50, 0.7, rng)
        found.append(evidence_strength(log, 99, seed))
        if seed < 3:
            unordered = replace(log, ordered=False)
            assert evidence_strength(unordered, 99, seed) != "none"
    assert found.count("strong") <= 2  # 3 of 12 or more: probability 0.02 at a rate of 5 %


def test_an_order_effect_that_cannot_be_told_accuses_nobody():
    log = presented(ROCK, 40, 0.0, np.random.default_rng(27))
    found = transitivity_test(log, 199, power=False)
    assert found.order == "not identified"  # three pairs, two scores and an order effect
    assert found.strength == "undecided" == evidence_strength(log, 199)
    assert found.transitive is None
    known = transitivity_test(replace(log, ordered=False), 199, power=False)
    assert (known.order, known.transitive) == ("not recorded", False)
    few = presented(ORDERED[:4, :4], 1, 0.0, np.random.default_rng(28))
    assert design_of(few).order == "not identified"  # six duels are little information


@pytest.mark.parametrize("share, status", [(0, "not recorded"), (0.5, "estimated"),
                                           (1, "not recorded")])  # fmt: skip
def test_no_order_effect_is_estimated_where_one_side_won_all(share, status):
    low, high, n = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 2, 2, 2, 2]), np.full(6, 40.0)
    side = np.array([1.0, -1.0] * 3)
    won = n * np.where(side > 0, share, 1 - share)
    assert _order_status(3, low, high, side, n, won) == status


def test_information_on_the_order_effect_by_hand():
    # Of a > b, b > c, a > c in this order a third of the information is no difference of scores.
    low, high, n = np.array([0, 1, 0]), np.array([1, 2, 2]), np.full(3, 40.0)
    assert _profile_information(3, low, high, np.ones(3), n) == pytest.approx(40 / 12)
    always = np.array([-1.0, 1.0, 0.0])  # b always first: its score
    assert _profile_information(3, low, high, always, n) == pytest.approx(40 / 4 * 2 - 20, abs=1e-5)
    assert LEAST_INFORMATION == 1.0  # that of the prior of the order effect, N(0, 1)


def test_strength_agrees_with_the_test():
    for seed in range(6):
        rng = np.random.default_rng([seed, 29])
        P = [ORDERED[:6, :6], 0.5 + 0.25 * (2 * ROCK - 1)][seed % 2]
        log = simulate(P, 4 + 4 * seed, rng)
        found = transitivity_test(log, 59, seed, power=False)
        assert evidence_strength(log, 59, seed) == found.strength


@pytest.mark.slow
def test_only_strong_evidence_accuses():
    # Pairs are won at 52 % or at 95 % along an order: uneven margins, no cycle.
    found = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 30])
        sure = np.triu(rng.choice([0.02, 0.45], (12, 12)), 1)
        found.append(
            transitivity_test(simulate(0.5 + sure - sure.T, 8, rng), 99, seed, power=False)
        )
    for one in found:
        assert one.p_strong <= one.p_value
        assert one.transitive is (one.p_value > 0.05)
    assert {"weak"} <= {one.strength for one in found}
    assert all(one.transitive for one in found if one.strength == "weak")


def test_duels_won_in_replicated_logs_have_binomial_laws():
    n, chance = (
        np.array([1, 30, 30, 30, INVERTED, INVERTED + 1, 0]),
        [0.3, 1e-9, 0.2, 0.9, 0.5, 0.7, 0.4],
    )
    draws = 4_000
    pair, won = np.arange(len(n)), np.empty((draws, len(n)))
    _binomials(n, np.tile(chance, (draws, 1)), pair, np.random.default_rng(5), won)
    for column, number, p in zip(won.T, n, chance, strict=True):
        expected = stats.binom(number, p).pmf(np.arange(number + 1)) * draws
        seen = np.bincount(column.astype(int), minlength=number + 1)
        often = expected > 10
        square = ((seen - expected)[often] ** 2 / expected[often]).sum()
        assert square <= stats.chi2(max(often.sum() - 1, 1)).ppf(1 - 1e-6)
    certain, rng = np.empty((1, 2)), np.random.default_rng(5)
    _binomials(np.array([9, 9]), np.array([[0.0, 1.0]]), np.array([0, 1]), rng, certain)
    assert certain.tolist() == [[0.0, 9.0]]
    both = np.empty((1, 1))
    _binomials(np.array([9, 300]), np.ones((1, 2)), np.array([0, 0]), rng, both)
    assert both.tolist() == [[309.0]]


def test_as_many_logs_are_replicated_as_are_asked_for():
    null_models = NullModels(design_of(simulate(ORDERED[:5, :5], 10, np.random.default_rng(3))))
    for model, n in product(NULL_MODELS, (1, 30, 50)):
        logs = null_models.replicate(model, n, np.random.default_rng(1))
        assert sum(len(part) for part in logs) == n


def test_irregular_pairs_are_those_of_the_lapse_model_where_they_must_be_close(monkeypatch):
    null_models = NullModels(design_of(simulate(ORDERED[:5, :5], 10, np.random.default_rng(3))))
    number, won, *_ = null_models._pairs
    close = (number, won, np.array([1e9]), np.ones(1))
    monkeypatch.setattr(null_models, "_pairs", close)
    rng = np.random.default_rng(4)
    drawn, lapse = null_models.best.draw(8, rng)
    better = drawn[:, null_models.design.first] > drawn[:, null_models.design.second]
    found = null_models._irregular(drawn, lapse, better, rng)[:, null_models.design.pair]
    expected = null_models.chances(null_models.best, drawn, lapse)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_mixture_finds_level_and_certain_pairs():
    rng = np.random.default_rng(31)
    sure = np.triu(rng.choice([0.0, 0.45], (20, 20)), 1)
    null_models = NullModels(design_of(simulate(0.5 + sure - sure.T, 60, rng)))
    drawn = np.concatenate([chances(of) for chances, of in null_models._draws("mixture", 60, rng)])
    high = np.median(np.maximum(drawn, 1 - drawn), axis=0)
    true = sure[np.triu_indices(20, 1)] + 0.5
    assert high.min() >= CHANCES[0] and high.max() <= CHANCES[-1]
    assert high[true == 0.5].mean() == pytest.approx(0.5, abs=0.01)
    assert high[true == 0.95].mean() == pytest.approx(0.95, abs=0.01)


def test_level_or_certain_pairs_met_twice_give_no_strong_evidence():
    """Weighted by 60 steps of expectation-maximisation, the mixture missed such worlds."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sure = np.triu(rng.choice([0.02, 0.45], (40, 40)), 1)
        log = simulate(0.5 + sure - sure.T, 2, rng)
        assert evidence_strength(log, 99, seed) == "weak", seed


def test_seeds_decide():
    log = simulate(ORDERED, 3, np.random.default_rng(7))
    one, same, other = (transitivity_test(log, 50, seed=s, power=False) for s in (1, 1, 2))
    assert one.p_by_model == same.p_by_model
    assert one.p_by_model != other.p_by_model


def test_units_and_sides():
    log = Duels.from_votes(
        ["a", "a", "b", "a", "c", "a"],
        ["b", "b", "a", "c", "a", "b"],
        [1, 1, 1, 1, 0.5, 0],
        judge=["x", "x", "x", "x", "x", None],
    )
    design = majority_design(log, "judge")
    # a beat b 2:1 by x (listed first twice), lost once to b without a judge; a beat c.
    assert design.n.sum() == 3
    assert design.by_pair(design.won).tolist() == [1, 1]
    with pytest.raises(ValueError, match="group"):
        majority_design(log, "group")
    first_won = Duels.from_votes([*"abcab"], [*"bcacc"], [1] * 5)
    assert not design_of(first_won).has_order  # the side was written after the outcome


def test_majorities_count_votes_in_either_order():
    """b beats a 2:1 in the group u, listed first twice; a beats b in v, listed first."""
    log = Duels.from_votes([*"abba"], [*"baab"], [1, 1, 1, 1], group=[*"uuuv"])
    design = majority_design(log, "group")
    assert (design.n.sum(), design.won.sum()) == (2, 1)
    both = majority_design(Duels.from_votes([*"abbbaa"], [*"baaabb"], [1, 1, 1, 0, 0, 0],
                                            group=[*"uuuvvv"]), "group")  # fmt: skip
    assert both.order == "not identified"  # sides are known: b first in u, a first in v
    assert both.both_ways == 1


def test_power_grows_with_the_log():
    few, many = (
        transitivity_test(simulate(ORDERED, n, np.random.default_rng(8)), 99).power for n in (2, 60)
    )
    assert few["three arms"][0.9] < 0.9 < many["three arms"][0.9]
    assert many["three arms"][0.6] <= many["three arms"][0.9]


def test_power_of_many_pairs_is_that_of_few(monkeypatch):
    """Of many pairs, logs with one planted cycle share the duels of all other pairs."""
    log = simulate(ORDERED, 12, np.random.default_rng(8))
    whole = transitivity_test(log, 99).power
    monkeypatch.setattr("bayesduel.criticism.transitivity.evidence.MANY_PAIRS", 1)
    shared = transitivity_test(log, 99).power
    for kind, by_strength in whole.items():
        for strength, power in by_strength.items():  # shares of 100 and of 50 logs
            assert shared[kind][strength] == pytest.approx(power, abs=0.26)


@pytest.mark.slow
def test_false_alarms_on_a_real_design():
    # 200 transitive logs of ten kinds on a shipped design; alarms beyond the exact limit of a
    # 5 % test have probability 1e-6.
    from benchmarks.truths import TRANSITIVE
    from benchmarks.truths import simulate as on_design

    design = bd.datasets.load("baseball1987")
    alarms = 0
    for k in range(200):
        rng = np.random.default_rng([k, 16])
        log = on_design(design, TRANSITIVE[k % 9], rng)
        alarms += evidence_strength(log, 99, seed=k) != "none"
    assert alarms <= stats.binom(200, 0.05).ppf(1 - 1e-6)


def test_the_z_score_of_a_majority_allows_for_who_was_listed_first():
    from bayesduel.criticism.transitivity.design import DecidedDuels
    from bayesduel.criticism.transitivity.triads import majority_z

    def design(won):
        return DecidedDuels(
            n_arms=2, first=np.array([0]), second=np.array([1]), pair=np.array([0, 0, 0]),
            side=np.array([1.0, -1.0, 0.0]), n=np.array([30.0, 10.0, 4.0]),
            won=np.array(won, dtype=float), order="estimated",
        )  # fmt: skip

    # Level arms, 70 % for the side listed first: 21 of 30, 3 of 10 and 2 of 4 are expected.
    level = design([21, 3, 2])
    assert majority_z(level, level.by_pair(level.won), 0.7)[0] == pytest.approx(0)
    spread = np.sqrt(40 * 0.7 * 0.3 + 4 * 0.25)
    more = design([24, 3, 2])
    assert majority_z(more, more.by_pair(more.won), 0.7)[0] == pytest.approx(3 / spread)
    assert majority_z(more, more.by_pair(more.won), 0.3)[0] == pytest.approx(
        (29 - (9 + 7 + 2)) / spread
    )


@pytest.mark.slow
def test_cycles_that_one_null_model_overstates_are_not_acquitted():
    """Of 78 arms that met twice, cycles won at 75 %: "mixture" predicts 1.6 times as many."""
    rng = np.random.default_rng(1)
    left, right = pairs_of("78 arms, double round-robin", rng)
    log = drawn_log(unseen_matrix("cycles 75", 78, rng), left, right, 0.0, rng)
    found = transitivity_test(log, 200, power=False)
    assert found.too_cyclic == ("mixture",) and found.p_by_model["mixture"] == 1.0
    assert found.p_value <= 0.05
    assert found.strength == "no fit" and found.transitive is None
