"""The format of a file, from its name and its first bytes, and its columns.

CSV and TSV (comma, semicolon, tab or bar; a header line; UTF-8), JSON lines, JSON (a list of
objects, or one object) and Parquet, each plain, ``.gz`` or ``.zst``. A file whose first bytes
contradict its name is refused.
"""

import codecs
import csv
import glob
import io
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from bayesduel.system.arguments import by_reader, check_type, did_you_mean, shown_value
from bayesduel.text import count, join, printable, shorten

__all__ = [
    "GAMES",
    "LONGEST_LINE",
    "SAVED",
    "TITLES",
    "LogFile",
    "below_title",
    "called",
    "check_encoding",
    "check_file",
    "check_once",
    "expand",
    "is_read_whole",
    "json_object",
    "json_objects",
    "names_log",
    "open_bytes",
    "open_csv",
    "open_lines",
    "recognise",
    "verify",
]

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
NAMES = {
    "csv": "text in columns",
    "jsonl": "JSON lines",
    "array": "a list of JSON",
    "object": "an object of JSON",
    "parquet": "Parquet",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
ARCHIVES = {
    b"PK\x03\x04": "a zip archive (an Excel file?)",
    b"%PDF": "a PDF file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x89PNG": "a PNG picture",
    b"BZh91AY&SY": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}
DATABASES = {"sqlite": (0, b"SQLite format 3"), "duckdb": (8, b"DUCK")}  # what is at which byte
TABLES = re.compile(rb"CREATE TABLE (\w+)")  # of SQLite
STUDY = {b"studies", b"tickets", b"events"}  # tables of `bayesduel.study`
GAMES = ".pgn"
# Read as files: the module of datasets imports what reads logs.
SHIPPED = Path(__file__).parents[1] / "datasets"
READ_WHOLE = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", GAMES)  # not by DuckDB
SAVED = "save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
WINDOWS = re.compile(rb"[\x80-\x9f]")  # no letters of most languages in CP1252
DELIMITERS = ",;\t|"
LONGEST_LINE = 2_000_000  # bytes, as DuckDB reads
# Lines up to four times as long are named, or left out where faults are; beyond, a compressed file
# is no longer read: 2 MB of it can hold a line of 4 GB.
ENDLESS_LINE = 4 * LONGEST_LINE
TITLES = 20  # lines of a title that are looked at for a header below them: a third of a page
LONGEST_NAME = 255  # characters of a path in a message, as of a name of most file systems


@dataclass(frozen=True)
class LogFile:
    """A file and its format."""

    path: str
    format: str  # "csv", "jsonl", "array" or "object" (JSON that is not in lines) or "parquet"
    compression: str  # "none", "gzip" or "zstd"
    delimiter: str  # between the fields of a text file; "" otherwise
    # names, in the order of the file; empty for Parquet, which has a schema, and for JSON
    columns: tuple[str, ...]

    @property
    def is_json(self) -> bool:
        """Whether it contains objects of JSON, in lines or not."""
        return self.format in ("jsonl", "array", "object")

    @property
    def of_study(self) -> bool:
        """Whether ``bayesduel study export`` wrote it, for spreadsheets too."""
        return self.format == "csv" and {"ticket", "told"} <= set(self.columns)


def expand(path: str | PathLike[str], *, mixed: bool = False) -> list[str]:
    """Return the files of a path, a folder or a glob (sorted), or a list of these.

    path: a path, a folder, a glob, or a list of these.
    mixed: whether the files of a folder may have several formats.
    Raises FileNotFoundError if there is no such file, or a glob or a folder has none; ValueError if
    a folder has files of several formats, or is a Delta table.
    """
    if isinstance(path, list | tuple):
        if not path:
            raise ValueError("path should name at least one file, got an empty list")
        return [name for part in path for name in expand(part, mixed=mixed)]
    name = os.fspath(path)
    check_type(name, str, "path", "text or a path")
    if os.path.isdir(name):
        return _files_of(name, mixed)
    if os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise FileNotFoundError(f"{name}: no file matches")
    return found


def called(path: Any, names: Sequence[str]) -> str:
    """Return what the files `names` are called, which were given as `path`."""
    if isinstance(path, str | os.PathLike):
        return printable(str(path))
    listed = printable(", ".join(names))
    return listed if len(names) == 1 else f"{len(names)} files: {listed}"


def check_once(paths: Iterable[str]) -> None:
    """Raise ValueError if a file is in a log twice, whatever its names."""
    seen: dict[tuple[int, int], str] = {}
    for path in paths:
        found = os.stat(path)
        place = (found.st_dev, found.st_ino)
        if place in seen:
            raise ValueError(
                f"{path}: a file should be in a log once, got it as {seen[place]} before"
            )
        seen[place] = path


def recognise(name: str) -> LogFile:
    """Return the format of the file `name`.

    Raises OSError if it cannot be opened; ValueError if its bytes contradict its name, or it has no
    header line or no columns.
    """
    check_file(name)
    compression, expected, suffixes = _named(name)
    try:
        with open(name, "rb") as stream:
            start = stream.read(8)
    except PermissionError:
        raise PermissionError(f"{name}: permission denied") from None
    if not start:
        raise ValueError(f"{name}: the file is empty")
    for kind, magic in MAGIC.items():
        if start.startswith(magic) != (compression == kind):
            raise ValueError(
                f"{name}: its name {'says' if compression == kind else 'does not say'} {kind} "
                f"compression but its first bytes are {start!r} (byte 0)"
            )
    head = _head(name, compression)
    found = _format_of(name, head, expected)
    if expected is not None and expected != {"array": "jsonl", "object": "jsonl"}.get(found, found):
        raise ValueError(
            f"{name}: its name says {NAMES[expected]} but its first bytes are {head[:8]!r} (byte 0)"
        )
    if found == "parquet":
        return LogFile(name, found, compression, "", ())
    _check_text(name, head)
    if found in ("array", "object"):
        return LogFile(name, found, compression, "", ())
    if found == "jsonl":
        return LogFile(name, found, compression, "", _first_keys(name, compression))
    of_tabs = suffixes[-1:] in ([".tsv"], [".tab"])
    delimiter, columns = _header(name, compression, head, of_tabs)
    return LogFile(name, found, compression, delimiter, columns)


def check_file(name: str) -> None:
    """Raise OSError or ValueError unless a path is that of a file, which can be read again.

    A log is read more than once (its format, its rows, the line of a fault), a pipe only once.
    """
    try:
        kind = stat.S_IFMT(os.stat(name).st_mode)
    except PermissionError:
        raise PermissionError(f"{name}: permission denied") from None
    except (OSError, ValueError):  # too long; a NUL or half of a surrogate pair
        if name == "-":
            raise ValueError(
                "-: should be a file that can be read again, got standard input; save it"
            ) from None
        scheme, address, _ = name.partition("://")
        if address:  # what follows may have a password
            raise FileNotFoundError(
                f"{shorten(scheme, LONGEST_NAME)}://: should be a scheme that DuckDB reads; "
                "or give a frame of it to read_duels"
            ) from None
        logs = (file.stem for file in SHIPPED.glob("*.csv"))
        shipped = [log for log in logs if not log.endswith("_items")]
        hint = did_you_mean(name, shipped, "the shipped dataset ")
        if name in shipped:
            one = "; a shipped dataset is given alone, as the only LOG"
            hint = by_reader(f"; for the shipped dataset use bd.datasets.load({name!r})", one)
        raise FileNotFoundError(f"{shorten(name, LONGEST_NAME)}: no such file{hint}") from None
    if kind != stat.S_IFREG:
        what = {stat.S_IFIFO: "a pipe", stat.S_IFDIR: "a folder"}.get(kind, "a device")
        raise ValueError(f"{name}: should be a file that can be read again, got {what}; save it")


def names_log(name: str) -> bool:
    """Return whether a file is a log by its name."""
    return _named(name)[1] is not None


def is_read_whole(path: str | PathLike[str]) -> bool:
    """Return whether a path is that of a spreadsheet, or of games of chess, by its name."""
    return isinstance(path, str | os.PathLike) and str(path).lower().endswith(READ_WHOLE)


def open_bytes(name: str, compression: str) -> IO[bytes]:
    """Open a file for its decompressed bytes."""
    stream = open(name, "rb")  # PyArrow expands "~" and refuses names that are not UTF-8
    if compression == "none":
        return stream
    return io.BufferedReader(pa.input_stream(stream, compression=compression))


def open_lines(name: str, compression: str) -> IO[bytes]:
    """Open a file of lines for its decompressed bytes.

    Reading raises ValueError in a line of a compressed file that does not end.
    """
    stream = open_bytes(name, compression)
    return stream if compression == "none" else io.BufferedReader(_Lines(stream, name))


class _Lines(io.RawIOBase):
    """Bytes of lines, none of them endless."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._line = 1
        self._length = 0  # of the line so far

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), LONGEST_LINE))
        buffer[: len(data)] = data
        first = data.find(b"\n")
        if self._length + (len(data) if first < 0 else first) > ENDLESS_LINE:
            raise ValueError(
                f"{self._name}, line {self._line}: should be at most {LONGEST_LINE:,} bytes long, "
                f"got more than {ENDLESS_LINE:,}"
            )
        self._line += data.count(b"\n")
        if first < 0:
            self._length += len(data)
        else:
            self._length = len(data) - data.rfind(b"\n") - 1
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def verify(name: str, compression: str, *, lines_end: bool = False) -> None:
    """Decompress a file to its end; where it is one of lines, these have to end.

    DuckDB accepts a gzip stream with a wrong checksum, or a truncated zstd stream, as the whole
    file.

    Raises ValueError if the stream is damaged or truncated, with the last line that could be read.
    """
    done = lines = 0
    opened = open_lines if lines_end else open_bytes
    for size in (1 << 20, 1 << 6):  # a second time in small steps, to come close to the damage
        try:
            with opened(name, compression) as stream:
                for _ in range(done >> 20):
                    stream.read(1 << 20)
                while block := stream.read(size):
                    done += len(block)
                    lines += block.count(b"\n")
            return
        except OSError as error:
            fault = error
    raise ValueError(
        f"{name}, line {lines + 1}: the {compression} data is damaged or truncated after the "
        f"start of this line ({fault})"
    )


def check_encoding(file: LogFile, *, skip: bool) -> None:
    """Raise ValueError if the lines of a text file are in another encoding than UTF-8.

    Where it has lines in UTF-8 beyond ASCII, others are damaged, which whoever reads them says.

    skip: whether bad lines are left out; a single one is damaged then, too.
    """
    number = 0  # of lines before those of the block
    n_other = 0
    first = ""
    with open_lines(file.path, file.compression) as stream:
        while block := stream.read(1 << 20) + stream.readline(LONGEST_LINE):
            for k, line in enumerate(() if block.isascii() else block.split(b"\n"), 1):
                if line.isascii():
                    continue
                try:
                    line.decode("utf-8")
                    return
                except UnicodeDecodeError as error:
                    n_other += 1
                    first = first or _other_encoding(file.path, number + k, line, error)
            number += block.count(b"\n")
    if n_other > skip:
        more = f" (and {count(n_other - 1, 'more such line')})" if n_other > 1 else ""
        raise ValueError(f"{first}{more}")


def _other_encoding(name: str, number: int, line: bytes, error: UnicodeDecodeError) -> str:
    """Return what is wrong with a line that is not UTF-8, with its word in CP1252 if it may be."""
    other = line[error.start : error.start + 1]
    words = (word for word in re.split(rb"[\s,;|\t\"]+", line) if not word.isascii())
    word = next(words, b"")
    what = ""
    if not WINDOWS.search(word):
        what = f"; in CP1252, as Excel writes CSV, it is {shown_value(word.decode('latin-1'))}"
    return (
        f"{name}, line {number}: should be UTF-8, got other bytes ({other!r} at byte "
        f"{error.start}{what}); {SAVED}"
    )


@contextmanager
def open_csv(
    name: str, compression: str, delimiter: str, *, strict: bool = False
) -> Iterator[tuple[Any, list[str]]]:
    """Open a text file as records.

    Yields a reader, whose ``line_num`` counts lines, and a list to which it adds the lines that
    it reads. Bytes that are not UTF-8 are escaped as surrogates.
    """
    limit = csv.field_size_limit(2**31 - 1)  # a long field is judged where it is read
    lines: list[str] = []

    def remembered(text: Iterator[str]) -> Iterator[str]:
        for line in text:
            lines.append(line)
            yield line

    try:
        with open_lines(name, compression) as raw:
            text = io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
            yield csv.reader(remembered(text), delimiter=delimiter, strict=strict), lines
    finally:
        csv.field_size_limit(limit)


def json_objects(name: str, compression: str) -> Iterator[dict[str, Any] | str]:
    """Yield the objects of a file of JSON, or what is wrong with one.

    Raises ValueError if the file is not JSON, with the line if it is known.
    """
    with open_bytes(name, compression) as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    try:
        found = _loads(text)
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}"
        raise ValueError(
            f"{where}: should be JSON ({error.msg} at character {error.colno})"
        ) from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    for record in found if isinstance(found, list) else [found]:
        yield json_object(json.dumps(record))


def json_object(line: str) -> dict[str, Any] | str:
    """Return the object in a line of JSON, or what is wrong with the line."""
    try:
        found = _loads(line)
    except json.JSONDecodeError as error:
        return f"should be a JSON object ({error.msg} at character {error.pos + 1})"
    except ValueError as error:
        return str(error)
    if not isinstance(found, dict):
        return f"should be a JSON object, got {line.strip()[:40]!r}"
    if "\\ud" in line.lower():
        try:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            return "should be a JSON object of UTF-8 text, got half of a surrogate pair"
    return found


def _loads(text: str) -> Any:
    """Return a value of JSON; raise ValueError for what Python or this reader does not take."""
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except RecursionError:
        fault = "should be a JSON object, got one nested too deeply"
    except _RepeatedKey as error:
        fault = f"should have distinct keys, got {str(error)!r} twice"
    except json.JSONDecodeError:
        raise
    except ValueError:  # of Python's limit for the digits of an integer
        fault = "should be a JSON object, got a number with more than 4,300 digits"
    raise ValueError(fault)


class _RepeatedKey(Exception):
    pass


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise _RepeatedKey(key)
        result[key] = value
    return result


def _files_of(folder: str, mixed: bool) -> list[str]:
    """Return the files of a folder and its folders whose names are of a format, sorted.

    Names that begin with ``.`` or ``_`` are left out, as Spark and Hive do.
    """
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        raise ValueError(
            f"{folder}: should be a folder of files, got a Delta table, some of whose files may be "
            f"deleted rows; open it with Spark, Polars or DuckDB and pass the frame"
        )
    found: dict[str, list[str]] = {}
    for place, folders, names in os.walk(folder, onerror=_refuse_folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        for name in names:
            kind = _named(name)[1]
            if kind is not None and name[0] not in "._":
                found.setdefault(kind, []).append(os.path.join(place, name))
    if not found:
        endings = ", ".join(FORMATS)
        raise FileNotFoundError(f"{folder}: no file of the folder ends in {endings}")
    if len(found) > 1 and not mixed:
        each = [f"{NAMES[kind]} ({len(files):,})" for kind, files in found.items()]
        kinds = join(each)
        raise ValueError(
            f"{folder}: the files of a folder should be of one format, got {kinds}; choose some "
            f"by a glob such as {os.path.join(folder, '*.parquet')!r}"
        )
    return sorted(name for files in found.values() for name in files)


def _refuse_folder(error: OSError) -> None:
    raise PermissionError(f"{error.filename}: permission denied") from None


def _named(name: str) -> tuple[str, str | None, list[str]]:
    """Return the compression and the format that a name says, and its other suffixes."""
    suffixes = [s.lower() for s in Path(name).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1], "none") if suffixes else "none"
    if compression != "none":
        suffixes.pop()
    return compression, FORMATS.get(suffixes[-1]) if suffixes else None, suffixes


def _head(name: str, compression: str) -> bytes:
    try:
        with open_bytes(name, compression) as stream:
            # 65,536 bytes read to recognise the format
            return stream.read(65_536)
    except OSError:
        verify(name, compression)
        raise


def _format_of(name: str, head: bytes, expected: str | None) -> str:
    if not head:
        raise ValueError(f"{name}: the file is empty")
    if head.startswith(b"PAR1"):
        return "parquet"
    for magic, what in ARCHIVES.items():
        if head.startswith(magic):
            raise ValueError(
                f"{name}: should be a table, got {what} (byte 0 is {head[:4]!r}): CSV, TSV, JSON "
                "and Parquet are read, plain, .gz or .zst"
            )
    for kind, (place, magic) in DATABASES.items():
        if head.startswith(magic, place):
            if STUDY <= {*TABLES.findall(head)}:
                raise ValueError(
                    f"{name}: should be a table, got a study; write its duels with `bayesduel "
                    f"study export {name} duels.csv`, or analyse it with `bayesduel study report`"
                )
            raise ValueError(
                f"{name}: should be a table, got a database; read one of it by {kind}:///{name}::TABLE"
            )
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if expected == "jsonl" and text.startswith(b"["):
        return "array"
    if not text.startswith(b"{"):
        return "csv"
    first, ended, _ = text.partition(b"\n")
    whole = not ended or isinstance(json_object(first.decode("utf-8", "replace")), dict)
    return "jsonl" if whole or ".json" not in _named(name)[2][-1:] else "object"


def _check_text(name: str, head: bytes) -> None:
    for bom in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if head.startswith(bom):
            raise ValueError(
                f"{name}: should be UTF-8, got UTF-16 (byte 0 is {head[:2]!r}); {SAVED}"
            )
    first = head.split(b"\n", 1)[0]
    if b"\0" in first:
        raise ValueError(f"{name}: should be text, got a NUL in line 1 at byte {first.index(0)}")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError as error:
        byte = first[error.start : error.start + 1]
        raise ValueError(
            f"{name}: should be UTF-8, got {byte!r} in line 1 at byte {error.start}; {SAVED}"
        ) from None


def _header(name: str, compression: str, head: bytes, tabbed: bool) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter of a text file and the names in its header line."""
    first = re.split("\r|\n", head.decode("utf-8-sig", errors="replace"), maxsplit=1)[0]
    if not first.strip():
        raise ValueError(f"{name}, line 1: should be a header line, got a blank line")
    order = "\t" + DELIMITERS if tabbed else DELIMITERS
    delimiter = max(order, key=first.count)
    with open_csv(name, compression, delimiter) as (reader, _):
        columns = tuple(field.strip() for field in next(reader))
    if any(len(column) > 1_000 for column in columns):
        raise ValueError(f"{name}, line 1: should be a header line, got over 1,000 characters")
    named = [column for column in columns if column]
    if len(named) < 2 and (line := _later_header(head)):
        raise below_title(name, "line", 1, line, first)
    for column in named:
        if named.count(column) > 1:
            places = [i + 1 for i, other in enumerate(columns) if other == column]
            raise ValueError(
                f"{name}, line 1: columns should have distinct names, "
                f"got {shown_value(column)} in columns "
                f"{' and '.join(map(str, places))}; give all but one another name in the file"
            )
    return delimiter, columns


def below_title(name: str, noun: str, title: int, header: int, text: str) -> ValueError:
    """Return the error of a file whose header line stands below a title.

    noun: what its lines are called; title, header: numbers of these two; text: of the title.
    """
    return ValueError(
        f"{name}, {noun} {title}: should be the header line, got {shown_value(text)}; "
        f"{noun} {header} may be it: delete the {noun}s above it"
    )


def _later_header(head: bytes) -> int | None:
    """Return the first line of three fields or more after one of a title, or None."""
    lines = head.decode("utf-8-sig", errors="replace").splitlines()[: TITLES + 1]
    for k, line in enumerate(lines[1:], 2):
        fields = max((line.split(sign) for sign in DELIMITERS), key=len)
        filled = [field for field in fields if field.strip()]
        if '"' not in line and ">" not in line and len(filled) > 2:
            return k
    return None


def _first_keys(name: str, compression: str) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    first_fault = ""
    with open_lines(name, compression) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace")
        for number, line in enumerate(text):
            found = json_object(line) if line.strip() else {}
            if isinstance(found, dict):
                keys.update(dict.fromkeys(found))
            elif not keys:
                first_fault = first_fault or f"{name}, line {number + 1}: {found}"
            # JSON lines whose keys are the first columns, in their order: 1,000
            if number + 1 >= 1_000:
                break
    if not keys:
        raise ValueError(first_fault or f"{name}: should contain JSON objects, got blank lines")
    return tuple(keys)
