"""What judges are asked beside the policy's choice: gold questions, overlap, repeats; quotas.

A gold question has a known answer and is no duel: who misses many of them does not judge with care.
Overlap asks a second judge what a first one has answered, so that their agreement is known; a
repeat asks a judge again, with the sides swapped, so that the judge's consistency is. Both count as
duels.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesduel.intervals import wilson
from bayesduel.study.outcomes import SIDES
from bayesduel.study.schema import Event, Row
from bayesduel.system.arguments import check_range, check_type, shown_value, whole

__all__ = ["Judging", "Question", "checked_judging", "judge_table", "question", "stored_judging"]

APART = 3  # tickets of the judge between a question and its repeat, at least

# Left, right, item, and the right outcome of a gold question, else None.
Question = tuple[int, int, int | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What judges are asked beside what the policy chooses.

    Parameters
    ----------
    quota
        Tickets that a judge answers at most, or None.
    gold
        Questions whose answer is known: left, right and outcome, with an item in a study that has
        items. Labels of the study; "left", "right" or "tie". They are no duels.
    gold_share
        Share of a judge's questions that are gold, while there are unseen ones.
    gold_pass
        Share of right answers below which, by the upper end of its 95 % interval, a judge fails.
    overlap
        Share of the questions that other judges have answered already, those answered by fewest
        first.
    repeats
        Share of the questions that the judge has answered before, sides swapped.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"], judging=bd.Judging(quota=1))
    >>> study.tell(study.ask(judge="ann"), "left")
    >>> study.ask(judge="bob").judge
    'bob'
    """

    quota: int | None = None
    gold: Sequence[Sequence[str]] = ()
    gold_share: float = 0.1
    gold_pass: float = 0.7
    overlap: float = 0.0
    repeats: float = 0.0

    def __post_init__(self) -> None:
        check_type(self.gold, list | tuple, "gold", "a list of questions")
        if self.quota is not None:
            whole(self.quota, "quota", 1)
        given = {"gold_share": self.gold_share, "gold_pass": self.gold_pass}
        for name, share in (given | {"overlap": self.overlap, "repeats": self.repeats}).items():
            check_range(share, name, "in [0, 1]")
        if self.overlap + self.repeats + self.gold_share * bool(self.gold) > 1:
            raise ValueError("overlap, repeats and gold_share should add up to 1 at most")

    @property
    def questions(self) -> list[Question]:
        """The gold questions as stored: numbers of arms and item, and the right outcome."""
        return [tuple(each) for each in self.gold]  # type: ignore[misc]

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of each kind of question."""
        gold = self.gold_share if self.gold else 0.0
        return {"gold": gold, "repeats": self.repeats, "overlap": self.overlap}


def checked_judging(
    judging: Judging | None, arms: Sequence[str], items: Sequence[str], kind: str
) -> dict[str, Any] | None:
    """Return the settings as they are stored; gold questions as numbers.

    Raises TypeError or ValueError if it is none, or a gold question is not of this study.
    """
    if judging is None:
        return None
    check_type(judging, Judging, "judging", "Judging(...)")
    size, gold = 4 if items else 3, []
    for each in judging.gold:
        good = isinstance(each, Sequence) and not isinstance(each, str) and len(each) == size
        if not good or each[0] == each[1] or not set(each[:2]) <= set(arms):
            raise ValueError(
                f"gold should name two arms of the study, the outcome{' and an item' * (size > 3)} "
                f"each, got {shown_value(each)}"
            )
        if kind == "margin" or SIDES.get(each[2]) is None:
            raise ValueError(
                "gold should have the outcome 'left', 'right' or 'tie', in a study without "
                f"margins, got {shown_value(each[2])}"
            )
        if items and each[3] not in items:
            raise ValueError(f"gold should name items of the study, got {shown_value(each[3])}")
        item = items.index(each[3]) if items else None
        gold.append([arms.index(each[0]), arms.index(each[1]), item, SIDES[each[2]]])
    return {**asdict(judging), "gold": gold}


def stored_judging(value: Mapping[str, Any], n_arms: int) -> Judging:
    """Return what stored settings stand for.

    Raises TypeError or ValueError if they are not as ``checked_judging`` returns them.
    """
    judging = Judging(**value)
    gold: Any = judging.gold
    if not isinstance(gold, list) or not all(isinstance(e, list) and len(e) == 4 for e in gold):
        raise TypeError
    for each in gold:
        *arms, item, outcome = each
        numbers = [*arms, 0 if item is None else item]
        whole = all(type(number) is int and number >= 0 for number in numbers)
        apart = len(set(arms)) == len(arms) == 2
        if not whole or not apart or max(arms) >= n_arms or outcome not in SIDES.values():
            raise ValueError(
                f"gold should be numbers of two arms and an item, and the outcome, got {each!r}"
            )
    return judging


def question(
    judging: Judging,
    own: Sequence[Row],
    others: Callable[[], Iterable[Sequence[Any]]],
    retired: set[int],
    rng: np.random.Generator,
) -> Question | None:
    """Return a gold question, one of other judges, or a repeat; None leaves it to the policy.

    judging: as stored: gold questions are left, right, item (numbers) and outcome.
    own: tickets of the judge, in order.
    others: function that returns left, right and item of what other judges answered, and how many
        did.
    retired: arms that are asked for no more.
    """
    seen: dict[Any, int] = {}
    for row in own:
        seen[_about(row)] = seen.get(_about(row), 0) + 1
    u, swap = rng.random(), rng.random() < 0.5
    found: list[Question] = []
    for name, share in judging.shares.items():
        if 0 <= u < share:
            if name == "gold":
                gone = {_about(row) for row in own if row.gold is not None}
                found = [q for q in judging.questions if (frozenset(q[:2]), q[2]) not in gone]
            elif name == "repeats":
                told = [r for r in own[:-APART] if r.outcome is not None and r.gold is None]
                once = [r for r in told if seen[_about(r)] == 1]
                found, swap = [(r.left, r.right, r.item, None) for r in once], True
            else:
                rest = [q for q in others() if (frozenset(q[:2]), q[2]) not in seen]
                fewest = min((q[3] for q in rest), default=0)
                found = [(q[0], q[1], q[2], None) for q in rest if q[3] == fewest]
        u -= share
    found = [q for q in found if not retired & {q[0], q[1]}]
    if not found:
        return None
    i, j, item, gold_answer = found[rng.integers(len(found))]
    if not swap:
        return i, j, item, gold_answer
    return j, i, item, None if gold_answer is None else 1 - gold_answer


def judge_table(
    rows: Iterable[Row], events: Iterable[Event], gold_pass: float
) -> list[dict[str, Any]]:
    """Return a row a judge; see ``Study.judges``.

    gold_pass: share of right gold answers below which a judge fails.
    """
    names = ("told", "cannot_tell", "skipped", "open", "gold", "gold_right", "shared", "agreed",
             "repeated", "consistent", "corrected")  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    answers: dict[Any, list[Row]] = {}
    for row in rows:
        if row.judge is None:
            continue
        own = found.setdefault(row.judge, {"judge": row.judge, **dict.fromkeys(names, 0)})
        own["cost"] = own.get("cost", 0.0) + (row.cost or 0.0)
        if row.state in ("told", "skipped", "open"):
            own[row.state] += 1
        if row.state != "told":
            continue
        if row.outcome is None:
            own["cannot_tell"] += 1
        if row.gold is not None:
            own["gold"] += 1
            own["gold_right"] += row.outcome == row.gold
        elif row.outcome is not None:
            answers.setdefault(_about(row), []).append(row)
    for same in answers.values():
        first: dict[str, float] = {}
        for row in same:
            own, judge, outcome = found[str(row.judge)], str(row.judge), float(row.outcome or 0.0)
            said = outcome if row.left < row.right else 1 - outcome  # by the smaller number
            if judge in first:
                own["repeated"] += 1
                own["consistent"] += said == first[judge]
            first.setdefault(judge, said)
        for judge, said in first.items():
            rest = [other for name, other in first.items() if name != judge]
            found[judge]["shared"] += len(rest)
            found[judge]["agreed"] += sum(other == said for other in rest)
    for event in events:
        if event.kind == "corrected" and event.judge in found:
            found[event.judge]["corrected"] += 1
    for own in found.values():
        high = wilson(own["gold_right"], own["gold"])[1] if own["gold"] else 1.0
        own["fails"] = bool(high < gold_pass)
    return [found[judge] for judge in sorted(found)]


def _about(row: Row) -> tuple[frozenset[int], int | None]:
    return frozenset((row.left, row.right)), row.item
