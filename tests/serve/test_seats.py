"""The seat of an open link belongs to the browser that took it, and names are nobody's proof."""

import sqlite3
from contextlib import closing

import pytest

from bayesduel.serve.access import Access
from bayesduel.serve.options import SEATS

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

ORIGIN = "http://127.0.0.1:8000"


@pytest.fixture
def panel(site):
    """Return pages with an open link "panel", and a function that opens it in a browser."""

    def made(**options):
        found = site(**options)
        found.client("panel", "open")

        def enter(browser, participant="", link="panel"):
            sent = {"token": found.tokens[link], "arrival": f"participant={participant}"}
            return browser.post("/enter", data=sent)

        found.browser = lambda: found.stranger(origin=ORIGIN)
        found.enter = enter
        return found

    return made


def judged(browser, what="1"):
    """Begin and answer a pair; return the state after it."""
    state = browser.post("/api/judge/begin", json={"agree": True}).json()
    sent = {"key": state["ticket"]["key"], "answer": what}
    return browser.post("/api/judge/answer", json=sent).json()


def judges(made):
    """Return the names of those who are judges."""
    return {i.judge for i in made.pages.access.all() if i.role == "judge"}


def test_the_name_of_a_participant_opens_no_seat_of_another_browser(panel):
    made = panel()
    ann, thief = made.browser(), made.browser()
    assert made.enter(ann, "ann").status_code == 303
    last = judged(ann)["last"]
    refused = made.enter(thief, "ann")
    assert refused.status_code == 403
    assert "another browser" in refused.text and "panel-ann" in refused.text
    assert thief.get("/api/judge").status_code == 401
    assert thief.post("/api/judge/undo", json={"ticket": last}).status_code == 401
    assert made.study.n_duels == 1
    assert made.enter(ann, "ann").headers["location"] == "/judge"  # where she began it opens
    assert ann.get("/api/judge").json()["told"] == 1


@pytest.mark.parametrize("secret", ["", "x", "a" * 43, "é" * 43, "a" * 5000])
def test_a_made_up_browser_opens_no_seat(panel, secret):
    made = panel()
    made.enter(made.browser(), "ann")
    name = f"bayesduel_{made.pages.key}_browser"
    thief = made.stranger(origin=ORIGIN, cookie=f"{name}={secret}".encode())
    assert made.enter(thief, "ann").status_code == 403


def test_an_open_link_does_not_take_over_a_judge_who_is_called_like_its_seat(panel):
    made = panel()
    victim, thief = made.client("panel-victim"), made.browser()
    state = victim.get("/api/judge").json()
    sent = {"key": state["ticket"]["key"], "answer": "1"}
    last = victim.post("/api/judge/answer", json=sent).json()["last"]
    assert made.enter(thief, "victim").status_code == 303
    assert thief.get("/api/judge").json()["phase"] == "instructions"  # nothing of the victim's
    assert thief.post("/api/judge/undo", json={"ticket": last}).status_code == 404
    assert judges(made) == {"panel-victim", "panel-victim-2"}
    assert made.study.n_duels == 1


def test_two_links_whose_names_meet_have_two_judges(panel):
    made = panel()
    made.client("panel-a", "open")
    one, two = made.browser(), made.browser()
    made.enter(one, "a-b")
    made.enter(two, "b", link="panel-a")
    assert judges(made) == {"panel-a-b", "panel-a-b-2"}


def test_a_seat_is_not_called_like_a_judge_who_answered_from_a_program(panel):
    made = panel()
    made.study.add("secret-a", "secret-b", "left", judge="panel-ann")
    made.enter(made.browser(), "ann")
    assert judges(made) == {"panel-ann-2"}


def test_a_second_participant_in_one_browser_is_another_judge(panel):
    made = panel()
    shared = made.browser()
    made.enter(shared, "P1")
    judged(shared)
    made.enter(shared, "P2")
    assert shared.get("/api/judge").json()["phase"] == "instructions"
    assert judged(shared)["told"] == 1
    assert judges(made) == {"panel-P1", "panel-P2"}
    made.enter(shared, "P1")  # who comes back goes on
    assert judged(shared)["told"] == 2
    assert {row["judge"] for row in made.study.rows()} == {"panel-P1", "panel-P2"}


