"""What is computed from an estimand stays about its duels, or says that it cannot."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd

N = 700
ARMS = np.array(list("abc"))
WORTH = {"en": np.array([0.2, 1.0, -0.8]), "de": np.array([1.6, -0.4, -0.8])}


@pytest.fixture(scope="module")
def made():
    """Return a log in which b leads in English, three in four votes, and a in German; its fit."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 3, N)
    right = (left + rng.integers(1, 3, N)) % 3
    language = rng.choice(["en", "de"], N, p=[0.75, 0.25])
    worth = np.array([WORTH[one] for one in language])
    rows = np.arange(N)
    won = rng.logistic(size=N) < worth[rows, left] - worth[rows, right]
    frame = pd.DataFrame(
        {
            "left": ARMS[left],
            "right": ARMS[right],
            "outcome": np.where(won, "left", "right"),
            "language": language,
        }
    )
    log = bd.read_duels(frame, keep=["language"])
    return log, {
        term: bd.fit(log, bd.BradleyTerry() + term("language"), draws=400, clusters=False)
        for term in (bd.models.CategoryEffects, bd.models.RandomEffects)
    }


def leader(fit) -> str:
    return str(bd.scores(fit)["rating"].idxmax())


ASKED = [
    {"at": {"language": "de"}},
    {"weights": {"language": {"de": 0.9, "en": 0.1}}},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("asked", ASKED, ids=["at", "weights"])
@pytest.mark.parametrize("term", [bd.models.CategoryEffects, bd.models.RandomEffects])
def test_an_update_and_an_audit_stay_about_the_same_duels(made, term, asked):
    log, fits = made
    german = bd.estimand(fits[term], **asked)
    by_votes = leader(fits[bd.models.CategoryEffects])
    assert by_votes == "b" and leader(german) == "a"
    later = bd.update(german, log[:50], duels=log)
    assert json.loads(later.attrs["estimand"]) == json.loads(german.attrs["estimand"])
    assert leader(later) == "a" and bd.scores(later).attrs["controls"]
    audited = bd.audit(german, log)
    assert audited.ahead == ("a",) and audited.sentence.startswith(audited.controls)
    assert "language" in audited.controls
    fewest = audited.fragility.set_index(["by", "change"]).loc[("vote", "removed"), "needed"]
    # 175 votes are German: some tens have to go, and not the single one of before
    assert fewest > 10


def test_categories_of_an_estimand_are_refused(made):
    _, fits = made
    german = bd.estimand(fits[bd.models.CategoryEffects], at={"language": "de"})
    with pytest.raises(ValueError, match="got an estimand of it"):
        bd.category_ranks(german)
