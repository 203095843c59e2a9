"""Three judges in a browser, from invitation to verdict."""

import re

import pytest

import bayesduel as bd

pytestmark = pytest.mark.plain


@pytest.fixture
def served(serving):
    """Return pages of a small study that are served by Uvicorn."""
    return serving(
        items=["black holes"],
        rows=[("", "black holes", "**Explain black holes.**")]
        + [(a, "black holes", t) for a, t in (("secret-a", "best *answer*"), ("secret-b", "a.png"),
                                              ("secret-c", "<script>document.title=1</script>"))],
        stop=bd.study.Budget(8), policy="auto", completion_code="C0FFEE",
    )  # fmt: skip


def prefer(page):
    """Answer a pair: the best answer wins, the others are equal."""
    page.wait_for_timeout(300)
    sides = [page.inner_text("#left"), page.inner_text("#right")]
    best = [n for n, side in enumerate(sides, start=1) if side == "best answer"]
    told = page.inner_text("#progress")
    page.keyboard.press(str(best[0]) if best else "=")
    return told


def moved_on(page, told):
    """Wait until an answer is taken."""
    for _ in range(100):
        if page.inner_text("#progress") != told:
            return
        page.wait_for_timeout(50)
    raise AssertionError(page.inner_text("#status"))


def test_three_judges_from_invitation_to_verdict(served, opened):
    admin = served.pages.invited("root", "admin", 1)[1]
    root = opened(admin)
    root.wait_for_url("**/admin")
    root.fill("#judges", "ann\nbob\ncarla")
    root.click("text=Make links")
    root.wait_for_selector("td code")
    links = [link.inner_text() for link in root.locator("td code").all()]
    assert len(links) == 3
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
    judges = [opened(links[0]), opened(links[1]), opened(links[2], **phone)]
    for page in judges:
        page.wait_for_selector("#begin")
        assert page.url.endswith("/judge") and "#" not in page.url
        page.keyboard.press("Tab")  # no mouse is needed
        page.keyboard.press("Enter")
        page.wait_for_selector("#pair:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    ann, bob, carla = judges
    assert ann.evaluate("document.activeElement.id") == "question"
    assert ann.title() != "1"  # scripts are shown, not run

    first = ann.inner_text("#left"), ann.inner_text("#right")  # undo
    moved_on(ann, prefer(ann))
    ann.keyboard.press("u")
    moved_on(ann, "Answers: 1")
    assert (ann.inner_text("#left"), ann.inner_text("#right")) == first
    assert served.study.n_duels == 0
    moved_on(ann, prefer(ann))

    def of(judge):
        return {row["judge"]: row for row in served.study.judges()}[judge]

    shown = bob.inner_html("#pair")  # skip
    bob.wait_for_timeout(300)
    bob.keyboard.press("s")
    bob.wait_for_selector("#undo:not([disabled])")
    assert bob.inner_html("#pair") != shown
    assert of("bob")["skipped"] == 1

    def lost(route):  # the server gets the answer, the page no word of it
        route.fetch()
        route.abort()

    for told_before, drop in enumerate((lambda route: route.abort(), lost)):
        carla.route("**/api/judge/answer", drop)
        told = prefer(carla)
        carla.wait_for_selector("text=Your answer is kept here")
        taken = of("carla")["told"]
        assert taken == told_before + (drop is lost)
        carla.unroute("**/api/judge/answer")
        carla.reload()  # even a page that is loaded anew has it
        moved_on(carla, told)
        assert of("carla")["told"] == told_before + 1

    opened.faults.clear()  # of the connection
    for _ in range(12):
        for page in judges:
            if page.is_visible("#pair") and not served.study.stopped:
                moved_on(page, prefer(page))
    for page in judges:
        page.reload()

        page.wait_for_selector("#end:not([hidden])")
    assert ann.inner_text("#code") == "C0FFEE"
    root.goto(served.pages.options.public_url + "/standings")
    root.wait_for_selector("text=secret-a is the best")
    assert not opened.faults
    rows = served.study.rows()
    assert len(rows) == served.study.n_duels == 8
    assert {row["judge"] for row in rows} == {"ann", "bob", "carla"}
    assert all(re.search("left|right", r["outcome"]) for r in rows if "secret-a" in r.values())


def test_long_names_fit_the_admin_page_of_a_phone(served, opened):
    long = "checkpoint_" + "x" * 80
    served.study.add_arms([long])
    served.study.add(long, "secret-a", "left", judge="y" * 60, item="black holes")
    phone = {"viewport": {"width": 360, "height": 740}}
    page = opened(served.pages.invited("root", "admin", 1)[1], **phone)
    page.wait_for_url("**/admin")
    wide = "[...document.querySelectorAll('.scroll')].map((e) => e.scrollWidth - e.clientWidth)"
    for form in ("correct", "exclude"):  # that hide others while they are open
        page.click(f"details[name={form}] summary")
        assert max(page.evaluate(wide)) <= 1  # a hidden word may take a pixel
        assert page.is_visible(f"details[name={form}] form")
        page.click(f"details[name={form}] summary")


KEYS = [
    ("1", "Digit1", "left"),
    ("&", "Digit1", "left"),  # AZERTY
    ("é", "Digit2", "right"),
    ("à", "Digit0", "tie"),
    ("٢", "Digit2", "right"),  # Arabic
    ("с", "KeyC", "cannot tell"),  # Cyrillic
    ("o", "KeyS", None),  # Dvorak: the letter that is typed counts
    ("End", "Numpad1", None),  # without the lock of digits
    ("Dead", "Digit2", None),
    ("ы", "KeyS", "skipped"),  # the last one: a judge is not asked a pair again that was skipped
]


@pytest.mark.parametrize("player", ["audio", "video"])
def test_keys_answer_on_any_keyboard_and_after_a_click_on_a_player(
    serving, opened, tmp_path, player
):
    name = {"audio": "s.wav", "video": "f.mp4"}[player]
    (tmp_path / name).write_bytes(b"RIFF")
    items = [f"item {k}" for k in range(20)]  # a judge sees the pair on each once
    rows = [(arm, item, name) for arm in "ab" for item in items]
    found = serving(arms=("a", "b"), items=items, rows=rows)
    page = opened(found.pages.invited("ann", "judge", 1)[1])
    page.click("#begin")
    page.wait_for_selector("#pair:not([hidden])")
    done = 0
    for key, code, outcome in KEYS:
        page.wait_for_timeout(300)
        page.locator(player).first.click()
        assert page.evaluate("document.activeElement.localName") == player
        sent = f"new KeyboardEvent('keydown', {{key: '{key}', code: '{code}', bubbles: true}})"
        page.evaluate(f"() => document.activeElement.dispatchEvent({sent})")
        page.wait_for_timeout(150)
        rows = found.study.audit()
        assert len(rows) - done == (outcome is not None), key
        if outcome is not None:
            assert outcome in str(rows[-1].values()), (key, rows[-1])
        done = len(rows)
