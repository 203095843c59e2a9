"""Held-out calibration: folds, bins, and predictions refitted by hand."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

import bayesduel as bd
from bayesduel.criticism.calibration import Calibration, _bins, _design_effect, held_out
from bayesduel.criticism.cross_validation import cut, rows_of
from bayesduel.data.duels import Duels
from bayesduel.inference.earlier_scales import EarlierScales
from bayesduel.intervals import wilson
from tests.support.simulated_logs import outcomes_of


def simulated(n_arms: int, n_each: int, seed: int) -> Duels:
    """Return a Bradley-Terry log in which every pair meets `n_each` times."""
    rng = np.random.default_rng(seed)
    score = np.linspace(-1.2, 1.2, n_arms)
    first, second = np.triu_indices(n_arms, 1)
    won = rng.binomial(n_each, expit(score[first] - score[second]))
    wins = np.zeros((n_arms, n_arms))
    wins[first, second], wins[second, first] = won, n_each - won
    return Duels.from_wins(wins)


def test_folds_share_out_every_duel_evenly():
    log = bd.datasets.load("springall")
    rows, unit = rows_of(log)
    assert unit == "duel"
    parts = cut(rows, unit, 7, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sum(parts, axis=0), rows[2:5])
    sizes = [int(part.sum()) for part in parts]
    assert sum(sizes) == log.n_duels and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("role", ["judge", "group"])
def test_repeated_votes_are_held_out_together(role):
    left, right, label = list("aabbab") * 3, list("bbaacc") * 3, list("xxxyyy") * 3
    log = Duels.from_votes(left, right, [1, 1, 0, 1, 0, 1] * 3, **{role: label})
    rows, unit = rows_of(log)
    assert unit == f"pair and {role}"
    want = {}  # (pair, label) -> votes
    for a, b, x in zip(left, right, label, strict=True):
        key = (min(a, b), max(a, b), x)
        want[key] = want.get(key, 0) + 1
    assert sorted(np.bincount(rows[5], rows[2:5].sum(0))) == sorted(want.values())
    parts = cut(rows, unit, 3, np.random.default_rng(0))
    held = np.stack([np.bincount(rows[5], part.sum(0)) > 0 for part in parts])
    np.testing.assert_array_equal(held.sum(0), 1)  # each unit in one fold, whole
    np.testing.assert_array_equal(np.sum(parts, axis=0), rows[2:5])


def test_units_by_hand_are_correlated_by_a_third():
    """Four units of two duels, won 0, 1, 1 and 2 at p = 1/2.

    Squared deviations sum to 2, times 4 / 3 for the mean; without correlation to 4 x 2 / 4 = 2;
    so rho is 2 / 3 over 4 x 2 x 1 / 4, and the variance of the mean is 1 + rho (2 - 1) as large.
    """
    zero, two = np.zeros(4, dtype=int), np.full(4, 2)
    effect, rho = _design_effect(zero, np.arange(4), np.array([0.0, 1, 1, 2]), two, np.full(1, 0.5))
    assert rho == pytest.approx(1 / 3)
    assert effect == pytest.approx([4 / 3])


def test_votes_that_repeat_nothing_are_held_out_one_by_one():
    log = Duels.from_votes("abc", "bca", [1, 0, 1], judge=["x", "y", "z"])
    assert rows_of(log)[1] == "duel"


def test_bins_by_hand():
    """Two bins: 20 duels predicted 0.6 of which 8 won, 20 predicted 0.9 of which 18 won."""
    found = _bins(np.array([0.9, 0.6, 0.6]), np.array([18.0, 5.0, 3.0]), np.array([20, 12, 8]))
    np.testing.assert_allclose(found["predicted"], [0.6, 0.9])
    np.testing.assert_allclose(found["observed"], [0.4, 0.9])
    np.testing.assert_array_equal(found["n"], [20, 20])
    # Wilson's interval for 8 of 20 and 18 of 20, from any table of it
    np.testing.assert_allclose(found["lower"], [0.2188, 0.6990], atol=1e-4)
    np.testing.assert_allclose(found["upper"], [0.6134, 0.9721], atol=1e-4)


def test_winners_listed_first_are_in_the_bin_of_those_listed_second():
    """Of one prediction, whichever side a log lists first: else a bin would hold wins alone."""
    half = np.full(40, 20)
    found = _bins(np.tile([0.6, 0.6 + 1e-16], 20), np.tile([20.0, 0.0], 20), half)
    assert found["n"].tolist() == [800] and found["observed"] == pytest.approx([0.5])
    wins = np.array([[0, 60, 80], [40, 0, 60], [20, 40, 0]])
    i, j = np.nonzero(wins)
    first = Duels.from_votes(i, j, [1] * 6, weight=wins[i, j])
    assert held_out(first, draws=400).inside >= 8


def test_the_error_of_the_log_loss_is_that_of_single_duels():
    """Not of rows: a pair that met 600 times is 600 duels."""
    log = Duels.from_wins([[0, 480], [120, 0]])
    found = held_out(log, draws=400)
    p = 0.8
    spread = np.sqrt(p * (1 - p)) * np.log(p / (1 - p))  # of the log loss of one duel
    assert found.log_loss_error == pytest.approx(spread / np.sqrt(600), rel=0.05)


def test_bins_widen_by_the_error_of_their_predictions():
    """One bin of 30 duels predicted 0.6, in two folds of 10 and 20; their draws vary apart."""
    p, won, n = np.full(2, 0.6), np.array([7.0, 11.0]), np.array([10, 20])
    drawn = [np.array([[0.5], [0.7]]), np.array([[0.55], [0.65]])]  # variances 0.02 and 0.005
    found = _bins(p, won, n, spread=drawn)
    worth = 30 / (1 + (0.02 / 9 + 0.005 * 4 / 9) * 30 / 0.24)
    lower, upper = wilson(0.6 * worth, worth)
    assert found["lower"] == pytest.approx([lower], rel=1e-6)
    assert found["upper"] == pytest.approx([upper], rel=1e-6)


def test_predictions_are_those_of_a_fit_of_the_other_folds():
    log = simulated(4, 30, seed=1)
    found = held_out(log, folds=3, draws=400, seed=9)
    rows, unit = rows_of(log)
    parts = cut(rows, unit, 3, np.random.default_rng(9))
    total = 0.0
    for held in parts:
        rest = rows[2:5] - held
        wins = np.zeros((4, 4))
        np.add.at(wins, (rows[0], rows[1]), rest[0])
        np.add.at(wins, (rows[1], rows[0]), rest[1])
        fit = bd.fit(Duels.from_wins(wins, log.arms), method="laplace", draws=400, seed=9)
        arms = np.array(log.arms)
        p = bd.predict(fit, arms[rows[0]], arms[rows[1]])["win"].values
        total -= (held[0] * np.log(p) + held[1] * np.log1p(-p)).sum()
    assert found.log_loss == pytest.approx(total / log.n_duels, rel=1e-9)
    assert found.folds == 3 and int(found.n.sum()) == log.n_duels


def test_a_true_model_keeps_its_word():
    """On a log that Bradley-Terry made, 95 % intervals miss no more than chance lets them.

    Ten bins, each missing with probability near 0.05: more than k misses have probability
    below 1e-6 for the k below. (Predictions are fitted, which only helps.)
    """
    log = simulated(8, 150, seed=2)
    found = held_out(log, draws=400)
    allowed = int(binom.isf(1e-6, len(found.n), 0.05))
    assert len(found.n) == 10 and len(found.n) - found.inside <= allowed < 7
    assert "better than predicting 1/2" in found.sentence
    assert found.log_loss < np.log(2) - 2 * found.log_loss_error
    assert (found.predicted >= 0.5).all() and (np.diff(found.predicted) > 0).all()


def test_a_ranking_does_not_predict_a_cycle():
    wins = np.array([[0, 45, 5], [5, 0, 45], [45, 5, 0]])
    found = held_out(Duels.from_wins(wins), draws=400)
    assert "better than predicting 1/2" not in found.sentence
    loose = held_out(Duels.from_wins(wins), "preference-matrix", draws=400)
    assert loose.log_loss < 0.45  # entropy of 0.9 is 0.325
    assert "better than predicting 1/2" in loose.sentence


def test_ties_count_half():
    log = bd.datasets.load("chess3")
    found = held_out(log, folds=2, draws=200)
    assert int(found.n.sum()) == 365
    davidson = held_out(log, "davidson", folds=2, draws=200)
    assert davidson.log_loss == pytest.approx(found.log_loss, abs=0.02)


def test_same_seed_same_result():
    log = simulated(4, 20, seed=3)
    first, again = (held_out(log, folds=2, draws=200, seed=1) for _ in range(2))
    assert first.log_loss == again.log_loss
    np.testing.assert_array_equal(first.observed, again.observed)


def test_bad_input():
    log = simulated(4, 20, seed=3)
    for folds in (1, 0, 2.5, True):
        with pytest.raises(ValueError, match=rf"folds should be a whole number >= 2, got {folds}"):
            held_out(log, folds=folds)
    with pytest.raises(ValueError, match="two duels or more to hold one out, got 1"):
        held_out(Duels.from_votes("a", "b", [1]))


def test_few_duels_tell_nothing():
    """Better than predicting 1/2 by far more than the error is said of 30 duels, not of 29."""
    bin_ = {k: np.array([0.8]) for k in ("predicted", "observed", "lower", "upper")}
    rest = {"log_loss": 0.4, "log_loss_error": 0.01, "folds": 5, "unit": "duel"}
    few, enough = (Calibration(**bin_, n=np.array([n]), **rest) for n in (29, 30))
    assert "too few for a comparison" in few.sentence
    assert "30 duels held out in 5 folds: better than predicting 1/2." in enough.sentence


def test_so_few_bins_inside_that_chance_does_not_explain_it_are_told():
    def told(inside):
        near = np.arange(10) < inside
        return Calibration(
            predicted=np.where(near, 0.6, 0.9), observed=np.full(10, 0.6),
            lower=np.full(10, 0.5), upper=np.full(10, 0.7), n=np.full(10, 40),
            log_loss=0.6, log_loss_error=0.01, folds=5, unit="duel",
        ).sentence  # fmt: skip

    assert "In 6 of 10 bins" in told(6)
    assert told(6).endswith("fewer than chance explains: the predictions are not calibrated.")
    assert told(7).endswith("inside the interval of the observed share.")


def test_a_log_of_ties_is_a_coin():
    log = Duels.from_wins(np.zeros((3, 3)), ties=10 * (1 - np.eye(3)))
    found = held_out(log, folds=2, draws=200)
    assert found.log_loss == pytest.approx(np.log(2), abs=2e-3)
    assert "not distinguishable from predicting 1/2" in found.sentence


def ordered_log(role=None, seed=0):
    """Equal items, a left side that wins four of five; three judges if asked for."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 900))
    keep = first != second
    first, second = first[keep], second[keep]
    arms = np.array([f"i{k}" for k in range(6)])
    won = (rng.random(len(first)) < 0.8).astype(float)
    extra = {} if role is None else {role: rng.choice(["x", "y", "z"], len(first))}
    return Duels.from_votes(arms[first], arms[second], won, **extra)


