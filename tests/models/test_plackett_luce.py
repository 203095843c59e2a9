"""Plackett-Luce, against estimates that choix and statsmodels compute."""

import itertools

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.discrete.conditional_models import ConditionalLogit

import bayesduel as bd
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import BradleyTerry, Covariates, PlackettLuce, RandomEffects, SideAdvantage
from bayesduel.models.score_model import Scores
from tests.contracts.test_model_densities import agree, derivatives_are_exact

FULL = [
    list(word) for word in "abcd badc acbd abdc bacd cabd dabc abcd bcad acdb dbca cbad".split()
]
PARTIAL = [list(word) for word in "abc bd dac cbe ea aeb dec bac ed".split()]
BEST = [
    ["a", ["b", "c"]], ["b", ["a", "c", "d"]], ["a", ["b", "c", "d", "e"]], ["d", ["a", "b", "e"]],
    ["e", ["c", "d"]], ["c", ["d", "e"]], ["a", ["d", "e"]], ["d", "c"], ["b", "e"],
    ["c", ["a", "b"]],
]  # fmt: skip
BEST_WORST = [
    ["a", ["b", "c"], "d"], ["b", ["a", "d"], "e"], ["c", ["a", "b", "d"], "e"],
    ["a", ["c", "e"], "b"], ["e", ["a", "b"], "c"], ["d", ["a", "e"], "a1"], ["a1", "b"],
]  # fmt: skip
ITEMS = bd.read_items(
    pd.DataFrame({"item": list("abcde"), "u": [1.0, 0.2, -0.1, -1.0, 0.5], "v": [0.0, 1, 0, 2, 1]})
)
# choix 0.4.1, ilsr_rankings and ilsr_top1, tol=1e-12, less their mean.
CHOIX = {
    "full": [0.65459552, 0.39906984, -0.15794966, -0.8957157],
    "partial": [0.3868797, 0.3090225, -1.39472491, 0.40305715, 0.29576555],
    "best": [0.84212018, 0.2223644, -0.14334622, -0.15549572, -0.76564264],
}
LOGS = {"full": FULL, "partial": PARTIAL, "best": BEST, "best and worst": BEST_WORST}
WORTH = {
    "scores": Scores(),
    "known scale": Scores(1.2),
    "flat": Scores(np.inf),
    "items": Covariates(ITEMS),
    "attributes": Covariates(ITEMS, item_effect=False),
}


def rankings(kind):
    return bd.Rankings.from_orders(LOGS[kind])


@pytest.mark.parametrize("kind", CHOIX)
def test_maximum_likelihood_is_that_of_choix(kind):
    fit = bd.fit(rankings(kind), PlackettLuce(scale=np.inf), draws=200)
    np.testing.assert_allclose(fit["laplace"]["score_mode"], CHOIX[kind], atol=1e-6)


def test_maximum_likelihood_of_attributes_is_that_of_statsmodels():
    """A choice is one of a conditional logit; errors are the inverse of the same information."""
    log = bd.Rankings.from_orders(FULL * 3)
    fit = bd.fit(log, PlackettLuce(Covariates(ITEMS, scale=np.inf, item_effect=False)), draws=200)
    rows = []
    for k, order in enumerate(FULL * 3):
        for place in range(len(order) - 1):
            rows += [(arm, (k, place), n == 0) for n, arm in enumerate(order[place:])]
    arms, groups, chosen = zip(*rows, strict=True)
    table = ITEMS.matrix(arms)
    codes = pd.factorize(pd.MultiIndex.from_tuples(groups))[0]
    other = ConditionalLogit(np.array(chosen, int), table, groups=codes).fit(disp=False)
    np.testing.assert_allclose(fit["laplace"]["coefficient_mode"], other.params, atol=1e-4)
    np.testing.assert_allclose(fit["laplace"]["coefficient_se"], other.bse, rtol=1e-3)


@pytest.mark.parametrize(
    ("kind", "worth"),
    [
        pytest.param(*case, marks=pytest.mark.slow if n % 3 else [])
        for n, case in enumerate(itertools.product(LOGS, WORTH))
    ],
)
@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")
@pytest.mark.sampled(3)
def test_the_density_is_that_of_the_pm_model(kind, worth):
    if kind == "best and worst" and worth in ("items", "attributes"):
        kind = "partial"  # whose arms the table has
    log = rankings(kind)
    model = PlackettLuce(WORTH[worth]).settled(log)
    here = linear_predictor(model, model.cells(log))
    agree(here, log, 3)
    derivatives_are_exact(here, 3)


def test_rankings_of_all_orders_have_probability_one():
    score = np.array([0.9, -0.3, 0.1, -0.7])
    for form in (list, lambda p: [p[0], list(p[1:-1]), p[-1]]):
        made = [form(list(p)) for p in itertools.permutations("abcd")]
        log = bd.Rankings.from_orders(made)
        model = PlackettLuce()
        value = model.log_likelihood({"score": score[None]}, model.cells(log))[0]
        by_ranking = np.bincount(log.choices.ranking, value)
        if form is not list:  # each pair of best and worst stands twice
            by_ranking = by_ranking - np.log(2)
        assert np.exp(by_ranking).sum() == pytest.approx(1)


def test_the_probability_of_a_ranking_by_hand():
    weight = np.exp(score := np.array([0.9, -0.3, 0.1, -0.7]))
    log = bd.Rankings.from_orders([["b", "d", "a", "c"], ["a", ["b", "c"], "d"]], weight=[1, 2])
    model = PlackettLuce()
    value = model.log_likelihood({"score": score[None]}, model.cells(log))[0]
    a, b, c, d = weight
    ordered = b / (a + b + c + d) * d / (a + c + d) * a / (a + c)
    best = a / (a + b + c + d) * (1 / d) / (1 / b + 1 / c + 1 / d)
    found = np.bincount(log.choices.ranking, value)
    np.testing.assert_allclose(found, [np.log(ordered), 2 * np.log(best)])


