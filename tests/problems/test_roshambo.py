"""Live duels of OpenSpiel's roshambo bots: reproducible, and true to what is known of them."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.problems import (
    RoshamboDuels,
    RoshamboTable,
    roshambo_bots,
    roshambo_match,
    roshambo_table,
)

pytest.importorskip("pyspiel")

BOTS = ("rockbot", "rotatebot", "randbot", "iocainebot")


@pytest.fixture(scope="module")
def table():
    return roshambo_table(BOTS, throws=30, matches=40, seed=1)


def test_all_entrants_are_there():
    assert set(BOTS) < set(roshambo_bots())
    assert len(roshambo_bots()) == 43


def test_the_table_is_what_is_known_of_the_bots(table):
    """Rock against paper, scissors, rock in turn is even; who predicts beats who repeats."""
    rock, rotate, rand, iocaine = range(4)
    assert table.mean[rock, rotate] == table.sd[rock, rotate] == 0
    assert table.mean[iocaine, rock] > 15
    assert table.mean[iocaine, rotate] > 15
    # A throw against a random bot is -1, 0 or 1 with equal chances: variance 20 a match.
    for other in (rock, rotate, iocaine):
        assert abs(table.mean[other, rand]) < 4.9 * np.sqrt(20 / 40)
        assert table.sd[other, rand] ** 2 == pytest.approx(20, rel=0.9)
    np.testing.assert_array_equal(table.mean, -table.mean.T)


def test_a_match_has_the_same_margin_whoever_asks(table):
    problem = RoshamboDuels(table)
    key = np.uint64(77)
    margins = [problem.play(2, 3, n, key) for n in range(20)]
    problem.play(0, 1, 0, key)
    again = [-problem.play(3, 2, n, key) for n in reversed(range(20))]
    assert margins == again[::-1]
    assert len(set(margins)) > 5
    assert all(abs(m) <= 30 and m == round(m) for m in margins)
    assert margins != [problem.play(2, 3, n, np.uint64(78)) for n in range(20)]


def test_a_table_is_kept(table, tmp_path):
    path = tmp_path / "table.csv"
    table.save(path)
    read = RoshamboTable.load(path)
    assert (read.bots, read.throws, read.matches) == (table.bots, 30, 40)
    np.testing.assert_array_equal(read.mean, table.mean)
    np.testing.assert_array_equal(read.sd, table.sd)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(ValueError, match="each pair once"):
        RoshamboTable.load(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="should have the columns"):
        RoshamboTable.load(path)


def test_the_best_is_selected_live_and_in_any_process(table):
    problem = RoshamboDuels(table)
    settings = {"replications": 3, "seed": 2, "record_at": [90]}
    here = bd.simulate([bd.policies.POCBAm(), bd.policies.PKG()], problem, 90, k=1, **settings)
    there = bd.simulate(
        [bd.policies.POCBAm(), bd.policies.PKG()], problem, 90, k=1, workers=2, **settings
    )
    selected = here["trace"]["selected"]
    np.testing.assert_array_equal(selected, there["trace"]["selected"])
    np.testing.assert_array_equal(here["trace"]["pair_duels"], there["trace"]["pair_duels"])
    best = np.array(BOTS) == "iocainebot"
    np.testing.assert_array_equal(selected, np.broadcast_to(best, selected.shape))


def test_bad_input_is_refused(table):
    with pytest.raises(ValueError, match="distinct names of"):
        roshambo_table(["rockbot", "humanbot"])
    with pytest.raises(ValueError, match=r"throws should be from 1 to 1000, got 2000"):
        roshambo_table(BOTS, throws=2000)
    with pytest.raises(ValueError, match="matches should be at least 2"):
        roshambo_table(BOTS, matches=1)
    with pytest.raises(ValueError, match=r"bots should be among .*, got \['pibot'\]"):
        RoshamboDuels(table, ["pibot", "rockbot"])


def test_a_match_is_that_of_its_seed_and_bad_bots_are_refused():
    margins = [roshambo_match("rockbot", "switchbot", throws=20, seed=k) for k in (1, 2, 1)]
    assert margins[0] == margins[2]
    assert all(abs(m) <= 20 for m in margins)
    with pytest.raises(ValueError, match="bots should be among"):
        roshambo_match("rockbot", "humanbot")
    with pytest.raises(ValueError, match="throws should be"):
        roshambo_match("rockbot", "switchbot", throws=0)
    with pytest.raises(ValueError, match="seed should be"):
        roshambo_match("rockbot", "switchbot", seed=-1)
