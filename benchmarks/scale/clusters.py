"""Clusters: replications on Dask workers, each a process of its own, beside this process alone."""

import time
from typing import Any

TITLE = "Replications on a Dask cluster of processes"
WORKERS = (1, 2, 4, 8)
QUICK = (1, 2)
REPLICATIONS = 16


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row for each kind of simulation and number of workers."""
    import os

    from distributed import LocalCluster

    runs = _runs()
    alone = {}
    for what, run in runs.items():
        run(replications=2)  # compiles
        alone[what] = _timed(lambda run=run: run(workers=1))
    found = []
    for workers in WORKERS if full else QUICK:
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            own = {"backend": "dask", "scheduler": cluster.scheduler_address}
            for what, run in runs.items():
                run(replications=2 * workers, **own)  # loads compiled code in each worker
                seconds, trace = _timed(lambda run=run, own=own: run(**own))
                same = all(
                    trace[group].to_dataset().identical(alone[what][1][group].to_dataset())
                    for group in ("trace", "problem")
                )
                found.append(
                    {
                        "simulation": what,
                        "workers": workers,
                        "seconds": seconds,
                        "times one process": alone[what][0] / seconds,
                        "same numbers": "yes" if same else "no",
                        "cores here": os.cpu_count(),
                    }
                )
    return sorted(found, key=lambda row: list(runs).index(row["simulation"]))


def _runs() -> dict[str, Any]:
    """Return what is simulated, by name."""
    import bayesduel as bd
    from bayesduel.problems import LogisticItems, RandomProblem, score_duels

    margins = RandomProblem(n_arms=10, generator=score_duels, name="score duels")
    items = LogisticItems(n_arms=1_000, n_attributes=5)

    def pairs(replications: int = REPLICATIONS, **own: Any) -> Any:
        return bd.simulate(
            bd.policies.DTS(), "hudry-13", 10_000, replications=replications, detail="arms", **own
        )

    def top_k(replications: int = REPLICATIONS, **own: Any) -> Any:
        return bd.simulate(
            bd.policies.POCBAm(), margins, 5_000, k=3, replications=replications, **own
        )

    def of_items(replications: int = REPLICATIONS, **own: Any) -> Any:
        policy = bd.policies.LogisticThompson()
        return bd.simulate(policy, items, 10_000, replications=replications, **own)

    return {"pairs": pairs, "top k": top_k, "items": of_items}


def _timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
