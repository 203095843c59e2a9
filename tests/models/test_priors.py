"""Priors by name: what they are, where they are said, and that every route has the same ones."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.inference.design import centre, reduce
from bayesduel.inference.gaussian_prior import Families, before_centring, log_projected
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.prior import log_priors, prior_draws
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    CumulativeLogit,
    Davidson,
    PreferenceMatrix,
    RandomEffects,
    Scale,
    Scores,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
    model_from_settings,
    model_settings,
)

Prior = bd.Prior
pytestmark = pytest.mark.filterwarnings("ignore::bayesduel.inference.fit.UnusedCovariatesWarning")


def normal(mu, sigma):
    return Prior("Normal", mu=mu, sigma=sigma)


@pytest.fixture(scope="module")
def log():
    """Votes of five arms by four judges in order, with ties, times and a covariate."""
    rng = np.random.default_rng(59)
    score, n = rng.normal(size=5), 240
    first = rng.integers(0, 5, n)
    second = (first + rng.integers(1, 5, n)) % 5
    length = rng.normal(size=n)
    eta = score[first] - score[second] + 0.3 + 0.4 * length
    weights = np.exp(np.stack([eta / 2, -eta / 2, np.full(n, -0.7)], axis=1))
    level = rng.random(n) * weights.sum(axis=1)
    outcome = np.array(["left", "right", "tie"])[(level[:, None] > weights.cumsum(axis=1)).sum(1)]
    columns = {"left": [f"a{i}" for i in first], "right": [f"a{j}" for j in second]}
    columns |= {"outcome": outcome, "length": length, "time": np.arange(n)}
    columns["judge"] = [f"j{k}" for k in rng.integers(0, 4, n)]
    return bd.read_duels(pd.DataFrame(columns), covariates=["length"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("Norml", {"mu": 0}), "did you mean 'Normal'"),
        (("Normal", {"mu": 0}), "mu and sigma"),
        (("Normal", {"mu": 0, "sigma": -1}), "sigma > 0"),
        (("Normal", {"mu": np.nan, "sigma": 1}), "finite"),
        (("Normal", {"mu": "a", "sigma": 1}), "should be a number"),
        (("Poisson", {"mu": 2}), "for a real number"),
        (("MvNormal", {"mu": 2}), "for a real number"),
        (("Gamma", {"shape": 1, "beta": 2}), "alpha"),
        (("Gamma", {"alpha": -1, "beta": 2}), "alpha > 0"),
        ((3, {}), "should be text"),
    ],
)
def test_a_distribution_is_checked(given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Prior(given[0], **given[1])


@pytest.mark.parametrize(
    "text", ["Normal", "Normal(", "Normal(0, x)", "Normal(0, 1, 2)", "0.5", ""]
)
def test_a_text_is_checked(text):
    with pytest.raises(ValueError, match="should"):
        Prior.parsed(text)


@pytest.mark.parametrize(
    ("places", "names", "prior"),
    [
        ((0.1, 0.05), {}, Prior("Normal", mu=0.1, sigma=0.05)),
        ((0.1,), {"sigma": 0.05}, Prior("Normal", mu=0.1, sigma=0.05)),
        ((0.1, 0.05), {"mu": 1}, "each parameter once, got mu twice"),
        ((0.1, 0.05, 1), {}, r"parameters mu and sigma, got Normal\(0.1, 0.05, 1\)"),
        ((0.1,), {}, "should have the parameters mu and sigma"),
        (("x", 1), {}, "mu of Normal should be"),
    ],
)
def test_parameters_come_in_pymcs_order_or_by_name(places, names, prior):
    if isinstance(prior, Prior):
        assert Prior("Normal", *places, **names) == prior
        return
    with pytest.raises((TypeError, ValueError), match=prior):
        Prior("Normal", *places, **names)


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("Normal(0.1, 0.05)", normal(0.1, 0.05)),
        (" HalfNormal( sigma = 5e-1 ) ", Prior("HalfNormal", sigma=0.5)),
        ("StudentT(4, 0, sigma=0.2)", Prior("StudentT", nu=4, mu=0, sigma=0.2)),
        ("Normal(-1, sigma=2)", normal(-1, 2)),
    ],
)
def test_texts_are_read_and_records_keep(text, prior):
    assert Prior.parsed(text) == prior == Prior.parsed(str(prior)) == eval(repr(prior))
    assert pickle.loads(pickle.dumps(prior)) == prior and hash(prior) == hash(Prior.parsed(text))
    with pytest.raises(AttributeError):
        prior.distribution = "Cauchy"


@pytest.mark.parametrize(
    ("prior", "frozen"),
    [
        (normal(1, 2), stats.norm(1, 2)),
        (Prior("HalfNormal", sigma=2), stats.halfnorm(scale=2)),
        (Prior("LogNormal", mu=1, sigma=0.5), stats.lognorm(0.5, scale=np.e)),
        (Prior("Gamma", alpha=2, beta=3), stats.gamma(2, scale=1 / 3)),
        (Prior("Exponential", lam=2), stats.expon(scale=0.5)),
        (Prior("InverseGamma", alpha=3, beta=2), stats.invgamma(3, scale=2)),
        (Prior("HalfStudentT", nu=4, sigma=2), None),
    ],
    ids=lambda one: str(one) if isinstance(one, Prior) else "",
)
def test_densities_of_numbers_and_of_logarithms(prior, frozen):
    values = np.array([0.1, 0.7, 2.0, 5.0])
    exact = np.log(2) + stats.t(4, scale=2).logpdf(values) if frozen is None else None
    exact = frozen.logpdf(values) if exact is None else exact
    np.testing.assert_allclose(prior.log_density(values), exact, rtol=1e-6)
    if not prior.positive:
        with pytest.raises(ValueError, match="positive numbers"):
            Scale("half-normal", prior)
        return
    scale = Scale("half-normal", prior)
    np.testing.assert_allclose(
        scale.log_density(np.log(values), 7.0), exact + np.log(values), rtol=1e-6
    )
    if frozen is not None:
        drawn = np.log(frozen.rvs(200_000, random_state=1))
        # standard errors of means and deviations of 200,000 draws: 0.003 at most, five of these
        np.testing.assert_allclose(scale.of_logarithm(7.0), [drawn.mean(), drawn.std()], atol=0.015)


@pytest.mark.parametrize("variance", [None, 0.0, 0.3, 9.0])
def test_centred_scores_have_the_density_of_projected_normals(variance):
    rng = np.random.default_rng(1)
    away, deviation = centre(rng.normal(size=(3, 4))), rng.uniform(0.2, 2.0, (3, 5))
    basis, member = centre(np.eye(4)).T, np.eye(2)[[0, 1, 0, 0, 1]]
    families = None if variance is None else Families(member, np.full((3, 1), variance))
    shared = (variance or 0.0) * member @ member.T
    whole = [basis.T @ (np.diag(d**2) + shared) @ basis for d in deviation]
    exact = [
        stats.multivariate_normal(np.zeros(4), covariance).logpdf(basis.T @ a)
        for a, covariance in zip(away, whole, strict=True)
    ]
    np.testing.assert_allclose(log_projected(away, deviation**-2.0, families), exact)
    one = None if variance is None else Families(member, np.full((1, 1), variance))
    precision = reduce(before_centring(deviation[0] ** -2.0, one))
    np.testing.assert_allclose(np.linalg.inv(precision), whole[0], atol=1e-12)


KIN = {"a0": "x", "a1": "x", "a2": "y", "a3": "y", "a4": "z"}
CASES = {  # a model, and priors of every kind that it takes
    "scores": (BradleyTerry(), {"score": {"a0": normal(1, 0.2), "a3": normal(-1, 0.5)}}),
    "every score": (Thurstone(), {"score": normal(0.5, 0.3)}),
    "numbers": (Davidson() + SideAdvantage(), {"tie": normal(-2, 0.1), "order": normal(1, 0.1)}),
    "scale": (BradleyTerry() + SideAdvantage(), {"scale": Prior("Gamma", alpha=8, beta=4)}),
    "spread": (
        BradleyTerry() + RandomEffects("judge"),
        {"judge_scale": Prior("LogNormal", mu=0, sigma=0.2), "score": {"a1": normal(0, 0.1)}},
    ),
    "labels": (
        BradleyTerry(Scores() + Covariates(["length"]) + SideAdvantage(by="judge")),
        {"covariate_effect": {"length": normal(0, 0.05)}, "order_by_judge": {"j1": normal(2, 0.1)}},
    ),
    "family": (BradleyTerry(Scores(family=KIN)), {"family_scale": "Exponential(2)"}),
    "family and arms": (BradleyTerry(Scores(family=KIN)), {"score": {"a1": normal(0.5, 0.2)}}),
    "drift": (BradleyTerry() + TimeVarying(periods=3), {"drift": Prior("Exponential", lam=3)}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_prior_draws_of_pymc_have_the_prior_of_the_quick_route(case, log):
    """Mean and covariance of coefficients, at scales that are known: 6 standard errors of draws."""
    model, priors = CASES[case]
    known = {n: Prior("LogNormal", mu=-0.5, sigma=1e-6) for n in model.with_priors(priors).scales}
    model = model.with_priors({**priors, **known}).settled(log)
    cells, n = model.cells(log), 4000
    density = linear_predictor(model, cells)
    draws = prior_draws(model, log, n, 3)
    if "score" in draws and "score_free" in density.blocks:
        draws["score_free"] = centre(np.eye(log.n_arms - 1)).T.T @ draws["score"].T
        draws["score_free"] = draws["score_free"].T
    found = {name: draws[name] for name in density.blocks if name in draws}
    if set(found) != set(density.blocks):  # what is centred over the arms is not its free numbers
        found = {name: v for name, v in found.items() if name == "score_free" or v.ndim < 3}
    prior = density.prior(np.full(len(known), -0.5))
    covariance = np.linalg.inv(prior.precision)
    start = 0
    for name, length in density.blocks.items():
        here = slice(start, start + (length or 1))
        start = here.stop
        if name not in found or (
            density.terms.get(name) and density.terms[name].term.scales and (name != "score_free")
        ):
            continue
        values = found[name].reshape(n, -1)
        deviation = np.sqrt(covariance.diagonal()[here])
        standard = (values - prior.mean[here]) / deviation
        assert np.abs(standard.mean(axis=0)).max() < 6 / n**0.5
        exact = covariance[here, here] / np.outer(deviation, deviation)
        assert np.abs(standard.T @ standard / n - exact).max() < 6 * 2**0.5 / n**0.5


@pytest.mark.parametrize("case", CASES)
def test_log_priors_move_as_the_densities(case, log):
    """Log densities of the draws: those of each prior that was said, but for a constant."""
    model, priors = CASES[case]
    model = model.with_priors(priors).settled(log)
    cells = model.cells(log)
    draws = prior_draws(model, log, 20, 1)
    found = log_priors(model, draws, cells)
    assert set(priors) <= set(found)
    for name, said in model.said.items():
        if isinstance(said, Prior) and name != "score":
            exact = said.log_density(draws[name]).reshape(20, -1).sum(axis=1)
            np.testing.assert_allclose(found[name], exact)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(3)
def test_settings_and_files_keep_priors(case, log, tmp_path):
    model, priors = CASES[case]
    model = model.with_priors(priors)
    stored = json.loads(json.dumps(model_settings(model)))
    assert model_from_settings(stored) == model and model.name == CASES[case][0].name
    fit = bd.fit(log, CASES[case][0], priors=priors, draws=400, clusters=False)
    assert fit.attrs["method"] == "laplace", fit.attrs["method_reason"]
    fit.to_netcdf(tmp_path / "fit.nc")
    again = bd.load(tmp_path / "fit.nc")
    assert again.duel.model.said == model.said
    table = bd.priors(log, model)
    for name, said in model.said.items():
        labels = [name] if isinstance(said, Prior) else [f"{name}[{x}]" for x in said]
        each = [said] if isinstance(said, Prior) else said.values()
        for label, one in zip(labels, each, strict=True):
            at = label if label in table.index else name
            assert table.loc[at, "prior"] == str(one) and table.loc[at, "said"]
    assert not bd.priors(log, CASES[case][0])["said"].any()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("on_terms", "by_name"),
    [
        (Scores(prior={"a0": normal(1, 0.2)}), {"score": {"a0": normal(1, 0.2)}}),
        (Scores(prior=normal(0, 0.3)), {"score": normal(0, 0.3)}),
        (Scores(Prior("HalfNormal", sigma=0.5)), {"scale": Prior("HalfNormal", sigma=0.5)}),
        (Scores() + SideAdvantage(normal(1, 0.1)), {"order": normal(1, 0.1)}),
        (
            Scores() + RandomEffects("judge", Prior("Gamma", alpha=2, beta=4)),
            {"judge_scale": "Gamma(2, 4)"},
        ),
        (
            Scores() + Covariates(["length"], scale=normal(0.2, 0.1)),
            {"covariate_effect": normal(0.2, 0.1)},
        ),
        (Scores() + TimeVarying(prior=Prior("Exponential", lam=3)), {"drift": "Exponential(3)"}),
    ],
    ids=lambda given: str(given)[:40],
)
def test_priors_on_terms_are_those_by_name(on_terms, by_name, log):
    kinds = {type(part): part for part in BradleyTerry(on_terms).terms}
    plain = {
        Scores: Scores(),
        SideAdvantage: SideAdvantage(),
        RandomEffects: RandomEffects("judge"),
    }
    plain[TimeVarying] = TimeVarying()
    parts = [plain.get(kind, Covariates(["length"])) for kind in kinds]
    bare = BradleyTerry(sum(parts[1:], parts[0]))
    given = bd.fit(log, BradleyTerry(on_terms), draws=200, clusters=False)
    named = bd.fit(log, bare, priors=by_name, draws=200, clusters=False)
    for name, values in named["posterior"].data_vars.items():
        np.testing.assert_array_equal(given["posterior"][name], values)


@pytest.mark.parametrize(
    ("model", "priors", "words"),
    [
        (
            Davidson(),
            {"foo": normal(0, 1)},
            "got 'foo'. The variables are 'scale', 'tie' and 'score'",
        ),
        (Davidson(), {"scale": normal(0, 1)}, "positive numbers"),
        (Davidson(), {"tie": {"a": normal(0, 1)}}, "tie should have one prior"),
        (Davidson(), {"score": {"a9": normal(0, 1)}}, "got 'a9'"),
        (Davidson(), {"score": 3}, "prior of score should be a bayesduel.Prior"),
        (Davidson(), [1], "a dictionary by variable"),
        (BradleyTerry() + RandomEffects("judge"), {"judge_deviation": normal(0, 1)}, "judge_scale"),
        (BradleyTerry(scale=np.inf), {"score": normal(0, 1)}, "is flat"),
        (BradleyTerry(scale=1.0), {"scale": "HalfNormal(1)"}, "got 'scale'"),
        (PreferenceMatrix(), {"score": normal(0, 1)}, "of a model with scores"),
    ],
)
def test_what_is_no_prior_of_a_model_is_refused(model, priors, words, log):
    with pytest.raises((TypeError, ValueError), match=words):
        bd.fit(log, model, priors=priors)


FOR_NUTS = {"order": Prior("StudentT", nu=4, mu=0, sigma=0.1), "score": {"a0": "Laplace(1, 0.1)"}}


def test_a_prior_that_the_quick_route_cannot_take_goes_to_nuts(log, monkeypatch):
    """With the model that has it; the next test samples it, which takes PyMC 14 seconds."""
    asked = []

    def sampler(model, cells, **settings):
        asked.append((model, settings["notice"]))
        raise ZeroDivisionError("not sampled")

    monkeypatch.setattr("bayesduel.inference.fit.sample_nuts", sampler)
    with pytest.raises(ValueError, match="the prior of order is StudentT"):
        bd.fit(log, BradleyTerry() + SideAdvantage(), "laplace", priors=FOR_NUTS)
    with pytest.raises(ZeroDivisionError, match="not sampled"):
        bd.fit(log, BradleyTerry() + SideAdvantage(), priors=FOR_NUTS)
    ((model, notice),) = asked
    assert model.said["order"] == FOR_NUTS["order"] and "StudentT" in notice
    assert model.said["score"] == {"a0": Prior("Laplace", mu=1, b=0.1)}


@pytest.mark.slow
def test_nuts_samples_a_prior_that_the_quick_route_cannot_take(log):
    fit = bd.fit(log, BradleyTerry() + SideAdvantage(), priors=FOR_NUTS, draws=400, clusters=False)
    assert fit.attrs["method"] == "nuts" and "StudentT" in fit.attrs["method_reason"]
    assert set(fit["posterior"].data_vars) == {"score", "scale", "order"}
    np.testing.assert_allclose(fit["posterior"]["score"].sum("arm"), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("priors", "sparse"),
    [
        ({"scale": Prior("HalfNormal", sigma=0.1)}, True),
        ({"scale": Prior("Gamma", alpha=2, beta=4)}, False),
        ({"order": normal(0.1, 0.05)}, False),
    ],
)
def test_the_sparse_route_takes_the_scale_it_knows(priors, sparse):
    log = bd.datasets.load("springall")
    model = BradleyTerry() + SideAdvantage()
    if not sparse:
        with pytest.raises(ValueError, match="this method cannot use the prior of"):
            bd.fit(log, model, "variational", priors=priors)
        return
    quick = bd.fit(log, model, priors=priors, draws=500, clusters=False)
    found = bd.fit(log, model, "gibbs", priors=priors, draws=500, clusters=False)
    usual = bd.fit(log, model, draws=500, clusters=False)
    means = [float(f["posterior"]["scale"].mean()) for f in (quick, found, usual)]
    assert abs(means[0] - means[1]) < 0.1 * means[0] and means[2] > 1.2 * means[0]


@pytest.mark.parametrize("model", [Thurstone(), ThurstoneScore(), CumulativeLogit()], ids=str)
@pytest.mark.slow
def test_quick_fits_are_those_of_nuts(model, log):
    """Means within 0.15 and deviations within 12 %: some six errors of 4,000 draws."""
    name = {"thurstone": "tennis1990", "thurstone-score": "icehockey"}.get(model.name)
    if name:
        log = bd.datasets.load(name)
    priors = {"score": {log.arms[0]: normal(0.5, 0.2), log.arms[1]: normal(0.0, 0.1)}}
    if model.name == "cumulative-logit":
        rng = np.random.default_rng(2)
        left = rng.integers(0, 6, 150)
        right = (left + rng.integers(1, 6, 150)) % 6
        names, grade = np.array([f"a{k}" for k in range(6)]), rng.integers(-2, 3, 150)
        log = bd.Duels.from_votes(names[left], names[right], (np.sign(grade) + 1) / 2, grade=grade)
        priors = {"score": {"a0": normal(0.5, 0.2), "a1": normal(0.0, 0.1)}}
    quick = bd.fit(log, model, "laplace", priors=priors, clusters=False)
    exact = bd.fit(log, model, "pymc", priors=priors, clusters=False)
    for name in exact["posterior"].data_vars:
        one, other = (f["posterior"][name] for f in (quick, exact))
        spread = other.std(("chain", "draw"))
        away = np.abs(one.mean(("chain", "draw")) - other.mean(("chain", "draw"))) / spread
        assert float(away.max()) < 0.15
        assert float(np.abs(one.std(("chain", "draw")) / spread - 1).max()) < 0.12


@pytest.mark.parametrize(
    "args",
    [
        ["winners", "baseball1987", "--json"],
        ["check", "baseball1987", "--quick", "--json"],
        ["calibrate", "baseball1987", "-n", "20", "--draws", "100", "-o", "OUT.nc"],
        ["fit", "baseball1987", "-o", "OUT.nc"],
        ["report", "baseball1987", "-o", "OUT.html"],
        ["study", "new", "OUT.study", "--arms", "a,b", "--term", "order"],
        ["attributes", "chameleons", "--json"],
    ],
    ids=lambda args: args[0],
)
def test_the_command_line_takes_priors(args, tmp_path):
    args = [str(tmp_path / a) if a.startswith("OUT") else a for a in args]
    said = ["--prior", "order=Normal(0.1, 0.05)"]
    if args[0] == "check":
        said += ["--term", "order"]
    if args[0] == "attributes":
        said = [
            "--prior",
            "effect_scale=HalfNormal(0.5)",
            "--prior",
            "coefficient[ch.res]=Normal(1, 1)",
        ]
    answer = CliRunner().invoke(main, [*args, *said])
    assert answer.exit_code == 0, answer.output
    if args[0] == "fit":
        fit = bd.load(tmp_path / "OUT.nc")
        assert fit.duel.model.said == {"order": normal(0.1, 0.05)}
        assert abs(float(fit["posterior"]["order"].mean()) - 0.12) < 0.02
        answer = CliRunner().invoke(main, ["winners", str(tmp_path / "OUT.nc"), *said])
        assert answer.exit_code == 2 and "is fitted already" in answer.output
    if args[0] == "report":
        assert "priors of order = Normal(mu=0.1, sigma=0.05)" in (tmp_path / "OUT.html").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("order", "NAME=DISTRIBUTION"),
        ("order=Norml(0, 1)", "did you mean 'Normal'"),
        ("foo=Normal(0, 1)", "got 'foo'"),
        ("score[nobody]=Normal(0, 1)", "got 'nobody'"),
        ("scale=Normal(0, 1)", "positive numbers"),
    ],
)
def test_the_command_line_refuses_what_is_no_prior(text, words):
    answer = CliRunner().invoke(main, ["winners", "baseball1987", "--prior", text])
    assert answer.exit_code == 2 and words in answer.output and "Traceback" not in answer.output


TABLE = pd.DataFrame({"item": [f"a{k}" for k in range(4)], "family": list("xxyy")})
FAMILIES = Covariates(bd.read_items(TABLE, reference={"family": None}), scale=0.8)
EARLIER = {f"a{k}": normal(mu, 0.4) for k, mu in enumerate((0.5, -0.2, -0.3))}  # a3 is new
CALIBRATED = {
    "kin": (BradleyTerry(Scores(family=KIN)), {"family_scale": "LogNormal(0, 0.5)"}),
    "families": (BradleyTerry(FAMILIES), {"effect_scale": Prior("HalfNormal", sigma=0.5)}),
    "an earlier fit": (BradleyTerry(), {"score": EARLIER}),
    "arms": (BradleyTerry(), {"score": {"a0": normal(2, 0.3), "a1": normal(-0.5, 1.5)}}),
    "scale and order": (
        Davidson() + SideAdvantage(),
        {"scale": Prior("Gamma", alpha=4, beta=4), "order": normal(0.5, 0.2)},
    ),
    "spread": (
        BradleyTerry(Scores(scale=1.0) + RandomEffects("judge")),
        {"judge_scale": Prior("InverseGamma", alpha=4, beta=2), "score": {"a2": normal(0, 0.2)}},
    ),
}


# Some thin logs of two go to NUTS, which PyMC compiles: 56 seconds. Priors of the other two are of
# kinds that the fast ones have.
SLOW = {"kin", "arms", "families", "an earlier fit"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "n"),
    [
        pytest.param(case, n, marks=pytest.mark.slow if n == 300 or case in SLOW else ())
        for case in CALIBRATED
        for n in ((300,) if case in SLOW else (25, 300))
    ],
)
def test_fits_with_priors_are_calibrated(case, n, log):
    """Uniform ranks of truths from PyMC's prior among draws of the quick route."""
    model, priors = CALIBRATED[case]
    frame = pd.DataFrame(
        [(f"a{i}", f"a{j}", f"j{k}", 3) for i in range(4) for j in range(4) if i != j
         for k in range(3)],
        columns=["left", "right", "judge", "duels"],
    )  # fmt: skip
    tree = bd.calibrate(model.with_priors(priors), frame, n, draws=400, seed=59)
    # one of six tables falls below 1e-4 by chance in 1,700 runs of other seeds
    assert tree.attrs["p_value"] > 1e-4
    assert tree.attrs["n_refused"] <= 0.05 * n


