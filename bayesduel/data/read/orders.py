"""What the rows of a log of rankings say: the groups of arms, best first.

``>`` is between places; ``=``, a comma, ``;`` and ``|`` join arms that share a place. Those are in
no order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayesduel.data.rankings import order_fault
from bayesduel.data.read.columns import plain
from bayesduel.data.read.faults import label_of, shown
from bayesduel.data.read.words import TIES, UNPLACED
from bayesduel.text import join

__all__ = ["ByRanking", "Row", "by_ranking", "check_by", "order_of", "orders_nothing"]

Row = Mapping[str, str | None]  # texts by role
Order = list[list[str]]

TIE_WORDS = {word for word in TIES if len(word) > 1}  # "d", "t" and "x" may be arms


@dataclass
class ByRanking:
    """The rankings of a log with a row for each arm."""

    orders: list[Order]
    first: list[int]  # the first row of each ranking
    faults: dict[int, str]  # what is wrong with a row, by row
    unplaced: list[str] = field(default_factory=list)  # what stands in place of each missing rank


def order_of(row: Row) -> Order:
    """Return the groups of arms that one row orders.

    One group of several arms orders nothing. Raises ValueError if the row is of no ranking.
    """
    if "order" in row:
        order = [_listed(part, "=,;|") for part in (row["order"] or "").split(">")]
    elif "best" in row:
        order = _of_choice(row)
    else:
        placed = [_label(text) for role, text in row.items() if role.startswith("place_")]
        order = [[label] for label in placed if label is not None]
    order = [group for group in order if group]
    fault = "" if orders_nothing(order) else order_fault(order)
    if fault:
        raise ValueError(fault)
    return order


def orders_nothing(order: Order) -> bool:
    """Return whether all of several arms share one place."""
    return len(order) == 1 and len(set(order[0])) > 1


def check_by(row: Row) -> None:
    """Raise ValueError if a row does not say of which log it is, where there are several."""
    if "by" in row and _label(row["by"]) is None:
        raise ValueError(f"the row should name a log (by), got {shown(row['by'])}")


def by_ranking(rows: Mapping[int, Row], together: Sequence[str]) -> ByRanking:
    """Return the rankings of rows that each have a ``ranking``, an ``arm`` and its ``rank``.

    A ranking with a bad row is left out. `together` are the roles that a ranking has one value of.
    """
    faults: dict[int, str] = {}
    unplaced: list[str] = []
    rankings: dict[str, list[int]] = {}
    rank: dict[int, float] = {}
    for k, row in rows.items():
        of = _label(row["ranking"])
        if of is None or _label(row["arm"]) is None:
            ranking = shown(row["ranking"])
            arm = shown(row["arm"])
            faults[k] = f"the row should name a ranking and an arm, got {ranking} and {arm}"
            continue
        rankings.setdefault(of, []).append(k)
        place_said = row["rank"]
        try:
            check_by(row)
            rank[k] = _rank(place_said)
        except ValueError as error:
            faults[k] = str(error)
            continue
        if rank[k] == float("inf"):
            unplaced.append((place_said or "").strip())
    found = ByRanking([], [], faults, unplaced)
    for of, own in rankings.items():
        if faults.keys() & set(own):
            continue
        groups: dict[float, list[str]] = {}
        for k in own:
            arm = _label(rows[k]["arm"]) or ""
            groups.setdefault(rank[k], []).append(arm)
        order = [groups[place] for place in sorted(groups)]
        fault = "" if orders_nothing(order) else order_fault(order)
        for role in together:
            values = {_label(rows[k][role]) for k in own}
            if len(values) > 1:
                several = join(values)
                fault = f"the rows of one ranking should have one {role}, got {several}"
        first_row = own[0]
        if fault:
            faults[first_row] = f"ranking {of!r}: {fault}"
            continue
        found.orders.append(order)
        found.first.append(first_row)
    return found


def _of_choice(row: Row) -> Order:
    """Return the order of a row that names the best (and the worst) of those that were shown."""
    alternatives = _listed(row["shown"], ",;|>")
    best = _label(row["best"])
    worst = _label(row.get("worst"))
    said = plain(row["best"] or "")
    if said in TIE_WORDS and best not in alternatives:
        return [alternatives]
    named = {"best": best}
    if worst is not None:
        named["worst"] = worst
    for role, label in named.items():
        if label not in alternatives:
            known = join(alternatives)
            got = shown(row[role])
            raise ValueError(f"{role} should be one of those shown ({known}), got {got}")
    rest = [label for label in alternatives if label not in named.values()]
    first, *last = [[label] for label in named.values() if label is not None]
    return [first, rest, *last]


def _rank(text: str | None) -> float:
    """Return the rank that a text says, infinite where the arm has none."""
    if _label(text) is None or plain(text or "") in ("", *UNPLACED):
        return float("inf")
    try:
        return float(text or "")
    except ValueError:
        words = "DNF, DNS, DSQ, NC or - where the arm has none"
        raise ValueError(f"rank should be a number ({words}), got {shown(text)}") from None


def _listed(text: str | None, marks: str) -> list[str]:
    """Return the labels between any of the marks."""
    parts = re.split(f"[{re.escape(marks)}]", text or "")
    labels = map(_label, parts)
    return [label for label in labels if label]


def _label(text: str | None) -> str | None:
    return None if text is None else label_of(text)
