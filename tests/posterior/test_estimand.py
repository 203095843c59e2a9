"""Which duels answers are about: new levels are integrated out, all there is are averaged."""

import json

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm

import bayesduel as bd
from bayesduel.models import CategoryEffects, RandomEffects, SideAdvantage
from bayesduel.models.cells import levels_of
from bayesduel.models.model import over_normal

ARMS = list("abcd")


def made_log(n=400, *, levels=("de", "en", "fr"), shares=(0.5, 0.3, 0.2), spread=1.2, seed=3):
    """Return votes on four arms whose order differs by language, with judges and prompts."""
    rng = np.random.default_rng(seed)
    score = np.array([0.9, 0.3, -0.3, -0.9])
    away = rng.normal(0, spread, (len(levels), 4))
    language = rng.choice(len(levels), n, p=shares)
    left, right = np.array([rng.permutation(4)[:2] for _ in range(n)]).T
    eta = score[left] - score[right] + away[language, left] - away[language, right]
    rows = {
        "left": np.array(ARMS)[left],
        "right": np.array(ARMS)[right],
        "outcome": 1.0 * (rng.random(n) < expit(eta)),
        "language": np.array(levels)[language],
        "prompt": rng.integers(0, 8, n),
        "judge": rng.integers(0, 20, n),
    }
    return bd.read_duels(rows, keep=["language", "prompt"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("deviation", [0.3, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("link", [expit, ndtr])
@pytest.mark.slow
def test_the_quadrature_is_that_of_scipy(link, deviation):
    eta = np.linspace(-5, 5, 21)[None]
    found = over_normal(lambda x: {"p": link(x)}, eta, np.full((1, 1), deviation**2))["p"][0]
    exact = [quad(lambda z, e=e: link(e + deviation * z) * norm.pdf(z), -9, 9)[0] for e in eta[0]]
    most = {expit: {3.0: 1e-3, 1.5: 1e-5}, ndtr: {3.0: 2e-2, 1.5: 2e-3}}[link]
    np.testing.assert_allclose(found, exact, atol=most.get(deviation, most[1.5]))


@pytest.mark.parametrize("shared", [(), ("judge",)])
@pytest.mark.parametrize("response", ["bradley-terry", "thurstone", "davidson"])
@pytest.mark.sampled(6)
@pytest.mark.slow
def test_a_new_prompt_is_integrated_out(response, shared):
    """The win probability is the mean over levels drawn from the learned spread."""
    log = made_log()
    model = bd.models.named(response) + RandomEffects("prompt")
    for column in shared:
        model = model + RandomEffects(column)
    fit = bd.fit(log, model, draws=1000)
    draws = fit.duel.posterior()
    rng = np.random.default_rng(0)
    n = 4000
    spread = np.sqrt(sum(draws[f"{column}_scale"] ** 2 for column in ("prompt", *shared)))
    new = rng.normal(size=(2, n, len(spread))) * spread
    eta = (draws["score"][:, 0] - draws["score"][:, 1])[None] + new[0] - new[1]
    known = {name: values for name, values in draws.items() if values.ndim == 1}
    simulated = fit.duel.model.response.typical_score(eta.T, known).mean()
    at_none = fit.duel.model.response.typical_score(
        (draws["score"][:, 0] - draws["score"][:, 1])[:, None], known
    ).mean()
    found = float(bd.winners(fit)["preference_mean"][0, 1])
    assert found == pytest.approx(simulated, abs=2e-3)
    assert abs(found - 0.5) < abs(at_none - 0.5)
    assert float(fit["preference"]["preference"][:, :, 0, 1].mean()) == pytest.approx(found)
    predicted = bd.predict(fit, "a", "b")
    likely = float(predicted["win"]) + float(predicted.get("tie", 0)) / 2
    assert likely == pytest.approx(found, abs=1e-9)
    assert "a new prompt" in bd.winners(fit).attrs["controls"]
    said = bd.predict(fit, "a", "b", prompt="3", **dict.fromkeys(shared, "1"))
    own = draws["score"] + draws["prompt_deviation"][:, 3]
    for column in shared:
        own = own + draws[f"{column}_deviation"][:, 1]
    exact = fit.duel.model.response.typical_score((own[:, 0] - own[:, 1])[:, None], known).mean()
    assert float(said["win"]) + float(said.get("tie", 0)) / 2 == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", ["all", "sample"])
@pytest.mark.parametrize("further", [None, SideAdvantage(), RandomEffects("prompt")])
@pytest.mark.sampled(8)
def test_levels_are_averaged_weighed_or_chosen(kind, further, clustered):
    log = made_log() if clustered else made_log().with_votes(np.arange(400), np.ones(400, int))
    term = CategoryEffects("language") if kind == "all" else RandomEffects("language")
    model = bd.models.BradleyTerry() + term
    if further is not None:
        model = model + further
    fit = bd.fit(log, model, draws=400, clusters=clustered)
    raw = fit.duel.sampled
    name = "language_deviation"
    by_level = (raw["score"] + raw[name]).mean(("chain", "draw"))
    by_level = by_level.transpose("language", "arm").to_numpy()
    n = np.bincount(levels_of(log, "language")[0])
    if kind == "all":
        expected = (n / n.sum()) @ by_level
        np.testing.assert_allclose(
            fit["posterior"]["score"].mean(("chain", "draw")), expected, atol=0.02
        )
        assert "average over the 3 languages, by their votes" in bd.winners(fit).attrs["controls"]
    weights = {"de": 1, "en": 3}
    weighed = bd.estimand(fit, weights={"language": weights})
    expected = by_level[0] * 0.25 + by_level[1] * 0.75
    np.testing.assert_allclose(
        weighed["posterior"]["score"].mean(("chain", "draw")), expected, atol=0.02
    )
    assert "by weight: de 0.25 and en 0.75" in bd.winners(weighed).attrs["controls"]
    one = bd.winners(fit, at={"language": "fr"})
    assert "language is fr" in one.attrs["controls"]
    scores = bd.scores(fit, at={"language": "fr"})["score_mean"].sort_index()
    np.testing.assert_allclose(scores, by_level[2], atol=0.02)
    chosen = bd.estimand(fit, at={"language": "fr"})
    said = {} if further is None or further.name != "random" else {"prompt": None}
    told = bd.predict(fit, "a", "b", language="fr", **said)
    np.testing.assert_allclose(told["win"], bd.predict(chosen, "a", "b")["win"], atol=1e-9)
    assert bd.loo(chosen, log).elpd == pytest.approx(bd.loo(fit, log).elpd, abs=0.5)


def test_what_is_asked_is_in_the_fit():
    log = made_log()
    plain = bd.fit(log, "bradley-terry", draws=200)
    fit = bd.fit(log, bd.models.BradleyTerry() + CategoryEffects("language"), draws=200)
    for wrong, words in [
        (
            lambda: bd.estimand(plain, at={"language": "de"}),
            "do not differ by 'language'; they differ by no column. Fit again with Random",
        ),
        (
            lambda: bd.estimand(fit, at={"judge": "1"}),
            "do not differ by 'judge'; they differ by 'language'",
        ),
        (lambda: bd.estimand(fit, at={"language": "es"}), "one of 'de', 'en' and 'fr', got 'es'"),
        (lambda: bd.estimand(fit, weights={"language": {"de": -1}}), "at least 0"),
        (lambda: bd.estimand(fit, weights={"language": {"de": 0}}), "not all 0"),
        (lambda: bd.estimand(fit), "give at or weights"),
        (
            lambda: bd.estimand(fit, at={"language": "de"}, weights={"language": {"de": 1}}),
            "in both",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()
    for wrong in ("de", {"language": 3}):
        with pytest.raises(TypeError):
            bd.estimand(fit, weights=wrong)
    assert json.loads(bd.estimand(fit, at={"language": "de"}).attrs["estimand"])
