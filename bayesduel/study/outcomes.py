"""Outcomes of a study: as told, as stored, as rows of a log, and in its audit trail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.study.asking import (
    BOTH_BAD,
    CANNOT_TELL,
    NAMES,
    SIDES,
    Answer,
    Asking,
    Said,
    said_in,
)
from bayesduel.study.schema import REPEAT, TRAINING, Event, Row
from bayesduel.study.source_posterior import SourcePosterior
from bayesduel.study.tickets import ticket_id
from bayesduel.text import csv_text

__all__ = [
    "as_told",
    "audit_trail",
    "counts",
    "export_csv",
    "export_rows",
    "log_rows",
    "moment",
    "told_duels",
]

COLUMNS = ("ticket", "left", "right", "outcome", "margin", "answer", "reasons", "comment", "judge",
           "link", "source", "item", "kind", "known", "state", "asked", "seen", "told", "seconds",
           "taken_back", "cost", "excluded")  # fmt: skip
OF_ALL = {"answer", "link", "kind", "known", "state", "taken_back", "cost", "excluded"}
# Columns of all tickets that are there, even if empty: by them ``read_duels`` knows the table.
EVERYTHING = ("left", "right", "answer", "kind", "state", "taken_back")


def as_told(answer: Answer | Row | Event) -> str | float:
    """Return an outcome as it was told."""
    if answer.margin is not None:
        return answer.margin
    return said_in(answer.said).outcome or NAMES[answer.outcome]


def log_rows(
    duels: Duels,
    index: Sequence[int],
    kind: str,
    sources: SourcePosterior | None = None,
    asking: Asking | None = None,
) -> list[tuple[int, int, None, str | None, Answer]]:
    """Return the duels of a log one by one: left, right, item (None), judge and answer.

    index: the study's numbers of the log's arms.
    kind: of the model's outcomes.
    sources: of a study that has several: votes of another than the target, as the log's column
        says, are judged by that source.
    asking: what the study asks for.
    Raises ValueError if the model needs margins and the log has none, votes do not count alike, or
    the study asks for grades and the log has none, or others.
    """
    duels.check_single("a study")
    votes = duels.rows
    if not duels.plain:
        raise ValueError(
            "each duel of a study counts as one vote, got soft votes or sampling weights: add "
            "duels.as_plain()"
        )
    margins = votes.margin if kind == "margin" else None
    if kind == "margin" and margins is None:
        raise ValueError(
            "duels should have margins, because the study's model needs them, got none"
        )
    words = _words_of_grades(votes.grade, asking)
    level = None if sources is None else votes.level(sources.by)
    found = []
    for row in range(len(votes)):
        code = -1 if votes.judge is None else int(votes.judge[row])
        judge = None if code < 0 else votes.judges[code]
        if level is not None and sources is not None and level[0][row] >= 0:
            codes, names = level
            source = names[codes[row]]
            if source not in sources.names:
                raise ValueError(
                    f"{sources.by} should be one of {', '.join(sources.names)}, got {source!r}"
                )
            judge = judge if source == sources.names[sources.target] else source
        margin = None if margins is None else float(margins[row])
        sides = index[votes.left[row]], index[votes.right[row]]
        outcome = (1 + int(votes.outcome[row])) / 2
        word = None
        if words is not None and votes.grade is not None:
            word = words[int(votes.grade[row])]
        said = Said(None if word in SIDES else word).text()
        vote = (*sides, None, judge, Answer(outcome, margin, said))
        found += [vote] * int(votes.weight[row])
    return found


def _words_of_grades(grade: np.ndarray | None, asking: Asking | None) -> dict[int, str] | None:
    """Return the word of each grade of a study that asks for some, None where it does not."""
    if asking is None or not asking.levels:
        return None
    words = {
        asking.grade(word): word for word in asking.words if word not in (BOTH_BAD, CANNOT_TELL)
    }
    if grade is None or not set(grade.tolist()) <= set(words):
        got = "none" if grade is None else sorted(set(grade.tolist()))
        raise ValueError(f"duels should have the grades of the study, {sorted(words)}, got {got}")
    return words


def audit_trail(
    events: Iterable[Event], labels: Sequence[str], items: Sequence[str], key: str, asking: Asking
) -> list[dict[str, Any]]:
    """Return all that happened, in order, as dictionaries.

    labels, items: of all arms, and of all items.
    key: of the study, which begins the ids of its tickets.
    asking: what the study asks for.
    """
    return [
        {
            "ticket": None if e.ticket is None else ticket_id(key, e.ticket),
            "left": None if e.left is None else labels[e.left],
            "right": None if e.right is None else labels[e.right],
            "item": None if e.item is None else items[e.item],
            "judge": e.judge,
            "event": e.kind,
            "outcome": as_told(e) if e.kind in ("told", "corrected") else None,
            **_beside(asking, said_in(e.said)),
            "correction": e.kind in ("corrected", "withdrawn"),
            "reason": e.reason,
            "by": e.who,
            "told": moment(e.at),
            "gold": e.gold is not None and e.batch != TRAINING,
            "training": e.batch == TRAINING,
            "repeat": e.batch == REPEAT,
        }
        for e in events
    ]


def _beside(asking: Asking, said: Said) -> dict[str, str | None]:
    """Return what was said beside an outcome: a cell for each thing that the study asks for."""
    found = {name: said.criteria.get(name) for name in asking.others}
    if asking.reasons:
        found["reasons"] = "; ".join(said.reasons) or None
    if asking.comment:
        found["comment"] = said.comment or None
    return found


def counts(row: Mapping[str, Any]) -> bool:
    """Return whether a row of ``Study.rows`` is a duel that counts."""
    is_duel = row["state"] == "told" and row.get("kind", "duel") == "duel"
    return is_duel and row["outcome"] != CANNOT_TELL and row.get("excluded") is None


def export_rows(
    told: Iterable[dict[str, Any]], criterion: str | None = None
) -> list[dict[str, Any]]:
    """Return tickets as rows of a table that ``read_duels`` reads, without empty columns.

    told: what ``Study.rows`` returned: where that is everything, each row has its ``answer``, and
        an outcome if it is a duel that counts. Else there are rows of these alone.
    criterion: whose answers are the outcomes, in place of the one that decides.
    Raises ValueError if no ticket has an answer to the criterion.
    """
    told = [*told]
    asked = {name for row in told for name in row["criteria"]}
    if criterion is not None and criterion not in asked:
        known = ", ".join(sorted(asked)) or "none"
        raise ValueError(
            f"criterion should be a criterion that does not decide the duel ({known}), got "
            f"{criterion!r}"
        )
    everything = any("kind" in row for row in told)
    found = []
    for row in told:
        answer = row["outcome"] if criterion is None else row["criteria"].get(criterion)
        is_duel = counts(row | {"outcome": answer}) and answer is not None
        if is_duel or everything:
            outcome = answer if is_duel else None
            if isinstance(outcome, float):
                outcome = NAMES[0.5 + 0.5 * float(np.sign(outcome))]
            said = {"ticket": row["id"], "outcome": outcome, "answer": answer,
                    "margin": answer if is_duel and isinstance(answer, float) else None,
                    "reasons": "; ".join(row["reasons"]) or None}  # fmt: skip
            found.append(row | row["criteria"] | said)
    duels = [row for row in found if row["outcome"] is not None]
    margins = bool(duels) and all(row["margin"] is not None for row in duels)
    out = {"outcome" if margins else "margin", *(() if everything else OF_ALL)}
    names = [name for name in COLUMNS if name not in out]
    at = names.index("reasons")
    if not criterion:
        names[at:at] = dict.fromkeys(name for row in found for name in row["criteria"])
    kept = []
    for name in names:
        always = everything and name in EVERYTHING
        if always or any(row.get(name) is not None for row in found):
            kept.append(name)
    return [{name: row.get(name) for name in kept} for row in found]


def export_csv(rows: Sequence[Mapping[str, Any]], *, raw: bool = False) -> str:
    """Return rows of a table as CSV.

    raw: whether labels stay as they are. By the name of the first column ``read_duels`` knows it.
    """
    columns = ["raw_ticket" if raw and name == "ticket" else name for name in rows[0]]
    return csv_text(columns, (row.values() for row in rows), raw=raw)


def moment(seconds: float) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def told_duels(
    told: Iterable[Row],
    labels: Sequence[str],
    items: Sequence[str] = (),
    sources: SourcePosterior | None = None,
    asking: Asking | None = None,
    criteria: Sequence[str] | None = None,
) -> Duels:
    """Return outcomes as a log.

    told: tickets with an outcome.
    labels: of all arms.
    items: of all items: where there are any, the log keeps the column "item".
    sources: of a study that has several: the log keeps the column of that of each vote, whose
        levels are all sources, those that have no vote yet too.
    asking: what the study asks for.
    criteria: those whose answers are the votes; of several the log keeps the column "criterion".
        Default: the one that decides.
    Raises ValueError if there is no outcome of two different arms.
    """
    asking = asking or Asking()
    votes: list[_Vote] = []
    for row in told:
        if row.left != row.right:
            of_ticket = _votes_of(row, asking, criteria)
            votes += [vote for vote in of_ticket if vote.outcome is not None]
    if not votes:
        raise ValueError("the study has no outcomes yet, so there is no log")
    rows = [vote.row for vote in votes]
    margins = [row.margin for row in rows]
    judges = [row.judge for row in rows]
    keep: dict[str, list[Any]] = {}
    if items:
        keep["item"] = [None if row.item is None else items[row.item] for row in rows]
    if sources is not None:
        codes = [sources.source_of(judge) for judge in judges]
        keep[sources.by] = [sources.names[code] for code in codes]
    if criteria is not None and len(criteria) > 1:
        keep["criterion"] = [vote.criterion for vote in votes]
    found = Duels.from_votes(
        [labels[row.left] for row in rows],
        [labels[row.right] for row in rows],
        [float(vote.outcome or 0) for vote in votes],
        margin=None if None in margins else [float(m) for m in margins if m is not None],
        grade=[asking.grade(vote.word) for vote in votes] if asking.levels else None,
        judge=None if set(judges) == {None} else judges,
        keep=keep or None,
        arms=list(labels),
    )
    n_both_bad = sum(vote.word == BOTH_BAD for vote in votes)
    summary = replace(found.read_summary, n_both_bad=n_both_bad)
    found = replace(found, read_summary=summary)
    if sources is None or found.votes is None:
        return found
    votes_of_all = found.votes.with_level(sources.by, np.array(codes), sources.names)
    return replace(found, votes=votes_of_all)


class _Vote(NamedTuple):
    """An answer to one criterion of a ticket."""

    row: Row
    criterion: str | None
    word: str
    outcome: float | None


def _votes_of(row: Row, asking: Asking, criteria: Sequence[str] | None) -> list[_Vote]:
    """Return the answers of a ticket to some criteria; those that nobody gave are left out."""
    own = asking.deciding
    said = said_in(row.said)
    words: dict[str | None, str] = dict(said.criteria.items())
    words[own] = "" if row.margin is not None else str(as_told(row))
    values = {**asking.words, "": row.outcome}
    asked = [own] if criteria is None else criteria
    votes = []
    for name in asked:
        if name in words:
            word = words[name]
            votes.append(_Vote(row, name, word, values[word]))
    return votes
