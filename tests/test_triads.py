"""Cyclic triads: the count, its reference distribution, and votes that are not independent."""

from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import expit

from bayesduel.duels import Duels
from bayesduel.triads import cyclic_check
from bayesduel.units import one_verdict_per_unit, repeated_role


def known_fit(score: np.ndarray, arms: tuple[str, ...]) -> xr.DataTree:
    """Return a Bradley-Terry fit that is sure of these scores."""
    posterior = {"score": (("chain", "draw", "arm"), np.tile(score, (1, 3, 1)))}
    fit = xr.DataTree.from_dict({"posterior": xr.Dataset(posterior, coords={"arm": list(arms)})})
    fit.attrs.update(model="bradley-terry", model_settings="{}", importance_ess=3.0)
    return fit


def simulate(P: np.ndarray, n: int, rng: np.random.Generator) -> Duels:
    """Return a log of n duels a pair."""
    above = np.triu(rng.binomial(n, P), 1)
    wins = above + np.tril(n - above.T, -1)
    return Duels.from_wins(wins, [f"{i:02}" for i in range(len(P))])


def voted(P: np.ndarray, n_units: int, n_votes: int, rng: np.random.Generator, role: str) -> Duels:
    """Return a log whose every unit votes as one: `n_votes` copies of one draw."""
    left, right, outcome, unit = [], [], [], []
    for i, j in combinations(range(len(P)), 2):
        for u in range(n_units):
            left += [f"{i:02}"] * n_votes
            right += [f"{j:02}"] * n_votes
            outcome += [float(rng.random() < P[i, j])] * n_votes
            unit += [f"u{u}"] * n_votes
    return Duels.from_votes(left, right, outcome, **{role: unit})


SCORE = np.linspace(0.6, -0.6, 12)
ORDERED = expit(SCORE[:, None] - SCORE)


def test_count_by_hand():
    # a, b, c go round; d loses to a and b and is level with c; ties change nothing.
    wins = np.array([[0, 3, 1, 2], [1, 0, 5, 2], [4, 2, 0, 1], [0, 1, 1, 0]])
    duels = Duels.from_wins(wins, [*"abcd"])
    check = cyclic_check(duels, known_fit(np.zeros(4), duels.arms))
    assert (check.observed, check.decided, check.unit) == (1, 2, "duel")  # abc and abd
    (cycle,) = check.cycles
    assert cycle.arms == ("a", "b", "c")
    assert cycle.counts == ((3, 1), (5, 2), (4, 1))
    assert str(cycle) == "a beat b 3:1, b beat c 5:2, c beat a 4:1"
    assert check.naive is None
    assert "1 of 2 decided triads are cyclic" in check.sentence


def test_the_surest_cycles_are_named_first():
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 6, size=(9, 9))
    np.fill_diagonal(wins, 0)
    duels = Duels.from_wins(wins, [*"abcdefghi"])
    check = cyclic_check(duels, known_fit(np.zeros(9), duels.arms), draws=10)
    surety = (wins - wins.T) / np.sqrt(np.maximum(wins + wins.T, 1))
    around = [
        min(surety[a, b], surety[b, c], surety[c, a])
        for i, j, k in combinations(range(9), 3)
        for a, b, c in ((i, j, k), (i, k, j))
    ]
    expected = sorted((s for s in around if s > 0), reverse=True)
    assert check.observed == len(expected) > 5
    named = [
        min((w - lost) / np.sqrt(w + lost) for w, lost in cycle.counts) for cycle in check.cycles
    ]
    np.testing.assert_allclose(named, expected[:5])


def test_under_the_model_p_values_are_uniform():
    """With the true scores in the fit, log and replicates are exchangeable."""
    rng = np.random.default_rng(1)
    p = []
    for seed in range(200):
        duels = simulate(ORDERED, 5, rng)
        p.append(cyclic_check(duels, known_fit(SCORE, duels.arms), draws=99, seed=seed).p_value)
    # Mid-p values are uniform but for ties; Kolmogorov's limit at 1e-6, a step of the grid wider.
    assert stats.kstest(p, "uniform").statistic < stats.kstwo.isf(1e-6, 200) + 0.05


