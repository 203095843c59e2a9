"""Files that a command writes: checked before any work is done."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from bayesduel.system.atomic_write import check_not_read

__all__ = ["READ", "check_csv", "check_folder", "check_netcdf", "check_not_input", "check_picture"]

# Parameters that name a file or a log to read.
READ = ("log", "items", "predict", "fit", "earlier", "problem", "study", "arms_file", "pairs")


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

        if names_log(str(path)):
            raise ValueError(f"{option} should not be a log that is there already, got {path}")
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


def check_csv(as_json: bool, as_csv: bool, raw: bool) -> None:
    """Raise click.UsageError unless the options of what is printed go together."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv should not be given together")
    if raw and not as_csv:
        raise click.UsageError("--raw is for --csv, got it without")


def check_picture(path: Path) -> Path:
    """Return a path that ``--plot`` can draw into, before any work is done.

    Raises ValueError if its folder does not exist, or matplotlib does not draw such files.
    """
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ValueError(f"--plot should end in one of .{', .'.join(sorted(known))}, got {path}")
    return check_folder(path, "--plot")


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
