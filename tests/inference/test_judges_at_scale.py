"""What cannot end in minutes is refused, and the refusal names the route that does."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, JudgeReliability
from bayesduel.posterior.dependence import RepeatedVotesWarning


@pytest.fixture(scope="module")
def duels():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 6, 400)
    right = (left + rng.integers(1, 6, 400)) % 6
    label = [f"arm {k}" for k in range(6)]
    return bd.Duels.from_votes(
        [label[k] for k in left],
        [label[k] for k in right],
        rng.integers(0, 2, 400).astype(float),
        judge=[f"judge {k}" for k in rng.integers(0, 30, 400)],
    )


def test_nuts_of_many_rows_is_not_begun_unasked(duels, monkeypatch):
    monkeypatch.setattr("bayesduel.inference.fit.NUTS_CELLS", 50)
    rule = r"should have at most 50 rows of counts .* got \d+; fit BradleyTerry\(\) and ask judge_a"
    with pytest.raises(ValueError, match=rule):
        bd.fit(duels, BradleyTerry() + JudgeReliability())


def test_robust_errors_of_many_arms_name_the_jackknife(duels, monkeypatch):
    monkeypatch.setattr("bayesduel.inference.sandwich.TABLE_ARMS", 5)
    with pytest.warns(RepeatedVotesWarning, match="parts of the clusters"):
        found = bd.winners(bd.fit(duels))
    assert "docs/validation/scale.md, Judges" in found.attrs["dependence"]
