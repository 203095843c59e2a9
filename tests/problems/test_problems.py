"""The named problems are what the literature prints; the random ones keep their promises."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.preference import borda_scores, copeland_scores
from bayesduel.problems import (
    NAMES,
    FromFit,
    Matrix,
    RandomProblem,
    Replay,
    bradley_terry,
    named,
    noise_floor,
    perturbed_thurstone,
    thurstone,
    uniform,
)
from bayesduel.simulation.regret_lower_bound import least_slope, slopes_by_winner
from tests.support.ecw_rmed import relaxed_slope

# name: arms, Copeland winners, losses of a winner, C*, C_ECW as printed in the literature
# notes that the matrices come from; None where the printed matrix is rounded too coarsely.
CONSTANTS = {
    "cyclic-4": (4, "1", 0, 27.549, 49.664),
    "mslr-5": (5, "1", 0, 66.265, 66.265),
    "mslr-5-c3": (5, "1 2 3", 1, 144.81, 144.81),
    "mslr-5-c1": (5, "1", 1, 1187.5, 1187.5),
    "arxiv-6": (6, "1", 0, 196.62, 221.65),
    "arithmetic-8": (8, "1", 0, 36.320, 36.320),
    "tennis-8": (8, "1 7", 1, 158.46, 158.46),
    "hudry-13": (13, "1", 3, 48.438, 85.601),
    "sushi-16": (16, "1", 0, 142.61, 143.37),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_named_matrices_have_their_winners_and_constants(name):
    n_arms, winners, losses, least, relaxed = CONSTANTS[name]
    problem = named(name)
    assert problem.n_arms == n_arms
    assert problem.winners["copeland"] == tuple(winners.split())
    best = problem.P[problem.arms.index(winners.split()[0])]
    assert (best < 0.5).sum() == losses
    # Five printed digits; mslr-5-c1 is printed with six decimals and a gap of 0.0078, and
    # cyclic-4's 49.663 rounds the other way.
    assert least_slope(problem.P) == pytest.approx(least, rel=5e-5)
    assert relaxed_slope(problem.P) == pytest.approx(relaxed, rel=5e-5)


def test_slopes_of_each_of_several_winners():
    assert slopes_by_winner(named("mslr-5-c3").P) == pytest.approx(
        {0: 144.81, 1: 363.08, 2: 210.24}, rel=5e-5
    )
    assert slopes_by_winner(named("tennis-8").P) == pytest.approx({0: 158.46, 6: 343.27}, rel=5e-5)


def test_slope_by_hand():
    """Two arms: only the one pair can be reversed, worth 2 wins where 1 is needed."""
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    information = 0.8 * np.log(1.6) + 0.2 * np.log(0.4)
    assert least_slope(P) == pytest.approx(0.5 / information)
    assert relaxed_slope(P) == pytest.approx(0.5 / information)
    tied = np.array([[0.5, 0.8, 0.5], [0.2, 0.5, 0.2], [0.5, 0.8, 0.5]])
    assert least_slope(tied) == relaxed_slope(tied) == np.inf  # The tie decides who wins.


def test_mslr_32_and_hudry_under_other_criteria():
    mslr = named("mslr-32")
    assert mslr.winners["copeland"] == ("15", "30")
    assert mslr.winners["borda"] == mslr.winners["random_walk"] == ("30",)
    assert mslr.winners["von_neumann"] == ("15", "30", "32")
    hudry = named("hudry-13")
    assert hudry.winners["condorcet"] == ()
    assert hudry.winners["von_neumann"] == ("2", "3", "4")
    # Arms 2, 3 and 4 tie exactly under Borda: 8 wins at 9/10 and 4 at 1/10 each.
    exact = [
        sum(Fraction(str(p)) for k, p in enumerate(row) if k != i)
        for i, row in enumerate(hudry.P.round(1))
    ]
    assert exact[1] == exact[2] == exact[3] == max(exact) == Fraction(38, 5)
    assert hudry.winners["borda"] == ("2", "3", "4")


def test_families_by_formula():
    big = named("cdb-500", gap=0.1)
    scores = copeland_scores(big.P) * 499
    np.testing.assert_allclose(scores[:4], [498, 498, 498, 496])
    assert scores[-1] == 0
    assert np.unique(np.abs(big.P[~np.eye(500, dtype=bool)] - 0.5).round(12)).tolist() == [0.1]
    bvsc = named("bvsc", n_arms=6, e=0.02)
    assert bvsc.winners["condorcet"] == ("1",)
    assert bvsc.winners["borda"] == ("2",)
    assert borda_scores(bvsc.P)[0] == pytest.approx(0.52)
    swirl = named("swirl", n_arms=8, a=1.0)
    assert (swirl.P[1:, 1:] == 1).sum(axis=1).tolist() == [3] * 7
    assert swirl.winners["condorcet"] == ("1",)
    assert named("linear", n_arms=4).P[0, 3] == pytest.approx(0.875)
    assert named("flat", n_arms=4, e=0.2).P[3, 0] == pytest.approx(0.3)
    for name in NAMES:
        assert named(name).source


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: named("mslr"), "name should be one of arithmetic-8, .* got 'mslr'"),
        (lambda: named("cdb-500", gap=0.6), r"gap should be in \(0, 0.5\], got 0.6"),
        (lambda: named("bvsc", n_arms=2), "n_arms should be at least 3, got 2"),
        (lambda: named("swirl", n_arms=7), "n_arms should be even and at least 4, got 7"),
        (lambda: named("flat", e=0.0), r"e should be in \(0, 0.5\], got 0.0"),
        (lambda: uniform(1, rng=np.random.default_rng(0)), "n_arms should be at least 2, got 1"),
        (lambda: noise_floor(named("mslr-5"), 0.7), r"gap should be in \(0, 0.5\], got 0.7"),
        (lambda: Matrix(named("mslr-5").P, arms="abca"), "arms should be 5 distinct labels"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
    with pytest.raises(TypeError, match="mslr-5 takes no settings"):
        named("mslr-5", gap=0.1)


def test_uniform_problems_have_one_winner_at_the_known_rate():
    rng = np.random.default_rng(1)
    for _ in range(50):
        scores = copeland_scores(uniform(5, rng=rng).P)
        assert (scores == scores.max()).sum() == 1
    unique = 0
    for _ in range(400):
        scores = copeland_scores(uniform(3, unique_winner=False, rng=rng).P)
        unique += (scores == scores.max()).sum() == 1
    # Three arms are cyclic with probability exactly 1/4.
    assert stats.binomtest(unique, 400, 0.75).pvalue > 1e-6


def test_thurstone_problems():
    rng = np.random.default_rng(2)
    P = thurstone(30, best=1.2, rng=rng).P
    order = np.argsort(-borda_scores(P))
    assert order[0] == 0
    # Without perturbation majorities follow the scores: no cycle.
    assert sorted(copeland_scores(P)) == pytest.approx(np.arange(30) / 29)
    wide = perturbed_thurstone(30, d=2.0, spread="variance", rng=rng).P
    assert sorted(copeland_scores(wide)) != pytest.approx(np.arange(30) / 29)
    P = bradley_terry(4, rng=rng).P
    odds = P / (1 - P)
    assert odds[0, 1] * odds[1, 2] == pytest.approx(odds[0, 2])
    raised = noise_floor(named("mslr-5-c3"), 0.1).P
    off = ~np.eye(5, dtype=bool)
    assert np.abs(raised - 0.5)[off].min() == pytest.approx(0.1)
    assert (np.sign(raised - 0.5) == np.sign(named("mslr-5-c3").P - 0.5)).all()


def test_replay_draws_from_the_tallies():
    duels = bd.Duels.from_wins([[0, 3, 1], [1, 0, 0], [1, 0, 0]], arms=["a", "b", "c"])
    with pytest.raises(ValueError, match="but 1 pair never met, such as 'b' and 'c'"):
        Replay(duels)
    problem = Replay(duels, never_met="half")
    np.testing.assert_allclose(problem.P, [[0.5, 0.75, 0.5], [0.25, 0.5, 0.5], [0.5, 0.5, 0.5]])
    assert problem.arms == ("a", "b", "c")
    assert problem.duel((0, 1), 0.7) == 1
    assert problem.duel((0, 1), 0.76) == 0
    with pytest.raises(ValueError, match="never_met should be 'error' or 'half', got 'drop'"):
        Replay(duels, never_met="drop")


def test_drawn_problems_differ_by_the_generator():
    family = RandomProblem(n_arms=4, generator=uniform, name="sup")
    first = family.draw(np.random.default_rng(3)).P
    np.testing.assert_array_equal(first, family.draw(np.random.default_rng(3)).P)
    assert (first != family.draw(np.random.default_rng(4)).P).any()
    assert family.source == "uniform"


@pytest.mark.plain
def test_a_draw_of_a_fit_is_a_problem():
    duels = bd.Duels.from_wins([[0, 9, 8], [1, 0, 7], [2, 3, 0]], arms=["a", "b", "c"])
    fitted = bd.fit(duels, draws=100, chains=2)
    draws = np.concatenate(list(bd.preference_draws(fitted)))
    assert len(draws) == 100
    for draw in (0, 70, 99):  # chains one after another
        problem = FromFit(fitted, draw)
        np.testing.assert_array_equal(problem.P, draws[draw])
        assert problem.arms == ("a", "b", "c")
        assert f"draw {draw} of bradley-terry" in problem.source
    trace = bd.simulate(bd.policies.DTS(), FromFit(fitted), 20)
    assert list(trace["arm"].values) == ["a", "b", "c"]
    np.testing.assert_array_equal(trace["problem"]["P"], draws[0])
    for bad in (-1, 100):
        with pytest.raises(ValueError, match=rf"draw should be in \[0, 100\), got {bad}"):
            FromFit(fitted, bad)


GENERATORS = ("uniform", "thurstone", "perturbed_thurstone", "bradley_terry", "fixed_gap")
OF_MARGINS = ("score_duels", "uneven_duels")


@pytest.mark.parametrize("name", [*GENERATORS, *OF_MARGINS])
def test_a_seed_draws_what_its_generator_draws(name):
    draw = getattr(bd.problems, name)
    one, other = draw(5, rng=3), draw(5, rng=np.random.default_rng(3))
    assert repr(one) == repr(other)
    for field in ("P",) if name in GENERATORS else ("mean", "sd"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    for wrong, error in ((True, TypeError), (None, TypeError), (-1, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="rng should be"):
            draw(5, rng=wrong)
