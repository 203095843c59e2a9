"""What a log that was read was taken for, as a record."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.labels import alike_words, labels_alike
from bayesduel.data.read.columns import FEW, REPEATED, Columns, Roles, plain
from bayesduel.data.read.dates import formats_in_doubt
from bayesduel.data.read.duckdb_source import PEEKED
from bayesduel.data.read.faults import Examined, label_of
from bayesduel.data.read.meaning import LOSERS_NAME, WINNERS_NAME, WON, Code, Meaning
from bayesduel.data.read.outcomes import NAMED, says_both_bad
from bayesduel.data.read.rows import MEMBERS, NUMBER, Coded, Rows
from bayesduel.data.read.words import DATES, TIME
from bayesduel.data.reading import Line, Reading
from bayesduel.data.teams import split_sides
from bayesduel.data.votes import MANY_MISSING
from bayesduel.system.arguments import as_options
from bayesduel.text import count, join, shorten, significant

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.narwhals_source import FrameSource
    from bayesduel.data.read.shape import Source

__all__ = ["measures", "not_used", "notice_of", "understood"]

SHOWN = 8  # values of an outcome that are listed, each on a line of its own
LONGEST = 40  # characters of a value: half a line of a screen
PLAIN = ("left/right", NAMED, "columns")  # codings that say by themselves what they mean
SEPARATORS = (",", ";", "|", "&", "+", "/")  # of members in one label
IDS = ("id", "no", "nr", "number", "index", "key")  # ends of names of columns that name units


def understood(
    source: "FileSource | FrameSource",
    roles: Roles,
    rows: Rows,
    examined: Examined,
    faults: Sequence[tuple[str, str, int]],
    neither: str | None = None,
) -> Reading:
    """Return what a log was taken for.

    faults: (where, what, number of rows) of the bad rows.
    neither: label of the arm that wins the votes "both bad", or None where these are ties.
    """
    lines = [
        *_arms(roles, rows, examined),
        *_outcome(roles, rows, examined, neither),
        *_others(roles, rows, examined),
    ]
    lines += _left_out(source, roles, rows, examined, faults)
    taken = set(roles.taken.values())
    lines += not_used(source, taken)
    n_rows = int(rows.n.sum())
    own = []
    for line in lines:
        column = source.roles.get(line.column, line.column)
        own.append(line._replace(column=column))
    return Reading(source=source.words, n_rows=n_rows, shape=source.shape, lines=tuple(own))


def notice_of(reading: Reading, roles: Roles, meaning: Meaning | None) -> list[str]:
    """Return what a reader of the log should know and did not say, a sentence each."""
    said = []
    outcome = reading.line("outcome")
    given = roles.coding is not None or roles.asked is not None
    if outcome is not None and meaning is not None and not given:
        sizes = meaning.grades or meaning.shares
        if meaning.coding not in PLAIN and not sizes:
            said.append(f"{outcome.column}: {outcome.understood}")
    for line in reading.lines:
        if line.noticed:
            said.append(f"{line.column}: {line.words}")
    for line in reading.left_out:
        n_rows = count(line.rows or 0, "row")
        said.append(f"left out: {line.understood} ({n_rows})")
    shared = reading.shared
    if shared and roles.judge is None and roles.group is None:
        named = [f"{line.column} ({line.understood})" for line in shared[:SHOWN]]
        columns = ", ".join(named)
        n_more = len(shared) - SHOWN
        more = f" and {n_more:,} more" if n_more > 0 else ""
        as_judge = as_options(judge=None)
        as_group = as_options(group=None)
        said.append(
            f"not used: {columns}{more}; votes with the same value may be alike: name "
            f"the column by {as_judge} or {as_group}"
        )
    return said


def _arms(roles: Roles, rows: Rows, examined: Examined) -> Iterator[Line]:
    duels = None  # all
    if examined.no_duel:
        no_duel = np.any([*examined.no_duel.values()], axis=0)
        duels = ~no_duel
    lefts = _labels(rows.left, duels)
    rights = _labels(rows.right, duels)
    labels = lefts | rights
    named = roles.words
    of_arms = roles.teams is None  # else the words count sides
    what = "arm" if of_arms else "side"
    parts = ""
    hint = ""
    noticed = False
    if not of_arms:
        members = _members_of(labels, MEMBERS)
        n_members = count(len(members), "member")
        parts = f" of {n_members}"
        both = _share_a_member(rows)
        if duels is not None:
            both &= duels
        shared = int(rows.n[both].sum())
        if shared:
            n_rows = count(shared, "row")
            parts += f"; in {n_rows} both sides have a member, which cancels"
            noticed = True
    elif joined := _joined(labels):
        parts = ", whose labels may be of several members"
        hint = as_options(teams=joined)
        noticed = True
    alike = alike_words(labels_alike(sorted(labels)))
    if alike:
        parts += f"; {alike}"
        noticed = True
    n_left = count(len(lefts), what)
    words = f"{n_left}{parts}"
    n_known = _known(rows, rows.left)
    first = Line("left", named["left"], words, n_known, hint, noticed)
    yield first._replace(n_arms=len(lefts) if of_arms else None)
    n_right = count(len(rights), what)
    again = f"{n_right}, the same"
    if lefts != rights:
        n_both = len(lefts & rights)
        again = f"{n_right}, {n_both:,} of them also on the left"
    n_known = _known(rows, rows.right)
    second = Line("right", named["right"], again, n_known)
    yield second._replace(n_arms=len(rights) if of_arms else None)


def _members_of(labels: Collection[str], separator: str) -> set[str]:
    """Return the members of all sides."""
    return set(chain.from_iterable(split_sides(labels, separator)))


def _share_a_member(rows: Rows) -> np.ndarray:
    """Return in which rows two different sides have a member in common."""
    pairs = np.stack([rows.left.code, rows.right.code], axis=1)
    different, row = np.unique(pairs, axis=0, return_inverse=True)
    lefts = [set(label.split(MEMBERS)) for label in rows.left.values]
    rights = [set(label.split(MEMBERS)) for label in rows.right.values]
    found = []
    for i, j in different.tolist():
        named = min(i, j) >= 0
        left = lefts[i]
        right = rights[j]
        overlap = left != right and not left.isdisjoint(right)
        found.append(named and overlap)
    shared = np.array(found, dtype=bool)
    return shared[row.ravel()]


def _joined(labels: set[str]) -> str:
    """Return what joins the members in every label, as of doubles ("d, e"), or ""."""
    for separator in SEPARATORS:
        if all(separator in label for label in labels):
            members = _members_of(labels, separator)
            if len(members) < len(labels):
                return separator
    return ""


def _known(rows: Rows, column: Coded) -> int:
    """Return the number of rows that name something in a column."""
    known = column.code >= 0
    return int(rows.n[known].sum())


def _outcome(roles: Roles, rows: Rows, examined: Examined, neither: str | None) -> Iterator[Line]:
    meaning = examined.reading
    if roles.outcome is None or rows.outcome is None or meaning is None:
        if roles.margin is None:
            yield Line("outcome", "", "left won every duel", None)
        return
    used = (examined.fault == 0) & ~examined.left_out
    column = rows.outcome
    if examined.left_out.any():
        code = np.where(examined.left_out, -1, column.code)
        column = Coded(column.values, code)
    labels = _labels(rows.left) | _labels(rows.right)
    arms = {label.casefold() for label in labels}
    counted = _counts(column, rows.n)
    words = _meaning_in_words(meaning, roles, counted, arms, neither)
    n_used = int(rows.n[used].sum())
    yield Line("outcome", roles.outcome, words, n_used)


def _meaning_in_words(
    meaning: Meaning,
    roles: Roles,
    counted: Mapping[str, int],
    arms: Container[str],
    neither: str | None,
) -> str:
    """Return what the values of an outcome mean, in words.

    counted: how often each occurs.
    arms: the labels of the arms; one called "draw" is an arm.
    neither: label of the arm that wins the votes "both bad", or None.
    """
    if meaning.shares is not None and meaning.said is None:
        keys = {meaning.key(text) for text in counted}
        values = [share for key, share in meaning.shares.items() if key in keys]
        least = min(values)
        most = max(values)
        return f"the probability that left is better, {least:g} to {most:g}"
    if meaning.margins is not None:
        better = "lower" if roles.lower_is_better else "higher"
        return f"two scores, left's first; the {better} is better"
    understood = {}
    for text in counted:
        words = meaning.says(text)
        if neither is not None and words == WON[Code.TIE]:
            words = _of_tie(text, neither)
        understood[text] = words
    known = [text for text, words in understood.items() if words]
    if not meaning.by_name:
        listed = _listed(known, understood, counted)
        return ", ".join(listed)
    if not meaning.exact:
        known = [text for text in known if text.casefold() not in arms]
    names = (WINNERS_NAME, LOSERS_NAME)
    ties = [text for text in known if understood[text] not in names]
    who = "the name of the loser" if meaning.loser else "the name of the winner"
    listed = [who, *_listed(ties, understood, counted)]
    return ", ".join(listed)


def _of_tie(text: str, neither: str) -> str:
    """Return what a tie means where `neither` is the arm that wins the votes "both bad"."""
    if says_both_bad(text):
        return f"{neither} wins"
    return f"{WON[Code.TIE]} left out"


def _listed(
    texts: Sequence[str], understood: Mapping[str, str], counted: Mapping[str, int]
) -> list[str]:
    """Return values with what they mean and their numbers of rows."""
    shown = []
    for text in texts[:SHOWN]:
        words = understood[text]
        if not words.startswith(text):
            value = shorten(text, LONGEST)
            words = f"{value} {words}"
        shown.append(f"{words} ({counted[text]:,})")
    rest = texts[SHOWN:]
    if rest:
        n = sum(counted[text] for text in rest)
        others = count(len(rest), "other value")
        shown.append(f"{others} ({n:,})")
    return shown


def _others(roles: Roles, rows: Rows, examined: Examined) -> Iterator[Line]:
    """Yield the lines of the further roles."""
    named = roles.words
    better = "lower" if roles.lower_is_better else "higher"
    if rows.margin is not None:
        known = np.isfinite(rows.margin)
        n = int(rows.n[known].sum())
        what = "two scores" if roles.margin_right else "left's score minus right's"
        words = f"{what}; the {better} is better"
        yield Line("margin", named["margin"], words, n)
    if rows.tie is not None and roles.tie is not None:
        tied = examined.outcome == 0
        n = int(rows.n[tied].sum())
        yield Line("tie", roles.tie, "true: a tie", n)
    if examined.swapped is not None and roles.shown_first is not None:
        n = int(rows.n[examined.swapped].sum())
        yield Line("shown first", roles.shown_first, "left is what was shown first; swapped", n)
    for role, column in (("judge", rows.judge), ("group", rows.group)):
        if column is not None:
            yield _unit(role, named[role], column, rows.n)
    if rows.time is not None and roles.time is not None:
        times = rows.time[np.isfinite(rows.time)]
        words = _span(times) if len(times) else "no times"
        yield Line("time", roles.time, words, len(times))
    if roles.weight is not None:
        n_duels = rows.weight.sum()
        yield Line("weight", roles.weight, f"{n_duels:,.0f} duels", None)
    if roles.sampling_weight is not None:
        yield Line("sampling weight", roles.sampling_weight, "weights of a survey", None)
    if rows.by is not None and roles.by is not None:
        n_logs = len(_labels(rows.by))
        yield Line("by", roles.by, f"a log for each of {n_logs:,} values", None)
    for name in roles.covariates:
        yield Line("covariate", named[f"covariate {name}"], "left minus right", None)
    for name, column in zip(roles.kept, rows.kept, strict=True):
        labels = _labels(column)
        n_values = count(len(labels), "value")
        yield Line("kept", name, n_values, None)


def _unit(role: str, name: str, column: Coded, n: np.ndarray) -> Line:
    """Return the line of a judge or a group.

    It is noticed where many rows name none, and others repeat theirs.
    """
    counted = _counts(column, n)
    sizes = [size for text, size in counted.items() if label_of(text) is not None]
    least = min(sizes, default=0)
    most = max(sizes, default=0)
    words = count(len(sizes), role)
    if sizes:
        spread = f"{least:,} to " if least < most else ""
        largest = count(most, "row")
        words += f", {spread}{largest} each"
    n_rows = int(n.sum())
    n_named = sum(sizes)
    without = n_rows - n_named
    if without:
        name_none = "name" if without > 1 else "names"
        unnamed = count(without, "row")
        words += f"; {unnamed} {name_none} none, each taken as a {role} of its own"
    noticed = most > 1 and without >= MANY_MISSING * n_rows
    return Line(role, name, words, n_named, noticed=noticed)


def _left_out(
    source: "Source",
    roles: Roles,
    rows: Rows,
    examined: Examined,
    faults: Sequence[tuple[str, str, int]],
) -> Iterator[Line]:
    """Yield what was left out, and why."""
    for why, n in source.left_out():
        yield Line("left out", "", why, n)
    asked = examined.left_out
    for why, entries in examined.no_duel.items():
        n = int(rows.n[entries].sum())
        yield Line("left out", "", why, n)
        asked = asked & ~entries
    if rows.outcome is not None and examined.reading is not None:
        some = np.flatnonzero(asked)
        column = rows.outcome.take(some)
        for text, n in _counts(column, rows.n[some]).items():
            value = shorten(text, LONGEST)
            why = f'"{value}", as asked'
            yield Line("left out", roles.outcome or "", why, n)
    if faults:
        where, what, _ = faults[0]
        n = sum(k for *_, k in faults)
        yield Line("left out", "", f"bad rows, the first at {where}: {what}", n)


def not_used(source: "FileSource | FrameSource", taken: set[str]) -> Iterator[Line]:
    """Yield the columns that are not used, with what they might be.

    taken: those that have a role.
    """
    used = {*taken, *source.taken}
    free = [name for name in source.columns() if name not in used]
    if not free:
        return
    columns = Columns({name: name for name in free})
    timed = "time" in taken
    for name, column in source.peek(columns, PEEKED).items():
        yield _unused(name, column, timed)


def _unused(name: str, column: Coded, timed: bool) -> Line:
    """Return the line of a column that is not used.

    timed: whether another column has the times.
    """
    counted = column.counts()
    sizes = np.sort(counted[counted > 0])
    n_rows = int(counted.sum())
    n_values = len(sizes)
    values = count(n_values, "value")
    texts = {text.strip() for text in column.values} - {""}
    forms = formats_in_doubt(texts)
    if forms:
        each = [as_options(time_format=form) for form in forms]
        options = join(each, word="or")
        words = f"{values}, dates in doubt: which number is the day? {options} says it"
        of_times = plain(name) in (*TIME, *DATES)
        return Line("not used", name, words, n_rows, noticed=of_times and not timed)
    if not n_values:
        return Line("not used", name, "no value", n_rows)
    words = values
    if len(column.code) >= PEEKED:
        words += f" in the first {PEEKED:,} rows"
    hint = ""
    repeats = 1 < n_values and n_rows > REPEATED * n_values
    if repeats and not measures(name, _counts(column, None)):
        typical = int(sizes[n_values // 2])
        if typical > 1:
            words += f", most in {typical:,} rows"
        option = "by" if n_values <= FEW else "group"
        hint = as_options(**{option: name})
    return Line("not used", name, words, n_rows, hint)


def measures(name: str, texts: Iterable[str]) -> bool:
    """Return whether a column holds measurements: numbers, unless its name says what they name."""
    numbers = all(re.fullmatch(rf"({NUMBER})\s*%?", text) for text in texts)
    return numbers and not plain(name).endswith(IDS)


def _span(known: np.ndarray) -> str:
    """Return the first and the last of some times in words; numbers may be Unix seconds."""
    first = known.min()
    last = known.max()
    words = f"{_moment(first)} to {_moment(last)}"
    if known.dtype.kind == "M":
        return words
    # Seconds since 1970 at the start of 2000 and of 2100
    if not 946_684_800 <= first <= last < 4_102_444_800:
        return words
    start, end = np.array([first, last]).astype("datetime64[s]")
    dates = f"{_moment(start)} to {_moment(end)}"
    return f"{words} (Unix seconds: {dates})"


def _moment(value: Any) -> str:
    """Return a time in words."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        to_the_day = text.removesuffix("T00:00:00")
        return to_the_day.replace("T", " ")
    return significant(float(value), 6)


def _labels(column: Coded, rows: np.ndarray | None = None) -> set[str]:
    """Return the labels of a column in some rows."""
    if rows is not None:
        column = column.take(rows)
    occurring = np.flatnonzero(column.counts())
    return {column.values[k].strip() for k in occurring}


def _counts(column: Coded, n: np.ndarray | None) -> dict[str, int]:
    """Return how many rows have each value, the most frequent first."""
    return {text.strip(): count for text, count in column.most_frequent(n).items()}
