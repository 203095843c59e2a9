"""Teams: a side is worth the sum (or the mean) of its members, with every response and term."""

from math import lgamma

import numpy as np
import pytest
from pytensor.compile.mode import Mode
from scipy import optimize, stats
from scipy.special import expit, log_expit

import bayesduel as bd
from bayesduel.inference.conditional_mode import find_mode
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    Covariates,
    CumulativeLogit,
    Davidson,
    PairEffects,
    PreferenceMatrix,
    RandomEffects,
    Scores,
    SideAdvantage,
    TeamSize,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
    add_term,
)

ARMS = "abcdefg"
RESPONSES = {
    "logit": BradleyTerry,
    "probit": Thurstone,
    "ties": Davidson,
    "margins": ThurstoneScore,
    "grades": CumulativeLogit,
}
TERMS = {
    "alone": (),
    "order": (SideAdvantage(),),
    "judges": (RandomEffects("judge"),),
    "covariates": (Covariates(["length"]),),
    "sizes": (TeamSize(), SideAdvantage()),
    "all": (
        SideAdvantage(),
        RandomEffects("judge"),
        Covariates(["length"]),
        TimeVarying(periods=3),
    ),
}


def world(n, seed, sizes=(1, 2, 3), shared=False):
    """Return a log of random teams, with all that a term may ask.

    shared: whether in every second duel both sides have one more member, the same.
    """
    rng = np.random.default_rng(seed)
    left, right, grade = [], [], rng.integers(-2, 3, n)
    for row in range(n):
        drawn = [ARMS[k] for k in rng.permutation(len(ARMS))]
        first, second = rng.choice(sizes, 2)
        both = drawn[first + second :][: shared and row % 2]
        left.append((*drawn[:first], *both))
        right.append((*drawn[first : first + second], *both))
    return bd.Duels.from_votes(
        left,
        right,
        (np.sign(grade) + 1) / 2,
        grade=grade,
        margin=grade + rng.normal(0, 0.1, n) * (grade != 0),
        judge=[f"j{k}" for k in rng.integers(0, 3, n)],
        time=rng.uniform(0, 1, n),
        covariates={"length": rng.normal(0, 1, n)},
    )


def plain(log):
    """Return the same duels, without what a term may ask."""
    frame = log.to_frame()
    return bd.Duels.from_votes(frame["left"], frame["right"], (log.votes.outcome + 1) / 2)


def by_hand(log, model, parameters, side):
    """Return the predictor of each vote, member by member."""
    votes, frame = log.votes, log.to_frame()
    period = model.terms.columns(log).get("period_of_cell")
    eta = np.zeros(len(frame))
    for row in range(len(frame)):
        for members, sign in ((frame["left"][row], 1.0), (frame["right"][row], -1.0)):
            share = sign / len(members) if side == "mean" else sign
            for k in map(log.arms.index, members):
                worth = parameters["score"][k]
                if "judge_deviation" in parameters:
                    worth += parameters["judge_deviation"][votes.judge[row], k]
                if "change" in parameters and period[row] < 2:
                    worth += parameters["change"][period[row], k]
                eta[row] += share * worth
            eta[row] += sign * len(members) * parameters.get("size", 0.0)
    eta += parameters.get("order", 0.0)
    if "covariate_effect" in parameters:
        eta += votes.covariates @ parameters["covariate_effect"]
    return eta


def densities(log, model, eta, parameters):
    """Return the log density of each vote by scipy, or None of a response that is tested alone."""
    outcome = log.votes.outcome
    won = (outcome + 1) / 2
    if isinstance(model, BradleyTerry):
        half = np.where(outcome == 0, lgamma(2) - 2 * lgamma(1.5), 0.0)
        return won * log_expit(eta) + (1 - won) * log_expit(-eta) + half
    if isinstance(model, Thurstone):
        half = np.where(outcome == 0, lgamma(2) - 2 * lgamma(1.5), 0.0)
        return won * stats.norm.logcdf(eta) + (1 - won) * stats.norm.logcdf(-eta) + half
    if isinstance(model, Davidson):
        tie = np.exp(parameters["tie"])
        weights = np.stack([np.exp(eta / 2), tie * np.ones(len(eta)), np.exp(-eta / 2)])
        place = np.select([outcome > 0, outcome == 0], [0, 1], 2)
        return np.log((weights / weights.sum(axis=0))[place, np.arange(len(eta))])
    if isinstance(model, ThurstoneScore):
        return stats.norm.logpdf(log.votes.margin, eta, parameters["noise"])
    return None


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("side", ["sum", "mean"])
@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
@pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES.keys())
@pytest.mark.sampled(3)
def test_the_predictor_and_the_likelihood_are_those_by_hand(response, terms, side, shared):
    log = world(40, 1, shared=shared)
    model = response(Scores(side=side))
    for term in terms:
        model = model + term
    model = model.settled(log)
    density = linear_predictor(model, model.cells(log, each=True))
    rng = np.random.default_rng(3)
    x = rng.normal(0, 0.5, density.size)
    phi = np.zeros(max(1, sum(1 if n is None else n for n in density.hypers.values())))
    found = density.parameters(x[None]) | density.hyper_parameters(phi[None])
    known = model.parameters(complete(model, density, found), log.arms)
    parameters = {name: np.asarray(values)[0] for name, values in known.items()}
    eta = by_hand(log, model, parameters, side)
    cells = model.cells(log, each=True)
    np.testing.assert_allclose(model.eta(known, cells.data)[0], eta, atol=1e-10)
    np.testing.assert_allclose(density.eta(x), eta, atol=1e-10)
    expected = densities(log, model, eta, parameters)
    if expected is not None:
        np.testing.assert_allclose(model.log_likelihood(known, cells)[0], expected, atol=1e-9)


