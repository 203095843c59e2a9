"""Winners, scores and cycles of known matrices, and the laws they keep."""

from importlib import import_module
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from bayesduel import preference as pf
from bayesduel.preference.kemeny import least_costs
from bayesduel.preference.von_neumann import linear_programme

MIXTURE = 1e-7  # how far two routes to one maximin mixture may differ

checked = settings(derandomize=True, deadline=None, max_examples=60)


def fill(above: dict[tuple[int, int], float], n_arms: int) -> np.ndarray:
    """Return P from the entries P[i, j] given, the rest 1/2."""
    P = np.full((n_arms, n_arms), 0.5)
    for (i, j), p in above.items():
        P[i, j], P[j, i] = p, 1 - p
    return P


def random_preference(rng: np.random.Generator, shape: tuple[int, ...], n_arms: int) -> np.ndarray:
    P = np.triu(rng.uniform(size=(*shape, n_arms, n_arms)), 1)
    return P + np.tril(1 - np.swapaxes(P, -1, -2), -1) + np.eye(n_arms) / 2


@st.composite
def matrices(draw, min_arms: int = 2, max_arms: int = 7, ties: bool = True):
    """Return a preference matrix, often with zeros, ones and exact ties."""
    n_arms = draw(st.integers(min_arms, max_arms))
    coarse = [0.0, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 1.0] + [0.5] * (2 * ties)
    entry = st.one_of(st.sampled_from(coarse), st.floats(0.51, 0.99), st.floats(0.01, 0.49))
    return fill({pair: draw(entry) for pair in combinations(range(n_arms), 2)}, n_arms)


ROCK_PAPER_SCISSORS = fill({(0, 1): 0.8, (1, 2): 0.8, (2, 0): 0.8}, 3)

# Arms from 1 in the literature. Arm 1 beats 5..13 with 0.6, loses to 2, 3, 4 with 0.1.
HUDRY_BEATS = {
    2: (3, 8, 9, 10, 11, 12, 13),
    3: (4, 5, 6, 7, 11, 12, 13),
    4: (2, 5, 6, 7, 8, 9, 10),
    5: (2, 6, 7, 8, 9, 10),
    6: (2, 7, 8, 9, 10),
    7: (2, 8, 9, 10),
    8: (3, 9, 10, 11, 12, 13),
    9: (3, 10, 11, 12, 13),
    10: (3, 11, 12, 13),
    11: (4, 5, 6, 7, 12, 13),
    12: (4, 5, 6, 7, 13),
    13: (4, 5, 6, 7),
}
HUDRY = fill(
    {(i - 1, j - 1): 0.9 for i, beaten in HUDRY_BEATS.items() for j in beaten}
    | {(0, j): 0.6 for j in range(4, 13)}
    | {(0, j): 0.1 for j in (1, 2, 3)},
    13,
)


# -- hand-worked ---------------------------------------------------------------------------


def test_three_arms_in_a_cycle():
    P = ROCK_PAPER_SCISSORS
    assert pf.condorcet_winner(P) == -1
    assert not pf.winner_mask(P, "condorcet").any()
    for criterion in ("copeland", "borda", "random_walk", "von_neumann"):
        assert pf.winner_mask(P, criterion).all(), criterion
    np.testing.assert_allclose(pf.von_neumann(P), 1 / 3, atol=1e-12)
    assert pf.smith_set(P).all()
    assert pf.cyclic_triads(P) == pf.decided_triads(P) == 1
    assert pf.kemeny(P).tolist() == pf.slater(P).tolist() == [0, 1, 2]


def test_an_uneven_cycle_is_mixed_by_the_margin_of_the_other_two():
    # 0 beats 1 by 0.1, 1 beats 2 by 0.2, 2 beats 0 by 0.3: weights 0.2, 0.3, 0.1 over 0.6.
    P = fill({(0, 1): 0.6, (1, 2): 0.7, (2, 0): 0.8}, 3)
    np.testing.assert_allclose(pf.von_neumann(P), [2 / 6, 3 / 6, 1 / 6], atol=1e-10)
    # Undo the cheapest majority, 0 over 1: 1 above 2 above 0 costs 0.3 + 0.2 + 0.6 = ...
    cost = {o: sum(P[b, a] for a, b in combinations(o, 2)) for o in permutations(range(3))}
    assert tuple(pf.kemeny(P)) == min(cost, key=cost.get) == (1, 2, 0)