def test_rankings_of_two_are_bradley_terry_duels():
    pairs = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"], ["b", "a"], ["c", "b"], ["a", "b"]]
    ranked = bd.fit(bd.Rankings.from_orders(pairs), draws=400, seed=3)
    first, second = zip(*pairs, strict=True)
    with pytest.warns(UserWarning):
        dueled = bd.fit(
            bd.Duels.from_votes(first, second, [1] * 7), BradleyTerry(), draws=400, seed=3
        )
    np.testing.assert_allclose(
        ranked["laplace"]["score_mode"], dueled["laplace"]["score_mode"], atol=1e-8
    )
    np.testing.assert_allclose(
        ranked["posterior"]["score"].mean(("chain", "draw")),
        dueled["posterior"]["score"].mean(("chain", "draw")),
        atol=0.02,
    )


def test_places_are_drawn_as_the_model_says():
    """Shares of who is first, last and worst, within five standard errors."""
    rng, score = np.random.default_rng(1), np.array([0.8, 0.0, -0.5])
    log = bd.Rankings.from_orders([["a", "b", "c"]] * 4000)
    made = PlackettLuce().replicate_rankings({"score": score[None]}, log, rng).arm.reshape(-1, 3)
    first = np.bincount(made[:, 0], minlength=3) / 4000
    np.testing.assert_allclose(first, np.exp(score) / np.exp(score).sum(), atol=5 * 0.5 / 63)
    after = made[made[:, 0] == 0]
    share = (after[:, 1] == 1).mean()
    assert abs(share - expit(score[1] - score[2])) < 5 * 0.5 / np.sqrt(len(after))
    named = bd.Rankings.from_orders([["a", ["b", "c"], "d"]] * 4000)
    score = np.array([0.8, 0.0, -0.5, 0.2])
    drawn = PlackettLuce().replicate_rankings({"score": score[None]}, named, rng).arm.reshape(-1, 4)
    rest = drawn[drawn[:, 0] == 0]
    worst = np.bincount(rest[:, 3], minlength=4)[1:] / len(rest)
    expected = np.exp(-score[1:]) / np.exp(-score[1:]).sum()
    np.testing.assert_allclose(worst, expected, atol=5 * 0.5 / np.sqrt(len(rest)))


def test_what_makes_no_sense_is_refused():
    for term in (SideAdvantage(), RandomEffects("judge"), Covariates(["x"])):
        with pytest.raises(ValueError, match="a ranking has no sides"):
            PlackettLuce() + term
    never = bd.Rankings.from_orders([["a", "b", "c"]] * 3)
    with pytest.raises(ValueError, match="a group of arms never lost to the others"):
        bd.fit(never, PlackettLuce(scale=np.inf))
    with pytest.raises(TypeError, match="duels should be a"):
        bd.fit(never, "bradley-terry")
    with pytest.raises(TypeError, match=r"see bayesduel\.read_rankings"):
        bd.fit(bd.datasets.load("tennis1990"), "plackett-luce")


def both_bad_log(n, seed, level=0.3, tie=-0.5):
    """Return the scores (0 that of "neither"), and votes of Davidson with the choice of neither."""
    rng = np.random.default_rng(seed)
    score = {"neither": level} | {f"m{k}": s for k, s in enumerate(rng.normal(size=5))}
    rows = []
    for _ in range(n):
        i, j = rng.choice(list(score)[1:], 2, replace=False)
        d = score[i] - score[j]
        bad = level - (score[i] + score[j]) / 2
        weights = np.exp([d / 2, -d / 2, bad, tie])
        said = rng.choice(["left", "right", "both bad", "tie"], p=weights / weights.sum())
        rows.append((i, j, said))
    return score, pd.DataFrame(rows, columns=["left", "right", "outcome"])


def test_the_level_of_both_bad_is_that_of_choix():
    _, votes = both_bad_log(800, 1)
    log = bd.read_duels(votes, both_bad="neither")
    fit = bd.fit(log, PlackettLuce(scale=np.inf), draws=100)
    index = {arm: k for k, arm in enumerate(log.arms)}
    data = []
    for left, right, said in votes.itertuples(index=False):
        three = {"left": left, "right": right, "both bad": "neither"}
        if said in three:
            best = index[three.pop(said)]
            data.append((best, [index[arm] for arm in three.values()]))
    theirs = choix.ilsr_top1(len(log.arms), data, tol=1e-12)
    np.testing.assert_allclose(fit["laplace"]["score_mode"], theirs - theirs.mean(), atol=1e-6)


@pytest.mark.slow
def test_the_level_of_both_bad_is_covered_where_ties_are_davidsons():
    """Ties are left out, which loses nothing: 90 % intervals of arm minus level, 200 logs."""
    covered = []
    for seed in range(200):
        score, votes = both_bad_log(300, seed)
        fit = bd.fit(bd.read_duels(votes, both_bad="neither"), seed=seed, draws=1_000)
        draws = fit["posterior"]["score"].stack(sample=("chain", "draw"))
        apart = draws.drop_sel(arm="neither") - draws.sel(arm="neither", drop=True)
        low, high = apart.quantile([0.05, 0.95], "sample").values
        truth = np.array([score[a] - score["neither"] for a in apart["arm"].values])
        covered.append(np.mean((low < truth) & (truth < high)))
    error = np.std(covered) / np.sqrt(len(covered))
    assert abs(np.mean(covered) - 0.9) < 3 * error
