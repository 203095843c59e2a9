"""R-hat and effective draws beside ArviZ's."""

import arviz_base
import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesduel.inference.mixing import bulk_ess, required, rhat, tail_ess


def chains(n, seed=1):
    """Return independent, autocorrelated, drifting, apart, repeated and heavy-tailed chains."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(6, 4, n))
    walk = noise[1].copy()
    for t in range(1, n):
        walk[:, t] += 0.9 * walk[:, t - 1]
    alternating = noise[2] * 0.3 + np.where(np.arange(n) % 2, 1.0, -1.0)
    drifting = noise[3] + np.linspace(0, 1, n)
    apart = noise[4] + np.arange(4)[:, None]
    repeated = np.round(noise[5] * np.array([1, 1, 1, 3])[:, None])
    return np.stack([noise[0], walk, alternating, drifting, apart, repeated, noise[0] ** 3], axis=2)


@pytest.mark.parametrize("n", [25, 100, 1001])
def test_diagnostics_are_those_of_arviz(n):
    draws = chains(n)
    ours = (rhat(draws), bulk_ess(draws), tail_ess(draws))
    for k in range(draws.shape[2]):
        one = draws[:, :, k]
        arviz = (
            array_stats.rhat(one),
            array_stats.ess(one),
            array_stats.ess(one, method="tail", prob=arviz_base.rcParams["stats.ci_prob"]),
        )
        assert [float(v[k]) for v in ours] == pytest.approx([float(v) for v in arviz], rel=1e-9)


def test_a_constant_is_known_as_well_as_draws_allow():
    draws = np.ones((4, 50, 1))
    assert np.isnan(rhat(draws)).all()
    assert bulk_ess(draws) == tail_ess(draws) == 200


@pytest.mark.parametrize("n_draws", [200, 340, 999, 1000, 4000])
def test_independent_draws_reach_what_is_required(n_draws):
    """So do sixty numbers at once; none does where one chain of four is two deviations apart."""
    draws = np.random.default_rng(3).normal(size=(4, n_draws // 4, 60))
    wanted = required(n_draws)
    assert rhat(draws).max() < wanted.rhat
    assert min(bulk_ess(draws).min(), tail_ess(draws).min()) >= wanted.effective
    draws[0] += 2.0
    assert ((rhat(draws) > wanted.rhat) | (bulk_ess(draws) < wanted.effective)).all()
