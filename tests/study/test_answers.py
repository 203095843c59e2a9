"""Studies that are played to their answer: compiled, as these take a hundred duels or more."""

import numpy as np
import pytest

import bayesduel as bd
from tests.study.test_study import SCORES, judged


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("tied", "rival"), [(0.0, 0.8), (0.5, 0.8), (0.0, 1.5)])
@pytest.mark.slow
def test_the_fit_of_the_duels_of_a_study_leads_with_its_answer(tied, rival, seed):
    """With ties, with a rival that is nearly as good, and without: at the same rope."""
    scores = SCORES | {"c": rival}
    study = bd.Study(arms=list(scores), stop=bd.study.WithinRope(0.97, rope=0.05), seed=seed)
    coins = np.random.default_rng(seed)
    while not study.stopped:
        ticket = study.ask()
        ahead = scores[ticket.left] - scores[ticket.right] + coins.logistic()
        outcome = "left" if ahead > 0 else "right"
        study.tell(ticket, "tie" if abs(ahead) < tied else outcome)
    (answer,) = study.status().answer
    said = study.winners(rope=0.05, confidence=0.95).attrs["verdict"]
    assert said.startswith((f"{answer} wins: ", f"{answer} is a safe choice: with probability"))


@pytest.mark.parametrize(
    "goal", ["top-2", bd.study.TopK(2), bd.study.FullRanking(), "full-ranking"]
)
@pytest.mark.sampled(2)
def test_other_goals_are_reached(goal):
    study = bd.Study(arms=list(SCORES), goal=goal, stop=bd.study.WithinRope(0.9, rope=0.15), seed=1)
    coins = np.random.default_rng(2)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, judged(ticket, coins))
    assert study.status().answer[0] in ("d", "c")
