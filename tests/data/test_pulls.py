"""Pulls of items: reading them, logistic regression on attributes, predictions, bad input."""

import gzip

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner
from scipy.special import expit, logit

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data import datasets
from bayesduel.models import Covariates, LogisticAttributes
from bayesduel.posterior.conditions import ExtrapolationWarning


@pytest.fixture(scope="module")
def real():
    """Every chameleon in every contest, and whether he won it, with what is known of him."""
    duels = datasets.load("chameleons")
    items = datasets.items("chameleons")
    votes = duels.pairs()
    rows = []
    for i, j, wins, losses, _ in zip(*votes, strict=True):
        rows += [(duels.arms[i], 1.0), (duels.arms[j], 0.0)] * int(wins)
        rows += [(duels.arms[i], 0.0), (duels.arms[j], 1.0)] * int(losses)
    return pd.DataFrame(rows, columns=["item", "reward"]), items


def test_a_flat_prior_is_logistic_regression(real):
    rows, items = real
    fit = bd.fit(bd.read_pulls(rows), LogisticAttributes(items=items, scale=np.inf), "laplace")
    design = items.matrix(rows["item"])
    reference = sm.Logit(rows["reward"], sm.add_constant(design)).fit(disp=0, tol=1e-14)
    mode = fit["laplace"]
    assert float(mode["intercept_mode"]) == pytest.approx(reference.params.iloc[0], abs=1e-6)
    np.testing.assert_allclose(mode["coefficient_mode"], reference.params.iloc[1:], atol=1e-6)
    np.testing.assert_allclose(mode["coefficient_se"], reference.bse.iloc[1:], atol=1e-6)
    assert fit.attrs["n_pulls"] == len(rows)
    # On the original scale, as a regression on the table's own columns has them.
    own = items.values[[items.labels.index(x) for x in rows["item"]]]
    original = sm.Logit(rows["reward"], sm.add_constant(own)).fit(disp=0, tol=1e-14)
    table = bd.coefficients(fit)
    assert list(table.index) == [*items.names, "intercept"]
    error = np.append(original.bse.iloc[1:], original.bse.iloc[0])
    away = table["coefficient"] - np.append(original.params.iloc[1:], original.params.iloc[0])
    assert (np.abs(away) < 0.35 * error).all()  # the mean of the draws beside the maximum
    np.testing.assert_allclose(
        table["odds_ratio"].iloc[:-1], np.exp(table["coefficient"].iloc[:-1]), rtol=0.2
    )


def simulated(n=400, m=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"item": [f"item {k:02}" for k in range(m)], "price": rng.uniform(1, 9, m)}
    )
    frame["style"] = rng.choice(["plain", "bold"], m)
    eta = 1.2 - 0.4 * frame["price"] + 0.8 * (frame["style"] == "bold")
    shown = rng.integers(0, m, n)
    paid = rng.random(n) < expit(eta.to_numpy()[shown])
    return frame, pd.DataFrame({"item": frame["item"].to_numpy()[shown], "reward": paid})


@pytest.mark.slow
def test_laplace_and_nuts_agree():
    frame, rows = simulated()
    model = LogisticAttributes(items=bd.read_items(frame))
    pulls = bd.read_pulls(rows)
    fits = [bd.fit(pulls, model, method, draws=2000, seed=1) for method in ("laplace", "pymc")]
    for name in ("coefficient", "intercept"):
        laplace, nuts = (f["posterior"][name] for f in fits)
        away = laplace.mean(("chain", "draw")) - nuts.mean(("chain", "draw"))
        # Five Monte Carlo standard errors of a difference of means of 2,000 draws each, of
        # which NUTS may be worth a quarter.
        assert (abs(away) < 5 * nuts.std() * np.sqrt(1 / 2000 + 4 / 2000)).all()
    assert fits[0].attrs["khat"] < 0.7
    ends = [f["log_likelihood_by_cell"]["outcome"].mean(("chain", "draw")) for f in fits]
    assert ends[0].dims == ("cell",)
    np.testing.assert_allclose(*ends, atol=0.1)  # compiled for Laplace, by formula for NUTS


def test_unseen_items_are_predicted():
    frame, rows = simulated(n=4000)
    items = bd.read_items(frame)
    fit = bd.fit(bd.read_pulls(rows), LogisticAttributes(items=items))
    new = pd.DataFrame(
        {"item": ["cheap", "dear", "beyond"], "price": [1.5, 8.0, 20.0], "style": ["bold"] * 3}
    )
    with pytest.warns(ExtrapolationWarning, match="outside its range for beyond"):
        told = bd.predict_items(fit, bd.read_items(new, like=items))
    assert list(told.index) == ["cheap", "dear", "beyond"]
    truth = expit(1.2 - 0.4 * new["price"] + 0.8)
    assert (told["chance_lower"].to_numpy() < truth).all()
    assert (told["chance_upper"].to_numpy() > truth).all()
    assert told["outside"].to_list() == [0, 0, 1]
    assert told["best"].to_list() == [1.0, 0.0, 0.0]
    table = bd.coefficients(fit)
    assert table.loc["price", "lower"] < -0.4 < table.loc["price", "upper"]
    at_zero = 1.2 + 0.8 * (items.attributes[1].reference == "bold")
    row = table.loc["intercept"]
    assert row["lower"] < at_zero < row["upper"]


