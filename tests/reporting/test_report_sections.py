"""What sections of the report say: sentences and tables, without a page around them."""

from dataclasses import replace
from types import SimpleNamespace

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.criticism.check import check
from bayesduel.data.duels import Duels
from bayesduel.reporting.analysis import analyse
from bayesduel.reporting.calibration import calibration_section
from bayesduel.reporting.check import _cycles, _residuals
from bayesduel.reporting.fit import diagnostics, few_clusters_words
from bayesduel.reporting.log import log_section
from bayesduel.reporting.next_pairs import next_pairs_section
from bayesduel.reporting.ranking import (
    _joint_words,
    _scored,
    caution_words,
    order_words,
    ranks_section,
    rates_section,
)
from bayesduel.reporting.raw_counts import raw_counts_section
from bayesduel.reporting.section import Text
from bayesduel.reporting.winners import criterion_rows, criterion_words, winners_section
from bayesduel.text import percent


def test_a_verdict_that_assumes_a_ranking_has_a_caution_where_the_log_cannot_tell():
    evidence = SimpleNamespace(other_cause="")
    check = SimpleNamespace(
        evidence=evidence,
        ranking=(),
        transitive=None,
        p_one_ranking=0.0123,
        verdict_parts=("The test is undecided.", ""),
    )
    plain, exact = caution_words(check, "whisky", assumed=True)
    assert exact == "The test is undecided."
    assert plain == (
        "This assumes that one order of all whiskies holds. The log gives that a probability of "
        "1 %."
    )
    assert caution_words(check, "arm", assumed=False) == ("", "")
    check.transitive = True
    assert caution_words(check, "arm", assumed=True) == ("", "")
    evidence.other_cause = "conditions"
    plain, exact = caution_words(check, "arm", assumed=True)
    assert plain.endswith("The log leaves open whether it does.")
    assert exact == "The test is undecided."


def test_raw_shares_are_counts_and_the_order_of_means_is_explained():
    duels = Duels.from_wins(np.array([[0, 30, 20], [0, 0, 20], [0, 10, 0]]), ["a", "b", "c"])
    section = raw_counts_section(duels, bd.winners(bd.fit(duels, draws=400)))
    table = section.tables["counts"]
    assert [row[2].text for row in table.cells] == ["100 %", "33 %", "20 %"]
    ordered = " Arms are in the order of their mean rank in the posterior."
    assert order_words(np.array([0.6, 0.5, 0.5])) == ordered
    assert "may differ from that of their means" in order_words(np.array([0.49, 0.5]))


def test_tiers_that_leave_open_what_the_best_arm_settles_say_why():
    frame = pd.DataFrame({"copeland": [0.99, 0.01, 0.0], "tier": [1, 1, 2]})
    assert "the number of arms compared" in _joint_words(frame, 0.95)
    assert _joint_words(frame.assign(tier=[1, 2, 2]), 0.95) == ""
    assert _joint_words(frame, 0.999) == ""


def test_with_ties_raw_shares_are_shares_of_points(springall):
    log, fit = springall
    table = raw_counts_section(log, bd.winners(fit)).tables["counts"]
    assert table.heads[2] == "share of\npoints" and table.heads[-1] == "model's\nwin rate"
    assert "a tie counting half" in table.caption


def test_pairs_are_those_of_the_model_that_is_given_for_them():
    wins = np.zeros((12, 12))
    wins[np.triu_indices(12, 1)] = 6
    wins[0, 11], wins[11, 0] = 0, 6
    log = Duels.from_wins(wins, list("abcdefghijkl"))
    ranked, free = (
        bd.winners(bd.fit(log, m, draws=400)) for m in ("bradley-terry", "preference-matrix")
    )
    table = raw_counts_section(log, ranked, free).tables["counts-pairs"]
    assert table.heads[2] == "won / lost" and table.cells[0][2].text.count("/") == 1
    assert rates_section(ranked, log).tables["rates"].heads[-1] == "won /\nlost"
    (at,) = (k for k, row in enumerate(table.cells) if (row[0].text, row[1].text) == ("a", "l"))
    assert float(table.data["model_probability"][at]) < 0.5
    assert "by preference-matrix, which allows cycles" in table.caption


def test_scores_have_as_many_decimals_in_every_row():
    ends = {"score_mean": [1.2, 0.0, -0.6], "score_lower": [0.7, 0.0, -4.9]}
    table = pd.DataFrame(
        {**ends, "score_upper": [1.7, 0.0, 5.1]}, index=pd.Index(["a", "anchor", "c"], name="arm")
    )
    table.attrs = {"ci_prob": 0.95, "unit": "logits", "sentence": "Scores."}
    found = _scored(table)
    assert [mean for mean, _ in found.values()] == ["1.2", "0.0", "-0.6"]
    assert [ends for _, ends in found.values()] == ["0.7 to 1.7", "0.0 to 0.0", "-4.9 to 5.1"]


