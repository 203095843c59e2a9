"""What judges see, uploaded by an administrator: kept as a draft, looked at, and then published.

A folder holds it: ``draft`` is what was uploaded since, ``1``, ``2``, ... are what was published.
A file arrives in parts, which are put together beside it; its name is checked before anything is
written. Without a CSV file the names of the files say which arm and item they are of.
"""

import os
import re
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from bayesduel.serve.content import KINDS, Contents, read_contents
from bayesduel.serve.operations import Refused
from bayesduel.system.atomic_write import write_text
from bayesduel.text import count, csv_text

__all__ = ["PART", "Uploads"]

PART = 512 * 1024  # bytes of a part: 280 kbit a second send it in time (``server.LONGEST``)
LARGEST = 100_000_000  # bytes of a file: more than a minute of film in full HD
MOST_BYTES = 2_000_000_000  # of a draft: 20 of the largest files
MOST_FILES = 5_000  # of 400 kB each, as pictures of a page are
TEXTS = {".txt", ".md"}
ALLOWED = {suffix for kind in KINDS.values() for suffix in kind} | TEXTS | {".csv"}
MADE = "content-of-names.csv"  # the table that is made where none is uploaded
# What no name of a file may hold on one of the systems that may read it: separators, signs of
# Windows, control characters and marks that turn the direction of a text.
REFUSED = re.compile(
    r'[\\/:*?"<>|\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)
# Names that are devices on Windows, whatever stands behind the dot: "Naming Files, Paths, and
# Namespaces" of Microsoft's documentation.
DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?", re.IGNORECASE)
PROMPT = "prompt"  # the name of a file that stands above the pairs, where no arm is called so


class Uploads:
    """The uploaded contents of a study.

    folder: where they are.
    labels, items: of the study's arms and items.
    """

    def __init__(self, folder: Path, labels: Sequence[str], items: Sequence[str]) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.draft = self.folder / "draft"
        self.seen: Contents | None = None  # the draft as it was looked at last
        self._labels = labels
        self._items = items

    def published(self, number: int | None) -> Contents:
        """Return what was published as a number; without one contents that have nothing."""
        if number is None:
            return Contents(self.folder / MADE, {}, {})
        return read_contents(_table(self.folder / str(number)), self._labels, self._items)

    def files(self) -> list[PurePosixPath]:
        """Return the names of the files of the draft."""
        paths = [path for path in self.draft.rglob("*") if path.is_file()]
        names = [PurePosixPath(path.relative_to(self.draft).as_posix()) for path in paths]
        return sorted(name for name in names if not name.name.startswith(".") and name.name != MADE)

    def add(self, name: str, size: int, offset: int, data: bytes) -> bool:
        """Store a part of a file; return whether the file is whole now. Sent again, it is the same.

        Raises Refused if the name or a size is not allowed, or the part before is missing.
        """
        path = self._path(name)
        if not 0 < size <= LARGEST:
            raise Refused(400, f"{name} should have 1 to {LARGEST:,} bytes, got {size:,}")
        if not data or len(data) > PART or not 0 <= offset <= size - len(data):
            raise Refused(
                400,
                f"a part should have 1 to {PART:,} bytes and end inside the file, got "
                f"{len(data):,} bytes",
            )
        part = self.draft / f".{sha256(name.encode()).hexdigest()}"
        if offset == 0:
            self._check_room(size)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(self.draft):
            raise Refused(400, f"{name} should be in the folder of the uploads")
        known = part.stat().st_size if part.is_file() else 0
        if offset > known:
            raise Refused(409, f"send the part before byte {offset:,} first")
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(part, flags, 0o600), "r+b") as file:
            file.seek(offset)
            file.write(data)
            file.truncate()
        if offset + len(data) < size:
            return False
        os.replace(part, path)
        self.seen = None
        return True

    def look(self) -> tuple[Contents, list[tuple[str, str]], list[str]]:
        """Return the draft as judges would see it, what is missing, and files that are not used.

        Raises ValueError if a row or a file is not as it should be.
        """
        table, unused = self._made_table()
        self.seen = read_contents(table, self._labels, self._items, whole=False)
        return self.seen, self.seen.missing(self._labels, self._items), unused

    def publish(self) -> tuple[int, Contents]:
        """Make the draft what judges see; return its number and itself.

        Raises ValueError if something is missing.
        """
        _, missing, _ = self.look()
        if missing:
            raise ValueError(
                f"the upload is not complete: content is missing in {count(len(missing), 'place')}"
            )
        taken = [int(p.name) for p in self.folder.iterdir() if p.name.isdecimal()]
        number = max(taken, default=0) + 1
        self.draft.rename(self.folder / str(number))
        self.seen = None
        return number, self.published(number)

    def discard(self) -> None:
        """Remove the draft."""
        self.seen = None
        if self.draft.is_dir() and not self.draft.is_symlink():
            shutil.rmtree(self.draft)

    def _path(self, name: str) -> Path:
        """Return where a file is kept; raise Refused unless its name stays in the draft."""
        parts = name.split("/")
        # 4 names of a path
        good = 0 < len(parts) <= 4 and all(
            part and part == part.strip(" .") and len(part.encode("utf-8", "replace")) <= 200
            and not REFUSED.search(part) and not DEVICE.fullmatch(part)
            for part in parts
        )  # fmt: skip
        if not good:
            raise Refused(
                400, f"name should be the name of a file in the folder, got {name[:80]!a}"
            )
        if PurePosixPath(name).suffix.lower() not in ALLOWED:
            kinds = ", ".join(sorted(ALLOWED))
            raise Refused(400, f"{name} should end in one of {kinds}")
        if self.draft.is_symlink():
            raise Refused(400, "draft should be a folder, got a link")
        self.draft.mkdir(exist_ok=True)
        return self.draft.joinpath(*parts)

    def _check_room(self, size: int) -> None:
        held = [path.stat().st_size for path in self.draft.rglob("*") if path.is_file()]
        if len(held) >= MOST_FILES or sum(held) + size > MOST_BYTES:
            raise Refused(
                413, f"uploads should have at most {MOST_FILES:,} files and {MOST_BYTES:,} bytes"
            )

    def _made_table(self) -> tuple[Path, list[str]]:
        """Return the table of the draft, made of the names where there is none; files not used."""
        names = self.files()
        if any(name.suffix.lower() == ".csv" for name in names):
            return _table(self.draft), []
        if not names:
            raise ValueError("the upload has no files")
        rows = []
        unused = []
        for name in names:
            item = name.parent.name if self._items else ""
            is_prompt = name.stem == PROMPT and PROMPT not in self._labels
            known = is_prompt or name.stem in self._labels
            if not known or (self._items and item not in self._items):
                unused.append(str(name))
                continue
            path = self.draft / name
            is_text = name.suffix.lower() in TEXTS
            content = path.read_text(encoding="utf-8") if is_text else str(name)
            rows.append(("" if is_prompt else name.stem, item, content))
        write_text(self.draft / MADE, csv_text(("arm", "item", "content"), rows, raw=True))
        return self.draft / MADE, unused


def _table(folder: Path) -> Path:
    """Return the CSV file of a folder; raise ValueError unless there is one."""
    found = [path for path in sorted(folder.glob("*.csv")) if path.name != MADE]
    if len(found) > 1:
        raise ValueError(
            f"the upload should have one CSV file, got {found[0].name} and {found[1].name}"
        )
    if not found and not (folder / MADE).is_file():
        raise ValueError("the CSV file should be at the top of the upload, not in a folder")
    return found[0] if found else folder / MADE
