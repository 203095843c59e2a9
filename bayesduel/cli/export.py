"""``bayesduel export``: every table of the report on a log, as files."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared

__all__ = ["command"]


@click.command("export", short_help="Write every table of the report on LOG as a file.")
@shared.log_argument
@shared.folder_option
@click.option(
    "--format", type=click.Choice(["csv", "json"]), default="csv", help="Format of the files."
)
@shared.raw_option
@shared.analysis_options
def command(log: str, output: Path, format: Any, raw: bool, **options: Any) -> None:
    """Write every table of the report on LOG as a file, numbers not rounded.

    The files are named after the section and the table: ranking.csv, scores.csv, ... With --by
    there is a folder for each log.
    """
    from bayesduel.cli.console import alone, remark, steps
    from bayesduel.reporting.export import export

    shared.check_not_input(output)
    logs, given = shared.analysing(log, options)
    with steps() as step:
        files = export(alone(logs), output, format=format, raw=raw, **given, step=step)
    remark(f"wrote {len(files)} files to {output}")
