"""Audits: the fewest votes that change a leader, rigging, the best of variants, early looks."""

import json
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.criticism import audit as room
from bayesduel.criticism.best_variant import _pooled
from bayesduel.criticism.fragility import Changes, Goal, _changed, _kinds, worth_of
from bayesduel.criticism.rigging import _tails
from bayesduel.models import BradleyTerry, JudgeReliability, Scores

ARMS = [f"a{k}" for k in range(6)]


def voted(n=1500, judges=30, rigged=0, seed=0, favourite=5):
    """Return a log of honest judges, the first `rigged` of whom always vote for one arm."""
    rng = np.random.default_rng(seed)
    score = np.linspace(1, -1, len(ARMS))
    i = rng.integers(0, len(ARMS), n)
    j = (i + rng.integers(1, len(ARMS), n)) % len(ARMS)
    won = rng.random(n) < 1 / (1 + np.exp(score[j] - score[i]))
    judge = rng.integers(0, judges, n)
    mine = (judge < rigged) & ((i == favourite) | (j == favourite))
    won = np.where(mine, i == favourite, won)
    labels = np.array(ARMS)
    names = [f"j{k:02d}" for k in judge]
    return bd.Duels.from_votes(labels[i], labels[j], won.astype(float), judge=names)


def changes(log):
    fit = bd.fit(log, BradleyTerry())
    return Changes(fit, room._log_of(fit, log), lambda part: room._refitted(fit, part), Goal())


