"""``bayesduel judges``: agreement of the judges of a log, and the position bias of each."""

from typing import Any

import click

from bayesduel.cli import options as shared

__all__ = ["command"]


@click.command("judges", short_help="Compare the judges of LOG: agreement and position bias.")
@shared.log_argument
@shared.json_option
@shared.against_option
@shared.reading_options
@shared.fitting_options
def command(log: str, as_json: bool, against: str | None, **options: Any) -> None:
    """Show which judges of LOG agree least with the others, and the position bias of each.

    With --against, judges are compared in two groups, such as people and a model.
    """
    from bayesduel.cli.console import tell, working
    from bayesduel.posterior.judge_agreement import judge_agreement
    from bayesduel.reporting.judge_agreement import judge_agreement_section

    second = shared.names_of(against)
    found = {}
    for label, duels in shared.read_log(log, options).items():
        judge_agreement(duels, against=second)  # refused before the log is fitted
        fit = shared.fit_log(duels, options, label)
        with working("comparing judges"):
            found[label] = judge_agreement(duels, fit, against=second)
    tell(found, as_json, lambda one: filter(None, [judge_agreement_section(one)]))
