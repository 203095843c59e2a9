"""Every model and every consumer of a fit: yes, or refused with a reason.

Predictors, responses and layers go together freely, and everything downstream takes what comes of
it. The fast tests cover every pair of a response and a layer, with points near the prior in place
of sampling. The slow ones take the whole product so, and sample each of those pairs.
"""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from pytensor.compile.mode import Mode

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.inference import fit as fitting
from bayesduel.inference.clusters import why_not_robust
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.psis import Certificate, Tails
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    CategoryEffects,
    Covariates,
    Davidson,
    JudgeReliability,
    JudgeTastes,
    OrderEffect,
    PerturbedThurstone,
    PreferenceMatrix,
    Scores,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
    named,
)
from bayesduel.posterior.dependence import RepeatedVotesWarning
from bayesduel.posterior.draws import model_of

PLAIN = Mode("py", None)  # no compiler: these graphs run a few times
POINTS = 20  # that stand for draws
ARMS = list("abcd")
ITEMS = bd.read_items(
    pd.DataFrame({"item": ARMS, "u": [1.0, 0.2, -0.1, -1.0], "v": [0.0, 1.0, 0.0, 2.0]})
)
PREDICTORS = {
    "scores": Scores(),
    "items": Covariates(ITEMS),
    "scores+x": Scores() + Covariates(["x"]),
}
RESPONSES = {
    "bradley-terry": BradleyTerry,
    "thurstone": Thurstone,
    "davidson": Davidson,
    "margin": ThurstoneScore,
    "margin by arm": lambda p: ThurstoneScore(p, variances="arm"),
    "margin by pair": lambda p: ThurstoneScore(p, variances="pair"),
    "student": lambda p: ThurstoneScore(p, degrees=5),
    "residuals": PerturbedThurstone,
}
LAYERS = {
    "plain": lambda m: m,
    "order": OrderEffect,
    "reliability": JudgeReliability,
    "tastes": JudgeTastes,
    "time": lambda m: TimeVarying(m, periods=3),
    "cycles": BladeChest,
    "categories": CategoryEffects,
}
LINEAR, COUPLED = ("plain", "order"), ("margin by pair", "residuals")
COVERING = [
    (layer, "items" if layer == "tastes" else list(PREDICTORS)[(i + k) % 3], response)
    for i, layer in enumerate(LAYERS)
    for k, response in enumerate(RESPONSES)
]
each_of_covering = pytest.mark.parametrize(
    ("layer", "predictor", "response"), COVERING, ids=lambda x: x.replace(" ", "-")
)


def make(layer, predictor, response):
    return LAYERS[layer](RESPONSES[response](PREDICTORS[predictor]))


