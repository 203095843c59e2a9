"""Roles of the columns of a log: as given, by their own names, or guessed.

The rules for guessing are the tables below. Names are compared without regard to case,
spaces, ``_``, ``-`` and ``.``. Two columns are the two arms when they are a stem and the two
words of a side (``model_a``/``model_b``, ``player1``/``player2``, ``home_team``/``away_team``,
``winner``/``loser``), the first match in the order of `SIDES`, then of `STEMS`. Else they are two
columns whose names differ by the words of a side alone, whatever stands around them
(``answer1_model_id``/``answer2_model_id``), and that share labels; of several such pairs the one
whose labels repeat most. If they are winner and loser (or chosen and rejected), the left arm won
every duel, unless a column of outcomes is given.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations, product
from shlex import quote
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from bayesduel.data.read.rows import MEMBERS, NUMBER, numbers, times
from bayesduel.data.read.words import (
    AGAINST,
    BARE,
    FIRST,
    GROUP,
    JUDGE,
    OPPONENTS,
    OUTCOME_WORDS,
    OUTCOMES,
    RECORDS,
    SAMPLING,
    SCORE_PAIRS,
    SCORES,
    SIDES,
    TEAMS,
    TIE_COUNTS,
    TIE_FLAGS,
    TIME,
    WIN_COUNTS,
    WON_SIDES,
)
from bayesduel.system.arguments import did_you_mean, shown_value

__all__ = [
    "FLAG_WORDS",
    "THIRD",
    "ColumnError",
    "Columns",
    "Given",
    "Peek",
    "Roles",
    "arms_in",
    "as_option",
    "assign",
    "bare",
    "plain",
    "scores_in",
    "side_of",
    "take",
    "wins_columns",
    "words_of",
]

Given = str | bool | None
Peek = Callable[[Sequence[str]], Mapping[str, Any]]  # the texts of columns, of some rows

TALLIES = ("won", "lost")  # sides that are counts of a table of standings where they are numbers
THIRD = {"2": "3", "1": "2", "b": "c", "second": "third", "ii": "iii", "two": "three", "y": "z"}
# Two arms of which neither name says how the pair was presented.
PLAIN_PAIRS = (
    *product(TEAMS, OPPONENTS), ("model", "baseline"),
    ("system", "baseline"), ("candidate", "reference"), ("test", "reference"),
    ("new", "old"), ("treatment", "control"), ("visitor", "opponent"),
)  # fmt: skip
STEMS = (
    "", "model", "player", "team", "item", "option", "system", "arm", "candidate", "object",
    "stimulus", "choice", "alternative", "name", "id",
)  # fmt: skip
WON = ("win", "wins", "won", "beats", "beat", "better", "best", "preferred", "chosen", "selected")
FLAG_WORDS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False,
              "t": True, "f": False, "y": True, "n": False, "1.0": True, "0.0": False}  # fmt: skip
REPEATED = 1.5  # rows per label of two columns of numbers that are names of arms, not counts
FEW = 20  # values that a column of outcomes may have which is not found
LABELS = 0.9  # share of the rows whose outcome names an arm, for a column of another name
LETTERS_OF_TIES = ("d", "t")  # beside W and L
ROLES: dict[str, tuple[str, ...]] = {
    "margin": ("margin", "scoremargin", "scorediff", "scoredifference", "goaldifference"),
    "judge": JUDGE,
    "group": GROUP,
    "time": TIME,
    "tie": TIE_FLAGS,
    "shown_first": FIRST,
    "weight": ("weight", "count", "n", "freq", "frequency"),
}  # fmt: skip
OWN = ("judge", "group", "time", "weight")  # roles of one column each, which may be False
FLAGS = ("tie", "shown_first")  # beside an outcome
WITH_ID = ("judge", "group")  # roles whose names may end in "id" or "name"


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The column of each role, or None."""

    left: str
    right: str
    # the winner. None: the sign of the margin gives it or, without margin, left always won.
    outcome: str | None = None
    margin: str | None = None  # left's score minus right's; with `margin_right`, the two scores
    margin_right: str | None = None
    judge: str | None = None  # as in :func:`bayesduel.read_duels`
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    sampling_weight: str | None = None
    by: str | None = None
    # further columns of the members of a side, by role: ``left_1``, ..., ``right_1``, ...
    members: Mapping[str, str] = field(default_factory=dict)
    teams: str | None = None  # what stands between the members of a side; None: a side is one arm
    tie: str | None = None  # whether the duel was a tie, whatever the outcome says
    shown_first: str | None = None  # the side or the arm that was shown first
    covariates: tuple[str, ...] = ()  # names of the covariates, in the order given
    # their columns by role: ``covariate_0``, ... and, for the difference of two columns,
    # ``covariate_0_right``, ...
    covariate_columns: Mapping[str, str] = field(default_factory=dict)
    # further columns that are kept with the votes; they may have another role, too
    kept: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()  # roles that were guessed rather than given
    unused: tuple[str, ...] = ()  # columns that may be sampling weights and were not asked for
    # texts that stand for a missing label, by role; known when the rows are
    missing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    coding: str | None = None  # the coding of outcomes, None where the outcomes decide
    asked: Any = None  # the meaning of outcomes that was asked for (``means=``, ``grades=``)
    time_format: str | None = None  # of :func:`time.strftime`; None: as the times are written
    first: Any = None  # how `shown_first` is read; known when the rows are
    lower_is_better: bool = False  # whether the side with the lower score won
    counted: bool = False  # whether counts of equal votes are enough where votes are needed

    @property
    def taken(self) -> dict[str, str]:
        """The column of each role that has one."""
        names = (
            "left", "right", "outcome", "margin", "margin_right", "judge", "group", "time",
            "weight", "sampling_weight", "by", "tie", "shown_first",
        )  # fmt: skip
        own = {n: getattr(self, n) for n in names if getattr(self, n) is not None}
        kept = {f"kept_{k}": name for k, name in enumerate(self.kept)}
        return own | dict(self.members) | dict(self.covariate_columns) | kept

    @property
    def words(self) -> dict[str, str]:
        """The columns by role for display, with two scores as one margin."""
        named = self.taken
        if "margin_right" in named:
            named["margin"] = f"{named['margin']} - {named.pop('margin_right')}"
        for role in self.members:
            side = role.partition("_")[0]
            named[side] = f"{named[side]}, {named.pop(role)}"
        for k, name in enumerate(self.covariates):
            own = named.pop(f"covariate_{k}")
            right = named.pop(f"covariate_{k}_right", None)
            named[f"covariate {name}"] = own if right is None else f"{own} - {right}"
        for k, name in enumerate(self.kept):
            named[f"kept {name}"] = named.pop(f"kept_{k}")
        return named

    @property
    def by_vote(self) -> bool:
        """Whether votes are needed, or only their counts."""
        asked = (self.margin, self.judge, self.group, self.time, self.sampling_weight)
        return any(x is not None for x in asked) or bool(self.covariates or self.kept)

    @property
    def tallied(self) -> bool:
        """Whether the engine of the source counts equal rows."""
        return self.counted or not self.by_vote

    @property
    def notice(self) -> str:
        """The guessed columns, e.g. ``left=model_a, right=model_b (guessed)``; "" if nothing."""
        if not self.guessed:
            return ""
        named = self.words
        return ", ".join(f"{r}={named[r]}" for r in named if r in self.guessed) + " (guessed)"