def test_a_tie_counts_for_nobody_by_default_and_half_on_request():
    P = fill({(0, 2): 0.9, (1, 2): 0.8}, 3)  # 0 and 1 tie at exactly 1/2
    np.testing.assert_array_equal(pf.copeland_scores(P), [0.5, 0.5, 0])
    np.testing.assert_array_equal(pf.copeland_scores(P, "half"), [0.75, 0.75, 0])
    assert pf.condorcet_winner(P) == -1
    assert pf.smith_set(P).tolist() == [True, True, False]
    assert pf.winner_mask(P, "copeland").tolist() == [True, True, False]
    assert pf.winner_mask(P, "borda").tolist() == [True, False, False]
    assert pf.cyclic_triads(P) == pf.decided_triads(P) == 0
    assert pf.von_neumann(P)[2] == 0  # any mixture of 0 and 1 is maximin; 2 is in none


def test_of_many_mixtures_the_middle_one_is_returned():
    # 1 and 2 tie; 0 beats 2 a little and loses to 1 always. Maximin: 1 with weight a, 2 with
    # 1 - a, as long as 0 does not gain: a - 0.2 (1 - a) >= 0. The analytic centre maximises
    # the product of a, 1 - a and that slack.
    P = fill({(0, 1): 0.0, (0, 2): 0.6}, 3)
    a = brentq(lambda a: 1 / a - 1 / (1 - a) + 1.2 / (1.2 * a - 0.2), 0.2, 0.99, xtol=1e-14)
    np.testing.assert_allclose(pf.von_neumann(P), [0, a, 1 - a], atol=1e-7)
    # Any mixture of 0 and 1 does: half of each.
    P = fill({(0, 2): 0.9, (1, 2): 0.9}, 3)
    np.testing.assert_allclose(pf.von_neumann(P), [0.5, 0.5, 0], atol=1e-9)


def test_all_tied():
    P = np.full((4, 4), 0.5)
    assert pf.condorcet_winner(P) == -1
    np.testing.assert_array_equal(pf.von_neumann(P), 0.25)
    np.testing.assert_allclose(pf.random_walk_scores(P), 0.25)
    assert (pf.ranks(pf.borda_scores(P)) == 0).all()
    assert pf.smith_set(P).all()


def test_two_arms():
    P = fill({(0, 1): 0.3}, 2)
    assert pf.condorcet_winner(P) == 1
    np.testing.assert_array_equal(pf.von_neumann(P), [0, 1])
    np.testing.assert_allclose(pf.borda_scores(P), [0.3, 0.7])
    # walk: 0 stays with 0.5/1.2, leaves with 0.7/1.2; 1 stays 0.5/0.8, leaves 0.3/0.8
    balance = np.array([0.3 / 0.8, 0.7 / 1.2])
    np.testing.assert_allclose(pf.random_walk_scores(P), balance / balance.sum())
    assert pf.kemeny(P).tolist() == pf.slater(P).tolist() == [1, 0]
    assert pf.cyclic_triads(P) == pf.decided_triads(P) == 0


def test_duplicated_arms_share_everything():
    original = np.array([0, 1, 2, 2, 1])  # arms 3 and 4 are copies of 2 and 1
    P = fill({(0, 1): 0.6, (1, 2): 0.7, (2, 0): 0.8}, 3)[np.ix_(original, original)]
    for scores in (pf.copeland_scores, pf.borda_scores, pf.random_walk_scores, pf.von_neumann):
        values = scores(P)
        np.testing.assert_allclose(values[3], values[2], atol=1e-9)
        np.testing.assert_allclose(values[4], values[1], atol=1e-9)
    mixture = pf.von_neumann(P)
    np.testing.assert_allclose(
        [mixture[0], mixture[1] + mixture[4], mixture[2] + mixture[3]],
        [2 / 6, 3 / 6, 1 / 6],
        atol=1e-9,
    )
    assert pf.winner_mask(P, "von_neumann").all()


