"""Models of margins, against densities and estimates that others compute."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import integrate, optimize, stats

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.data.duels import Duels
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    PerturbedThurstone,
    Scores,
    SideAdvantage,
    ThurstoneScore,
)

FLAT = np.inf
pytestmark = pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")


def draw_log(n_arms=5, n=120, *, noise=1.0, home=0.4, residual=0.0, unit=1.0, seed=0, weight=False):
    """Draw a log of margins; return it with left, right, margin and weight of each vote."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 1, n_arms)
    off = np.triu(rng.normal(0, residual, (n_arms, n_arms)), 1)
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    weights = rng.integers(1, 4, n) if weight else np.ones(n, dtype=int)
    noise = np.broadcast_to(noise, (n_arms, n_arms))[left, right]
    margin = score[left] - score[right] + (off - off.T)[left, right] + home
    margin = unit * (margin + noise * rng.standard_normal(n))
    return to_log(left, right, margin, weights), (left, right, margin, weights)


def to_log(left, right, margin, weight=None):
    labels = [[f"a{k}" for k in side] for side in (left, right)]
    return Duels.from_votes(*labels, (np.sign(margin) + 1) / 2, margin=margin, weight=weight)


def design(left, right, n_arms, *, home=True):
    """Return the regressors of margins: arms 1 and on (arm 0 is the origin), then home."""
    X = np.zeros((len(left), n_arms + home))
    rows = np.arange(len(left))
    X[rows, left], X[rows, right] = 1.0, -1.0
    if home:
        X[:, -1] = 1.0
    return X[:, 1:]


def centred(coefficients, n_arms):
    score = np.concatenate([[0.0], coefficients[: n_arms - 1]])
    return score - score.mean()


# -- the likelihood -----------------------------------------------------------------------------


def log_likelihood_at(model, duels, values):
    """Return the sum of the model's cell terms at natural values of its parameters."""
    draws = {n: np.array([v]) for n, v in values.items()}
    return float(model.log_likelihood(draws, model.cells(duels)).sum())


SCORE = np.array([0.5, -0.2, 0.1, 0.3, -0.7])


@pytest.fixture(scope="module")
def votes():
    return draw_log(seed=3)


def expectation(votes, order):
    left, right, *_ = votes[1]
    return SCORE[left] - SCORE[right] + order


def test_normal_margins_have_the_normal_density(votes):
    duels, (left, right, margin, _) = votes
    mean = expectation(votes, 0.3)
    at = {"score": SCORE, "order": 0.3, "scale": 1.0}
    found = log_likelihood_at(ThurstoneScore() + SideAdvantage(), duels, at | {"noise": 0.8})
    assert found == pytest.approx(stats.norm.logpdf(margin, mean, 0.8).sum(), rel=1e-12)
    each = np.array([0.5, 0.8, 1.1, 0.6, 0.9])
    spread = np.sqrt(each[left] ** 2 + each[right] ** 2)
    by_arm = ThurstoneScore(variances="arm") + SideAdvantage()
    found = log_likelihood_at(by_arm, duels, at | {"noise": each})
    assert found == pytest.approx(stats.norm.logpdf(margin, mean, spread).sum(), rel=1e-12)


def test_student_margins_have_student_density_and_weights_count(votes):
    _, (left, right, margin, _) = votes
    weight = np.arange(len(margin)) % 3 + 1
    duels = to_log(left, right, margin, weight)
    model = ThurstoneScore(degrees=3.5) + SideAdvantage()
    at = {"score": SCORE, "order": 0.3, "scale": 1.0, "noise": 0.8}
    each = stats.t.logpdf(margin, 3.5, expectation(votes, 0.3), 0.8)
    assert log_likelihood_at(model, duels, at) == pytest.approx(weight @ each, rel=1e-8)


def grouped(left, right, margin, mean):
    """Yield each pair's margins less their expectation, as seen from its first arm."""
    sign = np.where(left < right, 1.0, -1.0)
    low, high = np.minimum(left, right), np.maximum(left, right)
    for pair in np.unique(low * 100 + high):
        yield (sign * (margin - mean))[low * 100 + high == pair]


