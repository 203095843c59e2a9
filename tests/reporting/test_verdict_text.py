"""The first screen: one verdict in the words of a reader, which holds what was found."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.health import DisconnectedWarning
from bayesduel.models import BradleyTerry, Davidson, PreferenceMatrix
from bayesduel.reporting.analysis import analyse
from bayesduel.reporting.margins import margin_words
from bayesduel.reporting.ranking import advantage_words
from bayesduel.reporting.report import sections
from bayesduel.reporting.section import Table
from bayesduel.reporting.verdict_text import headline
from bayesduel.system.arguments import check_noun
from bayesduel.text import plural
from tests.support.parsing import Page

NAMES = list("abcdefghij")


def winners(wins, model=None, ties=None):
    log = bd.Duels.from_wins(np.array(wins), NAMES[: len(wins)], ties=ties)
    return bd.winners(bd.fit(log, model or BradleyTerry(), draws=1000))


def ladder(n, won, lost):
    """Return wins of n arms, each of which beats all below it as often."""
    wins = np.full((n, n), lost)
    wins[np.triu_indices(n, 1)] = won
    np.fill_diagonal(wins, 0)
    return wins


def around(n_duels):
    wins = np.zeros((3, 3))
    for i in range(3):
        wins[i, (i + 1) % 3], wins[(i + 1) % 3, i] = 0.9 * n_duels, 0.1 * n_duels
    return wins


def test_the_best_and_its_closest_rival():
    found = winners(ladder(4, 90, 10))
    share = float(found["preference_mean"].sel(arm="a", opponent="b"))
    assert headline(found, "model") == (
        "a is the best model (> 99 % sure). Against b, its closest rival, it wins "
        f"{100 * share:.0f} % of duels."
    )
    two = headline(winners([[0, 80], [20, 0]]), "model")
    assert re.fullmatch(r"a is better than b \(> 99 % sure\): it wins \d+ % of duels\.", two)


def test_shares_of_ties_are_told_where_the_model_has_them():
    tied = np.full((2, 2), 40)
    np.fill_diagonal(tied, 0)
    words = headline(winners([[0, 80], [20, 0]], Davidson(), tied), "model")
    shares = [int(n) for n in re.search(r"wins (\d+) .* ties (\d+) % .* (\d+) %", words).groups()]
    assert sum(shares) == pytest.approx(100, abs=1) and shares[0] > shares[1] > shares[2]
    half = headline(winners([[0, 80], [20, 0]], BradleyTerry(), tied), "model")
    assert "% of the points, a tie counting half" in half


def test_arms_about_level():
    found = winners(ladder(3, 40000, 40000))
    assert headline(found, "dish") == "a, b and c are practically equal (> 99 % sure)."


def test_what_is_open():
    few = headline(winners(np.vstack([ladder(4, 30, 20)])), "model")
    assert few.startswith("Not enough data yet: ")
    many = headline(winners(ladder(10, 6, 5)), "entry")
    assert re.search(r"one of \d of the 10 entries|any of the 10 entries may be the best", many)
    level = headline(winners([[0, 3], [3, 0]]), "entry")
    assert level == "Not enough data yet: any of the 2 entries may be the best."


def test_a_cycle_names_its_steps():
    words = headline(winners(around(100), PreferenceMatrix()), "team")
    assert words.startswith("No team beats all others (> 99 % sure): ")
    assert {"a loses to c", "b loses to a", "c loses to b"} <= {
        *re.findall(r"\w loses to \w", words)
    }


def test_groups_that_never_met():
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 20, 5, 20, 5
    with pytest.warns(DisconnectedWarning):
        words = headline(winners(wins), "team")
    assert words.startswith("There is no ranking of all teams. They form 2 groups")


@pytest.mark.parametrize("noun", ["", "  ", "x" * 41, "two\nlines", 3, None])
def test_a_noun_is_a_word(noun):
    with pytest.raises((TypeError, ValueError), match="noun should be"):
        check_noun(noun)


def test_plurals():
    words = {"model": "models", "dish": "dishes", "entry": "entries", "boy": "boys", "box": "boxes"}
    words |= {"person": "people", "Child": "Children", "children": "children", "woman": "women"}
    words |= {"human": "humans", "chess person": "chess people"}
    assert {noun: plural(noun) for noun in words} == words


# -- what was wrong, on the page -----------------------------------------------------------


@pytest.fixture(scope="module")
def sided(tmp_path_factory):
    """Return a function from names of columns to the page of a log in which the first side wins."""
    folder = tmp_path_factory.mktemp("sided")
    rng = np.random.default_rng(1)

    def made(left, right, **options):
        path = folder / "log.csv"
        i = rng.integers(0, 4, 300)
        j = (i + rng.integers(1, 4, 300)) % 4
        won = rng.random(300) < 0.65
        rows = [f"{NAMES[a]},{NAMES[b]},{('left', 'right')[not w]}" for a, b, w in
                zip(i, j, won, strict=True)]  # fmt: skip
        path.write_text("\n".join([f"{left},{right},outcome", *rows]))
        log = bd.read_duels(path, left=left, right=right)
        return Page(bd.report(log, folder / "r.html", draws=400, **options).read_text())

    return made


@pytest.mark.slow
def test_an_advantage_of_a_side_is_in_the_verdict_and_the_ranking_free_of_it(sided):
    """Wrong 1: where sides have a meaning."""
    said = sided("home", "away").text["verdict"]
    found = r"Side advantage: the home side wins 6\d % \[\d+, \d+\] of duels between equals\."
    assert re.search(f"{found} The ranking is without this advantage", said)
    left_out = sided("home", "away", model=bd.DefaultModel(side_advantage=False)).text["verdict"]
    assert "Side advantage:" not in left_out


def test_an_advantage_that_may_be_none_is_left_to_the_details():
    """Of 45 bots: "Side advantage: the left side wins 50 % [47, 52] of duels"."""
    fit = {"posterior": {"order"}}
    duels = bd.datasets.load("springall")
    a = SimpleNamespace(side_advantage=(0.5, 0.47, 0.52), duels=duels, fit=fit)
    assert advantage_words(a) == ()
    a.side_advantage = (0.46, 0.43, 0.49)
    assert "covariates" not in advantage_words(a)[0]
    fit["posterior"].add("covariate_effect")
    assert "duels between equals whose covariates are all zero" in advantage_words(a)[0]


def test_a_ranking_by_margins_says_so_and_who_leads_by_wins():
    """Castles: r1s146 was "the best", with 154 of 199 wins, and r1s134 had 169."""
    log = bd.Duels.from_wins([[0, 1, 1], [0, 0, 1], [0, 0, 0]], NAMES[:3])
    fine = SimpleNamespace(check=SimpleNamespace(failed=[]))
    assert margin_words(fine, log, "a") == "This ranking is by margins, not by who won."
    assert "By wins only, a is first" in margin_words(None, log, "b")  # of very many arms
    off = SimpleNamespace(check=SimpleNamespace(failed=["kurtosis"]))
    assert "win rates may be off" in margin_words(off, log, "a")
    apart = bd.Duels.from_wins([[0, 1, 0], [0, 0, 1], [0, 0, 0]], NAMES[:3])
    assert "By wins" not in margin_words(fine, apart, "b")  # a and c never met


@pytest.mark.slow
def test_uneven_margins_are_on_the_first_screen(monkeypatch):
    log = bd.datasets.load("baseball1987")
    a = analyse(log, bd.fit(log, draws=400, seed=0))
    assert "misstate" not in str(sections(a)[0])
    monkeypatch.setattr(type(a.check.value), "misstated", True)
    first, board = sections(replace(a, noun="animal"))[:2]
    said = " ".join(first.body[0].text)
    assert "how often one animal beats another differs from what one score per animal" in said
    assert "margin" not in said
    shown = [first.body[0].headline, said, first.body[0].caution]
    shown += [block.caption for block in board.body if isinstance(block, Table)]
    assert "Animals are in the order of" in shown[-1] and "rank of one animal" in shown[-1]
    assert not re.search(r"\barms?\b", " ".join(shown), re.IGNORECASE)


@pytest.mark.slow
def test_sides_that_are_an_artefact_stay_out_and_the_page_says_why(sided):
    """Wrong 1: where they have none."""
    said = sided("one", "another").text["verdict"]
    assert "Side advantage:" not in said and "do not say how a pair was presented" in said


@pytest.mark.slow
def test_a_page_has_one_verdict_and_other_models_are_rows(tmp_path):
    """Wrong 2."""
    log = bd.Duels.from_wins(ladder(5, 12, 6), NAMES[:5])
    html = bd.report(log, tmp_path / "r.html", draws=400).read_text()
    assert html.count('class="headline"') == 1
    below = re.sub("<td.*?</td>", "", html.partition("Details</h2>")[2], flags=re.S)
    assert not re.search("Not enough data yet|wins: it beats|is the best arm", below)
    answers = re.findall("<td>(Not enough data yet|[^<]*wins: it beats)", html)
    assert len(answers) == 2 and "what it assumes" in html


def test_a_rejected_ranking_is_on_the_first_screen_and_its_scores_are_not(tmp_path):
    """Wrong 3."""
    log = bd.Duels.from_wins(around(400), NAMES[:3])
    page = Page(bd.report(log, tmp_path / "r.html", draws=400, noun="bot").read_text())
    said = page.text["verdict"]
    assert said.strip().startswith("No single ranking holds. No bot beats all others")
    assert "fit no ranking" in said
    assert (
        "bots are in the order of their win rates by a model that allows cycles"
        in (page.text["ranking"])
    )
    assert "rating" not in page.rows["ranking"][0]


@pytest.mark.slow
def test_pointwise_ranks_lead_and_joint_ones_say_so_in_every_format(tmp_path):
    """Wrong 5; 4 is in test_leaderboard.py."""
    log = bd.Duels.from_wins(ladder(5, 12, 6), NAMES[:5])
    page = Page(bd.report(log, tmp_path / "r.html", draws=400).read_text())
    heads = page.rows["ranking"][0]
    assert "rank interval(95 %)" in heads and not any("joint" in head for head in heads)
    assert any(head.startswith("joint rank") for head in page.rows["rates"][0])
    files = {p.name: p for p in bd.export(log, tmp_path / "csv", draws=400)}
    columns = files["ranking.csv"].read_text().split("\n")[0].split(",")
    assert columns.index("rank_lower") < columns.index("rank_joint_lower")
    listed = {p.name: p for p in bd.export(log, tmp_path / "json", format="json", draws=400)}
    assert [*json.loads(listed["ranking.json"].read_text())[0]] == columns


@pytest.mark.slow
def test_the_noun_is_on_the_first_screen_and_the_exact_terms_below(tmp_path):
    log = bd.Duels.from_wins(ladder(4, 3, 2), NAMES[:4])
    path = bd.report(log, tmp_path / "r.html", draws=400, noun="model")
    page = Page(path.read_text())
    first, _, exact = page.text["verdict"].partition("In exact terms")
    assert "any of the 4 models" in first or "best model" in first
    assert not re.search(r"\barms?\b|posterior|probability", first.partition("This verdict")[0])
    assert "posterior probability of 0.95" in exact and "30 duels between 4 models" in exact
    assert page.rows["ranking"][0][1] == "model"
