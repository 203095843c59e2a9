"""Report section: variance by arm, prompt, judge and vote, and what a next round would tell."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import FIRST_ROWS, Section, Table, blocks, frame_table
from bayesduel.text import first_rows, percent, plural

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.generalizability import Generalizability

__all__ = ["generalizability_section"]


def generalizability_section(found: "Generalizability", noun: str = "arm") -> Section:
    """Return the section on what :func:`bayesduel.generalizability` returned.

    noun: what an arm is called.
    """
    facets = found.components.index[1:-1]
    tables = [
        _levels(found, found.levels[found.levels["facet"] == facet], noun) for facet in facets
    ]
    return Section(
        id="generalizability",
        title="Generalizability",
        body=blocks(found.words(noun), _components(found, noun), *tables, _designs(found)),
    )


def _components(found: "Generalizability", noun: str) -> Table:
    nouns = plural(noun)
    columns = (
        ("l", "component", lambda r: noun if r["component"] == "arm" else r["component"]),
        ("n", "levels", "{levels:,.0f}"),
        ("n", "variance", _interval("variance")),
        ("n", "share, %", _interval("share", percent)),
    )
    return frame_table(
        found.components.reset_index(names="component"),
        columns,
        name="components",
        caption=(
            f"Variance of one vote, in squared {found.unit}, with {100 * found.ci_prob:g} % "
            f"intervals. Its parts are differences between {nouns}, differences of {nouns} by "
            "level of each facet, and the vote itself."
        ),
    )


def _levels(found: "Generalizability", frame: "pd.DataFrame", noun: str) -> Table:
    facet = str(frame["facet"].iloc[0])
    columns = (
        ("l", facet, "{level}"),
        ("n", "votes", "{votes:,.0f}"),
        ("n", f"spread of {plural(noun)}", _interval("spread")),
        ("n", "wider than\naverage", lambda r: f"{percent(r['wider'])} %"),
        ("n", "correlation", _interval("correlation")),
    )
    return frame_table(
        frame,
        columns,
        frame.sort_values("correlation").head(FIRST_ROWS),
        name=f"levels-{facet}",
        caption=(
            f"How much {plural(noun)} differ at each {facet} (standard deviation of their scores, "
            f"in {found.unit}), the probability that this is more than on average, and the "
            "correlation with the average scores. The lowest correlation is "
            f"first.{first_rows(FIRST_ROWS, len(frame))}"
        ),
    )


def _designs(found: "Generalizability") -> Table:
    columns = (
        ("n", f"new\n{found.facet}s", "{levels:,.0f}"),
        ("n", "votes on each", "{votes:,.0f}"),
        ("n", "votes", "{total:,.0f}"),
        ("n", "error of a difference", "{error:.2f}"),
        ("n", "coefficient", "{coefficient:.2f}"),
    )
    return frame_table(
        found.designs,
        columns,
        name="designs",
        caption=(
            "Prediction for a next round: posterior standard deviation of a difference of "
            f"two scores, in {found.unit}, and generalizability coefficient."
        ),
    )


def _interval(name: str, shown: Callable[[float], str] = "{:.2f}".format) -> Callable[[Any], str]:
    """Return the cell of a number of that name with its interval."""
    return lambda row: "{} [{}, {}]".format(
        *(shown(row[f"{name}{end}"]) for end in ("", "_lower", "_upper"))
    )
