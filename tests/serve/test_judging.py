"""A judge's way through the pages: answers are stored once, and arms are never named."""

import asyncio
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayesduel as bd
from bayesduel.serve.access import Access
from tests.serve.conftest import write_content

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

ORIGIN = "http://127.0.0.1:8000"


def answer(client, state, what="1"):
    return client.post("/api/judge/answer", json={"key": state["ticket"]["key"], "answer": what})


def test_instructions_and_consent_come_first(site):
    made = site(consent="I agree to **take part**.")
    ann = made.client("ann", begun=False)
    assert ann.get("/api/judge").json()["phase"] == "instructions"
    assert "<strong>take part</strong>" in ann.get("/judge").text
    assert ann.post("/api/judge/begin", json={}).status_code == 400
    assert ann.get("/api/judge").json()["ticket"] is None
    assert ann.post("/api/judge/begin", json={"agree": True}).json()["phase"] == "judging"


@pytest.mark.parametrize(
    ("what", "outcome"), [("1", "left"), ("2", "right"), ("=", "tie"), ("cannot tell",) * 2]
)
def test_an_answer_sent_again_counts_once(site, what, outcome):
    made = site()
    ann = made.client("ann")
    state = ann.get("/api/judge").json()
    assert ann.get("/api/judge").json()["ticket"] == state["ticket"]  # loaded again
    after = answer(ann, state, what).json()
    assert answer(ann, state, what).json() == after
    assert after["told"] == 1
    assert after["ticket"]["id"] != state["ticket"]["id"]
    (row,) = made.study.rows()
    assert (row["id"], row["outcome"], row["judge"]) == (state["ticket"]["id"], outcome, "ann")
    assert answer(ann, state, "2" if what == "1" else "1").status_code == 409


def test_an_answer_that_comes_late_after_it_was_taken_back_changes_nothing(site):
    made = site()
    ann = made.client("ann")
    state = ann.get("/api/judge").json()
    after = answer(ann, state).json()
    body = {"ticket": after["last"]}
    back = ann.post("/api/judge/undo", json=body).json()
    assert back["ticket"]["id"] == state["ticket"]["id"]
    assert back["ticket"]["key"] != state["ticket"]["key"]
    assert ann.post("/api/judge/undo", json=body).json() == back  # sent again
    assert answer(ann, state).json() == back  # late
    assert made.study.rows() == []
    assert answer(ann, back, "2").json()["told"] == 1
    assert [row["outcome"] for row in made.study.rows()] == ["right"]
    assert [e["event"] for e in made.study.audit()] == ["told", "withdrawn", "told"]


def test_a_skip_can_be_taken_back_and_only_the_last_answer(site):
    made = site()
    ann = made.client("ann")
    first = ann.get("/api/judge").json()
    second = answer(ann, first).json()
    third = answer(ann, second, "s").json()
    assert third["told"] == 1
    refused = ann.post("/api/judge/undo", json={"ticket": first["ticket"]["id"]})
    assert refused.status_code == 409
    back = ann.post("/api/judge/undo", json={"ticket": third["last"]}).json()
    assert back["ticket"]["id"] == second["ticket"]["id"]


def test_the_quota_ends_with_a_code_and_undo_still_works(site):
    made = site(
        judging=bd.study.Judging(quota=2),
        completion_code="C0FFEE",
        return_url="https://example.org/back",
    )
    ann = made.client("ann")
    state = ann.get("/api/judge").json()
    assert (state["quota"], state["left"]) == (2, 2)
    done = answer(ann, answer(ann, state).json()).json()
    assert done["phase"] == "done"
    assert done["completion"] == {"code": "C0FFEE", "url": "https://example.org/back"}
    back = ann.post("/api/judge/undo", json={"ticket": done["last"]}).json()
    assert back["phase"] == "judging"
    assert answer(ann, back).json()["phase"] == "done"


