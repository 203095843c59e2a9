"""Studies of several sources: people and machines in one posterior, asked by what they tell."""

import sqlite3
from contextlib import closing
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    Covariates,
    Davidson,
    RandomEffects,
    SideAdvantage,
    Sources,
    Thurstone,
    ThurstoneScore,
)
from bayesduel.study.questions import NoQuestion
from bayesduel.study.source_posterior import SourcePosterior
from bayesduel.study.store import StudyError

pytestmark = pytest.mark.plain

ARMS = list("abcde")
COSTS = {"people": 1.0, "machine": 0.01}
TERM = Sources("source", target="people")
SCORE = dict(zip(ARMS, np.linspace(1.2, -1.2, 5), strict=True))


def made(path=None, model=None, **settings):
    given = {"arms": ARMS, "sources": COSTS, "stop": None, "seed": 1}
    return bd.Study(path, model=model or BradleyTerry(TERM), **(given | settings))


def vote(ticket, rng, slope=1.0):
    chance = 1 / (1 + np.exp(slope * (SCORE[ticket.right] - SCORE[ticket.left])))
    return "left" if rng.random() < chance else "right"


def play(study, n, rng, slope=1.0):
    for _ in range(n):
        ticket = study.ask()
        study.tell(ticket, vote(ticket, rng, slope if ticket.source == "machine" else 1.0))
    return study


def told(posterior, source, n, rng, slope=1.0):
    for _ in range(n):
        i, j = rng.choice(len(ARMS), 2, replace=False)
        chance = 1 / (1 + np.exp(slope * (SCORE[ARMS[j]] - SCORE[ARMS[i]])))
        posterior.record(source, i, j, float(rng.random() < chance))
    posterior.follow()
    return posterior


@pytest.mark.parametrize("model", [BradleyTerry, pytest.param(Thurstone, marks=pytest.mark.slow)])
def test_the_posterior_is_that_of_a_fit(model):
    rng = np.random.default_rng(3)
    followed = SourcePosterior(model(TERM), COSTS, len(ARMS))
    told(told(followed, 0, 60, rng), 1, 300, rng)
    left, right, won, source = [], [], [], []
    for s, i, j in np.argwhere(followed.wins):
        n = int(followed.wins[s, i, j])
        left += [ARMS[i]] * n
        right += [ARMS[j]] * n
        won += [1.0] * n
        source += [list(COSTS)[s]] * n
    log = bd.Duels.from_votes(left, right, won, keep={"source": source})
    fit = bd.fit(log, model(TERM), draws=2000, clusters=False)
    exact = fit["posterior"]["score"].to_numpy().reshape(-1, len(ARMS))
    found = followed.draws(4000, rng)
    found = found - found.mean(axis=1, keepdims=True)
    spread = exact.std(axis=0)
    assert np.abs(found.mean(axis=0) - exact.mean(axis=0)).max() < 0.15 * spread.mean()
    np.testing.assert_allclose(found.std(axis=0), spread, rtol=0.12)


def test_votes_of_any_order_make_the_same_posterior():
    rng = np.random.default_rng(4)
    step = SourcePosterior(BradleyTerry(TERM), COSTS, len(ARMS))
    for _ in range(10):
        told(told(step, 0, 4, rng), 1, 30, rng)
    at_once = SourcePosterior(BradleyTerry(TERM), COSTS, len(ARMS))
    at_once.wins += step.wins
    at_once.follow()
    one, other = (each.draws(4000, np.random.default_rng(0)) for each in (step, at_once))
    np.testing.assert_array_equal(one, other)


def test_tickets_name_their_source_and_files_keep_it(tmp_path):
    rng = np.random.default_rng(1)
    costs = {"people": 1.0, "machine": 0.3}
    study = play(made(tmp_path / "s", sources=costs), 60, rng)
    by = {name: met for name, (_, met) in study.sources.items()}
    assert sum(by.values()) == study.n_duels == 60 and min(by.values()) > 0
    assert {row["source"] for row in study.rows()} == set(COSTS)
    for row in study.rows():
        assert row["judge"] == (None if row["source"] == "people" else "machine")
    level, names = study.duels().votes.level("source")
    assert {names[c]: int(n) for c, n in enumerate(np.bincount(level))} == by
    assert study.tally().sum() == by["people"]
    again = bd.Study(tmp_path / "s")
    assert (again.sources, again.arms) == (study.sources, study.arms)
    assert again.status().ranking == study.status().ranking
    table = bd.sources(again.fit(draws=200)).table
    assert table["votes"].to_dict() == by
    first = again.rows()[0]
    again.correct(first["id"], "tie", "looked again")
    assert again.n_duels == 60 and bd.Study(tmp_path / "s").sources == again.sources
    more = bd.Study(tmp_path / "other", arms=ARMS, model=BradleyTerry(TERM), sources=costs)
    more.import_duels(again.duels())
    assert more.sources == again.sources


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_study_of_sources_says_the_same_after_it_is_opened_again(seed, tmp_path):
    """Before, 20, 30, 45 and 60 duels: 0.330 and 0.302, 0.262 and 0.280, 0.522 and 0.546, ..."""
    rng = np.random.default_rng(seed)
    study = made(tmp_path / "s", sources={"people": 1.0, "machine": 0.3})
    for n in (20, 30, 45, 60):
        play(study, n - study.n_duels, rng)
        live = study.status(check=False)
        with bd.Study(tmp_path / "s") as again:
            opened = again.status(check=False)
        assert opened.n_duels == n
        assert (opened.probability, opened.ranking) == (live.probability, live.ranking)
        assert (opened.verdict, opened.reason) == (live.verdict, live.reason)


