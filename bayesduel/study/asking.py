"""The questions of a ticket: grades, "both bad", several criteria, reasons and a comment.

An answer is the outcome (of the criterion that decides) and what was said beside it. Words of
grades are those that ``read_duels`` reads in an export (:mod:`bayesduel.data.read.grades`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesduel.data.votes import FINITE, LARGEST_SIZE
from bayesduel.study.arms import texts
from bayesduel.system.arguments import check_flag, check_text, check_type, shown_value, whole
from bayesduel.text import join

__all__ = [
    "BOTH_BAD",
    "CANNOT_TELL",
    "NAMES",
    "SIDES",
    "Answer",
    "Asking",
    "Said",
    "check_labels",
    "checked_asking",
    "said_in",
    "stored_asking",
]

CANNOT_TELL = "cannot tell"
BOTH_BAD = "tie (bothbad)"
SIDES = {"left": 1.0, "right": 0.0, "tie": 0.5, CANNOT_TELL: None}
ENDS = ("left", "right")
NAMES = {value: name for name, value in SIDES.items()}
DEGREES = {1: "slightly better", 2: "better", 3: "much better", 4: "very much better"}
SCALES = {1: (), 2: (2, 3), 3: (1, 2, 3), 4: (1, 2, 3, 4)}  # sizes by the number of grades
COMMENT = 2000  # characters of a comment; a request may have 64 KiB in all
# The page has a letter of the keyboard for each reason, beside those that answer.
MOST_REASONS = 20
MOST_CRITERIA = 8  # rows of answers that fit a page beside the pair
EXPORTED = frozenset(  # columns of an export, which no criterion may be called like
    "id ticket left right outcome margin judge source item asked told reasons comment criterion "
    "gold repeat event correction reason by state cost answer link seen seconds kind known "
    "taken_back excluded side winner".split()
)


class Said(NamedTuple):
    """The parts of an answer besides left, right or tie, as they are stored."""

    outcome: str | None = None  # where it is no plain word: "left much better", "tie (bothbad)"
    criteria: Mapping[str, str] = {}  # the answer on each criterion that does not decide
    reasons: Sequence[str] = ()
    comment: str = ""

    def text(self) -> str | None:
        """Return it as JSON; None where nothing was said."""
        held = {name: value for name, value in self._asdict().items() if value}
        return json.dumps(held, ensure_ascii=False) if held else None


NOTHING = Said()


def said_in(text: str | None) -> Said:
    """Return what a stored text says.

    Raises ValueError if no study stores such a text.
    """
    if text is None:
        return NOTHING
    try:
        return Said(**json.loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"an answer should have the form that a study stores, got {text[:40]!r}"
        ) from error


class Answer(NamedTuple):
    """An answer as a ticket and an event hold it."""

    outcome: float | None  # 1 if left won, 0 if right won, 0.5 for a tie, None for "cannot tell"
    margin: float | None = None  # left's score minus right's, or None
    said: str | None = None  # what was said beside it, as JSON


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The questions of a ticket besides which of the two is better.

    Parameters
    ----------
    grades
        How many sizes "better" has, 1 to 4: with 2 the answers are "left much better", "left
        better", "tie", "right better" and "right much better". With 3 there is "slightly better",
        with 4 "very much better", too. 1: "left", "right" and "tie".
    slider
        Whether the page shows the grades as the places of a slider, in place of buttons.
    both_bad
        Whether "tie (bothbad)" is an answer. It is a tie that keeps its own word.
    criteria
        Names of what the two are compared by, each with an answer of its own; at most 8.
    decides
        The criterion whose answer is the outcome of the ticket. Default: the first one.
    reasons
        A list from which a judge may choose any number; at most 20.
    comment
        Whether a judge may write a comment of up to 2,000 characters.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> criteria = ["helpful", "short"]
    >>> asking = bd.study.Asking(grades=2, criteria=criteria, reasons=["clear", "polite"])
    >>> study = bd.Study(arms=["a", "b"], asking=asking)
    >>> ticket = study.ask()
    >>> study.tell(ticket, "left much better", criteria={"short": "tie"}, reasons=["clear"])
    >>> study.ticket(ticket).criteria
    {'short': 'tie'}
    """

    grades: int = 1
    slider: bool = False
    both_bad: bool = False
    criteria: Sequence[str] = ()
    decides: str | None = None
    reasons: Sequence[str] = ()
    comment: bool = False

    def __post_init__(self) -> None:
        if whole(self.grades, "grades", 1) not in SCALES:
            raise ValueError(f"grades should be 1 to {max(SCALES)}, got {self.grades}")
        check_flag(self.both_bad, "both_bad")
        check_flag(self.slider, "slider")
        if self.slider and self.grades == 1:
            raise ValueError("slider needs grades from 2 to 4, got grades=1")
        check_flag(self.comment, "comment")
        for name, most in (("criteria", MOST_CRITERIA), ("reasons", MOST_REASONS)):
            given = texts(getattr(self, name), name)
            if len(given) > most or len(set(given)) < len(given):
                raise ValueError(
                    f"{name} should be at most {most} different texts, got {shown_value(given)}"
                )
            object.__setattr__(self, name, tuple(given))
        split = [each for each in self.reasons if ";" in each]
        if split:
            raise ValueError(f"a reason should not contain ';', got {split[0]!r}: use another sign")
        if len(self.criteria) == 1:
            raise ValueError(
                f"criteria should have at least two names, got only {self.criteria[0]!r}: leave "
                "criteria out if the study has one question"
            )
        taken = [name for name in self.criteria if name.casefold() in EXPORTED]
        if taken:
            raise ValueError(
                f"a criterion should not have the name of a column of the export, got {taken[0]!r}"
            )
        if self.decides is not None and self.decides not in self.criteria:
            raise ValueError(f"decides should be one of criteria, got {shown_value(self.decides)}")

    @property
    def deciding(self) -> str | None:
        """The criterion whose answer is the outcome; None where there is one question."""
        return self.decides or (self.criteria[0] if self.criteria else None)

    @property
    def others(self) -> tuple[str, ...]:
        """The criteria that do not decide."""
        return tuple(name for name in self.criteria if name != self.deciding)

    @property
    def levels(self) -> tuple[int, ...]:
        """Sizes of the grades of a log of the answers, 0 for a tie; () where there are none."""
        return (0, *SCALES[self.grades]) if self.grades > 1 else ()

    @property
    def words(self) -> dict[str, float | None]:
        """The possible outcomes, the best for left first, with the success of left."""
        sizes = SCALES[self.grades]
        left = [f"left {DEGREES[k]}" for k in sizes[::-1]] or ["left"]
        right = [f"right {DEGREES[k]}" for k in sizes] or ["right"]
        found: dict[str, float | None] = dict.fromkeys(left, 1.0)
        found["tie"] = 0.5
        found |= dict.fromkeys(right, 0.0)
        if self.both_bad:
            found[BOTH_BAD] = 0.5
        found[CANNOT_TELL] = None
        return found

    def grade(self, word: str) -> int:
        """Return the grade of a word of `words`, positive where left is better."""
        side, _, degree = word.partition(" ")
        size = next((k for k, name in DEGREES.items() if name == degree), 0)
        return -size if side == "right" else size

    def swapped(self, word: Any) -> Any:
        """Return the word of the same answer where the sides stand the other way round."""
        if not isinstance(word, str):
            return word
        side, space, degree = word.partition(" ")
        other = {"left": "right", "right": "left"}.get(side)
        return word if other is None else f"{other}{space}{degree}"

    def answer(
        self,
        outcome: Any,
        kind: str,
        criteria: Mapping[str, str] | None = None,
        reasons: Sequence[str] = (),
        comment: str | None = None,
        *,
        arms: Sequence[str] = (),
        whole_ticket: bool = True,
    ) -> Answer:
        """Return an answer as it is stored.

        outcome: a word of `words`, or under margins a number.
        kind: of the model's outcomes; "margin" where they are margins.
        criteria: the words of the other criteria, by name.
        reasons, comment: what was chosen and written.
        arms: labels of left and right, which may stand in a word in place of these.
        whole_ticket: whether each of the other criteria has to have an answer.
        Raises ValueError if anything is none that this study asks for.
        """
        if kind == "margin" and not (isinstance(outcome, str) and outcome == CANNOT_TELL):
            word = None
            answer = _margin(outcome)
        else:
            word = self._word(outcome, "outcome", arms)
            answer = Answer(self.words[word])
        check_type(criteria, Mapping | None, "criteria", "answers by criterion")
        told = dict(criteria or {})
        unknown = set(told) - set(self.others)
        lacking = set(self.others) - set(told)
        if unknown or (whole_ticket and lacking):
            wanted = join(self.others) or "none"
            got = join(map(str, told)) or "none"
            raise ValueError(f"criteria should have an answer to each of {wanted}, got {got}")
        said = Said(
            None if word in NAMES.values() else word,
            {name: self._word(told[name], name, arms) for name in self.others if name in told},
            self._reasons(reasons),
            self._comment(comment),
        )
        return answer._replace(said=said.text())

    def _word(self, given: object, name: str, arms: Sequence[str] = ()) -> str:
        found = self._meaning(given, arms) if isinstance(given, str) else None
        if found is None:
            words = self.words
            sides_first = sorted(words, key=lambda word: words[word] == 0.5)
            known = join([repr(word) for word in sides_first if word != CANNOT_TELL], word="or")
            shown = [f"{side} is {label!r}" for side, label in zip(ENDS, arms, strict=False)]
            sides = f": {join(shown)}" if shown else ""
            raise ValueError(
                f"{name} should be {known}, or {CANNOT_TELL!r}, got {shown_value(given)}{sides}"
            )
        return found

    def _meaning(self, text: str, arms: Sequence[str]) -> str | None:
        """Return the word of `words` that a text means, None where it means none, or several.

        A label of `arms` stands for its side: "tea much better" for "left much better". Case does
        not matter, unless the labels differ by case alone. A draw is a tie.
        """
        if text in self.words:
            return text
        plain = _plain(text)
        exact = set()
        alike = set()
        for side, label in zip(ENDS, arms, strict=False):
            for word in self.words:
                if not word.startswith(side):
                    continue
                labelled = word.replace(side, label, 1)
                if labelled == text:
                    exact.add(word)
                if _plain(labelled) == plain:
                    alike.add(word)
        means = exact or alike
        if not means:
            said = "tie" if plain == "draw" else plain
            means = {word for word in self.words if _plain(word) == said}
        return means.pop() if len(means) == 1 else None

    def _reasons(self, given: Any) -> list[str]:
        chosen = texts(given, "reasons") if given else []
        for each in chosen:
            if each not in self.reasons:
                known = (
                    join([*self.reasons], word="or")
                    or "left out, because this study asks for no reasons"
                )
                raise ValueError(f"reasons should be {known}, got {shown_value(each)}")
        return [each for each in self.reasons if each in chosen]

    def _comment(self, given: Any) -> str:
        if given is None or given == "":
            return ""
        check_text(given, "comment")
        if not self.comment:
            raise ValueError("comment should be None, because this study does not ask for comments")
        if len(given) > COMMENT:
            raise ValueError(f"comment should have at most {COMMENT:,} characters")
        return str(given)


