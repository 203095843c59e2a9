"""The source of a log or a table: files through DuckDB, or a frame through Narwhals.

Both sources give columns by role, and, where a row is bad, its line or row number.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bayesduel.data.read.columns import Columns
from bayesduel.data.read.duckdb_source import open_files
from bayesduel.data.read.faults import refusal
from bayesduel.data.read.rows import text_of
from bayesduel.system.arguments import shown_value

__all__ = ["Fault", "bad_row", "open_source"]

Fault = Callable[[Mapping[str, str | None]], str]


def open_source(
    path_or_frame: Any,
    *,
    skip: bool = False,
    memory: int | None = None,
    words: str | None = None,
) -> AbstractContextManager[Any]:
    """Open files or a frame.

    Parameters
    ----------
    path_or_frame
        A path, a folder, a glob, a list of these, or a frame that Narwhals understands.
    skip
        Whether lines that cannot be parsed are left out, or refused.
    memory
        Bytes that reading files may take; None: no limit.
    words
        What a frame is called; None: by its type.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    TypeError
        If `path_or_frame` is neither.
    ValueError
        If a file is not in the format of its name, or the files' columns differ; or `memory` is
        given for a frame.
    """
    if isinstance(path_or_frame, str | os.PathLike | list | tuple):
        paths = path_or_frame if isinstance(path_or_frame, list | tuple) else [path_or_frame]
        if not all(isinstance(path, str | os.PathLike) and path for path in paths):
            raise TypeError(
                f"path_or_frame should be a path, a list of paths or a frame, "
                f"got {shown_value(path_or_frame)}"
            )
        return open_files(path_or_frame, skip=skip, memory=memory)
    if memory is not None:
        raise ValueError(
            "memory should be given for files only (a frame is in memory, or its own engine has a "
            f"limit), got {memory:,} bytes"
        )
    from bayesduel.data.read.narwhals_source import FrameSource

    return nullcontext(FrameSource(path_or_frame, words))


def bad_row(source: Any, columns: Columns, fault: Fault) -> ValueError:
    """Return an error that names the first bad row by file and line, and counts the others.

    Parameters
    ----------
    source
        An open source.
    columns
        The columns that `fault` looks at.
    fault
        Returns what is wrong with a row, "" if nothing, given its values as text by role.
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
