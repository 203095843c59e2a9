"""Skewed proposals: densities by inversion, thin logs against quadrature, and the certificate."""

import warnings

import numpy as np
import pytest
from scipy import stats

from bayesduel.data import datasets
from bayesduel.data.duels import Duels
from bayesduel.inference import sample as sampling
from bayesduel.inference.fit import fit
from bayesduel.inference.hyper_grid import Grid
from bayesduel.inference.laplace import LaplaceApproximation
from bayesduel.inference.piecewise_exponential import PiecewiseExponential
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.psis import Certificate, Tails, importance_weights, tails, tempered
from bayesduel.inference.skewed_laplace import SkewedLaplace
from bayesduel.models import BradleyTerry, Davidson
from benchmarks.exact_posterior import QUANTILES, exact_quantiles, quantities

# Wins of a over b, a over c and b over c, and the reverse; quantiles of the score of a, of a - c
# and of the scale, each with its standard deviation: exact_quantiles with size=401, n_scales=201.
THIN = {
    "undefeated in 50": (
        ((25, 25, 25), (0, 0, 25)),
        {
            "a": ((1.873, 3.393, 7.416), 1.442),
            "a - c": ((2.788, 5.092, 11.128), 2.168),
            "scale": ((1.221, 2.681, 5.256), 1.050),
        },
    ),
    "undefeated in 100": (
        ((50, 50, 50), (0, 0, 50)),
        {
            "a": ((2.372, 3.906, 7.986), 1.462),
            "a - c": ((3.547, 5.860, 11.982), 2.195),
            "scale": ((1.424, 2.905, 5.449), 1.046),
        },
    ),
    "20-0 each": (
        ((20, 20, 20), (0, 0, 0)),
        {
            "a": ((2.599, 4.818, 9.854), 1.880),
            "a - c": ((5.312, 9.696, 19.205), 3.598),
            "scale": ((1.817, 3.564, 6.210), 1.136),
        },
    ),
    "a chain of two duels": (
        ((1, 0, 1), (0, 0, 0)),
        {
            "a": ((-0.865, 0.431, 4.789), 1.457),
            "a - c": ((-1.442, 0.872, 9.258), 2.779),
            "scale": ((0.053, 1.190, 4.332), 1.169),
        },
    ),
}


def log_of(won, lost):
    wins = np.zeros((3, 3))
    upper = np.triu_indices(3, 1)
    wins[upper], wins.T[upper] = won, lost
    return Duels.from_wins(wins, ["a", "b", "c"])


