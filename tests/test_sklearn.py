"""The ranker of scikit-learn: its own checks, and the same answers as the package's front door."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import bayesduel as bd
from bayesduel.sklearn import PairwiseRanker

ARMS = np.array(["ash", "beech", "cedar", "elm"])
STRENGTH = np.array([1.5, 0.5, 0.0, -1.0])
EFFECT = 0.8  # of the covariate
N = 240

SELF = "its arms are numbers from 0 to 3, so that an arm meets itself, which is no duel"
ONE = "a covariate of a single duel does not vary, and one duel without it is enough"
UNKNOWN = "an arm all of whose rows have weight 0 is not in the fit"
EXPECTED = dict.fromkeys(
    (
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_one_label",
        "check_classifiers_one_label_sample_weights",
        "check_classifiers_train",
        "check_dict_unchanged",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
        "check_supervised_y_2d",
    ),
    SELF,
) | {"check_fit2d_1sample": ONE, "check_sample_weight_equivalence_on_dense_data": UNKNOWN}


def played(outcome, covariate):
    rng = np.random.default_rng(0)
    left = rng.integers(0, 4, N)
    right = (left + rng.integers(1, 4, N)) % 4
    x = rng.normal(size=N)
    odds = STRENGTH[left] - STRENGTH[right] + EFFECT * x * covariate
    won = rng.random(N) < 1 / (1 + np.exp(-odds))
    words = np.where(won, "left", "right").astype(object)
    if outcome == "ties":
        words[rng.random(N) < 0.2] = "tie"
    values = {"numbers": won.astype(int), "flags": won, "words": words, "ties": words}
    return ARMS[left], ARMS[right], x, words, values[outcome]


def table(container, left, right, x, covariate):
    columns = {"home": left, "away": right} if container == "home" else {"a": left, "b": right}
    frame = pd.DataFrame(columns | ({"longer": x} if covariate else {}))
    return frame.to_numpy(dtype=object) if container == "array" else frame


@pytest.mark.parametrize("container", ["array", "frame", "home"])
@pytest.mark.parametrize("outcome", ["numbers", "flags", "words", "ties"])
@pytest.mark.parametrize("covariate", [False, True])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.sampled(6)
def test_the_ranker_says_what_a_fit_of_the_same_log_says(container, outcome, covariate, judged):
    left, right, x, words, y = played(outcome, covariate)
    X = table(container, left, right, x, covariate)
    judge = np.arange(N) % 12 if judged else None
    ranker = PairwiseRanker(draws=250).fit(X, y, judge=judge)
    chance = ranker.predict_proba(X)

    home, away = ("home", "away") if container == "home" else ("left", "right")
    if container == "frame":
        home, away = "a", "b"
    log = pd.DataFrame({home: left, away: right, "outcome": words})
    if covariate:
        log["longer"] = x
    if judged:
        log["judge"] = judge
    names = ["longer"] if covariate else []
    fit = bd.fit(bd.read_duels(log, covariates=names), draws=250)
    expected = bd.predict(fit, log)

    assert np.allclose(chance.sum(1), 1)
    of_class = dict(zip(ranker.classes_.tolist(), chance.T, strict=True))
    winner = {"numbers": 1, "flags": True}.get(outcome, "left")
    assert np.abs(of_class[winner] - expected["win"].to_numpy()).max() < 1e-9
    assert set(ranker.predict(X)) <= set(ranker.classes_)
    assert ranker.score(X, y) > 0.5
    assert bd.winners(ranker.fit_).attrs["verdict"] == bd.winners(fit).attrs["verdict"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("covariate", [False, True])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("outcome", ["numbers", "ties"])
def test_a_weight_says_how_many_identical_duels_a_row_is(outcome, covariate, judged):
    left, right, x, _, y = played(outcome, covariate)
    X = table("frame", left, right, x, covariate)
    weight = np.arange(N) % 4  # a quarter of them is left out
    judge = np.arange(N) % 12 if judged else None
    weighted = PairwiseRanker(draws=250).fit(X, y, judge=judge, sample_weight=weight)
    rows = np.repeat(np.arange(N), weight)
    judges = None if judge is None else judge[rows]
    repeated = PairwiseRanker(draws=250).fit(X.iloc[rows], y[rows], judge=judges)
    fitted = X[weight > 0]
    assert np.abs(weighted.predict_proba(fitted) - repeated.predict_proba(fitted)).max() < 1e-6


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(N, 0.5), r"should be whole numbers, .* got 0.5; .* sampling_weight="),
        (np.full(N, -1), "should be whole numbers, .* got -1"),
        (np.full(N, np.inf), "should be whole numbers, .* got inf"),
        (np.ones(3), f"should have a number per duel of X, {N}, got 3"),
    ],
    ids=["half", "negative", "infinite", "few"],
)
def test_a_weight_that_is_no_count_is_refused(weight, message):
    left, right, x, _, y = played("words", covariate=False)
    with pytest.raises(ValueError, match=message):
        PairwiseRanker().fit(table("frame", left, right, x, False), y, sample_weight=weight)


def test_it_passes_the_checks_of_scikit_learn_whose_rows_are_duels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            PairwiseRanker(draws=100), expected_failed_checks=EXPECTED, on_skip=None
        )
    status = {done["check_name"]: done["status"] for done in found}
    assert {name for name, word in status.items() if word == "xfail"} == set(EXPECTED)
    assert list(status.values()).count("passed") >= 35


@pytest.mark.filterwarnings("ignore::bayesduel.posterior.conditions.ExtrapolationWarning")
def test_cross_validation_searches_clones_and_pickles():
    left, right, x, _, y = played("numbers", covariate=True)
    X = table("frame", left, right, x, covariate=True)
    ranker = PairwiseRanker(draws=250)
    held_out = cross_val_score(ranker, X, y, scoring="neg_log_loss", cv=3)
    assert held_out.min() > -np.log(2)
    models = ["bradley-terry + covariate:longer", "thurstone + covariate:longer"]
    search = GridSearchCV(ranker, {"model": models}, cv=2).fit(X, y)
    best = search.best_estimator_
    assert best.fit_.attrs["model"].startswith(search.best_params_["model"].split()[0])
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict_proba(X), best.predict_proba(X))
    same = clone(best).fit(X, y)
    assert np.array_equal(same.predict_proba(X), best.predict_proba(X))


@pytest.mark.parametrize(
    ("X", "y", "rule"),
    [
        ([["a", "b"]] * 3, [0, 1, 2], "y should be 'left', 'right' and 'tie', or have two values"),
        ([["a"]] * 2, [0, 1], "minimum of 2 is required"),
        ([["a", "b"]] * 3, [0, 1], "y should have an outcome per duel of X, 3, got 2"),
    ],
)
def test_wrong_input_is_named(X, y, rule):
    with pytest.raises(ValueError, match=rule):
        PairwiseRanker().fit(X, y)


def test_an_unknown_arm_is_named_with_its_neighbour():
    ranker = PairwiseRanker(draws=100).fit([["GPT", "Claude"]] * 9, [0, 1, 1] * 3)
    with pytest.raises(ValueError, match="arms of the fit, got 'gpt'; did you mean 'GPT'"):
        ranker.predict([["gpt", "Claude"]])


def test_y_may_be_names_of_the_columns_of_X_but_not_labels_of_arms():
    rows = pd.DataFrame([("b", "a"), ("a", "b"), ("c", "a"), ("b", "c")] * 5)
    rows.columns = ["model_a", "model_b"]
    told = ["model_a", "model_b", "model_a", "model_a"] * 5
    ranker = PairwiseRanker(draws=200).fit(rows, told)
    chance = dict(zip(ranker.classes_, ranker.predict_proba(rows[:1])[0], strict=True))
    assert chance["model_a"] > 0.5  # b has won all its duels with a
    three = PairwiseRanker(draws=200).fit(rows, [*told[:-1], "tie"])
    assert [*three.classes_] == ["model_a", "model_b", "tie"]
    for won in (["b", "b", "c", "b"] * 5, ["a", "b"] * 10):
        with pytest.raises(ValueError, match=r"y should say which side won, .* got labels of arms"):
            PairwiseRanker().fit(rows, won)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        *(("A", "B"), ("first", "second"), ("l", "r"), ("model_a", "model_b"), ("W", "L")),
        *(("home", "away"), ("1", "2"), (1, 2), (1, 0), (1, -1), (1.0, 2.0), (True, False)),
        ("yes", "no"),
    ],
)
@pytest.mark.parametrize("tied", [False, True])
def test_y_is_read_as_a_log_is(left, right, tied):
    """A and B: before, the larger value was the left arm, and the worst arm "won"."""
    rng = np.random.default_rng(0)
    strength = {"good": 1.0, "fair": 0.0, "bad": -1.0}
    X = pd.DataFrame([rng.permutation(list(strength))[:2] for _ in range(150)])
    X.columns = ["left", "right"]
    ahead = X["left"].map(strength) - X["right"].map(strength) + rng.logistic(size=len(X))
    y = np.where(ahead > 0, left, right)
    if tied:
        if y.dtype.kind != "U" or left == "yes":
            return  # numbers and unknown words have two values
        y = np.where(abs(ahead) < 0.3, "tie", y.astype(object))
    ranker = PairwiseRanker(draws=100).fit(X, y)
    assert bd.winners(ranker.fit_)["arm"].values[0] in strength
    score = bd.scores(ranker.fit_)["rating"]
    assert score["good"] > score["fair"] > score["bad"]
    best = ranker.predict(pd.DataFrame({"left": ["good"], "right": ["bad"]}))[0]
    assert best == left


def test_labels_of_arms_that_are_codes_too_are_refused():
    X = [["A", "B"], ["B", "C"], ["C", "A"]] * 4
    with pytest.raises(ValueError, match="got labels of arms"):
        PairwiseRanker().fit(X, ["A", "B", "A"] * 4)
