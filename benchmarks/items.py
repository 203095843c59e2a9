"""Policies of items: one step with 10^5 and 10^6 items of 10 attributes.

Run with ``python -m benchmarks.items``. One core, best and median of a dozen steps; the best
dense matrix-vector product by NumPy on the same table stands beside them. Targets: 1 ms with
10^5 items, 10 ms with 10^6.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

TARGETS = {10**5: 1.0, 10**6: 10.0}


def milliseconds(step: Callable[[], Any]) -> tuple[float, float]:
    """Return the best and the median time of a step."""
    step()
    seconds = []
    for _ in range(12):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return 1e3 * min(seconds), 1e3 * float(np.median(seconds))


def steps() -> list[dict[str, Any]]:
    """Return what a step of each policy takes."""
    import bayesduel as bd
    from bayesduel.beliefs import Logistic
    from bayesduel.beliefs.item_belief import record_duel, record_pull
    from bayesduel.problems import LogisticItems

    rows = []
    policies = {
        "TwoPhase, a new epoch": bd.policies.TwoPhase(),
        "LogisticThompson": bd.policies.LogisticThompson(),
        "LogisticUCB": bd.policies.LogisticUCB(),
        "LogisticDuelThompson": bd.policies.LogisticDuelThompson(),
        "LogisticDuelThompson, information": bd.policies.LogisticDuelThompson(
            challenger="information"
        ),
    }
    for m, target in TARGETS.items():
        rng = np.random.default_rng(0)
        problem = LogisticItems(n_arms=m, n_attributes=10).draw(rng)
        table, z = np.asfortranarray(problem.attributes), problem.preference
        product = milliseconds(lambda table=table, z=z: table @ z)[0]
        for name, policy in policies.items():
            belief, memory = Logistic().init(problem.offer), policy.init(problem.offer)
            for _ in range(200):
                if policy.shows == 1:
                    arm = int(rng.integers(m))
                    record_pull(belief, arm, problem.pull(arm, rng.random()))
                else:
                    i, j = (int(k) for k in rng.integers(0, m, 2))
                    win = 1 / (1 + np.exp(problem.utility[j] - problem.utility[i]))
                    record_duel(belief, i, j, float(rng.random() < win))

            def step(policy=policy, belief=belief, memory=memory, rng=rng):  # type: ignore[no-untyped-def]
                if isinstance(policy, bd.policies.TwoPhase):
                    memory.place[0], memory.left[0] = len(memory.basis), -1
                policy.select(belief, memory, 1000, rng)

            best, median = milliseconds(step)
            rows.append(
                {
                    "policy": name,
                    "items": m,
                    "best, ms": best,
                    "median, ms": median,
                    "target, ms": target,
                    "times one product": best / product,
                }
            )
    return rows


def main() -> None:
    """Print the table."""
    from benchmarks.tables import show

    show("A step with 10 attributes", steps())


if __name__ == "__main__":
    main()