@pytest.mark.parametrize("spread", [0.0, 0.4])
@pytest.mark.parametrize("half", [50, 200])
@pytest.mark.slow
def test_an_earlier_fit_is_a_prior_for_the_arms_of_both(half, spread, log):
    """Two halves one after the other say what both say at once; a spread counts the first less."""
    frame = pd.DataFrame(log.to_frame())[["left", "right", "outcome"]]
    model = BradleyTerry(Scores(scale=5.0))  # nearly flat, so that it hardly counts twice
    first, second = (bd.read_duels(part) for part in (frame[:half], frame[half:]))
    whole = bd.fit(bd.read_duels(frame), model, clusters=False)["posterior"]["score"]
    earlier = bd.fit(first, model, clusters=False)
    said = bd.earlier_scores(earlier, second.arms, spread=spread)
    given = {"score": earlier if spread == 0 else said}
    both = bd.fit(second, model, priors=given, clusters=False)
    assert both.duel.model.said["score"] == said
    found = both["posterior"]["score"]
    dims = ("chain", "draw")
    error = whole.std(dims)
    apart = np.abs(found.mean(dims) - whole.mean(dims)) / error
    if spread == 0:  # what is lost are the covariances of the earlier scores
        assert float(apart.max()) < 0.6 and 0.8 < float((found.std(dims) / error).mean()) < 1.2
    else:
        assert float((found.std(dims) / error).mean()) > 1.02


