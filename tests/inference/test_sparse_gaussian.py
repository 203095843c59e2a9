"""The sparse route: systems, the variational Gaussian, Gibbs sampling, and no table of arms."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.inference.comparison_graph import ComparisonGraph
from bayesduel.inference.polya_gamma_gibbs import (
    GibbsCertificate,
    GibbsChain,
    _groups,
    gibbs_certificate,
    worst_mean,
)
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.sparse_gaussian import SparseGaussian
from bayesduel.inference.sparse_sample import fixed_effects
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    Covariates,
    Davidson,
    Scores,
    SideAdvantage,
    Thurstone,
)


def log(n_arms, n_duels, seed=0):
    """Return a log whose arms are of very different activity."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n_arms)
    share = (np.arange(n_arms) + 5.0) ** -0.8
    left, right = rng.choice(n_arms, (2, n_duels), p=share / share.sum())
    kept = left != right
    left, right = left[kept], right[kept]
    won = rng.random(len(left)) < expit(score[left] - score[right])
    return bd.Duels.from_votes(left, right, won.astype(float))


def graph_of(duels):
    return ComparisonGraph.of(BradleyTerry().cells(duels))


@pytest.fixture(scope="module")
def small():
    return log(120, 2500)


def test_the_density_is_that_of_binomials_and_normal_scores(small):
    graph, scale = graph_of(small), 1.5
    normal = SparseGaussian.of(graph, scale, 2.0, np.random.default_rng(0))
    score = np.random.default_rng(1).normal(size=graph.n_arms)
    moved = replace(normal, mean=score)
    none = replace(normal, mean=np.zeros_like(score))
    p = expit(score[graph.first] - score[graph.second])
    n, won = graph.n, graph.points
    expected = (won * np.log(2 * p) + (n - won) * np.log(2 - 2 * p)).sum()
    expected += (stats.norm.logpdf(score, 0, scale) - stats.norm.logpdf(0, 0, scale)).sum()
    assert moved._log_density() - none._log_density() == pytest.approx(expected, rel=1e-9)


def test_precision_is_the_laplacian_and_is_solved_and_drawn_from(small):
    graph = graph_of(small)
    weight = np.random.default_rng(0).uniform(0.1, 2, len(graph.n))
    precision, n = graph.precision(weight, 0.7), graph.n_arms
    dense = 0.7 * np.eye(n)
    for i, j, w in zip(graph.first, graph.second, weight, strict=True):
        dense[[i, j], [i, j]] += w
        dense[[i, j], [j, i]] -= w
    right = np.random.default_rng(1).normal(size=n)
    solved = np.linalg.solve(dense, right)
    np.testing.assert_allclose(precision.solve(right, tolerance=1e-10), solved, atol=1e-7)
    block = precision.solve_block(np.stack([right, -right], 1).astype(np.float32), tolerance=1e-6)
    np.testing.assert_allclose(block[:, 0], solved, atol=1e-4)
    columns = 40_000
    drawn = precision.perturbation(columns, np.random.default_rng(2))
    size = np.sqrt(dense.diagonal())
    scaled = (drawn @ drawn.T / columns - dense) / np.outer(size, size)
    assert np.abs(scaled).max() < 5 * np.sqrt(2 / columns)


@pytest.mark.slow
def test_draws_have_the_means_and_errors_of_the_certified_posterior(small):
    sparse = bd.fit(small, method="variational")
    dense = bd.fit(small, method="laplace", log_likelihood=False)
    own, exact = (f["posterior"]["score"].values.reshape(-1, 120) for f in (sparse, dense))
    away = (own.mean(0) - exact.mean(0)) / exact.std(0)
    noise = 1 / np.sqrt(dense.attrs["importance_ess"])
    assert np.sqrt(np.mean(away**2)) < np.hypot(0.03, noise)
    ratio = own.std(0) / exact.std(0)
    assert abs(ratio.mean() - 1) < 0.02
    np.testing.assert_allclose(ratio, 1, atol=0.06)
    scales = [np.log(f["posterior"]["scale"].values) for f in (sparse, dense)]
    assert abs(scales[0].mean() - scales[1].mean()) < 0.25 * scales[1].std()
    assert 0.85 < scales[0].std() / scales[1].std() < 1.15
    assert sparse.attrs["method"] == "variational"
    assert "Gibbs" in sparse.attrs["method_reason"]
    np.testing.assert_allclose(own.sum(1), 0, atol=1e-3)
    error = sparse["laplace"]["score_se"].values
    np.testing.assert_allclose(own.std(0), error, rtol=2e-3)


