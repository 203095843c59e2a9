"""Hand-worked rounds of D-TS and D-TS+."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.beliefs import Beta, Hoeffding, record
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.policies import DTS, DTSPlus
from bayesduel.policies.dts import confirmation_cost, refresh, sampled_wins
from tests.support.asking import ask

pytestmark = pytest.mark.plain

SURE = 400.0  # 400 wins of 400: radius sqrt(0.51 ln t / 400) is far below 1/2.


def chain():
    """Arm 0 surely beats 1 and 2; 1 and 2 stand at 5 : 5."""
    return np.array([[0, SURE, SURE], [0, 0, 5.0], [0, 5.0, 0]])


def test_dts_duels_a_sure_winner_with_itself():
    assert ask(DTS(), chain(), 1000) == {(0, 0): 60}


def test_dts_elects_among_the_possible_and_challenges_by_column():
    # t = 100: radius sqrt(0.51 * 4.605 / n). Arm 2 lost 60 of 60 to 0 and to 1 (radius 0.2):
    # it is out. 0 and 1 are open at 30 : 20 (radius 0.217): both may be winners.
    wins = np.array([[0, 30, 60], [20, 0, 60], [0, 0, 0.0]])
    counts = ask(DTS(), wins, 100, seeds=range(400))
    # A champion's only undecided duels are with itself and the other contender. Champion 0 is
    # elected when theta_01 > 1/2, Beta(31, 21); else 1. Then the challenger is whoever has
    # theta' largest: the other if theta' > 1/2, else itself. The two draws are independent.
    p = stats.beta(31, 21).sf(0.5)
    expected = {(0, 0): p * p, (0, 1): p * (1 - p), (1, 0): (1 - p) * p, (1, 1): (1 - p) ** 2}
    assert set(counts) <= set(expected)
    seen = [counts.get(pair, 0) for pair in expected]
    # Exact law of the four counts by its chi-square; 1e-6.
    assert stats.chisquare(seen, 400 * np.array(list(expected.values()))).pvalue > 1e-6


@pytest.mark.parametrize("prior", [1.0, 0.5, 3.0])
@pytest.mark.sampled(3)
def test_the_side_of_a_pair_has_the_probability_of_its_posterior(prior):
    """After every duel, and after many at once; of the wins of candidates alone."""
    rng = np.random.default_rng(0)
    belief, memory = Beta(prior=prior).init(5), DTS().init(5)
    at_once = DTS().init(5)
    above = np.triu_indices(5, 1)
    for k in range(300):
        i, j = rng.choice(5, 2, replace=False)
        record(belief, (i, j), float(rng.random() < 0.8))
        refresh(memory.sides, belief.wins, prior, belief.last, 1)
        if k % 60 == 59:
            refresh(at_once.sides, belief.wins, prior, belief.last, 60)
    law = stats.beta(prior + belief.wins[above], prior + belief.wins.T[above]).sf(0.5)
    for found in (memory.sides.chance, at_once.sides.chance):
        np.testing.assert_allclose(found[above], law, rtol=1e-10)
    candidates = np.array([True, False, True, True, False])
    drawn = np.array([sampled_wins(memory.sides, candidates, rng) for _ in range(20_000)])
    assert (drawn[:, ~candidates] == -1).all()
    chance = np.zeros((5, 5))
    chance[above] = law
    chance.T[above] = 1 - law
    expected = chance.sum(axis=1)[candidates]
    spread = np.sqrt((chance * (1 - chance)).sum(axis=1)[candidates] / len(drawn))
    assert (np.abs(drawn[:, candidates].mean(axis=0) - expected) < 5 * spread).all()


def test_many_arms_that_never_met_win_by_fair_coins():
    """60 arms take two words: each pair has one winner, and wins are Binomial(59, 1/2)."""
    sides, rng = DTS().init(60).sides, np.random.default_rng(3)
    drawn = np.array([sampled_wins(sides, np.ones(60, bool), rng) for _ in range(200)])
    assert (drawn.sum(axis=1) == 60 * 59 // 2).all()
    seen = np.bincount(np.clip(drawn.ravel(), 24, 35), minlength=36)[24:]
    law = stats.binom(59, 0.5).pmf(np.arange(60))
    law = np.array([law[:25].sum(), *law[25:35], law[35:].sum()])
    assert stats.chisquare(seen, law * drawn.size).pvalue > 1e-6


def algorithm_1(B, t, alpha, n, rng):
    """Draw n pairs by Algorithm 1 of Wu and Liu (2016), line by line, from counts B at time t."""
    K, every = len(B), np.arange(n)
    duels = B + B.T
    with np.errstate(divide="ignore", invalid="ignore"):  # line 4: x / 0 := 1
        share = np.where(duels > 0, B / duels, 1.0)
        radius = np.sqrt(np.where(duels > 0, alpha * np.log(t) / duels, 1.0))
    u = share + radius
    low = share - radius
    np.fill_diagonal(u, 0.5)
    np.fill_diagonal(low, 0.5)
    zeta = (u > 0.5).sum(axis=1) / (K - 1)  # line 5: the diagonal is not above 1/2
    C = zeta == zeta.max()  # line 6
    theta = np.full((n, K, K), 0.5)  # lines 7 to 10
    for i in range(K):
        for j in range(i + 1, K):
            theta[:, i, j] = rng.beta(B[i, j] + 1, B[j, i] + 1, n)
            theta[:, j, i] = 1 - theta[:, i, j]
    wins = np.where(C, (theta > 0.5).sum(axis=2), -1)  # line 11, ties at random
    a1 = (wins + rng.random((n, K))).argmax(axis=1)
    theta2 = rng.beta(B[:, a1].T + 1, B[a1] + 1)  # line 13
    theta2[every, a1] = 0.5
    a2 = np.where(low[:, a1].T <= 0.5, theta2, -1).argmax(axis=1)  # line 14
    return a1, a2


COUNTS = {  # how many duels a pair had, and how far from even it is
    "no duel": (0, 1, 0.0),
    "one duel": (1, 1, 0.2),
    "few": (4, 0.5, 0.2),
    "even": (30, 0.7, 0.02),
    "some decided": (200, 0.8, 0.15),
    "nearly all decided": (2000, 1.0, 0.2),
}


@pytest.mark.parametrize("asked", ["after every duel", "at the end"])
@pytest.mark.parametrize("K", [2, 3, 5, 9, pytest.param(56, marks=pytest.mark.slow)])
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.sampled(4)
def test_the_pair_has_the_law_of_algorithm_1(counts, K, asked):
    """The pair, its champion and its challenger: chi-square tests of equal laws, 1e-6 each."""
    most, met, strength = COUNTS[counts]
    rng = np.random.default_rng([K, *counts.encode()])
    for _ in range(2):
        n_duels = np.triu(rng.integers(0, most + 1, (K, K)) * (rng.random((K, K)) < met), 1)
        if counts == "one duel":
            n_duels = (np.arange(K * K) == 1).reshape(K, K).astype(int)
        chance = np.clip(0.5 + strength * rng.normal(size=(K, K)), 0.02, 0.98)
        won = rng.binomial(n_duels, chance)
        B = (won + (n_duels - won).T).astype(float)
        policy, n = DTS(), 1000 if K < 20 else 300
        belief, memory = policy.belief.init(K), policy.init(K)
        pairs = np.argwhere(B > 0).repeat(B[B > 0].astype(int), axis=0)
        rng.shuffle(pairs)
        known = max(len(pairs) - 40, 0)  # so many are told at once
        np.add.at(belief.wins, tuple(pairs[:known].T), 1.0)
        belief.n_duels[0] = known
        for k, pair in enumerate(pairs[known:], known):
            if asked == "after every duel":
                policy.select(belief, memory, k + 1, rng)
            record(belief, pair, 1.0)
        t = len(pairs) + 2
        np.testing.assert_array_equal(belief.wins, B)
        found = np.array([policy.select(belief, memory, t, rng) for _ in range(n)])
        law = np.stack(algorithm_1(B, t, policy.alpha, 10 * n, rng), axis=1)
        for of in (lambda pair: pair @ (K, 1), lambda pair: pair[:, 0], lambda pair: pair[:, 1]):
            assert same_law(of(found), of(law)) > 1e-6


def same_law(found, law):
    """Return the p-value that two samples of whole numbers are of one law, rare ones together."""
    size = max(found.max(), law.max()) + 1
    table = np.stack([np.bincount(found, minlength=size), np.bincount(law, minlength=size)])
    rare = table.sum(axis=0) * len(found) / (len(found) + len(law)) < 5  # expected, of `found`
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.any(axis=0)]
    return stats.chi2_contingency(table, correction=False).pvalue if table.shape[1] > 1 else 1.0


def test_dts_plus_price_by_hand():
    drawn = np.array([[0.5, 0.8, 0.3], [0.2, 0.5, 0.6], [0.7, 0.4, 0.5]])
    wins = np.array([1, 1, 1])
    # A cycle: every duel of it costs max - mean = 1 - (1 + 1) / 2 = 0.
    assert confirmation_cost(0, drawn, wins) == 0
    drawn = np.array([[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]])
    wins = np.array([2, 1, 0])
    by_hand = (2 - 1.5) / divergence_from_half(0.8) + (2 - 1) / divergence_from_half(0.7)
    assert confirmation_cost(0, drawn, wins) == pytest.approx(by_hand)
    by_hand = (2 - 1.5) / divergence_from_half(0.2) + (2 - 0.5) / divergence_from_half(0.6)
    assert confirmation_cost(1, drawn, wins) == pytest.approx(by_hand)


def test_dts_plus_breaks_ties_by_price_and_is_dts_otherwise():
    # A sure cycle 0 > 1 > 2 > 0 above 3: three arms win twice in every draw. Arm 2's own
    # victory over 3 is by little, which makes it dear: 2 is never champion, 0 or 1 are.
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wins[i, j] = 4000
    wins[0, 3], wins[3, 0] = 3600, 400
    wins[1, 3], wins[3, 1] = 3600, 400
    wins[2, 3], wins[3, 2] = 2600, 1400
    plus = ask(DTSPlus(), wins, 1000)
    plain = ask(DTS(), wins, 1000)
    assert {i for i, _ in plus} == {0, 1}
    assert {i for i, _ in plain} == {0, 1, 2}
    one_winner = [[0, SURE, SURE], [0, 0, 5], [0, 5, 0]]
    assert ask(DTSPlus(), one_winner, 1000) == ask(DTS(), one_winner, 1000) == {(0, 0): 60}


def test_dts_plus_prefers_the_cheaper_of_two_evenly():
    """By symmetry of 0 and 1 above, each is champion half of the time."""
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wins[i, j] = 4000
    for i, (w, n) in enumerate(((3600, 400), (3600, 400), (2600, 1400))):
        wins[i, 3], wins[3, i] = w, n
    counts = ask(DTSPlus(), wins, 1000, seeds=range(400))
    first = sum(n for (i, _), n in counts.items() if i == 0)
    assert stats.binomtest(first, 400, 0.5).pvalue > 1e-6


@pytest.mark.parametrize("policy", [DTS, DTSPlus])
def test_settings_are_checked(policy):
    for alpha in (0.4, 0.5, float("nan")):
        with pytest.raises(ValueError, match=f"alpha should be > 0.5, got {alpha}"):
            policy(alpha=alpha)
    with pytest.raises(
        ValueError, match=f"belief of {policy.__name__} should be .* can be sampled"
    ):
        policy(belief=Hoeffding())
    assert policy(belief=Beta(prior=0.5)) != policy()


def test_an_opponent_known_to_win_is_no_challenger():
    # Arm 0 surely beats 1, 3 and 4 and loses to 2, which loses to all others: 0 is the champion,
    # and 2, with the largest sampled chance against it, is a decided pair.
    wins = np.zeros((5, 5))
    for i, j in [(0, 1), (0, 3), (0, 4), (2, 0), (1, 2), (3, 2), (4, 2), (1, 3), (3, 4), (4, 1)]:
        wins[i, j] = SURE
    assert ask(DTS(), wins, 1000) == {(0, 0): 60}
    # At 12 : 8 the pair is open again, and 2 is challenged wherever its sample is the larger.
    wins[2, 0], wins[0, 2] = 12, 8
    assert ask(DTS(), wins, 1000).keys() == {(0, 0), (0, 2)}
