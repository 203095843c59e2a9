"""A PostgreSQL server of our own, for as long as a test or a benchmark runs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["postgresql", "programs"]


def programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server on a socket in a folder; yield the URL of its database.

    The server refuses to run as root: then it runs as the user that its package made.

    Raises
    ------
    FileNotFoundError
        If PostgreSQL is not installed.
    """
    folder_of = programs()
    if folder_of is None:
        raise FileNotFoundError("PostgreSQL should be installed (apt-get install postgresql)")
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        if user is not None:
            shutil.chown(folder, user)
        given: dict[str, Any] = {"stdout": subprocess.DEVNULL, "user": user, "cwd": folder}
        data = f"{folder}/data"
        made = [folder_of / "initdb", "-D", data, "-A", "trust", "-U", "study", "-E", "UTF8"]
        subprocess.run(made, check=True, **given)
        server = [folder_of / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log"]
        options = f"-k {folder} -h '' -c max_connections=200"
        subprocess.run([*server, "-o", options, "start"], check=True, **given)
        try:
            yield f"postgresql+psycopg://study@/postgres?host={folder}"
        finally:
            subprocess.run([*server, "-m", "immediate", "stop"], check=True, **given)
