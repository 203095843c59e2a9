"""The cumulative logit, against densities and estimates that others compute."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.miscmodels.ordinal_model import OrderedModel

import bayesduel as bd
from bayesduel.models import BradleyTerry, CumulativeLogit
from bayesduel.models.cumulative_logit import CumulativeResponse

ARMS = list("abcd")
SCORE = np.array([1.0, 0.4, -0.2, -1.2])


def graded(thresholds, n=600, seed=0):
    """Return left, right and grades of duels whose grades thresholds above 0 part."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    away = SCORE[left] - SCORE[right] + rng.logistic(size=n)
    return left, right, (np.sign(away) * np.searchsorted(thresholds, np.abs(away))).astype(int)


def to_log(left, right, grade, **columns):
    names = np.array(ARMS)
    outcome = (np.sign(grade) + 1) / 2
    return bd.Duels.from_votes(names[left], names[right], outcome, grade=grade, **columns)


@pytest.mark.parametrize(
    ("levels", "steps"),
    [
        ((0, 1, 2), [-0.7, 0.3]),
        ((1, 2, 3), [-0.2, 0.5]),
        ((0, 1), [0.1]),
        ((1,), []),
        ((1, 4), [1.4]),
    ],
)
def test_the_density_is_that_of_intervals_of_a_logistic_variable(levels, steps):
    response, rng = CumulativeResponse(levels), np.random.default_rng(1)
    eta = rng.normal(0, 1.5, 5)
    above = np.cumsum(np.exp(steps)) if steps else np.zeros(0)
    ends = np.concatenate([-above[::-1], [] if 0 in levels else [0.0], above])
    cdf = stats.logistic.cdf(ends[None, :] - eta[:, None])
    chance = np.diff(np.column_stack([np.zeros(5), cdf, np.ones(5)]), axis=1)
    counts = rng.multinomial(9, np.ones(chance.shape[1]) / chance.shape[1], 5).astype(float)
    parameters = {name: np.array([v]) for name, v in zip(response.steps, steps, strict=True)}
    found = response.log_likelihood(
        eta[None], parameters | {"x": np.zeros(1)}, {"counts": counts, "log_coefficient": 0.0}
    )
    np.testing.assert_allclose(found[0], (counts * np.log(chance)).sum(axis=1), rtol=1e-9)
    made = response.results(eta[None], parameters | {"x": np.zeros(1)}, None, None)[0]
    np.testing.assert_allclose(made, chance, atol=1e-12)
    told = response.outcome_probabilities(eta[None], parameters, None, None)
    ahead = chance[:, response.grades > 0].sum(axis=1)
    np.testing.assert_allclose(told["win"][0], ahead, atol=1e-12)
    if 0 in levels:
        tied = chance[:, response.grades == 0].sum(axis=1)
        np.testing.assert_allclose(told["tie"][0], tied, atol=1e-12)


