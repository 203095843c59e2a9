"""Judges of rankings: errors are cluster-robust, by the same path as those of duels.

The simulator shares no code with the package: respondents have worths of their own, and take the
largest of worths with Gumbel noise (Luce's choices, McFadden 1974).
"""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import bayesduel as bd
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import BradleyTerry, Covariates, PlackettLuce
from bayesduel.posterior.dependence import FewClustersWarning

ARMS = "abcd"
SCORE = np.array([0.6, 0.2, -0.2, -0.6])
TASTE = 0.8  # spread of a respondent's own worths
FLAT = PlackettLuce(scale=np.inf)


def panel(n_judges, seed, *, best=True, n=10, taste=TASTE):
    """Return orders of three of four arms, n by each respondent, and who gave them."""
    rng = np.random.default_rng(seed)
    orders, who = [], []
    for judge in range(n_judges):
        own = SCORE + taste * rng.normal(size=4)
        for _ in range(n):
            shown = rng.permutation(4)[:3]
            placed = shown[np.argsort(-(own[shown] + rng.gumbel(size=3)))]
            order = [ARMS[k] for k in placed]
            orders.append([order[0], order[1:]] if best else order)
            who.append(f"r{judge}")
    return orders, who


def estimated(best):
    """Return what Plackett-Luce estimates of this population: the scores nearest to its choices."""
    worth = np.exp(SCORE + TASTE * np.random.default_rng(0).normal(size=(40_000, 4)))
    sets = itertools.combinations(range(4), 3)
    orders = [order for shown in sets for order in itertools.permutations(shown)]
    chances = [
        np.mean(
            worth[:, a]
            / worth[:, [a, b, c]].sum(axis=1)
            * worth[:, b]
            / worth[:, [b, c]].sum(axis=1)
        )
        for a, b, c in orders
    ]

    def loss(free):
        score = np.append(free, 0.0)
        total = 0.0
        for (a, b, c), chance in zip(orders, chances, strict=True):
            total -= chance * (score[a] - logsumexp(score[[a, b, c]]))
            total -= 0.0 if best else chance * (score[b] - logsumexp(score[[b, c]]))
        return total

    score = np.append(minimize(loss, np.zeros(3)).x, 0.0)
    return score - score.mean()


def coverage(n_worlds, n_judges, best, draws=1000):
    """Return the share of 95 % intervals that cover, by covariance, of each world."""
    truth = estimated(best)
    covered = {"model": [], "auto": []}
    for seed in range(n_worlds):
        orders, who = panel(n_judges, seed, best=best)
        fit = bd.fit(bd.Rankings.from_orders(orders, judge=who), draws=draws)
        for covariance, found in covered.items():
            score = fit.duel.posterior(covariance)["score"]
            low, high = np.quantile(score, [0.025, 0.975], axis=0)
            found.append(np.mean((low < truth) & (truth < high)))
    return {name: np.array(found) for name, found in covered.items()}


@pytest.mark.slow
def test_intervals_of_respondents_cover():
    """20 worlds, of which 0.98 and, without judges, 0.89; of 100 see the slow test."""
    found = coverage(20, 10, best=False, draws=200)
    assert found["auto"].mean() > max(0.88, found["model"].mean() + 0.04)


@pytest.mark.slow
@pytest.mark.parametrize("best", [True, False])
@pytest.mark.parametrize("n_judges", [10, 25])
def test_intervals_of_respondents_cover_in_many_worlds(n_judges, best):
    """0.94 to 0.97, and 0.80 to 0.86 where rankings are taken as independent."""
    found = coverage(100, n_judges, best)
    for name, least, most in (("auto", 0.92, 0.985), ("model", 0.7, 0.9)):
        assert least < found[name].mean() < most, name


