"""How a log was read, as a log, a fit and a study store it, so that a batch is read alike."""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.columns import Roles
from bayesduel.data.read.meaning import MEANS, Meaning
from bayesduel.data.read.reading_options import DEFAULTS, RANKING_ROLES
from bayesduel.system.arguments import shown_value

__all__ = ["check_coding", "options_of", "reading_of", "stored_options", "with_stored"]

LISTS = ("covariates", "keep", "missing")
OF_SOURCE = ("shape", "where", "decimal", "time_format")
SIDES = ("left", "right")  # each a column, or a list of the columns of its members
AS_GIVEN = ("ties", "lower_is_better")


def options_of(roles: Roles, reading: Meaning | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of :func:`bayesduel.read_duels` that read a log the same way again.

    reading: how outcomes were read, None without such a column.
    """
    found: dict[str, Any] = {}
    for name, default in DEFAULTS.items():
        switched_off = given[name] is False and default is not False
        if name in AS_GIVEN or switched_off:
            found[name] = given[name]
    if not found["lower_is_better"]:
        del found["lower_is_better"]
    found |= {name: list(given[name]) for name in LISTS if given[name]}
    found |= {name: given[name] for name in OF_SOURCE if given[name] is not None}
    found |= {role: column for role, column in roles.taken.items() if role in DEFAULTS}
    for side in SIDES:
        members = [column for role, column in roles.members.items() if role.startswith(side)]
        if members:
            found[side] = [found[side], *members]
    if roles.teams is not None and not roles.members:
        found["teams"] = roles.teams
    if roles.margin_right is not None:
        found["margin"] = [roles.margin, roles.margin_right]
    if reading is None:
        found["outcome"] = False
    elif reading.said is not None:
        found[MEANS] = dict(reading.said)
    elif reading.settled:
        found["coding"] = reading.coding
    return found


def reading_of(like: Any) -> dict[str, Any]:
    """Return the options that a log was read with; {} of a log that was not read.

    like: a log, or a fit of one.
    Raises TypeError or ValueError if it is neither, or its options are not as they are stored.
    """
    if isinstance(like, Duels | Rankings):
        found: Any = like.read_summary.reading
    elif isinstance(getattr(like, "attrs", None), Mapping):
        try:
            found = json.loads(like.attrs.get("reading", "{}"))
        except (TypeError, ValueError):
            found = None
    else:
        raise TypeError(f"like should be a log or a fit, got {shown_value(like)}")
    if not isinstance(found, Mapping) or not all(
        (name in DEFAULTS or name in RANKING_ROLES)
        and (isinstance(value, bool | str) or (isinstance(value, list | Mapping) and value))
        for name, value in found.items()
    ):
        raise ValueError(f"like should have the options of its reading, got {shown_value(found)}")
    return dict(found)


def stored_options[**P, R](read: Callable[P, R]) -> Callable[P, R]:
    """Return a reader that gets, in place of the log `like`, what is stored of options not given.

    Only a call tells a text or a flag that is given, such as ``ties="keep"``, from its default.
    """

    @wraps(read)
    def called(*args: P.args, **given: P.kwargs) -> R:
        if given.get("like") is not None:
            said = {name for name, value in given.items() if isinstance(value, str | bool)}
            stored = reading_of(given["like"])
            given["like"] = {name: value for name, value in stored.items() if name not in said}
        return read(*args, **given)

    return called


def with_stored(given: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with those of an earlier reading where they have their defaults."""
    stored = dict(stored)
    for name in ("margin", *SIDES):
        columns = stored.get(name)
        if isinstance(columns, list):
            stored[name] = tuple(columns)
    found = dict(given)
    for name, value in given.items():
        if value == DEFAULTS[name]:
            found[name] = stored.get(name, value)
    return found


def check_coding(duels: Duels, earlier: Mapping[str, Any], name: str) -> None:
    """Raise ValueError if the coding of an earlier log reads the outcomes of `duels` otherwise.

    duels: a log whose coding was chosen by its own outcomes.
    earlier: the options that the earlier log was read with.
    name: what `duels` is called.
    """
    summary = duels.read_summary
    coding = earlier.get("coding")
    own_coding = summary.reading.get("coding")
    if coding in summary.other_codings:
        raise ValueError(
            f"{name} should be read with the coding of the earlier log, {coding!r}, by "
            f"which its outcomes are others, got {own_coding!r}; "
            "read it with read_duels(..., like=) the earlier log or fit, or say its coding="
        )
