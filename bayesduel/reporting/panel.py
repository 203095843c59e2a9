"""Report section: a panel of judges, classical tests beside the posterior."""

from typing import TYPE_CHECKING, Any

from bayesduel.posterior.panel import chi_square_words, p_cell
from bayesduel.reporting.section import Section, Table, blocks, frame_table
from bayesduel.text import SCREEN, first_rows, percent

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.panel import Panel

__all__ = ["panel_section"]

MISSING = "\u2013"


def panel_section(found: "Panel") -> Section:
    """Return the section on what :func:`bayesduel.panel` returned."""
    judges = found.judges
    by_judge = f"Judges: {judges}." if isinstance(judges, str) else _judges(found, judges)
    return Section(
        id="panel",
        title="Panel",
        body=blocks(found.sentence, _tests(found), _arms(found), _pairs(found), by_judge),
    )


def _tests(found: "Panel") -> Table:
    """Return the tests of the whole panel, or why each cannot be made."""
    equality = found.equality
    name = "all arms alike"
    if not isinstance(equality, str):
        name = f"all arms alike ({equality.name})"
    agreement = found.agreement
    by_chance = "agreement by chance (Kendall)"
    if not isinstance(agreement, str):
        by_chance = f"agreement by chance (Kendall's u {agreement.u:.2f})"
    rows = (
        (name, equality),
        ("judges rank all arms alike (Friedman)", found.friedman),
        (by_chance, agreement),
    )
    texts = tuple((what, t if isinstance(t, str) else chi_square_words(t)) for what, t in rows)
    shown = percent(found.power)
    return Table(
        columns="tt",
        heads=("hypothesis", "test"),
        rows=texts,
        name="tests",
        caption=f"If one arm is preferred with {100 * found.effect:g} % to each other one, the "
        f"first test finds it with power {shown} %.",
    )


def _arms(found: "Panel") -> Table:
    differences = found.differences
    caption = "Rank sum: 1 for a win, 2 for a loss, 1.5 for a tie."
    if isinstance(differences, str):
        caption += (
            " The least and the honestly significant difference of rank sums are not given, "
            f"because {differences}."
        )
    else:
        caption += (
            " Arms that share a letter do not differ by the honestly significant difference of "
            f"{differences.hsd:.1f}. The least significant difference, for a single pair, is "
            f"{differences.lsd:.1f}. Letters compare rank sums from all votes; the tests of pairs "
            "use only the votes of each pair. So the two can differ."
        )
    columns = [
        ("l", "arm", "{arm}"),
        ("n", "duels", "{duels:,}"),
        ("n", "wins", "{wins:,}"),
        ("n", "ties", "{ties:,}"),
        ("n", "rank sum", "{rank_sum:,g}"),
        *([] if isinstance(differences, str) else [("l", "letters", "{letters}")]),
        ("n", "win rate, %", lambda r: _share(r, "win_rate")),
    ]
    return frame_table(
        found.arms.reset_index(names="arm"),
        columns,
        found.arms.head(SCREEN.lines).reset_index(names="arm"),
        name="arms",
        caption=f"{caption} Win rates are those of the fit."
        f"{first_rows(SCREEN.lines, len(found.arms))}",
    )


def _pairs(found: "Panel") -> Table:
    frame = found.pairs
    columns = (
        ("l", "arm", "{first}"),
        ("l", "other arm", "{second}"),
        ("n", "wins", "{first_wins:,} of {n:,}"),
        ("n", "ties", "{ties:,}"),
        ("n", "p", lambda r: p_cell(r["p"])),
        ("n", "by Holm", lambda r: p_cell(r["p_adjusted"])),
        ("n", "critical", _critical),
        ("n", "preferred, %", lambda r: _share(r, "preferred")),
    )
    return frame_table(
        frame,
        columns,
        frame.sort_values("p", kind="stable").head(SCREEN.lines),
        full=True,
        name="pairs",
        caption="p: exact binomial test, two-sided, ties left out. Critical: the fewest wins that "
        f"are significant at {100 * found.alpha:g} %. Preferred: the probability by the fit that "
        "the arm is preferred to the other one, a tie as half."
        f"{first_rows(SCREEN.lines, len(frame), ' pairs')}",
    )


def _judges(found: "Panel", frame: "pd.DataFrame") -> Table:
    columns = (
        ("l", "judge", "{judge}"),
        ("n", "votes", "{votes:,}"),
        ("n", "ties", "{ties:,}"),
        ("n", "same vote\nagain, %", lambda r: _share(r, "repeatability")),
        ("n", "agrees with\nanother, %", lambda r: _share(r, "agreement")),
        ("n", "circular triads", "{circular:,} of {triads:,}"),
        ("n", "zeta", lambda r: _number(r["consistence"], 2)),
        ("n", "by chance", lambda r: _number(r["p_chance"], 3)),
    )
    return frame_table(
        frame,
        columns,
        frame.head(SCREEN.lines),
        full=True,
        name="judges",
        caption="Same vote again: where a judge voted on a pair several times. Agrees with "
        "another: decided votes of two judges on the same pair name the same arm. Both have "
        f"{100 * found.ci_prob:g} % intervals, and judges with few votes are drawn to the panel. "
        "Zeta: Kendall's coefficient of consistence, where every pair is decided. By chance: the "
        "probability that random votes have as few circular triads."
        f"{first_rows(SCREEN.lines, len(frame), ' judges')}",
    )


def _critical(row: Any) -> str:
    """Return the fewest significant wins, or a dash where no number is."""
    return f"{row['critical']:,}" if row["critical"] <= row["n"] else MISSING


def _share(row: Any, name: str) -> str:
    """Return a share with its interval, in per cent; a dash where it is missing."""
    if row[name] != row[name]:
        return MISSING
    ends = (row[name], row[f"{name}_lower"], row[f"{name}_upper"])
    return "{} [{}, {}]".format(*map(percent, ends))


def _number(value: float, digits: int) -> str:
    """Return a number, or a dash where it is missing."""
    return MISSING if value != value else f"{value:.{digits}f}"
