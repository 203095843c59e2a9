"""Checks: calibrated evidence, what is said of a log, pages, and input that says little."""

import json
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.criticism import compare as comparing
from bayesduel.criticism.check import _contradicts, check
from bayesduel.criticism.check_text import (
    both_orders_words,
    evidence_words,
    leading_words,
    mean_count,
    p_words,
)
from bayesduel.criticism.compare import compare_models
from bayesduel.criticism.cycle_posterior import _alike, _count, cycle_posterior
from bayesduel.criticism.order_share import OrderShare
from bayesduel.criticism.residuals import _binomial, _tails_of_sums, judge_residuals
from bayesduel.criticism.transitivity.design import design_of
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.criticism.transitivity.triads import closed_triads
from bayesduel.data.duels import Duels
from tests.support.simulated_logs import ORDERED, ROCK, SCORE, presented, shown, simulate, voted


def test_a_cycle_is_found_and_named():
    log = simulate(ROCK, 200, np.random.default_rng(4))
    found = check(log, quick=True)
    assert found.transitive is False
    assert found.p_one_ranking < 0.01 < 0.95 < found.p_material_cycle
    assert found.top_cycle == ("00", "01", "02") and found.p_condorcet_winner < 0.05
    assert 0.5 < found.cyclic_share.lower < found.cyclic_share.mean < found.cyclic_share.upper
    assert found.p_value <= 0.01
    assert {*found.cycles[0].arms} == {"00", "01", "02"}
    assert found.cycles[0].around == "00 > 01 > 02 > 00"
    assert found.cycles[0].probability > 0.9
    wins = log.tally().wins
    assert found.cycles[0].counts == (
        (wins[0, 1], wins[1, 0]), (wins[1, 2], wins[2, 1]), (wins[2, 0], wins[0, 2])
    )  # fmt: skip
    assert found.criterion == "von_neumann"
    assert "of the preferences between arms fit no ranking" in found.verdict_parts[0]
    assert "A single ranking is not appropriate" in found.verdict
    assert "The only decided triad is cyclic; one score per arm predicts" in found.support[1]
    assert "estimated from a sample" not in repr(found)
    assert found.consistence == 0


def test_counts_of_triads_say_what_they_are_counts_of():
    one = SimpleNamespace(
        n_closed=4, n_all=4, sampled=1.0, cyclic=1.0, decided=4.0, expected=2.0, p_value=0.5,
        expected_interval=(0.0, 3.0), n_replicated=400, order="estimated", unadjusted=(0.0, 3.0),
    )  # fmt: skip
    told = evidence_words(one)
    assert told.startswith(
        "Predictive check: 1 of 4 decided triads is cyclic, majorities adjusted for the "
        "side advantage (without that adjustment 0 of 3); one"
    )
    same = SimpleNamespace(**{**vars(one), "unadjusted": (1.0, 4.0)})
    assert "check: 1 of 4 decided triads is cyclic; one score" in evidence_words(same)
    only = SimpleNamespace(**{**vars(one), "cyclic": 0.0, "decided": 1.0, "unadjusted": (0, 1)})
    assert evidence_words(only).startswith(
        "Predictive check: The only decided triad is not cyclic; one"
    )
    assert "one score per arm predicts 2.0 (0 to 3) on the same design" in told
    plain = SimpleNamespace(**{**vars(one), "order": "not recorded", "cyclic": 2.0})
    assert evidence_words(plain).startswith(
        "Predictive check: 2 of 4 decided triads are cyclic; one"
    )
    assert [mean_count(x) for x in (1.25, 255.0, 1284.5)] == ["1.2", "255", "1,284"]


@pytest.mark.slow
def test_a_log_that_would_hardly_show_cycles_is_not_called_transitive():
    """The old test said that such a log is consistent with a ranking, p = 1.00."""
    found = check(bd.datasets.load("icehockey"), quick=True)
    assert found.transitive is None
    assert found.verdict.startswith("The log cannot tell whether there is one ranking")
    assert found.p_value > 0.05  # which says nothing by itself


def order_share(level, interval, both_ways):
    return OrderShare(
        side="the home side",
        share=level,
        interval=interval,
        between_level=level,
        between_interval=interval,
        n_decisive=400,
        both_ways=both_ways,
    )


SIDES = {
    ("home", "away"): "The home side",
    ("white", "black"): "White",
    ("player_1", "player_2"): "The side listed first",
    ("left", "right"): "The left side (shown first)",
}