@pytest.mark.slow
def test_people_are_asked_as_they_come_and_the_machine_when_it_tells_more():
    rng = np.random.default_rng(2)
    study = made()
    assert study.ask(judge="ann").source == "people"
    asked = study.ask(8)
    assert {ticket.source for ticket in asked} == {"machine"}  # a hundredth of the cost
    study.cancel(asked[0])
    done = study.run(lambda ticket: vote(ticket, rng), most=1000, workers=1)
    assert "A vote of people now gives more information per cost" in done.ended
    assert 50 < done.told < 1000
    # What a vote tells is an average over draws: the machine is asked until no draws speak for it.
    ended = [study.run(lambda ticket: vote(ticket, rng), most=1000, workers=1) for _ in range(30)]
    assert not any(run.told for run in ended[-5:])
    with pytest.raises(NoQuestion, match="A vote of people now gives more"):
        study.ask(judge="machine")
    assert study.ask().source == "people"
    with pytest.raises(NoQuestion, match="A vote of people now gives more"):
        study.ask(judge="machine")
    for _ in range(3):
        ticket = study.ask(judge="bob")
        assert ticket.source == "people"
        study.tell(ticket, vote(ticket, rng))
    assert study.run(lambda ticket: vote(ticket, rng), most=1000, workers=1).told > 0


@pytest.mark.parametrize("slope", [1.0, -1.0, 0.0])
def test_a_dear_machine_is_asked_as_far_as_it_agrees(slope):
    """Or disagrees; one that judges at random is not asked once that is known."""
    rng, many = np.random.default_rng(5), [f"a{k:02d}" for k in range(12)]
    score = np.linspace(1.2, -1.2, len(many))
    costs = {"people": 1.0, "machine": 0.1}
    posterior = SourcePosterior(BradleyTerry(TERM), costs, len(many))
    for source, n, times in ((0, 150, 1.0), (1, 60, slope)):
        for _ in range(n):
            i, j = rng.choice(len(many), 2, replace=False)
            won = rng.random() < 1 / (1 + np.exp(times * (score[j] - score[i])))
            posterior.record(source, i, j, float(won))
    posterior.follow()
    memory = made(arms=many)._ledger.parts.session.memory
    memory.posterior.draws[:] = scores = posterior.draws(400, rng)
    free = np.where(np.eye(len(many)) > 0, np.inf, 1.0)
    cost = np.array([1.0, 0.1])[:, None, None] * free
    turns = posterior.divide(40, scores, memory, cost, [])
    assert all(i != j for _, i, j in turns)
    machine = np.mean([turn[0] == 1 for turn in turns])
    assert machine > 0.1 if slope else machine == 0


def test_a_machine_that_has_seen_every_pair_on_every_item_leaves_the_rest_to_people():
    study, rng = made(items=["p"], arms=ARMS[:3]), np.random.default_rng(8)
    done = study.run(lambda ticket: vote(ticket, rng), workers=2, most=50)
    assert done.told == 3 and {row["item"] for row in study.rows()} == {"p"}
    assert study.ask().source == "people"
    with pytest.raises(NoQuestion):
        study.ask(judge="machine")


@pytest.mark.slow
def test_budgets_and_confirmation_count_people():
    rng = np.random.default_rng(6)
    study = made(stop=bd.study.Budget(2))
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, vote(ticket, rng))
    assert study.sources["people"][1] == 2 and study.n_duels > 2
    assert study.status().verdict.startswith("Not decided within the budget")
    assert study.status().reason == "2 duels of people (stops at 2)"
    confirmed = made(stop=0.95)  # the default
    for _ in range(5):
        confirmed.add("a", "e", "left", judge="machine")
    assert confirmed.tally().sum() == 0 and not confirmed.stopped
    status = confirmed.status(futures=3)  # which a study of several sources leaves out
    assert status.plan is None and status.confirmed
    with pytest.raises(ValueError, match="a plan needs a study with one source of votes"):
        confirmed.plan()


