"""What the page of a report is made of, by parsing its HTML: sections, numbers, no network."""

import base64
import re
from importlib.resources import files

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.criticism import calibration
from bayesduel.data.duels import Duels
from bayesduel.data.health import DisconnectedWarning
from bayesduel.models import BradleyTerry, RandomEffects, SideAdvantage, TimeVarying
from bayesduel.posterior.dependence import FewClustersWarning
from bayesduel.posterior.information_gain import next_pairs
from bayesduel.posterior.update import log_of
from bayesduel.reporting.analysis import analyse
from bayesduel.text import percent, rank_range
from tests.conftest import blank, not_held_out
from tests.support.parsing import Page

SECTIONS = (
    "verdict",
    "ranking",
    "rates",
    "ranks",
    "preferences",
    "winners",
    "counts",
    "log",
    "transitivity",
    "residuals",
    "calibration",
    "fit",
    "errors",
    "next",
    "reproduce",
)


def page_of(log, tmp_path, *, drawn=False, **options) -> Page:
    """Return the page of a log; half of its time is that of its pictures, if they are `drawn`."""
    with pytest.MonkeyPatch.context() as patch:
        if not drawn:
            patch.setattr("bayesduel.reporting.figures.draw", blank)
        path = bd.report(log, tmp_path / "report.html", **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def html(springall, tmp_path_factory):
    log, fit = springall
    folder = tmp_path_factory.mktemp("report")
    path = bd.report(fit, folder / "a.html", duels=log, command="bayesduel report springall")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


# -- what is on the page -------------------------------------------------------------------


def test_sections_are_there_in_order_and_folded_after_the_leaderboard(page):
    assert page.ids == list(SECTIONS)
    folded = [a for tag, a in page.tags if tag == "details" and a.get("class") == "folded"]
    assert len(folded) == len(SECTIONS) - 2 and all("open" not in a for a in folded)
    for name in SECTIONS:
        assert page.text[name].strip()


def test_page_needs_no_network_and_runs_only_the_script_of_the_package(page, html):
    scripts = re.findall(r"<script(.*?)>(.*?)</script>", html, flags=re.S)
    own = files("bayesduel.reporting") / "templates" / "page.js"
    kept, run = [s for s in scripts if s[0]], [s for s in scripts if not s[0]]
    assert [s[0] for s in kept] == [' type="application/json"']
    assert [s[1].strip() for s in run] == [own.read_text(encoding="utf-8").strip()]
    for tag, attrs in page.tags:
        assert tag not in ("link", "iframe", "object")
        for name in ("src", "href"):
            if attrs.get(name):
                kinds = ("data:image/", "data:text/csv;", "data:application/json;", "#")
                assert str(attrs[name]).startswith(kinds), attrs
        assert not any(key.startswith("on") for key in attrs)
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style and "@import" not in style


def test_pictures_are_whole_and_described(page):
    pictures = page.pictures()
    assert len(pictures) == 6
    for picture in pictures:
        kind, data = str(picture["src"]).split(";base64,")
        raw = base64.b64decode(data, validate=True)
        assert kind == "data:image/svg+xml"
        assert raw.startswith(b"<?xml") and raw.rstrip().endswith(b"</svg>")
        assert b'<image xlink:href="http' not in raw
        assert picture["alt"]
        assert int(str(picture["width"])) > 100 and int(str(picture["height"])) > 100


def test_it_is_made_for_phones_and_print(page, html):
    meta = [attrs for tag, attrs in page.tags if tag == "meta"]
    assert any("width=device-width" in str(attrs.get("content")) for attrs in meta)
    assert "@media print" in html and "@media (max-width" in html


# -- the numbers ---------------------------------------------------------------------------


def test_verdict_and_ranking_are_those_of_winners(page, springall):
    log, fit = springall
    found = bd.winners(fit)
    assert found.attrs["verdict"] in page.text["verdict"]
    board, rated = page.rows["ranking"], bd.scores(fit)
    assert board[0] == [
        *("rank", "arm", "rating", "95 % interval", "rank interval(95 %)", "duels", "tier"),
    ]
    for place, (row, (arm, want)) in enumerate(
        zip(board[1:], found.table().iterrows(), strict=True)
    ):
        low, mean, high = (f"{rated.loc[arm, f'rating{k}']:.0f}" for k in ("_lower", "", "_upper"))
        ranks = rank_range(want["rank_lower"], want["rank_upper"])
        counted = [f"{log.summary().loc[arm, 'duels']}", f"{want['tier']:.0f}"]
        assert row == [f"{place + 1}", arm, mean, f"{low} to {high}", ranks, *counted]
    head, *rows = page.rows["rates"]
    assert head[:2] == ["arm", "winrate"] and len(rows) == log.n_arms
    table = found.table()
    counts = log.summary()
    share = dict(
        zip(
            found["arm"].values, found["winner_share"].sel(criterion="copeland").values, strict=True
        )
    )
    for row, (arm, want) in zip(rows, table.iterrows(), strict=True):
        cells = dict(zip(head, row, strict=True))
        assert cells["arm"] == arm
        assert cells["winrate"] == f"{percent(want['win_rate'])} %"
        low, high = (percent(want[f"win_rate_{end}"]) for end in ("lower", "upper"))
        assert cells["95 % interval"] == f"{low} to {high}"
        ends = {float(x) for x in cells["joint rankrange, 95 %"].split(" to ")}
        assert ends == {want["rank_joint_lower"], want["rank_joint_upper"]}
        own = counts.loc[str(arm)]
        record = [int(x) for x in cells["won / tied/ lost"].split(" / ")]
        assert record == [own["wins"], own["ties"], own["losses"]]
        if 0.005 <= share[arm] < 0.995:
            assert cells["bestarm"] == f"{100 * share[arm]:.0f} %"


def test_log_and_fit_are_told(page, springall):
    log, fit = springall
    assert f"{log.n_duels:,}" in page.text["log"] and f"{log.n_ties:,}" in page.text["log"]
    small = {row[0]: row[1] for row in page.rows["fit"]}
    assert small["seed"] == "4" and small["draws"].startswith("1,000")
    assert fit.attrs["method_reason"] in small["method"]
    assert small["Pareto k-hat"] == f"{fit.attrs['khat']:.2f}"
    low, middle, high = np.quantile(fit["posterior"]["scale"].values, [0.025, 0.5, 0.975])
    assert small["scale, estimated"] == f"{middle:.2f} [{low:.2f}, {high:.2f}] (95 %)"
    assert small["ties"] == "a tie is an outcome"


def test_neighbours_five_pairs_and_the_command(page, springall):
    _, fit = springall
    neighbours, want = bd.duels_to_decide(fit), next_pairs(fit)
    head, *rows = page.rows["next"]
    assert head[0] == "first" and len(rows) == 8 + 1 + 5
    found = [(row[0], row[1]) for row in rows]
    assert found[:8] == list(zip(neighbours["first"], neighbours["second"], strict=True))
    assert found[9:] == list(zip(want["first"], want["second"], strict=True))
    assert "bits" not in "".join(head)
    assert "bayesduel report springall" in page.text["reproduce"]
    assert bd.__version__ in page.text["reproduce"]


@pytest.mark.slow
def test_checks_are_those_of_the_analysis(page, springall):
    log, fit = springall
    a = analyse(log, fit, seed=4)
    assert a.check.value.verdict in page.text["transitivity"]
    assert a.calibration.value.sentence in page.text["calibration"]
    assert int(a.calibration.value.n.sum()) == log.n_duels
    assert "criteria" in page.text["winners"]


@pytest.mark.slow
def test_same_seed_same_bytes(springall, html, tmp_path):
    log, fit = springall
    again = bd.report(fit, tmp_path / "b.html", duels=log, command="bayesduel report springall")
    assert again.read_text(encoding="utf-8") == html


# -- other logs ----------------------------------------------------------------------------


@pytest.mark.slow
def test_labels_are_escaped(tmp_path):
    nasty = ["<script>alert(1)</script>", 'a & "b"', "x' onload='y"]
    log = Duels.from_wins([[0, 12, 15], [9, 0, 11], [8, 10, 0]], nasty)
    page = page_of(log, tmp_path, draws=200, title="<b>bold</b>")
    assert "onload" not in {key for _, attrs in page.tags for key in attrs}
    assert "<b>bold</b>" in page.text[""]  # the heading, before any section
    assert {row[1] for row in page.rows["ranking"][1:]} == set(nasty)


@pytest.mark.parametrize("by", [None, "category"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_side_advantage_is_controlled_for_and_its_advantage_given(by, tmp_path):
    """Home wins 28 of 40 duels of equal arms: 70 %, shrunk a little by the prior."""
    wins = np.array([[0, 14, 14], [14, 0, 14], [14, 14, 0]])
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    sides = [(i, j, w) for i, j in pairs for w in [1] * wins[i, j] + [0] * (20 - wins[i, j])]
    left, right, won = zip(*sides, strict=True)
    teams = [[f"team {i}" for i in side] for side in (left, right)]
    log = Duels.from_votes(*teams, won, category=np.tile(["a", "b"], 60))
    page = page_of(log, tmp_path, model=BradleyTerry() + SideAdvantage(by=by), draws=400)
    assert "The fitted model controls for the side advantage: " in page.text["rates"]
    assert "controls for" not in page.text["winners"]  # of a model without a side advantage
    assert "Sides are as they were played" in page.text["winners"]
    found = re.search(
        r"Side advantage: the left side \(shown first\) wins (\d+) % \[(\d+), (\d+)\] of duels "
        r"between equals\. The ranking is without this advantage\.",
        page.text["verdict"],
    )
    assert (found is None) == (by is not None)  # one advantage, or one a category
    if found is not None:
        middle, low, high = map(int, found.groups())
        assert 66 <= middle <= 72 and 58 <= low <= 65 and 74 <= high <= 80
    assert "The fitted model estimates that effect" in page.text["log"]
    assert "ignore it" not in page.text["log"]
    assert "--side-advantage" not in page.text["transitivity"]
    assert "+ side advantage" in page.text["fit"]


def test_no_caution_where_none_is_due(page):
    assert "more cycles" not in page.text["verdict"]


def test_groups_that_never_met(tmp_path):
    wins = np.zeros((6, 6))
    wins[:3, :3] = wins[3:, 3:] = [[0, 12, 15], [9, 0, 11], [8, 10, 0]]
    log = Duels.from_wins(wins, list("abcxyz"))
    with pytest.warns(DisconnectedWarning, match="2 components that never met"):
        page = page_of(log, tmp_path, draws=200)
    assert "Not comparable as a whole" in page.text["verdict"]
    assert "Within a, b and c" in page.text["verdict"]
    assert "Never met." in page.text["verdict"]
    for section in ("rates", "ranking"):
        assert "groups that no duel compares" in page.text[section]
    head, *rows = page.rows["ranking"]
    at = head.index("group")
    assert {(row[1], row[at]) for row in rows} == {
        *((a, "1") for a in "abc"),
        *((a, "2") for a in "xyz"),
    }


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")
@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        pytest.param("a", "b", [1], id="one duel", marks=pytest.mark.slow),
        pytest.param("aab", "bcc", [0.5, 0.5, 0.5], id="all ties", marks=pytest.mark.slow),
        pytest.param("aaabb", "bcbcc", [1, 1, 1, 0, 1], id="one arm undefeated"),
    ],
)
@pytest.mark.slow
def test_thin_logs_get_a_whole_report(left, right, outcome, tmp_path):
    log = Duels.from_votes(left, right, outcome)
    page = page_of(log, tmp_path, drawn=True, draws=200)
    assert page.ids == list(SECTIONS)
    assert "Few votes." in page.text["verdict"]
    assert page.text["calibration"].strip()


@pytest.mark.slow
def test_repeated_judges_are_told(tmp_path):
    rng = np.random.default_rng(1)
    left = rng.integers(0, 3, 120)
    right = (left + rng.integers(1, 3, 120)) % 3
    judge = [f"j{k % 12}" for k in range(120)]
    log = Duels.from_votes(left, right, rng.integers(0, 2, 120), judge=judge)
    page = page_of(log, tmp_path, model="bradley-terry", draws=400)
    words = page.text["errors"]
    assert "cluster-robust by judge (12 clusters" in words and "degrees of freedom" in words
    assert "one majority verdict of each pair and judge counts as one duel" in page.text["winners"]
    group = bd.fit(log, "bradley-terry", draws=400)["clusters"].dataset
    ratio = group["score_se_cluster"].values[0] / group["score_se"].values
    assert f"is {np.median(ratio):.2f} times the model-based one for the median arm" in words


def test_too_few_judges_are_told(tmp_path):
    log = Duels.from_votes("aabbcc" * 4, "bcacab" * 4, [1, 0] * 12, judge="xy" * 12)
    with pytest.warns(FewClustersWarning, match="No verdict is given"):
        page = page_of(log, tmp_path, draws=400)
    assert "cluster-robust by judge (2 clusters" in page.text["errors"]
    assert "the votes come in 2 clusters by judge" in page.text["verdict"]


@pytest.mark.slow
def test_many_logs_make_one_page_with_an_index(tmp_path):
    logs = bd.datasets.load("tversky1969", by="annotator")
    few = {label: logs[label] for label in ("s3", "s8")}
    page = page_of(few, tmp_path, draws=200)
    assert len(page.ids) == len(set(page.ids)) == 1 + 2 * len(SECTIONS)
    _, *rows = page.rows["index"]
    assert [row[0] for row in rows] == ["s3", "s8"]
    links = {str(attrs["href"]) for tag, attrs in page.tags if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.anchors)
    assert len(page.anchors) == len(set(page.anchors))
    doubtful = page.text["p1-verdict"]  # one ranking is improbable, a cycle that matters not sure
    assert "one order of all arms holds. The log gives that a probability of 1 %." in doubtful
    assert "fit no ranking (one ranking has probability 1 %)" in doubtful
    assert "This assumes" not in page.text["p2-verdict"]


def test_a_page_of_many_logs_has_no_figures(springall, tmp_path, monkeypatch):
    log, fit = springall
    one = analyse(log, fit)
    monkeypatch.setattr("bayesduel.reporting.report.analysed", lambda *_: one)
    monkeypatch.setattr("bayesduel.reporting.partial_report.MANY_LOGS", 1)
    page = page_of({"a": log, "b": log}, tmp_path)
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert "parts have no figures" in page.text["index"]


@pytest.mark.slow
def test_few_clusters_are_told_beside_duels_to_decide(tmp_path):
    rng = np.random.default_rng(2)
    left = rng.integers(0, 3, 90)
    right = (left + rng.integers(1, 3, 90)) % 3
    judge = [*"x" * 60, *"y" * 15, *"z" * 15]
    won = rng.random(90) < 1 / (1 + np.exp(left - right))
    page = page_of(Duels.from_votes(left, right, won, judge=judge), tmp_path, draws=200)
    assert "Standard errors are by judge and rest on 3 judges. " in page.text["verdict"]
    assert "With fewer than 4, intervals are rough." in page.text["errors"]
    assert "not for more duels of the same judges or groups" in page.text["next"]


@pytest.mark.slow
def test_where_no_ranking_holds_pairs_are_those_of_the_model_with_cycles(tmp_path):
    wins = np.array([[0, 40, 10, 40], [10, 0, 40, 40], [40, 10, 0, 40], [10, 10, 10, 0]])
    page = page_of(Duels.from_wins(wins, ["r", "p", "s", "b"]), tmp_path)
    assert "By the model stacked, which allows cycles." in page.text["preferences"]
    assert "ranking, which is for comparison only" in page.text["next"]
    assert "win rates by a model that allows cycles" in page.text["ranking"]
    assert page.rows["ranking"][0][2] == "win rate"
    assert "A ranking by bradley-terry, which the log contradicts, " in page.text["winners"]


@pytest.mark.slow
def test_a_fit_alone_is_enough(springall, tmp_path):
    log, fit = springall
    page = page_of(fit, tmp_path)
    assert [r[1] for r in page.rows["ranking"][1:]] == list(bd.winners(fit).table().index)
    again = log_of(fit)
    np.testing.assert_array_equal(again.tally("keep").wins, log.tally("keep").wins)
    np.testing.assert_array_equal(again.tally("keep").ties, log.tally("keep").ties)


@pytest.mark.slow
def test_failed_diagnostics_are_told_at_the_top(springall, page, tmp_path):
    log, fit = springall
    assert "Diagnostics" not in page.text["verdict"]
    doubtful = fit.copy()
    doubtful.attrs |= {"importance_ess": 120.0, "khat": 0.9}
    told = page_of(doubtful, tmp_path, duels=log).text["verdict"]
    assert "The Pareto k-hat is 0.90 and should be below 0.7" in told
    assert "120 of 1,000 and should be 400 or more" in told


# -- labels and close calls ----------------------------------------------------------------

WINS = [[0, 12, 15], [9, 0, 11], [8, 10, 0]]


@pytest.mark.slow
def test_letters_our_fonts_lack_are_left_to_the_reader(tmp_path):
    """No warning of matplotlib (warnings are errors here), and labels as text."""
    log = Duels.from_wins(WINS, ["模型", "\N{GRINNING FACE}", "plain"])
    page = page_of(log, tmp_path, drawn=True, draws=400)
    told = [p for p in page.pictures() if "rank" in str(p["alt"]).lower()]
    assert told
    for picture in told:
        kind, data = str(picture["src"]).split(";base64,")
        assert kind == "data:image/svg+xml"
        assert "模型" in base64.b64decode(data).decode()


@pytest.mark.slow
def test_long_labels_are_shortened_and_kept_in_titles(tmp_path):
    log = Duels.from_wins(WINS, ["x" * 5000, "y", "z"])
    path = bd.report(log, tmp_path / "r.html", draws=400)
    page = Page(path.read_text(encoding="utf-8"))
    for name in SECTIONS:
        assert "x" * 61 not in page.text[name]
    titles = [attrs["title"] for tag, attrs in page.tags if tag == "td" and "title" in attrs]
    assert titles and set(titles) == {"x" * 5000}


def test_raw_counts_say_why_they_differ_from_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "held_out", not_held_out)
    rng = np.random.default_rng(5)
    left = rng.integers(0, 3, 300)
    right = (left + rng.integers(1, 3, 300)) % 3
    prompts = [f"p{k % 10}" for k in range(300)]
    names = [[f"arm {k}" for k in side] for side in (left, right)]
    log = Duels.from_votes(*names, rng.integers(0, 2, 300), group=prompts)
    plain = page_of(log, tmp_path, draws=200, model=BradleyTerry()).text["counts"]
    own = page_of(log, tmp_path, draws=200, model=BradleyTerry() + RandomEffects("group"))
    assert "against the opponents that an arm met" in plain and "Arms have effects" not in plain
    assert "Arms have effects by group in the fitted model" in own.text["counts"]


