"""What judges said as files: what is in each form, by what the study asks, and read back."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from uuid import UUID

import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, CumulativeLogit, Sources, named
from bayesduel.study.export import FORMATS, TABLES
from bayesduel.study.questions import NoQuestion

pytestmark = pytest.mark.plain
ARMS = ["tea", "=coffee", "cocoa, hot", "Мате"]
REASONS = ["clear", "=polite", 'says "so"']
SOURCES = {"people": 1.0, "machine": 0.01}
ASKED = {
    "plain": None,
    "grades": bd.study.Asking(grades=2, both_bad=True),
    "criteria": bd.study.Asking(criteria=["helpful", "short & <b>"], decides="helpful"),
    "words": bd.study.Asking(reasons=REASONS, comment=True),
    "all of it": bd.study.Asking(grades=3, both_bad=True, criteria=["helpful", "short"],
                           reasons=REASONS, comment=True),
}  # fmt: skip
COMMENT = '=1+1, "quoted"\n<script>alert(1)</script>\x01'


def settings(kind):
    """Return what a study of a kind is made with."""
    given = {"arms": ARMS, "stop": None, "policy": bd.policies.Uniform()}
    asking = ASKED.get(kind)
    given["asking"] = asking
    if asking is not None and asking.grades > 1:
        given["model"] = CumulativeLogit()
    if kind in ("items", "all of it"):
        given["items"] = ["why?", "كيف؟"]
    if kind == "machine":
        model = BradleyTerry(Sources("source", target="people"))
        given |= {"sources": SOURCES, "model": model, "policy": "auto"}
    if kind == "margins":
        given["model"] = named("thurstone-score")
    if kind in ("judging", "all of it"):
        item = ["why?"] if "items" in given else []
        known = [ARMS[0], ARMS[1], "left", *item]
        trained = [ARMS[2], ARMS[3], "tie", *(item or [None]), "It is a tie."]
        given["judging"] = bd.study.Judging(
            gold=[known], gold_share=0.3, training=[trained], repeats=0.5
        )
    return given


def answers(kind, asking, k):
    words = [2.5, -1.0, 0.5] if kind == "margins" else list(asking.words)
    names = {name: words[(2 * k + 1) % len(words)] for name in asking.others}
    return {
        "outcome": words[k % len(words)],
        "criteria": names,
        "reasons": [r for j, r in enumerate(asking.reasons) if k >> j & 1],
        "comment": COMMENT if asking.comment and k % 3 == 1 else None,
        "cost": 0.01 if k % 2 else None,
        "seen": 1.5,
    }


def played(kind, path=None):
    """Return a study of a kind in which judges answered, skipped, and one is excluded."""
    study = bd.Study(path, **settings(kind))
    n = 30 if study.judging is None else 42  # all that a judge may be asked
    at_once = 2 if kind == "machine" else 6  # are asked before they answer: one fit for all
    for first in range(0, n, at_once):
        asked = []
        for k in range(first, first + at_once):
            judge = "machine" if kind == "machine" and k % 2 else f"=judge {k % 6}"
            with suppress(NoQuestion):  # this judge has seen all
                asked.append((k, study.ask(judge=judge)))
        for k, ticket in asked:
            if k % 9 == 4:
                study.skip(ticket)
            else:
                study.tell(ticket, **answers(kind, study.asking, k))
    study.ask(judge="late")
    if kind in ("excluded", "all of it"):
        study.exclude_judge("=judge 2", "answered at random")
    return study


KINDS = (*ASKED, "items", "judging", "excluded", "machine", "margins")


class Played(dict):
    """Studies by kind, each played when it is first asked for."""

    def __missing__(self, kind):
        self[kind] = played(kind)
        return self[kind]


@pytest.fixture(scope="module")
def studies():
    return Played()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return the file of a study of all kinds, which exports leave as it is."""
    path = tmp_path_factory.mktemp("stored") / "s.study"
    played("all of it", path).close()
    return path


def read(path, format, kind):
    """Return the log of an export."""
    file = {"label-studio": path / "tasks.json", "argilla": path / "records.json"}
    keep = {"keep": ["source"]} if kind == "machine" else {}
    return bd.read_duels(file.get(format, path), **keep)


