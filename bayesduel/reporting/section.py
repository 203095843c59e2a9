"""What a report is made of: sections of sentences, tables and figures.

A section holds its content and nothing of HTML. :mod:`bayesduel.reporting.html` renders it for
pages and notebooks; ``rich`` prints it in a terminal, without its figures.
"""

import base64
import gzip
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from rich.cells import cell_len

from bayesduel.text import (
    CELL,
    SCREEN,
    csv_text,
    for_spreadsheet,
    json_ready,
    percent,
    shorten,
    to_json,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

    from bayesduel.reporting.figures import Picture

__all__ = [
    "FEW_ROWS",
    "FIRST_ROWS",
    "RESULT_ROWS",
    "Alert",
    "Block",
    "Cell",
    "Column",
    "Compare",
    "Figure",
    "Group",
    "Matrix",
    "Section",
    "Table",
    "Text",
    "Verdict",
    "blocks",
    "frame_table",
]

# Rows of a table that are shown; its files have all. Of a result printed by itself, ten lines of a
# screen are left for its sentence, heads and note.
RESULT_ROWS = SCREEN.lines - 10
FIRST_ROWS = 10  # of a table among others on a page, by eye: two fit a window of 1,000 pixels
FEW_ROWS = 5  # of a table that gives examples: it is as high as a paragraph
GAP = 2  # terminal columns between two columns of a table
STYLES = {"plain": "", "small": "dim", "strong": "bold", "alarm": "bold red", "code": ""}


class Printed:
    """What `rich` can print: the lines that ``_printed`` yields."""

    def _printed(self) -> "Iterator[RenderableType]":
        """Yield what is printed; nothing, for figures."""
        yield from ()

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        return self._printed()


@dataclass(frozen=True)
class Text(Printed):
    """One paragraph."""

    words: str
    style: Literal["plain", "small", "strong", "alarm", "code"] = "plain"
    kind: ClassVar[str] = "text"

    def _printed(self) -> "Iterator[RenderableType]":
        yield _styled(self.words, STYLES[self.style])


@dataclass(frozen=True, kw_only=True)
class Verdict(Printed):
    """The main result: a headline and what qualifies it."""

    headline: str  # the result in one or two sentences
    text: tuple[str, ...] = ()  # further paragraphs
    caution: str = ""  # a paragraph in the colour of warnings, or ""
    note: str = ""  # a paragraph in small print, or ""
    exact: tuple[str, ...] = ()  # paragraphs in exact terms, which the reader of a page opens
    settled: bool = True  # whether the result is definite; sets the colour of the box on a page
    kind: ClassVar[str] = "verdict"

    def _printed(self) -> "Iterator[RenderableType]":
        yield _styled(self.headline, "bold")
        for words in self.text:
            yield _styled(f"\n{words}")
        if self.caution:
            yield _styled(f"\n{self.caution}", "red")
        for words in (self.note, *self.exact):
            if words:
                yield _styled(f"\n{words}", "dim")


@dataclass(frozen=True)
class Alert(Printed):
    """A warning: its title, and one or more sentences."""

    title: str
    lines: tuple[str, ...]
    kind: ClassVar[str] = "alert"

    def _printed(self) -> "Iterator[RenderableType]":
        yield _styled(f"{self.title}:", "bold red")
        for words in self.lines:
            yield _styled(f"- {words}")


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text."""

    text: str  # the text, and a second line in small print
    small: str = ""
    style: Literal["plain", "strong", "alarm"] = "plain"  # "strong" and "alarm" are set in bold
    href: str = ""  # where it links to, or ""
    id: str = ""  # its name in links, or ""; without `href` it links to itself
    # left end, middle and width of an interval that is drawn before the text, in per cent of the
    # width of the column; or None
    bar: tuple[float, float, float] | None = None


class Column(NamedTuple):
    """A column of a table: its kind (a letter, as in :class:`Table`), heading, and cell of a row.

    The cell is a function of the row, or a format of its values: ``"{votes:,}"``.
    """

    letter: str
    head: str
    cell: Callable[[Mapping[str, Any]], str | Cell] | str


@dataclass(frozen=True, kw_only=True)
class Table(Printed):
    """Rows of text under headings."""

    # the kind of each column, one letter each: "l" label (shortened where it is long), "n" number
    # (aligned to the right), "b" number after a bar, "t" text, "h" heading of its row
    columns: str
    heads: tuple[str, ...] = ()  # one heading a column; none for a table without headings
    rows: tuple[tuple[str | Cell, ...], ...]  # one text or :class:`Cell` a column
    rules: tuple[int, ...] = ()  # indices of the rows above which a line is drawn
    full: bool = False  # whether the table takes the width of the page
    caption: str = ""  # a note in small print below it
    # its own name among the tables of a section, for its files; "" if it is the main one
    name: str = ""
    # the columns of its files by name, numbers not rounded; they may hold more rows than are shown.
    # Default: the texts of the table.
    data: Mapping[str, Sequence[Any]] | None = None
    # name of the column of the files in which a reader of a page can search; "" for none
    search: str = ""
    sought: str = "arm"  # what a reader calls what stands in that column
    board: bool = False  # whether a reader of a page can sort, filter and copy it
    # other rows by label, which a reader of a page can choose in place of these
    views: Mapping[str, tuple[tuple[str | Cell, ...], ...]] = field(default_factory=dict)
    whole: str = "all"  # label of its own rows beside these
    # address of its JSON, for a page that does not hold its files; "" for one that does
    file: str = ""
    kind: ClassVar[str] = "table"

    @classmethod
    def of(
        cls, columns: Iterable[tuple[Any, ...]], rows: Iterable[Mapping[str, Any]], **options: Any
    ) -> "Table":
        """Return the table with these columns (:class:`Column`) of some rows."""
        letters, heads, cells = zip(*columns, strict=True)
        shown = (
            tuple(cell.format(**row) if isinstance(cell, str) else cell(row) for cell in cells)
            for row in rows
        )
        return cls(columns="".join(letters), heads=heads, rows=tuple(shown), **options)

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows, every cell a :class:`Cell`."""
        return tuple(
            tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row)
            for row in self.rows
        )

    @property
    def bodies(self) -> dict[str, tuple[tuple[str | Cell, ...], ...]]:
        """All rows by label, its own first under ""."""
        return {"": self.rows, **self.views}

    @cached_property
    def content(self) -> dict[str, list[Any]]:
        """The columns of its files by name."""
        if self.data is not None:
            return {str(name): _plain(values) for name, values in self.data.items()}
        unnamed = ("name", "value", *(f"value {k}" for k in range(2, len(self.columns))))
        heads = self.heads or unnamed[: len(self.columns)]
        texts = [[f"{c.text} {c.small}".strip() for c in row] for row in self.cells]
        names: dict[str, list[Any]] = {}
        for k, head in enumerate(heads):
            own = head.replace("\n", " ").strip() or "row"
            names[f"{own} {k + 1}" if own in names else own] = [row[k] for row in texts]
        return names

    def csv(self, digits: int | None = None, *, raw: bool = False) -> str:
        """Return it as CSV for spreadsheets, or `raw`: see :func:`bayesduel.text.csv_text`.

        With `digits`, numbers are rounded to so many significant ones.
        """
        content = self.content
        if not raw:  # the same texts stand in many rows
            content = {for_spreadsheet(n): _by_value(values) for n, values in content.items()}
        if digits is not None:
            content = {name: _rounded(values, digits) for name, values in content.items()}
        return csv_text(content, zip(*content.values(), strict=True), raw=True)

    def to_json(self) -> str:
        """Return it as JSON: a list with one object per row; missing values are null."""
        content = self.content
        rows = zip(*content.values(), strict=True)
        listed = [dict(zip(content, row, strict=True)) for row in rows]
        try:  # plain values need no second look, which takes most of the time of a long table
            return json.dumps(listed, ensure_ascii=False, allow_nan=False, default=json_ready)
        except ValueError:  # infinities
            return to_json(listed, indent=None)

    @property
    def files(self) -> tuple[tuple[str, str, str], ...]:
        """Name of the format, suffix, and the file as a data URI, for a page without network.

        Files of more than 2,000 rows are compressed by gzip; of more than 10,000 rows, there is
        CSV alone, with six significant digits. A row of 20 columns is 575 bytes of a page,
        compressed CSV 78: 1.1 and 0.8 MB.
        """
        if self.file:
            return (("JSON", "json", self.file),)
        n_rows = len(next(iter(self.content.values()), ()))
        if n_rows > 10_000:
            text = self.csv(digits=6).encode()
            uri = f"data:application/gzip;base64,{_base64(_packed(text))}"
            return (("CSV", "csv.gz", uri),)
        made = (("CSV", "csv", "text/csv", self.csv().encode()),
                ("JSON", "json", "application/json", self.to_json().encode()))  # fmt: skip
        if n_rows > 2_000:
            return tuple(
                (name, f"{suffix}.gz", f"data:application/gzip;base64,{_base64(_packed(text))}")
                for name, suffix, _, text in made
            )
        return tuple(
            (name, suffix, f"data:{kind};charset=utf-8;base64,{_base64(text)}")
            for name, suffix, kind, text in made
        )

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        for place, part in enumerate(self._parts(options.max_width)):
            if place:
                yield _styled("")
            yield self._of_columns(part)
        if self.caption:
            yield _styled(f"\n{self.caption}", "dim")

    def _parts(self, width: int) -> list[list[int]]:
        """Return the columns of each table that is printed, so that its labels keep their room.

        width: of the terminal, in columns. Each table begins with the label of its rows.
        """
        every = list(range(len(self.columns)))
        label = next((k for k in every if self.columns[k] in "lh"), None)
        if label is None or set(self.columns[label + 1 :]) - {*"nb"}:
            return [every]
        widths = [self._width(k) for k in every]
        begin = every[: label + 1]
        widths[label] = min(widths[label], 16)  # labels keep as many columns, if they have them
        parts = [begin]
        for k in every[label + 1 :]:
            taken = sum(widths[i] + GAP for i in [*parts[-1], k]) - GAP
            if taken > width and len(parts[-1]) > len(begin):
                parts.append(begin)
            parts[-1] = [*parts[-1], k]
        return parts

    def _width(self, k: int) -> int:
        """Return the terminal columns of a column: its widest line."""
        texts = [line for row in self.cells for line in (row[k].text, row[k].small)]
        head = self._head(k).split("\n") if self.heads else []
        return max((cell_len(text) for text in (*texts, *head)), default=0)

    def _head(self, k: int) -> str:
        """Return the head of a column in the lines that are printed."""
        head = self.heads[k] if self.heads else self.columns[k]
        widest = max((len(row[k].text) for row in self.cells), default=0)
        return _wrapped(head, widest) if self.columns[k] == "n" else head

    def _of_columns(self, part: Sequence[int]) -> "RenderableType":
        """Return the table of some of its columns, as it is printed."""
        from rich.table import Table as RichTable

        table = RichTable(
            box=None, pad_edge=False, header_style="bold", show_header=bool(self.heads)
        )
        letters = [self.columns[k] for k in part]
        for letter, k in zip(letters, part, strict=True):
            table.add_column(
                _styled(self._head(k)),
                justify="right" if letter == "n" else "left",
                style="bold" if letter == "h" else "",
                no_wrap=letter in "nh",
                overflow="fold",
            )
        for row in self.cells:
            table.add_row(*map(_cell, letters, (row[k] for k in part)))
        return table


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure(Printed):
    """A figure, drawn when a page asks for it."""

    # function of :mod:`bayesduel.plots` with all arguments bound but ``ax``
    plot: Callable[..., Any]
    size: tuple[float, float]  # width and height in inches
    alt: str  # what it shows, for those who cannot see it
    caption: str = ""  # text below it
    wide: bool = False  # whether it keeps its width on a small screen, where it is then scrolled
    kind: ClassVar[str] = "figure"

    @cached_property
    def picture(self) -> "Picture":
        """The figure as an image."""
        from bayesduel.reporting.figures import draw

        return draw(self.plot, self.size)