def test_an_entry_whose_answer_was_lost_is_sent_again(panel):
    made = panel()
    browser = made.browser()
    browser.get("/enter")
    before = dict(browser.cookies)
    assert made.enter(browser, "ann").status_code == 303
    browser.cookies.clear()  # the answer never came
    for name, value in before.items():
        browser.cookies.set(name, value)
    assert made.enter(browser, "ann").status_code == 303
    assert judges(made) == {"panel-ann"}


def test_the_page_of_the_link_keeps_the_secret_of_a_browser(panel):
    made = panel()
    browser = made.browser()
    first = browser.get("/enter").headers["set-cookie"]
    assert "httponly" in first.lower() and "samesite=lax" in first.lower()
    assert browser.get("/enter").headers["set-cookie"] == first
    with closing(sqlite3.connect(made.study.store.path)) as base:
        assert first.partition("=")[2][:43] not in "\n".join(base.iterdump())


def test_a_link_has_so_many_seats_as_the_command_says(panel):
    made = panel(seats=5)
    entered = [made.enter(made.browser()) for _ in range(27)]
    assert [answer.status_code for answer in entered] == [303] * 5 + [403] * 22
    assert "5 judges" in entered[-1].text
    assert len(judges(made)) == 5
    made.client("other", "open")
    assert made.enter(made.browser(), link="other").status_code == 303  # of each link


@pytest.mark.slow
def test_one_person_is_not_any_number_of_judges_by_default(panel):
    made = panel()
    entered = [made.enter(made.browser(), f"P{k}").status_code for k in range(SEATS + 1)]
    assert entered == [303] * SEATS + [403]


def test_a_seat_that_was_revoked_stays_so(panel):
    made = panel()
    ann, other = made.browser(), made.browser()
    made.enter(ann, "ann")
    made.pages.access.mark(made.pages.access.all()[0].number, "revoked")
    assert made.enter(ann, "ann").status_code == 403
    assert made.enter(other, "ann").status_code == 403
    assert ann.get("/api/judge").status_code == 401
    assert judges(made) == {"panel-ann"}


def test_the_administrator_lets_a_judge_in_again(panel):
    made = panel()
    old, new = made.browser(), made.browser()
    made.enter(old, "ann")
    judged(old)
    assert made.enter(new, "ann").status_code == 403
    made.client("panel-ann")  # the administrator invites her by the name that the page shows
    assert made.enter(new, link="panel-ann").status_code == 303
    assert new.get("/api/judge").json()["told"] == 1
    assert made.enter(new, "ann").status_code == 303  # and the open link goes on from there
    assert new.get("/api/judge").json()["told"] == 1


def test_the_cookie_of_an_invitation_of_another_role_is_no_seat(panel):
    made = panel()
    name = f"bayesduel_{made.pages.key}_judge"
    made.client("root", "admin")
    for role in ("panel", "root"):
        browser = made.stranger(origin=ORIGIN, cookie=f"{name}={made.tokens[role]}")
        assert made.enter(browser).headers["location"] == "/judge"
    assert len(judges(made)) == 2


def test_a_study_that_was_made_before_seats_opens_and_its_judges_go_on(panel):
    made = panel()
    token = made.pages.invited("panel-ann", "judge", 1)[1].partition("#")[2]  # as it was then
    with closing(sqlite3.connect(made.study.store.path)) as base:
        base.execute("DROP TABLE seats")
    made.pages.access = Access(made.study.store)
    name = f"bayesduel_{made.pages.key}_judge"
    ann = made.stranger(origin=ORIGIN, cookie=f"{name}={token}")
    assert made.enter(ann, "ann").headers["location"] == "/judge"
    assert judges(made) == {"panel-ann"}
    assert made.enter(made.browser(), "ann").status_code == 303
    assert judges(made) == {"panel-ann", "panel-ann-2"}  # the name is no proof


@pytest.mark.usefixtures("still_clock")
def test_a_lecture_hall_enters_by_one_address(panel):
    made = panel()
    tokens = [
        made.pages.invited(f"student {k}", "judge", 1)[1].partition("#")[2] for k in range(90)
    ]
    guesses = [{"token": f"guess {k}"} for k in range(40)]
    seen = [made.browser().post("/enter", data=sent).status_code for sent in guesses]
    assert seen[:30] == [401] * 30 and seen[30:] == [429] * 10  # guessing is slowed down
    for token in tokens:
        assert made.browser().post("/enter", data={"token": token}).status_code == 303
