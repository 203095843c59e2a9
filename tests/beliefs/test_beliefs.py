"""The laws every belief keeps, and the coverage it promises."""

import pickle
from decimal import Decimal, localcontext
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest
from scipy import special, stats

from bayesduel.beliefs import (
    KL,
    Bernstein,
    Beta,
    ConfidenceSequence,
    Followed,
    Hoeffding,
    Laplace,
    Logistic,
    bounds,
    pick,
    record,
    sample,
    sample_against,
    shares,
    upper_against,
)
from bayesduel.beliefs.bernstein import bernstein_upper
from bayesduel.beliefs.beta import beta_upper, log_above
from bayesduel.beliefs.confidence_sequence import betting_upper, stitched_upper
from bayesduel.beliefs.followed import updated
from bayesduel.beliefs.hoeffding import hoeffding_upper
from bayesduel.beliefs.item_belief import ItemSet
from bayesduel.beliefs.kl import (
    divergence_from_half,
    kl_upper,
    largest_within,
    negative_entropy,
)
from bayesduel.beliefs.logistic_laplace import draw_preference
from bayesduel.beliefs.model_posterior import informed
from bayesduel.beliefs.score_posterior import draw_scores, follow
from bayesduel.models import BradleyTerry, Sources
from bayesduel.policies import DTS
from bayesduel.study.source_posterior import SourcePosterior
from benchmarks import coverage
from benchmarks.coverage import SIZES, TRUTHS, chance_of_ever_failing, chance_of_failing

pytestmark = pytest.mark.plain

SPECS = (
    Hoeffding(),
    KL(),
    Bernstein(),
    ConfidenceSequence(),
    ConfidenceSequence(method="stitched"),
    Beta(),
    Beta(prior=0.5),
    Beta(bounds="hoeffding"),
)
every_spec = pytest.mark.parametrize("spec", SPECS, ids=repr)


def believed(spec, wins):
    """The belief of a spec after the tallies `wins`."""
    belief = spec.init(len(wins))
    belief.wins[:] = wins
    belief.n_duels[0] = int(wins.sum())
    return belief


def tallies(n_arms, seed, most=40):
    wins = np.random.default_rng(seed).integers(0, most, (n_arms, n_arms)).astype(float)
    np.fill_diagonal(wins, 0)
    wins[0, 1] = wins[1, 0] = 0  # a pair that never met
    wins[0, 2] = 0  # an arm that never won
    return wins


# -- laws ----------------------------------------------------------------------------------


@every_spec
@pytest.mark.parametrize("budget", [0.0, 0.7, 4.0, 30.0])
def test_upper_mirrors_lower_and_diagonal_is_half(spec, budget):
    lower, upper = bounds(believed(spec, tallies(5, 1)), budget)
    np.testing.assert_allclose(upper, 1 - lower.T, rtol=0, atol=1e-15)
    assert (lower.diagonal() == 0.5).all()
    assert (upper.diagonal() == 0.5).all()


@every_spec
def test_bounds_widen_with_the_budget_and_hold_the_share(spec):
    belief = believed(spec, tallies(6, 2))
    budgets = [0.8, 0.9, 2.0, 5.0, 20.0, 100.0]
    lowers, uppers = zip(*(bounds(belief, b) for b in budgets), strict=True)
    for narrow, wide in pairwise(lowers):
        assert (wide <= narrow).all()
    for narrow, wide in pairwise(uppers):
        assert (wide >= narrow).all()
    met = belief.wins + belief.wins.T > 0
    # A quantile bound is about the posterior, which shrinks the share: allow for its prior.
    slack = 0.1 if isinstance(spec, Beta) else 1e-12
    assert (lowers[0] <= shares(belief) + slack)[met].all()
    assert (uppers[0] >= shares(belief) - slack)[met].all()


@every_spec
def test_relabelling_commutes(spec):
    wins = tallies(6, 3)
    order = np.random.default_rng(4).permutation(6)
    lower, upper = bounds(believed(spec, wins), 3.0)
    relabelled = bounds(believed(spec, wins[np.ix_(order, order)]), 3.0)
    np.testing.assert_array_equal(relabelled[0], lower[np.ix_(order, order)])
    np.testing.assert_array_equal(relabelled[1], upper[np.ix_(order, order)])


@every_spec
def test_upper_against_is_a_column_of_bounds(spec):
    belief = believed(spec, tallies(5, 5))
    for arm in range(5):
        np.testing.assert_array_equal(
            upper_against(belief, arm, 2.5), bounds(belief, 2.5)[1][:, arm]
        )


@pytest.mark.parametrize("spec", [r for r in SPECS if not isinstance(r, Beta)], ids=repr)
def test_nothing_is_excluded_before_the_first_duel(spec):
    lower, upper = bounds(spec.init(3), 0.0)
    off = ~np.eye(3, dtype=bool)
    assert (upper[off] >= 1).all()
    assert (lower[off] <= 0).all()


