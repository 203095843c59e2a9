"""``bayesduel report``: a report on a log, as one HTML file."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli.options import (
    against_option,
    anchor_of,
    anchor_option,
    check_folder,
    chosen_model,
    fitting_options,
    judging_options,
    log_argument,
    names_of,
    read_log,
    reading_options,
)

__all__ = ["command"]


@click.command("report", short_help="Write a report on LOG, as one HTML file.")
@log_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="File to write.",
)
@click.option("--title", help="Heading.  [default: the source of the log]")
@anchor_option
@against_option
@click.option(
    "--compare",
    is_flag=True,
    help="Compare models by cross-validation, too (can take minutes). Where no ranking holds, the "
    "winners are those of the best model without one.",
)
@reading_options
@fitting_options
@judging_options
@click.pass_obj
def command(argv: list[str], /, log: str, output: Path, title: str | None, **options: Any) -> None:
    """Write a report on LOG: verdict, ranking, checks, model and diagnostics.

    The file needs no network. With --by it has a part for each log.
    """
    import shlex

    from bayesduel.cli.console import remark, steps
    from bayesduel.reporting.report import report

    check_folder(output)
    model = chosen_model(options["model"], options)
    logs = read_log(log, options)
    given = ("method", "draws", "seed", "rope", "confidence", "compare")
    with steps() as step:
        report(
            logs[None] if None in logs else {str(label): one for label, one in logs.items()},
            output,
            model=model,
            **{name: options[name] for name in given},
            **anchor_of(options["anchor"]),
            against=names_of(options["against"]),
            title=title,
            command=shlex.join(["bayesduel", *argv]),
            step=step,
        )
    remark(f"wrote {output}")
