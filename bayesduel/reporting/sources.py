"""Report section: how the sources of votes agree with the target, their worth and biases."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.section import Figure, Section, Table, blocks
from bayesduel.text import first_rows, shorten

if TYPE_CHECKING:
    from bayesduel.posterior.sources import SourceAgreement

__all__ = ["sources_section"]

ROWS = 10  # of a table of arms on the page; its files have all


def sources_section(found: "SourceAgreement") -> Section:
    """Return the section on what :func:`bayesduel.sources` returned."""
    from bayesduel.plots.sources import SOURCES_SIZE, plot_sources

    words = f"Score of each arm by a source against its score by {shorten(found.target)}"
    figure = Figure(
        plot=partial(plot_sources, found),
        size=SOURCES_SIZE,
        alt=words,
        caption=f"{words}. The line is what the correlation predicts; arms that a source places "
        f"elsewhere ({100 * found.ci_prob:g} % interval) are filled.",
    )
    body = blocks(found.sentence, _table(found), figure, _arms(found))
    return Section(id="sources", title="Sources", body=body)


def _table(found: "SourceAgreement") -> Table:
    frame, level = found.table, f"{100 * found.ci_prob:g} %"
    shown = {"worth": ",.0f", "correlation": ".2f", "left": ".2f"}
    rows = tuple(
        (str(source), f"{row['votes']:,.0f}", *(_interval(row, n, f) for n, f in shown.items()))
        for source, row in frame.iterrows()
    )
    return Table(
        columns="lnnnn",
        heads=(
            "source",
            "votes",
            f"worth in votes\nof {shorten(found.target)}",
            "correlation",
            "left side",
        ),
        rows=rows,
        full=True,
        name="sources",
        caption=f"Each with its {level} interval. Worth: further votes of the target that tell as "
        "much about its scores. Correlation: of an arm's scores by the source and by the target. "
        f"Left side: its advantage before the source, in {found.unit}; 0 is no bias.",
        data={"source": frame.index.to_numpy(), **{n: frame[n].to_numpy() for n in frame}},
    )


def _arms(found: "SourceAgreement") -> Table:
    frame = found.arms.reindex(found.arms["difference"].abs().sort_values(ascending=False).index)
    return Table(
        columns="llnn",
        heads=("source", "arm", "difference", "probability\nabove 0"),
        rows=tuple(
            (
                str(row["source"]),
                str(row["arm"]),
                _interval(row, "difference", ".2f"),
                f"{100 * row['positive']:.0f} %",
            )
            for row in frame.head(ROWS).to_dict("records")
        ),
        name="favourites",
        caption=f"How much higher a source places an arm than the target's scores and the "
        f"correlation say, in {found.unit}; the largest first.{first_rows(ROWS, len(frame))}",
        data={name: frame[name].to_numpy() for name in frame},
    )


def _interval(row: Any, name: str, figures: str) -> str:
    """Return a number and its interval."""
    prefix = f"{name}_" if f"{name}_lower" in row else ""
    numbers = [row[name], row[f"{prefix}lower"], row[f"{prefix}upper"]]
    if np.isnan(numbers[0]):
        return "–"
    middle, low, high = (
        format(n, figures) if np.isfinite(n) else "no number is as good" for n in numbers
    )
    return middle if low == high else f"{middle} [{low}, {high}]"
