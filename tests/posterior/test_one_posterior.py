"""One posterior that everything reads: ArviZ computes from a fit what the package prints."""

import json
import re

import arviz_stats as azs
import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import CategoryEffects, OrderEffect, RandomEffects, TimeVarying

ARMS = list("abcd")
N = 160

RESPONSES = {
    "bradley-terry": {},
    "thurstone": {},
    "davidson": {"ties": "keep"},
    "cumulative-logit": {"grades": True},
    "thurstone-score": {"margins": True},
}
TERMS = {
    "scores": None,
    "order": OrderEffect(),
    "time": TimeVarying(periods=3),
    "category": CategoryEffects(),
    "prompt": RandomEffects("prompt"),
}
SHARED = {"none": (), "judge": ("judge",), "group": ("group",), "both": ("judge", "group")}


def log_of(response, shared):
    """Return a log of four arms with what the response reads and what votes share."""
    rng = np.random.default_rng(5)
    left, right = np.array([rng.permutation(4)[:2] for _ in range(N)]).T
    better = rng.random(N) < 1 / (1 + np.exp(0.7 * (left - right)))
    rows = {"left": np.array(ARMS)[left], "right": np.array(ARMS)[right]}
    if response == "thurstone-score":
        rows["margin"] = np.round(0.8 * (right - left) + rng.normal(size=N), 1)
    elif response == "cumulative-logit":
        rows["outcome"] = np.where(better, rng.choice([2, 1], N), rng.choice([-2, -1, 0], N))
    else:
        tie = rng.random(N) < 0.2
        rows["outcome"] = np.where(tie & (response == "davidson"), 0.5, 1.0 * better)
    rows["judge"] = rng.integers(0, 15, N)
    rows["group"] = rng.integers(0, 12, N)
    rows["category"] = rng.choice(["de", "en"], N)
    rows["prompt"] = rng.choice(["p", "q", "r"], N)
    rows["time"] = np.arange(N)
    left_out = {name: False for name in ("judge", "group") if name not in shared}
    options = {"grades": (2, -2)} if response == "cumulative-logit" else {}
    return bd.read_duels(
        rows, time="time", keep=["category", "prompt"], ties="keep", **left_out, **options
    )


@pytest.mark.sampled(4, "davidson-order-both", "bradley-terry-prompt-judge")
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("response", RESPONSES)
def test_arviz_scores_and_winners_say_the_same(response, term, shared):
    model = bd.models.named(response)
    if TERMS[term] is not None:
        model = model + TERMS[term]
    fit = bd.fit(log_of(response, SHARED[shared]), model, draws=400)
    names = {"none": "model", "both": "judge and group"}
    used = fit["posterior"].attrs["covariance"]
    if fit.attrs["clusters_reason"]:
        assert used == "model"
    else:
        assert used == names.get(shared, shared)
    assert ("posterior_sampled" in fit) == (used != "model" or term == "category")

    said = bd.scores(fit)
    seen = azs.summary(fit, var_names=["score"], ci_prob=0.95, ci_kind="eti", round_to="none")
    seen.index = [name.removeprefix("score[").removesuffix("]") for name in seen.index]
    seen = seen.loc[said.index]
    for own, column in (
        ("score_sd", "sd"),
        ("score_lower", "eti95_lb"),
        ("score_upper", "eti95_ub"),
    ):
        np.testing.assert_allclose(said[own], seen[column], rtol=5e-3, atol=5e-3)
    np.testing.assert_allclose(said["score_mean"], seen["mean"], atol=1e-6)

    won = bd.winners(fit)
    assert won.attrs["covariance"] == used
    score = fit["posterior"]["score"].stack(sample=("chain", "draw"))
    placed = 1 + (score.rename(arm="opponent") > score).sum("opponent")
    np.testing.assert_allclose(won["rank_mean"], placed.mean("sample").sel(arm=won["arm"]))
    P = fit["preference"]["preference"].mean(("chain", "draw"))
    np.testing.assert_allclose(won["preference_mean"], P, atol=1e-6)
    if term == "order":
        row = bd.coefficients(fit).loc["left side"]
        order = fit["posterior"]["order"].to_numpy()
        np.testing.assert_allclose(row["coefficient"], order.mean())
        np.testing.assert_allclose(
            row[["lower", "upper"]].astype(float), np.quantile(order, [0.025, 0.975]), atol=5e-3
        )


def test_pages_and_files_of_a_log_with_ties_prompts_and_judges_say_the_same(tmp_path):
    log = log_of("davidson", SHARED["both"])
    fit = bd.fit(log, draws=400)
    assert fit.attrs["model"].endswith("random:group")
    assert fit["posterior"].attrs["covariance"] == "judge and group"
    said = bd.scores(fit)
    draws = fit["posterior"]["score"].stack(sample=("chain", "draw"))
    for end, level in (("lower", 0.025), ("upper", 0.975)):
        own = draws.quantile(level, "sample").sel(arm=said.index)
        np.testing.assert_allclose(said[f"score_{end}"], own, atol=5e-3)

    written = bd.export(fit, tmp_path / "tables", format="json", duels=log)
    tables = {path.stem: json.loads(path.read_text()) for path in written}
    rows = {row["arm"]: row for row in tables["ranking"]}
    for arm, row in said.iterrows():
        np.testing.assert_allclose(
            [rows[arm]["rating_lower"], rows[arm]["rating_upper"]],
            [row["rating_lower"], row["rating_upper"]],
        )
    page = bd.report(fit, tmp_path / "page.html", duels=log).read_text()
    text = " ".join(re.sub("<[^>]+>", " ", page).split())
    for arm, row in said.iterrows():
        assert f"{arm} {row['rating']:.0f} {row['rating_lower']:.0f} to " in text
    assert "cluster-robust by judge and group beside the effects by group in the model" in text
    P = fit["preference"]["preference"].mean(("chain", "draw"))
    np.testing.assert_allclose(bd.winners(fit)["preference_mean"], P, atol=1e-6)
