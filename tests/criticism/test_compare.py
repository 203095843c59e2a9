"""Comparison of models: exact where leaving out has a formula, refits where it has not."""

import json

import arviz_stats as azs
import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import betaln, logsumexp

import bayesduel as bd
from bayesduel.criticism import loo
from bayesduel.criticism.cross_validation import log_likelihoods, units_of, without
from bayesduel.models import (
    BradleyTerry,
    Davidson,
    JudgeReliability,
    PerturbedThurstone,
    PreferenceMatrix,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
)
from bayesduel.posterior.draws import preference_draws


def log_of(P, each, seed, ties=0.0, **columns):
    """Return a log with `each` duels of every pair, left and right in turn."""
    rng = np.random.default_rng(seed)
    i, j = (np.repeat(x, each) for x in np.triu_indices(len(P), 1))
    swap = np.arange(len(i)) % 2 == 1
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    outcome = (rng.uniform(size=len(i)) < P[i, j]).astype(float)
    outcome[rng.uniform(size=len(i)) < ties] = 0.5
    return bd.Duels.from_votes(i, j, outcome, **{n: c(len(i)) for n, c in columns.items()})


def ladder(n_arms, step=0.6):
    score = step * np.arange(n_arms)
    return 1 / (1 + np.exp(score[None] - score[:, None]))


def test_pairs_left_out_of_independent_pairs_have_a_formula():
    duels = log_of(ladder(5), 12, 1)
    found = bd.compare_models(duels, PreferenceMatrix(concentration=2.0))
    pairs = duels.pairs()
    exact = betaln(1 + pairs.first_wins, 1 + pairs.second_wins)
    np.testing.assert_allclose(found.pointwise["elpd"][0], exact, atol=1e-9)
    assert found.table.elpd.iloc[0] == pytest.approx(exact.sum())
    assert np.isneginf(found.table.khat.iloc[0])


def test_duels_left_out_of_independent_pairs_have_a_formula():
    """Under a uniform prior the rule of succession: w wins of n leave (w - 1 + 1) / (n - 1 + 2)."""
    duels = log_of(ladder(4), 20, 2)
    found = bd.compare_models(duels, PreferenceMatrix(concentration=2.0), unit="duel")
    pairs = duels.pairs()
    n = pairs.first_wins + pairs.second_wins
    exact = sum((w * np.log(w / (n + 1))).sum() for w in (pairs.first_wins, pairs.second_wins))
    assert found.n_units == duels.n_duels == int(found.pointwise["times"].sum())
    # 4,000 draws: each log predictive density has a Monte Carlo error below 0.01.
    error = 6 * 0.01 * np.sqrt((found.pointwise["times"].values ** 2).sum())
    assert found.table.elpd.iloc[0] == pytest.approx(exact, abs=error)


