"""The record of winners and how it prints; bad input; real fits."""

import json
import re
from itertools import combinations

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.plots.ranking import in_order
from bayesduel.posterior import draws
from bayesduel.posterior.winners import Winners, winners
from tests.support.drawn_by_hand import beta_draws, matrix_draws, score_draws, tree

# -- the record ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some() -> Winners:
    rng = np.random.default_rng(4)
    score = np.array([0.0, 1.0, 0.2, -0.8]) + 0.25 * rng.normal(size=(2000, 4))
    return winners(tree(score_draws(score)))


def test_contents(some):
    assert isinstance(some, Winners)
    assert some["winner_share"].dims == ("criterion", "arm")
    np.testing.assert_allclose(some["rank_probability"].sum("rank"), 1)
    np.testing.assert_allclose(some["rank_probability"].sum("arm"), 1)
    places = np.arange(1, 5)
    np.testing.assert_allclose(some["rank_probability"] @ xr.DataArray(places, dims="rank"),
                               some["rank_mean"])  # fmt: skip
    np.testing.assert_allclose(
        some["top_k_probability"], some["rank_probability"].isel(rank=slice(0, 3)).sum("rank")
    )
    np.testing.assert_allclose(some["rank_probability"].isel(rank=0),
                               some["winner_probability"].sel(criterion="copeland"))  # fmt: skip
    assert [str(a) for a in some["arm"].values[some["order"].values]] == ["b", "c", "a", "d"]
    assert (np.diff(some["rank_mean"].values[some["order"].values]) > 0).all()
    mean, low, high = (some[f"preference_{k}"].values for k in ("mean", "lower", "upper"))
    np.testing.assert_allclose(mean + mean.T, 1)
    np.testing.assert_allclose(low + high.T, 1)
    assert (low <= mean).all() and (mean <= high).all()
    beats = some["beats_probability"].values
    np.testing.assert_allclose(beats + beats.T, 1 - np.eye(4))
    np.testing.assert_allclose(np.diag(mean), 0.5)
    quarters = [
        some[f"win_rate_{k}"].values for k in ("lower", "quarter", "three_quarters", "upper")
    ]
    assert (np.diff(quarters, axis=0) > 0).all()
    np.testing.assert_allclose(some["win_rate"], (mean.sum(1) - 0.5) / 3)
    assert some.attrs["pair_draws"] == some.attrs["n_draws"] == 2000


def test_contrasts_do_not_see_what_moves_all_arms_alike():
    rng = np.random.default_rng(5)
    score = rng.normal(size=(500, 4))
    moved = score + 10 * rng.normal(size=(500, 1))
    one, two = (winners(tree(score_draws(s))) for s in (score, moved))
    for name, values in one.data_vars.items():
        np.testing.assert_allclose(two[name], values, atol=1e-9, err_msg=str(name))
    mean, low, high = (one[f"score_difference_{k}"].values for k in ("mean", "lower", "upper"))
    np.testing.assert_allclose(mean, score.mean(0)[:, None] - score.mean(0))
    np.testing.assert_allclose(low, -high.T)


def test_relabelling_commutes():
    rng = np.random.default_rng(6)
    P = beta_draws(rng.integers(0, 5, size=(5, 5)), 200, rng)
    order = np.array([3, 0, 4, 1, 2])
    one = winners(tree(matrix_draws(P)))
    two = winners(
        tree(matrix_draws(P[:, order][:, :, order]), labels=[[*"abcde"][k] for k in order])
    )
    again = two.sel(arm=[*"abcde"], opponent=[*"abcde"])
    for name in one.data_vars:
        if name != "order":
            np.testing.assert_allclose(again[name], one[name], atol=1e-9, err_msg=str(name))
    assert [two["arm"].values[k] for k in two["order"].values] == [
        one["arm"].values[k] for k in one["order"].values
    ]
    assert one.attrs["verdict"] == two.attrs["verdict"]


def test_the_top_set_is_the_first_arms_of_the_ranking():
    score = np.array([[3.0, 2, 1, 0]] * 6 + [[3.0, 0, 2, 1]] * 4)
    w = winners(tree(score_draws(score)), k=2)
    assert json.loads(w.attrs["top_set"]) == ["a", "c"]  # b is last in 4 of 10 draws
    assert list(w.table().index[:2]) == ["a", "c"]
    assert w.attrs["top_set_probability"] == 0.4  # a and b are the two best with 0.6
    np.testing.assert_allclose(w["top_k_probability"], [1, 0.6, 0.4, 0])
    assert "The order is that of mean ranks by score" in " ".join(repr(w).split())


