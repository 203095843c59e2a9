"""Tickets: given back, withdrawn, taken back, given again, and never counted twice."""

import pytest

import bayesduel as bd
from bayesduel.data.health import DisconnectedWarning
from bayesduel.models import BradleyTerry, Sources
from bayesduel.study.questions import NoQuestion
from bayesduel.study.store import StudyError
from bayesduel.study.study import studies

pytestmark = pytest.mark.plain

SOURCES = {
    "model": BradleyTerry(Sources("source", target="people")),
    "sources": {"people": 1.0, "machine": 0.01},
}


def made(path=None, **settings):
    return bd.Study(path, **({"arms": list("abc"), "stop": None, "seed": 1} | settings))


def test_a_judge_who_asks_again_gets_his_open_ticket():
    study = made()
    first = study.ask(judge="ann")
    assert study.ask(judge="ann") == first
    assert study.ask(judge="bob").id != first.id
    assert study.ask(2, judge="ann")[0] == first
    study.tell(first, "left", judge="ann")
    assert study.ask(judge="ann").id != first.id
    with pytest.raises(KeyError, match="should belong to 'bob'"):
        study.tell(first, "left", judge="bob")


def test_a_ticket_asked_for_nobody_is_of_the_judge_who_tells():
    study = made()
    ticket = study.ask()
    study.tell(ticket, "left", judge="ann")
    assert study.ticket(ticket.id).judge == "ann"
    assert study.undo("ann").id == ticket.id


def test_a_skipped_pair_is_not_asked_of_that_judge_again(tmp_path):
    study = made(tmp_path / "s")
    skipped = []
    for _ in range(3):
        ticket = study.ask(judge="ann")
        skipped.append(frozenset((ticket.left, ticket.right)))
        study.skip(ticket)
        study.skip(ticket)  # again: nothing happens
    assert len(set(skipped)) == 3
    with pytest.raises(NoQuestion, match="'ann' has seen every pair"):
        study.ask(judge="ann")
    assert study.ask(judge="bob").state == "open"
    assert study.ticket(ticket).state == "skipped"
    study.tell(ticket, "left")  # on second thoughts
    assert study.n_duels == 1
    with pytest.raises(ValueError, match=r"no outcome before it is skipped, but it is told"):
        study.skip(ticket)
    assert [row["event"] for row in study.audit()] == ["skipped"] * 3 + ["told"]


def test_cannot_tell_is_an_answer_and_no_duel(tmp_path):
    study = made(tmp_path / "s")
    ticket = study.ask(judge="ann")
    study.tell(ticket, "cannot tell")
    study.tell(ticket, "cannot tell")
    with pytest.raises(ValueError, match="should be 'cannot tell', as you told before, got 'left'"):
        study.tell(ticket, "left")
    other = study.ask(judge="ann")
    study.tell(other, "left")
    for each in (study, bd.Study(tmp_path / "s")):
        status = each.status()
        assert (status.n_duels, status.n_cannot_tell, status.n_pending) == (1, 1, 0)
        assert each.tally().sum() == 1
        assert each.duels().n_duels == 1
    study.correct(ticket, "right", "looked again", by="eve")
    study.correct(other, "cannot tell", "blurred", by="eve")
    assert (study.n_duels, study.tally().sum()) == (1, 1)
    assert [row["by"] for row in study.audit()] == ["ann", "ann", "eve", "eve"]
    margins = made(model="thurstone-score")
    margins.tell(margins.ask(), "cannot tell")
    assert margins.n_duels == 0


def test_a_cancelled_ticket_is_told_after_it_is_reissued():
    study = made()
    ticket = study.ask(judge="ann")
    study.cancel(ticket, by="eve")
    assert study.pending() == []
    with pytest.raises(ValueError, match=r"-1 should be open, but it is cancelled"):
        study.tell(ticket, "left")
    again = study.reissue(ticket, "bob")
    assert (again.id, again.judge, again.state) == (ticket.id, "bob", "open")
    with pytest.raises(KeyError, match="should belong to 'ann'"):
        study.tell(ticket, "left", judge="ann")
    study.tell(again, "left", judge="bob")
    for refused in (study.cancel, study.reissue):
        with pytest.raises(ValueError, match="should have no outcome before it is"):
            refused(again)