@pytest.mark.parametrize(
    "role", ["judge", *(pytest.param(r, marks=pytest.mark.slow) for r in (None, "group"))]
)
def test_the_advantage_of_the_left_side_is_held_out_with_its_side(role):
    """It is all there is to know: the log loss is the entropy of 4 in 5, not ln 2."""
    from bayesduel.models import BradleyTerry, Covariates, SideAdvantage

    log = ordered_log(role)
    table = {"item": [f"i{k}" for k in range(6)], "x": np.arange(6.0)}
    import pandas as pd

    items = bd.read_items(pd.DataFrame(table))
    rows, unit = rows_of(log)
    first, second = np.array(log.cells.left), np.array(log.cells.right)
    wins = np.zeros((6, 6))
    np.add.at(wins, (rows[0], rows[1]), rows[2])
    told = np.zeros((6, 6))
    told[first, second] = log.cells.left_wins
    np.testing.assert_array_equal(wins, told)  # the sides are those of the votes
    parts = cut(rows, unit, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sum(parts, axis=0), rows[2:5])
    if role is not None:  # both orders of a unit are in one fold
        fold = np.stack([part.sum(0) > 0 for part in parts]).argmax(axis=0)
        assert all(len(set(fold[rows[5] == u])) == 1 for u in np.unique(rows[5]))
    plain = BradleyTerry(Covariates(items))
    with_order = held_out(log, plain + SideAdvantage(), folds=4, draws=400)
    without = held_out(log, plain, folds=4, draws=400)
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    # The sample's own share differs by a standard error of 0.014: 0.02 nats; four of them.
    assert abs(with_order.log_loss - entropy) < 0.08
    assert without.log_loss > with_order.log_loss + 0.1


