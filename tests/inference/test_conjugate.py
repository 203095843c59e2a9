"""The exact posterior of a preference matrix against NUTS of its own pm.Model."""

import arviz_stats as azs
import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import PreferenceMatrix


@pytest.mark.slow
def test_exact_draws_are_those_of_nuts():
    """Four arms, a pair that never met, a learned concentration."""
    wins = np.array([[0, 9, 4, 7], [3, 0, 6, 1], [4, 2, 0, 0], [0, 2, 0, 0]])
    duels = bd.Duels.from_wins(wins, list("abcd"))
    exact = bd.fit(duels, PreferenceMatrix(), draws=8000, seed=1)
    slow = bd.fit(duels, PreferenceMatrix(), "pymc", draws=4000, seed=2)
    assert exact.attrs["khat"] == -np.inf and "exact" in exact.attrs["method_reason"]
    both = ("chain", "draw")
    for name in ("theta", "concentration"):
        a, b = (f["posterior"][name] for f in (exact, slow))
        if name == "concentration":
            a, b = np.log(a), np.log(b)
        for power in (1, 2):
            one, other = a**power, b**power
            error = np.sqrt(one.var(both) / 8000 + azs.mcse(other) ** 2)
            assert float((abs(one.mean(both) - other.mean(both)) / error).max()) < 5
        np.testing.assert_allclose(a.std(both), b.std(both), rtol=0.12)
