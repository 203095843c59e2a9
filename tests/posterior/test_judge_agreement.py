"""Agreement of judges, and their position bias."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.posterior.judge_agreement import JudgeAgreement

SCORE = np.array([1.5, 0.8, 0.0, -0.8, -1.5])
ARMS = np.array([*"abcde"])


def panel(n_units=200, judges=("ann", "bob", "cat", "dan"), noisy=(), biased=(), seed=0):
    """Return a log in which every judge votes on every unit; `noisy` ones vote at random."""
    rng = np.random.default_rng(seed)
    left, right, outcome, judge, group = [], [], [], [], []
    for unit in range(n_units):
        i, j = rng.permutation(5)[:2]
        quality = SCORE[i] - SCORE[j] + rng.logistic()
        for name in judges:
            eta = 2 * quality + rng.logistic() + 2.0 * (name in biased)
            won = rng.random() < 0.5 if name in noisy else eta > 0
            left.append(ARMS[i])
            right.append(ARMS[j])
            outcome.append(float(won))
            judge.append(name)
            group.append(f"q{unit}")
    return bd.Duels.from_votes(left, right, outcome, judge=judge, group=group)


def test_the_judge_who_votes_at_random_is_the_one_to_drop():
    found = bd.judge_agreement(panel(noisy=("cat",)))
    assert found.drop == ("cat",)
    assert found.unit == "pair and group"
    row = found.table.iloc[0]
    assert row["judge"] == "cat"
    assert row["agreement_lower"] < 0.5 < row["agreement_upper"]
    assert row["others"] > 0.7
    assert "cat" in found.sentence


@pytest.mark.parametrize(("drop", "words"), [("x", "without its"), ("xy", "without their")])
def test_votes_to_leave_out_are_those_of_the_judges_named(drop, words):
    table = pd.DataFrame({"judge": list("xy"), "p": 0.01, "agreement": 0.4, "others": 0.8})
    found = JudgeAgreement(table=table, groups=None, unit="pair", drop=tuple(drop))
    assert found.sentence.endswith(f"fit again {words} votes.")


def test_no_judge_is_dropped_where_all_are_alike():
    found = bd.judge_agreement(panel())
    assert found.drop == ()
    assert "no reason to leave a judge out" in found.sentence


def test_agreement_of_two_by_hand():
    """Units ab (both for a), ac (opposed), bc (a tie and a vote): agreement 1/2 over two units."""
    duels = bd.Duels.from_votes(
        [*"aabacb"], [*"bbccac"], [1, 1, 1, 1, 1, 0.5], judge=[*"xyxxyy"],
    )  # fmt: skip
    found = bd.judge_agreement(duels).table.set_index("judge")
    assert found.loc["x", "units"] == 2
    assert found.loc["x", "agreement"] == found.loc["y", "agreement"] == 0.5
    assert found.loc["y", "ties"] == pytest.approx(1 / 3)


def test_a_pair_is_another_unit_in_every_group():
    """Two judges agree on a pair in the first group, and differ in the second."""
    duels = bd.Duels.from_votes("aaaa", "bbbb", [1, 1, 1, 0], judge="xyxy", group="ppqq")
    found = bd.judge_agreement(duels)
    assert found.unit == "pair and group"
    for judge in "xy":
        row = found.table.set_index("judge").loc[judge]
        assert (row["units"], row["agreement"]) == (2, 0.5)


def test_the_interval_of_a_difference_is_that_of_its_t_test():
    table = bd.judge_agreement(panel(40, noisy=("cat",))).table
    law = stats.t(table["units"] - 1)
    error = table["difference"].abs() / law.isf(table["p"] / 2)
    np.testing.assert_allclose(table["difference_upper"] - table["difference"],
                               law.isf(0.025) * error)  # fmt: skip
    np.testing.assert_allclose(table["difference"] - table["difference_lower"],
                               law.isf(0.025) * error)  # fmt: skip


def test_position_bias_belongs_to_the_judge_who_has_it():
    duels = panel(biased=("bob",))
    found = bd.judge_agreement(duels, bd.fit(duels, seed=0)).table.set_index("judge")
    assert found.loc["bob", "left_lower"] > 0.6
    for name in ("ann", "cat", "dan"):
        assert found.loc[name, "left_lower"] < 0.55


def test_a_second_group_of_judges():
    duels = panel(judges=("ann", "bob", "cat", "model"), noisy=("model",))
    found = bd.judge_agreement(duels, against=["model"])
    groups = found.groups.set_index("judges")
    assert groups.loc["within first", "agreement_lower"] > 0.7
    assert groups.loc["between", "agreement_lower"] < 0.5 < groups.loc["between", "agreement_upper"]
    assert groups.loc["within second", "units"] == 0
    assert found.drop == ()  # people are compared with people
    assert found.table.set_index("judge")["group"].to_dict() == {
        "ann": 1, "bob": 1, "cat": 1, "model": 2,
    }  # fmt: skip


def test_bad_input():
    with pytest.raises(ValueError, match="the log has no judges"):
        bd.judge_agreement(bd.datasets.load("citations"))
    with pytest.raises(ValueError, match="against should name judges of the log, got 'eve'"):
        bd.judge_agreement(panel(5), against=["eve"])


@pytest.mark.slow
def test_the_family_wise_error_is_kept():
    """Under equal judges some judge is named in 5 % of logs or fewer: of 200, at most 22.

    Pr(Binomial(200, 0.05) > 22) = 3e-4; the t-tests are slightly conservative.
    """
    wrong = sum(bool(bd.judge_agreement(panel(40, seed=s)).drop) for s in range(200))
    assert wrong <= 22
