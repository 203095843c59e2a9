"""``bayesduel doctor``: whether this installation works, what is wrong, and how to mend it."""

import os
import platform
import re
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

import click

import bayesduel as bd
from bayesduel import __version__
from bayesduel.cli.options import json_option
from bayesduel.system.memory import available_memory

__all__ = ["Finding", "command", "examine"]

LEAST_MEMORY = 1e9  # bytes that a report of a small log takes, with room
LOG = "springall"  # a shipped log
BEST = "flavour 9.0 gel 0.0"  # who is best in it
PROBLEM = "cyclic-4"  # played by one compiled policy
FOR_DEVELOPERS = ("all", "bench", "browser", "docs", "test")  # extras that no command needs
C_LINKERS = ("c", "cvm", "c|py", "c|py_nogc", "cvm_nogc")  # those of PyTensor that need a compiler


class Finding(NamedTuple):
    """One line: what was looked at, what was found, and how to mend it; empty where all is well."""

    what: str
    found: str
    mend: str = ""


@click.command("doctor", short_help="Say whether this installation works, and how to mend it.")
@json_option
def command(as_json: bool) -> int:
    """Say whether this installation works: versions, caches, compilers, memory, a fit, a policy.

    Each line begins with "ok", or with "WRONG" and says how to mend it. The exit status is 1 if
    anything is wrong.
    """
    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            label = "WRONG" if finding.mend else "ok"
            mend = f"\n       to mend it: {finding.mend}" if finding.mend else ""
            click.echo(f"{label:<7}{finding.what}: {finding.found}{mend}")
    wrong = sum(bool(finding.mend) for finding in findings)
    if as_json:
        from bayesduel.cli.console import print_json

        print_json({"ok": not wrong, "findings": [finding._asdict() for finding in findings]})
    else:
        click.echo(f"\n{wrong} of {len(findings)} lines are wrong" if wrong else "\nall is well")
    return int(wrong > 0)


def examine() -> Iterator[Finding]:
    """Yield what is found; a check that fails is a finding, and the next one follows."""
    for check in (_versions, _caches, _compilers, _machine, _fit, _policy):
        try:
            yield from check()
        except Exception as error:
            words = " ".join(str(error).split())
            what = check.__name__.removeprefix("_")
            mend = "bayesduel --debug fit springall -o fit.nc shows where; see the lines above"
            yield Finding(what, f"{type(error).__name__}: {words}", mend)


def _versions() -> Iterator[Finding]:
    """Compare what bayesduel depends on with the lower bounds; say which extras are missing."""
    yield Finding("Python", f"{platform.python_version()} on {platform.platform()}")
    yield Finding("bayesduel", __version__)
    try:
        wanted = metadata.requires("bayesduel") or []
    except metadata.PackageNotFoundError:
        yield Finding("packages", "bayesduel is not installed, only found", "pip install .")
        return
    for requirement in wanted:
        parts = re.match(r"([\w-]+)[^><;]*>=([\w.]+)(?:.*extra == .(\w+))?", requirement)
        if parts is None or parts[3] in FOR_DEVELOPERS:
            continue
        name, least, extra = parts.groups()
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            if extra:
                how = f"pip install 'bayesduel[{extra}]'"
                yield Finding(name, f"not installed, and needed for some files or commands: {how}")
            else:
                yield Finding(name, "not installed", f"pip install '{name}>={least}'")
            continue
        good = _release(found) >= _release(least)
        upgrade = f"pip install --upgrade '{name}>={least}'"
        yield Finding(name, f"{found}, at least {least} is needed", "" if good else upgrade)


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version such as 2.5.1rc1, as far as they are those of a release."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in numbers[0].split(".")) if numbers else ()


def _caches() -> Iterator[Finding]:
    """Look into the folders where machine code and lists of fonts are kept, and write to them."""
    import matplotlib
    from pytensor import config

    pytensor = "PYTENSOR_FLAGS=base_compiledir=FOLDER"
    for what, folder, files, setting in (
        ("cache of Numba", _numba_folder(), "*.nb[ci]", "NUMBA_CACHE_DIR=FOLDER"),
        ("cache of PyTensor", Path(config.base_compiledir), "*", pytensor),
        ("cache of Matplotlib", Path(matplotlib.get_cachedir()), "*", "MPLCONFIGDIR=FOLDER"),
        ("temporary files", Path(tempfile.gettempdir()), "", "TMPDIR=FOLDER"),
    ):
        kept = [p.stat().st_size for p in folder.rglob(files) if p.is_file()] if files else []
        size = f", {sum(kept) / 1e6:.1f} MB in {len(kept):,} files" if files else ""
        refused = _refused(folder)
        mend = f"let {folder} be written, or set {setting} to one that can be" if refused else ""
        yield Finding(what, f"{folder}{size}{refused}", mend)


def _numba_folder() -> Path:
    """Return the folder that the user has chosen, or where Numba keeps code: beside the source."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    from bayesduel.policies.uniform import select

    beside = Path(__file__).parents[1]
    kept = "" if _interpreted() else cast(Any, select).stats.cache_path
    return Path(kept).parent if kept and not Path(kept).is_relative_to(beside) else beside


def _interpreted() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _refused(folder: Path) -> str:
    """Return why no file can be written in a folder, as a clause; empty if one can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f", cannot be written: {(error.strerror or str(error)).lower()}"


def _compilers() -> Iterator[Finding]:
    """Ask Numba, which compiles policies and models, and for a C compiler where it is chosen."""
    from pytensor import config

    if _interpreted():
        slow = "NUMBA_DISABLE_JIT is set: compiled functions run as plain Python"
        yield Finding("Numba", slow, "unset NUMBA_DISABLE_JIT")
    else:
        yield Finding("Numba", "compiles")
    linker = str(config.linker)
    compiler = str(config.cxx)
    if linker in C_LINKERS:
        missing = "" if compiler else "install g++ or clang++, or take linker from PYTENSOR_FLAGS"
        yield Finding("PyTensor", f"compiles by C ({linker}): {compiler or 'no compiler'}", missing)
    else:
        yield Finding("PyTensor", f"compiles by Numba; C compiler {compiler or 'none, not needed'}")


def _machine() -> Iterator[Finding]:
    """Ask for the memory that is free, and the cores."""
    from joblib import cpu_count

    free = available_memory()
    few = free is not None and free < LEAST_MEMORY
    said = "free memory is not known" if free is None else f"{free / 1e9:.1f} GB are free"
    close = "end other programs, or raise the limit (ulimit -v, the container's)"
    yield Finding("memory", said, close if few else "")
    yield Finding("cores", f"{cpu_count()}")


def _fit() -> Iterator[Finding]:
    """Fit a shipped log, and compare who is best."""
    start = perf_counter()
    winners = bd.winners(bd.fit(bd.datasets.load(LOG), seed=0))
    best = str(winners["arm"].values[int(winners["rank_mean"].values.argmin())])
    wrong = "" if best == BEST else f"install NumPy and SciPy again: {BEST} should be best"
    yield Finding("a fit", f"of {LOG}, {_since(start)}: {best} is best", wrong)


def _policy() -> Iterator[Finding]:
    """Let a compiled policy play a problem; the first time it is compiled."""
    start = perf_counter()
    bd.simulate(bd.policies.Uniform(), PROBLEM, horizon=100, replications=1, seed=0)
    yield Finding("a compiled policy", f"on {PROBLEM}, {_since(start)}")


def _since(start: float) -> str:
    return f"{perf_counter() - start:.1f} s"
