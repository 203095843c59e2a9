"""What a judge may do: see the next pair, answer, skip, take the last answer back.

An operation stores what the judge did; the answer to it is always the state of the judge's page, so
that a page that lost its connection needs no other request. An answer names its ticket and how
often that was taken back before (its key): sent twice, or late, it changes nothing.
"""

import logging
from pathlib import Path
from typing import Any

from bayesduel.serve.access import Invitation
from bayesduel.serve.choices import EVERY_ANSWER, asked_of_judges, told
from bayesduel.serve.content import Content
from bayesduel.serve.operations import Operation, Refused, text
from bayesduel.serve.pages import Pages
from bayesduel.serve.recruiters import way_back
from bayesduel.study.asking import COMMENT, MOST_CRITERIA, MOST_REASONS
from bayesduel.study.judging import Judging, judge_table
from bayesduel.study.questions import NoQuestion, StudyStopped
from bayesduel.study.store import OF_JUDGE, StudyError
from bayesduel.study.tickets import Ticket, ticket_number

__all__ = [
    "OPERATIONS",
    "content_file",
    "instructions",
    "judge_state",
    "media_file",
    "page_file",
    "page_key",
]

log = logging.getLogger("bayesduel.serve")

WARNING = "Some of your answers were not as expected. Please look at both with more care."
ENDED = "The study is finished. Thank you!"
PAUSED = "The study is paused. Please come back later."
NO_CODE = (
    "The completion code is for judges who decided at least half of their pairs, with care. If you "
    "did, ask the person who invited you."
)