@pytest.mark.parametrize("change", ["removed", "reversed"])
@pytest.mark.sampled(2)
def test_influence_is_the_derivative_of_the_mean_difference(change):
    """Against refits without one vote of each kind; draws are the same normal numbers."""
    one = changes(bd.datasets.load("celebrities"))
    of_vote, cast, turned = one._influence
    apart = worth_of(one.fit).mean(axis=0)[one._pairs]
    gap = apart[:, 0] - apart[:, 1]
    pull = cast - turned if change == "reversed" else cast
    seen, expected = [], []
    for vote in range(0, len(of_vote), 7):
        gone = 20.0 * (np.arange(len(of_vote)) == vote)  # of hundreds of such votes
        after = worth_of(one.refit(_changed(one.log, gone, change))).mean(axis=0)[one._pairs]
        seen.append((gap - (after[:, 0] - after[:, 1])) / 20)
        expected.append(pull[of_vote[vote]])
    seen, expected = np.array(seen), np.array(expected)
    scale = np.abs(expected).max()
    assert np.abs(seen - expected).max() < 0.15 * scale
    assert np.corrcoef(seen.ravel(), expected.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("few", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_no_fewer_votes_change_the_leader(few):
    """Against all choices of fewer votes of a small log."""
    one = changes(bd.datasets.load("tennis1990"))
    row, _ = one.fewest("vote", None, (), "removed", 0.5)
    of_vote = _kinds(one.fit.duel.model, one.log)[2]
    weight = one.log.votes.weight
    assert len(of_vote) == len(set(of_vote)) and row["needed"] == 3
    leader = worth_of(one.fit).mean(axis=0).argmax()
    for votes in combinations_with_replacement(range(len(of_vote)), few):
        gone = np.bincount(votes, minlength=len(of_vote)).astype(float)
        if (gone <= weight).all():
            after = worth_of(one.refit(_changed(one.log, gone, "removed"))).mean(axis=0)
            assert after.argmax() == leader


@pytest.mark.parametrize(
    ("by", "goal", "back"),
    [
        ("vote", {}, "a0"),
        ("vote", {"k": 2}, "a1"),
        ("vote", {"pair": ("a4", "a2")}, "a2"),
        ("judge", {}, "a0"),
        ("judge", {"k": 2}, "a1"),
    ],
)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_what_is_named_changes_the_goal_when_it_is_left_out(by, goal, back):
    log = voted()
    fit = bd.fit(log, BradleyTerry())
    found = bd.audit(fit, log, by=(by,), **goal)
    row, other = found.fragility.to_dict("records")
    assert row["lost"] == other["lost"] == (back,) and back in found.ahead
    assert other["needed"] < row["needed"] <= row["limit"]
    items = found.changed[found.changed["change"] == "removed"]
    if by == "judge":
        kept = ~np.isin(np.array(log.votes.judges)[log.votes.judge], items["item"])
    else:
        arms = np.array(log.arms)
        left, right, won = (getattr(log.votes, n) for n in ("left", "right", "outcome"))
        text = np.where(
            won > 0,
            arms[left].astype(object) + " beat " + arms[right],
            arms[right].astype(object) + " beat " + arms[left],
        )
        kept = np.ones(len(text), dtype=bool)
        for item, votes in zip(items["item"], items["votes"], strict=True):
            kept[np.flatnonzero(text == item)[:votes]] = False
    assert (~kept).sum() == row["votes"]
    part = room.without_votes(log, ~kept)
    again = bd.fit(part, BradleyTerry(), clusters=False)
    mean = again["posterior"]["score"].mean(("chain", "draw"))
    assert float(mean.sel(arm=row["new"][0])) > float(mean.sel(arm=back))


@pytest.mark.slow
def test_a_leader_that_no_part_of_the_votes_changes_is_said_so():
    rows = pd.DataFrame({"left": ["a"] * 40, "right": ["b", "c"] * 20, "outcome": [1] * 40})
    log = bd.read_duels(rows)
    found = bd.audit(bd.fit(log, BradleyTerry()), log)
    assert found.fragility["needed"].isna().tolist() == [True, False]
    assert (
        "Leaving out up to 20 of 40 votes does not change the leader, as far as the audit found."
        in found.sentence
    )
    assert found.fragility.loc[1, "lost"] == ("a",)


# -- judges ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(1, 0.9), (8, 0.3), (60, 0.5), (400, 0.02)])
def test_bounds_are_above_exact_tails_and_near_them(n, p):
    """Against the binomial distribution; Chernoff's bound is off by a factor of the order of z."""
    won = np.arange(n + 1)
    rows = len(won)
    chance = np.tile([p, 1 - p, 0.0], (rows, 1))
    value = np.tile([1.0, 0.0, 0.5], (rows, 1))
    cast = np.stack([won, n - won, 0 * won], axis=1).astype(float)
    every = np.arange(rows)
    log, mean, total = _tails(value, chance, np.full(rows, n), every, cast, np.zeros(rows))
    exact = np.where(won < n * p, binom.cdf(won, n, p), binom.sf(won - 1, n, p))
    assert mean == pytest.approx(n * p) and (total == won).all()
    assert (np.exp(log) >= exact * (1 - 1e-6) - 1e-300).all()
    z = np.abs(won - n * p) / np.sqrt(n * p * (1 - p))
    far = (z > 2) & (exact > 1e-12)
    assert (np.exp(log)[far] < 4 * (1 + z[far]) * exact[far] + 1e-12).all()


@pytest.mark.slow
def test_planted_judges_are_found_and_honest_ones_are_not():
    log = voted(rigged=3)
    found = bd.audit(bd.fit(log, BradleyTerry()), log)
    flagged = found.improbable[found.improbable["flagged"]]
    assert set(flagged["level"]) == {"j00", "j01", "j02"} and set(flagged["arm"]) == {"a5"}
    assert (flagged["points"] == flagged["duels"]).all()
    assert "3 of 30 judges are improbable given the votes of all others" in found.sentence
    honest = voted(seed=1)
    assert not bd.audit(bd.fit(honest, BradleyTerry()), honest).improbable["flagged"].any()


@pytest.mark.slow
def test_the_p_values_of_judges_do_not_depend_on_their_labels():
    log = voted(n=600, judges=24)
    judges = log.votes.judges
    turned = dict(zip(judges, reversed(judges), strict=True))
    other = replace(log, votes=replace(log.votes, judge=len(judges) - 1 - log.votes.judge))
    found = [
        bd.audit(bd.fit(one, BradleyTerry(), draws=400), one, by=["judge"], share=0.05)
        for one in (log, other)
    ]
    one, two = (audit.improbable.set_index("level")["p_value"] for audit in found)
    assert one.nunique() > 5
    assert two.rename(turned).to_dict() == one.to_dict()


@pytest.mark.slow
def test_false_alarms_of_judges_are_at_most_as_stated():
    """Of 200 logs; 22 alarms or more have probability 1e-4 at a familywise rate of 5 %."""
    alarms = 0
    for seed in range(200):
        log = voted(n=600, judges=20, seed=seed)
        fit = bd.fit(log, BradleyTerry(), draws=400, clusters=False)
        one = room.improbable_levels(
            log,
            *log.votes.level("judge"),
            room.worth_of(fit).mean(axis=0),
            lambda part, fit=fit: room._refitted(fit, part),
            0.05,
            np.random.default_rng(seed),
        )
        alarms += one["flagged"].any()
    assert alarms <= binom.isf(1e-4, 200, 0.05)


# -- variants and early looks --------------------------------------------------------------------


def test_equal_variants_are_pooled_and_different_ones_are_not():
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.standard_normal((4000, 4))
    noise -= noise.mean(axis=0)
    alike, spread = _pooled(noise + np.array([0.0, 0.02, -0.01, 0.01]), 1.0, rng)
    apart, wide = _pooled(noise + np.array([0.0, 2.0, -2.0, 1.0]), 1.0, rng)
    assert spread < 0.1 < 1 < wide
    assert np.ptp(alike.mean(axis=0)) < 0.02
    assert apart.mean(axis=0) == pytest.approx([0.0, 2.0, -2.0, 1.0], abs=0.05)
    assert apart.std(axis=0) == pytest.approx(0.1, rel=0.1)


@pytest.mark.slow
def test_selection_of_variants_and_its_sentence():
    log = voted()
    fit = bd.fit(log, BradleyTerry())
    found = bd.audit(fit, log, by=("vote",), variants={"low": ["a3", "a4"], "top": ["a0", "a1"]})
    row = found.selection.loc["top"]
    assert (row["best"], row["rival"], row["variants"]) == ("a0", "a2", 2)
    assert row["selection"] > 0 and row["family_lead"] < row["lead"]
    assert row["lead_pooled"] == pytest.approx(row["lead"] - row["selection"])
    assert "a0 is the best of 2 variants of top. It leads a2 by" in found.sentence


@pytest.mark.slow
def test_looks_are_in_the_order_of_time():
    log = voted()
    shuffled = np.random.default_rng(2).permutation(len(log.votes))
    votes = log.votes
    timed = bd.Duels.from_votes(
        *(np.array(ARMS)[side[shuffled]] for side in (votes.left, votes.right)),
        (votes.outcome[shuffled] + 1) / 2,
        time=shuffled * 1.0,
    )
    rows, dated = (bd.audit(bd.fit(one, BradleyTerry()), one, by=("vote",)) for one in (log, timed))
    assert dated.by_time and not rows.by_time
    pd.testing.assert_frame_equal(rows.stops, dated.stops)
    assert rows.stops["votes"].tolist() == [150 * k for k in range(1, 11)]


# -- what is refused, and the command --------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (BradleyTerry(scale=np.inf), {}, "an audit needs proper priors"),
        (BradleyTerry(), {"by": ("prompt",)}, "duels should have the prompt of each vote"),
        (BradleyTerry(), {"pair": ("a0", "b")}, "pair should be two arms of the log"),
        (BradleyTerry(), {"k": 6}, "k should be a whole number from 1 to 5"),
        (BradleyTerry(), {"share": 1.0}, r"share should be in \(0, 1\)"),
        (BradleyTerry(), {"variants": {"x": ["a0"]}}, "should be two arms or more, and not all"),
        (BradleyTerry(), {"variants": {"x": ["a0", "z"]}}, "variants should be arms of the log"),
        (
            BradleyTerry(),
            {"variants": {"x": ["a0", "a1"], "y": ["a1", "a2"]}},
            "an arm should be in one family only, got 'a1' in two",
        ),
        (bd.models.PreferenceMatrix(), {"variants": {"x": ["a0", "a1"]}}, "have no scores"),
    ],
)
def test_what_cannot_be_audited_is_refused_by_name(model, given, said):
    log = voted(n=400)
    fit = bd.fit(log, model, draws=100, clusters=False)
    with pytest.raises(ValueError, match=said):
        bd.audit(fit, log, **given)


