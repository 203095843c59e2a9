"""Report section: variance by arm, prompt, judge and vote, and what a next round would tell."""

from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import Section, Table, blocks
from bayesduel.text import first_rows, percent

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.generalizability import Generalizability

__all__ = ["generalizability_section"]

ROWS = 10  # of a table of levels on the page; its files have all


def generalizability_section(found: "Generalizability") -> Section:
    """Return the section on what :func:`bayesduel.generalizability` returned."""
    facets = found.components.index[1:-1]
    tables = [_levels(found, found.levels[found.levels["facet"] == facet]) for facet in facets]
    return Section(
        id="generalizability",
        title="Generalizability",
        body=blocks(found.sentence, _components(found), *tables, _designs(found)),
    )


def _components(found: "Generalizability") -> Table:
    frame = found.components
    return _table(
        "components",
        ("component", "levels", "variance", "share, %"),
        [
            (
                str(name),
                f"{row['levels']:,.0f}",
                _interval(row, "variance", lambda v: f"{v:.2f}"),
                _interval(row, "share", percent),
            )
            for name, row in frame.iterrows()
        ],
        f"Variance of an arm's score as one vote shows it, in squared {found.unit}, with "
        f"{100 * found.ci_prob:g} % intervals: between arms, of arms by level of each facet, and "
        "of the vote itself.",
        frame.reset_index(names="component"),
    )


def _levels(found: "Generalizability", frame: "pd.DataFrame") -> Table:
    shown = frame.sort_values("correlation").head(ROWS)
    facet = str(frame["facet"].iloc[0])
    return _table(
        f"levels-{facet}",
        (facet, "votes", "spread of arms", "wider than\naverage", "correlation"),
        [
            (
                str(row["level"]),
                f"{row['votes']:,.0f}",
                _interval(row, "spread", lambda v: f"{v:.2f}"),
                f"{percent(row['wider'])} %",
                _interval(row, "correlation", lambda v: f"{v:.2f}"),
            )
            for row in shown.to_dict("records")
        ],
        f"How far each {facet} spreads the arms (standard deviation of their scores, in "
        f"{found.unit}), the probability that it does more than an average one, and the "
        f"correlation of its scores with the average ones; the lowest first."
        f"{first_rows(ROWS, len(frame))}",
        frame,
    )


def _designs(found: "Generalizability") -> Table:
    frame = found.designs
    return _table(
        "designs",
        (f"new\n{found.facet}s", "votes on each", "votes", "error of a difference", "coefficient"),
        [
            (
                f"{row['levels']:,.0f}",
                f"{row['votes']:,.0f}",
                f"{row['total']:,.0f}",
                f"{row['error']:.2f}",
                f"{row['coefficient']:.2f}",
            )
            for row in frame.to_dict("records")
        ],
        "After a next round, as predicted: posterior standard deviation of a difference of two "
        f"scores, in {found.unit}, and generalizability coefficient.",
        frame,
    )


def _table(
    name: str, heads: tuple[str, ...], rows: list[Any], caption: str, frame: "pd.DataFrame"
) -> Table:
    return Table(
        columns="l" + "n" * (len(heads) - 1) if name != "designs" else "n" * len(heads),
        heads=heads,
        rows=tuple(rows),
        name=name,
        caption=caption,
        data={str(column): frame[column].to_numpy() for column in frame},
    )


def _interval(row: Any, name: str, shown: Any) -> str:
    return f"{shown(row[name])} [{shown(row[f'{name}_lower'])}, {shown(row[f'{name}_upper'])}]"