def judge_look(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> None:
    """Do nothing: the state is asked for."""


def judge_begin(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> None:
    """Store that the judge has read the instructions, and agreed where that is asked for."""
    if pages.options.consent is not None and not body.get("agree"):
        raise Refused(400, "agree should be true: this study asks for your consent")
    pages.access.mark(visitor.number, "consented")


def judge_answer(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> None:
    """Store an answer, the whole of it or nothing."""
    name, _, times = body["key"].rpartition(".")
    ticket = _own(pages, visitor, name)
    before = ticket.taken_back
    if not times.isdecimal() or len(times) > 6 or int(times) > before:
        raise Refused(400, "key should be the key of a ticket")
    if int(times) < before:
        return
    given = None if body["answer"] == "s" else _given(pages, body)
    try:
        if given is None:
            pages.study.skip(ticket, judge=visitor.judge)
        else:
            seen = body.get("seen")
            pages.study.tell(ticket, **given, judge=visitor.judge, seen=seen)
    except StudyError:  # of the database: nothing is stored, and it may be sent again
        raise
    except ValueError as error:
        raise Refused(409, "this pair already has another answer, or it was withdrawn") from error


def _given(pages: Pages, body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as the study is told it; refuse one that it does not ask for."""
    asking = pages.study.asking
    words = told(asking)
    unknown = [
        each for each in (body["answer"], *body.get("criteria", {}).values()) if each not in words
    ]
    if unknown:
        raise Refused(400, f"answer should be one of {', '.join(words)} or s, got {unknown[0]!r}")
    given = {
        "outcome": words[body["answer"]],
        "criteria": {name: words[each] for name, each in body.get("criteria", {}).items()},
        "reasons": body.get("reasons", []),
        "comment": body.get("comment") or None,
    }
    try:
        asking.answer(kind="win", **given)
    except ValueError as error:
        raise Refused(400, str(error)) from error
    return given


def judge_undo(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> None:
    """Take the judge's last answer back; its pair is shown again."""
    ticket = _own(pages, visitor, body["ticket"])
    if pages.study.ended is not None or pages.study.barred(visitor.judge):
        raise Refused(409, "your answers are complete and cannot be changed any more")
    _, last, _ = pages.store.done_by(visitor.judge)
    if last == ticket_number(pages.key, ticket) and ticket.state in ("told", "skipped"):
        try:
            pages.study.undo(visitor.judge)
        except StudyError:
            raise
        except ValueError as error:
            raise Refused(409, "the administrator has corrected this answer") from error
    elif ticket.state in ("told", "skipped"):
        raise Refused(409, "only the last answer can be taken back")


def judge_state(pages: Pages, visitor: Invitation) -> dict[str, Any]:
    """Return the state of the judge's page, with the open pair if there is one."""
    judge = visitor.judge
    told, last, touched = pages.store.done_by(judge)
    judging = pages.study.judging
    quota = None if judging is None else judging.quota
    state: dict[str, Any] = {
        "phase": "judging",
        "page": page_key(pages, visitor),
        "message": "",
        "told": told,
        "quota": quota,
        "left": None if quota is None else max(quota - told, 0),
        "ticket": None,
        "feedback": None,
        "warning": None,
        "last": f"{pages.key}-{last}" if last is not None and touched == judge else None,
        "completion": None,
        "asking": asked_of_judges(pages.study.asking, pages.options.say),
    }
    if pages.study.ended is not None:  # answers are kept as they are
        return state | {"last": None} | _done(pages, judge, ENDED, stopped=True)
    if visitor.consented is None and not pages.access.consented(judge):
        return state | {"phase": "instructions"}
    if pages.paused or pages.contents.is_empty:
        return state | {"phase": "paused", "message": pages.options.say(PAUSED)}
    if judging is not None and judging.training:
        state["feedback"] = _feedback(pages, state["last"])
    if judging is not None and judging.on_fail == "warn" and _table(pages, judge).get("fails"):
        state["warning"] = pages.options.say(WARNING)
    try:
        ticket = pages.study.ask(judge=judge)
    except NoQuestion:
        said = "There is no further pair for you now. Thank you!"
        if pages.study.barred(judge):
            state["last"] = None
        elif quota is not None and told >= quota:
            said = "You have answered all your pairs. Thank you!"
        return state | _done(pages, judge, said)
    except StudyStopped:
        said = "The study has all the answers that it needs. Thank you!"
        return state | _done(pages, judge, said, stopped=True)
    return state | {"ticket": _rendered(pages, ticket)}


def media_file(pages: Pages, visitor: Invitation, ticket: str, side: str, number: str) -> Path:
    """Return a file of a side of a judge's own ticket ("prompt", "left" or "right").

    Raises Refused if there is none, or the ticket is another judge's.
    """
    own = _own(pages, visitor, ticket)
    prompt, left, right = _shown(pages, own)
    return content_file({"prompt": prompt, "left": left, "right": right}.get(side), number)


def page_file(pages: Pages, part: str, number: str) -> Path:
    """Return a file of what judges read before the pairs ("instructions" or "consent").

    Raises Refused if there is none.
    """
    return content_file(pages.before.get(part), number)


def content_file(content: Content | None, number: str) -> Path:
    """Return a file of a content, by its number; raise Refused if there is none."""
    path = None
    if content is not None and number.isdecimal() and len(number) < 4:
        path = content.file(int(number))
    if path is None:
        raise Refused(404, "there is no such file")
    return path


def _own(pages: Pages, visitor: Invitation, name: str) -> Ticket:
    """Return a ticket of a judge; refuse that of another as if it were none."""
    try:
        ticket = pages.study.ticket(name)
    except KeyError:
        ticket = None
    if ticket is None or ticket.id != name or ticket.judge != visitor.judge:
        raise Refused(404, "this ticket belongs to another judge, or does not exist")
    return ticket


def page_key(pages: Pages, visitor: Invitation) -> str:
    """Return by what a page knows that answers it kept are of this invitation."""
    return f"{pages.key}.{visitor.number}"


def _done(pages: Pages, judge: str, message: str, *, stopped: bool = False) -> dict[str, Any]:
    """Return how a judge's page ends: the completion code is for those who judged.

    stopped: whether the study has enough: who comes then and has no answer finds no place.
    """
    options = pages.options
    code = None
    message = options.say(message)
    fields = pages.access.arrival(judge)
    if _has_judged(pages, judge):
        code = options.completion_code
        outcome = "completed"
        given = options.return_url or code
    else:
        is_late = stopped and options.full is not None and not _table(pages, judge)
        outcome = "full" if is_late else "screened out"
        given = options.full if is_late else options.screened_out
    back = way_back(options.recruiter, outcome, given, fields)
    if pages.webhook is not None:
        pages.webhook.keep("finished", f"finished-{outcome}-{judge}", judge=judge, outcome=outcome)
    if back is None and outcome != "completed":
        is_paid = options.completion_code is not None or options.return_url is not None
        text = given or (options.say(NO_CODE) if is_paid else "")
        message = f"{message} {text}".rstrip()
    completion = None
    if code is not None or back is not None:
        completion = {"code": code, "url": None, **(back or {})}
    return {"phase": "done", "message": message, "completion": completion}


def _has_judged(pages: Pages, judge: str) -> bool:
    """Return whether a judge decided half of the pairs shown, and did not fail the gold ones.

    To decide is to answer first, second or equal. A half is a convention, which the guide and
    `--help` name.
    """
    own = _table(pages, judge)
    if not own:
        return False
    decided = own["told"] - own["cannot_tell"]
    shown = own["told"] + own["skipped"]
    is_out = judge in pages.study.excluded
    return decided > 0 and decided >= 0.5 * shown and not own["fails"] and not is_out


def _table(pages: Pages, judge: str) -> dict[str, Any]:
    """Return the row of a judge, {} of one who was not asked; see ``Study.judges``."""
    judging = pages.study.judging
    gold_pass = Judging.gold_pass if judging is None else judging.gold_pass
    rows = pages.store.rows(OF_JUDGE, judge=judge)
    return next(iter(judge_table(rows, (), gold_pass, {})), {})


def _feedback(pages: Pages, last: str | None) -> dict[str, Any] | None:
    """Return what a page says of the last answer, where the judge practised on it."""
    ticket = None if last is None else pages.study.ticket(last)
    if ticket is None or ticket.feedback is None:
        return None
    right = {"left": "First", "right": "Second", "tie": "Equal"}[ticket.feedback["outcome"]]
    return {
        "key": f"{ticket.id}.{ticket.taken_back}",
        "right": ticket.feedback["right"],
        "expected": pages.options.say(right),
        "text": ticket.feedback["text"],
    }


def _rendered(pages: Pages, ticket: Ticket) -> dict[str, Any]:
    prompt, left, right = _shown(pages, ticket)
    at = f"/judge/media/{ticket.id}"
    return {
        "id": ticket.id,
        "key": f"{ticket.id}.{ticket.taken_back}",
        "question": pages.options.question,
        "note": ticket.note,
        "training": ticket.training,
        "prompt": None if prompt is None else prompt.at(f"{at}/prompt"),
        "left": left.at(f"{at}/left"),
        "right": right.at(f"{at}/right"),
    }


def _shown(pages: Pages, ticket: Ticket) -> tuple[Any, Any, Any]:
    """Return what stands above a pair (or None), and its two sides.

    The file of contents is read again where it lacks an arm, which came since.
    """
    asked = ticket.left, ticket.right, ticket.item
    shown = pages.contents.shown(*asked)
    if None in shown[1:]:
        shown = pages.renewed().shown(*asked)
    if None in shown[1:]:
        log.error("%s: an arm has no content; add it to %s", ticket, pages.contents.path)
        raise Refused(503, "the study has a problem now: please try again later")
    return shown


def instructions(pages: Pages) -> dict[str, Any]:
    """Return what a judge reads first, as clean HTML."""
    return {part: content.at(f"/judge/before/{part}") for part, content in pages.before.items()}


RESULT: dict[str, dict[str, Any]] = {
    "phase": {"type": "string", "enum": ["instructions", "judging", "paused", "done"]},
    "page": {"type": "string", "description": "Of which invitation this is."},
    "message": {"type": "string"},
    "told": {"type": "integer"},
    "quota": {"type": ["integer", "null"]},
    "left": {"type": ["integer", "null"], "description": "Pairs until the quota."},
    "ticket": {
        "type": ["object", "null"],
        "description": "id; key, to be sent with the answer; question, note (to be read first) and "
        "training (whether the judge practises); prompt, left and right (clean HTML).",
    },
    "feedback": {
        "type": ["object", "null"],
        "description": "Of the last answer, where the judge practised: key (of its ticket), right, "
        "expected and text.",
    },
    "warning": {"type": ["string", "null"], "description": "That more care is asked for."},
    "last": {"type": ["string", "null"], "description": "The ticket that can be taken back."},
    "asking": {
        "type": "object",
        "description": "choices (answer, label and key of each), criteria, decides (the criterion "
        "whose answer is the outcome), reasons and comment (its longest length, or null).",
    },
    "completion": {
        "type": ["object", "null"],
        "description": "code and url, once it is done; the url alone where screened out; form "
        "(action and fields) where a recruiter takes one.",
    },
}
# Names of criteria and words of answers are short; the study says which ones there are.
SHORT = text(1000)
ANSWER = {
    "key": text(60),
    "answer": {"type": "string", "enum": [*EVERY_ANSWER, "s"]},
    "criteria": {"type": "object", "maxProperties": MOST_CRITERIA, "additionalProperties": SHORT},
    "reasons": {"type": "array", "maxItems": MOST_REASONS, "items": SHORT},
    "comment": text(COMMENT),
    # Seconds: 1e7 are 116 days, longer than any page is open.
    "seen": {"type": "number", "minimum": 0, "maximum": 1e7},
}
OPERATIONS = (
    Operation(
        "GET", "/api/judge", ("judge",), judge_look,
        "The state of the judge's page, with the pair to be judged.", result=RESULT,
    ),
    Operation(
        "POST", "/api/judge/begin", ("judge",), judge_begin,
        "Say that the instructions were read and, where it is asked for, agree to the consent.",
        body={"agree": {"type": "boolean"}}, optional=("agree",), result=RESULT,
    ),
    Operation(
        "POST", "/api/judge/answer", ("judge",), judge_answer,
        "Answer a pair: s (skip), or one of the choices of asking: 1 (the left is better), 2, =, "
        "cannot tell. In a study with criteria the answer is of the one that decides, and criteria "
        "has those to the others, by name. seen: seconds that the pair was on the screen. Sent "
        "again, it changes nothing.",
        body=ANSWER, optional=("criteria", "reasons", "comment", "seen"), result=RESULT,
    ),
    Operation(
        "POST", "/api/judge/undo", ("judge",), judge_undo,
        "Take the last answer back: the ticket that the state names as last.",
        body={"ticket": text(40)}, result=RESULT,
    ),
)  # fmt: skip