def test_expired_tickets_reserve_nothing_and_can_be_reissued(monkeypatch):
    study = made(stop=bd.study.Budget(2), expires=60)
    old = study.ask(2, judge="ann")
    with pytest.raises(NoQuestion, match="Open tickets reserve the rest of the budget"):
        study.ask(judge="bob")
    import bayesduel.study.ledger

    later = bayesduel.study.ledger.time() + 61
    monkeypatch.setattr("bayesduel.study.ledger.time", lambda: later)
    assert [t.id for t in study.expired()] == [t.id for t in old]
    assert study.ticket(old[0]).state == "expired"
    monkeypatch.setattr("bayesduel.study.desk.time", lambda: later)
    assert study.reissue(old[1]).state == "open"
    assert [t.id for t in study.pending()] == [old[1].id]
    assert study.status().n_pending == 1


def test_a_budget_counts_what_is_asked_for():
    study = made(stop=bd.study.Budget(3))
    assert len(study.ask(10)) == 3
    with pytest.raises(NoQuestion):
        study.ask()
    both = bd.study.WithinRope(0.999, rope=0.01) & bd.study.Budget(3)
    assert len(made(stop=both).ask(10)) == 10  # a budget that another rule waits for
    assert len(made(stop=bd.study.Budget(5) | bd.study.Budget(3)).ask(10)) == 3


def test_undo_opens_the_last_answer_again(tmp_path):
    study = made(tmp_path / "s")
    first = study.ask(judge="ann")
    study.tell(first, "left")
    study.tell(study.ask(judge="bob"), "right")
    second = study.ask(judge="ann")  # the page shows the next one already
    undone = study.undo("ann")
    assert (undone.id, undone.state, undone.outcome) == (first.id, "open", None)
    assert (study.n_duels, bd.Study(tmp_path / "s").n_duels) == (1, 1)
    assert study.ask(judge="ann").id == first.id
    study.tell(undone, "right")
    assert (study.n_duels, study.tally().sum()) == (2, 2)
    assert study.ask(judge="ann").id == second.id
    study.correct(first, "left", "typo", by="eve")
    with pytest.raises(
        ValueError,
        match=r"judge 'ann' cannot take back the answer .* because 'eve' has corrected it",
    ):
        study.undo("ann")
    with pytest.raises(ValueError, match="judge 'zoe' has no answer that can be taken back"):
        study.undo("zoe")
    trail = [(row["event"], row["outcome"]) for row in study.audit()]
    assert trail[2:4] == [("withdrawn", None), ("told", "right")]


@pytest.mark.parametrize("policy", [None, bd.policies.DTS(), bd.policies.RUCB()], ids=str)
def test_handles_agree_after_every_kind_of_event(policy, tmp_path):
    """A handle that followed all, and one that is opened at the end, hold and ask the same."""
    study = made(tmp_path / "s", policy=policy)
    watching = bd.Study(tmp_path / "s")
    tickets = [study.ask(judge=f"j{k}") for k in range(6)]
    for ticket in tickets[:4]:
        study.tell(ticket, "left")
    watching.tally()
    study.skip(tickets[4])
    study.correct(tickets[0], "right", "typo")
    study.undo("j1")
    study.add("a", "b", "tie", judge="ann")
    opened = bd.Study(tmp_path / "s")
    expected = study.tally()
    for each in (watching, opened):
        assert (each.tally() == expected).all()
        assert each.n_duels == 4
    if policy is not None:
        other = [bd.Study(tmp_path / "s")._ledger.choose(1, study._ledger.rng(9, 9)) for _ in "12"]
        assert other[0] == other[1]


@pytest.mark.parametrize("policy", [None, bd.policies.DTS(), bd.policies.Uniform()], ids=str)
def test_what_is_done_together_is_stored_as_a_whole_or_not_at_all(policy, tmp_path):
    study, other = made(tmp_path / "s", policy=policy), bd.Study(tmp_path / "s")
    first = study.ask()
    with pytest.raises(ZeroDivisionError), study.together():
        study.tell(first, "left")
        study.ask()
        assert study.n_duels == 1
        _ = 1 / 0
    assert (study.n_duels, study.tally().sum(), len(study.pending())) == (0, 0, 1)
    other.tell(first, "right")
    assert (study.tally() == other.tally()).all()
    assert study.ask().id == bd.Study(tmp_path / "s").pending()[0].id


