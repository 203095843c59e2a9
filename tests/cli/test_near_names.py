"""A word that is misspelled: the message names the nearest one that is known."""

import re

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main

OWN = """
import bayesduel as bd
from bayesduel.policies import RUCB


class EpsGreedy(RUCB):
    pass
"""


def log():
    """Return duels of two arms with like names."""
    return bd.Duels.from_wins([[0, 3], [2, 0]], arms=["flavor 1", "flavor 2"])


def said_by(*words):
    """Raise what a command says on stderr as an error."""
    raise ValueError(CliRunner().invoke(main, words).stderr)


def simulated(folder, policies="RUCB", problem="hudry-13"):
    """Simulate a policy with a problem on the command line."""
    (folder / "eps.py").write_text(OWN)
    policies = policies.replace("FOLDER", str(folder))
    said_by("simulate", "--policies", policies, "--problem", problem, "--horizon", "10")


def prior(**said):
    """Return a model with priors by the name of a variable."""
    return bd.models.BradleyTerry().with_priors(said)


ONE = bd.Prior("Normal", mu=0, sigma=1)
PLACES = {
    "model": (lambda _: bd.fit(log(), "davidsn"), "davidson"),
    "term": (lambda _: bd.fit(log(), "davidson + ordr"), "order"),
    "--model": (lambda _: said_by("fit", "chess3", "--model", "davidsen"), "davidson"),
    "problem": (lambda _: bd.problems.as_problem("hudri-13"), "hudry-13"),
    "name of a problem": (lambda _: bd.problems.named("hudri-13"), "hudry-13"),
    "--problem": (lambda folder: simulated(folder, problem="hudri-13"), "hudry-13"),
    "--policies": (lambda folder: simulated(folder, "RUBC"), "RUCB"),
    "a policy of a file": (lambda folder: simulated(folder, "FOLDER/eps.py:EpsGredy"), "EpsGreedy"),
    "criterion": (lambda _: bd.policies.SAVAGE(criterion="copland"), "copeland"),
    "prior of a variable": (lambda _: prior(scael=bd.Prior("HalfNormal", sigma=1)), "scale"),
    "prior of an arm": (
        lambda _: bd.fit(log(), "bradley-terry", priors={"score": {"flavor 9": ONE}}),
        "flavor",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_misspelled_word_is_refused_with_the_nearest_one(place, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    call, meant = PLACES[place]
    with pytest.raises(Exception, match=f"; did you mean '{meant}") as caught:
        call(tmp_path)
    if place == "a policy of a file":
        assert "has (EpsGreedy), got 'EpsGredy'" in str(caught.value)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("policies", "got 'UCBB'; did you mean 'UCB1'? `bayesduel policies` lists them"),
        ("problem", "got 'hudry-14'; did you mean 'hudry-13'? `bayesduel problems` and"),
    ],
)
def test_a_mistyped_name_is_told_the_nearest_and_where_the_list_is(option, words, tmp_path):
    mistyped = {"policies": "UCBB", "problem": "hudry-14"}
    with pytest.raises(Exception, match=re.escape(words)) as caught:
        simulated(tmp_path, **{option: mistyped[option]})
    assert len(str(caught.value)) < 250
