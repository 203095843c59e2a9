"""Judges: training first, what happens to who fails, exclusion and back, times of answers."""

import json

import pytest

import bayesduel as bd
from bayesduel import policies
from bayesduel.cli import main
from bayesduel.study.judging import LEAST_JUDGES, LEAST_TIMES, SPEED
from bayesduel.study.outcomes import export_rows

pytestmark = pytest.mark.plain
ARMS = ["tea", "coffee", "cocoa", "milk"]
RIGHT = {name: place for place, name in enumerate(ARMS)}
GOLD = [("tea", "milk", "left"), ("coffee", "milk", "left"), ("tea", "cocoa", "left")]


def better(ticket):
    return "left" if RIGHT[ticket.left] < RIGHT[ticket.right] else "right"


def worse(ticket):
    return {"left": "right", "right": "left"}[better(ticket)]


@pytest.mark.parametrize("policy", ["auto", policies.DTS(), policies.Uniform()], ids=repr)
@pytest.mark.parametrize(
    "stop", [None, bd.study.Budget(30), bd.study.WithinRope(0.95, rope=0.05)], ids=repr
)
@pytest.mark.parametrize("path", [None, "own.study"])
@pytest.mark.sampled(3)
def test_a_study_without_a_judge_is_as_if_the_judge_had_not_been_there(
    policy, stop, path, tmp_path
):
    """Exclusion, by policy, stop rule and store, in what the study says and what it exports."""
    place = None if path is None else tmp_path / path
    settings = {"arms": ARMS, "policy": policy, "stop": stop, "seed": 3}
    study = bd.Study(place, **settings)
    alone = bd.Study(**settings)
    for k in range(24):
        left, right = ARMS[k % 4], ARMS[(k + 1 + k // 8) % 4]
        if left == right:
            continue
        judge = "bad" if k % 6 == 0 else "good"
        outcome = "right" if judge == "bad" else "left"
        study.add(left, right, outcome, judge=judge)
        if judge == "good":
            alone.add(left, right, outcome, judge=judge)
    n_all, before = study.n_duels, study.tally()
    waiting = None if study.stopped else study.ask(judge="bad")
    study.exclude_judge("bad", "answered at random", by="lead")
    other = study if place is None else bd.Study(place)
    for each in (study, other):
        assert each.n_duels == alone.n_duels < n_all
        assert (each.tally() == alone.tally()).all()
        assert each.excluded == {"bad": "answered at random"}
        assert {row["judge"] for row in export_rows(each.rows())} == {"good"}
        assert set(each.duels().votes.judges) == {"good"}
        assert each.status().n_duels == alone.n_duels and each.status().n_pending == 0
        assert abs(each.status(check=False).probability - alone.status().probability) < 0.05
        assert each.stopped == alone.stopped
        everything = each.rows(everything=True)
        out = [row for row in everything if row["excluded"]]
        assert {row["judge"] for row in out} == {"bad"}
        assert sum(row["state"] == "told" for row in everything) == n_all
        with pytest.raises(
            bd.study.NoQuestion if not each.stopped else bd.study.StudyStopped, match="excluded"
        ):
            each.ask(judge="bad")
    if waiting is not None:  # an answer that was on its way is stored, and does not count
        study.tell(waiting, "left")
        assert study.n_duels == other.n_duels == alone.n_duels
    trail = [e for e in study.audit() if e["event"] == "excluded"]
    assert [(e["reason"], e["by"]) for e in trail] == [("bad: answered at random", "lead")]
    study.include_judge("bad", "a mistake", by="lead")
    if waiting is None:
        assert (other.tally() == before).all()
    assert other.n_duels == n_all + (waiting is not None)
    assert study.audit()[-1]["event"] == "included"
    for each in (study, other, alone):
        each.close()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda s: s.exclude_judge("eve", "why"),
            KeyError,
            "should be a judge of this study",
        ),
        (lambda s: s.exclude_judge("ann", ""), ValueError, "because"),
        (lambda s: s.include_judge("ann", "why"), ValueError, "judge 'ann' is not excluded"),
        (
            lambda s: [s.exclude_judge("ann", "why") for _ in range(2)],
            ValueError,
            "judge 'ann' is excluded already",
        ),
        (lambda s: s.tell(s.ask(), "left", seen=-1), ValueError, "seen should be 0 or more"),
    ],
)
def test_what_is_no_exclusion_is_refused(call, kind, message):
    study = bd.Study(arms=ARMS, stop=None)
    study.tell(study.ask(judge="ann"), "left")
    with pytest.raises(kind, match=message):
        call(study)


@pytest.mark.parametrize("on_fail", ["nothing", "warn", "screen out", "exclude"])
@pytest.mark.parametrize("answers", [better, worse])
@pytest.mark.parametrize("path", [None, "own.study"])
@pytest.mark.sampled(3)
def test_who_fails_the_gold_questions(on_fail, answers, path, tmp_path):
    place = None if path is None else tmp_path / path
    judging = bd.study.Judging(gold=GOLD, gold_share=0.5, on_fail=on_fail)
    study = bd.Study(place, arms=ARMS, stop=None, policy=policies.Uniform(), judging=judging)
    asked = 0
    while asked < 6:
        try:
            ticket = study.ask(judge="ann")
        except bd.study.NoQuestion:
            break
        asked += 1
        study.tell(ticket, answers(ticket))
    (row,) = study.judges()
    failed = answers is worse
    assert row["fails"] is failed and row["gold_interval"][0] <= row["gold_right"] / row["gold"]
    barred = failed and on_fail in ("screen out", "exclude")
    assert (asked < 6) is barred and bool(study.barred("ann")) is barred
    out = failed and on_fail == "exclude"
    assert list(study.excluded) == ["ann"] * out
    assert (study.n_duels == 0) is out
    assert sum(e["event"] == "excluded" for e in study.audit()) == out
    study.close()