@pytest.mark.parametrize("n_arms", [1, 2, 3, 6])
def test_an_earlier_fit_counts_as_much_as_its_duels(n_arms):
    """Differences of scores vary as of all duels at once (2 arms before: 0.71 times of it)."""
    rng = np.random.default_rng(1)
    arms = np.array([f"a{k}" for k in range(max(n_arms, 2))])
    strength = np.linspace(0.6, -0.6, len(arms))

    def votes(n):
        left = rng.integers(0, len(arms), n)
        right = (left + rng.integers(1, len(arms), n)) % len(arms)
        won = rng.logistic(size=n) < strength[left] - strength[right]
        return arms[left], arms[right], won

    old, new = votes(1000), votes(60)
    both = [np.concatenate(columns) for columns in zip(old, new, strict=True)]
    model = BradleyTerry(Scores(scale=5.0))
    earlier = bd.fit(bd.Duels.from_votes(*old), model, clusters=False)
    if n_arms == 1:  # of a single arm nothing is to be shared out
        (one,) = bd.earlier_scores(earlier, [str(arms[0])]).values()
        spread = float(earlier["posterior"]["score"].sel(arm=arms[0]).std())
        assert dict(one.given)["sigma"] == pytest.approx(spread)
        return
    later = bd.fit(bd.Duels.from_votes(*new), model, priors={"score": earlier}, clusters=False)
    whole = bd.fit(bd.Duels.from_votes(*both), model, clusters=False)
    for i in range(1, n_arms):
        found, wanted = (
            fit["posterior"]["score"].sel(arm=arms[0]) - fit["posterior"]["score"].sel(arm=arms[i])
            for fit in (later, whole)
        )
        assert float(found.std()) == pytest.approx(float(wanted.std()), rel=0.08)
        assert float(found.mean()) == pytest.approx(float(wanted.mean()), abs=0.03)


