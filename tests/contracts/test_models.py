"""The product: every response with every pair of terms, through every consumer of a fit.

A model is a response and a list of terms, and both go together freely. What linear models take is
the engine itself; what only NUTS samples has points near the prior in place of draws. Fast tests
take a covering subset, slow ones the whole product, and NUTS itself.
"""

import json
import re
import warnings

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.inference.clusters import why_not_robust
from bayesduel.models import (
    BradleyTerry,
    CumulativeLogit,
    Davidson,
    JudgeTastes,
    PreferenceMatrix,
    Scores,
    ThurstoneScore,
    model_from_settings,
    model_settings,
)
from bayesduel.models.response import expected_score
from bayesduel.posterior.dependence import RepeatedVotesWarning
from bayesduel.posterior.draws import Draws
from bayesduel.posterior.generalizability import facets_of
from tests.support.product_of_terms import (
    ALONE,
    ARMS,
    COUPLED,
    COVERING,
    FEW,
    MODIFIERS,
    PAIRS,
    PRODUCT,
    RESPONSES,
    SAID,
    TERMS,
    UNITS,
    WORTH,
    draws_by_name,
    each,
    fit,
    ids,
    make,
    near_the_prior,
    table,
)

# The log has a covariate that most of the models leave out.
pytestmark = pytest.mark.filterwarnings("ignore:the log has covariates")


# -- every question ----------------------------------------------------------------------------


def said_of(model):
    """Return the conditions that the terms of a model read."""
    return {name: SAID[name] for part in model.terms for name in part.reads}


def ask(tree, model, log, units):
    """Ask a fit every question that is cheap; return its winners."""
    back = tree.duel.model
    assert (back.name, back.settings) == (model.name, model.settings)
    winners = bd.winners(tree)
    assert set(winners["arm"].values) == set(ARMS)
    assert float(winners["winner_share"].sel(criterion="borda").sum()) == pytest.approx(1)
    assert (winners.attrs["ranked_by"] == "score") == model.ranks_by_score
    told = bd.predict(tree, "a", "b")
    outcomes = [float(told[name]) for name in ("win", "tie", "loss") if name in told]
    assert sum(outcomes) == pytest.approx(1)
    assert ("margin" in told) == (model.response.outcome == "margin")
    assert len(bd.next_pairs(tree, 2)) == 2
    assert set(bd.top_k(tree, 2).members.index) == set(ARMS)
    facets = [part.by for part in facets_of(model)]
    if facets:
        found = bd.generalizability(tree)
        assert list(found.components.index) == ["arm", *facets, "vote"]
        assert found.components["share"].sum() == pytest.approx(1)
        assert (found.components["variance"] > 0).all() and (found.designs["error"] > 0).all()
        assert set(found.levels["facet"]) == set(facets)
        json.dumps(found.to_dict(), allow_nan=False)
    ask_under_conditions(tree, model, log)
    ask_for_replicates(tree, model, log)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for unit in units:
            found = bd.compare_models(log, {"one": tree, "same": tree}, unit=unit, folds=0).table
            assert found["elpd"].nunique() == 1 and np.isfinite(found["elpd"]).all()
    return winners


def ask_under_conditions(tree, model, log):
    """A duel of the log is predicted as the cell that the likelihood has of it."""
    cells, draws = model.cells(log, each=True), draws_by_name(tree)
    rows, ordered = np.arange(12), model.terms.reads_order
    frame = table()[["left", "right", *said_of(model)]].iloc[rows]
    here = cells.take(rows).data
    if model.response.coupled:  # pairs share a parameter: the cell of the pair has both orders
        here = {**here, **({"left_first": np.ones(12)} if ordered else {})}
    expected = model.outcomes(draws, here | model.terms.tables(log.arms))
    found = bd.predict(tree, frame, side_advantage=ordered, covariance="model")
    for name, values in expected.items():
        np.testing.assert_allclose(found[name].values, values.mean(axis=0), atol=1e-10)
    neutral = bd.predict(tree, frame[["left", "right"]], side_advantage=False, covariance="model")
    for name in [*said_of(model), *(["side_advantage"] if ordered else [])]:
        asked = {name: frame[name].tolist()} if name in frame else {name: True}
        if TERMS["sides"] in list(model.terms) and name in ("half", "side_advantage"):
            asked = {"half": frame["half"].tolist(), "side_advantage": True}  # both, or nothing
        moved = bd.predict(tree, frame[["left", "right"]], covariance="model", **asked)
        assert (moved["win"].values != neutral["win"].values).any(), name
    if not ordered:
        with pytest.raises(ValueError, match="side_advantage=True needs a fit"):
            bd.predict(tree, "a", "b", side_advantage=True)
    with pytest.raises(ValueError, match="does not depend on 'weather'"):
        bd.predict(tree, "a", "b", weather="rain")


