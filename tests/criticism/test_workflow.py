"""The Bayesian workflow for any model: products of responses and terms through every step."""

import json
import warnings
from itertools import product

import arviz_stats as azs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from matplotlib.figure import Figure
from pytensor.compile.mode import Mode
from scipy.special import expit

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.criticism.calibration import held_out
from bayesduel.criticism.cross_validation import log_likelihoods, units_of, without
from bayesduel.criticism.levels import levels_by, with_votes
from bayesduel.inference.prior import log_priors, prior_draws
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    CategoryEffects,
    Covariates,
    Davidson,
    JudgeReliability,
    LogisticAttributes,
    PerturbedThurstone,
    PreferenceMatrix,
    RandomEffects,
    Scores,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)

PLAIN = Mode("py", None)  # no compiler: these graphs run a few times
RESPONSES = {
    "win": BradleyTerry(),
    "probit": Thurstone(),
    "tie": Davidson(),
    "margin": ThurstoneScore(),
    "noise by pair": ThurstoneScore(variances="pair"),
}
TERMS = {
    "order": SideAdvantage(),
    "covariate": Covariates(["x"]),
    "judge": RandomEffects("judge"),
    "category": CategoryEffects(),
    "time": TimeVarying(periods=3),
}
SPREADS = {"judge": "judge_scale", "category": "category_spread", "time": "drift"}
EFFECTS = {"order": "side advantage", "covariate": "x"}


def made_log(n=240, n_arms=4, odd_judge=0.0, seed=0):
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n_arms, n)
    j = (i + rng.integers(1, n_arms, n)) % n_arms
    score, judge = np.linspace(-1, 1, n_arms), rng.integers(0, 4, n)
    eta = np.where((judge == 2) & (odd_judge > 0), -odd_judge, 1.0) * (score[i] - score[j])
    outcome = (rng.random(n) < expit(eta)).astype(float)
    outcome[rng.random(n) < 0.15] = 0.5
    return bd.Duels.from_votes(
        [f"a{k}" for k in i],
        [f"a{k}" for k in j],
        outcome,
        margin=np.where(outcome == 0.5, 0.0, (2 * outcome - 1) * rng.gamma(2, 1, n)),
        judge=[f"j{g}" for g in judge],
        category=[f"c{g}" for g in rng.integers(0, 3, n)],
        time=np.arange(n) / n,
        covariates={"x": rng.normal(size=n)},
        keep={"prompt": [f"p{g}" if g else None for g in rng.integers(0, 5, n)]},
    )


