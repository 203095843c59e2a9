"""What judges are asked next: the policy's choice, gold, repeats, shared pairs, or of sources."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from shlex import quote
from threading import RLock
from time import time
from typing import Any, NoReturn, cast

import numpy as np

from bayesduel.study.items import SeenItems, chosen_items
from bayesduel.study.judging import Judging, failing, last_repeat, question, unseen_gold
from bayesduel.study.ledger import Ledger
from bayesduel.study.schema import TRAINING, Question, Row
from bayesduel.study.store import OF_JUDGE, PENDING, SHARED, USED, Store
from bayesduel.study.tickets import ticket_id
from bayesduel.system.arguments import by_reader
from bayesduel.text import join

__all__ = ["NoQuestion", "Questions", "StudyStopped", "locked"]


class StudyStopped(RuntimeError):
    """The study has enough, or somebody ended it: no further duel is asked for.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"], stop=bd.study.Budget(1))
    >>> study.tell(study.ask(), "left")
    >>> try:
    ...     study.ask()
    ... except bd.study.StudyStopped as answer:
    ...     print(answer)
    The study has stopped: 1 duel (stops at 1).
    """


class NoQuestion(StudyStopped):
    """There is no question now, or none for this judge; the study goes on.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"], judging=bd.study.Judging(quota=1))
    >>> study.tell(study.ask(judge="ann"), "left")
    >>> try:
    ...     study.ask(judge="ann")
    ... except bd.study.NoQuestion as answer:
    ...     print(answer)
    'ann' has reached the quota of 1 answers.
    """


def locked[F: Callable[..., Any]](method: F) -> F:
    """Return a method that one thread at a time enters."""

    @wraps(method)
    def entered(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return cast(F, entered)


class Questions:
    """What the judges of a study are asked next; threads may share it.

    store: its tickets and events.
    """

    def __init__(self, store: Store) -> None:
        self._lock = RLock()
        self.store = store
        self._settings: Mapping[str, Any] = store.all_settings()
        self._items = store.items()
        self._ledger = Ledger(store, self._settings)

    @property
    def _current(self) -> Ledger:
        """The ledger, brought up to the store."""
        self._ledger.catch_up()
        return self._ledger

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make what is done within one transaction: stored as a whole, or not at all."""
        ledger = self._ledger
        with self._lock:
            known = ledger.known
            try:
                with self.store.writing():
                    yield
            except BaseException:
                if ledger.known != known or not ledger.parts.session.driven:
                    ledger.forget()
                raise

    @contextmanager
    def compiled_meanwhile(self) -> Iterator[None]:
        """Let plain Python do the work of a small study while this thread compiles for it."""
        self._ledger.plain = True
        try:
            yield
        finally:
            self._ledger.plain = False

    def _barred(self, judge: str, own: Sequence[Row]) -> str:
        """Return why a judge is asked nothing any more, "" where the judge is."""
        judging = self._ledger.parts.judging
        because = self._ledger.excluded.get(judge)
        if because is not None:
            return f"excluded: {because}"
        if judging is not None and judging.on_fail == "screen out":
            failed = self._failed(judging, own)
            return failed and f"screened out: {failed}"
        return ""

    def _failed(self, judging: Judging, own: Sequence[Row]) -> str:
        """Return why a judge fails the gold questions, "" where the judge does not."""
        told = [row for row in own if row.state == "told" and row.batch != TRAINING]
        gold = [row for row in told if row.gold is not None]
        right = sum(row.outcome == row.gold for row in gold)
        if not failing(right, len(gold), judging.gold_pass):
            return ""
        return f"{right} of {len(gold)} gold questions right"

    def _asked_for(self, n: int, judge: str | None) -> list[Row]:
        ledger = self._current
        if ledger.end is not None:
            raise StudyStopped(f"{ledger.end.sentence} {self._how_to_resume()}")
        known: list[Row] = []
        waiting: list[Row] = []
        if judge is not None:
            known, waiting = self._of(judge)
            barred = self._barred(judge, known)
            if barred:
                raise NoQuestion(f"{judge!r} is {barred}.")
        own = waiting[:n]
        if len(own) == n:
            return own
        if ledger.reached:
            raise StudyStopped(f"The study has stopped: {ledger.decided().reason}.{self._open()}")
        if ledger.parts.session.sources is not None:
            try:
                return own + self._asked_of_sources(n - len(own), judge, known)
            except NoQuestion:
                if own:
                    return own
                raise
        reserved = self.store.reserved(ledger.late)
        n_reserved = sum(times for *_, times in reserved)
        n = int(min(n - len(own), ledger.left - n_reserved))
        return own + self._chosen(n, judge, known, reserved, found=bool(own))

    def _open(self) -> str:
        """Return the sentences that name open tickets and who gets one again; "" without any."""
        waiting = self.store.rows(PENDING, late=self._ledger.late)
        if not waiting:
            return ""
        key = self._settings["key"]
        names = []
        for row in waiting:
            whose = "" if row.judge is None else f" (judge {row.judge!r})"
            names.append(ticket_id(key, row.number) + whose)
        said = f" Open tickets: {join(names)}."
        judge = next((row.judge for row in waiting if row.judge is not None), None)
        if judge is None:
            return said
        again = self._call(f"study.ask(judge={judge!r})", "ask", f"--judge {quote(judge)}")
        return f"{said} Judge {judge!r} gets the ticket again with {again}."

    def _how_to_resume(self) -> str:
        """Return the sentence that says how an ended study is resumed."""
        return f"To resume it, use {self._call('study.resume()', 'resume')}."

    def _call(self, python: str, command: str, more: str = "") -> str:
        """Return the call, or the command on this study, for who reads a message."""
        words = f"bayesduel study {command} {quote(self.store.url)} {more}".rstrip()
        return by_reader(python, f"`{words}`")

    def _chosen(
        self,
        n: int,
        judge: str | None,
        known: list[Row],
        reserved: Sequence[tuple[int, int, int]],
        *,
        found: bool,
    ) -> list[Row]:
        """Return n new tickets of a judge whose tickets are known.

        None is no error where the judge was found to have open ones.
        """
        ledger = self._ledger
        own = []
        if found and n <= 0:
            return []
        if n <= 0:
            raise NoQuestion(f"Open tickets reserve the rest of the budget.{self._open()}")
        if judge is not None and ledger.parts.judging is not None:
            beside, n = self._beside(ledger.parts.judging, known, judge, n)
            own = self._stored(beside, judge, chosen=False) if beside else []
            if not n:
                return own
            known = [*known, *own]
        n_items = len(self._items)
        rng = ledger.rng(*ledger.known)
        seen = SeenItems(known, len(ledger.labels), n_items, once=self._is_person(judge))
        pairs = ledger.choose(n, rng, reserved, seen.room)
        used = self.store.found(USED) if n_items else ()
        asked = chosen_items(pairs, n_items, used, seen, rng, self._gold_of(known, judge))
        if asked or own or found:
            rows = own + (self._stored(asked, judge) if asked else [])
        elif judge is not None and not ledger.has_room(seen.room):
            rows = [self._again(judge, known)]
        else:
            self._no_duel()
        if len(asked) < n and not ledger.parts.session.driven:
            ledger.forget()  # the memory of the policy holds choices that are not stored
        return rows

    def _no_duel(self) -> NoReturn:
        ledger = self._ledger
        best = ledger.labels[ledger.decided().order[0]]
        name = type(ledger.parts.session.policy).__name__
        raise StudyStopped(
            f"{name} asks for no more duels, because it chose one arm twice. "
            f"The best so far is {best!r}."
        )

    def _is_person(self, judge: str | None) -> bool:
        """Return whether a judge is named, and not by the name of a source."""
        sources = self._ledger.parts.session.sources
        return judge is not None and (sources is None or judge not in sources.names)

    def _gold_of(
        self, known: list[Row], judge: str | None
    ) -> set[tuple[frozenset[int], int | None]]:
        """Return pair and item of the gold questions that a judge may still be asked."""
        judging = self._ledger.parts.judging
        if judge is None or judging is None:
            return set()
        gold = unseen_gold(judging, known, self._ledger.retired)
        return {(frozenset((q.left, q.right)), q.item) for q in gold}

    def _again(self, judge: str, known: list[Row]) -> Row:
        """Return what a judge who has seen all is asked again: an expired ticket, or a repeat.

        Raises NoQuestion if there is neither.
        """
        ledger = self._ledger
        for row in known:
            if row.state == "open" and not ledger.retired & {row.left, row.right}:
                now = time()
                self.store.happen(row, "reissued", "open", asked=now)
                return row._replace(asked=now)
        judging = ledger.parts.judging
        rng = np.random.default_rng([self._settings["seed"], 6, *ledger.known])
        one = None if judging is None else last_repeat(judging, known, ledger.retired, rng)
        if one is None:
            where = " on every item" if self._items else ""
            raise NoQuestion(f"{judge!r} has seen every pair{where}. Ask another judge.")
        (row,) = self._stored([one], judge, chosen=False)
        return row

    def _asked_of_sources(self, n: int, judge: str | None, known: list[Row]) -> list[Row]:
        """Return new tickets of the source that judges, or of those that are worth their cost.

        Raises NoQuestion if another source is to be asked now than the one that judges.
        """
        ledger = self._ledger
        n_items = len(self._items)
        sources = ledger.parts.session.sources
        assert sources is not None
        open_rows = self.store.rows(PENDING, late=ledger.late)
        waiting = [(sources.source_of(row.judge), row) for row in open_rows]
        of_target = [row for source, row in waiting if source == sources.target]
        left = int(min(n, ledger.left - len(of_target)))
        reserved = [(row.left, row.right, 1) for row in of_target]
        judging = sources.source_of(judge)
        if judge is not None and judging == sources.target:
            return self._chosen(left, judge, known, reserved, found=False)
        pending = [(source, row.left, row.right) for source, row in waiting]
        seen = [
            SeenItems(
                [] if s == sources.target else self._seen_by_source(name),
                len(ledger.labels),
                n_items,
                once=s != sources.target and n_items > 0,
            )
            for s, name in enumerate(sources.names)
        ]
        turns = ledger.parts.session.divide(n, pending, [each.pairs for each in seen])
        if judge is not None:
            turn = next((k for k, one in enumerate(turns) if one[0] != judging), n)
            if not turn:  # there are turns: pairs of the target are always open
                better = sources.names[turns[0][0]]
                raise NoQuestion(
                    f"A vote of {better} now gives more information per cost "
                    f"than a vote of {judge}: ask {better}."
                )
            turns = turns[:turn]
        found: list[Row] = []
        rng = ledger.rng(*ledger.known)
        awaited = [(i, j, 1) for _, i, j in pending]
        for s, name in enumerate(sources.names):
            pairs = [(i, j) for source, i, j in turns if source == s]
            mine = ledger.sided(pairs, awaited, rng)
            if mine and s == sources.target:
                n_mine = min(len(mine), left)
                found += self._chosen(n_mine, None, [], reserved, found=bool(found))
            elif mine:
                used = self.store.found(USED) if n_items else ()
                asked = chosen_items(mine, n_items, used, seen[s], rng)
                found += self._stored(asked, name) if asked else []
        return found

    def _stored(
        self, asked: Sequence[Question], judge: str | None, chosen: bool = True
    ) -> list[Row]:
        rows = self.store.ask(asked, judge, self._ledger.known, chosen)
        self._ledger.asked = rows[-1].number
        return rows

    def _beside(
        self, judging: Judging, own: list[Row], judge: str, n: int
    ) -> tuple[list[Question], int]:
        """Return what a judge is asked beside the policy's choice, and how many that chooses."""
        if judging.quota is not None:
            counted = [row for row in own if row.batch != TRAINING]
            taken = sum(row.state == "told" or self._ledger.awaits(row) for row in counted)
            n = min(n, judging.quota - taken)
            if n <= 0:
                raise NoQuestion(f"{judge!r} has reached the quota of {judging.quota:,} answers.")
        seed = self._settings["seed"]
        rng = np.random.default_rng([seed, 5, *self._ledger.known])
        others = partial(self.store.found, SHARED, judge=judge)
        retired = self._ledger.retired
        found = []
        for _ in range(n):
            one = question(judging, own, others, retired, rng)
            if one is not None:
                found.append(one)
                asked = Row(
                    0, *one[:3], judge, 0.0, "open", None, None, None, one.gold, batch=one.batch
                )
                own = [*own, asked]
        return found, n - len(found)

    def _of(self, judge: str) -> tuple[list[Row], list[Row]]:
        """Return the tickets of a judge, and the open ones of them that did not expire."""
        rows = self.store.rows(OF_JUDGE, judge=judge)
        return rows, [row for row in rows if self._ledger.awaits(row)]

    def _seen_by_source(self, name: str) -> list[Row]:
        """Return what a source that is not the target is not asked again; see ``SeenItems``.

        It is no one judge: without items it is asked a pair again, unless it skipped it.
        """
        rows, _ = self._of(name)
        if self._items:
            return rows
        return [row for row in rows if row.state == "skipped"]