@pytest.mark.parametrize("columns", SIDES)
def test_a_side_advantage_is_of_the_side_as_the_log_calls_it(columns):
    rng = np.random.default_rng(5)
    first = rng.integers(0, 4, 200)
    second = (first + rng.integers(1, 4, 200)) % 4
    won = np.where(rng.random(200) < 0.7, *(np.full(200, side) for side in ("left", "right")))
    arms = np.array(["a", "b", "c", "d"])
    votes = {columns[0]: arms[first], columns[1]: arms[second], "outcome": won}
    words = check(bd.read_duels(votes), quick=True).order.sentence
    assert words.startswith(f"{SIDES[columns]} won {100 * np.mean(won == 'left'):.1f} %")


def test_a_side_advantage_that_the_ranking_has_is_not_asked_for_again():
    for both_ways in (1.0, 0.4):
        asked, had = (
            order_share(0.6, (0.55, 0.65), both_ways).words(modelled=m) for m in (False, True)
        )
        assert "--side-advantage" in asked and "--side-advantage" not in had
        assert "adjusts for it" in had and "ranking" in had


def test_the_other_way_round():
    found = check(simulate(ROCK.T, 40, np.random.default_rng(4)), quick=True)
    (cycle, *_) = found.cycles
    assert cycle.around == "00 > 02 > 01 > 00"
    assert all(won > lost for won, lost in cycle.counts)
    assert min(cycle.steps) > 0.9


@pytest.mark.slow
def test_repeated_votes_do_not_accuse_but_would_have():
    rng = np.random.default_rng(6)
    log = voted(expit((SCORE[:, None] - SCORE) / 4), 3, 40, rng, "group")
    found = check(log, quick=True)
    assert found.transitive is not False
    assert found.evidence.unit == "majority verdict of each pair and group"
    single = Duels.from_wins(log.tally().wins)  # the same votes, as if they were independent
    assert check(single, quick=True).p_value <= 0.05


# -- what is believed -------------------------------------------------------------------------


def test_cycles_are_counted_over_draws():
    """Of four draws two go round a > b > c > a, one the other way, one ranks the arms."""
    log = Duels.from_wins(5 * (1 - np.eye(3)), [*"abc"])
    design = design_of(log)
    triads = closed_triads(3, design.first, design.second, np.random.default_rng(0))
    ahead = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 1]], dtype=bool)  # ab, ac, bc
    found = cycle_posterior(ahead, design, log.arms, triads)
    around = [(c.around, c.probability) for c in found.cycles]
    assert around == [("a > b > c > a", 0.5), ("a > c > b > a", 0.25)]
    assert (found.weak, found.condorcet) == (0.25, 0.25)
    assert found.cyclic[0] == 0.75