def test_means_move_with_the_scale_by_their_slopes():
    """`along` is their slope in the log scale, whose precision is the curvature of its bound."""
    found = SparseGaussian.of(graph_of(log(40, 800)), None, 2.0, np.random.default_rng(0))
    step = 0.3 * found.log_scale_sd
    ahead, behind = (found._at(found.log_scale + s * step, 0) for s in (1, -1))
    slope = (ahead.mean - behind.mean) / (2 * step)
    assert found.along @ slope / (slope @ slope) == pytest.approx(1, abs=0.03)
    bend = (behind._scale_slope() - ahead._scale_slope()) / (2 * step)
    assert found.log_scale_sd**-2 == pytest.approx(bend, rel=0.05)


def test_a_wide_fixed_scale_is_certified(small):
    rng = np.random.default_rng(0)
    found = SparseGaussian.of(graph_of(small), 10.0, 2.0, rng)
    drawn = found.draw(1000, rng)
    np.testing.assert_allclose(found.standard_error, drawn.standard_error, rtol=0.03)
    assert gibbs_certificate(found, 1000, rng).holds


def test_certificate_sees_a_wrong_approximation(small):
    from dataclasses import replace

    graph, rng = graph_of(small), np.random.default_rng(0)
    found = SparseGaussian.of(graph, None, 2.0, rng)
    assert gibbs_certificate(found, 1000, rng).holds
    moved = replace(found, mean=1.3 * found.mean)
    assert "shifted" in gibbs_certificate(moved, 1000, rng).shortfall
    narrow = replace(found, variance=0.7 * found.variance)
    assert "squared errors" in gibbs_certificate(narrow, 1000, rng).shortfall


@pytest.mark.slow
def test_gibbs_is_the_posterior_of_three_arms_by_quadrature():
    duels = bd.Duels.from_votes(
        ["a", "a", "b", "b", "c"], ["b", "b", "c", "c", "a"], [1, 0, 1, 1, 0.5]
    )
    graph, typical = graph_of(duels), 2.0
    chain = GibbsChain(graph, typical, np.zeros(3), 0.0, np.zeros(0))
    rng, kept = np.random.default_rng(0), []
    for _ in range(3000):
        chain.sweep(rng)
        kept.append([*chain.score, chain.log_scale])
    drawn = np.array(kept[200:])
    # Centred scores are an isometry of two free numbers; the scale is on the log scale.
    free, logs = np.linspace(-9, 9, 121), np.linspace(-4, 2.2, 80)
    u, v, s = np.meshgrid(free, free, logs, indexing="ij")
    basis = np.linalg.svd(np.eye(3) - 1 / 3)[0][:, :2]
    score = np.stack([u, v], -1) @ basis.T
    eta = score[..., graph.first] - score[..., graph.second]
    density = (graph.points * eta - graph.n * np.logaddexp(0, eta)).sum(-1)
    density += -2 * s - (u**2 + v**2) / 2 * np.exp(-2 * s) - np.exp(2 * s) / (2 * typical**2) + s
    mass = np.exp(density - density.max())
    mass /= mass.sum()
    named = [*np.moveaxis(score, -1, 0), s]
    for k, value in enumerate(named):
        mean = (mass * value).sum()
        sd = np.sqrt((mass * (value - mean) ** 2).sum())
        assert abs(drawn[:, k].mean() - mean) < 0.15 * sd
        assert abs(drawn[:, k].std() / sd - 1) < 0.12


@pytest.mark.filterwarnings("ignore:the variational draws are not certified")
@pytest.mark.slow
def test_an_update_is_the_fit_of_all_duels(small):
    new = log(120, 200, seed=1)
    options = {"method": "variational", "draws": 200}
    updated = bd.update(bd.fit(small, **options), new, **options)
    whole = bd.fit(small.join(new), **options)
    np.testing.assert_array_equal(updated["posterior"]["score"], whole["posterior"]["score"])
    assert "fitted anew" in updated.attrs["method_reason"]


@pytest.mark.slow
def test_gibbs_sampling_is_a_method(small):
    fit = bd.fit(small, BradleyTerry(scale=1.0), "gibbs", draws=200, chains=2)
    assert fit.attrs["method"] == "gibbs"
    assert fit["posterior"]["score"].shape == (2, 100, 120)
    assert "scale" not in fit["posterior"]
    assert fit.attrs["importance_ess"] > 10
    again = bd.fit(small, BradleyTerry(scale=1.0), "gibbs", draws=200, chains=2)
    assert fit["posterior"].identical(again["posterior"])


SIDES = BradleyTerry(Scores() + Covariates(["length", "list"])) + SideAdvantage(prior=0.5)


