"""Tickets of a study: duels that were asked for, and their ids."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bayesduel.system.arguments import shown_value

__all__ = ["Ticket", "ticket_id", "ticket_number"]


@dataclass(frozen=True)
class Ticket:
    """A duel that was asked for.

    Attributes
    ----------
    id
        To be given with the outcome.
    left, right
        Labels, in the order in which they should be shown.
    judge
        Who is to judge, or None.
    item
        On which item (a prompt) the arms are to be compared, or None.
    state
        "open", "expired", "told", "skipped" or "cancelled".
    outcome
        As told: "left", "right", "tie", "cannot tell", a grade ("left much better"),
        "tie (bothbad)" or a margin; None before it is.
    taken_back
        How often an answer to it was taken back.
    source
        Who is to be asked, a source of a study that has several, or None.
    criteria
        The answers to the criteria that do not decide, by name; {} where there are none.
    reasons
        Those of the study's list that were chosen.
    comment
        What was written beside the answer, or None.
    note
        What the judge is to read above the pair (an attention check), or None.
    training
        Whether the judge practises on it.
    feedback
        Of an answer to practise on: whether it was ``right``, the right ``outcome``, and a ``text``
        that explains it. None otherwise.
    """

    id: str
    left: str
    right: str
    judge: str | None = None
    item: str | None = None
    state: str = "open"
    outcome: str | float | None = None
    taken_back: int = 0
    source: str | None = None
    criteria: Mapping[str, str] = field(default_factory=dict, hash=False)
    reasons: tuple[str, ...] = ()
    comment: str | None = None
    note: str | None = None
    training: bool = False
    feedback: Mapping[str, Any] | None = field(default=None, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the ticket as JSON holds it."""
        return asdict(self)


def ticket_id(key: str, number: int) -> str:
    """Return the id of a ticket, given the key of its study."""
    return f"{key}-{number}"


def ticket_number(key: str, ticket: Ticket | str) -> int:
    """Return the number of a ticket, given itself, its id, or the number alone.

    Raises KeyError if the ticket is of another study, or no ticket.
    """
    given = ticket.id if isinstance(ticket, Ticket) else ticket
    name = given if isinstance(given, str) else shown_value(given)
    study, _, number = name.rpartition("-")
    # 15 digits of the number of a ticket
    if study not in ("", key) or not number.isdecimal() or len(number) > 15:
        raise KeyError(f"ticket should be one of this study, got {shown_value(name)}")
    return int(number)
