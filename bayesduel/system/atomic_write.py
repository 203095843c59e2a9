"""Files that are written whole or not at all.

A file is written beside its place, under another name, flushed to the disk and then renamed. If
that fails (a full disk, a quota, a folder that cannot be written) there is one error, and a file
that was there before is unchanged.
"""

import errno
import io
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["new_folder", "replace_file", "write_figure", "write_netcdf", "write_text"]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DRAFT = ".bayesduel-draft-"
STALE = 3_600.0  # seconds after which a draft was left by a process that was killed


@contextmanager
def replace_file(path: Any) -> Iterator[Path]:
    """Yield the path of a draft, which takes the place of `path` when the block ends.

    The draft is in the same folder and ends as `path` does. If the block raises an error, it is
    removed.

    Parameters
    ----------
    path
        The file to write. A link is followed; what is not a file (a pipe, ``/dev/stdout``) is
        written to.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    _check_place(path)
    real = Path(os.path.realpath(path))
    device = real.exists() and not real.is_file()
    folder = Path(tempfile.gettempdir()) if device else real.parent
    try:
        _remove_stale(folder)
        handle, name = tempfile.mkstemp(suffix=path.suffix[:20], prefix=DRAFT, dir=folder)
        os.close(handle)
    except OSError as error:
        raise _explained(path, error) from None
    draft = Path(name)
    try:
        yield draft
        if device:
            with open(draft, "rb") as source, open(path, "wb") as place:
                shutil.copyfileobj(source, place)
        else:
            draft.chmod(_mode_of(real))
            _flush(draft)
            draft.replace(real)
            _flush(folder)
    except OSError as error:
        raise _explained(path, error) from None
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def new_folder(path: Any) -> Iterator[Path]:
    """Yield a draft of a folder, which is moved to `path` when the block ends.

    If there is something at `path` by then, the draft is removed and `path` is left as it is. If
    the block raises an error, the draft is removed.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path should be in a folder that exists, got {path}")
    try:
        _remove_stale(path.parent)
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=path.parent))
    except OSError as error:
        raise _explained(path, error) from None
    try:
        yield draft
        draft.chmod(_new_mode(0o777))
        with suppress(FileExistsError):
            _rename_new(draft, path)
    except OSError as error:
        raise _explained(path, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_text(path: Any, text: str) -> None:
    """Write a text in UTF-8.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def write_figure(path: Any, figure: "Figure", **options: Any) -> None:
    """Write a figure in the format that the path ends in; `options` are those of ``savefig``.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with replace_file(path) as draft:
        figure.savefig(draft, **options)


def write_netcdf(path: Any, tree: "xr.DataTree") -> None:
    """Write a tree as NetCDF.

    HDF5 ends the process where a write fails, so that it writes through a Python file here.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with replace_file(path) as draft, _Recorder(draft) as file:
        try:
            tree.to_netcdf(file, engine="h5netcdf")
        except Exception:
            file.check()  # why HDF5 failed, if it was the disk
            raise
        file.check()


class _Recorder(io.FileIO):
    """A file that keeps its first error, and that seems to take what it cannot write."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self.error: OSError | None = None

    def check(self) -> None:
        """Raise the first error there was."""
        if self.error is not None:
            raise self.error

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view) and self.error is None:
            try:
                done += super().write(view[done:]) or 0
            except OSError as error:
                self.error = error
        if done < len(view):
            self.seek(len(view) - done, os.SEEK_CUR)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return self.tell() if size is None else size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        n = super().readinto(view) or 0
        if n < len(view) and self.error is not None:
            view[n:] = bytes(len(view) - n)
            return len(view)
        return n


def _check_place(path: Path) -> None:
    """Raise unless `path` can name a file."""
    if path.is_dir():
        raise IsADirectoryError(f"path should be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path should be a file in a folder that exists, got {path}")


def _remove_stale(folder: Path) -> None:
    """Remove drafts that killed processes have left."""
    for draft in folder.glob(f"{DRAFT}*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > STALE:
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()


def _mode_of(path: Path) -> int:
    """Return the permissions of a file, of a new one if there is none."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    return _new_mode(0o666)


def _new_mode(mode: int) -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mode & ~mask


def _rename_new(draft: Path, path: Path) -> None:
    """Rename a folder; raise FileExistsError if there is something at `path`."""
    try:
        draft.rename(path)
    except OSError as error:
        if path.exists():
            raise FileExistsError(f"{path} exists") from error
        raise


def _flush(path: Path) -> None:
    """Wait until a file or the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have no fsync
            raise
    finally:
        os.close(handle)


def _explained(path: Path, error: OSError) -> OSError:
    """Return an error that says what could not be written, and what is left."""
    reason = "no room is left" if error.errno in NO_ROOM else error.strerror or str(error)
    left = "the file that was there is unchanged" if path.is_file() else "nothing was written"
    explained = type(error)(f"{path} cannot be written: {reason}; {left}")
    explained.errno = error.errno
    return explained