def ask_for_replicates(tree, model, log):
    """Replicates are about as the outcomes that are expected under the log's own conditions."""
    made = bd.posterior_predictive(tree, draws=200, seed=1)
    (name,) = [n for n in made["posterior_predictive"] if n != "points"]
    values = made["posterior_predictive"][name].values[0]
    assert values[0].shape == made["observed_data"][name].shape and np.isfinite(values).all()
    draws = draws_by_name(tree)
    if name == "margin":
        cells = model.cells(log, each=True)
        here = dict(cells.data)
        if model.terms.reads_order:
            here["left_first"] = np.ones(len(cells))
        expected = model.margins(draws, here | model.terms.tables(log.arms))[0].mean(axis=0)
        spread = values.std(axis=0) / np.sqrt(len(values) / 4)  # draws are few, some repeat
    else:
        cells = model.cells(log)
        results = model.results(draws, cells.data | model.terms.tables(log.arms))
        expected = results.mean(axis=0) * cells.data["n"][:, None]
        expected = expected if values.ndim == 3 else expected[:, 0]
        spread = values.std(axis=0) / np.sqrt(len(values) / 4) + 0.05
    away = (values.mean(axis=0) - expected) / spread
    assert np.sqrt(np.mean(away**2)) < 2


@each(
    [
        pytest.param(*case, marks=pytest.mark.slow if n % 2 else [])
        for n, case in enumerate(COVERING[1::2])
    ]
)
@pytest.mark.sampled(4)
def test_one_likelihood(log, response, terms):
    """NumPy's likelihood is the pm.Model's, and outcomes have probabilities."""
    model = make(response, terms).settled(log)
    cells = model.cells(log)
    points, expected = near_the_prior(model, cells, 3, 1)
    posterior = model.complete(points, cells, np.random.default_rng(1))
    found = model.log_likelihood(posterior, cells)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    P = model.preference(posterior)
    np.testing.assert_allclose(P + P.swapaxes(1, 2), 1.0, atol=1e-12)
    chances = model.outcomes(posterior, cells.data | model.terms.tables(log.arms))
    np.testing.assert_allclose(sum(chances.values()), 1.0, atol=1e-12)
    score = model.expected_score(posterior, cells.data | model.terms.tables(log.arms))
    np.testing.assert_array_equal(score, expected_score(chances))
    draws = Draws(model, posterior, np.arange(len(ARMS)), len(ARMS))
    for first, second, _, by_pair in draws.outcomes():
        by_pair |= {"loss": 1 - sum(by_pair.values())}
        for outcome, chance in draws.chances(slice(None), first, second).items():
            np.testing.assert_allclose(by_pair[outcome].T, chance, atol=1e-12)
    assert model_from_settings(model_settings(model), items=model.terms.items) == model