def fitted(log, model="bradley-terry", method="auto", draws=400, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of covariates and certificates
        return bd.fit(log, model, method, draws=draws, **settings)


@pytest.fixture(scope="module")
def log():
    return made_log()


@pytest.fixture(scope="module")
def fits(log):
    kept = {}

    def fit(response, term):
        if (response, term) not in kept:
            model = RESPONSES[response] + TERMS[term]
            kept[response, term] = fitted(log, model, "laplace")
        return kept[response, term]

    return fit


# -- products of responses and terms ---------------------------------------------------------

LINEAR = [
    (r, t) for r in RESPONSES for t in TERMS if r != "noise by pair" or t in ("order",)
]  # where pairs are split their noise is a parameter, which only NUTS samples
each_linear = pytest.mark.parametrize(("response", "term"), LINEAR)


def each_linear_with(name, values):
    """Every model with every value: slow but for a part in which any two of the three occur."""
    cases = []
    for (response, term), (n, value) in product(LINEAR, enumerate(values)):
        place = [*RESPONSES].index(response) + [*TERMS].index(term)
        shown = place % len(values) == n
        cases.append(pytest.param(response, term, value, marks=() if shown else pytest.mark.slow))
    return pytest.mark.parametrize(("response", "term", name), cases)


@each_linear
@pytest.mark.sampled(9)
def test_the_prior_has_the_parameters_of_the_fit_and_predicts_what_was_observed(
    fits, log, response, term
):
    fit = fits(response, term)
    tree = bd.prior_predictive(RESPONSES[response] + TERMS[term], log, draws=30, seed=1)
    for name, values in fit["posterior"].data_vars.items():
        assert tree["prior"][name].shape[2:] == values.shape[2:], name
        assert np.isfinite(tree["prior"][name]).all()
    for name, values in tree["observed_data"].data_vars.items():
        assert tree["prior_predictive"][name].shape[2:] == values.shape
    assert bd.plots.plot_prior_predictive(tree, ax=Figure().add_subplot()).get_lines()


@pytest.mark.parametrize("term", ["judge", "category", "time"])
@pytest.mark.sampled(3)
def test_arviz_and_sensitivity_name_each_entry_of_an_array_as_the_fit_does(fits, term):
    fit = fits("win", term)
    table, moved = azs.summary(fit, kind="stats", round_to="none")["mean"], bd.sensitivity(fit)
    for name, values in fit["posterior"].data_vars.items():
        own = table.index.str.partition("[").get_level_values(0) == name
        np.testing.assert_allclose(table[own], values.mean(("chain", "draw")).to_numpy().ravel())
        pd.testing.assert_frame_equal(bd.sensitivity(fit, [name]), moved[own])


@each_linear
@pytest.mark.sampled(9)
@pytest.mark.slow
def test_sensitivity_and_coefficients_name_every_learned_number(fits, response, term):
    fit = fits(response, term)
    table = bd.sensitivity(fit)
    assert np.isfinite(table[["prior", "likelihood"]].to_numpy()).all()
    assert {"scale", SPREADS.get(term, "scale")} <= set(fit["log_prior"])
    assert "sensitive" in table.attrs["sentence"]
    found = bd.coefficients(fit)
    assert {"scale", SPREADS.get(term, "scale")} <= set(found.index)
    if term in EFFECTS:
        row = found.loc[EFFECTS[term]]
        values = fit["posterior"]["order" if term == "order" else "covariate_effect"].to_numpy()
        assert row["coefficient"] == pytest.approx(values.mean())
        assert (row["kind"], row["term"][:5]) == ("effect", term.replace("iate", "iates")[:5])
    for name in found.index[found["kind"] == "parameter"]:
        values = fit["posterior"][name].to_numpy()
        assert found.loc[name, "lower"] == pytest.approx(np.quantile(values, 0.025), rel=0.05)


@each_linear_with("by", ["judge", "category", "time", "prompt", "pair"])
@pytest.mark.sampled(4)
def test_groups_of_any_column_are_checked(fits, log, response, term, by):
    table = bd.check_groups(fits(response, term), log, by, draws=40)
    group, labels = levels_by(log, by)
    assert set(table.index) == set(labels)
    sizes = np.bincount(group[group >= 0])
    assert table["duels"].to_dict() == dict(zip(labels, sizes.tolist(), strict=True))
    assert (table["lower"] <= table["expected"]).all() and (table["p_value"] > 0).all()


@each_linear_with("unit", ["judge", "prompt", "time"])
@pytest.mark.sampled(3)
def test_the_likelihood_of_levels_is_the_sum_of_their_duels(fits, log, response, term, unit):
    model, fit = (RESPONSES[response] + TERMS[term]).settled(log), fits(response, term)
    posterior = {name: v[:20] for name, v in fit.duel.posterior("model").items()}
    (levels,), (single,) = units_of(log, [model], unit), units_of(log, [model], "duel")
    by_level = np.concatenate([*log_likelihoods(model, posterior, levels)], axis=1)
    by_duel = np.concatenate([*log_likelihoods(model, posterior, single)], axis=1)
    code, _ = levels_by(log, unit)
    if single.of_vote is None:
        total = by_duel @ single.times
        missing = 0.0
    else:
        votes = by_duel[:, single.of_vote]
        total, missing = votes.sum(axis=1), votes[:, code < 0].sum(axis=1)
        own = np.stack([votes[:, code == k].sum(axis=1) for k in range(code.max() + 1)], axis=1)
        np.testing.assert_allclose(by_level, own, atol=1e-8)
    if unit != "prompt":
        np.testing.assert_allclose(by_level.sum(axis=1), total - missing, atol=1e-8)
    rest = without(log, levels, np.array([1]))
    assert rest.n_duels == log.n_duels - int((code == 1).sum())
    assert rest.votes.judges == log.votes.judges


# -- simulation-based calibration ----------------------------------------------------------


def test_a_calibration_depends_on_its_seed_alone_and_goes_on(log, tmp_path):
    model = BradleyTerry() + SideAdvantage()
    settings = {"draws": 200, "seed": 3}
    whole = bd.calibrate(model, log, 22, workers=2, **settings)
    path = tmp_path / "ranks.jsonl"
    bd.calibrate(model, log, 20, path=path, **settings)
    with path.open("a") as lines:
        lines.write('{"truth": 20, "pi')  # cut off by a kill
    further = bd.calibrate(model, log, 22, path=path, **settings)
    for name, values in whole["prior_sbc"].data_vars.items():
        np.testing.assert_array_equal(values, further["prior_sbc"][name])
        assert ((values > 0) & (values < 1)).all()
    assert {"score", "order", "scale", "preference", "log_likelihood"} == set(whole["prior_sbc"])
    with pytest.raises(ValueError, match="path should be a file of this calibration"):
        bd.calibrate(model, log, 22, path=path, draws=200, seed=4)


@pytest.mark.slow
def test_arviz_draws_a_calibration():
    from arviz_plots import plot_ecdf_pit

    design = pd.DataFrame({"left": ["a", "b", "c"], "right": ["b", "c", "a"], "duels": [4, 4, 4]})
    tree = bd.calibrate("davidson", design, 20, draws=200)
    assert plot_ecdf_pit(tree, var_names=["score", "scale"]) is not None
    summary = tree["summary"].to_dataset().to_dataframe()
    assert summary.loc["score", "entries"] == 3
    smallest = float(tree["p_value"]["score"].min())
    assert summary.loc["score", "p_value"] == pytest.approx(min(1.0, 3 * smallest))


def test_logs_that_the_model_refuses_are_counted():
    design = pd.DataFrame({"left": ["a", "b", "c"], "right": ["b", "c", "a"], "duels": [9, 9, 9]})
    tree = bd.calibrate(BradleyTerry() + SideAdvantage(prior=8.0), design, 20, draws=200)
    assert 0 < tree.attrs["n_refused"] == 20 - tree["prior_sbc"].sizes["draw"]


def test_the_first_truths_do_not_depend_on_how_many_there_are(log):
    model = (Davidson() + RandomEffects("judge") + TimeVarying(periods=3)).settled(log)
    few, many = (prior_draws(model, log, n, 5) for n in (20, 25))
    for name, values in few.items():
        np.testing.assert_array_equal(values, many[name][:20])


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n": 3}, ValueError, "n should be a whole number >= 20"),
        ({"design": 3}, TypeError, r"design should be a bayesduel\.Duels or a frame"),
        ({"design": xr.DataTree()}, TypeError, r"got DataTree \(a fit\?\): pass the log"),
        ({"design": pd.DataFrame({"left": ["a"]})}, ValueError, "a column 'right'"),
        ({"model": BradleyTerry(scale=np.inf)}, ValueError, "scale should be finite to draw"),
        (
            {"model": BradleyTerry() + RandomEffects("league")},
            ValueError,
            "have the league of each vote",
        ),
    ],
)
def test_bad_calibrations_are_named(log, arguments, error, words):
    given = {"model": BradleyTerry(), "design": log, "n": 20} | arguments
    with pytest.raises(error, match=words):
        bd.calibrate(given["model"], given["design"], given["n"], draws=200)


