"""One posterior that everything reads: ArviZ computes from a fit what the package prints."""

import json
import re

import arviz_stats as azs
import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import CategoryEffects, RandomEffects, SideAdvantage, TimeVarying

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
    "order": SideAdvantage(),
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


@pytest.mark.sampled(20, "davidson-order-both", "bradley-terry-prompt-judge")
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("response", RESPONSES)
def test_arviz_scores_and_winners_say_the_same(response, term, shared, tmp_path):
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
    fit.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    printed = CliRunner().invoke(main, ["winners", str(tmp_path / "fit.nc"), "--json"])
    told = json.loads(printed.stdout)
    assert (told["covariance"], told["verdict"]) == (used, won.verdict)
    for row in told["ranking"]:
        assert row["rank_mean"] == pytest.approx(float(won["rank_mean"].sel(arm=row["arm"])))
    for row in told["scores"]["arms"]:
        for name in ("score_mean", "score_sd", "score_lower", "score_upper"):
            assert row[name] == pytest.approx(said.loc[row["arm"], name])
    if term == "order":
        row = bd.coefficients(fit).loc["side advantage"]
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
    assert (
        "The fitted model has effects by group. Standard errors are cluster-robust by judge "
        "and group" in text
    )
    plain = bd.fit(log, bd.DefaultModel(group_effects=False))
    wider = [one["rating_upper"] - one["rating_lower"] for one in (bd.scores(plain), said)]
    ratio = (wider[0] / wider[1]).median()
    assert f"interval of a score is {ratio:.2f} times as wide for the median arm" in text
    P = fit["preference"]["preference"].mean(("chain", "draw"))
    np.testing.assert_allclose(bd.winners(fit)["preference_mean"], P, atol=1e-6)


@pytest.mark.parametrize("shared", ["none", "both"])
@pytest.mark.parametrize("asked", ["at", "weights"])
@pytest.mark.parametrize("term", ["category:category", "random:category"])
@pytest.mark.sampled(8)
def test_a_report_is_about_the_level_that_is_asked_for(term, asked, shared, tmp_path):
    log = log_of("bradley-terry", SHARED[shared])
    model = bd.DefaultModel(terms=(term,))
    options = {"at": {"category": "de"}} if asked == "at" else {"weights": {"category": {"de": 1}}}
    said = bd.scores(bd.estimand(bd.fit(log, model, draws=400), **options))
    page = bd.report(log, tmp_path / "page.html", model=model, draws=400, **options).read_text()
    text = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "Answers are those of duels in which category is de." in text
    for arm, row in said.iterrows():
        assert f"{arm} {row['rating']:.0f} {row['rating_lower']:.0f} to " in text

    log_path = tmp_path / "log.csv"
    log.to_frame().to_csv(log_path, index=False)
    words = {"at": "category=de", "weights": "category[de]=1"}[asked]
    tables = tmp_path / "tables"
    given = ["--term", term, f"--{asked}", words, "--draws", "400"]
    for role in ("judge", "group"):
        given += [f"--{role}", role if role in SHARED[shared] else "none"]
    command = ["export", str(log_path), "-o", str(tables), "--format", "json", *given]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    rows = {row["arm"]: row for row in json.loads((tables / "ranking.json").read_text())}
    for arm, row in said.iterrows():
        assert rows[arm]["rating"] == pytest.approx(row["rating"])
