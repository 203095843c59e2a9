"""The figures, by what is drawn in them: labels, limits, marks."""

import inspect
import re
from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

import bayesduel as bd
from bayesduel import plots
from bayesduel.criticism.calibration import Calibration
from bayesduel.criticism.check import check
from bayesduel.data.duels import Duels
from bayesduel.plots.style import every, shorten
from bayesduel.posterior.winners import Winners
from tests.support import fits_by_hand

matplotlib.use("Agg")


def winners_of(
    n_arms: int,
    noise: float = 0.3,
    n_draws: int = 400,
    label: str = "arm number {:03d} with a name that is rather long",
) -> Winners:
    """Return the winners of a fit made by hand, of arms with numbers."""
    return fits_by_hand.winners_of([label.format(k) for k in range(n_arms)], noise, n_draws)


@pytest.fixture(scope="module")
def nine():
    return winners_of(9, noise=0.18)


@pytest.fixture(scope="module")
def many():
    return winners_of(161)


def texts(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def overlapping(labels, figure) -> int:
    """Return how many consecutive labels overlap as drawn."""
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    return sum(a.overlaps(b) for a, b in pairwise(boxes))


# -- the ranking ---------------------------------------------------------------------------


def test_ranking_draws_every_arm_with_its_interval(nine):
    ax = plots.plot_ranking(nine)
    order = nine["order"].values
    labels = texts(ax.yaxis)
    assert [int(text.split()[0]) for text in labels] == list(range(1, 10))
    assert all(
        shorten(str(a), 30) in t for a, t in zip(nine["arm"].values[order], labels, strict=True)
    )
    dots = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(dots.get_xdata(), nine["win_rate"].values[order])
    wide, half = (np.array(c.get_segments())[:, :, 0] for c in ax.collections[:2])
    for drawn, ends in ((wide, ("lower", "upper")), (half, ("quarter", "three_quarters"))):
        for k, end in enumerate(ends):
            np.testing.assert_array_equal(drawn[:, k], nine[f"win_rate_{end}"].values[order])
    assert ax.get_xlim() == (0, 1)
    bottom, top = ax.get_ylim()
    assert bottom > top  # the best arm is on top
    tiers = [t.get_text() for t in ax.texts]
    assert tiers == [f"tier {k}" for k in range(1, int(nine["tier"].max()) + 1)]
    assert len(tiers) > 1


def test_one_tier_is_not_marked():
    ax = plots.plot_ranking(winners_of(4, noise=5.0))
    assert not ax.texts


def test_places_within_one_of_several_tiers_are_marked():
    nine = winners_of(9)
    tier = nine["tier"].values[nine["order"].values]
    (first, *_) = np.flatnonzero(tier == tier.max())
    ax = plots.plot_ranking(nine, places=slice(int(first), None))
    assert [t.get_text() for t in ax.texts] == [f"tier {tier.max()}"]


LONG = "arm number {:03d} with a name that is rather long"


@pytest.mark.parametrize(
    ("n_arms", "label"),
    [
        (2, "{}"),
        (3, LONG),
        (5, LONG),
        (9, "flavour {}.0 gel 2.4"),
        (45, "team {}"),
        pytest.param(161, LONG, marks=pytest.mark.slow),
    ],
)
@pytest.mark.sampled(6)
@pytest.mark.slow
def test_labels_never_overlap_nor_leave_the_picture(n_arms, label, many):
    found = many if n_arms == 161 else winners_of(n_arms, label=label)
    for plot in (plots.plot_ranking, plots.plot_ranks, plots.plot_preference, plots.plot_winners):
        ax = plot(found)
        for axis in (ax.xaxis, ax.yaxis):
            assert overlapping(axis.get_ticklabels(), ax.figure) == 0, plot.__name__
        edge = ax.figure.bbox
        for label in (*ax.get_yticklabels(), *ax.get_xticklabels()):
            box = label.get_window_extent()
            assert box.x0 >= edge.x0 - 1 and box.x1 <= edge.x1 + 1, plot.__name__


def test_places_cut_the_ranking(many):
    ax = plots.plot_ranking(many, places=slice(40, 80))
    labels = texts(ax.yaxis)
    assert [int(t.split()[0]) for t in labels] == list(range(41, 81))
    with pytest.raises(ValueError, match="places should leave an arm"):
        plots.plot_ranking(many, places=slice(200, 240))


def test_ranks_heat_map(nine, many):
    ax = plots.plot_ranks(nine)
    order = nine["order"].values
    probability = nine["rank_probability"].values[order]
    np.testing.assert_array_equal(ax.images[0].get_array(), probability)
    written = {(round(t.get_position()[1]), round(t.get_position()[0])): t for t in ax.texts}
    assert set(written) == {tuple(at) for at in np.argwhere(probability >= 0.005).tolist()}
    assert all(int(t.get_text()) == round(100 * probability[at]) for at, t in written.items())
    big = plots.plot_ranks(many)
    assert not big.texts
    assert len(texts(big.yaxis)) <= 22
    assert len(big.child_axes) == 1  # a colour bar


# -- matrices ------------------------------------------------------------------------------


def test_preference_marks_the_uncertain_cells(nine):
    ax = plots.plot_preference(nine)
    order = nine["order"].values
    mean, low, high = (
        nine[f"preference_{p}"].values[np.ix_(order, order)] for p in ("mean", "lower", "upper")
    )
    shown = ax.images[0].get_array()
    off = ~np.eye(9, dtype=bool)
    assert np.ma.getmaskarray(np.ma.masked_invalid(shown))[~off].all()
    np.testing.assert_array_equal(np.asarray(shown)[off], mean[off])
    assert ax.images[0].norm.vmin == 0 and ax.images[0].norm.vmax == 1  # 1/2 is the centre
    uncertain = (low <= 0.5) & (high >= 0.5) & off
    assert 0 < uncertain.sum() < off.sum()
    (patch,) = (p for p in ax.patches if isinstance(p, PathPatch))
    assert patch.get_hatch()
    path = patch.get_path()
    for i, j in np.ndindex(9, 9):
        assert path.contains_point((j, i)) == uncertain[i, j], (i, j)
    assert {t.get_text() for t in ax.texts} == {f"{100 * p:.0f}" for p in mean[off]}


def test_preference_of_some_places(nine):
    whole = plots.plot_preference(nine).images[0].get_array()
    ax = plots.plot_preference(nine, places=slice(2, 6))
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), np.asarray(whole)[2:6, 2:6])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["3", "4", "5", "6"]
    with pytest.raises(ValueError, match="places should leave an arm of 9"):
        plots.plot_preference(nine, places=slice(9, 12))