def test_cycles_and_their_ways_are_those_of_a_loop():
    """Of more triads than are looked at at once."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(14, 1)
    triads = closed_triads(14, first, second, rng)
    ahead = rng.uniform(size=(40, len(first))) > 0.5
    per_draw, per_triad = _count(ahead, triads.edges)
    forth = [[row[a] and row[b] and not row[c] for a, b, c in triads.edges] for row in ahead]
    back = [[not row[a] and not row[b] and row[c] for a, b, c in triads.edges] for row in ahead]
    np.testing.assert_array_equal(per_triad, np.stack([np.sum(forth, 0), np.sum(back, 0)], axis=1))
    np.testing.assert_array_equal(per_draw, np.sum(forth, 1) + np.sum(back, 1))


def test_cycles_are_alike_up_to_two_standard_errors():
    # Shares of 100 draws: 0.1 - 0.05 has the error sqrt((0.15 - 0.0025) / 100) = 0.038.
    assert _alike(np.array([[0.1, 0.05], [0.0, 0.01]]), 100) == 2
    assert _alike(np.zeros((2, 2)), 100) == 0


# -- little to go by --------------------------------------------------------------------------


def test_two_arms_have_no_triads(tmp_path):
    found = check(Duels.from_wins([[0, 3], [1, 0]], ["a", "b"]))
    assert found.transitive is None
    assert np.isnan(found.p_value)
    assert found.cycle_posterior is None
    assert "contains no information on transitivity" in found.verdict
    told = json.loads(found.to_json())
    assert told["p_value"] is None
    assert told["transitive"] is None
    assert told["other_cause"] == ""
    assert "<h1>" in bd.report(found, tmp_path / "check.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_triads_that_cannot_close_are_counted_as_such():
    wins = np.zeros((5, 5))
    wins[0, 1] = wins[1, 2] = wins[2, 0] = 6  # one triangle, and a tail
    wins[2, 3] = wins[3, 4] = 4
    found = check(Duels.from_wins(wins), quick=True)
    assert (found.evidence.n_closed, found.evidence.n_all) == (1, 10)
    assert found.evidence.cyclic == 1
    assert found.to_dict()["test"]["closed_triads"] == 1
    assert found.consistence is None
    star = np.zeros((5, 5))
    star[0, 1:] = 4
    found = check(Duels.from_wins(star), quick=True)
    assert found.evidence.n_closed == 0
    assert "triads are complete" in found.verdict


def test_only_ties_and_judges_of_one_vote():
    found = check(Duels.from_wins(np.zeros((3, 3)), ties=2 * (1 - np.eye(3))), quick=True)
    assert found.transitive is None
    assert not found.residuals
    log = voted(ORDERED[:4, :4], 3, 1, np.random.default_rng(9), "judge")
    lone = Duels.from_votes(
        [*(log.arms[k] for k in log.votes.left), "00"],
        [*(log.arms[k] for k in log.votes.right), "01"],
        [*(log.votes.outcome > 0).astype(float), 1.0],
        judge=[*(log.votes.judges[k] for k in log.votes.judge), "once"],
    )
    judges = check(lone, quick=True).residuals["judges"].set_index("judge")
    assert judges.loc["once", "votes"] == 1
    assert np.isnan(judges.loc["once", "z"])
    assert judges.drop("once")["z"].notna().all()


def test_bad_arguments():
    log = simulate(ROCK, 3, np.random.default_rng(0))
    with pytest.raises(TypeError, match="duels should be"):
        check(3)
    with pytest.raises(ValueError, match=r"material should be .* got 0.5"):
        check(log, material=0.5)
    with pytest.raises(ValueError, match="model should be one of those compared"):
        check(log, quick=True).using("thurstone")


# -- residuals and order ----------------------------------------------------------------------


def test_a_planted_pair_stands_out():
    P = ORDERED.copy()
    P[0, 9], P[9, 0] = 0.1, 0.9
    found = check(simulate(P, 40, np.random.default_rng(10)), quick=True)
    worst = found.residuals["pairs"].iloc[0]
    assert {worst["first"], worst["second"]} == {"00", "09"}
    assert worst["surprise"] < 0.001
    assert {*found.residuals["arms"]["arm"][:2]} == {"00", "09"}
    pairs = found.residuals["pairs"]
    for arm, misfit in found.residuals["arms"].set_index("arm")["misfit"].items():
        own = pairs[(pairs["first"] == arm) | (pairs["second"] == arm)]
        assert misfit == pytest.approx((own["z"] ** 2).mean())


@pytest.mark.slow
def test_a_random_and_an_inverted_judge_stand_out(tmp_path):
    rng = np.random.default_rng(11)
    left, right = (np.tile(x, 30) for x in np.triu_indices(10, 1))
    judge = np.repeat(np.arange(30), 45)
    p = expit(2 * (SCORE[left] - SCORE[right]))
    p = np.where(judge == 3, 1 - p, np.where(judge == 7, 0.5, p))
    log = Duels.from_votes(left, right, (rng.random(len(p)) < p).astype(float), judge=judge)
    found = check(log, quick=True)
    table = found.residuals["judges"]
    assert list(table["judge"][:2]) == ["3", "7"]
    assert (table["z"][:2] < -3).all()
    words = (
        "Of 30 judges with 30 decided votes or more, 3 and 7 voted for the arm that the model "
        "favours in"
    )
    assert words in " ".join(repr(found).split())
    assert words in bd.report(found, tmp_path / "check.html").read_text(encoding="utf-8")
    honest = np.isin(judge, [3, 7], invert=True)
    rest = Duels.from_votes(
        left[honest], right[honest], (rng.random(len(p)) < p)[honest].astype(float),
        judge=judge[honest],
    )  # fmt: skip
    assert "random votes" not in " ".join(repr(check(rest, quick=True)).split())


def test_the_z_score_of_a_judge_is_standard_under_the_model():
    """Judge k votes k times of five for a over b: mean 0 and variance 1 by the binomial law."""
    fitted = ScoreModel(design_of(Duels.from_wins([[0, 7], [3, 0]], [*"ab"])))
    fitted.mode = np.array([0.7, 0.0, 0.0])
    won = [float(vote < k) for k in range(6) for vote in range(5)]
    log = Duels.from_votes(["a"] * 30, ["b"] * 30, won, judge=np.repeat([*"012345"], 5))
    z = judge_residuals(log, fitted).sort_values("judge")["z"].to_numpy()
    mass = stats.binom(5, expit(0.7)).pmf(np.arange(6))
    assert (mass @ z, mass @ z**2) == pytest.approx((0, 1), abs=1e-12)
    assert (np.diff(z) > 0).all()


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (4, 1e-9), (40, 0.999), (2000, 0.4)])
def test_binomial_masses_are_those_of_scipy(n, p):
    law = stats.binom(n, p)
    np.testing.assert_allclose(_binomial(n, p), law.pmf(range(n + 1)), rtol=1e-9, atol=1e-200)


def test_tails_of_a_sum_of_binomials_are_those_of_its_convolution():
    n, chance = np.array([7, 12, 5]), np.array([0.2, 0.9, 0.5])
    for cells in (2, 3):
        mass = np.ones(1)
        for number, p in zip(n[:cells], chance[:cells], strict=True):
            mass = np.convolve(mass, stats.binom(number, p).pmf(range(number + 1)))
        won = np.arange(len(mass))
        starts = np.zeros_like(won)
        tails = _tails_of_sums(won, starts, starts + cells, n, chance)
        expected = [2 * min(mass[: w + 1].sum(), mass[w:].sum()) for w in won]
        np.testing.assert_allclose(tails, expected)


def test_a_side_advantage_is_not_claimed_of_pairs_in_one_order():
    """The log's health says that there it cannot be distinguished from strength."""
    words = order_share(0.46, (0.445, 0.475), 0.0).sentence
    assert "This is a side advantage" not in words
    assert "it may be a side advantage or another deviation" in words
    assert "No pair met in both orders" in words
    rarely = order_share(0.46, (0.445, 0.475), 0.004).sentence
    assert "Fewer than 1 % of the pairs met in both orders" in rarely
    crossed = order_share(0.46, (0.445, 0.475), 1.0).sentence
    assert "This is a side advantage" in crossed


