"""A verdict calls an arm what the study's owner calls it."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.study.session import Decision
from bayesduel.study.verdict import objection, verdict

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("noun", ["arm", "model", "dish"])
@pytest.mark.parametrize("nobody", [False, True])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_verdict_has_the_noun(noun, nobody, stopped):
    decision = Decision(stopped, stopped, np.array([0, 1]), 0.97, 0.97, "", nobody=nobody)
    said = verdict(bd.study.FindBest(), decision, ["a", "b"], rope=0.05, n_duels=9, noun=noun)
    assert f"no {noun} " in said and (noun == "arm" or "arm" not in said)
    assert f"each {noun} with" in objection("bradley-terry", confirmed=True, noun=noun)


def test_the_status_has_the_noun():
    study = bd.Study(arms=["a", "b"], stop=bd.study.WithinRope(0.95))
    study.tell(study.ask(), "left")
    assert "no dish beats" in study.status(noun="dish").verdict
    assert "no arm beats" in study.status().verdict
