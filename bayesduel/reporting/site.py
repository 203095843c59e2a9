"""A site of a log: the leaderboard, a page and JSON for each arm, compared with what stood there.

The folder is its own memory: ``site.json`` holds the name of each arm's page, so that links stay,
and the dates of all editions; ``editions/DATE.json`` holds the leaderboard of each.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.analysis import Analysis
from bayesduel.reporting.html import assets, page
from bayesduel.reporting.leaderboard import counts_of_pairs, page_names
from bayesduel.reporting.ranking import controlled_words
from bayesduel.reporting.ranking_table import rating_words, score_words
from bayesduel.reporting.report import analysed, files_read, sections
from bayesduel.reporting.section import Cell, Section, Table, Verdict, blocks
from bayesduel.system.arguments import check_call, check_text, path_of, shown_value
from bayesduel.system.atomic_write import check_not_read, write_texts
from bayesduel.text import count, join, percent, plural, rank_range, to_json

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["site"]

INDEX = "index.html"
MEMORY = "site.json"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")  # of the page of an arm
ALL = 100  # arms up to which a page has all opponents; of more, those met and the NEAREST
NUMBERS = ("rank", "rank_lower", "rank_upper", "win_rate")  # that are read of an edition
NEAREST = 10  # in rank, to either side: a screen of opponents

Row = dict[str, Any]


@dataclass(frozen=True)
class Edition:
    """The leaderboard of a date."""

    date: str  # as "2026-11-25"
    rows: Mapping[str, Row]  # what its file holds of each arm, by arm, the best first
    about: Mapping[str, Any]  # what else it holds: verdict, model and number of duels

    def to_json(self) -> str:
        """Return it as its file holds it."""
        ranking = list(self.rows.values())
        return to_json({"date": self.date, **self.about, "ranking": ranking})


def site(
    log: Any,
    folder: str | Path,
    *,
    duels: "Duels | None" = None,
    title: str | None = None,
    date: str | None = None,
    command: str | None = None,
    step: Callable[[str], None] = lambda name: None,
    **options: Any,
) -> Path:
    """Write the site of a log: a folder of pages that any server of files can publish.

    ``index.html`` is the report with a leaderboard whose arms link to pages of their own,
    ``arms/NAME.html``: what an arm won against each opponent, and its earlier ranks. Numbers are
    beside them, not rounded: ``ranking.json`` and ``arms/NAME.json``. Written into the same folder
    again, links stay, the edition before is compared, and ``editions/DATE.json`` keeps the
    leaderboard of every date. All files are written, or none; other files of the folder stay.

    Parameters
    ----------
    log, duels
        A log, a frame of one, or a fit (with the log it was made of), as in
        :func:`bayesduel.report`.
    folder
        The folder to write to; made if it does not exist.
    title
        Heading. Default: the one that was given for the edition before, or the name of the log's
        file.
    date
        Of the edition, as "2026-11-25"; one of the same date is replaced. Default: today (UTC).
    command
        The command that made it, to be shown in it.
    step
        Called with the name of each step before it begins.
    options
        ``model``, ``method``, ``draws``, ``seed``, ``rope``, ``confidence``, ``anchor``,
        ``points``, ``against``, ``compare`` and ``noun``, as in :func:`bayesduel.report`.

    Returns
    -------
    The path of ``index.html``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `date` is before that of an edition, or the folder has
        an ``index.html`` that is of no site, or a file of a site that is damaged.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> bd.site(bd.datasets.load("tennis1990"), "public", title="Tennis").name
    'index.html'
    """
    folder = path_of(folder, "folder")
    for name, value in {"title": title, "date": date, "command": command}.items():
        check_text(value, name, none=True)
    check_call(step, "step")
    if isinstance(log, dict):
        raise TypeError("log should be one log or fit; a site of several is a site each")
    held = _memory(folder)
    if date is None:
        today = datetime.now(UTC).date().isoformat()
    else:
        today = _date(date, "date")
    dates = held["editions"]
    last = dates[-1] if dates else ""
    if today < last:
        raise ValueError(f"date should not be before that of the last edition, {last}, got {today}")
    one = analysed(log, duels, options, step)
    if not isinstance(one, Analysis):
        kind = type(one).__name__
        raise TypeError(f"log should be a Duels or a fit, got {kind}")
    earlier = [_edition(folder, old) for old in dates if old < today]
    step("writing pages")
    title = title or held["title"]
    parts = sections(one, command=command)
    made = _Pages(one, title, today, earlier, held["pages"], parts)
    read = files_read({"": log}, duels)
    for name in (INDEX, MEMORY):
        check_not_read(folder / name, read, "folder")
    write_texts(folder, made.texts())
    return folder / INDEX


def _memory(folder: Path) -> dict[str, Any]:
    """Return what ``site.json`` holds, checked: names of pages become paths."""
    path = folder / MEMORY
    if not path.exists():
        if (folder / INDEX).exists():
            raise ValueError(
                f"folder should be new or a site of bayesduel, got {folder}, whose {INDEX} is "
                "another page: name another folder"
            )
        return {"title": None, "editions": [], "pages": {}}
    held = _json(path)
    if not isinstance(held, dict):
        held = {}
    pages = held.get("pages")
    editions = held.get("editions")
    title = held.get("title")
    names = [str(name) for name in pages.values()] if isinstance(pages, dict) else [""]
    named = all(map(NAME.fullmatch, names))
    distinct = set(names)
    if not named or len(distinct) < len(names):
        raise ValueError(f"{path} is damaged: pages should be names of small letters and digits")
    titled = title is None or isinstance(title, str)
    if not titled or not isinstance(editions, list):
        raise ValueError(f"{path} is damaged: it should have a title and a list of editions")
    for old in editions:
        _date(old, f"{path} is damaged: an edition")
    return {"title": title, "editions": sorted(editions), "pages": pages}


def _json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{path} is damaged: it should be JSON: {error}") from None


def _date(value: Any, name: str) -> str:
    try:
        midnight = datetime.strptime(value, "%Y-%m-%d")
    except (TypeError, ValueError):
        got = shown_value(value)
        raise ValueError(f'{name} should be a date such as "2026-11-25", got {got}') from None
    return midnight.date().isoformat()


def _edition(folder: Path, day: str) -> Edition:
    """Return an earlier edition; raise ValueError if its file is not as it was written."""
    path = folder / "editions" / f"{day}.json"
    held = _json(path)
    rows = held.pop("ranking", None) if isinstance(held, dict) else None
    if not isinstance(rows, list) or not all(map(_whole, rows)):
        raise ValueError(
            f"{path} is damaged: each row of the ranking should have an arm and the numbers "
            f"{join(NUMBERS)} (borda_mean of an earlier version is now called win_rate)"
        )
    by_arm = {row["arm"]: row for row in rows}
    return Edition(day, by_arm, {**held, "date": day})


def _whole(row: Any) -> bool:
    """Return whether a row of an earlier edition has what is read of it."""
    if not isinstance(row, dict) or not isinstance(row.get("arm"), str):
        return False
    names = [*NUMBERS]
    if "rating" in row:
        names.append("rating")
    read = [row.get(name) for name in names]
    return all(isinstance(x, int | float) and math.isfinite(x) for x in read)


class _Pages:
    """The files of a site.

    one: the analysis of the log.
    title: heading of the first page, if one was given. Default: the name of the log.
    today: date of the edition.
    earlier: editions before it, in order.
    known: names of the pages that there are, by arm.
    parts: sections of the report.
    """

    def __init__(
        self,
        one: Analysis,
        title: str | None,
        today: str,
        earlier: Sequence[Edition],
        known: Mapping[str, str],
        parts: Sequence[Section],
    ) -> None:
        self._one = one
        self._given = title
        self._title = title or one.duels.read_summary.title
        self._parts = parts
        self._board = next(part for part in parts if part.id == "ranking")
        content = self._board.tables["ranking"].content
        rows = _as_rows(content)
        attrs = one.winners.attrs
        about = {
            "verdict": str(attrs["verdict"]),
            "model": str(attrs["model"]),
            "duels": one.duels.n_duels,
        }
        by_arm = {str(row["arm"]): row for row in rows}
        self._now = Edition(today, by_arm, about)
        self._earlier = earlier
        self._names = page_names(self._now.rows, known)
        self._links = {}
        for arm, name in self._names.items():
            self._links[arm] = Cell(arm, href=f"{name}.html")
        self._gone = [arm for arm in known if arm not in self._now.rows]
        confidence = 100 * attrs["confidence"]
        self._level = f"{confidence:g} %"
        self._pairs = counts_of_pairs(one.by_pair, one.duels, [*self._now.rows])

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each file."""
        today = self._now.date
        days = [*(old.date for old in self._earlier), today]
        yield INDEX, self._index()
        yield from assets().items()
        ranking = self._now.to_json()
        yield "ranking.json", ranking
        yield f"editions/{today}.json", ranking
        for arm, row in self._now.rows.items():
            name = self._names[arm]
            opponents = self._opponents(arm)
            parts = self._arm(arm, opponents)
            yield f"arms/{name}.html", self._page(arm, parts)
            held = {"date": today, **row}
            held["opponents"] = _as_rows(opponents)
            held["editions"] = self._past(arm)
            text = json.dumps(held, ensure_ascii=False, allow_nan=False)
            yield f"arms/{name}.json", text
        for arm in self._gone:
            parts = self._absent(arm)
            yield f"arms/{self._names[arm]}.html", self._page(arm, parts)
        memory = {"title": self._given, "editions": days, "pages": self._names}
        yield MEMORY, to_json(memory)

    def _page(self, title: str, parts: Sequence[Section]) -> str:
        return page(title, {"": parts}, subject=self._title, home=("../", self._title))

    def _index(self) -> str:
        board = self._board
        table = board.tables["ranking"]
        last = self._earlier[-1] if self._earlier else None
        changes = _changes(last.rows, self._now.rows) if last is not None else {}
        rows = []
        for arm, cells in zip(self._now.rows, table.cells, strict=False):
            rank, label, *further = cells
            link = replace(label, href=f"arms/{self._names[arm]}.html")
            row = [rank, link, *further]
            if last is not None:
                row.append(_moved(changes[arm]))
            rows.append(tuple(row))
        linked = replace(table, rows=tuple(rows))
        words = None
        if last is not None:
            heads = (*table.heads, f"since\n{last.date}")
            linked = replace(linked, columns=f"{table.columns}t", heads=heads)
            words = _words(last, self._now, changes, self._one.noun)
        body = [linked if block is table else block for block in board.body]
        board = replace(board, body=blocks(words, *body))
        parts = [board if part is self._board else part for part in self._parts]
        parts.append(self._editions())
        return page(self._title, {"": parts}, subject="paired comparisons")

    def _editions(self) -> Section:
        rows = []
        for old in (self._now, *reversed(self._earlier)):
            date = Cell(old.date, href=f"editions/{old.date}.json")
            first = next(iter(old.rows), "")
            n_arms = f"{len(old.rows):,}"
            n_duels = old.about.get("duels")
            duels = f"{n_duels:,}" if isinstance(n_duels, int) else ""
            rows.append((date, first, n_arms, duels))
        heads = ("edition", "first", plural(self._one.noun), "duels")
        table = Table(columns="tlnn", heads=heads, rows=tuple(rows))
        return Section(id="editions", title="Editions", body=blocks(table))

    def _arm(self, arm: str, opponents: Mapping[str, list[Any]]) -> list[Section]:
        """Return the sections of the page of an arm."""
        row = self._now.rows[arm]
        one = self._one
        words = [f"Win rate: {score_words(row)}."]
        if "rating" in row:
            words.insert(0, f"Rating: {rating_words(row)}.")
        ties = f", {row['ties']:,.0f} tied" if one.duels.n_ties else ""
        met = count(int(row["opponents"]), "opponent")
        won_and_lost = f"{row['wins']:,.0f} won, {row['losses']:,.0f} lost"
        duels = count(round(row["duels"]), "duel")
        words.append(f"{duels} with {met}: {won_and_lost}{ties}.")
        ranks = rank_range(row["rank_lower"], row["rank_upper"])
        n_arms = f"{len(self._now.rows):,}"
        controlled = controlled_words(one, "ranks are those")
        note = f"Edition of {self._now.date}. {controlled}"
        said = Verdict(
            headline=f"Rank {row['rank']} of {n_arms} ({self._level} interval: {ranks}).",
            text=(" ".join(words),),
            note=note.strip(),
        )
        verdict = Section(id="verdict", body=blocks(said))
        against = self._against(arm, opponents)
        return [verdict, against, *self._history(arm)]

    def _absent(self, arm: str) -> list[Section]:
        """Return the sections of the page of an arm that the log has no longer."""
        said = Verdict(headline=f"Not in the edition of {self._now.date}.", settled=False)
        verdict = Section(id="verdict", body=blocks(said))
        return [verdict, *self._history(arm)]

    def _opponents(self, arm: str) -> dict[str, list[Any]]:
        """Return the opponents that the page of an arm lists, by rank: their numbers by name."""
        numbers = self._pairs(arm)
        rows = list(self._now.rows.values())
        own = int(self._now.rows[arm]["rank"]) - 1
        places = np.arange(len(rows))
        met = numbers["duels"] > 0
        near = np.abs(places - own) <= NEAREST
        shown = met | near
        if len(rows) <= ALL:
            shown[:] = True
        shown[own] = False
        listed = np.flatnonzero(shown)
        opponents = [rows[k] for k in listed.tolist()]
        found = {name: [row[name] for row in opponents] for name in ("rank", "arm")}
        for name, values in numbers.items():
            found[name] = values[listed].tolist()
        return found

    def _against(self, arm: str, opponents: Mapping[str, list[Any]]) -> Section:
        """Return the section on the opponents of an arm, given by column."""
        modelled = "mean" in opponents
        counts = ["duels", "won", "lost"]
        if self._one.duels.n_ties:
            counts.append("tied")
        name = "win rate"
        columns: list[tuple[str, str, list[str | Cell]]] = [
            ("n", "rank", [f"{rank}" for rank in opponents["rank"]]),
            ("l", "opponent", [self._links[other] for other in opponents["arm"]]),
        ]
        if modelled:
            means = opponents["mean"]
            intervals = map(_interval, means, opponents["lower"], opponents["upper"])
            columns.append(("n", name, [f"{percent(mean)} %" for mean in means]))
            columns.append(("b", f"{self._level} interval", list(intervals)))
        for head in counts:
            columns.append(("n", head, [f"{n:,.0f}" for n in opponents[head]]))
        letters, heads, cells = zip(*columns, strict=True)
        caption = ""
        if modelled:
            model = self._one.by_pair.attrs["model"]
            caption = f"{name.capitalize()} of {join([arm])} by the model {model}."
        n_others = len(self._now.rows) - 1
        if len(opponents["arm"]) < n_others:
            caption += f" Opponents met, and the {NEAREST} nearest in rank to either side."
        table = Table(
            columns="".join(letters),
            heads=heads,
            rows=tuple(zip(*cells, strict=True)),
            full=True,
            caption=caption,
            board=True,
            file=f"{self._names[arm]}.json",
        )
        return Section(id="opponents", title="Against each opponent", body=blocks(table))

    def _past(self, arm: str) -> list[Row]:
        """Return date, rank and rating of an arm in every edition, the newest first."""
        kept = (*NUMBERS, "rating")
        found = []
        for old in (self._now, *reversed(self._earlier)):
            row = old.rows.get(arm)
            if row is None:
                continue
            numbers = {name: row[name] for name in kept if name in row}
            found.append({"date": old.date, **numbers})
        return found

    def _history(self, arm: str) -> list[Section]:
        """Return the section on earlier editions, if there are any."""
        past = self._past(arm)
        if not self._earlier or not past:
            return []
        rows = []
        for old in past:
            score = f"{percent(old['win_rate'])} %"
            if "rating" in old:
                score = f"{old['rating']:.0f}"
            ranks = rank_range(old["rank_lower"], old["rank_upper"])
            rows.append((old["date"], f"{old['rank']}", ranks, score))
        name = "rating" if "rating" in past[0] else "win rate"
        heads = ("edition", "rank", "rank interval", name)
        table = Table(columns="tnnn", heads=heads, rows=tuple(rows))
        return [Section(id="editions", title="Editions", body=blocks(table))]


