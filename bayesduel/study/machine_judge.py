"""A language model as judge: the prompt of a pair, the verdict in its reply, and what it costs.

What the arms said is data: it is put in the place of a placeholder in one pass, so that braces in
it mean nothing. A reply counts if it is, or marks as ``[[...]]``, exactly one of the answers that
the study asks for; of several criteria it marks one for each, as ``[[criterion: answer]]``. Any
other reply is asked for again.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Condition
from typing import Any

from bayesduel.study.asking import BOTH_BAD, Asking
from bayesduel.study.chat_completions import ChatCompletions, Completion
from bayesduel.study.machine import NoAnswer, RunEnded
from bayesduel.study.replies import Replies, Reply
from bayesduel.study.tickets import Ticket
from bayesduel.text import join

__all__ = ["MachineJudge", "Prices", "checked_prompt", "summary", "verdict_in"]

PLACEHOLDERS = ("left", "right", "question", "item")
PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
MARKED = re.compile(r"\[\[([^\[\]]*)\]\]")


@dataclass(frozen=True)
class Prices:
    """What a reply costs."""

    read: float = 0.0  # of a million tokens of prompts
    written: float = 0.0  # of a million tokens of replies
    request: float = 0.0

    def cost(self, found: Completion) -> float | None:
        """Return the cost of a reply; None where it depends on tokens that are not named."""
        parts = [(self.read, found.read), (self.written, found.written)]
        if any(price and tokens is None for price, tokens in parts):
            return None
        # 1e6 tokens, of which servers name the price
        return self.request + sum(price * (tokens or 0) / 1e6 for price, tokens in parts)


def checked_prompt(text: str, asking: Asking) -> str:
    """Return a prompt for a study.

    Raises ValueError if it has an unknown placeholder, or lacks a side or a criterion.
    """
    named = PLACEHOLDER.findall(text)
    unknown = [name for name in named if name not in PLACEHOLDERS]
    missing = [name for name in ("left", "right") if name not in named]
    if unknown or missing:
        known = join([f"{{{name}}}" for name in PLACEHOLDERS])
        got = f"{{{unknown[0]}}}" if unknown else f"no {{{missing[0]}}}"
        raise ValueError(
            f"the prompt should have {{left}} and {{right}}, got {got}. Names that a prompt may "
            f"have are {known}"
        )
    for name in asking.criteria:
        if name not in text:
            raise ValueError(
                f"the prompt should ask for each criterion, such as [[{name}: left]], got no "
                f"{name!r}"
            )
    return text


def verdict_in(text: str | None, asking: Asking) -> str | dict[str, str] | None:
    """Return the answer of a reply as a study is told it, None where it is none.

    The reply, or what it marks as ``[[...]]``, has to be one word of ``asking.words``: in any case,
    with A for left, B for right, C for tie and "both bad" as other names. Marks that differ, and an
    answer among other words, are none. Of several criteria each has to be marked, as
    ``[[criterion: answer]]``; their answers are returned by name.
    """
    marks = MARKED.findall(text or "")
    if not asking.criteria:
        return _answer_in(marks or [text or ""], asking)
    by_criterion = defaultdict(list)
    for mark in marks:
        name, _, answer = mark.rpartition(":")
        by_criterion[_plain(name)].append(answer)
    found = {}
    for name in asking.criteria:
        answer = _answer_in(by_criterion[_plain(name)], asking)
        if answer is None:
            return None
        found[name] = answer
    return found


def _answer_in(marks: Iterable[str], asking: Asking) -> str | None:
    """Return the one word of a study that all marks are, None where there is none."""
    words = _words(asking)
    found = {words.get(_plain(mark)) for mark in marks}
    return found.pop() if len(found) == 1 else None


def _plain(mark: str) -> str:
    """Return a mark in small letters, without emphasis and spaces around it."""
    return " ".join(mark.strip(" \t\r\n*_`'\".").casefold().split())


def _words(asking: Asking) -> dict[str, str]:
    found = {word: word for word in asking.words}
    for word in asking.words:
        side, space, degree = word.partition(" ")
        other = {"left": "a", "right": "b", "tie": "c"}.get(side)
        if other is not None and word != BOTH_BAD:
            found[f"{other}{space}{degree}"] = word
    return found | ({"both bad": BOTH_BAD} if BOTH_BAD in found else {})


class MachineJudge:
    """A function of a ticket that asks a language model, as ``Study.run`` takes it.

    server: of the model.
    prompt: with the placeholders {left} and {right}, and {question} and {item} where wanted.
    shown: what fills these for a ticket.
    replies: where they are stored.
    asking: what the study asks for.
    tries: replies to an order that may be none; then the ticket has no answer.
    prices, budget: what a reply costs, and what all of this judge may cost, None for any sum.
    """

    def __init__(
        self,
        server: ChatCompletions,
        prompt: str,
        shown: Callable[[Ticket], Mapping[str, str]],
        replies: Replies,
        asking: Asking,
        *,
        tries: int = 3,
        prices: Prices | None = None,
        budget: float | None = None,
    ) -> None:
        self._server = server
        self._prompt = checked_prompt(prompt, asking)
        self._shown = shown
        self._replies = replies
        self._asking = asking
        self._tries = tries
        self._prices = prices or Prices()
        self._budget = budget
        costs = [reply.cost for reply in replies.all()]
        self._spent = sum(costs)
        self._largest = max(costs, default=None)
        self._under_way = 0
        self._money = Condition()

    def __call__(self, ticket: Ticket) -> tuple[str | dict[str, str], float]:
        """Return the answer to a ticket as it is shown, and what it cost in all.

        Raises NoAnswer after as many replies as are allowed, and RunEnded where the server cannot
        be used, or the budget is spent.
        """
        try:
            return self._answered(ticket)
        except (NoAnswer, RunEnded):
            raise
        except Exception as error:  # no fault of the ticket: it stays open
            self._server.end(f"{type(error).__name__}: {error}")

    def _answered(self, ticket: Ticket) -> tuple[str | dict[str, str], float]:
        number = int(ticket.id.rpartition("-")[2])
        known = self._replies.of_order(number, ticket.left)
        values = self._shown(ticket)
        prompt = PLACEHOLDER.sub(lambda found: values[found[1]], self._prompt)
        while True:
            cost = sum(reply.cost for reply in known)
            if known and known[-1].answer is not None:
                return known[-1].answer, cost
            if len(known) >= self._tries:
                raise NoAnswer(f"{len(known)} replies had no answer", cost)
            try:
                known.append(self._asked(prompt, number, ticket.left))
            except NoAnswer as none:
                raise NoAnswer(str(none), cost) from none

    def _asked(self, prompt: str, number: int, left: str) -> Reply:
        """Ask once, and store the reply."""
        self._reserve()
        cost = None
        try:
            found = self._server.ask(prompt)
            answer = verdict_in(found.text, self._asking)
            cost = self._prices.cost(found)
            reply = Reply(number, left, answer, _stored(found.text), *found[1:], cost or 0.0)
            self._replies.add(reply)
        finally:
            with self._money:
                self._under_way -= 1
                self._spent += cost or 0.0
                self._largest = max(self._largest or 0.0, cost or 0.0)
                self._money.notify_all()
        if cost is None:
            self._server.end(
                "the endpoint does not report tokens, so the cost of a reply is unknown"
            )
        return reply

    def _reserve(self) -> None:
        """Wait until the budget has room for a reply as dear as the dearest.

        Before the first reply nobody knows what one costs: it is asked for alone.
        """
        with self._money:
            while self._budget is not None:
                dearest = self._largest
                after = self._spent + (self._under_way + 1) * (dearest or 0.0)
                if after <= self._budget and (dearest is not None or not self._under_way):
                    break
                if not self._under_way:
                    raise RunEnded(f"the budget of {self._budget:,.6g} is spent")
                self._money.wait()
            self._under_way += 1


def _stored(text: str | None) -> str:
    """Return a text that any database takes."""
    return (text or "").replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def summary(replies: Replies, asking: Asking) -> dict[str, Any]:
    """Return what a machine judge did in all runs: replies, tokens, cost, and its consistency.

    ``orders`` is the number of tickets that it judged in both orders, ``same`` of how many its
    answer stayed the same, ``first`` of how many of its answers the side shown first was better,
    and ``second`` the other one. Of several criteria the one that decides is counted.
    """
    found = replies.all()
    answers: dict[int, dict[str, str]] = defaultdict(dict)
    sides = []
    for reply in found:
        said = reply.answer
        word = said[str(asking.deciding)] if isinstance(said, dict) else said
        if word is None:
            continue
        answers[reply.ticket][reply.left] = word
        sides.append(word.partition(" ")[0])
    both = [tuple(each.values()) for each in answers.values() if len(each) == 2]
    return {
        "replies": len(found),
        "without_answer": sum(reply.answer is None for reply in found),
        "read": sum(reply.read or 0 for reply in found),
        "written": sum(reply.written or 0 for reply in found),
        "cost": sum(reply.cost for reply in found),
        "orders": len(both),
        "same": sum(first == asking.swapped(second) for first, second in both),
        "first": sides.count("left"),
        "second": sides.count("right"),
    }