def quietly(*args, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a thin log is meant here
        return fit(*args, log_likelihood=False, **settings)


@pytest.mark.parametrize("name", THIN)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_quantiles_of_thin_logs_are_exact(name):
    """40,000 draws: a 97.5 % quantile has a standard error of 0.02 to 0.03 sd in a long tail."""
    counts, exact = THIN[name]
    tree = quietly(log_of(*counts), "bradley-terry", draws=40_000, seed=1)
    assert tree.attrs["method"] == "laplace", tree.attrs["method_reason"]
    assert tree.attrs["importance_ess"] > 0.9 * 40_000
    found = quantities(tree["posterior"])
    for quantity, (wanted, deviation) in exact.items():
        error = (np.quantile(found[quantity], QUANTILES) - wanted) / deviation
        assert np.abs(error).max() < 0.1, (quantity, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", THIN)
def test_quadrature_has_converged(name):
    counts, exact = THIN[name]
    found = exact_quantiles(log_of(*counts).tally().wins)
    for quantity, (wanted, deviation) in exact.items():
        np.testing.assert_allclose(found[quantity][0], wanted, atol=0.03 * deviation)


@pytest.mark.slow
def test_many_arms_and_few_duels_are_certified():
    """20 arms, 45 duels: normal proposals leave a quarter of the draws."""
    rng = np.random.default_rng(1)
    score = rng.normal(0, 3.0, 20)
    left = rng.integers(0, 20, 45)
    right = (left + rng.integers(1, 20, 45)) % 20
    won = rng.random(45) < 1 / (1 + np.exp(score[right] - score[left]))
    duels = Duels.from_votes(left, right, won.astype(float), arms=list(range(20)))
    for model in (BradleyTerry(), Davidson()):
        tree = quietly(duels, model, draws=2000)
        assert tree.attrs["method"] == "laplace", tree.attrs["method_reason"]
        assert tree.attrs["importance_ess"] > 1000
        assert tree.attrs["tail_ess"] > 0.3 * 0.025 * 2000


def test_ordinary_logs_keep_their_normal_proposals(monkeypatch):
    def never(self, proposals, weights):
        raise AssertionError("the normal proposals should be certified")

    monkeypatch.setattr(LaplaceApproximation, "refined", never)
    for name in ("springall", "citations", "tversky1969"):
        assert quietly(datasets.load(name), draws=4000).attrs["method"] == "laplace"


@pytest.mark.parametrize("scale", [2.0, None], ids=["held", "learned"])
def test_the_proposals_are_normalised(scale):
    """The mean importance ratio is the model's mass, whatever the proposal: here of three."""
    model = BradleyTerry() if scale is None else BradleyTerry(scale=scale)
    duels = log_of(*THIN["20-0 each"][0])
    cells = model.cells(duels)
    normal = LaplaceApproximation.of(linear_predictor(model, cells), cells)
    skewed = SkewedLaplace.of(model, normal.cells, normal.density, normal.grid)
    moved = skewed.refined(skewed.propose(4000, np.random.default_rng(0)), np.full(4000, 1 / 4000))
    masses = [
        np.exp(approximation.propose(20_000, np.random.default_rng(1)).log_ratio)
        for approximation in (skewed, moved)
    ]

    exact = mass_of(normal.density, 14 if scale else 60, normal.grid.nodes)
    for mass in masses:
        assert abs(mass.mean() - exact) < 5 * mass.std() / np.sqrt(20_000) + 2e-3 * exact


@pytest.mark.parametrize("scale", [2.0, None], ids=["held", "learned"])
@pytest.mark.slow
def test_the_normal_proposal_is_normalised(scale):
    model = BradleyTerry() if scale is None else BradleyTerry(scale=scale)
    duels = log_of((8, 9, 7), (5, 4, 6))
    cells = model.cells(duels)
    normal = LaplaceApproximation.of(linear_predictor(model, cells), cells)
    mass = np.exp(normal.propose(4000, np.random.default_rng(1)).log_ratio)
    exact = mass_of(normal.density, 5, normal.grid.nodes)
    assert abs(mass.mean() / exact - 1) < 5 * mass.std() / mass.mean() / 63


def mass_of(density, reach, nodes):
    """Return the integral of a density in two numbers, within `reach`, and over the nodes."""
    hypers = np.linspace(nodes[0], nodes[-1], 81) if len(nodes) > 1 else nodes
    sums = []
    for hyper in hypers:
        end = min(reach, 8 * np.exp(hyper)) if len(nodes) > 1 else reach  # the prior is narrow
        at = np.linspace(-end, end, 281)
        both = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
        height = density.values(both, np.full((len(both), 1), hyper))
        sums.append(np.exp(height).sum() * (at[1] - at[0]) ** 2)
    return np.sum(sums) * (hypers[1] - hypers[0] if len(nodes) > 1 else 1.0)


@pytest.mark.slow
def test_equal_arms_are_drawn_with_the_spread_of_their_own_scale():
    """The prior alone holds 100 scores: draws of the nearest node would weigh half as much."""
    rng = np.random.default_rng(0)
    left = rng.integers(100, size=20_000)
    right = (left + rng.integers(1, 100, size=20_000)) % 100
    duels = Duels.from_votes(left, right, rng.integers(2, size=20_000).astype(float))
    tree = quietly(duels, BradleyTerry(), draws=2000)
    assert tree.attrs["method"] == "laplace", tree.attrs["method_reason"]
    assert tree.attrs["importance_ess"] > 0.9 * 2000


def test_piecewise_exponential_densities():
    law = stats.skewnorm([0.0, 6.0], scale=[1.0, 3.0])
    points = np.stack([np.linspace(-5, 5, 41), np.linspace(-3, 12, 41)])
    found, log_mass = PiecewiseExponential.of(points, law.logpdf(points.T).T + 0.5)
    assert log_mass == pytest.approx(1.0, abs=0.02)
    values, log_density = found.draw(20_000, np.random.default_rng(2))
    for k, alone in enumerate((stats.norm(), stats.skewnorm(6.0, scale=3.0))):
        assert stats.kstest(values[:, k], alone.cdf).pvalue > 1e-4
    np.testing.assert_allclose(log_density, law.logpdf(values).sum(axis=1), atol=0.35)
    np.testing.assert_allclose(found.masses.sum(axis=1), 1.0, rtol=1e-12)
    shifted = found.moved(np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    again, moved = shifted.draw(20_000, np.random.default_rng(2))
    np.testing.assert_allclose(again, values * [2.0, 1.0] + [1.0, 0.0])
    np.testing.assert_allclose(moved, log_density - np.log(2.0))
    with pytest.raises(FloatingPointError, match="does not fall off"):
        PiecewiseExponential.of(points, points)


def test_tails_of_short_proposals_are_found():
    """A posterior of twice the standard deviation; k-hat alone would let it pass with few draws."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000)
    psis = importance_weights(stats.norm(0, 1.5).logpdf(x) - stats.norm.logpdf(x))
    kept = rng.choice(4000, 4000, p=psis.weights)
    found = tails(x[:, None], psis.weights, kept)
    assert found.covered == pytest.approx(stats.norm.sf(1.96 * 1.5) / 0.025, abs=0.06)
    assert found.effective < 20
    alike = tails(x[:, None], np.full(4000, 1 / 4000), np.arange(4000))
    assert alike.covered == pytest.approx(1.0, abs=0.02)
    assert alike.effective == pytest.approx(100, abs=2)
    exact = Tails.of_exact(4000)
    assert (exact.effective, exact.covered) == (100, 1)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"khat": 0.7}, "k-hat 0.70 is not below 0.7"),
        ({"effective": 400.0}, "400 effective draws are fewer than half of 1,000"),
        ({"tails": Tails(9.0, 0.1, 8)}, "0.10 times as many proposals"),
        ({"tails": Tails(1.2, 0.9, 8)}, "1.2 effective draws in a tail of a parameter"),
        ({"tails": Tails(2.4, 0.9, 8)}, "2.4 effective draws in a tail of a parameter"),
        ({"tails": Tails(2.6, 0.9, 8)}, ""),  # a tenth of the 25 that should be there
        ({}, ""),
    ],
)  # fmt: skip
def test_certificate_names_its_shortfall(changed, words):
    good = {"khat": 0.3, "effective": 900.0, "n_draws": 1000, "tails": Tails(20.0, 0.9, 8)}
    found = Certificate(**good | changed)
    assert words in found.shortfall
    assert found.holds is not bool(words)


def test_weights_are_tempered_until_moments_can_be_learned():
    even = np.full(100, 0.01)
    np.testing.assert_array_equal(tempered(even), even)
    one = np.exp(-np.linspace(0, 200, 1000))
    assert 1 / (tempered(one / one.sum()) ** 2).sum() >= 50
    assert 1 / (tempered(np.eye(1, 1000)[0]) ** 2).sum() >= 50  # all on a single draw


def test_a_tilted_grid_has_the_moments_of_the_weighted_draws():
    nodes = np.linspace(-6, 6, 41)
    grid = Grid(nodes, stats.norm.logpdf(nodes), tuple(nodes))
    draws, _ = grid.draw(20_000, np.random.default_rng(4))
    weights = stats.norm(0.4, 0.8).pdf(draws) / stats.norm.pdf(draws)
    weights /= weights.sum()
    moved, _ = grid.tilted(draws, weights).draw(20_000, np.random.default_rng(5))
    assert moved.mean() == pytest.approx(0.4, abs=0.03)
    assert moved.std() == pytest.approx(0.8, abs=0.03)
    lone = weights * 0
    lone[draws.argmax()] = 1.0
    assert grid.tilted(draws, lone) is grid


@pytest.mark.parametrize("hopeless", [True, False])
@pytest.mark.parametrize("method", ["auto", "laplace"])
@pytest.mark.slow
def test_draws_far_off_are_refined_only_where_nuts_may_not_draw_in_their_place(
    method, hopeless, monkeypatch
):
    """Of many coefficients, of which few draws are effective: refinement would cost as much."""
    refined = []

    def watched(found, n, rng):
        refined.append(found.psis.effective)
        return found

    monkeypatch.setattr(sampling, "_refined", watched)
    monkeypatch.setattr(sampling, "REFINED", 1)
    monkeypatch.setattr(sampling, "HOPELESS", 1.0 if hopeless else 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fit(log_of((20, 20, 20), (0, 0, 0)), BradleyTerry(), method, seed=0, draws=400)
    assert bool(refined) == (method == "laplace" or not hopeless)
    assert refined or found.attrs["method"] == "nuts"
