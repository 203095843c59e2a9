"""A page whose ranking is about some duels says which duels its other parts are about."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd

N = 600


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return duels that b wins by votes, and a late, by weight and among equal lengths."""
    rng = np.random.default_rng(0)
    arms = np.array(list("abc"))
    left = rng.integers(0, 3, N)
    right = (left + rng.integers(1, 3, N)) % 3
    late = np.arange(N) >= 0.8 * N
    worth = np.where(late[:, None], np.array([1.5, -0.5, -1.0]), np.array([-0.2, 0.8, -1.0]))
    rows = np.arange(N)
    won = rng.logistic(size=N) < worth[rows, left] - worth[rows, right]
    return pd.DataFrame(
        {
            "left": arms[left],
            "right": arms[right],
            "outcome": np.where(won, "left", "right"),
            "w": np.where(late, 10, 1),
            "day": rows,
            "language": np.where(late, "de", "en"),
            "length": rng.normal(size=N),
        }
    )


BT = bd.BradleyTerry()
CASES = {
    "weights": ({"sampling_weight": "w"}, BT, {}, "votes that count once each, without sampling"),
    "time": (
        {"time": "day"},
        BT + bd.models.TimeVarying(periods=5),
        {},
        "the whole time of the log",
    ),
    "language": (
        {"keep": ["language"]},
        BT + bd.models.CategoryEffects("language"),
        {"at": {"language": "de"}},
        "duels of every language, as often as the log has them",
    ),
    "nothing": ({}, BT, {}, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_parts_of_a_page_say_what_they_are_about(case, frame, tmp_path):
    read, model, asked, about = CASES[case]
    columns = ["left", "right", "outcome", *np.ravel([*read.values()])]
    log = bd.read_duels(frame[columns], **read)
    fit = bd.fit(log, model, draws=400)
    page = bd.report(fit, tmp_path / "page.html", duels=log, **asked)
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert (f"It is about {about}" in text) is bool(about)
    assert ("first: it answers another question." in text) is bool(about)
    assert "because it is of another model" not in text
    weighted = case == "weights"
    assert ("Each vote counts once, without its sampling weight." in text) is weighted
    assert ("The check counts each vote once" in text) is weighted


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ({"sampling_weight": "w"}, "it does not use the sampling weights."),
        ({"covariates": ["length"]}, "The check does not control for 'length'."),
        ({}, ""),
    ],
)
def test_a_check_says_what_it_does_not_use(read, said, frame):
    log = bd.read_duels(frame[["left", "right", "outcome", "w", "length"]], **read)
    check = bd.check(log, quick=True)
    assert check.scope.endswith(said) and bool(check.scope) is bool(said)
    assert check.to_dict()["scope"] == check.scope
    assert (check.scope in check.sentences) is bool(said)
