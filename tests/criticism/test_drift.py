"""Trends of arms over the time of a log: found where they are, and no oftener than promised."""

import numpy as np
import pytest
from scipy.special import expit

import bayesduel as bd
from bayesduel.criticism.drift import drift_of
from bayesduel.criticism.transitivity.design import design_of
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.data.duels import Duels

NOON = np.datetime64("2026-01-01T12:00:00")


def seasons(
    seed: int,
    slopes: tuple[float, ...],
    n: int = 900,
    *,
    judges: int = 0,
    dated: bool = False,
) -> Duels:
    """Simulate a log whose scores move by `slopes` from its first vote to its last.

    judges: how many; each has tastes of its own, and votes after the one before.
    """
    rng = np.random.default_rng(seed)
    n_arms = len(slopes)
    score = rng.normal(0, 1, n_arms)
    time = np.sort(rng.random(n))
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    judge = (time * max(judges, 1)).astype(int)
    taste = rng.normal(0, 0.5, (max(judges, 1), n_arms)) * (judges > 0)
    here = score + np.outer(time - 0.5, slopes) + taste[judge]
    rows = np.arange(n)
    won = rng.random(n) < expit(here[rows, left] - here[rows, right])
    names = np.array([f"arm {k}" for k in range(n_arms)])
    moments = NOON + (time * 3e6).astype("timedelta64[s]") if dated else time
    labels = [f"judge {k}" for k in judge] if judges else None
    return Duels.from_votes(names[left], names[right], won, time=moments, judge=labels)


def drift(log: Duels, seed: int = 0):
    return drift_of(log, ScoreModel(design_of(log)), np.random.default_rng(seed))


@pytest.mark.parametrize("dated", [False, True])
def test_an_arm_that_rises_is_named_with_its_halves(dated):
    found = drift(seasons(0, (2.5, 0.0, 0.0, 0.0), dated=dated))
    first = found.table.iloc[0]
    assert first["arm"] == "arm 0" and found.found and found.p_value <= 0.001
    assert first["z"] > 4 and first["late"] - first["early"] > 0.2
    assert abs(first["expected_late"] - first["expected_early"]) < 0.05
    assert found.words().startswith("The strength of arm 0")
    assert "--term time" in found.words("model") and "if no model changes" in found.words("model")


@pytest.mark.parametrize("seed", [3, 5], ids=["a weak trend", "a strong one"])
def test_of_two_arms_the_trend_is_that_of_a_logistic_regression_on_time(seed):
    """z of the score test beside Wald's z of statsmodels: 0.80 and 0.70, 7.3 to 7.4 and 7.5."""
    sm = pytest.importorskip("statsmodels.api")
    log = seasons(seed, (0.6, -0.6), 2000)
    votes = log.votes
    rank = np.argsort(np.argsort(votes.time, kind="stable"), kind="stable")
    moment = 2 * (rank + 0.5) / len(votes) - 1
    first = np.where(votes.left == 0, 1.0, -1.0)
    won = np.where(votes.left == 0, votes.outcome > 0, votes.outcome < 0).astype(float)
    # with the side advantage, as the scores have it
    known = sm.Logit(won, np.column_stack([np.ones(len(won)), moment, first])).fit(disp=False)
    z = drift(log).table.set_index("arm").loc["arm 0", "z"]
    assert z == pytest.approx(known.tvalues[1], rel=0.06, abs=0.15)


@pytest.mark.parametrize("judges", [0, 12])
@pytest.mark.slow
def test_logs_without_a_change_raise_few_alarms(judges):
    """100 logs: 5 % of p-values are up to 0.05, also of judges who vote one after the other."""
    p = np.array([drift(seasons(k, (0.0,) * 4, 300, judges=judges)).p_value for k in range(100)])
    # 12 or more of 100 at 5 % have a probability of 0.4 %
    assert (p <= 0.05).sum() <= 11
    assert 0.35 < p.mean() < 0.62


def test_without_two_times_there_is_nothing_to_say():
    log = seasons(0, (0.0, 0.0))
    same = np.zeros(len(log.votes))
    names = np.array(log.arms)
    sides = names[log.votes.left], names[log.votes.right]
    won = log.votes.outcome > 0
    assert drift(Duels.from_votes(*sides, won)) is None
    assert drift(Duels.from_votes(*sides, won, time=same)) is None
    assert drift_of(log, None, np.random.default_rng(0)) is None


def test_votes_without_a_time_and_ties_are_left_out():
    log = seasons(0, (2.5, 0.0, 0.0, 0.0), dated=True)
    names = np.array([*log.arms])
    more = np.repeat(np.datetime64("NaT"), 50)
    longer = Duels.from_votes(
        np.concatenate([names[log.votes.left], names[np.zeros(50, int)]]),
        np.concatenate([names[log.votes.right], names[np.ones(50, int)]]),
        np.concatenate([(log.votes.outcome + 1) / 2, np.full(50, 0.5)]),
        time=np.concatenate([log.votes.time, more]),
    )
    assert drift(longer).table.iloc[0]["arm"] == "arm 0"


@pytest.mark.parametrize("timed", [False, True], ids=["static", "by time"])
def test_a_check_and_a_page_say_it_unless_the_model_follows_time(tmp_path, timed):
    log = seasons(0, (2.5, 0.0, 0.0, 0.0), dated=True)
    check = bd.check(log, quick=True)
    printed = " ".join(repr(check).split())
    assert check.drift_words in check.sentences and check.drift_words in printed
    assert check.to_dict()["drift"]["arms"][0]["arm"] == "arm 0"
    model = bd.BradleyTerry() + bd.models.TimeVarying(periods=4) if timed else bd.BradleyTerry()
    page = tmp_path / "page.html"
    bd.report(bd.fit(log, model, draws=400), page, duels=log)
    text = page.read_text(encoding="utf-8")
    assert "The strength of arm 0" in text  # among what was checked
    assert ("is an average over that time" in text) is not timed