@pytest.mark.slow
def test_a_variance_a_pair_is_integrated_out(votes):
    duels, (left, right, margin, _) = votes
    s, nu = 0.8, 4.0

    def density(rest):
        def integrand(log_v):
            v = np.exp(log_v)
            prior = stats.invgamma.logpdf(v, nu / 2, scale=nu * s**2 / 2)
            return np.exp(prior + log_v + stats.norm.logpdf(rest, 0, np.sqrt(v)).sum())

        return np.log(integrate.quad(integrand, -12, 12, epsabs=0, epsrel=1e-10, limit=500)[0])

    expected = sum(density(r) for r in grouped(left, right, margin, expectation(votes, 0.3)))
    at = {"score": SCORE, "order": 0.3, "scale": 1.0, "noise": s, "shrinkage": nu}
    model = ThurstoneScore(variances="pair") + SideAdvantage()
    assert log_likelihood_at(model, duels, at) == pytest.approx(expected, rel=1e-8)


def test_a_residual_a_pair_is_integrated_out(votes):
    duels, (left, right, margin, _) = votes
    s, d = 0.8, 0.6
    expected = sum(
        stats.multivariate_normal.logpdf(r, np.zeros(len(r)), s**2 * np.eye(len(r)) + d**2)
        for r in grouped(left, right, margin, expectation(votes, 0.3))
    )
    at = {"score": SCORE, "order": 0.3, "scale": 1.0, "noise": s, "residual_scale": d}
    model = PerturbedThurstone() + SideAdvantage()
    assert log_likelihood_at(model, duels, at) == pytest.approx(expected, rel=1e-12)


# -- flat priors: what statistics knows -----------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{}, {"variances": "arm"}, {"variances": "pair"}, {"degrees": 5}]
)
@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (
            SideAdvantage(prior=FLAT) + Covariates(["x"], scale=FLAT),
            "'x' is a combination of 'order'",
        ),
        (Covariates(["x", "y"], scale=FLAT), "'y' is a combination of 'x'"),
    ],
)
def test_flat_priors_that_margins_cannot_tell_apart_are_named(settings, terms, said):
    rows = {"left": list("abcab"), "right": list("bcaca"), "margin": [1.0, 0.5, -2.0, 0.5, -1.5]}
    constant = {"x": [1.0] * 5, "y": [2.0] * 5}
    log = bd.read_duels(rows | constant, outcome=False, margin="margin", covariates=["x", "y"])
    model = ThurstoneScore(Scores(scale=FLAT) + terms, **settings)
    with pytest.raises(ValueError, match=f"scale should be finite .* {said}"):
        bd.fit(log, model)


