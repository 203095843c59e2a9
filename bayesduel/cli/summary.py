"""``bayesduel read``, ``health``, ``judges``, ``panel``, ``sources``: what a log is, who agrees."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import remark, tell, working
from bayesduel.cli.reading import names_of
from bayesduel.cli.write import check_folder

__all__ = ["health", "judges", "panel", "read", "sources"]


@click.command("read", short_help="Show what LOG is taken for: columns, values, what is left out.")
@shared.log_argument
@shared.json_option
@shared.output_option("CSV file to write the log to, in the package's own columns.")
@shared.reading_options
def read(log: str, as_json: bool, output: Path | None, **options: Any) -> None:
    """Show what LOG is taken for: the role of each column, what each value means, what is left out.

    Nothing is fitted. `health` warns of problems in the duels themselves.
    """
    from bayesduel.data.teams import SEPARATOR
    from bayesduel.system.atomic_write import write_text
    from bayesduel.text import csv_text

    if output is not None:
        if options.get("by"):
            raise click.UsageError("-o and --by should not be given together: -o is one log")
        check_folder(output)
    logs = shared.read_log(log, options)
    found = {label: one.reading for label, one in logs.items()}
    if output is not None:
        frame = logs[None].to_frame()
        again = ""
        if getattr(logs[None], "teams", None) is not None:
            for side in ("left", "right"):
                frame[side] = [SEPARATOR.join(members) for members in frame[side]]
            again = f" (--teams '{SEPARATOR.strip()}' reads it)"
        rows = frame.itertuples(index=False, name=None)
        write_text(output, csv_text(frame.columns, rows, raw=True))
        remark(f"wrote {output}{again}")
    if as_json:
        tell(found, as_json, lambda one: [])
        return
    for label, one in found.items():
        click.echo(str(one if label is None else one.renamed(label)))


@click.command("health", short_help="Summarise LOG and warn of problems in it.")
@shared.log_argument
@shared.json_option
@shared.reading_options
def health(log: str, as_json: bool, **options: Any) -> None:
    """Summarise LOG and warn of problems in it, before any model is fitted."""
    from bayesduel.data.health import health
    from bayesduel.reporting.log import health_section

    found = {label: health(duels) for label, duels in shared.read_log(log, options).items()}
    tell(found, as_json, lambda one: [health_section(one)])


@click.command("judges", short_help="Compare the judges of LOG: agreement and position bias.")
@shared.log_argument
@shared.json_option
@shared.against_option
@shared.reading_options
@shared.fitting_options
def judges(log: str, as_json: bool, against: str | None, **options: Any) -> None:
    """Show which judges of LOG agree least with the others, and the position bias of each.

    With --against, judges are compared in two groups, such as people and a model.
    """
    from bayesduel.posterior.judge_agreement import judge_agreement
    from bayesduel.reporting.judge_agreement import judge_agreement_section

    second = names_of(against)
    found = {}
    for label, duels in shared.read_log(log, options).items():
        judge_agreement(duels, against=second)  # refused before the log is fitted
        fit = shared.fit_log(duels, options, label)
        with working("comparing judges"):
            found[label] = judge_agreement(duels, fit, against=second)
    tell(found, as_json, lambda one: filter(None, [judge_agreement_section(one)]))


@click.command("panel", short_help="Analyse a panel of judges: classical tests, preferences.")
@shared.log_argument
@shared.json_option
@shared.alpha_option
@shared.effect_option
@shared.ci_prob_option
@shared.reading_options
@shared.fitting_options
def panel(
    log: str, as_json: bool, alpha: float, effect: float, ci_prob: float, **options: Any
) -> None:
    """Show what a panel of judges says of few arms, in the words of sensory analysis.

    The exact binomial test of each pair, Durbin's, Friedman's and Kendall's tests, and each
    judge's repeatability, beside the preferences of the fit.
    """
    from bayesduel.posterior.panel import panel
    from bayesduel.reporting.panel import panel_section

    found = {}
    for label, duels in shared.read_log(log, options).items():
        fit = shared.fit_log(duels, options, label)
        with working("testing pairs"):
            found[label] = panel(
                duels, fit, alpha=alpha, effect=effect, ci_prob=ci_prob, seed=options["seed"]
            )
    tell(found, as_json, lambda one: [panel_section(one)])


@click.command("sources", short_help="Compare the sources of LOG: people, a machine, groups.")
@shared.log_argument
@shared.json_option
@shared.reading_options
@shared.fitting_options
def sources(log: str, as_json: bool, **options: Any) -> None:
    """Show what the votes of each source of LOG are worth, how they agree, and their biases.

    A term names the column of the sources, and the source whose scores you want:
    --term sources:source=human. LOG may be a fit.nc of such a model.
    """
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
