"""fit: against maximum likelihood elsewhere, against quadrature, against NUTS, and thin data."""

import json
import warnings
from pathlib import Path

import arviz_stats as azs
import choix
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.data.health import DisconnectedWarning, ThinDataWarning
from bayesduel.inference.fit import UncertifiedWarning, fit
from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix, Thurstone

FLAT = BradleyTerry(scale=np.inf)


@pytest.mark.parametrize("name", ["citations", "celebrities", "baseball1987", "springall"])
def test_flat_bradley_terry_equals_choix(name):
    duels = bd.datasets.load(name)
    wins = duels.tally("half").wins
    theirs = choix.ilsr_pairwise_dense(wins, tol=1e-13, max_iter=10_000)
    tree = fit(duels, FLAT, "laplace", draws=100)
    ours = tree["laplace"]["score_mode"].values
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)


@pytest.mark.parametrize("name", ["citations", "celebrities", "baseball1987"])
def test_laplace_standard_errors_equal_the_inverse_fisher_information(name):
    duels = bd.datasets.load(name)
    tree = fit(duels, FLAT, "laplace", draws=100)
    score = tree["laplace"]["score_mode"].values
    wins = duels.tally().wins
    P = 1 / (1 + np.exp(score[None, :] - score[:, None]))
    weight = (wins + wins.T) * P * (1 - P)
    fisher = np.diag(weight.sum(axis=1)) - weight
    covariance = tree["laplace"]["score_cov"].values
    np.testing.assert_allclose(covariance, np.linalg.pinv(fisher), atol=1e-9)


def test_flat_thurstone_maximises_the_probit_likelihood():
    from scipy.optimize import minimize

    wins = bd.datasets.load("citations").tally().wins
    mode = fit(bd.datasets.load("citations"), Thurstone(scale=np.inf), "laplace", draws=100)

    def loss(free):
        score = np.append(free, -free.sum())
        return -(wins * stats.norm.logcdf(score[:, None] - score[None, :])).sum()

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(mode["laplace"]["score_mode"].values[:3], best.x, atol=1e-5)


def quadrature(wins: int, losses: int) -> tuple[float, float]:
    """Mean and standard deviation of the score difference of two arms, scale learned."""
    free = np.linspace(-40, 40, 8_001)[:, None]
    scale = np.exp(np.linspace(-9, 3, 300))[None, :]
    log = wins * np.sqrt(2) * free - (wins + losses) * np.logaddexp(0, np.sqrt(2) * free)
    log = log + stats.norm(0, scale).logpdf(free) + stats.halfnorm(scale=2).logpdf(scale)
    weight = np.exp(log - log.max()) * scale  # d scale = scale d log scale
    weight = weight.sum(axis=1) / weight.sum()
    difference = np.sqrt(2) * free[:, 0]
    mean = (weight * difference).sum()
    return mean, np.sqrt((weight * (difference - mean) ** 2).sum())


@pytest.mark.parametrize(("wins", "losses"), [(12, 5), (40, 38), (7, 0)])
@pytest.mark.sampled(3)
def test_two_arms_against_quadrature(wins, losses):
    duels = Duels.from_wins(np.array([[0, wins], [losses, 0]]), ["a", "b"])
    tree = fit(duels, draws=8000, seed=3)
    score = tree["posterior"]["score"]
    difference = (score.sel(arm="a") - score.sel(arm="b")).values.ravel()
    mean, deviation = quadrature(wins, losses)
    ess = tree.attrs["importance_ess"]
    assert abs(difference.mean() - mean) < 5 * deviation / np.sqrt(ess)
    # Skewed posteriors: a standard deviation's own relative error is below 3 / sqrt(2 ess) here.
    assert abs(difference.std() / deviation - 1) < 5 * 3 / np.sqrt(2 * ess)


