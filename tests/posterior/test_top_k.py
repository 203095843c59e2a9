"""The k best: sets counted over draws, and the command that tells them."""

import json
import re

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy import stats

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.duels import Duels
from bayesduel.models import PreferenceMatrix, ThurstoneScore
from bayesduel.posterior.top_k import counted_sets


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def log():
    """Five arms a unit apart with noise 2, and margins of twenty duels a pair."""
    rng = np.random.default_rng(4)
    left, right = (np.tile(i, 20) for i in np.triu_indices(5, 1))
    margin = (right - left) * 1.0 + 2 * rng.standard_normal(len(left))
    labels = np.array(list("abcde"))
    return Duels.from_votes(labels[left], labels[right], (np.sign(margin) + 1) / 2, margin=margin)


@pytest.fixture(scope="module")
def fit(log):
    return bd.fit(log, ThurstoneScore(), draws=2000)


def test_sets_are_counted_by_hand():
    rank = np.array([[0, 1, 2], [1, 0, 2], [0, 2, 1], [0, 1, 2]])
    masks, probability = counted_sets(rank, 2)
    assert masks.tolist() == [[True, True, False], [True, False, True]]
    assert probability.tolist() == [0.75, 0.25]
    masks, probability = counted_sets(rank, 1)
    assert masks.tolist() == [[True, False, False], [False, True, False]]
    assert probability.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_probabilities_are_shares_of_draws(fit, k):
    found = bd.top_k(fit, k, n=100)
    score = fit["posterior"]["score"].to_numpy().reshape(-1, 5)
    best = [frozenset("abcde"[a] for a in np.argsort(-row)[:k]) for row in score]
    for row in found.sets.to_dict("records"):
        share = np.mean([one == frozenset(row["arms"]) for one in best])
        assert row["probability"] == pytest.approx(share)
        assert len(row["arms"]) == k
    assert found.sets["probability"].sum() == pytest.approx(1)
    assert found.sets["probability"].is_monotonic_decreasing
    assert found.n_sets == len(set(best)) == len(found.sets)
    shares = stats.binom(1, found.sets["probability"][0])  # of independent draws
    assert found.monte_carlo_error == pytest.approx(
        shares.std() / np.sqrt(fit.attrs["importance_ess"])
    )
    assert found.members["probability"].sum() == pytest.approx(k)
    for arm, chance in found.members["probability"].items():
        assert chance == pytest.approx(np.mean([arm in one for one in best]))


def test_the_same_set_as_winners_and_words(fit):
    found, winners = bd.top_k(fit, 2), bd.winners(fit, k=2)
    assert json.loads(winners.attrs["top_set"]) == list(found.sets["arms"][0]) == ["a", "b"]
    assert winners.attrs["top_set_probability"] == found.sets["probability"][0]
    assert found.sentence.startswith("Most probable top 2: a and b (probability ")
    assert "Most probable top 2" in " ".join(repr(found).split())


def test_arms_without_scores_rank_by_borda(log):
    fit = bd.fit(log, PreferenceMatrix(), draws=500)
    found = bd.top_k(fit, 2)
    assert found.ranked_by == "Borda score"
    inside = bd.winners(fit, k=2)["top_k_probability"]
    assert np.allclose(found.members["probability"].sort_index(), inside)


@pytest.mark.parametrize("k", [0, 5, 6, 1.5, True, -1])
def test_k_outside_its_range_is_refused(fit, k):
    with pytest.raises(ValueError, match="k should be a whole number from 1 to 4, got"):
        bd.top_k(fit, k)


def test_other_bad_arguments_are_named(fit):
    with pytest.raises(ValueError, match="n should be a whole number >= 1, got 0"):
        bd.top_k(fit, 2, n=0)
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        bd.top_k({}, 2)


# -- the command ----------------------------------------------------------------------------


