"""One declaration, one density: that of a linear model is that of its ``pm.Model``."""

import numpy as np
import pytest

from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import (
    Covariates,
    Scores,
    SideAdvantage,
)
from tests.support.product_of_terms import (
    COUPLED,
    COVERING,
    MODIFIERS,
    PLAIN,
    PRODUCT,
    RESPONSES,
    WORTH,
    each,
    ids,
    make,
)

# The log has a covariate that most of the models leave out.
pytestmark = pytest.mark.filterwarnings("ignore:the log has covariates")


def point_of(here, x, phi):
    """Return the point of the pm.Model at x and phi, and the log Jacobian of x in that point."""
    scales = here.hyper_parameters(phi)
    point = {f"{name}_log__": np.log(v) for name, v in scales.items()}
    log_jacobian = 0.0
    for name, value in here.parameters(x).items():
        term = here.terms[name].term if name in here.terms else None
        if term is None or isinstance(term, Scores) or not term.scales:
            point[name] = value
            continue
        deviation = term.deviation(scales, here.data, here.unit) * np.ones(value.shape)
        log_jacobian += np.log(deviation).sum()
        standard, covariance = value / deviation, term.covariance(scales, len(value))
        if covariance is not None:
            root = np.linalg.cholesky(covariance)
            standard = np.linalg.solve(root, standard)
            log_jacobian += value[0].size * np.log(root.diagonal()).sum()
        point[f"{term.parameter}_standard"] = standard
    return point, log_jacobian


LINEAR = [
    *((response, terms, None) for response, terms in COVERING[::2]),
    *((response, (), worth) for response in RESPONSES for worth in [*list(WORTH)[:4], "mix"]),
    *(
        (response, ("order", "x"), worth)
        for response in RESPONSES
        for worth in reversed(list(WORTH)[1:4])
    ),
    *((response, ("sides",), "sources") for response in RESPONSES),
    ("bradley-terry", ("judge",), "two sources"),
]


def linear(response, terms, log, worth=None):
    """Return the density of a linear model, or None where the model is none."""
    model = make(response, terms, worth).settled(log)
    shared = model.response.coupled and model.terms.splits
    return None if model.terms.why_nuts or shared else linear_predictor(model, model.cells(log))


def agree(here, log, seed):
    """Compare the density with the pm.Model's, priors and Jacobians included."""
    built = here.model.build(log)
    density = built.compile_fn(built.logp(), mode=PLAIN)
    rng = np.random.default_rng(seed)
    q = sum(1 if n is None else n for n in here.hypers.values())
    for _ in range(3):
        x, phi = rng.normal(0, 0.7, here.size), rng.normal(0, 0.4, q)
        point, log_jacobian = point_of(here, x, phi)
        assert {*point} == {v.name for v in built.value_vars}
        expected = float(density(point)) - log_jacobian
        assert here.value(x, phi) == pytest.approx(expected, rel=1e-9, abs=1e-8)
        assert here.parts(x, phi).value == pytest.approx(expected, rel=1e-9, abs=1e-8)


def derivatives_are_exact(here, seed):
    """Compare gradient and curvature with finite differences."""
    rng = np.random.default_rng(seed)
    q, step = sum(1 if n is None else n for n in here.hypers.values()), 1e-5
    x, phi = rng.normal(0, 0.5, here.size), rng.normal(0, 0.4, q)
    parts, axes = here.parts(x, phi), step * np.eye(here.size)
    ahead, behind = ([here.parts(x + s * e, phi) for e in axes] for s in (1, -1))
    slope = np.array([(a.value - b.value) / (2 * step) for a, b in zip(ahead, behind, strict=True)])
    bend = [(a.gradient - b.gradient) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    size = 1 + np.abs(parts.precision).max()
    np.testing.assert_allclose(slope, parts.gradient, atol=1e-7 * size)
    np.testing.assert_allclose(np.array(bend), -parts.precision, atol=1e-6 * size)
    prior = here.prior(phi)
    np.testing.assert_allclose(prior.precision @ (x - prior.mean), prior.pull(x), atol=1e-8 * size)
    np.testing.assert_allclose(
        parts.precision - parts.prior, here.information(x, phi), atol=1e-8 * size
    )


@pytest.mark.parametrize(("response", "terms", "worth"), LINEAR, ids=lambda v: ids(v or "default"))
@pytest.mark.sampled(5, "margin-by-pair-default-known-scale")
def test_the_density_of_a_linear_model_is_that_of_the_pm_model(log, response, terms, worth):
    here = linear(response, terms, log, worth)
    if here is None:
        assert set(terms) & set(MODIFIERS) or response in COUPLED
        return
    agree(here, log, len(terms))
    derivatives_are_exact(here, len(terms))


@pytest.mark.slow
@each(PRODUCT)
def test_every_density_of_a_linear_model_is_that_of_the_pm_model(log, response, terms):
    here = linear(response, terms, log)
    if here is None:
        assert set(terms) & set(MODIFIERS) or response in COUPLED
        return
    agree(here, log, 7)
    derivatives_are_exact(here, 7)


@pytest.mark.parametrize("response", [r for r in RESPONSES if r not in COUPLED])
@pytest.mark.parametrize("order", [None, 1.0, np.inf])
@pytest.mark.sampled(3, "inf-student")
def test_the_density_under_a_flat_prior_is_that_of_the_pm_model(log, response, order):
    predictor = Scores(np.inf) + Covariates(["x"], scale=np.inf)
    model = RESPONSES[response](predictor + SideAdvantage(order) if order else predictor)
    model = model.settled(log)
    here = linear_predictor(model, model.cells(log))
    agree(here, log, 3)
    derivatives_are_exact(here, 3)
