"""Updates: a fit brought up to date equals a fit of all duels."""

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.models import BradleyTerry, Davidson, OrderEffect, PreferenceMatrix
from bayesduel.posterior.update import log_of

PARTS = {"draws": 400, "seed": 3}


def votes(arms, n, seed, **columns):
    """Return a log of random votes among arms."""
    rng = np.random.default_rng(seed)
    left = rng.choice(arms, n)
    right = np.array([rng.choice([a for a in arms if a != one]) for one in left])
    return bd.Duels.from_votes(left, right, rng.choice([0, 0.5, 1], n), **columns)


@pytest.fixture(scope="module")
def logs():
    return votes(list("bcdef"), 300, 1), votes(list("abcdf"), 80, 2)  # "a" is new, "e" absent


def equal(updated, refitted):
    assert list(updated["posterior"]["arm"].values) == list(refitted["posterior"]["arm"].values)
    for name in ("wins", "ties"):
        found, wanted = (t["constant_data"][name].values for t in (updated, refitted))
        np.testing.assert_array_equal(found, wanted)
    for name, wanted in refitted["laplace"].data_vars.items():
        np.testing.assert_allclose(updated["laplace"][name].values, wanted.values, atol=1e-6)
    for name, wanted in refitted["posterior"].data_vars.items():
        np.testing.assert_allclose(
            updated["posterior"][name].values, wanted.values, atol=1e-4, err_msg=name
        )


@pytest.mark.parametrize("model", [BradleyTerry(), Davidson(), BradleyTerry(scale=1.0)])
def test_an_update_is_a_fit_of_all_duels(model, logs):
    old, new = logs
    updated = bd.update(bd.fit(old, model, **PARTS), new, draws=400)
    equal(updated, bd.fit(old.join(new), model, **PARTS))
    assert "earlier mode" in updated.attrs["method_reason"]
    assert updated.attrs["n_duels"] == 380


def test_the_search_starts_at_the_earlier_mode(logs, monkeypatch):
    from bayesduel.inference import laplace

    starts = []

    def watched(density, hyper, start=None, **rest):
        starts.append(start)
        return find_mode(density, hyper, start, **rest)

    find_mode = laplace.find_mode
    old, new = logs
    fit = bd.fit(old, **PARTS)
    monkeypatch.setattr(laplace, "find_mode", watched)
    bd.update(fit, new, draws=400)
    from bayesduel.inference.design import centre

    mode = fit["laplace"]["score_mode"].values
    np.testing.assert_allclose(centre(starts[0])[1:], mode - mode.sum() / 6, atol=1e-12)


def test_a_model_that_reads_the_order_needs_the_log(logs):
    old, new = logs
    model = OrderEffect(BradleyTerry())
    fit = bd.fit(old, model, **PARTS)
    with pytest.raises(ValueError, match="who was left"):
        bd.update(fit, new)
    with pytest.raises(ValueError, match="log of 300 duels"):
        bd.update(fit, new, duels=new)
    equal(bd.update(fit, new, duels=old, draws=400), bd.fit(old.join(new), model, **PARTS))


def test_an_exact_posterior_is_fitted_anew(logs):
    old, new = logs
    fit = bd.fit(old, PreferenceMatrix(), **PARTS)
    updated, refitted = (
        bd.update(fit, new, draws=400),
        bd.fit(old.join(new), fit.attrs["model"], **PARTS),
    )
    np.testing.assert_array_equal(updated["posterior"]["theta"], refitted["posterior"]["theta"])
    assert "fitted anew" in updated.attrs["method_reason"]


def test_votes_of_judges_are_joined(logs):
    first, second = (
        votes(list("abc"), 60, s, judge=[str((i + s) % 7) for i in range(60)]) for s in (1, 5)
    )
    both = first.join(second)
    assert (both.n_duels, len(both.votes.judges)) == (120, 7)
    np.testing.assert_array_equal(both.tally().wins, first.tally().wins + second.tally().wins)
    with pytest.raises(ValueError, match="judge"):
        first.join(logs[0])
    with pytest.raises(ValueError, match="cluster-robust"):
        bd.update(bd.fit(first, **PARTS), second)


def test_the_command_updates_a_saved_fit(tmp_path):
    import xarray as xr
    from click.testing import CliRunner

    from bayesduel.cli import main

    for name, rows in (("old", "a,b\na,c\nb,c\nc,a\n" * 8), ("new", "d,a\nb,d\n" * 6)):
        (tmp_path / f"{name}.csv").write_text("winner,loser\n" + rows, encoding="utf-8")
    fit, draws = str(tmp_path / "fit.nc"), ("--draws", "400")
    for args in (
        ["fit", str(tmp_path / "old.csv"), "-o", fit, *draws],
        ["update", fit, str(tmp_path / "new.csv"), *draws],
    ):
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 0, result.output
    with xr.open_datatree(fit) as updated:
        assert updated.attrs["n_duels"] == 44
        assert list(updated["posterior"]["arm"].values) == list("abcd")


def test_a_tree_without_counts_is_no_fit():
    for given in ({}, {"constant_data": xr.Dataset({"n": ("cell", [1])})}):
        with pytest.raises(ValueError, match="got a tree without its wins"):
            log_of(xr.DataTree.from_dict(given))
