"""Names, numbers and sentences as text; tables as CSV, values as JSON."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size

__all__ = [
    "CELL",
    "EXAMPLES",
    "FORMULA",
    "LEAST_P",
    "NAMED",
    "SCREEN",
    "SENTENCE",
    "an",
    "begun",
    "count",
    "csv_rows",
    "csv_text",
    "digits_of",
    "file_names",
    "first_rows",
    "for_spreadsheet",
    "from_spreadsheet",
    "join",
    "json_ready",
    "number_with_interval",
    "p_value",
    "percent",
    "plural",
    "printable",
    "probability",
    "rank_range",
    "rounded",
    "screen",
    "shorten",
    "significant",
    "to_json",
    "win_points",
    "wrapped",
]


class Screen(NamedTuple):
    """How much an object prints."""

    lines: int
    columns: int
    of_table: int  # lines of its table, at least, that long sentences before it leave
    of_sentences: int  # lines of sentences below the table, at least


# Windows' terminal opens with 30 lines. 80 columns are those of the VT100 and of most terminals. A
# table has three heads and nine arms, at least.
SCREEN = Screen(lines=30, columns=80, of_table=12, of_sentences=4)
# Terminal columns of a label. A table of 80 columns has room for one such label and four numbers.
CELL = 48
SENTENCE = 60  # and in a sentence: one label leaves a quarter of a line for words
NAMED = 5  # names in a sentence: as long as a sentence may be, they fill four lines of a screen
EXAMPLES = 3  # names that stand for a longer list: the clearest, or the first
LEAST_P = 0.001  # below it a p-value is not written out, as in the APA Publication Manual
LONGEST = 160  # bytes of a label in a file name; file systems take 255 for all of it
# How nouns begin that are spoken with a vowel first: not unit, user, European, one
VOWEL = re.compile(r"(?!eu|onc?e\b|u(?:ni[^nm]|s[ae]))[aeiou]|hour|hono|heir", re.IGNORECASE)
IRREGULAR = {"person": "people", "child": "children", "man": "men"}  # nouns for an arm
FORMULA = "'*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]"  # how it begins, by wide characters too
SPREADSHEET = re.compile(FORMULA)
NUMERIC = re.compile(r"[+-]?(?:[\d.,]+(?:e[+-]?\d+)?(?: ?%)?|inf)", re.IGNORECASE)
RANKED = re.compile(r" *\d+ ")  # how the first line of a row of a ranking begins
SPACES = re.compile(r"[ \t\n\r]+")
LINE_ENDS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


def shorten(label: str, width: int = 24) -> str:
    """Return a label of at most `width` terminal columns, with "…" for the middle if longer.

    Line ends and tabs become spaces; more than four characters a column (accents) are left out.
    """
    label = LINE_ENDS.sub(" ", label)
    if cell_len(label) <= width and len(label) <= 4 * width:
        return label
    head = (width - 1) * 2 // 3
    start = set_cell_size(label, head).rstrip()[: 4 * head]
    end = set_cell_size(label[::-1], width - 1 - head)[::-1].lstrip()[-4 * (width - 1 - head) :]
    return f"{start}…{end}"


def printable(text: str) -> str:
    r"""Return a text with the bytes of a path that are not UTF-8 as escapes, such as ``\udcff``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def join(
    names: Iterable[Any],
    limit: int = 6,
    *,
    word: str = "and",
    width: int | None = SENTENCE,
    quote: bool = False,
) -> str:
    """Return "A, B and C", or "A, B and 5 others" where there are more than `limit` + 1.

    Parameters
    ----------
    names
        What to list; "" is returned if there are none.
    limit
        Number of names shown before "and n others".
    word
        Before the last name: "and" or "or".
    width
        Terminal columns to which each name is shortened; None leaves names as they are.
    quote
        Whether to write names in quotes, as Python does; such names are not shortened.
    """
    words = [str(name) for name in names]
    if len(words) > limit + 1:
        first = words[:limit]
        last = [f"{len(words) - limit:,} others"]
    else:
        first = words[:-1]
        last = [_name(name, width, quote) for name in words[-1:]]
    shown = ", ".join(_name(name, width, quote) for name in first)
    return f" {word} ".join([shown, *last] if shown else last)


def count(n: int, what: str) -> str:
    """Return a number and its noun, "1 duel" or "1,234 duels"."""
    return f"{n:,} {what if n == 1 else plural(what)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun: "duels", "dishes", "entries", "people"."""
    for one, many in IRREGULAR.items():
        if re.search(rf"\b{many}$", noun, re.IGNORECASE):
            return noun
        if re.search(rf"(\b|wo){one}$", noun, re.IGNORECASE):
            begin = noun[: -len(one)]
            return begin + (begun(many) if noun[-len(one)].isupper() else many)
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"


