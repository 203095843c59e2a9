"""Machine judges: asked in parallel and in both orders, retried, skipped, and resumed."""

import threading

import pytest

import bayesduel as bd

pytestmark = pytest.mark.plain


def study(path=None, **settings):
    return bd.Study(path, arms=list("abcd"), seed=1, **({"stop": bd.study.Budget(20)} | settings))


def first_in_alphabet(ticket):
    return "left" if ticket.left < ticket.right else "right"


def test_a_machine_answers_until_the_study_has_enough():
    made, seen = study(items=list("pqrs")), set()

    def judge(ticket):
        seen.add(threading.current_thread().name)
        return first_in_alphabet(ticket), 0.5

    done = made.run(judge, workers=4)
    assert (done.told, done.skipped, done.cost, done.errors) == (20, 0, 20.0, {})
    assert "has stopped" in done.ended
    assert made.n_duels == 20
    assert {row["judge"] for row in made.audit()} == {"machine"}
    assert (made.tally()[1:, 0] == 0).all()


def test_a_machine_that_prefers_a_side_says_tie():
    made = study()
    made.run(lambda ticket: "left", most=3)
    assert {row["outcome"] for row in made.rows()} == {"tie"}
    one = study()
    one.run(lambda ticket: "left", most=3, both_orders=False)
    assert {row["outcome"] for row in one.rows()} == {"left"}
    margins = study(model="thurstone-score", stop=None)
    margins.run(lambda ticket: 3.0 if ticket.left < ticket.right else 1.0, most=1)
    (row,) = margins.rows()
    assert row["outcome"] == (1.0 if row["left"] < row["right"] else -1.0)


def test_a_ticket_that_is_cancelled_meanwhile_costs_no_other_answer():
    made = study()

    def judge(ticket):
        if ticket.id.endswith("-2"):
            made.cancel(ticket)
        return first_in_alphabet(ticket)

    done = made.run(judge, workers=3, most=3, both_orders=False)
    assert (done.told, made.n_duels) == (2, 2)
    assert all("cancelled" in error for error in done.errors.values())


@pytest.mark.parametrize(("model", "answer"), [("bradley-terry", "left"), ("thurstone-score", 2.0)])
def test_a_machine_that_cannot_tell_in_one_order_cannot_tell(model, answer):
    made = study(model=model)
    made.run(lambda ticket: answer if ticket.left < ticket.right else "cannot tell", most=2)
    assert (made.n_duels, made.status().n_cannot_tell) == (0, 2)


def test_errors_are_tried_again_and_then_skipped():
    calls = []

    async def judge(ticket):
        calls.append(ticket.id)
        if ticket.id.endswith("-2"):
            raise OSError("no answer")
        if calls.count(ticket.id) == 1:
            return "perhaps"  # no outcome
        return first_in_alphabet(ticket)

    made = study()
    done = made.run(judge, retries=1, most=3)
    (failed,) = done.errors
    assert (done.told, done.skipped, done.errors[failed]) == (2, 1, "OSError: no answer")
    assert calls.count(failed) == 2
    assert made.ticket(failed).state == "skipped"


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    made = study(tmp_path / "s")

    def killed(ticket):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run(killed, workers=3)
    left_open = {ticket.id for ticket in made.pending()}
    assert len(left_open) == 3
    again = bd.Study(tmp_path / "s")
    again.run(first_in_alphabet, workers=3, most=3)
    assert {row["id"] for row in again.rows()} == left_open


def test_wrong_options_are_refused():
    for wrong, message in (
        ({"judge": None}, "judge should"),
        ({"judge": first_in_alphabet, "workers": 0}, "workers should"),
        ({"judge": first_in_alphabet, "both_orders": 1}, "both_orders should"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            study().run(**wrong)
