"""Elections in draws known by hand, the verdict and its error, tiers, and how it prints."""

import json
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix
from bayesduel.preference import NOTIONS
from bayesduel.winning import Winners, drawn, winners
from bayesduel.winning.drawn import Draws
from bayesduel.winning.electing import interval, pair_summary, standings
from bayesduel.winning.verdict import tiers


def matrix_draws(P: np.ndarray) -> Draws:
    """Return draws of a model without scores whose matrices are P, shape (n, K, K)."""
    n_arms = P.shape[-1]
    theta = P[:, *np.triu_indices(n_arms, 1)]
    return Draws(PreferenceMatrix(), {"theta": theta}, np.arange(n_arms), n_arms)


def score_draws(score: np.ndarray, model=None, **more: np.ndarray) -> Draws:
    n_arms = score.shape[-1]
    posterior = {"score": score, **more}
    return Draws(model or BradleyTerry(), posterior, np.arange(n_arms), n_arms)


def tree(draws: Draws, labels=None, components=None, ess=None) -> xr.DataTree:
    """Return the fit that has these draws, by the agreed schema."""
    labels = [*"abcdefghijklmnop"][: draws.n_arms] if labels is None else list(labels)
    dims = {"score": ("arm",), "theta": ("pair",)}
    posterior = {
        name: (("chain", "draw", *dims.get(name, ())), values[None])
        for name, values in draws.posterior.items()
    }
    fit = xr.DataTree.from_dict({"posterior": xr.Dataset(posterior, coords={"arm": labels})})
    fit.attrs.update(
        model=draws.model.name,
        model_settings="{}",
        method="laplace",
        importance_ess=float(ess or draws.n_draws),
        source="hand",
        components=json.dumps(components or [labels]),
    )
    return fit