def test_the_log_is_that_of_the_fit():
    log = voted(n=400)
    fit = bd.fit(log, BradleyTerry())
    with pytest.raises(ValueError, match="duels should be the log of the fit"):
        bd.audit(fit, voted(n=401))
    margins = bd.datasets.load("icehockey")
    with pytest.raises(ValueError, match=r"reads more of it than who won$"):
        bd.audit(bd.fit(margins, draws=100, clusters=False))
    alone, whole = bd.audit(fit), bd.audit(fit, log, by=("vote",))
    pd.testing.assert_frame_equal(alone.fragility, whole.fragility)
    assert alone.stops is None and alone.improbable is None


def test_a_model_that_only_nuts_samples_is_refused(monkeypatch):
    log = voted(n=200)
    fit = bd.fit(log, BradleyTerry(), draws=100)
    slow = BradleyTerry(Scores() + JudgeReliability())
    monkeypatch.setattr(fit.duel, "model", slow)
    with pytest.raises(ValueError, match=r"only NUTS samples it \(its predictor is not linear"):
        bd.audit(fit, log)


def test_the_command(tmp_path):
    path = tmp_path / "votes.csv"
    voted(rigged=2).votes.to_frame(ARMS).to_csv(path, index=False)
    command = ["audit", str(path), "--variants", "top=a0,a1", "--draws", "400"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.stderr
    for words in ("votes removed", "judges reversed", "improbable", "selection", "announced"):
        assert words in shown.stdout
    told = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
    assert [row["by"] for row in told["fragility"]] == ["vote", "vote", "judge", "judge"]
    assert told["selection"][0]["family"] == "top" and len(told["stops"]) == 10
    wrong = CliRunner().invoke(main, ["audit", str(path), "--variants", "a0,a1"])
    assert wrong.exit_code == 2 and "--variants should be NAME=A,B" in wrong.stderr


@pytest.mark.slow
def test_the_page_has_the_section_when_it_is_asked_for(tmp_path):
    page = tmp_path / "page.html"
    made = CliRunner().invoke(
        main, ["report", "tennis1990", "--audit", "--draws", "400", "-o", str(page)]
    )
    assert made.exit_code == 0, made.stderr
    text = page.read_text(encoding="utf-8")
    assert 'id="audit"' in text and "Leaving out" in text
