"""Beliefs: how often each bound fails, beside what it promises, and how wide it is.

Run with ``python -m benchmarks.coverage`` (seconds). Nothing is simulated: the law of the
tallies is summed where the bound falls short of the truth.
"""

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
from scipy import stats

TRUTHS = (0.03, 0.2, 0.5, 0.66, 0.9, 0.995)
SIZES = (1, 2, 5, 20, 100, 400)
HORIZON = 250
Upper = Callable[[float, float, float], float]


def chance_of_failing(upper: Upper, p: float, n: int, budget: float) -> float:
    """Return the chance that the bound after n duels is below the truth p."""
    w = np.arange(n + 1)
    short = np.array([upper(float(k), float(n - k), budget) < p for k in w])
    return float(stats.binom.pmf(w, n, p)[short].sum())


def chance_of_ever_failing(upper: Upper, p: float, budget: float, horizon: int) -> float:
    """Return the chance that the bound is below the truth p after any of 1..horizon duels."""
    alive, failed = np.ones(1), 0.0  # Pr(w wins, never failed), w = 0..n
    for n in range(1, horizon + 1):
        new = np.zeros(n + 1)
        new[1:] += p * alive
        new[:-1] += (1 - p) * alive
        short = np.array([upper(float(w), float(n - w), budget) < p for w in range(n + 1)])
        failed += float(new[short].sum())
        new[short] = 0
        alive = new
    return failed


def rows(budget: float) -> list[dict[str, Any]]:
    """Return, for each bound, its worst chance to fail at one size and over all sizes."""
    from bayesduel.beliefs.bernstein import bernstein_upper
    from bayesduel.beliefs.beta import beta_upper
    from bayesduel.beliefs.confidence_sequence import betting_upper, stitched_upper
    from bayesduel.beliefs.hoeffding import hoeffding_upper
    from bayesduel.beliefs.kl import kl_upper

    bounds: dict[str, Upper] = {
        "Hoeffding": hoeffding_upper,
        "KL": kl_upper,
        "Bernstein": bernstein_upper,
        "Beta quantile": lambda w, lost, b: beta_upper(1 + w, 1 + lost, b),
        "betting sequence": betting_upper,
        "stitched sequence": stitched_upper,
    }
    promises = {"Beta quantile": "over the prior"}
    told = []
    for name, upper in bounds.items():
        at_one = max(chance_of_failing(upper, p, n, budget) for p in TRUTHS for n in SIZES)
        ever = max(chance_of_ever_failing(upper, p, budget, HORIZON) for p in TRUTHS)
        always = name.endswith("sequence")
        told.append(
            {
                "bound": name,
                "promised": exp(-budget),
                "promise": promises.get(name, "at all times" if always else "at one size"),
                "worst at one size": at_one,
                f"ever in {HORIZON} duels": ever,
                "radius, 50 of 100": upper(50.0, 50.0, budget) - 0.5,
                "radius, 95 of 100": upper(95.0, 5.0, budget) - 0.95,
            }
        )
    return told


def main() -> None:
    from benchmarks.tables import show

    for budget in (1.0, 3.0, 6.0):
        show(f"Upper bounds, each to fail with chance exp(-{budget:g}) at most", rows(budget))


if __name__ == "__main__":
    main()
