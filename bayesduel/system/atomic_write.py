"""Files that are written whole or not at all.

A file is written beside its place, under another name, flushed to the disk and then renamed. If
that fails (a full disk, a quota, a folder that cannot be written, a new folder that is there) there
is one OSError, and a file that was there before is unchanged.
"""

import ctypes
import errno
import io
import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.system.open_datatree import seal_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = [
    "check_not_read",
    "held",
    "new_folder",
    "replace_file",
    "write_figure",
    "write_netcdf",
    "write_text",
    "write_texts",
]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DRAFT = ".bayesduel-draft-"


def check_not_read(path: Any, files: Iterable[str], name: str = "path") -> None:
    """Raise ValueError if a path to write is that of a file or folder that is read.

    Links are followed, and hard links are the same file. Devices are no files.
    """
    if not os.path.isfile(path) and not os.path.isdir(path):
        return
    for file in files:
        if os.path.exists(file) and os.path.samefile(path, file):
            raise ValueError(f"{name} should not be a file that is read, got {path}")


@contextmanager
def replace_file(path: Any) -> Iterator[Path]:
    """Yield the path of a draft, which takes the place of `path` when the block ends.

    The draft is in the same folder and ends as `path` does. If the block raises an error, it is
    removed. A link is followed; what is not a file (a pipe, ``/dev/stdout``) is written to.
    """
    path = Path(path)
    with _draft_of(path) as draft, _explaining(path):
        yield draft.place
        draft.put()


@contextmanager
def new_folder(path: Any) -> Iterator[Path]:
    """Yield a draft of a folder, which is moved to `path` when the block ends.

    If the block raises an error, or there is something at `path` by then, the draft is removed.
    """
    path = Path(path)
    with _draft_of(path, folder=True) as draft, _explaining(path):
        yield draft.place
        draft.put()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a file while it is read and replaced; wait while another process or thread holds it.

    The lock is a file beside it, since readers lock the file itself; one that a killed process left
    is removed as its drafts are. A system without locks holds nothing.
    """
    real = Path(os.path.realpath(path))
    name = sha256(os.fsencode(real.name)).hexdigest()[:16]
    place = real.with_name(f"{DRAFT}{_host()}-{name}.lock")
    while fcntl is not None:
        with _explaining(path):
            handle = os.open(place, os.O_RDWR | os.O_CREAT)
        try:
            _lock(handle, wait=True, without=True)
            if place.exists() and os.path.samestat(os.fstat(handle), place.stat()):
                try:
                    yield
                finally:
                    place.unlink(missing_ok=True)
                return
        finally:
            os.close(handle)  # removed by who held it: the next lock is waited for
    yield


def write_texts(folder: Path, texts: Iterable[tuple[str, str]]) -> list[Path]:
    """Write files in UTF-8 into a folder, by name, all or none; return their paths.

    All are on the disk before the first takes its place. The folder is made if there is none;
    one that is there is exchanged in one step for one with the new files and what else it holds.
    Where that cannot be (the current folder, a mount, other folders or links in it, a system that
    cannot exchange), the files take their places one by one, at once.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    top = missing[-1] if missing else Path(os.path.realpath(folder))
    names = []
    inside = not missing and (os.path.ismount(top) or not os.access(top.parent, os.W_OK))
    with _draft_of(top, folder=True, inside=inside) as draft:
        written = draft.place / folder.relative_to(top) if missing else draft.place
        for name, text in texts:
            with _explaining(folder / name):
                (written / name).parent.mkdir(parents=True, exist_ok=True)
                (written / name).write_text(text, encoding="utf-8", newline="")
                _flush(written / name)
                if (folder / name).is_dir():
                    raise IsADirectoryError(errno.EISDIR, "it is a folder")
            names.append(name)
        if missing:
            with _explaining(top):
                draft.put()
        elif inside or not _exchange(written, top):
            for done, name in enumerate(names):
                path = folder / name
                with _explaining(path, f"{done} of {len(names)} files were written" * (done > 0)):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    _Draft(path, written / name, False).put()
    return [folder / name for name in names]


def _exchange(draft: Path, folder: Path) -> bool:
    """Exchange a folder for a draft of it, with what else the folder holds; return whether."""
    call = _exchange_call()
    if call is None or folder == Path(os.path.realpath(os.curdir)):
        return False
    try:
        for old in folder.rglob("*"):
            new = draft / old.relative_to(folder)
            if old.is_symlink() or old.is_dir() != new.is_dir():
                return False
            if old.is_dir() or new.exists():
                new.chmod(stat.S_IMODE(old.stat().st_mode))
            else:
                os.link(old, new)
        for new in draft.rglob("*"):
            if not (folder / new.relative_to(draft)).exists():
                new.chmod(_new_mode(0o777 if new.is_dir() else 0o666))
        shutil.copystat(folder, draft)
        _flush(draft)
    except OSError:  # no links or rights here; nothing was changed
        return False
    done = call(os.fsencode(draft), os.fsencode(folder)) == 0
    _flush(folder.parent)
    return done


@cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """Return the system's call that exchanges two paths in one step, if it has one."""
    here = -100  # AT_FDCWD
    swap = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
    system: Any = ctypes.CDLL(None) if os.name == "posix" else None
    if hasattr(system, "renameat2"):
        return lambda a, b: int(system.renameat2(here, a, here, b, swap))
    if hasattr(system, "renamex_np"):
        return lambda a, b: int(system.renamex_np(a, b, swap))
    return None