@pytest.mark.parametrize("unit", ["pair", pytest.param("duel", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_importance_sampling_agrees_with_refits(unit, monkeypatch):
    duels = log_of(ladder(5), 6, 3)
    quick = bd.compare_models(duels, BradleyTerry(), unit=unit, folds=0)
    assert quick.table.n_refitted.iloc[0] == 0
    monkeypatch.setattr("bayesduel.criticism.loo.trusted", lambda n: -10.0)
    slow = bd.compare_models(duels, BradleyTerry(), unit=unit, folds=100)
    assert slow.table.n_refitted.iloc[0] == slow.n_units == (10 if unit == "pair" else 60)
    # Two estimates of 4,000 draws each.
    np.testing.assert_allclose(quick.pointwise["elpd"], slow.pointwise["elpd"], atol=0.15)
    assert quick.table.elpd.iloc[0] == pytest.approx(slow.table.elpd.iloc[0], abs=0.4)


@pytest.mark.parametrize("model", [BradleyTerry(), Thurstone(), Davidson()], ids=lambda m: m.name)
def test_what_is_compared_is_the_likelihood_without_its_number_of_orders(model):
    duels = log_of(ladder(5), 9, 4, ties=0.2)
    tree = bd.fit(duels, model, draws=400)
    posterior = tree.duel.posterior("model")
    (units,) = units_of(duels, [model], "pair")
    mine = np.concatenate(list(log_likelihoods(model, posterior, units)), axis=1)
    kept = tree["log_likelihood_by_cell"]["outcome"].values.reshape(mine.shape)
    orders = model.cells(duels).data["log_coefficient"]
    np.testing.assert_allclose(mine, kept - orders, atol=1e-9)


@pytest.mark.parametrize("folds", [3, 10])
def test_a_refit_gives_each_unit_its_own_prediction(folds, monkeypatch):
    """Where several are left out together, their order must not be lost."""
    log = bd.Duels.from_wins(np.ones((15, 15)) - np.eye(15), [f"a{k:02}" for k in range(15)])

    def numbered(duels, model, units, rows, settings):
        assert (np.diff(rows) > 0).all()
        return rows.astype(float)

    monkeypatch.setattr(loo, "_refit", numbered)
    monkeypatch.setattr(loo, "trusted", lambda n: -np.inf)
    fit = bd.fit(log, BradleyTerry(), draws=100)
    (units,) = units_of(log, [fit.duel.model], "pair")
    settings = {"method": "auto", "draws": 100, "seed": 1}
    found = loo.leave_out(log, fit.duel.model, fit, units, folds, settings, lambda share: None)
    assert len(units) == 105 and found.refitted.all()
    np.testing.assert_array_equal(found.elpd, np.arange(105))


def test_single_duels_of_a_pair_sum_to_the_pair():
    duels = log_of(ladder(4), 7, 5, ties=0.3)
    model = Davidson()
    posterior = bd.fit(duels, model, draws=200).duel.posterior("model")
    (pairs,), (single,) = (units_of(duels, [model], unit) for unit in ("pair", "duel"))
    by_pair = np.concatenate(list(log_likelihoods(model, posterior, pairs)), axis=1)
    by_duel = np.concatenate(list(log_likelihoods(model, posterior, single)), axis=1)
    place = single.first * 4 + single.second
    for k, key in enumerate(pairs.first * 4 + pairs.second):
        total = (by_duel * single.times)[:, place == key].sum(axis=1)
        np.testing.assert_allclose(total, by_pair[:, k], atol=1e-9)


def test_units_leave_the_log():
    duels = log_of(ladder(4), 7, 6, ties=0.3, judge=lambda n: np.arange(n) % 3)
    for unit in ("pair", "duel"):
        (units,) = units_of(duels, [Davidson()], unit)
        rest = without(duels, units, np.array([0, 2]))
        wins, ties = duels.tally("keep")
        gone = sum(
            wins[i, j] + wins[j, i] + ties[i, j]
            for i, j in zip(units.first[[0, 2]], units.second[[0, 2]], strict=True)
        )
        assert duels.n_duels - rest.n_duels == (2 if unit == "duel" else gone)
        assert rest.arms == duels.arms
        if unit == "pair":
            assert rest.votes.judges == duels.votes.judges
            assert int(rest.votes.weight.sum()) == rest.n_duels
            kept = list(zip(rest.pairs().first, rest.pairs().second, strict=True))
            assert (units.first[0], units.second[0]) not in kept


def test_a_log_of_counts_loses_one_duel_and_keeps_single_ones():
    duels = bd.Duels.from_wins([[0, 2, 1], [0, 0, 0], [0, 1, 0]])
    (units,) = units_of(duels, [BradleyTerry()], "duel")
    rest = [without(duels, units, np.array([k])) for k in range(len(units.first))]
    assert {one.n_duels for one in rest} == {3}
    assert {tuple(one.tally().wins[[0, 0, 2], [1, 2, 1]]) for one in rest} == {
        (1, 1, 1), (2, 0, 1), (2, 1, 0),
    }  # fmt: skip


@pytest.mark.slow
def test_a_planted_cycle_is_found_and_a_ladder_is_not_accused():
    cycle = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])
    wide = np.kron(np.ones((2, 2)), cycle)
    found = bd.compare_models(log_of(wide, 40, 7))
    assert found.best == "preference-matrix" and found.weights["preference-matrix"] > 0.8
    assert "thurstone (83.2 nats less" in found.sentence and "do worse" in found.sentence
    assert "by more than two standard errors" in found.sentence  # the rule
    found = bd.compare_models(log_of(ladder(6), 40, 8))
    assert "bradley-terry" in found.as_good and "preference-matrix" not in found.as_good
    # Where models cannot be distinguished the sentence says so beside their weights.
    names = [name for name in found.table.index if name in found.as_good]
    assert len(names) == 2
    told = " and ".join(f"{name} {found.weights[name]:.2f}" for name in names)
    assert (
        f"cannot be distinguished from it: their stacking weights ({told}) are uncertain"
        in found.sentence
    )
    reason = found.stacked(draws=100).attrs["method_reason"]
    assert reason.endswith(f"{' and '.join(names)} cannot be distinguished")
    assert sum(found.weights.values()) == pytest.approx(1.0)


def test_only_models_that_score_the_same_are_compared():
    duels = log_of(ladder(4), 10, 9, ties=0.3)
    with pytest.raises(ValueError, match="for davidson a tie is an outcome, for bra"):
        bd.compare_models(duels, ["bradley-terry", "davidson"])
    assert bd.compare_models(duels, ["davidson"]).observations == "wins, losses and ties"
    decided = log_of(ladder(4), 10, 9)  # without ties both score wins and losses
    both = bd.compare_models(decided, ["bradley-terry", "davidson"])
    assert both.best == "bradley-terry" and both.observations == "wins and losses"


def test_fits_can_be_given_and_must_be_of_the_log():
    duels = log_of(ladder(4), 10, 10)
    tree = bd.fit(duels, "bradley-terry", seed=3)
    found = bd.compare_models(duels, {"mine": tree, "other": Thurstone()})
    assert found.fits["mine"] is tree and set(found.table.index) == {"mine", "other"}
    with pytest.raises(ValueError, match="fits of this log"):
        bd.compare_models(log_of(ladder(4), 11, 10), [tree])


@pytest.mark.slow
def test_stacked_draws_are_the_mixture_and_have_winners():
    duels = log_of(ladder(5, 1.2), 12, 11)
    found = bd.compare_models(duels)
    mixed = found.stacked()
    assert isinstance(mixed, xr.DataTree) and mixed["posterior"].sizes["draw"] == 4000
    mean = np.concatenate(list(preference_draws(mixed))).mean(0)
    parts = [
        w * np.concatenate(list(preference_draws(found.fits[n]))).mean(0)
        for n, w in found.weights.items()
    ]
    # Each weight is met to one draw in 4,000; the draws of one fit are all used or a subset.
    np.testing.assert_allclose(mean, sum(parts), atol=6 * 0.5 / np.sqrt(4000) * 0.5)
    winners = bd.winners(mixed)
    assert winners.attrs["model"] == "stacked"
    assert str(winners["winner_probability"].sel(criterion="condorcet").idxmax().values) == "4"
    assert bd.predict(mixed, "4", "0")["win"] > 0.7
    with pytest.raises(ValueError, match="draws should be a whole number >= 100"):
        found.stacked(draws=3)


def test_it_reads_well_and_is_json():
    found = bd.compare_models(log_of(ladder(4), 10, 12), unit="duel")
    assert repr(found).startswith("<Comparison of 3 models by duel: wins and losses>")
    assert "max k-hat" in found.to_html() and found.sentence in found.to_html()
    said = json.loads(found.to_json())
    assert said["best"] == found.best and len(said["models"]) == 3
    assert {"model", "elpd", "weight", "khat"} <= set(said["models"][0])


def test_progress_ends_at_one():
    seen = []
    bd.compare_models(log_of(ladder(4), 10, 12), progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0
    assert seen[:3] == pytest.approx([1 / 6, 2 / 6, 3 / 6])  # three models are fitted by halfway


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"unit": "judge"},
            ValueError,
            "unit cannot be 'judge': duels should have the judge of each",
        ),
        ({"unit": 3}, ValueError, "unit should be 'pair', 'duel' or a column"),
        ({"folds": -1}, ValueError, "folds should be a whole number >= 0"),
        ({"models": []}, ValueError, "at least one model"),
        ({"models": ["bradley-terry", "bradley-terry"]}, ValueError, "different names"),
        ({"models": ["thurstone-score"]}, ValueError, "this model needs margins"),
        (
            {"models": ["thurstone-score", "thurstone"]},
            ValueError,
            "thurstone-score score margins",
        ),
        ({"models": ["elo"]}, ValueError, "model name should be one of"),
        ({"models": 3}, TypeError, "models should be models, names or fits, got 3"),
    ],
)
def test_bad_arguments_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        bd.compare_models(log_of(ladder(3), 5, 1), **arguments)