def cells(duels):
    """Return the votes of a log, whatever its columns are called."""
    votes = duels.rows
    columns = [votes.left, votes.right, votes.outcome, votes.grade, votes.margin]
    judges = [votes.judges[code] for code in votes.judge]
    return [*(None if c is None else c.tolist() for c in columns), duels.arms, judges]


def told(study):
    """Return all that a table of every ticket has to say, by ticket."""
    return {row["id"]: row for row in study.rows(everything=True)}


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("everything", [False, True], ids=["duels", "everything"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_form_is_read_back_as_the_log_of_the_study(
    kind, format, everything, studies, tmp_path
):
    study, path = studies[kind], tmp_path / f"o.{format}"
    options = {"format": format, "everything": everything}
    if kind == "margins" and format not in TABLES:
        with pytest.raises(ValueError, match="format should be csv or parquet for a study of mar"):
            study.export(path, **options)
        return
    n = study.export(path, **options)
    n_duels = study.duels().n_duels
    assert n == (len(told(study)) if everything else n_duels) and n_duels >= 10
    log = read(path, format, kind)
    assert cells(log) == cells(study.duels())
    assert log.read_summary.n_both_bad == study.duels().read_summary.n_both_bad
    if kind == "machine":
        by = [[level[1][code] for code in level[0]] for level in
              (each.votes.level("source") for each in (log, study.duels()))]  # fmt: skip
        assert by[0] == by[1] and set(by[0]) == set(SOURCES)
    elif format in TABLES:
        ours, theirs = (bd.fit(each, study.model, clusters=False) for each in (study.duels(), log))
        assert (bd.scores(ours).to_numpy() == bd.scores(theirs).to_numpy()).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("format", TABLES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_everything_has_everything(kind, format, studies, tmp_path):
    study, path = studies[kind], tmp_path / f"all.{format}"
    study.export(path, everything=True, raw=True)
    frame = pd.read_parquet(path) if format == "parquet" else pd.read_csv(path, dtype=str)
    frame = frame.rename(columns={"raw_ticket": "ticket"}).astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    assert len(rows) == len(told(study)) > 30
    for row in rows:
        known = told(study)[row["ticket"]]
        for name in ("left", "right", "judge", "item", "source", "kind", "known", "state",
                     "comment", "excluded"):  # fmt: skip
            assert row.get(name) == known[name], name
        for name in ("cost", "seconds"):
            assert (None if row.get(name) is None else float(row[name])) == known[name]
        for name in ("asked", "seen", "told"):
            given = None if row.get(name) is None else pd.Timestamp(row[name])
            assert given == (None if known[name] is None else pd.Timestamp(known[name]))
        for name, answer in known["criteria"].items():
            assert row[name] == answer
        assert row.get("reasons") == ("; ".join(known["reasons"]) or None)
        assert row["answer"] == (None if known["outcome"] is None else str(known["outcome"]))
        is_duel = known["kind"] == "duel" and known["excluded"] is None
        is_duel &= known["state"] == "told" and known["outcome"] != "cannot tell"
        outcome = row.get("margin") if kind == "margins" else row.get("outcome")
        assert outcome is None if not is_duel else str(outcome) == row["answer"]
    kinds = {row["kind"] for row in rows}
    if study.judging is not None:
        assert kinds == {"duel", "gold", "training", "repeat"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("everything", [False, True], ids=["duels", "everything"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "margins"])
def test_label_studio_gets_tasks_that_its_configuration_takes(kind, everything, studies, tmp_path):
    """By the forms of its pages "Label Studio Task Format" and of the tags that are used."""
    study, path = studies[kind], tmp_path / "folder"
    item = study.items[0] if study.items else ""
    content = {(ARMS[0], item): "# Tea & <b>milk</b>", ("", item): "Why *this*?"}
    users = {"=judge 1": "ann@example.org"}
    given = {"format": "label-studio", "everything": everything}
    study.export(path, **given, content=content, users=users)
    view = ElementTree.parse(path / "config.xml").getroot()
    controls = {tag.get("name"): tag for tag in view.iter() if tag.get("toName")}
    objects = {tag.get("name"): tag.get("value") for tag in view.iter("Text")}
    types = {"Pairwise": "pairwise", "Choices": "choices", "TextArea": "textarea"}
    tasks = json.loads((path / "tasks.json").read_text(encoding="utf-8"))
    assert len({task["id"] for task in tasks}) == len(tasks)
    for task in tasks:
        known = told(study)[task["data"]["study_ticket"]]
        assert task["data"]["model_a"] == known["left"]
        assert task["data"]["judge"] == known["judge"]
        same = known["item"] in (None, item)
        shown = "# Tea & <b>milk</b>" if known["left"] == ARMS[0] and same else known["left"]
        assert task["data"]["left"] == shown
        assert all(value.removeprefix("$") in task["data"] for value in objects.values())
        if known["state"] == "open":
            assert task["annotations"] == []
            continue
        (made,) = task["annotations"]
        by = {"email": "ann@example.org"} if known["judge"] == "=judge 1" else None
        assert made.get("completed_by") == by
        is_duel = known["kind"] == "duel" and known["excluded"] is None
        is_duel &= known["state"] == "told" and known["outcome"] != "cannot tell"
        assert made["was_cancelled"] is not is_duel
        assert made["lead_time"] == known["seconds"]
        said = {}
        for each in made["result"]:
            tag = controls[each["from_name"]]
            assert each["type"] == types[tag.tag] and each["to_name"] in tag.get("toName")
            assert each["to_name"] in objects
            chosen = {choice.get("value") for choice in tag.iter("Choice")}
            if tag.tag == "Choices":
                assert set(each["value"]["choices"]) <= chosen
            said[each["from_name"]] = each["value"]
        expected = {} if known["outcome"] is None else {"outcome": {"choices": [known["outcome"]]}}
        side = (known["outcome"] or "").split(" ")[0]
        expected |= {"side": {"selected": side}} if side in ("left", "right") else {}
        expected |= {name: {"choices": [word]} for name, word in known["criteria"].items()}
        expected |= {"reasons": {"choices": [*known["reasons"]]}} if known["reasons"] else {}
        expected |= {"comment": {"text": [known["comment"]]}} if known["comment"] else {}
        assert said == expected


@pytest.mark.sampled(2)
@pytest.mark.parametrize("everything", [False, True], ids=["duels", "everything"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "margins"])
def test_argilla_gets_a_folder_as_from_disk_takes_it(kind, everything, studies, tmp_path):
    """By ``Dataset.from_disk``, ``Settings.from_json`` and ``Record.from_dict`` of Argilla 2.8."""
    study, path = studies[kind], tmp_path / "folder"
    users = {"=judge 1": "11111111-1111-1111-1111-111111111111"}
    study.export(path, format="argilla", everything=everything, users=users)
    names = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    assert names == {"records.json", ".argilla/settings.json", ".argilla/dataset.json"}
    settings = json.loads((path / ".argilla/settings.json").read_text(encoding="utf-8"))
    questions = {each["name"]: each for each in settings["questions"]}
    fields = {each["name"] for each in settings["fields"]}
    assert json.loads((path / ".argilla/dataset.json").read_text())["name"] == study.name
    records = json.loads((path / "records.json").read_text(encoding="utf-8"))
    for record in records:
        known = told(study)[record["id"]]
        assert set(record["fields"]) == fields and all(record["fields"].values())
        assert record["metadata"]["judge"] == known["judge"]
        said = {}
        for name, given in record["responses"].items():
            (answer,) = given
            options = questions[name]["settings"].get("options", [])
            chosen = answer["value"] if name == "reasons" else [answer["value"]]
            assert name == "comment" or set(chosen) <= {each["value"] for each in options}
            assert str(UUID(answer["user_id"])) == answer["user_id"]
            assert (answer["user_id"] in users.values()) is (known["judge"] in users)
            said[name] = answer["value"]
        expected = {"winner": known["outcome"], **known["criteria"],
                    "reasons": [*known["reasons"]], "comment": known["comment"]}  # fmt: skip
        assert said == {name: value for name, value in expected.items() if value}
    assert {each["settings"]["type"] for each in settings["questions"]} <= {
        "label_selection", "multi_label_selection", "text",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("everything", [False, True], ids=["duels", "everything"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.sampled(4)
def test_the_command_line_writes_what_python_writes(format, everything, stored, tmp_path):
    study = bd.Study(stored)
    content, users = tmp_path / "content.csv", tmp_path / "users.csv"
    with content.open("w", newline="", encoding="utf-8") as file:
        rows = [("arm", "item", "content"), ("", "why?", "Say why."), ("tea", "why?", "**Tea**")]
        csv.writer(file).writerows(rows)
    users.write_text("judge,user\n=judge 1,11111111-1111-1111-1111-111111111111\n")
    texts = {("", "why?"): "Say why.", ("tea", "why?"): "**Tea**"}
    known = {"=judge 1": "11111111-1111-1111-1111-111111111111"}
    study.export(tmp_path / f"a.{format}", format=format, everything=everything, content=texts,
                 users=known)  # fmt: skip
    command = ["study", "export", stored, tmp_path / f"b.{format}", "--content",
               content, "--users", users, *(["--everything"] if everything else [])]  # fmt: skip
    command += [] if format in TABLES else ["--format", format]
    result = CliRunner().invoke(main, [str(word) for word in command])
    assert result.exit_code == 0, result.output
    n = len(told(study)) if everything else study.duels().n_duels
    assert f"is written, {n} rows." in result.output
    assert ("excluded judges are left out: =judge 2" in result.output) is not everything

    def files(name):
        path = tmp_path / f"{name}.{format}"
        if format == "parquet":
            return pd.read_parquet(path).to_dict("records")
        each = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        return [file.read_text(encoding="utf-8") for file in each]

    assert str(files("a")) == str(files("b"))


@pytest.mark.parametrize(
    "words, said",
    [
        (["--audit", "--everything", "o.csv"], "Give --audit without --criterion"),
        (["--audit", "--format", "parquet", "o.parquet"], "Give --audit without --criterion"),
        (["--format", "argilla"], "--format argilla needs PATH"),
        (["--format", "argilla", "there.csv"], "PATH should be a folder"),
        (["--format", "label-studio", "--criterion", "short & <b>", "o"], "for a criterion"),
        (["--format", "excel", "o.xlsx"], "'excel' is not one of"),
        (["no/such/o.csv"], "PATH"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_line(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with bd.Study("s.study", arms=ARMS, asking=ASKED["criteria"]) as study:
        study.tell(study.ask(), "left", criteria={"short & <b>": "tie"})
    (tmp_path / "there.csv").write_text("mine")
    result = CliRunner().invoke(main, ["study", "export", "s.study", *words])
    assert result.exit_code == 2 and said in result.stderr
    assert {p.name for p in tmp_path.iterdir() if "study" not in p.name} == {"there.csv"}
    assert (tmp_path / "there.csv").read_text() == "mine"


@pytest.mark.parametrize("everything", [False, True])
def test_a_study_without_a_ticket_has_nothing_to_export(everything, tmp_path):
    study = bd.Study(arms=ARMS)
    what = "tickets" if everything else "outcomes"
    with pytest.raises(ValueError, match=f"nothing to export: .* has no {what}"):
        study.export(tmp_path / "o.csv", everything=everything)


def test_tasks_of_others_that_have_a_ticket_are_read_by_their_annotators(tmp_path):
    """A column called ticket is no export of a study."""
    task = {"id": 1, "data": {"ticket": "T-1", "judge": "gpt", "model_a": "a", "model_b": "b"},
            "annotations": [{"completed_by": 7, "result": [
                {"type": "pairwise", "value": {"selected": "left"}}]}]}  # fmt: skip
    (tmp_path / "t.json").write_text(json.dumps([task]))
    log = bd.read_duels(tmp_path / "t.json")
    assert list(log.votes.judges) == ["7"]
