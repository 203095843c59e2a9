"""``bayesduel sources``: how the sources of votes agree with a target, and what they are worth."""

from typing import Any

import click

from bayesduel.cli import options as shared

__all__ = ["command"]


@click.command("sources", short_help="Compare the sources of LOG: people, a machine, groups.")
@shared.log_argument
@shared.json_option
@shared.reading_options
@shared.fitting_options
def command(log: str, as_json: bool, **options: Any) -> None:
    """Show what the votes of each source of LOG are worth, how they agree, and their biases.

    The column that names the sources, and whose scores are wanted, are said by a term:
    --term sources:source=human. LOG may be a fit.nc of such a model.
    """
    from bayesduel.cli.console import tell, working
    from bayesduel.posterior.sources import sources
    from bayesduel.reporting.sources import sources_section

    if not shared.is_saved(log) and not any(
        word.startswith("sources:") for word in options["term"]
    ):
        raise click.UsageError(
            "sources needs --term sources:COLUMN=TARGET, such as --term sources:source=human"
        )
    found = {}
    for label, fit in shared.fits_of(log, options).items():
        with working("comparing sources"):
            found[label] = sources(fit)
    tell(found, as_json, lambda one: [sources_section(one)])