def test_cells_are_never_certain():
    sure = winners_of(3, noise=0.01)
    cells = {t.get_text() for t in plots.plot_ranks(sure).texts}
    assert cells == {">99"}


def test_preference_without_uncertain_cells_has_no_hatch():
    ax = plots.plot_preference(winners_of(4, noise=0.01))
    assert not [p for p in ax.patches if isinstance(p, PathPatch)]


def test_winners_by_criterion(nine, many):
    ax = plots.plot_winners(nine)
    values = np.asarray(ax.images[0].get_array())
    labels = texts(ax.yaxis)
    assert labels[-1] == "none" and labels[-2].startswith("the other")
    np.testing.assert_allclose(values.sum(0), 1, atol=1e-9)
    order = nine["order"].values
    share = nine["winner_share"].values[:, order]
    np.testing.assert_array_equal(values[0], share[:, 0])
    words = [t.get_text().replace("\n", " ") for t in ax.get_xticklabels()]
    assert words == ["Condorcet", "Copeland", "Borda", "random walk", "von Neumann"]
    few = np.asarray(plots.plot_winners(many, least=0.2).images[0].get_array())
    np.testing.assert_allclose(few.sum(0), 1, atol=1e-9)
    assert len(few) < 7
    with pytest.raises(ValueError, match=r"least should be in \[0, 1\), got 2"):
        plots.plot_winners(nine, least=2)