# -- every layer is held out -----------------------------------------------------------------


def layered_log(seed: int, kind: str) -> Duels:
    """Equal arms whose duels depend on a covariate or on the time, or arms of unequal judges."""
    rng = np.random.default_rng(seed)
    left, right = (np.tile(x, 40) for x in np.triu_indices(6, 1))
    time, judge = np.repeat(np.arange(40.0), 15), np.repeat(np.arange(40), 15)
    x = rng.choice([-1.0, 1.0], len(left))
    score = np.linspace(-1, 1, 6)
    chance = {
        "covariate": expit(2 * x),
        "time": expit(2 * np.where(time < 20, -1, 1) * (score[left] - score[right])),
        "judge": np.where(judge < 20, expit(3 * (score[left] - score[right])), 0.5),
    }[kind]
    outcome = (rng.random(len(left)) < chance).astype(float)
    more = {
        "covariate": {"covariates": {"x": x}},
        "time": {"time": time},
        "judge": {"judge": judge},
    }
    return Duels.from_votes(left, right, outcome, **more[kind])


def test_covariates_of_the_duel_are_held_out_with_their_duel():
    """They are all there is to know: the log loss is the entropy of expit(2), not ln 2."""
    from bayesduel.models import BradleyTerry, Covariates, Scores

    log = layered_log(1, "covariate")
    found = held_out(log, BradleyTerry(Scores() + Covariates(["x"])), folds=3, draws=200)
    share = expit(2.0)
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert abs(found.log_loss - entropy) < 4 * found.log_loss_error
    assert held_out(log, folds=3, draws=200).log_loss > np.log(2) - 0.01