@dataclass(frozen=True, eq=False)
class Compare(Printed):
    """Two arms that the reader of a page chooses, compared in one sentence."""

    # what the script of the page reads: ``arms``, and what they are called (``nouns``); of each
    # pair of the first ``paired`` of them, in the order of :func:`numpy.triu_indices`, ``mean``,
    # ``lower``, ``upper``, ``beats``, ``won``, ``lost``, ``tied``, with ``rope`` and
    # ``confidence`` of the verdict; and ``rating``, by arm, where there are more
    data: Mapping[str, Any]
    kind: ClassVar[str] = "compare"


@dataclass(frozen=True, eq=False)
class Matrix(Printed):
    """Probabilities of each pair in colours; the reader of a page points at one for a sentence."""

    arms: Sequence[str]  # labels of rows and columns: the first arms of the page's :class:`Compare`
    # probability that the arm of the row beats the arm of the column, (n_arms, n_arms)
    mean: np.ndarray
    clear: np.ndarray  # whether its interval excludes one half, (n_arms, n_arms)
    kind: ClassVar[str] = "matrix"

    @property
    def rows(self) -> "Iterator[list[tuple[str, str, float]]]":
        """Text, class and depth of colour of each cell, row by row; an empty text where i = j."""
        for i, (mean, clear) in enumerate(zip(self.mean, self.clear, strict=True)):
            cells = [
                (percent(p), f"{'row' if p > 0.5 else 'column'}{' clear' * c}", abs(2 * p - 1))
                for p, c in zip(mean.tolist(), clear.tolist(), strict=True)
            ]
            cells[i] = "", "", 0.0
            yield cells