def an(noun: str) -> str:
    """Return a noun after its indefinite article, by its sound: "an arm", "a model", "a unit"."""
    return f"{'an' if VOWEL.match(noun) else 'a'} {noun}"


def begun(words: str) -> str:
    """Return words with a capital letter first, the others as they are."""
    return f"{words[:1].upper()}{words[1:]}"


def win_points(rope: float) -> str:
    """Return a difference of win probabilities, 0.05, in words: "5 points of win probability"."""
    points = f"{100 * rope:g}"
    return f"{points} {'point' if points == '1' else 'points'} of win probability"


def percent(p: float) -> str:
    """Return an uncertain probability in per cent, "69", never as 0 or 100: "> 99", "< 1"."""
    whole = f"{100 * p:.0f}"
    return {"0": "< 1", "100": "> 99"}.get(whole, whole)


def probability(p: float, digits: int = 2) -> str:
    """Return an uncertain probability, "0.97", never as 0 or 1: "> 0.99", "< 0.01"."""
    least = 10.0**-digits
    if p < least / 2:
        return f"< {least:.{digits}f}"
    return f"> {1 - least:.{digits}f}" if p >= 1 - least / 2 else f"{p:.{digits}f}"


def rank_range(best: float, worst: float) -> str:
    """Return ranks as text: "3", or "1 to 2"."""
    return f"{best:.0f}" if best == worst else f"{best:.0f} to {worst:.0f}"


def p_value(p: float, draws: int) -> str:
    """Return a Monte Carlo p-value, "p = 0.03", with no more precision than `draws` allow."""
    if p <= 1 / (draws + 1):
        return f"p < {1 / draws:.2g}"
    return f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def rounded(middle: float, lower: float, upper: float, figures: int = 2) -> tuple[str, str, str]:
    """Return an estimate and its interval, to `figures` significant digits of its width."""
    digits = digits_of(upper - lower, figures)
    return f"{middle:z.{digits}f}", f"{lower:z.{digits}f}", f"{upper:z.{digits}f}"


def digits_of(width: float, figures: int = 2) -> int:
    """Return the decimals with which a number of this size has `figures` significant digits."""
    return int(np.clip(figures - 1 - np.floor(np.log10(max(abs(width), 1e-300))), 0, 6))


def significant(x: float, figures: int = 2, sign: str = "") -> str:
    """Return a number to `figures` significant digits, whole digits kept, without an exponent.

    `sign` is "+" for a sign before positive numbers, too.
    """
    return f"{x:{sign}z,.{digits_of(x, figures) if x else 0}f}"


def number_with_interval(middle: float, lower: float, upper: float) -> str:
    """Return "0.41 [0.21, 0.62]", to the digits of :func:`rounded`."""
    return "{} [{}, {}]".format(*rounded(middle, lower, upper))


def screen(
    head: Iterable[str],
    body: Iterable[str] = (),
    tail: Iterable[str] = (),
    *,
    whole: str = "",
    n_arms: int = 0,
    noun: str = "arm",
) -> str:
    """Return what an object prints, of at most 30 lines of 80 columns.

    Parameters
    ----------
    head, tail
        Sentences before and after the body, wrapped where they are long.
    body
        Lines of a table, cut where they are long; the first that there is room for are shown.
    whole
        What a caller writes to see all rows, such as ".table()".
    n_arms
        Of a body whose rows are ranked arms, how many there are: arms are counted, not lines.
    noun
        What an arm is called.
    """
    lines = SCREEN.lines
    columns = SCREEN.columns
    rows = [set_cell_size(r, columns - 1) + "…" if cell_len(r) > columns else r for r in body]
    most = lines // 2 - 1
    above = _wrapped(head, columns, most)
    left = lines - len(above)
    if rows:  # of a long head, the sentences below give way to rows
        left = min(most, max(left - min(len(rows), SCREEN.of_table), SCREEN.of_sentences))
    below = _wrapped(tail, columns, left)
    room = lines - len(above) - len(below)
    if len(rows) > room:
        told = f" ({whole} has all rows)" if whole else ""
        shown = rows[: room - 1]
        left = len(rows) - len(shown)
        more = f"{left:,} more lines"
        if n_arms:
            more = count(n_arms - sum(map(bool, map(RANKED.match, shown))), f"more {noun}")
        rows = [*shown, f"... and {more}{told}"]
    return "\n".join([*above, *rows, *below])


