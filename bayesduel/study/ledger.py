"""The ledger of a study: what its store holds, and the session brought up to it.

Every process that has a study open keeps a ledger. Outcomes and asks of other processes enter it in
the order in which they were stored, so that all of them choose the same pairs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from time import thread_time, time
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.jit import interpreted, is_compiled, tell_if_it_compiles
from bayesduel.study.arms import cost_matrix
from bayesduel.study.end import end_of
from bayesduel.study.outcomes import told_duels
from bayesduel.study.schema import Row
from bayesduel.study.session import Decision, take
from bayesduel.study.settings import LATER, SETTINGS, StudyParts, parts_of
from bayesduel.study.store import ANSWERED, DUELS, ENDS, Store, StudyError
from bayesduel.system.open_datatree import DAMAGED

__all__ = ["FEW", "Ledger"]

# Events that are entered one by one; others are taken up by loading anew.
ENTERED = {"told", "skipped", "cancelled", "reissued", *ENDS}
FEW = 100  # arms up to which plain Python chooses a pair in less than a second
PATIENCE = 5.0  # processor seconds that plain Python may take before the policy is compiled


class Ledger:
    """What one process knows of a stored study.

    settings: those stored in it.
    labels: of all arms, retired ones too.
    retired: arms that are asked for no more, indices.
    excluded: judges whose answers do not count, and why.
    end: who ended the study, when and why; None where it goes on.
    parts: goal, model, policy, stop rule and session.
    n_duels, n_cannot_tell: tickets with an outcome, and with the answer that there is none.
    asked, last: numbers of the last ticket and the last event that the session knows.
    plain: whether plain Python does the work of small studies while another thread compiles.
    """

    def __init__(self, store: Store, settings: Mapping[str, Any]) -> None:
        self._store = store
        settings = self._settings = {**LATER, **settings}
        self.plain = False
        self._interpreted = 0.0
        self._said = False
        missing = [name for name in SETTINGS if name not in settings]
        if missing:
            raise StudyError(f"{store.url} is damaged: it should have the setting {missing[0]!r}.")
        with store.reading():
            self.load()

    def load(self) -> None:
        """Make the session anew and bring it up to the store."""
        known, cells, (self.asked, self.last) = self._store.snapshot()
        self.labels = tuple(label for label, _ in known)
        self.retired = {i for i, (_, gone) in enumerate(known) if gone}
        self.excluded = self._store.excluded()
        self.end = self._store.end()
        try:
            self.parts: StudyParts = parts_of(self._settings, self.labels, self.retired)
        except DAMAGED as error:
            raise StudyError(f"{self._store.url} is damaged: {error}") from error
        self.n_duels = self.n_cannot_tell = 0
        self._ordered = Counter[tuple[int, int]]()  # outcomes by left and right
        self._decision: tuple[int, Decision] | None = None
        self._behind = False  # whether outcomes were entered since the model was last refitted
        wins = np.zeros((len(known), len(known)))
        for i, j, outcome, n in cells:
            self._count(i, j, outcome, n)
            if outcome is not None:
                wins[i, j] += outcome * n
                wins[j, i] += (1 - outcome) * n
        session = self.parts.session
        if session.sources is not None:
            for row in self._store.rows(DUELS):
                outcome = float(row.outcome or 0.0)
                session.record(row.left, row.right, outcome, row.judge)
        elif session.driven:
            session.enter(wins)
        else:  # a policy with a memory: all of its choices are repeated
            self._enter(self._store.replay(), self._store.asks(0))
        self._entered(self.n_duels > 0)

    def catch_up(self) -> None:
        """Bring the session up to what the store holds."""
        with self._store.reading():
            counts = self._store.counts()
            if counts == self.known:
                return
            # 1000 events that are no longer entered one by one
            _, last = counts
            if self.last < 0 or last > self.last + 1000:
                self.load()
                return
            new = [] if last == self.last else self._store.events(self.last)
            if any(event.kind not in ENTERED for event in new):
                self.load()
                return
            told = []
            for event in new:
                is_duel = event.kind == "told" and event.is_duel
                if is_duel and event.judge not in self.excluded:
                    left = event.left or 0
                    right = event.right or 0
                    told.append((event.number, left, right, event.outcome, event.judge))
            driven = self.parts.session.driven
            asks = [] if driven else self._store.asks(self.asked)
            self._enter(told, asks)
        for _, i, j, outcome, _ in told:
            self._count(i, j, outcome, 1)
        for event in new:
            if event.kind in ENDS:
                self.end = end_of(event)
        self.asked, self.last = counts
        self._entered(bool(told))

    @property
    def known(self) -> tuple[int, int]:
        """Numbers of the last ticket and the last event that the session knows."""
        return self.asked, self.last

    def forget(self) -> None:
        """Load anew at the next use, because what was entered may not have been stored."""
        self.last = -1

    @property
    def reached(self) -> bool:
        """Whether the stop rule is reached. A rule that counts duels needs no posterior."""
        stop = self.parts.stop
        if stop is None:
            return False
        if stop.counts_only:
            return self.parts.session.spent
        return self.decided().stopped

    def decided(self) -> Decision:
        """Return what the posterior says of the goal, by the outcomes that are entered."""
        if self._behind:
            self._refit()
        if self._decision is None or self._decision[0] != self.last:
            rng = np.random.default_rng([self._settings["seed"], 2, self.last])
            with self._at_once():
                found = self.parts.session.decision(rng, afresh=True)
            self._decision = self.last, found
        return self._decision[1]

    @property
    def late(self) -> float:
        """The time, in seconds since 1970, before which an open ticket was asked that expired."""
        return time() - float(self._settings["expires"])

    def awaits(self, row: Row) -> bool:
        """Return whether a ticket is open and did not expire: by time, with an arm or a judge."""
        without_judge = row.judge in self.excluded
        without_arm = bool(self.retired & {row.left, row.right})
        expired = row.asked <= self.late
        return row.state == "open" and not (without_judge or without_arm or expired)

    def choose(
        self,
        n: int,
        rng: np.random.Generator,
        reserved: Sequence[tuple[int, int, int]] = (),
        room: np.ndarray | None = None,
    ) -> list[tuple[int, int]]:
        """Return the next n pairs, the arm that is to stand left first.

        Pairs of an arm with itself, by which a policy says that it asks for no more, are left out.

        reserved: pairs that are asked for already, and how often.
        room: how often a pair may be asked now, symmetric, shape (K, K); None for any number.
        """
        session = self.parts.session
        with self._at_once():
            found = session.choose(n, reserved, rng, room)
        if room is not None and not session.driven:  # its choice is repeated, whoever was asked
            found = self._replaced(found, room.copy(), rng)
        pairs = [(i, j) for i, j in found if i != j]
        return self.sided(pairs, reserved, rng)

    def has_room(self, room: np.ndarray | None) -> bool:
        """Return whether a pair may be asked now; see ``choose``."""
        return room is None or bool(self._free(room).any())

    def rng(self, asked: int, known: int) -> np.random.Generator:
        """Return the randomness of a choice, given the last ticket and event before it."""
        return np.random.default_rng([self._settings["seed"], 0, asked, known])

    def duels(self, *, of_target: bool = False, criteria: Sequence[str] | None = None) -> Duels:
        """Return the outcomes told, as last corrected, as a log; those of the target alone.

        criteria: those whose answers are the votes; by default the one that decides.
        """
        sources = self.parts.session.sources
        rows = self._store.rows(DUELS if criteria is None else ANSWERED)
        if of_target and sources is not None:
            rows = [row for row in rows if sources.source_of(row.judge) == sources.target]
        return self._told(rows, criteria)

    def _told(self, rows: list[Row], criteria: Sequence[str] | None = None) -> Duels:
        """Return the outcomes of tickets as a log."""
        sources = self.parts.session.sources
        items = self._store.items()
        return told_duels(rows, self.labels, items, sources, self.parts.asking, criteria)

    @property
    def n_target(self) -> int:
        """Tickets with an outcome of the target, in a study of several sources; else all."""
        sources = self.parts.session.sources
        if sources is None:
            return self.n_duels
        return round(sources.wins[sources.target].sum())

    @property
    def left(self) -> float:
        """Duels of the target until the stop rule is reached at the latest, required ones done."""
        most = inf if self.parts.stop is None else self.parts.stop.most
        missing = self.parts.session.missing().sum() // 2
        return max(most - self.n_target, missing)

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Run what is compiled as plain Python where the compiler would take longer.

        That is in small studies, for the first seconds of work, where the installation has no
        machine code of the policy yet. Both ways compute the same up to rounding.
        """
        select = self.parts.session.policy.select
        began = thread_time()
        short = self._interpreted < PATIENCE and not is_compiled(select)
        if len(self.labels) <= FEW and (self.plain or short):
            with interpreted():
                yield
            self._interpreted += thread_time() - began
        else:
            if not self._said:
                tell_if_it_compiles(select, "the policy")
            self._said = True
            yield

    def _enter(self, told: Sequence[tuple[Any, ...]], asks: Sequence[tuple[int, int, int]]) -> None:
        """Enter new outcomes, and the choices that other processes, or an earlier one, made.

        A policy with a memory writes it as it chooses: every choice is repeated, with the
        outcomes that it knew, so that the memory is the same in every process.
        """
        session = self.parts.session
        place = 0
        with self._at_once():
            for first, n, known in asks:
                while place < len(told) and told[place][0] <= known:
                    self._record(*told[place][1:])
                    place += 1
                session.choose(n, [], self.rng(first - 1, known))
            for each in told[place:]:
                self._record(*each[1:])

    def _record(self, i: int, j: int, outcome: float | None, judge: str | None = None) -> None:
        if outcome is not None:
            self.parts.session.record(i, j, outcome, judge)

    def _replaced(
        self, pairs: Sequence[tuple[int, int]], room: np.ndarray, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        """Return the pairs with the allowed pair that met least often for each without room.

        room: as in ``choose``; it is changed.
        """
        met = self.parts.session.wins + self.parts.session.wins.T
        found = []
        for i, j in pairs:
            free = self._free(room)
            if room[i, j] < 1 and free.any():
                fewest = met[free].min()
                least = np.argwhere(free & (met == fewest))
                i, j = least[rng.integers(len(least))].tolist()
            if room[i, j] > 0:
                found.append((i, j))
                take(room, i, j)
                met[[i, j], [j, i]] += 1
        return found

    def _free(self, room: np.ndarray) -> np.ndarray:
        """Return whether a pair is allowed and has room, shape (K, K), above the diagonal."""
        cost = cost_matrix(self._settings, self.labels, self.retired)
        with_room = np.triu(room > 0, 1)
        return with_room if cost is None else with_room & np.isfinite(cost)

    def _entered(self, any_: bool) -> None:
        """Note that outcomes were entered. Refit at once only what the next choice reads."""
        self._behind = self._behind or any_
        if self._behind and self.parts.session.chooses_by_fit:
            self._refit()

    def _refit(self) -> None:
        self._behind = False
        seed = self._settings["seed"]
        self.parts.session.refit(
            lambda n: np.random.default_rng([seed, 1, n]),
            lambda n: (self._told(self._first(n)), self.labels),
        )

    def _first(self, n: int) -> list[Row]:
        """Return the n tickets that were told first, of those with an outcome."""
        rows = self._store.rows(DUELS)
        rows.sort(key=lambda row: (row.answered or 0.0, row.number))
        return rows[:n]

    def _count(self, i: int, j: int, outcome: float | None, n: int) -> None:
        if outcome is None:
            self.n_cannot_tell += n
        else:
            self.n_duels += n
            self._ordered[i, j] += n

    def sided(
        self,
        pairs: Iterable[tuple[int, int]],
        reserved: Sequence[tuple[int, int, int]],
        rng: np.random.Generator,
    ) -> list[tuple[int, int]]:
        """Return pairs with the arm first that stood left less often, else at random.

        Answers count, and the tickets that wait for one (`reserved`): left, right, how often.
        """
        waiting = Counter[tuple[int, int]]()
        for left, right, times in reserved:
            waiting[left, right] += times
        found = []
        for i, j in pairs:
            ahead = waiting[i, j] - waiting[j, i]
            ahead += self._ordered[i, j] - self._ordered[j, i]
            if ahead == 0:
                ahead = 1 if rng.random() < 0.5 else -1
            shown = (j, i) if ahead > 0 else (i, j)
            waiting[shown] += 1
            found.append(shown)
        return found
