"""Problems whose preferences change: how they are made, drawn and refused."""

import numpy as np
import pytest
from scipy.special import logit

import bayesduel as bd
from bayesduel.preference import borda_scores, condorcet_winner
from bayesduel.problems import (
    FromPeriods,
    PiecewiseStationary,
    RandomChanges,
    RandomProblem,
    ScoreWalk,
    bradley_terry,
    davidson,
    fixed_gap,
    score_duels,
)

pytestmark = pytest.mark.plain

P = bd.problems.named("linear", n_arms=3).P
FAMILY = RandomProblem(n_arms=3, generator=bradley_terry)
COFFEE = bd.Duels.from_wins([[0, 9, 8], [1, 0, 7], [2, 3, 0]], arms=["a", "b", "c"])


def test_segments_are_matrices_names_problems_or_logs():
    problem = PiecewiseStationary([P, P.T, P], (10, 20.0), arms=("a", "b", "c"))
    assert problem.P.shape == (3, 3, 3)
    assert (problem.n_segments, problem.starts) == (3, (1, 10, 20))
    np.testing.assert_array_equal(problem.P[1], P.T)
    assert PiecewiseStationary([COFFEE, COFFEE], [7]).arms == ("a", "b", "c")
    assert PiecewiseStationary(np.stack([P, P]), np.array([7])).arms == ("1", "2", "3")
    assert bd.problems.Matrix(P).starts == (1,)


@pytest.mark.parametrize(
    ("matrices", "changes", "message"),
    [
        ([P], [], "P should have at least two preference matrices, got 1"),
        ([P, P], [], "changes should be 1 increasing numbers, the first duel .* got "),
        ([P, P], [1], "changes should be a whole number >= 2, got 1"),
        ([P, P], [2.5], "changes should be a whole number >= 2, got 2.5"),
        ([P, P, P], [9, 9], "changes should be 2 increasing"),
        ([P, "mslr-5"], [9], "the matrices of P should have the same arms, got "),
        ([P, COFFEE], [9], "the matrices of P should have the same arms, got "),
        ([P, FAMILY], [9], "each problem in P should have one matrix, got Rand"),
        ([P, P - 0.1], [9], "P should have "),
    ],
)
def test_refused(matrices, changes, message):
    with pytest.raises(ValueError, match=message):
        PiecewiseStationary(matrices, changes)


def test_families_refuse_what_they_cannot_draw():
    with pytest.raises(TypeError, match="family should draw problems of one preference matrix"):
        RandomChanges(family="uniform")
    margins = RandomProblem(n_arms=3, generator=score_duels)
    for wrong in (margins, ScoreWalk(horizon=200)):
        with pytest.raises(TypeError, match="family should draw problems of one"):
            RandomChanges(family=wrong)
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        ScoreWalk().draw(np.random.default_rng(0))
    for family in (RandomChanges(family=FAMILY), ScoreWalk(n_arms=3, n_changes=4)):
        with pytest.raises(ValueError, match="horizon should be at least n_segments = 5, got 4"):
            bd.simulate(bd.policies.Uniform(), family, 4)
        bd.simulate(bd.policies.Uniform(), family, 5)
    with pytest.raises(ValueError, match="step should be positive"):
        ScoreWalk(step=0)


def test_changes_are_uniform_among_the_duels():
    """Of one change among 4 duels after the first, each is as likely; chi-square at 1e-6."""
    family = RandomChanges(family=FAMILY, n_changes=1, horizon=5)
    rng = np.random.default_rng(1)
    drawn = [family.draw(rng) for _ in range(400)]
    counts = np.bincount([one.changes[0] for one in drawn], minlength=6)
    assert counts[:2].sum() == 0
    assert ((counts[2:] - 100) ** 2 / 100).sum() < 30.7
    assert len({one.P[k, 0, 1] for one in drawn for k in range(2)}) == 800


def test_scores_walk_by_their_step():
    """Variances of the differences of two scores, within five standard errors."""
    one = ScoreWalk(n_arms=30, n_changes=200, step=0.2, sd=0.7, horizon=1000)
    drawn = one.draw(np.random.default_rng(2))
    assert drawn.changes[:2] == (5, 10)
    score = logit(drawn.P)[:, :, 0]
    steps = np.diff(score, axis=0)
    assert steps[:, 1:].std() / np.sqrt(2) == pytest.approx(0.2, rel=0.1)
    assert score[0, 1:].std() == pytest.approx(0.7, rel=0.65)


