"""The source of a log or a table: files through DuckDB, or a frame through Narwhals.

Both sources give columns by role, and, where a row is bad, its line or row number.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from bayesduel.data.read.address import files_of, is_address, opened_address, shown_address
from bayesduel.data.read.columns import Columns
from bayesduel.data.read.conditions import check_condition
from bayesduel.data.read.decimals import columns_with_commas
from bayesduel.data.read.duckdb_source import ENTRY, FileSource, connected
from bayesduel.data.read.faults import refusal
from bayesduel.data.read.formats import GAMES, called, check_once, expand, is_read_whole
from bayesduel.data.read.rows import KindError
from bayesduel.data.read.shape import Asked, Part
from bayesduel.data.read.shapes import checked_shape, shape_asked, shape_found
from bayesduel.data.read.shapes_of_duels import duels
from bayesduel.data.read.shapes_of_rankings import RANKS
from bayesduel.system.arguments import as_options, shown_value, text_of

if TYPE_CHECKING:
    from bayesduel.data.read.shape import Source

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
        (first, *others) = expand(path_or_frame)
        if is_read_whole(first) and not others:
            yield _read_whole(first)
            return
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
    shape: str | Literal[False] | None = None,
    given: Mapping[str, Any] | None = None,
    rankings: bool = False,
    where: str | None = None,
    decimal: str | None = None,
) -> Iterator[Any]:
    """Open files or a frame of duels or of rankings, which may be in a shape of their own.

    path_or_frame: as in :func:`open_source`. The files of a folder may have several formats, where
        each is recognised.
    skip: whether lines that cannot be parsed are left out, or refused.
    memory: bytes that reading files may take; None: no limit.
    words: what a frame is called; None: by its type.
    shape: its name (:data:`bayesduel.data.read.shapes.SHAPES`, or a tool's); None: recognised where
        it is unmistakable; False: a row is a duel.
    given: options that name columns, by role, for a shape that is named.
    rankings: whether rankings are read; a shape of duels is not looked for then.
    where: a condition in SQL; other rows are left out, and counted.
    decimal: the sign before decimals, "," or "."; None: recognised where a file of semicolons has
        numbers with commas alone.
    Raises OSError, TypeError or ValueError: as there; if `memory` is given for a frame; if a table
    lacks what its shape needs; if it holds rankings where duels are read; or if `where` is not a
    condition.
    """
    if where is not None:
        check_condition(where)
    asked = Asked(checked_shape(shape), given or {}, rankings, where, decimal)
    if not _are_paths(path_or_frame):
        if memory is not None:
            raise ValueError(
                "memory should be given for files only (a frame is in memory, or its own engine "
                f"has a limit), got {memory:,} bytes"
            )
        with _frame(path_or_frame, words) as frame:
            parts = _parts_of([frame], asked) or _edited(frame, asked)
            if not parts:
                yield frame
                return
            with connected() as (con, _):
                yield _shaped(con, parts, frame.name, asked)
        return
    with connected(memory) as (con, folder):
        names = expand(path_or_frame, mixed=True)

        def opened(path: str | PathLike[str]) -> Any:
            if is_read_whole(path):
                return _read_whole(path)
            return FileSource(path, con, tempfile.mkdtemp(dir=folder), skip, memory)

        joined = len(names) > 1 and any(map(is_read_whole, names))
        first = opened(path_or_frame if len(names) == 1 else names[0])
        parts = _parts_of(chain([first], map(opened, names[1:])), asked, joined=joined)
        if not parts:
            source = first if len(names) == 1 else opened(path_or_frame)
            parts = _edited(source, asked)
        if parts:
            most = None if memory is None else memory // 2 // ENTRY
            check_once(names)
            source = _shaped(con, parts, called(path_or_frame, names), asked, most)
        try:
            yield source
        except KindError as error:
            raise ValueError(f"{source.name}: {error}") from None


def bad_row(source: "Source", columns: Columns, fault: Fault) -> ValueError:
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


def _read_whole(path: str | PathLike[str]) -> Any:
    """Return a spreadsheet, or games of chess, as a source; Narwhals is imported for these only."""
    if str(path).lower().endswith(GAMES):
        from bayesduel.data.read.game_notation import Games

        return Games(path)
    from bayesduel.data.read.spreadsheet import Spreadsheet

    return Spreadsheet(path)


def _parts_of(sources: Iterable[Any], asked: Asked, *, joined: bool = False) -> list[Part]:
    """Return sources with their shapes; none where one of them is read as it is.

    joined: whether the sources are joined here, as nothing else does.
    Raises ValueError if one lacks what the shape that is asked for needs.
    """
    parts = []
    for source in sources:
        found = None
        if asked.shape:
            found = shape_asked(source, asked.shape, asked)
        elif asked.shape is None:
            found = shape_found(source, asked)
        if found is not None and asked.rankings and found.kind != "rankings":
            found = None
        if found is None and not joined:
            return []
        parts.append(Part(found or duels(), source))
    return parts


def _edited(source: "Source", asked: Asked) -> list[Part]:
    """Return a source as a part whose rows are duels, where some are left out or read anew."""
    edited = asked.where is not None or columns_with_commas(source, asked.decimal)
    return [Part(duels(), source)] if edited else []


def _shaped(con: Any, parts: list[Part], name: str, asked: Asked, most: int | None = None) -> Any:
    """Return parts as a source; raise ValueError for rankings where duels are read."""
    from bayesduel.data.read.shaped_source import ShapedSource

    of_rankings = [part for part in parts if part.shape.kind == "rankings"]
    ranked = None
    if of_rankings and not asked.rankings:
        ranked = of_rankings[0]
    if ranked is not None:
        scores = ""
        if ranked.shape.name == RANKS:
            by = as_options(shape="scores", lower_is_better=True)
            scores = f", or as scores by {by} (1 is best)"
        raise ValueError(
            f"{ranked.source.name}: rows should be duels, got rankings ({ranked.shape.said}); "
            f"read them by bayesduel.read_rankings{scores}"
        )
    return ShapedSource(con, parts, name, asked, most)


def _are_paths(given: object) -> bool:
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
