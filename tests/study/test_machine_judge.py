"""A language model as judge: every reply is stored, no verdict is doubled, the costs are right."""

import json
import os
import re
import signal
import threading
import time
from contextlib import closing, contextmanager
from email.utils import formatdate

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.study.asking import BOTH_BAD
from bayesduel.study.chat_completions import ChatCompletions, Completion, _retry_after
from bayesduel.study.machine import NoAnswer, RunEnded
from bayesduel.study.machine_judge import MachineJudge, Prices, checked_prompt, verdict_in
from bayesduel.study.replies import Replies, Reply
from bayesduel.study.tickets import Ticket
from benchmarks.machine_judge import KEY, PRICE_READ, PRICE_WRITTEN, command, made, played, serving

pytestmark = pytest.mark.plain
pytest.importorskip("httpx")

NOTHING_WRONG = {}


def run(folder, stub, *more, key=KEY):
    """Run the command in this process; return the result."""
    words = command(folder, stub, *more)[3:]
    return CliRunner().invoke(main, words, env={"STUB_KEY": key}, catch_exceptions=False)


@contextmanager
def judging(study, stub, **settings):
    server = ChatCompletions(stub.address, "m", key=KEY, first_wait=0.01, retries=2)
    shown = {"left": "strength 1", "right": "strength 2", "question": "", "item": "question 0"}
    prompt = "{item}: {left}, {right}"
    replies = Replies(study, "m")
    with closing(server):
        yield MachineJudge(server, prompt, lambda _: shown, replies, study.asking, **settings)


@pytest.mark.slow
def test_killed_runs_double_no_verdict_and_know_their_costs(tmp_path):
    kills = 1
    workers = 4
    found = played(tmp_path, 60, kills, workers=workers)
    assert {"429", "500", "cut", "malformed"} <= found["statuses"].keys()
    assert found["verdicts"] == 60
    assert (found["doubled"], found["answers_paid_twice"], found["wrong"]) == (0, 0, 0)
    assert found["cost_of_study"] == pytest.approx(found["cost_stored"])
    under_way = found["served"] - found["stored"]  # replies that a killed process did not store
    assert 0 <= under_way <= kills * workers
    lost = found["cost_served"] - found["cost_stored"]
    assert -1e-12 <= lost <= under_way * found["dearest"] + 1e-12
    assert KEY not in found["said"]
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


PLAIN = bd.study.Asking()
GRADED = bd.study.Asking(grades=2, both_bad=True)
CRITERIA = bd.study.Asking(criteria=["Helpful", "tone: warm"], both_bad=True)


@pytest.mark.parametrize(
    ("text", "asking", "verdict"),
    [
        ("left", PLAIN, "left"),
        ("  **RIGHT**.\n", PLAIN, "right"),
        ("A", PLAIN, "left"),
        ("c", PLAIN, "tie"),
        ("Cannot tell", PLAIN, "cannot tell"),
        ("Both are fine.\n[[B]]", PLAIN, "right"),
        ("[[A]] and again [[ left ]]", PLAIN, "left"),
        ("[[A]] or [[B]]", PLAIN, None),
        ("[[A]] or [[D]]", PLAIN, None),
        ("A is better", PLAIN, None),
        ("left much better", PLAIN, None),
        ("tie (bothbad)", PLAIN, None),
        ("", PLAIN, None),
        (None, PLAIN, None),
        ("A much better", GRADED, "left much better"),
        ("[[right better]]", GRADED, "right better"),
        ("A", GRADED, None),
        ("both bad", GRADED, BOTH_BAD),
        ("C", GRADED, "tie"),
        (
            "[[helpful: A]] because\n [[Tone: Warm : **both bad**]]",
            CRITERIA,
            {"Helpful": "left", "tone: warm": BOTH_BAD},
        ),
        (
            "[[Helpful: A]] [[length: B]] [[Helpful: left]] [[tone: warm: C]]",
            CRITERIA,
            {"Helpful": "left", "tone: warm": "tie"},
        ),
        ("[[Helpful: A]] [[tone: warm: C]] [[Helpful: B]]", CRITERIA, None),
        ("[[Helpful: A]] [[warm: C]]", CRITERIA, None),
        ("[[A]] [[C]]", CRITERIA, None),
        ("A", CRITERIA, None),
    ],
)
def test_one_answer_of_the_study_counts(text, asking, verdict):
    assert verdict_in(text, asking) == verdict


@pytest.mark.parametrize(
    ("text", "got"),
    [("{left}", "no {right}"), ("{left} {right} {lefft}", "{lefft}"), ("", "no {left}")],
)
def test_a_prompt_has_both_sides_and_no_unknown_placeholder(text, got):
    with pytest.raises(ValueError, match=re.escape(got)):
        checked_prompt(text, PLAIN)
    assert checked_prompt('{left} {right} {"winner": "A"} {0} {}', PLAIN)


def test_a_prompt_asks_for_each_criterion():
    with pytest.raises(ValueError, match=r"such as .*tone: warm: left.*got no 'tone: warm'"):
        checked_prompt("{left} {right} [[Helpful: A]]", CRITERIA)
    assert checked_prompt("{left} {right} [[Helpful: A]] [[tone: warm: B]]", CRITERIA)