@each(FEW)
@pytest.mark.filterwarnings("ignore::bayesduel.posterior.dependence.RepeatedVotesWarning")
@pytest.mark.sampled(6)
def test_every_question(log, quick, response, terms):
    model = make(response, terms).settled(log)
    ask(fit(log, model, clusters=False), model, log, ["pair"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("response", "terms", "worth"),
    [
        ("bradley-terry", ("order",), "two sources"),
        pytest.param("bradley-terry", ("order",), "sources", marks=pytest.mark.slow),
        # a minute, as draws are doubted and drawn again
        pytest.param("bradley-terry", ("order", "judge"), "sources", marks=pytest.mark.slow),
        pytest.param("davidson", ("sides", "x"), "two sources", marks=pytest.mark.slow),
        pytest.param("margin", ("sides",), "mix", marks=pytest.mark.slow),
        pytest.param("student", (), "two sources", marks=pytest.mark.slow),  # three minutes
        pytest.param("thurstone", ("reliability",), "two sources", marks=pytest.mark.slow),
        pytest.param("residuals", ("walk",), "mix", marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesduel.posterior.dependence.RepeatedVotesWarning")
def test_every_question_of_the_target(log, quick, tmp_path, response, terms, worth):
    """Of scores by source: what is asked without a source concerns the target."""
    model = make(response, terms, worth).settled(log)
    tree = fit(log, model, clusters=False)
    ask(tree, model, log, ["pair"])
    source = model.terms.arms[0]
    by = tree["posterior"]["score_by_source"].transpose("chain", "draw", source.by, "arm").values
    mixed = np.einsum("s,cdsk->cdk", source.weights, by)
    np.testing.assert_allclose(tree["posterior"]["score"].values, mixed, atol=1e-12)
    found = bd.sources(tree)
    assert list(found.table.index) == list(source.levels) and found.table["votes"].sum() == 240
    limits = found.table[["correlation_lower", "correlation", "correlation_upper"]].to_numpy()
    assert (np.diff(limits) >= 0).all() and (np.abs(limits) <= 1 + 1e-9).all()
    apart = found.table["target"] < 1
    assert found.table["worth"].isna().to_numpy().tolist() == [
        worth == "mix" or not one for one in apart
    ]
    assert list(found.to_dict()) == ["sentence", "target", "unit", "ci_prob", "table", "arms"]
    if worth == "two sources":
        own = bd.predict(tree, "a", "b", covariance="model", half="h0")
        neutral = bd.predict(tree, "a", "b", covariance="model")
        if not terms:
            assert float(own["win"]) == pytest.approx(float(neutral["win"]))
    assert bd.report(tree, tmp_path / "page.html", duels=log).stat().st_size > 10_000


def audited(log, model):
    """Audit a fit by votes and judges, or see why not; what it says is confirmed by a refit."""
    tree = fit(log, model, clusters=False)
    if why := model.why_not("laplace"):
        with pytest.raises(ValueError, match=f"only NUTS samples it .{re.escape(why)}"):
            bd.audit(tree, log)
        return
    found = bd.audit(tree, log, by=("vote", "judge"), share=0.4)
    assert [*zip(found.fragility["by"], found.fragility["change"], strict=True)] == [
        (by, change) for by in ("vote", "judge") for change in ("removed", "reversed")
    ]
    for row in found.fragility.to_dict("records"):
        changed = found.changed[
            (found.changed["by"] == row["by"]) & (found.changed["change"] == row["change"])
        ]
        if np.isnan(row["needed"]):
            assert not len(changed) and row["new"] == ()
            continue
        assert 1 <= row["needed"] <= row["limit"] < row["of"] and row["lost"] == found.ahead
        assert changed["votes"].sum() == row["votes"] <= log.n_duels
        assert len(changed) == row["needed"] if row["by"] == "judge" else row["votes"]
    judges = found.improbable
    assert judges["votes"].sum() == log.n_duels and set(judges["level"]) == set(log.votes.judges)
    assert judges["p_value"].between(0, 1).all() and (judges["points"] <= judges["duels"]).all()
    assert found.stops["votes"].tolist() == [24 * k for k in range(1, 11)]
    assert found.stops["leader"].iloc[-1] in log.arms
    json.dumps(found.to_dict(), allow_nan=False)


AUDITED = [
    ("bradley-terry", (), None),
    ("margin", ("sides",), None),
    ("bradley-terry", ("cycles",), None),
    *(
        pytest.param(response, terms, worth, marks=pytest.mark.slow)
        for response, terms, worth in [
            *((response, terms, None) for response, terms in FEW),
            *(("thurstone", ("order",), None), ("davidson", ("x",), None)),
            *(("thurstone", (), "items"), ("margin by arm", (), None)),
            *((response, (), worth) for response in RESPONSES for worth in WORTH),
            ("bradley-terry", ("order",), "two sources"),
        ]
    ),
]


@pytest.mark.parametrize(
    ("response", "terms", "worth"), AUDITED, ids=lambda v: "default" if v is None else ids(v)
)
@pytest.mark.filterwarnings("ignore::bayesduel.posterior.dependence.RepeatedVotesWarning")
def test_every_model_is_audited_or_says_why_not(log, quick, response, terms, worth):
    audited(log, make(response, terms, worth).settled(log))


def test_a_preference_matrix_is_audited(log, quick):
    audited(log, PreferenceMatrix())


@each([("bradley-terry", ("judge",)), ("margin", ("order", "x")), ("davidson", ("cycles",))])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.sampled(3)
def test_any_unit_is_left_out(log, quick, response, terms, unit):
    tree = fit(log, make(response, terms), clusters=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bd.compare_models(log, {"one": tree, "same": tree}, unit=unit, folds=0).table
    assert found["elpd"].nunique() == 1 and np.isfinite(found["elpd"]).all()


@each(FEW[::5])
@pytest.mark.sampled(4)
def test_held_out_votes_are_predicted(log, quick, response, terms):
    found = held_out(log, make(response, terms), folds=2, draws=100)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)


# -- errors of repeated votes ------------------------------------------------------------------


@pytest.mark.parametrize("response", RESPONSES, ids=ids)
def test_errors_are_robust_or_the_reason_is_named(response):
    for terms in [(), *ALONE, *PAIRS]:
        reason = why_not_robust(make(response, terms))
        if response in COUPLED:
            assert "share a parameter" in reason, terms
        elif set(terms) & set(MODIFIERS):
            assert "no mode" in reason and "not linear" in reason, terms
        else:
            assert not reason, terms


@each(
    [
        ("davidson", ("order", "x")),
        ("margin by arm", ()),
        ("bradley-terry", ("category",)),
        ("student", ("walk",)),
    ]
)
def test_robust_errors_are_those_of_the_draws_used(log, quick, response, terms):
    tree = fit(log, make(response, terms))
    group = tree["clusters"]
    assert group["clustering"].values.tolist() == [tree.attrs["clusters_auto"]] == ["judge"]
    assert (group["score_se_cluster"] > 0).all()
    assert bd.winners(tree, covariance="judge").attrs["covariance"] == "judge"


def test_why_errors_are_not_robust_is_kept(log, quick):
    tree = fit(log, ThurstoneScore(variances="pair"))
    assert "clusters" not in tree and "share a parameter" in tree.attrs["clusters_reason"]
    with pytest.warns(RepeatedVotesWarning, match="repeated by judge"):
        bd.winners(tree)


@each([("thurstone", ("judge",)), ("bradley-terry", ("tastes",))])
def test_votes_of_a_judge_whom_a_term_explains_are_said_to_be(log, quick, response, terms):
    tree = fit(log, make(response, terms))
    assert tree.attrs["clusters_reason"] == ""
    assert ("clusters" in tree) == (terms == ("judge",))  # a spread is held against the clusters
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedVotesWarning)
        bd.winners(tree)


# -- what cannot go together -------------------------------------------------------------------


def test_what_cannot_go_together_is_refused_with_a_reason(log):
    for response in RESPONSES.values():
        with pytest.raises(ValueError, match="JudgeTastes needs the term Covariates"):
            response(Scores() + JudgeTastes())
    with pytest.raises(ValueError, match="got 'judge_spread' of tastes and of reliability"):
        make("bradley-terry", ("tastes", "reliability"))
    with pytest.raises(ValueError, match="got 'order' twice"):
        make("bradley-terry", ("order", "order"))
    for term in TERMS.values():
        with pytest.raises(TypeError, match="terms should be added to a model with scores"):
            PreferenceMatrix() + term
    with pytest.raises(ValueError, match="tie"):
        bd.compare_models(log, [BradleyTerry(), Davidson()])
    with pytest.raises(ValueError, match="cumulative-logit score grades, and bradley-terry"):
        bd.compare_models(log, [BradleyTerry(), CumulativeLogit()])
    bare = bd.Duels.from_votes("abca", "bcab", [1, 0, 1, 1])
    for model, words in [
        (ThurstoneScore(), "this model needs margins"),
        (CumulativeLogit(), "this model needs grades"),
        (make("bradley-terry", ("x",)), "the log should have the covariates 'x'"),
        (make("bradley-terry", ("judge",)), "duels should have the judge of each vote"),
        (make("bradley-terry", ("prompt",)), r"keep=\['prompt'\]"),
        (make("bradley-terry", ("reliability",)), "duels should have the judge of each vote"),
        (make("bradley-terry", ("walk",)), "a time for each vote"),
        (make("bradley-terry", ("category",)), "the category of each vote"),
    ]:
        with pytest.raises(ValueError, match=words), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bd.fit(bare, model)


# -- pages and commands ------------------------------------------------------------------------


@each([("margin", ("order", "judge"))])  # of the others, tastes too, the whole product
def test_a_report_is_written(log, quick, tmp_path, response, terms):
    tree = fit(log, make(response, terms))
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
        ("bradley-terry", ["--side-advantage", "--covariates", "x"]),
        ("davidson", ["--covariates", "x"]),
        ("thurstone-score", ["--side-advantage"]),
        ("perturbed-thurstone", ["--side-advantage", "--covariates", "x"]),
    ],
)
@pytest.mark.sampled(4)
def test_the_command_line_fits_terms(quick, file, tmp_path, model, options):
    path = tmp_path / "fit.nc"
    result = run("fit", file, "--model", model, "--draws", 100, "-o", path, *options)
    assert result.exit_code == 0, result.stderr
    found = xr.open_datatree(path).duel.model
    assert model in found.name
    assert found.terms.reads_order  # asked for, or found
    assert ("covariates" in found.name) == ("--covariates" in options)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ["--model", "preference-matrix", "--side-advantage"],
            "--side-advantage cannot be used with",
        ),
        (["--model", "preference-matrix", "--covariates", "x"], "--covariates cannot be used with"),
        (["--covariates", "length"], "no column 'length'"),
    ],
)
def test_the_command_line_names_what_it_refuses(file, tmp_path, args, words):
    result = run("fit", file, "-o", tmp_path / "fit.nc", *args)
    assert result.exit_code == 2 and words in " ".join(result.stderr.split())