def complete(model, density, found):
    """Return parameters by the names of a fit, from the free numbers of the density."""
    from bayesduel.inference.design import centre

    known = {name: values.copy() for name, values in found.items()}
    known["score"] = centre(known.pop("score_free"))
    for part in model.terms:
        if part.over_arms and part.free in known:
            free = known.pop(part.free)
            known[part.parameter] = free - free.mean(axis=-1, keepdims=True)
    return known


@pytest.mark.parametrize("terms", [TERMS["sizes"], TERMS["all"]], ids=["sizes", "all"])
@pytest.mark.slow
def test_the_pymc_model_has_the_same_likelihood(terms):
    log = world(30, 5)
    model = BradleyTerry()
    for term in terms:
        model = model + term
    model = model.settled(log)
    built = model.build(log)
    rng = np.random.default_rng(2)
    point = {n: v + rng.normal(0, 0.5, np.shape(v)) for n, v in built.initial_point().items()}
    outcome = built.logp(vars=[built["points"]], sum=False)[0]
    values = built.replace_rvs_by_values(built.unobserved_RVs)
    *drawn, of_cells = built.compile_fn([*values, outcome], mode=Mode("py", None))(point)
    posterior = {v.name: d[None] for v, d in zip(built.unobserved_RVs, drawn, strict=True)}
    cells = model.cells(log)
    np.testing.assert_allclose(model.log_likelihood(posterior, cells)[0], of_cells, atol=1e-9)


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_derivatives_are_those_of_differences(shared):
    log = world(700, 7, shared=shared)  # so many that the design keeps its parts
    model = (BradleyTerry() + SideAdvantage() + RandomEffects("judge")).settled(log)
    density = linear_predictor(model, model.cells(log))
    x, phi = np.random.default_rng(0).normal(0, 0.3, density.size), np.zeros(2)
    step = 1e-5
    slopes = [
        (density.value(x + step * axis, phi) - density.value(x - step * axis, phi)) / (2 * step)
        for axis in np.eye(density.size)
    ]
    parts = density.parts(x, phi)
    np.testing.assert_allclose(parts.gradient, slopes, rtol=1e-5, atol=1e-5)
    covariance = np.linalg.inv(parts.precision)
    jacobian = np.stack([density.eta(axis) for axis in np.eye(density.size)], axis=1)
    variance = np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian)
    np.testing.assert_allclose(density.spread(covariance) ** 2, variance, rtol=1e-8)


def test_the_mode_is_that_of_a_logistic_regression_on_members():
    log = world(300, 9)
    model = (BradleyTerry(Scores(scale=1.0)) + SideAdvantage() + TeamSize()).settled(log)
    density = linear_predictor(model, model.cells(log))
    mode = density.parameters(find_mode(density, np.zeros(1)).x[None])
    frame, n = log.to_frame(), len(log.arms)
    inside = np.array(
        [
            [(arm in left) - 1.0 * (arm in right) for arm in log.arms]
            for left, right in zip(frame["left"], frame["right"], strict=True)
        ]
    )
    points = (log.votes.outcome + 1) / 2

    def loss(v):
        score = v[:n] - v[:n].mean()
        eta = inside @ (score + v[n + 1]) + v[n]
        fit = points @ log_expit(eta) + (1 - points) @ log_expit(-eta)
        return 0.5 * (v @ v) - fit

    found = optimize.minimize(loss, np.zeros(n + 2), tol=1e-10).x
    from bayesduel.inference.design import centre

    np.testing.assert_allclose(
        centre(mode["score_free"])[0], found[:n] - found[:n].mean(), atol=1e-4
    )
    np.testing.assert_allclose([mode["order"][0], mode["size"][0]], found[n:], atol=1e-4)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (PreferenceMatrix(), "has a parameter for each pair or arm"),
        (ThurstoneScore(variances="arm"), "has a parameter for each pair or arm"),
        (BradleyTerry() + BladeChest(), "cycles needs one arm per side"),
        (BradleyTerry() + PairEffects(), "pair-residuals needs one arm per side"),
    ],
    ids=["pairs", "noise by arm", "cycles", "residuals"],
)
def test_models_by_pair_refuse_teams(model, words):
    with pytest.raises(ValueError, match=words):
        model.cells(world(20, 1))


