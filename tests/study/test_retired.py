"""Retired arms: their duels count; verdict, ranks and pages are among the other arms."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.reporting.analysis import analyse
from bayesduel.reporting.leaderboard import period_views
from bayesduel.serve.standings import standings


def made(path=None, arms="xyz", rope=0.1, **settings):
    """Return a study in which x beats y and z, and y beats z, with x retired."""
    stop = bd.study.WithinRope(0.95, rope=rope)
    study = bd.Study(path, arms=list(arms), stop=stop, **settings)
    for _ in range(8):
        study.add("x", "y", "left")
        study.add("y", "z", "left")
        study.add("x", "z", "left")
    study.retire_arms(["x"])
    return study


def text_of(page):
    """Return the text of a page as a reader sees it."""
    html = page.read_text(encoding="utf-8")
    html = re.sub(r"<style.*?</style>|<script.*?</script>|<svg.*?</svg>", "", html, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_winners_of_a_study_are_among_the_arms_that_are_left():
    study = made()
    found = study.winners()
    assert study.status(check=False).ranking == tuple(found.table().index) == ("y", "z")
    assert found.attrs["verdict"].startswith("y wins: it beats z")
    assert json.loads(found.attrs["top_set"]) == ["y"]
    assert found["rank_upper"].max() == 2 and found["winner_share"].sel(arm="y").min() > 0.9
    assert "Retired, and left out of the verdict and the ranks: x." in repr(found).replace(
        "\n", " "
    )
    assert "Retired, and left out" in found._repr_html_()
    assert found.summary()["retired"] == ["x"]
    everyone = study.winners(retired=())
    assert next(iter(everyone.table().index)) == "x" and "retired" not in everyone.attrs
    np.testing.assert_allclose(
        found["preference_mean"].sel(arm="y", opponent="z"),
        everyone["preference_mean"].sel(arm="y", opponent="z"),
    )
    study.restore_arms(["x"])
    assert study.winners().table().index[0] == "x"


def test_the_page_of_a_study_has_its_rope_its_name_and_no_retired_winner(tmp_path):
    path = tmp_path / "taste.study"
    made(path).close()

    def run(*args):
        done = CliRunner().invoke(main, ["study", *map(str, args)])
        assert done.exit_code == 0, done.output
        return done.stdout

    page = tmp_path / "page.html"
    run("report", path, "-o", page)
    text = text_of(page)
    assert text.startswith(" taste: paired comparisons taste y is better than z")
    first = text.split("In exact terms")[0]
    assert "Retired, and left out of the verdict and the ranks: x." in first
    assert "within 0.1 of one half" in text
    board = text.split("Leaderboard")[1].split("Rating:")[0]
    assert re.search(r"\b1 y \d", board) and not re.search(r"\bx \d", board)
    assert "Duels with retired arms are not counted here." in text
    assert "24 duels between 3 arms" in text
    run("report", path, "-o", page, "--rope", "0.03")
    assert "within 0.03 of one half" in text_of(page)
    said = run("export", path, tmp_path / "log.csv", "--json")
    assert json.loads(said)["retired"] == ["x"]
    assert "Retired arms, whose duels are in it: x." in run("export", path, tmp_path / "log.csv")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("beside", [None, bd.study.Budget(500)], ids=repr)
@pytest.mark.parametrize("p", [0.8, 0.999])
def test_winners_and_page_of_a_study_have_the_confidence_of_its_rule(p, beside, tmp_path):
    rule = bd.study.WithinRope(p, rope=0.01)
    path = tmp_path / "own.study"
    with bd.Study(path, arms=["a", "b"], stop=rule if beside is None else rule | beside) as study:
        for outcome in ("left", "left", "left", "right", "right") * 5:
            study.add("a", "b", outcome)
        status = study.status(check=False)
        found = study.winners()
        assert found.attrs["confidence"] == p
        decided = "a is a safe choice" in found.attrs["verdict"]
        assert decided == status.stopped == (p == 0.8)
        assert study.winners(confidence=0.95).attrs["confidence"] == 0.95
        page = text_of(study.report(tmp_path / "page.html"))
        assert f"{100 * p:g} % interval" in page
    args = ["study", "report", str(path), "-o", str(tmp_path / "page.html"), "--confidence", "0.9"]
    assert CliRunner().invoke(main, args).exit_code == 0
    assert "90 % interval" in text_of(tmp_path / "page.html")


def test_a_named_study_gives_its_name_to_its_page(tmp_path):
    study = bd.Study(tmp_path / "s.study", arms=["a", "b"], name="drinks")
    for outcome in ("left", "left", "right") * 10:
        study.add("a", "b", outcome)
    page = study.report(tmp_path / "page.html")
    assert text_of(page).startswith(" drinks: paired comparisons")
    assert "within 0.05 of one half" in text_of(page)
    of_memory = bd.Study(arms=["a", "b"], stop=None)
    of_memory.import_duels(study.duels())
    page = of_memory.report(tmp_path / "page.html", title="Tea", rope=0.2)
    assert text_of(page).startswith(" Tea: paired comparisons")
    assert "within 0.2 of one half" in text_of(page)


def test_the_page_of_a_log_that_contradicts_a_ranking_leaves_retired_arms_out(tmp_path):
    study = bd.Study(arms=list("abcd"), stop=None)
    for _ in range(40):
        for left, right in ("ab", "bc", "ca", "da", "db", "dc"):
            study.add(left, right, "left")
    study.retire_arms(["d"])
    text = text_of(study.report(tmp_path / "page.html"))
    first = text.split("In exact terms")[0]
    assert "No single ranking holds" in first and "Retired, and left out" in first
    board = text.split("Leaderboard")[1].split("Win rates and tiers")[0]
    assert not re.search(r"\bd \d", board)


def test_arms_that_met_through_a_retired_arm_alone_have_a_page(tmp_path):
    study = bd.Study(arms=list("xyz"), stop=None)
    for _ in range(9):
        study.add("y", "x", "left")
        study.add("x", "z", "left")
    study.retire_arms(["x"])
    text = text_of(study.report(tmp_path / "page.html"))
    assert "y is better than z" in text and "Raw counts By" not in text


def test_groups_that_never_met_are_those_of_the_arms_that_are_left():
    log = bd.Duels.from_votes(list("aaabxx"), list("bbbayy"), [1, 1, 0, 0, 1, 1])
    with pytest.warns(UserWarning):
        fit = bd.fit(log)
    assert bd.winners(fit).attrs["verdict_kind"] == "not comparable"
    left = bd.winners(fit, retired=["x", "y"])
    assert left.attrs["verdict_kind"] != "not comparable" and left.groups() is None


def test_retired_arms_are_arms_of_the_fit():
    fit = made().fit()
    with pytest.raises(
        ValueError, match="retired should be arms of the fit, got 'X'; did you mean"
    ):
        bd.winners(fit, retired=["X"])
    with pytest.raises(ValueError, match="at least two arms, but only 1 would remain"):
        bd.next_pairs(fit, retired=["x", "y"])
    with pytest.raises(TypeError, match="retired should be a list of names"):
        bd.winners(fit, retired="x")
    pairs = bd.next_pairs(fit, retired=["x"])
    assert pairs[["first", "second", "duels"]].values.tolist() == [["y", "z", 8]]


def test_earlier_periods_of_a_page_are_without_retired_arms():
    days = np.repeat([1.0, 2.0, 3.0], 12)
    log = bd.Duels.from_votes(list("xyx") * 12, list("yzz") * 12, [1, 1, 0] * 12, time=days)
    fit = bd.fit(log, bd.models.BradleyTerry() + bd.models.TimeVarying(periods=3))
    one = analyse(log, fit, retired=["x"])
    views = period_views(fit, log, one.scores)
    assert len(views) == 2
    for view in views.values():
        assert sorted(view["arm"]) == ["y", "z"] and view["rank_upper"].max() <= 2
    with pytest.raises(ValueError, match="audit should be False where arms are retired"):
        analyse(log, fit, retired=["x"], audit=True)


def test_standings_rank_the_arms_that_are_left():
    found = standings(made())["ranking"]
    assert [row["arm"] for row in found] == ["y", "z", "x"]
    assert [row["retired"] for row in found] == [False, False, True]
    assert [(row["rank_lower"], row["rank_upper"]) for row in found[:2]] == [(1, 1), (2, 2)]
    assert found[0]["win_rate"] > 0.8