# -- margins, layers and judges ------------------------------------------------------------------


def margin_log(n_arms, each, seed, home=0.0, noise=1.0):
    """Return margins about differences of scores, left and right in turn."""
    rng = np.random.default_rng(seed)
    i, j = (np.repeat(x, each) for x in np.triu_indices(n_arms, 1))
    swap = np.arange(len(i)) % 2 == 1
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    score = rng.normal(size=n_arms)
    margin = score[i] - score[j] + home + noise * rng.normal(size=len(i))
    return bd.Duels.from_votes(i, j, (np.sign(margin) + 1) / 2, margin=margin)


def density_by_hand(model, posterior, left, right, margin, unit):
    """Return the log density of margins in each draw; a residual of a pair left out is drawn."""
    if unit == "duel" or not model.response.coupled:
        sides = {"left_first": np.ones(len(left))} if model.terms.reads_order else {}
        location, scale, degrees = model.margins(
            posterior, {"first": left, "second": right} | sides
        )
        assert np.isinf(degrees).all()
        return stats.norm.logpdf(margin, location, scale).sum(axis=1)
    score, noise, spread = (posterior[n] for n in ("score", "noise", "residual_scale"))
    sign = np.where(left < right, 1.0, -1.0)
    return np.array(
        [
            stats.multivariate_normal.logpdf(
                margin,
                score[d][left] - score[d][right],
                noise[d] ** 2 * np.eye(len(left)) + spread[d] ** 2 * np.outer(sign, sign),
            )
            for d in range(len(score))
        ]
    )


