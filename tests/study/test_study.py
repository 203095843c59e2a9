"""Studies: what is told is kept, asked again after a stop, and refused where it is wrong."""

import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import event

import bayesduel as bd
from bayesduel import policies
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.simulation.replication import label
from bayesduel.study.outcomes import export_rows
from bayesduel.study.planning import usual_duels
from bayesduel.study.status import sparkline
from bayesduel.study.store import StudyError
from bayesduel.study.study import StudyStopped
from bayesduel.study.tickets import Ticket
from bayesduel.text import percent

pytestmark = pytest.mark.plain

SCORES = dict(zip("abcde", (0.0, 0.4, 0.8, 1.6, -0.5), strict=True))
KINDS = [getattr(policies, name) for name in policies.__all__]
OF_PAIRS = [kind().for_horizon(150) for kind in KINDS if kind.setting == "pairs"]
WITH_MEMORY = [p for p in OF_PAIRS if not isinstance(p, ScoreRule)]


def judged(ticket, coins):
    p = 1 / (1 + np.exp(SCORES[ticket.right] - SCORES[ticket.left]))
    return "left" if coins.random() < p else "right"


def play(study, n, seed=1):
    coins = np.random.default_rng(seed)
    for _ in range(n):
        ticket = study.ask()
        study.tell(ticket, judged(ticket, coins))
    return study


def test_a_study_stops_with_the_best_arm_and_says_so():
    study = bd.Study(arms=list(SCORES), stop=bd.study.WithinRope(0.95, rope=0.1), seed=3)
    coins = np.random.default_rng(5)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, judged(ticket, coins))
    status = study.status(check=False)
    assert status.stopped
    assert status.decided
    assert status.answer == ("d",)
    assert status.verdict.startswith("Decided: ")
    assert set(status.ranking) == set(SCORES)
    assert status.to_dict()["answer"] == ["d"]
    assert study.n_duels == study.duels().n_duels
    with pytest.raises(StudyStopped, match="has stopped"):
        study.ask()


def test_little_regret_never_stops_and_uses_thompson_sampling():
    study = play(bd.Study(arms=list(SCORES), goal="minimize-regret"), 30)
    assert isinstance(study.policy, bd.policies.DTS)
    assert not study.stopped
    study = bd.Study(arms=list(SCORES), goal="minimize-regret", stop=bd.study.Budget(5))
    assert len(study.ask(9)) == 5  # a rule that is named is kept
    assert study.stop == bd.study.Budget(5)


def test_a_file_is_reopened_where_it_was_left(tmp_path):
    path = tmp_path / "taste.study"
    with bd.Study(
        path, arms=list(SCORES), goal=bd.study.TopK(2), stop=[0.99, bd.study.Budget(50)]
    ) as study:
        play(study, 12)
        waiting = study.ask(judge="ann")
        before = study.status()
    again = bd.Study(path)
    assert again.goal == bd.study.TopK(2)
    assert again.stop == bd.study.WithinRope(0.99) | bd.study.Budget(50)
    assert again.status() == before
    assert again.pending() == [waiting]
    again.tell(waiting.id, "tie")
    assert again.duels().n_ties == 1


@pytest.mark.parametrize("policy", WITH_MEMORY, ids=label)
@pytest.mark.sampled(5, "SelfSparring")
def test_reopening_changes_no_choice(policy, tmp_path):
    """The memory of every policy is brought back by repeating its choices."""
    arguments = {"arms": list("abcd"), "policy": policy, "stop": None, "seed": 4}
    SCORES_OF = {"a": 0, "b": 1, "c": 2, "d": 3}
    whole = bd.Study(tmp_path / "whole", **arguments)
    parts = bd.Study(tmp_path / "parts", **arguments)
    for n in range(25):
        if n % 10 == 9:
            parts.close()
            parts = bd.Study(tmp_path / "parts")
        try:
            one = whole.ask()
        except StudyStopped:
            with pytest.raises(StudyStopped):
                parts.ask()
            break
        other = parts.ask()
        assert (one.left, one.right) == (other.left, other.right)
        outcome = "left" if SCORES_OF[one.left] >= SCORES_OF[one.right] else "right"
        whole.tell(one, outcome)
        parts.tell(other, outcome)


