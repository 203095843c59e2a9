"""The ledger of a study: what its store holds, and the session brought up to it.

Every process that has a study open keeps a ledger. Outcomes and asks of other processes enter it in
the order in which they were stored, so that all of them choose the same pairs.
"""

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.study.audit_trail import told_duels
from bayesduel.study.schema import Event
from bayesduel.study.session import Decision
from bayesduel.study.settings import Parts, parts_of
from bayesduel.study.store import Store, StudyError
from bayesduel.system.arguments import finite
from bayesduel.system.open_datatree import DAMAGED

__all__ = ["Ledger"]


class Ledger:
    """What one process knows of a stored study.

    Parameters
    ----------
    store
        Of the study.
    settings
        Those stored in it.

    Attributes
    ----------
    labels
        Of all arms, retired ones too.
    retired
        Arms that are asked for no more, indices.
    parts
        Goal, model, policy, stop rule and session.
    events
        Outcomes and corrections, in the order of the store.
    current
        The outcome of each ticket as last corrected.
    asked
        Number of the last ticket that the session knows.
    """

    labels: tuple[str, ...]
    retired: set[int]
    parts: Parts
    events: list[Event]
    current: dict[int, Event]
    asked: int

    def __init__(self, store: Store, settings: Mapping[str, Any]) -> None:
        self._store, self._settings = store, settings
        self.load()

    def load(self) -> None:
        """Make the session anew and bring it up to the store."""
        stored = self._store.arms()
        self.labels = tuple(label for label, _ in stored)
        self.retired = {i for i, (_, gone) in enumerate(stored) if gone}
        try:
            self.parts = parts_of(self._settings, self.labels, self.retired)
            self._memory_rng = np.random.default_rng([self._settings["seed"], 1])
            finite(self._settings["timeout"], "timeout")
        except DAMAGED as error:
            raise StudyError(f"{self._store.url} cannot be opened: {error}") from error
        self.events = []
        self.current = {}
        self.asked = 0
        self._ordered: dict[tuple[int, int], int] = {}  # outcomes by left and right
        self._decision: tuple[int, Decision] | None = None
        self.catch_up()

    @property
    def last(self) -> int:
        """Number of the last outcome that the session knows, 0 before the first."""
        return self.events[-1].number if self.events else 0

    def catch_up(self) -> None:
        """Bring the session up to what the store holds."""
        last = self.last
        new, asks, counts = self._store.changes(self.asked, last)
        if counts == (self.asked, last):
            return
        if any(e.version > 0 for e in new):
            if self.events:
                self.load()
                return
            corrected = {e.ticket: e for e in new}  # a study with corrections is opened
            firsts = [e for e in new if e.version == 0]
            self._enter([corrected[e.ticket]._replace(number=e.number) for e in firsts], asks)
        else:
            self._enter(new, asks)
        self.events.extend(new)
        self.asked = counts[0]
        self._decision = None
        if new:
            log = self.duels() if self.parts.model.score_link is None else None
            self.parts.session.refit(self._memory_rng, log)

    def decided(self) -> Decision:
        """Return what the posterior says of the goal, by the outcomes stored until now."""
        self.catch_up()
        n = len(self.events)
        if self._decision is None or self._decision[0] != n:
            rng = np.random.default_rng([self._settings["seed"], 2, n])
            self._decision = n, self.parts.session.decision(rng)
        return self._decision[1]

    def choose(self, n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Return the next n pairs, the arm that is to stand left first.

        Pairs of an arm with itself, by which a policy says that it asks for no more, are left out.
        """
        late = time() - self._settings["timeout"]
        waiting = [(i, j) for _, i, j, _, asked in self._store.pending() if asked > late]
        found = self.parts.session.choose(n, waiting, rng)
        return [self._sided(i, j, rng) for i, j in found if i != j]

    def rng(self, asked: int, known: int) -> np.random.Generator:
        """Return the randomness of a choice, given how many tickets and outcomes there were."""
        return np.random.default_rng([self._settings["seed"], 0, asked, known])

    def duels(self) -> Duels:
        """Return the outcomes told, as last corrected, as a log."""
        return told_duels(self.current.values(), self.labels)

    # -- in calling order ------------------------------------------------------------------

    def _enter(self, new: list[Event], asks: Sequence[tuple[int, int, int]]) -> None:
        """Enter new outcomes, and the choices that other processes, or an earlier one, made.

        A policy with a memory writes it as it chooses: every choice is repeated, with the
        outcomes that it knew, so that the memory is the same in every process.
        """
        place = 0
        for first, n, known in () if self.parts.session.driven else asks:
            while place < len(new) and new[place].number <= known:
                self._record(new[place])
                place += 1
            self.parts.session.choose(n, [], self.rng(first - 1, known))
        for e in new[place:]:
            self._record(e)

    def _record(self, e: Event) -> None:
        self.current[e.ticket] = e
        self._ordered[e.left, e.right] = self._ordered.get((e.left, e.right), 0) + 1
        self.parts.session.record(e.left, e.right, e.outcome)

    def _sided(self, i: int, j: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return the pair with the arm first that stood left less often, else at random."""
        ahead = self._ordered.get((i, j), 0) - self._ordered.get((j, i), 0)
        if ahead == 0:
            ahead = 1 if rng.random() < 0.5 else -1
        return (j, i) if ahead > 0 else (i, j)
