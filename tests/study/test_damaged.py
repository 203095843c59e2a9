"""A file that was edited is refused by what is wrong, a study too large when it is made."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

import bayesduel as bd
from bayesduel.study.judging import Judging
from bayesduel.study.settings import SETTINGS
from bayesduel.study.store import StudyError

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("delete from settings where name = 'seed'", "should have the setting 'seed'"),
        ("delete from settings where name = 'goal'", "should have the setting 'goal'"),
        ("update settings set value = '{' where name = 'stop'", "its stop should be JSON"),
        ("update tickets set left = 77", "ticket 1 should be of arms 0 to 2, got 77"),
        ("update tickets set right = -1", "ticket 1 should be of arms 0 to 2, got -1"),
        ("update tickets set item = 5", "ticket 1 should be of items 0 to 0, got 5"),
        ("update tickets set outcome = 7", "an outcome should be 0, 0.5 or 1, got 7"),
        ("update tickets set outcome = 'x'", "an outcome should be 0, 0.5 or 1, got 'x'"),
        ("drop table studies", r"earlier version of bayesduel \(format 1, this version reads 5\)"),
        ("drop table events", "no such table: events"),
        (
            "create trigger t after update on tickets begin update tickets set outcome = 1; end",
            "should hold only the tables and indexes of a study, got the trigger 't'",
        ),
        (
            "create view v as select 1",
            "should hold only the tables and indexes of a study, got the view 'v'",
        ),
        (
            "create virtual table f using fts5(x)",
            "should hold only the tables and indexes of a study, got the virtual table 'f'",
        ),
        (
            "update settings set value = '\"../<b>\"' where name = 'key'",
            "its key should have the form that a study stores, got '../<b>': key should be letters",
        ),
    ],
)
def test_a_damaged_study_is_refused_by_what_is_wrong(change, message, tmp_path):
    path = tmp_path / "s"
    with bd.Study(path, arms=list("abc"), items=["p"]) as study:
        study.tell(study.ask(), "left")
    with closing(sqlite3.connect(path)) as file:
        file.execute(change)
        file.commit()
    with pytest.raises(StudyError, match=message):
        bd.Study(path)


JUNK = (
    None, True, 3, -1, float("inf"), "x", [], ["a"], [["a", "b"]], [["a", "b", -1]], [{}], {},
    {"name": "x"}, {"name": ["x"]}, {"class": "DTS", "x": 1}, {"name": "any", "rules": ""},
    {"gold": [[0, 7, 0, 1]]}, {"gold": "four"},
)  # fmt: skip
FINE = {  # of JUNK, what a study of three arms may have
    "created": ["x"], "key": ["x"], "policy": [None], "stop": [None],
    "pairs": [None, [["a", "b"]]], "costs": [[]], "required": [[]], "history": [[]],
    "seed": [3], "expires": [3], "judging": [None], "sources": [None], "asking": [None],
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "whole.study"
    judging = Judging(gold=[("a", "b", "left", "p")])
    given = {"policy": bd.policies.ContrastAllocation(), "pairs": [("a", "b"), ("b", "c")]}
    with bd.Study(path, arms=list("abc"), items=["p"], judging=judging, **given) as study:
        study.tell(study.ask(), "left")
    return path


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.sampled(3, "goal", "stop", "sources", "created", "seed")
def test_a_setting_that_no_study_stores_is_refused_by_its_name(name, whole, tmp_path):
    opened = []
    for junk in JUNK:
        path = shutil.copy(whole, tmp_path / "a.study")
        with closing(sqlite3.connect(path)) as file:
            file.execute("update settings set value = ? where name = ?", [json.dumps(junk), name])
            file.commit()
        try:
            with bd.Study(path) as study:
                study.status()
            opened.append(junk)
        except StudyError as error:
            said = str(error)
            assert f"a.study is damaged: its {name} should have the form that a study" in said
            words = ("object", "__init__", "unpack", "unhashable", "positional", "sequence")
            assert not any(word in said for word in words)
    assert opened == FINE.get(name, [])


def test_a_study_with_too_many_arms_is_refused_when_it_is_made(tmp_path):
    arms = [str(k) for k in range(10_000)]
    with pytest.raises(ValueError, match="a study should have at most 2,000 arms, got 10,000"):
        bd.Study(tmp_path / "s", arms=arms)
    assert not (tmp_path / "s").exists()
    study = bd.Study(arms=arms[:2000], stop=None)
    with pytest.raises(ValueError, match="at most 2,000 arms, got 2,001"):
        study.add_arms(["x"])