def test_predictions_of_votes_are_those_of_a_fit_of_the_other_folds():
    """By hand: each vote with its own covariate, by the fit of the votes of the other folds."""
    from bayesduel.models import BradleyTerry, Covariates, Scores

    log = layered_log(2, "covariate")
    model = BradleyTerry(Scores() + Covariates(["x"]))
    found = held_out(log, model, folds=2, draws=200, seed=3)
    rows, unit = rows_of(log, by_vote=True)
    assert (unit, found.unit) == ("vote", "duel")
    votes, arms, total = log.votes, np.array(log.arms), 0.0
    for held in cut(rows, unit, 2, np.random.default_rng(3)):
        out = held.sum(0) > 0
        rest = Duels.from_votes(
            arms[votes.left[~out]],
            arms[votes.right[~out]],
            (votes.outcome[~out] + 1) / 2,
            covariates={"x": votes.covariates[~out, 0]},
            arms=log.arms,
        )
        fit = bd.fit(rest, model.settled(log), method="laplace", draws=200, seed=3)
        posterior = fit.duel.posterior("model")
        score, slope = posterior["score"], posterior["covariate_effect"]
        eta = score[:, votes.left[out]] - score[:, votes.right[out]]
        p = expit(eta + slope * votes.covariates[out, 0]).mean(0)
        total -= np.where(votes.outcome[out] > 0, np.log(p), np.log1p(-p)).sum()
    assert found.log_loss == pytest.approx(total / len(votes), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["time", "judge"])
