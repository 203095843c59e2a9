"""Every public function and junk for every argument: our words, a known exception, no crash.

A call is of one public callable with one argument replaced by junk, all others sound. It may
succeed (not all junk is bad everywhere); if it fails, the message names no other library's
internals and the exception is one that a caller expects.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd

EXPECTED = (TypeError, ValueError, KeyError, OSError)
LEAKS = (
    "object has no attribute", "object is not iterable", "object is not subscriptable",
    "not supported between instances", "unsupported operand", "cannot convert float",
    "could not broadcast", "out of bounds", "truth value of an array", "bad operand type",
    "must be real number", "object cannot be interpreted", "'NoneType' object", "ufunc",
    "dtype('O')",
    "not callable", "int too large", "Maximum allowed", "has no len()",
)  # fmt: skip
JUNK = {
    "None": None,
    "text": "junk",
    "empty text": "",
    "nan": float("nan"),
    "inf": float("inf"),
    "negative": -1,
    "huge": 10**5000,
    "array": np.arange(6.0).reshape(2, 3),
    "empty frame": pd.DataFrame(),
    "object": object(),
    "list": [1, [2]],
    "true": True,
}
CHEAP_POLICIES = [
    getattr(bd.policies, name)
    for name in bd.policies.__all__
    if inspect.isclass(getattr(bd.policies, name))
]


@pytest.fixture(scope="module")
def log():
    return bd.datasets.load("baseball1987")


def complaints(call, sound: dict, skip=()) -> list[str]:
    """Return what is wrong with the answers of `call` to junk in each argument."""
    found = []
    for name in inspect.signature(call).parameters:
        if name in skip or name in ("options", "kwargs", "settings"):
            continue
        for what, junk in JUNK.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**{**sound, name: junk})
            except EXPECTED as error:
                words = str(error)
                leak = next((leak for leak in LEAKS if leak in words), None)
                if leak:
                    found.append(f"{call.__name__}({name}={what}) leaks {words[:120]!r}")
                if len(words) > 2_000:
                    found.append(f"{call.__name__}({name}={what}): {len(words)} characters")
            except Exception as error:
                found.append(f"{call.__name__}({name}={what}) raises {type(error).__name__}: "
                             f"{str(error)[:120]!r}")  # fmt: skip
    return found


@pytest.mark.slow
def test_settings_of_policies():
    found = [text for policy in CHEAP_POLICIES for text in complaints(policy, {})]
    assert not found, "\n".join(found)


def test_reading():
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "outcome": ["left"]})
    found = complaints(bd.read_duels, {"path_or_frame": frame})
    items = pd.DataFrame({"item": list("abc"), "x": [1, 2, 4]})
    found += complaints(bd.read_items, {"path_or_frame": items})
    pulls = pd.DataFrame({"item": list("ab"), "reward": [1, 0]})
    found += complaints(bd.read_pulls, {"path_or_frame": pulls})
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_logs(log):
    found = []
    for name in ("health", "components", "default_models", "check", "check_margins", "fit"):
        call = getattr(bd, name)
        first = next(iter(inspect.signature(call).parameters))
        skip = set(inspect.signature(call).parameters) - {first}
        found += complaints(call, {}, skip)
    for name in ("subset", "tally"):
        found += complaints(getattr(log, name), {})
    assert not found, "\n".join(found)


def test_what_wants_a_fit():
    found = []
    for name in ("winners", "predict", "next_pairs", "coefficients", "top_k", "preference_draws"):
        call = getattr(bd, name)
        _, *rest = inspect.signature(call).parameters
        sound = dict.fromkeys((n for n in rest if n in ("left", "right")), "a") | {"k": 1}
        found += complaints(call, {n: v for n, v in sound.items() if n in rest}, set(rest))
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_fitting(log):
    found = complaints(bd.fit, {"duels": log, "draws": 10}, {"duels", "progress", "log_likelihood",
                                                             "clusters", "chains"})  # fmt: skip
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_simulating():
    sound = {"policies": bd.Uniform(), "problem": "cyclic-4", "horizon": 10}
    skip = {"index", "permute", "out", "progress", "seed"}
    found = complaints(bd.simulate, sound, skip)
    assert not found, "\n".join(found)


LONG = range(10**12)
MASKED = np.ma.masked


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: bd.Duels.from_votes(LONG, ["b"], [1]), "left should be a list of at most"),
        (lambda: bd.Duels.from_votes(["a"], ["b"], LONG), "outcome should be a list of at most"),
        (lambda: bd.Duels.from_wins(LONG), "wins should be a list of at most 100,000,000 entries"),
        (
            lambda: bd.Duels.from_wins(range(10**30)),
            "wins should be a list of at most 100,000,000 entries",
        ),
        (lambda: bd.preference.beats(LONG), "P should be a list of at most 100,000,000 entries"),
        (lambda: bd.Study(arms=LONG), "arms should be a list of at most 100,000,000 entries"),
        (lambda: bd.check(None, LONG), "duels should be a"),
        (lambda: bd.simulate(LONG, "cyclic-4", 10), "policies should be a list of at most"),
        (
            lambda: bd.read_duels(pd.DataFrame(), covariates=LONG),
            "covariates should be a list of at most 100,000,000 entries, got 1,000,000,000,000",
        ),
        (lambda: bd.Duels.from_wins(MASKED), "wins should be a square matrix"),
        (
            lambda: bd.Duels.from_wins(np.ma.masked_array([[0, 1], [2, 0]], [[0, 1], [0, 0]])),
            "wins should contain whole numbers >= 0, got nan",
        ),
        (lambda: bd.Duels.from_votes(MASKED, ["b"], [1]), "left should be a list, got an array"),
        (lambda: bd.Duels.from_votes(["a", MASKED], "bc", [1, 1]), "left should be a list of"),
        (lambda: bd.Duels.from_votes("ab", "ba", [1, MASKED]), "outcome should be .* got nan at"),
        (lambda: bd.simulate(bd.Uniform(), "cyclic-4", MASKED), "horizon should be a whole number"),
        (lambda: bd.Study("x" * 300, arms=["a", "b"]), "path should be the path of a file"),
        (lambda: bd.Study("\ud800", arms=["a", "b"]), "path should be the path of a file"),
        (lambda: bd.open_trace("x" * 300), "path should be the path of a file"),
        (lambda: bd.Study(arms=["\ud800", "b"]), "arms should be labels of UTF-8 text"),
    ],
)
def test_lists_that_never_end_masked_entries_and_names_that_no_file_can_have(call, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((TypeError, ValueError), match=said):
            call()