@pytest.mark.parametrize("home", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_flat_prior_and_a_common_variance_are_weighted_least_squares(home):
    duels, (left, right, margin, weight) = draw_log(seed=5, weight=True)
    fit = bd.fit(
        duels,
        ThurstoneScore(scale=FLAT) + SideAdvantage(prior=FLAT)
        if home
        else ThurstoneScore(scale=FLAT),
        "laplace",
    )
    X = design(left, right, 5, home=home)
    wls = sm.WLS(margin, X, weights=weight).fit()
    mode = fit["laplace"]
    assert np.allclose(mode["score_mode"], centred(wls.params, 5), rtol=0, atol=1e-8)
    if home:
        assert float(mode["order_mode"]) == pytest.approx(wls.params[-1], abs=1e-8)
    # The posterior is Student's t about it: with weights counted as duels, df = n - p.
    n, p = weight.sum(), X.shape[1]
    rest = float(weight @ (margin - X @ wls.params) ** 2)
    assert float(mode["noise_mode"]) == pytest.approx(np.sqrt(rest / (n - p)), rel=1e-5)
    noise = fit["posterior"]["noise"].to_numpy().ravel()
    told = stats.kstest(rest / noise**2, stats.chi2(n - p).cdf)
    assert told.statistic < 0.05  # sampling importance resampling: not quite 4,000 draws
    error = fit["posterior"]["score"].std(("chain", "draw")).to_numpy()
    contrast = np.eye(5)[:, 1:] - 0.2
    cov = contrast @ np.linalg.inv(X.T @ (weight[:, None] * X))[:4, :4] @ contrast.T
    exact = np.sqrt(cov.diagonal() * rest / (n - p - 2))
    assert np.allclose(error, exact, rtol=0.08)  # a deviation of 2,500 draws: 1.4 %
    assert fit.attrs["khat"] < 0.5
    assert fit.attrs["tie_rule"] == "no ties"


def reml(log_variance, X, margin):
    """Return minus the restricted log likelihood (up to a constant) of each margin's variance."""
    weight = np.exp(-log_variance)
    precision = X.T @ (weight[:, None] * X)
    beta = np.linalg.solve(precision, X.T @ (weight * margin))
    rest = weight @ (margin - X @ beta) ** 2
    return 0.5 * (log_variance.sum() + np.linalg.slogdet(precision)[1] + rest), beta


@pytest.mark.slow
def test_variances_by_arm_are_those_of_penalised_restricted_likelihood():
    tau = np.array([0.4, 0.8, 1.2, 0.6, 1.0])
    noise = np.sqrt(tau[:, None] ** 2 + tau**2)
    duels, (left, right, margin, _) = draw_log(n=400, noise=noise, seed=6)
    X = design(left, right, 5)

    def target(log_tau):
        return reml(np.log(np.exp(2 * log_tau)[left] + np.exp(2 * log_tau)[right]), X, margin)

    middle = np.log(np.sqrt(np.mean(margin**2) / 2))

    def penalised(log_tau):
        return target(log_tau)[0] - stats.norm.logpdf(log_tau, middle, 1.0).sum()

    best = optimize.minimize(penalised, np.zeros(5) - 0.3, tol=1e-9)
    model = ThurstoneScore(scale=FLAT, variances="arm") + SideAdvantage(prior=FLAT)
    mode = bd.fit(duels, model, "laplace")["laplace"]
    assert np.allclose(mode["noise_mode"], np.exp(best.x), rtol=1e-3)
    score = centred(target(np.log(mode["noise_mode"].to_numpy()))[1], 5)
    assert np.allclose(mode["score_mode"], score, atol=1e-8)
    assert np.allclose(np.exp(best.x), tau, rtol=0.5)


@pytest.mark.slow
def test_student_scores_are_those_of_an_independent_optimiser():
    duels, (left, right, margin, _) = draw_log(seed=7)
    margin = margin + np.where(np.arange(len(margin)) % 15 == 0, 25.0, 0.0)  # wild ones
    duels = to_log(left, right, margin)
    fit = bd.fit(
        duels, ThurstoneScore(scale=FLAT, degrees=3.0) + SideAdvantage(prior=FLAT), "laplace"
    )
    X, s = design(left, right, 5), float(fit["laplace"]["noise_mode"])

    def fall(beta):
        return -stats.t.logpdf(margin, 3.0, X @ beta, s).sum()

    best = optimize.minimize(fall, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert np.allclose(fit["laplace"]["score_mode"], centred(best.x, 5), atol=1e-6)
    normal = bd.fit(duels, ThurstoneScore(scale=FLAT) + SideAdvantage(prior=FLAT), "laplace")
    truth = np.random.default_rng(7).normal(0, 1, 5)
    off = [abs(f["laplace"]["score_mode"] - truth + truth.mean()).max() for f in (fit, normal)]
    assert off[0] < 0.5 * off[1]  # robust to what ruins least squares


# -- what a fit is ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fits(votes):
    duels = votes[0]
    models = {
        "common": ThurstoneScore() + SideAdvantage(),
        "pair": ThurstoneScore(variances="pair") + SideAdvantage(),
        "perturbed": PerturbedThurstone() + SideAdvantage(),
    }
    return {
        name: bd.fit(duels, model, "laplace", draws=2000, seed=1) for name, model in models.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pair", "perturbed"])
def test_everything_downstream_takes_a_fit(fits, name, tmp_path):
    fit = fits[name]
    P = fit["preference"]["preference"].to_numpy().reshape(-1, 5, 5)
    assert np.allclose(P + np.swapaxes(P, 1, 2), 1)
    assert fit.attrs["khat"] < 0.7
    assert fit.attrs["model"] == fit.duel.model.name
    assert np.allclose(np.concatenate(list(bd.preference_draws(fit))), P, atol=1e-6)
    winners = bd.winners(fit)
    assert winners["rank_mean"].to_numpy().argmin() == winners["order"][0]
    assert float(winners["winner_share"].sel(criterion="borda").sum()) == pytest.approx(1)
    assert len(bd.next_pairs(fit, 3)) == 3
    told = bd.predict(fit, "a0", ["a1", "a2"])
    assert np.allclose(told["win"], P[:, 0, 1:3].mean(axis=0))
    assert (told["margin_lower"] < told["margin"]).all()
    fit.to_netcdf(tmp_path / "fit.nc")
    import xarray as xr

    again = xr.open_datatree(tmp_path / "fit.nc").load()
    assert str(bd.winners(again)) == str(winners)


@pytest.mark.slow
def test_noise_of_unequal_pairs_changes_borda_winners_but_not_the_ranking():
    """Arm 0 is a little better than arm 1, but its duels with arm 2 are a lottery."""
    noise = np.array([[1.0, 0.3, 9.0], [0.3, 1.0, 0.5], [9.0, 0.5, 1.0]])
    rng = np.random.default_rng(2)
    left, right = np.tile([0, 0, 1], 150), np.tile([1, 2, 2], 150)
    score = np.array([1.1, 1.0, -1.0])
    margin = score[left] - score[right] + noise[left, right] * rng.standard_normal(450)
    fit = bd.fit(to_log(left, right, margin), ThurstoneScore(variances="pair"), "laplace")
    winners = bd.winners(fit)
    share = winners["winner_share"]
    best = fit["posterior"]["score"].to_numpy().reshape(-1, 3).argmax(axis=1)
    for criterion in ("condorcet", "copeland"):
        assert np.allclose(
            share.sel(criterion=criterion), np.bincount(best, minlength=3) / len(best)
        )
    assert share.sel(criterion="copeland", arm="a0") > 0.95
    assert share.sel(criterion="borda", arm="a1") > 0.95
    assert winners.attrs["ranked_by"] == "score" and winners["order"][0] == 0


@pytest.mark.slow
def test_a_conditional_draw_of_what_was_integrated_out_is_right(fits, votes):
    """With the draws of everything else, residual and noise of pairs have known means."""
    _, (left, right, margin, _) = votes
    posterior = {
        n: v.to_numpy().reshape(-1, *v.shape[2:])
        for n, v in fits["perturbed"]["posterior"].data_vars.items()
    }
    first, second = np.triu_indices(5, 1)
    score, d, s = posterior["score"], posterior["residual_scale"], posterior["noise"]
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        sign = np.where((left == i) & (right == j), 1.0, -1.0)
        here = (np.minimum(left, right) == i) & (np.maximum(left, right) == j)
        rest = (sign * margin)[here] - sign[here] * posterior["order"][:, None]
        rest = rest - (score[:, i] - score[:, j])[:, None]
        precision = here.sum() / s**2 + 1 / d**2
        error = (posterior["residual"][:, p] - rest.sum(axis=1) / s**2 / precision) * np.sqrt(
            precision
        )
        assert abs(error.mean()) < 5 / np.sqrt(len(error))
        assert abs(error.std() - 1) < 5 / np.sqrt(2 * len(error))


def test_predictive_margins_are_those_of_a_simulation(fits):
    rng = np.random.default_rng(0)
    for name in ("common", "pair", "perturbed"):
        fit = fits[name]
        posterior = {
            n: v.to_numpy().reshape(-1, *v.shape[2:]) for n, v in fit["posterior"].data_vars.items()
        }
        model = fit.duel.model
        middle, spread, _ = model.margins(
            posterior,
            {"first": np.array([3]), "second": np.array([1]), "left_first": np.ones(1)},
        )
        next_one = (middle + spread * rng.standard_normal((len(middle), 1)))[:, 0]
        told = bd.predict(fit, "a3", "a1", ci_prob=0.8, side_advantage=True)
        below = [(next_one < float(told[n])).mean() for n in ("margin_lower", "margin_upper")]
        # Binomial, 2,000 draws: five standard errors.
        assert np.allclose(below, [0.1, 0.9], atol=5 * np.sqrt(0.09 / 2000))
        assert abs((next_one < float(told["margin"])).mean() - 0.5) < 5 * np.sqrt(0.25 / 2000)


@pytest.mark.slow
def test_the_unit_does_not_matter():
    small, _ = draw_log(seed=8)
    large, _ = draw_log(seed=8, unit=250.0)
    one, other = (bd.fit(log, ThurstoneScore(), "laplace", seed=4) for log in (small, large))
    for name in ("score", "scale", "noise"):
        assert np.allclose(250 * one["posterior"][name], other["posterior"][name], rtol=1e-4)
    assert np.allclose(
        one["preference"]["preference"], other["preference"]["preference"], atol=1e-5
    )


@pytest.mark.slow
def test_sides_do_not_matter_without_side_advantage():
    _, (left, right, margin, _) = draw_log(seed=9)
    flip = np.arange(len(left)) % 2 == 0
    turned = to_log(
        np.where(flip, right, left), np.where(flip, left, right), np.where(flip, -margin, margin)
    )
    fits = [
        bd.fit(log, ThurstoneScore(), "laplace", seed=2)
        for log in (to_log(left, right, margin), turned)
    ]
    assert np.allclose(fits[0]["laplace"]["score_mode"], fits[1]["laplace"]["score_mode"])


@pytest.mark.slow
def test_cycles_of_margins_are_found_and_a_ranking_is_not_called_a_cycle():
    left, right = np.tile([0, 1, 2], 40), np.tile([1, 2, 0], 40)
    margin = 1.0 + 0.5 * np.random.default_rng(1).standard_normal(120)
    fit = bd.fit(to_log(left, right, margin), PerturbedThurstone(), "laplace")
    assert bd.winners(fit).attrs["verdict_kind"] == "cycle"
    ranked, _ = draw_log(n=600, noise=0.3, seed=10)
    fit = bd.fit(ranked, PerturbedThurstone() + SideAdvantage(), "laplace")
    assert bd.winners(fit).attrs["verdict_kind"] == "winner"
    d = fit["posterior"]["residual_scale"]
    assert float(d.quantile(0.9)) < 0.25
    cyclic = bd.fit(draw_log(n=600, noise=0.3, residual=0.5, seed=10)[0], PerturbedThurstone())
    low, high = cyclic["posterior"]["residual_scale"].quantile([0.01, 0.99])
    assert low < 0.5 < high and low > 0.1


def test_held_out_margins_are_predicted(votes):
    found = held_out(votes[0], ThurstoneScore() + SideAdvantage(), folds=3, draws=400)
    assert found.log_loss < np.log(2)
    assert found.unit == "duel"
    assert found.n.sum() == votes[0].n_duels


@pytest.mark.slow
def test_nuts_agrees_with_laplace(votes, fits):
    model = fits["pair"].duel.model
    sampled = bd.fit(votes[0], model, "pymc", draws=2000, chains=2, seed=3)
    for name in ("score", "order", "noise", "pair_noise"):
        a, b = (f["posterior"][name] for f in (sampled, fits["pair"]))
        error = np.sqrt(2) * b.std(("chain", "draw")) / np.sqrt(1000)
        off = abs(a.mean(("chain", "draw")) - b.mean(("chain", "draw")))
        assert (off < 5 * error).all(), name
    assert sampled["log_likelihood_by_cell"]["outcome"].sizes["cell"] == len(votes[0].pairs().first)


def test_predictions_with_the_advantage_of_a_side_need_one(fits, votes):
    plain = bd.fit(votes[0], BradleyTerry())
    with pytest.raises(ValueError, match="needs a fit that has learned a side advantage"):
        bd.predict(plain, "a0", "a1", side_advantage=True)
    home = bd.predict(fits["common"], "a0", "a1", side_advantage=True)
    assert home["win"] > bd.predict(fits["common"], "a0", "a1")["win"]
