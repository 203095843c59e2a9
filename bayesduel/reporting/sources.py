"""Report section: how the sources of votes agree with the target, their worth and biases."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.section import FIRST_ROWS, Figure, Section, Table, blocks, frame_table
from bayesduel.text import an, first_rows, plural, shorten

if TYPE_CHECKING:
    from bayesduel.posterior.sources import SourceAgreement

__all__ = ["sources_section"]


def sources_section(found: "SourceAgreement", noun: str = "arm") -> Section:
    """Return the section on what :func:`bayesduel.sources` returned.

    noun: what an arm is called.
    """
    from bayesduel.plots.sources import SOURCES_SIZE, plot_sources

    words = f"Score of each {noun} by a source against its score by {shorten(found.target)}"
    figure = Figure(
        plot=partial(plot_sources, found),
        size=SOURCES_SIZE,
        alt=words,
        caption=f"{words}. The line is what the correlation predicts; {plural(noun)} that a source "
        f"places elsewhere ({100 * found.ci_prob:g} % interval) are filled.",
    )
    body = blocks(found.sentence, _table(found, noun), figure, _arms(found, noun))
    return Section(id="sources", title="Sources", body=body)


def _table(found: "SourceAgreement", noun: str) -> Table:
    columns = (
        ("l", "source", "{source}"),
        ("n", "votes", "{votes:,.0f}"),
        (
            "n",
            f"worth in votes\nof {shorten(found.target)}",
            lambda r: "–" if np.isnan(r["worth"]) else f"{r['worth']:,.0f}",
        ),
        ("n", "correlation", _interval("correlation")),
        ("n", "side\nadvantage", _interval("left")),
    )
    return frame_table(
        found.table.reset_index(names="source"),
        columns,
        full=True,
        name="sources",
        caption=f"With {100 * found.ci_prob:g} % intervals. Worth: further votes of the target "
        f"that tell as much about its scores. Correlation: of {an(noun)}'s scores by the "
        "source and by the target. Side advantage: how much the left side is ahead with this "
        f"source, in {found.unit}; 0 means no bias.",
    )


def _arms(found: "SourceAgreement", noun: str) -> Table:
    frame = found.arms.reindex(found.arms["difference"].abs().sort_values(ascending=False).index)
    columns = (
        ("l", "source", "{source}"),
        ("l", noun, "{arm}"),
        ("n", "difference", _interval("difference")),
        ("n", "probability\nabove 0", lambda r: f"{100 * r['positive']:.0f} %"),
    )
    return frame_table(
        frame,
        columns,
        frame.head(FIRST_ROWS),
        name="favourites",
        caption=f"How much higher a source places {an(noun)} than the target's scores and the "
        f"correlation say, in {found.unit}; the largest first.{first_rows(FIRST_ROWS, len(frame))}",
    )


def _interval(name: str) -> Callable[[Any], str]:
    """Return the cell of a number of that name with its interval."""

    def cell(row: Any) -> str:
        prefix = f"{name}_" if f"{name}_lower" in row else ""
        numbers = [row[name], row[f"{prefix}lower"], row[f"{prefix}upper"]]
        if np.isnan(numbers[0]):
            return "–"
        middle, low, high = (f"{n:.2f}" for n in numbers)
        return middle if low == high else f"{middle} [{low}, {high}]"

    return cell