@pytest.fixture
def path(log, tmp_path):
    votes, file = log.votes, tmp_path / "log.csv"
    rows = zip(votes.left, votes.right, votes.margin, strict=True)
    lines = [f"{log.arms[i]},{log.arms[j]},{m:.6f}" for i, j, m in rows]
    file.write_text("\n".join(["left,right,margin", *lines]) + "\n", encoding="utf-8")
    return file


def test_margins_are_used_where_there_are_some(path, tmp_path, fit):
    result = run("top-k", path, "--k", 2, "--draws", 1000, "--json", "-o", tmp_path / "top.json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["model"] == "thurstone-score" and told["k"] == 2
    assert told == json.loads((tmp_path / "top.json").read_text(encoding="utf-8"))
    assert told["sets"][0]["arms"] == ["a", "b"]
    assert told["sets"][0]["probability"] == pytest.approx(
        bd.top_k(fit, 2).sets["probability"][0], abs=0.05
    )
    assert sum(row["probability"] for row in told["members"]) == pytest.approx(2)


def test_who_won_is_used_where_there_are_none_and_where_asked(path):
    result = run("top-k", path, "--k", 2, "--margin", "none", "--json")
    assert result.exit_code == 2  # no outcome is left
    result = run("top-k", "springall", "--k", 3, "--sets", 2)
    assert result.exit_code == 0
    assert result.stdout.startswith("Most probable top 3: flavour 9.0 gel 0.0")
    assert "davidson" in result.stdout  # 22 % of the duels are ties
    assert re.search(r"in the +mean *\narm +top 3 +rank", result.stdout)
    result = run("top-k", path, "--k", 1, "--model", "bradley-terry", "--json")
    assert json.loads(result.stdout)["model"] == "bradley-terry"


def test_a_saved_fit_is_read(fit, tmp_path):
    fit.to_netcdf(tmp_path / "fit.nc")
    result = run("top-k", tmp_path / "fit.nc", "--k", 2, "--json")
    assert json.loads(result.stdout)["sets"][0]["arms"] == ["a", "b"]
    result = run("top-k", tmp_path / "fit.nc", "--k", 2, "--side-advantage")
    assert result.exit_code == 2 and "is fitted already" in result.stderr


@pytest.mark.parametrize("command", ["fit", pytest.param("report", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_the_side_advantage_is_an_option_of_other_commands_too(command, path, tmp_path):
    output = tmp_path / ("fit.nc" if command == "fit" else "page.html")
    common = (command, path, "-o", output, "--draws", 200, "--side-advantage")
    refused = run(*common, "--model", "preference-matrix")
    assert refused.exit_code == 2
    assert "--side-advantage cannot be used with --model preference-matrix" in refused.stderr
    assert not output.exists()
    result = run(*common, "--model", "thurstone-score")
    assert result.exit_code == 0, result.output
    if command == "fit":
        with xr.open_datatree(output) as saved:
            assert "order" in saved["posterior"]
    else:
        page = output.read_text(encoding="utf-8")
        assert "Thurstone with margins" in page and "+ side advantage" in page
        assert "side advantage" in page


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "davidson"])
def test_every_model_with_a_linear_predictor_takes_a_side_advantage(model):
    result = run("top-k", "springall", "--k", 2, "--side-advantage", "--model", model, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == f"{model} + order"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", 9], "k should be a whole number from 1 to 8, got 9"),
        (["--k", 0], "0 is not in the range x>=1"),
        ([], "Missing option '--k'"),
        (
            ["--k", 2, "--side-advantage", "--model", "preference-matrix"],
            "--side-advantage cannot be",
        ),
        (["--k", 2, "--model", "thurstone-score"], "this model needs margins"),
        (["--k", 2, "-o", "nowhere/top.json"], "-o should be in a folder that exists"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, words):
    result = run("top-k", "springall", *options)
    assert result.exit_code == 2
    assert words in result.stderr and result.stderr.count("\n") == 1
