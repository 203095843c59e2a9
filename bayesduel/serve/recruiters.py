"""Recruiters: what their links say of a participant, and how a participant is given back to them.

References
----------
Prolific, "The study object" (docs.prolific.com): placeholders of the study's address, several
completion codes. Amazon Mechanical Turk, "ExternalQuestion" (docs.aws.amazon.com): parameters that
are appended to the address, the preview, and the form that ends an assignment. SONA, "External
study credit granting" (sona-systems.com): the survey code, and the client-side completion address.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

__all__ = [
    "FRAMES",
    "OUTCOMES",
    "RECRUITERS",
    "TURK",
    "arrival",
    "is_preview",
    "participant",
    "way_back",
]

OUTCOMES = ("completed", "screened out", "full")
# What the address of a link may say: who comes first, by the name of each recruiter.
WHO = ("PROLIFIC_PID", "workerId", "survey_code", "participant")
KEPT = (*WHO, "STUDY_ID", "SESSION_ID", "assignmentId", "hitId", "turkSubmitTo")
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
TURK = ("https://www.mturk.com", "https://workersandbox.mturk.com")  # where forms may be sent
# Whose pages show the pages of a study in a frame.
FRAMES = {"mturk": ("https://worker.mturk.com", "https://workersandbox.mturk.com")}
CODE = re.compile(r"[A-Za-z0-9_-]{1,100}")


def arrival(query: str) -> dict[str, str]:
    """Return what the address of a link says of a participant; other parts are left out."""
    given = dict(parse_qsl(query, errors="replace", max_num_fields=50))
    # 200 characters of a value; those of the recruiters have at most 40
    return {name: given[name] for name in KEPT if 0 < len(given.get(name, "")) <= 200}


def participant(fields: Mapping[str, str]) -> str:
    """Return the name of a participant, "" where the address says none."""
    return next((fields[name] for name in WHO if name in fields), "")


def is_preview(fields: Mapping[str, str]) -> bool:
    """Return whether somebody looks at a task of MTurk without having accepted it."""
    return fields.get("assignmentId") == PREVIEW


def way_back(
    recruiter: str | None, outcome: str, given: str | None, fields: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return how a participant is given back: ``url`` or ``form`` (action and fields), or None.

    recruiter: one of `RECRUITERS`, or None.
    outcome: one of `OUTCOMES`.
    given: the code, or the address, of that outcome, or None.
    fields: what the participant's link said.
    """
    if given is not None and given.startswith(("http://", "https://")):
        code = quote(fields.get("survey_code", ""), safe="")
        return {"url": given.replace("XXXX", code) if recruiter == "sona" else given}
    return None if recruiter is None else RECRUITERS[recruiter](outcome, given, fields)


def _prolific(outcome: str, given: str | None, fields: Mapping[str, str]) -> dict[str, Any] | None:
    if given is None or not CODE.fullmatch(given):
        return None
    return {"url": f"https://app.prolific.com/submissions/complete?cc={given}"}


def _mturk(outcome: str, given: str | None, fields: Mapping[str, str]) -> dict[str, Any] | None:
    place = fields.get("turkSubmitTo", TURK[0]).rstrip("/")
    assignment = fields.get("assignmentId")
    if place not in TURK or assignment is None or (outcome != "completed" and given is None):
        return None
    more = {} if given is None else {"code": given}
    sent = {"assignmentId": assignment, "outcome": outcome, **more}
    return {"form": {"action": f"{place}/mturk/externalSubmit", "fields": sent}}


def _sona(outcome: str, given: str | None, fields: Mapping[str, str]) -> dict[str, Any] | None:
    return None


RECRUITERS: dict[str, Callable[[str, str | None, Mapping[str, str]], dict[str, Any] | None]] = {
    "prolific": _prolific,
    "mturk": _mturk,
    "sona": _sona,
}