@dataclass(frozen=True)
class Columns:
    """Columns that are read row by row, by role, from a table that is not a log of duels."""

    taken: dict[str, str]
    tallied: ClassVar[bool] = False


def take(columns: Sequence[str], source: str, given: Mapping[str, str]) -> Columns:
    """Return the columns of the roles that are given.

    Raises ValueError if a column does not exist, or has two roles.
    """
    finder = _Finder(columns, source)
    for role, column in given.items():
        finder.take(role, column)
    return Columns(finder.found)


def wins_columns(
    columns: Sequence[str], source: str, left: str, right: str, weight: Given
) -> dict[str, str] | None:
    """Return the columns of a table with one row per pair, or None if it has no columns of wins.

    The roles are ``left``, ``right``, ``left_wins``, ``right_wins`` (``wins_a`` and ``wins_b``,
    or ``wins`` and ``losses`` of the left arm) and, if there is one, ``ties`` and, unless
    `weight` is False, ``weight``.
    """
    finder = _Finder(columns, source)
    records = (
        (record, won, lost)
        for record in RECORDS
        if (won := finder.free(record[0])) and (lost := finder.free(record[1]))
    )
    wins = next(chain(finder.pairs(WIN_COUNTS, SIDES), records), None)
    if wins is None or any(finder.free(name) for name in ("outcome", "margin", "result")):
        return None
    finder.take("left_wins", wins[1])
    finder.take("right_wins", wins[2])
    try:
        _find_arms(finder, left, right, None)
    except ValueError:
        return None
    names = TIE_COUNTS + LETTERS_OF_TIES if wins[0] == ("w", "l") else TIE_COUNTS
    ties = next((finder.free(name) for name in names if finder.free(name)), None)
    if ties is not None:
        finder.take("ties", ties)
    if weight is None:
        finder.guess("weight", ROLES["weight"])
    return finder.found