def check_labels(arms: Sequence[str]) -> None:
    """Raise ValueError if an arm has the name of an answer, which would then mean two things."""
    answers = {word for grades in SCALES for word in Asking(grades=grades, both_bad=True).words}
    for label in arms:
        if _plain(label) in answers:
            raise ValueError(
                f"an arm of a study should not have the name of an answer, got {label!r}: rename "
                "the arm"
            )


def _plain(text: str) -> str:
    """Return a text by which two are compared: case and white space do not matter."""
    return " ".join(text.split()).casefold()


def _margin(outcome: object) -> Answer:
    """Return the answer of a margin; raise ValueError if it is not a margin."""
    if isinstance(outcome, bool) or not isinstance(outcome, int | float | np.number):
        raise ValueError(f"outcome should be a number (the margin), got {shown_value(outcome)}")
    if not -LARGEST_SIZE <= outcome <= LARGEST_SIZE:  # also of whole numbers beyond floats
        raise ValueError(f"outcome should be {FINITE}, got {shown_value(outcome)}")
    return Answer(0.5 + 0.5 * float(np.sign(outcome)), float(outcome))


def checked_asking(asking: Asking | None, kind: str) -> dict[str, Any] | None:
    """Return the settings as they are stored.

    kind: of the model's outcomes.
    Raises TypeError or ValueError if it is not an Asking, or does not go with the model.
    """
    if asking is None:
        return None
    check_type(asking, Asking, "asking", "Asking(...)")
    if kind == "margin" and (asking.grades > 1 or asking.both_bad or asking.criteria):
        raise ValueError(
            "asking should have no grades, criteria or both_bad, because a model of margins asks "
            f"for a number, got {asking!r}"
        )
    return asdict(asking) | {"criteria": [*asking.criteria], "reasons": [*asking.reasons]}


def stored_asking(value: Any) -> Asking:
    """Return what stored settings stand for; raise TypeError or ValueError if they are none."""
    if not isinstance(value, dict) or any(
        not isinstance(value.get(name), list) for name in ("criteria", "reasons")
    ):
        raise TypeError
    return Asking(**value)