def test_one_arm_is_ahead_by_the_gap_whatever_the_others_do():
    rng, others = np.random.default_rng(3), 0
    for n_arms, gap in ((2, 0.5), (5, 0.1), (8, 0.02), (6, 0.5)):
        for _ in range(50):
            problem = fixed_gap(n_arms, gap=gap, rng=rng)
            scores = borda_scores(problem.P)
            assert (scores[0] - scores[1:]).min() >= gap - 1e-12
            others += int(condorcet_winner(problem.P)) > 0
    assert others > 0
    with pytest.raises(ValueError, match=r"gap should be in \(0, 0.5\], got 0.6"):
        fixed_gap(3, gap=0.6, rng=rng)


@pytest.fixture(scope="module")
def fitted():
    rows = {
        "left": list("aaabbc") * 20,
        "right": list("bccaca") * 20,
        "outcome": ["left"] * 60 + ["right"] * 60,
        "time": np.arange(120),
    }
    model = bd.models.BradleyTerry() + bd.models.TimeVarying(periods=3)
    return bd.fit(bd.read_duels(rows, time="time"), model, draws=100, chains=2)


def test_the_periods_of_a_fit_are_segments(fitted):
    rating = fitted["posterior"]["rating"].values.reshape(-1, 3, 3)
    for draw in (0, 60):
        problem = FromPeriods(fitted, each=100, draw=draw)
        assert problem.changes == (101, 201)
        assert problem.arms == ("a", "b", "c")
        difference = rating[draw, :, :, None] - rating[draw, :, None, :]
        np.testing.assert_allclose(problem.P, 1 / (1 + np.exp(-difference)))
    now = bd.problems.FromFit(fitted, 60)
    np.testing.assert_allclose(problem.P[-1], now.P)
    assert bd.simulate(bd.policies.Uniform(), problem, 300)["problem"].sizes["segment"] == 3
    with pytest.raises(ValueError, match="each should be a whole number >= 1, got 0"):
        FromPeriods(fitted, each=0)
    with pytest.raises(ValueError, match="fit should be of a model with TimeVarying, got 'bradley"):
        FromPeriods(bd.fit(COFFEE, draws=100), each=10)


def tied(t):
    """A matrix whose first duel ties more often later."""
    return davidson([1.0, 0.0, -1.0], nu=t / 100)


CHANGING_TIES = {
    "matrices": PiecewiseStationary([P, davidson([1.0, 0.0, -1.0], nu=2.0)], [301]),
    "a function": PiecewiseStationary(tied, [301]),
    "drawn": RandomChanges(
        family=RandomProblem(n_arms=3, generator=bradley_terry, settings=(("nu", 2.0),)),
        n_changes=1,
    ),
}


@pytest.mark.parametrize("name", CHANGING_TIES)
@pytest.mark.parametrize(
    "policy",
    [bd.policies.Uniform(), bd.policies.RUCB(), bd.policies.POCOWISTA(delta=0.1)],
    ids=repr,
)
def test_ties_change_with_the_segments(name, policy):
    """Of two arms in each segment, ties are as frequent as the matrix in force says."""
    problem = CHANGING_TIES[name]
    trace = bd.simulate(policy, problem, 600, replications=4, seed=2, detail="duels", workers=1)
    truth = trace["problem"].to_dataset()
    ties = np.broadcast_to(truth["ties"], (4, 2, 3, 3))
    start = np.broadcast_to(truth["start"], (4, 2))
    expected, found, variance = 0.0, 0, 0.0
    for r in range(4):
        a, b, won = trace["trace"]["sequence"].values[0, r].T
        segment = np.searchsorted(start[r], np.arange(1, 601), side="right") - 1
        chance = ties[r][segment, a, b] * (a != b)
        expected += chance.sum()
        variance += (chance * (1 - chance)).sum()
        found += ((won == -1) & (a != b)).sum()
    assert abs(found - expected) <= 5 * np.sqrt(variance)  # of a normal variate, less than 1e-6
    assert (bd.regret(trace) >= 0).all()
    assert found > 0 or not isinstance(policy, bd.policies.Uniform)


def test_a_function_is_asked_for_each_segment():
    problem = PiecewiseStationary(tied, [101, 201])
    np.testing.assert_allclose(problem.P[2], tied(201).P)
    np.testing.assert_allclose(problem.ties[1], tied(101).ties)
