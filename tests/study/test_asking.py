"""What a ticket asks: grades, both bad, criteria, reasons and a comment, stored as one answer."""

import itertools
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, CumulativeLogit, Davidson, Sources
from bayesduel.study.outcomes import export_rows
from bayesduel.text import csv_text
from tests.support.covering import covering

pytestmark = pytest.mark.plain

CRITERIA, REASONS = ("helpful", "short"), ("clear", "=polite", "wrong")
COMBINED = [*itertools.product((1, 2, 4), *[(False, True)] * 3)]
ASKED = {  # every combination of what may be asked
    f"{grades} {'bad ' * bad}{'criteria ' * many}{'words' * words}".strip(): bd.study.Asking(
        grades=grades, both_bad=bad, criteria=CRITERIA if many else (),
        decides="short" if many else None, reasons=REASONS if words else (), comment=words,
    )
    for grades, bad, many, words in COMBINED
}  # fmt: skip
FAST = covering([dict(enumerate(one)) for one in COMBINED], 3, "asked")  # with all pairs
whatever_is_asked = pytest.mark.parametrize(
    "asking",
    [
        pytest.param(asking, id=name, marks=[] if k in FAST else pytest.mark.slow)
        for k, (name, asking) in enumerate(ASKED.items())
    ],
)
PLAIN = ASKED["1"]


def given(asking, k):
    """Return the k-th answer of all that may be told, as `tell` takes it."""
    words = list(asking.words)
    return {
        "outcome": words[k % len(words)],
        "criteria": {name: words[(3 * k + 1) % len(words)] for name in asking.others},
        "reasons": [r for j, r in enumerate(asking.reasons) if k >> j & 1],
        "comment": f'=said {k}, "{k}"\nand more' if asking.comment and k % 2 else None,
    }


def shown(ticket):
    """Return the answer of a ticket as `given` has it."""
    return {"outcome": ticket.outcome, "criteria": dict(ticket.criteria),
            "reasons": list(ticket.reasons), "comment": ticket.comment}  # fmt: skip


def told(path, asking, n=24, **settings):
    study = bd.Study(path, arms=list("abc"), asking=asking, stop=None, policy=bd.policies.Uniform(),
                     **settings)  # fmt: skip
    tickets = [study.ask(judge=f"judge {k}") for k in range(n)]
    for k, ticket in enumerate(tickets):
        study.tell(ticket, **given(asking, k))
    return study, tickets


@whatever_is_asked
def test_an_answer_is_stored_whole_and_read_back_from_the_export(asking, tmp_path):
    study, tickets = told(tmp_path / "s", asking)
    with study, bd.Study(tmp_path / "s") as again:
        assert again.asking == asking
        for k, ticket in enumerate(tickets):
            assert shown(again.ticket(ticket)) == given(asking, k)
            study.tell(ticket, **given(asking, k))  # the same again changes nothing
            for name, other in (("reasons", asking.reasons[:1]), ("comment", "other")):
                if getattr(asking, {"comment": "comment"}.get(name, name)) and given(asking, k)[
                    name
                ] != [*other]:
                    with pytest.raises(ValueError, match=r"as you told before|same as before"):
                        study.tell(ticket, **given(asking, k) | {name: other})
        rows = export_rows(study.rows())
        path = tmp_path / "duels.csv"
        path.write_text(csv_text(list(rows[0]), (row.values() for row in rows)))
        read, log = bd.read_duels(path), study.duels()
        assert read.n_duels == log.n_duels == study.n_duels
        assert read.read_summary.n_both_bad == log.read_summary.n_both_bad
        assert log.read_summary.n_both_bad == sum(r["outcome"] == "tie (bothbad)" for r in rows)
        if asking.grades > 1:
            assert read.votes.grade.tolist() == log.votes.grade.tolist()
            assert set(np.abs(log.votes.grade)) <= set(asking.levels)
        for name in asking.others:
            rows = export_rows(study.rows(), name)
            path.write_text(csv_text(list(rows[0]), (row.values() for row in rows)))
            read, own = bd.read_duels(path), study.duels(name)
            assert read.n_duels == own.n_duels == len(rows)
            assert read.votes.outcome.tolist() == own.votes.outcome.tolist()


