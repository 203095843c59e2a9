"""Studies whose models are fitted by PyMC, and compiled for it."""

import json

import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.health import ThinDataWarning
from bayesduel.inference import fit as fitting
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    Covariates,
    Davidson,
    JudgeReliability,
    LogisticAttributes,
    PlackettLuce,
    PreferenceMatrix,
    RandomEffects,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)
from bayesduel.study.policy_settings import policy_from, settings_of
from tests.study.test_study import SCORES, play
from tests.support.product_of_terms import without_nuts

ITEMS = bd.read_items(pd.DataFrame({"item": list("abc"), "size": [1.0, 2.0, 4.0]}))


@pytest.mark.plain
def test_a_policy_keeps_its_belief_with_a_model():
    """A belief holds a model among its settings, and both are kept."""
    belief = bd.beliefs.Laplace(BradleyTerry(scale=1.0), draws=100)
    policy = bd.policies.DTS(belief=belief)
    assert policy_from(json.loads(json.dumps(settings_of(policy)))) == policy
    study = play(bd.Study(arms=list(SCORES), policy=policy, stop=None), 3)
    assert study.duels().n_duels == 3


@pytest.mark.plain
def test_a_policy_keeps_the_policy_in_it():
    policy = bd.policies.DETECT(
        policy=bd.policies.MDB(policy=bd.policies.DTS(alpha=0.6)), horizon=50, explore=3, window=2
    )
    assert policy_from(json.loads(json.dumps(settings_of(policy)))) == policy
    study = play(bd.Study(arms=list(SCORES), policy=policy, stop=None), 8)
    assert study.duels().n_duels == 8


@pytest.mark.plain
@pytest.mark.parametrize("within", [lambda own: own, lambda own: bd.policies.MDB(policy=own)])
def test_a_policy_of_a_class_of_ones_own_is_refused(within):
    """Such as is called DTS, too: what the log is read by later is the package's own."""
    own = type("DTS", (bd.policies.DTS,), {})()
    with pytest.raises(TypeError, match="policy should use only classes of"):
        settings_of(within(own))


@pytest.mark.plain
def test_models_that_are_refitted_serve_too():
    study = bd.Study(arms=list("abc"), model="davidson", stop=None, seed=1)
    for outcome in ("left", "tie", "right", "left"):
        study.tell(study.ask(), outcome)
    assert len(study.status().ranking) == 3
    margins = bd.Study(arms=list("abc"), model="thurstone-score", stop=None)
    for margin in (1.5, -0.5, 2.0, 0.3, 1.1):  # the first two leave no degrees of freedom
        margins.tell(margins.ask(), margin)
    assert margins.duels().votes.margin is not None
    with pytest.raises(ValueError, match=r"outcome should be a number .the margin., got 'left'"):
        margins.tell(margins.ask(), "left")
    with pytest.raises(ValueError, match="outcome should be a finite number from"):
        margins.tell(margins.ask(), 1e200)  # which no log holds


@pytest.mark.plain
@pytest.mark.parametrize(
    "model",
    [
        Davidson(),
        ThurstoneScore(),
        PreferenceMatrix(),
        BradleyTerry() + SideAdvantage(),
        Thurstone(),
    ],
)
def test_scores_are_those_of_their_arms_however_labels_are_sorted(model, tmp_path):
    study = bd.Study(tmp_path / "s", arms=list("zam"), model=model, stop=None)
    log = bd.Duels.from_votes(
        list("zzm") * 5, list("maa") * 5, [1] * 15, margin=[2, 5, 3, 1, 4] * 3
    )
    study.import_duels(log)
    for one in (study, bd.Study(tmp_path / "s")):
        assert one.status(check=False).ranking == tuple("zma")


@pytest.mark.plain
@pytest.mark.parametrize("model", [Davidson() + SideAdvantage(), ThurstoneScore()])
def test_futures_of_a_model_that_needs_more_than_who_won_are_not_simulated(model):
    study = bd.Study(arms=list("abc"), model=model)
    study.import_duels(bd.Duels.from_votes(list("aab"), list("bcc"), [1, 1, 0], margin=[1, 2, -1]))
    for start, options in ((study, {}), (3, {"model": model})):
        with pytest.raises(ValueError, match="a plan needs a model of who wins"):
            bd.study.plan(start, n_futures=2, **options)
    assert study.status(check=False, futures=2).plan is None


@pytest.mark.plain
@pytest.mark.slow
def test_a_policy_whose_belief_reads_who_was_left_needs_the_log():
    policy = bd.policies.TopTwoThompson(
        belief=bd.beliefs.Laplace(BradleyTerry() + SideAdvantage(), draws=100)
    )
    study = play(bd.Study(arms=list(SCORES), policy=policy, stop=None), 12)
    assert study._ledger.parts.session.not_fitted == ""
    with pytest.raises(ValueError, match="should not need the side of an arm"):
        bd.simulate(policy, "mslr-5", 40, seed=0, workers=1)