MODELS = {"bradley-terry": BradleyTerry, "thurstone": Thurstone, "davidson": Davidson,
          "margin": ThurstoneScore}  # fmt: skip
BESIDE = {
    "none": None,
    "order": SideAdvantage(),
    "sides": SideAdvantage(by="source"),
    "x": Covariates(["x"]),
    "item": RandomEffects("item"),
    "cycles": BladeChest(),
}
TARGETS = {"people": TERM, "mix": Sources("source"), "by judge": Sources("judge", target="people")}
FOLLOWED = [(name, "none", "people") for name in ("bradley-terry", "thurstone")]


@pytest.mark.parametrize(("name", "term", "target"), list(product(MODELS, BESIDE, TARGETS)))
@pytest.mark.sampled(3)
def test_a_model_is_followed_by_source_or_refused_when_the_study_is_made(
    name, term, target, tmp_path
):
    beside = BESIDE[term]
    model = MODELS[name](TARGETS[target] if beside is None else TARGETS[target] + beside)
    path = tmp_path / "s"
    if (name, term, target) in FOLLOWED:
        rng = np.random.default_rng(7)
        study = play(made(path, model), 4, rng)
        assert bd.Study(path).sources == study.sources
        assert len(study.status(check=False).ranking) == len(ARMS)
        return
    with pytest.raises(ValueError, match=r"should (have only the term Sources|contain)"):
        made(path, model)
    assert not path.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sources": None}, "needs sources, the cost of a vote by source"),
        ({"sources": ["people"]}, "sources should be costs by source"),
        ({"sources": {"people": 1}}, "sources should have at least two names, got people"),
        ({"sources": {"men": 1, "machine": 1}}, "sources should contain 'people', the target"),
        ({"sources": {"people": 0, "machine": 1}}, "cost of people should be positive, got 0"),
        ({"sources": {"people": "x", "machine": 1}}, "cost of people should be"),
        (
            {"model": BradleyTerry()},
            "should have only the term Sources",
        ),
        (
            {"model": BradleyTerry(Sources("source", "people", levels=("people", "gpt")))},
            "sources should be the levels of the model, people, gpt, got people, machine",
        ),
        ({"goal": "minimize-regret"}, "a study with sources needs a posterior-driv"),
        (
            {"policy": bd.policies.Uniform()},
            "a study with sources needs a posterior-driven",
        ),
    ],
)
def test_what_is_no_study_of_sources_is_refused(settings, message, tmp_path):
    with pytest.raises((TypeError, ValueError), match=message):
        made(tmp_path / "s", **settings)
    assert not (tmp_path / "s").exists()
    log = bd.Duels.from_votes(["a"] * 2, ["b"] * 2, [1, 0], keep={"source": ["gpt", "people"]})
    with pytest.raises(ValueError, match="source should be one of people, machine, got 'gpt'"):
        made().import_duels(log)


def test_a_file_without_its_sources_is_refused_and_one_of_earlier_versions_opens(tmp_path):
    for path, given in ((tmp_path / "s", None), (tmp_path / "old", {})):
        if given is None:
            made(path).close()
        else:
            bd.Study(path, arms=ARMS).close()
        with closing(sqlite3.connect(path)) as file:
            file.execute("delete from settings where name = 'sources'")
            file.commit()
    assert bd.Study(tmp_path / "old").sources == {}
    with pytest.raises(StudyError, match=r"is damaged: a model with .* needs sources"):
        bd.Study(tmp_path / "s")


def test_the_command_line_makes_a_study_of_sources(tmp_path):
    def run(*args):
        return CliRunner().invoke(main, ["study", *args])

    path = str(tmp_path / "s")
    new = ["new", path, "--arms", "a,b,c", "--term", "sources:source=people"]
    assert run(*new, "--source", "people").exit_code == 2
    assert run(*new, "--source", "people=1", "--source", "machine=0.01").exit_code == 0
    assert "for people" in run("ask", path, "--judge", "ann").stdout
    assert run("tell", path, "1", "left").exit_code == 0
    assert "for machine" in run("ask", path).stdout
    assert run("status", path).exit_code == 0
    run("export", path, str(tmp_path / "log.csv"))
    assert "people" in (tmp_path / "log.csv").read_text()
