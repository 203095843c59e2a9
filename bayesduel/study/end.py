"""The end of a study by a person: who ended it, when and why."""

from dataclasses import dataclass
from typing import Any

from bayesduel.study.outcomes import moment

__all__ = ["End", "end_of"]


@dataclass(frozen=True)
class End:
    """Who ended a study, when and why."""

    by: str | None  # None where nobody was named
    at: str  # time in UTC
    reason: str  # "" where none was given

    @property
    def sentence(self) -> str:
        """The end in words."""
        by = "" if self.by is None else f" by {self.by}"
        at = self.at[:16].replace("T", " ")
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"The study was ended{by} on {at} UTC{reason}."


def end_of(event: Any) -> End | None:
    """Return the end that an event of this kind makes; None where the study was resumed."""
    if event.kind == "resumed":
        return None
    return End(event.who, moment(event.at), event.reason or "")
