"""A study that somebody ends and resumes, in Python and on the command line."""

import json

import pytest

import bayesduel as bd
from bayesduel import policies
from bayesduel.cli import main
from bayesduel.study.study import NoQuestion, StudyStopped

pytestmark = pytest.mark.plain
ARMS = ["tea", "coffee", "cocoa", "milk"]
POLICIES = [None, policies.Uniform(), policies.DTS()]


def run(*words):
    """Run ``bayesduel study`` and return its exit status."""
    with pytest.raises(SystemExit) as ended:
        main(["study", *map(str, words)])
    return ended.value.code


@pytest.fixture
def place(tmp_path, capsys):
    """Return the file of a study with three open tickets: of ann, of ben and of nobody."""
    path = tmp_path / "own.study"
    assert run("new", path, "--arms", ",".join(ARMS)) == 0
    for judge in (("--judge", "ann"), ("--judge", "ben"), ()):
        assert run("ask", path, *judge) == 0
    capsys.readouterr()
    return path


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("stop", [None, bd.study.Budget(30), 0.95], ids=repr)
@pytest.mark.parametrize("judge", [None, "ann"])
@pytest.mark.parametrize("path", [None, "own.study"])
@pytest.mark.sampled(3)
def test_an_ended_study_asks_nothing_and_takes_open_answers(policy, stop, judge, path, tmp_path):
    stop = bd.study.WithinRope(stop) if isinstance(stop, float) else stop
    place = None if path is None else tmp_path / path
    study = bd.Study(place, arms=ARMS, policy=policy, stop=stop)
    other = study if place is None else bd.Study(place)  # of another process
    study.tell(study.ask(judge=judge), "left")
    waiting = study.ask(judge=judge)
    assert study.ended is None and other.status().ended is None
    study.end("no more funds", by="lead")
    for each in (study, other):
        assert each.stopped
        assert (each.ended.by, each.ended.reason) == ("lead", "no more funds")
        with pytest.raises(StudyStopped, match=r"ended by lead on .* UTC: no more funds") as said:
            each.ask(judge=judge)
        assert not isinstance(said.value, NoQuestion)
        assert "study.resume()" in str(said.value)
        status = each.status()
        assert status.stopped and not status.decided
        assert status.ended == each.ended
        assert status.verdict.startswith("Ended before it was decided: ")
        assert "no more funds" in str(status)
        assert json.loads(json.dumps(status.to_dict()))["ended"]["reason"] == "no more funds"
    other.tell(waiting, "left")
    assert study.n_duels == 2
    other.resume("a grant came", by="boss")
    assert study.ended is None and not study.stopped
    assert study.status().verdict.startswith("Open: ")
    study.tell(study.ask(judge=judge), "left")
    assert other.n_duels == 3
    trail = [e for e in study.audit() if e["event"] in ("ended", "resumed")]
    assert [(e["event"], e["by"], e["reason"]) for e in trail] == [
        ("ended", "lead", "no more funds"),
        ("resumed", "boss", "a grant came"),
    ]
    study.close()
    other.close()


def test_an_end_is_kept_in_the_file_and_not_in_another_study_of_it(tmp_path):
    path = tmp_path / "own.study"
    with bd.Study(path, arms=ARMS, name="drinks") as drinks:
        drinks.end()
    with bd.Study(path, arms=ARMS, name="others") as others:
        assert others.ended is None
        others.ask()
    with bd.Study(path, name="drinks") as drinks:
        assert (drinks.ended.by, drinks.ended.reason) == (None, "")
        with pytest.raises(StudyStopped, match=r"The study was ended on .* UTC\. To resume it"):
            drinks.ask()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda s: [s.end(by="ann") for _ in range(2)], ValueError, "ended twice.*by ann on"),
        (lambda s: s.resume(), ValueError, "only a study that was ended can be resumed$"),
        (lambda s: s.end(5), TypeError, "reason should be text"),
        (lambda s: s.end(by=""), ValueError, "by should be a name"),
    ],
)
def test_what_is_no_end_is_refused(call, kind, message):
    study = bd.Study(arms=ARMS)
    with pytest.raises(kind, match=message):
        call(study)


