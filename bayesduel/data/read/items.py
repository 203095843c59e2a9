"""Read a table of items and their attributes.

Columns with missing values are refused by name. Constant columns are left out, and a line says so.
A column that is a combination of others is not refused: a normal prior tells their effects apart.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.items import Attribute, Items
from bayesduel.data.read.columns import ColumnError, Columns, take
from bayesduel.data.read.decimals import columns_with_commas, text_with_point
from bayesduel.data.read.faults import label_of, shown
from bayesduel.data.read.rows import NUMBER
from bayesduel.data.read.source import Fault, bad_row, open_source
from bayesduel.data.votes import FINITE, LARGEST_SIZE
from bayesduel.system.arguments import as_options, check_log, check_type, shown_value, texts_of
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.in_memory import Readable
    from bayesduel.data.read.narwhals_source import FrameSource
    from bayesduel.data.read.shape import Source

__all__ = ["read_families", "read_items"]

ITEM = "item"
NUMERIC = re.compile(NUMBER)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def read_items(
    path_or_frame: "Readable",
    *,
    item: str | None = None,
    columns: Iterable[str] | None = None,
    leave_out: Iterable[str] = (),
    reference: Mapping[str, str | None] | None = None,
    like: Items | None = None,
) -> Items:
    """Read a table of items and their attributes, one row per item.

    Labels and missing values are read as by :func:`bayesduel.read_duels`.

    Parameters
    ----------
    path_or_frame
        Files or a frame, as for :func:`bayesduel.read_duels`. A pandas frame may have the
        items' labels as its index.
    item
        Column of the items' labels. Default: ``item`` or ``arm``, else the first column if it holds
        a different text in each row, which is said.
    columns
        Columns of the attributes. Default: all other columns.
    leave_out
        Columns that are not attributes.
    reference
        Reference level of a categorical column. Default: its most frequent level (of equally
        frequent levels the first in alphabetical order). None: there is none, and each level is
        an attribute, as families of arms are.
    like
        Read new items with the attributes of these: same columns, levels, means and
        deviations; `columns`, `leave_out` and `reference` are ignored.

    Returns
    -------
    The items. A column is numeric if all its values are numbers, else categorical. A column with
    the same value in all rows is left out, which is said.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    TypeError
        If `path_or_frame` is neither a path nor a frame.
    ValueError
        If a column does not exist, has missing or infinite values, or is categorical with a
        different level for every item; if no column varies, a file is malformed, or an item
        has more than one row. The message gives file, line,
        column and value where there is one.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["a", "b", "c"], "price": [1.5, 2.0, 4.0]})
    >>> bd.read_items(frame)
    <Items: 3 items, 1 attributes (price)>
    """
    check_type(item, str | None, "item", "the name of a column")
    columns = None if columns is None else texts_of(columns, "columns")
    leave_out = texts_of(leave_out, "leave_out")
    check_type(reference, Mapping | None, "reference", "a mapping from columns to levels")
    if like is not None:
        check_log(like, Items, "like")
    with open_source(_with_index(path_or_frame, item or ITEM)) as source:
        item = _column_of_labels(source) if item is None else item
        names = _names(source, item, columns, leave_out, like)
        table = _complete(source, item, names, like)
        name = source.words
    if like is None:
        names = _varying(table, names, name)
        attributes = _attributes(table, names, reference or {})
    else:
        attributes = like.attributes
    values = [_values(table[attribute.column], attribute) for attribute in attributes]
    return Items(
        labels=tuple(table[item]),
        attributes=attributes,
        values=np.stack(values, axis=1),
        source=name,
    )


def read_families(path_or_frame: "Readable", column: str, item: str = "item") -> dict[str, str]:
    """Return the family of each item of a table by label; of items without one nothing.

    The items' labels are in the column `item`, or where there is none in the first other column.
    Raises ValueError if a column does not exist, a row names no item, or two rows the same.
    """
    with open_source(_with_index(path_or_frame, item)) as source:
        there = source.columns()
        others = (name for name in there if name != column)
        labels = item if item in there else next(others, item)
        take(there, source.name, {"item": labels, "family": column})
        columns = Columns({labels: labels, column: column})
        table = _texts(source, columns)
        _check_rows(source, columns, table, lambda: _fault(labels, {}))
    families = (label_of(text or "") for text in table[column])
    named = zip(table[labels], families, strict=True)
    return {label.strip(): family for label, family in named if family is not None}


def _column_of_labels(source: "FileSource | FrameSource") -> str:
    """Return the column of the items' labels, where none is named; a guess is said."""
    there = source.columns()
    for name in (ITEM, "arm"):
        if name in there:
            return name
    if not there:
        return ITEM
    first: str = there[0]
    column = _texts(source, Columns({first: first}))[first]
    labels = [label_of(text or "") for text in column]
    texts = [label for label in labels if label is not None and not NUMERIC.fullmatch(label)]
    if not labels or len(set(texts)) < len(labels):
        return ITEM
    print(f"read {source.name}: item={first} (guessed)", file=sys.stderr)
    return first