@pytest.mark.slow
@pytest.mark.parametrize("model", [BradleyTerry(), Davidson(), PreferenceMatrix()], ids=repr)
def test_laplace_and_nuts_agree_within_monte_carlo_error(model):
    duels = bd.datasets.load("springall")
    name = "theta" if isinstance(model, PreferenceMatrix) else "score"
    fast = fit(duels, model, "laplace", seed=1, log_likelihood=False)
    slow = fit(duels, model, "pymc", seed=2, log_likelihood=False)
    assert fast.attrs["khat"] < 0.7
    assert np.isnan(slow.attrs["khat"])
    a, b = fast["posterior"][name], slow["posterior"][name]
    for summary in (lambda x: x, lambda x: x**2):
        fa, fb = summary(a), summary(b)
        ess_a = fast.attrs["importance_ess"]
        error = np.sqrt(fa.var(("chain", "draw")) / ess_a + azs.mcse(fb) ** 2)
        gap = abs(fa.mean(("chain", "draw")) - fb.mean(("chain", "draw")))
        assert float((gap / error).max()) < 5
    assert float(azs.rhat(b).max()) < 1.02


def test_the_tree_is_what_arviz_expects():
    tree = fit(bd.datasets.load("springall"), "bradley-terry", draws=800, seed=5)
    groups = {"posterior", "sample_stats", "observed_data", "constant_data"}
    assert groups | {"log_likelihood_by_cell"} <= set(tree.children)
    assert tree["posterior"]["score"].dims == ("chain", "draw", "arm")
    assert tree["preference"]["preference"].dims == ("chain", "draw", "arm", "opponent")
    assert tree["posterior"].sizes == {"chain": 4, "draw": 200, "arm": 9, "opponent": 9}
    np.testing.assert_allclose(tree["posterior"]["score"].sum("arm"), 0.0, atol=1e-9)
    summary = azs.summary(tree, var_names=["score", "scale"])
    assert len(summary) == 10
    with pytest.raises(TypeError, match="log likelihood not found"):
        azs.loo(tree)  # which would take a pair of several duels for one observation
    attrs = tree.attrs
    assert attrs["model"] == "bradley-terry"
    assert attrs["method"] == "laplace"
    assert "k-hat" in attrs["method_reason"]
    assert json.loads(attrs["versions"])["pymc"]
    assert attrs["tie_rule"] == "a tie counts half a win for each side"


def test_a_fit_survives_a_file(tmp_path):
    import xarray as xr

    tree = fit(bd.datasets.load("tennis1990"), BradleyTerry(scale=1.0), draws=400)
    tree.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    again = xr.open_datatree(tmp_path / "fit.nc", engine="h5netcdf")
    np.testing.assert_array_equal(again["posterior"]["score"], tree["posterior"]["score"])
    assert again.attrs["model_settings"] == tree.attrs["model_settings"]
    assert bd.winners(again).attrs["verdict"] == bd.winners(tree).attrs["verdict"]


def test_the_log_likelihood_is_that_of_the_counts():
    duels = bd.datasets.load("citations")
    tree = fit(duels, draws=400)
    pairs = duels.pairs()
    P = tree["preference"]["preference"].values[0, 0][pairs.first, pairs.second]
    exact = stats.binom(pairs.first_wins + pairs.second_wins, P).logpmf(pairs.first_wins)
    np.testing.assert_allclose(
        tree["log_likelihood_by_cell"]["outcome"].values[0, 0], exact, rtol=1e-9
    )


def test_large_tables_of_draws_are_left_out(monkeypatch):
    """Draws x cells and draws x arms x arms, 8 bytes a number; the limits are still allowed."""
    duels = bd.datasets.load("citations")
    n_arms, n_cells = len(duels.arms), len(duels.pairs().first)

    def groups(likelihood, preference):
        monkeypatch.setattr("bayesduel.inference.fit.LIKELIHOOD_BYTES", likelihood)
        monkeypatch.setattr("bayesduel.inference.datatree.PREFERENCE_BYTES", preference)
        tree = fit(duels, "preference-matrix", draws=300, chains=2)
        return {"log_likelihood_by_cell", "preference"} & set(tree.children)

    likelihood, preference = 300 * n_cells * 8, 300 * n_arms**2 * 8
    assert groups(likelihood, preference) == {"log_likelihood_by_cell", "preference"}
    assert groups(likelihood - 1, preference) == {"preference"}
    assert groups(likelihood, preference - 1) == {"log_likelihood_by_cell"}


