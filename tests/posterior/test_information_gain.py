"""What the next duel would teach, against entropies worked out by hand."""

import numpy as np
import pytest
import xarray as xr

from bayesduel.policies import InformationGain
from bayesduel.policies.information_gain import information, possible_duels
from bayesduel.posterior.information_gain import _candidates, next_pairs
from bayesduel.posterior.mutual_information import information_about_questions
from tests.support.drawn_by_hand import matrix_draws


def entropy(*p: float) -> float:
    return float(-sum(x * np.log2(x) for x in p if x > 0))


def tree(model: str, wins=None, ties=None, **posterior: np.ndarray) -> xr.DataTree:
    """Return a fit with these draws, and these wins and ties so far."""
    if "score" in posterior:
        n_arms = posterior["score"].shape[1]
    else:
        n_arms = round((1 + np.sqrt(1 + 8 * posterior["theta"].shape[1])) / 2)
    labels = [chr(ord("a") + k) for k in range(n_arms)]
    dims = {"score": ("arm",), "theta": ("pair",)}
    data = {n: (("chain", "draw", *dims.get(n, ())), v[None]) for n, v in posterior.items()}
    wins, ties = (np.zeros((n_arms, n_arms)) if x is None else np.array(x) for x in (wins, ties))
    square = ("arm", "opponent")
    fit = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(data, coords={"arm": labels}),
            "constant_data": xr.Dataset({"wins": (square, wins), "ties": (square, ties)}),
        }
    )
    n = len(next(iter(posterior.values())))
    fit.attrs.update(model=model, model_settings="{}", importance_ess=float(n))
    return fit


def test_two_hypotheses():
    """The pair is 0.8 or 0.2, as likely: one duel is a binary channel with error 0.2."""
    theta = np.array([[0.8], [0.2]] * 500)
    fit = tree("preference-matrix", [[0, 3], [2, 0]], [[0, 1], [1, 0]], theta=theta)
    for about in ("scores", "winner"):
        row = next_pairs(fit, about=about).iloc[0]
        assert row["bits"] == pytest.approx(1 - entropy(0.8, 0.2))
        assert (row["first"], row["second"], row["duels"]) == ("a", "b", 6)
        assert row["preference_mean"] == pytest.approx(0.5)
        assert (row["preference_lower"], row["preference_upper"]) == (0.2, 0.8)


