"""Residuals of margins: what checks find, what they leave alone, and that p-values keep word."""

import warnings
from dataclasses import fields, replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.criticism.posterior_predictive import (
    CHECKS,
    EDGES,
    MarginCheck,
    grouped,
    histogram,
    normal_scores,
    per_root,
    statistics,
)
from bayesduel.data.duels import Duels
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    Covariates,
    Davidson,
    PerturbedThurstone,
    PreferenceMatrix,
    RandomEffects,
    SideAdvantage,
    ThurstoneScore,
    TimeVarying,
)
from bayesduel.posterior.dependence import RepeatedVotesWarning

MODEL = ThurstoneScore(scale=np.inf)
LABELS = np.array(list("abcdef"))


def draw_log(seed, *, each=14, home=0.0, pair=0.0, arm=0.0, draw=None, weight=None):
    """Draw margins of six arms; `pair` and `arm` are logarithmic spreads, `draw` the noise."""
    rng = np.random.default_rng(seed)
    left, right = (np.repeat(i, each) for i in np.triu_indices(6, 1))
    flip = rng.random(len(left)) < 0.5
    left, right = np.where(flip, right, left), np.where(flip, left, right)
    score = rng.normal(0, 1, 6)
    own = rng.normal(0, pair, (6, 6))
    off = np.triu(own, 1) - np.triu(own, 1).T
    noise = np.exp(arm * np.array([-1, -1, -1, 1, 1, 1]))
    spread = np.hypot(noise[left], noise[right]) / np.sqrt(2)
    z = rng.standard_normal(len(left)) if draw is None else draw(rng, len(left))
    margin = score[left] - score[right] + off[left, right] + home + spread * z
    return log_of(left, right, margin, weight)


def log_of(left, right, margin, weight=None):
    outcome = (np.sign(margin) + 1) / 2
    return Duels.from_votes(LABELS[left], LABELS[right], outcome, margin=margin, weight=weight)