def test_an_answer_that_the_database_fails_on_is_stored_nowhere_and_sent_again(site, monkeypatch):
    made = site()
    ann = made.client("ann")
    state = ann.get("/api/judge").json()
    add_event = made.study.store._add_event

    def fails_after_it(**values):
        add_event(**values)
        raise bd.study.StudyError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(made.study.store, "_add_event", fails_after_it)
        assert answer(ann, state).status_code == 503
    assert made.study.n_duels == len(made.study.audit()) == 0
    assert answer(ann, state).json()["told"] == made.study.n_duels == 1


def test_a_pause_holds_judges_and_keeps_answers(site):
    made = site()
    ann, root = made.client("ann"), made.client("root", "admin")
    state = ann.get("/api/judge").json()
    root.post("/api/admin/pause", json={"paused": True})
    assert ann.get("/api/judge").json()["phase"] == "paused"
    assert answer(ann, state).json()["told"] == 1
    root.post("/api/admin/pause", json={"paused": False})
    assert ann.get("/api/judge").json()["phase"] == "judging"


def test_a_stopped_study_thanks_and_names_no_arm(site):
    made = site(stop=bd.study.Budget(2))
    ann = made.client("ann")
    state = ann.get("/api/judge").json()
    done = answer(ann, answer(ann, state).json())
    assert done.json()["phase"] == "done"
    assert made.client("bob").get("/api/judge").json()["message"].startswith("The study has all")
    assert "secret" not in done.text


def test_judges_never_read_the_name_of_an_arm(site):
    made = site(items=["p", "q"])
    ann, seen = made.client("ann"), []
    response = ann.get("/api/judge")
    for k in range(8):
        seen.append(response.text)
        if response.json()["ticket"] is None:
            break
        response = answer(ann, response.json(), "12=s"[k % 4])
    seen += [ann.get(path).text for path in ("/judge", "/enter", "/api/openapi.json")]
    assert len(seen) > 8
    assert "secret" not in "".join(seen)
    assert "answer 0" in "".join(seen)


def test_an_arm_that_came_without_content_holds_the_study_and_is_not_named(site, caplog):
    made = site()
    ann = made.client("ann")
    with bd.Study(made.study.store.path) as other:
        other.add_arms(["secret-d"])
        (open_now,) = other.pending()
        idle = {"secret-a", "secret-b", "secret-c"} - {open_now.left, open_now.right}
        other.retire_arms([*idle])
    state = ann.get("/api/judge").json()  # the pair that was open
    answered = 1
    while (held := answer(ann, state)).status_code == 200 and answered < 20:
        state, answered = held.json(), answered + 1
    assert held.status_code == 503 and "secret" not in held.text
    assert "secret-d" in caplog.text
    assert made.study.n_duels == answered  # the last answer is stored
    path = made.pages.contents.path
    path.write_text("arm,item,content\nsecret-d,,half of")  # as it is being written
    assert ann.get("/api/judge").status_code == 503
    write_content(path, [(a, "", f"answer {n}") for n, a in enumerate(made.study.arms)])
    again = ann.get("/api/judge")  # without a restart
    assert again.status_code == 200 and "answer 3" in again.text
    assert answer(ann, again.json()).status_code == 200


def test_sides_are_balanced(site):
    made = site(items=[f"item {k}" for k in range(12)])
    ann = made.client("ann")
    made.site.known.wait = lambda who: 0
    state = ann.get("/api/judge").json()
    for _ in range(36):
        state = answer(ann, state).json()
    left = [(row["left"], row["right"]) for row in made.study.rows()]
    for a, b in {tuple(sorted(pair)) for pair in left}:
        assert abs(left.count((a, b)) - left.count((b, a))) <= 1