def test_times_and_judges_are_held_out_with_their_duel(kind):
    """What a layer knows of the time or of the judge of a vote makes its prediction better."""
    from bayesduel.models import BradleyTerry, JudgeReliability, TimeVarying

    log = layered_log(3, kind)
    layer = {
        "time": BradleyTerry() + TimeVarying(periods=4),
        "judge": BradleyTerry() + JudgeReliability(),
    }[kind]
    with_layer = held_out(log, layer, folds=2, draws=200)
    without = held_out(log, folds=2, draws=200)
    assert with_layer.log_loss < without.log_loss - 0.03
    assert int(with_layer.n.sum()) == log.n_duels


CROSSED = {
    "win": "bradley-terry",
    "probit": "thurstone",
    "tie": "davidson",
    "grade": "cumulative-logit",
}
FAST = {("tie", True), ("win", False)}  # a kind, and whether a fit is given


def crossed_log(kind: str, n: int = 300) -> Duels:
    """Return votes of four arms with five prompts, eight judges and a side advantage."""
    rng = np.random.default_rng(3)
    by_prompt = np.linspace(-1, 1, 4) + rng.normal(0, 0.6, (5, 4))
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    prompt = rng.integers(0, 5, n)
    ahead = by_prompt[prompt, left] - by_prompt[prompt, right] + 0.2
    points, given = outcomes_of(kind, ahead + rng.logistic(size=n), tied=0.7)
    names = np.array(list("abcd"))
    judge = rng.integers(0, 8, n).astype(str)
    return Duels.from_votes(
        names[left], names[right], points, judge=judge, group=prompt.astype(str), **given
    )


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        # ten seconds each; other tests predict by each of these responses
        pytest.param(kind, given, marks=[] if (kind, given) in FAST else pytest.mark.slow)
        for kind, given in product(CROSSED, (True, False))
    ],
)
def test_scales_of_the_whole_log_predict_as_those_of_each_fold(kind, given, monkeypatch):
    """Ties, prompts, judges and a side advantage, as if no weights could certify the draws."""
    log = crossed_log(kind)
    model = f"{CROSSED[kind]} + order + random:group + random:judge"
    expected = held_out(log, model, folds=2, draws=400)
    fit = bd.fit(log, model, seed=1) if given else None
    made = []
    of = EarlierScales.of
    monkeypatch.setattr("bayesduel.criticism.calibration.WEIGHED", 20)
    monkeypatch.setattr(EarlierScales, "of", lambda *a: made.append(of(*a)) or made[-1])
    found = held_out(log, model, folds=2, draws=400, fit=fit)
    assert len(made) == 2
    assert found.log_loss == pytest.approx(expected.log_loss, abs=0.01)
    assert found.log_loss_error == pytest.approx(expected.log_loss_error, rel=0.1)


def test_a_fold_without_a_mode_is_an_error_that_a_report_names(monkeypatch):
    def without_mode(*_):
        raise FloatingPointError("Newton's method found no ascent")

    log = crossed_log("tie")
    model = "davidson + random:group + random:judge"
    fit = bd.fit(log, model, seed=1)
    monkeypatch.setattr("bayesduel.criticism.calibration.WEIGHED", 20)
    monkeypatch.setattr(EarlierScales, "of", without_mode)
    with pytest.raises(ValueError, match="a part of the log have no fit: Newton's method"):
        held_out(log, model, folds=2, draws=400, fit=fit)