def by_criterion(prompt):
    """Reply that the stronger one is better, and always that the first one is shorter."""
    left, right = re.findall(r"strength (\d+)", prompt)
    degree = " much better" if "much" in prompt else ""
    return f"[[short: A{degree}]] Thus [[helpful: {'A' if left > right else 'B'}{degree}]]."


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kill", [False, True])
@pytest.mark.parametrize("order", ["--both-orders", "--one-order"])
@pytest.mark.parametrize("grades", [1, 2])
@pytest.mark.parametrize("decides", ["helpful", "short"])
def test_each_criterion_has_an_answer_of_the_machine(tmp_path, decides, grades, order, kill):
    made(tmp_path, 6)
    asking = bd.study.Asking(criteria=["helpful", "short"], decides=decides, grades=grades)
    study = bd.Study(
        tmp_path / "criteria.study",
        arms=[f"model-{k}" for k in range(6)],
        items=[f"question {k}" for k in range(6)],
        stop=bd.study.Budget(6),
        asking=asking,
    )
    much = "much " if grades > 1 else ""
    prompt = f"{much}[[helpful: A]] [[short: A]]\n{{left}} {{right}}"
    (tmp_path / "prompt.txt").write_text(prompt)
    with serving(wrong=NOTHING_WRONG, reply=by_criterion) as stub:
        words = command(tmp_path, stub, order)[3:]
        words[2] = str(tmp_path / "criteria.study")
        call = {"env": {"STUB_KEY": KEY}, "catch_exceptions": False}
        if kill:  # the replies to one ticket are stored, its verdict is not
            ticket = study.ask(judge="stub")
            replies = Replies(study, "stub")
            said = f"left{' much better' if much else ''}"
            answer = {"helpful": said, "short": said}
            replies.add(Reply(1, ticket.left, answer, "", 1, 1, 0.5))
        found = json.loads(CliRunner().invoke(main, words, **call).stdout)
    assert (found["told"], found["no_answer"]) == (6, 0)
    orders = 2 if order == "--both-orders" else 1
    assert len(stub.requests) == 6 * orders - kill
    sums = found["all_runs"]
    assert sums["orders"] == 6 * (orders - 1)
    # that the first one is shorter is said in both orders, so it is never the same answer
    same = 6 if decides == "helpful" and orders == 2 else 0
    assert same - kill <= sums["same"] <= same
    for row in study.rows()[kill:]:
        better = "left" if row["left"] > row["right"] else "right"
        shorter = "tie" if orders == 2 else "left"
        told = {"helpful": better, "short": shorter}
        other = ({"helpful", "short"} - {decides}).pop()
        assert row["outcome"].partition(" ")[0] == told[decides]
        assert study.ticket(row["id"]).criteria[other].partition(" ")[0] == told[other]


def test_content_with_braces_is_data(tmp_path):
    made(tmp_path, 3)
    (tmp_path / "content.csv").write_text(
        (tmp_path / "content.csv").read_text().replace("%s", "{left} {question} %s {x!r:>9}")
    )
    with serving(wrong=NOTHING_WRONG) as stub:
        assert run(tmp_path, stub).exit_code == 0
    prompts = [each["messages"][0]["content"] for each in stub.requests]
    assert all(p.count("{right} {0} {left} {question} %s {x!r:>9}") == 2 for p in prompts)
    assert all(p.startswith("Which one is better? On question ") for p in prompts)
    assert {each["temperature"] for each in stub.requests} == {0}
    assert stub.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize("fate", ["429", "500", "cut", "malformed", "empty", "400", "401"])
def test_what_always_goes_wrong_ends_the_run_or_the_ticket(tmp_path, fate, monkeypatch):
    monkeypatch.setattr("bayesduel.study.chat_completions.LONGEST_WAIT", 0.01)
    study = made(tmp_path, 4)
    with serving(wrong={fate: 1.0}) as stub:
        result = run(tmp_path, stub, "--retries", "1", "--tries", "2", "--workers", "2")
    assert KEY not in result.output
    found = json.loads(result.stdout.partition("\nError")[0])
    if fate in ("malformed", "empty"):
        assert result.exit_code == 0
        assert (found["told"], found["no_answer"]) == (0, found["all_runs"]["replies"] / 2)
        assert {row["told"] for row in study.judges()} == {0}
        return
    assert result.exit_code == 2
    assert (found["told"], found["no_answer"]) == (0, 0)
    refused = fate in ("400", "401")
    assert ("refuses" if refused else "2 times") in found["ended"]
    assert len(study.pending("stub")) == 2
    with serving(wrong=NOTHING_WRONG) as stub:
        again = json.loads(run(tmp_path, stub).stdout)
    assert again["told"] == 4


