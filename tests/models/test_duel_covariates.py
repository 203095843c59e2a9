"""Covariates of the duel, and the side advantage over every response."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, ndtr, softmax

import bayesduel as bd
from bayesduel.inference.fit import UnusedCovariatesWarning
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    DuelCovariates,
    PerturbedThurstone,
    Scores,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    named,
)

SCORE = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
ARMS = np.array(list("abcde"))
BIAS = 0.8  # logits for a thousand characters more


def met(n, seed):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 5, n)
    return rng, left, (left + rng.integers(1, 5, n)) % 5


@pytest.fixture(scope="module")
def arena():
    """Judges like long answers, and the second best arm writes much longer ones."""
    rng, left, right = met(3000, 3)
    length = rng.gamma(4.0, 0.5, (2, 3000)) + 1.5 * (np.stack([left, right]) == 1)
    longer = length[0] - length[1]
    lists = rng.integers(-2, 3, 3000) * 1.0  # counts for nothing
    win = rng.random(3000) < expit(SCORE[left] - SCORE[right] + BIAS * longer)
    return bd.Duels.from_votes(
        ARMS[left], ARMS[right], win.astype(float), covariates={"length": longer, "lists": lists}
    )


@pytest.fixture(scope="module")
def controlled(arena):
    model = BradleyTerry(Scores() + Covariates(["length", "lists"]))
    return bd.fit(arena, model, draws=1000)


def test_a_bias_is_recovered_and_the_ranking_corrected(arena, controlled):
    with pytest.warns(UnusedCovariatesWarning, match="'length' and 'lists'"):
        plain = bd.fit(arena, "bradley-terry", draws=400)
    assert plain["posterior"]["score"].mean(("chain", "draw")).values.argmax() == 1
    score = controlled["posterior"]["score"]
    z = (score.mean(("chain", "draw")) - SCORE) / score.std(("chain", "draw"))
    assert np.abs(z).max() < 4.5 and float(z.std()) < 2
    effect = controlled["posterior"]["covariate_effect"]
    assert effect["covariate"].values.tolist() == ["length", "lists"]
    z = (effect.mean(("chain", "draw")) - [BIAS, 0.0]) / effect.std(("chain", "draw"))
    assert np.abs(z).max() < 4.5
    found = bd.winners(controlled)
    assert found.attrs["verdict_arms"] == '["a"]'
    assert found.attrs["controls"].endswith("duels in which 'length' is 0 and 'lists' is 0.")
    assert bd.winners(plain).attrs["controls"] == ""
    # Winners and predictions are those of a duel in which nothing differs.
    told = float(bd.predict(controlled, "a", "b")["win"])
    draws = score.sel(arm="a") - score.sel(arm="b")
    assert told == pytest.approx(float(expit(draws).mean()), abs=1e-9)


def test_coefficients_report_covariates(controlled):
    table = bd.coefficients(controlled)
    assert table["kind"].to_dict() == {"length": "effect", "lists": "effect", "scale": "parameter"}
    table = table[table["kind"] == "effect"]
    draws = controlled["posterior"]["covariate_effect"].values.reshape(-1, 2)
    np.testing.assert_allclose(table["coefficient"], draws.mean(axis=0))
    assert list(table.index) == list(table["column"]) == ["length", "lists"]
    deviations = controlled.duel.model.terms.find(DuelCovariates).deviations
    np.testing.assert_allclose(table["standard"], draws.mean(axis=0) * deviations)
    assert table.loc["length", "lower"] > 0.5
    assert table.loc["lists", "lower"] < 0 < table.loc["lists", "upper"]


@pytest.mark.parametrize(
    ("link", "order"),
    [
        ("logit", True),
        ("probit", False),
        pytest.param("logit", False, marks=pytest.mark.slow),
        pytest.param("probit", True, marks=pytest.mark.slow),
    ],
)
def test_flat_priors_are_the_regression_of_statsmodels(arena, link, order):
    kind = {"logit": BradleyTerry, "probit": Thurstone}[link]
    model = kind(Scores(np.inf) + Covariates(["length", "lists"], scale=np.inf))
    model = model + SideAdvantage(prior=np.inf) if order else model
    mode = bd.fit(arena, model, "laplace", draws=100)["laplace"]
    votes = arena.votes
    X = np.eye(5)[votes.left] - np.eye(5)[votes.right]
    X = np.column_stack([X[:, :-1], votes.covariates, *([np.ones(len(X))] if order else [])])
    family = sm.families.Binomial(getattr(sm.families.links, link.capitalize())())
    other = sm.GLM(votes.outcome > 0, X, family=family).fit(tol=1e-14, maxiter=100)
    score = np.append(other.params[:4], 0.0)
    np.testing.assert_allclose(mode["score_mode"], score - score.mean(), atol=1e-6)
    np.testing.assert_allclose(mode["covariate_effect_mode"], other.params[4:6], atol=1e-6)
    if order:
        assert float(mode["order_mode"]) == pytest.approx(other.params[6], abs=1e-6)
    error = mode["score_cov"].values[0, 0] + mode["score_cov"].values[4, 4]
    if link == "logit":  # statsmodels expects the information, which is the observed one here
        error = np.sqrt(error - 2 * mode["score_cov"].values[0, 4])
        assert error == pytest.approx(other.bse[0], rel=1e-6)


def test_settings_come_back_and_columns_are_asked_for(arena, controlled):
    model = controlled.duel.model
    assert named(model.name, **model.settings) == model
    values = arena.votes.covariates[:, 0]
    assert model.terms.find(DuelCovariates).deviations[0] == pytest.approx(
        np.sqrt(np.mean(values**2))
    )
    with pytest.raises(
        ValueError, match=r"the log should have the covariates 'style', but it has .*'length'"
    ):
        bd.fit(arena, BradleyTerry(Scores() + Covariates(["style"])))
    same = bd.Duels.from_votes("abca", "bcab", [1, 0, 1, 0], covariates={"x": [0.0] * 4})
    with pytest.raises(ValueError, match="covariate 'x' should vary, but it is 0 in every duel"):
        BradleyTerry(Scores() + Covariates(["x"])).settled(same)


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.DisconnectedWarning")
@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")
def test_only_what_is_flat_has_to_be_determined():
    """Two components, whose scores have a proper prior; a flat advantage and a flat covariate."""
    x = [1.0, -1.0, 2.0, 0.5, -0.5, 1.5, -2.0, 1.0]
    labels = "abababcd", "bababadc"
    mixed = bd.Duels.from_votes(*labels, [1, 0, 1, 1, 0, 0, 1, 0], covariates={"x": x})
    for model in (
        BradleyTerry() + SideAdvantage(prior=np.inf),
        ThurstoneScore(unit=1.0) + SideAdvantage(prior=np.inf),
        BradleyTerry(Scores() + Covariates(["x"], scale=np.inf)),
    ):
        if model.response.outcome == "win":
            model.settled(mixed).check(mixed)
    with pytest.raises(ValueError, match="2 groups of arms never met"):
        (BradleyTerry(scale=np.inf) + SideAdvantage(prior=np.inf)).check(mixed)
    always = bd.Duels.from_votes(*labels, [1] * 8, covariates={"x": x})
    with pytest.raises(ValueError, match=r"under a flat prior \(most: 'order'\)"):
        bd.fit(always, BradleyTerry() + SideAdvantage(prior=np.inf))
    told = bd.Duels.from_votes(*labels, (np.sign(x) + 1) / 2, covariates={"x": x})
    with pytest.raises(ValueError, match=r"under a flat prior \(most: 'x'\)"):
        bd.fit(told, BradleyTerry(Scores() + Covariates(["x"], scale=np.inf)))


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (SideAdvantage(prior=np.inf, by="category"), "separate wins from losses.*most: 'v'"),
        (Covariates(["x", "z"], scale=np.inf, by="category"), "'v: z' is the same in all duels"),
        (Covariates(["x"], scale=np.inf, by="category"), ""),
    ],
)
def test_what_is_flat_has_to_be_determined_in_each_level(term, words):
    """In level u the left side wins half and covariates vary; in v it always wins, and z is 0."""
    rng = np.random.default_rng(0)
    v = np.arange(60) >= 30
    log = bd.Duels.from_votes(
        np.tile(list("abc"), 20),
        np.tile(list("bca"), 20),
        np.where(v, 1, rng.integers(0, 2, 60)),
        covariates={"x": rng.standard_normal(60), "z": ~v * rng.standard_normal(60)},
        category=np.where(v, "v", "u"),
    )
    model = (BradleyTerry(scale=np.inf) + term).settled(log)
    if words:
        with pytest.raises(ValueError, match=words):
            model.check(log)
    else:
        model.check(log)


RESPONSES = {
    "bradley-terry": BradleyTerry(),
    "thurstone": Thurstone(),
    "davidson": Davidson(),
    "margin": ThurstoneScore(),
    "margin by arm": ThurstoneScore(variances="arm"),
    "margin by pair": ThurstoneScore(variances="pair"),
    "student": ThurstoneScore(degrees=5.0),
    "residuals": PerturbedThurstone(),
}


def drawn(response, eta, left, right, rng):
    """Return outcomes and margins (or None) of duels with this predictor."""
    n, uniform = len(eta), rng.random(len(eta))
    if response == "bradley-terry":
        return (uniform < expit(eta)).astype(float), None
    if response == "thurstone":
        return (uniform < ndtr(eta)).astype(float), None
    if response == "davidson":
        chance = softmax(np.stack([-eta / 2, np.full(n, -0.5), eta / 2]), axis=0)
        return (uniform > np.cumsum(chance, axis=0)).sum(axis=0) / 2, None
    low, high = np.minimum(left, right), np.maximum(left, right)
    noise = {"margin by arm": np.hypot(0.4 + 0.2 * left, 0.4 + 0.2 * right),
             "margin by pair": 0.5 + 0.1 * low * high}.get(response, 1.0)  # fmt: skip
    if response == "residuals":
        off = np.random.default_rng(0).normal(0, 0.4, (5, 5))
        eta = eta + np.where(left < right, 1, -1) * off[low, high]
    standard = rng.standard_t(5, n) if response == "student" else rng.standard_normal(n)
    margin = eta + noise * standard
    return (np.sign(margin) + 1) / 2, margin


# Each form of a model is compiled anew, seconds each: make test-all has the others.
COMPILED = ("bradley-terry", "davidson")


@pytest.mark.parametrize(
    "response",
    [pytest.param(r, marks=() if r in COMPILED else pytest.mark.slow) for r in RESPONSES],
)
def test_an_advantage_of_the_left_side_is_recovered_under_every_response(response):
    rng, left, right = met(1000, list(RESPONSES).index(response))
    outcome, margin = drawn(response, SCORE[left] - SCORE[right] + 0.6, left, right, rng)
    log = bd.Duels.from_votes(ARMS[left], ARMS[right], outcome, margin=margin)
    fit = bd.fit(log, RESPONSES[response] + SideAdvantage(), draws=400, log_likelihood=False)
    assert fit.attrs["method"] == "laplace"
    order = fit["posterior"]["order"].values.ravel()
    assert abs(order.mean() - 0.6) < 4.5 * order.std() and order.std() < 0.15
    score = fit["posterior"]["score"].mean(("chain", "draw"))
    assert score.values.argmax() == 0 and score.values.argmin() == 4
    home, away = (
        float(bd.predict(fit, "c", "b", side_advantage=side)["win"]) for side in (True, False)
    )
    assert home > away + 0.05
