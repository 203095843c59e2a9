"""What judges are asked beside the policy's choice, and what is said of them."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.study.store import OF_JUDGE

pytestmark = pytest.mark.plain

ARMS, ITEMS = tuple("abcd"), ("p", "q", "r")
GOLD = (("a", "b", "left"), ("c", "d", "right"), ("a", "c", "tie"))


def made(path=None, items=None, **settings):
    policy = settings.pop("policy", None)
    return bd.Study(
        path, arms=ARMS, stop=None, items=items, policy=policy, judging=bd.study.Judging(**settings)
    )


def pair(ticket):
    return frozenset((ticket.left, ticket.right)), ticket.item


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", [None, bd.policies.DTS()], ids=str)
@pytest.mark.parametrize("items", [None, ITEMS], ids=["plain", "items"])
def test_gold_questions_are_no_duels_and_say_who_fails(items, policy, tmp_path):
    gold = [(*g, ITEMS[k]) if items else g for k, g in enumerate(GOLD)]
    study = made(tmp_path / "s", items, gold=gold, gold_share=0.5, policy=policy)
    right = {pair_of: g for g in gold for pair_of in [(frozenset(g[:2]), (*g, None)[3])]}
    asked = 0
    for _ in range(14 if items else 6):  # without items there are 6 pairs
        for judge in ("good", "bad"):
            ticket = study.ask(judge=judge)
            known = right.get(pair(ticket))
            answer = "left"
            if known is not None:
                swapped = {"left": "right", "right": "left", "tie": "tie"}[known[2]]
                answer = known[2] if ticket.left == known[0] else swapped
                if judge == "bad":
                    answer = "tie" if answer != "tie" else "left"
            study.tell(ticket, answer, judge=judge)
            asked += 1
    gold_rows = [row for row in study.audit() if row["gold"]]
    by = {row["judge"]: row for row in study.judges()}
    n_gold = {judge: row["gold"] for judge, row in by.items()}
    assert n_gold == {"good": 3, "bad": 3} or (items is None and set(n_gold.values()) <= {1, 2, 3})
    assert (by["good"]["gold_right"], by["good"]["fails"]) == (n_gold["good"], False)
    assert (by["bad"]["gold_right"], by["bad"]["fails"]) == (0, n_gold["bad"] > 1)
    assert len(gold_rows) == sum(n_gold.values())
    again = bd.Study(tmp_path / "s")
    for each in (study, again):
        assert each.n_duels == each.tally().sum() == asked - len(gold_rows) == len(each.rows())
    assert again.judges() == study.judges()


def test_overlap_asks_what_others_answered_and_repeats_swap_the_sides():
    study = made(overlap=1.0)
    for _ in range(3):
        study.tell(study.ask(judge="ann"), "left")  # nobody else has answered yet
    theirs = {pair(study.ticket(row["id"])) for row in study.rows()}
    ours = [study.ask(judge="bob")]
    for _ in range(len(theirs) - 1):
        study.tell(ours[-1], "left")
        ours.append(study.ask(judge="bob"))
    assert {pair(t) for t in ours} == theirs
    study = made(repeats=1.0)
    seen = []
    for _ in range(10):  # six pairs, and four again: the last two are too near
        seen.append(study.ask(judge="ann"))
        study.tell(seen[-1], "left")
    with pytest.raises(bd.study.NoQuestion, match="'ann' has seen every pair"):
        study.ask(judge="ann")
    times = Counter(pair(t) for t in seen)
    assert sorted(times.values()) == [1, 1, 2, 2, 2, 2]
    (row,) = study.judges()
    assert row["repeated"] == 4
    first = next(t for t in seen if times[pair(t)] > 1)
    again = next(t for t in seen[seen.index(first) + 1 :] if pair(t) == pair(first))
    assert (again.left, again.right) == (first.right, first.left)


def test_quotas_costs_corrections_and_agreement_are_counted():
    study = made(quota=2)
    for judge in ("ann", "bob"):
        for _ in range(2):
            study.tell(study.ask(judge=judge), "tie", judge=judge, cost=0.25)
        with pytest.raises(
            bd.study.NoQuestion, match=f"'{judge}' has reached the quota of 2 answers"
        ):
            study.ask(judge=judge)
    assert len(study.ask(5, judge="eve")) == 2
    study.skip(study.pending("eve")[0], cost=1.0)
    study.correct(study.rows()[0]["id"], "left", "typo", by="eve")
    for a, b, outcome, judge in (("a", "b", "left", "x"), ("b", "a", "right", "y")):
        study.add(a, b, outcome, judge=judge)
    by = {row["judge"]: row for row in study.judges()}
    assert (by["ann"]["told"], by["ann"]["cost"], by["ann"]["corrected"]) == (2, 0.5, 1)
    assert (by["eve"]["skipped"], by["eve"]["open"], by["eve"]["cost"]) == (1, 1, 1.0)
    assert by["x"]["agreed"] >= 1
    assert by["x"]["shared"] >= by["x"]["agreed"]
    assert study.status().cost == 2.0
    assert "Answers have cost 2." in str(study.status())
    for cost, message in ((-1.0, "0 or more"), (np.inf, "finite")):
        with pytest.raises(ValueError, match=message):
            study.tell(study.pending("eve")[0], "left", cost=cost)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quota": 0}, "quota should be"),
        ({"overlap": 1.5}, r"overlap should be in \[0, 1\]"),
        ({"overlap": 0.6, "repeats": 0.6}, "should add up to at most 1, got 1.2"),
        ({"gold": [("a", "z", "left")]}, "gold should name two arms of the study"),
        ({"gold": [("a", "b", "first")]}, "gold should have the outcome"),
        ({"gold": [("a", "b", "left", "p")]}, "gold should name two arms"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        made(**settings)


# -- attacks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [None, bd.policies.DTS(), bd.policies.Uniform()], ids=str)
def test_one_judge_decides_nothing_by_answering_the_same_pairs_again(policy):
    """Once she was asked the same pair again and again, and each answer was a duel of its own."""
    study = bd.Study(arms=list("abcdef"), policy=policy, stop=bd.study.WithinRope(0.95, rope=0.05))
    seen = []
    with pytest.raises(bd.study.NoQuestion, match="'ann' has seen every pair"):
        while True:
            for ticket in study.ask(4, judge="ann"):
                seen.append(pair(ticket))
                study.tell(ticket, "left" if ticket.left < ticket.right else "right")
    assert len(seen) == len(set(seen)) == study.n_duels == 15
    assert not study.stopped
    assert study.ask(judge="bob").state == "open"


@pytest.mark.parametrize("policy", [None, bd.policies.DTS()], ids=str)
def test_repeats_of_a_judge_count_as_one_answer(policy, tmp_path):
    path = tmp_path / "s"
    study = bd.Study(
        path, arms=list("abcdef"), policy=policy, stop=None, judging=bd.study.Judging(repeats=0.5)
    )
    watching = bd.Study(path)
    with pytest.raises(bd.study.NoQuestion):
        for _ in range(100):
            ticket = study.ask(judge="ann")
            study.tell(ticket, "left" if ticket.left < ticket.right else "right")
            assert watching.n_duels == study.n_duels
    repeats = [row["ticket"] for row in study.audit() if row["repeat"]]
    (row,) = study.judges()
    assert len(repeats) == row["repeated"] == row["consistent"] == row["told"] - 15
    assert 12 <= len(repeats) <= 15  # half of all that she was asked, but for the last three
    study.correct(repeats[0], "tie", "typo")
    for each in (study, watching, bd.Study(path)):
        assert each.n_duels == each.tally().sum() == each.duels().n_duels == len(each.rows()) == 15
        assert each.status(check=False).n_pending == 0
    (row,) = study.judges()
    assert row["consistent"] == row["repeated"] - 1


def test_no_judge_of_many_at_once_sees_a_question_twice_or_knows_a_gold_one(tmp_path):
    """By its place: one in each ten tickets, never near another one, and never seen before."""
    items = [f"item {k}" for k in range(6)]
    gold = [(a, b, "left", item) for a, b in ("ad", "bc") for item in items[:3]]
    judging = bd.study.Judging(gold=gold, gold_share=0.2, overlap=0.3)
    study = bd.Study(tmp_path / "s", arms=ARMS, items=items, stop=None, judging=judging)
    other = bd.Study(tmp_path / "s")
    seen = {f"judge {k}": [] for k in range(8)}

    def play(judge):
        rng = random.Random(judge)
        for _ in range(12):
            handle = rng.choice((study, other))
            tickets = handle.ask(rng.choice((1, 2, 3)), judge=judge)
            for ticket in tickets:
                if ticket.id not in [t.id for t in seen[judge]]:
                    seen[judge].append(ticket)
                if rng.random() < 0.8:
                    handle.tell(ticket, "left")
                elif rng.random() < 0.5:
                    handle.skip(ticket)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(play, seen))
    known = {row["ticket"] for row in study.audit() if row["gold"]}
    assert len(known) > 8
    for tickets in seen.values():
        assert len({pair(t) for t in tickets}) == len(tickets) > 10
    for judge in seen:
        rows = study.store.rows(OF_JUDGE, judge=judge)
        places = [k for k, row in enumerate(rows) if row.gold is not None]
        assert all(late - early > 3 for early, late in pairwise(places))
        assert len(places) <= len(rows) // 5 + 1


def test_an_expired_ticket_is_given_back_once_all_else_is_seen(monkeypatch):
    study = made()
    lost = study.ask(judge="ann")
    later = time.time() + 3601
    monkeypatch.setattr("bayesduel.study.ledger.time", lambda: later)
    monkeypatch.setattr("bayesduel.study.questions.time", lambda: later)
    monkeypatch.setattr("bayesduel.study.desk.time", lambda: later)
    rest = study.ask(9, judge="ann")
    assert len({pair(ticket) for ticket in (lost, *rest)}) == 6 == len(rest) + 1
    for ticket in rest:
        study.tell(ticket, "tie")
    assert study.ask(judge="ann").id == lost.id
    study.tell(lost, "left")
    with pytest.raises(bd.study.NoQuestion):
        study.ask(judge="ann")


def test_a_ticket_is_not_given_to_a_judge_who_has_seen_its_pair():
    study = made()
    first = study.ask(judge="ann")
    study.tell(first, "left")
    ticket = study.add(first.left, first.right, "left", judge="eve")
    study.undo("eve")
    with pytest.raises(ValueError, match="'ann' has already seen the pair of ticket"):
        study.reissue(ticket, "ann")
    assert study.reissue(ticket, "bob").judge == "bob"