def test_a_study_that_has_stopped_by_its_rule_cannot_be_resumed():
    study = bd.Study(arms=ARMS, stop=bd.study.Budget(1))
    study.tell(study.ask(), "left")
    with pytest.raises(ValueError, match="has stopped by its stop rule"):
        study.resume()
    study.end("done")
    study.resume()
    with pytest.raises(StudyStopped, match="has stopped: 1 duel"):
        study.ask()


def test_an_ended_study_is_still_planned_and_its_answers_are_corrected():
    study = bd.Study(arms=ARMS, stop=bd.study.Budget(8))
    ticket = study.ask(judge="ann")
    study.tell(ticket, "left")
    study.end()
    study.correct(ticket, "right", "buttons swapped", by="ann")
    assert study.ticket(ticket).outcome == "right"
    assert study.undo("ann").state == "open"  # the ticket that it returns can be told
    study.tell(ticket, "left")
    assert (study.plan(n_futures=2).duels == 7).all()


def test_a_machine_judge_ends_where_the_study_is_ended():
    study = bd.Study(arms=ARMS, stop=bd.study.Budget(30))
    answered = []

    def judge(ticket):
        answered.append(ticket.id)
        if len(answered) == 3:
            study.end("too expensive")
        return "left"

    done = study.run(judge, workers=1, both_orders=False)
    assert done.told == 3 == study.n_duels
    assert "too expensive" in done.ended


def test_commands_end_and_resume_a_study(place, capsys):
    assert run("end", place, "--reason", "no more funds", "--by", "lead") == 0
    said = capsys.readouterr().out
    assert "ended by lead on" in said and "no more funds" in said
    assert "Open tickets: 3. Their answers still count." in said
    assert f"bayesduel study resume {place}" in said
    assert run("ask", place, "--judge", "ann") == 3
    assert f"`bayesduel study resume {place}`" in capsys.readouterr().out
    assert run("ask", place, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert found["stopped"] is True and found["ended"]["by"] == "lead"
    assert len(found["open"]) == 3
    assert run("tell", place, "1", "left") == 0
    assert run("status", place) == 0
    assert "The study was ended by lead on" in capsys.readouterr().out
    assert run("end", place) == 2
    assert "cannot be ended twice" in capsys.readouterr().err
    assert run("resume", place, "--by", "lead", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"ended": None, "stopped": False, "duels": 1}
    assert run("ask", place, "--judge", "ben") == 0
    assert run("resume", place) == 2


@pytest.mark.parametrize("stop", [bd.study.Budget(3), bd.study.ExpectedLoss(0.4)], ids=repr)
def test_ask_names_the_open_ticket_after_an_undo(stop, tmp_path, capsys):
    """A judge gets an open ticket again; others are told whose it is, and whether it goes on."""
    path = tmp_path / "own.study"
    with bd.Study(path, arms=ARMS, stop=stop, policy=policies.Uniform()) as study:
        for _ in range(3):
            study.add("tea", "milk", "left", judge="ben")
        assert study.stopped
        study.undo("ben")
        reached = study.stopped
    assert reached == isinstance(stop, bd.study.ExpectedLoss)
    assert run("ask", path, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert found["stopped"] is reached
    (open_,) = found["open"]
    assert f"Open tickets: {open_} (judge 'ben')" in found["reason"]
    assert f"bayesduel study ask {path} --judge ben" in found["reason"]
    assert run("ask", path, "--json", "--judge", "ben") == 0
    assert json.loads(capsys.readouterr().out)["id"] == open_


def test_an_answer_that_somebody_corrected_is_not_taken_back():
    study = bd.Study(arms=ARMS)
    ticket = study.ask(judge="ann")
    study.tell(ticket, "left")
    study.correct(ticket, "right", "buttons swapped")
    with pytest.raises(ValueError, match="because somebody has corrected it"):
        study.undo("ann")