def json_ready(value: Any) -> Any:
    """Return a value as JSON types: arrays as lists, NaN and infinities as None.

    Dataclasses and mappings become dictionaries, other iterables lists, a pandas frame a list of
    its rows (with its index, if that has a name); anything else that JSON does not have becomes its
    text.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return json_ready(asdict(value))
    if isinstance(value, dict):
        return {str(k): json_ready(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(v) for v in value]
    if hasattr(value, "reset_index"):
        named = value if value.index.name is None else value.reset_index()
        return json_ready(named.to_dict("records"))
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return json_ready(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def csv_text(columns: Iterable[Any], rows: Iterable[Iterable[Any]], *, raw: bool = False) -> str:
    """Return a table as CSV, with a line of heads; missing values are empty.

    Texts that a spreadsheet would take for a formula (they begin with ``=``, ``+``, ``-``, ``@``, a
    tab or a line end) have an apostrophe in front, so that they are text; numbers stay numbers.
    Texts that begin with apostrophes before these have one more. `raw` leaves all as it is.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        fields = row if raw else map(for_spreadsheet, row)
        writer.writerow([None if value != value else value for value in fields])
    return text.getvalue()


def csv_rows(
    path: Path, columns: Sequence[str], *, short: bool = False
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file by column, each with the number of its line.

    Where rows may be `short`, they may end before fields of other columns than these: None.

    Raises ValueError if it is not CSV in UTF-8, or lacks one of `columns`, a field or any row.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} should be a CSV file in UTF-8: {error}") from error
    names = reader.fieldnames or ()
    if not rows or not set(columns) <= set(names):
        got = join(names) or "none" if rows else "no row"
        wanted = f"the columns {join(columns)}, and rows" if columns else "rows"
        raise ValueError(f"{path} should have {wanted}, got {got}")
    for line, row in rows:
        if None in row or None in (row[name] for name in (columns if short else names)):
            raise ValueError(f"{path}, line {line}, should have {len(names)} fields")
    return rows


def for_spreadsheet(value: object) -> Any:
    """Return a value as :func:`csv_text` writes it."""
    if isinstance(value, str) and SPREADSHEET.match(value) and not NUMERIC.fullmatch(value):
        return f"'{value}"
    return value


def from_spreadsheet(text: str) -> str:
    """Return the text for which :func:`csv_text` wrote this one."""
    return text[1:] if text[:1] == "'" and SPREADSHEET.match(text) else text


def file_names(labels: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a part of a file name for each label, all different on any file system.

    None is among the names that are `taken`. What is not a letter, a digit or one of "-_." becomes
    "_". Names that would then be the same, those that differ by case or accents only included, end
    in a hash of their label.
    """
    names = {label: _file_name(label) for label in labels}
    taken = tuple(taken)
    while True:
        held = Counter(map(_folded, (*names.values(), *taken)))
        if all(held[_folded(name)] == 1 for name in names.values()):
            return names
        names = {
            label: name if held[_folded(name)] == 1 else f"{name}-{_hash(name + label)}"
            for label, name in names.items()
        }


def to_json(value: object, indent: int | None = 2) -> str:
    """Return a value as JSON text; NaN and infinities become null, as in :func:`json_ready`."""
    return json.dumps(json_ready(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _file_name(label: str) -> str:
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in label)
    if len(safe.encode()) > LONGEST:
        safe = f"{safe[: LONGEST // 4]}-{_hash(label)}"  # four bytes a character at most
    return safe if safe.strip(".") else f"_{safe}"


def _folded(name: str) -> str:
    """Return what a file system that ignores case, Unicode forms or last dots sees of a name."""
    return normalize("NFKD", normalize("NFKD", name).casefold()).rstrip(".")


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def wrapped(text: str, columns: int, first: str = "", later: str = "") -> list[str]:
    """Return a text as lines of at most so many terminal columns, at least one line.

    A wide letter takes two columns. Words that are too long are cut.

    Parameters
    ----------
    text
        What to wrap; any space between words is one.
    columns
        Of a line.
    first, later
        What stands before the first line, and before those after it.
    """
    lines = [first]
    fresh = True
    for word in SPACES.split(text.strip(" \t\n\r")):
        for piece in chop_cells(word, columns - cell_len(later)) or [word]:
            gap = "" if fresh else " "
            if not fresh and cell_len(lines[-1]) + 1 + cell_len(piece) > columns:
                lines.append(later)
                gap = ""
            lines[-1] += gap + piece
            fresh = False
    return lines


def _wrapped(sentences: Iterable[str], columns: int, most: int) -> list[str]:
    """Return sentences as lines of at most so many columns, at most so many lines."""
    found: list[str] = []
    for sentence in sentences:
        for line in sentence.split("\n"):
            indent = " " * (len(line) - len(line.lstrip()))
            found += wrapped(line, columns, indent, indent)
    if len(found) > most:
        found = [*found[: most - 1], "..."]
    return found


def _name(word: str, width: int | None, quote: bool) -> str:
    if quote:
        return repr(word)
    return word if width is None else shorten(word, width)


def first_rows(shown: int, n: int, of: str = "") -> str:
    """Return that a table shows the first rows and its files have all; "" where it shows all."""
    return f" The first {shown:,} of {n:,}{of}; the files have all." if shown < n else ""