def test_recipes_pickle_compare_and_refuse():
    for spec in SPECS:
        assert pickle.loads(pickle.dumps(spec)) == spec
        with pytest.raises(ValueError, match="n_arms should be at least 2, got 1"):
            spec.init(1)
    with pytest.raises(ValueError, match=r"prior should be positive and finite, got 0"):
        Beta(prior=0)
    with pytest.raises(ValueError, match=r"bounds should be one of .* got 'exact'"):
        Beta(bounds="exact")
    with pytest.raises(ValueError, match="method should be 'betting' or 'stitched', got 'x'"):
        ConfidenceSequence(method="x")
    with pytest.raises(ValueError, match=r"belief of DTS should be .* such as Beta\(\), got KL"):
        DTS(belief=KL())


# -- exact values --------------------------------------------------------------------------


def exact_divergence(p, q):
    with localcontext() as context:
        context.prec = 60
        p, q = Decimal(p), Decimal(q)
        return p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()


def test_kl_is_inverted_to_machine_precision():
    rng = np.random.default_rng(6)
    for _ in range(300):
        p = float(rng.uniform(0.001, 0.999))
        c = float(np.exp(rng.uniform(-25, 2)))
        q = largest_within(p, c)
        if q < 1 - 1e-12:
            step = 4 * np.spacing(q)
            assert exact_divergence(p, q - step) <= Decimal(c) <= exact_divergence(p, q + step)


def test_kl_at_the_edges():
    assert largest_within(0.0, 0.3) == 1 - exp(-0.3)
    assert largest_within(1.0, 0.3) == 1
    assert largest_within(0.4, 0.0) == 0.4
    assert largest_within(0.5, 800.0) == 1
    for p in (0.0, 0.1, 0.5, 0.77, 1.0):
        divergence = special.rel_entr(p, 0.5) + special.rel_entr(1 - p, 0.5)
        assert divergence_from_half(p) == pytest.approx(divergence, abs=1e-15)
        assert negative_entropy(p) == pytest.approx(divergence - log(2), abs=1e-15)


def test_beta_quantiles_are_those_of_scipy():
    rng = np.random.default_rng(7)
    for _ in range(400):
        a, b = np.exp(rng.uniform(-1, 10, 2))
        budget = rng.uniform(0.01, 40)
        assert beta_upper(a, b, budget) == pytest.approx(
            stats.beta.isf(exp(-budget), a, b), rel=1e-9
        )
        x = rng.uniform()
        expected = stats.beta.logsf(x, a, b)
        if np.isfinite(expected):  # SciPy underflows where the logarithm is kept here.
            assert log_above(a, b, x) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_a_beta_quantile_that_newtons_method_hits_exactly_is_returned():
    """Each budget is minus the log probability of a floating-point number."""
    for a, b, budget in ((1.0, 1.0, log(2)), (50.0, 11.0, 5.180838926020032e-83)):
        exact = stats.beta.ppf(-np.expm1(-budget), a, b)
        assert beta_upper(a, b, budget) == pytest.approx(exact, rel=1e-14)


def test_a_beta_bound_without_a_budget_excludes_all():
    assert beta_upper(2.0, 3.0, 0.0) == 0
    assert log_above(2.0, 3.0, 0.0) == 0
    assert log_above(2.0, 3.0, 1.0) == -np.inf


def test_hoeffding_and_bernstein_by_hand():
    # 3 wins of 4 at budget 2: 0.75 + sqrt(2 / 8) = 1.25, not clipped.
    assert hoeffding_upper(3.0, 1.0, 2.0) == 1.25
    # Sample variance 4/3 * 0.75 * 0.25 = 0.25, L = 2 + ln 2, n = 4.
    level = 2 + log(2)
    by_hand = 0.75 + (2 * 0.25 * level / 4) ** 0.5 + 7 * level / 9
    assert bernstein_upper(3.0, 1.0, 2.0) == pytest.approx(by_hand, rel=1e-15)


def test_a_betting_bound_is_where_the_wealth_reaches_the_budget():
    """The mean over theta ~ Beta(1/2, 1/2) of theta^w (1 - theta)^l / (q^w (1 - q)^l)."""
    for wins, losses, budget in ((3, 1, 2.0), (0, 5, 1.0), (7, 20, 4.5)):
        q = betting_upper(float(wins), float(losses), budget)
        wealth = special.beta(wins + 0.5, losses + 0.5) / special.beta(0.5, 0.5)
        assert wealth / (q**wins * (1 - q) ** losses) == pytest.approx(exp(budget), rel=1e-9)


