"""``bayesduel winners``: the winners of a log, in the terminal or as JSON."""

from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import (
    fits_of,
    fitting_options,
    json_option,
    judging_options,
    log_argument,
    reading_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.section import Block

__all__ = ["command"]

ROWS = 30  # arms listed in the terminal; --json has all


@click.command("winners", short_help="Show the winners of LOG, with uncertainty.")
@log_argument
@json_option
@click.option(
    "--covariance",
    default="auto",
    show_default=True,
    help="Which votes depend on one another: model (none), judge, group, judge and group, or auto.",
)
@reading_options
@fitting_options
@judging_options
def command(log: str, as_json: bool, covariance: str, **options: Any) -> None:
    """Show the winners of LOG (or of a fit.nc that `bayesduel fit` saved), with uncertainty."""
    from bayesduel.cli.console import print_json, show, working
    from bayesduel.posterior.winners import winners

    results: dict[str | None, Winners] = {}
    for label, fit in fits_of(log, options).items():
        with working("computing winners"):
            results[label] = winners(
                fit,
                rope=options["rope"],
                confidence=options["confidence"],
                covariance=covariance,
            )
    if as_json:
        summaries = {label: result.summary() for label, result in results.items()}
        print_json(summaries[None] if None in summaries else summaries)
        return
    for label, result in results.items():
        show(_blocks(result), label)


def _blocks(result: "Winners") -> "Iterator[Block]":
    """Yield the verdict and the ranking, as they are printed."""
    from bayesduel.posterior.verdict_text import ACROSS
    from bayesduel.reporting.section import Table, Text, Verdict
    from bayesduel.text import percent

    group = result.groups()
    yield Verdict(headline=result.attrs["verdict"], text=() if group is None else (ACROSS,))
    frame, level = result.table(), f"{100 * result.attrs['confidence']:g} %"
    yield Text("")
    yield Table(
        columns="nlnnnn" + "n" * (group is not None),
        heads=(
            *("", "arm", "best", f"rank [{level}]", f"win rate [{level}]", "tier"),
            *(() if group is None else ("group",)),
        ),
        rows=tuple(
            (
                f"{place}",
                str(arm),
                f"{percent(row['copeland'])} %",
                f"{row['rank_mean']:.1f} [{row['rank_lower']:.0f}, {row['rank_upper']:.0f}]",
                f"{percent(row['borda_mean'])} % "
                f"[{percent(row['borda_lower'])}, {percent(row['borda_upper'])}]",
                f"{row['tier']:.0f}",
                *(() if group is None else (f"{group[str(arm)]}",)),
            )
            for place, (arm, row) in enumerate(frame.head(ROWS).iterrows(), 1)
        ),
    )
    if len(frame) > ROWS:
        yield Text(f"... and {len(frame) - ROWS} more: --json has all")
    yield Text(result.attrs["dependence"], "small")
    yield Text(
        "\nbest: probability of winning most pairings (Copeland); "
        "win rate: against an arm drawn at random",
        "small",
    )