def test_an_open_invitation_makes_a_judge_of_everyone(site):
    made = site()
    made.client("pool", "open")
    token = made.tokens["pool"]
    for participant, judge in (("5f1", "pool-5f1"), ("", "pool-"), ("5f2", "pool-5f2")):
        visitor = made.stranger(origin=ORIGIN)
        sent = {"token": token, "arrival": f"PROLIFIC_PID={participant}"}
        assert visitor.post("/enter", data=sent).headers["location"] == "/judge"
        assert visitor.get("/api/judge").json()["phase"] == "instructions"
        assert made.pages.access.all()[0].judge.startswith(judge)
        assert visitor.post("/enter", data=sent).status_code == 303  # still the same judge
    assert len(made.pages.access.all()) == 4
    bad = {"token": token, "arrival": "participant=%3Cscript%3E"}
    assert made.stranger(origin=ORIGIN).post("/enter", data=bad).status_code == 400
    assert made.stranger(authorization=f"Bearer {token}").get("/api/judge").status_code == 403


def test_standings_are_hidden_from_judges_unless_open(site, tmp_path):
    made = site()
    assert made.client("ann").get("/standings").status_code == 403
    (tmp_path / "open").mkdir()
    shown = site(path=tmp_path / "open" / "own.study", open_standings=True)
    assert shown.client("ann").get("/api/standings").json()["duels"] == 0


def test_the_admin_invites_retires_corrects_exports(site):
    made = site()
    ann, root = made.client("ann"), made.client("root", "admin", cookie=True)
    state = ann.get("/api/judge").json()
    answer(ann, state)
    origin = {"origin": ORIGIN}
    sent = {"judges": "bob\n<script>x"}
    made_links = root.post("/api/admin/invite", data=sent, headers=origin)
    page = root.get(made_links.headers["location"])
    assert page.text.count("/enter#") == 4  # in the table and for its button
    assert "<script>x" not in page.text and "&lt;script&gt;x" in page.text
    ticket = state["ticket"]["id"]
    sent = {"ticket": ticket, "outcome": "right", "reason": "=1+1"}
    for path, body in (
        ("/api/admin/correct", sent),
        ("/api/admin/retire", {"arm": "secret-c", "retired": "true"}),
    ):
        assert root.post(path, data=body, headers=origin).headers["location"] == "/admin"
    assert made.study.ticket(ticket).outcome == "right"
    assert [made.study.arms[i] for i in made.study.retired] == ["secret-c"]
    assert made.study.audit()[-1]["by"] == "root"
    last = next(e for e in made.study.audit() if e["event"] == "corrected")
    assert (last["by"], last["reason"]) == ("root", "=1+1")
    assert "'=1+1" in root.get("/admin/audit.csv").text  # no formula of a spreadsheet
    duels = root.get("/admin/duels.csv")
    assert duels.text.splitlines()[0] == "ticket,left,right,outcome,judge,asked,told,seconds"
    assert "attachment" in duels.headers["content-disposition"]
    text = root.get("/admin").text
    assert "&lt;script&gt;x" in text and "<script>x" not in text
    assert ticket in text
    taken = ann.post("/api/judge/undo", json={"ticket": ticket})
    assert taken.status_code == 409  # corrected by someone else


def test_the_standings_hold_all_that_the_page_shows(site):
    made = site(stop=0.95)
    ann, bob, eye = made.client("ann"), made.client("bob"), made.client("eye", "viewer")
    for client in (ann, bob):
        state = client.get("/api/judge").json()
        for what in "121":
            state = answer(client, state, what).json()
    found = eye.get("/api/standings").json()
    assert found["duels"] == 6
    assert [r["rank"] for r in found["ranking"]] == [1, 2, 3]
    assert all(r["lower"] <= r["win_rate"] <= r["upper"] for r in found["ranking"])
    assert found["verdict"].startswith("Open") and found["ranking"][0]["arm"] in found["verdict"]
    assert len(found["agreement"]["judges"]) == 2
    page = eye.get("/standings").text
    assert found["verdict"] in page and "Agreement of judges" in page