def test_a_followed_posterior_is_the_same_after_reopening(tmp_path):
    with bd.Study(tmp_path / "s", arms=list(SCORES), stop=None) as study:
        before = play(study, 60).status()
    after = bd.Study(tmp_path / "s").status()
    assert after.ranking == before.ranking
    assert after.probability == pytest.approx(before.probability, abs=0.1)  # 500 draws each


def test_two_openings_of_one_file_see_each_other(tmp_path):
    first = bd.Study(tmp_path / "s", arms=list("abc"), policy=bd.policies.RUCB(), stop=None)
    second = bd.Study(tmp_path / "s")
    tickets = [first.ask(), second.ask(), first.ask()]
    assert len({t.id for t in tickets}) == 3
    second.tell(tickets[0].id, "left")
    first.tell(tickets[1].id, "right")
    assert first.n_duels == second.n_duels == 2
    assert first.pending() == second.pending() == [tickets[2]]


def test_a_ticket_is_told_once(tmp_path):
    study = bd.Study(tmp_path / "s", arms=list("abc"))
    ticket = study.ask()
    study.tell(ticket, "left")
    study.tell(ticket.id, "left")
    assert study.n_duels == 1
    with pytest.raises(ValueError, match="as you told before, got 'right'"):
        study.tell(ticket, "right")


def test_corrections_stay_in_the_audit_trail(tmp_path):
    study = bd.Study(tmp_path / "s", arms=list("abc"))
    ticket = study.ask()
    with pytest.raises(ValueError, match="should have an outcome to correct"):
        study.correct(ticket, "right", "typo")
    study.tell(ticket, "left")
    study.tell(study.ask(), "left")
    study.correct(ticket, "right", "typo")
    assert study.duels().tally().wins.sum() == 2
    index = {a: i for i, a in enumerate(study.duels().arms)}
    assert study.duels().tally().wins[index[ticket.right], index[ticket.left]] >= 1
    trail = study.audit()
    assert [row["outcome"] for row in trail] == ["left", "left", "right"]
    assert trail[-1]["correction"]
    assert trail[-1]["reason"] == "typo"
    again = bd.Study(tmp_path / "s")
    np.testing.assert_array_equal(again.tally(), study.tally())
    with pytest.raises(ValueError, match="reason should"):
        study.correct(ticket, "left", " ")


def test_batches_do_not_repeat_a_question_and_sides_are_balanced():
    study = bd.Study(arms=list(SCORES), stop=None, seed=2)
    tickets = study.ask(4)
    assert len({frozenset((t.left, t.right)) for t in tickets}) >= 3
    assert len(study.pending()) == 4
    left = np.zeros(2)
    two = bd.Study(arms=["x", "y"], stop=None)
    for _ in range(21):
        ticket = two.ask()
        left["xy".index(ticket.left)] += 1
        two.tell(ticket, "tie")
    assert abs(left[0] - left[1]) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("items", [None, ["p", "q"]], ids=["no-items", "items"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda study: study.ask(30),
        lambda study: [ticket for _ in range(30) for ticket in study.ask(1)],
        lambda study: [ticket for k in range(10) for ticket in study.ask(3, judge=f"judge {k}")],
        lambda study: [ticket for _ in range(15) for ticket in told_and_asked(study)],
    ],
    ids=["at-once", "one-by-one", "judges", "told-between"],
)
def test_sides_are_balanced_among_tickets_that_wait(ask, items):
    """Who asks for many at once, or has many judges at once, shows each arm left half the time."""
    study = bd.Study(arms=["x", "y", "z"], items=items, stop=None, seed=4)
    shown = Counter((ticket.left, ticket.right) for ticket in ask(study))
    assert sum(shown.values()) == 30
    for (left, right), n in shown.items():
        assert abs(n - shown[right, left]) <= 1


