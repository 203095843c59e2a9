"""What its owner changes of a study: arms that come and go, judges left out, and its end."""

from collections.abc import Sequence

from bayesduel.study.arms import allowed_pairs, checked_labels, listed
from bayesduel.study.asking import check_labels
from bayesduel.study.desk import Desk
from bayesduel.study.end import End
from bayesduel.study.judge_name import judge_name
from bayesduel.study.questions import locked
from bayesduel.study.settings import check_room, parts_of
from bayesduel.system.arguments import check_text, shown_value

__all__ = ["ArmsAndJudges"]


class ArmsAndJudges(Desk):
    """The arms and the judges of a study, and its end."""

    @property
    @locked
    def arms(self) -> tuple[str, ...]:
        """Labels of all arms, retired ones too."""
        return self._current.labels

    @property
    @locked
    def excluded(self) -> dict[str, str]:
        """Judges whose answers do not count, and why."""
        return dict(self._current.excluded)

    @property
    @locked
    def retired(self) -> tuple[int, ...]:
        """Retired arms, indices."""
        return tuple(sorted(self._current.retired))

    def add_arms(self, arms: Sequence[str], *, by: str | None = None) -> None:
        """Add arms, which start from the prior; warn if the allowed pairs do not connect them.

        Parameters
        ----------
        arms
            Labels.
        by
            Who does it, kept in the audit trail.

        Raises
        ------
        ValueError
            If a label is there already, or there are more arms than a study takes.
        """
        by = judge_name(by, "by")
        with self.together():
            new = checked_labels([*self.arms, *listed(arms)])[len(self.arms) :]
            check_labels(new)
            check_room(len(self.arms) + len(new))
            self._warn_of_parts([*self.arms, *new], self._ledger.retired)
            if new:
                self.store.add_arms(new, by)

    def retire_arms(self, arms: Sequence[str], *, by: str | None = None) -> None:
        """Retire arms: they are asked for no more and cannot be the answer.

        Their open tickets expire: they wait for nothing and take nothing off a budget or a quota,
        and can still be told.

        Parameters
        ----------
        arms
            Labels.
        by
            Who does it, kept in the audit trail.

        Raises
        ------
        KeyError, ValueError
            If a label is unknown, or fewer than two arms, or too few for the goal, would be left.
        """
        by = judge_name(by, "by")
        with self.together():
            numbers = self._numbers(arms)
            retired = self._ledger.retired | set(numbers)
            left = len(self.arms) - len(retired)
            if left < 2:
                raise ValueError(f"a study needs at least two arms, but only {left} would remain")
            self._ledger.parts.session.goal.check(left)
            parts_of(self._settings, self.arms, retired)  # refuses what cannot be
            self._warn_of_parts(self.arms, retired)
            self.store.retire_arms(numbers, True, by)

    @locked
    def restore_arms(self, arms: Sequence[str], *, by: str | None = None) -> None:
        """Take retired arms back into the study, with all their duels.

        Parameters
        ----------
        arms
            Labels.
        by
            Who does it, kept in the audit trail.

        Raises
        ------
        KeyError, ValueError
            If a label is unknown, or of an arm that is not retired.
        """
        by = judge_name(by, "by")
        numbers = self._numbers(arms)
        for k in numbers:
            if k not in self._ledger.retired:
                raise ValueError(f"only retired arms can be restored, got {self.arms[k]!r}")
        self.store.retire_arms(numbers, False, by)

    @locked
    def exclude_judge(self, judge: str, because: str, *, by: str | None = None) -> None:
        """Exclude a judge: stored answers no longer count, and the judge is not asked again.

        The posterior, the status and the stop rule are without them. What waits for an answer of
        the judge expires. The audit trail has it, ``rows(everything=True)`` marks the answers.

        Parameters
        ----------
        judge
            Name of a judge who was asked.
        because
            Why, in words.
        by
            Who does it, kept in the audit trail.

        Raises
        ------
        KeyError
            If no such judge was asked.
        ValueError
            If the judge is excluded already, or there is no reason.

        Examples
        --------
        >>> study = bd.Study(arms=["tea", "coffee"])
        >>> study.tell(study.ask(judge="ann"), "left")
        >>> study.exclude_judge("ann", "answered at random", by="lead")
        >>> study.n_duels
        0
        >>> study.include_judge("ann", "it was a mistake")
        >>> study.n_duels
        1
        """
        self._set_out(judge, because, by, out=True)

    @locked
    def include_judge(self, judge: str, because: str, *, by: str | None = None) -> None:
        """Let the answers of an excluded judge count again.

        Parameters
        ----------
        judge
            Name of a judge who is excluded.
        because, by
            As for ``exclude_judge``.

        Raises
        ------
        KeyError
            If no such judge was asked.
        ValueError
            If the judge is not excluded, or there is no reason.
        """
        self._set_out(judge, because, by, out=False)

    def _set_out(self, judge: str, because: str, by: str | None, *, out: bool) -> None:
        judge = judge_name(judge)
        by = judge_name(by, "by")
        check_text(because, "because")
        if not because.strip():
            raise ValueError(f"because should give the reason in words, got {shown_value(because)}")
        with self.together():
            if not self._of(judge)[0]:
                raise KeyError(f"judge should be a judge of this study, got {shown_value(judge)}")
            if (judge in self.store.excluded()) is out:
                state = "excluded already" if out else "not excluded"
                raise ValueError(f"judge {shown_value(judge)} is {state}")
            self.store.exclude(judge, because, by, out=out)

    def _numbers(self, arms: Sequence[str]) -> list[int]:
        self._ledger.catch_up()
        return [self._arm(label, "arms") for label in listed(arms)]

    def _warn_of_parts(self, labels: Sequence[str], retired: set[int]) -> None:
        """Warn DisconnectedWarning if the allowed pairs do not connect the arms that are left."""
        left = [label for k, label in enumerate(labels) if k not in retired]
        pairs = self._settings["pairs"]
        allowed_pairs(pairs and [pair for pair in pairs if set(pair) <= set(left)], left)

    @property
    @locked
    def ended(self) -> End | None:
        """Who ended the study (``by``), when (``at``) and why (``reason``); None if nobody did."""
        return self._current.end

    def end(self, reason: str = "", *, by: str | None = None) -> None:
        """End the study: no further question is asked, of no judge, until it is resumed.

        Nothing is lost. Tickets that are open now can still be told, and their answers count.
        Corrections, exports and reports work as before.

        Parameters
        ----------
        reason
            Why, in words. Kept in the audit trail; the status says it.
        by
            Who ends it, kept with the reason.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or the study is ended already.

        Examples
        --------
        >>> study = bd.Study(arms=["tea", "coffee"])
        >>> ticket = study.ask()
        >>> study.end("the kitchen closes", by="lead")
        >>> study.stopped, study.ended.reason
        (True, 'the kitchen closes')
        >>> study.tell(ticket, "left")
        >>> study.n_duels
        1
        >>> study.resume()
        >>> study.stopped
        False
        """
        self._set_end(reason, by, ended=True)

    def resume(self, reason: str = "", *, by: str | None = None) -> None:
        """Resume a study that was ended: judges are asked again, until the stop rule is reached.

        Parameters
        ----------
        reason
            Why, in words, kept in the audit trail.
        by
            Who resumes it.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or the study is not ended.
        """
        self._set_end(reason, by, ended=False)

    def _set_end(self, reason: str, by: str | None, *, ended: bool) -> None:
        check_text(reason, "reason")
        by = judge_name(by, "by")
        with self.together():
            end = self._current.end
            if ended and end is not None:
                raise ValueError(
                    f"the study cannot be ended twice. {end.sentence.removesuffix('.')}"
                )
            if not ended and end is None:
                why = ". This study has stopped by its stop rule" * self._current.reached
                raise ValueError(f"only a study that was ended can be resumed{why}")
            self.store.set_end(reason.strip(), by, ended=ended)