@pytest.mark.parametrize("policy", [None, bd.policies.Uniform(), bd.policies.DTS()], ids=str)
def test_a_judge_sees_every_pair_before_there_is_no_question(policy):
    study = made(items=["p"], policy=policy, stop=None)
    pairs = [study.ask(judge="ann") for _ in range(1)]
    for _ in range(2):
        study.tell(pairs[-1], "tie")
        pairs.append(study.ask(judge="ann"))
    assert {frozenset((t.left, t.right)) for t in pairs} == {
        frozenset(pair) for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    }
    study.tell(pairs[-1], "left")
    with pytest.raises(NoQuestion, match="'ann' has seen every pair"):
        study.ask(judge="ann")


def test_duels_that_nobody_asked_for():
    study = made()
    ticket = study.add("a", "b", "left", judge="ann")
    assert (ticket.state, ticket.outcome, ticket.judge) == ("told", "left", "ann")
    assert study.tally()[0, 1] == 1
    for wrong, message in (
        (("a", "a", "left"), "two different arms"),
        (("a", "x", "left"), "right should be an arm of the study"),
        (("a", "b", "won"), "outcome should be"),
    ):
        with pytest.raises((KeyError, ValueError), match=message):
            study.add(*wrong)
    with pytest.raises(ValueError, match="item should be None"):
        study.add("a", "b", "left", item="q")


def test_retired_arms_are_restored_with_their_duels():
    study = made()
    study.add("a", "b", "left")
    study.retire_arms(["b"])
    assert {study.ask().left, study.ask().right} <= set("ac")
    study.restore_arms(["b"])
    assert "b" in study.status().ranking
    held = study.ask(judge="ann")
    study.retire_arms([held.left])
    assert held.left not in (ann := study.ask(judge="ann")).to_dict().values()
    study.restore_arms([held.left])
    assert study.ask(2, judge="ann") == [held, ann]
    assert study.tally()[0, 1] == 1
    with pytest.raises(ValueError, match="only retired arms can be restored, got 'a'"):
        study.restore_arms(["a"])


@pytest.mark.parametrize("sources", [False, True])
def test_open_tickets_of_a_retired_arm_expire(sources, tmp_path):
    """They take nothing off the budget, wait for nobody, and are told all the same."""
    study = made(tmp_path / "s", stop=bd.study.Budget(3), **(SOURCES if sources else {}))
    held = study.ask(3, judge="ann")
    gone = [t for t in held if "c" in (t.left, t.right)]
    assert gone and len(gone) < 3
    study.retire_arms(["c"])
    for one in (study, bd.Study(tmp_path / "s")):
        assert {t.id for t in one.pending()} == {t.id for t in held} - {t.id for t in gone}
        assert [t.id for t in one.expired()] == [t.id for t in gone]
        assert {one.ticket(t).state for t in gone} == {"expired"}
        assert one.status(check=False).n_pending == 3 - len(gone)
        assert one.pending("ann") == one.pending()
    again = [study.ask(judge=f"judge {k}") for k, _ in enumerate(gone)]  # what the budget has left
    assert not any("c" in (t.left, t.right) for t in again)
    with pytest.raises(NoQuestion, match="Open tickets reserve the rest of the budget"):
        study.ask(judge="zoe")
    study.tell(gone[0], "left")
    assert study.n_duels == 1 and study.ticket(gone[0]).state == "told"
    study.restore_arms(["c"])
    assert {t.id for t in study.pending()} >= {t.id for t in gone[1:]}


@pytest.mark.parametrize("end", ["time", "retired"])
def test_expired_tickets_take_nothing_off_a_quota(end, monkeypatch):
    import bayesduel.study.ledger

    study = made(judging=bd.study.Judging(quota=1), expires=60)
    held = study.ask(judge="ann")
    if end == "time":
        later = bayesduel.study.ledger.time() + 61
        monkeypatch.setattr("bayesduel.study.ledger.time", lambda: later)
    else:
        study.retire_arms([held.left])
    assert study.ask(judge="ann").id != held.id


def test_no_more_arms_than_the_goal_leaves_out_are_retired():
    study = made(goal=bd.study.TopK(2))
    study.add("a", "b", "left")
    with pytest.raises(ValueError, match="k should be below the number of arms, 2, got 2"):
        study.retire_arms(["c"])
    assert set(study.status().ranking) == set("abc")


def test_duels_of_retired_arms_are_paid_from_the_budget():
    study = made(stop=bd.study.WithinRope(0.99) | bd.study.Budget(5))
    for _ in range(4):
        study.tell(study.ask(), "left")
    study.retire_arms([study.rows()[0]["left"]])
    study.tell(study.ask(), "left")
    assert study.stopped
    assert "5 duels (stops at 5)" in study.status(check=False).reason