def test_thinned_pairs_are_said_to_be(monkeypatch):
    monkeypatch.setattr(draws, "PAIR_NUMBERS", 900)
    w = winners(tree(score_draws(np.random.default_rng(7).normal(size=(1000, 3)))))
    assert w.attrs["n_draws"] == 1000
    assert w.attrs["pair_draws"] == 250  # every 4th: 3 pairs times 1000 over 900, rounded up


def test_it_prints_its_verdict_and_its_ranking_first(some):
    lines = repr(some).splitlines()
    above = lines.index("")
    assert " ".join(lines[:above]) == some.attrs["verdict"]
    assert max(map(len, lines)) <= 80
    head = next(k for k, line in enumerate(lines) if line.startswith("rank"))
    assert [line.split()[1] for line in lines[head + 1 : head + 5]] == ["b", "c", "a", "d"]
    html = some._repr_html_()
    assert html.index(some.attrs["verdict"]) < html.index(">b</td>") < html.index("<details>")
    assert "<script" not in html.split("<details>")[0]


@pytest.mark.parametrize(
    "sorted_by",
    [
        lambda found: found.sortby("rank_mean"),
        lambda found: found.isel(arm=slice(None, None, -1)),
        lambda found: found.reindex(arm=["d", "b", "a", "c"]),
        lambda found: found.sortby("win_rate").sortby("opponent", ascending=False),
    ],
    ids=["rank", "turned", "given", "both"],
)
def test_a_dataset_that_was_sorted_is_drawn_alike(some, sorted_by):
    drawn = in_order(sorted_by(some)).drop_vars("order")
    assert drawn.identical(in_order(some).drop_vars("order"))


def test_it_says_in_which_order_arms_are(some):
    assert list(some["arm"].values) == ["a", "b", "c", "d"]
    assert list(some.sortby("rank_mean")["arm"].values) == list(some.table().index)
    assert "in the order of fit.duel.arms; .table()" in " ".join(repr(some).split())
    assert "in the order of fit.duel.arms" in some._repr_html_()


def test_html_is_escaped():
    draws = score_draws(np.random.default_rng(8).normal(size=(50, 2)))
    assert (
        "<b>" not in winners(tree(draws, labels=["<b>x", "y"]))._repr_html_().split("<details")[0]
    )


def test_a_long_ranking_says_what_it_leaves_out():
    score = np.random.default_rng(9).normal(size=(50, 40))
    w = winners(tree(score_draws(score), labels=[f"arm {i:02}" for i in range(40)]))
    assert re.search(r"[.]{3} and [0-9]+ more", repr(w))


def test_json_holds_what_is_printed(some, tmp_path):
    told = json.loads(some.to_json(allow_nan=False))
    assert told["verdict"] == some.attrs["verdict"]
    assert [row["arm"] for row in told["ranking"]] == ["b", "c", "a", "d"]
    assert told["winners"]["borda"]["b"] == float(
        some["winner_probability"].sel(criterion="borda", arm="b")
    )
    assert isinstance(told["verdict_arms"], list)
    # Attributes are plain enough for any file format.
    assert {type(v) for v in some.attrs.values()} <= {str, int, float}
    some.to_zarr(tmp_path / "winners.zarr", consolidated=False, zarr_format=2)
    back = xr.open_zarr(tmp_path / "winners.zarr", consolidated=False)
    assert some.equals(back.load())
    assert back.attrs == some.attrs


# -- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rope": 0.5}, r"rope should be in \[0, 0.5\), got 0.5"),
        ({"rope": -0.1}, "got -0.1"),
        ({"confidence": 1.0}, r"confidence should be in \(0.5, 1\), got 1.0"),
        ({"confidence": 0.5}, "got 0.5"),
        ({"k": 0}, "k should be a whole number from 1 to 3, got 0"),
        ({"k": 4}, "got 4"),
        ({"k": 1.5}, "got 1.5"),
        ({"ties": "keep"}, "ties should be 'strict' or 'half', got 'keep'"),
        (
            {"covariance": "robust"},
            "covariance should be 'auto' or 'model', got 'robust'. The fit has no covariance by",
        ),
        ({"rope": float("nan")}, "got nan"),
    ],
)
def test_bad_arguments_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        winners(tree(score_draws(np.zeros((10, 3)))), **options)