def test_the_order_is_told():
    found = check(shown(ORDERED, 6, 0.8, np.random.default_rng(12)), quick=True)
    assert found.order is not None
    assert found.order.interval[0] > 0.5
    assert found.order.between_level == pytest.approx(expit(0.8), abs=0.06)
    assert "This is a side advantage" in " ".join(repr(found).split())


@pytest.mark.slow
def test_a_side_advantage_is_offered(tmp_path):
    log = presented(expit((SCORE[:, None] - SCORE) / 3), 50, 0.8, np.random.default_rng(32))
    found = check(log, quick=True)
    assert found.transitive is not False
    assert found.order is not None and found.order.clear
    assert found.order.between_interval[0] < expit(0.8) < found.order.between_interval[1]
    assert found.order.both_ways == 0
    page = bd.report(found, tmp_path / "check.html").read_text(encoding="utf-8")
    for words in (" ".join(repr(found).split()), page):
        assert "fit the model BradleyTerry() + SideAdvantage()" in words
        assert "No pair met in both orders" in words
        assert "The log cannot tell whether there is one ranking" in words
        assert (
            "cannot tell a cycle from a side advantage (of the side listed first). One ranking has"
            in words
        )
        assert "Let pairs meet in both orders to distinguish them" in words
    assert json.loads(found.to_json())["test"]["order"] == "estimated"
    plain = check(log, quick=True, side_advantage=False)
    assert plain.transitive is False and plain.p_one_ranking < 0.05
    assert plain.order is None
    assert "an advantage of one side could cause cycles, too" in " ".join(repr(plain).split())