@whatever_is_asked
def test_what_is_not_asked_is_refused_and_changes_nothing(asking):
    study = bd.Study(arms=list("abc"), asking=asking, stop=None)
    ticket = study.ask()
    good = given(asking, 1)
    wrong = [{"outcome": "first"}, {"outcome": 1.0}, {"reasons": ["no"]}, {"comment": "x" * 2001},
             {"criteria": {"other": "tie"}},
             {"criteria": {"short": "tie", "helpful": "tie"}}]  # fmt: skip
    wrong += [{"criteria": {}}, {"criteria": {"helpful": "first"}}] if asking.others else []
    wrong += [] if asking.both_bad else [{"outcome": "tie (bothbad)"}]
    wrong += [{"outcome": "left"}] if asking.grades > 1 else [{"outcome": "left much better"}]
    wrong += [] if asking.comment else [{"comment": "more"}, {"reasons": ["clear"]}]
    for change in wrong:
        with pytest.raises(ValueError, match="should"):
            study.tell(ticket, **good | change)
    assert study.audit() == []
    study.tell(ticket, **good)
    assert shown(study.ticket(ticket)) == good


@whatever_is_asked
def test_undo_takes_back_the_whole_answer_and_a_correction_the_outcome_alone(asking):
    study = bd.Study(
        arms=list("abc"), asking=asking, stop=None, judging=bd.study.Judging(repeats=0.3)
    )
    ticket = study.ask(judge="ann")
    study.tell(ticket, **given(asking, 1))
    opened = study.undo("ann")
    assert shown(opened) == {"outcome": None, "criteria": {}, "reasons": [], "comment": None}
    assert study.n_duels == 0 and study.rows() == []
    study.tell(ticket, **given(asking, 5))
    study.correct(ticket, "tie", "typo", by="eve")
    assert shown(study.ticket(ticket)) == given(asking, 5) | {"outcome": "tie"}
    kept = [e["outcome"] for e in study.audit()]
    assert kept == [given(asking, 1)["outcome"], None, given(asking, 5)["outcome"], "tie"]
    if asking.comment:
        assert study.audit()[0]["comment"] == given(asking, 1)["comment"]


@pytest.mark.parametrize(
    "model",
    [BradleyTerry(), pytest.param(Davidson(), marks=pytest.mark.slow), CumulativeLogit()],
    ids=str,
)
def test_grades_are_modelled_by_a_model_of_grades_and_sides_by_others(model):
    asking = bd.study.Asking(grades=2, both_bad=True, criteria=CRITERIA)
    study = bd.Study(arms=list("abc"), asking=asking, model=model, stop=None)
    for ticket in study.ask(12):  # told at once: one fit
        better = ticket.left < ticket.right
        word = "left much better" if better else "right much better"
        study.tell(ticket, word, criteria={"short": "right better" if better else "left better"})
    assert study.status(check=False).ranking[0] == "a"
    both = study.duels(CRITERIA)
    assert both.n_duels == 24
    # 0.02 of few draws; the usual 4,000 of 24 votes are doubted and drawn again for 20 seconds
    fit = bd.fit(both, BradleyTerry(Sources("criterion", target="short")), draws=400, seed=0)
    assert bd.predict(fit, "a", "c")["win"] < 0.5  # c is the shortest
    with pytest.raises(ValueError, match="criteria should be among helpful, short, got 'x'"):
        study.duels("x")


def test_a_model_of_grades_needs_a_study_that_asks_for_them():
    with pytest.raises(ValueError, match="model should use only what a study stores"):
        bd.Study(arms=list("abc"), model=CumulativeLogit())