def beta_draws(wins: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of P, each pair Beta(1 + wins, 1 + losses), shape (n, K, K)."""
    P = np.triu(rng.beta(1 + wins, 1 + wins.T, size=(n, *wins.shape)), 1)
    return P + np.tril(1 - np.swapaxes(P, -1, -2), -1) + np.eye(len(wins)) / 2


CYCLE = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])
ORDERED = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]])
LEVEL = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.6], [0.1, 0.4, 0.5]])  # 0 and 1 tie exactly
LAST = np.array([[0.5, 0.4, 0.4], [0.6, 0.5, 0.4], [0.6, 0.6, 0.5]])  # 2 wins


# -- elections -----------------------------------------------------------------------------


def test_four_elections_by_hand():
    found = standings(matrix_draws(np.stack([ORDERED, CYCLE, LEVEL, LAST])), rope=0.02)
    probability = dict(zip(NOTIONS, found.probability, strict=True))
    share = dict(zip(NOTIONS, found.share, strict=True))
    # Condorcet: 0, nobody, nobody (an exact tie), 2.
    np.testing.assert_allclose(probability["condorcet"], [0.25, 0, 0.25])
    # Copeland: 0; all three; 0 and 1; 2.
    np.testing.assert_allclose(probability["copeland"], [0.75, 0.5, 0.5])
    np.testing.assert_allclose(share["copeland"] * 4, [1 + 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 4 / 3])
    # Borda: 0; all three; 0 (0.7 v 0.55); 2.
    np.testing.assert_allclose(probability["borda"], [0.75, 0.25, 0.5])
    # von Neumann: 0; a third each; half 0 and half 1 (any mixture of them is); 2.
    np.testing.assert_allclose(
        probability["von_neumann"] * 4, [1 + 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 4 / 3], atol=1e-9
    )
    np.testing.assert_allclose(found.support, [0.75, 0.5, 0.5])
    np.testing.assert_allclose(found.smith, [0.75, 0.5, 0.5])
    assert found.rank.tolist() == [[0, 1, 2], [0, 0, 0], [0, 1, 2], [2, 1, 0]]
    assert found.unbeaten.tolist() == [
        [True, False, False],
        [False, False, False],
        [True, True, False],
        [False, False, True],
    ]
    assert found.sole.tolist() == [
        [True, False, False],
        [False] * 3,
        [False] * 3,
        [False] * 2 + [True],
    ]
    for notion in NOTIONS[1:]:
        np.testing.assert_allclose(share[notion].sum(), 1)


def test_a_tie_may_count_half():
    # Copeland: 0 ties with 1 and beats 2; 1 beats 3 and ties with 0, loses to 2; ...
    P = np.full((4, 4), 0.5)
    for i, j in ((0, 2), (1, 2), (1, 3), (3, 0)):
        P[i, j], P[j, i] = 0.7, 0.3
    strict = standings(matrix_draws(P[None]), 0.0).probability[1]
    half = standings(matrix_draws(P[None]), 0.0, ties="half").probability[1]
    # strict: 0:1, 1:2, 2:0, 3:1; half: 0:1.5, 1:2.5, 2:0.5, 3:1.5
    assert strict.tolist() == half.tolist() == [0, 1, 0, 0]
    P[1, 3] = P[3, 1] = 0.5
    strict = standings(matrix_draws(P[None]), 0.0).probability[1]
    half = standings(matrix_draws(P[None]), 0.0, ties="half").probability[1]
    # strict: 0:1, 1:1, 3:1; half: 0:1.5, 1:2, 2:0.5, 3:2
    assert strict.tolist() == [1, 1, 0, 1]
    assert half.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("model", [BradleyTerry(), Davidson()])
def test_scores_and_their_matrices_elect_alike(model):
    rng = np.random.default_rng(1)
    score = rng.normal(size=6) + 0.3 * rng.normal(size=(300, 6))
    more = {"tie": rng.normal(size=300)} if model.name == "davidson" else {}
    by_score = score_draws(score, model, **more)
    by_matrix = matrix_draws(model.preference({"score": score, **more}))
    one, two = standings(by_score, 0.05), standings(by_matrix, 0.05)
    for name in ("probability", "share", "support", "smith", "rank", "sole", "unbeaten"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9, err_msg=name)
    first, second = pair_summary(by_score, 0.9), pair_summary(by_matrix, 0.9)
    for name in ("mean", "lower", "upper", "beats", "borda"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-9)
    np.testing.assert_allclose(second.borda, two.borda)


def test_exactly_equal_scores_share_the_win():
    found = standings(score_draws(np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]])), 0.02)
    np.testing.assert_allclose(found.probability[:2], [[0.5, 0, 0], [1, 0.5, 0]])
    np.testing.assert_allclose(found.share[1], [0.75, 0.25, 0])


def test_two_arms_against_the_beta_law():
    n, law = 20_000, stats.beta(1 + 7, 1 + 3)
    P = beta_draws(np.array([[0, 7], [3, 0]]), n, np.random.default_rng(2))
    w = winners(tree(matrix_draws(P)), k=1)
    truth = law.sf(0.5)
    allowed = stats.norm.isf(1e-6 / 2) * np.sqrt(truth * (1 - truth) / n)
    for notion in NOTIONS:
        found = float(w["winner_probability"].sel(notion=notion, arm="a"))
        assert abs(found - truth) < allowed, notion
    assert abs(float(w["beats_probability"].sel(arm="a", opponent="b")) - truth) < allowed
    # An order statistic of n draws: its rank under the law is Beta(k, n + 1 - k).
    level = law.cdf(float(w["preference_lower"].sel(arm="a", opponent="b")))
    k = int(n * 0.025) + 1
    assert stats.beta(k, n + 1 - k).cdf(level) == pytest.approx(0.5, abs=0.5 - 1e-6)


def test_intervals_are_symmetric_order_statistics():
    values = np.random.default_rng(3).permutation(np.arange(100.0))
    assert interval(values, 0.9) == (5.0, 94.0)
    assert interval(values[:1], 0.9) == (values[0], values[0])


# -- the dataset ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some() -> Winners:
    rng = np.random.default_rng(4)
    score = np.array([0.0, 1.0, 0.2, -0.8]) + 0.25 * rng.normal(size=(2000, 4))
    return winners(tree(score_draws(score)))


def test_contents(some):
    assert isinstance(some, xr.Dataset)
    assert some["winner_share"].dims == ("notion", "arm")
    np.testing.assert_allclose(some["rank_probability"].sum("rank"), 1)
    np.testing.assert_allclose(some["rank_probability"].sum("arm"), 1)
    places = np.arange(1, 5)
    np.testing.assert_allclose(some["rank_probability"] @ xr.DataArray(places, dims="rank"),
                               some["rank_mean"])  # fmt: skip
    np.testing.assert_allclose(
        some["top_k_probability"], some["rank_probability"].isel(rank=slice(0, 3)).sum("rank")
    )
    np.testing.assert_allclose(some["rank_probability"].isel(rank=0),
                               some["winner_probability"].sel(notion="copeland"))  # fmt: skip
    assert [str(a) for a in some["arm"].values[some["order"].values]] == ["b", "c", "a", "d"]
    assert (np.diff(some["rank_mean"].values[some["order"].values]) > 0).all()
    mean, low, high = (some[f"preference_{k}"].values for k in ("mean", "lower", "upper"))
    np.testing.assert_allclose(mean + mean.T, 1)
    np.testing.assert_allclose(low + high.T, 1)
    assert (low <= mean).all() and (mean <= high).all()
    beats = some["beats_probability"].values
    np.testing.assert_allclose(beats + beats.T, 1 - np.eye(4))
    np.testing.assert_allclose(np.diag(mean), 0.5)
    quarters = [some[f"borda_{k}"].values for k in ("lower", "quarter", "three_quarters", "upper")]
    assert (np.diff(quarters, axis=0) > 0).all()
    np.testing.assert_allclose(some["borda_mean"], (mean.sum(1) - 0.5) / 3)
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


def test_the_most_probable_top_set():
    score = np.array([[3.0, 2, 1, 0]] * 6 + [[3.0, 0, 2, 1]] * 4)
    w = winners(tree(score_draws(score)), k=2)
    assert json.loads(w.attrs["top_set"]) == ["a", "b"]
    assert w.attrs["top_set_probability"] == 0.6
    np.testing.assert_allclose(w["top_k_probability"], [1, 0.6, 0.4, 0])


def test_thinned_pairs_are_said_to_be(monkeypatch):
    monkeypatch.setattr(drawn, "PAIR_NUMBERS", 900)
    w = winners(tree(score_draws(np.random.default_rng(7).normal(size=(1000, 3)))))
    assert w.attrs["n_draws"] == 1000
    assert w.attrs["pair_draws"] == 250  # every 4th: 3 pairs times 1000 over 900, rounded up


def test_it_prints_its_verdict_and_its_ranking_first(some):
    lines = repr(some).splitlines()
    assert lines[0] == some.attrs["verdict"]
    assert lines[2].split()[:2] == ["rank", "arm"]
    assert [line.split()[1] for line in lines[3:7]] == ["b", "c", "a", "d"]
    html = some._repr_html_()
    assert html.index(some.attrs["verdict"]) < html.index("<td>b</td>") < html.index("<details>")
    assert "<script" not in html.split("<details>")[0]
    part = some[["tier"]]  # what is selected away cannot be printed
    assert "xarray" in repr(part) and "xarray" in part._repr_html_()
    assert "xarray" in repr(some.isel(arm=[0]))


def test_html_is_escaped():
    draws = score_draws(np.random.default_rng(8).normal(size=(50, 2)))
    assert (
        "<b>" not in winners(tree(draws, labels=["<b>x", "y"]))._repr_html_().split("<details")[0]
    )


def test_a_long_ranking_says_what_it_leaves_out():
    score = np.random.default_rng(9).normal(size=(50, 40))
    w = winners(tree(score_draws(score), labels=[f"arm {i:02}" for i in range(40)]))
    assert "... and 10 more" in repr(w)


def test_json_holds_what_is_printed(some, tmp_path):
    told = json.loads(some.to_json(allow_nan=False))
    assert told["verdict"] == some.attrs["verdict"]
    assert [row["arm"] for row in told["ranking"]] == ["b", "c", "a", "d"]
    assert told["winners"]["borda"]["b"] == float(
        some["winner_probability"].sel(notion="borda", arm="b")
    )
    assert isinstance(told["verdict_arms"], list)
    # Attributes are plain enough for any file format.
    assert {type(v) for v in some.attrs.values()} <= {str, int, float}
    some.to_zarr(tmp_path / "winners.zarr", consolidated=False, zarr_format=2)
    back = xr.open_zarr(tmp_path / "winners.zarr", consolidated=False)
    assert back.load().equals(some)
    assert back.attrs == some.attrs


# -- verdict -------------------------------------------------------------------------------


def told(P: np.ndarray, n: float, rope=0.02, **options) -> Winners:
    """Return the winners after n duels a pair came out as P says."""
    draws = beta_draws(P * n, 2000, np.random.default_rng(10))
    return winners(tree(matrix_draws(draws)), rope=rope, **options)


def test_a_winner():
    w = told(ORDERED, 1000)
    assert w.attrs["verdict_kind"] == "winner"
    assert json.loads(w.attrs["verdict_arms"]) == ["a"]
    assert w.attrs["verdict"].startswith("a wins: it beats every other arm")
    assert "closest rival is b, which it beats in 60 % of duels" in w.attrs["verdict"]


def test_a_tie_in_practice():
    w = told(np.full((3, 3), 0.5), 100_000)
    assert w.attrs["verdict_kind"] == "tied"
    assert sorted(json.loads(w.attrs["verdict_arms"])) == ["a", "b", "c"]
    w = told(LEVEL, 100_000)
    assert w.attrs["verdict_kind"] == "tied"
    assert sorted(json.loads(w.attrs["verdict_arms"])) == ["a", "b"]
    # The same posterior, asked for smaller differences, is not decided.
    assert told(LEVEL, 100_000, rope=0.0).attrs["verdict_kind"] == "undecided"


def test_ahead_by_less_than_matters_is_a_tie_by_more_than_nothing_a_win():
    P = np.array([[0.5, 0.51], [0.49, 0.5]])
    assert told(P, 100_000).attrs["verdict_kind"] == "tied"
    w = told(P, 100_000, rope=0.0)
    assert w.attrs["verdict_kind"] == "winner"
    assert w.attrs["verdict"].startswith("a wins: it beats b")


def test_a_cycle():
    w = told(CYCLE, 200)
    assert w.attrs["verdict_kind"] == "cycle"
    words = w.attrs["verdict"]
    assert words.startswith("No arm beats all others")
    assert all(s in words for s in ("a loses to c", "c loses to b", "b loses to a"))
    assert "Copeland" in words and "von Neumann" in words


def test_no_cycle_is_seen_where_no_duel_was():
    """With 12 arms and no data an arm that beats all others is improbable: 12 / 2^11."""
    w = told(np.full((12, 12), 0.5), 0)
    assert float(w["condorcet_exists"]) < 0.05
    assert w.attrs["verdict_kind"] == "undecided"
    assert "any of the 12 arms could be the best" in w.attrs["verdict"]


def test_undecided_names_who_may_be_best_and_who_is_safe():
    # a and b are within a hair (a safe choice each), c may or may not be better than both.
    rng = np.random.default_rng(11)
    score = np.column_stack([np.zeros(4000), -0.9 + np.zeros(4000), rng.normal(-1, 0.6, 4000)])
    w = winners(tree(score_draws(score)), rope=0.05)
    assert w.attrs["verdict_kind"] == "winner"  # 0 beats c with probability 0.952
    score[:, 2] += 0.1
    w = winners(tree(score_draws(score)), rope=0.1)
    assert w.attrs["verdict_kind"] == "undecided"
    assert json.loads(w.attrs["verdict_arms"]) == ["a", "c"]
    assert json.loads(w.attrs["safe_choices"]) == ["a"]
    assert "the best arm is one of a and c" in w.attrs["verdict"]
    assert "a is a safe choice" in w.attrs["verdict"]


def test_near_the_threshold_it_says_so():
    score = np.zeros((1000, 2))
    score[:, 0] = np.where(np.arange(1000) < 952, 1.0, -1.0)
    w = winners(tree(score_draws(score)))
    assert w.attrs["verdict_kind"] == "winner"
    assert "close to the threshold of 0.95" in w.attrs["verdict"]
    np.testing.assert_allclose(w.attrs["monte_carlo_error"], np.sqrt(0.95 * 0.05 / 1000))
    score[:, 0] = 1.0
    assert "threshold" not in winners(tree(score_draws(score))).attrs["verdict"]


def test_parts_that_never_met_are_not_compared():
    score = np.tile([5.0, 0.0, 3.0, 0.0, 9.0], (1000, 1))
    score += 0.01 * np.random.default_rng(12).normal(size=score.shape)
    parts = [["a", "b"], ["c", "d"], ["e"]]
    w = winners(tree(score_draws(score), components=parts))
    assert w.attrs["verdict_kind"] == "not comparable"
    words = w.attrs["verdict"]
    assert "3 groups that never met (a and b; c and d; e)" in words
    assert "Within a and b: a wins" in words and "Within c and d: c wins" in words
    inside = json.loads(w.attrs["component_verdicts"])
    assert [part["verdict_kind"] for part in inside] == ["winner", "winner", "alone"]


def test_definite_verdicts_are_false_no_more_often_than_they_say():
    """Over logs drawn from the prior, at most 1 - confidence of definite sentences are false."""
    rng = np.random.default_rng(13)
    definite = false = 0
    for _ in range(300):
        truth = beta_draws(np.zeros((3, 3)), 1, rng)[0]
        n = int(rng.choice([5, 30, 200, 2000]))
        above = np.triu(rng.binomial(n, truth), 1)
        wins = above + np.tril(n - above.T, -1)
        w = winners(tree(matrix_draws(beta_draws(wins, 400, rng))), rope=0.05, confidence=0.8)
        arms = [ord(a) - ord("a") for a in json.loads(w.attrs["verdict_arms"])]
        kind = w.attrs["verdict_kind"]
        if kind == "undecided":
            continue
        definite += 1
        others = np.delete(np.arange(3), arms[0])
        true = {
            "winner": (truth[arms[0], others] > 0.5).all(),
            "tied": (truth[:, arms] <= 0.55).all(),
            "cycle": (np.sort((truth > 0.5).sum(1)) == 1).all(),
        }[kind]
        false += not true
    assert definite > 150
    # 0.2 and the error of 400 draws, sqrt(0.2 * 0.8 / 400) = 0.02; upper 1e-6 binomial limit.
    assert false <= stats.binom.isf(1e-6, definite, 0.22)


# -- tiers ---------------------------------------------------------------------------------


def test_tiers_by_hand():
    # a and b change places in half of the draws, c and d in one of ten; never a or b with c or d.
    rank = np.array([[0, 1, 2, 3]] * 5 + [[1, 0, 2, 3]] * 4 + [[1, 0, 3, 2]])
    tier, error = tiers(rank, np.arange(4), confidence=0.95)
    assert (tier.tolist(), error) == ([1, 1, 2, 2], 0.0)
    tier, error = tiers(rank, np.arange(4), confidence=0.9)
    assert tier.tolist() == [1, 1, 2, 3]
    assert error == pytest.approx(0.1)
    tier, error = tiers(rank, np.arange(4), confidence=0.4)
    assert tier.tolist() == [1, 2, 3, 4]
    assert error == pytest.approx(0.5)


def test_equal_ranks_are_no_boundary():
    tier, error = tiers(np.zeros((10, 3), dtype=int), np.arange(3), 0.95)
    assert (tier.tolist(), error) == ([1, 1, 1], 0.0)


def test_tier_error_is_that_of_all_boundaries_together():
    rng = np.random.default_rng(14)
    score = np.linspace(2, -2, 8) + 0.3 * rng.normal(size=(1000, 8))
    rank = (-score).argsort(1).argsort(1)
    order = rank.mean(0).argsort()
    tier, error = tiers(rank, order, 0.8)
    apart = [(i, j) for i, j in combinations(range(8), 2) if tier[i] != tier[j]]
    right = np.all([(rank[:, i] < rank[:, j]) == (tier[i] < tier[j]) for i, j in apart], axis=0)
    assert error == pytest.approx(1 - right.mean())
    assert 0 < error <= 0.2
    assert 1 < tier.max() < 8


# -- bad input -----------------------------------------------------------------------------


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
        ({"errors": "robust"}, r"errors should be one of \['auto', 'model'\], got 'robust'"),
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


# -- with real fits ------------------------------------------------------------------------

THIN = {
    "one arm never lost": [[0, 2, 1], [0, 0, 1], [0, 1, 0]],
    "one duel": [[0, 1], [0, 0]],
    "two parts": [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]],
}


@pytest.mark.parametrize("name", THIN)
@pytest.mark.parametrize("model", ["bradley-terry", "preference-matrix"])
def test_thin_logs_are_undecided_and_finite(name, model):
    from bayesduel.duels import Duels
    from bayesduel.fitting import fit

    duels = Duels.from_wins(THIN[name])
    with pytest.warns(UserWarning):
        w = winners(fit(duels, model, method="laplace", draws=1000))
    kind = "not comparable" if name == "two parts" else "undecided"
    assert w.attrs["verdict_kind"] == kind
    assert "Not enough data yet" in w.attrs["verdict"]
    assert all(np.isfinite(v).all() for v in w.data_vars.values())
    first = w["borda_mean"].values.argmax()
    assert w["borda_lower"].values[first] < 0.5 < w["borda_upper"].values[first]


def test_nothing_but_ties():
    from bayesduel.duels import Duels
    from bayesduel.fitting import fit

    duels = Duels.from_wins(np.zeros((3, 3)), ties=2000 * (1 - np.eye(3)))
    w = winners(fit(duels, method="laplace"), rope=0.05)
    assert w.attrs["verdict_kind"] == "tied"
    assert sorted(json.loads(w.attrs["verdict_arms"])) == ["0", "1", "2"]


def test_repeated_votes_widen_the_intervals():
    from bayesduel.duels import Duels
    from bayesduel.fitting import fit

    rng = np.random.default_rng(15)
    left, right, outcome, group = [], [], [], []
    for i, j in combinations(range(4), 2):
        for g in range(30):  # five votes each that all say the same
            left += [str(i)] * 5
            right += [str(j)] * 5
            outcome += [float(rng.random() < 0.55)] * 5
            group += [f"g{g}"] * 5
    duels = Duels.from_votes(left, right, outcome, group=group)
    tree_ = fit(duels, method="laplace")
    naive, robust = winners(tree_, errors="model"), winners(tree_)
    assert (naive.attrs["errors"], robust.attrs["errors"]) == ("model", "pair and group")
    width = [(w["preference_upper"] - w["preference_lower"]).values.max() for w in (naive, robust)]
    assert 1.7 < width[1] / width[0] < 2.8  # sqrt(5) but for the prior and sampling
