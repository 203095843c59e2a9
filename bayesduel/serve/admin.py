"""What an administrator may do: invite, pause, end, retire arms, correct, export, report."""

import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from bayesduel.serve.access import LONGEST, ROLES, Invitation
from bayesduel.serve.content import Content, Contents
from bayesduel.serve.judging import content_file
from bayesduel.serve.operations import Operation, Refused, text
from bayesduel.serve.options import SEATS
from bayesduel.serve.pages import Pages
from bayesduel.serve.uploads import Uploads
from bayesduel.study.outcomes import export_csv, export_rows

__all__ = [
    "OPERATIONS",
    "admin_state",
    "draft_file",
    "draft_state",
    "exported",
    "reported",
    "uploads_of",
]


def admin_state(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Return invitations, arms, and the last outcomes."""
    table = pages.study.judges()
    ended = pages.study.ended
    judges = {row["judge"]: row for row in table}
    rows = [row | {"ticket": row["id"]} for row in pages.study.rows()]
    met = Counter(label for row in rows for label in (row["left"], row["right"]))
    retired = {pages.study.arms[i] for i in pages.study.retired}
    # 50 outcomes on the page; the export has all
    return {
        "paused": pages.paused,
        "stopped": pages.study.stopped,
        "ended": None if ended is None else ended.sentence,
        "duels": pages.study.n_duels,
        "items": bool(pages.study.items),
        "uploads": pages.uploads is not None,
        "empty": pages.contents.is_empty,
        "invitations": [
            i._asdict() | {"state": i.state, "answers": judges.get(i.judge, {})}
            for i in pages.access.all()
        ],
        "judges": table,
        "arms": [
            {"arm": a, "duels": met[a], "retired": a in retired} for a in pages.study.arms
        ],
        "outcomes": list(pages.study.asking.words),
        "recent": rows[: -50 - 1 : -1],
    }  # fmt: skip


def admin_invite(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Invite judges; the links are given once and stored nowhere."""
    names = [name for name in re.split(r"[,;\n]", body["judges"]) if name.strip()]
    if not 0 < len(names) <= SEATS:
        raise Refused(400, f"judges should have 1 to {SEATS} names, got {len(names)} names")
    role = body.get("role", "judge")
    days = body.get("days", 7)
    with pages.store.writing():  # all of them, or where a name is refused none
        made = [pages.invited(name, role, days) for name in names]
    links = [
        {"invitation": invitation.number, "judge": invitation.judge, "role": role, "link": link}
        for invitation, link in made
    ]
    return {"links": links}


def admin_revoke(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Revoke an invitation: its link and its cookie open nothing any more."""
    if body["invitation"] not in {i.number for i in pages.access.all()}:
        raise Refused(404, f"this study has no invitation {body['invitation']}")
    pages.access.mark(body["invitation"], "revoked")
    return {"done": True}


def admin_pause(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Pause the study, or go on: judges are asked no new pairs meanwhile."""
    pages.pause(body["paused"])
    return {"done": True}


def admin_end(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """End the study, or resume it: judges are asked nothing meanwhile, and read that it is over."""
    change = pages.study.end if body["ended"] else pages.study.resume
    change(body.get("reason", ""), by=visitor.judge)
    return {"done": True}


def admin_retire(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Retire an arm, which is then asked for no more, or restore it."""
    change = pages.study.retire_arms if body["retired"] else pages.study.restore_arms
    change([body["arm"]], by=visitor.judge)
    return {"done": True}


def admin_correct(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Correct an outcome; the old one and the reason stay in the audit trail."""
    pages.study.correct(body["ticket"], body["outcome"], body["reason"], by=visitor.judge)
    return {"done": True}


def admin_exclude(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Exclude a judge, whose answers stay stored and do not count, or include one again."""
    change = pages.study.exclude_judge if body["excluded"] else pages.study.include_judge
    change(body["judge"], body["because"], by=visitor.judge)
    return {"done": True}


def admin_publish(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> dict[str, Any]:
    """Make what was uploaded what judges see, or discard it."""
    uploads = uploads_of(pages)
    if body["publish"]:
        pages.publish()
    else:
        uploads.discard()
    return {"done": True}


def uploads_of(pages: Pages) -> Uploads:
    """Return the uploads; refuse where the server was started without a folder for them."""
    if pages.uploads is None:
        raise Refused(404, "uploads are off: start the server with --uploads and a folder")
    return pages.uploads


def draft_state(pages: Pages) -> dict[str, Any]:
    """Return what the page of the draft shows: contents, what is missing, or what is wrong."""
    uploads = uploads_of(pages)
    found: dict[str, Any] = {"files": len(uploads.files()), "missing": [], "unused": []}
    try:
        contents, missing, unused = uploads.look()
    except (OSError, ValueError) as error:
        return found | {"fault": str(error).replace(f"{uploads.draft}/", ""), "shown": []}
    shown = [
        {"arm": arm, "item": item, "html": content.at(f"/admin/content/{k}")}
        for k, ((arm, item), content) in enumerate(_in_order(contents))
    ]
    more = {"missing": missing, "unused": unused, "n_shown": len(shown)}
    # 60 contents on the page of a draft, which says how many there are
    return found | more | {"fault": "", "shown": shown[:60]}


def draft_file(pages: Pages, answer: str, number: str) -> Path:
    """Return a file of the draft as it was looked at last; refuse where there is none."""
    seen = uploads_of(pages).seen
    rows = [] if seen is None else _in_order(seen)
    k = int(answer) if answer.isdecimal() and len(answer) < 7 else len(rows)
    return content_file(rows[k][1] if k < len(rows) else None, number)


def _in_order(contents: Contents) -> list[tuple[tuple[str, str], Content]]:
    """Return the contents by arm and item; the prompt of an item (arm "") before its answers."""
    rows = {**{("", item): each for item, each in contents.prompts.items()}, **contents.answers}
    place = {item: k for k, item in enumerate(contents.items)}
    return sorted(rows.items(), key=lambda row: place.get(row[0][1], len(place)))


def exported(pages: Pages, what: str) -> str:
    """Return a table as the text of a CSV file: the "duels", "tickets" or "audit"."""
    study = pages.study
    rows = study.audit() if what == "audit" else export_rows(study.rows(everything=what != "duels"))
    if not rows:
        raise Refused(409, "there is nothing to export, because the study has no outcome yet")
    return export_csv(rows)


def reported(pages: Pages) -> bytes:
    """Return the report on the duels, an HTML page."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report has them
        path = Path(folder) / "report.html"
        try:
            pages.study.report(path, noun=pages.options.noun)
        except ValueError as error:
            raise Refused(409, str(error)) from error
        return path.read_bytes()


ADMIN = ("admin",)
DONE = {"done": {"type": "boolean"}}
OPERATIONS = (
    Operation(
        "GET", "/api/admin", ADMIN, admin_state, "Invitations, arms, and the last outcomes.",
        result={
            "paused": {"type": "boolean"}, "stopped": {"type": "boolean"},
            "ended": {"type": ["string", "null"], "description": "Who ended it, when and why."},
            "duels": {"type": "integer"}, "items": {"type": "boolean"},
            "uploads": {"type": "boolean"}, "empty": {"type": "boolean"},
            "invitations": {"type": "array"}, "judges": {"type": "array"},
            "arms": {"type": "array"},
            "recent": {"type": "array"}, "outcomes": {"type": "array"},
        },
    ),
    Operation(
        "POST", "/api/admin/invite", ADMIN, admin_invite,
        "Invite judges (names on lines or between commas); the links are given once.",
        body={
            "judges": text(20_000),
            "role": {"type": "string", "enum": list(ROLES)},
            "days": {"type": "number", "minimum": 0.01, "maximum": LONGEST},
        },
        optional=("role", "days"), result={"links": {"type": "array"}},
    ),
    Operation(
        "POST", "/api/admin/revoke", ADMIN, admin_revoke, "Revoke an invitation, by its number.",
        body={"invitation": {"type": "integer", "minimum": 1}}, result=DONE,
    ),
    Operation(
        "POST", "/api/admin/pause", ADMIN, admin_pause, "Pause the study, or go on.",
        body={"paused": {"type": "boolean"}}, result=DONE,
    ),
    Operation(
        "POST", "/api/admin/end", ADMIN, admin_end,
        "End the study, or resume it. Open tickets can still be answered.",
        body={"ended": {"type": "boolean"}, "reason": text(500)},
        optional=("reason",), result=DONE,
    ),
    Operation(
        "POST", "/api/admin/content", ADMIN, admin_publish,
        "Make the uploaded contents what judges see, or discard them. They are sent in parts of "
        "at most 524,288 bytes to /api/admin/upload?name=&size=&offset=.",
        body={"publish": {"type": "boolean"}}, result=DONE,
    ),
    Operation(
        "POST", "/api/admin/retire", ADMIN, admin_retire, "Retire an arm, or restore it.",
        body={"arm": text(10_000), "retired": {"type": "boolean"}}, result=DONE,
    ),
    Operation(
        "POST", "/api/admin/exclude", ADMIN, admin_exclude,
        "Exclude a judge, whose answers then do not count, or include one again, with a reason.",
        body={
            "judge": text(1000), "excluded": {"type": "boolean"}, "because": text(500),
        },
        result=DONE,
    ),
    Operation(
        "POST", "/api/admin/correct", ADMIN, admin_correct, "Correct an outcome, with a reason.",
        body={
            "ticket": text(40), "reason": text(500),
            "outcome": text(60),
        },
        result=DONE,
    ),
)  # fmt: skip
