"""How often intervals of a ratio of mean regrets cover it: ``python -m benchmarks.arena.coverage``.

A pool of ``POOL`` runs of each policy on a problem gives the ratio. ``SETS`` sets of ten runs are
drawn from the pool, and each gives three intervals of 95 %: that by resampling its runs, the t
interval of the logarithm, and that of interquartile means, which is to cover the ratio of these
(``bd.compare_policies``). Seeds and sizes were fixed before the run.
"""

from typing import Any

import numpy as np

from bayesduel.simulation.policy_comparison import compare_regrets
from benchmarks.arena.suite import problem_named
from benchmarks.tables import show
from benchmarks.validation.experiment import shown_share

__all__ = ["coverage", "pools"]

PROBLEMS = ("mslr-5", "mslr-5-c3", "strengths-6-1", "uniform_cyclic-6-1")
POLICIES = ("DTS", "PivotIndex", "SelfSparring", "RUCB")  # the first is the reference
HORIZON = 10_000
POOL = 400
SETS = 200
RUNS = 10


def pools() -> dict[str, Any]:
    """Return the regrets of the pool by problem, (policy, replication)."""
    import bayesduel as bd

    policies = [getattr(bd, name)() for name in POLICIES]
    given: dict[str, Any] = {"replications": POOL, "seed": 63, "record_at": [HORIZON]}
    given |= {"detail": "arms", "recommend": "end", "workers": 1, "progress": False}
    return {
        name: bd.regret(bd.simulate(policies, problem_named(name), HORIZON, **given)).isel(time=-1)
        for name in PROBLEMS
    }


def coverage(pool: Any, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return a row for each policy but the reference: its ratios, how often they are covered."""
    every = compare_regrets(pool, resamples=1)
    truth, middle = every["ratio"].values, every["iqm_ratio"].values
    ways = ("resampled", "t of the logarithm", "t, interquartile means")
    covered = {way: np.zeros(len(truth)) for way in ways}
    for _ in range(SETS):
        runs = pool.isel(replication=rng.choice(POOL, RUNS, replace=False))
        found = compare_regrets(runs, resamples=1)
        low, high = resampled(runs.values, rng)
        covered["resampled"] += (low <= truth) & (truth <= high)
        for way, name, of in zip(ways[1:], ("ratio", "iqm_ratio"), (truth, middle), strict=True):
            inside = (found[f"{name}_low"] <= of) & (of <= found[f"{name}_high"])
            covered[way] += inside.values
    return [
        {
            "ratio": f"{name} to {POLICIES[0]}, {truth[place]:.2f}",
            "of interquartile means": f"{middle[place]:.2f}",
            **{how: shown_share(hits[place], SETS) for how, hits in covered.items()},
        }
        for place, name in enumerate(POLICIES)
        if place
    ]


def resampled(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the ends of the intervals of ratios to the first policy by resampling paired runs."""
    chosen = rng.integers(RUNS, size=(2000, RUNS))
    means = values[:, chosen].mean(axis=-1)
    return np.quantile(means / means[:1], [0.025, 0.975], axis=1)


if __name__ == "__main__":
    rng = np.random.default_rng(63)
    rows = [
        {"problem": name} | row for name, pool in pools().items() for row in coverage(pool, rng)
    ]
    show(f"Coverage over {SETS} sets of {RUNS} runs, T = {HORIZON:,}", rows)