def test_a_log_of_grades_can_be_imported_where_its_sizes_are_asked_for():
    asking = bd.study.Asking(grades=2)
    study, _ = told(None, asking)
    other = bd.Study(arms=list("abc"), asking=asking, stop=None)
    other.import_duels(study.duels())
    assert other.duels().votes.grade.tolist() == study.duels().votes.grade.tolist()
    four = bd.Study(arms=list("abc"), asking=bd.study.Asking(grades=3), stop=None)
    four.import_duels(study.duels())  # the words of two sizes are among those of three
    with pytest.raises(ValueError, match="should have the grades of the study"):
        other.import_duels(told(None, bd.study.Asking(grades=4))[0].duels())
    with pytest.raises(ValueError, match="got none"):
        other.import_duels(told(None, bd.study.Asking())[0].duels())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grades": 5}, "grades should be 1 to 4"),
        ({"criteria": ["one"]}, "criteria should have at least two names, got only 'one'"),
        (
            {"criteria": ["judge", "x"]},
            "should not have the name of a column of the export, got 'judge'",
        ),
        ({"criteria": ["x", "y"], "decides": "z"}, "decides should be one of criteria"),
        ({"reasons": ["a; b"]}, "a reason should not contain ';'"),
        ({"reasons": ["a", "a"]}, "at most 20 different texts"),
        ({"reasons": [str(k) for k in range(21)]}, "at most 20"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        bd.study.Asking(**settings)


def test_a_study_of_the_format_before_is_opened_and_gets_the_columns(tmp_path):
    path = tmp_path / "s"
    study, _ = told(path, PLAIN)
    before = study.rows()
    study.close()
    with closing(sqlite3.connect(path)) as file:
        for table in ("tickets", "events"):
            file.execute(f"alter table {table} drop column said")
        file.execute("update settings set value = '3' where name = 'format'")
        file.execute("delete from settings where name = 'asking'")
        file.commit()
    for _ in range(2):
        with bd.Study(path) as again:
            assert again.rows() == before
            again.tell(again.ask(), "left")
            before = again.rows()


def test_a_machine_answers_in_grades_in_both_orders():
    study = bd.Study(arms=list("abc"), asking=bd.study.Asking(grades=2, both_bad=True), stop=None)
    done = study.run(lambda t: "left much better" if t.left < t.right else "right much better")
    assert done.told == 3 and done.errors == {}
    assert {row["outcome"] for row in study.rows()} <= {"left much better", "right much better"}


def test_a_machine_answers_each_criterion_or_the_ticket_is_skipped():
    study = bd.Study(arms=list("abc"), asking=bd.study.Asking(criteria=CRITERIA), stop=None)
    first, *others = CRITERIA

    def judge(ticket):
        better = "left" if ticket.left < ticket.right else "right"
        if "a" not in (ticket.left, ticket.right):
            return better
        return {first: better, **dict.fromkeys(others, "left")}

    done = study.run(judge)
    assert (done.told, done.skipped) == (2, 1)
    (error,) = done.errors.values()
    assert "the verdict should be an answer to each criterion, by name" in error
    for row in study.rows():
        assert row["outcome"] == ("left" if row["left"] < row["right"] else "right")
        assert study.ticket(row["id"]).criteria == dict.fromkeys(others, "tie")


@whatever_is_asked
def test_the_label_of_an_arm_is_an_answer_for_its_side(asking):
    study = bd.Study(arms=["GPT 5", "claude"], asking=asking, stop=None)
    good = given(asking, 0)
    for word in asking.words:
        ticket = study.ask()
        sides = {"left": ticket.left, "right": ticket.right}
        side, space, degree = word.partition(" ")
        named = f"{sides[side]}{space}{degree}" if side in sides else word
        otherwise = f" {named.upper()} " if side in sides else word
        criteria = dict.fromkeys(asking.others, otherwise)
        study.tell(ticket, **good | {"outcome": named, "criteria": criteria})
        assert study.ticket(ticket).outcome == word
        assert study.ticket(ticket).criteria == dict.fromkeys(asking.others, word)
        study.tell(ticket, **good | {"outcome": otherwise, "criteria": criteria})  # the same
        for end, label in sides.items():
            better = next(each for each in asking.words if each.startswith(end))
            study.correct(ticket, better.replace(end, label.casefold()), "typo")
            assert study.ticket(ticket).outcome == better


def test_a_label_that_is_not_one_of_the_pair_is_refused_with_the_sides():
    study = bd.Study(arms=["a", "b", "c"], stop=None)
    ticket = study.ask()
    (other,) = {"a", "b", "c"} - {ticket.left, ticket.right}
    sides = f"left is '{ticket.left}' and right is '{ticket.right}'"
    with pytest.raises(ValueError, match=f"got '{other}': {sides}"):
        study.tell(ticket, other)
    study.add("b", "c", "C")
    assert study.tally()[2, 1] == 1


def test_labels_that_differ_by_case_alone_are_told_apart():
    study = bd.Study(arms=["straße", "STRASSE"], stop=None)
    ticket = study.ask()
    with pytest.raises(ValueError, match="got 'Strasse': left is"):
        study.tell(ticket, "Strasse")
    study.tell(ticket, ticket.right)
    assert study.ticket(ticket).outcome == "right"


@pytest.mark.parametrize(
    "label", ["left", "Right", " tie", "TIE", "cannot  tell", "Tie (bothbad)", "left much better"]
)
def test_no_arm_has_the_name_of_an_answer(label):
    with pytest.raises(ValueError, match="should not have the name of an answer") as refused:
        bd.Study(arms=["tea", label])
    assert repr(label) in str(refused.value)
    study = bd.Study(arms=["tea", "left-handed"], stop=None)
    with pytest.raises(ValueError, match="rename the arm"):
        study.add_arms([label])
    assert study.arms == ("tea", "left-handed")


@pytest.mark.parametrize("word", ["left", "right", "tie"])
def test_in_a_study_that_has_such_an_arm_the_fixed_word_wins(word, monkeypatch):
    monkeypatch.setattr("bayesduel.study.settings.check_labels", lambda arms: None)
    study = bd.Study(arms=["tea", word], stop=None)  # as an earlier version made it
    for _ in range(4):  # on either side
        ticket = study.ask()
        study.tell(ticket, word)
        assert study.ticket(ticket).outcome == word
