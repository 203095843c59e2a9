"""Graded answers, criteria, reasons and a comment on the judge's page, by mouse and by keys."""

import pytest

import bayesduel as bd
from bayesduel.serve.choices import told

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

ASKED = {
    "both bad": bd.study.Asking(both_bad=True),
    "grades": bd.study.Asking(grades=2, both_bad=True),
    "nine grades": bd.study.Asking(grades=4),
    "criteria": bd.study.Asking(grades=2, criteria=["x", "y", "z"], decides="y"),
    "words": bd.study.Asking(reasons=["clear", "short"], comment=True),
    "slider": bd.study.Asking(grades=2, both_bad=True, slider=True),
    "sliders": bd.study.Asking(grades=4, criteria=["x", "y"], slider=True, comment=True),
    "everything": bd.study.Asking(
        grades=2, both_bad=True, criteria=["x", "y"], reasons=["clear", "short"], comment=True
    ),
}
JUDGINGS = {
    "duels": None,
    "gold": bd.study.Judging(gold=[("secret-a", "secret-b", "left")], gold_share=1.0),
    "repeats": bd.study.Judging(repeats=1.0),
}


def body(asking, key, k):
    """Return the k-th whole answer to a ticket, and as a study holds it."""
    words = told(asking)
    names = list(words)
    sent = {"key": key, "answer": names[k % len(names)]}
    stored = {"outcome": words[sent["answer"]], "criteria": {}, "reasons": (), "comment": None}
    if asking.others:
        sent["criteria"] = {name: names[(k + 1) % len(names)] for name in asking.others}
        stored["criteria"] = {name: words[each] for name, each in sent["criteria"].items()}
    if asking.reasons:
        sent["reasons"] = list(asking.reasons[: k % 3])
        stored["reasons"] = tuple(sent["reasons"])
    if asking.comment:
        sent["comment"] = stored["comment"] = f"because {k}"
    return sent, stored


@pytest.mark.parametrize("judging", JUDGINGS.values(), ids=JUDGINGS)
@pytest.mark.parametrize("asking", ASKED.values(), ids=ASKED)
@pytest.mark.sampled(3)
def test_resent_late_and_taken_back_answers_hold_for_the_whole_ticket(site, asking, judging):
    made = site(asking=asking, judging=judging)
    ann = made.client("ann")
    for k in range(5):
        state = ann.get("/api/judge").json()
        if state["ticket"] is None:
            break
        number = state["ticket"]["id"]
        sent, stored = body(asking, state["ticket"]["key"], k)
        after = ann.post("/api/judge/answer", json=sent).json()
        assert ann.post("/api/judge/answer", json=sent).json() == after  # sent again
        held = made.study.ticket(number)
        assert {name: getattr(held, name) for name in stored} == stored
        for change in ({"answer": body(asking, "", k + 1)[0]["answer"]}, {"comment": "other"}):
            if "comment" in change and not asking.comment:
                continue
            assert ann.post("/api/judge/answer", json=sent | change).status_code == 409
        back = ann.post("/api/judge/undo", json={"ticket": number}).json()
        assert (back["told"], back["ticket"]["id"]) == (state["told"], number)
        empty = made.study.ticket(number)
        assert (empty.outcome, dict(empty.criteria), empty.reasons, empty.comment) == (
            None, {}, (), None,
        )  # fmt: skip
        late = ann.post("/api/judge/answer", json=sent).json()  # of before it was taken back
        assert late["told"] == state["told"]
        sent, stored = body(asking, back["ticket"]["key"], k + 1)
        assert ann.post("/api/judge/answer", json=sent).json()["told"] == state["told"] + 1
        held = made.study.ticket(number)
        assert {name: getattr(held, name) for name in stored} == stored
    counted = [row for row in made.study.rows() if row["outcome"] != "cannot tell"]
    assert len(counted) == made.study.n_duels


@pytest.mark.parametrize("asking", ASKED.values(), ids=ASKED)
def test_half_an_answer_is_refused_and_stores_nothing(site, asking):
    made = site(asking=asking)
    ann = made.client("ann")
    sent, _ = body(asking, ann.get("/api/judge").json()["ticket"]["key"], 0)
    wrong = [{"answer": "left"}, {"answer": "3"}, {"criteria": {"no": "="}}, {"reasons": ["no"]}]
    wrong += [{"criteria": {}}, {"criteria": dict.fromkeys(asking.others, "left")}] * bool(
        asking.others
    )
    wrong += [] if asking.comment else [{"comment": "more"}]
    for change in wrong:
        assert ann.post("/api/judge/answer", json=sent | change).status_code == 400, change
    assert made.study.audit() == []