KEPT = {  # fits whose group of P a file does not hold
    "davidson": {"model": "davidson + order"},
    "matrix": {"model": "preference-matrix"},
    "by prompt": {"model": "bradley-terry + random:group"},
    "margins": {"model": "thurstone-score"},
    "too large": {"model": "bradley-terry"},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", ["nc", "zarr"])
@pytest.mark.parametrize("kind", KEPT)
def test_a_file_leaves_out_what_follows_and_a_loaded_fit_has_it(
    kind, ending, tmp_path, monkeypatch
):
    if kind == "too large":
        monkeypatch.setattr("bayesduel.inference.datatree.PREFERENCE_BYTES", 1)
    rng = np.random.default_rng(4)
    sides = {"left": rng.choice(["a", "b"], 90), "right": rng.choice(["c", "d"], 90)}
    votes = {**sides, "margin": rng.normal(size=90), "group": rng.choice(list("xyz"), 90)}
    made = fit(bd.read_duels(pd.DataFrame(votes)), **KEPT[kind], draws=200, clusters=False)
    path = tmp_path / f"fit.{ending}"
    if ending == "nc":
        made.to_netcdf(path)
    else:
        made.to_zarr(path, consolidated=False)
    with xr.open_datatree(path, **({} if ending == "nc" else {"consolidated": False})) as stored:
        assert "preference" not in stored.children
    loaded = bd.load(path)
    assert loaded.identical(made) and "left_out" not in made.attrs
    assert ("preference" in loaded.children) == (kind != "too large")
    if kind == "by prompt":
        one = bd.estimand(made, at={"group": "x"})
        again = bd.estimand(loaded, at={"group": "x"})
        assert one["preference"].identical(again["preference"])


def test_four_thousand_draws_are_the_default():
    tree = fit(bd.datasets.load("citations"), "preference-matrix")
    assert (tree["posterior"].sizes["chain"], tree["posterior"].sizes["draw"]) == (4, 1000)


def test_same_seed_same_draws():
    duels = bd.datasets.load("citations")
    first, second, other = (fit(duels, draws=400, seed=s)["posterior"]["score"] for s in (7, 7, 8))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_relabelling_the_arms_commutes():
    wins = np.array([[0, 7, 3, 5], [2, 0, 6, 1], [4, 4, 0, 9], [0, 3, 2, 0]])
    order = [2, 0, 3, 1]
    plain = fit(Duels.from_wins(wins, ["a", "b", "c", "d"]), draws=4000, seed=1)
    moved = fit(
        Duels.from_wins(wins[np.ix_(order, order)], [f"z{k}" for k in range(4)]), draws=4000, seed=1
    )
    for place, arm in enumerate(order):
        a = plain["laplace"]["score_mode"].values[arm]
        assert moved["laplace"]["score_mode"].values[place] == pytest.approx(a, abs=1e-4)


THIN = {
    "undefeated": Duels.from_wins(np.array([[0, 2, 1], [0, 0, 1], [0, 1, 0]]), ["a", "b", "c"]),
    "one duel": Duels.from_wins(np.array([[0, 1], [0, 0]]), ["a", "b"]),
    "all ties": Duels.from_wins(
        np.zeros((3, 3)), ["a", "b", "c"], ties=2 * (np.ones((3, 3)) - np.eye(3))
    ),
}


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "davidson", "preference-matrix"])
@pytest.mark.parametrize("name", THIN)
@pytest.mark.sampled(3)
def test_thin_data_gives_finite_wide_posteriors_and_a_warning(name, model):
    duels = THIN[name]
    with pytest.warns(ThinDataWarning, match="few for"):
        tree = fit(duels, model, "laplace", draws=2000, log_likelihood=False)
    P = tree["preference"]["preference"]
    assert np.isfinite(P).all()
    width = P.quantile(0.975, ("chain", "draw")) - P.quantile(0.025, ("chain", "draw"))
    assert float(width.sel(arm="a", opponent="b")) > 0.25
    mean = float(P.mean(("chain", "draw")).sel(arm="a", opponent="b"))
    assert abs(mean - 0.5) < 0.06 if name == "all ties" else 0.5 < mean < 0.95


