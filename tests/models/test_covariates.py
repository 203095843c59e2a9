"""Covariates of items and of duels: maximum likelihood as others compute it, and beyond it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy.special import expit

import bayesduel as bd
from bayesduel.data import datasets
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import BradleyTerry, Covariates, JudgeReliability, Scores, SideAdvantage
from bayesduel.posterior.conditions import ExtrapolationWarning
from bayesduel.system.arguments import command_line

PLAIN = Mode("py", None)  # no compiler: these graphs run a few times


def by_attributes(items, *, order=False, **settings):
    """Return Bradley-Terry on attributes; with `order`, with a side advantage."""
    model = BradleyTerry(Covariates(items, **settings))
    return model + SideAdvantage(prior=np.inf if model.terms.flat else 1.0) if order else model


def density_of(model, duels):
    return linear_predictor(model, model.cells(duels))


def shipped(name, **reading):
    return datasets.load(name), datasets.items(name, **reading)


def table_of(n_items, n_attributes, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(n_items, n_attributes)), columns=[f"x{k}" for k in range(n_attributes)]
    )
    frame.insert(0, "item", [f"i{k:03d}" for k in range(n_items)])
    return bd.read_items(frame)


def drawn_log(items, coefficient, n_duels, seed, spread=0.0, order=0.0):
    rng = np.random.default_rng(seed)
    utility = items.matrix() @ coefficient + spread * rng.normal(size=len(items.labels))
    left = rng.integers(0, len(utility), n_duels)
    right = (left + rng.integers(1, len(utility), n_duels)) % len(utility)
    win = rng.random(n_duels) < expit(utility[left] - utility[right] + order)
    names = np.array(items.labels)
    return bd.Duels.from_votes(names[left], names[right], win.astype(float))


@pytest.mark.parametrize(
    ("name", "order"), [("springall", False), ("heaviness", True), ("chameleons", False)]
)
def test_flat_prior_is_the_logistic_regression_of_statsmodels(name, order):
    import statsmodels.api as sm

    duels, items = shipped(name)
    model = by_attributes(items, scale=np.inf, item_effect=False, order=order)
    fit = bd.fit(duels, model, "laplace", draws=400)
    raw = pd.DataFrame(items.values, index=list(items.labels)).loc[list(duels.arms)].to_numpy()
    cells = duels.cells
    design = raw[cells.left] - raw[cells.right]
    if order:
        design = np.column_stack([design, np.ones(len(design))])
    counts = np.column_stack([cells.left_wins + cells.ties / 2, cells.right_wins + cells.ties / 2])
    other = sm.GLM(counts, design, family=sm.families.Binomial()).fit(tol=1e-14, maxiter=100)
    units = items.deviations
    mode, error = fit["laplace"]["coefficient_mode"], fit["laplace"]["coefficient_se"]
    n = len(units)
    np.testing.assert_allclose(mode / units, other.params[:n], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(error / units, other.bse[:n], rtol=1e-6, atol=1e-6)
    if order:
        np.testing.assert_allclose(fit["laplace"]["order_mode"], other.params[n], atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [{}, {"order": True}, {"item_effect": False, "scale": 0.7}],
    ids=repr,
)
def test_derivatives_equal_finite_differences(settings):
    duels, items = shipped("springall")
    linear = density_of(by_attributes(items, **settings), duels)
    rng = np.random.default_rng(2)
    x, hyper, h = rng.normal(size=linear.size), 0.3, 1e-5
    parts = linear.parts(x, hyper)
    steps = h * np.eye(linear.size)
    gradient = [(linear.value(x + s, hyper) - linear.value(x - s, hyper)) / (2 * h) for s in steps]
    np.testing.assert_allclose(parts.gradient, gradient, atol=2e-5)
    bend = [
        (linear.parts(x + s, hyper).gradient - linear.parts(x - s, hyper).gradient) / (2 * h)
        for s in steps
    ]
    np.testing.assert_allclose(parts.precision, -np.array(bend), atol=2e-5)
    np.testing.assert_allclose(linear.pack(linear.parameters(x)), x)


@pytest.mark.slow
def test_laplace_and_nuts_agree():
    duels, items = shipped("springall")
    model = by_attributes(items)
    laplace, nuts = (bd.fit(duels, model, m, seed=3) for m in ("laplace", "pymc"))
    assert laplace.attrs["khat"] < 0.7
    a, b = (f["posterior"]["coefficient"] for f in (laplace, nuts))
    spread = a.std(("chain", "draw"))
    # Independent draws against at least 400 effective ones: five standard errors.
    assert (abs(a.mean(("chain", "draw")) - b.mean(("chain", "draw"))) < 0.27 * spread).all()
    np.testing.assert_allclose(spread, b.std(("chain", "draw")), rtol=0.25)
    assert int(nuts["sample_stats"]["diverging"].sum()) == 0


@pytest.mark.slow
def test_coefficients_are_on_the_scale_of_the_table():
    items = table_of(40, 3, seed=1)
    duels = drawn_log(items, np.array([1.0, -0.5, 0.0]), 6000, seed=2)
    fit = bd.fit(duels, by_attributes(items, item_effect=False))
    told = bd.coefficients(fit)
    draws = fit["posterior"]["coefficient"].to_numpy().reshape(-1, 3)
    one = draws / items.deviations
    np.testing.assert_allclose(told["coefficient"], one.mean(axis=0))
    np.testing.assert_allclose(told["odds_ratio"], np.exp(np.median(one, axis=0)))
    np.testing.assert_allclose(told["change"], (expit(one) - 0.5).mean(axis=0))
    np.testing.assert_allclose(told["positive"], (one > 0).mean(axis=0))
    np.testing.assert_allclose(told["lower"], np.quantile(one, 0.025, axis=0), atol=0.01)
    assert told["lower"]["x0"] > 0 > told["upper"]["x1"]
    assert told.attrs["covariance"] == "model"


@pytest.mark.slow
def test_what_attributes_miss_widens_the_intervals_to_keep_their_word():
    """Items that differ beyond the table: 40 logs, 95 % intervals of 2 coefficients each."""
    truth = np.array([0.8, -0.4])
    inside = {True: 0, False: 0}
    for seed in range(40):
        items = table_of(25, 2, seed)
        duels = drawn_log(items, truth, 3000, seed + 100, spread=0.7)
        for effect in inside:
            model = by_attributes(items, item_effect=effect)
            fit = bd.fit(duels, model, "laplace", draws=400, log_likelihood=False)
            told = bd.coefficients(fit)
            low, high = told["standard_lower"], told["standard_upper"]
            inside[effect] += int(((low < truth) & (truth < high)).sum())
    # Binomial(80, 0.95) is below 65 with probability 1e-6; without the effect half are missed.
    assert inside[True] >= 65
    assert inside[False] < 60


def test_side_advantage_is_found_and_left_out_of_preferences():
    items = table_of(12, 2, seed=4)
    duels = drawn_log(items, np.array([0.7, 0.0]), 8000, seed=5, order=0.8)
    fit = bd.fit(duels, by_attributes(items, order=True))
    told = bd.coefficients(fit)
    assert told.loc["side advantage", "lower"] < 0.8 < told.loc["side advantage", "upper"]
    assert told.loc["side advantage", "lower"] > 0.6
    P = fit["preference"]["preference"].to_numpy()
    np.testing.assert_allclose(P + P.swapaxes(-1, -2), 1.0, atol=1e-12)
    assert fit["log_likelihood_by_cell"].sizes["cell"] == len(duels.cells.left)
    assert fit["constant_data"].sizes["cell"] == len(duels.cells.left)


@pytest.mark.slow
def test_a_fit_can_be_saved_read_and_asked(tmp_path):
    duels, items = shipped("springall")
    fit = bd.fit(duels, by_attributes(items))
    fit.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    again = xr.open_datatree(tmp_path / "fit.nc").load()
    pd.testing.assert_frame_equal(bd.coefficients(again), bd.coefficients(fit))
    assert bd.winners(again).attrs["verdict"] == bd.winners(fit).attrs["verdict"]


def test_new_items_are_predicted_from_their_attributes():
    items = table_of(30, 2, seed=6)
    truth = np.array([1.0, 0.3])
    duels = drawn_log(items, truth, 8000, seed=7)
    fit = bd.fit(duels, by_attributes(items))
    new = pd.DataFrame({"item": ["low", "middle", "high"], "x0": [-9.0, 0.0, 9.0], "x1": [0, 0, 0]})
    read = bd.read_items(new, like=items)
    with pytest.warns(ExtrapolationWarning, match="outside its range for low and high"):
        told = bd.predict_items(fit, read)
        assert bd.predict_items(fit, new).equals(told)
    assert list(told.index) == ["high", "middle", "low"]
    assert told.loc["high", "beats_best"] > 0.99 and told.loc["low", "beats_best"] < 0.01
    assert told["outside"].to_dict() == {"high": 1, "middle": 0, "low": 1}
    rate = expit((read.matrix()[1] - items.matrix()) @ truth).mean()
    assert told.loc["middle", "win_rate_lower"] < rate < told.loc["middle", "win_rate_upper"]


def test_the_attributes_of_a_known_item_do_not_beat_it():
    """Without an effect of the item they are equal: no draw is to tell them apart by rounding."""
    items = table_of(12, 3, seed=11)
    duels = drawn_log(items, np.array([0.5, 0.2, -0.7]), 2000, seed=12)
    fit = bd.fit(duels, by_attributes(items, item_effect=False))
    table = pd.DataFrame(items.values, columns=["x0", "x1", "x2"])
    table.insert(0, "item", [f"again {label}" for label in items.labels])
    told = bd.predict_items(fit, bd.read_items(table, like=items))
    assert told["beats_best"].eq(0).all()


def test_repeated_votes_widen_the_intervals():
    """Each of 60 judges votes 20 times the same way: the log knows 60 things, not 1,200."""
    items = table_of(10, 1, seed=8)
    rng = np.random.default_rng(9)
    left = rng.integers(0, 10, 60)
    right = (left + rng.integers(1, 10, 60)) % 10
    utility = items.matrix()[:, 0]
    win = (rng.random(60) < expit(utility[left] - utility[right])).astype(float)
    names = np.array(items.labels)
    once = bd.Duels.from_votes(names[left], names[right], win)
    many = [np.repeat(x, 20) for x in (names[left], names[right], win, np.arange(60))]
    repeated = bd.Duels.from_votes(*many[:3], judge=many[3])
    model = by_attributes(items, item_effect=False, scale=np.inf)
    fit = bd.fit(repeated, model)
    told, naive = bd.coefficients(fit), bd.coefficients(fit, covariance="model")
    alone = bd.coefficients(bd.fit(once, model))

    def width(frame):
        return float((frame["upper"] - frame["lower"]).iloc[0])

    assert told.attrs["covariance"] == "judge"
    assert width(told) > 3 * width(naive)
    assert width(told) == pytest.approx(width(alone), rel=0.35)
    pair = repeated.arms[0], repeated.arms[1]
    careful, careless = (bd.predict(fit, *pair, covariance=e) for e in ("auto", "model"))
    assert careful.attrs["covariance"] == "judge"
    spread = [float(p["win_upper"] - p["win_lower"]) for p in (careful, careless)]
    assert spread[0] > 3 * spread[1]


@pytest.mark.slow
def test_what_takes_a_fit_takes_a_fit_of_attributes(tmp_path):
    duels, items = shipped("springall")
    fit = bd.fit(duels, by_attributes(items))
    assert len(bd.next_pairs(fit, 2)) == 2
    page = bd.report(fit, tmp_path / "report.html", duels=duels).read_text(encoding="utf-8")
    assert "attributes (one coefficient per attribute" in page


# -- bad input -----------------------------------------------------------------------------


def test_items_of_the_log_that_are_not_in_the_table_are_named():
    duels, _ = shipped("springall")
    items = datasets.items("springall")
    fewer = replace(items, labels=items.labels[1:], values=items.values[1:])
    with pytest.raises(ValueError, match=r"without 'flavour 0\.6 gel 0\.0'"):
        bd.fit(duels, by_attributes(fewer))


def test_separation_is_named_under_a_flat_prior_and_bounded_by_a_proper_one():
    items = table_of(6, 2, seed=10)
    order = np.argsort(-items.matrix()[:, 0])
    names = np.array(items.labels)[order]
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    duels = bd.Duels.from_votes(
        [names[i] for i, _ in pairs], [names[j] for _, j in pairs], [1.0] * len(pairs)
    )
    flat = by_attributes(items, scale=np.inf, item_effect=False)
    with pytest.raises(ValueError, match="separate wins from losses"):
        bd.fit(duels, flat)
    told = bd.coefficients(bd.fit(duels, by_attributes(items, item_effect=False)))
    assert np.isfinite(told[["lower", "upper"]].to_numpy()).all()
    assert told.loc["x0", "standard"] > 0 and told.loc["x0", "standard_upper"] < 6


def test_what_a_flat_prior_cannot_tell_apart_is_named():
    items = table_of(6, 3, seed=11)
    names = items.labels[:3]  # three items have two differences, for three attributes
    log = [(a, b, w) for a in names for b in names if a != b for w in (0.0, 1.0)]
    duels = bd.Duels.from_votes(*zip(*log, strict=True))
    with pytest.raises(ValueError, match="'x2' is a combination of 'x0' and 'x1'"):
        bd.fit(duels, by_attributes(items, scale=np.inf, item_effect=False))


def test_bad_settings_are_named():
    items = table_of(5, 1, seed=12)
    with pytest.raises(TypeError, match="of should be items"):
        Covariates(1.0)
    with pytest.raises(ValueError, match="scale should be > 0"):
        by_attributes(items, scale=-1.0)
    with pytest.raises(ValueError, match="item_effect should be False when the prior is flat"):
        by_attributes(items, scale=np.inf)
    with pytest.raises(TypeError, match="item_effect should be True or False"):
        by_attributes(items, item_effect=1)
    with pytest.raises(ValueError, match="a term with a flat prior cannot be combined"):
        by_attributes(items, scale=np.inf, item_effect=False) + JudgeReliability()
    with pytest.raises(TypeError, match="columns should be names of columns"):
        Covariates([])
    with pytest.raises(ValueError, match="columns should be distinct"):
        Covariates(["x", "x"])
    with pytest.raises(ValueError, match="of different kinds, got 'covariates' twice"):
        Scores() + Covariates(["x"]) + Covariates(["y"])
    with pytest.raises(ValueError, match="should have a term for the worth of an arm"):
        BradleyTerry(Covariates(["x"]))
    with pytest.raises(TypeError, match="predictor should be terms such as"):
        BradleyTerry("x")
    with pytest.raises(ValueError, match="scale should be given once, to the model or"):
        BradleyTerry(Scores(2.0), scale=1.0)
    duels, _ = shipped("springall")
    fit = bd.fit(duels, by_attributes(shipped("springall")[1]), draws=400)
    with pytest.raises(ValueError, match="ci_prob should be in"):
        bd.coefficients(fit, 1.5)
    with pytest.raises(ValueError, match="covariance should be 'auto'"):
        bd.coefficients(fit, covariance="judge")
    with pytest.raises(ValueError, match="attributes of the fit"):
        bd.predict_items(fit, items)


# -- the command and its page --------------------------------------------------------------


def run(*args):
    from click.testing import CliRunner

    from bayesduel.cli import main

    return CliRunner().invoke(main, ["attributes", *map(str, args)])


def test_the_command_tells_predicts_and_writes_a_page(tmp_path):
    import json

    new = tmp_path / "new.csv"
    new.write_text("item,flavour,gel\nstrong,9,0\nweak,0.6,4.8\n")
    page = tmp_path / "page.html"
    result = run("springall", "--predict", new, "--json", "-o", page)
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    duels, items = shipped("springall")
    table = bd.coefficients(bd.fit(duels, by_attributes(items)))
    for row in told["coefficients"]:
        assert row["coefficient"] == pytest.approx(table.loc[row["attribute"], "coefficient"])
    assert [row["item"] for row in told["new_items"]] == ["strong", "weak"]
    assert told["new_items"][0]["win_rate"] > 0.5 > told["new_items"][1]["win_rate"]
    assert told["explained_share"][0] > 0.3
    text = page.read_text(encoding="utf-8")
    assert (
        told["sentence"] in text.replace("\u00a0", " ")
        and "More of flavour wins more" in told["sentence"]
    )
    assert '<b class="strong">flavour</b>' in text and "strong" in text
    assert "Bradley-Terry, which" in text
    assert text.count("data:image/") == 2 and "http" not in text.replace("http://www.w3.org", "")
    shown = run("springall", "--no-item-effect", "--scale", "inf")
    assert shown.exit_code == 0, shown.stderr
    words = " ".join(shown.stdout.split())
    assert "The model has no effects of items beyond their attributes" in words


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["baseball1987"], "should be a dataset with attributes"),
        (["duels.csv"], "--items should name the file"),
        (["springall", "--items", "nowhere.csv"], "nowhere.csv: no such file"),
        (["springall", "--by", "left"], "leave out --by"),
        (["springall", "--leave-out", "taste"], "no column 'taste'"),
        (["springall", "--predict", "nowhere.csv"], "nowhere.csv: no such file"),
        (["tversky1969"], "'win_probability' should be numeric"),
        (["springall", "--scale", "inf"], "item_effect should be False"),
        (["springall", "--judge-effect"], "should have the judge of each vote"),
        (["springall", "--sparsity", "9"], "attributes that you expect to matter, in (0, 2)"),
    ],
)
def test_bad_input_gives_one_line_and_status_2(args, said):
    result = run(*args)
    assert result.exit_code == 2
    assert said in result.stderr and "Traceback" not in result.output


@pytest.mark.slow
def test_attributes_that_tell_nothing_are_said_to_tell_nothing():
    """Twenty attributes of noise on thirty items: unadjusted, they would seem to tell much."""
    from bayesduel.posterior.coefficients import explained_share

    shares = []
    for seed in range(8):
        items = table_of(30, 20, seed)
        duels = drawn_log(items, np.zeros(20), 3000, seed + 50, spread=1.0)
        fit = bd.fit(duels, by_attributes(items), "laplace", draws=400, clusters=False)
        shares.append(explained_share(fit)[0])
    assert abs(np.mean(shares)) < 0.35
    items = table_of(30, 2, 1)
    duels = drawn_log(items, np.array([1.0, 1.0]), 6000, seed=3, spread=0.5)
    share, low, high = explained_share(bd.fit(duels, by_attributes(items)))
    assert low < 2 / 2.25 < high and 0.7 < share < 1


def test_the_forest_draws_every_coefficient_where_it_is():
    from matplotlib.figure import Figure

    duels, items = shipped("springall")
    fit = bd.fit(duels, by_attributes(items, order=True))
    ax = bd.plot_coefficients(fit, ax=Figure().add_subplot())
    told = bd.coefficients(fit)
    told = told[told["kind"] == "effect"].sort_values("standard", ascending=False)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(told.index)
    dots = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() == "o"])
    np.testing.assert_allclose(sorted(dots), sorted(told["standard"]))
    bars = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[0][0] for s in bars], told["standard_lower"])
    np.testing.assert_allclose([s[1][0] for s in bars], told["standard_upper"])


def test_the_side_is_not_called_an_attribute():
    from bayesduel.reporting.analysis import Attempt
    from bayesduel.reporting.attributes import AttributeAnalysis

    items = table_of(20, 3, seed=1)
    log = drawn_log(items, np.zeros(3), 800, seed=2, order=0.8)
    fit = bd.fit(log, by_attributes(items, order=True), "laplace", draws=400)
    table = bd.coefficients(fit)
    assert table.loc["side advantage", "lower"] > 0
    rest = dict.fromkeys(("explained", "new", "plain"))
    said = AttributeAnalysis(duels=log, fit=fit, table=table, calibration=Attempt(None), **rest)
    assert "side advantage" not in said.sentence


@pytest.mark.parametrize("kind", ["parts of a whole", "a sum", "independent"])
def test_attributes_that_follow_from_others_are_named(kind):
    """Parts of a whole add up: the log cannot tell their effects apart, and the table says so."""
    from bayesduel.reporting.attributes import analyse_attributes

    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.random((8, 3)), columns=["sugar", "salt", "fat"])
    if kind == "parts of a whole":
        table = 100 * table.div(table.sum(axis=1), axis=0)
    if kind == "a sum":
        table["fat"] = table["sugar"] + 2 * table["salt"]
    table.insert(0, "item", list("abcdefgh"))
    left = rng.integers(0, 8, 60)
    right = (left + rng.integers(1, 8, 60)) % 8
    names = table["item"].to_numpy()
    log = bd.Duels.from_votes(names[left], names[right], rng.integers(0, 2, 60))
    model = bd.models.BradleyTerry(bd.models.Covariates(bd.read_items(table)))
    found = analyse_attributes(log, model, draws=200, check=False)
    shown = " ".join(repr(bd.coefficients(found.fit)).split())
    words = (
        "The log cannot tell some effects apart: fat follows from sugar and salt (they may add up "
        "to a constant). Leave one of them out: leave_out=['fat']."
    )
    assert (words in shown) == (kind != "independent")
    assert found.dependent_words == words * (kind != "independent")
    assert found.sentence.startswith(words) == (kind != "independent")
    assert "No attribute" not in found.sentence or kind == "independent"
    with command_line():
        assert ("--leave-out fat." in found.sentence) == (kind != "independent")
