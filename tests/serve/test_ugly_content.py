"""The judge's page holds whatever is compared: each kind of content at each width of a screen."""

import struct
import zlib

import pytest

import bayesduel as bd
from bayesduel.serve.language import LANGUAGES
from tests.serve.conftest import EVERYTHING

pytestmark = pytest.mark.plain

ARMS = ("secret-a", "secret-b")
WIDTHS = (360, 768, 1280, 1920)
LINE = "result = " + " + ".join(f"function_{n}(argument, other={n})" for n in range(30))
CELLS = " | ".join(f"column {n} of the table" for n in range(12))
FORMULA = r"$\mathbf{x}_i + \mathbf{y}_j < \{a*b*c\}$"
DISPLAY = "$$\n\\sum_{i=1}^n x_i^2 \\\\\n- \\frac{1}{2} " + " + y_{long}" * 30 + "\n$$"
HEBREW = "שלום עולם, זו תשובה על חורים שחורים."
ARABIC = "الثقب الأسود منطقة في الفضاء لا يفلت منها شيء."
KINDS = {
    "code": f"Here is how:\n\n```python\n{LINE}\n```\n\nand inline `{LINE}`.",
    "table": f"| {CELLS} |\n|{'---|' * 12}\n| {CELLS} |",
    "long word": "Donaudampfschiff" * 60,
    "wide picture": "wide.png",
    "tall picture": "tall.png",
    "picture in text": "Look:\n\n![a chart](wide.png)\n\nand ![another](tall.png).",
    "Arabic": f"{ARABIC}\n\n- {ARABIC}\n- English in between\n\n`{LINE}`",
    "Hebrew": f"# {HEBREW}\n\n{HEBREW * 5}",
    "Chinese": "黑洞是时空中引力极强的区域，任何东西都无法逃脱。" * 30,
    "headings": "# One\n\ntext\n\n## Two\n\ntext\n\n### Three\n\ntext\n\n###### Six\n\n"
    + "# Longheadingword" * 20,
    "formulas": f"So {FORMULA} and\n{DISPLAY}\nend. It costs $5 or $10.",
    "quotes and lists": "\n".join(f"{'> ' * n}{'- ' * n}deep" for n in range(1, 6)),
}
NAMES = [*KINDS]
# Each kind stands on the left, on the right and in the question; four of these have all kinds.
TOGETHER = [
    pytest.param(
        NAMES[k],
        NAMES[(k + 4) % 12],
        NAMES[(k + 8) % 12],
        id=NAMES[k],
        marks=pytest.mark.slow if k >= 4 else (),
    )
    for k in range(12)
]
FITS = """() => {
  const wide = document.documentElement.clientWidth;
  const outside = [...document.querySelectorAll("#pair *")].filter((e) => {
    const box = e.getBoundingClientRect();
    const scrolls = e.parentElement.closest("pre, table, .display");
    return !scrolls && (box.left < -1 || box.right > wide + 1);
  });
  return {
    scroll: document.documentElement.scrollWidth - wide,
    outside: outside.map((e) => e.outerHTML.slice(0, 80)),
    sides: [...document.querySelectorAll(".sides > *")].map((e) => e.getBoundingClientRect().width),
    answers: document.getElementById("answers").getBoundingClientRect().bottom - innerHeight,
    inner: innerWidth - document.documentElement.clientWidth,
  };
}"""
# Contrast of text and what it stands on, by the formula of WCAG 2.2.
CONTRAST = """() => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255);
    const linear = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = (e) => {
    const own = getComputedStyle(e).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : own;
  };
  const texts = document.querySelectorAll(".text *, .text, .form legend, .chip span");
  return Math.min(...[...texts].map((e) => {
    const two = [light(getComputedStyle(e).color), light(ground(e))].sort((a, b) => b - a);
    return (two[0] + 0.05) / (two[1] + 0.05);
  }));
}"""


