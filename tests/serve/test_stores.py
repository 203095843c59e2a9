"""All that studies and pages store beside tickets, in a file and in PostgreSQL: each the same."""

import pytest

import bayesduel as bd
from bayesduel.serve.access import Access
from bayesduel.serve.content import Contents
from bayesduel.serve.options import Options
from bayesduel.serve.pages import Pages
from bayesduel.study.replies import Replies, Reply
from benchmarks.postgresql import postgresql, programs

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")
UGLY = "=1+1 \t\x01 שלום 🙂 'x\"; DROP TABLE tickets; --\n%s {0} \\"
ASKING = bd.study.Asking(grades=2, criteria=["helpful", "short"], reasons=["clear"], comment=True)


@pytest.fixture(params=["file", "PostgreSQL"])
def url(request, tmp_path):
    """Return where a study is kept."""
    if request.param == "file":
        yield tmp_path / "s.study"
        return
    pytest.importorskip("psycopg")
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with postgresql() as found:
        yield found


def test_each_table_keeps_what_it_is_given(url, tmp_path, monkeypatch):
    given = {"arms": list("abc"), "asking": ASKING, "stop": None, "policy": bd.policies.Uniform(),
             "judging": bd.study.Judging(training=[("a", "b", "left", None, UGLY)],
                                   gold=[("b", "c", "left")], on_fail="exclude")}  # fmt: skip
    study = bd.Study(url, **given)
    answer = {"criteria": {"short": "tie"}, "reasons": ["clear"], "comment": UGLY}
    access = Access(study.store)
    link, _ = access.invite("panel", "open", 1)
    judges = [access.seat(link, name, "s" * 43, "", 2)[0].judge for name in ("p1", "p2")]
    access.arrived(2, {"PROLIFIC_PID": "p1", "SESSION_ID": UGLY})
    for judge in judges:
        for _ in range(3):
            study.tell(study.ask(judge=judge), "left better", **answer, cost=0.5, seen=1.0)
    study.undo(judges[0])
    study.exclude_judge(judges[1], UGLY, by="root")
    replies = Replies(study, "machine")
    reply = Reply(1, "a", None, UGLY, None, 3, 0.25)
    replies.add(reply)
    options = Options(webhook="http://127.0.0.1:9/hook")
    pages = Pages(study, Contents(None, {}, {}), options)
    posts = []
    monkeypatch.setattr(pages.webhook, "_sent", lambda name, body: posts.append(name) or 204)
    study.tell(study.ask(judge=judges[0]), "right better", **answer)
    pages.webhook.keep("finished", "finished-x", judge=UGLY, outcome="completed")
    pages.webhook.keep("finished", "finished-x", judge=UGLY, outcome="completed")
    pages.webhook.post()
    before, rows = study.export(tmp_path / "a.csv", everything=True), study.rows(everything=True)
    study.close()
    again = bd.Study(url)
    assert again.excluded == {judges[1]: UGLY} and judges == ["panel-p1", "panel-p2"]
    assert again.rows(everything=True) == rows and len(rows) == before
    told = [row for row in rows if row["state"] == "told"]
    assert {row["comment"] for row in told} == {UGLY}
    assert {row["link"] for row in rows} == {"panel"}
    assert {row["excluded"] for row in rows} == {None, UGLY}
    assert Replies(again, "machine").all() == [reply]
    assert Access(again.store).arrival(judges[0])["SESSION_ID"] == UGLY
    assert len(posts) == len(set(posts)) == 2
    assert [each["fails"] for each in again.judges()] == [False, False]
    again.include_judge(judges[1], "it was a mistake")
    assert again.excluded == {}
    assert again.export(tmp_path / "b.csv", everything=True) == before
    assert bd.read_duels(tmp_path / "b.csv").n_duels == again.n_duels
    again.close()