def checked(duels, model=MODEL, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return bd.check_margins(bd.fit(duels, model, "laplace", draws=400), 400, **options)


def test_checks_fail_at_five_percent_by_holms_rule():
    def failed(**p):
        given = dict.fromkeys(field.name for field in fields(MarginCheck))
        return MarginCheck(**given | {"table": pd.DataFrame({"p_value": p})}).failed

    assert failed(sides=0.05) == ["sides"]
    assert failed(sides=0.05, pairs=0.025) == ["pairs", "sides"]
    assert failed(sides=0.05, pairs=0.03) == []
    assert failed(sides=0.051, pairs=0.02) == ["pairs"]


def test_a_p_value_is_no_smaller_than_the_draws_allow():
    """In the sentence and in the table alike."""
    table = pd.DataFrame(
        {"p_value": [2 / 1001, 0.5, 1.0], "share": [1 / 1001, 0.25, 0.5], "observed": 1.0},
        index=["tails", "skew", "pairs"],
    )
    none, pairs = np.zeros(0), pd.DataFrame({"duels": [1, 2]})
    found = MarginCheck(
        table=table, pairs=pairs, edges=none, density=none, lower=none, upper=none,
        ordered=none, ordered_lower=none, ordered_upper=none, n_draws=1000, n_margins=9, model="",
    )  # fmt: skip
    assert found.p_words("skew") == "= 0.5" and found.p_words("tails") == "\u2264 0.002"
    assert "p \u2264 0.002" in found.sentence
    assert found.sentence.endswith("The other checks find nothing (skew and pairs).")
    once = replace(found, pairs=pairs.head(1))  # a mean of one margin is that margin
    assert once.sentence.endswith(
        "find nothing (skew). Pairs have one margin each, so that their means cannot be checked."
    )


def test_statistics_by_hand():
    rng = np.random.default_rng(0)
    z, place = rng.normal(0.2, 1.5, (3, 40)), rng.integers(0, 4, 40)
    pair, arm = grouped(place, 5), grouped(place % 2, 2)
    means = z @ per_root(pair)
    found = statistics(z, means, pair, arm)
    for d, row in enumerate(z):
        roots = [row[place == g].sum() / np.sqrt((place == g).sum()) for g in range(4)]
        assert np.allclose(means[d], [*roots, 0])
        excess = [
            ((row[place % 2 == g] ** 2) - 1).sum() ** 2 / (place % 2 == g).sum() for g in (0, 1)
        ]
        expected = [
            abs(row.mean()),
            abs(stats.kurtosis(row)),
            abs(stats.skew(row)),
            np.sqrt(np.mean([*np.square(roots), 0])),
            np.sqrt(np.mean(excess) / 2),
        ]
        assert np.allclose(found[:5, d], expected)
    assert histogram(np.array([[-9.0, 0.1, 0.2, 9.0]])).sum() * (EDGES[1] - EDGES[0]) == 1
    assert histogram(np.array([[-9.0, 9.0]]))[0, [0, -1]].min() > 0
    t = np.array([[-40.0, -1.0, 0.0, 2.5]])
    assert np.allclose(stats.norm.cdf(normal_scores(t, np.array([[3.0]]))), stats.t.cdf(t, 3.0))


def test_margins_that_are_as_the_model_says_pass():
    found = checked(draw_log(1))
    assert list(found.table.index) == list(CHECKS)
    assert not found.failed
    assert "are consistent with the model by all of 6 checks" in found.sentence
    assert found.n_margins == 15 * 14 and found.n_draws == 400
    assert (found.table["p_value"] == np.minimum(2 * found.table["share"], 1)).all()
    width = np.diff(found.edges)
    assert found.density @ width == pytest.approx(1)
    assert (found.lower <= found.upper).all()
    assert (np.diff(found.ordered) >= 0).all() and len(found.ordered) == 15


@pytest.mark.parametrize(
    ("settings", "check"),
    [
        ({"home": 0.7}, "sides"),
        ({"pair": 0.9}, "pairs"),
        ({"arm": 0.7}, "arm noise"),
        ({"draw": lambda rng, n: rng.standard_t(2.0, n)}, "tails"),
        ({"draw": lambda rng, n: rng.exponential(1.0, n) - 1.0}, "skew"),
    ],
    ids=["sides", "pairs", "arm noise", "tails", "skew"],
)
@pytest.mark.sampled(3)
def test_what_is_wrong_is_found(settings, check):
    found = checked(draw_log(2, **settings))
    assert check in found.failed
    assert found.table.loc[check, "observed"] > 2 * found.table.loc[check, "expected"] or (
        check == "pairs" and found.table.loc[check, "observed"] > 1.5
    )
    assert CHECKS[check].format(nouns="arms") in found.sentence


def test_pairs_farthest_off_are_named_with_their_sign():
    duels = draw_log(3)
    votes = duels.votes
    margin = votes.margin.copy()
    margin[(votes.left == 1) & (votes.right == 4)] += 4.0
    margin[(votes.left == 4) & (votes.right == 1)] -= 4.0
    found = checked(log_of(votes.left, votes.right, margin))
    first = found.pairs.iloc[0]
    assert (first["first"], first["second"], first["duels"]) == ("b", "e", 14)
    assert 1.5 < first["off"] < 4.5 and first["residual"] > 3  # scores take a part of it
    ax = bd.plots.plot_pair_residuals(found)
    assert any("b – e" in text.get_text() for text in ax.texts)
    plt.close(ax.figure)


def test_weights_count_as_so_many_duels():
    duels = draw_log(4, each=4)
    votes = duels.votes
    weight = np.arange(len(votes)) % 3 + 1
    rows = np.repeat(np.arange(len(votes)), weight)
    one = checked(log_of(votes.left, votes.right, votes.margin, weight))
    many = checked(log_of(votes.left[rows], votes.right[rows], votes.margin[rows]))
    assert one.n_margins == many.n_margins == weight.sum()
    assert np.allclose(one.table, many.table)


def test_replicated_margins_are_for_arviz():
    import arviz as az

    duels = draw_log(5)
    fit = bd.fit(duels, MODEL, "laplace", draws=400)
    tree = bd.posterior_predictive(fit, 100, seed=1)
    made = tree["posterior_predictive"]["margin"]
    assert dict(made.sizes) == {"chain": 1, "draw": 100, "vote": duels.n_duels}
    told = bd.predict(fit, "a", "b")
    votes = duels.votes
    here = made[0][:, (votes.left == 0) & (votes.right == 1)].to_numpy().ravel()
    inside = (here > float(told["margin_lower"])) & (here < float(told["margin_upper"]))
    assert abs(inside.mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / len(here))
    assert np.array_equal(tree["observed_data"]["margin"], votes.margin)
    collection = az.plot_ppc_dist(tree, num_samples=20, backend="none")
    assert collection is not None


def world(kind):
    """Return a log of 600 margins drawn from a model, and that model."""
    rng = np.random.default_rng(11)
    n, arms = 600, 6
    left, right = (np.tile(x, n // 15) for x in np.triu_indices(arms, 1))
    level = np.repeat(np.arange(6), n // 6)
    x = rng.standard_normal(n)
    own = rng.normal(0, 1, (6, arms))
    if kind == "time":
        own = np.cumsum(own, axis=0)
    score = rng.normal(0, 1, arms)
    middle = score[left] - score[right]
    middle += 2 * x if kind == "covariates" else own[level, left] - own[level, right]
    margin = middle + 0.5 * rng.standard_normal(n)
    said = {
        "covariates": {"covariates": {"x": x}},
        "category": {"category": [f"c{k}" for k in level]},
        "time": {"time": level + 0.5},
        "judge": {"judge": [f"j{k}" for k in level]},
    }[kind]
    outcome = (np.sign(margin) + 1) / 2
    return Duels.from_votes(LABELS[left], LABELS[right], outcome, margin=margin, **said)


@pytest.mark.parametrize(
    ("kind", "term"),
    [
        ("covariates", Covariates(["x"])),
        ("category", CategoryEffects()),
        ("time", TimeVarying(periods=6)),
        ("judge", RandomEffects("judge")),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_coverage(kind, term):
    """Predictive intervals of 90 % hold 85 to 95 % of the margins of a world of the model."""
    log = world(kind)
    fit = bd.fit(log, ThurstoneScore() + term, "laplace", draws=400)
    tree = bd.posterior_predictive(fit, 400)
    made = tree["posterior_predictive"]["margin"][0].to_numpy()
    low, high = np.quantile(made, [0.05, 0.95], axis=0)
    seen = tree["observed_data"]["margin"].to_numpy()
    assert len(seen) == 600
    assert 0.85 < ((low < seen) & (seen < high)).mean() < 0.95


@pytest.mark.parametrize(
    "model",
    [BradleyTerry(), Davidson(), BradleyTerry() + SideAdvantage(), PreferenceMatrix()],
    ids=lambda m: m.name,
)
@pytest.mark.sampled(3, "preference-matrix")
def test_replicated_outcomes_agree_with_the_outcomes_that_were_fitted(model):
    """Mean replicates of each pair are near the wins, which the model explains."""
    rng = np.random.default_rng(7)
    i, j = (np.tile(x, 30) for x in np.triu_indices(4, 1))
    swap = np.arange(len(i)) % 2 == 1
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    score = np.array([1.0, 0.4, -0.4, -1.0])
    outcome = (rng.random(len(i)) < 1 / (1 + np.exp(score[j] - score[i]))).astype(float)
    outcome[::7] = 0.5
    tree = bd.posterior_predictive(bd.fit(Duels.from_votes(i, j, outcome), model, draws=400), 200)
    made = tree["posterior_predictive"]["outcome"]
    seen = tree["observed_data"]["outcome"]
    assert made.dims[:2] == ("chain", "draw") and made.shape[2:] == seen.shape
    gap = made.mean(("chain", "draw")) - seen
    # Standard deviation of wins at most sqrt(30) / 2, and as much of a fit of four scores.
    assert np.abs(gap).max() < 4 * np.sqrt(2 * 30) / 2


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")  # of pairs that weigh much
@pytest.mark.filterwarnings("ignore:Variables outcome")  # counts by result are discrete
@pytest.mark.parametrize(
    ("model", "names"),
    [(BradleyTerry(), None), (Davidson(), "points"), (MODEL, None)],
    ids=["wins", "ties", "margins"],
)
@pytest.mark.sampled(3)
def test_arviz_takes_a_fit_and_its_replicates_as_they_are(model, names):
    import arviz as az

    fit = bd.fit(draw_log(3), model, "laplace", draws=200)
    assert not az.summary(fit).isna().to_numpy().any()
    tree = bd.posterior_predictive(fit, 200)
    assert np.isfinite(az.loo(tree).elpd)
    for plot in (az.plot_ppc_dist, az.plot_loo_pit):
        options = {} if names is None or plot is az.plot_ppc_dist else {"var_names": names}
        assert plot(tree, backend="none", **options) is not None
    outcomes = tree["observed_data"]
    for name, made in tree["posterior_predictive"].data_vars.items():
        assert made.dims[2:] == outcomes[name].dims and made.sizes["draw"] == 200


@pytest.mark.slow
def test_pictures_show_what_was_found():
    found = checked(draw_log(1))
    ax = bd.plots.plot_margins(found)
    heights = [bar.get_height() for bar in ax.patches]
    assert np.allclose(heights, found.density)
    assert ax.get_xlabel() == "standardised residual of a margin"
    plt.close(ax.figure)
    fig, given = plt.subplots()
    assert bd.plots.plot_pair_residuals(found, given) is given
    assert np.allclose(given.collections[-1].get_offsets()[:, 1], found.ordered)
    plt.close(fig)
    for draw in (bd.plots.plot_margins, bd.plots.plot_pair_residuals):
        with pytest.raises(
            TypeError, match=r"check should be what bayesduel\.check_margins returned"
        ):
            draw({})


def test_bad_arguments_are_named():
    duels = draw_log(1)
    with pytest.raises(ValueError, match="model of margins, got one of bradley"):
        bd.check_margins(bd.fit(duels, BradleyTerry()))
    fit = bd.fit(duels, MODEL, "laplace", draws=400)
    with pytest.raises(ValueError, match="draws should be a whole number >= 20, got 3"):
        bd.check_margins(fit, 3)
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        bd.posterior_predictive(None)


@pytest.mark.slow
def test_p_values_are_small_no_oftener_than_they_say():
    """On 300 logs of the model each p-value is below 0.1 (0.02) in 10 % (2 %) at most.

    Limits: the binomial law at 1e-6 for the share allowed.
    """
    n, small = 300, {}
    for seed in range(n):
        table = checked(draw_log(1000 + seed, each=4), seed=seed).table
        for name, p in table["p_value"].items():
            for level in (0.1, 0.02):
                small[name, level] = small.get((name, level), 0) + (p <= level)
    for (name, level), count in small.items():
        print(f"{name}: p <= {level} in {count} of {n}")
        assert count <= stats.binom.ppf(1 - 1e-6, n, level), name


@pytest.mark.slow
def test_residuals_of_pairs_are_taken_out_where_the_model_knows_them():
    duels = draw_log(2, pair=0.9)
    assert "pairs" in checked(duels, ThurstoneScore()).failed
    assert "pairs" not in checked(duels, PerturbedThurstone()).failed
    tailed = draw_log(2, draw=lambda rng, n: rng.standard_t(2.0, n))
    assert "tails" not in checked(tailed, ThurstoneScore(degrees=2.0)).failed


# -- the report -----------------------------------------------------------------------------


def test_what_the_report_tells_of_a_fit():
    from bayesduel.reporting.analysis import MarginAnalysis
    from bayesduel.reporting.margins import margins_section

    duels = draw_log(2, pair=0.9)
    fit = bd.fit(duels, MODEL, "laplace", draws=400)
    check = bd.check_margins(fit, 400)
    analysis = MarginAnalysis(fit=fit, check=check, perturbed=None, side="the home side")
    section = margins_section(analysis, [str(arm) for arm in LABELS[::-1]])
    words, parameters, scores, *_, folded = section.body
    assert "Intransitivity" not in words.words
    assert [name for name, _ in parameters.rows] == [
        "standard deviation of the noise of one margin"
    ]
    best = fit["posterior"]["score"].mean(("chain", "draw"))
    order = np.argsort(-best.to_numpy())
    assert [row[0] for row in scores.rows] == [str(LABELS[k]) for k in order]
    assert [row[2] for row in scores.rows] == [f"{6 - k}" for k in order]
    without_a = margins_section(analysis, ["f", "e", "d", "c", "b"]).body[2]  # "a" is retired
    assert dict(row[::2] for row in without_a.rows)["a"] == "\u2013"
    assert scores.rows[0][1].startswith(f"{float(best.max()):.2f} [")
    checks, pairs = folded.body
    failed = {row[0].text: row for row in checks.rows if row[0].style == "alarm"}
    assert set(failed) == set(check.failed)
    assert failed["pairs"][3] == "\u2264 0.005"  # twice the least share of 400 draws
    assert pairs.rows[0][0].count(" \u2013 ") == 1


@pytest.mark.slow
def test_the_report_tells_of_margins_where_there_are_some(tmp_path):
    log = draw_log(6, home=0.8)
    path = bd.report(log, tmp_path / "report.html", model="bradley-terry", draws=400)
    page = path.read_text(encoding="utf-8")
    for words in (
        "<h2>Margins</h2>",
        "side advantage",
        "the left side (shown first) has an advantage",
        "standard deviation of the noise of one margin",
        "Intransitivity: if every pair may deviate",
        "are consistent with the model by all of 6 checks",
        "Standardised residuals of margins",
        "The ranking above is by wins",
    ):
        assert words in page, words


@pytest.mark.slow
def test_the_report_of_a_fit_of_margins_says_what_it_is(tmp_path):
    duels = draw_log(2, pair=0.9, each=6)
    votes = duels.votes
    judged = Duels.from_votes(
        LABELS[votes.left],
        LABELS[votes.right],
        (votes.outcome + 1) / 2,
        margin=votes.margin,
        judge=np.arange(len(votes)) % 20,
    )
    with pytest.warns(RepeatedVotesWarning, match="Votes are repeated by judge"):
        path = bd.report(judged, tmp_path / "r.html", model=PerturbedThurstone(), draws=400)
    page = path.read_text(encoding="utf-8")
    assert "Votes are repeated by judge, but are taken as independent (the votes on a pair" in page
    assert "intervals may be too narrow" in page
    unit = PerturbedThurstone().settled(judged).unit
    assert f"unit = {unit}" in page and "residual_scale, estimated" in page
    assert "In a model with one score per arm" not in page
    assert "All votes of one" not in page
    assert "standard deviation of the residuals of pairs" in page


def test_the_report_says_why_it_does_not_tell_of_margins(tmp_path):
    left, right = list("abcabc" * 2), list("bcabca" * 2)
    outcome = [1, 0, 1, 0, 1, 1] * 2
    same = Duels.from_votes(left, right, outcome, margin=[0.0] * 12)
    page = bd.report(same, tmp_path / "a.html", draws=400).read_text(encoding="utf-8")
    assert "Not available for this log: margins should not all be 0" in page
    none = Duels.from_votes(left, right, outcome)
    page = bd.report(none, tmp_path / "b.html", draws=400).read_text(encoding="utf-8")
    assert "Margins" not in page