def of_person(person, listed):
    """Return one person's choices between Tversky's gambles, listed in one order or in both."""
    log = bd.datasets.load("tversky1969")
    own = log.votes.judge == log.votes.judges.index(person)
    sides = log.votes.left[own], log.votes.right[own]
    left, right = (np.array(log.arms)[side] for side in sides)
    won, weight = (log.votes.outcome[own] > 0).astype(float), log.votes.weight[own]
    if listed == "in both orders":
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
        won, weight = np.concatenate([won, 1 - won]), np.tile((weight + 1) // 2, 2)
    return Duels.from_votes(left, right, won, weight=weight)


@pytest.mark.parametrize(
    ("person", "listed", "alike"),
    [
        ("s1", "in one order", True),  # a cycle, if sides carry no meaning
        ("s1", "in both orders", False),  # the advantage is seen beside the cycle
        ("s7", "in one order", False),  # with an advantage and without: no cycle that matters
    ],
)
@pytest.mark.slow
def test_a_side_advantage_and_a_cycle_that_look_alike(person, listed, alike, tmp_path):
    """Listed in one order, what an advantage adds to scores goes round (Hodge)."""
    log = of_person(person, listed)
    found = check(log, quick=True)
    first, rest = found.verdict_parts
    assert ("cannot tell a cycle from a side advantage (of the side listed first)" in first) == (
        alike
    )
    assert ("What follows allows a side advantage." in rest) == alike
    if not alike:
        assert found.without_order is None
        return
    plain = check(log, quick=True, side_advantage=False)
    assert found.p_one_ranking > 0.5 and plain.p_one_ranking < 0.05
    assert found.transitive is None
    told = found.to_dict()["p_one_ranking_without_side_advantage"]
    assert told == pytest.approx(plain.p_one_ranking, abs=1e-9)
    assert "Let pairs meet in both orders to distinguish them" in rest
    page = bd.report(found, tmp_path / "check.html").read_text(encoding="utf-8")
    assert "cannot tell a cycle from a side advantage" in page


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (0.56, 0.002, True),
        (0.97, 0.4, True),  # speaks for a ranking, and against one
        (0.3, 0.01, True),  # cannot tell, and no ranking
        (0.3, 0.2, False),
        (0.9, 0.7, False),
        (0.01, 0.001, False),
        (0.2, 0.9, False),
    ],
)
def test_what_is_said_without_a_side_advantage_is_told_where_it_is_another_answer(one, other, told):
    with_it, without = (SimpleNamespace(p_one_ranking=p) for p in (one, other))
    assert _contradicts(without, with_it) is told


def test_how_few_pairs_met_in_both_orders():
    assert [both_orders_words(share) for share in (0.0, 0.004, 0.4)] == [
        "No pair met in both orders",
        "Fewer than 1 % of the pairs met in both orders",
        "Only 40 % of the pairs met in both orders",
    ]


@pytest.mark.slow
def test_a_side_advantage_and_uneven_margins_are_told_from_cycles(tmp_path):
    undecided = check(presented(ROCK, 40, 0.0, np.random.default_rng(33)), quick=True)
    assert undecided.transitive is None
    assert undecided.criterion == "copeland"
    assert "cannot tell cycles from a side advantage" in undecided.verdict_parts[0]
    assert "BradleyTerry() + SideAdvantage()" in undecided.verdict
    told = json.loads(undecided.to_json())
    assert (told["transitive"], told["other_cause"]) == (None, "order")
    page = bd.report(undecided, tmp_path / "check.html").read_text(encoding="utf-8")
    assert "cannot tell cycles from a side advantage" in page
    assert "A side advantage may explain these cycles." in page
    rng = np.random.default_rng(5)
    score = np.linspace(2, -2, 12)
    factor = np.triu(rng.normal(size=(12, 12)), 1)
    odds = (score[:, None] - score) * np.exp(factor + factor.T)
    uneven = check(simulate(expit(odds), 40, rng), quick=True)
    assert uneven.misstated and uneven.transitive is not False
    page = bd.report(uneven.duels, tmp_path / "log.html").read_text(encoding="utf-8")
    assert "how often one arm beats another differs from what one score per arm allows" in page


# -- one verdict, decided ----------------------------------------------------------------------


@pytest.mark.slow
def test_a_quick_check_has_the_numbers_of_a_full_one():
    log = simulate(ORDERED[:5, :5], 12, np.random.default_rng(16))
    quick, full = check(log, quick=True, seed=3), check(log, ["bradley-terry"], seed=3)
    assert full.comparison is not None and quick.comparison is None
    assert quick.p_value == full.p_value
    assert quick.verdict_parts[0] == full.verdict_parts[0]
    assert quick.cycles == full.cycles


def test_a_p_value_near_the_level_has_its_error():
    assert p_words(0.052, 400) == "p = 0.052, Monte Carlo standard error 0.011"
    assert p_words(0.4, 400) == "p = 0.40"
    assert p_words(1 / 401, 400) == "p < 0.0025"