# -- priors ----------------------------------------------------------------------------------


def items():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 3)), columns=["u", "v", "w"])
    return bd.read_items(frame.assign(item=[f"i{k}" for k in range(6)])[["item", "u", "v", "w"]])


@pytest.mark.parametrize(
    "model",
    [
        Davidson() + SideAdvantage() + RandomEffects("judge") + Covariates(["x"]),
        ThurstoneScore(degrees="learned", unit=2.0) + TimeVarying("smooth", periods=3),
        ThurstoneScore(variances="arm"),
        PerturbedThurstone(),
        BradleyTerry() + JudgeReliability(),
        PreferenceMatrix(),
        LogisticAttributes(items=items(), sparsity=1),
    ],
    ids=lambda model: model.name,
)
@pytest.mark.sampled(3)
def test_log_priors_are_those_of_the_pymc_model(log, model):
    import pymc as pm

    if model.log_type == "pulls":
        n = np.full(6, 5.0)
        log = bd.Pulls(arms=model.terms.items.labels, n=n, successes=n // 2)
    model = model.settled(log)
    draws, cells = prior_draws(model, log, 20, 1), model.cells(log)
    built, found = model.build(cells), log_priors(model, draws, cells)
    assert set(model.scales) | set(model.response.own) <= set(found)
    for name, values in found.items():
        at = draws["degrees"] - 1 if name == "degrees_over_1" else draws[name]
        exact = np.array([pm.logp(built[name], v).eval(mode=PLAIN).sum() for v in at])
        np.testing.assert_allclose(values - values[0], exact - exact[0], atol=1e-8)


def test_a_prior_that_the_log_contradicts_is_found(log):
    wide = bd.sensitivity(fitted(log, BradleyTerry(), draws=1000))
    tight = bd.sensitivity(fitted(log, BradleyTerry(scale=0.1), draws=1000))
    scores = [name for name in tight.index if name.startswith("score")]
    assert tight.loc[scores, "prior"].min() > 4 * wide.loc[scores, "prior"].max()
    assert (tight.loc[scores, "diagnosis"] == "potential prior-data conflict").any()
    flat = fitted(log, BradleyTerry(Scores(np.inf)))
    with pytest.raises(ValueError, match="fit should have a prior that is not flat"):
        bd.sensitivity(flat)
    with pytest.raises(ValueError, match="the fit has no log likelihood"):
        bd.sensitivity(fitted(log, log_likelihood=False))


# -- groups, and levels left out -------------------------------------------------------------


def test_the_judge_who_votes_the_wrong_way_round_is_found():
    log = made_log(n=600, odd_judge=1.5, seed=1)
    plain = bd.check_groups(fitted(log), log, "judge")
    assert plain.index[0] == "j2" and plain["p_value"].iloc[0] < 0.02
    assert "'j2'" in plain.attrs["sentence"]
    own = bd.check_groups(fitted(log, BradleyTerry() + RandomEffects("judge")), log, "judge")
    assert own.loc["j2", "misfit"] < plain.loc["j2", "misfit"] / 3
    assert own["p_value"].min() > 0.05
    other = bd.check_groups(fitted(log), log, "prompt")
    assert other["p_value"].min() > 0.02
    with pytest.raises(ValueError, match="duels should be the log of the fit"):
        bd.check_groups(fitted(log), made_log(), "judge")


def test_models_are_compared_by_judges_left_out():
    log = made_log(n=600, odd_judge=1.5, seed=1)
    models = {"plain": BradleyTerry(), "pairs": PreferenceMatrix()}
    found = bd.compare_models(log, models, unit="judge", draws=1000)
    assert found.n_units == 4 and "leaving out one judge at a time" in found.sentence
    assert list(found.pointwise["level"].values) == ["j0", "j1", "j2", "j3"]
    elpd = found.pointwise["elpd"].sel(model="plain").to_numpy()
    assert elpd.argmin() == 2  # whom nobody predicts
    assert found.table["n_refitted"].max() <= 4


def test_held_out_judges_are_predicted_by_the_others():
    log = made_log(n=400, seed=2)
    found = held_out(log, unit="judge", draws=300)
    assert found.unit == "judge" and found.folds == 4 and found.n.sum() == 400
    assert with_votes(log) is log


def test_cycles_and_judges_go_through_the_prior():
    log = made_log()
    tree = bd.prior_predictive(BradleyTerry() + BladeChest() + JudgeReliability(), log, draws=20)
    assert {"blade", "chest", "sensitivity", "strength"} <= set(tree["prior"])


# -- the command line ------------------------------------------------------------------------


def test_the_commands(tmp_path):
    out = tmp_path / "ranks.nc"
    arguments = ["calibrate", "chess3", "-n", "20", "--draws", "200", "--json", "-o", str(out)]
    result = CliRunner().invoke(main, arguments)
    told = json.loads(result.stdout)
    assert [row["parameter"] for row in told["parameters"]][:2] == ["score", "order"]
    assert out.exists()
    log = tmp_path / "log.csv"
    rows = [
        f"a{k % 3},a{(k + 1 + k // 3 % 2) % 3},{'left' if k % 5 else 'right'},t{k % 4}"
        for k in range(80)
    ]
    log.write_text("left,right,outcome,topic\n" + "\n".join(rows) + "\n")
    arguments = ["check", str(log), "--models", "bradley-terry", "--unit", "topic", "--json"]
    result = CliRunner().invoke(main, arguments)
    assert json.loads(result.stdout)["comparison"]["unit"] == "topic"


def test_sensitivity_of_a_flat_prior_says_that_it_is_flat():
    fit = bd.fit(bd.datasets.load("tennis1990"), bd.models.BradleyTerry(scale=np.inf), seed=0)
    with pytest.raises(ValueError, match="bradley-terry whose prior is flat"):
        bd.sensitivity(fit)
