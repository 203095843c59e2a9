"""What judges said as files: CSV, Parquet, or a folder as Label Studio or Argilla imports it.

Each tool gets a task (a record) for each ticket, with the judge among its data: Label Studio and
Argilla take answers of their own users alone, so that the judge is no user unless `users` says
which one. An answer that is no duel, or does not count, is marked as cancelled (discarded).

References
----------
Label Studio, "Label Studio Task Format" and the tags Pairwise, Choices and TextArea: a task has
``data`` and ``annotations``, whose ``result`` names the tags of the labeling configuration.
Argilla 2, ``Dataset.to_disk`` and ``from_disk``: a folder with ``records.json``,
``.argilla/settings.json`` and ``.argilla/dataset.json``.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from bayesduel.study.asking import Asking
from bayesduel.study.outcomes import counts, export_csv, export_rows
from bayesduel.system.arguments import as_options, check_flag, check_one_of, check_type, path_of
from bayesduel.system.atomic_write import replace_file, write_text, write_texts

__all__ = ["FORMATS", "export"]

TABLES = ("csv", "parquet")
ENDINGS = {".csv": "csv", "": "csv", ".parquet": "parquet"}  # of a file, and its format
FORMATS = (*TABLES, "label-studio", "argilla")
# What a task has of its ticket, beside the arms, what was shown and the answer.
OF_TICKET = ("judge", "link", "source", "item", "kind", "known", "state", "asked", "seen", "told",
             "seconds", "cost", "excluded")  # fmt: skip
TIMES = ("asked", "seen", "told")
Content = Mapping[tuple[str, str], str]


def export(
    self: Any,
    path: str | Path,
    *,
    format: str | None = None,
    everything: bool = False,
    criterion: str | None = None,
    content: Content | None = None,
    users: Mapping[str, str] | None = None,
    raw: bool = False,
) -> int:
    """Write what judges said as a file, or a folder; return the number of rows.

    ``read_duels`` reads each of them (of Label Studio's folder ``tasks.json``, of Argilla's
    ``records.json``) as the log of the study, from everything too.

    Parameters
    ----------
    path
        The file to write; with "label-studio" and "argilla" the folder.
    format
        "csv", "parquet", "label-studio" or "argilla". Default: by the ending of the name, ".csv"
        or ".parquet"; a name without an ending is "csv". A folder for Label Studio has
        ``tasks.json`` and the labeling configuration ``config.xml``, one for Argilla is as
        ``Dataset.from_disk`` takes it.
    everything
        Whether all tickets are written: training, gold, repeats, what is open or skipped, "cannot
        tell", and answers of excluded judges, with ``kind``, ``state``, the answer that is
        ``known``, ``cost``, ``link`` and ``excluded`` (why). A table then has the ``answer`` of
        each ticket, and an ``outcome`` where it is a duel that counts.
    criterion
        In tables: whose answers are the outcomes, in place of the one that decides.
    content
        For Label Studio and Argilla: what judges saw, text by arm and item ("" in a study without
        items). With the arm "" what stands above the pairs of an item. Default: the labels.
    users
        By judge: the user of the tool whose answers they are, the e-mail address in Label Studio,
        the id in Argilla. Default: whoever imports them in Label Studio, an id made of the name of
        the judge in Argilla.
    raw
        Whether CSV has labels as they are. Default: labels that a spreadsheet would take for a
        formula have an apostrophe in front.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the study has no ticket to write.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"])
    >>> study.tell(study.ask(judge="ann"), "left")
    >>> study.export("duels.parquet")
    1
    >>> bd.read_duels("duels.parquet").n_duels
    1
    """
    path = path_of(path)
    check_flag(everything, "everything")
    check_flag(raw, "raw")
    check_type(content, Mapping | None, "content", "texts by arm and item")
    check_type(users, Mapping | None, "users", "users by judge")
    if format is None:
        ending = path.suffix.lower()
        if ending not in ENDINGS:
            raise ValueError(
                f"path should end with .csv or .parquet, got {path.name!r}. For another ending "
                f"give {as_options(format=None)}"
            )
        format = ENDINGS[ending]
    check_one_of(format, "format", FORMATS)
    if format not in TABLES and (criterion is not None or self.kind == "margin"):
        what = "a study of margins" if criterion is None else "a criterion"
        raise ValueError(f"format should be {' or '.join(TABLES)} for {what}, got {format!r}")
    told = self.rows(everything=everything)
    rows = export_rows(told, criterion)
    if not rows:
        what = "tickets" if everything else "outcomes"
        raise ValueError(f"nothing to export: {self.store.url} has no {what}")
    if format == "csv":
        write_text(path, export_csv(rows, raw=raw))
    elif format == "parquet":
        _write_parquet(path, rows)
    else:
        told = told if everything else [row for row in told if counts(row)]
        write_texts(path, FOLDERS[format](self, told, content or {}, users or {}))
        return len(told)
    return len(rows)


def _write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table; times are in UTC."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    for name in TIMES:
        if name in frame:
            frame[name] = pd.to_datetime(frame[name], utc=True)
    if "answer" in frame:  # margins and "cannot tell" are one column
        frame["answer"] = frame["answer"].astype("string")
    with replace_file(path) as draft:
        frame.to_parquet(draft, index=False)


def _label_studio(
    study: Any, told: Iterable[Mapping[str, Any]], content: Content, users: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the files of a folder for Label Studio, by name."""
    asking = study.asking
    made = [_task(row, asking, _shown(row, content), users) for row in told]
    return [("tasks.json", _json(made)), ("config.xml", _configuration(asking, study.items))]