def test_a_cycle_is_named_only_where_it_is_ahead():
    one = check(simulate(ROCK, 40, np.random.default_rng(4)), quick=True)
    assert one.cycle_posterior.n_alike == 1
    said = leading_words(one.cycle_posterior)
    assert said.startswith("The most probable cycle is 00 > 01 > 02 > 00")
    twice = np.full((6, 6), 0.5)
    for k in (0, 3):
        twice[k : k + 3, k : k + 3] = [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]
    two = check(simulate(twice, 200, np.random.default_rng(4)), quick=True)
    assert two.transitive is False
    assert two.cycle_posterior.n_alike >= 2
    assert "No single cycle stands out" in leading_words(two.cycle_posterior)


@pytest.mark.slow
def test_pairs_that_met_once_cannot_tell_chance_from_cycles():
    """Colonel Blotto on five fields has no chance and many cycles, as many as chance would make."""
    troops = np.random.default_rng(0).multinomial(20, [0.2] * 5, size=14)
    fields = np.sign(troops[:, None] - troops[None]).sum(2)
    once = check(bd.Duels.from_wins((fields > 0).astype(int)), quick=True)
    assert once.transitive is None and once.evidence.cyclic > 0
    words = "Of the pairs that met, 100 % have only one decided duel"
    assert once.evidence.met_once == 1 and words in once.support[2]
    often = check(simulate(ORDERED[:5, :5], 12, np.random.default_rng(16)), quick=True)
    assert often.evidence.met_once == 0 and "Of the pairs that met" not in " ".join(often.support)


@pytest.mark.slow
def test_triads_are_counted_without_the_side_advantage_too():
    """A level pair is decided by the adjustment alone."""
    left, right, won = [*"aabbac"], [*"bbccca"], [1, 0, 1, 0, 1, 0]
    log = Duels.from_votes(left * 9, right * 9, won * 9)
    found = check(log, quick=True)
    assert found.evidence.unadjusted == (0.0, 0.0)
    assert found.to_dict()["test"]["triads_by_counting"] == {"cyclic": 0.0, "decided": 0.0}


# -- what comes out ---------------------------------------------------------------------------


def test_json_page_and_arrays(tmp_path):
    found = check(simulate(ROCK, 200, np.random.default_rng(13)), quick=True)
    told = json.loads(found.to_json(tmp_path / "check.json"))
    top = {"transitive", "p_value", "verdict", "cycles", "comparison", "other_cause", "test"}
    assert top <= told.keys()
    assert told["cyclic_share"] == pytest.approx(asdict(found.cyclic_share))
    own = ("p_one_ranking", "p_condorcet_winner", "p_material_cycle")
    assert [told[name] for name in own] == [getattr(found, name) for name in own]
    assert told["top_cycle"] == ["00", "01", "02"]
    assert told["transitive"] is False
    assert told["comparison"] is None
    assert json.loads((tmp_path / "check.json").read_text()) == told
    path = bd.report(found, tmp_path / "check.html", title="Rock <paper>")
    page = path.read_text(encoding="utf-8")
    assert "Rock &lt;paper&gt;" in page
    assert page.count("<img") == 3
    assert "http" not in page.replace("http://www.w3.org", "")
    logs = found.data["replicated"]["logs"].sel(quantity="cyclicity")
    assert (1 + (logs >= found.evidence.statistic).sum()) / (1 + len(logs)) == found.p_value
    assert "<p>" in found._repr_html_()


def test_winners_of_a_check():
    log = simulate(ROCK, 40, np.random.default_rng(14))
    found = check(log, quick=True)
    told = bd.winners(found)
    assert told.attrs["model"] == "stacked"
    assert float(told["condorcet_exists"]) == pytest.approx(found.p_condorcet_winner, abs=0.05)


def test_the_answer_without_a_ranking_is_that_of_the_three_models():
    """Its P is that of the check's draws; a preference matrix where no three arms have all met."""
    found = check(simulate(ORDERED[:6, :6], 12, np.random.default_rng(3)), quick=True)
    P = np.concatenate([*bd.preference_draws(found.averaged)])
    assert len(P) == found.ranking.n_draws
    np.testing.assert_allclose(P + P.transpose(0, 2, 1), 1)
    pairs = np.triu_indices(6, 1)
    better = (P > 0.5).mean(axis=0)[pairs]
    np.testing.assert_allclose(better, found.ranking.p_better[pairs], atol=0.06)
    weights = json.loads(found.averaged.attrs["model_settings"])["weights"]
    assert dict(weights) == pytest.approx(found.ranking.model_weights)
    two = check(Duels.from_wins([[0, 30], [10, 0]]), quick=True)
    assert two.averaged.attrs["model"] == "preference-matrix"