def arms_in(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return the two columns that are named like the two arms of a duel, or None."""
    finder = _Finder(columns, "")
    try:
        _find_arms(finder, "left", "right", None)
    except ValueError:
        return None
    return finder.found["left"], finder.found["right"]


def scores_in(columns: Sequence[str], left: str, right: str) -> list[str]:
    """Return the columns of the margin, or of the two scores, of two arms; [] if there are none."""
    finder = _Finder(columns, "")
    side = _find_arms(finder, left, right, None)
    _find_margin(finder, side)
    roles = ("margin", "margin_right")
    return [finder.found[role] for role in roles if role in finder.found]


def side_of(left: str, right: str) -> tuple[str, str] | None:
    """Return the words of `SIDES` that alone tell the names of two columns apart, or None."""
    names = [plain(left), plain(right)]
    pairs = _Finder(names, "").sided()
    return next((side for side, *both in pairs if both == names), None)


def plain(name: str) -> str:
    """Return a name without case, spaces and punctuation, as names are compared."""
    return re.sub(r"[\s_\-.]+", "", name.casefold())


def as_option(option: str, *columns: str) -> str:
    """Return the option that names columns, as a shell takes it."""
    return f"--{option} {quote(','.join(columns))}"


def bare(name: str) -> str:
    """Return a name without what stands in brackets behind it: "rating (1 = best)" is a rating."""
    return re.sub(r"(?<=.)\s*[(\[].*[)\]]\s*$", "", name)


def words_of(name: str) -> set[str]:
    """Return the words and numbers in the name of a column: model, b, won of "modelB_won"."""
    return {*re.findall("[^\\W\\d_]+|[0-9]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", name).casefold())}


def assign(
    columns: Sequence[str], source: str, given: Mapping[str, Any], by: str | None, peek: Peek
) -> Roles:
    """Return the roles of `columns`, guessing those that are not given.

    given: the options of :func:`bayesduel.read_duels` that name columns.
    peek: returns the texts of some rows of columns, by column.

    Raises ValueError if a column that is given or needed does not exist, or has two roles.
    """
    finder = _Finder(columns, source)
    margin = given["margin"]
    outcome = given["outcome"]
    for name in given["keep"]:
        finder.check("keep", name)
    for role in ("by", "sampling_weight", *FLAGS, *OWN):
        column = by if role == "by" else given[role]
        if isinstance(column, str):
            if role == "weight" and plain(column) in SAMPLING:
                raise ValueError(
                    f"weight should be a column of whole numbers of identical duels, got "
                    f"{column!r}: sampling_weight= (--sampling-weight) takes weights of a survey"
                )
            finder.take(role, column)
    if isinstance(margin, tuple):
        finder.take("margin", margin[0])
        finder.take("margin_right", margin[1])
    elif isinstance(margin, str):
        finder.take("margin", margin)
    if isinstance(outcome, str) and (outcome != "outcome" or outcome in columns):
        finder.take("outcome", outcome)

    members: dict[str, str] = {}
    first: dict[str, str] = {}
    for role in ("left", "right"):
        columns_of_side = (given[role],) if isinstance(given[role], str) else given[role]
        first[role] = columns_of_side[0]
        members |= {f"{role}_{k}": name for k, name in enumerate(columns_of_side[1:], 1)}
    side = _find_arms(finder, first["left"], first["right"], peek)
    for role, column in members.items():
        finder.take(role, column)
    extra = _find_covariates(finder, given["covariates"], side)
    wanted = outcome is not False and side[1] not in WON_SIDES
    if "outcome" not in finder.found and wanted:
        finder.guess("outcome", (*OUTCOMES,))
    if margin is None:
        _find_margin(finder, side)
    _drop_difference(finder, peek)
    if given["time"] is None:
        _find_time(finder, peek, given["time_format"])
    for role in OWN:
        if given[role] is None and role != "time":
            names = ROLES[role]
            if role in WITH_ID:
                names += tuple(n + end for n in names for end in ("id", "name"))
            finder.guess(role, names)
    if wanted and not {"outcome", "margin"} & finder.found.keys():
        _find_outcome(finder, peek)
    if "outcome" in finder.found or (outcome is not False and not wanted):
        for role in FLAGS if "outcome" in finder.found else FLAGS[:1]:
            if given[role] is None:
                finder.guess(role, ROLES[role])
        _drop_flag(finder, peek)
    if wanted and not {"outcome", "margin"} & finder.found.keys():
        raise ValueError(
            f"{source}: no column for the outcome (outcome=, or margin= with one column or two "
            f"scores; --outcome, --margin){_may_be_outcomes(finder, peek)}; counts of the wins of "
            f"each side are columns such as wins_a and wins_b; {finder.there}"
        )
    _check_order(finder)
    unused = tuple(c for c in columns if plain(c) in SAMPLING and c != given["sampling_weight"])
    return Roles(
        **{role: column for role, column in finder.found.items() if role not in extra | members},  # type: ignore[arg-type]
        members=members,
        teams=MEMBERS if members else given["teams"],
        covariates=tuple(given["covariates"]),
        covariate_columns=extra,
        kept=tuple(given["keep"]),
        guessed=tuple(finder.guessed),
        unused=unused,
    )


class ColumnError(ValueError):
    """A column that does not exist, or has two roles.

    column: its name.
    argument: the argument that names it.
    before, after: the words around that argument.
    """

    def __init__(self, column: str, argument: str, before: str, after: str = "") -> None:
        super().__init__(f"{before}{argument}{after}")
        self.column = column
        self.argument = argument
        self.before = before
        self.after = after

    def named_by(self, argument: str) -> "ColumnError":
        """Return the error of a column that another argument names."""
        return ColumnError(self.column, argument, self.before, self.after)


class _Finder:
    """The columns of a log, and the roles found so far."""

    def __init__(self, columns: Sequence[str], source: str) -> None:
        self.columns = list(columns)
        self.source = source
        self.found: dict[str, str] = {}
        self.guessed: list[str] = []
        self._by_plain: dict[str, str] = {}
        for column in columns:
            self._by_plain.setdefault(plain(column), column)

    @property
    def there(self) -> str:
        shown = ", ".join(repr(c) for c in self.columns[:20])
        more = len(self.columns) - 20
        return f"the columns are {shown}" + (f" and {more} more" if more > 0 else "")

    def free(self, name: str) -> str | None:
        """Return the column of that plain name, if it has no role yet."""
        column = self._by_plain.get(name)
        return None if column in self.found.values() else column

    def check(self, role: str, column: str) -> None:
        """Raise ValueError unless there is a column of that exact name."""
        if column not in self.columns:
            others = [name for name in self.columns if name not in self.found.values()]
            hint = did_you_mean(column, others)
            before = f"{self.source}: no column {shown_value(column)} for "
            raise ColumnError(column, _option(role), before, f"{hint}; {self.there}")

    def take(self, role: str, column: str) -> None:
        """Assign a column to `role` by its exact name."""
        self.check(role, column)
        for other, taken in self.found.items():
            if taken == column:
                before = f"{self.source}: column {column!r} should have one role, got "
                raise ColumnError(column, _option(role), f"{before}{_option(other)} and ")
        self.found[role] = column

    def guess(self, role: str, names: Sequence[str]) -> bool:
        """Assign to `role` its own name, else guess the first column with one of `names`."""
        if role in self.columns and role not in self.found.values():
            self.found[role] = role
            return True
        for name in names:
            column = self.free(name)
            if column is not None:
                self.found[role] = column
                self.guessed.append(role)
                return True
        return False

    def pairs(
        self, stems: Sequence[str], sides: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[tuple[str, str], str, str]]:
        """Yield the pairs of free columns that are a stem with the two words of a side."""
        for side in sides:
            for stem in stems:
                if not stem and side in BARE:
                    continue
                for names in ([stem + s for s in side], [s + stem for s in side]):
                    if not self._by_plain.keys() >= {*names}:
                        continue
                    first, second = (self.free(name) for name in names)
                    if first is not None and second is not None:
                        yield side, first, second

    def sided(self) -> Iterator[tuple[tuple[str, str], str, str]]:
        """Yield the pairs of columns whose names differ by the two words of a side alone.

        Columns of which a third goes on (bean1, bean2, bean3) are no two sides.
        """
        for name, column in self._by_plain.items():
            for side in SIDES:
                for place in re.finditer(f"(?={re.escape(side[0])})", name):
                    before = name[: place.start()]
                    after = name[place.start() + len(side[0]) :]
                    other = self._by_plain.get(before + side[1] + after)
                    third = THIRD.get(side[1])
                    goes_on = third is not None and before + third + after in self._by_plain
                    if other is not None and not goes_on:
                        yield side, column, other


def _option(role: str) -> str:
    """Return the argument that names the column of a role."""
    return "covariates" if role.startswith("covariate_") else role.removesuffix("_right")


def _find_arms(finder: _Finder, left: str, right: str, peek: Peek | None) -> tuple[str, str]:
    """Find the two arms; return the side words that matched.

    peek: None where names alone should decide, by the tables.
    """
    wanted = {"left": left, "right": right}
    default = [r for r, c in wanted.items() if c == r and c not in finder.columns]
    for role, column in wanted.items():
        if role not in default:
            finder.take(role, column)
    if not default:
        return side_of(left, right) or ("left", "right")
    names = _Finder(finder.columns, finder.source)
    found = [*names.pairs(STEMS, SIDES)]
    for plain_pair in PLAIN_PAIRS:
        first, second = (names.free(name) for name in plain_pair)
        if first is not None and second is not None:
            found.append((plain_pair, first, second))
    if peek is not None:
        found = [one for one in found if one[0] != TALLIES or not _are_numbers(one[1:], peek)]
    if peek is not None and not (found and _named_arms(names, found[0], peek)):
        found = [*_sharing_labels(names, peek), *found]
    for side, *columns in found:
        pair = dict(zip(("left", "right"), columns, strict=True))
        others = [r for r in pair if r not in default]
        taken = {c for r, c in finder.found.items() if r not in pair}
        if all(pair[r] == wanted[r] for r in others) and not taken & set(pair.values()):
            for role in default:
                finder.take(role, pair[role])
                finder.guessed.append(role)
            return side
    raise ValueError(
        f"{finder.source}: no column for {' and '.join(default)} (set left= and right=, "
        f"or --left and --right; is the header line missing?); where a row is no duel, --shape "
        f"says what it is (shape=); of a log of rankings, --rankings "
        f"ranking=COLUMN,arm=COLUMN,rank=COLUMN says the columns (read_rankings); {finder.there}"
    )


def _named_arms(finder: _Finder, found: tuple[tuple[str, str], str, str], peek: Peek) -> bool:
    """Return whether two columns that are named like arms hold arms, not texts of theirs.

    In a table of answers that were chosen and rejected, other columns name the models.
    """
    _, *columns = found
    if all({*both} & {*columns} for _, *both in finder.sided()):
        return True
    left, right = ({*read.values} for read in peek(columns).values())
    return bool(left & right)


def _are_numbers(columns: Sequence[str], peek: Peek) -> bool:
    """Return whether some columns hold numbers alone."""
    read = peek(columns).values()
    return all(re.fullmatch(NUMBER, text.strip()) for column in read for text in column.values)


def _sharing_labels(finder: _Finder, peek: Peek) -> list[tuple[tuple[str, str], str, str]]:
    """Return the pairs of columns whose names differ by a side alone and that share labels.

    Columns that are called after arms come first, then those whose labels repeat most: names of
    arms repeat, answers do not.
    """
    pairs = [one for one in finder.sided() if not any(word in plain(one[1]) for word in SCORES)]
    if not pairs:
        return []
    read = peek([*dict.fromkeys(c for _, *both in pairs for c in both)])
    found = []
    for side, first, second in pairs:
        left, right = ({t.strip() for t in read[c].values} - {""} for c in (first, second))
        if {text.casefold() for text in left | right} <= FLAG_WORDS.keys():
            continue
        numbers = all(re.fullmatch("[0-9.]+", text) for text in left | right)
        repeated = len(read[first].code) >= REPEATED * len(left | right)
        if left & right and (repeated or not numbers):
            found.append((left | right, (side, first, second)))

    def place(pair: tuple[tuple[str, str], str, str]) -> int:
        """Return where the names differ: of team1_player1 the team is the side."""
        _, first, second = pair
        return next((k for k, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), 0)

    def called(pair: tuple[tuple[str, str], str, str]) -> bool:
        """Return whether a column is called after arms."""
        return any(stem in plain(pair[1]) for stem in STEMS if stem)

    found.sort(key=lambda one: (not called(one[1]), len(one[0]), place(one[1])))
    for labels, (side, first, second) in found[1:]:
        best, (other, *both) = found[0]
        if side == other and len(labels & best) > len(best) / 2 and not {first, second} & {*both}:
            lefts = as_option("left", both[0], first)
            rights = as_option("right", both[1], second)
            raise ValueError(
                f"{finder.source}: each side may have several members, in the columns {both[0]!r} "
                f"and {first!r} against {both[1]!r} and {second!r}: say so by {lefts} "
                f"{rights} (left=, right= as lists), or name one column of each side"
            )
    return [pair for _, pair in found]


def _find_outcome(finder: _Finder, peek: Peek) -> None:
    """Find the outcome by its values, the labels of arms, or by a word in its name."""
    free = [c for c in finder.columns if c not in finder.found.values()]
    if not free:
        return
    arms = peek([finder.found["left"], finder.found["right"], *free])
    labels = {text.strip().casefold() for c in ("left", "right") for text in
              arms[finder.found[c]].values}  # fmt: skip
    named = [c for c in free if any(word in plain(c) for word in OUTCOME_WORDS)]
    for column in (*named, *(c for c in free if c not in named)):
        texts = arms[column].texts
        if all(re.fullmatch("[0-9.]+", text.strip()) for text in arms[column].values):
            continue
        known = [text.strip().casefold() for text in texts if text is not None and text.strip()]
        of_arms = sum(text in labels for text in known)
        if known and of_arms >= LABELS * len(known):
            finder.found["outcome"] = column
            finder.guessed.append("outcome")
            return
    flags = [c for c in free if words_of(c) & {*WON} and {
        text.strip().casefold() for text in arms[c].values} <= {*FLAG_WORDS, ""}]  # fmt: skip
    sided = [c for c in named if _sides_in({text.strip() for text in arms[c].values})]
    for one in (named, sided, flags):
        if len(one) == 1:
            finder.found["outcome"] = one[0]
            finder.guessed.append("outcome")
            return


def _check_order(finder: _Finder) -> None:
    """Raise ValueError if a column says right minus left by its name, unless sides were given."""
    found = finder.found
    left = found["left"]
    right = found["right"]
    if (left, right) != ("left", "right") and not {"left", "right"} <= {*finder.guessed}:
        return
    first, second = side_of(left, right) or (plain(left), plain(right))
    for role in ("margin", "outcome"):
        words = re.findall(r"[^\W\d_]+|[0-9]+|[-−–]", found.get(role, "").casefold())
        signs = [k for k, word in enumerate(words) if word in ("minus", "-", "−", "–")]
        if any(second in words[:k] and first in words[k:] for k in signs):
            raise ValueError(
                f"{finder.source}: column {found[role]!r} is {right!r} minus {left!r}, by its "
                f"name: name the sides in its order ({as_option('left', right)} "
                f"{as_option('right', left)})"
            )


def _find_time(finder: _Finder, peek: Peek, form: str | None) -> None:
    """Find the time: its own name, else the first column of the usual names that holds times.

    form: the format of times that was given, or None.
    """
    if "time" in finder.columns and "time" not in finder.found.values():
        finder.found["time"] = "time"
        return
    free = [column for name in ROLES["time"] if (column := finder.free(name)) is not None]
    read = peek(free) if free else {}
    for column in free:
        texts = pa.array(read[column].texts, pa.string())
        _, unreadable, _ = times([texts], column, form)
        if not unreadable.any():
            finder.found["time"] = column
            finder.guessed.append("time")
            return


def _drop_difference(finder: _Finder, peek: Peek) -> None:
    """Forget a guessed outcome that is the difference of the two scores, as a margin is."""
    found = finder.found
    if "outcome" not in finder.guessed or "margin_right" not in found:
        return
    columns = [found[role] for role in ("outcome", "margin", "margin_right")]
    read = peek(columns)
    outcome, left, right = (
        numbers(pa.array(read[column].texts, pa.string()), column) for column in columns
    )
    known = np.isfinite(outcome) & np.isfinite(left) & np.isfinite(right)
    if known.any() and 2 * known.sum() > len(known) and (outcome == left - right)[known].all():
        if abs(outcome[known]).max() > 1:
            finder.guessed.remove("outcome")
            del found["outcome"]


def _drop_flag(finder: _Finder, peek: Peek) -> None:
    """Forget a guessed column of ties that holds anything but true and false."""
    if "tie" not in finder.guessed:
        return
    column = finder.found["tie"]
    texts = {text.strip().casefold() for text in peek([column])[column].values}
    if not texts <= {*FLAG_WORDS, ""}:
        finder.guessed.remove("tie")
        del finder.found["tie"]


def _may_be_outcomes(finder: _Finder, peek: Peek) -> str:
    """Return the columns that may say who won, with the options, as a part of a sentence."""
    free = [c for c in finder.columns if c not in finder.found.values()]
    arms = [finder.found["left"], finder.found["right"]]
    said = []
    if _are_numbers(arms, peek):
        said.append(
            f"{arms[0]!r} and {arms[1]!r} hold numbers (where each column is an arm: --shape "
            "scores, or --shape ranks, where 1 is best)"
        )
    measured = {}
    for column, read in (peek(free) if free else {}).items():
        texts = {text.strip() for text in read.values} - {""}
        option = as_option("outcome", column)
        if side := _sides_in(texts):
            said.append(f"{column!r} has {side[0]!r} and {side[1]!r} ({option})")
        elif texts and all(text.endswith("%") for text in texts):
            said.append(f"{column!r} has percentages ({option})")
        elif len(texts) > 1 and all(re.fullmatch(NUMBER, text) for text in texts):
            measured[column] = sorted(map(float, texts))
    _, *pair = next(_Finder([*measured], "").sided(), ((), "", ""))
    if all(pair):
        said.append(
            f"{pair[0]!r} and {pair[1]!r} hold numbers of the sides ({as_option('margin', *pair)}; "
            "where fewer is better, --lower-is-better, too)"
        )
    for column in (name for name in measured if name not in pair):
        said += filter(None, [_may_be(column, measured[column])])
    return f"; {'; '.join(said)}" if said else ""


def _may_be(column: str, values: Sequence[float]) -> str:
    """Return what a column of numbers may say of who won, with the option; "" if nothing."""
    whole = all(value.is_integer() for value in values)
    option = as_option("outcome", column)
    words = f"{len(values)} {'whole ' if whole else ''}numbers from {values[0]:g} to {values[-1]:g}"
    if values == [0, 1]:
        return f"{column!r} has 0 and 1 ({option} --means '0=?,1=?')"
    if whole and values[0] < 0 < values[-1] and len(values) < FEW:
        return f"{column!r} has {words} (a margin, or grades: {option} --coding grades)"
    if values[0] < 0 < values[-1]:
        return f"{column!r} has {words} ({as_option('margin', column)})"
    return f"{column!r} has {words} ({option})" if len(values) < FEW else ""


def _sides_in(texts: Collection[str]) -> tuple[str, str] | None:
    """Return two of a few words that differ by a side alone, or None."""
    if len(texts) > FEW:
        return None
    pairs = permutations(sorted(texts), 2)
    words = ((a, b) for a, b in pairs if side_of(a, b) and re.search(r"[^\W\d]", a))
    return next(words, None)


def _find_covariates(
    finder: _Finder, covariates: Sequence[str], side: tuple[str, str]
) -> dict[str, str]:
    """Return the columns of covariates: one of that name, or one for each side."""
    found: dict[str, str] = {}
    for k, name in enumerate(covariates):
        pairs = finder.pairs([plain(name)], [side, *SIDES])
        _, first, second = next(pairs, (side, "", ""))
        if name in finder.columns or not first:
            finder.take(f"covariate_{k}", name)
        else:
            finder.take(f"covariate_{k}", first)
            finder.take(f"covariate_{k}_right", second)
        own = (f"covariate_{k}", f"covariate_{k}_right")
        found |= {role: finder.found[role] for role in own if role in finder.found}
    return found


def _find_margin(finder: _Finder, side: tuple[str, str]) -> None:
    """Find a margin, or two scores: of the side that matched, else of any."""
    if finder.guess("margin", ROLES["margin"]):
        return
    pairs = [*finder.pairs(SCORES, [side, *SIDES, *AGAINST])]
    for names in SCORE_PAIRS:
        first, second = (finder.free(name) for name in names)
        if first is not None and second is not None:
            pairs.append((side, first, second))
    if pairs:
        _, finder.found["margin"], finder.found["margin_right"] = pairs[0]
        finder.guessed.append("margin")
