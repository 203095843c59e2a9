"""The parts of a report on several logs, kept on disk until all are done.

A report on hundreds of logs takes a while. Each part is written when it is done, so that a run
that is stopped goes on where it was.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from bayesduel.data.votes import fingerprint
from bayesduel.reporting.html import part
from bayesduel.reporting.section import Alert, Block, Cell, Figure, Group, Section, Table, blocks
from bayesduel.system.atomic_write import write_text
from bayesduel.system.warnings import warn
from bayesduel.text import plural

__all__ = [
    "IndexRow",
    "PartialReport",
    "all_parts",
    "index_section",
    "labelled_warnings",
]

MANY_LOGS = 24  # logs above which parts have no figures: a hundred would make a page of 50 MB
NO_FIGURES = f"With more than {MANY_LOGS} logs on a page, parts have no figures."

Sections = tuple[Section, ...]


class IndexRow(NamedTuple):
    """One log in the table of all."""

    duels: str  # their numbers as text, "" where the log could not be analysed
    arms: str
    verdict: str  # the main result, or why there is none
    # whether the check lets a ranking stand; None where it was not made or cannot
    # tell
    transitive: bool | None = None


@dataclass(frozen=True)
class PartialReport:
    """The parts of one report that are done, in a folder beside it."""

    folder: Path  # holds a file for each part; removed when the report is written
    settings: str  # what the parts were made with, as text: parts of other settings are not used

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


@contextmanager
def labelled_warnings(label: str | None) -> Iterator[None]:
    """Give what is warned of one of many logs again at the end, with its label in front."""
    if not label:
        yield
        return
    with warnings.catch_warnings(record=True) as told:
        yield
    for one in told:
        warn(f"{label}: {one.message}", one.category)


def all_parts(
    several: Mapping[Any, Any],
    kept: PartialReport | None,
    made: Callable[[Any, Callable[[str], None]], tuple[Sections, IndexRow]],
    step: Callable[[str], None],
) -> tuple[dict[str, Sections | str], list[IndexRow]]:
    """Return the part of each log by its label, and its row in the table of all.

    several: the logs by label.
    kept: the parts that are done; those that are made are kept there. None where none are: then a
        log that cannot be analysed raises, and has the reason in place of its part otherwise.
    made: returns sections and row of a log, given it and `step`.
    step: called with the label of the log and the name of each step before it begins.
    """
    parts: dict[str, Sections | str] = {}
    rows: list[IndexRow] = []
    errors: list[Exception] = []
    for place, (key, log) in enumerate(several.items(), 1):
        label = str(key)

        def named(name: str, label: str = label) -> None:
            step(f"{label}: {name}" if label else name)

        done = None if kept is None else kept.find(place, label, log)
        if done is None:
            try:
                with labelled_warnings(label):
                    own, row = made(log, named)
            except (ValueError, FloatingPointError) as error:
                if kept is None:
                    raise
                errors.append(error)
                alert = Alert("Not analysed", (str(error),))
                own = (Section(id="verdict", body=(alert,)),)
                row = IndexRow("", "", f"Not analysed: {error}")
            else:
                if len(several) > MANY_LOGS:
                    own = tuple(replace(part, body=_without_figures(part.body)) for part in own)
                if kept is not None:
                    done = kept.keep(place, label, log, own, row)
        if done is None:
            parts[label] = own
        else:
            parts[label] = done["html"]
            row = IndexRow(*done["row"])
        rows.append(row)
    if errors and len(errors) == len(parts):
        raise errors[0]
    return parts, rows


def index_section(labels: Sequence[str], rows: Sequence[IndexRow], noun: str = "arm") -> Section:
    """Return the section that lists the parts of a report, with links to them.

    noun: what an arm is called.
    """
    cells = tuple(
        (Cell(label, href=f"#p{place}-verdict"), row.duels, row.arms, row.verdict)
        for place, (label, row) in enumerate(zip(labels, rows, strict=True), 1)
    )
    heads = ("log", "duels", plural(noun), "verdict")
    table = Table(
        columns="lnnt",
        heads=heads,
        rows=cells,
        full=True,
        data=Table(columns="lnnt", heads=("log", "duels", "arms", "verdict"), rows=cells).content,
    )
    note = NO_FIGURES if len(rows) > MANY_LOGS else None
    words = together_words([row.transitive for row in rows])
    return Section(id="index", title="All logs", body=blocks(words, table, note))


def together_words(transitive: Sequence[bool | None]) -> str | None:
    """Return in how many logs no ranking holds."""
    tested = [one for one in transitive if one is not None]
    rejected = tested.count(False)
    if not rejected or len(tested) < 2:
        return None
    open_ = len(transitive) - len(tested)
    verb = "is" if open_ == 1 else "are"
    others = f"; {open_:,} more {verb} not tested or cannot tell" if open_ else ""
    return f"No ranking holds in {rejected:,} of {len(tested):,} logs{others}."


def _without_figures(body: tuple[Block, ...]) -> tuple[Block, ...]:
    kept = (block for block in body if not isinstance(block, Figure))
    return tuple(
        replace(block, body=_without_figures(block.body)) if isinstance(block, Group) else block
        for block in kept
    )
