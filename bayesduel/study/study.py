"""A study: ask for the next pair, tell the outcome, stop when the posterior says enough."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any, overload

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.models import Model, model_from_settings, model_named, model_settings
from bayesduel.policies.policy import PairPolicy
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.study.arms import (
    allowed_pairs,
    checked_labels,
    cost_matrix,
    listed,
    pair_costs,
    required_duels,
    required_matrix,
)
from bayesduel.study.goal import FindBest, Goal, MinimizeRegret, goal_of
from bayesduel.study.outcomes import as_told, log_rows, outcome_value
from bayesduel.study.policy_settings import policy_from, settings_of
from bayesduel.study.session import Decision, Session, belief_of
from bayesduel.study.status import Status, Ticket
from bayesduel.study.stopping import Budget, StopRule, rule_from, stop_rule
from bayesduel.study.store import Event, Store, StudyError
from bayesduel.study.verdict import objection, transitivity, verdict
from bayesduel.system.arguments import finite, shown_value
from bayesduel.system.memory import check_square

__all__ = ["Study", "StudyStopped"]

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
        self._store = Store(path)
        if self._store.is_new:
            if arms is None and path is not None:
                self._store.discard()
                raise StudyError(f"{self._store.url} holds no study: give arms to make one.")
            try:
                self._create(arms, given, stop, timeout, seed)
            except Exception:
                self._store.discard()
                raise
        elif arms is not None or any(value is not None for value in given.values()):
            raise StudyError(
                f"{self._store.url} holds a study: open it without arguments, or give another path."
            )
        self._open()

    def _create(
        self,
        arms: Sequence[str] | None,
        given: Mapping[str, Any],
        stop: Any,
        timeout: float,
        seed: int,
    ) -> None:
        labels = checked_labels(arms)
        goal = FindBest() if given["goal"] is None else goal_of(given["goal"])
        goal.check(len(labels))
        model = model_named("bradley-terry" if given["model"] is None else given["model"])
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise ValueError(f"seed should be a whole number >= 0, got {shown_value(seed)}")
        timeout = finite(timeout, "timeout")
        if not timeout > 0:
            raise ValueError(f"timeout should be positive, in seconds, got {timeout}")
        rule = None if stop is None or isinstance(goal, MinimizeRegret) else stop_rule(stop)
        policy = given["policy"]
        if policy not in (None, "auto") and not isinstance(policy, PairPolicy):
            raise TypeError(
                f"policy should be 'auto' or one of pairs, such as DTS(), got {shown_value(policy)}"
            )
        allowed = allowed_pairs(given["pairs"], labels)
        costs = pair_costs(given["costs"], labels)
        automatic = policy in (None, "auto")
        required = required_duels(given["required"], labels, allowed)
        if required and not isinstance(goal.policy() if automatic else policy, ScoreRule):
            raise ValueError(
                "required should go with a posterior-driven policy, such as "
                f"ContrastAllocation(), got {shown_value(policy)}"
            )
        values = {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "key": token_hex(2),
            "goal": {"name": goal.name, **goal.settings()},
            "model": model_settings(model),
            "policy": None if automatic else settings_of(policy),
            "stop": None if rule is None else {"name": rule.name, **rule.settings()},
            "pairs": allowed,
            "costs": costs,
            "required": required,
            "timeout": float(timeout),
            "seed": seed,
            "history": [],
        }
        _check_room(len(labels))
        self._session_for(values, labels)  # refuses what does not go together
        self._store.create(values, labels)

    def _open(self) -> None:
        self._settings = self._store.all_settings()
        self._load()

    def _load(self) -> None:
        """Make the session anew and bring it up to the store."""
        stored = self._store.arms()
        self._labels = tuple(label for label, _ in stored)
        self._retired = {i for i, (_, gone) in enumerate(stored) if gone}
        self._session = self._session_for(self._settings, self._labels, self._retired)
        self._events: list[Event] = []
        self._current: dict[int, Event] = {}
        self._ordered: dict[tuple[int, int], int] = {}  # outcomes by left and right
        self._asked = 0  # tickets that the session knows
        self._decision: tuple[int, Decision] | None = None
        self._memory_rng = np.random.default_rng([self._settings["seed"], 1])
        self._catch_up()

    def _session_for(
        self, values: Mapping[str, Any], labels: Sequence[str], retired: set[int] | None = None
    ) -> Session:
        own = dict(values["goal"])
        name = own.pop("name")
        goal = goal_of(f"top-{own['k']}" if name == "top-k" else name)
        model = model_from_settings(values["model"])
        spec = belief_of(model)
        if values["policy"] is None:
            policy = goal.policy(belief=spec) if not isinstance(goal, MinimizeRegret) else None
            policy = goal.policy() if policy is None else policy
        else:
            policy = policy_from(values["policy"])
        policy = policy.with_cost(cost_matrix(values, labels, retired or set()))
        self.required: np.ndarray | None = required_matrix(
            values.get("required"), labels, retired or set()
        )
        stop = values["stop"]
        rule = NEVER if stop is None else rule_from(stop)
        self.goal: Goal = goal
        self.model: Model = model
        self.policy: Any = policy
        self.stop: StopRule | None = None if stop is None else rule
        gone = tuple(sorted(retired or ()))
        return Session(len(labels), goal, policy, rule, spec, gone, self.required)

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
        if judge is not None and (not isinstance(judge, str) or not judge.strip()):
            raise ValueError(f"judge should be a name, got {shown_value(judge)}")
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
        value, margin = outcome_value(outcome, self.model.outcome)
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
        self._store.tell(number, *outcome_value(outcome, self.model.outcome), reason=reason)

    def import_duels(self, duels: Duels) -> None:
        """Add a log that exists already; every arm of it should be in the study.

        Raises
        ------
        TypeError, ValueError
            If `duels` is no log, or holds an arm that the study does not have.
        """
        if not isinstance(duels, Duels):
            raise TypeError(f"duels should be Duels, got {type(duels).__name__}")
        unknown = [a for a in duels.arms if a not in self._labels]
        if unknown:
            raise ValueError(f"arms of the log should be in the study, got {unknown[0]!r}")
        index = [self._labels.index(a) for a in duels.arms]
        self._store.load(log_rows(duels, index), f"imported: {duels.read_summary.source}")

    def add_arms(self, arms: Sequence[str]) -> None:
        """Add arms, which start from the prior.

        Raises
        ------
        ValueError
            If a label is there already, or there are more arms than fit in memory.
        """
        new = checked_labels([*self._labels, *listed(arms)])[len(self._labels) :]
        _check_room(len(self._labels) + len(new))
        self._store.add_arms(new)
        self._load()

    def retire_arms(self, arms: Sequence[str]) -> None:
        """Retire arms: they are asked for no more and cannot be the answer.

        Raises
        ------
        KeyError, ValueError
            If a label is unknown, or fewer than two arms would be left.
        """
        numbers = [self._arm(a) for a in listed(arms)]
        left = len(self._labels) - len(self._retired | set(numbers))
        if left < 2:
            raise ValueError(f"at least two arms should stay in the study, got {left}")
        retired = self._retired | set(numbers)
        self._session_for(self._settings, self._labels, retired)  # refuses what cannot be
        self._store.retire_arms(numbers)
        self._load()

    # -- what is known ---------------------------------------------------------------------

    @property
    def arms(self) -> tuple[str, ...]:
        """Labels of all arms, retired ones too."""
        return self._labels

    @property
    def n_duels(self) -> int:
        """Number of outcomes told."""
        self._catch_up()
        return len(self._current)

    @property
    def retired(self) -> tuple[int, ...]:
        """Retired arms, indices."""
        return tuple(sorted(self._retired))

    def tally(self) -> np.ndarray:
        """Return the times that arm i beat arm j, a tie half a win each, shape (K, K)."""
        self._catch_up()
        return self._session.wins.copy()

    @property
    def stopped(self) -> bool:
        """Whether the stop rule is reached."""
        return self.stop is not None and self._decided().stopped

    def pending(self) -> list[Ticket]:
        """Return the tickets that wait for an outcome, the oldest first."""
        return [
            Ticket(self._id(number), self._labels[i], self._labels[j], judge)
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
        decision = self._decided()
        order = [self._labels[i] for i in decision.order]
        history = self._remember(decision)
        stopped = self.stopped
        if futures and not stopped and self.stop is not None:
            self.plan(futures, budget=2000)
        checked = self._checked(order[0], stopped and decision.decided if check is None else check)
        rope, level = (0.0, 0.95) if self.stop is None else (self.stop.rope, self.stop.level)
        said = verdict(
            self.goal,
            decision,
            self._labels,
            rope=rope,
            level=level,
            n_duels=len(self._current),
        )
        if checked is not None and checked["transitive"] is False:
            said = f"{said} {objection(self.model.name)}"
        return Status(
            goal=f"{type(self.goal).__name__}({_arguments(self.goal.settings())})",
            policy=type(self.policy).__name__,
            n_duels=len(self._current),
            n_pending=len(self._store.pending()),
            stopped=stopped,
            decided=decision.decided and self.stop is not None,
            answer=tuple(order[: min(self.goal.chosen(len(order)), len(order))]),
            probability=decision.probability,
            verdict=said,
            reason="none" if self.stop is None else decision.reason,
            history=history,
            ranking=tuple(order),
            tied=tuple(tuple(self._labels[i] for i in group) for group in decision.tied),
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
        self._catch_up()
        told = [e for e in self._current.values() if e.left != e.right]
        if not told:
            raise ValueError("a study should have an outcome to make a log of, got none")
        margins = [e.margin for e in told]
        judges = [e.judge for e in told]
        return Duels.from_votes(
            [self._labels[e.left] for e in told],
            [self._labels[e.right] for e in told],
            [e.outcome for e in told],
            margin=None if None in margins else [float(m) for m in margins if m is not None],
            judge=None if None in judges else judges,
            arms=[a for i, a in enumerate(self._labels)],
        )

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
        self._catch_up()
        return [
            {
                "ticket": self._id(e.ticket),
                "left": self._labels[e.left],
                "right": self._labels[e.right],
                "judge": e.judge,
                "outcome": as_told(e),
                "correction": e.version > 0,
                "reason": e.reason,
                "told": datetime.fromtimestamp(e.told, UTC).isoformat(timespec="seconds"),
            }
            for e in self._events
        ]

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
            f"<Study {where}: {len(self._labels)} arms, {self.n_duels:,} duels, "
            f"{type(self.goal).__name__}, {type(self.policy).__name__}>"
        )

    # -- in calling order ------------------------------------------------------------------

    def _asked_for(self, n: int, judge: str | None, connection: Any) -> list[Ticket] | None:
        """Choose and store n tickets; None if others asked or told meanwhile."""
        self._catch_up()
        if self.stopped:
            raise StudyStopped(f"The study has stopped: {self._decided().reason}.")
        seen = self._asked, self._events[-1].number if self._events else 0
        rng = self._rng(*seen)
        before = self._session.state()
        pairs = [self._sided(i, j, rng) for i, j in self._choose(n, rng) if i != j]
        if not pairs:
            self._session.restore(before)
            best = self._labels[self._decided().order[0]]
            raise StudyStopped(
                f"{type(self.policy).__name__} asks for no further duel: it would duel one arm "
                f"with itself. The best so far is {best!r}."
            )
        numbers = self._store.ask(pairs, judge, seen, connection)
        if numbers is None:
            self._session.restore(before)
            return None
        self._asked = numbers[-1]
        return [
            Ticket(self._id(k), self._labels[i], self._labels[j], judge)
            for k, (i, j) in zip(numbers, pairs, strict=True)
        ]

    def _catch_up(self) -> None:
        """Bring the session up to what the store holds."""
        last = self._events[-1].number if self._events else 0
        new, asks, counts = self._store.changes(self._asked, last)
        if counts == (self._asked, last):
            return
        if any(e.version > 0 for e in new):
            if self._events:
                self._load()
                return
            corrected = {e.ticket: e for e in new}  # a study with corrections is opened
            firsts = [e for e in new if e.version == 0]
            self._enter([corrected[e.ticket]._replace(number=e.number) for e in firsts], asks)
        else:
            self._enter(new, asks)
        self._events.extend(new)
        self._asked = counts[0]
        self._decision = None
        if new:
            log = self.duels() if self.model.score_link is None else None
            self._session.refit(self._memory_rng, log)

    def _enter(self, new: list[Event], asks: Sequence[tuple[int, int, int]]) -> None:
        """Enter new outcomes, and the choices that other processes, or an earlier one, made.

        A policy with a memory writes it as it chooses: every choice is repeated, with the
        outcomes that it knew, so that the memory is the same in every process.
        """
        place = 0
        for first, n, known in () if self._session.driven else asks:
            while place < len(new) and new[place].number <= known:
                self._record(new[place])
                place += 1
            self._session.choose(n, [], self._rng(first - 1, known))
        for e in new[place:]:
            self._record(e)

    def _record(self, e: Event) -> None:
        self._current[e.ticket] = e
        self._ordered[e.left, e.right] = self._ordered.get((e.left, e.right), 0) + 1
        self._session.record(e.left, e.right, e.outcome)

    def _rng(self, asked: int, known: int) -> np.random.Generator:
        """Return the randomness of a choice, given how many tickets and outcomes there were."""
        return np.random.default_rng([self._settings["seed"], 0, asked, known])

    def _choose(self, n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        late = time() - self._settings["timeout"]
        waiting = [(i, j) for _, i, j, _, asked in self._store.pending() if asked > late]
        return self._session.choose(n, waiting, rng)

    def _sided(self, i: int, j: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return the pair with the arm first that stood left less often, else at random."""
        ahead = self._ordered.get((i, j), 0) - self._ordered.get((j, i), 0)
        if ahead == 0:
            ahead = 1 if rng.random() < 0.5 else -1
        return (j, i) if ahead > 0 else (i, j)

    def _decided(self) -> Decision:
        self._catch_up()
        n = len(self._events)
        if self._decision is None or self._decision[0] != n:
            rng = np.random.default_rng([self._settings["seed"], 2, n])
            self._decision = n, self._session.decision(rng)
        return self._decision[1]

    def _checked(self, best: str, wanted: bool) -> dict[str, Any] | None:
        """Return what the transitivity check says of these outcomes, made once and stored."""
        last = self._events[-1].number if self._events else 0
        kept: dict[str, Any] | None = self._store.setting("check")
        if kept is not None and kept["outcomes"] == last:
            return kept
        if not wanted or (len(self._labels) < 3 and self._current):
            return None
        found = {"outcomes": last, **transitivity(self.duels(), best, self.model.name)}
        self._store.set(check=found)
        return found

    def _remember(self, decision: Decision) -> tuple[tuple[int, float], ...]:
        """Store and return the probability of the answer at every look."""
        history = [tuple(look) for look in self._store.setting("history")]
        look = len(self._current), round(decision.probability, 4)
        if look[0] and (not history or history[-1][0] != look[0]):
            history.append(look)
            self._store.set(history=history)
        return tuple((int(n), float(p)) for n, p in history)

    def _id(self, number: int) -> str:
        return f"{self._settings['key']}-{number}"

    def _number(self, ticket: Ticket | str) -> int:
        name = ticket.id if isinstance(ticket, Ticket) else str(ticket)
        key, _, number = name.rpartition("-")
        if key not in ("", self._settings["key"]) or not number.isdecimal():
            raise KeyError(f"ticket should be one of this study, got {shown_value(name)}")
        if self._store.ticket(int(number)) is None:
            raise KeyError(f"ticket should be one that was asked for, got {shown_value(name)}")
        return int(number)

    def _arm(self, label: str) -> int:
        if label not in self._labels:
            raise KeyError(f"arms should be of the study, got {shown_value(label)}")
        return self._labels.index(label)


NEVER = Budget(2**62)
MATRICES = 12  # of K x K numbers at a time: tallies, bounds and what a policy keeps


def _check_room(n_arms: int) -> None:
    """Raise ValueError unless the matrices of a study fit in the memory that is free."""
    instead = "leave out arms that are no candidates, or fit a model to the log of these duels"
    check_square(n_arms, MATRICES, "a study", instead)


def _arguments(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())
