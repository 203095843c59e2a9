"""``bayesduel fit``: the posterior of a log, in a file."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli.options import (
    check_folder,
    chosen_model,
    fit_log,
    fitting_options,
    log_argument,
    read_log,
    reading_options,
)

__all__ = ["command"]


@click.command("fit", short_help="Fit a model to LOG and save the posterior.")
@log_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File to write, e.g. fit.nc (NetCDF).",
)
@reading_options
@fitting_options
def command(log: str, output: Path, **options: Any) -> None:
    """Fit a model to LOG and save the posterior (a NetCDF file for ArviZ and xarray).

    With --by there is a file for each log, with its label in the name.
    """
    from bayesduel.cli.console import remark
    from bayesduel.system.atomic_write import write_netcdf

    check_folder(output)
    chosen_model(options["model"], options)  # refused before the log is read
    for label, duels in read_log(log, options).items():
        path = output
        if label is not None:
            path = output.with_name(f"{output.stem}-{_safe(label)}{output.suffix}")
        fit = fit_log(duels, options, label)
        write_netcdf(path, fit)
        remark(
            f"{path}: {fit.attrs['model']} by {fit.attrs['method']} ({fit.attrs['method_reason']})"
        )


def _safe(label: str) -> str:
    """Return a label as a part of a file name."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in label)
