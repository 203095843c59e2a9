"""Names are shown as they are, in every plot: dollar signs, markup, emoji, any length."""

import re
from base64 import b64decode

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayesduel as bd
from bayesduel import plots
from bayesduel.plots.style import figure, legend_label, numbered, shorten
from bayesduel.reporting.figures import draw
from tests.support.fits_by_hand import winners_of

matplotlib.use("Agg")

HOSTILE = [
    "$_$", "a $x$ b", r"\frac{1}{0}", r"$\frac$", "<b>bold</b>", "<script>alert(1)</script>",
    "🦊 fox", "السلام عليكم", "\u202eright to left", "x" * 10_000, "e" + "\u0301" * 5_000,
    "two\nlines" * 1_000, "_nolegend_", "&amp;", "'; DROP TABLE", "{{ 7 * 7 }}", r"\$", "100 $",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    return winners_of(HOSTILE)


def shown(ax) -> set[str]:
    """Return the texts of axes that are drawn literally."""
    found = {text.get_text() for text in ax.findobj(Text) if not text.get_parse_math()}
    return {re.sub(r"^\u200e?\d+  ", "", text) for text in found}


@pytest.mark.parametrize(
    ("name", "mark"),
    [("קלוד סונט 4.5", "\u200e"), ("نموذج", "\u200e"), ("a קלוד", "\u200e"), ("Ω <b>", "")],
)
def test_a_rank_stands_left_of_a_name_whatever_its_letters(name, mark):
    assert numbered(7, name) == f"{mark}7  {name}"


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("plot", [plots.plot_ranking, plots.plot_ranks, plots.plot_winners])
def test_names_are_literal(hostile, plot):
    ax = plot(hostile)
    ax.figure.canvas.draw()
    first = {shorten(name, 24)[:20] for name in HOSTILE[:4]}
    assert first <= {text[:20] for text in shown(ax)}


def test_names_are_literal_on_axes_of_the_user(hostile):
    own = Figure(layout="compressed").add_subplot()
    own.set_title("$x^2$")  # the user's formula stays one
    plots.plot_ranking(hostile, ax=own)
    assert own.title.get_parse_math() and "$_$" in shown(own)


def test_a_picture_of_a_report_holds_them(hostile):
    picture = draw(lambda ax: plots.plot_ranking(hostile, ax=ax), (7, 6))
    assert picture.width < 2_000 and picture.height < 2_000
    svg = b64decode(picture.uri.partition(",")[2]).decode()
    assert "🦊 fox" in svg and "&lt;b&gt;" in svg and "<script>" not in svg


def test_every_kind_of_text_is_literal_but_numbers_of_axes():
    @figure((4, 3), "bayesduel.winners")
    def plot(winners, *, ax=None):
        """Draw texts."""
        ax.set_title("$_$", loc="left")
        ax.set_xlabel(r"$\frac$")
        ax.annotate("$a$", (0, 0))
        ax.text(0, 0, "$b$")
        ax.plot([1, 100], [1, 2], label=legend_label("_hidden $c$"))
        ax.legend()
        ax.set_xscale("log")
        return ax

    ax = plot(winners_of(["a", "b"]))
    ax.figure.canvas.draw()
    assert {"$_$", r"$\frac$", "$a$", "$b$", "\u200b_hidden $c$"} <= shown(ax)
    assert all(label.get_parse_math() for label in ax.get_xticklabels())


def test_policies_and_problems_of_any_name_are_in_the_legend(tmp_path):
    problem = bd.problems.Matrix(np.array([[0.5, 0.8], [0.2, 0.5]]), name="$_$")
    named = {
        "_hidden": bd.policies.Uniform(),
        "$_$": bd.policies.Uniform(),
        "x" * 500: bd.policies.Uniform(),
    }
    trace = bd.simulate(named, problem, 20, replications=2)
    ax = bd.plot_regret(trace)
    ax.figure.canvas.draw()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "\u200b_hidden" in words and "$_$" in words
    assert max(map(len, words)) <= 90
    assert not ax.title.get_text() and "$_$" in ax.get_title("left")


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize("width", [8, 24, 60])
def test_a_shortened_label_is_one_short_line(label, width):
    short = shorten(label, width)
    assert len(short.splitlines()) == 1
    assert len(short) <= 4 * width + 1


def test_what_is_no_axes_is_refused_by_name(hostile):
    with pytest.raises(TypeError, match="ax should be axes of Matplotlib, got int"):
        plots.plot_ranking(hostile, ax=3)
