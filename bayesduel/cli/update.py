"""``bayesduel update``: a saved fit brought up to date with new duels."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared

__all__ = ["command"]


@click.command("update", short_help="Add the duels of LOG to a saved fit.")
@click.argument("fit", type=click.Path(path_type=Path))
@shared.log_argument
@shared.output_option("File to write.  [default: FIT itself]")
@click.option(
    "--earlier",
    metavar="LOG",
    help="Log that FIT was made of; needed where counts by pair do not suffice.",
)
@click.option("--draws", type=click.IntRange(min=100), help="Posterior draws.")
@shared.reading_options
def command(
    fit: Path, log: str, output: Path | None, earlier: str | None, draws: int | None, **options: Any
) -> None:
    """Add the duels of LOG to a fit that `bayesduel fit` saved: the fit of all duels.

    Duels of LOG should not be among those of the fit. Its columns and the coding of its outcomes
    are those of the fit's log where no option says otherwise. An update of FIT itself waits for
    another one that is on its way, and is of its result.
    """
    from bayesduel.cli.console import remark, share
    from bayesduel.posterior.load import load
    from bayesduel.posterior.update import update
    from bayesduel.system.atomic_write import held, write_netcdf

    path = shared.check_folder(
        fit if output is None else output, "FIT" if output is None else "-o", "fit"
    )
    if options["by"] is not None:
        raise click.UsageError("--by should not be given: a saved fit is of one log")
    if not shared.is_saved(fit):
        raise click.UsageError(f"FIT should be a file that `bayesduel fit` saved, got {fit}")
    given: dict[str, Any] = {} if draws is None else {"draws": draws}
    replaced = fit.is_file() and path.exists() and path.samefile(fit)
    with held(fit) if replaced else nullcontext():
        saved = load(fit)
        whole = None if earlier is None else shared.read_log(earlier, options, saved)[None]
        new = shared.read_log(log, options, saved)[None]
        with share("updating") as progress:
            updated = update(saved, new, duels=whole, progress=progress, **given)
        write_netcdf(path, updated)
    remark(f"{path}: {updated.attrs['n_duels']:,} duels ({updated.attrs['method_reason']})")
