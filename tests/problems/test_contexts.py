"""Duels of items that are new in every round: their contexts, links, simulation and regret."""

import matplotlib
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.cli.parse import problems_of
from bayesduel.problems import ContextualDuels, ItemDuels, named
from bayesduel.problems.contexts import draw_contexts, win_chance
from bayesduel.simulation import item_run
from bayesduel.simulation.replication import streams

pytestmark = pytest.mark.plain

matplotlib.use("Agg")
FAMILY = ContextualDuels(n_arms=4, n_attributes=3, norm=2.0)
POLICIES = [bd.policies.CoLSTIM(), bd.policies.LogisticDuelThompson()]


@pytest.fixture(scope="module")
def trace():
    return bd.simulate(
        POLICIES, FAMILY, 200, replications=3, seed=5, workers=1, record_at=[50, 100, 200]
    )


@pytest.mark.parametrize("contexts", ["normal", "ball"])
def test_contexts_have_their_law_and_items_their_worth(contexts):
    family = ContextualDuels(n_arms=2000, n_attributes=4, contexts=contexts, norm=1.5)
    problem = family.draw(np.random.default_rng(0))
    assert np.linalg.norm(problem.preference) == pytest.approx(1.5)
    table, utility, worth = problem.offer.attributes, problem.utility, problem.worth
    draw_contexts(problem.rounds(np.random.default_rng(1)), table, utility, worth)
    np.testing.assert_allclose(utility, table @ problem.preference)
    np.testing.assert_allclose(worth, utility - utility.max())
    squares = (table**2).sum(axis=1)
    law = stats.chi2(4).cdf if contexts == "normal" else lambda x: np.clip(x, 0, 1) ** 2
    assert stats.kstest(squares, law).pvalue > 1e-6
    assert abs(table.mean(axis=0)).max() < 0.1


@pytest.mark.parametrize("contexts", ["normal", "ball", [[1.0, 2.0], [0.0, -1.0], [0.5, 0.0]]])
def test_the_typical_worth_is_that_of_many_rounds(contexts):
    problem = ContextualDuels(
        n_arms=3, n_attributes=2, contexts=contexts, preference=(0.6, 0.8)
    ).draw(np.random.default_rng(0))
    table, utility, worth = problem.offer.attributes, problem.utility, problem.worth
    rounds, found = problem.rounds(np.random.default_rng(2)), []
    for _ in range(2000):
        draw_contexts(rounds, table, utility, worth)
        found.append(worth.mean())
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - problem.typical) < 5 * error


def test_links_are_those_of_the_literature():
    assert win_chance(0, 0.7) == pytest.approx(expit(0.7))
    assert win_chance(1, 0.7) == pytest.approx(stats.norm.cdf(0.7))
    assert [win_chance(2, x) for x in (-3.0, -0.5, 0.5, 3.0)] == [0.0, 0.25, 0.75, 1.0]


@pytest.mark.parametrize("link", ["logistic", "probit", "linear"])
def test_outcomes_follow_the_link(link):
    """As long as both items may be the best, the first duels the second."""
    family = ContextualDuels(n_arms=2, n_attributes=1, link=link, preference=(0.8,))
    trace = bd.simulate(bd.policies.MaxInP(alpha=1e9), family, 40, seed=3, workers=1, permute=False)
    drawn = streams(3, 0)[0].standard_normal((40, 2)) * 0.8
    place = ["logistic", "probit", "linear"].index(link)
    chance = [win_chance(place, x) for x in drawn[:, 0] - drawn[:, 1]]
    wins = (streams(3, 0)[1].random(40) < chance).sum()
    assert trace["trace"]["paid"].values[0, 0, -1] == wins
    apart = abs(drawn[:, 0] - drawn[:, 1])
    np.testing.assert_allclose(bd.regret(trace).values[0, 0, -1], apart.sum() / 2)
    assert bd.regret(trace, "weak").values[0, 0, -1] == 0


def test_regrets_are_what_rounds_lack_of_their_best(trace):
    average, weak = bd.regret(trace), bd.regret(trace, "weak")
    assert (average.name, weak.name) == ("item_duel", "weak")
    assert weak.attrs["formula"] == "min(Delta_a, Delta_b)"
    for regret in (average, weak):
        assert (np.diff(regret, axis=-1) >= 0).all()
    assert (weak <= average).all()
    uniform = 200 * float((trace["problem"]["best"] - trace["problem"]["typical"]).mean())
    assert (average.isel(time=-1).mean("replication") < 0.5 * uniform).all()
    assert (bd.opportunity_cost(trace) >= 0).all()
    old = trace.copy()
    old["trace"] = old["trace"].to_dataset().drop_vars("better_worth")
    with pytest.raises(ValueError, match="criterion should be 'item_duel' for this trace"):
        bd.regret(old, "weak")
    with pytest.raises(ValueError, match="criterion should be 'item_duel' or 'weak' for this"):
        bd.regret(trace, "copeland")


