"""Names of judges: one name is one judge, and nothing in it is invisible."""

import pytest

import bayesduel as bd

pytestmark = pytest.mark.plain


def test_two_forms_of_a_name_are_one_judge():
    study = bd.Study(arms=list("abc"), stop=None)
    ticket = study.ask(judge="Jose\u0301  Pérez")
    for same in ("José Pérez", " José\tPérez ", "José\u00a0Pérez", "\uff2aosé Pérez"):
        assert study.ask(judge=same) == ticket
        assert study.pending(same) == [ticket]
    study.tell(ticket, "left", judge=" José Pe\u0301rez")
    assert study.undo("Jose\u0301 Pérez").judge == "José Pérez"
    assert [row["judge"] for row in study.judges()] == ["José Pérez"]
    assert study.ask(judge="josé pérez").id != ticket.id  # upper and lower case differ


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("an\u200bn", "U+200B"), ("ann\ufeff", "U+FEFF"), ("ann\u2060", "U+2060"),
        ("ann\u202e", "U+202E"), ("\u2066ann", "U+2066"), ("ann\u00ad", "U+00AD"),
        ("ann\u034f", "U+034F"), ("ann\ufe0f", "U+FE0F"), ("ann\U000e0041", "U+E0041"),
        ("\u3164", "U+3164"), ("\u2800", "U+2800"), ("ann\x07", "U+0007"),
        ("ann\ue000", "U+E000"),
    ],
)  # fmt: skip
def test_what_is_not_seen_in_a_name_is_refused(name, code):
    study = bd.Study(arms=list("abc"), stop=None)
    ticket = study.ask()
    rule = f"judge should have no invisible character, got U\\+{code[2:]} in "
    for call in (
        lambda: study.ask(judge=name),
        lambda: study.tell(ticket, "left", judge=name),
        lambda: study.skip(ticket, judge=name),
        lambda: study.reissue(ticket, name),
        lambda: study.add("a", "b", "left", judge=name),
        lambda: study.undo(name),
        lambda: study.pending(name),
    ):
        with pytest.raises(ValueError, match=rule) as error:
            call()
        assert str(error.value).isascii()
    with pytest.raises(ValueError, match="by should have no invisible"):
        study.cancel(ticket, by=name)
    assert study.n_duels == 0
