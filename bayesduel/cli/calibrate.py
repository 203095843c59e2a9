"""``bayesduel calibrate``: whether fits of a model to logs like this one are its posterior."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import print_json, remark, share, show
from bayesduel.cli.write import check_netcdf
from bayesduel.system.atomic_write import write_netcdf

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["command"]


@click.command("calibrate", short_help="Check a model by simulated logs on the design of LOG.")
@shared.log_argument
@click.option(
    "-n",
    "n_truths",
    type=click.IntRange(min=20),
    default=100,
    help="Number of simulated logs. Each is fitted.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, help="Processes.")
@click.option(
    "--keep-in",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of JSON lines. A run that was stopped continues from it.",
)
@shared.output_option("File to write the ranks to, e.g. ranks.nc (NetCDF).")
@shared.json_option
@shared.reading_options
@shared.fitting_options
def command(
    log: str,
    n_truths: int,
    workers: int,
    keep_in: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check a model on the design of LOG by simulation-based calibration.

    Truths are drawn from the prior, outcomes of the duels of LOG from the truths, and fitted. The
    outcomes of LOG itself do not matter.
    """
    from bayesduel.criticism.calibrate import calibrate

    if options.get("by"):
        raise click.UsageError("--by is for commands of many logs, got it for a calibration of one")
    if output is not None:
        check_netcdf(output)
    model = shared.chosen_model(options["model"], options)
    (duels,) = shared.read_log(log, options).values()
    with share("calibrating") as progress:
        tree = calibrate(
            model,
            duels,
            n_truths,
            method=options["method"],
            draws=options["draws"] or 1000,
            seed=options["seed"],
            workers=workers,
            path=keep_in,
            progress=progress,
        )
    if output is not None:
        write_netcdf(output, tree)
        remark(f"wrote {output}")
    if as_json:
        rows = tree["summary"].to_dataset().to_dataframe().reset_index().to_dict("records")
        print_json({**tree.attrs, "n_truths": n_truths, "parameters": rows})
    else:
        show(_blocks(tree))


def _blocks(tree: "xr.DataTree") -> Any:
    """Yield the summary, as it is printed."""
    from bayesduel.reporting.section import Table, Text

    summary = tree["summary"].to_dataset().to_dataframe()
    columns = (
        ("l", "parameter", "{parameter}"),
        ("n", "entries", "{entries:,.0f}"),
        ("n", "p-value", "{p_value:.2g}"),
        ("n", "50 % intervals", lambda r: f"{100 * r['coverage_50']:.0f} %"),
        ("n", "90 % intervals", lambda r: f"{100 * r['coverage_90']:.0f} %"),
    )
    yield Table.of(columns, summary.reset_index(names="parameter").to_dict("records"))
    n = tree["prior_sbc"].sizes["draw"]
    refused = int(tree.attrs["n_refused"])
    left_out = f" ({refused} logs that the model refuses are left out)" if refused else ""
    yield Text(
        f"{tree.attrs['model']}, {n:,} truths from its prior{left_out}: smallest p-value of "
        f"uniform ranks, corrected for all entries: {tree.attrs['p_value']:.2g}. Intervals: how "
        "often they contain the truth.",
        "small",
    )
