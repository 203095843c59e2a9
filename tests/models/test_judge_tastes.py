"""Judges who want different things: coefficients of attributes by judge."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from pytensor.compile.mode import Mode
from scipy.special import expit

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    DuelCovariates,
    ItemCovariates,
    JudgeTastes,
    SideAdvantage,
    Terms,
    Thurstone,
)
from bayesduel.reporting.attributes import AttributeAnalysis

PLAIN = Mode("py", None)  # no compiler: these graphs run a few times

N_ITEMS, N_JUDGES, N_DUELS = 14, 16, 2000
COEFFICIENT, SPREAD = np.array([0.5, -0.5]), np.array([1.2, 0.0])


def planted():
    """A log whose judges differ on the first attribute and agree on the second."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.standard_normal((N_ITEMS, 2)), columns=["price", "size"])
    frame["price"] *= 10
    frame.insert(0, "item", [f"i{k:02}" for k in range(N_ITEMS)])
    items = bd.read_items(frame)
    own = COEFFICIENT + SPREAD * rng.standard_normal((N_JUDGES, 2))
    left = rng.integers(0, N_ITEMS, N_DUELS)
    right = (left + rng.integers(1, N_ITEMS, N_DUELS)) % N_ITEMS
    judge = rng.integers(0, N_JUDGES, N_DUELS)
    matrix = items.matrix()
    win = rng.random(N_DUELS) < expit(((matrix[left] - matrix[right]) * own[judge]).sum(axis=1))
    labels = np.array(items.labels)
    names = [f"j{k:02}" for k in judge]
    log = bd.Duels.from_votes(labels[left], labels[right], win.astype(float), judge=names)
    return log, items, own


@pytest.fixture(scope="module")
def fitted():
    log, items, own = planted()
    model = BradleyTerry(Covariates(items, item_effect=False)) + JudgeTastes()
    return log, items, own, bd.fit(log, model, draws=600, chains=2, log_likelihood=True)


def test_likelihood_is_that_of_the_pymc_model():
    """Also of votes without a judge, and with an effect of order."""
    items = planted()[1]
    rng = np.random.default_rng(0)
    names = np.array(items.labels[:4], dtype=object)
    left = rng.integers(0, 4, 40)
    right = (left + rng.integers(1, 4, 40)) % 4
    judge = [None if k % 5 == 0 else "ab"[k % 2] for k in range(40)]
    outcome = rng.choice([0.0, 0.5, 1.0], 40)
    log = bd.Duels.from_votes(names[left], names[right], outcome, judge=judge)
    model = BradleyTerry(Covariates(items, item_effect=False)) + SideAdvantage() + JudgeTastes()
    built = model.build(log)
    coefficient, taste = rng.standard_normal(2), rng.standard_normal((2, 2))
    spread, order = np.array([0.7, 0.2]), 0.3
    point = {
        "coefficient": coefficient,
        "judge_spread_log__": np.log(spread),
        "taste_standard": taste / spread,
        "order": np.array(order),
    }
    cells = built.compile_logp(vars=[built["outcome"]], sum=False, mode=PLAIN)(point)[0]
    draw = {"coefficient": coefficient[None], "taste": taste[None], "order": np.array([order])}
    draw = model.parameters(draw, log.arms)
    own = model.log_likelihood(draw, model.cells(log))
    np.testing.assert_allclose(own[0], cells, atol=1e-10)
    # By hand, vote by vote, ties half of each: the same up to the numbers of orders.
    arms = items.matrix(log.arms)
    place = {a: k for k, a in enumerate(log.arms)}
    total = 0.0
    for a, b, g, y in zip(names[left], names[right], judge, outcome, strict=True):
        z = coefficient if g is None else coefficient + taste["ab".index(g)]
        eta = (arms[place[a]] - arms[place[b]]) @ z + order
        total += y * np.log(expit(eta)) + (1 - y) * np.log(expit(-eta))
    assert own.sum() - model.cells(log).data["log_coefficient"].sum() == pytest.approx(total)


@pytest.mark.slow
def test_where_judges_differ_is_found_and_each_has_coefficients(fitted):
    _, items, own, fit = fitted
    assert fit.attrs["method"] == "nuts" and "not linear" in fit.attrs["method_reason"]
    assert fit["posterior"]["taste"].dims == ("chain", "draw", "judge", "attribute")
    assert fit["log_likelihood_by_cell"].sizes["cell"] == fit["constant_data"].sizes["cell"]
    table, unit = bd.coefficients(fit), items.deviations
    spread = table[["judge_spread_lower", "judge_spread", "judge_spread_upper"]].to_numpy()
    spread = spread * unit[:, None]
    assert spread[0, 0] > 0.5 and spread[1, 1] < 0.25
    # The average of these judges, and each judge: means within three posterior deviations.
    draws = fit["posterior"]["coefficient"].to_numpy().reshape(-1, 2)
    assert (np.abs(draws.mean(axis=0) - own.mean(axis=0)) < 3 * draws.std(axis=0)).all()
    away = []
    for k in range(N_JUDGES):
        alone = bd.coefficients(fit, judge=f"j{k:02}")
        taste = fit["posterior"]["taste"].sel(judge=f"j{k:02}").to_numpy().reshape(-1, 2)
        np.testing.assert_allclose(alone["standard"], (draws + taste).mean(axis=0))
        np.testing.assert_allclose(alone["coefficient"] * unit, alone["standard"])
        away.append((alone["standard"] - own[k]) / (draws + taste).std(axis=0))
    assert np.abs(away).max() < 4.5  # 32 standard normal numbers: beyond it once in 5,000