def png(width, height):
    """Return a picture of stripes."""

    def chunk(name, data):
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    row = bytes([0]) + bytes(90 + 130 * (x // 50 % 2) for x in range(width))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(row * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def wav(seconds, rate=8000):
    """Return a recording of silence."""
    n = int(seconds * rate)
    form = struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8)
    head = b"RIFF" + struct.pack("<I", 36 + n) + b"WAVEfmt " + struct.pack("<I", 16) + form
    head += b"data" + struct.pack("<I", n)
    return head + b"\x80" * n


def size_of(width):
    """Return the size of a window: those of phones are less high."""
    return {"width": width, "height": 740 if width == 360 else 900}


@pytest.fixture
def judged(serving, opened, tmp_path):
    """Return a function that opens the page of a judge who compares two contents."""
    (tmp_path / "wide.png").write_bytes(png(4000, 300))
    (tmp_path / "tall.png").write_bytes(png(300, 4000))

    def made(left, right="Short.", prompt="Which one?", width=1280, asking=None, language="en"):
        rows = [("", "", prompt), ("secret-a", "", left), ("secret-b", "", right)]
        found = serving(arms=ARMS, rows=rows, asking=asking, language=language)
        link = found.pages.invited("ann", "judge", 1)[1]
        page = opened(link, viewport=size_of(width))
        page.click("#begin")
        page.wait_for_selector("#pair:not([hidden])")
        page.evaluate(
            'Promise.all([...document.querySelectorAll("#pair img")].map((i) => i.decode()))'
        )
        return page

    return made


@pytest.mark.parametrize(("left", "right", "prompt"), TOGETHER)
@pytest.mark.parametrize("asking", [None, bd.study.Asking(grades=4, both_bad=True), EVERYTHING],
                         ids=["plain", "grades", "everything"])  # fmt: skip
@pytest.mark.sampled(4)
def test_the_page_holds_whatever_is_compared(judged, opened, asking, left, right, prompt):
    page = judged(KINDS[left], KINDS[right], prompt=KINDS[prompt], asking=asking)
    for width in WIDTHS:
        page.set_viewport_size(size_of(width))
        found = page.evaluate(FITS)
        assert found["scroll"] <= 0, width
        assert found["outside"] == [], width
        assert abs(found["sides"][0] - found["sides"][1]) < 1
        assert found["sides"][0] > (300 if width == 360 else 0.4 * min(width, 1344))
        assert abs(found["answers"]) < 1  # the buttons stand at the lower end of the window
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) >= 4.5
    assert opened.faults == []


@pytest.mark.parametrize(
    ("kind", "size"), [("wide picture", (4000, 300)), ("tall picture", (300, 4000))]
)
def test_a_huge_picture_is_shown_in_full_size_on_a_click(judged, opened, kind, size):
    page = judged(KINDS[kind], "tall.png", width=360)
    shown = page.locator("#pair .sides img").first.bounding_box()
    assert shown["width"] <= 330 and shown["height"] <= 0.7 * 740 + 1
    page.locator(".sides .zoom").first.focus()
    page.keyboard.press("Enter")  # no mouse is needed
    page.wait_for_selector("#zoom[open]")
    one, two = page.locator("#zoomed").bounding_box(), sorted([size, (300, 4000)])
    assert (one["width"], one["height"]) in two
    page.keyboard.press("1")  # who looks at a picture answers nothing
    assert page.inner_text("#progress") == ""
    page.keyboard.press("Escape")
    page.wait_for_selector("#zoom:not([open])", state="attached")
    page.locator(".sides .zoom").last.click()
    page.wait_for_selector("#zoom[open]")
    page.mouse.click(20, 20)
    page.wait_for_selector("#zoom:not([open])", state="attached")
    assert opened.faults == []


def test_each_side_has_the_direction_of_its_text(judged):
    page = judged(KINDS["Arabic"], KINDS["Hebrew"], prompt=ARABIC, width=768)
    style = "(e) => [getComputedStyle(e).direction, getComputedStyle(e).textAlign]"
    for side in ("left", "right", "prompt"):
        assert page.eval_on_selector(f"#{side}", style)[0] == "rtl"
    assert page.eval_on_selector("#pair pre, #pair code", style) == ["ltr", "left"]
    starts = """() => {
    const lines = document.querySelectorAll("#pair .text :is(p:not(:has(code)), h3, li)");
    return [...lines].map((e) => {
      const range = document.createRange();
      range.selectNodeContents(e);
      const [line] = range.getClientRects();
      return Math.round(e.getBoundingClientRect().right - line.right);
    });
  }"""
    free = page.evaluate(starts)
    assert len(free) == 6
    assert max(free) < 3  # lines begin at the right, those of English in an Arabic list, too