@pytest.mark.parametrize("asking", ASKED.values(), ids=ASKED)
@pytest.mark.sampled(2, "everything")
def test_keys_answer_everything_that_is_asked(serving, opened, asking):
    items = [f"item {k}" for k in range(12)]
    found = serving(arms=("a", "b"), items=items, asking=asking)
    page = opened(found.pages.invited("ann", "judge", 1)[1])
    page.keyboard.press("Enter") if page.is_visible("#begin:focus") else page.click("#begin")
    page.wait_for_selector("#pair:not([hidden])")
    config = page.evaluate("state.asking")
    for k, choice in enumerate(config["choices"][:10]):
        page.wait_for_timeout(300)
        before = page.evaluate("state.ticket.id")
        for _ in range(max(len(config["criteria"]), 1)):
            page.keyboard.press(choice["key"])
        for reason in config["reasons"][: k % 3]:
            page.keyboard.press(reason["key"])
        if config["comment"]:
            page.keyboard.press("n")
            page.keyboard.type(f"1 q s u {k}")  # keys of answers are letters here
            page.keyboard.press("Escape")
        if config["form"]:
            page.keyboard.press("Enter")
        page.wait_for_function("(id) => state.ticket.id !== id", arg=before)
        ticket = found.study.ticket(before)
        word = told(asking)[choice["answer"]]
        assert ticket.outcome == word
        assert dict(ticket.criteria) == dict.fromkeys(asking.others, word)
        assert ticket.reasons == asking.reasons[: k % 3]
        assert ticket.comment == (f"1 q s u {k}" if config["comment"] else None)
    page.wait_for_timeout(300)
    page.keyboard.press("u")
    page.wait_for_function("(id) => state.ticket.id === id", arg=before)
    assert page.locator("input:checked").count() == 0
    assert opened.faults == []


def test_a_form_that_lacks_an_answer_is_not_sent(serving, opened):
    found = serving(asking=ASKED["everything"])
    for width, scheme in ((360, "dark"), (768, "light"), (1280, "dark")):
        view = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme}
        name = f"{width} {scheme}"
        page = opened(found.pages.invited(name, "judge", 1)[1], **view)
        page.click("#begin")
        page.wait_for_selector("#pair:not([hidden])")
        page.wait_for_timeout(300)
        assert page.is_disabled("#send")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Please answer every question first.")
        page.locator(".question").last.locator(".chip").nth(2).click()
        page.locator(".reasons .chip").first.click()
        page.fill("#comment", "fine")
        page.click("#send")
        page.wait_for_selector("text=Answers: 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows = found.study.rows()
    assert len(rows) == 3
    assert all((r["outcome"], r["reasons"], r["comment"]) == (
        "left much better", ("clear",), "fine") for r in rows)  # fmt: skip
    assert all(row["criteria"] == {"y": "tie"} for row in rows)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["slider", "sliders"])
@pytest.mark.sampled(2)
def test_a_slider_answers_where_it_is_moved_and_not_before(serving, opened, name, width):
    asking = ASKED[name]
    found = serving(arms=("a", "b"), items=[f"item {k}" for k in range(12)], asking=asking)
    view = {"viewport": {"width": width, "height": 740}}
    page = opened(found.pages.invited("ann", "judge", 1)[1], **view)
    page.click("#begin")
    page.wait_for_selector("#pair:not([hidden])")
    sliders = page.locator(".slider input")
    places = [word for word in asking.words if not word.startswith(("cannot", "tie ("))]
    middle = len(places) // 2
    for place in range(len(places)):
        page.wait_for_timeout(300)
        before = page.evaluate("state.ticket.id")
        assert page.is_disabled("#send")
        assert page.locator("output").all_inner_texts() == ["Move the slider"] * sliders.count()
        page.keyboard.press("Enter")
        assert found.study.ticket(before).state == "open"
        for k in range(sliders.count()):
            sliders.nth(k).click()  # in the middle: a tie
            for _ in range(abs(place - middle)):
                page.keyboard.press("ArrowLeft" if place < middle else "ArrowRight")
        assert "Move the slider" not in page.inner_text("#pair")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.click("#send")
        page.wait_for_function("(id) => state.ticket.id !== id", arg=before)
        ticket = found.study.ticket(before)
        assert ticket.outcome == places[place]
        assert dict(ticket.criteria) == dict.fromkeys(asking.others, places[place])
    assert opened.faults == []


@pytest.mark.parametrize("grades", [1, 2, 3, 4])
def test_a_slider_goes_with_grades(grades):
    if grades == 1:
        with pytest.raises(ValueError, match="slider needs grades from 2 to 4, got grades=1"):
            bd.study.Asking(grades=grades, slider=True)
    else:
        assert bd.study.Asking(grades=grades, slider=True).slider