def _task(
    row: Mapping[str, Any], asking: Asking, shown: Mapping[str, str], users: Mapping[str, str]
) -> dict[str, Any]:
    """Return a ticket as a task of Label Studio, with its answer as an annotation."""
    task: dict[str, Any] = {
        "id": _number(row),
        "data": {**shown, **_of_ticket(row)},
        "annotations": [],
    }
    if row["state"] not in ("told", "skipped"):
        return task
    side = str(row["outcome"]).partition(" ")[0]
    answers: list[tuple[str, str, Mapping[str, Any]]] = []
    if side in ("left", "right"):
        answers.append(("side", "pairwise", {"selected": side}))
    answers += [
        (name, "choices", {"choices": [value] if isinstance(value, str) else value})
        for name, value in _answers(row)
        if name != "comment"
    ]
    if row["comment"]:
        answers.append(("comment", "textarea", {"text": [row["comment"]]}))
    annotation = {
        "result": [
            {"id": f"{row['id']}-{k}", "from_name": name, "to_name": "left", "type": kind,
             "value": value}
            for k, (name, kind, value) in enumerate(answers)
        ],
        "was_cancelled": not counts(row),
        "ground_truth": False,
        "created_at": row["told"] or row["asked"],
        "lead_time": row["seconds"],
    }  # fmt: skip
    if row["judge"] in users:
        annotation["completed_by"] = {"email": users[row["judge"]]}
    return task | {"annotations": [annotation]}


def _configuration(asking: Asking, items: Sequence[str]) -> str:
    """Return the labeling configuration of Label Studio under which the tasks can be judged."""
    view = ElementTree.Element("View")

    def add(tag: str, parent: Any = view, **values: str) -> Any:
        return ElementTree.SubElement(parent, tag, values)

    if items:
        add("Text", name="prompt", value="$prompt")
    pair = add("View", style="display: flex; gap: 1em;")
    for side in ("left", "right"):
        add("Text", pair, name=side, value=f"${side}")
    add("Pairwise", name="side", toName="left,right")
    for name, words in _questions(asking):
        add("Header", value=asking.deciding or name if name == "outcome" else name)
        choice = "multiple" if name == "reasons" else "single"
        choices = add("Choices", name=name, toName="left", choice=choice)
        for word in words:
            add("Choice", choices, value=word)
    if asking.comment:
        add("TextArea", name="comment", toName="left")
    ElementTree.indent(view)
    return f"{ElementTree.tostring(view, encoding='unicode')}\n"