@pytest.mark.parametrize(
    "model",
    [
        ThurstoneScore(),
        pytest.param(ThurstoneScore() + SideAdvantage(), marks=pytest.mark.slow),
        pytest.param(PerturbedThurstone(), marks=pytest.mark.slow),
    ],
    ids=lambda m: m.name,
)
@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")
@pytest.mark.parametrize("unit", ["pair", pytest.param("duel", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_margins_left_out_are_predicted_as_by_refits_by_hand(model, unit, monkeypatch):
    duels = margin_log(3, 3, 1)
    monkeypatch.setattr("bayesduel.criticism.loo.trusted", lambda n: -10.0)
    settings = {"method": "laplace", "draws": 200, "seed": 4}
    found = bd.compare_models(duels, {"it": model}, unit=unit, folds=100, **settings)
    assert found.observations == "margins" and found.table.n_refitted.iloc[0] == found.n_units
    settled, votes = found.fits["it"].duel.model, duels.votes
    place = np.stack([np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)])
    unit_of = np.unique(place, axis=1, return_inverse=True)[1].ravel()
    if unit == "duel":
        unit_of = np.arange(len(votes))
    exact = []
    for k in range(unit_of.max() + 1):
        out = unit_of == k
        rest = bd.Duels.from_votes(
            np.array(duels.arms)[votes.left[~out]],
            np.array(duels.arms)[votes.right[~out]],
            (votes.outcome[~out] + 1) / 2,
            margin=votes.margin[~out],
            arms=duels.arms,
        )
        posterior = bd.fit(rest, settled, **settings).duel.posterior("model")
        held = (votes.left[out], votes.right[out], votes.margin[out])
        by_draw = density_by_hand(settled, posterior, *held, unit)
        exact.append(logsumexp(by_draw) - np.log(len(by_draw)))
    assert found.n_units == len(exact)
    # The same draws, but for rounding: the order of duels, which only single ones can change.
    np.testing.assert_allclose(np.sort(found.pointwise["elpd"][0]), np.sort(exact), rtol=1e-4)


@pytest.mark.parametrize("unit", [pytest.param("pair", marks=pytest.mark.slow), "duel"])
@pytest.mark.slow
def test_models_of_margins_are_compared_among_themselves(unit):
    """A home advantage of two standard deviations is told from none."""
    models = [ThurstoneScore(), ThurstoneScore() + SideAdvantage(), PerturbedThurstone()]
    found = bd.compare_models(
        margin_log(5, 4, 2, home=2.0), models, unit=unit, method="laplace", draws=400, folds=0
    )
    assert set(found.table.index) == {m.name for m in models}
    assert found.best == "thurstone-score + order"
    assert "thurstone-score" not in found.as_good
    assert found.n_units == (10 if unit == "pair" else 40)
    assert np.isfinite(found.pointwise["elpd"]).all()


@pytest.mark.parametrize("unit", ["pair", "duel"])
def test_a_layer_is_compared_with_what_it_wraps_on_the_same_duels(unit):
    """The finer cells of a layer stand for the same duels, in their order."""
    duels = log_of(ladder(4), 8, 3)
    models = [BradleyTerry(), BradleyTerry() + SideAdvantage()]
    plain, layered = units_of(duels, models, unit)
    assert (plain.first == layered.first).all() and (plain.times == layered.times).all()
    posterior = bd.fit(duels, models[0], draws=200).duel.posterior("model")
    with_none = posterior | {"order": np.zeros(200)}
    one, two = (
        np.concatenate(list(log_likelihoods(m, p, u)), axis=1)
        for m, p, u in zip(models, (posterior, with_none), (plain, layered), strict=True)
    )
    np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["pair", "duel"])
def test_reliable_judges_are_told_from_random_ones(unit):
    rng = np.random.default_rng(5)
    P = ladder(6, 1.0)
    i, j = (np.tile(x, 12) for x in np.triu_indices(6, 1))
    judge = np.repeat(np.arange(12), 15)
    chance = np.where(judge < 6, P[i, j], 0.5)
    outcome = (rng.uniform(size=len(i)) < chance).astype(float)
    duels = bd.Duels.from_votes(i, j, outcome, judge=judge)
    models = [BradleyTerry(), BradleyTerry() + JudgeReliability()]
    found = bd.compare_models(duels, models, unit=unit, draws=400, folds=0)
    assert found.best == "bradley-terry + reliability"
    assert found.n_units == (15 if unit == "pair" else 180)


def test_two_arms_are_compared_by_duel_only():
    duels = bd.Duels.from_wins([[0, 7], [3, 0]])
    with pytest.raises(ValueError, match="only one pair met"):
        bd.compare_models(duels)
    assert bd.compare_models(duels, unit="duel").n_units == 10
    with pytest.raises(TypeError, match=r"bayesduel\.Duels"):
        bd.compare_models([[0, 1], [2, 0]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ties", [0.0, 0.3])
@pytest.mark.parametrize("other", ["bradley-terry", "thurstone", "preference-matrix"])
@pytest.mark.slow
def test_arviz_compares_predictions_of_the_same_outcomes_only(other, ties):
    log = log_of(ladder(3), 30, 4, ties)
    names = ("davidson", other, "bradley-terry")
    found = {name: bd.loo(bd.fit(log, name, draws=400)) for name in names}
    if not ties:  # all predict who won
        assert set(azs.compare(found).index) == set(found)
        return
    with pytest.raises(ValueError, match=r"a tie half of each.*losses and ties"):
        azs.compare(found)
    alike = {name: one for name, one in found.items() if name != "davidson"}
    if len(alike) > 1:
        assert set(azs.compare(alike).index) == set(alike)


@pytest.mark.slow
def test_recipes_and_auto_are_the_models_that_the_log_chooses():
    log = bd.datasets.load("baseball1987")  # home and away
    found = bd.compare_models(log, [bd.DefaultModel(side_advantage=False), "auto"], draws=400)
    assert sorted(found.table.index) == ["bradley-terry", "bradley-terry + order"]
    alone = bd.compare_models(log, bd.DefaultModel(), draws=400)
    assert list(alone.table.index) == ["bradley-terry + order"]
    with pytest.raises(TypeError, match="models, names or fits"):
        bd.compare_models(log, [3])


def test_models_that_predict_the_same_differ_by_no_minus_zero():
    log = log_of(ladder(5), 10, 3)
    found = bd.compare_models(log, {"one": "bradley-terry", "other": "bradley-terry"}, draws=400)
    assert "other (the same to 0.1 nats, standard error 0.0)" in found.sentence
