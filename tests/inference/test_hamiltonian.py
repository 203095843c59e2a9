"""NUTS on the density of a linear predictor: its coordinates are exact, whatever the model."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.inference import hamiltonian, sample
from bayesduel.inference.fit import NUTS_DRAWS
from bayesduel.inference.hamiltonian import StandardCoordinates, sample_hamiltonian
from bayesduel.inference.hamiltonian_mode import learned_start, start_of
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import (
    BradleyTerry,
    CumulativeLogit,
    Davidson,
    PlackettLuce,
    RandomEffects,
    Scores,
    SideAdvantage,
    Sources,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)
from tests.support.simulated_logs import outcomes_of

ARMS = 5
RESPONSES = {
    "win": BradleyTerry,
    "probit": Thurstone,
    "tie": Davidson,
    "grade": CumulativeLogit,
    "margin": ThurstoneScore,
}
TERMS = {
    "plain": lambda: Scores(),
    "order, flat scale": lambda: Scores(scale=1.5) + SideAdvantage(),
    "prompts": lambda: Scores() + SideAdvantage() + RandomEffects("group"),
    "prompts and judges": lambda: (
        Scores() + SideAdvantage() + RandomEffects("group") + RandomEffects("judge")
    ),
    "time": lambda: Scores() + TimeVarying(periods=3),
    "smooth time and prompts": lambda: (
        Scores() + TimeVarying(periods=3, process="smooth") + RandomEffects("group")
    ),
    "sources": lambda: Sources("source", target="p") + SideAdvantage(by="source"),
    "families": lambda: (
        Scores(family={f"a{k}": f"f{k % 2}" for k in range(ARMS)}) + RandomEffects("group")
    ),
    "own priors": lambda: (
        Scores(prior={"a0": bd.Prior("Normal", mu=0.4, sigma=0.3)}) + RandomEffects("group")
    ),
}


def log_of(kind, n=160, seed=0):
    """Return duels with prompts, judges, times and two sources, of a world with all of them."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 1, ARMS)
    by_prompt = rng.normal(0, 0.6, (4, ARMS))
    left = rng.integers(0, ARMS, n)
    right = (left + rng.integers(1, ARMS, n)) % ARMS
    prompt = rng.integers(0, 4, n)
    latent = score[left] - score[right] + by_prompt[prompt, left] - by_prompt[prompt, right]
    latent = latent + rng.logistic(size=n)
    points, given = outcomes_of(kind, latent, tied=0.7)
    return bd.Duels.from_votes(
        [f"a{k}" for k in left],
        [f"a{k}" for k in right],
        points,
        judge=[f"j{k}" for k in rng.integers(0, 6, n)],
        group=[f"g{k}" for k in prompt],
        time=np.datetime64("2020-01-01") + rng.integers(0, 3, n) * np.timedelta64(1, "D"),
        keep={"source": rng.choice(["p", "q"], n)},
        **given,
    )


def density_of(response, terms):
    log = log_of(response)
    model = RESPONSES[response](TERMS[terms]()).settled(log)
    cells = model.cells(log)
    return linear_predictor(model, cells), cells


def somewhere(coordinates, seed):
    rng = np.random.default_rng(seed)
    y = 0.5 * rng.standard_normal(coordinates.n_scales + coordinates.density.size)
    y[: coordinates.n_scales] += coordinates.start.phi
    return y


def log_jacobian(coordinates, y):
    """Return the log determinant of the coefficients' slopes in the coordinates, by differences."""
    cut, step = coordinates.n_scales, 1e-2  # the map is linear in them, in single precision
    columns = []
    for k in range(cut, len(y)):
        away = step * (np.arange(len(y)) == k)
        columns.append((coordinates.place(y + away)[0] - coordinates.place(y - away)[0]) / 2 / step)
    return np.linalg.slogdet(np.array(columns))[1]


@pytest.mark.plain
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.sampled(3)
def test_coordinates_keep_the_density(response, terms):
    """The density is the model's own times the Jacobian, and its gradient is its slope."""
    density, _ = density_of(response, terms)
    keeps_density(StandardCoordinates(density, start_of(density)))


