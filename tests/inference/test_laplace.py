"""The engines under fit: derivatives against finite differences, grids against quadrature."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from bayesduel.data.duels import Duels
from bayesduel.inference import predictor_of_model
from bayesduel.inference.conditional_mode import find_mode
from bayesduel.inference.conjugate import ConjugatePairs
from bayesduel.inference.design import centre, reduce, uncentre
from bayesduel.inference.fit import fit
from bayesduel.inference.hyper_grid import Grid, _parabola, explore
from bayesduel.inference.laplace import conditionals
from bayesduel.inference.nuts import well_informed
from bayesduel.inference.psis import importance_weights, resample
from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix, Thurstone


def linear_predictor(model, duels):
    return predictor_of_model.linear_predictor(model, model.cells(duels))


def random_log(n_arms: int, n_duels: int, spread: float, seed: int, ties: float = 0.0) -> Duels:
    rng = np.random.default_rng(seed)
    score = rng.normal(0, spread, n_arms)
    left = rng.integers(0, n_arms, n_duels)
    right = (left + rng.integers(1, n_arms, n_duels)) % n_arms
    win = rng.random(n_duels) < 1 / (1 + np.exp(score[right] - score[left]))
    outcome = np.where(rng.random(n_duels) < ties, 0.5, win.astype(float))
    return Duels.from_votes(left, right, outcome, arms=[str(i) for i in range(n_arms)])


def test_centre_is_an_isometry_onto_vectors_that_sum_to_zero():
    rng = np.random.default_rng(0)
    Q = centre(np.eye(6)).T
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(Q.sum(axis=0), 0.0, atol=1e-14)
    x = rng.normal(size=(3, 6))
    np.testing.assert_allclose(uncentre(centre(x)), x, atol=1e-14)
    matrix = rng.normal(size=(7, 7))
    matrix = matrix + matrix.T
    np.testing.assert_allclose(reduce(matrix), Q.T @ matrix @ Q, atol=1e-13)


@pytest.mark.parametrize(
    "model",
    [BradleyTerry(), Thurstone(), Davidson(), BradleyTerry(scale=np.inf), Davidson(scale=np.inf)],
    ids=repr,
)
def test_derivatives_equal_finite_differences(model):
    duels = random_log(6, 80, 1.0, seed=1, ties=0.2)
    derivative = linear_predictor(model, duels)
    rng = np.random.default_rng(2)
    x, hyper, h = rng.normal(size=derivative.size), 0.3, 1e-5
    parts = derivative.parts(x, hyper)
    steps = h * np.eye(derivative.size)
    gradient = [
        (derivative.value(x + s, hyper) - derivative.value(x - s, hyper)) / (2 * h) for s in steps
    ]
    np.testing.assert_allclose(parts.gradient, gradient, atol=1e-6)
    bend = [
        (derivative.parts(x + s, hyper).gradient - derivative.parts(x - s, hyper).gradient)
        / (2 * h)
        for s in steps
    ]
    np.testing.assert_allclose(parts.precision, -np.array(bend), atol=1e-6)
    phi = np.full(len(derivative.hypers), hyper)

    def batch(x):
        value, cells = derivative.batch(x[None], phi[None])
        return value[0], cells[0]

    value, cells = batch(x)
    assert value == pytest.approx(parts.value, abs=1e-9)
    by_extra = derivative.derivatives(x, hyper).own
    if derivative.own:
        step = steps[-1]
        moved = batch(x + step)[1] - batch(x - step)[1]
        np.testing.assert_allclose(by_extra[:, 0], moved / (2 * h), atol=1e-6)
    assert len(cells) == len(duels.pairs().first)


def test_newton_finds_where_the_gradient_vanishes():
    derivative = linear_predictor(BradleyTerry(), random_log(20, 400, 2.0, seed=3))
    mode = find_mode(derivative, 0.5)
    assert np.abs(derivative.parts(mode.x, 0.5).gradient).max() < 1e-9
    precision = derivative.parts(mode.x, 0.5).precision
    np.testing.assert_allclose(mode.factor @ mode.factor.T, precision, rtol=1e-9, atol=1e-9)


def test_flat_prior_without_a_maximum_is_an_error_not_an_overflow():
    wins = np.array([[0, 3, 2], [0, 0, 4], [0, 1, 0]])
    derivative = linear_predictor(BradleyTerry(scale=np.inf), Duels.from_wins(wins))
    with pytest.raises(FloatingPointError):
        find_mode(derivative, 0.0)


def test_explore_recovers_a_known_density():
    law = stats.skewnorm(4.0, loc=-1.0, scale=0.7)
    grid = explore(lambda v, near: (law.logpdf(v), v), start=3.0)
    draws, log_q = grid.draw(50_000, np.random.default_rng(5))
    assert stats.kstest(draws, law.cdf).pvalue > 1e-6
    np.testing.assert_allclose(log_q, law.logpdf(draws), atol=0.05)
    assert (grid.nearest(grid.nodes) == np.arange(len(grid.nodes))).all()


def test_explore_walks_over_a_plateau():
    """The density is level over ten units and then falls by one a unit, twelve units far."""
    grid = explore(lambda v, near: (-max(abs(v) - 5.0, 0.0), None), start=0.0)
    np.testing.assert_allclose(grid.nodes[[0, -1]], [-17, 17], atol=0.2)


@pytest.mark.parametrize("slope", [-500.0, 500.0])
def test_draws_of_a_grid_have_the_density_of_their_bin(slope):
    """Half a unit of log density a bin of 1 / 1000: the law of the bins is geometric."""
    nodes = np.linspace(0.0, 4.0, 9)
    values, log_q = Grid(nodes, slope * nodes, (None,) * 9).draw(1000, np.random.default_rng(0))
    inside = np.floor(1000 * (values if slope < 0 else 4 - values))
    assert (inside == 0).mean() == pytest.approx(1 - np.exp(-0.5), abs=2e-3)
    np.testing.assert_allclose(log_q, np.log(1000 * (1 - np.exp(-0.5))) - inside / 2)


def test_a_parabola_is_followed_for_two_steps_at_most():
    found = _parabola(1.0, 0.5, *(-((x - 1.2) ** 2) for x in (0.5, 1.0, 1.5)))
    assert found == pytest.approx((1.2, np.sqrt(1 / 2)))
    assert _parabola(1.0, 0.5, 0.05, 0.0, -0.06)[0] == 0.0  # its vertex is 5.5 steps away
    assert _parabola(1.0, 0.5, -0.06, 0.0, 0.05)[0] == 2.0


def test_explore_says_when_there_is_no_maximum():
    with pytest.raises(FloatingPointError, match="no maximum"):
        explore(lambda v, near: (v, None), start=0.0)
    assert explore(lambda v, near: (-((v - 99) ** 2), None), start=0.0).nodes.mean() > 98
    with pytest.raises(FloatingPointError, match="no maximum"):
        explore(lambda v, near: (-((v - 100) ** 2), None), start=0.0)


def test_certificate_separates_good_from_hopeless_proposals():
    rng = np.random.default_rng(6)
    x = rng.normal(size=4000)
    good = stats.norm(0, 0.95).logpdf(x) - stats.norm.logpdf(x)
    bad = stats.cauchy(0, 5).logpdf(x) - stats.norm.logpdf(x)
    assert importance_weights(good).khat < 0.5
    assert importance_weights(good).effective > 3500
    assert importance_weights(bad).khat > 0.7
    assert importance_weights(np.zeros(100)).effective == 100
    unknown = importance_weights(np.array([0.0, np.nan]))
    assert (unknown.khat, unknown.effective) == (np.inf, 1.0)


def test_resampling_keeps_each_draw_in_proportion():
    weights = np.array([0.5, 0.25, 0.125, 0.125])
    kept = resample(np.repeat(weights / 250, 250), 1000, np.random.default_rng(7))
    counts = np.bincount(kept // 250, minlength=4)
    np.testing.assert_allclose(counts, 1000 * weights, atol=1)


def conjugate(model, duels):
    return ConjugatePairs(model, model.cells(duels))


def test_pairs_are_beta_given_the_concentration():
    """With the concentration given, a pair's posterior is exactly Beta; one that never met too."""
    duels = Duels.from_wins(np.array([[0, 9, 0], [2, 0, 40], [0, 35, 0]]))
    exact = conjugate(PreferenceMatrix(concentration=3.0), duels)
    found = exact.propose(20_000, np.random.default_rng(8), log_likelihood=True)
    assert (found.log_ratio == 0).all()
    laws = [stats.beta(1.5 + 9, 1.5 + 2), stats.beta(1.5, 1.5), stats.beta(1.5 + 40, 1.5 + 35)]
    for k, law in enumerate(laws):
        assert stats.kstest(found.x[:, k], law.cdf).pvalue > 1e-6
    cells = stats.binom([11, 75], found.x[:, [0, 2]]).logpmf([9, 40])
    np.testing.assert_allclose(found.log_likelihood, cells, rtol=1e-9)
    # The reported density is that of the pairs' beta-binomial laws, up to a constant.
    wins, losses = np.array([9, 40]), np.array([2, 35])
    evidence = (betaln(1.5 + wins, 1.5 + losses) - betaln(1.5, 1.5)).sum()
    np.testing.assert_allclose(found.log_density, evidence)