def _argilla(
    study: Any, told: Iterable[Mapping[str, Any]], content: Content, users: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the files of a folder for Argilla, by name."""
    made = [_record(row, _shown(row, content), users) for row in told]
    return [
        ("records.json", _json(made)),
        (".argilla/settings.json", _json(_settings(study.asking, study.items))),
        (".argilla/dataset.json", _json({"name": study.name, "allow_extra_metadata": True})),
    ]


def _record(
    row: Mapping[str, Any], shown: Mapping[str, str], users: Mapping[str, str]
) -> dict[str, Any]:
    """Return a ticket as a record of Argilla, with its answer as responses."""
    judge = row["judge"] or ""
    user = users.get(judge) or str(uuid5(NAMESPACE_URL, f"bayesduel:{judge}"))
    status = "submitted" if counts(row) else "discarded"
    fields = {name: shown[name] for name in ("prompt", "left", "right") if name in shown}
    known = {**shown, **_of_ticket(row)}
    return {
        "id": row["id"],
        "fields": fields,
        "metadata": {name: value for name, value in known.items() if name not in fields},
        "suggestions": {},
        "responses": {
            WINNER.get(name, name): [{"value": value, "user_id": user, "status": status}]
            for name, value in _answers(row)
        },
        "vectors": {},
    }


def _settings(asking: Asking, items: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a dataset of Argilla under which the records can be judged."""
    questions = [
        {
            "name": WINNER.get(name, name),
            "title": asking.deciding or "Which one is better?" if name == "outcome" else name,
            "required": name == "outcome",
            "settings": {
                "type": "multi_label_selection" if name == "reasons" else "label_selection",
                "options": [{"value": word, "text": word} for word in words],
            },
        }
        for name, words in _questions(asking)
    ]
    if asking.comment:
        text = {"type": "text", "use_markdown": False}
        questions.append({"name": "comment", "title": "comment", "required": False,
                          "settings": text})  # fmt: skip
    names = [*(["prompt"] if items else []), "left", "right"]
    fields = [
        {
            "name": name,
            "title": name,
            "required": name != "prompt",
            "settings": {"type": "text", "use_markdown": True},
        }
        for name in names
    ]
    return {"guidelines": None, "fields": fields, "questions": questions, "metadata": [],
            "vectors": [], "allow_extra_metadata": True}  # fmt: skip


# By the name of a question Argilla's export is read: see ``bayesduel.data.read.tools``.
WINNER = {"outcome": "winner"}
FOLDERS: dict[str, Callable[..., list[tuple[str, str]]]] = {
    "label-studio": _label_studio,
    "argilla": _argilla,
}


def _questions(asking: Asking) -> list[tuple[str, Sequence[str]]]:
    """Return the names of all that is chosen, the outcome first, and what may be chosen."""
    found: list[tuple[str, Sequence[str]]] = [
        (name, list(asking.words)) for name in ("outcome", *asking.others)
    ]
    return [*found, ("reasons", asking.reasons)] if asking.reasons else found


def _answers(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what a judge chose and wrote, by name, the outcome first; no empty ones."""
    found = [("outcome", row["outcome"]), *row["criteria"].items()]
    found += [("reasons", list(row["reasons"])), ("comment", row["comment"])]
    return [(name, value) for name, value in found if value]


def _shown(row: Mapping[str, Any], content: Content) -> dict[str, str]:
    """Return the arms of a ticket, and what judges saw of them."""
    left = row["left"]
    right = row["right"]
    item = row["item"] or ""
    found = {
        "study_ticket": row["id"],
        "model_a": left,
        "model_b": right,
        "left": content.get((left, item)) or left,
        "right": content.get((right, item)) or right,
    }
    prompt = content.get(("", item)) or item
    return found | {"prompt": prompt} if prompt else found


def _of_ticket(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in OF_TICKET if row.get(name) is not None}


def _number(row: Mapping[str, Any]) -> int:
    return int(row["id"].rpartition("-")[2])


def _json(value: object) -> str:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"