def keeps_density(coordinates):
    """Fail unless the density is the model's own times the Jacobian, and its gradient its slope."""
    density = coordinates.density
    found, wanted = [], []
    for seed in (1, 2):
        y = somewhere(coordinates, seed)
        x, phi = coordinates.place(y)
        found.append(coordinates.value_and_gradient(y)[0])
        wanted.append(density.value(x, phi) + log_jacobian(coordinates, y))
    assert found[1] - found[0] == pytest.approx(wanted[1] - wanted[0], abs=2e-2)
    y = somewhere(coordinates, 3)
    _, gradient = coordinates.value_and_gradient(y)
    step = 1e-3
    for k in range(0, len(y), max(1, len(y) // 12)):
        away = step * (np.arange(len(y)) == k)
        ahead = coordinates.value_and_gradient(y + away)[0]
        back = coordinates.value_and_gradient(y - away)[0]
        assert gradient[k] == pytest.approx((ahead - back) / 2 / step, rel=1e-3, abs=1e-3)


@pytest.fixture
def groups_follow(monkeypatch):
    """Leave the largest group out of the dense factor, as where there are many coefficients."""
    monkeypatch.setattr(hamiltonian, "WIDEST", 10)
    monkeypatch.setattr(hamiltonian, "layout_of", partial(hamiltonian.layout_of, fewest=10))


@pytest.mark.plain
@pytest.mark.parametrize("terms", ["prompts", "prompts and judges", "families"])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.usefixtures("groups_follow")
@pytest.mark.sampled(3)
def test_coordinates_keep_the_density_where_groups_follow_the_others(response, terms):
    density, _ = density_of(response, terms)
    coordinates = StandardCoordinates(density, start_of(density))
    assert 0 < len(coordinates._turned) < density.size
    keeps_density(coordinates)


@pytest.mark.plain
@pytest.mark.parametrize("terms", ["plain", "time", "sources"])
@pytest.mark.usefixtures("groups_follow")
def test_many_coefficients_without_groups_are_all_decorrelated(terms):
    density, _ = density_of("win", terms)
    coordinates = StandardCoordinates(density, start_of(density))
    assert len(coordinates._turned) == density.size
    keeps_density(coordinates)


@pytest.mark.plain
@pytest.mark.parametrize("response", ["win", "tie", "grade", "margin"])
@pytest.mark.usefixtures("groups_follow")
def test_groups_that_follow_are_nearly_independent_of_the_others(response):
    """The curvature between them is at most half of what it is if groups stay in place."""
    density, _ = density_of(response, "prompts and judges")
    start = start_of(density)
    following = StandardCoordinates(density, start)
    staying = StandardCoordinates(density, start)
    staying.__dict__["_coupling"] = None
    n_scales = following.n_scales
    groups = np.setdiff1d(np.arange(density.size), following._turned)
    found = density.derivatives(start.x, start.phi)
    bent = density.bent(found._replace(bend=-start.votes)) + following._prior.precision
    sizes = []
    for coordinates in (following, staying):
        y = np.concatenate([start.phi, np.zeros(density.size)])
        at = coordinates.place(y)[0]
        unit = np.eye(len(y))[n_scales:]
        slopes = np.stack([coordinates.place(y + one)[0] - at for one in unit], axis=1)
        curvature = slopes.T @ bent @ slopes
        sizes.append(abs(curvature[np.ix_(following._turned, groups)]).max())
    assert sizes[0] < 0.5 * sizes[1]


@pytest.mark.slow
def test_draws_are_those_of_the_certified_approximation():
    log = log_of("tie", 600)
    model = Davidson(TERMS["prompts"]()).settled(log)
    cells = model.cells(log)
    quick = bd.fit(log, model, "laplace", clusters=False)
    drawn = sample_hamiltonian(linear_predictor(model, cells), cells, draws=500, chains=4, seed=1)
    assert drawn.certificate.holds and drawn.certificate.effective > 400
    for name in ("score", "scale", "order", "tie", "group_scale"):
        one = np.log(drawn.posterior[name]) if "scale" in name else drawn.posterior[name]
        other = quick["posterior"][name].to_numpy().reshape(-1, *one.shape[1:])
        other = np.log(other) if "scale" in name else other
        assert np.abs(one.mean(0) - other.mean(0)).max() < 0.15 * other.std(0).min()
        assert one.std(0) == pytest.approx(other.std(0), rel=0.12)


@pytest.mark.slow
def test_a_log_of_ties_prompts_and_judges_is_sampled_without_a_compiler(monkeypatch):
    """Where nothing certifies the approximation the density is sampled, and the seed decides."""

    def compiled(*_, **__):
        raise AssertionError("the pm.Model was compiled")

    monkeypatch.setattr("bayesduel.inference.fit.sample_nuts", compiled)
    monkeypatch.setattr(sample, "WEIGHED", 10)
    log = log_of("tie", 300)
    model = Davidson(TERMS["prompts and judges"]())
    one, same = (bd.fit(log, model, draws=400, seed=5) for _ in range(2))
    assert one.attrs["method"] == "nuts"
    assert "too many to certify" in one.attrs["method_reason"]
    assert one["posterior"].equals(same["posterior"])
    assert bd.winners(one).tie_mean.notnull().any()


@pytest.mark.slow
def test_fewer_draws_of_many_coefficients(monkeypatch):
    monkeypatch.setattr(sample, "WEIGHED", 10)
    fewer = NUTS_DRAWS._replace(total=12_000)
    monkeypatch.setattr("bayesduel.inference.fit.NUTS_DRAWS", fewer)
    fit = bd.fit(log_of("tie", 300), Davidson(TERMS["prompts and judges"]()), clusters=False)
    assert fit["posterior"].sizes["draw"] == NUTS_DRAWS.least // 4
    rankings = bd.Rankings.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]] * 4)
    fit = bd.fit(rankings, PlackettLuce(), "nuts", draws=200)
    assert fit["posterior"].sizes["draw"] == 50


