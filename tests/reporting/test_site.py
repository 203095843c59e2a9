"""The site of a log: pages and JSON of each arm, links that stay, editions that are compared."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix
from bayesduel.reporting import site as sites
from bayesduel.reporting.analysis import analyse
from bayesduel.reporting.report import sections
from tests.support.parsing import Page

DAY = "2026-11-01"
HOSTILE = ["<script>alert(1)</script>", "con", "../../up", "é", "e", "E", "", "{{ 7 * 7 }}", "=1+1"]


def wins(n, seed=0, ties=0):
    counts = np.random.default_rng(seed).integers(1, 9, (n, n)) * np.arange(n, 0, -1)[:, None]
    np.fill_diagonal(counts, 0)
    tied = np.full((n, n), ties)
    np.fill_diagonal(tied, 0)
    return bd.Duels.from_wins(counts, [f"arm {k}" for k in range(n)], ties=tied if ties else None)


def cycle():
    counts = np.zeros((4, 4))
    for i in range(4):
        counts[i, (i + 1) % 4], counts[(i + 1) % 4, i] = 90, 10
    return bd.Duels.from_wins(counts, list("abcd"))


LOGS = {
    "a ranking": (lambda: wins(5), BradleyTerry()),
    "ties": (lambda: wins(4, ties=2), Davidson()),
    "no ranking": (cycle, BradleyTerry()),
    "a matrix": (cycle, PreferenceMatrix()),
    "the default model": (lambda: bd.datasets.load("springall"), "auto"),
}


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.sampled(5, "a matrix")
def test_pages_agree_with_the_log_and_lead_to_one_another(name, tmp_path):
    make, model = LOGS[name]
    log = make()
    folder = tmp_path / "deep" / "public"
    assert bd.site(log, folder, model=model, draws=200, date=DAY) == folder / "index.html"
    ranking = read(folder / "ranking.json")
    assert ranking == read(folder / f"editions/{DAY}.json") and ranking["duels"] == log.n_duels
    rows, pages = ranking["ranking"], read(folder / "site.json")["pages"]
    assert {row["arm"] for row in rows} == set(map(str, log.arms)) == set(pages)
    table = bd.head_to_head(log)
    met = {
        (first, second): (won, lost, tied)
        for _, r in table.iterrows()
        for first, second, won, lost, tied in (
            (r["first"], r["second"], r.first_wins, r.second_wins, r.ties),
            (r["second"], r["first"], r.second_wins, r.first_wins, r.ties),
        )
    }
    for place, row in enumerate(rows, 1):
        held = read(folder / f"arms/{pages[row['arm']]}.json")
        assert held["rank"] == row["rank"] == place and held["duels"] == row["duels"]
        for other in held["opponents"]:
            counts = tuple(other[n] for n in ("won", "lost", "tied"))
            assert counts == met.get((row["arm"], other["arm"]), (0, 0, 0))
            assert other["duels"] == sum(counts) and other["arm"] == rows[other["rank"] - 1]["arm"]
            assert 0 < other["lower"] < other["mean"] < other["upper"] < 1
            back = read(folder / f"arms/{pages[other['arm']]}.json")["opponents"]
            mean = next(one["mean"] for one in back if one["arm"] == row["arm"])
            assert mean + other["mean"] == pytest.approx(1)
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        Page(text)
        links = re.findall(r'(?:href|src)="([^"#:]+)"', text)
        assert links and all((path.parent / link).resolve().is_file() for link in links)


@pytest.mark.slow
def test_of_many_arms_a_page_has_those_met_and_the_nearest(tmp_path, monkeypatch):
    monkeypatch.setattr(sites, "ALL", 6)
    monkeypatch.setattr(sites, "NEAREST", 1)
    names = [f"arm {k}" for k in range(8)]
    pairs = [(i, i + 1) for i in range(7)] * 40 + [(0, 5)]
    log = bd.Duels.from_votes(*([names[p[side]] for p in pairs] for side in (0, 1)),
                              np.resize([1.0, 1.0, 0.0], len(pairs)), arms=names)  # fmt: skip
    bd.site(log, tmp_path, model=BradleyTerry(), draws=200, date=DAY)
    order = [row["arm"] for row in read(tmp_path / "ranking.json")["ranking"]]
    met = {frozenset((names[i], names[j])) for i, j in pairs}
    for place, arm in enumerate(order):
        held = read(tmp_path / f"arms/{arm.replace(' ', '-')}.json")
        near = {order[k] for k in (place - 1, place + 1) if 0 <= k < 8}
        expected = near | {other for other in names if frozenset((arm, other)) in met}
        assert {one["arm"] for one in held["opponents"]} == expected
    assert "1 nearest in rank" in (tmp_path / "arms/arm-0.html").read_text(encoding="utf-8")


def test_the_next_edition_keeps_links_and_says_what_changed(tmp_path):
    """An arm of the same short name comes first in the order, another one leaves."""
    given = {"model": BradleyTerry(), "draws": 200}
    bd.site(wins(6), tmp_path, title="Arms", date=DAY, **given)
    (tmp_path / "CNAME").write_text("example.org")
    before = read(tmp_path / "site.json")["pages"]
    counts = np.array([[0, 9, 9, 40, 40], [1, 0, 9, 9, 9], [1, 1, 0, 9, 9], [1, 1, 1, 0, 40],
                       [1, 1, 1, 1, 0]])  # fmt: skip
    later = bd.Duels.from_wins(counts, ["arm-0", "arm 0", "arm 1", "arm 5", "arm 4"])
    bd.site(later, tmp_path, date="2026-11-08", **given)
    memory = read(tmp_path / "site.json")
    assert memory["title"] == "Arms" and memory["editions"] == [DAY, "2026-11-08"]
    assert before.items() <= memory["pages"].items()
    assert memory["pages"]["arm-0"] == "arm-0-2"
    page = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    said = page.text["ranking"]
    assert f"Since the edition of {DAY}, 2 of the 4 arms in both have changed places" in said
    assert "New: arm-0. No longer in the log: arm 2 and arm 3." in said
    assert "up 1" in said and "down 1" in said and "new" in said
    gone = (tmp_path / "arms/arm-3.html").read_text(encoding="utf-8")
    assert "Not in the edition of 2026-11-08." in gone and DAY in gone
    past = read(tmp_path / "arms/arm-5.json")["editions"]
    assert [one["date"] for one in past] == ["2026-11-08", DAY]
    assert (tmp_path / "CNAME").read_text() == "example.org"
    old = files(tmp_path)
    bd.site(later, tmp_path, date="2026-11-08", **given)  # the same edition, made again
    assert files(tmp_path) == old
    with pytest.raises(ValueError, match="should not be before that of the last edition"):
        bd.site(later, tmp_path, date=DAY, **given)
    assert files(tmp_path) == old


@pytest.mark.slow
def test_a_page_for_any_name(tmp_path):
    names = [name or " " for name in HOSTILE]
    counts = np.random.default_rng(0).integers(1, 9, (len(names), len(names)))
    np.fill_diagonal(counts, 0)
    log = bd.Duels.from_wins(counts, names)
    bd.site(log, tmp_path / "a", title="<script>x</script>", model=BradleyTerry(), draws=100)
    pages = read(tmp_path / "a/site.json")["pages"]
    assert len({*pages.values()}) == len(names) and "con" not in pages.values()
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", page) for page in pages.values())
    assert {p.stem for p in (tmp_path / "a/arms").iterdir()} == {*pages.values()}
    for path in (tmp_path / "a").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script>alert" not in text and "<script>x" not in text
        Page(text)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    bd.site(wins(3), folder, model=BradleyTerry(), draws=100, date=DAY)
    return folder


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("site.json", lambda m: m["pages"].update({"arm 0": "../../up"}), "pages should be names"),
        ("site.json", lambda m: m["pages"].update({"arm 0": "arm-1"}), "pages should be names"),
        ("site.json", lambda m: m.update(pages=[]), "pages should be names"),
        ("site.json", lambda m: m.update(title=3), "it should have a title"),
        ("site.json", lambda m: m.update(editions=["../x"]), "an edition should be a date"),
        ("site.json", lambda m: m.update(editions=[3]), "an edition should be a date"),
        (f"editions/{DAY}.json", lambda m: m.update(ranking=3), "each row of the ranking"),
        (f"editions/{DAY}.json", lambda m: m["ranking"][0].pop("rank"), "each row of the ranking"),
        (f"editions/{DAY}.json", lambda m: m["ranking"].append([]), "each row of the ranking"),
        (f"editions/{DAY}.json", lambda m: m["ranking"][0].update(rating="x"), "each row"),
        (f"editions/{DAY}.json", lambda m: m["ranking"][0].update(rank=1e999), "each row"),
    ],
)
@pytest.mark.sampled(
    3,
    "site.json-<lambda>-it should have a title",
    "site.json-<lambda>-pages should be names0",
    "editions/2026-11-01.json-<lambda>-each row0",
)
def test_a_site_that_was_edited_is_refused_and_left(made, file, change, message, tmp_path):
    folder = shutil.copytree(made, tmp_path / "in" / "site")
    held = read(folder / file)
    change(held)
    (folder / file).write_text(json.dumps(held), encoding="utf-8")
    before = files(tmp_path)
    with pytest.raises(ValueError, match=message) as error:
        bd.site(wins(3), folder, model=BradleyTerry(), draws=100, date="2026-11-02")
    assert Path(file).name in str(error.value)
    assert files(tmp_path) == before


def test_what_is_no_site_is_left(tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(ValueError, match=r"whose index\.html is another page"):
        bd.site(wins(3), tmp_path)
    (tmp_path / "index.html").unlink()
    (tmp_path / "site.json").write_text("{")
    with pytest.raises(ValueError, match=r"site\.json is damaged: it should be JSON"):
        bd.site(wins(3), tmp_path)
    with pytest.raises(TypeError, match="log should be one log or fit"):
        bd.site({"a": wins(3)}, tmp_path / "new")
    with pytest.raises(ValueError, match='date should be a date such as "2026-11-25", got'):
        bd.site(wins(3), tmp_path / "new", date="1 November")
    assert not (tmp_path / "new").exists()


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = f"site springall -o public --date {DAY} --draws 200 --model bradley-terry".split()
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "wrote public/index.html" in done.stderr
    text = Path("public/index.html").read_text(encoding="utf-8")
    assert f"bayesduel site springall -o public --date {DAY}" in text
    Path("log.csv").write_text("left,right,outcome,g\n" + "a,b,left,x\nb,a,left,y\n" * 9)
    done = CliRunner().invoke(main, ["site", "log.csv", "--by", "g", "-o", "other"])
    assert done.exit_code == 2 and "a site is of one" in done.stderr
    assert not Path("other").exists()


@pytest.mark.slow
def test_the_estimated_win_rate_and_the_counted_share_stand_side_by_side(tmp_path):
    log = bd.datasets.load("citations")
    fit = bd.fit(log, "bradley-terry", draws=200)
    bd.site(fit, tmp_path, date=DAY)
    rows = pd.DataFrame(read(tmp_path / "ranking.json")["ranking"]).set_index("arm")
    rate = bd.winners(fit).table()["win_rate"]
    share = log.summary()["win_share"]
    assert np.allclose(rows["win_rate"], rate[rows.index])
    assert np.allclose(rows["win_share"], share[rows.index])
    assert not np.allclose(rows["win_rate"], rows["win_share"])


@pytest.fixture(scope="module")
def analyses(tmp_path_factory):
    """Return two logs by the names of their files, the analysis of each, and its sections."""
    found = {}
    for name in ("one", "two"):
        file = tmp_path_factory.mktemp("logs") / f"{name}.csv"
        file.write_text("left,right,outcome\n" + "a,b,left\nb,c,left\na,c,left\nc,b,left\n" * 9)
        duels = bd.read_duels(file)
        one = analyse(duels, bd.fit(duels, BradleyTerry(), draws=200))
        found[name] = (duels, one, sections(one))
    return found


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [(None, None, "two"), ("Arms", None, "Arms"), (None, "Arms", "Arms"), ("Old", "New", "New")],
)
def test_the_heading_is_the_one_that_was_given_or_the_name_of_the_log(
    first, second, shown, analyses, tmp_path, monkeypatch
):
    for name, title in (("one", first), ("two", second)):
        duels, one, parts = analyses[name]
        monkeypatch.setattr(sites, "analysed", lambda *_, one=one: one)
        monkeypatch.setattr(sites, "sections", lambda *_, parts=parts, **__: parts)
        bd.site(duels, tmp_path / "site", title=title)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert f"<h1>{shown}" in page
