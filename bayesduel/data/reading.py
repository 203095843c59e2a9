"""How a log was read: the role of each column, the meaning of each value, what was left out.

One record, made while a log is read, says it in the same words wherever a reader meets it:
``bayesduel read``, ``duels.reading``, the notice on stderr and the section of a report.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

from bayesduel.text import count

__all__ = ["HEADER_AGAIN", "HEADS", "LEFT_OUT", "NOT_USED", "Line", "Reading"]

HEADS = ("role", "column", "understood as", "rows")
WIDTHS = (11, 24)  # of the first two columns, at most
GAP = 2  # further columns before the number of rows, where a sentence before it goes on below
LEFT_OUT = "left out"
HEADER_AGAIN = "the header line again"  # why a row is left out
NOT_USED = "not used"
OF_ARMS = ("left", "right", "arm", "order", "best", "shown", "place_1")  # roles of columns of arms


class Line(NamedTuple):
    """One thing that was understood.

    Attributes
    ----------
    role
        What the column is used as ("left", "outcome", "judge"), "left out" or "not used".
    column
        The column, or "" where the line concerns none.
    understood
        What it was taken for, in words.
    rows
        Number of rows it concerns, or None where it is not known.
    hint
        What would take it for something else, "by='lang'" or, of a command, "--by lang"; or "".
    noticed
        Whether it is said on stderr when the log is read.
    n_arms
        Number of arms that `understood` begins with, of a column of arms; else None.
    """

    role: str
    column: str
    understood: str
    rows: int | None = None
    hint: str = ""
    noticed: bool = False
    n_arms: int | None = None

    @property
    def words(self) -> str:
        """What it was taken for, and the option that would take it for something else."""
        if not self.hint:
            return self.understood
        return f"{self.understood}: {self.hint}?"

    def called(self, noun: str) -> "Line":
        """Return the line for a reader who calls an arm `noun`."""
        if self.n_arms is None:
            return self
        n_arms = count(self.n_arms, "arm")
        n_called = count(self.n_arms, noun)
        rest = self.understood.removeprefix(n_arms)
        role = noun if self.role == "arm" else self.role
        return self._replace(role=role, understood=f"{n_called}{rest}")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a log was read.

    Attributes
    ----------
    source
        File names, or the kind of frame.
    n_rows
        Rows that were read.
    shape
        What a row is, such as "one duel per row".
    lines
        One :class:`Line` for each role, value left out and column not used.

    Examples
    --------
    >>> duels = bd.read_duels({"left": ["a", "b"], "right": ["b", "a"], "outcome": [1, 0]})
    >>> print(duels.reading)
    a dictionary of columns: 2 rows, one duel per row
    role    column  understood as                    rows
    left    left    2 arms                              2
    right   right   2 arms, the same                    2
    outcome outcome 1 left wins (1), 0 right wins (1)    2
    """

    source: str = "memory"
    n_rows: int = 0
    shape: str = "one duel per row"
    lines: tuple[Line, ...] = ()

    @classmethod
    def of_summary(
        cls, summary: Any, shape: str, n_arms: int, known: Mapping[str, str]
    ) -> "Reading":
        """Return what is known of a log from its summary alone.

        summary: a :class:`bayesduel.data.votes.ReadSummary`.
        n_arms: number of arms.
        known: what the column of another role holds, in words, by role.
        """
        lines = []
        arms = count(n_arms, "arm")
        for role, column in summary.columns.items():
            if role in OF_ARMS:
                lines.append(Line(role, column, arms, n_arms=n_arms))
            else:
                lines.append(Line(role, column, known.get(role, "")))
        if summary.n_left_out:
            lines.append(Line(LEFT_OUT, "", HEADER_AGAIN, summary.n_left_out))
        if summary.bad_rows:
            where, what = summary.bad_rows[0]
            words = f"bad rows, the first at {where}: {what}"
            lines.append(Line(LEFT_OUT, "", words, summary.n_bad_rows))
        lines += [Line(NOT_USED, column, "") for column in summary.unread]
        return cls(source=summary.source, n_rows=summary.n_rows, shape=shape, lines=tuple(lines))

    @property
    def left_out(self) -> tuple[Line, ...]:
        """The lines of what was left out."""
        return tuple(line for line in self.lines if line.role == LEFT_OUT)

    @property
    def not_used(self) -> tuple[Line, ...]:
        """The lines of columns that are not used."""
        return tuple(line for line in self.lines if line.role == NOT_USED)

    @property
    def shared(self) -> tuple[Line, ...]:
        """The lines of columns that are not used although votes share their values."""
        return tuple(line for line in self.not_used if line.hint)

    def line(self, role: str) -> Line | None:
        """Return the first line of a role, or None."""
        return next((line for line in self.lines if line.role == role), None)

    def renamed(self, source: str) -> "Reading":
        """Return the same with another name of the source."""
        return replace(self, source=source)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it."""
        lines = [line._asdict() for line in self.lines]
        return asdict(self) | {"lines": lines}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Reading":
        """Return the record that :meth:`to_dict` gave."""
        lines = tuple(Line(**line) for line in stored["lines"])
        return cls(**{**stored, "lines": lines})

    @property
    def _head(self) -> str:
        shape = "" if f"({self.shape})" in self.source else f", {self.shape}"
        n_rows = count(self.n_rows, "row")
        return f"{self.source}: {n_rows}{shape}"

    def __str__(self) -> str:
        lines = [self._head]
        cells = self._cells()
        if cells:
            lines += _aligned([HEADS, *cells])
        return "\n".join(lines)

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the texts of each line."""
        found: list[tuple[str, ...]] = []
        for line in self.lines:
            n_rows = "" if line.rows is None else f"{line.rows:,}"
            found.append((line.role, line.column, line.words, n_rows))
        return found

    __repr__ = __str__

    def _repr_html_(self) -> str:
        left = ' style="text-align: left; padding-right: 1em"'
        right = ' style="text-align: right"'
        *texts_above, number_above = HEADS
        head = "".join(f"<th{left}>{name}</th>" for name in texts_above)
        head += f"<th{right}>{number_above}</th>"
        rows = []
        for *cells, n in self._cells():
            texts = "".join(f"<td{left}>{escape(cell)}</td>" for cell in cells)
            rows.append(f"<tr>{texts}<td{right}>{n}</td></tr>")
        body = "".join(rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'<p>{escape(self._head)}</p><div style="overflow-x: auto">{table}</div>'


def _aligned(rows: list[tuple[str, ...]]) -> Iterable[str]:
    """Yield rows as lines of aligned columns; long texts go on in the next line."""
    numbers = max((len(row[3]) for row in rows), default=0)
    widths: list[int] = []
    columns = []
    for k in range(3):
        if k < 2:
            room = WIDTHS[k]
        else:
            # 80 columns of a screen
            # 30 columns at least of the third
            left_over = 80 - sum(widths) - numbers - 3 - GAP
            room = max(left_over, 30)
        cells = [wrap(row[k], room) or [""] for row in rows]
        width = max((len(part) for cell in cells for part in cell), default=0)
        columns.append(cells)
        widths.append(width)
    if any(len(cell) > 1 for cell in cells):  # a number would go on its first line
        widths[2] += GAP
    for row, *cells in zip(rows, *columns, strict=True):
        for k in range(max(map(len, cells))):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            texts = [part.ljust(width) for part, width in zip(parts, widths, strict=True)]
            last = row[3].rjust(numbers) if k == 0 else ""
            yield " ".join([*texts, last]).rstrip()
