"""A study: ask for the next pair, tell the outcome, stop when the posterior says enough."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.coding import check_coding
from bayesduel.data.reading import Reading
from bayesduel.models import Model
from bayesduel.study.arms_and_judges import ArmsAndJudges
from bayesduel.study.asking import NAMES, Asking
from bayesduel.study.database import Database
from bayesduel.study.export import export
from bayesduel.study.goal import Goal
from bayesduel.study.invitations import links_of
from bayesduel.study.items import checked_items
from bayesduel.study.judging import Judging, judge_table, seconds_of
from bayesduel.study.machine import run
from bayesduel.study.outcomes import audit_trail, log_rows, moment
from bayesduel.study.questions import NoQuestion, StudyStopped, locked
from bayesduel.study.schema import REPEAT, TRAINING
from bayesduel.study.session import Decision
from bayesduel.study.settings import differing, stored_settings
from bayesduel.study.status import Status
from bayesduel.study.stopping import StopRule
from bayesduel.study.store import (
    ANSWERED,
    COST,
    COUNTED,
    TICKETS,
    UNNAMED,
    Store,
    StudyError,
)
from bayesduel.study.verdict import objection, transitivity, verdict
from bayesduel.system.arguments import (
    by_reader,
    check_flag,
    check_text,
    did_you_mean,
    path_of,
    refused_arguments,
    shown_value,
    whole,
)
from bayesduel.system.options import StudyDecision
from bayesduel.text import join

__all__ = ["NoQuestion", "Study", "StudyStopped", "studies"]

EXPIRES = 3600.0  # seconds after which an open ticket is given to another judge: `--expires` too


class Study(ArmsAndJudges):
    """Ask for the next pair, tell the outcome, stop when the posterior says enough.

    A study lives in memory, in one SQLite file, or in a database that a team shares. What was told
    is on disk before ``tell`` returns. Several processes, and threads that share a study, may ask
    and tell at once.

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
        A rule, such as ``WithinRope(0.95, rope=0.02)``, a probability or a list of rules, of which
        any stops the study. None never stops. A probability p stands for ``WithinRope(p)``, with a
        rope of 0.05, for the best arm ``Confirmed(WithinRope(p))`` where a posterior-driven policy
        may ask for all pairs, for ``MinimizeRegret()`` for None.
    pairs
        The allowed pairs, as labels; by default all. With a posterior-driven policy or
        ``Uniform()``.
    costs
        Cost of a duel by pair of labels, 1 where it is not named.
    required
        By pair of labels, how many duels it has to have before the study may stop, whatever the
        stop rule. These are asked for first. With a posterior-driven policy.
    items
        Labels of what the arms are compared on (prompts): a ticket names one, and a judge sees a
        pair on an item once. Default: none.
    asking
        ``Asking(grades=..., both_bad=..., criteria=..., reasons=..., comment=...)``: what a ticket
        asks beside left, right or tie. Default: nothing. Grades are outcomes of a model of grades,
        such as ``CumulativeLogit()``; other models take who is better.
    judging
        ``Judging(quota=..., training=..., gold=..., repeats=...)``: what named judges are asked
        beside the policy's choice. Default: nothing.
    sources
        Cost of a vote by source, such as ``{"people": 1.0, "machine": 0.01}``, under a model of
        scores by source, ``BradleyTerry(Sources("source", target="people"))``. A judge with the
        name of a source is that source, every other one is of the target. Without a judge ``ask``
        names the source whose vote is expected to tell most of the goal for its cost; budgets,
        required duels and confirmation count votes of the target.
    expires
        Seconds after which a ticket without an outcome expires: it no longer counts as pending,
        and can still be told.
    name
        Of the study, where its database holds several, or is to.
    seed
        Whole number >= 0. The same seed, outcomes and order of calls give the same pairs; after
        reopening, a posterior-driven policy may choose another of pairs that are equally good up to
        rounding.
    exist_ok
        Whether the study may exist. It is then opened, and every argument that is given should be
        that of the study.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    StudyError
        If a stored study cannot be opened.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.study.WithinRope(0.95, rope=0.1))
    >>> while not study.stopped:
    ...     ticket = study.ask()
    ...     study.tell(ticket, "left")  # or "right", "tie"
    """

    @refused_arguments(
        rope="a study takes its rope from a rule: stop=bd.study.WithinRope(0.95, rope=...)",
        confidence="a study takes its confidence from a rule: stop=0.95, or a rule of bd.study",
        budget="a study takes its budget from a rule: stop=[0.95, bd.study.Budget(...)]",
    )
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        arms: Sequence[str] | None = None,
        goal: Any = None,
        model: Any = None,
        policy: Any = None,
        stop: Any = StudyDecision.confidence,
        pairs: Sequence[tuple[str, str]] | None = None,
        costs: Mapping[tuple[str, str], float] | None = None,
        required: Mapping[tuple[str, str], int] | None = None,
        items: Sequence[str] | None = None,
        asking: Asking | None = None,
        judging: Judging | None = None,
        sources: Mapping[str, float] | None = None,
        expires: float = EXPIRES,
        name: str | None = None,
        seed: int = 0,
        exist_ok: bool = False,
    ) -> None:
        given = {"goal": goal, "model": model, "policy": policy, "items": items}
        given |= {"pairs": pairs, "costs": costs, "required": required}
        given |= {"asking": asking, "judging": judging, "sources": sources}
        if path is not None:
            path_of(path)
        if name is not None:
            check_text(name, "name")
        store = Store(path, name)
        if store.is_new:
            if arms is None and path is not None:
                store.discard()
                raise StudyError(
                    f"{store.url} holds no study{_called(name)}: give arms to make one."
                )
            try:
                given["items"] = checked_items(items)
                values, labels = stored_settings(arms, given, stop, expires, seed)
                store.create(values, labels, given["items"])
            except Exception:
                store.discard()
                raise
            exist_ok = False
        elif exist_ok and arms is not None:
            given["items"] = checked_items(items)
            values, labels = stored_settings(arms, given, stop, expires, seed)
        elif (
            arms is not None
            or any(value is not None for value in given.values())
            or (stop, expires, seed) != (StudyDecision.confidence, EXPIRES, 0)
        ):
            python = "Open it without arguments, or with exist_ok=True if the arguments are its own"
            go_on = f"To go on with it, use `bayesduel study ask {store.url}`"
            raise StudyError(
                f"{store.url} already holds a study{_called(name)}. {by_reader(python, go_on)}. "
                "For a new study, give another path or name."
            )
        super().__init__(store)
        self._last_check: dict[str, Any] | None = None
        if exist_ok and arms is not None:
            wanted = {**values, "arms": labels, "items": given["items"]}
            held = {**store.all_settings(), "arms": self.arms, "items": self.items}
            others = differing(wanted, held)
            if others:
                self.close()
                raise StudyError(
                    f"{store.url} already holds a study{_called(name)} with other "
                    f"{join(others)}. Open it without arguments. For a new study, give "
                    "another path or name."
                )

    # -- logs ------------------------------------------------------------------------------

    @locked
    def import_duels(self, duels: Duels) -> None:
        """Add a log that exists already; every arm of it should be in the study.

        How the first log was read is stored, and ``study.duels()`` has it: read a further one with
        ``read_duels(..., like=study.duels())``.

        Raises
        ------
        TypeError, ValueError
            If `duels` is no log, holds an arm that the study does not have, has soft votes or
            sampling weights, has no margins where the model needs them, or has outcomes that the
            coding of an earlier one reads otherwise.
        """
        if not isinstance(duels, Duels):
            raise TypeError(f"duels should be Duels, got {type(duels).__name__}")
        unknown = [a for a in duels.arms if a not in self.arms]
        if unknown:
            hint = did_you_mean(unknown[0], self.arms)
            raise ValueError(f"arm {unknown[0]!r} of the log is not in the study{hint}")
        earlier = self.store.setting("reading") or {}
        check_coding(duels, earlier, "duels")
        index = [self.arms.index(a) for a in duels.arms]
        rows = log_rows(duels, index, self.kind, self._current.parts.session.sources, self.asking)
        if not {"coding", "means"} & earlier.keys() and duels.read_summary.reading:
            self.store.set(
                reading=dict(duels.read_summary.reading), understood=duels.reading.to_dict()
            )
        self.store.load(rows, f"imported: {duels.read_summary.source}")

    # -- what is known ---------------------------------------------------------------------

    @property
    def goal(self) -> Goal:
        """What is to be found out."""
        return self._ledger.parts.session.goal

    @property
    def model(self) -> Model:
        """The model of the outcomes."""
        return self._ledger.parts.model

    @property
    def policy(self) -> Any:
        """The policy that chooses the pairs."""
        return self._ledger.parts.session.policy

    @property
    def stop(self) -> StopRule | None:
        """When there is enough, or None."""
        return self._ledger.parts.stop

    @property
    def required(self) -> np.ndarray | None:
        """How often each pair has to meet before the study may stop, shape (K, K), or None."""
        return self._ledger.parts.session.required

    @property
    def judging(self) -> Judging | None:
        """The questions to named judges that the policy does not choose, or None."""
        return self._ledger.parts.judging

    @property
    @locked
    def sources(self) -> dict[str, tuple[float, int]]:
        """Cost of a vote and number of duels by source; {} where there are no sources."""
        held = self._current.parts.session.sources
        if held is None:
            return {}
        met = held.wins.sum(axis=(1, 2)).round().astype(int).tolist()
        return dict(zip(held.names, zip(held.cost.tolist(), met, strict=True), strict=True))

    @property
    def items(self) -> tuple[str, ...]:
        """Labels of the items that arms are compared on; () where there are none."""
        return self._items

    @property
    def name(self) -> str:
        """Name of the study in its database."""
        return self.store.name

    @property
    @locked
    def n_duels(self) -> int:
        """Number of outcomes told, without those that cannot tell."""
        return self._current.n_duels

    @locked
    def tally(self) -> np.ndarray:
        """Return the times that arm i beat arm j, a tie half a win each, shape (K, K).

        Of several sources those of the target.
        """
        return self._current.parts.session.wins.copy()

    @property
    @locked
    def stopped(self) -> bool:
        """Whether no further duel is asked for: the stop rule is reached, or the study is ended."""
        return self._current.end is not None or self._reached

    def status(self, *, check: bool | None = None, futures: int = 0, noun: str = "arm") -> Status:
        """Return where the study stands.

        Parameters
        ----------
        check
            Whether the transitivity check is run on the duels (``bayesduel.check``, quick). By
            default once the study is decided. Where it objects, the verdict says so. Of several
            sources it is run on the target's. It takes about a second, when the verdict, the check
            or the text is first read. Its result is kept until an outcome changes.
        futures
            Simulated futures by which the duels to go are estimated, while the study is open. With
            0 an earlier estimate is shown, where there is one. A study of several sources, or of a
            model that needs more than who won, has none.
        noun
            What an arm is called in the verdict, such as "model" or "dish".

        Raises
        ------
        ValueError
            If `futures` is not a whole number >= 0, or nothing was told yet that could be checked.
        """
        whole(futures, "futures", 0)
        check_text(noun, "noun")
        if check is not None:
            check_flag(check, "check")
        with self._lock:
            decision = self._current.decided()
            n_duels = self._ledger.n_duels
            arms = self._ledger.labels
            n_cannot_tell = self._ledger.n_cannot_tell
            n_pending = sum(times for *_, times in self.store.reserved(self._ledger.late))
            ((cost,),) = self.store.found(COST)
            history = self._remember(decision)
            end = self._ledger.end
            stopped = end is not None or (self.stop is not None and decision.stopped)
            not_fitted = self._ledger.parts.session.not_fitted
            best = arms[decision.order[0]]
            decided = self.stop is not None and decision.decided
            run_check = self._check_of(best, decided if check is None else check)
        order = [arms[i] for i in decision.order]
        answer = tuple(order[: self.goal.chosen(len(order))])
        if decision.nobody or not n_duels:
            answer = ()
        settings = ", ".join(f"{name}={value!r}" for name, value in self.goal.settings().items())
        estimate = None if stopped else self.store.setting("plan")
        if futures and not stopped:
            with suppress(ValueError):  # of a study whose futures cannot be simulated
                estimate = self._estimate(self.plan(futures, budget=2000))
        rope = 0.0 if self.stop is None else self.stop.rope
        said = verdict(
            self.goal, decision, arms, rope=rope, n_duels=n_duels, noun=noun, ended=end is not None
        )
        own = decision.decided and decision.confirmed
        return Status(
            goal=f"{type(self.goal).__name__}({settings})",
            policy=type(self.policy).__name__,
            n_duels=n_duels,
            n_pending=n_pending,
            cost=cost,
            n_cannot_tell=n_cannot_tell,
            stopped=stopped,
            decided=decided,
            answer=answer,
            confirmed=decision.confirmed,
            probability=decision.probability,
            reason=decision.reason if self.stop else "; ".join(filter(None, ["none", not_fitted])),
            history=history,
            ranking=tuple(order),
            tied=tuple(tuple(self.arms[i] for i in group) for group in decision.tied),
            plan=estimate,
            ended=end,
            answered=said,
            objection=objection(self.model.name, confirmed=own, noun=noun),
            run_check=run_check,
        )

    @locked
    def duels(self, criteria: str | Sequence[str] | None = None) -> Duels:
        """Return the outcomes told, as last corrected, as a log.

        The rope of a study is ``study.stop.rope``, by default 0.05; that of ``bayesduel.winners``
        is 0.02. The same verdict needs the same rope: ``bd.winners(fit, rope=study.stop.rope)``.

        Parameters
        ----------
        criteria
            Those whose answers are the votes. With several a vote is one answer, and the log has
            the column "criterion", of which ``Sources("criterion", target=...)`` makes scores by
            criterion. Default: the one that decides.

        Raises
        ------
        ValueError
            If a criterion is none of the study, or it has no outcome of two different arms yet.
        """
        names = [criteria] if isinstance(criteria, str) else criteria
        for name in names or ():
            if name not in self.asking.criteria:
                known = ", ".join(self.asking.criteria) or "none"
                raise ValueError(f"criteria should be among {known}, got {shown_value(name)}")
        log = self._ledger.duels(criteria=names)
        reading = self.store.setting("reading") or {}
        known = self.store.setting("understood")
        understood = None if known is None else Reading.from_dict(known)
        summary = replace(log.read_summary, reading=reading, understood=understood)
        return replace(log, read_summary=summary)

    def fit(self, **options: Any) -> Any:
        """Return the posterior of the study's model given its duels; see ``bayesduel.fit``."""
        from bayesduel.inference.fit import fit

        return fit(self.duels(), self.model, **options)

    def winners(self, **options: Any) -> Any:
        """Return the winners under every criterion; see ``bayesduel.winners``.

        With rope and confidence of the study's rule, among the arms that are not retired.
        """
        from bayesduel.posterior.winners import winners

        return winners(self.fit(), **(self.deciding | options))

    def report(
        self,
        path: str | Path = "report.html",
        *,
        criteria: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Path:
        """Write a report on the study's duels, and return its path; see ``bayesduel.report``.

        With the model of the study, the rope and the confidence of its rule, and its verdict among
        the arms that are not retired. The page has the name of the study, or of its file.

        Parameters
        ----------
        path
            The file to write.
        criteria
            As in ``duels``.
        options
            Of ``bayesduel.report``, which go before those of the study.
        """
        from bayesduel.reporting.report import report

        own = {"model": self.model, "title": self._title, **self.deciding}
        return report(self.duels(criteria), path, **(own | options))

    @property
    def deciding(self) -> dict[str, Any]:
        """Rope and confidence of its rule, and retired arms, as ``bayesduel.winners`` has them."""
        found: dict[str, Any] = {"retired": tuple(self.arms[k] for k in self.retired)}
        if self.stop is not None:
            found["confidence"] = self.stop.level
            if self.stop.rope:
                found["rope"] = self.stop.rope
        return found

    @property
    def _title(self) -> str:
        """What a page about the study is called: its name, or that of its file without ending."""
        file = self.store.path
        return self.name if file is None or self.name != UNNAMED else Path(file).stem

    def plan(self, n_futures: int = 100, budget: int = 5000, **options: Any) -> Any:
        """Return how many more duels the study is expected to take; see ``bayesduel.study.plan``.

        The study keeps the result for its status.
        """
        from bayesduel.study.planning import plan

        found = plan(self, n_futures=n_futures, budget=budget, **options)
        self.store.keep(plan=self._estimate(found))
        return found

    run = run
    export = export

    @locked
    def judges(self) -> list[dict[str, Any]]:
        """Return a dictionary per judge, by name.

        ``told`` (with ``cannot_tell``), ``skipped`` and ``open`` tickets and their ``cost``;
        answers that were ``corrected``; ``gold`` questions answered, ``gold_right`` of them, and
        whether the judge ``fails`` (see ``Judging``); answers ``shared`` with each other judge,
        and on how many they ``agreed``; questions ``repeated``, and answered as before
        (``consistent``). ``gold_interval``, ``agreed_interval`` and ``consistent_interval`` are
        95 % intervals of these shares. ``training`` questions answered, ``training_right`` of them.

        ``seconds`` is the median time of an answer, from the pair on the screen to what was told. A
        judge is ``too_fast`` (``too_slow``) where it is below a third of (above three times) that
        of the median judge, from 5 answers of each of 3 judges on. ``excluded`` says why the
        answers do not count, None where they do.
        """
        passed = Judging() if self.judging is None else self.judging
        rows = self.store.rows(TICKETS)
        out = self._current.excluded
        return judge_table(rows, self.store.events(), passed.gold_pass, out)

    @locked
    def audit(self) -> list[dict[str, Any]]:
        """Return all that happened, in order, as dictionaries.

        Every outcome, correction, answer taken back, skip, cancelled and reissued ticket, and every
        change of the arms, and each end of the study: ``event`` says which.
        """
        labels = self._current.labels
        key = self._settings["key"]
        asking = self.asking
        return audit_trail(self.store.events(), labels, self._items, key, asking)

    @locked
    def rows(self, *, everything: bool = False) -> list[dict[str, Any]]:
        """Return the tickets that are told and count, as they stand, as dictionaries.

        Parameters
        ----------
        everything
            Whether gold and training questions, repeats, what is open, skipped or cancelled, and
            answers of excluded judges are among them.

        Returns
        -------
        What a ticket has; when it was ``asked``, ``seen`` on a screen (where a page said it) and
        ``told``, in UTC, and the ``seconds`` from the screen, or the question, to the answer. With
        everything also ``kind`` ("duel", "gold", "training", "repeat"), the answer that is
        ``known`` to be right, ``cost``, the open ``link`` by which the judge came, and
        ``excluded``: why the answer does not count.
        """
        check_flag(everything, "everything")
        out = self._current.excluded
        found = []
        links = links_of(self.store) if everything else {}
        for row in self.store.rows(COUNTED if everything else ANSWERED):
            seconds = seconds_of(row)
            times = {
                "asked": moment(row.asked),
                "seen": None if row.seen is None else moment(row.seen),
                "told": moment(row.answered or row.asked) if row.state == "told" else None,
                "seconds": None if seconds is None else round(seconds, 3),
            }
            each = self._shown(row).to_dict() | times
            if everything:
                kind = {TRAINING: "training", REPEAT: "repeat"}.get(row.batch, "duel")
                kind = "gold" if kind == "duel" and row.gold is not None else kind
                judge = row.judge or ""
                each |= {
                    "kind": kind,
                    "known": None if row.gold is None else NAMES[row.gold],
                    "cost": row.cost,
                    "link": links.get(judge),
                    "excluded": out.get(judge),
                }
            found.append(each)
        return found

    @locked
    def backup(self, path: str | Path) -> None:
        """Write a copy of the study's file, as it stands now, while anyone may ask and tell.

        To copy the file itself is not enough while the study is open: its last answers are in the
        write-ahead log beside it. All studies of the file are copied.

        Parameters
        ----------
        path
            A new file.

        Raises
        ------
        StudyError
            If the file is there, or the study is in a database that is no file.

        Examples
        --------
        >>> study = bd.Study("drinks.study", arms=["tea", "coffee"])
        >>> study.backup("copy.study")
        >>> bd.Study("copy.study").arms
        ('tea', 'coffee')
        """
        self.store.backup(path_of(path))

    def close(self) -> None:
        """Close the file or the connections to the database."""
        self.store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in memory" if self.store.path is None else f"at {self.store.url}"
        return (
            f"<Study {self.name!r} {where}: {len(self.arms)} arms, {self.n_duels:,} duels, "
            f"{type(self.goal).__name__}, {type(self.policy).__name__}>"
        )

    @property
    def _reached(self) -> bool:
        """Whether the stop rule is reached, whether or not somebody ended the study."""
        return self._current.reached

    def _estimate(self, found: Any) -> dict[str, Any]:
        return {"duels": self.n_duels, "sentence": str(found), **found.to_dict()}

    def _check_of(self, best: str, wanted: bool) -> Callable[[], dict[str, Any] | None] | None:
        """Return a function that gives the transitivity check of the outcomes of now, or None.

        best: the first arm of the answer.
        wanted: whether it is run if it was not yet.
        """
        of = {"outcomes": self.store.last_outcome(), "best": best}
        kept = self._kept_check(of)
        if kept is not None:
            return lambda: kept
        if not wanted or (len(self._ledger.labels) < 3 and self._ledger.n_duels):
            return None
        log = self._ledger.duels(of_target=True)
        return lambda: self._run_check(log, of)

    def _kept_check(self, of: dict[str, Any]) -> dict[str, Any] | None:
        """Return the check of these outcomes and this arm, where it was run before."""
        for kept in (self._last_check, self.store.setting("check")):
            if kept is not None and of.items() <= kept.items():
                found: dict[str, Any] = kept
                return found
        return None

    def _run_check(self, log: Duels, of: dict[str, Any]) -> dict[str, Any]:
        """Return what the transitivity check says of a log, run once and stored."""
        kept = self._kept_check(of)
        if kept is not None:
            return kept
        found = {**of, **transitivity(log, of["best"], self.model.name)}
        self._last_check = found  # of a study that cannot be written, too
        self.store.keep(check=found)
        return found

    def _remember(self, decision: Decision) -> tuple[tuple[int, float], ...]:
        history = [tuple(look) for look in self.store.setting("history")]
        look = self._ledger.n_duels, round(decision.probability, 4)
        if look[0] and (not history or history[-1][0] != look[0]):
            history.append(look)
            self.store.keep(history=history)
        return tuple((int(n), float(p)) for n, p in history)


def _called(name: str | None) -> str:
    return "" if name is None else f" {name!r}"


def studies(path: str | Path) -> tuple[str, ...]:
    """Return the names of the studies of a file or a database.

    Parameters
    ----------
    path
        A file, or a database URL.

    Raises
    ------
    StudyError
        If it cannot be opened, or holds none.

    Examples
    --------
    >>> study = bd.Study("taste.study", arms=["tea", "coffee"], name="drinks")
    >>> bd.studies("taste.study")
    ('drinks',)
    """
    path_of(path)
    database = Database(path)
    try:
        if database.is_new:
            database.discard()
            raise StudyError(f"{database.url} holds no study.")
        return tuple(database.names())
    finally:
        database.close()
