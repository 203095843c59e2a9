"""Soft votes and sampling weights: what they count, and every consumer of a log with them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, Davidson, Scores, SideAdvantage, Sources, Thurstone
from bayesduel.posterior.update import AddedBeforeWarning

ARMS = np.array(list("abcdef"))
FLAT = BradleyTerry(Scores(scale=np.inf))


def frame_of(kind: str, n: int = 240, seed: int = 3) -> pd.DataFrame:
    """Return a log of hard votes of people beside soft ones of a machine, or with weights."""
    rng = np.random.default_rng(seed)
    score = np.linspace(1, -1, 6)
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    chance = 1 / (1 + np.exp(score[right] - score[left]))
    outcome = (rng.random(n) < chance) * 1.0
    columns = {"left": ARMS[left], "right": ARMS[right], "outcome": outcome}
    columns["source"] = np.where(np.arange(n) < n // 2, "people", "machine")
    columns["topic"] = np.array(["x", "y"])[rng.integers(0, 2, n)]
    if kind == "soft":
        columns["outcome"] = np.where(np.arange(n) < n // 2, outcome, chance.round(3))
    else:
        columns["w"] = rng.gamma(2.0, 1.0, n)
    return pd.DataFrame(columns)


def log_of(kind: str, **options) -> bd.Duels:
    weight = {"sampling_weight": "w"} if kind == "weighted" else {}
    return bd.read_duels(frame_of(kind), keep=["source", "topic"], **weight, **options)


def scores(log, model=FLAT):
    return bd.fit(log, model, draws=400)["laplace"]["score_mode"].to_numpy()


def test_a_soft_vote_counts_for_both_sides_by_its_share():
    votes = [("a", "b", 0.25), ("b", "c", 0.75), ("a", "c", 0.75)] * 4
    hard = [("a", "b", 1), *[("a", "b", 0)] * 3, *[("b", "c", 1)] * 3, ("b", "c", 0)]
    hard += [*[("a", "c", 1)] * 3, ("a", "c", 0)]
    soft = bd.read_duels(votes)
    assert soft.n_duels == 12 and soft.votes.share.tolist() == [0.25, 0.75, 0.75] * 4
    np.testing.assert_allclose(scores(soft), scores(bd.read_duels(hard)), atol=1e-6)


def test_sampling_weights_have_mean_one_and_count_like_repeats():
    log = bd.Duels.from_votes("aabb", "bbaa", [1, 1, 1, 0], sampling_weight=[10, 30, 20, 20])
    np.testing.assert_allclose(log.votes.counts.sum(axis=1), [0.5, 1.5, 1.0, 1.0])
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, 240)
    frame = frame_of("weighted").drop(columns="w")
    repeated = bd.read_duels(frame.loc[frame.index.repeat(times)])
    weighted = bd.read_duels(frame.assign(w=times / 7), sampling_weight="w")
    np.testing.assert_allclose(scores(weighted), scores(repeated), atol=1e-6)


def test_errors_are_robust_to_sampling_weights():
    rng = np.random.default_rng(7)
    frame = frame_of("weighted", 4000)
    frame["w"] = np.where(rng.random(4000) < 0.1, 20.0, 1.0)
    log = bd.read_duels(frame, sampling_weight="w")
    fit = bd.fit(log, BradleyTerry())
    group = fit["clusters"].dataset
    assert group["clustering"].values.tolist() == ["vote"]
    inflated = (group["score_se_cluster"].sel(clustering="vote") / group["score_se"]).to_numpy()
    weight = log.votes.sampling_weight
    kish = np.sqrt(np.mean(weight**2)) / np.mean(weight)  # of the error, by the effective size
    np.testing.assert_allclose(inflated, kish, rtol=0.15)
    assert "robust to the sampling weights (4,000 votes" in bd.winners(fit).attrs["dependence"]


def test_outcomes_from_0_to_1_are_read_as_probabilities():
    rows = {"left": list("abca"), "right": list("bcab"), "outcome": ["0.9", "0", "1", "0.5"]}
    log = bd.read_duels(rows)
    assert log.read_summary.reading["coding"] == "probability"
    np.testing.assert_array_equal(log.votes.share, [0.9, np.nan, np.nan, 0.5])
    assert log.votes.counts.tolist()[-1] == [0.5, 0.5, 0]  # half a win for each, not a tie
    assert log.n_ties == 0
    rows["outcome"] = ["0.9", "0", "1", "1.5"]
    with pytest.raises(
        ValueError, match=r"row 3 .*: column 'outcome' should be a number from 0 to 1"
    ):
        bd.read_duels(rows, coding="probability")
    many = [("a", "b", 1), ("b", "a", 0)] * 200
    with pytest.raises(ValueError, match=r"row 400 .* got .?0.7"):  # a stray one is a fault
        bd.read_duels([*many, ("a", "b", 0.7)])
    assert bd.read_duels([*many, ("a", "b", 0.7)], coding="probability").votes.share[-1] == 0.7


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, 1e200])
def test_a_sampling_weight_is_positive(bad):
    frame = frame_of("weighted")
    frame.loc[4, "w"] = bad
    with pytest.raises(ValueError, match=r"row 4 .*: column 'w' should be a positive number"):
        bd.read_duels(frame, sampling_weight="w")
    with pytest.raises(
        ValueError, match=r"sampling_weight should be a positive number, got .* row"
    ):
        bd.Duels.from_votes("ab", "ba", [1, 0], sampling_weight=[1, bad])


CONSUMERS = {
    "frame": lambda log: bd.read_duels(
        log.to_frame(),
        sampling_weight=None if log.votes.sampling_weight is None else "sampling_weight",
    ),
    "slice": lambda log: log[:100],
    "subset": lambda log: log.subset(list("abcd")),
    "joined": lambda log: log.join(log),
    "with a hard one": lambda log: log.join(log.as_plain()),
    "categories": lambda log: bd.Duels.from_categories({"p": log, "q": log.as_plain()}),
    "head to head": bd.head_to_head,
    "health": bd.health,
    "check": lambda log: bd.check(log, quick=True),
    "check groups": lambda log: bd.check_groups(bd.fit(log), log, "topic"),
    "compare": lambda log: bd.compare_models(log, ["bradley-terry"], draws=400),
    "winners": lambda log: bd.winners(bd.fit(log)),
    "predict": lambda log: bd.predict(bd.fit(log), ["a"], ["b"]),
    "preference": lambda log: bd.preference_draws(bd.fit(log, "preference-matrix")),
    "probit": lambda log: bd.scores(bd.fit(log, "thurstone")),
    "ties": lambda log: bd.top_k(bd.fit(log, "davidson"), 2),
    "order": lambda log: bd.coefficients(bd.fit(log, BradleyTerry(Scores() + SideAdvantage()))),
    "sparse": lambda log: bd.scores(bd.fit(log, BradleyTerry(), "variational", draws=400)),
    "sources": lambda log: bd.sources(
        bd.fit(log, BradleyTerry(Sources("source", target="people")), draws=400)
    ),
    "prior": lambda log: bd.prior_predictive("bradley-terry", log, draws=20),
}


@pytest.mark.parametrize("kind", ["soft", "weighted"])
@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.sampled(3)
def test_every_consumer_takes_them(kind, consumer):
    log = log_of(kind)
    found = CONSUMERS[consumer](log)
    if isinstance(found, bd.Duels):
        assert not found.plain
        if consumer == "frame":
            np.testing.assert_allclose(found.votes.counts, log.votes.counts, atol=1e-9)


@pytest.mark.parametrize("kind", ["soft", "weighted"])
def test_an_audit_is_of_plain_votes(kind):
    log = log_of(kind)
    with pytest.raises(ValueError, match=r"got soft votes or sampling weights: audit"):
        bd.audit(bd.fit(log, draws=400), log)


@pytest.mark.parametrize("kind", ["soft", "weighted"])
def test_a_comparison_is_of_fits_to_plain_votes(kind):
    log = log_of(kind)
    with pytest.raises(
        ValueError, match=r"got 'own', a fit of soft votes or sampling weights: give"
    ):
        bd.compare_models(log, {"own": bd.fit(log, draws=400), "other": "thurstone"})
    plain = bd.fit(log.as_plain(), "bradley-terry", draws=400)
    same = bd.compare_models(log, {"fit": plain, "model": "bradley-terry"}, draws=400, folds=0)
    assert same.table["elpd"].nunique() == 1


def test_what_needs_whole_votes_or_the_log_says_so():
    fits = {kind: bd.fit(log_of(kind), draws=400) for kind in ("soft", "weighted")}
    assert "posterior_predictive" in bd.posterior_predictive(fits["soft"], draws=20)
    with pytest.raises(
        ValueError, match=r"fit should have no sampling weights, .* fit the log without"
    ):
        bd.posterior_predictive(fits["weighted"], draws=20)
    for kind, fit in fits.items():
        with pytest.raises(ValueError, match="the earlier log is needed too, because the fit"):
            bd.update(fit, log_of(kind))
        with pytest.warns(AddedBeforeWarning):
            both = bd.update(fit, log_of(kind), duels=log_of(kind))
        assert both.attrs["n_duels"] == 480


@pytest.mark.parametrize("kind", ["soft", "weighted"])
def test_the_command_line_reads_them(kind, tmp_path):
    path = tmp_path / "log.csv"
    frame_of(kind).to_csv(path, index=False)
    weight = ["--sampling-weight", "w"] if kind == "weighted" else ["--coding", "probability"]
    result = CliRunner().invoke(main, ["winners", str(path), *weight])
    assert result.exit_code == 0, result.output


@pytest.mark.sampled(3)
@pytest.mark.parametrize("base", [BradleyTerry(), Thurstone(), Davidson()])
@pytest.mark.parametrize("by", ["topic", "pair", "source"])
def test_groups_of_soft_votes_are_held_against_their_shares(base, by):
    """Shares that are about the chances: no group of a true model stands out."""
    log = log_of("soft")
    fit = bd.fit(log, base, method="laplace", draws=200, clusters=False)
    found = bd.check_groups(fit, log, by, draws=100)
    assert found["duels"].sum() == log.n_duels
    assert "describes all" in found.attrs["sentence"]
    soft = bd.check_groups(fit, log, "source", draws=100).loc["machine"]
    assert soft["observed"] == pytest.approx(soft["expected"], abs=0.03)
    plain = bd.check_groups(fit, log.as_plain(), "source", draws=100).loc["machine"]
    assert plain["observed"] > 0.9 > soft["observed"]