# -- bad input -----------------------------------------------------------------------------


def test_bad_arguments_are_refused_before_any_work(springall, tmp_path):
    log, _ = springall
    with pytest.raises(FileNotFoundError, match="path should be a file in a folder that exists"):
        bd.report(log, tmp_path / "nowhere" / "report.html")
    with pytest.raises(FileNotFoundError, match="path should be a file"):
        bd.report(log, tmp_path)
    for wrong in (3, {}, {"a": 1}, None):
        with pytest.raises(TypeError, match="log should be a Duels, a fit, a Check"):
            bd.report(wrong, tmp_path / "report.html")
    for wrong in (0.5, 1.0):
        with pytest.raises(ValueError, match=r"confidence should be in \(0\.5, 1\)"):
            bd.report(log, tmp_path / "r.html", confidence=wrong, step=pytest.fail)
    assert not list(tmp_path.iterdir())


def test_no_number_is_left_unfilled(html):
    text = re.sub(r"<style>.*?</style>|src=\"[^\"]*\"", "", html, flags=re.S)
    assert not re.search(r"\bnan\b|\bNone\b(?!:)|\binf\b|\{\{|\}\}", text)


# -- scores, raw counts, judges, duels to decide, files ------------------------------------


def test_scores_are_those_of_the_function(page, springall):
    table = bd.scores(springall[1])
    rows = page.rows["rates"][1:]
    assert [row[0] for row in rows] == list(table.index)
    assert all(
        float(row[3]) == round(s, 2) for row, s in zip(rows, table["score_mean"], strict=True)
    )
    assert "A log determines only differences" in page.text["rates"]


