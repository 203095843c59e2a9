"""Crossed groups of coefficients: what is solved together beside the whole matrix."""

import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import sparse

import bayesduel as bd
from bayesduel.inference import arrow
from bayesduel.inference.crossed import Crossing
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.scale_grid import coordinates
from bayesduel.inference.scale_mode import by_moments, highest, settled, slow_scales
from bayesduel.inference.variational_conditional import (
    conditional_at,
    curvature,
    mode_at,
    responding,
)
from bayesduel.models import (
    BradleyTerry,
    Davidson,
    RandomEffects,
    Scores,
    Sources,
    ThurstoneScore,
)
from bayesduel.system import threads

SCALES = 0.4


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """Groups are eliminated together whatever the width of the border."""
    monkeypatch.setattr(arrow, "WIDEST", 0)


def log(n=900, n_arms=7, levels=(15, 18, 22), margins=False):
    """Return a log of votes by judges on prompts in topics, of two sources."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    eta = np.linspace(-1, 1, n_arms)[left] - np.linspace(-1, 1, n_arms)[right]
    columns = {}
    for name, many in zip(("topic", "prompt", "judge"), levels, strict=True):
        place = rng.integers(0, many, n)
        effect = SCALES * rng.standard_normal((many, n_arms))
        eta = eta + effect[place, left] - effect[place, right]
        columns[name] = [f"{name} {k}" for k in place]
    columns["source"] = np.where(rng.random(n) < 0.5, "people", "machine")
    frame = pd.DataFrame({"left": [f"a{k}" for k in left], "right": [f"a{k}" for k in right]})
    eta = eta + rng.logistic(size=n)
    words = np.select([eta > 0.4, eta < -0.4], ["left", "right"], "tie")
    frame["margin" if margins else "outcome"] = eta if margins else words
    return bd.read_duels(frame.assign(**columns), keep=["prompt", "topic", "source"])


def model_of(response, worth, by):
    """Return a model with effects by the columns `by`."""
    terms = Scores() if worth == "scores" else Sources("source", target="people")
    for column in by:
        terms = terms + RandomEffects(column)
    return response(terms)


@pytest.mark.parametrize("by", [("prompt", "judge"), ("topic", "prompt", "judge")], ids=len)
@pytest.mark.parametrize("worth", ["scores", "sources"])
@pytest.mark.parametrize("response", [BradleyTerry, Davidson, ThurstoneScore])
@pytest.mark.sampled(3)
def test_solutions_are_those_of_the_whole_matrix(response, worth, by):
    duels = log(margins=response is ThurstoneScore)
    model = model_of(response, worth, by).settled(duels)
    density = linear_predictor(model, model.cells(duels))
    layout = arrow.layout_of(density)
    assert len(layout.families) == len(by)
    assert len(layout.border) == density.size - 7 * sum(f.stop - f.start for f in layout.families)
    rng = np.random.default_rng(1)
    phi = np.log(np.full(sum(length or 1 for length in density.hypers.values()), SCALES))
    x = 0.3 * rng.standard_normal(density.size)
    found, prior = density.derivatives(x, phi), density.prior(phi)
    whole = density.bent(found._replace(bend=np.minimum(found.bend, 0))) + prior.precision
    covariance = np.linalg.inv(whole)
    factored = layout.factor(found, prior)
    error = np.sqrt(covariance.diagonal())
    right = rng.standard_normal(density.size)
    off = layout.solve(factored, right) - covariance @ right
    assert abs(off / error).max() < 0.002
    near = layout.factor(density.derivatives(0 * x, phi), prior)
    step, kept = layout.step(found, prior, right, near)
    assert kept is near  # nothing was factored
    assert abs((step - covariance @ right) / error).max() < 0.02  # a residual of 1e-2
    again = layout.factor(found, prior, near)
    for one in (factored, again):
        off = one.covariance() - covariance[np.ix_(layout.border, layout.border)]
        assert abs(off / np.outer(error, error)[np.ix_(layout.border, layout.border)]).max() < 0.005
        assert one.half_log_det == pytest.approx(np.linalg.slogdet(whole)[1] / 2, abs=2)
        variance = layout.join(*one.variances()) / error**2
        for family in layout.families:
            mine = layout.groups[family].ravel()
            assert variance[mine].mean() == pytest.approx(1, abs=0.02)
    # The predictor of a duel sums effects of crossed groups, which are not quite independent.
    spread = layout.spread(factored) / density.spread(covariance) ** 2
    assert spread.mean() == pytest.approx(1, abs=0.1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("away", [-1.0, 1.0])
@pytest.mark.parametrize("worth", ["scores", "sources"])
def test_a_conditional_does_not_depend_on_where_its_search_starts(worth, away):
    duels = log()
    model = model_of(BradleyTerry, worth, ("prompt", "judge")).settled(duels)
    density = linear_predictor(model, model.cells(duels))
    layout = arrow.layout_of(density)
    phi = np.log(np.full(sum(length or 1 for length in density.hypers.values()), SCALES))
    here, far = (mode_at(layout, at, None) for at in (phi, phi + away))
    found = conditional_at(layout, phi, far, sloped=True)
    assert found.bound == pytest.approx(here.bound, abs=0.05)
    np.testing.assert_allclose(found.slope, here.slope, atol=0.1)
    error = np.sqrt(layout.join(*here.arrow.variances()))
    assert abs((found.x - here.x) / error).max() < 0.01


@pytest.fixture(
    scope="module",
    params=product([BradleyTerry, Davidson, ThurstoneScore], ["scores", "sources"]),
    ids=lambda one: f"{one[0].__name__} {one[1]}",
)
def conditional(request):
    """Return a layout with crossed groups of a response and worth, and a conditional of it."""
    response, worth = request.param
    duels = log(margins=response is ThurstoneScore)
    model = model_of(response, worth, ("prompt", "judge")).settled(duels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "WIDEST", 0)
        layout = arrow.layout_of(linear_predictor(model, model.cells(duels)))
    q = sum(length or 1 for length in layout.density.hypers.values())
    return layout, mode_at(layout, np.log(np.full(q, SCALES)), None)


@pytest.mark.sampled(3)
def test_a_precision_beside_another_is_that_of_its_own_prior(conditional):
    layout, here = conditional
    for k, slow in enumerate(slow_scales(layout, here.phi).any(axis=1)):
        phi = here.phi + 0.5 * (np.arange(len(here.phi)) == k)
        prior = layout.density.prior(phi)
        beside, new = layout.beside(here.arrow, prior), layout.factor(here.bent, prior)
        assert (beside is None) == slow
        if beside is not None:
            np.testing.assert_allclose(beside.border, new.border, atol=1e-3)
            assert beside.half_log_det == pytest.approx(new.half_log_det, abs=0.01)


@pytest.mark.sampled(3)
def test_curvature_of_the_bound_is_that_of_its_slopes(conditional):
    layout, here = conditional
    if responding(layout.density).any():
        pytest.skip("where a noise is learned, slopes are searched without curvatures")
    found, slow = curvature(layout, here), slow_scales(layout, here.phi).any(axis=1)
    assert slow.sum() == 2
    seen = np.empty_like(found)
    for k, one in enumerate(0.1 * np.eye(len(found))):
        at = here.phi + one, here.phi - one
        ahead, back = (conditional_at(layout, phi, here, sloped=True) for phi in at)
        seen[k] = (back.slope - ahead.slope) / 0.2
    size = np.sqrt(np.outer(seen.diagonal(), seen.diagonal()))
    off = abs(found - seen) / size
    # Wider groups bend less, which is known to the first order.
    assert off[np.ix_(~slow, ~slow)].max() < 0.1
    assert off.max() < (0.5 if layout.density.own else 0.25)


@pytest.mark.sampled(3)
def test_scales_of_the_border_settle_where_the_bound_is_highest(conditional):
    layout, here = conditional
    if responding(layout.density).any():
        pytest.skip("where a noise is learned, the likelihood moves with a scale")
    fast = ~slow_scales(layout, here.phi).any(axis=1)
    phi = here.phi.copy()
    phi[fast] += settled(layout, here.phi, here.x, here.arrow, fast)
    ahead = conditional_at(layout, phi, here, sloped=True)
    assert fast.any()
    assert abs(here.slope[fast]).max() > 1
    # Their cells bend otherwise there, which a normal likelihood does not know.
    assert abs(ahead.slope[fast]).max() < 0.3
    assert ahead.bound > here.bound


@pytest.mark.sampled(2)
@pytest.mark.parametrize("true", [0.2, 1.0])
@pytest.mark.parametrize("worth", ["scores", "sources"])
def test_scales_of_groups_by_moments_are_near_the_true_ones(worth, true, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SCALES", true)
    duels = log(12_000, levels=(2, 150, 120))
    model = model_of(BradleyTerry, worth, ("prompt", "judge")).settled(duels)
    density = linear_predictor(model, model.cells(duels))
    layout = arrow.layout_of(density)
    q = sum(length or 1 for length in density.hypers.values())
    phi, x = by_moments(layout, np.zeros(q))
    # What groups are left out flattens slopes, the more the larger their effects are.
    off = phi[slow_scales(layout, phi).any(axis=1)] - np.log(true)
    assert abs(off).max() < 0.2 + 0.5 * true
    assert not x[layout.groups].any()


def test_traces_are_those_of_the_whole_covariance(conditional):
    layout, here = conditional
    whole = layout.density.bent(here.bent) + layout.density.prior(here.phi).precision
    covariance, rng = np.linalg.inv(whole), np.random.default_rng(0)
    p, shape = len(layout.border), layout.groups.shape
    border = [np.diag(rng.random(p)), np.zeros((p, p)), np.diag(rng.random(p))]
    groups = [np.zeros(shape), np.zeros(shape), np.zeros(shape)]
    for k, family in enumerate(layout.families):
        groups[k][family] = 1.0
    every = []
    for on_border, diagonal in zip(border, groups, strict=True):
        matrix = np.zeros_like(whole)
        matrix[np.ix_(layout.border, layout.border)] = on_border
        matrix[layout.groups, layout.groups] = diagonal
        every.append(matrix @ covariance)
    exact = np.array([[np.trace(a @ b) for b in every] for a in every])
    found = layout.traces(here.arrow, border, groups)
    np.testing.assert_allclose(found, exact, rtol=0.1, atol=0.01 * exact.diagonal().max())


@pytest.mark.sampled(3)
def test_the_top_is_that_of_groups_in_the_border(conditional, monkeypatch):
    layout, here = conditional
    top = highest(layout, here)
    monkeypatch.setattr(arrow, "WIDEST", 10**9)
    other = arrow.layout_of(layout.density)
    assert layout.crossed
    assert not other.crossed
    exact = highest(other, mode_at(other, here.phi, None))
    error = np.sqrt(np.square(coordinates(other, exact)).sum(axis=1))
    assert abs((top.phi - exact.phi) / error).max() < 0.25


@pytest.mark.parametrize("coupling", [0.0, 0.3])
def test_few_eigenvalues_end_the_method_early(coupling):
    """Of groups that share no duels nothing is coupled; of two that share one, two numbers.

    A probe's signs s and t there add 2 s t (artanh c - c) to the log determinant.
    """
    roots = np.repeat(np.eye(2)[None], 4, axis=0)
    between = np.zeros((8, 8))
    between[0, 4] = between[4, 0] = coupling
    crossing = Crossing(roots, sparse.csr_array(between), (slice(0, 2), slice(2, 4)))
    noise = 2 * (np.arctanh(coupling) - coupling)
    assert crossing.log_det == pytest.approx(np.log(1 - coupling**2), abs=noise + 1e-9)
    widened = 1 + (1 / (1 - coupling**2) - 1) / 4  # one of four variances of each family
    np.testing.assert_allclose(crossing.widening, widened, rtol=1e-6)
    right = np.arange(16.0).reshape(8, 2)
    np.testing.assert_allclose(
        crossing.solve(right), np.linalg.solve(np.eye(8) + between, right), rtol=1e-5
    )


def test_a_fit_is_the_same_by_any_number_of_threads(monkeypatch):
    model, found = model_of(BradleyTerry, "sources", ("prompt", "judge")), []
    votes = log(300, 5, (4, 8, 9))
    for workers in (1, 4):
        monkeypatch.setattr(threads.os, "cpu_count", lambda n=workers: n)
        found.append(bd.fit(votes, model, draws=100, seed=1))
    assert found[0].attrs["method_reason"] == found[1].attrs["method_reason"]
    xr.testing.assert_identical(*(fit["posterior"].to_dataset() for fit in found))
    with pytest.raises(ZeroDivisionError):
        threads.side_by_side(lambda k: 1 / k, (1, 0))


@pytest.mark.filterwarnings("ignore:20 duels are few")
@pytest.mark.parametrize("terms", ["random:group", "random:judge", "random:group + random:judge"])
@pytest.mark.parametrize("response", ["bradley-terry", "thurstone", "davidson"])
@pytest.mark.sampled(9)
def test_fewer_duels_than_deviations_are_fitted(response, terms):
    """Twenty duels of 12 arms in 12 groups: a design of few cells is kept as a dense matrix."""
    rng = np.random.default_rng(0)
    n = 20
    left = rng.integers(0, 12, n)
    right = (left + rng.integers(1, 12, n)) % 12
    log = bd.Duels.from_votes(
        [f"a{k}" for k in left],
        [f"a{k}" for k in right],
        rng.choice([0.0, 0.5, 1.0] if response == "davidson" else [0.0, 1.0], n),
        judge=[f"j{k}" for k in rng.integers(0, 10, n)],
        group=[f"g{k}" for k in rng.integers(0, 12, n)],
    )
    fit = bd.fit(log, f"{response} + {terms}", draws=200, seed=1)
    score = fit["posterior"]["score"]
    assert np.isfinite(score).all()
    assert (score.std(("chain", "draw")) > 0.1).all()
