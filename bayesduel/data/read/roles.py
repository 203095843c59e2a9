"""How the roles of columns are found: as given, by their own names, or guessed.

Two columns are the two arms when they are a stem and the two words of a side
(``model_a``/``model_b``, ``player1``/``player2``, ``home_team``/``away_team``,
``winner``/``loser``), the first match in the order of `SIDES`, then of `STEMS`. Else they are two
columns whose names differ by the words of a side alone, whatever stands around them
(``answer1_model_id``/``answer2_model_id``), and that share labels; of several such pairs the one
whose labels repeat most. If they are winner and loser (or chosen and rejected), the left arm won
every duel, unless a column of outcomes is given.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, permutations, product
from operator import eq
from typing import Any

import numpy as np
import pyarrow as pa

from bayesduel.data.read.columns import (
    FEW,
    REPEATED,
    Finder,
    Peek,
    Roles,
    Side,
    are_flags,
    has_word,
    plain,
    shared_end,
    shared_start,
    side_of,
    texts_in,
    words_of,
)
from bayesduel.data.read.no_duels import as_scores, check_no_totals
from bayesduel.data.read.outcomes import NAMED, coding_of
from bayesduel.data.read.reading import measures
from bayesduel.data.read.reading_options import Given
from bayesduel.data.read.rows import MEMBERS, are_numbers, numbers, times
from bayesduel.data.read.words import (
    AGAINST,
    DATES,
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
    TIES,
    TIME,
    WIN_COUNTS,
    WON_SIDES,
)
from bayesduel.system.arguments import as_options, by_reader

__all__ = [
    "ROLES",
    "arms_in",
    "assign",
    "goes_on",
    "scores_in",
    "wins_columns",
]

TALLIES = ("won", "lost")  # sides that are counts of a table of standings where they are numbers
# Two arms of which neither name says how the pair was presented.
PLAIN_PAIRS = (
    *product(TEAMS, OPPONENTS),
    ("model", "baseline"),
    ("system", "baseline"),
    ("candidate", "reference"),
    ("test", "reference"),
    ("new", "old"),
    ("treatment", "control"),
    ("visitor", "opponent"),
)
STEMS = (
    "",
    "model",
    "player",
    "team",
    "item",
    "option",
    "system",
    "arm",
    "candidate",
    "object",
    "stimulus",
    "choice",
    "alternative",
    "name",
    "id",
)
WON = {"win", "wins", "won", "beats", "beat", "better", "best", "preferred", "chosen", "selected"}
LETTERS_OF_TIES = ("d", "t")  # beside W and L
ROLES: dict[str, tuple[str, ...]] = {
    "margin": ("margin", "scoremargin", "scorediff", "scoredifference", "goaldifference"),
    "judge": JUDGE,
    "group": GROUP,
    "time": TIME + DATES,
    "tie": TIE_FLAGS,
    "shown_first": FIRST,
    "weight": ("weight", "count", "n", "freq", "frequency"),
}
OWN = ("judge", "group", "time", "weight")  # roles of one column each, which may be False
FLAGS = ("tie", "shown_first")  # beside an outcome


def wins_columns(
    columns: Sequence[str],
    source: str,
    left: str,
    right: str,
    weight: Given,
    peek: Peek | None = None,
) -> dict[str, str] | None:
    """Return the columns of a table with one row per pair, or None if it has no columns of wins.

    The roles are ``left``, ``right``, ``left_wins``, ``right_wins`` (``wins_a`` and ``wins_b``,
    or ``wins`` and ``losses`` of the left arm) and, if there is one, ``ties`` and, unless
    `weight` is False, ``weight``.

    peek: as of :func:`assign`; without it names alone decide which columns are the arms.
    """
    finder = Finder(columns, source, peek)
    wins = [*finder.pairs(WIN_COUNTS, SIDES)]
    if not wins:
        for record in RECORDS:
            wins += finder.named(record, record)
    if not wins or finder.all_free(("outcome", "margin", "result")):
        return None
    side, *both = wins[0]
    for role, column in zip(("left_wins", "right_wins"), both, strict=True):
        finder.take(role, column)
    try:
        _find_arms(finder, left, right)
    except ValueError:
        free = {*finder.free}
        named = (pair for words, *pair in finder.sided() if words == side and free >= {*pair})
        labelled = (pair for pair in named if not _hold_numbers(finder, pair))
        arms = next(labelled, None)
        if arms is None or (left, right) != ("left", "right"):
            return None
        for role, column in zip(("left", "right"), arms, strict=True):
            finder.settle(role, column)
    names = TIE_COUNTS
    if side == ("w", "l"):
        names += LETTERS_OF_TIES
    for ties in finder.all_free(names)[:1]:
        finder.take("ties", ties)
    if weight is None:
        finder.guess("weight", ROLES["weight"])
    return finder.found


def arms_in(columns: Sequence[str], peek: Peek | None = None) -> tuple[str, str] | None:
    """Return the two columns that are named like the two arms of a duel, or None.

    peek: as of :func:`assign`; without it names alone decide.
    """
    finder = Finder(columns, "", peek)
    try:
        _find_arms(finder, "left", "right")
    except ValueError:
        return None
    return finder.found["left"], finder.found["right"]


def scores_in(columns: Sequence[str], left: str, right: str) -> list[str]:
    """Return the columns of the margin, or of the two scores, of two arms; [] if there are none."""
    finder = Finder(columns, "")
    side = _find_arms(finder, left, right)
    _find_margin(finder, side)
    roles = ("margin", "margin_right")
    return [finder.found[role] for role in roles if role in finder.found]


def goes_on(names: Sequence[str], pair: Sequence[str]) -> bool:
    """Return whether a column is named like a further arm beside two, such as model_c."""
    start = shared_start(pair)
    end = shared_end(pair)
    for name in names:
        rest = name.removeprefix(start).removesuffix(end)
        alike = len(name) - len(rest) == len(start + end)
        # 2 digits at most of the number of an arm in the name of its column
        if alike and len(rest) <= 2 and name not in pair:
            return True
    return False


def assign(
    columns: Sequence[str], source: str, given: Mapping[str, Any], by: str | None, peek: Peek
) -> Roles:
    """Return the roles of `columns`, guessing those that are not given.

    given: the options of :func:`bayesduel.read_duels` that name columns.
    peek: returns the texts of some rows of columns, by column.

    Raises ValueError if a column that is given or needed does not exist, or has two roles.
    """
    finder = Finder(columns, source, peek)
    found = finder.found
    _take_given(finder, given, by)
    outcome = given["outcome"]

    members: dict[str, str] = {}
    first: dict[str, str] = {}
    for role in ("left", "right"):
        of_side = given[role]
        names = (of_side,) if isinstance(of_side, str) else of_side
        first[role], *further = names
        members |= {f"{role}_{k}": name for k, name in enumerate(further, 1)}
    side = _find_arms(finder, first["left"], first["right"])
    for role, column in members.items():
        finder.take(role, column)
    extra = _find_covariates(finder, given["covariates"], side)
    wanted = outcome is not False and side[1] not in WON_SIDES
    if "outcome" not in found and wanted:
        finder.guess("outcome", OUTCOMES)
    if given["margin"] is None:
        _find_margin(finder, side)
    _drop_difference(finder)
    if given["time"] is None:
        _find_time(finder, given["time_format"])
    for role in OWN:
        if given[role] is None and role != "time":
            finder.guess(role, ROLES[role])
    decisive = {"outcome", "margin"}
    if wanted and not decisive & found.keys():
        _find_outcome(finder)
    won_by_left = outcome is not False and not wanted
    if "outcome" in found or won_by_left:
        flags = FLAGS if "outcome" in found else ("tie",)
        for role in flags:
            if given[role] is None:
                finder.guess(role, ROLES[role])
        _drop_flag(finder)
    if wanted and not decisive & found.keys():
        by_outcome = as_options(outcome=None)
        by_margin = as_options(margin=None)
        advice = _may_be_outcomes(finder)
        raise ValueError(
            f"{source}: no column for the outcome; {finder.there}. Name the column by "
            f"{by_outcome}, or the column of a margin or two scores by "
            f"{by_margin}. {advice}If a row has counts of wins, "
            "call their columns wins_a and wins_b"
        )
    _check_order(finder)
    weights = [name for name in columns if plain(name) in SAMPLING]
    unused = tuple(name for name in weights if name != given["sampling_weight"])
    several = extra | members  # roles of several columns
    return Roles(
        **{role: column for role, column in found.items() if role not in several},  # type: ignore[arg-type]
        members=members,
        teams=MEMBERS if members else given["teams"],
        covariates=tuple(given["covariates"]),
        covariate_columns=extra,
        kept=tuple(given["keep"]),
        guessed=tuple(finder.guessed),
        unused=unused,
    )


def _take_given(finder: Finder, given: Mapping[str, Any], by: str | None) -> None:
    """Assign the columns that are given, except those of the arms."""
    for name in given["keep"]:
        finder.check("keep", name)
    own = {"by": by} | {role: given[role] for role in ("sampling_weight", *FLAGS, *OWN)}
    margin = given["margin"]
    scores = margin if isinstance(margin, tuple) else (margin,)
    own |= dict(zip(("margin", "margin_right"), scores, strict=False))
    if given["outcome"] != "outcome" or "outcome" in finder.columns:
        own["outcome"] = given["outcome"]
    for role, column in own.items():
        if not isinstance(column, str):
            continue
        if role == "weight" and plain(column) in SAMPLING:
            option = as_options(sampling_weight=None)
            raise ValueError(
                f"weight should be a column of whole numbers of identical duels, got "
                f"{column!r}: {option} takes weights of a survey"
            )
        finder.take(role, column)


def _find_arms(finder: Finder, left: str, right: str) -> tuple[str, str]:
    """Find the two arms; return the side words that matched."""
    wanted = {"left": left, "right": right}
    default = [r for r, c in wanted.items() if c == r and c not in finder.columns]
    for role, column in wanted.items():
        if role not in default:
            finder.take(role, column)
    if not default:
        return side_of(left, right) or ("left", "right")
    all_free = Finder(finder.columns, finder.source, finder.peek)
    for side, *columns in _may_be_arms(all_free):
        pair = dict(zip(wanted, columns, strict=True))
        taken = {column for role, column in finder.found.items() if role not in pair}
        if not taken.isdisjoint(columns):
            continue
        if all(pair[role] == wanted[role] for role in pair if role not in default):
            for role in default:
                finder.take(role, pair[role])
                finder.guessed.append(role)
            return side
    advice = ""
    if finder.peek is not None and len(default) == 2:
        check_no_totals(finder)
        advice = as_scores(finder)
    rankings = by_reader(
        "read_rankings(..., ranking=, arm=, rank=)",
        "--rankings ranking=COLUMN,arm=COLUMN,rank=COLUMN",
    )
    lacking = " and ".join(default)
    by_left = as_options(left=None)
    by_right = as_options(right=None)
    by_shape = as_options(shape=None)
    raise ValueError(
        f"{finder.source}: no column for {lacking}; {finder.there}. Is the header "
        f"line missing? Name the columns of the two arms by {by_left} and "
        f"{by_right}. {advice}If a row is not a duel, say what a row is by "
        f"{by_shape}. If the log has rankings, use {rankings}"
    )


def _may_be_arms(finder: Finder) -> list[Side]:
    """Return the pairs of columns that may be the two arms, the likeliest first."""
    found = [*finder.pairs(STEMS, SIDES)]
    for both in PLAIN_PAIRS:
        found += finder.named(both, both)
    if finder.peek is None:
        return found
    found = [one for one in found if one[0] != TALLIES or not _hold_numbers(finder, one[1:])]
    if found and _named_arms(finder, found[0]):
        return found
    return [*_sharing_labels(finder), *found] or _named_in_rows(finder)


def _named_in_rows(finder: Finder) -> list[Side]:
    """Return the only two columns of which another one names one in every row, whatever theirs."""
    texts = _texts(finder)
    pairs = [pair for pair in combinations(texts, 2) if _naming(texts, *pair)]
    if len(pairs) != 1:
        return []
    left, right = pairs[0]
    return [(("left", "right"), left, right)]


def _texts(finder: Finder) -> dict[str, list[str]]:
    """Return some rows of all columns as text, "" where missing."""
    read = finder.rows(finder.columns)
    return {name: [(text or "").strip() for text in read[name].texts] for name in read}


def _naming(texts: Mapping[str, Sequence[str]], first: str, second: str) -> list[str]:
    """Return the columns that name one of two arms in every row, each side in some.

    Of two numbers, neither the larger one nor the smaller one in all of them, as a best score is,
    unless it is called an outcome.
    """
    left = texts[first]
    right = texts[second]
    if {*left}.isdisjoint(right) or any(map(eq, left, right)):
        return []
    found = []
    for name in texts:
        won = set()
        larger = set()
        for winner, one, other in zip(texts[name], left, right, strict=True):
            if plain(winner) in TIES:
                continue
            if winner not in (one, other):
                break
            won.add(winner == one)
            if are_numbers((one, other)):
                largest = max(float(one), float(other))
                larger.add(float(winner) == largest)
        else:
            of_numbers = len(larger) == 1 and plain(name) not in OUTCOMES
            if len(won) == 2 and not of_numbers:
                found.append(name)
    return found


def _named_arms(finder: Finder, found: Side) -> bool:
    """Return whether two columns that are named like arms hold arms, not texts of theirs.

    In a table of answers that were chosen and rejected, other columns name the models.
    """
    _, *columns = found
    if all({*both} & {*columns} for _, *both in finder.sided()):
        return True
    left, right = map(texts_in, finder.rows(columns).values())
    return bool(left & right)


def _hold_numbers(finder: Finder, columns: Sequence[str]) -> bool:
    """Return whether some columns hold numbers alone."""
    return all(are_numbers(texts_in(read)) for read in finder.rows(columns).values())


def _sharing_labels(finder: Finder) -> list[Side]:
    """Return the pairs of columns whose names differ by a side alone and that share labels.

    Columns that are called after arms come first, then those whose labels repeat most: names of
    arms repeat, answers do not.
    """
    pairs = [one for one in finder.sided() if not has_word(one[1], SCORES)]
    read = finder.rows(column for _, *both in pairs for column in both)
    found = []
    for side, first, second in pairs:
        left = texts_in(read[first])
        right = texts_in(read[second])
        labels = left | right
        if not left & right or are_flags(labels):
            continue
        numbers = all(re.fullmatch("[0-9.]+", text) for text in labels)
        repeated = len(read[first].code) >= REPEATED * len(labels)
        if repeated or not numbers or _naming(_texts(finder), first, second):
            found.append((labels, (side, first, second)))

    def place(one: tuple[set[str], Side]) -> tuple[bool, int, int]:
        """Return the place of a pair among others, the least first."""
        labels, (_, first, second) = one
        called_after_arms = has_word(first, STEMS[1:])
        # Where the names differ: of team1_player1 the team is the side.
        return not called_after_arms, len(labels), len(shared_start((first, second)))

    found.sort(key=place)
    for labels, (side, first, second) in found[1:]:
        best, (other, left_arm, right_arm) = found[0]
        shared = len(labels & best)
        if side != other or not shared > len(best) / 2:
            continue
        if {first, second}.isdisjoint((left_arm, right_arm)):
            lists = as_options(left=[left_arm, first], right=[right_arm, second])
            raise ValueError(
                f"{finder.source}: each side may have several members, in the columns {left_arm!r} "
                f"and {first!r} against {right_arm!r} and {second!r}: say so by {lists}, "
                "or name one column of each side"
            )
    return [pair for _, pair in found]


def _find_outcome(finder: Finder) -> None:
    """Find the outcome by its values, the labels of arms, or by a word in its name."""
    arms = [finder.found["left"], finder.found["right"]]
    free = finder.free
    naming = _naming(_texts(finder), *arms)
    read = finder.rows([*arms, *free])
    texts = {}
    for column in read:
        texts[column] = {text.casefold() for text in texts_in(read[column])}
    left, right = arms
    labels = texts[left] | texts[right]
    named = [c for c in free if has_word(c, OUTCOME_WORDS)]
    of_arms = []
    for column in dict.fromkeys([*named, *free]):
        numbers = all(re.fullmatch("[0-9.]+", text) for text in texts[column])
        if numbers and column not in naming:
            continue
        given = [text for text in read[column].texts if text is not None and text.strip()]
        outcomes = [text.strip().casefold() for text in given]
        named_arms = sum(text in labels for text in outcomes)
        others = [text for text in outcomes if text not in labels]
        ties = sum(plain(text) in TIES for text in others)
        # Share of the rows whose outcome names an arm, for a column of another name: 0.9
        if named_arms and named_arms + ties >= 0.9 * len(outcomes):
            of_arms.append(column)
    of_arms = [column for column in of_arms if column in named] or of_arms
    if len(of_arms) == 1:  # several are of several judges, or by several criteria
        finder.settle("outcome", of_arms[0])
    if of_arms:
        return
    flags = [c for c in free if words_of(c) & WON and are_flags(texts[c])]
    sided = [c for c in named if _sides_in(texts_in(read[c]))]
    for one in (named, sided, flags):
        if len(one) == 1:
            finder.settle("outcome", one[0])
            return


def _check_order(finder: Finder) -> None:
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
            in_its_order = as_options(left=right, right=left)
            raise ValueError(
                f"{finder.source}: column {found[role]!r} is {right!r} minus {left!r}, by its "
                f"name: name the sides in its order ({in_its_order})"
            )


def _find_time(finder: Finder, form: str | None) -> None:
    """Find the time: its own name, else the first column of the usual names that holds times.

    form: the format of times that was given, or None.
    """
    if finder.guess("time", ()):
        return
    usual = finder.all_free(ROLES["time"])
    for column, read in finder.rows(usual).items():
        texts = pa.array(read.texts, pa.string())
        _, unreadable, kind = times([texts], column, form)
        not_dates = kind == "number" and plain(column) in DATES
        if not unreadable.any() and not not_dates:
            finder.settle("time", column)
            return


def _drop_difference(finder: Finder) -> None:
    """Forget a guessed outcome that is the difference of the two scores, as a margin is."""
    if "outcome" not in finder.guessed or "margin_right" not in finder.found:
        return
    columns = [finder.found[role] for role in ("outcome", "margin", "margin_right")]
    read = finder.rows(columns)
    values = []
    for column in columns:
        texts = pa.array(read[column].texts, pa.string())
        values.append(numbers(texts, column))
    outcome, left, right = values
    known = np.isfinite(values).all(axis=0)
    if not 2 * known.sum() > len(known):
        return
    differences = outcome == left - right
    if differences[known].all() and abs(outcome[known]).max() > 1:
        finder.forget("outcome")


def _drop_flag(finder: Finder) -> None:
    """Forget a guessed column of ties that holds anything but true and false."""
    if "tie" in finder.guessed:
        column = finder.found["tie"]
        read = finder.rows([column])[column]
        if not are_flags(texts_in(read)):
            finder.forget("tie")


def _may_be_outcomes(finder: Finder) -> str:
    """Return the columns that may say who won, with the options, as sentences."""
    arms = [finder.found["left"], finder.found["right"]]
    said = []
    if _hold_numbers(finder, arms):
        left, right = arms
        as_scores = as_options(shape="scores")
        as_ranks = as_options(shape="ranks")
        said.append(
            f"{left!r} and {right!r} hold numbers. If each column is an arm, use "
            f"{as_scores}, or {as_ranks} where 1 is best"
        )
    measured = {}
    verdicts = []
    labels = set().union(*map(texts_in, finder.rows(arms).values()))
    for column, read in finder.rows(finder.free).items():
        texts = texts_in(read)
        option = as_options(outcome=column)
        coding = coding_of(texts, labels)
        if coding:
            verdicts.append(column)
        sides = _sides_in(texts)
        if sides:
            first, second = sides
            said.append(f"{column!r} has {first!r} and {second!r} ({option})")
        elif coding == NAMED:
            said.append(f"{column!r} names arms ({option})")
        elif texts and all(text.endswith("%") for text in texts):
            said.append(f"{column!r} has percentages ({option})")
        elif len(texts) > 1 and are_numbers(texts):
            measured[column] = sorted(map(float, texts))
    _, *pair = next(Finder(measured, "").sided(), ((), "", ""))
    if all(pair):
        first, second = pair
        margin = as_options(margin=(first, second))
        lower = as_options(lower_is_better=True)
        said.append(
            f"{first!r} and {second!r} hold numbers of the sides ({margin}). If fewer is "
            f"better, add {lower}"
        )
    said += [_may_be(name, measured[name]) for name in measured if name not in pair]
    if len(verdicts) > 1:
        judges = as_options(shape="judges")
        said.append(f"If each of several columns is a judge, use {judges}")
    return "".join(f"{words}. " for words in said if words)


def _may_be(column: str, values: Sequence[float]) -> str:
    """Return what a column of numbers may say of who won, with the option; "" if nothing."""
    if values == [0, 1]:
        gaps = dict.fromkeys("01", "?")
        means = as_options(outcome=column, means=gaps)
        return f"{column!r} has 0 and 1 ({means})"
    whole = all(value.is_integer() for value in values)
    few = len(values) < FEW
    least = values[0]
    most = values[-1]
    kind = "whole numbers" if whole else "numbers"
    words = f"{len(values)} {kind} from {least:g} to {most:g}"
    signed = least < 0 < most
    if signed and whole and few:
        grades = as_options(outcome=column, coding="grades")
        return f"{column!r} has {words} (a margin, or grades: {grades})"
    if signed:
        margin = as_options(margin=column)
        return f"{column!r} has {words} ({margin})"
    if 1 < most <= 100 and measures(column, map(str, values)):
        percent = as_options(outcome=column, coding="percent")
        return f"{column!r} has {words} (a share of the left in percent: {percent})"
    if not few:
        return ""
    option = as_options(outcome=column)
    return f"{column!r} has {words} ({option})"


def _sides_in(texts: Collection[str]) -> tuple[str, str] | None:
    """Return two of a few words that differ by a side alone, or None."""
    if len(texts) > FEW:
        return None
    for one, other in permutations(sorted(texts), 2):
        has_letter = re.search(r"[^\W\d]", one)
        if has_letter and side_of(one, other):
            return one, other
    return None


def _find_covariates(
    finder: Finder, covariates: Sequence[str], side: tuple[str, str]
) -> dict[str, str]:
    """Return the columns of covariates: one of that name, or one for each side.

    Raises ValueError if both columns of a pair are named, as covariates of their own.
    """
    side_word = side[0]
    for own_side, left, right in finder.sided():
        words = plain(left)
        both_given = {left, right} <= {*covariates}
        # "x1" and "x2" are two covariates, unless the columns of the arms differ by these words
        if both_given and own_side == side and words != side_word:
            stem = words.removesuffix(side_word)
            if stem == words:
                stem = words.removeprefix(side_word)
            rest = [name for name in covariates if name not in (left, right)]
            remedy = "give a column with their difference, left minus right"
            if next(finder.pairs([stem], [side, *SIDES]), None):
                named = as_options(covariates=[*rest, stem])
                remedy = f"name it {stem!r} (left minus right), {named}"
            raise ValueError(
                f"{finder.source}: {left!r} and {right!r} are one covariate with a column for each "
                f"side: {remedy}"
            )
    found: dict[str, str] = {}
    for k, name in enumerate(covariates):
        pair = next(finder.pairs([plain(name)], [side, *SIDES]), None)
        columns: Sequence[str] = [name]
        if pair is not None and name not in finder.columns:
            columns = pair[1:]
        roles = (f"covariate_{k}", f"covariate_{k}_right")
        own = dict(zip(roles, columns, strict=False))
        for role, column in own.items():
            finder.take(role, column)
        found |= own
    return found


def _find_margin(finder: Finder, side: tuple[str, str]) -> None:
    """Find a margin, or two scores: of the side that matched, else of any."""
    if finder.guess("margin", ROLES["margin"]):
        return
    pairs = [*finder.pairs(SCORES, [side, *SIDES, *AGAINST])]
    for names in SCORE_PAIRS:
        pairs += finder.named(side, names)
    for _, own, other in pairs[:1]:
        finder.settle("margin", own)
        finder.found["margin_right"] = other
