"""What a log that was read was taken for, as a record."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.labels import alike_words, labels_alike
from bayesduel.data.read.columns import FEW, REPEATED, Columns, Roles, plain
from bayesduel.data.read.dates import formats_in_doubt
from bayesduel.data.read.duckdb_source import PEEKED
from bayesduel.data.read.faults import Examined, label_of
from bayesduel.data.read.outcomes import (
    LOSERS_NAME,
    NAMED,
    WINNERS_NAME,
    WON,
    Code,
    Meaning,
    says_both_bad,
)
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
UNIX = (946_684_800, 4_102_444_800)  # seconds since 1970 at the start of 2000 and of 2100


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
    lines += not_used(source, {*roles.taken.values()})
    n_rows = int(rows.n.sum())
    own = [line._replace(column=source.roles.get(line.column, line.column)) for line in lines]
    return Reading(source=source.words, n_rows=n_rows, shape=source.shape, lines=tuple(own))


def notice_of(reading: Reading, roles: Roles, meaning: Meaning | None) -> list[str]:
    """Return what a reader of the log should know and did not say, a sentence each."""
    said = []
    outcome = reading.line("outcome")
    given = roles.coding is not None or roles.asked is not None
    if outcome is not None and meaning is not None and not given:
        if meaning.coding not in PLAIN and not (meaning.grades or meaning.shares):
            said.append(f"{outcome.column}: {outcome.understood}")
    said += [f"{line.column}: {line.words}" for line in reading.lines if line.noticed]
    said += [
        f"left out: {line.understood} ({count(line.rows or 0, 'row')})" for line in reading.left_out
    ]
    shared = reading.shared
    if shared and roles.judge is None and roles.group is None:
        named = [f"{line.column} ({line.understood})" for line in shared[:SHOWN]]
        more = f" and {len(shared) - SHOWN:,} more" if len(shared) > SHOWN else ""
        said.append(
            f"not used: {', '.join(named)}{more}; votes with the same value may be alike: name "
            f"the column by {as_options(judge=None)} or {as_options(group=None)}"
        )
    return said


def _arms(roles: Roles, rows: Rows, examined: Examined) -> Iterator[Line]:
    duels = None  # all
    if examined.no_duel:
        duels = ~np.any([*examined.no_duel.values()], axis=0)
    lefts = _labels(rows.left, duels)
    rights = _labels(rows.right, duels)
    named = roles.words
    what = "arm" if roles.teams is None else "side"
    joined = _joined(lefts | rights) if roles.teams is None else ""
    parts = ""
    noticed = bool(joined)
    if roles.teams is not None:
        members = {member for side in split_sides(lefts | rights, MEMBERS) for member in side}
        parts = f" of {count(len(members), 'member')}"
        both = _share_a_member(rows)
        if shared := int(rows.n[both if duels is None else both & duels].sum()):
            parts += f"; in {count(shared, 'row')} both sides have a member, which cancels"
            noticed = True
    elif joined:
        parts = ", whose labels may be of several members"
    hint = as_options(teams=joined) if joined else ""
    if alike := alike_words(labels_alike(sorted(lefts | rights))):
        parts += f"; {alike}"
        noticed = True
    words = f"{count(len(lefts), what)}{parts}"
    of_arms = roles.teams is None  # else the words count sides
    first = Line("left", named["left"], words, _known(rows, rows.left), hint, noticed)
    yield first._replace(n_arms=len(lefts) if of_arms else None)
    again = f"{count(len(rights), what)}, the same"
    if lefts != rights:
        again = f"{count(len(rights), what)}, {len(lefts & rights):,} of them also on the left"
    second = Line("right", named["right"], again, _known(rows, rows.right))
    yield second._replace(n_arms=len(rights) if of_arms else None)


def _share_a_member(rows: Rows) -> np.ndarray:
    """Return in which rows two different sides have a member in common."""
    pairs = np.stack([rows.left.code, rows.right.code], axis=1)
    different, row = np.unique(pairs, axis=0, return_inverse=True)
    lefts, rights = ([set(t.split(MEMBERS)) for t in c.values] for c in (rows.left, rows.right))
    found = [
        min(i, j) >= 0 and lefts[i] != rights[j] and not lefts[i].isdisjoint(rights[j])
        for i, j in different.tolist()
    ]
    return np.array(found, dtype=bool)[row.ravel()]


def _joined(labels: set[str]) -> str:
    """Return what joins the members in every label, as of doubles ("d, e"), or ""."""
    for separator in SEPARATORS:
        if all(separator in label for label in labels):
            members = {member for side in split_sides(labels, separator) for member in side}
            if len(members) < len(labels):
                return separator
    return ""


def _known(rows: Rows, column: Coded) -> int:
    """Return the number of rows that name something in a column."""
    return int(rows.n[column.code >= 0].sum())


def _outcome(roles: Roles, rows: Rows, examined: Examined, neither: str | None) -> Iterator[Line]:
    meaning = examined.reading
    if roles.outcome is None or rows.outcome is None or meaning is None:
        if roles.margin is None:
            yield Line("outcome", "", "left won every duel", None)
        return
    used = (examined.fault == 0) & ~examined.left_out
    column = rows.outcome
    if examined.left_out.any():
        column = Coded(column.values, np.where(examined.left_out, -1, column.code))
    arms = {text.casefold() for side in (rows.left, rows.right) for text in _labels(side)}
    counted = _counts(column, rows.n)
    words = _meaning_in_words(meaning, roles, counted, arms, neither)
    yield Line("outcome", roles.outcome, words, int(rows.n[used].sum()))


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
        values = [meaning.shares[key] for t in counted if (key := meaning.key(t)) in meaning.shares]
        return f"the probability that left is better, {min(values):g} to {max(values):g}"
    if meaning.margins is not None:
        better = "lower" if roles.lower_is_better else "higher"
        return f"two scores, left's first; the {better} is better"
    understood = {text: meaning.says(text) for text in counted}
    if neither is not None:
        ties = [text for text, words in understood.items() if words == WON[Code.TIE]]
        understood |= {text: _of_tie(text, neither) for text in ties}
    known = [text for text, words in understood.items() if words]
    if meaning.by_name:
        others = known if meaning.exact else [t for t in known if t.casefold() not in arms]
        ties = [text for text in others if understood[text] not in (WINNERS_NAME, LOSERS_NAME)]
        who = "the name of the loser" if meaning.loser else "the name of the winner"
        return ", ".join([who, *_listed(ties, understood, counted)])
    return ", ".join(_listed(known, understood, counted))


def _of_tie(text: str, neither: str) -> str:
    """Return what a tie means where `neither` is the arm that wins the votes "both bad"."""
    return f"{neither} wins" if says_both_bad(text) else f"{WON[Code.TIE]} left out"


def _listed(
    texts: Sequence[str], understood: Mapping[str, str], counted: Mapping[str, int]
) -> list[str]:
    """Return values with what they mean and their numbers of rows."""
    shown = []
    for text in texts[:SHOWN]:
        words = understood[text]
        said = words if words.startswith(text) else f"{shorten(text, LONGEST)} {words}"
        shown.append(f"{said} ({counted[text]:,})")
    if rest := texts[SHOWN:]:
        n = sum(counted[text] for text in rest)
        shown.append(f"{count(len(rest), 'other value')} ({n:,})")
    return shown


def _others(roles: Roles, rows: Rows, examined: Examined) -> Iterator[Line]:
    """Yield the lines of the further roles."""
    named = roles.words
    better = "lower" if roles.lower_is_better else "higher"
    if rows.margin is not None:
        n = int(rows.n[np.isfinite(rows.margin)].sum())
        what = "two scores" if roles.margin_right else "left's score minus right's"
        yield Line("margin", named["margin"], f"{what}; the {better} is better", n)
    if rows.tie is not None and roles.tie is not None:
        ties = int(rows.n[examined.outcome == 0].sum())
        yield Line("tie", roles.tie, "true: a tie", ties)
    if examined.swapped is not None and roles.shown_first is not None:
        n = int(rows.n[examined.swapped].sum())
        yield Line("shown first", roles.shown_first, "left is what was shown first; swapped", n)
    for role, column in (("judge", rows.judge), ("group", rows.group)):
        if column is not None:
            yield _unit(role, named[role], column, rows.n)
    if rows.time is not None and roles.time is not None:
        known = rows.time[~np.isnat(rows.time)] if rows.time.dtype.kind == "M" else rows.time
        known = known if known.dtype.kind == "M" else known[np.isfinite(known)]
        words = "no times"
        if len(known):
            words = _span(known)
        yield Line("time", roles.time, words, len(known))
    if roles.weight is not None:
        yield Line("weight", roles.weight, f"{rows.weight.sum():,.0f} duels", None)
    if roles.sampling_weight is not None:
        yield Line("sampling weight", roles.sampling_weight, "weights of a survey", None)
    if rows.by is not None and roles.by is not None:
        yield Line("by", roles.by, f"a log for each of {len(_labels(rows.by)):,} values", None)
    for name in roles.covariates:
        yield Line("covariate", named[f"covariate {name}"], "left minus right", None)
    for name, column in zip(roles.kept, rows.kept, strict=True):
        yield Line("kept", name, count(len(_labels(column)), "value"), None)


def _unit(role: str, name: str, column: Coded, n: np.ndarray) -> Line:
    """Return the line of a judge or a group.

    It is noticed where many rows name none, and others repeat theirs.
    """
    counted = {t: k for t, k in _counts(column, n).items() if label_of(t) is not None}
    sizes = sorted(counted.values())
    each = ""
    if sizes:
        spread = f"{sizes[0]:,} to " if sizes[0] < sizes[-1] else ""
        each = f", {spread}{count(sizes[-1], 'row')} each"
    n_rows = int(n.sum())
    without = n_rows - sum(sizes)
    unnamed = ""
    if without:
        name_none = "name" if without > 1 else "names"
        unnamed = f"; {count(without, 'row')} {name_none} none, each taken as a {role} of its own"
    noticed = max(sizes, default=0) > 1 and without >= MANY_MISSING * n_rows
    words = f"{count(len(counted), role)}{each}{unnamed}"
    return Line(role, name, words, sum(sizes), noticed=noticed)


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
    for why, entries in examined.no_duel.items():
        yield Line("left out", "", why, int(rows.n[entries].sum()))
    if rows.outcome is not None and examined.reading is not None:
        out = examined.left_out
        for entries in examined.no_duel.values():
            out = out & ~entries
        some = np.flatnonzero(out)
        column = Coded(rows.outcome.values, rows.outcome.code[some])
        for text, n in _counts(column, rows.n[some]).items():
            yield Line("left out", roles.outcome or "", f'"{shorten(text, LONGEST)}", as asked', n)
    if faults:
        where, what, _ = faults[0]
        n = sum(k for *_, k in faults)
        yield Line("left out", "", f"bad rows, the first at {where}: {what}", n)


def not_used(source: "FileSource | FrameSource", taken: set[str]) -> Iterator[Line]:
    """Yield the columns that are not used, with what they might be.

    taken: those that have a role.
    """
    free = [name for name in source.columns() if name not in {*taken, *source.taken}]
    if not free:
        return
    for name, column in source.peek(Columns({name: name for name in free}), PEEKED).items():
        counted = column.counts()
        n_rows = int(counted.sum())
        n_values = int((counted > 0).sum())
        sure = len(column.code) < PEEKED
        hint = ""
        words = "no value"
        if n_values:
            words = count(n_values, "value")
            words += "" if sure else f" in the first {PEEKED:,} rows"
        repeats = 1 < n_values and n_rows > REPEATED * n_values
        if repeats and not measures(name, _counts(column, None)):
            typical = int(np.sort(counted[counted > 0])[n_values // 2])
            words += f", most in {typical:,} rows" if typical > 1 else ""
            option = "by" if n_values <= FEW else "group"
            hint = as_options(**{option: name})
        noticed = False
        texts = {text.strip() for text in column.values} - {""}
        if forms := formats_in_doubt(texts):
            options = join([as_options(time_format=form) for form in forms], word="or")
            words = f"{count(n_values, 'value')}, dates in doubt: which number is the day? "
            words += f"{options} says it"
            hint = ""
            noticed = plain(name) in (*TIME, *DATES) and "time" not in taken
        yield Line("not used", name, words, n_rows, hint, noticed)


def measures(name: str, texts: Iterable[str]) -> bool:
    """Return whether a column holds measurements: numbers, unless its name says what they name."""
    numbers = all(re.fullmatch(rf"({NUMBER})\s*%?", text) for text in texts)
    return numbers and not plain(name).endswith(IDS)


def _span(known: np.ndarray) -> str:
    """Return the first and the last of some times in words; numbers may be Unix seconds."""
    first = known.min()
    last = known.max()
    words = f"{_moment(first)} to {_moment(last)}"
    if known.dtype.kind == "M" or not UNIX[0] <= first <= last < UNIX[1]:
        return words
    dates = np.array([first, last]).astype("datetime64[s]")
    return f"{words} (Unix seconds: {_moment(dates[0])} to {_moment(dates[1])})"


def _moment(value: Any) -> str:
    """Return a time in words."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00").replace("T", " ")
    return significant(float(value), 6)


def _labels(column: Coded, rows: np.ndarray | None = None) -> set[str]:
    """Return the labels of a column in some rows."""
    some = column if rows is None else Coded(column.values, column.code[rows])
    return {some.values[k].strip() for k in np.flatnonzero(some.counts())}


def _counts(column: Coded, n: np.ndarray | None) -> dict[str, int]:
    """Return how many rows have each value, the most frequent first."""
    counted = column.counts(n)
    order = np.argsort(-counted, kind="stable")
    return {column.values[k].strip(): int(counted[k]) for k in order if counted[k] > 0}
