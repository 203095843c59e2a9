"""A study: ask for the next pair, tell the outcome, stop when the posterior says enough."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.coding import check_coding
from bayesduel.models import Model
from bayesduel.study.arms import checked_labels, listed
from bayesduel.study.audit_trail import audit_trail
from bayesduel.study.goal import Goal
from bayesduel.study.ledger import Ledger
from bayesduel.study.outcomes import as_told, log_rows, outcome_value
from bayesduel.study.session import Decision
from bayesduel.study.settings import check_room, parts_of, stored_settings
from bayesduel.study.status import Status
from bayesduel.study.stopping import StopRule
from bayesduel.study.store import Store, StudyError
from bayesduel.study.tickets import Ticket, ticket_id, ticket_number
from bayesduel.study.verdict import objection, transitivity, verdict
from bayesduel.system.arguments import check_flag, check_utf8, path_of, shown_value

__all__ = ["Study", "StudyStopped"]

MOST_TICKETS = 100_000  # of one call of ask
RETRIES = 4  # times a pair is chosen because others asked or told meanwhile; the last one locks


class StudyStopped(RuntimeError):
    """The study has enough: no further duel is asked for."""


class Study:
    """Ask for the next pair, tell the outcome, stop when the posterior says enough.

    A study lives in memory, in one SQLite file, or in a database that a team shares. What was told
    is on disk before ``tell`` returns. Several processes may ask and tell at once.

    Parameters
    ----------
    path
        A file, a database URL (PostgreSQL), or None for memory. A study that exists is opened;
        the other arguments are then those it was made with.
    arms
        Labels, different from one another, at least two.
    goal
        ``FindBest()`` (default), ``TopK(k)``, ``FullRanking()`` or ``MinimizeRegret()``, or its
        name: "find-best", "top-3", "full-ranking", "minimize-regret".
    model
        Name of a model of :mod:`bayesduel.models`, or a model.
    policy
        "auto": contrast allocation, for little regret Double Thompson Sampling. Or a policy of
        pairs, such as ``TopTwoThompson()``.
    stop
        A rule, such as ``WithinRope(0.95, rope=0.05)``, a probability (of ``WithinRope``) or a list
        of rules, of which any stops the study. None never stops.
    pairs
        The allowed pairs, as labels; by default all. With a posterior-driven policy or
        ``Uniform()``.
    costs
        Cost of a duel by pair of labels, 1 where it is not named.
    required
        By pair of labels, how many duels it has to have before the study may stop, whatever the
        stop rule. These are asked for first. With a posterior-driven policy.
    timeout
        Seconds after which a ticket without an outcome no longer counts as pending.
    seed
        Whole number >= 0. The same seed, outcomes and order of calls give the same pairs; after
        reopening, a posterior-driven policy may choose another of pairs that are equally good up to
        rounding.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as model_settings.
    StudyError
        If a stored study cannot be opened.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.WithinRope(0.95, rope=0.1))
    >>> while not study.stopped:
    ...     ticket = study.ask()
    ...     study.tell(ticket, "left")  # or "right", "tie"
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        arms: Sequence[str] | None = None,
        goal: Any = None,
        model: Any = None,
        policy: Any = None,
        stop: Any = 0.95,
        pairs: Sequence[tuple[str, str]] | None = None,
        costs: Mapping[tuple[str, str], float] | None = None,
        required: Mapping[tuple[str, str], int] | None = None,
        timeout: float = 3600.0,
        seed: int = 0,
    ) -> None:
        given = {"goal": goal, "model": model, "policy": policy}
        given |= {"pairs": pairs, "costs": costs, "required": required}
        if path is not None:
            path_of(path)
        self._store = Store(path)
        if self._store.is_new:
            if arms is None and path is not None:
                self._store.discard()
                raise StudyError(f"{self._store.url} holds no study: give arms to make one.")
            try:
                self._store.create(*stored_settings(arms, given, stop, timeout, seed))
            except Exception:
                self._store.discard()
                raise
        elif arms is not None or any(value is not None for value in given.values()):
            raise StudyError(
                f"{self._store.url} holds a study: open it without arguments, or give another path."
            )
        self._settings = self._store.all_settings()
        self._ledger = Ledger(self._store, self._settings)

    # -- asking and telling ----------------------------------------------------------------

    @overload
    def ask(self, n: None = None, judge: str | None = None) -> Ticket: ...
    @overload
    def ask(self, n: int, judge: str | None = None) -> list[Ticket]: ...

    def ask(self, n: int | None = None, judge: str | None = None) -> Ticket | list[Ticket]:
        """Return a ticket for the next duel, or a list of `n` that are chosen jointly.

        Which arm stands left is drawn at random so that, of every pair, both orders occur equally
        often.

        Parameters
        ----------
        n
            How many tickets; by default one, not in a list.
        judge
            Who is to judge.

        Raises
        ------
        StudyStopped
            If the stop rule is reached.
        ValueError
            If `n` is not a whole number >= 1.
        """
        count = 1 if n is None else n
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"n should be a whole number >= 1, got {shown_value(n)}")
        if count > MOST_TICKETS:
            raise ValueError(f"n should be at most {MOST_TICKETS:,}, got {shown_value(n)}")
        if judge is not None and (not isinstance(judge, str) or not judge.strip()):
            raise ValueError(f"judge should be a name, got {shown_value(judge)}")
        check_utf8(judge or "", "judge should be UTF-8 text")
        for attempt in range(RETRIES):
            last = attempt == RETRIES - 1  # the others wait while the pair is chosen
            with self._store.writing() if last else nullcontext() as connection:
                tickets = self._asked_for(count, judge, connection)
            if tickets is not None:
                return tickets[0] if n is None else tickets
        raise StudyError("The study changed while it was locked.")

    def tell(self, ticket: Ticket | str, outcome: str | float) -> None:
        """Store the outcome of a ticket; it is on disk when this returns.

        The same outcome told again changes nothing.

        Parameters
        ----------
        ticket
            What ``ask`` returned, or its id, or the number behind the dash of its id.
        outcome
            "left", "right" or "tie"; under a model of margins a number, left's score minus right's.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        ValueError
            If the outcome is none, or another one was told before (see ``correct``).
        """
        number = self._number(ticket)
        value, margin = outcome_value(outcome, self.model.response.outcome)
        before = self._store.tell(number, value, margin)
        if before is not None and (before.outcome, before.margin) != (value, margin):
            raise ValueError(
                f"outcome of ticket {self._id(number)} should be {as_told(before)!r}, as told "
                f"before, got {shown_value(outcome)}; correct() changes it"
            )

    def correct(self, ticket: Ticket | str, outcome: str | float, reason: str) -> None:
        """Replace the outcome of a ticket; the old one stays in the audit trail.

        Parameters
        ----------
        ticket, outcome
            As for ``tell``.
        reason
            Why, in words.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        ValueError
            If no outcome was told yet, or there is no reason.
        """
        number = self._number(ticket)
        if self._store.latest(number) is None:
            raise ValueError(f"ticket should have an outcome to correct, got {self._id(number)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(
                f"reason should say why the outcome is corrected, got {shown_value(reason)}"
            )
        check_utf8(reason, "reason should be UTF-8 text")
        self._store.tell(
            number, *outcome_value(outcome, self.model.response.outcome), reason=reason
        )

    def import_duels(self, duels: Duels) -> None:
        """Add a log that exists already; every arm of it should be in the study.

        How the first log was read is stored, and ``study.duels()`` has it: read a further one with
        ``read_duels(..., like=study.duels())``.

        Raises
        ------
        TypeError, ValueError
            If `duels` is no log, holds an arm that the study does not have, or has outcomes that
            the coding of an earlier one reads otherwise.
        """
        if not isinstance(duels, Duels):
            raise TypeError(f"duels should be Duels, got {type(duels).__name__}")
        unknown = [a for a in duels.arms if a not in self.arms]
        if unknown:
            raise ValueError(f"arms of the log should be in the study, got {unknown[0]!r}")
        earlier = self._store.setting("reading") or {}
        check_coding(duels, earlier, "duels")
        index = [self.arms.index(a) for a in duels.arms]
        if "coding" not in earlier and duels.read_summary.reading:
            self._store.set(reading=dict(duels.read_summary.reading))
        self._store.load(log_rows(duels, index), f"imported: {duels.read_summary.source}")

    def add_arms(self, arms: Sequence[str]) -> None:
        """Add arms, which start from the prior.

        Raises
        ------
        ValueError
            If a label is there already, or there are more arms than fit in memory.
        """
        new = checked_labels([*self.arms, *listed(arms)])[len(self.arms) :]
        check_room(len(self.arms) + len(new))
        self._store.add_arms(new)
        self._ledger.load()

    def retire_arms(self, arms: Sequence[str]) -> None:
        """Retire arms: they are asked for no more and cannot be the answer.

        Raises
        ------
        KeyError, ValueError
            If a label is unknown, or fewer than two arms would be left.
        """
        numbers = [self._arm(a) for a in listed(arms)]
        left = len(self.arms) - len(self._ledger.retired | set(numbers))
        if left < 2:
            raise ValueError(f"at least two arms should stay in the study, got {left}")
        retired = self._ledger.retired | set(numbers)
        parts_of(self._settings, self.arms, retired)  # refuses what cannot be
        self._store.retire_arms(numbers)
        self._ledger.load()

    # -- what is known ---------------------------------------------------------------------

    @property
    def goal(self) -> Goal:
        """What is to be found out."""
        return self._ledger.parts.goal

    @property
    def model(self) -> Model:
        """The model of the outcomes."""
        return self._ledger.parts.model

    @property
    def policy(self) -> Any:
        """The policy that chooses the pairs."""
        return self._ledger.parts.policy

    @property
    def stop(self) -> StopRule | None:
        """When there is enough, or None."""
        return self._ledger.parts.stop

    @property
    def required(self) -> np.ndarray | None:
        """How often each pair has to meet before the study may stop, shape (K, K), or None."""
        return self._ledger.parts.required

    @property
    def arms(self) -> tuple[str, ...]:
        """Labels of all arms, retired ones too."""
        return self._ledger.labels

    @property
    def n_duels(self) -> int:
        """Number of outcomes told."""
        return len(self._caught_up().current)

    @property
    def retired(self) -> tuple[int, ...]:
        """Retired arms, indices."""
        return tuple(sorted(self._ledger.retired))

    def tally(self) -> np.ndarray:
        """Return the times that arm i beat arm j, a tie half a win each, shape (K, K)."""
        return self._caught_up().parts.session.wins.copy()

    @property
    def stopped(self) -> bool:
        """Whether the stop rule is reached."""
        return self.stop is not None and self._ledger.decided().stopped

    def pending(self) -> list[Ticket]:
        """Return the tickets that wait for an outcome, the oldest first."""
        return [
            Ticket(self._id(number), self.arms[i], self.arms[j], judge)
            for number, i, j, judge, _ in self._store.pending()
        ]

    def status(self, *, check: bool | None = None, futures: int = 0) -> Status:
        """Return where the study stands.

        Parameters
        ----------
        check
            Whether the transitivity check is run on the duels (``bayesduel.check``, quick). By
            default once the study is decided. Where it objects, the verdict says so.
        futures
            Simulated futures by which the duels to go are estimated, while the study is open. With
            0 an earlier estimate is shown, where there is one.

        Raises
        ------
        ValueError
            If `futures` is not a whole number >= 0, or nothing was told yet that could be checked.
        """
        if isinstance(futures, bool) or not isinstance(futures, int) or futures < 0:
            raise ValueError(f"futures should be a whole number >= 0, got {shown_value(futures)}")
        if check is not None:
            check_flag(check, "check")
        decision = self._ledger.decided()
        order = [self.arms[i] for i in decision.order]
        history = self._remember(decision)
        stopped = self.stopped
        if futures and not stopped and self.stop is not None:
            self.plan(futures, budget=2000)
        checked = self._checked(order[0], stopped and decision.decided if check is None else check)
        rope, level = (0.0, 0.95) if self.stop is None else (self.stop.rope, self.stop.level)
        said = verdict(
            self.goal,
            decision,
            self.arms,
            rope=rope,
            level=level,
            n_duels=len(self._ledger.current),
        )
        if checked is not None and checked["transitive"] is False:
            said = f"{said} {objection(self.model.name)}"
        return Status(
            goal=f"{type(self.goal).__name__}({_arguments(self.goal.settings())})",
            policy=type(self.policy).__name__,
            n_duels=len(self._ledger.current),
            n_pending=len(self._store.pending()),
            stopped=stopped,
            decided=decision.decided and self.stop is not None,
            answer=tuple(order[: min(self.goal.chosen(len(order)), len(order))]),
            probability=decision.probability,
            verdict=said,
            reason="none" if self.stop is None else decision.reason,
            history=history,
            ranking=tuple(order),
            tied=tuple(tuple(self.arms[i] for i in group) for group in decision.tied),
            check=checked,
            plan=None if stopped else self._store.setting("plan"),
        )

    def duels(self) -> Duels:
        """Return the outcomes told, as last corrected, as a log.

        Raises
        ------
        ValueError
            If no outcome of two different arms was told yet.
        """
        log = self._caught_up().duels()
        reading = self._store.setting("reading") or {}
        return replace(log, read_summary=replace(log.read_summary, reading=reading))

    def fit(self, **options: Any) -> Any:
        """Return the posterior of the study's model given its duels; see ``bayesduel.fit``."""
        from bayesduel.inference.fit import fit

        return fit(self.duels(), self.model, **options)

    def winners(self, **options: Any) -> Any:
        """Return the winners under every criterion; see ``bayesduel.winners``."""
        from bayesduel.posterior.winners import winners

        rope = {} if self.stop is None or not self.stop.rope else {"rope": self.stop.rope}
        return winners(self.fit(), **(rope | options))

    def plan(self, n_futures: int = 100, budget: int = 5000, **options: Any) -> Any:
        """Return how many more duels the study is expected to take; see ``bayesduel.plan``.

        The study keeps the result for its status.
        """
        from bayesduel.study.planning import plan

        found = plan(self, n_futures=n_futures, budget=budget, **options)
        self._store.set(plan={"duels": self.n_duels, "sentence": str(found), **found.to_dict()})
        return found

    def audit(self) -> list[dict[str, Any]]:
        """Return every outcome and correction, in order, as dictionaries."""
        return audit_trail(self._caught_up().events, self.arms, self._settings["key"])

    def close(self) -> None:
        """Close the file or the connections to the database."""
        self._store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in memory" if self._store.path is None else f"at {self._store.url}"
        return (
            f"<Study {where}: {len(self.arms)} arms, {self.n_duels:,} duels, "
            f"{type(self.goal).__name__}, {type(self.policy).__name__}>"
        )

    # -- in calling order ------------------------------------------------------------------

    def _asked_for(self, n: int, judge: str | None, connection: Any) -> list[Ticket] | None:
        """Choose and store n tickets; None if others asked or told meanwhile."""
        ledger, session = self._caught_up(), self._ledger.parts.session
        if self.stopped:
            raise StudyStopped(f"The study has stopped: {ledger.decided().reason}.")
        seen = ledger.asked, ledger.last
        before = session.state()
        pairs = ledger.choose(n, ledger.rng(*seen))
        if not pairs:
            session.restore(before)
            best = self.arms[ledger.decided().order[0]]
            raise StudyStopped(
                f"{type(self.policy).__name__} asks for no further duel: it would duel one arm "
                f"with itself. The best so far is {best!r}."
            )
        numbers = self._store.ask(pairs, judge, seen, connection)
        if numbers is None:
            session.restore(before)
            return None
        ledger.asked = numbers[-1]
        return [
            Ticket(self._id(k), self.arms[i], self.arms[j], judge)
            for k, (i, j) in zip(numbers, pairs, strict=True)
        ]

    def _caught_up(self) -> Ledger:
        """Return the ledger, brought up to what the store holds."""
        self._ledger.catch_up()
        return self._ledger

    def _checked(self, best: str, wanted: bool) -> dict[str, Any] | None:
        """Return what the transitivity check says of these outcomes, made once and stored."""
        last = self._ledger.last
        kept: dict[str, Any] | None = self._store.setting("check")
        if kept is not None and kept["outcomes"] == last:
            return kept
        if not wanted or (len(self.arms) < 3 and self._ledger.current):
            return None
        found = {"outcomes": last, **transitivity(self.duels(), best, self.model.name)}
        if not self._store.read_only:
            self._store.set(check=found)
        return found

    def _remember(self, decision: Decision) -> tuple[tuple[int, float], ...]:
        """Store and return the probability of the answer at every look."""
        history = [tuple(look) for look in self._store.setting("history")]
        look = len(self._ledger.current), round(decision.probability, 4)
        if look[0] and (not history or history[-1][0] != look[0]):
            history.append(look)
            if not self._store.read_only:
                self._store.set(history=history)
        return tuple((int(n), float(p)) for n, p in history)

    def _number(self, ticket: Ticket | str) -> int:
        """Return the number of a ticket that was asked for."""
        number = ticket_number(self._settings["key"], ticket)
        if self._store.ticket(number) is None:
            name = ticket.id if isinstance(ticket, Ticket) else str(ticket)
            raise KeyError(f"ticket should be one that was asked for, got {shown_value(name)}")
        return number

    def _id(self, number: int) -> str:
        return ticket_id(self._settings["key"], number)

    def _arm(self, label: str) -> int:
        if label not in self.arms:
            raise KeyError(f"arms should be of the study, got {shown_value(label)}")
        return self.arms.index(label)


def _arguments(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())
