"""Scores by family: exact in a small case, whatever stands beside them, and arms to come."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.health import DisconnectedWarning
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    CumulativeLogit,
    Davidson,
    PreferenceMatrix,
    RandomEffects,
    Scores,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
    add_family,
)
from tests.support.simulated_logs import outcomes_of

FAMILY = {"a0": "x", "a1": "x", "a2": "x", "a3": "y", "a4": "y", "new": "x", "odd": "z"}
RESPONSES = {
    "win": BradleyTerry,
    "probit": Thurstone,
    "tie": Davidson,
    "grade": CumulativeLogit,
    "margin": ThurstoneScore,
    "soft vote": BradleyTerry,
}
TERMS = {
    "order": lambda terms: terms + SideAdvantage(),
    "prompts": lambda terms: terms + RandomEffects("group"),
    "judges": lambda terms: terms + RandomEffects("judge"),
    "prompts and judges": lambda terms: terms + RandomEffects("group") + RandomEffects("judge"),
}
CROSSED = "prompts and judges"  # which of ties go to the sampler: ten seconds, in make test-all
CASES = [(r, t) for r in RESPONSES for t in TERMS if t != CROSSED or r == "tie"]


def log_of(response, n=240, seed=0):
    """Return duels of five arms by judges on prompts; the last arm has two, and wins them."""
    rng = np.random.default_rng([59, seed])
    score = np.array([1.0, 1.3, 0.8, -1.2, -0.9])
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    left[:2] = 4
    right[:2] = 0, 3
    latent = score[left] - score[right] + rng.logistic(size=n)
    latent[:2] = 2.5
    points, given = outcomes_of(response, latent, tied=0.6)
    return bd.Duels.from_votes(
        [f"a{k}" for k in left],
        [f"a{k}" for k in right],
        points,
        judge=[f"j{k}" for k in rng.integers(0, 6, n)],
        group=[f"g{k}" for k in rng.integers(0, 4, n)],
        time=np.datetime64("2020-01-01") + rng.integers(0, 3, n) * np.timedelta64(1, "D"),
        keep={"source": rng.choice(["p", "q"], n)},
        category=rng.choice(["u", "v"], n).tolist(),
        **given,
    )


def moments(values):
    """Return mean and standard deviation of draws of a fit."""
    dims = ("chain", "draw")
    return values.mean(dims).to_numpy(), values.std(dims).to_numpy()


# -- against numbers of elsewhere -----------------------------------------------------------------


def by_quadrature(wins, family, n_nodes=20, reach=6.0):
    """Return means and deviations of three scores and two scales by a sum over a grid, by SciPy.

    wins: how often one arm beat another, (3, 3). Both scales have HalfNormal(1) priors.
    """
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    free = np.linspace(-reach, reach, 81)
    plane = np.stack(np.meshgrid(free, free, indexing="ij"), axis=-1).reshape(-1, 2)
    score = plane @ basis
    apart = score[:, :, None] - score[:, None, :]
    likelihood = np.exp((wins * -np.log1p(np.exp(-apart))).sum(axis=(1, 2)))
    scales = (np.arange(n_nodes) + 0.5) / n_nodes * 4.0
    weight, known = [], []
    same = np.equal.outer(family, family) * 1.0
    for scale in scales:
        for spread in scales:
            covariance = basis @ (scale**2 * np.eye(3) + spread**2 * same) @ basis.T
            density = stats.multivariate_normal(np.zeros(2), covariance).pdf(plane)
            here = density * likelihood * stats.halfnorm.pdf(scale) * stats.halfnorm.pdf(spread)
            weight.append([here.sum(), *(here @ score), *(here @ score**2)])
            known.append((scale, spread))
    weight, known = np.array(weight), np.array(known)
    total = weight[:, 0].sum()
    mean = np.concatenate([weight[:, 1:4].sum(axis=0), weight[:, 0] @ known]) / total
    square = np.concatenate([weight[:, 4:].sum(axis=0), weight[:, 0] @ known**2]) / total
    return mean, np.sqrt(square - mean**2)


@pytest.mark.parametrize("method", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_scores_are_those_of_quadrature(method):
    """Means within 0.1 sd and deviations within 5 %."""
    wins = np.array([[0, 6, 9], [3, 0, 0], [1, 1, 0]])
    i, j = np.nonzero(wins)
    frame = pd.DataFrame({"left": i, "right": j, "outcome": "left", "weight": wins[i, j]})
    log = bd.read_duels(frame.astype({"left": str, "right": str}))
    model = BradleyTerry(Scores(family={"0": "x", "1": "x", "2": "y"})).with_priors(
        {"scale": "HalfNormal(1)", "family_scale": "HalfNormal(1)"}
    )
    fit = bd.fit(log, model, method, draws=8000, clusters=False)
    found = [moments(fit["posterior"][name]) for name in ("score", "scale", "family_scale")]
    mean, deviation = (np.concatenate([np.atleast_1d(one[k]) for one in found]) for k in (0, 1))
    exact, spread = by_quadrature(wins, np.array([0, 0, 1]))
    assert np.abs(mean - exact).max() < 0.1 * spread.min()
    assert deviation == pytest.approx(spread, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("response", ["win", "tie", "margin"])
def test_scores_are_those_of_the_model_of_pymc(response):
    """Means within 0.1 sd, deviations within 5 %, with an arm of its own prior and one alone.

    Of 30 duels NUTS has some 8,000 effective draws of the families' scale. Of 240 margins it had
    360 in one run (R-hat 1.012), whose deviation was 6 % off.
    """
    model = RESPONSES[response](Scores(family={"a0": "x", "a1": "x", "a2": "y", "a3": "y"}))
    of_arm = {"a1": bd.Prior("Normal", mu=0.5, sigma=0.2)}
    model = model.with_priors({"score": of_arm, "family_scale": "HalfNormal(1)"})
    quick, exact = (
        bd.fit(log_of(response, 30), model, how, draws=40_000, clusters=False)["posterior"]
        for how in ("auto", "pymc")
    )
    for name in ("score", "scale", "family_scale"):
        one, other = moments(quick[name]), moments(exact[name])
        assert (np.abs(one[0] - other[0]) < 0.1 * other[1]).all(), name
        assert one[1] == pytest.approx(other[1], rel=0.05), name


# -- whatever stands beside -----------------------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("response", "terms"), CASES)
def test_families_go_with_every_response_and_term(response, terms):
    """An arm of two duels keeps to its family, and a new arm is as one that the log has no duel of.

    The chances of a new arm are those of a log that has it: within 0.03, some five errors.
    """
    log = log_of(response)
    model = TERMS[terms](RESPONSES[response]())
    by_family = add_family(model, FAMILY)
    few = {"draws": 2000, "clusters": False}
    fit = bd.fit(log, by_family, **few)
    alone = bd.fit(log, model, **few)
    assert {"scale", "family_scale"} <= {*fit["posterior"]}
    kept, free = (float(f["posterior"]["score"].sel(arm="a4").mean()) for f in (fit, alone))
    assert kept < free - 0.1  # its family is weak
    with pytest.warns(DisconnectedWarning):
        whole = bd.fit(replace(log, arms=(*log.arms, "new", "odd")), by_family, **few)
    given = [{}] + [{r: f"{r[0]}1"} for r in ("group", "judge") if r in by_family.name]
    for said in given:
        found, same = (bd.predict(f, ["new", "odd"], "a0", **said) for f in (fit, whole))
        for name in found.data_vars:
            if name.startswith(("win", "tie", "loss")):
                tolerance = 0.08 if "_" in name else 0.03  # of ends of intervals, and of means
                assert found[name].to_numpy() == pytest.approx(same[name], abs=tolerance), name


# -- which families, and where they are said ------------------------------------------------------


def test_an_arm_without_a_family_is_one_of_its_own_and_this_is_said():
    log = log_of("win")
    named = {"a0": "x", "a1": "x", "a2": None, "a3": float("nan"), "x": "x"}
    scores = Scores(family=named)
    assert scores.family == {"a0": "x", "a1": "x", "x": "x"}
    number = scores.families(log.arms)
    assert number is not None
    assert number[0] == number[1] and len({*number.tolist()}) == 4
    few = {"draws": 200, "clusters": False}
    fit = bd.fit(log, BradleyTerry(scores), **few)
    assert json.loads(fit.attrs["model_reasons"]) == [
        "Scores keep to 1 family of arms.",
        "The arms 'a2', 'a3' and 'a4' have no family: each is a family of its own.",
    ]
    assert "have no family" in str(bd.winners(fit).attrs["model_reasons"])
    apart = {"a2": "own", "a3": "another", "a4": "a third"}
    other = bd.fit(log, BradleyTerry(Scores(family=scores.family | apart)), **few)
    same, found = (f["posterior"]["score"].to_numpy() for f in (fit, other))
    np.testing.assert_allclose(found, same, atol=1e-6)
    with pytest.raises(ValueError, match="family should have arms of the log as keys"):
        bd.fit(log, BradleyTerry(Scores(family={"b0": "x"})))


def test_the_default_model_takes_families(tmp_path):
    log = log_of("tie")
    recipe = bd.DefaultModel(family=FAMILY, priors={"family_scale": "Exponential(2)"})
    assert hash(recipe) == hash(replace(recipe))
    fit = bd.fit(log, recipe, draws=400, clusters=False)
    assert fit.duel.model.terms.find(Scores).family == FAMILY
    assert fit.duel.model.label == "davidson"
    fit.to_netcdf(tmp_path / "fit.nc")
    again = bd.load(tmp_path / "fit.nc")
    assert again.duel.model == fit.duel.model
    first, second = (bd.predict(f, "new", "a0") for f in (fit, again))
    assert first.to_dataframe().equals(second.to_dataframe())
    for response in ("preference-matrix", "auto"):
        terms = () if response == "preference-matrix" else ("sources:source=p",)
        with pytest.raises((TypeError, ValueError), match=r"scores|Scores\(\)"):
            bd.DefaultModel(response, terms, family=FAMILY)
    with pytest.raises(TypeError, match="family should be a dictionary from arm to family"):
        bd.DefaultModel(family="maker")
    with pytest.raises((TypeError, ValueError), match=r"scores|Scores\(\)"):
        add_family(PreferenceMatrix(), FAMILY)


def test_rankings_and_teams_have_families():
    rng = np.random.default_rng(3)
    orders = [" > ".join(rng.permutation(["a0", "a1", "a2", "a3"])) for _ in range(20)]
    recipe = bd.DefaultModel(family=FAMILY)
    ranked = recipe.choose(bd.read_rankings({"order": orders}))
    assert {*ranked.model.scales} == {"scale", "family_scale"} and len(ranked.reasons) == 1
    sides = np.array([rng.permutation([f"a{k}" for k in range(5)])[:4] for _ in range(40)])
    left, right = map(tuple, sides[:, :2]), map(tuple, sides[:, 2:])
    teams = bd.Duels.from_votes([*left], [*right], rng.integers(0, 2, 40).astype(float))
    fit = bd.fit(teams, recipe, draws=400, clusters=False)
    won = bd.predict(fit, [("a0", "new"), ("odd", "new")], "a1 + a3")
    assert won["left"].to_numpy().tolist() == ["a0 + new", "new + odd"]


TABLE = "arm,maker,price\na0,x,1\na1,x,2\na2,,3\na3,y,4\na4,y,5\nnew,x,6\n"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a log and a table of its arms."""
    frame = pd.DataFrame(log_of("win").to_frame())[["left", "right", "outcome"]]
    frame.to_csv(tmp_path / "log.csv", index=False)
    (tmp_path / "arms.csv").write_text(TABLE)
    return tmp_path


