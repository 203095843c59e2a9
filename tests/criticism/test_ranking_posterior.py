"""Three models of a pair: their evidence, what follows from their draws, and what is said."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp

import bayesduel as bd
from bayesduel.criticism.check import check
from bayesduel.criticism.ranking.evidence import KINDS, Log, PairModel
from bayesduel.criticism.ranking.pair_models import FREE, UNEVEN
from bayesduel.criticism.ranking.posterior import (
    CyclicShare,
    cyclic_share_of,
    has_cycle,
    ranking_posterior,
    top_cycle_of,
)
from bayesduel.criticism.ranking.ranking_text import advice_words, headline_words, size_words
from bayesduel.criticism.transitivity.design import design_of
from bayesduel.preference import smith_set

K = 4
WORLDS = {  # won by the first arm of each pair, of ten duels, five in each order
    "ordered": [[4, 3], [4, 4], [5, 5], [3, 4], [4, 3], [3, 3]],
    "cyclic": [[5, 4], [1, 0], [3, 2], [5, 5], [2, 3], [1, 1]],
    "order effect": [[5, 1], [4, 1], [5, 0], [4, 0], [5, 1], [5, 2]],
}


def log_with(won):
    first, second = (side.astype(np.int64) for side in np.triu_indices(K, 1))
    n = np.tile([5.0, 5.0, 0.0], (len(first), 1))
    return Log(K, first, second, n, np.column_stack([won, np.zeros(len(first))]).astype(float))


@cache
def from_the_prior(kind):
    """Return log odds of the pairs and order effects, drawn from the prior, and cyclic shares."""
    rng, n = np.random.default_rng(8), 600_000
    first, second = np.triu_indices(K, 1)
    size = abs(rng.normal(size=(n, 1))) * 2.0
    z = rng.normal(size=(n, len(first)))
    score = rng.normal(size=(n, K))
    if kind == UNEVEN:
        spread = abs(rng.normal(size=(n, 1)))
        score *= size * np.exp(-(spread**2))
        odds = (score[:, first] - score[:, second]) * np.exp(spread * z)
    elif kind == FREE:
        part = rng.uniform(size=(n, 1))
        score *= size * np.sqrt(1 - part)
        odds = score[:, first] - score[:, second] + size * np.sqrt(2 * part) * z
    else:
        score *= size
        odds = score[:, first] - score[:, second]
    order = rng.normal(size=(n, 1))
    matrix = np.zeros((n, K, K))
    matrix[:, first, second] = odds
    matrix -= matrix.transpose(0, 2, 1)
    middle = matrix.mean(axis=2)
    rest = matrix - (middle[:, :, None] - middle[:, None, :])
    return odds, order, (rest**2).sum(axis=(1, 2)) / (matrix**2).sum(axis=(1, 2))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", KINDS)
def test_evidence_and_share_are_those_of_draws_from_the_prior(world, name):
    """The integral over the prior, by 600,000 draws from it: no approximation of ours."""
    log = log_with(WORLDS[world])
    odds, order, share = from_the_prior(KINDS[name])
    logs = np.zeros(len(odds))
    for side, sign in enumerate((1.0, -1.0)):
        won = log.won[:, side]
        lost = log.n[:, side] - won
        x = odds + sign * order
        logs += log_expit(x) @ won + log_expit(-x) @ lost
    weight = np.exp(logs - logs.max())
    expected = (weight * share).sum() / weight.sum()
    model = PairModel(log, KINDS[name])
    # Of uneven rankings, several orders may fit: the evidence is that about one of them.
    near = 0.7 if KINDS[name] == UNEVEN else 0.3
    assert model.log_evidence == pytest.approx(logsumexp(logs) - np.log(len(logs)), abs=near)
    rng = np.random.default_rng(8)
    drawn = model.draw(1500, rng)
    found = [cyclic_share_of(drawn.odds(k, rng)) for k in range(1500)]
    assert np.mean(found) == pytest.approx(expected, abs=0.04)


def test_the_part_that_scores_explain_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    odds = np.triu(rng.normal(size=(7, 7)), 1)
    odds -= odds.T
    i, j = np.triu_indices(7, 1)
    design = np.zeros((len(i), 7))
    design[np.arange(len(i)), i] = 1
    design[np.arange(len(i)), j] = -1
    rest = np.linalg.lstsq(design, odds[i, j])[1]
    fitted = design @ np.linalg.lstsq(design, odds[i, j])[0]
    assert rest.size == 0  # the design has no full rank
    assert cyclic_share_of(odds) == pytest.approx(
        ((odds[i, j] - fitted) ** 2).sum() / (odds[i, j] ** 2).sum()
    )
    score = rng.normal(size=7)
    assert cyclic_share_of(score[:, None] - score) == 0


def test_top_cycles_are_smith_sets_and_cycles_are_those_of_a_search():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 9))
        odds = np.triu(rng.normal(size=(n, n)), 1)
        odds -= odds.T
        found = smith_set(1 / (1 + np.exp(-odds)))
        assert (top_cycle_of(odds) > 0).tolist() == found.tolist()
        steps = (odds >= 0.4).astype(float)
        reached = np.linalg.matrix_power(steps + np.eye(n), n) > 0
        around = (reached & (steps.T > 0)).any()
        assert has_cycle(odds, 0.4) == around


def world(n_arms, free, rng):
    score = rng.normal(size=n_arms)
    rest = np.triu(rng.normal(size=(n_arms, n_arms)), 1) * np.sqrt(2 * free / (1 - free))
    odds = score[:, None] - score + rest - rest.T
    wins = np.zeros((n_arms, n_arms), dtype=int)
    for i, j in zip(*np.triu_indices(n_arms, 1), strict=True):
        wins[i, j] = rng.binomial(40, 1 / (1 + np.exp(-odds[i, j])))
        wins[j, i] = 40 - wins[i, j]
    return odds, bd.Duels.from_wins(wins)


@pytest.mark.parametrize("free", [0.0, 0.2, 0.5])
def test_the_share_of_a_world_is_found(free):
    odds, log = world(12, free, np.random.default_rng(21))
    found = ranking_posterior(design_of(log), log.arms, np.random.default_rng(0))
    share = found.cyclic_share
    assert share.lower - 1e-9 <= cyclic_share_of(odds) <= share.upper + 1e-9
    assert share.upper - share.lower < 0.35
    assert (found.p_one_ranking < 0.2) == (free > 0)
    assert sum(found.model_weights.values()) == pytest.approx(1)
    assert sum(found.p_in_top_cycle.values()) >= 1 - 1e-9
    again = ranking_posterior(design_of(log), log.arms, np.random.default_rng(0))
    assert again.cyclic_share == share  # by the seed


def test_a_larger_step_of_a_cycle_is_less_probable():
    _, log = world(8, 0.4, np.random.default_rng(3))
    chances = [check(log, quick=True, material=m).p_material_cycle for m in (0.55, 0.7, 0.9)]
    assert chances == sorted(chances, reverse=True) and chances[0] > chances[-1]


@pytest.mark.parametrize("wrong", [0.5, 1.0, "often", None])
def test_a_step_that_is_none_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="material should be"):
        check(bd.datasets.load("tennis1990"), quick=True, material=wrong)


def told(found, one, share, condorcet=0.5, material=0.5, top=("a",), uneven=0.0):
    weights = {"one score": one - uneven, "uneven ranking": uneven, "free residuals": 1 - one}
    mean, lower, upper = share
    return replace(
        found,
        model_weights=weights,
        cyclic_share=CyclicShare(mean=mean, lower=lower, upper=upper),
        p_condorcet_winner=condorcet,
        p_material_cycle=material,
        p_in_top_cycle={arm: 0.9 if arm in top else 0.1 for arm in "abc"},
    )


def test_words_are_about_size():
    log = log_with(WORLDS["ordered"])
    design = design_of(bd.Duels.from_wins([[0, 3, 2], [1, 0, 4], [2, 1, 0]]))
    found = ranking_posterior(design, ("a", "b", "c"), np.random.default_rng(0))
    assert log.n_arms == K
    sure = told(found, 0.97, (0.001, 0.0, 0.02), 0.99, 0.001)
    assert "scores explain at least 98 % of what decides" in headline_words(sure)
    assert advice_words(sure).startswith("Use the ranking")
    uneven = told(found, 0.97, (0.2, 0.1, 0.3), 0.99, 0.001, uneven=0.9)
    assert "margins differ from pair to pair: scores explain between 70 and 90 %" in (
        headline_words(uneven)
    )
    unknown = told(found, 0.54, (0.1, 0.0, 0.29))
    assert headline_words(unknown) == (
        "The log cannot tell whether there is one ranking (probability 54 %): scores explain "
        "between 71 and 100 % of what decides these duels."
    )
    none = told(found, 0.001, (0.13, 0.11, 0.14), 0.26, 0.97, top=("a", "b", "c"))
    assert headline_words(none).startswith("13 % [11, 14] of what decides these duels is not in")
    assert size_words(none).startswith("No arm beats all others with probability 74 %.")
    assert "a, b and c" in size_words(none)
    assert "A single ranking is not appropriate" in advice_words(none)
    open_one = told(found, 0.5, (0.1, 0.0, 0.29), 0.87, top=())
    assert size_words(open_one).startswith("Some arm beats every other with probability 87 %")
    small = told(found, 0.001, (0.13, 0.11, 0.14), 0.99, 0.01)
    assert size_words(small).startswith("a beats every other arm with probability 90 %.")
    assert advice_words(small).startswith("A ranking is a fair summary")
