"""The selection policies: their formulas written plainly, and rounds worked by hand."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

sys.path.insert(0, str(Path(__file__).parent))
from dealing import dealt, frozen

from bayesduel import selection
from bayesduel.selection import (
    PKG,
    ActiveRanking,
    HybridPOCBAm,
    LaplaceAllocation,
    MLPOCBAm,
    POCBAm,
    SelectTop,
    Uniform,
    fit_margins,
    intransitivity,
    no_margins,
    record_margin,
)
from bayesduel.selection.covariance import promises, score_covariance
from bayesduel.selection.pkg import log_gains
from bayesduel.selection.promise import (
    log_normal_cdf,
    log_promises,
    log_unit_loss,
    promising_pair,
)
from bayesduel.selection.select_top import most_matches

ADAPTIVE = (POCBAm, MLPOCBAm, HybridPOCBAm, PKG, LaplaceAllocation)
POLICIES = [*(p(k=2) for p in ADAPTIVE), ActiveRanking(k=2), SelectTop(k=2, budget=60), Uniform()]


def accounts(margins):
    """Sample means, variances, scores and their variances, by whole arrays."""
    n = margins.n + np.eye(len(margins.n))
    mean = margins.total / n
    variance = np.maximum((margins.squares - n * mean**2) / np.maximum(n - 1, 1), 0)
    np.fill_diagonal(variance, 0)
    return mean, variance, mean.sum(axis=1), (variance / n).sum(axis=1)


def promise(mu, spread, k, threshold):
    """The product over arms, as printed."""
    top = np.argsort(-mu)[:k]
    z = (mu - threshold) / np.sqrt(spread)
    z[np.setdiff1d(np.arange(len(mu)), top)] *= -1
    return stats.norm.cdf(z).prod()


def test_the_log_of_the_normal_cdf_is_accurate_in_both_tails():
    z = np.r_[np.linspace(-60, 36, 400), 0.0]
    ours = np.array([log_normal_cdf(x) for x in z])
    np.testing.assert_allclose(ours, special.log_ndtr(z), rtol=3e-8)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_promises_are_ratios_of_the_printed_products(k):
    margins, _ = dealt(6, 4, k)
    _, variance, mu, spread = accounts(margins)
    gain = log_promises(mu, spread, variance, margins.n, k)
    order = np.argsort(-mu)
    a, b = order[k - 1], order[k]
    sa, sb = np.sqrt(spread[a]), np.sqrt(spread[b])
    c = (sb * mu[a] + sa * mu[b]) / (sa + sb)
    for i, j in combinations(range(6), 2):
        more = margins.n.copy()
        more[i, j] += 1
        more[j, i] += 1
        fresh = (variance / (more + np.eye(6))).sum(axis=1)
        ratio = promise(mu, fresh, k, c) / promise(mu, spread, k, c)
        np.testing.assert_allclose(gain[i, j], np.log(ratio), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_arms", [5, 30, 100])
def test_the_pair_named_is_the_most_promising_without_underflow(n_arms):
    margins, _ = dealt(n_arms, 3, n_arms)
    _, variance, mu, spread = accounts(margins)
    k = n_arms * 2 // 5
    gain = log_promises(mu, spread, variance, margins.n, k)
    assert np.isfinite(gain).all()
    i, j = promising_pair(mu, spread, variance, margins.n, k, np.random.default_rng(0))
    assert i < j
    assert gain[i, j] == gain.max() > 0


def test_equal_promises_are_drawn_at_random():
    ones = np.ones((4, 4)) - np.eye(4)
    mu, spread = np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 3.0)
    rng = np.random.default_rng(1)
    named = [promising_pair(mu, spread, ones, 4 * ones, 2, rng) for _ in range(600)]
    counts = np.unique(named, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("policy", ADAPTIVE)
def test_the_warm_up_meets_every_pair_equally_often(policy):
    rule = policy(k=2)
    memory, margins = rule.init(5), no_margins(5)
    rng = np.random.default_rng(0)
    for t in range(1, rule.opening(5) + 1):
        i, j = rule.select(margins, memory, t, rng)
        record_margin(margins, i, j, rng.normal())
    np.testing.assert_array_equal(margins.n, 3 * (1 - np.eye(5)))


def test_pocbam_and_its_model_name_the_pairs_of_their_accounts():
    margins, _ = dealt(6, 5, 8)
    frozen(margins)
    _, variance, mu, spread = accounts(margins)
    gain = log_promises(mu, spread, variance, margins.n, 2)
    rule = POCBAm(k=2)
    pair = rule.select(margins, rule.init(6), 1000, np.random.default_rng(0))
    assert gain[pair] == gain.max()
    fit = fit_margins(margins)
    spread = (fit.variance / (margins.n + np.eye(6))).sum(axis=1)
    gain = log_promises(6 * fit.score, spread, fit.variance, margins.n, 2)
    rule = MLPOCBAm(k=2)
    memory = rule.init(6)
    pair = rule.select(margins, memory, 1000, np.random.default_rng(0))
    assert gain[pair] == pytest.approx(gain.max(), rel=1e-6)
    np.testing.assert_allclose(rule.scores(margins, memory), 6 * fit.score, atol=1e-7)


def test_the_hybrid_is_the_one_or_the_other_by_its_index():
    for d, expected in ((0.0, MLPOCBAm(k=2)), (1.5, POCBAm(k=2))):
        margins, _ = dealt(6, 30, 4, d)
        frozen(margins)
        assert (intransitivity(margins) < 0.17) == (d == 0)
        hybrid = HybridPOCBAm(k=2)
        rng = np.random.default_rng
        pair = hybrid.select(margins, hybrid.init(6), 1000, rng(0))
        assert pair == expected.select(margins, expected.init(6), 1000, rng(0))


@pytest.mark.parametrize("index", ["predictive", "posterior"])
def test_the_index_is_the_printed_formula(index):
    margins, _ = dealt(5, 6, 3)
    n = margins.n + np.eye(5)
    _, variance, mu, _ = accounts(margins)
    fit = fit_margins(margins)
    by = n if index == "posterior" else np.ones((5, 5))
    s1, s2 = (variance / by).sum(axis=1), (fit.variance / by).sum(axis=1)
    d = (mu - 5 * fit.score) ** 2

    def kl(a, b):
        return 0.5 * np.log(b / a) + (a + d) / (2 * b) - 0.5

    expected = 1 - np.exp(-(kl(s1, s2) + kl(s2, s1)).sum() / 10)
    np.testing.assert_allclose(intransitivity(margins, index), expected, rtol=1e-5)
    assert 0 < intransitivity(margins, index) < 1


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_knowledge_gradient_is_the_expected_rise_of_the_best_sum(k):
    """Against quadrature over the move of the two scores."""
    margins, _ = dealt(5, 4, 20 + k)
    _, variance, mu, _ = accounts(margins)
    gain = np.exp(log_gains(mu, variance, margins.n, k))
    move = np.linspace(-9, 9, 36001)
    density = stats.norm.pdf(move)
    for i, j in combinations(range(5), 2):
        s = np.sqrt(variance[i, j] / (4 * 5))
        scores = np.tile(mu, (len(move), 1))
        scores[:, i] += s * move
        scores[:, j] -= s * move
        best = np.sort(scores, axis=1)[:, -k:].sum(axis=1) - np.sort(mu)[-k:].sum()
        expected = np.trapezoid(best * density, move)
        np.testing.assert_allclose(gain[i, j], expected, rtol=1e-4, atol=1e-12)


def laplacian(n, variance):
    weight = n / np.where(n > 0, variance, 1)
    return np.diag(weight.sum(axis=1)) - weight


def log_chance(score, covariance, k):
    order = np.argsort(-score)
    p, q = np.repeat(order[:k], len(score) - k), np.tile(order[k:], k)
    v = covariance[p, p] + covariance[q, q] - 2 * covariance[p, q]
    return stats.norm.logcdf((score[p] - score[q]) / np.sqrt(v)).sum()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_laplace_promise_is_the_slope_of_the_chance(k):
    """Against a full inverse after a hundredth of a duel more of each pair, up to a factor."""
    margins, _ = dealt(6, 20, k)
    fit = fit_margins(margins)
    covariance = score_covariance(margins.n, fit.variance)
    centre = np.eye(6) - 1 / 6
    pseudo = np.linalg.pinv(laplacian(margins.n, fit.variance))
    np.testing.assert_allclose(centre @ covariance @ centre, pseudo, atol=1e-14)
    gain = promises(fit.score, covariance, fit.variance, k)
    base = log_chance(fit.score, pseudo, k)
    ratios = []
    for i, j in combinations(range(6), 2):
        more = margins.n.copy()
        more[i, j] += 0.01
        more[j, i] += 0.01
        fresh = np.linalg.pinv(laplacian(more, fit.variance))
        lead = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        whole = 1 / (1 + lead / fit.variance[i, j])  # a whole duel teaches less than 100 parts
        ratios.append(gain[i, j] / (100 * (log_chance(fit.score, fresh, k) - base) * whole))
    np.testing.assert_allclose(ratios, np.mean(ratios), rtol=0.02)


def test_the_laplace_promise_does_not_underflow():
    margins, _ = dealt(6, 20, 1)
    fit = fit_margins(margins)
    covariance = score_covariance(margins.n, fit.variance)
    gain = promises(1e4 * np.arange(6.0), covariance, fit.variance, 2)
    assert np.isfinite(gain).all() and gain.max() > 0


def test_the_unit_loss_does_not_underflow():
    z = np.array([0.0, 1.0, 5.0, 12.0, 34.9, 35.1, 50.0])
    ours = np.array([log_unit_loss(x) for x in z])
    y = 1 / z[3:] ** 2
    leading = -0.5 * z[3:] ** 2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(z[3:])
    np.testing.assert_allclose(ours[3:], leading + np.log(1 - 3 * y + 15 * y**2), atol=1e-3)
    exact = stats.norm.pdf(z[:3]) - z[:3] * stats.norm.sf(z[:3])
    np.testing.assert_allclose(ours[:3], np.log(exact), rtol=1e-9)


def play(rule, n_arms, budget, margin, seed=0):
    memory, margins = rule.init(n_arms), no_margins(n_arms)
    rng = np.random.default_rng(seed)
    for t in range(1, budget + 1):
        i, j = rule.select(margins, memory, t, rng)
        if i < 0:
            break
        assert i != j
        record_margin(margins, i, j, margin(i, j, rng))
    return margins, memory


@pytest.mark.parametrize(("n_arms", "k"), [(2, 1), (5, 1), (10, 4), (7, 6), (23, 5)])
def test_top_takes_the_k_best_of_a_sure_order(n_arms, k):
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(n_arms)
        rule = SelectTop(k=k, budget=3 * most_matches(n_arms, k))
        margins, memory = play(
            rule, n_arms, rule.budget, lambda i, j, rng, o=order: float(o[i] - o[j]), seed
        )
        taken = rule.scores(margins, memory) == 2
        assert set(order[taken].tolist()) == set(range(n_arms - k, n_arms))
        played = margins.n_duels[0]
        assert played <= rule.budget
        assert played % 3 == 0  # three duels a match
        if k == 1:
            assert played == 3 * (n_arms - 1)


def test_top_counts_matches_by_hand():
    assert most_matches(5, 1) == 4
    # Groups of 3, 3, 2, 2: 6 matches; sorting 4 winners 1 + 2 + 2; three refills of at most
    # 1, 1 and 0 matches, each with an insertion among 3 of at most 2.
    assert most_matches(10, 4) == 6 + 5 + 2 + 6


def test_active_ranking_stops_when_all_arms_are_placed():
    score = np.array([0.0, 3.0, 1.0, 4.0, 2.0])
    rule = ActiveRanking(k=2)
    margins, memory = play(
        rule, 5, 20_000, lambda i, j, rng: score[i] - score[j] + rng.normal(0, 0.1)
    )
    assert margins.n_duels[0] < 20_000
    np.testing.assert_array_equal(memory.place, [-1, 1, -1, 1, -1])
    placed = rule.scores(margins, memory)
    assert set(np.argsort(-placed)[:2].tolist()) == {1, 3}


def test_active_ranking_keeps_only_the_asking_arms_record():
    rule = ActiveRanking(k=1)
    margins, memory = play(rule, 4, 8, lambda i, j, rng: 1.0)
    rule.scores(margins, memory)  # enters the last duel
    np.testing.assert_array_equal(memory.duels, [2, 2, 2, 2])
    np.testing.assert_array_equal(memory.mean, 1.0)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_equal_margins_stop_no_policy(policy):
    margins, memory = play(policy, 4, 60, lambda i, j, rng: 0.0)
    assert np.isfinite(policy.scores(margins, memory)).all()


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_rules_only_read_the_margins(policy):
    margins, _ = dealt(4, 3, 0)
    memory, rng = policy.init(4), np.random.default_rng(0)
    policy.select(frozen(margins), memory, 1, rng)
    policy.scores(margins, memory)


def test_settings_out_of_range_are_refused():
    for policy in (*ADAPTIVE, ActiveRanking):
        with pytest.raises(ValueError, match="k should be at least 1, got 0"):
            policy(k=0)
        with pytest.raises(ValueError, match=r"k should be in 1..3, got 4"):
            policy(k=4).init(4)
        with pytest.raises(ValueError, match="k should be given"):
            policy().init(4)
    for policy in ADAPTIVE:
        with pytest.raises(ValueError, match="warm_up should be at least 2, got 1"):
            policy(warm_up=1)
        with pytest.raises(ValueError, match="shrinkage should be >= 0"):
            policy(shrinkage=-1)
    with pytest.raises(ValueError, match=r"threshold should be in \[0, 1\], got 2"):
        HybridPOCBAm(threshold=2)
    with pytest.raises(ValueError, match="index should be one of"):
        HybridPOCBAm(index="sum")
    with pytest.raises(ValueError, match="delta should be in"):
        ActiveRanking(delta=1)
    with pytest.raises(ValueError, match="by should be 'means' or 'model'"):
        Uniform(by="fit")
    with pytest.raises(ValueError, match="budget should be at least 4 for TOP, got 3"):
        SelectTop(k=1, budget=3).init(5)
    margins, _ = dealt(4, 1, 0)
    with pytest.raises(ValueError, match="margins should hold 2 duels a pair, got 1"):
        intransitivity(margins)
    with pytest.raises(ValueError, match="n_arms should be at least 2, got 1"):
        no_margins(1)


def test_every_policy_has_a_source():
    for name in selection.__all__:
        policy = getattr(selection, name)
        if hasattr(policy, "select"):
            assert policy.source