@pytest.mark.parametrize("items", [None, ["p", "q"]])
@pytest.mark.parametrize("quota", [None, 2])
def test_training_comes_first_is_explained_and_is_no_duel(items, quota):
    item = [items[0]] if items else [None]
    training = [("tea", "milk", "left", *item, "Milk is no drink."), ("milk", "tea", "right")]
    training = [training[0], ("cocoa", "milk", "left", *item, "")]
    judging = bd.study.Judging(
        training=training, quota=quota, gold=GOLD if not items else (), repeats=0.2
    )
    study = bd.Study(arms=ARMS, stop=None, items=items, judging=judging)
    first = study.ask(judge="ann")
    assert (first.left, first.right, first.training) == ("tea", "milk", True)
    study.tell(first, "right")
    assert study.ticket(first).feedback == {
        "right": False, "outcome": "left", "text": "Milk is no drink.",
    }  # fmt: skip
    second = study.ask(judge="ann")
    study.tell(second, "left")
    assert study.ticket(second).feedback["right"] and study.n_duels == 0
    third = study.ask(judge="ann")
    assert (not third.training and {third.left, third.right} != {"tea", "milk"}) or items
    study.tell(third, "left")
    (row,) = study.judges()
    assert (row["training"], row["training_right"], row["told"]) == (2, 1, 1)
    assert [e["training"] for e in study.audit()] == [True, True, False]
    assert study.ask(judge="bob").training
    if quota:
        study.tell(study.ask(judge="ann"), "left")
        with pytest.raises(bd.study.NoQuestion, match="quota"):
            study.ask(judge="ann")


def test_an_attention_check_keeps_its_sides_and_says_what_to_answer():
    gold = [("milk", "tea", "left", None, "Choose the first one.")]
    for seed in range(8):
        judging = bd.study.Judging(gold=gold, gold_share=1.0)
        study = bd.Study(arms=ARMS, stop=None, judging=judging, seed=seed)
        ticket = study.ask(judge="ann")
        assert (ticket.left, ticket.right, ticket.note) == ("milk", "tea", "Choose the first one.")


@pytest.mark.parametrize("name", ["gold", "training"])
@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("tea", "milk", "left", "p", "why"), "items of the study"),
        (("tea", "milk", "left", None, "x" * 3000), "at most 2,000 characters"),
        (("tea", "milk", "left", None, 3), "at most 2,000 characters"),
        (("tea", "tea", "left"), "two arms of the study"),
    ],
)
def test_a_question_that_is_none_is_refused(name, question, message):
    with pytest.raises(ValueError, match=message):
        bd.Study(arms=ARMS, judging=bd.study.Judging(**{name: [question]}))


def test_times_are_kept_and_compared(monkeypatch):
    """Each judge takes a time of its own; a third of the median, or three times it, is named."""
    usual = 6.0
    takes = {"a": usual, "b": usual * 1.1, "c": usual * 0.9, "quick": usual / SPEED / 1.2,
             "slow": usual * SPEED * 1.2}  # fmt: skip
    assert len(takes) >= LEAST_JUDGES
    clock = [1e9]
    for module in ("desk", "store"):
        monkeypatch.setattr(f"bayesduel.study.{module}.time", _Clock(clock, module))
    study = bd.Study(arms=ARMS, items=list("pqr"), stop=None)
    for judge, seconds in takes.items():
        for _ in range(LEAST_TIMES):
            ticket = study.ask(judge=judge)
            clock[0] += 100  # the page was opened later
            study.tell(ticket, "left", seen=seconds)
    table = {row["judge"]: row for row in study.judges()}
    assert {j: row["seconds"] for j, row in table.items()} == pytest.approx(takes, abs=1e-3)
    assert [j for j, row in table.items() if row["too_fast"]] == ["quick"]
    assert [j for j, row in table.items() if row["too_slow"]] == ["slow"]
    rows = export_rows(study.rows())
    assert {"asked", "seen", "told", "seconds"} <= rows[0].keys()
    assert all(row["asked"] < row["seen"] < row["told"] for row in rows)


class _Clock:
    """A clock that the test moves: ``time()`` of one module, ``time.time()`` of another."""

    def __init__(self, now, module):
        self._now, self._module = now, module

    def __call__(self):
        return self._now[0]

    def time(self):
        return self._now[0]


def test_the_commands(tmp_path, capsys):
    path = str(tmp_path / "own.study")
    known = tmp_path / "known.csv"
    known.write_text("left,right,outcome,text\ntea,milk,left,Because.\n", encoding="utf-8")

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(["study", *words])
        assert ended.value.code == 0
        return capsys.readouterr().out

    run("new", path, "--arms", ",".join(ARMS), "--training", str(known), "--on-fail", "screen out")
    assert "to practise" in run("ask", path, "--judge", "ann")
    assert "Right is: left. Because." in run("tell", path, "1", "right")
    run("ask", path, "--judge", "ann")
    run("tell", path, "2", "left")
    said = run("exclude", path, "ann", "--because", "random", "--by", "lead")
    assert "The study now has 0 duels." in said
    assert "excluded: random" in run("judges", path)
    run("add", path, "tea", "milk", "left", "--judge", "bob")
    out = tmp_path / "duels.csv"
    assert "excluded judges are left out: ann" in run("export", path, str(out))
    assert len(bd.read_duels(out)) == 1
    assert "The study now has 2 duels." in run("include", path, "ann", "--because", "a mistake")
    assert json.loads(run("judges", path, "--json"))[0]["excluded"] is None
    bd.read_duels(out)