@pytest.mark.slow
def test_one_taste_for_all_would_be_too_sure(fitted):
    log, items, _, fit = fitted
    flat = BradleyTerry(Covariates(items, item_effect=False))
    plain = bd.coefficients(bd.fit(log, flat, "laplace", clusters=False))
    apart = bd.coefficients(fit)
    width = [(t["standard_upper"] - t["standard_lower"])["price"] for t in (apart, plain)]
    # Sixteen judges of deviation 1.2 tell their mean to 0.3; 2,000 votes alike to about 0.05.
    assert width[0] > 4 * width[1]


@pytest.mark.slow
def test_new_items_are_predicted_for_a_judge(fitted):
    _, items, own, fit = fitted
    new = pd.DataFrame({"item": ["dear", "cheap"], "price": [20.0, -20.0], "size": [0.0, 0.0]})
    likes, hates = int(own[:, 0].argmax()), int(own[:, 0].argmin())
    best = [
        bd.predict_items(fit, bd.read_items(new, like=items), judge=f"j{k:02}").index[0]
        for k in (likes, hates)
    ]
    assert best == ["dear", "cheap"]
    assert bd.plot_coefficients(fit, judge=f"j{likes:02}").get_lines()


@pytest.mark.slow
def test_an_unknown_judge_is_told_the_nearest(fitted):
    with pytest.raises(KeyError, match="judge 'j99' is not in the fit; did you mean 'j09'"):
        bd.coefficients(fitted[-1], judge="j99")


@pytest.mark.slow
def test_a_saved_fit_and_its_page_keep_the_judges(fitted, tmp_path):
    import xarray as xr

    log, _, _, fit = fitted
    fit.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    again = xr.open_datatree(tmp_path / "fit.nc").load()
    assert "judge-tastes" in again.duel.model.layers
    pd.testing.assert_frame_equal(
        bd.coefficients(again, judge="j03"), bd.coefficients(fit, judge="j03")
    )
    table = bd.coefficients(fit)
    rest = dict.fromkeys(("explained", "new", "calibration", "plain"))
    told = AttributeAnalysis(duels=log, fit=fit, table=table, reason="no time", **rest)
    assert "Each of 16 judges" in told.covariance_words
    page = bd.report(told, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "spread of<br>judges" in page and "sparsity = none" in page


@pytest.mark.slow
def test_tastes_predict_votes_held_out_and_compare(fitted):
    """Known judges' votes are predicted by their own tastes, better than by one for all."""
    log, items, _, fit = fitted
    flat = BradleyTerry(Covariates(items, item_effect=False))
    found = bd.compare_models(log, {"one": flat, "own": fit}, unit="duel", folds=0, draws=600)
    assert found.as_good == ["own"]


@pytest.mark.slow
def test_held_out_votes_are_predicted_by_their_judges(fitted):
    log, _, _, fit = fitted
    plain = BradleyTerry(Covariates(fit.duel.model.items, item_effect=False))
    own, one = (held_out(log, m, folds=2, draws=400) for m in (fit.duel.model, plain))
    assert own.log_loss < one.log_loss - 0.05


def test_what_judges_cannot_be_told_from_is_refused():
    _, items, _ = planted()
    model = BradleyTerry(Covariates(items)) + JudgeTastes()
    arms = list(items.labels[:3])
    nobody = bd.Duels.from_votes(arms, arms[1:] + arms[:1], [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="should have the judge of each vote"):
        bd.fit(nobody, model)
    alone = bd.Duels.from_votes(arms, arms[1:] + arms[:1], [1.0, 0.0, 1.0], judge=["x"] * 3)
    with pytest.raises(ValueError, match="at least two levels of judge"):
        bd.fit(alone, model)
    with pytest.raises(ValueError, match="a term with a flat prior cannot be combined"):
        BradleyTerry(Covariates(items, scale=np.inf, item_effect=False)) + JudgeTastes()
    with pytest.raises(TypeError, match="prior should be a number"):
        BradleyTerry(Covariates(items)) + JudgeTastes(prior=True)
    with pytest.raises(ValueError, match="JudgeTastes needs the term Covariates"):
        Thurstone() + JudgeTastes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = bd.fit(nobody, BradleyTerry(Covariates(items, item_effect=False)), draws=400)
    with pytest.raises(ValueError, match="judge should be None for a fit without JudgeTastes"):
        bd.coefficients(plain, judge="x")


@pytest.mark.parametrize("last", [SideAdvantage(), DuelCovariates(("length",))])
@pytest.mark.sampled(2)
def test_spreads_stand_beside_their_attributes(last):
    """Whatever the order of the terms: other effects have none."""
    items = planted()[1]
    rng = np.random.default_rng(0)
    left = rng.integers(0, N_ITEMS, 120)
    right = (left + rng.integers(1, N_ITEMS, 120)) % N_ITEMS
    labels = np.array(items.labels)
    log = bd.Duels.from_votes(
        labels[left],
        labels[right],
        rng.integers(0, 2, 120),
        judge=rng.choice(["a", "b", "c"], 120),
        covariates={"length": rng.standard_normal(120)} if last.name == "covariates" else None,
    )
    for parts in permutations((ItemCovariates(items), JudgeTastes(), last)):
        fit = bd.fit(log, BradleyTerry(Terms(parts)), method="laplace", draws=100)
        table = bd.coefficients(fit)
        spread = np.median(fit.duel.posterior()["judge_spread"], axis=0) / items.deviations
        own = table["term"] == "items"
        assert table.index[own].tolist() == ["price", "size"]
        np.testing.assert_allclose(table.loc[own, "judge_spread"], spread)
        assert table.loc[~own, "judge_spread"].isna().all()