def test_bars_of_calibration_are_by_the_unit_that_was_held_out():
    for unit, words in (
        ("duel", "duels taken as independent"),
        ("pair and group", "votes of one pair and group not taken as independent"),
    ):
        _, figure = calibration_section(SimpleNamespace(unit=unit), "Words.").body
        assert words in figure.caption


def test_too_few_degrees_of_freedom_are_told_at_the_top():
    def words(degrees, used="judge and group"):
        return few_clusters_words(
            SimpleNamespace(
                winners=SimpleNamespace(attrs={"covariance": used, "degrees_of_freedom": degrees}),
                fit=SimpleNamespace(attrs={"clusters_repeated": '{"judge": 54, "group": 3}'}),
                health=SimpleNamespace(columns={"group": "context"}, guessed=("group",)),
                noun="arm",
            )
        )

    told = words(1.6)
    assert "rest on 3 groups (column context, guessed). The median arm has 1.6" in told
    assert "--group none" in told
    assert words(12.0) == "" and words(np.inf, "model") == ""


def test_residuals_have_no_negative_zero_and_no_p_value_of_nought():
    pair = {"first": "a", "second": "b", "observed": 3, "duels": 5, "expected": 3.0, "z": -0.01}
    pairs = pd.DataFrame([pair | {"surprise": 1.0}])
    arms = pd.DataFrame({"arm": [*"abc"], "opponents": 2, "misfit": 1.0, "p": [1 / 101, 0.1, 0.08]})
    arms.attrs["n_draws"] = 100
    (row,) = _residuals("pairs", pairs).body[-1].rows
    assert row[-3:] == ("3.0", "+0.0", "1.00")
    rare = _residuals("pairs", pairs.assign(expected=0.0421)).body[-1].rows[0]
    assert rare[3] == "0.04"  # "0.0" would have no z
    assert [row[-1] for row in _residuals("arms", arms).body[-1].rows] == [
        "< 0.01",
        "0.10",
        "0.080",
    ]


def test_cycles_of_a_log_without_any_are_not_called_its_own():
    found = check(bd.datasets.load("springall"), quick=True)
    assert not found.evidence.cyclic and found.cycles
    note, table = _cycles(found).body
    assert note.words.startswith("No decided triad of the log is cyclic")
    assert len(table.rows) == len(found.cycles)
    cause = replace(found.evidence, cyclic=3.0, other_cause="conditions")
    note, _ = _cycles(replace(found, evidence=cause)).body
    assert note.words.startswith("A ranking that changes with the conditions of a duel explains")


def test_of_pairs_that_met_as_often_those_of_the_best_are_shown():
    wins = np.triu(np.full((12, 12), 2), 1)
    log = Duels.from_wins(wins[::-1, ::-1], list("abcdefghijkl"))  # l is best
    table = raw_counts_section(log, bd.winners(bd.fit(log, draws=400))).tables["counts-pairs"]
    assert {cell.text for cell in table.cells[0][:2]} == {"k", "l"}
    assert table.data["first"][0] == table.cells[0][0].text
    assert "60 of 66 pairs: those that met most, and of these the best ranked" in table.caption


def test_one_pair_of_neighbours_is_singular():
    pair = {"first": "a", "second": "b", "duels": 9, "decided": True, "beats_probability": 0.99}
    one = pd.DataFrame([pair | dict.fromkeys(("expected", "median", "lower", "upper"), 0.0)])
    one["equal_probability"] = 0.0
    one.attrs = {"confidence": 0.95, "rope": 0.02}
    words, table, *_ = next_pairs_section(one, None, 2).body
    assert words.words == "The pair of neighbours in the ranking is decided at 95 %."
    assert [cell.text for cell in table.cells[0]][4:] == ["decided", "\u2013", "\u2013"]


@pytest.mark.parametrize(("median", "duels"), [(1.2, "1 more duel of"), (2.0, "2 more duels of")])
def test_one_more_duel_of_neighbours_is_singular(median, duels):
    pair = {"first": "a", "second": "b", "duels": 9, "decided": False, "beats_probability": 0.9}
    one = pd.DataFrame([pair | dict.fromkeys(("expected", "median", "lower", "upper"), median)])
    one["equal_probability"] = 0.0
    one.attrs = {"confidence": 0.95, "rope": 0.02}
    words, *_ = next_pairs_section(one, None, 2).body
    assert f"a and b, {duels} this pair (median)." in words.words


def test_single_ranks_are_singular():
    one = np.ones(3)
    found = xr.Dataset({"rank_lower": ("arm", one), "rank_upper": ("arm", one)})
    (words, *_) = ranks_section(found.assign_attrs(confidence=0.95)).body
    assert "spans 1 rank for" in words.words