def test_a_stitched_bound_has_the_published_radius():
    """Howard et al. 2021, eq. 2, for t = 4 trials of variance at most 1/4: half their radius."""
    radius = 1.7 * ((log(log(2 * 4)) + 0.72 * log(5.2 / 0.05)) / 4) ** 0.5
    assert stitched_upper(3.0, 1.0, log(20)) == pytest.approx(0.75 + radius / 2)


# -- coverage ------------------------------------------------------------------------------


@pytest.mark.parametrize("upper", [hoeffding_upper, kl_upper, bernstein_upper])
@pytest.mark.parametrize("budget", [1.0, 3.0, 6.0])
def test_fixed_time_bounds_fail_no_more_often_than_promised(upper, budget):
    """Exact: the binomial law of the tallies is summed where the bound falls short."""
    worst = max(chance_of_failing(upper, p, n, budget) for p in TRUTHS for n in SIZES)
    assert worst <= exp(-budget) * (1 + 1e-9)
    assert worst > 0 or upper is bernstein_upper  # Not vacuous; Bernstein needs larger n.


def test_kl_is_never_wider_than_hoeffding():
    for n in (1, 7, 50, 1000):
        for w in range(n + 1):
            assert kl_upper(w, n - w, 2.0) <= hoeffding_upper(w, n - w, 2.0) + 1e-12


@pytest.mark.parametrize("upper", [betting_upper, stitched_upper])
@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_confidence_sequences_hold_at_all_times(upper, p):
    failed = chance_of_ever_failing(upper, p, 2.0, horizon=250)
    assert failed <= exp(-2.0)
    if upper is betting_upper:
        assert failed > 0.05 * exp(-2.0)  # Not vacuous.


def test_fixed_time_bounds_do_not_hold_at_all_times():
    """The contrast: why a confidence sequence is wider."""
    assert chance_of_ever_failing(hoeffding_upper, 0.5, 2.0, horizon=250) > exp(-2.0)


@pytest.mark.slow
def test_how_tight_the_bounds_are_is_reported(capsys):
    coverage.main()
    shown = capsys.readouterr().out
    assert shown.count("KL") == 3
    told = {row["bound"]: row for row in coverage.rows(3.0)}
    for name, row in told.items():
        worst = row["ever in 250 duels" if "at all" in row["promise"] else "worst at one size"]
        assert worst <= row["promised"] or name.startswith("Beta"), name
    # Chernoff's bound is the tightest of those that hold at one size, and at 95 of 100 by far.
    assert told["KL"]["worst at one size"] == max(
        told[name]["worst at one size"] for name in ("Hoeffding", "KL", "Bernstein")
    )
    assert told["KL"]["radius, 95 of 100"] < 0.5 * told["Hoeffding"]["radius, 95 of 100"]


@pytest.mark.parametrize("n", [1, 10, 60])
@pytest.mark.parametrize("prior", [0.5, 1.0, 3.0])
def test_beta_quantiles_cover_exactly_on_average_over_the_prior(n, prior):
    budget = 3.0
    w = np.arange(n + 1)
    law = stats.betabinom.pmf(w, n, prior, prior)
    above = [beta_upper(prior + k, prior + n - k, budget) for k in w]
    missed = stats.beta.sf(above, prior + w, prior + n - w)
    assert (law * missed).sum() == pytest.approx(exp(-budget), rel=1e-9)


# -- sampling and recording ----------------------------------------------------------------


def test_samples_are_from_the_posterior():
    belief = believed(Beta(), np.array([[0, 7, 1], [3, 0, 0], [9, 0, 0.0]]))
    rng = np.random.default_rng(8)
    draws = np.array([sample(belief, rng) for _ in range(4000)])
    columns = np.array([sample_against(belief, 0, rng) for _ in range(4000)])
    np.testing.assert_allclose(draws + draws.transpose(0, 2, 1), 1, atol=1e-15)
    for drawn, i, j in ((draws[:, 0, 1], 0, 1), (draws[:, 1, 2], 1, 2), (columns[:, 2], 2, 0)):
        law = stats.beta(1 + belief.wins[i, j], 1 + belief.wins[j, i])
        # Kolmogorov's exact law of the largest deviation, at 1e-6.
        assert stats.kstest(drawn, law.cdf).pvalue > 1e-6
    assert (columns[:, 0] == 0.5).all()


def test_a_belief_that_cannot_be_sampled_says_so():
    belief = Hoeffding().init(3)
    with pytest.raises(ValueError, match="belief should be one that can be sampled"):
        sample(belief, np.random.default_rng(0))
    with pytest.raises(ValueError, match="belief should be one that can be sampled"):
        sample_against(belief, 0, np.random.default_rng(0))


