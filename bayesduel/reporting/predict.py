"""Report section: predictions of duels."""

from typing import TYPE_CHECKING, Any

from bayesduel.posterior.predict import notes, win_words
from bayesduel.reporting.section import Section, Table, Text, blocks
from bayesduel.text import SCREEN, count, number_with_interval, percent

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.predict import Predictions

__all__ = ["predictions_section", "predictions_table"]

OUTCOMES = ("win", "tie", "loss", "margin")  # in this order; others follow


def predictions_section(found: "Predictions") -> Section:
    """Return the section on what :func:`bayesduel.predict` returned."""
    frame = found.to_dataframe().reset_index(drop=True)
    sides = ["left", "right"]
    table = predictions_table(frame[[*sides, *map(str, found.data_vars)]].head(SCREEN.lines))
    words = win_words(found)
    given = found.attrs["conditions"]
    words += f", given {given}." if given else "."
    level = f"{100 * found.attrs['ci_prob']:g} % intervals."
    more = (
        f"... and {count(len(frame) - SCREEN.lines, 'more duel')}."
        if len(frame) > SCREEN.lines
        else None
    )
    note = Text(" ".join([words, level, *notes(found)]), "small")
    return Section(id="predictions", body=blocks(table, more, note))


def predictions_table(frame: "pd.DataFrame") -> Table:
    """Return the table of predictions of duels, whose other columns say which these are."""
    known = [name for name in OUTCOMES if name in frame]
    known += [name for name in frame if f"{name}_lower" in frame and name not in known]
    made = {f"{name}{end}" for name in known for end in ("", "_lower", "_upper")}
    said = [name for name in frame if name not in made]
    rows = tuple(
        (*("" if row[n] is None else str(row[n]) for n in said), *(_cell(row, n) for n in known))
        for row in frame.to_dict("records")
    )
    letters = "l" * len(said) + "n" * len(known)
    return Table(columns=letters, heads=(*map(str, said), *map(str, known)), rows=rows)


def _cell(row: Any, name: str) -> str:
    """Return a prediction with its interval, where the frame has one."""
    ends = [row.get(f"{name}{end}") for end in ("_lower", "_upper")]
    if name == "margin":
        return number_with_interval(row[name], *ends) if None not in ends else f"{row[name]:.2f}"
    middle = f"{percent(row[name])} %"
    return middle if None in ends else "{} [{}, {}]".format(middle, *map(percent, ends))
