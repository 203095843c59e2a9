"""``bayesduel report``: a report on a log, as one HTML file."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from bayesduel.cli.options import (
    analysing,
    analysis_options,
    check_folder,
    log_argument,
    noun_option,
    report_option,
)

__all__ = ["command", "shown_command"]


@click.command("report", short_help="Write a report on LOG, as one HTML file.")
@log_argument
@report_option
@noun_option
@click.option("--title", help="Heading.  [default: the source of the log]")
@click.option(
    "--separate",
    is_flag=True,
    help="With --by: a full report on each log, in place of one model with category effects.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare models by cross-validation, too (can take minutes). Where no ranking holds, the "
    "winners are those of the best model without one.",
)
@click.option(
    "--audit",
    is_flag=True,
    help="Show how few votes or judges decide who leads, too (fits the model some forty times).",
)
@analysis_options
@click.pass_obj
def command(
    argv: list[str], /, log: str, output: Path, title: str | None, separate: bool, **options: Any
) -> None:
    """Write a report on LOG: verdict, ranking, checks, model and diagnostics.

    The file needs no network. With --by, categories that share arms are on one page: scores and
    ranks by category, and where the ranking changes. Where they do not share them, or with
    --separate, each has a part of its own.
    """
    from bayesduel.cli.console import alone, remark, steps
    from bayesduel.data.categories import POOLED, arm_coverage
    from bayesduel.reporting.report import report

    check_folder(output)
    logs, given = analysing(log, options)
    pooled = len(logs) > 1 and not separate
    if pooled:
        coverage = arm_coverage(logs)  # type: ignore[arg-type]
        pooled = coverage >= POOLED
        if not pooled:
            remark(
                f"each value of {options['by']} is a log of its own: on average it has "
                f"{100 * coverage:.2g} % of all arms, and {100 * POOLED:g} % are needed for one "
                "model of all"
            )
    with steps() as step:
        report(
            alone(logs),
            output,
            **given,
            pooled=pooled,
            title=title,
            command=shown_command(argv),
            step=step,
        )
    remark(f"wrote {output}")


def shown_command(argv: list[str]) -> str:
    """Return a command for a page: of an absolute path its name, of an address no secret."""
    from bayesduel.data.read.address import shown_address

    words = ["bayesduel"]
    for word in argv:
        option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
        named = os.path.basename(value) if os.path.isabs(value) else shown_address(value)
        words.append(f"{option}{equals}{named}")
    return shlex.join(words)