def told_and_asked(study):
    """Return two tickets, one of them told."""
    first, second = study.ask(2)
    study.tell(first, "left")
    return first, second


def test_late_tickets_return_to_the_pool():
    study = bd.Study(arms=["x", "y", "z"], stop=None, expires=1e-9, seed=1)
    first = study.ask()
    second = study.ask()
    study.tell(first, "left")  # late, and still accepted
    assert study.n_duels == 1
    assert [t.id for t in study.expired()] == [second.id]
    assert study.pending() == []


def test_pairs_costs_and_retired_arms():
    allowed = [("a", "b"), ("b", "c"), ("c", "d")]
    study = bd.Study(arms=list("abcd"), pairs=allowed, stop=None)
    for _ in range(10):
        ticket = study.ask()
        assert tuple(sorted((ticket.left, ticket.right))) in allowed
        study.tell(ticket, "left")
    dear = {(x, y): 1e6 for x, y in allowed[:2]}
    study = bd.Study(arms=list("abcd"), pairs=allowed, costs=dear, stop=None)
    ticket = study.ask()
    assert {ticket.left, ticket.right} == {"c", "d"}
    study = play(bd.Study(arms=list(SCORES), stop=None), 10)
    study.retire_arms(["d"])
    study.add_arms(["f"])
    for _ in range(8):
        ticket = study.ask()
        assert "d" not in (ticket.left, ticket.right)
        study.tell(ticket, "right")
    assert "d" not in study.status().ranking
    assert "f" in study.status().ranking
    with pytest.warns(bd.health.__globals__["DisconnectedWarning"], match="do not connect"):
        bd.Study(arms=list("abcd"), pairs=allowed[:2])


def test_a_log_that_exists_starts_the_study():
    study = bd.Study(arms=["a", "b", "c"], stop=None)
    duels = bd.Duels.from_votes(["a", "b"], ["b", "a"], [1, 0.5], judge=["ann", "bob"])
    study.import_duels(duels)
    study.import_duels(bd.Duels.from_wins([[0, 3], [1, 0]], ["b", "c"]))
    assert study.n_duels == 6
    with pytest.raises(ValueError, match="arm 'x' of the log is not in the study"):
        study.import_duels(bd.Duels.from_wins([[0, 3], [1, 0]], ["b", "x"]))


@pytest.mark.parametrize(
    ("outcome", "columns", "model", "message"),
    [
        ([0.7, 0.2], {}, "davidson", "each duel of a study counts as one vote, got soft votes"),
        ([1, 0], {"sampling_weight": [1, 2]}, "davidson", "or sampling weights"),
        ([1, 0], {}, "thurstone-score", "should have margins"),
    ],
)
def test_a_log_that_a_study_cannot_hold_is_not_imported(outcome, columns, model, message):
    study = bd.Study(arms=["a", "b"], model=model, stop=None)
    with pytest.raises(ValueError, match=message):
        study.import_duels(bd.Duels.from_votes(["a", "b"], ["b", "a"], outcome, **columns))
    assert study.n_duels == 0


