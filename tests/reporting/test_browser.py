"""Pages in Chromium: what a reader clicks, with scripts off too, and names that try to run."""

import csv
import json
import re
import shutil
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry
from bayesduel.reporting.html import page as page_of
from bayesduel.reporting.partial_report import IndexRow, index_section
from bayesduel.reporting.section import Matrix, Section
from tests.support.browser import browser, seen, seen_at_once, title_of
from tests.support.parsing import Page

pytestmark = browser
IMAGE = "<img src=x onerror=document.title='hit'>"
NASTY = (
    IMAGE,
    "</script><script>document.title='hit'</script>",
    "\"'><svg onload=document.title='hit'>",
    "javascript:document.title='hit'",
    "</style></title><script>document.title='hit'</script>",
    "${document.title='hit'}{{ document.title }}",
)
EVERYTHING = """
for (const d of document.querySelectorAll("details")) d.open = true;
for (const b of document.querySelectorAll("button")) b.click();
for (const s of document.querySelectorAll("select")) {
  s.selectedIndex = 2; s.dispatchEvent(new Event("change", {bubbles: true}));
}
for (const i of document.querySelectorAll("input")) {
  i.value = "<"; i.dispatchEvent(new Event("input", {bubbles: true}));
}
"""
COPIED = """
const texts = [];
const kinds = ["markdown", "csv", "json"];
Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => {
  texts.push([kinds[texts.length], text]);
  document.title = JSON.stringify(Object.fromEntries(texts));
}}});
(async () => {
  for (const kind of kinds) {
    document.querySelector(`form.board [data-copy=${kind}]`).click();
    await new Promise((done) => setTimeout(done, 300));
  }
})();
"""
WINS = [[0, 22, 15], [16, 0, 11], [8, 10, 0]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a report and a site of three arms, and of a second edition."""
    made = tmp_path_factory.mktemp("pages")
    log = bd.Duels.from_wins(WINS, ["a|b", "Bee", "c_c"])
    given = {"model": BradleyTerry(), "draws": 200, "title": "Three", "noun": "bee"}
    bd.report(log, made / "report.html", **given)
    for day in ("2026-11-01", "2026-11-08"):
        bd.site(log, made / "site", date=day, **given)
    return made


PAGES = ("report.html", "site/index.html")  # with a leaderboard
SCRIPTS = {}  # of the tests that look at what a script has made of each of these pages


def after(script, around="{text}"):
    """Let a test look at each page after a script has run in it, or in a page around it."""

    def decorated(test):
        SCRIPTS[test.__name__] = script, around
        return pytest.mark.parametrize("name", PAGES)(test)

    return decorated


@pytest.fixture(scope="module")
def every(folder, tmp_path_factory):
    """Return the elements of each page after each script, of one start of Chromium."""
    scripts = {}
    for script, around in SCRIPTS.values():
        own = shutil.copytree(folder, tmp_path_factory.mktemp("own") / "own")
        for path in map(own.joinpath, PAGES):
            shown = path.with_name("shown.html")
            shown.write_text(around.format(text=path.read_text("utf-8"), name=path.name), "utf-8")
            scripts[shown] = script
    found = seen_at_once(scripts, tmp_path_factory.mktemp("frames"))
    return dict(zip(product(SCRIPTS, PAGES), found.values(), strict=True))


@pytest.fixture
def dom(every, request, name):
    """Return the elements of a page after the script of a test has run in it."""
    return every[request.node.originalname, name]


def rows_of(dom, kind="board"):
    """Return attributes and cells of each row of the body of a table."""
    table = re.search(rf'<table class="full {kind}">(.*?)</table>', dom, flags=re.S)[1]
    body = table.split("<tbody>")[1]
    rows = re.findall(r"<tr([^>]*)>(.*?)</tr>", body, flags=re.S)
    plain = [
        (own, [re.sub("<[^>]*>", "", c).strip() for c in re.findall("<td.*?</td>", row, re.S)])
        for own, row in rows
    ]
    return plain


def _both_ways(log, order, first, second):
    """Return the places of a pair of the ranking in the matrix of wins, and the other way round."""
    i, j = (log.arms.index(order[k]) for k in (first, second))
    return (i, j), (j, i)


@pytest.mark.slow
@after(
    """
    const heads = document.querySelectorAll("table.board th button");
    heads[0].click(); heads[0].click();
    const box = document.querySelector("form.board input");
    box.value = "BEE"; box.dispatchEvent(new Event("input"));
    """
)
def test_heads_sort_both_ways_and_the_filter_hides(dom):
    rows = rows_of(dom)
    assert [cells[0] for _, cells in rows] == ["3", "2", "1"]
    assert [cells[1] for own, cells in rows if "hidden" not in own] == ["Bee"]
    assert re.search(r"<output[^>]*>1 of 3</output>", dom)


@pytest.mark.slow
def test_a_verdict_in_the_table_of_logs_has_room_on_a_phone(tmp_path):
    """It stood in a column of one or two words, eleven lines high."""
    words = (
        "Not enough data yet: the best animal is x38 or x255 (> 99 % sure), probably x38 (57 %)."
    )
    index = index_section(["Alados_1992a"], [IndexRow("298", "7", words)])
    path = tmp_path / "logs.html"
    path.write_text(page_of("Logs", {"Alados_1992a": ()}, subject="duels", index=index), "utf-8")
    script = """
    document.body.style.width = "330px";
    const cell = document.querySelector("td:last-child");
    document.title = [cell.clientWidth, document.body.scrollWidth].join(" ");
    """
    width, whole = title_of(seen(path, tmp_path, script, "--window-size=500,900")).split()
    assert int(width) > 180 and int(whole) <= 330


@pytest.mark.slow
def test_a_matrix_of_many_arms_is_printed_small_and_with_its_dots(tmp_path):
    """Of 58 arms a page took 190 MB and minutes: each dot was a gradient."""
    mean = np.full((30, 30), 0.7)
    matrix = Matrix(arms=[f"arm {k}" for k in range(30)], mean=mean, clear=mean > 0.5)
    section = Section(id="preferences", title="Pairs", body=(matrix,))
    path = tmp_path / "matrix.html"
    path.write_text(page_of("Pairs", {"": (section,)}, subject="duels"), "utf-8")
    printed = tmp_path / "matrix.pdf"
    seen(path, tmp_path, "", f"--print-to-pdf={printed}")
    assert 10_000 < printed.stat().st_size < 2_000_000


@after(
    """
    const table = document.querySelector("table.board");
    const heads = [...table.querySelectorAll("th button")];
    document.title = JSON.stringify(heads.map((head, at) => {
      head.click();
      const sorted = [...table.querySelectorAll("th")].map((th) => th.getAttribute("aria-sort"));
      return [[...table.tBodies[0].rows].map((row) => row.cells[at].innerText), sorted, at];
    }));
    """
)
def test_every_head_sorts_its_column(dom, folder, name):
    """Names as text, numbers as numbers; the board of a later edition has changes, too."""
    found = json.loads(title_of(dom))
    assert len(found) == len(Page((folder / name).read_text()).rows["ranking"][0])
    for texts, heads, at in found:
        number = [re.match(r"\d+", text) for text in texts]
        key = [int(n[0]) for n in number] if all(number) else [text.lower() for text in texts]
        assert key == sorted(key)
        assert [k for k, head in enumerate(heads) if head == "ascending"] == [at]


@after(COPIED)
def test_copies_are_those_of_the_files(dom):
    assert re.search(r"<output[^>]*>Copied\.</output>", dom)
    found = json.loads(title_of(dom))
    rows = json.loads(found["json"])
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert {row["arm"] for row in rows} == {"a|b", "Bee", "c_c"}
    read = list(csv.DictReader(found["csv"].splitlines()))
    assert [row["arm"] for row in read] == [row["arm"] for row in rows]
    assert [float(row["rating"]) for row in read] == [row["rating"] for row in rows]
    lines = found["markdown"].strip().split("\n")
    assert lines[0].startswith("| rank | bee | rating | 95")
    assert len(lines) == 5 and any(r"| a\|b |" in line for line in lines)
    assert any(r"| c\_c |" in line for line in lines)


@after(
    """
    const [one, two] = document.querySelectorAll("form.compare select");
    const matrix = document.querySelector("table.matrix");
    const said = matrix.parentElement.nextElementSibling;
    const [pointed, compared] = [[], []];
    for (const [i, j] of [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]) {
      one.selectedIndex = i; two.selectedIndex = j;
      one.dispatchEvent(new Event("change", {bubbles: true}));
      compared.push(document.querySelector("form.compare + p").innerText);
      const cell = matrix.rows[i + 1].cells[j + 1];
      cell.dispatchEvent(new Event("pointerover", {bubbles: true}));
      pointed.push(said.textContent);
    }
    const press = (name) => matrix.dispatchEvent(new KeyboardEvent("keydown", {key: name}));
    for (const name of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight"]) press(name);
    document.title = JSON.stringify([pointed, compared, said.textContent, matrix.tabIndex]);
    """
)
def test_the_matrix_says_of_each_pair_what_the_comparison_does(dom):
    """Under the pointer, and under the arrow keys, which stop at the edges."""
    pointed, compared, by_keys, stop = json.loads(title_of(dom))
    assert pointed == compared and len(set(pointed)) == 6
    assert by_keys == compared[1] and stop == 0


@after(
    """
    const [one, two] = document.querySelectorAll("form.compare select");
    document.title = JSON.stringify([[0, 2], [2, 0]].map(([first, second]) => {
      one.selectedIndex = first; two.selectedIndex = second;
      one.dispatchEvent(new Event("change", {bubbles: true}));
      return document.querySelector("p.compared").innerText.replaceAll("\\u00a0", " ");
    }));
    """
)
def test_two_arms_are_compared_in_either_order(dom):
    said = json.loads(title_of(dom))
    log = bd.Duels.from_wins(WINS, ["a|b", "Bee", "c_c"])
    winners = bd.winners(bd.fit(log, BradleyTerry(), draws=200))
    order = [str(arm) for arm in winners["arm"].values[winners["order"].values]]
    for words, (first, second) in zip(said, ((0, 2), (2, 0)), strict=True):
        row = winners.sel(arm=order[first], opponent=order[second])
        expected = [100 * float(row[f"preference_{end}"]) for end in ("mean", "lower", "upper")]
        shown = [int(n) for n in re.search(r"(\d+) % \[(\d+), (\d+)\]", words).groups()]
        assert shown == pytest.approx(expected, abs=0.6)
        won, lost = (int(log.tally().wins[pair]) for pair in _both_ways(log, order, first, second))
        assert f"{won + lost} duels, {won} won" in words


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("is better (99", {"beats": 0.99}),
        ("is probably better (80", {"beats": 0.8}),
        ("It is open which of the two is better", {"beats": 0.6}),
        ("The two are practically equal", {"beats": 0.6, "lower": 0.49, "upper": 0.51}),
    ],
)
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_words_of_the_comparison_are_those_of_a_reader(folder, tmp_path, said, numbers):
    text = (folder / "report.html").read_text()
    data = re.search(r'<script type="application/json">(.*?)</script>', text)[1]
    held = json.loads(data)
    held["pairs"] |= {name: [value] * 3 for name, value in numbers.items()}
    path = tmp_path / "page.html"
    path.write_text(text.replace(data, json.dumps(held)))
    assert said in re.search(r'class="compared"[^>]*>(.*?)</p>', seen(path, tmp_path))[1]


@pytest.mark.slow
def test_a_category_is_chosen_and_its_own_ranking_shown(tmp_path):
    """Sorting, the filter and the copy are those of the rows that are shown."""
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, 4, (2, 900))
    topic = rng.choice(["code", "poems"], 900)
    strong = np.where(topic == "code", i, -i) - np.where(topic == "code", j, -j)
    met = i != j
    won = rng.random(900) < 1 / (1 + np.exp(-1.5 * strong))
    log = bd.Duels.from_votes([f"m{k}" for k in i[met]], [f"m{k}" for k in j[met]], won[met],
                              category=topic[met], keep={"topic": topic[met]})  # fmt: skip
    logs = {name: log[topic[met] == name] for name in ("code", "poems")}
    path = bd.report(logs, tmp_path / "by.html", pooled=True, noun="model", draws=400)
    script = """
    const choice = document.querySelector("form.board select");
    const rows = () => [...document.querySelectorAll("table.board tbody tr")]
      .filter((row) => row.offsetHeight).map((row) => row.cells[1].innerText);
    document.title = JSON.stringify([...choice.options].map((option, at) => {
      choice.selectedIndex = at;
      choice.dispatchEvent(new Event("change", {bubbles: true}));
      return [option.text, rows()];
    }));
    """
    shown = dict(json.loads(title_of(seen(path, tmp_path, script))))
    assert shown["code"] == ["m3", "m2", "m1", "m0"] and shown["poems"] == shown["code"][::-1]
    assert sorted(shown["all"]) == sorted(shown["code"]) and len(shown) == 3


@after(
    """
    onload = () => {
      const page = frames[0].document;
      const high = (what) => [...page.querySelectorAll(what)].filter((e) => e.offsetHeight);
      document.title = JSON.stringify([high("table.board tbody tr").length,
        high("form").length, high("th button").length, high("details summary").length > 5,
        high("p.files a").length > 0]);
    };
    """,
    '<title></title><body><iframe src="{name}" sandbox="allow-same-origin"></iframe></body>',
)
def test_with_scripts_off_the_page_is_whole(dom):
    """In a frame that may run no script, which the page around it looks at."""
    assert json.loads(title_of(dom)) == [3, 0, 0, True, True]


@pytest.mark.slow
def test_links_lead_to_the_arm_and_back(folder, tmp_path):
    site = shutil.copytree(folder / "site", tmp_path / "site")
    click = 'document.querySelector("table.board td.name a").click();'
    dom = seen(site / "index.html", tmp_path, click)
    best = json.loads((site / "ranking.json").read_text())["ranking"][0]["arm"]
    assert re.search(r"<h1>(.*?)</h1>", dom)[1] == best and "Against each opponent" in dom
    dom = seen(site / "arms/bee.html", tmp_path, 'document.querySelector("header a").click();')
    assert re.search(r"<h1>(.*?)</h1>", dom)[1] == "Three"
    dom = seen(site / "arms/bee.html", tmp_path, EVERYTHING)  # sorts by each head, filters
    assert all("hidden" in own for own, _ in rows_of(dom))
    report = Page((folder / "report.html").read_text())
    anchors = [str(a["href"])[1:] for tag, a in report.tags if str(a.get("href"))[:1] == "#"]
    assert len(anchors) > 2 and {*anchors} <= {*report.anchors}


@after(
    """
    const all = [...document.querySelectorAll("button, input, select, summary, a[href]")];
    const odd = all.filter((e) => {
      for (let d = e; d; d = d.parentElement) if (d.tagName === "DETAILS") d.open = true;
      e.focus();
      return e.tabIndex !== 0 || document.activeElement !== e
        || getComputedStyle(e).outlineStyle === "none";
    });
    document.title = `${all.length} ${odd.map((e) => e.outerHTML)}`;
    """
)
def test_everything_that_is_clicked_takes_the_keyboard(dom):
    total, _, odd = title_of(dom).partition(" ")
    assert int(total) > 10 and not odd


@after(
    "onload = () => { document.title = frames[0].document.documentElement.scrollWidth; };",
    '<title></title><body><iframe src="{name}" style="width: 360px"></iframe></body>',
)
def test_a_phone_scrolls_no_page_sideways(dom):
    """In a frame of 360 px, since a window of Chromium is never narrower than 500."""
    assert 0 < int(title_of(dom)) <= 360


# -- names that try to run -----------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return pages in which every name that a user can give is markup or a script."""
    made = tmp_path_factory.mktemp("hostile")
    log = made / f"{IMAGE}.csv"
    rng = np.random.default_rng(0)
    sides, judge, prompt, kind, size = (f"{name} {IMAGE}" for name in "sjpkc")
    columns = [f"left {sides}", f"right {sides}", "outcome", judge, prompt, kind, size]
    with log.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        for k in range(240):
            i, j = rng.choice(len(NASTY), 2, replace=False)
            side = "left" if rng.random() < 0.5 + 0.1 * (j - i) / len(NASTY) else "right"
            rows.writerow([NASTY[i], NASTY[j], side, NASTY[k % 5], NASTY[k % 3], NASTY[k % 2],
                           rng.normal()])  # fmt: skip
    common = ["--left", columns[0], "--right", columns[1], "--draws", "100", "--noun", IMAGE]
    kept = ["--judge", judge, "--group", prompt, "--covariates", size, "--title", NASTY[1]]
    read = [str(log), *common]
    calls = (
        ("report", *read, *kept, "-o", str(made / "report.html")),
        ("report", *read, "--by", kind, "-o", str(made / "by.html")),
        ("report", *read, "--by", kind, "--separate", "-o", str(made / "separate.html")),
        ("check", *read[:5], "--quick", "-o", str(made / "check.html")),
        ("site", *read, *kept, "-o", str(made / "site"), "--date", "2026-11-01"),
        ("site", *read, "-o", str(made / "site"), "--date", "2026-11-08"),
    )
    for call in calls:
        done = CliRunner().invoke(main, list(call))
        assert done.exit_code == 0, done.output
    return made


@pytest.mark.slow
def test_hostile_names_run_nothing(hostile, tmp_path):
    own = shutil.copytree(hostile, tmp_path / "own")
    pages = sorted(own.rglob("*.html"))
    assert len(pages) == 5 + len(NASTY)
    for path in pages:
        for script in ("", EVERYTHING):
            dom = seen(path, tmp_path, script)
            assert title_of(dom) != "hit", path
            assert not re.search(r"(?:href|src)=.javascript:", dom)
            assert not re.search(r"<[^>]*\son\w+=.?document", dom.replace('"&quot;', ""))
        assert "&lt;img src=x onerror=" in path.read_text()
