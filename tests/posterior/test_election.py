"""Elections in draws known by hand."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bayesduel.intervals import eti
from bayesduel.models import (
    Bernoulli,
    BradleyTerry,
    Davidson,
    Model,
    Scores,
    SideAdvantage,
    Thurstone,
)
from bayesduel.models.response import DavidsonResponse
from bayesduel.posterior.draws import LARGEST, Draws
from bayesduel.posterior.election import hold_elections, pair_summary
from bayesduel.posterior.winners import winners
from bayesduel.preference import CRITERIA
from tests.support.drawn_by_hand import (
    CYCLE,
    LAST,
    LEVEL,
    ORDERED,
    beta_draws,
    matrix_draws,
    score_draws,
    tree,
)


def test_chances_of_all_pairs_follow_from_scores_beside_a_side_advantage():
    rng = np.random.default_rng(2)
    responses = Bernoulli("logit"), Bernoulli("probit"), DavidsonResponse()
    for response, far in product(responses, (0, 400)):  # weights of ties too large for odds
        score, tie = rng.normal(size=(40, 5)), np.append(far, rng.normal(size=39))
        draws = {"score": score, "order": np.ones(40), "tie": tie}
        asked = Draws(Model(response, Scores() + SideAdvantage()), draws, np.arange(5), 5)
        for i, j, apart, chances in asked.outcomes():
            np.testing.assert_allclose(apart, (draws["score"][:, i] - draws["score"][:, j]).T)
            given = asked.chances(slice(None), i, j)
            assert given.keys() == chances.keys() | {"loss"}
            for name, chance in chances.items():
                np.testing.assert_allclose(chance, given[name].T, atol=1e-15)


def test_four_elections_by_hand():
    found = hold_elections(matrix_draws(np.stack([ORDERED, CYCLE, LEVEL, LAST])), rope=0.02)
    probability = dict(zip(CRITERIA, found.probability, strict=True))
    share = dict(zip(CRITERIA, found.share, strict=True))
    # Condorcet: 0, nobody, nobody (an exact tie), 2.
    np.testing.assert_allclose(probability["condorcet"], [0.25, 0, 0.25])
    # Copeland: 0; all three; 0 and 1; 2.
    np.testing.assert_allclose(probability["copeland"], [0.75, 0.5, 0.5])
    np.testing.assert_allclose(share["copeland"] * 4, [1 + 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 4 / 3])
    # Borda: 0; all three; 0 (0.7 v 0.55); 2.
    np.testing.assert_allclose(probability["borda"], [0.75, 0.25, 0.5])
    # von Neumann: 0; a third each; half 0 and half 1 (any mixture of them is); 2.
    np.testing.assert_allclose(
        probability["von_neumann"] * 4, [1 + 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 4 / 3], atol=1e-9
    )
    np.testing.assert_allclose(found.support, [0.75, 0.5, 0.5])
    np.testing.assert_allclose(found.smith, [0.75, 0.5, 0.5])
    assert found.rank.tolist() == [[0, 1, 2], [0, 0, 0], [0, 1, 2], [2, 1, 0]]
    assert found.unbeaten.tolist() == [
        [True, False, False],
        [False, False, False],
        [True, True, False],
        [False, False, True],
    ]
    assert found.sole.tolist() == [
        [True, False, False],
        [False] * 3,
        [False] * 3,
        [False] * 2 + [True],
    ]
    for criterion in CRITERIA[1:]:
        np.testing.assert_allclose(share[criterion].sum(), 1)


def test_a_tie_may_count_half():
    # Copeland: 0 ties with 1 and beats 2; 1 beats 3 and ties with 0, loses to 2; ...
    P = np.full((4, 4), 0.5)
    for i, j in ((0, 2), (1, 2), (1, 3), (3, 0)):
        P[i, j], P[j, i] = 0.7, 0.3
    strict = hold_elections(matrix_draws(P[None]), 0.0).probability[1]
    half = hold_elections(matrix_draws(P[None]), 0.0, ties="half").probability[1]
    # strict: 0:1, 1:2, 2:0, 3:1; half: 0:1.5, 1:2.5, 2:0.5, 3:1.5
    assert strict.tolist() == half.tolist() == [0, 1, 0, 0]
    P[1, 3] = P[3, 1] = 0.5
    strict = hold_elections(matrix_draws(P[None]), 0.0).probability[1]
    half = hold_elections(matrix_draws(P[None]), 0.0, ties="half").probability[1]
    # strict: 0:1, 1:1, 3:1; half: 0:1.5, 1:2, 2:0.5, 3:2
    assert strict.tolist() == [1, 1, 0, 1]
    assert half.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("model", [BradleyTerry(), Thurstone(), Davidson()])
def test_scores_and_their_matrices_elect_alike(model):
    rng = np.random.default_rng(1)
    score = rng.normal(size=6) + 0.3 * rng.normal(size=(300, 6))
    more = {"tie": rng.normal(size=300)} if model.name == "davidson" else {}
    by_score = score_draws(score, model, **more)
    by_matrix = matrix_draws(model.preference({"score": score, **more}))
    one, two = hold_elections(by_score, 0.05), hold_elections(by_matrix, 0.05)
    for name in ("probability", "share", "support", "smith", "rank", "sole", "unbeaten"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9, err_msg=name)
    first, second = pair_summary(by_score, 0.9), pair_summary(by_matrix, 0.9)
    for name in ("mean", "lower", "upper", "beats", "borda"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-9)
    np.testing.assert_allclose(second.borda, two.borda)


def test_scores_far_apart_are_summarised_as_their_matrices_are():
    rng = np.random.default_rng(1)
    score = np.linspace(0, 2 * LARGEST, 6) + rng.normal(size=(300, 6))
    draws = score_draws(score)
    matrix = matrix_draws(draws.model.preference({"score": score}))
    for name in ("mean", "lower", "upper", "beats", "borda"):
        found, expected = (getattr(pair_summary(d, 0.9), name) for d in (draws, matrix))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_exactly_equal_scores_share_the_win():
    draws = score_draws(np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]))
    found = hold_elections(draws, 0.02)
    np.testing.assert_allclose(found.probability[:2], [[0.5, 0, 0], [1, 0.5, 0]])
    np.testing.assert_allclose(found.share[1], [0.75, 0.25, 0])
    beats = pair_summary(draws, 0.9).beats
    assert (beats[0, 1], beats[1, 0]) == (0.5, 0)  # where they are equal neither beats the other


def test_two_arms_against_the_beta_law():
    n, law = 20_000, stats.beta(1 + 7, 1 + 3)
    P = beta_draws(np.array([[0, 7], [3, 0]]), n, np.random.default_rng(2))
    w = winners(tree(matrix_draws(P)), k=1)
    truth = law.sf(0.5)
    allowed = stats.norm.isf(1e-6 / 2) * np.sqrt(truth * (1 - truth) / n)
    for criterion in CRITERIA:
        found = float(w["winner_probability"].sel(criterion=criterion, arm="a"))
        assert abs(found - truth) < allowed, criterion
    assert abs(float(w["beats_probability"].sel(arm="a", opponent="b")) - truth) < allowed
    # An order statistic of n draws: its rank under the law is Beta(k, n + 1 - k).
    level = law.cdf(float(w["preference_lower"].sel(arm="a", opponent="b")))
    k = int(n * 0.025) + 1
    assert stats.beta(k, n + 1 - k).cdf(level) == pytest.approx(0.5, abs=0.5 - 1e-6)


def test_intervals_are_symmetric_order_statistics():
    values = np.random.default_rng(3).permutation(np.arange(100.0))
    assert eti(values, 0.9) == (5.0, 94.0)
    assert eti(values[:1], 0.9) == (values[0], values[0])
