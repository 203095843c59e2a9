"""Read a log of rankings: in long or wide form, as text, or of who is best and worst.

========  =====================================================================================
form      columns
========  =====================================================================================
long      ``ranking``, ``arm`` and ``rank``: a row for each arm of a ranking; 1 is best
wide      ``first``, ``second``, ``third``, ...: a row for each ranking
text      ``order``: "a > b > c"; commas between arms that share a place, "a > b, c"
choice    ``best``, ``shown`` (a list with commas) and, if asked for, ``worst``
========  =====================================================================================

An arm of the long form without a rank, and those of `shown` that are not named, are below the arms
that are ranked, in no order; so are arms that share the last rank. Where arms share the last rank
but one, the last is the worst of them and itself; other ties are refused. Labels are read as by
:func:`bayesduel.read_duels`.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bayesduel.data.rankings import Rankings
from bayesduel.data.read.address import is_address
from bayesduel.data.read.columns import plain, take
from bayesduel.data.read.faults import label_of
from bayesduel.data.read.formats import expand, recognise
from bayesduel.data.read.in_memory import as_frame
from bayesduel.data.read.source import open_source
from bayesduel.data.votes import ReadSummary
from bayesduel.system.arguments import check_names

__all__ = ["ranking_columns", "rankings_in", "read_rankings"]

NAMES = {
    "ranking": ("ranking", "rankingid", "race", "ballot", "list", "event", "id"),
    "arm": ("arm", "item", "model", "candidate", "player", "driver", "name", "option"),
    "rank": ("rank", "place", "position", "finish"),
    "order": ("order", "ordering", "ranking"),
    "best": ("best", "choice", "chosen"),
    "worst": ("worst",),
    "shown": ("shown", "alternatives", "options", "choices", "set"),
    "weight": ("weight", "count", "n", "times"),
}
FORMS = (("ranking", "arm", "rank"), ("best", "shown"), ("order",))
OPTIONAL = ("worst", "weight")
ORDINALS = (
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *(tuple(f"{stem}{k}" for k in range(1, 100)) for stem in ("rank", "place", "position")),
    tuple(f"{k}{'st' if k == 1 else 'nd' if k == 2 else 'rd' if k == 3 else 'th'}"
          for k in range(1, 21)),
)  # fmt: skip
BETWEEN = ("left", "right", "outcome", "winner", "loser")  # columns of duels


def read_rankings(
    path_or_frame: Any,
    *,
    ranking: str | None = None,
    arm: str | None = None,
    rank: str | None = None,
    order: str | None = None,
    best: str | None = None,
    worst: str | None = None,
    shown: str | None = None,
    weight: str | None = None,
) -> Rankings:
    """Read a log whose rows order two or more arms, or name the best, or the best and worst.

    Parameters
    ----------
    path_or_frame
        Files or a frame, as for :func:`bayesduel.read_duels`, in one of the forms of
        :mod:`bayesduel.data.read.rankings`. Columns that are not given are found by their usual
        names, and guesses are printed to stderr.
    ranking, arm, rank
        Columns of the long form: which ranking a row is of, the arm, and its rank.
    order
        Column of the text form, "a > b > c".
    best, worst, shown
        Columns of the arm that is best, of the worst, and of a list of all that were shown.
    weight
        Column of the number of identical rankings that a row stands for; not of the long form.

    Returns
    -------
    The log, which :func:`bayesduel.fit` fits with :class:`bayesduel.models.PlackettLuce`.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    ValueError
        If the columns are of none of the forms, a rank is no number, or a ranking orders no two
        arms, has an arm twice or a tie within its places.

    Examples
    --------
    >>> log = bd.read_rankings({"order": ["a > b > c", "b > a > c", "a > c > b"]})
    >>> float(bd.predict(bd.fit(log), "a", "c")["win"]) > 0.5
    True
    """
    asked = {"ranking": ranking, "arm": arm, "rank": rank, "order": order, "best": best,
             "worst": worst, "shown": shown, "weight": weight}  # fmt: skip
    columns = {role: name for role, name in asked.items() if name is not None}
    for role, name in columns.items():
        check_names(name, role)
    frame, _ = as_frame(path_or_frame)
    with open_source(frame) as source:
        found = ranking_columns(source.columns(), columns)
        if found is None:
            forms = "; ".join(" and ".join(form) for form in FORMS)
            raise ValueError(
                f"{source.name}: columns should be those of rankings ({forms}; or first, second, "
                f"third), got {', '.join(source.columns())}"
            )
        guessed = {r: c for r, c in found.items() if columns.get(r, r) != c and "_" not in r}
        if guessed:
            words = ", ".join(f"{role}={column}" for role, column in guessed.items())
            print(f"read {source.name}: {words} (guessed)", file=sys.stderr)
        taken = take(source.columns(), source.name, found)
        read = {role: column.texts.tolist() for role, column in source.texts(taken).items()}
        known: dict[str, Any] = {"source": source.words, "files": source.files, "columns": found}
        try:
            orders, counts = _orders(read), None
            if "weight" in read:
                counts = [_number(text, "weight") for text in read["weight"]]
            summary = ReadSummary(**known, n_rows=len(orders))
            return Rankings.from_orders(orders, weight=counts, read_summary=summary)
        except ValueError as error:
            raise ValueError(f"{source.name}: {error}") from None


def rankings_in(path_or_frame: Any) -> Rankings | None:
    """Return the rankings in a file or a frame, or None where its columns are not of rankings."""
    paths = [path_or_frame] if isinstance(path_or_frame, str) else path_or_frame
    if isinstance(paths, list) and not any(map(is_address, paths)):
        names = recognise(expand(path_or_frame)[0]).columns  # of a header, without the rows
        if names and ranking_columns(names) is None:
            return None
    with open_source(path_or_frame) as source:
        found = ranking_columns(source.columns())
        if found is None:
            return None
        if "order" in found:  # a name that other logs have, too
            texts = source.texts(take(source.columns(), source.name, found))["order"].values
            if not any(">" in text for text in texts):
                return None
    return read_rankings(path_or_frame)


def ranking_columns(
    names: Sequence[str], given: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """Return the column of each role of a log of rankings; None where the names are of none.

    Places of the wide form have the roles ``place_1``, ``place_2``, ...
    """
    given = dict(given or {})
    known = {plain(name): name for name in reversed(names)}
    if not given and {*known} & {*BETWEEN}:
        return None

    def column(role: str) -> str | None:
        return given.get(role) or next((known[n] for n in NAMES[role] if n in known), None)

    optional = {role: name for role in OPTIONAL if (name := column(role)) is not None}
    for form in FORMS:
        found = {role: name for role in form if (name := column(role)) is not None}
        if len(set(found.values())) == len(form) and not {*given} - {*form, *OPTIONAL}:
            wanted = OPTIONAL if "best" in form else OPTIONAL[1:]
            extra = {role: optional[role] for role in wanted if role in optional}
            return found | ({} if "rank" in form else extra)
    for ordinals in ORDINALS:
        places = [known[name] for name in ordinals if name in known]
        if len(places) > 2 and [plain(name) for name in places] == [*ordinals[: len(places)]]:
            weight = {r: name for r, name in optional.items() if r == "weight"}
            return {f"place_{k}": name for k, name in enumerate(places, 1)} | weight
    return None


def _orders(read: Mapping[str, list[str | None]]) -> list[list[list[str]]]:
    """Return the groups of each ranking, best first."""
    if "rank" in read:
        return _of_long(read)
    if "order" in read:
        return [[_listed(part) for part in (text or "").split(">")] for text in read["order"]]
    if "best" in read:
        worst = read.get("worst", [None] * len(read["best"]))
        found = []
        for row, (best, last, shown) in enumerate(
            zip(read["best"], worst, read["shown"], strict=True)
        ):
            if not _label(best):
                raise ValueError(f"best should name an arm, got {best!r} in row {row}")
            ends = [[label] for label in (_label(best), _label(last)) if label]
            rest = [label for label in _listed(shown) if [label] not in ends]
            found.append([group for group in (ends[0], rest, *ends[1:]) if group])
        return found
    places = [column for role, column in read.items() if role.startswith("place_")]
    rows = [[_label(text) for text in row] for row in zip(*places, strict=True)]
    return [[[label] for label in row if label is not None] for row in rows]


def _of_long(read: Mapping[str, list[str | None]]) -> list[list[list[str]]]:
    rankings: dict[str | None, dict[float, list[str]]] = {}
    for row, (of, arm, rank) in enumerate(
        zip(read["ranking"], read["arm"], read["rank"], strict=True)
    ):
        label = _label(arm)
        if label is None or _label(of) is None:
            raise ValueError(f"row {row} should name a ranking and an arm, got {of!r} and {arm!r}")
        number = float("inf") if _label(rank) is None else _number(rank, "rank")
        rankings.setdefault(of, {}).setdefault(number, []).append(label)
    return [[own[rank] for rank in sorted(own)] for own in rankings.values()]


def _number(text: str | None, role: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise ValueError(f"{role} should be a number, got {text!r}") from None


def _listed(text: str | None) -> list[str]:
    return [label for part in re.split(r"[,;|]", text or "") if (label := _label(part))]


def _label(text: str | None) -> str | None:
    return None if text is None else label_of(text)