def test_the_command_line_takes_families(folder):
    def run(*args):
        return CliRunner().invoke(main, [*map(str, args)])

    log, fit = folder / "log.csv", folder / "fit.nc"
    said = ["--family", f"{folder / 'arms.csv'}:maker"]
    assert run("fit", log, *said, "-o", fit, "--draws", 200).exit_code == 0
    stored = bd.load(fit).duel.model.terms.find(Scores).family
    assert stored == {"a0": "x", "a1": "x", "a3": "y", "a4": "y", "new": "x"}
    told = json.loads(run("winners", fit, "--json").stdout)
    assert "The arm 'a2' has no family: it is a family of its own." in told["model_reasons"]
    assert "is fitted already" in run("winners", fit, *said).stderr
    shown = " ".join(run("predict", fit, "new", "a0").stdout.split())
    assert "new has not duelled: its score is drawn from its family, x." in shown
    found = json.loads(run("predict", fit, "b", "a0", "--family", "b=w", "--json").stdout)
    assert found["new_arms"] == "b has not duelled: its score is drawn from a new family, w."
    assert run("study", "new", folder / "s", "--arms", "a0,a3", *said).exit_code == 0
    checked = run("check", log, "--quick", "--json", *said)
    assert checked.exit_code == 0 and "bradley-terry with --family" in checked.stdout


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("arms.csv", "TABLE:COLUMN"),
        ("arms.csv:make", "did you mean 'maker'"),
        ("nothing.csv:maker", "no such file"),
        ("twice.csv:maker", "one row per item"),
        ("empty.csv:maker", "should name a family, got none"),
        ("other.csv:maker", "arms of the log as keys"),
    ],
)
def test_the_command_line_refuses_what_names_no_family(said, words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "twice.csv").write_text("arm,maker\na0,x\na0,y\n")
    (folder / "empty.csv").write_text("arm,maker\na0,\na1,\n")
    (folder / "other.csv").write_text("arm,maker\nb0,x\n")
    answer = CliRunner().invoke(main, ["winners", "log.csv", "--family", said])
    assert answer.exit_code == 2 and words in answer.stderr and "Traceback" not in answer.stderr


