"""Files that a command writes: checked before any work is done."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from bayesduel.cli.console import remark
from bayesduel.system.atomic_write import check_not_read, write_text

__all__ = [
    "READ",
    "check_csv",
    "check_folder",
    "check_netcdf",
    "check_not_input",
    "check_picture",
    "check_table",
    "write_table",
]

# Parameters that name a file or a log to read.
READ = ("log", "items", "predict", "fit", "earlier", "problem", "study", "arms_file", "pairs")

TABLES = (".csv", ".json")  # how files of one table end
# Of these a table of ours has one in its first lines; a log of duels has none.
IN_TABLES = (b"_lower", b'"verdict"', b'"sentence"')


def check_folder[P: Path | None](path: P, option: str = "-o", besides: str = "") -> P:
    """Return a path that can be written, or None, before any work is done; `option` named it.

    Raises ValueError if its folder does not exist, it is a folder itself, it is a file that the
    command reads by a parameter of `READ` (but `besides`), or -o would replace a log by a page or a
    fit.
    """
    if path is None:
        return path
    check_not_input(path, option, besides)
    if option == "-o" and path.is_file():
        from bayesduel.data.read.formats import names_log

        if names_log(str(path)) and not _is_table_of_ours(path):
            raise ValueError(
                f"{option} should not be a log that is there already, got {path}. Delete it, or "
                "give another name"
            )
    if path.is_dir():
        raise ValueError(f"{option} should name a file, got the folder {path}")
    if not path.parent.is_dir():
        raise ValueError(f"{option} should be in a folder that exists, got {path}")
    return path


def check_netcdf(path: Path, besides: str = "") -> Path:
    """Return a path as `check_folder`; raise ValueError if it is not named as a saved fit is."""
    check_folder(path, besides=besides)
    if path.suffix.lower() != ".nc":
        raise ValueError(f"-o should end in .nc (NetCDF), got {path}")
    return path


def check_not_input(path: Path, option: str = "-o", besides: str = "") -> None:
    """Raise ValueError if a path to write is a file that the command reads, as `check_folder`."""
    given = click.get_current_context().params
    if path.exists():
        read = [given[name] for name in READ if given.get(name) and name != besides]
        check_not_read(path, (file for value in read for file in _files(value)), option)


def check_table(path: Path | None) -> Path | None:
    """Return a path as `check_folder`; raise ValueError if it does not end in .csv or .json."""
    if path is not None and path.suffix.lower() not in TABLES:
        raise ValueError(f"-o should end in {' or '.join(TABLES)}, got {path}")
    return check_folder(path)


def check_csv(as_json: bool, as_csv: bool, raw: bool, output: Path | None) -> None:
    """Raise click.UsageError unless the options of what is printed and written go together."""
    writes_csv = output is not None and output.suffix.lower() == ".csv"
    if as_json and as_csv:
        raise click.UsageError("--json and --csv should not be given together")
    if raw and not as_csv and not writes_csv:
        raise click.UsageError("--raw is for CSV: give --csv or -o FILE.csv too")


def write_table(path: Path | None, as_csv: Callable[[], str], as_json: Callable[[], Any]) -> None:
    """Write a table to a file as its name ends, and say so; nothing where no file is asked for."""
    if path is None:
        return
    from bayesduel.text import to_json

    text = as_csv() if path.suffix.lower() == ".csv" else to_json(as_json()) + "\n"
    write_text(path, text)
    remark(f"wrote {path}")


def check_picture(path: Path) -> Path:
    """Return a path that ``--plot`` can draw into, before any work is done.

    Raises ValueError if its folder does not exist, or matplotlib does not draw such files.
    """
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ValueError(f"--plot should end in one of .{', .'.join(sorted(known))}, got {path}")
    return check_folder(path, "--plot")


def _is_table_of_ours(path: Path) -> bool:
    """Return whether a file is what `winners`, `predict` or `top-k` wrote before."""
    with path.open("rb") as stream:
        begin = stream.read(4096)  # the heads of a table, or the first fields of JSON
    return any(word in begin for word in IN_TABLES)


def _files(value: object) -> Iterator[str]:
    """Yield the files and folders that a parameter names, and those that belong to them."""
    from bayesduel.data.read.address import files_of, is_address
    from bayesduel.data.read.formats import expand

    names = value if isinstance(value, list | tuple) else [str(value)]
    for name in (f for n in names for f in (files_of(n) if is_address(n) else [n])):
        yield name
        yield from (f"{name}{suffix}" for suffix in ("-wal", "-shm", "-journal"))  # of a study
        with suppress(OSError, ValueError):  # no files: the command says so, or it is a name
            yield from expand(name)