@pytest.fixture(scope="module")
def sided():
    """Return a log of 60 arms whose left side is often the same, with two covariates."""
    rng = np.random.default_rng(0)
    score, share = rng.normal(size=60), (np.arange(60) + 5.0) ** -0.8
    left, right = rng.choice(60, (2, 2500), p=share / share.sum())
    kept = left != right
    left, right = np.where(rng.random((1, 2500)) < 0.7, np.sort([left, right], 0), [left, right])
    left, right = left[kept], right[kept]
    length, listed = rng.integers(-3, 4, len(left)) * 1.0, rng.integers(-1, 2, len(left)) * 1.0
    eta = score[left] - score[right] + 0.4 + 0.3 * length - 0.5 * listed
    won = rng.random(len(left)) < expit(eta)
    columns = {"length": length, "list": listed}
    return bd.Duels.from_votes(left, right, won.astype(float), covariates=columns)


def test_coefficients_border_the_precision(sided):
    model = SIDES.settled(sided)
    cells = model.cells(sided)
    graph = ComparisonGraph.of(cells, fixed_effects(model, cells))
    density = linear_predictor(model, cells)
    np.testing.assert_allclose(graph.columns, density.design.beside.jacobian)
    parts = density.parts(np.zeros(density.size), 0.0)
    np.testing.assert_allclose(graph.tightness, parts.prior.diagonal()[59:])
    weight, n = np.random.default_rng(0).uniform(0.1, 2, len(graph.n)), 60
    dense = np.diag(np.concatenate([np.full(n, 0.7), graph.tightness]))
    design = np.zeros((len(graph.n), n + 3))
    design[np.arange(len(graph.n)), graph.first] = 1
    design[np.arange(len(graph.n)), graph.second] = -1
    design[:, n:] = graph.columns
    dense += design.T * weight @ design
    precision, inverse = graph.bordered(weight, 0.7), np.linalg.inv(dense)
    np.testing.assert_allclose(precision.covariance, inverse[n:, n:], rtol=1e-6)
    right = np.random.default_rng(1).normal(size=n + 3)
    solved = np.concatenate(precision.solve(right[:n], right[n:], tolerance=1e-10))
    np.testing.assert_allclose(solved, inverse @ right, atol=1e-7)
    given = np.linalg.inv(dense[:n, :n]).diagonal()
    np.testing.assert_allclose(precision.added, inverse.diagonal()[:n] - given, rtol=1e-5)


def test_the_error_of_a_coefficient_is_that_of_a_mixture_over_scales(small):
    """Variance 0.3^2 given the scale, whose logarithm (sd 0.2) moves the mean by 2 a unit."""
    normal = SparseGaussian.of(graph_of(small), 1.5, 2.0, np.random.default_rng(0))
    precision = replace(normal.precision, covariance=np.array([[0.09]]))
    found = replace(normal, precision=precision, log_scale_sd=0.2, effect_along=np.array([2.0]))
    assert found.effect_error == pytest.approx([0.5])


def test_coefficients_have_the_means_and_errors_of_the_certified_posterior(sided):
    sparse = bd.fit(sided, SIDES, "variational", log_likelihood=False)
    dense = bd.fit(sided, SIDES, "laplace", log_likelihood=False)
    assert sparse["posterior"]["covariate_effect"].dims == ("chain", "draw", "covariate")

    def drawn(fit):
        names = ("score", "order", "covariate_effect")
        return np.column_stack([fit["posterior"][n].values.reshape(4000, -1) for n in names])

    own, exact = drawn(sparse), drawn(dense)
    away = (own.mean(0) - exact.mean(0)) / exact.std(0)
    assert np.abs(away).max() < 0.12
    np.testing.assert_allclose(own.std(0) / exact.std(0), 1, atol=0.06)
    together = [np.corrcoef(one.T)[60:] for one in (own, exact)]
    np.testing.assert_allclose(together[0], together[1], atol=0.1)
    assert np.abs(together[1][0, :60]).max() > 0.25  # the side advantage and the scores depend


@pytest.mark.slow
def test_gibbs_with_a_side_advantage_is_the_posterior_of_two_arms_by_quadrature():
    won = [1, 1, 1, 0, 1, 0]
    duels = bd.Duels.from_votes(["a"] * 4 + ["b"] * 2, ["b"] * 4 + ["a"] * 2, won)
    model = BradleyTerry(scale=1.0) + SideAdvantage(prior=0.8)
    cells = model.cells(duels)
    graph = ComparisonGraph.of(cells, fixed_effects(model, cells))
    chain = GibbsChain(graph, None, np.zeros(2), 0.0, np.zeros(1))
    rng, kept = np.random.default_rng(0), []
    for _ in range(4000):
        chain.sweep(rng)
        kept.append([chain.score[0] - chain.score[1], chain.effect[0]])
    grid = np.linspace(-8, 8, 401)
    apart, order = np.meshgrid(grid, grid, indexing="ij")  # apart ~ N(0, 2)
    eta = apart[..., None] * np.where(graph.first == 0, 1, -1) + order[..., None]
    density = (graph.points * eta - graph.n * np.logaddexp(0, eta)).sum(-1)
    density -= apart**2 / 4 + order**2 / (2 * 0.8**2)
    mass = np.exp(density - density.max())
    mass /= mass.sum()
    for k, value in enumerate((apart, order)):
        mean = (mass * value).sum()
        sd = np.sqrt((mass * (value - mean) ** 2).sum())
        drawn = np.array(kept[100:])[:, k]
        assert abs(drawn.mean() - mean) < 0.1 * sd
        assert abs(drawn.std() / sd - 1) < 0.08


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Thurstone(), "logistic"),
        (Davidson(), "logistic"),
        (BradleyTerry() + CategoryEffects(), "known normal priors"),
        (BradleyTerry() + SideAdvantage(prior=np.inf), "flat"),
        (BradleyTerry(Scores() + Covariates(["x"], scale=np.inf)), "flat"),
        (BradleyTerry(scale=np.inf), "independent normal priors"),
    ],
)
def test_models_that_cannot_take_the_route_say_so(small, model, why):
    with pytest.raises(ValueError, match=why):
        bd.fit(small, model, "variational")


