"""Read a log of rankings: in long or wide form, as text, or of who is best and worst.

========  =====================================================================================
form      columns
========  =====================================================================================
long      ``ranking``, ``arm`` and ``rank``: a row for each arm of a ranking; 1 is best
wide      ``first``, ``second``, ... (1, 2, ...; ``rank1``; best to worst): a row for each ranking
text      ``order``: "a > b > c"; "=" or a comma between arms that share a place, "a > b = c"
choice    ``best``, ``shown`` (a list with commas) and, if asked for, ``worst``
========  =====================================================================================

An arm of the long form without a rank (or with DNF, DNS, DSQ, NC or "-" in its place), and those of
`shown` that are not named, are below the arms that are ranked, in no order; so are arms that share
the last rank. Where arms share the last rank but one, the last is the worst of them and itself;
other ties are bad rows. A row that orders nothing ("a = b = c", or a best that is a word for a tie)
is left out, and so said. Labels are read as by :func:`bayesduel.read_duels`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from bayesduel.data.rankings import Rankings
from bayesduel.data.read.address import is_address
from bayesduel.data.read.coding import reading_of
from bayesduel.data.read.columns import PEEK, Columns, Finder, plain, rows_by_role, take
from bayesduel.data.read.faults import label_of, refusal
from bayesduel.data.read.faults import shown as shown_text
from bayesduel.data.read.formats import expand, is_read_whole, recognise
from bayesduel.data.read.in_memory import as_frame
from bayesduel.data.read.orders import Row, by_ranking, check_by, order_of, orders_nothing
from bayesduel.data.read.reading import not_used
from bayesduel.data.read.reading_options import OF_RANKINGS, RANKING_ROLES, Given, OnBad
from bayesduel.data.read.roles import ROLES, arms_in, goes_on
from bayesduel.data.read.rows import are_numbers
from bayesduel.data.read.shape import repeats_header
from bayesduel.data.read.source import open_log
from bayesduel.data.read.words import OF_PLACES, ORDINALS, OUTCOMES
from bayesduel.data.reading import HEADER_AGAIN, LEFT_OUT, NOT_USED, Line
from bayesduel.data.votes import ReadSummary, is_whole
from bayesduel.system.arguments import as_options, check_names, check_one_of, check_type, texts_of
from bayesduel.text import count, join

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.in_memory import Readable
    from bayesduel.data.read.narwhals_source import FrameSource
    from bayesduel.data.read.shape import Source

__all__ = ["columns_in", "holds_rankings", "ranking_columns", "rankings_in", "read_rankings"]

NAMES = {
    "ranking": ("ranking", "rankingid", "race", "ballot", "list", "event", "id"),
    "arm": ("arm", "item", "model", "candidate", "player", "driver", "name", "option"),
    "rank": ("rank", "place", "position", "finish"),
    "order": ("order", "ordering", "ranking"),
    "best": ("best", "choice", "chosen"),
    "worst": ("worst",),
    "shown": ("shown", "alternatives", "options", "choices", "set"),
    "weight": ("weight", "count", "n", "times"),
}
FORMS = (("ranking", "arm", "rank"), ("best", "shown"), ("order",))
OPTIONAL = ("worst", "weight")
ROW_A_RANKING = ("best", "ranks", "lists")  # shapes whose rows may be counts of equal rankings
PLACE_WORDS = {word: k for k, word in enumerate(ORDINALS, 1)} | {
    "best": 1,
    "gold": 1,
    "silver": 2,
    "bronze": 3,
    "worst": 99,
    "last": 99,
}
OF_CHOICES = ("choice", "preference", "pick", "")  # beside 1st or first; 1 alone may be a name
BETWEEN = ("left", "right", "outcome", "winner", "loser")  # columns of duels
RANKED = ("choices", "best", "ranks", "places", "lists")  # shapes that may be of rankings
OF_SHAPE = {"arm": "left", "rank": "outcome"}  # what shapes call roles of rankings
FORM_ROLES = ("ranking", "arm", "rank", "order", "best", "worst", "shown")
BESIDE = ("weight", "judge", "group")  # columns that may be False
OF_UNITS = ("judge", "group")  # who ranked, and the unit within which rankings depend
NAMED = 8  # columns and words that a notice names: two lines of a screen


class Found(NamedTuple):
    """What the rows of a log say."""

    orders: list[list[list[str]]]  # the groups of each ranking, best first
    rows: list[int]  # the row of each ranking, or its first
    faults: dict[int, str]  # what is wrong with a row, by row
    n_shared: int  # rankings in which arms share a place that text joins by "="
    nothing: list[str]  # what the rows that order nothing say
    unplaced: list[str]  # what stands in place of a rank


def read_rankings(
    path_or_frame: "Readable",
    *,
    ranking: str | Sequence[str] | None = None,
    arm: str | None = None,
    rank: str | None = None,
    order: str | None = None,
    best: str | None = None,
    worst: str | None = None,
    shown: str | None = None,
    weight: Given = None,
    judge: Given = None,
    group: Given = None,
    keep: Sequence[str] = (),
    on_bad: OnBad = "error",
    shape: str | Literal[False] | None = None,
    where: str | None = None,
    decimal: str | None = None,
    by: str | None = None,
    like: Any = None,
) -> Rankings | dict[str, Rankings]:
    """Read a log whose rows order two or more arms, or name the best, or the best and worst.

    Parameters
    ----------
    path_or_frame
        Files or a frame, as for :func:`bayesduel.read_duels`, in one of the forms of
        :mod:`bayesduel.data.read.rankings`. Columns that are not given are found by their usual
        names. What was guessed, left out or not used is printed to stderr.
    ranking, arm, rank
        Columns of the long form: which ranking a row is of (a list of columns where they name it
        together: item and judge), the arm, and its rank.
    order
        Column of the text form, "a > b > c".
    best, worst, shown
        Columns of the arm that is best, of the worst, and of a list of all that were shown.
    weight
        Column of the number of identical rankings that a row stands for; not of the long form.
        False: there is none, whatever the columns are called.
    judge, group
        Columns of who ranked, and of the unit within which rankings are not independent: a fit has
        standard errors that are cluster-robust by them. Default: found by the names of
        :func:`bayesduel.read_duels`. False: there is none.
    keep
        Further columns to keep, for :meth:`bayesduel.Rankings.split`.
    on_bad
        "error": stop at a bad row; "skip": leave it out (of the long form its whole ranking) and
        say so.
    shape
        "ranks" (a column for each arm that holds its place), "places" (a row for the place of each
        arm), "lists" (a column of lists of arms, the best first), "best" (a column for each arm
        that was shown, and one of the best) or "choices" (a row for each alternative, chosen or
        not: `ranking` is the set, `arm` the alternative, `rank` says whether
        it was chosen). None: recognised where it is unmistakable and no columns are given. False:
        not looked for.
    where
        A condition in SQL on the rows that are read, as of :func:`bayesduel.read_duels`.
    decimal
        The sign before decimals of ranks and of numbers in conditions, as of
        :func:`bayesduel.read_duels`.
    by
        Column whose values are separate logs.
    like
        An earlier log, or a fit of it: shape and columns are those that it was read with, where
        they are not given here.

    Returns
    -------
    The log, which :func:`bayesduel.fit` fits with :class:`bayesduel.models.PlackettLuce`; with
    `by`, a dictionary of logs by label.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    ValueError
        If the columns are of none of the forms, or a row is bad: a rank is no number, the best is
        not among those shown, or a ranking orders no two arms, has an arm twice, two judges, or a
        tie above its last places, or no label of `by`.

    Examples
    --------
    >>> log = bd.read_rankings({"order": ["a > b > c", "b > a > c", "a > c > b"]})
    >>> float(bd.predict(bd.fit(log), "a", "c")["win"]) > 0.5
    True
    >>> table = {"order": ["a > b = c", "b > c > a"], "judge": ["Ann", "Bo"]}
    >>> bd.read_rankings(table).votes.judges
    ('Ann', 'Bo')
    """
    said = locals()  # the arguments, by name
    given = {name: said[name] for name in (*RANKING_ROLES, *OF_RANKINGS)}
    if like is not None:
        stored = reading_of(like)
        for name, value in given.items():
            if name in stored and value in (None, ()):
                given[name] = stored[name]
    given = _checked(given)
    columns = {role: given[role] for role in FORM_ROLES if given[role] is not None}
    shape = given["shape"]
    if shape is None and columns:
        shape = False if isinstance(columns.get("ranking", ""), str) else "places"
    named = {role: given[role] for role in BESIDE if isinstance(given[role], str)}
    if shape:
        named["ranking"] = None
        for role, column in columns.items():
            named[OF_SHAPE.get(role, role)] = column
        columns = {}
    if isinstance(given["weight"], str):
        columns["weight"] = given["weight"]
    frame, words = as_frame(path_or_frame)
    opened = open_log(
        frame,
        words=words,
        shape=shape,
        given=named,
        rankings=True,
        where=given["where"],
        decimal=given["decimal"],
    )
    with opened as source:
        if shape and source.kind != "rankings":
            raise ValueError(
                f"shape should be one of rankings ({', '.join(RANKED)}), got {shape!r}"
            )
        found = _roles(source, columns, given, sure=shape is False)
        return _read(source, found, columns, given | {"shape": source.recognised or shape})


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with tuples for lists; raise TypeError or ValueError for a wrong one."""
    found = dict(given)
    ranking = given["ranking"]
    if ranking is not None and not isinstance(ranking, str):
        found["ranking"] = texts_of(ranking, "ranking")
    for role in FORM_ROLES:
        column = found[role]
        if column is not None and not isinstance(column, tuple):
            check_names(column, role)
    for role in BESIDE:
        check_type(given[role], str | bool | None, role, "the name of a column, or False")
    check_type(given["by"], str | None, "by", "the name of a column")
    check_one_of(given["on_bad"], "on_bad", get_args(OnBad))
    check_type(given["shape"], str | bool | None, "shape", "the name of a shape, or False")
    return found | {"keep": texts_of(given["keep"], "keep")}


