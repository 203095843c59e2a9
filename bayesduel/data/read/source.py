"""The source of a log or a table: files through DuckDB, or a frame through Narwhals.

Both sources give columns by role, and, where a row is bad, its line or row number.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from bayesduel.data.read.address import files_of, is_address, opened_address, shown_address
from bayesduel.data.read.columns import Columns
from bayesduel.data.read.duckdb_source import ENTRY, FileSource, connected
from bayesduel.data.read.faults import refusal
from bayesduel.data.read.formats import called, check_once, expand
from bayesduel.data.read.judgement_formats import recognisable
from bayesduel.data.read.rows import KindError
from bayesduel.system.arguments import shown_value, text_of

__all__ = ["Fault", "bad_row", "open_log", "open_source"]

Fault = Callable[[Mapping[str, str | None]], str]


@contextmanager
def open_source(path_or_frame: Any) -> Iterator[Any]:
    """Open files or a frame, as they are.

    path_or_frame: a path, a folder, a glob, a list of these, an address, or a frame that Narwhals
        understands.
    Raises OSError if a file does not exist or cannot be opened; TypeError if `path_or_frame` is
    neither; ValueError if a file is not in the format of its name, or the files' columns differ.
    """
    if _are_paths(path_or_frame):
        with connected() as (con, folder):
            yield FileSource(path_or_frame, con, folder, False, None)
    else:
        with _frame(path_or_frame) as frame:
            yield frame


@contextmanager
def open_log(
    path_or_frame: Any,
    *,
    skip: bool = False,
    memory: int | None = None,
    words: str | None = None,
    scores: Mapping[str, Any] | None = None,
    shape: str | bool | None = None,
) -> Iterator[Any]:
    """Open files or a frame of duels, which may be judgements in the formats of other tools.

    path_or_frame: as in :func:`open_source`. The files of a folder may have several formats, where
        each is recognised.
    skip: whether lines that cannot be parsed are left out, or refused.
    memory: bytes that reading files may take; None: no limit.
    words: what a frame is called; None: by its type.
    shape: False: the columns are those of duels, and no other shape is looked for.
    scores: of a table of scores, its columns ``item``, ``model`` and ``score`` (None: found), and
        whether the ``margin`` is their difference. None: what it is is recognised.
    Raises OSError, TypeError or ValueError: as there; if `memory` is given for a frame; or if it
    should be a table of scores, and is none.
    """
    if not _are_paths(path_or_frame):
        if memory is not None:
            raise ValueError(
                "memory should be given for files only (a frame is in memory, or its own engine "
                f"has a limit), got {memory:,} bytes"
            )
        with _frame(path_or_frame, words) as frame:
            if scores is None and (shape is False or not recognisable(frame.columns())):
                yield frame
                return
            with connected() as (con, _):
                yield _judgements(con, [frame], scores, frame.name, None) or frame
        return
    with connected(memory) as (con, folder):
        names = expand(path_or_frame, mixed=True)

        def opened(path: Any) -> FileSource:
            return FileSource(path, con, tempfile.mkdtemp(dir=folder), skip, memory)

        first = opened(path_or_frame if len(names) == 1 else names[0])
        found = None
        if scores is not None or (shape is not False and recognisable(first.columns())):
            sources = chain([first], map(opened, names[1:]))
            most = None if memory is None else memory // 2 // ENTRY
            found = _judgements(con, sources, scores, called(path_or_frame, names), most)
        if found is not None:
            check_once(names)
        source = found or (first if len(names) == 1 else opened(path_or_frame))
        try:
            yield source
        except KindError as error:
            raise ValueError(f"{source.name}: {error}") from None


def bad_row(source: Any, columns: Columns, fault: Fault) -> ValueError:
    """Return an error that names the first bad row by file and line, and counts the others.

    columns: the columns that `fault` looks at.
    fault: returns what is wrong with a row, "" if nothing, given its values as text by role.
    """
    found = _bad_rows(source, columns, fault)
    where, what = next(found)
    return refusal(where, what, sum(1 for _ in found))


def _bad_rows(source: Any, columns: Columns, fault: Fault) -> Iterator[tuple[str, str]]:
    for chunk in source.numbered(columns):
        rows = chunk.batch.select(list(columns.taken)).to_pylist()
        for i, (where, row) in enumerate(zip(chunk.places, rows, strict=True)):
            what = fault({role: text_of(value) for role, value in row.items()})
            what = chunk.reasons.get(i, what)
            if what:
                yield where, what


@contextmanager
def _frame(given: Any, words: str | None = None) -> Iterator[Any]:
    """Open a frame, or the table at an address; Narwhals is imported for these only."""
    from bayesduel.data.read.narwhals_source import FrameSource

    if not is_address(given):
        yield FrameSource(given, words)
        return
    with connected(alone=True) as (con, _), opened_address(con, given) as relation:
        source = FrameSource(relation, shown_address(given))
        source.files = files_of(given)
        yield source


def _judgements(
    con: Any, sources: Iterable[Any], scores: Mapping[str, Any] | None, name: str, most: int | None
) -> Any:
    """Return judgements as a source, or None where they are not recognised."""
    from bayesduel.data.read.judgements import Judgements, parts_of

    parts = parts_of(con, sources, scores)
    return Judgements(con, parts, name, scores, most) if parts else None


def _are_paths(given: Any) -> bool:
    """Return whether paths are given; raise TypeError for a list of anything else."""
    if not isinstance(given, str | os.PathLike | list | tuple) or is_address(given):
        return False
    paths = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(path, str | os.PathLike) and path for path in paths):
        raise TypeError(
            f"path_or_frame should be a path, a list of paths or a frame, got {shown_value(given)}"
        )
    for address in filter(is_address, paths):
        raise ValueError(
            f"{shown_address(address)}: should be a log of its own, got {len(paths)} in a list "
            "(bayesduel.merge takes several)"
        )
    return True
