"""Tickets of a study over its counter: asked for, answered, skipped, taken back, given again."""

from collections.abc import Mapping, Sequence
from shlex import quote
from time import time
from typing import Any, overload

from bayesduel.study.asking import NAMES, Answer, Asking, said_in
from bayesduel.study.items import SeenItems
from bayesduel.study.judge_name import judge_name
from bayesduel.study.judging import (
    note_of,
)
from bayesduel.study.outcomes import as_told
from bayesduel.study.questions import Questions, locked
from bayesduel.study.schema import TRAINING, Row
from bayesduel.study.store import EXPIRED, PENDING
from bayesduel.study.tickets import Ticket, ticket_id, ticket_number
from bayesduel.system.arguments import by_reader, check_utf8, finite, shown_value, whole

__all__ = ["Desk"]


class Desk(Questions):
    """Tickets of a study; threads may share it.

    store: its tickets and events.
    """

    @property
    def kind(self) -> str:
        """Kind of the outcomes of the study's model; "margin" where they are margins."""
        return str(self._ledger.parts.model.response.outcome)

    @property
    def asking(self) -> Asking:
        """The questions of a ticket: grades, criteria, reasons and a comment."""
        return self._ledger.parts.asking

    @overload
    def ask(self, n: None = None, judge: str | None = None) -> Ticket: ...
    @overload
    def ask(self, n: int, judge: str | None = None) -> list[Ticket]: ...

    def ask(self, n: int | None = None, judge: str | None = None) -> Ticket | list[Ticket]:
        """Return a ticket for the next duel, or a list of `n` that are chosen jointly.

        A judge who has open tickets that did not expire gets these, the oldest first, before new
        ones. Which arm stands left is drawn at random so that, of every pair, both
        orders occur equally often.

        Parameters
        ----------
        n
            How many tickets; by default one, not in a list. Of a budget no more than it leaves.
        judge
            Who is to judge. In a study of several sources, by default whoever tells most for the
            cost.

        Raises
        ------
        StudyStopped
            If the stop rule is reached, or somebody ended the study.
        NoQuestion
            A `StudyStopped`: if tickets that wait for an outcome use up the budget, or the
            judge has seen all that there is, fails the gold questions where that screens out, or is
            excluded, or another source is to be asked now.
        TypeError, ValueError
            If `n` is not a whole number >= 1.
        """
        if isinstance(n, str):
            raise TypeError(
                f"n should be a whole number, got {n!r}: a judge is named by judge={n!r}"
            )
        # More tickets in one call are a typing error
        count = whole(1 if n is None else n, "n", 1, 100_000)
        judge = judge_name(judge)
        with self.together():
            found = [self._shown(row) for row in self._asked_for(count, judge)]
        return found[0] if n is None else found

    def tell(
        self,
        ticket: Ticket | str,
        outcome: str | float,
        *,
        judge: str | None = None,
        cost: float | None = None,
        criteria: Mapping[str, str] | None = None,
        reasons: Sequence[str] = (),
        comment: str | None = None,
        seen: float | None = None,
    ) -> None:
        """Store the answer to a ticket; it is on disk, as a whole, when this returns.

        The same answer told again changes nothing. A ticket that expired or was skipped is told
        all the same.

        Parameters
        ----------
        ticket
            What ``ask`` returned, or its id, or the number behind the dash of its id.
        outcome
            "left", "right" or "tie"; under a model of margins a number, left's score minus right's.
            The label of the arm on that side may stand in place of left and right: "tea", in any
            case. Or "cannot tell": an answer that is stored and is no duel. In a study that
            asks for grades a word such as "left much better", where it asks for that "tie
            (bothbad)": see ``study.asking.words``.
        judge
            Who tells; by default the ticket's judge. Another than that is refused.
        cost
            Of the answer; costs of a ticket are added up.
        criteria
            The answer to each criterion that does not decide, by name; in a study with criteria.
        reasons, comment
            What the judge chose of the study's reasons, and wrote, where the study asks for it.
        seen
            Seconds that the pair was on the screen before the answer, where that is known.

        Raises
        ------
        KeyError
            If the ticket is not of this study, or of another judge.
        ValueError
            If the answer, the cost or `seen` is none, another answer was told before (see
            ``correct``), or the ticket was cancelled.
        """
        judge = judge_name(judge)
        if seen is not None and finite(seen, "seen") < 0:
            raise ValueError(f"seen should be 0 or more seconds, got {shown_value(seen)}")
        with self.together():
            row = self._row(ticket, judge)
            answer = self.asking.answer(
                outcome, self.kind, criteria, reasons, comment, arms=self._labels_of(row)
            )
            who = row.judge if judge is None else judge
            if row.state in ("open", "skipped"):
                more: dict[str, Any] = {"judge": who, "cost": _added(row, cost)}
                if seen is not None:
                    more["seen"] = max(time() - seen, row.asked)
                self.store.happen(row, "told", "told", answer=answer, who=who, **more)
                self._exclude_who_fails(row, who)
            elif row.state == "cancelled":
                raise ValueError(
                    f"ticket {self._id(row.number)} should be open, but it is cancelled"
                )
            elif as_told(row) != as_told(answer):
                raise ValueError(
                    f"outcome of ticket {self._id(row.number)} should be "
                    f"{as_told(row)!r}, as you told before, got {shown_value(outcome)}. "
                    f"To change it, use {self._correction(str(row.number), str(outcome))}"
                )
            elif Answer(row.outcome, row.margin, row.said) != answer:
                raise ValueError(
                    f"criteria, reasons and comment of ticket {self._id(row.number)} "
                    "should be the same as before, but they differ"
                )

    def correct(
        self, ticket: Ticket | str, outcome: str | float, reason: str = "", *, by: str | None = None
    ) -> None:
        """Replace the outcome of a ticket; the old one stays in the audit trail.

        Answers to criteria that do not decide, reasons and comment stay as they are.

        Parameters
        ----------
        ticket, outcome
            As for ``tell``.
        reason
            Why, in words. It has to be given.
        by
            Who corrects.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        ValueError
            If no outcome was told yet, or there is no reason.
        """
        if not isinstance(reason, str) or not reason.strip():
            number = str(ticket_number(self._settings["key"], ticket))
            raise ValueError(
                f"reason should say why the outcome is corrected, got {shown_value(reason)}. Use "
                f"{self._correction(number, str(outcome))}"
            )
        check_utf8(reason, "reason should be UTF-8 text")
        with self.together():
            row = self._row(ticket)
            said = said_in(row.said)  # the rest of the answer stays
            answer = self.asking.answer(
                outcome, self.kind, said.criteria, said.reasons, said.comment,
                arms=self._labels_of(row), whole_ticket=False,
            )  # fmt: skip
            self._happen(
                ticket, "corrected", ("told",), "told", "an outcome to correct",
                answer=answer, reason=reason, by=by,
            )  # fmt: skip

    def _correction(self, ticket: str, outcome: str) -> str:
        """Return the call, or the command, that corrects a ticket."""
        python = f"study.correct({ticket!r}, {outcome!r}, reason='...')"
        words = quote(self.store.url), ticket, quote(outcome)
        return by_reader(python, f'bayesduel study correct {" ".join(words)} --reason "..."')

    def undo(self, judge: str | None = None) -> Ticket:
        """Take back the last answer, or skip, of a judge; return the ticket, which is open again.

        What was taken back stays in the audit trail. Until it is answered anew ``ask`` gives the
        ticket to its judge again.

        Raises
        ------
        ValueError
            If no judge is named, there is no answer, or someone else corrected it since.
        """
        judge = judge_name(judge)
        if judge is None:
            name = by_reader("study.undo('NAME')", "--judge NAME")
            raise ValueError(
                f"give the judge whose last answer is taken back: {name}. To change an answer "
                f"without a judge, use {self._correction('TICKET', 'OUTCOME')}"
            )
        with self.together():
            _, number, who = self.store.done_by(judge)
            if number is None:
                raise ValueError(f"judge {judge!r} has no answer that can be taken back")
            if who != judge:
                corrector = "somebody" if who is None else repr(who)
                raise ValueError(
                    f"judge {judge!r} cannot take back the answer to ticket {self._id(number)}, "
                    f"because {corrector} has corrected it"
                )
            states = ("told", "skipped")
            return self._happen(
                str(number), "withdrawn", states, "open", "an answer", by=judge, asked=time()
            )

    def skip(
        self, ticket: Ticket | str, *, judge: str | None = None, cost: float | None = None
    ) -> None:
        """Give a ticket back without an answer; the judge is not asked the same again.

        Parameters
        ----------
        ticket
            As for ``tell``.
        judge
            Who skips; by default the ticket's judge. Another than that is refused.
        cost
            As for ``tell``.

        Raises
        ------
        KeyError
            If the ticket is not of this study, or of another judge.
        ValueError
            If it is told or cancelled.
        """
        judge = judge_name(judge)
        with self.together():
            row = self._row(ticket, judge)
            who = row.judge if judge is None else judge
            if row.state != "skipped":
                rule = "no outcome before it is skipped"
                self._happen(
                    ticket, "skipped", ("open",), "skipped", rule, by=who, judge=who,
                    cost=_added(row, cost),
                )  # fmt: skip

    def cancel(self, ticket: Ticket | str, *, by: str | None = None) -> None:
        """Withdraw a ticket that has no answer: nobody can tell it until it is reissued.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        ValueError
            If it is told.
        """
        states = ("open", "skipped", "cancelled")
        self._happen(
            ticket,
            "cancelled",
            states,
            "cancelled",
            "no outcome before it is cancelled",
            by=by,
        )

    def reissue(
        self, ticket: Ticket | str, judge: str | None = None, *, by: str | None = None
    ) -> Ticket:
        """Open a ticket again that expired, was skipped or cancelled, or is with another judge.

        Parameters
        ----------
        ticket
            As for ``tell``.
        judge
            Who is to judge from now on; by default who was.
        by
            Who reissues.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        ValueError
            If it is told, or `judge` has another ticket of its pair (on its item).
        """
        judge = judge_name(judge)
        states = ("open", "skipped", "cancelled")
        changes = {"asked": time()} | ({} if judge is None else {"judge": judge})
        if judge is not None:
            self._check_unseen(self._row(ticket), judge)
        rule = "no outcome before it is reissued"
        return self._happen(ticket, "reissued", states, "open", rule, by=by, **changes)

    @locked
    def add(
        self,
        left: str,
        right: str,
        outcome: str | float,
        *,
        judge: str | None = None,
        item: str | None = None,
    ) -> Ticket:
        """Store a duel that nobody asked for, and return its ticket.

        Parameters
        ----------
        left, right
            Labels of two arms.
        outcome
            As for ``tell``.
        judge
            Who judged.
        item
            On which item, in a study with items.

        Raises
        ------
        KeyError, ValueError
            If an argument is not as described.
        """
        self._ledger.catch_up()
        judge = judge_name(judge)
        pair = self._arm(left, "left"), self._arm(right, "right")
        if pair[0] == pair[1]:
            raise ValueError(f"left and right should be two different arms, got {left!r} twice")
        arms = (left, right)
        answer = self.asking.answer(outcome, self.kind, arms=arms, whole_ticket=False)
        known = isinstance(item, str) and item in self._items
        if not (known if self._items else item is None):
            rule = "one of the study" if self._items else "None, because the study has no items"
            raise ValueError(f"item should be {rule}, got {shown_value(item)}")
        place = None if item is None else self._items.index(item)
        (row,) = self.store.load([(*pair, place, judge, answer)], None)
        return self._shown(row)

    @locked
    def ticket(self, ticket: Ticket | str) -> Ticket:
        """Return a ticket as it stands now, given itself, its id or its number.

        Raises
        ------
        KeyError
            If the ticket is not of this study.
        """
        self._ledger.catch_up()  # arms that another process retired
        return self._shown(self._row(ticket))

    @locked
    def barred(self, judge: str) -> str:
        """Return why a judge is asked nothing any more, "" where the judge is.

        A judge is excluded, or fails the gold questions where that screens out (see ``Judging``).
        """
        judge = judge_name(judge)
        self._ledger.catch_up()
        return self._barred(judge, self._of(judge)[0])

    @locked
    def pending(self, judge: str | None = None) -> list[Ticket]:
        """Return the open tickets that did not expire, the oldest first; of one judge if named."""
        judge = judge_name(judge)
        late = self._current.late
        found = self.store.rows(PENDING, late=late) if judge is None else self._of(judge)[1]
        return [self._shown(row) for row in found]

    @locked
    def expired(self) -> list[Ticket]:
        """Return the open tickets that expired, the oldest first; they can still be told."""
        return [self._shown(row) for row in self.store.rows(EXPIRED, late=self._current.late)]

    def _exclude_who_fails(self, row: Row, judge: str | None) -> None:
        """Exclude a judge whose answer to a gold question was one wrong one too many."""
        judging = self._ledger.parts.judging
        if judge is None or judging is None or judging.on_fail != "exclude" or row.gold is None:
            return
        failed = self._failed(judging, self._of(judge)[0])
        if failed and judge not in self.store.excluded():
            self.store.exclude(judge, failed, None)

    def _happen(
        self,
        ticket: Ticket | str,
        kind: str,
        states: tuple[str, ...],
        state: str,
        rule: str,
        *,
        by: str | None,
        **values: Any,
    ) -> Ticket:
        """Store that something happened to a ticket; raise ValueError where its state forbids."""
        by = judge_name(by, "by")
        with self.together():
            row = self._row(ticket)
            if row.state not in states:
                raise ValueError(
                    f"ticket {self._id(row.number)} should have {rule}, but it is {row.state}"
                )
            self.store.happen(row, kind, state, who=by, **values)
            return self._shown(self._row(ticket))

    def _check_unseen(self, row: Row, judge: str) -> None:
        """Raise ValueError if a judge has another ticket of the same pair (on the same item)."""
        if not self._is_person(judge):
            return
        others = [one for one in self._of(judge)[0] if one.number != row.number]
        seen = SeenItems(others, len(self._ledger.labels), len(self._items), once=True)
        if row.item in seen.items(row.left, row.right):
            raise ValueError(
                f"judge {judge!r} has already seen the pair of ticket {self._id(row.number)}: give "
                "the ticket to another judge"
            )

    def _row(self, ticket: Ticket | str, judge: str | None = None) -> Row:
        """Return a ticket that was asked for, and that is that judge's where one is named."""
        number = ticket_number(self._settings["key"], ticket)
        found = self.store.row(number)
        if found is None:
            name = ticket.id if isinstance(ticket, Ticket) else str(ticket)
            n = self.store.counts()[0]
            last = f"the last ticket is {self._id(n)}" if n else "the study has no ticket yet"
            raise KeyError(f"ticket {shown_value(name)} was not asked for yet; {last}")
        judge = judge_name(judge)
        if judge is not None and found.judge not in (None, judge):
            raise KeyError(f"ticket {self._id(number)} should belong to {judge!r}, but it does not")
        return found

    def _labels_of(self, row: Row) -> tuple[str, str]:
        """Return the labels of the left and the right arm of a ticket."""
        if max(row.left, row.right) >= len(self._ledger.labels):  # another process added arms
            self._ledger.catch_up()
        labels = self._ledger.labels
        return labels[row.left], labels[row.right]

    def _shown(self, row: Row) -> Ticket:
        """Return a ticket with labels."""
        labels = self._labels_of(row)
        expired = row.state == "open" and not self._ledger.awaits(row)
        sources = self._ledger.parts.session.sources
        said = said_in(row.said)
        training = row.batch == TRAINING
        note = note_of(self._ledger.parts.judging, row)
        feedback = None
        if training and row.state == "told":
            right = row.outcome == row.gold
            feedback = {"right": right, "outcome": NAMES[row.gold], "text": note}
        return Ticket(
            self._id(row.number),
            *labels,
            row.judge,
            None if row.item is None else self._items[row.item],
            "expired" if expired else row.state,
            as_told(row) if row.state == "told" else None,
            row.taken_back,
            None if sources is None else sources.names[sources.source_of(row.judge)],
            dict(said.criteria),
            tuple(said.reasons),
            said.comment or None,
            None if training else note or None,
            training,
            feedback,
        )

    def _id(self, number: int) -> str:
        return ticket_id(self._settings["key"], number)

    def _arm(self, label: object, name: str) -> int:
        if not isinstance(label, str) or label not in self._ledger.labels:
            raise KeyError(f"{name} should be an arm of the study, got {shown_value(label)}")
        return self._ledger.labels.index(label)


def _added(row: Row, cost: float | None) -> float | None:
    if cost is None:
        return row.cost
    if finite(cost, "cost") < 0:
        raise ValueError(f"cost should be 0 or more, got {shown_value(cost)}")
    return (row.cost or 0.0) + float(cost)
