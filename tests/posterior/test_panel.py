"""A panel of judges: classical tests against published figures, judges against quadrature."""

import json
import warnings
from itertools import product
from math import comb

import matplotlib.pyplot as plt
import numpy as np
import pytest
from rich.cells import cell_len
from scipy import stats

import bayesduel as bd
from bayesduel.data.health import ThinDataWarning
from bayesduel.posterior.judge_rates import judge_rates
from bayesduel.posterior.rank_sum_tests import (
    circular_triads_by_chance,
    critical_count,
    duels_needed,
    equality_test,
    friedman_test,
    kendall_agreement,
    panel_power,
    preference_power,
    rank_sums,
)
from bayesduel.preference import consistence
from bayesduel.reporting.panel import panel_section
from bayesduel.system.arguments import command_line

ARMS = ("assam", "darjeeling", "earl grey", "oolong")
TASTE = np.array([0.8, 0.3, -0.2, -0.9])


def votes(n_judges=6, repeats=2, ties=0.0, missing=0.0, seed=0):
    """Return columns of a panel in which each judge sees each pair `repeats` times."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(ARMS), 1)
    judge = np.repeat(np.arange(n_judges), len(i) * repeats)
    left = np.tile(i, n_judges * repeats)
    right = np.tile(j, n_judges * repeats)
    turned = rng.uniform(size=len(left)) < 0.5
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    outcome = (rng.logistic(size=len(left)) < TASTE[left] - TASTE[right]) * 1.0
    outcome[rng.uniform(size=len(left)) < ties] = 0.5
    kept = rng.uniform(size=len(left)) >= missing
    names = np.array(ARMS)
    columns = {"left": names[left], "right": names[right], "outcome": outcome}
    columns |= {"judge": np.array([f"J{k}" for k in range(n_judges)])[judge]}
    return {name: values[kept] for name, values in columns.items()}


def log(judges=True, group=None, **given):
    columns = votes(**given)
    if not judges:
        columns.pop("judge")
    if group is not None:
        columns["group"] = group(len(columns["left"]))
    return bd.Duels.from_votes(**columns, arms=ARMS)


def by_ranks(wins, ties):
    """Return Durbin's T1 and the LSD of Conover (1999, section 5.8 and 5.9), from ranks of blocks.

    Ranks are those of `wins` and `ties`, a block a duel.
    """
    blocks = []
    for i, j in zip(*np.triu_indices(len(wins), 1), strict=True):
        for of_i, of_j, n in ((1, 2, wins[i, j]), (2, 1, wins[j, i]), (1.5, 1.5, ties[i, j])):
            row = np.full(len(wins), np.nan)
            row[[i, j]] = of_i, of_j
            blocks += [row] * int(n)
    return durbin(np.array(blocks))


def durbin(ranks):
    """Return T1 and the LSD at 5 % of ranks, shape (blocks, t), NaN where a block lacks one."""
    b, t = ranks.shape
    k = int((~np.isnan(ranks)).sum(axis=1)[0])
    r = b * k / t
    R = np.nansum(ranks, axis=0)
    A = np.nansum(ranks**2)
    C = b * k * (k + 1) ** 2 / 4
    T1 = (t - 1) * (np.sum(R**2) - r * C) / (A - C)
    free = b * k - b - t + 1
    error = np.sqrt((A - C) * 2 * r / free * (1 - T1 / (b * (k - 1))))
    return T1, stats.t.ppf(0.975, free) * error


def test_the_reference_gives_the_figures_of_conover():
    """Seven kinds of ice cream (1999, p. 391): T1 = 12, p = 0.06197 (PMCMRplus, durbinTest)."""
    gone = np.nan
    ranks = [
        [2, 3, gone, 1, gone, gone, gone],
        [gone, 3, 1, gone, 2, gone, gone],
        [gone, gone, 2, 1, gone, 3, gone],
        [gone, gone, gone, 1, 2, gone, 3],
        [3, gone, 1, gone, gone, gone, 2],
        [gone, 3, gone, gone, gone, 1, 2],
        [3, gone, gone, gone, 1, 2, gone],
    ]
    statistic, _ = durbin(np.array(ranks))
    assert statistic == pytest.approx(12)
    assert stats.chi2.sf(statistic, 6) == pytest.approx(0.06197, abs=5e-6)


@pytest.mark.parametrize("ties", [0.0, 0.3])
def test_durbin_is_that_of_the_ranks(ties):
    wins, tied = log(ties=ties).tally()
    statistic, lsd = by_ranks(wins, tied)
    found = equality_test(wins, tied)
    assert found.name == "Durbin"
    assert found.statistic == pytest.approx(statistic)
    assert found.p == pytest.approx(stats.chi2.sf(statistic, 3))
    assert found.blocks == 72
    assert rank_sums(wins, tied, 0.05).lsd == pytest.approx(lsd)


def test_multiple_paired_comparisons_of_meilgaard():
    """T = 4 sum(R^2) / (p t) - 9 p (t - 1)^2 and HSD = 3.63 sqrt(p t / 4), p judges a pair."""
    duels = log(n_judges=12, repeats=1)
    wins, tied = duels.tally()
    R = bd.panel(duels).arms["rank_sum"]
    assert equality_test(wins, tied).statistic == pytest.approx(
        4 * (R**2).sum() / (12 * 4) - 9 * 12 * 3**2
    )
    assert rank_sums(wins, tied, 0.05).hsd == pytest.approx(3.63 * np.sqrt(12 * 4 / 4), abs=0.02)


def test_skillings_mack_has_the_mean_of_its_distribution():
    """The exact mean over all outcomes of votes by chance is the degrees of freedom."""
    n = np.array([3, 2, 0, 2, 3, 1])
    i, j = np.triu_indices(4, 1)
    mean = 0.0
    for won in product(*(range(k + 1) for k in n)):
        wins = np.zeros((4, 4))
        wins[i, j] = won
        wins[j, i] = n - won
        found = equality_test(wins, np.zeros((4, 4)))
        assert (found.name, found.df) == ("Skillings-Mack", 3)
        assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 3))
        mean += found.statistic * np.prod(stats.binom.pmf(won, n, 0.5))
    assert mean == pytest.approx(3)


@pytest.mark.slow
def test_skillings_mack_holds_its_level_where_pairs_were_not_judged_equally_often():
    """p-values of votes by chance are about uniform: 2,000 logs, 5 %, error 0.5 points."""
    rng = np.random.default_rng(1)
    n = np.array([30, 12, 0, 20, 25, 9])
    i, j = np.triu_indices(4, 1)
    found = []
    for won in rng.binomial(n, 0.5, (2_000, 6)):
        wins = np.zeros((4, 4))
        wins[i, j] = won
        wins[j, i] = n - won
        found.append(equality_test(wins, np.zeros((4, 4))))
    assert {one.name for one in found} == {"Skillings-Mack"}
    assert abs(np.mean([one.p < 0.05 for one in found]) - 0.05) < 4 * 0.005
    assert abs(np.mean([one.statistic for one in found]) - 3) < 4 * np.sqrt(6 / 2_000)


def test_no_test_of_arms_that_are_not_linked_counts_their_difference():
    wins = np.zeros((4, 4))
    wins[0, 1] = 9
    wins[2, 3] = wins[3, 2] = 5
    assert equality_test(wins, np.zeros((4, 4))).df == 2


# Sensory tables of a preference (Roessler, Pangborn, Sidel & Stone, J. Food Science 1978).
TWO_SIDED = {7: 7, 10: 9, 12: 10, 20: 15, 25: 18, 30: 21, 40: 27, 50: 33, 100: 61}


@pytest.mark.parametrize(("n", "least"), TWO_SIDED.items())
def test_critical_counts_are_those_of_the_tables(n, least):
    assert critical_count(n, 0.05) == least


def test_critical_counts_and_power_are_those_of_the_exact_test():
    for n in range(1, 30):
        significant = [k for k in range(n + 1) if stats.binomtest(k, n).pvalue <= 0.05]
        above = [k for k in significant if 2 * k > n]
        assert critical_count(n, 0.05) == min(above, default=n + 1)
        power = stats.binom.pmf(significant, n, 0.7).sum()
        assert preference_power(n, 0.7, 0.05) == pytest.approx(power)
    needed = duels_needed(0.75, 0.05, 0.8)
    assert preference_power(needed - 1, 0.75, 0.05) < 0.8
    assert (preference_power(np.arange(needed, 300), 0.75, 0.05) >= 0.8).all()
    assert duels_needed(0.5001, 0.05, 0.8) is None


def test_the_power_of_the_panel_is_that_of_simulated_panels():
    """One of four arms is preferred with 65 % by 20 votes a pair; 4,000 panels."""
    rng = np.random.default_rng(2)
    i, j = np.triu_indices(4, 1)
    found = 0
    for won in rng.binomial(20, np.where(i == 0, 0.65, 0.5), (4_000, 6)):
        wins = np.zeros((4, 4))
        wins[i, j] = won
        wins[j, i] = 20 - won
        found += equality_test(wins, np.zeros((4, 4))).p <= 0.05
    power = panel_power(20 * (1 - np.eye(4)), 0.65, 0.05)
    assert power == pytest.approx(found / 4_000, abs=0.03)


# Kendall & Babington Smith (1940), table 9: tournaments by the number of their circular triads.
TRIADS = {
    4: (24, 16, 24),
    5: (120, 120, 240, 240, 280, 24),
    6: (720, 960, 2240, 2880, 6240, 3648, 8640, 4800, 2640),
}


@pytest.mark.parametrize("n_arms", TRIADS)
def test_the_law_of_circular_triads(n_arms):
    below = np.cumsum(TRIADS[n_arms]) / 2 ** comb(n_arms, 2)
    found = [circular_triads_by_chance(d, n_arms) for d in range(len(below))]
    np.testing.assert_allclose(found, below)


def test_the_law_of_circular_triads_of_many_arms_goes_on_from_the_exact_one():
    rng = np.random.default_rng(3)
    above = rng.uniform(size=(20_000, 12, 12)) < 0.5
    forward = np.triu(above, 1)
    wins = (forward | np.swapaxes(~above & np.triu(np.ones((12, 12), bool), 1), 1, 2)) * 1.0
    circular = bd.preference.cyclic_triads((1 + wins - np.swapaxes(wins, 1, 2)) / 2)
    for d in (35, 45, 55):
        share = (circular <= d).mean()
        assert circular_triads_by_chance(d, 12) == pytest.approx(share, abs=0.015)


def test_consistence_is_that_of_kendall():
    """Of three arms: 1 transitive, 0 in a circle; of a level pair or two arms NaN."""
    circle = np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])
    ordered = np.array([[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]])
    level = np.full((3, 3), 0.5)
    np.testing.assert_array_equal(consistence(np.stack([ordered, circle, level])), [1, 0, np.nan])
    assert np.isnan(consistence(ordered[:2, :2]))


# School subjects, Kendall & Babington Smith (1940), as printed by kendall.u of the R package eba:
# arms, judges, agreeing pairs of judges (from u), and u, the least u, chi-square and df.
SUBJECTS = [
    (13, 21, 9718, 0.1866, -0.04762, 412.22, 90.75),
    (11, 25, 8928, 0.08218, -0.04, 180.12, 62.38),
]


@pytest.mark.parametrize(("n_arms", "m", "agreeing", "u", "least", "statistic", "df"), SUBJECTS)
def test_kendalls_u_of_published_panels(n_arms, m, agreeing, u, least, statistic, df):
    i, j = np.triu_indices(n_arms, 1)
    votes_for = np.zeros((n_arms, n_arms))
    left = agreeing - len(i) * 2 * comb(m // 2, 2) - len(i) * (m // 2)  # beyond even pairs
    for a, b in zip(i, j, strict=True):
        step = max(s for s in range(m // 2 + 1) if s * (s + 1) <= left)
        left -= step * (step + 1)
        votes_for[a, b] = m // 2 + 1 + step
        votes_for[b, a] = m - votes_for[a, b]
    assert left == 0
    found = kendall_agreement(votes_for, m)
    assert found.u == pytest.approx(u, abs=5e-5)
    assert found.least == pytest.approx(least, abs=5e-6)
    assert found.statistic == pytest.approx(statistic, abs=0.005)
    assert found.df == pytest.approx(df, abs=0.005)


def test_friedman_takes_the_judges_who_judged_every_pair_equally_often():
    whole = votes(n_judges=8, repeats=1)
    short = {name: values[:-1] for name, values in whole.items()}
    found = bd.panel(bd.Duels.from_votes(**short)).friedman
    points = np.zeros((8, 4))
    judge = np.array([int(name[1:]) for name in whole["judge"]])
    for side, won in (("left", whole["outcome"]), ("right", 1 - whole["outcome"])):
        np.add.at(points, (judge, [ARMS.index(a) for a in whole[side]]), won)
    expected = stats.friedmanchisquare(*points[:-1].T)
    assert found.blocks == 7
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert friedman_test(np.ones((5, 4))) == "no judge ranks one arm above another"


def test_rates_of_judges_are_those_of_quadrature():
    """Against the beta-binomial of SciPy on a fine grid: means and ends of intervals."""
    won = np.array([9, 10, 5, 1, 2, 14])
    n = np.array([10, 10, 10, 1, 2, 20])
    draws = judge_rates(won, n, np.random.default_rng(0), 20_000)
    mean, shrunk = np.meshgrid(*[(np.arange(200) + 0.5) / 200] * 2, indexing="ij")
    size = shrunk / (1 - shrunk)
    a, b = mean * size, (1 - mean) * size
    weight = np.exp(sum(stats.betabinom.logpmf(w, m, a, b) for w, m in zip(won, n, strict=True)))
    weight /= weight.sum()
    for k, (w, m) in enumerate(zip(won, n, strict=True)):
        expected = (weight * (a + w) / (size + m)).sum()
        error = draws[:, k].std() / np.sqrt(20_000)
        assert abs(draws[:, k].mean() - expected) < 4 * error + 1e-3
        for tail in (0.025, 0.5, 0.975):
            below = (
                weight * stats.beta.cdf(np.quantile(draws[:, k], tail), a + w, b + m - w)
            ).sum()
            assert below == pytest.approx(tail, abs=4 * np.sqrt(tail * (1 - tail) / 20_000) + 2e-3)


def test_repeatability_by_hand():
    """x votes ab twice alike and ac three times, 2 to 1; the others vote once."""
    left, right, outcome = [*"abaaa"], [*"bacca"[:4], "c"], [1, 0, 1, 1, 0]
    judge = ["x"] * 5
    for name in "uvwyz":
        left += [*"aab"]
        right += [*"bcc"]
        outcome += [1, 1, 0]
        judge += [name] * 3
    judges = bd.panel(bd.Duels.from_votes(left, right, outcome, judge=judge)).judges
    judges = judges.set_index("judge")
    assert judges.loc["x", "repeats"] == 2
    assert judges["repeats"].sum() == 2
    # of x 1 and 1.5 trials, of which 1 and 1.5 / 3 gave the same vote
    place = list(judges.index).index("x")
    won, trials = (n * (np.arange(6) == place) for n in (1.5, 2.5))
    rates = judge_rates(won, trials, np.random.default_rng(0))
    np.testing.assert_allclose(judges["repeatability"], rates.mean(axis=0))
    wide = judges["repeatability_upper"] - judges["repeatability_lower"]
    assert wide["u"] > wide["x"]


def test_a_judge_with_few_votes_is_drawn_to_the_panel():
    won = np.array([18, 17, 19, 0])
    rates = judge_rates(won, np.array([20, 20, 20, 1]), np.random.default_rng(0)).mean(axis=0)
    assert 0.5 < rates[3] < rates[:3].min()


def groups(n):
    return np.array(["monday", "friday"])[np.arange(n) % 2]


KINDS = {
    "once": {"repeats": 1},
    "twice": {},
    "ties": {"ties": 0.3},
    "all ties": {"ties": 1.0, "repeats": 1},
    "missing": {"missing": 0.3},
    "missing, ties": {"missing": 0.3, "ties": 0.3},
    "sessions": {"group": groups},
    "no judges": {"judges": False},
    "one judge": {"n_judges": 1},
    "one judge once": {"n_judges": 1, "repeats": 1},
    "two judges": {"n_judges": 2, "repeats": 1, "missing": 0.3},
}


@pytest.fixture(scope="module")
def kinds():
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThinDataWarning)  # so is a judge who votes once
        for name, given in KINDS.items():
            duels = log(**given)
            found[name] = duels, bd.panel(duels)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_panel(kinds, kind):
    duels, found = kinds[kind]
    given = KINDS[kind]
    assert found.n_duels == duels.n_duels
    assert found.n_ties == duels.n_ties
    pairs = found.pairs
    for row in pairs.to_dict("records"):
        expected = 1.0
        if row["n"]:
            expected = stats.binomtest(row["first_wins"], row["n"]).pvalue
        assert row["p"] == pytest.approx(expected)
        assert (row["p"] <= 0.05) == (row["first_wins"] >= row["critical"])
    assert found.arms["rank_sum"].sum() == 3 * duels.n_duels
    assert found.arms[["wins", "ties", "losses"]].sum(axis=1).tolist() == list(found.arms["duels"])
    complete = not given.get("missing")
    test = found.equality
    if isinstance(test, str):
        assert test == "every vote is a tie"
    else:
        assert test.name == ("Durbin" if complete else "Skillings-Mack")
        assert isinstance(found.differences, str) is not complete
        assert all(found.arms["letters"]) is complete
    if given.get("judges", True):
        assert found.judges["votes"].sum() == duels.n_duels
        several = given.get("repeats", 2) > 1 and kind != "sessions"
        assert (found.n_repeated > 0) is several or kind == "sessions"
        assert found.judges["repeatability"].notna().all() == (found.n_repeated > 0)
        assert found.judges["agreement"].isna().all() == (
            given.get("n_judges") == 1 or kind == "all ties"
        )
    else:
        assert found.judges == found.friedman == found.agreement == "the log does not name judges"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_panel_is_printed(kinds, kind):
    found = kinds[kind][1]
    lines = repr(found).split("\n")
    assert max(map(cell_len, lines)) <= 80
    assert len(lines) <= 30
    html = found._repr_html_()
    assert html.count("<table") >= 3
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["sentence"] == found.sentence
    assert len(plain["pairs"]) == len(found.pairs)
    assert "nan" not in found.sentence + html


@pytest.mark.parametrize("kind", ["ties", "all ties", "no judges"])
def test_panels_are_drawn(kinds, kind):
    found = kinds[kind][1]
    ax = bd.plots.plot_panel(found)
    names = [label.get_text() for label in ax.get_yticklabels()]
    clearest = found.pairs.loc[found.pairs["p"].idxmin()]
    assert len(names) == len(found.pairs)
    assert names[0] == f"{clearest['first']} over {clearest['second']}"
    drawn = {line.get_label(): len(line.get_xdata()) for line in ax.lines[1:]}
    assert drawn["fit"] == len(found.pairs)
    assert drawn.get("votes, significant", 0) == len(found.significant)
    plt.close(ax.figure)


def test_letters_join_what_does_not_differ(kinds):
    arms = kinds["twice"][1].arms
    hsd = kinds["twice"][1].differences.hsd
    for one in arms.itertuples():
        for other in arms.itertuples():
            near = abs(one.rank_sum - other.rank_sum) <= hsd
            assert bool({*one.letters} & {*other.letters}) == near


@pytest.mark.parametrize("kind", ["twice", "missing"])
def test_letters_are_left_out_where_no_difference_is_given(kinds, kind):
    found = kinds[kind][1]
    body = panel_section(found).body
    (table,) = [block for block in body if getattr(block, "name", "") == "arms"]
    given = kind == "twice"
    assert ("letters" in table.heads) == given
    words = "are not given, because pairs were not judged equally often."
    assert (words in table.caption) == (not given)
    assert "No significant difference" not in table.caption


def test_sides_and_the_order_of_rows_change_nothing(kinds):
    duels, found = kinds["missing, ties"]
    frame = duels.to_frame().iloc[::-1]
    columns = {"left": frame["right"], "right": frame["left"], "judge": frame["judge"]}
    outcome = frame["outcome"].map({"left": 0.0, "right": 1.0, "tie": 0.5})
    again = bd.panel(bd.Duels.from_votes(**columns, outcome=outcome, arms=ARMS))
    assert again.equality.statistic == pytest.approx(found.equality.statistic)
    counts = ["votes", "ties", "repeats", "units", "triads", "circular"]
    one, two = (p.judges.sort_values("judge")[counts].to_numpy() for p in (found, again))
    np.testing.assert_array_equal(one, two)


def test_a_log_that_no_ranking_fits_says_so():
    found = bd.panel(bd.datasets.load("tversky1969"))
    assert len(found.contradicted) >= 2
    assert not len(bd.panel(bd.datasets.load("springall")).contradicted)
    assert f"contradicts the counts of {len(found.contradicted)} pairs" in found.sentence
    assert "bd.check tests whether one ranking holds." in found.sentence
    with command_line():
        assert "bayesduel check tests whether one ranking holds." in found.sentence
    assert "independent" in found.sentence


def test_bad_input():
    duels = log(repeats=1)
    soft = bd.Duels.from_votes([*"ab"], [*"ba"], [0.7, 0.2])
    doubles = bd.Duels.from_votes([("a", "b")] * 3, [("c", "d")] * 3, [1, 0, 1])
    many = bd.Duels.from_votes([f"a{k}" for k in range(101)], ["b"] * 101, [1.0] * 101)
    for wrong, words in (
        (doubles, "one arm a side"),
        (many, "at most 100 arms and 2,000 judges"),
        (soft, "soft votes"),
    ):
        with pytest.raises(ValueError, match=words):
            bd.panel(wrong)
    with pytest.raises(ValueError, match="fit and duels should have the same arms"):
        bd.panel(duels, bd.fit(bd.datasets.load("tennis1990")))
    with pytest.raises(ValueError, match="effect"):
        bd.panel(duels, effect=0.5)
    with pytest.raises(TypeError, match=r"duels should be a bayesduel\.Duels"):
        bd.panel([1])


def test_judges_are_in_the_order_of_the_numbers_in_their_names():
    names = ["judge10", "judge2", "judge1"]
    log = bd.Duels.from_votes(["a"] * 6, ["b"] * 6, [1, 0] * 3, judge=np.repeat(names, 2))
    found = bd.panel(log)
    assert list(found.judges["judge"]) == ["judge1", "judge2", "judge10"]
