"""A sheet of a spreadsheet (Excel, OpenDocument) as a source of rows, by python-calamine."""

import os
from datetime import date, datetime, time
from os import PathLike
from typing import Any

from bayesduel.data.read.faults import shown
from bayesduel.data.read.formats import TITLES, below_title, check_file
from bayesduel.data.read.in_memory import as_frame
from bayesduel.data.read.narwhals_source import FrameSource
from bayesduel.system.extras import load_extra
from bayesduel.text import join

__all__ = ["Spreadsheet"]


class Spreadsheet(FrameSource):
    """The first sheet of a file that holds a table: a header line, and rows below it.

    path: the file.
    Raises OSError if it cannot be opened; ModuleNotFoundError without python-calamine; ValueError
    if it is no spreadsheet, or no sheet holds a table.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        name = os.fspath(path)
        check_file(name)
        calamine = load_extra("python_calamine", "excel")
        try:
            book = calamine.CalamineWorkbook.from_path(name)
            sheets = {own: book.get_sheet_by_name(own) for own in book.sheet_names}
            tables = {own: sheet.to_python() for own, sheet in sheets.items()}
        except (calamine.CalamineError, OSError) as error:
            raise ValueError(f"{name}: cannot be read as a spreadsheet: {error}") from None
        full = {own: rows for own, rows in tables.items() if len(rows) > 1}
        if not full:
            raise ValueError(f"{name}: should have a sheet with a header line and rows, got none")
        self.sheet, (header, *rows) = next(iter(full.items()))
        empty, _ = sheets[self.sheet].start  # rows above the table, which calamine leaves out
        self._header = empty + 1
        titles = [str(cell).strip() for cell in header]
        named = [(k, title) for k, title in enumerate(titles) if title]
        names = [column for _, column in named]
        if len(names) < 2:
            self._check_title(name, names, rows)
        for column in names:
            if names.count(column) > 1:
                raise ValueError(
                    f"{name}: columns should have distinct names, got {shown(column)} twice"
                )
        self._row = []
        for k, row in enumerate(rows):
            if any(cell != "" for cell in row):
                self._row.append(k)
        columns = {}
        for k, column in named:
            columns[column] = [_cell(rows[i][k]) for i in self._row]
        frame, _ = as_frame(columns)
        super().__init__(frame, name)
        self.files = (os.path.abspath(name),)
        self._others = [own for own in full if own != self.sheet]

    def said(self, notice: str) -> list[str]:
        """Return what is said of the columns, and which sheet is read where there are several."""
        if not self._others:
            return super().said(notice)
        others = join(self._others, quote=True)
        sheet = f"sheet {self.sheet!r} is read, not {others}"
        return [sheet, *super().said(notice)]

    def _check_title(self, name: str, title: list[str], rows: list[list[Any]]) -> None:
        """Raise ValueError if what should be the header is a title, and a header is below it."""
        for k, row in enumerate(rows[:TITLES], 1):
            n_filled = sum(str(cell).strip() != "" for cell in row)
            if n_filled > 2:
                place = self._header + k
                raise below_title(name, "row", self._header, place, " ".join(title))

    def _place(self, number: int) -> str:
        row = self._header + 1 + self._row[number]
        return f"{self.name}, row {row} of the sheet"


def _cell(value: Any) -> Any:
    """Return the value of a cell: whole numbers without decimals, dates as text, None if empty."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return None if value == "" else value