def test_a_side_advantage_is_named_where_the_log_has_no_problems(springall):
    log, _ = springall
    section = log_section(log, bd.health(log), further="See Side advantage.")
    assert Text("No problems were found. See Side advantage.") in section.body


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("draws", "below", "enough"), [(200, "below 1.1", "80 or more"), (1000, "below 1.01", "400")]
)
def test_chains_of_few_draws_are_held_to_what_few_draws_can_show(monkeypatch, draws, below, enough):
    """Where deviations are many they are left out: of so many the largest R-hat is so by chance."""
    pairs = ("ab", "ba", "ac", "ca", "bc", "cb")
    won = [pair for pair, n in zip(pairs, (12, 9, 15, 8, 11, 10), strict=True) for _ in range(n)]
    winners = [pair[0] for pair in won]
    losers = [pair[1] for pair in won]
    judges = [f"j{k % 5}" for k in range(len(won))]
    votes = bd.Duels.from_votes(winners, losers, np.ones(len(won)), judge=judges)
    fit = bd.fit(votes, "bradley-terry + random:judge", "nuts", draws=draws, seed=2)
    kept = fit.duel.sampled
    for most, looked_at, of in (
        (15, kept, ""),
        (14, kept.drop_vars("judge_deviation"), " of scores and scales"),
    ):
        monkeypatch.setattr("bayesduel.reporting.fit.MEASURED", most)
        mixed = az.rhat(looked_at)
        largest = max(float(mixed[name].max()) for name in mixed)
        found = diagnostics(fit)[-3:]
        assert [row[0] for row in found] == [
            f"{name}{of}" for name in ("largest R-hat", "smallest bulk ESS", "smallest tail ESS")
        ]
        assert found[0][1:3] == (f"{largest:.3f}", below)
        for row, method in zip(found[1:], ("bulk", "tail"), strict=True):
            worth = az.ess(looked_at, method=method)
            assert row[1] == f"{min(float(worth[name].min()) for name in worth):,.0f}"
            assert row[2].startswith(enough)


def elections(share, effective=400.0, order=(0, 1, 2), exists=1.0):
    """Return what `winners` would, where arm a, b or c won so often by each criterion."""
    criteria = ["condorcet", "copeland", "borda", "random_walk", "von_neumann"]
    return xr.Dataset(
        {
            "winner_share": (("criterion", "arm"), np.array(share, dtype=float)),
            "order": ("rank", list(order)),
            "condorcet_exists": exists,
        },
        coords={"criterion": criteria, "arm": ["a", "b", "c"]},
        attrs={"effective_draws": effective},
    )


def test_criteria_disagree_only_beyond_monte_carlo_error():
    even, other = [0.36, 0.35, 0.29], [0.35, 0.36, 0.29]
    words = criterion_words(elections([even, even, other, even, even]))
    assert "do not show whether the criteria disagree: a and b" in words
    # 0.5 against 0.3 of 400 draws: 0.2 is 4.6 errors of sqrt(0.8 - 0.04) / 20
    left, right = [0.5, 0.3, 0.2], [0.3, 0.5, 0.2]
    assert "The criteria disagree. Most probable winner: a by" in criterion_words(
        elections([left, left, right, left, left])
    )
    assert "do not show whether" in criterion_words(
        elections([left, left, right, left, left], 16.0)
    )
    assert "do not show whether" in criterion_words(elections([left, left, other, left, left]))
    assert "The criteria agree: a" in criterion_words(elections([left] * 5))


@pytest.mark.slow
def test_winners_by_criterion_say_why_the_leaderboard_has_another_first_arm(springall):
    log, fit = springall
    a = analyse(log, fit, seed=4)
    assert a.free.value is not None
    same = str(winners_section(a).body)
    assert "The leaderboard has" not in same
    turned = np.array(a.winners["order"].values)[::-1]
    other = a.winners.assign(order=(a.winners["order"].dims, turned))
    last = str(other["arm"].values[turned[0]])
    words = str(winners_section(replace(a, winners=other)).body)
    assert f"The leaderboard has {last} first, because it is of another model." in words
    assert ("every vote counts" in words) == (a.free_unit != "duel")


def test_next_likeliest_of_equals_is_the_better_ranked():
    for row in criterion_rows(elections([[0.25, 0.25, 0.5]] * 5, order=(2, 1, 0))):
        assert (row[1], row[3], row[4]) == ("c", "b", "25 %")


def test_no_arm_is_next_where_one_wins_in_every_draw():
    for row in criterion_rows(elections([[0, 0, 1]] * 5, order=(2, 1, 0))):
        assert (row[1], row[3], row[4]) == ("c", "\u2013", "\u2013")


@pytest.mark.parametrize(
    ("p", "words"),
    [(0, "< 1"), (0.005, "< 1"), (0.0051, "1"), (0.5, "50"), (0.9949, "99"), (0.995, "> 99")],
)
def test_nothing_uncertain_is_rounded_to_certainty(p, words):
    assert percent(p) == words
