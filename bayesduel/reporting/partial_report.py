"""Parts of a report on several logs, kept on disk until all are done.

A report on hundreds of logs takes a while. Each part is written when it is done, so that a run
that is stopped goes on where it was.
"""

import json
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.reporting.html import part
from bayesduel.reporting.index import IndexRow
from bayesduel.system.atomic_write import write_text

__all__ = ["PartialReport", "fingerprint"]


@dataclass(frozen=True)
class PartialReport:
    """The parts of one report that are done, in a folder beside it.

    Attributes
    ----------
    folder
        Holds a file for each part; removed when the report is written.
    settings
        What the parts were made with, as text: parts of other settings are not used.
    """

    folder: Path
    settings: str

    @classmethod
    def beside(cls, path: Path, settings: Any) -> "PartialReport":
        """Return the parts of the report at `path`."""
        return cls(path.with_name(f"{path.name}.parts"), repr(settings))

    def find(self, place: int, label: str, log: Any) -> "dict[str, Any] | None":
        """Return what was kept of a part, or None."""
        path = self._path(place, label, log)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def keep(
        self, place: int, label: str, log: Any, sections: Any, row: IndexRow
    ) -> dict[str, Any]:
        """Keep the sections of a part as HTML, and its row in the table of all; return them."""
        done = {"html": part(sections, f"p{place}-"), "row": row}
        self.folder.mkdir(exist_ok=True)
        write_text(self._path(place, label, log), json.dumps(done))
        return done

    def clear(self) -> None:
        """Remove the folder and what is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, place: int, label: str, log: Any) -> Path:
        text = f"{place} {label} {self.settings} {fingerprint(log)}"
        return self.folder / f"{sha256(text.encode()).hexdigest()[:32]}.json"


def fingerprint(log: Any) -> str:
    """Return a text that differs between logs that differ."""
    found = sha256(repr((log.arms, log.tie_rule, log.ordered, log.read_summary.source)).encode())
    for array in log.cells:
        found.update(np.ascontiguousarray(array).tobytes())
    for value in () if log.votes is None else vars(log.votes).values():
        found.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return found.hexdigest()
