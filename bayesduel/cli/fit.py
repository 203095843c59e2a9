"""``bayesduel fit`` and ``update``: the posterior of a log, in a file; and of further duels."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import remark, share
from bayesduel.cli.write import check_folder, check_netcdf
from bayesduel.system.atomic_write import held, write_netcdf, write_text
from bayesduel.system.options import Fitting

__all__ = ["command", "update"]


@click.command("fit", short_help="Fit a model to LOG and save the posterior.")
@shared.log_argument
@shared.output_option("File to write, e.g. fit.nc (NetCDF).", required=True)
@shared.reading_options
@shared.fitting_options
def command(log: str, output: Path, **options: Any) -> None:
    """Fit a model to LOG and save the posterior (a NetCDF file for ArviZ and xarray).

    With --by there is a file for each log, with its label in the name, and a list of them: the
    label of each file, in fit.nc.labels.json for fit.nc.
    """
    from bayesduel.text import file_names, to_json

    check_netcdf(output)
    shared.chosen_model(options["model"], options)  # refused before the log is read
    logs = shared.read_log(log, options)
    names = file_names(label for label in logs if label is not None)
    paths = {
        label: check_folder(output.with_name(f"{output.stem}-{name}{output.suffix}"))
        for label, name in names.items()
    }
    if paths:
        manifest = check_folder(output.with_name(f"{output.name}.labels.json"))
        write_text(manifest, to_json({label: path.name for label, path in paths.items()}) + "\n")
    for label, duels in logs.items():
        path = output if label is None else paths[label]
        fit = shared.fit_log(duels, options, label)
        write_netcdf(path, fit)
        remark(
            f"{path}: {fit.attrs['model']} by {fit.attrs['method']} ({fit.attrs['method_reason']})"
        )


@click.command("update", short_help="Add the duels of LOG to a saved fit.")
@click.argument("fit", type=click.Path(path_type=Path))
@shared.log_argument
@shared.output_option("File to write.  [default: FIT itself]")
@click.option(
    "--earlier",
    metavar="LOG",
    multiple=True,
    help="Log that FIT was made of; needed where counts by pair do not suffice. Give the option "
    "once per file, those of earlier updates too.",
)
@shared.own_term_option
@shared.option_of(Fitting, "draws")
@shared.reading_options
def update(
    fit: Path,
    log: str,
    output: Path | None,
    earlier: tuple[str, ...],
    draws: int | None,
    **options: Any,
) -> None:
    """Add the duels of LOG to a fit that `bayesduel fit` saved: the fit of all duels.

    Duels of LOG should not be among those of the fit. Its columns and the coding of its outcomes
    are those of the fit's log where no option says otherwise. If another command is updating FIT
    itself, the update waits for it, and adds its duels to the new FIT.
    """
    from bayesduel.posterior.load import load
    from bayesduel.posterior.update import update

    if output is None:
        path = check_folder(fit, "FIT", "fit")
    else:
        path = check_netcdf(output, "fit")
    if options["by"] is not None:
        raise click.UsageError("--by should not be given: a saved fit is of one log")
    if not shared.is_saved(fit):
        raise click.UsageError(f"FIT should be a file that `bayesduel fit` saved, got {fit}")
    given: dict[str, Any] = {} if draws is None else {"draws": draws}
    replaced = fit.is_file() and path.exists() and path.samefile(fit)
    with held(fit) if replaced else nullcontext():
        saved = load(fit)
        whole = shared.read_log(list(earlier), options, saved)[None] if earlier else None
        new = shared.read_log(log, options, saved)[None]
        with share("updating") as progress:
            updated = update(saved, new, duels=whole, progress=progress, **given)
        write_netcdf(path, updated)
    what = updated.duel.model.log_type
    n = updated.attrs[f"n_{what}"]
    remark(f"{path}: {n:,} {what} ({updated.attrs['method_reason']})")
