"""Figures of comparisons, judges and ratings, by what is drawn in them."""

import json

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt

import bayesduel as bd

matplotlib.use("Agg")


def tree(**variables):
    """Return a fit made by hand: 1 chain of draws of each variable, (draws, *dims)."""
    data = {
        name: (("chain", "draw", *dims), np.asarray(values)[None])
        for name, (dims, values) in variables.items()
    }
    made = xr.DataTree.from_dict({"posterior": xr.Dataset(data)})
    made.attrs.update(model="by hand", score_unit="logits", model_settings=json.dumps({}))
    return made


def rows(ax):
    return [t.get_text() for t in ax.get_yticklabels()]


def test_models_stand_best_first_with_their_weights():
    duels = bd.Duels.from_wins([[0, 9, 9], [3, 0, 9], [2, 3, 0]])
    found = bd.compare_models(duels, unit="duel")
    _, given = plt.subplots()
    ax = bd.plots.plot_comparison(found, ax=given)
    assert ax is given and rows(ax) == list(found.table.index)
    written = [t.get_text() for t in ax.texts]
    assert written == [*(f"{w:.2f}" for w in found.table.weight), "weight"]
    assert "35 duels left out" in ax.get_xlabel()


def test_judges_stand_sharpest_first_and_by_kind():
    rng = np.random.default_rng(1)
    middle = np.array([0.0, 1.6, -0.9])
    draws = middle + 0.1 * rng.normal(size=(500, 3))
    fit = tree(sensitivity=(("judge",), draws))
    fit["posterior"] = fit["posterior"].dataset.assign_coords(judge=["rnd", "ok", "inv"])
    ax = bd.plots.plot_judges(fit)
    assert rows(ax) == ["ok", "rnd", "inv"]
    sharp, random, wrong = (line for line in ax.lines if line.get_marker() == "o")
    for line, place in ((sharp, 0), (random, 1), (wrong, 2)):
        assert line.get_ydata().tolist() == [place]
    assert random.get_markerfacecolor() == "white" != wrong.get_markerfacecolor()
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["not surely odd", "more at random than the average", "against the others"]
    many = tree(sensitivity=(("judge",), rng.normal(size=(50, 300))))
    many["posterior"] = many["posterior"].dataset.assign_coords(judge=np.arange(300))
    assert len(rows(bd.plots.plot_judges(many))) <= 60


def test_of_many_alike_judges_none_is_marked():
    """Each would be marked with a chance of 2.5 % by its own interval, one of 40 as a rule."""
    rng = np.random.default_rng(3)
    middle = 1.0 + 0.2 * rng.normal(size=40)
    fit = tree(sensitivity=(("judge",), middle + 0.2 * rng.normal(size=(4000, 40))))
    fit["posterior"] = fit["posterior"].dataset.assign_coords(judge=np.arange(40))
    high = fit["posterior"]["sensitivity"].quantile(0.975, ("chain", "draw"))
    assert (high < 1).any()
    (usual,) = (line for line in bd.plots.plot_judges(fit).lines if line.get_marker() == "o")
    assert len(usual.get_ydata()) == 40


def test_ratings_of_the_best_arms_are_drawn_and_named():
    rng = np.random.default_rng(2)
    path = np.linspace(0, 1, 5)[:, None] * np.linspace(1, -1, 9)  # arm 0 ends on top
    fit = tree(rating=(("period", "arm"), path + 0.05 * rng.normal(size=(300, 5, 9))))
    dates = np.array([f"2020-0{k}-01" for k in range(1, 6)], dtype="datetime64[us]")
    fit["posterior"] = fit["posterior"].dataset.assign_coords(
        period=dates, arm=[f"arm {k}" for k in range(9)]
    )
    ax = bd.plots.plot_ratings(fit)
    assert [t.get_text() for t in ax.texts] == [f"arm {k}" for k in range(6)]
    heights = [t.xy[1] for t in ax.texts]
    bottom, top = ax.get_ylim()
    assert min(-np.diff(heights)) > 0.04 * (top - bottom)
    means = ax.lines[2::3]
    np.testing.assert_allclose(means[0].get_ydata(), path[:, 0], atol=0.02)
    ax = bd.plots.plot_ratings(fit, arms=["arm 8"])
    assert [t.get_text() for t in ax.texts] == ["arm 8"]
    with pytest.raises(KeyError, match="'x' is not in the fit"):
        bd.plots.plot_ratings(fit, arms=["x"])
    with pytest.raises(TypeError, match="arms should be a list of names, got nan"):
        bd.plots.plot_ratings(fit, arms=np.nan)


@pytest.mark.parametrize(
    "plot", [bd.plots.plot_judges, bd.plots.plot_ratings], ids=["judges", "ratings"]
)
def test_fits_without_what_is_drawn_are_refused(plot):
    fit = tree(score=(("arm",), np.zeros((3, 2))))
    with pytest.raises(ValueError, match=r"fit should be of a model with .* got 'by hand'"):
        plot(fit)
    whole = tree(
        sensitivity=(("judge",), np.zeros((3, 2))), rating=(("period", "arm"), np.zeros((3, 2, 2)))
    )
    with pytest.raises(ValueError, match=r"ci_prob should be in \(0, 1\), got 2"):
        plot(whole, ci_prob=2)