def test_the_model_that_is_found_says_what_a_side_is_worth():
    told = {}
    for sizes in ((2,), (1, 2)):
        log = world(60, 3, sizes)
        log = bd.Duels.from_votes(log.to_frame()["left"], log.to_frame()["right"], [1, 0, 1] * 20)
        told[sizes] = bd.DefaultModel().choose(log)
    assert told[2,].model.name == "bradley-terry + order"
    assert told[2,].reasons[-1] == "A side is worth the sum of its members' scores."
    assert told[1, 2].model.name == "bradley-terry + order + team-size"
    assert "what each member more is worth" in told[1, 2].reasons[-1]


@pytest.mark.slow
def test_predictions_are_of_sides(tmp_path):
    log = plain(world(150, 4))
    fit = bd.fit(log, BradleyTerry() + TeamSize() + SideAdvantage(), seed=1, draws=400)
    one = bd.predict(fit, ["b", "a"], ["c", "d", "e"], side_advantage=True)
    drawn = fit.duel.posterior("model")
    score = drawn["score"]
    eta = score[:, [0, 1]].sum(1) - score[:, [2, 3, 4]].sum(1) - drawn["size"] + drawn["order"]
    assert float(one["win"]) == pytest.approx(expit(eta).mean())
    assert (str(one["left"].values), str(one["right"].values)) == ("a + b", "c + d + e")
    single = bd.predict(fit, "a", "b")
    assert float(single["win"]) == pytest.approx(expit(score[:, 0] - score[:, 1]).mean())
    many = bd.predict(fit, [("a", "b"), "f"], ["c + d + e", ("g",)])
    assert many.sizes["duel"] == 2
    fit.to_netcdf(tmp_path / "fit.nc")
    again = bd.predict(bd.load(tmp_path / "fit.nc"), ["a", "b"], ["c", "d", "e"])
    assert float(again["win"]) == pytest.approx(float(many["win"][0]))
    with pytest.raises(KeyError, match="arm 'z' is not in the fit"):
        bd.predict(fit, ["a", "z"], ["b", "c"])


@pytest.mark.parametrize("judge", [{}, {"judge": "j0"}], ids=str)
def test_a_member_on_both_sides_is_of_no_account_in_predictions(judge):
    """A judge's taste for a member on both sides cancels, also that of a judge who is not named."""
    frame = world(150, 4, shared=True).to_frame()
    won = frame["outcome"].map({"left": 1, "right": 0, "tie": 0.5})
    log = bd.Duels.from_votes(frame["left"], frame["right"], won, judge=frame["judge"])
    fit = bd.fit(log, BradleyTerry() + RandomEffects("judge"), seed=1, draws=200)
    shared = bd.predict(fit, ["a", "b"], ["a", "c"], **judge)
    alone = bd.predict(fit, "b", "c", **judge)
    assert float(shared["win"]) == pytest.approx(float(alone["win"]))


@pytest.mark.slow
def test_a_fit_without_its_log_is_updated():
    log = plain(world(150, 4))
    options = {"seed": 1, "draws": 400}
    whole = bd.fit(log, BradleyTerry(), **options)
    later = bd.update(bd.fit(log[:100], BradleyTerry(), **options), log[100:], draws=400)
    assert later.duel.teams.labels(later.duel.arms) == log.sides
    np.testing.assert_allclose(
        later["posterior"]["score"].mean(("chain", "draw")),
        whole["posterior"]["score"].mean(("chain", "draw")),
        atol=0.05,
    )


def test_the_mean_of_a_side_is_a_word_for_a_term():
    model = add_term(BradleyTerry(scale=1.5), "scores:mean")
    assert model == BradleyTerry(Scores(scale=1.5, side="mean"))
    with pytest.raises(ValueError, match="side"):
        add_term(BradleyTerry(), "scores:median")
