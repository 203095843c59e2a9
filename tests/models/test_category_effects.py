"""Effects by category: what is recovered, and ranks by category."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    Davidson,
    JudgeReliability,
    SideAdvantage,
)

SCORE = np.array([0.9, 0.3, -0.3, -0.9])


def deviations(n_categories, spread, seed):
    found = spread * np.random.default_rng(seed).standard_normal((n_categories, len(SCORE)))
    return found - found.mean(axis=1, keepdims=True)


def draw_log(deviation, n, seed):
    """Return a log of `n` duels in each category, of known scores."""
    rng = np.random.default_rng(seed)
    category = np.repeat(np.arange(len(deviation)), n)
    i = rng.integers(0, len(SCORE), len(category))
    j = (i + rng.integers(1, len(SCORE), len(category))) % len(SCORE)
    score = SCORE + deviation[category]
    rows = np.arange(len(category))
    won = rng.uniform(size=len(category)) < expit(score[rows, i] - score[rows, j])
    names = np.array(list("abcd"))
    return bd.Duels.from_votes(
        names[i], names[j], won.astype(float), category=[f"c{c}" for c in category]
    )


@pytest.fixture(scope="module")
def planted():
    deviation = deviations(5, 0.7, 3)
    return deviation, draw_log(deviation, 300, 4)


@pytest.fixture(scope="module")
def fit(planted):
    return bd.fit(planted[1], BradleyTerry() + CategoryEffects(), "laplace", draws=4000, seed=1)


@pytest.mark.slow
def test_a_linear_term_is_certified_without_nuts(fit):
    assert fit.attrs["method"] == "laplace"
    assert fit.attrs["method_reason"].startswith("asked for: k")
    assert not (Davidson() + SideAdvantage() + CategoryEffects()).why_not("laplace")
    assert "not linear" in (BradleyTerry() + JudgeReliability() + CategoryEffects()).why_not(
        "laplace"
    )
    assert not json.loads(fit.attrs["clusters_repeated"])


def test_planted_deviations_are_found(planted, fit):
    draws = fit["posterior"]["deviation"]
    assert draws.dims == ("chain", "draw", "category", "arm")
    np.testing.assert_allclose(draws.sum("arm"), 0.0, atol=1e-12)
    mean, sd = draws.mean(("chain", "draw")).values, draws.std(("chain", "draw")).values
    truth = planted[0] - planted[0].mean(axis=0)  # from the average, of as many votes in each
    z = (mean - truth) / sd
    assert np.abs(z).max() < 4 and 0.5 < np.sqrt((z**2).mean()) < 1.6
    low, high = fit["posterior"]["category_spread"].quantile([0.01, 0.99])
    assert low < 0.7 < high


def test_ranks_by_category(planted, fit):
    ranks = bd.category_ranks(fit)
    assert dict(ranks.sizes) == {"category": 5, "arm": 4, "opponent": 4}
    draws = fit["posterior"]
    overall = draws["score"].values.reshape(-1, 4)
    score = overall + draws["deviation"].values.reshape(-1, 5, 4)[:, 2]
    chance = ((overall[:, 0] > overall[:, 1]) & (score[:, 0] < score[:, 1])).mean()
    found = ranks["reversed_probability"].sel(category="c2", arm="a", opponent="b")
    assert float(found) == pytest.approx(chance)
    differs = (score.argmax(1) != overall.argmax(1)).mean()
    assert float(ranks["best_differs_probability"].sel(category="c2")) == pytest.approx(differs)
    np.testing.assert_allclose(ranks["best_probability"].sum("arm"), 1.0)
    best = np.bincount(overall.argmax(1), minlength=4) / len(overall)
    np.testing.assert_allclose(ranks["overall_best_probability"], best)
    np.testing.assert_allclose(ranks["rank_mean"].sum("arm"), 10.0)
    assert ranks["duels"].sum() == 2 * planted[1].n_duels
    assert len(ranks.table()) == 5 and len(ranks.scores()) == 20
    assert (ranks.changes(0.5)["probability"] >= 0.5).all()
    assert json.loads(json.dumps(ranks.summary()))["sentence"] == ranks.sentence
    with pytest.raises(ValueError, match="confidence should be in"):
        bd.category_ranks(fit, confidence=0.4)


def test_the_average_is_over_the_categories_of_the_log_by_their_votes(planted, fit):
    """Scores at deviations of 0 are uncertain: five categories tell little of more."""
    log = planted[1]
    votes = np.bincount(log.votes.category, minlength=5)
    draws = {name: fit.duel.sampled[name].values for name in ("score", "deviation")}
    score = draws["score"].reshape(-1, 1, 4) + draws["deviation"].reshape(-1, 5, 4)
    mean = np.einsum("nci,c->ni", score, votes / votes.sum())
    found = fit.duel.posterior()
    np.testing.assert_allclose(found["score"], mean)
    np.testing.assert_allclose(found["score"][:, None] + found["deviation"], score)
    winners = bd.winners(fit)
    best = np.bincount(mean.argmax(1), minlength=4) / len(mean)
    np.testing.assert_allclose(winners["winner_share"].sel(criterion="copeland"), best)
    assert np.all(mean.std(0) < draws["score"].reshape(-1, 4).std(0))
    ranks = bd.category_ranks(fit)
    np.testing.assert_allclose(ranks["score_mean"], score.mean(axis=0))
    np.testing.assert_allclose(ranks["overall_best_probability"], best)
    assert "categories, weighted by their votes, is " in ranks.sentence


@pytest.mark.slow
def test_categories_may_be_another_column(planted, fit):
    log = planted[1]
    votes = log.votes
    kept = {"topic": (votes.category, votes.categories)}
    other = replace(log, votes=replace(votes, category=None, categories=(), kept=kept))
    model = BradleyTerry() + CategoryEffects(by="topic")
    found = bd.category_ranks(bd.fit(other, model, "laplace", draws=4000, seed=1))
    assert found.equals(bd.category_ranks(fit))


@pytest.mark.slow
def test_a_stored_fit_gives_the_same_ranks(fit, tmp_path):
    import xarray as xr

    fit.to_netcdf(tmp_path / "fit.nc")
    back = xr.open_datatree(tmp_path / "fit.nc").load()
    assert bd.category_ranks(back).equals(bd.category_ranks(fit))


def test_the_picture_has_a_row_an_arm(fit):
    import matplotlib.pyplot as plt

    ax = bd.plots.plot_categories(bd.category_ranks(fit))
    assert [t.get_text() for t in ax.get_yticklabels()] == list("abcd")
    assert len(ax.get_xticklabels()) == 5
    plt.close(ax.figure)


def test_the_source_of_joined_categories_is_that_of_the_whole_log():
    parts = bd.datasets.load("tversky1969", by="annotator")
    joined = bd.Duels.from_categories(parts)
    assert joined.read_summary.source == "tversky1969 (shipped with bayesduel)"


def test_logs_of_categories_become_one(planted):
    log = planted[1]
    parts = {
        c: bd.Duels.from_votes(
            *([log.arms[k] for k in getattr(log.votes, side)[log.votes.category == g]]
              for side in ("left", "right")),
            (log.votes.outcome[log.votes.category == g] + 1) / 2,
        )
        for g, c in enumerate(log.votes.categories)
    }  # fmt: skip
    joined = bd.Duels.from_categories(parts)
    assert joined.arms == log.arms and joined.votes.categories == log.votes.categories
    one, other = ((BradleyTerry() + CategoryEffects()).cells(given) for given in (log, joined))
    for name, values in one.data.items():
        np.testing.assert_array_equal(values, other.data[name])
    assert joined.subset(["a", "b", "c"]).votes.category.max() == 4
    with pytest.raises(ValueError, match="the category of each vote"):
        (BradleyTerry() + CategoryEffects()).cells(bd.datasets.load("springall"))
    with pytest.raises(ValueError, match="at least two levels of category, got"):
        (BradleyTerry() + CategoryEffects()).cells(
            bd.Duels.from_votes("ab", "ba", [1, 1], category="uu")
        )


@pytest.mark.slow
def test_no_deviations_pool_to_the_overall_ranking():
    log = draw_log(np.zeros((8, 4)), 100, 6)
    fit = bd.fit(log, BradleyTerry() + CategoryEffects(), "laplace", seed=1)
    alone = bd.fit(log, BradleyTerry(), "laplace", seed=1)
    assert float(fit["posterior"]["category_spread"].median()) < 0.2
    gap = fit["posterior"]["score"].mean(("chain", "draw")) - alone["posterior"]["score"].mean(
        ("chain", "draw")
    )
    assert np.abs(gap).max() < 0.05
    ranks = bd.category_ranks(fit)
    assert int(ranks["reversed_pairs"].sum()) == 0
    # The largest is 0.22, by NUTS too, so no bound in logits: every 95 % interval holds zero.
    error = fit["posterior"]["deviation"].std(("chain", "draw"))  # from the average of all
    assert float(np.abs(ranks["deviation_mean"] / error).max()) < 1.96


@pytest.mark.slow
def test_the_latent_gaussian_agrees_with_nuts():
    log = draw_log(deviations(6, 0.6, 7), 60, 8)
    found = {
        m: bd.fit(log, BradleyTerry() + CategoryEffects(), m, draws=4000, seed=2)
        for m in ("laplace", "pymc")
    }
    for name in ("score", "deviation", "category_spread", "scale"):
        one, other = (found[m]["posterior"][name] for m in ("laplace", "pymc"))
        over = ("chain", "draw")
        sd = other.std(over)
        # Monte Carlo errors: about 1 / sqrt(1500) of a standard deviation each, 30 numbers.
        assert (np.abs(one.mean(over) - other.mean(over)) / sd).max() < 0.15
        assert (np.abs(one.std(over) / sd - 1)).max() < 0.15
