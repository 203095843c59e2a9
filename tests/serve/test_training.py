"""Training, warnings, screening out and exclusion, as the pages have them."""

import pytest

import bayesduel as bd

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

TRAINING = [("secret-a", "secret-b", "left", None, "<b>Because</b> & so")]
GOLD = [
    ("secret-a", "secret-c", "left"),
    ("secret-b", "secret-c", "left", None, "Choose the first."),
]
CODES = {"completion_code": "DONE", "screened_out": "https://example.org/out?cc=OUT"}


def answer(judge, state, *, right):
    """Answer a pair; the arm that shows the smaller number is better."""
    left, right_side = state["ticket"]["left"], state["ticket"]["right"]
    first = "1" if (left < right_side) == right else "2"
    sent = {"key": state["ticket"]["key"], "answer": first, "seen": 2.5}
    return judge.post("/api/judge/answer", json=sent).json()


def test_practice_is_explained_on_the_page_until_the_next_answer(site):
    made = site(judging=bd.study.Judging(training=TRAINING))
    for name, right in (("ann", True), ("bob", False)):
        judge = made.client(name)
        state = judge.get("/api/judge").json()
        assert state["ticket"]["training"] and state["feedback"] is None and state["told"] == 0
        state = answer(judge, state, right=right)
        feedback = state["feedback"]
        assert feedback["right"] is right and feedback["text"] == "<b>Because</b> & so"
        assert feedback["expected"] == "First" and not state["ticket"]["training"]
        assert judge.get("/api/judge").json()["feedback"] == feedback  # a page loaded again has it
        assert answer(judge, state, right=True)["feedback"] is None
    assert made.study.n_duels == 2
    assert {row["seconds"] is not None for row in made.study.rows()} == {True}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("on_fail", ["nothing", "warn", "screen out", "exclude"])
@pytest.mark.parametrize("right", [True, False])
def test_who_misses_gold_questions_is_warned_or_gets_the_other_code(site, on_fail, right):
    judging = bd.study.Judging(gold=GOLD, gold_share=1.0, on_fail=on_fail, quota=3)
    made = site(judging=judging, **CODES)
    judge = made.client("ann")
    state = judge.get("/api/judge").json()
    notes, warnings = [], []
    while state["phase"] == "judging":
        notes.append(state["ticket"]["note"])
        warnings.append(state["warning"])
        last = state["ticket"]["id"]
        state = answer(judge, state, right=right)
    barred = not right and on_fail in ("screen out", "exclude")
    assert "Choose the first." in notes and len(notes) == (2 if barred else 3)
    assert (warnings[-1] is not None) is (not right and on_fail == "warn")
    completion = state["completion"]
    assert completion == (
        {"code": "DONE", "url": None} if right else {"code": None, "url": CODES["screened_out"]}
    )
    undone = judge.post("/api/judge/undo", json={"ticket": last})
    assert undone.status_code == (409 if barred else 200)
    assert (state["last"] is None) is barred
    assert list(made.study.excluded) == ["ann"] * (not right and on_fail == "exclude")


@pytest.mark.parametrize("seen", ["-1", "1e9", '"1"', "true", "nan"])
def test_a_time_that_is_none_is_refused(site, seen):
    made = site()
    judge = made.client("ann")
    key = judge.get("/api/judge").json()["ticket"]["key"]
    body = f'{{"key": "{key}", "answer": "1", "seen": {seen}}}'
    refused = judge.post(
        "/api/judge/answer", content=body, headers={"content-type": "application/json"}
    )
    assert (refused.status_code == 400 and "seen" in refused.text) or "JSON" in refused.text
    assert made.study.n_duels == 0


def test_the_administrator_excludes_a_judge_and_includes_again(site):
    made = site()
    judge, admin = made.client("a<b>n&n"), made.client("root", "admin")
    answer(judge, judge.get("/api/judge").json(), right=True)
    name = made.study.judges()[0]["judge"]
    assert made.study.n_duels == 1
    for out, n_duels in ((True, 0), (False, 1)):
        body = {"judge": name, "excluded": out, "because": "<script>x</script>"}
        assert judge.post("/api/admin/exclude", json=body).status_code == 403
        assert admin.post("/api/admin/exclude", json=body).json() == {"done": True}
        again = admin.post("/api/admin/exclude", json=body)
        state = "is excluded already" if out else "is not excluded"
        assert again.status_code == 400 and state in again.text
        assert made.study.n_duels == n_duels
        page = admin.get("/admin", headers={"accept": "text/html"})
        assert page.status_code == 200 and "<script>x" not in page.text
        assert ("Include" in page.text) is out
        assert (judge.get("/api/judge").json()["phase"] == "done") is out
    assert (
        admin.post(
            "/api/admin/exclude", json={"judge": "eve", "excluded": True, "because": "x"}
        ).status_code
        == 404
    )
