"""Pages of a study that somebody ends: judges are told, open answers are kept, it may go on."""

import pytest

import bayesduel as bd
from bayesduel.serve.language import LANGUAGES, read_language

pytestmark = pytest.mark.plain
FINISHED = "The study is finished. Thank you!"


def answer(client, ticket):
    return client.post("/api/judge/answer", json={"key": ticket["key"], "answer": "1"})


@pytest.mark.parametrize("by", ["page", "another process"])
def test_a_judge_reads_that_the_study_is_finished(site, by):
    made = site()
    ann, root = made.client("ann"), made.client("root", "admin")
    first = ann.get("/api/judge").json()["ticket"]
    waiting = answer(ann, first).json()["ticket"]
    if by == "page":
        done = root.post("/api/admin/end", json={"ended": True, "reason": "no more funds"})
        assert done.status_code == 200
    else:
        with bd.Study(made.study.store.path) as other:
            other.end("no more funds", by="root")
    late = made.client("late", begun=False)
    for judge in (ann, late):
        state = judge.get("/api/judge").json()
        assert (state["phase"], state["ticket"], state["last"]) == ("done", None, None)
        assert state["message"] == FINISHED
        assert "funds" not in str(state)
    state = answer(ann, waiting).json()  # it was on the screen of ann
    assert (state["phase"], state["told"]) == ("done", 2)
    assert made.study.n_duels == 2
    undone = ann.post("/api/judge/undo", json={"ticket": waiting["id"]})
    assert undone.status_code == 409 and made.study.n_duels == 2
    found = root.get("/api/admin").json()
    assert found["stopped"] and "ended by root on" in found["ended"]
    page = root.get("/admin").text
    assert "no more funds" in page and ">Resume</button>" in page
    assert "no more funds" in root.get("/standings").text


def test_an_administrator_resumes_a_study(site):
    made = site()
    root = made.client("root", "admin")
    assert ">End</button>" in root.get("/admin").text
    assert root.post("/api/admin/end", json={"ended": False}).status_code == 400
    assert root.post("/api/admin/end", json={"ended": True}).status_code == 200
    again = root.post("/api/admin/end", json={"ended": True})
    assert again.status_code == 400 and "ended twice" in again.text
    assert root.post("/api/admin/end", json={"ended": False}).status_code == 200
    assert made.client("ann").get("/api/judge").json()["phase"] == "judging"
    trail = [(e["event"], e["by"]) for e in made.study.audit() if e["ticket"] is None]
    assert trail == [("ended", "root"), ("resumed", "root")]


def test_a_paused_study_that_is_ended_is_finished(site):
    made = site()
    made.pages.pause(True)
    ann = made.client("ann")
    assert ann.get("/api/judge").json()["phase"] == "paused"
    made.study.end()
    assert ann.get("/api/judge").json()["phase"] == "done"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_that_it_is_finished(language):
    said = read_language(language)(FINISHED)
    assert (said == FINISHED) == (language == "en")


def test_the_completion_code_is_given_where_the_study_is_ended(site):
    made = site(completion_code="C0DE")
    ann = made.client("ann")
    answer(ann, ann.get("/api/judge").json()["ticket"])
    made.study.end()
    assert ann.get("/api/judge").json()["completion"]["code"] == "C0DE"
    assert made.client("ben").get("/api/judge").json()["completion"] is None


def test_the_webhook_is_told_of_an_end_once(site):
    made = site(webhook="http://127.0.0.1:1/")
    watch = made.site.watch
    posts = []
    made.pages.webhook.keep = lambda event, key, **data: posts.append((event, data["standings"]))
    answer(made.client("ann"), made.client("ann").get("/api/judge").json()["ticket"])
    made.study.end("no more funds")
    for _ in range(2):
        watch._tell_stop(made.pages.standings())
    ((event, standings),) = [post for post in posts if post[0] == "stopped"]
    assert event == "stopped" and "no more funds" in standings["ended"]
