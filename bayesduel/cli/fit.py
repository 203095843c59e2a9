"""``bayesduel fit``: the posterior of a log, in a file."""

from pathlib import Path
from typing import Any

import click

from bayesduel.cli import options as shared

__all__ = ["command"]


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
    from bayesduel.cli.console import remark
    from bayesduel.system.atomic_write import write_netcdf, write_text
    from bayesduel.text import file_names, to_json

    shared.check_folder(output)
    shared.chosen_model(options["model"], options)  # refused before the log is read
    logs = shared.read_log(log, options)
    names = file_names(label for label in logs if label is not None)
    paths = {
        label: shared.check_folder(output.with_name(f"{output.stem}-{name}{output.suffix}"))
        for label, name in names.items()
    }
    if paths:
        manifest = shared.check_folder(output.with_name(f"{output.name}.labels.json"))
        write_text(manifest, to_json({label: path.name for label, path in paths.items()}) + "\n")
    for label, duels in logs.items():
        path = output if label is None else paths[label]
        fit = shared.fit_log(duels, options, label)
        write_netcdf(path, fit)
        remark(
            f"{path}: {fit.attrs['model']} by {fit.attrs['method']} ({fit.attrs['method_reason']})"
        )