@pytest.mark.slow
def test_the_command(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["left,right,outcome,who"]
    for who, P in (("x", ROCK), ("y", ORDERED[:4, :4])):
        log = simulate(P, 30, np.random.default_rng(17))
        for i, j in np.argwhere(log.tally().wins):
            rows += [f"{log.arms[i]},{log.arms[j]},left,{who}"] * int(log.tally().wins[i, j])
    path.write_text("\n".join(rows))
    page = tmp_path / "check.html"
    args = ["check", str(path), "--by", "who", "--quick", "-o", str(page)]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.output
    assert (
        "A single ranking is not appropriate" in " ".join(result.stdout.split())
        and "00 > 01 > 02 > 00" in result.stdout
    )
    assert page.read_text(encoding="utf-8").count("<article") == 2
    result = CliRunner().invoke(main, [*args[:-2], "--json"])
    told = json.loads(result.stdout)
    assert (told["x"]["transitive"], told["y"]["transitive"]) == (False, True)
    result = CliRunner().invoke(main, ["check", str(path), "-o", str(tmp_path / "no" / "x.html")])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("log", "also"),
    [
        (simulate(ORDERED, 8, np.random.default_rng(20)), []),
        (shown(ORDERED, 8, 0.7, np.random.default_rng(21)),
         ["bradley-terry + order"]),  # it cannot tell
        (simulate(ROCK, 40, np.random.default_rng(22)), []),
        (shown(ROCK, 40, 0.7, np.random.default_rng(23)), ["bradley-terry + order"]),
        (voted(ROCK, 40, 2, np.random.default_rng(24), "group"), []),
    ],
    ids=["ladder", "order", "cycle", "both", "units"],
)  # fmt: skip
@pytest.mark.sampled(2)
def test_what_is_found_decides_what_is_compared(log, also, monkeypatch):
    asked = []

    def noted(duels, models, **settings):
        asked.extend(model.name for model in models)
        return compare_models(duels, models[:2], folds=0, draws=200)

    monkeypatch.setattr(comparing, "compare_models", noted)
    check(log)
    assert asked == ["bradley-terry", "thurstone", "preference-matrix", *also]


def test_models_on_the_command_line():
    args = ["check", "tennis1990", "--models"]
    told = CliRunner().invoke(main, [*args, "thurstone, thurstone + order", "--json"])
    assert told.exit_code == 0, told.output
    table = json.loads(told.stdout)["comparison"]["models"]
    assert {row["model"] for row in table} == {"thurstone", "thurstone + order"}
    refused = CliRunner().invoke(main, [*args, "thurstone,elo"])
    assert refused.exit_code == 2
    assert "--models: model name should be one of" in refused.output and "elo" in refused.output


@pytest.mark.slow
def test_cycles_are_modelled():
    rng = np.random.default_rng(25)
    blade, chest = rng.normal(size=(2, 12))
    eta = np.subtract.outer(*[rng.normal(size=12)] * 2)
    eta += 1.5 * (np.outer(blade, chest) - np.outer(chest, blade))
    cyclic = "bradley-terry + cycles"
    found = check(simulate(expit(eta), 60, rng), ["bradley-terry", cyclic])
    assert not found.transitive
    assert found.comparison.best == cyclic
    assert bd.winners(found).attrs["verdict"]
    assert found.without_ranking.attrs["model"] == "stacked"
    assert found.using(cyclic).without_ranking.attrs["model"] == cyclic


@pytest.mark.slow
def test_winners_of_compared_models():
    log = simulate(ORDERED, 20, np.random.default_rng(15))
    found = check(log, ["bradley-terry", "preference-matrix"])
    assert found.comparison is not None
    assert found.comparison.best == "bradley-terry"
    assert found.cycle_posteriors["bradley-terry"].weak == 1
    assert found.cycle_posterior.weak > found.cycle_posteriors["preference-matrix"].weak
    assert "predicts best" in " ".join(repr(found).split())
    picked = bd.winners(found.using("preference-matrix"))
    assert picked.attrs["model"] == "preference-matrix"
    assert bd.winners(found).attrs["verdict"]