@pytest.mark.parametrize("best", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_errors_are_those_of_a_bootstrap_by_respondent(best):
    """Errors of 40 respondents, within 15 %: 200 resamples have one of 5 %, CR2 is a bit larger."""
    orders, who = panel(40, 3, best=best)
    log = bd.Rankings.from_orders(orders, judge=who)
    fit = bd.fit(log, FLAT, draws=100)
    robust = fit["clusters"]["score_se_cluster"].sel(clustering="judge").values
    alone = fit["clusters"]["score_se"].values
    names = sorted(set(who))
    of = {name: [k for k, one in enumerate(who) if one == name] for name in names}
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        drawn = [k for name in rng.choice(names, len(names)) for k in of[name]]
        found.append(maximum([orders[k] for k in drawn]))
    bootstrap = np.std(found, axis=0)
    np.testing.assert_allclose(robust / bootstrap, 1.0, atol=0.15)
    assert (bootstrap > 1.1 * alone).all()


def maximum(orders):
    """Return the scores of maximum likelihood, by Hunter's MM algorithm (2004)."""
    sets = []  # (chosen, alternatives) of every choice
    for order in orders:
        arms = [ARMS.index(arm) for group in order for arm in group]
        sets.append((arms[0], arms))
        if len(order) > 2:
            sets.append((arms[1], arms[1:]))
    chosen = np.bincount([first for first, _ in sets], minlength=4)
    inside = np.zeros((len(sets), 4))
    for k, (_, arms) in enumerate(sets):
        inside[k, arms] = 1.0
    worth = np.ones(4)
    for _ in range(60):
        worth = chosen / (inside / (inside @ worth)[:, None]).sum(axis=0)
        worth /= worth.sum()
    return np.log(worth) - np.log(worth).mean()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rankings_of_two_have_the_errors_of_duels():
    """By judge, by group and by both; a ranking of two is a Bradley-Terry duel."""
    rng = np.random.default_rng(2)
    pairs = [rng.permutation(4)[:2] for _ in range(240)]
    first, second = (np.array([ARMS[pair[k]] for pair in pairs]) for k in (0, 1))
    units = {"judge": rng.integers(0, 8, 240), "group": rng.integers(0, 30, 240)}
    orders = np.stack([first, second], axis=1).tolist()
    ranked = bd.fit(bd.Rankings.from_orders(orders, **units), PlackettLuce(scale=1.0), draws=400)
    dueled = bd.fit(
        bd.Duels.from_votes(first, second, np.ones(240), **units),
        BradleyTerry(scale=1.0),
        draws=400,
    )
    names = ["judge", "group", "judge and group"]
    assert list(ranked["clusters"]["clustering"].values) == names
    for name in ("score_se_cluster", "score_degrees_cluster", "n_clusters"):
        np.testing.assert_allclose(ranked["clusters"][name], dueled["clusters"][name], rtol=1e-6)
    assert ranked.attrs["clusters_auto"] == dueled.attrs["clusters_auto"] == "judge and group"


def test_copies_of_a_judge_carry_no_information():
    """Four copies of every ranking by its own judge have the errors of one."""
    orders, _ = panel(60, 1, best=False, taste=0.0)
    judge = np.arange(len(orders))
    one = bd.fit(bd.Rankings.from_orders(orders, judge=judge), FLAT, draws=100)
    weight = np.full(len(orders), 4)
    four = bd.fit(bd.Rankings.from_orders(orders, judge=judge, weight=weight), FLAT, draws=100)
    assert "clusters" not in one and json.loads(one.attrs["clusters_repeated"]) == {}
    honest = np.sqrt(np.diag(one["laplace"]["score_cov"]))
    robust = four["clusters"]["score_se_cluster"].values[0]
    np.testing.assert_allclose(robust / honest, 1.0, atol=0.1)
    np.testing.assert_allclose(2 * four["clusters"]["score_se"], honest, rtol=1e-6)


def test_identical_rankings_without_a_judge_stand_alone():
    """A weight stands for as many rankings as it says: rows of their own give the same errors."""
    orders = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "c", "b"]] * 3
    judge = ["x", "y", "z", None] * 3
    weight = [1, 2, 1, 3] * 3
    counted = bd.fit(bd.Rankings.from_orders(orders, judge=judge, weight=weight), draws=100)
    rows = [k for k, n in enumerate(weight) for _ in range(n)]
    spread = bd.fit(
        bd.Rankings.from_orders([orders[k] for k in rows], judge=[judge[k] for k in rows]),
        draws=100,
    )
    for name in ("score_se_cluster", "n_clusters"):
        np.testing.assert_allclose(counted["clusters"][name], spread["clusters"][name], rtol=1e-6)


def test_a_part_of_the_choices_bends_as_the_whole_does():
    """Informations of parts add up to that of the whole log."""
    orders, _ = panel(5, 2, best=False)
    log = bd.Rankings.from_orders(orders)
    model = PlackettLuce(scale=1.0).settled(log)
    cells = model.cells(log)
    whole = linear_predictor(model, cells)
    x = np.array([0.4, -0.2, 0.1])
    parts = [
        whole.over({}, np.flatnonzero(cells.vote % 3 == k)).information(x, np.zeros(1))
        for k in range(3)
    ]
    np.testing.assert_allclose(sum(parts), whole.information(x, np.zeros(1)))


@pytest.mark.slow
def test_what_a_fit_with_judges_says(tmp_path):
    orders, who = panel(12, 4)
    fit = bd.fit(bd.Rankings.from_orders(orders, judge=who), draws=400)
    said = bd.winners(fit).attrs
    assert said["covariance"] == "judge" and said["n_clusters"] == 12
    assert "cluster-robust by judge (12 clusters" in said["dependence"]
    apart = bd.winners(fit, covariance="model").attrs["dependence"]
    assert apart == "Rankings are taken as independent, as asked."
    fit.to_netcdf(tmp_path / "fit.nc")
    back = bd.load(tmp_path / "fit.nc")
    assert bd.winners(back).attrs["dependence"] == said["dependence"]
    for ask in (bd.scores, lambda f: bd.top_k(f, 2).members, bd.duels_to_decide, bd.next_pairs):
        assert len(ask(back))
    page = bd.report(back, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "cluster-robust by judge (12 clusters" in page
    log = bd.Rankings.from_orders(orders, judge=who)
    page = bd.report(log, tmp_path / "log.html", draws=400).read_text(encoding="utf-8")
    assert "cluster-robust by judge (12 clusters" in page


def test_two_judges_are_too_few_for_a_verdict():
    orders, who = panel(2, 5)
    fit = bd.fit(bd.Rankings.from_orders(orders, judge=who), draws=400)
    with pytest.warns(FewClustersWarning):
        said = bd.winners(fit).attrs["verdict"]
    assert "the rankings come in 2 clusters by judge" in said


def test_scores_of_attributes_have_such_errors_too():
    items = bd.read_items(pd.DataFrame({"item": list(ARMS), "u": [1.0, 0.2, -0.3, -1.0]}))
    orders, who = panel(12, 6)
    model = PlackettLuce(Covariates(items, item_effect=False))
    fit = bd.fit(bd.Rankings.from_orders(orders, judge=who), model, draws=400)
    assert bd.winners(fit).attrs["covariance"] == "judge"
    width = [fit.duel.posterior(c)["coefficient"].std() for c in ("auto", "model")]
    assert width[0] > width[1]