def test_the_verdict_says_where_the_transitivity_check_objects():
    study = bd.Study(arms=list("abcde"), stop=bd.study.WithinRope(0.9, rope=0.2), seed=1)
    left, right, won = [], [], []
    for k in range(5):
        for step in (1, 2):  # each arm beats the next two around a circle
            one, other = "abcde"[k], "abcde"[(k + step) % 5]
            left += [one, other] * 25
            right += [other, one] * 25
            won += [1.0, 0.0] * 20 + [0.0, 1.0] * 5
    study.import_duels(bd.Duels.from_votes(left, right, won))
    plain = study.status(check=False)
    assert plain.check is None
    status = study.status(check=True)
    assert status.check["transitive"] is False
    assert "check rejects a single ranking" in status.verdict
    assert status.check["criteria"]["condorcet"] < 0.05
    assert "Condorcet winner with probability" in " ".join(str(status).split())
    assert study.status(check=False).check == status.check  # kept for these outcomes


@pytest.mark.plain
def test_a_model_that_is_not_identified_locks_nothing(tmp_path):
    """Reliabilities of judges need two judges: with one the prior stands, and all stays open."""
    path = tmp_path / "s"
    model = BradleyTerry() + JudgeReliability()
    study = bd.Study(path, arms=list("abc"), items=list("pqrst"), model=model)
    for _ in range(12):
        study.tell(study.ask(judge="ann"), "left")
    again = bd.Study(path)
    assert again.duels().n_duels == again.n_duels == 12
    said = " ".join(str(again.status(check=False)).split())
    assert "cannot be refitted to these duels (ValueError: duels should have at least two" in said
    unending = bd.Study(arms=list("abc"), model=BradleyTerry() + JudgeReliability(), stop=None)
    unending.import_duels(again.duels())
    assert unending.status(check=False).reason.startswith("none; the model cannot be refitted")
    again.correct(study.audit()[0]["ticket"], "right", "typo")
    assert again.ask(judge="ann").judge == "ann"


@pytest.mark.parametrize(
    "quick",
    [pytest.param(True, marks=pytest.mark.plain), pytest.param(False, marks=pytest.mark.slow)],
)
def test_reliabilities_of_two_judges_are_fitted(quick, monkeypatch):
    if quick:  # points near the prior in place of NUTS, which takes ten seconds to compile
        monkeypatch.setattr(fitting, "sample_nuts", without_nuts)
    study = bd.Study(arms=list("ab"), model=BradleyTerry() + JudgeReliability(), stop=None)
    study.import_duels(bd.Duels.from_votes(["a"] * 6, ["b"] * 6, [1] * 6, judge=list("xyxyxy")))
    assert study.ask(judge="z").state == "open"
    assert study._ledger.parts.session.not_fitted == ""
    ranking = study.status(check=False).ranking
    assert ranking == ("a", "b") or (quick and set(ranking) == {"a", "b"})


@pytest.mark.plain
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BradleyTerry() + TimeVarying(), "a time for each vote"),
        (BradleyTerry() + RandomEffects("topic"), "have the topic of each vote"),
        (BradleyTerry() + CategoryEffects(), "have the category of each vote"),
        (BradleyTerry(Covariates(ITEMS)), "attributes of the arms. Use BradleyTerry"),
        (LogisticAttributes(items=ITEMS), r"such as BradleyTerry\(\), got .*, a model of pulls"),
        (PlackettLuce(), r"such as BradleyTerry\(\), got plackett-luce, a model of rankings"),
    ],
)
def test_models_that_a_study_cannot_feed_are_refused(model, message, tmp_path):
    with pytest.raises(ValueError, match=f"model should (use only|be a model of).* {message}"):
        bd.Study(tmp_path / "s", arms=list("abc"), model=model)
    assert not (tmp_path / "s").exists()


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize(
    ("model", "items"),
    [
        pytest.param(
            model,
            items,
            marks=[pytest.mark.slow] if items and model is not BradleyTerry else [],
        )
        for model in (BradleyTerry, Thurstone, Davidson, ThurstoneScore)
        for items in (None, ["p", "q", "r"])
    ],
)
def test_scores_by_item_are_fitted_where_a_study_has_items(model, items, tmp_path):
    """And refused where it has none; a fit then says how much is of arms and of items."""
    path, wanted = tmp_path / "s", model() + RandomEffects("item")
    if items is None:
        with pytest.raises(ValueError, match=r"model should use only .* have the item of each"):
            bd.Study(path, arms=list("abc"), model=wanted)
        assert not path.exists()
        return
    study = bd.Study(path, arms=list("abc"), items=items, model=wanted, stop=None, seed=1)
    for k in range(7):
        ticket = study.ask()
        left = ticket.left < ticket.right and k % 5 > 0
        said = {True: "left", False: "tie" if k % 5 == 0 else "right"}[left]
        study.tell(ticket, {"left": 2.0, "tie": 0.1, "right": -1.0}[said] * (1 + k % 3)
                   if study.kind == "margin" else said)  # fmt: skip
    again = bd.Study(path)
    level, names = again.duels().votes.level("item")
    assert [names[code] for code in level] == [row["item"] for row in again.rows()]
    assert again._ledger.parts.session.not_fitted == ""
    with pytest.warns(ThinDataWarning):
        fit = again.fit(draws=200)
    found = bd.generalizability(fit)
    assert list(found.components.index) == ["arm", "item", "vote"]
