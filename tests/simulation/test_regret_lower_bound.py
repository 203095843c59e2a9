"""The least duels beside SciPy's optimisers, over all alternatives and without the closed form."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import rel_entr

import bayesduel as bd
from bayesduel.simulation.regret_lower_bound import slopes_by_winner

KL = 0.9 * np.log(19)  # of delta = 0.05


def drawn(n_arms, seed, condorcet=True):
    """A random preference matrix, with arm 0 as its Condorcet winner or as it comes."""
    upper = np.triu(np.random.default_rng(seed).uniform(0.05, 0.95, (n_arms, n_arms)), 1)
    if condorcet:
        upper[0, 1:] = np.maximum(upper[0, 1:], 1 - upper[0, 1:])
    return np.tril(1 - upper.T, -1) + upper + np.eye(n_arms) / 2


def kl(p, q):
    return rel_entr(p, q) + rel_entr(1 - p, 1 - q)


def value_by_descent(P):
    """1 / max over allocations of the min over alternatives, both by numerical descent; K = 3."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = np.array([P[i, j] for i, j in pairs])

    def cheapest(weights):
        costs = []
        for rival in (1, 2):
            bounds = [(0.5, 1 - 1e-9) if i == rival else (1e-9, 0.5) if j == rival
                      else (1e-9, 1 - 1e-9) for i, j in pairs]  # fmt: skip
            found = minimize(lambda q: weights @ kl(p, q), np.full(3, 0.5), bounds=bounds)
            costs.append(found.fun)
        return min(costs)

    def loss(x):
        return -cheapest(np.exp(x) / np.exp(x).sum())

    starts = ([0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2])
    return -1 / min(minimize(loss, x, method="Nelder-Mead").fun for x in starts)


@pytest.mark.parametrize("seed", [7])
@pytest.mark.slow
def test_closed_form_is_the_value_of_the_game(seed):
    P = drawn(3, seed)
    assert bd.least_duels(P, 0.05) == pytest.approx(KL * value_by_descent(P), rel=1e-3)


def value_by_enumeration(P, winner, is_alternative, gap=0.0):
    """The least sum of duels by which every alternative majority relation costs 1."""
    first, second = np.triu_indices(len(P), 1)
    p, rows = P[first, second], []
    for signs in product((False, True), repeat=len(p)):
        majority = np.zeros(P.shape, bool)
        majority[first, second], majority[second, first] = signs, ~np.array(signs)
        if is_alternative(majority.sum(axis=1), winner):
            reversed_to = 0.5 + gap * (2 * np.array(signs) - 1)
            rows.append(np.where((p > 0.5) != signs, kl(p, reversed_to), 0.0))
    return linprog(np.ones(len(p)), A_ub=-np.array(rows), b_ub=-np.ones(len(rows))).fun


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_both_criteria_by_all_majority_relations(seed):
    P = drawn(4, seed)
    value = value_by_enumeration(P, 0, lambda wins, winner: np.delete(wins, winner).max() == 3)
    assert bd.least_duels(P, 0.05) == pytest.approx(KL * value)
    P, gap = 0.5 + np.sign(P - 0.5) * np.maximum(abs(P - 0.5), 0.1), 0.1
    np.fill_diagonal(P, 0.5)
    rival = lambda wins, winner: np.delete(wins, winner).max() == 3  # noqa: E731
    value = value_by_enumeration(P, 0, rival, gap)
    assert bd.least_duels(P, 0.05, gap=gap) == pytest.approx(KL * value)
    P = drawn(4, seed, condorcet=False)
    value = min(
        value_by_enumeration(P, winner, lambda wins, winner: wins[winner] < wins.max())
        for winner in slopes_by_winner(P)
    )
    assert bd.least_duels(P, 0.05, "copeland") == pytest.approx(KL * value)


@pytest.mark.parametrize("chance", [0.55, 0.7, 0.9])
@pytest.mark.parametrize("lead", [1, 2, 5])
def test_a_sequential_test_that_knows_the_gap_takes_exactly_the_least(chance, lead):
    """Wald's test of chance against 1 - chance: a walk that is absorbed at a lead of either arm."""
    P = np.array([[0.5, chance], [1 - chance, 0.5]])
    walk = np.diag(np.full(2 * lead - 2, chance), 1) + np.diag(
        np.full(2 * lead - 2, 1 - chance), -1
    )
    visits = np.linalg.inv(np.eye(2 * lead - 1) - walk)[lead - 1]
    wrong = visits[0] * (1 - chance)
    assert bd.least_duels(P, wrong, gap=chance - 0.5) == pytest.approx(visits.sum())
    assert (
        bd.least_duels(P, wrong) > visits.sum()
    )  # this test fails where chances are nearer to 1/2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_relies_on_a_gap_needs_fewer_duels(seed):
    P = drawn(5, seed)
    nearest = abs(P[~np.eye(5, dtype=bool)] - 0.5).min()
    needed = [bd.least_duels(P, 0.05, gap=share * nearest) for share in (0, 0.3, 0.9, 1)]
    assert (np.diff(needed) < 0).all()
    with pytest.raises(ValueError, match=r"gap should be at most .*, the least distance of an"):
        bd.least_duels(P, 0.05, gap=1.01 * nearest)
    with pytest.raises(ValueError, match=r"gap should be 0 under criterion 'copeland', got 0.01"):
        bd.least_duels(P, 0.05, "copeland", gap=0.01)
    with pytest.raises(ValueError, match=r"gap should be in \[0, 0.5\), got -1"):
        bd.least_duels(P, 0.05, gap=-1)


def test_two_arms_by_hand_and_refusals():
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    for criterion in ("condorcet", "copeland"):
        assert bd.least_duels(P, 0.05, criterion) == pytest.approx(KL / kl(0.8, 0.5))
    with pytest.raises(ValueError, match="P should have a Condorcet winner"):
        bd.least_duels(np.full((3, 3), 0.5), 0.05)
    with pytest.raises(ValueError, match=r"delta should be in \(0, 0.5\), got 0.5"):
        bd.least_duels(P, 0.5)
    with pytest.raises(ValueError, match="criterion should be 'condorcet' or 'copeland'"):
        bd.least_duels(P, 0.05, "borda")
