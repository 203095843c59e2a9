"""``bayesduel site``: the site of a log, edition by edition."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.report import shown_command

__all__ = ["command"]


@click.command("site", short_help="Write the site of LOG: a leaderboard, and a page an arm.")
@shared.log_argument
@shared.folder_option
@shared.noun_option
@click.option("--title", help="Heading.  [default: that of the edition before, or the source]")
@click.option("--date", help="Date of the edition, such as 2026-11-25.  [default: today]")
@shared.analysis_options
@click.pass_obj
def command(
    argv: list[str], /, log: str, output: Path, title: str | None, date: str | None, **options: Any
) -> None:
    """Write the site of LOG: a folder of pages that any server of files can publish.

    index.html is the report with a leaderboard; each arm has a page and JSON in arms/. Written
    into the same folder again, links stay and the edition before is compared.
    """
    from bayesduel.cli.console import remark, steps
    from bayesduel.reporting.site import site

    shared.check_not_input(output)
    logs, given = shared.analysing(log, options)
    if None not in logs:
        raise click.UsageError("--by makes several logs, and a site is of one: make one each")
    with steps() as step:
        place = site(
            logs[None],
            output,
            **given,
            title=title,
            date=date,
            command=shown_command(argv),
            step=step,
        )
    remark(f"wrote {place}")