def test_arms_that_leave_no_allowed_pair_are_not_retired():
    study = made(pairs=[("a", "b"), ("b", "c")])
    with pytest.raises(ValueError, match=r"every allowed pair has a retired arm \('b'\)"):
        study.retire_arms(["b"])
    assert study.retired == ()


def test_arms_that_the_allowed_pairs_do_not_connect_are_warned_of():
    allowed = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c")]
    with pytest.warns(DisconnectedWarning, match="do not connect 'a' with 'd'"):
        made(arms=list("abcd"), pairs=allowed).retire_arms(["c"])
    study = made(arms=list("abcd"), pairs=allowed)
    study.retire_arms(["b"])  # nothing is said: a and d meet by c
    with pytest.warns(DisconnectedWarning, match="do not connect 'a' with 'e'"):
        study.add_arms(["e"])


def test_the_audit_trail_says_who_changed_the_arms():
    study = made()
    study.retire_arms(["a"], by="eve")
    study.restore_arms(["a"], by="ann")
    study.add_arms(["e"], by="eve")
    study.add_arms(["f"])
    told = [(event["reason"], event["by"]) for event in study.audit()]
    assert told == [
        *(("retired: a", "eve"), ("restored: a", "ann"), ("added: e", "eve"), ("added: f", None)),
    ]
    with pytest.raises(ValueError, match="by should be a name, got ''"):
        study.add_arms(["g"], by="")


def test_no_arm_added_is_no_change():
    study = made()
    study.add_arms([])
    assert study.audit() == []


def test_open_handles_see_the_arms_of_others(tmp_path):
    study = made(tmp_path / "s")
    other = bd.Study(tmp_path / "s")
    other.ask()
    study.retire_arms(["a"])
    study.add_arms(["d"])
    for _ in range(6):
        ticket = other.ask()
        assert "a" not in (ticket.left, ticket.right)
        other.tell(ticket, "left")
    assert other.arms == tuple("abcd")
    study.add("d", "b", "left")
    assert other.tally()[3, 1] >= 1
    with pytest.raises(ValueError, match=r"arms should have different names .* got 'd' twice"):
        other.add_arms(["d"])


def test_a_session_takes_no_arm_beyond_its_arrays():
    session = made()._ledger.parts.session
    for pair in ((0, 3), (-1, 2)):
        with pytest.raises(ValueError, match="arms should be 0 to 2"):
            session.record(*pair, 1.0)


def test_several_studies_share_a_database(tmp_path):
    path = tmp_path / "s"
    taste, look = made(path, name="taste"), made(path, arms=["x", "y"], name="look")
    ticket = taste.ask()
    taste.tell(ticket, "left")
    look.tell(look.ask(), "right")
    assert studies(path) == ("taste", "look")
    assert bd.Study(path, name="look").arms == ("x", "y")
    assert taste.n_duels == look.n_duels == 1
    with pytest.raises(StudyError, match="name should be one of taste, look"):
        bd.Study(path)
    with pytest.raises(StudyError, match="holds no study 'none'"):
        bd.Study(path, name="none")
    with pytest.raises(StudyError, match="holds a study 'look'"):
        made(path, name="look")
    with pytest.raises(KeyError, match="one of this study"):
        look.tell(ticket, "left")
    assert path.exists()
    with pytest.raises(StudyError, match="holds no study"):
        studies(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_judge_sees_a_pair_on_an_item_once_and_items_are_used_evenly():
    study = made(items=["p", "q"])
    seen = set()
    with pytest.raises(NoQuestion):
        while True:
            ticket = study.ask(judge="ann")
            seen.add((frozenset((ticket.left, ticket.right)), ticket.item))
            study.tell(ticket, "left")
    assert len(seen) == study.n_duels == 6
    batch = study.ask(9, judge="bob")
    assert len({(frozenset((t.left, t.right)), t.item) for t in batch}) == len(batch)
    many = made(items=list("pqr")).ask(30)
    used = [sum(t.item == item for t in many) for item in "pqr"]
    assert max(used) - min(used) <= 3
    study.add("a", "b", "left", item="p")
    with pytest.raises(ValueError, match="item should be one of the study, got 'x'"):
        study.add("a", "b", "left", item="x")
    for wrong in ([], ["p", "p"], [" "], "pq"):
        with pytest.raises((ValueError, TypeError), match="items should"):
            made(items=wrong)