@pytest.mark.parametrize("thresholds", [(0.5, 1.6), (0.0, 1.0)], ids=["ties", "no ties"])
def test_maximum_likelihood_is_that_of_statsmodels(thresholds):
    """Each duel from both sides has symmetric thresholds, and the same maximum."""
    left, right, grade = graded(thresholds)
    log = to_log(left, right, grade)
    fit = bd.fit(log, CumulativeLogit(scale=np.inf), draws=200)
    design = np.eye(4)[left] - np.eye(4)[right]
    both = np.concatenate([design, -design])[:, 1:]
    codes = pd.Categorical(np.concatenate([grade, -grade]), ordered=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = OrderedModel(codes, both, distr="logit").fit(disp=False, method="bfgs", gtol=1e-8)
    score = np.concatenate([[0.0], other.params[:3]])
    mode = fit["laplace"]["score_mode"].values
    np.testing.assert_allclose(mode, score - score.mean(), atol=2e-4)
    ends = other.model.transform_threshold_params(other.params)[1:-1]
    steps = [fit["laplace"][f"{name}_mode"].item() for name in fit.duel.model.response.steps]
    np.testing.assert_allclose(np.cumsum(np.exp(steps)), ends[ends > 1e-6], atol=2e-4)


@pytest.mark.parametrize("scale", [None, 1.0])
@pytest.mark.sampled(2)
def test_one_level_without_ties_is_bradley_terry(scale, tmp_path):
    left, right, grade = graded((0.0,))
    log = to_log(left, right, np.sign(grade))
    one, other = (
        bd.fit(log, model, draws=400, seed=1)
        for model in (CumulativeLogit(scale=scale), BradleyTerry(scale=scale))
    )
    np.testing.assert_allclose(one["laplace"]["score_mode"], other["laplace"]["score_mode"])
    one.to_netcdf(tmp_path / "fit.nc")
    fits = [bd.load(tmp_path / "fit.nc"), other]
    found = [float(bd.predict(fit, "a", "b")["win"]) for fit in fits]
    assert found[0] == pytest.approx(found[1])
    points = [bd.posterior_predictive(fit)["posterior_predictive"].dataset for fit in fits]
    assert points[0].sizes["draw"] == points[1].sizes["draw"]
    assert list(bd.coefficients(fits[0]).index) == list(bd.coefficients(other).index)


def test_only_the_order_of_grades_counts():
    left, right, grade = graded((0.5, 1.6))
    wide = np.sign(grade) * np.where(np.abs(grade) == 2, 9, np.abs(grade))
    one, other = (bd.fit(to_log(left, right, g), draws=200, seed=1) for g in (grade, wide))
    assert one.attrs["model"] == other.attrs["model"] == "cumulative-logit + order"  # found
    np.testing.assert_array_equal(one["posterior"]["score"], other["posterior"]["score"])
    names = [name for name in bd.predict(other, "a", "b") if name.startswith("grade_+")]
    assert names[::3] == ["grade_+0", "grade_+1", "grade_+9"]


def test_grades_say_more_than_who_won():
    left, right, grade = graded((0.5, 1.6), n=2000)
    log = to_log(left, right, grade)
    graded_fit, won = (bd.fit(log, m, draws=1000) for m in ("auto", "davidson"))
    spread = [f["posterior"]["score"].std(("chain", "draw")).mean() for f in (graded_fit, won)]
    assert float(spread[0]) < 0.97 * float(spread[1])
    found = graded_fit["posterior"]["threshold"].mean(("chain", "draw"))
    np.testing.assert_allclose(found, (0.5, 1.6), atol=0.2)


def test_probabilities_of_grades_add_up():
    left, right, grade = graded((0.5, 1.6))
    told = bd.predict(bd.fit(to_log(left, right, grade), draws=200), "a", "d")
    each = {n: float(told[f"grade_{n:+d}"]) for n in (-2, -1, 0, 1, 2)}
    assert sum(each.values()) == pytest.approx(1)
    assert each[1] + each[2] == pytest.approx(float(told["win"]))
    assert each[0] == pytest.approx(float(told["tie"]))


def test_settings_are_checked_and_kept(tmp_path):
    for levels in ((2, 1), (1, 1), (-1, 1), "12", (True, 2), ()):
        with pytest.raises(ValueError, match="levels should be whole numbers"):
            CumulativeLogit(levels=levels)
    left, right, grade = graded((0.5, 1.6))
    log = to_log(left, right, grade)
    fit = bd.fit(log, CumulativeLogit(), draws=200)
    fit.to_netcdf(tmp_path / "fit.nc")
    assert bd.load(tmp_path / "fit.nc").duel.model == CumulativeLogit(levels=(0, 1, 2))
    with pytest.raises(ValueError, match=r"grades should be among the levels \[0, 1\]"):
        bd.fit(log, CumulativeLogit(levels=(0, 1)))
    with pytest.raises(ValueError, match="the log should be read with ties='keep'"):
        bd.fit(replace(log, tie_rule="half"), CumulativeLogit())
