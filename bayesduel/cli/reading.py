"""What the texts of the reading options stand for: lists, meanings, ends of a scale, roles."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import click

from bayesduel.data.read.reading_options import ABSENT, OF_RANKINGS, RANKING_ROLES, READING

__all__ = ["names_of", "only_of_duels", "read_as_asked", "value_of"]

# A value, in quotes or not, and its meaning.
MEANING = re.compile(r'\s*(?:"([^"]*)"|([^,]*?))\s*=\s*([^,=]*?)\s*(?:,|$)')


def only_of_duels(name: str) -> str:
    """Return what is wrong where an option that rankings lack is given of a log of them."""
    own = [f"--{n.replace('_', '-')}" for n in READING if n in OF_RANKINGS]
    remedy = ""
    if name == "lower_is_better":
        remedy = (
            "; rank 1 is best as it is. Where a larger number is better, write n + 1 - number into "
            "the file, n the largest of its ranking; or read a duel of each pair by --shape scores "
            "(of a row for each arm with --group RANKING --left ARM --outcome RANK, too)"
        )
    return (
        f"--{name.replace('_', '-')} cannot be used with this log: it is of rankings, which know "
        f"{', '.join(own)} and --rankings{remedy}"
    )


def value_of(name: str, value: Any) -> Any:
    """Return what :func:`bayesduel.read_duels` takes for what the command line was given."""
    if name in ABSENT and value == "none":
        return False
    if name in ("left", "right") and "," in value:
        return names_of(value)
    if name == "margin" and "," in value:
        return tuple(value.split(","))
    read = READERS.get(name)
    return value if read is None else read(value)


def _means(text: str) -> dict[str, str | None]:
    """Return what ``--means`` says: a meaning for each value.

    A value with a comma stands in quotes. Raises click.UsageError where a part has no meaning.
    """
    found: dict[str, str | None] = {}
    end = 0
    while end < len(text):
        part = MEANING.match(text, end)
        if part is None:
            raise click.UsageError(
                "--means should be VALUE=MEANING,..., such as 0=left,1=tie,2=right,error=none, "
                f"got {text[end:]!r}"
            )
        quoted, plain, meaning = part.groups()
        found[plain.strip() if quoted is None else quoted] = None if meaning == "none" else meaning
        end = part.end()
    return found


def _of_roles(text: str) -> dict[str, Any]:
    """Return what ``--rankings`` says: a column by role, a list where a role is said again."""
    found: dict[str, list[str]] = {}
    for part in text.split(","):
        role, said, column = (word.strip() for word in part.partition("="))
        if not said or not column or role not in RANKING_ROLES:
            raise click.UsageError(
                f"--rankings should be ROLE=COLUMN,... of {', '.join(RANKING_ROLES)}, got {part!r}"
            )
        found.setdefault(role, []).append(column)
    return {role: names if len(names) > 1 else names[0] for role, names in found.items()}


def _ends(text: str) -> tuple[int, int]:
    """Return what ``--grades`` says: the numbers that are best for left and for right."""
    found = re.fullmatch(r"\s*([+-]?[0-9]+)\s*,\s*([+-]?[0-9]+)\s*", text)
    if not found:
        raise click.UsageError(f"--grades should be two whole numbers such as 1,5, got {text!r}")
    return int(found[1]), int(found[2])


def names_of(text: str | None) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


# Options of reading whose text stands for something else.
READERS: dict[str, Callable[[str], Any]] = {
    "covariates": names_of,
    "keep": names_of,
    "missing": names_of,
    "means": _means,
    "grades": _ends,
    "rankings": _of_roles,
}


def read_as_asked(log: str | list[str], given: Mapping[str, Any], like: Any, shipped: bool) -> Any:
    """Return what LOG holds: duels, rankings, or a log by each label.

    given: arguments of reading. shipped: whether LOG is the name of a shipped dataset.
    """
    from bayesduel.data import datasets
    from bayesduel.data.read.duels import read_duels
    from bayesduel.data.read.rankings import rankings_in, read_rankings

    given = dict(given)
    roles = given.pop("rankings", None)
    of_duels = given.keys() - {*OF_RANKINGS, "like"}
    if roles is not None:
        if of_duels:
            raise click.UsageError(only_of_duels(min(of_duels)))
        return read_rankings(log, **given, **roles)
    if like is not None and like.duel.model.log_type == "rankings":
        return read_rankings(log, **given)
    if not shipped and not of_duels:
        found = rankings_in(log, **{n: v for n, v in given.items() if n != "like"})
        if found is not None:
            return found
    return datasets.load(str(log), **given) if shipped else read_duels(log, **given)
