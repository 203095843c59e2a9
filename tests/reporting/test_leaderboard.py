"""The leaderboard: its rows and links; what a reader clicks is in test_browser.py."""

import json
import re

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.read.duels import read_duels
from bayesduel.models import BradleyTerry, TimeVarying
from bayesduel.posterior.winners import Winners
from bayesduel.reporting.html import fragment, page
from bayesduel.reporting.leaderboard import leaderboard_section, page_names, period_views
from bayesduel.reporting.log import log_section
from bayesduel.reporting.ranking import _place_words
from bayesduel.reporting.section import Compare, Section, Text

NASTY = "</script><script>document.title='x'</script>"
NAMES = [NASTY, "b", "<img src=x onerror=\"document.title='x'\">"]
WINS = [[0, 22, 15], [16, 0, 11], [8, 10, 0]]


@pytest.fixture(scope="module")
def fitted():
    log = bd.Duels.from_wins(WINS, NAMES)
    fit = bd.fit(log, draws=400)
    return log, bd.winners(fit), bd.scores(fit)


@pytest.fixture(scope="module")
def html(fitted):
    log, winners, scores = fitted
    board = leaderboard_section(winners, log, scores)
    first = Section(id="verdict", body=(Text("100 % sure, < 1 % or 50 %"),))
    more = Section(id="more", title=NASTY, body=(Text(NASTY),))
    return page(NASTY, {"": (first, board, more)}, subject="test")


def test_per_cent_signs_stay_on_the_line_of_their_numbers(html):
    assert "100\u00a0% sure, &lt;\u00a01\u00a0% or 50\u00a0%" in html
    assert not re.search(r">[^<]*\d %[^<]*</", html.split("</style>")[1].split("<script>")[0])


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("نموذج 6 (92 %)", "نموذج 6\u200e (92\u00a0%)"),
        ("קלוד 4.5 (60 %).", "קלוד 4.5\u200e (60\u00a0%)."),
        ("דגם [1, 2] and a (b)", "דגם\u200e [1, 2] and a (b)"),
        ("نموذج (جديد) is best", "نموذج (جديد) is best"),
    ],
)
def test_a_bracket_after_a_name_from_right_to_left_stays_behind_it(words, shown):
    assert f"<p>{shown}</p>" in fragment(Section(id="one", body=(Text(words),)))


def test_pairs_in_the_page_are_those_of_winners_and_of_the_log(fitted):
    log, winners, scores = fitted
    board = leaderboard_section(winners, log, scores)
    (data,) = (block.data for block in board.body if isinstance(block, Compare))
    places = zip(*np.triu_indices(3, 1), strict=True)
    for k, (i, j) in enumerate(places):
        one, two = data["arms"][i], data["arms"][j]
        want = winners["preference_mean"].sel(arm=one, opponent=two)
        assert data["pairs"]["mean"][k] == pytest.approx(float(want), abs=5e-4)
        assert data["pairs"]["won"][k] == WINS[NAMES.index(one)][NAMES.index(two)]
        assert data["pairs"]["lost"][k] == WINS[NAMES.index(two)][NAMES.index(one)]


def test_of_many_arms_the_page_compares_the_first_by_pairs_and_others_by_ratings():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 61, 400)
    right = (left + rng.integers(1, 61, 400)) % 61
    votes = bd.Duels.from_votes([f"a{k}" for k in left], [f"a{k}" for k in right], left > right)
    fit = bd.fit(votes, draws=200)
    winners, scores = bd.winners(fit), bd.scores(fit)
    board = leaderboard_section(winners, votes, scores)
    (data,) = (block.data for block in board.body if isinstance(block, Compare))
    assert len(data["rating"]) == len(data["arms"]) == 61
    assert data["paired"] == 60 and len(data["pairs"]["mean"]) == 60 * 59 // 2
    first, last = (winners.sel(arm=data["arms"][58], opponent=data["arms"][59])[f"preference_{end}"]
                   for end in ("mean", "upper"))  # fmt: skip
    assert data["pairs"]["mean"][-1] == pytest.approx(float(first), abs=5e-4)
    assert data["pairs"]["upper"][-1] == pytest.approx(float(last), abs=5e-4)
    free = leaderboard_section(winners, votes)
    (data,) = (block.data for block in free.body if isinstance(block, Compare))
    assert len(data["arms"]) == 60 and "rating" not in data
    assert free.body[-1].words == "The first 60 arms can be compared."


def test_links_are_plain_and_all_different():
    found = page_names([NASTY, "a b", "A-B", "模型", "型"])
    assert list(found.values())[1:] == ["a-b", "a-b-2", "x", "x-2"]
    assert re.fullmatch(r"[a-z0-9-]+", found[NASTY])


def test_a_verdict_on_arms_below_the_top_says_why(fitted):
    _, winners, _ = fitted
    first, _, third = (str(arm) for arm in winners["arm"].values[winners["order"].values])
    attrs = {"verdict_arms": json.dumps([first, third]), "verdict_kind": "undecided"}
    found = Winners(winners.assign_attrs(attrs))
    words = _place_words(found, found, f"The best is one of {first} and {third}.")
    assert "in the order of mean ranks" in words and words.endswith(f"{third} (rank 3).")
    assert _place_words(winners, winners, f"The best is {first}.") == ""


def test_columns_that_were_not_read_are_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,colour,size\na,b,left,red,1\nb,a,right,blue,2\n")
    log = read_duels(path)
    reading = log_section(log, bd.health(log)).body[-1]
    (table,) = reading.body
    assert [row[1] for row in table.rows if row[0] == "not used"] == ["colour", "size"]


def test_a_model_of_time_has_a_leaderboard_of_each_earlier_period():
    """Duels, means and ranks are those of the draws; the latest period is the board itself."""
    rng = np.random.default_rng(1)
    n = 600
    left = rng.integers(0, 3, n)
    right = (left + rng.integers(1, 3, n)) % 3
    time = np.arange(n, dtype=float)
    ahead = np.where(left == 0, 1, -1) * ((left == 0) | (right == 0)) * (time - n / 2) / 100
    won = rng.random(n) < 1 / (1 + np.exp(-ahead))
    log = bd.Duels.from_votes(list(np.array(list("abc"))[left]), list(np.array(list("abc"))[right]),
                              won, time=time)  # fmt: skip
    fit = bd.fit(log, BradleyTerry() + TimeVarying(periods=3), draws=200)
    views = period_views(fit, log, bd.scores(fit))
    assert [float(label) for label in views] == pytest.approx([n / 2, n / 6], abs=1)
    rating = fit["posterior"]["rating"]
    for k, frame in enumerate(reversed(views.values())):
        at = (time >= k * n / 3) & (time < (k + 1) * n / 3)
        assert frame["duels"].sum() == pytest.approx(2 * at.sum(), abs=4)
        of = rating.isel(period=k).mean(("chain", "draw"))
        per = 400 / np.log(10)
        want = 1000 + per * (of - of.mean()).to_numpy()
        np.testing.assert_allclose(frame["rating"], want, rtol=1e-6)
        assert (frame["rank_lower"] <= frame["rank_mean"]).all()
    first, last = list(views.values())[-1], bd.scores(fit)
    assert first.set_index("arm")["rank_mean"].idxmax() == "a" and last.index[0] == "a"
    plain = bd.fit(log, draws=200)
    assert period_views(plain, log, bd.scores(plain)) == {}
