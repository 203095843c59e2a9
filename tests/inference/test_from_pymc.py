"""Draws of a ``pm.Model`` that were sampled anywhere come back as a fit like any other."""

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.inference.fit import UncertifiedWarning
from bayesduel.models import (
    BradleyTerry,
    Davidson,
    PreferenceMatrix,
    RandomEffects,
    SideAdvantage,
    ThurstoneScore,
    TimeVarying,
)
from tests.models.test_priors import log as log

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayesduel.inference.fit.UnusedCovariatesWarning"),
    pytest.mark.filterwarnings("ignore::bayesduel.posterior.dependence.RepeatedVotesWarning"),
]
MODELS = {
    "plain": BradleyTerry(),
    "order": Davidson() + SideAdvantage(),
    "judge": BradleyTerry() + RandomEffects("judge"),
    "time": BradleyTerry() + TimeVarying(periods=3),
    "matrix": PreferenceMatrix(),
}


def sampled(fit, built):
    """Return draws of a fit as a sampler would give them: the variables of the ``pm.Model``."""
    posterior = fit.duel.sampled
    if "rating" in posterior:
        change = (posterior["rating"] - posterior["score"]).isel(period=slice(None, -1))
        posterior["change"] = change.rename(period="earlier")
    names = [v.name for v in (*built.free_RVs, *built.deterministics)]
    return posterior[[n for n in names if n in posterior]]


@pytest.fixture(scope="module")
def fits(log):
    return {n: bd.fit(log, m, draws=400, seed=2) for n, m in MODELS.items()}


@pytest.mark.parametrize("kind", ["tree", "groups", "reordered", "more"])
@pytest.mark.parametrize("case", MODELS)
@pytest.mark.sampled(2)
def test_a_fit_comes_back_as_it_was(case, kind, log, fits):
    model, fit = MODELS[case], fits[case]
    built = model.build(log)
    given = sampled(fit, built)
    if kind == "reordered" and "arm" in given.dims:
        given = given.isel(arm=slice(None, None, -1))
    if kind == "more":
        given["penalty"] = given[next(iter(given))].isel(chain=0, draw=0) * 0 + 1
    groups = {"posterior": given}
    idata = groups if kind == "groups" else xr.DataTree.from_dict(groups)
    back = bd.from_pymc(idata, model, log, seed=2)
    assert back.attrs["method"] == "pymc" and back.duel.model == fit.duel.model
    for name, values in fit["posterior"].data_vars.items():
        np.testing.assert_allclose(back["posterior"][name], values, atol=1e-12)
    assert set(back["posterior"].data_vars) == set(fit["posterior"].data_vars)
    np.testing.assert_allclose(
        back["log_likelihood_by_cell"]["outcome"], fit["log_likelihood_by_cell"]["outcome"]
    )
    verdicts = [bd.winners(one).attrs["verdict"] for one in (back, fit)]
    assert verdicts[0] == verdicts[1]


def test_everything_reads_it(log, fits, tmp_path):
    idata = xr.DataTree.from_dict({"posterior": sampled(fits["order"], MODELS["order"].build(log))})
    back = bd.from_pymc(idata, MODELS["order"], log, seed=2)
    bd.report(back, tmp_path / "fit.html")
    assert "draws of its PyMC model" in (tmp_path / "fit.html").read_text()
    back.to_netcdf(tmp_path / "fit.nc")
    assert bd.load(tmp_path / "fit.nc").attrs["method"] == "pymc"
    assert len(bd.sensitivity(back)) and len(bd.coefficients(back))
    predicted = [bd.predict(one, "a0", "a1") for one in (back, fits["order"])]
    xr.testing.assert_allclose(*(found.to_dataset() for found in predicted))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda p: p.drop_vars("order"), "'tie', 'order' and 'score'.* without 'order'"),
        (lambda p: p.rename(arm="item"), "score should have the dimensions arm, got item"),
        (lambda p: p.isel(arm=slice(1, None)), "arm of score should be that of the log"),
        (lambda p: p.assign_coords(arm=list("vwxyz")), "got 'v', 'w', 'x', 'y' and 'z'"),
        (lambda p: p.isel(draw=0), "dimensions chain and draw"),
        (lambda p: p.assign(order=p["order"] * np.nan), "finite numbers.* of 'order'"),
        (lambda p: p.assign(order=p["score"]), "order should have the dimensions chain and draw"),
    ],
)
def test_one_sentence_says_what_is_missing(wrong, words, log, fits):
    posterior = sampled(fits["order"], MODELS["order"].build(log))
    idata = xr.DataTree.from_dict({"posterior": wrong(posterior)})
    with pytest.raises(ValueError, match=words):
        bd.from_pymc(idata, MODELS["order"], log)


@pytest.mark.parametrize("idata", [None, 3, {}, {"prior": 1}, xr.DataTree()])
def test_what_is_no_draws_is_refused(idata, log):
    with pytest.raises(TypeError, match="with a group posterior"):
        bd.from_pymc(idata, "bradley-terry", log)


def test_chains_that_disagree_are_warned_of(log, fits):
    posterior = sampled(fits["plain"], MODELS["plain"].build(log)).copy(deep=True)
    posterior["score"][0] += np.array([3.0, -3.0, 0.0, 0.0, 0.0])
    with pytest.warns(UncertifiedWarning, match="chains disagree"):
        back = bd.from_pymc({"posterior": posterior}, "bradley-terry", log)
    assert "chains disagree" in back.attrs["shortfall"]


@pytest.mark.slow
def test_a_changed_model_comes_back():
    """A potential says that a beats b; PyMC samples it; the fit says so."""
    import pymc as pm

    log, model = bd.datasets.load("icehockey"), ThurstoneScore()
    with model.build(log) as built:
        score = built["score"]
        pm.Potential("known", pm.logp(pm.Normal.dist(0.0, 0.05), score[0] - score[1]))
        idata = pm.sample(500, tune=500, chains=4, cores=1, random_seed=1, progressbar=False)
    back = bd.from_pymc(idata, model, log)
    scores = back["posterior"]["score"]
    assert float((scores[..., 0] - scores[..., 1]).std()) < 0.06
    assert abs(float(bd.predict(back, log.arms[0], log.arms[1])["margin"])) < 0.05