def test_all_policies_meet_the_same_rounds_and_runs_go_on(trace, tmp_path):
    """A policy alone, recorded at other times and kept in a folder."""
    given = {"replications": 3, "seed": 5, "out": tmp_path / "trace", "record_at": [150, 200]}
    alone = bd.simulate(POLICIES[1], FAMILY, 200, **given, workers=1)
    np.testing.assert_array_equal(
        bd.regret(alone).values[0, :, -1], bd.regret(trace).values[1, :, -1]
    )
    np.testing.assert_array_equal(bd.regret(bd.open_trace(tmp_path / "trace")), bd.regret(alone))


def test_items_that_stay_are_rounds_that_never_change(monkeypatch):
    """The same loop plays both."""
    policy, rng = bd.policies.LogisticDuelThompson(), np.random.default_rng(4)
    monkeypatch.setattr(item_run, "select", policy.select)
    monkeypatch.setattr(item_run, "draw_contexts", lambda *given: None)
    table, z = rng.standard_normal((4, 3)), np.array([1.0, -1.0, 0.5])
    told = []
    for rounds in (None, ContextualDuels(n_attributes=3, preference=tuple(z)).rounds(rng)):
        problem, sums = ItemDuels(table, z), np.zeros(3)
        belief, memory = policy.belief.init(problem.offer), policy.init(problem.offer)
        both = (np.random.default_rng(1), np.random.default_rng(2), rounds)
        state = (belief, memory, problem.utility, problem.worth, sums)
        item_run.play_item_duels(*state, 1, 100, *both)
        told.append((belief.pulls.tolist(), sums.tolist()))
    assert told[0] == told[1]


def test_the_picture_and_the_names(trace):
    for criterion, uniform in ((None, True), ("weak", False)):
        ax = bd.plot_regret(trace, criterion)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert ("uniform, expected" in labels) == uniform
        matplotlib.pyplot.close("all")
    assert named("contextual-duels", n_arms=4) == ContextualDuels(n_arms=4)
    text = "ContextualDuels(n_arms=4, contexts='ball')"
    assert problems_of(text)[text] == ContextualDuels(n_arms=4, contexts="ball")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_arms": 1}, "n_arms should be at least 2, got 1"),
        ({"n_attributes": 0}, "n_attributes should be at least 1, got 0"),
        ({"norm": 0.0}, "norm should be positive and finite"),
        ({"link": "cauchy"}, "link should be one of 'logistic', 'probit', 'linear', got 'cauchy'"),
        ({"contexts": "cube"}, "contexts should be 'normal' or 'ball', got 'cube'"),
        ({"preference": (1.0, 2.0)}, "preference should be 5 finite numbers, .* got"),
        ({"preference": (np.nan,) * 5}, "preference should be 5 finite numbers"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ContextualDuels(**settings)


TABLE = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0], [0.5, 0.0, 1.0], [4.0, 4.0, 4.0]])


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_contexts_of_a_table_are_its_rows_equally_often(policy):
    family = ContextualDuels(n_arms=3, n_attributes=3, contexts=TABLE)
    problem = family.draw(np.random.default_rng(0))
    table, utility, worth = problem.offer.attributes, problem.utility, problem.worth
    rounds, seen = problem.rounds(np.random.default_rng(1)), np.zeros(len(TABLE))
    for _ in range(600):
        draw_contexts(rounds, table, utility, worth)
        seen += (table[:, None] == TABLE).all(axis=-1).sum(axis=0)
    assert seen.sum() == 600 * 3
    assert stats.chisquare(seen).pvalue > 1e-6
    trace = bd.simulate(policy, family, 60, replications=2, seed=1, workers=1)
    assert (bd.regret(trace) >= 0).all()
    assert "4 contexts" in family.name


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ("uniform", "contexts should be 'normal' or 'ball'"),
        ([[1.0, 2.0]], r"contexts should have shape \(N, 3\), N >= 2"),
        ([[1.0, 2.0], [1.0, 3.0]], r"contexts should have shape \(N, 3\), N >= 2"),
        ([[1.0, 2.0, np.nan], [1.0, 3.0, 4.0]], "contexts should be finite"),
    ],
)
def test_tables_of_contexts_are_checked(contexts, message):
    with pytest.raises(ValueError, match=message):
        ContextualDuels(n_arms=3, n_attributes=3, contexts=contexts)
