"""What a question and a status cost: nothing is computed that nothing reads."""

import pickle
from itertools import pairwise

import pytest

import bayesduel as bd
from bayesduel import policies
from bayesduel.study import study as studies
from bayesduel.study.session import Session

pytestmark = pytest.mark.plain
ARMS = ["tea", "coffee", "cocoa", "milk"]
SURE = bd.study.ExpectedLoss(0.2)


@pytest.fixture
def checks(monkeypatch):
    """Return the logs that the transitivity check was run on: it objects to each."""
    logs = []

    def found(duels, best, model):
        logs.append(duels)
        return {"transitive": False, "sentence": f"Run on {duels.n_duels}.", "criteria": {}}

    monkeypatch.setattr(studies, "transitivity", found)
    return logs


def decided(path=None):
    """Return a study that its stop rule has decided."""
    study = bd.Study(path, arms=ARMS, stop=SURE, policy=policies.Uniform())
    for _ in range(5):
        for left, right in pairwise(ARMS):
            study.add(left, right, "left", judge="ann")
    assert study.status(check=False).decided
    return study


def test_a_status_runs_the_check_when_it_is_read_and_once(checks):
    study = decided()
    status = study.status()
    assert (status.stopped, status.answer, status.n_duels) == (True, ("tea",), 15)
    assert not checks
    assert status.verdict.endswith("This answer is about the scores of bradley-terry.")
    assert status.check["sentence"] == "Run on 15."
    assert "Run on 15." in str(study.status()) + status.to_dict()["check"]["sentence"]
    assert "rejects a single ranking" in study.status(check=False).verdict
    assert len(checks) == 1


def test_a_status_keeps_the_outcomes_that_it_was_made_of(checks):
    study = decided()
    status = study.status()
    study.add("tea", "coffee", "left")
    assert status.check["sentence"] == "Run on 15."
    assert study.status().check["sentence"] == "Run on 16."
    assert len(checks) == 2


def test_only_an_outcome_makes_the_check_run_again(checks, tmp_path):
    with decided(tmp_path / "own.study") as study:
        assert study.status().check["sentence"] == "Run on 15."
        ticket = study.undo("ann")
        study.tell(ticket, "left")
        assert study.status().check["sentence"] == "Run on 15."
        assert len(checks) == 2
        study.end("done")
        study.resume()
        assert study.status().check is not None
        with bd.Study(tmp_path / "own.study") as again:
            assert again.status().check["sentence"] == "Run on 15."
    assert len(checks) == 2


def test_an_open_study_is_checked_where_that_is_asked_for(checks):
    study = bd.Study(arms=ARMS, stop=None)
    with pytest.raises(ValueError, match="no outcomes yet"):
        study.status(check=True)
    study.add("tea", "coffee", "left")
    assert study.status().check is None
    assert study.status(check=True).check["sentence"] == "Run on 1."


def test_a_status_is_stored_by_pickle_with_its_check(checks):
    status = pickle.loads(pickle.dumps(decided().status()))
    assert status.check["sentence"] == "Run on 15."
    assert "rejects a single ranking" in status.verdict


@pytest.fixture
def looks(monkeypatch):
    """Return the calls that read or refit the posterior, by name."""
    called = []
    for name in ("evidence", "_refitted"):
        plain = getattr(Session, name)

        def noted(*given, plain=plain, name=name, **more):
            called.append(name)
            return plain(*given, **more)

        monkeypatch.setattr(Session, name, noted)
    return called


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", ["bradley-terry", "davidson"])
@pytest.mark.parametrize(
    "stop", [None, bd.study.Budget(9), bd.study.Budget(7) & bd.study.Budget(9)], ids=repr
)
@pytest.mark.parametrize("policy", [policies.Uniform(), policies.DTS()], ids=repr)
def test_a_question_reads_no_posterior_that_neither_policy_nor_rule_needs(
    model, stop, policy, looks
):
    study = bd.Study(arms=ARMS, stop=stop, policy=policy, model=model)
    for _ in range(9):
        assert not study.stopped
        study.tell(study.ask(), "left")
    assert study.n_duels == 9 and study.stopped == (stop is not None)
    assert not looks
    assert study.status().n_duels == 9
    fitted = ["_refitted"] if model == "davidson" else []
    assert looks[: len(fitted) + 1] == [*fitted, "evidence"]


def test_a_rule_on_the_posterior_looks_at_every_question(looks):
    study = bd.Study(
        arms=ARMS, stop=bd.study.WithinRope(0.999) | bd.study.Budget(9), policy=policies.Uniform()
    )
    for _ in range(4):
        study.tell(study.ask(), "left")
    assert looks.count("evidence") == 4


def test_a_status_of_a_fitted_model_is_that_of_the_study_opened_anew(tmp_path):
    """Which questions were asked before makes no difference: the fit is of all outcomes."""
    path = tmp_path / "own.study"
    with bd.Study(path, arms=ARMS, stop=None, policy=policies.Uniform(), model="davidson") as one:
        for k in range(30):
            one.tell(one.ask(), ("left", "tie", "right")[k % 3])
        live = one.status()
    with bd.Study(path) as again:
        assert again.status().probability == live.probability
        assert again.status().ranking == live.ranking


def test_a_file_that_cannot_be_written_is_checked_once_by_each_process(checks, tmp_path):
    path = tmp_path / "own.study"
    decided(path).close()
    with bd.Study(path) as study:
        study.store.read_only = True
        for _ in range(3):
            assert study.status().check["sentence"] == "Run on 15."
        assert study.store.setting("check") is None
    assert len(checks) == 1


def margin(number):
    return (1.5, -0.5, 0.25)[number % 3]


def word(number):
    return ("left", "tie", "right")[number % 3]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("looks_every", [1, 7])
@pytest.mark.parametrize(
    ("model", "policy", "answer"),
    [
        ("bradley-terry", policies.Uniform(), word),
        ("bradley-terry", policies.DTS(), word),
        ("bradley-terry", None, word),
        ("thurstone", policies.Uniform(), word),
        ("davidson", None, word),
        ("davidson", policies.DTS(), word),
        ("bradley-terry + order", None, word),
        ("thurstone-score", None, margin),
    ],
)
def test_a_status_does_not_depend_on_when_the_study_was_looked_at(
    model, policy, answer, looks_every, tmp_path
):
    """Nor on whether it was opened anew: fits are of so many first duels, whoever asks when."""
    path = tmp_path / "own.study"
    known = {} if policy is None else {"policy": policy}
    with bd.Study(path, arms=list("abcde"), stop=None, model=model, seed=3, **known) as one:
        for number in range(27):
            one.tell(one.ask(), answer(number))
            if number % looks_every == 0:
                one.status(check=False)
        live = one.status(check=False)
    with bd.Study(path) as again:
        opened = again.status(check=False)
    assert opened.ranking == live.ranking
    assert opened.probability == live.probability