def test_raw_counts_stand_beside_the_model(page, springall):
    raw = bd.raw_winners(springall[0])
    best = "flavour 9.0 gel 0.0"
    assert f"raw Copeland): {best}" in page.text["counts"]
    row = next(row for row in page.rows["counts"] if row[0] == best)
    assert row[1] == f"{raw.loc[best, 'duels']}"


def test_a_page_of_judges_says_which_to_drop(tmp_path):
    log = bd.datasets.load("tversky1969")
    fit = bd.fit(log, draws=200, seed=0)
    page = page_of(fit, tmp_path, duels=log, against=["s1", "s2"])
    assert "no reason to leave a judge out" in page.text["judges"]
    assert "between the groups" in page.text["judges"]


@pytest.mark.slow
def test_export_writes_the_files_of_the_page(springall, page, tmp_path):
    log, fit = springall
    written = bd.export(fit, tmp_path / "tables", duels=log)
    linked = {str(a["download"]) for _, a in page.tags if "download" in a}
    assert {path.name for path in written} == {name for name in linked if name.endswith(".csv")}
    ranking = (tmp_path / "tables" / "ranking.csv").read_text(encoding="utf-8").splitlines()
    assert len(ranking) == 1 + log.n_arms
    with pytest.raises(ValueError, match="format should be 'csv' or 'json', got 'xls'"):
        bd.export(fit, tmp_path, duels=log, format="xls")


@pytest.mark.slow
def test_logs_without_any_cycle_have_no_picture_of_cyclicity(tmp_path):
    clear = bd.datasets.load("citations")
    even = bd.Duels.from_wins([[0, 6, 5], [4, 0, 7], [5, 3, 0]], ["a", "b", "c"])
    pages = [bd.report(log, tmp_path / "report.html").read_text() for log in (clear, even)]
    assert ["Cyclicity of replicated logs" in page for page in pages] == [False, True]


def test_ratings_over_time_are_drawn_where_the_model_has_them(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "held_out", not_held_out)
    rng = np.random.default_rng(2)
    i = rng.integers(0, 3, 300)
    j = (i + rng.integers(1, 3, 300)) % 3
    votes = [[f"m{k}" for k in side] for side in (i, j)]
    log = Duels.from_votes(*votes, rng.random(300) < 0.5 + 0.1 * (i - j), time=np.arange(300.0))
    model = BradleyTerry() + TimeVarying(periods=3)
    page = page_of(log, tmp_path, drawn=True, model=model, draws=200)
    assert "highest in the last period" in page.text["time"]