def test_certain_duels_leave_one_closed_class():
    P = fill({(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}, 3)
    np.testing.assert_allclose(pf.random_walk_scores(P), [1, 0, 0], atol=1e-15)


def test_hudry_separates_the_criteria():
    """2 -> 3 -> 4 extends to a symmetry of the matrix, so those three tie wherever they win."""
    turned = np.array([1, 3, 4, 2, 8, 9, 10, 11, 12, 13, 5, 6, 7]) - 1
    np.testing.assert_array_equal(HUDRY[np.ix_(turned, turned)], HUDRY)
    winners = {n: (np.flatnonzero(pf.winner_mask(HUDRY, n)) + 1).tolist() for n in pf.CRITERIA}
    assert winners == {
        "condorcet": [],
        "copeland": [1],
        "borda": [2, 3, 4],
        "random_walk": [2, 3, 4],
        "von_neumann": [2, 3, 4],
    }
    assert pf.copeland_scores(HUDRY)[0] == 9 / 12
    np.testing.assert_allclose(pf.von_neumann(HUDRY)[1:4], 1 / 3, atol=1e-9)


def test_tennis_8_as_published():
    P = np.array(
        [
            [0.50, 0.47, 0.67, 0.53, 0.57, 0.83, 0.55, 0.73],
            [0.53, 0.50, 0.57, 0.71, 0.67, 0.48, 0.43, 0.60],
            [0.33, 0.43, 0.50, 0.37, 0.41, 0.38, 0.40, 0.20],
            [0.47, 0.29, 0.63, 0.50, 0.71, 0.52, 0.17, 0.14],
            [0.43, 0.33, 0.59, 0.29, 0.50, 0.75, 0.32, 0.58],
            [0.17, 0.52, 0.62, 0.48, 0.25, 0.50, 0.29, 0.00],
            [0.45, 0.57, 0.60, 0.83, 0.68, 0.71, 0.50, 0.52],
            [0.27, 0.40, 0.80, 0.86, 0.42, 1.00, 0.48, 0.50],
        ]
    )
    winners = {n: (np.flatnonzero(pf.winner_mask(P, n)) + 1).tolist() for n in pf.CRITERIA}
    assert winners == {
        "condorcet": [],
        "copeland": [1, 7],
        "borda": [7],
        "random_walk": [1],
        "von_neumann": [1, 2, 7],
    }
    # By hand: 2 beats 1 by 3, 1 beats 7 by 5, 7 beats 2 by 7 (hundredths): 7, 5, 3 over 15.
    np.testing.assert_allclose(pf.von_neumann(P)[[0, 1, 6]], [7 / 15, 5 / 15, 3 / 15], atol=1e-9)


def test_a_cycle_above_the_rest_is_the_smith_set():
    P = np.full((5, 5), 0.5)
    P[:3, :3] = ROCK_PAPER_SCISSORS
    P[:3, 3:], P[3:, :3] = 0.6, 0.4
    P[3, 4], P[4, 3] = 0.9, 0.1
    assert pf.smith_set(P).tolist() == [True, True, True, False, False]
    np.testing.assert_allclose(pf.von_neumann(P), [1 / 3, 1 / 3, 1 / 3, 0, 0], atol=1e-10)


def test_ranks_and_top_k_let_equals_share():
    scores = np.array([[3.0, 1.0, 3.0, 2.0], [0.0, 1.0, 2.0, 3.0]])
    assert pf.ranks(scores).tolist() == [[0, 3, 0, 2], [3, 2, 1, 0]]
    assert pf.rank_order(scores).tolist() == [[0, 2, 3, 1], [3, 2, 1, 0]]
    assert pf.top_k(scores, 1).tolist() == [[True, False, True, False], [False] * 3 + [True]]
    assert pf.top_k(scores, 3).tolist() == [[True, False, True, True], [False] + [True] * 3]


# -- against other routes ------------------------------------------------------------------


@checked
@given(matrices())
@pytest.mark.slow
def test_mixture_solves_the_linear_programme(P):
    q = pf.von_neumann(P)
    assert q.min() >= 0
    np.testing.assert_allclose(q.sum(), 1)
    assert (q @ (2 * P - 1)).min() >= -1e-9  # no arm beats it: it is maximin
    # Whatever mixture the linear programme finds, its arms are among ours.
    assert (pf.von_neumann(P) > 0)[linear_programme(2 * P - 1) > MIXTURE].all()


def test_mixture_equals_the_linear_programme_where_it_is_unique():
    P = random_preference(np.random.default_rng(3), (40,), 15)  # no ties: unique
    expected = np.array([linear_programme(2 * p - 1) for p in P])
    np.testing.assert_allclose(pf.von_neumann(P), expected, atol=MIXTURE)


def test_large_games_are_solved_by_few_of_their_arms(monkeypatch):
    module = import_module("bayesduel.preference.von_neumann")
    rng = np.random.default_rng(11)
    score, noise = rng.normal(0, 0.3, (3, 80, 1)), rng.normal(0, 0.3, (3, 80, 80))
    A = np.tanh(score - score.swapaxes(1, 2) + noise - noise.swapaxes(1, 2))
    sizes = []
    follow = module._follow_path

    def counted(games):
        sizes.append(games.shape[1])
        return follow(games)

    monkeypatch.setattr(module, "_follow_path", counted)
    found = module.maximin(A)
    assert max(sizes) < 80  # no game was solved as a whole
    whole = follow(A / np.abs(A).max(axis=(1, 2), keepdims=True))
    np.testing.assert_allclose(found, whole, atol=MIXTURE)
    # A game with many solutions is: there the few may have a centre of their own.
    A[:] = 0
    A[:, :4, 4:], A[:, 4:, :4] = 1, -1  # the first four beat all others and tie
    np.testing.assert_allclose(module.maximin(A)[:, :5], [[0.25] * 4 + [0]] * 3, atol=MIXTURE)
    assert max(sizes) == 80


def test_what_is_not_certified_goes_to_the_linear_programme(monkeypatch):
    P = random_preference(np.random.default_rng(5), (20,), 7)
    expected = pf.von_neumann(P)
    module = import_module("bayesduel.preference.von_neumann")
    monkeypatch.setattr(module, "_follow_path", lambda A: np.full(A.shape[:2], 1 / A.shape[1]))
    np.testing.assert_allclose(pf.von_neumann(P), expected, atol=MIXTURE)


@checked
@given(matrices(max_arms=6))
def test_kemeny_and_slater_are_cheapest(P):
    costs = {"kemeny": P.T, "slater": (P.T > 0.5).astype(float)}
    for name, cost in costs.items():
        total = {
            o: sum(cost[a, b] for a, b in combinations(o, 2)) for o in permutations(range(len(P)))
        }
        best = min(total.values())
        first = next(o for o in total if total[o] <= best + 1e-9)  # permutations come in order
        assert tuple(getattr(pf, name)(P)) == first, name
        least = [min(c for o, c in total.items() if o[0] == a) for a in range(len(P))]
        np.testing.assert_allclose(least_costs(P, name), least, atol=1e-9)


@checked
@given(matrices())
def test_triads_by_counting(P):
    beats = P > 0.5
    triples = list(combinations(range(len(P)), 3))
    decided = sum(all(P[a, b] != 0.5 for a, b in combinations(t, 2)) for t in triples)
    cyclic = sum(
        (beats[i, j] and beats[j, k] and beats[k, i])
        or (beats[j, i] and beats[k, j] and beats[i, k])
        for i, j, k in triples
    )
    assert pf.cyclic_triads(P) == cyclic
    assert pf.decided_triads(P) == decided


@checked
@given(matrices())
def test_random_walk_is_stationary(P):
    v = pf.random_walk_scores(P)
    np.testing.assert_allclose((P / P.sum(0)) @ v, v, atol=1e-12)
    np.testing.assert_allclose(v.sum(), 1)


@checked
@given(matrices())
def test_smith_set_is_the_smallest_that_beats_the_rest(P):
    n_arms = len(P)
    dominant = [
        set(s)
        for r in range(1, n_arms + 1)
        for s in combinations(range(n_arms), r)
        if all(P[i, j] > 0.5 for i in s for j in range(n_arms) if j not in s)
    ]
    assert set(np.flatnonzero(pf.smith_set(P))) == min(dominant, key=len)


# -- laws ----------------------------------------------------------------------------------


@checked
@given(matrices(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_relabelling_commutes(P, random):
    order = np.array(random.sample(range(len(P)), len(P)))
    Q = P[np.ix_(order, order)]
    for scores in (pf.copeland_scores, pf.borda_scores, pf.random_walk_scores):
        np.testing.assert_allclose(scores(Q), scores(P)[order], atol=1e-12)
    np.testing.assert_allclose(pf.von_neumann(Q), pf.von_neumann(P)[order], atol=MIXTURE)
    for criterion in pf.CRITERIA:
        np.testing.assert_array_equal(
            pf.winner_mask(Q, criterion), pf.winner_mask(P, criterion)[order]
        )
    np.testing.assert_array_equal(pf.smith_set(Q), pf.smith_set(P)[order])
    assert pf.cyclic_triads(Q) == pf.cyclic_triads(P)


@checked
@given(matrices(), st.data())
def test_a_condorcet_winner_wins_by_every_majority_criterion(P, data):
    a = data.draw(st.integers(0, len(P) - 1))
    others = np.arange(len(P)) != a
    P[a, others] = np.maximum(P[a, others], 1 - P[a, others])
    P[a, others & (P[a] == 0.5)] = 0.501
    P[others, a] = 1 - P[a, others]
    assert pf.condorcet_winner(P) == a
    alone = np.arange(len(P)) == a
    for criterion in ("condorcet", "copeland", "von_neumann"):
        np.testing.assert_array_equal(pf.winner_mask(P, criterion), alone, criterion)
    np.testing.assert_array_equal(pf.smith_set(P), alone)
    assert pf.kemeny(P)[0] == pf.slater(P)[0] == a


def test_few_arms_lose_to_few():
    """CDB Lemma 15: without ties, at most 2d + 1 arms lose to at most d others."""
    beaten_by = pf.beats(random_preference(np.random.default_rng(1), (300,), 9)).sum(-2)
    for d in range(9):
        assert (beaten_by <= d).sum(-1).max() <= 2 * d + 1


@checked
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=7, unique=True))
def test_when_scores_order_the_arms_every_criterion_agrees(scores):
    scores = np.round(scores, 3)  # not so close that 1e-10 is a tie
    P = 1 / (1 + np.exp(scores - scores[:, None]))
    best = scores == scores.max()
    for criterion in pf.CRITERIA:
        if best.sum() == 1 or criterion != "condorcet":
            np.testing.assert_array_equal(pf.winner_mask(P, criterion), best, criterion)
    assert pf.cyclic_triads(P) == 0


def test_leading_axes_are_kept():
    P = random_preference(np.random.default_rng(2), (2, 3), 5)
    functions = [
        *(pf.copeland_scores, pf.borda_scores, pf.random_walk_scores, pf.von_neumann, pf.ranks),
        *(pf.smith_set, pf.kemeny, pf.slater, pf.condorcet_winner, pf.cyclic_triads),
        *(pf.decided_triads, pf.beats, lambda p: pf.winner_mask(p, "von_neumann")),
    ]
    for function in functions:
        whole = function(P)
        assert whole.shape[:2] == (2, 3)
        for i in range(2):
            for j in range(3):
                np.testing.assert_allclose(whole[i, j], function(P[i, j]), atol=1e-9)


def test_arms_lost_to_counts_every_triple_once():
    P = random_preference(np.random.default_rng(4), (), 30)  # no ties: all triples decided
    wins = pf.beats(P).sum(-1)
    assert pf.decided_triads(P) == comb(30, 3)
    assert pf.cyclic_triads(P) == comb(30, 3) - sum(comb(int(w), 2) for w in wins)


# -- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("P", "error", "words"),
    [
        ("abc", TypeError, "P should be an array of numbers, got 'abc'"),
        ([[0.5]], ValueError, "K >= 2, got \\(1, 1\\)"),
        ([0.5, 0.5], ValueError, "shape \\(..., K, K\\)"),
        (np.full((2, 3), 0.5), ValueError, "got \\(2, 3\\)"),
        (np.empty((0, 2, 2)), ValueError, "at least one matrix"),
        ([[0.5, 1.2], [-0.2, 0.5]], ValueError, "entries in \\[0, 1\\], got 1.2 at \\[0, 1\\]"),
        ([[0.5, np.nan], [0.5, 0.5]], ValueError, "got nan at \\[0, 1\\]"),
        ([[0.5, 0.7], [0.4, 0.5]], ValueError, "P\\[j, i\\] = 1, got 0.7 at \\[0, 1\\]"),
        ([[[0.5, 0.7], [0.3, 0.5]], [[0.5, 0.7], [0.4, 0.5]]], ValueError, "\\[1, 0, 1\\]"),
        ([[0.6, 0.7], [0.3, 0.4]], ValueError, "P\\[j, i\\] = 1, got 0.6 at \\[0, 0\\]"),
    ],
)
def test_bad_matrices_are_named(P, error, words):
    for function in (pf.check_preference, pf.borda_scores, pf.von_neumann, pf.cyclic_triads):
        with pytest.raises(error, match=words):
            function(P)


def test_bad_arguments_are_named():
    P = np.full((17, 17), 0.5)
    with pytest.raises(ValueError, match=r"at most 16 arms .* got 17"):
        pf.kemeny(P)
    with pytest.raises(ValueError, match=r"at most 16 arms .* got 17"):
        pf.slater(P)
    with pytest.raises(ValueError, match=r"criterion should be 'condorcet', .* got 'plurality'"):
        pf.winner_mask(P, "plurality")
    with pytest.raises(ValueError, match="ties should be 'strict' or 'half', got 'drop'"):
        pf.copeland_scores(P, "drop")
    for k in (0, 5, 1.5, True):
        with pytest.raises(ValueError, match=f"k should be a whole number from 1 to 4, got {k}"):
            pf.top_k(np.zeros(4), k)
    with pytest.raises(ValueError, match="without NaN"):
        pf.ranks([1.0, np.nan])
