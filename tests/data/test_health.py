"""Health of a log, on logs small enough to count by hand and on large ones."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.data.health import DisconnectedWarning, ThinDataWarning
from bayesduel.data.majority import repeated_role


def log() -> Duels:
    """Return a > b > c > a and d beaten twice by a; one tie, two judges, one group a pair."""
    return Duels.from_votes(
        list("abcaaad"),
        list("bcadbba"),
        [1, 1, 1, 1, 0.5, 0, 0],
        judge=["x", "x", "x", "x", "x", "y", None],
        group=["1", "1", "1", "2", "1", "1", "2"],
    )


def test_counts_by_hand():
    h = bd.health(log())
    assert (h.n_rows, h.n_duels, h.n_arms, h.n_ties, h.n_decisive) == (7, 7, 4, 1, 6)
    assert (h.n_pairs, h.n_pairs_met, h.n_pairs_never_met) == (6, 4, 2)
    assert h.duels_per_arm == (2, 3.0, 6)  # a 6, b 4, c 2, d 2
    assert (h.never_won, h.never_lost) == (("d",), ())
    assert (h.components, h.strongly_connected) == ((("a", "b", "c", "d"),), False)
    assert (h.n_judges, h.n_groups, h.n_duplicates) == (2, 2, None)
    judge, group = h.repeats
    # pairs ab, bc, ca, ad by x, one of them twice; ab by y; a vote without a judge
    assert (judge.unit, judge.n_votes, judge.n_units, judge.n_repeated) == (
        "judge and pair", 6, 5, 1,
    )  # fmt: skip
    assert (group.unit, group.n_votes, group.n_units, group.n_repeated) == (
        "group and pair", 7, 4, 3,
    )  # fmt: skip


def test_equal_numbers_of_duels_are_one_number():
    log = Duels.from_wins([[0, 2, 2], [2, 0, 2], [2, 2, 0]], list("abc"))
    assert ("duels per arm", "8") in bd.health(log).table


def test_share_of_the_first_side_is_wilsons():
    h = bd.health(log())
    assert h.first_share == 4 / 6
    truth = binomtest(4, 6).proportion_ci(0.95, method="wilson")
    assert h.first_interval == pytest.approx((truth.low, truth.high), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(0, 7), (7, 7), (500, 1_000)])
def test_wilson_at_its_ends(k, n):
    wins = np.array([[0, k], [n - k, 0]])
    low, high = bd.health(Duels.from_wins(wins)).first_interval
    truth = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert (low, high) == pytest.approx((truth.low, truth.high), abs=1e-12)


def test_a_sound_log_has_nothing_to_heed():
    wins = np.full((5, 5), 5) - 5 * np.eye(5, dtype=int)
    h = bd.health(Duels.from_wins(wins, list("abcde")))
    assert (h.warnings, h.strongly_connected, h.is_thin) == ((), True, False)
    assert h.repeats == ()


def test_components_are_named():
    h = bd.health(Duels.from_votes(list("abcd" * 9), list("badc" * 9), [1, 1, 1, 1] * 9))
    assert h.components == (("a", "b"), ("c", "d"))
    assert "has 2 components (a and b; c and d)" in h.warnings[0]
    assert issubclass(DisconnectedWarning, UserWarning)
    assert issubclass(ThinDataWarning, UserWarning)


def test_thin_data():
    duels = Duels.from_votes(list("aabac"), list("bcccb"), [1, 1, 1, 1, 1])
    h = bd.health(duels)
    assert h.is_thin
    assert h.never_lost == ("a",)
    assert any("5 duels for 3 arms, fewer than 5 per score" in w for w in h.warnings)
    assert any("Maximum-likelihood scores do not exist" in w for w in h.warnings)
    assert "1 arm never lost: a." in h.warnings


def test_all_ties():
    h = bd.health(Duels.from_votes(list("abc"), list("bca"), [0.5] * 3))
    assert (
        "Every duel is a tie: the log has no information on differences between arms." in h.warnings
    )
    assert np.isnan(h.first_share)
    assert h.to_dict()["first_share"] is None
    assert h.to_dict()["first_interval"] == [None, None]
    assert h.strongly_connected  # ties lead both ways
    assert (h.never_won, h.never_lost) == (("a", "b", "c"), ("a", "b", "c"))


def test_winners_listed_first():
    h = bd.health(Duels.from_votes(list("abcabc"), list("bcacab"), [1] * 6))
    assert any("The arm listed first won every decisive duel" in w for w in h.warnings)


def ordered(share: float, n: int) -> Duels:
    """Return n duels of each of (a, b) and (b, a) of which the first wins a share."""
    won = round(share * n)
    outcome = [1] * won + [0] * (n - won)
    return Duels.from_votes("a" * n + "b" * n, "b" * n + "a" * n, outcome * 2)


def test_an_effect_of_the_order_is_told():
    (told,) = bd.health(ordered(0.65, 400)).warnings
    assert "listed first won 65.0 % of the 800 decisive duels" in told
    assert "Models without a side advantage ignore it" in told
    (told,) = bd.health(ordered(0.35, 400)).warnings
    assert "listed first won 35.0 %" in told and "listed second more often" in told
    low, _ = bd.health(ordered(0.55, 400)).first_interval
    assert 0.5 < low < 0.52  # surely above one half, but not by enough to matter
    assert bd.health(ordered(0.55, 400)).warnings == ()


def test_pairs_listed_one_way_tell_nothing_of_the_order():
    h = bd.health(Duels.from_votes("a" * 800, "b" * 800, [1] * 520 + [0] * 280))
    assert (h.n_pairs_met, h.n_pairs_both_ways) == (1, 0)
    (told,) = h.warnings
    assert h.first_interval[0] > 0.52 and "listed in one order only" in told
    no_sides = bd.health(Duels.from_wins([[0, 520], [280, 0]]))
    assert no_sides.warnings == () and not no_sides.ordered
    assert "won by the arm listed first" not in dict(no_sides.table)
    assert "won by the arm listed first" in dict(h.table)
    seven = [*zip("abcdefg", "bcdefga", strict=True)]  # each pair once: orders are by chance
    once = Duels.from_votes([a for a, _ in seven], [b for _, b in seven], [1, 0, 1, 0, 1, 1, 0])
    assert not bd.health(once).one_orientation


def test_a_few_repeats_in_a_large_log_are_no_warning():
    n = 3000
    left, right = ["a", "b"] * (n // 2), ["b", "a"] * (n // 2)
    judge = [f"j{k}" for k in range(n)]
    judge[:7] = ["j0"] * 7  # six repeats
    log = Duels.from_votes(left, right, [1, 1, 0] * (n // 3), judge=judge)
    assert bd.health(log).repeats[0].n_repeated == 6
    assert not [words for words in bd.health(log).warnings if "not independent" in words]
    assert repeated_role(log) is None
    judge[:60] = ["j0"] * 60
    log = Duels.from_votes(left, right, [1, 1, 0] * (n // 3), judge=judge)
    assert any("not independent" in words for words in bd.health(log).warnings)
    assert repeated_role(log) == "judge"
    assert bd.health(ordered(0.5, 4)).n_pairs_both_ways == 1


def test_labels_that_look_alike():
    h = bd.health(Duels.from_votes(["1", "Foo", "x"], ["1.0", "foo", "y"], [1, 1, 1]))
    assert h.alike == (("1", "1.0"), ("Foo", "foo"))


@pytest.mark.parametrize(
    ("other", "shown"),
    [
        ("caf\u00e9", None),
        ("cafe\u0301", r"'cafe\u0301' and 'caf\xe9'"),  # decomposed
        ("caf\u00e9\u200b", r"'caf\xe9' and 'caf\xe9\u200b'"),  # zero width
        ("ca\u00adf\u00e9", r"'caf\xe9' and 'ca\xadf\xe9'"),  # a soft hyphen
        ("\u0441af\u00e9", r"'caf\xe9' and '\u0441af\xe9'"),  # Cyrillic
        ("c\u03b1f\u00e9", r"'caf\xe9' and 'c\u03b1f\xe9'"),  # Greek
        ("\uff43af\u00e9", r"'caf\xe9' and '\uff43af\xe9'"),  # full width
        ("Caf\u00c9 ", "'Caf\u00c9 ' and 'caf\u00e9'"),
        ("cafe", None),
        ("\u043a\u0444\u0435", None),
    ],
)
def test_labels_that_look_alike_by_unicode(other, shown):
    h = bd.health(Duels.from_votes(["caf\u00e9", other], ["x", "x"], [1, 0]))
    said = [w for w in h.warnings if "look alike" in w]
    assert said == ([] if shown is None else [f"1 pair of labels look alike: {shown}."])


def test_ford_s_condition_against_its_definition():
    """No split of the arms in two has all wins across it going one way (ties count both ways)."""
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(300):
        n = int(rng.integers(2, 6))
        wins = rng.poisson(0.6, size=(n, n)) * (1 - np.eye(n, dtype=int))
        ties = np.triu(rng.poisson(0.1, size=(n, n)), 1)
        ties = ties + ties.T
        if not (wins + ties).any():
            continue
        beats = (wins + ties) > 0
        splits = [[k >> i & 1 for i in range(n)] for k in range(1, 2**n - 1)]
        masks = [np.array(s, dtype=bool) for s in splits]
        truth = all(beats[np.ix_(m, ~m)].any() for m in masks)
        found = bd.health(Duels.from_wins(wins, ties=ties)).strongly_connected
        assert found == truth
        seen.add(truth)
    assert seen == {True, False}


def test_a_few_duplicates_among_many_rows_are_no_warning(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"a,b,{'left' if k % 3 else 'right'},judge {k}" for k in range(300)]
    path.write_text("\n".join(["left,right,outcome,judge", *rows, rows[0], rows[1]]))
    h = bd.health(bd.read_duels(path))
    assert h.n_duplicates == 2
    assert not any("duplicate" in words for words in h.warnings)


def test_bad_rows_and_duplicates_are_listed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "left,right,outcome,judge\na,b,left,x\na,b,left,x\na,b,up,x\na,a,left,x\n"
        "a,b,tie (bothbad),y\n"
    )
    h = bd.health(bd.read_duels(path, on_bad="skip"))
    assert (h.n_rows, h.n_duels, h.n_bad_rows, h.n_duplicates, h.n_self_duels) == (5, 3, 1, 1, 1)
    assert h.bad_rows[0][0] == f"{path}, line 4"
    assert "1 bad row was left out." in h.warnings
    assert "1 duplicate row was kept." in h.warnings
    assert "1 self-duel was left out." in h.warnings
    assert "1 duel was marked both bad, which counts as a tie." in h.warnings
    for words in (" ".join(repr(h).split()), h._repr_html_()):
        assert "line 4" in words
        assert "column &#x27;outcome&#x27;" in words or "column 'outcome'" in words


def test_it_is_told_in_text_html_and_json():
    h = bd.health(log())
    assert repr(h).startswith("Health of memory\n  rows")
    assert "votes by group and pair" in repr(h)
    assert h._repr_html_().count("<tr>") == len(h.table)
    found = json.loads(json.dumps(h.to_dict()))
    assert found["never_won"] == ["d"]
    assert found["repeats"][0]["n_repeated"] == 1
    assert set(found) >= {"warnings", "n_pairs_never_met", "bad_rows", "components", "is_thin"}


def test_long_labels_are_shortened():
    h = bd.health(Duels.from_votes(["x" * 5000, "y"], ["z", "z"], [1, 1]))
    assert all("x" * 61 not in words for words in (repr(h), h._repr_html_()))


def test_html_escapes_labels():
    h = bd.health(Duels.from_votes(["<b>", "x"], ["y", "y"], [1, 1]))
    assert "<b>" not in h._repr_html_()


def test_a_thousand_arms_take_no_time():
    rng = np.random.default_rng(5)
    wins = rng.poisson(1.0, size=(1_000, 1_000)) * (1 - np.eye(1_000, dtype=int))
    duels = Duels.from_wins(wins)
    start = time.perf_counter()
    h = bd.health(duels)
    assert time.perf_counter() - start < 5  # about 0.2 s on a quiet machine
    assert h.n_duels == wins.sum()
    assert h.n_pairs_met == (np.triu(wins + wins.T) > 0).sum()


def test_a_learned_scale_is_doubted_where_opponents_are_near_one_another():
    from bayesduel.data.health import LocalPairingWarning
    from bayesduel.data.relaxation_time import relaxation_time

    rng = np.random.default_rng(0)
    first = rng.integers(0, 60, 1200)
    near, far = (first + rng.integers(1, 4, 1200)) % 60, (first + rng.integers(1, 60, 1200)) % 60
    won = rng.integers(0, 2, 1200)
    matched, mixed = (bd.Duels.from_votes(first, other, won) for other in (near, far))
    assert relaxation_time(mixed) < 2 < 20 < relaxation_time(matched)
    # A cycle of n arms with one step: 1 / (1 - cos(2 pi / n)).
    ring = bd.Duels.from_votes(range(12), [*range(1, 12), 0], [1] * 12)
    assert relaxation_time(ring) == pytest.approx(1 / (1 - np.cos(np.pi / 6)), rel=0.01)
    with pytest.warns(LocalPairingWarning, match="matched by strength"):
        bd.fit(matched, bd.models.BradleyTerry(), "gibbs", draws=100, chains=1)
    bd.fit(matched, bd.models.BradleyTerry(scale=10.0), "gibbs", draws=100, chains=1)
    bd.fit(mixed, bd.models.BradleyTerry(), "gibbs", draws=100, chains=1)


@pytest.mark.parametrize("n_edges", [1, 3, 30, 60, 99])
@pytest.mark.sampled(3)
def test_components_are_the_arms_that_duels_reach(n_edges):
    for seed in range(20):
        rng = np.random.default_rng([n_edges, seed])
        wins = np.zeros((60, 60))
        start, end = rng.integers(60, size=(2, n_edges))
        wins[start, end] = 1
        np.fill_diagonal(wins, 0)
        wins[0, 1] = 1  # a duel at least
        reached = np.eye(60, dtype=bool)
        for _ in range(60):
            reached = reached @ ((wins + wins.T) > 0) | reached
        groups = {tuple(sorted(map(str, np.flatnonzero(row)))) for row in reached}
        assert set(bd.components(Duels.from_wins(wins))) == groups


@pytest.mark.slow
def test_a_long_chain_of_arms_is_one_component():
    arms = np.random.default_rng(0).permutation(100_000)
    chain = Duels.from_votes(arms[1:], arms[:-1], np.ones(len(arms) - 1))
    assert len(bd.components(chain)) == 1


def test_components_do_not_depend_on_the_order_of_cells():
    chain = Duels.from_votes(list("acbeg"), list("bdcfh"), np.ones(5))
    turned = replace(chain, cells=type(chain.cells)(*(column[::-1] for column in chain.cells)))
    assert bd.components(turned) == bd.components(chain)
    assert [len(part) for part in bd.components(chain)] == [4, 2, 2]
