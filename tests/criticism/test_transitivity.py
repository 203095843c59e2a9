"""The predictive check of scores: its statistic, the scores it is held against, its alarms."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from bayesduel.criticism.check import check
from bayesduel.criticism.transitivity.design import (
    LEAST_INFORMATION,
    DecidedDuels,
    _order_status,
    _profile_information,
    design_of,
    majority_design,
)
from bayesduel.criticism.transitivity.evidence import cycle_evidence
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.criticism.transitivity.triads import closed_triads, cyclicity, majority_z
from bayesduel.data.duels import Duels
from bayesduel.preference import cyclic_triads, decided_triads
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


def test_scores_are_at_their_mode():
    """Of the posterior given the size that is most probable, side advantage included."""
    design = design_of(shown(ORDERED[:6, :6], 4, 0.7, np.random.default_rng(2)))
    assert design.has_order
    model = ScoreModel(design)
    node = max(model._model.nodes, key=lambda one: one.log_weight)
    first = design.first[design.pair]
    second = design.second[design.pair]

    def cost(x):
        p = expit(x[first] - x[second] + design.side * x[6])
        fit = (design.won * np.log(p) + (design.n - design.won) * np.log1p(-p)).sum()
        return -fit + (x**2 * node.precision).sum() / 2

    best = optimize.minimize(cost, np.zeros(7), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(model.mode, best.x, atol=2e-2)
    np.testing.assert_allclose(
        model.expected(),
        expit(best.x[first] - best.x[second] + design.side * best.x[6]),
        atol=5e-3,
    )


def test_replicated_logs_have_the_design_and_the_chances_of_the_scores():
    """Of many duels the posterior is narrow: the mean of a pair is that at the mode."""
    design = design_of(shown(ORDERED[:5, :5], 400, 0.7, np.random.default_rng(3)))
    model = ScoreModel(design)
    drawn = np.concatenate([*model.replicate(2000, np.random.default_rng(1))])
    assert drawn.shape == (2000, 10)
    n = design.by_pair(design.n)
    assert (drawn <= n).all() and (drawn >= 0).all() and (drawn == drawn.round()).all()
    expected = design.by_pair(design.n * model.expected())
    np.testing.assert_allclose(drawn.mean(axis=0) / n, expected / n, atol=0.01)
    low, high = model.first_wins_interval
    assert low < model.first_wins < high
    assert low < expit(0.7) < high


# -- the check -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["scores", "ties", "order"])
@pytest.mark.sampled(3)
def test_logs_of_scores_are_not_accused(kind):
    # Each false alarm has probability 0.05 at most: 6 of 20 or more, 3e-4.
    accused = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        log = shown(ORDERED, 3, 1.0, rng) if kind == "order" else simulate(ORDERED, 6, rng)
        if kind == "ties":
            ties = np.triu(rng.binomial(5, 0.5, (10, 10)), 1)
            log = Duels.from_wins(log.tally().wins, log.arms, ties=ties + ties.T)
        accused += cycle_evidence(design_of(log), "duel", rng).p_value <= 0.05
    assert accused <= 5


@pytest.mark.slow
def test_a_side_advantage_in_one_order_of_each_pair_is_not_a_cycle():
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 26])
        score = rng.normal(0, 0.5, 10)
        log = presented(expit(score[:, None] - score), 50, 0.7, rng)
        found.append(check(log, quick=True, seed=seed).transitive)
        if seed < 3:  # without a side advantage the same log looks cyclic
            assert check(log, quick=True, side_advantage=False).p_one_ranking < 0.05
    assert found.count(False) == 0


def test_a_side_advantage_that_cannot_be_told_accuses_nobody():
    log = presented(ROCK, 40, 0.0, np.random.default_rng(27))
    found = check(log, quick=True)
    assert found.evidence.order == "not identified"  # three pairs, two scores and a side advantage
    assert found.evidence.other_cause == "order"
    assert found.transitive is None
    known = check(log, quick=True, side_advantage=False)
    assert (known.evidence.order, known.transitive) == ("not recorded", False)
    few = presented(ORDERED[:4, :4], 1, 0.0, np.random.default_rng(28))
    assert design_of(few).order == "not identified"  # six duels are little information


@pytest.mark.parametrize("share, status", [(0, "not recorded"), (0.5, "estimated"),
                                           (1, "not recorded")])  # fmt: skip
def test_no_side_advantage_is_estimated_where_one_side_won_all(share, status):
    low, high, n = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 2, 2, 2, 2]), np.full(6, 40.0)
    side = np.array([1.0, -1.0] * 3)
    won = n * np.where(side > 0, share, 1 - share)
    assert _order_status(3, low, high, side, n, won) == status


def test_information_on_the_side_advantage_by_hand():
    # Of a > b, b > c, a > c in this order a third of the information is no difference of scores.
    low, high, n = np.array([0, 1, 0]), np.array([1, 2, 2]), np.full(3, 40.0)
    assert _profile_information(3, low, high, np.ones(3), n) == pytest.approx(40 / 12)
    always = np.array([-1.0, 1.0, 0.0])  # b always first: its score
    assert _profile_information(3, low, high, always, n) == pytest.approx(40 / 4 * 2 - 20, abs=1e-5)
    assert LEAST_INFORMATION == 1.0  # that of the prior of the side advantage, N(0, 1)


def test_seeds_decide():
    design = design_of(simulate(ORDERED, 3, np.random.default_rng(7)))
    one, same, other = (
        cycle_evidence(design, "duel", np.random.default_rng(s)).replicated for s in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


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


def test_the_z_score_of_a_majority_allows_for_who_was_listed_first():
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
