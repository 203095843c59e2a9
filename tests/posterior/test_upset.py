"""Winners that are asked for without a check say which pair contradicts the ranking."""

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.inference import fit as fitting
from tests.support.product_of_terms import without_nuts

CHANCE = {("paper", "rock"): 0.75, ("scissors", "paper"): 0.72, ("rock", "scissors"): 0.75}
CHANCE |= {("rock", "mud"): 0.95, ("paper", "mud"): 0.65, ("scissors", "mud"): 0.6}
SHOWN = "took .* of .* against .*, which ranks above it: maybe no ranking holds"


def cyclic(n, rng, ties=0.0):
    """Return rows of duels with a cycle of three, and mud, which loses to all."""
    arms = ["paper", "rock", "scissors", "mud"]
    rows = []
    for _ in range(n):
        left, right = rng.permutation(arms)[:2]
        p = CHANCE.get((left, right)) or 1 - CHANCE[right, left]
        outcome = "left" if rng.random() < p else "right"
        rows.append((left, right, "tie" if rng.random() < ties else outcome))
    return rows


def ranked(n, rng, order=0.0, unbalanced=False):
    """Return rows of duels of arms with scores; on fixed sides where `unbalanced`."""
    score = dict(zip("abcdef", rng.normal(0, 0.3, 6), strict=True))
    rows = []
    for _ in range(n):
        left, right = rng.permutation(list(score))[:2]
        if unbalanced:
            left, right = sorted((left, right))
        p = 1 / (1 + np.exp(score[right] - score[left] - order))
        rows.append((left, right, "left" if rng.random() < p else "right"))
    return rows


def log(rows):
    left, right, outcome = zip(*rows, strict=True)
    return bd.Duels.from_votes(
        left, right, [{"left": 1, "right": 0, "tie": 0.5}[o] for o in outcome]
    )


@pytest.mark.plain
@pytest.mark.sampled(3)
@pytest.mark.parametrize("ties", [0.0, 0.2])
@pytest.mark.parametrize(
    "model", ["bradley-terry", "thurstone", "davidson", "bradley-terry + order"]
)
def test_a_cycle_is_not_told_as_a_winner_alone(model, ties):
    rows = cyclic(2000, np.random.default_rng(3), ties)
    fit = bd.fit(log(rows), model)
    found = bd.winners(fit)
    assert found.attrs["upset"].startswith("But ")
    assert found.verdict.endswith(found.attrs["upset"])
    for k in (1, 2):
        assert found.attrs["upset"] in bd.top_k(fit, k).sentence
    text = " ".join(str(found).split())
    assert "(bd.check(duels) tests it)" in text
    assert "Whether a ranking holds was not checked: bd.check(duels) does it." in text


def test_the_counts_that_it_tells_are_those_of_the_log(tmp_path, monkeypatch):
    """The model with cycles, by which a check ranks, is not sampled: to compile it takes 18 s."""
    monkeypatch.setattr(fitting, "sample_nuts", without_nuts)
    rows = cyclic(2000, np.random.default_rng(3))
    file = tmp_path / "log.csv"
    file.write_text("left,right,outcome\n" + "\n".join(map(",".join, rows)))
    told = CliRunner().invoke(main, ["winners", str(file)]).stdout
    told = " ".join(told.split())
    met = [row for row in rows if {*row[:2]} == {"paper", "rock"}]
    won = sum((left == "paper") == (outcome == "left") for left, _, outcome in met)
    assert f"But paper took {won} of {len(met)} duels against rock, which ranks" in told
    assert "(bayesduel check tests it)" in told
    checked = CliRunner().invoke(main, ["winners", str(file), "--check"]).stdout
    assert "No single ranking holds" in checked and "But paper took" not in checked


@pytest.mark.plain
@pytest.mark.parametrize("covariance", ["auto", "model"])
def test_few_judges_who_repeat_themselves_do_not_count_as_many(covariance):
    """Eight judges, each of one opinion that it says 40 times: the votes are eight, not 320."""
    rows = []
    judges = []
    for judge in range(8):
        for (left, right), agreeing in ((("a", "b"), 6), (("b", "c"), 6), (("a", "c"), 3)):
            rows += [(left, right, "left" if judge < agreeing else "right")] * 40
            judges += [f"j{judge}"] * 40
    left, right, outcome = zip(*rows, strict=True)
    duels = bd.Duels.from_votes(left, right, [o == "left" for o in outcome], judge=judges)
    found = bd.winners(bd.fit(duels, "bradley-terry"), covariance=covariance)
    assert bool(found.attrs["upset"]) == (covariance == "model")


@pytest.mark.plain
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("order", "unbalanced"), [(0.0, False), (0.8, False), (0.8, True)])
def test_a_ranking_is_left_alone(order, unbalanced, seed):
    duels = log(ranked(1500, np.random.default_rng([seed, unbalanced]), order, unbalanced))
    found = bd.winners(bd.fit(duels, "bradley-terry + order" if order else "bradley-terry"))
    assert found.attrs["upset"] == ""
    assert bd.top_k(bd.fit(duels), 2).upset == ""