@pytest.mark.slow
def test_a_horseshoe_keeps_what_counts_and_shrinks_what_does_not():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((80, 12))
    frame = pd.DataFrame(x, columns=[f"x{k:02}" for k in range(12)])
    frame.insert(0, "item", [f"i{k:02}" for k in range(80)])
    shown = rng.integers(0, 80, 600)
    paid = rng.random(600) < expit(1.5 * x[shown, 3])
    pulls = bd.Pulls.from_rows(frame["item"].to_numpy()[shown], paid)
    items = bd.read_items(frame)
    sparse = bd.fit(pulls, LogisticAttributes(items=items, sparsity=1), draws=1000, chains=2)
    plain = bd.fit(pulls, LogisticAttributes(items=items), "laplace", draws=1000)
    assert sparse.attrs["method"] == "nuts"
    found = [np.abs(bd.coefficients(f)["standard"].iloc[:-1]).to_numpy() for f in (sparse, plain)]
    noise = np.arange(12) != 3
    assert found[0][3] > 0.8 * found[1][3]
    assert found[0][noise].mean() < 0.5 * found[1][noise].mean()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "item,reward\na,1\nb,2\n",
            r"log.csv, line 3: column 'reward' should be 1 or 0 .*, got '2'",
        ),
        (
            "item,reward\na,1\n,0\n",
            "log.csv, line 3: column 'item' should name an item, got nothing",
        ),
        ("item,reward\na,1\nb,\n", r"log.csv, line 3: column 'reward' .* got nothing"),
        (
            "item,paid\na,1\n",
            r"log.csv: no column 'reward' for reward; the columns are 'item', 'paid'",
        ),
        ("thing,reward\na,1\n", "no column 'item' for item"),
        ("item,reward\n", "log.csv: should contain at least one pull, got no rows"),
    ],
)
def test_bad_rows_are_named(tmp_path, text, message):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        bd.read_pulls(tmp_path / "log.csv")


def test_compressed_files_are_read_together(tmp_path):
    for k, rows in enumerate(("a,1\na,0\n", "b,yes\n")):
        (tmp_path / f"log{k}.csv.gz").write_bytes(gzip.compress(f"item,reward\n{rows}".encode()))
    pulls = bd.read_pulls(tmp_path / "log*.csv.gz")
    assert (pulls.arms, pulls.n.tolist(), pulls.successes.tolist()) == (("a", "b"), [2, 1], [1, 1])
    (tmp_path / "log2.csv.gz").write_bytes(gzip.compress(b"item,reward\nNA,1\nb,2\n"))
    with pytest.raises(
        ValueError, match=r"log2\.csv\.gz, line 2: .* got 'NA' \(and 1 more bad row\)"
    ):
        bd.read_pulls(tmp_path / "log*.csv.gz")


