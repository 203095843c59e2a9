"""The verdict, given a check: the answer without a ranking, ties in words."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, logit

import bayesduel as bd
from bayesduel.criticism import check_result
from bayesduel.criticism.check import check as check_log
from bayesduel.models import BradleyTerry, Davidson, SideAdvantage
from bayesduel.posterior.winners import winners
from tests.support.drawn_by_hand import CYCLE, beta_draws, matrix_draws, score_draws, tree
from tests.support.simulated_logs import ROCK, simulate


def check(transitive, without=None, why=""):
    """Return what `winners` reads of a check."""
    return SimpleNamespace(
        transitive=transitive,
        p_value=0.004,
        verdict_parts=("The log has more cyclic triads.", ""),
        answer_without_ranking=lambda model: (without, why),
    )


@pytest.fixture(scope="module")
def ranked():
    return tree(score_draws(np.random.default_rng(1).normal([3.0, 0, 0], 0.2, size=(500, 3))))


@pytest.fixture(scope="module")
def cyclic():
    return tree(matrix_draws(beta_draws(CYCLE * 200, 2000, np.random.default_rng(10))))


def test_no_check_is_said(ranked):
    assert json.loads(winners(ranked).to_json())["check"] == "not made"


def test_a_ranking_that_holds_leads(ranked, cyclic):
    w = winners(ranked, check=check(True, cyclic))
    assert w.attrs["verdict"] == winners(ranked).attrs["verdict"]
    assert json.loads(w.to_json())["check"] == {
        "transitive": True,
        "p_value": 0.004,
        "sentence": "The log has more cyclic triads.",
    }


def test_a_ranking_that_is_rejected_comes_second(ranked, cyclic):
    w = winners(ranked, check=check(False, cyclic))
    assert w.attrs["verdict"].startswith("No single ranking holds. No arm beats all others")
    assert w.attrs["verdict_reason"].startswith("The log has more cyclic triads. The answer is")
    assert w.attrs["verdict_kind"] == "no ranking"
    assert w.attrs["verdict_condorcet_exists"] < 0.5 < float(w["condorcet_exists"])
    assert w.attrs["verdict_model"] == "preference-matrix"
    assert sorted(json.loads(w.attrs["verdict_arms"])) == ["a", "b", "c"]
    assert w.attrs["ranking_verdict"].endswith("would have a as the winner.")
    words = " ".join(repr(w).split())
    assert words.index("No single ranking") < words.index("would have a as the winner")
    # A model that allows cycles is its own answer.
    assert winners(cyclic, check=check(False)).attrs["verdict_kind"] == "cycle"


def test_why_no_winners_without_a_ranking_are_given(ranked):
    w = winners(ranked, check=check(False, why="It would take hours."))
    assert w.attrs["verdict"] == "No single ranking holds."
    assert w.attrs["verdict_reason"].endswith("triads. It would take hours.")


@pytest.fixture(scope="module")
def at_home():
    """Return a check of rock, paper and scissors with a home advantage of one logit."""
    rng = np.random.default_rng(5)
    left, right = np.nonzero(~np.eye(3, dtype=bool))
    left, right = np.repeat(left, 60), np.repeat(right, 60)
    won = rng.random(len(left)) < expit(logit(ROCK[left, right]) + 1)
    duels = bd.Duels.from_votes(left, right, won.astype(float))
    return check_log(duels, quick=True)


def test_why_a_ranking_that_controls_has_no_other_answer(at_home, monkeypatch):
    assert at_home.answer_without_ranking(BradleyTerry())[0].attrs["model"] == "stacked"
    flat = BradleyTerry(scale=np.inf) + SideAdvantage(np.inf)
    fit, why = at_home.answer_without_ranking(flat)
    assert fit is None and why.endswith("needs a proper prior.")
    monkeypatch.setattr(check_result, "CONTROLLED_CELLS", 5)
    fit, why = at_home.answer_without_ranking(BradleyTerry() + SideAdvantage())
    assert fit is None and "it needs NUTS: hours for 6 rows of 3 arms" in why


@pytest.mark.slow
def test_winners_without_a_ranking_control_for_the_side_advantage(at_home):
    fit, why = at_home.answer_without_ranking(BradleyTerry() + SideAdvantage())
    assert why == "" and fit.attrs["model"] == "bradley-terry + order + cycles"
    w = winners(fit)
    assert w.attrs["verdict_kind"] == "cycle"
    assert abs(w["preference_mean"].sel(arm="0", opponent="1") - 0.8) < 0.1


def test_more_data_is_not_asked_for_where_no_arm_beats_all(ranked):
    unsure = tree(matrix_draws(beta_draws(CYCLE * 6, 1000, np.random.default_rng(3))))
    assert winners(unsure).attrs["verdict_kind"] == "undecided"
    w = winners(ranked, check=check(False, unsure))
    for words in (w.attrs["verdict"], winners(unsure).attrs["verdict"]):
        assert "Not enough data yet" not in words
    assert "Copeland winner" in w.attrs["verdict"] and "von Neumann mixture" in w.attrs["verdict"]


def test_of_a_log_with_a_cycle():
    log = simulate(ROCK, 200, np.random.default_rng(4))
    found = check_log(log, quick=True)
    w = winners(bd.fit(log, draws=400), check=found)
    assert w.attrs["verdict"].startswith("No single ranking holds. No arm beats all others")
    assert "fit no ranking" in w.attrs["verdict_reason"]
    assert "Not enough data" not in w.attrs["verdict"] + w.attrs["ranking_verdict"]


def test_ties_are_said_as_expected_score_and_shares():
    log = bd.Duels.from_wins([[0, 55], [27, 0]], ["x", "y"], ties=[[0, 38], [38, 0]])
    w = winners(bd.fit(log, "bradley-terry", draws=1000))
    assert w.attrs["tie_share"] == pytest.approx(38 / 120)
    assert "x wins: it beats y" in w.attrs["verdict"]
    assert "an expected 60 % of the points" in w.attrs["verdict"]
    assert "% of duels" not in w.attrs["verdict"]
    w = winners(bd.fit(log, Davidson(), draws=1000))
    win, tie = (float(w[k].sel(arm="x", opponent="y")) for k in ("preference_mean", "tie_mean"))
    assert tie == pytest.approx(38 / 120, abs=0.04)
    shares = [f"{100 * s:.0f} %" for s in (win - tie / 2, tie, 1 - win - tie / 2)]
    assert "with {} wins, {} ties and {} losses".format(*shares) in w.attrs["verdict"]
    assert "tie_mean" not in winners(bd.fit(log, "bradley-terry", draws=400))


@pytest.mark.parametrize("judges", [1, 8], ids=["single votes", "repeated votes"])
def test_answers_of_majority_verdicts_say_so(judges):
    """Every judge decides each pair five times: 60 % of votes are more of majorities."""
    rng = np.random.default_rng(1)
    pairs = [(0, 1), (0, 2), (1, 2)]
    rows = np.array([pair for pair in pairs for _ in range(5 * 8)])
    names = np.array(["a", "b", "c"])
    won = rng.random(len(rows)) < 0.7
    judge = np.tile(np.repeat(np.arange(8), 5), 3)
    sides = names[rows[:, 0]], names[rows[:, 1]]
    repeated = judges > 1
    log = bd.Duels.from_votes(*sides, won, judge=judge if repeated else None)
    found = bd.winners(bd.check(log, quick=True).averaged, confidence=0.6)
    assert found.attrs["verdict_kind"] == "winner"
    assert ("% of majority verdicts (" in found.attrs["verdict"]) is repeated
    assert ("% of duels (" in found.attrs["verdict"]) is not repeated