def test_an_earlier_fit_is_checked(log):
    earlier = bd.fit(log, BradleyTerry(), draws=200, clusters=False)
    other = bd.Duels.from_votes(["x", "y", "a0"] * 5, ["y", "x", "x"] * 5, [1, 1, 0] * 5)
    mixed = bd.priors(other, "bradley-terry", {"score": earlier})
    assert list(mixed.index[mixed["said"]]) == ["score[a0]"]
    with pytest.raises(ValueError, match="arms should be some of the earlier fit"):
        bd.earlier_scores(earlier, ["x", "y"])
    with pytest.raises(ValueError, match="scores in probits, got logits"):
        bd.fit(log, Thurstone(), priors={"score": earlier})
    with pytest.raises(TypeError, match=r"what bayesduel\.fit returned"):
        bd.earlier_scores(log)
    with pytest.raises(ValueError, match="spread should be >= 0"):
        bd.earlier_scores(earlier, spread=-1)


def test_the_full_set_of_families_is_fitted_and_is_the_same_either_way(log):
    """Indicators of all levels: written as columns, and read from words without a reference."""
    words = pd.DataFrame({"item": [f"a{k}" for k in range(5)], "family": list("xxyyy")})
    columns = pd.get_dummies(words.set_index("item")["family"]).astype(int).reset_index()
    named = bd.read_items(words, reference={"family": None})
    written = bd.read_items(columns)
    assert named.names == ("family: x", "family: y") and written.names == ("x", "y")
    newer = pd.DataFrame({"item": ["a9"], "family": ["y"]})
    assert bd.read_items(newer, like=named).values.tolist() == [[0.0, 1.0]]
    with pytest.raises(ValueError, match="should be 'x' or 'y', got 'z'"):
        bd.read_items(newer.assign(family="z"), like=named)
    fit = bd.fit(log, BradleyTerry(Covariates(named)), draws=400, clusters=False)
    assert fit["posterior"].sizes["attribute"] == 2
    flat = BradleyTerry(Covariates(named, scale=np.inf, item_effect=False))
    with pytest.raises(ValueError, match="its coefficient cannot be estimated under a flat prior"):
        bd.fit(log, flat, clusters=False)
    given = BradleyTerry(Covariates(named)).with_priors({"coefficient": normal(0, 0.5)})
    assert bd.fit(log, given, draws=400, clusters=False).attrs["method"] == "laplace"


