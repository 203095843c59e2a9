"""``bayesduel top-k``: the k best arms of a log, with uncertainty."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import alone, remark, tell, working
from bayesduel.system.atomic_write import write_text

if TYPE_CHECKING:
    from bayesduel.posterior.top_k import TopKSets
    from bayesduel.reporting.section import Block

__all__ = ["command"]

ROWS = 30  # arms listed in the terminal; --json has all


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
    from bayesduel.text import to_json

    output = options.pop("output")
    shared.check_folder(output)
    found: dict[str | None, TopKSets] = {}
    fits = shared.fits_of(log, options, lambda duels: check_k(k, duels.n_arms - 1))
    for label, fit in fits.items():
        with working("counting sets"):
            found[label] = top_k(fit, k, n=sets)
    if output is not None:
        summaries = alone({label: one.summary() for label, one in found.items()})
        write_text(output, to_json(summaries) + "\n")
    tell(found, as_json, _blocks, lambda one: one.summary())
    if output is not None:
        remark(f"wrote {output}")


def _blocks(found: "TopKSets") -> "Iterator[Block]":
    """Yield the sets and the arms, as they are printed."""
    from bayesduel.reporting.section import Table, Text
    from bayesduel.text import CELL, percent, shorten

    yield Text(found.sentence, "strong")
    yield Text(
        f"By {found.ranked_by} of the model {found.model}; {found.n_sets:,} different sets in "
        f"{found.n_draws:,} draws.\n",
        "small",
    )
    probable = "n", "probability", lambda r: f"{percent(r['probability'])} %"
    together = "t", f"top {found.k}", lambda r: ", ".join(shorten(a, CELL) for a in r["arms"])
    yield Table.of((together, probable), found.sets.to_dict("records"))
    yield Text("")
    columns = (
        ("l", "arm", "{arm}"),
        ("n", f"in the top {found.k}", probable[2]),
        ("n", "mean rank", "{rank_mean:.1f}"),
    )
    first = found.members.head(ROWS).reset_index(names="arm")
    yield Table.of(columns, first.to_dict("records"))
    if len(found.members) > ROWS:
        yield Text(f"... and {len(found.members) - ROWS} more: --json has all")