@dataclass(frozen=True)
class Group(Printed):
    """Blocks under a heading of their own; `folded` ones are opened by the reader of a page."""

    title: str
    body: tuple["Block", ...]
    folded: bool = False
    kind: ClassVar[str] = "group"

    def _printed(self) -> "Iterator[RenderableType]":
        yield _styled(self.title, "bold")
        yield from _spaced(self.body)


Block = Text | Verdict | Alert | Table | Figure | Compare | Matrix | Group


@dataclass(frozen=True, kw_only=True)
class Section(Printed):
    """One section: its heading, and blocks in reading order."""

    id: str  # its name in links
    title: str = ""  # heading, or ""
    # blocks: :class:`Text`, :class:`Verdict`, :class:`Alert`, :class:`Table`, :class:`Figure` and
    # :class:`Group`
    body: tuple[Block, ...] = field(default=())

    @property
    def tables(self) -> dict[str, Table]:
        """Its tables by the name of their files: the section's, and the table's own."""
        found: dict[str, Table] = {}
        for table in _tables(self.body):
            name = f"{self.id}-{table.name}" if table.name else self.id
            again = sum(other.split("~")[0] == name for other in found)
            found[f"{name}~{again + 1}" if again else name] = table
        return {name.replace("~", "-"): table for name, table in found.items()}

    def file_name(self, table: Table) -> str:
        """Return the name of the files of one of its tables, without suffix."""
        return next(name for name, own in self.tables.items() if own is table)

    def _repr_html_(self) -> str:
        from bayesduel.reporting.html import fragment

        return fragment(self)

    def _printed(self) -> "Iterator[RenderableType]":
        if self.title:
            yield _styled(self.title, "bold underline")
            yield ""
        yield from _spaced(self.body)