def test_a_start_that_fails_leaves_it_to_the_model_of_pymc(monkeypatch):
    def nowhere(density):
        raise FloatingPointError("no")

    called = []

    def by_pymc(model, cells, **settings):
        called.append(settings["draws"])
        raise ValueError("enough")

    monkeypatch.setattr(hamiltonian, "start_of", nowhere)
    monkeypatch.setattr("bayesduel.inference.fit.sample_nuts", by_pymc)
    with pytest.raises(ValueError, match="enough"):
        bd.fit(log_of("win"), "bradley-terry", "nuts", draws=100)
    assert called == [25]


LEVELS = np.array([0.025, 0.25, 0.5, 0.75, 0.975])
# Probability. A median that moves by a tenth of a deviation moves by 0.04. Means and deviations
# would not do: of 12,000 draws by PyMC 63 are effective for the deviation of a scale of sources.
APART = 0.05


@pytest.mark.slow
@pytest.mark.parametrize("terms", ["prompts and judges", "time", "sources", "families"])
@pytest.mark.parametrize("response", ["tie", "grade", "margin"])  # two minutes a cell
def test_draws_are_those_of_the_model_of_pymc(response, terms):
    log = log_of(response, 400)
    model = RESPONSES[response](TERMS[terms]())
    one, other = (
        bd.fit(log, model, method, draws=8000, seed=seed, clusters=False)["posterior"]
        for seed, method in enumerate(("nuts", "pymc"))
    )
    for name in one.data_vars:
        if name == "preference" or name not in other:
            continue
        mine, theirs = (p[name].to_numpy().reshape(8000, -1) for p in (one, other))
        for own, their in zip(mine.T, theirs.T, strict=True):
            below = np.searchsorted(np.sort(their), np.quantile(own, LEVELS)) / len(their)
            fixed = their.std() < 1e-12
            assert fixed or np.abs(below - LEVELS).max() < APART, (name, below)


def test_a_better_start_is_learned_from_draws():
    density, _ = density_of("tie", "prompts and judges")
    start = start_of(density)
    rng = np.random.default_rng(0)
    x = start.x + 0.01 * rng.standard_normal((30, density.size))
    phi = np.repeat(start.phi[None] + 0.2, 30, axis=0)
    found = learned_start(density, x, phi)
    assert found.phi == pytest.approx(start.phi + 0.2)
    assert found.information == pytest.approx(start.information, rel=0.2, abs=1e-6)
    kept = replace(StandardCoordinates(density, start), start=found)
    assert np.isfinite(kept.value_and_gradient(somewhere(kept, 1))[0])