def test_words_and_files_are_read(tmp_path):
    (tmp_path / "log.csv").write_text(
        "dish,eaten\nsoup,yes\nsoup,no\nbread,TRUE\nbread,0\nbread,1\n"
    )
    pulls = bd.read_pulls(tmp_path / "log.csv", item="dish", reward="eaten")
    assert pulls.arms == ("bread", "soup")
    assert (pulls.n.tolist(), pulls.successes.tolist()) == ([3, 2], [2, 1])
    assert repr(pulls) == "<Pulls: 5 of 2 items, 60% paid>"
    with pytest.raises(FileNotFoundError):
        bd.read_pulls(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda i: bd.Pulls.from_rows(["a"], [1, 0]), ValueError, "length 1 like items, got 2"),
        (lambda i: bd.Pulls.from_rows(["a"], [0.5]), ValueError, "0 or 1, got 0.5 at row 0"),
        (lambda i: bd.Pulls.from_rows([], []), ValueError, "at least one pull"),
        (
            lambda i: bd.Pulls(arms=("a",), n=[2], successes=[3]),
            ValueError,
            "at most n, and n at least 1, got 3 of 2 for 'a'",
        ),
        (
            lambda i: bd.fit(bd.Pulls.from_rows(["a", "x"], [1, 0]), LogisticAttributes(items=i)),
            ValueError,
            "without 'x'",
        ),
        (
            lambda i: bd.fit(
                bd.Pulls.from_rows(["a", "b"], [1, 0]), LogisticAttributes(items=i, scale=np.inf)
            ),
            ValueError,
            "scale should be finite for this log, got inf: the attributes separate",
        ),
        (
            lambda i: bd.fit(bd.Pulls.from_rows(["a", "b"], [1, 0])),
            TypeError,
            "duels should be a bayesduel.Duels",
        ),
        (
            lambda i: bd.fit(datasets.load("springall"), LogisticAttributes(items=i)),
            TypeError,
            "should be a bayesduel.Pulls",
        ),
        (
            lambda i: LogisticAttributes(items="x"),
            TypeError,
            "items should be a table of attributes",
        ),
        (lambda i: LogisticAttributes(items=i, sparsity=1), ValueError, r"in \(0, 1\)"),
        (lambda i: LogisticAttributes(items=i, sparsity="few"), TypeError, "sparsity should be"),
        (
            lambda i: Covariates(i, sparsity=0.5, scale=np.inf, item_effect=False),
            ValueError,
            "scale should be a finite number when sparsity is given",
        ),
        (
            lambda i: bd.fit(
                bd.Pulls.from_rows(["a", "b"], [1, 0]),
                LogisticAttributes(items=i, sparsity=0.5),
                "laplace",
            ),
            ValueError,
            "method should be 'nuts' or 'auto' for logistic-attributes",
        ),
    ],
)
def test_bad_arguments_are_refused(make, error, message):
    items = bd.read_items(pd.DataFrame({"item": ["a", "b", "c"], "x": [0.0, 1.0, 2.0]}))
    with pytest.raises(error, match=message):
        make(items)


@pytest.mark.slow
def test_two_items_compare_by_their_scores_and_a_stored_fit_is_read(tmp_path):
    """P[i, j] is the chance that i paid where one of the two did, whatever is asked."""
    frame, rows = simulated(n=400)
    items = bd.read_items(frame)
    made = bd.fit(bd.read_pulls(rows), LogisticAttributes(items=items))
    made.to_netcdf(tmp_path / "pulls.nc")
    fit = bd.load(tmp_path / "pulls.nc")
    arms = list(fit.duel.arms)
    assert bd.predict_items(fit, items).equals(bd.predict_items(made, items))
    chance = bd.predict_items(fit, items)["chance"].loc[arms].to_numpy()
    odds = chance / (1 - chance)
    expected = odds[0] / (odds[0] + odds[1:])
    told = bd.predict(fit, arms[0], arms[1:])["win"].to_numpy()
    np.testing.assert_allclose(told, expected, atol=0.02)
    np.testing.assert_allclose(told, bd.winners(fit)["preference_mean"].values[0, 1:], atol=1e-9)
    drawn = np.concatenate(list(bd.preference_draws(fit))).mean(axis=0)
    np.testing.assert_allclose(told, drawn[0, 1:])
    for ask in (bd.next_pairs, bd.duels_to_decide):
        with pytest.raises(ValueError, match="items were shown one at a time"):
            ask(fit)


def test_separation_is_handled_by_the_prior():
    items = bd.read_items(pd.DataFrame({"item": ["a", "b", "c"], "x": [0.0, 1.0, 2.0]}))
    pulls = bd.Pulls.from_rows(["a"] * 20 + ["c"] * 20, [0] * 20 + [1] * 20)
    fit = bd.fit(pulls, LogisticAttributes(items=items))
    table = bd.coefficients(fit)
    assert table.loc["x", "lower"] > 0
    assert table.loc["x", "standard"] < 5
    told = bd.predict_items(fit, items)
    assert logit(told.loc["b", "chance"]) == pytest.approx(0, abs=1)


def test_winners_of_pulls_speak_of_pulls(tmp_path):
    items = bd.read_items(pd.DataFrame({"item": ["a", "b", "c"], "x": [2.0, 1.0, 0.0]}))
    paid = [1] * 90 + [0] * 10 + [1] * 50 + [0] * 50 + [1] * 10 + [0] * 90
    pulls = bd.Pulls.from_rows(["a"] * 100 + ["b"] * 100 + ["c"] * 100, paid)
    fit = bd.fit(pulls, LogisticAttributes(items=items), seed=0)
    path = tmp_path / "pulls.nc"
    fit.to_netcdf(path, engine="h5netcdf")
    run = CliRunner().invoke(main, ["winners", str(path)])
    for told in (str(bd.winners(fit)).partition("Variables")[0], run.stdout):
        told = " ".join(told.split())
        assert "of the cases in which one of the two pays" in told
        assert "Pulls are taken as independent" in told
        assert "duels" not in told and "otes" not in told and "--check" not in told
    for refused in (lambda: bd.report(fit, tmp_path / "a.html"), lambda: bd.next_pairs(fit)):
        with pytest.raises(ValueError, match=r"a log in which arms met.*shown one at a time"):
            refused()
