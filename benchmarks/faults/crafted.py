"""Crafted files: every text that a fit, a study or a trace stores names something to run.

Each text in turn is replaced by each of NAMES, and each place that names a class by a class that
is none, with arguments among its settings. A command opens the file; `ran` is what it started or
imported, and whether the trap left its mark.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import stored_names

__all__ = ["NAMES", "Crafted", "crafted_files", "opened"]

NAMES = ("subprocess:Popen", "os:system", f"{stored_names.MODULE}:run", "__class__", "__import__")
OPENING = {
    "fit.nc": (("winners",), ("top-k", "--k", "1"), ("update", "springall")),
    "a.study": (("study status",),),
    "trace.nc": (("open_trace",),),
    "trace.zarr": (("open_trace",),),
}


class Crafted(NamedTuple):
    """A file of a kind, the place of a text in it, the name put there, and what opens it."""

    kind: str
    spot: Any
    name: str
    by: tuple[str, ...]

    @property
    def place(self) -> str:
        """The place in words."""
        parts = self.spot if isinstance(self.spot, tuple) else (self.spot,)
        flat = [p for part in parts for p in (part if isinstance(part, tuple) else (part,))]
        return " ".join(str(part) for part in flat)

    @property
    def key(self) -> str:
        """What its record is kept under."""
        return f"{self.by[0]} {self.kind}: {self.place} = {self.name}"


def crafted_files(source: Path, full: bool) -> Iterator[Crafted]:
    """Yield a case for each class that can be named and each name, and for each text.

    Texts have one of the names in turn, all of them if `full`.
    """
    for place, name in enumerate(NAMES):
        for part in stored_names.CLASSES:
            for by in OPENING["fit.nc"][: 1 if place and not full else None]:
                yield Crafted("fit.nc", f"class {part}", name, by)
        for spot in stored_names.PARTS.values():
            yield Crafted("a.study", spot, name, OPENING["a.study"][0])
    for kind, (spots, _) in stored_names.KINDS.items():
        for place, spot in enumerate(spots(source / kind)):
            for name in NAMES if full else (NAMES[place % len(NAMES)],):
                yield Crafted(kind, spot, name, OPENING[kind][0])


def opened(case: Crafted, source: Path, folder: Path) -> dict[str, Any]:
    """Open a crafted copy; return the status, what is said, what ran, and the kind of answer."""
    watch = stored_names.Watch(folder)
    path = stored_names.copy(source / case.kind, folder)
    if isinstance(case.spot, str):
        part = case.spot.removeprefix("class ")
        stored_names.plant_class(path, part, case.name, watch.mark)
    else:
        stored_names.KINDS[case.kind][1](path, case.spot, case.name)
    with watch as ran:
        status, lines = _answer(case.by, path)
    told = [line for line in lines if not line.startswith("bayesduel: warning")]
    if ran:
        kind = "ran"
    elif status == 0:
        kind = "answered"
    else:
        kind = "refused" if status == 2 and len(told) == 1 else "fault"
    said = (told or [""])[-1].replace(f"{folder}/", "")
    return {"kind": kind, "status": status, "said": said, "ran": list(ran)}


def _answer(by: tuple[str, ...], path: Path) -> tuple[int, list[str]]:
    """Return the status of what opens a file, and its lines on stderr."""
    from click.testing import CliRunner

    import bayesduel as bd
    from bayesduel.cli import main

    if by == ("open_trace",):
        try:
            with contextlib.closing(bd.open_trace(path)) as trace:
                bd.regret(trace.load())
        except (ValueError, TypeError, KeyError, OSError) as error:
            return 2, f"{type(error).__name__}: {error}".splitlines()
        except Exception as error:
            return 1, f"unexpected {type(error).__name__}: {error}".splitlines()
        return 0, []
    done = CliRunner().invoke(main, [*by[0].split(), str(path), *by[1:]])
    return done.exit_code, done.stderr.splitlines()