def test_the_reference_is_what_the_model_makes():
    """Three arms, three duels a pair: Pr(cyclic) by enumeration."""
    score = np.array([0.7, 0.0, -0.2])
    P = expit(score[:, None] - score)
    won = stats.binom(3, P).sf(1)  # two or three of three
    cyclic = won[0, 1] * won[1, 2] * won[2, 0] + won[1, 0] * won[2, 1] * won[0, 2]
    duels = simulate(P, 3, np.random.default_rng(2))
    n = 20_000
    check = cyclic_check(duels, known_fit(score, duels.arms), draws=n)
    assert stats.binom(n, cyclic).cdf(check.replicated.sum()) == pytest.approx(0.5, abs=0.5 - 1e-6)
    assert set(np.unique(check.replicated)) == {0, 1}


def test_a_planted_cycle_is_seen_and_an_order_is_not():
    rng = np.random.default_rng(3)
    swirl = 0.5 + 0.2 * np.sign(np.sin(2 * np.pi * (np.arange(11) - np.arange(11)[:, None]) / 11))
    duels = simulate(swirl, 20, rng)
    check = cyclic_check(duels, known_fit(np.zeros(11), duels.arms), draws=400)
    assert check.p_value < 0.01  # no fit of scores explains a swirl better than equal ones
    assert "no ranking explains" in check.sentence and "p < 0.0025" in check.sentence
    order = expit(2 * (np.arange(11)[::-1, None] - np.arange(11)[::-1]))
    check = cyclic_check(simulate(order, 20, rng), known_fit(2.0 * np.arange(11)[::-1], duels.arms))
    assert (check.observed, check.p_value) == (0, 0.5)  # none where none are expected
    assert "nothing here speaks against" in check.sentence


def test_no_triads_is_said():
    two = Duels.from_wins([[0, 3], [1, 0]])
    check = cyclic_check(two, known_fit(np.zeros(2), two.arms))
    assert (check.observed, check.decided, len(check.replicated)) == (0, 0, 0)
    assert np.isnan(check.p_value)
    assert "No three arms have all met" in check.sentence
    chain = Duels.from_wins([[0, 3, 0], [1, 0, 2], [0, 1, 0]])
    assert "No three arms" in cyclic_check(chain, known_fit(np.zeros(3), chain.arms)).sentence
    ties = Duels.from_wins(np.zeros((3, 3)), ties=2 * (1 - np.eye(3)))
    assert "No three arms" in cyclic_check(ties, known_fit(np.zeros(3), ties.arms)).sentence


