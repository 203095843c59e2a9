"""Small real logs from the literature, shipped with the package.

Each is a CSV file in the format of :func:`bayesduel.read_duels`, typed in from the paper that
its entry in ``catalogue.json`` cites.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from bayesduel.system.arguments import did_you_mean, shown_value

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.items import Items

__all__ = ["Dataset", "describe", "items", "load", "names", "text"]

NO_MEANING = "no meaning"  # how `sides` begins where left and right say nothing


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Description of a shipped log.

    Attributes
    ----------
    name
        Name for :func:`load`.
    title
        What was compared, in one line.
    citation
        The publication.
    sides
        Meaning of left and right.
    winner
        Meaning of a win.
    shows
        What the log illustrates, in a few words.
    note
        A caveat for analysts.
    n_duels, n_arms, n_ties
        Counts, weights included, ties kept.
    by
        Column whose values are separate logs, or None.

    Examples
    --------
    >>> entry = bd.datasets.describe("tennis1990")
    >>> entry.n_duels, entry.n_arms
    (46, 5)
    """

    name: str
    title: str
    citation: str
    sides: str
    winner: str
    shows: str
    note: str
    n_duels: int
    n_arms: int
    n_ties: int
    by: str | None = None


def names() -> tuple[str, ...]:
    """Return the names of the shipped logs, sorted.

    Examples
    --------
    >>> bd.datasets.names()[:3]
    ('baseball1987', 'celebrities', 'chameleons')
    """
    return tuple(sorted(_catalogue()))


def describe(name: str) -> Dataset:
    """Return the description of a shipped log.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    ValueError
        If no log of that name is shipped.

    Examples
    --------
    >>> bd.datasets.describe("tennis1990").title
    "Women's tennis, 1989-90: Graf, Navratilova, Sabatini, Sanchez, Seles"
    """
    words = name if isinstance(name, str) else shown_value(name)
    if words not in _catalogue():
        raise ValueError(
            f"name should be a shipped dataset ({', '.join(names())}), "
            f"got {shown_value(name)}{did_you_mean(words, names())}"
        )
    return Dataset(name=name, **_catalogue()[name])


def load(name: str, *, by: str | None = None, **reading: Any) -> "Duels | dict[str, Duels]":
    """Read a shipped log.

    Parameters
    ----------
    name
        One of :func:`names`.
    by
        Column whose values are separate logs.
    reading
        Options of :func:`bayesduel.read_duels`.

    Returns
    -------
    The log; under `by`, a dict from each label of that column to its log.

    Raises
    ------
    ValueError
        If no log of that name is shipped, or an option is wrong.

    Examples
    --------
    >>> bd.datasets.load("springall")
    <Duels: 885 duels, 9 arms, 198 ties; from springall (shipped with bayesduel)>
    """
    from bayesduel.data.read.duels import read_duels

    ordered = not describe(name).sides.startswith(NO_MEANING)
    if by is not None:
        reading["by"] = by
    with as_file(files(__package__) / f"{name}.csv") as path:
        log = read_duels(path, **reading)

    def shipped(log: "Duels", part: str = "") -> "Duels":
        source = f"{name} (shipped with bayesduel){part}"
        return replace(log, read_summary=replace(log.read_summary, source=source), ordered=ordered)

    if isinstance(log, dict):
        return {label: shipped(part, f", {by} {label}") for label, part in log.items()}
    return shipped(log)


def items(name: str, **reading: Any) -> "Items":
    """Read the attributes of a shipped log's arms.

    Parameters
    ----------
    name
        One of :func:`names`.
    reading
        Options of :func:`bayesduel.read_items`.

    Returns
    -------
    The items.

    Raises
    ------
    ValueError
        If the log is not shipped or has no attributes, or an option is wrong.

    Examples
    --------
    >>> bd.datasets.items("chameleons")
    <Items: 35 items, 7 attributes (ch.res, jl.res, tl.res, mass.res, SVL, prop.main, ...)>
    """
    from bayesduel.data.read.items import read_items

    describe(name)
    resource = files(__package__) / f"{name}_items.csv"
    if not resource.is_file():
        having = [n for n in names() if (files(__package__) / f"{n}_items.csv").is_file()]
        raise ValueError(
            f"name should be a dataset with attributes ({', '.join(having)}), "
            f"got {shown_value(name)}"
        )
    with as_file(resource) as path:
        found = read_items(path, **reading)
    return replace(found, source=f"{name}_items.csv (shipped with bayesduel)")


def text(name: str) -> str:
    """Return the CSV file of a shipped log as text.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    ValueError
        If no log of that name is shipped.

    Examples
    --------
    >>> bd.datasets.text("tennis1990").splitlines()[0]
    'left,right,outcome'
    """
    describe(name)
    return (files(__package__) / f"{name}.csv").read_text(encoding="utf-8")


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    return json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