def test_record_is_the_only_thing_that_learns():
    belief = Hoeffding().init(3)
    for pair, outcome in (
        ((0, 1), 1.0),
        ((1, 0), 1.0),
        ((2, 0), 0.0),
        ((1, 2), 0.5),
        ((1, 1), 1.0),
    ):
        record(belief, pair, outcome)
    np.testing.assert_array_equal(belief.wins, [[0, 1, 1], [1, 0, 0.5], [0, 0.5, 0]])
    assert belief.n_duels[0] == 5
    assert belief.last.tolist() == [1, 1]


def test_a_belief_holds_nothing_before_the_first_duel():
    belief = Hoeffding().init(3)
    assert belief.last.tolist() == [-1, -1]
    assert belief.n_duels.tolist() == [0]
    assert belief.wins.shape == (3, 3)
    assert not belief.wins.any()
    assert belief.draws.shape == belief.ranked.shape == (0, 3, 3)
    assert belief.location.shape == belief.spread.shape == (0, 0)


def test_pick_is_uniform_over_the_true_entries():
    mask = np.array([False, True, True, False, True])
    rng = np.random.default_rng(9)
    counts = np.bincount([pick(mask, rng) for _ in range(6000)], minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert stats.chisquare(counts[mask]).pvalue > 1e-6
    state = rng.bit_generator.state
    assert pick(np.array([False, True]), rng) == 1
    assert rng.bit_generator.state == state  # No draw where there is no choice.
    with pytest.raises(ValueError, match="mask should have at least one True entry"):
        pick(np.zeros(3, bool), rng)


# -- draws ---------------------------------------------------------------------------------

MET = 4 * (1 - np.eye(3))


def scores_followed(link):
    """Return a function of rng that returns draws of scores whose scale is unknown."""
    posterior = Followed(link).scores(3)
    follow(posterior, MET)
    return lambda rng: draw_scores(posterior, 100, rng)


def scores_of_a_slow_chain(n_draws):
    """Return a function of rng that returns draws of a model whose own draws are in order."""
    spec = Laplace(BradleyTerry(), draws=n_draws)
    belief = believed(spec, MET)
    spread = np.sort(np.random.default_rng(2).random(n_draws))
    draws = np.full((n_draws, 3, 3), 0.5)
    draws[:, 0, 1:] += spread[:, None] / 2.1
    draws[:, 1:, 0] -= spread[:, None] / 2.1
    belief = informed(belief, draws)
    posterior = spec.scores(3)
    updated(posterior, belief)
    return lambda rng: draw_scores(posterior, 100, rng)


def matrices_of(spec):
    """Return a function of rng that returns draws of the matrix of a belief, as they come."""
    belief = spec.refreshed(believed(spec, MET), 0)
    return lambda rng: np.array([sample(belief, rng)[0] for _ in range(100)])


def scores_by_source():
    """Return a function of rng that returns draws of the scores of people, beside a machine."""
    term = Sources("source", target="people")
    posterior = SourcePosterior(BradleyTerry(term), {"people": 1.0, "machine": 0.1}, 3)
    posterior.wins[:] = MET
    posterior.follow()
    return lambda rng: posterior.draws(100, rng)


def attributes_weighed():
    """Return a function of rng that returns draws of the weights of attributes."""
    belief = Logistic().init(ItemSet(np.asfortranarray(np.eye(3)), np.ones(1), False))
    return lambda rng: np.array([draw_preference(belief, rng) for _ in range(100)])


@pytest.mark.parametrize(
    "drawn",
    [
        pytest.param(lambda: scores_followed("logit"), id="Followed"),
        pytest.param(lambda: scores_followed("probit"), id="Followed(probit)"),
        pytest.param(lambda: scores_of_a_slow_chain(100), id="as many draws as are kept"),
        pytest.param(lambda: scores_of_a_slow_chain(300), id="fewer draws than are kept"),
        pytest.param(lambda: matrices_of(Beta()), id="Beta"),
        pytest.param(lambda: matrices_of(Laplace(BradleyTerry(), draws=100)), id="Laplace"),
        pytest.param(scores_by_source, id="Sources"),
        pytest.param(attributes_weighed, id="Logistic"),
    ],
)
def test_any_draws_in_a_row_are_a_sample(drawn):
    """The spread of a draw depends neither on its place nor on the draw before it."""
    draw, rng = drawn(), np.random.default_rng(7)
    spread = np.array([np.std(draw(rng), axis=1) for _ in range(40)])  # calls, draws
    places = np.split(spread, 10, axis=1)  # ten in a row each
    assert stats.kruskal(*(place.ravel() for place in places)).pvalue > 1e-6
    before, after = spread[:, :-1].ravel(), spread[:, 1:].ravel()
    assert stats.spearmanr(before, after).pvalue > 1e-6
    firsts = np.unique(np.round(spread[:, 0], 12))
    assert len(firsts) > 20  # another draw first in every call: of 100, 33 in 40 are expected