def test_a_prompt_that_is_refused_costs_its_ticket_alone():
    study = bd.Study(arms=["a", "b"])
    with serving(wrong=NOTHING_WRONG) as stub, judging(study, stub) as judge:
        judge(study.ask(judge="m"))
        stub.wrong = {"400": 1.0}
        with pytest.raises(NoAnswer, match=r"status 400: .*\*\*\* is no good"):
            judge(Ticket("x-2", "a", "b"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), (" 0 ", 0.0), ("soon", None), ("", None), ("-3", None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(text, seconds):
    assert _retry_after(text) == seconds
    assert 58 < _retry_after(formatdate(time.time() + 60, usegmt=True)) <= 61


def test_a_wait_that_is_too_long_is_said():
    study = bd.Study(arms=["a", "b"])
    with serving(wrong={"429": 1.0}, retry_after="7200") as stub, judging(study, stub) as judge:
        with pytest.raises(RunEnded, match="asks to wait 7,200 seconds"):
            judge(study.ask(judge="m"))


@pytest.mark.parametrize("workers", [1, 8])
def test_a_budget_is_never_exceeded_and_a_larger_one_goes_on(tmp_path, workers):
    study = made(tmp_path, 20)
    budget = 0.005
    with serving(delay=0.005) as stub:
        first = json.loads(
            run(tmp_path, stub, "--budget", str(budget), "--workers", str(workers)).stdout
        )
        spent = first["all_runs"]["cost"]
        assert "budget of 0.005 is spent" in first["ended"]
        assert 0.8 * budget < spent <= budget
        n_paid = len(stub.served)
        second = json.loads(run(tmp_path, stub, "--budget", "1").stdout)
    assert study.n_duels + second["no_answer"] + first["no_answer"] >= 20
    prices = [(PRICE_READ * r + PRICE_WRITTEN * w) / 1e6 for r, w in stub.served]
    assert sum(prices[:n_paid]) == pytest.approx(spent)
    assert second["all_runs"]["cost"] == pytest.approx(sum(prices))


def test_prices_of_tokens_need_tokens(tmp_path):
    made(tmp_path, 3)
    with serving(wrong=NOTHING_WRONG, usage=False) as stub:
        result = run(tmp_path, stub, "--workers", "1")
        assert result.exit_code == 2
        assert "does not report tokens" in result.output
    assert Prices(request=0.1).cost(Completion("A", None, None)) == 0.1


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("ftp://x/v1", "should be an address"),
        ("http://user:secret@127.0.0.1/v1", "without a user"),
        ("127.0.0.1:8000", "should be an address"),
        ("http://example.org/v1", "https://"),
    ],
)
def test_an_address_that_would_give_a_key_away_is_refused(endpoint, message):
    with pytest.raises(ValueError, match=message) as error:
        ChatCompletions(endpoint, "m", key=KEY)
    assert "secret" not in str(error.value)
    with closing(ChatCompletions("https://example.org", "m", key=KEY)) as server:
        assert KEY not in repr(server)


def test_wrong_options_are_refused(tmp_path):
    made(tmp_path, 3)
    with serving(wrong=NOTHING_WRONG) as stub:
        for more, message in (
            (["--parameter", "max_tokens"], "NAME=JSON"),
            (["--parameter", "n=2"], "should not be n"),
            (["--show-labels"], "either --content"),
        ):
            result = run(tmp_path, stub, *more)
            assert (result.exit_code, message in result.output) == (2, True), result.output
        assert "STUB_KEY should be set" in run(tmp_path, stub, key="").output
        words = [*command(tmp_path, stub)[3:], "--budget", "1"]
        free = [w for w in words if w not in (str(PRICE_READ), str(PRICE_WRITTEN))]
        free = [w for w in free if not w.startswith("--price")]
        assert "--budget needs a price" in CliRunner().invoke(main, free).output
    assert stub.requests == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stores_what_was_answered_and_says_how_to_go_on(tmp_path, number):
    study = made(tmp_path, 200)
    ours = signal.signal(number, signal.default_int_handler)  # where the command has none, it fails
    with serving(delay=0.02) as stub:

        def stop():
            while len(stub.served) < 20:
                time.sleep(0.01)
            os.kill(os.getpid(), number)

        words = [w for w in command(tmp_path, stub)[3:] if w != "--json"]
        words[words.index("STUB_KEY") - 1 : words.index("STUB_KEY") + 1] = []
        stopping = threading.Thread(target=stop)
        stopping.start()
        result = CliRunner().invoke(main, words)
        stopping.join()
        signal.signal(number, ours)
        assert result.exit_code == 130, result.stderr
        assert "Run the same command again to go on" in result.stderr
        assert "It ended: it was stopped." in result.stdout
        assert len(Replies(study, "stub").all()) == len(stub.served)
        assert 0 < study.n_duels < 200


def test_tickets_that_expired_since_are_opened_again(tmp_path):
    study = made(tmp_path, 4)
    with serving(wrong={"500": 1.0}) as stub:
        run(tmp_path, stub, "--retries", "0", "--workers", "2")
    left_open = {ticket.id for ticket in study.pending("stub")}
    with study.store.writing() as connection:
        connection.exec_driver_sql("UPDATE tickets SET asked = asked - 7200")
    assert {ticket.id for ticket in study.expired()} == left_open
    with serving(wrong=NOTHING_WRONG) as stub:
        run(tmp_path, stub)
    assert left_open <= {row["id"] for row in study.rows()}
