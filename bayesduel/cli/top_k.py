"""``bayesduel top-k``: the k best arms of a log, with uncertainty."""

from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import alone, remark, tell, working
from bayesduel.cli.write import check_folder
from bayesduel.system.atomic_write import write_text

if TYPE_CHECKING:
    from bayesduel.posterior.top_k import TopKSets

__all__ = ["command"]


@click.command("top-k", short_help="Show the k best arms of LOG, with uncertainty.")
@shared.log_argument
@click.option("--k", "k", type=click.IntRange(min=1), required=True, help="Number of arms.")
@click.option(
    "--sets", type=click.IntRange(min=1), default=10, help="Number of sets to list, at most."
)
@shared.json_option
@shared.output_option("File for the JSON.")
@shared.reading_options
@shared.fitting_options
@shared.estimand_options
def command(log: str, k: int, sets: int, as_json: bool, **options: Any) -> None:
    """Show the k best arms of LOG (or of a fit.nc that `bayesduel fit` saved).

    Lists the most probable sets of k arms, and the probability of each arm to be among the k
    best: by margins where LOG has them, otherwise by wins.
    """
    from bayesduel.posterior.top_k import check_k, top_k
    from bayesduel.reporting.top_k import top_k_section
    from bayesduel.text import to_json

    output = options.pop("output")
    check_folder(output)
    found: dict[str | None, TopKSets] = {}
    fits = shared.fits_of(log, options, lambda duels: check_k(k, duels.n_arms - 1))
    for label, fit in fits.items():
        with working("counting sets"):
            found[label] = top_k(fit, k, n=sets)
    if output is not None:
        summaries = alone({label: one.summary() for label, one in found.items()})
        write_text(output, to_json(summaries) + "\n")
    tell(found, as_json, lambda one: [top_k_section(one)], lambda one: one.summary())
    if output is not None:
        remark(f"wrote {output}")