def frame_table(
    frame: "pd.DataFrame",
    columns: Iterable[tuple[Any, ...]],
    shown: "pd.DataFrame | None" = None,
    **options: Any,
) -> Table:
    """Return the table with these columns of the rows that are shown; its files have the frame."""
    rows = (frame if shown is None else shown).to_dict("records")
    data = {str(name): frame[name].to_numpy() for name in frame}
    return Table.of(columns, rows, data=data, **options)


def blocks(*given: Block | str | None) -> tuple[Block, ...]:
    """Return the blocks that are given, strings as paragraphs; None and "" are left out."""
    return tuple(Text(block) if isinstance(block, str) else block for block in given if block)


def _tables(body: tuple[Block, ...]) -> Iterator[Table]:
    """Yield the tables of blocks, those of groups too."""
    for block in body:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Group):
            yield from _tables(block.body)


def _plain(values: Sequence[Any]) -> list[Any]:
    """Return the values of a column for a file: missing numbers as None."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [None if v != v else v for v in listed]


def _by_value(values: list[Any]) -> list[Any]:
    """Return a column with its texts as a spreadsheet takes them for texts."""
    texts = {v: for_spreadsheet(v) for v in {*values} if isinstance(v, str)}
    return [texts[v] if isinstance(v, str) else v for v in values] if texts else values


def _rounded(values: list[Any], digits: int) -> list[Any]:
    """Return a column with its numbers that are not whole to so many significant digits."""
    shape = f"%.{digits}g"
    return [shape % v if isinstance(v, float) else v for v in values]


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _packed(content: bytes) -> bytes:
    # zlib's own level, 6, takes one tenth of the time of 9, for files as small. Without a time, the
    # bytes are the same for the same table.
    return gzip.compress(content, 6, mtime=0)


def _styled(words: str, style: str = "") -> "RenderableType":
    """Return a text in which brackets are brackets, not markup."""
    from rich.text import Text as RichText

    return RichText(words, style=style)


def _wrapped(head: str, width: int) -> str:
    """Return the head of a column in lines about as wide as the cells below."""
    return textwrap.fill(head.replace(" %", "\u00a0%"), max(width, 6), break_long_words=False)


def _cell(letter: str, cell: Cell) -> "RenderableType":
    from rich.text import Text as RichText

    words = RichText(shorten(cell.text, CELL) if letter == "l" else cell.text)
    words.stylize(STYLES[cell.style])
    if cell.small:
        words.append(f"\n{cell.small}", style="dim")
    return words


def _spaced(body: tuple[Block, ...]) -> "Iterator[RenderableType]":
    """Yield blocks with a blank line after each, figures left out."""
    for block in body:
        if block.kind not in ("figure", "compare", "matrix"):
            yield block
            yield ""