def _roles(
    source: "FileSource | FrameSource",
    columns: Mapping[str, str],
    given: Mapping[str, Any],
    *,
    sure: bool,
) -> dict[str, str]:
    """Return the column of each role of a log; raise ValueError where it is none of rankings.

    columns: those of a form that are given.
    sure: as of :func:`columns_in`.
    """
    there = source.columns()
    found = columns_in(source, columns, sure=sure)
    if found is None:
        forms = "; ".join(" and ".join(form) for form in FORMS)
        raise ValueError(
            f"{source.name}: columns should be those of rankings ({forms}; or first, second, "
            f"third), got {', '.join(there)}"
        )
    if given["weight"] is False:
        found.pop("weight", None)
    if given["by"] is not None:
        found["by"] = given["by"]
    finder = Finder(there, source.name)
    for role, column in found.items():
        finder.take(role, column)
    for role in OF_UNITS:
        if isinstance(given[role], str):
            finder.take(role, given[role])
        elif given[role] is None:
            for column in finder.all_free(ROLES[role])[:1]:
                finder.settle(role, column)
    return finder.found


def _read(
    source: Any,
    found: dict[str, str],
    columns: Mapping[str, str],
    given: Mapping[str, Any],
) -> Rankings | dict[str, Rankings]:
    """Return the log of a source, or one for each label.

    found: the column of each role; `columns` those of a form that are given.
    """
    every = rows_by_role(source, found)
    rows = {k: row for k, row in enumerate(every) if not repeats_header(row, found)}
    said = _rows_of_long(rows) if "rank" in found else _rows_of_rankings(rows)
    places = source.places() if said.faults else []
    strict = given["on_bad"] == "error"
    if said.faults and (strict or not said.orders):
        first = min(said.faults)
        raise refusal(places[first], said.faults[first], len(said.faults) - 1, skipped=strict)
    kept = _texts(source, given["keep"])
    used = {*found.values(), *kept, *source.taken}
    unread = tuple(name for name in source.columns() if name not in used)
    asked = {**given, **columns}
    guessed = []
    for role, column in found.items():
        own_name = column == role or "_" in role
        if asked.get(role) is None and not own_name:
            guessed.append(role)
    bad_rows = [(places[k], what) for k, what in sorted(said.faults.items())]
    summary = ReadSummary(
        source=source.words,
        files=source.files,
        columns=found,
        guessed=tuple(guessed),
        unread=unread,
        reading=_options_of(source, found, given),
        n_rows=len(every),
        n_left_out=len(every) - len(rows),
        n_ties_dropped=len(said.nothing),
        n_bad_rows=len(said.faults),
        bad_rows=tuple(bad_rows),
    )
    source.say(*source.remarks(), *_notices(summary, said, _texts(source, unread)))
    lines = [*not_used(source, used)]

    def log_of(rankings: Sequence[int], words: str) -> Rankings:
        """Return the log of some of the orders, from what is called so in words."""
        own = [said.rows[k] for k in rankings]
        labels = {}
        for role in OF_UNITS:
            if role in found:
                labels[role] = [_label(every[k][role]) for k in own]
        weight = None
        if "weight" in found:
            weight = [float(every[k]["weight"] or "") for k in own]
        of_kept = {}
        for name, column in kept.items():
            of_kept[name] = [_label(column[k]) for k in own]
        try:
            log = Rankings.from_orders(
                [said.orders[k] for k in rankings],
                weight=weight,
                keep=of_kept,
                read_summary=replace(summary, source=words),
                **labels,
            )
        except ValueError as error:
            raise ValueError(f"{source.name}: {error}") from None
        return _with_reading(log, source, said, lines)

    by = given["by"]
    if by is None:
        return log_of(range(len(said.orders)), source.words)
    parts: dict[str, list[int]] = {}
    for k, row in enumerate(said.rows):
        label = _label(every[row]["by"]) or ""
        parts.setdefault(label, []).append(k)
    logs = {}
    for label, own_rankings in sorted(parts.items()):
        logs[label] = log_of(own_rankings, f"{source.words}, {by}={label}")
    return logs