def test_margins_of_a_log_are_outcomes_under_a_model_of_who_wins():
    study = bd.Study(arms=["a", "b"], stop=None)
    study.import_duels(bd.Duels.from_votes(["a", "b"], ["b", "a"], [1, 0], margin=[2.0, -1.0]))
    study.tell(study.ask(), "tie")
    assert [row["outcome"] for row in export_rows(study.rows())] == ["left", "right", "tie"]
    mixed = [{**row, "outcome": o} for row, o in zip(study.rows(), (2.0, -1.0, "tie"), strict=True)]
    assert export_rows(mixed) == export_rows(study.rows())  # as earlier versions stored it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a new study needs arms"),
        ({"arms": ["a"]}, "a study needs at least two arms"),
        ({"arms": "ab"}, "list of labels"),
        ({"arms": ["a ", "a"]}, "have different names"),
        ({"arms": ["a", "a"]}, "does not count\\), got 'a' twice"),
        ({"arms": ["a", ""]}, "not empty"),
        ({"arms": ["a", "b"], "goal": bd.study.TopK(2)}, "k should be below"),
        ({"arms": ["a", "b"], "goal": "best"}, "goal should be"),
        (
            {"arms": ["a", "b"], "policy": bd.policies.TwoPhase()},
            "policy should be 'auto' or a policy of pairs",
        ),
        ({"arms": ["a", "b"], "stop": "soon"}, "stop should be"),
        ({"arms": ["a", "b"], "stop": 1.5}, "stop should be a probability in"),
        ({"arms": ["a", "b"], "seed": -1}, "seed should be"),
        ({"arms": ["a", "b"], "expires": 0}, "expires should be positive"),
        ({"arms": ["a", "b"], "pairs": []}, "at least one pair"),
        ({"arms": ["a", "b"], "pairs": [("a", "x")]}, "arms of the study, got 'x'"),
        ({"arms": ["a", "b"], "costs": {("a", "b"): 0}}, "positive and finite"),
        (
            {"arms": ["a", "b"], "policy": bd.policies.DTS(), "pairs": [("a", "b")]},
            "able to leave pairs out",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bd.Study(**arguments)


def test_whole_numbers_of_numpy_are_whole_numbers():
    study = bd.Study(arms=["a", "b", "c"], goal=bd.study.TopK(np.int64(2)))
    assert repr(study.goal) == "TopK(k=2)"
    assert len(study.ask(np.int64(2))) == 2
    with pytest.raises(TypeError, match="k should be a whole number >= 1, got None"):
        bd.study.TopK(None)


def test_wrong_calls_are_refused(tmp_path):
    study = bd.Study(tmp_path / "s", arms=["a", "b", "c"])
    with pytest.raises(ValueError, match="the study has no outcomes yet"):
        study.duels()
    ticket = study.ask()
    for outcome in ("leftish", 1, None, float("nan")):
        with pytest.raises(ValueError, match="'left', 'right' or 'tie'"):
            study.tell(ticket, outcome)
    with pytest.raises(KeyError, match="one of this study"):
        study.tell(Ticket("zz-1", "a", "b"), "left")
    with pytest.raises(KeyError, match="was not asked for yet"):
        study.tell(ticket.id[:-1] + "99", "left")
    with pytest.raises(ValueError, match="n should be"):
        study.ask(0)
    with pytest.raises(ValueError, match="judge should be"):
        study.ask(judge=" ")
    with pytest.raises(StudyError, match="holds a study"):
        bd.Study(tmp_path / "s", arms=["a", "b"])
    assert study.pending() == [ticket]


def test_files_that_are_no_study_are_refused(tmp_path):
    (tmp_path / "text").write_text("left,right\n" * 100)
    with pytest.raises(StudyError, match="is not a study"):
        bd.Study(tmp_path / "text", arms=["a", "b"])
    with pytest.raises(StudyError, match=r"because the folder .* does not exist"):
        bd.Study(tmp_path / "none" / "s", arms=["a", "b"])
    with pytest.raises(StudyError, match="should be a file, but it is a folder"):
        bd.Study(tmp_path, arms=["a", "b"])
    study = bd.Study(tmp_path / "newer", arms=["a", "b"])
    study.store.set(format=99)
    study.close()
    with pytest.raises(StudyError, match="newer version"):
        bd.Study(tmp_path / "newer")
    (tmp_path / "gone-wal").write_bytes(b"what a deleted study left")
    with pytest.raises(
        StudyError, match=r"gone is missing, but .*gone-wal is still there. Restore"
    ):
        bd.Study(tmp_path / "gone", arms=["a", "b"])
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("create table t (x)")
    with pytest.raises(StudyError, match="without a study"):
        bd.Study(tmp_path / "other", arms=["a", "b"])


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    study = bd.Study(tmp_path / "s", arms=["a", "b"], stop=None)
    first = study.ask()
    study.tell(first, "left")

    def full(connection, _):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(study.store.engine, "connect", full)
    study.store.engine.dispose()
    with pytest.raises(StudyError, match="the disk is full"):
        for _ in range(500):
            study.ask()
    waiting = len(study.pending())
    event.remove(study.store.engine, "connect", full)
    study.store.engine.dispose()
    study.tell(study.ask(), "right")
    assert study.n_duels == 2
    assert len(study.pending()) == waiting


def test_a_sparkline_goes_from_low_to_high():
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"


@pytest.mark.parametrize("rule", [bd.study.WithinRope(0.6), bd.study.Budget(3)])
def test_required_pairs_are_asked_before_the_study_stops(rule, tmp_path):
    path = tmp_path / "s"
    required = {("a", "b"): 5, ("c", "a"): 2}
    with bd.Study(path, arms=["a", "b", "c"], required=required, stop=rule, seed=1) as study:
        first = study.ask(7)
        assert sorted("".join(sorted((t.left, t.right))) for t in first) == ["ab"] * 5 + ["ac"] * 2
        for ticket in first[:6]:
            study.tell(ticket, "left" if ticket.left == "a" else "right")
        assert not study.stopped
        assert "required pairs still need 1 duel" in study.status().reason
    again = bd.Study(path)
    again.tell(first[6], "left" if first[6].left == "a" else "right")
    assert again.stopped
    for wrong in ({("a", "b"): 0}, {("a", "x"): 1}, {("a", "b"): 1.5}):
        with pytest.raises(ValueError, match="required should"):
            bd.Study(arms=["a", "b", "c"], required=wrong)
    with pytest.raises(ValueError, match="required should name allowed pairs"):
        bd.Study(arms=list("abc"), pairs=[("a", "b"), ("b", "c")], required={("a", "c"): 1})
    with pytest.raises(ValueError, match="required needs a posterior-driven"):
        bd.Study(arms=["a", "b"], policy=bd.policies.DTS(), required={("a", "b"): 1})


def test_uniform_leaves_forbidden_pairs_out():
    allowed = [("a", "b"), ("b", "c"), ("c", "d")]
    study = bd.Study(arms=list("abcd"), policy=bd.policies.Uniform(), pairs=allowed, stop=None)
    asked = []
    for _ in range(6):
        asked.append(study.ask())
        study.tell(asked[-1], "tie")
    assert sorted(tuple(sorted((t.left, t.right))) for t in asked) == sorted(allowed * 2)
    with pytest.raises(ValueError, match="costs should be the same for all pairs"):
        bd.Study(arms=list("abc"), policy=bd.policies.Uniform(), costs={("a", "b"): 2})


@pytest.mark.parametrize(
    "goal", [bd.study.FindBest(), bd.study.TopK(2), bd.study.FullRanking()], ids=repr
)
def test_arms_that_are_equal_end_a_study_as_a_tied_group(goal):
    """b and c are exactly equal, and next to the border of every goal or next to each other."""
    arms = {bd.study.FindBest(): "bca", bd.study.TopK(2): "abc", bd.study.FullRanking(): "abc"}[
        goal
    ]
    score = {"a": {"bca": -2.0, "abc": 2.0}[arms], "b": 0.0, "c": 0.0}
    duels = [(x, y) for x in "abc" for y in "abc" if x < y]
    study = bd.Study(arms=list("abc"), goal=goal, stop=bd.study.WithinRope(0.95, rope=0.05), seed=1)
    left, right, won = [], [], []
    for x, y in duels:
        for k in range(600):
            left.append(x)
            right.append(y)
            won.append(k % 600 < 600 / (1 + np.exp(score[y] - score[x])))
    study.import_duels(bd.Duels.from_votes(left, right, np.array(won, float)))
    status = study.status(check=False)
    assert status.decided
    assert status.probability >= 0.95
    assert f"({percent(status.probability)} % sure" in status.verdict
    assert f"probability {status.probability:.3f} (stops at" in status.reason  # one number
    assert {frozenset(group) for group in status.tied} == {frozenset("bc")}
    assert "Practically equal: " in status.verdict


def test_status_says_what_is_expected_to_go():
    study = play(bd.Study(arms=["a", "d"], stop=bd.study.WithinRope(0.95, rope=0.03), seed=1), 2)
    assert study.status().plan is None
    found = study.status(futures=3)
    assert found.plan["duels"] == 2
    assert "Still to come: " in str(found)
    study.tell(study.ask(), "left")
    assert "Still to come at 2 duels: " in str(study.status())
    with pytest.raises(ValueError, match="futures should be"):
        study.status(futures=-1)


@pytest.mark.parametrize("stop", [bd.study.WithinRope(0.95, rope=0.1), bd.study.Budget(3)])
def test_a_study_that_has_stopped_takes_no_more_duels(stop):
    study = bd.Study(arms=list("abc"), stop=stop, seed=0)
    while not study.stopped:
        study.tell(study.ask(), "left")
    found = study.plan(n_futures=5)
    assert not found.duels.any()
    assert str(found) == "No more duels: the stop rule is reached."


def test_a_plan_ends_where_the_budget_of_the_study_does():
    study = bd.Study(arms=list("abc"), stop=bd.study.WithinRope(0.999) | bd.study.Budget(9))
    study.tell(study.ask(), "left")
    said = str(study.plan(n_futures=3))
    assert said == (
        "The study was simulated 3 times. No simulation was decided within 8 more duels."
    )


def test_an_imported_log_has_the_outcomes_of_its_votes():
    """Votes are stored as 1, -1 and 0; those of a judge that is missing have none."""
    log = bd.Duels.from_votes(
        list("abab"), list("baba"), [1, 0, 0.5, 1], judge=["x", "y", None, "x"]
    )
    study = bd.Study(arms=["a", "b"])
    study.import_duels(log)
    assert [(e["outcome"], e["judge"]) for e in study.audit()] == [
        ("left", "x"), ("right", "y"), ("tie", None), ("left", "x")
    ]  # fmt: skip
    np.testing.assert_array_equal(study.duels().tally().wins, log.tally().wins)


def test_a_study_knows_how_its_imported_log_was_read(tmp_path):
    frame = pd.DataFrame([("a", "b", c) for c in (1, -1, 0)], columns=["left", "right", "outcome"])
    study = bd.Study(tmp_path / "s.study", arms=["a", "b"])
    study.import_duels(bd.read_duels(frame[:1]))  # its coding is open
    study.import_duels(bd.read_duels(frame))
    batch = frame[2:]
    with pytest.raises(
        ValueError, match=r"means right, use coding='1/0/0.5' .* means tie, use coding='1/-1/0'"
    ):
        bd.read_duels(batch)
    study.close()
    study = bd.Study(tmp_path / "s.study")
    study.import_duels(bd.read_duels(batch, like=study.duels()))
    assert (study.duels().n_duels, study.duels().n_ties) == (5, 2)
    wins = bd.read_duels(pd.concat([frame[:1], batch]))
    with pytest.raises(ValueError, match=r"duels should be read with the coding.*'1/-1/0'"):
        study.import_duels(wins)
    assert study.n_duels == 5


def test_a_study_that_cannot_be_written_can_be_read(tmp_path, monkeypatch):
    """A file on a disk that is read-only: what it holds is shown, and nothing is told."""
    path = tmp_path / "a.study"
    stop = bd.study.WithinRope(0.999) | bd.study.Budget(20)
    with bd.Study(path, arms=["a", "b", "c"], stop=stop, seed=1) as study:
        ticket = study.ask()
        study.tell(ticket, "left")
    monkeypatch.setattr("bayesduel.study.database.os.access", lambda *_: False)
    with bd.Study(path) as study:
        assert study.duels().n_duels == 1 and study.status().n_duels == 1
        assert study.status(futures=1).plan["duels"] == 1
        with pytest.raises(StudyError, match=r"a\.study cannot be opened for writing"):
            study.tell(study.ask(), "left")
    monkeypatch.undo()
    with bd.Study(path) as study:
        assert study.duels().n_duels == 1


def test_the_usual_cost_is_that_of_the_measured_studies():
    """Means of docs/understand/stopping.md, scores N(0, 1), rope 0.05, to two digits."""
    found = {
        (n_arms, doubt): usual_duels(n_arms, 0.05, doubt) for n_arms in (8, 20) for doubt in (0, 1)
    }
    assert found == {(8, 0): 80, (8, 1): 200, (20, 0): 160, (20, 1): 480}
    assert usual_duels(4, 0.02, 1) == pytest.approx(225, rel=0.15)
    assert usual_duels(41, 0.05, 1) is None
    assert usual_duels(8, 0.0, 1) is None


def test_a_plan_may_be_asked_of_another_rule():
    study = bd.Study(arms=list("abc"), stop=bd.study.WithinRope(0.95, rope=0.1), seed=0)
    own = bd.study.plan(study, n_futures=4)
    other = bd.study.plan(study, stop=bd.study.Budget(3), n_futures=4)
    assert (other.duels == 3).all() and (own.duels >= 3).any()


def test_a_study_is_made_or_opened_by_the_same_call(tmp_path):
    """As a cell of a notebook that is run twice; with other arguments it is refused."""
    path = tmp_path / "study.db"
    given = {"stop": bd.study.WithinRope(0.99), "costs": {("a", "b"): 2.0}, "seed": 3}
    given |= {"items": ["first", "second"], "exist_ok": True}
    with bd.Study(path, arms=list("abc"), **given) as study:
        assert study.status().answer == ()
        study.tell(study.ask(), "left")
        study.add_arms(["d"])
    with bd.Study(path, arms=list("abc"), **given) as study:
        assert study.n_duels == 1
        assert len(study.status().answer) == 1
    with pytest.raises(StudyError, match=r"with other stop and seed. Open it without"):
        bd.Study(path, arms=list("abc"), **given | {"seed": 4, "stop": bd.study.WithinRope(0.9)})
    with pytest.raises(StudyError, match=r"with other arms\. Open it"):
        bd.Study(path, arms=list("acb"), **given)
    with pytest.raises(StudyError, match="exist_ok=True if the arguments are its own"):
        bd.Study(path, arms=list("abc"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM settings WHERE name = 'sources'")  # an earlier version
    with bd.Study(path, arms=list("abc"), **given) as study:
        assert study.arms == tuple("abcd")
    with bd.Study(path, exist_ok=True) as study:
        assert study.arms == tuple("abcd")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"rope": 0.1}, TypeError, "stop=bd.study.WithinRope"),
        ({"confidence": 0.9}, TypeError, "stop=0.95"),
        ({"budget": 9}, TypeError, "Budget"),
        ({"model": "auto"}, ValueError, "A new study has no votes yet"),
        ({"model": bd.DefaultModel()}, ValueError, "A new study has no votes yet"),
    ],
)
def test_what_a_study_takes_elsewhere_is_said(given, error, words):
    with pytest.raises(error, match=words):
        bd.Study(arms=["a", "b"], **given)


@pytest.mark.parametrize(
    "given", [{"stop": bd.study.Budget(500)}, {"stop": None}, {"expires": 5}, {"seed": 99}]
)
@pytest.mark.parametrize("exist_ok", [False, True])
def test_a_study_that_exists_does_not_take_other_settings_silently(given, exist_ok, tmp_path):
    bd.Study(tmp_path / "s", arms=["a", "b"], stop=bd.study.Budget(30)).close()
    with pytest.raises(StudyError, match="already holds a study"):
        bd.Study(tmp_path / "s", exist_ok=exist_ok, **given)
    assert bd.Study(tmp_path / "s").stop == bd.study.Budget(30)