def table(n=240, seed=1):
    """Return a log as a frame: margins with an advantage of the left, a covariate and ties."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    score, x = np.array([1.0, 0.3, -0.3, -1.0]), rng.standard_normal(n).round(1)
    margin = np.round(score[left] - score[right] + 0.3 + 0.5 * x + rng.standard_normal(n), 1)
    margin = np.where(np.abs(margin) < 0.3, 0.0, margin)
    return pd.DataFrame(
        {
            "left": np.array(ARMS)[left],
            "right": np.array(ARMS)[right],
            "outcome": (np.sign(margin) + 1) / 2,
            "margin": margin,
            "judge": [f"j{k:02}" for k in rng.integers(0, 12, n)],
            "time": np.arange(n) * 1.0,
            "category": np.array(["u", "v", "w"])[np.arange(n) % 3],
            "x": x,
        }
    )


@pytest.fixture(scope="module")
def log():
    data = table()
    return bd.Duels.from_votes(
        *(data[name] for name in ("left", "right", "outcome")),
        margin=data["margin"],
        judge=data["judge"],
        time=data["time"].to_numpy(),
        covariates={"x": data["x"]},
        category=data["category"],
    )


def near_the_prior(model, cells, n, seed):
    """Return n points of what a sampler hands over, and the log likelihood of the pm.Model."""
    built = model.build(cells)
    rng = np.random.default_rng(seed)
    outcome = built.logp(vars=[built["outcome"]], sum=False)[0]
    values = built.replace_rvs_by_values(built.unobserved_RVs)
    function = built.compile_fn([*values, outcome], mode=PLAIN)
    start = built.initial_point()
    points = [{k: v + rng.normal(0, 0.3, np.shape(v)) for k, v in start.items()} for _ in range(n)]
    *drawn, terms = (np.array(v) for v in zip(*map(function, points), strict=True))
    found = {v.name: d for v, d in zip(built.unobserved_RVs, drawn, strict=True)}
    inner = ("_free", "_standard")
    return {k: v for k, v in found.items() if not k.endswith(inner)}, terms


def without_sampling(model, cells, method, layout, seed, keep, progress, near=None):
    n = layout[0] * layout[1]
    row = np.arange(n) % POINTS
    points, terms = near_the_prior(model, cells, POINTS, seed)
    drawn, terms = {k: v[row] for k, v in points.items()}, terms[row]
    posterior = model.complete(drawn, cells, np.random.default_rng(seed))
    stats = {"lp": np.zeros(n), "diverging": np.zeros(n, dtype=bool)}
    certificate = Certificate(khat=np.nan, effective=n, n_draws=n, tails=Tails(np.nan, np.nan, 0))
    return PosteriorDraws(posterior, stats, terms, certificate), "nuts", "not sampled"


@pytest.fixture
def quick(monkeypatch):
    """Let fits take draws near the prior in place of sampling."""
    monkeypatch.setattr(fitting, "_sample", without_sampling)


def fit(log, model, **settings):
    return bd.fit(log, model, draws=100, chains=2, **{"clusters": False, **settings})


def use(tree, model, log, units=("pair", "duel")):
    """Ask a fit everything that is cheap; return its winners."""
    back = model_of(tree)
    assert (back.name, back.settings) == (model.name, model.settings)
    winners = bd.winners(tree)
    assert set(winners["arm"].values) == set(ARMS)
    assert float(winners["winner_share"].sel(criterion="borda").sum()) == pytest.approx(1)
    told = bd.predict(tree, "a", "b")
    outcomes = [float(told[name]) for name in ("win", "tie", "loss") if name in told]
    assert sum(outcomes) == pytest.approx(1)
    assert ("margin" in told) == (model.outcome == "margin")
    if model.reads_order:
        at_home = float(bd.predict(tree, "a", "b", left_advantage=True)["win"])
        ahead = float(tree["posterior"]["order"].mean()) > 0
        assert at_home != float(told["win"])
        assert (at_home > float(told["win"])) == ahead or abs(at_home - float(told["win"])) < 0.05
    else:
        with pytest.raises(ValueError, match="left_advantage should be False"):
            bd.predict(tree, "a", "b", left_advantage=True)
    assert len(bd.next_pairs(tree, 2)) == 2
    assert set(bd.top_k(tree, 2).members.index) == set(ARMS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for unit in units:
            compared = bd.compare_models(log, {"one": tree, "same": tree}, unit=unit, folds=0)
            assert (
                compared.table["elpd"].nunique() == 1 and np.isfinite(compared.table["elpd"]).all()
            )
    return winners


@each_of_covering
def test_one_likelihood_and_every_question(log, quick, layer, predictor, response):
    model = make(layer, predictor, response).settled(log)
    tree = fit(log, model)
    draws = {
        str(n): v.values.reshape(-1, *v.shape[2:])
        for n, v in tree["posterior"].data_vars.items()
        if n != "preference"
    }
    P = model.preference(draws)
    np.testing.assert_allclose(P + P.swapaxes(1, 2), 1.0, atol=1e-12)
    # NumPy's likelihood is the pm.Model's; every vote alone adds up to the cells.
    cells = model.cells(log)
    own = model.log_likelihood(draws, cells)
    terms = tree["log_likelihood"]["outcome"].values.reshape(own.shape)
    np.testing.assert_allclose(own, terms, rtol=1e-8, atol=1e-8)
    chances = model.cell_probabilities(draws, cells)
    np.testing.assert_allclose(sum(chances.values()), 1.0, atol=1e-12)
    winners = use(tree, model, log, ["pair" if model.reads_order else "duel"])
    assert (winners.attrs["ranked_by"] == "score") == model.ranks_by_score
    items = {} if model.items is None else {"items": ITEMS}
    assert named(model.name, **model.settings, **items) == model


@pytest.mark.parametrize(("layer", "predictor", "response"), COVERING[::7])
def test_held_out_votes_are_predicted(log, quick, layer, predictor, response):
    found = held_out(log, make(layer, predictor, response), folds=2, draws=100)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("layer", LAYERS)
def test_errors_are_robust_or_the_reason_is_named(layer, response):
    predictor = "items" if layer == "tastes" else "scores"
    reason = why_not_robust(make(layer, predictor, response))
    if response in COUPLED:
        assert "share a parameter" in reason
    elif layer == "categories":
        assert "vary by group" in reason
    elif layer not in LINEAR:
        assert "no mode" in reason and "not linear" in reason
    else:
        assert not reason


@pytest.mark.parametrize(
    ("layer", "predictor", "response"),
    [("order", "scores+x", "davidson"), ("plain", "items", "margin by arm")],
)
def test_robust_errors_are_those_of_the_draws_used(log, quick, layer, predictor, response):
    tree = fit(log, make(layer, predictor, response), clusters=True)
    group = tree["clusters"]
    assert group["clustering"].values.tolist() == [tree.attrs["clusters_auto"]] == ["judge"]
    assert (group["score_se_cluster"] > 0).all()
    assert bd.winners(tree, covariance="judge").attrs["covariance"] == "judge"
    refused = fit(log, ThurstoneScore(variances="pair"), clusters=True)
    assert "clusters" not in refused and "share a parameter" in refused.attrs["clusters_reason"]


def test_what_cannot_go_together_is_refused_with_a_reason(log):
    for response in RESPONSES.values():
        for predictor in ("scores", "scores+x"):
            with pytest.raises(ValueError, match="base should have the attributes of items"):
                JudgeTastes(response(PREDICTORS[predictor]))
    for layer in (
        OrderEffect,
        JudgeReliability,
        JudgeTastes,
        TimeVarying,
        BladeChest,
        CategoryEffects,
    ):
        with pytest.raises(TypeError, match="base should be a model with a linear predictor"):
            layer(PreferenceMatrix())
    models = [BradleyTerry(), Davidson()]
    with pytest.raises(ValueError, match="tie"):
        bd.compare_models(log, models)
    bare = bd.Duels.from_votes("abca", "bcab", [1, 0, 1, 1])
    for model, words in [
        (ThurstoneScore(), "duels should have margins"),
        (BradleyTerry(PREDICTORS["scores+x"]), "duels should have the covariates 'x'"),
        (JudgeReliability(), "name a judge for each vote"),
        (TimeVarying(), "a time for each vote"),
        (CategoryEffects(), "a category for each vote"),
    ]:
        with pytest.raises(ValueError, match=words), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bd.fit(bare, model)


@pytest.mark.parametrize(
    ("layer", "predictor", "response"),
    [
        pytest.param("order", "scores+x", "bradley-terry", marks=pytest.mark.slow),
        ("tastes", "items", "margin"),
    ],
)
def test_a_report_is_written(log, quick, tmp_path, layer, predictor, response):
    tree = fit(log, make(layer, predictor, response))
    page = bd.report(tree, tmp_path / "page.html", duels=log).read_text(encoding="utf-8")
    assert "<html" in page and "http" not in page.replace("http://www.w3.org", "")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    table().to_csv(path, index=False)
    return path


def run(*args):
    from bayesduel.cli import main

    return CliRunner().invoke(main, [*map(str, args)])


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("bradley-terry", ["--order-effect", "--covariates", "x"]),
        ("davidson", ["--covariates", "x"]),
        ("thurstone-score", ["--order-effect"]),
        ("perturbed-thurstone", ["--order-effect", "--covariates", "x"]),
    ],
)
def test_the_command_line_fits_layers_and_covariates(quick, file, tmp_path, model, options):
    path = tmp_path / "fit.nc"
    result = run("fit", file, "--model", model, "--draws", 100, "-o", path, *options)
    assert result.exit_code == 0, result.stderr
    found = model_of(xr.open_datatree(path))
    assert model in found.name
    assert found.reads_order == ("--order-effect" in options)
    assert (found.predictor.duel is not None) == ("--covariates" in options)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--model", "preference-matrix", "--order-effect"], "--order-effect cannot be used with"),
        (["--model", "preference-matrix", "--covariates", "x"], "--covariates cannot be used with"),
        (["--covariates", "length"], "no column 'length'"),
    ],
)
def test_the_command_line_names_what_it_refuses(file, tmp_path, args, words):
    result = run("fit", file, "-o", tmp_path / "fit.nc", *args)
    assert result.exit_code == 2 and words in " ".join(result.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("layer", LAYERS)
def test_the_whole_product(log, quick, tmp_path, layer, predictor, response):
    if layer == "tastes" and predictor != "items":
        with pytest.raises(ValueError, match="base should have the attributes of items"):
            make(layer, predictor, response)
        return
    model = make(layer, predictor, response).settled(log)
    tree = fit(log, model, clusters=True)
    robust = response not in COUPLED and layer in LINEAR
    told = robust or "judge" in model.accounts_for
    assert ("clusters" in tree) == robust and (tree.attrs["clusters_reason"] == "") == told
    with nullcontext() if told else pytest.warns(RepeatedVotesWarning, match="repeated by judge"):
        use(tree, model, log)
        page = bd.report(tree, tmp_path / "page.html", duels=log)
    assert page.stat().st_size > 10_000
    found = held_out(log, model, folds=2, draws=200)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)


@pytest.mark.slow
@each_of_covering
def test_each_pair_is_sampled(log, layer, predictor, response):
    model = make(layer, predictor, response).settled(log)
    tree = bd.fit(log, model, draws=200, chains=2)
    assert all(np.isfinite(v).all() for v in tree["posterior"].data_vars.values())
    told = not tree.attrs["clusters_reason"]
    with nullcontext() if told else pytest.warns(RepeatedVotesWarning, match="repeated by judge"):
        use(tree, model, log)


@pytest.mark.parametrize(
    "model",
    [
        OrderEffect(JudgeReliability(TimeVarying(BladeChest(Davidson()), periods=3))),
        JudgeReliability(OrderEffect(Thurstone())),
        JudgeTastes(OrderEffect(BradleyTerry(Covariates(ITEMS)))),
        OrderEffect(ThurstoneScore(Scores() + Covariates(["x"]), degrees=5)),
    ],
    ids=lambda m: m.name,
)
def test_layers_of_layers_predict_a_home_game_and_held_out_votes(log, quick, model):
    tree = fit(log, model)
    told = {at: bd.predict(tree, "a", ["b", "c"], left_advantage=at) for at in (False, True)}
    shift = told[True]["win"].values - told[False]["win"].values
    assert (shift != 0).all() and np.ptp(np.sign(shift)) == 0
    found = held_out(log, model, folds=2, draws=100)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)
    assert found.unit == "pair and judge"