def _options_of(
    source: "Source", found: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options that read a log the same way again."""
    named: dict[str, Any] = {"shape": given["shape"]}
    if not source.roles:
        of_columns = (*NAMES, *OF_UNITS)
        named = {role: name for role, name in found.items() if role in of_columns}
    for name in (*FORM_ROLES, "where", "decimal", "keep"):
        asked = given[name]
        if asked:
            named[name] = list(asked) if isinstance(asked, tuple) else asked
    if given["weight"] is False:
        named["weight"] = False
    return {name: value for name, value in named.items() if value is not None}


def _with_reading(log: Rankings, source: "Source", said: Found, unread: Sequence[Line]) -> Rankings:
    """Return a log with what it was taken for, in the columns of the file.

    unread: the lines of the columns that are not used.
    """
    known = log.reading
    lines = [line for line in known.lines if line.role != NOT_USED]
    if source.roles:
        own = {role: source.roles.get(role, "") for role in ("ranking", "arm", "rank")}
        lines = [line._replace(column=own.get(line.role, line.column)) for line in lines]
    together = f"all arms in one place ({_counted(said.nothing)})"
    for why, n in (*source.left_out(), (together, len(said.nothing))):
        if n:
            lines.append(Line(LEFT_OUT, "", why, n))
    understood = replace(known, lines=(*lines, *unread))
    return replace(log, read_summary=replace(log.read_summary, understood=understood))


def rankings_in(path_or_frame: "Readable", **options: Any) -> Any:
    """Return the rankings in a file or a frame, or None where its columns are not of rankings.

    `options` are those of :func:`read_rankings`.
    """
    if not holds_rankings(path_or_frame, options.get("shape")):
        return None
    return read_rankings(path_or_frame, **options)


def holds_rankings(path_or_frame: Any, shape: Any = None) -> bool:
    """Return whether the columns of a file or a frame, or its shape, are those of rankings."""
    if shape not in (None, False, *RANKED):
        return False
    paths = [path_or_frame] if isinstance(path_or_frame, str) else path_or_frame
    if isinstance(paths, list) and not any(map(is_address, paths)):
        first = expand(path_or_frame)[0]
        names = () if is_read_whole(first) else recognise(first).columns  # without the rows
        decided = {*map(plain, names)} & {*OUTCOMES}
        if shape is None and decided and ranking_columns(names) is None:
            arms = arms_in(names)
            if arms is not None and not goes_on(names, arms):
                return False
    with open_log(path_or_frame, rankings=True, shape=shape) as source:
        if source.kind == "rankings":
            return True
        found = columns_in(source, sure=shape is False)
        if shape is False:  # a row is a duel, unless columns are places
            return found is not None and "place_1" in found
        if found is None or "order" not in found:
            return found is not None
        # A name that other logs have, too.
        texts = source.texts(take(source.columns(), source.name, found))["order"].values
        return any(">" in text for text in texts)


def ranking_columns(
    names: Sequence[str], given: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """Return the column of each role of a log of rankings; None where the names are of none.

    Places of the wide form have the roles ``place_1``, ``place_2``, ...
    """
    given = dict(given or {})
    known = {plain(name): name for name in reversed(names)}
    if not given and {*known} & {*BETWEEN}:
        return None

    def columns_of(roles: Sequence[str]) -> dict[str, str]:
        """Return the columns of some roles, those that there are."""
        found = {}
        for role in roles:
            usual = (known[name] for name in NAMES[role] if name in known)
            column = given.get(role) or next(usual, None)
            if column is not None:
                found[role] = column
        return found

    optional = columns_of(OPTIONAL)
    for form in FORMS:
        found = columns_of(form)
        others = {*given} - {*form, *OPTIONAL}
        if len(set(found.values())) == len(form) and not others:
            wanted = OPTIONAL if "best" in form else OPTIONAL[1:]
            extra = {role: optional[role] for role in wanted if role in optional}
            own = {role: name for role, name in extra.items() if role in given}
            return found | (own if "rank" in form else extra)
    if places := _columns_of_places(names):
        weight = {r: name for r, name in optional.items() if r == "weight"}
        return {f"place_{k}": name for k, name in enumerate(places, 1)} | weight
    return None


def columns_in(
    source: "FileSource | FrameSource",
    given: Mapping[str, str] | None = None,
    *,
    sure: bool = False,
) -> dict[str, str] | None:
    """Return the same of a source, where its first rows may say more than the names.

    Texts such as "a > b > c" are orders; columns 1, 2, 3 that hold numbers are places of arms only
    where the user says that nothing else is looked for (`sure`).
    """
    names = source.columns()
    found = ranking_columns(names, given)
    if found is not None and source.recognised in ROW_A_RANKING:
        counts = [name for name in names if plain(name) in NAMES["weight"]]
        found = ({"weight": counts[0]} if counts else {}) | found
    if found is not None and not sure and all(name.strip().isdecimal() for name in found.values()):
        read = source.peek(take(names, source.name, found), PEEK)
        texts = [text for column in read.values() for text in column.values]
        return None if are_numbers(texts) else found
    if found is not None or given or arms_in(names):
        return found
    for name, column in source.peek(Columns({name: name for name in names}), PEEK).items():
        orders = [text.split(">") for text in column.texts if text and text.strip()]
        arms = {arm.strip() for order in orders for arm in order}
        all_ordered = all(len(order) > 1 for order in orders)
        if len(arms) > 2 and all_ordered and "" not in arms:
            return ranking_columns(names, {"order": name})
    return None


def _columns_of_places(names: Sequence[str]) -> list[str]:
    """Return the columns of the arms at the first place, the second, and so on, by their names."""
    found: dict[str, dict[int, str]] = {}
    for name in reversed(names):
        word = plain(name)
        beside = (w for w in (*OF_PLACES, *OF_CHOICES) if word.startswith(w) or word.endswith(w))
        of = next(beside, "")
        rest = word.removeprefix(of).removesuffix(of)
        number = re.fullmatch("([0-9]{1,2})(st|nd|rd|th|º|ª)?", rest)
        place = int(number[1]) if number else PLACE_WORDS.get(rest, 0)
        without_ending = number is not None and number[2] is None
        numbers_a_choice = without_ending and of in OF_CHOICES and not word.isdecimal()
        if place and not numbers_a_choice:
            found.setdefault(of, {})[place] = name
    for places in found.values():
        order = sorted(places)
        whole = [k for k in order if k != PLACE_WORDS["worst"]]
        if len(order) > 2 and whole == [*range(1, len(whole) + 1)]:
            return [places[k] for k in order]
    return []


def _texts(source: Any, names: Iterable[str]) -> dict[str, list[str | None]]:
    """Return further columns as text, by name."""
    wanted = {f"kept_{k}": name for k, name in enumerate(names)}
    if not wanted:
        return {}
    read = source.texts(take(source.columns(), source.name, wanted))
    return {name: read[role].texts.tolist() for role, name in wanted.items()}


def _rows_of_rankings(rows: Mapping[int, Row]) -> Found:
    """Return what rows say that are a ranking each."""
    found = Found([], [], {}, 0, [], [])
    n_shared = 0
    for k, row in rows.items():
        try:
            order = order_of(row)
            _check_weight(row)
            check_by(row)
        except ValueError as error:
            found.faults[k] = str(error)
            continue
        if orders_nothing(order):
            found.nothing.append((row.get("best") or row.get("order") or "").strip())
            continue
        found.orders.append(order)
        found.rows.append(k)
        text = row.get("order") or ""
        n_shared += "=" in text
    return found._replace(n_shared=n_shared)


def _rows_of_long(rows: Mapping[int, Row]) -> Found:
    """Return what rows say that are an arm of a ranking each."""
    roles = next(iter(rows.values()), {})
    told = by_ranking(rows, [role for role in (*OF_UNITS, "by") if role in roles])
    wrong: dict[int, str] = {}
    for first in told.first:
        try:
            _check_weight(rows[first])
        except ValueError as error:
            wrong[first] = str(error)
    found = Found([], [], {**wrong, **told.faults}, 0, [], told.unplaced)
    for first, order in zip(told.first, told.orders, strict=True):
        if first in wrong:
            continue
        if orders_nothing(order):
            found.nothing.append(" = ".join(order[0]))
            continue
        found.orders.append(order)
        found.rows.append(first)
    return found


def _check_weight(row: Row) -> None:
    """Raise ValueError if a row has a weight that is no whole number above 0."""
    if "weight" not in row:
        return
    rule = f"weight should be a whole number > 0, got {shown_text(row['weight'])}"
    try:
        weight = float(row["weight"] or "")
    except ValueError:
        raise ValueError(rule) from None
    if not (weight > 0 and is_whole(np.array(weight))):
        raise ValueError(rule)


def _notices(
    summary: ReadSummary, said: Found, unread: Mapping[str, list[str | None]]
) -> Iterator[str]:
    """Yield what a reader should know: what was guessed, left out, or not used."""
    if summary.guessed:
        words = ", ".join(f"{role}={summary.columns[role]}" for role in summary.guessed)
        yield f"{words} (guessed)"
    if summary.n_left_out:
        n_rows = count(summary.n_left_out, "row")
        yield f"left out: {HEADER_AGAIN} ({n_rows})"
    if summary.bad_rows:
        place, what = summary.bad_rows[0]
        n_rows = count(summary.n_bad_rows, "bad row")
        yield f"left out {n_rows}, the first at {place}: {what}"
    if said.nothing:
        n_rankings = count(len(said.nothing), "ranking")
        words = _counted(said.nothing)
        yield (
            f"left out {n_rankings} that put all arms in one place "
            f"({words}): they say nothing of an order"
        )
    if said.n_shared:
        n_rankings = count(said.n_shared, "ranking")
        yield f"{n_rankings} join arms by '=': they share a place, in no order"
    if said.unplaced:
        n = len(said.unplaced)
        have = "has" if n == 1 else "have"
        n_entries = count(n, "entry")
        words = _counted(said.unplaced)
        yield (
            f"{n_entries} {have} no rank ({words}): they rank below all "
            "arms with a rank, in no order"
        )
    if unread:
        few = [*unread][:NAMED]
        if {*OF_UNITS}.isdisjoint(summary.columns):
            few = [_repeated(name, unread[name]) for name in few]
        names = ", ".join(few)
        n_more = len(unread) - NAMED
        more = ""
        if n_more > 0:
            others = count(n_more, "other")
            more = f" and {others}"
        yield f"not used: {names}{more}"


def _counted(words: Iterable[str]) -> str:
    """Return the words that occur, with their counts."""
    counted = []
    for word, n in Counter(words).most_common():
        shown_as = repr(word) if word else "blank"
        counted.append(f"{n:,} {shown_as}")
    return join(counted, NAMED)


def _repeated(name: str, values: Sequence[str | None]) -> str:
    """Return a column that is not used, and what it may be where each value stands in many rows."""
    counts = Counter(value for value in values if value is not None)
    if len(counts) < 2 or min(counts.values()) < 2:
        return name
    n_values = len(counts)
    n_rows = len(values)
    option = as_options(judge=name)
    return f"{name} ({n_values:,} values in {n_rows:,} rows; {option}?)"


def _label(text: str | None) -> str | None:
    return None if text is None else label_of(text)