# -- the whole product, and NUTS itself --------------------------------------------------------


@pytest.mark.slow
@each(PRODUCT)
def test_the_whole_product(log, quick, tmp_path, response, terms):
    model = make(response, terms).settled(log)
    tree = fit(log, model)
    explained = "judge" in model.terms.explains
    checked = "judge" in model.terms.samples
    robust = not why_not_robust(model) and (checked or not explained)
    assert ("clusters" in tree) == robust
    assert (tree.attrs["clusters_reason"] == "") == (robust or explained)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if robust or explained else "ignore", RepeatedVotesWarning)
        ask(tree, model, log, UNITS)
        page = bd.report(tree, tmp_path / "page.html", duels=log)
    assert page.stat().st_size > 10_000
    found = held_out(log, model, folds=2, draws=200)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)


@pytest.mark.slow
@each(COVERING)
def test_nuts_and_the_engine_agree(log, response, terms):
    """The means of the scores, within five of their Monte Carlo errors."""
    model = make(response, terms).settled(log)
    by_nuts = bd.fit(log, model, "pymc", draws=1000, chains=2, clusters=False)
    assert all(np.isfinite(v).all() for v in by_nuts["posterior"].data_vars.values())
    if model.why_not("laplace"):
        return
    name = "score" if "score" in by_nuts["posterior"] else "strength"
    engine = bd.fit(log, model, draws=2000, chains=2, clusters=False)["posterior"][name]
    score, effective = by_nuts["posterior"][name], float(by_nuts.attrs["importance_ess"])
    spread = score.std(("chain", "draw"))
    away = np.abs(score.mean(("chain", "draw")) - engine.mean(("chain", "draw"))) / spread
    assert float(away.max()) < 0.05 + 5 * np.sqrt(1 / effective + 1 / 1000)
    assert 0.85 < float((engine.std(("chain", "draw")) / spread).mean()) < 1.15
