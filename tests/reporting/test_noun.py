"""A page calls an arm what its reader does, from the verdict to the last note."""

import base64
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.criticism import calibration
from bayesduel.data.reading import Reading
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    RandomEffects,
    Scores,
    Sources,
    TimeVarying,
)
from bayesduel.reporting.attributes import analyse_attributes
from bayesduel.text import an
from tests.support.parsing import Page

NAMES = ("ada", "ben", "cleo", "dora", "ede")
READ = ("alt", "title", "placeholder", "label")  # attributes that are read, or said aloud
DATA = ("script", "style", "code", "pre")
MOST = {"draws": 200, "noun": "model"}


class Words(Page):
    """A page, and all that a reader sees of it or hears."""

    def __init__(self, html):
        self.seen = []
        super().__init__(html)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        self.seen += [v for n, v in attrs if v and (n in READ or n.startswith("aria-"))]
        for picture in [v for n, v in attrs if n == "src" and v]:
            drawn = base64.b64decode(picture.partition(";base64,")[2]).decode()
            self.seen += map(unescape, re.findall(r"<text[^>]*>([^<]*)</text>", drawn))

    def handle_data(self, data):
        super().handle_data(data)
        if not {*DATA} & {*self.open}:
            self.seen.append(data)


def votes(n=120, arms=5, strength=0.6, ties=0.0, seed=1):
    """Return left, right and outcome of a log, the first arm the strongest."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, arms, n)
    right = (left + rng.integers(1, arms, n)) % arms
    chance = 1 / (1 + np.exp(strength * (left - right)))
    outcome = (rng.random(n) < chance).astype(float)
    outcome[rng.random(n) < ties] = 0.5
    names = np.array(NAMES)
    return names[left], names[right], outcome


def levels(what, k, n=120, seed=2):
    return [f"{what}{level}" for level in np.random.default_rng(seed).integers(0, k, n)]


def table(names, **columns):
    """Return a frame of votes with the names of the columns of both sides."""
    left, right, outcome = votes()
    outcome = np.where(outcome == 1, "left", "right")
    return pd.DataFrame(
        dict(zip(names, (left, right), strict=True)) | {"outcome": outcome} | columns
    )


def plain():
    return bd.Duels.from_votes(*votes())


def around():
    """Return a log with a cycle of the first three arms."""
    wins = np.full((4, 4), 20)
    for i in range(3):
        wins[i, (i + 1) % 3], wins[(i + 1) % 3, i] = 90, 10
    wins[3], wins[:, 3] = 5, 60
    np.fill_diagonal(wins, 0)
    return bd.Duels.from_wins(wins, NAMES[:4])


def apart():
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2], wins[2, 4], wins[4, 3] = 9, 3, 9, 3, 4, 4
    return bd.Duels.from_wins(wins, NAMES)


def crossed():
    columns = {"judge": levels("j", 4, n=80), "group": levels("q", 6, n=80, seed=3)}
    log = bd.Duels.from_votes(*votes(n=80, ties=0.2), **columns)
    return log, {"model": Davidson(Scores() + RandomEffects("group") + RandomEffects("judge"))}


def grouped():
    """Return a log whose default model has effects by group, and a fit of it."""
    columns = {"judge": levels("j", 9), "group": levels("q", 12, seed=3)}
    log = bd.Duels.from_votes(*votes(), **columns)
    return bd.fit(log, draws=200), {"duels": log}


def margins():
    rng = np.random.default_rng(3)
    left = rng.integers(0, 5, 150)
    right = (left + rng.integers(1, 5, 150)) % 5
    noise = np.where((left == 0) | (right == 0), 4.0, 0.2)  # so that checks fail
    margin = right - left + noise * rng.standard_t(3, 150)
    names = np.array(NAMES)
    frame = pd.DataFrame({"home": names[left], "away": names[right], "margin": margin})
    return bd.read_duels(frame, left="home", right="away", margin="margin")


def rankings():
    rng = np.random.default_rng(4)
    rows = [
        {"ranking": k, "item": NAMES[a], "rank": place}
        for k in range(12)
        for place, a in enumerate(np.argsort(np.arange(4) + rng.gumbel(size=4)), 1)
    ]
    return bd.read_rankings(pd.DataFrame(rows), ranking="ranking", arm="item", rank="rank")


def teams():
    rng = np.random.default_rng(5)
    drawn = [rng.permutation(5)[:4] for _ in range(100)]
    left, right = ([[NAMES[k] for k in d[part]] for d in drawn] for part in (slice(2), slice(2, 4)))
    return bd.Duels.from_votes(left, right, rng.random(100) < 0.6)


def attributes():
    items = bd.read_items(pd.DataFrame({"item": NAMES, "sugar": [5, 4, 3, 1, 1], "salt": range(5)}))
    new = pd.DataFrame({"item": ["fay"], "sugar": [2], "salt": [9]})
    model = BradleyTerry(Covariates(items))
    return analyse_attributes(plain(), model, new=new, draws=200)


def changing():
    days = pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(120), "D")
    log = bd.Duels.from_votes(*votes(), time=days.to_numpy())
    return log, {"model": BradleyTerry(Scores() + TimeVarying(periods=3))}


def sourced():
    source = levels("s", 2)
    log = bd.read_duels(table(("left", "right"), source=source), keep=["source"])
    return log, {"model": BradleyTerry(Sources("source", target="s0"))}


def controlled():
    length = np.random.default_rng(6).normal(size=120)
    log = bd.read_duels(table(("a", "b"), length=length), covariates=["length"])
    return log, {"model": BradleyTerry(Scores() + Covariates(["length"]))}


def studied():
    study = bd.Study(arms=NAMES[:4])
    for left_wins in np.random.default_rng(7).random(8) < 0.6:
        study.tell(study.ask(), "left" if left_wins else "right")
    return study.duels()


KINDS = {  # a log, or one and options; options of the page
    "plain": (plain, {}),
    "ties, prompts and judges": (crossed, {}),
    "a fit by the default model": (grouped, {}),
    "an audit": (lambda: bd.Duels.from_votes(*votes(n=60, arms=4)), {"audit": True}),
    "sides": (lambda: bd.read_duels(table(("home", "away"))), {}),
    "no meaning of sides": (lambda: bd.read_duels(table(("a", "b"))), {}),
    "margins": (margins, {}),
    "rankings": (rankings, {}),
    "teams": (teams, {}),
    "attributes": (attributes, {}),
    "a cycle": (around, {"compare": True}),
    "two components": (apart, {}),
    "periods": (changing, {}),
    "sources": (sourced, {}),
    "covariates": (controlled, {}),
    "a check": (lambda: bd.check(around(), quick=True), {}),
    "categories": (lambda: {"de": plain(), "en": around()}, {"pooled": True}),
    "two logs": (lambda: {part: bd.Duels.from_votes("ab", "bc", [1, 0]) for part in "xy"}, {}),
    "a study": (studied, {}),
}


def seen(html):
    return Words(html).seen


def without(*args, **options):
    raise ValueError("duels are not held out here")


def said(html):
    """Return the texts of a page that say arm or arms."""
    texts = seen(html)
    assert len(texts) > 20
    return [words for words in texts if re.search(r"\barms?\b", words, re.IGNORECASE)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(3, "plain")
def test_no_text_of_a_page_says_arm(kind, tmp_path, monkeypatch):
    make, options = KINDS[kind]
    if kind != "plain":  # a third of the time of these pages
        monkeypatch.setattr(calibration, "held_out", without)
    made = make()
    log, own = made if isinstance(made, tuple) else (made, {})
    page = bd.report(log, tmp_path / "page.html", **MOST, **own, **options)
    assert said(page.read_text(encoding="utf-8")) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_text_of_a_site_says_arm(tmp_path):
    log = plain()
    for day in ("2026-01-01", "2026-01-02"):  # the second says what has changed
        bd.site(log, tmp_path, model=BradleyTerry(), date=day, **MOST)
        log = around()
    pages = [*tmp_path.rglob("*.html")]
    assert len(pages) == 1 + len(NAMES)
    assert [words for page in pages for words in said(page.read_text(encoding="utf-8"))] == []
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert '"nouns": "models"' in index  # for the script, which compares two of them


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["plain", "two components", "a cycle"])
def test_winners_are_called_by_the_noun(kind, tmp_path):
    fit = bd.fit(KINDS[kind][0](), BradleyTerry(), draws=200)
    printed = repr(bd.winners(fit, noun="dish"))
    fit.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    answer = CliRunner().invoke(main, ["winners", str(tmp_path / "fit.nc"), "--noun", "dish"])
    assert answer.exit_code == 0, answer.stderr
    for words in (re.split(r"Dishes\s+are\s+in", printed)[0], answer.stdout):
        assert not re.search(r"\barms?\b", words) and re.search(r"rank +dish", printed)
    assert "dishes" in answer.stdout


def test_articles_are_by_sound():
    before_a = ["model", "unit", "user", "university", "European", "one-liner", "player"]
    before_an = ["arm", "item", "entry", "uncle", "hour", "image", "unimportant"]
    assert [an(noun) for noun in before_a] == [f"a {noun}" for noun in before_a]
    assert [an(noun) for noun in before_an] == [f"an {noun}" for noun in before_an]


LOGS = {
    "duels": (bd.read_duels, {"left": ["a", "c"], "right": ["b", "a"], "outcome": [1, 0]}),
    "teams": (
        lambda votes: bd.read_duels(votes, teams="+"),
        {"left": ["a+b", "c+d"], "right": ["c+d", "b+a"], "outcome": [1, 0]},
    ),
    "rankings": (bd.read_rankings, {"order": ["a > b > c", "c > a > b"]}),
    "long rankings": (
        bd.read_rankings,
        {"race": [1, 1, 2, 2], "arm": ["a", "b", "b", "a"], "rank": [1, 2, 1, 2]},
    ),
    "no columns": (
        lambda votes: bd.Duels.from_votes(*votes.values()),
        {"l": "ab", "r": "ba", "o": [1, 0]},
    ),
}


@pytest.mark.parametrize("kind", LOGS)
def test_columns_of_arms_are_counted_by_the_noun(kind):
    read, votes = LOGS[kind]
    lines = read(votes).reading.lines
    counting = [line for line in lines if re.match(r"[\d,]+ arms?\b", line.understood)]
    assert [line.n_arms is not None for line in lines] == [line in counting for line in lines]
    for line in lines:
        called = line.called("dish")
        assert "arm" not in f"{called.role} {called.understood}".split()
        assert (called == line) == (line not in counting)
    stored = Reading.from_dict(json.loads(json.dumps(read(votes).reading.to_dict())))
    assert stored.lines == lines