def test_families_are_checked_and_read_off_a_table(log):
    with pytest.raises(TypeError, match="family should be a dictionary from arm to family"):
        Scores(family="maker")
    words = pd.DataFrame({"item": list(KIN), "family": list(KIN.values()), "n": range(5)})
    for reference in ({}, {"family": None}, {"family": "z"}):
        assert bd.read_items(words, reference=reference).levels("family") == KIN
    with pytest.raises(ValueError, match="column should be one of words, 'family', got 'n'"):
        bd.read_items(words).levels("n")
    with pytest.raises(ValueError, match="independent normal priors"):
        bd.fit(log, BradleyTerry(Scores(family=KIN)), "variational")


@pytest.mark.parametrize(
    ("name", "prior"),
    [("score[a]", "Normal(0.4, 0.3)"), ("score", "Normal(0.4, 0.3)"), ("scale", "HalfNormal(1)")],
)
def test_a_page_says_what_the_prior_of_one_score_is_relative_to(name, prior, tmp_path):
    fit = bd.fit(
        bd.Duels.from_votes("abca" * 15, "bcab" * 15, [1, 1, 1, 0] * 15),
        draws=200,
        priors=_prior(name, prior),
    )
    page = bd.report(fit, tmp_path / "page.html", noun="dish").read_text()
    assert ("how far one dish is from the others" in page) == (name == "score[a]")


def _prior(name, text):
    """Return the priors that ``--prior name=text`` gives."""
    variable, _, label = name.removesuffix("]").partition("[")
    said = Prior.parsed(text)
    return {variable: {label: said} if label else said}
