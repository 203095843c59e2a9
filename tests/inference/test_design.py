"""Two designs of one linear predictor: scores by differences, and a sparse matrix."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bayesduel as bd
from bayesduel.inference.design import Columns, PairDifferences, centre, pair_differences
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    JudgeReliability,
    Scores,
    SideAdvantage,
    ThurstoneScore,
)


def log(n=60, seed=1):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 5, n)
    margin = rng.normal(0.3, 1, n)
    return bd.Duels.from_votes(
        left,
        (left + rng.integers(1, 5, n)) % 5,
        np.where(np.abs(margin) < 0.2, 0.5, (np.sign(margin) + 1) / 2),
        margin=np.where(np.abs(margin) < 0.2, 0.0, margin),
        judge=rng.integers(0, 3, n),
        covariates={"x": rng.standard_normal(n), "y": rng.standard_normal(n)},
    )


@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry(),
        pytest.param(
            Davidson(Scores() + Covariates(["x", "y"])) + SideAdvantage(),
            marks=pytest.mark.slow,  # compiling this form takes ten seconds
        ),
        pytest.param(ThurstoneScore(variances="arm") + SideAdvantage(), marks=pytest.mark.slow),
    ],
    ids=lambda m: m.name,
)
def test_both_designs_give_one_density(model, monkeypatch):
    monkeypatch.setattr("bayesduel.inference.design.SMALL", 0)
    duels = log()
    cells = model.cells(duels)
    one = linear_predictor(model, cells)
    assert isinstance(one.design, PairDifferences)
    cut = one.size - len(one.own)
    jacobian = np.stack([one.design.eta(u) for u in np.eye(cut)], axis=1)
    two = replace(one, design=Columns(sparse.csr_array(jacobian)))
    rng = np.random.default_rng(2)
    x = rng.normal(size=one.size)
    phi = rng.normal(size=max(1, sum(n or 1 for n in one.hypers.values())))
    for a, b in zip(one.parts(x, phi), two.parts(x, phi), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    covariance = np.linalg.inv(np.eye(one.size) + np.outer(x, x))
    np.testing.assert_allclose(one.spread(covariance), two.spread(covariance), atol=1e-9)
    groups = rng.integers(0, 4, len(cells))
    by_group = [d.gradients(x, phi, groups, 4) for d in (one, two)]
    np.testing.assert_allclose(*by_group, atol=1e-9)
    np.testing.assert_allclose(
        by_group[0].sum(axis=0), one.parts(x, phi).gradient - prior_slope(one, x, phi), atol=1e-6
    )
    many = rng.normal(size=(3, one.size))
    np.testing.assert_allclose(
        one.values(many, np.tile(phi, (3, 1))), two.values(many, np.tile(phi, (3, 1))), atol=1e-9
    )
    some = rng.integers(0, len(cells), 7)
    np.testing.assert_allclose(
        *(d.over({}, some).batch(x[None], phi[None])[1] for d in (one, two)), atol=1e-9
    )


def prior_slope(density, x, phi, h=1e-6):
    """Return the gradient of the log prior, by finite differences."""

    def prior(at):
        return density.log_prior(at[None], density._phi(phi)[None])[0]

    return np.array([(prior(x + h * e) - prior(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("n_others", [0, 2])
@pytest.mark.parametrize("form", ["small", "large", "sparse beside", "matrix"])
def test_products_are_those_of_the_whole_matrix(form, n_others, monkeypatch):
    monkeypatch.setattr("bayesduel.inference.design.SMALL", 4000 if form == "small" else 0)
    rng = np.random.default_rng(0)
    first = rng.integers(0, 5, 12)
    second = (first + rng.integers(1, 5, 12)) % 5
    reach, score = rng.normal(size=(12, n_others)), centre(np.eye(4)).T
    J = np.column_stack([score[first] - score[second], reach])
    beside = Columns(sparse.csr_array(reach) if form == "sparse beside" else reach)
    design = pair_differences(first, second, 5, beside)
    assert isinstance(design, Columns if form == "small" else PairDifferences)
    design = Columns(sparse.csr_array(J)) if form == "matrix" else design
    u, slopes = rng.normal(size=(3, J.shape[1])), rng.normal(size=(12, 2))
    slope, groups, some = slopes[:, 0], np.arange(12) % 3, np.array([3, 3, 7])
    root = rng.normal(size=(J.shape[1], J.shape[1]))
    found = (design.eta(u[0]), design.eta(u), design.pull(slope),
             design.pull(slopes), design.pull_by(slope, groups, 3), design.curvature(slope),
             design.variance(root @ root.T), design.rows(some).eta(u))  # fmt: skip
    member = np.eye(3)[groups].T
    exact = (J @ u[0], u @ J.T, slope @ J, J.T @ slopes, member * slope @ J,
             -(J.T * slope) @ J, np.linalg.norm(J @ root, axis=1) ** 2, u @ J[some].T)  # fmt: skip
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_other_predictors_have_a_matrix_and_products_are_refused():
    frame = pd.DataFrame({"item": list("01234"), "u": [0.0, 1, 2, 0, 1], "v": [1.0, 0, 1, 2, 0]})
    duels, model = log(), BradleyTerry(Covariates(bd.read_items(frame)))
    density = linear_predictor(model, model.cells(duels))
    assert isinstance(density.design, Columns)
    assert list(density.blocks) == ["coefficient", "effect"] and density.hyper == "effect_scale"
    bent = BradleyTerry() + JudgeReliability()
    with pytest.raises(ValueError, match="eta should be linear"):
        linear_predictor(bent, bent.cells(duels))
