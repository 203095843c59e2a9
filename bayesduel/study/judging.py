"""The questions to judges that no policy chooses: training, gold, overlap, repeats; quotas.

Training questions come first: the judge is told at once what is right, and why. A gold question
has a known answer and is no duel: who misses many of them does not judge with care.
Overlap asks a second judge what a first one has answered, so that their agreement is known; both
answers are duels. A repeat asks a judge again, with the sides swapped, so that the judge's
consistency is known. It is no duel: a pair (on an item) counts once for a judge, by the first
answer.

References
----------
Greszki, Meyer & Schoen, "Exploring the effects of removing 'too fast' responses and respondents
from web surveys", Public Opinion Quarterly 2015 (times are compared with the median respondent's).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil
from statistics import median
from typing import Any

import numpy as np

from bayesduel.intervals import wilson
from bayesduel.study.asking import COMMENT, SIDES
from bayesduel.study.schema import REPEAT, TRAINING, Event, Question, Row
from bayesduel.system.arguments import check_one_of, check_range, check_type, shown_value, whole

__all__ = [
    "Judging",
    "checked_judging",
    "failing",
    "judge_table",
    "last_repeat",
    "note_of",
    "question",
    "seconds_of",
    "stored_judging",
    "unseen_gold",
]

# Tickets of the judge between a question and its repeat, at least; and between two gold questions,
# where their share leaves so many.
APART = 3
ON_FAIL = ("nothing", "warn", "screen out", "exclude")
# A judge is too fast, or too slow, whose median time is below a third of that of the median judge,
# or above three times that. The source compares with 30 % to 50 % of the median; from 5 answers of
# each of 3 judges on there is a median to compare with (choice).
SPEED = 3.0
LEAST_TIMES = 5
LEAST_JUDGES = 3
SHARES = (  # intervals of a judge's table: their name, and what they are of
    ("gold_interval", "gold_right", "gold"),
    ("agreed_interval", "agreed", "shared"),
    ("consistent_interval", "consistent", "repeated"),
)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """The questions to judges that the policy does not choose.

    Parameters
    ----------
    quota
        Tickets that a judge answers at most, or None.
    gold
        Questions whose answer is known: left, right and outcome, with an item in a study that has
        items. Labels of the study; "left", "right" or "tie". They are no duels.
        One with an item (or None) and a text is an attention check: the text, such as "Choose the
        second one.", stands above the pair, whose sides stay as they are given.
    gold_share
        Share of a judge's questions that are gold, while there are some that the judge has not
        seen: of 0.1 one in every ten questions, at a place that is drawn.
    gold_pass
        Share of right answers below which, by the upper end of its 95 % interval, a judge fails.
    on_fail
        What happens to a judge who fails: "nothing" (there is no completion code at the end),
        "warn" (the page asks for more care), "screen out" (no further question) or "exclude" (that,
        and the answers do not count: see ``Study.exclude_judge``).
    training
        Questions with known answers that every judge is asked first, in this order, as `gold` has
        them. The text explains the answer. They are no duels, and no part of the quota.
    overlap
        Share of the questions that other judges have answered already, those answered by fewest
        first.
    repeats
        Share of the questions that the judge has answered before, sides swapped. They are no duels.
        With 0 a judge is asked a pair (on an item) once.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"], judging=bd.study.Judging(quota=1))
    >>> study.tell(study.ask(judge="ann"), "left")
    >>> study.ask(judge="bob").judge
    'bob'
    """

    quota: int | None = None
    gold: Sequence[Sequence[str]] = ()
    gold_share: float = 0.1
    gold_pass: float = 0.7
    on_fail: str = "nothing"
    training: Sequence[Sequence[str]] = ()
    overlap: float = 0.0
    repeats: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (("gold", self.gold), ("training", self.training)):
            check_type(known, list | tuple, name, "a list of questions")
        check_one_of(self.on_fail, "on_fail", ON_FAIL)
        if self.quota is not None:
            whole(self.quota, "quota", 1)
        for name in ("gold_share", "gold_pass", "overlap", "repeats"):
            check_range(getattr(self, name), name, "in [0, 1]")
        of_gold = self.gold_share if self.gold else 0.0
        total = self.overlap + self.repeats + of_gold
        if total > 1:
            raise ValueError(
                f"overlap, repeats and gold_share should add up to at most 1, got {total:g}"
            )

    @property
    def questions(self) -> list[Question]:
        """The gold questions as stored: numbers of arms and item, and the right outcome."""
        return [Question(*each[:4]) for each in self.gold]  # type: ignore[arg-type]

    @property
    def practice(self) -> list[Question]:
        """The training questions, as `questions`."""
        known = [Question(*each[:4]) for each in self.training]  # type: ignore[arg-type]
        return [each._replace(batch=TRAINING) for each in known]


def checked_judging(
    judging: Judging | None, arms: Sequence[str], items: Sequence[str], kind: str
) -> dict[str, Any] | None:
    """Return the settings as they are stored; gold questions as numbers.

    Raises TypeError or ValueError if it is not a Judging, or a gold question is not of this study.
    """
    if judging is None:
        return None
    check_type(judging, Judging, "judging", "Judging(...)")
    known = {
        name: [_stored_question(name, each, arms, items, kind) for each in given]
        for name, given in (("gold", judging.gold), ("training", judging.training))
    }
    return {**asdict(judging), **known}


def _stored_question(
    name: str, each: Any, arms: Sequence[str], items: Sequence[str], kind: str
) -> list[Any]:
    """Return a question with a known answer: numbers of arms and item, outcome and text."""
    size = 4 if items else 3
    is_list = isinstance(each, Sequence) and not isinstance(each, str)
    whole = is_list and len(each) in (size, 5)
    if not whole or each[0] == each[1] or not set(each[:2]) <= set(arms):
        raise ValueError(
            f"{name} should name two arms of the study, the outcome{' and an item' * (size > 3)} "
            f"each, got {shown_value(each)}"
        )
    if kind == "margin" or SIDES.get(each[2]) is None:
        raise ValueError(
            f"{name} should have the outcome 'left', 'right' or 'tie', in a study without "
            f"margins, got {shown_value(each[2])}"
        )
    item, text = (*each[3:], None, None)[:2]
    if item not in (items or (None, "")):
        raise ValueError(f"{name} should name items of the study, got {shown_value(item)}")
    text = text or ""
    if not isinstance(text, str) or len(text) > COMMENT:
        raise ValueError(
            f"the text of {name} should have at most {COMMENT:,} characters, "
            f"got {shown_value(text)}"
        )
    left, right, outcome = each[:3]
    place = items.index(item) if items else None
    return [arms.index(left), arms.index(right), place, SIDES[outcome], text]


def stored_judging(value: Mapping[str, Any], n_arms: int) -> Judging:
    """Return what stored settings stand for.

    Raises TypeError or ValueError if they are not as ``checked_judging`` returns them.
    """
    judging = Judging(**value)
    known: Any = [*judging.gold, *judging.training]
    # Earlier versions stored no text.
    for each in known:
        if not isinstance(each, list) or len(each) not in (4, 5):
            raise TypeError
        *arms, item, outcome = each[:4]
        if not isinstance(each[-1], str) and len(each) == 5:
            raise TypeError
        numbers = [*arms, 0 if item is None else item]
        whole = all(type(number) is int and number >= 0 for number in numbers)
        apart = len(set(arms)) == len(arms) == 2
        known_outcome = outcome in SIDES.values()
        if not whole or not apart or max(arms) >= n_arms or not known_outcome:
            raise ValueError(
                f"each gold question should have two arms, an item and an outcome, got {each!r}"
            )
    return judging


def question(
    judging: Judging,
    own: Sequence[Row],
    others: Callable[[], Iterable[Sequence[Any]]],
    retired: set[int],
    rng: np.random.Generator,
) -> Question | None:
    """Return a training or gold question, one of other judges, or a repeat.

    None leaves it to the policy.

    judging: as stored: gold questions are left, right, item (numbers) and outcome.
    own: tickets of the judge, in order.
    others: function that returns left, right and item of what other judges answered, and how many
        did.
    retired: arms that are asked for no more.
    """
    known = {_about(row) for row in own}
    for one in judging.practice:
        gone = retired & {one.left, one.right}
        if _about(one) not in known and not gone:
            return one
    gold = unseen_gold(judging, own, retired)
    own = [row for row in own if row.batch != TRAINING]
    if gold and rng.random() < _gold_chance(own, judging.gold_share):
        drawn = _one_of(gold, rng)
        return drawn if note_of(judging, drawn) else _swapped(drawn, rng)
    u = rng.random() * (1 - judging.gold_share * bool(gold))
    if u < judging.repeats:
        again = _repeatable(own, retired)
        return _repeated(_one_of(again, rng)) if again else None
    if u < judging.repeats + judging.overlap:
        rest = []
        for left, right, item, times in others():
            asked = Question(left, right, item)
            gone = retired & {left, right}
            if _about(asked) not in known and not gone:
                rest.append((asked, times))
        if not rest:
            return None
        fewest = min(times for _, times in rest)
        least = [asked for asked, times in rest if times == fewest]
        return _swapped(_one_of(least, rng), rng)
    return None


def last_repeat(
    judging: Judging, own: Sequence[Row], retired: set[int], rng: np.random.Generator
) -> Question | None:
    """Return a repeat for a judge who has seen all, while the share of repeats is not reached.

    judging, own, retired: as in ``question``.
    """
    again = _repeatable(own, retired)
    different = {_about(row) for row in own}
    n_repeats = len(own) - len(different)
    if not again or n_repeats >= judging.repeats * (len(own) + 1):
        return None
    return _repeated(_one_of(again, rng))


def unseen_gold(judging: Judging, own: Sequence[Row], retired: set[int]) -> list[Question]:
    """Return the gold questions whose pair (on the item) the judge has not seen, even as a duel.

    judging, own, retired: as in ``question``.
    """
    seen = {_about(row) for row in own}
    unseen = [q for q in judging.questions if _about(q) not in seen]
    return [q for q in unseen if not retired & {q.left, q.right}]


def note_of(judging: Judging | None, asked: Row | Question) -> str:
    """Return the text beside the known answer of a question, "" where there is none."""
    if judging is None or asked.gold is None:
        return ""
    known: Any = judging.training if asked.batch == TRAINING else judging.gold
    for left, right, item, _, *text in known:
        if _about(Question(left, right, item)) == _about(asked):
            return str(text[0]) if text else ""
    return ""


def failing(gold_right: int, gold: int, gold_pass: float) -> bool:
    """Return whether so many right answers to gold questions are too few."""
    if not gold:
        return False
    _, upper = wilson(gold_right, gold)
    return bool(upper < gold_pass)


def _gold_chance(own: Sequence[Row], gold_share: float) -> float:
    """Return the probability that the next ticket of a judge is a gold question.

    The tickets are blocks of about 1 / share. Each has one gold question, at any of its places
    alike, but for those right behind the gold question of the block before.
    """
    if not gold_share:
        return 0.0
    share = Fraction(gold_share).limit_denominator(1000)
    n = len(own)
    block = n * share // 1
    begin = ceil(block / share)
    end = ceil((block + 1) / share)
    gap = min(APART, int(1 / share) - 1)
    near = own
    if n > gap:
        near = own[min(begin, n - gap) :]
    if any(row.gold is not None for row in near):
        return 0.0
    return 1 / (end - n)


def _repeatable(own: Sequence[Row], retired: set[int]) -> list[Row]:
    """Return the tickets that a judge may be asked again: answered a while ago, asked once."""
    times = Counter(_about(row) for row in own)
    found = []
    for row in own[:-APART]:
        told = row.outcome is not None and row.gold is None
        gone = retired & {row.left, row.right}
        if told and not gone and times[_about(row)] == 1:
            found.append(row)
    return found


def _repeated(row: Row) -> Question:
    return Question(row.right, row.left, row.item, batch=REPEAT)


def _swapped(asked: Question, rng: np.random.Generator) -> Question:
    """Return a question with either side left."""
    if rng.random() < 0.5:
        return asked
    gold = None if asked.gold is None else 1 - asked.gold
    return Question(asked.right, asked.left, asked.item, gold)


def _one_of[T](found: Sequence[T], rng: np.random.Generator) -> T:
    return found[int(rng.integers(len(found)))]


def judge_table(
    rows: Iterable[Row], events: Iterable[Event], gold_pass: float, excluded: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a row per judge; see ``Study.judges``.

    gold_pass: share of right gold answers below which a judge fails.
    excluded: judges whose answers do not count, and why.
    """
    names = ("told", "cannot_tell", "skipped", "open", "gold", "gold_right", "training",
             "training_right", "shared", "agreed", "repeated", "consistent",
             "corrected")  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    answers: dict[Any, list[Row]] = {}
    times: dict[str, list[float]] = {}
    for row in rows:
        if row.judge is None:
            continue
        own = found.setdefault(row.judge, {"judge": row.judge, **dict.fromkeys(names, 0)})
        own["cost"] = own.get("cost", 0.0) + (row.cost or 0.0)
        if row.batch == TRAINING:
            told = row.state == "told"
            own["training"] += told
            own["training_right"] += told and row.outcome == row.gold
            continue
        if row.state in ("told", "skipped", "open"):
            own[row.state] += 1
        if row.state != "told":
            continue
        seconds = seconds_of(row)
        if seconds is not None:
            times.setdefault(row.judge, []).append(seconds)
        if row.outcome is None:
            own["cannot_tell"] += 1
        if row.gold is not None:
            own["gold"] += 1
            own["gold_right"] += row.outcome == row.gold
        elif row.outcome is not None:
            answers.setdefault(_about(row), []).append(row)
    for same in answers.values():
        _compare_answers(same, found)
    for event in events:
        if event.kind == "corrected" and event.judge in found:
            found[event.judge]["corrected"] += 1
    usual = _usual(times)
    for judge, own in found.items():
        for name, part, of in SHARES:
            own[name] = None
            if own[of]:
                own[name] = [float(p) for p in wilson(own[part], own[of])]
        own["fails"] = failing(own["gold_right"], own["gold"], gold_pass)
        own |= _pace(times.get(judge, []), usual)
        own["excluded"] = excluded.get(judge)
    return [found[judge] for judge in sorted(found)]


