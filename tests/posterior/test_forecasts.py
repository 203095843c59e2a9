"""Predictions after the last period, and draws of margins that are whole numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.models import BradleyTerry, Davidson, ThurstoneScore, TimeVarying
from benchmarks.forecasts import AHEAD, world

LABELS = list("abcd")


@pytest.fixture(scope="module", params=["walk", "smooth"])
def fit(request):
    rng = np.random.default_rng(1)
    left = rng.integers(0, 4, 200)
    right = (left + rng.integers(1, 4, 200)) % 4
    names, time = np.array(LABELS), np.repeat(np.arange(5), 40)
    won = rng.random(200) < expit((right - left) * (time - 2) / 3)
    log = Duels.from_votes(names[left], names[right], won, time=time, arms=LABELS)
    model = BradleyTerry() + TimeVarying(request.param, edges=tuple(np.arange(6) - 0.5))
    return bd.fit(log, model, draws=4000, clusters=False)


def eta_of(fit, time):
    """Return draws of the predictor of a against d, at a time."""
    from bayesduel.posterior.conditions import conditions

    given = conditions(fit, fit.duel.model, np.array([0]), np.array([3]), {"time": time})
    return fit.duel.model.eta(fit.duel.posterior("model"), given)[:, 0]


@pytest.mark.parametrize("ahead", [0.4, 1, 1.4, 3, 10])
@pytest.mark.slow
def test_a_future_has_the_distribution_of_the_process(fit, ahead):
    """Beside draws of the process itself, given each draw's changes, by NumPy and SciPy."""
    draws = fit.duel.posterior("model")
    now, then = eta_of(fit, 4), eta_of(fit, 4 + ahead)
    periods = np.ceil(max(ahead - 0.5, 0))
    if not periods:
        np.testing.assert_array_equal(now, then)
        return
    drift = draws["drift"]
    change = draws["rating"] - draws["score"][:, None]
    if fit.duel.model.terms.find(TimeVarying).process == "walk":
        mean, deviation = 0.0, np.sqrt(2 * periods) * drift
    else:
        before = np.array([4, 3, 2, 1, 0, -periods])
        mean, deviation = np.empty(len(drift)), np.empty(len(drift))
        for k, length in enumerate(draws["length"]):
            kernel = np.exp(-0.5 * (np.subtract.outer(before, before) / length) ** 2)
            less = np.eye(6) - np.outer(np.ones(6), np.eye(6)[4])
            whole = less @ kernel @ less.T
            past = [0, 1, 2, 3]
            share = np.linalg.solve(whole[np.ix_(past, past)] + 1e-6 * np.eye(4), whole[past, 5])
            mean[k] = share @ (change[k, :4, 0] - change[k, :4, 3])
            left = whole[5, 5] - share @ whole[past, 5]
            deviation[k] = drift[k] * np.sqrt(2 * max(left, 0.0))
    standard = (then - now - mean) / deviation
    # 4,000 standard normal numbers: five standard errors of mean and deviation
    assert abs(standard.mean()) < 5 / 4000**0.5 and abs(standard.std() - 1) < 5 / 8000**0.5


def test_intervals_widen_and_nothing_is_warned_of_after_the_log(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frames = [bd.predict(fit, "a", "d", time=4 + ahead) for ahead in (0, 1, 3, 10)]
    width = [float(p["win_upper"] - p["win_lower"]) for p in frames]
    assert width[0] < width[1] < width[2] <= width[3] + 0.02
    together = bd.predict(fit, ["a", "a"], ["d", "d"], time=[4, 14])
    np.testing.assert_array_equal(together["win"], [frames[0]["win"], frames[3]["win"]])
    assert frames[3].equals(bd.predict(fit, "a", "d", time=14))
    back = bd.predict(fit, "d", "a", time=14)
    assert float(back["loss"]) == pytest.approx(float(frames[3]["win"]))


@pytest.mark.parametrize("n", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_forecasts_hold_the_future(n):
    """Coverage within four standard errors of 95 % at ten periods, and a log loss no worse."""
    found = np.array([world(seed, draws=400) for seed in range(n)])
    coverage, loss = found[:, 0], found[:, 1]
    error = max(coverage[:, 1].mean(axis=1).std() / n**0.5, 0.02)
    assert coverage[:, 1].mean() > 0.93 - 4 * error
    assert (coverage[:, 1].mean(axis=0) > coverage[:, 0].mean(axis=0)).all()
    apart = loss[:, 1] - loss[:, 0]
    assert (apart.mean(axis=0) < 4 * apart.std(axis=0) / n**0.5 + 1e-3).all()
    assert apart.shape[1] == len(AHEAD)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("degrees", [None, 5.0])
@pytest.mark.parametrize("kind", ["whole, with draws", "whole, without", "not whole"])
def test_whole_margins_have_draws(kind, degrees):
    rng = np.random.default_rng(3)
    left = rng.integers(0, 4, 300)
    right = (left + rng.integers(1, 4, 300)) % 4
    margin = np.round((right - left) * 0.4 + rng.normal(0, 1.5, 300))
    margin = {"whole, with draws": margin, "not whole": margin + 0.25 * (margin == 0)}.get(
        kind, margin + (margin == 0)
    )
    names = np.array(LABELS)
    frame = pd.DataFrame({"left": names[left], "right": names[right], "margin": margin})
    log = bd.read_duels(frame, margin="margin")
    fit = bd.fit(log, ThurstoneScore(degrees=degrees), draws=1000, clusters=False)
    found = bd.predict(fit, ["a", "b"], ["b", "d"])
    assert ("tie" in found) == (kind == "whole, with draws")
    total = sum(found[name] for name in ("win", "loss", "tie") if name in found)
    np.testing.assert_allclose(total, 1.0)
    if "tie" in found and degrees is None:
        draws = fit.duel.posterior("model")
        middle = draws["score"][:, 0] - draws["score"][:, 1]
        noise = draws["noise"]
        tie = norm.cdf(0.5, middle, noise) - norm.cdf(-0.5, middle, noise)
        assert float(found["tie"][0]) == pytest.approx(tie.mean())
        share = float((np.abs(margin[left + right == 1]) == 0).mean())
        assert abs(share - float(found["tie"][0])) < 0.15


def test_draws_of_a_model_of_ties_are_its_own():
    fit = bd.fit(bd.datasets.load("chess3"), Davidson(), draws=200)
    assert "tie" in bd.predict(fit, "Kasparov", "Karpov")