@pytest.mark.slow
def test_two_thousand_arms_agree_with_a_long_gibbs_chain():
    duels = log(2000, 40_000)
    graph, rng = graph_of(duels), np.random.default_rng(0)
    found = SparseGaussian.of(graph, None, 2.0, rng)
    drawn = found.draw(1000, rng)
    chain = GibbsChain(graph, 2.0, drawn.score[0].astype(float), found.log_scale, drawn.effect[0])
    sweeps = 2500
    total, square = np.zeros(2000), np.zeros(2000)
    for k in range(-50, sweeps):
        chain.sweep(rng)
        if k >= 0:
            away = (chain.score - found.score) / drawn.standard_error
            total += away
            square += away**2
    shift, second = total / sweeps, square / sweeps
    # The chain's own error is part of each difference: taken off in squares.
    assert np.sqrt(max(np.mean(shift**2) - 1.3 / sweeps, 0)) < 0.02
    ratio = np.sqrt(second - shift**2)
    assert abs(ratio.mean() - 1) < 0.02
    assert np.sqrt(max(np.mean((ratio - 1) ** 2) - 1.3 / (2 * sweeps), 0)) < 0.02
    assert abs(np.mean(np.sign(found.score) * shift)) < 0.02


MEMORY = """
import resource, sys
import numpy as np
import bayesduel as bd
sys.path.insert(0, {root!r})
from tests.inference.test_sparse_gaussian import log

fit = bd.fit(log(500, 5000), method="variational")  # compiles, and imports what is needed
bd.winners(fit)
duels = log(20_000, 200_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fit = bd.fit(duels, draws=256)
assert fit.attrs["method"] in ("variational", "gibbs"), fit.attrs
found = bd.winners(fit)
assert not [n for n, v in found.data_vars.items() if v.size >= 20_000**2]
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
def test_twenty_thousand_arms_take_no_table_of_arm_by_arm(request):
    script = MEMORY.format(root=str(request.config.rootpath))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 380  # MiB: one such table of bytes


def test_the_arms_with_the_most_duels_are_a_group_of_their_own():
    duels = np.random.default_rng(0).permutation(120)
    groups, sizes = _groups(duels)
    assert sizes.tolist() == [40, 40, 10, 30]
    for group, (low, high) in enumerate([(0, 40), (40, 80), (80, 90), (90, 120)]):
        assert sorted(duels[groups == group]) == list(range(low, high))


def test_the_standard_error_of_a_chain_allows_for_its_autocorrelation():
    """1, 1, -1, -1 around 3: variance 1, lag-one correlation 1 / 3, so two independent sweeps."""
    still = np.array([2.0, -2.0, 2.0, -2.0])  # alternates: no less than independent ones
    mean, error = worst_mean(np.stack([3 + np.array([1.0, 1, -1, -1]), still], axis=1))
    assert (mean, error) == pytest.approx((3, np.sqrt(1 / 2)))
    assert worst_mean(still[:, None] - 5) == pytest.approx((-5, 1))


@pytest.mark.parametrize(
    ("place", "allowed"),
    [("shift", 0.1), ("spread", 0.05), ("scale_shift", 1), ("effect_shift", 0.3)],
)
def test_the_certificate_allows_as_much_as_it_says(place, allowed):
    named = {"shift": 0.0, "spread": 0.0, "scale_shift": 0.0, "effect_shift": 0.0}

    def certificate(value):
        found = named | {place: value}
        return GibbsCertificate(**found, errors=(0.01,) * 4, sweeps=12, effective=100)

    def shortfall(value):
        return certificate(value).shortfall

    assert not shortfall(1.01 * allowed)  # within two Monte Carlo standard errors
    assert f"(allowed: {allowed:g})" in shortfall(-1.01 * allowed - 0.02)
    assert "with Monte Carlo error 0.01" in str(certificate(allowed))
