"""Terms: each does what it says alone and with others, and finds what was planted."""

import json
import warnings
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from pytensor.compile.mode import Mode
from scipy.special import expit

import bayesduel as bd
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    Covariates,
    Davidson,
    JudgeReliability,
    PreferenceMatrix,
    SideAdvantage,
    Sources,
    Thurstone,
    TimeVarying,
    named,
    term_named,
)
from bayesduel.models.cells import seen_in
from bayesduel.posterior.dependence import RepeatedVotesWarning

PLAIN = Mode("py", None)  # no compiler: these graphs run once
ALL = {
    "order": BradleyTerry() + SideAdvantage(),
    "judges": Davidson() + JudgeReliability(),
    "walk": Thurstone() + TimeVarying(periods=4),
    "smooth": BradleyTerry() + TimeVarying(process="smooth", periods=4),
    "cycles": BradleyTerry() + BladeChest(planes=2),
    "all": Davidson()
    + BladeChest()
    + TimeVarying(periods=3)
    + JudgeReliability()
    + SideAdvantage(),
}
each_model = pytest.mark.parametrize("model", ALL.values(), ids=ALL.keys())


def log_of(eta, n_arms, n, seed, *, judges=None, ties=0.0):
    """Return a log of `n` random duels, each won by left with logistic ``eta(i, j, judge, t)``."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n_arms, n)
    j = (i + rng.integers(1, n_arms, n)) % n_arms
    judge = rng.integers(0, judges or 1, n)
    time = rng.uniform(0, 1, n)
    outcome = (rng.uniform(size=n) < expit(eta(i, j, judge, time))).astype(float)
    outcome[rng.uniform(size=n) < ties] = 0.5
    return bd.Duels.from_votes(
        i, j, outcome, time=time, judge=None if judges is None else [f"j{g}" for g in judge]
    )


def flat(i, j, judge, time):
    return np.zeros(len(i))


@pytest.fixture(scope="module")
def log():
    return log_of(flat, 5, 60, 1, judges=3, ties=0.2)


@each_model
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_the_model_and_its_numpy_twin_have_one_likelihood(model, log):
    model = model.settled(log)
    built = model.build(log)
    rng = np.random.default_rng(2)
    point = {n: v + rng.normal(0, 0.5, np.shape(v)) for n, v in built.initial_point().items()}
    outcome = built.logp(vars=[built["outcome"]], sum=False)[0]
    values = built.replace_rvs_by_values(built.unobserved_RVs)
    *drawn, terms = built.compile_fn([*values, outcome], mode=PLAIN)(point)
    posterior = {v.name: d[None] for v, d in zip(built.unobserved_RVs, drawn, strict=True)}
    cells = model.cells(log)
    np.testing.assert_allclose(model.log_likelihood(posterior, cells)[0], terms, atol=1e-9)
    assert len(terms) == len(cells) == len(cells.seen)


@each_model
def test_json_brings_the_model_back(model, log):
    model = model.settled(log)
    assert named(model.name, **json.loads(json.dumps(model.settings))) == model


@each_model
def test_preference_is_antisymmetric_and_the_points_of_an_outcome(model):
    rng = np.random.default_rng(3)
    draws = {
        "score": rng.normal(size=(7, 5)), "strength": rng.normal(size=(7, 5)),
        "tie": rng.normal(size=7), "order": rng.normal(size=7),
        "sensitivity": rng.normal(size=(7, 3)), "rating": rng.normal(size=(7, 3, 5)),
        "plane_scale": rng.uniform(size=(7, 2)), "blade": rng.normal(size=(7, 2, 5)),
        "chest": rng.normal(size=(7, 2, 5)),
    }  # fmt: skip
    P = model.preference(draws)
    np.testing.assert_allclose(P + P.swapaxes(1, 2), 1.0, atol=1e-12)
    parts = model.outcomes(draws, {"first": np.array([0, 3]), "second": np.array([1, 2])})
    np.testing.assert_allclose(sum(parts.values()), 1.0, atol=1e-12)
    np.testing.assert_allclose(
        parts["win"] + parts.get("tie", 0) / 2, P[:, [0, 3], [1, 2]], atol=1e-12
    )
    if model.ranks_by_score:  # neutral: neither order nor judge nor an earlier time has a say
        plain = {"logits": BradleyTerry(), "probits": Thurstone()}[model.response.score_unit]
        if model.response.outcome == "win or tie":
            plain = Davidson()
        np.testing.assert_allclose(P, plain.preference(draws), atol=1e-12)


def test_a_term_means_what_it_says():
    cells = {"first": np.array([0, 1]), "second": np.array([1, 2])}
    draws = {"score": np.array([[1.0, 0.0, -2.0]]), "order": np.array([0.25]),
             "sensitivity": np.array([[3.0, -1.0]])}  # fmt: skip
    known = cells | {"left_first": np.ones(2), "judge_of_cell": np.array([1, -1])}
    inside, outside = (
        BradleyTerry() + SideAdvantage() + JudgeReliability(),
        BradleyTerry() + JudgeReliability() + SideAdvantage(),
    )
    assert inside.eta(draws, cells).tolist() == outside.eta(draws, cells).tolist() == [[1, 2]]
    assert outside.eta(draws, known).tolist() == [[-1 + 0.25, 2 + 0.25]]  # no judge: as is
    assert inside.eta(draws, known).tolist() == [[-(1 + 0.25), 2 + 0.25]]


def test_cycles_take_no_part_of_a_strength():
    log = log_of(flat, 5, 30, 4)
    built = (BradleyTerry() + BladeChest()).build(log)
    rng = np.random.default_rng(5)
    point = {n: v + rng.normal(size=np.shape(v)) for n, v in built.initial_point().items()}
    names = ["score", "blade", "chest", "plane_scale"]
    graphs = built.replace_rvs_by_values([built[n] for n in names])
    values = built.compile_fn(
        graphs, inputs=built.value_vars, mode=PLAIN, on_unused_input="ignore"
    )(point)
    draws = {n: v[None] for n, v in zip(names, values, strict=True)}
    first, second = (x.ravel() for x in np.indices((5, 5)))
    log_odds = (
        (BradleyTerry() + BladeChest()).eta(draws, {"first": first, "second": second}).reshape(5, 5)
    )
    np.testing.assert_allclose(log_odds.mean(1), draws["score"][0], atol=1e-12)
    assert np.abs(log_odds - (draws["score"][0][:, None] - draws["score"][0])).max() > 0.01


def test_cells_are_told_apart_by_what_is_asked():
    duels = bd.Duels.from_votes(
        ["a", "b", "a", "a"], ["b", "a", "b", "b"], [1, 1, 0.5, 1], judge=["x", "x", "x", "y"],
        weight=[1, 2, 1, 5],
    )  # fmt: skip
    judge = {"judge_of_cell": duels.votes.judge}
    seen = seen_in(duels, judge)
    assert seen.columns["judge_of_cell"].tolist() == [0, 1] and "left_first" not in seen.columns
    assert seen.counts.tolist() == [[1, 2, 1], [5, 0, 0]]
    assert seen.of_vote.tolist() == [0, 0, 0, 1]
    assert seen.added.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 1], [5, 0, 0]]
    counts = seen_in(duels, judge, ordered=True).counts
    assert sorted(map(tuple, counts.tolist())) == [(1, 0, 1), (2, 0, 0), (5, 0, 0)]
    assert seen_in(duels, ordered=True).counts.tolist() == [[6, 0, 1], [2, 0, 0]]


def test_differences_change_sign_with_the_orientation_and_split_cells():
    duels = bd.Duels.from_votes(
        "aabb", "bbaa", [1, 0, 1, 0], covariates={"x": [2.0, 2.0, -2.0, 1.0]}
    )
    x = {"x": duels.votes.covariates}
    seen = seen_in(duels, x)
    found = sorted(zip(seen.columns["x"].ravel().tolist(), map(tuple, seen.counts), strict=True))
    assert found == [(-1.0, (1, 0, 0)), (2.0, (1, 2, 0))]
    one = seen_in(duels, x, each=True)
    assert one.columns["x"].ravel().tolist() == [2.0, 2.0, -2.0, 1.0] and one.each
    assert len(seen_in(duels, x, ordered=True)) == 3


@pytest.mark.parametrize("base", [BradleyTerry(), Thurstone(), Davidson()], ids=lambda m: m.name)
def test_derivatives_with_an_effect_of_order_are_exact(base):
    duels = log_of(flat, 5, 80, 5, ties=0.2)
    model = base + SideAdvantage()
    here = linear_predictor(model, model.cells(duels))
    x, step = np.linspace(-0.5, 0.6, here.size), 1e-5
    parts = here.parts(x, 0.2)
    axes = step * np.eye(here.size)
    slope = [(here.value(x + e, 0.2) - here.value(x - e, 0.2)) / (2 * step) for e in axes]
    bend = [
        (here.parts(x + e, 0.2).gradient - here.parts(x - e, 0.2).gradient) / (2 * step)
        for e in axes
    ]
    np.testing.assert_allclose(slope, parts.gradient, atol=1e-6)
    np.testing.assert_allclose(np.array(bend), -parts.precision, atol=1e-6)
    # The covariance of eta that `spread` takes its root of, by the full Jacobian.
    own = len(here.own)  # the tendency to tie does not enter eta
    units = np.eye(here.size)[:, : here.size - own]
    jacobian = np.stack([here.design.eta(e) for e in units])
    cov = np.linalg.inv(parts.precision)
    exact = np.sqrt(np.einsum("ac,ab,bc->c", jacobian, cov, jacobian))
    np.testing.assert_allclose(here.spread(cov), exact, atol=1e-9)


def test_flat_home_advantage_equals_that_of_r():
    """R's BradleyTerry2 on the same games: at.home 0.302 (0.131), and its abilities.

    Agresti, "Categorical Data Analysis", 2nd edition 2002, section 10.6; ``BTm`` of the R package
    BradleyTerry2 with ``at.home`` (Turner & Firth, Journal of Statistical Software 2012).
    """
    duels = bd.datasets.load("baseball1987")
    model = BradleyTerry(scale=np.inf) + SideAdvantage(prior=np.inf)
    fit = bd.fit(duels, model, draws=2000, seed=0)
    assert float(fit["laplace"]["order_mode"]) == pytest.approx(0.302, abs=5e-4)
    order = fit["posterior"]["order"].values.ravel()
    assert order.std() == pytest.approx(0.131, abs=0.131 * 4 / np.sqrt(2 * 1500))
    mode = dict(zip(duels.arms, fit["laplace"]["score_mode"].values, strict=True))
    expected = {"Boston": 1.1438, "Cleveland": 0.7047, "Detroit": 1.4754, "Milwaukee": 1.6196,
                "New York": 1.2813, "Toronto": 1.3271}  # fmt: skip
    found = {team: mode[team] - mode["Baltimore"] for team in expected}
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.slow
def test_a_planted_advantage_of_order_is_found():
    score = np.linspace(-1, 1, 5)
    duels = log_of(lambda i, j, g, t: score[i] - score[j] + 0.6, 5, 2000, 6)
    tree = bd.fit(duels, BradleyTerry() + SideAdvantage())
    assert tree.attrs["method"] == "laplace"
    order = tree["posterior"]["order"].values.ravel()
    assert abs(order.mean() - 0.6) < 5 * order.std() and order.std() < 0.1
    plain = bd.compare_models(duels, {"plain": BradleyTerry(), "order": tree})
    assert plain.best == "order" and plain.as_good == ["order"]
    assert plain.table.difference["plain"] < -20
    both = bd.compare_models(duels, {"plain": BradleyTerry(), "order": tree}, unit="duel")
    assert both.n_units == 2000 and both.as_good == ["order"]
    none = bd.fit(
        log_of(lambda i, j, g, t: score[i] - score[j], 5, 2000, 6), BradleyTerry() + SideAdvantage()
    )
    order = none["posterior"]["order"].values.ravel()
    assert abs(order.mean()) < 5 * order.std()


@pytest.mark.slow
def test_random_clickers_and_inverted_judges_are_found():
    """Eight judges, 250 votes each: six alike, one who clicks at random, one the wrong way."""
    score = np.linspace(-1.5, 1.5, 5)
    planted = np.array([1.2] * 6 + [0.0, -1.0])
    duels = log_of(lambda i, j, g, t: planted[g] * (score[i] - score[j]), 5, 2000, 7, judges=8)
    tree = bd.fit(duels, BradleyTerry() + JudgeReliability(), draws=1000, chains=2)
    assert tree.attrs["method"] == "nuts" and "not linear" in tree.attrs["method_reason"]
    judges = tree["posterior"]["sensitivity"]
    assert list(judges["judge"].values) == [f"j{g}" for g in range(8)]
    np.testing.assert_allclose(judges.mean("judge"), 1.0, atol=1e-9)
    low, high = judges.quantile([0.025, 0.975], ("chain", "draw")).values
    assert (low[:6] > 0.5).all() and low[6] < 0.4 and high[7] < 0
    ratio = judges.mean(("chain", "draw")).values / planted.mean()
    np.testing.assert_allclose(ratio * planted.mean(), planted / planted.mean(), atol=0.5)
    with pytest.warns(RepeatedVotesWarning, match="taken as independent"):
        winners = bd.winners(tree)
    assert winners.attrs["verdict_arms"] == '["4"]'
    assert bd.predict(tree, "4", "0")["win"] > 0.85
    assert tree.duel.model == BradleyTerry() + JudgeReliability()
    found = bd.compare_models(duels, [tree, BradleyTerry()], unit="duel")
    assert found.as_good == ["judge-reliability(bradley-terry)"]
    assert found.table.n_high_khat.sum() == 0


@pytest.mark.slow
def test_a_planted_cycle_is_found_with_its_strengths():
    turn = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    skew = 1.2 * np.kron(np.array([[1, 1], [1, 1]]), turn)
    score = np.array([0.6, 0.6, 0.6, -0.6, -0.6, -0.6])
    duels = log_of(lambda i, j, g, t: score[i] - score[j] + skew[i, j], 6, 900, 8)
    tree = bd.fit(duels, BradleyTerry() + BladeChest(planes=1), draws=1000, chains=2)
    assert "score" not in tree["posterior"]
    truth = expit(score[:, None] - score + skew)
    P = tree["preference"]["preference"].values.reshape(-1, 6, 6)
    z = (P.mean(0) - truth)[np.triu_indices(6, 1)] / P.std(0)[np.triu_indices(6, 1)]
    assert np.abs(z).max() < 4.5  # 15 pairs
    beats = P > 0.5
    assert (beats[:, 0, 1] & beats[:, 1, 2] & beats[:, 2, 0]).mean() > 0.95
    strength = tree["posterior"]["strength"].mean(("chain", "draw")).values
    assert strength[:3].min() > strength[3:].max()
    assert bd.winners(tree)["winner_probability"].sel(criterion="condorcet").sum() < 0.05
    found = bd.compare_models(
        duels, {"cycles": tree, "score": BradleyTerry(), "free": PreferenceMatrix()}, folds=0
    )
    assert found.best == "cycles"


@pytest.mark.slow
def test_planted_drift_is_found():
    """Two arms change places over the log; three stay."""
    slope = np.array([2.0, -2.0, 0.0, 0.0, 0.0])
    duels = log_of(lambda i, j, g, t: (slope[i] - slope[j]) * (t - 0.5), 5, 1500, 9)
    tree = bd.fit(duels, BradleyTerry() + TimeVarying(periods=6), draws=1000, chains=2)
    rating = tree["posterior"]["rating"]
    assert rating.sizes["period"] == 6
    truth = np.outer(rating["period"].values - 0.5, slope)
    z = (rating.mean(("chain", "draw")) - truth) / rating.std(("chain", "draw"))
    assert np.abs(z).max() < 5
    np.testing.assert_allclose(rating[:, :, -1], tree["posterior"]["score"], atol=1e-9)
    assert bd.winners(tree).attrs["verdict_arms"] == '["0"]'
    first = rating.isel(period=0).mean(("chain", "draw"))
    assert str(first.idxmax().values) == "1"
    assert tree.duel.model.edges[0] == duels.votes.time.min()


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us"])
@pytest.mark.parametrize("periods", [3, 7])
def test_limits_of_periods_as_dates_part_votes_as_numbers_do(unit, periods):
    rng = np.random.default_rng(65)
    drawn = rng.integers(0, 40, 60)
    times = np.datetime64("2026-05-01", unit) + drawn.astype(f"timedelta64[{unit}]")
    pairs = ["ab"[k % 2] for k in range(60)], ["c"] * 60, [k % 3 != 0 for k in range(60)]
    dated = bd.Duels.from_votes(*pairs, time=times.astype("datetime64[us]"))
    counted = bd.Duels.from_votes(*pairs, time=times.astype("datetime64[us]").astype("int64"))
    terms = {log: TimeVarying(periods=periods).settled(log) for log in (dated, counted)}
    assert terms[dated].edges[0].startswith("2026-05-01") and terms[counted].edges[0] > 1e15
    number_of, period_of = (term.columns(log)["period_of_cell"] for log, term in terms.items())
    np.testing.assert_array_equal(number_of, period_of)
    again = TimeVarying(**{"periods": periods, "edges": json.loads(json.dumps(terms[dated].edges))})
    assert again == terms[dated]
    with pytest.raises(ValueError, match="edges should be numbers, as times of the log are"):
        terms[dated].columns(counted)


OF_DAYS = {  # limits of a log of 60 votes from 2024-08-01 to 2026-03-14, and what is said of them
    (2024, 2025, 2027): (ValueError, "times are 2024-08-01 to 2026-03-14, but no vote lies within"),
    ("2024-01-01", "2024-02-01", "2024-03-01"): (ValueError, "no vote lies within"),
    ("2020-01-01", "2024-01-01", "2030-01-01"): (None, ""),  # as a log that lacks a season
    ("2024-10-01", "2025-01-01", "2025-06-01"): (
        UserWarning,
        "36 votes of 60 lie before the first",
    ),
    ("2024-08-01", "2025-08-01", "2026-06-01"): (None, ""),
}


@pytest.mark.parametrize("limits", OF_DAYS)
def test_limits_that_do_not_part_the_log_are_told(limits):
    kind, words = OF_DAYS[limits]
    time = np.datetime64("2024-08-01") + np.arange(60) * 10
    log = bd.Duels.from_votes("ab" * 30, "bc" * 30, [1, 0, 1] * 20, time=time)
    term = TimeVarying(edges=limits)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if kind is ValueError:
            with pytest.raises(ValueError, match=words):
                term.settled(log)
            return
        assert term.settled(log).edges == limits
    assert [str(w.message)[: len(words)] for w in told] == ([words] if kind else [])
    assert term_named(f"time:{','.join(limits)}") == term


@pytest.mark.parametrize(
    "limits",
    [
        ["2026-01-01", "2026-05-01 12:00", "2026-07-01"],
        np.array(["2026-01-01", "2026-05-01T12:00", "2026-07-01"], dtype="datetime64[us]"),
        [datetime(2026, 1, 1), datetime(2026, 5, 1, 12), datetime(2026, 7, 1)],
    ],
)
def test_limits_of_periods_are_any_dates(limits):
    assert TimeVarying(edges=limits).edges == ("2026-01-01", "2026-05-01T12:00", "2026-07-01")


def test_times_count_and_their_order_does_not():
    model = BradleyTerry() + TimeVarying(periods=3)
    duels = log_of(flat, 4, 50, 10)
    rows = np.random.default_rng(1).permutation(50)
    mixed = replace(duels, votes=duels.votes.take(rows))
    for name, values in model.cells(duels).data.items():
        np.testing.assert_array_equal(values, model.cells(mixed).data[name])
    dates = np.array(["2020-01-01", "2020-01-03", "2020-01-05"], dtype="datetime64[us]")
    dated = bd.Duels.from_votes("aab", "bcc", [1, 0, 1], time=dates)
    middle = (BradleyTerry() + TimeVarying(periods=2)).terms.coords(dated)["period"]
    assert [str(m)[:10] for m in middle] == ["2020-01-02", "2020-01-04"]
    assert (BradleyTerry() + TimeVarying(periods=9)).cells(dated).data[
        "period_of_cell"
    ].max() == 2  # three times only


def test_what_the_log_must_say_is_named():
    plain = bd.Duels.from_wins([[0, 3, 1], [2, 0, 4], [1, 1, 0]])
    alone = bd.Duels.from_votes("ab", "bc", [1, 0], judge="xx", time=np.array([1.0, 1.0]))
    gap = bd.Duels.from_votes("abc", "bca", [1, 0, 1], time=np.array([1.0, np.nan, 2.0]))
    two = bd.Duels.from_wins([[0, 3], [2, 0]])
    winner_left = bd.Duels.from_votes("abca" * 5, "bcac" * 5, [1] * 20)
    for duels, model, words in [
        (plain, BradleyTerry() + JudgeReliability(), "have the judge of each vote"),
        (alone, BradleyTerry() + JudgeReliability(), r"at least two levels of judge, got \['x'\]"),
        (plain, BradleyTerry() + TimeVarying(), "a time for each vote, got a log without"),
        (alone, BradleyTerry() + TimeVarying(), "two distinct times, got only 1"),
        (gap, BradleyTerry() + TimeVarying(), "1 of 3 have no readable time, the first at vote 1"),
        (
            winner_left,
            BradleyTerry() + SideAdvantage(),
            "because the left side won all 20 decided duels",
        ),
        (
            two,
            BradleyTerry() + BladeChest(),
            "because cycles need three, got 2",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            model.settled(duels).build(duels)
    with pytest.raises(ValueError, match="method should be 'nuts' or 'auto'"):
        bd.fit(plain, BradleyTerry() + BladeChest(), "laplace")


def test_a_judge_with_one_vote_stays_with_the_others():
    cells = log_of(flat, 3, 40, 11, judges=4)
    once = np.append(
        np.flatnonzero(cells.votes.judge != 3), np.flatnonzero(cells.votes.judge == 3)[0]
    )
    duels = replace(cells, votes=cells.votes.take(once))
    assert (duels.votes.judge == 3).sum() == 1
    data = (BradleyTerry() + JudgeReliability()).cells(duels).data
    assert data["n"][data["judge_of_cell"] == 3].tolist() == [1.0]
    assert len((BradleyTerry() + JudgeReliability()).terms.coords(duels)["judge"]) == 4


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: PreferenceMatrix() + SideAdvantage(),
            TypeError,
            "terms should be added to a model with scores",
        ),
        (
            lambda: BradleyTerry() + SideAdvantage() + SideAdvantage(),
            ValueError,
            "terms should be of different kinds, got 'order' twice",
        ),
        (
            lambda: BradleyTerry() + Sources("source", "people"),
            ValueError,
            "terms should have only one term for the worth of an arm",
        ),
        (
            lambda: (
                BradleyTerry()
                + Covariates(bd.read_items(pd.DataFrame({"item": ["a", "b"], "size": [0.0, 1.0]})))
            ),
            ValueError,
            "only one term for the worth",
        ),
        (
            lambda: BradleyTerry(scale=np.inf) + JudgeReliability(),
            ValueError,
            "a term with a flat prior cannot be combined with terms that learn",
        ),
        (lambda: BradleyTerry() + SideAdvantage(prior=0), ValueError, "prior should be > 0"),
        (
            lambda: BradleyTerry() + JudgeReliability(prior="wide"),
            TypeError,
            "prior should be a number",
        ),
        (lambda: BradleyTerry() + TimeVarying(process="jump"), ValueError, "'walk' or 'smooth'"),
        (lambda: BradleyTerry() + TimeVarying(periods=1), ValueError, "periods should be from 2"),
        (lambda: BradleyTerry() + TimeVarying(edges=(0.0, 2.0, 1.0)), ValueError, "increasing"),
        (lambda: TimeVarying(edges=("may", "june", "july")), TypeError, "numbers or dates"),
        (
            lambda: TimeVarying(edges=("2026-02-01", "2026-01-01", "2026-03-01")),
            ValueError,
            "incre",
        ),
        (lambda: BradleyTerry() + BladeChest(planes=0), ValueError, "planes should be from 1"),
        (lambda: named("order-effect(elo)"), ValueError, "model name should be one of"),
    ],
)
def test_bad_settings_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("word", "example"),
    [
        ("covariates", "covariate:COLUMN"),
        ("random", "random:COLUMN"),
        ("sources", "sources:COLUMN"),
    ],
)
def test_a_term_that_needs_a_column_says_how_it_is_written(word, example):
    with pytest.raises(ValueError, match=f"a column after a colon, such as '{example}'"):
        term_named(word)


def test_a_covariate_that_is_named_twice_is_meant_once():
    model = bd.models.named("bradley-terry + covariate:length + covariate:length + covariate:age")
    assert model.terms.find(bd.models.DuelCovariates).of == ("length", "age")
