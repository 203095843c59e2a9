"""The selection policies: their formulas written plainly, and rounds worked by hand."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from bayesduel.policies import PBR, Uniform
from bayesduel.policies import top_k as selection
from bayesduel.policies.top_k import (
    PKG,
    ActiveRanking,
    HybridPOCBAm,
    LaplaceAllocation,
    MLPOCBAm,
    POCBAm,
    QuickSelect,
    SelectTop,
    fit_margins,
    hybrid_thresholds,
    intransitivity,
    no_margins,
    record_margin,
)
from bayesduel.policies.top_k.hybrid_thresholds import null_thresholds
from tests.support.dealing import accounts, dealt, log_gains_of_pairs, play, unwritten

pytestmark = pytest.mark.plain

ADAPTIVE = (POCBAm, MLPOCBAm, HybridPOCBAm, PKG, LaplaceAllocation)
WARY = LaplaceAllocation(k=2, residual="learned")
POLICIES = [
    *(p(k=2) for p in ADAPTIVE),
    WARY,
    ActiveRanking(k=2),
    QuickSelect(k=2, epsilon=0.2),
    SelectTop(k=2, budget=60),
    Uniform(),
]


@pytest.mark.parametrize("rule", [*(policy(k=2) for policy in ADAPTIVE), WARY], ids=repr)
def test_the_warm_up_meets_every_pair_equally_often(rule):
    """Then they ask for more duels of the second and third arm, whose order is the least sure."""
    memory, margins, score = rule.init(5), no_margins(5), [0.0, 9.0, 4.4, 5.0, -3.0]
    rng = np.random.default_rng(0)
    for t in range(1, rule.opening(5) + 1):
        i, j = rule.select(margins, memory, t, rng)
        record_margin(margins, i, j, rng.normal(score[i] - score[j], 1.0))
    np.testing.assert_array_equal(margins.n, 3 * (1 - np.eye(5)))
    assert set(rule.select(margins, memory, rule.opening(5) + 1, rng)) & {2, 3}
    assert not {2, 3} & set(rule.select(margins, memory, 1, rng))


@pytest.mark.slow
def test_the_first_fit_of_ml_pocbam_is_the_best_of_three_starts():
    """Of 80 warm-ups some have a better optimum than that reached from the sample means."""
    gains, rng = [], np.random.default_rng(7)
    for _ in range(80):
        score, margins = rng.normal(size=10), no_margins(10)
        for i, j in combinations(range(10), 2):
            spread = rng.uniform()
            for _ in range(3):
                record_margin(margins, i, j, score[i] - score[j] + spread * rng.normal())
        rule = MLPOCBAm(k=4)
        found = rule.scores(margins, rule.init(10)) / 10
        best = fit_margins(margins, start=found).log_likelihood
        gains.append(best - fit_margins(margins).log_likelihood)
    assert min(gains) > -1e-9
    assert sum(gain > 1e-3 for gain in gains) >= 3


@pytest.mark.slow
def test_pocbam_and_its_model_name_the_pairs_of_their_accounts():
    margins, _ = dealt(6, 5, 8)
    _, variance, mu, spread = accounts(margins)
    gain = log_gains_of_pairs(mu, spread, variance, margins.n, 2)
    rule = POCBAm(k=2)
    pair = rule.select(margins, rule.init(6), 1000, np.random.default_rng(0))
    assert gain[pair] == gain.max()
    fit = fit_margins(margins)
    spread = (fit.variance / (margins.n + np.eye(6))).sum(axis=1)
    gain = log_gains_of_pairs(6 * fit.score, spread, fit.variance, margins.n, 2)
    rule = MLPOCBAm(k=2)
    memory = rule.init(6)
    pair = rule.select(margins, memory, 1000, np.random.default_rng(0))
    assert gain[pair] == pytest.approx(gain.max(), rel=1e-6)
    np.testing.assert_allclose(rule.scores(margins, memory), 6 * fit.score, atol=1e-7)


@pytest.mark.slow
def test_the_hybrid_is_the_one_or_the_other_by_its_index():
    for d, expected in ((0.0, MLPOCBAm(k=2)), (1.5, POCBAm(k=2))):
        margins, _ = dealt(6, 30, 4, d)
        assert (intransitivity(margins) < 0.17) == (d == 0)
        hybrid = HybridPOCBAm(k=2)
        rng = np.random.default_rng
        pair = hybrid.select(margins, hybrid.init(6), 1000, rng(0))
        assert pair == expected.select(margins, expected.init(6), 1000, rng(0))


@pytest.mark.slow
def test_the_calibrated_hybrid_leaves_a_false_model_at_its_own_threshold():
    counts, thresholds = null_thresholds(6, False, 0.0)
    assert (np.diff(thresholds) < 0).all()
    rng = np.random.default_rng
    sides = set()
    for seed in range(12):
        margins, _ = dealt(6, 12, seed, 0.15)
        hybrid = HybridPOCBAm(k=2, threshold="calibrated")
        pair = hybrid.select(margins, hybrid.init(6), 1000, rng(0))
        trusted = intransitivity(margins) < thresholds[counts == np.log(12)]
        expected = MLPOCBAm(k=2) if trusted else POCBAm(k=2)
        assert pair == expected.select(margins, expected.init(6), 1000, rng(0))
        sides.add(bool(trusted))
    assert sides == {True, False}


@pytest.mark.parametrize("per_pair", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_the_calibrated_threshold_is_passed_by_5_of_100_true_models(per_pair, monkeypatch):
    """Binomial, against a quantile that is itself of 333 logs; both at 1e-6."""
    monkeypatch.setattr(hybrid_thresholds, "COUNTS", (per_pair,))  # no others are simulated
    threshold = null_thresholds.__wrapped__(6, False, 0.0)[1, 0]
    above = sum(intransitivity(dealt(6, per_pair, 1000 + s)[0]) >= threshold for s in range(400))
    error = np.sqrt(0.05 * 0.95 * (1 / 400 + 1 / 333))
    assert abs(above / 400 - 0.05) < 4.9 * error


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


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_equal_margins_stop_no_policy(policy):
    margins, memory = play(policy, 4, 60, lambda i, j, rng: 0.0)
    assert np.isfinite(policy.scores(margins, memory)).all()


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_rules_only_read_the_margins(policy):
    margins, _ = dealt(4, 3, 0)
    memory, rng = policy.init(4), np.random.default_rng(0)
    with unwritten(margins):
        policy.select(margins, memory, 1, rng)
        policy.scores(margins, memory)


def test_settings_out_of_range_are_refused():
    for policy in (*ADAPTIVE, ActiveRanking):
        with pytest.raises(ValueError, match="k should be at least 1, got 0"):
            policy(k=0)
        with pytest.raises(ValueError, match=r"k should be from 1 to 3, got 4"):
            policy(k=4).init(4)
        with pytest.raises(ValueError, match="k should be given"):
            policy().init(4)
    for policy in ADAPTIVE:
        with pytest.raises(ValueError, match="warm_up should be at least 2, got 1"):
            policy(warm_up=1)
        with pytest.raises(ValueError, match="shrinkage should be >= 0"):
            policy(shrinkage=-1)
    with pytest.raises(ValueError, match=r"threshold should be in \[0, 1\] or 'calibrated', got 2"):
        HybridPOCBAm(threshold=2)
    with pytest.raises(ValueError, match="threshold should be in"):
        HybridPOCBAm(threshold="measured")
    with pytest.raises(ValueError, match="index should be one of"):
        HybridPOCBAm(index="sum")
    with pytest.raises(ValueError, match="delta should be in"):
        ActiveRanking(delta=1)
    with pytest.raises(ValueError, match="by should be one of 'means', 'model'"):
        Uniform(by="fit")
    with pytest.raises(ValueError, match="budget should be at least 4 for TOP, got 3"):
        SelectTop(k=1, budget=3).init(5)
    margins, _ = dealt(4, 1, 0)
    with pytest.raises(ValueError, match="margins should hold 2 duels per pair, got 1"):
        intransitivity(margins)
    with pytest.raises(ValueError, match="n_arms should be at least 2, got 1"):
        no_margins(1)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_the_index_refuses_margins_that_are_not_finite(odd):
    margins, _ = dealt(4, 3, 1)
    record_margin(margins, 0, 1, odd)
    with pytest.raises(ValueError, match="margins should be finite, got infinite or missing"):
        intransitivity(margins)


def test_every_policy_has_a_source():
    for name in selection.__all__:
        policy = getattr(selection, name)
        if hasattr(policy, "select"):
            assert policy.reference


def digest():
    """What a run of every policy, on margins and on wins, leaves: the duels of each pair."""
    told = {}
    policies = [*(p(k=2) for p in ADAPTIVE), HybridPOCBAm(k=2, threshold="calibrated")]
    policies += [ActiveRanking(k=2), SelectTop(k=2, budget=40), Uniform(), Uniform(by="model")]
    policies += [PBR(criterion="borda").on_margins(2, 60), WARY]
    margin = {"margins": lambda i, j, rng: rng.normal(j - i), "wins": lambda i, j, rng: won(i, j)}
    for kind, draw in margin.items():
        for rule in policies:
            margins, memory = play(rule, 4, 60, draw, seed=3)
            told[f"{kind} {rule!r}"] = [
                margins.n.astype(int).tolist(),
                rule.scores(margins, memory).round(6).tolist(),
            ]
    return told


def won(i, j):
    """Wins without chance: of three duels in a row the better arm wins two."""
    won.duels += 1
    return 0.5 if (won.duels % 3 > 0) == (i < j) else -0.5


won.duels = 0


@pytest.mark.slow
def test_plain_python_and_compiled_code_agree():
    """Another process plays every policy again with NUMBA_DISABLE_JIT."""
    code = "import json, tests.policies.top_k.test_rules as r; print(json.dumps(r.digest()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    won.duels = 0
    here = digest()
    assert len(here) == 24
    assert json.loads(done.stdout) == here
