"""Export of every table of a report as files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from bayesduel.reporting.report import analysed, sections
from bayesduel.reporting.section import Table
from bayesduel.system.arguments import check_call, check_one_of, path_of
from bayesduel.system.atomic_write import write_text

__all__ = ["export"]

Format = Literal["csv", "json"]


def export(
    log: Any,
    folder: str | Path,
    *,
    format: Format = "csv",
    step: Callable[[str], None] = lambda name: None,
    **options: Any,
) -> list[Path]:
    """Write every table of the report on a log, a fit or a check as a file, numbers not rounded.

    The files are those of the links below the tables of the report.

    Parameters
    ----------
    log
        As in :func:`bayesduel.report`; several logs get a folder each.
    folder
        The folder to write to; made if it does not exist.
    format
        "csv" (a line of heads; missing values are empty) or "json" (a list of rows).
    step
        Called with the name of each step before it begins.
    options
        ``duels``, ``model``, ``method``, ``draws``, ``seed``, ``rope``, ``confidence``,
        ``anchor``, ``points`` and ``against``, as in :func:`bayesduel.report`.

    Returns
    -------
    The paths of the files, named after the section and the table.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    OSError
        If a file cannot be written.
    """
    check_one_of(format, "format", get_args(Format))
    check_call(step, "step")
    folder = path_of(folder, "folder")
    duels = options.pop("duels", None)
    several: dict[Any, Any] = log if isinstance(log, dict) and log else {None: log}
    written = []
    for label, one in several.items():

        def named(name: str, label: Any = label) -> None:
            step(name if label is None else f"{label}: {name}")

        found = sections(analysed(one, duels, options, named))
        own = folder if label is None else folder / _safe(str(label))
        own.mkdir(parents=True, exist_ok=True)
        for section in found:
            for name, table in section.tables.items():
                path = own / f"{name}.{format}"
                write_text(path, _text(table, format))
                written.append(path)
    return written


def _text(table: Table, format: Format) -> str:
    return table.to_csv() if format == "csv" else f"{table.to_json()}\n"


def _safe(label: str) -> str:
    """Return a label as the name of a folder."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in label)
    return safe if safe.strip(".") else f"_{safe}"
