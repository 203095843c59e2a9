"""What is found in a log is applied: the model where none is named."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.data.sides import sides_of
from bayesduel.models import BradleyTerry

LABELS = list("abcdef")


def frame(left="left", right="right", n=120, ties=0.0, home=0.65):
    """Return votes with sides drawn at random, of which the left wins a share `home`."""
    rng = np.random.default_rng(5)
    pairs = [rng.choice(LABELS, 2, replace=False) for _ in range(n)]
    level = rng.random(n)
    outcome = np.where(level < ties, "tie", np.where(rng.random(n) < home, "left", "right"))
    return pd.DataFrame(pairs, columns=[left, right]).assign(outcome=outcome)


def chosen(table, **options):
    return bd.DefaultModel().choose(bd.read_duels(table, **options))


@pytest.mark.parametrize("names", [("home", "away"), ("white", "black"), ("left", "right")])
def test_a_side_with_a_meaning_is_in_the_model(names):
    model, reasons = chosen(frame(*names))
    assert model.name == "bradley-terry + order"
    assert names[0] in reasons[-1] and "is in the fitted model" in reasons[-1]


def test_sides_that_are_an_artefact_stay_out_and_it_is_said():
    by_name = frame()
    by_name[["left", "right"]] = np.sort(by_name[["left", "right"]].to_numpy(dtype=str), axis=1)
    won = frame(home=1.0)
    listed = frame("winner", "loser").drop(columns="outcome")
    other = frame("cited", "citing")
    named = {"left": "cited", "right": "citing"}
    for table, options, words in [
        (by_name, {}, "listed in one order only"),
        (won, {}, "The left side won every decided duel, so the log lists the winner first. No"),
        (won.assign(outcome="right"), {}, "The right side won every decided duel, so the log"),
        (listed, {}, "list the winner first"),
        (other, named, "do not say how a pair was presented"),
    ]:
        model, reasons = chosen(table, **options)
        assert model.name == "bradley-terry"
        assert words in reasons[-1]
    matrix = bd.Duels.from_wins([[0, 9], [4, 0]])
    assert not sides_of(matrix).meaning


@pytest.mark.parametrize(
    ("names", "n_arms", "counts", "in_model"),
    [
        (("model_a", "model_b"), 12, {}, True),
        (("left", "right"), 12, {}, True),
        (("left", "right"), 12, {"weight": 2}, False),  # who counted has sorted them
        (("model_a", "model_b"), 6, {}, False),  # it would cost a quarter of the width
        (("cited", "citing"), 12, {}, False),  # these are no sides
    ],
)
def test_an_advantage_is_in_the_model_of_many_arms_listed_in_one_order(
    names, n_arms, counts, in_model
):
    rng = np.random.default_rng(3)
    pairs = np.array([np.sort(rng.choice(n_arms, 2, replace=False)) for _ in range(300)])
    labels = np.array([f"m{arm:02}" for arm in range(n_arms)])
    table = pd.DataFrame(labels[pairs], columns=list(names)).assign(**counts)
    table["outcome"] = np.where(rng.random(300) < 0.6, "left", "right")
    model, reasons = chosen(table, left=names[0], right=names[1])
    assert (model.name == "bradley-terry + order") == in_model
    said = (
        "is in the fitted model: pairs are listed in one order only, and may have been shown in it"
    )
    assert (said in reasons[-1]) == in_model


def test_an_advantage_that_scores_explain_stays_out():
    first = np.repeat(np.arange(11), 9)  # a chain of arms: each pair has its own step
    labels = np.array([f"m{arm:02}" for arm in range(12)])
    table = pd.DataFrame({"model_a": labels[first], "model_b": labels[first + 1]})
    table["outcome"] = ["left", "right", "left"] * 33
    assert chosen(table).model.name == "bradley-terry"


@pytest.mark.parametrize(
    ("names", "meetings", "meaning"),
    [
        (
            ("home", "away"),
            ["ba", "ac", "cb"],
            True,
        ),  # each pair in one order, round in a circle
        (("white", "black"), ["ba", "ac", "cb"], True),
        (("left", "right"), ["ba", "ac", "cb"], False),
        (
            ("home", "away"),
            ["ab", "bc", "cd", "ad", "bd"],
            True,
        ),  # a is ahead of d by 3, by 1, by 2
        (("home", "away"), ["ab", "bc", "cd"], False),  # scores alone explain an advantage
        (("home", "away"), ["ac", "ad", "bc", "bd"], False),
    ],
)
def test_a_series_at_one_ground_keeps_its_order_and_has_a_home_side(names, meetings, meaning):
    rows = [tuple(one) for one in meetings] * 8
    table = pd.DataFrame(rows, columns=list(names)).assign(
        outcome=["left", "right"] * (len(rows) // 2)
    )
    assert sides_of(bd.read_duels(table)).meaning == meaning


def test_a_column_of_neutral_ground_that_is_not_used_is_named():
    table = frame("home", "away").assign(neutral_site=0)
    said = "are named as sides (the column neutral_site is not used: games on neutral"
    assert said in chosen(table).reasons[-1]
    assert "not used" not in chosen(table, covariates=["neutral_site"]).reasons[-1]


def test_it_is_left_out_or_put_in_as_asked():
    log = bd.read_duels(frame("home", "away"))
    model, reasons = bd.DefaultModel(side_advantage=False).choose(log)
    assert model.name == "bradley-terry" and "left out, as asked" in reasons[-1]
    listed = bd.read_duels(frame("cited", "citing"), left="cited", right="citing")
    assert bd.DefaultModel(side_advantage=True).choose(listed).model.name == "bradley-terry + order"
    assert bd.DefaultModel("preference-matrix").choose(log).model.name == "preference-matrix"
    with pytest.raises(TypeError, match="terms should be added to a model with scores"):
        bd.DefaultModel("preference-matrix", side_advantage=True)


def test_ties_and_margins_are_in_the_model():
    assert chosen(frame(ties=0.2)).model.name == "davidson + order"
    assert chosen(frame(ties=0.02)).model.name == "bradley-terry + order"
    assert chosen(frame(ties=0.2), ties="half").model.name == "bradley-terry + order"
    many = frame(n=2000)
    rng = np.random.default_rng(2)
    many[["left", "right"]] = [rng.choice(345, 2, replace=False) for _ in range(2000)]
    many["margin"] = np.where(many["outcome"] == "left", 3, -2)
    assert chosen(many).model.name == "thurstone-score + order"  # more than 300 arms, too
    assert chosen(many.assign(margin=0)).model.name == "bradley-terry + order"


def test_a_fit_says_why_and_a_model_that_is_named_is_taken_as_it_is():
    log = bd.read_duels(frame("home", "away"))
    fit = bd.fit(log, draws=100)
    assert fit.attrs["model"] == "bradley-terry + order"
    assert "home side" in fit.attrs["model_reasons"]
    assert "home side" in bd.winners(fit).summary()["model_reasons"][-1]
    for model in ("bradley-terry", BradleyTerry()):
        assert bd.fit(log, model, draws=100).attrs["model"] == "bradley-terry"


@pytest.mark.parametrize(
    "asked",
    [
        "auto",
        pytest.param(bd.DefaultModel("davidson"), marks=pytest.mark.slow),
        pytest.param("davidson + order", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_every_function_of_a_model_takes_it(asked, tmp_path):
    log = bd.read_duels(frame("home", "away", n=60, ties=0.2))
    name = "davidson + order"
    assert bd.fit(log, asked, draws=100).attrs["model"] == name
    assert bd.prior_predictive(asked, log, draws=20).attrs["model"] == name
    assert bd.calibrate(asked, log, 20, draws=100).attrs["model"] == name
    assert held_out(log, asked, folds=2, draws=100).n.sum() == 60
    page = bd.report(log, tmp_path / "a.html", model=asked, draws=100)
    assert name in page.read_text(encoding="utf-8")


def grouped(groups=13, arms=6, n=260, **columns):
    """Return votes of which each group has several, and some columns more."""
    rng = np.random.default_rng(4)
    pairs = [rng.choice(arms, 2, replace=False) for _ in range(n)]
    names = np.array([f"m{k:03}" for k in range(arms)])
    table = pd.DataFrame(names[pairs], columns=["left", "right"])
    table["outcome"] = rng.choice(["left", "right"], n)
    return table.assign(prompt=np.arange(n) % groups, **columns)


@pytest.mark.parametrize(
    ("table", "options", "there"),
    [
        (grouped(), {}, True),
        (grouped(), {"group": False}, False),
        (grouped(5), {}, True),
        (grouped(4), {}, False),  # the prior would say how they differ
        (grouped(50), {}, True),
        (grouped(51), {}, False),
        (grouped(260), {}, False),
        (grouped(13, 69), {}, True),
        (grouped(13, 70), {}, False),  # over 900 effects
        (grouped().assign(margin=lambda t: np.where(t["outcome"] == "left", 3, -2)), {}, True),
        (grouped(chance=0.5), {"sampling_weight": "chance"}, False),
    ],
)
def test_effects_by_group_are_in_the_model_where_it_takes_seconds(table, options, there):
    model, reasons = chosen(table, **options)
    assert ("random:group" in model.name) == there
    n = table["prompt"].nunique()
    said = f"Effects of arms by prompt are in the fitted model: {n} prompts repeat."
    assert (said in reasons) == there


def test_effects_by_group_are_as_asked():
    log = bd.read_duels(grouped())
    model, reasons = bd.DefaultModel(group_effects=False).choose(log)
    assert model.name == "bradley-terry + order"
    assert reasons[-1] == "Effects of arms by prompt are left out, as asked."
    few = bd.read_duels(grouped(4))
    model, reasons = bd.DefaultModel(group_effects=True).choose(few)
    assert model.name.endswith("+ random:group") and reasons[-1].endswith("they were asked for.")
    own = bd.DefaultModel(terms=("random:judge",)).choose(bd.read_duels(grouped(judge="x")))
    assert "random:group" not in own.model.name
    with pytest.raises(TypeError, match="group_effects should be"):
        bd.DefaultModel(group_effects="yes")


@pytest.mark.slow
def test_a_fit_has_them_beside_robust_errors_and_a_named_model_has_not():
    log = bd.read_duels(grouped(judge=np.arange(260) % 20))
    fit = bd.fit(log, draws=200)
    assert fit.attrs["model"] == "bradley-terry + order + random:group"
    assert fit["posterior"].attrs["covariance"] == "judge and group"
    votes = bd.summary(fit).votes
    assert (
        "The fitted model has effects by group. Standard errors are cluster-robust by judge "
        "and group" in votes
    )
    assert "new group" in bd.summary(fit).answers
    assert bd.fit(log, "bradley-terry", draws=200).attrs["model"] == "bradley-terry"
