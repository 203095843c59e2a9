"""Junk in the arguments of public functions is refused in the package's own words."""

import numpy as np
import pytest

from bayesduel import policies
from benchmarks.faults.junk import Case, answers, cases
from benchmarks.faults.sound_calls import CALLS, LEFT_OUT, World, public_names

SAMPLE = 400  # calls of the fast test
SETTINGS = ("preference.", "beliefs.")
NAMED = (
    "study.AnyOf", "study.Budget", "policies.CCB", "study.ConfidenceSequences", "policies.DTS",
    "Duels.from_categories", "Duels.from_scores", "Duels.from_votes", "Duels.from_wins",
    "Duels.head", "Duels.join", "Duels.subset", "Pulls.from_rows", "Duels.counted", "merge",
    "study.ExpectedLoss", "beliefs.Followed", "policies.PBR", "study.PosteriorThreshold", "Pulls",
    "policies.SAVAGE", "study.TopK", "policies.UCB1", "study.WithinRope", "coefficients",
    "next_pairs", "predict", "read_duels", "read_items", "read_pulls", "read_rankings",
    "Rankings.from_orders", "top_k", "winners",
)  # fmt: skip
WHOLE = (
    *(f"policies.{name}" for name in policies.__all__), "Duels.subset", "Duels.tally", "check",
    "check_margins", "components", "default_models", "fit", "health", "preference_draws",
    "read_duels", "read_items", "read_pulls", "read_rankings", "Rankings.from_orders", "simulate",
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What is passed beside junk: each log and fit is made once."""
    folder = tmp_path_factory.mktemp("junk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield World(folder)


def faults(world, names, number=None, seed=0):
    """Return the calls, of all or of a random sample, whose answers are faults."""
    known = public_names()
    found = [(case, known[name]) for name in names for case in cases(name, known[name])]
    if number is not None:
        chosen = np.random.default_rng(seed).permutation(len(found))[:number]
        found = [found[k] for k in chosen]
    told = []
    for case, value in found:
        kind, words = answers(case, value, world)
        if kind not in ("answered", "refused"):
            told.append(f"{kind}: {case.key}: {words[:200]}")
    return told


def test_every_public_name_has_a_call():
    """A new public name needs a sound call, or a reason to be left out."""
    known = public_names()
    for name, value in known.items():
        assert name in LEFT_OUT or cases(name, value) is not None
    assert not {*CALLS, *LEFT_OUT} - {*known}


def test_a_sample_of_junk(world):
    names = [n for n in public_names() if n.startswith(SETTINGS) or n in NAMED]
    assert faults(world, names, SAMPLE) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")  # of sound logs
def test_all_junk(world, name):
    assert faults(world, [name]) == []


REFUSED = [  # a study and its plan would compile their policy
    pytest.param(*case, marks=pytest.mark.plain if case[0].startswith(("Study", "study.")) else ())
    for case in [
        ("Study", "path", "bytes"), ("Study", "arms", "deep"), ("Study", "policy", "array"),
        ("Study", "stop", "nan"), ("Study", "stop", "deep"), ("Study", "pairs", "nan"),
        ("Study", "costs", "array"), ("Study", "required", "text"), ("Study", "seed", "10**5000"),
        ("Study.ask", "n", "10**5000"), ("Study.tell", "ticket", "10**5000"),
        ("Study.status", "check", "array"), ("study.plan", "start", "None"),
        ("study.plan", "start", "negative"), ("study.plan", "policy", "object"),
        ("study.plan", "seed", "text"),
        ("study.plan", "path", "bytes"),
        ("study.plan", "progress", "text"), ("study.plan", "n_futures", "10**5000"),
        ("check", "material", "inf"),
        ("load", "path", "bytes"), ("load", "path", "text"), ("load", "path", "dict"),
        ("load", "path", "half of a surrogate pair"), ("load", "classes", "None"),
        ("load", "classes", "text"), ("load", "classes", "class"), ("load", "classes", "masked"),
        ("load", "classes", "list"), ("load", "classes", "range(10**12)"),
        ("check", "models", "nan"), ("check", "seed", "text"), ("check", "step", "None"),
        ("check", "side_advantage", "array"), ("compare_models", "models", "list"),
        ("compare_models", "progress", "text"), ("fit", "clusters", "array"),
        ("fit", "progress", "text"), ("report", "path", "bytes"), ("report", "points", "text"),
        ("report", "step", "None"), ("head_to_head", "duels", "None"),
        ("judge_agreement", "against", "nan"), ("datasets.load", "name", "array"),
        ("BradleyTerry", "predictor", "array"),
        ("models.DuelCovariates", "of", "nan"), ("models.TimeVarying", "edges", "text"),
        ("models.model_settings", "model", "None"), ("models.named", "name", "None"),
        ("export", "format", "array"), ("export", "folder", "None"),
        ("Duels.from_votes", "outcome", "None"), ("Duels.from_votes", "left", "array"),
        ("Duels.from_votes", "right", "deep"), ("Duels.from_votes", "weight", "10**5000"),
        ("Duels.from_votes", "time", "list"), ("Duels.from_votes", "judge", "inf"),
        ("Duels.from_votes", "covariates", "text array"), ("Duels.from_votes", "arms", "object"),
        ("Duels.from_votes", "tie_rule", "array"), ("Duels.from_wins", "wins", "text"),
        ("Duels.from_wins", "ties", "10**5000"), ("Duels.from_wins", "arms", "nan"),
        ("Duels.join", "other", "None"), ("Duels.from_categories", "logs", "dict"),
        ("Pulls.from_rows", "items", "None"), ("Pulls.from_rows", "rewards", "text"),
        ("policies.top_k.fit_margins", "margins", "None"),
        ("policies.top_k.fit_margins", "start", "text"),
        ("policies.top_k.fit_margins", "max_rounds", "nan"),
        ("policies.top_k.intransitivity", "margins", "array"),
        ("policies.top_k.intransitivity", "index", "10**5000"),
        ("problems.as_problem", "problem", "None"), ("problems.Matrix", "arms", "deep"),
        ("models.ItemCovariates", "scale", "10**5000"),
        ("models.ItemCovariates", "sparsity", "10**5000"),
        ("read_items", "path_or_frame", "list"), ("read_duels", "path_or_frame", "dict"),
        ("read_duels", "path_or_frame", "empty text"),
        ("study.Judging", "gold", "text array"),
        ("DefaultModel", "response", "array"), ("DefaultModel", "terms", "None"),
        ("DefaultModel", "side_advantage", "array"), ("calibrate", "path", "negative"),
        ("calibrate", "design", "repeated names"), ("sensitivity", "prior", "empty array"),
        ("prior_predictive", "design", "repeated names"), ("Duels.from_votes", "keep", "dict"),
        ("Study.run", "name", "half of a surrogate pair"), ("Study.status", "futures", "10**5000"),
        ("report", "title", "half of a surrogate pair"),
        ("site", "title", "half of a surrogate pair"),
        ("site", "folder", "None"), ("site", "date", "text"),
    ]
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument", "what"), REFUSED)
def test_junk_that_was_not_refused_by_name(world, name, argument, what):
    kind, words = answers(Case(name, argument, what), public_names()[name], world)
    assert kind == "refused", words