# -- arms to come ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fit():
    """Return a fit with families, of votes by judge."""
    return bd.fit(log_of("win"), BradleyTerry(Scores(family=FAMILY)), draws=2000)


def test_new_arms_are_foreseen_from_their_families(fit):
    given = {"b": "x", "c": "x", "d": "y", "e": None}
    found = bd.predict(fit, ["b", "d", "e", "b", "a0"], ["a0", "a0", "a0", "c", "a3"], family=given)
    win = dict(zip("bdeck", found["win"].to_numpy(), strict=True))
    assert win["d"] < win["e"] < win["b"]  # a weak family, an unknown and a strong one
    assert abs(win["c"] - 0.5) < 0.02  # two of one family
    old = bd.predict(fit, "a0", "a3")
    assert found["win"].to_numpy()[-1] == float(old["win"]) and "new_arms" not in old.attrs
    with pytest.raises(KeyError, match="arm 'f' is not in the fit"):
        bd.predict(fit, "f", "a0", family=given)
    frame = pd.DataFrame({"left": ["new"], "right": ["a3"]})
    assert float(bd.predict(fit, frame)["win"][0]) > 0.5


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ({"a0": "x"}, "should name only new arms, but the fit has 'a0'"),
        ("x", "should be the family of each new arm"),
    ],
)
def test_families_of_new_arms_are_checked(family, words, fit):
    with pytest.raises((TypeError, ValueError), match=words):
        bd.predict(fit, "b", "a0", family=family)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BradleyTerry(), "needs a fit with families"),
        (BradleyTerry(Scores(family=FAMILY)) + TimeVarying(periods=2), "got a fit with time"),
        (BradleyTerry(Scores(family=FAMILY)) + CategoryEffects(), "got a fit with category"),
        (
            ThurstoneScore(Scores(family=FAMILY), variances="pair"),
            "the response of thurstone-score",
        ),
    ],
    ids=["no families", "time", "categories", "noise by pair"],
)
def test_new_arms_are_refused_where_more_depends_on_the_arm(model, words):
    log = log_of("margin" if isinstance(model, ThurstoneScore) else "win")
    fit = bd.fit(log, model, draws=200, clusters=False)
    with pytest.raises(ValueError, match=words):
        bd.predict(fit, "b", "a0", family={"b": "x"})