def test_same_seed_same_check():
    duels = simulate(ORDERED, 5, np.random.default_rng(4))
    fit = known_fit(SCORE, duels.arms)
    one, two, three = (cyclic_check(duels, fit, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.replicated, two.replicated)
    assert (one.replicated != three.replicated).any()


# -- units ---------------------------------------------------------------------------------


def test_one_verdict_a_unit_by_hand():
    duels = Duels.from_votes(
        left=[*"aaabbcaac"],
        right=[*"bbbaaabcb"],
        outcome=[1, 1, 0, 1, 0.5, 1, 1, 0, 0],
        group=["x", "x", "x", "y", "y", "x", None, "z", "z"],
        weight=[1, 1, 1, 2, 1, 1, 3, 1, 1],
    )
    assert repeated_role(duels) == "group"
    wins, ties = one_verdict_per_unit(duels, "group").tally()
    # ab: x says a (2:1), y says b, the vote without a group says a; ac: x says c (c won), z says c;
    # bc: z says b.
    np.testing.assert_array_equal(wins, [[0, 2, 0], [1, 0, 1], [2, 0, 0]])
    assert not ties.any()


def test_level_units_give_no_verdict():
    duels = Duels.from_votes([*"aaa"], [*"bbb"], [1, 0, 1], judge=["x", "x", "y"])
    assert one_verdict_per_unit(duels, "judge").n_duels == 1
    level = Duels.from_votes([*"aa"], [*"bb"], [1, 0], judge=["x", "x"])
    with pytest.raises(ValueError, match="some pair and judge should have a majority"):
        one_verdict_per_unit(level, "judge")
    with pytest.raises(ValueError, match="duels should name a group for each vote"):
        one_verdict_per_unit(level, "group")


def test_which_role_repeats():
    once = Duels.from_votes([*"aab"], [*"bcc"], [1, 0, 1], judge=[*"xxx"], group=[*"123"])
    assert repeated_role(once) is None
    by_judge = Duels.from_votes([*"aab"], [*"bbc"], [1, 0, 1], judge=[*"xxy"], group=[*"123"])
    assert repeated_role(by_judge) == "judge"
    alone = Duels.from_votes([*"aab"], [*"bbc"], [1, 0, 1], judge=[*"xxx"])
    assert repeated_role(alone) is None  # one judge is the whole log, not a unit of it
    weighted = Duels.from_votes([*"aab"], [*"bcc"], [1, 0, 1], judge=[*"xxy"], weight=[2, 1, 1])
    assert repeated_role(weighted) == "judge"
    ties = Duels.from_votes([*"aab"], [*"bbc"], [1, 0.5, 1], judge=[*"xxx"])
    assert repeated_role(ties) is None  # a tie does not vote
    assert repeated_role(Duels.from_wins([[0, 9], [9, 0]])) is None


@pytest.mark.parametrize("role", ["judge", "group"])
def test_votes_that_repeat_each_other_do_not_make_cycles(role):
    """Three units a pair, each with ten votes that are copies of one."""
    from bayesduel.fitting import fit

    duels = voted(ORDERED, 3, 10, np.random.default_rng(5), role)
    check = cyclic_check(duels, fit(duels, method="laplace", clusters=False), draws=200)
    assert check.unit == f"majority verdict of each pair and {role}"
    assert check.naive is not None and check.naive.unit == "duel"
    assert check.observed == check.naive.observed  # the majorities are the same
    assert check.naive.p_value < 0.005
    assert check.p_value > 0.05
    assert "is not to be trusted here" in check.sentence


# -- fits ----------------------------------------------------------------------------------


def test_ties_are_left_out_of_the_reference():
    """Half of all duels tie: counted as half wins they would pull the model to one half."""
    from bayesduel.fitting import fit

    rng = np.random.default_rng(6)
    score = np.linspace(2, -2, 10)
    above = np.triu(rng.binomial(6, expit(score[:, None] - score)), 1)
    wins = above + np.tril(6 - above.T, -1)
    ties = 12.0 * (1 - np.eye(10))
    plain = Duels.from_wins(wins)
    tied = Duels.from_wins(wins, ties=ties)
    one, two = (
        cyclic_check(d, fit(d, method="laplace", clusters=False), draws=300) for d in (plain, tied)
    )
    assert (one.observed, one.decided) == (two.observed, two.decided)
    np.testing.assert_array_equal(one.replicated, two.replicated)
    # The Davidson model conditions on a decision by itself.
    three = cyclic_check(tied, fit(tied, "davidson", method="laplace"), draws=300)
    spread = np.hypot(one.replicated.std(), three.replicated.std()) / np.sqrt(300)
    assert abs(three.expected - one.expected) < 5 * spread + 0.1 * one.expected


def test_a_model_that_allows_cycles_is_not_the_reference():
    from bayesduel.fitting import fit

    duels = simulate(ORDERED, 6, np.random.default_rng(7))
    check = cyclic_check(duels, fit(duels, "preference-matrix", method="laplace"), draws=50)
    assert check.model == "bradley-terry"
    same = cyclic_check(duels, fit(duels, method="laplace", clusters=False), draws=50)
    np.testing.assert_array_equal(check.replicated, same.replicated)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"draws": 0}, "draws should be a whole number >= 1, got 0"), ({"draws": 1.5}, "got 1.5")],
)
def test_bad_arguments_are_named(options, words):
    duels = Duels.from_wins([[0, 3], [1, 0]])
    with pytest.raises(ValueError, match=words):
        cyclic_check(duels, known_fit(np.zeros(2), duels.arms), **options)


def test_another_log_or_no_fit_is_refused():
    duels = Duels.from_wins([[0, 3], [1, 0]])
    with pytest.raises(ValueError, match="fit should be of the log's 2 arms, got 3"):
        cyclic_check(duels, known_fit(np.zeros(3), ("0", "1", "2")))
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        cyclic_check(duels, None)