def test_the_stream_tells_changes_and_the_webhook_the_stop(site):
    taken = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(500 if len(taken) == 1 else 204)  # at first it is ill
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made = site(stop=bd.study.Budget(2), webhook=f"http://127.0.0.1:{server.server_port}/")
    ann = made.client("ann")

    async def watched():
        watch, seen = made.site.watch, []
        changes = watch.changes()
        await watch._look()
        seen.append((await anext(changes))["duels"])
        state = ann.get("/api/judge").json()
        for _ in range(2):
            state = answer(ann, state).json()
        made.pages._due = 0
        for _ in range(3):
            await watch._look()
            made.pages.webhook._due = 0.0  # the time between two tries is over
            made.pages.webhook.post()
        seen.append((await anext(changes))["duels"])
        await changes.aclose()
        return seen

    assert asyncio.run(watched()) == [0, 2]
    server.shutdown()
    server.server_close()
    # Once more, in order, then never.
    assert [t["event"] for t in taken][:3] == ["told", "told", "told"]
    assert [t["standings"]["stopped"] for t in taken if t["event"] == "stopped"] == [True]
    assert made.pages.store.setting("posted") is True


def test_a_server_that_stops_waits_for_what_it_computes(site, monkeypatch):
    made = site()
    begun = threading.Event()
    ended = threading.Event()

    def slow(**_):
        begun.set()
        time.sleep(0.3)
        ended.set()

    monkeypatch.setattr(made.study, "status", slow)

    async def served():
        async with made.site.app.router.lifespan_context(made.site.app):
            await asyncio.to_thread(begun.wait)
        return ended.is_set()

    assert asyncio.run(served())  # so that the study can be closed


def test_openapi_describes_every_operation(site):
    made = site()
    found = made.stranger().get("/api/openapi.json").json()
    described = {(m.upper(), p) for p, methods in found["paths"].items() for m in methods}
    assert described == {(o.method, o.path) for o in made.site.operations}
    body = found["paths"]["/api/judge/answer"]["post"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    assert schema["required"] == ["key", "answer"]
    degrees = ("slightly better", "better", "much better", "very much better")
    graded = {f"{side} {degree}" for side in "12" for degree in degrees}
    plain = {"1", "2", "=", "s", "cannot tell", "both bad"}
    assert set(schema["properties"]["answer"]["enum"]) == plain | graded


def test_the_client_of_the_docs_judges(site, monkeypatch, capsys):
    made = site(stop=bd.study.Budget(3))
    ann = made.client("ann", begun=False)

    def opened(base_url, headers):
        assert headers == {"Authorization": f"Bearer {made.tokens['ann']}"}
        return ann

    monkeypatch.setitem(sys.modules, "httpx", SimpleNamespace(Client=opened))
    text = (Path(__file__).parents[2] / "docs" / "how_to" / "judges.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, flags=re.S)[1]
    assert len(code.splitlines()) <= 10
    exec(code, {"token": made.tokens["ann"]})
    assert capsys.readouterr().out.startswith("The study has all the answers")
    assert made.study.n_duels == 3


def test_a_judge_is_not_called_like_a_source_and_one_name_is_one_judge(site):
    """Whose votes would count as the machine's."""
    made = site()
    made.study.store.set(sources=[["people", 1.0], ["panel-gpt", 0.01]])
    access = Access(made.study.store)
    with pytest.raises(
        ValueError, match="not have the same name as a source of votes, got 'panel-g"
    ):
        access.invite("panel\uff0dgpt", "judge", 1)
    link, _ = access.invite("panel", "open", 1)
    assert access._free_name("panel-gpt") == "panel-gpt-2"
    assert link.judge == "panel"
    assert access.invite("Jose\u0301", "judge", 1)[0].judge == "José"
    with pytest.raises(ValueError, match=r"no invisible character, got U\+200B"):
        access.invite("an\u200bn", "judge", 1)