def test_winner_and_scores_ask_different_things():
    # a v b decides who wins; c v d is as uncertain and decides nothing; all else is known.
    draws = np.arange(800)
    theta = np.full((800, 6), 1.0 - 1e-9)  # pairs ab ac ad bc bd cd
    theta[:, 0] = np.where(draws % 2, 0.7, 0.3)
    theta[:, 5] = np.where(draws // 2 % 2, 0.9, 0.1)
    fit = tree("preference-matrix", theta=theta)
    first, *rest = next_pairs(fit, 6, about="winner").itertuples()
    assert (first.first, first.second) == ("a", "b")
    assert first.bits == pytest.approx(1 - entropy(0.7, 0.3))
    assert max(row.bits for row in rest) < 1e-6
    first, second, *rest = next_pairs(fit, 6, about="scores").itertuples()
    assert (first.first, first.second) == ("c", "d")
    assert first.bits == pytest.approx(1 - entropy(0.9, 0.1))
    assert second.bits == pytest.approx(1 - entropy(0.7, 0.3))
    assert max(row.bits for row in rest) < 1e-6


def test_a_tie_is_an_outcome_too():
    score = np.array([[1.0, -1.0], [-1.0, 1.0]] * 300)
    fit = tree("davidson", score=score, tie=np.zeros(600))
    weights = np.array([np.e, 1.0, 1 / np.e])
    p = weights / weights.sum()
    mixed = np.array([(p[0] + p[2]) / 2, p[1], (p[0] + p[2]) / 2])
    for about in ("scores", "winner"):
        bits = next_pairs(fit, about=about)["bits"].iloc[0]
        assert bits == pytest.approx(entropy(*mixed) - entropy(*p), abs=1e-6)


def test_information_about_the_winner_by_enumeration():
    rng = np.random.default_rng(0)
    support = rng.normal(size=(4, 3))  # four equally likely worlds of three scores
    fit = tree("bradley-terry", score=np.tile(support, (5000, 1)))
    found = next_pairs(fit, 3, about="winner")
    best = support.argmax(1)
    for row in found.itertuples():
        i, j = "abc".index(row.first), "abc".index(row.second)
        p = 1 / (1 + np.exp(support[:, j] - support[:, i]))
        bits = entropy(p.mean(), 1 - p.mean())
        for a in np.unique(best):
            q = p[best == a].mean()
            bits -= (best == a).mean() * entropy(q, 1 - q)
        assert row.bits == pytest.approx(bits, abs=1e-4)  # corrected for 20,000 draws


@pytest.mark.plain
def test_the_policy_by_information_gain_has_the_same_estimate():
    """20,000 draws of four worlds: the correction, which the policy lacks, is next to nothing."""
    score = np.tile(np.random.default_rng(0).normal(size=(4, 3)), (5000, 1))
    memory = InformationGain().init(3)
    nats = information(score, *possible_duels(score, memory), memory)
    for row in next_pairs(tree("bradley-terry", score=score), 3, about="winner").itertuples():
        i, j = sorted(("abc".index(row.first), "abc".index(row.second)), reverse=True)
        assert nats[i, j] / np.log(2) == pytest.approx(row.bits, abs=1e-4)


@pytest.mark.plain
def test_information_about_questions_by_entropies():
    """Means given an answer from near the mean of all draws to certain, and questions decided."""
    rng = np.random.default_rng(1)
    chance = np.vstack([rng.random((6, 400)), 0.3 + 0.001 * rng.random((6, 400))])
    answer = (rng.random((400, 5)) < [0.0, 0.05, 0.5, 0.9, 1.0]).astype(float)
    chance[0], chance[1] = answer[:, 2], 0.0  # an outcome that is an answer; one that is certain
    bits = np.zeros(12)
    for row, p in enumerate(chance):
        for yes in answer.T.astype(bool):
            bits[row] += entropy(p.mean(), 1 - p.mean())
            for given in (p[yes], p[~yes]):
                if given.size:
                    bits[row] -= given.size / 400 * entropy(given.mean(), 1 - given.mean())
    found = information_about_questions(chance, answer) / np.log(2)
    np.testing.assert_allclose(found, bits, rtol=1e-5, atol=1e-14)


def test_noise_is_not_taken_for_information():
    """Twenty possible winners in 2,000 draws, and 15 pairs that know nothing of them.

    Uncorrected, the estimate of such a pair is on average (19 / 2,000) / (2 ln 2) times the
    variance of p over p (1 - p), here a third: 0.0023 bits, with standard deviation
    sqrt(2 / 19) times that. Corrected it is zero on average, and what is below zero is cut.
    """
    rng = np.random.default_rng(1)
    n, n_arms = 2000, 26
    theta = np.full((n, n_arms * (n_arms - 1) // 2), 0.9)  # u to z lose to all of a to t
    winner = rng.integers(0, 20, n)
    for k, (i, j) in enumerate(zip(*np.triu_indices(n_arms, 1), strict=True)):
        if j < 20:  # the winner of the draw beats the others, who tie
            theta[:, k] = 0.5 + 1e-6 * ((winner == i) * 1.0 - (winner == j))
        elif i >= 20:
            theta[:, k] = rng.uniform(size=n)
    frame = next_pairs(tree("preference-matrix", theta=theta), 1000, about="winner")
    below = frame[(frame["first"] > "t") & (frame["second"] > "t")]
    assert len(below) == 15
    assert below["bits"].mean() < 0.0023 / 2


def test_auto_asks_for_the_winner_until_there_is_one():
    rng = np.random.default_rng(2)
    score = np.array([1.0, 0.9, -1.0]) + 0.3 * rng.normal(size=(1000, 3))
    assert next_pairs(tree("bradley-terry", score=score)).attrs["about"] == "winner"
    score[:, 0] += 2
    assert next_pairs(tree("bradley-terry", score=score)).attrs["about"] == "scores"
    level = 1e-3 * rng.normal(size=(1000, 3))  # a tie in practice settles it too
    assert next_pairs(tree("bradley-terry", score=level)).attrs["about"] == "scores"
    theta = np.full((100, 3), 0.9)
    assert next_pairs(tree("preference-matrix", theta=theta)).attrs["about"] == "scores"
    theta[:50] = 0.1
    assert next_pairs(tree("preference-matrix", theta=theta)).attrs["about"] == "winner"


def test_relabelling_commutes():
    rng = np.random.default_rng(3)
    score = rng.normal(size=(400, 4))
    order = [2, 0, 3, 1]
    for about in ("winner", "scores"):
        one = next_pairs(tree("bradley-terry", score=score), 6, about=about)
        two = next_pairs(tree("bradley-terry", score=score[:, order]), 6, about=about)
        names = {"abcd"[k]: "abcd"[place] for place, k in enumerate(order)}
        bits = {frozenset((r.first, r.second)): r.bits for r in two.itertuples()}
        for row in one.itertuples():
            same = bits[frozenset((names[row.first], names[row.second]))]
            assert same == pytest.approx(row.bits, abs=1e-12)


def test_all_pairs_at_most_and_the_best_first():
    fit = tree("bradley-terry", score=np.random.default_rng(4).normal(size=(100, 4)))
    frame = next_pairs(fit, 50, about="scores")
    assert len(frame) == 6
    assert (np.diff(frame["bits"]) <= 0).all()
    assert len(next_pairs(fit, 2)) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n should be a whole number >= 1, got 0"),
        ({"n": 2.5}, "got 2.5"),
        ({"about": "loser"}, "about should be 'winner', 'scores' or 'auto', got 'loser'"),
    ],
)
def test_bad_arguments_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        next_pairs(tree("bradley-terry", score=np.zeros((10, 3))), **options)


def test_what_is_no_fit_is_refused():
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        next_pairs("fit.nc")


def test_a_group_that_is_rarely_beaten_by_more_than_the_rope_settles_who_wins():
    """a and b are level but for one draw of fifty; c loses to both."""
    P = np.tile([[0.5, 0.5, 0.9], [0.5, 0.5, 0.8], [0.1, 0.2, 0.5]], (50, 1, 1))
    P[7, 0, 1], P[7, 1, 0] = 0.7, 0.3
    share, settled = _candidates(matrix_draws(P), rope=0.05, confidence=0.95)
    assert settled
    np.testing.assert_allclose(share.sum(axis=0), [25.5, 24.5, 0])
    assert not _candidates(matrix_draws(P), rope=0.05, confidence=0.99)[1]
