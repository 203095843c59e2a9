"""Machine judges: a function that judges, asked in parallel until the study has enough."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from bayesduel.study.asking import CANNOT_TELL, Asking
from bayesduel.study.desk import Desk
from bayesduel.study.questions import StudyStopped
from bayesduel.study.store import StudyError
from bayesduel.study.tickets import Ticket
from bayesduel.system.arguments import (
    check_call,
    check_flag,
    check_text,
    check_type,
    finite,
    whole,
)
from bayesduel.text import join

__all__ = ["MachineRun", "NoAnswer", "RunEnded", "run"]


class NoAnswer(Exception):
    """A machine judge has no answer to a ticket: the ticket is skipped and not tried again.

    cost: of what was asked in vain.
    """

    def __init__(self, why: str, cost: float = 0.0) -> None:
        super().__init__(why)
        self.cost = cost


class RunEnded(Exception):
    """A machine judge cannot go on: the run ends, and its tickets stay open."""


class Verdict(NamedTuple):
    """The answer of a machine judge about a pair."""

    outcome: Any
    criteria: dict[str, Any]  # answers to the criteria that do not decide


@dataclass(frozen=True)
class MachineRun:
    """The result of a run of a machine judge.

    Attributes
    ----------
    told, skipped
        Tickets that it answered, and that it failed on after all retries.
    cost
        Sum of the costs that it named.
    errors
        Of the tickets that it failed on, by id.
    ended
        Why the run ended.
    """

    told: int
    skipped: int
    cost: float
    errors: dict[str, str]
    ended: str


def run(
    self: Desk,
    judge: Callable[[Ticket], Any],
    *,
    name: str = "machine",
    workers: int = 8,
    retries: int = 2,
    both_orders: bool = True,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> MachineRun:
    """Ask a machine judge in parallel until the study has enough; the method ``Study.run``.

    Parameters
    ----------
    judge
        Function, or coroutine function, of a ticket that returns its outcome as ``tell`` takes
        it, or the outcome and what it cost. In a study with criteria the outcome is a mapping:
        the answer to each criterion, by name.
    name
        Of the judge.
    workers
        Tickets that are judged at a time, chosen jointly.
    retries
        After an error, or an outcome that is none; beyond these the ticket is skipped.
    both_orders
        Whether each pair is shown in both: answers that differ are a tie, of margins the mean
        counts; if one of them cannot tell, neither can the machine. Each criterion is taken apart.
    most
        Tickets of this run.
    progress
        Function that is called with the number of tickets so far.

    Returns
    -------
    What was done: tickets told and skipped, the cost, errors, and why the run ended. A run
    that was cut off goes on with the tickets that it left open.
    """
    check_call(judge, "judge")
    check_text(name, "name")
    check_flag(both_orders, "both_orders")
    check_call(progress, "progress", none=True)
    workers = whole(workers, "workers", 1)
    retries = whole(retries, "retries", 0)
    sources = self._current.parts.session.sources
    if sources is not None and name not in sources.names:
        raise ValueError(
            f"name should be a source of the study ({join(sources.names, word='or')}), got {name!r}"
        )
    left = float("inf") if most is None else whole(most, "most", 1)
    told = 0
    cost = 0.0
    errors = {}
    ended = "the number of tickets that was asked for"
    with ThreadPoolExecutor(workers) as threads:
        while left > 0:
            try:
                tickets = self.ask(int(min(workers, left)), judge=name)
            except StudyStopped as stopped:
                ended = str(stopped)
                break
            left -= len(tickets)
            asked = [threads.submit(_judged, self, judge, t, retries, both_orders) for t in tickets]
            faults = []
            for ticket, answer in zip(tickets, asked, strict=True):
                try:
                    verdict, spent, error = answer.result()
                except RunEnded as fault:
                    faults.append(str(fault))
                    continue
                cost += spent
                done = partial(self.skip, ticket)
                if verdict is not None:
                    done = partial(self.tell, ticket, verdict.outcome, criteria=verdict.criteria)
                try:
                    done(judge=name, cost=spent)
                except StudyError:
                    raise
                except (KeyError, ValueError) as gone:  # cancelled meanwhile, or with another judge
                    error = str(gone)
                if error:
                    errors[ticket.id] = error
                told += not error
                if progress is not None:
                    progress(told + len(errors))
            if faults:
                ended = faults[0]
                break
    return MachineRun(told, len(errors), cost, errors, ended)


def _judged(
    study: Desk, judge: Callable[[Ticket], Any], ticket: Ticket, retries: int, both_orders: bool
) -> tuple[Verdict | None, float, str]:
    """Return verdict, cost, and what went wrong, "" if nothing did."""
    asking = study.asking
    verdicts = []
    cost = 0.0
    orders = [ticket, replace(ticket, left=ticket.right, right=ticket.left)]
    for order in orders if both_orders else orders[:1]:
        error = ""
        for _ in range(retries + 1):
            try:
                found = judge(order)
                if inspect.isawaitable(found):
                    found = asyncio.run(_awaited(found))
                outcome, spent = found if isinstance(found, tuple) else (found, 0.0)
                cost += finite(spent, "cost")
                verdict = _verdict(outcome, asking)
                asking.answer(verdict.outcome, study.kind, verdict.criteria)
            except NoAnswer as none:
                return None, cost + none.cost, str(none)
            except RunEnded:
                raise
            except Exception as raised:  # whatever a service raises, the study goes on
                error = f"{type(raised).__name__}: {raised}"
                continue
            error = ""
            verdicts.append(verdict)
            break
        if error:
            return None, cost, error
    first, *second = verdicts
    return (_of_both(first, second[0], asking) if second else first), cost, ""


def _verdict(said: Any, asking: Asking) -> Verdict:
    """Return the outcome and the other answers of what a judge returned.

    Raises TypeError if a study with criteria gets no mapping.
    """
    if not asking.criteria:
        return Verdict(said, {})
    check_type(said, Mapping, "the verdict", "an answer to each criterion, by name")
    others = {name: answer for name, answer in said.items() if name != asking.deciding}
    return Verdict(said.get(asking.deciding), others)


def _of_both(first: Verdict, second: Verdict, asking: Asking) -> Verdict:
    """Return one verdict of those of a pair in both orders."""
    others = {
        name: _one_answer(answer, second.criteria[name], asking)
        for name, answer in first.criteria.items()
    }
    return Verdict(_one_answer(first.outcome, second.outcome, asking), others)


def _one_answer(first: Any, second: Any, asking: Asking) -> Any:
    """Return one answer of two, of which the second one stands with the sides swapped."""
    if CANNOT_TELL in (first, second):
        return CANNOT_TELL
    if isinstance(first, str):
        return first if first == asking.swapped(second) else "tie"
    return (first - second) / 2


async def _awaited(found: Any) -> Any:
    return await found
