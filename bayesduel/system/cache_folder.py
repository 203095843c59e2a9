"""A folder for the caches of Numba, PyTensor and Matplotlib where the home folder is no use.

They keep compiled code and lists of fonts in the home folder. Where it does not exist or cannot be
written (containers, services, clusters), they fail or compile anew in every process.
"""

import os
import stat
import tempfile
import warnings
from pathlib import Path

__all__ = ["keep_generated_source", "provide_cache_folder"]


def provide_cache_folder() -> None:
    """Let caches be in a temporary folder if the home folder cannot be written.

    Variables that the user has set are kept. Processes that are started inherit the choice.

    Warns UserWarning if a temporary folder is used.
    """
    home = os.path.expanduser("~")
    if os.path.isdir(home) and os.access(home, os.W_OK | os.X_OK):
        return
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    wanted = [name for name in ("NUMBA_CACHE_DIR", "MPLCONFIGDIR") if name not in os.environ]
    pytensor = "compiledir" not in flags
    if not wanted and not pytensor:
        return
    folder = _own_folder()
    for name in wanted:
        os.environ[name] = str(folder / name.split("_")[0].removesuffix("CONFIGDIR").lower())
    if pytensor:
        place = f"base_compiledir={folder / 'pytensor'}"
        os.environ["PYTENSOR_FLAGS"] = f"{flags},{place}".lstrip(",")
    warnings.warn_explicit(  # in one line, without that of the source
        f"the home folder {home} cannot be written, so that caches are in {folder} "
        f"(set HOME, or NUMBA_CACHE_DIR, MPLCONFIGDIR and PYTENSOR_FLAGS)",
        UserWarning,
        "bayesduel",
        1,
    )


def keep_generated_source() -> None:
    """Let PyTensor keep the source that it generates beside the code compiled from it.

    Otherwise each compiled function leaves files in the temporary folder that nobody removes, some
    25 for a fit by NUTS. A folder that the user has set (``generated_src_dir``) is kept.
    """
    from pytensor import config

    if not config.generated_src_dir:
        config.generated_src_dir = str(Path(config.base_compiledir) / "generated")


def _own_folder() -> Path:
    """Return a temporary folder that only this user can write, the same one in each process."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"bayesduel-cache-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="bayesduel-cache-"))
    own = found.st_uid == user and not stat.S_IMODE(found.st_mode) & 0o077
    if own and stat.S_ISDIR(found.st_mode):
        return folder
    return Path(tempfile.mkdtemp(prefix="bayesduel-cache-"))  # somebody else's: code is run from it
