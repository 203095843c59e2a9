"""``bayesduel report``, ``site`` and ``export``: a report on a log, as a page, pages or tables."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import alone, remark, steps
from bayesduel.cli.write import check_folder, check_not_input

__all__ = ["command", "export", "shown_command", "site"]


@click.command("report", short_help="Write a report on LOG, as one HTML file.")
@shared.log_argument
@shared.report_option
@shared.noun_option
@click.option("--title", help="Heading.  [default: the log's name]")
@click.option(
    "--separate",
    is_flag=True,
    help="With --by: write a full report on each log instead of one model with category effects.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Also compare models by cross-validation, which can take minutes. If no ranking holds, "
    "the winners are those of the best model without a ranking.",
)
@click.option(
    "--audit",
    is_flag=True,
    help="Also show how few votes or judges decide who leads. This fits the model about forty "
    "times.",
)
@shared.analysis_options
@click.pass_obj
def command(
    argv: list[str], /, log: str, output: Path, title: str | None, separate: bool, **options: Any
) -> None:
    """Write a report on LOG: verdict, ranking, checks, model and diagnostics.

    LOG may be a fit.nc that `bayesduel fit` saved. Its page has no section on judges, groups and
    times: a fit does not keep them. The file needs no network. With --by, categories that share
    arms are on one page: scores and ranks by category, and where the ranking changes. Where they do
    not share them, or with --separate, each has a part of its own.
    """
    import matplotlib.figure  # noqa: F401  (before a log is read: garbage is looked for from then)

    from bayesduel.data.categories import POOLED, arm_coverage
    from bayesduel.reporting.report import report

    check_folder(output)
    logs, given = shared.analysing(log, options)
    pooled = len(logs) > 1 and not separate
    if pooled:
        coverage = arm_coverage(logs)  # type: ignore[arg-type]
        pooled = coverage >= POOLED
        if not pooled:
            remark(
                f"each value of {options['by']} is a separate log: one value has on average "
                f"{100 * coverage:.2g} % of all arms, and one model of all values needs at least "
                f"{100 * POOLED:g} %"
            )
    if pooled and {"at", "weights"} & set(given):
        raise click.UsageError(
            "--at and --weights are for one log: with --by, each category has scores of its own"
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


@click.command("site", short_help="Write the site of LOG: a leaderboard, and a page per arm.")
@shared.log_argument
@shared.folder_option
@shared.noun_option
@click.option("--title", help="Heading.  [default: the one given before, or the log's name]")
@click.option("--date", help="Date of the edition, such as 2026-11-25.  [default: today]")
@shared.analysis_options
@click.pass_obj
def site(
    argv: list[str], /, log: str, output: Path, title: str | None, date: str | None, **options: Any
) -> None:
    """Write the site of LOG: a folder of pages that any server of files can publish.

    LOG may be a fit.nc that `bayesduel fit` saved. index.html is the report with a leaderboard;
    each arm has a page and JSON in arms/. Written into the same folder again, links stay and the
    edition before is compared.
    """
    from bayesduel.reporting.site import site

    check_not_input(output)
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


@click.command("export", short_help="Write every table of the report on LOG as a file.")
@shared.log_argument
@shared.folder_option
@click.option(
    "--format", type=shared.OneOf(["csv", "json"]), default="csv", help="Format of the files."
)
@shared.raw_option
@shared.analysis_options
def export(log: str, output: Path, format: Any, raw: bool, **options: Any) -> None:
    """Write every table of the report on LOG as a file, numbers not rounded.

    LOG may be a fit.nc that `bayesduel fit` saved. The files are named after the section and the
    table: ranking.csv, scores.csv, ... With --by there is a folder for each log.
    """
    from bayesduel.reporting.export import export

    check_not_input(output)
    logs, given = shared.analysing(log, options)
    with steps() as step:
        files = export(alone(logs), output, format=format, raw=raw, **given, step=step)
    remark(f"wrote {len(files)} files to {output}")


def shown_command(argv: list[str]) -> str:
    """Return a command for a page: of an absolute path its name, of an address no secret."""
    from bayesduel.data.read.address import shown_address

    words = ["bayesduel"]
    for word in argv:
        option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
        named = os.path.basename(value) if os.path.isabs(value) else shown_address(value)
        words.append(f"{option}{equals}{named}")
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Return a word as a shell takes it, in double quotes where it has single ones."""
    if "'" in word and not set(word) & set('"$`!\\'):
        return f'"{word}"'
    return shlex.quote(word)