def write_text(path: Any, text: str) -> None:
    """Write a text in UTF-8."""
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def write_figure(path: Any, figure: "Figure", **options: Any) -> None:
    """Write a figure in the format that the path ends in; `options` are those of ``savefig``."""
    with replace_file(path) as draft:
        figure.savefig(draft, **options)


def write_netcdf(path: Any, tree: "xr.DataTree") -> None:
    """Write a tree as NetCDF.

    HDF5 ends the process where a write fails, so that it writes through a Python file here. The
    file ends in its checksum, which readers of NetCDF leave alone.
    """
    with replace_file(path) as draft:
        with _Recorder(draft) as file:
            try:
                tree.to_netcdf(file, engine="h5netcdf")
            except Exception:
                file.check()  # why HDF5 failed, if it was the disk
                raise
            file.check()
        with open(draft, "rb+") as whole:
            whole.write(seal_of(whole, draft.stat().st_size))


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


@dataclass(frozen=True)
class _Draft:
    """A file or a folder that is written at `place`, and then takes the place of `path`."""

    path: Path
    place: Path
    folder: bool

    def put(self) -> None:
        """Let the draft take its place."""
        if self.folder:
            self.place.chmod(_new_mode(0o777))
            _rename_new(self.place, self.path)
            return
        _flush(self.place)
        if _is_device(self.path):
            with open(self.place, "rb") as source, open(self.path, "wb") as device:
                shutil.copyfileobj(source, device)
            return
        real = Path(os.path.realpath(self.path))
        self.place.chmod(_mode_of(real))
        self.place.replace(real)
        _flush(real.parent)


@contextmanager
def _draft_of(path: Path, *, folder: bool = False, inside: bool = False) -> Iterator[_Draft]:
    """Yield a new draft, which is removed when the block ends unless it has taken its place.

    It is beside `path`, or `inside` it. It is locked until then: a draft that nobody locks is of a
    process that was killed.
    """
    _check_place(path, folder)
    beside = Path(os.path.realpath(path)) if inside else Path(os.path.realpath(path)).parent
    if _is_device(path):
        beside = Path(tempfile.gettempdir())
    with _explaining(path):
        _remove_stale(beside)
        place, lock = _new_draft(beside, None if folder else path.suffix[:20])
    try:
        yield _Draft(path, place, folder)
    finally:
        if folder:
            shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            place.unlink()
        if lock is not None:
            os.close(lock)


def _new_draft(folder: Path, suffix: str | None) -> tuple[Path, int | None]:
    """Return a new file, or a new folder where `suffix` is None, and the handle that locks it."""
    prefix = f"{DRAFT}{_host()}-"
    while True:
        if suffix is None:
            name = tempfile.mkdtemp(prefix=prefix, dir=folder)
            handle = None if fcntl is None else os.open(name, os.O_RDONLY)
        else:
            handle, name = tempfile.mkstemp(suffix=suffix, prefix=prefix, dir=folder)
        if fcntl is None and handle is not None:
            os.close(handle)  # an open file cannot be renamed there
            handle = None
        if handle is None or (_lock(handle, wait=True, without=True) and os.path.exists(name)):
            return Path(name), handle
        os.close(handle)  # removed by another process before it was locked


def _lock(handle: int, *, wait: bool, without: bool) -> bool:
    """Lock an open file or folder and return whether it is ours; `without` locks, what is given."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return without
    return True


@cache
def _host() -> str:
    """Return a word for the running system: within it, locks are seen by all processes."""
    try:
        running = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        running = platform.node()
    return sha256(running.encode()).hexdigest()[:8]


def _check_place(path: Path, folder: bool) -> None:
    """Raise unless `path` can name a file, or a folder."""
    if path.is_dir() and not folder:
        raise IsADirectoryError(f"path should be a file, got the folder {path}")
    if not path.parent.is_dir():
        what = "folder" if folder else "file"
        raise FileNotFoundError(f"path should be a {what} in a folder that exists, got {path}")


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _remove_stale(folder: Path) -> None:
    """Remove drafts that killed processes have left.

    On this system a lock says whether the process lives. On others that share the folder, and
    where there are no locks, a draft is left for an hour.
    """
    for draft in folder.glob(f"{DRAFT}*"):
        with suppress(OSError), ExitStack() as held:
            # 3,600 seconds after which a draft of another system was left by a killed process
            stale = time.time() - draft.stat().st_mtime > 3_600.0
            if fcntl is not None and draft.name.startswith(f"{DRAFT}{_host()}-"):
                handle = os.open(draft, os.O_RDONLY)
                held.callback(os.close, handle)
                stale = _lock(handle, wait=False, without=stale)
            if stale:  # and locked, so that its writer, if it only begins, makes another
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
        if not path.exists():
            draft.rename(path)
            return
    except OSError:
        if not path.exists():
            raise
    raise FileExistsError(errno.EEXIST, "there is something of this name")


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


@contextmanager
def _explaining(path: Path, left: str = "") -> Iterator[None]:
    """Say in an error what could not be written, and what is `left`."""
    try:
        yield
    except OSError as error:
        reason = "no room is left" if error.errno in NO_ROOM else error.strerror or str(error)
        unchanged = "the file that was there is unchanged"
        left = left or (unchanged if path.is_file() else "nothing was written")
        explained = type(error)(f"{path} cannot be written: {reason}; {left}")
        explained.errno = error.errno
        raise explained from None