def _compare_answers(same: Sequence[Row], found: Mapping[str, dict[str, Any]]) -> None:
    """Count of each judge the answers to one question that agree with the others', and its own.

    same: answers to the question, in their order. found: the row of each judge.
    """
    first: dict[str, float] = {}
    for row in same:
        judge = str(row.judge)
        outcome = float(row.outcome or 0.0)
        said = outcome if row.left < row.right else 1 - outcome  # by the smaller number
        if judge in first:
            found[judge]["repeated"] += 1
            found[judge]["consistent"] += said == first[judge]
        first.setdefault(judge, said)
    for judge, said in first.items():
        rest = [other for name, other in first.items() if name != judge]
        found[judge]["shared"] += len(rest)
        found[judge]["agreed"] += sum(other == said for other in rest)


def _pace(seconds: Sequence[float], usual: float | None) -> dict[str, Any]:
    """Return how long a judge takes for an answer, and whether that is too fast or too slow."""
    middle = median(seconds) if seconds else None
    speed = 1.0
    if middle is not None and usual is not None and len(seconds) >= LEAST_TIMES:
        speed = middle / usual
    return {
        "seconds": None if middle is None else round(middle, 3),
        "too_fast": speed < 1 / SPEED,
        "too_slow": speed > SPEED,
    }


def seconds_of(row: Row) -> float | None:
    """Return how long a judge took, from the pair on the screen, or asked for, to the answer.

    None of an answer that nobody asked for, as of an imported log.
    """
    began = row.asked if row.seen is None else row.seen
    if row.answered is None or row.answered <= began:
        return None
    return row.answered - began


def _usual(times: Mapping[str, Sequence[float]]) -> float | None:
    """Return the median of the judges' median times; None of too few."""
    medians = [median(own) for own in times.values() if len(own) >= LEAST_TIMES]
    return median(medians) if len(medians) >= LEAST_JUDGES else None


def _about(row: Row | Question) -> tuple[frozenset[int], int | None]:
    return frozenset((row.left, row.right)), row.item
