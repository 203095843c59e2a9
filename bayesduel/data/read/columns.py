"""The columns of a log: their names as they are compared, and the roles that they have.

Names are compared without regard to case, spaces, ``_``, ``-`` and ``.``. How roles are found is
said in :mod:`bayesduel.data.read.roles`.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bayesduel.data.read.words import BARE, SIDES
from bayesduel.system.arguments import did_you_mean, shown_value

__all__ = [
    "FEW",
    "FLAG_WORDS",
    "PEEK",
    "REPEATED",
    "THIRD",
    "ColumnError",
    "Columns",
    "Finder",
    "Peek",
    "Roles",
    "Side",
    "are_flags",
    "bare",
    "has_word",
    "plain",
    "rows_by_role",
    "shared_end",
    "shared_start",
    "side_of",
    "take",
    "texts_in",
    "words_of",
]

Peek = Callable[[Sequence[str]], Mapping[str, Any]]  # the texts of columns, of some rows
Side = tuple[tuple[str, str], str, str]  # the words of a side, and the columns of both

# What a column is taken for is guessed from its values. The notice tells a guess, and an
# option corrects it. By eye; files of users are read with these (benchmarks.files_of_users).
PEEK = 500  # first rows that are looked at
REPEATED = 1.5  # rows per value, from which values are names of arms or units that come again
FEW = 20  # values, up to which they are categories or words of an outcome
THIRD = {"2": "3", "1": "2", "b": "c", "second": "third", "ii": "iii", "two": "three", "y": "z"}
FLAG_WORDS = {
    **dict.fromkeys(("true", "yes", "1", "1.0", "t", "y"), True),
    **dict.fromkeys(("false", "no", "0", "0.0", "f", "n"), False),
}


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
            "left",
            "right",
            "outcome",
            "margin",
            "margin_right",
            "judge",
            "group",
            "time",
            "weight",
            "sampling_weight",
            "by",
            "tie",
            "shown_first",
        )
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

    def notice(self, but: Container[str] = ()) -> str:
        """Return the guessed columns, e.g. ``left=model_a, right=model_b (guessed)``; "" if none.

        but: columns that are not of the file, which a shape says what they are.
        """
        guessed = []
        for role, column in self.words.items():
            if role in self.guessed and column not in but:
                guessed.append(f"{role}={column}")
        return f"{', '.join(guessed)} (guessed)" if guessed else ""


@dataclass(frozen=True)
class Columns:
    """Columns that are read row by row, by role, from a table that is not a log of duels."""

    taken: dict[str, str]
    tallied: ClassVar[bool] = False


def shared_start(names: Sequence[str]) -> str:
    """Return the letters that all of several names start with."""
    first = min(names, default="")
    last = max(names, default="")
    if last.startswith(first):
        return first
    return first[: _first_difference(first, last)]


def shared_end(names: Sequence[str]) -> str:
    """Return the letters that all of several names end with."""
    backwards = [name[::-1] for name in names]
    return shared_start(backwards)[::-1]


def _first_difference(first: str, second: str) -> int:
    """Return the place of the first letter in which two words differ, or 0."""
    for k, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return k
    return 0


def rows_by_role(source: Any, columns: dict[str, str]) -> list[dict[str, Any]]:
    """Return the texts of each row of a source by role, given the column of each role."""
    texts = {}
    for role, column in source.texts(Columns(columns)).items():
        texts[role] = column.texts
    rows = zip(*texts.values(), strict=True)
    return [dict(zip(texts, row, strict=True)) for row in rows]


def plain(name: str) -> str:
    """Return a name without case, spaces and punctuation, as names are compared."""
    return re.sub(r"[\s_\-.]+", "", name.casefold())


def bare(name: str) -> str:
    """Return a name without what stands in brackets behind it: "rating (1 = best)" is a rating."""
    return re.sub(r"(?<=.)\s*[(\[].*[)\]]\s*$", "", name)


def words_of(name: str) -> set[str]:
    """Return the words and numbers in the name of a column: model, b, won of "modelB_won"."""
    spaced = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)
    return {*re.findall("[^\\W\\d_]+|[0-9]+", spaced.casefold())}


def has_word(name: str, words: Iterable[str]) -> bool:
    """Return whether one of some words is in the plain name of a column."""
    return any(word in plain(name) for word in words)


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


class Finder:
    """The columns of a log, and the roles found so far.

    peek: returns the texts of some rows of columns, by column; None where names alone decide.
    """

    def __init__(self, columns: Iterable[str], source: str, peek: Peek | None = None) -> None:
        self.columns = list(columns)
        self.source = source
        self.peek = peek
        self.found: dict[str, str] = {}
        self.guessed: list[str] = []
        self._by_plain: dict[str, str] = {}
        for column in self.columns:
            self._by_plain.setdefault(plain(column), column)

    @property
    def there(self) -> str:
        """The names of the columns, for messages."""
        shown = ", ".join(repr(c) for c in self.columns[:20])
        more = len(self.columns) - 20
        if more > 0:
            shown += f" and {more} more"
        return f"the columns are {shown}"

    @property
    def free(self) -> list[str]:
        """The columns that have no role yet."""
        taken = {*self.found.values()}
        return [column for column in self.columns if column not in taken]

    def all_free(self, names: Iterable[str]) -> list[str]:
        """Return the columns of some plain names that have no role yet, in the order of names."""
        taken = {None, *self.found.values()}
        columns = map(self._by_plain.get, names)
        return [column for column in columns if column is not None and column not in taken]

    def rows(self, columns: Iterable[str]) -> Mapping[str, Any]:
        """Return some rows of columns, by column."""
        names = [*dict.fromkeys(columns)]
        if not names or self.peek is None:
            return {}
        return self.peek(names)

    def check(self, role: str, column: str) -> None:
        """Raise ValueError unless there is a column of that exact name."""
        if column not in self.columns:
            hint = did_you_mean(column, self.free)
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

    def settle(self, role: str, column: str) -> None:
        """Assign a column to `role` that was guessed."""
        self.found[role] = column
        self.guessed.append(role)

    def forget(self, role: str) -> None:
        """Take back a role that was guessed."""
        del self.found[role]
        self.guessed.remove(role)

    def guess(self, role: str, names: Iterable[str]) -> bool:
        """Assign to `role` its own name, else guess the first column with one of `names`."""
        if role in self.free:
            self.found[role] = role
            return True
        for column in self.all_free(names)[:1]:
            self.settle(role, column)
        return role in self.found

    def pairs(self, stems: Sequence[str], sides: Iterable[tuple[str, str]]) -> Iterator[Side]:
        """Yield the pairs of free columns that are a stem with the two words of a side."""
        there = self._by_plain
        all_names = "\n".join(there)
        for side in sides:
            one, other = side
            if one not in all_names:
                continue
            for stem in stems:
                if not stem and side in BARE:
                    continue
                if stem + one in there and stem + other in there:
                    yield from self.named(side, [stem + one, stem + other])
                if one + stem in there and other + stem in there:
                    yield from self.named(side, [one + stem, other + stem])

    def named(self, side: tuple[str, str], names: Iterable[str]) -> Iterator[Side]:
        """Yield the free columns of two plain names, if there are both, as those of a side."""
        columns = self.all_free(names)
        if len(columns) == 2:
            yield side, columns[0], columns[1]

    def sided(self) -> Iterator[Side]:
        """Yield the pairs of columns whose names differ by the two words of a side alone.

        Columns of which a third goes on (bean1, bean2, bean3) are no two sides.
        """
        for name, column in self._by_plain.items():
            for side in SIDES:
                first, second = side
                if first not in name:
                    continue
                for place in re.finditer(f"(?={re.escape(first)})", name):
                    start = place.start()
                    before = name[:start]
                    after = name[start + len(first) :]
                    other = self._by_plain.get(before + second + after)
                    third = THIRD.get(second)
                    goes_on = third is not None and before + third + after in self._by_plain
                    if other is not None and not goes_on:
                        yield side, column, other


def take(columns: Sequence[str], source: str, given: Mapping[str, str]) -> Columns:
    """Return the columns of the roles that are given.

    Raises ValueError if a column does not exist, or has two roles.
    """
    finder = Finder(columns, source)
    for role, column in given.items():
        finder.take(role, column)
    return Columns(finder.found)


def side_of(left: str, right: str) -> tuple[str, str] | None:
    """Return the words of `SIDES` that alone tell the names of two columns apart, or None."""
    names = [plain(left), plain(right)]
    for side, *both in Finder(names, "").sided():
        if both == names:
            return side
    return None


def texts_in(column: Any) -> set[str]:
    """Return the texts of a column without surrounding spaces, but for blank ones."""
    return {text.strip() for text in column.values} - {""}


def are_flags(texts: Iterable[str]) -> bool:
    """Return whether texts say true or false in words or numbers."""
    return {text.casefold() for text in texts} <= FLAG_WORDS.keys()


def _option(role: str) -> str:
    """Return the argument that names the column of a role."""
    if role.startswith("covariate_"):
        return "covariates"
    return role.removesuffix("_right")