def _as_rows(columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return columns as rows, values by name."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _interval(mean: float, lower: float, upper: float) -> Cell:
    start = 100 * lower
    middle = 100 * mean
    width = 100 * upper - start
    bar = round(start, 1), round(middle, 1), round(width, 1)
    return Cell(f"{percent(lower)} to {percent(upper)}", bar=bar)


def _changes(old: Mapping[str, Row], new: Mapping[str, Row]) -> dict[str, tuple[int, bool] | None]:
    """Return of each arm how many places it has risen, and whether out of its rank interval.

    Among the arms of both editions, so that one that is new moves nobody; None where it is new.
    """
    both = [arm for arm in new if arm in old]
    before = sorted(both, key=lambda arm: old[arm]["rank"])
    place = {arm: k for k, arm in enumerate(before)}
    found: dict[str, tuple[int, bool] | None] = dict.fromkeys(new)
    for k, (arm, there) in enumerate(zip(both, before, strict=True)):
        own = old[arm]
        inside = own["rank_lower"] <= old[there]["rank"] <= own["rank_upper"]
        found[arm] = place[arm] - k, not inside
    return found


def _moved(change: tuple[int, bool] | None) -> Cell:
    if change is None:
        return Cell("new")
    places, out = change
    if not places:
        return Cell("same", style="plain")
    direction = "up" if places > 0 else "down"
    return Cell(f"{direction} {abs(places)}", style="strong" if out else "plain")


def _words(
    last: Edition, now: Edition, changes: Mapping[str, tuple[int, bool] | None], noun: str
) -> str:
    """Return what has changed since the edition before, and what of it is more than noise."""
    both = {arm: change for arm, change in changes.items() if change is not None}
    moved = [arm for arm, (places, _) in both.items() if places]
    out = []
    for arm in moved:
        _, outside = both[arm]
        if outside:
            out.append(f"{arm} ({_moved(both[arm]).text})")
    n_moved = f"{len(moved):,}" if moved else "none"
    have = "has" if len(moved) == 1 else "have"
    n_both = count(len(both), noun)
    since = f"Since the edition of {last.date}"
    found = f"{since}, {n_moved} of the {n_both} in both {have} changed places"
    if out:
        found += f", outside the rank interval that they had: {join(out)}"
    elif moved:
        found += ", none outside the rank interval that it had"
    found += "."
    new = [arm for arm in now.rows if arm not in last.rows]
    gone = [arm for arm in last.rows if arm not in now.rows]
    if new:
        found += f" New: {join(new)}."
    if gone:
        found += f" No longer in the log: {join(gone)}."
    return found