def test_headings_of_a_content_stand_below_those_of_the_page(judged):
    page = judged(KINDS["headings"])
    assert page.locator("h1:visible").all_inner_texts() == ["Which one is better?"]
    assert page.locator("h2:visible").count() == 2
    sizes = [
        page.eval_on_selector(
            f"#pair .sides {tag}", "(e) => parseFloat(getComputedStyle(e).fontSize)"
        )
        for tag in ("h3", "h4", "h5", "h6")
    ]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 4
    assert (
        page.eval_on_selector("#pair .sides h3", "(e) => getComputedStyle(e).textAlign") == "start"
    )


def test_a_formula_is_set_and_one_that_is_none_stays_as_it_was_written(judged, opened):
    page = judged(KINDS["formulas"], r"$x^2$ and $\frac{1}{$ and $\href{javascript:alert(7)}{x}$")
    both = page.locator("#pair .sides")
    assert both.locator("math").count() == 3
    assert both.locator(".formula.display math").count() == 1
    assert r"$\frac{1}{$" in both.text_content()
    assert "It costs $5 or $10." in both.text_content()
    assert both.locator("a").count() == 0
    assert opened.faults == []


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(("left", "right", "prompt"), TOGETHER)
@pytest.mark.parametrize("asking", [None, EVERYTHING], ids=["plain", "everything"])
@pytest.mark.sampled(12)
def test_the_page_holds_whatever_is_compared_in_each_language(
    judged, opened, asking, left, right, prompt, code
):
    page = judged(KINDS[left], KINDS[right], prompt=KINDS[prompt], asking=asking, language=code)
    direction = "rtl" if code == "ar" else "ltr"
    for width in (390, 1280):
        page.set_viewport_size(size_of(width))
        found = page.evaluate(FITS)
        assert (found["scroll"] <= 0, found["outside"]) == (True, []), width
    assert page.evaluate("getComputedStyle(document.documentElement).direction") == direction
    first, second = (page.locator(f"#{side}").bounding_box() for side in ("left", "right"))
    assert (first["x"] < second["x"]) == (direction == "ltr")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(CONTRAST) >= 4.5
    assert opened.faults == []


def test_long_sides_scroll_in_step_until_told_otherwise(judged):
    page = judged("word " * 2000, "word " * 4000)
    sides = page.locator(".sides > *")
    move = "(e, to) => { e.scrollTop = to; }"
    share = "(e) => e.scrollTop / (e.scrollHeight - e.clientHeight)"
    sides.nth(0).evaluate(move, 1000)
    page.wait_for_timeout(200)
    one, two = sides.nth(0).evaluate(share), sides.nth(1).evaluate(share)
    assert 0.05 < one < 1 and abs(one - two) < 0.01
    page.click("#step")
    sides.nth(1).evaluate(move, 0)
    page.wait_for_timeout(200)
    assert abs(sides.nth(0).evaluate(share) - one) < 0.01


def test_recordings_start_and_stop_together(judged, opened, tmp_path):
    for name in ("one.wav", "two.wav"):
        (tmp_path / name).write_bytes(wav(3.0))
    page = judged("one.wav", "two.wav")
    page.click("#both")
    page.wait_for_timeout(700)
    times = page.evaluate("[...document.querySelectorAll('audio')].map((a) => a.currentTime)")
    assert min(times) > 0.2 and max(times) - min(times) < 0.1
    assert page.inner_text("#both") == "Pause both"
    page.click("#both")
    paused = page.evaluate("[...document.querySelectorAll('audio')].map((a) => a.paused)")
    assert paused == [True, True]
    assert opened.faults == []
