"""Models of margins on logs and settings that they refuse, or barely take."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.data.health import DisconnectedWarning
from bayesduel.models import PerturbedThurstone, ThurstoneScore
from bayesduel.models.cells import margins_of, seen_in

FLAT = np.inf
pytestmark = pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")


def test_logs_without_margins_are_refused():
    log = Duels.from_wins([[0, 3], [2, 0]])
    for model in ("thurstone-score", "perturbed-thurstone"):
        with pytest.raises(ValueError, match="this model needs margins"):
            bd.fit(log, model)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_margins_that_are_not_finite_are_refused_on_the_way_in(bad, tmp_path):
    with pytest.raises(ValueError, match="margin should be a finite number"):
        Duels.from_votes("ab", "ba", [1, 1], margin=[1.0, bad])
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,margin\na,b,1\nb,a,{bad}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="margin"):
        bd.read_duels(path)


@pytest.mark.parametrize("model", [ThurstoneScore(), PerturbedThurstone()])
def test_margins_without_noise_are_refused(model):
    labels = "abcabc", "bcabca"
    same = Duels.from_votes(*labels, [0.5] * 6, margin=[0.0] * 6)
    with pytest.raises(ValueError, match="margins should not all be 0"):
        bd.fit(same, model)
    fitted = Duels.from_votes("aabaab", "bccbcc"[:3] + "bcc", [1] * 6, margin=[1, 3, 2, 1, 3, 2])
    with pytest.raises(ValueError, match="the scores fit all margins exactly"):
        bd.fit(fitted, model)
    equal = Duels.from_votes("aaaa", "bbbb", [1] * 4, margin=[3.0] * 4)
    with pytest.raises(ValueError, match="check whether all margins are equal"):
        bd.fit(equal, model)


@pytest.mark.slow
def test_equal_margins_that_no_scores_fit_are_noise():
    """Every margin of a cycle is 2: scores are even and the noise is about 2."""
    log = Duels.from_votes("abc" * 5, "bca" * 5, [1] * 15, margin=[2.0] * 15)
    fit = bd.fit(log, ThurstoneScore(), "laplace")
    assert np.allclose(fit["laplace"]["score_mode"], 0, atol=1e-8)
    assert 1.2 < float(fit["posterior"]["noise"].median()) < 3


def test_two_duels_of_three_arms_leave_the_noise_to_the_prior():
    log = Duels.from_votes("ab", "bc", [1, 1], margin=[1.0, 2.0])
    wide = bd.fit(log, ThurstoneScore())["posterior"]["noise"].quantile([0.1, 0.9])
    assert wide[1] > 3 * wide[0]
    with pytest.raises(ValueError, match="2 margins are too few to estimate the noise"):
        bd.fit(log, ThurstoneScore(scale=FLAT))


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.DisconnectedWarning")
@pytest.mark.slow
def test_arms_that_never_met_are_told():
    left, right = list("aabb" * 3) + ["x"] * 3, list("bbaa" * 3) + ["y"] * 3
    margin = np.random.default_rng(0).normal(1, 1, 15)
    log = Duels.from_votes(left, right, (np.sign(margin) + 1) / 2, margin=margin)
    with pytest.raises(ValueError, match="got inf: 2 groups of arms never met"):
        bd.fit(log, ThurstoneScore(scale=FLAT))
    with pytest.warns(DisconnectedWarning, match="2 components"):
        fit = bd.fit(log, ThurstoneScore())
    assert bd.winners(fit).attrs["verdict_kind"] == "not comparable"
    alone = Duels.from_votes(
        left[:12], right[:12], (np.sign(margin[:12]) + 1) / 2, margin=margin[:12], arms="abz"
    )
    with pytest.warns(DisconnectedWarning, match="2 components"):
        fit = bd.fit(alone, PerturbedThurstone())
    spread = fit["posterior"]["score"].std(("chain", "draw"))
    assert spread.sel(arm="z") > spread.sel(arm="a")


def test_logs_that_left_ties_out_are_refused():
    log = Duels.from_votes("aba", "bab", [1, 0.5, 0], margin=[1.0, 0.0, -2.0], tie_rule="drop")
    with pytest.raises(ValueError, match="ties='keep'"):
        bd.fit(log, ThurstoneScore())


def test_pairs_that_met_once_say_nothing_of_residuals():
    log = Duels.from_votes("abc", "bca", [1, 1, 1], margin=[1.0, 2.0, 0.5])
    with pytest.raises(ValueError, match="at least one pair should have two duels or more"):
        bd.fit(log, PerturbedThurstone())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"variances": "each"}, "variances should be 'common', 'arm' or 'pair', got 'each'"),
        ({"degrees": -1.0}, "degrees should be a finite number > 0, got -1.0"),
        ({"degrees": 3.0, "variances": "pair"}, "degrees should be None with variances='pair'"),
        ({"unit": 0.0}, "unit should be > 0 and finite, got 0.0"),
        ({"scale": -1.0}, "scale should be > 0"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        ThurstoneScore(**settings)


def test_settings_of_the_wrong_kind_are_named():
    with pytest.raises(
        TypeError, match="degrees should be None, a number or 'learned', got 'many'"
    ):
        ThurstoneScore(degrees="many")
    with pytest.raises(TypeError, match="unit should be None or a number, got 'points'"):
        PerturbedThurstone(unit="points")
    with pytest.raises(ValueError, match="variances should be 'common' or 'arm', got 'pair'"):
        PerturbedThurstone(variances="pair")


def test_cells_keep_sides_apart():
    log = Duels.from_votes("abbb", "baaa", [1, 1, 0, 1], margin=[2.0, 1.0, -3.0, 5.0])
    found = margins_of(log, seen_in(log, by_vote=True))
    assert (found["n"], found["n_left"]) == (np.array([4.0]), np.array([1.0]))
    assert np.allclose(found["margins"], [[2.0, -1.0, 0.0 + 0.0 + 16.0 + 16.0]])