# -- checks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rock():
    wins = np.array([[0, 30, 9, 8], [10, 0, 31, 9], [31, 9, 0, 7], [0, 0, 0, 0]])
    return check(Duels.from_wins(wins, [*"rpsx"]), quick=True)


def test_cyclicity_of_logs_without_any_cycle_is_one_bar(rock):
    flat = np.zeros_like(rock.evidence.replicated)
    ax = plots.plot_cyclicity(
        replace(rock, evidence=replace(rock.evidence, statistic=0.0, replicated=flat))
    )
    low, high = ax.get_xlim()
    assert low < -0.4 and 0.4 < high < 1.0


def test_cyclicity_shows_replicated_logs_and_the_log(rock):
    ax = plots.plot_cyclicity(rock)
    assert ax.lines[0].get_xdata()[0] == rock.evidence.statistic
    (patch,) = ax.patches
    assert sum(patch.get_data().values) == pytest.approx(1)
    low, high = ax.get_xlim()
    assert low < rock.evidence.statistic < high


@pytest.mark.parametrize("n_arms", [3, 5, pytest.param(46, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_arcs_join_the_pairs_that_contradict_the_order(n_arms):
    """The last arm beats the first one; each other pair is won by the earlier arm."""
    wins = np.triu(np.full((n_arms, n_arms), 40), 1)
    wins[0, -1] = 0
    wins[-1, 0] = 40
    found = check(Duels.from_wins(wins), quick=True)
    ax = plots.plot_cycles(found)
    names = [text.get_text() for text in ax.texts]
    order = np.argsort(-found.ranking.odds.mean(axis=1), kind="stable")
    place = np.argsort(order)
    assert names == ([found.duels.arms[k] for k in order] if n_arms <= 45 else [])
    drawn = {
        (round(arc.center[1] - arc.height / 2), round(arc.center[1] + arc.height / 2))
        for arc in ax.patches
    }
    contradict = np.argwhere(found.ranking.p_better > 0.5)
    expected = {(place[higher], place[lower]) for lower, higher in contradict}
    expected = {pair for pair in expected if pair[0] < pair[1]}
    assert drawn <= expected and len(drawn) == min(len(expected), 40) > 0
    assert ax.get_title().startswith(f"{len(expected)} of ")
    high, low = ax.get_ylim()
    assert high > n_arms - 1 and low < 0  # the strongest arm is at the top


@pytest.mark.parametrize(
    ("log", "title"),
    [
        ("springall", "None of 36 pairs contradicts the order"),
        ("celebrities", "No cycle that matters"),  # one pair may contradict the order, by little
    ],
)
@pytest.mark.slow
def test_no_arc_is_drawn_of_a_transitive_log(log, title):
    found = check(bd.datasets.load(log), quick=True)
    assert found.transitive
    ax = plots.plot_cycles(found)
    assert not ax.patches
    assert ax.get_title() == title


def test_residuals_mark_the_pairs_that_surprise(rock):
    ax = plots.plot_residuals(rock)
    shown = np.ma.filled(ax.images[0].get_array(), np.nan)
    off = ~np.eye(4, dtype=bool)
    assert np.allclose((shown + shown.T)[off], 1)
    far = (rock.residuals["pairs"]["p"] < 0.01).sum()
    assert far > 0 and len(ax.collections[0].get_offsets()) == 2 * far


def test_nothing_to_draw_is_refused():
    two = check(Duels.from_wins([[0, 1], [2, 0]]), quick=True)
    with pytest.raises(ValueError, match="triads that can close"):
        plots.plot_cyclicity(two)
    with pytest.raises(ValueError, match="three arms that have all met"):
        plots.plot_cycles(two)
    level = check(Duels.from_wins(np.zeros((2, 2)), ties=np.eye(2)[::-1]), quick=True)
    with pytest.raises(ValueError, match="decided duels"):
        plots.plot_residuals(level)


@pytest.mark.parametrize("draw", [plots.plot_ranking, plots.plot_ranks, plots.plot_preference])
def test_a_dataset_of_something_else_is_refused(draw):
    with pytest.raises(TypeError, match=r"should be what bayesduel.winners returned, got another"):
        draw(xr.Dataset())


def test_calibration_dots_and_intervals():
    x = np.array([0.55, 0.7, 0.95])
    calibration = Calibration(
        predicted=x,
        observed=x + 0.02,
        lower=x - 0.2,
        upper=np.minimum(x + 0.1, 1),
        n=np.array([20, 20, 40]),
        log_loss=0.5,
        log_loss_error=0.01,
        folds=5,
        unit="duel",
    )
    ax = plots.plot_calibration(calibration)
    bars, dots = ax.collections
    np.testing.assert_array_equal(dots.get_offsets()[:, 0], x)
    np.testing.assert_array_equal(dots.get_offsets()[:, 1], x + 0.02)
    ends = np.array(bars.get_segments())[:, :, 1]
    np.testing.assert_array_equal(ends[:, 0], calibration.lower)
    assert ax.get_ylim()[0] < calibration.lower.min() and ax.get_ylim()[1] == 1
    sizes = dots.get_sizes()
    assert sizes[2] > sizes[0] == sizes[1]


# -- all of them ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plot_ranking", "plot_ranks", "plot_preference", "plot_winners"])
def test_axes_given_are_the_axes_drawn_on(name, nine):
    figure = Figure(figsize=(6, 5))
    ax = figure.add_subplot()
    assert getattr(plots, name)(nine, ax) is ax
    assert getattr(plots, name)(nine, ax=ax) is ax
    assert not plt.get_fignums()
    with pytest.raises(TypeError, match=r"winners should be what bayesduel\.winners returned"):
        getattr(plots, name)([1, 2])


@pytest.mark.parametrize("name", plots.__all__)
def test_every_plot_refuses_other_kinds_and_documents_its_axes(name):
    plot = getattr(plots, name)
    with pytest.raises(TypeError, match=r"should be what bayesduel\.[\w.]+ returned, got str"):
        plot("a string")
    assert not plt.get_fignums()
    assert plot.__doc__.count("\nax\n    Axes to draw on.") == 1
    assert plot.__doc__.count("Returns\n-------\nThe axes.") == 1
    assert inspect.signature(plot).parameters["ax"].default is None


def test_a_figure_that_fails_is_closed(rock):
    with pytest.raises(ValueError, match="places should leave an arm"):
        plots.plot_ranking(winners_of(4), places=slice(9, 12))
    with pytest.raises(ValueError, match="three arms that have all met"):
        plots.plot_cycles(replace(rock, ranking=None))
    assert not plt.get_fignums()


def test_shorten_keeps_both_ends():
    assert shorten("short") == "short"
    long = shorten("a name that goes on and on until its end", 20)
    assert len(long) <= 20 and long.startswith("a name") and long.endswith("end") and "…" in long
    wide = shorten("模型" * 20, 20)  # letters twice as wide
    assert 9 <= len(wide) <= 10 and wide.startswith("模") and wide.endswith("型")


def test_every_leaves_at_most_as_many():
    for n in (1, 5, 22, 23, 161, 4999):
        assert -(-n // every(n, 22)) <= 22
    assert every(22, 22) == 1 and every(23, 22) == 2 and every(161, 22) == 10


@pytest.fixture(scope="module")
def fitted():
    return bd.fit(Duels.from_wins([[0, 22, 15], [16, 0, 11], [8, 10, 0]], list("abc")), draws=200)


@pytest.mark.parametrize("name", plots.__all__)
def test_every_plot_draws_a_fit_or_says_what_it_takes(name, fitted):
    """A model without what is drawn, or a result that is made of the log, is named."""
    try:
        getattr(plots, name)(fitted)
    except (TypeError, ValueError) as error:
        said = str(error)
        assert re.search(r"fit should be |returned, got |simulate", said), said
        if isinstance(error, TypeError):
            assert f"; {name}(bayesduel." in said
    else:
        assert plt.get_fignums()
        plt.close("all")