def test_what_is_no_fit_is_refused():
    for fit in (None, xr.Dataset(), xr.DataTree()):
        with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
            winners(fit)


# -- with real fits -----------------------------------------------------------------------


THIN = {
    "one arm never lost": [[0, 2, 1], [0, 0, 1], [0, 1, 0]],
    "one duel": [[0, 1], [0, 0]],
    "two parts": [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]],
}


@pytest.mark.parametrize("name", THIN)
@pytest.mark.parametrize("model", ["bradley-terry", "preference-matrix"])
@pytest.mark.sampled(3)
def test_thin_logs_are_undecided_and_finite(name, model):
    from bayesduel.data.duels import Duels
    from bayesduel.inference.fit import fit

    duels = Duels.from_wins(THIN[name])
    with pytest.warns(UserWarning):
        w = winners(fit(duels, model, method="laplace", draws=1000))
    kind = "not comparable" if name == "two parts" else "undecided"
    assert w.attrs["verdict_kind"] == kind
    assert "Not enough data yet" in w.attrs["verdict"]
    assert all(np.isfinite(v).all() for v in w.data_vars.values())
    first = w["win_rate"].values.argmax()
    assert w["win_rate_lower"].values[first] < 0.5 < w["win_rate_upper"].values[first]


@pytest.mark.parametrize(("n_parts", "more"), [(4, ""), (5, "; ...")])
def test_four_groups_that_never_met_are_named(n_parts, more):
    named = f"a and b; c and d; e and f; g and h{more}"
    some = score_draws(np.random.default_rng(0).normal(size=(50, 2 * n_parts)))
    parts = [["abcdefghij"[k], "abcdefghij"[k + 1]] for k in range(0, 2 * n_parts, 2)]
    said = winners(tree(some, components=parts)).attrs["verdict"]
    assert f"fall into {n_parts} groups that never met ({named})." in said
    assert f"({'2 smaller groups are' if more else '1 smaller group is'} judged in" in said


def test_nothing_but_ties():
    from bayesduel.data.duels import Duels
    from bayesduel.inference.fit import fit

    duels = Duels.from_wins(np.zeros((3, 3)), ties=2000 * (1 - np.eye(3)))
    w = winners(fit(duels, method="laplace"), rope=0.05)
    assert w.attrs["verdict_kind"] == "tied"
    assert sorted(json.loads(w.attrs["verdict_arms"])) == ["0", "1", "2"]


def test_repeated_votes_widen_the_intervals():
    from bayesduel.data.duels import Duels
    from bayesduel.inference.fit import fit

    rng = np.random.default_rng(15)
    left, right, outcome, group = [], [], [], []
    for i, j in combinations(range(4), 2):
        for g in range(30):  # five votes each that all say the same
            left += [str(i)] * 5
            right += [str(j)] * 5
            outcome += [float(rng.random() < 0.55)] * 5
            group += [f"g{g}"] * 5
    duels = Duels.from_votes(left, right, outcome, group=group)
    tree_ = fit(duels, "bradley-terry", method="laplace")
    naive, robust = winners(tree_, covariance="model"), winners(tree_)
    assert (naive.attrs["covariance"], robust.attrs["covariance"]) == ("model", "group")
    width = [(w["preference_upper"] - w["preference_lower"]).values.max() for w in (naive, robust)]
    assert 1.7 < width[1] / width[0] < 2.8  # sqrt(5) but for the prior and sampling


def test_an_earlier_name_of_a_column_names_the_new_one():
    found = bd.winners(bd.fit(bd.datasets.load("citations"), draws=100))
    for old in ("borda_mean", "borda_lower", "borda_upper", "borda_quarter"):
        with pytest.raises(KeyError, match=f"'{old}' is now called 'win_rate"):
            found[old]
    assert (found["win_rate"] == found.win_rate).all()
    frame = found.to_dataframe()
    assert np.allclose(frame["win_rate_lower"], found["win_rate_lower"].loc[frame.index])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["davidson + order", "thurstone", "preference-matrix"])
@pytest.mark.parametrize("noun", ["arm", "team"])
def test_winners_name_the_model(name, noun):
    fit = bd.fit(bd.datasets.load("springall"), name, draws=400, method="laplace")
    found = winners(fit, noun=noun)
    words = fit.duel.model.titled(noun)
    assert found.attrs["model_words"] == words
    assert f"Model: {words}." in " ".join(repr(found).split())
    assert f"Model: {words}." in found._repr_html_()
    assert noun == "arm" or "arm" not in words