def test_two_components_are_named():
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = 30
    wins[3, 2] = 10
    duels = Duels.from_wins(wins, ["a", "b", "c", "d"])
    with pytest.warns(DisconnectedWarning, match=r"2 components .*a, b; c, d"):
        tree = fit(duels, draws=2000)
    assert json.loads(tree.attrs["components"]) == [["a", "b"], ["c", "d"]]
    # Across components the prior decides: nothing is known of a against c but their spread.
    P = tree["preference"]["preference"].sel(arm="a", opponent="c")
    assert float(P.quantile(0.975) - P.quantile(0.025)) > 0.4
    with pytest.raises(ValueError, match="2 groups of arms never met"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(duels, FLAT)


def test_a_separable_log_is_refused_under_a_flat_prior_and_fine_otherwise():
    wins = np.array([[0, 9, 9], [0, 0, 9], [0, 9, 0]])
    duels = Duels.from_wins(wins, ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"never lost: \['a'\]"):
        fit(duels, FLAT)
    tree = fit(duels, draws=2000)
    assert np.isfinite(tree["posterior"]["score"]).all()


@pytest.mark.slow
def test_uncertified_laplace_warns_and_auto_turns_to_nuts(monkeypatch):
    from dataclasses import replace

    from bayesduel.inference import fit as fitting
    from bayesduel.inference import sample as sampling

    duels = bd.datasets.load("citations")

    def doubtful(*args, **kwargs):
        drawn = sampling.sample(*args, **kwargs)
        return replace(drawn, certificate=replace(drawn.certificate, khat=0.9))

    monkeypatch.setattr(fitting, "sample", doubtful)
    with pytest.warns(UncertifiedWarning, match=r"k-hat 0.90 is not below 0.7"):
        fit(duels, method="laplace", draws=400)
    tree = fit(duels, draws=400)
    assert tree.attrs["method"] == "nuts"
    assert "k-hat 0.90 is not below 0.7" in tree.attrs["method_reason"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"duels": "votes.csv"}, FileNotFoundError, "votes.csv"),
        ({"duels": "fit.nc"}, ValueError, r"got the file of a fit: bd.load\(\) opens it"),
        ({"duels": 3}, TypeError, "duels should be a bayesduel.Duels"),
        ({"duels": xr.DataTree()}, TypeError, r"\(a fit\?\): pass the log that it was made of"),
        ({"model": "elo"}, ValueError, "model name should be one of"),
        ({"model": 3}, TypeError, "model should be a name or a model"),
        ({"method": "vi"}, ValueError, "method should be"),
        ({"draws": 10}, ValueError, "draws should be at least 100, got 10"),
        ({"draws": 4e3}, TypeError, "draws should be a whole number"),
        ({"seed": -1}, ValueError, "seed should be at least 0, got -1"),
        ({"chains": 0}, ValueError, "chains should be at least 1, got 0"),
    ],
)
def test_bad_arguments(arguments, error, words):
    arguments = {"duels": THIN["one duel"]} | arguments
    with pytest.raises(error, match=words):
        fit(**arguments)


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("call", ["fit", "winners", "check", "report", "priors"])
@pytest.mark.slow
def test_the_path_of_a_log_stands_for_it(call, kind, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text(
        "left,right,outcome\n" + "a,b,left\nb,c,left\nc,a,tie\na,c,left\nb,a,left\n" * 3
    )
    calls = {
        "fit": lambda log: bd.fit(log, draws=100).duel.arms,
        "winners": lambda log: bd.winners(log).sizes["arm"],
        "check": lambda log: bd.check(log, quick=True).p_one_ranking,
        "report": lambda log: bd.report(log, tmp_path / "page.html", draws=100).read_bytes()[:9],
        "priors": lambda log: str(bd.priors(log)),
    }
    assert calls[call](kind(file)) == calls[call](bd.read_duels(file))