def _with_index(path_or_frame: "Readable", item: str) -> Any:
    """Return a pandas frame that is indexed by its items with the index as a column."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_dataframe(path_or_frame):
        if item not in path_or_frame.columns and path_or_frame.index.name == item:
            return path_or_frame.reset_index()
    return path_or_frame


def _names(
    source: "FileSource | FrameSource",
    item: str,
    asked: Iterable[str] | None,
    left: Iterable[str],
    like: Items | None,
) -> list[str]:
    if like is not None:
        asked = dict.fromkeys(a.column for a in like.attributes)
        left = ()
    there = source.columns()
    try:
        take(there, source.name, {"item": item})
    except ColumnError as error:
        option = as_options(item=None)
        raise error.named_by(f"the labels of the items ({option} names it)") from None
    for role, named in (("an attribute", asked or ()), ("leave_out", left)):
        for name in named:
            take(there, source.name, {role: name})
    wanted = there if asked is None else asked
    names = [name for name in wanted if name not in (item, *left)]
    if not names:
        raise ValueError(f"{source.name}: should have at least one attribute, got only {item!r}")
    return names


def _complete(
    source: "Source", item: str, names: list[str], like: Items | None
) -> dict[str, list[str]]:
    """Return the columns as words; refuse the first row with a missing or bad value."""
    columns = Columns({name: name for name in (item, *names)})
    table = _texts(source, columns)
    if not table[item]:
        raise ValueError(f"{source.name}: should contain at least one item, got no rows")
    commas = {*columns_with_commas(source, None)} & {*names}
    for name in commas:
        table[name] = [text and text_with_point(text, None) for text in table[name]]
    rules = {name: _rule(table[name], name, like, commas=name in commas) for name in names}
    gaps = _gaps(table, item, names, like)
    _check_rows(source, columns, table, lambda: _fault(item, rules, gaps))
    return {name: [text.strip() for text in texts] for name, texts in table.items()}


def _texts(source: Any, columns: Columns) -> dict[str, list[Any]]:
    """Return columns as texts by name; None where a value is missing."""
    return {name: list(column.texts) for name, column in source.texts(columns).items()}


def _check_rows(
    source: "Source", columns: Columns, table: Mapping[str, list[Any]], rule: Callable[[], Fault]
) -> None:
    """Raise ValueError that names the first bad row; `rule` makes a function as `_fault` does."""
    fault = rule()
    rows = zip(*table.values(), strict=True)
    if any(fault(dict(zip(table, row, strict=True))) for row in rows):
        raise bad_row(source, columns, rule())


def _rule(
    texts: list[str | None], name: str, like: Items | None, *, commas: bool
) -> Callable[[str], str]:
    """Return a function that returns what is wrong with a value of a column, "" if nothing.

    commas: whether the file has decimal commas there.
    """
    rule = _rule_of_points(texts, name, like)
    if not commas:
        return rule
    return lambda text: rule(text_with_point(text, None))


def _rule_of_points(texts: list[str | None], name: str, like: Items | None) -> Callable[[str], str]:
    if like is None:
        words = [text.strip() for text in texts if text is not None and label_of(text)]
        numeric = all(NUMERIC.fullmatch(word) or INFINITE.fullmatch(word) for word in words)
        return lambda text: f"be {FINITE}" if numeric and not _is_finite(text) else ""
    own = [attribute for attribute in like.attributes if attribute.column == name]
    levels = {attribute.level for attribute in own}
    if "" in levels:
        return lambda text: "" if _is_finite(text) else f"be {FINITE}"
    bases = {attribute.reference for attribute in own if attribute.reference}
    known = sorted(levels | bases)
    one_of_them = join(known, word="or", quote=True)
    return lambda text: "" if text in known else f"be {one_of_them}"


def _is_finite(text: str) -> bool:
    return bool(NUMERIC.fullmatch(text)) and abs(float(text)) <= LARGEST_SIZE


def _gaps(
    table: Mapping[str, list[str | None]], item: str, names: Sequence[str], like: Items | None
) -> dict[str, str]:
    """Return of each column with missing values which items have none there, and what to do."""
    labels = [label_of(text or "") for text in table[item]]
    without: dict[str, list[str]] = {}
    for name in names:
        for label, text in zip(labels, table[name], strict=True):
            missing = label_of(text or "") is None
            if label is not None and missing:
                without.setdefault(name, []).append(label)
    remedy = "leave out these items"
    if like is None:
        several = len(without) != 1
        columns = "the columns" if several else "the column"
        named = [*without] if several else next(iter(without))
        option = as_options(leave_out=named)
        remedy = f"leave out {columns} ({option})"
    gaps = {}
    for name, items in without.items():
        lacking = join(items, quote=True)
        gaps[name] = f"got nothing for {lacking}; fill it in, or {remedy}"
    return gaps


def _fault(
    item: str, rules: Mapping[str, Callable[[str], str]], gaps: Mapping[str, str] | None = None
) -> Fault:
    """Return a function that returns what is wrong with the rows of a table, one after another.

    gaps: of each column with missing values what to say of it, which is said once.
    """
    seen: set[str] = set()
    left = dict(gaps or {})

    def fault(values: Mapping[str, str | None]) -> str:
        label = label_of(values[item] or "")
        if label is None:
            got = shown(values[item])
            return f"column {item!r} should name an item, got {got}"
        if label in seen:
            return f"column {item!r} should have one row per item, got {shown(label)} again"
        seen.add(label)
        for name, rule in rules.items():
            text = label_of(values[name] or "")
            if text is None and name in left:
                return f"column {name!r} should have no missing values, {left.pop(name)}"
            what = "" if text is None else rule(text)
            if what:
                got = shown(values[name])
                return f"column {name!r} should {what}, got {got} for {label!r}"
        return ""

    return fault


def _attributes(
    table: Mapping[str, list[str]], names: Sequence[str], reference: Mapping[str, str | None]
) -> tuple[Attribute, ...]:
    found: list[Attribute] = []
    for name in names:
        if all(NUMERIC.fullmatch(word) for word in table[name]):
            numbers = np.array([float(word) for word in table[name]])
            mean = float(numbers.mean())
            deviation = float(numbers.std())
            found.append(Attribute(name, name, "", "", mean, deviation))
        else:
            found += _indicators(table[name], name, reference.get(name, ""))
    for name in reference:
        if not any(a.column == name and a.level for a in found):
            raise ValueError(
                f"reference should be of a categorical column, got {shown_value(name)}"
            )
    return tuple(found)


def _indicators(words: list[str], name: str, reference: str | None) -> list[Attribute]:
    levels, count = np.unique(words, return_counts=True)
    if len(levels) == len(words) and len(words) > 2:
        first = next(word for word in words if not NUMERIC.fullmatch(word))
        option = as_options(leave_out=None)
        raise ValueError(
            f"column {name!r} should be numeric, or have levels that items share; it has a "
            f"different one for every item, and {first!r} is not a number; leave it out "
            f"({option})"
        )
    if reference == "":
        reference = str(levels[count.argmax()])
    if reference is not None and reference not in levels:
        known = join(levels, word="or", quote=True)
        raise ValueError(f"reference of {name!r} should be {known}, got {shown_value(reference)}")
    others = (str(level) for level in levels if level != reference)
    base = reference or ""
    return [Attribute(f"{name}: {level}", name, level, base, 0.0, 1.0) for level in others]


def _varying(table: Mapping[str, list[str]], names: list[str], source: str) -> list[str]:
    """Return the columns with more than one value; the others are left out, which is said."""
    varying = []
    constant = []
    for name in names:
        values = set(map(_as_number, table[name]))
        if len(values) > 1:
            varying.append(name)
        else:
            constant.append(name)
    if not varying:
        quoted = join(constant, quote=True)
        raise ValueError(f"attributes should vary between items, got constant {quoted}")
    if constant:
        left_out = join(constant)
        print(f"read {source}: left out {left_out} (the same for all items)", file=sys.stderr)
    return varying


def _as_number(word: str) -> float | str:
    """Return the number that a text is, or the text."""
    return float(word) if NUMERIC.fullmatch(word) else word


def _values(words: list[str], attribute: Attribute) -> np.ndarray:
    level = attribute.level
    return np.array([float(word == level if level else word) for word in words])