def test_the_concentration_is_drawn_from_its_exact_marginal():
    duels = random_log(8, 200, 1.5, seed=9)
    draws = conjugate(PreferenceMatrix(), duels).propose(20_000, np.random.default_rng(3))
    pairs, at = duels.pairs(), np.linspace(-4, 9, 4001)
    half = np.exp(at)[:, None] / 2
    log = (betaln(half + pairs.first_wins, half + pairs.second_wins) - betaln(half, half)).sum(1)
    log += stats.norm(np.log(4.0), 1.0).logpdf(at)
    mass = np.cumsum(np.exp(log - log.max()))
    cdf = np.interp(draws.hyper[:, 0], at, mass / mass[-1])
    # Stratified draws: their distribution is closer than that of independent ones.
    assert stats.kstest(cdf, "uniform").statistic < 5e-3


@pytest.mark.slow
def test_laplace_marginal_of_the_scale_is_close_to_quadrature():
    """Two arms: the score difference is one number, so the marginal is an integral."""
    duels = Duels.from_wins(np.array([[0, 12], [5, 0]]))
    grid = conditionals(linear_predictor(BradleyTerry(), duels))
    free = np.linspace(-30, 30, 200_001)
    like = 12 * free * np.sqrt(2) - 17 * np.logaddexp(0, free * np.sqrt(2))
    exact = []
    for node in grid.nodes:
        scale = np.exp(node)
        joint = like + stats.norm(0, scale).logpdf(free)
        top = joint.max()
        mass = np.log(np.exp(joint - top).sum() * (free[1] - free[0])) + top
        exact.append(mass + stats.halfnorm(scale=2).logpdf(scale) + node)
    near = grid.log_density > grid.log_density.max() - 6
    gap = (grid.log_density - np.array(exact))[near]
    assert np.ptp(gap) < 0.15


@pytest.mark.parametrize(
    ("size", "centred"),
    [((3, 5, 1.0), False), ((10, 30, 1.0), False), ((10, 1000, 1.0), True),
     ((30, 3000, 0.05), False), ((100, 100_000, 1.0), True)],
)  # fmt: skip
def test_parameterisation_follows_the_data(size, centred):
    assert well_informed(random_log(*size, seed=10)) is centred


@pytest.mark.parametrize("wins", [[[0, 6e8], [4e8, 0]], [[0, 6e6], [4e6, 0]]])
def test_very_many_duels_of_one_pair_have_a_mode(wins):
    """The log density is a small difference of large terms, whose rounding is no lack of ascent."""
    found = fit(Duels.from_wins(np.array(wins)), method="laplace", draws=400)
    score = found["posterior"]["score"].mean(("chain", "draw")).to_numpy()
    assert score[0] - score[1] == pytest.approx(np.log(1.5), abs=1e-3)
